/* rank_test.c — see rank_test.h. */
#include "load/report/rank_test.h"

#include "base/alloc.h"

#include <math.h>

/* ---- Ranks ----------------------------------------------------------------------------------------------- */

/* Values of both groups in order. Ranks are doubled, so that those of equal values, which share theirs, are whole. */
struct ranked {
    double *value;
    uint32_t *rank; /* of the value at this place */
    bool *second;   /* it is of the second group */
    uint32_t count, second_count;
    double ties; /* sum of t³ − t over groups of t equal values */
};

static void insert(struct ranked *r, double value, bool second)
{
    uint32_t at = r->count++;
    for (; at > 0 && r->value[at - 1] > value; at--) {
        r->value[at] = r->value[at - 1];
        r->second[at] = r->second[at - 1];
    }
    r->value[at] = value;
    r->second[at] = second;
    r->second_count += second;
}

static void rank_all(struct ranked *r)
{
    for (uint32_t from = 0, to; from < r->count; from = to) {
        for (to = from + 1; to < r->count && r->value[to] <= r->value[from]; to++) {
        }
        double equal = to - from;
        r->ties += equal * equal * equal - equal;
        for (uint32_t i = from; i < to; i++) r->rank[i] = from + 1 + to; /* twice their mean */
    }
}

static uint64_t sum_of_second(const struct ranked *r)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < r->count; i++) sum += r->second[i] ? r->rank[i] : 0;
    return sum;
}

/* ---- How likely ------------------------------------------------------------------------------------------ */

/* ways[k][s]: in how many ways k of the ranks looked at so far have the sum s. */
static bool count_ways(const struct ranked *r, uint64_t seen, struct rad__load_rank_p *p)
{
    uint32_t most = r->second_count;
    size_t sums = (size_t)r->count * (r->count + 1) + 1;
    double *ways = rad__alloc((most + 1) * sums, sizeof *ways), all = 0, larger = 0, smaller = 0;
    if (ways == NULL) return false;
    ways[0] = 1;
    for (uint32_t i = 0; i < r->count; i++) {
        for (uint32_t k = i + 1 < most ? i + 1 : most; k > 0; k--)
            for (size_t s = sums - 1; s >= r->rank[i]; s--) ways[k * sums + s] += ways[(k - 1) * sums + s - r->rank[i]];
    }
    for (size_t s = 0; s < sums; s++) {
        double here = ways[most * sums + s];
        all += here;
        larger += s >= seen ? here : 0;
        smaller += s <= seen ? here : 0;
    }
    *p = (struct rad__load_rank_p){larger / all, smaller / all};
    rad__free(ways);
    return true;
}

/* With a correction for continuity (ranks are doubled: 1 is half a rank) and for ties. */
static void approximate(const struct ranked *r, uint64_t seen, struct rad__load_rank_p *p)
{
    double n = r->count, m = r->second_count;
    double mean = m * (n + 1), spread = sqrt(m * (n - m) / 3 * (n + 1 - r->ties / (n * (n - 1))));
    double off = (double)seen - mean;
    *p = (struct rad__load_rank_p){1, 1};
    if (!(spread > 0)) return; /* all are equal */
    p->larger = fmin(1, erfc((off - 1) / spread / sqrt(2)) / 2);
    p->smaller = fmin(1, erfc((-off - 1) / spread / sqrt(2)) / 2);
}

bool rad__load_rank_test(const double *a, uint32_t a_count, const double *b, uint32_t b_count,
                         struct rad__load_rank_p *p)
{
    size_t count = (size_t)a_count + b_count;
    struct ranked r = {.value = rad__alloc(count, sizeof *r.value),
                       .rank = rad__alloc(count, sizeof *r.rank),
                       .second = rad__alloc(count, sizeof *r.second)};
    bool ok = r.value != NULL && r.rank != NULL && r.second != NULL;
    for (uint32_t i = 0; ok && i < a_count; i++) insert(&r, a[i], false);
    for (uint32_t i = 0; ok && i < b_count; i++) insert(&r, b[i], true);
    if (ok) {
        rank_all(&r);
        if (count <= RAD__LOAD_RANK_EXACT)
            ok = count_ways(&r, sum_of_second(&r), p);
        else
            approximate(&r, sum_of_second(&r), p);
    }
    rad__free(r.value);
    rad__free(r.rank);
    rad__free(r.second);
    return ok;
}

double rad__load_rank_least(uint32_t a_count, uint32_t b_count)
{
    double ways = 1;
    for (uint32_t i = 1; i <= a_count; i++) ways = ways * (b_count + i) / i;
    return 1 / ways;
}

/* ---- Several tests --------------------------------------------------------------------------------------- */

/* The smallest of n is worth n times itself, the next n − 1 times, …; and none less than one before it. */
bool rad__load_holm(double *p, uint32_t count)
{
    uint32_t *order = rad__alloc(count, sizeof *order);
    double before = 0;
    if (order == NULL && count > 0) return false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = i;
        for (; at > 0 && p[order[at - 1]] > p[i]; at--) order[at] = order[at - 1];
        order[at] = i;
    }
    for (uint32_t i = 0; i < count; i++) {
        double worth = fmin(1, p[order[i]] * (count - i));
        before = p[order[i]] = fmax(before, worth);
    }
    rad__free(order);
    return true;
}
