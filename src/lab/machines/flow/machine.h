/* machine.h — the flow machine on trial: any order of steps, any outcome of tasks, any event. */
#ifndef RAD_LAB_MACHINES_FLOW_MACHINE_H
#define RAD_LAB_MACHINES_FLOW_MACHINE_H

#include "flow/lang/outline.h"
#include "flow/machine/proper.h"
#include "lab/json.h"
#include "lab/machines/flow/flow.h"

enum { RAD_ORACLE_FLOW_FAILED = RAD_ORACLE_OWN, RAD_ORACLE_FLOW_IMPROPER, RAD_ORACLE_FLOW_CONFLUENCE };

/* What is said of a step: notes by number. Those of the machine itself come first (enum rad_flow_note), then two for
 * each operation, one for each branch, and one for each variable that a step may write. */
enum { RAD_TELL_OP = 16, RAD_TELL_MOST = 0x8000 };

typedef struct rad_flow_words {
    const char **notes;          /* from RAD_TELL_OP on */
    const char **sites;          /* by operation */
    uint32_t way, variable, end; /* the first note of a branch, of a variable, and the one after the last */
    rad_arena arena;
} rad_flow_words;

/* How a case ended. */
typedef struct rad_flow_ending {
    enum rad_flow_state state;
    int64_t *data;
    const char **texts; /* the arena's: of variables that are texts */
    rad_arena arena;
} rad_flow_ending;

typedef struct rad_flow_trial {
    rad_flow_program *program;
    rad_flow_vm *vm;
    rad_kernel *k;
    uint64_t outcomes;
    bool fail_is_reported, proper_is_asked;
    rad_flow_ending reference; /* of policy first; RAD_CASE_RUNNING: it did not end, or was not asked for */
    rad_flow_words words;
    char identity[100];
} rad_flow_trial;

/* words.c */
RAD_INTERNAL int rad__flow_words_make(rad_flow_words *w, const rad_flow_program *p, rad_error *error);

/* After a step of `token` at `op`: says what it was. */
RAD_INTERNAL void rad__flow_words_tell(const rad_flow_trial *t, uint32_t token, const rad_flow_op *op);

/* case.c */
RAD_INTERNAL char *rad__flow_case_source(const rad_case *c, char *name, size_t size, rad_error *error);
RAD_INTERNAL uint64_t rad__flow_case_size(const rad_case *c);

#endif
