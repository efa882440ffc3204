/* exec_enumerate.c — all runs of a case: depth first, each state once. */
#include "exec_reference.h"

#include "base/alloc.h"

#include <string.h>

typedef struct pile {
    exec_state *states;
    uint32_t count, room;
} pile;

static void note_end(const exec_case *c, const exec_state *s, exec_ref_runs *runs)
{
    const char *outcome, *kind = exec_ref_verdict(c, s, &outcome);
    if (s->fault == FAULT_NONE) judge_set_add(&runs->results, exec_ref_result(s));
    for (uint32_t i = 0; i < EXEC_REF_KINDS; i++)
        if (kind != NULL && strcmp(kind, exec_ref_kinds[i]) == 0) runs->kinds[i] = true;
    for (uint32_t i = 0; i < OUTCOMES; i++)
        if (outcome != NULL && strcmp(outcome, exec_ref_outcomes[i]) == 0) runs->outcomes[i] = true;
}

void exec_ref_enumerate(const exec_case *c, bool strict, uint32_t most_states, exec_ref_runs *runs)
{
    pile p = {.count = 1};
    judge_set seen = {.count = 0};
    memset(runs, 0, sizeof *runs);
    RAD_ASSERT(RAD_GROW(&p.states, &p.room, 64));
    exec_ref_begin(c, &p.states[0]);
    while (p.count > 0 && !runs->cut) {
        exec_state s = p.states[--p.count];
        exec_ref_move moves[EXEC_REF_MOVES];
        uint32_t count = exec_ref_moves(c, &s, strict, moves);
        if (count == 0) note_end(c, &s, runs);
        RAD_ASSERT(RAD_GROW(&p.states, &p.room, p.count + count));
        for (uint32_t i = 0; i < count; i++) {
            exec_state *next = &p.states[p.count];
            *next = s;
            exec_ref_apply(c, next, moves[i]);
            if (judge_set_add(&seen, judge_digest(next, sizeof *next))) p.count++;
        }
        runs->cut = seen.count > most_states || s.overflow;
    }
    runs->states = seen.count;
    judge_set_free(&seen);
    rad__free(p.states);
}

void exec_ref_runs_free(exec_ref_runs *runs)
{
    judge_set_free(&runs->results);
}
