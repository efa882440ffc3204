/* test_histogram.c — the histogram beside a sorted array of everything that was recorded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/histogram.h"
#include "base/prng.h"
#include "storm_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BY_DAY = 2000000, MANY = 10000000, SOME = 20000 };

/* ---- Distributions ------------------------------------------------------------------------------------- */

static uint64_t uniform(rad_prng *r)
{
    return rad__prng_below(r, RAD_HISTOGRAM_MOST + 1);
}

/* Half of what is left goes on to the next millisecond, as with an exponential distribution. */
static uint64_t waiting(rad_prng *r)
{
    uint64_t coins = rad__prng_next(r);
    return (uint64_t)__builtin_ctzll(coins | UINT64_C(1) << 40) * 1000000 + rad__prng_below(r, 1000000);
}

/* A server with a cache: around 80 µs, and one in twenty around 40 ms. */
static uint64_t bimodal(rad_prng *r)
{
    bool slow = rad__prng_below(r, 20) == 0;
    uint64_t around = 0;
    for (int i = 0; i < 4; i++) around += rad__prng_below(r, slow ? 5000000 : 10000);
    return (slow ? 30000000 : 60000) + around;
}

/* Every order of magnitude as often as every other. */
static uint64_t magnitudes(rad_prng *r)
{
    uint32_t bits = 1 + (uint32_t)rad__prng_below(r, 41);
    return rad__prng_next(r) >> (64 - bits);
}

static uint64_t constant(rad_prng *r)
{
    (void)r;
    return 123456789;
}

/* What is exact, and the ends of buckets. */
static uint64_t edges(rad_prng *r)
{
    uint64_t value = UINT64_C(1) << rad__prng_below(r, 41);
    return value + rad__prng_below(r, 3) - (value > 1);
}

static uint64_t hours(rad_prng *r)
{
    return rad__prng_below(r, 10) ? uniform(r) : RAD_HISTOGRAM_MOST + 1 + rad__prng_below(r, 1000);
}

/* ---- The model ----------------------------------------------------------------------------------------- */

/* Stable, by 11 bits at a time: ten million values in a fraction of a second. */
static void sort_values(uint64_t *values, uint64_t *spare, uint32_t count)
{
    for (uint32_t shift = 0; shift < 64; shift += 11) {
        uint32_t at[2049] = {0};
        for (uint32_t i = 0; i < count; i++) at[(values[i] >> shift & 2047) + 1]++;
        for (uint32_t i = 0; i < 2048; i++) at[i + 1] += at[i];
        for (uint32_t i = 0; i < count; i++) spare[at[values[i] >> shift & 2047]++] = values[i];
        uint64_t *other = values;
        values = spare;
        spare = other;
    }
}

static void compare_quantiles(const rad_histogram *h, const uint64_t *sorted, uint32_t count)
{
    static const uint32_t ppm[] = {0,      1,      10,     1000,   10000,  100000,  250000,
                                   500000, 750000, 900000, 950000, 990000, 999000,  999900,
                                   999990, 999999, 333333, 666667, 123456, 1000000, 500001};
    for (size_t i = 0; i < sizeof ppm / sizeof *ppm; i++) {
        uint64_t rank = ((uint64_t)count * ppm[i] + 999999) / 1000000;
        uint64_t exact = sorted[rank ? rank - 1 : 0];
        uint64_t told = rad__histogram_at_ppm(h, ppm[i]);
        assert_true(told >= exact);
        if (exact <= RAD_HISTOGRAM_MOST)
            assert_true((told - exact) * 1024 < exact || told == exact);
        else
            assert_int_equal(told, h->max);
    }
    assert_int_equal(rad__histogram_at_ppm(h, 0), sorted[0]);
    assert_int_equal(rad__histogram_at_ppm(h, 1000000), sorted[count - 1]);
}

static void compare_moments(const rad_histogram *h, const uint64_t *values, uint32_t count)
{
    unsigned __int128 sum = 0;
    double squares = 0;
    uint64_t over = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += values[i];
        over += values[i] > RAD_HISTOGRAM_MOST;
    }
    double mean = (double)sum / count;
    for (uint32_t i = 0; i < count; i++) squares += ((double)values[i] - mean) * ((double)values[i] - mean);
    double deviation = sqrt(squares / count);
    assert_int_equal(h->count, count);
    assert_int_equal(h->over, over);
    assert_true(h->sum == sum);
    assert_true(rad__histogram_mean(h) == mean);
    assert_true(fabs(rad__histogram_deviation(h) - deviation) <= deviation / 1000 + mean / 1024);
}

/* Every bucket in order, each with as many values as lie in it. */
static void compare_buckets(const rad_histogram *h, const uint64_t *sorted, uint32_t count)
{
    uint32_t at = 0;
    uint64_t before = 0;
    bool first = true;
    for (rad_histogram_step s = {0}; rad__histogram_next(h, &s); first = false) {
        uint64_t inside = 0;
        assert_true(first || s.from > before);
        for (; at < count && sorted[at] <= s.to; at++, inside++) assert_true(sorted[at] >= s.from);
        assert_int_equal(s.count, inside);
        assert_int_equal(s.through, at);
        before = s.to;
    }
    assert_int_equal(at, count);
}

static void agrees(uint64_t (*draw)(rad_prng *), uint32_t count)
{
    uint64_t *values = malloc(count * sizeof *values), *spare = malloc(count * sizeof *spare);
    rad_histogram h;
    rad_prng r = rad__prng(11, RAD_STREAM_TEST, count);
    assert_true(values != NULL && spare != NULL && rad__histogram_open(&h));
    for (uint32_t i = 0; i < count; i++) {
        values[i] = draw(&r);
        rad__histogram_record(&h, values[i]);
    }
    sort_values(values, spare, count); /* an even number of passes: it ends where it began */
    compare_quantiles(&h, values, count);
    compare_moments(&h, values, count);
    compare_buckets(&h, values, count);
    rad__histogram_free(&h);
    free(values);
    free(spare);
}

static void ten_million_uniform_values(void **state)
{
    (void)state;
    agrees(uniform, storm_size(BY_DAY, MANY));
}

static void ten_million_waiting_times(void **state)
{
    (void)state;
    agrees(waiting, storm_size(BY_DAY, MANY));
}

static void ten_million_values_of_two_kinds(void **state)
{
    (void)state;
    agrees(bimodal, storm_size(BY_DAY, MANY));
}

static void ten_million_values_of_every_magnitude(void **state)
{
    (void)state;
    agrees(magnitudes, storm_size(BY_DAY, MANY));
}

static void ten_million_times_one_value(void **state)
{
    (void)state;
    agrees(constant, storm_size(BY_DAY, MANY));
}

static void few_values_and_the_ends_of_buckets(void **state)
{
    (void)state;
    for (uint32_t count = 1; count < 40; count++) {
        agrees(magnitudes, count);
        agrees(edges, count);
    }
    agrees(edges, SOME);
    agrees(hours, SOME);
}

/* ---- Buckets ------------------------------------------------------------------------------------------- */

static void buckets_follow_each_other_without_a_gap(void **state)
{
    (void)state;
    for (uint64_t value = 0; value < 2048; value++) assert_int_equal(rad__histogram_bucket(value), value);
    uint32_t last = 2047;
    for (uint64_t value = 2048; value <= RAD_HISTOGRAM_MOST;) {
        uint32_t bucket = rad__histogram_bucket(value);
        uint64_t width = UINT64_C(1) << (63 - __builtin_clzll(value) - 10);
        assert_int_equal(bucket, last + 1);
        assert_int_equal(rad__histogram_bucket(value + width - 1), bucket);
        assert_true(width <= value / 1024);
        value += width;
        last = bucket;
    }
    assert_int_equal(last, RAD_HISTOGRAM_BUCKETS - 1);
    assert_int_equal(rad__histogram_bucket(RAD_HISTOGRAM_MOST), RAD_HISTOGRAM_BUCKETS - 1);
}

static void an_hour_has_a_bucket_and_a_nanosecond_more_has_none(void **state)
{
    (void)state;
    rad_histogram h;
    assert_true(rad__histogram_open(&h));
    rad__histogram_record(&h, RAD_HISTOGRAM_MOST);
    assert_int_equal(h.over, 0);
    rad__histogram_record(&h, RAD_HISTOGRAM_MOST + 1);
    rad__histogram_record_n(&h, UINT64_MAX, 2);
    assert_int_equal(h.over, 3);
    assert_int_equal(h.count, 4);
    assert_int_equal(h.max, UINT64_MAX);
    assert_true(h.sum == (unsigned __int128)UINT64_MAX * 2 + RAD_HISTOGRAM_MOST * 2 + 1);
    assert_int_equal(rad__histogram_quantile(&h, 1, 4), RAD_HISTOGRAM_MOST);
    assert_int_equal(rad__histogram_quantile(&h, 2, 4), UINT64_MAX);
    rad_histogram_step s = {0};
    assert_true(rad__histogram_next(&h, &s));
    assert_int_equal(s.to, RAD_HISTOGRAM_MOST);
    assert_true(rad__histogram_next(&h, &s));
    assert_int_equal(s.from, RAD_HISTOGRAM_MOST + 1);
    assert_int_equal(s.to, UINT64_MAX);
    assert_int_equal(s.count, 3);
    assert_int_equal(s.through, 4);
    assert_false(rad__histogram_next(&h, &s));
    rad__histogram_free(&h);
}

/* ---- Ranks --------------------------------------------------------------------------------------------- */

static void a_rank_is_rounded_up_and_never_by_a_float(void **state)
{
    (void)state;
    rad_histogram h;
    assert_true(rad__histogram_open(&h));
    for (uint64_t value = 1; value <= 10; value++) rad__histogram_record(&h, value);
    assert_int_equal(rad__histogram_quantile(&h, 1, 2), 5);
    assert_int_equal(rad__histogram_quantile(&h, 501, 1000), 6);
    assert_int_equal(rad__histogram_quantile(&h, 1, 10), 1);
    assert_int_equal(rad__histogram_quantile(&h, 9, 10), 9);
    assert_int_equal(rad__histogram_quantile(&h, 999999, 1000000), 10);
    /* Thirds of more values than a double can tell apart. */
    rad__histogram_clear(&h);
    uint64_t third = UINT64_C(3074457345618258601); /* 3 * third = 2^63 - 5 */
    rad__histogram_record_n(&h, 100, third);
    rad__histogram_record_n(&h, 200, third);
    rad__histogram_record_n(&h, 300, third);
    assert_int_equal(rad__histogram_quantile(&h, 1, 3), 100);
    assert_int_equal(rad__histogram_quantile(&h, third, 3 * third), 100);
    assert_int_equal(rad__histogram_quantile(&h, third + 1, 3 * third), 200);
    assert_int_equal(rad__histogram_quantile(&h, 2 * third + 1, 3 * third), 300);
    rad__histogram_free(&h);
}

static void of_nothing_everything_is_nothing(void **state)
{
    (void)state;
    rad_histogram h;
    rad_histogram_step s = {0};
    assert_true(rad__histogram_open(&h));
    rad__histogram_record_n(&h, 77, 0);
    assert_int_equal(h.count, 0);
    assert_int_equal(h.min, UINT64_MAX);
    assert_int_equal(h.max, 0);
    assert_int_equal(rad__histogram_at_ppm(&h, 990000), 0);
    assert_true(rad__histogram_mean(&h) == 0 && rad__histogram_deviation(&h) == 0);
    assert_false(rad__histogram_next(&h, &s));
    rad__histogram_record(&h, 0);
    assert_int_equal(h.count, 1);
    assert_int_equal(rad__histogram_at_ppm(&h, 990000), 0);
    assert_true(rad__histogram_next(&h, &s));
    assert_int_equal(s.to, 0);
    assert_false(rad__histogram_next(&h, &s));
    rad__histogram_free(&h);
}

/* ---- Several ------------------------------------------------------------------------------------------- */

static bool same(const rad_histogram *a, const rad_histogram *b)
{
    return a->count == b->count && a->min == b->min && a->max == b->max && a->sum == b->sum && a->over == b->over &&
           a->over_sum == b->over_sum && memcmp(a->counts, b->counts, RAD_HISTOGRAM_BUCKETS * sizeof *a->counts) == 0;
}

static void merged_is_as_if_recorded_together(void **state)
{
    (void)state;
    static uint64_t (*const draws[])(rad_prng *) = {bimodal, magnitudes, hours, edges};
    rad_histogram parts[4], joint, merged;
    rad_prng r = rad__prng(12, RAD_STREAM_TEST, 0);
    assert_true(rad__histogram_open(&joint) && rad__histogram_open(&merged));
    for (int p = 0; p < 4; p++) {
        assert_true(rad__histogram_open(&parts[p]));
        for (int i = 0; i < SOME; i++) {
            uint64_t value = draws[p](&r), times = 1 + rad__prng_below(&r, 3);
            rad__histogram_record_n(&parts[p], value, times);
            for (uint64_t n = 0; n < times; n++) rad__histogram_record(&joint, value);
        }
    }
    for (int p = 0; p < 4; p++) rad__histogram_merge(&merged, &parts[3 - p]);
    assert_true(same(&joint, &merged));
    /* Nothing changes when nothing is added. */
    rad__histogram_clear(&parts[0]);
    rad__histogram_merge(&merged, &parts[0]);
    assert_true(same(&joint, &merged));
    /* And what was cleared is as new. */
    for (int p = 1; p < 4; p++) {
        rad__histogram_clear(&parts[p]);
        assert_true(same(&parts[p], &parts[0]));
        rad__histogram_free(&parts[p]);
    }
    rad_histogram fresh;
    assert_true(rad__histogram_open(&fresh));
    assert_true(same(&parts[0], &fresh));
    rad__histogram_free(&fresh);
    rad__histogram_free(&parts[0]);
    rad__histogram_free(&joint);
    rad__histogram_free(&merged);
}

static void one_value_has_no_deviation(void **state)
{
    (void)state;
    rad_histogram h;
    assert_true(rad__histogram_open(&h));
    rad__histogram_record_n(&h, 987654321, 1000);
    assert_true(rad__histogram_mean(&h) == 987654321.0);
    assert_true(rad__histogram_deviation(&h) == 0);
    rad__histogram_clear(&h);
    rad__histogram_record(&h, 100);
    rad__histogram_record(&h, 300);
    assert_true(rad__histogram_deviation(&h) == 100);
    rad__histogram_clear(&h);
    rad__histogram_record_n(&h, 2 * RAD_HISTOGRAM_MOST, 3);
    assert_true(rad__histogram_deviation(&h) == 0);
    rad__histogram_free(&h);
}

static void without_memory_there_is_none(void **state)
{
    (void)state;
    rad_histogram h;
    rad__alloc_fail_at(1);
    assert_false(rad__histogram_open(&h));
    rad__alloc_fail_at(0);
    rad__histogram_free(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buckets_follow_each_other_without_a_gap),
        cmocka_unit_test(an_hour_has_a_bucket_and_a_nanosecond_more_has_none),
        cmocka_unit_test(a_rank_is_rounded_up_and_never_by_a_float),
        cmocka_unit_test(of_nothing_everything_is_nothing),
        cmocka_unit_test(merged_is_as_if_recorded_together),
        cmocka_unit_test(one_value_has_no_deviation),
        cmocka_unit_test(without_memory_there_is_none),
        cmocka_unit_test(few_values_and_the_ends_of_buckets),
        cmocka_unit_test(ten_million_uniform_values),
        cmocka_unit_test(ten_million_waiting_times),
        cmocka_unit_test(ten_million_values_of_two_kinds),
        cmocka_unit_test(ten_million_values_of_every_magnitude),
        cmocka_unit_test(ten_million_times_one_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
