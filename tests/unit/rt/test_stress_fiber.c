/* test_stress_fiber.c — storms of fibers: bursts, parks against unparks, joins against releases, recycling, depth,
 * the first and the last moments of a runtime. Nothing is lost, nothing happens twice. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rt/runtime.h"
#include "storm_support.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* ---- Bursts ------------------------------------------------------------------------------------------ */

typedef struct burst {
    uint64_t count;
    _Atomic uint64_t ran, sum;
    struct burst_item {
        struct burst *all;
        uint64_t index;
    } * items;
} burst;

static int burst_item(void *arg)
{
    struct burst_item *item = arg;
    atomic_fetch_add_explicit(&item->all->ran, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&item->all->sum, item->index * item->index, memory_order_relaxed);
    return 0;
}

static int burst_main(void *arg)
{
    burst *b = arg;
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    for (uint64_t i = 0; i < b->count; i++) CHECK(rad_nursery_spawn(&n, NULL, burst_item, &b->items[i]) == 0);
    return rad_nursery_wait(&n);
}

static void a_burst_loses_nothing(void **state)
{
    (void)state;
    burst b = {.count = storm_live(10000)};
    uint64_t sum = 0;
    b.items = calloc(b.count, sizeof *b.items);
    assert_non_null(b.items);
    for (uint64_t i = 0; i < b.count; i++) {
        b.items[i].all = &b;
        b.items[i].index = i;
        sum += i * i;
    }
    for (uint32_t workers = 1; workers <= 4; workers++) {
        b.ran = b.sum = 0;
        rad_time begin = rad_now();
        storm_run(workers, burst_main, &b);
        assert_int_equal(b.ran, b.count);
        assert_true(b.sum == sum);
        print_message("# burst of %llu, %u workers: %.0f ns each\n", (unsigned long long)b.count, workers,
                      (double)(rad_now() - begin) / (double)b.count);
    }
    free(b.items);
}

/* ---- Parks against unparks --------------------------------------------------------------------------- */

/* Sleepers take tokens and park while there is none. A waker gives a token only to somebody who has none, and unparks
 * him: if one wake is lost, that sleeper keeps its token for ever, and never gets all it should. */
enum { SLEEPERS = 6 };

typedef struct hammered {
    struct hammer *all;
    rad_fiber self;
    _Atomic uint32_t tokens;
    _Atomic bool is_there;
    uint64_t quota, got, stream;
} hammered;

typedef struct hammer {
    uint64_t quota, stream;
    hammered sleepers[SLEEPERS];
} hammer;

static int hammered_main(void *arg)
{
    hammered *s = arg;
    rad_prng prng = storm_prng(s->stream);
    s->self = rad_self();
    atomic_store(&s->is_there, true);
    while (s->got < s->quota) {
        uint32_t tokens = atomic_exchange_explicit(&s->tokens, 0, memory_order_acquire);
        CHECK(tokens <= 1);
        s->got += tokens;
        if (tokens == 0) {
            storm_spin(&prng, 30);
            rad__strand_leave(RAD_LEAVE_PARK); /* may return for nothing; never stays for nothing */
        }
    }
    return 0;
}

static void hammer_wake(hammered *s, rad_prng *prng)
{
    storm_spin(prng, 30);
    atomic_store_explicit(&s->tokens, 1, memory_order_release);
    if (rad__prng_below(prng, 64) == 0) rad__strand_unpark(rad__rt_worker(), &s->self.slot->strand, UINT32_MAX);
    rad__strand_unpark(rad__rt_worker(), &s->self.slot->strand, s->self.generation);
    while (rad__prng_below(prng, 16) == 0) /* once is enough, but any number is allowed */
        rad__strand_unpark(rad__rt_worker(), &s->self.slot->strand, s->self.generation);
}

static void hammer_all(hammer *h, void (*rest)(void))
{
    rad_prng prng = storm_prng(h->stream);
    uint64_t given[SLEEPERS] = {0};
    for (uint64_t left = h->quota * SLEEPERS; left > 0;) {
        uint32_t first = (uint32_t)rad__prng_below(&prng, SLEEPERS), tried = 0;
        for (; tried < SLEEPERS; tried++) {
            uint32_t i = (first + tried) % SLEEPERS;
            hammered *s = &h->sleepers[i];
            if (given[i] == h->quota || !atomic_load(&s->is_there) || atomic_load(&s->tokens) != 0) continue;
            given[i]++;
            left--;
            hammer_wake(s, &prng);
            break;
        }
        if (tried == SLEEPERS) rest();
    }
}

static int hammer_main(void *arg)
{
    hammer_all(arg, rad_yield);
    return 0;
}

static void thread_rests(void)
{
    sched_yield();
}

/* It wakes by the inner call, and has to see to it itself that the runtime stays. */
static void *hammer_thread(void *arg)
{
    hammer *h = arg;
    while (!atomic_load(&h->sleepers[0].is_there)) thread_rests();
    rad_runtime *visited = rad__visit_begin(rad__rt_worker(), h->sleepers[0].self.slot->strand.runtime);
    hammer_all(h, thread_rests);
    rad__visit_end(visited);
    return NULL;
}

enum { HAMMERS = 4 }; /* the first is a thread */

static int hammers_main(void *arg)
{
    hammer *h = arg;
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    for (uint32_t i = 0; i < HAMMERS; i++) {
        for (uint32_t k = 0; k < SLEEPERS; k++)
            CHECK(rad_nursery_spawn(&n, NULL, hammered_main, &h[i].sleepers[k]) == 0);
        if (i > 0) CHECK(rad_nursery_spawn(&n, NULL, hammer_main, &h[i]) == 0);
    }
    return rad_nursery_wait(&n);
}

static void no_wake_is_lost(void **state)
{
    (void)state;
    enum { LEAST = 1, MOST = 4 };
    uint64_t quota = storm_amount(1000000) / ((HAMMERS - 1) * SLEEPERS * (MOST - LEAST + 1)) + 1;
    for (uint32_t workers = LEAST; workers <= MOST; workers++) {
        static hammer h[HAMMERS];
        pthread_t thread;
        memset(h, 0, sizeof h);
        for (uint32_t i = 0; i < HAMMERS; i++) {
            h[i].quota = i > 0 ? quota : quota / 8 + 1; /* threads are slower */
            h[i].stream = workers * 1000 + i * 100;
            for (uint32_t k = 0; k < SLEEPERS; k++)
                h[i].sleepers[k] = (hammered){.all = &h[i], .quota = h[i].quota, .stream = h[i].stream + k + 1};
        }
        rad_time begin = rad_now();
        assert_int_equal(pthread_create(&thread, NULL, hammer_thread, &h[0]), 0);
        storm_run(workers, hammers_main, h);
        pthread_join(thread, NULL);
        uint64_t pairs = SLEEPERS * (h[0].quota + (HAMMERS - 1) * quota);
        print_message("# %llu pairs of park and unpark, %u workers: %.0f ns each\n", (unsigned long long)pairs, workers,
                      (double)(rad_now() - begin) / (double)pairs);
    }
}

/* ---- Joins ------------------------------------------------------------------------------------------- */

enum { JOINERS = 6 };

typedef struct joined {
    rad_fiber target;
    uint64_t number;
    _Atomic uint32_t users; /* of the handle: the last one gives it up */
    rad_prng prng;
} joined;

typedef struct joiner {
    joined *of;
    uint64_t stream;
} joiner;

static int joined_main(void *arg)
{
    joined *j = arg;
    uint64_t give[2] = {j->number, ~j->number};
    storm_spin(&j->prng, 200);
    if (rad__prng_below(&j->prng, 4) == 0) rad_yield();
    rad_set_result(give, sizeof give);
    return (int)(j->number & 0xffff);
}

static void check_gift(const rad_fiber_result *given, uint64_t number)
{
    uint64_t got[2];
    memcpy(got, given->bytes, sizeof got);
    CHECK(got[0] == number && got[1] == ~number && given->code == (int)(number & 0xffff));
}

static void join_somehow(joined *j, rad_prng *prng)
{
    rad_fiber_result given;
    static const uint64_t waits[] = {0, 1000, 20000};
    uint64_t way = rad__prng_below(prng, 5);
    storm_spin(prng, 200);
    int code = rad_join(j->target, &given, way > 2 ? RAD_FOREVER : way == 0 ? 0 : rad_after(waits[way]));
    CHECK(code == 0 || (code == RAD_ETIMEOUT && way <= 2));
    if (code == 0) check_gift(&given, j->number);
    if (atomic_fetch_sub(&j->users, 1) == 1) rad_release(j->target);
}

static int joiner_main(void *arg)
{
    joiner *j = arg;
    rad_prng prng = storm_prng(j->stream);
    join_somehow(j->of, &prng);
    return 0;
}

/* A thread joins each round's fiber, too. */
typedef struct join_race {
    uint64_t rounds;
    rad_chan *for_thread, *thread_ready;
} join_race;

static void *joins_as_thread(void *arg)
{
    join_race *r = arg;
    rad_prng prng = storm_prng(77);
    joined *j;
    while (rad_recv(r->for_thread, &j, RAD_FOREVER) == 0) {
        join_somehow(j, &prng);
        CHECK(rad_send(r->thread_ready, NULL, RAD_FOREVER) == 0);
    }
    return NULL;
}

static void join_round(join_race *r, uint64_t round, rad_prng *prng)
{
    uint32_t joiners = (uint32_t)rad__prng_below(prng, JOINERS + 1);
    bool thread = rad__prng_below(prng, 8) == 0;
    joined j = {.number = round, .users = joiners + thread + 1, .prng = *prng};
    joiner who[JOINERS];
    joined *address = &j;
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    CHECK(rad_nursery_spawn(&n, &j.target, joined_main, &j) == 0);
    if (thread) CHECK(rad_send(r->for_thread, &address, RAD_FOREVER) == 0);
    for (uint32_t i = 0; i < joiners; i++) {
        who[i] = (joiner){&j, round * 100 + i};
        CHECK(rad_nursery_spawn(&n, NULL, joiner_main, &who[i]) == 0);
    }
    rad_fiber_result given;
    if (rad__prng_below(prng, 2)) {
        CHECK(rad_join(j.target, &given, RAD_FOREVER) == 0);
        check_gift(&given, round);
    }
    if (atomic_fetch_sub(&j.users, 1) == 1) rad_release(j.target);
    CHECK(rad_nursery_wait(&n) == (int)(round & 0xffff)); /* until it has ended, and all who join */
    if (thread) CHECK(rad_recv(r->thread_ready, NULL, RAD_FOREVER) == 0);
}

static int join_main(void *arg)
{
    join_race *r = arg;
    rad_prng prng = storm_prng(3);
    for (uint64_t round = 0; round < r->rounds; round++) join_round(r, round, &prng);
    return 0;
}

static void many_join_and_the_last_one_releases(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 4; workers++) {
        join_race r = {.rounds = storm_amount(1500)};
        pthread_t thread;
        assert_int_equal(rad_chan_create(&r.for_thread, sizeof(joined *), 0, RAD_CHAN_BLOCKS), 0);
        assert_int_equal(rad_chan_create(&r.thread_ready, 0, 1, RAD_CHAN_BLOCKS), 0);
        assert_int_equal(pthread_create(&thread, NULL, joins_as_thread, &r), 0);
        storm_run(workers, join_main, &r);
        rad_chan_close(r.for_thread, 0);
        pthread_join(thread, NULL);
        rad_chan_destroy(r.for_thread);
        rad_chan_destroy(r.thread_ready);
    }
}

/* ---- Recycling --------------------------------------------------------------------------------------- */

enum { OLD = 64, RECYCLERS = 6 };

/* Handles that were given up, for everybody to try. */
typedef struct old_handle {
    rad_fiber fiber;
    uint64_t number;
} old_handle;

static old_handle old[OLD];
static rad_lock old_lock;
static _Atomic uint64_t fresh_number;
static uint64_t recycle_rounds;

static int lives_undisturbed(void *arg)
{
    uint64_t number = *(uint64_t *)arg;
    uint64_t give[2] = {number, ~number};
    if (number % 3 == 0) rad_yield();
    if (number % 7 == 0) CHECK(rad_sleep(1000) == 0);
    CHECK(!rad_is_canceled());
    rad_set_result(give, sizeof give);
    return (int)(number & 0xffff);
}

/* A fiber whose handle was given up may not be off its stack yet. Until then it is still the same one. */
static void disturb(rad_prng *prng)
{
    rad_fiber_result given;
    rad__lock(&old_lock);
    old_handle h = old[rad__prng_below(prng, OLD)];
    rad__unlock(&old_lock);
    if (h.fiber.slot == NULL) return;
    switch (rad__prng_below(prng, 3)) {
    case 0: rad_cancel(h.fiber); break;
    case 1: rad__strand_unpark(rad__rt_worker(), &h.fiber.slot->strand, h.fiber.generation); break;
    default:
        if (rad_join(h.fiber, &given, RAD_FOREVER) == 0) check_gift(&given, h.number);
    }
}

static void keep_old(rad_fiber f, uint64_t number, rad_prng *prng)
{
    rad__lock(&old_lock);
    old[rad__prng_below(prng, OLD)] = (old_handle){f, number};
    rad__unlock(&old_lock);
}

static int recycler(void *arg)
{
    rad_prng prng = storm_prng(1000 + (uint64_t)(uintptr_t)arg);
    for (uint64_t round = 0; round < recycle_rounds; round++) {
        uint64_t number = atomic_fetch_add(&fresh_number, 1);
        rad_fiber f;
        rad_fiber_result given;
        CHECK(rad_spawn(&f, lives_undisturbed, &number) == 0);
        for (uint64_t n = rad__prng_below(&prng, 4); n > 0; n--) disturb(&prng);
        CHECK(rad_join(f, &given, RAD_FOREVER) == 0);
        check_gift(&given, number);
        rad_release(f);
        keep_old(f, number, &prng);
    }
    return 0;
}

static int recycle_main(void *arg)
{
    rad_nursery n;
    (void)arg;
    rad_nursery_open(&n, RAD_FOREVER);
    for (uintptr_t i = 0; i < RECYCLERS; i++)
        CHECK(rad_nursery_spawn(&n, NULL, recycler, (void *)i) == 0); /* tidy: address ok */
    return rad_nursery_wait(&n);
}

static void old_handles_never_reach_a_later_fiber(void **state)
{
    (void)state;
    recycle_rounds = storm_amount(5000);
    for (uint32_t workers = 1; workers <= 4; workers++) {
        memset(old, 0, sizeof old);
        storm_run(workers, recycle_main, NULL);
    }
}

/* ---- Depth ------------------------------------------------------------------------------------------- */

typedef struct deep {
    uint64_t left;
    bool stays; /* the deepest one waits to be cancelled */
    _Atomic uint64_t *alive, *most;
} deep;

static int goes_deeper(void *arg)
{
    deep mine = *(deep *)arg;
    uint64_t alive = atomic_fetch_add(mine.alive, 1) + 1;
    int code;
    if (mine.left == 0) {
        atomic_store(mine.most, alive);
        code = mine.stays ? rad_sleep_until(RAD_FOREVER) : 0;
    } else {
        rad_nursery n;
        mine.left--;
        rad_nursery_open(&n, RAD_FOREVER);
        CHECK(rad_nursery_spawn(&n, NULL, goes_deeper, &mine) == 0);
        code = rad_nursery_wait(&n);
    }
    atomic_fetch_sub(mine.alive, 1);
    return code;
}

typedef struct depth {
    deep top;
    _Atomic uint64_t alive, most;
} depth;

static int deep_main(void *arg)
{
    depth *d = arg;
    rad_nursery n;
    d->top.alive = &d->alive;
    d->top.most = &d->most;
    rad_nursery_open(&n, RAD_FOREVER);
    CHECK(rad_nursery_spawn(&n, NULL, goes_deeper, &d->top) == 0);
    if (d->top.stays) {
        while (atomic_load(&d->most) == 0) CHECK(rad_sleep(1000000) == 0);
        rad_nursery_cancel(&n, 77);
    }
    CHECK(rad_nursery_wait(&n) == (d->top.stays ? 77 : 0));
    CHECK(atomic_load(&d->alive) == 0 && atomic_load(&d->most) == d->top.left + 1);
    return 0;
}

static void nurseries_nest_thousands_deep(void **state)
{
    (void)state;
    for (int stays = 0; stays < 2; stays++) {
        uint64_t left = storm_size(2499, 9999) / STORM_SLOWER;
        depth d = {.top = {.left = left, .stays = stays}};
        storm_run(2, deep_main, &d);
    }
}

/* ---- The first and the last moments ------------------------------------------------------------------- */

enum { EARLY_THREADS = 2, EARLY = 20 };

typedef struct early {
    rad_runtime *rt;
    _Atomic uint32_t ran, accepted;
    pthread_barrier_t *start;
} early;

static int early_fiber(void *arg)
{
    atomic_fetch_add(&((early *)arg)->ran, 1);
    return 0;
}

static void *early_thread(void *arg)
{
    early *e = arg;
    pthread_barrier_wait(e->start);
    for (int i = 0; i < EARLY; i++) {
        int code = rad_runtime_spawn(e->rt, NULL, early_fiber, e);
        CHECK(code == 0 || code == RAD_ECLOSED);
        if (code == 0) atomic_fetch_add(&e->accepted, 1);
    }
    return NULL;
}

/* Spawned before any worker runs, or while it shuts down: what was accepted runs, once. */
static void nothing_is_lost_at_either_end(void **state)
{
    (void)state;
    rad_prng prng = storm_prng(5);
    uint64_t refused = 0, rounds = storm_amount(300);
    for (uint64_t round = 0; round < rounds; round++) {
        rad_options o = {.workers = 1 + (uint32_t)(round % 5)};
        pthread_barrier_t start;
        pthread_t threads[EARLY_THREADS];
        early e = {.start = &start};
        pthread_barrier_init(&start, NULL, EARLY_THREADS + 1);
        assert_int_equal(rad_runtime_create(&e.rt, &o, NULL), 0);
        for (int i = 0; i < EARLY_THREADS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, early_thread, &e), 0);
        pthread_barrier_wait(&start);
        if (round % 2) {
            storm_spin(&prng, 20000);
            rad_runtime_shutdown(e.rt);
        }
        for (int i = 0; i < EARLY_THREADS; i++) pthread_join(threads[i], NULL);
        rad_runtime_destroy(e.rt);
        assert_int_equal(e.ran, e.accepted);
        if (round % 2 == 0) assert_int_equal(e.accepted, EARLY_THREADS * EARLY);
        refused += EARLY_THREADS * EARLY - e.accepted;
        pthread_barrier_destroy(&start);
    }
    print_message("# %llu runtimes, %llu fibers refused while closing\n", (unsigned long long)rounds,
                  (unsigned long long)refused);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_burst_loses_nothing),
        cmocka_unit_test(no_wake_is_lost),
        cmocka_unit_test(many_join_and_the_last_one_releases),
        cmocka_unit_test(old_handles_never_reach_a_later_fiber),
        cmocka_unit_test(nurseries_nest_thousands_deep),
        cmocka_unit_test(nothing_is_lost_at_either_end),
    };
    storm_choose();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
