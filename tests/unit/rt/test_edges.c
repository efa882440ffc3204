/* test_edges.c — who was cancelled, what a stuck worker has, and runtimes that many threads use at a time (some of it
 * is for the thread sanitizer): the edges that mutants of the runtime once passed. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rt/monitor.h"
#include "rt/runtime.h"
#include "storm_support.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MS = 1000000 };

static rad_chan *chan_of(size_t capacity)
{
    rad_chan *c;
    CHECK(rad_chan_create(&c, sizeof(int), capacity, RAD_CHAN_BLOCKS) == 0);
    return c;
}

/* ---- Who was cancelled ---------------------------------------------------------------------------------- */

/* What could be done at once is not done, either, by a call that would wait; a try is a try. */
static int gets_nothing(void *unused)
{
    rad_chan *c = chan_of(2);
    int value = 7;
    (void)unused;
    rad_cancel(rad_self());
    CHECK(rad_send(c, &value, RAD_FOREVER) == RAD_ECANCELED && rad_chan_count(c) == 0);
    CHECK(rad_send(c, &value, 0) == 0 && rad_chan_count(c) == 1);
    CHECK(rad_recv(c, &value, RAD_FOREVER) == RAD_ECANCELED && rad_chan_count(c) == 1);
    rad_select_case both[] = {{.kind = RAD_ON_RECV, .on.chan = c, .value = &value},
                              {.kind = RAD_ON_SEND, .on.chan = c, .value = &value}};
    CHECK(rad_select(both, 1, RAD_FOREVER) == RAD_ECANCELED);
    CHECK(rad_select(both, 2, RAD_FOREVER) == RAD_ECANCELED && rad_chan_count(c) == 1);
    CHECK(rad_recv(c, &value, 0) == 0 && value == 7);
    rad_chan_destroy(c);
    return 0;
}

/* Nor does it matter to whom it is said who was there before. */
static int told_too_late(void *unused)
{
    rad_fiber self = rad_self();
    (void)unused;
    rad_cancel(self);
    rad__slot_cancel(self.slot, self.generation - 1);
    CHECK(rad_is_canceled());
    return 0;
}

static void who_was_cancelled_gets_nothing(void **state)
{
    (void)state;
    storm_run(1, gets_nothing, NULL);
    storm_run(1, told_too_late, NULL);
}

typedef struct guarded {
    rad_mutex mutex;
    rad_cond cond;
    bool got_in;
} guarded;

static int wants_in(void *arg)
{
    guarded *g = arg;
    rad_select_case one = {.kind = RAD_ON_LOCK, .on.mutex = &g->mutex}; /* it is handed over */
    CHECK(rad_select(&one, 1, RAD_FOREVER) == 0);
    g->got_in = true;
    rad_mutex_unlock(&g->mutex);
    return 0;
}

/* It does not let go of the mutex for nothing. */
static int keeps_the_mutex(void *unused)
{
    guarded g = {.got_in = false};
    rad_fiber other;
    (void)unused;
    CHECK(rad_mutex_lock_until(&g.mutex, RAD_FOREVER) == 0);
    CHECK(rad_spawn(&other, wants_in, &g) == 0);
    for (int i = 0; i < 10; i++) rad_yield(); /* it stands in the queue */
    rad_cancel(rad_self());
    CHECK(rad_cond_wait(&g.cond, &g.mutex, RAD_FOREVER) == RAD_ECANCELED);
    CHECK(!g.got_in);
    rad_mutex_unlock(&g.mutex);
    rad_shield(true);
    CHECK(rad_join(other, NULL, RAD_FOREVER) == 0);
    rad_release(other);
    return 0;
}

static void who_was_cancelled_keeps_the_mutex(void **state)
{
    (void)state;
    storm_run(1, keeps_the_mutex, NULL);
}

/* Nor is who was shielded when the time of its nursery is up. */
static int sleeps_shielded(void *unused)
{
    (void)unused;
    rad_shield(true);
    CHECK(rad_sleep(3 * MS) == 0 && rad_is_canceled());
    rad_shield(false);
    CHECK(rad_sleep(3 * MS) == RAD_ECANCELED);
    return 0;
}

static int child(void *unused)
{
    (void)unused;
    return 0;
}

static int opens_and_closes(void *unused)
{
    rad_nursery n;
    (void)unused;
    rad_nursery_open(&n, rad_after(MS));
    CHECK(rad_nursery_spawn(&n, NULL, sleeps_shielded, NULL) == 0);
    CHECK(rad_nursery_wait(&n) == 0);
    CHECK(rad_nursery_spawn(&n, NULL, child, NULL) == RAD_ECLOSED); /* it is over */
    return 0;
}

static void a_shield_keeps_deadlines_away(void **state)
{
    (void)state;
    storm_run(2, opens_and_closes, NULL);
}

static int waits_shielded(void *chan)
{
    int value;
    rad_name("waiter");
    rad_shield(true);
    CHECK(rad_recv(chan, &value, RAD_FOREVER) == 0);
    return 0;
}

static int tells_who_was_cancelled(void *unused)
{
    char text[2000];
    int pipe_of[2], value = 1;
    rad_chan *c = chan_of(0);
    rad_fiber f;
    (void)unused;
    CHECK(pipe(pipe_of) == 0 && rad_spawn(&f, waits_shielded, c) == 0);
    for (int i = 0; i < 2; i++) {
        rad_yield();
        CHECK(rad_runtime_dump(NULL, pipe_of[1]) == 0);
        ssize_t size = read(pipe_of[0], text, sizeof text - 1);
        CHECK(size > 0);
        text[size] = 0;
        CHECK(strstr(text, "'waiter'") != NULL);
        CHECK((strstr(text, ", cancelled") != NULL) == (i == 1));
        rad_cancel(f);
    }
    CHECK(rad_send(c, &value, RAD_FOREVER) == 0);
    CHECK(rad_join(f, NULL, RAD_FOREVER) == 0);
    rad_release(f);
    rad_chan_destroy(c);
    close(pipe_of[0]);
    close(pipe_of[1]);
    return 0;
}

static void a_report_tells_who_was_cancelled(void **state)
{
    (void)state;
    storm_run(1, tells_who_was_cancelled, NULL);
}

static int has_a_name(void *unused)
{
    (void)unused;
    rad_name("named");
    return 0;
}

/* Who was given up has no name; nor has nobody. */
static int asks_for_names(void *unused)
{
    rad_fiber f;
    (void)unused;
    CHECK(rad_spawn(&f, has_a_name, NULL) == 0 && rad_join(f, NULL, RAD_FOREVER) == 0);
    const char *name = rad_name_of(f);
    CHECK(name != NULL && strcmp(name, "named") == 0);
    rad_release(f);
    while (rad_name_of(f) != NULL) rad_yield(); /* until it is off its stack */
    CHECK(rad_name_of((rad_fiber){NULL, 0}) == NULL);
    return 0;
}

static void who_was_given_up_has_no_name(void **state)
{
    (void)state;
    storm_run(1, asks_for_names, NULL);
}

/* ---- Writers first -------------------------------------------------------------------------------------- */

static rad_rwlock door;
static char order[8];

static void comes_in(char who)
{
    size_t at = strlen(order);
    order[at] = who;
    order[at + 1] = 0;
    rad_rwlock_unlock(&door);
}

static int gives_up(void *unused)
{
    (void)unused;
    CHECK(rad_rwlock_write_until(&door, rad_after(2 * MS)) == RAD_ETIMEOUT);
    return 0;
}

static int writes(void *unused)
{
    (void)unused;
    CHECK(rad_rwlock_write_until(&door, RAD_FOREVER) == 0);
    comes_in('w');
    return 0;
}

static int reads(void *unused)
{
    (void)unused;
    CHECK(rad_rwlock_read_until(&door, RAD_FOREVER) == 0);
    comes_in('r');
    return 0;
}

/* A writer that gives up lets readers in, but not past another writer. */
static int one_of_two_gives_up(void *unused)
{
    rad_nursery n;
    rad_fiber first;
    (void)unused;
    CHECK(rad_rwlock_read_until(&door, RAD_FOREVER) == 0);
    rad_nursery_open(&n, RAD_FOREVER);
    CHECK(rad_nursery_spawn(&n, &first, gives_up, NULL) == 0);
    CHECK(rad_nursery_spawn(&n, NULL, writes, NULL) == 0);
    for (int i = 0; i < 10; i++) rad_yield(); /* both wait */
    CHECK(rad_nursery_spawn(&n, NULL, reads, NULL) == 0);
    CHECK(rad_join(first, NULL, RAD_FOREVER) == 0);
    rad_release(first);
    for (int i = 0; i < 10; i++) rad_yield();
    CHECK(order[0] == 0);
    rad_rwlock_unlock(&door);
    CHECK(rad_nursery_wait(&n) == 0 && strcmp(order, "wr") == 0);
    return 0;
}

static void readers_do_not_pass_the_second_writer(void **state)
{
    (void)state;
    storm_run(1, one_of_two_gives_up, NULL);
}

/* ---- Select and files ----------------------------------------------------------------------------------- */

static int writes_later(void *fd)
{
    rad_sleep(3 * MS);
    CHECK(write(*(int *)fd, "x", 1) == 1);
    return 0;
}

/* While a select waits for a file somebody polls, and afterwards nobody has to. */
static int selects_a_file(void *unused)
{
    int pair[2];
    rad_chan *c = chan_of(0);
    rad_fiber f;
    (void)unused;
    CHECK(pipe2(pair, O_NONBLOCK) == 0);
    CHECK(rad_spawn(&f, writes_later, &pair[1]) == 0);
    rad_select_case cases[] = {{.kind = RAD_ON_RECV, .on.chan = c},
                               {.kind = RAD_ON_FD, .on.file = {pair[0], RAD_READABLE}}};
    CHECK(rad_select(cases, 2, RAD_FOREVER) == 1);
    CHECK(cases[1].code == RAD_READABLE);
    CHECK(rad__ready_waits(&rad__rt_worker()->runtime->ready) == 0);
    CHECK(rad_join(f, NULL, RAD_FOREVER) == 0);
    rad_release(f);
    rad_chan_destroy(c);
    CHECK(rad_fd_close(pair[0]) == 0 && rad_fd_close(pair[1]) == 0);
    return 0;
}

static void a_select_waits_for_files(void **state)
{
    (void)state;
    storm_run(1, selects_a_file, NULL);
}

/* ---- A worker that does not come back ------------------------------------------------------------------- */

static _Atomic bool is_up;

static int sleeps_for_a_while(void *unused)
{
    (void)unused;
    CHECK(rad_sleep(5 * MS) == 0);
    is_up = true;
    return 0;
}

/* Its timers are looked at by somebody else, and so are its fibers. */
static int does_not_come_back(void *unused)
{
    rad_fiber f;
    (void)unused;
    CHECK(rad_spawn(&f, sleeps_for_a_while, NULL) == 0);
    rad_yield();
    while (!is_up) storm_block_ms(20);
    CHECK(rad_join(f, NULL, RAD_FOREVER) == 0);
    rad_release(f);
    return 0;
}

static void timers_of_a_stuck_worker_expire(void **state)
{
    (void)state;
    rad_options o = {.workers = 1};
    is_up = false;
    assert_int_equal(rad_main(&o, does_not_come_back, NULL, NULL), 0);
}

enum { SPAWNED, YIELDED, FROM_OUTSIDE, PLACES };

static int gets_up(void *place)
{
    if (*(int *)place == YIELDED) rad_yield();
    is_up = true;
    return 0;
}

static _Atomic bool is_stuck, is_over;

/* What lies in its own queues and in the shared one is run by others. */
static int leaves_something(void *arg)
{
    int place = *(int *)arg;
    if (place != FROM_OUTSIDE) CHECK(rad_spawn(NULL, gets_up, arg) == 0);
    if (place == YIELDED) rad_yield();
    is_stuck = true;
    while (!is_up) storm_block_ms(20);
    is_over = true;
    return 0;
}

static void is_helped(uint32_t workers, int place)
{
    rad_options o = {.workers = workers};
    rad_runtime *rt;
    is_up = is_stuck = is_over = false;
    assert_int_equal(rad_runtime_create(&rt, &o, NULL), 0);
    assert_int_equal(rad_runtime_spawn(rt, NULL, leaves_something, &place), 0);
    while (!is_stuck) storm_block_ms(1);
    if (place == FROM_OUTSIDE) assert_int_equal(rad_runtime_spawn(rt, NULL, gets_up, &place), 0);
    while (!is_over) storm_block_ms(1);
    rad_runtime_destroy(rt);
}

static void others_run_what_a_stuck_worker_has(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 2; workers++)
        for (int place = 0; place < PLACES; place++) is_helped(workers, place);
}

enum { URGENT = 3000, HANDS = 2 };

static rad_overdue pile;
static rad_strand piled[HANDS][URGENT];
static _Atomic uint32_t taken;

static void *piles_up(void *mine)
{
    for (int i = 0; i < URGENT; i++) rad__overdue_put(&pile, &((rad_strand *)mine)[i]);
    return NULL;
}

static void *takes(void *unused)
{
    (void)unused;
    while (taken < HANDS * URGENT)
        if (rad__overdue_take(&pile) != NULL) taken++;
    return NULL;
}

static void overdue_ones_come_and_go(void **state)
{
    pthread_t threads[2 * HANDS];
    (void)state;
    for (int i = 0; i < HANDS; i++) {
        pthread_create(&threads[i], NULL, piles_up, piled[i]);
        pthread_create(&threads[HANDS + i], NULL, takes, NULL);
    }
    for (int i = 0; i < 2 * HANDS; i++) pthread_join(threads[i], NULL);
    assert_null(pile.first);
    assert_false(rad__overdue_any(&pile));
}

static _Atomic(rad_strand *) parked;

static int parks(void *unused)
{
    (void)unused;
    parked = rad__running();
    rad__strand_leave(RAD_LEAVE_PARK);
    is_up = true;
    return 0;
}

/* Everybody sleeps already when something becomes overdue: the watch finds it. */
static void what_is_overdue_wakes_somebody(void **state)
{
    rad_runtime *rt;
    rad_options o = {.workers = 2};
    (void)state;
    is_up = false;
    parked = NULL;
    assert_int_equal(rad_runtime_create(&rt, &o, NULL), 0);
    assert_int_equal(rad_runtime_spawn(rt, NULL, parks, NULL), 0);
    while (rad__idle_parked(&rt->exec->sched.idle) < 2 || parked == NULL) storm_block_ms(1);
    rad_state_word *of = &parked->state_word;
    assert_int_equal(rad__state_unpark(of, rad__fiber_generation(parked)), RAD_UNPARK_QUEUE);
    rad__overdue_put(&rt->overdue, parked);
    rad__monitor_ring(rt->monitor);
    while (!is_up) storm_block_ms(20);
    rad_runtime_destroy(rt);
}

enum { SHARE = 4 };

typedef struct office {
    _Atomic(rad_strand *) parked[SHARE];
    _Atomic uint32_t count, ran;
    uint32_t asleep; /* when the first of them ran */
    bool brief;
} office;

static int waits_in_the_office(void *arg)
{
    office *o = arg;
    atomic_store(&o->parked[atomic_fetch_add(&o->count, 1)], rad__running());
    rad__strand_leave(RAD_LEAVE_PARK);
    rad_rt_worker *rt_worker = rad__rt_worker();
    uint32_t asleep = rad__idle_parked(&rt_worker->runtime->exec->sched.idle);
    if (atomic_fetch_add(&o->ran, 1) > 0) return 0;
    o->asleep = asleep;
    o->brief = rad__worker_is_brief(rt_worker->worker);
    return 0;
}

/* One worker sleeps. The other one takes its share of what is overdue, and runs the first: it is not known for how
 * long. */
static int shares_what_is_overdue(void *arg)
{
    office *o = arg;
    rad_nursery n;
    rad_runtime *rt = rad__rt_worker()->runtime;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < SHARE; i++) rad_nursery_go(&n, waits_in_the_office, o);
    for (int i = 0; i < SHARE; i++) {
        rad_strand *s;
        while ((s = atomic_load(&o->parked[i])) == NULL) rad_yield();
        while (rad__state_of(rad__state_look(&s->state_word)) != RAD_FIBER_PARKED) rad_yield();
    }
    while (rad__idle_parked(&rt->exec->sched.idle) == 0) storm_block_ms(1);
    rad__worker_set_brief(rad__rt_worker()->worker, true);
    for (int i = 0; i < SHARE; i++) {
        rad_strand *s = o->parked[i];
        CHECK(rad__state_unpark(&s->state_word, rad__fiber_generation(s)) == RAD_UNPARK_QUEUE);
        rad__overdue_put(&rt->overdue, s);
    }
    while (atomic_load(&o->ran) == 0) rad_yield(); /* now and then by way of the worker */
    return rad_nursery_wait(&n);
}

static void a_share_of_what_is_overdue_is_offered_to_others(void **state)
{
    office o = {.asleep = 0};
    rad_options options = {.workers = 2, .extra_workers = RAD_NONE};
    (void)state;
    assert_int_equal(rad_main(&options, shares_what_is_overdue, &o, NULL), 0);
    assert_int_equal(o.asleep, 0);
    assert_false(o.brief);
}

/* ---- Shutting down -------------------------------------------------------------------------------------- */

/* A spawner that had looked before the end began: its fiber is told. */
static int begins_too_late(void *unused)
{
    rad_rt_worker *rt_worker = rad__rt_worker();
    rad_runtime *rt = rt_worker->runtime;
    int code = 0;
    (void)unused;
    rad_slot *slot = rad__slot_take(rt, rt_worker, &code);
    CHECK(slot != NULL);
    atomic_store(&rt->closing, true);
    rad__fiber_begin(slot, NULL, begins_too_late, NULL);
    atomic_store(&rt->closing, false);
    CHECK(atomic_load(&slot->canceled) == rad__fiber_generation(&slot->strand));
    rad__fiber_undo(slot, rt_worker);
    return 0;
}

static void who_begins_after_the_end_began_is_cancelled(void **state)
{
    (void)state;
    storm_run(1, begins_too_late, NULL);
}

/* ---- What all runtimes share ---------------------------------------------------------------------------- */

enum { THREADS = 4, ROUNDS = 25 };

static _Atomic bool key_is_held[RAD_LOCALS_MAX];
static _Atomic int destroyed;

static void destroys(void *value)
{
    (void)value;
    atomic_fetch_add(&destroyed, 1);
}

static int sets_it(void *arg)
{
    rad_local_key key = *(rad_local_key *)arg;
    CHECK(rad_local_set(key, arg) == 0 && rad_local_get(key) == arg);
    rad_yield();
    return 0;
}

/* Keys, files and fibers, and a report of them. */
static int uses_all(void *arg)
{
    int pair[2], null = open("/dev/null", O_WRONLY);
    rad_nursery n;
    CHECK(pipe2(pair, O_NONBLOCK) == 0 && null >= 0);
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < 3; i++) CHECK(rad_nursery_spawn(&n, NULL, sets_it, arg) == 0);
    CHECK(rad_fd_wait(pair[0], RAD_READABLE, rad_after(100000)) == RAD_ETIMEOUT);
    CHECK(rad_runtime_dump(NULL, null) == 0);
    CHECK(rad_nursery_wait(&n) == 0);
    CHECK(rad_fd_close(pair[0]) == 0 && rad_fd_close(pair[1]) == 0);
    close(null);
    return 0;
}

static void *comes_and_goes(void *arg)
{
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        rad_local_key key;
        rad_options o = {.workers = 1};
        CHECK(rad_local_create(&key, destroys) == 0);
        CHECK(!atomic_exchange(&key_is_held[key % RAD_LOCALS_MAX], true));
        CHECK(rad_main(&o, uses_all, &key, NULL) == 0);
        atomic_store(&key_is_held[key % RAD_LOCALS_MAX], false);
        rad_local_delete(key);
    }
    return NULL;
}

static void runtimes_come_and_go_at_the_same_time(void **state)
{
    pthread_t threads[THREADS];
    (void)state;
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, comes_and_goes, NULL);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    assert_int_equal(destroyed, THREADS * 3 * ROUNDS);
}

/* ---- Once ------------------------------------------------------------------------------------------------- */

enum { ONCES = 300 };

static struct {
    rad_once once;
    int tries, done; /* by one at a time */
} onces[ONCES];

/* The first two fail. */
static int tries_it(void *arg)
{
    int i = *(int *)arg;
    for (int k = 0; k < 3; k++) sched_yield(); /* the others come */
    if (onces[i].tries++ < 2) return 1;
    onces[i].done++;
    return 0;
}

static void *wants_them_done(void *arg)
{
    (void)arg;
    for (int i = 0; i < ONCES; i++) {
        while (rad_once_run(&onces[i].once, tries_it, &i, RAD_FOREVER) != 0) continue;
        CHECK(onces[i].done == 1 && onces[i].tries == 3);
    }
    return NULL;
}

static void threads_do_things_once(void **state)
{
    pthread_t threads[THREADS];
    (void)state;
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, wants_them_done, NULL);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
}

/* ---- Growing -------------------------------------------------------------------------------------------- */

static int sleeps(void *unused)
{
    (void)unused;
    rad_sleep(2 * MS);
    return 0;
}

static int joins_many(void *arg)
{
    rad_fiber f[200];
    int count = 0;
    (void)arg;
    while (count < 200 && rad_spawn(&f[count], sleeps, NULL) == 0) count++;
    rad_shield(true); /* the runtime may be told to end meanwhile */
    for (int i = 0; i < count; i++) {
        CHECK(rad_join(f[i], NULL, RAD_FOREVER) == 0);
        rad_release(f[i]);
    }
    return 0;
}

static void *reports(void *arg)
{
    int null = open("/dev/null", O_WRONLY);
    for (int i = 0; i < 20; i++) {
        CHECK(rad_runtime_dump(arg, null) == 0);
        storm_block_ms(1);
    }
    close(null);
    return NULL;
}

/* Slots are made by several at the same time, while somebody looks at all of them; then all are told to end. */
static void many_grow_at_the_same_time(void **state)
{
    rad_runtime *rt;
    rad_options o = {.workers = 3};
    pthread_t thread;
    (void)state;
    assert_int_equal(rad_runtime_create(&rt, &o, NULL), 0);
    pthread_create(&thread, NULL, reports, rt);
    for (int i = 0; i < 5; i++) assert_int_equal(rad_runtime_spawn(rt, NULL, joins_many, NULL), 0);
    pthread_join(thread, NULL);
    rad_runtime_shutdown(rt);
    rad_runtime_destroy(rt);
}

/* ---- Fiber stacks --------------------------------------------------------------------------------------------- */

enum { FIBER_STACKS = 12, BOARDERS = 3 };

static rad_fiber_stacks fiber_stacks;
static _Atomic int boarding;

static void never(void *fiber_stack)
{
    CHECK(fiber_stack == NULL);
}

/* Some at a time, more than it keeps. */
static void *boards(void *arg)
{
    rad_fiber_stack_cache *cache = arg;
    rad_strand strands[3] = {{.fiber_stack = NULL}};
    for (int i = 0; i < 5000; i++) {
        for (int k = 0; k < 3; k++) rad__fiber_stack_take(&fiber_stacks, cache, &strands[k], never);
        for (int k = 0; k < 3; k++) {
            CHECK(strands[k].fiber_stack->strand == &strands[k]);
            rad__fiber_stack_give(&fiber_stacks, cache, strands[k].fiber_stack);
        }
    }
    atomic_fetch_sub(&boarding, 1);
    return NULL;
}

static uint32_t length(const rad_fiber_stack *b)
{
    uint32_t count = 0;
    for (; b != NULL && count <= FIBER_STACKS; b = b->next) count++;
    return count;
}

/* The watch has some in its hands meanwhile; none is lost, and none there twice. */
static void fiber_stacks_are_taken_while_others_cool(void **state)
{
    static rad_fiber_stack all[FIBER_STACKS];
    rad_fiber_stack_cache caches[BOARDERS] = {{.most = 2}, {.most = 2}, {.most = 2}};
    rad_stacks stacks;
    rad_stack stack;
    pthread_t threads[BOARDERS];
    uint32_t cooled = 0, kept = 0;
    (void)state;
    assert_int_equal(rad__stacks_open(&stacks, &(rad_stacks_options){.most = FIBER_STACKS}, NULL), 0);
    for (int i = 0; i < FIBER_STACKS; i++) {
        assert_int_equal(rad__stacks_new(&stacks, &stack, NULL), 0);
        rad__fiber_stack_add(&fiber_stacks, &all[i], &stack);
    }
    boarding = BOARDERS;
    for (int i = 0; i < BOARDERS; i++) pthread_create(&threads[i], NULL, boards, &caches[i]);
    while (boarding > 0) cooled += rad__fiber_stacks_cool(&fiber_stacks, 4);
    for (int i = 0; i < BOARDERS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < 2; i++) cooled += rad__fiber_stacks_cool(&fiber_stacks, 4);
    for (int i = 0; i < BOARDERS; i++) kept += length(caches[i].first);
    assert_true(cooled > 0);
    assert_int_equal(kept + length(fiber_stacks.warm) + length(fiber_stacks.cold), FIBER_STACKS);
    assert_int_equal(length(fiber_stacks.warm), fiber_stacks.warm_count);
    for (int i = 0; i < FIBER_STACKS; i++)
        if (all[i].is_made) rad__context_drop(&all[i].context);
    rad__stacks_close(&stacks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_was_cancelled_gets_nothing),
        cmocka_unit_test(who_was_cancelled_keeps_the_mutex),
        cmocka_unit_test(a_shield_keeps_deadlines_away),
        cmocka_unit_test(a_report_tells_who_was_cancelled),
        cmocka_unit_test(who_was_given_up_has_no_name),
        cmocka_unit_test(readers_do_not_pass_the_second_writer),
        cmocka_unit_test(a_select_waits_for_files),
        cmocka_unit_test(timers_of_a_stuck_worker_expire),
        cmocka_unit_test(others_run_what_a_stuck_worker_has),
        cmocka_unit_test(overdue_ones_come_and_go),
        cmocka_unit_test(what_is_overdue_wakes_somebody),
        cmocka_unit_test(a_share_of_what_is_overdue_is_offered_to_others),
        cmocka_unit_test(who_begins_after_the_end_began_is_cancelled),
        cmocka_unit_test(runtimes_come_and_go_at_the_same_time),
        cmocka_unit_test(threads_do_things_once),
        cmocka_unit_test(many_grow_at_the_same_time),
        cmocka_unit_test(fiber_stacks_are_taken_while_others_cool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
