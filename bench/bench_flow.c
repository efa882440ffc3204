/* bench_flow.c — the workflow machine: steps a second of pure control flow, every choice and every digest included.
 *
 * Four shapes, and one that tells whether a step costs the same in a flow of ten operations as in one of a hundred
 * thousand. Tasks are simulated: what they give is a choice, too. */
#include "bench.h"

#include "base/bytes.h"
#include "flow/machine/instance.h"

#include <stdio.h>
#include <stdlib.h>

static void check(int code, const rad_error *error)
{
    if (code == 0) return;
    fprintf(stderr, "bench_flow: %s\n", error->text);
    exit(3);
}

/* ---- Shapes --------------------------------------------------------------------------------------------------- */

static void begin(rad_bytes *b)
{
    rad__bytes_format(b, "flow f { data { x: int = 0 merge sum }\n"
                         "task t { run \"true\" outcomes ok }\n");
}

static void sequence(rad_bytes *b, uint32_t n)
{
    begin(b);
    for (uint32_t i = 0; i < n; i++) rad__bytes_format(b, "do t\n");
    rad__bytes_format(b, "}\n");
}

static void branches(rad_bytes *b, uint32_t n)
{
    begin(b);
    rad__bytes_format(b, "par { do t }");
    for (uint32_t i = 1; i < n; i++) rad__bytes_format(b, " and { do t }");
    rad__bytes_format(b, "\n}\n");
}

/* The first of three goes on, the others are absorbed. */
static void discriminator(rad_bytes *b, uint32_t n)
{
    begin(b);
    rad__bytes_format(b, "loop %u { par { do t } and { do t } and { do t } join any }\n}\n", n);
}

static void nesting(rad_bytes *b, uint32_t n)
{
    begin(b);
    for (uint32_t i = 0; i < n; i++) rad__bytes_format(b, "par { do t } and {");
    for (uint32_t i = 0; i < n; i++) rad__bytes_format(b, "}");
    rad__bytes_format(b, "\n}\n");
}

/* So many operations, gone through again and again. */
static void straight(rad_bytes *b, uint32_t n)
{
    begin(b);
    rad__bytes_format(b, "while true {\n");
    for (uint32_t i = 0; i < n; i++) rad__bytes_format(b, "set x=%u\n", i % 10);
    rad__bytes_format(b, "}\n}\n");
}

/* ---- Measuring ------------------------------------------------------------------------------------------------- */

typedef struct shape {
    const char *name;
    void (*write)(rad_bytes *b, uint32_t n);
    uint32_t n;
} shape;

/* Seconds for at least so many steps; *steps says how many there were. */
static double run_steps(const rad_flow_program *p, const char *policy, uint64_t wanted, uint64_t *steps,
                        uint64_t *result)
{
    double took = 0;
    rad_error error = {0};
    rad_flow_case_options o = {.policy = policy, .seed = 1, .world = RAD_WORLD_CHOSEN};
    for (*steps = 0; *steps < wanted;) {
        rad_flow_case *c;
        check(rad__flow_case_open(&c, p, &o, &error), &error);
        double began = bench_now();
        rad__flow_case_run(c, wanted - *steps);
        took += bench_now() - began;
        *steps += rad__flow_case_steps(c);
        *result = rad__flow_case_digest(c).low;
        rad__flow_case_close(c);
    }
    return took;
}

static void measure(bench *b, const shape *s, const char *policy)
{
    rad_bytes text = {0};
    rad_error error = {0};
    rad_flow_program *p;
    double samples[BENCH_SAMPLES];
    char name[120];
    s->write(&text, s->n);
    check(rad__flow_program_read(&p, "bench", (const char *)text.data, text.size, NULL, &error), &error);
    for (uint32_t i = 0; i < bench_samples(b); i++) {
        uint64_t steps, result;
        double took = run_steps(p, policy, b->tiny ? 3000 : 5000000, &steps, &result);
        samples[i] = (double)steps / took * 1e-6;
        if (i == 0) bench_result(b, result);
    }
    snprintf(name, sizeof name, "%s, policy %s", s->name, policy);
    bench_row(b, name, "M steps/s", samples, bench_samples(b));
    rad__flow_program_free(p);
    rad__bytes_free(&text);
}

int main(int argc, char **argv)
{
    static const shape shapes[] = {
        {"sequence of 10,000 tasks", sequence, 10000},
        {"fork and join of 100 branches", branches, 100},
        {"discriminator, 1,000 times", discriminator, 1000},
        {"100 levels of nesting", nesting, 100},
        {"10 operations", straight, 10},
        {"100 operations", straight, 100},
        {"1,000 operations", straight, 1000},
        {"10,000 operations", straight, 10000},
        {"100,000 operations", straight, 100000},
    };
    bench b;
    if (!bench_open(&b, "flow", argc, argv)) return 2;
    for (uint32_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        measure(&b, &shapes[i], "first");
        if (i < 4) measure(&b, &shapes[i], "random");
    }
    return bench_close(&b);
}
