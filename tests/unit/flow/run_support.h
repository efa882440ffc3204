/* run_support.h — cases in real folders, and runners in processes of their own, for tests. */
#ifndef TESTS_FLOW_RUN_SUPPORT_H
#define TESTS_FLOW_RUN_SUPPORT_H

#include <raddle/flow.h>

extern const char flow_folder[]; /* of the case; commands write below flow_made */

/* Waits for a signal go, does a task, waits for another, does it again, then waits in a region r for ever. */
#define FLOW_WAITS                                                                                                     \
    "flow f { data { x : text } task t { run \"echo $x >> flow_made/x\" }\n"                                           \
    "wait signal go into x do t wait signal go into x do t\n"                                                          \
    "region r { wait signal never } on cancel { do t } }"

/* No folder, no faults. A setup function. */
int flow_fresh(void **state);
rad_flow *flow_parsed(const char *text);
rad_flow_options flow_options(void);
rad_flow_result flow_run(const char *text); /* to its end */

void flow_expect_done(const char *text);
void flow_expect_data(const char *name, const char *expected);
void flow_expect_file(const char *path, const char *text);
void flow_expect_refused(int code, const rad_error *error, int expected, const char *text);

/* A process that runs or resumes the case; one at a time. */
extern int flow_run_pid;
void flow_start_runner(const char *text);
void flow_kill_runner(void);
int flow_wait_for_runner(void); /* enum rad_flow_end; 99: an error */
void flow_wait_for_file(const char *path);
void flow_wait_for_records(uint64_t count);
void flow_wait_for_text(const char *text); /* in the status */
void flow_wait_for_lock(void);             /* until the runner has it */

#endif
