#define _POSIX_C_SOURCE 200809L
#include "bench.h"

#include <string.h>
#include <time.h>

double bench_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

const char *bench_count(uint64_t number, char text[BENCH_COUNT_TEXT])
{
    char plain[BENCH_COUNT_TEXT];
    int size = snprintf(plain, sizeof plain, "%llu", (unsigned long long)number), at = 0;
    for (int i = 0; i < size; i++) {
        if (i > 0 && (size - i) % 3 == 0) text[at++] = ',';
        text[at++] = plain[i];
    }
    text[at] = 0;
    return text;
}

uint32_t bench_samples(const bench *b)
{
    return b->tiny ? 1 : BENCH_SAMPLES;
}

bool bench_open_plain(bench *b, const char *name, int argc, char **argv)
{
    *b = (bench){.name = name, .hash = 1469598103934665603u};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--tiny") == 0) {
            b->tiny = true;
        } else if (strcmp(argv[i], "--json") == 0 && i + 1 < argc) {
            b->json_path = argv[++i];
        } else {
            fprintf(stderr, "usage: %s [--tiny] [--json FILE]\n", argv[0]);
            return false;
        }
    }
    if (b->json_path != NULL && (b->json = fopen(b->json_path, "w")) == NULL) {
        fprintf(stderr, "bench_%s: cannot write %s\n", name, b->json_path);
        return false;
    }
    return true;
}

bool bench_open(bench *b, const char *name, int argc, char **argv)
{
    if (!bench_open_plain(b, name, argc, argv)) return false;
    if (b->json) fprintf(b->json, "{\"bench\": \"%s\", \"rows\": [", name);
    printf("%s\n", name);
    return true;
}

static void json_row(bench *b, const char *what, const char *unit, const double *v)
{
    if (b->json == NULL) return;
    fprintf(b->json,
            "%s\n  {\"what\": \"%s\", \"unit\": \"%s\", \"median\": %.6g, \"min\": %.6g, \"max\": "
            "%.6g}",
            b->rows ? "," : "", what, unit, v[0], v[1], v[2]);
}

void bench_row(bench *b, const char *what, const char *unit, double *samples, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t j = i; j > 0 && samples[j - 1] > samples[j]; j--) {
            double held = samples[j];
            samples[j] = samples[j - 1];
            samples[j - 1] = held;
        }
    double figures[3] = {samples[count / 2], samples[0], samples[count - 1]};
    printf("  %-44s %12.4g %-12s (%.4g … %.4g)\n", what, figures[0], unit, figures[1], figures[2]);
    json_row(b, what, unit, figures);
    b->rows++;
}

void bench_figure(bench *b, const char *what, const char *unit, double value, const char *detail)
{
    double figures[3] = {value, value, value};
    printf("  %-44s %12.4g %-12s %s\n", what, value, unit, detail);
    json_row(b, what, unit, figures);
    b->rows++;
}

void bench_result(bench *b, uint64_t value)
{
    b->hash = (b->hash ^ value) * 1099511628211u;
}

int bench_close(bench *b)
{
    printf("  result hash %016llx\n", (unsigned long long)b->hash);
    if (b->json) fprintf(b->json, "\n], \"result_hash\": \"%016llx\"}\n", (unsigned long long)b->hash);
    return bench_close_plain(b);
}

int bench_close_plain(bench *b)
{
    if (b->json != NULL && fclose(b->json) != 0) {
        fprintf(stderr, "bench_%s: cannot write %s\n", b->name, b->json_path);
        return 3;
    }
    return 0;
}
