/* timer.c — a wheel of timers: sleepers arm timers in memory of their own, wait or do not, disarm them and free
 * them, while expirers take out whatever is due. An expiry that is lost leaves a sleeper asleep, which the lab reports
 * as a deadlock; one that comes twice, too early, or after the timer was disarmed is counted; whoever touches a timer
 * that is disarmed touches freed memory.
 *
 * Time stands still until an expirer has nothing to do; then it moves to the wheel's next look. All deadlines lie in
 * one slot of level 1, and the wheel is compiled to move one timer per call: slots that are half moved are common. */
#include "rt/timer.h"
#include "base/alloc.h"
#include "lab/l2/model.h"
#include "os/wait.h"

enum { SLEEPERS, NAPS, EXPIRERS, READERS, APART };
enum { SLEEPERS_MAX = 3, FIRST_DEADLINE = 100 };

typedef struct sleeper {
    uint64_t deadline;
    _Atomic uint32_t woken;     /* the ticket of the timer that expired last */
    uint32_t disarmed, expired; /* plain: the first of the sleeper, the second of the expirers, in turn */
} sleeper;

static rad_wheel wheel;
static sleeper sleepers[SLEEPERS_MAX];
static rad_lock count_lock; /* of `expired` */
static _Atomic uint64_t clock_ns;
static _Atomic uint32_t bell, awake;

static uint32_t timer_threads(const rad_case *c)
{
    return (uint32_t)(c->params[SLEEPERS] + c->params[EXPIRERS] + c->params[READERS]);
}

static const char *timer_role(const rad_case *c, uint32_t thread)
{
    if (thread < (uint32_t)c->params[SLEEPERS]) return "sleeper";
    return thread < (uint32_t)(c->params[SLEEPERS] + c->params[EXPIRERS]) ? "expirer" : "reader";
}

static void timer_setup(const rad_case *c)
{
    rad__model_name(&wheel, sizeof wheel, "wheel");
    rad__model_name(sleepers, sizeof sleepers, "sleepers");
    rad__model_name(&clock_ns, sizeof clock_ns, "clock");
    rad__model_name(&bell, sizeof bell, "bell");
    rad__wheel_open(&wheel, 0);
    atomic_init(&awake, (uint32_t)c->params[SLEEPERS]);
    for (uint32_t i = 0; i < SLEEPERS_MAX; i++) sleepers[i].deadline = FIRST_DEADLINE + i * (uint64_t)c->params[APART];
}

static void ring(void)
{
    /* Pairs with the load in expirer_body; release, although the wheel's lock says all there is to say. */
    atomic_fetch_add_explicit(&bell, 1, memory_order_release);
    rad__os_word_wake(&bell, UINT32_MAX);
}

/* ---- Sleepers --------------------------------------------------------------------------------------------------- */

static void nap(sleeper *s, uint32_t ticket)
{
    rad_wheel_timer *t = rad__alloc(1, sizeof *t);
    bool waits = rad__model_choose(2) == 0;
    if (rad__wheel_arm(&wheel, t, s->deadline, s, ticket)) ring();
    uint64_t next = rad__wheel_next(&wheel);
    /* W3, unless it has expired; acquire pairs with the store in expire(). */
    RAD_MODEL_ASSERT(next <= s->deadline || next <= atomic_load_explicit(&clock_ns, memory_order_relaxed) ||
                     atomic_load_explicit(&t->armed, memory_order_acquire) == 0);
    uint32_t woken;
    /* Pairs with the store in expirer_body. */
    while (waits && (woken = atomic_load_explicit(&s->woken, memory_order_acquire)) != ticket)
        rad__os_word_wait(&s->woken, woken);
    bool disarmed = rad__timer_disarm(t);
    RAD_MODEL_ASSERT(!(disarmed && waits));
    s->disarmed += disarmed;
    rad__free(t);
}

static void sleeper_body(const rad_case *c, sleeper *s)
{
    for (uint32_t i = 1; i <= (uint32_t)c->params[NAPS]; i++) nap(s, i);
    atomic_fetch_sub_explicit(&awake, 1, memory_order_relaxed);
    ring();
}

/* ---- Expirers --------------------------------------------------------------------------------------------------- */

static void let_time_pass(uint64_t until)
{
    uint64_t now = atomic_load_explicit(&clock_ns, memory_order_relaxed);
    while (now < until &&
           !atomic_compare_exchange_weak_explicit(&clock_ns, &now, until, memory_order_relaxed, memory_order_relaxed)) {
    }
}

static void wake(const rad_expired *e)
{
    sleeper *s = e->who;
    RAD_MODEL_ASSERT(s->deadline <= atomic_load_explicit(&clock_ns, memory_order_relaxed));
    rad__lock(&count_lock);
    s->expired++;
    rad__unlock(&count_lock);
    /* Pairs with the load in nap. */
    atomic_store_explicit(&s->woken, e->ticket, memory_order_release);
    rad__os_word_wake(&s->woken, 1);
}

static void expirer_body(void)
{
    for (;;) {
        rad_expired out[2];
        /* Pairs with ring: whatever is armed after this look changes the bell. */
        uint32_t heard = atomic_load_explicit(&bell, memory_order_acquire);
        uint64_t next = rad__wheel_next(&wheel);
        if (next == UINT64_MAX) {
            if (atomic_load_explicit(&awake, memory_order_relaxed) == 0) return;
            rad__os_word_wait(&bell, heard);
            continue;
        }
        let_time_pass(next);
        uint64_t now = atomic_load_explicit(&clock_ns, memory_order_relaxed);
        uint32_t count = rad__wheel_expire(&wheel, now, out, 2);
        for (uint32_t i = 0; i < count; i++) wake(&out[i]);
    }
}

static void timer_body(const rad_case *c, uint32_t thread)
{
    if (thread < (uint32_t)c->params[SLEEPERS]) {
        sleeper_body(c, &sleepers[thread]);
    } else if (thread < (uint32_t)(c->params[SLEEPERS] + c->params[EXPIRERS])) {
        expirer_body();
    } else {
        uint64_t next = rad__wheel_next(&wheel);
        RAD_MODEL_ASSERT(next == UINT64_MAX || next <= sleepers[SLEEPERS_MAX - 1].deadline);
    }
}

static void timer_check(const rad_case *c)
{
    RAD_MODEL_ASSERT(rad__wheel_next(&wheel) == UINT64_MAX);
    for (uint32_t i = 0; i < (uint32_t)c->params[SLEEPERS]; i++) {
        sleeper *s = &sleepers[i];
        RAD_MODEL_ASSERT(s->disarmed + s->expired == (uint32_t)c->params[NAPS]);
    }
}

static const rad_param timer_params[] = {
    [SLEEPERS] = {"sleepers", 2, 1, SLEEPERS_MAX, "threads that arm timers", false},
    [NAPS] = {"naps", 1, 1, 3, "timers each of them arms, one after the other", false},
    [EXPIRERS] = {"expirers", 1, 1, 2, "threads that take out what is due", false},
    [READERS] = {"readers", 0, 0, 2, "threads that ask for the next look", false},
    [APART] = {"apart", 3, 0, 9, "how far apart their deadlines are", false},
    {.name = NULL},
};

RAD_MODEL(timer, .name = "l2-timer",
          .about = "a wheel of timers: disarm against expire, no timer lost, none touched after",
          .params = timer_params, .covers = "timer lock", .no_locals = true, .thread_count = timer_threads,
          .thread_role = timer_role, .setup = timer_setup, .body = timer_body, .check = timer_check);
