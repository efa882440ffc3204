/* test_stress_chan.c — storms on channels: close, cancellation and deadlines against everybody who is at it, rings
 * that are full, select with one to eight cases, pipelines. What a send says was taken is received, once, and nothing
 * else is. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "storm_support.h"

#include <pthread.h>
#include <stdlib.h>

static rad_chan *chan_of(size_t size, size_t capacity)
{
    rad_chan *c;
    CHECK(rad_chan_create(&c, size, capacity, RAD_CHAN_BLOCKS) == 0);
    return c;
}

/* ---- What went in, and what came out ------------------------------------------------------------------- */

typedef struct tally {
    _Atomic uint64_t count, sum, mix;
} tally;

static uint64_t scramble(uint64_t x)
{
    x *= UINT64_C(0x9e3779b97f4a7c15);
    return x ^ x >> 29;
}

static void tally_add(tally *t, uint64_t value)
{
    atomic_fetch_add_explicit(&t->count, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&t->sum, value, memory_order_relaxed);
    atomic_fetch_add_explicit(&t->mix, scramble(value), memory_order_relaxed);
}

static void tally_same(const tally *in, const tally *out)
{
    CHECK(in->count == out->count && in->sum == out->sum && in->mix == out->mix);
}

/* ---- Everybody against close and cancellation ----------------------------------------------------------- */

enum { SENDERS = 4, RECEIVERS = 4, BATCH = 5 };

typedef struct arena {
    rad_chan *chan, *other; /* the other one is for selects */
    tally in, out;
    _Atomic uint64_t next, canceled, timeouts;
} arena;

typedef struct player {
    arena *a;
    uint64_t stream;
} player;

static uint64_t some_time(rad_prng *prng)
{
    switch (rad__prng_below(prng, 4)) {
    case 0: return 0;
    case 1: return rad_after(rad__prng_below(prng, 20000));
    default: return RAD_FOREVER;
    }
}

/* 0, or why it did not work. */
static int send_somehow(arena *a, rad_prng *prng)
{
    uint64_t values[BATCH], until = some_time(prng);
    uint32_t way = (uint32_t)rad__prng_below(prng, 3), count = way == 1 ? BATCH : 1;
    for (uint32_t i = 0; i < count; i++) values[i] = atomic_fetch_add(&a->next, 1) + 1;
    int code;
    if (way == 2) {
        rad_select_case cases[] = {
            {.kind = RAD_ON_SEND, .on.chan = a->chan, .value = &values[0]},
            {.kind = RAD_ON_SEND, .on.chan = a->other, .value = &values[0]},
        };
        int which = rad_select(cases, 2, until);
        code = which < 0 ? which : cases[which].code;
    } else {
        code = way == 1 ? rad_send_many(a->chan, values, count, until) : rad_send(a->chan, values, until);
    }
    uint32_t taken = code < 0 ? 0 : way == 1 ? (uint32_t)code : 1;
    CHECK(taken <= count);
    for (uint32_t i = 0; i < taken; i++) tally_add(&a->in, values[i]);
    return code < 0 ? code : 0;
}

static int recv_somehow(arena *a, rad_prng *prng)
{
    uint64_t values[BATCH] = {0}, until = some_time(prng);
    uint32_t way = (uint32_t)rad__prng_below(prng, 3);
    int code, count = 1;
    if (way == 2) {
        rad_select_case cases[] = {
            {.kind = RAD_ON_RECV, .on.chan = a->other, .value = &values[0]},
            {.kind = RAD_ON_RECV, .on.chan = a->chan, .value = &values[0]},
        };
        int which = rad_select(cases, 2, until);
        code = which < 0 ? which : cases[which].code;
    } else if (way == 1) {
        code = count = rad_recv_many(a->chan, values, BATCH, until);
    } else {
        code = rad_recv(a->chan, values, until);
    }
    for (int i = 0; code >= 0 && i < count; i++) tally_add(&a->out, values[i]);
    return code < 0 ? code : 0;
}

static int play(player *p, int (*turn)(arena *a, rad_prng *prng))
{
    rad_prng prng = storm_prng(p->stream);
    for (;;) {
        int code = turn(p->a, &prng);
        storm_spin(&prng, 100);
        if (code == RAD_ETIMEOUT) {
            atomic_fetch_add_explicit(&p->a->timeouts, 1, memory_order_relaxed);
            if (rad__prng_below(&prng, 4) > 0)
                rad_sleep(1000); /* who only yields waits long while others are busy */
            else if (rad_self().slot != NULL)
                rad_yield();
        } else if (code != 0) {
            CHECK(code == RAD_ECLOSED || code == RAD_ECANCELED);
            if (code == RAD_ECANCELED) atomic_fetch_add(&p->a->canceled, 1);
            return code;
        }
    }
}

static int sender(void *arg)
{
    play(arg, send_somehow);
    return 0;
}

static int receiver(void *arg)
{
    play(arg, recv_somehow);
    return 0;
}

static void *sender_thread(void *arg)
{
    sender(arg);
    return NULL;
}

static void *receiver_thread(void *arg)
{
    receiver(arg);
    return NULL;
}

/* What is left in it after a close is received, too. */
static void drain(rad_chan *c, tally *out)
{
    uint64_t value;
    int code;
    while ((code = rad_recv(c, &value, RAD_FOREVER)) == 0) tally_add(out, value);
    CHECK(code == RAD_ECLOSED && rad_chan_code(c) == 11);
    rad_chan_destroy(c);
}

static void arena_open(arena *a, uint64_t round)
{
    static const size_t capacities[] = {0, 1, 7};
    *a = (arena){.chan = chan_of(8, capacities[round % 3]), .other = chan_of(8, capacities[round / 3 % 3])};
}

static void arena_close(arena *a)
{
    drain(a->chan, &a->out);
    drain(a->other, &a->out);
    tally_same(&a->in, &a->out);
}

typedef struct close_race {
    uint64_t rounds, values;
} close_race;

static int close_main(void *arg)
{
    close_race *r = arg;
    rad_prng prng = storm_prng(1);
    for (uint64_t round = 0; round < r->rounds; round++) {
        arena a;
        rad_nursery n;
        pthread_t threads[2];
        player players[SENDERS + RECEIVERS + 2];
        arena_open(&a, round);
        for (uint32_t i = 0; i < SENDERS + RECEIVERS + 2; i++) players[i] = (player){&a, 1000 * round + i};
        rad_nursery_open(&n, RAD_FOREVER);
        for (uint32_t i = 0; i < SENDERS + RECEIVERS; i++)
            CHECK(rad_nursery_spawn(&n, NULL, i < SENDERS ? sender : receiver, &players[i]) == 0);
        bool with_threads = round % 4 == 0;
        if (with_threads) {
            CHECK(pthread_create(&threads[0], NULL, sender_thread, &players[SENDERS + RECEIVERS]) == 0);
            CHECK(pthread_create(&threads[1], NULL, receiver_thread, &players[SENDERS + RECEIVERS + 1]) == 0);
        }
        CHECK(rad_sleep(rad__prng_below(&prng, 300000)) == 0);
        CHECK(rad_chan_close(a.chan, 11) && rad_chan_close(a.other, 11));
        CHECK(!rad_chan_close(a.chan, 12));
        CHECK(rad_nursery_wait(&n) == 0);
        for (int i = 0; with_threads && i < 2; i++) pthread_join(threads[i], NULL);
        r->values += a.in.count;
        arena_close(&a);
    }
    return 0;
}

static void close_loses_nothing_that_was_taken(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 4; workers++) {
        close_race r = {.rounds = storm_amount(150)};
        storm_run(workers, close_main, &r);
        print_message("# %llu closes, %llu values, %u workers\n", (unsigned long long)r.rounds,
                      (unsigned long long)r.values, workers);
    }
}

/* Fibers that are cancelled at any moment, one after the other: commit or nothing. */
typedef struct cancel_storm {
    uint64_t rounds, values, canceled;
} cancel_storm;

enum { VICTIMS = SENDERS + RECEIVERS };

static int cancel_main(void *arg)
{
    cancel_storm *storm = arg;
    rad_prng prng = storm_prng(2);
    arena a;
    player players[VICTIMS];
    rad_fiber victims[VICTIMS] = {{0}};
    arena_open(&a, storm->rounds % 9);
    for (uint64_t round = 0; round < storm->rounds; round++) {
        uint32_t i = (uint32_t)rad__prng_below(&prng, VICTIMS);
        if (victims[i].slot) {
            rad_cancel(victims[i]);
            if (round % 3 == 0) rad_cancel(victims[i]);
            CHECK(rad_join(victims[i], NULL, RAD_FOREVER) == 0);
            rad_release(victims[i]);
        }
        players[i] = (player){&a, 5000 + round};
        CHECK(rad_spawn(&victims[i], i < SENDERS ? sender : receiver, &players[i]) == 0);
        if (rad__prng_below(&prng, 4) == 0) CHECK(rad_sleep(rad__prng_below(&prng, 20000)) == 0);
    }
    CHECK(rad_chan_close(a.chan, 11) && rad_chan_close(a.other, 11));
    for (uint32_t i = 0; i < VICTIMS; i++)
        if (victims[i].slot) {
            CHECK(rad_join(victims[i], NULL, RAD_FOREVER) == 0);
            rad_release(victims[i]);
        }
    storm->values += a.in.count;
    storm->canceled += a.canceled;
    arena_close(&a);
    return 0;
}

static void who_is_cancelled_has_done_it_or_not(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 4; workers++)
        for (uint64_t variant = 0; variant < 3; variant++) {
            cancel_storm s = {.rounds = storm_amount(500) + variant};
            storm_run(workers, cancel_main, &s);
            assert_true(s.canceled > s.rounds / 10); /* it was a storm */
        }
}

/* ---- A ring that is full --------------------------------------------------------------------------------- */

enum { RING = 8, RING_CAPACITY = 4, TOKENS = RING * (RING_CAPACITY + 1) + RING / 2 };

typedef struct ring {
    rad_chan *chans[RING];
    _Atomic uint64_t hops, timeouts, retired;
    uint64_t hops_most;
} ring;

typedef struct ring_node {
    ring *r;
    uint32_t index;
} ring_node;

/* Everybody waits for everybody, unless somebody's deadline comes: then he takes one more token instead. */
static int ring_fiber(void *arg)
{
    ring_node *node = arg;
    ring *r = node->r;
    rad_chan *in = r->chans[node->index], *out = r->chans[(node->index + 1) % RING];
    uint64_t held[TOKENS], count = 0, token;
    for (uint64_t i = node->index; i < TOKENS; i += RING) held[count++] = i;
    while (atomic_load(&r->hops) < r->hops_most) {
        if (count > 0 && rad_send(out, &held[count - 1], rad_after(50000)) == 0) {
            count--;
            atomic_fetch_add(&r->hops, 1);
        } else if (count > 0) {
            atomic_fetch_add(&r->timeouts, 1);
        }
        if (rad_recv(in, &token, count > 0 ? 0 : rad_after(100000)) == 0) {
            CHECK(count < TOKENS);
            held[count++] = token;
        }
    }
    for (uint64_t i = 0; i < count; i++) atomic_fetch_add(&r->retired, UINT64_C(1) << held[i]);
    return 0;
}

static int ring_main(void *arg)
{
    ring *r = arg;
    ring_node nodes[RING];
    rad_nursery n;
    uint64_t token;
    rad_nursery_open(&n, RAD_FOREVER);
    for (uint32_t i = 0; i < RING; i++) r->chans[i] = chan_of(8, RING_CAPACITY);
    for (uint32_t i = 0; i < RING; i++) {
        nodes[i] = (ring_node){r, i};
        CHECK(rad_nursery_spawn(&n, NULL, ring_fiber, &nodes[i]) == 0);
    }
    CHECK(rad_nursery_wait(&n) == 0);
    for (uint32_t i = 0; i < RING; i++) {
        while (rad_recv(r->chans[i], &token, 0) == 0) atomic_fetch_add(&r->retired, UINT64_C(1) << token);
        rad_chan_destroy(r->chans[i]);
    }
    CHECK(r->retired == (UINT64_C(1) << TOKENS) - 1); /* every token is there, once */
    return 0;
}

static void a_full_ring_moves_by_its_deadlines(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 4; workers++) {
        ring r = {.hops_most = storm_amount(10000)};
        storm_run(workers, ring_main, &r);
        print_message("# %llu hops, %llu deadlines, %u workers\n", (unsigned long long)r.hops,
                      (unsigned long long)r.timeouts, workers);
    }
}

/* ---- Select ---------------------------------------------------------------------------------------------- */

enum { CASES_MOST = 8, SELECTORS = 6 };

typedef struct choices {
    rad_chan *chans[CASES_MOST];
    tally in, out;
    _Atomic uint64_t next, selects, most, done[CASES_MOST + 1];
} choices;

typedef struct selector {
    choices *all;
    uint64_t stream;
} selector;

static void select_once(choices *all, rad_prng *prng)
{
    rad_select_case cases[CASES_MOST];
    uint64_t values[CASES_MOST];
    uint32_t count = 1 + (uint32_t)rad__prng_below(prng, CASES_MOST);
    for (uint32_t i = 0; i < count; i++) {
        bool sends = rad__prng_below(prng, 2);
        values[i] = sends ? atomic_fetch_add_explicit(&all->next, 1, memory_order_relaxed) : 0;
        cases[i] = (rad_select_case){.kind = sends ? RAD_ON_SEND : RAD_ON_RECV,
                                     .on.chan = all->chans[rad__prng_below(prng, CASES_MOST)],
                                     .value = &values[i],
                                     .code = 99};
    }
    int which = rad_select(cases, count, some_time(prng));
    CHECK(which == RAD_ETIMEOUT || (which >= 0 && which < (int)count));
    for (uint32_t i = 0; i < count; i++) CHECK((int)i == which || cases[i].code == 99);
    if (which < 0 || cases[which].code == RAD_ECLOSED) return;
    CHECK(cases[which].code == 0);
    tally_add(cases[which].kind == RAD_ON_SEND ? &all->in : &all->out, values[which]);
    atomic_fetch_add_explicit(&all->done[count], 1, memory_order_relaxed);
}

static int select_fiber(void *arg)
{
    selector *s = arg;
    rad_prng prng = storm_prng(s->stream);
    while (atomic_fetch_add(&s->all->selects, 1) < s->all->most) {
        select_once(s->all, &prng);
        if (rad_self().slot != NULL && rad__prng_below(&prng, 4) == 0) rad_yield();
    }
    for (uint32_t i = 0; i < CASES_MOST; i++) rad_chan_close(s->all->chans[i], 11);
    return 0;
}

static void *select_thread(void *arg)
{
    select_fiber(arg);
    return NULL;
}

/* All others may wait for ever for things that do not go together. */
static int select_stir(void *arg)
{
    choices *all = arg;
    for (uint32_t i = 0;; i = (i + 1) % CASES_MOST) {
        uint64_t value = atomic_fetch_add_explicit(&all->next, 1, memory_order_relaxed);
        int code = rad_send(all->chans[i], &value, 0);
        if (code == RAD_ECLOSED) return 0;
        if (code == 0) tally_add(&all->in, value);
        if (rad_recv(all->chans[i], &value, 0) == 0) tally_add(&all->out, value);
        CHECK(rad_sleep(100000) == 0);
    }
}

static int select_main(void *arg)
{
    choices *all = arg;
    selector s[SELECTORS + 1];
    pthread_t thread;
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    for (uint32_t i = 0; i < CASES_MOST; i++) all->chans[i] = chan_of(8, i % 3);
    for (uint32_t i = 0; i <= SELECTORS; i++) s[i] = (selector){all, 9000 + i};
    CHECK(pthread_create(&thread, NULL, select_thread, &s[SELECTORS]) == 0);
    for (uint32_t i = 0; i < SELECTORS; i++) CHECK(rad_nursery_spawn(&n, NULL, select_fiber, &s[i]) == 0);
    CHECK(rad_nursery_spawn(&n, NULL, select_stir, all) == 0);
    CHECK(rad_nursery_wait(&n) == 0);
    pthread_join(thread, NULL);
    for (uint32_t i = 0; i < CASES_MOST; i++) drain(all->chans[i], &all->out);
    tally_same(&all->in, &all->out);
    return 0;
}

static void selects_of_one_to_eight_cases(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 4; workers++) {
        choices all = {.most = storm_amount(25000)};
        rad_time begin = rad_now();
        storm_run(workers, select_main, &all);
        for (uint32_t i = 1; i <= CASES_MOST; i++) assert_true(all.done[i] > 0);
        print_message("# %llu selects, %llu values, %u workers: %.0f ns each\n", (unsigned long long)all.most,
                      (unsigned long long)all.in.count, workers, (double)(rad_now() - begin) / (double)all.most);
    }
}

/* ---- Pipeline -------------------------------------------------------------------------------------------- */

enum { STAGES = 6 };

typedef struct pipe_stage {
    rad_chan *in, *out;
    uint64_t items;
} pipe_stage;

static int pipe_source(void *arg)
{
    pipe_stage *s = arg;
    for (uint64_t i = 0; i < s->items; i++) CHECK(rad_send(s->out, &i, RAD_FOREVER) == 0);
    rad_chan_close(s->out, 11);
    return 0;
}

static int pipe_fiber(void *arg)
{
    pipe_stage *s = arg;
    uint64_t value, next = 0;
    int code;
    while ((code = rad_recv(s->in, &value, RAD_FOREVER)) == 0) {
        CHECK(value == next++);
        if (s->out) CHECK(rad_send(s->out, &value, RAD_FOREVER) == 0);
    }
    CHECK(code == RAD_ECLOSED && rad_chan_code(s->in) == 11 && next == s->items);
    if (s->out) rad_chan_close(s->out, 11);
    return 0;
}

static int pipe_main(void *arg)
{
    uint64_t items = *(uint64_t *)arg;
    static const size_t capacities[STAGES - 1] = {0, 1, 64, 5, 1000};
    rad_chan *c[STAGES + 1] = {NULL};
    pipe_stage s[STAGES];
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 1; i < STAGES; i++) c[i] = chan_of(8, capacities[i - 1]);
    for (int i = 0; i < STAGES; i++) {
        s[i] = (pipe_stage){c[i], c[i + 1], items};
        CHECK(rad_nursery_spawn(&n, NULL, i == 0 ? pipe_source : pipe_fiber, &s[i]) == 0);
    }
    CHECK(rad_nursery_wait(&n) == 0);
    for (int i = 1; i < STAGES; i++) rad_chan_destroy(c[i]);
    return 0;
}

static void six_stages_lose_nothing(void **state)
{
    (void)state;
    uint64_t items = storm_amount(10000);
    for (uint32_t workers = 1; workers <= 4; workers++) {
        rad_time begin = rad_now();
        storm_run(workers, pipe_main, &items);
        print_message("# %llu items through 6 stages, %u workers: %.0f ns each\n", (unsigned long long)items, workers,
                      (double)(rad_now() - begin) / (double)items);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(close_loses_nothing_that_was_taken),
        cmocka_unit_test(who_is_cancelled_has_done_it_or_not),
        cmocka_unit_test(a_full_ring_moves_by_its_deadlines),
        cmocka_unit_test(selects_of_one_to_eight_cases),
        cmocka_unit_test(six_stages_lose_nothing),
    };
    storm_choose();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
