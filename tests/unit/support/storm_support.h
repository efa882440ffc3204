/* storm_support.h — what the stress programs of the runtime share.
 *
 * RADDLE_STRESS multiplies the amounts (tests/nightly/rt_stress.sh: by 100), RADDLE_STRESS_SEED varies the rest,
 * RADDLE_STRESS_ONLY (or TEST_ONLY) is a pattern of names of tests. */
#ifndef RAD_TEST_STORM_SUPPORT_H
#define RAD_TEST_STORM_SUPPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/prng.h"

#include <raddle.h>

/* In fibers, instead of cmocka's assertions: those jump back into the test's frame, which is on another stack, and
 * often on another thread. */
#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) storm_fail(__FILE__, __LINE__, #condition);                                                  \
    } while (0)

void storm_fail(const char *file, int line, const char *condition);

#ifndef __has_feature
#define __has_feature(x) 0
#endif
/* A sanitizer has pages, tables and larger frames of its own, and reports before we do. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || __has_feature(address_sanitizer) ||               \
    __has_feature(thread_sanitizer)
enum { STORM_IS_SANITIZED = 1 };
#else
enum { STORM_IS_SANITIZED = 0 };
#endif

/* The thread sanitizer knows 8,128 fibers, and a new one takes it a millisecond and a megabyte. */
#if defined(__SANITIZE_THREAD__)
enum { STORM_LIVE_MOST = 4000, STORM_SLOWER = 20 };
#elif defined(__SANITIZE_ADDRESS__)
enum { STORM_LIVE_MOST = 20000, STORM_SLOWER = 4 };
#else
enum { STORM_LIVE_MOST = 1000000, STORM_SLOWER = 1 };
#endif

/* Before the tests run: see RADDLE_STRESS_ONLY. */
void storm_choose(void);

/* `quick` of something, or as many times that as RADDLE_STRESS says. */
uint64_t storm_amount(uint64_t quick);

/* The same, of fibers that are there at the same time. */
uint64_t storm_live(uint64_t quick);

/* `day`, or with TEST_LONG=1 (the night, and planted bugs) `night`. */
uint64_t storm_size(uint64_t day, uint64_t night);

/* Whether this is the long run. */
bool storm_is_long(void);

/* The n-th stream of random numbers of this run. */
rad_prng storm_prng(uint64_t n);

/* So many turns of nothing, fewer than `most`. */
void storm_spin(rad_prng *prng, uint32_t most);

/* rad_main with so many workers; what main answers must be 0. */
void storm_run(uint32_t workers, rad_fn main, void *arg);

/* The calling thread sleeps, whatever runs on it. */
void storm_block_ms(uint32_t ms);

/* CPU time of the process so far. */
uint64_t storm_cpu_ns(void);

/* A line of /proc/self/status in KiB, such as "VmRSS"; 0 if there is none. */
uint64_t storm_status_kib(const char *name);

/* Sorts; prints the median, two high percentiles and the largest, in microseconds. */
void storm_print_times(const char *what, uint64_t *ns, uint32_t count);

#endif
