/* test_realign.c — replay that survives edits: ten machines, each recorded and then edited in two or more ways. What a
 * realigned replay says is compared with what is true of the edited machine, which exploring tells. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "edit_support.h"
#include "lab/artifact.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static rad_target target_of(uint32_t machine, uint32_t edit)
{
    rad_target t;
    rad_error error = {0};
    const rad_machine *m = edited_rad_machine(machine);
    if (rad_machine_find(m->name) == NULL) assert_int_equal(rad_machine_add(m, &error), 0);
    assert_int_equal(rad_target_init(&t, m->name, &error), 0);
    t.c.params[0] = edit;
    t.c.max_steps = 2000; /* one of them spins */
    return t;
}

/* The first failure of an edition; NULL: none was found. */
static rad_artifact *find(uint32_t machine, uint32_t edit, bool shrunk)
{
    rad_target t = target_of(machine, edit);
    rad_error error = {0};
    rad_exploration e;
    rad_artifact *small = NULL;
    rad_shrink_report report;
    rad_explore_options o = {.runs = 1000, .seed = 1, .stop_on_first = true};
    if (rad_lab_explore(&t, &o, &e, &error) != 0) fail_msg("%s", error.text);
    if (e.finding_count > 0 && !shrunk) {
        small = e.findings[0].artifact;
        e.findings[0].artifact = NULL;
    } else if (e.finding_count > 0) {
        if (rad_lab_shrink(e.findings[0].artifact, NULL, &small, &report, &error) != 0) fail_msg("%s", error.text);
        rad_artifact_free(report.second);
    }
    rad_exploration_free(&e);
    return small;
}

/* Each is found once, and kept. */
static char *texts[EDITED_MACHINES];

static const char *text_of(uint32_t machine)
{
    if (texts[machine] == NULL) {
        rad_error error = {0};
        rad_artifact *found = find(machine, 0, true);
        assert_non_null(found);
        texts[machine] = rad_artifact_json(found, &error);
        assert_non_null(texts[machine]);
        rad_artifact_free(found);
    }
    return texts[machine];
}

static int forget(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < EDITED_MACHINES; i++) rad_free(texts[i]);
    return 0;
}

/* Through its text: what is read back is what a user has. */
static rad_artifact *record(uint32_t machine)
{
    rad_error error = {0};
    rad_artifact *a = NULL;
    const char *text = text_of(machine);
    assert_non_null(strstr(text, "\"path\": {"));
    if (rad__artifact_parse(&a, text, strlen(text), "x", false, &error) != 0) fail_msg("%s", error.text);
    char *again = rad_artifact_json(a, &error);
    assert_string_equal(text, again);
    rad_free(again);
    return a;
}

static void tell(const edited_machine *m, const edition *e, const rad_realignment *r)
{
    print_message("# %s, %s: %s%s; %llu of %llu steps, %llu new, %llu lost; at %llu: %s; again %llu: %s\n", m->name,
                  e->what, rad_realigned_text(r->answer), r->by_list ? " by the list" : "",
                  (unsigned long long)r->found, (unsigned long long)r->recorded, (unsigned long long)r->added,
                  (unsigned long long)r->lost, (unsigned long long)r->diverged_at, r->because,
                  (unsigned long long)r->again_at, r->again_as);
}

/* The run made now is an artifact that behaves as recorded. */
static void repeats(const rad_realignment *r)
{
    rad_error error = {0};
    rad_replay again;
    if (rad_lab_replay(r->artifact, NULL, &again, &error) != 0) fail_msg("%s", error.text);
    if (!again.as_recorded) fail_msg("%s", again.reason);
}

static void test_edits(void **state)
{
    (void)state;
    uint32_t right = 0, all = 0;
    for (uint32_t m = 0; m < EDITED_MACHINES; m++) {
        rad_artifact *a = record(m);
        for (uint32_t i = 1; i < EDIT_EDITIONS && edited_machines[m].editions[i].what; i++) {
            const edition *e = &edited_machines[m].editions[i];
            rad_target t = target_of(m, i);
            rad_error error = {0};
            rad_realignment r;
            if (rad_lab_realign(a, &t, &r, &error) != 0) fail_msg("%s", error.text);
            rad_artifact *bug = find(m, i, false);
            assert_int_equal(bug != NULL, e->buggy); /* the table is true */
            rad_artifact_free(bug);
            repeats(&r);
            all++;
            right += strcmp(rad_realigned_text(r.answer), e->expected) == 0 && !r.by_list;
            tell(&edited_machines[m], e, &r);
            rad_realignment_free(&r);
        }
        rad_artifact_free(a);
    }
    print_message("# %u of %u edits have the right answer\n", right, all);
    assert_true(all >= 20);
    assert_int_equal(right, all);
}

/* An edit of a machine and what is said about it, word by word. */
static void expect_words(uint32_t machine, uint32_t edit, uint64_t at, const char *because, uint64_t again_at,
                         const char *again_as)
{
    rad_artifact *a = record(machine);
    rad_target t = target_of(machine, edit);
    rad_error error = {0};
    rad_realignment r;
    if (rad_lab_realign(a, &t, &r, &error) != 0) fail_msg("%s", error.text);
    assert_int_equal(r.diverged_at, at);
    assert_string_equal(r.because, because);
    assert_true(r.again);
    assert_int_equal(r.again_at, again_at);
    assert_string_equal(r.again_as, again_as);
    rad_realignment_free(&r);
    rad_artifact_free(a);
}

static void test_words(void **state)
{
    (void)state;
    expect_words(1, 1, 0, "the recording has waiter at 'load flag r0' (step 0), but it is at 'enter'", 1,
                 "waiter at 'load flag r0'");
    expect_words(2, 2, 1,
                 "the recording has thread 1 at 'b first' (step 1), but it waits for a, held by "
                 "thread 0; thread ran, at 'lock b'",
                 5, "thread 1 at 'b first'");
    expect_words(8, 2, 4,
                 "the recording has taker at 'take' (step 4), but it has ended; adder ran, at "
                 "'store log 1'",
                 5, "adder at 'load n r0'");
}

/* Steps and names, counted. */
static void expect_counts(uint32_t machine, uint32_t edit, uint64_t late, uint64_t missing, uint64_t added,
                          uint64_t renamed)
{
    rad_artifact *a = record(machine);
    rad_target t = target_of(machine, edit);
    rad_error error = {0};
    rad_realignment r;
    if (rad_lab_realign(a, &t, &r, &error) != 0) fail_msg("%s", error.text);
    print_message("# %llu late, %llu missing, %llu new, %llu renamed\n", (unsigned long long)r.late,
                  (unsigned long long)r.missing, (unsigned long long)r.added, (unsigned long long)r.renamed);
    assert_int_equal(r.recorded, rad__artifact_path(a)->step_count);
    assert_int_equal(r.found + r.missing, r.recorded);
    assert_int_equal(r.late, late);
    assert_int_equal(r.missing, missing);
    assert_int_equal(r.added, added);
    assert_int_equal(r.renamed, renamed);
    rad_realignment_free(&r);
    rad_artifact_free(a);
}

static void test_counts(void **state)
{
    (void)state;
    expect_counts(0, 2, 2, 0, 4, 0);  /* two steps had to wait for the lock */
    expect_counts(0, 3, 0, 2, 0, 1);  /* two steps became one of another name */
    expect_counts(4, 1, 0, 0, 1, 4);  /* renamed; the last step is not recorded: it fails before */
    expect_counts(9, 2, 1, 1, 71, 2); /* somebody spins, and after 64 times the others may go */
}

/* Who ran, at which site, is what the story tells; the first of a role has no number in a path. */
static void test_path_is_the_story(void **state)
{
    (void)state;
    for (uint32_t m = 1; m < EDITED_MACHINES; m++) { /* 0 has lines in its sites */
        rad_artifact *a = record(m);
        const rad_path *p = rad__artifact_path(a);
        rad_error error = {0};
        rad_story *s;
        assert_int_equal(rad_lab_story(a, &s, &error), 0);
        bool dies = rad__verdict_is_deadly(rad_artifact_verdict(a));
        assert_int_equal(p->step_count, s->line_count + dies);
        uint32_t chosen = 0;
        for (uint32_t i = 0; i < s->line_count; i++) {
            assert_string_equal(p->sites[p->steps[i].site], s->lines[i].site);
            assert_int_equal(p->steps[i].chosen, s->lines[i].decisive);
            const char *told = s->actors[s->lines[i].actor], *name = p->actors[p->steps[i].actor];
            const char *slash = strrchr(name, '/');
            name = slash ? slash + 1 : name;
            assert_memory_equal(told, name, strcspn(name, " "));
            chosen += p->steps[i].chosen;
        }
        assert_true(chosen > 0 || p->pick_count > 0);
        rad_story_free(s);
        rad_artifact_free(a);
    }
}

static void test_lines_are_no_names(void **state)
{
    (void)state;
    const char *text = text_of(0);
    assert_non_null(strstr(text, "\"read (n.c)\""));
    assert_null(strstr(text, "n.c:1"));
}

/* ---- What is refused ---------------------------------------------------------------------------------- */

static void refused(const char *good, const char *old, const char *new, const char *words)
{
    rad_error error = {0};
    rad_artifact *a;
    const char *at = strstr(good, old);
    assert_non_null(at);
    size_t size = strlen(good) + strlen(new) + 1;
    char *text = malloc(size);
    snprintf(text, size, "%.*s%s%s", (int)(at - good), good, new, at + strlen(old));
    assert_int_equal(rad__artifact_parse(&a, text, strlen(text), "x", true, &error), RAD_EINPUT);
    assert_string_equal(error.text, words);
    free(text);
}

static void test_refused(void **state)
{
    (void)state;
    const char *good = text_of(1);
    refused(good, "\"schema_version\": 2", "\"schema_version\": 1", "x: unknown field \"path\"");
    refused(good, "\"picks\": []", "\"picks\": [], \"more\": 1", "x: unknown field \"path.more\"");
    refused(good, "\"picks\": []", "\"picks\": [0, 0]",
            "x: path.picks: expected at most 3000000 items, 3 each, found 2");
    refused(good, "\"picks\": []", "\"picks\": [0, 0, -1]",
            "x: path.picks[2]: expected an integer from 0 to 4294967295, found -1");
    refused(good, "\"picks\": []", "\"picks\": [7, 0, 1]",
            "x: path.picks[0]: expected an integer from 0 to 6, found 7");
    refused(good, "\"picks\": []", "\"picks\": [3, 0, 1, 2, 0, 1]",
            "x: path.picks[3]: expected steps in order, found 2");
    refused(good, "\"picks\": []", "\"picks\": 1", "x: path.picks: expected an array, found 1");
    refused(good, "\"waiter\", \"setter\"", "\"waiter\"", "x: path.steps[3]: expected an integer from 0 to 0, found 1");
    refused(good, "\"waiter\", \"setter\"", "", "x: path.actors[0]: expected a name, found nothing");
    refused(good, "\"waiter\", \"setter\"", "\"waiter\", 5",
            "x: path.actors[1]: expected a string of at most 95 bytes, found 5");
    refused(good, "\"chosen\": [", "\"chosen\": [1, 1, ",
            "x: path.chosen[1]: expected steps in order, each once, found 1");
    refused(good, "\"chosen\": [", "\"chosen\": [9, ", "x: path.chosen[0]: expected an integer from 0 to 6, found 9");
    refused(good, "\"path\": {", "\"path\": 1, \"path2\": {", "x: unknown field \"path2\"");
    refused(good, "\"steps\": 7", "\"steps\": 5", "x: path.steps: expected at most 18 items, 3 each, found 21");
}

/* ---- Files of before ------------------------------------------------------------------------------------ */

static void test_version_1(void **state)
{
    (void)state;
    char file[512];
    const char *root = getenv("RADDLE_SRC");
    rad_artifact *a;
    rad_error error = {0};
    rad_realignment r;
    snprintf(file, sizeof file, "%s/tests/fixtures/artifact-1.raddle.json", root ? root : ".");
    int code = rad_artifact_read(&a, file, false, &error);
    assert_string_equal(error.text, "");
    assert_int_equal(code, 0);
    assert_null(rad__artifact_path(a));
    if (rad_lab_realign(a, NULL, &r, &error) != 0) fail_msg("%s", error.text);
    assert_true(r.as_recorded);
    assert_int_equal(r.answer, RAD_REALIGNED_PASSES);
    const rad_path *p = rad__artifact_path(r.artifact);
    assert_non_null(p);
    assert_int_equal(p->step_count, rad_artifact_verdict(a)->steps);
    rad_realignment_free(&r);
    rad_artifact_free(a);
}

/* A file without a path, on another edition: its own one gives the path. */
static void test_without_a_path(void **state)
{
    (void)state;
    rad_artifact *a = record(1);
    rad_target t = target_of(1, 1);
    rad_error error = {0};
    rad_realignment r;
    rad__path_free(a->path->path);
    a->path->path = NULL;
    if (rad_lab_realign(a, &t, &r, &error) != 0) fail_msg("%s", error.text);
    assert_int_equal(r.answer, RAD_REALIGNED_FAILS);
    rad_realignment_free(&r);
    memset(a->expected.trace_hash, '1', 32); /* and now its own one does not, either */
    assert_int_equal(rad_lab_realign(a, &t, &r, &error), RAD_EINPUT);
    assert_non_null(strstr(error.text, "the artifact has no path"));
    rad_artifact_free(a);
}

static void test_every_allocation_fails(void **state)
{
    (void)state;
    rad_artifact *a = record(4);
    rad_target t = target_of(4, 2);
    int code = -1;
    uint64_t n = 1;
    for (; code != 0; n += 3) {
        rad_error error = {0};
        rad_realignment r;
        rad__alloc_fail_at(n);
        code = rad_lab_realign(a, &t, &r, &error);
        rad__alloc_fail_at(0);
        assert_int_equal(code, error.code);
        assert_true(code == 0 || code == RAD_ENOMEM);
        if (code == 0) rad_realignment_free(&r);
        assert_true(n < 2000);
    }
    assert_true(n > 50);
    rad_artifact_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_edits),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_path_is_the_story),
        cmocka_unit_test(test_lines_are_no_names),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_version_1),
        cmocka_unit_test(test_without_a_path),
        cmocka_unit_test(test_every_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, forget);
}
