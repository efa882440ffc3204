/* idle.c — no wakeup is lost: workers go to sleep (K1 … K4 of exec/idle.h) while producers make work visible and
 * notify (W1 … W4). Work is a count; whoever is awake takes one. A worker that sleeps although there is work for
 * which nobody else is awake sleeps for ever, which the lab reports as a deadlock. With `meet`, pieces of work are
 * done two at a time, each waiting for the other: then it also counts that a second worker is woken for the
 * second piece. */
#include "exec/idle.h"
#include "lab/l2/model.h"
#include "os/wait.h"

enum { WORKERS, PRODUCERS, ITEMS, MEET };

static rad_idle idle;
static _Atomic uint32_t work; /* made and not yet taken */
static _Atomic uint32_t met;  /* pieces that were begun */
static _Atomic uint32_t
    open; /* to be done in all; the worker that does the last one calls the others */

static uint32_t idle_threads(const rad_case *c)
{
    return (uint32_t)(c->params[WORKERS] + c->params[PRODUCERS]);
}

static const char *idle_role(const rad_case *c, uint32_t thread)
{
    return thread < (uint32_t)c->params[WORKERS] ? "worker" : "producer";
}

static void idle_setup(const rad_case *c)
{
    rad__model_name(&idle.counts, sizeof idle.counts, "counts");
    rad__model_name(&idle.bits, sizeof idle.bits, "bits");
    rad__model_name(&idle.next, sizeof idle.next, "next");
    rad__model_name(&work, sizeof work, "work");
    rad__model_name(&open, sizeof open, "open");
    rad__model_name(&met, sizeof met, "met");
    RAD_MODEL_ASSERT(rad__idle_open(&idle, (uint32_t)c->params[WORKERS], false));
    rad__model_name(idle.seats, (size_t)c->params[WORKERS] * sizeof *idle.seats, "token");
    atomic_init(&open, (uint32_t)(c->params[PRODUCERS] * c->params[ITEMS]));
}

static void wake(uint32_t worker)
{
    if (worker != RAD_NONE) rad__os_word_wake(&idle.seats[worker].token, 1);
}

static void call_all(uint32_t workers)
{
    for (uint32_t i = 0; i < workers; i++) {
        rad__idle_call(&idle, i);
        wake(i);
    }
}

static bool take_one(void)
{
    uint32_t left = atomic_load_explicit(&work, memory_order_relaxed);
    while (left > 0) /* pairs with the producers' add */
        if (atomic_compare_exchange_weak_explicit(&work, &left, left - 1, memory_order_seq_cst,
                                                  memory_order_relaxed))
            return true;
    return false;
}

/* It takes two workers, and an even number of pieces. */
static bool meets(const rad_case *c)
{
    return c->params[MEET] && c->params[WORKERS] >= 2 &&
           c->params[PRODUCERS] * c->params[ITEMS] % 2 == 0;
}

static void meet(void)
{
    uint32_t now = atomic_fetch_add_explicit(&met, 1, memory_order_relaxed) + 1;
    uint32_t both = (now + 1) / 2 * 2;
    rad__os_word_wake(&met, UINT32_MAX);
    while ((now = atomic_load_explicit(&met, memory_order_relaxed)) < both)
        rad__os_word_wait(&met, now);
}

/* R1 and R2. */
static void found_something(void)
{
    if (!rad__idle_end_search(&idle)) return;
    /* Pairs with the producers' add. */
    if (atomic_load_explicit(&work, memory_order_seq_cst) > 0) wake(rad__idle_notify(&idle));
}

static bool all_done(void)
{
    /* Pairs with the subtraction in worker. */
    return atomic_load_explicit(&open, memory_order_seq_cst) == 0;
}

/* Waits for its token; true: it counts as a searcher now. */
static bool sleep_until_called(uint32_t self)
{
    while (!rad__idle_take_token(&idle, self)) {
        if (all_done()) return false;
        rad__os_word_wait(&idle.seats[self].token, 0);
    }
    return true;
}

static void worker(const rad_case *c, uint32_t self)
{
    uint32_t workers = (uint32_t)c->params[WORKERS];
    bool searching = false;
    for (;;) {
        while (take_one()) {
            if (searching) found_something();
            searching = false;
            if (meets(c)) meet();
            /* Pairs with all_done. */
            if (atomic_fetch_sub_explicit(&open, 1, memory_order_seq_cst) == 1) call_all(workers);
        }
        if (all_done()) return;
        rad__idle_announce(&idle, self, searching); /* K1, K2 */
        /* K3, pairs with the producers' add. */
        if (atomic_load_explicit(&work, memory_order_seq_cst) > 0)
            wake(rad__idle_notify_self(&idle, self, false));
        if (!sleep_until_called(self)) return;
        searching = true;
    }
}

static void idle_body(const rad_case *c, uint32_t thread)
{
    if (thread < (uint32_t)c->params[WORKERS]) {
        worker(c, thread);
        return;
    }
    for (int64_t i = 0; i < c->params[ITEMS]; i++) {
        /* W1, pairs with K3. */
        atomic_fetch_add_explicit(&work, 1, memory_order_seq_cst);
        wake(rad__idle_notify(&idle));
    }
}

static void idle_check(const rad_case *c)
{
    (void)c;
    RAD_MODEL_ASSERT(atomic_load_explicit(&work, memory_order_relaxed) == 0);
    rad__idle_close(&idle);
}

static const rad_param idle_params[] = {
    [WORKERS] = {"workers", 1, 1, 3, "threads that work and sleep", false},
    [PRODUCERS] = {"producers", 1, 1, 3, "threads that make work", false},
    [ITEMS] = {"items", 1, 1, 4, "pieces of work of each", false},
    [MEET] = {"meet", 0, 0, 1, "two pieces at a time, each waiting for the other", true},
    {.name = NULL},
};

RAD_MODEL(idle, .name = "l2-idle", .about = "who sleeps and whom to wake: no wakeup is lost",
          .params = idle_params, .covers = "idle", .no_locals = true, .thread_count = idle_threads,
          .thread_role = idle_role, .setup = idle_setup, .body = idle_body, .check = idle_check);
