/* snapshot.h — a case as bytes, to go on with later or elsewhere.
 *
 * A case is a function of its flow, policy, seed and inputs, so that is what is kept, in the format of a journal
 * (journal.h); its last record says at which step the case stood, and the digest of the trace up to there. Going on is
 * doing those steps again, at some ten million a second, and is refused when it does not come to the same digest. */
#ifndef RAD_FLOW_JOURNAL_SNAPSHOT_H
#define RAD_FLOW_JOURNAL_SNAPSHOT_H

#include "base/bytes.h"
#include "flow/machine/instance.h"

/* What a case remembers for this (rad_flow_case_options.remember). */
typedef struct rad_flow_memory rad_flow_memory;

RAD_INTERNAL rad_flow_memory *rad__flow_memory_open(const rad_flow_program *p,
                                                    const rad_flow_case_options *o); /* or NULL */
RAD_INTERNAL void rad__flow_memory_free(rad_flow_memory *m);                         /* may be NULL */
/* An input that was fed before that step, with the digest of the trace as it was then. */
RAD_INTERNAL void rad__flow_memory_add(rad_flow_memory *m, uint64_t step, rad_digest digest,
                                       const rad_flow_input *input);

/* Appends to `out`. RAD_EINPUT: the case was not asked to remember; RAD_ENOMEM. */
RAD_INTERNAL int rad__flow_case_save(const rad_flow_case *c, rad_bytes *out, rad_error *error);

/* A case that stands where that one stood, and remembers what it did. RAD_EINPUT: of another flow, damaged, or it
 * cannot be come to. What it asked for before is not asked for again, unless it is still under way: those asks are in
 * the new case's list. */
RAD_INTERNAL int rad__flow_case_restore(rad_flow_case **out, const rad_flow_program *p, const void *data, size_t size,
                                        rad_error *error);

#endif
