#include "rt/runtime.h"

#include "base/alloc.h"
#include "base/error.h"
#include "os/clock.h"

enum { STACK_MOST = 1 << 30, FIBERS_MOST = 1 << 24 };

/* ---- Slots ------------------------------------------------------------------------------------------- */

static int slot_open(rad_runtime *rt, rad_slot *slot)
{
    int code = rad__stacks_new(&rt->stacks, &slot->stack, NULL);
    if (code != 0) return code;
    rad__waitable_open(&slot->done, "fiber");
    rad__strand_open(&slot->strand, rt, slot->stack.base, slot->stack.size, rad__slot_body);
    return 0;
}

rad_slot *rad__runtime_grow(rad_runtime *rt, uint32_t count, int *code)
{
    rad_slot *first = NULL;
    for (uint32_t i = 0; i < count; i++) {
        rad_slot *slot = rad__alloc_lines(1, sizeof *slot);
        *code = slot ? slot_open(rt, slot) : RAD_ENOMEM;
        if (*code != 0) {
            rad__free(slot);
            break;
        }
        rad__lock(&rt->lock);
        slot->made_before = rt->made;
        rt->made = slot;
        rad__unlock(&rt->lock);
        slot->next = first;
        first = slot;
    }
    return first;
}

static void slots_free(rad_runtime *rt)
{
    for (rad_slot *slot = rt->made, *before; slot != NULL; slot = before) {
        before = slot->made_before;
        rad__free(slot);
    }
    rad__stacks_close(&rt->stacks);
}

/* ---- Workers ----------------------------------------------------------------------------------------- */

static void worker_begins(void *context, rad_worker *w)
{
    rad_runtime *rt = context;
    rad_seat *seat = rad_worker_scratch(w);
    seat->core.worker = w;
    seat->core.runtime = rt;
    seat->prng = rad__prng(rt->seed, RAD_STREAM_SELECT, w->id);
    rad__wheel_open(&seat->wheel, rad__os_now_ns());
    rad__core_set(&seat->core);
}

static uint64_t worker_rests(void *context, rad_worker *w)
{
    rad_seat *seat = rad_worker_scratch(w);
    (void)context;
    uint64_t next = rad__wheel_next(&seat->wheel);
    if (next == UINT64_MAX) return UINT64_MAX;
    uint64_t now = rad__os_now_ns();
    if (next > now) return next - now;
    rad__timers_expire(seat, now);
    return 0;
}

/* ---- Running ----------------------------------------------------------------------------------------- */

static int options_check(const rad_options *o, rad_error *error)
{
    if (o->stack_size != 0 && (o->stack_size < RAD_STACK_SIZE_MIN || o->stack_size > STACK_MOST))
        return rad__error(error, RAD_EINPUT, "a stack_size of %zu bytes, not %d to %d",
                          o->stack_size, RAD_STACK_SIZE_MIN, STACK_MOST);
    return 0;
}

static int runtime_open(rad_runtime **out, const rad_options *o, rad_error *error)
{
    int code = options_check(o, error);
    if (code != 0) return code;
    rad_runtime *rt = rad__alloc_lines(1, sizeof *rt);
    if (rt == NULL) return rad__error_memory(error);
    rad_stacks_options stacks = {.size = o->stack_size,
                                 .most = o->fibers ? o->fibers : FIBERS_MOST};
    rt->seed = o->seed;
    code = rad__stacks_open(&rt->stacks, &stacks, error);
    if (code != 0) {
        rad__free(rt);
        return code;
    }
    rad_exec_options exec = {
        .workers = o->workers, .seed = o->seed, .pin = o->pin, .scratch_size = sizeof(rad_seat)};
    rad_exec_hooks hooks = {.context = rt, .begin = worker_begins, .rest = worker_rests};
    code = rad__exec_create(&rt->exec, &exec, &hooks, error);
    if (code == 0) {
        *out = rt;
        return 0;
    }
    slots_free(rt);
    rad__free(rt);
    return code;
}

static void runtime_free(rad_runtime *rt)
{
    rad_exec_destroy(rt->exec);
    slots_free(rt);
    rad__free(rt);
}

typedef struct first_fiber {
    rad_fn fn;
    void *arg;
    int code;
} first_fiber;

static int first_main(void *context)
{
    first_fiber *first = context;
    first->code = first->fn(first->arg);
    return first->code;
}

int rad_main(const rad_options *options, rad_fn main, void *arg, rad_error *error)
{
    static const rad_options preset;
    rad_runtime *rt = NULL;
    rad__error_clear(error);
    int code = runtime_open(&rt, options ? options : &preset, error);
    if (code != 0) return code;
    first_fiber first = {main, arg, 0};
    rad_slot *slot = rad__slot_take(rt, NULL, &code);
    if (slot != NULL) {
        rad__fiber_begin(slot, NULL, first_main, &first);
        bool taken = rad_exec_spawn(rt->exec, &slot->strand.task);
        RAD_ASSERT(taken); /* nobody has shut it */
        rad_exec_join(rt->exec);
        code = first.code;
    } else {
        rad__error(error, code, "no memory for the first fiber");
    }
    runtime_free(rt);
    return code;
}
