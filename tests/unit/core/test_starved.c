/* test_starved.c — whom an actor that yields or spins has kept waiting, step by step. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rig_support.h"

/* One yields (Y), or disables the third one (D); the second turns the third one off and on (T). Then the first one
 * yields once more, and it is seen whether it is held back for the third. */
typedef struct starving {
    rad_policy policy;
    const char *script;
    bool held;
} starving;

static uint32_t starving_choose(rad_policy *policy, rad_kernel *k, const rad_decision *d)
{
    return rad__index_of(k, d, ((starving *)policy)->script[k->step] == 'T' ? 1 : 0);
}

static const rad_policy_class starving_class = {.name = "starving", .choose = starving_choose};

static void starving_reset(puppet *p, rad_kernel *k)
{
    (void)p;
    for (uint32_t i = 0; i < 3; i++) rad_enable(k, rad_action(k, 0, rad_actor(k, RAD_NONE, "actor"), RAD_NONE, 0));
}

static void starving_step(puppet *p, rad_kernel *k, uint32_t action)
{
    starving *s = p->data;
    char what = s->script[k->step];
    if (what == 0) {
        s->held = k->actors[0].aside;
        for (uint32_t i = 0; i < 3; i++) rad_disable(k, i);
        return;
    }
    assert_int_equal(action, what == 'T');
    if (what == 'Y') rad_yields(k);
    if (what == 'D' || (what == 'T' && rad_is_enabled(k, 2)))
        rad_disable(k, 2);
    else if (what == 'T')
        rad_enable(k, 2);
}

static void who_starves_whom(void **state)
{
    static const struct {
        const char *script;
        bool held;
    } cases[] = {{"YTTY", false}, {"YDTY", true}, {"YTTYTTY", false}, {"YY", true}};
    (void)state;
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        starving s = {.policy = {&starving_class}, .script = cases[i].script};
        puppet p = {.reset = starving_reset, .step = starving_step, .data = &s};
        bare_rig b;
        bare_open(&b, &puppet_machine, &p, 1000);
        b.fair = true;
        rad_run_options o = bare_options(&b, &s.policy);
        assert_int_equal(rad__kernel_run(b.kernel, &o), RAD_OUTCOME_FINISHED);
        assert_int_equal(s.held, cases[i].held);
        bare_close(&b);
    }
}

/* One writes, one looks for the end; the policy lets these two alternate. The third, which brings it, comes last. */
enum { WRITER, LOOKER, ENDER };

static uint32_t alternating_choose(rad_policy *policy, rad_kernel *k, const rad_decision *d)
{
    (void)policy;
    uint32_t action = LOOKER;
    while (action != ENDER && k->actors[action].aside) action = action == LOOKER ? WRITER : ENDER;
    return rad__index_of(k, d, action);
}

static const rad_policy_class alternating_class = {.name = "alternating", .choose = alternating_choose};

static void alternating_reset(puppet *p, rad_kernel *k)
{
    static const enum rad_access accesses[] = {RAD_WRITE, RAD_READ, RAD_WRITE};
    p->number = 0;
    p->objects[0] = rad_object(k, RAD_NONE, "table");
    for (uint32_t i = WRITER; i <= ENDER; i++) {
        rad_action(k, 0, rad_actor(k, RAD_NONE, "actor"), RAD_NONE, 0);
        rad_announce(k, i, i, p->objects[0], accesses[i]);
        rad_enable(k, i);
    }
}

static void alternating_step(puppet *p, rad_kernel *k, uint32_t action)
{
    rad_value(k, 7);
    if (action == ENDER) p->number = 1;
    if (p->number == 1) rad_disable(k, action);
}

static void who_looks_between_writes_does_not_starve_others(void **state)
{
    (void)state;
    rad_policy policy = {&alternating_class};
    puppet p = {.reset = alternating_reset, .step = alternating_step};
    bare_rig b;
    bare_open(&b, &puppet_machine, &p, 4 * RAD_TURN);
    b.fair = true;
    rad_run_options o = bare_options(&b, &policy);
    assert_int_equal(rad__kernel_run(b.kernel, &o), RAD_OUTCOME_FINISHED);
    assert_true(b.kernel->switches > RAD_TURN / 2); /* they did alternate */
    bare_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_starves_whom),
        cmocka_unit_test(who_looks_between_writes_does_not_starve_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
