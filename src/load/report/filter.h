/* filter.h — which requests are meant: `status >= 500 && service_ms > 20`.
 *
 *     either   both { "||" both }
 *     both     one { "&&" one }
 *     one      "!" one | "(" either ")" | name operator value
 *     operator == != < <= > >=, and ~ : the text contains
 *     value    number with or without unit (10ms, 1.5s, 4kB), or text in "…" or '…'
 *
 * A filter is asked about requests, each together with how it ended; events that are about no request (users,
 * connections, dropped arrivals, late answers, phases) are never filtered. What a request does not have (the status of
 * one that timed out) makes a comparison false, whichever it is; `!` turns that around. Numbers are integers: times are
 * compared in nanoseconds. */
#ifndef RAD_LOAD_REPORT_FILTER_H
#define RAD_LOAD_REPORT_FILTER_H

#include "base/arena.h"
#include "load/log/event.h"

enum {
    RAD__LOAD_FILTER_TEXT_MAX = 4096,
    RAD__LOAD_FILTER_DEPTH_MAX = 64 /* parentheses and !, one in another */
};

/* A request and how it ended. */
struct rad__load_asked {
    rad__load_event issued;
    rad__load_event outcome; /* kind RAD__LOAD_ISSUED: the log ends before that */
    uint64_t issued_ns;      /* since the run began */
    uint32_t shard, shards;
};

typedef struct rad__load_filter {
    const rad__load_scenario *scenario;
    rad_arena arena;
    const struct rad__load_filter_node *top;
} rad__load_filter;

/* RAD_EINPUT: "filter: column 8: …". Free it also after a failure. The scenario stays the caller's. */
RAD_INTERNAL int rad__load_filter_parse(rad__load_filter *f, const rad__load_scenario *scenario, const char *text,
                                        rad_error *error);
RAD_INTERNAL void rad__load_filter_free(rad__load_filter *f);

RAD_INTERNAL bool rad__load_filter_holds(const rad__load_filter *f, const struct rad__load_asked *asked);

/* Names that can be asked for, for the manual; NULL after the last. */
RAD_INTERNAL const char *rad__load_filter_name(uint32_t index);

#endif
