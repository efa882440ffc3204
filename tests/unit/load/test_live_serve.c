/* test_live_serve.c — the server does what it is told: latency, errors, stalls, limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "live_support.h"

#include <stdio.h>
#include <string.h>

#define MS UINT64_C(1000000)

/* One request on connection 0; how long it took. */
static uint64_t ask(world *w, bool open, uint16_t *status)
{
    world_send(w, 0, 0, 0, open, false);
    world_wait(w, open ? 2 : 1);
    const rad__load_input *in = world_got(w, RAD__LOAD_IN_RESPONSE);
    *status = in->status;
    return in->at_ns - in->sent_ns;
}

static void latency_is_never_less(void **state)
{
    (void)state;
    static const struct rad__load_point fixed[] = {{0, 20 * MS}};
    static const struct rad__load_point curve[] = {{0, 5 * MS}, {500000, 10 * MS}, {1000000, 60 * MS}};
    world w;
    uint16_t status;
    world_open(&w, &(rad__load_serve_options){.latency = {1, fixed}}, "/");
    world_engine(&w);
    for (int i = 0; i < 5; i++) assert_true(ask(&w, i == 0, &status) >= 20 * MS);
    world_close(&w);
    world_open(&w, &(rad__load_serve_options){.latency = {3, curve}, .seed = 3}, "/");
    world_engine(&w);
    uint64_t least = UINT64_MAX, most = 0;
    for (int i = 0; i < 40; i++) {
        uint64_t took = ask(&w, i == 0, &status);
        assert_true(took >= 5 * MS);
        least = took < least ? took : least;
        most = took > most ? took : most;
    }
    assert_true(most > least + 10 * MS); /* it is a curve, not a number */
    world_close(&w);
}

static void errors_have_their_share(void **state)
{
    (void)state;
    static const uint32_t shares[] = {0, 500000, 1000000};
    for (size_t k = 0; k < 3; k++) {
        world w;
        uint16_t status;
        uint32_t failed = 0;
        world_open(&w, &(rad__load_serve_options){.error_ppm = shares[k], .seed = 1}, "/");
        world_engine(&w);
        for (int i = 0; i < 100; i++) {
            ask(&w, i == 0, &status);
            assert_true(status == 200 || status == 503);
            failed += status == 503;
        }
        assert_true(k == 0 ? failed == 0 : k == 2 ? failed == 100 : failed > 25 && failed < 75);
        world_close(&w);
    }
}

/* Nothing is answered in the last 60 ms of each 100: again and again somebody waits for long. */
static void stalls_come_again(void **state)
{
    (void)state;
    world w;
    uint16_t status;
    uint32_t long_ones = 0;
    world_open(&w, &(rad__load_serve_options){.stall_every_ns = 100 * MS, .stall_ns = 60 * MS}, "/");
    world_engine(&w);
    ask(&w, true, &status);
    while (long_ones < 3) long_ones += ask(&w, false, &status) > 40 * MS;
    world_close(&w);
}

static void bodies_and_heads(void **state)
{
    (void)state;
    world w;
    world_open(&w, &(rad__load_serve_options){.body_bytes = 1234}, "/");
    w.requests[1] = w.requests[0];
    w.requests[1].method = "HEAD";
    w.scenario.request_count = 2;
    world_engine(&w);
    for (uint32_t i = 0; i < 4; i++) {
        world_send(&w, 0, 0, i % 2, i == 0, false);
        world_wait(&w, i == 0 ? 2 : 1);
        assert_int_equal(world_got(&w, RAD__LOAD_IN_RESPONSE)->body_bytes, i % 2 ? 0 : 1234);
    }
    world_close(&w);
}

static void a_port_that_is_taken(void **state)
{
    (void)state;
    rad__load_serve *first, *second;
    rad_error error = {0};
    char port[8];
    assert_int_equal(rad__load_serve_open(&first, &(rad__load_serve_options){0}, &error), 0);
    snprintf(port, sizeof port, "%u", rad__load_serve_port(first));
    assert_int_equal(rad__load_serve_open(&second, &(rad__load_serve_options){.port = port}, &error), RAD_EIO);
    assert_null(second);
    assert_memory_equal(error.text, "cannot listen on 127.0.0.1 port ", 32);
    rad__load_serve_close(first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(latency_is_never_less), cmocka_unit_test(errors_have_their_share),
        cmocka_unit_test(stalls_come_again),     cmocka_unit_test(bodies_and_heads),
        cmocka_unit_test(a_port_that_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
