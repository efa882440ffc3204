/* loads.h — a bench program that is a list of workloads, which others (bench/peers) have too:
 *
 *     bench_x [--tiny] [--json FILE]              all workloads with one and with two workers
 *     bench_x --one WORKLOAD WORKERS [--tiny]     one run, for comparisons: "RESULT value unit checksum"
 *
 * Status 2: there is no such workload, and other usage errors. */
#ifndef BENCH_LOADS_H
#define BENCH_LOADS_H

#include "bench.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { BENCH_FIGURES = 6 };

typedef struct bench_value {
    double value;
    const char *unit;
    uint64_t checksum; /* of what was computed: all programs that did the same work have the same */
} bench_value;

/* What one run gives. */
typedef struct bench_measured {
    bench_value figures[BENCH_FIGURES];
    uint32_t count;
} bench_measured;

typedef struct bench_load {
    const char *name, *about;
    bench_measured (*inside)(void *worker, uint64_t size); /* by a worker, or */
    bench_measured (*outside)(void *pool, uint64_t size);  /* by a thread that is none */
    uint64_t full, tiny;
    bool once; /* it takes long: no more than one sample in the table */
    bool part; /* it does less than others, who are faster: its checksum, "-", says nothing */
} bench_load;

typedef struct bench_loads {
    const char *name;
    const bench_load *loads;
    uint32_t count;
    /* With a pool of its own: runs it in its tiny size, which does not count, then `samples` times. */
    void (*measure)(const bench_load *l, uint32_t workers, uint64_t size, uint32_t samples, bench_measured *into);
} bench_loads;

int bench_loads_main(const bench_loads *all, int argc, char **argv);

bench_measured bench_one(double value, const char *unit, uint64_t checksum);
void bench_add(bench_measured *m, double value, const char *unit, uint64_t checksum);

double bench_median(double *values, uint64_t count); /* sorts the values */

/* 50th and 99th percentile; sorts the values. */
bench_measured bench_percentiles(double *microseconds, uint64_t count);

/* Cleared and touched, so that page faults are not what is measured. Ends the program when there is no memory. */
void *bench_allocate(uint64_t count, size_t size);

/* Ends the program. */
void bench_fail(const char *text);

/* ---- Memory and time of many ------------------------------------------------------------------------- */

/* What is resident, and the page tables for it, without what was freed, in KiB. */
double bench_memory_kib(void);
double bench_bytes_each(double before_kib, double after_kib, uint64_t count); /* at least 0 */

/* Of this process, in seconds. */
double bench_cpu(void);

/* Many that sleep: number i for base_ms + i % base_ms, from when it begins. */
typedef struct bench_sleep {
    uint32_t base_ms;
    double cpu, start;     /* bench_sleep_begin */
    double spawned, ended; /* all are begun, all are through: by the caller */
    double latest_ms;      /* the longest that one woke after its time, by its own clock */
} bench_sleep;

bench_sleep bench_sleep_begin(uint64_t count);

/* ms-spawn; ms-late: after the last one's sleep, counted from the last spawn; ms-latest; s-CPU; MiB-peak. */
bench_measured bench_sleep_end(const bench_sleep *s, uint64_t checksum);

#ifdef __cplusplus
}
#endif

#endif
