/* histogram.c — see histogram.h. */
#include "base/histogram.h"

#include "base/alloc.h"

#include <math.h>
#include <string.h>

enum { DIGITS = 1 << RAD_HISTOGRAM_DIGIT_BITS };

/* The smallest value of a bucket; of the one after the last bucket, too. */
static uint64_t bucket_from(uint32_t bucket)
{
    if (bucket < 2 * DIGITS) return bucket;
    uint32_t shift = bucket / DIGITS - 1;
    return (uint64_t)(bucket - shift * DIGITS) << shift;
}

static uint64_t bucket_to(uint32_t bucket)
{
    uint64_t to = bucket_from(bucket + 1) - 1;
    return to < RAD_HISTOGRAM_MOST ? to : RAD_HISTOGRAM_MOST;
}

bool rad__histogram_open(rad_histogram *h)
{
    *h = (rad_histogram){.min = UINT64_MAX};
    h->counts = rad__alloc(RAD_HISTOGRAM_BUCKETS, sizeof *h->counts);
    return h->counts != NULL;
}

void rad__histogram_free(rad_histogram *h)
{
    rad__free(h->counts);
    *h = (rad_histogram){.counts = NULL};
}

/* The buckets that may have something in them: from the first to before the second. */
static uint32_t first_used(const rad_histogram *h)
{
    return h->min <= RAD_HISTOGRAM_MOST ? rad__histogram_bucket(h->min) : RAD_HISTOGRAM_BUCKETS;
}

static uint32_t end_of_used(const rad_histogram *h)
{
    if (h->count == 0) return 0;
    return h->max <= RAD_HISTOGRAM_MOST ? rad__histogram_bucket(h->max) + 1 : RAD_HISTOGRAM_BUCKETS;
}

void rad__histogram_clear(rad_histogram *h)
{
    uint32_t from = first_used(h), end = end_of_used(h);
    if (from < end) memset(h->counts + from, 0, (end - from) * sizeof *h->counts);
    *h = (rad_histogram){.counts = h->counts, .min = UINT64_MAX};
}

void rad__histogram_count_over(rad_histogram *h, uint64_t value, uint64_t times)
{
    h->over += times;
    h->over_sum += (unsigned __int128)value * times;
}

void rad__histogram_merge(rad_histogram *h, const rad_histogram *other)
{
    for (uint32_t i = first_used(other), end = end_of_used(other); i < end; i++)
        if (other->counts[i]) h->counts[i] += other->counts[i];
    if (other->min < h->min) h->min = other->min;
    if (other->max > h->max) h->max = other->max;
    h->count += other->count;
    h->sum += other->sum;
    h->over += other->over;
    h->over_sum += other->over_sum;
}

uint64_t rad__histogram_quantile(const rad_histogram *h, uint64_t parts, uint64_t whole)
{
    RAD_ASSERT(whole > 0 && parts <= whole);
    if (h->count == 0) return 0;
    if (parts == 0) return h->min;
    /* How many values the one asked for is not exceeded by: parts/whole of them, rounded up. */
    uint64_t rank = (uint64_t)(((unsigned __int128)h->count * parts + whole - 1) / whole);
    uint64_t through = 0;
    for (uint32_t i = first_used(h), end = end_of_used(h); i < end; i++) {
        through += h->counts[i];
        if (through < rank) continue;
        uint64_t told = bucket_to(i);
        return told < h->max ? told : h->max;
    }
    return h->max; /* it is above an hour */
}

double rad__histogram_mean(const rad_histogram *h)
{
    return h->count ? (double)h->sum / (double)h->count : 0;
}

static double step_middle(const rad_histogram *h, const rad_histogram_step *step)
{
    if (step->from > RAD_HISTOGRAM_MOST) return (double)h->over_sum / (double)h->over;
    return ((double)step->from + (double)step->to) / 2;
}

/* Around the mean of the middles, not around the exact one: what is in one bucket only has no deviation. */
double rad__histogram_deviation(const rad_histogram *h)
{
    if (h->count == 0) return 0;
    double sum = 0, squares = 0;
    for (rad_histogram_step s = {0}; rad__histogram_next(h, &s);) sum += step_middle(h, &s) * (double)s.count;
    double mean = sum / (double)h->count;
    for (rad_histogram_step s = {0}; rad__histogram_next(h, &s);) {
        double off = step_middle(h, &s) - mean;
        squares += off * off * (double)s.count;
    }
    return sqrt(squares / (double)h->count);
}

bool rad__histogram_next(const rad_histogram *h, rad_histogram_step *step)
{
    uint32_t first = first_used(h), end = end_of_used(h);
    uint32_t i = step->next > first ? step->next : first;
    while (i < end && h->counts[i] == 0) i++;
    if (i < end) {
        uint64_t through = step->through + h->counts[i];
        *step = (rad_histogram_step){bucket_from(i), bucket_to(i), h->counts[i], through, i + 1};
        return true;
    }
    if (h->over == 0 || step->next > RAD_HISTOGRAM_BUCKETS) return false;
    *step = (rad_histogram_step){RAD_HISTOGRAM_MOST + 1, h->max, h->over, h->count, RAD_HISTOGRAM_BUCKETS + 1};
    return true;
}
