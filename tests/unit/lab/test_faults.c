/* test_faults.c — the n-th allocation, and the n-th call to the operating system, fails: for n = 1, 2, 3 …
 * until everything goes through. Each time there is either the right result or a clean error; the next
 * attempt without faults works; the sanitizer build sees that nothing leaks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "lab/artifact.h"
#include "os/fault.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef int (*attempt)(rad_error *error);

static rad_artifact *known;    /* a failing run of philosophers */
static rad_artifact *document; /* a failing run of program, whose case is a document */

static bool is_clean(int code)
{
    return code == RAD_ENOMEM || code == RAD_EIO || code == RAD_ELIMIT;
}

static uint64_t stride = 1; /* every so many faults, where there are thousands */

/* How many faults it took until the attempt went through. */
static uint64_t walk(attempt try, void (*fail_at)(uint64_t n))
{
    for (uint64_t n = 1; n < 5000; n += stride) {
        rad_error error = {0};
        fail_at(n);
        int code = try(&error);
        fail_at(0);
        if (code == 0) return n;
        if (!is_clean(code)) fail_msg("fault %llu: code %d (%s)", (unsigned long long)n, code, error.text);
        assert_int_equal(code, error.code);
        assert_true(error.text[0] != 0);
    }
    fail_msg("never went through");
    return 0;
}

static void walk_both(attempt try)
{
    rad_error error = {0};
    assert_int_equal(try(&error), 0);
    /* More than one fault was met before it went through, or the walk shows nothing. */
    assert_true(walk(try, rad__alloc_fail_at) > 3);
    assert_true(walk(try, rad__os_fail_at) > 1);
    assert_int_equal(try(&error), 0);
}

static rad_target target(const char *machine)
{
    rad_target t;
    rad_error error = {0};
    assert_int_equal(rad_target_init(&t, machine, &error), 0);
    return t;
}

static int explore_with(const char *strategy, rad_error *error)
{
    rad_target t = target("philosophers");
    rad_exploration found;
    rad_explore_options o = {.strategy = strategy, .runs = 40, .seed = 1, .jobs = 2};
    int code = rad_lab_explore(&t, &o, &found, error);
    if (code != 0) return code;
    assert_int_equal(found.runs, 40);
    rad_exploration_free(&found);
    return 0;
}

static int try_surw(rad_error *error)
{
    return explore_with("surw", error);
}

static int try_preempt(rad_error *error)
{
    return explore_with("preempt:2", error);
}

static int shrink_of(const rad_artifact *a, uint64_t checks, rad_error *error)
{
    rad_artifact *small = NULL;
    rad_shrink_report report;
    rad_shrink_options o = {.checks = checks, .certify_runs = 50};
    int code = rad_lab_shrink(a, &o, &small, &report, error);
    if (code != 0) {
        assert_null(small);
        return code;
    }
    assert_string_equal(rad_artifact_verdict(small)->identity, rad_artifact_verdict(a)->identity);
    rad_artifact_free(report.second);
    rad_artifact_free(small);
    return 0;
}

static int try_shrink(rad_error *error)
{
    return shrink_of(known, 60, error);
}

static int try_shrink_document(rad_error *error)
{
    return shrink_of(document, 12, error);
}

static int try_replay(rad_error *error)
{
    rad_replay replay;
    int code = rad_lab_replay(known, NULL, &replay, error);
    if (code == 0) assert_true(replay.as_recorded);
    return code;
}

static int try_story(rad_error *error)
{
    rad_story *story;
    int code = rad_lab_story(known, &story, error);
    if (code != 0) return code;
    char *text = rad_story_text(story, 100, false, false);
    rad_story_free(story);
    if (text == NULL) {
        error->code = RAD_ENOMEM;
        snprintf(error->text, sizeof error->text, "no text");
        return RAD_ENOMEM;
    }
    rad_free(text);
    return 0;
}

static int try_log(rad_error *error)
{
    static const char path[] = "faults.raddle.log";
    rad_target t = target("bank"), again;
    rad_verdict recorded, replayed;
    rad_run_request request = {.policy = "random", .seed = 3, .log = path};
    unlink(path);
    int code = rad_lab_run(&t, &request, &recorded, error);
    if (code != 0) {
        assert_int_not_equal(access(path, F_OK), 0); /* nothing half-written */
        return code;
    }
    code = rad_lab_replay_log(path, &again, &replayed, error);
    if (code == 0) assert_string_equal(recorded.trace_hash, replayed.trace_hash);
    unlink(path);
    return code;
}

static void exploring_survives_every_fault(void **state)
{
    (void)state;
    walk_both(try_surw);
    walk_both(try_preempt);
}

static void shrinking_survives_every_fault(void **state)
{
    (void)state;
    walk_both(try_shrink);
    stride = 5;
    walk_both(try_shrink_document);
    stride = 1;
}

static void replaying_and_telling_survive_every_fault(void **state)
{
    (void)state;
    walk_both(try_replay);
    walk_both(try_story);
}

static void recording_survives_every_fault(void **state)
{
    (void)state;
    walk_both(try_log);
}

static rad_artifact *find_in(const rad_target *t)
{
    rad_error error = {0};
    rad_exploration found;
    rad_explore_options o = {.strategy = "random", .runs = 200, .seed = 1, .stop_on_first = true};
    if (rad_lab_explore(t, &o, &found, &error) != 0 || found.finding_count == 0) return NULL;
    return found.findings[0].artifact; /* ours now */
}

static int find_one(void **state)
{
    (void)state;
    rad_target t = target("philosophers");
    known = find_in(&t);
    t = target("program");
    t.c.body = "{\"threads\":[[\"inc 0\"],[\"inc 0\"],[\"skip\"]]}";
    document = find_in(&t);
    return known == NULL || document == NULL;
}

static int forget_it(void **state)
{
    (void)state;
    rad_artifact_free(known);
    rad_artifact_free(document);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exploring_survives_every_fault),
        cmocka_unit_test(shrinking_survives_every_fault),
        cmocka_unit_test(replaying_and_telling_survive_every_fault),
        cmocka_unit_test(recording_survives_every_fault),
    };
    return cmocka_run_group_tests(tests, find_one, forget_it);
}
