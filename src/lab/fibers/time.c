/* time.c — the clock, which is a runner, and descriptors, which are the system's.
 *
 * Quiet     The clock moves when nothing else can run: to the next timer or deadline, and all that it makes ready is
 *           enabled. So a timeout that is shorter than what others do first never comes before it.
 * Files     After each step the system is asked which descriptors are ready, without waiting. It is waited for only
 *           when no runner can run. */
#include "lab/fibers/stage.h"

#include "rt/ready.h"
#include "rt/timer.h"

enum { EXPIRED_AT_ONCE = 64 };

#define PATIENCE_NS                                                                                \
    UINT64_C(2000000000) /* of real time, for a descriptor when nothing else can happen */

static rad_seat *seat_of(rad_lab_exec *x)
{
    return x->shell.scratch;
}

uint64_t rad__time_next(void)
{
    uint64_t next = UINT64_MAX;
    for (rad_lab_exec *x = rad__stage.execs; x != NULL; x = x->next) {
        uint64_t at = rad__wheel_next(&seat_of(x)->wheel);
        if (at < next) next = at;
    }
    for (uint32_t i = 0; i < rad__stage.runner_count; i++) {
        const rad_runner *r = &rad__stage.runners[i];
        if (r->word != NULL && r->deadline_ns < next) next = r->deadline_ns;
    }
    return next;
}

static bool fibers_expire(void)
{
    rad_expired expired[EXPIRED_AT_ONCE];
    bool any = false;
    for (rad_lab_exec *x = rad__stage.execs; x != NULL; x = x->next) {
        rad_seat *seat = seat_of(x);
        uint32_t count;
        rad__core_set(&seat->core);
        while ((count = rad__wheel_expire(&seat->wheel, rad__stage.now_ns, expired,
                                          EXPIRED_AT_ONCE)) > 0) {
            any = true;
            for (uint32_t i = 0; i < count; i++)
                rad__strand_unpark(&seat->core, expired[i].who, expired[i].ticket);
        }
        rad__core_set(NULL);
    }
    return any;
}

static bool threads_expire(void)
{
    bool any = false;
    for (uint32_t i = 0; i < rad__stage.runner_count; i++) {
        rad_runner *r = &rad__stage.runners[i];
        if (r->word == NULL || r->deadline_ns > rad__stage.now_ns) continue;
        r->word = NULL;
        r->deadline_ns = UINT64_MAX;
        rad__runner_enable(r);
        any = true;
    }
    return any;
}

/* The wheel's next time may be that of a coarse slot, in which nothing is due yet. */
void rad__time_tick(void)
{
    uint64_t next;
    bool any = false;
    while (!any && (next = rad__time_next()) != UINT64_MAX) {
        if (next > rad__stage.now_ns) rad__stage.now_ns = next;
        any = fibers_expire();
        any |= threads_expire();
    }
}

static bool can_others_run(void)
{
    return rad__stage.enabled_count > (rad__stage.clock->enabled ? 1u : 0u);
}

static void files_settle(void)
{
    rad_os_event events[RAD_ANSWERS_MOST];
    for (rad_lab_exec *x = rad__stage.execs; x != NULL; x = x->next) {
        rad_runtime *rt = seat_of(x)->core.runtime;
        if (rt == NULL || rad__ready_waits(&rt->ready) == 0) continue;
        uint64_t wait_ns = can_others_run() ? 0 : PATIENCE_NS;
        uint32_t count = rad__ready_listen(&rt->ready, events, wait_ns);
        rad__core_set(&seat_of(x)->core);
        rad__ready_answer(&rt->ready, events, count);
        rad__core_set(NULL);
    }
}

void rad__time_settle(void)
{
    files_settle();
    if (!can_others_run() && rad__time_next() != UINT64_MAX)
        rad__runner_enable(rad__stage.clock);
    else
        rad__runner_disable(rad__stage.clock);
}
