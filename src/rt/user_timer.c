/* user_timer.c — timers of programs: while one runs, a fiber waits for its time, and then fires it.
 *
 *     stopped --start--> running --its time comes--> fired: the function is called, or whoever waits gets it
 *        ^------stop--------+  ^--start: another time--+
 *
 * Fiber     belongs to no nursery, so it does not matter what becomes of the fiber that started the timer. It waits
 *           with one clause on the timer (`changes`), until the time it has read. A start with an earlier time and a
 *           stop take the clause out and wake it. A start with a later time leaves it alone: it wakes at the old time,
 *           finds that it is too early, and waits again. So a start of a timer that runs costs a lock.
 * Claim     a start is answered by one firing, a later start (which returns 1), or a stop (true): all three change
 *           `running` under the lock.
 * Memory    the creator has a reference, and the fiber has one until it fires: then it does not look at the timer any
 *           more, and the function may destroy it.
 *
 * U1  while `running`, `attended`: a fiber is there, or about to be (start).
 * U2  `fired` and a clause in `waits` exclude one another; both only without a function.
 *
 * Rejected: a wheel that calls functions by itself (it would have to make a fiber when there may be no memory for one,
 * and a timer that is freed while it expires would need memory that stays). */
#include "rt/user_timer.h"

#include "base/alloc.h"
#include "os/clock.h"
#include "rt/ops.h"
#include "rt/wait_one.h"

struct rad_timer {
    rad_waitable object;
    rad_queue waits;   /* for a firing */
    rad_queue changes; /* its fiber */
    rad_fn fn;
    void *arg;
    rad_time when;
    rad_time awake; /* its fiber looks again then */
    bool running, attended, fired;
    rad_alive alive;
    uint32_t references; /* lock of the object, as all above */
    rad_mutex starts;    /* one at a time */
};

static void timer_check(const rad_timer *t, const char *call)
{
    if (RAD_UNLIKELY(t == NULL)) rad__misuse(call, "the timer is NULL");
    if (RAD_UNLIKELY(t->alive != RAD_ALIVE)) rad__misuse(call, "the timer was destroyed");
}

int rad__op_timer_create(rad_timer **timer, rad_fn fn, void *arg)
{
    *timer = rad__alloc_lines(1, sizeof **timer);
    if (*timer == NULL) return RAD_ENOMEM;
    rad__waitable_open(&(*timer)->object, RAD_KIND_TIMER);
    (*timer)->fn = fn;
    (*timer)->arg = arg;
    (*timer)->references = 1;
    (*timer)->alive = RAD_ALIVE;
    return 0;
}

/* With the lock, which is given back. */
static void give_up(rad_timer *t)
{
    bool last = --t->references == 0;
    rad__unlock(&t->object.lock);
    if (last) rad__free(t);
}

/* ---- Firing ------------------------------------------------------------------------------------------- */

/* With the lock, when nobody has stopped it; gives the lock back. What the fiber answers. */
static int fire(rad_timer *t)
{
    rad_wakes wakes = {0};
    rad_fn fn = t->fn;
    void *arg = t->arg;
    t->running = false;
    if (fn == NULL) {
        rad_clause *c = rad__queue_claim(&t->waits);
        t->fired = c == NULL;
        if (c != NULL) rad__wakes_add(&wakes, c);
    }
    give_up(t);
    rad__wakes_go(&wakes);
    return fn != NULL ? fn(arg) : 0;
}

static bool never(rad_clause *c, rad_wakes *wakes)
{
    (void)c, (void)wakes;
    return false;
}

static int attend(void *timer)
{
    rad_timer *t = timer;
    rad_strand *self = rad__running();
    rad_clause c;
    for (int code = 0;;) {
        uint64_t now = rad__os_now_ns();
        rad__lock(&t->object.lock);
        if (code == RAD_ECANCELED) t->running = false; /* the runtime is being shut down */
        if (!t->running || now >= t->when) break;
        rad__clause_open(&c, &t->object, &t->changes, never, NULL);
        t->awake = t->when;
        code = rad__wait_locked(&c, self, t->when);
    }
    t->attended = false;
    if (t->running) return fire(t);
    give_up(t);
    return 0;
}

/* ---- Calls -------------------------------------------------------------------------------------------- */

/* With the lock: its fiber looks again, now. */
static void call_fiber(rad_timer *t, rad_wakes *wakes)
{
    rad_clause *c = rad__queue_claim(&t->changes);
    if (c != NULL) rad__wakes_add(wakes, c);
}

/* Whether it would have fired, or did and nobody has received that. */
static bool take_back(rad_timer *t)
{
    bool pending = t->running || t->fired;
    t->running = t->fired = false;
    return pending;
}

bool rad__op_timer_stop(rad_timer *t)
{
    rad_wakes wakes = {0};
    timer_check(t, "rad_timer_stop");
    rad__lock(&t->object.lock);
    bool pending = take_back(t);
    call_fiber(t, &wakes);
    rad__unlock(&t->object.lock);
    rad__wakes_go(&wakes);
    return pending;
}

/* There is no fiber that attends to it, and one was promised. */
static int start_fiber(rad_timer *t)
{
    int code = rad__spawn("rad_timer_start", NULL, NULL, attend, t);
    if (code == 0) return 0;
    rad__lock(&t->object.lock);
    t->attended = t->running = false;
    give_up(t);
    return code;
}

int rad__op_timer_start(rad_timer *t, rad_time when)
{
    rad_wakes wakes = {0};
    timer_check(t, "rad_timer_start");
    rad__my_slot("rad_timer_start");
    rad_mutex_lock(&t->starts); /* whether there is a fiber is known when the one before has ended */
    rad__lock(&t->object.lock);
    int code = take_back(t), failed = 0;
    bool attended = t->attended;
    t->running = t->attended = true;
    t->when = when;
    t->references += attended ? 1 : 2; /* of this call: the function may destroy the timer meanwhile */
    if (attended && when < t->awake) call_fiber(t, &wakes);
    rad__unlock(&t->object.lock);
    rad__wakes_go(&wakes);
    if (!attended) failed = start_fiber(t);
    rad_mutex_unlock(&t->starts);
    rad__lock(&t->object.lock);
    give_up(t);
    return failed != 0 ? failed : code;
}

void rad__op_timer_destroy(rad_timer *t)
{
    if (t == NULL) return;
    timer_check(t, "rad_timer_destroy");
    rad__op_timer_stop(t);
    rad__lock(&t->object.lock);
    if (t->waits.first != NULL) rad__misuse("rad_timer_destroy", "a fiber or thread waits for it");
    rad__alive_end(&t->alive);
    give_up(t);
}

/* ---- Waiting ------------------------------------------------------------------------------------------- */

static bool fired_attempt(rad_clause *c, rad_wakes *wakes)
{
    (void)wakes;
    rad_timer *t = (rad_timer *)c->object;
    bool fired = t->fired;
    t->fired = false;
    return fired;
}

void rad__timer_clause(rad_clause *c, rad_timer *t, const char *call)
{
    timer_check(t, call);
    if (t->fn != NULL) rad__misuse(call, "the timer calls a function; it cannot be waited for");
    rad__clause_open(c, &t->object, &t->waits, fired_attempt, NULL);
}

int rad__op_timer_wait(rad_timer *t, rad_time until)
{
    rad_clause c;
    rad__timer_clause(&c, t, "rad_timer_wait");
    return rad__wait(&c, 1, until);
}
