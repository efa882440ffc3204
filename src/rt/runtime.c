#include "rt/runtime.h"

#include "base/alloc.h"
#include "base/error.h"
#include "os/clock.h"
#include "os/pages.h"

enum { STACK_PRESET = 128 << 10, STACK_LEAST = 16 << 10, STACK_MOST = 1 << 30 };

/* ---- Slots ------------------------------------------------------------------------------------------- */

static bool slot_open(rad_runtime *rt, rad_slot *slot)
{
    void *stack;
    if (rad__os_pages_map(&stack, rt->stack_size, NULL) != 0) return false;
    if (rad__os_pages_guard(stack, 4096, NULL) != 0) {
        rad__os_pages_unmap(stack, rt->stack_size);
        return false;
    }
    slot->stack = stack;
    rad__waitable_open(&slot->done, "fiber");
    rad__strand_open(&slot->strand, rt, stack, rt->stack_size, rad__slot_body);
    return true;
}

rad_slot *rad__runtime_grow(rad_runtime *rt, uint32_t count, int *code)
{
    rad_slot *first = NULL;
    rad__lock(&rt->lock);
    uint32_t room = rt->most - rt->slots;
    rad__unlock(&rt->lock);
    *code = room == 0 ? RAD_ELIMIT : RAD_ENOMEM;
    for (uint32_t i = 0; i < count && i < room; i++) {
        rad_slot *slot = rad__alloc_lines(1, sizeof *slot);
        if (slot == NULL) break;
        if (!slot_open(rt, slot)) {
            rad__free(slot);
            break;
        }
        rad__lock(&rt->lock);
        slot->made_before = rt->made;
        rt->made = slot;
        rt->slots++;
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
        rad__os_pages_unmap(slot->stack, rt->stack_size);
        rad__free(slot);
    }
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
    if (o->stack_size != 0 && (o->stack_size < STACK_LEAST || o->stack_size > STACK_MOST))
        return rad__error(error, RAD_EINPUT, "a stack_size of %zu bytes, not %d to %d",
                          o->stack_size, STACK_LEAST, STACK_MOST);
    return 0;
}

static int runtime_open(rad_runtime **out, const rad_options *o, rad_error *error)
{
    int code = options_check(o, error);
    if (code != 0) return code;
    rad_runtime *rt = rad__alloc_lines(1, sizeof *rt);
    if (rt == NULL) return rad__error_memory(error);
    size_t size = o->stack_size ? o->stack_size : STACK_PRESET;
    rt->stack_size = (size + RAD_PAGE_MAX - 1) / RAD_PAGE_MAX * RAD_PAGE_MAX;
    rt->most = o->fibers ? o->fibers : UINT32_MAX;
    rt->seed = o->seed;
    rad_exec_options exec = {
        .workers = o->workers, .seed = o->seed, .pin = o->pin, .scratch_size = sizeof(rad_seat)};
    rad_exec_hooks hooks = {.context = rt, .begin = worker_begins, .rest = worker_rests};
    code = rad__exec_create(&rt->exec, &exec, &hooks, error);
    if (code == 0)
        *out = rt;
    else
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
