/* test_log_value.c — logs as values: get_log and from_log of rad_lab_run, reading, writing and walking (raddle/lab.h).
 * What a walk tells is compared with what a policy was asked and answered in the same run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "core/policy_user.h"
#include "lab/rig.h"
#include "rig_support.h"

#include <raddle/lab.h>
#include <raddle/policy.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- A policy that remembers ------------------------------------------------------------------------- */

enum { MOST = 4096 };

static struct asked {
    rad_policy_choice c;
    uint32_t answer;
    rad_policy_action set[64];
} asked[MOST];
static uint32_t asked_count;

static uint32_t note_choose(void *state, rad_policy_run *r, const rad_policy_choice *c)
{
    (void)state;
    assert_true(asked_count < MOST && (c->kind != RAD_PICK_ACTION || c->count <= 64));
    struct asked *a = &asked[asked_count++];
    a->c = *c;
    a->answer = (uint32_t)rad_policy_below(r, c->count);
    for (uint32_t i = 0; c->kind == RAD_PICK_ACTION && i < c->count; i++)
        rad_policy_look(r, rad_policy_action_at(r, i), &a->set[i]);
    return a->answer;
}

static void note_begin(void *state, rad_policy_run *r)
{
    (void)state, (void)r;
    asked_count = 0;
}

static const rad_policy_table NOTE = {
    .abi = RAD_POLICY_ABI, .name = "note", .choose = note_choose, .begin = note_begin};

static int set_up(void **state)
{
    rad_error error = {0};
    (void)state;
    return rad_policy_add(&NOTE, &error);
}

static int tear_down(void **state)
{
    (void)state;
    rad__user_policies_cut(0);
    return 0;
}

static rad_verdict run(const rad_target *t, const rad_run_request *r)
{
    rad_error error = {0};
    rad_verdict v = {0};
    if (rad_lab_run(t, r, &v, &error) != 0) fail_msg("%s", error.text);
    return v;
}

static void run_here(const rad_target *t, uint64_t seed)
{
    rad_rig rig;
    rad_error error = {0};
    assert_int_equal(rad__rig_open(&rig, t, &error), 0);
    rad_policy *p = policy_named("note");
    rad_run_options o = rad__rig_options(&rig, p);
    o.info.seed = seed;
    rad__kernel_run(rig.kernel, &o);
    rad__policy_destroy(p);
    rad__rig_close(&rig);
}

/* ---- get_log ------------------------------------------------------------------------------------------ */

static void compare_walk(const rad_log *log)
{
    rad_log_walk *walk;
    rad_log_decision d;
    rad_error error = {0};
    uint32_t n = 0;
    assert_int_equal(rad_log_begin(&walk, log, &error), 0);
    for (; rad_log_next(walk, &d, &error) == 1; n++) {
        const struct asked *a = &asked[n];
        assert_true(n < asked_count);
        assert_int_equal(d.sequence, n);
        assert_int_equal(d.kind, a->c.kind);
        assert_int_equal(d.site, a->c.site);
        assert_int_equal(d.count, a->c.count);
        assert_int_equal(d.chosen, a->answer);
        assert_int_equal(d.set != NULL, d.kind == RAD_PICK_ACTION);
        for (uint32_t i = 0; d.set != NULL && i < d.count; i++) {
            assert_int_equal(d.set[i].number, a->set[i].number);
            assert_int_equal(d.set[i].kind, a->set[i].kind);
            assert_int_equal(d.set[i].actor, a->set[i].actor);
            assert_int_equal(d.set[i].object, a->set[i].object);
            assert_int_equal(d.set[i].argument, a->set[i].argument);
        }
    }
    assert_int_equal(error.code, 0);
    assert_int_equal(n, asked_count);
    assert_int_equal(rad_log_next(walk, &d, &error), 0); /* and stays there */
    rad_log_end(walk);
}

static void a_log_has_what_the_policy_was_asked(void **state)
{
    static const char *const MACHINES[] = {"bank", "buffer", "philosophers", "event", "reorder", "twostage", "wsq"};
    (void)state;
    for (size_t i = 0; i < sizeof MACHINES / sizeof *MACHINES; i++) {
        for (uint64_t seed = 1; seed <= 5; seed++) {
            rad_target t = target_of(MACHINES[i], NULL);
            rad_log *log = NULL;
            rad_log_facts facts;
            rad_verdict v = run(&t, &(rad_run_request){.policy = "note", .seed = seed, .get_log = &log});
            assert_non_null(log);
            rad_log_look(log, &facts);
            assert_string_equal(facts.policy, "note");
            assert_ptr_equal(facts.target->machine, t.machine);
            assert_int_equal(facts.seed, seed);
            assert_int_equal(facts.result, v.result);
            assert_int_equal(facts.steps, v.steps);
            assert_int_equal(facts.decisions, v.decisions);
            assert_string_equal(facts.trace_hash, v.trace_hash);
            run_here(&t, seed);
            compare_walk(log);
            rad_log_free(log);
        }
    }
}

static char *slurp(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    char *bytes = malloc(1 << 20);
    assert_non_null(f);
    *size = fread(bytes, 1, 1 << 20, f);
    fclose(f);
    return bytes;
}

static void a_value_is_the_same_as_a_file(void **state)
{
    rad_target t = target_of("bank", NULL);
    rad_error error = {0};
    rad_log *log = NULL, *back = NULL;
    size_t size[2];
    (void)state;
    run(&t, &(rad_run_request){.policy = "note", .log = "a.log", .get_log = &log, .seed = 3});
    assert_int_equal(rad_log_write(log, "b.log", &error), 0);
    char *a = slurp("a.log", &size[0]), *b = slurp("b.log", &size[1]);
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(a, b, size[0]);
    assert_int_equal(rad_log_read(&back, "b.log", &error), 0);
    run_here(&t, 3);
    compare_walk(back);
    rad_log_free(back);

    /* Every byte that is changed, and every end that is missing, is noticed. */
    for (size_t i = 0; i < size[0]; i += 7) {
        FILE *f = fopen("c.log", "wb");
        b[i] ^= 0x20;
        assert_int_equal(fwrite(b, 1, size[0], f), size[0]);
        fclose(f);
        b[i] ^= 0x20;
        error = (rad_error){0};
        assert_int_equal(rad_log_read(&back, "c.log", &error), RAD_EINPUT);
        assert_null(back);
        assert_int_equal(strncmp(error.text, "c.log: ", 7), 0);
        f = fopen("c.log", "wb");
        assert_int_equal(fwrite(b, 1, i, f), i);
        fclose(f);
        error = (rad_error){0};
        assert_int_equal(rad_log_read(&back, "c.log", &error), RAD_EINPUT);
    }
    error = (rad_error){0};
    assert_int_equal(rad_log_read(&back, "none.log", &error), RAD_EINPUT);
    free(a);
    free(b);
    rad_log_free(log);
}

static void a_run_that_dies_has_no_log(void **state)
{
    rad_target t = target_of("crash", NULL);
    rad_log *log;
    uint32_t died = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        log = (rad_log *)&log;
        rad_verdict v = run(&t, &(rad_run_request){.policy = "random", .seed = seed, .get_log = &log});
        bool crash = v.result == RAD_RESULT_FAILURE && strcmp(v.kind, "crash") == 0;
        assert_int_equal(log == NULL, crash);
        died += crash;
        rad_log_free(log);
    }
    assert_in_range(died, 1, 39);
}

static void a_log_has_a_limit(void **state)
{
    rad_target t = target_of("bank", NULL);
    rad_log *log;
    rad_verdict v;
    rad_error error = {0};
    (void)state;
    rad_run_request r = {.policy = "random", .seed = 1, .get_log = &log, .log_limit = 40};
    assert_int_equal(rad_lab_run(&t, &r, &v, &error), RAD_ELIMIT);
    assert_string_equal(error.text, "the log: the log would be larger than the limit of 40 bytes");
    assert_null(log);
}

/* ---- from_log ------------------------------------------------------------------------------------------ */

static void a_log_repeats_the_run(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        rad_target t = target_of("bank", NULL);
        rad_log *log = NULL, *again = NULL;
        char *why = (char *)&why;
        rad_artifact *artifact = NULL;
        rad_verdict v = run(&t, &(rad_run_request){.policy = "note", .seed = seed, .get_log = &log});
        for (int twice = 0; twice < 2; twice++) { /* a value is not used up */
            rad_verdict w = run(
                &t, &(rad_run_request){.from_log = log, .get_log = &again, .divergence = &why, .artifact = &artifact});
            assert_int_equal(w.result, v.result);
            assert_string_equal(w.trace_hash, v.trace_hash);
            assert_null(why);
            assert_string_equal(rad_artifact_policy(artifact), "replay");
            run_here(&t, seed);
            compare_walk(again);
            rad_log_free(again);
            rad_artifact_free(artifact);
        }
        rad_log_free(log);
    }
}

static void a_log_of_another_run_diverges(void **state)
{
    rad_target t = target_of("philosophers", "n=3");
    rad_log *log = NULL, *none = NULL;
    rad_artifact *artifact = NULL;
    char *why = NULL;
    rad_error error = {0};
    rad_verdict v;
    (void)state;
    run(&t, &(rad_run_request){.policy = "random", .seed = 5, .get_log = &log});
    t.c.repaired = true;
    v = run(&t,
            &(rad_run_request){
                .from_log = log, .get_log = &none, .divergence = &why, .artifact = &artifact, .log = "diverged.log"});
    assert_int_equal(v.result, RAD_RESULT_DIVERGED);
    assert_string_equal(why, "decision 2 at step 2: difference {-philosopher 0 step, +philosopher 1 step} (- in "
                             "the log only, + in this run only); expected {philosopher 0 step, philosopher 2 "
                             "step}, actual {philosopher 1 step, philosopher 2 step}");
    assert_string_equal(v.divergence, why);
    assert_null(none);
    assert_null(artifact);
    assert_null(fopen("diverged.log", "rb"));
    rad_free(why);

    /* The verdict has room for the beginning only. */
    t = target_of("philosophers", "n=12");
    rad_log_free(log);
    run(&t, &(rad_run_request){.policy = "random", .seed = 5, .get_log = &log});
    t.c.repaired = true;
    v = run(&t, &(rad_run_request){.from_log = log, .divergence = &why});
    assert_int_equal(v.result, RAD_RESULT_DIVERGED);
    assert_int_equal(strlen(v.divergence), sizeof v.divergence - 1);
    assert_true(strlen(why) > strlen(v.divergence));
    assert_int_equal(strncmp(why, v.divergence, strlen(v.divergence)), 0);
    assert_string_equal(why + strlen(why) - 1, "}");
    rad_free(why);

    assert_int_equal(rad_lab_run(&t, &(rad_run_request){.from_log = log, .policy = "first"}, &v, &error), RAD_EINPUT);
    assert_string_equal(error.text, "policy 'first' and from_log: expected one of them");
    rad_log_free(log);
}

/* ---- Memory -------------------------------------------------------------------------------------------- */

static int read_and_walk(rad_error *error)
{
    rad_log *log;
    rad_log_walk *walk = NULL;
    rad_log_decision d;
    int code = rad_log_read(&log, "a.log", error), got = 1;
    if (code == 0) code = rad_log_begin(&walk, log, error);
    while (code == 0 && got == 1)
        if ((got = rad_log_next(walk, &d, error)) < 0) code = got;
    rad_log_end(walk);
    rad_log_free(log);
    return code;
}

static void lack_of_memory_is_an_error(void **state)
{
    rad_target t = target_of("bank", NULL);
    int code = RAD_ENOMEM;
    uint64_t n = 0;
    (void)state;
    run(&t, &(rad_run_request){.policy = "random", .log = "a.log", .seed = 3});
    while (code == RAD_ENOMEM) {
        rad_error error = {0};
        rad__alloc_fail_at(++n);
        code = read_and_walk(&error);
        rad__alloc_fail_at(0);
    }
    assert_int_equal(code, 0);
    assert_true(n > 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_log_has_what_the_policy_was_asked),
        cmocka_unit_test(a_value_is_the_same_as_a_file),
        cmocka_unit_test(a_run_that_dies_has_no_log),
        cmocka_unit_test(a_log_has_a_limit),
        cmocka_unit_test(a_log_repeats_the_run),
        cmocka_unit_test(a_log_of_another_run_diverges),
        cmocka_unit_test(lack_of_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
