/* weave.c — drawing a weave from its seed. */
#include "weave.h"

#include <stdio.h>
#include <string.h>

uint64_t weave_mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

struct dice {
    uint64_t state;
};

static uint32_t roll(struct dice *d, uint32_t sides)
{
    d->state = weave_mix(d->state);
    return (uint32_t)((d->state >> 32) % sides);
}

/* Most accesses meet at cell 0. */
static uint8_t draw_cell(struct dice *d)
{
    return (uint8_t)(roll(d, 3) != 0 ? 0 : roll(d, WEAVE_CELLS));
}

static struct weave_op draw_check(struct dice *d, const struct weave_case *c)
{
    static const uint8_t oracles[] = {RAD_ORACLE_ASSERT, RAD_ORACLE_ASSERT, RAD_ORACLE_OWN, RAD_ORACLE_OWN + 1};
    struct weave_op op = {.kind = WEAVE_CHECK, .object = draw_cell(d)};
    op.value = (uint8_t)(1 + (roll(d, 3) == 0) + (uint32_t)c->slack);
    op.oracle = oracles[roll(d, 4)];
    op.blind = roll(d, 6) == 0;
    return op;
}

static struct weave_op draw_op(struct dice *d, const struct weave_case *c, bool may_spawn)
{
    static const uint8_t kinds[] = {WEAVE_READ,  WEAVE_WRITE, WEAVE_STORE, WEAVE_ADD,   WEAVE_ADD,
                                    WEAVE_MOVE,  WEAVE_LOCAL, WEAVE_PICK,  WEAVE_PICK,  WEAVE_SPAWN,
                                    WEAVE_SPAWN, WEAVE_SPAWN, WEAVE_YIELD, WEAVE_CHECK, WEAVE_CHECK,
                                    WEAVE_CHECK, WEAVE_CHECK, WEAVE_AWAIT, WEAVE_RACE,  WEAVE_RACE};
    struct weave_op op = {.kind = kinds[roll(d, sizeof kinds)]};
    if (op.kind == WEAVE_SPAWN && !may_spawn) op.kind = WEAVE_CHECK;
    if (op.kind == WEAVE_CHECK) return draw_check(d, c);
    op.object = draw_cell(d);
    op.other = (uint8_t)((op.object + 1 + roll(d, WEAVE_CELLS - 1)) % WEAVE_CELLS);
    op.value = (uint8_t)(op.kind == WEAVE_WRITE ? roll(d, 3) : 1);
    op.count = (uint8_t)(1 + roll(d, 3)); /* a count of 1 is not a decision */
    return op;
}

/* The end of what `op` begins: a section under a lock, a change in two parts, an increment in two parts. */
static struct weave_op closing(struct weave_op op)
{
    if (op.kind == WEAVE_LOCK) op.kind = WEAVE_UNLOCK;
    if (op.kind == WEAVE_READ) op.kind = WEAVE_STORE;
    if (op.kind == WEAVE_WRITE) op.value = 0;
    return op;
}

/* One pair that belongs together, some of them without its end, and other operations around. */
static void draw_actor(struct dice *d, const struct weave_case *c, struct weave_actor *a, bool may_spawn)
{
    static const uint8_t openings[] = {WEAVE_LOCK, WEAVE_LOCK, WEAVE_READ, WEAVE_WRITE, WEAVE_WRITE};
    a->count = (uint8_t)(1 + roll(d, WEAVE_OPS));
    for (uint32_t i = 0; i < a->count; i++) a->ops[i] = draw_op(d, c, may_spawn);
    uint32_t from = roll(d, a->count), to = from + 1 + roll(d, 2);
    struct weave_op open = {.kind = openings[roll(d, 5)], .value = 1};
    open.object = (uint8_t)(open.kind == WEAVE_LOCK ? roll(d, WEAVE_GATES) : draw_cell(d));
    if (roll(d, 4) != 0 && (a->count > 1 || roll(d, 4) == 0)) {
        a->ops[from] = open;
        if (to < a->count) a->ops[to] = closing(open);
    }
    if (c->ops < a->count) a->count = (uint8_t)c->ops;
}

static void make_additions(struct weave *w, const struct weave_case *c)
{
    for (uint32_t i = 0; i < WEAVE_ACTORS; i++) {
        uint32_t count = c->fixed == WEAVE_UNEQUAL ? 1 + i : (uint32_t)c->ops;
        w->actors[i].count = (uint8_t)(count < WEAVE_OPS ? count : WEAVE_OPS);
        for (uint32_t o = 0; o < WEAVE_OPS; o++) w->actors[i].ops[o] = (struct weave_op){.kind = WEAVE_ADD, .value = 1};
    }
}

/* One that waits for cell 0 to become 1 by looking at it, with or without a yield, and one that lets it. */
static void draw_spin(struct dice *d, struct weave *w)
{
    uint32_t spinner = roll(d, w->first_actors), other = (spinner + 1) % w->first_actors;
    struct weave_op spin = {.kind = WEAVE_SPIN, .value = 1, .count = (uint8_t)(1 + roll(d, 2))};
    for (uint32_t i = 0; i < 2; i++) {
        struct weave_actor *a = &w->actors[i == 0 ? spinner : other];
        if (a->count == 0) a->count = 1;
        a->ops[roll(d, a->count)] = i == 0 ? spin : (struct weave_op){.kind = WEAVE_ADD, .value = 1};
    }
    if (roll(d, 3) == 0) w->actors[other].ops[0] = spin;
}

/* Two that take turns at cell 0: a lock, which the second may forget to give back. */
static void draw_take(struct dice *d, struct weave *w)
{
    for (uint32_t i = 0; i < 2 && i < w->first_actors; i++) {
        struct weave_actor *a = &w->actors[i];
        if (a->count < 2) a->count = 2;
        a->ops[0] = (struct weave_op){.kind = WEAVE_TAKE, .value = 1};
        if (i == 0 || roll(d, 8) != 0) a->ops[a->count - 1] = (struct weave_op){.kind = WEAVE_WRITE, .value = 0};
    }
}

/* One that looks at cell 0 a few times, with or without a yield, and then waits for it, or goes on without: that may be
 * a failure. And one that lets it become 1. */
static void draw_try(struct dice *d, struct weave *w)
{
    uint32_t one = roll(d, w->first_actors), other = (one + 1) % w->first_actors;
    struct weave_actor *a = &w->actors[one], *b = &w->actors[other];
    bool waits = roll(d, 2) == 0;
    a->ops[0] = (struct weave_op){.kind = WEAVE_TRY, .value = 1, .polite = roll(d, 2) == 0};
    a->ops[0].count = (uint8_t)(a->ops[0].polite ? 2 + roll(d, 3) : 4 + roll(d, 3));
    a->ops[1] = (struct weave_op){.kind = waits ? WEAVE_AWAIT : WEAVE_STORE, .object = waits ? 0 : 1, .value = 1};
    if (!waits)
        a->ops[2] = (struct weave_op){.kind = WEAVE_CHECK, .object = 1, .value = 1, .oracle = RAD_ORACLE_ASSERT};
    if (a->count < 3 - waits) a->count = (uint8_t)(3 - waits);
    if (b->count == 0) b->count = 1;
    b->ops[waits ? roll(d, b->count) : 0] = (struct weave_op){.kind = WEAVE_ADD, .value = 1};
}

void weave_make(struct weave *w, const struct weave_case *c)
{
    struct dice d = {weave_mix((uint64_t)c->seed)};
    *w = (struct weave){.first_actors = (uint8_t)c->actors};
    if (c->fixed >= WEAVE_EQUAL) {
        make_additions(w, c);
        return;
    }
    w->tolerant = roll(&d, 4) == 0;
    w->invariant = (uint8_t)(roll(&d, 3) == 0 ? 2 + roll(&d, 2) : 0);
    w->manner = (uint8_t)roll(&d, 64);
    w->same_role = (uint8_t)roll(&d, WEAVE_CELLS);
    w->crashes = roll(&d, 16) == 0;
    bool may_spawn = roll(&d, 2) == 0;
    for (uint32_t i = 0; i < WEAVE_ACTORS; i++) {
        struct dice own = {weave_mix((uint64_t)c->seed + 1000 * (i + 1))};
        draw_actor(&own, c, &w->actors[i], may_spawn && i < 2);
    }
    if (c->fixed == WEAVE_SPINNING) draw_spin(&d, w);
    if (c->fixed == WEAVE_TAKING) draw_take(&d, w);
    if (c->fixed == WEAVE_TRYING) draw_try(&d, w);
}

const char *weave_role(const struct weave *w, uint32_t object)
{
    static const char *const roles[WEAVE_OBJECTS] = {"cell", "flag", "sum", "gate", "door"};
    if (object < WEAVE_CELLS && object <= w->same_role) return roles[0];
    return roles[object];
}

static const char *const op_names[] = {"read",  "write", "store", "add",   "move", "local", "lock", "unlock", "pick",
                                       "spawn", "yield", "check", "await", "race", "spin",  "take", "try"};

const char *weave_op_name(uint32_t kind)
{
    return kind < WEAVE_OP_KINDS ? op_names[kind] : NULL;
}

const char *const *weave_oracles(void)
{
    static const char *const oracles[] = {"odd", "late", NULL};
    return oracles;
}

void weave_print(const struct weave *w)
{
    printf("# %u actors, invariant %u, %smanner %u%s\n", w->first_actors, w->invariant, w->tolerant ? "tolerant, " : "",
           w->manner, w->crashes ? ", crashes" : "");
    for (uint32_t i = 0; i < WEAVE_ACTORS; i++) {
        printf("#  %u%s", i, i < w->first_actors ? ":" : " (spare):");
        for (uint32_t o = 0; o < w->actors[i].count; o++) {
            const struct weave_op *op = &w->actors[i].ops[o];
            printf(" %s %u,%u=%u/%u;", op_names[op->kind], op->object, op->other, op->value, op->count);
        }
        printf("\n");
    }
}

uint64_t weave_path(uint64_t path, uint32_t what)
{
    return weave_mix(path ^ ((uint64_t)what + 1));
}

uint64_t weave_outcome(const struct weave_world *s)
{
    uint64_t h = weave_path(7, (uint32_t)(s->failed + 1) * 64 + (uint32_t)(s->failed_object + 1));
    for (uint32_t i = 0; i < WEAVE_CELLS; i++) h = weave_path(h, s->cells[i]);
    for (uint32_t i = 0; i < WEAVE_ACTORS; i++) h = weave_path(h, s->reg[i] * 256u + s->pc[i]);
    return h;
}
