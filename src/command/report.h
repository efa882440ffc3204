/* report.h — verdicts, targets and measures in words and in JSON, the same in every verb. */
#ifndef RAD_COMMAND_REPORT_H
#define RAD_COMMAND_REPORT_H

#include "json.h"

/* "FAILED: deadlock at step 17: producer waits for …", "passed: 40 steps"; from `column` on. */
void report_verdict(cli *c, uint32_t column, const rad_verdict *v) RAD_COMMAND(report_verdict);

/* The message of a failure without the kind it may begin with. */
const char *report_message(const rad_verdict *v) RAD_COMMAND(report_message);

/* The first of the last RAD_LAST_EVENTS lines of a story; one of them, in the machine's own words. */
uint64_t first_event(const rad_story *s) RAD_COMMAND(first_event);
void event_text(const rad_story *s, uint64_t line, char *text, size_t size) RAD_COMMAND(event_text);

/* "State at the end" and "Last 200 events", of a machine that has words of its own. */
void report_state(cli *c, const rad_story *s) RAD_COMMAND(report_state);
void report_events(cli *c, const rad_story *s) RAD_COMMAND(report_events);

/* Of a program under test: where its fibers wait, and what it printed in the run of the story, if anything. */
void report_output(cli *c, const rad_story *s) RAD_COMMAND(report_output);

/* "  name      " in front of a line of facts. */
enum { LABEL_WIDTH = 13 };
void report_label(cli *c, const char *label) RAD_COMMAND(report_label);

/* The names of a target's sites come from an instance of its machine. */
typedef struct site_names {
    const rad_machine *machine;
    void *self;
} site_names;
void sites_open(site_names *s, const rad_target *t) RAD_COMMAND(sites_open);
const char *sites_name(const site_names *s, uint32_t site) RAD_COMMAND(sites_name); /* NULL: unnamed */
void sites_close(site_names *s) RAD_COMMAND(sites_close);

/* Fields of the object that is open: machine, case. */
void put_target(writer *j, const rad_target *t) RAD_COMMAND(put_target);
/* "result", "steps", …, and "failure" {kind, step, message, identity} or null. */
void put_verdict(writer *j, const rad_verdict *v) RAD_COMMAND(put_verdict);
void put_failure(writer *j, const char *key, const rad_verdict *v) RAD_COMMAND(put_failure);
void put_measure(writer *j, const char *key, const rad_measure *m) RAD_COMMAND(put_measure);

#endif
