/* The executor on trial: cases as text, what each instruction does, outcomes, and the oracles a program can raise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "lab/machines/executor/executor.h"
#include "lab/machines/executor/generate.h"
#include "lab/machines/executor/reduce.h"
#include "lab/rig.h"

#include <stdio.h>
#include <string.h>

/* ---- Running a case --------------------------------------------------------------------------------- */

typedef struct trial {
    rad_rig rig;
    rad_exec_world *world;
    enum rad_outcome outcome;
    const char *oracle; /* of the failure, or "" */
    const char *message;
} trial;

static void trial_open(trial *t, const char *body)
{
    rad_target target = {.machine = &rad__machine_exec, .c = {.body = body}};
    rad_error error = {0};
    if (rad__rig_open(&t->rig, &target, &error) != 0) fail_msg("%s", error.text);
    t->world = t->rig.self;
}

static void trial_run(trial *t, const char *policy, uint64_t run)
{
    rad_policy *p = NULL;
    rad_error error = {0};
    assert_int_equal(rad__policy_create(&p, policy, &error), 0);
    rad_run_options options = rad__rig_options(&t->rig, p);
    options.info.seed = 7;
    options.info.run = run;
    options.max_steps = 20000;
    t->outcome = rad__kernel_run(t->rig.kernel, &options);
    bool failed = t->outcome == RAD_OUTCOME_FAILED;
    t->oracle = failed ? rad_oracle_name(&rad__machine_exec, t->rig.kernel->failure.oracle) : "";
    t->message = failed ? t->rig.kernel->failure.message : t->rig.kernel->error.text;
    rad__policy_destroy(p);
}

/* Runs under a few policies and seeds; every run must end with this oracle ("" = none). */
static void expect_oracle(const char *body, const char *oracle)
{
    static const char *const policies[] = {"first", "fair", "random", "random", "random", "pct:3"};
    trial t;
    trial_open(&t, body);
    for (uint32_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        trial_run(&t, policies[i], i);
        if (strcmp(t.oracle, oracle) != 0)
            fail_msg("%s: expected \"%s\", got \"%s\": %s", policies[i], oracle, t.oracle, t.message);
    }
    rad__rig_close(&t.rig);
}

#define CODE(name, ...) "{\"name\":\"" name "\",\"code\":[" __VA_ARGS__ "]}"
#define ONE(...)        "{\"programs\":[" CODE("a", __VA_ARGS__) "],\"tasks\":[\"a\"],\"runnable\":[0]}"
#define WITH(more, ...) "{" more ",\"programs\":[" CODE("a", __VA_ARGS__) "],\"tasks\":[\"a\"],\"runnable\":[0]}"

/* ---- Text ------------------------------------------------------------------------------------------- */

static void instructions_are_read_and_written(void **state)
{
    static const char *const good[] = {"yield local",   "yield global",     "yield external",
                                       "spawn a local", "spawn a to 3",     "sleep 12",
                                       "wait-io 7",     "wait-io 7 else 2", "try-acquire 0 2 ok 1 fail 3",
                                       "release 0 1",   "jump 3",           "complete",
                                       "panic"};
    static const char *const bad[][2] = {{"", "yield, spawn"},
                                         {"yeild local", "yield, spawn"},
                                         {"yield", "local, global or external"},
                                         {"yield to 1", "local, global or external"},
                                         {"spawn", "the name of a program"},
                                         {"spawn b local", "the name of a program"},
                                         {"spawn a", "local, global, external or to WORKER"},
                                         {"spawn a to 16", "a worker, 0 ... 15"},
                                         {"sleep -1", "ticks"},
                                         {"sleep 1000001", "ticks"},
                                         {"sleep 99999999999999999999", "ticks"},
                                         {"wait-io 64", "a token"},
                                         {"wait-io 1 then 2", "else PLACE"},
                                         {"wait-io 1 else 4", "the number of an instruction"},
                                         {"try-acquire 0 1 ok 4 fail 1", "the number of an instruction"},
                                         {"try-acquire 0 1 1 2", "ok PLACE fail PLACE"},
                                         {"jump 4", "the number of an instruction"},
                                         {"complete now", "nothing more"}};
    (void)state;
    rad_exec_case *c = rad__exec_case_new();
    rad__exec_case_program(c, "a");
    rad_code_names names = rad__exec_case_names(c);
    for (uint32_t i = 0; i < sizeof good / sizeof *good; i++) {
        rad_exec_instruction in;
        const char *expected = NULL;
        char text[96];
        if (!rad__code_parse(good[i], &names, 3, &in, &expected)) fail_msg("%s: %s", good[i], expected);
        rad__code_print(&in, &names, text, sizeof text);
        assert_string_equal(text, good[i]);
    }
    for (uint32_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        rad_exec_instruction in;
        const char *expected = "";
        assert_false(rad__code_parse(bad[i][0], &names, 3, &in, &expected));
        if (strstr(expected, bad[i][1]) == NULL) fail_msg("%s: \"%s\"", bad[i][0], expected);
    }
    rad__exec_case_free(c);
}

static void bad_cases_name_the_place(void **state)
{
    static const char *const bad[][2] = {
        {"{}", "x: programs: expected a list of at most 64, found nothing"},
        {"[]", "expected an object"},
        {"{\"programs\":[],\"colour\":1}", "x: unknown field \"colour\""},
        {"{\"programs\":[{\"name\":\"a\"}]}", "x: programs[0].code: expected a list of at most 256"},
        {"{\"programs\":[{\"name\":\"A\",\"code\":[]}]}", "x: programs[0]: expected a name of its own"},
        {"{\"programs\":[" CODE("a") "," CODE("a") "]}", "x: programs[1]: expected a name of its own"},
        {ONE("\"hop\""), "x: programs[0].code[0]: expected yield, spawn"},
        {ONE("\"release 0 1\""), "x: programs[0].code[0]: expected a resource of the list"},
        {"{\"programs\":[" CODE("a") "],\"tasks\":[\"b\"]}", "x: tasks[0]: expected the name of a program"},
        {"{\"programs\":[" CODE("a") "],\"tasks\":[\"a at 1\"]}", "x: tasks[0]: expected the name"},
        {"{\"programs\":[" CODE("a") "],\"tasks\":[\"a\"],\"runnable\":[1]}", "x: runnable[0]: expected the"},
        {"{\"programs\":[" CODE("a") "],\"tasks\":[\"a\"],\"runnable\":[0,0]}", "x: runnable[1]: expected the"},
        {WITH("\"events\":[\"1 io\"]", ""), "x: events[0]: expected TIME io TOKEN"},
        {WITH("\"events\":[\"x close\"]", ""), "x: events[0]: expected TIME io TOKEN"},
        {WITH("\"events\":[\"1 close 3\"]", ""), "x: events[0]: expected TIME io TOKEN"},
        {WITH("\"events\":[\"1 start 0\"]", ""), "x: events[0]: expected a task that nothing else starts"},
        {WITH("\"executor\":{\"workers\":17}", ""), "x: executor.workers: expected"},
        {WITH("\"executor\":{\"ring\":3}", ""), "x: executor.ring: expected a power of two, found"},
        {WITH("\"executor\":{\"wake\":\"all\"}", ""), "x: executor.wake: expected \"idle\" or \"round-robin\""},
        {WITH("\"time\":\"fast\"", ""), "x: time: expected \"lazy\" or \"eager\""},
        {WITH("\"expect\":1", ""), "x: expect: expected \"ends\" or"},
        {WITH("\"resources\":[-1]", ""), "x: resources[0]: expected units"},
    };
    (void)state;
    for (uint32_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        rad_error error = {0};
        rad_exec_case *c = rad__exec_case_parse(bad[i][0], strlen(bad[i][0]), "x", &error);
        assert_null(c);
        assert_int_equal(error.code, RAD_EINPUT);
        if (strstr(error.text, bad[i][1]) == NULL) fail_msg("%s\n%s", bad[i][0], error.text);
    }
}

static void cases_survive_being_written(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 300; i++) {
        rad_exec_bounds bounds = i % 3 ? rad_exec_bounds_small() : rad_exec_bounds_stress();
        bounds.hang = i % 7 == 0;
        rad_error error = {0};
        rad_exec_case *c = rad__exec_generate(i, &bounds);
        char *text = rad__exec_case_text(c);
        rad_exec_case *read = rad__exec_case_parse(text, strlen(text), "x", &error);
        if (read == NULL) fail_msg("%s\n%s", error.text, text);
        char *again = rad__exec_case_text(read);
        assert_string_equal(text, again);
        assert_int_equal(rad__exec_case_size(c), rad__exec_case_size(read));
        rad__free(text);
        rad__free(again);
        rad__exec_case_free(c);
        rad__exec_case_free(read);
    }
}

static void memory_may_run_out_while_reading_and_writing(void **state)
{
    rad_exec_bounds bounds = rad_exec_bounds_small();
    rad_exec_case *c = rad__exec_generate(3, &bounds);
    char *whole = rad__exec_case_text(c), *text = NULL;
    rad_exec_case *read = NULL;
    uint64_t failures = 0;
    (void)state;
    for (uint64_t n = 1; text == NULL || read == NULL; n++) {
        rad_error error = {0};
        rad__free(text);
        rad__exec_case_free(read);
        rad__alloc_fail_at(n);
        text = rad__exec_case_text(c);
        rad__alloc_fail_at(n);
        read = rad__exec_case_parse(whole, strlen(whole), "x", &error);
        rad__alloc_fail_at(0);
        if (text) assert_string_equal(text, whole);
        if (read == NULL) assert_int_equal(error.code, RAD_ENOMEM);
        failures += text == NULL || read == NULL;
        assert_true(n < 100000);
    }
    assert_true(failures > 20);
    rad__free(text);
    rad__free(whole);
    rad__exec_case_free(read);
    rad__exec_case_free(c);
}

/* ---- Instructions ------------------------------------------------------------------------------------ */

static const rad_vm_task *task(const trial *t, uint32_t id)
{
    assert_true(id < t->world->task_count);
    return rad__world_task(t->world, id);
}

static void every_task_is_somewhere_after_every_instruction(void **state)
{
    trial t;
    (void)state;
    trial_open(&t, "{\"executor\":{\"workers\":2},\"resources\":[2],\"programs\":[" CODE(
                       "a", "\"spawn b local\",\"try-acquire 0 2 ok 2 fail 2\",\"release 0 2\",\"jump 5\","
                            "\"panic\",\"yield local\",\"yield global\",\"spawn b to 1\",\"sleep 2\",\"complete\","
                            "\"panic\"") "," CODE("b") "],\"tasks\":[\"a\",\"a at 8\"],\"runnable\":[0,1]}");
    for (uint32_t run = 0; run < 50; run++) {
        trial_run(&t, "random", run);
        assert_string_equal(t.oracle, "");
        assert_int_equal(t.world->task_count, 4); /* two b */
        for (uint32_t i = 0; i < 4; i++) assert_int_equal(task(&t, i)->state, RAD_TASK_ENDED);
        assert_int_equal(t.world->now, 2);
        assert_int_equal(t.world->available[0], 2);
        assert_int_equal(rad__world_outcome(t.world), RAD_EXPECT_COMPLETED);
    }
    rad__rig_close(&t.rig);
}

static void tokens_remember_that_they_came(void **state)
{
    (void)state; /* the event comes first, and both waits find it there */
    expect_oracle(WITH("\"events\":[\"0 io 1\"],\"expect\":\"completed\"", "\"sleep 5\",\"wait-io 1\",\"wait-io 1\""),
                  "");
}

static void failed_io_takes_the_other_way(void **state)
{
    (void)state;
    expect_oracle(
        WITH("\"resources\":[1],\"events\":[\"3 fail-io 1\"]", "\"wait-io 1 else 2\",\"release 0 1\",\"complete\""),
        "");
    expect_oracle(
        WITH("\"resources\":[1],\"events\":[\"3 io 1\"]", "\"wait-io 1 else 2\",\"release 0 1\",\"complete\""),
        "double-release");
}

/* ---- Outcomes ---------------------------------------------------------------------------------------- */

static void outcomes_are_told_apart(void **state)
{
    (void)state;
    expect_oracle(WITH("\"expect\":\"completed\"", "\"yield local\""), "");
    expect_oracle(ONE("\"wait-io 0\""), "deadlock");
    expect_oracle(WITH("\"expect\":\"deadlock\"", "\"wait-io 0\""), "");
    expect_oracle(WITH("\"expect\":\"deadlock\"", "\"yield local\""), "outcome");
    expect_oracle(ONE("\"jump 0\""), "step-limit");
    expect_oracle(ONE("\"spawn a local\",\"jump 0\""), "step-limit");
    /* The gate is shut while the task sleeps: what it spawns from outside is refused, what it wakes is not. */
    expect_oracle(
        WITH("\"expect\":\"refused\",\"events\":[\"1 close\"]", "\"sleep 2\",\"spawn a external\",\"yield external\""),
        "");
    expect_oracle(WITH("\"expect\":\"completed\",\"events\":[\"1 close\"]", "\"sleep 2\",\"spawn a external\""),
                  "outcome");
}

static void the_gate_may_be_shut_more_than_once(void **state)
{
    static const char *const events[] = {"\"0 close\",\"0 close\"", "\"1 close\",\"1 close\",\"3 close\"",
                                         "\"0 close\",\"9 close\""};
    (void)state;
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t workers = 1; workers <= 3; workers++) {
            char more[120], body[400];
            snprintf(more, sizeof more, "\"executor\":{\"workers\":%u},\"events\":[%s]", (unsigned)workers, events[i]);
            snprintf(body, sizeof body, WITH("%s", "\"sleep 2\""), more);
            expect_oracle(body, "");
            snprintf(body, sizeof body, "{%s,\"programs\":[]}", more); /* nobody is in */
            expect_oracle(body, "");
        }
}

static void a_failing_task_ends_the_rest_in_two_ways(void **state)
{
    trial t;
    (void)state;
    for (uint32_t stop = 0; stop < 2; stop++) {
        char body[400];
        snprintf(body, sizeof body,
                 "{\"executor\":{\"workers\":2,\"on_failure\":\"%s\"},\"programs\":[" CODE("bad", "\"panic\"") "," CODE(
                     "good", "\"yield local\",\"yield global\"") "],\"tasks\":["
                                                                 "\"good\",\"bad\","
                                                                 "\"good\"],\"runnable\":["
                                                                 "0,1,2]}",
                 stop ? "stop" : "drain");
        trial_open(&t, body);
        uint32_t left_over = 0;
        for (uint32_t run = 0; run < 200; run++) {
            trial_run(&t, "random", run);
            assert_string_equal(t.oracle, "");
            assert_int_equal(t.world->sched.failure, 2); /* task 1 */
            assert_true(rad__sched_is_done(&t.world->sched));
            assert_false(rad__gate_is_open(&t.world->sched.gate));
            for (uint32_t i = 0; i < 2; i++) assert_int_equal(t.world->workers[i].phase, RAD_PHASE_STOPPED);
            uint32_t found = 0;
            while (rad__sched_leftover(&t.world->sched)) found++;
            assert_int_equal(found, t.world->ledger.runnable + t.world->ledger.current);
            left_over += found;
        }
        if (stop)
            assert_true(left_over > 0);
        else
            assert_int_equal(left_over, 0);
        rad__rig_close(&t.rig);
    }
}

static void programs_that_mistreat_permits_are_reported(void **state)
{
    (void)state;
    expect_oracle(WITH("\"resources\":[1]", "\"try-acquire 0 1 ok 1 fail 1\""), "permit-leak");
    expect_oracle(WITH("\"resources\":[1]", "\"try-acquire 0 1 ok 1 fail 1\",\"release 0 1\",\"release 0 1\""),
                  "double-release");
    expect_oracle(WITH("\"resources\":[1]", "\"try-acquire 0 1 ok 1 fail 1\",\"panic\""), "");
}

/* ---- Generator --------------------------------------------------------------------------------------- */

static void generated_cases_end_whatever_the_schedule(void **state)
{
    static const char *const policies[] = {"first", "fair", "random", "pct:3", "surw"};
    uint64_t coverage = 0;
    (void)state;
    for (uint32_t i = 0; i < 400; i++) {
        rad_exec_bounds bounds = i % 8 ? rad_exec_bounds_small() : rad_exec_bounds_stress();
        bounds.hang = i % 5 == 0;
        rad_exec_case *c = rad__exec_generate(i, &bounds);
        char *text = rad__exec_case_text(c);
        trial t;
        trial_open(&t, text);
        for (uint32_t n = 0; n < 5; n++) {
            trial_run(&t, policies[n], n);
            if (t.outcome != RAD_OUTCOME_FINISHED)
                fail_msg("case %u, %s: %s: %s\n%s", i, policies[n], t.oracle, t.message, text);
        }
        coverage |= t.world->coverage;
        rad__rig_close(&t.rig);
        rad__free(text);
        rad__exec_case_free(c);
    }
    for (uint32_t op = 0; op < RAD_OP_COUNT; op++) assert_true(coverage >> (RAD_COVER_OP + op) & 1);
    for (uint32_t p = 0; p <= RAD_PLACE_TO; p++)
        if (p != RAD_PLACE_EXTERNAL) assert_true(coverage >> (RAD_COVER_PLACE + p) & 1);
    for (uint32_t s = 1; s <= RAD_FROM_VICTIM_LATER; s++) assert_true(coverage >> (RAD_COVER_SOURCE + s) & 1);
    for (uint32_t e = 0; e <= RAD_EVENT_CLOSE; e++) assert_true(coverage >> (RAD_COVER_EVENT + e) & 1);
    for (uint32_t p = 0; p < RAD_PHASE_STOPPED; p++) assert_true(coverage >> (RAD_COVER_PHASE + p) & 1);
    assert_true(coverage >> RAD_COVER_TIMER & 1 && coverage >> RAD_COVER_CLOCK & 1);
}

static void the_generator_is_a_function_of_its_seed(void **state)
{
    rad_exec_bounds bounds = rad_exec_bounds_small();
    uint32_t different = 0;
    (void)state;
    for (uint32_t i = 0; i < 50; i++) {
        rad_exec_case *a = rad__exec_generate(i, &bounds), *b = rad__exec_generate(i, &bounds),
                      *other = rad__exec_generate(i + 1, &bounds);
        char *x = rad__exec_case_text(a), *y = rad__exec_case_text(b), *z = rad__exec_case_text(other);
        assert_string_equal(x, y);
        different += strcmp(x, z) != 0;
        assert_in_range(a->workers, 1, 3);
        assert_in_range(a->task_count, 1, 4);
        for (uint32_t p = 0; p < a->program_count; p++) assert_in_range(a->programs[p].length, 0, 8);
        rad__free(x);
        rad__free(y);
        rad__free(z);
        rad__exec_case_free(a);
        rad__exec_case_free(b);
        rad__exec_case_free(other);
    }
    assert_int_equal(different, 50);
}

static void a_run_depends_on_its_choices_alone(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 60; i++) {
        rad_exec_bounds bounds = i % 6 ? rad_exec_bounds_small() : rad_exec_bounds_stress();
        rad_exec_case *c = rad__exec_generate(i, &bounds);
        char *text = rad__exec_case_text(c);
        trial t, other;
        trial_open(&t, text);
        trial_run(&t, "random", i);
        rad_digest once = t.rig.kernel->trace.digest;
        trial_run(&t, "random", i + 1); /* something else in between */
        trial_run(&t, "random", i);
        assert_true(rad__digest_equal(once, t.rig.kernel->trace.digest));
        trial_open(&other, text); /* other memory */
        trial_run(&other, "random", i);
        assert_true(rad__digest_equal(once, other.rig.kernel->trace.digest));
        rad__rig_close(&other.rig);
        rad__rig_close(&t.rig);
        rad__free(text);
        rad__exec_case_free(c);
    }
}

/* ---- The trial itself -------------------------------------------------------------------------------- */

/* Oracles look after every action and once at the start; everything is counted anew every 1,024 steps. */
static void oracles_look_after_every_action(void **state)
{
    trial t;
    (void)state;
    trial_open(&t, "{\"executor\":{\"workers\":2},\"programs\":[" CODE(
                       "a", "\"wait-io 0\",\"sleep "
                            "1\"") "," CODE("b", "\"sleep 3\"") "],\"tasks\":[\"a\",\"b\"],"
                                                                "\"runnable\":[0,1],\"events\":["
                                                                "\"1 io 0\",\"6 close\"]}");
    trial_run(&t, "first", 0);
    uint64_t steps = t.rig.kernel->step;
    assert_string_equal(t.oracle, "");
    assert_int_equal(t.rig.kernel->evaluations[RAD_EXEC_IN_FLIGHT], steps + 1);
    assert_int_equal(t.rig.kernel->evaluations[RAD_EXEC_PANIC_ESCAPED], steps + 1);
    assert_true(t.rig.kernel->evaluations[RAD_EXEC_LOST_WAKEUP] >= steps + 1);
    rad__rig_close(&t.rig);
    trial_open(&t, WITH("\"resources\":[1]", "\"jump 0\""));
    trial_run(&t, "first", 0);
    assert_string_equal(t.oracle, "step-limit");
    assert_int_equal(t.rig.kernel->evaluations[RAD_EXEC_PERMIT_UNDERFLOW], t.rig.kernel->step / 1024);
    rad__rig_close(&t.rig);
}

/* Events, timer, workers, clock; a worker that sleeps is not offered, time only when nothing else is. */
static void actions_are_offered_in_canonical_order(void **state)
{
    trial t;
    (void)state;
    trial_open(&t, "{\"executor\":{\"workers\":2},\"expect\":\"deadlock\",\"programs\":[" CODE(
                       "a", "\"sleep 5\",\"wait-io 1\"") "],\"tasks\":[\"a\"],\"runnable\":[0],"
                                                         "\"events\":[\"0 io 0\",\"0 fail-io 2\"]}");
    trial_run(&t, "first", 0);
    assert_string_equal(t.oracle, "");
    assert_int_equal(t.world->event_actions[0], 0);
    assert_int_equal(t.world->event_actions[1], 1);
    assert_int_equal(t.world->timer_action, 2);
    assert_int_equal(t.world->worker_actions[0], 3);
    assert_int_equal(t.world->worker_actions[1], 4);
    assert_int_equal(t.world->clock_action, 5);
    assert_int_equal(rad_enabled_count(t.rig.kernel), 0); /* both sleep */
    for (uint32_t i = 0; i < 2; i++) assert_int_equal(t.world->workers[i].phase, RAD_PHASE_PARKED);
    rad__rig_close(&t.rig);
}

typedef struct clock_watch {
    rad_observer observer;
    const rad_exec_world *world;
    uint32_t early; /* how often the clock was offered beside something else */
} clock_watch;

static bool clock_deciding(rad_observer *o, rad_kernel *k)
{
    clock_watch *watch = (clock_watch *)o;
    watch->early += rad_is_enabled(k, watch->world->clock_action);
    return false;
}

static void time_goes_on_when_nothing_else_can(void **state)
{
    (void)state;
    for (uint32_t eager = 0; eager < 2; eager++) {
        char body[300];
        snprintf(body, sizeof body,
                 "{\"executor\":{\"workers\":2},\"time\":\"%s\",\"programs\":[" CODE(
                     "a", "\"sleep 1\",\"yield local\",\"sleep 2\"") "],\"tasks\":[\"a\",\"a\"],"
                                                                     "\"runnable\":[0,1]}",
                 eager ? "eager" : "lazy");
        trial t;
        trial_open(&t, body);
        clock_watch watch = {.observer = {.deciding = clock_deciding}, .world = t.world};
        rad_policy *p = NULL;
        rad_error error = {0};
        assert_int_equal(rad__policy_create(&p, "fair", &error), 0);
        rad_run_options options = rad__rig_options(&t.rig, p);
        options.observers[0] = &watch.observer;
        assert_int_equal(rad__kernel_run(t.rig.kernel, &options), RAD_OUTCOME_FINISHED);
        if (eager)
            assert_true(watch.early > 0);
        else
            assert_int_equal(watch.early, 0);
        rad__policy_destroy(p);
        rad__rig_close(&t.rig);
    }
}

/* With three workers whom to steal from is asked of the kernel, and both answers occur. */
static void victims_are_choices(void **state)
{
    uint32_t drawn[2] = {0};
    trial t;
    (void)state;
    trial_open(&t, "{\"executor\":{\"workers\":3,\"steal_tries\":1},\"programs\":[" CODE("a") "],\"tasks\":[\"a\"],"
                                                                                              "\"runnable\":[0]}");
    for (uint32_t run = 0; run < 50; run++) {
        trial_run(&t, "random", run);
        for (uint64_t i = 0; i < *t.rig.kernel->choices.count; i++) {
            const rad_choice *c = &t.rig.choices[i];
            if (c->kind != RAD_PICK_VALUE) continue;
            assert_int_equal(c->count, 2);
            drawn[c->chosen]++;
        }
    }
    assert_true(drawn[0] > 10 && drawn[1] > 10);
    rad__rig_close(&t.rig);
}

static void parts_are_inherited(void **state)
{
    const char *from = "{\"executor\":{\"workers\":4},\"programs\":[],\"events\":[\"1 io 0\",\"2 "
                       "io 1\",\"3 close\"]}";
    const char *to = "{\"executor\":{\"workers\":2},\"programs\":[],\"events\":[\"1 io 0\",\"3 close\"]}";
    static const uint32_t heirs[] = {0, RAD_NONE, 1, /* events */ 2, /* timer */ 3, 4, 3, 4, /* workers */ 5};
    rad_case a = {.body = from}, b = {.body = to};
    (void)state;
    for (uint32_t i = 0; i < sizeof heirs / sizeof *heirs; i++)
        assert_int_equal(rad__world_case_heir(&a, &b, NULL, i), heirs[i]);
    for (uint32_t i = 0; i < sizeof heirs / sizeof *heirs; i++) /* nothing is left of another question */
        assert_int_equal(rad__world_case_heir(&a, &a, NULL, i), i);
}

/* ---- Reducing ---------------------------------------------------------------------------------------- */

static void every_reduction_is_smaller_and_readable(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 30; i++) {
        rad_exec_bounds bounds = rad_exec_bounds_small();
        rad_exec_case *from = rad__exec_generate(i, &bounds);
        uint64_t size = rad__exec_case_size(from);
        uint32_t n = 0;
        for (;; n++) {
            rad_exec_case *to = rad__exec_case_copy(from);
            rad_error error = {0};
            bool there = rad__exec_reduce(to, n);
            char *text = rad__exec_case_text(to);
            rad_exec_case *read = rad__exec_case_parse(text, strlen(text), "x", &error);
            if (read == NULL) fail_msg("case %u, reduction %u: %s\n%s", i, n, error.text, text);
            if (there && rad__exec_case_size(to) >= size) fail_msg("case %u, reduction %u is not smaller", i, n);
            rad__free(text);
            rad__exec_case_free(read);
            rad__exec_case_free(to);
            if (!there) break;
        }
        assert_true(n > 0);
        rad__exec_case_free(from);
    }
}

/* ---- Words ------------------------------------------------------------------------------------------- */

static void the_state_can_be_told(void **state)
{
    static const char *const says[] = {"time 0; gate open, counts 2",
                                       "tasks: 2, 0 runnable, 0 running, 0 ended, 0 refused; injector 0",
                                       "idle: 0 search, 1 parked, next to wake 0",
                                       "worker 0: parked, deque 0, later 0, inbox 0, credit 0, hoard 0",
                                       "task 0 (a): waits for token 3, next 1: wait-io 3, holds 1 of resource 0",
                                       "resource 0: 1 of 2 to give",
                                       "program a: 0 try-acquire 0 1 ok 1 fail 1; 1 wait-io 3"};
    trial t;
    rad_bytes text = {0};
    (void)state;
    trial_open(&t, "{\"expect\":\"deadlock\",\"resources\":[2],\"programs\":[" CODE(
                       "a", "\"try-acquire 0 "
                            "1 ok 1 fail "
                            "1\",\"wait-io "
                            "3\"") "," CODE("b", "\"wait-io 4\"") "],"
                                                                  "\"tasks\":[\"a\",\"b\"],\"runnable\":[0,1]}");
    trial_run(&t, "first", 0);
    assert_string_equal(t.oracle, "");
    rad__world_describe(t.world, &text);
    rad__bytes_put(&text, "", 1);
    for (uint32_t i = 0; i < sizeof says / sizeof *says; i++)
        if (strstr((char *)text.data, says[i]) == NULL) fail_msg("missing: %s\n%s", says[i], (char *)text.data);
    rad__bytes_free(&text);
    rad__rig_close(&t.rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instructions_are_read_and_written),
        cmocka_unit_test(bad_cases_name_the_place),
        cmocka_unit_test(cases_survive_being_written),
        cmocka_unit_test(memory_may_run_out_while_reading_and_writing),
        cmocka_unit_test(every_task_is_somewhere_after_every_instruction),
        cmocka_unit_test(tokens_remember_that_they_came),
        cmocka_unit_test(failed_io_takes_the_other_way),
        cmocka_unit_test(outcomes_are_told_apart),
        cmocka_unit_test(the_gate_may_be_shut_more_than_once),
        cmocka_unit_test(a_failing_task_ends_the_rest_in_two_ways),
        cmocka_unit_test(programs_that_mistreat_permits_are_reported),
        cmocka_unit_test(generated_cases_end_whatever_the_schedule),
        cmocka_unit_test(the_generator_is_a_function_of_its_seed),
        cmocka_unit_test(a_run_depends_on_its_choices_alone),
        cmocka_unit_test(oracles_look_after_every_action),
        cmocka_unit_test(actions_are_offered_in_canonical_order),
        cmocka_unit_test(time_goes_on_when_nothing_else_can),
        cmocka_unit_test(victims_are_choices),
        cmocka_unit_test(parts_are_inherited),
        cmocka_unit_test(every_reduction_is_smaller_and_readable),
        cmocka_unit_test(the_state_can_be_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
