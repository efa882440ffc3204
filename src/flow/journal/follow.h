/* follow.h — a recorded case on another text of its flow: can that do what was done?
 *
 * The flow it was recorded with (the leader) and the other one (the follower) run side by side: what the leader does
 * next by its journal the follower has to do, too, until it cannot. Nothing is executed.
 *
 * Steps have stable names: the path of the token, and what it does there. A task is known by its name, a command
 * without one by its text, everything else by its kind and what it names (a variable, region, signal …); not by line
 * or place in the file, so an edit in a part that was not come to changes nothing. Paths have the numbers of forks in
 * them, which such an edit may change: tokens correspond when their makers do, at the same fork and branch.
 *
 * They differ where the follower does not offer the leader's step, takes another branch or event, sets another value,
 * starts a task with other data, or has no use for an input; or where one has ended, and not the other. Then the report
 * names what can continue in each of them. */
#ifndef RAD_FLOW_JOURNAL_FOLLOW_H
#define RAD_FLOW_JOURNAL_FOLLOW_H

#include "base/bytes.h"
#include "flow/journal/journal.h"

typedef struct rad_flow_lines {
    char **items;
    uint32_t count, capacity;
    bool failed; /* there was no memory */
} rad_flow_lines;

typedef struct rad_flow_following {
    bool fits;
    enum rad_flow_state state; /* of the follower */
    uint64_t steps, inputs;    /* that both have done */
    /* When it does not fit. */
    uint64_t record;                  /* of the journal, the next one; 0: behind the last */
    rad_flow_lines step;              /* one line: what was recorded, by its name */
    rad_flow_lines reason;            /* one line: what the follower does instead, if that can be said */
    rad_flow_lines recorded, offered; /* what could go on */
} rad_flow_following;

/* RAD_EINPUT: the journal is damaged, or not of `leader`. rad__flow_following_free it, also after an error. */
RAD_INTERNAL int rad__flow_follow(rad_flow_following *out, const rad_flow_program *leader,
                                  const rad_flow_program *follower, const char *journal, const void *data, size_t size,
                                  rad_error *error);
RAD_INTERNAL void rad__flow_following_free(rad_flow_following *f);

/* ---- Words (follow_words.c) ------------------------------------------------------------------------------- */

/* A case with what is needed to name what is in it. */
typedef struct rad_flow_side {
    const rad_flow_program *program;
    rad_flow_case *c;
    const rad_flow_statement **outline;
} rad_flow_side;

/* "0/3.1#2 do compile (line 7)": what a token does with that operation. */
RAD_INTERNAL void rad__flow_step_name(const rad_flow_side *s, uint32_t token, const rad_flow_op *op, rad_bytes *out);
/* Of a task, or a command without a name: `run "echo"`. */
RAD_INTERNAL void rad__flow_task_words(const rad_flow_side *s, uint32_t task, rad_bytes *out);

/* What can go on by itself; if nothing can, what is waited for; or how it has ended. */
RAD_INTERNAL void rad__flow_list_steps(const rad_flow_side *s, rad_flow_lines *out);
/* What it has asked the world for. */
RAD_INTERNAL void rad__flow_list_asks(const rad_flow_side *s, rad_flow_lines *out);
/* Takes the text, which it frees. */
RAD_INTERNAL void rad__flow_lines_add(rad_flow_lines *l, rad_bytes *text);
RAD_INTERNAL void rad__flow_lines_free(rad_flow_lines *l);
RAD_INTERNAL const char *rad__flow_state_name(enum rad_flow_state state); /* "running", "done", … */

#endif
