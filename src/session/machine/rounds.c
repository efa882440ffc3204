/* rounds.c — rounds: who is ready, who is woken, who is picked.
 *
 *     unblock   whoever's condition came true since the last time becomes ready, in the order in which that happened;
 *               handlers that were not ready are asked again
 *     pick      up to N of the ready ones, before any of them runs; the policy has a preference, the lab may have
 *               another one
 *     run       one instruction each, in the order in which they were picked
 *     end       those that can go on are ready again: first in line (cooperative), or last
 *
 * Preference
 *     cooperative   who ran in the last round comes first, unless it yielded
 *     round robin   who has been ready longest
 *     progress      who holds a token, at most TOKENS_IN_A_ROW times while others are ready; within both, round robin.
 *                   So of R ready coroutines each one is picked after (TOKENS_IN_A_ROW + 1) * R picks at most.
 *
 * This file never runs in a loop by itself, but in rad_session_run: the lab calls the same functions. */
#include "session/machine/vm.h"

enum { TOKENS_IN_A_ROW = 8, UNLINKED = 255, CENSUS_MOST = 256, INTERRUPTED_EVERY = 1024 };

/* ---- Lists ------------------------------------------------------------------------------------------- */

static uint32_t lane_of(const rad_session_vm *vm, const rad_co *co)
{
    return vm->options.policy == RAD_SESSION_PROGRESS && co->session->holder == co;
}

static inline void link_co(rad_session_vm *vm, rad_co *co, bool first)
{
    uint32_t which = lane_of(vm, co);
    rad_session_lane *lane = &vm->lanes[which];
    co->lane = (uint8_t)which;
    co->older = first ? NULL : lane->last;
    co->newer = first ? lane->first : NULL;
    *(co->newer ? &co->newer->older : &lane->last) = co;
    *(co->older ? &co->older->newer : &lane->first) = co;
    lane->count++;
}

static inline void unlink_co(rad_session_vm *vm, rad_co *co)
{
    rad_session_lane *lane = &vm->lanes[co->lane];
    *(co->newer ? &co->newer->older : &lane->last) = co->older;
    *(co->older ? &co->older->newer : &lane->first) = co->newer;
    lane->count--;
    co->lane = UNLINKED;
}

void rad__rounds_ready(rad_session_vm *vm, rad_co *co, bool first)
{
    co->state = RAD_CO_READY;
    co->reason = RAD_BLOCK_NONE;
    co->ready_since = vm->round;
    vm->ready_count++;
    link_co(vm, co, first);
}

void rad__rounds_forget(rad_session_vm *vm, rad_co *co)
{
    if (co->state == RAD_CO_READY) {
        vm->ready_count--;
        if (co->lane != UNLINKED) unlink_co(vm, co);
    } else if (co->state == RAD_CO_BLOCKED) {
        vm->blocked_count--; /* `wakes` and `invokers` find that it is blocked no more */
    }
}

void rad__rounds_hold(rad_session_vm *vm, rad_session *s, rad_co *co)
{
    rad_co *before = s->holder;
    s->holder = co;
    rad_co *moved[] = {before, co};
    for (int i = 0; i < 2; i++) {
        rad_co *one = moved[i];
        if (one == NULL || one->state != RAD_CO_READY || one->lane == UNLINKED) continue;
        if (one->lane == lane_of(vm, one)) continue;
        unlink_co(vm, one);
        link_co(vm, one, false);
    }
}

/* ---- Waking ------------------------------------------------------------------------------------------ */

void rad__rounds_wake(rad_session_vm *vm, rad_co *co)
{
    if (co->to_wake) return;
    co->to_wake = true;
    co->next_wake = NULL;
    *(vm->wakes ? &vm->last_wake->next_wake : &vm->wakes) = co;
    vm->last_wake = co;
}

/* It was true when somebody said so, but others may have been faster. */
static bool may_go_on(const rad_co *co)
{
    const rad_session *s = co->session;
    switch ((enum rad_session_block)co->reason) {
    case RAD_BLOCK_RECEIVE: return s->buffers[co->what].count > 0;
    case RAD_BLOCK_SEND: return s->buffers[co->what].count < s->buffers[co->what].capacity;
    case RAD_BLOCK_CLOSE: return s->closed || (s->live == 0 && s->in_flight == 0);
    case RAD_BLOCK_ACQUIRE: return !s->pinned;
    case RAD_BLOCK_JOIN: return co->children == 0;
    default: return true;
    }
}

static void unblock_one(rad_session_vm *vm, rad_co *co)
{
    if (co->state != RAD_CO_BLOCKED || !may_go_on(co)) return;
    rad_session *s = co->session;
    vm->blocked_count--;
    if (vm->options.policy == RAD_SESSION_PROGRESS && s->holder == NULL) s->holder = co; /* granted */
    rad__rounds_ready(vm, co, false);
}

/* Whether anybody is ready. */
bool rad__rounds_unblock(rad_session_vm *vm)
{
    rad_co *next = vm->wakes;
    vm->wakes = NULL;
    for (rad_co *co = next; co != NULL; co = next) {
        next = co->next_wake;
        co->to_wake = false;
        unblock_one(vm, co);
    }
    for (uint32_t i = 0; i < vm->invoker_count; i++)
        if (vm->invokers[i]->reason == RAD_BLOCK_INVOKE) unblock_one(vm, vm->invokers[i]);
    vm->invoker_count = 0;
    return vm->ready_count > 0;
}

/* ---- Picking and running ----------------------------------------------------------------------------- */

rad_co *rad__rounds_prefer(const rad_session_vm *vm)
{
    const rad_session_lane *holders = &vm->lanes[1], *others = &vm->lanes[0];
    bool turn = holders->count > 0 && (vm->streak < TOKENS_IN_A_ROW || others->count == 0);
    return turn ? holders->first : others->first;
}

void rad__rounds_pick(rad_session_vm *vm, rad_co *co)
{
    vm->streak = co->lane == 1 ? vm->streak + 1 : 0;
    unlink_co(vm, co);
    if (RAD_GROW(&vm->picked, &vm->picked_capacity, vm->picked_count + 1)) {
        vm->picked[vm->picked_count++] = co;
        return;
    }
    vm->no_memory = true;
    link_co(vm, co, true);
}

bool rad__rounds_is_full(const rad_session_vm *vm)
{
    return vm->picked_count >= vm->options.n || vm->picked_count == vm->ready_count || vm->no_memory;
}

static void has_blocked(rad_session_vm *vm, rad_co *co)
{
    vm->ready_count--;
    vm->blocked_count++;
    if (co->reason != RAD_BLOCK_INVOKE) return;
    if (RAD_GROW(&vm->invokers, &vm->invoker_capacity, vm->invoker_count + 1))
        vm->invokers[vm->invoker_count++] = co;
    else
        vm->no_memory = true;
}

/* One that was picked. A fault of somebody before it in this round may have stopped it. */
void rad__rounds_run_one(rad_session_vm *vm, rad_co *co)
{
    if (RAD_UNLIKELY(co->state != RAD_CO_READY)) return;
    rad__session_step(vm, co);
    if (RAD_LIKELY(co->state == RAD_CO_READY)) return;
    if (co->state == RAD_CO_BLOCKED)
        has_blocked(vm, co);
    else if (co->state == RAD_CO_ENDED)
        vm->ready_count--;
}

static inline void go_on(rad_session_vm *vm, rad_co *co, bool first)
{
    if (co->state != RAD_CO_READY || co->lane != UNLINKED) return;
    link_co(vm, co, first && !co->yielded);
    co->yielded = false;
}

void rad__rounds_round_ends(rad_session_vm *vm)
{
    bool first = vm->options.policy == RAD_SESSION_COOPERATIVE;
    uint32_t count = vm->picked_count;
    for (uint32_t i = 0; i < count; i++) go_on(vm, vm->picked[first ? count - 1 - i : i], first);
    vm->picked_count = 0;
    vm->round++;
    RAD_DCHECK(vm->co_count > CENSUS_MOST || rad__rounds_valid(vm));
}

static inline bool is_interrupted(const rad_session_vm *vm)
{
    const volatile int *flag = vm->options.interrupted;
    return vm->round % INTERRUPTED_EVERY == 0 && flag != NULL && *flag != 0;
}

enum rad_session_end rad_session_run(rad_session_vm *vm, uint64_t rounds)
{
    for (uint64_t left = rounds ? rounds : UINT64_MAX;; left--) {
        if (vm->no_memory) return RAD_SESSION_NO_MEMORY;
        if (vm->ready_count + vm->blocked_count == 0) return RAD_SESSION_COMPLETE;
        if (left == 0 || is_interrupted(vm)) return RAD_SESSION_EXHAUSTED;
        if ((vm->wakes != NULL || vm->invoker_count > 0 || vm->ready_count == 0) && !rad__rounds_unblock(vm))
            return RAD_SESSION_STUCK;
        do rad__rounds_pick(vm, rad__rounds_prefer(vm));
        while (!rad__rounds_is_full(vm));
        for (uint32_t i = 0; i < vm->picked_count; i++) rad__rounds_run_one(vm, vm->picked[i]);
        rad__rounds_round_ends(vm);
    }
}

/* ---- Census ------------------------------------------------------------------------------------------ */

static bool is_linked(const rad_session_vm *vm, const rad_co *co)
{
    for (uint32_t lane = 0; lane < RAD_LANES; lane++)
        for (const rad_co *at = vm->lanes[lane].first; at != NULL; at = at->newer)
            if (at == co) return true;
    return false;
}

/* Between rounds: V1 to V4. */
bool rad__rounds_valid(const rad_session_vm *vm)
{
    uint32_t ready = 0, blocked = 0;
    for (uint32_t i = 0; i < vm->session_count; i++) {
        const rad_session *s = vm->sessions[i];
        uint32_t in_flight = 0;
        for (uint32_t k = 0; k < s->protocol->types.edge_count; k++) {
            const rad_buffer *b = &s->buffers[k];
            if (b->count > b->capacity) return false; /* V3 */
            in_flight += b->count;
        }
        if (in_flight != s->in_flight) return false;
        for (uint32_t k = 0; k < s->protocol->types.thread_count; k++) {
            const rad_co *co = &s->threads[k];
            bool linked = is_linked(vm, co);
            ready += co->state == RAD_CO_READY;
            blocked += co->state == RAD_CO_BLOCKED;
            if (linked != (co->state == RAD_CO_READY)) return false; /* V1 */
            if (co->state != RAD_CO_BLOCKED || co->to_wake || co->reason == RAD_BLOCK_INVOKE) continue;
            if (may_go_on(co)) return false; /* V2 */
        }
    }
    return ready == vm->ready_count && blocked == vm->blocked_count && vm->lanes[0].count + vm->lanes[1].count == ready;
}
