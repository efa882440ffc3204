/* rank_test.h — whether two groups of runs differ: the test of Wilcoxon, Mann and Whitney, and Holm's correction for
 * several such tests.
 *
 * A run gives one value. If both groups are runs of the same thing, every way to deal the values out to the groups is
 * equally likely; p is the share of those ways in which the second group has ranks as large as it has (or as small). It
 * takes nothing for granted but that: no bell curve, no equal spread, and one run that went wrong moves one rank.
 *
 * Rejected: Welch's t test (percentiles of load tests have long tails, and a handful of runs does not show them), and a
 * permutation of means (one slow run hides everything). */
#ifndef RAD_LOAD_REPORT_RANK_TEST_H
#define RAD_LOAD_REPORT_RANK_TEST_H

#include "base/check.h"

enum { RAD__LOAD_RANK_EXACT = 50 }; /* values in both groups; above it a normal approximation */

struct rad__load_rank_p {
    double larger, smaller; /* of the second group being at least so much larger, smaller, by chance */
};

/* At least one value on each side. False: memory ran out. */
RAD_INTERNAL bool rad__load_rank_test(const double *a, uint32_t a_count, const double *b, uint32_t b_count,
                                      struct rad__load_rank_p *p);

/* The smallest p there is with so many values: all of one group are larger than all of the other. */
RAD_INTERNAL double rad__load_rank_least(uint32_t a_count, uint32_t b_count);

/* Each p becomes the level at which all tests together, corrected by Holm, would call this one a difference: compared
 * with a level, at most that share of families in which nothing differs has any difference found. False: memory ran
 * out. */
RAD_INTERNAL bool rad__load_holm(double *p, uint32_t count);

#endif
