/* test_exec_corpus.c — the artifacts of tests/corpus replay as recorded, and together they exercise everything: every
 * instruction, every placement of a spawn, every queue a task can come from, every action, every phase of a worker. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lab/machines/executor/executor.h"
#include "lab/rig.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILES_MAX = 64 };

static const char *const sources[] = {"nowhere", "local",    "oldest", "later",
                                      "inbox",   "injector", "victim", "victim-later"};
enum { SOURCES = sizeof sources / sizeof *sources };

/* What a bit stands for; NULL: nothing. */
static const char *bit_name(uint32_t bit, char text[64])
{
    const char *what = NULL, *kind = "";
    if (bit < RAD_OP_COUNT) {
        kind = "instruction ";
        what = rad__opcode_name(bit);
    } else if (bit >= RAD_COVER_PLACE && bit <= RAD_COVER_PLACE + RAD_PLACE_TO) {
        kind = "placement ";
        what = rad__place_name(bit - RAD_COVER_PLACE);
    } else if (bit > RAD_COVER_SOURCE && bit < RAD_COVER_SOURCE + SOURCES) {
        kind = "source ";
        what = sources[bit - RAD_COVER_SOURCE];
    } else if (bit >= RAD_COVER_EVENT && bit <= RAD_COVER_EVENT + RAD_EVENT_CLOSE) {
        kind = "event ";
        what = rad__event_name(bit - RAD_COVER_EVENT);
    } else if (bit == RAD_COVER_TIMER || bit == RAD_COVER_CLOCK) {
        what = bit == RAD_COVER_TIMER ? "timer" : "clock";
    } else if (bit >= RAD_COVER_PHASE && bit < RAD_COVER_PHASE + RAD_PHASE_STOPPED) {
        kind = "phase ";
        what = rad__phase_name(bit - RAD_COVER_PHASE);
    }
    if (what) snprintf(text, 64, "%s%s", kind, what);
    return what ? text : NULL;
}

/* What the artifacts miss; the number of it. */
static uint32_t missing(const uint64_t *coverage, size_t count, size_t without, bool tell)
{
    uint64_t all = 0;
    uint32_t missed = 0;
    char text[64];
    for (size_t i = 0; i < count; i++)
        if (i != without) all |= coverage[i];
    for (uint32_t bit = 0; bit < 64; bit++) {
        if (bit_name(bit, text) == NULL || (all >> bit & 1)) continue;
        if (tell) print_message("no artifact exercises: %s\n", text);
        missed++;
    }
    return missed;
}

static uint64_t coverage_of(const rad_artifact *a)
{
    rad_rig rig;
    rad_error error = {0};
    if (rad__rig_open(&rig, &a->target, &error) != 0) fail_msg("%s", error.text);
    rad__rig_guide(&rig, a->choices, a->choice_count, false, NULL);
    uint64_t coverage = ((const rad_exec_world *)rig.self)->coverage;
    rad__rig_close(&rig);
    return coverage;
}

static size_t find_corpus(glob_t *files)
{
    char pattern[1024];
    const char *root = getenv("RADDLE_SRC");
    snprintf(pattern, sizeof pattern, "%s/tests/corpus/*.raddle.json", root ? root : "..");
    assert_int_equal(glob(pattern, 0, NULL, files), 0);
    assert_true(files->gl_pathc <= FILES_MAX);
    return files->gl_pathc;
}

static void the_corpus_replays_and_exercises_everything(void **state)
{
    uint64_t coverage[FILES_MAX] = {0};
    glob_t files;
    size_t count = find_corpus(&files);
    (void)state;
    assert_true(count >= 14);
    for (size_t i = 0; i < count; i++) {
        rad_error error = {0};
        rad_artifact *a = NULL;
        rad_replay r;
        if (rad_artifact_read(&a, files.gl_pathv[i], false, &error) != 0) fail_msg("%s", error.text);
        assert_string_equal(a->target.machine->name, "exec");
        assert_false(a->expects_failure);
        assert_int_equal(rad_lab_replay(a, NULL, &r, &error), 0);
        if (!r.as_recorded) fail_msg("%s: %s", files.gl_pathv[i], r.reason);
        coverage[i] = coverage_of(a);
        rad_artifact_free(a);
    }
    assert_int_equal(missing(coverage, count, SIZE_MAX, true), 0);
    /* The assertion bites: some files are the only ones to exercise something, and are missed when they are gone. */
    uint32_t needed = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t gone = missing(coverage, count, i, false);
        if (getenv("CORPUS_PRINT")) print_message("%2u only in %s\n", gone, files.gl_pathv[i]);
        needed += gone > 0;
    }
    assert_true(needed >= 3);
    globfree(&files);
}

/* The names of the bits are those of the machine: nothing that can be exercised is left out of the assertion. */
static void every_bit_has_a_name(void **state)
{
    char text[64];
    uint32_t named = 0;
    (void)state;
    for (uint32_t bit = 0; bit < 64; bit++) named += bit_name(bit, text) != NULL;
    assert_int_equal(named,
                     RAD_OP_COUNT + (RAD_PLACE_TO + 1) + (SOURCES - 1) + (RAD_EVENT_CLOSE + 1) + 2 + RAD_PHASE_STOPPED);
    assert_int_equal(SOURCES - 1, RAD_FROM_VICTIM_LATER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_corpus_replays_and_exercises_everything),
        cmocka_unit_test(every_bit_has_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
