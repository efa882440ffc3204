/* test_timers.c — the timers of a runner against a list that is gone through from end to end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/prng.h"
#include "flow/run/timers.h"
#include "storm_support.h"

#include <stdio.h>
#include <string.h>

enum { MOST = 200 };

typedef struct plain {
    char key[24];
    uint32_t alternative;
    uint64_t due_ns, number;
} plain;

typedef struct model {
    plain items[MOST];
    uint32_t count;
    uint64_t number;
} model;

static uint32_t first_of(const model *m)
{
    uint32_t first = 0;
    for (uint32_t i = 1; i < m->count; i++) {
        const plain *a = &m->items[i], *b = &m->items[first];
        if (a->due_ns < b->due_ns || (a->due_ns == b->due_ns && a->number < b->number)) first = i;
    }
    return first;
}

static uint32_t find(const model *m, const char *key, uint32_t alternative)
{
    uint32_t i = 0;
    while (i < m->count && (strcmp(m->items[i].key, key) != 0 || m->items[i].alternative != alternative)) i++;
    return i;
}

static void set(model *m, rad_flow_timers *t, const char *key, uint32_t alternative, uint64_t due)
{
    char copy[24];
    snprintf(copy, sizeof copy, "%s", key);
    rad_flow_timer timer = {.key = copy, .alternative = alternative, .attempt = 1, .due_ns = due};
    assert_true(rad__flow_timers_set(t, &timer));
    plain *p = &m->items[m->count++];
    *p = (plain){.alternative = alternative, .due_ns = due, .number = ++m->number};
    snprintf(p->key, sizeof p->key, "%s", key);
}

static void take(model *m, rad_flow_timers *t)
{
    uint32_t at = first_of(m);
    rad_flow_timer timer = rad__flow_timers_take(t);
    assert_string_equal(timer.key, m->items[at].key);
    assert_int_equal(timer.alternative, m->items[at].alternative);
    rad__free(timer.key);
    m->items[at] = m->items[--m->count];
}

/* Few keys and few times: the same ones come again and again, and many are due at once. */
static void test_like_a_list(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= storm_amount(20); seed++) {
        static model m;
        rad_flow_timers t = {0};
        rad_prng prng = rad__prng(seed, RAD_STREAM_TEST, 0);
        m.count = 0;
        for (uint32_t i = 0; i < 20000; i++) {
            char key[24];
            uint32_t alternative = (uint32_t)rad__prng_below(&prng, 3);
            snprintf(key, sizeof key, "0/1.%u#1", (uint32_t)rad__prng_below(&prng, 100));
            uint32_t at = find(&m, key, alternative), what = (uint32_t)rad__prng_below(&prng, 4);
            if (what == 0 && m.count > 0) {
                take(&m, &t);
            } else if (what == 1) {
                rad__flow_timers_drop(&t, key, alternative); /* there may be none */
                if (at < m.count) m.items[at] = m.items[--m.count];
            } else if (at == m.count && m.count < MOST) {
                set(&m, &t, key, alternative, rad__prng_below(&prng, 50));
            }
            assert_int_equal(rad__flow_timers_count(&t), m.count);
            assert_true(rad__flow_timers_next_ns(&t) == (m.count > 0 ? m.items[first_of(&m)].due_ns : UINT64_MAX));
        }
        while (m.count > 0) take(&m, &t);
        rad__flow_timers_free(&t);
    }
}

/* One at a time, for a long time: what is gone takes no room. */
static void test_what_is_gone_is_forgotten(void **state)
{
    (void)state;
    rad_flow_timers t = {0};
    static model m;
    m.count = 0;
    for (uint32_t i = 0; i < 100000; i++) {
        char key[24];
        snprintf(key, sizeof key, "0#%u", i);
        set(&m, &t, key, 0, i);
        if (i % 2 == 0) {
            rad__flow_timers_drop(&t, key, 0);
            m.count = 0;
        } else {
            take(&m, &t);
        }
    }
    assert_true(t.by_key.count < 2000);
    assert_true(t.item_count == 1);
    rad__flow_timers_free(&t);
}

static void test_no_memory(void **state)
{
    (void)state;
    bool failed = true;
    for (uint64_t n = 1; failed && n < 1000; n++) {
        rad_flow_timers t = {0};
        rad__alloc_fail_at(n);
        failed = false;
        for (uint32_t i = 0; i < 100 && !failed; i++) {
            char key[24];
            snprintf(key, sizeof key, "0#%u", i);
            rad_flow_timer timer = {.key = key, .due_ns = i};
            failed = !rad__flow_timers_set(&t, &timer);
        }
        rad__alloc_fail_at(0);
        rad__flow_timers_free(&t);
    }
    assert_false(failed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_like_a_list),
        cmocka_unit_test(test_what_is_gone_is_forgotten),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
