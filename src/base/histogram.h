/* histogram.h — how often which value was seen, from 1 ns to 1 h, in buckets that grow with the value.
 *
 * Values below 2048 have a bucket each. From there on every doubling of the value is cut into 1024 buckets of equal
 * width, so that a bucket is at most as wide as its smallest value divided by 1024. A quantile is reported as the
 * largest value of its bucket (or the maximum, if that is smaller), and so
 *
 *     exact <= told    and    told - exact < exact / 1024
 *
 * where `exact` is what sorting all values would give: three significant digits. Count, minimum, maximum and mean are
 * exact. What is above one hour has no bucket: it is counted, apart (`over`), is in maximum and mean, and a quantile
 * that falls on it is reported as the maximum.
 *
 * The counters are one array of 267 KB. It is one allocation, which the system fills with memory page by page when it
 * is written to: latencies between 50 µs and 10 ms touch 64 KB of it. Smaller arrays that are allocated when they are
 * needed were rejected: recording could fail then. */
#ifndef RAD_BASE_HISTOGRAM_H
#define RAD_BASE_HISTOGRAM_H

#include "base/check.h"

#define RAD_HISTOGRAM_MOST UINT64_C(3600000000000) /* one hour in nanoseconds: the last value with a bucket */

enum {
    RAD_HISTOGRAM_DIGIT_BITS = 10, /* 1024 buckets a doubling */
    RAD_HISTOGRAM_BUCKETS = 33421  /* rad__histogram_bucket(RAD_HISTOGRAM_MOST) + 1 */
};

/* All zero: none. Only rad__histogram_open makes one that can record. */
typedef struct rad_histogram {
    uint64_t *counts;
    uint64_t count;        /* all, also those above an hour */
    uint64_t min, max;     /* UINT64_MAX and 0 when there are none */
    unsigned __int128 sum; /* of all */
    uint64_t over;         /* how many of them are above an hour */
    unsigned __int128 over_sum;
} rad_histogram;

/* False when memory ran out. */
RAD_INTERNAL RAD_MUST_USE bool rad__histogram_open(rad_histogram *h);
RAD_INTERNAL void rad__histogram_free(rad_histogram *h);
RAD_INTERNAL void rad__histogram_clear(rad_histogram *h); /* touches no more than what was recorded in */

/* ---- Recording ----------------------------------------------------------------------------------------- */

/* The number of the bucket of a value that has one. */
RAD_INLINE uint32_t rad__histogram_bucket(uint64_t value)
{
    uint32_t top = 63 - (uint32_t)__builtin_clzll(value | 1 << RAD_HISTOGRAM_DIGIT_BITS);
    uint32_t shift = top - RAD_HISTOGRAM_DIGIT_BITS;
    return (shift << RAD_HISTOGRAM_DIGIT_BITS) + (uint32_t)(value >> shift);
}

RAD_INTERNAL void rad__histogram_count_over(rad_histogram *h, uint64_t value, uint64_t times);

RAD_INLINE void rad__histogram_record_n(rad_histogram *h, uint64_t value, uint64_t times)
{
    if (RAD_UNLIKELY(times == 0)) return; /* minimum and maximum are of values that were seen */
    if (value < h->min) h->min = value;
    if (value > h->max) h->max = value;
    h->count += times;
    h->sum += (unsigned __int128)value * times;
    if (RAD_LIKELY(value <= RAD_HISTOGRAM_MOST))
        h->counts[rad__histogram_bucket(value)] += times;
    else
        rad__histogram_count_over(h, value, times);
}

RAD_INLINE void rad__histogram_record(rad_histogram *h, uint64_t value)
{
    rad__histogram_record_n(h, value, 1);
}

/* Afterwards `h` is as if everything recorded in `other` had been recorded in `h`. */
RAD_INTERNAL void rad__histogram_merge(rad_histogram *h, const rad_histogram *other);

/* ---- Asking -------------------------------------------------------------------------------------------- */

/* The smallest value that at least parts/whole of all values do not exceed, told as said above; of none: 0. The
 * median is 1/2, p99.9 999/1000; 0 of anything is the minimum. parts <= whole, whole > 0; integers decide. */
RAD_INTERNAL uint64_t rad__histogram_quantile(const rad_histogram *h, uint64_t parts, uint64_t whole);

/* In millionths: p50 is 500000, p99.99 999900. */
static inline uint64_t rad__histogram_at_ppm(const rad_histogram *h, uint32_t millionths)
{
    return rad__histogram_quantile(h, millionths, 1000000);
}

/* For display only. Of none: 0. The mean is of the exact sum; the deviation takes values as the middle of their
 * buckets, and those above an hour as their mean. */
RAD_INTERNAL double rad__histogram_mean(const rad_histogram *h);
RAD_INTERNAL double rad__histogram_deviation(const rad_histogram *h);

/* ---- Buckets, in order --------------------------------------------------------------------------------- */

typedef struct rad_histogram_step {
    uint64_t from, to; /* the smallest and the largest value of the bucket */
    uint64_t count;    /* not 0 */
    uint64_t through;  /* how many values are in this bucket and in those before it */
    uint32_t next;     /* where to look for the next one */
} rad_histogram_step;

/* `step` all zero: begins. False when there are no more. The last one may be that of the values above an hour; its
 * `to` is the maximum. */
RAD_INTERNAL bool rad__histogram_next(const rad_histogram *h, rad_histogram_step *step);

#endif
