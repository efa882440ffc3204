/* seat.c — a task makes work visible and then keeps its worker until another one has done it, while that other one
 * goes to sleep or, `retires`, leaves its spare seat (rad__worker_retire). Work that is left beside a sleeping worker
 * is never done, which the lab reports as a deadlock.
 *
 *              producer                              worker in a spare seat
 *         W1   makes work visible                    T1   its time is up: claims its own bit
 *              sees that worker's bit                     not set ? its token is on the way
 *         W2 … notifies                              T2   looks at every queue; something there ? stays
 * Claim: the work is done by that worker. Either W5 claims the bit, or T1 does, and then T2 is after W1. */
#include "exec/thread/thread.h"
#include "lab/l2/model.h"

enum { LOCAL, RETIRES, SPAWNS };
enum { SEATS = 2, SPAWNS_MAX = 2 };

typedef struct child {
    rad_task task;
    _Atomic uint32_t ran;
} child;

static rad_exec executor;
static rad_shell shells[SEATS];
static rad_task root;
static child children[SPAWNS_MAX];
static const rad_case *the_case;

static const char *seat_role(const rad_case *c, uint32_t thread)
{
    if (thread == 0) return "producer";
    return c->params[RETIRES] ? "spare" : "sleeper";
}

static enum rad_run child_body(rad_task *task, rad_worker *w)
{
    child *it = (child *)task;
    (void)w;
    uint32_t before = atomic_fetch_add_explicit(&it->ran, 1, memory_order_relaxed);
    RAD_MODEL_ASSERT(before == 0);
    rad__os_word_wake(&it->ran, 1);
    return RAD_RUN_DONE;
}

/* True: the other worker must do it, whatever else happens. */
static bool make_visible(rad_worker *w, rad_task *task)
{
    if (the_case->params[LOCAL]) {
        rad_worker_spawn(w, task);
        return !the_case->params[RETIRES];
    }
    rad__gate_add(&w->sched->gate, 1);
    rad__injector_push(&w->sched->injector, task); /* W1 */
    /* Pairs with K1 and with the claim in rad__idle_withdraw. */
    uint64_t bits = atomic_load_explicit(&w->sched->idle.bits[0], memory_order_seq_cst);
    rad__exec_wake_thread(&executor, rad__idle_notify(&w->sched->idle));
    return !the_case->params[RETIRES] || bits >> 1 & 1;
}

static enum rad_run root_body(rad_task *task, rad_worker *w)
{
    (void)task;
    for (int64_t i = 0; i < the_case->params[SPAWNS]; i++)
        if (make_visible(w, &children[i].task)) rad__os_word_wait(&children[i].ran, 0);
    return RAD_RUN_DONE;
}

static void seat_setup(const rad_case *c)
{
    rad_sched_config config = {.workers = c->params[RETIRES] ? 1 : 2,
                               .spare = c->params[RETIRES] ? 1 : 0,
                               .steal_tries = 1,
                               .hoard = SPAWNS_MAX + 1,
                               .rounds = 1,
                               .ring = 2};
    the_case = c;
    executor.shells = shells;
    executor.hooks.retire_ns = 10;
    RAD_MODEL_ASSERT(rad__sched_open(&executor.sched, &config));
    rad__idle_lighten(&executor.sched.idle, rad__os_barrier_register());
    rad__sched_enliven(&executor.sched, 1);
    rad__model_name(&executor.sched.idle, sizeof executor.sched.idle, "idle");
    rad__model_name(executor.sched.idle.seats, SEATS * sizeof *executor.sched.idle.seats, "token");
    rad__model_name(&executor, sizeof executor, "executor");
    rad__model_name(shells, sizeof shells, "shell");
    rad__model_name(children, sizeof children, "child");
    for (uint32_t i = 0; i < SEATS; i++) {
        RAD_MODEL_ASSERT(rad__worker_open(&shells[i].worker, &executor.sched, i));
        shells[i].exec = &executor;
    }
    for (uint32_t i = 0; i < SPAWNS_MAX; i++) children[i].task.run = child_body;
    root.run = root_body;
    RAD_MODEL_ASSERT(rad__gate_enter(&executor.sched.gate, 1) == RAD_GATE_ENTERED);
    rad__inbox_push(&shells[0].worker.inbox, &root);
    RAD_MODEL_ASSERT(!rad__sched_shut(&executor.sched));
}

static void seat_body(const rad_case *c, uint32_t thread)
{
    (void)c;
    rad_shell *shell = &shells[thread];
    while (shell->worker.phase != RAD_PHASE_STOPPED && !shell->gone) rad__shell_step(shell);
}

static void seat_check(const rad_case *c)
{
    RAD_MODEL_ASSERT(rad__sched_leftover(&executor.sched) == NULL);
    RAD_MODEL_ASSERT(c->params[RETIRES] || !shells[1].gone);
    for (int64_t i = 0; i < c->params[SPAWNS]; i++) RAD_MODEL_ASSERT(children[i].ran == 1);
    for (uint32_t i = 0; i < SEATS; i++) rad__worker_close(&shells[i].worker);
    rad__sched_close(&executor.sched);
}

static const rad_param seat_params[] = {
    [LOCAL] = {"local", 0, 0, 1, "the work lies in the producer's own queue", true},
    [RETIRES] = {"retires", 0, 0, 1, "the other worker has a spare seat, which it may leave", true},
    [SPAWNS] = {"spawns", 1, 1, SPAWNS_MAX, "pieces of work", false},
    {.name = NULL},
};

RAD_MODEL(seat, .name = "l2-seat", .about = "a worker sleeps or leaves its seat while work comes",
          .params = seat_params, .covers = "idle worker thread/task", .no_locals = true, .threads = SEATS,
          .thread_role = seat_role, .setup = seat_setup, .body = seat_body, .check = seat_check);
