/* sync.c — locks and the like, by threads: who waits is woken, what is guarded is never shared, and nobody touches an
 * object after another one could have freed it, which the last one to use it does. A wake that is lost leaves
 * somebody asleep, which the lab reports as a deadlock. */
#include "base/alloc.h"
#include "lab/l2/model.h"
#include "rt/ops.h"

#include <stdatomic.h>

enum { THREADS, TURNS, HASTY, WAY }; /* parameters of all of them */

/* What is on trial, in memory that is freed as soon as it may be. */
typedef struct object {
    union {
        rad_mutex mutex;
        rad_rwlock rwlock;
        rad_semaphore semaphore;
        rad_waitgroup group;
        rad_barrier barrier;
    };
    rad_cond cond;
    uint32_t users; /* under the lock, if there is one */
    uint32_t guarded;
    _Atomic uint32_t ready;
} object;

static object *it;
static _Atomic uint32_t got, gave_up, firsts;

static uint32_t threads(const rad_case *c)
{
    return (uint32_t)c->params[THREADS];
}

static void sync_setup(const rad_case *c)
{
    it = rad__alloc(1, sizeof *it);
    RAD_MODEL_ASSERT(it != NULL);
    rad__model_name(it, sizeof *it, "object");
    it->users = threads(c);
}

/* The first HASTY threads give up after some time. */
static rad_time patience(const rad_case *c, uint32_t thread)
{
    return thread < (uint32_t)c->params[HASTY] ? rad__op_after(1000) : RAD_FOREVER;
}

static void count(_Atomic uint32_t *of)
{
    atomic_fetch_add_explicit(of, 1, memory_order_relaxed);
}

static uint32_t counted(_Atomic uint32_t *of)
{
    return atomic_load_explicit(of, memory_order_relaxed);
}

#define SYNC_PARAMS(many, often)                                                                                       \
    {                                                                                                                  \
        [THREADS] = {"threads", many, 2, 4, "threads that use it", false}, [TURNS] = {"turns",                         \
                                                                                      often,                           \
                                                                                      1,                               \
                                                                                      3,                               \
                                                                                      "times each of them does",       \
                                                                                      false},                          \
        [HASTY] = {"hasty", 0, 0, 4, "threads that may give up", false}, [WAY] = {"way",                               \
                                                                                  0,                                   \
                                                                                  0,                                   \
                                                                                  2,                                   \
                                                                                  "another way to do it: see each",    \
                                                                                  true},                               \
        {                                                                                                              \
            .name = NULL                                                                                               \
        }                                                                                                              \
    }

/* ---- Mutex ---------------------------------------------------------------------------------------------- */

/* By select (way=1) it is always handed over. */
static int mutex_lock(const rad_case *c, rad_mutex *m, rad_time until)
{
    rad_select_case one = {.kind = RAD_ON_LOCK, .on.mutex = m};
    return c->params[WAY] ? rad__op_select(&one, 1, until) : rad__op_mutex_lock_until(m, until);
}

static void mutex_body(const rad_case *c, uint32_t thread)
{
    object *o = it;
    for (int64_t i = 0; i < c->params[TURNS]; i++) {
        if (mutex_lock(c, &o->mutex, patience(c, thread)) != 0) {
            count(&gave_up);
            continue;
        }
        o->guarded++;
        count(&got);
        RAD_MODEL_ASSERT(o->guarded == counted(&got));
        if (i + 1 < c->params[TURNS])
            rad__op_mutex_unlock(&o->mutex);
        else
            break;
    }
    if (!rad__op_mutex_is_mine(&o->mutex) && mutex_lock(c, &o->mutex, RAD_FOREVER) != 0)
        RAD_MODEL_ASSERT(!"it waits for ever");
    bool last = --o->users == 0;
    rad__op_mutex_unlock(&o->mutex);
    if (last) rad__free(o);
}

static void got_all(const rad_case *c)
{
    RAD_MODEL_ASSERT(counted(&got) + counted(&gave_up) == (uint32_t)(c->params[THREADS] * c->params[TURNS]));
}

static const rad_param mutex_params[] = SYNC_PARAMS(2, 1);

RAD_MODEL(mutex, .name = "l2-mutex", .about = "a mutex: one at a time, no wake lost, the last one frees",
          .params = mutex_params, .covers = "mutex wait", .thread_count = threads, .setup = sync_setup,
          .body = mutex_body, .check = got_all);

/* ---- Condition ------------------------------------------------------------------------------------------ */

static void cond_lock(object *o)
{
    if (rad__op_mutex_lock_until(&o->mutex, RAD_FOREVER) != 0) RAD_MODEL_ASSERT(!"it waits for ever");
}

/* Thread 0 waits until all others have said that they are ready: with the mutex, or without (way=1), or to everybody
 * (way=2). */
static void cond_body(const rad_case *c, uint32_t thread)
{
    object *o = it;
    cond_lock(o);
    if (thread == 0) {
        rad_time until = patience(c, 0);
        while (o->guarded + 1 < threads(c))
            if (rad__op_cond_wait(&o->cond, &o->mutex, until) != 0) until = RAD_FOREVER;
        RAD_MODEL_ASSERT(rad__op_mutex_is_mine(&o->mutex));
    } else {
        o->guarded++;
        if (c->params[WAY] > 0) rad__op_mutex_unlock(&o->mutex);
        if (c->params[WAY] > 1)
            rad__op_cond_broadcast(&o->cond);
        else
            rad__op_cond_signal(&o->cond);
        if (c->params[WAY] > 0) cond_lock(o);
    }
    count(&got);
    bool last = --o->users == 0;
    rad__op_mutex_unlock(&o->mutex);
    if (last) rad__free(o);
}

static void cond_check(const rad_case *c)
{
    RAD_MODEL_ASSERT(counted(&got) == threads(c));
}

static const rad_param cond_params[] = SYNC_PARAMS(2, 1);

RAD_MODEL(cond, .name = "l2-cond", .about = "a condition and its mutex: no signal is lost", .params = cond_params,
          .covers = "cond mutex wait", .thread_count = threads, .setup = sync_setup, .body = cond_body,
          .check = cond_check);

/* ---- RW lock -------------------------------------------------------------------------------------------- */

/* Odd threads read. */
static void rwlock_body(const rad_case *c, uint32_t thread)
{
    object *o = it;
    bool reads = thread & 1;
    for (int64_t i = 0; i < c->params[TURNS]; i++) {
        rad_time until = patience(c, thread);
        if ((reads ? rad__op_rwlock_read_until(&o->rwlock, until) : rad__op_rwlock_write_until(&o->rwlock, until)) !=
            0) {
            count(&gave_up);
            continue;
        }
        if (reads)
            RAD_MODEL_ASSERT(o->guarded <= 3 * threads(c)); /* a race, if somebody writes */
        else
            o->guarded++;
        count(&got);
        rad__op_rwlock_unlock(&o->rwlock);
    }
    if (rad__op_rwlock_write_until(&o->rwlock, RAD_FOREVER) != 0) RAD_MODEL_ASSERT(!"it waits for ever");
    bool last = --o->users == 0;
    rad__op_rwlock_unlock(&o->rwlock);
    if (last) rad__free(o);
}

static const rad_param rwlock_params[] = SYNC_PARAMS(2, 1);

RAD_MODEL(rwlock, .name = "l2-rwlock", .about = "readers or one writer, no wake lost, the last one frees",
          .params = rwlock_params, .covers = "rwlock wait", .thread_count = threads, .setup = sync_setup,
          .body = rwlock_body, .check = got_all);

/* ---- Semaphore and wait group: thread 0 waits for the others, and frees ----------------------------------- */

/* A try that failed leaves the flag behind: the first who release have to pass the lock. */
static void semaphore_setup(const rad_case *c)
{
    sync_setup(c);
    RAD_MODEL_ASSERT(rad__op_semaphore_acquire(&it->semaphore, 1, 0) == RAD_ETIMEOUT);
}

static void semaphore_body(const rad_case *c, uint32_t thread)
{
    object *o = it;
    uint32_t others = threads(c) - 1;
    if (thread > 0) {
        count(&got);
        rad__op_semaphore_release(&o->semaphore, 1);
        return;
    }
    rad_time until = patience(c, 0);
    uint32_t each = c->params[TURNS] > 1 ? 1 : others; /* one at a time, or all at once */
    for (uint32_t i = 0; i < others; i += each)
        while (rad__op_semaphore_acquire(&o->semaphore, each, until) != 0) until = RAD_FOREVER;
    RAD_MODEL_ASSERT(counted(&got) == others);
    rad__free(o);
}

static const rad_param semaphore_params[] = SYNC_PARAMS(3, 1);

RAD_MODEL(semaphore, .name = "l2-semaphore", .about = "permits of several for one who then frees the semaphore",
          .params = semaphore_params, .covers = "semaphore wait", .thread_count = threads, .setup = semaphore_setup,
          .body = semaphore_body);

/* Twice in one select (way=1): who was given one is in the queue once more, and must not get the next. */
static int permit_acquire(const rad_case *c, rad_time until)
{
    rad_select_case one = {.kind = RAD_ON_ACQUIRE, .on.semaphore = &it->semaphore}, two[] = {one, one};
    if (!c->params[WAY]) return rad__op_semaphore_acquire(&it->semaphore, 1, until);
    int done = rad__op_select(two, 2, until);
    return done < 0 ? done : 0;
}

/* All take and give back one permit of which there is one, or there are two (way=1). */
static void permit_body(const rad_case *c, uint32_t thread)
{
    for (int64_t i = 0; i < c->params[TURNS]; i++) {
        if (permit_acquire(c, patience(c, thread)) != 0) {
            count(&gave_up);
            continue;
        }
        if (!c->params[WAY]) it->guarded++;
        count(&got);
        rad__op_semaphore_release(&it->semaphore, 1);
    }
}

static void permit_setup(const rad_case *c)
{
    sync_setup(c);
    rad__op_semaphore_init(&it->semaphore, c->params[WAY] ? 2 : 1);
}

static void permit_check(const rad_case *c)
{
    got_all(c);
    RAD_MODEL_ASSERT(rad__op_semaphore_permits(&it->semaphore) == (c->params[WAY] ? 2 : 1));
    RAD_MODEL_ASSERT(c->params[WAY] || it->guarded == counted(&got));
    rad__free(it);
}

static const rad_param permit_params[] = SYNC_PARAMS(2, 1);

RAD_MODEL(permit, .name = "l2-permit", .about = "a semaphore with one permit: a lock; none is lost",
          .params = permit_params, .covers = "semaphore wait", .thread_count = threads, .setup = permit_setup,
          .body = permit_body, .check = permit_check);

static void group_setup(const rad_case *c)
{
    sync_setup(c);
    rad__op_waitgroup_add(&it->group, threads(c) - 1);
}

static void group_body(const rad_case *c, uint32_t thread)
{
    object *o = it;
    if (thread > 0) {
        count(&got);
        rad__op_waitgroup_done(&o->group);
        return;
    }
    rad_time until = patience(c, 0);
    while (rad__op_waitgroup_wait(&o->group, until) != 0) until = RAD_FOREVER;
    RAD_MODEL_ASSERT(counted(&got) == threads(c) - 1);
    rad__free(o);
}

static const rad_param group_params[] = SYNC_PARAMS(3, 1);

RAD_MODEL(group, .name = "l2-waitgroup", .about = "a wait group that is freed by who waits for it",
          .params = group_params, .covers = "waitgroup wait", .thread_count = threads, .setup = group_setup,
          .body = group_body);

/* ---- Barrier -------------------------------------------------------------------------------------------- */

static void barrier_setup(const rad_case *c)
{
    sync_setup(c);
    rad__op_barrier_init(&it->barrier, threads(c));
}

static void barrier_body(const rad_case *c, uint32_t thread)
{
    for (int64_t i = 0; i < c->params[TURNS]; i++) {
        rad_time until = patience(c, c->params[HASTY] ? 0 : thread); /* all of them, or nobody */
        int code = rad__op_barrier_wait(&it->barrier, until);
        if (code == 1) count(&firsts);
        count(code >= 0 ? &got : &gave_up);
        if (code < 0) return;
    }
}

/* All of them met, or nobody did. */
static void barrier_check(const rad_case *c)
{
    RAD_MODEL_ASSERT(counted(&got) % threads(c) == 0);
    RAD_MODEL_ASSERT(counted(&firsts) * threads(c) == counted(&got));
    rad__free(it);
}

static const rad_param barrier_params[] = SYNC_PARAMS(2, 1);

RAD_MODEL(barrier, .name = "l2-barrier", .about = "a barrier: all meet, or nobody does, and one is told",
          .params = barrier_params, .covers = "barrier wait", .thread_count = threads, .setup = barrier_setup,
          .body = barrier_body, .check = barrier_check);
