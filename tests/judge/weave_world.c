/* weave_world.c — what a weave means: what is enabled, and what a step does. Nothing here knows of schedules. */
#include "weave.h"

#include <string.h>

static void begin_actor(struct weave_world *s, uint32_t actor)
{
    s->exists[actor] = 1;
}

void weave_begin(const struct weave *w, struct weave_world *s)
{
    memset(s, 0, sizeof *s);
    s->failed = s->failed_object = -1;
    for (uint32_t i = 0; i < WEAVE_GATES; i++) s->holder[i] = WEAVE_ACTORS;
    for (uint32_t i = 0; i < w->first_actors; i++) begin_actor(s, i);
}

const struct weave_op *weave_next(const struct weave *w, const struct weave_world *s, uint32_t actor)
{
    const struct weave_actor *a = &w->actors[actor];
    return s->exists[actor] && s->pc[actor] < a->count ? &a->ops[s->pc[actor]] : NULL;
}

bool weave_enabled(const struct weave *w, const struct weave_world *s, uint32_t action)
{
    const struct weave_op *op = weave_next(w, s, action / 2);
    if (!op) return false;
    if (action % 2 == 1) return op->kind == WEAVE_RACE;
    if (op->kind == WEAVE_LOCK) return s->holder[op->object] == WEAVE_ACTORS;
    if (op->kind == WEAVE_AWAIT || op->kind == WEAVE_RACE) return s->cells[op->object] >= op->value;
    return true;
}

static void fail(struct weave_world *s, uint32_t oracle, bool blind, uint32_t object)
{
    s->failed = (int8_t)oracle;
    s->failed_object = (int8_t)(blind ? -1 : (int)object);
}

/* One choice, and where that was not 0 another one, with as many sides as the first came to and one more. Some
 * choices come to the same. */
static uint8_t pick_twice(const struct weave_op *op, weave_picker *pick, void *context)
{
    uint32_t first = pick(context, RAD_PICK_VALUE, op->count);
    return (uint8_t)(first == 0 ? 0 : first + pick(context, RAD_PICK_FAULT, first + 1));
}

static void do_op(struct weave_world *s, uint32_t actor, bool gives_up, const struct weave_op *op,
                  struct weave_deed *deed)
{
    uint8_t *cell = &s->cells[op->object % WEAVE_CELLS];
    switch ((enum weave_op_kind)op->kind) {
    case WEAVE_READ: s->reg[actor] = *cell; break;
    case WEAVE_WRITE: *cell = op->value; break;
    case WEAVE_STORE: *cell = (uint8_t)(s->reg[actor] + op->value); break;
    case WEAVE_ADD: *cell = (uint8_t)(*cell + op->value); break;
    case WEAVE_MOVE: s->cells[op->other] = *cell; break;
    case WEAVE_LOCK: s->holder[op->object] = (uint8_t)actor; break;
    case WEAVE_UNLOCK: s->holder[op->object] = WEAVE_ACTORS; break;
    case WEAVE_SPAWN:
        if (!s->exists[4 + actor]) begin_actor(s, (uint32_t)(deed->spawned = (int)(4 + actor)));
        break;
    case WEAVE_YIELD: deed->yields = true; break;
    case WEAVE_CHECK:
        deed->checked = op->oracle;
        if (*cell == op->value) fail(s, op->oracle, op->blind, op->object);
        break;
    case WEAVE_RACE: s->reg[actor] = gives_up ? 9 : *cell; break;
    case WEAVE_TAKE:
        deed->looked = *cell == 1;
        *cell = 1;
        break;
    case WEAVE_TRY:
        deed->yields = op->polite && *cell < op->value;
        s->tries[actor]++;
        break;
    case WEAVE_SPIN: deed->yields = op->count > 1 && *cell < op->value; break;
    case WEAVE_LOCAL:
    case WEAVE_PICK:
    case WEAVE_AWAIT:
    case WEAVE_OP_KINDS: break;
    }
    deed->value = (uint8_t)(weave_object(op) < WEAVE_CELLS ? *cell : 0);
}

void weave_step(const struct weave *w, struct weave_world *s, uint32_t action, weave_picker *pick, void *context,
                struct weave_deed *deed)
{
    uint32_t actor = action / 2;
    const struct weave_op *op = weave_next(w, s, actor);
    *deed = (struct weave_deed){.checked = -1, .spawned = -1};
    if (op->kind == WEAVE_PICK) s->cells[op->object] = pick_twice(op, pick, context);
    do_op(s, actor, action % 2 == 1, op, deed);
    bool looks = op->kind == WEAVE_SPIN || op->kind == WEAVE_TRY;
    bool stays = looks ? s->cells[op->object] < op->value : deed->looked;
    if (op->kind == WEAVE_TRY && (!stays || s->tries[actor] == op->count)) {
        s->reg[actor] = s->cells[op->object];
        s->tries[actor] = 0;
        stays = false;
    }
    if (!stays) s->pc[actor]++;
    deed->ended = weave_next(w, s, actor) == NULL;
}

bool weave_broken(const struct weave *w, const struct weave_world *s)
{
    return w->invariant != 0 && s->cells[0] == w->invariant;
}

bool weave_stuck(const struct weave *w, const struct weave_world *s)
{
    for (uint32_t i = 0; i < WEAVE_ACTORS; i++)
        if (weave_next(w, s, i)) return !w->tolerant;
    return false;
}

enum rad_access weave_access(const struct weave_op *op)
{
    switch ((enum weave_op_kind)op->kind) {
    case WEAVE_LOCAL:
    case WEAVE_SPAWN:
    case WEAVE_YIELD: return RAD_LOCAL;
    case WEAVE_READ:
    case WEAVE_MOVE:
    case WEAVE_CHECK:
    case WEAVE_AWAIT:
    case WEAVE_SPIN:
    case WEAVE_TRY:
    case WEAVE_RACE: return RAD_READ;
    default: return RAD_WRITE;
    }
}

uint32_t weave_object(const struct weave_op *op)
{
    switch ((enum weave_op_kind)op->kind) {
    case WEAVE_LOCAL:
    case WEAVE_SPAWN:
    case WEAVE_YIELD: return WEAVE_OBJECTS;
    case WEAVE_LOCK:
    case WEAVE_UNLOCK: return WEAVE_CELLS + op->object;
    default: return op->object;
    }
}
