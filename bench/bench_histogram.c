/* bench_histogram.c — what it costs to record a value, to ask for a percentile, and to merge. Values are drawn before
 * the clock starts. */
#include "base/alloc.h"
#include "base/histogram.h"
#include "base/prng.h"
#include "bench.h"

static uint64_t latency(rad_prng *r) /* around 80 µs, one in twenty around 40 ms */
{
    bool slow = rad__prng_below(r, 20) == 0;
    return slow ? 30000000 + rad__prng_below(r, 20000000) : 60000 + rad__prng_below(r, 40000);
}

static uint64_t anything(rad_prng *r)
{
    return rad__prng_next(r) >> (23 + rad__prng_below(r, 30));
}

static uint64_t one_value(rad_prng *r)
{
    (void)r;
    return 81234;
}

static void recording(bench *b, rad_histogram *h, uint64_t *values, uint32_t count, uint64_t (*draw)(rad_prng *),
                      const char *what)
{
    double samples[BENCH_SAMPLES];
    rad_prng r = rad__prng(1, RAD_STREAM_TEST, 0);
    for (uint32_t i = 0; i < count; i++) values[i] = draw(&r);
    for (uint32_t s = 0; s < bench_samples(b); s++) {
        double start = bench_now();
        for (uint32_t i = 0; i < count; i++) rad__histogram_record(h, values[i]);
        samples[s] = (bench_now() - start) * 1e9 / count;
    }
    bench_row(b, what, "ns", samples, bench_samples(b));
    bench_result(b, rad__histogram_at_ppm(h, 990000));
}

int main(int argc, char **argv)
{
    bench b;
    if (!bench_open(&b, "histogram", argc, argv)) return 2;
    uint32_t count = b.tiny ? 1000 : 4000000, rounds = b.tiny ? 1 : 1000;
    uint64_t *values = rad__alloc(count, sizeof *values);
    rad_histogram h, other;
    bool ok = rad__histogram_open(&h);
    ok = rad__histogram_open(&other) && values != NULL && ok;
    if (ok) {
        double ask[BENCH_SAMPLES], merge[BENCH_SAMPLES];
        recording(&b, &h, values, count, one_value, "record, one value");
        recording(&b, &h, values, count, latency, "record, latencies");
        recording(&b, &h, values, count, anything, "record, every magnitude");
        for (uint32_t s = 0; s < bench_samples(&b); s++) {
            double start = bench_now();
            for (uint32_t i = 0; i < rounds; i++) bench_result(&b, rad__histogram_at_ppm(&h, 990000));
            ask[s] = (bench_now() - start) * 1e6 / rounds;
            start = bench_now();
            for (uint32_t i = 0; i < rounds; i++) rad__histogram_merge(&other, &h);
            merge[s] = (bench_now() - start) * 1e6 / rounds;
        }
        bench_row(&b, "p99, every magnitude", "us", ask, bench_samples(&b));
        bench_row(&b, "merge, every magnitude", "us", merge, bench_samples(&b));
        bench_result(&b, other.count / bench_samples(&b));
    }
    rad__histogram_free(&h);
    rad__histogram_free(&other);
    rad__free(values);
    int status = bench_close(&b);
    return ok ? status : 3;
}
