/* bench.h — what every benchmark program shares: options, samples, table, JSON, result hash.
 *
 *     bench_x [--tiny] [--json FILE]
 *
 * --tiny runs everything once on small sizes, so that the test suite can see that benchmarks still work.
 * The result hash is a hash of what was computed (not of the times): it is the same for --tiny runs of
 * any build, and keeps the compiler, and us, from optimising the meaning away. */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { BENCH_SAMPLES = 5 };

typedef struct bench {
    const char *name;
    bool tiny;
    const char *json_path;
    FILE *json;
    uint64_t hash;
    uint32_t rows;
} bench;

/* False after a usage error, which it has told. */
bool bench_open(bench *b, const char *name, int argc, char **argv);
int bench_close(bench *b); /* exit status */

/* The same without a table of rows and a result hash: b->json is the caller's to write. */
bool bench_open_plain(bench *b, const char *name, int argc, char **argv);
int bench_close_plain(bench *b);

uint32_t bench_samples(const bench *b);
double bench_now(void); /* seconds */

/* "1,234,567", for the tables of docs/scoreboard.md. */
enum { BENCH_COUNT_TEXT = 32 };
const char *bench_count(uint64_t number, char text[BENCH_COUNT_TEXT]);

/* One line of the table: the median of the samples and their range; `samples` is sorted in place. */
void bench_row(bench *b, const char *what, const char *unit, double *samples, uint32_t count);

/* One figure that needs no repetition. `detail` is added to the line; may be "". */
void bench_figure(bench *b, const char *what, const char *unit, double value, const char *detail);

/* Takes a result into the hash. */
void bench_result(bench *b, uint64_t value);

#ifdef __cplusplus
}
#endif

#endif
