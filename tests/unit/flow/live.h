/* live.h — a case in a live world, told what to do task by task. */
#ifndef RAD_TEST_FLOW_LIVE_H
#define RAD_TEST_FLOW_LIVE_H

#include "flow/machine/instance.h"

typedef struct flow_live {
    rad_flow_program *program;
    rad_flow_case *c;
    char *log; /* all asks so far: "start 0#1 a; stop 0#1; timer 0#2.1 5s; …" in order */
    uint32_t length, capacity;
    const char *show; /* a variable whose value at the start stands behind each start: "start 0#1 a 1 n=3; " */
} flow_live;

/* Policy `first`; it has run until it waits. show: see above, or NULL. */
flow_live *flow_live_open(const char *text);
flow_live *flow_live_open_showing(const char *text, const char *show);
void flow_live_close(flow_live *l);

/* Each runs on until nothing goes on by itself, and answers how the case is then. A task is known by its name: the one
 * that is under way, oldest first. It fails when there is none. */
enum rad_flow_state flow_live_ok(flow_live *l, const char *task);
enum rad_flow_state flow_live_fail(flow_live *l, const char *task);
/* It is done, and has written that. */
enum rad_flow_state flow_live_wrote(flow_live *l, const char *task, const char *variable, const char *value);
enum rad_flow_state flow_live_signal(flow_live *l, const char *name, const char *payload);
enum rad_flow_state flow_live_cancel(flow_live *l, enum rad_flow_part scope, const char *name);
/* The timer that was asked for as that key and alternative. */
enum rad_flow_state flow_live_ring(flow_live *l, const char *key, uint32_t alternative);
enum rad_flow_state flow_live_go_on(flow_live *l);

/* A result for that key, whether anybody waits for it or not; true: it was taken. It does not run on. */
bool flow_live_result(flow_live *l, const char *key, uint32_t attempt, bool ok);

/* Tasks that are under way, in the order of starting: "a b". */
const char *flow_live_under_way(flow_live *l);
const char *flow_live_value(flow_live *l, const char *variable);
/* How often the words are in the log. */
uint32_t flow_live_count(const flow_live *l, const char *words);

#endif
