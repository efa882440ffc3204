/* bench_flow_durable.c — cases in folders: effects and steps a second, with and without sync, one after the other
 * and many at a time (whose records share a sync); shell commands under their shims; and how fast a journal is
 * replayed. */
#include "bench.h"

#include <raddle/flow.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct load {
    const char *what;
    const char *task; /* its property: call or run */
    uint32_t wide, rounds;
    bool unsynced;
} load;

static char folder[64];

static void check(int code, const rad_error *error)
{
    if (code == 0) return;
    fprintf(stderr, "bench_flow_durable: %s\n", error->text);
    exit(3);
}

static void remove_case(void)
{
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command) != 0) exit(3);
}

static int do_nothing(void *context, rad_flow_call *call, rad_error *error)
{
    (void)call;
    (void)error;
    ++*(uint64_t *)context;
    return 0;
}

static rad_flow *flow_of(const load *l, uint64_t *calls)
{
    char text[400];
    rad_flow *f;
    rad_error error;
    snprintf(text, sizeof text, "flow f { task t { %s } loop %u { %s %u { do t } } }", l->task, l->rounds,
             l->wide > 1 ? "many" : "loop", l->wide);
    check(rad_flow_parse(&f, "bench", text, strlen(text), NULL, &error), &error);
    check(rad_flow_register(f, "nothing", do_nothing, calls, &error), &error);
    return f;
}

static void measure(bench *b, load l)
{
    double effects[BENCH_SAMPLES], steps[BENCH_SAMPLES], replays[BENCH_SAMPLES];
    char text[120];
    uint64_t calls = 0;
    if (b->tiny) l.rounds = 3;
    bool is_call = strncmp(l.task, "call", 4) == 0;
    rad_flow *f = flow_of(&l, &calls);
    for (uint32_t i = 0; i < bench_samples(b); i++) {
        rad_flow_options o = rad_flow_defaults();
        rad_flow_result r;
        rad_error error;
        o.jobs = l.wide;
        o.unsynced = l.unsynced;
        o.case_id = "bench";
        remove_case();
        double began = bench_now();
        check(rad_flow_run(f, folder, &o, &r, &error), &error);
        double took = bench_now() - began;
        if (r.end != RAD_FLOW_END_DONE) exit(3);
        effects[i] = l.wide * (double)l.rounds / took;
        steps[i] = (double)r.steps / took;
        began = bench_now();
        check(rad_flow_resume(f, folder, &o, &r, &error), &error); /* it has ended: nothing but the replay */
        replays[i] = l.wide * (double)l.rounds / (bench_now() - began);
        if (i == 0 && is_call)
            for (const char *at = r.digest; *at != 0; at++) bench_result(b, (uint64_t)*at);
    }
    if (is_call) bench_result(b, calls / bench_samples(b));
    snprintf(text, sizeof text, "%s%s: effects", l.what, l.unsynced ? ", not synced" : "");
    bench_row(b, text, "/s", effects, bench_samples(b));
    snprintf(text, sizeof text, "%s%s: steps", l.what, l.unsynced ? ", not synced" : "");
    bench_row(b, text, "/s", steps, bench_samples(b));
    if (is_call && l.unsynced) {
        snprintf(text, sizeof text, "%s: effects replayed", l.what);
        bench_row(b, text, "/s", replays, bench_samples(b));
    }
    rad_flow_free(f);
}

int main(int argc, char **argv)
{
    bench b;
    if (!bench_open(&b, "flow_durable", argc, argv)) return 2;
    snprintf(folder, sizeof folder, "bench_flow_durable.%ld", (long)getpid());
    static const char call[] = "call \"nothing\"", run[] = "run \"true\"";
    for (int unsynced = 0; unsynced < 2; unsynced++) {
        uint32_t many = unsynced ? 20000 : 1000;
        measure(&b, (load){"functions, one by one", call, 1, many, unsynced});
        measure(&b, (load){"functions, 16 together", call, 16, many / 16, unsynced});
        measure(&b, (load){"functions, 256 together", call, 256, many / 128, unsynced});
        measure(&b, (load){"commands, one by one", run, 1, 50, unsynced});
        measure(&b, (load){"commands, 8 together", run, 8, 10, unsynced});
    }
    remove_case();
    return bench_close(&b);
}
