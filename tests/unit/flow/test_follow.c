/* test_follow.c — a recorded case on an edited flow: it fits, or the first step that does not is named, with what
 * could go on then and what can go on now. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/prng.h"
#include "flow/journal/follow.h"
#include "flow/machine/vm.h"
#include "generate.h"
#include "storm_support.h"

#include <stdio.h>
#include <string.h>

static rad_flow_program *read_flow(const char *text)
{
    rad_flow_program *p;
    rad_error error = {0};
    if (rad__flow_program_read(&p, "t.flow", text, strlen(text), NULL, &error) != 0)
        fail_msg("%s\n%s", error.text, text);
    return p;
}

/* ---- A journal -------------------------------------------------------------------------------------------- */

enum { ASKS = 4096 };

typedef struct recorder {
    const rad_flow_program *program;
    rad_flow_case *c;
    rad_bytes bytes;
    rad_crc32 crc;
    uint64_t sequence;
    rad_prng prng;
    bool fails; /* tasks may */
    rad_flow_ask asks[ASKS];
    uint32_t ask_count;
} recorder;

static void put(recorder *r, rad_flow_record record)
{
    record.sequence = ++r->sequence;
    if (record.id == NULL) record.id = "";
    if (record.text == NULL) record.text = "";
    rad__flow_journal_put(&r->bytes, &r->crc, &record);
}

static void give(recorder *r, rad_flow_input input)
{
    bool used;
    rad_error error = {0};
    put(r, (rad_flow_record){.type = RAD_RECORD_INPUT,
                             .step = rad__flow_case_steps(r->c),
                             .digest = rad__flow_case_digest(r->c),
                             .input = input});
    if (rad__flow_case_feed(r->c, &input, &used, &error) != 0) fail_msg("%s", error.text);
}

static const char *some_value(recorder *r, uint32_t variable)
{
    static const char *const numbers[] = {"0", "1", "2", "7"}, *const texts[] = {"", "x", "x\ny"};
    switch (r->program->tree->variables[variable].type) {
    case RAD_FLOW_INT: return numbers[rad__prng_below(&r->prng, 4)];
    case RAD_FLOW_BOOL: return rad__prng_below(&r->prng, 2) ? "true" : "false";
    default: return r->fails ? texts[rad__prng_below(&r->prng, 3)] : texts[1];
    }
}

static void answer(recorder *r, rad_flow_ask ask)
{
    char key[RAD_FLOW_KEY_MAX];
    rad_flow_write writes[RAD_FLOW_VARIABLES_MAX];
    rad__flow_case_key(r->c, ask.token, ask.effect, key);
    if (ask.kind == RAD_ASK_TIMER) {
        give(r, (rad_flow_input){
                    .kind = RAD_INPUT_TIMER, .key = key, .attempt = ask.attempt, .alternative = ask.alternative});
        return;
    }
    const rad_flow_task *task = &r->program->tree->tasks[ask.task];
    rad_flow_input input = {.kind = RAD_INPUT_RESULT, .key = key, .attempt = ask.attempt};
    input.ok = !r->fails || rad__prng_below(&r->prng, 4) > 0;
    input.writes = writes;
    for (uint32_t i = 0; input.ok && i < task->writes.count; i++) {
        const char *text = some_value(r, task->writes.items[i]);
        writes[input.write_count++] = (rad_flow_write){task->writes.items[i], text, strlen(text)};
    }
    give(r, input);
}

static void take_asks(recorder *r)
{
    for (uint32_t i = 0; i < r->c->ask_count; i++) {
        const rad_flow_ask *ask = &r->c->asks[i];
        bool counts = ask->kind == RAD_ASK_START || ask->kind == RAD_ASK_TIMER;
        if (counts && r->ask_count < ASKS) r->asks[r->ask_count++] = *ask;
    }
    rad__flow_asks_taken(r->c);
}

/* Something that was asked for, or a signal. False: there is nothing that could be. */
static bool answer_one(recorder *r)
{
    const rad_flow_tree *tree = r->program->tree;
    uint32_t signals = tree->signal_count;
    if (r->ask_count == 0 && signals == 0) return false;
    uint32_t at = (uint32_t)rad__prng_below(&r->prng, r->ask_count + (signals > 0));
    if (at == r->ask_count) {
        uint32_t which = (uint32_t)rad__prng_below(&r->prng, signals);
        give(r, (rad_flow_input){.kind = RAD_INPUT_SIGNAL,
                                 .key = "",
                                 .name = rad__flow_name(&r->program->file, tree->signals[which]),
                                 .text = "1",
                                 .length = 1});
        return true;
    }
    rad_flow_ask ask = r->asks[at];
    r->asks[at] = r->asks[--r->ask_count];
    answer(r, ask);
    return true;
}

/* At most so many inputs; the journal has its end if the case has. */
static rad_bytes record(const rad_flow_program *p, const char *policy, uint64_t seed, bool fails, uint32_t inputs)
{
    static recorder r;
    rad_error error = {0};
    r = (recorder){.program = p, .prng = rad__prng(seed, (enum rad_stream)0, 0), .fails = fails};
    rad_flow_journal_header h = {.raddle = "0",
                                 .hash = p->hash,
                                 .flow = rad__flow_name(&p->file, p->tree->name),
                                 .case_id = "1",
                                 .policy = policy,
                                 .seed = seed};
    rad__crc32_open(&r.crc);
    rad__flow_journal_begin(&r.bytes, &r.crc, &h);
    rad_flow_case_options o = {.policy = policy, .seed = seed};
    assert_int_equal(rad__flow_case_open(&r.c, p, &o, &error), 0);
    for (uint32_t i = 0; i <= inputs; i++) {
        enum rad_flow_state state = rad__flow_case_run(r.c, 2000);
        take_asks(&r);
        if (state == RAD_CASE_BROKEN) break;
        if (state > RAD_CASE_WAITING) {
            put(&r, (rad_flow_record){.type = RAD_RECORD_END,
                                      .step = rad__flow_case_steps(r.c),
                                      .digest = rad__flow_case_digest(r.c),
                                      .state = state});
            break;
        }
        if (state == RAD_CASE_WAITING && (i == inputs || !answer_one(&r))) break;
    }
    rad__flow_case_close(r.c);
    assert_false(r.bytes.failed);
    return r.bytes;
}

static rad_flow_following follow(const rad_flow_program *leader, const char *text, const rad_bytes *journal)
{
    rad_flow_program *p = read_flow(text);
    rad_flow_following f;
    rad_error error = {0};
    if (rad__flow_follow(&f, leader, p, "j", journal->data, journal->size, &error) != 0) fail_msg("%s", error.text);
    rad__flow_program_free(p);
    return f;
}

/* ---- Edits ------------------------------------------------------------------------------------------------ */

#define TASKS "task a { run \"a\" } task b { run \"b\" capture x } task c { call \"c\" writes n }\n"
#define DATA  "data { n : int  x : text  q : bool merge and }\n"

typedef struct edit {
    const char *before, *after;     /* what is behind the tasks; `after` with other tasks begins with data */
    const char *step;               /* NULL: it fits */
    const char *recorded, *offered; /* a line of each */
} edit;

static const edit EDITS[] = {
    /* What was not come to, lines, and what a command does are no difference. */
    {"do a do b", "\n\n# more\ndo a\n\n do b", NULL, NULL, NULL},
    {"xor { when q { do a } else { do b } } par { do a } and { do c }",
     "xor { when q { do a do a par { do c } and { } } else { do b } } par { do a } and { do c }", NULL, NULL, NULL},
    {"run \"one\" run \"two\"", "\n run \"one\"\n\n run \"two\"", NULL, NULL, NULL},
    {"wait 1s do a", "wait 5s do a", NULL, NULL, NULL},
    {"many 3 as k { do a } do c", "many 3 as j { do a } do c", NULL, NULL, NULL},
    /* Branches that begin again while those before them are still there: each has its own counterpart. */
    {"xor { when q { } else { } } loop 3 { par { do a } and { do b } join none } do c",
     "xor { when q { do a do b } else { } } loop 3 { par { do a } and { do b } join none } do c", NULL, NULL, NULL},
    {"par { do a } and { } join none", "par { do a } and { } and { do c } join none", "the end of the execution, done",
     "nothing: the execution has ended, done", "0/1.2#1 do c (line 3)"},
    /* Tasks. */
    {"do a do b", "do b do a", "0#1 do a (line 3)", "0#1 do a (line 3)", "0#1 do b (line 3)"},
    {"do a do b", "do a do c do b", "0#2 do b (line 3)", "0#2 do b (line 3)", "0#2 do c (line 3)"},
    {"do a do b", "do a", "0#2 do b (line 3)", "0#2 do b (line 3)", "0 end of the flow (line 3)"},
    {"do a", "do a do b", "0 end of the flow (line 3)", "0 end of the flow (line 3)", "0#2 do b (line 3)"},
    {"run \"one\"", "run \"two\"", "0#1 run \"one\" (line 3)", "0#1 run \"one\" (line 3)", "0#1 run \"two\" (line 3)"},
    /* Branches. */
    {"par { do a } and { do b } do c", "par { do a } and { do c } do c", "0/1.1#1 do b (line 3)",
     "0/1.1#1 do b (line 3)", "0/1.1#1 do c (line 3)"},
    {"par { do a } and { do b } do c", "par { do a } and { do b } and { do c } do c", "0#1 do c (line 3)",
     "0#1 do c (line 3)", "0/1.2#1 do c (line 3)"},
    {"par { do a } and { do b } do c", "do a do b do c", "0 par (line 3)", "0 par (line 3)", "0#1 do a (line 3)"},
    {"xor { when n == 0 { do a } else { do b } }", "xor { when n == 1 { do a } else { do b } }", "0 xor (line 3)",
     "branch 1 (line 3)", "else"},
    {"xor { when n == 0 { do a } when n == 1 { do b } }", "xor { when n == 1 { do a } when n == 0 { do b } }",
     "0 xor (line 3)", "branch 1 (line 3)", "branch 2 (line 3)"},
    {"or { when n == 0 { do a } when n < 5 { do c } }", "or { when n == 0 { do a } when n > 5 { do c } }",
     "0 or (line 3)", "branch 2 (line 3)", "branch 1 (line 3)"},
    {"or { when n == 0 { do a } }", "or { when n == 0 { do a } when n < 5 { do c } }", "0 or (line 3)",
     "branch 1 (line 3)", "branch 2 (line 3)"},
    {"loop 2 { do a } do b", "loop 3 { do a } do b", "0#3 do b (line 3)", "0#3 do b (line 3)", "0#3 do a (line 3)"},
    {"many 3 { do a } do b", "many 4 { do a } do b", "0#1 do b (line 3)", "0#1 do b (line 3)", "0/1.3#1 do a (line 3)"},
    /* Values. */
    {"set n = 1 do a", "set n = 2 do a", "0 set n = 1 (line 3)", "0 set n = 1 (line 3)", "0 set n = 2 (line 3)"},
    {"set x = \"y\" do a", "set x = \"z\" do a", "0 set x = \"y\" (line 3)", "0 set x = \"y\" (line 3)",
     "0 set x = \"z\" (line 3)"},
    {"par { set n = 1 } and { } do a", "par { set n = 1 } and { } join none do a", "0#1 do a (line 3)", NULL, NULL},
    /* Names. */
    {"lock l { do a }", "lock m { do a }", "0 lock l (line 3)", "0 lock l (line 3)", "0 lock m (line 3)"},
    {"region r { do a }", "region s { do a }", "0 region r (line 3)", "0 region r (line 3)", "0 region s (line 3)"},
    {"reach m await m do a", "reach k await k do a", "0 reach m (line 3)", "0 reach m (line 3)", "0 reach k (line 3)"},
    /* Inputs. */
    {"wait signal go do a", "wait signal come do a", "signal go", "0#1 waits for signal go (line 3)",
     "0#1 waits for signal come (line 3)"},
    {"wait 1s do a", "wait signal go do a", "0#1 timer", "0#1 waits for timer 1s (line 3)",
     "0#1 waits for signal go (line 3)"},
    {"defer { on signal go { do a } on signal come { do b } }",
     "defer { on signal come { do b } on signal go { do c } }", "0#2 do ", "0#2 do ", NULL},
    /* Ends. */
    {"do a finish", "do a fail \"no\"", "0 finish (line 3)", "0 finish (line 3)", "0 fail \"no\" (line 3)"},
};

static bool has_line(const rad_flow_lines *l, const char *part)
{
    for (uint32_t i = 0; i < l->count; i++)
        if (strstr(l->items[i], part) != NULL) return true;
    return false;
}

static void check_edit(const edit *e, const rad_flow_following *f)
{
    const char *step = f->step.count > 0 ? f->step.items[0] : "(none)";
    bool right = f->fits == (e->step == NULL);
    if (!f->fits) {
        right = right && strstr(step, e->step) != NULL && f->reason.count == 1;
        right = right && (e->recorded == NULL || has_line(&f->recorded, e->recorded));
        right = right && (e->offered == NULL || has_line(&f->offered, e->offered));
        right = right && f->recorded.count > 0 && f->offered.count > 0;
    }
    if (right) return;
    for (uint32_t i = 0; i < f->recorded.count; i++) fprintf(stderr, "recorded: %s\n", f->recorded.items[i]);
    for (uint32_t i = 0; i < f->offered.count; i++) fprintf(stderr, "offered: %s\n", f->offered.items[i]);
    fail_msg("%s => %s: %s: %s", e->before, e->after, step, f->reason.count > 0 ? f->reason.items[0] : "");
}

static void edits_are_told(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < sizeof EDITS / sizeof *EDITS; i++) {
        char before[600], after[600];
        snprintf(before, sizeof before, "flow f { " DATA TASKS "%s }", EDITS[i].before);
        snprintf(after, sizeof after, "flow f { " DATA TASKS "%s }", EDITS[i].after);
        rad_flow_program *p = read_flow(before);
        rad_bytes journal = record(p, "first", 1, false, 100);
        rad_flow_following f = follow(p, after, &journal);
        check_edit(&EDITS[i], &f);
        rad__flow_following_free(&f);
        f = follow(p, before, &journal);
        assert_true(f.fits);
        assert_int_equal(f.record, 0);
        rad__flow_following_free(&f);
        rad__bytes_free(&journal);
        rad__flow_program_free(p);
    }
}

/* Where it was captured, and whether: a task that writes other data is another one as soon as somebody reads them. */
static void captures_are_told(void **state)
{
    (void)state;
    static const char before[] = "flow f { data { x : text } task t { run \"t\" capture x } task u "
                                 "{ run \"u\" } do t do u }";
    static const char *const after[] = {
        "flow f { data { y : text } task t { run \"t\" capture y } task u { run \"u\" } do t do u "
        "}",
        "flow f { data { x : text } task t { run \"t\" } task u { run \"u\" } do t do u }",
        "flow f { data { x : text = \"z\" } task t { run \"t\" capture x } task u { run \"u\" } do "
        "t do u }",
        "flow f { data { x : text  s : int } task t { run \"t\" capture x exit s } task u { run "
        "\"u\" }\n"
        "do t do u }",
        "flow f { data { more : int = 5  x : text } task t { run \"t\" capture x } task u { run "
        "\"u\" }\n"
        "do t do u }"};
    static const char *const steps[] = {NULL, "0#2 do u", "0#1 do t", "0#1 result of t", NULL};
    rad_flow_program *p = read_flow(before);
    rad_bytes journal = record(p, "first", 5, false, 100);
    for (uint32_t i = 0; i < sizeof after / sizeof *after; i++) {
        rad_flow_following f = follow(p, after[i], &journal);
        const char *step = f.step.count > 0 ? f.step.items[0] : "";
        if (f.fits != (steps[i] == NULL) || (steps[i] != NULL && strstr(step, steps[i]) == NULL))
            fail_msg("%s: %s %s", after[i], step, f.reason.count > 0 ? f.reason.items[0] : "");
        rad__flow_following_free(&f);
    }
    rad__bytes_free(&journal);
    rad__flow_program_free(p);
}

/* Variables are known by their names: in another order, or unread with another value, they are no difference. */
static void variables_go_by_name(void **state)
{
    (void)state;
    rad_flow_program *p = read_flow("flow f { data { n : int = 1  m : int  x : text }\n"
                                    "task c { call \"c\" reads x writes m, x }\n"
                                    "task r { run \"r\" reads x } do c do r do r }");
    rad_bytes journal = record(p, "first", 3, false, 100);
    rad_flow_following f = follow(p,
                                  "flow f { data { x : text  m : int  n : int = 9 }\n"
                                  "task c { call \"c\" reads x writes m, x }\n"
                                  "task r { run \"r\" reads x } do c do r do r }",
                                  &journal);
    if (!f.fits) fail_msg("%s: %s", f.step.items[0], f.reason.items[0]);
    rad__flow_following_free(&f);
    f = follow(p,
               "flow f { data { y : text  m : int  n : int = 1 }\n"
               "task c { call \"c\" reads y writes m }\n"
               "task r { run \"r\" reads y } do c do r do r }",
               &journal);
    assert_false(f.fits);
    assert_string_equal(f.step.items[0], "0#1 result of c");
    assert_string_equal(f.reason.items[0], "the flow wants other values from it than were recorded");
    rad__flow_following_free(&f);
    rad__bytes_free(&journal);
    rad__flow_program_free(p);
}

/* A case that has not ended goes on: what is behind where it stands may be anything. */
static void a_case_that_was_left(void **state)
{
    (void)state;
    rad_flow_program *p = read_flow("flow f { task a { run \"a\" } do a do a do a }");
    rad_bytes journal = record(p, "first", 1, false, 1);
    static const char *const fits[] = {"flow f { task a { run \"a\" } do a do a }",
                                       "flow f { task a { run \"a\" } do a do a fail }"};
    for (uint32_t i = 0; i < 2; i++) {
        rad_flow_following f = follow(p, fits[i], &journal);
        assert_true(f.fits);
        assert_int_equal(f.state, RAD_CASE_WAITING);
        assert_int_equal(f.inputs, 1);
        rad__flow_following_free(&f);
    }
    rad_flow_following f = follow(p, "flow f { task a { run \"a\" } do a }", &journal);
    assert_false(f.fits);
    assert_string_equal(f.step.items[0], "0#2 do a (line 1)");
    assert_int_equal(f.record, 0); /* behind the last one */
    rad__flow_following_free(&f);
    rad__bytes_free(&journal);
    rad__flow_program_free(p);
}

/* ---- Random flows ----------------------------------------------------------------------------------------- */

/* Every flow does what it did, also with other lines; and on another one it ends somewhere, in good order. */
static void random_flows_fit_themselves(void **state)
{
    (void)state;
    static const char *const policies[] = {"random", "first", "pct:3"};
    uint32_t inputs = 0, differ = 0, ended = 0;
    uint64_t cases = storm_is_long() ? 3000 : 200;
    for (uint64_t seed = 1; seed <= cases; seed++) {
        char *text = flow_generate(seed), *other = flow_generate(seed + 1);
        size_t room = strlen(text) + 20;
        char *moved = rad__alloc(room, 1);
        assert_non_null(moved);
        snprintf(moved, room, "\n\n# moved\n\n%s", text);
        rad_flow_program *p = read_flow(text);
        rad_bytes journal = record(p, policies[seed % 3], seed, true, 40);
        rad_flow_following f = follow(p, moved, &journal);
        if (!f.fits)
            fail_msg("seed %llu: %s: %s\n%s", (unsigned long long)seed, f.step.count > 0 ? f.step.items[0] : "",
                     f.reason.items[0], text);
        inputs += (uint32_t)f.inputs;
        ended += f.state > RAD_CASE_WAITING;
        rad__flow_following_free(&f);
        f = follow(p, other, &journal);
        differ += !f.fits;
        if (!f.fits) assert_true(f.step.count == 1 && f.recorded.count > 0 && f.offered.count > 0);
        rad__flow_following_free(&f);
        rad__bytes_free(&journal);
        rad__flow_program_free(p);
        rad__free(text);
        rad__free(other);
        rad__free(moved);
    }
    assert_true(inputs > cases);
    assert_true(ended > cases / 4);
    assert_true(differ > cases / 2);
}

/* Memory runs out at every allocation. */
static void no_memory(void **state)
{
    (void)state;
    rad_flow_program *p = read_flow("flow f { " DATA TASKS "par { do a } and { do b } do c }");
    rad_flow_program *q = read_flow("flow f { " DATA TASKS "par { do a } and { do c } do c }");
    rad_bytes journal = record(p, "random", 1, false, 100);
    for (uint64_t n = 1;; n++) {
        rad_flow_following f;
        rad_error error = {0};
        rad__alloc_fail_at(n);
        int code = rad__flow_follow(&f, p, q, "j", journal.data, journal.size, &error);
        rad__alloc_fail_at(0);
        bool over = code == 0;
        if (!over) assert_int_equal(code, RAD_ENOMEM);
        rad__flow_following_free(&f);
        if (over) break;
        assert_true(n < 100000);
    }
    rad__bytes_free(&journal);
    rad__flow_program_free(p);
    rad__flow_program_free(q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edits_are_told),
        cmocka_unit_test(captures_are_told),
        cmocka_unit_test(variables_go_by_name),
        cmocka_unit_test(a_case_that_was_left),
        cmocka_unit_test(random_flows_fit_themselves),
        cmocka_unit_test(no_memory),
    };
    storm_choose();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
