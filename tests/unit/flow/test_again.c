/* test_again.c — a machine that is used again is as new: what one run has done, the next one does not know. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"
#include "flow/machine/vm.h"

#include <stdio.h>
#include <string.h>

static const rad_machine machine = {
    .name = "flow",
    .reset = rad__flow_vm_reset,
    .step = rad__flow_vm_step,
    .idle = rad__flow_vm_idle,
    .kind_name = rad__flow_vm_kind,
    .site_name = rad__flow_vm_site,
    .describe = rad__flow_vm_describe,
};

typedef struct bench {
    rad_flow_program *program;
    rad_flow_vm *vm;
    rad_kernel *kernel;
    rad_policy *policy;
    uint64_t choices;
} bench;

static void bench_open(bench *b, const char *text)
{
    rad_error error = {0};
    rad_flow_case_options o = {.world = RAD_WORLD_CHOSEN};
    if (rad__flow_program_read(&b->program, "t.flow", text, strlen(text), NULL, &error) != 0)
        fail_msg("%s", error.text);
    assert_int_equal(rad__flow_vm_open(&b->vm, b->program, &o, &error), 0);
    rad_choice_buffer choices = {NULL, 0, &b->choices};
    assert_int_equal(rad__kernel_open(&b->kernel, choices, &error), 0);
    assert_int_equal(rad__policy_create(&b->policy, "random", &error), 0);
    rad__kernel_use(b->kernel, &machine, b->vm);
}

static void bench_close(bench *b)
{
    rad__policy_destroy(b->policy);
    rad__kernel_close(b->kernel);
    rad__flow_vm_close(b->vm);
    rad__flow_program_free(b->program);
}

typedef struct ending {
    rad_digest digest;
    enum rad_flow_state result;
    uint64_t cancelled, diverted, forks, regions;
    uint32_t tokens, texts, room;
    char failure[100];
} ending;

/* What is left after at most `steps` steps. */
static ending bench_run(bench *b, uint64_t seed, uint64_t steps)
{
    static const rad_estimates nothing;
    rad_run_options run = {.policy = b->policy, .info = {.seed = seed, .estimates = &nothing}, .max_steps = steps};
    ending e = {.tokens = 0};
    const rad_flow_vm *vm = b->vm;
    const char *what;
    enum rad_outcome outcome = rad__kernel_run(b->kernel, &run);
    /* Who is left when nobody can go on is stuck: that is the kernel's oracle. */
    if (steps == 1000) assert_int_equal(outcome == RAD_OUTCOME_FINISHED, vm->live == 0);
    assert_true(rad__flow_vm_valid(vm, &what));
    e.digest = b->kernel->trace.digest;
    e.result = vm->result;
    e.cancelled = vm->cancelled;
    e.diverted = vm->diverted;
    e.forks = vm->forks_made;
    e.regions = vm->regions_made;
    e.tokens = vm->token_count;
    e.texts = vm->text_count;
    e.room = vm->fork_pool.count + vm->arrival_pool.count + vm->region_pool.count + vm->undo_pool.count +
             vm->frame_pool.count + vm->data_pool.count;
    snprintf(e.failure, sizeof e.failure, "%.90s", vm->failure);
    return e;
}

static void expect_equal(const ending *a, const ending *b)
{
    assert_true(rad__digest_equal(a->digest, b->digest));
    assert_int_equal(a->result, b->result);
    assert_int_equal(a->cancelled, b->cancelled);
    assert_int_equal(a->diverted, b->diverted);
    assert_int_equal(a->forks, b->forks);
    assert_int_equal(a->regions, b->regions);
    assert_int_equal(a->tokens, b->tokens);
    assert_int_equal(a->texts, b->texts);
    assert_int_equal(a->room, b->room);
    assert_string_equal(a->failure, b->failure);
}

static const char *const flows[] = {
    ("flow f { data { x : int merge sum  w : text merge append }\n"
     "task t { call \"t\" writes x undo u }  task u { call \"u\" outcomes ok }\n"
     "region r { par { do t reach m } and { lock l { do t set w = w + text(x) } await m } and { "
     "lock "
     "l { await m } fail \"so\" } join sync interleave { do t } and { set w = \"own\" } }\n"
     "on failure into w { compensate r expire m } many 3 as k { set w = text(k) } join any\n"
     "cancel task t compensate r }"),
    ("flow f { data { x : int }\n"
     "par { region r { lock l { await m } } on cancel { set x = x + 1 } } and { region q { lock l "
     "{ await n } } } and { loop 3 { } cancel region r cancel region q } join sync await m }"),
    ("flow f { data { x : int merge max }  task t { call \"t\" }\n"
     "many 3 as k { do t set x = k } set x = 1 / (x - 2) }"),
    ("flow f { xor { when true { cancel case } when true { fail \"why\" } when true { await m } } "
     "}"),
    "flow f { par { await m } and { loop 3 { } reach m } and { loop 2 { } await n } join first }",
};

/* A run that is left in the middle, and one that is not; then another seed, as on a new machine. */
static void a_machine_that_is_used_again_is_as_new(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < sizeof flows / sizeof *flows; i++) {
        bench again;
        bench_open(&again, flows[i]);
        for (uint64_t seed = 0; seed < 60; seed++) {
            bench new;
            bench_open(&new, flows[i]);
            ending expected = bench_run(&new, seed, 1000);
            ending got = bench_run(&again, seed, 1000);
            expect_equal(&got, &expected);
            bench_run(&again, seed + 1000, seed);
            got = bench_run(&again, seed, 1000);
            expect_equal(&got, &expected);
            bench_close(&new);
        }
        bench_close(&again);
    }
}

/* ---- What a case begins with ------------------------------------------------------------------------------------- */

static int open_with(const char *name, const char *text, char value[24], rad_error *error)
{
    static const char flow[] = "flow f { data { a : int = 1  b : text = \"x\"  c : int = 3 }\n"
                               "many 1 as k { set c = c } }";
    rad_flow_program *p;
    rad_flow_case *c = (void *)value;
    rad_flow_initial initial[] = {{"a", "7"}, {name, text}};
    size_t length;
    assert_int_equal(rad__flow_program_read(&p, "t.flow", flow, strlen(flow), NULL, error), 0);
    rad_flow_case_options o = {.initial = initial, .initial_count = 2};
    int status = rad__flow_case_open(&c, p, &o, error);
    if (status != 0) assert_null(c);
    if (status == 0) {
        rad__flow_case_run(c, 100);
        char number[24];
        assert_string_equal(rad__flow_case_value(c, RAD_NONE, 0, number, &length), "7");
        snprintf(value, 24, "%.20s", rad__flow_case_value(c, RAD_NONE, 2, number, &length));
        assert_string_equal(rad__flow_case_value(c, RAD_NONE, 1, number, &length), "x");
        rad__flow_case_close(c);
    }
    rad__flow_program_free(p);
    return status;
}

static void data_begin_as_they_are_told(void **state)
{
    (void)state;
    char value[24] = "";
    rad_error error = {0};
    assert_int_equal(open_with("c", "-9", value, &error), 0);
    assert_string_equal(value, "-9");
    assert_int_equal(open_with("d", "1", value, &error), RAD_EINPUT);
    assert_string_equal(error.text, "there is no data d in the flow f; use a, b, c");
    rad__error_clear(&error);
    assert_int_equal(open_with("k", "1", value, &error), RAD_EINPUT); /* an instance's own */
    assert_string_equal(error.text, "there is no data k in the flow f; use a, b, c");
    rad__error_clear(&error);
    assert_int_equal(open_with("c", "nine", value, &error), RAD_EINPUT);
    assert_string_equal(error.text, "c=nine is not a number");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_machine_that_is_used_again_is_as_new),
        cmocka_unit_test(data_begin_as_they_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
