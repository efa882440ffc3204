/* frames.c — places in the program's code, as the file that holds them and an offset in it: raddle finds the functions
 * and lines. Only a run that is told has them: no digest depends on a compiler. */
#define _GNU_SOURCE
#include "lab/programs/fibers/stage.h"

#include "lab/programs/fibers/files.h"
#include "lab/programs/fibers/tell.h"
#include "lab/programs/stream.h"
#include "lab/programs/threads/threads.h"
#include "os/backtrace.h"

#include <link.h>

enum { MODULES_MAX = 256, FRAMES_MAX = 24 };

/* Files that were told, by where their headers lie. */
static struct {
    uint32_t count;
    const void *headers[MODULES_MAX];
} modules;

typedef struct search {
    uintptr_t address;
    uint32_t module; /* RAD_NONE: in none, or in this library */
    uint64_t offset;
    const char *name; /* of the function, or NULL */
} search;

static uint32_t module_number(const struct dl_phdr_info *info)
{
    for (uint32_t i = 0; i < modules.count; i++)
        if (modules.headers[i] == info->dlpi_phdr) return i;
    if (modules.count == MODULES_MAX) return RAD_NONE;
    rad__tell_apart(RAD_STREAM_MODULE, modules.count, 0, 0, 0, info->dlpi_name);
    modules.headers[modules.count] = info->dlpi_phdr;
    return modules.count++;
}

/* False: it is in none of the program's files. */
static bool find(search *s, uintptr_t address)
{
    struct dl_phdr_info info;
    uintptr_t own = (uintptr_t)&rad__stage; /* tidy: address ok: in the same object or not */
    *s = (search){.address = address, .module = RAD_NONE};
    if (!rad__file_at(&info, address) || rad__file_has(&info, own)) return false;
    s->module = module_number(&info);
    s->offset = address - info.dlpi_addr;
    s->name = rad__file_function(&info, address);
    return s->module != RAD_NONE;
}

static void calls_of(const rad_runner *r, rad_backtrace *calls)
{
    const rad_fiber_stack *fiber_stack = r->kind == RAD_RUNNER_FIBER ? r->slot->strand.fiber_stack : NULL;
    calls->count = 0;
    if (fiber_stack != NULL)
        rad__backtrace(calls, &fiber_stack->context, fiber_stack->base, fiber_stack->size);
    else if (r->kind == RAD_RUNNER_THREAD && r->stack != NULL)
        rad__backtrace(calls, &r->context, r->stack, r->stack_size);
}

static void tell_at(const rad_runner *r, uint32_t depth, const search *s)
{
    rad__tell_apart(RAD_STREAM_AT, r->number, depth, s->module, (int64_t)s->offset, NULL);
}

/* The innermost calls that the program makes: where an operation returns to, if the program itself called it. Of a
 * thread several, for it may have called it by way of headers: raddle takes the first that is not in one. */
static void tell_call(const rad_runner *r)
{
    search s;
    rad_backtrace calls;
    uint32_t told = 0, most = r->kind == RAD_RUNNER_THREAD ? RAD_STREAM_AT_MOST : 1;
    uintptr_t caller = (uintptr_t)r->caller; /* told as an offset. tidy: address ok */
    if (r->caller != NULL && find(&s, caller - 1)) {
        tell_at(r, 0, &s);
        return;
    }
    calls_of(r, &calls);
    for (uint32_t i = 0; i < calls.count && told < most; i++)
        if (find(&s, calls.at[i])) tell_at(r, told++, &s);
    if (told == 0) tell_at(r, 0, &s);
}

void rad__frames_tell_call(const rad_runner *r)
{
    search s = {.module = RAD_NONE};
    bool begins = r->site == RAD_AT_BEGIN && r->kind == RAD_RUNNER_FIBER;
    bool none = r->site == RAD_AT_END || r->kind == RAD_RUNNER_CLOCK;
    uintptr_t function = (uintptr_t)r->fn; /* told as an offset. tidy: address ok */
    if (begins) find(&s, function);
    if (begins || none)
        tell_at(r, 0, &s);
    else
        tell_call(r);
}

static void tell_caller(enum rad_stream_what what, uint32_t of, const void *caller)
{
    search s;
    uintptr_t address = (uintptr_t)caller; /* told as an offset. tidy: address ok */
    if (caller != NULL && find(&s, address - 1)) rad__tell_apart(what, of, 0, s.module, (int64_t)s.offset, NULL);
}

void rad__frames_tell_made(uint32_t object, const void *caller)
{
    tell_caller(RAD_STREAM_MADE, object, caller);
}

void rad__frames_tell_started(uint32_t runner, const void *caller)
{
    tell_caller(RAD_STREAM_STARTED, runner, caller);
}

static void tell_stack(const rad_runner *r, const rad_backtrace *calls, enum rad_stream_stack how)
{
    search s;
    uint32_t told = 0;
    for (uint32_t i = 0; i < calls->count && told < FRAMES_MAX; i++) {
        if (!find(&s, calls->at[i])) continue;
        if (told++ == 0) rad__tell_apart(RAD_STREAM_STACK, r->number, how, 0, 0, NULL);
        rad__tell_apart(RAD_STREAM_FRAME, r->number, 0, s.module, (int64_t)s.offset, s.name);
    }
}

static void tell_waiting(const rad_runner *but)
{
    rad_backtrace calls;
    for (uint32_t i = 0; i < rad__stage.runner_count; i++) {
        const rad_runner *r = &rad__stage.runners[i];
        bool waits = r->kind == RAD_RUNNER_FIBER || rad__thread_is_waiting(r);
        if (!waits || r->ended || r->enabled || r == but) continue;
        calls_of(r, &calls);
        tell_stack(r, &calls, RAD_STACK_WAITS);
    }
}

void rad__frames_tell_failed(const rad_runner *r, const rad_backtrace *calls, bool full)
{
    tell_stack(r, calls, full ? RAD_STACK_FULL : RAD_STACK_FAILED);
    tell_waiting(r);
}

void rad__frames_tell_all(bool failed)
{
    rad_backtrace calls;
    const rad_runner *r = rad__stage.current ? rad__stage.current : rad__stage.end.runner;
    if (!rad__tell_streams()) return;
    if (failed && r) {
        calls_of(r, &calls);
        rad__frames_tell_failed(r, &calls, false);
    } else {
        tell_waiting(NULL);
    }
}
