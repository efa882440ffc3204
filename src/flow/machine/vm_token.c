/* vm_token.c — tokens: making, placing, waiting, ending; and what they hold. See vm.h. */
#include "base/alloc.h"
#include "base/prng.h"
#include "flow/machine/vm.h"

#include <stdio.h>
#include <string.h>

/* ---- Places that are used again ------------------------------------------------------------------------------- */

uint32_t rad__pool_take(rad_flow_pool *pool, void **items, size_t size)
{
    if (pool->free != 0) { /* the number of the next free one lies in the place */
        uint32_t at = pool->free - 1;
        memcpy(&pool->free, (char *)*items + size * at, sizeof pool->free);
        return at;
    }
    if (RAD_UNLIKELY(pool->count == pool->capacity) && !rad__grow(items, &pool->capacity, pool->count + 1, size))
        return RAD_NONE;
    return pool->count++;
}

void rad__pool_give(rad_flow_pool *pool, void *items, size_t size, uint32_t at)
{
    memcpy((char *)items + size * at, &pool->free, sizeof pool->free);
    pool->free = at + 1;
}

/* ---- Paths ------------------------------------------------------------------------------- */

/* Whether a child comes before (statement, index). */
static bool child_before(const rad_token *t, uint32_t statement, uint32_t index)
{
    return t->statement != statement ? t->statement < statement : t->index < index;
}

static bool child_is(const rad_token *t, uint32_t statement, uint32_t index)
{
    return t->statement == statement && t->index == index;
}

/* The last child before the place where this one is or belongs; RAD_NONE: it is the first. Forks make their branches
 * in order, so the search goes on where the last one ended. */
static uint32_t child_place(rad_flow_vm *vm, uint32_t parent, uint32_t statement, uint32_t index)
{
    rad_token *p = &vm->tokens[parent];
    uint32_t at = p->cursor;
    if (at == RAD_NONE || !child_before(&vm->tokens[at], statement, index)) {
        at = p->first_child;
        if (at == RAD_NONE || !child_before(&vm->tokens[at], statement, index)) return RAD_NONE;
    }
    for (;;) {
        uint32_t next = vm->tokens[at].next_sibling;
        if (next == RAD_NONE || !child_before(&vm->tokens[next], statement, index)) break;
        at = next;
    }
    return p->cursor = at;
}

/* "/3.1'2" */
static size_t path_part(const rad_token *t, char part[48])
{
    int length = t->ordinal > 1 ? snprintf(part, 48, "/%u.%u'%u", t->statement, t->index, t->ordinal)
                                : snprintf(part, 48, "/%u.%u", t->statement, t->index);
    return (size_t)length;
}

/* The name of its actor: in the lab its path, elsewhere nobody reads it. */
static const char *token_role(rad_flow_vm *vm, uint32_t parent, uint32_t statement, uint32_t index, uint32_t ordinal)
{
    char path[160];
    const rad_token child = {.statement = statement, .index = index, .ordinal = ordinal};
    if (!vm->named) return "token";
    if (parent == RAD_NONE) return "0";
    rad__flow_path(vm, parent, path, sizeof path - 48);
    size_t used = strlen(path);
    const char *role = rad__arena_text(&vm->names, path, used + path_part(&child, path + used));
    return role != NULL ? role : "token";
}

static uint32_t digits(uint32_t n)
{
    uint32_t count = 1;
    for (; n > 9; n /= 10) count++;
    return count;
}

static uint64_t path_hash(uint64_t above, uint32_t statement, uint32_t index, uint32_t ordinal)
{
    uint64_t own = (uint64_t)statement << 32 | index;
    return rad__mix64(rad__mix64(above ^ own) + ordinal);
}

/* The token of a path that goes on from another one's; *key: where it is in the map, or belongs. */
static uint32_t path_look_up(const rad_flow_vm *vm, const rad_token *wanted, uint64_t *key)
{
    for (*key = wanted->path_hash;; ++*key) { /* nearly always the first */
        uint32_t at = rad__map64_find(&vm->path_map, *key);
        if (at == RAD_NONE) return RAD_NONE;
        const rad_token *t = &vm->tokens[at];
        if (t->parent == wanted->parent && t->statement == wanted->statement && t->index == wanted->index &&
            t->ordinal == wanted->ordinal)
            return at;
    }
}

/* What the world answers has a path on it. Nobody answers in a simulated one. */
static bool path_keep(rad_flow_vm *vm, uint32_t token)
{
    uint64_t key;
    if (vm->world != RAD_WORLD_LIVE) return true;
    path_look_up(vm, &vm->tokens[token], &key);
    return rad__map64_add(&vm->path_map, key, token);
}

static uint32_t token_new(rad_flow_vm *vm, uint32_t parent, uint32_t statement, uint32_t index, uint32_t ordinal)
{
    uint32_t at = vm->token_count;
    if (at >= RAD_FLOW_TOKENS_MAX) {
        rad__flow_broken(vm, RAD_ELIMIT, "more than 4 million paths");
        return RAD_NONE;
    }
    uint32_t actor = rad_actor(vm->k, parent, token_role(vm, parent, statement, index, ordinal));
    if (!RAD_GROW(&vm->tokens, &vm->token_capacity, at + 1) || actor == RAD_NONE ||
        rad_action(vm->k, 0, actor, RAD_NONE, 0) == RAD_NONE) {
        rad__flow_broken(vm, RAD_ENOMEM, "out of memory for tokens");
        return RAD_NONE;
    }
    uint64_t above = parent != RAD_NONE ? vm->tokens[parent].path_hash : 0;
    vm->tokens[at] = (rad_token){
        .parent = parent,
        .statement = statement,
        .index = index,
        .ordinal = ordinal,
        .first_child = RAD_NONE,
        .next_sibling = RAD_NONE,
        .head = RAD_NONE,
        .older_ordinal = RAD_NONE,
        .next_ordinal = RAD_NONE,
        .hint = RAD_NONE,
        .cursor = RAD_NONE,
        .path_hash = path_hash(above, statement, index, ordinal),
        .object = RAD_NONE,
        .path_length = 1,
    };
    if (parent != RAD_NONE) {
        uint32_t length = vm->tokens[parent].path_length + 2 + digits(statement) + digits(index);
        if (ordinal > 1) length += 1 + digits(ordinal);
        vm->tokens[at].path_length = length;
        if (length > RAD_FLOW_KEY_MAX - 16) { /* of multi joins one after the other */
            rad__flow_broken(vm, RAD_ELIMIT, "a path has more than 8,000 characters");
            return RAD_NONE;
        }
    }
    if (!path_keep(vm, at)) {
        rad__flow_broken(vm, RAD_ENOMEM, "out of memory for tokens");
        return RAD_NONE;
    }
    vm->token_count++;
    return at;
}

/* The first one of this statement and index, alive or not; or new. */
static uint32_t token_head(rad_flow_vm *vm, uint32_t parent, uint32_t statement, uint32_t index)
{
    uint32_t before = child_place(vm, parent, statement, index);
    uint32_t at = before != RAD_NONE ? vm->tokens[before].next_sibling : vm->tokens[parent].first_child;
    if (at != RAD_NONE && child_is(&vm->tokens[at], statement, index)) return at;
    uint32_t new = token_new(vm, parent, statement, index, 1);
    if (new == RAD_NONE) return RAD_NONE;
    vm->tokens[new].next_sibling = at;
    *(before != RAD_NONE ? &vm->tokens[before].next_sibling : &vm->tokens[parent].first_child) = new;
    return new;
}

/* The dead one with the least ordinal; or new. */
static uint32_t token_at_path(rad_flow_vm *vm, uint32_t parent, uint32_t statement, uint32_t index)
{
    uint32_t head = token_head(vm, parent, statement, index);
    if (head == RAD_NONE || !vm->tokens[head].alive) return head;
    uint32_t last = vm->tokens[head].hint != RAD_NONE ? vm->tokens[head].hint : head;
    while (vm->tokens[last].next_ordinal != RAD_NONE && vm->tokens[vm->tokens[last].next_ordinal].alive)
        last = vm->tokens[last].next_ordinal;
    vm->tokens[head].hint = last;
    uint32_t at = vm->tokens[last].next_ordinal;
    if (at != RAD_NONE) return at;
    at = token_new(vm, parent, statement, index, vm->tokens[last].ordinal + 1);
    if (at == RAD_NONE) return RAD_NONE;
    vm->tokens[at].head = head;
    vm->tokens[at].older_ordinal = last;
    vm->tokens[last].next_ordinal = at;
    return at;
}

/* One that ends is free for the next of its kind. */
static void token_path_free(rad_flow_vm *vm, const rad_token *t)
{
    if (t->head == RAD_NONE) return; /* of ordinal 1: looked at first in any case */
    rad_token *head = &vm->tokens[t->head];
    if (head->hint != RAD_NONE && t->ordinal <= vm->tokens[head->hint].ordinal) head->hint = t->older_ordinal;
}

void rad__flow_path(const rad_flow_vm *vm, uint32_t token, char *text, size_t size)
{
    size_t end = vm->tokens[token].path_length;
    if (end >= size) { /* for people only: keys always fit */
        snprintf(text, size, "…");
        return;
    }
    text[end] = 0;
    for (uint32_t at = token; at != 0; at = vm->tokens[at].parent) {
        char part[48];
        size_t length = path_part(&vm->tokens[at], part);
        end -= length;
        memcpy(text + end, part, length);
    }
    text[0] = '0';
}

/* As it is written by rad__flow_path: a path has one spelling, or two keys would be one effect. */
static bool read_u32(const char **at, const char *end, uint32_t *value)
{
    uint64_t n = 0;
    const char *begin = *at;
    if (end - begin > 1 && begin[0] == '0' && begin[1] >= '0' && begin[1] <= '9') return false;
    for (; *at < end && **at >= '0' && **at <= '9' && n < UINT32_MAX; ++*at) n = n * 10 + (uint64_t)(**at - '0');
    *value = (uint32_t)n;
    return *at > begin && n < UINT32_MAX;
}

static uint32_t path_child(const rad_flow_vm *vm, uint32_t parent, uint32_t statement, uint32_t index, uint32_t ordinal)
{
    uint64_t key;
    const rad_token wanted = {.parent = parent,
                              .statement = statement,
                              .index = index,
                              .ordinal = ordinal,
                              .path_hash = path_hash(vm->tokens[parent].path_hash, statement, index, ordinal)};
    if (vm->world == RAD_WORLD_LIVE) return path_look_up(vm, &wanted, &key);
    uint32_t child = vm->tokens[parent].first_child;
    while (child != RAD_NONE && !child_is(&vm->tokens[child], statement, index)) child = vm->tokens[child].next_sibling;
    while (child != RAD_NONE && vm->tokens[child].ordinal != ordinal) child = vm->tokens[child].next_ordinal;
    return child;
}

uint32_t rad__flow_path_find(const rad_flow_vm *vm, const char *path, size_t length)
{
    const char *at = path + 1, *end = path + length;
    uint32_t token = 0;
    if (length == 0 || path[0] != '0') return RAD_NONE;
    while (at < end) {
        uint32_t statement, index, ordinal = 1;
        if (*at++ != '/' || !read_u32(&at, end, &statement)) return RAD_NONE;
        if (at == end || *at++ != '.' || !read_u32(&at, end, &index)) return RAD_NONE;
        bool has_ordinal = at < end && *at == '\'';
        if (has_ordinal && (at++, !read_u32(&at, end, &ordinal) || ordinal == 1)) return RAD_NONE;
        token = path_child(vm, token, statement, index, ordinal);
        if (token == RAD_NONE) return RAD_NONE;
    }
    return token;
}

/* ---- Queues before locks, milestones and events -------------------------------------------------------------- */

static uint32_t queue_of(const rad_flow_vm *vm, const rad_flow_op *op)
{
    const rad_flow_tree *tree = vm->program->tree;
    if (op->code == RAD_OP_AWAIT) return op->a;
    if (op->code == RAD_OP_ACQUIRE) return tree->milestone_count + op->a;
    RAD_ASSERT(op->code == RAD_OP_TAKEN);
    return tree->milestone_count + tree->lock_count;
}

static void queue_enter(rad_flow_vm *vm, uint32_t token, uint32_t queue)
{
    rad_token *t = &vm->tokens[token];
    rad_flow_queue *q = &vm->queues[queue];
    t->queue = queue;
    t->queue_older = q->last;
    t->queue_newer = RAD_NONE;
    *(q->last != RAD_NONE ? &vm->tokens[q->last].queue_newer : &q->first) = token;
    q->last = token;
}

static void queue_leave(rad_flow_vm *vm, uint32_t token)
{
    rad_token *t = &vm->tokens[token];
    if (t->queue == RAD_NONE) return;
    rad_flow_queue *q = &vm->queues[t->queue];
    *(t->queue_older != RAD_NONE ? &vm->tokens[t->queue_older].queue_newer : &q->first) = t->queue_newer;
    *(t->queue_newer != RAD_NONE ? &vm->tokens[t->queue_newer].queue_older : &q->last) = t->queue_older;
    t->queue = RAD_NONE;
}

/* A lock or a milestone has changed: those before it can go on, or no longer. */
void rad__queue_look(rad_flow_vm *vm, uint32_t queue)
{
    for (uint32_t at = vm->queues[queue].first; at != RAD_NONE; at = vm->tokens[at].queue_newer)
        if (rad__flow_can_step(vm, at))
            rad_enable(vm->k, at);
        else
            rad_disable(vm->k, at);
}

/* ---- Where it stands ------------------------------------------------------------------------------- */

bool rad__flow_can_step(const rad_flow_vm *vm, uint32_t token)
{
    const rad_token *t = &vm->tokens[token];
    if (!t->alive || t->wait != RAD_TOKEN_READY) return false;
    const rad_flow_op *op = &vm->program->code[t->pc];
    if (op->code == RAD_OP_AWAIT)
        return vm->milestones[op->a] == 1 || (vm->milestones[op->a] == 2 && op->d != RAD_NONE);
    if (op->code == RAD_OP_ACQUIRE) return vm->locks[op->a] == RAD_NONE;
    return true;
}

/* What its next step touches: the case is read by all and written by whatever cancels. */
static void announce(rad_flow_vm *vm, uint32_t token, uint32_t pc)
{
    const rad_flow_op *op = &vm->program->code[pc];
    uint32_t object = vm->case_object, access = RAD_READ;
    switch ((enum rad_flow_code)op->code) {
    case RAD_OP_CANCEL:
    case RAD_OP_FINISH_CASE:
    case RAD_OP_FAIL: access = RAD_WRITE; break;
    case RAD_OP_REACH:
    case RAD_OP_EXPIRE:
        object = vm->milestone_objects[op->a];
        access = RAD_WRITE;
        break;
    case RAD_OP_AWAIT: object = vm->milestone_objects[op->a]; break;
    case RAD_OP_ACQUIRE:
    case RAD_OP_RELEASE:
        object = vm->lock_objects[op->a];
        access = RAD_WRITE;
        break;
    case RAD_OP_ARRIVE:
    case RAD_OP_BLOCK_END:
        if (vm->forks[vm->tokens[token].fork].owner != RAD_NONE)
            object = vm->tokens[vm->forks[vm->tokens[token].fork].owner].object;
        access = RAD_WRITE;
        break;
    default: break;
    }
    rad_announce(vm->k, token, pc, object, (enum rad_access)access);
}

/* Whatever it waited for. */
static void be_ready(rad_flow_vm *vm, rad_token *t)
{
    if (RAD_UNLIKELY(rad__is_for_world(t->wait))) vm->asking--;
    t->wait = RAD_TOKEN_READY;
}

void rad__token_go(rad_flow_vm *vm, uint32_t token, uint32_t pc)
{
    rad_token *t = &vm->tokens[token];
    const rad_flow_op *op = &vm->program->code[pc];
    /* The end of a block with multi joins is only for those who were forked by one of them. */
    while (op->code == RAD_OP_BLOCK_END &&
           (t->fork == RAD_NONE || vm->program->code[vm->forks[t->fork].op].next != pc)) {
        pc = op->next;
        op = &vm->program->code[pc];
    }
    t->pc = pc;
    be_ready(vm, t);
    announce(vm, token, pc);
    queue_leave(vm, token);
    if (RAD_UNLIKELY(op->code == RAD_OP_AWAIT || op->code == RAD_OP_ACQUIRE)) {
        queue_enter(vm, token, queue_of(vm, op));
        if (!rad__flow_can_step(vm, token)) {
            rad_disable(vm->k, token);
            return;
        }
    }
    rad_enable(vm->k, token);
}

void rad__token_wait(rad_flow_vm *vm, uint32_t token, enum rad_token_wait wait)
{
    rad_token *t = &vm->tokens[token];
    t->wait = (uint8_t)wait;
    vm->asking += rad__is_for_world(t->wait);
    t->answered = false;
    if (wait == RAD_TOKEN_FOR_EVENT) queue_enter(vm, token, queue_of(vm, rad__flow_op(vm, token)));
    rad_disable(vm->k, token);
}

/* An event has come: timers of the other alternatives run for nobody. */
static void forget_timers(rad_flow_vm *vm, uint32_t token)
{
    const rad_flow_op *op = rad__flow_op(vm, token);
    for (uint32_t i = 0; i < op->b; i++)
        if (i != vm->tokens[token].alternative && vm->program->ways[op->a + i].event.is_timer)
            rad__flow_ask(vm, RAD_ASK_NO_TIMER, token, RAD_NONE, 0, i);
}

void rad__token_wake(rad_flow_vm *vm, uint32_t token)
{
    if (vm->tokens[token].wait == RAD_TOKEN_FOR_EVENT) forget_timers(vm, token);
    queue_leave(vm, token);
    be_ready(vm, &vm->tokens[token]);
    rad_enable(vm->k, token);
}

/* ---- Frames ------------------------------------------------------------------------------- */

bool rad__frame_push(rad_flow_vm *vm, uint32_t token, enum rad_frame_kind kind, int64_t value)
{
    uint32_t at = rad__pool_take(&vm->frame_pool, (void **)&vm->frames, sizeof *vm->frames);
    if (at == RAD_NONE) {
        rad__flow_broken(vm, RAD_ENOMEM, "out of memory for frames");
        return false;
    }
    vm->frames[at] = (rad_frame){value, vm->tokens[token].frames, (uint8_t)kind};
    vm->tokens[token].frames = at;
    return true;
}

/* The token is no longer inside; the instance may live on with others. */
static void region_step_out(rad_flow_vm *vm, uint32_t token)
{
    rad_token *t = &vm->tokens[token];
    if (t->region == RAD_NONE) return;
    rad_region_instance *r = &vm->regions[t->region];
    *(t->region_older != RAD_NONE ? &vm->tokens[t->region_older].region_newer : &r->tokens) = t->region_newer;
    if (t->region_newer != RAD_NONE) vm->tokens[t->region_newer].region_older = t->region_older;
    rad__region_release(vm, t->region);
}

static void region_step_in(rad_flow_vm *vm, uint32_t token, uint32_t region)
{
    rad_token *t = &vm->tokens[token];
    t->region = region;
    if (region == RAD_NONE) return;
    rad_region_instance *r = &vm->regions[region];
    r->refs++;
    t->region_older = RAD_NONE;
    t->region_newer = r->tokens;
    if (r->tokens != RAD_NONE) vm->tokens[r->tokens].region_older = token;
    r->tokens = token;
}

void rad__region_release(rad_flow_vm *vm, uint32_t instance)
{
    rad_region_instance *r = &vm->regions[instance];
    if (--r->refs > 0) return;
    for (uint32_t at = r->undos; at != RAD_NONE;) {
        uint32_t next = vm->undos[at].next;
        rad__data_give(vm, vm->undos[at].data);
        rad__pool_give(&vm->undo_pool, vm->undos, sizeof *vm->undos, at);
        at = next;
    }
    uint32_t parent = r->parent;
    if (parent != RAD_NONE) {
        *(r->older != RAD_NONE ? &vm->regions[r->older].newer : &vm->regions[parent].inside) = r->newer;
        if (r->newer != RAD_NONE) vm->regions[r->newer].older = r->older;
    }
    r->used = false;
    rad__pool_give(&vm->region_pool, vm->regions, sizeof *vm->regions, instance);
    if (parent != RAD_NONE) rad__region_release(vm, parent);
}

/* A new instance, with the token inside as its owner. */
void rad__region_enter(rad_flow_vm *vm, uint32_t token, uint32_t region)
{
    uint32_t at = rad__pool_take(&vm->region_pool, (void **)&vm->regions, sizeof *vm->regions);
    uint32_t outer = vm->tokens[token].region, name = vm->program->regions[region].name;
    if (at == RAD_NONE) {
        rad__flow_broken(vm, RAD_ENOMEM, "out of memory for regions");
        return;
    }
    vm->regions[at] = (rad_region_instance){
        .made = vm->regions_made++,
        .region = region,
        .owner = token,
        .parent = outer,
        .refs = 1, /* as the last one of its name */
        .tokens = RAD_NONE,
        .inside = RAD_NONE,
        .older = RAD_NONE,
        .newer = outer != RAD_NONE ? vm->regions[outer].inside : RAD_NONE,
        .undos = RAD_NONE,
        .used = true,
    };
    if (outer != RAD_NONE) {
        if (vm->regions[at].newer != RAD_NONE) vm->regions[vm->regions[at].newer].older = at;
        vm->regions[outer].inside = at;
        vm->regions[outer].refs++;
    }
    region_step_out(vm, token);
    region_step_in(vm, token, at);
    if (vm->last_instance[name] != RAD_NONE) rad__region_release(vm, vm->last_instance[name]);
    vm->last_instance[name] = at;
    rad__frame_push(vm, token, RAD_FRAME_REGION, at);
}

void rad__frame_pop(rad_flow_vm *vm, uint32_t token)
{
    uint32_t at = vm->tokens[token].frames;
    rad_frame f = vm->frames[at];
    vm->tokens[token].frames = f.next;
    rad__pool_give(&vm->frame_pool, vm->frames, sizeof *vm->frames, at);
    if (f.kind == RAD_FRAME_LOCK) {
        vm->locks[f.value] = RAD_NONE;
        rad_touch(vm->k, vm->lock_objects[f.value], RAD_WRITE);
        rad__queue_look(vm, vm->program->tree->milestone_count + (uint32_t)f.value);
    } else if (f.kind == RAD_FRAME_REGION) {
        uint32_t outer = vm->regions[f.value].parent;
        vm->regions[f.value].owner = RAD_NONE;
        if (outer != RAD_NONE) vm->regions[outer].refs++; /* it must outlive the one inside */
        region_step_out(vm, token);
        region_step_in(vm, token, outer);
        if (outer != RAD_NONE) rad__region_release(vm, outer);
    }
}

/* ---- Life ------------------------------------------------------------------------------- */

uint32_t rad__token_make(rad_flow_vm *vm, uint32_t parent, uint32_t statement, uint32_t index, uint32_t fork,
                         uint32_t region, uint32_t data)
{
    uint32_t at = parent == RAD_NONE ? token_new(vm, RAD_NONE, 0, 0, 1) : token_at_path(vm, parent, statement, index);
    if (at == RAD_NONE) return RAD_NONE;
    rad_token *t = &vm->tokens[at];
    t->alive = true;
    t->lives++;
    t->data = rad__data_share(vm, data);
    t->fork = fork;
    t->queue = t->frames = t->inner = t->held = t->task = RAD_NONE;
    t->attempt = t->effect = 0;
    memset(t->written, 0, sizeof t->written);
    region_step_in(vm, at, region);
    if (fork != RAD_NONE) {
        rad_fork *f = &vm->forks[fork];
        t->fork_older = f->youngest;
        t->fork_newer = RAD_NONE;
        *(f->youngest != RAD_NONE ? &vm->tokens[f->youngest].fork_newer : &f->children) = at;
        f->youngest = at;
        f->refs++;
    }
    vm->live++;
    return at;
}

/* What hangs below a token that ends hangs below its fork's holder from then on. */
static void hand_over(rad_flow_vm *vm, uint32_t token)
{
    rad_token *t = &vm->tokens[token];
    uint32_t holder = t->fork != RAD_NONE ? vm->forks[t->fork].holder : RAD_NONE;
    while (t->held != RAD_NONE) {
        uint32_t fork = t->held;
        rad__fork_unhold(vm, fork);
        rad_fork *f = &vm->forks[fork];
        f->owner = RAD_NONE; /* it is the token, or has ended before */
        f->holder = holder;
        if (holder == RAD_NONE) continue;
        f->held_newer = vm->tokens[holder].held; /* not none: the token's own fork is there */
        vm->forks[f->held_newer].held_older = fork;
        vm->tokens[holder].held = fork;
    }
}

void rad__token_end(rad_flow_vm *vm, uint32_t token)
{
    rad_token *t = &vm->tokens[token];
    RAD_ASSERT(t->alive);
    rad_disable(vm->k, token);
    queue_leave(vm, token);
    t->alive = false;
    be_ready(vm, t);
    token_path_free(vm, t);
    while (t->frames != RAD_NONE) rad__frame_pop(vm, token);
    if (t->inner != RAD_NONE) rad__fork_release(vm, t->inner);
    hand_over(vm, token);
    region_step_out(vm, token);
    rad__data_give(vm, t->data);
    if (t->answered && --vm->answers_open == 0) vm->answer_count = 0;
    t->answered = false;
    vm->live--;
    if (t->fork == RAD_NONE) return;
    rad_fork *f = &vm->forks[t->fork];
    *(t->fork_older != RAD_NONE ? &vm->tokens[t->fork_older].fork_newer : &f->children) = t->fork_newer;
    *(t->fork_newer != RAD_NONE ? &vm->tokens[t->fork_newer].fork_older : &f->youngest) = t->fork_older;
    rad__fork_release(vm, t->fork);
}

void rad__flow_ask(rad_flow_vm *vm, enum rad_flow_ask_kind kind, uint32_t token, uint32_t data, uint64_t delay_ns,
                   uint32_t alternative)
{
    rad_flow_case *c = vm->owner;
    const rad_token *t = &vm->tokens[token];
    if (vm->world != RAD_WORLD_LIVE) return; /* of others nobody keeps the asks */
    if (!RAD_GROW(&c->asks, &c->ask_capacity, c->ask_count + 1)) {
        rad__flow_broken(vm, RAD_ENOMEM, "out of memory for what is asked");
        return;
    }
    c->asks[c->ask_count++] = (rad_flow_ask){
        .kind = kind,
        .token = token,
        .effect = t->effect,
        .task = t->task,
        .attempt = t->attempt,
        .alternative = alternative,
        .data = data != RAD_NONE ? rad__data_share(vm, data) : RAD_NONE,
        .delay_ns = delay_ns,
        .step = rad_step_count(vm->k),
    };
}
