/* idle.c — no wakeup is lost: workers go to sleep (K1 … K4 of exec/idle.h) while producers make work visible and
 * notify (W1 … W4). Work is a count; whoever is awake takes one. A worker that sleeps although there is work for
 * which nobody else is awake sleeps for ever, which the lab reports as a deadlock. With `meet`, pieces of work are
 * done two at a time, each waiting for the other: then it also counts that a second worker is woken for the
 * second piece. With `letters`, one more thread sends the last worker something that only it can do. */
#include "exec/idle.h"
#include "lab/l2/model.h"
#include "os/wait.h"

enum { WORKERS, PRODUCERS, ITEMS, MEET, LETTERS, PLAIN };

static rad_idle idle;
static _Atomic uint32_t work; /* made and not yet taken */
static _Atomic uint32_t mail; /* the same, for the last worker alone */
static _Atomic uint32_t met;  /* pieces that were begun */
static _Atomic uint32_t open; /* to be done in all; the worker that does the last one calls the others */

static uint32_t idle_threads(const rad_case *c)
{
    return (uint32_t)(c->params[WORKERS] + c->params[PRODUCERS] + (c->params[LETTERS] > 0));
}

static const char *idle_role(const rad_case *c, uint32_t thread)
{
    if (thread < (uint32_t)c->params[WORKERS]) return "worker";
    return thread < (uint32_t)(c->params[WORKERS] + c->params[PRODUCERS]) ? "producer" : "sender";
}

static void idle_setup(const rad_case *c)
{
    rad__model_name(&idle.searching, sizeof idle.searching, "searching");
    rad__model_name(&idle.bits, sizeof idle.bits, "bits");
    rad__model_name(&idle.next, sizeof idle.next, "next");
    rad__model_name(&work, sizeof work, "work");
    rad__model_name(&mail, sizeof mail, "mail");
    rad__model_name(&open, sizeof open, "open");
    rad__model_name(&met, sizeof met, "met");
    RAD_MODEL_ASSERT(rad__idle_open(&idle, (uint32_t)c->params[WORKERS], c->params[PLAIN] != 0));
    rad__model_name(idle.seats, (size_t)c->params[WORKERS] * sizeof *idle.seats, "token");
    atomic_init(&open, (uint32_t)(c->params[PRODUCERS] * c->params[ITEMS] + c->params[LETTERS]));
}

static void wake(uint32_t worker)
{
    if (worker != RAD_NONE) rad__os_word_wake(&idle.seats[worker].wake_word, 1);
}

static void call_all(uint32_t workers)
{
    for (uint32_t i = 0; i < workers; i++) {
        rad__idle_call(&idle, i);
        wake(i);
    }
}

static bool take_from(_Atomic uint32_t *made)
{
    uint32_t left = atomic_load_explicit(made, memory_order_relaxed);
    while (left > 0) /* pairs with the producers' add */
        if (atomic_compare_exchange_weak_explicit(made, &left, left - 1, memory_order_seq_cst, memory_order_relaxed))
            return true;
    return false;
}

static bool gets_mail(const rad_case *c, uint32_t worker)
{
    return c->params[LETTERS] > 0 && worker + 1 == (uint32_t)c->params[WORKERS];
}

static bool take_one(const rad_case *c, uint32_t self)
{
    return (gets_mail(c, self) && take_from(&mail)) || take_from(&work);
}

/* It takes two workers, and an even number of pieces. The plain order may wake one who cannot come. */
static bool meets(const rad_case *c)
{
    return c->params[MEET] && c->params[WORKERS] >= 2 && c->params[LETTERS] == 0 && c->params[PLAIN] == 0 &&
           c->params[PRODUCERS] * c->params[ITEMS] % 2 == 0;
}

static void meet(void)
{
    uint32_t now = atomic_fetch_add_explicit(&met, 1, memory_order_relaxed) + 1;
    uint32_t both = (now + 1) / 2 * 2;
    rad__os_word_wake(&met, UINT32_MAX);
    while ((now = atomic_load_explicit(&met, memory_order_relaxed)) < both) rad__os_word_wait(&met, now);
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
    while (!rad__idle_take_wake_word(&idle, self)) {
        if (all_done()) return false;
        rad__os_word_wait(&idle.seats[self].wake_word, 0);
    }
    return true;
}

/* K3. */
static void look_again(const rad_case *c, uint32_t self)
{
    /* Pairs with the sender's add; the next one pairs with the producers'. */
    if (gets_mail(c, self) && atomic_load_explicit(&mail, memory_order_seq_cst) > 0)
        wake(rad__idle_notify_self(&idle, self, true));
    else if (atomic_load_explicit(&work, memory_order_seq_cst) > 0)
        wake(rad__idle_notify_self(&idle, self, false));
}

static void worker(const rad_case *c, uint32_t self)
{
    uint32_t workers = (uint32_t)c->params[WORKERS];
    bool searching = false;
    for (;;) {
        while (take_one(c, self)) {
            if (searching) found_something();
            searching = false;
            if (meets(c)) meet();
            /* Pairs with all_done. */
            if (atomic_fetch_sub_explicit(&open, 1, memory_order_seq_cst) == 1) call_all(workers);
        }
        if (all_done()) return;
        rad__idle_announce(&idle, self, searching); /* K1, K2 */
        look_again(c, self);
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
    bool sends = thread == (uint32_t)(c->params[WORKERS] + c->params[PRODUCERS]);
    for (int64_t i = 0; i < c->params[sends ? LETTERS : ITEMS]; i++) {
        /* W1, pairs with K3. */
        atomic_fetch_add_explicit(sends ? &mail : &work, 1, memory_order_seq_cst);
        wake(sends ? rad__idle_notify_worker(&idle, (uint32_t)c->params[WORKERS] - 1) : rad__idle_notify(&idle));
    }
}

static void idle_check(const rad_case *c)
{
    (void)c;
    RAD_MODEL_ASSERT(atomic_load_explicit(&work, memory_order_relaxed) == 0);
    RAD_MODEL_ASSERT(atomic_load_explicit(&mail, memory_order_relaxed) == 0);
    rad__idle_close(&idle);
}

static const rad_param idle_params[] = {
    [WORKERS] = {"workers", 1, 1, 3, "threads that work and sleep", false},
    [PRODUCERS] = {"producers", 1, 1, 3, "threads that make work", false},
    [ITEMS] = {"items", 1, 1, 4, "pieces of work of each", false},
    [MEET] = {"meet", 0, 0, 1, "two pieces at a time, each waiting for the other", true},
    [LETTERS] = {"letters", 0, 0, 2, "pieces that only the last worker can do", false},
    [PLAIN] = {"plain", 0, 0, 1, "workers are woken in turn, asleep or not", true},
    {.name = NULL},
};

RAD_MODEL(idle, .name = "l2-idle", .about = "who sleeps and whom to wake: no wakeup is lost", .params = idle_params,
          .covers = "idle", .no_locals = true, .thread_count = idle_threads, .thread_role = idle_role,
          .setup = idle_setup, .body = idle_body, .check = idle_check);
