/* fibers_generate.c — a few themes, and operations that belong to them: fibers that do unlike things hardly meet. */
#include "fibers_generate.h"

#include "base/prng.h"

#include <raddle.h>
#include <string.h>

enum { THEME_OPS = 9 };

/* X(name, weight, operations): those that occur more than once are more likely. */
#define THEME_LIST(X)                                                                                                  \
    X(CHAN, 4, SEND, RECV, SEND, RECV, CLOSE, CODE, COUNT)                                                             \
    X(BATCH, 3, SEND_MANY, RECV_MANY, SEND_MANY, RECV_MANY, SEND, RECV, COUNT, CLOSE)                                  \
    X(SELECT, 7, SELECT, SELECT, SELECT, SELECT, SEND, RECV, CLOSE)                                                    \
    X(MUTEX, 3, LOCK, UNLOCK, LOCK_UNTIL, UNLOCK, IS_MINE, NOTE)                                                       \
    X(RW, 4, READ, WRITE, READ_UNTIL, WRITE_UNTIL, RW_UNLOCK, RW_UNLOCK, NOTE)                                         \
    X(COND, 4, COND_WAIT, COND_WAIT, SIGNAL, SIGNAL, BROADCAST, LOCK, UNLOCK, NOTE)                                    \
    X(SEM, 4, ACQUIRE, ACQUIRE, POST, POST, PERMITS, NOTE)                                                             \
    X(GROUP, 2, GROUP_DONE, GROUP_WAIT, GROUP_DONE, GROUP_WAIT, GROUP_ADD, NOTE)                                       \
    X(ONCE, 2, ONCE, ONCE, ONCE, NOTE)                                                                                 \
    X(BARRIER, 3, BARRIER, BARRIER, NOTE)                                                                              \
    X(STOCK, 4, TAKE, PUT, TAKE, PUT, TAKE, STOCK_CLOSE, STOCK_CODE)                                                   \
    X(TIMER, 3, TIMER_START, TIMER_STOP, TIMER_WAIT, TIMER_START, TIMER_WAIT, SLEEP, TICK)                             \
    X(ALARM, 2, ALARM_START, ALARM_STOP, RECV, RECV, COUNT)                                                            \
    X(JOIN, 4, JOIN, JOIN, GIVE, RELEASE, CANCEL, LOCAL_SET, NOTE)                                                     \
    X(LOCAL, 1, LOCAL_SET, LOCAL_GET, JOIN, YIELD)                                                                     \
    X(CANCEL, 7, CANCEL, CANCEL, CANCEL, IS_CANCELED, SHIELD, SHIELD, SLEEP)                                           \
    X(NURSERY, 6, NURSERY_CANCEL, NURSERY_CANCEL, NURSERY_CLOSE, NURSERY_WAIT, SLEEP, IS_CANCELED)                     \
    X(BLOCKING, 2, BLOCKING, BLOCKING, BLOCKING, RECV, SEND)                                                           \
    X(TASK, 3, TASK_JOIN, TASK_JOIN, TASK_JOIN, GIVE, NOTE)                                                            \
    X(LIMIT, 2, JOIN, RELEASE, JOIN, RELEASE, NOTE)                                                                    \
    X(MISTAKE, 1, MISTAKE, LOCK, UNLOCK, NOTE)

enum theme {
#define THEME_ENUM(name, weight, ...) THEME_##name,
    THEME_LIST(THEME_ENUM)
#undef THEME_ENUM
        THEMES
};

/* clang-format off */
#define OP_1(a)       FIBERS_##a
#define OP_2(a, ...)  FIBERS_##a, OP_1(__VA_ARGS__)
#define OP_3(a, ...)  FIBERS_##a, OP_2(__VA_ARGS__)
#define OP_4(a, ...)  FIBERS_##a, OP_3(__VA_ARGS__)
#define OP_5(a, ...)  FIBERS_##a, OP_4(__VA_ARGS__)
#define OP_6(a, ...)  FIBERS_##a, OP_5(__VA_ARGS__)
#define OP_7(a, ...)  FIBERS_##a, OP_6(__VA_ARGS__)
#define OP_8(a, ...)  FIBERS_##a, OP_7(__VA_ARGS__)
#define OP_PICK(a, b, c, d, e, f, g, h, name, ...) name
#define OP_LIST(...) OP_PICK(__VA_ARGS__, OP_8, OP_7, OP_6, OP_5, OP_4, OP_3, OP_2, OP_1, 0)(__VA_ARGS__)
/* clang-format on */

static const struct {
    uint32_t weight;
    uint8_t ops[THEME_OPS]; /* up to the first 0, which is YIELD */
} TABLE[THEMES] = {
#define THEME_ROW(name, weight, ...) [THEME_##name] = {weight, {OP_LIST(__VA_ARGS__)}},
    THEME_LIST(THEME_ROW)
#undef THEME_ROW
};

typedef struct generator {
    rad_prng prng;
    fibers_program *p;
    uint32_t themes; /* bits */
    uint8_t chosen[8], chosen_count;
    uint8_t starters[FIBERS_MOST];  /* kind of operation */
    uint8_t parents[FIBERS_MOST];   /* who does it */
    uint8_t nurseries[FIBERS_MOST]; /* into which, + 1 */
    uint8_t chan_count;
} generator;

static uint32_t below(generator *g, uint32_t count)
{
    return (uint32_t)rad__prng_below(&g->prng, count);
}

static bool has(const generator *g, enum theme theme)
{
    return g->themes & 1u << theme;
}

/* ---- Themes and objects ---------------------------------------------------------------------------------------- */

static void add_theme(generator *g, enum theme theme)
{
    if (!has(g, theme)) g->chosen[g->chosen_count++] = (uint8_t)theme;
    g->themes |= 1u << theme;
}

static void choose_theme(generator *g)
{
    uint32_t sum = 0, theme = 0;
    for (uint32_t i = 0; i < THEMES; i++) sum += TABLE[i].weight;
    uint32_t at = below(g, sum);
    while (at >= TABLE[theme].weight) at -= TABLE[theme++].weight;
    add_theme(g, (enum theme)theme);
}

static void choose_objects(generator *g)
{
    fibers_program *p = g->p;
    g->chan_count = (uint8_t)(1 + below(g, 3) / (has(g, THEME_SELECT) ? 1 : 2));
    for (uint32_t i = 0; i < FIBERS_CHANS; i++) {
        p->capacities[i] = (uint8_t)below(g, 3);
        if (p->capacities[i] > 0 && below(g, 3) == 0) p->modes[i] = (uint8_t)(1 + below(g, 2));
    }
    p->task_capacity = (uint8_t)below(g, 3);
    for (uint32_t i = 0; i < FIBERS_LOCKS; i++) p->permits[i] = (uint8_t)below(g, 3);
    p->parties = (uint8_t)(1 + (below(g, 5) + 1) / 2);
    p->stock_capacity = (uint8_t)(1 + below(g, 2));
    if (below(g, 3) == 0) p->stock_spoils = (uint8_t)below(g, 8);
    if (below(g, 4) == 0) p->stock_fails = (uint8_t)(1u << below(g, 2));
    p->blocking_threads = (uint8_t)(1 + below(g, 2));
    if (has(g, THEME_LIMIT)) {
        p->limit = (uint8_t)(2 + below(g, 2));
        p->limit_waits = below(g, 2) == 0;
    }
}

/* ---- One operation --------------------------------------------------------------------------------------------- */

static uint8_t random_until(generator *g)
{
    static const uint8_t kinds[] = {FIBERS_NEVER, FIBERS_NEVER, FIBERS_NEVER, FIBERS_NEVER, FIBERS_NOW,
                                    FIBERS_NOW,   FIBERS_SOON,  FIBERS_SOON,  FIBERS_SOON,  FIBERS_PASSED};
    return kinds[below(g, sizeof kinds)];
}

static uint8_t random_other(generator *g, uint32_t f)
{
    uint32_t j = 1 + below(g, g->p->fiber_count - 1u);
    return (uint8_t)(j == f && g->p->fiber_count > 2 ? 1 + j % (g->p->fiber_count - 1u) : j);
}

static uint8_t random_object(generator *g, uint32_t f, uint8_t kind)
{
    switch (fibers_op_object(kind)) {
    case 'c': return (uint8_t)below(g, g->chan_count);
    case 'f': return random_other(g, f);
    case 'm':
    case 'l':
    case 's':
    case 'g': return (uint8_t)(below(g, 4) == 0);
    default: return 0;
    }
}

static const uint8_t CASES_OF[THEMES][4] = {
    [THEME_CHAN] = {FIBERS_SEND, FIBERS_RECV},
    [THEME_BATCH] = {FIBERS_SEND, FIBERS_RECV},
    [THEME_SELECT] = {FIBERS_SEND, FIBERS_RECV, FIBERS_SEND, FIBERS_RECV},
    [THEME_MUTEX] = {FIBERS_LOCK_UNTIL},
    [THEME_RW] = {FIBERS_READ_UNTIL, FIBERS_WRITE_UNTIL},
    [THEME_COND] = {FIBERS_LOCK_UNTIL},
    [THEME_SEM] = {FIBERS_ACQUIRE},
    [THEME_GROUP] = {FIBERS_GROUP_WAIT},
    [THEME_STOCK] = {FIBERS_TAKE},
    [THEME_TIMER] = {FIBERS_TIMER_WAIT, FIBERS_TICK, FIBERS_SLEEP},
    [THEME_ALARM] = {FIBERS_RECV},
    [THEME_JOIN] = {FIBERS_JOIN},
    [THEME_CANCEL] = {FIBERS_ON_CANCEL},
    [THEME_NURSERY] = {FIBERS_ON_CANCEL},
    [THEME_LIMIT] = {FIBERS_JOIN},
};

static void fill_case(generator *g, uint32_t f, fibers_case *c)
{
    const uint8_t *kinds = CASES_OF[g->chosen[below(g, g->chosen_count)]];
    uint32_t count = 0;
    while (count < 4 && kinds[count] != 0) count++;
    c->kind = count == 0 ? FIBERS_RECV : kinds[below(g, count)];
    if (below(g, 20) == 0) c->kind = FIBERS_OFF;
    if (below(g, 16) == 0) c->kind = FIBERS_SLEEP;
    c->object = random_object(g, f, c->kind);
    c->number = c->kind == FIBERS_TICK ? (uint8_t)below(g, 2) : 0;
    c->until = c->kind == FIBERS_SLEEP ? random_until(g) : 0;
}

static void fill_select(generator *g, uint32_t f, fibers_op *op)
{
    op->case_count = (uint8_t)(1 + (below(g, 6) + 2) / 3);
    for (uint32_t i = 0; i < op->case_count; i++) {
        fibers_case *c = &op->cases[i];
        fill_case(g, f, c);
        for (uint32_t k = 0; k < i; k++) { /* not to read and to write the same, nor one twice */
            const fibers_case *other = &op->cases[k];
            bool same = fibers_op_object(c->kind) == fibers_op_object(other->kind) && c->object == other->object;
            if (same && fibers_op_object(c->kind) != 'c' && c->kind != FIBERS_SLEEP) c->kind = FIBERS_OFF;
        }
        if (c->kind == FIBERS_JOIN && c->object == f) c->kind = FIBERS_OFF;
    }
}

static uint8_t random_number(generator *g, uint8_t kind)
{
    switch (kind) {
    case FIBERS_SEND_MANY:
    case FIBERS_RECV_MANY: return (uint8_t)(1 + (below(g, 5) + 2) / 2 % FIBERS_BATCH);
    case FIBERS_CLOSE:
    case FIBERS_STOCK_CLOSE: return (uint8_t)(below(g, 2) + 2);
    case FIBERS_ACQUIRE:
    case FIBERS_POST:
    case FIBERS_GROUP_ADD: return (uint8_t)(1 + below(g, 2));
    case FIBERS_ONCE: return (uint8_t)(below(g, 2) * 7);
    case FIBERS_SHIELD:
    case FIBERS_TICK: return (uint8_t)below(g, 2);
    case FIBERS_NURSERY_CANCEL: return (uint8_t)(below(g, 2) * 9);
    case FIBERS_BLOCKING:
    case FIBERS_LOCAL_SET: return (uint8_t)below(g, 3);
    default: return (uint8_t)(1 + below(g, 3));
    }
}

static void fill_op(generator *g, uint32_t f, uint8_t kind, fibers_op *op)
{
    memset(op, 0, sizeof *op);
    op->kind = kind;
    op->object = random_object(g, f, kind);
    op->number = random_number(g, kind);
    if (fibers_op_waits(kind)) op->until = random_until(g);
    if (kind == FIBERS_SELECT) fill_select(g, f, op);
}

/* ---- Who starts whom ------------------------------------------------------------------------------------------- */

static bool has_opened(const generator *g, uint32_t f)
{
    const fibers_fiber *fiber = &g->p->fibers[f];
    return fiber->op_count > 0 && fiber->ops[0].kind == FIBERS_OPEN;
}

static bool add(generator *g, uint32_t f, const fibers_op *op)
{
    fibers_fiber *fiber = &g->p->fibers[f];
    if (fiber->op_count == FIBERS_OPS) return false;
    fiber->ops[fiber->op_count++] = *op;
    return true;
}

/* A nursery that the parent has opened, or opens now, or is in. */
static uint8_t nursery_for(generator *g, uint32_t parent)
{
    fibers_op op;
    if (g->nurseries[parent] > 0 && below(g, 3) == 0) return g->nurseries[parent];
    if (!has_opened(g, parent)) {
        fill_op(g, parent, FIBERS_OPEN, &op);
        op.until = below(g, 2) > 0 ? FIBERS_NEVER : random_until(g);
        if (g->p->fibers[parent].op_count > 0) return 0;
        add(g, parent, &op);
    }
    return (uint8_t)(parent + 1);
}

/* A task might receive itself; and what it sends or receives depends on when it is joined at the end. */
static bool is_below_task(const generator *g, uint32_t f)
{
    for (; f > 0; f = g->parents[f])
        if (g->starters[f] == FIBERS_TASK) return true;
    return false;
}

static void start_fiber(generator *g, uint32_t j)
{
    uint32_t parent = below(g, 3) > 0 ? 0 : below(g, j);
    uint8_t kind = FIBERS_SPAWN, owner = 0;
    fibers_op op;
    if (has(g, THEME_NURSERY) && below(g, 3) == 0) parent = j - 1; /* one nursery in another */
    while (g->p->fibers[parent].is_sender) parent--;
    if (has(g, THEME_NURSERY) && below(g, 5) > 0) {
        owner = nursery_for(g, parent);
        kind = owner == 0 ? FIBERS_SPAWN : below(g, 2) > 0 ? FIBERS_NURSERY_SPAWN : FIBERS_NURSERY_GO;
    } else if (has(g, THEME_TASK) && g->p->limit == 0 && !is_below_task(g, parent) && below(g, 4) > 0) {
        kind = FIBERS_TASK;
    } else if ((has(g, THEME_CHAN) || has(g, THEME_SELECT)) && below(g, 6) == 0) {
        kind = FIBERS_SEND_SPAWN;
    }
    fill_op(g, parent, kind, &op);
    op.object = kind == FIBERS_NURSERY_SPAWN || kind == FIBERS_NURSERY_GO ? (uint8_t)(owner - 1) : (uint8_t)j;
    op.number = kind == FIBERS_NURSERY_SPAWN || kind == FIBERS_NURSERY_GO ? (uint8_t)j : 0;
    g->starters[j] = kind;
    g->parents[j] = (uint8_t)parent;
    g->nurseries[j] = owner;
    if (!add(g, parent, &op)) g->starters[j] = 0;
    if (kind != FIBERS_SEND_SPAWN) return;
    g->p->fibers[j].is_sender = 1;
    fill_op(g, j, FIBERS_SEND, &op);
    add(g, j, &op);
}

/* ---- What they do ---------------------------------------------------------------------------------------------- */

static uint8_t random_kind(generator *g)
{
    const uint8_t *ops = TABLE[g->chosen[below(g, g->chosen_count)]].ops;
    uint32_t count = 0;
    while (count < THEME_OPS && ops[count] != FIBERS_YIELD) count++;
    if (below(g, 40) == 0) return below(g, 2) ? FIBERS_SLEEP : FIBERS_YIELD;
    if (below(g, 40) == 0) return FIBERS_SELECT;
    return ops[below(g, count)];
}

/* A nursery that this fiber may use: its own, or one it is in, or one above. */
static bool choose_nursery(generator *g, uint32_t f, fibers_op *op)
{
    uint32_t at = f;
    if (has_opened(g, f) && below(g, 3) > 0) {
        op->object = (uint8_t)f;
        return true;
    }
    while (g->nurseries[at] > 0 && below(g, 3) == 0) at = g->nurseries[at] - 1u;
    if (g->nurseries[at] == 0) at = f;
    if (g->nurseries[at] == 0) {
        op->object = (uint8_t)f;
        return has_opened(g, f);
    }
    op->object = (uint8_t)(g->nurseries[at] - 1);
    return true;
}

/* Who comes back last is taken first. */
static void add_stock_round(generator *g, uint32_t f)
{
    static const uint8_t kinds[] = {FIBERS_TAKE, FIBERS_TAKE, FIBERS_PUT, FIBERS_PUT, FIBERS_TAKE};
    g->p->stock_capacity = 2;
    for (uint32_t i = 0; i < sizeof kinds; i++) {
        fibers_op op;
        fill_op(g, f, kinds[i], &op);
        add(g, f, &op);
    }
}

static void add_random(generator *g, uint32_t f)
{
    fibers_op op, lock;
    uint8_t kind = random_kind(g);
    fill_op(g, f, kind, &op);
    if (kind == FIBERS_TAKE && below(g, 4) == 0) {
        add_stock_round(g, f);
        return;
    }
    if ((kind == FIBERS_NURSERY_CANCEL || kind == FIBERS_NURSERY_CLOSE) && !choose_nursery(g, f, &op))
        fill_op(g, f, FIBERS_SLEEP, &op);
    if (kind == FIBERS_NURSERY_WAIT && !has_opened(g, f)) fill_op(g, f, FIBERS_SLEEP, &op);
    if ((kind == FIBERS_JOIN || kind == FIBERS_RELEASE) && op.object == f) fill_op(g, f, FIBERS_NOTE, &op);
    if (kind == FIBERS_TASK_JOIN && is_below_task(g, f)) fill_op(g, f, FIBERS_NOTE, &op);
    if (kind == FIBERS_COND_WAIT) { /* by a holder; noted, so that the order of waiting is known */
        fill_op(g, f, FIBERS_LOCK, &lock);
        lock.object = 0;
        add(g, f, &lock);
        fill_op(g, f, FIBERS_NOTE, &lock);
        if (below(g, 2)) add(g, f, &lock);
    }
    add(g, f, &op);
    if (kind == FIBERS_COND_WAIT && below(g, 2)) {
        fill_op(g, f, FIBERS_UNLOCK, &op);
        op.object = 0;
        add(g, f, &op);
    }
}

/* Operations of a fiber are in any order, but for the opening of its nursery. */
static void shuffle(generator *g, uint32_t f)
{
    fibers_fiber *fiber = &g->p->fibers[f];
    uint32_t from = has_opened(g, f), swaps = below(g, 3);
    for (; swaps > 0 && fiber->op_count > from + 1u; swaps--) {
        uint32_t i = from + below(g, fiber->op_count - from - 1u);
        fibers_op op = fiber->ops[i];
        fiber->ops[i] = fiber->ops[i + 1];
        fiber->ops[i + 1] = op;
    }
}

/* Fibers that all do the same, so that several of them wait for one thing. */
static void make_alike(generator *g)
{
    fibers_fiber *one = &g->p->fibers[1];
    for (uint32_t j = 1; j < g->p->fiber_count; j++)
        if (g->parents[j] != 0 || g->p->fibers[j].is_sender || has_opened(g, j)) return;
    if (one->op_count > 4) one->op_count = 4;
    for (uint32_t j = 2; j < g->p->fiber_count; j++) {
        fibers_fiber *other = &g->p->fibers[j];
        memcpy(other->ops, one->ops, sizeof one->ops);
        other->op_count = one->op_count;
        for (uint32_t i = 0; i < other->op_count; i++) {
            fibers_op *op = &other->ops[i];
            if ((fibers_op_object(op->kind) == 'f' && op->object == j) ||
                (fibers_op_object(op->kind) == 'n' && g->nurseries[j] != g->nurseries[1]) ||
                (op->kind == FIBERS_TASK_JOIN && is_below_task(g, j)))
                op->kind = FIBERS_NOTE;
            for (uint32_t k = 0; k < op->case_count; k++)
                if (op->cases[k].kind == FIBERS_JOIN && op->cases[k].object == j) op->cases[k].kind = FIBERS_OFF;
        }
    }
}

/* ---- Scenes ---------------------------------------------------------------------------------------------------- */

/* Some fibers wait for one thing, and the first one helps or disturbs them. X(theme, before, waits, helps) */
#define SCENE_LIST(X)                                                                                                  \
    X(CHAN, NOTE, (RECV, RECV_MANY, SELECT), (SEND, SEND_MANY, CLOSE))                                                 \
    X(CHAN, NOTE, (SEND, SEND_MANY, SELECT), (RECV, RECV_MANY, CLOSE))                                                 \
    X(SELECT, NOTE, (SELECT, SELECT, SEND), (RECV, SELECT, CLOSE))                                                     \
    X(MUTEX, LOCK, (LOCK_UNTIL, LOCK, SELECT), (UNLOCK, UNLOCK, LOCK_UNTIL))                                           \
    X(RW, WRITE, (READ_UNTIL, WRITE_UNTIL, SELECT), (RW_UNLOCK, RW_UNLOCK, WRITE_UNTIL))                               \
    X(RW, READ, (WRITE_UNTIL, READ_UNTIL, SELECT), (RW_UNLOCK, JOIN, NOTE))                                            \
    X(RW, READ, (WRITE, READ, SELECT), (RW_UNLOCK, RW_UNLOCK, READ_UNTIL))                                             \
    X(COND, NOTE, (COND_WAIT, COND_WAIT, COND_WAIT), (SIGNAL, BROADCAST, SIGNAL))                                      \
    X(COND, NOTE, (COND_WAIT, COND_WAIT, COND_WAIT), (BROADCAST, BROADCAST, NOTE))                                     \
    X(COND, LOCK, (COND_WAIT, COND_WAIT, LOCK), (SIGNAL, UNLOCK, SIGNAL))                                              \
    X(SEM, NOTE, (ACQUIRE, ACQUIRE, SELECT), (POST, POST, PERMITS))                                                    \
    X(SEM, ACQUIRE, (ACQUIRE, ACQUIRE, ACQUIRE), (POST, POST, ACQUIRE))                                                \
    X(GROUP, NOTE, (GROUP_WAIT, GROUP_WAIT, SELECT), (GROUP_DONE, GROUP_DONE, GROUP_ADD))                              \
    X(ONCE, ONCE, (ONCE, ONCE, ONCE), (ONCE, NOTE, SLEEP))                                                             \
    X(BARRIER, NOTE, (BARRIER, BARRIER, BARRIER), (BARRIER, NOTE, SLEEP))                                              \
    X(STOCK, TAKE, (TAKE, TAKE, SELECT), (PUT, PUT, STOCK_CLOSE))                                                      \
    X(TIMER, NOTE, (TIMER_WAIT, TIMER_WAIT, SELECT), (TIMER_START, TIMER_STOP, TIMER_START))                           \
    X(JOIN, NOTE, (JOIN, JOIN, SELECT), (RELEASE, GIVE, JOIN))                                                         \
    X(TASK, NOTE, (TASK_JOIN, TASK_JOIN, SLEEP), (TASK_JOIN, NOTE, SLEEP))                                             \
    X(BLOCKING, BLOCKING, (BLOCKING, BLOCKING, BLOCKING), (RECV, SEND, NOTE))                                          \
    X(CANCEL, NOTE, (SLEEP, SELECT, TICK), (IS_CANCELED, SLEEP, NOTE))

enum { SCENE_OPS = 3 };

/* clang-format off */
#define SCENE_OPS_OF(a, b, c) {FIBERS_##a, FIBERS_##b, FIBERS_##c}
/* clang-format on */

static const struct {
    uint8_t theme, before, waits[SCENE_OPS], helps[SCENE_OPS];
} SCENES[] = {
#define SCENE_ROW(theme, before, waits, helps) {THEME_##theme, FIBERS_##before, SCENE_OPS_OF waits, SCENE_OPS_OF helps},
    SCENE_LIST(SCENE_ROW)
#undef SCENE_ROW
};

static void add_kind(generator *g, uint32_t f, uint8_t kind)
{
    fibers_op op;
    if (kind == FIBERS_COND_WAIT && below(g, 8) > 0) {
        fill_op(g, f, FIBERS_LOCK, &op);
        op.object = 0;
        add(g, f, &op);
        fill_op(g, f, FIBERS_NOTE, &op);
        if (below(g, 2)) add(g, f, &op);
    }
    fill_op(g, f, kind, &op);
    if (fibers_op_object(kind) != 'f') op.object = 0;
    for (uint32_t i = 0; i < op.case_count; i++)
        if (fibers_op_object(op.cases[i].kind) != 'f' && below(g, 3) > 0 && i == 0) op.cases[i].object = 0;
    if ((kind == FIBERS_JOIN || kind == FIBERS_RELEASE) && op.object == f) op.kind = FIBERS_NOTE;
    if (kind == FIBERS_TASK_JOIN && is_below_task(g, f)) { /* it is waited for instead */
        fill_op(g, f, FIBERS_SLEEP, &op);
        op.until = below(g, 2) ? FIBERS_NEVER : FIBERS_SOON;
    }
    add(g, f, &op);
}

static void add_waiter(generator *g, uint32_t f, uint32_t scene)
{
    fibers_op op;
    uint32_t extra = below(g, 6);
    if (g->p->fibers[f].is_sender) return;
    if (below(g, 8) == 0) {
        fill_op(g, f, FIBERS_SHIELD, &op);
        op.number = 1;
        add(g, f, &op);
        if (below(g, 3) == 0) { /* twice, and once back */
            add(g, f, &op);
            op.number = 0;
            add(g, f, &op);
        }
    }
    if (SCENES[scene].theme == THEME_STOCK && extra == 4 && f == 1) {
        add_stock_round(g, f);
        return;
    }
    if (extra == 0) add_kind(g, f, FIBERS_NOTE);
    add_kind(g, f, SCENES[scene].waits[below(g, SCENE_OPS)]);
    if (extra == 1) add_kind(g, f, SCENES[scene].waits[below(g, SCENE_OPS)]);
    if (extra == 2) add_kind(g, f, SCENES[scene].helps[below(g, SCENE_OPS)]);
    if (extra == 3) add_kind(g, f, FIBERS_IS_CANCELED);
    if (extra >= 4 && SCENES[scene].theme == THEME_RW) { /* readers are in at the same time */
        g->p->parties = 2;
        add_kind(g, f, FIBERS_BARRIER);
    }
}

static void add_disturbance(generator *g)
{
    fibers_op op;
    bool nursery = has_opened(g, 0) && below(g, 2) > 0;
    fill_op(g, 0, nursery ? FIBERS_NURSERY_CANCEL : FIBERS_CANCEL, &op);
    add(g, 0, &op);
}

static void play_scene(generator *g)
{
    uint32_t scene = below(g, sizeof SCENES / sizeof *SCENES), helps = 1 + below(g, 2);
    uint32_t disturbed = below(g, 3);
    add_theme(g, (enum theme)SCENES[scene].theme);
    if (below(g, 3) == 0) add_theme(g, THEME_NURSERY);
    if (below(g, 4) == 0) add_theme(g, THEME_CANCEL);
    if (below(g, 10) == 0) add_theme(g, THEME_LIMIT);
    choose_objects(g);
    if (SCENES[scene].theme == THEME_SEM) g->p->permits[0] /= 2;
    g->p->fiber_count = (uint8_t)(3 + (below(g, 3) == 0));
    for (uint32_t j = 1; j < g->p->fiber_count; j++) start_fiber(g, j);
    for (uint32_t j = 1; j < g->p->fiber_count; j++) add_waiter(g, j, scene);
    fibers_fiber *first = &g->p->fibers[0];
    if (SCENES[scene].before != FIBERS_NOTE && first->op_count < FIBERS_OPS) {
        uint32_t at = has_opened(g, 0);
        add_kind(g, 0, SCENES[scene].before);
        fibers_op before = first->ops[first->op_count - 1];
        memmove(&first->ops[at + 1], &first->ops[at], (first->op_count - 1u - at) * sizeof before);
        first->ops[at] = before;
    }
    if (SCENES[scene].theme == THEME_COND && below(g, 2)) { /* it knows who waits */
        add_kind(g, 0, FIBERS_LOCK);
        add_kind(g, 0, FIBERS_NOTE);
    }
    if (disturbed == 1) add_disturbance(g);
    for (; helps > 0; helps--) add_kind(g, 0, SCENES[scene].helps[below(g, SCENE_OPS)]);
    if (disturbed == 2) add_disturbance(g);
    if (below(g, 2)) make_alike(g);
}

static void add_exactly(generator *g, uint32_t f, uint8_t kind, uint8_t object, uint8_t until)
{
    fibers_op op = {.kind = kind, .object = object, .until = until};
    add(g, f, &op);
}

/* One that wants to write leaves, by a deadline or a cancellation, and one that wants to read is behind it. The lock
 * stays with a reader, so nobody else lets it in. */
static void play_writer_leaves(generator *g)
{
    bool selects = below(g, 2), cancels = below(g, 2);
    fibers_op op = {.kind = FIBERS_SELECT, .case_count = 2, .until = FIBERS_SOON};
    op.cases[0] = (fibers_case){.kind = FIBERS_WRITE_UNTIL};
    op.cases[1] = (fibers_case){.kind = FIBERS_RECV};
    choose_objects(g);
    if (cancels) op.until = FIBERS_NEVER;
    g->p->fiber_count = 3;
    add_exactly(g, 0, FIBERS_READ, 0, 0);
    add_exactly(g, 0, FIBERS_SPAWN, 1, 0);
    add_exactly(g, 0, FIBERS_SPAWN, 2, 0);
    if (cancels) add_exactly(g, 0, FIBERS_CANCEL, 1, 0);
    add_exactly(g, 0, FIBERS_JOIN, 2, FIBERS_NEVER);
    if (selects)
        add(g, 1, &op);
    else
        add_exactly(g, 1, FIBERS_WRITE_UNTIL, 0, op.until);
    add_exactly(g, 2, below(g, 2) ? FIBERS_READ : FIBERS_READ_UNTIL, 0, FIBERS_NEVER);
}

static void play_freely(generator *g)
{
    static const uint8_t sizes[] = {2, 2, 3, 3, 3, 3, 4, 4, 4, 5};
    fibers_program *p = g->p;
    for (uint32_t n = 1 + below(g, 2); n > 0; n--) choose_theme(g);
    if (below(g, 4) == 0) add_theme(g, THEME_CANCEL);
    choose_objects(g);
    bool alike = below(g, 4) == 0;
    p->fiber_count = sizes[below(g, sizeof sizes)];
    for (uint32_t j = 1; j < p->fiber_count; j++) start_fiber(g, j);
    uint32_t budget = 3 + below(g, 5) + p->fiber_count;
    for (uint32_t n = 0; n < budget; n++) {
        uint32_t f = below(g, p->fiber_count);
        if (!p->fibers[f].is_sender) add_random(g, f);
    }
    for (uint32_t f = 0; f < p->fiber_count; f++)
        if (!p->fibers[f].is_sender) shuffle(g, f);
    if (alike) make_alike(g);
}

/* As many are to be done as will be; or one more, which nobody ever does. No fiber that is given up is in a select. */
static void make_valid(generator *g)
{
    fibers_program *p = g->p;
    uint32_t released = 0;
    for (uint32_t i = 0; i < FIBERS_MOST * FIBERS_OPS; i++) {
        const fibers_op *op = &p->fibers[i / FIBERS_OPS].ops[i % FIBERS_OPS];
        if (i % FIBERS_OPS >= p->fibers[i / FIBERS_OPS].op_count) continue;
        if (op->kind == FIBERS_GROUP_DONE) p->groups[op->object]++;
        if (op->kind == FIBERS_RELEASE) released |= 1u << op->object;
    }
    for (uint32_t i = 0; i < FIBERS_MOST * FIBERS_OPS; i++) {
        fibers_op *op = &p->fibers[i / FIBERS_OPS].ops[i % FIBERS_OPS];
        if (p->limit > 0 && (op->kind == FIBERS_TIMER_START || op->kind == FIBERS_ALARM_START))
            op->kind = FIBERS_NOTE; /* a timer that runs is a fiber, too */
        bool is_far = op->kind == FIBERS_TICK && op->number == 0;
        for (uint32_t k = 0; k < op->case_count; k++) {
            if (op->cases[k].kind == FIBERS_JOIN && released & 1u << op->cases[k].object)
                op->cases[k].kind = FIBERS_OFF;
            is_far = is_far || (op->cases[k].kind == FIBERS_TICK && op->cases[k].number == 0);
        }
        if (is_far && op->until == FIBERS_NEVER) op->until = FIBERS_SOON; /* years are no deadlock */
    }
    if (below(g, 16) == 0) p->groups[0]++;
}

void fibers_generate(uint64_t seed, fibers_program *p)
{
    generator g = {.prng = rad__prng(seed, RAD_STREAM_CASE, 0), .p = p};
    memset(p, 0, sizeof *p);
    if (below(&g, 80) == 0)
        play_writer_leaves(&g);
    else if (below(&g, 2) == 0)
        play_scene(&g);
    else
        play_freely(&g);
    for (uint32_t f = 0; f < p->fiber_count; f++) {
        uint32_t returns = below(&g, 4);
        p->fibers[f].returns = returns == 0 ? 0 : returns == 1 ? (uint8_t)(20 + f) : FIBERS_RETURNS_LAST;
    }
    make_valid(&g);
}

/* ---- Small programs -------------------------------------------------------------------------------------------- */

static bool starts_fiber(const fibers_op *op)
{
    return op->kind == FIBERS_SPAWN || op->kind == FIBERS_SEND_SPAWN || op->kind == FIBERS_TASK ||
           op->kind == FIBERS_NURSERY_SPAWN || op->kind == FIBERS_NURSERY_GO;
}

static uint32_t count_ops(const fibers_program *p, bool starts)
{
    uint32_t count = 0;
    for (uint32_t f = 0; f < p->fiber_count; f++)
        for (uint32_t i = 0; i < p->fibers[f].op_count; i++) count += starts_fiber(&p->fibers[f].ops[i]) == starts;
    return count;
}

/* Others than those that start fibers, or only these. */
static void delete_some(generator *g, bool starts, uint32_t left)
{
    fibers_program *p = g->p;
    for (uint32_t tries = 0; count_ops(p, starts) > left && tries < 200; tries++) {
        uint32_t f = below(g, p->fiber_count), i = below(g, FIBERS_OPS);
        if (i < p->fibers[f].op_count && starts_fiber(&p->fibers[f].ops[i]) == starts) fibers_delete_op(p, f, i);
    }
}

void fibers_generate_small(uint64_t seed, fibers_program *p)
{
    generator g = {.prng = rad__prng(seed, RAD_STREAM_CASE, 1), .p = p};
    fibers_generate(seed, p);
    delete_some(&g, true, 1 + below(&g, 5) / 3);
    delete_some(&g, false, 2 + below(&g, 4));
}
