/* invariant.c — the search for two runs of the same sessions that some thread could tell apart, and for handlers that
 * depend on more than they may.
 *
 * Schedules   every N, policy and start, compared with N = 1, round robin, plain start (same.c). A run that is stuck
 *             goes no farther, so it is not the beginning of one that is complete: these two differ, too.
 * Apart       handlers that share something may do so in the same order in every schedule: one writes before it sends,
 *             the other reads after it has received. So the plain run is repeated with handlers of some coroutines
 *             only, while the answers of the others are those on record. A handler that answers something else then,
 *             after all the same things as before, is to blame. Coroutines are numbered; called are those whose number
 *             has bit b, then those whose number has not, for every b. Any two numbers differ in some bit, so each
 *             coroutine runs once without the other. */
#include "session/machine/vm.h"

#include "base/bitset.h"
#include "base/error.h"

#include <stdio.h>
#include <string.h>

typedef struct search {
    const rad_protocols *p;
    const rad_invariance_options *o;
    rad_invariance *out;
    rad_error *error;
    uint64_t done, all;
} search;

/* What all others are compared with. */
typedef struct plain_run {
    rad_session_vm *vm;
    enum rad_session_end end;
} plain_run;

static void count_run(rad_invariance *out, const rad_session_vm *vm, enum rad_session_end end)
{
    bool faulted = end == RAD_SESSION_COMPLETE && vm->faulted_sessions > 0;
    out->runs++;
    out->events += vm->event_count;
    out->complete += end == RAD_SESSION_COMPLETE && !faulted;
    out->faulted += faulted;
    out->exhausted += end == RAD_SESSION_EXHAUSTED;
    out->stuck += end == RAD_SESSION_STUCK;
    RAD_ASSERT(out->complete + out->faulted + out->exhausted + out->stuck == out->runs);
}

/* A machine with handlers. */
static int prepare(const search *s, const rad_session_options *o, rad_session_vm **vm)
{
    int status = rad_session_create(vm, s->p, o, s->error);
    if (status == 0 && s->o->prepare) status = s->o->prepare(s->o->context, *vm, s->error);
    return status;
}

/* To the end, or to the end of the fuel: rounds are worth more with a larger N. */
static int run(const search *s, rad_session_vm *vm, uint64_t rounds, enum rad_session_end *end)
{
    uint32_t sessions = s->o->sessions ? s->o->sessions : 1;
    int status = rad_session_open(vm, s->o->protocol, sessions, s->error);
    if (status != 0) return status;
    *end = rad_session_run(vm, rounds);
    if (*end == RAD_SESSION_NO_MEMORY) return rad__error_memory(s->error);
    if (s->o->interrupted == NULL || *s->o->interrupted == 0) return 0;
    return rad__error(s->error, RAD_EINTERRUPTED, "interrupted"); /* it may have been cut short */
}

static int run_one(search *s, const rad_session_options *o, rad_session_vm **out, enum rad_session_end *end)
{
    int status = prepare(s, o, out);
    if (status == 0) status = run(s, *out, s->o->rounds, end);
    if (status != 0) {
        rad_session_destroy(*out);
        return status;
    }
    count_run(s->out, *out, *end);
    if (s->o->progress) s->o->progress(s->o->context, ++s->done, s->all);
    return 0;
}

/* A run that differs. */
static void found(rad_invariance *r, const rad_session_options *o)
{
    r->holds = false;
    r->n = o->n;
    r->policy = o->policy;
    r->seed = o->seed;
    r->start = o->start;
}

/* One is stuck, and the other is complete: it says who waits for what. */
static enum rad_comparison compare_ends(const rad_session_vm *stuck, rad_invariance *r)
{
    size_t size = sizeof r->difference, length;
    char *report = rad_session_report(stuck);
    if (report == NULL) return RAD_RUNS_NOT_COMPARED;
    size_t used = (size_t)snprintf(r->difference, size, "complete in one run, stuck in the other: ");
    for (const char *line = report; *line != 0 && used < size; line += length + 1) {
        length = strcspn(line, "\n");
        used +=
            (size_t)snprintf(r->difference + used, size - used, "%s%.*s", line > report ? "; " : "", (int)length, line);
    }
    rad__free(report);
    return RAD_RUNS_DIFFER;
}

static int try_one(search *s, const plain_run *plain, const rad_session_options *o)
{
    rad_session_vm *vm;
    enum rad_session_end end;
    int status = run_one(s, o, &vm, &end);
    if (status != 0) return status;
    rad_invariance *r = s->out;
    bool both_end = end != RAD_SESSION_EXHAUSTED && plain->end != RAD_SESSION_EXHAUSTED;
    enum rad_comparison c = rad__session_compare(plain->vm, vm, r->difference, sizeof r->difference);
    if (c == RAD_RUNS_ARE_SAME && both_end && end != plain->end)
        c = compare_ends(end == RAD_SESSION_STUCK ? vm : plain->vm, r);
    if (c == RAD_RUNS_NOT_COMPARED) status = rad__error_memory(s->error);
    if (c == RAD_RUNS_DIFFER) found(r, o);
    rad_session_destroy(vm);
    return status;
}

/* ---- Apart ------------------------------------------------------------------------------------------- */

enum { APART_ROUNDS_MORE = 10000 };

/* Handlers that block are asked as often as before, if they keep to their own; others might do so for ever. */
static uint64_t apart_rounds(const search *s, const rad_session_vm *reference)
{
    return s->o->rounds ? s->o->rounds : 4 * reference->round + APART_ROUNDS_MORE;
}

/* With the handlers of some coroutines. What else happens does not matter: a difference that no handler is to blame
 * for follows from one that some handler is to blame for. */
static int try_apart(search *s, const rad_session_vm *reference, const rad_session_options *o, uint32_t which)
{
    rad_session_vm *vm;
    enum rad_session_end end;
    rad_invariance *r = s->out;
    int status = prepare(s, o, &vm);
    if (status == 0) {
        rad_session_replay(vm, reference->effect_log);
        vm->apart = which;
        status = run(s, vm, apart_rounds(s, reference), &end);
    }
    r->apart += status == 0;
    if (status == 0 && vm->effect_log != NULL &&
        rad__effects_blame(reference->effect_log, vm->effect_log, r->difference, sizeof r->difference)) {
        size_t used = strlen(r->difference);
        snprintf(r->difference + used, sizeof r->difference - used,
                 ", when handlers of other coroutines are not called");
        found(r, o);
    }
    rad_session_destroy(vm);
    return status;
}

static int try_all_apart(search *s, const rad_session_vm *reference, const rad_session_options *o)
{
    if (reference->handler_count == 0 || reference->effect_log == NULL) return 0;
    uint32_t actors = rad__effects_actors(reference->effect_log);
    int status = 0;
    for (uint32_t which = 0; (actors - 1) >> which / 2 != 0 && status == 0 && s->out->holds; which++)
        status = try_apart(s, reference, o, which);
    return status;
}

/* ---- All of it --------------------------------------------------------------------------------------- */

static int try_seed(search *s, uint64_t seed, const uint32_t *ns, uint32_t n_count)
{
    rad_session_options o = {.n = 1,
                             .policy = RAD_SESSION_ROUND_ROBIN,
                             .capacity = s->o->capacity,
                             .full = s->o->full,
                             .seed = seed,
                             .log = true,
                             .record = true,
                             .interrupted = s->o->interrupted};
    uint32_t policies = s->o->policies ? s->o->policies : 7, starts = s->o->starts ? s->o->starts : 1;
    plain_run reference;
    int status = run_one(s, &o, &reference.vm, &reference.end);
    if (status != 0) return status;
    rad_session_info info;
    rad_session_look(reference.vm, &info);
    if (seed == s->o->seed) memcpy(s->out->digest, info.digest, sizeof info.digest);
    const rad_session_options plain = o;
    for (uint32_t i = 0; i < n_count; i++)
        for (uint32_t policy = 0; policy <= RAD_SESSION_PROGRESS; policy++)
            for (uint32_t start = 0; start <= starts && status == 0 && s->out->holds; start++) {
                if (!(policies >> policy & 1)) continue;
                o.n = ns[i];
                o.policy = (enum rad_session_policy)policy;
                o.start = start ? rad__mix2(seed, start) | 1 : 0;
                status = try_one(s, &reference, &o);
            }
    if (status == 0 && s->out->holds) status = try_all_apart(s, reference.vm, &plain);
    rad_session_destroy(reference.vm);
    return status;
}

int rad_session_invariant(const rad_protocols *p, const rad_invariance_options *o, rad_invariance *out,
                          rad_error *error)
{
    static const uint32_t usual[] = {1, 2, 3, 7, RAD_SESSION_ALL};
    const uint32_t *ns = o->ns ? o->ns : usual;
    uint32_t n_count = o->ns ? o->n_count : 5, seeds = o->seeds ? o->seeds : 1;
    uint32_t policies = rad__popcount(o->policies ? o->policies & 7 : 7);
    rad__error_clear(error);
    *out = (rad_invariance){.holds = true};
    search s = {.p = p, .o = o, .out = out, .error = error};
    s.all = seeds * (1 + (uint64_t)n_count * policies * (1 + (o->starts ? o->starts : 1)));
    int status = 0;
    for (uint32_t i = 0; i < seeds && status == 0 && out->holds; i++) status = try_seed(&s, o->seed + i, ns, n_count);
    return status;
}
