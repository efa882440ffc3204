/* test_live_engine.c — the live engine over HTTP/1.1: what it tells of servers that behave, and of
 * those that do not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/digest_inline.h"
#include "base/error.h"
#include "live_support.h"
#include "os/clock.h"
#include "os/fault.h"
#include "os/net.h"

#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const rad__load_serve_options plain = {.body_bytes = 10, .misbehave = true};

static void a_response_is_told_of(void **state)
{
    (void)state;
    world w;
    world_open(&w, &plain, "/");
    world_engine(&w);
    assert_int_equal(world_ask(&w, "/"), RAD__LOAD_OK);
    const rad__load_input *connected = world_got(&w, RAD__LOAD_IN_CONNECTED);
    const rad__load_input *in = world_got(&w, RAD__LOAD_IN_RESPONSE);
    assert_int_equal(connected->vu, 3);
    assert_true(connected->took_ns > 0);
    assert_int_equal(in->status, 200);
    assert_int_equal(in->body_bytes, 10);
    assert_int_equal(in->body_hash, XXH3_64bits("xxxxxxxxxx", 10));
    assert_int_equal(in->header_bytes, strlen("HTTP/1.1 200 OK\r\nServer: raddle\r\n"
                                              "Content-Length: 10\r\n\r\n"));
    assert_true(in->sent_ns >= connected->at_ns && in->first_ns >= in->sent_ns);
    assert_true(in->at_ns >= in->first_ns);
    for (int i = 0; i < 100; i++) { /* and again, on the same connection */
        world_send(&w, 3, 0, 0, false, false);
        world_wait(&w, 1);
        assert_int_equal(w.got_count, 1);
        assert_int_equal(w.got[0].kind, RAD__LOAD_IN_RESPONSE);
    }
    world_close(&w);
}

static void each_misdeed_has_its_fault(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        enum rad__load_fault fault, conn; /* conn: RAD__LOAD_OK: it was closed */
    } deeds[] = {
        {"/empty", RAD__LOAD_CLOSED_EARLY, RAD__LOAD_OK},
        {"/reset", RAD__LOAD_RESET, RAD__LOAD_RESET},
        {"/reset-late", RAD__LOAD_RESET, RAD__LOAD_RESET},
        {"/garbage", RAD__LOAD_BAD_RESPONSE, RAD__LOAD_BAD_RESPONSE},
        {"/endless-headers", RAD__LOAD_BAD_HEADER, RAD__LOAD_BAD_HEADER},
        {"/endless-body", RAD__LOAD_TOO_LARGE, RAD__LOAD_TOO_LARGE},
        {"/bytes/1048577", RAD__LOAD_TOO_LARGE, RAD__LOAD_TOO_LARGE},
        {"/wrong-length", RAD__LOAD_WRONG_LENGTH, RAD__LOAD_OK},
        {"/close-mid-chunk", RAD__LOAD_CLOSED_EARLY, RAD__LOAD_OK},
        {"/bad-chunk", RAD__LOAD_BAD_CHUNK, RAD__LOAD_BAD_CHUNK},
        {"/bad-header", RAD__LOAD_BAD_HEADER, RAD__LOAD_BAD_HEADER},
        {"/old-version", RAD__LOAD_HTTP_VERSION, RAD__LOAD_HTTP_VERSION},
    };
    world w;
    world_open(&w, &plain, "/");
    world_engine(&w);
    for (size_t i = 0; i < sizeof deeds / sizeof *deeds; i++) {
        enum rad__load_fault fault = world_ask(&w, deeds[i].path);
        if (fault != deeds[i].fault) fail_msg("%s: fault %d, expected %d", deeds[i].path, fault, deeds[i].fault);
        if (w.got_count < 3) world_wait(&w, 1); /* what became of the connection */
        const rad__load_input *last = &w.got[w.got_count - 1];
        assert_int_equal(last->kind, deeds[i].conn ? RAD__LOAD_IN_CONN_FAILED : RAD__LOAD_IN_CONN_CLOSED);
        assert_int_equal(last->fault, deeds[i].conn);
        assert_int_equal(last->vu, RAD_NONE);
    }
    world_close(&w);
}

static void responses_of_all_kinds(void **state)
{
    (void)state;
    static const struct {
        const char *path, *body;
        uint16_t status;
        bool closes;
    } kinds[] = {
        {"/chunked", "hello world", 200, false},
        {"/until-close", "until the end", 200, true},
        {"/close", "bye", 200, true},
        {"/continue", "went on", 200, false},
        {"/slow-body", "0123456789", 200, false},
        {"/status/503", "", 503, false},
        {"/slow/20", "slow", 200, false},
    };
    world w;
    world_open(&w, &plain, "/");
    world_engine(&w);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        assert_int_equal(world_ask(&w, kinds[i].path), RAD__LOAD_OK);
        const rad__load_input *in = world_got(&w, RAD__LOAD_IN_RESPONSE);
        assert_int_equal(in->status, kinds[i].status);
        assert_int_equal(in->body_bytes, strlen(kinds[i].body));
        assert_int_equal(in->body_hash, XXH3_64bits(kinds[i].body, strlen(kinds[i].body)));
        if (kinds[i].closes)
            world_got(&w, RAD__LOAD_IN_CONN_CLOSED);
        else
            assert_int_equal(w.got_count, 2);
        if (strcmp(kinds[i].path, "/slow/20") == 0) assert_true(in->at_ns - in->sent_ns > 15000000);
    }
    assert_int_equal(world_ask(&w, "/bytes/1048576"), RAD__LOAD_OK);
    assert_int_equal(world_got(&w, RAD__LOAD_IN_RESPONSE)->body_bytes, 1 << 20);
    assert_int_equal(world_ask(&w, "/twice"), RAD__LOAD_OK); /* the answer counts, the rest does not */
    assert_int_equal(world_got(&w, RAD__LOAD_IN_CONN_FAILED)->fault, RAD__LOAD_BAD_RESPONSE);
    world_close(&w);
}

static void connections_that_fail(void **state)
{
    (void)state;
    world w;
    world_open(&w, &plain, "/");
    rad_error error = {0};
    rad_os_address address;
    assert_int_equal(rad__os_net_resolve("127.0.0.1", "0", &address, 1, &error), 1);
    int64_t listener = rad__os_net_listen(&address);
    assert_true(listener >= 0);
    snprintf(w.port, sizeof w.port, "%d", (int)rad__os_net_port((int)listener));
    rad__os_io_close((int)listener); /* nobody listens there now */
    world_engine(&w);
    assert_int_equal(world_ask(&w, "/"), RAD__LOAD_REFUSED);
    assert_int_equal(w.got_count, 2);
    assert_int_equal(w.got[0].kind, RAD__LOAD_IN_FAILED);
    assert_int_equal(w.got[0].sent_ns, 0);
    assert_int_equal(w.got[1].kind, RAD__LOAD_IN_CONN_FAILED);
    assert_int_equal(w.got[1].fault, RAD__LOAD_REFUSED);
    world_close(&w);
}

/* A listener whose queue is full does not answer at all. */
static void connecting_may_take_too_long(void **state)
{
    (void)state;
    world w;
    world_open(&w, &plain, "/");
    w.target.host = "192.0.2.1"; /* for documentation: nobody is there */
    w.target.port = "9";
    w.target.connect_timeout_ns = 30000000;
    world_engine(&w);
    enum rad__load_fault fault = world_ask(&w, "/");
    /* Without a way there the system says so at once. */
    assert_true(fault == RAD__LOAD_CONNECT_TIMEOUT || fault == RAD__LOAD_NET_UNREACHABLE ||
                fault == RAD__LOAD_HOST_UNREACHABLE || fault == RAD__LOAD_REFUSED);
    if (fault == RAD__LOAD_CONNECT_TIMEOUT) {
        assert_true(w.now_ns >= 30000000);
        assert_int_equal(w.got[1].kind, RAD__LOAD_IN_CONN_FAILED);
    }
    world_close(&w);
}

static void descriptors_run_out(void **state)
{
    (void)state;
    world w;
    world_open(&w, &plain, "/");
    world_engine(&w);
    rad__os_fail_at(1);
    world_send(&w, 1, 0, 0, true, false);
    rad__os_fail_at(0);
    world_wait(&w, 2);
    assert_int_equal(w.got_count, 2);
    assert_int_equal(w.got[0].kind, RAD__LOAD_IN_FAILED);
    assert_int_equal(w.got[0].fault, RAD__LOAD_NO_DESCRIPTORS);
    assert_int_equal(w.got[1].kind, RAD__LOAD_IN_CONN_FAILED);
    world_close(&w);
}

static void closing_and_cancelling(void **state)
{
    (void)state;
    world w;
    world_open(&w, &plain, "/slow/30");
    w.requests[1] = w.requests[0];
    w.requests[1].path = "/bytes/3";
    w.scenario.request_count = 2;
    world_engine(&w);
    world_send(&w, 1, 0, 0, true, false);
    world_wait(&w, 1);
    world_got(&w, RAD__LOAD_IN_CONNECTED);
    world_do(&w, RAD__LOAD_DO_CLOSE, 1, 0, 0);               /* nothing more is told of it, */
    uint64_t request = world_send(&w, 2, 0, 1, true, false); /* and its number is free */
    world_wait(&w, 2);
    assert_int_equal(w.got_count, 2);
    assert_int_equal(world_got(&w, RAD__LOAD_IN_RESPONSE)->request, request);
    assert_int_equal(world_got(&w, RAD__LOAD_IN_RESPONSE)->body_bytes, 3);
    world_look(&w, 1, 60);
    assert_int_equal(w.got_count, 0);
    request = world_send(&w, 2, 0, 0, false, false); /* one that is awaited in vain is still told of */
    world_do(&w, RAD__LOAD_DO_CANCEL, 2, 0, request);
    world_wait(&w, 1);
    assert_int_equal(world_got(&w, RAD__LOAD_IN_RESPONSE)->request, request);
    request = world_send(&w, 2, 1, 1, true, false); /* one that was not sent will not be */
    world_do(&w, RAD__LOAD_DO_CANCEL, 2, 1, request);
    world_look(&w, 2, 100);
    assert_int_equal(w.got_count, 1);
    world_got(&w, RAD__LOAD_IN_CONNECTED);
    world_close(&w);
}

static void the_last_request_of_a_connection(void **state)
{
    (void)state;
    world w;
    world_open(&w, &plain, "/");
    world_engine(&w);
    world_send(&w, 1, 7, 0, true, true);
    world_wait(&w, 3);
    assert_int_equal(w.got_count, 3);
    assert_int_equal(w.got[1].kind, RAD__LOAD_IN_RESPONSE);
    assert_int_equal(w.got[2].kind, RAD__LOAD_IN_CONN_CLOSED);
    assert_int_equal(w.got[2].conn, 7);
    world_send(&w, 1, 7, 0, true, false);
    world_wait(&w, 2);
    world_got(&w, RAD__LOAD_IN_RESPONSE);
    world_close(&w);
}

/* The other side closes while nobody asks; and after so many requests. */
static void the_other_side_closes(void **state)
{
    (void)state;
    world w;
    rad__load_serve_options o = plain;
    o.requests_per_connection = 3;
    world_open(&w, &o, "/");
    world_engine(&w);
    for (int i = 0; i < 3; i++) {
        world_send(&w, 0, 0, 0, i == 0, false);
        world_wait(&w, i == 1 ? 1 : 2);
        world_got(&w, RAD__LOAD_IN_RESPONSE);
    }
    world_got(&w, RAD__LOAD_IN_CONN_CLOSED);
    world_send(&w, 0, 0, 0, true, false);
    world_wait(&w, 2);
    world_stop_server(&w);
    world_wait(&w, 1);
    assert_int_equal(w.got_count, 1);
    assert_int_equal(w.got[0].kind, RAD__LOAD_IN_CONN_CLOSED);
    assert_int_equal(w.got[0].fault, 0);
    world_close(&w);
}

/* A body that does not fit into the socket, sent from the plan and from what was filled in. */
static void large_requests_are_sent_in_parts(void **state)
{
    (void)state;
    enum { SIZE = 8 << 20 };
    world w;
    world_open(&w, &plain, "/echo");
    char *body = rad__alloc(1, SIZE + 1);
    memset(body, 'b', SIZE);
    w.scenario.limits.max_response_bytes = SIZE + 100;
    w.requests[0].method = "POST";
    w.requests[0].body = body;
    w.requests[0].body_size = SIZE;
    w.requests[0].body_is_file = true;
    w.requests[1] = w.requests[0];
    w.requests[1].body_is_file = false;
    memcpy(body + SIZE - 5, "${vu}", 5);
    w.scenario.request_count = 2;
    world_engine(&w);
    for (uint32_t what = 0; what < 2; what++) {
        world_send(&w, 7, what, what, true, false);
        world_wait(&w, 2);
        const rad__load_input *in = world_got(&w, RAD__LOAD_IN_RESPONSE);
        uint32_t size = what ? SIZE - 4 : SIZE;
        assert_int_equal(in->body_bytes, size);
        if (what) body[SIZE - 5] = '7';
        assert_int_equal(in->body_hash, XXH3_64bits(body, size));
    }
    world_close(&w);
    rad__free(body);
}

/* The answer and the end of the connection lie there together. */
static void the_end_comes_with_the_answer(void **state)
{
    (void)state;
    world w;
    rad__load_turn turn;
    world_open(&w, &plain, "/until-close");
    world_engine(&w);
    for (uint32_t i = 0; i < 5; i++) {
        world_send(&w, 0, i, 0, true, false);
        world_wait(&w, 1);
        uint32_t before = w.got_count; /* of the connection, the answer, the end */
        assert_int_equal(w.engine->kind->turn(w.engine, 0, true, &turn, NULL), 0);
        before += turn.input_count;
        usleep(20000);
        if (before < 3) world_wait(&w, 3 - before);
        if (before == 1) world_got(&w, RAD__LOAD_IN_CONN_CLOSED);
    }
    world_close(&w);
}

/* A server that does not read for a while: what it was sent waits, and is complete in the end. */
static void requests_that_do_not_fit(void **state)
{
    (void)state;
    enum { SIZE = 64 << 20 };
    world w;
    rad_os_address address;
    rad__load_turn turn;
    world_open(&w, &plain, "/");
    char *body = rad__alloc(1, SIZE), *bytes = rad__alloc(1, 1 << 20);
    assert_true(body && bytes);
    memset(body, 'b', SIZE);
    assert_int_equal(rad__os_net_resolve("127.0.0.1", "0", &address, 1, NULL), 1);
    int listener = (int)rad__os_net_listen(&address);
    snprintf(w.port, sizeof w.port, "%d", (int)rad__os_net_port(listener));
    w.requests[0].method = "POST";
    w.requests[0].body = body;
    w.requests[0].body_size = SIZE;
    w.requests[0].body_is_file = true;
    world_engine(&w);
    world_send(&w, 0, 0, 0, true, false);
    world_wait(&w, 1);
    assert_int_equal(w.got_count, 1);
    world_look(&w, 1, 100);
    assert_int_equal(w.got_count, 0);
    int fd = (int)rad__os_io_accept(listener, NULL, NULL);
    assert_true(fd >= 0);
    uint64_t came = 0;
    while (came < SIZE) {
        int64_t got = rad__os_net_receive(fd, bytes, 1 << 20);
        if (got > 0) came += (uint64_t)got;
        assert_int_equal(w.engine->kind->turn(w.engine, 0, true, &turn, NULL), 0);
        assert_int_equal(turn.input_count, 0);
    }
    assert_true(came > SIZE && came < SIZE + 500);
    static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    assert_int_equal(rad__os_net_send(fd, answer, sizeof answer - 1), sizeof answer - 1);
    world_wait(&w, 1);
    assert_int_equal(world_got(&w, RAD__LOAD_IN_RESPONSE)->status, 200);
    assert_int_equal(w.got_count, 1); /* and the connection is still good */
    rad__os_io_close(fd);
    rad__os_io_close(listener);
    world_close(&w);
    rad__free(body);
    rad__free(bytes);
}

/* More has come in than there are buffers for. */
static void many_large_answers_at_once(void **state)
{
    (void)state;
    enum { COUNT = 100 };
    world w;
    rad__load_turn turn;
    uint32_t answers = 0;
    world_open(&w, &plain, "/bytes/300000");
    world_engine(&w);
    for (uint32_t i = 0; i < COUNT; i++) {
        world_send(&w, i, i, 0, true, false);
        world_wait(&w, 2);
        assert_int_equal(w.got_count, 2);
    }
    for (uint32_t i = 0; i < COUNT; i++) world_send(&w, i, i, 0, false, false);
    while (answers < COUNT) {
        assert_int_equal(w.engine->kind->turn(w.engine, 0, true, &turn, NULL), 0);
        for (uint32_t i = 0; i < turn.input_count; i++) {
            assert_int_equal(turn.inputs[i].kind, RAD__LOAD_IN_RESPONSE);
            assert_int_equal(turn.inputs[i].body_bytes, 300000);
            answers++;
        }
        usleep(30000); /* so that a lot of it is there at once */
    }
    assert_int_equal(answers, COUNT);
    world_close(&w);
}

/* Without polling nothing is read; the clock goes on. */
static void a_turn_that_only_reads_the_clock(void **state)
{
    (void)state;
    world w;
    rad__load_turn turn;
    rad_error error = {0};
    world_open(&w, &plain, "/");
    world_engine(&w);
    world_send(&w, 0, 0, 0, true, false);
    uint64_t until = rad__os_now_ns() + 50000000, last = 0;
    rad__os_fail_at(1); /* any call to the system would fail, and be told */
    while (rad__os_now_ns() < until) {
        assert_int_equal(w.engine->kind->turn(w.engine, UINT64_MAX, false, &turn, &error), 0);
        assert_int_equal(turn.input_count, 0);
        assert_true(turn.now_ns >= last);
        last = turn.now_ns;
    }
    rad__os_fail_at(0);
    world_wait(&w, 2);
    world_got(&w, RAD__LOAD_IN_RESPONSE);
    uint64_t begin = w.now_ns;
    assert_int_equal(w.engine->kind->turn(w.engine, begin + 20000000, true, &turn, &error), 0);
    assert_true(turn.now_ns >= begin + 20000000);
    assert_int_equal(turn.input_count, 0);
    w.interrupted = 2;
    assert_int_equal(w.engine->kind->turn(w.engine, UINT64_MAX, true, &turn, &error), 0);
    assert_true(turn.interrupted);
    world_close(&w);
}

/* ---- What users know --------------------------------------------------------------------------------------- */

static void values_go_from_answer_to_request(void **state)
{
    (void)state;
    static const char *const variables[] = {"session", "kind"};
    static const struct rad__load_extract extracts[] = {{0, RAD__LOAD_FROM_COOKIE, "session"},
                                                        {1, RAD__LOAD_FROM_HEADER, "content-length"}};
    static const struct rad__load_header headers[] = {{"X-Session", "${var:session}"}};
    static const struct rad__load_check checks[] = {
        {"has it", RAD__LOAD_CHECK_CONTAINS, 0, 0, NULL, "X-Session: s1\r\nCookie"},
        {"has it not", RAD__LOAD_CHECK_CONTAINS, 0, 0, NULL, "X-Session: s2"},
        {"status", RAD__LOAD_CHECK_STATUS, 200, 299, NULL, NULL}};
    world w;
    world_open(&w, &plain, "/cookie");
    w.scenario.variables = variables;
    w.scenario.variable_count = 2;
    w.scenario.cookies = true;
    w.requests[0].extracts = extracts;
    w.requests[0].extract_count = 2;
    w.requests[1] = (struct rad__load_request){.name = "second",
                                               .method = "GET",
                                               .path = "/head",
                                               .target = RAD_NONE,
                                               .headers = headers,
                                               .header_count = 1,
                                               .checks = checks,
                                               .check_count = 3};
    w.scenario.request_count = 2;
    world_engine(&w);
    world_send(&w, 0, 0, 1, true, false); /* it has no session yet */
    world_wait(&w, 2);
    assert_int_equal(world_got(&w, RAD__LOAD_IN_FAILED)->fault, RAD__LOAD_BAD_REQUEST);
    assert_int_equal(world_got(&w, RAD__LOAD_IN_FAILED)->sent_ns, 0);
    assert_int_equal(w.got_count, 2); /* the connection is still good */
    world_send(&w, 0, 0, 0, false, false);
    world_wait(&w, 1);
    const rad__load_input *in = world_got(&w, RAD__LOAD_IN_RESPONSE);
    assert_int_equal(in->values_size, 5);
    assert_memory_equal(in->values,
                        "\3s1\2"
                        "0",
                        5);
    world_send(&w, 0, 0, 1, false, false);
    world_wait(&w, 1);
    in = world_got(&w, RAD__LOAD_IN_RESPONSE);
    assert_int_equal(in->checks_failed, 3); /* the cookie comes before the other headers */
    world_send(&w, 1, 0, 1, false, false);  /* another user has none */
    world_wait(&w, 1);
    assert_int_equal(world_got(&w, RAD__LOAD_IN_FAILED)->fault, RAD__LOAD_BAD_REQUEST);
    world_close(&w);
}

/* Two answers in one turn; and one that nobody waited for any more. */
static void values_are_their_users_own(void **state)
{
    (void)state;
    static const char *const variables[] = {"session"};
    static const struct rad__load_extract extract = {0, RAD__LOAD_FROM_COOKIE, "session"};
    world w;
    world_open(&w, &plain, "/cookie");
    w.scenario.variables = variables;
    w.scenario.variable_count = 1;
    w.requests[0].extracts = &extract;
    w.requests[0].extract_count = 1;
    w.requests[1] = w.requests[0];
    w.requests[1].path = "/bytes/${var:session}";
    w.scenario.request_count = 2;
    world_engine(&w);
    for (uint32_t i = 0; i < 2; i++) {
        world_send(&w, i, i, 0, true, false);
        world_wait(&w, 2);
    }
    bool together = false; /* both answers in one turn: so it is unless the server was slow */
    for (int i = 0; i < 1000 && !together; i++) {
        rad__load_turn turn;
        for (uint32_t k = 0; k < 2; k++) world_send(&w, k, k, 0, false, false);
        assert_int_equal(w.engine->kind->turn(w.engine, 0, true, &turn, NULL), 0);
        uint32_t before = turn.input_count;
        usleep(20000);
        if (before < 2) assert_int_equal(w.engine->kind->turn(w.engine, UINT64_MAX, true, &turn, NULL), 0);
        together = turn.input_count == 2 && turn.inputs[0].values_size == turn.inputs[1].values_size;
        if (together)
            assert_memory_not_equal(turn.inputs[0].values, turn.inputs[1].values, turn.inputs[0].values_size);
        else if (before + turn.input_count < 2)
            world_wait(&w, 1);
    }
    assert_true(together);
    world_send(&w, 2, 0, 0, false, false);
    world_do(&w, RAD__LOAD_DO_CANCEL, 2, 0, w.request);
    world_wait(&w, 1);
    world_got(&w, RAD__LOAD_IN_RESPONSE);
    world_send(&w, 2, 0, 1, false, false); /* so it has learned nothing */
    world_wait(&w, 1);
    assert_int_equal(world_got(&w, RAD__LOAD_IN_FAILED)->fault, RAD__LOAD_BAD_REQUEST);
    world_close(&w);
}

/* What a connection costs, without what the kernel has for it. */
static void connections_are_small(void **state)
{
    (void)state;
    enum { COUNT = 500 };
    world w;
    world_open(&w, &plain, "/");
    world_engine(&w);
    size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    for (uint32_t i = 0; i < COUNT; i++) {
        world_send(&w, 1, i, 0, true, false);
        world_wait(&w, 2);
        assert_int_equal(w.got_count, 2);
    }
    size_t each = (mallinfo2().uordblks + mallinfo2().hblkhd - before) / COUNT;
    print_message("# %zu bytes for each connection\n", each);
    assert_true(each <= 4 << 10);
    world_close(&w);
}

/* ---- Faults ------------------------------------------------------------------------------------------------ */

static world faulty;

/* The engine is opened and one request made, whatever fails: an error, or an input, and never nothing. */
static int attempt(rad_error *error)
{
    rad__load_live_options o = {.scenario = &faulty.scenario, .seed = 5, .uring = world_uses_uring()};
    rad__load_engine *engine = NULL;
    int code = rad__load_live_open(&engine, &o, NULL, error);
    if (code != 0) {
        assert_null(engine);
        return code;
    }
    rad__load_effect e = {.kind = RAD__LOAD_DO_SEND, .request = 1, .open = true};
    rad__load_turn turn = {0};
    bool answered = false;
    code = engine->kind->act(engine, &e, 1, error);
    for (int i = 0; i < 36000 && code == 0 && !answered; i++) {
        code = engine->kind->turn(engine, turn.now_ns + 100000000, true, &turn, error);
        for (uint32_t k = 0; k < turn.input_count && code == 0; k++) {
            answered |= turn.inputs[k].kind == RAD__LOAD_IN_RESPONSE;
            if (turn.inputs[k].kind == RAD__LOAD_IN_FAILED) {
                assert_true(turn.inputs[k].fault != RAD__LOAD_OK);
                code = rad__error_memory(error);
            }
        }
    }
    engine->kind->close(engine);
    assert_true(answered || code != 0);
    return code;
}

static void the_nth_call_fails(void **state)
{
    (void)state;
    world_open(&faulty, &plain, "/bytes/100000");
    faulty.scenario.cookies = true;
    uint64_t n = 1;
    for (;; n++) {
        rad_error error = {0};
        rad__alloc_fail_at(n);
        int code = attempt(&error);
        rad__alloc_fail_at(0);
        if (code == 0) break;
        assert_int_equal(code, RAD_ENOMEM);
        assert_true(n < 1000);
    }
    assert_true(n > 8);
    world_close(&faulty);
}

static void a_name_that_nobody_has(void **state)
{
    (void)state;
    world w;
    world_open(&w, &plain, "/");
    w.target.host = "no-such-host.invalid";
    rad__load_live_options o = {.scenario = &w.scenario};
    rad_error error = {0};
    rad__load_engine *engine;
    assert_int_equal(rad__load_live_open(&engine, &o, NULL, &error), RAD_EIO);
    assert_memory_equal(error.text, "no-such-host.invalid port ", 26);
    w.requests[0].path = "/${nope}";
    memset(&error, 0, sizeof error);
    assert_int_equal(rad__load_live_open(&engine, &o, NULL, &error), RAD_EINPUT);
    memset(&error, 0, sizeof error);
    assert_int_equal(rad__load_live_check(&w.scenario, NULL, &error), RAD_EINPUT);
    w.requests[0].path = "/fine";
    assert_int_equal(rad__load_live_check(&w.scenario, NULL, NULL), 0);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_response_is_told_of),
        cmocka_unit_test(each_misdeed_has_its_fault),
        cmocka_unit_test(responses_of_all_kinds),
        cmocka_unit_test(connections_that_fail),
        cmocka_unit_test(connecting_may_take_too_long),
        cmocka_unit_test(descriptors_run_out),
        cmocka_unit_test(closing_and_cancelling),
        cmocka_unit_test(the_last_request_of_a_connection),
        cmocka_unit_test(the_other_side_closes),
        cmocka_unit_test(large_requests_are_sent_in_parts),
        cmocka_unit_test(the_end_comes_with_the_answer),
        cmocka_unit_test(requests_that_do_not_fit),
        cmocka_unit_test(many_large_answers_at_once),
        cmocka_unit_test(a_turn_that_only_reads_the_clock),
        cmocka_unit_test(values_go_from_answer_to_request),
        cmocka_unit_test(values_are_their_users_own),
        cmocka_unit_test(connections_are_small),
        cmocka_unit_test(the_nth_call_fails),
        cmocka_unit_test(a_name_that_nobody_has),
    };
    return world_run_twice(tests);
}
