/* machine.c — the session machine as a machine of the lab.
 *
 * Every coroutine is an actor with one action. Of a round with N = 1 a step is the whole: the coroutine is picked and
 * runs. With a larger N the steps of a round are first N picks, then N runs, which nobody has to decide: they run
 * in the order in which they were picked. The policies of the machine are preferences (rounds.c): the lab's policy
 * `own` follows them, all others may pick whoever is ready.
 *
 * Oracles: deadlock (stuck), a fault, a census after each round, and at the end that every thread has seen what it saw
 * in the reference run, N = 1 and round robin. */
#include "lab/machines/session/machine.h"

#include "base/alloc.h"
#include "core/kernel.h"

#include <stdio.h>
#include <string.h>

enum { ORACLE_FAULT = RAD_ORACLE_OWN, ORACLE_INVARIANCE };
enum { N, SESSIONS, CAPACITY, FULL, SEED, FUEL, POLICY };
enum { N_ALL = 1000, FUEL_DEFAULT = 10000, MESSAGES_MOST = 10000 };

static const rad_param session_params[] = {
    {"n", 1, 1, N_ALL, "coroutines that advance in a round; 1000 means inf", true},
    {"sessions", 1, 1, 1000, "how many are opened", false},
    {"capacity", 1, 1, 4096, "messages a buffer holds", true},
    {"full", 0, 0, RAD_FULL_RESIZE, "0 block, 1 error, 2 drop, 3 latest, 4 resize", true},
    {"seed", 1, 0, INT64_MAX, "of drawn values and choices", true},
    {"fuel", FUEL_DEFAULT, 1, 1000000000, "rounds", true},
    {"policy", 0, 0, RAD_SESSION_PROGRESS, "of the lab's policy own: 0 cooperative, 1 round robin, 2 progress", true},
    {NULL, 0, 0, 0, NULL, false}};

static const char *const session_oracles[] = {"fault", "invariance", NULL};

static const char session_default[] =
    "{\"source\":[\"protocol TwoBuyer {\",\"  roles Alice, Bob, Seller\",\"  Alice -> Seller: "
    "title(text)\",\"  Seller -> Alice: quote(int)\",\"  Seller -> Bob: quote(int)\",\"  Alice -> "
    "Bob: share(int)\",\"  choice at Bob {\",\"    Bob -> Seller: accept\",\"    Bob -> Alice: "
    "accept\",\"    Seller -> Bob: date(text)\",\"  } or {\",\"    Bob -> Seller: quit\",\"    Bob "
    "-> Alice: quit\",\"  }\",\"}\"]}";

/* ---- Life ---------------------------------------------------------------------------------------------- */

static void trial_destroy(void *self)
{
    rad_session_trial *t = self;
    if (t == NULL) return;
    rad_session_destroy(t->vm);
    rad_session_destroy(t->reference);
    rad_protocols_free(t->protocols);
    rad__free(t->actors);
    rad__free(t->actions);
    rad__free(t->objects);
    rad__arena_free(&t->arena);
    rad__free(t);
}

/* "FIRST A JOINT B" */
static const char *words(rad_session_trial *t, const char *first, const char *a, const char *joint, const char *b)
{
    char text[200];
    int length = snprintf(text, sizeof text, "%s%s%s%s", first, a, joint, b);
    return rad__arena_text(&t->arena, text, length < 200 ? (size_t)length : 199);
}

static bool make_notes(rad_session_trial *t, const rad_protocol *p)
{
    const rad_types *types = &p->types;
    t->edge_names = rad__arena_take(&t->arena, types->edge_count + 1u, sizeof *t->edge_names);
    t->notes = rad__arena_take(&t->arena, 2 * p->message_count + 1u, sizeof *t->notes);
    if (t->arena.failed) return false;
    for (uint32_t i = 0; i < types->edge_count; i++)
        t->edge_names[i] =
            words(t, "", types->threads[types->edges[i].from].name, " -> ", types->threads[types->edges[i].to].name);
    for (uint32_t i = 0; i < p->message_count; i++) {
        const rad_local_edge *e = &types->edges[p->messages[i].edge];
        const char *label = rad__text_of(t->protocols, p->messages[i].label);
        t->notes[2 * i] = words(t, "sends ", label, " to ", types->threads[e->to].name);
        t->notes[2 * i + 1] = words(t, "receives ", label, " from ", types->threads[e->from].name);
    }
    return !t->arena.failed;
}

/* A machine with all sessions opened. */
static int open_vm(const rad_session_trial *t, rad_session_options o, rad_session_vm **vm, rad_error *error)
{
    int status = rad_session_create(vm, t->protocols, &o, error);
    if (status == 0) status = rad_session_open(*vm, rad_protocol_name(t->protocols, t->protocol), t->sessions, error);
    if (status == 0) return 0;
    rad_session_destroy(*vm);
    *vm = NULL;
    return status;
}

static int run_reference(rad_session_trial *t, rad_error *error)
{
    rad_session_options o = t->options;
    o.n = 1;
    o.policy = RAD_SESSION_ROUND_ROBIN;
    int status = open_vm(t, o, &t->reference, error);
    if (status != 0) return status;
    uint64_t rounds = t->fuel * (t->options.n == RAD_SESSION_ALL ? 64 : t->options.n);
    if (rad_session_run(t->reference, rounds) == RAD_SESSION_NO_MEMORY) return rad__error_memory(error);
    return 0;
}

/* Everything but the reference. */
static int trial_open(rad_session_trial *t, const rad_case *c, rad_error *error)
{
    char name[80];
    int status = rad__session_case_protocol(c, name, sizeof name, error);
    if (status != 0) return status;
    t->protocol = rad_protocol_find(t->protocols, name[0] ? name : NULL);
    if (t->protocol == RAD_NONE)
        return rad__error(error, RAD_EINPUT, "protocol: there is no protocol %s in the source", name);
    t->sessions = (uint32_t)c->params[SESSIONS];
    t->fuel = (uint64_t)c->params[FUEL];
    t->options = (rad_session_options){.n = c->params[N] == N_ALL ? RAD_SESSION_ALL : (uint32_t)c->params[N],
                                       .capacity = (uint32_t)c->params[CAPACITY],
                                       .policy = (enum rad_session_policy)c->params[POLICY],
                                       .full = (enum rad_session_full)c->params[FULL],
                                       .seed = (uint64_t)c->params[SEED],
                                       .log = true,
                                       .record = true};
    const rad_protocol *p = &t->protocols->all[t->protocol];
    if (p->message_count > MESSAGES_MOST)
        return rad__error(error, RAD_EINPUT, "source: more than %d messages", MESSAGES_MOST);
    return make_notes(t, p) ? 0 : rad__error_memory(error);
}

static int trial_create(void **self, const rad_machine *m, const rad_case *c, rad_error *error)
{
    (void)m;
    *self = NULL;
    char *source = rad__session_case_source(c, error);
    if (source == NULL) return error->code;
    rad_session_trial *t = rad__alloc(1, sizeof *t);
    int status =
        t ? rad_protocols_parse(&t->protocols, "source", source, strlen(source), error) : rad__error_memory(error);
    rad__free(source);
    if (status == 0) status = trial_open(t, c, error);
    if (status == 0) status = run_reference(t, error);
    if (status != 0) {
        trial_destroy(t);
        return status;
    }
    *self = t;
    return 0;
}

/* ---- What is enabled ------------------------------------------------------------------------------------ */

static uint32_t object_of(const rad_session_trial *t, const rad_session *s, uint32_t edge)
{
    if (s->number >= t->sessions) return RAD_NONE; /* one that was opened on the way */
    return t->objects[s->number * s->protocol->types.edge_count + edge];
}

/* What its next instruction touches. */
static void announce(const rad_session_trial *t, const rad_co *co)
{
    const rad_protocol *p = co->session->protocol;
    const rad_instruction *i = &p->code[co->pc];
    uint32_t object = RAD_NONE, message = RAD_NONE;
    if (i->op == RAD_OP_S_SEND || i->op == RAD_OP_S_RECEIVE) message = i->x;
    if (i->op == RAD_OP_S_CHOOSE || i->op == RAD_OP_S_OFFER) message = p->ways[p->tables[i->x].first].message;
    if (message != RAD_NONE) object = object_of(t, co->session, p->messages[message].edge);
    rad_announce(t->k, t->actions[co->id], i->op, object, object == RAD_NONE ? RAD_LOCAL : RAD_WRITE);
}

static bool enter(rad_session_trial *t, const rad_co *co, uint32_t spawner)
{
    if (!RAD_GROW(&t->actors, &t->co_capacity, co->id + 1) || !RAD_GROW(&t->actions, &t->action_capacity, co->id + 1)) {
        rad__kernel_error(t->k, RAD_ENOMEM, "out of memory for coroutines");
        return false;
    }
    const char *name = co->session->protocol->types.threads[co->thread].name;
    t->actors[co->id] = rad_actor(t->k, spawner, name);
    t->actions[co->id] = rad_action(t->k, 0, t->actors[co->id], RAD_NONE, 0);
    t->co_count = co->id + 1;
    return true;
}

/* Sessions that were opened by the step. */
static bool enter_new(rad_session_trial *t, uint32_t spawner)
{
    for (uint32_t i = 0; i < t->vm->session_count && t->co_count < t->vm->co_count; i++) {
        const rad_session *s = t->vm->sessions[i];
        for (uint32_t k = 0; k < s->protocol->types.thread_count; k++)
            if (s->threads[k].id >= t->co_count && !enter(t, &s->threads[k], spawner)) return false;
    }
    return true;
}

static void tell_wait(const rad_session_trial *t, const rad_co *co)
{
    const rad_session *s = co->session;
    uint32_t object = t->session_object, holder = RAD_NONE;
    if (co->reason == RAD_BLOCK_RECEIVE || co->reason == RAD_BLOCK_SEND) {
        const rad_local_edge *e = &s->protocol->types.edges[co->what];
        object = object_of(t, s, co->what);
        holder = t->actors[s->threads[co->reason == RAD_BLOCK_SEND ? e->to : e->from].id];
    }
    rad_wait(t->k, t->actors[co->id], object, holder);
}

/* A new round begins: whoever is ready may be picked. */
static void offer_all(rad_session_trial *t)
{
    rad_session_vm *vm = t->vm;
    t->next = RAD_NONE;
    bool over = vm->round >= t->fuel;
    if (!over) rad__rounds_unblock(vm);
    for (uint32_t i = 0; i < vm->session_count; i++) {
        rad_session *s = vm->sessions[i];
        for (uint32_t k = 0; k < s->protocol->types.thread_count; k++) {
            rad_co *co = &s->threads[k];
            uint32_t action = t->actions[co->id];
            if (co->state == RAD_CO_READY && !over) {
                announce(t, co);
                rad_enable(t->k, action);
            } else if (rad_is_enabled(t->k, action)) {
                rad_disable(t->k, action);
            }
            if (co->state == RAD_CO_BLOCKED) tell_wait(t, co);
            if (co->state == RAD_CO_ENDED || co->state == RAD_CO_FAULTED) rad_ended(t->k, t->actors[co->id]);
        }
    }
}

static void trial_reset(void *self, rad_kernel *k)
{
    rad_session_trial *t = self;
    rad_error error;
    rad_session_destroy(t->vm);
    t->vm = NULL;
    t->k = k;
    t->co_count = 0;
    if (open_vm(t, t->options, &t->vm, &error) != 0) {
        rad__kernel_error(k, error.code, error.text);
        return;
    }
    if (!enter_new(t, RAD_NONE)) return;
    uint32_t edges = t->protocols->all[t->protocol].types.edge_count;
    if (!RAD_GROW(&t->objects, &t->object_capacity, edges * t->sessions + 1)) {
        rad__kernel_error(k, RAD_ENOMEM, "out of memory for buffers");
        return;
    }
    for (uint32_t i = 0; i < edges * t->sessions; i++)
        t->objects[i] = rad_object(k, RAD_NONE, t->edge_names[i % edges]);
    t->session_object = rad_object(k, RAD_NONE, "its session");
    offer_all(t);
}

/* ---- Steps ---------------------------------------------------------------------------------------------- */

static uint32_t message_number(const rad_protocol *p, const rad_session_event *e)
{
    for (uint32_t i = 0; i < p->message_count; i++)
        if (p->messages[i].edge == e->edge && p->messages[i].label == e->label) return i;
    return RAD_NONE;
}

static void tell_event(const rad_session_trial *t, const rad_session_event *e)
{
    const rad_session *s = t->vm->sessions[e->session];
    uint32_t note = RAD_TELL_EVENT + e->kind;
    bool talks = e->kind == RAD_SESSION_SENT || e->kind == RAD_SESSION_RECEIVED;
    uint32_t message = talks ? message_number(s->protocol, e) : RAD_NONE;
    if (message != RAD_NONE && s->number < t->sessions)
        note = RAD_TELL_MESSAGE + 2 * message + (e->kind == RAD_SESSION_RECEIVED);
    rad_note(t->k, note, RAD_NONE, 0);
    rad_value(t->k, e->causes);
    if (e->kind == RAD_SESSION_FAULTED && e->label == RAD_FAULT_MEMORY)
        rad__kernel_error(t->k, RAD_ENOMEM, "out of memory in a session");
    else if (e->kind == RAD_SESSION_FAULTED)
        /* Another fault is another bug: it is what the failure is about. */
        rad_fail_at(t->k, ORACLE_FAULT, rad_object(t->k, RAD_NONE, rad__fault_text(e->label)), NULL,
                    "session %s, %s: %s, line %u", s->path, s->protocol->types.threads[e->thread].name,
                    rad__fault_text(e->label), s->fault_line);
}

/* False: memory ran out, and with that the run. */
static bool run_picked(rad_session_trial *t, rad_co *co)
{
    rad_session_vm *vm = t->vm;
    uint64_t before = vm->event_count;
    rad_evaluated(t->k, ORACLE_FAULT);
    rad__rounds_run_one(vm, co);
    if (vm->no_memory) rad__kernel_error(t->k, RAD_ENOMEM, "out of memory in the machine");
    for (uint64_t i = before; i < vm->event_count; i++) tell_event(t, &vm->events[i]);
    if (co->state == RAD_CO_BLOCKED) rad_note(t->k, RAD_TELL_BLOCK + co->reason, RAD_NONE, 0);
    if (co->yielded) rad__turn_ends(t->k);
    return enter_new(t, t->actors[co->id]) && !vm->no_memory;
}

static void end_round(rad_session_trial *t)
{
    rad__rounds_round_ends(t->vm);
    RAD_CHECK(t->k, RAD_ORACLE_INVARIANT, rad__rounds_valid(t->vm), RAD_NONE,
              "the census of ready and blocked coroutines does not agree");
    offer_all(t);
}

/* The next one of the round, and nobody else. */
static void offer_next(rad_session_trial *t)
{
    const rad_co *co = t->vm->picked[t->next];
    announce(t, co);
    rad_enable(t->k, t->actions[co->id]);
}

static rad_co *co_of(const rad_session_trial *t, uint32_t action)
{
    for (uint32_t i = 0; i < t->vm->session_count; i++) {
        rad_session *s = t->vm->sessions[i];
        uint32_t first = s->threads[0].id, at = 0;
        for (; at < s->protocol->types.thread_count; at++)
            if (t->actions[first + at] == action) return &s->threads[at];
    }
    return NULL;
}

static void trial_step(void *self, rad_kernel *k, uint32_t action)
{
    rad_session_trial *t = self;
    rad_session_vm *vm = t->vm;
    rad_co *co = co_of(t, action);
    RAD_ASSERT(co != NULL);
    rad_disable(k, action);
    if (t->next != RAD_NONE) {
        if (!run_picked(t, co)) return;
        if (++t->next < vm->picked_count)
            offer_next(t);
        else
            end_round(t);
        return;
    }
    rad__rounds_pick(vm, co);
    if (vm->no_memory) {
        rad__kernel_error(k, RAD_ENOMEM, "out of memory for a round");
        return;
    }
    if (vm->options.n == 1) {
        if (run_picked(t, co)) end_round(t);
        return;
    }
    rad_note(k, RAD_TELL_PICKED, RAD_NONE, vm->picked_count);
    if (!rad__rounds_is_full(vm)) return;
    t->next = 0;
    for (uint32_t i = 0; i < t->co_count; i++)
        if (rad_is_enabled(k, t->actions[i])) rad_disable(k, t->actions[i]);
    offer_next(t);
}

static enum rad_end trial_idle(void *self, rad_kernel *k)
{
    rad_session_trial *t = self;
    if (t->vm == NULL) return RAD_END_FINISHED;
    bool spent = t->vm->round >= t->fuel;
    if (!spent && t->vm->blocked_count > 0) return RAD_END_STUCK;
    char text[400];
    rad_evaluated(k, ORACLE_INVARIANCE);
    if (t->options.full != RAD_FULL_BLOCK) return RAD_END_FINISHED;
    enum rad_comparison c = rad__session_compare(t->reference, t->vm, text, sizeof text);
    if (c == RAD_RUNS_NOT_COMPARED) rad__kernel_error(k, RAD_ENOMEM, text);
    if (c == RAD_RUNS_DIFFER) rad_fail(k, ORACLE_INVARIANCE, RAD_NONE, "%s", text);
    return RAD_END_FINISHED;
}

/* Whom the machine's own policy would pick. */
static uint32_t trial_prefer(const void *self)
{
    const rad_session_trial *t = self;
    if (t->vm == NULL || t->next != RAD_NONE) return RAD_NONE;
    const rad_co *co = rad__rounds_prefer(t->vm);
    return co != NULL ? t->actions[co->id] : RAD_NONE;
}

/* ---- Words ---------------------------------------------------------------------------------------------- */

static const char *trial_kind(const void *self, uint32_t kind)
{
    const rad_session_trial *t = self;
    if (kind == RAD_TELL_PICKED) return "picked as number %";
    if (kind < RAD_TELL_EVENT) return rad__block_text(kind - RAD_TELL_BLOCK);
    if (kind < RAD_TELL_MESSAGE) return rad_session_event_name(kind - RAD_TELL_EVENT);
    uint32_t message = kind - RAD_TELL_MESSAGE;
    return message < 2 * t->protocols->all[t->protocol].message_count ? t->notes[message] : NULL;
}

static const char *trial_site(const void *self, uint32_t site)
{
    (void)self;
    return site < RAD_OP_S_COUNT ? rad__session_op_name(site) : NULL;
}

static void trial_describe(const void *self, void (*line)(void *context, const char *text), void *context)
{
    const rad_session_trial *t = self;
    char *text = t->vm ? rad_session_report(t->vm) : NULL;
    for (char *at = text, *end; at != NULL && *at != 0; at = end + 1) {
        end = strchr(at, '\n');
        *end = 0;
        line(context, at);
    }
    rad__free(text);
}

const rad_machine rad__machine_session = {
    .progresses = true,
    .name = "session",
    .about = "roles of a protocol, in any order: every coroutine sees the same",
    .params = session_params,
    .oracles = session_oracles,
    .bug_site = RAD_NONE,
    .body = session_default,
    .create = trial_create,
    .destroy = trial_destroy,
    .reset = trial_reset,
    .step = trial_step,
    .idle = trial_idle,
    .size = rad__session_case_size,
    .reduce = rad__session_case_reduce,
    .prefer = trial_prefer,
    .kind_name = trial_kind,
    .site_name = trial_site,
    .describe = trial_describe,
};
