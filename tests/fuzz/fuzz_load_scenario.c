/* fuzz_load_scenario.c — any bytes as a scenario: an error that says where, or a scenario that can be outlined and, if
 * it has a simulated target and is not too large, run: for a bounded number of turns nothing is out of order, and what
 * was logged replays. */
#include "base/alloc.h"
#include "base/error.h"
#include "load/replay/replay.h"
#include "load/report/result.h"
#include "load/scheduler/simulated.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TURNS = 300, USERS_MOST = 500, CONNS_MOST = 2000, WORK_MOST = 200000 };

static void require(bool condition)
{
    if (!condition) abort();
}

static int read_file(const char *path, uint64_t limit, char **data, size_t *size, rad_error *error)
{
    static const char ROWS[] = "name,value\n1,\"a,b\"\n2,c\n";
    if (strstr(path, "rows") == NULL) return rad__error(error, RAD_EINPUT, "%s: no file", path);
    *data = rad__copy_text(ROWS);
    *size = sizeof ROWS - 1;
    require(*data != NULL && limit >= *size);
    return 0;
}

static const struct rad__load_files FILES = {read_file};

static int keep(void *context, const void *data, size_t size, rad_error *error)
{
    (void)error;
    rad__bytes_put(context, data, size);
    return 0;
}

/* ---- Reading --------------------------------------------------------------------------------------------- */

static void check_error(const rad_error *error, const uint8_t *data, size_t size)
{
    unsigned line, column, lines = 1;
    for (size_t i = 0; i < size; i++) lines += data[i] == '\n';
    require(error->code == RAD_EINPUT);
    require(sscanf(error->text, "input:%u:%u: ", &line, &column) == 2);
    require(line >= 1 && line <= lines && column >= 1);
}

/* What everybody who works with a scenario relies on. */
static void check_scenario(const rad__load_scenario *s)
{
    uint64_t length = 0;
    require(s->users >= 1 && s->users <= s->limits.max_vus && s->tick_ns >= 1);
    require((s->duration_ns == 0) == (s->iterations != 0));
    require(s->request_count >= 1 && s->target_count >= 1 && s->step_count >= 1);
    require(s->schedule.stage_count >= 1);
    for (uint32_t i = 0; i < s->schedule.stage_count; i++) length += s->schedule.stages[i].length_ns;
    require(s->duration_ns == length);
    for (uint32_t i = 0; i < s->step_count; i++)
        require(s->steps[i].request == RAD_NONE || s->steps[i].request < s->request_count);
    for (uint32_t i = 0; i < s->request_count; i++) {
        const struct rad__load_request *q = &s->requests[i];
        require(q->name != NULL && q->method != NULL && q->path[0] == '/');
        require(q->target == RAD_NONE || q->target < s->target_count);
        for (uint32_t k = 0; k < q->extract_count; k++)
            require(q->extracts[k].variable < s->variable_count && q->extracts[k].where != NULL);
        for (uint32_t k = 0; k < q->check_count; k++) require(q->checks[k].name != NULL);
    }
    for (uint32_t i = 0; i < s->target_count; i++) {
        const struct rad__load_target *t = &s->targets[i];
        require(t->host != NULL && t->port != NULL && t->base_path != NULL && t->streams >= 1);
        require(t->max_connections >= 1 && t->name != NULL);
    }
}

/* ---- Running --------------------------------------------------------------------------------------------- */

static bool is_small(const rad__load_scenario *s)
{
    uint64_t conns = 0, rate = 0;
    for (uint32_t i = 0; i < s->target_count; i++) conns += s->targets[i].max_connections;
    for (uint32_t i = 0; s->schedule.model == RAD__LOAD_OPEN && i < s->schedule.stage_count; i++)
        rate = s->schedule.stages[i].to > rate ? s->schedule.stages[i].to : rate;
    /* Arrivals of one tick, and all that are left over at the end. */
    return s->has_simulated && s->users <= USERS_MOST && conns <= CONNS_MOST && s->simulated.workers <= USERS_MOST &&
           (unsigned __int128)rate * (s->duration_ns / 1000000000 + 1) / 1000 < WORK_MOST;
}

static void run(const rad__load_scenario *s, const char *text, uint64_t seed)
{
    rad_bytes file = {0};
    rad__load_log log;
    rad__load_scheduler scheduler;
    rad__load_engine *engine;
    rad_error error = {0};
    struct rad__load_log_header header = {.seed = seed,
                                          .tick_ns = s->tick_ns,
                                          .shards = 1,
                                          .level = RAD__LOAD_LEVEL_SIMULATED,
                                          .engine = RAD__LOAD_ENGINE_SIMULATED,
                                          .tool = "fuzz"};
    rad__load_log_open(&log, keep, &file);
    require(rad__load_log_begin(&log, header, "", text) == 0);
    require(rad__load_scheduler_open(&scheduler, s, seed, 0, 1, true, &log, &error) == 0);
    require(rad__load_simulated_open(&engine, s, seed, 0, 1, scheduler.user_capacity, scheduler.pool.conn_count,
                                     &error) == 0);
    for (uint32_t i = 0; i < TURNS && !rad__load_scheduler_over(&scheduler); i++) {
        rad__load_turn turn;
        require(engine->kind->turn(engine, rad__load_scheduler_due(&scheduler), true, &turn, &error) == 0);
        if (i == TURNS - 1) turn.interrupted = true;
        require(rad__load_scheduler_turn(&scheduler, &turn, &error) == 0);
        require(engine->kind->act(engine, scheduler.effects, scheduler.effect_count, &error) == 0);
        require(rad__load_scheduler_wrong(&scheduler) == NULL);
    }
    require(rad__load_scheduler_over(&scheduler) && rad__load_log_end(&log) == 0);
    rad__load_log_reader reader;
    struct rad__load_verdict verdict;
    require(rad__load_log_read(&reader, "log", file.data, file.size, &error) == 0);
    require(rad__load_verify(&reader, s, &verdict, NULL, &error) == 0 && verdict.same);
    engine->kind->close(engine);
    rad__load_scheduler_close(&scheduler);
    rad__load_log_close(&log);
    rad__bytes_free(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    rad_load_scenario scenario;
    rad_error error = {0};
    if (rad__load_scenario_parse(&scenario.s, "input", (const char *)data, size, &FILES, &error) != 0) {
        check_error(&error, data, size);
        return 0;
    }
    check_scenario(&scenario.s);
    char *text = rad_load_outline(&scenario);
    require(text != NULL && strlen(text) > 0);
    if (is_small(&scenario.s)) run(&scenario.s, text, scenario.s.seed + 1);
    rad__free(text);
    rad__load_scenario_free(&scenario.s);
    return 0;
}
