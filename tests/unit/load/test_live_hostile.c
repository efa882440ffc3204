/* test_live_hostile.c — servers that flood, trickle or do not listen, beside one that behaves: its requests are
 * answered, timeouts come, an interruption is noticed, and what waits to be sent stays small. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "live_hostile.h"
#include "live_support.h"
#include "load/live/parts.h"

#include <raddle/load.h>

#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <unistd.h>

enum { FLOODS = 3, HONEST = FLOODS, HOSTILE_TARGET = 0, HONEST_TARGET = 1 };

static const char *const names[HOSTILE_COUNT] = {
    "PING",     "PING with ACK", "SETTINGS",        "DATA",        "empty DATA", "CONTINUATION", "WINDOW_UPDATE",
    "PRIORITY", "unknown",       "interim HEADERS", "header bomb", "PING, deaf", "no streams",   "headers",
    "body",     "interim",       "trickle"};

/* A hostile target, perhaps behind TLS, and an honest one. */
typedef struct setting {
    world w;
    live_front hostile, front;
    bool tls;
    char port[8];
    struct rad__load_target targets[2];
} setting;

static void setting_open(setting *s, enum live_hostility kind, bool tls)
{
    bool http2 = live_hostile_is_http2(kind);
    print_message("# %s%s\n", names[kind], tls ? ", TLS" : "");
    memset(s, 0, sizeof *s);
    world_open(&s->w, &(rad__load_serve_options){.body_bytes = 10}, "/");
    live_hostile_open(&s->hostile, kind);
    s->tls = tls;
    if (tls) live_front_open(&s->front, s->hostile.port, "IP:127.0.0.1", http2 ? "h2" : "http/1.1");
    snprintf(s->port, sizeof s->port, "%u", tls ? s->front.port : s->hostile.port);
    s->targets[HOSTILE_TARGET] = s->targets[HONEST_TARGET] = s->w.target;
    struct rad__load_target *t = &s->targets[HOSTILE_TARGET];
    t->port = s->port;
    t->http2 = http2;
    t->tls = t->verify = tls;
    t->ca_bundle = s->front.certificate;
    s->w.scenario.targets = s->targets;
    s->w.scenario.target_count = 2;
    s->w.requests[HONEST_TARGET] = s->w.requests[0];
    s->w.requests[HOSTILE_TARGET].target = HOSTILE_TARGET;
    s->w.requests[HONEST_TARGET].target = HONEST_TARGET;
    s->w.scenario.request_count = 2;
    s->w.scenario.limits.max_response_bytes = UINT32_MAX; /* an endless body has no end */
    world_engine(&s->w);
}

static void setting_close(setting *s)
{
    world_close(&s->w);
    live_front_close(&s->hostile);
    if (s->tls) live_front_close(&s->front);
}

/* A request of user and connection `who` to a target, whose request has the same number. */
static void ask(setting *s, uint32_t who, uint32_t target, bool open)
{
    rad_error error = {0};
    rad__load_effect e = {.kind = RAD__LOAD_DO_SEND,
                          .vu = who,
                          .conn = who,
                          .what = target,
                          .target = target,
                          .request = ++s->w.request,
                          .open = open};
    if (s->w.engine->kind->act(s->w.engine, &e, 1, &error) != 0) fail_msg("%s", error.text);
}

/* By day one engine has the odd kinds, the other the even ones; by night both have all. */
static bool is_for_the_night(uint32_t kind)
{
    return storm_size(1, 0) && kind % 2 != world_uses_uring();
}

/* Turns until the honest one is answered. Floods that were ended begin anew. */
static void wait_for_honest(setting *s, const char *name)
{
    for (;;) {
        rad_error error = {0};
        rad__load_turn turn;
        bool answered = false, ended[FLOODS] = {false};
        if (s->w.engine->kind->turn(s->w.engine, UINT64_MAX, true, &turn, &error) != 0)
            fail_msg("%s: %s", name, error.text);
        for (uint32_t i = 0; i < turn.input_count; i++) {
            const rad__load_input *in = &turn.inputs[i];
            bool gone = in->kind == RAD__LOAD_IN_CONN_FAILED || in->kind == RAD__LOAD_IN_CONN_CLOSED;
            if (in->conn < FLOODS) {
                assert_int_not_equal(in->kind, RAD__LOAD_IN_RESPONSE);
                ended[in->conn] |= gone;
                continue;
            }
            if (gone || in->kind == RAD__LOAD_IN_FAILED) fail_msg("%s: the honest request failed: %u", name, in->fault);
            answered |= in->kind == RAD__LOAD_IN_RESPONSE;
        }
        for (uint32_t i = 0; i < FLOODS; i++)
            if (ended[i]) ask(s, i, HOSTILE_TARGET, true);
        if (answered) return;
    }
}

static void the_honest_are_answered(void **state)
{
    (void)state;
    for (uint32_t kind = 0; kind < HOSTILE_COUNT; kind++)
        for (int tls = 0; tls < 2; tls++) {
            setting s;
            setting_open(&s, kind, tls);
            for (uint32_t i = 0; i < FLOODS; i++) ask(&s, i, HOSTILE_TARGET, true);
            for (uint64_t i = 0; i < storm_size(3, 8); i++) {
                ask(&s, HONEST, HONEST_TARGET, i == 0);
                wait_for_honest(&s, names[kind]);
            }
            setting_close(&s);
        }
}

/* ---- Whole runs --------------------------------------------------------------------------------------------- */

static volatile int stop;

static void on_alarm(int number)
{
    (void)number;
    stop = 1;
}

/* Four users, each of whom asks the hostile server once and the honest one five times, and again. */
static rad_load_result *run(setting *s, enum live_hostility kind, const char *how_long)
{
    char text[2000];
    rad_load_scenario *scenario;
    rad_load_result *r;
    rad_error error = {0};
    rad_load_options o = rad_load_defaults();
    snprintf(text, sizeof text,
             "[metadata]\nname = 'hostile'\nversion = '1'\n"
             "[runtime]\n%s\nvus = 4\nseed = 3\n"
             "[limits]\nrequest_timeout_ms = 3600000\n"
             "[[targets]]\nname = 'hostile'\nbase_url = '%s://127.0.0.1:%s'\n%s%s\n"
             "[[targets]]\nname = 'honest'\nbase_url = 'http://127.0.0.1:%s'\n"
             "[[requests]]\nname = 'flood'\npath = '/'\ntarget = 'hostile'\ntimeout_ms = 20\n"
             "[[requests]]\nname = 'fine'\npath = '/'\ntarget = 'honest'\n"
             "[sequence]\n[[sequence.steps]]\nrequest = 'flood'\n"
             "[[sequence.steps]]\nrequest = 'fine'\nrepeat = 5\n",
             how_long, s->tls ? "https" : "http", s->port,
             live_hostile_is_http2(kind) ? "http_version = 'http2'\n" : "", s->tls ? "verify_cert = false\n" : "",
             s->w.port);
    if (rad_load_parse(&scenario, "hostile", text, strlen(text), &error) != 0) fail_msg("%s", error.text);
    o.engine = world_uses_uring() ? RAD_LOAD_URING : RAD_LOAD_EPOLL;
    o.log = "hostile.log";
    o.stop = &stop;
    if (rad_load_run(&r, scenario, &o, &error) != 0) fail_msg("%s: %s", names[kind], error.text);
    rad_load_free(scenario);
    return r;
}

static void replays(const char *name)
{
    rad_load_verdict v;
    rad_error error = {0};
    if (rad_load_replay(&v, NULL, "hostile.log", NULL, false, &error) != 0) fail_msg("%s: %s", name, error.text);
    if (!v.same) fail_msg("%s: differs: %s", name, v.text);
    unlink("hostile.log");
}

static void timeouts_come(void **state)
{
    (void)state;
    for (uint32_t kind = 0; kind < HOSTILE_COUNT; kind++) {
        setting s;
        rad_load_facts f;
        if (is_for_the_night(kind)) continue;
        setting_open(&s, kind, kind / 2 % 2);
        rad_load_result *r = run(&s, kind, "iterations = 2");
        rad_load_result_facts(r, &f);
        if (f.responses != 40 || f.errors + f.timeouts != 8 || f.requests != 48)
            fail_msg("%s: %u responses, %u errors, %u timeouts", names[kind], (unsigned)f.responses, (unsigned)f.errors,
                     (unsigned)f.timeouts);
        rad_load_result_free(r);
        replays(names[kind]);
        setting_close(&s);
    }
}

static void an_interruption_is_noticed(void **state)
{
    (void)state;
    signal(SIGALRM, on_alarm);
    for (uint32_t kind = 0; kind < HOSTILE_COUNT; kind++) {
        setting s;
        rad_load_facts f;
        struct itimerval soon = {.it_value = {.tv_usec = 15000}};
        if (is_for_the_night(kind)) continue;
        setting_open(&s, kind, kind / 2 % 2 == 0);
        stop = 0;
        setitimer(ITIMER_REAL, &soon, NULL);
        rad_load_result *r = run(&s, kind, "duration_seconds = 3600");
        rad_load_result_facts(r, &f);
        assert_int_equal(f.end, RAD_LOAD_INTERRUPTED);
        rad_load_result_free(r);
        replays(names[kind]);
        setting_close(&s);
    }
    stop = 0;
    signal(SIGALRM, SIG_DFL);
}

/* ---- Queues ------------------------------------------------------------------------------------------------- */

static size_t memory_used(void)
{
    return mallinfo2().uordblks + mallinfo2().hblkhd;
}

static void look(const setting *s, rad__load_turn *turn)
{
    uint64_t soon = turn->now_ns + 10000000;
    assert_int_equal(s->w.engine->kind->turn(s->w.engine, soon, true, turn, NULL), 0);
}

/* What is owed to somebody who does not read does not grow for ever: the connection ends. */
static void who_does_not_read_is_left(void **state)
{
    (void)state;
    setting s;
    rad__load_turn turn = {0};
    setting_open(&s, HOSTILE_DEAF_PING, false);
    ask(&s, 0, HOSTILE_TARGET, true);
    size_t before = memory_used();
    for (bool gone = false; !gone;) {
        look(&s, &turn);
        for (uint32_t i = 0; i < turn.input_count; i++) {
            if (turn.inputs[i].kind != RAD__LOAD_IN_CONN_FAILED) continue;
            assert_int_equal(turn.inputs[i].fault, RAD__LOAD_HTTP2_VIOLATION);
            gone = true;
        }
        assert_true(memory_used() < before + (1 << 20));
    }
    setting_close(&s);
}

/* Requests that were given up before they could be sent do not pile up. */
static void what_was_given_up_is_bounded(void **state)
{
    (void)state;
    enum { TRIES = 20000, BODY = 100000 };
    static char body[BODY];
    setting s;
    rad__load_turn turn;
    setting_open(&s, HOSTILE_NO_STREAMS, false);
    s.w.engine->kind->close(s.w.engine);
    memset(body, 'b', BODY);
    memcpy(body, "${vu}", 5);
    s.w.requests[HOSTILE_TARGET].method = "POST";
    s.w.requests[HOSTILE_TARGET].body = body;
    s.w.requests[HOSTILE_TARGET].body_size = BODY;
    world_engine(&s.w);
    size_t before = memory_used();
    ask(&s, 0, HOSTILE_TARGET, true);
    world_look(&s.w, 1, 1000);
    world_look(&s.w, 1, 50); /* its settings have come */
    bool gone = false;
    for (uint32_t i = 0; i < TRIES && !gone; i++) {
        ask(&s, 0, HOSTILE_TARGET, false);
        world_do(&s.w, RAD__LOAD_DO_CANCEL, 0, 0, s.w.request);
        assert_int_equal(s.w.engine->kind->turn(s.w.engine, 0, true, &turn, NULL), 0);
        for (uint32_t k = 0; k < turn.input_count; k++) gone |= turn.inputs[k].kind == RAD__LOAD_IN_CONN_FAILED;
        assert_true(memory_used() < before + (16 << 20));
    }
    assert_true(gone);
    ask(&s, HONEST, HONEST_TARGET, true);
    wait_for_honest(&s, names[HOSTILE_NO_STREAMS]);
    setting_close(&s);
}

/* Headers of HTTP/2 grow: a byte on the wire may be 4 KB of them, and there may be any number of interim ones. */
static void headers_have_an_end(void **state)
{
    (void)state;
    setting s;
    setting_open(&s, HOSTILE_INTERIM_HEADERS, false);
    ask(&s, 0, HOSTILE_TARGET, true);
    world_wait(&s.w, 2);
    assert_int_equal(world_got(&s.w, RAD__LOAD_IN_FAILED)->fault, RAD__LOAD_BAD_HEADER);
    setting_close(&s);
}

/* Somebody who asks for a new handshake again and again, and does not read what he is told. */
static void who_wants_to_shake_hands_is_left(void **state)
{
    (void)state;
    setting s;
    rad__load_turn turn = {0};
    setting_open(&s, HOSTILE_TRICKLE, false);
    live_front_open(&s.front, s.hostile.port, "IP:127.0.0.1", "renegotiate");
    s.w.engine->kind->close(s.w.engine);
    s.tls = true;
    snprintf(s.port, sizeof s.port, "%u", s.front.port);
    s.targets[HOSTILE_TARGET].tls = true;
    world_engine(&s.w);
    ask(&s, 0, HOSTILE_TARGET, true);
    size_t before = memory_used();
    for (bool gone = false; !gone;) {
        look(&s, &turn);
        for (uint32_t i = 0; i < turn.input_count; i++) {
            if (turn.inputs[i].kind != RAD__LOAD_IN_CONN_FAILED) continue;
            assert_int_equal(turn.inputs[i].fault, RAD__LOAD_TLS_HANDSHAKE);
            gone = true;
        }
        assert_true(memory_used() < before + (1 << 20));
    }
    setting_close(&s);
}

/* ---- What is left over --------------------------------------------------------------------------------------- */

enum { LARGE = 8, LARGE_BYTES = 1500000 };

static const live *inside(const world *w)
{
    return (const live *)w->engine; /* its first member */
}

/* Bytes that have come in and are not read. */
static int unread(const world *w, uint32_t conn)
{
    int count = 0;
    assert_int_equal(ioctl(inside(w)->conns[conn].fd, FIONREAD, &count), 0);
    return count;
}

/* Each connection has an answer of a megabyte and a half before it, and nothing will come after that. */
static void fill(world *w)
{
    rad__load_turn turn;
    for (uint32_t i = 0; i < LARGE; i++) world_send(w, i, i, 0, false, false);
    if (world_uses_uring()) /* what was asked for goes to the kernel with the next wait */
        assert_int_equal(w->engine->kind->turn(w->engine, 0, true, &turn, NULL), 0);
    for (uint32_t i = 0; i < LARGE; i++)
        for (int last = -1, now; last != (now = unread(w, i)) || now == 0; last = now) usleep(20000);
}

/* Sockets take in more the more was read from them before. */
static void warm_up(world *w)
{
    world_open(w, &(rad__load_serve_options){.body_bytes = LARGE_BYTES}, "/");
    w->scenario.limits.max_response_bytes = LARGE_BYTES;
    world_engine(w);
    for (uint32_t i = 0; i < LARGE; i++) {
        for (int k = 0; k < 10; k++) {
            world_send(w, i, i, 0, k == 0, false);
            world_wait(w, k == 0 ? 2 : 1);
            assert_int_equal(world_got(w, RAD__LOAD_IN_RESPONSE)->body_bytes, LARGE_BYTES);
        }
    }
}

/* One wait: nobody takes more than its share, all together not more than there is for one; nobody is left out, and what
 * is left is read without news of it. */
static void a_wait_takes_in_so_much(void **state)
{
    (void)state;
    world w;
    uint32_t answers = 0, waits = 0;
    warm_up(&w);
    fill(&w);
    while (answers < LARGE) {
        rad__load_turn turn;
        int before[LARGE], sum = 0;
        for (uint32_t i = 0; i < LARGE; i++) before[i] = unread(&w, i);
        assert_int_equal(w.engine->kind->turn(w.engine, 0, true, &turn, NULL), 0);
        for (uint32_t i = 0; i < LARGE; i++) {
            int taken = before[i] - unread(&w, i); /* less than that if more came in */
            sum += taken > 0 ? taken : 0;
            assert_true(taken <= (world_uses_uring() ? LIVE_TURN_BYTES : LIVE_SHARE_BYTES));
        }
        assert_true(sum <= LIVE_TURN_BYTES + LIVE_SHARE_BYTES);
        for (uint32_t i = 0; i < turn.input_count; i++) {
            assert_int_equal(turn.inputs[i].kind, RAD__LOAD_IN_RESPONSE);
            assert_int_equal(turn.inputs[i].body_bytes, LARGE_BYTES);
            answers++;
        }
        waits++;
    }
    print_message("# %u waits for %u answers\n", waits, answers);
    assert_true(waits >= LARGE * LARGE_BYTES / (LIVE_TURN_BYTES + LIVE_SHARE_BYTES));
    world_close(&w);
}

/* A connection of which something is left is closed: nothing more is told of it, nor taken for its successor's. */
static void what_is_closed_is_not_read(void **state)
{
    (void)state;
    world w;
    rad__load_turn turn;
    warm_up(&w);
    fill(&w);
    assert_int_equal(w.engine->kind->turn(w.engine, 0, true, &turn, NULL), 0);
    for (uint32_t i = 0; i < LARGE; i++) world_do(&w, RAD__LOAD_DO_CLOSE, i, i, 0);
    world_look(&w, 1, 50);
    assert_int_equal(w.got_count, 0);
    for (uint32_t i = 0; i < LARGE; i++) world_send(&w, i, i, 0, true, false);
    world_wait(&w, 2 * LARGE);
    for (uint32_t i = 0; i < w.got_count; i++)
        assert_true(w.got[i].kind == RAD__LOAD_IN_CONNECTED || w.got[i].body_bytes == LARGE_BYTES);
    world_close(&w);
}

/* What is there is read at once, not when the next look is due (100 ms). Once in a hundred times is enough: an engine
 * that waits for its look is never that quick, and a busy machine may be slow many times. */
static void nobody_waits_for_what_is_there(void **state)
{
    (void)state;
    world w;
    uint64_t quickest = UINT64_MAX;
    warm_up(&w);
    for (int k = 0; k < 100 && quickest >= 90000000; k++) {
        fill(&w);
        world_look(&w, 0, 0);
        uint64_t begin = w.now_ns;
        for (uint32_t i = w.got_count; i < LARGE; i += w.got_count) world_wait(&w, 1);
        quickest = w.now_ns - begin < quickest ? w.now_ns - begin : quickest;
    }
    print_message("# %.1f ms\n", (double)quickest * 1e-6);
    assert_true(quickest < 90000000);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_honest_are_answered),          cmocka_unit_test(timeouts_come),
        cmocka_unit_test(an_interruption_is_noticed),       cmocka_unit_test(who_does_not_read_is_left),
        cmocka_unit_test(what_was_given_up_is_bounded),     cmocka_unit_test(headers_have_an_end),
        cmocka_unit_test(who_wants_to_shake_hands_is_left), cmocka_unit_test(a_wait_takes_in_so_much),
        cmocka_unit_test(what_is_closed_is_not_read),       cmocka_unit_test(nobody_waits_for_what_is_there),
    };
    return world_run_twice(tests);
}
