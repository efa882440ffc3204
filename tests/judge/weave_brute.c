/* weave_brute.c — every schedule of a weave, by recursion over copies of the world. */
#include "weave_brute.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOBODY = WEAVE_ACTORS };

/* A run up to some point: the world, what the kernel knows of it, and what has been counted. */
struct trail {
    struct weave_world s;
    struct weave_leaf leaf;
    uint8_t number[WEAVE_ACTIONS]; /* UINT8_MAX: does not exist yet */
    uint8_t numbers;
    uint8_t actor_number[WEAVE_ACTORS], actors;
    bool on[WEAVE_ACTIONS];
    uint8_t since[WEAVE_ACTIONS]; /* the step after which it was enabled */
    uint8_t current;              /* actor, or NOBODY */
    uint8_t last;                 /* its action */
    bool yielded;
    bool held[WEAVE_ACTORS]; /* not offered */
    struct weave_window {
        bool open;
        bool able[WEAVE_ACTORS], stopped[WEAVE_ACTORS], ran[WEAVE_ACTORS]; /* since it is open */
    } window[WEAVE_ACTORS];
    bool behind[WEAVE_ACTORS][WEAVE_ACTORS];
    bool waits_for[WEAVE_ACTORS][WEAVE_ACTORS]; /* who spins, and for whom */
    uint32_t looks[WEAVE_ACTORS][WEAVE_STEPS];
    uint8_t look_count[WEAVE_ACTORS];
    bool spins[WEAVE_ACTORS]; /* in its last look, and has done nothing else since */
    uint8_t rounds[WEAVE_ACTORS],
        round_looks[WEAVE_ACTORS]; /* that let nobody go first; looks of one that is not over */
    uint8_t evaluations[RAD_ORACLES_MAX];
    uint64_t event[WEAVE_ACTORS];                         /* the last event of each actor, with its causes */
    uint64_t written[WEAVE_OBJECTS], read[WEAVE_OBJECTS]; /* the last write, the reads since */
    /* The same, as the steps that each depends on. */
    uint32_t past[WEAVE_ACTORS], written_past[WEAVE_OBJECTS], read_past[WEAVE_OBJECTS];
};

/* ---- The enabled set ------------------------------------------------------------------------------------- */

static void number_action(struct trail *t, uint32_t action)
{
    if (t->number[action] == UINT8_MAX) t->number[action] = t->numbers++;
}

static void look_around(const struct weave *w, struct trail *t, uint32_t ran, struct weave_book *b)
{
    for (uint32_t i = 0; i < WEAVE_ACTIONS; i++) {
        bool on = weave_enabled(w, &t->s, i);
        if (on) number_action(t, i);
        if (on && !t->on[i]) t->since[i] = (uint8_t)(3 * t->leaf.steps + (i == ran));
        if (!on && t->on[i] && weave_next(w, &t->s, i / 2)) b->blocked++;
        t->on[i] = on;
    }
}

static void begin(const struct weave *w, struct trail *t, struct weave_book *b)
{
    memset(t, 0, sizeof *t);
    memset(t->number, 0xff, sizeof t->number);
    t->current = NOBODY;
    t->leaf.path = WEAVE_PATH_BEGIN;
    t->leaf.identity = t->leaf.oracle = -1;
    weave_begin(w, &t->s);
    for (uint32_t i = 0; i < w->first_actors; i++) {
        number_action(t, 2 * i);
        t->actor_number[i] = t->actors++;
    }
    look_around(w, t, WEAVE_ACTIONS, b);
    if (w->invariant != 0) t->evaluations[RAD_ORACLE_INVARIANT]++;
}

/* ---- Fairness -------------------------------------------------------------------------------------------- */

/* What an actor saw, from the last look on, are three equal rounds: of how many looks; or 0. */
static uint32_t spins(const uint32_t *looks, uint32_t count)
{
    for (uint32_t period = 1; period <= 64 && 3 * period <= count; period++) {
        uint32_t at = count - 2 * period;
        while (at < count && looks[at] == looks[at - period]) at++;
        if (at == count) return period;
    }
    return 0;
}

/* Whether an actor that yields continues as if it did not; and one that spins, by rounds of `looks` looks. */
static bool goes_on(const struct weave *w, struct trail *t, uint32_t actor)
{
    bool goes = t->rounds[actor] < w->spin_rounds;
    t->rounds[actor] = (uint8_t)(t->rounds[actor] + goes);
    return goes;
}

static bool looks_on(const struct weave *w, struct trail *t, uint32_t actor, uint32_t looks)
{
    if (t->rounds[actor] == w->spin_rounds) return false;
    if (++t->round_looks[actor] < looks) return true;
    t->round_looks[actor] = 0;
    return goes_on(w, t, actor);
}

static bool repeats(const uint32_t *looks, uint32_t count)
{
    bool found = false;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < i; j++) found = found || looks[i] == looks[j];
    return found;
}

/* A step of an actor, which touched an object or WEAVE_OBJECTS, and changed something or not. */
static uint32_t note_look(struct trail *t, uint32_t action, const struct weave_op *op, const struct weave_deed *deed,
                          bool effect)
{
    uint32_t actor = action / 2, object = weave_object(op);
    if (!effect && object == WEAVE_OBJECTS) return 0;
    bool writes = weave_access(op) == RAD_WRITE && !deed->looked;
    if (effect || writes || op->kind == WEAVE_MOVE) {
        t->look_count[actor] = 0;
        t->spins[actor] = false;
        return 0;
    }
    t->looks[actor][t->look_count[actor]++] =
        ((action * WEAVE_OP_KINDS + op->kind) * WEAVE_OBJECTS + object) * 256 + deed->value;
    uint32_t period = spins(t->looks[actor], t->look_count[actor]);
    t->spins[actor] = period > 0;
    return period;
}

static bool can_go(const bool on[WEAVE_ACTIONS], uint32_t actor)
{
    return on[2 * actor] || on[2 * actor + 1];
}

static void close_window(struct trail *t, uint32_t actor)
{
    struct weave_window *w = &t->window[actor];
    for (uint32_t i = 0; i < WEAVE_ACTORS; i++) {
        if (w->open && !w->ran[i] && (w->able[i] || w->stopped[i])) t->behind[actor][i] = true;
        w->able[i] = can_go(t->on, i);
        w->stopped[i] = false;
        w->ran[i] = !t->s.exists[i]; /* who comes later is not starved in this one */
    }
    w->open = true;
}

/* After a step of `actor`; `before` is what was enabled before it. `looked`: the step was a look. */
static void be_fair(struct trail *t, uint32_t actor, const bool before[WEAVE_ACTIONS], bool looked)
{
    bool spun = looked && t->spins[actor];
    for (uint32_t i = 0; i < WEAVE_ACTORS; i++) {
        struct weave_window *w = &t->window[i];
        t->behind[i][actor] = false;
        if (spun) t->waits_for[i][actor] = false;
        for (uint32_t j = 0; j < WEAVE_ACTORS && !looked; j++) t->waits_for[i][j] = false;
        w->ran[actor] = true;
        for (uint32_t j = 0; j < WEAVE_ACTORS; j++) {
            w->able[j] = w->able[j] && can_go(t->on, j);
            if (i == actor && can_go(before, j) && !can_go(t->on, j)) w->stopped[j] = true;
        }
    }
    for (uint32_t i = 0; i < WEAVE_ACTORS && spun; i++) t->waits_for[actor][i] = i != actor && can_go(t->on, i);
    /* No run here is so long that spinning ends a window. */
    if (t->yielded && !(spun && t->window[actor].open)) close_window(t, actor);
    for (uint32_t i = 0; i < WEAVE_ACTORS; i++) {
        bool held = false;
        for (uint32_t j = 0; j < WEAVE_ACTORS; j++)
            held = held || ((t->behind[i][j] || t->waits_for[i][j]) && can_go(t->on, j));
        for (uint32_t a = 2 * i; a < 2 * i + 2 && t->held[i] && !held; a++)
            if (t->on[a]) t->since[a] = (uint8_t)(3 * t->leaf.steps + 2);
        t->held[i] = held;
    }
}

/* ---- Choices ---------------------------------------------------------------------------------------------- */

/* The action of choice 0, of those that are offered. */
static uint32_t baseline(const struct trail *t, const bool on[WEAVE_ACTIONS])
{
    uint32_t best = WEAVE_ACTIONS;
    bool stays = t->current != NOBODY && !t->yielded && can_go(on, t->current);
    if (stays && on[t->last]) return t->last;
    for (int others = 1; others >= 0 && best == WEAVE_ACTIONS; others--) {
        for (uint32_t i = 0; i < WEAVE_ACTIONS; i++) {
            if (!on[i] || (stays && i / 2 != t->current)) continue;
            if (!stays && others && t->yielded && i / 2 == t->current) continue;
            if (best == WEAVE_ACTIONS || (!stays && t->since[i] < t->since[best]) ||
                ((stays || t->since[i] == t->since[best]) && t->number[i] < t->number[best]))
                best = i;
        }
    }
    return best;
}

/* The enabled actions in the order of choices; returns how many. */
static uint32_t choices_of(const struct trail *t, uint8_t order[WEAVE_ACTIONS], uint32_t *first)
{
    uint32_t count = 0, smallest = WEAVE_ACTIONS;
    bool on[WEAVE_ACTIONS];
    for (uint32_t i = 0; i < WEAVE_ACTIONS; i++) on[i] = t->on[i] && !t->held[i / 2];
    uint32_t base = baseline(t, on);
    if (base < WEAVE_ACTIONS) order[count++] = (uint8_t)base;
    for (uint32_t number = 0; number < t->numbers; number++) {
        for (uint32_t i = 0; i < WEAVE_ACTIONS; i++) {
            if (t->number[i] != number || !on[i]) continue;
            if (smallest == WEAVE_ACTIONS) smallest = i;
            if (i != base) order[count++] = (uint8_t)i;
        }
    }
    for (*first = 0; *first < count && order[*first] != smallest;) ++*first;
    return count;
}

/* ---- What is counted ------------------------------------------------------------------------------------- */

static void note_choice(struct trail *t, uint32_t choice, uint32_t delays)
{
    struct weave_leaf *leaf = &t->leaf;
    assert(leaf->decisions < WEAVE_DECISIONS);
    leaf->choices[leaf->decisions++] = (uint8_t)choice;
    if (choice != 0) {
        leaf->nonzero++;
        leaf->length = leaf->decisions;
    }
    leaf->delays = (uint8_t)(leaf->delays + delays);
}

static void note_switch(struct trail *t, uint32_t actor)
{
    t->leaf.actors[t->leaf.steps] = t->actor_number[actor];
    t->leaf.turns[t->leaf.steps] = RAD_SWITCH_NONE;
    if (t->current == NOBODY || t->current == actor) return;
    t->leaf.turns[t->leaf.steps] = RAD_SWITCH_FORCED;
    t->leaf.switches++;
    if (t->yielded || t->held[t->current] || t->on[2 * t->current] == t->on[2 * t->current + 1]) return;
    t->leaf.turns[t->leaf.steps] = RAD_SWITCH_PREEMPTIVE;
    t->leaf.preemptions++;
}

static void touch(struct trail *t, uint64_t *event, uint32_t *past, uint32_t object, enum rad_access access)
{
    if (object >= WEAVE_OBJECTS || access == RAD_LOCAL) return;
    *past |= t->written_past[object] | (access == RAD_WRITE ? t->read_past[object] : 0);
    *event = weave_mix(*event ^ weave_mix(t->written[object] + object));
    if (access == RAD_WRITE) *event = weave_mix(*event ^ weave_mix(t->read[object] + 99));
}

static void touched(struct trail *t, uint64_t event, uint32_t past, uint32_t object, enum rad_access access)
{
    if (object >= WEAVE_OBJECTS || access == RAD_LOCAL) return;
    if (access == RAD_READ) {
        t->read[object] += event;
        t->read_past[object] |= past;
    } else {
        t->written[object] = event;
        t->read[object] = 0;
        t->written_past[object] = past;
        t->read_past[object] = 0;
    }
}

/* An event is what was done, and every event that it depends on: of its actor, and of its objects. A run's class is the
 * sum of its events, so the order of independent ones does not count. */
static void note_event(struct trail *t, const struct weave_op *op, uint32_t action, uint64_t picks)
{
    uint32_t actor = action / 2;
    uint64_t event = weave_mix(t->event[actor] ^ weave_mix(picks + action * 100 + op->kind));
    uint32_t past = t->past[actor] | 1u << t->leaf.steps;
    touch(t, &event, &past, weave_object(op), weave_access(op));
    if (op->kind == WEAVE_MOVE) touch(t, &event, &past, op->other, RAD_WRITE);
    touched(t, event, past, weave_object(op), weave_access(op));
    if (op->kind == WEAVE_MOVE) touched(t, event, past, op->other, RAD_WRITE);
    t->event[actor] = event;
    t->past[actor] = t->leaf.past = past;
    t->leaf.class_ += event;
}

static void add_role(char *name, const char *role)
{
    size_t length = strlen(name);
    snprintf(name + length, WEAVE_NAME - length, "%c%s", strchr(name, ':') ? '+' : ':', role);
}

/* The roles of what the stuck actors wait for, each once, in the order of the alphabet. */
static void add_waits(const struct weave *w, const struct weave_world *s, char *name)
{
    static const char *const roles[] = {"cell", "door", "flag", "gate", "sum"};
    for (uint32_t r = 0; r < WEAVE_OBJECTS; r++) {
        bool waited = false;
        for (uint32_t i = 0; i < WEAVE_ACTORS; i++) {
            const struct weave_op *op = weave_next(w, s, i);
            waited = waited || (op && strcmp(weave_role(w, weave_object(op)), roles[r]) == 0);
        }
        if (waited) add_role(name, roles[r]);
    }
}

static void identity_of(const struct weave *w, const struct weave_world *s, char name[WEAVE_NAME])
{
    static const char *const names[] = {[RAD_ORACLE_DEADLOCK] = "deadlock",
                                        [RAD_ORACLE_ASSERT] = "assertion",
                                        [RAD_ORACLE_INVARIANT] = "invariant",
                                        [RAD_ORACLE_OWN] = "odd",
                                        [RAD_ORACLE_OWN + 1] = "late"};
    snprintf(name, WEAVE_NAME, "%s",
             w->crashes && s->failed == RAD_ORACLE_ASSERT ? "crash:exit status 3" : names[s->failed]);
    if (name[0] == 'c') return;
    if (s->failed_object >= 0) add_role(name, weave_role(w, (uint32_t)s->failed_object));
    if (s->failed == RAD_ORACLE_DEADLOCK && !(w->manner & WEAVE_SILENT)) add_waits(w, s, name);
    if (s->failed != RAD_ORACLE_DEADLOCK) /* the site is what rad_fail was called with */
        snprintf(name + strlen(name), WEAVE_NAME - strlen(name), "@oracle %%d, object %%d");
}

static void add_leaf(const struct weave *w, struct trail *t, uint32_t limit, struct weave_book *b)
{
    if (t->s.failed >= 0) {
        char name[WEAVE_NAME] = "";
        uint32_t i = 0;
        identity_of(w, &t->s, name);
        while (i < b->identity_count && strcmp(b->identities[i], name) != 0) i++;
        assert(i < WEAVE_IDENTITIES);
        if (i == b->identity_count) memcpy(b->identities[b->identity_count++], name, WEAVE_NAME);
        t->leaf.identity = (int8_t)i;
        t->leaf.oracle = t->s.failed;
    }
    t->leaf.outcome = weave_outcome(&t->s);
    b->steps += t->leaf.steps;
    for (uint32_t i = 0; i < RAD_ORACLES_MAX; i++) b->evaluations[i] += t->evaluations[i];
    if (b->count == limit) {
        b->too_many = true;
        return;
    }
    if (b->count == b->room) {
        b->room = b->room ? 2 * b->room : 64;
        b->leaves = realloc(b->leaves, b->room * sizeof *b->leaves);
        assert(b->leaves);
    }
    b->leaves[b->count++] = t->leaf;
}

static void add_state(const struct weave_world *s, struct weave_book *b)
{
    uint64_t h = 3;
    const uint8_t *bytes = (const uint8_t *)s;
    for (size_t i = 0; i < sizeof *s; i++) h = weave_path(h, bytes[i]);
    uint32_t at = 0;
    while (at < b->state_count && b->states[at] < h) at++;
    if (at < b->state_count && b->states[at] == h) return;
    if (b->state_count == b->state_room) {
        b->state_room = b->state_room ? 2 * b->state_room : 64;
        b->states = realloc(b->states, b->state_room * sizeof *b->states);
        assert(b->states);
    }
    memmove(&b->states[at + 1], &b->states[at], (b->state_count - at) * sizeof *b->states);
    b->states[at] = h;
    b->state_count++;
}

/* ---- A step ----------------------------------------------------------------------------------------------- */

/* Chooses inside a step, and notes what was chosen among how many. */
struct inner {
    struct trail *t;
    weave_chooser *choose;
    void *context;
    uint64_t picks;
    uint32_t asked, counts[WEAVE_PICKS];
};

static uint32_t inner_pick(void *context, enum rad_pick_kind kind, uint32_t count)
{
    struct inner *in = context;
    struct weave_decision d = {
        .kind = kind, .count = count, .number = in->t->leaf.decisions, .current = in->t->current};
    uint32_t chosen = count > 1 ? in->choose(in->context, &d) : 0;
    assert(chosen < count && in->asked < WEAVE_PICKS);
    in->counts[in->asked++] = count;
    in->picks = in->picks * 10 + chosen + 1;
    in->t->leaf.path = weave_path(in->t->leaf.path, 1000 + chosen);
    if (count > 1) note_choice(in->t, chosen, 0);
    return chosen;
}

/* False: the run has ended with this step. */
static bool advance(const struct weave *w, struct trail *t, uint32_t action, struct inner *in, struct weave_book *b)
{
    struct weave_deed deed;
    uint32_t actor = action / 2, decisions = t->leaf.decisions;
    const struct weave_op *op = weave_next(w, &t->s, actor);
    bool before[WEAVE_ACTIONS];
    memcpy(before, t->on, sizeof before);
    in->t = t;
    note_switch(t, actor);
    t->current = (uint8_t)actor;
    t->last = (uint8_t)action;
    t->leaf.path = weave_path(t->leaf.path, action);
    weave_step(w, &t->s, action, inner_pick, in, &deed);
    note_event(t, op, action, in->picks);
    t->leaf.steps++;
    t->yielded = deed.yields && !goes_on(w, t, actor);
    b->reached[op->kind] = true;
    b->picks += in->asked;
    b->yields += deed.yields;
    if (deed.checked >= 0) t->evaluations[deed.checked]++;
    if (deed.spawned >= 0) {
        b->spawns++;
        number_action(t, 2 * (uint32_t)deed.spawned);
        t->event[deed.spawned] = t->event[actor];
        t->past[deed.spawned] = t->past[actor];
        t->actor_number[deed.spawned] = t->actors++;
    }
    t->on[action] = false; /* it waits anew, behind those that this step enabled */
    look_around(w, t, action, b);
    uint32_t looks = t->look_count[actor];
    bool effect = decisions != t->leaf.decisions || memcmp(before, t->on, sizeof before) != 0 || deed.yields;
    uint32_t period = note_look(t, action, op, &deed, effect);
    b->spins += period > 0;
    b->plain = b->plain && !deed.yields && period == 0;
    if (period > 0 && looks_on(w, t, actor, period))
        t->spins[actor] = false;
    else if (period > 0)
        t->yielded = true;
    b->plain = b->plain && !repeats(t->looks[actor], t->look_count[actor]);
    be_fair(t, actor, before, t->look_count[actor] > looks);
    for (uint32_t i = 0; i < WEAVE_ACTORS; i++) b->held += t->held[i] && can_go(t->on, i);
    if (t->s.failed < 0 && w->invariant != 0) {
        t->evaluations[RAD_ORACLE_INVARIANT]++;
        if (weave_broken(w, &t->s)) {
            t->s.failed = RAD_ORACLE_INVARIANT;
            t->s.failed_object = 0;
        }
    }
    return t->s.failed < 0;
}

static void come_to_rest(const struct weave *w, struct trail *t)
{
    t->evaluations[RAD_ORACLE_DEADLOCK]++;
    if (weave_stuck(w, &t->s)) t->s.failed = RAD_ORACLE_DEADLOCK;
}

/* ---- All schedules ------------------------------------------------------------------------------------------ */

/* Answers what it was set to, for every combination in turn. */
struct wheel {
    uint32_t set[WEAVE_PICKS], at;
};

static uint32_t wheel_choose(void *context, const struct weave_decision *d)
{
    struct wheel *wheel = context;
    (void)d;
    return wheel->set[wheel->at++];
}

static void walk(const struct weave *w, const struct trail *t, uint32_t limit, struct weave_book *b)
{
    uint8_t order[WEAVE_ACTIONS];
    uint32_t first, count = choices_of(t, order, &first);
    if (b->too_many) return;
    if (count > 0 && w->max_steps && t->leaf.steps == w->max_steps) {
        struct trail cut = *t;
        cut.leaf.cut = true;
        add_leaf(w, &cut, limit, b);
        return;
    }
    if (count > 0 && t->leaf.steps == WEAVE_STEPS) {
        b->too_many = true; /* perhaps it does not end */
        return;
    }
    if (count > 1) add_state(&t->s, b);
    for (uint32_t i = 0; i < count; i++) {
        struct wheel wheel = {0};
        if (i > 0 && order[i] / 2 == order[0] / 2) b->alternatives++;
        for (bool more = true; more;) {
            struct trail next = *t;
            struct inner in = {.choose = wheel_choose, .context = &wheel};
            wheel.at = 0;
            if (count > 1) note_choice(&next, i, i);
            if (advance(w, &next, order[i], &in, b))
                walk(w, &next, limit, b);
            else
                add_leaf(w, &next, limit, b);
            more = false;
            for (uint32_t p = wheel.at; p-- > 0 && !more;) {
                uint32_t sides = 0, seen = 0;
                for (uint32_t a = 0; a < in.asked; a++)
                    if (in.counts[a] > 1 && seen++ == p) sides = in.counts[a];
                more = ++wheel.set[p] < sides;
                if (!more) wheel.set[p] = 0;
            }
        }
    }
    if (count == 0) {
        struct trail end = *t;
        come_to_rest(w, &end);
        add_leaf(w, &end, limit, b);
    }
}

void weave_brute(const struct weave *w, uint32_t limit, struct weave_book *b)
{
    struct trail t;
    memset(b, 0, sizeof *b);
    b->plain = true;
    begin(w, &t, b);
    walk(w, &t, limit, b);
}

void weave_book_free(struct weave_book *b)
{
    free(b->leaves);
    free(b->states);
    memset(b, 0, sizeof *b);
}

/* ---- One run ------------------------------------------------------------------------------------------------ */

void weave_run_by(const struct weave *w, weave_chooser *choose, void *context, struct weave_book *b,
                  struct weave_leaf *out)
{
    struct trail t;
    bool running = true;
    begin(w, &t, b);
    while (running) {
        uint8_t order[WEAVE_ACTIONS];
        struct inner in = {.choose = choose, .context = context};
        struct weave_decision d = {.actions = order,
                                   .numbers = t.number,
                                   .since = t.since,
                                   .enabled = t.on,
                                   .current = t.current,
                                   .number = t.leaf.decisions,
                                   .step = t.leaf.steps};
        d.count = choices_of(&t, order, &d.first);
        if (d.count == 0) {
            come_to_rest(w, &t);
            break;
        }
        uint32_t chosen = d.count > 1 ? choose(context, &d) : 0;
        if (d.count > 1) note_choice(&t, chosen, chosen);
        running = advance(w, &t, order[chosen], &in, b);
    }
    b->count = 0;
    add_leaf(w, &t, UINT32_MAX, b);
    *out = b->leaves[0];
}

struct list {
    const uint32_t *choices;
    uint32_t length;
};

static uint32_t list_choose(void *context, const struct weave_decision *d)
{
    const struct list *list = context;
    uint32_t choice = d->number < list->length ? list->choices[d->number] : 0;
    return choice < d->count ? choice : d->count - 1;
}

void weave_run_list(const struct weave *w, const uint32_t *list, uint32_t length, struct weave_book *b,
                    struct weave_leaf *out)
{
    struct list l = {list, length};
    weave_run_by(w, list_choose, &l, b, out);
}

/* ---- Questions ----------------------------------------------------------------------------------------------- */

uint64_t weave_class_of(const struct weave_leaf *leaf)
{
    return leaf->class_;
}

uint64_t weave_outcome_of(const struct weave_leaf *leaf)
{
    return leaf->outcome;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

uint32_t weave_distinct(const struct weave_book *b, uint64_t (*of)(const struct weave_leaf *))
{
    uint64_t *values = malloc((b->count + 1) * sizeof *values);
    uint32_t distinct = 0;
    assert(values);
    for (uint32_t i = 0; i < b->count; i++) values[i] = of(&b->leaves[i]);
    qsort(values, b->count, sizeof *values, compare);
    for (uint32_t i = 0; i < b->count; i++) distinct += i == 0 || values[i] != values[i - 1];
    free(values);
    return distinct;
}

uint32_t weave_fewest(const struct weave_book *b, const char *identity)
{
    uint32_t fewest = UINT32_MAX;
    for (uint32_t i = 0; i < b->count; i++) {
        const struct weave_leaf *leaf = &b->leaves[i];
        if (leaf->identity < 0 || strcmp(b->identities[leaf->identity], identity) != 0) continue;
        if (leaf->preemptions < fewest) fewest = leaf->preemptions;
    }
    return fewest;
}

const struct weave_leaf *weave_find(const struct weave_book *b, uint64_t path)
{
    for (uint32_t i = 0; i < b->count; i++)
        if (b->leaves[i].path == path) return &b->leaves[i];
    return NULL;
}
