/* sleep.c — the clock, and waiting for it: a wait without any clause ends when its time is up; and what workers do
 * when somebody's time has come. */
#include "os/clock.h"
#include "rt/ops.h"
#include "rt/runtime.h"

enum { EXPIRED_AT_ONCE = 64 };

/* A worker that runs takes the newest first, so they are woken from the last to the first. */
void rad__timers_expire(rad_seat *seat, uint64_t now)
{
    rad_expired expired[EXPIRED_AT_ONCE];
    do {
        uint32_t count = rad__wheel_expire(&seat->wheel, now, expired, EXPIRED_AT_ONCE);
        while (count-- > 0)
            rad__strand_unpark(&seat->core, expired[count].who, expired[count].ticket);
    } while (rad__wheel_next(&seat->wheel) <= now);
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
