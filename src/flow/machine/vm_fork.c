/* vm_fork.c — forks and their joins. See vm.h.
 *
 *     open --a branch arrives, or is cancelled--> open … --its join is complete--> fired
 *
 * A join is complete when
 *     all          arrived = activated
 *     sync, multi  arrived + cancelled = activated
 *     first, any   arrived = the number it waits for
 *     none         at once
 * and fires once: the data of what arrived are merged into those of the token that waits, which goes on; with first,
 * the branches that are left are cancelled in the same step, with any they go on, and are absorbed when they arrive. */
#include "base/alloc.h"
#include "flow/machine/vm.h"

#include <string.h>

/* ---- Making ------------------------------------------------------------------------------- */

static void fork_hold(rad_flow_vm *vm, uint32_t fork, uint32_t holder)
{
    rad_fork *f = &vm->forks[fork];
    f->holder = holder;
    f->held_older = RAD_NONE;
    f->held_newer = vm->tokens[holder].held;
    if (f->held_newer != RAD_NONE) vm->forks[f->held_newer].held_older = fork;
    vm->tokens[holder].held = fork;
}

void rad__fork_unhold(rad_flow_vm *vm, uint32_t fork)
{
    rad_fork *f = &vm->forks[fork];
    if (f->holder == RAD_NONE) return;
    *(f->held_older != RAD_NONE ? &vm->forks[f->held_older].held_newer : &vm->tokens[f->holder].held) = f->held_newer;
    if (f->held_newer != RAD_NONE) vm->forks[f->held_newer].held_older = f->held_older;
}

static void drop_arrivals(rad_flow_vm *vm, rad_fork *f)
{
    while (f->arrivals != RAD_NONE) {
        uint32_t at = f->arrivals;
        f->arrivals = vm->arrivals[at].next;
        rad__data_give(vm, vm->arrivals[at].data);
        rad__pool_give(&vm->arrival_pool, vm->arrivals, sizeof *vm->arrivals, at);
    }
}

void rad__fork_release(rad_flow_vm *vm, uint32_t fork)
{
    rad_fork *f = &vm->forks[fork];
    RAD_ASSERT(f->refs > 0);
    if (--f->refs > 0) return;
    drop_arrivals(vm, f);
    rad__fork_unhold(vm, fork);
    uint32_t parent = f->parent, region = f->region;
    rad__pool_give(&vm->fork_pool, vm->forks, sizeof *vm->forks, fork);
    if (region != RAD_NONE) rad__region_release(vm, region);
    if (parent != RAD_NONE) rad__fork_release(vm, parent);
}

/* With one reference, the caller's. */
static uint32_t fork_new(rad_flow_vm *vm, uint32_t token)
{
    uint32_t at = rad__pool_take(&vm->fork_pool, (void **)&vm->forks, sizeof *vm->forks);
    rad_token *t = &vm->tokens[token];
    if (t->object == RAD_NONE) t->object = rad_object(vm->k, token, "fork");
    if (at == RAD_NONE || t->object == RAD_NONE) {
        rad__flow_broken(vm, RAD_ENOMEM, "out of memory for forks");
        return RAD_NONE;
    }
    vm->forks[at] = (rad_fork){
        .made = vm->forks_made++,
        .op = t->pc,
        .maker = token,
        .owner = token,
        .parent = t->fork,
        .region = t->region,
        .refs = 1,
        .children = RAD_NONE,
        .youngest = RAD_NONE,
        .arrivals = RAD_NONE,
        .join = vm->program->code[t->pc].join,
    };
    if (t->fork != RAD_NONE) vm->forks[t->fork].refs++;
    if (t->region != RAD_NONE) vm->regions[t->region].refs++;
    fork_hold(vm, at, token);
    rad_touch(vm->k, t->object, RAD_WRITE);
    return at;
}

/* One branch more; `mother` is whose data it gets. False: the run has ended. */
static bool fork_branch(rad_flow_vm *vm, uint32_t fork, uint32_t mother, uint32_t index, uint32_t entry)
{
    rad_fork *f = &vm->forks[fork];
    uint32_t child = rad__token_make(vm, f->maker, vm->program->code[f->op].statement, index, fork, f->region,
                                     vm->tokens[mother].data);
    if (child == RAD_NONE) return false;
    vm->forks[fork].activated++;
    rad__token_go(vm, child, entry);
    return true;
}

/* The token that forked waits, or not. */
static void fork_done(rad_flow_vm *vm, uint32_t token, uint32_t fork)
{
    rad_fork *f = &vm->forks[fork];
    uint32_t next = vm->program->code[f->op].next;
    if (f->join != RAD_JOIN_NONE) {
        vm->tokens[token].inner = fork;
        rad__token_wait(vm, token, RAD_TOKEN_IN_FORK);
        return;
    }
    f->fired = true;
    rad__fork_release(vm, fork);
    rad__token_go(vm, token, next);
}

/* How many branches there will be; 0: it went elsewhere. */
static uint32_t fork_size(rad_flow_vm *vm, uint32_t token)
{
    const rad_flow_op *op = rad__flow_op(vm, token);
    uint32_t count = op->b;
    if (op->code != RAD_OP_OR) return count;
    if (!rad__flow_look(vm, token, &count)) return 0;
    if (count == 0 && op->d != RAD_NONE) {
        rad__token_go(vm, token, op->d);
    } else if (count == 0) {
        rad__flow_raise(vm, token, "no branch of or holds");
    } else if (op->c > count) { /* 0 for joins that do not count */
        rad__flow_raise(vm, token, "the join waits for %u branches of %u", op->c, count);
        return 0;
    }
    return count;
}

void rad__fork_do(rad_flow_vm *vm, uint32_t token)
{
    const rad_flow_op *op = rad__flow_op(vm, token);
    const rad_flow_way *ways = vm->program->ways + op->a;
    if (fork_size(vm, token) == 0) return;
    uint32_t fork = fork_new(vm, token);
    if (fork == RAD_NONE) return;
    for (uint32_t i = 0; i < op->b; i++) {
        if (op->code == RAD_OP_OR && !vm->holds[i]) continue;
        if (!fork_branch(vm, fork, token, i, ways[i].entry)) return;
    }
    fork_done(vm, token, fork);
}

/* ---- Many ------------------------------------------------------------------------------- */

/* The instance's own number or line. */
static bool name_instance(rad_flow_vm *vm, uint32_t token, const rad_flow_many *m, int64_t value)
{
    if (m->as == RAD_NONE) return true;
    return rad__data_set(vm, token, m->as, value);
}

static uint32_t line_number(rad_flow_vm *vm, const char **at, const char *end)
{
    const char *stop = memchr(*at, '\n', (size_t)(end - *at));
    uint32_t text = rad__text_number(vm, *at, (size_t)((stop != NULL ? stop : end) - *at));
    *at = stop != NULL ? stop + 1 : end;
    return text;
}

/* The instances themselves. */
static void make_instances(rad_flow_vm *vm, uint32_t token, int64_t count, int64_t text)
{
    const rad_flow_op *op = rad__flow_op(vm, token);
    const rad_flow_many *m = &vm->program->manies[op->d];
    uint32_t fork = fork_new(vm, token);
    if (fork == RAD_NONE) return;
    const char *at = m->is_over ? vm->texts[text].text : NULL;
    const char *end = m->is_over ? at + vm->texts[text].length : NULL;
    for (int64_t i = 0; i < count; i++) {
        uint32_t line = m->is_over ? line_number(vm, &at, end) : 0;
        if (line == RAD_NONE || !fork_branch(vm, fork, token, (uint32_t)i, op->a)) return;
        uint32_t child = vm->forks[fork].youngest;
        if (!name_instance(vm, child, m, m->is_over ? line : i)) return;
    }
    vm->forks[fork].next_index = (uint32_t)count;
    fork_done(vm, token, fork);
}

void rad__fork_many(rad_flow_vm *vm, uint32_t token)
{
    const rad_flow_op *op = rad__flow_op(vm, token);
    const rad_flow_many *m = &vm->program->manies[op->d];
    int64_t value;
    if (!rad__flow_eval(vm, token, op->b, &value)) {
        if (vm->why != NULL) rad__flow_raise(vm, token, "%s", vm->why);
        return;
    }
    int64_t count = m->is_over ? rad__text_lines(&vm->texts[value]) : value;
    if (count < 0) count = 0;
    if (m->most > 0 && count > m->most)
        rad__flow_raise(vm, token, "%lld instances, and at most %u may be", (long long)count, m->most);
    else if (count >= RAD_FLOW_TOKENS_MAX) /* one path is that of the first token */
        rad__flow_raise(vm, token, "%lld instances are too many", (long long)count);
    else if (op->c > count) /* 0 for joins that do not count */
        rad__flow_raise(vm, token, "the join waits for %u instances of %lld", op->c, (long long)count);
    else if (count == 0)
        rad__token_go(vm, token, op->next);
    else
        make_instances(vm, token, count, value);
}

void rad__fork_more(rad_flow_vm *vm, uint32_t token)
{
    const rad_flow_op *op = rad__flow_op(vm, token), *many = &vm->program->code[op->a];
    const rad_flow_many *m = &vm->program->manies[many->d];
    uint32_t fork = vm->tokens[token].fork;
    while (fork != RAD_NONE && vm->forks[fork].op != op->a) fork = vm->forks[fork].parent;
    RAD_ASSERT(fork != RAD_NONE); /* the statement is inside */
    rad_fork *f = &vm->forks[fork];
    if (f->next_index >= m->most) {
        rad__flow_raise(vm, token, "more than %u instances", m->most);
        return;
    }
    uint32_t index = f->next_index++;
    if (!fork_branch(vm, fork, token, index, many->a)) return;
    uint32_t child = vm->forks[fork].youngest;
    if (m->is_over ? true : name_instance(vm, child, m, index)) rad__token_go(vm, token, op->next);
}

/* ---- Merging ------------------------------------------------------------------------------- */

/* One more value of a variable that several branches wrote. `base`: as it was at the fork. */
static bool merge_value(rad_flow_vm *vm, enum rad_flow_merge rule, int64_t base, int64_t *into, int64_t value)
{
    int64_t delta;
    switch (rule) {
    case RAD_MERGE_EQUAL: return *into == value;
    case RAD_MERGE_SUM:
        vm->why = "the number is too large";
        return !__builtin_sub_overflow(value, base, &delta) && !__builtin_add_overflow(*into, delta, into);
    case RAD_MERGE_MAX: *into = value > *into ? value : *into; return true;
    case RAD_MERGE_MIN: *into = value < *into ? value : *into; return true;
    case RAD_MERGE_AND: *into = *into && value; return true;
    case RAD_MERGE_OR: *into = *into || value; return true;
    case RAD_MERGE_APPEND: return rad__text_join(vm, *into, "\n", value, into);
    case RAD_MERGE_FIRST: return true;
    default: *into = value; return true;
    }
}

static bool merge_variable(rad_flow_vm *vm, const rad_fork *f, uint32_t variable, int64_t base, int64_t *out)
{
    enum rad_flow_merge rule = vm->program->tree->variables[variable].merge;
    bool first = true;
    for (uint32_t at = f->arrivals; at != RAD_NONE; at = vm->arrivals[at].next) {
        const rad_arrival *a = &vm->arrivals[at];
        if (!(a->written[variable / 64] >> variable % 64 & 1)) continue;
        int64_t value = rad__data_at(vm, a->data)[variable];
        if (!first && !merge_value(vm, rule, base, out, value)) return false;
        if (first) *out = value;
        first = false;
    }
    return true;
}

/* The values of all variables that some branch wrote, in vm->merged. False: the failure was raised, or the run has
 * ended; nothing is written then. */
static bool merge_all(rad_flow_vm *vm, uint32_t token, const rad_fork *f, const uint64_t *written)
{
    for (uint32_t i = 0; i < RAD_FLOW_WRITTEN_WORDS; i++) {
        for (uint64_t left = written[i]; left != 0; left &= left - 1) {
            uint32_t variable = i * 64 + (uint32_t)__builtin_ctzll(left);
            int64_t base = rad__data_at(vm, vm->tokens[token].data)[variable];
            vm->why = NULL;
            if (merge_variable(vm, f, variable, base, &vm->merged[variable])) continue;
            const char *name = rad__flow_name(&vm->program->file, vm->program->tree->variables[variable].name);
            uint32_t line = vm->program->code[f->op].line; /* not that of what stands behind it */
            if (vm->why != NULL)
                rad__flow_raise_at(vm, token, line, "%s: %s", name, vm->why);
            else
                rad__flow_raise_at(vm, token, line, "branches disagree about %s, which has no merge rule", name);
            return false;
        }
    }
    return true;
}

/* Of two lists in order one. */
static uint32_t zip(rad_flow_vm *vm, uint32_t a, uint32_t b)
{
    uint32_t first = RAD_NONE, *link = &first;
    while (a != RAD_NONE && b != RAD_NONE) {
        uint32_t *from = vm->arrivals[b].index < vm->arrivals[a].index ? &b : &a;
        *link = *from;
        link = &vm->arrivals[*from].next;
        *from = *link;
    }
    *link = a != RAD_NONE ? a : b;
    return first;
}

/* As the branches stand in the file, whoever came first. Lists of 1, 2, 4, … of them wait for one of their length. */
static void sort_arrivals(rad_flow_vm *vm, rad_fork *f)
{
    enum { LISTS = 32 };
    uint32_t lists[LISTS], all = RAD_NONE, left = f->arrivals, at;
    for (uint32_t i = 0; i < LISTS; i++) lists[i] = RAD_NONE;
    while ((at = left) != RAD_NONE) {
        uint32_t i = 0;
        left = vm->arrivals[at].next;
        vm->arrivals[at].next = RAD_NONE;
        for (; lists[i] != RAD_NONE; lists[i++] = RAD_NONE) at = zip(vm, lists[i], at);
        lists[i] = at;
    }
    for (uint32_t i = 0; i < LISTS; i++) all = zip(vm, lists[i], all);
    f->arrivals = all;
}

static void merge(rad_flow_vm *vm, uint32_t token, uint32_t fork)
{
    uint64_t written[RAD_FLOW_WRITTEN_WORDS] = {0};
    sort_arrivals(vm, &vm->forks[fork]);
    for (uint32_t at = vm->forks[fork].arrivals; at != RAD_NONE; at = vm->arrivals[at].next)
        for (uint32_t i = 0; i < RAD_FLOW_WRITTEN_WORDS; i++) written[i] |= vm->arrivals[at].written[i];
    if (!merge_all(vm, token, &vm->forks[fork], written)) return;
    for (uint32_t i = 0; i < RAD_FLOW_WRITTEN_WORDS; i++)
        for (uint64_t left = written[i]; left != 0; left &= left - 1) {
            uint32_t variable = i * 64 + (uint32_t)__builtin_ctzll(left);
            if (!rad__data_set(vm, token, variable, vm->merged[variable])) return;
        }
    drop_arrivals(vm, &vm->forks[fork]);
}

/* ---- Joining ------------------------------------------------------------------------------- */

/* The token that waits goes on. */
static void fire(rad_flow_vm *vm, uint32_t fork)
{
    rad_fork *f = &vm->forks[fork];
    uint32_t token = f->owner, next = vm->program->code[f->op].next;
    RAD_ASSERT(!f->fired && vm->tokens[token].inner == fork);
    f->fired = true;
    f->refs++; /* it must outlive this */
    vm->tokens[token].inner = RAD_NONE;
    rad__fork_release(vm, fork);
    if (f->join == RAD_JOIN_FIRST && f->children != RAD_NONE) {
        rad_touch(vm->k, vm->case_object, RAD_WRITE);
        while (vm->forks[fork].children != RAD_NONE) rad__cancel_token(vm, vm->forks[fork].children, true);
    }
    rad_note(vm->k, RAD_FLOW_NOTE_FIRES, RAD_NONE, token);
    /* It stands behind the join when the data disagree: the failure is raised there. */
    rad__token_go(vm, token, next);
    merge(vm, token, fork);
    rad__fork_release(vm, fork);
}

/* And its owner waits in it: one that was sent to a handler does not, nor one whose join has fired. */
static bool complete(const rad_flow_vm *vm, uint32_t fork)
{
    const rad_fork *f = &vm->forks[fork];
    if (f->owner == RAD_NONE || vm->tokens[f->owner].inner != fork) return false;
    switch ((enum rad_flow_join)f->join) {
    case RAD_JOIN_ALL: return f->arrived == f->activated;
    case RAD_JOIN_SYNC:
    case RAD_JOIN_MULTI: return f->arrived + f->cancelled == f->activated;
    default: return f->arrived == vm->program->code[f->op].c;
    }
}

/* Remembers what an arrived branch has written. */
static bool keep_arrival(rad_flow_vm *vm, uint32_t token, rad_fork *f)
{
    const rad_token *t = &vm->tokens[token];
    if (f->fired || !rad__written_any(t->written)) return true;
    uint32_t at = rad__pool_take(&vm->arrival_pool, (void **)&vm->arrivals, sizeof *vm->arrivals);
    if (at == RAD_NONE) {
        rad__flow_broken(vm, RAD_ENOMEM, "out of memory at a join");
        return false;
    }
    rad_arrival *a = &vm->arrivals[at];
    a->index = t->index;
    a->data = rad__data_share(vm, t->data);
    memcpy(a->written, t->written, sizeof a->written);
    a->next = RAD_NONE;
    *(f->arrivals != RAD_NONE ? &vm->arrivals[f->last_arrival].next : &f->arrivals) = at;
    f->last_arrival = at;
    return true;
}

void rad__fork_arrive(rad_flow_vm *vm, uint32_t token)
{
    uint32_t fork = vm->tokens[token].fork;
    rad_fork *f = &vm->forks[fork];
    if (!keep_arrival(vm, token, f)) return;
    f->arrived++;
    f->refs++; /* it must outlive the token */
    rad__token_end(vm, token);
    if (complete(vm, fork)) fire(vm, fork);
    rad__fork_release(vm, fork);
}

/* In the order in which the forks were made; firing may lead to more of them. */
void rad__fork_settle(rad_flow_vm *vm)
{
    while (vm->settle_count > 0) {
        uint32_t best = 0;
        for (uint32_t i = 1; i < vm->settle_count; i++)
            if (vm->forks[vm->settle[i]].made < vm->forks[vm->settle[best]].made) best = i;
        uint32_t fork = vm->settle[best];
        vm->settle[best] = vm->settle[--vm->settle_count];
        vm->forks[fork].in_settle = false;
        if (complete(vm, fork)) fire(vm, fork);
        rad__fork_release(vm, fork);
    }
}
