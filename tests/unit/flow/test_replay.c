/* test_replay.c — journals of cases, replayed: as recorded, or where they differ and how. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"
#include "flow/journal/replay.h"

#include <stdio.h>
#include <string.h>

static const char FLOW[] = "flow f { data { x : int }  task t { call \"t\" writes x retry 1 }\n"
                           "do t set x = x + 1 do t loop 300 { } }";

/* What is wrong with the journal. */
enum lie {
    NOTHING,
    NO_END,       /* it stops behind the last input */
    FAR_STEP,     /* an input at a step that is not come to */
    OTHER_DIGEST, /* … after something else was done */
    END_FAR,      /* an end behind the end */
    END_STATE,    /* the end says that it has failed */
    END_LOW,      /* … with another digest, in one of its halves */
    END_HIGH,
    UNKNOWN_KEY,  /* an answer that was not asked for */
    OTHER_VALUE,  /* another answer than the one that led to the end */
    LAST_IS_TORN, /* the end was not written to its end */
    MORE_BEHIND,  /* the beginning of another record is behind the end */
    LIES
};

static const char *const REASONS[LIES] = {
    [FAR_STEP] = "record 3 (input) at step 1000: the flow does not come to that step",
    [OTHER_DIGEST] = "record 3 (input) at step 1: the flow has done something else before",
    [END_FAR] = "record 6 (end) at step 1307: the flow does not come to that step",
    [END_STATE] = "record 6 (end) at step 307: the flow has not ended in that way",
    [END_LOW] = "record 6 (end) at step 307: the flow has done something else before",
    [END_HIGH] = "record 6 (end) at step 307: the flow has done something else before",
    [UNKNOWN_KEY] = "record 3 (input) at step 1: nothing with the key 0#9 was asked for",
    [OTHER_VALUE] = "record 5 (input) at step 4: the flow has done something else before",
};

static void put(rad_bytes *out, rad_crc32 *crc, rad_flow_record r, uint64_t *sequence)
{
    r.sequence = ++*sequence;
    if (r.id == NULL) r.id = "";
    if (r.key == NULL) r.key = "";
    if (r.text == NULL) r.text = "";
    rad__flow_journal_put(out, crc, &r);
}

/* The journal of a case whose task gives 4, then 5, with the records of a runner between them. */
static void write_journal(const rad_flow_program *p, rad_bytes *out, enum lie lie)
{
    rad_crc32 crc;
    rad_flow_case *c;
    rad_error error = {0};
    uint64_t sequence = 0;
    rad_flow_journal_header header = {.raddle = "0", .hash = p->hash, .flow = "f", .case_id = "1", .policy = "first"};
    rad__crc32_open(&crc);
    rad__flow_journal_begin(out, &crc, &header);
    assert_int_equal(rad__flow_case_open(&c, p, &(rad_flow_case_options){.seed = 0}, &error), 0);
    put(out, &crc, (rad_flow_record){.type = RAD_RECORD_RESUMED}, &sequence);
    for (uint32_t i = 0; i < 2; i++) {
        static const char *const keys[] = {"0#1", "0#2"}, *const values[] = {"4", "5"};
        bool used;
        rad__flow_case_run(c, 1000);
        rad_flow_record started = {.type = RAD_RECORD_STARTED, .key = keys[i], .attempt = 1};
        if (i == 0) put(out, &crc, started, &sequence);
        if (i == 1) put(out, &crc, (rad_flow_record){.type = RAD_RECORD_DOUBT}, &sequence);
        rad_flow_write write = {0, values[i], 1};
        rad_flow_record r = {.type = RAD_RECORD_INPUT,
                             .step = rad__flow_case_steps(c),
                             .digest = rad__flow_case_digest(c),
                             .input = {.kind = RAD_INPUT_RESULT,
                                       .key = keys[i],
                                       .attempt = 1,
                                       .ok = true,
                                       .writes = &write,
                                       .write_count = 1}};
        rad_flow_record said = r;
        rad_flow_write other = {0, "6", 1};
        if (i == 0 && lie == FAR_STEP) said.step = 1000;
        if (i == 0 && lie == OTHER_DIGEST) said.digest.low ^= 1;
        if (i == 0 && lie == UNKNOWN_KEY) said.input.key = "0#9";
        if (i == 0 && lie == OTHER_VALUE) said.input.writes = &other;
        put(out, &crc, said, &sequence);
        assert_int_equal(rad__flow_case_feed(c, &r.input, &used, &error), 0);
    }
    assert_int_equal(rad__flow_case_run(c, 1000), RAD_CASE_DONE);
    rad_flow_record end = {.type = RAD_RECORD_END,
                           .step = rad__flow_case_steps(c) + (lie == END_FAR ? 1000 : 0),
                           .digest = rad__flow_case_digest(c),
                           .state = lie == END_STATE ? RAD_CASE_FAILED : RAD_CASE_DONE};
    if (lie == END_LOW) end.digest.low++;
    if (lie == END_HIGH) end.digest.high++;
    if (lie != NO_END) put(out, &crc, end, &sequence);
    if (lie == LAST_IS_TORN) out->size -= 3;
    if (lie == MORE_BEHIND) rad__bytes_put(out, "\5\0\0", 3);
    rad__flow_case_close(c);
    assert_false(out->failed);
}

static rad_flow_program *read_flow(const char *text)
{
    rad_flow_program *p;
    rad_error error = {0};
    if (rad__flow_program_read(&p, "t.flow", text, strlen(text), NULL, &error) != 0) fail_msg("%s", error.text);
    return p;
}

/* Whatever the quantum, and whether or not it is told in words. */
static void differences_are_told(void **state)
{
    (void)state;
    rad_flow_program *p = read_flow(FLOW);
    for (uint32_t lie = NOTHING; lie < LIES; lie++) {
        for (uint32_t i = 0; i < 6; i++) {
            static const uint64_t quanta[] = {0, 1, 200};
            rad_bytes bytes = {0};
            rad_flow_journal j;
            rad_flow_rerun r;
            rad_flow_history h;
            rad_error error = {0};
            assert_true(rad__flow_history_open(&h, p, true));
            write_journal(p, &bytes, lie);
            assert_int_equal(rad__flow_journal_open(&j, "j", bytes.data, bytes.size, &error), 0);
            rad_flow_history *told = i < 3 ? &h : NULL;
            assert_int_equal(rad__flow_replay_journal(&r, p, &j, told, quanta[i % 3], &error), 0);
            assert_int_equal(r.as_recorded, REASONS[lie] == NULL);
            if (REASONS[lie] != NULL) assert_string_equal(r.reason, REASONS[lie]);
            bool has_end = r.as_recorded && lie != NO_END && lie != LAST_IS_TORN;
            if (r.as_recorded) {
                assert_int_equal(r.inputs, 2);
                assert_int_equal(r.ended, has_end);
                assert_int_equal(r.c->state, RAD_CASE_DONE);
                assert_int_equal(r.c->ask_count, 0); /* nothing is to be run */
            }
            if (i < 3 && r.as_recorded) { /* no step is missing */
                uint32_t lines = 0;
                for (uint32_t k = 0; k < h.text.size; k++) lines += h.text.data[k] == '\n';
                assert_int_equal(lines, rad__flow_case_steps(r.c) + 2);
            }
            rad__flow_history_free(&h);
            rad__flow_case_close(r.c);
            rad__bytes_free(&bytes);
        }
    }
    rad__flow_program_free(p);
}

/* Of another text, or damaged: refused, and there is no case. */
static void journals_that_cannot_be_replayed(void **state)
{
    (void)state;
    rad_flow_program *p = read_flow(FLOW), *other = read_flow("flow f { fail }");
    for (uint32_t i = 0; i < 2; i++) {
        rad_bytes bytes = {0};
        rad_flow_journal j;
        rad_flow_rerun r;
        rad_error error = {0};
        write_journal(p, &bytes, NOTHING);
        if (i == 1) bytes.data[bytes.size - 40] ^= 1;
        assert_int_equal(rad__flow_journal_open(&j, "j", bytes.data, bytes.size, &error), 0);
        assert_int_equal(rad__flow_replay_journal(&r, i == 0 ? other : p, &j, NULL, 0, &error), RAD_EINPUT);
        assert_non_null(strstr(error.text, i == 0 ? "j: begun with another text of the flow" : "j: damaged"));
        assert_null(r.c);
        rad__bytes_free(&bytes);
    }
    rad__flow_program_free(p);
    rad__flow_program_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(differences_are_told),
        cmocka_unit_test(journals_that_cannot_be_replayed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
