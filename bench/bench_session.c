/* bench_session.c — the session machine: instructions and messages a second, with monitor, trace and digest. */
#include "bench.h"

#include <raddle/session.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Two roles that count together, for ever. */
static const char COUNTING[] = "protocol Counting { roles A, B\n"
                               "  loop X { A -> B: ping(int) B -> A: pong(int) continue X } }\n";

static const char BUYING[] = "protocol TwoBuyer { roles Alice, Bob, Seller\n"
                             "  loop X {\n"
                             "  Alice -> Seller: title(int) Seller -> Alice: quote(int) Seller -> "
                             "Bob: quote(int) Alice -> Bob: share(int)\n"
                             "  choice at Bob { Bob -> Seller: accept Bob -> Alice: accept Seller "
                             "-> Bob: date(int) continue X }\n"
                             "  or { Bob -> Seller: more Bob -> Alice: more continue X } } }\n";

typedef struct load {
    const char *text;
    uint32_t sessions, n, threads;
    bool log;
} load;

static void check(int code, const rad_error *error)
{
    if (code == 0) return;
    fprintf(stderr, "bench_session: %s\n", error->text);
    exit(3);
}

/* As many rounds as make about so many instructions, whatever N is. */
static uint64_t rounds_for(const load *l, uint64_t instructions)
{
    uint64_t width = l->n == RAD_SESSION_ALL ? l->sessions * UINT64_C(2) : l->n;
    return instructions / width + 1;
}

static double run_once(const load *l, const rad_protocols *p, uint64_t rounds, rad_session_info *info)
{
    rad_error error;
    rad_session_options o = rad_session_defaults();
    enum rad_session_end end;
    o.n = l->n;
    o.policy = RAD_SESSION_ROUND_ROBIN;
    o.log = l->log;
    if (l->threads > 0) {
        rad_session_crowd crowd = {.sessions = l->sessions, .threads = l->threads, .rounds = rounds};
        double began = bench_now();
        check(rad_session_run_crowd(p, &o, &crowd, &end, info, NULL, &error), &error);
        return bench_now() - began;
    }
    rad_session_vm *vm;
    check(rad_session_create(&vm, p, &o, &error), &error);
    check(rad_session_open(vm, NULL, l->sessions, &error), &error);
    double began = bench_now();
    rad_session_run(vm, rounds);
    double took = bench_now() - began;
    rad_session_look(vm, info);
    rad_session_destroy(vm);
    return took;
}

static void measure(bench *b, const char *what, const load *l)
{
    rad_protocols *p;
    rad_error error;
    double instructions[BENCH_SAMPLES], messages[BENCH_SAMPLES];
    uint64_t wanted = b->tiny ? 20000 : l->log ? 2000000 : 20000000, rounds = rounds_for(l, wanted);
    char text[120];
    check(rad_protocols_parse(&p, "bench", l->text, strlen(l->text), &error), &error);
    if (l->threads) rounds = rounds * l->threads / (l->sessions < 8 * l->threads ? l->sessions : 8 * l->threads) + 1;
    for (uint32_t i = 0; i < bench_samples(b); i++) {
        rad_session_info info;
        double took = run_once(l, p, rounds, &info);
        instructions[i] = (double)info.instructions / took * 1e-6;
        messages[i] = (double)info.messages / took * 1e-6;
        if (i == 0)
            for (const char *at = info.digest; *at; at++) bench_result(b, (uint64_t)*at);
    }
    snprintf(text, sizeof text, "%s: instructions", what);
    bench_row(b, text, "M/s", instructions, bench_samples(b));
    snprintf(text, sizeof text, "%s: messages", what);
    bench_row(b, text, "M/s", messages, bench_samples(b));
    rad_protocols_free(p);
}

int main(int argc, char **argv)
{
    bench b;
    if (!bench_open(&b, "session", argc, argv)) return 2;
    static const uint32_t sessions[] = {1, 100, 10000};
    static const uint32_t ns[] = {1, RAD_SESSION_ALL};
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t k = 0; k < 2; k++)
            for (uint32_t threads = 0; threads <= 2; threads += 2) {
                char what[80];
                if (threads && sessions[i] == 1) continue; /* one session is on one core */
                snprintf(what, sizeof what, "ping-pong, %u sessions, N %s, %s", sessions[i], ns[k] == 1 ? "1" : "all",
                         threads ? "2 cores" : "1 core");
                measure(&b, what, &(load){COUNTING, sessions[i], ns[k], threads, false});
            }
    measure(&b, "two-buyer, 100 sessions, N 1, 1 core", &(load){BUYING, 100, 1, 0, false});
    measure(&b, "two-buyer, 100 sessions, N all, 1 core", &(load){BUYING, 100, RAD_SESSION_ALL, 0, false});
    measure(&b, "two-buyer, 100 sessions, N all, 1 scheduler, log", &(load){BUYING, 100, RAD_SESSION_ALL, 0, true});
    return bench_close(&b);
}
