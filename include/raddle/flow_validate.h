/* raddle/flow_validate.h — is a workflow sound? Every order of its steps, every outcome of its tasks.
 *
 * A flow of moderate size has few enough states that all of them can be visited. Each property then holds, fails, with
 * a run that shows it, or is unknown because the budget did not suffice; a property that could be shown to fail before
 * that fails. Verdicts rest on what the flow declares, and where it declares nothing on assumptions, which are listed.
 *
 * Signals and timers may come in any order and at any time; tasks do what their `outcomes`, `writes` and the domains of
 * variables (`in`) allow. An end is an end: done, failed or cancelled. */
#ifndef RADDLE_FLOW_VALIDATE_H
#define RADDLE_FLOW_VALIDATE_H

#include <raddle/lab.h>

#ifdef __cplusplus
extern "C" {
#endif

enum rad_flow_property {
    RAD_FLOW_NO_DEADLOCK = 0, /* until the case has ended, some token can take a step */
    RAD_FLOW_NO_DEAD_TASK,    /* every task is started in some run */
    RAD_FLOW_NO_DEAD_CODE,    /* every statement and every branch is reached in some run */
    RAD_FLOW_PROPER_END,      /* no task runs any more when the case completes */
    RAD_FLOW_NO_LIVELOCK,     /* it cannot loop forever without a way to an end */
    RAD_FLOW_CAN_END,         /* whatever has happened, some end can be reached */
    RAD_FLOW_CONFLUENT,       /* with the same outcomes every order ends in the same state and data */
    RAD_FLOW_PROPERTIES
};

enum rad_flow_holding { RAD_FLOW_HOLDS = 0, RAD_FLOW_FAILS, RAD_FLOW_UNKNOWN };

typedef struct rad_flow_verdict {
    enum rad_flow_holding answer;
    char text
        [400]; /* of one that fails: what happens; of an unknown one: why; of one that holds: for what only, or "" */
    /* A run that shows it, as a choice list for the case of machine `flow` with outcomes=`outcomes`: choices, then the
     * baseline; `steps` steps until it shows. Both 0 when there is no such run (of dead tasks and dead code). */
    uint32_t *choices;
    uint64_t choice_count, steps;
    uint64_t outcomes;
    /* Of one that is not confluent: the run of policy first, which ends otherwise. */
    uint32_t *other;
    uint64_t other_count;
    char other_text[200];
} rad_flow_verdict;

/* A task that is never started, a statement or a branch that is never reached. */
typedef struct rad_flow_dead {
    uint32_t line;
    char text[120]; /* "task notify", "do notify", "a branch of xor" */
    bool is_task;
} rad_flow_dead;

typedef struct rad_flow_validation {
    rad_flow_verdict verdicts[RAD_FLOW_PROPERTIES];
    bool exhausted;         /* every state was visited, confluence aside */
    uint64_t states, steps; /* visited; made on the way, confluence included */
    uint64_t saved;         /* states in which one step was enough, because the order did not matter */
    rad_flow_dead *dead;
    uint32_t dead_count;
    char **assumptions; /* sentences */
    uint32_t assumption_count;
    /* What ends a case as failed, its tasks aside: "line 3: branches disagree about n, …"; some of many. */
    char **failures;
    uint32_t failure_count;
} rad_flow_validation;

typedef struct rad_flow_validate_options {
    uint64_t states;                 /* at most; 0 = 1,000,000 */
    uint64_t steps;                  /* at most; 0 = 50,000,000 */
    uint32_t seeds;                  /* drawn worlds in which confluence is looked at; 0 = 3 */
    bool every_order;                /* no steps are saved: for comparison */
    volatile const int *interrupted; /* may be NULL; then what is not known is unknown */
    /* Called a few times a second; may be NULL. */
    void (*progress)(void *context, uint64_t states, uint64_t steps);
    void *context;
} rad_flow_validate_options;

/* "no deadlock", "no dead task", … */
RAD_API const char *rad_flow_property_name(enum rad_flow_property property);

/* Of a target of machine `flow` (rad_target_flow). `o` may be NULL. rad_flow_validation_free the result. */
RAD_API int rad_flow_validate(const rad_target *t, const rad_flow_validate_options *o, rad_flow_validation **out,
                              rad_error *error);
RAD_API void rad_flow_validation_free(rad_flow_validation *v); /* may be NULL */

/* The run of a verdict as an artifact that `raddle replay` executes; `other`: that of policy first. NULL, and 0, when
 * there is no run to show. rad_artifact_free it. */
RAD_API int rad_flow_counterexample(const rad_target *t, const rad_flow_validation *v, enum rad_flow_property property,
                                    bool other, rad_artifact **a, rad_error *error);

#ifdef __cplusplus
}
#endif
#endif
