/* test_check.c — the kernel looks at its own structures: after each step when asked to, and else now and then. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rig_support.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DAMAGED_AT = 10, DAMAGED_STEPS = 5000 };

static volatile uint64_t *damaged_steps; /* shared with the process that dies of it */

static void damaged_reset(puppet *p, rad_kernel *k)
{
    for (uint32_t i = 0; i < 2; i++) {
        p->actions[i] = rad_action(k, i, rad_actor(k, RAD_NONE, "one"), RAD_NONE, 0);
        rad_enable(k, p->actions[i]);
    }
}

static void damaged_step(puppet *p, rad_kernel *k, uint32_t action)
{
    (void)p;
    (void)action;
    if (++*damaged_steps % DAMAGED_STEPS == DAMAGED_AT) k->set_hash++; /* I2 */
}

static int damaged_run(bool check, uint64_t steps)
{
    bare_rig b;
    puppet p = {.reset = damaged_reset, .step = damaged_step, .end = RAD_END_FINISHED};
    *damaged_steps = 0;
    int status = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        bare_open(&b, &puppet_machine, &p, 2 * DAMAGED_STEPS);
        b.max_steps = steps;
        b.limit = RAD_LIMIT_CUTS;
        b.check = check;
        bare_run(&b, "random", 1, 0);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void a_damaged_set_is_noticed_after_the_step_or_soon(void **state)
{
    (void)state;
    damaged_steps = mmap(NULL, sizeof *damaged_steps, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(damaged_steps != MAP_FAILED);
    assert_int_equal(damaged_run(true, DAMAGED_STEPS - 1), 4);
    assert_int_equal(*damaged_steps, DAMAGED_AT);
    assert_int_equal(damaged_run(false, DAMAGED_STEPS - 1), 4);
    assert_true(*damaged_steps >= DAMAGED_AT && *damaged_steps <= RAD_CHECK_EVERY);
    assert_int_equal(damaged_run(true, DAMAGED_AT - 1), 0);
    assert_int_equal(*damaged_steps, DAMAGED_AT - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_damaged_set_is_noticed_after_the_step_or_soon)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
