/* vm.c — running a toy: one shared operation a step. See vm.h for the rules and invariants. */
#include "lab/machines/toys/vm.h"

#include "core/kernel.h"

#include <string.h>

enum { VM_KIND_STEP = 0, VM_KIND_WAKES, VM_KIND_LOST, VM_KINDS };

static bool vm_go_on(rad_vm *vm, rad_kernel *k, uint32_t thread);

static inline int64_t vm_value(const vm_thread *t, int32_t operand)
{
    return operand <= VM_REG_LAST ? t->regs[operand - R0] : operand;
}

static inline uint32_t vm_object(const rad_vm *vm, const vm_thread *t, const vm_op *op)
{
    if (op->index == 0) return op->object;
    uint32_t object = op->object + (uint32_t)vm_value(t, op->index);
    RAD_ASSERT(object < vm->object_count);
    return object;
}

/* ---- Sets of threads ------------------------------------------------------------------------------ */

static inline void set_add(uint64_t *set, uint32_t thread)
{
    set[thread >> 6] |= UINT64_C(1) << (thread & 63);
}

static inline void set_remove(uint64_t *set, uint32_t thread)
{
    set[thread >> 6] &= ~(UINT64_C(1) << (thread & 63));
}

/* The first member at or after `thread`, or RAD_NONE. */
static inline uint32_t set_next(const uint64_t *set, uint32_t words, uint32_t thread)
{
    uint32_t word = thread >> 6;
    if (word >= words) return RAD_NONE;
    uint64_t bits = set[word] & ~UINT64_C(0) << (thread & 63);
    while (bits == 0) {
        if (++word == words) return RAD_NONE;
        bits = set[word];
    }
    return word * 64 + (uint32_t)__builtin_ctzll(bits);
}

/* ---- Mutexes -------------------------------------------------------------------------------------- */

static inline uint64_t *mutex_wants(const rad_vm *vm, uint32_t mutex)
{
    return vm->wants + (size_t)vm->side[mutex] * vm->set_words;
}

static void mutex_must_wait(rad_vm *vm, rad_kernel *k, uint32_t thread, uint32_t mutex)
{
    uint32_t owner = (uint32_t)vm->words[mutex] - 1;
    rad_disable(k, vm->threads[thread].actor);
    rad_wait(k, vm->threads[thread].actor, mutex, vm->threads[owner].actor);
}

static void mutex_take(rad_vm *vm, rad_kernel *k, uint32_t thread, uint32_t mutex)
{
    uint64_t *wants = mutex_wants(vm, mutex);
    RAD_ASSERT(vm->words[mutex] == 0);
    vm->words[mutex] = (int64_t)thread + 1;
    set_remove(wants, thread);
    for (uint32_t i = 0; (i = set_next(wants, vm->set_words, i)) != RAD_NONE; i++) mutex_must_wait(vm, k, i, mutex);
}

static void mutex_give(rad_vm *vm, rad_kernel *k, uint32_t thread, uint32_t mutex)
{
    const uint64_t *wants = mutex_wants(vm, mutex);
    RAD_ASSERT(vm->words[mutex] == (int64_t)thread + 1);
    vm->words[mutex] = 0;
    for (uint32_t i = 0; (i = set_next(wants, vm->set_words, i)) != RAD_NONE; i++) rad_enable(k, vm->threads[i].actor);
}

/* ---- Condition variables ---------------------------------------------------------------------------- */

static void cond_wait(rad_vm *vm, rad_kernel *k, uint32_t thread, const vm_op *op)
{
    vm_thread *t = &vm->threads[thread];
    uint16_t *queue = vm->queues + (size_t)vm->side[op->object] * vm->thread_count;
    rad_touch(k, op->other, RAD_WRITE);
    mutex_give(vm, k, thread, op->other);
    queue[vm->words[op->object]++] = (uint16_t)thread;
    t->state = VM_WAITING;
    rad_disable(k, t->actor);
    rad_wait(k, t->actor, op->object, RAD_NONE);
}

/* The waiter with this place in the queue stands before locking the mutex again. */
static void cond_wake(rad_vm *vm, rad_kernel *k, uint32_t cond, uint32_t place)
{
    uint16_t *queue = vm->queues + (size_t)vm->side[cond] * vm->thread_count;
    uint32_t thread = queue[place], last = (uint32_t)--vm->words[cond];
    memmove(queue + place, queue + place + 1, (last - place) * sizeof *queue);
    queue[last] = 0;
    vm->threads[thread].state = VM_READY;
    rad_note(k, VM_KIND_WAKES, cond, vm->threads[thread].actor);
    if (vm_go_on(vm, k, thread)) rad_enable(k, vm->threads[thread].actor);
}

static void cond_signal(rad_vm *vm, rad_kernel *k, const vm_op *op)
{
    uint32_t waiters = (uint32_t)vm->words[op->object];
    if (waiters == 0) rad_note(k, VM_KIND_LOST, RAD_NONE, 0);
    if (op->code == VM_SIGNAL && waiters > 0)
        cond_wake(vm, k, op->object, rad_pick(k, RAD_PICK_WAKE, op->site, waiters));
    while (op->code == VM_BROADCAST && vm->words[op->object] > 0) cond_wake(vm, k, op->object, 0);
}

/* ---- Threads -------------------------------------------------------------------------------------- */

static void thread_start(rad_vm *vm, rad_kernel *k, uint32_t thread, uint32_t spawner)
{
    vm_thread *t = &vm->threads[thread];
    t->actor = rad_actor(k, spawner, vm->thread_roles[thread]);
    uint32_t action = rad_action(k, VM_KIND_STEP, t->actor, RAD_NONE, 0);
    if (RAD_UNLIKELY(t->actor == RAD_NONE || action == RAD_NONE)) return; /* no memory: the run ends */
    RAD_ASSERT(action == t->actor && action == vm->totals->born);
    vm->born[vm->totals->born++] = (uint16_t)thread;
    t->state = VM_READY;
    t->fresh = spawner != RAD_NONE && vm->thread_object != RAD_NONE;
    if (vm_go_on(vm, k, thread)) rad_enable(k, action);
}

/* The first thread of a join that has not ended, or RAD_NONE. */
static uint32_t join_waits_for(const rad_vm *vm, const vm_op *op)
{
    for (int32_t i = op->x; i < op->y; i++)
        if (vm->threads[i].state != VM_ENDED) return (uint32_t)i;
    return RAD_NONE;
}

static bool join_can_go_on(rad_vm *vm, rad_kernel *k, uint32_t thread, const vm_op *op)
{
    uint32_t other = join_waits_for(vm, op), actor = vm->threads[thread].actor;
    if (other == RAD_NONE) {
        set_remove(vm->joiners, thread);
        return true;
    }
    set_add(vm->joiners, thread);
    rad_disable(k, actor);
    rad_wait(k, actor, vm->thread_object + other, vm->threads[other].actor);
    return false;
}

__attribute__((noinline)) static void thread_end(rad_vm *vm, rad_kernel *k, uint32_t thread)
{
    vm_thread *t = &vm->threads[thread];
    t->state = VM_ENDED;
    vm->totals->ended++;
    rad_disable(k, t->actor);
    rad_ended(k, t->actor);
    if (vm->thread_object == RAD_NONE) return;
    vm->words[vm->thread_object + thread] = 1;
    rad_touch(k, vm->thread_object + thread, RAD_WRITE);
    for (uint32_t i = 0; (i = set_next(vm->joiners, vm->set_words, i)) != RAD_NONE; i++) {
        const vm_thread *joiner = &vm->threads[i];
        if (join_can_go_on(vm, k, i, &vm->code[joiner->pc])) rad_enable(k, joiner->actor);
    }
}

/* ---- Local operations ------------------------------------------------------------------------------ */

static inline bool vm_holds(int64_t x, uint32_t relation, int64_t y)
{
    switch (relation) {
    case VM_EQ: return x == y;
    case VM_NE: return x != y;
    case VM_LT: return x < y;
    default: return x >= y;
    }
}

__attribute__((noinline)) static void vm_claim_check(const rad_vm *vm, rad_kernel *k, const vm_thread *t,
                                                     const vm_op *op)
{
    static const char *const words[] = {
        [VM_EQ] = "", [VM_NE] = "anything but ", [VM_LT] = "less than ", [VM_GE] = "at least "};
    int64_t x = vm_value(t, op->x), y = vm_value(t, op->y);
    rad_evaluated(k, RAD_ORACLE_ASSERT);
    if (vm_holds(x, op->relation, y)) return;
    rad_fail_at(k, RAD_ORACLE_ASSERT, op->object, NULL, /* the role of the object names the claim */
                "%s: got %lld, expected %s%lld", vm->texts[op->other], (long long)x, words[op->relation], (long long)y);
}

/* A quiet access is part of the step in which it happens: its footprint says so. */
__attribute__((noinline)) static void vm_quiet(rad_vm *vm, rad_kernel *k, vm_thread *t, const vm_op *op)
{
    uint32_t object = vm_object(vm, t, op);
    if (op->code == VM_QUIET_LOAD) {
        t->regs[op->to] = vm->words[object];
        rad_touch(k, object, RAD_READ);
    } else {
        vm->words[object] = vm_value(t, op->x);
        rad_touch(k, object, RAD_WRITE);
    }
}

/* Runs what is local, from the thread's place on; returns the shared operation (or end) it comes to. */
RAD_INLINE const vm_op *vm_run_local(rad_vm *vm, rad_kernel *k, vm_thread *t)
{
    const vm_op *op = &vm->code[t->pc];
    while (op->code > VM_END) {
        switch (op->code) {
        case VM_AGAIN: op = --t->regs[op->y] != 0 ? &vm->code[op->to] : op + 1; continue;
        case VM_SET: t->regs[op->to] = vm_value(t, op->x); break;
        case VM_ADD: t->regs[op->to] = vm_value(t, op->x) + vm_value(t, op->y); break;
        case VM_SUB: t->regs[op->to] = vm_value(t, op->x) - vm_value(t, op->y); break;
        case VM_AND: t->regs[op->to] = vm_value(t, op->x) & vm_value(t, op->y); break;
        case VM_JUMP:
            if (!vm_holds(vm_value(t, op->x), op->relation, vm_value(t, op->y))) break;
            op = &vm->code[op->to];
            continue;
        case VM_CLAIM: vm_claim_check(vm, k, t, op); break;
        default: vm_quiet(vm, k, t, op); break;
        }
        op++;
    }
    t->pc = (uint32_t)(op - vm->code);
    return op;
}

/* ---- The next operation ---------------------------------------------------------------------------- */

/* The operations before which a thread may have to wait. */
__attribute__((noinline)) static bool vm_may_wait(rad_vm *vm, rad_kernel *k, uint32_t thread, const vm_op *op,
                                                  uint32_t object)
{
    if (op->code == VM_JOIN) return join_can_go_on(vm, k, thread, op);
    set_add(mutex_wants(vm, object), thread);
    if (vm->words[object] == 0) return true;
    mutex_must_wait(vm, k, thread, object);
    return false;
}

RAD_INLINE bool vm_next(rad_vm *vm, rad_kernel *k, uint32_t thread, vm_thread *t)
{
    const vm_op *op = vm_run_local(vm, k, t);
    if (op->code == VM_END) {
        thread_end(vm, k, thread);
        return false;
    }
    uint32_t object = vm_object(vm, t, op);
    rad__kernel_announce(k, t->actor, op->site, object, op->access);
    return op->code < VM_EASY_CODES || vm_may_wait(vm, k, thread, op, object);
}

/* Brings a thread to its next shared operation and says which that is. False when it ended or has to
 * wait: its action is then disabled; true leaves it to the caller to enable it. */
static bool vm_go_on(rad_vm *vm, rad_kernel *k, uint32_t thread)
{
    return vm_next(vm, k, thread, &vm->threads[thread]);
}

/* ---- Shared operations ----------------------------------------------------------------------------- */

/* 0 is the null pointer, and following it ends the process: the sanitizers' own report would hide that. */
__attribute__((no_sanitize("undefined"))) static int64_t vm_follow_pointer(const rad_vm *vm, int64_t x)
{
    const volatile int64_t *const pointers[] = {NULL, &vm->pointee};
    return *pointers[x != 0];
}

static void vm_run_threads(rad_vm *vm, rad_kernel *k, const vm_thread *t, const vm_op *op)
{
    if (op->code == VM_SPAWN) {
        thread_start(vm, k, (uint32_t)op->x, t->actor);
        return;
    }
    for (int32_t i = op->x + 1; i < op->y; i++) rad_touch(k, vm->thread_object + (uint32_t)i, RAD_READ);
}

static inline void vm_run_memory(rad_vm *vm, rad_kernel *k, vm_thread *t, const vm_op *op)
{
    int64_t *word = &vm->words[vm_object(vm, t, op)], old = *word;
    switch (op->code) {
    case VM_STORE:
        *word = old = vm_value(t, op->x);
        rad__kernel_value(k, (uint64_t)old);
        return;
    case VM_FETCH_ADD: *word = old + vm_value(t, op->x); break;
    case VM_EXCHANGE:
        *word = vm_value(t, op->x);
        if (*word == old) rad_looked(k);
        break;
    case VM_COMPARE:
        if (old == vm_value(t, op->x))
            *word = vm_value(t, op->y);
        else
            rad_looked(k);
        break;
    case VM_CAS:
        if (old == vm_value(t, op->x)) *word = vm_value(t, op->y);
        rad__kernel_value(k, (uint64_t)old);
        t->regs[op->to] = old == vm_value(t, op->x);
        if (!t->regs[op->to]) rad_looked(k);
        return;
    default: break;
    }
    rad__kernel_value(k, (uint64_t)old);
    t->regs[op->to] = old;
}

/* True when the thread goes on; false when it has gone to sleep. */
__attribute__((noinline)) static bool vm_run_shared(rad_vm *vm, rad_kernel *k, uint32_t thread, const vm_op *op)
{
    vm_thread *t = &vm->threads[thread];
    switch (op->code) {
    case VM_LOCK:
    case VM_RELOCK:
        if (op->code == VM_RELOCK) rad_touch(k, op->other, RAD_READ);
        mutex_take(vm, k, thread, vm_object(vm, t, op));
        break;
    case VM_UNLOCK: mutex_give(vm, k, thread, vm_object(vm, t, op)); break;
    case VM_WAIT: cond_wait(vm, k, thread, op); return false;
    case VM_SIGNAL:
    case VM_BROADCAST: cond_signal(vm, k, op); break;
    case VM_SPAWN:
    case VM_JOIN: vm_run_threads(vm, k, t, op); break;
    case VM_PICK:
        t->regs[op->to] = rad_pick(k, RAD_PICK_VALUE, op->site, (uint32_t)vm_value(t, op->x));
        rad__kernel_value(k, (uint64_t)t->regs[op->to]);
        break;
    case VM_FOLLOW:
        rad_evaluated(k, RAD_ORACLE_CRASH);
        rad__kernel_value(k, (uint64_t)vm_follow_pointer(vm, vm_value(t, op->x)));
        break;
    case VM_YIELD: rad_yields(k); break;
    default: RAD_ASSERT(false); break;
    }
    return true;
}

/* ---- The machine ----------------------------------------------------------------------------------- */

void rad__vm_reset(void *self, rad_kernel *k)
{
    rad_vm *vm = self;
    memcpy(vm->state, vm->image, vm->state_size);
    for (uint32_t i = 0; i < vm->object_count; i++) rad_object(k, RAD_NONE, vm->roles[i]);
    for (uint32_t i = 0; i < vm->thread_count; i++)
        if (vm->plan[i].state == VM_READY) thread_start(vm, k, i, RAD_NONE);
}

RAD_NO_CANARY void rad__vm_step(void *self, rad_kernel *k, uint32_t action)
{
    rad_vm *vm = self;
    uint32_t thread = vm->born[action];
    vm_thread *t = &vm->threads[thread];
    const vm_op *op = &vm->code[t->pc++];
    RAD_DCHECK(action < vm->totals->born && t->state == VM_READY && op->code < VM_SHARED_CODES); /* I1 */
    if (RAD_UNLIKELY(t->fresh)) {
        t->fresh = 0;
        rad_touch(k, vm->thread_object + thread, RAD_READ);
    }
    if (op->code < VM_MEMORY_CODES)
        vm_run_memory(vm, k, t, op);
    else if (!vm_run_shared(vm, k, thread, op))
        return;
    vm_next(vm, k, thread, t);
}

enum rad_end rad__vm_idle(void *self, rad_kernel *k)
{
    const rad_vm *vm = self;
    (void)k;
    return vm->totals->ended == vm->thread_count ? RAD_END_FINISHED : RAD_END_STUCK;
}

void rad__vm_check(void *self, rad_kernel *k)
{
    const rad_vm *vm = self;
    vm->toy->invariant(vm, k);
}

void rad__vm_state(const void *self, rad_state_hash *h)
{
    const rad_vm *vm = self;
    rad_state_add(h, vm->state, vm->hashed_size);
}

size_t rad__vm_save(const void *self, void *to)
{
    const rad_vm *vm = self;
    if (to) memcpy(to, vm->state, vm->state_size);
    return vm->state_size;
}

void rad__vm_load(void *self, const void *from)
{
    rad_vm *vm = self;
    memcpy(vm->state, from, vm->state_size);
}

const char *rad__vm_kind_name(const void *self, uint32_t kind)
{
    static const char *const names[VM_KINDS] = {
        [VM_KIND_STEP] = "step", [VM_KIND_WAKES] = "wakes", [VM_KIND_LOST] = "nobody was waiting"};
    (void)self;
    return kind < VM_KINDS ? names[kind] : NULL;
}

const char *rad__vm_site_name(const void *self, uint32_t site)
{
    const rad_vm *vm = self;
    for (uint32_t i = 0; vm->toy->sites[i] != NULL; i++)
        if (i == site) return vm->toy->sites[i];
    return NULL;
}
