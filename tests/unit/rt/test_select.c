/* test_select.c — select over what is not a channel: time, cancellation, mutex, semaphore, wait group. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <raddle.h>

#include <pthread.h>
#include <unistd.h>

#include "patience_support.h"
#include "sync_support.h"

enum { MS = 1000000 };

static void run(uint32_t workers, rad_fn fn, void *arg)
{
    rad_options o = {.workers = workers, .extra_workers = extra_beside(workers)};
    assert_int_equal(rad_main(&o, fn, arg, NULL), 0);
}

/* ---- Time ------------------------------------------------------------------------------------------------ */

static int on_time(void *arg)
{
    (void)arg;
    rad_chan *c;
    int value = 1;
    assert_int_equal(rad_chan_create(&c, sizeof value, 1, RAD_CHAN_BLOCKS), 0);
    rad_select_case cases[3] = {{.kind = RAD_ON_TIME, .on.time = rad_after(PATIENCE_NS)},
                                {.kind = RAD_ON_RECV, .on.chan = c, .value = &value},
                                {.kind = RAD_ON_TIME, .on.time = rad_after(PATIENCE_NS)}};
    assert_int_equal(rad_select(cases, 3, 0), RAD_ETIMEOUT);
    cases[2].on.time = rad_after(2 * MS);
    cases[2].code = 5;
    assert_int_equal(rad_select(cases, 3, RAD_FOREVER), 2); /* the earliest of them */
    assert_int_equal(cases[2].code, 0);
    assert_true(rad_now() >= cases[2].on.time);
    assert_int_equal(rad_select(cases, 3, 0), 2); /* it has passed: also with a try */
    cases[2].on.time = rad_after(PATIENCE_NS);
    assert_int_equal(rad_select(cases, 3, rad_after(MS)), RAD_ETIMEOUT); /* the deadline is earlier */
    assert_int_equal(rad_send(c, &value, 0), 0);
    value = 0;
    assert_int_equal(rad_select(cases, 3, RAD_FOREVER), 1);
    assert_int_equal(value, 1);
    assert_int_equal(rad_select(cases, 1, rad_after(MS)), RAD_ETIMEOUT);
    cases[0].on.time = rad_after(MS);
    assert_int_equal(rad_select(cases, 1, RAD_FOREVER), 0); /* nothing but time */
    /* When both can be done, either is, now and then. */
    int timed = 0, received = 0;
    for (int i = 0; i < 200; i++) {
        RAD_IGNORE(rad_send(c, &value, 0));
        int which = rad_select(cases, 2, RAD_FOREVER);
        timed += which == 0;
        received += which == 1;
    }
    assert_int_equal(timed + received, 200);
    assert_true(timed > 0 && received > 0);
    rad_chan_destroy(c);
    return 0;
}

static void time_is_a_case(void **state)
{
    (void)state;
    run(1, on_time, NULL);
    run(2, on_time, NULL);
    on_time(NULL); /* a thread */
}

/* ---- Cancellation ---------------------------------------------------------------------------------------- */

static int waits_to_be_cancelled(void *arg)
{
    rad_select_case cases[2] = {{.kind = RAD_ON_RECV, .on.chan = arg}, {.kind = RAD_ON_CANCEL, .code = 5}};
    int which = rad_select(cases, 2, RAD_FOREVER);
    assert_int_equal(cases[1].code, 0);
    assert_int_equal(rad_select(cases, 2, 0), 1);
    assert_int_equal(rad_select(cases, 1, RAD_FOREVER), RAD_ECANCELED);
    rad_shield(true);
    assert_int_equal(rad_select(cases, 2, 0), RAD_ETIMEOUT); /* it is not told */
    rad_shield(false);
    return which;
}

static int on_cancel(void *arg)
{
    (void)arg;
    rad_chan *c;
    rad_fiber f;
    rad_fiber_result r;
    rad_nursery n;
    assert_int_equal(rad_chan_create(&c, 0, 0, RAD_CHAN_BLOCKS), 0);
    rad_select_case mine[2] = {{.kind = RAD_ON_RECV, .on.chan = c}, {.kind = RAD_ON_CANCEL}};
    assert_int_equal(rad_select(mine, 2, 0), RAD_ETIMEOUT);
    assert_int_equal(rad_select(mine, 2, rad_after(MS)), RAD_ETIMEOUT);
    assert_int_equal(rad_spawn(&f, waits_to_be_cancelled, c), 0);
    rad_sleep(MS);
    rad_cancel(f); /* while it waits; or before, it makes no difference */
    assert_int_equal(rad_join(f, &r, RAD_FOREVER), 0);
    assert_int_equal(r.code, 1);
    rad_release(f);
    rad_nursery_open(&n, rad_after(5 * MS)); /* its deadline cancels, too */
    assert_int_equal(rad_nursery_spawn(&n, NULL, waits_to_be_cancelled, c), 0);
    assert_int_equal(rad_nursery_wait(&n), 1);
    rad_chan_destroy(c);
    return 0;
}

static void cancellation_is_a_case(void **state)
{
    (void)state;
    run(1, on_cancel, NULL);
    run(3, on_cancel, NULL);
    rad_select_case never = {.kind = RAD_ON_CANCEL};
    assert_int_equal(rad_select(&never, 1, 0), RAD_ETIMEOUT);
    assert_int_equal(rad_select(&never, 1, rad_after(MS)), RAD_ETIMEOUT);
}

/* ---- Locks, permits, groups ------------------------------------------------------------------------------- */

enum { FIBERS = 6, TURNS = 1500 };

typedef struct yard {
    rad_mutex m[2];
    int inside[2], count;
    rad_semaphore s;
    _Atomic int out, entered, next;
    rad_waitgroup g;
    rad_chan *c;
} yard;

static void enter(yard *y, int which)
{
    assert_int_equal(y->inside[which]++, 0);
    if (y->next % 4 == 0 && rad_self().slot) rad_yield();
    assert_int_equal(--y->inside[which], 0);
    rad_mutex_unlock(&y->m[which]);
}

static int selects(void *arg)
{
    yard *y = arg;
    int me = y->next++;
    for (int i = 0; i < TURNS; i++) {
        if ((i + me) % 3 == 0) { /* others just lock */
            int which = i & 1;
            assert_int_equal(rad_mutex_lock_until(&y->m[which], RAD_FOREVER), 0);
            enter(y, which);
            y->entered++;
            continue;
        }
        rad_select_case cases[3] = {{.kind = RAD_ON_LOCK, .on.mutex = &y->m[0]},
                                    {.kind = RAD_ON_ACQUIRE, .on.semaphore = &y->s},
                                    {.kind = RAD_ON_LOCK, .on.mutex = &y->m[1]}};
        int which = rad_select(cases, 3, i % 5 == 0 ? rad_after(2000) : RAD_FOREVER);
        if (which == RAD_ETIMEOUT) continue;
        assert_int_equal(cases[which].code, 0);
        y->entered++;
        if (which == 1) {
            assert_in_range(++y->out, 1, 2);
            if (i % 7 == 0 && rad_self().slot) rad_yield();
            y->out--;
            rad_semaphore_release(&y->s, 1);
        } else {
            assert_true(rad_mutex_is_mine(cases[which].on.mutex));
            enter(y, which / 2);
        }
    }
    rad_waitgroup_done(&y->g);
    return 0;
}

static void *selects_thread(void *arg)
{
    selects(arg);
    return NULL;
}

static int all_select(void *arg)
{
    yard *y = arg;
    rad_chan *c;
    assert_int_equal(rad_chan_create(&c, 0, 0, RAD_CHAN_BLOCKS), 0);
    rad_select_case cases[2] = {{.kind = RAD_ON_RECV, .on.chan = c}, {.kind = RAD_ON_GROUP, .on.group = &y->g}};
    assert_int_equal(rad_select(cases, 2, 0), RAD_ETIMEOUT);
    for (int i = 0; i < FIBERS; i++) assert_int_equal(rad_spawn(NULL, selects, y), 0);
    assert_int_equal(rad_select(cases, 2, RAD_FOREVER), 1);
    rad_chan_destroy(c);
    return 0;
}

static void locks_permits_and_groups_are_cases(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 4; workers++) {
        yard y = {.s = RAD_SEMAPHORE_INIT(2)};
        pthread_t t;
        rad_waitgroup_add(&y.g, FIBERS + 1);
        assert_int_equal(pthread_create(&t, NULL, selects_thread, &y), 0);
        run(workers, all_select, &y);
        pthread_join(t, NULL);
        assert_true(y.entered > 0);
        assert_int_equal(rad_semaphore_permits(&y.s), 2);
        assert_int_equal(rad_mutex_lock_until(&y.m[0], 0) + rad_mutex_lock_until(&y.m[1], 0), 0);
    }
}

/* Not recursive: what the caller holds is not free. */
static int selects_its_own(void *arg)
{
    static rad_mutex m;
    rad_select_case c = {.kind = RAD_ON_LOCK, .on.mutex = &m};
    (void)arg;
    rad_mutex_lock(&m);
    assert_int_equal(rad_select(&c, 1, 0), RAD_ETIMEOUT);
    assert_int_equal(rad_select(&c, 1, rad_after(1000)), RAD_ETIMEOUT);
    rad_mutex_unlock(&m);
    assert_int_equal(rad_select(&c, 1, 0), 0);
    rad_mutex_unlock(&m);
    assert_int_equal(rad_mutex_lock_until(&m, 0), 0);
    rad_mutex_unlock(&m);
    return 0;
}

static void a_mutex_that_the_caller_holds_is_not_ready(void **state)
{
    (void)state;
    selects_its_own(NULL); /* a thread */
    run(2, selects_its_own, NULL);
}

static void selects_nonsense(void)
{
    rad_select_case c = {.kind = (enum rad_select_kind)99};
    RAD_IGNORE(rad_select(&c, 1, 0));
}

static void a_kind_that_does_not_exist(void **state)
{
    (void)state;
    expect_misuse(selects_nonsense, "rad_select: a case has a kind that does not exist");
}

/* ---- Fairness -------------------------------------------------------------------------------------------- */

enum {
    CHANS = 8,
#if defined(__SANITIZE_THREAD__)
    ROUNDS = 5000,
    SPREAD = ROUNDS / 12, /* more than 11 standard deviations */
#else
    ROUNDS = 100000,
    SPREAD = ROUNDS / 50, /* … 12 */
#endif
};

typedef struct deck {
    rad_chan *chans[CHANS];
    uint32_t done[CHANS]; /* how often each case was */
} deck;

/* The channels of `ready`, a bit each, always hold a value. */
static void play(deck *d, unsigned ready, uint32_t rounds)
{
    rad_select_case cases[CHANS];
    int value = 1;
    for (int i = 0; i < CHANS; i++) {
        d->done[i] = 0;
        cases[i] = (rad_select_case){.kind = RAD_ON_RECV, .on.chan = d->chans[i], .value = &value};
    }
    for (uint32_t round = 0; round < rounds; round++) {
        for (int i = 0; i < CHANS; i++)
            if (ready >> i & 1) assert_true(rad_send(d->chans[i], &value, 0) != RAD_ECLOSED);
        int which = rad_select(cases, CHANS, RAD_FOREVER);
        assert_in_range(which, 0, CHANS - 1);
        d->done[which]++;
    }
    for (int i = 0; i < CHANS; i++)
        while (rad_recv(d->chans[i], &value, 0) == 0) {
        }
}

/* Each case that is ready is done as often as the others, but for the spread. */
static void play_and_count(deck *d, unsigned ready)
{
    uint32_t share = ROUNDS / (uint32_t)__builtin_popcount(ready);
    play(d, ready, ROUNDS);
    for (int i = 0; i < CHANS; i++)
        if (ready >> i & 1)
            assert_in_range(d->done[i], share - SPREAD, share + SPREAD);
        else
            assert_int_equal(d->done[i], 0);
}

static int plays(void *arg)
{
    deck *d = arg;
    const unsigned ready[] = {0x03, 0x38, 0x44, 0x81, 0xc1, 0xff, 0x7e};
    for (size_t i = 0; i < sizeof ready / sizeof *ready; i++) play_and_count(d, ready[i]);
    return 0;
}

static void what_is_ready_is_equally_likely(void **state)
{
    (void)state;
    deck d;
    for (int i = 0; i < CHANS; i++) assert_int_equal(rad_chan_create(&d.chans[i], sizeof(int), 1, RAD_CHAN_BLOCKS), 0);
    run(1, plays, &d);
    plays(&d); /* a thread draws, too */
    for (int i = 0; i < CHANS; i++) rad_chan_destroy(d.chans[i]);
}

/* A channel, a time that has passed, a tick, a semaphore and a descriptor, all of them always ready; and with more
 * cases than fit into a small frame. */
static int mixes(void *arg)
{
    (void)arg;
    enum { KINDS = 5, MORE = 40, DRAWS = 20000 };
    rad_chan *chan;
    rad_semaphore permits = RAD_SEMAPHORE_INIT(0);
    rad_ticker ticker;
    uint32_t done[KINDS] = {0};
    int pipes[2], value = 0;
    uint64_t tick = 0, last = 0;
    assert_int_equal(rad_chan_create(&chan, sizeof value, 1, RAD_CHAN_BLOCKS), 0);
    assert_int_equal(pipe(pipes), 0);
    assert_int_equal(write(pipes[1], "x", 1), 1);
    rad_ticker_start(&ticker, 1);
    for (uint32_t count = KINDS; count <= MORE; count += MORE - KINDS) {
        for (int k = 0; k < KINDS; k++) done[k] = 0;
        for (int i = 0; i < DRAWS; i++) {
            rad_select_case cases[MORE];
            for (uint32_t k = 0; k < MORE; k++) cases[k].kind = RAD_OFF;
            cases[0] = (rad_select_case){.kind = RAD_ON_RECV, .on.chan = chan, .value = &value};
            cases[1] = (rad_select_case){.kind = RAD_ON_TIME, .on.time = 1};
            cases[2] = (rad_select_case){.kind = RAD_ON_TICK, .on.ticker = &ticker, .value = &tick};
            cases[3] = (rad_select_case){.kind = RAD_ON_ACQUIRE, .on.semaphore = &permits};
            cases[4] = (rad_select_case){.kind = RAD_ON_FD, .on.file = {pipes[0], RAD_READABLE}};
            RAD_IGNORE(rad_send(chan, &value, 0));
            if (rad_semaphore_permits(&permits) == 0) rad_semaphore_release(&permits, 1);
            int which = rad_select(cases, count, i % 2 ? RAD_FOREVER : 0);
            assert_in_range(which, 0, KINDS - 1);
            assert_int_equal(cases[which].code, which == 4 ? RAD_READABLE : 0);
            if (which == 2) assert_true(tick > last && (last = tick));
            done[which]++;
        }
        for (int k = 0; k < KINDS; k++) /* 10 standard deviations */
            assert_in_range(done[k], DRAWS / KINDS - 600, DRAWS / KINDS + 600);
    }
    close(pipes[0]);
    close(pipes[1]);
    rad_chan_destroy(chan);
    return 0;
}

static void all_kinds_are_equally_likely(void **state)
{
    (void)state;
    run(1, mixes, NULL);
    mixes(NULL);
}

/* ---- Cases that are off; NULL ----------------------------------------------------------------------------- */

static int turns_off(void *arg)
{
    (void)arg;
    rad_chan *chans[2];
    int value = 7, sum = 0, open = 2;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(rad_chan_create(&chans[i], sizeof value, 1, RAD_CHAN_BLOCKS), 0);
        assert_int_equal(rad_send(chans[i], &value, 0), 0);
        rad_chan_close(chans[i], 0);
    }
    rad_select_case cases[2] = {{.kind = RAD_ON_RECV, .on.chan = chans[0], .value = &value},
                                {.kind = RAD_ON_RECV, .on.chan = chans[1], .value = &value}};
    while (open > 0) { /* as with a nil channel in Go: a closed one is switched off */
        int which = rad_select(cases, 2, RAD_FOREVER);
        assert_in_range(which, 0, 1);
        if (cases[which].code == 0) {
            sum += value;
            continue;
        }
        assert_int_equal(cases[which].code, RAD_ECLOSED);
        cases[which].kind = RAD_OFF;
        open--;
    }
    assert_int_equal(sum, 14);
    cases[0].on.chan = NULL; /* nobody looks at it */
    rad_time until = rad_after(2 * MS);
    assert_int_equal(rad_select(cases, 2, 0), RAD_ETIMEOUT);
    assert_int_equal(rad_select(cases, 2, until), RAD_ETIMEOUT);
    assert_true(rad_now() >= until);
    for (int i = 0; i < 2; i++) rad_chan_destroy(chans[i]);
    if (rad_self().slot == NULL) return 0;
    rad_cancel(rad_self());
    return rad_select(cases, 2, RAD_FOREVER) == RAD_ECANCELED ? 0 : 1;
}

static void a_case_can_be_off(void **state)
{
    (void)state;
    run(1, turns_off, NULL);
    turns_off(NULL);
}

static void selects_null(void)
{
    int value;
    rad_select_case c = {.kind = RAD_ON_RECV, .value = &value};
    RAD_IGNORE(rad_select(&c, 1, 0));
}

static void selects_null_mutex(void)
{
    rad_select_case c = {.kind = RAD_ON_LOCK};
    RAD_IGNORE(rad_select(&c, 1, RAD_FOREVER));
}

static void selects_null_ticker(void)
{
    rad_select_case c = {.kind = RAD_ON_TICK};
    RAD_IGNORE(rad_select(&c, 1, RAD_FOREVER));
}

static void receives_null(void)
{
    int value;
    (void)!rad_recv(NULL, &value, RAD_FOREVER);
}

static void sends_null(void)
{
    int value = 1;
    (void)!rad_send_many(NULL, &value, 1, 0);
}

static void null_is_a_mistake_with_a_message(void **state)
{
    (void)state;
    const char *about = "rad_select: a case has a NULL pointer as its object; RAD_OFF switches a case off";
    expect_misuse(selects_null, about);
    expect_misuse(selects_null_mutex, about);
    expect_misuse(selects_null_ticker, about);
    expect_misuse(receives_null, "rad_recv: the channel is NULL");
    expect_misuse(sends_null, "rad_send_many: the channel is NULL");
}

/* ---- Ticks ----------------------------------------------------------------------------------------------- */

/* One call a tick: what select has received is not there again. */
static int ticks(void *arg)
{
    (void)arg;
    rad_ticker hourly, t;
    uint64_t tick = 0;
    rad_ticker_start(&hourly, (uint64_t)3600000 * MS);
    rad_ticker_start(&t, 2 * MS);
    rad_select_case cases[2] = {{.kind = RAD_ON_TICK, .on.ticker = &hourly},
                                {.kind = RAD_ON_TICK, .on.ticker = &t, .value = &tick}};
    uint64_t selects = 0;
    for (; selects < 5; selects++) {
        uint64_t last = tick;
        assert_int_equal(rad_select(cases, 2, RAD_FOREVER), 1);
        assert_true(tick > last);
        assert_true(rad_now() >= t.start + tick * t.period);
        assert_int_equal(t.last, tick);
    }
    assert_int_equal(t.missed + selects, tick); /* so no tick was received twice */
    cases[1].kind = RAD_OFF;
    rad_time until = rad_after(MS);
    assert_int_equal(rad_select(cases, 2, until), RAD_ETIMEOUT);
    assert_true(rad_now() >= until);
    assert_int_equal(hourly.last, 0);
    return 0;
}

static void a_tick_is_a_case(void **state)
{
    (void)state;
    run(1, ticks, NULL);
    run(2, ticks, NULL);
    ticks(NULL);
}

/* ---- RW locks -------------------------------------------------------------------------------------------- */

typedef struct library {
    rad_rwlock lock;
    _Atomic int readers, writers;
    int books; /* guarded by the lock */
    _Atomic int written;
} library;

static int chooses_writing(void *arg)
{
    library *l = arg;
    rad_select_case cases[2] = {{.kind = RAD_ON_WRITE, .on.rwlock = &l->lock},
                                {.kind = RAD_ON_TIME, .on.time = rad_after(3 * MS)}};
    return rad_select(cases, 2, RAD_FOREVER) == 1 ? 0 : 1;
}

static int reads(void *arg)
{
    library *l = arg;
    rad_rwlock_read(&l->lock);
    atomic_fetch_add(&l->readers, 1);
    rad_rwlock_unlock(&l->lock);
    return 0;
}

static int in_a_library(void *unused)
{
    library l = {.books = 0};
    rad_nursery n;
    (void)unused;
    rad_select_case both[2] = {{.kind = RAD_ON_READ, .on.rwlock = &l.lock},
                               {.kind = RAD_ON_WRITE, .on.rwlock = &l.lock}};
    int which = rad_select(both, 2, RAD_FOREVER);
    assert_in_range(which, 0, 1);
    rad_rwlock_unlock(&l.lock);
    assert_int_equal(rad_select(&both[1], 1, 0), 0);
    assert_int_equal(rad_select(both, 2, 0), RAD_ETIMEOUT); /* one writes */
    rad_rwlock_unlock(&l.lock);
    rad_rwlock_read(&l.lock);
    assert_int_equal(rad_select(both, 2, 0), 0); /* many read */
    rad_rwlock_unlock(&l.lock);
    if (rad_self().slot != NULL) { /* a select that has left lets readers in */
        rad_nursery_open(&n, RAD_FOREVER);
        assert_int_equal(rad_nursery_spawn(&n, NULL, chooses_writing, &l), 0);
        rad_sleep(MS);
        for (int i = 0; i < 3; i++) assert_int_equal(rad_nursery_spawn(&n, NULL, reads, &l), 0);
        assert_int_equal(rad_nursery_wait(&n), 0); /* while this fiber reads */
        assert_int_equal(l.readers, 3);
    }
    rad_rwlock_unlock(&l.lock);
    assert_int_equal(rad_rwlock_write_until(&l.lock, 0), 0);
    rad_rwlock_unlock(&l.lock);
    return 0;
}

static void use_library(library *l, bool writes)
{
    if (writes) {
        assert_int_equal(l->readers, 0);
        assert_int_equal(atomic_fetch_add(&l->writers, 1), 0);
        l->books++;
        atomic_fetch_add(&l->written, 1);
        atomic_fetch_sub(&l->writers, 1);
    } else {
        atomic_fetch_add(&l->readers, 1);
        assert_int_equal(l->writers, 0);
        if (rad_self().slot != NULL) rad_yield();
        atomic_fetch_sub(&l->readers, 1);
    }
    rad_rwlock_unlock(&l->lock);
}

static int visits(void *arg)
{
    library *two = arg;
    for (int i = 0; i < 300; i++) {
        rad_select_case cases[3] = {{.kind = i % 3 ? RAD_ON_READ : RAD_ON_WRITE, .on.rwlock = &two[0].lock},
                                    {.kind = i % 4 ? RAD_ON_READ : RAD_ON_WRITE, .on.rwlock = &two[1].lock},
                                    {.kind = i % 2 ? RAD_OFF : RAD_ON_TIME, .on.time = rad_after(20000)}};
        int which = rad_select(cases, 3, RAD_FOREVER);
        assert_in_range(which, 0, 2);
        if (which < 2) use_library(&two[which], cases[which].kind == RAD_ON_WRITE);
    }
    return 0;
}

static void *visits_on_a_thread(void *arg)
{
    visits(arg);
    return NULL;
}

static int all_visit(void *arg)
{
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < 6; i++) assert_int_equal(rad_nursery_spawn(&n, NULL, visits, arg), 0);
    return rad_nursery_wait(&n);
}

static void rw_locks_are_cases(void **state)
{
    (void)state;
    in_a_library(NULL);
    for (uint32_t workers = 1; workers <= 3; workers++) {
        library two[2] = {{.books = 0}, {.books = 0}};
        pthread_t thread;
        run(workers, in_a_library, NULL);
        assert_int_equal(pthread_create(&thread, NULL, visits_on_a_thread, two), 0);
        run(workers, all_visit, two);
        pthread_join(thread, NULL);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(two[i].books, two[i].written);
            assert_int_equal(rad_rwlock_write_until(&two[i].lock, 0), 0);
            rad_rwlock_unlock(&two[i].lock);
        }
    }
}

/* ---- Who wanted to write, and got something else ------------------------------------------------------------ */

typedef struct reading_room {
    rad_rwlock lock;
    rad_chan *chan;
    bool swapped;
    _Atomic int waits, reads;
} reading_room;

/* Waits to write, and for a value, in either order. */
static int writes_or_receives(void *arg)
{
    reading_room *r = arg;
    int value = 0;
    rad_select_case write = {.kind = RAD_ON_WRITE, .on.rwlock = &r->lock},
                    receive = {.kind = RAD_ON_RECV, .on.chan = r->chan, .value = &value},
                    cases[2] = {r->swapped ? receive : write, r->swapped ? write : receive};
    atomic_fetch_add(&r->waits, 1);
    assert_int_equal(rad_select(cases, 2, RAD_FOREVER), r->swapped ? 0 : 1);
    assert_int_equal(value, 7);
    return 0;
}

static int reads_behind_it(void *arg)
{
    reading_room *r = arg;
    atomic_fetch_add(&r->waits, 1);
    assert_int_equal(rad_rwlock_read_until(&r->lock, rad_after(PATIENCE_NS)), 0);
    rad_rwlock_unlock(&r->lock);
    atomic_fetch_add(&r->reads, 1);
    return 0;
}

static int leaves_the_queue(void *arg)
{
    reading_room *r = arg;
    rad_nursery n;
    int value = 7;
    assert_int_equal(rad_chan_create(&r->chan, sizeof value, 0, RAD_CHAN_BLOCKS), 0);
    assert_int_equal(rad_rwlock_read_until(&r->lock, RAD_FOREVER), 0);
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_go(&n, writes_or_receives, r);
    while (atomic_load(&r->waits) < 1) rad_yield();
    rad_nursery_go(&n, reads_behind_it, r);
    while (atomic_load(&r->waits) < 2) rad_yield();
    for (int i = 0; i < 20; i++) rad_yield(); /* now most likely both wait */
    assert_int_equal(rad_send(r->chan, &value, RAD_FOREVER), 0);
    assert_int_equal(rad_nursery_wait(&n), 0); /* the reader is let in beside this one */
    assert_int_equal(r->reads, 1);
    rad_rwlock_unlock(&r->lock);
    rad_chan_destroy(r->chan);
    return 0;
}

/* The order in which a select asks is drawn: often enough for each. */
static void a_writer_that_was_not_let_in_is_not_in_the_way(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 24; i++) {
        reading_room r = {.swapped = i % 2};
        rad_options o = {.workers = 1, .extra_workers = extra_beside(1), .seed = i};
        assert_int_equal(rad_main(&o, leaves_the_queue, &r, NULL), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rw_locks_are_cases),
        cmocka_unit_test(a_writer_that_was_not_let_in_is_not_in_the_way),
        cmocka_unit_test(what_is_ready_is_equally_likely),
        cmocka_unit_test(all_kinds_are_equally_likely),
        cmocka_unit_test(a_case_can_be_off),
        cmocka_unit_test(null_is_a_mistake_with_a_message),
        cmocka_unit_test(a_tick_is_a_case),
        cmocka_unit_test(time_is_a_case),
        cmocka_unit_test(cancellation_is_a_case),
        cmocka_unit_test(locks_permits_and_groups_are_cases),
        cmocka_unit_test(a_mutex_that_the_caller_holds_is_not_ready),
        cmocka_unit_test(a_kind_that_does_not_exist),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
