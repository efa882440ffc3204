/* tour_load.c — the tour's part on load tests: a server that stalls, what two schedules say of it, and a log that makes
 * the same run again. */
#include "tour.h"

#include <raddle/load.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char ARRIVALS[] = "[runtime]\n"
                               "duration_seconds = 60\n"
                               "drain_seconds = 2\n"
                               "vus = 500\n"
                               "[schedule]\n"
                               "type = \"arrival_rate\"\n"
                               "rate = 200\n"
                               "[[requests]]\n"
                               "name = \"index\"\n"
                               "path = \"/\"\n"
                               "[simulated]\n"
                               "latency_ms = { p50 = 5, p99 = 12 }\n"
                               "stall_every_seconds = 10\n"
                               "stall_seconds = 1\n";

static const char CLOSED[] = "[runtime]\n"
                             "duration_seconds = 60\n"
                             "vus = 2\n"
                             "[[requests]]\n"
                             "name = \"index\"\n"
                             "path = \"/\"\n"
                             "[simulated]\n"
                             "latency_ms = { p50 = 5, p99 = 12 }\n"
                             "stall_every_seconds = 10\n"
                             "stall_seconds = 1\n";

static int run(cli *c, const char *name, const char *text, const char *log, rad_load_result **r)
{
    rad_load_scenario *s;
    rad_load_options o = rad_load_preset();
    rad_error error = {.code = 0};
    if (rad_load_parse(&s, name, text, strlen(text), &error) != 0) return complain_error(c, &error);
    o.seed = 42;
    o.log = log;
    o.stop = c->stop;
    int code = rad_load_run(r, s, &o, &error);
    rad_load_free(s);
    if (code != 0) return complain_error(c, &error);
    return *c->stop ? EXIT_INTERRUPTED : 0;
}

static double ms(const rad_load_result *r, bool response, uint32_t ppm)
{
    return (double)rad_load_percentile(r, response, ppm) * 1e-6;
}

/* The same server, asked in two ways. */
static int compare(cli *c, const char *log)
{
    rad_load_result *open = NULL, *closed = NULL;
    int status = run(c, "closed.toml", CLOSED, NULL, &closed);
    if (status == 0) status = run(c, "arrivals.toml", ARRIVALS, log, &open);
    if (status == 0 && (rad_load_percentile(closed, false, 950000) > 100000000 ||
                        rad_load_percentile(open, true, 950000) < 400000000))
        status = tour_not_as_told(c, "a server that stalls was not told from one that does not");
    if (status == 0) {
        out(c, "\n                                          p50        p95        p99\n");
        out(c, "   two users, closed: service time   %7.1f ms %7.1f ms %7.1f ms\n",
            ms(closed, false, 500000), ms(closed, false, 950000), ms(closed, false, 990000));
        out(c, "   200 arrivals/s:    response time  %7.1f ms %7.1f ms %7.1f ms\n",
            ms(open, true, 500000), ms(open, true, 950000), ms(open, true, 990000));
    }
    rad_load_result_free(open);
    rad_load_result_free(closed);
    return status;
}

static int replay(cli *c, const char *log)
{
    rad_load_verdict v;
    rad_error error = {.code = 0};
    out_text(c, "\n");
    out_paragraph(c, 3,
                  "Each run writes a log of everything that came from outside. Without any server, "
                  "the log makes "
                  "the same run again, byte for byte; so it does for runs on real servers:");
    if (rad_load_replay(&v, NULL, log, NULL, false, &error) != 0) return complain_error(c, &error);
    if (!v.same) return tour_not_as_told(c, "a log does not replay");
    out(c, "\n   %s turns, %s records: replays byte for byte\n", number(v.turns),
        number(v.records));
    return 0;
}

int tour_load(cli *c, const char *folder)
{
    char log[4096];
    if (!join_path(log, sizeof log, folder, "tour-events.log"))
        return bad_usage(c, "--output: too long");
    tour_part(c, 10, "Load: tests that can be repeated", "load run arrivals.toml --seed 42");
    out_paragraph(c, 3,
                  "A server answers within 12 ms, but stalls for one second in ten. Users who wait "
                  "for their answer "
                  "before they ask again hardly notice: they do not ask while it stalls. People do "
                  "not wait for "
                  "each other; arrivals at a fixed rate see what they would see:");
    int status = compare(c, log);
    if (status == 0) status = replay(c, log);
    remove(log);
    return status;
}
