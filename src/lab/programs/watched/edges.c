/* edges.c — what the lab's own operations order: create and join, locks, channels, wakes.
 *
 * An operation is a point first (rad__point, rad__thread_waits); when its runner has been chosen, it hears of what
 * others have done to the object before, and passes on what it has done itself; one of a fiber, which may wait in
 * production's code, hears again before it returns. That is more than some operations promise (a sender of a channel
 * with room hears of its receivers), so it hides races rather than making them up. A lock is heard when it is taken and
 * passed on when it is given back; readers of a rwlock do not hear of each other. Whoever lets somebody else continue
 * passes on to it. */
#include "lab/programs/watched/watched.h"

#include "lab/programs/fibers/tell.h"

#include <pthread.h>
#include <string.h>

/* ---- Views ------------------------------------------------------------------------------------------------------
 * */

/* One that nobody has, or the one that was taken longest ago; its own component goes on. */
static uint32_t view_take(rad_watch *w, const rad_runner *r)
{
    uint32_t index = w->view_count;
    if (index == RAD_VIEWS_MAX) {
        for (index = 0; index < RAD_VIEWS_MAX && w->views[index].taken; index++) {
        }
        if (index == RAD_VIEWS_MAX) index = r->number % RAD_VIEWS_MAX;
    } else {
        w->view_count++;
    }
    rad_view *v = &w->views[index];
    v->taken = v->fresh = true;
    v->runner = r->number;
    v->since = ++v->clock[index];
    return index;
}

void rad__watched_begins(rad_runner *r)
{
    rad_watch *w = rad__monitor;
    if (w == NULL || !w->runs || r->kind == RAD_RUNNER_CLOCK) return;
    const rad_runner *creator = rad__stage.running ? rad__stage.current : NULL;
    uint32_t index = view_take(w, r);
    r->view = index + 1;
    if (creator == NULL || creator->view == 0) return;
    rad_view *by = &w->views[creator->view - 1];
    rad__clock_join(w->views[index].clock, by->clock, w->view_count);
    by->clock[creator->view - 1]++;
}

void rad__watched_ended(rad_runner *r)
{
    rad_watch *w = rad__monitor;
    if (w == NULL || r->view == 0) return;
    rad_view *v = &w->views[r->view - 1];
    if (v->runner == r->number) v->taken = false;
}

/* ---- Objects ----------------------------------------------------------------------------------------------------
 * */

static uint32_t place_of(const rad_watch *w, const void *object)
{
    uint32_t size = 2 * w->passed_capacity;
    uint64_t bits = (uintptr_t)object; /* tidy: address ok: where to look for the same one */
    uint32_t at = (uint32_t)((bits >> 2) * UINT64_C(0x9e3779b97f4a7c15) >> 32) % size;
    while (w->passed_slots[at] != 0 && w->passed[w->passed_slots[at] - 1].object != object) at = (at + 1) % size;
    return at;
}

static bool passed_grow(rad_watch *w)
{
    uint32_t before = w->passed_capacity;
    if (!RAD_GROW(&w->passed, &w->passed_capacity, w->passed_count + 1)) return false;
    if (w->passed_capacity == before) return true;
    uint32_t *slots = rad__alloc(2 * (size_t)w->passed_capacity, sizeof *slots);
    if (slots == NULL) return false;
    rad__free(w->passed_slots);
    w->passed_slots = slots;
    for (uint32_t i = 0; i < w->passed_count; i++) w->passed_slots[place_of(w, w->passed[i].object)] = i + 1;
    return true;
}

static uint32_t *passed_of(rad_watch *w, const void *object)
{
    if (!passed_grow(w)) rad__program_unfit("out of memory while watching for races");
    uint32_t at = place_of(w, object);
    if (w->passed_slots[at] == 0) {
        rad_passed *p = &w->passed[w->passed_count++];
        memset(p, 0, sizeof *p);
        p->object = object;
        w->passed_slots[at] = w->passed_count;
    }
    return w->passed[w->passed_slots[at] - 1].clock;
}

void rad__watched_acquire(const void *object)
{
    rad_watch *w = rad__monitor;
    rad_view *v = rad__view_now(w);
    if (v == NULL || object == NULL) return;
    rad__clock_join(v->clock, passed_of(w, object), w->view_count);
}

void rad__watched_release(const void *object)
{
    rad_watch *w = rad__monitor;
    rad_view *v = rad__view_now(w);
    if (v == NULL || object == NULL) return;
    rad__clock_join(passed_of(w, object), v->clock, w->view_count);
    v->clock[rad__view_index(w, v)]++;
}

void rad__watched_wakes(const rad_runner *r)
{
    rad_watch *w = rad__monitor;
    rad_view *v = rad__view_now(w);
    if (v == NULL || r->view == 0) return;
    rad__clock_join(w->views[r->view - 1].clock, v->clock, w->view_count);
    v->clock[rad__view_index(w, v)]++;
}

void rad__watched_hears_all(rad_watch *w, rad_view *v)
{
    for (uint32_t i = 0; i < w->view_count; i++) {
        rad__clock_join(v->clock, w->views[i].clock, w->view_count);
        w->views[i].clock[i]++;
    }
}

/* ---- Operations ----------------------------------------------------------------------------- */

/* It is about several objects, or none that is told: everything before it precedes everything after it. */
static void order_all(rad_watch *w, rad_view *v)
{
    rad__watched_hears_all(w, v);
    rad__clock_join(w->everyone, v->clock, w->view_count);
    w->any_everyone = true;
    v->clock[rad__view_index(w, v)]++;
}

/* What fibers have done that have ended: for those who wait for all of them. */
static const char ended;

void rad__watched_joins_all(void)
{
    rad__watched_acquire(&ended);
}

static const void *readers_of(const void *lock)
{
    return (const char *)lock + 1; /* no object begins there */
}

/* Before the lock is given back, so who has it still stands in it. */
static void rwlock_given(const pthread_rwlock_t *l)
{
    rad__watched_release(l->__data.__cur_writer != 0 ? (const void *)l : readers_of(l));
}

void rad__watched_operation(uint32_t site, const void *object)
{
    rad_watch *w = rad__monitor;
    rad_view *v = rad__view_now(w);
    if (v == NULL || site >= RAD_AT_COUNT) return;
    if (w->any_everyone) rad__clock_join(v->clock, w->everyone, w->view_count);
    switch (site) {
    case RAD_AT_select: order_all(w, v); return;
    case RAD_AT_END: /* the last one wakes who waits, and has heard of the others */
    case RAD_AT_nursery_wait:
        rad__watched_acquire(&ended);
        rad__watched_release(&ended);
        rad__watched_release(object);
        return;
    case RAD_AT_pthread_mutex_unlock: return; /* rad__mutex_release tells */
    case RAD_AT_pthread_mutex_lock:
    case RAD_AT_pthread_mutex_timedlock:
    case RAD_AT_pthread_mutex_trylock:
    case RAD_AT_pthread_rwlock_rdlock:
    case RAD_AT_pthread_rwlock_tryrdlock:
    case RAD_AT_pthread_spin_lock:
    case RAD_AT_pthread_spin_trylock:
    case RAD_AT_pthread_join:
    case RAD_AT_sem_wait:
    case RAD_AT_sem_trywait: rad__watched_acquire(object); return;
    case RAD_AT_pthread_rwlock_wrlock:
    case RAD_AT_pthread_rwlock_trywrlock:
        rad__watched_acquire(object);
        rad__watched_acquire(readers_of(object));
        return;
    case RAD_AT_pthread_rwlock_unlock: rwlock_given(object); return;
    default: rad__watched_acquire(object); rad__watched_release(object);
    }
}

/* A call that waited may have been woken by one runner and got what it waited for after another: it hears again of what
 * was done to the object until now. */
void rad__watched_done(uint32_t site, const void *object)
{
    rad_watch *w = rad__monitor;
    rad_view *v = rad__view_now(w);
    if (v == NULL) return;
    if (site == RAD_AT_select)
        rad__watched_hears_all(w, v);
    else if (site == RAD_AT_nursery_wait)
        rad__watched_acquire(&ended);
    else
        rad__watched_acquire(object);
}
