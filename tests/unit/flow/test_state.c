/* test_state.c — the state of the machine as a number, whether it is sound, and in words. Whatever the rest of a
 * run depends on is in the number, and the order of steps that led there is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/digest.h"
#include "flow/machine/vm.h"
#include "live.h"

#include <stdio.h>
#include <string.h>

static rad_digest number_of(const rad_flow_vm *vm)
{
    rad_state_hash h = {{0, 0}};
    rad__flow_vm_state(vm, &h);
    return h.digest;
}

/* ---- What is in it ----------------------------------------------------------------------------------------------- */

/* One thing is changed, and put back. */
#define MATTERS(vm, thing, other)                                                                                      \
    do {                                                                                                               \
        rad_digest before = number_of(vm);                                                                             \
        __typeof__(thing) was = (thing);                                                                               \
        (thing) = (__typeof__(thing))(other);                                                                          \
        if (rad__digest_equal(before, number_of(vm))) fail_msg("%s is not in it", #thing);                             \
        (thing) = was;                                                                                                 \
        assert_true(rad__digest_equal(before, number_of(vm)));                                                         \
    } while (0)

static void forks_are_in_it(rad_flow_vm *vm, uint32_t in_task)
{
    uint32_t fork = vm->tokens[0].inner;
    assert_int_equal(vm->forks[fork].arrived, 1);
    MATTERS(vm, vm->tokens[0].inner, RAD_NONE);
    MATTERS(vm, vm->forks[fork].op, 0);
    MATTERS(vm, vm->forks[fork].arrived, 2);
    MATTERS(vm, vm->forks[fork].cancelled, 1);
    MATTERS(vm, vm->forks[fork].activated, 4);
    MATTERS(vm, vm->forks[fork].next_index, 9);
    MATTERS(vm, vm->forks[fork].fired, true);
    MATTERS(vm, vm->forks[fork].owner, RAD_NONE);
    MATTERS(vm, vm->forks[fork].holder, in_task);
    uint32_t arrival = vm->forks[fork].arrivals;
    assert_int_not_equal(arrival, RAD_NONE);
    MATTERS(vm, vm->arrivals[arrival].index, 7);
    MATTERS(vm, rad__data_at(vm, vm->arrivals[arrival].data)[0], 7);
    MATTERS(vm, vm->texts[rad__data_at(vm, vm->arrivals[arrival].data)[1]].hash, 7);
    MATTERS(vm, vm->arrivals[arrival].written[0], 0);
}

static void what_the_rest_depends_on_is_in_it(void **state)
{
    (void)state;
    flow_live *l =
        flow_live_open("flow f { data { n : int merge sum  w : text = \"a\" merge first }\n"
                       "task t { call \"t\" retry 1 undo u }  task u { call \"u\" }  task v { call \"v\" undo t "
                       "}\n"
                       "reach m region r { do v\n"
                       "  par { loop 5 { lock k { do t } } } and { set n = 2 set w = \"b\" } and { await never }\n"
                       "} wait signal s into w }");
    flow_live_ok(l, "v");
    flow_live_signal(l, "s", "kept");
    flow_live_signal(l, "s", "again");
    rad_flow_vm *vm = l->c->vm;
    uint32_t in_task = rad__flow_path_find(vm, "0/4.0", 5);
    uint32_t waits = rad__flow_path_find(vm, "0/4.2", 5);
    assert_true(in_task != RAD_NONE && waits != RAD_NONE);
    MATTERS(vm, vm->result, RAD_CASE_DONE);
    MATTERS(vm, vm->live, vm->live + 1);
    MATTERS(vm, vm->tokens[waits].alive, false);
    MATTERS(vm, vm->tokens[waits].pc, vm->tokens[waits].pc + 1);
    MATTERS(vm, vm->tokens[waits].path_hash, 5);
    MATTERS(vm, vm->tokens[waits].wait, RAD_TOKEN_FOR_EVENT);
    MATTERS(vm, vm->tokens[waits].written[0], 1);
    MATTERS(vm, vm->tokens[waits].region, RAD_NONE);
    MATTERS(vm, vm->tokens[in_task].attempt, 2);
    MATTERS(vm, vm->tokens[in_task].task, 1);
    MATTERS(vm, rad__data_at(vm, vm->tokens[in_task].data)[0], 77);
    MATTERS(vm, vm->texts[rad__data_at(vm, vm->tokens[in_task].data)[1]].hash, 77);
    uint32_t finish = vm->tokens[in_task].pc; /* and before another attempt, or the wait for it */
    vm->tokens[in_task].pc = vm->program->code[finish].b;
    MATTERS(vm, vm->tokens[in_task].attempt, 2);
    vm->tokens[in_task].pc = vm->program->code[finish].c;
    MATTERS(vm, vm->tokens[in_task].attempt, 2);
    vm->tokens[in_task].pc = finish;
    uint32_t lock = vm->tokens[in_task].frames, loop = vm->frames[lock].next;
    MATTERS(vm, vm->frames[lock].kind, RAD_FRAME_LOOP);
    MATTERS(vm, vm->frames[loop].value, 1);
    MATTERS(vm, vm->frames[lock].next, RAD_NONE);
    forks_are_in_it(vm, in_task);
    uint32_t region = vm->tokens[0].region;
    MATTERS(vm, vm->regions[region].region, 5);
    MATTERS(vm, vm->regions[region].owner, in_task);
    assert_int_not_equal(vm->regions[region].undos, RAD_NONE);
    MATTERS(vm, vm->undos[vm->regions[region].undos].task, 1);
    MATTERS(vm, vm->regions[region].undos, RAD_NONE);
    MATTERS(vm, vm->milestones[0], 2);
    MATTERS(vm, vm->locks[0], RAD_NONE);
    MATTERS(vm, vm->locks[0], waits);
    MATTERS(vm, vm->last_instance[0], RAD_NONE);
    MATTERS(vm, vm->signals[vm->signal_first].text, vm->signals[vm->signals[vm->signal_first].next].text);
    MATTERS(vm, vm->signals[vm->signal_first].signal, 3);
    MATTERS(vm, vm->signals[vm->signal_first].next, RAD_NONE);
    MATTERS(vm, vm->final, vm->tokens[0].data);
    flow_live_close(l);
}

/* A fork that nobody waits in is known by its branches. */
static void what_goes_on_by_itself_is_in_it(void **state)
{
    (void)state;
    flow_live *l = flow_live_open("flow f { par { await m } and { } join none await m }");
    rad_flow_vm *vm = l->c->vm;
    uint32_t branch = rad__flow_path_find(vm, "0/1.0", 5);
    assert_int_equal(vm->tokens[0].inner, RAD_NONE);
    MATTERS(vm, vm->forks[vm->tokens[branch].fork].arrived, 5);
    MATTERS(vm, vm->tokens[branch].fork, RAD_NONE);
    flow_live_close(l);
}

/* How often a path has done something before, or under which number, is not. */
static void what_is_over_is_not_in_it(void **state)
{
    (void)state;
    rad_digest numbers[2];
    for (uint32_t i = 0; i < 2; i++) {
        char text[300];
        snprintf(text, sizeof text,
                 "flow f { data { n : int }  task t { call \"t\" retry 5 }\n"
                 "while n < %u { do t par { } and { } set n = n + 1 } set n = 0 wait signal s }",
                 1 + 3 * i);
        flow_live *l = flow_live_open(text);
        for (uint32_t k = 0; k < 1 + 3 * i; k++) {
            if (k == 2) flow_live_fail(l, "t");
            flow_live_ok(l, "t");
        }
        numbers[i] = number_of(l->c->vm);
        flow_live_close(l);
    }
    assert_true(rad__digest_equal(numbers[0], numbers[1]));
}

/* Seven steps of three branches in any order: one number. */
static void orders_are_not_in_it(void **state)
{
    (void)state;
    static const char text[] =
        "flow f { data { n : int merge sum  w : text }\n"
        "par { set n = 1 set n = 2 } and { set w = \"x\" + text(n) set w = w + \"y\" } and { set n "
        "= 5 loop 0 { } } }";
    rad_digest first = {0, 0};
    rad_flow_program *p;
    rad_error error = {0};
    assert_int_equal(rad__flow_program_read(&p, "t.flow", text, strlen(text), NULL, &error), 0);
    for (uint64_t seed = 0; seed < 100; seed++) {
        rad_flow_case *c;
        rad_flow_case_options o = {.policy = "random", .seed = seed, .world = RAD_WORLD_CHOSEN, .initial_count = 0};
        assert_int_equal(rad__flow_case_open(&c, p, &o, &error), 0);
        rad__flow_case_run(c, 9);
        uint32_t arrived = c->vm->fork_pool.count > 0 ? c->vm->forks[0].arrived : 0;
        rad__flow_case_run(c, 1);
        rad_digest now = number_of(c->vm);
        assert_int_equal(arrived, 2);
        if (seed == 0) first = now;
        assert_true(rad__digest_equal(first, now));
        rad__flow_case_close(c);
    }
    rad__flow_program_free(p);
}

/* ---- Soundness --------------------------------------------------------------------------------------------------- */

/* One thing is broken, and found. */
#define UNSOUND(vm, thing, other, said)                                                                                \
    do {                                                                                                               \
        const char *what = NULL;                                                                                       \
        __typeof__(thing) was = (thing);                                                                               \
        assert_true(rad__flow_vm_valid(vm, &what));                                                                    \
        assert_null(what);                                                                                             \
        (thing) = (__typeof__(thing))(other);                                                                          \
        assert_false(rad__flow_vm_valid(vm, &what));                                                                   \
        assert_string_equal(what, said);                                                                               \
        (thing) = was;                                                                                                 \
    } while (0)

static void what_is_not_sound_is_found(void **state)
{
    (void)state;
    flow_live *l = flow_live_open("flow f { task t { call \"t\" }\n"
                                  "par { } and { lock k { do t } } and { await never } }");
    rad_flow_vm *vm = l->c->vm;
    static const char tokens[] = "a token is enabled and cannot go on, or the other way round";
    static const char live[] = "the number of live tokens is wrong";
    static const char forks[] = "the branches of a fork do not add up";
    static const char locks[] = "a lock is held by a token that has ended";
    uint32_t ended = rad__flow_path_find(vm, "0/1.0", 5), waits = rad__flow_path_find(vm, "0/1.2", 5);
    uint32_t in_task = rad__flow_path_find(vm, "0/1.1", 5), fork = vm->tokens[0].inner;
    UNSOUND(vm, vm->tokens[in_task].wait, RAD_TOKEN_READY, tokens);
    UNSOUND(vm, vm->tokens[in_task].wait, RAD_TOKEN_IN_FORK, tokens);
    UNSOUND(vm, vm->tokens[0].wait, RAD_TOKEN_FOR_EVENT, tokens);
    UNSOUND(vm, vm->milestones[0], 1, tokens);
    UNSOUND(vm, vm->live, 2, live);
    UNSOUND(vm, vm->tokens[waits].alive, false, live);
    UNSOUND(vm, vm->forks[fork].arrived, 0, forks);
    UNSOUND(vm, vm->forks[fork].activated, 2, forks);
    UNSOUND(vm, vm->forks[fork].cancelled, 1, forks);
    UNSOUND(vm, vm->tokens[waits].fork, RAD_NONE, forks);
    UNSOUND(vm, vm->tokens[in_task].fork_newer, RAD_NONE, forks);
    UNSOUND(vm, vm->locks[0], ended, locks);
    flow_live_close(l);
}

/* ---- Words ------------------------------------------------------------------------------------------------------- */

static void add_line(void *context, const char *text)
{
    char *all = context;
    snprintf(all + strlen(all), 2000 - strlen(all), "%s\n", text);
}

static void what_everybody_waits_for_in_words(void **state)
{
    (void)state;
    flow_live *l = flow_live_open("flow f { task t { call \"t\" retry 2 delay 1s }\n"
                                  "par { lock k { do t } }\n"
                                  "and { loop 1 { } lock k { } }\n"
                                  "and { await never }\n"
                                  "and { expire gone await gone }\n"
                                  "and { do t }\n"
                                  "and { wait 1s }\n"
                                  "and { many 2 { do t } join any 2 } }");
    char all[2000] = "";
    assert_true(flow_live_result(l, "0/1.4#1", 1, false));
    flow_live_go_on(l);
    assert_true(flow_live_result(l, "0/1.6/11.0#1", 1, true));
    flow_live_go_on(l);
    assert_true(flow_live_result(l, "0/1.6/11.1#1", 1, true));
    rad__flow_vm_describe(l->c->vm, add_line, all);
    assert_string_equal(all, "token 0, line 2: waits at join all: 0 of 7 branches arrived, 0 cancelled\n"
                             "token 0/1.0, line 2: is in task t, attempt 1\n"
                             "token 0/1.1, line 3: waits for the lock k, which 0/1.0 has\n"
                             "token 0/1.2, line 4: waits for the milestone never\n"
                             "token 0/1.3, line 5: waits for the milestone gone, which has expired\n"
                             "token 0/1.4, line 6: waits before attempt 2 of task t\n"
                             "token 0/1.5, line 7: waits for a timer\n"
                             "token 0/1.6, line 8: waits at join any: 1 of 2 branches arrived, 0 cancelled\n"
                             "token 0/1.6/11.1, line 8: is in task t, attempt 1\n");
    flow_live_close(l);
    /* One that can go on says what it would do. */
    rad_flow_program *p;
    rad_flow_case *c;
    rad_error error = {0};
    static const char text[] = "flow f { data { n : int }\n set n = 1 }";
    assert_int_equal(rad__flow_program_read(&p, "t.flow", text, strlen(text), NULL, &error), 0);
    assert_int_equal(rad__flow_case_open(&c, p, &(rad_flow_case_options){.seed = 1}, &error), 0);
    all[0] = 0;
    rad__flow_vm_describe(c->vm, add_line, all);
    assert_string_equal(all, "token 0, line 2: is about to set\n");
    rad__flow_case_close(c);
    rad__flow_program_free(p);
    l = flow_live_open("flow f {\n fail \"so\" }");
    all[0] = 0;
    rad__flow_vm_describe(l->c->vm, add_line, all);
    assert_string_equal(all, "line 2: so\n");
    assert_string_equal(rad__flow_vm_site(l->c->vm, l->program->start), "fail");
    assert_null(rad__flow_vm_site(l->c->vm, l->program->code_count));
    assert_string_equal(rad__flow_vm_kind(l->c->vm, RAD_FLOW_NOTE_FAILS), "failure at @");
    assert_null(rad__flow_vm_kind(l->c->vm, RAD_FLOW_NOTE_FAILS + 1));
    flow_live_close(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_rest_depends_on_is_in_it), cmocka_unit_test(what_goes_on_by_itself_is_in_it),
        cmocka_unit_test(what_is_over_is_not_in_it),         cmocka_unit_test(orders_are_not_in_it),
        cmocka_unit_test(what_is_not_sound_is_found),        cmocka_unit_test(what_everybody_waits_for_in_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
