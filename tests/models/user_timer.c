/* user_timer.c — timers of programs (rt/user_timer.c): a fiber starts one, and starts it again, while a thread stops it
 * and the clock moves. Every start is answered by a firing, another start or a stop, exactly one of them, and nothing
 * fires early. The function may destroy its timer. */
#include "crew.h"
#include "lab/l2/model.h"

#include <raddle/chan.h>

enum { KIND, WORKERS };
enum { STOPPED, LATER, EARLIER, RECEIVED, DESTROYS, KINDS };
enum { SPAN = 10 };

static rad_timer *timer;
static rad_time due;
static uint32_t starts, restarts, stops;
static _Atomic uint32_t fires; /* a second firing does not wait for the function of the first one */
static int received;

static bool is_stopped(const rad_case *c)
{
    return c->params[KIND] != DESTROYS;
}

static uint32_t timer_threads(const rad_case *c)
{
    return (uint32_t)c->params[WORKERS] + is_stopped(c);
}

static const char *timer_role(const rad_case *c, uint32_t thread)
{
    return thread < (uint32_t)c->params[WORKERS] ? "worker" : "other";
}

static int fire(void *arg)
{
    const rad_case *c = arg;
    RAD_MODEL_ASSERT(rad_now() >= due);
    atomic_fetch_add_explicit(&fires, 1, memory_order_relaxed);
    if (c->params[KIND] == DESTROYS) rad_timer_destroy(timer);
    return 0;
}

static void start(rad_time when)
{
    int code = rad_timer_start(timer, when);
    RAD_MODEL_ASSERT(code == 0 || code == 1);
    starts++;
    restarts += (uint32_t)code;
}

static int owner_main(void *arg)
{
    const rad_case *c = arg;
    due = rad_after(SPAN); /* the earliest, for it may fire before the second start */
    if (c->params[KIND] == EARLIER) start(due + SPAN);
    start(due);
    if (c->params[KIND] == LATER) start(due + SPAN);
    if (c->params[KIND] == RECEIVED) received = rad_timer_wait(timer, rad_after(3 * SPAN));
    return 0;
}

static void timer_setup(const rad_case *c)
{
    rad__crew_open((uint32_t)c->params[WORKERS], 1, 2, true);
    RAD_MODEL_ASSERT(rad_timer_create(&timer, c->params[KIND] == RECEIVED ? NULL : fire, (void *)c) == 0);
    rad__model_name(timer, 64, "timer");
    rad__crew_spawn(NULL, owner_main, (void *)c);
    rad__crew_shut();
}

static void timer_body(const rad_case *c, uint32_t thread)
{
    if (thread < (uint32_t)c->params[WORKERS])
        rad__crew_work(thread);
    else
        stops = rad_timer_stop(timer);
}

static void timer_check(const rad_case *c)
{
    if (c->params[KIND] == RECEIVED) {
        RAD_MODEL_ASSERT(received == 0 || received == RAD_ETIMEOUT);
        fires = received == 0;
        stops += rad_timer_stop(timer); /* it fired when nobody waited any longer */
    }
    RAD_MODEL_ASSERT(starts == restarts + fires + stops);
    if (is_stopped(c)) {
        RAD_MODEL_ASSERT(!rad_timer_stop(timer));
        rad_timer_destroy(timer);
    }
    rad__crew_close();
}

static const rad_param timer_params[] = {
    [KIND] = {"kind", 0, 0, KINDS - 1, "stopped, started for later, for earlier, received, destroyed by its function",
              true},
    [WORKERS] = {"workers", 1, 1, RAD_CREW_WORKERS, "workers", false},
    {.name = NULL},
};

RAD_MODEL(user_timer, .name = "l2-user-timer", .about = "timers of programs: start, stop, fire, receive",
          .params = timer_params, .covers = "user_timer wait", .thread_count = timer_threads, .thread_role = timer_role,
          .setup = timer_setup, .body = timer_body, .check = timer_check);
