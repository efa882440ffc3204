/* schedules.h — every schedule of a small flow: exactly what can happen.
 *
 * What happens in a run is told in words, in order: "a" task a has finished, "a!" it has failed, "-a" it was cancelled
 * while it was under way, "<a" it was started (if asked for); then "|", how the case ended, and, if asked for, the
 * value of a variable: "a b | done x=3". */
#ifndef RAD_TEST_FLOW_SCHEDULES_H
#define RAD_TEST_FLOW_SCHEDULES_H

#include <stdbool.h>
#include <stdint.h>

typedef struct flow_schedules {
    const char *text;
    const char *variable; /* whose value is told at the end; NULL: none */
    bool starts;          /* starts are told, too */
    bool ends_only;       /* tasks are not told */
    uint32_t steps;       /* at most, then it ends as "running"; 0: 1,000 */
    uint32_t random;      /* so many random schedules instead of all: where all are too many */
} flow_schedules;

/* What can happen, sorted, each once, over all schedules and outcomes. It fails when there are more than a million. */
typedef struct flow_happenings {
    char **items;
    uint32_t count, capacity;
    uint64_t schedules;
} flow_happenings;

flow_happenings flow_explore(const flow_schedules *s);
void flow_happenings_free(flow_happenings *h);

/* Exactly these, in any order; NULL ends the list. Machine and reference interpreter are also run side by side. */
void flow_expect(const flow_schedules *s, const char *const *expected);

#define FLOW_EXPECT(flow, ...) flow_expect(&(flow_schedules){.text = (flow)}, (const char *const[]){__VA_ARGS__, NULL})
#define FLOW_EXPECT_VALUE(flow, name, ...)                                                                             \
    flow_expect(&(flow_schedules){.text = (flow), .variable = (name), .ends_only = true},                              \
                (const char *const[]){__VA_ARGS__, NULL})

#endif
