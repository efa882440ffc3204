/* test_stress_sched.c — the robustness programs: calls that block, hogs, herds, interference between channels, many
 * sleepers, a million fibers that wait. What has to happen is waited for. Figures are printed, not asserted: those of
 * quiet machines are rows of bench_scenes. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "storm_support.h"

#include <stdlib.h>

enum { MS = 1000000 };

static rad_chan *chan_of(size_t size, size_t capacity)
{
    rad_chan *c;
    CHECK(rad_chan_create(&c, size, capacity, RAD_CHAN_BLOCKS) == 0);
    return c;
}

/* ---- A heart that beats beside something else ------------------------------------------------------------- */

typedef struct beside {
    rad_fn body;
    uint32_t count; /* bodies, … */
    uint32_t first; /* … the heart begins when this many have begun, … */
    uint32_t beats; /* … and they end when it has beaten this often */
    _Atomic uint32_t begun, done;
    _Atomic bool over;
} beside;

static int heart_main(void *arg)
{
    beside *b = arg;
    while (atomic_load(&b->begun) < b->first) CHECK(rad_sleep(MS) == 0);
    for (uint32_t i = 0; i < b->beats; i++) CHECK(rad_sleep(10 * MS) == 0);
    CHECK(atomic_load(&b->done) == 0);
    atomic_store(&b->over, true);
    return 0;
}

static int beside_main(void *arg)
{
    beside *b = arg;
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    CHECK(rad_nursery_spawn(&n, NULL, heart_main, b) == 0);
    for (uint32_t i = 0; i < b->count; i++) CHECK(rad_nursery_spawn(&n, NULL, b->body, b) == 0);
    return rad_nursery_wait(&n);
}

static int blocks(void *arg)
{
    beside *b = arg;
    atomic_fetch_add(&b->begun, 1);
    while (!atomic_load(&b->over)) storm_block_ms(20);
    atomic_fetch_add(&b->done, 1);
    return 0;
}

static int hogs(void *arg)
{
    beside *b = arg;
    atomic_fetch_add(&b->begun, 1);
    while (!atomic_load(&b->over)) continue;
    atomic_fetch_add(&b->done, 1);
    return 0;
}

static void run_beside(const char *what, beside *b, uint32_t workers)
{
    rad_time begin = rad_now();
    storm_run(workers, beside_main, b);
    assert_int_equal(b->done, b->count);
    print_message("# %s: %u beats; all %u done after %.2f s\n", what, b->beats, b->count,
                  (double)(rad_now() - begin) * 1e-9);
}

/* All of them block at the same time, more than there are workers. */
static void blocked_workers_are_replaced(void **state)
{
    (void)state;
    bool slow = storm_is_long();
    uint32_t count = slow ? 100 : 25;
    beside b = {.body = blocks, .count = count, .first = count, .beats = slow ? 100 : 10};
    run_beside("kidnap", &b, slow ? 16 : 4);
}

/* 15 fibers that compute and never yield, on 4 workers, which are all taken when the heart begins. */
static void hogs_do_not_stop_a_heart(void **state)
{
    (void)state;
    bool slow = storm_is_long();
    beside b = {.body = hogs, .count = 15, .first = 4, .beats = slow ? 100 : 10};
    run_beside("noisy neighbour", &b, 4);
}

/* ---- A herd ------------------------------------------------------------------------------------------------ */

enum { HERD = 1000 };

typedef struct herd {
    rad_chan *gate;
    _Atomic uint32_t there;
    rad_time opened;
    uint64_t woken[HERD];
} herd;

typedef struct herd_member {
    herd *h;
    uint32_t index;
} herd_member;

static int herd_fiber(void *arg)
{
    herd_member *m = arg;
    atomic_fetch_add(&m->h->there, 1);
    CHECK(rad_recv(m->h->gate, NULL, RAD_FOREVER) == RAD_ECLOSED);
    m->h->woken[m->index] = rad_now();
    return 0;
}

static int herd_main(void *arg)
{
    herd *h = arg;
    static herd_member members[HERD];
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    h->gate = chan_of(0, 0);
    for (uint32_t i = 0; i < HERD; i++) {
        members[i] = (herd_member){h, i};
        CHECK(rad_nursery_spawn(&n, NULL, herd_fiber, &members[i]) == 0);
    }
    while (atomic_load(&h->there) < HERD) CHECK(rad_sleep(MS) == 0);
    CHECK(rad_sleep(20 * MS) == 0); /* all of them wait, and the workers sleep */
    h->opened = rad_now();
    rad_chan_close(h->gate, 0);
    CHECK(rad_nursery_wait(&n) == 0);
    rad_chan_destroy(h->gate);
    return 0;
}

static void a_herd_is_woken(void **state)
{
    (void)state;
    static herd h;
    uint64_t first = UINT64_MAX, last = 0;
    storm_run(4, herd_main, &h);
    for (uint32_t i = 0; i < HERD; i++) {
        uint64_t after = h.woken[i] - h.opened;
        if (after < first) first = after;
        if (after > last) last = after;
    }
    print_message("# herd of %d: the first after %.1f us, the last after %.1f us\n", HERD, (double)first * 1e-3,
                  (double)last * 1e-3);
}

/* ---- Interference ------------------------------------------------------------------------------------------ */

typedef struct pair {
    rad_chan *there, *back;
    _Atomic uint64_t rounds;
    _Atomic bool *over;
} pair;

static int pong(void *arg)
{
    pair *p = arg;
    uint64_t value;
    while (rad_recv(p->there, &value, RAD_FOREVER) == 0) CHECK(rad_send(p->back, &value, RAD_FOREVER) == 0);
    return 0;
}

static int ping(void *arg)
{
    pair *p = arg;
    uint64_t value = 0;
    while (!atomic_load_explicit(p->over, memory_order_relaxed)) {
        CHECK(rad_send(p->there, &value, RAD_FOREVER) == 0);
        CHECK(rad_recv(p->back, &value, RAD_FOREVER) == 0);
        atomic_store_explicit(&p->rounds, p->rounds + 1, memory_order_relaxed);
    }
    rad_chan_close(p->there, 0);
    return 0;
}

enum { PAIRS_MOST = 16 };

typedef struct interference {
    uint32_t pairs;
    uint64_t ns, least, all;
} interference;

static int interfere_main(void *arg)
{
    interference *x = arg;
    pair pairs[PAIRS_MOST];
    _Atomic bool over = false;
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    for (uint32_t i = 0; i < x->pairs; i++) {
        pairs[i] = (pair){.there = chan_of(8, 1), .back = chan_of(8, 1), .over = &over};
        CHECK(rad_nursery_spawn(&n, NULL, ping, &pairs[i]) == 0);
        CHECK(rad_nursery_spawn(&n, NULL, pong, &pairs[i]) == 0);
    }
    CHECK(rad_sleep(x->ns) == 0);
    for (uint32_t i = 0; i < x->pairs; i++)
        while (pairs[i].rounds == 0) CHECK(rad_sleep(MS) == 0);
    x->least = UINT64_MAX;
    for (uint32_t i = 0; i < x->pairs; i++) {
        x->all += pairs[i].rounds;
        if (pairs[i].rounds < x->least) x->least = pairs[i].rounds;
    }
    atomic_store(&over, true);
    CHECK(rad_nursery_wait(&n) == 0);
    for (uint32_t i = 0; i < x->pairs; i++) {
        rad_chan_destroy(pairs[i].there);
        rad_chan_destroy(pairs[i].back);
    }
    return 0;
}

/* Pairs that have nothing to do with one another: none of them starves, and together they do about as much as one. */
static void channels_do_not_interfere(void **state)
{
    (void)state;
    uint64_t ns = (storm_is_long() || STORM_SLOWER > 1 ? 2000 : 200) * (uint64_t)MS;
    interference alone = {.pairs = 1, .ns = ns}, crowd = {.pairs = PAIRS_MOST, .ns = ns};
    storm_run(4, interfere_main, &alone);
    storm_run(4, interfere_main, &crowd);
    double fair = (double)crowd.all / PAIRS_MOST;
    print_message("# interference: alone %.0f round trips/ms; %d pairs %.0f in all, the least has "
                  "%.0f %% of its share\n",
                  (double)alone.all * MS / (double)ns, PAIRS_MOST, (double)crowd.all * MS / (double)ns,
                  100 * (double)crowd.least / fair);
}

/* ---- Sleepers ---------------------------------------------------------------------------------------------- */

typedef struct sleepers {
    uint64_t count, ns;
    _Atomic uint64_t asleep, awake;
    uint64_t measured_ns, cpu_ns;
} sleepers;

static int sleeps_long(void *arg)
{
    sleepers *s = arg;
    rad_time until = rad_after(s->ns);
    atomic_fetch_add(&s->asleep, 1);
    CHECK(rad_sleep_until(until) == 0 && rad_now() >= until);
    atomic_fetch_add(&s->awake, 1);
    return 0;
}

static int sleepers_main(void *arg)
{
    sleepers *s = arg;
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    for (uint64_t i = 0; i < s->count; i++) CHECK(rad_nursery_spawn(&n, NULL, sleeps_long, s) == 0);
    while (atomic_load(&s->asleep) < s->count) CHECK(rad_sleep(MS) == 0);
    rad_time begin = rad_now();
    uint64_t cpu = storm_cpu_ns();
    CHECK(rad_sleep(s->ns / 3) == 0);
    s->cpu_ns = storm_cpu_ns() - cpu;
    s->measured_ns = rad_now() - begin;
    bool all_slept = atomic_load(&s->awake) == 0;
    CHECK(rad_nursery_wait(&n) == 0);
    return all_slept ? 0 : -99; /* so slow that it has measured nothing */
}

static void sleepers_cost_nothing(void **state)
{
    (void)state;
    sleepers s = {.count = storm_live(1000), .ns = (storm_is_long() ? 6000 : 900) * (uint64_t)MS};
    rad_options o = {.workers = 4};
    int code = rad_main(&o, sleepers_main, &s, NULL);
    assert_int_equal(s.awake, s.count);
    if (code == -99) skip();
    assert_int_equal(code, 0);
    print_message("# %llu sleepers: %.2f %% of a CPU\n", (unsigned long long)s.count,
                  100 * (double)s.cpu_ns / (double)s.measured_ns);
    assert_true(s.cpu_ns * 20 < s.measured_ns);
}

enum { NAPPERS = 20, NAPS_MOST = 200 };

typedef struct naps {
    uint64_t ns;
    uint32_t each;
    _Atomic uint32_t count;
    uint64_t late[NAPPERS * NAPS_MOST];
} naps;

static int naps_fiber(void *arg)
{
    naps *s = arg;
    for (uint32_t i = 0; i < s->each; i++) {
        rad_time until = rad_after(s->ns);
        CHECK(rad_sleep_until(until) == 0);
        rad_time now = rad_now();
        CHECK(now >= until);
        s->late[atomic_fetch_add(&s->count, 1)] = now - until;
    }
    return 0;
}

static int naps_main(void *arg)
{
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    for (uint32_t i = 0; i < NAPPERS; i++) CHECK(rad_nursery_spawn(&n, NULL, naps_fiber, arg) == 0);
    return rad_nursery_wait(&n);
}

static void how_late_sleepers_wake_up(void **state)
{
    (void)state;
    static naps s;
    static const uint64_t ns[] = {100000, 1000000, 100000000};
    static const char *const what[] = {"late after 100 us", "late after 1 ms", "late after 100 ms"};
    for (int i = 0; i < 3; i++) {
        uint32_t most = storm_is_long() ? 50 : 3;
        s = (naps){.ns = ns[i], .each = i < 2 ? NAPS_MOST : most};
        storm_run(2, naps_main, &s);
        storm_print_times(what[i], s.late, s.count);
    }
}

/* ---- A million ---------------------------------------------------------------------------------------------- */

typedef struct million {
    uint64_t count;
    rad_chan *gate;
    _Atomic uint64_t there, sum;
    uint64_t rss_kib, table_kib;
} million;

static int waits_for_its_number(void *arg)
{
    million *m = arg;
    uint64_t value = 0;
    atomic_fetch_add_explicit(&m->there, 1, memory_order_relaxed);
    CHECK(rad_recv(m->gate, &value, RAD_FOREVER) == 0);
    atomic_fetch_add_explicit(&m->sum, value, memory_order_relaxed);
    return 0;
}

static int million_main(void *arg)
{
    million *m = arg;
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    for (uint64_t i = 0; i < m->count; i++) CHECK(rad_nursery_spawn(&n, NULL, waits_for_its_number, m) == 0);
    while (atomic_load(&m->there) < m->count) CHECK(rad_sleep(MS) == 0);
    m->rss_kib = storm_status_kib("VmRSS");
    m->table_kib = storm_status_kib("VmPTE");
    for (uint64_t i = 1; i <= m->count; i++) CHECK(rad_send(m->gate, &i, RAD_FOREVER) == 0);
    return rad_nursery_wait(&n);
}

static void a_million_wait_and_are_woken(void **state)
{
    (void)state;
    million m = {.count = storm_live(10000), .gate = chan_of(8, 0)};
    uint64_t before = storm_status_kib("VmRSS");
    rad_time begin = rad_now();
    storm_run(2, million_main, &m);
    rad_chan_destroy(m.gate);
    assert_true(m.sum == m.count * (m.count + 1) / 2);
    print_message("# %llu fibers wait: %.1f MiB resident (%.0f bytes each), page tables %.1f MiB; "
                  "%.2f s in all\n",
                  (unsigned long long)m.count, (double)m.rss_kib / 1024,
                  (double)(m.rss_kib - before) * 1024 / (double)m.count, (double)m.table_kib / 1024,
                  (double)(rad_now() - begin) * 1e-9);
    if (m.count == 1000000) assert_true(m.rss_kib + m.table_kib < (uint64_t)6 << 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocked_workers_are_replaced),
        cmocka_unit_test(hogs_do_not_stop_a_heart),
        cmocka_unit_test(a_herd_is_woken),
        cmocka_unit_test(channels_do_not_interfere),
        cmocka_unit_test(sleepers_cost_nothing),
        cmocka_unit_test(how_late_sleepers_wake_up),
        cmocka_unit_test(a_million_wait_and_are_woken),
    };
    storm_choose();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
