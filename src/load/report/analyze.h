/* analyze.h — statistics of a log, from its output records and its turns alone: no input is looked at, nothing is
 * replayed. The reducer is the run's own (metrics.h), so that without a filter the answer is the run's own summary.
 *
 * Every block is checked before anything in it is believed (log/read.c), and every event against the rules of
 * causality.h; an error names its record. With a filter the log is read twice: first each request is
 * judged when it has ended, then those that were chosen are counted, each event in the second it happened in. */
#ifndef RAD_LOAD_REPORT_ANALYZE_H
#define RAD_LOAD_REPORT_ANALYZE_H

#include "load/log/log.h"
#include "load/report/filter.h"
#include "load/report/result.h"

/* Into a result whose scenario (that of the log) is there and which has no statistics yet. `filter` may be NULL.
 * RAD_EINPUT: damage, or what cannot have happened; `r` then has no statistics. */
RAD_INTERNAL int rad__load_analyze(rad_load_result *r, const rad__load_log_reader *from, const rad__load_filter *filter,
                                   rad_error *error);

#endif
