/* after.c — what follows a call is a step of its own, where another runner can come in between.
 *
 * In production other workers run while a call returns: between `unlock` and the assignment behind it somebody can take
 * the lock. So a call ends at one more point ("continue"), but only where that makes a difference, for each point more
 * multiplies the schedules. It does if
 *
 * Woken     in this step a runner was made able to run: by a signal, an unlock, a spawn;
 * Near      a runner that can run is about to use the same object, and what the call did makes it do something else;
 * Beyond    the call changed what is no object: who is cancelled, which descriptors are ready, when a timer rings.
 *
 * Anybody else could as well have run before the call, and what follows it has happened in neither case.
 *
 * Waiting   One who locks what is held, or receives from an empty channel, is not near to the unlock or the send: it
 *           could have come before the call, and then it waits and is *woken* by it. The same holds for one who was
 *           woken earlier and tries for the lock again (RAD_AT_RESUME). Not for a call that only tries. */
#include "lab/programs/threads/threads.h"
#include "rt/chan.h"
#include "rt/ready.h"

/* Runners that are looked at. When more can run, one of them is taken to be near. */
enum { LOOKED_AT = 32 };

/* ---- Near ------------------------------------------------------------------------------------------------ */

enum object_kind { ANY, LOCKS, CONDITIONS, SEMAPHORES, GROUPS, BARRIERS, SENDS, RECEIVES };

static enum object_kind object_kind_of(uint32_t site)
{
    switch (site) {
    case RAD_AT_mutex_lock:
    case RAD_AT_mutex_lock_until:
    case RAD_AT_mutex_unlock:
    case RAD_AT_rwlock_read:
    case RAD_AT_rwlock_read_until:
    case RAD_AT_rwlock_write:
    case RAD_AT_rwlock_write_until:
    case RAD_AT_rwlock_unlock: return LOCKS;
    case RAD_AT_cond_wait:
    case RAD_AT_cond_signal:
    case RAD_AT_cond_broadcast: return CONDITIONS;
    case RAD_AT_semaphore_acquire:
    case RAD_AT_semaphore_release: return SEMAPHORES;
    case RAD_AT_waitgroup_done:
    case RAD_AT_waitgroup_wait: return GROUPS;
    case RAD_AT_barrier_wait: return BARRIERS;
    case RAD_AT_send:
    case RAD_AT_send_many: return SENDS;
    case RAD_AT_recv:
    case RAD_AT_recv_many: return RECEIVES;
    default: return ANY;
    }
}

/* After the one the other does what it would have done before it, or waits: they take what is there in the order in
 * which they come, and the values of a channel have another one. */
static bool can_be_swapped(uint32_t one, uint32_t other, const void *object)
{
    enum object_kind a = object_kind_of(one), b = object_kind_of(other);
    if ((a == SENDS && b == RECEIVES) || (a == RECEIVES && b == SENDS))
        return ((const rad_chan *)object)->mode == RAD_CHAN_BLOCKS;
    return a == b && a != ANY && a != SENDS && a != RECEIVES;
}

/* It does not wait, whatever it finds. */
static bool tries(const rad_runner *r)
{
    return r->until <= rad__stage.now_ns || (rad__stage.clock_free && r->until != RAD_FOREVER) ||
           (r->kind == RAD_RUNNER_FIBER && rad__fiber_is_canceled(&r->slot->strand));
}

/* A select is about any object. */
static bool is_near(const rad_runner *r, const rad_runner *self, uint32_t site, const void *object)
{
    if (site == RAD_AT_select) return r->object != NULL || r->site == RAD_AT_select;
    if (object == NULL || (r->object != object && r->site != RAD_AT_select)) return false;
    return !can_be_swapped(site, r->site, object) || tries(self) || tries(r);
}

static bool anybody_near(const rad_runner *self, uint32_t site, const void *object)
{
    const rad_stage *s = &rad__stage;
    uint32_t looked_at = 0;
    for (uint32_t i = s->newest; i != RAD_NONE; i = s->runners[i].older) {
        const rad_runner *r = &s->runners[i];
        if (r != self && (is_near(r, self, site, object) || ++looked_at > LOOKED_AT)) return true;
    }
    return false;
}

/* ---- Beyond ---------------------------------------------------------------------------------------------- */

/* Somebody waits for a descriptor: whether it is ready now is looked up after the step. */
static bool files_are_awaited(void)
{
    for (rad_lab_exec *x = rad__stage.execs; x != NULL; x = x->next) {
        const rad_rt_worker *of_rt = x->shell.scratch;
        rad_runtime *rt = of_rt->runtime;
        if (rt != NULL && rad__ready_waits(&rt->ready) != 0) return true;
    }
    return rad__descriptors_used;
}

static bool reaches_beyond(uint32_t site)
{
    switch (site) {
    case RAD_AT_cancel:
    case RAD_AT_nursery_cancel:
    case RAD_AT_runtime_shutdown: return rad__stage.enabled_count > 1;
    case RAD_AT_timer_start:
    case RAD_AT_timer_stop: return rad__stage.clock_free;
    default: return site >= RAD_AT_read && site <= RAD_AT_fd_close && files_are_awaited();
    }
}

void rad__point_after(uint32_t site, const void *object)
{
    const rad_stage *s = &rad__stage;
    if (!s->running) return;
    if (s->woke || reaches_beyond(site) || (s->enabled_count > 1 && anybody_near(s->current, site, object)))
        rad__point(RAD_AT_continue, NULL);
}
