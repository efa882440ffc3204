/* task.c — how tasks get in and go on: the calls of raddle.h for any thread, and for tasks. */
#include "exec/thread/thread.h"

/* ---- From any thread -------------------------------------------------------------------------------- */

bool rad_exec_spawn(rad_exec *exec, rad_task *task)
{
    uint32_t woken;
    if (rad__sched_spawn(&exec->sched, task, &woken) != RAD_GATE_ENTERED) return false;
    rad__exec_wake_thread(exec, woken);
    return true;
}

bool rad_exec_spawn_batch(rad_exec *exec, rad_task *const *tasks, uint32_t count)
{
    rad_sched *s = &exec->sched;
    if (count == 0) return rad__gate_is_open(&s->gate);
    if (rad__sched_spawn_batch(s, tasks, count) != RAD_GATE_ENTERED) return false;
    uint32_t most = count < s->config.workers ? count : s->config.workers;
    for (uint32_t i = 0; i < most; i++) {
        uint32_t woken = rad__idle_notify(&s->idle);
        if (woken == RAD_NONE) break;
        rad__exec_wake_thread(exec, woken);
    }
    return true;
}

bool rad_exec_spawn_on(rad_exec *exec, uint32_t index, rad_task *task)
{
    RAD_ASSERT(index < exec->sched.config.workers);
    if (rad__gate_enter(&exec->sched.gate, 1) != RAD_GATE_ENTERED) return false;
    rad_exec_wake_on(exec, index, task);
    return true;
}

void rad_exec_wake(rad_exec *exec, rad_task *task)
{
    rad__exec_wake_thread(exec, rad__sched_wake(&exec->sched, task));
}

void rad__exec_wake_near(rad_exec *exec, uint32_t index, rad_task *task)
{
    rad__exec_wake_thread(exec, rad__sched_wake_near(&exec->sched, index, task));
}

void rad_exec_wake_on(rad_exec *exec, uint32_t index, rad_task *task)
{
    RAD_ASSERT(index < exec->sched.config.workers);
    rad__exec_wake_thread(exec, rad__sched_send(&exec->sched, index, task));
    rad__shell_ring(&exec->shells[index]);
}

uint32_t rad_exec_workers(const rad_exec *exec)
{
    return exec->sched.config.workers;
}

/* ---- For tasks --------------------------------------------------------------------------------------- */

void rad__shell_offer(rad_worker *w, uint32_t woken)
{
    if (woken == RAD_NONE) woken = rad__worker_share(w);
    rad__exec_wake_thread(rad__shell_of(w)->exec, woken);
}

void rad_worker_spawn(rad_worker *w, rad_task *task)
{
    rad__shell_spawn(w, task);
}

void rad_worker_spawn_global(rad_worker *w, rad_task *task)
{
    rad__exec_wake_thread(rad__shell_of(w)->exec, rad__worker_spawn_global(w, task));
}

void rad_worker_spawn_on(rad_worker *w, uint32_t index, rad_task *task)
{
    RAD_ASSERT(index < w->sched->config.workers);
    rad_exec *exec = rad__shell_of(w)->exec;
    rad__exec_wake_thread(exec, rad__worker_spawn_on(w, index, task));
    rad__shell_ring(&exec->shells[index]);
}

void rad_worker_wake(rad_worker *w, rad_task *task)
{
    uint32_t woken = rad__worker_wake(w, task);
    if (RAD_UNLIKELY(woken != RAD_NONE || rad__idle_could_wake(&w->sched->idle))) rad__shell_offer(w, woken);
}

enum rad_run rad_worker_fail(rad_worker *w, int64_t code)
{
    w->failure = code;
    return RAD_RUN_FAILED;
}

void *rad_worker_scratch(rad_worker *w)
{
    return rad__shell_of(w)->scratch;
}

uint32_t rad_worker_index(const rad_worker *w)
{
    return w->id;
}

rad_exec *rad_worker_exec(const rad_worker *w)
{
    return ((const rad_shell *)w)->exec;
}

/* ---- Counts ------------------------------------------------------------------------------------------ */

static void counts_add(rad_exec_counts *counts, const rad_worker_stats *from)
{
    static const struct {
        size_t from, to;
    } fields[] = {
#define FIELD(from, to) {offsetof(rad_worker_stats, from), offsetof(rad_exec_counts, to)}
        FIELD(ran, ran),
        FIELD(ended, ended),
        FIELD(spawned, spawned),
        FIELD(from_local, from_local),
        FIELD(from_later, from_later),
        FIELD(from_inbox, from_inbox),
        FIELD(from_injector, from_shared),
        FIELD(stolen, stolen),
        FIELD(tried, missed),
        FIELD(parked, slept),
        FIELD(woke, woke),
#undef FIELD
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const char *at = (const char *)from + fields[i].from;
        *(uint64_t *)((char *)counts + fields[i].to) +=
            atomic_load_explicit((const _Atomic uint64_t *)at, memory_order_relaxed);
    }
}

void rad_exec_stats(const rad_exec *exec, uint32_t index, rad_exec_counts *counts)
{
    uint32_t workers = exec->sched.config.workers;
    RAD_ASSERT(index < workers || index == RAD_NONE);
    *counts = (rad_exec_counts){.in_flight = rad__gate_count(&exec->sched.gate)};
    for (uint32_t i = 0; i < workers; i++)
        if (index == i || index == RAD_NONE) counts_add(counts, &exec->shells[i].worker.stats);
}
