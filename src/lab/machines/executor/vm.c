/* vm.c — the tasks of a trial: one instruction per run, calling production as a real task would. */
#include "base/alloc.h"
#include "lab/machines/executor/world.h"

static enum rad_run vm_run(rad_task *task, rad_worker *worker);

rad_vm_task *rad__vm_task(rad_exec_world *w, uint32_t program, uint32_t at)
{
    uint32_t id = w->task_count, chunk = id / RAD_TASKS_CHUNK;
    if (chunk == RAD_TASK_CHUNKS_MAX) {
        w->too_many_tasks = true;
        return NULL;
    }
    if (chunk == w->chunk_count) {
        w->chunks[chunk] = rad__alloc(RAD_TASKS_CHUNK, sizeof(rad_vm_task));
        if (w->chunks[chunk] == NULL) {
            w->too_many_tasks = true;
            return NULL;
        }
        w->chunk_count++;
    }
    rad_vm_task *t = rad__world_task(w, id);
    *t =
        (rad_vm_task){.id = id, .program = (uint16_t)program, .pc = (uint16_t)at, .older = RAD_NONE, .newer = RAD_NONE};
    t->task.run = vm_run;
    w->task_count++;
    return t;
}

void rad__vm_start(rad_exec_world *w, rad_vm_task *t)
{
    uint32_t woken = RAD_NONE;
    enum rad_gate_enter answer = rad__sched_spawn(&w->sched, &t->task, &woken);
    rad__ledger_entered(w, t, answer);
    if (answer != RAD_GATE_ENTERED) {
        rad__world_note(w, RAD_NOTE_REFUSED, t->id);
        t->state = RAD_TASK_REFUSED;
        w->ledger.refused++;
        return;
    }
    rad__ledger_admitted(w, t);
    rad__ledger_queued(w, t, RAD_LINE_INJECTOR, 0);
    rad__ledger_notified(w, woken);
    rad__world_wake(w, woken);
}

void rad__vm_unblock(rad_exec_world *w, rad_vm_task *t)
{
    uint32_t woken = rad__sched_wake(&w->sched, &t->task);
    rad__ledger_queued(w, t, RAD_LINE_INJECTOR, 0);
    rad__ledger_notified(w, woken);
    rad__world_wake(w, woken);
}

/* ---- Instructions ----------------------------------------------------------------------------------- */

static void vm_spawn(rad_exec_world *w, rad_worker *worker, const rad_exec_instruction *in)
{
    rad_vm_task *child = rad__vm_task(w, in->what, 0);
    uint32_t woken = RAD_NONE, to = in->amount % w->c->workers;
    if (child == NULL) return;
    rad__world_cover(w, RAD_COVER_PLACE + in->place);
    switch (in->place) {
    case RAD_PLACE_LOCAL:
        woken = rad__worker_spawn(worker, &child->task);
        rad__ledger_admitted(w, child);
        rad__ledger_queued(w, child, RAD_LINE_LOCAL, worker->id);
        rad__ledger_local_spawn(w, worker->id, woken);
        break;
    case RAD_PLACE_GLOBAL:
        woken = rad__worker_spawn_global(worker, &child->task);
        rad__ledger_admitted(w, child);
        rad__ledger_queued(w, child, RAD_LINE_INJECTOR, 0);
        rad__ledger_notified(w, woken);
        break;
    case RAD_PLACE_TO:
        woken = rad__worker_spawn_on(worker, to, &child->task);
        rad__ledger_admitted(w, child);
        rad__ledger_queued(w, child, RAD_LINE_INBOX, to);
        rad__ledger_notified_worker(w, to, woken);
        break;
    default: rad__vm_start(w, child); break;
    }
    rad__world_wake(w, woken);
}

static bool vm_acquire(rad_exec_world *w, rad_vm_task *t, const rad_exec_instruction *in)
{
    rad_touch(w->k, w->resource_objects[in->what], RAD_WRITE);
    if (w->available[in->what] < in->amount) {
        rad__world_note(w, RAD_NOTE_TOO_FEW, w->available[in->what]);
        return false;
    }
    w->available[in->what] -= in->amount;
    t->held[in->what] += in->amount;
    return true;
}

static void vm_release(rad_exec_world *w, rad_vm_task *t, const rad_exec_instruction *in)
{
    uint32_t object = w->resource_objects[in->what];
    rad_touch(w->k, object, RAD_WRITE);
    RAD_EXEC_CHECK(w, DOUBLE_RELEASE, t->held[in->what] >= in->amount, object,
                   "task %u gives back %u units of resource %u and holds %u", t->id, (unsigned)in->amount,
                   (unsigned)in->what, (unsigned)t->held[in->what]);
    uint32_t units = in->amount < t->held[in->what] ? in->amount : t->held[in->what];
    t->held[in->what] -= units;
    w->available[in->what] += units;
}

static enum rad_run vm_sleep(rad_exec_world *w, rad_vm_task *t, const rad_exec_instruction *in)
{
    t->until = w->now + in->amount;
    t->slept = w->sleeps++;
    t->state = RAD_TASK_SLEEPING;
    if (rad__event_queue_push(&w->sleepers, t->until, t->id) != RAD_QUEUE_OK) w->too_many_tasks = true;
    return RAD_RUN_BLOCKED;
}

static enum rad_run vm_wait(rad_exec_world *w, rad_vm_task *t, const rad_exec_instruction *in)
{
    uint32_t on = in->what;
    if (w->tokens[on] == RAD_TOKEN_OPEN) {
        t->pc--; /* looks again when it is woken */
        rad__world_note(w, RAD_NOTE_BLOCKS, 0);
        rad__ledger_waits(w, t, on);
        return RAD_RUN_BLOCKED;
    }
    if (w->tokens[on] == RAD_TOKEN_FAILED && in->fail != UINT16_MAX) t->pc = in->fail;
    return RAD_RUN_AGAIN;
}

static enum rad_run vm_end(rad_exec_world *w, rad_vm_task *t, bool panic)
{
    for (uint32_t i = 0; !panic && i < w->c->resource_count; i++)
        RAD_EXEC_CHECK(w, PERMIT_LEAK, t->held[i] == 0, w->resource_objects[i],
                       "task %u ended and holds %u units of resource %u", t->id, (unsigned)t->held[i], (unsigned)i);
    for (uint32_t i = 0; panic && i < w->c->resource_count; i++) { /* as a destructor would */
        w->available[i] += t->held[i];
        t->held[i] = 0;
    }
    t->state = RAD_TASK_ENDED;
    return panic ? RAD_RUN_FAILED : RAD_RUN_DONE;
}

/* The end of a program is a `complete`. */
static const rad_exec_instruction *vm_fetch(const rad_exec_world *w, const rad_vm_task *t)
{
    static const rad_exec_instruction complete = {.op = RAD_OP_COMPLETE};
    const rad_program *p = &w->c->programs[t->program];
    return t->pc < p->length ? &p->code[t->pc] : &complete;
}

enum rad_op rad__vm_next_op(const rad_exec_world *w, const rad_vm_task *t)
{
    return (enum rad_op)vm_fetch(w, t)->op;
}

/* The note that tells the instruction it is at. */
static uint32_t code_kind(const rad_vm_task *t)
{
    uint32_t pc = t->pc < RAD_CODE_MAX ? t->pc : RAD_CODE_MAX;
    return (uint32_t)RAD_KIND_CODE + t->program * (RAD_CODE_MAX + 1) + pc;
}

static enum rad_run vm_run(rad_task *task, rad_worker *worker)
{
    rad_vm_task *t = (rad_vm_task *)task;
    rad_exec_world *w = worker->shell;
    RAD_EXEC_CHECK(w, DOUBLE_RUN, t->state == RAD_TASK_CURRENT && t->where == worker->id, w->task_object,
                   "worker %u runs task %u, which is not its current one", worker->id, t->id);
    const rad_exec_instruction *in = vm_fetch(w, t);
    rad__world_cover(w, RAD_COVER_OP + in->op);
    rad_note(w->k, code_kind(t), RAD_NONE, t->id);
    t->pc++;
    switch (in->op) {
    case RAD_OP_YIELD: return in->place == RAD_PLACE_LOCAL ? RAD_RUN_YIELD : RAD_RUN_YIELD_GLOBAL;
    case RAD_OP_SPAWN: vm_spawn(w, worker, in); return RAD_RUN_AGAIN;
    case RAD_OP_SLEEP: return vm_sleep(w, t, in);
    case RAD_OP_WAIT_IO: return vm_wait(w, t, in);
    case RAD_OP_ACQUIRE: t->pc = vm_acquire(w, t, in) ? in->ok : in->fail; return RAD_RUN_AGAIN;
    case RAD_OP_RELEASE: vm_release(w, t, in); return RAD_RUN_AGAIN;
    case RAD_OP_JUMP: t->pc = in->ok; return RAD_RUN_AGAIN;
    case RAD_OP_PANIC:
        worker->failure = (int64_t)t->id + 1;
        if (w->ledger.failure == 0) w->ledger.failure = worker->failure;
        return vm_end(w, t, true);
    default: return vm_end(w, t, false);
    }
}
