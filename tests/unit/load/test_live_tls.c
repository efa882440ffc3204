/* test_live_tls.c — the live engine over TLS: a front that speaks it passes everything on to our own server. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/digest_inline.h"
#include "live_front.h"
#include "live_support.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const rad__load_serve_options plain = {.body_bytes = 10, .misbehave = true};

typedef struct setting {
    world w;
    live_front front;
    char port[8], bundle[64];
} setting;

/* `name`: what the certificate says. */
static void setting_open(setting *s, const char *path, const char *name, const char *alpn)
{
    world_open(&s->w, &plain, path);
    uint32_t port = (uint32_t)strtoul(s->w.port, NULL, 10);
    live_front_open(&s->front, port, name, alpn);
    snprintf(s->port, sizeof s->port, "%u", s->front.port);
    snprintf(s->bundle, sizeof s->bundle, "%s", s->front.certificate);
    s->w.target.port = s->port;
    s->w.target.host = "127.0.0.1";
    s->w.target.server_name = "raddle.test";
    s->w.target.tls = s->w.target.verify = true;
    s->w.target.ca_bundle = s->bundle;
}

static void setting_close(setting *s)
{
    world_close(&s->w);
    live_front_close(&s->front);
}

static void responses_come_through(void **state)
{
    (void)state;
    setting s;
    setting_open(&s, "/bytes/200000", "DNS:raddle.test", "http/1.1");
    world_engine(&s.w);
    assert_int_equal(world_ask(&s.w, "/bytes/200000"), RAD__LOAD_OK);
    assert_int_equal(world_got(&s.w, RAD__LOAD_IN_RESPONSE)->body_bytes, 200000);
    assert_true(world_got(&s.w, RAD__LOAD_IN_CONNECTED)->took_ns > 0);
    for (int i = 0; i < 20; i++) {
        world_send(&s.w, 3, 0, 0, false, false);
        world_wait(&s.w, 1);
        assert_int_equal(world_got(&s.w, RAD__LOAD_IN_RESPONSE)->body_bytes, 200000);
    }
    assert_int_equal(world_ask(&s.w, "/until-close"), RAD__LOAD_OK);
    assert_int_equal(world_got(&s.w, RAD__LOAD_IN_RESPONSE)->body_hash, XXH3_64bits("until the end", 13));
    assert_int_equal(world_ask(&s.w, "/wrong-length"), RAD__LOAD_WRONG_LENGTH);
    assert_int_equal(world_ask(&s.w, "/garbage"), RAD__LOAD_BAD_RESPONSE);
    for (int i = 0; i < 200; i++) assert_int_equal(world_ask(&s.w, "/close"), RAD__LOAD_OK);
    setting_close(&s);
}

static void large_requests_go_through(void **state)
{
    (void)state;
    enum { SIZE = 2 << 20 };
    static char body[SIZE];
    setting s;
    setting_open(&s, "/echo", "DNS:raddle.test", "http/1.1");
    memset(body, 'q', SIZE);
    s.w.scenario.limits.max_response_bytes = SIZE;
    s.w.requests[0].method = "POST";
    s.w.requests[0].body = body;
    s.w.requests[0].body_size = SIZE;
    s.w.requests[0].body_is_file = true;
    world_engine(&s.w);
    assert_int_equal(world_ask(&s.w, "/echo"), RAD__LOAD_OK);
    assert_int_equal(world_got(&s.w, RAD__LOAD_IN_RESPONSE)->body_hash, XXH3_64bits(body, SIZE));
    setting_close(&s);
}

/* Verified unless told otherwise: the issuer, and the name. */
static void certificates_are_verified(void **state)
{
    (void)state;
    setting s;
    setting_open(&s, "/", "DNS:raddle.test", "http/1.1");
    s.w.target.ca_bundle = NULL; /* the system's: ours is not among them */
    world_engine(&s.w);
    assert_int_equal(world_ask(&s.w, "/"), RAD__LOAD_CERTIFICATE);
    assert_int_equal(world_got(&s.w, RAD__LOAD_IN_FAILED)->sent_ns, 0);
    assert_int_equal(world_got(&s.w, RAD__LOAD_IN_CONN_FAILED)->fault, RAD__LOAD_CERTIFICATE);
    s.w.target.verify = false;
    assert_int_equal(world_ask(&s.w, "/bytes/1"), RAD__LOAD_OK);
    s.w.target.verify = true;
    s.w.target.ca_bundle = s.bundle;
    s.w.target.server_name = "other.test";
    assert_int_equal(world_ask(&s.w, "/bytes/2"), RAD__LOAD_CERTIFICATE);
    s.w.target.server_name = NULL; /* by its address */
    assert_int_equal(world_ask(&s.w, "/bytes/3"), RAD__LOAD_CERTIFICATE);
    setting_close(&s);
    setting_open(&s, "/", "IP:127.0.0.1", "http/1.1");
    s.w.target.server_name = NULL;
    world_engine(&s.w);
    assert_int_equal(world_ask(&s.w, "/"), RAD__LOAD_OK);
    setting_close(&s);
}

static void what_is_not_tls(void **state)
{
    (void)state;
    setting s;
    live_front other; /* begins to talk at once, and not in TLS */
    setting_open(&s, "/", "DNS:raddle.test", "http/1.1");
    live_front_http2(&other);
    snprintf(s.port, sizeof s.port, "%u", other.port);
    world_engine(&s.w);
    assert_int_equal(world_ask(&s.w, "/"), RAD__LOAD_TLS_HANDSHAKE);
    live_front_close(&other);
    setting_close(&s);
}

/* A server that says nothing. */
static void handshakes_may_take_too_long(void **state)
{
    (void)state;
    setting s;
    setting_open(&s, "/", "DNS:raddle.test", "silent");
    s.w.target.connect_timeout_ns = 50000000;
    world_engine(&s.w);
    assert_int_equal(world_ask(&s.w, "/"), RAD__LOAD_TLS_TIMEOUT);
    assert_true(s.w.now_ns >= 50000000);
    setting_close(&s);
}

static void http2_has_to_be_agreed_on(void **state)
{
    (void)state;
    setting s;
    setting_open(&s, "/", "DNS:raddle.test", "http/1.1");
    s.w.target.http2 = true;
    s.w.target.streams = 4;
    world_engine(&s.w);
    assert_int_equal(world_ask(&s.w, "/"), RAD__LOAD_ALPN);
    setting_close(&s);
}

static void certificates_that_cannot_be_read(void **state)
{
    (void)state;
    setting s;
    setting_open(&s, "/", "DNS:raddle.test", "http/1.1");
    s.w.target.ca_bundle = "/nowhere/ca.pem";
    rad__load_live_options o = {.scenario = &s.w.scenario};
    rad__load_engine *engine;
    rad_error error = {0};
    assert_int_equal(rad__load_live_open(&engine, &o, NULL, &error), RAD_EINPUT);
    assert_memory_equal(error.text, "target 'here': /nowhere/ca.pem: ", 32);
    setting_close(&s);
}

/* Bytes of the heap in use. */
static size_t heap_bytes(void)
{
    return mallinfo2().uordblks + mallinfo2().hblkhd;
}

/* What a connection costs, from many at once. */
static void connections_are_small(void **state)
{
    (void)state;
    enum { COUNT = 200 };
    setting s;
    setting_open(&s, "/", "DNS:raddle.test", "http/1.1");
    world_engine(&s.w);
    assert_int_equal(world_ask(&s.w, "/"), RAD__LOAD_OK);
    size_t before = heap_bytes();
    for (uint32_t i = 1; i <= COUNT; i++) {
        world_send(&s.w, 1, i, 0, true, false);
        world_wait(&s.w, 2);
        world_got(&s.w, RAD__LOAD_IN_RESPONSE);
    }
    size_t each = (heap_bytes() - before) / COUNT;
    print_message("# %zu bytes for each connection\n", each);
    assert_true(each <= 36 << 10);
    setting_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(responses_come_through),           cmocka_unit_test(large_requests_go_through),
        cmocka_unit_test(certificates_are_verified),        cmocka_unit_test(what_is_not_tls),
        cmocka_unit_test(handshakes_may_take_too_long),     cmocka_unit_test(http2_has_to_be_agreed_on),
        cmocka_unit_test(certificates_that_cannot_be_read), cmocka_unit_test(connections_are_small),
    };
    return world_run_twice(tests);
}
