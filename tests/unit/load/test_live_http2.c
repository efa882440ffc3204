/* test_live_http2.c — the live engine over HTTP/2, with and without TLS: several requests at once, and what servers may
 * do to them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/digest_inline.h"
#include "live_front.h"
#include "live_support.h"

#include <malloc.h>
#include <stdio.h>
#include <string.h>

typedef struct setting {
    world w;
    live_front back, front;
    char port[8];
    bool tls;
} setting;

static const char *const paths[WORLD_REQUESTS] = {"/5",      "/stall",  "/refuse", "/reset",
                                                  "/goaway", "/100000", "/last",   "/interim"};
enum { FIVE, STALL, REFUSE, RESET, GOAWAY, LARGE, LAST, INTERIM };

static void setting_open(setting *s, bool tls)
{
    memset(s, 0, sizeof *s);
    world_open(&s->w, &(rad__load_serve_options){0}, "/");
    live_front_http2(&s->back);
    s->tls = tls;
    if (tls) live_front_open(&s->front, s->back.port, "IP:127.0.0.1", "h2");
    snprintf(s->port, sizeof s->port, "%u", tls ? s->front.port : s->back.port);
    s->w.target.port = s->port;
    s->w.target.http2 = true;
    s->w.target.tls = s->w.target.verify = tls;
    s->w.target.ca_bundle = s->front.certificate;
    s->w.target.streams = 10;
    for (uint32_t i = 0; i < WORLD_REQUESTS; i++) {
        s->w.requests[i] = s->w.requests[0];
        s->w.requests[i].path = paths[i];
    }
    s->w.scenario.request_count = WORLD_REQUESTS;
}

static void setting_close(setting *s)
{
    world_close(&s->w);
    live_front_close(&s->back);
    if (s->tls) live_front_close(&s->front);
}

/* Of a body as the server makes it. */
static uint64_t hash_of(size_t size)
{
    static char body[100000];
    for (size_t i = 0; i < size; i++) body[i] = (char)('a' + i % 23);
    return XXH3_64bits(body, size);
}

static void several_at_once(void **state)
{
    (void)state;
    for (int tls = 0; tls < 2; tls++) {
        setting s;
        setting_open(&s, tls);
        world_engine(&s.w);
        for (uint32_t vu = 0; vu < 10; vu++) world_send(&s.w, vu, 0, vu % 2 ? LARGE : FIVE, vu == 0, false);
        world_wait(&s.w, 11);
        assert_int_equal(s.w.got_count, 11);
        uint32_t seen = 0;
        for (uint32_t i = 0; i < 11; i++) {
            const rad__load_input *in = &s.w.got[i];
            if (in->kind == RAD__LOAD_IN_CONNECTED) continue;
            assert_int_equal(in->kind, RAD__LOAD_IN_RESPONSE);
            assert_int_equal(in->request, in->vu + 1);
            assert_int_equal(in->body_bytes, in->vu % 2 ? 100000 : 5);
            assert_int_equal(in->status, 200);
            assert_int_equal(in->header_bytes, 7 + 3 + 4 + 6 + 4 + 4);
            assert_int_equal(in->body_hash, hash_of(in->vu % 2 ? 100000 : 5));
            assert_true(in->sent_ns > 0 && in->first_ns >= in->sent_ns && in->at_ns >= in->first_ns);
            seen |= 1u << in->vu;
        }
        assert_int_equal(seen, 1023);
        for (int i = 0; i < 50; i++) {
            world_send(&s.w, 1, 0, FIVE, false, false);
            world_wait(&s.w, 1);
            assert_int_equal(s.w.got_count, 1);
            assert_int_equal(s.w.got[0].kind, RAD__LOAD_IN_RESPONSE);
        }
        setting_close(&s);
    }
}

/* A stream may fail, the others go on. */
static void streams_fail_alone(void **state)
{
    (void)state;
    static const struct {
        uint32_t what;
        enum rad__load_fault fault;
    } deeds[] = {{REFUSE, RAD__LOAD_REFUSED_STREAM}, {RESET, RAD__LOAD_RESET}, {STALL, RAD__LOAD_RESET}};
    setting s;
    setting_open(&s, false);
    s.w.requests[STALL].path = "/partial"; /* in the middle of its body */
    world_engine(&s.w);
    world_send(&s.w, 0, 0, FIVE, true, false);
    world_wait(&s.w, 2);
    for (size_t i = 0; i < 3; i++) {
        world_send(&s.w, 1, 0, deeds[i].what, false, false);
        world_wait(&s.w, 1);
        assert_int_equal(s.w.got_count, 1);
        assert_int_equal(world_got(&s.w, RAD__LOAD_IN_FAILED)->fault, deeds[i].fault);
    }
    world_send(&s.w, 1, 0, INTERIM, false, false);
    world_wait(&s.w, 1);
    assert_int_equal(world_got(&s.w, RAD__LOAD_IN_RESPONSE)->status, 404);
    setting_close(&s);
}

static void servers_go_away(void **state)
{
    (void)state;
    setting s;
    setting_open(&s, false);
    world_engine(&s.w);
    world_send(&s.w, 0, 0, FIVE, true, false);
    world_wait(&s.w, 2);
    world_send(&s.w, 1, 0, GOAWAY, false, false);
    world_wait(&s.w, 2);
    assert_int_equal(s.w.got_count, 2);
    assert_int_equal(s.w.got[0].fault, RAD__LOAD_REFUSED_STREAM);
    assert_int_equal(s.w.got[1].kind, RAD__LOAD_IN_CONN_CLOSED);
    world_send(&s.w, 0, 0, STALL, true, false); /* the last one is still answered, those before, too */
    world_send(&s.w, 1, 0, LAST, false, false);
    world_wait(&s.w, 2);
    assert_int_equal(world_got(&s.w, RAD__LOAD_IN_RESPONSE)->body_bytes, 5);
    world_send(&s.w, 2, 0, FIVE, false, false); /* nothing new */
    world_look(&s.w, 1, 100);
    assert_int_equal(world_got(&s.w, RAD__LOAD_IN_FAILED)->fault, RAD__LOAD_REFUSED_STREAM);
    assert_int_equal(world_got(&s.w, RAD__LOAD_IN_FAILED)->sent_ns, 0);
    world_do(&s.w, RAD__LOAD_DO_CANCEL, 0, 0, 3); /* nobody waits any more: it can be closed */
    world_wait(&s.w, 1);
    assert_int_equal(s.w.got_count, 1);
    assert_int_equal(s.w.got[0].kind, RAD__LOAD_IN_CONN_CLOSED);
    setting_close(&s);
}

static void whole_connections_fail(void **state)
{
    (void)state;
    setting s;
    setting_open(&s, false);
    s.w.requests[1].path = "/close";
    s.w.requests[2].path = "/garbage";
    world_engine(&s.w);
    for (uint32_t what = 1; what < 3; what++) {
        world_send(&s.w, 0, what, FIVE, true, false);
        world_wait(&s.w, 2);
        world_send(&s.w, 1, what, FIVE, false, false);
        world_send(&s.w, 2, what, what, false, false);
        world_wait(&s.w, 3);
        const rad__load_input *failed = world_got(&s.w, RAD__LOAD_IN_FAILED);
        assert_int_equal(failed->vu, 2);
        assert_int_equal(failed->fault, what == 1 ? RAD__LOAD_CLOSED_EARLY : RAD__LOAD_HTTP2_VIOLATION);
        world_got(&s.w, what == 1 ? RAD__LOAD_IN_CONN_CLOSED : RAD__LOAD_IN_CONN_FAILED);
    }
    s.w.target.port = s.w.port; /* our server speaks HTTP/1.1 */
    assert_int_equal(world_ask(&s.w, "/x"), RAD__LOAD_HTTP2_VIOLATION);
    setting_close(&s);
}

static void cancelled_streams_are_forgotten(void **state)
{
    (void)state;
    setting s;
    setting_open(&s, false);
    world_engine(&s.w);
    uint64_t waiting = world_send(&s.w, 0, 0, FIVE, true, false);
    uint64_t second = world_send(&s.w, 1, 0, STALL, false, false);
    world_do(&s.w, RAD__LOAD_DO_CANCEL, 0, 0, waiting); /* never sent */
    world_wait(&s.w, 1);
    world_look(&s.w, 1, 50);
    assert_int_equal(s.w.got_count, 0);
    world_do(&s.w, RAD__LOAD_DO_CANCEL, 1, 0, second);
    world_send(&s.w, 2, 0, FIVE, false, true); /* and the connection is as good as ever */
    world_wait(&s.w, 2);
    assert_int_equal(s.w.got_count, 2);
    assert_int_equal(world_got(&s.w, RAD__LOAD_IN_RESPONSE)->vu, 2);
    world_got(&s.w, RAD__LOAD_IN_CONN_CLOSED); /* it was the last */
    world_send(&s.w, 2, 0, FIVE, true, false);
    world_wait(&s.w, 2);
    for (int i = 0; i < 900; i++) { /* however many there were; after 1,000 nghttp2 would be annoyed */
        second = world_send(&s.w, 1, 0, STALL, false, false);
        world_do(&s.w, RAD__LOAD_DO_CANCEL, 1, 0, second);
    }
    world_send(&s.w, 2, 0, FIVE, false, true);
    world_wait(&s.w, 2);
    assert_int_equal(world_got(&s.w, RAD__LOAD_IN_RESPONSE)->vu, 2);
    world_send(&s.w, 0, 0, STALL, true, false);
    world_wait(&s.w, 1);
    world_do(&s.w, RAD__LOAD_DO_CLOSE, 0, 0, 0);
    world_look(&s.w, 1, 50);
    assert_int_equal(s.w.got_count, 0);
    setting_close(&s);
}

static void bodies_and_limits(void **state)
{
    (void)state;
    enum { SIZE = 5000000 };
    setting s;
    setting_open(&s, false);
    char *body = rad__alloc(1, SIZE);
    memset(body, 'z', SIZE);
    memcpy(body + 10, "${vu}", 5);
    s.w.requests[0] = (struct rad__load_request){
        .name = "b", .method = "POST", .path = "/echo", .target = RAD_NONE, .body = body, .body_size = SIZE};
    s.w.requests[1] = s.w.requests[0];
    s.w.requests[1].body_is_file = true;
    s.w.requests[2].path = "/6000001";
    s.w.scenario.limits.max_response_bytes = 6000000;
    s.w.requests[3].path = "/trailers";
    static const struct rad__load_check checks[] = {{"kind", RAD__LOAD_CHECK_HEADER, 0, 0, "X-Kind", "test"},
                                                    {"trailer", RAD__LOAD_CHECK_HEADER, 0, 0, "x-after", NULL},
                                                    {"body", RAD__LOAD_CHECK_CONTAINS, 0, 0, NULL, "abcdefg"}};
    s.w.requests[3].checks = checks;
    s.w.requests[3].check_count = 3;
    world_engine(&s.w);
    for (uint32_t what = 0; what < 4; what++) {
        world_send(&s.w, 7, 0, what, what == 0, false);
        world_wait(&s.w, what == 0 ? 2 : 1);
        if (what == 2) {
            assert_int_equal(world_got(&s.w, RAD__LOAD_IN_FAILED)->fault, RAD__LOAD_TOO_LARGE);
            continue;
        }
        const rad__load_input *in = world_got(&s.w, RAD__LOAD_IN_RESPONSE);
        assert_int_equal(in->body_bytes, what == 0 ? SIZE - 4 : what == 1 ? SIZE : 7);
        if (what == 3) assert_int_equal(in->checks_failed, 2); /* trailers are not headers */
    }
    setting_close(&s);
    rad__free(body);
}

/* A body that is larger than what a connection may send at once, to a server that reads it at once or later. */
static void bodies_are_sent_in_shares(void **state)
{
    (void)state;
    enum { SIZE = 6000000, PROMPT_SIZE = 1500000 };
    setting s;
    uint64_t quickest = UINT64_MAX;
    setting_open(&s, false);
    char *body = rad__alloc(1, SIZE);
    memset(body, 'z', SIZE);
    s.w.requests[0] = (struct rad__load_request){.name = "b",
                                                 .method = "POST",
                                                 .path = "/echo",
                                                 .target = RAD_NONE,
                                                 .body = body,
                                                 .body_size = PROMPT_SIZE,
                                                 .body_is_file = true};
    s.w.requests[1] = s.w.requests[0];
    s.w.requests[1].path = "/lazy";
    s.w.requests[1].body_size = SIZE;
    s.w.scenario.limits.max_response_bytes = SIZE;
    world_engine(&s.w);
    for (int i = 0; i < 10; i++) {
        world_send(&s.w, 0, 0, 0, i == 0, false);
        world_wait(&s.w, i == 0 ? 2 : 1);
        const rad__load_input *in = world_got(&s.w, RAD__LOAD_IN_RESPONSE);
        assert_int_equal(in->body_bytes, PROMPT_SIZE);
        if (in->first_ns - in->sent_ns < quickest) quickest = in->first_ns - in->sent_ns;
    }
    print_message("# %.1f ms\n", (double)quickest * 1e-6);
    assert_true(quickest < 90000000); /* it goes on by itself, not when somebody looks (100 ms) */
    world_send(&s.w, 0, 0, 1, false, false);
    world_wait(&s.w, 1);
    assert_int_equal(world_got(&s.w, RAD__LOAD_IN_RESPONSE)->body_bytes, SIZE);
    setting_close(&s);
    rad__free(body);
}

/* What a connection costs, with TLS, after it has carried ten requests at once. */
static void connections_are_small(void **state)
{
    (void)state;
    enum { COUNT = 50 };
    setting s;
    setting_open(&s, true);
    world_engine(&s.w);
    size_t before = 0;
    for (uint32_t i = 0; i <= COUNT; i++) {
        for (uint32_t vu = 0; vu < 10; vu++) world_send(&s.w, vu, i, FIVE, vu == 0, false);
        world_wait(&s.w, 11);
        assert_int_equal(s.w.got_count, 11);
        if (i == 0) before = mallinfo2().uordblks + mallinfo2().hblkhd;
    }
    size_t each = (mallinfo2().uordblks + mallinfo2().hblkhd - before) / COUNT;
    print_message("# %zu bytes for each connection\n", each);
    assert_true(each <= 64 << 10);
    setting_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_at_once),
        cmocka_unit_test(streams_fail_alone),
        cmocka_unit_test(servers_go_away),
        cmocka_unit_test(whole_connections_fail),
        cmocka_unit_test(cancelled_streams_are_forgotten),
        cmocka_unit_test(bodies_and_limits),
        cmocka_unit_test(bodies_are_sent_in_shares),
        cmocka_unit_test(connections_are_small),
    };
    return world_run_twice(tests);
}
