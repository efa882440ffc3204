/* replay.h — a case again from its journal: what was fed is fed again before the same steps, and nothing is run.
 *
 * The digest of the trace is compared at every input and at the end, so the first difference is found between two
 * records. A journal that has no end yet gives a case that is where its last input left it, and can run on: what it
 * still asks for is in its list. */
#ifndef RAD_FLOW_JOURNAL_REPLAY_H
#define RAD_FLOW_JOURNAL_REPLAY_H

#include "flow/journal/journal.h"
#include "flow/machine/history.h"

/* Of a journal without an end: steps behind its last record. A flow that goes round for ever is left there. */
enum { RAD_REPLAY_BEYOND = 1 << 22 };

typedef struct rad_flow_rerun {
    rad_flow_case *c; /* rad__flow_case_close it */
    bool as_recorded;
    char reason[400]; /* what differs, when not */
    uint64_t inputs;
    bool ended; /* the journal has an END */
    rad_flow_history *history;
    uint64_t quantum;
    uint32_t asks_most; /* with more, those that no token waits for go */
} rad_flow_rerun;

/* RAD_EINPUT: the journal is damaged, or of another flow. `history` records what happens; may be NULL. `quantum`: steps
 * at a time, 0 = as many as there are; how they are divided changes nothing. */
RAD_INTERNAL int rad__flow_replay_journal(rad_flow_rerun *out, const rad_flow_program *p, rad_flow_journal *j,
                                          rad_flow_history *history, uint64_t quantum, rad_error *error);

/* ---- For a runner, which replays its own journal --------------------------------------------------------- */

/* Runs the case until it has done `step` steps, or cannot go on; `after` is called behind every `quantum` of them, with
 * what they asked for. An error is that of `after`. */
RAD_INTERNAL int rad__flow_go_to(rad_flow_case *c, uint64_t step, uint64_t quantum,
                                 int (*after)(void *context, rad_error *error), void *context, rad_error *error);
/* Whether the case is where it was when the record was written: NULL, or what differs. */
RAD_INTERNAL const char *rad__flow_differs(const rad_flow_case *c, const rad_flow_record *record);

#endif
