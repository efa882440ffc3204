#include "storm_support.h"
#include "patience_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

void storm_fail(const char *file, int line, const char *condition)
{
    fprintf(stderr, "%s:%d: not true: %s\n", file, line, condition);
    abort();
}

static uint64_t number_from(const char *name, uint64_t defaults)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : defaults;
}

void storm_choose(void)
{
    const char *only = getenv("TEST_ONLY"); /* tools/planted.sh */
    if (only == NULL || only[0] == 0) only = getenv("RADDLE_STRESS_ONLY");
    cmocka_set_test_filter(only);
}

uint64_t storm_amount(uint64_t quick)
{
    uint64_t amount = quick * number_from("RADDLE_STRESS", 1) / STORM_SLOWER;
    return amount ? amount : 1;
}

uint64_t storm_live(uint64_t quick)
{
    uint64_t amount = storm_amount(quick);
    return amount < STORM_LIVE_MOST ? amount : STORM_LIVE_MOST;
}

uint64_t storm_size(uint64_t day, uint64_t night)
{
    return getenv("TEST_LONG") ? night : day;
}

bool storm_is_long(void)
{
    return number_from("RADDLE_STRESS", 1) > 1;
}

rad_prng storm_prng(uint64_t n)
{
    return rad__prng(number_from("RADDLE_STRESS_SEED", 1), RAD_STREAM_TEST, n);
}

void storm_spin(rad_prng *prng, uint32_t most)
{
    for (uint64_t n = rad__prng_below(prng, most); n > 0; n--) __asm__ volatile("");
}

void storm_run(uint32_t workers, rad_fn main, void *arg)
{
    rad_options o = {.workers = workers, .extra_workers = extra_beside(workers), .seed = workers};
    rad_error error;
    error.text[0] = 0;
    int code = rad_main(&o, main, arg, &error);
    if (code != 0) fail_msg("%d %s", code, error.text);
}

void storm_block_ms(uint32_t ms)
{
    struct timespec t = {ms / 1000, (long)(ms % 1000) * 1000000};
    nanosleep(&t, NULL);
}

static uint64_t ns_of(struct timeval t)
{
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_usec * 1000;
}

uint64_t storm_cpu_ns(void)
{
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    return ns_of(r.ru_utime) + ns_of(r.ru_stime);
}

uint64_t storm_status_kib(const char *name)
{
    char line[256];
    unsigned long long kib = 0;
    size_t length = strlen(name);
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, name, length) == 0 && line[length] == ':') kib = strtoull(line + length + 1, NULL, 10);
    if (f) fclose(f);
    return kib;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

void storm_print_times(const char *what, uint64_t *ns, uint32_t count)
{
    qsort(ns, count, sizeof *ns, compare);
    print_message("# %s: median %.1f us, 99 %% %.1f us, 99.9 %% %.1f us, most %.1f us (%u)\n", what,
                  (double)ns[count / 2] * 1e-3, (double)ns[(uint64_t)count * 99 / 100] * 1e-3,
                  (double)ns[(uint64_t)count * 999 / 1000] * 1e-3, (double)ns[count - 1] * 1e-3, count);
}
