/* test_rank.c — the rank test against all the ways there are, and against the numbers of its tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/prng.h"
#include "load/report/rank_test.h"

#include <math.h>

static struct rad__load_rank_p test_of(const double *a, uint32_t n, const double *b, uint32_t m)
{
    struct rad__load_rank_p p;
    assert_true(rad__load_rank_test(a, n, b, m, &p));
    return p;
}

static void is_near(double told, double expected, double within)
{
    if (!(fabs(told - expected) <= within)) fail_msg("%.9f, expected %.9f", told, expected);
}

/* How often a value of b is above one of a; equal ones count half. Twice that. */
static uint32_t above(const double *all, uint32_t count, uint32_t second)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < count; k++)
            if ((second >> i & 1) && !(second >> k & 1)) sum += all[i] > all[k] ? 2 : all[i] < all[k] ? 0 : 1;
    return sum;
}

/* Every way to deal the values out, one by one; with many ties, and with none. */
static void as_all_the_ways_say(void **state)
{
    (void)state;
    rad_prng random = rad__prng(1, RAD_STREAM_TEST, 0);
    for (int trial = 0; trial < 60; trial++) {
        double all[9];
        uint32_t n = 1 + (uint32_t)rad__prng_below(&random, 5), m = 1 + trial % 4;
        uint32_t kinds = trial % 3 == 0 ? 1000000 : 1 + (uint32_t)rad__prng_below(&random, 6);
        for (uint32_t i = 0; i < n + m; i++) all[i] = (double)rad__prng_below(&random, kinds);
        uint32_t seen = above(all, n + m, ((1u << m) - 1) << n), ways = 0, larger = 0, smaller = 0;
        for (uint32_t second = 0; second < 1u << (n + m); second++) {
            if ((uint32_t)__builtin_popcount(second) != m) continue;
            uint32_t here = above(all, n + m, second);
            ways++;
            larger += here >= seen;
            smaller += here <= seen;
        }
        struct rad__load_rank_p p = test_of(all, n, all + n, m);
        is_near(p.larger, (double)larger / ways, 1e-12);
        is_near(p.smaller, (double)smaller / ways, 1e-12);
    }
}

static void as_the_tables_say(void **state)
{
    (void)state;
    double low[10], high[10];
    for (uint32_t i = 0; i < 10; i++) {
        low[i] = i;
        high[i] = 100 + i;
    }
    is_near(test_of(low, 10, high, 10).larger, 1 / 184756.0, 1e-15);
    is_near(test_of(high, 10, low, 10).smaller, 1 / 184756.0, 1e-15);
    is_near(test_of(low, 10, high, 10).smaller, 1, 1e-15);
    is_near(test_of(low, 3, high, 3).larger, 0.05, 1e-15);
    is_near(rad__load_rank_least(10, 10), 1 / 184756.0, 1e-15);
    is_near(rad__load_rank_least(3, 5), 1 / 56.0, 1e-15);
    is_near(test_of(low, 10, low, 10).larger, test_of(low, 10, low, 10).smaller, 1e-12);
    double a[] = {1, 2, 4, 6, 7}, b[] = {3, 8, 9, 10, 11}; /* U = 3: 7 of 252 ways */
    is_near(test_of(a, 5, b, 5).larger, 7 / 252.0, 1e-12);
    double same[10] = {0};
    is_near(test_of(same, 10, same, 10).larger, 1, 1e-12);
}

/* In how many ways n and m values have U = u: Mann's and Whitney's own recurrence. */
static double *ways_of(uint32_t n, uint32_t m)
{
    static double table[41][41][1601];
    for (uint32_t i = 0; i <= n; i++)
        for (uint32_t k = 0; k <= m; k++)
            for (uint32_t u = 0; u <= n * m; u++)
                table[i][k][u] = i == 0 || k == 0 ? u == 0 : (u >= k ? table[i - 1][k][u - k] : 0) + table[i][k - 1][u];
    return table[n][m];
}

/* Above 50 values it is an approximation: near the exact one, where it matters. */
static void many_runs(void **state)
{
    (void)state;
    static double a[40], b[40];
    uint32_t n = 40, m = 35;
    double *ways = ways_of(n, m), all = 0;
    for (uint32_t u = 0; u <= n * m; u++) all += ways[u];
    for (uint32_t shift = 0; shift <= 40; shift += 4) {
        uint32_t u = 0;
        double exact = 0;
        for (uint32_t i = 0; i < n; i++) a[i] = i;
        for (uint32_t i = 0; i < m; i++) b[i] = i + shift / 2.0 + 0.25;
        for (uint32_t i = 0; i < m; i++)
            for (uint32_t k = 0; k < n; k++) u += b[i] > a[k];
        for (uint32_t i = u; i <= n * m; i++) exact += ways[i] / all;
        is_near(test_of(a, n, b, m).larger, exact, 0.002);
        is_near(test_of(b, m, a, n).smaller, exact, 0.002);
    }
    double same[60] = {0};
    is_near(test_of(same, 60, same, 60).larger, 1, 0);
}

static void holm(void **state)
{
    (void)state;
    double p[] = {0.01, 0.04, 0.03, 0.005};
    assert_true(rad__load_holm(p, 4));
    is_near(p[0], 0.03, 1e-12);
    is_near(p[1], 0.06, 1e-12); /* not less than the one before it */
    is_near(p[2], 0.06, 1e-12);
    is_near(p[3], 0.02, 1e-12);
    double one[] = {0.5, 0.9};
    assert_true(rad__load_holm(one, 2));
    is_near(one[0], 1, 0);
    is_near(one[1], 1, 0);
    assert_true(rad__load_holm(p, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_all_the_ways_say),
        cmocka_unit_test(as_the_tables_say),
        cmocka_unit_test(many_runs),
        cmocka_unit_test(holm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
