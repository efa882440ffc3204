/* trace.c — what happened, kept and told. */
#include "session/machine/vm.h"

#include "base/bytes.h"
#include "base/sort.h"
#include "base/text.h"

#include <string.h>

void rad__session_keep(rad_session_vm *vm, const rad_co *co, enum rad_session_event_kind kind, uint32_t label,
                       uint32_t edge, uint64_t number, uint64_t value)
{
    uint64_t at = vm->options.log ? vm->event_count : vm->event_count % RAD_RING;
    if (RAD_UNLIKELY(at >= vm->event_capacity)) {
        if (vm->event_count >= UINT32_MAX ||
            !RAD_GROW(&vm->events, &vm->event_capacity, (uint32_t)vm->event_count + 1)) {
            vm->no_memory = true;
            return;
        }
    }
    vm->events[at] = (rad_session_event){.tick = vm->round,
                                         .session = co->session->number,
                                         .thread = co->thread,
                                         .kind = (uint16_t)kind,
                                         .label = (uint16_t)label,
                                         .edge = edge,
                                         .number = number,
                                         .value = value,
                                         .causes = rad__digest_word(co->digest)};
    vm->event_count++;
}

uint64_t rad_session_event_count(const rad_session_vm *vm)
{
    return vm->options.log ? vm->event_count : 0;
}

const rad_session_event *rad_session_events(const rad_session_vm *vm)
{
    return vm->events;
}

const char *rad_session_event_name(uint32_t kind)
{
    static const char *const names[RAD_SESSION_EVENT_KINDS] = {
        [RAD_SESSION_SENT] = "sent",     [RAD_SESSION_RECEIVED] = "received", [RAD_SESSION_INVOKED] = "invoked",
        [RAD_SESSION_OPENED] = "opened", [RAD_SESSION_CLOSED] = "closed",     [RAD_SESSION_SPAWNED] = "spawned",
        [RAD_SESSION_JOINED] = "joined", [RAD_SESSION_ACQUIRED] = "acquired", [RAD_SESSION_RELEASED] = "released",
        [RAD_SESSION_HALTED] = "halted", [RAD_SESSION_FAULTED] = "faulted"};
    return kind < RAD_SESSION_EVENT_KINDS ? names[kind] : "?";
}

uint64_t rad_session_filter(const rad_session_event *events, uint64_t count, uint32_t session, rad_session_event *out)
{
    uint64_t kept = 0;
    for (uint64_t i = 0; i < count; i++)
        if (events[i].session == session) out[kept++] = events[i];
    return kept;
}

/* "2" before "10", "1/A.2" before "1/A.10", and whoever opens before what it opens. */
static bool path_is_after(const char *a, const char *b)
{
    while (*a != 0 && *a == *b) {
        a++;
        b++;
    }
    size_t i = 0;
    while (rad__is_digit(a[i]) && rad__is_digit(b[i])) i++;
    if (rad__is_digit(a[i]) || rad__is_digit(b[i])) return rad__is_digit(a[i]); /* the longer number */
    return (unsigned char)*a > (unsigned char)*b;
}

/* Sessions in the order of their paths; without a machine, in that of their numbers. */
static bool belongs_after(const void *context, const void *one, const void *other)
{
    const rad_session_vm *vm = context;
    const rad_session_event *a = one, *b = other;
    if (a->session == b->session) return a->thread > b->thread;
    if (vm == NULL) return a->session > b->session;
    return path_is_after(vm->sessions[a->session]->path, vm->sessions[b->session]->path);
}

/* Events of a thread stay in their order. */
static void sort_by_thread(const rad_session_vm *vm, rad_session_event *events, uint64_t count)
{
    rad__sort(events, count, sizeof *events, belongs_after, vm);
}

void rad_session_normalize(rad_session_event *events, uint64_t count)
{
    sort_by_thread(NULL, events, count);
    for (uint64_t i = 0; i < count; i++) events[i].tick = 0;
}

/* ---- The whole --------------------------------------------------------------------------------------- */

/* Of a session: its threads in order, the fields of registers, final types. Faulted ones count up to the fault. */
static rad_digest session_digest(const rad_session *s)
{
    rad_digest d = {s->key, s->fault};
    if (s->fault) return rad__co_fold(d, s->fault_thread, s->fault_causes, 0);
    const rad_protocol *p = s->protocol;
    for (uint32_t i = 0; i < p->types.thread_count; i++) {
        const rad_co *co = &s->threads[i];
        uint64_t registers = 0;
        for (uint32_t k = 0; k < p->register_count; k++) registers = rad__value_hash(registers, &co->registers[k]);
        d = rad__co_fold(d, rad__digest_word(co->digest), co->type, registers);
    }
    return d;
}

bool rad_session_digest(const rad_session_vm *vm, uint32_t session, char text[33])
{
    if (session >= vm->session_count) return false;
    rad__digest_text(session_digest(vm->sessions[session]), text);
    return true;
}

/* Sessions in whatever order they were opened. */
rad_digest rad__session_sum(const rad_session_vm *vm)
{
    rad_digest all = {0, 0};
    for (uint32_t i = 0; i < vm->session_count; i++) {
        rad_digest one = session_digest(vm->sessions[i]);
        all.low += rad__mix64(one.low);
        all.high += rad__mix64(one.high);
    }
    return all;
}

void rad_session_look(const rad_session_vm *vm, rad_session_info *out)
{
    *out = (rad_session_info){.sessions = vm->session_count,
                              .sessions_closed = vm->closed_sessions,
                              .sessions_faulted = vm->faulted_sessions,
                              .coroutines = vm->ready_count + vm->blocked_count + vm->ended_count,
                              .ready = vm->ready_count,
                              .blocked = vm->blocked_count,
                              .ended = vm->ended_count,
                              .rounds = vm->round,
                              .instructions = vm->instructions,
                              .messages = vm->messages,
                              .effects = vm->effects};
    rad__digest_text(rad__session_sum(vm), out->digest);
}

/* ---- Words ------------------------------------------------------------------------------------------- */

static const char *role_at(const rad_protocol *p, uint32_t thread)
{
    return p->types.threads[thread].name;
}

static void report_blocked(rad_bytes *to, const rad_session *s, const rad_co *co)
{
    const rad_protocol *p = s->protocol;
    rad__bytes_format(to, "session %s, %s: %s", s->path, role_at(p, co->thread), rad__block_text(co->reason));
    if (co->reason == RAD_BLOCK_RECEIVE || co->reason == RAD_BLOCK_SEND) {
        const rad_local_edge *e = &p->types.edges[co->what];
        const rad_buffer *b = &s->buffers[co->what];
        rad__bytes_format(to, " on %s -> %s (%u of %u in the buffer)", role_at(p, e->from), role_at(p, e->to), b->count,
                          b->capacity);
    }
    if (p->lines[co->pc]) rad__bytes_format(to, ", line %u", p->lines[co->pc]);
    rad__bytes_format(to, "\n");
}

static void report_session(rad_bytes *to, const rad_session_vm *vm, const rad_session *s)
{
    const rad_protocol *p = s->protocol;
    if (s->fault != RAD_FAULT_NONE) {
        rad__bytes_format(to, "session %s, %s: faulted: %s", s->path, role_at(p, s->fault_thread),
                          rad__fault_text(s->fault));
        if (s->fault_line) rad__bytes_format(to, ", line %u", s->fault_line);
        if (s->fault == RAD_FAULT_REPLAY) {
            char text[500];
            rad__session_mismatch(vm, &s->threads[s->fault_thread], text, sizeof text);
            rad__bytes_format(to, ": %s", text);
        }
        rad__bytes_format(to, "\n");
        return;
    }
    for (uint32_t i = 0; i < p->types.thread_count; i++)
        if (s->threads[i].state == RAD_CO_BLOCKED) report_blocked(to, s, &s->threads[i]);
}

static char *text_of(rad_bytes *b)
{
    rad__bytes_put(b, "", 1);
    if (!b->failed) return (char *)b->data;
    rad__bytes_free(b);
    return NULL;
}

char *rad_session_report(const rad_session_vm *vm)
{
    rad_bytes b = {NULL, 0, 0, false};
    for (uint32_t i = 0; i < vm->session_count; i++) report_session(&b, vm, vm->sessions[i]);
    return text_of(&b);
}

static void event_line(rad_bytes *to, const rad_session_vm *vm, const rad_session_event *e, bool tick)
{
    const rad_session *s = vm->sessions[e->session];
    const rad_protocol *p = s->protocol;
    if (tick) rad__bytes_format(to, "%llu ", (unsigned long long)e->tick);
    rad__bytes_format(to, "%s %s %s", s->path, role_at(p, e->thread), rad_session_event_name(e->kind));
    if (e->kind == RAD_SESSION_SENT || e->kind == RAD_SESSION_RECEIVED) {
        const rad_local_edge *edge = &p->types.edges[e->edge];
        bool sent = e->kind == RAD_SESSION_SENT;
        rad__bytes_format(to, " %s %s %s %llu", rad__text_of(vm->protocols, e->label), sent ? "to" : "from",
                          role_at(p, sent ? edge->to : edge->from), (unsigned long long)e->number);
    } else if (e->kind == RAD_SESSION_INVOKED) {
        rad__bytes_format(to, " %s %llu", e->label == 0xffff ? "select" : rad__text_of(vm->protocols, e->label),
                          (unsigned long long)e->number);
    } else if (e->kind == RAD_SESSION_FAULTED) {
        rad__bytes_format(to, " %s", rad__fault_text(e->label));
    }
    rad__bytes_format(to, " %016llx\n", (unsigned long long)e->causes);
}

char *rad_session_trace_text(const rad_session_vm *vm, uint32_t session, bool normalize)
{
    uint64_t count = rad_session_event_count(vm);
    rad_session_event *events = rad__alloc(count ? count : 1, sizeof *events);
    if (events == NULL) return NULL;
    memcpy(events, vm->events, count * sizeof *events);
    if (session != RAD_NONE) count = rad_session_filter(events, count, session, events);
    if (normalize) sort_by_thread(vm, events, count); /* ticks are not told */
    rad_bytes b = {NULL, 0, 0, false};
    for (uint64_t i = 0; i < count && !b.failed; i++) event_line(&b, vm, &events[i], !normalize);
    rad__free(events);
    return text_of(&b);
}
