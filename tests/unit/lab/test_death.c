/* test_death.c — runs that take their process with them: crash, endless step, kill -9. Each leaves an
 * artifact with the choices made so far, and the exploration goes on. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/prng.h"
#include "lab/artifact.h"
#include "lab/machines/toys/vm.h"
#include "rig_support.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Two actors, three steps each, and one thing in the life of actor 1 that may go wrong: its second step,
 * when actor 0 has made exactly one. */
enum fate { FATE_CRASH, FATE_ABORT, FATE_EXIT, FATE_HANG, FATE_KILL, FATE_WAIT, FATE_FAIL };

typedef struct fated {
    enum fate fate;
    uint32_t made[2];
    volatile int *pid; /* shared: who waits to be killed */
} fated;

static void fated_reset(puppet *p, rad_kernel *k)
{
    fated *f = p->data;
    f->made[0] = f->made[1] = 0;
    for (uint32_t i = 0; i < 2; i++) {
        p->actions[i] = rad_action(k, 0, rad_actor(k, RAD_NONE, "one"), RAD_NONE, 0);
        rad_enable(k, p->actions[i]);
    }
}

static void meet_fate(const fated *f, rad_kernel *k)
{
    volatile int *nowhere = (volatile int *)(uintptr_t)4096;
    switch (f->fate) {
    case FATE_CRASH: *nowhere = 1; break;
    case FATE_ABORT: raise(SIGABRT); break;
    case FATE_EXIT: _exit(7);
    case FATE_KILL: raise(SIGKILL); break;
    case FATE_FAIL: rad_fail(k, RAD_ORACLE_ASSERT, RAD_NONE, "no more than a failure"); break;
    case FATE_HANG:
        for (volatile int turn = 0;; turn++) {
        }
    case FATE_WAIT:
        *f->pid = getpid();
        for (;;) pause();
    }
}

static void fated_step(puppet *p, rad_kernel *k, uint32_t action)
{
    fated *f = p->data;
    uint32_t who = action == p->actions[1];
    if (who == 1 && f->made[1] == 1 && f->made[0] == 1) meet_fate(f, k);
    if (++f->made[who] == 3) rad_disable(k, action);
}

static rad_exploration explore_fate(const rad_target *t, const char *strategy, uint64_t runs, uint32_t jobs)
{
    rad_exploration e;
    rad_error error = {0};
    rad_explore_options o = {.strategy = strategy, .runs = runs, .jobs = jobs, .seed = 2, .hang_seconds = 0.2};
    if (rad_lab_explore(t, &o, &e, &error) != 0) fail_msg("%s", error.text);
    return e;
}

/* Which schedules die, by hand: those in which actor 1 makes its second step after exactly one step of
 * actor 0. One of two orders of the first two steps each: 0 1 | 1 and 1 0 | 1. */
static const uint32_t DEATHS = 2;

static void check_fate(const rad_exploration *e, const char *identity, const char *message)
{
    assert_int_equal(e->finding_count, 1);
    assert_int_equal(e->failures, DEATHS);
    const rad_artifact *a = e->findings[0].artifact;
    const rad_verdict *v = rad_artifact_verdict(a);
    assert_string_equal(v->identity, identity);
    assert_string_equal(v->message, message);
    assert_int_equal(v->failure_step, 2);
    assert_int_equal(v->steps, 2);
    assert_int_equal(a->choice_count, 2); /* step 0: the baseline. Then a preemption, and going on is 0 */
    assert_int_equal(v->decisions, 3);
    assert_int_equal(a->choices[0], 0);
    assert_int_equal(a->choices[1], 1);
    rad_replay replay;
    rad_error error = {0};
    assert_int_equal(rad_lab_replay(a, NULL, &replay, &error), 0);
    if (!replay.as_recorded) fail_msg("%s", replay.reason);
}

static void a_death_leaves_its_choices_and_the_rest_is_explored(void **state)
{
    static const struct {
        enum fate fate;
        const char *identity, *message;
    } fates[] = {
        {FATE_CRASH, "crash:SIGSEGV", "the process died in step 2: SIGSEGV"},
        {FATE_ABORT, "crash:SIGABRT", "the process died in step 2: SIGABRT"},
        {FATE_EXIT, "crash:exit status 7", "the process died in step 2: exit status 7"},
        {FATE_KILL, "crash:SIGKILL", "the process died in step 2: SIGKILL"},
    };
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        fated f = {.fate = fates[i].fate};
        puppet p = {.reset = fated_reset, .step = fated_step, .data = &f};
        rad_target t = puppet_target(&p);
        rad_exploration e[3];
        for (uint32_t jobs = 1; jobs <= 3; jobs++) {
            e[jobs - 1] = explore_fate(&t, "dfs", 1000, jobs);
            check_fate(&e[jobs - 1], fates[i].identity, fates[i].message);
            assert_true(e[jobs - 1].complete);
            /* 20 interleavings; the ones behind a death (C(3,1) = 3 for each) are one run each */
            assert_int_equal(e[jobs - 1].runs, 20 - DEATHS * 3 + DEATHS);
        }
        assert_same_exploration(&e[0], &e[1]);
        assert_same_exploration(&e[0], &e[2]);
        for (int j = 0; j < 3; j++) rad_exploration_free(&e[j]);
    }
}

static void the_run_index_of_a_death_is_exact(void **state)
{
    (void)state;
    fated f = {.fate = FATE_CRASH};
    puppet p = {.reset = fated_reset, .step = fated_step, .data = &f};
    rad_target t = puppet_target(&p);
    f.fate = FATE_FAIL; /* the same runs without a death */
    rad_exploration alive = explore_fate(&t, "random", 200, 1);
    f.fate = FATE_CRASH;
    rad_exploration all = explore_fate(&t, "random", 200, 2);
    assert_true(all.failures > 10 && all.findings[0].run > 0);
    assert_int_equal(all.runs, 200);
    assert_int_equal(all.failures, alive.failures);
    assert_int_equal(all.findings[0].run, alive.findings[0].run);
    rad_exploration_free(&alive);
    for (uint64_t budget = all.findings[0].run; budget <= all.findings[0].run + 1; budget++) {
        rad_exploration some = explore_fate(&t, "random", budget, 1);
        assert_int_equal(some.runs, budget);
        assert_int_equal(some.failures, budget > all.findings[0].run);
        rad_exploration_free(&some);
    }
    rad_exploration_free(&all);
}

static void a_step_that_does_not_return_is_a_hang(void **state)
{
    (void)state;
    fated f = {.fate = FATE_HANG};
    puppet p = {.reset = fated_reset, .step = fated_step, .data = &f};
    rad_target t = puppet_target(&p);
    rad_exploration e = explore_fate(&t, "dfs", 1000, 2);
    assert_int_equal(e.finding_count, 1);
    assert_int_equal(e.failures, DEATHS);
    assert_true(e.complete);
    const rad_artifact *a = e.findings[0].artifact;
    const rad_verdict *v = rad_artifact_verdict(a);
    assert_string_equal(v->kind, "hang");
    assert_string_equal(v->identity, "hang");
    /* "0.2 s of CPU time"; where others have the CPUs it has not used that much when 1.2 s are over. */
    static const char began[] = "step 2 did not return within ";
    assert_int_equal(strncmp(v->message, began, sizeof began - 1), 0);
    assert_int_equal(v->failure_step, 2);
    assert_int_equal(a->choice_count, 2);
    assert_int_equal(a->choices[1], 1);
    rad_exploration_free(&e);
}

/* A step that waits uses no CPU time. Exploring and a single run watch it in the same way. */
static void a_step_that_sleeps_is_a_hang_wherever_it_runs(void **state)
{
    (void)state;
    int pid = 0;
    fated f = {.fate = FATE_WAIT, .pid = &pid};
    puppet p = {.reset = fated_reset, .step = fated_step, .data = &f};
    rad_target t = puppet_target(&p);
    rad_exploration e = explore_fate(&t, "dfs", 1000, 2);
    assert_int_equal(e.failures, DEATHS);
    static const char sleeps[] = "step 2 did not return within 1.2 s: it sleeps"; /* perhaps with the call */
    assert_int_equal(strncmp(rad_artifact_verdict(e.findings[0].artifact)->message, sleeps, sizeof sleeps - 1), 0);
    rad_exploration_free(&e);
    rad_error error = {0};
    rad_verdict v = {0};
    rad_run_request r = {.policy = "random", .hang_seconds = 0.2};
    for (r.seed = 1; r.seed < 100 && v.result == RAD_RESULT_PASS; r.seed++)
        assert_int_equal(rad_lab_run(&t, &r, &v, &error), 0);
    assert_string_equal(v.kind, "hang");
    assert_string_equal(v.identity, "hang");
    assert_int_equal(strncmp(v.message, sleeps, sizeof sleeps - 1), 0);
}

/* Somebody else kills the worker: the supervisor's user, the kernel when memory is short. */
static void kill_progress(void *context, const rad_progress *progress)
{
    volatile int *pid = context;
    (void)progress;
    if (*pid == 0) return;
    kill(*pid, SIGKILL);
    *pid = 0;
}

static void a_worker_killed_from_outside_leaves_its_choices(void **state)
{
    (void)state;
    volatile int *pid = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    fated f = {.fate = FATE_WAIT, .pid = pid};
    puppet p = {.reset = fated_reset, .step = fated_step, .data = &f};
    rad_target t = puppet_target(&p);
    rad_exploration e;
    rad_error error = {0};
    rad_explore_options o = {.strategy = "dfs", .runs = 1000, .progress = kill_progress, .context = (void *)pid};
    assert_int_equal(rad_lab_explore(&t, &o, &e, &error), 0);
    assert_int_equal(e.finding_count, 1);
    assert_int_equal(e.failures, DEATHS);
    const rad_artifact *a = e.findings[0].artifact;
    assert_string_equal(rad_artifact_verdict(a)->identity, "crash:SIGKILL");
    assert_true(e.killed >= 2); /* believed the second time */
    assert_int_equal(rad_artifact_verdict(a)->failure_step, 2);
    assert_int_equal(a->choice_count, 2);
    assert_int_equal(a->choices[1], 1);
    rad_exploration_free(&e);
    munmap((void *)pid, 4096);
}

static void long_reset(puppet *p, rad_kernel *k)
{
    for (uint32_t i = 0; i < 2; i++) {
        p->actions[i] = rad_action(k, 0, rad_actor(k, RAD_NONE, "one"), RAD_NONE, 0);
        rad_enable(k, p->actions[i]);
    }
}

static void three_steps(puppet *p, rad_kernel *k, uint32_t action)
{
    (void)p;
    if (k->step >= 3) rad_disable(k, action);
}

static void dying_reset(puppet *p, rad_kernel *k)
{
    volatile int *runs = p->data;
    long_reset(p, k);
    if ((*runs)++ > 0) raise(SIGABRT);
}

static void a_death_in_reset_is_at_step_0_without_choices(void **state)
{
    (void)state;
    volatile int *runs = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    puppet p = {.reset = dying_reset, .step = three_steps, .data = (void *)runs};
    rad_target t = puppet_target(&p);
    rad_exploration e = explore_fate(&t, "random", 4, 1);
    assert_int_equal(e.runs, 4);
    assert_int_equal(e.finding_count, 1);
    assert_true(e.findings[0].run <= 1); /* a piece that is done again meets its death in run 0 */
    const rad_verdict *v = rad_artifact_verdict(e.findings[0].artifact);
    assert_string_equal(v->identity, "crash:SIGABRT");
    assert_int_equal(v->failure_step, 0);
    assert_int_equal(v->steps, 0);
    assert_int_equal(v->decisions, 0);
    rad_exploration_free(&e);
    munmap((void *)runs, 4096);
}

static void late_step(puppet *p, rad_kernel *k, uint32_t action)
{
    (void)p, (void)action;
    if (k->step == 200) raise(SIGABRT);
}

/* More than one set hash would belong to its decisions; a run that died has none. */
static void the_artifact_of_a_late_death_can_be_read(void **state)
{
    (void)state;
    puppet p = {.reset = long_reset, .step = late_step};
    rad_target t = puppet_target(&p);
    rad_error error = {0};
    assert_int_equal(rad_machine_add(&puppet_machine, &error), 0);
    rad_exploration e = explore_fate(&t, "random", 1, 1);
    assert_int_equal(e.finding_count, 1);
    char *text = rad_artifact_json(e.findings[0].artifact, &error);
    rad_artifact *back = NULL;
    if (rad__artifact_parse(&back, text, strlen(text), "late", false, &error) != 0) fail_msg("%s", error.text);
    assert_int_equal(back->expected.decisions, 201);
    assert_int_equal(back->set_hash_count, 0);
    rad_replay replay;
    assert_int_equal(rad_lab_replay(back, NULL, &replay, &error), 0);
    assert_true(replay.as_recorded);
    rad_free(text);
    rad_artifact_free(back);
    rad_exploration_free(&e);
}

static void a_single_run_that_dies_is_a_verdict(void **state)
{
    (void)state;
    fated f = {.fate = FATE_CRASH};
    puppet p = {.reset = fated_reset, .step = fated_step, .data = &f};
    rad_target t = puppet_target(&p);
    uint32_t died = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        rad_verdict v;
        rad_error error = {0};
        rad_run_request r = {.policy = "random", .seed = seed};
        assert_int_equal(rad_lab_run(&t, &r, &v, &error), 0);
        if (v.result == RAD_RESULT_PASS) continue;
        assert_string_equal(v.identity, "crash:SIGSEGV");
        assert_int_equal(v.failure_step, 2);
        died++;
    }
    assert_true(died > 0 && died < 20);
}

/* ---- Dedup on programs that crash --------------------------------------------------------------------- */

static uint64_t crashing_seed;

static void crashing_thread(rad_vm *vm, rad_prng *r, uint32_t cells, uint32_t red)
{
    uint32_t program = vm_here(vm);
    for (uint32_t i = 0; i < 3; i++) {
        int32_t cell = (int32_t)rad__prng_below(r, 2);
        switch (rad__prng_below(r, 5)) {
        case 0: vm_store_at(vm, 0, cells, cell, (int32_t)rad__prng_below(r, 2)); break;
        case 1: vm_fetch_add_at(vm, 0, R1, cells, cell, 1); break;
        case 2:
            vm_load_at(vm, 0, R0, cells, cell);
            vm_claim(vm, R0, VM_NE, 2, red, "a claim");
            break;
        default: vm_load_at(vm, 0, R0, cells, cell);
        }
    }
    if (rad__prng_below(r, 2)) vm_follow(vm, 0, cells, R0);
    vm_end(vm);
    rad__vm_thread(vm, "thread", program, true);
}

static void crashing_build(rad_vm *vm, const rad_case *c)
{
    (void)c;
    rad_prng r = rad__prng(crashing_seed, RAD_STREAM_TEST, 1);
    uint32_t cells = rad__vm_cells(vm, "cell", 2, 1);
    uint32_t red = vm_about(vm, "red");
    for (uint32_t i = 0; i < 2; i++) crashing_thread(vm, &r, cells, red);
}

static const char *const crashing_sites[] = {"somewhere", NULL};
static const vm_toy crashing_toy = {.build = crashing_build, .sites = crashing_sites};

static const rad_machine crashing_machine = {
    .name = "crashing", .about = "", .bug_site = RAD_NONE, .own = &crashing_toy, VM_FUNCTIONS};

static void dedup_misses_nothing_on_programs_that_crash(void **state)
{
    (void)state;
    uint32_t crashes = 0, both = 0;
    for (crashing_seed = 0; crashing_seed < 40; crashing_seed++) {
        rad_target t = {.machine = &crashing_machine};
        rad_exploration all = explore_fate(&t, "dfs", 100000, 2);
        rad_exploration states = explore_fate(&t, "dedup", 100000, 2);
        assert_true(all.complete && states.complete);
        assert_int_equal(all.finding_count, states.finding_count);
        bool crash = false;
        for (uint32_t i = 0; i < all.finding_count; i++) {
            const char *wanted = rad_artifact_verdict(all.findings[i].artifact)->identity;
            uint32_t j = 0;
            while (strcmp(rad_artifact_verdict(states.findings[j].artifact)->identity, wanted) != 0)
                if (++j == states.finding_count) fail_msg("dedup misses %s", wanted);
            crash |= strcmp(wanted, "crash:SIGSEGV") == 0;
        }
        crashes += crash;
        both += all.finding_count > 1;
        rad_exploration_free(&all);
        rad_exploration_free(&states);
    }
    assert_true(crashes > 5 && both > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_death_leaves_its_choices_and_the_rest_is_explored),
        cmocka_unit_test(the_run_index_of_a_death_is_exact),
        cmocka_unit_test(a_step_that_does_not_return_is_a_hang),
        cmocka_unit_test(a_step_that_sleeps_is_a_hang_wherever_it_runs),
        cmocka_unit_test(a_worker_killed_from_outside_leaves_its_choices),
        cmocka_unit_test(a_death_in_reset_is_at_step_0_without_choices),
        cmocka_unit_test(the_artifact_of_a_late_death_can_be_read),
        cmocka_unit_test(a_single_run_that_dies_is_a_verdict),
        cmocka_unit_test(dedup_misses_nothing_on_programs_that_crash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
