/* load_in_c.c — a load test from C: a scenario in memory, run on its own simulated target; its log replayed, gone
 * through step by step, and analysed. What is printed is the same on every machine.
 *
 *     cc load_in_c.c $(pkg-config --cflags --libs raddle-load) -o load_in_c && ./load_in_c
 *     ./load_in_c run.log      keeps the log */
#include <raddle/load.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char SCENARIO[] = "[metadata]\n"
                               "name = \"from C\"\n"
                               "version = \"1\"\n"
                               "[runtime]\n"
                               "duration_seconds = 10\n"
                               "vus = 20\n"
                               "[[requests]]\n"
                               "name = \"index\"\n"
                               "path = \"/\"\n"
                               "[simulated]\n"
                               "latency_ms = { min = 1, p50 = 10, p99 = 80, max = 200 }\n"
                               "[assertions]\n"
                               "p99_latency_ms = 100\n";

static int run(const char *log, rad_error *error)
{
    rad_load_scenario *s;
    rad_load_result *r = NULL;
    rad_load_options o = rad_load_defaults();
    rad_load_facts f;
    int code = rad_load_parse(&s, "from C", SCENARIO, strlen(SCENARIO), error);
    if (code != 0) return code;
    o.seed = 42;
    o.log = log;
    code = rad_load_run(&r, s, &o, error);
    if (code == 0) {
        rad_load_result_facts(r, &f);
        printf("run: %" PRIu64 " requests, %" PRIu64 " answers, %u of %u assertions hold\n", f.requests, f.responses,
               f.assertions - f.assertions_failed, f.assertions);
    }
    rad_load_result_free(r);
    rad_load_free(s);
    return code;
}

static int replay(const char *log, rad_error *error)
{
    rad_load_verdict v;
    int code = rad_load_replay(&v, NULL, log, NULL, false, error);
    if (code == 0) printf("replay: %" PRIu64 " turns, %s\n", v.turns, v.same ? "the same" : v.text);
    return code;
}

static int look_at_a_turn(const char *log, rad_error *error)
{
    rad_load_stepper *s;
    int code = rad_load_stepper_open(&s, log, 0, error);
    if (code != 0) return code;
    code = rad_load_stepper_go(s, 100, error);
    if (code == 0) code = rad_load_stepper_go(s, 3, error); /* and back */
    char *records = code == 0 ? rad_load_stepper_records(s) : NULL;
    if (records != NULL) printf("turn %" PRIu64 ": %.40s...\n", rad_load_stepper_turn(s), records);
    rad_free(records);
    rad_load_stepper_free(s);
    return code;
}

static int percentiles(const char *log, rad_error *error)
{
    static const uint32_t SHARES[] = {500000, 990000, 999000}; /* parts per million */
    rad_load_result *r;
    int code = rad_load_analyze(&r, log, "service_ms >= 5", error);
    if (code != 0) return code;
    for (uint32_t i = 0; i < 3; i++)
        printf("of those above 5 ms, p%.1f: %.3f ms\n", SHARES[i] / 1e4,
               (double)rad_load_percentile(r, false, SHARES[i]) * 1e-6);
    rad_load_result_free(r);
    return 0;
}

int main(int argc, char **argv)
{
    const char *log = argc > 1 ? argv[1] : "load_in_c.log";
    rad_error error = {.code = 0};
    int code = run(log, &error);
    if (code == 0) code = replay(log, &error);
    if (code == 0) code = look_at_a_turn(log, &error);
    if (code == 0) code = percentiles(log, &error);
    if (code != 0) fprintf(stderr, "load_in_c: %s\n", error.text);
    if (argc < 2) remove(log);
    return code == 0 ? 0 : 1;
}
