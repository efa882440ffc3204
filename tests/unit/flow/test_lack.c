/* test_lack.c — memory: whichever allocation of a run is the last one that succeeds, the run says so, and is never
 * done with less than it needs; and what is not needed any more is used again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/error.h"
#include "flow/machine/history.h"
#include "flow/machine/vm.h"

#include <malloc.h>
#include <string.h>

/* Whether no allocation would succeed any more. */
static bool is_used_up(void)
{
    void *probe = rad__alloc(1, 1);
    bool is_none = probe == NULL;
    rad__free(probe);
    return is_none;
}

/* Bytes that are not given back; with some sanitizers 0 at all times. */
static size_t taken(void)
{
    struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
}

/* Does something with n - 1 allocations, for every n, until it needs fewer; how often it succeeded before. */
static uint64_t sweep(int (*attempt)(const void *what), const void *what, uint64_t *needed)
{
    uint64_t passed = 0;
    for (*needed = 0;; ++*needed) {
        rad__alloc_fail_at(*needed + 1);
        int status = attempt(what);
        bool used_up = is_used_up();
        rad__alloc_fail_at(0);
        assert_true(status == 0 || status == RAD_ENOMEM);
        assert_true(used_up || status == 0);
        if (!used_up) return passed;
        passed += status == 0;
    }
}

/* As long as there are too few it says that it has failed, and with exactly as many as it needs it succeeds. Everything
 * is given back: over ten rounds of some hundred attempts hardly anything is added (free keeps some for itself). */
static void expect_told(int (*attempt)(const void *what), const void *what, uint64_t at_least)
{
    size_t after[14];
    uint64_t needed;
    for (uint32_t i = 0; i < 14; i++) {
        assert_int_equal(sweep(attempt, what, &needed), 1);
        assert_true(needed > at_least);
        after[i] = taken();
    }
    assert_true(after[13] < after[3] + 10 * needed * 16);
}

/* ---- Cases that the kernel simulates ---------------------------------------------------------------------------- */

typedef struct simulated {
    const char *text;
    uint64_t seed;
    enum rad_flow_state end;
} simulated;

static int run_simulated(const void *what)
{
    const simulated *s = what;
    rad_flow_program *p = NULL;
    rad_flow_case *c = NULL;
    rad_error error = {0};
    int status = rad__flow_program_read(&p, "t.flow", s->text, strlen(s->text), NULL, &error);
    rad_flow_case_options o = {.policy = "random", .seed = s->seed, .world = RAD_WORLD_CHOSEN};
    if (status == 0) status = rad__flow_case_open(&c, p, &o, &error);
    if (status == 0) {
        enum rad_flow_state end = rad__flow_case_run(c, 100000);
        status = end == RAD_CASE_BROKEN ? c->error.code : 0;
        if (status == 0) assert_int_equal(end, s->end);
    }
    if (status != 0 && status != RAD_ENOMEM) print_error("%s\n", error.text);
    rad__flow_case_close(c);
    rad__flow_program_free(p);
    return status;
}

#define TASKS                                                                                                          \
    "flow f { data { x : int merge sum  w : text merge append  b : bool }\n"                                           \
    "task t { run \"true\" capture x outcomes ok undo u } task u { run \"true\" outcomes ok }\n"                       \
    "task bad { run \"true\" outcomes fail retry 1 delay 1s }\n"

static void simulated_cases(void **state)
{
    (void)state;
    static const simulated all[] = {
        {TASKS "region r { par { do t } and { do t do t } and { loop 4 { set x = x + 1 } } join "
               "sync\n"
               "many 4 as i { lock l { set x = x + i } } join any 3\n"
               "interleave { set x = x + 1 } and { set x = x * 2 } and { do t } do bad\n"
               "} on failure into w { compensate r } }",
         3, RAD_CASE_DONE},
        /* Cancelling: many at once, inside regions inside others, with joins that become complete by it. */
        {TASKS "par { region r { many 40 { region q { await m } } } } and { par { region s { await "
               "m } } and { set x = 1 } join sync loop 5 { } } and { loop 20 { } cancel region r "
               "cancel region s } join sync }",
         1, RAD_CASE_DONE},
        /* Telling the fork is the last that needs memory: unsaid, its join would wait for ever. */
        {TASKS "par { region r { await m } } and { loop 9 { } cancel region r } join sync }", 1, RAD_CASE_DONE},
        {TASKS "many 30 { par { await m } and { do t } join first } cancel task u cancel case }", 2,
         RAD_CASE_CANCELLED},
        /* Texts of all kinds. */
        {TASKS "many over \"p\\nq\\nr\" as k { set w = k + k } loop 9 { set w = w + text(x) + "
               "line(w, 1) set x = x + number(\"12\") } set b = lines(w) > 2 set b = w == \"a\" or "
               "w != \"b\" }",
         5, RAD_CASE_DONE},
        /* Forks that are left, and many rounds. */
        {TASKS "loop 40 { par { set x = x + 1 } and { set w = \"a\" } join any } many m 1 up to 30 "
               "as k { xor { when k < 29 { more m } else { } } } }",
         6, RAD_CASE_DONE},
    };
    for (uint32_t i = 0; i < sizeof all / sizeof *all; i++) expect_told(run_simulated, &all[i], 40);
}

/* ---- Cases that the world answers ------------------------------------------------------------------------------- */

/* One answer of each kind that is asked for, the oldest first, until it has ended. */
static int answer_all(rad_flow_case *c, rad_error *error)
{
    int status = 0;
    bool used;
    while (status == 0 && rad__flow_case_run(c, 100000) == RAD_CASE_WAITING) {
        char key[RAD_FLOW_KEY_MAX];
        rad__flow_asks_prune(c);
        if (c->ask_count == 0) {
            rad_flow_input end = {.kind = RAD_INPUT_CANCEL, .scope = RAD_FLOW_PART_REGION, .name = "r"};
            status = rad__flow_case_feed(c, &end, &used, error);
            continue;
        }
        const rad_flow_ask *a = &c->asks[0];
        rad_flow_write writes[] = {{0, "12", 2}, {1, "a text of a task", 16}};
        rad_flow_input in = {.kind = a->kind == RAD_ASK_START ? RAD_INPUT_RESULT : RAD_INPUT_TIMER,
                             .key = key,
                             .attempt = a->attempt,
                             .alternative = a->alternative,
                             .ok = a->attempt > 1,
                             .why = "a reason",
                             .writes = writes,
                             .write_count = 2};
        rad__flow_case_key(c, a->token, a->effect, key);
        status = rad__flow_case_feed(c, &in, &used, error);
    }
    return status != 0 ? status : c->state == RAD_CASE_BROKEN ? c->error.code : 0;
}

static const char LIVE[] = "flow f { data { x : int merge sum  w : text merge append  s : text merge last }\n"
                           "task t { call \"t\" writes x, w retry 1 delay 1s undo u } task u { run \"true\" retry 1 }\n"
                           "region r { many 9 { do t defer { on timer 1s { } on signal go into s { do t } } }\n"
                           "wait signal go into s par { wait signal other } and { do t do t } compensate r }\n"
                           "on cancel { compensate r } }";

/* Signals come early, and are kept; then it is told step by step. */
static int run_live(const void *what)
{
    rad_flow_program *p = NULL;
    rad_flow_case *c = NULL;
    rad_error error = {0};
    rad_flow_history h = {0};
    int status = rad__flow_program_read(&p, "t.flow", LIVE, strlen(LIVE), NULL, &error);
    rad_flow_case_options o = {.policy = "first", .whole_trace = true};
    if (status == 0) status = rad__flow_case_open(&c, p, &o, &error);
    for (uint32_t i = 0; i < 20 && status == 0; i++) {
        char text[2] = {(char)('a' + i), 0};
        rad_flow_input in = {.kind = RAD_INPUT_SIGNAL, .name = "go", .text = text, .length = 1};
        bool used;
        status = rad__flow_case_feed(c, &in, &used, &error);
    }
    if (status == 0) status = answer_all(c, &error);
    if (status == 0) assert_int_equal(c->state, RAD_CASE_DONE);
    if (status == 0 && !rad__flow_history_open(&h, p, true)) status = RAD_ENOMEM;
    if (status == 0) rad__flow_history_end(&h, c);
    if (status == 0 && h.failed) status = RAD_ENOMEM;
    (void)what;
    if (status != 0 && status != RAD_ENOMEM) print_error("%s\n", error.text);
    rad__flow_history_free(&h);
    rad__flow_case_close(c);
    rad__flow_program_free(p);
    return status;
}

static void live_cases(void **state)
{
    (void)state;
    expect_told(run_live, NULL, 100);
}

/* ---- What is given back ------------------------------------------------------------------------------------------ */

typedef struct room {
    uint32_t tokens, forks, arrivals, regions, undos, frames, signals, data, texts;
} room;

static room room_after(const char *body, uint32_t rounds)
{
    rad_bytes text = {0};
    rad_flow_program *p;
    rad_flow_case *c;
    rad_error error = {0};
    rad__bytes_format(&text, TASKS "loop %u { %s } }", rounds, body);
    rad__bytes_put(&text, "", 1);
    if (rad__flow_program_read(&p, "t.flow", (const char *)text.data, text.size - 1, NULL, &error) != 0)
        fail_msg("%s", error.text);
    rad_flow_case_options o = {.policy = "fair", .world = RAD_WORLD_CHOSEN};
    assert_int_equal(rad__flow_case_open(&c, p, &o, &error), 0);
    assert_int_equal(rad__flow_case_run(c, 100000), RAD_CASE_DONE);
    const rad_flow_vm *vm = c->vm;
    room taken = {vm->token_count,       vm->fork_pool.count, vm->arrival_pool.count,
                  vm->region_pool.count, vm->undo_pool.count, vm->frame_pool.count,
                  vm->signal_pool.count, vm->data_pool.count, vm->text_count};
    rad__flow_case_close(c);
    rad__flow_program_free(p);
    rad__bytes_free(&text);
    return taken;
}

/* A hundred rounds need no more room than three. */
static void rounds_leave_nothing_behind(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "par { set x = x + 1 } and { set x = x - 1 set b = true }",
        "par { set b = true } and { do t } and { } join first",
        "par { set b = true reach n } and { do t } and { } join any 2 await n expire n",
        ("par { par { set b = true } and { do t } join none } and { loop 9 { } "
         "reach n } join none await n expire n"),
        "or { when true { set b = true } when x == 0 { set x = x - x } }",
        "many 3 as k { set x = x + k } set x = 0",
        "many over \"p\\nq\" as k { set w = k } set w = \"\"",
        "many m 1 up to 4 as k { xor { when k < 3 { more m } else { } } }",
        "region r { do t region q { do t } do t } compensate r",
        "region r { do t par { do t } and { do t } } loop 3 { }",
        "region r { do t par { do t } and { do t fail } } on failure into w { compensate r }",
        ("region r { par { region q { do t lock l { await m } } } and { cancel region r } } on "
         "cancel { }"),
        ("region r { par { do t await m } and { do t loop 9 { } cancel region r } } on cancel { "
         "compensate r }"),
        "par { do t } and { loop 2 { } cancel task t } join sync",
        "lock l { interleave { loop 2 { } } and { loop 1 { } } }",
        "{ par { set x = 1 } and { set x = 1 } join multi set x = 0 }",
        "region r { par { await m } and { do bad } } on failure { }",
    };
    for (uint32_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        room few = room_after(bodies[i], 3), many = room_after(bodies[i], 100);
        if (memcmp(&few, &many, sizeof few) != 0) fail_msg("more and more room: %s", bodies[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(simulated_cases),
        cmocka_unit_test(live_cases),
        cmocka_unit_test(rounds_leave_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
