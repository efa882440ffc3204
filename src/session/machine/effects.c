/* effects.c — asking handlers, keeping their answers, giving recorded answers again.
 *
 * Records are found by (session, thread, occurrence), which are the same in every schedule. Each has the digest of its
 * thread from before the effect, a name for all that it may depend on: if that is the same in two runs and the answer
 * is not, the handler is to blame; if that differs, whatever came before it is. */
#include "session/machine/vm.h"

#include "base/error.h"
#include "base/map64.h"

#include <stdio.h>
#include <string.h>

typedef struct record {
    uint64_t session, occurrence; /* the session's key */
    char *path;
    const char *thread;               /* of the protocols, which outlive the log */
    const char *name;                 /* of a selection: what was chosen, or NULL */
    const rad_effect_option *options; /* of a selection; of the protocols */
    uint32_t option_count;
    uint32_t thread_number;
    uint8_t kind;
    uint8_t fault; /* enum rad_fault: NONE; HANDLER, it failed; ANSWER, what it said did not fit */
    uint32_t chosen;
    uint64_t causes;
    uint32_t field_count;
    rad_datum fields[RAD_FIELDS_MAX];
} record;

struct rad_effect_log {
    record *records;
    uint32_t count, capacity;
    rad_map64 at;     /* by key_of, and what follows when that is taken */
    rad_map64 actors; /* coroutines, numbered in order of their first records; by actor_of */
    uint32_t actor_count;
};

static uint64_t key_of(uint64_t session, uint32_t thread, uint64_t occurrence)
{
    return rad__mix2(rad__mix2(session, thread), occurrence);
}

static uint64_t actor_of(uint64_t session, uint32_t thread)
{
    return rad__mix2(session, thread);
}

static const record *log_find(const rad_effect_log *log, uint64_t session, uint32_t thread, uint64_t occurrence)
{
    uint64_t key = key_of(session, thread, occurrence);
    for (uint32_t at; (at = rad__map64_find(&log->at, key)) != RAD_NONE; key++) {
        const record *r = &log->records[at];
        if (r->session == session && r->thread_number == thread && r->occurrence == occurrence) return r;
    }
    return NULL;
}

static bool log_add(rad_effect_log *log, const record *r)
{
    uint64_t key = key_of(r->session, r->thread_number, r->occurrence);
    uint64_t actor = actor_of(r->session, r->thread_number);
    while (rad__map64_find(&log->at, key) != RAD_NONE) key++;
    if (!RAD_GROW(&log->records, &log->capacity, log->count + 1)) return false;
    if (rad__map64_find(&log->actors, actor) == RAD_NONE) {
        if (!rad__map64_add(&log->actors, actor, log->actor_count)) return false;
        log->actor_count++;
    }
    if (!rad__map64_add(&log->at, key, log->count)) return false;
    log->records[log->count++] = *r;
    return true;
}

static void record_drop(record *r)
{
    for (uint32_t i = 0; i < r->field_count; i++) rad__value_drop(&r->fields[i]);
    rad__free(r->path);
}

void rad_effect_log_free(rad_effect_log *log)
{
    if (log == NULL) return;
    for (uint32_t i = 0; i < log->count; i++) record_drop(&log->records[i]);
    rad__free(log->records);
    rad__map64_free(&log->at);
    rad__map64_free(&log->actors);
    rad__free(log);
}

uint64_t rad_effect_log_count(const rad_effect_log *log)
{
    return log->count;
}

uint32_t rad__effects_actors(const rad_effect_log *log)
{
    return log->actor_count;
}

rad_effect_log *rad_session_take_effects(rad_session_vm *vm)
{
    rad_effect_log *log = vm->effect_log;
    vm->effect_log = NULL;
    return log;
}

void rad_session_replay(rad_session_vm *vm, const rad_effect_log *log)
{
    if (vm->session_count > 0) rad__misuse("rad_session_replay", "sessions are open already");
    vm->on_record = log;
}

/* ---- Differences ------------------------------------------------------------------------------------- */

static void value_text(const rad_datum *v, char *text, size_t size)
{
    if (v->type == RAD_TYPE_TEXT)
        snprintf(text, size, "\"%.40s\"", v->text ? v->text : "");
    else if (v->type == RAD_TYPE_BOOL)
        snprintf(text, size, "%s", v->number ? "true" : "false");
    else
        snprintf(text, size, "%lld", (long long)v->number);
}

/* A choice says whom it is for, if another message of this name is for somebody else. */
static const char *partner_of(const record *r)
{
    bool chose = r->kind == RAD_EFFECT_SELECT && r->fault == RAD_FAULT_NONE && r->options != NULL;
    for (uint32_t i = 0; chose && i < r->option_count; i++)
        if (i != r->chosen && strcmp(r->options[i].name, r->name) == 0) return r->options[r->chosen].partner;
    return NULL;
}

static void answer_text(const record *r, char *text, size_t size)
{
    const char *what = r->fault == RAD_FAULT_HANDLER  ? "failed"
                       : r->fault == RAD_FAULT_ANSWER ? "an answer that does not fit"
                                                      : r->name;
    const char *partner = partner_of(r);
    size_t used = (size_t)snprintf(text, size, "%s%s%s", what, partner ? " to " : "", partner ? partner : "");
    for (uint32_t i = 0; i < r->field_count && used < size; i++) {
        char one[64];
        value_text(&r->fields[i], one, sizeof one);
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : used ? " " : "", one);
    }
}

/* What the handler answers for: "quote"; of a choice that was not made, "accept or quit". */
static void handled_text(const record *r, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "%s", r->name ? r->name : "");
    for (uint32_t i = 0; r->name == NULL && i < r->option_count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? " or " : "", r->options[i].name);
}

static bool records_are_equal(const record *a, const record *b)
{
    if (a->kind != b->kind || a->fault != b->fault || a->chosen != b->chosen || a->field_count != b->field_count)
        return false;
    if (a->name == NULL || b->name == NULL || strcmp(a->name, b->name) != 0)
        return a->name == b->name; /* a choice that was not made */
    for (uint32_t i = 0; i < a->field_count; i++)
        if (!rad__value_equal(&a->fields[i], &b->fields[i])) return false;
    return true;
}

/* Whether `a` has something that `b` has not. */
static bool has_more(const rad_effect_log *a, const rad_effect_log *b, const char *which, char *text, size_t size)
{
    for (uint32_t i = 0; i < a->count; i++) {
        const record *r = &a->records[i];
        if (log_find(b, r->session, r->thread_number, r->occurrence) != NULL) continue;
        char answer[200];
        answer_text(r, answer, sizeof answer);
        snprintf(text, size, "session %s, %s: effect %llu, %s, is in the %s log only (record %u)", r->path, r->thread,
                 (unsigned long long)r->occurrence, answer, which, i);
        return true;
    }
    return false;
}

/* The first of `a` to which `b` has another answer; `same`: before which everything was the same. */
static const record *first_difference(const rad_effect_log *a, const rad_effect_log *b, bool same, const record **other)
{
    const record *first = NULL;
    for (uint32_t i = 0; i < a->count; i++) {
        const record *r = &a->records[i];
        const record *twin = log_find(b, r->session, r->thread_number, r->occurrence);
        if (twin == NULL || (same && r->causes != twin->causes) || records_are_equal(r, twin)) continue;
        if (first != NULL && first->occurrence <= r->occurrence) continue;
        first = r;
        *other = twin;
    }
    return first;
}

static void difference_text(const record *a, const record *b, char *text, size_t size)
{
    char name[100], one[200], two[200];
    handled_text(a, name, sizeof name);
    answer_text(a, one, sizeof one);
    answer_text(b, two, sizeof two);
    snprintf(text, size, "session %s, %s: handler of %s, effect %llu: %s and %s", a->path, a->thread, name,
             (unsigned long long)a->occurrence, one, two);
}

bool rad__effects_blame(const rad_effect_log *a, const rad_effect_log *b, char *text, size_t size)
{
    const record *other, *first = first_difference(a, b, true, &other);
    if (first != NULL) difference_text(first, other, text, size);
    return first != NULL;
}

bool rad_effect_log_differ(const rad_effect_log *a, const rad_effect_log *b, char *text, size_t size)
{
    if (rad__effects_blame(a, b, text, size)) return true;
    const record *other, *first = first_difference(a, b, false, &other);
    if (first != NULL) difference_text(first, other, text, size);
    return first != NULL || has_more(a, b, "first", text, size) || has_more(b, a, "second", text, size);
}

/* ---- Handlers ---------------------------------------------------------------------------------------- */

int rad_session_handle(rad_session_vm *vm, const char *name, rad_effect_handler *handler, void *context,
                       rad_error *error)
{
    if (handler == NULL) rad__misuse("rad_session_handle", "there is no handler");
    rad__error_clear(error);
    uint32_t symbol = RAD_NONE;
    if (name != NULL) {
        symbol = rad__symbol_find(&vm->protocols->file.symbols, name, strlen(name));
        if (symbol == RAD_NONE)
            return rad__error(error, RAD_EINPUT, "%s: nothing is called %.60s", vm->protocols->file_name, name);
    }
    if (!RAD_GROW(&vm->handlers, &vm->handler_capacity, vm->handler_count + 1)) return rad__error_memory(error);
    vm->handlers[vm->handler_count++] = (rad_handler){symbol, handler, context};
    return 0;
}

static bool answers_for(const rad_protocol *p, const rad_handler *h, const rad_effect_site *site)
{
    if (h->name == RAD_NONE || h->name == site->name) return true;
    if (site->kind != RAD_EFFECT_SELECT) return false;
    const rad_table *t = &p->tables[site->table];
    for (uint32_t i = 0; i < t->count; i++)
        if (p->messages[p->ways[t->first + i].message].label == h->name) return true;
    return false;
}

/* The one for this name, then the one for all; of equals the newest. */
static const rad_handler *handler_of(const rad_session_vm *vm, const rad_protocol *p, const rad_effect_site *site)
{
    const rad_handler *all = NULL;
    for (uint32_t i = vm->handler_count; i-- > 0;) {
        const rad_handler *h = &vm->handlers[i];
        if (!answers_for(p, h, site)) continue;
        if (h->name != RAD_NONE) return h;
        if (all == NULL) all = h;
    }
    return all;
}

static uint64_t draw_of(const rad_session_vm *vm, const rad_co *co)
{
    uint64_t stream = rad__mix2(vm->options.seed ^ co->session->key, co->thread);
    return rad__mix2(stream, co->effects);
}

/* ---- Drawn answers ----------------------------------------------------------------------------------- */

static bool draw_fields(const rad_session_vm *vm, rad_datum *to, const rad_signature *s, uint32_t label, uint64_t draw)
{
    for (uint32_t i = 0; i < s->count; i++) {
        uint64_t one = i ? rad__mix2(draw, i) : draw;
        char text[100];
        switch ((enum rad_type)s->types[i]) {
        case RAD_TYPE_INT: rad__value_set(&to[i], RAD_TYPE_INT, (int64_t)(one >> 32) % 1000); break;
        case RAD_TYPE_BOOL: rad__value_set(&to[i], RAD_TYPE_BOOL, (int64_t)(one >> 63)); break;
        default:
            snprintf(text, sizeof text, "%s-%u", rad__text_of(vm->protocols, label), (uint32_t)(one >> 32) % 100);
            if (!rad__value_set_text(&to[i], text, (uint32_t)strlen(text))) return false;
        }
    }
    return true;
}

static bool answer_drawn(const rad_session_vm *vm, rad_co *co, const rad_effect_site *site)
{
    const rad_protocol *p = co->session->protocol;
    uint32_t message = site->message;
    if (site->kind == RAD_EFFECT_CONSUME || site->kind == RAD_EFFECT_DOES) return true;
    uint64_t draw = draw_of(vm, co);
    if (site->kind == RAD_EFFECT_SELECT) {
        const rad_table *t = &p->tables[site->table];
        uint32_t chosen = (uint32_t)((draw & 0xffffffff) * t->count >> 32);
        rad__value_set(&co->registers[0], RAD_TYPE_INT, chosen);
        message = p->ways[t->first + chosen].message;
    }
    const rad_message *m = &p->messages[message];
    return draw_fields(vm, &co->registers[1], &m->signature, m->label, draw);
}

/* ---- Answers of handlers ----------------------------------------------------------------------------- */

/* The message the registers are about: the given one, or the one that was chosen. NULL: none. */
static const rad_message *message_of(const rad_co *co, const rad_effect_site *site)
{
    const rad_protocol *p = co->session->protocol;
    if (site->kind == RAD_EFFECT_DOES) return NULL;
    if (site->kind != RAD_EFFECT_SELECT) return &p->messages[site->message];
    const rad_table *t = &p->tables[site->table];
    return &p->messages[p->ways[t->first + (uint32_t)co->registers[0].number].message];
}

static void show_fields(rad_effect *e, const rad_datum *values, const rad_signature *s, bool given)
{
    e->field_count = s->count;
    for (uint32_t i = 0; i < s->count; i++) {
        bool is_text = s->types[i] == RAD_TYPE_TEXT;
        const char *text = given && is_text && values[i].text ? values[i].text : "";
        e->fields[i] = (rad_session_value){.type = (enum rad_value_type)s->types[i],
                                           .length = given && is_text ? values[i].length : 0,
                                           .number = given && !is_text ? values[i].number : 0,
                                           .text = text};
    }
}

/* What the handler said, into the registers. */
static enum rad_fault take_fields(rad_datum *to, const rad_signature *s, const rad_effect *e)
{
    if (e->field_count != s->count) return RAD_FAULT_ANSWER;
    for (uint32_t i = 0; i < s->count; i++) {
        const rad_session_value *v = &e->fields[i];
        bool is_text = v->type == RAD_VALUE_TEXT;
        if ((uint32_t)v->type != s->types[i]) return RAD_FAULT_ANSWER;
        if (is_text && (v->length > RAD_VALUE_TEXT_MAX || v->text == NULL)) return RAD_FAULT_ANSWER;
        if (is_text && !rad__value_set_text(&to[i], v->text, v->length)) return RAD_FAULT_MEMORY;
        if (v->type == RAD_VALUE_BOOL) rad__value_set(&to[i], RAD_TYPE_BOOL, v->number != 0);
        if (v->type == RAD_VALUE_INT) rad__value_set(&to[i], RAD_TYPE_INT, v->number);
    }
    return RAD_FAULT_NONE;
}

static void ask(const rad_session_vm *vm, rad_co *co, const rad_effect_site *site, rad_effect *e)
{
    const rad_session *s = co->session;
    const rad_protocol *p = s->protocol;
    const rad_local_thread *thread = &p->types.threads[co->thread];
    *e = (rad_effect){.kind = site->kind,
                      .session = s->path,
                      .role = p->types.global.roles[thread->role],
                      .thread = thread->name,
                      .name = site->name == RAD_NONE ? NULL : rad__text_of(vm->protocols, site->name),
                      .occurrence = co->effects,
                      .draw = draw_of(vm, co),
                      .coroutine_state = rad__co_state(vm, co)};
    co->has_state = true;
    if (site->kind == RAD_EFFECT_SELECT) {
        e->option_count = p->tables[site->table].count;
        e->options = &p->options[site->options];
    } else if (site->kind != RAD_EFFECT_DOES) {
        const rad_message *m = &p->messages[site->message];
        const rad_local_edge *edge = &p->types.edges[m->edge];
        bool consumes = site->kind == RAD_EFFECT_CONSUME;
        e->partner = p->types.global.roles[p->types.threads[consumes ? edge->from : edge->to].role];
        show_fields(e, &co->registers[1], &m->signature, consumes);
    }
}

static enum rad_effect_result answer_called(rad_session_vm *vm, rad_co *co, const rad_effect_site *site,
                                            const rad_handler *h, enum rad_fault *fault)
{
    const rad_protocol *p = co->session->protocol;
    rad_effect e;
    ask(vm, co, site, &e);
    enum rad_effect_result result = h->call(h->context, &e);
    if (result == RAD_EFFECT_BLOCKED) return result;
    *fault = result == RAD_EFFECT_DONE ? RAD_FAULT_NONE : RAD_FAULT_HANDLER;
    if (*fault == RAD_FAULT_NONE && site->kind == RAD_EFFECT_SELECT) {
        const rad_table *t = &p->tables[site->table];
        if (e.chosen >= t->count) *fault = RAD_FAULT_ANSWER;
        uint32_t message = *fault == RAD_FAULT_NONE ? p->ways[t->first + e.chosen].message : 0;
        if (*fault == RAD_FAULT_NONE) *fault = take_fields(&co->registers[1], &p->messages[message].signature, &e);
        if (*fault == RAD_FAULT_NONE) rad__value_set(&co->registers[0], RAD_TYPE_INT, e.chosen);
    }
    if (*fault == RAD_FAULT_NONE && site->kind == RAD_EFFECT_PRODUCE)
        *fault = take_fields(&co->registers[1], &p->messages[site->message].signature, &e);
    return *fault == RAD_FAULT_NONE ? RAD_EFFECT_DONE : RAD_EFFECT_FAILED;
}

/* ---- Records ----------------------------------------------------------------------------------------- */

static bool keep(rad_session_vm *vm, const rad_co *co, const rad_effect_site *site, enum rad_fault fault)
{
    const rad_session *s = co->session;
    bool failed = fault != RAD_FAULT_NONE, selects = site->kind == RAD_EFFECT_SELECT;
    const rad_message *m = failed ? NULL : message_of(co, site);
    uint32_t name = m ? m->label : site->name;
    if (vm->effect_log == NULL) vm->effect_log = rad__alloc(1, sizeof *vm->effect_log);
    record r = {.session = s->key,
                .occurrence = co->effects,
                .path = rad__copy_text(s->path),
                .thread = s->protocol->types.threads[co->thread].name,
                .name = name == RAD_NONE ? NULL : rad__text_of(vm->protocols, name),
                .options = selects ? &s->protocol->options[site->options] : NULL,
                .option_count = selects ? s->protocol->tables[site->table].count : 0,
                .thread_number = co->thread,
                .kind = (uint8_t)site->kind,
                .fault = (uint8_t)fault,
                .causes = rad__digest_word(co->digest)};
    bool good = vm->effect_log != NULL && r.path != NULL;
    if (!failed && selects) r.chosen = (uint32_t)co->registers[0].number;
    for (uint32_t i = 0; good && m != NULL && i < m->signature.count; i++) {
        good = rad__value_copy(&r.fields[i], &co->registers[1 + i]);
        r.field_count += good;
    }
    good = good && log_add(vm->effect_log, &r);
    if (!good) record_drop(&r);
    return good;
}

static enum rad_fault answer_recorded(rad_session_vm *vm, rad_co *co, const rad_effect_site *site)
{
    const record *r = log_find(vm->on_record, co->session->key, co->thread, co->effects);
    if (r == NULL || r->kind != (uint8_t)site->kind) return RAD_FAULT_REPLAY;
    const rad_protocol *p = co->session->protocol;
    if (r->fault != RAD_FAULT_NONE) return (enum rad_fault)r->fault;
    if (site->kind == RAD_EFFECT_SELECT) {
        if (r->chosen >= p->tables[site->table].count) return RAD_FAULT_REPLAY;
        rad__value_set(&co->registers[0], RAD_TYPE_INT, r->chosen);
    }
    const rad_message *m = message_of(co, site);
    uint32_t name = m ? m->label : site->name;
    if (strcmp(r->name, rad__text_of(vm->protocols, name)) != 0) return RAD_FAULT_REPLAY;
    if (m == NULL) return RAD_FAULT_NONE;
    if (r->field_count != m->signature.count) return RAD_FAULT_REPLAY;
    for (uint32_t i = 0; i < r->field_count; i++) {
        if (site->kind == RAD_EFFECT_CONSUME) { /* what it is told has to be what it was told */
            if (!rad__value_equal(&co->registers[1 + i], &r->fields[i])) return RAD_FAULT_REPLAY;
            continue;
        }
        if (r->fields[i].type != m->signature.types[i]) return RAD_FAULT_REPLAY;
        if (!rad__value_copy(&co->registers[1 + i], &r->fields[i])) return RAD_FAULT_MEMORY;
    }
    return RAD_FAULT_NONE;
}

/* Of a coroutine that has faulted with REPLAY: it is still at its effect. */
void rad__session_mismatch(const rad_session_vm *vm, const rad_co *co, char *text, size_t size)
{
    const rad_protocol *p = co->session->protocol;
    const rad_effect_site *site = &p->effects[p->code[co->pc].x];
    const record *r = log_find(vm->on_record, co->session->key, co->thread, co->effects);
    record asked = {.name = site->name == RAD_NONE ? "a choice" : rad__text_of(vm->protocols, site->name)};
    if (site->kind == RAD_EFFECT_CONSUME) {
        asked.field_count = p->messages[site->message].signature.count;
        memcpy(asked.fields, &co->registers[1], asked.field_count * sizeof *asked.fields);
    }
    char one[200], two[200] = "nothing more";
    answer_text(&asked, one, sizeof one);
    if (r != NULL) answer_text(r, two, sizeof two);
    snprintf(text, size, "effect %llu is %s, on record is %s", (unsigned long long)co->effects, one, two);
}

static uint64_t answer_hash(const rad_co *co, const rad_effect_site *site)
{
    const rad_message *m = message_of(co, site);
    uint64_t hash = site->kind;
    if (m == NULL) return hash;
    if (site->kind == RAD_EFFECT_SELECT) hash = rad__value_hash(hash, &co->registers[0]);
    for (uint32_t i = 0; i < m->signature.count; i++) hash = rad__value_hash(hash, &co->registers[1 + i]);
    return hash;
}

/* Although there is a record. */
static bool is_called(const rad_session_vm *vm, const rad_co *co)
{
    if (vm->apart == RAD_NONE) return false;
    uint32_t number = rad__map64_find(&vm->on_record->actors, actor_of(co->session->key, co->thread));
    return number != RAD_NONE && (number >> vm->apart / 2 & 1) == vm->apart % 2;
}

enum rad_effect_result rad__session_invoke(rad_session_vm *vm, rad_co *co, const rad_effect_site *site, uint64_t *hash)
{
    enum rad_fault fault = RAD_FAULT_NONE;
    const rad_handler *h = NULL;
    if (vm->on_record != NULL && !is_called(vm, co)) {
        fault = answer_recorded(vm, co, site);
    } else if (vm->handler_count > 0 && (h = handler_of(vm, co->session->protocol, site)) != NULL) {
        if (answer_called(vm, co, site, h, &fault) == RAD_EFFECT_BLOCKED) return RAD_EFFECT_BLOCKED;
    } else if (!answer_drawn(vm, co, site)) {
        fault = RAD_FAULT_MEMORY;
    }
    bool answered = fault == RAD_FAULT_NONE || fault == RAD_FAULT_HANDLER || fault == RAD_FAULT_ANSWER;
    if (vm->options.record && answered && !keep(vm, co, site, fault)) fault = RAD_FAULT_MEMORY;
    if (fault != RAD_FAULT_NONE) {
        rad__session_fault(vm, co, fault);
        return RAD_EFFECT_FAILED;
    }
    *hash = answer_hash(co, site);
    return RAD_EFFECT_DONE;
}
