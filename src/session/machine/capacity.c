/* capacity.c — how large buffers have to be: all that the types allow, in every order, with room for 1, 2, … messages.
 *
 * A configuration is the state of each thread and the labels in each buffer. Threads take steps that others cannot
 * prevent or change (beginning and ending branches, doing something by themselves) at once. */
#include "session/lang/program.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/digest.h"
#include "base/error.h"
#include "base/set128.h"

#include <stdio.h>
#include <string.h>

enum { MOST_DEFAULT = 16, MOST_MOST = 64, STATES_DEFAULT = 200000, QUEUE_MOST = 1 << 26 };

/* Threads that do not run. */
enum { NOT_BEGUN = 0xffffffff };

typedef struct explorer {
    const rad_protocols *all;
    const rad_protocol *p;
    uint32_t capacity, words; /* of a configuration */
    uint64_t states_most;
    uint32_t *queue; /* configurations, one after the other */
    uint32_t queue_count, queue_capacity, queue_at;
    rad_set128 seen;
    uint32_t *now, *next; /* being looked at, being made */
    uint32_t *rest;       /* by state: where a thread is when it has done all that it can do by itself */
    rad_capacity *out;
    bool full;   /* more configurations than are allowed */
    bool failed; /* memory */
} explorer;

/* ---- Configurations ---------------------------------------------------------------------------------- */

static uint32_t *type_at(const explorer *e, uint32_t *config, uint32_t thread)
{
    (void)e;
    return &config[thread];
}

/* Its count, then labels. */
static uint32_t *buffer_at(const explorer *e, uint32_t *config, uint32_t edge)
{
    return &config[e->p->types.thread_count + edge * (e->capacity + 1)];
}

static const rad_local_state *state_at(const explorer *e, uint32_t *config, uint32_t thread)
{
    uint32_t type = *type_at(e, config, thread);
    return type == NOT_BEGUN ? NULL : &e->p->types.states[type];
}

static bool branches_have_ended(const explorer *e, uint32_t *config, const rad_local_state *par)
{
    for (uint32_t i = 0; i < par->arm_count; i++) {
        uint32_t child = e->p->types.arms[par->first_arm + i].edge;
        const rad_local_state *s = state_at(e, config, child);
        if (s == NULL || s->kind != RAD_LOCAL_END) return false;
    }
    return true;
}

static bool branches_have_begun(const explorer *e, uint32_t *config, const rad_local_state *par)
{
    return state_at(e, config, e->p->types.arms[par->first_arm].edge) != NULL;
}

static bool goes_on_alone(const explorer *e, uint32_t *config, const rad_local_state *s)
{
    return s->kind == RAD_LOCAL_DOES ||
           (s->kind == RAD_LOCAL_PAR && (!branches_have_begun(e, config, s) || branches_have_ended(e, config, s)));
}

static bool does(const rad_types *t, uint32_t state)
{
    return t->states[state].kind == RAD_LOCAL_DOES;
}

static uint32_t after_doing(const rad_types *t, uint32_t state)
{
    return t->arms[t->states[state].first_arm].next;
}

/* Who does things for ever, in a loop of others, is as well at any one of them, but always the same. Every state is
 * passed twice. `walk`: 0, it was not passed; RAD_NONE, its rest is known; else from where it was. */
static void find_rest(const rad_types *t, uint32_t *rest, uint32_t *walk)
{
    for (uint32_t i = 0; i < t->state_count; i++) {
        uint32_t at = i, me = i + 1;
        for (; does(t, at) && walk[at] == 0; at = after_doing(t, at)) walk[at] = me;
        uint32_t end = does(t, at) && walk[at] != me ? rest[at] : at;
        for (at = i; does(t, at) && walk[at] == me; at = after_doing(t, at)) {
            rest[at] = end;
            walk[at] = RAD_NONE;
        }
    }
}

/* Everything that only concerns the thread itself. Somebody may begin and end branches for ever, in a loop of others:
 * then everybody else has come to rest after as many turns as there are states, with those to begin and end. */
static void settle(const explorer *e, uint32_t *config)
{
    const rad_types *t = &e->p->types;
    uint32_t turns = 3 * t->state_count + 3;
    for (bool changed = true; changed && turns > 0; turns--) {
        changed = false;
        for (uint32_t i = 0; i < t->thread_count; i++) {
            const rad_local_state *s = state_at(e, config, i);
            if (s == NULL) continue;
            if (s->kind == RAD_LOCAL_DOES) {
                uint32_t rest = e->rest[*type_at(e, config, i)];
                changed |= rest != *type_at(e, config, i);
                *type_at(e, config, i) = rest;
            } else if (s->kind == RAD_LOCAL_PAR && !branches_have_begun(e, config, s)) {
                for (uint32_t k = 0; k < s->arm_count; k++)
                    *type_at(e, config, t->arms[s->first_arm + k].edge) = t->arms[s->first_arm + k].next;
                changed = true;
            } else if (s->kind == RAD_LOCAL_PAR && branches_have_ended(e, config, s)) {
                for (uint32_t k = 0; k < s->arm_count; k++)
                    *type_at(e, config, t->arms[s->first_arm + k].edge) = NOT_BEGUN;
                *type_at(e, config, i) = s->next;
                changed = true;
            }
        }
    }
}

/* Those that were looked at are not needed any more: memory is for those to come. */
static void forget_seen(explorer *e)
{
    if (e->queue_at == 0 || e->queue_at < e->queue_count / 2) return; /* not worth it yet */
    memmove(e->queue, e->queue + e->queue_at, (e->queue_count - e->queue_at) * sizeof *e->queue);
    e->queue_count -= e->queue_at;
    e->queue_at = 0;
}

/* `next` becomes one of those to look at, unless it was. */
static void reach(explorer *e)
{
    settle(e, e->next);
    rad_digest d = rad__digest_of(e->next, e->words * sizeof *e->next);
    enum rad_set_add added = rad__set128_add(&e->seen, d);
    e->failed |= added == RAD_SET_NOMEM;
    e->full |= added == RAD_SET_FULL;
    if (added != RAD_SET_NEW) return;
    if (e->queue_count + e->words > e->queue_capacity) forget_seen(e);
    e->full |= e->queue_count > QUEUE_MOST - e->words;
    if (e->full) return;
    if (!RAD_GROW(&e->queue, &e->queue_capacity, e->queue_count + e->words)) {
        e->failed = true;
        return;
    }
    memcpy(e->queue + e->queue_count, e->next, e->words * sizeof *e->next);
    e->queue_count += e->words;
}

static void begin_next(explorer *e)
{
    memcpy(e->next, e->now, e->words * sizeof *e->now);
}

/* ---- Steps ------------------------------------------------------------------------------------------- */

/* Whether it can do anything. */
static bool send_all(explorer *e, uint32_t thread, const rad_local_state *s)
{
    bool can = false;
    for (uint32_t i = 0; i < s->arm_count; i++) {
        const rad_local_arm *arm = &e->p->types.arms[s->first_arm + i];
        uint32_t count = *buffer_at(e, e->now, arm->edge);
        if (count == e->capacity) continue;
        can = true;
        begin_next(e);
        uint32_t *buffer = buffer_at(e, e->next, arm->edge);
        buffer[++buffer[0]] = arm->label;
        *type_at(e, e->next, thread) = arm->next;
        reach(e);
    }
    return can;
}

/* "WHO does WHAT, a message, JOINT a peer" */
static void tell(explorer *e, const char *who, const char *does, const char *what, const char *joint, const char *peer)
{
    size_t used = strlen(e->out->stuck);
    snprintf(e->out->stuck + used, sizeof e->out->stuck - used, "%s%s %s %s %s %s", used ? "; " : "", who, does, what,
             joint, peer);
}

static bool receive_one(explorer *e, uint32_t thread, const rad_local_state *s)
{
    const rad_types *t = &e->p->types;
    uint32_t edge = t->arms[s->first_arm].edge;
    const uint32_t *buffer = buffer_at(e, e->now, edge);
    if (buffer[0] == 0) return false;
    for (uint32_t i = 0; i < s->arm_count; i++) {
        const rad_local_arm *arm = &t->arms[s->first_arm + i];
        if (arm->label != buffer[1]) continue;
        begin_next(e);
        uint32_t *to = buffer_at(e, e->next, edge);
        memmove(to + 1, to + 2, (e->capacity - 1) * sizeof *to);
        to[to[0]--] = 0;
        *type_at(e, e->next, thread) = arm->next;
        reach(e);
        return true;
    }
    e->out->answer = RAD_CAPACITY_WRONG;
    e->out->stuck[0] = 0;
    tell(e, t->threads[thread].name, "cannot expect", rad__text_of(e->all, buffer[1]), "from",
         t->threads[t->edges[edge].from].name);
    return true;
}

static void describe_stuck(explorer *e)
{
    const rad_types *t = &e->p->types;
    e->out->stuck[0] = 0;
    for (uint32_t i = 0; i < t->thread_count; i++) {
        const rad_local_state *s = state_at(e, e->now, i);
        if (s == NULL || (s->kind != RAD_LOCAL_SEND && s->kind != RAD_LOCAL_RECEIVE)) continue;
        const rad_local_arm *arm = &t->arms[s->first_arm];
        bool sends = s->kind == RAD_LOCAL_SEND;
        const rad_local_edge *edge = &t->edges[arm->edge];
        tell(e, t->threads[i].name, sends ? "waits for room to send" : "waits for", rad__text_of(e->all, arm->label),
             sends ? "to" : "from", t->threads[sends ? edge->to : edge->from].name);
    }
}

static void left_over(explorer *e)
{
    const rad_types *t = &e->p->types;
    for (uint32_t i = 0; i < t->edge_count; i++) {
        const uint32_t *buffer = buffer_at(e, e->now, i);
        if (buffer[0] == 0) continue;
        e->out->answer = RAD_CAPACITY_WRONG;
        e->out->stuck[0] = 0;
        tell(e, t->threads[t->edges[i].to].name, "never receives", rad__text_of(e->all, buffer[1]), "from",
             t->threads[t->edges[i].from].name);
    }
}

/* True: it goes on, or has ended well. */
static bool look_at(explorer *e)
{
    const rad_types *t = &e->p->types;
    bool moves = false, over = true;
    for (uint32_t i = 0; i < t->thread_count; i++) {
        const rad_local_state *s = state_at(e, e->now, i);
        if (s == NULL || s->kind == RAD_LOCAL_END) continue;
        over = false;
        if (s->kind == RAD_LOCAL_SEND) moves |= send_all(e, i, s);
        if (s->kind == RAD_LOCAL_RECEIVE) moves |= receive_one(e, i, s);
        moves |= goes_on_alone(e, e->now, s);
    }
    if (over) left_over(e);
    if (!over && !moves) describe_stuck(e);
    return over || moves;
}

/* ---- One size after the other ------------------------------------------------------------------------ */

static void explorer_close(explorer *e)
{
    rad__free(e->queue);
    rad__free(e->now);
    rad__free(e->next);
    rad__free(e->rest);
    rad__set128_free(&e->seen);
}

/* The answer for one size; RAD_CAPACITY_STUCK: a larger one may do. */
static enum rad_capacity_answer try_size(explorer *e)
{
    const rad_types *t = &e->p->types;
    e->words = t->thread_count + t->edge_count * (e->capacity + 1);
    e->seen.limit = e->states_most;
    e->now = rad__alloc(e->words, sizeof *e->now);
    e->next = rad__alloc(e->words, sizeof *e->next);
    e->rest = rad__alloc((size_t)t->state_count * 2, sizeof *e->rest);
    e->failed = e->now == NULL || e->next == NULL || e->rest == NULL;
    if (e->failed) return RAD_CAPACITY_UNKNOWN;
    find_rest(t, e->rest, e->rest + t->state_count);
    for (uint32_t i = 0; i < t->thread_count; i++)
        e->next[i] = t->threads[i].parent == RAD_NONE ? t->threads[i].start : NOT_BEGUN;
    reach(e);
    e->out->answer = RAD_CAPACITY_SUFFICIENT;
    for (; e->queue_at < e->queue_count && !e->failed && !e->full; e->queue_at += e->words) {
        memcpy(e->now, e->queue + e->queue_at, e->words * sizeof *e->now);
        if (!look_at(e)) return RAD_CAPACITY_STUCK;
        if (e->out->answer == RAD_CAPACITY_WRONG) return RAD_CAPACITY_WRONG;
    }
    return e->full ? RAD_CAPACITY_UNKNOWN : RAD_CAPACITY_SUFFICIENT;
}

bool rad_protocol_is_locals(const rad_protocols *p, uint32_t protocol)
{
    return rad__protocol(p, protocol)->types.global.is_locals;
}

int rad_protocol_capacity(const rad_protocols *p, uint32_t protocol, uint32_t most, uint64_t states, rad_capacity *out,
                          rad_error *error)
{
    rad__error_clear(error);
    *out = (rad_capacity){.answer = RAD_CAPACITY_STUCK};
    if (most == 0) most = MOST_DEFAULT;
    if (most > MOST_MOST) return rad__error(error, RAD_EINPUT, "capacity: %u messages, %d at most", most, MOST_MOST);
    for (uint32_t k = 1; k <= most && out->answer == RAD_CAPACITY_STUCK; k++) {
        explorer e = {.all = p,
                      .p = rad__protocol(p, protocol),
                      .capacity = k,
                      .states_most = states ? states : STATES_DEFAULT,
                      .out = out};
        out->answer = try_size(&e);
        out->capacity = k;
        out->states = e.seen.count;
        bool failed = e.failed;
        explorer_close(&e);
        if (failed) return rad__error_memory(error);
    }
    return 0;
}
