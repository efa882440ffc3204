/* test_log.c — records of a log, and the strict replay: what was recorded comes back, and whatever differs
 * is told in exactly these words. Files are tested in test_log_file.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/prng.h"
#include "core/log.h"
#include "loom.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Blocks in memory ------------------------------------------------------------------------------- */

typedef struct tape {
    uint8_t *blocks[4096];
    uint32_t sizes[4096];
    uint32_t count, next;
    uint64_t bytes;
} tape;

static int tape_emit(void *context, const uint8_t *block, uint32_t size, rad_error *error)
{
    tape *t = context;
    (void)error;
    assert_true(size > 0 && size <= RAD_LOG_BLOCK_MAX);
    assert_true(t->count < 4096);
    t->blocks[t->count] = malloc(size);
    memcpy(t->blocks[t->count], block, size);
    t->sizes[t->count++] = size;
    t->bytes += size;
    return 0;
}

static int tape_refill(void *context, const uint8_t **block, uint32_t *size, rad_error *error)
{
    tape *t = context;
    (void)error;
    if (t->next == t->count) return 0;
    *block = t->blocks[t->next];
    *size = t->sizes[t->next++];
    return 1;
}

static void tape_free(tape *t)
{
    for (uint32_t i = 0; i < t->count; i++) free(t->blocks[i]);
    *t = (tape){0};
}

static int twist_off(void **state)
{
    (void)state;
    loom_twist = LOOM_STRAIGHT;
    loom_twist_at = 0;
    rad__alloc_fail_at(0);
    return 0;
}

/* ---- Record and replay ------------------------------------------------------------------------------ */

typedef struct seen {
    enum rad_outcome outcome;
    rad_digest digest;
    uint64_t steps, decisions;
    uint64_t set_roll;
} seen;

static seen see(const rad_kernel *k)
{
    return (seen){k->outcome, k->trace.digest, k->step, k->decisions, k->set_roll};
}

static int record(tape *t, const rad_target *target, const char *policy, uint64_t seed, seen *out, rad_error *error)
{
    loom l;
    rad_policy *p = NULL;
    rad_log_writer *w = NULL;
    int code = loom_open(&l, target, error);
    if (code != 0) return code;
    code = rad__policy_create(&p, policy, error);
    if (code == 0) code = rad__log_writer_open(&w, t, tape_emit, error);
    if (code == 0) {
        enum rad_outcome outcome = loom_run(&l, p, seed, rad__log_writer_observer(w));
        *out = see(l.kernel);
        if (outcome == RAD_OUTCOME_ERROR)
            code = rad__error(error, l.kernel->error.code, "%s", l.kernel->error.text);
        else
            code = rad__log_writer_finish(w, l.kernel, error);
    }
    rad__log_writer_close(w);
    rad__policy_destroy(p);
    loom_close(&l);
    return code;
}

/* The outcome; `text` gets the kernel's error and `report` the full words, when not NULL. */
static enum rad_outcome replay(tape *t, const rad_target *target, seen *out, rad_error *text, char *report,
                               size_t report_size)
{
    loom l;
    rad_log_reader *r = NULL;
    rad_policy *p = NULL;
    t->next = 0;
    enum rad_outcome outcome = RAD_OUTCOME_ERROR;
    if (loom_open(&l, target, text) != 0) return outcome;
    if (rad__log_reader_open(&r, "tape", t, tape_refill, text) == 0 && rad__policy_replay(&p, r, text) == 0) {
        outcome = loom_run(&l, p, 0, NULL);
        *out = see(l.kernel);
        if (l.kernel->error.code) *text = l.kernel->error;
        if (report) snprintf(report, report_size, "%s", rad__replay_report(p));
    }
    rad__policy_destroy(p);
    rad__log_reader_close(r);
    loom_close(&l);
    return outcome;
}

static void comes_back(const rad_target *target, const char *policy, uint64_t seed, bool *failed)
{
    tape t = {0};
    seen was, is;
    rad_error error = {0};
    assert_int_equal(record(&t, target, policy, seed, &was, &error), 0);
    enum rad_outcome outcome = replay(&t, target, &is, &error, NULL, 0);
    if (outcome != was.outcome) print_error("%s\n", error.text);
    assert_int_equal(outcome, was.outcome);
    assert_true(rad__digest_equal(was.digest, is.digest));
    assert_int_equal(was.steps, is.steps);
    assert_int_equal(was.decisions, is.decisions);
    assert_int_equal(was.set_roll, is.set_roll);
    *failed = was.outcome == RAD_OUTCOME_FAILED;
    tape_free(&t);
}

static void test_replay_equals_record(void **state)
{
    (void)state;
    uint32_t failures = 0, passes = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        rad_target t = loom_target(2 + (int64_t)(seed % 9), 1 + (int64_t)(seed % 13), seed % 4 != 0);
        bool failed;
        comes_back(&t, seed % 3 ? "random" : "pct:3", seed, &failed);
        failures += failed;
        passes += !failed;
    }
    assert_true(failures > 20); /* deadlocks and finished runs are both covered */
    assert_true(passes > 20);
}

static void test_replay_of_many_actors(void **state)
{
    (void)state;
    bool failed;
    rad_target t = loom_target(20000, 2, false); /* the first set is longer than one record */
    comes_back(&t, "random", 5, &failed);
    t = loom_target(3000, 6, true);
    comes_back(&t, "random", 6, &failed);
}

static void test_record_is_compact(void **state)
{
    (void)state;
    tape t = {0};
    seen was;
    rad_error error = {0};
    rad_target target = loom_target(10, 20000, false);
    assert_int_equal(record(&t, &target, "random", 1, &was, &error), 0);
    assert_true(was.decisions > 190000);
    assert_true(t.bytes < was.decisions * 3 + 1000); /* first byte, site, chosen */
    assert_true(t.count >= 8);                       /* blocks went out on the way */
    tape_free(&t);
}

static void test_only_net_changes_are_written(void **state)
{
    (void)state;
    tape t = {0};
    seen was;
    rad_error error = {0};
    rad_log_reader *r;
    rad_log_record record_read;
    rad_target target = loom_target(3, 4, false);
    assert_int_equal(record(&t, &target, "first", 0, &was, &error), 0);
    assert_int_equal(rad__log_reader_open(&r, "tape", &t, tape_refill, &error), 0);
    uint32_t defined = 0, decisions = 0, changes = 0;
    while (rad__log_next(r, &record_read, &error) == 1) {
        defined += record_read.what == RAD_LOG_DEFINE;
        if (record_read.what != RAD_LOG_DECISION) continue;
        assert_int_equal(record_read.sequence, decisions++);
        changes += record_read.removed_count + record_read.added_count;
    }
    assert_int_equal(error.code, 0);
    /* Two steps of each worker, each time a new action for an old one; then the new ones in turn, of which
     * the last runs alone. What is taken away and given back within a step does not appear. */
    assert_int_equal(decisions, 10);
    assert_int_equal(defined, 6);
    assert_int_equal(changes, 3 + 2 + 2 + 2 + 1);
    assert_int_equal(rad__log_next(r, &record_read, &error), 0);
    rad__log_reader_close(r);
    tape_free(&t);
}

/* ---- Divergence: exact words ------------------------------------------------------------------------ */

/* Records straight, replays twisted. */
static void expect_divergence(const rad_target *target, uint64_t seed, enum loom_twist twist, uint64_t at,
                              const char *words)
{
    tape t = {0};
    seen was, is;
    rad_error error = {0};
    char report[4096];
    assert_int_equal(record(&t, target, "random", seed, &was, &error), 0);
    loom_twist = twist;
    loom_twist_at = at;
    enum rad_outcome outcome = replay(&t, target, &is, &error, report, sizeof report);
    loom_twist = LOOM_STRAIGHT;
    assert_string_equal(report, words);
    assert_int_equal(outcome, RAD_OUTCOME_DIVERGED);
    assert_int_equal(error.code, RAD_EINPUT);
    assert_int_equal(strncmp(error.text, words, sizeof error.text - 1), 0);
    tape_free(&t);
}

static void test_divergence_of_the_set(void **state)
{
    (void)state;
    rad_target t = loom_target(3, 6, false);
    expect_divergence(&t, 1, LOOM_WITHOUT_LAST, 0,
                      "decision 0 at step 0: difference {-worker 2 go} (- in the log only, + in this "
                      "run only); expected {worker 0 go, worker 1 go, worker 2 go}, actual {worker 0 "
                      "go, worker 1 go}");
}

static void test_divergence_of_long_sets(void **state)
{
    (void)state;
    rad_target t = loom_target(30, 2, false);
    expect_divergence(&t, 1, LOOM_WITHOUT_LAST, 0,
                      "decision 0 at step 0: difference {-worker 16 go, -worker 17 go, -worker 18 go, -worker 19 "
                      "go, "
                      "-worker 20 go, -worker 21 go, -worker 22 go, -worker 23 go, -worker 24 go, -worker 25 go, "
                      "-worker 26 go, -worker 27 go, -worker 28 go, -worker 29 go} (- in the log only, + in this "
                      "run "
                      "only); expected {worker 0 go, worker 1 go, worker 2 go, worker 3 go, worker 4 go, worker "
                      "5 go, "
                      "worker 6 go, worker 7 go, worker 8 go, worker 9 go, worker 10 go, worker 11 go, … 18 "
                      "more}, "
                      "actual {worker 0 go, worker 1 go, worker 2 go, worker 3 go, worker 4 go, worker 5 go, "
                      "worker "
                      "6 go, worker 7 go, worker 8 go, worker 9 go, worker 10 go, worker 11 go, … 4 more}");
}

static void test_divergence_of_an_added_action(void **state)
{
    (void)state;
    rad_target t = loom_target(2, 1, false); /* one decision; then the other runs alone */
    expect_divergence(&t, 1, LOOM_EXTRA_ROUND, 0,
                      "decision 1 at step 1: the log has ended: it has 1 decisions, this run asks "
                      "for a choice of kind action among 2 at site 1 (finish)");
}

static void test_divergence_of_a_definition(void **state)
{
    (void)state;
    rad_target t = loom_target(2, 2, false);
    expect_divergence(&t, 3, LOOM_OTHER_ARGUMENT, 0,
                      "decision 1 at step 1: action 2: expected {kind 2, actor 1, object 0, argument "
                      "7}, actual {kind 2, actor 1, object 0, argument 99}");
}

static void test_divergence_of_a_pick(void **state)
{
    (void)state;
    rad_target t = loom_target(2, 3, true);
    expect_divergence(&t, 3, LOOM_PICK_KIND, 0,
                      "decision 1 at step 0: expected a choice of kind value among 3 at site 2 (choice), "
                      "actual a choice of kind wake among 3 at site 2 (choice)");
    expect_divergence(&t, 3, LOOM_PICK_SITE, 0,
                      "decision 1 at step 0: expected a choice of kind value among 3 at site 2 (choice), "
                      "actual a choice of kind value among 3 at site 3 (other)");
    expect_divergence(&t, 3, LOOM_PICK_COUNT, 0,
                      "decision 1 at step 0: expected a choice of kind value among 3 at site 2 (choice), "
                      "actual a choice of kind value among 4 at site 2 (choice)");
    expect_divergence(&t, 3, LOOM_NO_PICK, 0,
                      "decision 1 at step 1: expected a choice of kind value among 3 at site 2 (choice), "
                      "actual a choice of kind action among 2 at site 0 (go)");
}

static void test_log_not_used_up(void **state)
{
    (void)state;
    rad_target t = loom_target(3, 6, false);
    expect_divergence(&t, 1, LOOM_ENDS, 4,
                      "the log is not used up: this run finished after 5 steps and 5 decisions, the "
                      "log continues with a choice of kind action among 3 at site 0 (go)");
    expect_divergence(&t, 1, LOOM_FAILS, 4,
                      "the log is not used up: this run failed after 5 steps and 5 decisions, the log "
                      "continues with a choice of kind action among 3 at site 0 (go)");
}

static void test_other_ending(void **state)
{
    (void)state;
    rad_target t = loom_target(2, 1, false);
    expect_divergence(&t, 1, LOOM_FAILS, 1,
                      "after the last decision: expected a run that finished after 2 steps, actual one that "
                      "failed after 2 steps");
}

static void test_other_trace(void **state)
{
    (void)state;
    rad_target target = loom_target(2, 1, false);
    tape t = {0};
    seen was, is;
    rad_error error = {0};
    char words[256], expected[RAD_DIGEST_TEXT], actual[RAD_DIGEST_TEXT];
    assert_int_equal(record(&t, &target, "random", 1, &was, &error), 0);
    loom_twist = LOOM_OTHER_VALUE;
    loom_twist_at = 1;
    assert_int_equal(replay(&t, &target, &is, &error, NULL, 0), RAD_OUTCOME_DIVERGED);
    rad__digest_text(was.digest, expected);
    rad__digest_text(is.digest, actual);
    snprintf(words, sizeof words, "all decisions agree, the trace does not: expected hash %s, actual %s", expected,
             actual);
    assert_string_equal(error.text, words);
    tape_free(&t);
}

static void test_replay_needs_a_log(void **state)
{
    (void)state;
    rad_error error = {0};
    rad_policy *p;
    assert_int_equal(rad__replay_class.create(&p, NULL, &error), RAD_EINPUT);
    assert_null(p);
    assert_string_equal(error.text, "the policy replay needs a log: raddle replay FILE");
}

/* ---- Bad records: exact words ----------------------------------------------------------------------- */

/* Records by hand. Every block begins with two numbers: its first record, its first decision. */
#define BLOCK_HEAD      0, 0
#define DEFINE          2, 1, 0, 0, 0 /* kind 1, the same actor, no object, no argument */
#define DECIDE(head)    (head), 1     /* site 0; chosen and changes follow */
#define PICK(count, at) 1 | 3 << 2, 1, count, at
#define END_HEAD        3 | 1 << 2
#define DIGEST          1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16

static void expect_bad(const uint8_t *bytes, uint32_t size, const char *words)
{
    /* In a block of its own, so that the address sanitizer sees what is read beyond it. */
    tape t = {.count = 1, .sizes = {size}};
    t.blocks[0] = malloc(size);
    memcpy(t.blocks[0], bytes, size);
    rad_log_reader *r;
    rad_log_record one;
    rad_error error = {0};
    assert_int_equal(rad__log_reader_open(&r, "x.log", &t, tape_refill, &error), 0);
    int got;
    while ((got = rad__log_next(r, &one, &error)) == 1) {
    }
    assert_string_equal(error.text, words);
    assert_int_equal(got, words[0] ? RAD_EINPUT : 0);
    if (got < 0) {
        rad_error again = {0};
        assert_int_equal(rad__log_next(r, &one, &again), RAD_EINPUT);
        assert_string_equal(again.text, "x.log: reading failed before");
    }
    rad__log_reader_close(r);
    tape_free(&t);
}

#define EXPECT_BAD(words, ...)                                                                                         \
    do {                                                                                                               \
        static const uint8_t bytes[] = {__VA_ARGS__};                                                                  \
        expect_bad(bytes, sizeof bytes, words);                                                                        \
    } while (0)

static void test_good_records(void **state)
{
    (void)state;
    EXPECT_BAD("", BLOCK_HEAD, END_HEAD, 0, 5, 0, DIGEST);
    EXPECT_BAD("", BLOCK_HEAD, DEFINE, DEFINE, DECIDE(0 | 2 << 5), 1, 0, 0, PICK(3, 2), END_HEAD, 1, 2, 2, DIGEST);
    /* counts that follow: 0 removed would be short, but long is legal */
    EXPECT_BAD("", BLOCK_HEAD, DEFINE, DEFINE, 0 | 7 << 2 | 7 << 5, 0, 2, 0, 1, 0, 0, END_HEAD, 0, 1, 1, DIGEST);
    EXPECT_BAD("", BLOCK_HEAD, DEFINE, DEFINE, 3, 0, 2, 0, 0, DECIDE(0), 0, END_HEAD, 0, 1, 1, DIGEST);
}

static void test_bad_structure(void **state)
{
    (void)state;
    EXPECT_BAD("x.log: record 0 (byte 0): expected a number, found the end of the block", 0);
    EXPECT_BAD("x.log: record 0 (byte 0): expected a number, found the end of the block", 0x80, 0x80);
    EXPECT_BAD("x.log: record 0 (byte 0): expected a record, found the end of the block", BLOCK_HEAD);
    EXPECT_BAD("x.log: record 0 (byte 0): sequence gap: expected decision 0, found 7", 0, 7, DEFINE);
    EXPECT_BAD("x.log: record 0 (byte 0): sequence gap: expected record 0, found 9", 9, 0, DEFINE);
    EXPECT_BAD("x.log: record 1 (byte 7): the log ends without its end record", BLOCK_HEAD, DEFINE);
    EXPECT_BAD("x.log: record 1 (byte 7): unknown record type 255", BLOCK_HEAD, DEFINE, 255);
    EXPECT_BAD("x.log: record 0 (byte 2): unknown record type 6", BLOCK_HEAD, 6, 1, 0, 0, 0);
    EXPECT_BAD("x.log: record 1 (byte 22): data after the end record", BLOCK_HEAD, END_HEAD, 0, 5, 0, DIGEST, 0);
    EXPECT_BAD("x.log: record 0 (byte 2): the end record counts 3 decisions, found 0", BLOCK_HEAD, END_HEAD, 0, 5, 3,
               DIGEST);
    EXPECT_BAD("x.log: record 0 (byte 2): unknown result 3", BLOCK_HEAD, END_HEAD, 3, 5, 0, DIGEST);
    EXPECT_BAD("x.log: record 0 (byte 2): expected a digest, found the end of the block", BLOCK_HEAD, END_HEAD, 0, 5, 0,
               1, 2, 3);
    EXPECT_BAD("x.log: record 0 (byte 2): expected a number, found one that is too large", BLOCK_HEAD, 2, 0xff, 0xff,
               0xff, 0xff, 0x7f, 0, 0, 0);
}

static void test_bad_decisions(void **state)
{
    (void)state;
    EXPECT_BAD("x.log: record 2 (byte 12): chosen action 1 is not in the set", BLOCK_HEAD, DEFINE, DEFINE,
               DECIDE(0 | 1 << 5), 1, 0);
    EXPECT_BAD("x.log: record 2 (byte 12): chosen action 9 out of range: 2 are defined", BLOCK_HEAD, DEFINE, DEFINE,
               DECIDE(0 | 2 << 5), 9, 0, 0);
    EXPECT_BAD("x.log: record 2 (byte 12): a decision needs a set of two or more, found 1", BLOCK_HEAD, DEFINE, DEFINE,
               DECIDE(0 | 1 << 5), 0, 0);
    EXPECT_BAD("x.log: record 2 (byte 12): action 5 out of range: 2 are defined", BLOCK_HEAD, DEFINE, DEFINE,
               DECIDE(0 | 2 << 5), 0, 0, 4);
    /* distances that wrap around: action 1, and then what would be 0 again */
    EXPECT_BAD("x.log: record 2 (byte 12): action 18446744073709551615 out of range: 2 are defined", BLOCK_HEAD, DEFINE,
               DEFINE, DECIDE(0 | 2 << 5), 0, 1, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1);
    EXPECT_BAD("x.log: record 2 (byte 12): removes action 1, which is not in the set", BLOCK_HEAD, DEFINE, DEFINE,
               DECIDE(1 << 2), 0, 1);
    EXPECT_BAD("x.log: record 3 (byte 17): adds action 1, which is in the set already", BLOCK_HEAD, DEFINE, DEFINE,
               DECIDE(0 | 2 << 5), 0, 0, 0, DECIDE(0 | 1 << 5), 0, 1);
    EXPECT_BAD("x.log: record 0 (byte 2): more than 4096 changes in one record", BLOCK_HEAD, 3, 0xff, 0x1f, 2);
    EXPECT_BAD("x.log: record 0 (byte 2): index 3 out of range: 3 values", BLOCK_HEAD, PICK(3, 3));
    EXPECT_BAD("x.log: record 0 (byte 2): a choice needs two or more values, found 1", BLOCK_HEAD, PICK(1, 0));
    EXPECT_BAD("x.log: record 0 (byte 2): unknown kind of choice 63", BLOCK_HEAD, 1 | 63 << 2, 1, 2, 0);
    EXPECT_BAD("x.log: record 0 (byte 2): unknown kind of choice 0", BLOCK_HEAD, 1, 1, 2, 0);
}

static void test_second_block_out_of_sequence(void **state)
{
    (void)state;
    static uint8_t first[] = {BLOCK_HEAD, PICK(3, 1), PICK(2, 0)}, second[] = {2, 1, PICK(2, 0)};
    tape t = {.blocks = {first, second}, .sizes = {sizeof first, sizeof second}, .count = 2};
    rad_log_reader *r;
    rad_log_record one;
    rad_error error = {0};
    assert_int_equal(rad__log_reader_open(&r, "x.log", &t, tape_refill, &error), 0);
    assert_int_equal(rad__log_next(r, &one, &error), 1);
    assert_int_equal(rad__log_next(r, &one, &error), 1);
    assert_int_equal(rad__log_next(r, &one, &error), RAD_EINPUT);
    assert_string_equal(error.text, "x.log: record 2 (byte 10): sequence gap: expected decision 2, found 1");
    rad__log_reader_close(r);
}

/* ---- Limits ----------------------------------------------------------------------------------------- */

typedef struct picks {
    uint64_t given;
    uint8_t block[RAD_LOG_BLOCK_MAX];
} picks;

/* An endless log of picks. */
static int picks_refill(void *context, const uint8_t **block, uint32_t *size, rad_error *error)
{
    static const uint8_t one[] = {PICK(2, 1)};
    picks *p = context;
    (void)error;
    rad_bytes b = {0};
    rad__bytes_put_varint(&b, p->given);
    rad__bytes_put_varint(&b, p->given);
    memcpy(p->block, b.data, b.size);
    *size = b.size;
    rad__bytes_free(&b);
    for (; *size + sizeof one <= sizeof p->block; p->given++) {
        memcpy(p->block + *size, one, sizeof one);
        *size += (uint32_t)sizeof one;
    }
    *block = p->block;
    return 1;
}

static void test_too_many_decisions(void **state)
{
    (void)state;
    picks *p = calloc(1, sizeof *p);
    rad_log_reader *r;
    rad_log_record one;
    rad_error error = {0};
    assert_int_equal(rad__log_reader_open(&r, "x.log", p, picks_refill, &error), 0);
    uint64_t count = 0;
    while (rad__log_next(r, &one, &error) == 1) count++;
    assert_int_equal(count, 10000000);
    assert_string_equal(error.text, "x.log: record 10000000 (byte 40004624): more than 10000000 decisions");
    rad__log_reader_close(r);
    free(p);
}

static int emit_refuses(void *context, const uint8_t *block, uint32_t size, rad_error *error)
{
    (void)context;
    (void)block;
    (void)size;
    return rad__error(error, RAD_ELIMIT, "no more");
}

static void test_emit_error_ends_the_run(void **state)
{
    (void)state;
    loom l;
    rad_error error = {0};
    rad_policy *p;
    rad_log_writer *w;
    rad_target t = loom_target(4, 50000, false);
    assert_int_equal(loom_open(&l, &t, &error), 0);
    assert_int_equal(rad__policy_create(&p, "random", &error), 0);
    assert_int_equal(rad__log_writer_open(&w, NULL, emit_refuses, &error), 0);
    assert_int_equal(loom_run(&l, p, 1, rad__log_writer_observer(w)), RAD_OUTCOME_ERROR);
    assert_int_equal(l.kernel->error.code, RAD_ELIMIT);
    assert_string_equal(l.kernel->error.text, "no more");
    assert_true(l.kernel->step < 40000); /* at the first block, not at the end */
    assert_int_equal(rad__log_writer_finish(w, l.kernel, &error), RAD_ELIMIT);
    rad__log_writer_close(w);
    rad__policy_destroy(p);
    loom_close(&l);
}

/* ---- Trouble ---------------------------------------------------------------------------------------- */

static void test_every_allocation_fails(void **state)
{
    (void)state;
    rad_target target = loom_target(40, 6, true);
    seen was, is;
    int code = RAD_ENOMEM;
    tape t = {0};
    for (uint64_t n = 1; code != 0; n++) {
        rad_error error = {0};
        tape_free(&t);
        rad__alloc_fail_at(n);
        code = record(&t, &target, "random", 9, &was, &error);
        rad__alloc_fail_at(0);
        assert_true(code == 0 || (code == RAD_ENOMEM && error.code == RAD_ENOMEM));
        assert_true(n < 1000);
    }
    enum rad_outcome outcome = RAD_OUTCOME_ERROR;
    for (uint64_t n = 1; outcome == RAD_OUTCOME_ERROR; n++) {
        rad_error error = {0};
        rad__alloc_fail_at(n);
        outcome = replay(&t, &target, &is, &error, NULL, 0);
        rad__alloc_fail_at(0);
        assert_int_equal(error.code, outcome == RAD_OUTCOME_ERROR ? RAD_ENOMEM : 0);
    }
    assert_int_equal(outcome, was.outcome);
    tape_free(&t);
}

static void test_divergence_without_memory(void **state)
{
    (void)state;
    rad_target target = loom_target(30, 2, false);
    tape t = {0};
    seen was, is;
    rad_error error = {0};
    assert_int_equal(record(&t, &target, "random", 1, &was, &error), 0);
    loom_twist = LOOM_WITHOUT_LAST;
    enum rad_outcome outcome = RAD_OUTCOME_ERROR;
    for (uint64_t n = 1; outcome == RAD_OUTCOME_ERROR; n++) {
        error = (rad_error){0};
        rad__alloc_fail_at(n);
        outcome = replay(&t, &target, &is, &error, NULL, 0);
        rad__alloc_fail_at(0);
        assert_int_equal(error.code, outcome == RAD_OUTCOME_ERROR ? RAD_ENOMEM : RAD_EINPUT);
    }
    assert_int_equal(outcome, RAD_OUTCOME_DIVERGED);
    tape_free(&t);
}

/* Damaged logs are refused or replay to something; nothing else happens. */
static void test_damaged_logs_are_harmless(void **state)
{
    (void)state;
    rad_target target = loom_target(5, 6, true);
    tape t = {0};
    seen was, is;
    rad_error error = {0};
    rad_prng prng = rad__prng(1, RAD_STREAM_TEST, 0);
    assert_int_equal(record(&t, &target, "random", 2, &was, &error), 0);
    assert_int_equal(t.count, 1);
    uint32_t size = t.sizes[0], noticed = 0;
    for (int i = 0; i < 3000; i++) {
        uint32_t at = (uint32_t)rad__prng_below(&prng, size);
        uint8_t old = t.blocks[0][at];
        t.blocks[0][at] = (uint8_t)rad__prng_below(&prng, 256);
        t.sizes[0] = i % 3 ? size : at;
        error = (rad_error){0};
        enum rad_outcome outcome = replay(&t, &target, &is, &error, NULL, 0);
        bool same = t.blocks[0][at] == old && t.sizes[0] == size;
        if (same) assert_int_equal(outcome, was.outcome);
        noticed += error.code != 0;
        t.blocks[0][at] = old;
    }
    assert_true(noticed > 2900); /* nearly every byte means something */
    t.sizes[0] = size;
    tape_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_replay_equals_record, twist_off),
        cmocka_unit_test_setup(test_replay_of_many_actors, twist_off),
        cmocka_unit_test_setup(test_record_is_compact, twist_off),
        cmocka_unit_test_setup(test_only_net_changes_are_written, twist_off),
        cmocka_unit_test_setup(test_divergence_of_the_set, twist_off),
        cmocka_unit_test_setup(test_divergence_of_long_sets, twist_off),
        cmocka_unit_test_setup(test_divergence_of_an_added_action, twist_off),
        cmocka_unit_test_setup(test_divergence_of_a_definition, twist_off),
        cmocka_unit_test_setup(test_divergence_of_a_pick, twist_off),
        cmocka_unit_test_setup(test_log_not_used_up, twist_off),
        cmocka_unit_test_setup(test_other_ending, twist_off),
        cmocka_unit_test_setup(test_other_trace, twist_off),
        cmocka_unit_test(test_replay_needs_a_log),
        cmocka_unit_test(test_good_records),
        cmocka_unit_test(test_bad_structure),
        cmocka_unit_test(test_bad_decisions),
        cmocka_unit_test(test_second_block_out_of_sequence),
        cmocka_unit_test(test_too_many_decisions),
        cmocka_unit_test_setup(test_emit_error_ends_the_run, twist_off),
        cmocka_unit_test_setup(test_every_allocation_fails, twist_off),
        cmocka_unit_test_setup(test_divergence_without_memory, twist_off),
        cmocka_unit_test_setup(test_damaged_logs_are_harmless, twist_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
