/* live_support.h — the live engine against our own server, which is another process: faults that are injected here do
 * not reach it. */
#ifndef LIVE_SUPPORT_H
#define LIVE_SUPPORT_H

#include "load/live/live.h"
#include "load/serve/serve.h"
#include "storm_support.h"

#include <stdlib.h>

enum { WORLD_REQUESTS = 8, WORLD_INPUTS = 64 };

/* A scenario of up to WORLD_REQUESTS requests to one target. */
typedef struct world {
    rad__load_scenario scenario;
    struct rad__load_target target;
    struct rad__load_request requests[WORLD_REQUESTS];
    int server; /* process id; 0: none */
    volatile int interrupted;
    char port[8];
    rad__load_engine *engine;
    rad__load_input got[WORLD_INPUTS]; /* of the last world_wait */
    uint32_t got_count;
    uint64_t now_ns, request;
} world;

/* The server runs; the scenario has GET `path` as its first request. The engine is opened by world_engine. */
void world_open(world *w, const rad__load_serve_options *o, const char *path);
/* Over io_uring when the tests run for the second time: world_run_twice. */
void world_engine(world *w);
void world_close(world *w);

/* Runs tests over epoll, then over io_uring: how many failed. TEST_ONLY: only the test of that name. */
#define world_run_twice(tests)                                                                                         \
    (storm_choose(), world_use_uring(false), world_failed = cmocka_run_group_tests_name("epoll", tests, NULL, NULL),   \
     world_use_uring(true), world_failed + cmocka_run_group_tests_name("io_uring", tests, NULL, NULL))
extern int world_failed;
void world_use_uring(bool uring);
bool world_uses_uring(void);
void world_stop_server(world *w);

/* Sends request `what` for user `vu`; the request's number. */
uint64_t world_send(world *w, uint32_t vu, uint32_t conn, uint32_t what, bool open, bool last);
void world_do(world *w, enum rad__load_effect_kind kind, uint32_t vu, uint32_t conn, uint64_t request);

/* Turns until there are `count` inputs; adds them to w->got, which begins anew. The second gives up after that many
 * milliseconds. */
void world_wait(world *w, uint32_t count);
void world_look(world *w, uint32_t count, uint32_t ms);

/* Opens a connection, sends, and waits for everything there is to know: the fault of the request, 0: answered. */
enum rad__load_fault world_ask(world *w, const char *path);

/* The input of that kind; fails the test when there is none. */
const rad__load_input *world_got(const world *w, enum rad__load_input_kind kind);

#endif
