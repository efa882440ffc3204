#define _GNU_SOURCE
#include "loads.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

void bench_fail(const char *text)
{
    fprintf(stderr, "bench: %s\n", text);
    exit(3);
}

void *bench_allocate(uint64_t count, size_t size)
{
    void *p = calloc(count, size);
    if (p == NULL) bench_fail("out of memory");
    memset(p, 0x55, count * size);
    memset(p, 0, count * size);
    return p;
}

/* ---- Figures ----------------------------------------------------------------------------------------- */

void bench_add(bench_measured *m, double value, const char *unit, uint64_t checksum)
{
    if (m->count == BENCH_FIGURES) bench_fail("too many figures");
    m->figures[m->count++] = (bench_value){value, unit, checksum};
}

bench_measured bench_one(double value, const char *unit, uint64_t checksum)
{
    bench_measured m = {.count = 0};
    bench_add(&m, value, unit, checksum);
    return m;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *values, uint64_t count)
{
    qsort(values, count, sizeof *values, compare_doubles);
    return values[count / 2];
}

bench_measured bench_percentiles(double *microseconds, uint64_t count)
{
    qsort(microseconds, count, sizeof *microseconds, compare_doubles);
    bench_measured m = bench_one(microseconds[count * 50 / 100], "us-p50", count);
    bench_add(&m, microseconds[count * 99 / 100], "us-p99", count);
    return m;
}

/* ---- Memory and time of many ------------------------------------------------------------------------- */

/* A line of /proc/self/status, in KiB. */
static double status_kib(const char *name)
{
    char line[256];
    double found = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (strncmp(line, name, strlen(name)) == 0) found = strtod(line + strlen(name), NULL);
    if (f != NULL) fclose(f);
    return found;
}

double bench_memory_kib(void)
{
    malloc_trim(0);
    return status_kib("VmRSS:") + status_kib("VmPTE:");
}

double bench_bytes_each(double before_kib, double after_kib, uint64_t count)
{
    return after_kib > before_kib ? (after_kib - before_kib) * 1024 / (double)count : 0;
}

double bench_cpu(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

/* The peak of resident memory is that of the time after this: runs before may have had more. */
static void peak_begins(void)
{
    FILE *f = fopen("/proc/self/clear_refs", "w");
    malloc_trim(0);
    if (f == NULL) return;
    fputs("5", f);
    fclose(f);
}

bench_sleep bench_sleep_begin(uint64_t count)
{
    peak_begins();
    return (bench_sleep){.base_ms = count > 1000 ? 1000 : 10, .cpu = bench_cpu(), .start = bench_now()};
}

bench_measured bench_sleep_end(const bench_sleep *s, uint64_t checksum)
{
    double late_ms = (s->ended - s->spawned) * 1e3 - (2 * s->base_ms - 1);
    bench_measured m = bench_one((s->spawned - s->start) * 1e3, "ms-spawn", checksum);
    bench_add(&m, late_ms > 0 ? late_ms : 0, "ms-late", checksum);
    bench_add(&m, s->latest_ms > 0 ? s->latest_ms : 0, "ms-latest", checksum);
    bench_add(&m, bench_cpu() - s->cpu, "s-CPU", checksum);
    bench_add(&m, status_kib("VmHWM:") / 1024, "MiB-peak", checksum);
    return m;
}

/* ---- One run ----------------------------------------------------------------------------------------- */

static void print_result(const bench_value *v, bool part)
{
    char checksum[24] = "-";
    if (!part) snprintf(checksum, sizeof checksum, "%llu", (unsigned long long)v->checksum);
    printf("RESULT %.3f %s %s\n", v->value, v->unit, checksum);
}

static int run_one(const bench_loads *all, int argc, char **argv)
{
    bool tiny = argc == 5 && strcmp(argv[4], "--tiny") == 0;
    long workers = argc >= 4 ? strtol(argv[3], NULL, 10) : 0;
    if (workers < 1 || workers > 256 || (argc != 4 && !tiny)) {
        fprintf(stderr, "usage: bench_%s --one WORKLOAD WORKERS [--tiny]\n", all->name);
        return 2;
    }
    for (uint32_t i = 0; i < all->count; i++) {
        const bench_load *l = &all->loads[i];
        bench_measured m;
        if (strcmp(l->name, argv[2]) != 0) continue;
        all->measure(l, (uint32_t)workers, tiny ? l->tiny : l->full, 1, &m);
        for (uint32_t k = 0; k < m.count; k++) print_result(&m.figures[k], l->part);
        return 0;
    }
    fprintf(stderr, "bench_%s: no workload '%s'\n", all->name, argv[2]);
    return 2;
}

/* ---- All of them ------------------------------------------------------------------------------------- */

static void run_and_show(bench *b, const bench_loads *all, const bench_load *l, uint32_t workers)
{
    bench_measured m[BENCH_SAMPLES];
    uint32_t samples = l->once ? 1 : bench_samples(b);
    all->measure(l, workers, b->tiny ? l->tiny : l->full, samples, m);
    for (uint32_t k = 0; k < m[0].count; k++) {
        double values[BENCH_SAMPLES];
        char what[100];
        for (uint32_t s = 0; s < samples; s++) {
            values[s] = m[s].figures[k].value;
            bench_result(b, m[s].figures[k].checksum);
        }
        snprintf(what, sizeof what, "%s (%s), w%u", l->name, l->about, workers);
        bench_row(b, what, m[0].figures[k].unit, values, samples);
    }
}

int bench_loads_main(const bench_loads *all, int argc, char **argv)
{
    bench b;
    if (argc > 1 && strcmp(argv[1], "--one") == 0) return run_one(all, argc, argv);
    if (!bench_open(&b, all->name, argc, argv)) return 2;
    for (uint32_t i = 0; i < all->count; i++)
        for (uint32_t workers = 1; workers <= 2; workers++) run_and_show(&b, all, &all->loads[i], workers);
    return bench_close(&b);
}
