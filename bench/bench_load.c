/* bench_load.c — the load tester on its simulated target: records and events a second, bytes a user; what a tick and
 * what a record of the log cost. One core, the log in memory that is thrown away. */
#include "bench.h"
#include "load/scheduler/run.h"
#include "load/scheduler/simulated.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static void check(int code, const rad_error *error)
{
    if (code == 0) return;
    fprintf(stderr, "bench_load: %s\n", error->text);
    exit(3);
}

static int discard(void *context, const void *data, size_t size, rad_error *error)
{
    (void)error;
    uint64_t *sum = context;
    if (size >= 8) {
        uint64_t last;
        memcpy(&last, (const char *)data + size - 8, 8);
        *sum = *sum * 31 + last;
    }
    return 0;
}

static void read_scenario(rad__load_scenario *s, uint32_t users, double seconds)
{
    char text[512];
    rad_error error = {.code = 0};
    snprintf(text, sizeof text,
             "[runtime]\nduration_seconds = %.3f\nvus = %u\n[[requests]]\nname = 'index'\npath = '/'\n"
             "[simulated]\nlatency_ms = { points = [[0, 1], [0.9, 30], [1, 200]] }\n",
             seconds, users);
    check(rad__load_scenario_parse(s, "bench", text, strlen(text), NULL, &error), &error);
}

struct outcome {
    double seconds;
    uint64_t records, events, ticks, sum;
};

static struct outcome run_once(const rad__load_scenario *s)
{
    rad__load_scheduler scheduler;
    rad__load_log log;
    rad__load_engine *engine;
    rad_error error = {.code = 0};
    struct outcome o = {.seconds = 0};
    struct rad__load_log_header header = {.seed = 1,
                                          .tick_ns = s->tick_ns,
                                          .shards = 1,
                                          .level = RAD__LOAD_LEVEL_SIMULATED,
                                          .engine = RAD__LOAD_ENGINE_SIMULATED};
    rad__load_log_open(&log, discard, &o.sum);
    check(rad__load_log_begin(&log, header, "", ""), &log.error);
    check(rad__load_scheduler_open(&scheduler, s, 1, 0, 1, true, &log, &error), &error);
    check(rad__load_simulated_open(&engine, s, 1, 0, 1, scheduler.user_capacity, scheduler.pool.conn_count, &error),
          &error);
    double began = bench_now();
    check(rad__load_run(&scheduler, engine, NULL, &error), &error);
    o.seconds = bench_now() - began;
    o.records = log.next_record - 1;
    o.events = scheduler.counters.events;
    o.ticks = scheduler.counters.ticks;
    engine->kind->close(engine);
    rad__load_scheduler_close(&scheduler);
    rad__load_log_close(&log);
    return o;
}

static void measure(bench *b, uint32_t users, double seconds)
{
    rad__load_scenario s;
    char text[80];
    double records[BENCH_SAMPLES], events[BENCH_SAMPLES];
    read_scenario(&s, users, b->tiny ? 0.2 : seconds);
    for (uint32_t i = 0; i < bench_samples(b); i++) {
        struct outcome o = run_once(&s);
        records[i] = (double)o.records / o.seconds * 1e-6;
        events[i] = (double)o.events / o.seconds * 1e-6;
        bench_result(b, o.sum);
    }
    snprintf(text, sizeof text, "%u users: records of the log", users);
    bench_row(b, text, "M/s", records, bench_samples(b));
    snprintf(text, sizeof text, "%u users: events among them", users);
    bench_row(b, text, "M/s", events, bench_samples(b));
    rad__load_scenario_free(&s);
}

/* Turns in which nothing happens. */
static void measure_tick(bench *b)
{
    rad__load_scenario s;
    double each[BENCH_SAMPLES];
    uint64_t turns = b->tiny ? 1000 : 10000000;
    read_scenario(&s, 1, 1000);
    for (uint32_t i = 0; i < bench_samples(b); i++) {
        rad__load_scheduler scheduler;
        rad__load_log log;
        rad_error error = {.code = 0};
        uint64_t sum = 0;
        rad__load_log_open(&log, discard, &sum);
        check(rad__load_scheduler_open(&scheduler, &s, 1, 0, 1, false, &log, &error), &error);
        rad__load_turn turn = {.now_ns = 1, .paused = true};
        double began = bench_now();
        for (uint64_t k = 0; k < turns; k++) {
            turn.now_ns += 100;
            check(rad__load_scheduler_turn(&scheduler, &turn, &error), &error);
        }
        each[i] = (bench_now() - began) * 1e9 / (double)turns;
        bench_result(b, sum);
        rad__load_scheduler_close(&scheduler);
        rad__load_log_close(&log);
    }
    bench_row(b, "a tick, with its record", "ns", each, bench_samples(b));
    rad__load_scenario_free(&s);
}

static void measure_append(bench *b)
{
    double each[BENCH_SAMPLES];
    uint64_t count = b->tiny ? 1000 : 20000000;
    for (uint32_t i = 0; i < bench_samples(b); i++) {
        rad__load_log log;
        uint64_t sum = 0;
        rad__load_event event = {.kind = RAD__LOAD_RESPONSE,
                                 .status = 200,
                                 .flags = RAD__LOAD_MEASURED,
                                 .header_bytes = 235,
                                 .body_bytes = 13,
                                 .first_ns = 700000};
        rad__load_log_open(&log, discard, &sum);
        double began = bench_now();
        for (uint64_t k = 0; k < count; k++) {
            event.vu = (uint32_t)(k & 1023);
            event.request = k >> 10;
            event.service_ns = 700000 + (k & 0xffff);
            rad__load_log_event(&log, &event);
        }
        each[i] = (bench_now() - began) * 1e9 / (double)count;
        rad__load_log_flush(&log);
        bench_result(b, sum);
        rad__load_log_close(&log);
    }
    bench_row(b, "a record of an answer, written and hashed", "ns", each, bench_samples(b));
}

static void measure_memory(bench *b)
{
    rad__load_scenario s;
    struct rusage before, after;
    uint32_t users = b->tiny ? 1000 : 100000;
    read_scenario(&s, users, b->tiny ? 0.2 : 1);
    getrusage(RUSAGE_SELF, &before);
    bench_result(b, run_once(&s).sum);
    getrusage(RUSAGE_SELF, &after);
    double bytes = (double)(after.ru_maxrss - before.ru_maxrss) * 1024 / users;
    bench_row(b, "memory of a user, of 100,000", "B", &bytes, 1);
    rad__load_scenario_free(&s);
}

int main(int argc, char **argv)
{
    bench b;
    if (!bench_open(&b, "load", argc, argv)) return 2;
    measure_memory(&b); /* first: memory that was given back is not counted again */
    measure(&b, 1, 2000);
    measure(&b, 100, 200);
    measure(&b, 10000, 5);
    measure(&b, b.tiny ? 2000 : 100000, 1);
    measure_tick(&b);
    measure_append(&b);
    return bench_close(&b);
}
