/* test_shim.c — a shim and its command, where only time matters: the test turns both clocks by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "flow/run/shim.h"

#include <stdio.h>
#include <string.h>

#define SECOND UINT64_C(1000000000)

typedef struct world {
    uint64_t now_ns, elapsed_ns;
    uint32_t spawns_that_fail, spawned;
    rad_flow_watched seen;
    bool stop;         /* there is a file that asks it to end */
    uint32_t looks;    /* for it */
    uint64_t waits_ns; /* at most, the last time */
    uint32_t prints;   /* bytes, at each look */
    char kills[64];    /* "T" and "K", in order */
} world;

static int do_spawn(void *host, const rad_flow_shim *shim, rad_error *error)
{
    world *w = host;
    (void)shim, (void)error;
    w->spawned++;
    return w->spawned <= w->spawns_that_fail ? RAD_EIO : 0;
}

static int64_t do_watch(void *host, void *to, size_t size, uint64_t timeout_ns, rad_flow_watched *watched,
                        rad_error *error)
{
    world *w = host;
    (void)error;
    w->waits_ns = timeout_ns;
    assert_true(w->prints <= size);
    memset(to, 'x', w->prints);
    *watched = w->seen;
    return w->prints;
}

/* What is printed cannot be shown: the effect is none the worse. */
static int do_create(void *host, int *file, const char *name, rad_error *error)
{
    (void)host, (void)error;
    *file = 7;
    return strstr(name, ".out") != NULL ? RAD_EIO : 0;
}

static int do_exists(void *host, const char *name, rad_error *error)
{
    world *w = host;
    (void)error;
    assert_string_equal(name, "effects/0-1@1.stop");
    w->looks++;
    return w->stop;
}

static void do_close(void *host, int file)
{
    (void)host;
    assert_int_equal(file, 7);
}

static int do_kill(void *host, bool at_once, rad_error *error)
{
    world *w = host;
    (void)error;
    size_t used = strlen(w->kills);
    snprintf(w->kills + used, sizeof w->kills - used, "%c", at_once ? 'K' : 'T');
    return 0;
}

static uint64_t do_now(void *host)
{
    return ((world *)host)->now_ns;
}

static uint64_t do_elapsed(void *host)
{
    return ((world *)host)->elapsed_ns;
}

static void do_sleep(void *host, uint64_t ns)
{
    ((world *)host)->now_ns += ns;
    ((world *)host)->elapsed_ns += ns;
}

static rad_flow_host host_of(world *w)
{
    return (rad_flow_host){.context = w,
                           .create = do_create,
                           .close = do_close,
                           .exists = do_exists,
                           .spawn = do_spawn,
                           .watch = do_watch,
                           .kill = do_kill,
                           .now = do_now,
                           .elapsed = do_elapsed,
                           .sleep = do_sleep};
}

/* It has claimed its effect: what is before has other tests. */
static rad_flow_shim *claimed(uint64_t timeout_ns)
{
    rad_flow_shim *s = rad__flow_shim_new();
    assert_non_null(s);
    s->key = rad__copy_text("0#1");
    s->id = rad__copy_text("0-1@1");
    s->timeout_ns = timeout_ns;
    s->state = RAD_SHIM_SPAWN;
    return s;
}

static void pass(world *w, uint64_t ns)
{
    w->now_ns += ns;
    w->elapsed_ns += ns;
}

static void test_a_clock_that_is_set_ends_nobody(void **state)
{
    (void)state;
    world w = {.now_ns = 1000000 * SECOND, .elapsed_ns = 50 * SECOND};
    rad_flow_host host = host_of(&w);
    rad_flow_shim *s = claimed(10 * SECOND);
    rad__flow_shim_step(s, &host);
    pass(&w, 2 * SECOND);
    w.now_ns += 3600 * SECOND; /* somebody has set the time of day */
    rad__flow_shim_step(s, &host);
    assert_string_equal(w.kills, "");
    w.now_ns -= 7200 * SECOND;
    pass(&w, 9 * SECOND);
    rad__flow_shim_step(s, &host); /* and it is not put off either */
    assert_string_equal(w.kills, "T");
    w.now_ns -= 7200 * SECOND;
    pass(&w, RAD_SHIM_GRACE_NS);
    rad__flow_shim_step(s, &host);
    assert_string_equal(w.kills, "TK");
    rad__flow_shim_free(s);
}

/* The shell dies at once when it is told to; what it has started wants to clean up. */
static rad_flow_shim *told(world *w, const rad_flow_host *host)
{
    rad_flow_shim *s = claimed(SECOND);
    rad__flow_shim_step(s, host);
    pass(w, SECOND);
    rad__flow_shim_step(s, host);
    assert_string_equal(w->kills, "T");
    w->seen = (rad_flow_watched){.ended = true, .signal = 15, .left = true};
    return s;
}

static void test_the_group_has_time_to_clean_up(void **state)
{
    (void)state;
    world w = {.now_ns = SECOND, .elapsed_ns = SECOND};
    rad_flow_host host = host_of(&w);
    rad_flow_shim *s = told(&w, &host);
    for (uint32_t i = 0; i < 50; i++) rad__flow_shim_step(s, &host);
    assert_int_equal(s->state, RAD_SHIM_WATCH); /* it waits, and does not spin */
    assert_true(w.elapsed_ns >= 3 * SECOND);
    w.seen.left = false;
    rad__flow_shim_step(s, &host);
    assert_int_equal(s->state, RAD_SHIM_WRITE);
    assert_string_equal(w.kills, "T"); /* there was nobody left to be killed */
    assert_int_equal(s->receipt.signal, 15);
    rad__flow_shim_free(s);
}

/* Who cannot be killed, as another user's process, is not waited for for ever. */
static void test_who_does_not_listen_is_killed(void **state)
{
    (void)state;
    world w = {.now_ns = SECOND, .elapsed_ns = SECOND};
    rad_flow_host host = host_of(&w);
    rad_flow_shim *s = told(&w, &host);
    uint64_t began = w.elapsed_ns;
    while (w.elapsed_ns - began < RAD_SHIM_GRACE_NS) {
        assert_string_equal(w.kills, "T");
        rad__flow_shim_step(s, &host);
    }
    for (uint32_t i = 0; i < 1000 && s->state == RAD_SHIM_WATCH; i++) rad__flow_shim_step(s, &host);
    assert_int_equal(s->state, RAD_SHIM_WRITE);
    assert_int_equal(strspn(w.kills + 1, "K"), strlen(w.kills) - 1);
    assert_true(w.elapsed_ns - began >= 2 * RAD_SHIM_GRACE_NS);
    assert_true(w.elapsed_ns - began < 2 * RAD_SHIM_GRACE_NS + SECOND);
    rad__flow_shim_free(s);
}

/* A look may take a second: time alone ends nothing. */
static void test_a_busy_machine_has_as_many_looks(void **state)
{
    (void)state;
    world w = {.now_ns = SECOND, .elapsed_ns = SECOND};
    rad_flow_host host = host_of(&w);
    rad_flow_shim *s = told(&w, &host);
    while (strlen(w.kills) < 50) {
        pass(&w, SECOND);
        rad__flow_shim_step(s, &host);
        assert_int_equal(s->state, RAD_SHIM_WATCH);
    }
    w.seen.left = false;
    rad__flow_shim_step(s, &host);
    assert_int_equal(s->state, RAD_SHIM_WRITE);
    rad__flow_shim_free(s);
}

/* Some were made while others were killed. */
static void test_killing_goes_on_until_nobody_is_left(void **state)
{
    (void)state;
    world w = {.now_ns = SECOND, .elapsed_ns = SECOND};
    rad_flow_host host = host_of(&w);
    rad_flow_shim *s = told(&w, &host);
    while (strlen(w.kills) < 4) {
        rad__flow_shim_step(s, &host);
        assert_int_equal(s->state, RAD_SHIM_WATCH);
    }
    w.seen.left = false;
    rad__flow_shim_step(s, &host);
    assert_int_equal(s->state, RAD_SHIM_WRITE);
    assert_string_equal(w.kills, "TKKK");
    rad__flow_shim_free(s);
}

/* Those who are left print for ever: they are killed all the same, and not waited for when nobody has ended them. */
static void test_others_that_print_for_ever(void **state)
{
    (void)state;
    world w = {.now_ns = SECOND, .elapsed_ns = SECOND};
    rad_flow_host host = host_of(&w);
    rad_flow_shim *s = told(&w, &host);
    w.prints = 1000;
    for (uint32_t i = 0; i < 1000 && strlen(w.kills) < 3; i++) rad__flow_shim_step(s, &host);
    assert_string_equal(w.kills, "TKK");
    rad__flow_shim_free(s);
    w = (world){.prints = 1000, .seen = {.ended = true, .left = true}};
    s = claimed(0);
    for (uint32_t i = 0; i < 10000 && s->state != RAD_SHIM_WRITE; i++) rad__flow_shim_step(s, &host);
    assert_int_equal(s->state, RAD_SHIM_WRITE);
    assert_string_equal(w.kills, "");
    rad__flow_shim_free(s);
}

static void test_who_is_left_of_a_command_that_ended_lives_on(void **state)
{
    (void)state;
    world w = {.seen = {.ended = true, .left = true}};
    rad_flow_host host = host_of(&w);
    rad_flow_shim *s = claimed(0);
    rad__flow_shim_step(s, &host);
    rad__flow_shim_step(s, &host);
    assert_int_equal(s->state, RAD_SHIM_WRITE);
    assert_string_equal(w.kills, "");
    rad__flow_shim_free(s);
}

/* It is looked for often enough, and not all the time; once it was seen, nobody has to ask again. */
static void test_a_file_asks_it_to_end(void **state)
{
    (void)state;
    world w = {.elapsed_ns = SECOND};
    rad_flow_host host = host_of(&w);
    rad_flow_shim *s = claimed(0);
    rad__flow_shim_step(s, &host);
    uint32_t before = w.looks;
    for (uint32_t i = 0; i < 1000; i++, pass(&w, SECOND / 1000)) rad__flow_shim_step(s, &host);
    assert_in_range(w.looks - before, 3, 10);
    assert_string_equal(w.kills, "");
    w.stop = true;
    pass(&w, RAD_SHIM_LOOK_NS);
    rad__flow_shim_step(s, &host);
    assert_string_equal(w.kills, "T");
    assert_true((s->receipt.flags & RAD_RECEIPT_CANCELLED) != 0);
    before = w.looks;
    for (uint32_t i = 0; i < 100; i++, pass(&w, SECOND / 100)) rad__flow_shim_step(s, &host);
    assert_int_equal(w.looks, before);
    assert_string_equal(w.kills, "T");
    rad__flow_shim_free(s);
}

/* It waits until the next thing that it has to do by itself, and no longer. */
static void test_it_waits_as_long_as_it_may(void **state)
{
    (void)state;
    world w = {.elapsed_ns = SECOND};
    rad_flow_host host = host_of(&w);
    rad_flow_shim *s = claimed(RAD_SHIM_LOOK_NS * 3 / 2);
    rad__flow_shim_step(s, &host);
    rad__flow_shim_step(s, &host); /* looks for the first time */
    rad__flow_shim_step(s, &host);
    assert_int_equal(w.waits_ns, RAD_SHIM_LOOK_NS);
    pass(&w, RAD_SHIM_LOOK_NS);
    rad__flow_shim_step(s, &host);
    rad__flow_shim_step(s, &host);
    assert_int_equal(w.waits_ns, RAD_SHIM_LOOK_NS / 2); /* then its time is up */
    pass(&w, RAD_SHIM_LOOK_NS / 2);
    rad__flow_shim_step(s, &host);
    assert_string_equal(w.kills, "T");
    rad__flow_shim_step(s, &host);
    assert_int_equal(w.waits_ns, RAD_SHIM_GRACE_NS);
    rad__flow_shim_free(s);
}

/* Asked before it has begun, it begins nothing. */
static void test_asked_before_it_starts(void **state)
{
    (void)state;
    world w = {.elapsed_ns = SECOND, .stop = true};
    rad_flow_host host = host_of(&w);
    rad_flow_shim *s = claimed(0);
    rad__flow_shim_step(s, &host);
    assert_int_equal(s->state, RAD_SHIM_WRITE);
    assert_int_equal(w.spawned, 0);
    assert_int_equal(s->receipt.flags, RAD_RECEIPT_CANCELLED);
    rad__flow_shim_free(s);
}

/* Who tells what it is doing while it cleans up is not killed for that, nor does it live for ever. */
static void test_a_command_that_prints_has_its_time_and_no_more(void **state)
{
    (void)state;
    world w = {.elapsed_ns = SECOND, .prints = 10, .seen = {.asked_to_end = true}};
    rad_flow_host host = host_of(&w);
    rad_flow_shim *s = claimed(0);
    rad__flow_shim_step(s, &host);
    uint64_t began = w.elapsed_ns;
    for (; w.elapsed_ns - began < RAD_SHIM_GRACE_NS; pass(&w, SECOND / 4)) {
        rad__flow_shim_step(s, &host);
        assert_string_equal(w.kills, "T");
    }
    rad__flow_shim_step(s, &host);
    assert_string_equal(w.kills, "TK");
    assert_true((s->receipt.flags & RAD_RECEIPT_CANCELLED) != 0);
    rad__flow_shim_free(s);
}

/* Of what a command has printed nothing is lost when it ends, up to a limit that is told. */
static void test_output_is_read_to_its_end(void **state)
{
    (void)state;
    enum { CHUNK = 16 << 10 };
    for (uint32_t more = 0; more < 2; more++) {
        world w = {.prints = CHUNK, .seen = {.ended = true, .status = 3}};
        rad_flow_host host = host_of(&w);
        rad_flow_shim *s = claimed(0);
        s->keeps_output = true;
        rad__flow_shim_step(s, &host);
        for (uint32_t i = 0; i < RAD_FLOW_OUTPUT_MAX / CHUNK; i++) rad__flow_shim_step(s, &host);
        w.prints = more;
        rad__flow_shim_step(s, &host);
        assert_int_equal(s->state, more ? RAD_SHIM_WATCH : RAD_SHIM_WRITE);
        assert_int_equal(s->output.size, RAD_FLOW_OUTPUT_MAX);
        assert_int_equal((s->receipt.flags & RAD_RECEIPT_TOO_LONG) != 0, more);
        w.prints = 0;
        if (more) rad__flow_shim_step(s, &host);
        assert_int_equal(s->state, RAD_SHIM_WRITE);
        assert_int_equal(s->receipt.status, 3);
        assert_string_equal(w.kills, "");
        rad__flow_shim_free(s);
    }
}

static void test_processes_are_waited_for(void **state)
{
    (void)state;
    world w = {.spawns_that_fail = RAD_SHIM_SPAWNS_MAX - 1};
    rad_flow_host host = host_of(&w);
    rad_flow_shim *s = claimed(SECOND);
    for (uint32_t i = 1; i < RAD_SHIM_SPAWNS_MAX; i++) {
        rad__flow_shim_step(s, &host);
        assert_int_equal(s->state, RAD_SHIM_SPAWN);
    }
    rad__flow_shim_step(s, &host);
    assert_int_equal(s->state, RAD_SHIM_WATCH);
    rad__flow_shim_step(s, &host);
    assert_string_equal(w.kills, ""); /* the time until it began is not its own */
    rad__flow_shim_free(s);

    w = (world){.spawns_that_fail = 1000};
    s = claimed(0);
    for (uint32_t i = 0; i < RAD_SHIM_SPAWNS_MAX; i++) rad__flow_shim_step(s, &host);
    assert_int_equal(s->state, RAD_SHIM_WRITE);
    assert_true((s->receipt.flags & RAD_RECEIPT_NOT_STARTED) != 0);
    rad__flow_shim_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_clock_that_is_set_ends_nobody),
        cmocka_unit_test(test_the_group_has_time_to_clean_up),
        cmocka_unit_test(test_who_does_not_listen_is_killed),
        cmocka_unit_test(test_a_busy_machine_has_as_many_looks),
        cmocka_unit_test(test_killing_goes_on_until_nobody_is_left),
        cmocka_unit_test(test_others_that_print_for_ever),
        cmocka_unit_test(test_who_is_left_of_a_command_that_ended_lives_on),
        cmocka_unit_test(test_a_file_asks_it_to_end),
        cmocka_unit_test(test_it_waits_as_long_as_it_may),
        cmocka_unit_test(test_asked_before_it_starts),
        cmocka_unit_test(test_a_command_that_prints_has_its_time_and_no_more),
        cmocka_unit_test(test_output_is_read_to_its_end),
        cmocka_unit_test(test_processes_are_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
