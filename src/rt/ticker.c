/* ticker.c — tickers: a deadline after the other, by arithmetic; nobody keeps a timer between two waits. */
#include "rt/ticker.h"

#include "os/clock.h"
#include "rt/ops.h"
#include "rt/wait.h"

void rad__op_ticker_start(rad_ticker *t, uint64_t period)
{
    if (period == 0) rad__misuse("rad_ticker_start", "a period of 0");
    *t = (rad_ticker){.start = rad__os_now_ns(), .period = period};
}

rad_time rad__ticker_next(const rad_ticker *t)
{
    uint64_t next = t->last + 1;
    return next <= (RAD_FOREVER - t->start) / t->period ? t->start + next * t->period : RAD_FOREVER;
}

bool rad__ticker_take(rad_ticker *t, uint64_t *tick)
{
    uint64_t now = rad__os_now_ns();
    if (now < rad__ticker_next(t)) return false;
    uint64_t number = (now - t->start) / t->period;
    t->missed += number - t->last - 1;
    t->last = number;
    if (tick) *tick = number;
    return true;
}

int rad__op_ticker_wait(rad_ticker *t, uint64_t *tick, rad_time until)
{
    if (t->period == 0) rad__misuse("rad_ticker_wait", "the ticker was not started");
    uint64_t next = rad__ticker_next(t);
    if (until != 0) { /* also if it is due: who was cancelled is told */
        int code = rad__wait(NULL, 0, next < until ? next : until);
        if (code != RAD_ETIMEOUT) return code;
    }
    return rad__ticker_take(t, tick) ? 0 : RAD_ETIMEOUT;
}
