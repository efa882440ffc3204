/* wait.c — who waits for what, and who may continue: see threads.h. */
#define _GNU_SOURCE
#include "lab/programs/fibers/interposed.h"
#include "lab/programs/fibers/tell.h"
#include "lab/programs/threads/threads.h"
#include "lab/programs/watched/watched.h"

#include <dlfcn.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>

static rad_thread threads[RAD_THREADS_MAX];
static uint32_t thread_count;
static uint64_t turns;

rad_thread *rad__thread_self(void)
{
    const rad_runner *r = rad__stage.current;
    return rad__stage.running && r != NULL ? r->thread : NULL;
}

uint32_t rad__thread_number(void)
{
    const rad_thread *self = rad__thread_self();
    return self ? (uint32_t)(self - threads) : 0;
}

rad_thread *rad__thread_at(uint32_t index)
{
    return index < thread_count ? &threads[index] : NULL;
}

rad_thread *rad__thread_new(void)
{
    return thread_count < RAD_THREADS_MAX ? &threads[thread_count++] : NULL;
}

rad_thread *rad__thread_of(pthread_t handle)
{
    rad_thread *found = NULL; /* the last one: its donor was another one's before */
    for (uint32_t i = 0; i < thread_count; i++)
        if (pthread_equal(threads[i].handle, handle)) found = &threads[i];
    return found;
}

/* Of the real thread whose pointer is worn: what pthread_join takes, not a number that anything is ordered by. */
pthread_t rad__thread_handle(void)
{
    static pthread_t (*real)(void);
    if (real == NULL) rad__libc_find("pthread_self", &real);
    return real();
}

void rad__threads_begin(rad_runner *main)
{
    rad_thread *t = rad__thread_new();
    rad__thread_locals_find();
    *t = (rad_thread){.runner = main, .handle = rad__thread_handle()};
    main->thread = t;
}

/* ---- Who holds a lock ---------------------------------------------------------------------------------------- */

/* No thread of a system has a number like these. One that was locked before main has such a number: main's. */
enum { OWNER = 0x40000000 };

int rad__owner_word(const rad_thread *t)
{
    return OWNER + (int)(t - threads);
}

rad_thread *rad__owner_of(int word)
{
    if (word <= 0 || thread_count == 0) return NULL;
    if (word < OWNER) return &threads[0];
    return rad__thread_at((uint32_t)(word - OWNER));
}

void rad__share_take(rad_thread *t, const void *lock)
{
    if (t->share_count < RAD_SHARES_MAX) t->shares[t->share_count] = lock;
    t->share_count++;
}

static uint32_t share_at(const rad_thread *t, const void *lock)
{
    for (uint32_t i = 0; i < t->share_count && i < RAD_SHARES_MAX; i++)
        if (t->shares[i] == lock) return i;
    return RAD_NONE;
}

bool rad__share_give(rad_thread *t, const void *lock)
{
    uint32_t at = share_at(t, lock);
    if (at == RAD_NONE && t->share_count <= RAD_SHARES_MAX) return false;
    t->share_count--;
    if (at != RAD_NONE && t->share_count < RAD_SHARES_MAX) t->shares[at] = t->shares[t->share_count];
    return true;
}

rad_thread *rad__share_holder(const void *lock)
{
    for (uint32_t i = 0; i < thread_count; i++)
        if (share_at(&threads[i], lock) != RAD_NONE) return &threads[i];
    return NULL;
}

void rad__used_destroyed(const char *call, const char *what)
{
    rad__program_fails(RAD_ORACLE_MISUSE, call, "%s: %s uses a %s that was destroyed", call,
                       rad__thread_self()->runner->role, what);
}

/* ---- Who can continue ---------------------------------------------------------------------------------------- */

static bool writer_waits(const void *lock)
{
    return rad__threads_waiting(RAD_WAIT_WRITE, lock) > 0;
}

bool rad__rwlock_can_be_read(const pthread_rwlock_t *l)
{
    bool prefers_writers = l->__data.__flags == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP;
    return l->__data.__cur_writer == 0 && !(prefers_writers && writer_waits(l));
}

enum {
    READER = 8,
    SPIN_FREE =
#if defined(__x86_64__)
        1
#else
        0
#endif
};

static bool can_continue(const rad_thread *t)
{
    const pthread_rwlock_t *rwlock = t->address;
    switch (t->wait) {
    case RAD_WAIT_MUTEX: return rad__mutex_can_be_taken(t->address, t);
    case RAD_WAIT_READ: return rad__rwlock_can_be_read(rwlock);
    case RAD_WAIT_WRITE: return rwlock->__data.__cur_writer == 0 && rwlock->__data.__readers < READER;
    case RAD_WAIT_SEMAPHORE: return *(const uint32_t *)t->address > 0;
    case RAD_WAIT_JOIN: return ((const rad_thread *)t->address)->ended;
    case RAD_WAIT_ONCE: return (*(const int *)t->address & 3) != 1;
    case RAD_WAIT_SPIN: return *(const int *)t->address == SPIN_FREE;
    case RAD_WAIT_CONDITION:
    case RAD_WAIT_BARRIER:
    case RAD_WAIT_WORD: return t->woken;
    case RAD_WAIT_SIGNAL: return rad__signal_is_awaited(t);
    case RAD_WAIT_FILE: return rad__descriptors_are_ready(t);
    case RAD_WAIT_STREAM: return rad__file_is_free(t->address, t);
    case RAD_WAIT_HANDLER:
    case RAD_WAIT_TIME: return false;
    default: return true;
    }
}

static bool is_cancellation_point(enum rad_wait_kind wait)
{
    return wait == RAD_WAIT_CONDITION || wait == RAD_WAIT_SEMAPHORE || wait == RAD_WAIT_JOIN ||
           wait == RAD_WAIT_SIGNAL || wait == RAD_WAIT_HANDLER || wait == RAD_WAIT_TIME || wait == RAD_WAIT_FILE;
}

/* A handler is to run first, or it is cancelled. */
static bool is_broken(const rad_thread *t)
{
    if (t->woken) return false;
    if (RAD_UNLIKELY(t->cancelled) && is_cancellation_point(t->wait) && rad__cancel_is_due(t)) return true;
    return RAD_UNLIKELY(rad__signals_pending > 0) && rad__signal_comes(t);
}

void rad__thread_goes_on(rad_thread *t)
{
    const char *here = __builtin_frame_address(0);
    if (t->aside != NULL && here < t->aside) return; /* tidy: address ok: one stack */
    t->aside = NULL;                                 /* or the handler was left by siglongjmp */
    rad__stage.progress++;
}

bool rad__thread_is_aside(const rad_runner *r)
{
    return r->thread != NULL && (r->site == RAD_AT_signal_handler || r->thread->aside != NULL);
}

bool rad__thread_is_blocked(const rad_thread *t)
{
    if (t->wait == RAD_WAIT_NONE || t->expired || can_continue(t)) return false;
    return !t->cancelled || !is_cancellation_point(t->wait) || !rad__cancel_is_due(t);
}

/* Its deadline counts while it cannot continue. */
static void set_waiting(rad_thread *t, bool waits)
{
    t->runner->word = waits ? t->address : NULL;
    t->runner->deadline_ns = waits ? t->deadline_ns : UINT64_MAX;
    rad__time_changed(t->runner);
}

static void review(rad_thread *t)
{
    bool can = t->expired || can_continue(t) || is_broken(t);
    if (can == t->runner->enabled) return;
    set_waiting(t, !can);
    if (can) {
        rad__runner_enable(t->runner);
    } else {
        rad__runner_disable(t->runner);
        rad__thread_tell_wait(t->runner);
    }
}

void rad__thread_waits_on(rad_thread *t)
{
    rad_runner *r = t->runner;
    if (!r->enabled) return;
    rad__runner_announce(r, t->site, t->wait == RAD_WAIT_TIME ? NULL : t->address);
    rad__runner_disable(r);
    rad__thread_tell_wait(r);
}

void rad__threads_review(const void *address)
{
    for (uint32_t i = 0; i < thread_count; i++) {
        rad_thread *t = &threads[i];
        if (t->wait != RAD_WAIT_NONE && t->address == address && t->runner != rad__stage.current) review(t);
    }
}

/* A free clock can be faster than any other thread: a loop of waits that are all too late keeps them waiting. It gives
 * way, but not at once: what it does when it is late may be what the others do not expect. */
static void note_late(rad_thread *t, const void *address, bool late)
{
    enum { LATES_MOST = 8 };
    if (late) {
        t->lates = t->late_for == address ? t->lates + 1 : 1;
        t->late_for = address;
        if (t->lates > LATES_MOST && rad__stage.clock_free) rad__thread_tried();
    } else if (t->late_for == address) {
        t->lates = 0;
    }
}

enum rad_waited rad__thread_waits_once(uint32_t site, enum rad_wait_kind wait, void *address, uint64_t deadline_ns)
{
    rad_thread *t = rad__thread_self();
    rad_runner *r = t->runner;
    t->wait = wait;
    t->address = address;
    t->site = site;
    t->deadline_ns = deadline_ns;
    t->turn = turns++;
    t->expired = t->woken = t->late = false;
    r->site = site;
    r->object = wait == RAD_WAIT_TIME ? NULL : address;
    r->looks = 0;
    rad__stage.points++;
    bool can = can_continue(t) || is_broken(t);
    set_waiting(t, !can);
    rad__thread_leave(can ? RAD_RUN_YIELD : RAD_RUN_BLOCKED);
    bool done = can_continue(t) && !is_broken(t);
    if (rad__monitor != NULL) rad__watched_operation(site, address);
    t->wait = RAD_WAIT_NONE;
    if (deadline_ns != UINT64_MAX) note_late(t, address, t->expired || t->late);
    if (done || t->expired) rad__thread_goes_on(t);
    return done ? RAD_WAITED_DONE : t->expired ? RAD_WAITED_LATE : RAD_WAITED_BROKEN;
}

bool rad__thread_handles(rad_thread *self, const void *address)
{
    const void *outer = self->pauses;
    uint64_t turn = self->paused_turn;
    self->pauses = address;
    self->paused_turn = self->turn;
    rad__signals_handle();
    bool woken = address != NULL && self->pauses == NULL;
    self->pauses = outer;
    self->paused_turn = turn;
    return woken;
}

bool rad__thread_waits(uint32_t site, enum rad_wait_kind wait, void *address, uint64_t deadline_ns)
{
    enum rad_waited how;
    while ((how = rad__thread_waits_once(site, wait, address, deadline_ns)) == RAD_WAITED_BROKEN) {
        rad__thread_handles(rad__thread_self(), wait == RAD_WAIT_WRITE ? address : NULL);
        if (is_cancellation_point(wait)) rad__cancel_point();
    }
    return how == RAD_WAITED_DONE;
}

void rad__thread_disturb(rad_thread *t)
{
    if (t->wait != RAD_WAIT_SIGNAL && rad__signals_pending > 0 && is_broken(t))
        rad__runner_announce(t->runner, RAD_AT_signal_handler, NULL);
    if (t->wait != RAD_WAIT_NONE) review(t);
}

/* ---- Waking -------------------------------------------------------------------------------------------------- */

/* It waits there behind a handler that it runs. */
static bool pauses(const rad_thread *t, enum rad_wait_kind wait, const void *address)
{
    bool counts = wait == RAD_WAIT_CONDITION || wait == RAD_WAIT_BARRIER || wait == RAD_WAIT_WRITE;
    return counts && t->pauses == address;
}

static bool waits_for(const rad_thread *t, enum rad_wait_kind wait, const void *address)
{
    return pauses(t, wait, address) || (t->wait == wait && t->address == address && !t->woken);
}

uint32_t rad__threads_waiting(enum rad_wait_kind wait, const void *address)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < thread_count; i++) count += waits_for(&threads[i], wait, address);
    return count;
}

rad_thread *rad__thread_waiting(enum rad_wait_kind wait, const void *address, uint32_t index)
{
    rad_thread *found = NULL;
    uint64_t last = 0, least = 0;
    for (uint32_t n = 0; n <= index; n++) { /* the next one after the last that was found */
        rad_thread *next = NULL;
        for (uint32_t i = 0; i < thread_count; i++) {
            rad_thread *t = &threads[i];
            uint64_t turn = pauses(t, wait, address) ? t->paused_turn : t->turn;
            if (!waits_for(t, wait, address) || (found && turn <= last)) continue;
            if (next != NULL && turn >= least) continue;
            next = t;
            least = turn;
        }
        found = next;
        last = least;
        if (found == NULL) return NULL;
    }
    return found;
}

/* Who waits for a condition then needs its mutex: one wait follows the other without a step. One that was about to run
 * a handler runs it when it has the mutex. */
static void wake(rad_thread *t)
{
    rad__watched_wakes(t->runner);
    t->woken = true;
    if (t->wait == RAD_WAIT_CONDITION) {
        t->wait = RAD_WAIT_MUTEX;
        t->address = t->mutex;
        t->site = RAD_AT_pthread_relock;
        t->deadline_ns = UINT64_MAX;
        set_waiting(t, true);
        rad__runner_announce(t->runner, RAD_AT_pthread_relock, t->mutex);
        if (!can_continue(t) && !t->runner->enabled) {
            rad__thread_tell_wait(t->runner);
            return;
        }
    }
    review(t);
}

uint32_t rad__threads_signal(uint32_t site, enum rad_wait_kind wait, const void *address, uint32_t count)
{
    uint32_t woken = 0, waiting;
    while (woken < count && (waiting = rad__threads_waiting(wait, address)) > 0) {
        bool choice = waiting > 1 && count - woken < waiting;
        uint32_t index = choice ? rad__tell_pick(RAD_PICK_WAKE, site, waiting) : 0;
        rad_thread *t = rad__thread_waiting(wait, address, index);
        if (pauses(t, wait, address)) {
            rad__watched_wakes(t->runner);
            t->pauses = NULL; /* it sees that when its handler has returned */
        } else {
            wake(t);
        }
        woken++;
    }
    return woken;
}

void rad__threads_wake_first(enum rad_wait_kind wait, const void *address)
{
    rad_thread *t = rad__thread_waiting(wait, address, 0);
    if (t != NULL) wake(t);
}

uint32_t rad__threads_move(const void *from, void *to, uint32_t count)
{
    rad_thread *t;
    uint32_t moved = 0;
    for (; moved < count && (t = rad__thread_waiting(RAD_WAIT_WORD, from, 0)) != NULL; moved++) {
        t->address = to;
        t->turn = turns++;
        if (t->runner->enabled) continue; /* it runs a handler first */
        set_waiting(t, true);
        rad__runner_announce(t->runner, RAD_AT_futex_woken, to);
        rad__thread_tell_wait(t->runner);
    }
    return moved;
}

/* ---- For the stage ------------------------------------------------------------------------------------------- */

bool rad__thread_is_waiting(const rad_runner *r)
{
    return r->thread != NULL && r->thread->wait != RAD_WAIT_NONE;
}

bool rad__thread_waits_in(const rad_runner *r, const void *block, size_t size)
{
    const char *low = block, *at = r->thread->address;
    if (!rad__thread_is_waiting(r)) return false;
    return at >= low && at < low + size; /* tidy: address ok: one block */
}

void rad__thread_expired(rad_runner *r)
{
    rad_thread *t = r->thread;
    if (t->wait == RAD_WAIT_CONDITION) {
        t->late = true;
        wake(t);
        return;
    }
    t->expired = true;
    review(t);
}

const rad_thread *rad__thread_holder(const rad_thread *t)
{
    switch (t->wait) {
    case RAD_WAIT_MUTEX: return rad__owner_of(((const pthread_mutex_t *)t->address)->__data.__owner);
    case RAD_WAIT_READ:
    case RAD_WAIT_WRITE: {
        const pthread_rwlock_t *l = t->address;
        return l->__data.__cur_writer ? rad__owner_of(l->__data.__cur_writer) : rad__share_holder(l);
    }
    case RAD_WAIT_SPIN: return rad__share_holder(t->address);
    case RAD_WAIT_ONCE: return rad__thread_at((uint32_t) * (const int *)t->address >> 2);
    case RAD_WAIT_JOIN: return t->address;
    default: return NULL;
    }
}

void rad__thread_tell_wait(const rad_runner *r)
{
    const rad_thread *t = r->thread, *holder = rad__thread_holder(t);
    if (rad__stage.prefix || t->wait == RAD_WAIT_TIME) return;
    rad__tell_wait(r->number, rad__object_at(r->object, r->site), holder ? holder->runner->number : RAD_NONE);
}

bool rad__thread_may_pick(const rad_runner *r)
{
    switch (r->site) {
    case RAD_AT_pthread_cond_wait:
    case RAD_AT_pthread_cond_timedwait: return rad__stage.spurious;
    case RAD_AT_pthread_cond_signal: return rad__threads_waiting(RAD_WAIT_CONDITION, r->object) > 1;
    case RAD_AT_futex_wake: return rad__threads_waiting(RAD_WAIT_WORD, r->object) > 1;
    case RAD_AT_kill: return rad__signals_choose();
    default: return false;
    }
}

/* ---- Time ----------------------------------------------------------------------------------- */

uint64_t rad__thread_sleeps(uint64_t ns)
{
    static char sleepers; /* whose address nobody wakes */
    rad__point(RAD_AT_sleep, NULL);
    rad__cancel_point();
    if (ns == 0) return 0;
    uint64_t until = rad__stage_after(ns);
    if (rad__thread_waits_once(RAD_AT_RESUME, RAD_WAIT_TIME, &sleepers, until) == RAD_WAITED_LATE) return 0;
    rad__signals_handle();
    rad__cancel_point();
    rad__thread_goes_on(rad__thread_self());
    return until > rad__stage.now_ns ? until - rad__stage.now_ns : 0;
}

uint64_t rad__deadline_of(clockid_t clock, const struct timespec *at)
{
    struct timespec now;
    rad__clock_show(clock, &now);
    __int128 left = ((__int128)at->tv_sec - now.tv_sec) * 1000000000 + (at->tv_nsec - now.tv_nsec);
    return rad__stage_after(left < 0 ? 0 : left < UINT64_MAX ? (uint64_t)left : UINT64_MAX);
}
