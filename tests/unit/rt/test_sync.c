/* test_sync.c — RW lock, semaphore, wait group, once, barrier, between fibers and threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <raddle.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "patience_support.h"
#include "sync_support.h"

enum { MS = 1000000 };

static void run(uint32_t workers, rad_fn fn, void *arg)
{
    rad_options o = {.workers = workers, .extra_workers = extra_beside(workers)};
    assert_int_equal(rad_main(&o, fn, arg, NULL), 0);
}

static unsigned draw(unsigned *seed)
{
    *seed = *seed * 1103515245 + 12345;
    return *seed >> 8;
}

typedef struct thread_call {
    rad_fn fn;
    void *arg;
} thread_call;

static void *thread_calls(void *arg)
{
    thread_call *t = arg;
    assert_int_equal(t->fn(t->arg), 0);
    return NULL;
}

typedef struct crew {
    rad_fn fn;
    void *arg;
    int fibers;
} crew;

static int crew_works(void *arg)
{
    crew *c = arg;
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < c->fibers; i++) assert_int_equal(rad_nursery_spawn(&n, NULL, c->fn, c->arg), 0);
    return rad_nursery_wait(&n);
}

/* fn(arg) by so many fibers, and by a thread. */
static void by_many(uint32_t workers, int fibers, rad_fn fn, void *arg)
{
    pthread_t t;
    thread_call call = {fn, arg};
    crew c = {fn, arg, fibers};
    assert_int_equal(pthread_create(&t, NULL, thread_calls, &call), 0);
    run(workers, crew_works, &c);
    pthread_join(t, NULL);
}

static void yield_if_fiber(void)
{
    if (rad_self().slot) rad_yield();
}

/* Lets all other fibers of a single worker run until they wait. */
static void settle(void)
{
    for (int i = 0; i < 20; i++) rad_yield();
}

/* ---- RW lock ---------------------------------------------------------------------------------------------- */

typedef struct page {
    rad_rwlock l;
    _Atomic int readers, writers;
    _Atomic unsigned seed;
    _Atomic long written, gave_up;
    long text;
} page;

static int reads_and_writes(void *arg)
{
    page *p = arg;
    unsigned seed = atomic_fetch_add(&p->seed, 1);
    for (int i = 0; i < 3000; i++) {
        bool writes = draw(&seed) % 4 == 0;
        rad_time until = draw(&seed) % 2 ? RAD_FOREVER : rad_after(draw(&seed) % 4096);
        if ((writes ? rad_rwlock_write_until(&p->l, until) : rad_rwlock_read_until(&p->l, until)) != 0) {
            assert_true(until != RAD_FOREVER);
            p->gave_up++;
            continue;
        }
        atomic_fetch_add(writes ? &p->writers : &p->readers, 1);
        if (writes) {
            p->text++;
            p->written++;
        }
        if (draw(&seed) % 8 == 0) yield_if_fiber();
        assert_int_equal(p->writers, writes);
        if (writes) assert_int_equal(p->readers, 0);
        atomic_fetch_sub(writes ? &p->writers : &p->readers, 1);
        rad_rwlock_unlock(&p->l);
    }
    return 0;
}

static void readers_or_one_writer(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 4; workers++) {
        page p = {.l = RAD_RWLOCK_INIT};
        by_many(workers, 6, reads_and_writes, &p);
        assert_int_equal(p.text, p.written);
        assert_int_equal(rad_rwlock_write_until(&p.l, 0), 0);
    }
}

typedef struct visitor {
    rad_rwlock *l;
    char *order;
    int *at;
    char name;
    rad_time until;
    int code;
} visitor;

static int visits_to_read(void *arg)
{
    visitor *v = arg;
    v->code = rad_rwlock_read_until(v->l, v->until);
    if (v->code != 0) return 0;
    v->order[(*v->at)++] = v->name;
    rad_yield();
    rad_rwlock_unlock(v->l);
    return 0;
}

static int visits_to_write(void *arg)
{
    visitor *v = arg;
    v->code = rad_rwlock_write_until(v->l, v->until);
    if (v->code != 0) return 0;
    v->order[(*v->at)++] = v->name;
    rad_yield();
    rad_rwlock_unlock(v->l);
    return 0;
}

static int writers_first(void *arg)
{
    (void)arg;
    rad_rwlock l = RAD_RWLOCK_INIT;
    char order[8] = "";
    int at = 0;
    visitor v[4];
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < 4; i++) v[i] = (visitor){&l, order, &at, "rRwW"[i], RAD_FOREVER, 1};
    assert_int_equal(rad_rwlock_read_until(&l, 0), 0);
    assert_int_equal(rad_rwlock_read_until(&l, 0), 0); /* nobody waits: as many as there are */
    rad_rwlock_unlock(&l);
    assert_int_equal(rad_rwlock_write_until(&l, 0), RAD_ETIMEOUT);
    assert_int_equal(rad_rwlock_read_until(&l, 0), 0); /* who tries is not in the way */
    rad_rwlock_unlock(&l);
    rad_nursery_go(&n, visits_to_write, &v[2]);
    settle();
    assert_int_equal(rad_rwlock_read_until(&l, 0), RAD_ETIMEOUT); /* a writer waits */
    for (int i = 0; i < 2; i++) rad_nursery_go(&n, visits_to_read, &v[i]);
    settle();
    rad_nursery_go(&n, visits_to_write, &v[3]);
    settle();
    rad_rwlock_unlock(&l);
    assert_int_equal(rad_nursery_wait(&n), 0);
    assert_memory_equal(order, "wW", 2); /* then those who read, at the same time */
    assert_int_equal(at, 4);
    return 0;
}

static int a_writer_gives_up(void *arg)
{
    (void)arg;
    for (int how = 0; how < 2; how++) {
        rad_rwlock l = RAD_RWLOCK_INIT;
        char order[8] = "";
        int at = 0;
        visitor w = {&l, order, &at, 'w', how ? rad_after(20 * MS) : RAD_FOREVER, 1};
        visitor r = {&l, order, &at, 'r', RAD_FOREVER, 1};
        rad_fiber f, g;
        assert_int_equal(rad_rwlock_read_until(&l, 0), 0);
        assert_int_equal(rad_spawn(&f, visits_to_write, &w), 0);
        settle();
        assert_int_equal(rad_spawn(&g, visits_to_read, &r), 0);
        settle();
        if (how == 0) assert_int_equal(at, 0); /* its time may be up by now */
        if (how == 0) rad_cancel(f);
        assert_int_equal(rad_join(g, NULL, RAD_FOREVER), 0); /* while we still read */
        assert_string_equal(order, "r");
        assert_int_equal(rad_join(f, NULL, RAD_FOREVER), 0);
        assert_int_equal(w.code, how ? RAD_ETIMEOUT : RAD_ECANCELED);
        rad_release(f);
        rad_release(g);
        rad_rwlock_unlock(&l);
        assert_int_equal(rad_rwlock_write_until(&l, 0), 0);
        rad_rwlock_unlock(&l);
    }
    return 0;
}

static void writers_go_first(void **state)
{
    (void)state;
    run(1, writers_first, NULL);
    run(1, a_writer_gives_up, NULL);
}

/* ---- Semaphore -------------------------------------------------------------------------------------------- */

enum { PERMITS = 4 };

typedef struct yard {
    rad_semaphore s;
    _Atomic int out;
    _Atomic unsigned seed;
    _Atomic long got;
} yard;

static int takes_and_gives(void *arg)
{
    yard *y = arg;
    unsigned seed = atomic_fetch_add(&y->seed, 1);
    for (int i = 0; i < 3000; i++) {
        uint32_t count = 1 + draw(&seed) % 3;
        rad_time until = draw(&seed) % 2 ? RAD_FOREVER : rad_after(draw(&seed) % 4096);
        if (rad_semaphore_acquire(&y->s, count, until) != 0) {
            assert_true(until != RAD_FOREVER);
            continue;
        }
        y->got++;
        assert_in_range(atomic_fetch_add(&y->out, (int)count) + (int)count, 1, PERMITS);
        if (draw(&seed) % 8 == 0) yield_if_fiber();
        atomic_fetch_sub(&y->out, (int)count);
        rad_semaphore_release(&y->s, count);
    }
    return 0;
}

static void permits_are_conserved(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 4; workers++) {
        yard y = {.s = RAD_SEMAPHORE_INIT(PERMITS)};
        by_many(workers, 6, takes_and_gives, &y);
        assert_int_equal(rad_semaphore_permits(&y.s), PERMITS);
        assert_int_equal(y.out, 0);
        assert_true(y.got > 0);
        assert_int_equal(rad_semaphore_acquire(&y.s, PERMITS, 0), 0);
    }
}

typedef struct wish {
    rad_semaphore *s;
    uint32_t count;
    rad_time until;
    int code;
} wish;

static int wishes(void *arg)
{
    wish *w = arg;
    w->code = rad_semaphore_acquire(w->s, w->count, w->until);
    return 0;
}

static int in_order(void *arg)
{
    (void)arg;
    for (int how = 0; how < 3; how++) {
        rad_semaphore s;
        rad_semaphore_init(&s, 1);
        wish big = {&s, 3, how == 1 ? rad_after(20 * MS) : RAD_FOREVER, 1}, small = {&s, 1, RAD_FOREVER, 1};
        rad_fiber f, g;
        assert_int_equal(rad_spawn(&f, wishes, &big), 0);
        settle();
        assert_int_equal(rad_spawn(&g, wishes, &small), 0);
        settle();
        assert_int_equal(rad_semaphore_acquire(&s, 0, how == 0 ? 0 : RAD_FOREVER), 0); /* nobody waits for none */
        if (how != 1) {                      /* otherwise its time may be up by now */
            assert_int_equal(small.code, 1); /* there is one, but it is not its turn */
            assert_int_equal(rad_semaphore_acquire(&s, 1, 0), RAD_ETIMEOUT);
        }
        if (how == 0) rad_cancel(f);
        if (how == 2) {
            rad_semaphore_release(&s, 2);
            settle();
            assert_int_equal(big.code, 0);
            assert_int_equal(small.code, 1);
            rad_semaphore_release(&s, 1);
        }
        assert_int_equal(rad_join(g, NULL, RAD_FOREVER), 0); /* the one in front of it has left */
        assert_int_equal(small.code, 0);
        assert_int_equal(rad_join(f, NULL, RAD_FOREVER), 0);
        assert_int_equal(big.code, how == 0 ? RAD_ECANCELED : how == 1 ? RAD_ETIMEOUT : 0);
        assert_int_equal(rad_semaphore_permits(&s), 0);
        rad_release(f);
        rad_release(g);
    }
    return 0;
}

static void first_come_first_served(void **state)
{
    (void)state;
    run(1, in_order, NULL);
}

/* ---- Wait group and semaphore in a frame ------------------------------------------------------------------- */

typedef struct job {
    rad_waitgroup *g;
    rad_semaphore *s;
    _Atomic int *done;
} job;

static int does_it(void *arg)
{
    job j = *(job *)arg;
    atomic_fetch_add(j.done, 1);
    if (j.g)
        rad_waitgroup_done(j.g);
    else
        rad_semaphore_release(j.s, 1);
    return 0;
}

/* Its frame is overwritten as soon as it is through. */
static __attribute__((noinline)) void one_round(int round)
{
    rad_waitgroup g = RAD_WAITGROUP_INIT;
    rad_semaphore s = RAD_SEMAPHORE_INIT(0);
    _Atomic int done = 0;
    int count = 1 + round % 3;
    job j = {round % 2 ? &g : NULL, &s, &done};
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    if (j.g) rad_waitgroup_add(&g, (uint32_t)count);
    for (int i = 0; i < count; i++) assert_int_equal(rad_nursery_spawn(&n, NULL, does_it, &j), 0);
    if (round % 5 == 0) rad_yield();
    if (j.g)
        assert_int_equal(rad_waitgroup_wait(&g, RAD_FOREVER), 0);
    else
        assert_int_equal(rad_semaphore_acquire(&s, (uint32_t)count, RAD_FOREVER), 0);
    assert_int_equal(done, count);
    memset(&g, 0xff, sizeof g);
    memset(&s, 0xff, sizeof s);
    assert_int_equal(rad_nursery_wait(&n), 0);
}

static int rounds(void *arg)
{
    (void)arg;
    for (int i = 0; i < 6000; i++) one_round(i);
    return 0;
}

static void who_waits_may_free(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 4; workers++) run(workers, rounds, NULL);
}

static int waits_for_group(void *arg)
{
    assert_int_equal(rad_waitgroup_wait(arg, RAD_FOREVER), 0);
    return 0;
}

static int is_done_later(void *arg)
{
    settle();
    rad_waitgroup_done(arg);
    return 0;
}

static int group_again(void *arg)
{
    rad_waitgroup *g = arg;
    rad_nursery n;
    for (int round = 0; round < 3; round++) {
        assert_int_equal(rad_waitgroup_wait(g, 0), 0);
        rad_waitgroup_add(g, 2);
        assert_int_equal(rad_waitgroup_wait(g, 0), RAD_ETIMEOUT);
        assert_int_equal(rad_waitgroup_wait(g, rad_after(MS)), RAD_ETIMEOUT);
        rad_nursery_open(&n, RAD_FOREVER);
        for (int i = 0; i < 3; i++) rad_nursery_go(&n, waits_for_group, g);
        settle();
        rad_waitgroup_done(g);
        rad_waitgroup_add(g, 1);
        rad_waitgroup_done(g);
        settle();
        rad_waitgroup_done(g);
        rad_waitgroup_add(g, 1); /* who waited is through; who was late waits for this one */
        rad_nursery_go(&n, is_done_later, g);
        assert_int_equal(rad_nursery_wait(&n), 0);
    }
    return 0;
}

static void a_group_is_used_again(void **state)
{
    (void)state;
    rad_waitgroup g = RAD_WAITGROUP_INIT;
    run(1, group_again, &g);
    run(2, group_again, &g);
}

/* ---- Once ------------------------------------------------------------------------------------------------- */

typedef struct making {
    rad_once o;
    _Atomic int calls, failures, ready;
    int fail;
} making;

static int make(void *arg)
{
    making *m = arg;
    int call = ++m->calls;
    rad_sleep(MS);
    if (call <= m->fail) return 7;
    m->ready = 1;
    return 0;
}

static int needs_it(void *arg)
{
    making *m = arg;
    int code = rad_once_run(&m->o, make, m, RAD_FOREVER);
    if (code == 0) {
        assert_int_equal(m->ready, 1);
    } else {
        assert_int_equal(code, 7);
        m->failures++;
    }
    return 0;
}

static int needs_it_in_time(void *arg)
{
    making *m = arg;
    rad_fiber f;
    assert_int_equal(rad_spawn(&f, needs_it, m), 0);
    while (m->calls == 0) rad_yield();
    assert_int_equal(rad_once_run(&m->o, make, m, 0), RAD_ETIMEOUT);
    assert_int_equal(rad_join(f, NULL, RAD_FOREVER), 0);
    rad_release(f);
    return rad_once_run(&m->o, make, m, 0);
}

static void once_and_for_all(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 4; workers++)
        for (int fail = 0; fail <= 2; fail++) {
            making m = {.o = RAD_ONCE_INIT, .fail = fail};
            by_many(workers, 5, needs_it, &m);
            assert_int_equal(m.calls, fail + 1);
            assert_int_equal(m.failures, fail);
        }
    making m = {.o = RAD_ONCE_INIT};
    run(1, needs_it_in_time, &m);
    assert_int_equal(m.calls, 1);
}

/* ---- Barrier ---------------------------------------------------------------------------------------------- */

enum { PARTIES = 4, ROUNDS = 2000 };

typedef struct meeting {
    rad_barrier b;
    _Atomic int arrived[ROUNDS], first[ROUNDS];
} meeting;

static int meets(void *arg)
{
    meeting *m = arg;
    for (int i = 0; i < ROUNDS; i++) {
        atomic_fetch_add(&m->arrived[i], 1);
        int code = rad_barrier_wait(&m->b, RAD_FOREVER);
        assert_int_equal(m->arrived[i], PARTIES);
        assert_in_range(code, 0, 1);
        atomic_fetch_add(&m->first[i], code);
    }
    return 0;
}

static int times_out_at(void *arg)
{
    assert_int_equal(rad_barrier_wait(arg, rad_after(MS)), RAD_ETIMEOUT);
    return 0;
}

static int comes_to(void *arg)
{
    return rad_barrier_wait(arg, RAD_FOREVER);
}

static int some_leave(void *arg)
{
    (void)arg;
    rad_barrier b;
    rad_nursery n;
    rad_barrier_init(&b, 3);
    assert_int_equal(rad_barrier_wait(&b, 0), RAD_ETIMEOUT);
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_go(&n, times_out_at, &b);
    rad_nursery_go(&n, times_out_at, &b);
    assert_int_equal(rad_nursery_wait(&n), 0);
    rad_fiber f;
    rad_fiber_result r;
    assert_int_equal(rad_spawn(&f, comes_to, &b), 0);
    settle();
    rad_cancel(f);
    assert_int_equal(rad_join(f, &r, RAD_FOREVER), 0);
    assert_int_equal(r.code, RAD_ECANCELED);
    rad_release(f);
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_go(&n, comes_to, &b); /* nobody is there any more: two of them are not enough */
    rad_nursery_go(&n, comes_to, &b);
    settle();
    assert_int_equal(rad_barrier_wait(&b, 0), 1);
    return rad_nursery_wait(&n);
}

/* Whoever leaves while the last one comes: it was all of them, or not, and all agree. */
typedef struct pair {
    rad_barrier b;
    _Atomic int met[2];
} pair;

static int meets_if_it_can(void *arg)
{
    pair *p = arg;
    static _Atomic int sides;
    int side = atomic_fetch_add(&sides, 1) & 1;
    for (int i = 0; i < 4000; i++)
        if (rad_barrier_wait(&p->b, rad_after((uint64_t)(i * 37 % 8192))) >= 0) p->met[side]++;
    return 0;
}

static void all_meet_each_time(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 4; workers++) {
        static meeting m;
        m = (meeting){.b = RAD_BARRIER_INIT(PARTIES)};
        by_many(workers, PARTIES - 1, meets, &m);
        for (int i = 0; i < ROUNDS; i++) assert_int_equal(m.first[i], 1);
        pair p = {.b = RAD_BARRIER_INIT(2)};
        by_many(workers, 1, meets_if_it_can, &p);
        assert_int_equal(p.met[0], p.met[1]);
    }
    run(1, some_leave, NULL);
}

/* ---- Who was cancelled cleans up ------------------------------------------------------------------------ */

typedef struct things {
    rad_rwlock rwlock;
    rad_semaphore semaphore, reading;
    rad_waitgroup group, reads; /* reads: until there is a reader */
    rad_barrier alone, pair;
    rad_once once;
} things;

static int writes_in_vain(void *arg)
{
    things *t = arg;
    return rad_rwlock_write_until(&t->rwlock, rad_after(MS)) == RAD_ETIMEOUT ? 0 : 1;
}

static int waits_for_two(void *arg)
{
    things *t = arg;
    int code = rad_semaphore_acquire(&t->semaphore, 1, RAD_FOREVER);
    return code != 0 ? code : rad_waitgroup_wait(&t->group, RAD_FOREVER);
}

static int answers(void *arg)
{
    return *(int *)arg;
}

/* Has the RW lock to read as long as `reading` lasts. */
static int reads_meanwhile(void *arg)
{
    things *t = arg;
    rad_rwlock_read(&t->rwlock);
    rad_shield(true);
    rad_waitgroup_done(&t->reads);
    assert_int_equal(rad_semaphore_acquire(&t->reading, 1, RAD_FOREVER), 0);
    rad_rwlock_unlock(&t->rwlock);
    return 0;
}

/* Others have waited before, and left flags behind: nothing can be had without looking twice. */
static void leave_traces(things *t)
{
    rad_nursery n;
    rad_waitgroup_add(&t->reads, 1);
    assert_int_equal(rad_spawn(NULL, reads_meanwhile, t), 0);
    assert_int_equal(rad_waitgroup_wait(&t->reads, RAD_FOREVER), 0);
    rad_waitgroup_add(&t->group, 1);
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_go(&n, writes_in_vain, t);
    rad_nursery_go(&n, waits_for_two, t);
    settle();
    rad_semaphore_release(&t->semaphore, 1);
    settle();
    rad_waitgroup_done(&t->group);
    assert_int_equal(rad_nursery_wait(&n), 0);
    rad_semaphore_release(&t->semaphore, 1);
}

static int has_what_can_be_had(void *arg)
{
    things t = {.alone = RAD_BARRIER_INIT(1), .pair = RAD_BARRIER_INIT(2)};
    int fails = 3, works = 0;
    (void)arg;
    leave_traces(&t);
    rad_cancel(rad_self());
    assert_int_equal(rad_sleep(1), RAD_ECANCELED);
    assert_int_equal(rad_rwlock_read_until(&t.rwlock, RAD_FOREVER), 0);
    rad_rwlock_unlock(&t.rwlock);
    assert_int_equal(rad_semaphore_acquire(&t.semaphore, 1, RAD_FOREVER), 0);
    assert_int_equal(rad_waitgroup_wait(&t.group, RAD_FOREVER), 0);
    assert_int_equal(rad_barrier_wait(&t.alone, RAD_FOREVER), 1);
    assert_int_equal(rad_once_run(&t.once, answers, &fails, RAD_FOREVER), 3);
    assert_int_equal(rad_once_run(&t.once, answers, &works, RAD_FOREVER), 0);
    /* What cannot be had is as if it had not been asked for. */
    rad_waitgroup_add(&t.group, 1);
    assert_int_equal(rad_rwlock_write_until(&t.rwlock, RAD_FOREVER), RAD_ECANCELED);
    assert_int_equal(rad_semaphore_acquire(&t.semaphore, 1, RAD_FOREVER), RAD_ECANCELED);
    assert_int_equal(rad_waitgroup_wait(&t.group, RAD_FOREVER), RAD_ECANCELED);
    assert_int_equal(rad_barrier_wait(&t.pair, RAD_FOREVER), RAD_ECANCELED);
    assert_int_equal(rad_barrier_wait(&t.pair, RAD_FOREVER), RAD_ECANCELED);
    assert_int_equal(rad_rwlock_read_until(&t.rwlock, 0), 0);
    rad_rwlock_unlock(&t.rwlock);
    rad_semaphore_release(&t.reading, 1);
    rad_shield(true);
    assert_int_equal(rad_rwlock_write_until(&t.rwlock, RAD_FOREVER), 0); /* it has left */
    rad_rwlock_unlock(&t.rwlock);
    return 0;
}

static void who_was_cancelled_can_clean_up(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 3; workers += 2) run(workers, has_what_can_be_had, NULL);
}

/* ---- Mistakes --------------------------------------------------------------------------------------------- */

static rad_rwlock mistaken;

static void unlocks_what_is_free(void)
{
    rad_rwlock_unlock(&mistaken);
}

static void *writes_it(void *unused)
{
    (void)unused;
    assert_int_equal(rad_rwlock_write_until(&mistaken, RAD_FOREVER), 0);
    return NULL;
}

static void unlocks_another_ones(void)
{
    pthread_t t;
    pthread_create(&t, NULL, writes_it, NULL);
    pthread_join(t, NULL);
    rad_rwlock_unlock(&mistaken);
}

static void writes_twice(void)
{
    writes_it(NULL);
    writes_it(NULL);
}

static void is_done_too_often(void)
{
    rad_waitgroup g = RAD_WAITGROUP_INIT;
    rad_waitgroup_add(&g, 1);
    rad_waitgroup_done(&g);
    rad_waitgroup_done(&g);
}

static void releases_too_much(void)
{
    rad_semaphore s = RAD_SEMAPHORE_INIT(1);
    rad_semaphore_release(&s, RAD_SEMAPHORE_MAX);
}

static void reads_what_it_writes(void)
{
    rad_rwlock l = RAD_RWLOCK_INIT;
    if (rad_rwlock_write_until(&l, 0) != 0 || rad_rwlock_read_until(&l, 0) != RAD_ETIMEOUT) return;
    RAD_IGNORE(rad_rwlock_read_until(&l, RAD_FOREVER));
}

static void meets_nobody(void)
{
    rad_barrier b = {{0}};
    RAD_IGNORE(rad_barrier_wait(&b, RAD_FOREVER));
}

static void mistakes_stop_the_process(void **state)
{
    (void)state;
    expect_misuse(unlocks_what_is_free, "rad_rwlock_unlock: it is not locked");
    expect_misuse(unlocks_another_ones, "rad_rwlock_unlock: another fiber or thread has it");
    expect_misuse(writes_twice, "rad_rwlock_write: the caller has it already");
    expect_misuse(reads_what_it_writes, "rad_rwlock_read: the caller has it to write");
    expect_misuse(is_done_too_often, "rad_waitgroup_done: more done than added");
    expect_misuse(releases_too_much, "rad_semaphore_release: more permits than there can be");
    expect_misuse(meets_nobody, "rad_barrier_wait: it has no parties");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readers_or_one_writer),
        cmocka_unit_test(writers_go_first),
        cmocka_unit_test(permits_are_conserved),
        cmocka_unit_test(first_come_first_served),
        cmocka_unit_test(who_waits_may_free),
        cmocka_unit_test(a_group_is_used_again),
        cmocka_unit_test(once_and_for_all),
        cmocka_unit_test(all_meet_each_time),
        cmocka_unit_test(who_was_cancelled_can_clean_up),
        cmocka_unit_test(mistakes_stop_the_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
