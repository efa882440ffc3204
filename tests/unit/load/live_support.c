#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "live_support.h"
#include "os/term.h"
#include "patience_support.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int stop_serving;

static void on_term(int number)
{
    (void)number;
    stop_serving = 1;
}

void world_open(world *w, const rad__load_serve_options *o, const char *path)
{
    rad_error error = {0};
    rad__load_serve *serve;
    memset(w, 0, sizeof *w);
    if (rad__load_serve_open(&serve, o, &error) != 0) fail_msg("%s", error.text);
    signal(SIGTERM, on_term); /* before the child can be told to stop */
    w->server = fork();
    assert_true(w->server >= 0);
    if (w->server == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (rad__load_serve_run(serve, &stop_serving, &error) != 0) fprintf(stderr, "serve: %s\n", error.text);
        rad__load_serve_close(serve);
        _exit(error.code != 0);
    }
    signal(SIGTERM, SIG_DFL);
    snprintf(w->port, sizeof w->port, "%u", rad__load_serve_port(serve));
    rad__load_serve_close(serve);
    w->target = (struct rad__load_target){.name = "here",
                                          .host = "127.0.0.1",
                                          .port = w->port,
                                          .max_connections = 10,
                                          .streams = 1,
                                          .connect_timeout_ns = PATIENCE_SECONDS * UINT64_C(1000000000)};
    w->requests[0] = (struct rad__load_request){.name = "first", .method = "GET", .path = path, .target = RAD_NONE};
    w->scenario = (rad__load_scenario){.requests = w->requests,
                                       .request_count = 1,
                                       .targets = &w->target,
                                       .target_count = 1,
                                       .users = 4,
                                       .limits = {.max_response_bytes = 1 << 20, .max_header_bytes = 8 << 10}};
}

static bool use_uring;
int world_failed;

void world_use_uring(bool uring)
{
    use_uring = uring;
}

bool world_uses_uring(void)
{
    return use_uring;
}

void world_engine(world *w)
{
    rad_error error = {0};
    rad__load_live_options o = {
        .scenario = &w->scenario, .seed = 5, .uring = use_uring, .interrupted = &w->interrupted, .env = rad__os_env};
    if (rad__load_live_open(&w->engine, &o, NULL, &error) != 0) fail_msg("%s", error.text);
}

void world_close(world *w)
{
    if (w->engine) w->engine->kind->close(w->engine);
    if (w->server) world_stop_server(w);
}

void world_stop_server(world *w)
{
    int status;
    kill(w->server, SIGTERM);
    assert_int_equal(waitpid(w->server, &status, 0), w->server);
    assert_int_equal(status, 0);
    w->server = 0;
}

static void act(world *w, const rad__load_effect *e)
{
    rad_error error = {0};
    if (w->engine->kind->act(w->engine, e, 1, &error) != 0) fail_msg("%s", error.text);
}

uint64_t world_send(world *w, uint32_t vu, uint32_t conn, uint32_t what, bool open, bool last)
{
    rad__load_effect e = {.kind = RAD__LOAD_DO_SEND,
                          .vu = vu,
                          .conn = conn,
                          .what = what,
                          .request = ++w->request,
                          .open = open,
                          .last = last};
    act(w, &e);
    return w->request;
}

void world_do(world *w, enum rad__load_effect_kind kind, uint32_t vu, uint32_t conn, uint64_t request)
{
    rad__load_effect e = {.kind = kind, .vu = vu, .conn = conn, .request = request};
    act(w, &e);
}

void world_wait(world *w, uint32_t count)
{
    world_look(w, count, PATIENCE_SECONDS * 1000);
}

void world_look(world *w, uint32_t count, uint32_t ms)
{
    rad_error error = {0};
    rad__load_turn turn;
    uint64_t end = w->now_ns + (uint64_t)ms * 1000000;
    w->got_count = 0;
    do {
        if (w->engine->kind->turn(w->engine, end, true, &turn, &error) != 0) fail_msg("%s", error.text);
        assert_true(turn.now_ns >= w->now_ns);
        w->now_ns = turn.now_ns;
        for (uint32_t i = 0; i < turn.input_count && w->got_count < WORLD_INPUTS; i++) {
            assert_true(turn.inputs[i].at_ns <= turn.now_ns);
            assert_true(turn.inputs[i].sent_ns <= turn.inputs[i].at_ns);
            w->got[w->got_count++] = turn.inputs[i];
        }
        if (turn.interrupted) return;
    } while (w->got_count < count && w->now_ns < end);
}

const rad__load_input *world_got(const world *w, enum rad__load_input_kind kind)
{
    for (uint32_t i = 0; i < w->got_count; i++)
        if (w->got[i].kind == kind) return &w->got[i];
    fail_msg("no input of kind %d among %u", kind, w->got_count);
    return NULL;
}

enum rad__load_fault world_ask(world *w, const char *path)
{
    rad_error error = {0};
    world_do(w, RAD__LOAD_DO_CLOSE, 0, 0, 0);
    if (strcmp(path, w->requests[0].path) != 0) { /* another plan */
        w->engine->kind->close(w->engine);
        w->requests[0].path = path;
        w->now_ns = 0;
        rad__load_live_options o = {.scenario = &w->scenario, .seed = 5, .uring = use_uring, .env = rad__os_env};
        if (rad__load_live_open(&w->engine, &o, NULL, &error) != 0) fail_msg("%s", error.text);
    }
    uint64_t request = world_send(w, 3, 0, 0, true, false);
    world_wait(w, 2);
    uint32_t answers = 0, at = 0;
    for (uint32_t i = 0; i < w->got_count; i++)
        if (w->got[i].kind == RAD__LOAD_IN_RESPONSE || w->got[i].kind == RAD__LOAD_IN_FAILED) {
            assert_int_equal(w->got[i].request, request);
            assert_int_equal(w->got[i].vu, 3);
            answers++;
            at = i;
        }
    if (answers != 1) fail_msg("%s: %u answers among %u inputs", path, answers, w->got_count);
    return w->got[at].fault;
}
