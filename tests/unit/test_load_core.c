/* test_load_core.c — the scheduler of the load tester on its simulated target: the decisions of the contract. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "load_support.h"

#include <string.h>

/* ---- Numbers --------------------------------------------------------------------------------------------- */

static void decision_6_xorshift_vectors(void **state)
{
    (void)state;
    /* From the definition, by hand for state 1: x ^= x>>12 = 1; x ^= x<<25 = 2^25+1; x ^= x>>27 stays. */
    rad__load_stream r = {1};
    assert_int_equal(rad__load_next(&r), UINT64_C(33554433) * UINT64_C(0x2545f4914f6cdd1d));
    assert_int_equal(r.state, 33554433);
    for (uint32_t i = 0; i < 100000; i++) {
        rad__load_stream s = rad__load_draw(i, i * 7, i * 13, i & 3, RAD__LOAD_DRAW_PAUSE);
        assert_int_not_equal(s.state, 0);
    }
}

static void draws_belong_to_their_key(void **state)
{
    (void)state;
    rad__load_stream base = rad__load_draw(1, 2, 3, 4, RAD__LOAD_DRAW_PAUSE);
    assert_int_equal(base.state, rad__load_draw(1, 2, 3, 4, RAD__LOAD_DRAW_PAUSE).state);
    assert_int_not_equal(base.state, rad__load_draw(2, 2, 3, 4, RAD__LOAD_DRAW_PAUSE).state);
    assert_int_not_equal(base.state, rad__load_draw(1, 3, 3, 4, RAD__LOAD_DRAW_PAUSE).state);
    assert_int_not_equal(base.state, rad__load_draw(1, 2, 4, 4, RAD__LOAD_DRAW_PAUSE).state);
    assert_int_not_equal(base.state, rad__load_draw(1, 2, 3, 5, RAD__LOAD_DRAW_PAUSE).state);
    assert_int_not_equal(base.state, rad__load_draw(1, 2, 3, 4, RAD__LOAD_DRAW_JITTER).state);
}

/* ---- Runs ------------------------------------------------------------------------------------------------ */

static void a_run_does_what_it_should(void **state)
{
    (void)state;
    load_scene scene;
    load_trial t;
    load_scene_make(&scene, 3, 1);
    load_trial_begin(&t, &scene.s, 1);
    while (!rad__load_core_over(&t.core)) load_trial_turn(&t);
    /* Ready in tick 1, sent in tick 2, answered in 22, sent again in 23, …: every 21 ms from 2 to 998. */
    const struct rad__load_tally *all = &t.core.metrics.all;
    assert_int_equal(all->issued, 3 * 48);
    assert_int_equal(all->responses, 3 * 47);
    assert_int_equal(all->cancelled, 3);
    assert_int_equal(t.core.metrics.service.min, 20 * MS);
    assert_int_equal(t.core.metrics.service.max, 20 * MS);
    assert_int_equal(t.core.metrics.connections, 3);
    assert_int_equal(t.core.metrics.completed, 3);
    load_trial_end(&t);
}

static void log_of(load_scene *scene, uint64_t seed, rad_bytes *file)
{
    load_trial t;
    load_trial_begin(&t, &scene->s, seed);
    load_trial_run(&t);
    load_verified(&t);
    *file = t.file;
    t.file = (rad_bytes){0};
    load_trial_end(&t);
}

static void vary(load_scene *scene)
{
    scene->latency[0] = (struct rad__load_point){0, 1 * MS};
    scene->latency[1] = (struct rad__load_point){900000, 30 * MS};
    scene->latency[2] = (struct rad__load_point){1000000, 2000 * MS};
    scene->s.simulated.latency.count = 3;
    scene->s.simulated.loss_ppm = 5000;
    scene->s.simulated.reset_ppm = 5000;
    scene->s.simulated.garbage_ppm = 3000;
    scene->s.simulated.refuse_ppm = 20000;
    scene->s.simulated.late_ns = 100 * MS;
    scene->s.limits.timeout_ns = 700 * MS;
    scene->s.pause = RAD__LOAD_RANDOM_PAUSE;
    scene->s.pause_low_ns = 5 * MS;
    scene->s.pause_high_ns = 500 * MS;
    scene->s.jitter_ns = 900 * MS;
}

static void must_hold_1_equal_seeds_equal_logs(void **state)
{
    (void)state;
    static const uint32_t USERS[] = {1, 100, 10000};
    for (uint32_t i = 0; i < 3; i++) {
        load_scene scene;
        rad_bytes a, b, c;
        load_scene_make(&scene, USERS[i], 3);
        vary(&scene);
        log_of(&scene, 7, &a);
        log_of(&scene, 7, &b);
        log_of(&scene, 8, &c);
        assert_int_equal(a.size, b.size);
        assert_memory_equal(a.data, b.data, a.size);
        assert_true(a.size != c.size || memcmp(a.data, c.data, a.size) != 0);
        rad__bytes_free(&a);
        rad__bytes_free(&b);
        rad__bytes_free(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decision_6_xorshift_vectors),
        cmocka_unit_test(draws_belong_to_their_key),
        cmocka_unit_test(a_run_does_what_it_should),
        cmocka_unit_test(must_hold_1_equal_seeds_equal_logs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
