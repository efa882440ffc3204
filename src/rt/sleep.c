/* sleep.c — the clock, and waiting for it: a wait without any clause ends when its time is up; and what workers do
 * when somebody's time has come. */
#include "os/clock.h"
#include "rt/ops.h"
#include "rt/runtime.h"

enum { EXPIRED_AT_ONCE = 64 };

void rad__due_offer(rad_core *core)
{
    rad_worker *w = core->worker;
    if (w->phase == RAD_PHASE_PARKED) {
        uint32_t woken = rad__worker_wake_self(w);
        if (woken != w->id) rad__exec_wake_thread(core->runtime->exec, woken);
    } else if (rad__idle_could_wake(&w->sched->idle)) {
        rad__shell_offer(w, RAD_NONE);
    }
}

/* They lie in a queue that goes before all others, and one other worker is told of all of them. */
void rad__timers_expire(rad_seat *seat, uint64_t now)
{
    rad_expired expired[EXPIRED_AT_ONCE];
    rad_worker *w = seat->core.worker;
    do {
        uint32_t count = rad__wheel_expire(&seat->wheel, now, expired, EXPIRED_AT_ONCE);
        for (uint32_t i = 0; i < count; i++) {
            rad_strand *s = expired[i].who;
            if (rad__life_unpark(&s->life, expired[i].ticket) == RAD_UNPARK_QUEUE)
                rad__worker_put_due(w, &s->task);
        }
    } while (rad__wheel_next(&seat->wheel) <= now);
    if (rad__deque_count(&w->due) > 0) rad__due_offer(&seat->core);
}

uint64_t rad__timers_due(rad_seat *seat)
{
    if (RAD_LIKELY(rad__wheel_next(&seat->wheel) == UINT64_MAX)) return 0;
    uint64_t now = rad__os_now_ns();
    return rad__wheel_next(&seat->wheel) <= now ? now : 0;
}

rad_time rad__op_now(void)
{
    return rad__os_now_ns();
}

rad_time rad__op_after(uint64_t ns)
{
    uint64_t now = rad__os_now_ns();
    return ns < RAD_FOREVER - now ? now + ns : RAD_FOREVER;
}

int rad__op_sleep_until(rad_time until)
{
    int code = rad__wait(NULL, 0, until);
    return code == RAD_ETIMEOUT ? 0 : code;
}

int rad__op_sleep(uint64_t ns)
{
    return rad__op_sleep_until(rad__op_after(ns));
}
