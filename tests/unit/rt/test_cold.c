/* test_cold.c — what the first fibers of a process and an empty program cost, counted in pages and page tables,
 * which do not depend on how busy the host is. Through public calls alone. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <raddle.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "storm_support.h"

static uint64_t status_kib(const char *name)
{
    char line[256];
    uint64_t found = 0;
    FILE *f = fopen("/proc/self/status", "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f) != NULL)
        if (strncmp(line, name, strlen(name)) == 0) found = strtoull(line + strlen(name), NULL, 10);
    fclose(f);
    return found;
}

static int nothing(void *arg)
{
    (void)arg;
    return 0;
}

enum { BURST = 50000 };

typedef struct burst {
    uint64_t tables_kib, resident_kib; /* that it took */
} burst;

static int bursts(void *arg)
{
    burst *b = arg;
    rad_nursery n;
    b->tables_kib = status_kib("VmPTE:");
    b->resident_kib = status_kib("VmRSS:");
    rad_nursery_open(&n, RAD_FOREVER);
    for (uint32_t i = 0; i < BURST; i++)
        if (rad_nursery_spawn(&n, NULL, nothing, NULL) != 0) return 1;
    int code = rad_nursery_wait(&n);
    b->tables_kib = status_kib("VmPTE:") - b->tables_kib;
    b->resident_kib = status_kib("VmRSS:") - b->resident_kib;
    return code;
}

/* A mark of a guard takes page tables: 392 bytes a stack, 19 MiB for all. Fibers that end without waiting use few
 * stacks, so there are few marks. Page tables for the fibers themselves are 50 KiB. */
static void a_burst_guards_only_the_stacks_it_uses(void **state)
{
    burst b = {0, 0};
    (void)state;
#ifdef RAD_CONTEXT_UCONTEXT
    skip(); /* a context of the fallback is a kilobyte */
#endif
    if (STORM_IS_SANITIZED) skip();
    for (uint32_t workers = 1; workers <= 2; workers++) {
        rad_options o = {.workers = workers};
        assert_int_equal(rad_main(&o, bursts, &b, NULL), 0);
        if (b.tables_kib > 1024)
            fail_msg("%u workers: %llu KiB of page tables", workers, (unsigned long long)b.tables_kib);
        if (b.resident_kib > BURST / 1024 * 400)
            fail_msg("%u workers: %llu KiB resident", workers, (unsigned long long)b.resident_kib);
    }
}

/* Spare seats, rings and tables that it does not use are not touched: a fault for each page would be 540 of them. */
static void an_empty_program_touches_few_pages(void **state)
{
    (void)state;
    if (STORM_IS_SANITIZED) skip();
    pid_t pid = fork(); /* a process that has run no fiber before */
    assert_true(pid >= 0);
    if (pid == 0) {
        struct rusage before, after;
        rad_options o = {.workers = 2};
        getrusage(RUSAGE_SELF, &before);
        int code = rad_main(&o, nothing, NULL, NULL);
        getrusage(RUSAGE_SELF, &after);
        long faults = after.ru_minflt - before.ru_minflt;
        if (faults > 250) fprintf(stderr, "%ld page faults\n", faults);
        _exit(code != 0 ? 1 : faults > 250 ? 2 : 0);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_program_touches_few_pages),
        cmocka_unit_test(a_burst_guards_only_the_stacks_it_uses),
    };
    return cmocka_run_group_tests_name("rt_cold", tests, NULL, NULL);
}
