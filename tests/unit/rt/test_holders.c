/* test_holders.c — reports of deadlocks: who keeps whom, and what things are called. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <raddle.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "patience_support.h"

#if defined(__SANITIZE_THREAD__)
enum { IN_TSAN = 1 };
#else
enum { IN_TSAN = 0 };
#endif

static char text[65536];

/* Runs it in a child, which ends in a deadlock; `text` is the report. */
static void deadlock(rad_fn body)
{
    int ends[2], status;
    rad_options o = {.workers = 2};
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 2);
        patience_limit_child();
        _exit(rad_main(&o, body, NULL, NULL));
    }
    close(ends[1]);
    size_t length = 0;
    ssize_t got;
    while (length < sizeof text - 1 && (got = read(ends[0], text + length, sizeof text - 1 - length)) > 0)
        length += (size_t)got;
    text[length] = 0;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 124) fail_msg("status %x: %s", (unsigned)status, text);
    assert_ptr_equal(strstr(text, "raddle: deadlock: "), text); /* scripts look for this */
}

/* The line with both. */
static void says(const char *who, const char *what)
{
    for (const char *line = text; line != NULL && *line != 0;) {
        const char *end = strchr(line, '\n');
        size_t size = end != NULL ? (size_t)(end - line) : strlen(line);
        char copy[512];
        snprintf(copy, sizeof copy, "%.*s", (int)size, line);
        if (strstr(copy, who) != NULL && strstr(copy, what) != NULL) return;
        line = end != NULL ? end + 1 : NULL;
    }
    fail_msg("no line with %s and %s:\n%s", who, what, text);
}

static void never(void)
{
    int code = rad_sleep_until(RAD_FOREVER);
    (void)code;
}

/* ---- Two mutexes ---------------------------------------------------------------------------------------- */

static rad_mutex accounts, orders;
static rad_barrier meet;

static int takes_both(rad_mutex *first, rad_mutex *second)
{
    rad_mutex_lock(first);
    int last = rad_barrier_wait(&meet, RAD_FOREVER);
    rad_mutex_lock(second);
    return last;
}

static int teller(void *arg)
{
    (void)arg;
    rad_name("teller");
    return takes_both(&accounts, &orders);
}

static int clerk(void *arg)
{
    (void)arg;
    rad_name("clerk");
    return takes_both(&orders, &accounts);
}

static int crosses(void *arg)
{
    rad_nursery n;
    (void)arg;
    rad_mutex_name(&accounts, "accounts");
    rad_barrier_init(&meet, 2);
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_go(&n, teller, NULL);
    rad_nursery_go(&n, clerk, NULL);
    return rad_nursery_wait(&n);
}

static void a_cycle_of_mutexes_is_shown(void **state)
{
    (void)state;
    if (IN_TSAN) skip(); /* forks, and has a thread of its own */
    deadlock(crosses);
    says("'clerk': waits for mutex", " 'accounts', held by fiber ");
    says("'clerk': waits for mutex", "'teller', for");
    says("'teller': waits for mutex", "'clerk', for");
    says(": waits for nursery", " with 2 fibers");
    says("cycle: fiber ", " 'accounts' held by fiber ");
    says("cycle: fiber ", "'clerk'");
    says("cycle: fiber ", "'teller'");
}

/* ---- Nurseries ------------------------------------------------------------------------------------------ */

static uint32_t cycles(void)
{
    uint32_t count = 0;
    for (const char *at = text; (at = strstr(at, "cycle: ")) != NULL; at++) count++;
    return count;
}

static int child_locks(void *arg)
{
    (void)arg;
    rad_name("child");
    rad_mutex_lock(&accounts);
    return 0;
}

static int waits_with_a_lock(void *children)
{
    rad_nursery n;
    rad_name("owner");
    rad_mutex_name(&accounts, "accounts");
    rad_mutex_lock(&accounts);
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < *(int *)children; i++) rad_nursery_go(&n, child_locks, NULL);
    return rad_nursery_wait(&n);
}

static int waits_for_one_child(void *arg)
{
    static int children = 1;
    (void)arg;
    return waits_with_a_lock(&children);
}

static int waits_for_many_children(void *arg)
{
    static int children = 100;
    (void)arg;
    return waits_with_a_lock(&children);
}

/* Of its children one only sleeps. */
static int sleeps(void *arg)
{
    (void)arg;
    never();
    return 0;
}

static int nests(void *arg)
{
    rad_nursery n;
    (void)arg;
    rad_name("middle");
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_go(&n, child_locks, NULL);
    rad_nursery_go(&n, sleeps, NULL);
    return rad_nursery_wait(&n);
}

static int waits_for_a_grandchild(void *arg)
{
    rad_nursery n;
    (void)arg;
    rad_name("owner");
    rad_mutex_lock(&accounts);
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_go(&n, sleeps, NULL);
    rad_nursery_go(&n, nests, NULL);
    return rad_nursery_wait(&n);
}

static void a_cycle_through_a_nursery_is_shown(void **state)
{
    (void)state;
    if (IN_TSAN) skip();
    deadlock(waits_for_one_child);
    says("cycle: ", " waits for nursery ");
    says("cycle: ", " with fiber ");
    says("cycle: ", " 'accounts' held by fiber ");
    says("cycle: ", "'child'");
    says("cycle: ", "'owner'");
    assert_int_equal(cycles(), 1);
    deadlock(waits_for_many_children);
    assert_int_equal(cycles(), 1);
    deadlock(waits_for_a_grandchild);
    says("cycle: ", "'middle'"); /* the other children do not lead back */
    says("cycle: ", "'owner'");
    says("cycle: ", "'child'");
    assert_int_equal(cycles(), 1);
}

/* ---- Several ---------------------------------------------------------------------------------------------- */

enum { CHANNELS = 12 };

static rad_chan *queues[CHANNELS];

static int selects(void *count)
{
    rad_select_case c[CHANNELS + 1];
    int value;
    uint32_t channels = (uint32_t)(intptr_t)count;
    rad_name(channels < CHANNELS ? "few" : "many");
    for (uint32_t i = 0; i < channels; i++)
        c[i] = (rad_select_case){.kind = RAD_ON_RECV, .on.chan = queues[i], .value = &value};
    c[channels] = (rad_select_case){.kind = RAD_ON_LOCK, .on.mutex = &accounts};
    return rad_select(c, channels + 1, RAD_FOREVER);
}

static int selects_the_same_twice(void *arg)
{
    int value;
    rad_select_case c[2];
    (void)arg;
    rad_name("same");
    for (int i = 0; i < 2; i++) c[i] = (rad_select_case){.kind = RAD_ON_RECV, .on.chan = queues[0], .value = &value};
    return rad_select(c, 2, RAD_FOREVER);
}

static int waits_for_selects(void *arg)
{
    rad_nursery n;
    rad_select_case first = {.kind = RAD_ON_LOCK, .on.mutex = &accounts};
    (void)arg;
    rad_name("owner");
    rad_mutex_lock(&accounts);
    /* A try gives it a number, less than those of the channels: it is the first that a report looks at. */
    assert_int_equal(rad_select(&first, 1, 0), RAD_ETIMEOUT);
    for (int i = 0; i < CHANNELS; i++)
        assert_int_equal(rad_chan_create(&queues[i], sizeof(int), 0, RAD_CHAN_BLOCKS), 0);
    rad_chan_name(queues[0], "first");
    rad_chan_name(queues[1], "second");
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_go(&n, selects, (void *)(intptr_t)2);
    rad_nursery_go(&n, selects, (void *)(intptr_t)CHANNELS);
    rad_nursery_go(&n, selects_the_same_twice, NULL);
    return rad_nursery_wait(&n);
}

static void a_select_names_what_it_waits_for(void **state)
{
    (void)state;
    if (IN_TSAN) skip();
    deadlock(waits_for_selects);
    says("'few': waits for ", " 'first'");
    says("'few': waits for ", " 'second'");
    says("'few': waits for ", " held by fiber ");
    says("'few': waits for ", " or ");
    says("'many': waits for ", " or 5 others, for ");
    says("'same': waits for channel ", " 'first', for ");
    assert_int_equal(cycles(), 0); /* something may come by a channel */
}

/* ---- Others --------------------------------------------------------------------------------------------- */

static rad_rwlock table;
static rad_once config;

static int writes(void *arg)
{
    (void)arg;
    rad_name("writer");
    rad_rwlock_write(&table);
    int last = rad_barrier_wait(&meet, RAD_FOREVER);
    never();
    return last;
}

static int reads(void *arg)
{
    (void)arg;
    rad_name("reader");
    int last = rad_barrier_wait(&meet, RAD_FOREVER);
    rad_rwlock_read(&table);
    return last;
}

static int starts(void *arg)
{
    (void)arg;
    int last = rad_barrier_wait(&meet, RAD_FOREVER);
    never();
    return last;
}

static int runs_once(void *arg)
{
    (void)arg;
    rad_name("runner");
    return rad_once_run(&config, starts, NULL, RAD_FOREVER);
}

static int needs_once(void *arg)
{
    (void)arg;
    rad_name("user");
    int last = rad_barrier_wait(&meet, RAD_FOREVER);
    return rad_once_run(&config, starts, NULL, RAD_FOREVER) + last;
}

static int waits_for_others(void *arg)
{
    rad_nursery n;
    (void)arg;
    rad_barrier_init(&meet, 4);
    rad_rwlock_name(&table, "table");
    rad_once_name(&config, "config");
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_go(&n, writes, NULL);
    rad_nursery_go(&n, reads, NULL);
    rad_nursery_go(&n, runs_once, NULL);
    rad_nursery_go(&n, needs_once, NULL);
    return rad_nursery_wait(&n);
}

static void writers_and_runners_are_named(void **state)
{
    (void)state;
    if (IN_TSAN) skip();
    deadlock(waits_for_others);
    says("'reader': waits for rwlock", " 'table', written by fiber ");
    says("'reader': waits for rwlock", "'writer', for");
    says("'user': waits for once", " 'config', run by fiber ");
    says("'user': waits for once", "'runner', for");
    assert_null(strstr(text, "cycle"));
}

static int keeps_reading(void *arg)
{
    (void)arg;
    rad_name("browser");
    rad_rwlock_read(&table);
    int last = rad_barrier_wait(&meet, RAD_FOREVER);
    never();
    return last;
}

static int wants_to_write(void *arg)
{
    (void)arg;
    rad_name("editor");
    int last = rad_barrier_wait(&meet, RAD_FOREVER);
    rad_rwlock_write(&table);
    return last;
}

static int joins(void *arg)
{
    rad_name("parent");
    return rad_join(*(rad_fiber *)arg, NULL, RAD_FOREVER);
}

static int receives(void *chan)
{
    int value;
    rad_name("consumer");
    return rad_recv(chan, &value, RAD_FOREVER);
}

static int reads_and_joins(void *arg)
{
    rad_nursery n;
    rad_fiber reader;
    rad_chan *chan;
    (void)arg;
    rad_barrier_init(&meet, 2);
    assert_int_equal(rad_chan_create(&chan, sizeof(int), 0, RAD_CHAN_BLOCKS), 0);
    rad_chan_name(chan, "orders");
    rad_nursery_open(&n, RAD_FOREVER);
    assert_int_equal(rad_nursery_spawn(&n, &reader, keeps_reading, NULL), 0);
    rad_nursery_go(&n, wants_to_write, NULL);
    rad_nursery_go(&n, joins, &reader);
    rad_nursery_go(&n, receives, chan);
    return rad_nursery_wait(&n);
}

static void readers_and_channels_are_named(void **state)
{
    (void)state;
    if (IN_TSAN) skip();
    deadlock(reads_and_joins);
    says("'editor': waits for rwlock", ", read by fiber ");
    says("'editor': waits for rwlock", "'browser', for");
    says("'parent': waits for fiber", " 'browser', for");
    says("'consumer': waits for channel", " 'orders', for");
}

/* ---- Names of fibers ------------------------------------------------------------------------------------ */

static int names_itself(void *arg)
{
    (void)arg;
    rad_name("own");
    return 0;
}

static int names_others(void *arg)
{
    rad_fiber fiber;
    FILE *file = tmpfile();
    (void)arg;
    assert_non_null(file);
    assert_int_equal(rad_spawn(&fiber, names_itself, NULL), 0);
    assert_null(rad_name_of(fiber));
    rad_name_fiber(fiber, "unborn");
    assert_int_equal(rad_runtime_dump(NULL, fileno(file)), 0); /* one worker: it did not run yet */
    assert_string_equal(rad_name_of(fiber), "unborn");
    assert_int_equal(rad_join(fiber, NULL, RAD_FOREVER), 0);
    assert_string_equal(rad_name_of(fiber), "own");
    rad_name_fiber(fiber, "late"); /* it has named itself */
    assert_string_equal(rad_name_of(fiber), "own");
    rad_release(fiber);
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    return 0;
}

static void a_fiber_has_a_name_before_it_runs(void **state)
{
    rad_options o = {.workers = 1, .extra_workers = RAD_NONE};
    (void)state;
    assert_int_equal(rad_main(&o, names_others, NULL, NULL), 0);
    says("'unborn'", ": can run");
}

/* ---- Names of an enemy ---------------------------------------------------------------------------------- */

#define EVIL       "e\033[31m\x9b\xc2\x9b\xe2\x80\xae\nFORGED"
#define EVIL_SHOWN "'e\\x1b[31m\\x9b\\u009b\\u202e\\nFORGED'"

static int evil_teller(void *arg)
{
    (void)arg;
    rad_name(EVIL);
    return takes_both(&accounts, &orders);
}

static int evil_clerk(void *arg)
{
    (void)arg;
    rad_name(EVIL);
    return takes_both(&orders, &accounts);
}

static int crosses_evilly(void *arg)
{
    rad_nursery n;
    (void)arg;
    rad_mutex_name(&accounts, EVIL);
    rad_mutex_name(&orders, EVIL);
    rad_barrier_init(&meet, 2);
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_go(&n, evil_teller, NULL);
    rad_nursery_go(&n, evil_clerk, NULL);
    return rad_nursery_wait(&n);
}

/* Names may come from a request: what a report shows of them is one line that does nothing to a terminal. */
static void names_of_an_enemy_do_nothing(void **state)
{
    (void)state;
    if (IN_TSAN) skip();
    deadlock(crosses_evilly);
    says(EVIL_SHOWN ": waits for mutex", " " EVIL_SHOWN ", held by fiber ");
    says("cycle: ", EVIL_SHOWN);
    assert_null(strpbrk(text, "\033\x9b"));
    assert_null(strstr(text, "\nFORGED"));
}

/* Misuse and an overflow end the process: their reports name the fiber, too. */
static int keeps_a_mutex(void *arg)
{
    (void)arg;
    rad_name(EVIL);
    rad_mutex_lock(&accounts);
    return 0;
}

static int fills_the_stack(int depth)
{
    volatile char room[4096];
    room[0] = (char)depth;
    return depth < 1000000 ? fills_the_stack(depth + 1) + room[0] : 0;
}

static int overflows(void *arg)
{
    (void)arg;
    rad_name(EVIL);
    return fills_the_stack(0);
}

static void dies_and_says(rad_fn body, const char *what)
{
    int ends[2], status;
    rad_options o = {.workers = 1};
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 2);
        patience_limit_child();
        signal(SIGSEGV, SIG_DFL); /* a sanitizer's handler would make it an exit status */
        _exit(rad_main(&o, body, NULL, NULL));
    }
    close(ends[1]);
    size_t length = 0;
    for (ssize_t got; (got = read(ends[0], text + length, sizeof text - 1 - length)) > 0;) length += (size_t)got;
    text[length] = 0;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    says(EVIL_SHOWN, what);
    assert_null(strpbrk(text, "\033\x9b"));
}

static void last_words_do_nothing(void **state)
{
    (void)state;
    if (IN_TSAN) skip();
    dies_and_says(keeps_a_mutex, "has ended and holds a mutex");
    dies_and_says(overflows, "stack overflow");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cycle_of_mutexes_is_shown),      cmocka_unit_test(a_cycle_through_a_nursery_is_shown),
        cmocka_unit_test(a_select_names_what_it_waits_for), cmocka_unit_test(writers_and_runners_are_named),
        cmocka_unit_test(readers_and_channels_are_named),   cmocka_unit_test(a_fiber_has_a_name_before_it_runs),
        cmocka_unit_test(names_of_an_enemy_do_nothing),     cmocka_unit_test(last_words_do_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
