/* fibers_reference.c — all worlds that can be reached, each once, and the results of those where nothing can happen. */
#include "fibers_reference_parts.h"

#include "base/alloc.h"

#include <string.h>

enum action_kind {
    ACTION_STEP,    /* a fiber that is ready does a step */
    ACTION_TIME,    /* the deadline of what a fiber waits for comes */
    ACTION_LATE,    /* the deadline of its nursery does */
    ACTION_TOLD,    /* a cancellation of its nursery gets to it */
    ACTION_PRODDED, /* it notices that it was cancelled */
    ACTION_GONE,    /* nothing is left of it */
    ACTION_GRAB,    /* it takes a mutex that is free */
    ACTION_FIRE,    /* the timer fires (fiber 0), the alarm does (1), its function does its work (2) */
    ACTION_KINDS
};

/* Worlds by their number, in the order in which they were found, and a table to find them again. */
typedef struct atlas {
    uint8_t *bytes;
    size_t size; /* of one */
    uint32_t count, room, *table, table_size;
} atlas;

static uint64_t hash_bytes(const uint8_t *bytes, size_t size)
{
    uint64_t h = 0x9e3779b97f4a7c15u, word;
    for (; size >= 8; size -= 8, bytes += 8) {
        memcpy(&word, bytes, 8);
        h = (h ^ word) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    for (; size > 0; size--, bytes++) h = (h ^ *bytes) * 0x100000001b3u;
    return h ^ h >> 29;
}

static void atlas_open(atlas *a, size_t size)
{
    *a = (atlas){.size = size, .room = 64, .table_size = 256};
    a->bytes = rad__alloc(a->room, size);
    a->table = rad__alloc(a->table_size, sizeof *a->table);
}

/* Empty again; the memory stays. */
static void atlas_clear(atlas *a, size_t size)
{
    if (a->bytes == NULL) atlas_open(a, size);
    memset(a->table, 0, a->table_size * sizeof *a->table);
    a->count = 0;
}

static uint32_t *atlas_slot(const atlas *a, const void *bytes)
{
    uint32_t at = (uint32_t)hash_bytes(bytes, a->size) & (a->table_size - 1);
    while (a->table[at] && memcmp(a->bytes + (a->table[at] - 1) * a->size, bytes, a->size) != 0)
        at = (at + 1) & (a->table_size - 1);
    return &a->table[at];
}

static void atlas_grow(atlas *a)
{
    uint8_t *bytes = rad__alloc(2 * (size_t)a->room, a->size);
    memcpy(bytes, a->bytes, a->count * a->size);
    rad__free(a->bytes);
    a->bytes = bytes;
    a->room *= 2;
    rad__free(a->table);
    a->table_size *= 2;
    a->table = rad__alloc(a->table_size, sizeof *a->table);
    for (uint32_t i = 0; i < a->count; i++) *atlas_slot(a, a->bytes + i * a->size) = i + 1;
}

static void atlas_add(atlas *a, const void *bytes)
{
    uint32_t *slot = atlas_slot(a, bytes);
    if (*slot) return;
    if (a->count == a->room) {
        atlas_grow(a);
        slot = atlas_slot(a, bytes);
    }
    memcpy(a->bytes + a->count * a->size, bytes, a->size);
    *slot = ++a->count;
}

/* ---- Choices --------------------------------------------------------------------------------------------------- */

uint32_t stage_pick(stage *s, uint32_t count)
{
    if (count <= 1) return 0;
    if (s->choice_at == CHOICES_MOST) return 0;
    if (s->choice_at == s->choice_count) {
        s->choices[s->choice_count] = 0;
        s->sizes[s->choice_count++] = (uint8_t)count;
    }
    return s->choices[s->choice_at++];
}

uint32_t stage_open(stage *s, uint32_t count, uint32_t firm)
{
    return s->is_firm ? firm : stage_pick(s, count);
}

/* Whether there is one more way to choose. */
static bool next_choices(stage *s)
{
    while (s->choice_count > 0) {
        uint32_t last = s->choice_count - 1;
        if (++s->choices[last] < s->sizes[last]) return true;
        s->choice_count--;
    }
    return false;
}

void stage_saw(stage *s, enum fibers_seen what)
{
    s->set->seen[what] = 1;
}

/* ---- Actions --------------------------------------------------------------------------------------------------- */

/* A cancellation of a nursery returns when it has reached all. */
static bool is_reaching(const stage *s, uint32_t f)
{
    const fibers_op *op = stage_op(s, f);
    if (op == NULL || op->kind != FIBERS_NURSERY_CANCEL || s->w.fibers[f].phase == 0) return false;
    for (uint32_t g = 0; g < s->program->fiber_count; g++)
        if (s->w.fibers[g].arriving && (g != f || s->is_firm)) return true;
    return false;
}

/* Whether it makes a difference to anybody. */
static bool can_be_gone(const stage *s, uint32_t f)
{
    for (uint32_t i = 0; i < FIBERS_MOST * FIBERS_OPS; i++) {
        const fibers_op *op = &s->program->fibers[i / FIBERS_OPS].ops[i % FIBERS_OPS];
        if (op->kind == FIBERS_RELEASE && op->object == f) return true;
    }
    return s->program->limit > 0;
}

static bool will_fire(uint8_t timer)
{
    return timer == TIMER_DUE || timer == TIMER_SOON;
}

static bool can_act(const stage *s, enum action_kind kind, uint32_t f)
{
    const world_fiber *w = &s->w.fibers[f];
    uint8_t m;
    uint32_t i;
    bool lives = w->state == READY || w->state == WAITING;
    switch (kind) {
    case ACTION_STEP: return w->state == READY && !is_reaching(s, f);
    case ACTION_TIME: return stage_can_time_out(s, f);
    case ACTION_LATE: return lives && w->late == LATE_SOON;
    case ACTION_TOLD: return lives && w->arriving;
    case ACTION_PRODDED: return w->state == WAITING && w->prodded;
    case ACTION_GONE: return w->state == ENDED && w->released && !w->gone && can_be_gone(s, f);
    case ACTION_GRAB: return mutex_can_grab(s, f, &m, &i);
    default: return f == 0 ? will_fire(s->w.timer) : f == 1 ? will_fire(s->w.alarm) : f == 2 && s->w.alarms > 0;
    }
}

static void fire(stage *s, uint32_t which)
{
    int code;
    if (which == 0) {
        s->w.timer = TIMER_FIRED;
    } else if (which == 1) {
        s->w.alarm = TIMER_IDLE;
        s->w.alarms++;
    } else {
        stage_saw(s, FIBERS_SEEN_ALARM);
        s->w.alarms--;
        chan_try_send(s, FIBERS_MOST, 0, FIBERS_ALARM_VALUE, &code);
    }
}

static void act(stage *s, enum action_kind kind, uint32_t f)
{
    fibers_case cases[FIBERS_CASES];
    uint8_t m;
    uint32_t i;
    switch (kind) {
    case ACTION_STEP: stage_step(s, f); break;
    case ACTION_TIME: stage_times_out(s, f); break;
    case ACTION_LATE: stage_late(s, f); break;
    case ACTION_TOLD: stage_cancel(s, f); break;
    case ACTION_PRODDED: stage_prodded(s, f); break;
    case ACTION_GONE: s->w.fibers[f].gone = 1; break;
    case ACTION_GRAB:
        stage_cases(s, f, cases);
        mutex_can_grab(s, f, &m, &i);
        case_do(s, f, &cases[i], i, true);
        break;
    default: fire(s, f);
    }
    stage_settle(s);
    for (f = 0; f < FIBERS_MOST && s->is_firm; f++)
        if (can_act(s, ACTION_GONE, f)) s->w.fibers[f].gone = 1;
}

static bool all_have_ended(const stage *s)
{
    for (uint32_t f = 0; f < s->program->fiber_count; f++)
        if (s->w.fibers[f].state == READY || s->w.fibers[f].state == WAITING) return false;
    return true;
}

static bool is_of_time(const world *w, enum action_kind kind, uint32_t f)
{
    return kind == ACTION_TIME || kind == ACTION_LATE ||
           (kind == ACTION_FIRE && f < 2 && (f == 0 ? w->timer : w->alarm) == TIMER_SOON);
}

/* Everything that can happen in a world, with time or without. False: nothing can. */
static bool expand_by(stage *s, const world *from, atlas *worlds, bool time, bool others)
{
    bool any = false;
    for (uint32_t a = 0; a < ACTION_KINDS * FIBERS_MOST; a++) {
        enum action_kind kind = (enum action_kind)(a / FIBERS_MOST);
        uint32_t f = a % FIBERS_MOST;
        s->w = *from;
        if (!(is_of_time(from, kind, f) ? time : others) || !can_act(s, kind, f)) continue;
        any = true;
        s->choice_count = 0;
        do {
            s->w = *from;
            s->choice_at = 0;
            act(s, kind, f);
            atlas_add(worlds, &s->w);
        } while (next_choices(s));
    }
    return any;
}

static bool expand(stage *s, const world *from, atlas *worlds)
{
    if (!s->is_quiet) return expand_by(s, from, worlds, true, true);
    return expand_by(s, from, worlds, false, true) || expand_by(s, from, worlds, true, false);
}

static void begin(stage *s)
{
    const fibers_program *p = s->program;
    memset(&s->w, 0, sizeof s->w);
    s->w.fibers[0].state = READY;
    s->w.fibers[0].released = p->is_main;
    for (uint32_t i = 0; i < FIBERS_LOCKS; i++) {
        s->w.permits[i] = p->permits[i];
        s->w.groups[i] = p->groups[i];
    }
}

static void finish_set(fibers_set *set, atlas *results)
{
    set->results = (fibers_result *)(void *)results->bytes;
    set->count = results->count;
    if (set->count > 1) set->seen[FIBERS_SEEN_TWO_RESULTS] = 1;
    rad__free(results->table);
}

/* `s` says what is to be tried. */
static void enumerate(stage s, uint32_t most_states)
{
    static atlas worlds;
    atlas results;
    fibers_set *set = s.set;
    memset(set, 0, sizeof *set);
    atlas_clear(&worlds, sizeof(world));
    atlas_open(&results, sizeof(fibers_result));
    begin(&s);
    atlas_add(&worlds, &s.w);
    set->is_whole = true;
    for (uint32_t i = 0; i < worlds.count && set->is_whole; i++) {
        world from;
        memcpy(&from, worlds.bytes + i * worlds.size, sizeof from);
        s.w = from;
        bool ends = from.is_aborted || all_have_ended(&s);
        if (!ends && expand(&s, &from, &worlds)) {
            set->is_whole = worlds.count <= most_states;
            continue;
        }
        from.result.end = from.is_aborted ? FIBERS_ABORTED : ends ? FIBERS_DONE : FIBERS_DEADLOCK;
        if (from.result.end != FIBERS_DONE) from.result.answer = 0;
        if (from.is_aborted) set->seen[FIBERS_SEEN_ABORTS] = 1;
        if (from.result.end == FIBERS_DEADLOCK) set->seen[FIBERS_SEEN_DEADLOCKS] = 1;
        atlas_add(&results, &from.result);
    }
    set->states = worlds.count;
    finish_set(set, &results);
}

void fibers_enumerate(const fibers_program *p, uint32_t most_states, fibers_set *set)
{
    enumerate((stage){.program = p, .set = set}, most_states);
}

void fibers_enumerate_parallel(const fibers_program *p, uint32_t most_states, fibers_set *set)
{
    enumerate((stage){.program = p, .set = set, .is_parallel = true}, most_states);
}

void fibers_enumerate_firm(const fibers_program *p, uint32_t most_states, bool is_quiet, fibers_set *set)
{
    enumerate((stage){.program = p, .set = set, .is_firm = true, .is_quiet = is_quiet}, most_states);
}

void fibers_enumerate_quiet(const fibers_program *p, uint32_t most_states, fibers_set *set)
{
    enumerate((stage){.program = p, .set = set, .is_quiet = true}, most_states);
}

void fibers_set_free(fibers_set *set)
{
    rad__free(set->results);
    set->results = NULL;
}

/* ---- Looking up ------------------------------------------------------------------------------------------------ */

bool fibers_is_cut_from(const fibers_result *cut, const fibers_result *whole)
{
    if (whole->end != cut->end) return false;
    for (uint32_t f = 0; f < FIBERS_MOST; f++)
        if (cut->counts[f] > whole->counts[f] ||
            memcmp(cut->log[f], whole->log[f], cut->counts[f] * sizeof(fibers_entry)) != 0)
            return false;
    return true;
}

int64_t fibers_set_find(const fibers_set *set, const fibers_result *result)
{
    for (uint32_t i = 0; i < set->count; i++)
        if (result->end == FIBERS_ABORTED ? fibers_is_cut_from(result, &set->results[i])
                                          : memcmp(&set->results[i], result, sizeof *result) == 0)
            return i;
    return -1;
}

uint32_t fibers_code_index(int8_t code)
{
    if (code == FIBERS_SKIPPED) return FIBERS_CODES - 1;
    if (code >= 0) return code < 3 ? (uint32_t)code : 3;
    return 3u - (uint32_t)code < FIBERS_CODES - 1 ? (uint32_t)(3 - code) : FIBERS_CODES - 1;
}

const char *fibers_seen_text(uint32_t seen)
{
    static const char *const texts[] = {
#define FIBERS_SEEN_TEXT(name, text) text,
        FIBERS_SEEN_LIST(FIBERS_SEEN_TEXT)
#undef FIBERS_SEEN_TEXT
    };
    return texts[seen];
}
