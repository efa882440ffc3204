/* load_serve.c — `raddle load serve`: a small server to try load tests on. */
#include "load.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct serve_words {
    const char *host;
    uint64_t port, latency_ms, latency_max_ms, body, keepalive, errors, seed;
    double stall_every, stall;
    bool misbehave;
} serve_words;

#define AT(field) offsetof(serve_words, field)
static const option SERVE_OPTIONS[] = {
    {"host", OPTION_TEXT, AT(host), "ADDRESS", "address to listen on (default: 127.0.0.1, this host only)", 0, 0, 0},
    {"port", OPTION_COUNT, AT(port), "P", "port; 0: any free one (default: 8080)", 0, 65535, 'p'},
    {"latency-ms", OPTION_COUNT, AT(latency_ms), "MS", "respond after MS milliseconds (default: 0)", 0, 3600000, 0},
    {"latency-max-ms", OPTION_COUNT, AT(latency_max_ms), "MS", "respond after a random time from --latency-ms up to MS",
     0, 3600000, 0},
    {"body", OPTION_COUNT, AT(body), "BYTES", "bytes of a response body (default: 13)", 0, 100000000, 0},
    {"keepalive", OPTION_COUNT, AT(keepalive), "N", "close a connection after N requests (default: never)", 0,
     1000000000, 0},
    {"errors-ppm", OPTION_COUNT, AT(errors), "N", "answer N of a million requests with status 503 (default: 0)", 0,
     1000000, 0},
    {"stall-every", OPTION_SECONDS, AT(stall_every), "S", "stall at the end of every S seconds (default: never)", 0, 0,
     0},
    {"stall", OPTION_SECONDS, AT(stall), "S", "length of a stall (default: 0)", 0, 0, 0},
    {"misbehave", OPTION_FLAG, AT(misbehave), NULL, "/reset, /stall, /garbage and others do what no server should", 0,
     0, 0},
    {"seed", OPTION_COUNT, AT(seed), "S", "seed of latencies and errors (default: 1)", 0, SEED_MAX, 0},
    {NULL, OPTION_FLAG, 0, NULL, NULL, 0, 0, 0}};

static void listening(void *context, uint32_t port)
{
    cli *c = context;
    out(c, "listening on port %u; Ctrl-C ends it\n", port);
    out_flush(c);
}

static int load_serve_run(cli *c, int argc, char **argv)
{
    serve_words s = {.port = 8080, .body = 13, .seed = 1};
    words w;
    uint64_t served = 0;
    rad_error error = {.code = 0};
    int status = options_parse(c, &VERB_LOAD_SERVE, argc, argv, &s, &w);
    if (status != GO_ON) return status;
    if (w.count != 0) return bad_usage(c, "unexpected argument '%.80s'", w.at[0]);
    uint64_t high = s.latency_max_ms > s.latency_ms ? s.latency_max_ms : s.latency_ms;
    rad_load_serve_options o = {.host = s.host,
                                .port = (uint32_t)s.port,
                                .latency_low_ns = s.latency_ms * 1000000,
                                .latency_high_ns = high * 1000000,
                                .error_ppm = (uint32_t)s.errors,
                                .stall_every_ns = (uint64_t)(s.stall_every * 1e9),
                                .stall_ns = (uint64_t)(s.stall * 1e9),
                                .body_bytes = (uint32_t)s.body,
                                .requests_per_connection = (uint32_t)s.keepalive,
                                .misbehave = s.misbehave,
                                .seed = s.seed,
                                .stop = c->stop,
                                .listening = listening,
                                .context = c};
    if (rad_load_serve(&o, &served, &error) != 0) return complain_error(c, &error);
    out(c, "%s requests served\n", number(served));
    return *c->stop ? EXIT_INTERRUPTED : EXIT_FINE;
}

static const char *const SERVE_EXAMPLES[] = {
    "raddle load serve --port 8080",
    "responds at once",
    "raddle load serve --port 8080 --stall-every 10 --stall 1",
    "stalls one second in ten: compare raddle load URL with and without -R",
    NULL,
};

const verb VERB_LOAD_SERVE = {
    .name = "load serve",
    .about = "run a small HTTP server to test",
    .usage = "[options]",
    .text = "Answer every request with status 200 and a small body, on this host only, until Ctrl-C.",
    .status = "130 interrupted, " STATUS_ERRORS,
    .options = SERVE_OPTIONS,
    .examples = SERVE_EXAMPLES,
    .run = load_serve_run,
};
