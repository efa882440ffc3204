/* test_describe.c — a machine that speaks for itself: its state and its steps in its own words, in stories and in
 * pictures; states counted by dedup; runs kept as artifacts; what the executor adds to that. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <raddle/lab.h>

#include <stdio.h>
#include <string.h>

/* ---- A machine: two walkers go `n` steps each; with the bug, the second may not arrive first ------------------ */

static struct walk {
    int64_t n, at[2];
    uint32_t go[2], roads[2], goal;
    bool bug;
} walk;

static int walk_create(void **self, const rad_machine *m, const rad_case *c, rad_error *error)
{
    (void)error;
    walk = (struct walk){.n = c->params[0], .bug = !c->repaired};
    *self = &walk;
    return 0;
}

static void walk_destroy(void *self)
{
    (void)self;
}

static void walk_reset(void *self, rad_kernel *k)
{
    struct walk *w = self;
    w->goal = rad_object(k, RAD_NONE, "goal");
    for (uint32_t i = 0; i < 2; i++) {
        w->at[i] = 0;
        w->roads[i] = rad_object(k, RAD_NONE, "road");
        w->go[i] = rad_action(k, 0, rad_actor(k, RAD_NONE, "walker"), RAD_NONE, i);
        rad_announce(k, w->go[i], 0, w->n > 1 ? w->roads[i] : w->goal, RAD_WRITE);
        rad_enable(k, w->go[i]);
    }
}

static void walk_step(void *self, rad_kernel *k, uint32_t action)
{
    struct walk *w = self;
    uint32_t i = action == w->go[1];
    w->at[i]++;
    rad_value(k, 7777);
    if (w->at[i] == 1) rad_note(k, 1, RAD_NONE, (uint64_t)w->at[i]);
    if (w->at[i] == w->n) rad_note(k, 2, RAD_NONE, 0);
    if (w->at[i] + 1 == w->n) rad_announce(k, action, 1, w->goal, RAD_WRITE);
    if (w->at[i] < w->n) return;
    rad_disable(k, action);
    RAD_CHECK(k, RAD_ORACLE_ASSERT, !w->bug || i == 0 || w->at[0] == w->n, w->goal, "the second was first");
}

static enum rad_end walk_idle(void *self, rad_kernel *k)
{
    (void)self, (void)k;
    return RAD_END_FINISHED;
}

static void walk_state(const void *self, rad_state_hash *h)
{
    rad_state_add(h, ((const struct walk *)self)->at, sizeof walk.at);
}

static const char *walk_kind(const void *self, uint32_t kind)
{
    static const char *const names[] = {"go", "has gone % of many", "arrives"};
    (void)self;
    return kind < 3 ? names[kind] : NULL;
}

static const char *walk_site(const void *self, uint32_t site)
{
    static const char *const names[] = {"on the road", "at the goal"};
    (void)self;
    return site < 2 ? names[site] : NULL;
}

static void walk_describe(const void *self, void (*line)(void *context, const char *text), void *context)
{
    const struct walk *w = self;
    char text[80];
    for (uint32_t i = 0; i < 2; i++) {
        snprintf(text, sizeof text, "walker %u is at %lld of %lld", i, (long long)w->at[i], (long long)w->n);
        line(context, text);
    }
}

static const rad_param walk_params[] = {{"n", 3, 1, 100, "steps of each", true}, {NULL, 0, 0, 0, NULL, false}};

static const rad_machine WALK = {.name = "walk",
                                 .about = "two walkers",
                                 .params = walk_params,
                                 .bug = "the second arrives first",
                                 .bug_site = 1,
                                 .create = walk_create,
                                 .destroy = walk_destroy,
                                 .reset = walk_reset,
                                 .step = walk_step,
                                 .idle = walk_idle,
                                 .state = walk_state,
                                 .kind_name = walk_kind,
                                 .site_name = walk_site,
                                 .describe = walk_describe};

static int add_walk(void **state)
{
    rad_error error;
    (void)state;
    return rad_machine_add(&WALK, &error);
}

static rad_target walk_target(const char *words, bool repaired)
{
    rad_target t;
    rad_error error;
    assert_int_equal(rad_target_init(&t, "walk", &error), 0);
    assert_int_equal(rad_target_set(&t, words, &error), 0);
    t.c.repaired = repaired;
    return t;
}

/* One run, as an artifact. */
static rad_artifact *kept_run(const rad_target *t, const char *policy, uint64_t seed)
{
    rad_artifact *a = NULL;
    rad_verdict v;
    rad_error error = {0};
    rad_run_request request = {.policy = policy, .seed = seed, .artifact = &a};
    if (rad_lab_run(t, &request, &v, &error) != 0) fail_msg("%s", error.text);
    assert_non_null(a);
    assert_string_equal(rad_artifact_verdict(a)->trace_hash, v.trace_hash);
    assert_int_equal(rad_artifact_verdict(a)->result, v.result);
    return a;
}

static rad_story *story_of(const rad_artifact *a)
{
    rad_story *s = NULL;
    rad_error error = {0};
    if (rad_lab_story(a, &s, &error) != 0) fail_msg("%s", error.text);
    return s;
}

/* ---- Stories ---------------------------------------------------------------------------------------- */

static void a_story_has_the_machines_words(void **state)
{
    (void)state;
    rad_target t = walk_target("n=3", true);
    rad_artifact *a = kept_run(&t, "first", 1);
    rad_story *s = story_of(a);
    assert_string_equal(s->state, "walker 0 is at 3 of 3\nwalker 1 is at 3 of 3\n");
    assert_int_equal(s->line_count, 6);
    assert_string_equal(s->lines[0].words, "has gone 1 of many"); /* % is the value */
    assert_string_equal(s->lines[1].words, "on the road");        /* no note: the site */
    assert_string_equal(s->lines[2].words, "arrives");            /* 0 is not told */
    char *text = rad_story_text(s, 80, false, false);
    assert_non_null(strstr(text, " State at the end\n   walker 0 is at 3 of 3\n"));
    assert_null(strstr(text, "7777")); /* words, not values */
    assert_null(strstr(text, "Last "));
    rad_free(text);
    rad_story_free(s);
    rad_artifact_free(a);
}

/* A failure of which a part is hidden: its last events follow without a gap. */
static void hidden_events_of_a_failure_are_listed(void **state)
{
    (void)state;
    rad_target t = walk_target("n=60", false);
    rad_error error = {0};
    rad_exploration e;
    rad_explore_options o = {.strategy = "random", .runs = 1000, .seed = 1, .stop_on_first = true};
    assert_int_equal(rad_lab_explore(&t, &o, &e, &error), 0);
    assert_int_equal(e.finding_count, 1);
    rad_story *s = story_of(e.findings[0].artifact);
    char *part = rad_story_text(s, 80, false, false), *all = rad_story_text(s, 80, false, true);
    char heading[40];
    snprintf(heading, sizeof heading, " Last %llu events\n", (unsigned long long)s->line_count);
    assert_non_null(strstr(part, "walker 1 is at 60 of 60\n"));
    assert_non_null(strstr(part, heading));
    assert_non_null(strstr(part, " 0 walker "));
    assert_null(strstr(all, "Last ")); /* everything is in the picture */
    rad_free(part);
    rad_free(all);
    rad_story_free(s);
    rad_exploration_free(&e);
}

static void at_most_200_events_are_listed(void **state)
{
    (void)state;
    rad_target t = walk_target("n=100", false);
    rad_artifact *a = kept_run(&t, "fair", 1);
    rad_story *s = story_of(a); /* 200 steps or fewer: told by hand to have more */
    rad_line *lines = s->lines, many[300];
    uint64_t count = s->line_count;
    for (uint32_t i = 0; i < 300; i++) {
        many[i] = lines[0];
        many[i].step = i;
        many[i].hidden = true;
    }
    s->lines = many;
    s->line_count = 300;
    char *text = rad_story_text(s, 80, false, false);
    assert_non_null(strstr(text, " Last 200 events\n"));
    assert_non_null(strstr(text, "   100 walker "));
    assert_non_null(strstr(text, "   299 walker "));
    assert_null(strstr(text, "    99 walker "));
    rad_free(text);
    s->lines = lines;
    s->line_count = count;
    rad_story_free(s);
    rad_artifact_free(a);
}

static void a_machine_without_the_hook_is_told_as_before(void **state)
{
    rad_target t;
    rad_error error;
    (void)state;
    assert_int_equal(rad_target_init(&t, "counter", &error), 0);
    rad_artifact *a = kept_run(&t, "first", 1);
    rad_story *s = story_of(a);
    assert_null(s->state);
    assert_string_equal(s->lines[0].words, "");
    rad_story_free(s);
    rad_artifact_free(a);
}

/* ---- Runs as artifacts -------------------------------------------------------------------------------- */

static void a_kept_run_replays(void **state)
{
    uint32_t passed = 0, failed = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        rad_target t = walk_target("n=3", false);
        rad_artifact *a = kept_run(&t, "random", seed);
        rad_replay r;
        rad_error error = {0};
        assert_int_equal(rad_lab_replay(a, NULL, &r, &error), 0);
        assert_true(r.as_recorded);
        bool fails = rad_artifact_expects_failure(a);
        assert_true(fails == (r.actual.result == RAD_RESULT_FAILURE));
        passed += !fails;
        failed += fails;
        rad_artifact_free(a);
    }
    assert_true(passed > 0 && failed > 0); /* or this has shown nothing */
}

/* ---- States ------------------------------------------------------------------------------------------- */

static rad_exploration explored(const rad_target *t, const char *strategy, uint32_t jobs)
{
    rad_exploration e;
    rad_error error = {0};
    rad_explore_options o = {.strategy = strategy, .runs = 100000, .seed = 1, .jobs = jobs};
    if (rad_lab_explore(t, &o, &e, &error) != 0) fail_msg("%s", error.text);
    return e;
}

/* There is something to decide while both are on their way: n × n states. */
static void dedup_counts_states(void **state)
{
    static const uint64_t counts[] = {1, 2, 3, 10, 50};
    (void)state;
    for (uint32_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        char words[16];
        snprintf(words, sizeof words, "n=%llu", (unsigned long long)counts[i]);
        rad_target t = walk_target(words, true);
        rad_exploration one = explored(&t, "dedup", 1), two = explored(&t, "dedup", 2);
        assert_true(one.complete);
        assert_int_equal(one.states, counts[i] * counts[i]);
        assert_int_equal(two.states, one.states);
        rad_exploration_free(&one);
        rad_exploration_free(&two);
    }
    rad_target t = walk_target("n=3", true);
    rad_exploration e = explored(&t, "dfs", 1);
    assert_int_equal(e.states, 0); /* nobody counted */
    rad_exploration_free(&e);
}

/* ---- The executor ------------------------------------------------------------------------------------- */

static void listed_case(uint32_t i, const char *expected, rad_target *t)
{
    char name[32];
    rad_error error = {0};
    assert_int_equal(rad_exec_listed(i, name, t, &error), 0);
    assert_string_equal(name, expected);
}

static void the_executor_tells_instructions_and_outcome(void **state)
{
    rad_target t;
    rad_exec_shape shape;
    rad_error error = {0};
    bool spawns = false, takes = false, steals = false;
    (void)state;
    listed_case(0, "hoard", &t);
    assert_int_equal(rad_exec_shape_of(&t, &shape, &error), 0);
    assert_int_equal(shape.workers, 2);
    assert_int_equal(shape.tasks, 1);
    assert_int_equal(shape.instructions, 4);
    assert_string_equal(shape.expect, "ends");
    for (uint64_t seed = 1; seed <= 8; seed++) {
        rad_artifact *a = kept_run(&t, "random", seed);
        rad_story *s = story_of(a);
        for (uint64_t i = 0; i < s->line_count; i++) {
            spawns |= strncmp(s->lines[i].words, "task 0: spawn leaf local", 24) == 0;
            takes |= strcmp(s->lines[i].words, "takes task 0 from the injector") == 0;
            steals |= strstr(s->lines[i].words, "steals task 1, of worker ") != NULL;
        }
        assert_string_equal(rad_exec_outcome(s), "completed");
        assert_non_null(strstr(s->state, "program leaf: nothing\n"));
        rad_story_free(s);
        rad_artifact_free(a);
    }
    assert_true(spawns);
    assert_true(takes);
    assert_true(steals);
    rad_target_free(&t);
    rad_target other = walk_target("n=2", true);
    assert_int_equal(rad_exec_shape_of(&other, &shape, &error), RAD_EINPUT);
    rad_artifact *a = kept_run(&other, "first", 1);
    rad_story *s = story_of(a);
    assert_null(rad_exec_outcome(s));
    rad_story_free(s);
    rad_artifact_free(a);
}

static const char REFUSED[] = "{\"programs\":[{\"name\":\"a\",\"code\":[]}],\"tasks\":[\"a\",\"a\"],\"runnable\":[0],"
                              "\"events\":[\"1 close\",\"2 start 1\"]}";
static const char HANGS[] =
    "{\"programs\":[{\"name\":\"a\",\"code\":[\"wait-io 0\"]}],\"tasks\":[\"a\"],\"runnable\":[0]}";
static const char LOOPS[] =
    "{\"programs\":[{\"name\":\"a\",\"code\":[\"jump 0\"]}],\"tasks\":[\"a\"],\"runnable\":[0]}";
static const char LEAKS[] = "{\"resources\":[1],\"programs\":[{\"name\":\"a\",\"code\":[\"try-"
                            "acquire 0 1 ok 1 fail 1\"]}],"
                            "\"tasks\":[\"a\"],\"runnable\":[0]}";

static void outcomes_are_told_apart(void **state)
{
    static const struct {
        const char *body, *outcome;
        bool met;
    } cases[] = {{REFUSED, "refused", true},
                 {HANGS, "deadlock", true},
                 {LOOPS, "step-limit", false},
                 {LEAKS, "permit-leak", false}};
    (void)state;
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rad_target t = {.machine = rad_machine_find("exec"), .c = {.body = cases[i].body, .max_steps = 500}};
        rad_artifact *a = kept_run(&t, "fair", 1);
        rad_story *s = story_of(a);
        assert_string_equal(rad_exec_outcome(s), cases[i].outcome);
        rad_exploration e = explored(&t, "fair", 1);
        assert_true(rad_exec_met(&e, cases[i].outcome) == cases[i].met);
        assert_false(rad_exec_met(&e, "completed"));
        rad_exploration_free(&e);
        rad_story_free(s);
        rad_artifact_free(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_story_has_the_machines_words),
        cmocka_unit_test(hidden_events_of_a_failure_are_listed),
        cmocka_unit_test(at_most_200_events_are_listed),
        cmocka_unit_test(a_machine_without_the_hook_is_told_as_before),
        cmocka_unit_test(a_kept_run_replays),
        cmocka_unit_test(dedup_counts_states),
        cmocka_unit_test(the_executor_tells_instructions_and_outcome),
        cmocka_unit_test(outcomes_are_told_apart),
    };
    return cmocka_run_group_tests(tests, add_walk, NULL);
}
