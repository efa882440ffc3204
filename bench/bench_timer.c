/* bench_timer.c — what timers cost: armed and disarmed at once, beside a million others, and expired.
 *
 * The figures to hold: 40 ns for arming and disarming, with a million live ones 100 ns for arming and 30 ns for
 * disarming in the order of arming (fibers that got what they waited for). Deadlines are spread evenly over 10
 * seconds. A timer in life is on a stack of its own, so in the rows "on stacks" each is in a page of its own. */
#include "base/alloc.h"
#include "base/prng.h"
#include "bench.h"
#include "rt/timer.h"

#include <stdio.h>

enum { BATCH = 64 };

#define SECOND UINT64_C(1000000000)
#define START  (1000000 * SECOND)

typedef struct crowd {
    rad_wheel wheel;
    char *memory;
    size_t stride; /* bytes from one timer to the next */
    uint32_t count;
    uint64_t *deadlines;
    uint32_t *order; /* a random one */
} crowd;

static rad_wheel_timer *timer_at(const crowd *c, uint32_t i)
{
    return (rad_wheel_timer *)(void *)(c->memory + c->stride * i);
}

static bool crowd_open(crowd *c, uint32_t count, size_t stride, uint64_t spread)
{
    rad_prng random = rad__prng(7, RAD_STREAM_TEST, 0);
    c->stride = stride;
    c->count = count;
    c->memory = rad__alloc(count, stride);
    c->deadlines = rad__alloc(count, sizeof *c->deadlines);
    c->order = rad__alloc(count, sizeof *c->order);
    if (!c->memory || !c->deadlines || !c->order) return false;
    for (uint32_t i = 0; i < count; i++) {
        *timer_at(c, i) = (rad_wheel_timer){.ticket = 0}; /* its page is there */
        c->deadlines[i] = START + SECOND + rad__prng_next(&random) % spread;
        uint32_t j = (uint32_t)(rad__prng_next(&random) % (i + 1));
        c->order[i] = c->order[j];
        c->order[j] = i;
    }
    return true;
}

static void crowd_close(crowd *c)
{
    rad__free(c->memory);
    rad__free(c->deadlines);
    rad__free(c->order);
}

static double arm_all(crowd *c)
{
    rad__wheel_open(&c->wheel, START);
    double start = bench_now();
    for (uint32_t i = 0; i < c->count; i++) rad__wheel_arm(&c->wheel, timer_at(c, i), c->deadlines[i], c, i);
    return (bench_now() - start) * 1e9 / c->count;
}

static double disarm_all(crowd *c, bool random)
{
    double start = bench_now();
    for (uint32_t i = 0; i < c->count; i++) rad__timer_disarm(timer_at(c, random ? c->order[i] : i));
    return (bench_now() - start) * 1e9 / c->count;
}

/* In steps of time, as a worker would; *hash is the order in which they came. */
static double expire_all(crowd *c, uint64_t step, uint64_t *hash)
{
    rad_expired out[BATCH];
    uint64_t now = START;
    double start = bench_now();
    while (rad__wheel_next(&c->wheel) != UINT64_MAX) {
        uint32_t count = rad__wheel_expire(&c->wheel, now, out, BATCH);
        for (uint32_t i = 0; i < count; i++) *hash = rad__fold(*hash, out[i].ticket);
        if (rad__wheel_next(&c->wheel) > now) now += step;
    }
    return (bench_now() - start) * 1e9 / c->count;
}

/* ---- Rows ------------------------------------------------------------------------------------------------------- */

static void at_once(bench *b, crowd *c, const char *what)
{
    double samples[BENCH_SAMPLES];
    uint32_t rounds = b->tiny ? 1000 : 5000000, done = 0;
    rad_wheel_timer t = {.ticket = 0};
    for (uint32_t s = 0; s < bench_samples(b); s++) {
        double start = bench_now();
        for (uint32_t i = 0; i < rounds; i++) {
            rad__wheel_arm(&c->wheel, &t, START + SECOND + i, c, i);
            done += rad__timer_disarm(&t);
        }
        samples[s] = (bench_now() - start) * 1e9 / rounds;
    }
    bench_row(b, what, "ns", samples, bench_samples(b));
    bench_result(b, done);
}

static bool with_many(bench *b, uint32_t count, size_t stride, const char *where)
{
    double arm[BENCH_SAMPLES], in_order[BENCH_SAMPLES], anyhow[BENCH_SAMPLES];
    char what[80];
    crowd *c = rad__alloc_lines(1, sizeof *c);
    if (c == NULL || !crowd_open(c, count, stride, 10 * SECOND)) return false;
    for (uint32_t s = 0; s < bench_samples(b); s++) {
        arm_all(c);
        anyhow[s] = disarm_all(c, true);
        arm[s] = arm_all(c);
        in_order[s] = disarm_all(c, false);
    }
    snprintf(what, sizeof what, "%u live%s, arm", count, where);
    bench_row(b, what, "ns", arm, bench_samples(b));
    snprintf(what, sizeof what, "%u live%s, disarm in order", count, where);
    bench_row(b, what, "ns", in_order, bench_samples(b));
    snprintf(what, sizeof what, "%u live%s, disarm at random", count, where);
    bench_row(b, what, "ns", anyhow, bench_samples(b));
    arm_all(c);
    snprintf(what, sizeof what, "%u live%s, arm + disarm one", count, where);
    at_once(b, c, what);
    crowd_close(c);
    rad__free(c);
    return true;
}

static bool expiring(bench *b, uint32_t count, uint64_t spread, uint64_t step, const char *how)
{
    double samples[BENCH_SAMPLES];
    char what[80];
    uint64_t hash = 0;
    crowd *c = rad__alloc_lines(1, sizeof *c);
    if (c == NULL || !crowd_open(c, count, sizeof(rad_wheel_timer), spread)) return false;
    for (uint32_t s = 0; s < bench_samples(b); s++) {
        arm_all(c);
        samples[s] = expire_all(c, step, &hash);
    }
    snprintf(what, sizeof what, "expire %u, %s", count, how);
    bench_row(b, what, "ns", samples, bench_samples(b));
    bench_result(b, hash);
    crowd_close(c);
    rad__free(c);
    return true;
}

int main(int argc, char **argv)
{
    bench b;
    if (!bench_open(&b, "timer", argc, argv)) return 2;
    uint32_t many = b.tiny ? 1000 : 1000000, some = b.tiny ? 100 : 100000;
    crowd *empty = rad__alloc_lines(1, sizeof *empty);
    bool ok = empty != NULL;
    if (ok) {
        rad__wheel_open(&empty->wheel, START);
        at_once(&b, empty, "arm + disarm, an empty wheel");
    }
    ok = ok && with_many(&b, many, sizeof(rad_wheel_timer), "");
    ok = ok && with_many(&b, some, 4096 + 64, " on stacks");
    ok = ok && expiring(&b, many, 10 * SECOND, SECOND / 1000, "over 10 s, looking every ms");
    ok = ok && expiring(&b, some, 10 * SECOND, SECOND / 100000, "over 10 s, looking every 10 µs");
    ok = ok && expiring(&b, many, 1, SECOND, "all at one moment");
    rad__free(empty);
    int status = bench_close(&b);
    return ok ? status : 3;
}
