/* test_mutex.c — mutex and condition, between fibers and threads. */
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

static void busy(uint64_t ns)
{
    for (rad_time end = rad_after(ns); rad_now() < end;) {
    }
}

/* ---- One at a time -------------------------------------------------------------------------------------- */

enum { FIBERS = 8, TURNS = 3000, THREADS = 2 };

typedef struct counter {
    rad_mutex m;
    int inside;
    long count;
    _Atomic int next;
} counter;

static int count_up(void *arg)
{
    counter *c = arg;
    int me = atomic_fetch_add(&c->next, 1);
    for (int i = 0; i < TURNS; i++) {
        assert_int_equal(rad_mutex_lock_until(&c->m, RAD_FOREVER), 0);
        assert_int_equal(c->inside++, 0);
        c->count++;
        if (rad_self().slot && (i + me) % 16 == 0) rad_yield();
        assert_int_equal(--c->inside, 0);
        rad_mutex_unlock(&c->m);
    }
    return 0;
}

static void *count_up_thread(void *arg)
{
    count_up(arg);
    return NULL;
}

static int count_up_all(void *arg)
{
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < FIBERS; i++) assert_int_equal(rad_nursery_spawn(&n, NULL, count_up, arg), 0);
    return rad_nursery_wait(&n);
}

static void one_at_a_time(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 4; workers++)
        for (int threads = 0; threads <= THREADS; threads += THREADS) {
            counter c = {.m = RAD_MUTEX_INIT};
            pthread_t t[THREADS];
            for (int i = 0; i < threads; i++) assert_int_equal(pthread_create(&t[i], NULL, count_up_thread, &c), 0);
            run(workers, count_up_all, &c);
            for (int i = 0; i < threads; i++) pthread_join(t[i], NULL);
            assert_int_equal(c.count, (FIBERS + threads) * TURNS);
            assert_int_equal(rad_mutex_lock_until(&c.m, 0), 0);
        }
}

/* ---- Who gets it ----------------------------------------------------------------------------------------- */

typedef struct line {
    rad_mutex m;
    int order[8], count;
    _Atomic int waiting;
    _Atomic rad_time queued;
    _Atomic int code;
} line;

static int stand_in_line(void *arg)
{
    line *l = arg;
    int me = atomic_fetch_add(&l->waiting, 1);
    l->queued = rad_now();
    l->code = rad_mutex_lock_until(&l->m, RAD_FOREVER);
    if (l->code != 0) return 0;
    assert_true(rad_mutex_is_mine(&l->m));
    l->order[l->count++] = me;
    rad_mutex_unlock(&l->m);
    return 0;
}

/* Nobody who has waited long is passed by; who has just come may be. */
static int is_handed_over(void *arg)
{
    (void)arg;
    bool passed_by = false;
    for (int i = 0; i < 100 && !passed_by; i++) {
        line l = {.m = RAD_MUTEX_INIT};
        rad_fiber f;
        bool early = i > 0; /* first the one that has to work; the other one as often as it takes */
        assert_int_equal(rad_mutex_lock_until(&l.m, 0), 0);
        assert_int_equal(rad_spawn(&f, stand_in_line, &l), 0);
        while (l.waiting == 0) rad_yield();
        if (!early) busy(3 * MS);
        rad_mutex_unlock(&l.m);
        int code = rad_mutex_lock_until(&l.m, 0);
        if (!early) assert_int_equal(code, RAD_ETIMEOUT);
        if (early && rad_now() - l.queued < MS) {
            assert_int_equal(code, 0);
            passed_by = true;
        }
        if (code == 0) rad_mutex_unlock(&l.m);
        assert_int_equal(rad_join(f, NULL, RAD_FOREVER), 0);
        rad_release(f);
    }
    assert_true(passed_by);
    return 0;
}

static int in_line(void *arg)
{
    (void)arg;
    line l = {.m = RAD_MUTEX_INIT};
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    assert_int_equal(rad_mutex_lock_until(&l.m, 0), 0);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(rad_nursery_spawn(&n, NULL, stand_in_line, &l), 0);
        while (l.waiting == i) rad_yield();
    }
    busy(3 * MS); /* it is handed over, from one to the next */
    rad_mutex_unlock(&l.m);
    assert_int_equal(rad_nursery_wait(&n), 0);
    for (int i = 0; i < 8; i++) assert_int_equal(l.order[i], i);
    return 0;
}

/* Two wait, and the first is woken in vain, because its unlocker took the lock again: it is still the first. */
static int keeps_its_place(void *arg)
{
    (void)arg;
    line l = {.m = RAD_MUTEX_INIT};
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    assert_int_equal(rad_mutex_lock_until(&l.m, 0), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(rad_nursery_spawn(&n, NULL, stand_in_line, &l), 0);
        while (l.waiting == i) rad_yield();
    }
    for (int i = 0; i < 3; i++) {
        rad_mutex_unlock(&l.m);
        if (rad_mutex_lock_until(&l.m, 0) != 0) break; /* a busy machine: it was handed over */
        rad_yield();
    }
    if (rad_mutex_is_mine(&l.m)) rad_mutex_unlock(&l.m);
    assert_int_equal(rad_nursery_wait(&n), 0);
    for (int i = 0; i < 2; i++) assert_int_equal(l.order[i], i);
    return 0;
}

static int wants_it_once(void *arg)
{
    line *l = arg;
    assert_int_equal(rad_mutex_lock_until(&l->m, RAD_FOREVER), 0);
    l->waiting = 2;
    rad_mutex_unlock(&l->m);
    return 0;
}

/* Somebody who locks and unlocks for ever does not keep the others of his worker from the lock. */
static int hog(void *arg)
{
    (void)arg;
    line l = {.m = RAD_MUTEX_INIT};
    rad_fiber f;
    assert_int_equal(rad_mutex_lock_until(&l.m, 0), 0);
    assert_int_equal(rad_spawn(&f, wants_it_once, &l), 0);
    for (int i = 0; i < 10; i++) rad_yield();
    for (int i = 0; i < 1000000 && l.waiting < 2; i++) { /* never leaves its worker, but for the lock */
        rad_mutex_unlock(&l.m);
        assert_int_equal(rad_mutex_lock_until(&l.m, RAD_FOREVER), 0);
    }
    assert_int_equal(l.waiting, 2);
    rad_mutex_unlock(&l.m);
    assert_int_equal(rad_join(f, NULL, RAD_FOREVER), 0);
    rad_release(f);
    return 0;
}

static void those_who_wait_get_it(void **state)
{
    (void)state;
    run(1, is_handed_over, NULL);
    run(1, in_line, NULL);
    run(1, keeps_its_place, NULL);
    for (uint32_t workers = 1; workers <= 2; workers++) run(workers, hog, NULL);
}

/* ---- Giving up ------------------------------------------------------------------------------------------- */

static int gives_up(void *arg)
{
    (void)arg;
    line l = {.m = RAD_MUTEX_INIT};
    rad_fiber f[3];
    assert_int_equal(rad_mutex_lock_until(&l.m, 0), 0);
    assert_int_equal(rad_mutex_lock_until(&l.m, 0), RAD_ETIMEOUT); /* also by its holder */
    for (int i = 0; i < 3; i++) assert_int_equal(rad_spawn(&f[i], stand_in_line, &l), 0);
    while (l.waiting < 3) rad_yield();
    rad_yield();
    l.code = 1;
    rad_cancel(f[0]); /* one in the queue, it does not matter which */
    assert_int_equal(rad_join(f[0], NULL, RAD_FOREVER), 0);
    assert_int_equal(l.code, RAD_ECANCELED);
    rad_mutex_unlock(&l.m);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(rad_join(f[i], NULL, RAD_FOREVER), 0);
        rad_release(f[i]);
    }
    assert_int_equal(l.count, 2);
    rad_cancel(rad_self());
    assert_int_equal(rad_mutex_lock_until(&l.m, RAD_FOREVER), 0); /* it is free: a cancelled fiber can clean up */
    rad_mutex_unlock(&l.m);
    return 0;
}

static int times_out(void *arg)
{
    rad_mutex *m = arg;
    rad_time end = rad_after(2 * MS);
    assert_int_equal(rad_mutex_lock_until(m, end), RAD_ETIMEOUT);
    assert_true(rad_now() >= end);
    assert_int_equal(rad_mutex_lock_until(m, 0), RAD_ETIMEOUT);
    return 0;
}

static void *times_out_thread(void *m)
{
    times_out(m);
    return NULL;
}

static void a_wait_for_it_ends(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 3; workers++) run(workers, gives_up, NULL);
    rad_mutex m = RAD_MUTEX_INIT;
    pthread_t t;
    assert_int_equal(rad_mutex_lock_until(&m, RAD_FOREVER), 0);
    assert_int_equal(pthread_create(&t, NULL, times_out_thread, &m), 0);
    run(2, times_out, &m);
    pthread_join(t, NULL);
    rad_mutex_unlock(&m);
    assert_int_equal(rad_mutex_lock_until(&m, rad_after(MS)), 0);
    assert_true(rad_mutex_is_mine(&m));
    rad_mutex_unlock(&m);
    assert_false(rad_mutex_is_mine(&m));
}

/* Timeouts and cancellations among those who wait: nobody is forgotten, whoever was woken to try. */
typedef struct crowd {
    rad_mutex m;
    _Atomic long got, gone;
    long count;
    _Atomic unsigned seed;
} crowd;

static int comes_and_goes(void *arg)
{
    crowd *c = arg;
    unsigned seed = atomic_fetch_add(&c->seed, 1);
    for (int i = 0; i < 2000; i++) {
        seed = seed * 1103515245 + 12345;
        unsigned kind = seed >> 16 & 3;
        int code = rad_mutex_lock_until(&c->m, kind == 0 ? RAD_FOREVER : rad_after(seed >> 20 & 0xfff));
        if (code == 0) {
            c->count++;
            atomic_fetch_add(&c->got, 1);
            if (kind == 1 && rad_self().slot) rad_yield();
            rad_mutex_unlock(&c->m);
        } else {
            atomic_fetch_add(&c->gone, 1);
        }
    }
    return 0;
}

static void *comes_and_goes_thread(void *arg)
{
    comes_and_goes(arg);
    return NULL;
}

static int crowd_of_fibers(void *arg)
{
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < FIBERS; i++) assert_int_equal(rad_nursery_spawn(&n, NULL, comes_and_goes, arg), 0);
    return rad_nursery_wait(&n);
}

static void a_crowd_comes_and_goes(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 4; workers++) {
        crowd c = {.m = RAD_MUTEX_INIT};
        pthread_t t;
        assert_int_equal(pthread_create(&t, NULL, comes_and_goes_thread, &c), 0);
        run(workers, crowd_of_fibers, &c);
        pthread_join(t, NULL);
        assert_int_equal(c.count, c.got);
        assert_int_equal(c.got + c.gone, (FIBERS + 1) * 2000);
        assert_int_equal(rad_mutex_lock_until(&c.m, 0), 0);
    }
}

/* ---- The last one frees ---------------------------------------------------------------------------------- */

typedef struct shared {
    rad_mutex m;
    int references;
} shared;

static int last_frees(void *arg)
{
    shared *s = arg;
    assert_int_equal(rad_mutex_lock_until(&s->m, RAD_FOREVER), 0);
    bool last = --s->references == 0;
    rad_mutex_unlock(&s->m);
    if (last) {
        memset(s, 0xff, sizeof *s);
        free(s);
    }
    return 0;
}

static int share(void *arg)
{
    (void)arg;
    for (int i = 0; i < 3000; i++) {
        shared *s = calloc(1, sizeof *s);
        rad_nursery n;
        assert_non_null(s);
        s->references = 3;
        rad_nursery_open(&n, RAD_FOREVER);
        for (int j = 0; j < 3; j++) assert_int_equal(rad_nursery_spawn(&n, NULL, last_frees, s), 0);
        assert_int_equal(rad_nursery_wait(&n), 0);
    }
    return 0;
}

static void whoever_unlocks_last_may_free(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 4; workers++) run(workers, share, NULL);
}

/* ---- Conditions ------------------------------------------------------------------------------------------ */

enum { ITEMS = 20000, ROOM = 2, PRODUCERS = 3, CONSUMERS = 3 };

typedef struct box {
    rad_mutex m;
    rad_cond filled, emptied;
    int in;
    long sum, taken;
    bool impatient; /* those who wait give up after some time, and come back */
} box;

static rad_time patience(const box *b, int i)
{
    return b->impatient && i % 2 ? rad_after((uint64_t)(i % 64) * 100) : RAD_FOREVER;
}

static int fills(void *arg)
{
    box *b = arg;
    for (int i = 0; i < ITEMS / PRODUCERS; i++) {
        assert_int_equal(rad_mutex_lock_until(&b->m, RAD_FOREVER), 0);
        while (b->in == ROOM) RAD_IGNORE(rad_cond_wait(&b->emptied, &b->m, patience(b, i)));
        b->in++;
        if (i % 3 == 0) rad_cond_signal(&b->filled);
        rad_mutex_unlock(&b->m);
        if (i % 3 != 0) rad_cond_signal(&b->filled);
    }
    return 0;
}

static int empties(void *arg)
{
    box *b = arg;
    for (int i = 0; i < ITEMS / CONSUMERS; i++) {
        assert_int_equal(rad_mutex_lock_until(&b->m, RAD_FOREVER), 0);
        while (b->in == 0) {
            int code = rad_cond_wait(&b->filled, &b->m, patience(b, i));
            assert_true(code == 0 || code == RAD_ETIMEOUT);
            assert_true(rad_mutex_is_mine(&b->m));
        }
        b->in--;
        b->taken++;
        rad_mutex_unlock(&b->m);
        rad_cond_signal(&b->emptied);
    }
    return 0;
}

static void *fills_thread(void *arg)
{
    fills(arg);
    return NULL;
}

static int fill_and_empty(void *arg)
{
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < CONSUMERS; i++) assert_int_equal(rad_nursery_spawn(&n, NULL, empties, arg), 0);
    for (int i = 1; i < PRODUCERS; i++) assert_int_equal(rad_nursery_spawn(&n, NULL, fills, arg), 0);
    return rad_nursery_wait(&n);
}

static void no_signal_is_lost(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 4; workers++) {
        box b = {.impatient = workers % 2 == 0};
        pthread_t t;
        assert_int_equal(pthread_create(&t, NULL, fills_thread, &b), 0);
        run(workers, fill_and_empty, &b);
        pthread_join(t, NULL);
        assert_int_equal(b.in, 0);
        assert_int_equal(b.taken, ITEMS / CONSUMERS * CONSUMERS);
    }
}

typedef struct room {
    rad_mutex m;
    rad_cond c;
    int waiting, left, code;
} room;

static int waits_in_the_room(void *arg)
{
    room *r = arg;
    assert_int_equal(rad_mutex_lock_until(&r->m, RAD_FOREVER), 0);
    r->waiting++;
    int code = rad_cond_wait(&r->c, &r->m, RAD_FOREVER);
    assert_true(rad_mutex_is_mine(&r->m));
    if (code != 0) r->code = code;
    r->left++;
    rad_mutex_unlock(&r->m);
    return 0;
}

static int signals(void *arg)
{
    (void)arg;
    room r = {.left = 0};
    rad_nursery n;
    rad_fiber f;
    rad_nursery_open(&n, RAD_FOREVER);
    rad_cond_signal(&r.c); /* to nobody: not kept */
    for (int i = 0; i < 5; i++) assert_int_equal(rad_nursery_spawn(&n, i == 0 ? &f : NULL, waits_in_the_room, &r), 0);
    while (r.waiting < 5) rad_yield();
    for (int i = 0; i < 10; i++) rad_yield();
    assert_int_equal(r.left, 0);
    rad_cond_signal(&r.c);
    for (int i = 0; i < 10; i++) rad_yield();
    assert_int_equal(r.left, 1);
    /* Cancelled: it has the mutex again before it goes on, however long that takes. */
    assert_int_equal(rad_mutex_lock_until(&r.m, RAD_FOREVER), 0);
    rad_cancel(f);
    for (int i = 0; i < 10; i++) rad_yield();
    assert_int_equal(r.left, 1);
    rad_mutex_unlock(&r.m);
    bool was_cancelled = rad_join(f, NULL, RAD_FOREVER) == 0 && r.code == RAD_ECANCELED;
    rad_release(f);
    assert_true(was_cancelled);
    assert_int_equal(r.left, 2);
    rad_cond_broadcast(&r.c);
    assert_int_equal(rad_nursery_wait(&n), 0);
    assert_int_equal(r.left, 5);
    /* Without waiting. */
    assert_int_equal(rad_mutex_lock_until(&r.m, 0), 0);
    assert_int_equal(rad_cond_wait(&r.c, &r.m, 0), RAD_ETIMEOUT);
    assert_int_equal(rad_cond_wait(&r.c, &r.m, rad_after(MS)), RAD_ETIMEOUT);
    rad_cancel(rad_self());
    assert_int_equal(rad_cond_wait(&r.c, &r.m, RAD_FOREVER), RAD_ECANCELED);
    assert_true(rad_mutex_is_mine(&r.m));
    rad_mutex_unlock(&r.m);
    return 0;
}

static void signals_and_what_ends_a_wait(void **state)
{
    (void)state;
    run(1, signals, NULL);
}

/* ---- Mistakes -------------------------------------------------------------------------------------------- */

static rad_mutex mistaken;

static void unlocks_what_is_free(void)
{
    rad_mutex_unlock(&mistaken);
}

static void *locks_it(void *unused)
{
    (void)unused;
    assert_int_equal(rad_mutex_lock_until(&mistaken, RAD_FOREVER), 0);
    return NULL;
}

static void unlocks_another_ones(void)
{
    pthread_t t;
    pthread_create(&t, NULL, locks_it, NULL);
    pthread_join(t, NULL);
    rad_mutex_unlock(&mistaken);
}

static void locks_twice(void)
{
    locks_it(NULL);
    locks_it(NULL);
}

static void unlocks_twice(void)
{
    locks_it(NULL);
    rad_mutex_unlock(&mistaken);
    rad_mutex_unlock(&mistaken);
}

static void waits_without_the_mutex(void)
{
    static rad_cond c;
    RAD_IGNORE(rad_cond_wait(&c, &mistaken, RAD_FOREVER));
}

static void mistakes_stop_the_process(void **state)
{
    (void)state;
    expect_misuse(unlocks_what_is_free, "rad_mutex_unlock: it is not locked");
    expect_misuse(unlocks_twice, "rad_mutex_unlock: it is not locked");
    expect_misuse(unlocks_another_ones, "rad_mutex_unlock: another fiber or thread holds it");
    expect_misuse(locks_twice, "rad_mutex_lock: the caller holds it already");
    expect_misuse(waits_without_the_mutex, "rad_cond_wait: the caller does not hold the mutex");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_at_a_time),
        cmocka_unit_test(those_who_wait_get_it),
        cmocka_unit_test(a_wait_for_it_ends),
        cmocka_unit_test(a_crowd_comes_and_goes),
        cmocka_unit_test(whoever_unlocks_last_may_free),
        cmocka_unit_test(no_signal_is_lost),
        cmocka_unit_test(signals_and_what_ends_a_wait),
        cmocka_unit_test(mistakes_stop_the_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
