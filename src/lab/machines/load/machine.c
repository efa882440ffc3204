/* machine.c — the load tester's scheduler as a machine of the lab. See machine.h. */
#include "lab/machines/load/machine.h"
#include "lab/machines/load/load.h"

#include "base/alloc.h"
#include "base/error.h"
#include "core/kernel.h"
#include "lab/case_source.h"

#include <stdio.h>
#include <string.h>

enum { USERS, STEPS, ITERATIONS, CONNECTIONS, STREAMS, EVENTS, BATCH, ARRIVALS };

enum { SITE_TIME, SITE_ANSWER, SITE_LATE, SITES_COUNT };

static const uint64_t TICK = 1000000;
enum { TIMEOUT_TICKS = 20, OPEN_TICKS = 200, REPEATS = 8 /* of the first step */ };

static const rad_param load_params[] = {
    {"users", 3, 1, RAD__LOAD_TRIAL_USERS, "virtual users", false},
    {"steps", 2, 1, RAD__LOAD_TRIAL_STEPS, "requests of an iteration", false},
    {"iterations", 2, 1, 1000, "of each user", false},
    {"connections", 2, 1, RAD__LOAD_TRIAL_USERS, "at most, at a time", false},
    {"streams", 1, 1, 100, "requests at once on a connection", false},
    {"events", 3, 1, 1000000, "that may wait in the queue", true},
    {"batch", 2, 1, 10000, "users that may be activated in a tick", true},
    {"arrivals", 0, 0, 1000, "open model: arrivals in 200 ticks; 0: closed", false},
    {NULL, 0, 0, 0, NULL, false},
};

static const char *const load_oracles[] = {"state", "lost", "twice", "late", "order", "starved", "replay", NULL};

/* ---- Life ------------------------------------------------------------------------------------------------ */

static void make_scenario(rad__load_trial *t, const rad_case *c)
{
    rad__load_scenario *s = &t->scenario;
    const int64_t *p = c->params;
    bool open = p[ARRIVALS] > 0;
    t->request =
        (struct rad__load_request){.name = "index", .method = "GET", .path = "/", .weight = RAD__LOAD_PPM, .target = 0};
    t->target = (struct rad__load_target){.name = "lab",
                                          .weight = RAD__LOAD_PPM,
                                          .max_connections = (uint32_t)p[CONNECTIONS],
                                          .streams = (uint32_t)p[STREAMS],
                                          .http2 = p[STREAMS] > 1};
    for (uint32_t i = 0; i < RAD__LOAD_TRIAL_STEPS; i++) t->steps[i] = (struct rad__load_step){0, i == 0 ? REPEATS : 1};
    t->stage = (struct rad__load_stage){OPEN_TICKS * TICK, (uint64_t)p[USERS], (uint64_t)p[USERS]};
    if (open) t->stage.from = t->stage.to = (uint64_t)p[ARRIVALS] * (1000000 / OPEN_TICKS);
    *s = (rad__load_scenario){.name = "trial",
                              .tick_ns = TICK,
                              .iterations = open ? 0 : (uint64_t)p[ITERATIONS],
                              .duration_ns = open ? 2 * OPEN_TICKS * TICK : 0,
                              .users = (uint32_t)p[USERS],
                              .requests = &t->request,
                              .targets = &t->target,
                              .steps = t->steps,
                              .request_count = 1,
                              .target_count = 1,
                              .step_count = (uint32_t)p[STEPS],
                              .limits = rad__load_limits_defaults()};
    s->schedule = (struct rad__load_schedule){
        .model = open ? RAD__LOAD_OPEN : RAD__LOAD_CLOSED, .stage_count = 1, .stages = &t->stage};
    s->limits.max_events = (uint32_t)p[EVENTS];
    s->limits.max_activations = (uint32_t)p[BATCH];
    s->limits.timeout_ns = TIMEOUT_TICKS * TICK;
    s->limits.retry_ns = 3 * TICK;
    s->limits.flush_ticks = UINT64_MAX;
}

static void close_run(rad__load_trial *t)
{
    if (t->scheduler_open) rad__load_scheduler_close(&t->scheduler);
    t->scheduler_open = false;
    rad__load_log_close(&t->log);
    rad__bytes_free(&t->file);
}

static void trial_destroy(void *self)
{
    rad__load_trial *t = self;
    if (t == NULL) return;
    close_run(t);
    rad__free(t->actors);
    rad__free(t->answers);
    rad__free(t->lates);
    rad__free(t->accounts);
    rad__free(t->inputs);
    if (t->parsed) rad__load_scenario_free(&t->scenario);
    rad__free(t);
}

static int allocate(rad__load_trial *t, rad_error *error)
{
    uint32_t users = t->scenario.users;
    t->actors = rad__alloc(users, sizeof *t->actors);
    t->answers = rad__alloc(users, sizeof *t->answers);
    t->lates = rad__alloc(users, sizeof *t->lates);
    t->accounts = rad__alloc(users, sizeof *t->accounts);
    t->inputs = rad__alloc((size_t)users * 3 + 3, sizeof *t->inputs);
    return t->actors && t->answers && t->lates && t->accounts && t->inputs ? 0 : rad__error_memory(error);
}

static int trial_create(void **self, const rad_machine *m, const rad_case *c, rad_error *error)
{
    (void)m;
    rad__load_trial *t = rad__alloc(1, sizeof *t);
    *self = NULL;
    if (t == NULL) return rad__error_memory(error);
    make_scenario(t, c);
    int status = allocate(t, error);
    if (status == 0)
        *self = t;
    else
        trial_destroy(t);
    return status;
}

/* ---- A scenario of the user's ---------------------------------------------------------------------------- */

enum { TURNS };

static const rad_param scenario_params[] = {
    {"turns", 300, 1, 1000000, "ticks after which the run is interrupted", false},
    {NULL, 0, 0, 0, NULL, false},
};

static const char scenario_default[] = "{\"source\":[\"[runtime]\",\"duration_seconds = 1\",\"vus = "
                                       "3\",\"[[requests]]\",\"name = 'index'\","
                                       "\"path = '/'\",\"[simulated]\",\"latency_ms = 10\"]}";

static int scenario_create(void **self, const rad_machine *m, const rad_case *c, rad_error *error)
{
    (void)m;
    static const char *const keys[] = {"source", NULL};
    *self = NULL;
    char *text = rad__case_source_text(c, keys, error);
    if (text == NULL) return error->code;
    rad__load_trial *t = rad__alloc(1, sizeof *t);
    int status = t != NULL ? rad__load_scenario_parse(&t->scenario, "source", text, strlen(text), NULL, error)
                           : rad__error_memory(error);
    rad__free(text);
    if (status != 0) {
        rad__free(t);
        return status;
    }
    t->turns = (uint64_t)c->params[TURNS];
    t->parsed = true;
    if (t->scenario.users > RAD__LOAD_TRIAL_USERS)
        status = rad__error(error, RAD_EINPUT, "source: %u virtual users; explore takes up to %d", t->scenario.users,
                            RAD__LOAD_TRIAL_USERS);
    if (status == 0) status = allocate(t, error);
    if (status == 0)
        *self = t;
    else
        trial_destroy(t);
    return status;
}

static uint64_t scenario_size(const rad_case *c)
{
    return rad__case_source_size(&rad__machine_scenario, c);
}

static int scenario_check(const char *path, const char *text, size_t size, rad_error *error)
{
    rad__load_scenario s;
    int status = rad__load_scenario_parse(&s, path, text, size, NULL, error);
    if (status == 0) rad__load_scenario_free(&s);
    return status;
}

int rad_target_scenario(rad_target *t, const char *path, rad_error *error)
{
    return rad__case_source_target(t, &rad__machine_scenario, path, scenario_check, NULL, NULL, error);
}

static int keep(void *context, const void *data, size_t size, rad_error *error)
{
    rad_bytes *file = context;
    rad__bytes_put(file, data, size);
    return file->failed ? rad__error_memory(error) : 0;
}

/* ---- What may happen next -------------------------------------------------------------------------------- */

static void set(rad_kernel *k, uint32_t action, bool on)
{
    if (on)
        rad_enable(k, action);
    else
        rad_disable(k, action);
}

static void offer(rad__load_trial *t)
{
    bool over = rad__load_scheduler_over(&t->scheduler);
    set(t->k, t->clock_action, !over);
    for (uint32_t i = 0; i < t->scenario.users; i++) {
        set(t->k, t->answers[i], !over && t->accounts[i].request != 0);
        set(t->k, t->lates[i], !over && t->accounts[i].late != 0);
    }
}

static void trial_reset(void *self, rad_kernel *k)
{
    rad__load_trial *t = self;
    rad_error error;
    close_run(t);
    t->k = k;
    rad__load_log_open(&t->log, keep, &t->file);
    t->log.tap = rad__load_books_record;
    t->log.tap_context = t;
    struct rad__load_log_header header = {.seed = 1,
                                          .tick_ns = t->scenario.tick_ns,
                                          .shards = 1,
                                          .level = RAD__LOAD_LEVEL_SIMULATED,
                                          .engine = RAD__LOAD_ENGINE_SIMULATED};
    int result = rad__load_log_begin(&t->log, header, "", "");
    if (result == 0) result = rad__load_scheduler_open(&t->scheduler, &t->scenario, 1, 0, 1, true, &t->log, &error);
    if (result != 0) {
        rad__kernel_error(k, result, "out of memory for the scheduler");
        return;
    }
    t->scheduler_open = true;
    t->taken = 0;
    t->clock_actor = rad_actor(k, RAD_NONE, "clock");
    t->clock_action = rad_action(k, 0, t->clock_actor, RAD_NONE, 0);
    rad_announce(k, t->clock_action, SITE_TIME, RAD_NONE, RAD_LOCAL);
    for (uint32_t i = 0; i < t->scenario.users; i++) {
        t->accounts[i] = (struct rad__load_account){0};
        t->actors[i] = rad_actor(k, RAD_NONE, "user");
        t->answers[i] = rad_action(k, 1, t->actors[i], RAD_NONE, 0);
        t->lates[i] = rad_action(k, 2, t->actors[i], RAD_NONE, 0);
        rad_announce(k, t->answers[i], SITE_ANSWER, RAD_NONE, RAD_LOCAL);
        rad_announce(k, t->lates[i], SITE_LATE, RAD_NONE, RAD_LOCAL);
    }
    offer(t);
}

/* ---- The world ------------------------------------------------------------------------------------------- */

enum outcome { ANSWER, RESET, GARBAGE, ANSWER_THEN_CLOSE, STREAM_FAILS, REFUSED, OUTCOMES };

static void input(rad__load_trial *t, uint32_t vu, uint32_t conn, enum rad__load_input_kind kind,
                  enum rad__load_fault fault, uint64_t request, uint64_t now)
{
    bool of_user = kind == RAD__LOAD_IN_RESPONSE || kind == RAD__LOAD_IN_FAILED, sent = fault != RAD__LOAD_REFUSED;
    t->inputs[t->input_count++] = (rad__load_input){.vu = vu,
                                                    .conn = conn,
                                                    .kind = (uint32_t)kind,
                                                    .fault = (uint32_t)fault,
                                                    .request = request,
                                                    .at_ns = now,
                                                    .sent_ns = of_user && sent ? now : 0,
                                                    .status = kind == RAD__LOAD_IN_RESPONSE ? 200 : 0};
    if (of_user && request == t->accounts[vu].request) t->accounts[vu].answered = true;
}

/* A connection that breaks takes everything on it along. */
static void break_connection(rad__load_trial *t, uint32_t conn, enum rad__load_fault fault, uint64_t now)
{
    for (uint32_t i = 0; i < t->scheduler.user_count; i++) {
        const struct rad__load_account *a = &t->accounts[i];
        if (a->request != 0 && a->conn == conn && !a->answered)
            input(t, i, conn, RAD__LOAD_IN_FAILED, fault, a->request, now);
    }
}

static void answer(rad__load_trial *t, uint32_t vu, uint64_t now)
{
    const struct rad__load_account *a = &t->accounts[vu];
    uint32_t conn = a->conn;
    bool opening = t->scheduler.pool.conns[conn].state == RAD__LOAD_OPENING;
    enum outcome outcome = rad_pick(t->k, RAD_PICK_FAULT, SITE_ANSWER, opening ? OUTCOMES : REFUSED);
    if (outcome == REFUSED) {
        break_connection(t, conn, RAD__LOAD_REFUSED, now);
        input(t, vu, conn, RAD__LOAD_IN_CONN_FAILED, RAD__LOAD_REFUSED, 0, now);
        return;
    }
    if (opening) input(t, vu, conn, RAD__LOAD_IN_CONNECTED, RAD__LOAD_OK, 0, now);
    if (outcome == ANSWER || outcome == ANSWER_THEN_CLOSE)
        input(t, vu, conn, RAD__LOAD_IN_RESPONSE, RAD__LOAD_OK, a->request, now);
    if (outcome == RESET) break_connection(t, conn, RAD__LOAD_RESET, now);
    if (outcome == GARBAGE) break_connection(t, conn, RAD__LOAD_BAD_RESPONSE, now);
    if (outcome == ANSWER_THEN_CLOSE) break_connection(t, conn, RAD__LOAD_CLOSED_EARLY, now);
    if (outcome == STREAM_FAILS)
        input(t, vu, conn, RAD__LOAD_IN_FAILED, RAD__LOAD_REFUSED_STREAM, a->request, now);
    else if (outcome != ANSWER)
        input(t, vu, conn, RAD__LOAD_IN_CONN_CLOSED, RAD__LOAD_OK, 0, now);
}

/* The next tick, or the one in which something is due: then an answer and a timeout may meet. */
static uint64_t next_time(rad__load_trial *t, bool must_jump)
{
    uint64_t tick = t->scenario.tick_ns;
    uint64_t next = (t->scheduler.tick + 1) * tick, due = rad__load_scheduler_due(&t->scheduler);
    if (due == UINT64_MAX || due <= next) return next;
    due = (due + tick - 1) / tick * tick;
    return must_jump || rad_pick(t->k, RAD_PICK_VALUE, SITE_ANSWER, 2) == 1 ? due : next;
}

static void trial_step(void *self, rad_kernel *k, uint32_t action)
{
    rad__load_trial *t = self;
    rad_error error;
    uint32_t vu = 0;
    while (vu < t->scenario.users && t->answers[vu] != action && t->lates[vu] != action) vu++;
    uint64_t now = next_time(t, action == t->clock_action);
    t->input_count = 0;
    if (vu < t->scenario.users && action == t->lates[vu]) {
        input(t, vu, t->accounts[vu].late_conn, RAD__LOAD_IN_RESPONSE, RAD__LOAD_OK, t->accounts[vu].late, now);
        t->accounts[vu].late = 0;
    } else if (vu < t->scenario.users) {
        answer(t, vu, now);
    }
    rad__load_turn turn = {.now_ns = now, .inputs = t->inputs, .input_count = t->input_count};
    turn.interrupted = t->turns != 0 && ++t->taken >= t->turns;
    int result = rad__load_scheduler_turn(&t->scheduler, &turn, &error);
    if (result != 0) {
        rad__kernel_error(k, result, error.text);
        return;
    }
    rad_value(k, t->scheduler.now_ns);
    rad__load_books_balance(t);
    offer(t);
}

static void trial_check(void *self, rad_kernel *k)
{
    rad__load_trial *t = self;
    const char *wrong = t->scheduler_open ? rad__load_scheduler_wrong(&t->scheduler) : NULL;
    RAD_CHECK(k, RAD__LOAD_ORACLE_STATE, wrong == NULL, RAD_NONE, "%s", wrong);
}

/* ---- The end --------------------------------------------------------------------------------------------- */

static enum rad_end trial_idle(void *self, rad_kernel *k)
{
    rad__load_trial *t = self;
    if (!t->scheduler_open) return RAD_END_FINISHED;
    struct rad__load_verdict verdict;
    rad__load_log_reader reader;
    rad_error error;
    int result = rad__load_log_end(&t->log);
    if (result == 0) result = rad__load_log_read(&reader, "log", t->file.data, t->file.size, &error);
    if (result == 0) result = rad__load_verify(&reader, &t->scenario, &verdict, NULL, &error);
    rad_evaluated(k, RAD__LOAD_ORACLE_REPLAY);
    if (result == RAD_ENOMEM)
        rad__kernel_error(k, result, "out of memory for the replay");
    else if (result != 0)
        rad_fail(k, RAD__LOAD_ORACLE_REPLAY, RAD_NONE, "%s", error.text);
    else if (!verdict.same)
        rad_fail(k, RAD__LOAD_ORACLE_REPLAY, RAD_NONE, "%s", verdict.text);
    return rad__load_scheduler_over(&t->scheduler) ? RAD_END_FINISHED : RAD_END_STUCK;
}

/* ---- Words ----------------------------------------------------------------------------------------------- */

static const char *trial_kind(const void *self, uint32_t kind)
{
    (void)self;
    return kind == 0 ? "time passes" : rad__load_record_name(kind - 1);
}

static const char *trial_site(const void *self, uint32_t site)
{
    static const char *const SITES[SITES_COUNT] = {"time passes", "an answer", "a late answer"};
    (void)self;
    return site < SITES_COUNT ? SITES[site] : NULL;
}

static void trial_describe(const void *self, void (*line)(void *context, const char *text), void *context)
{
    static const char *const STATES[] = {"spawned", "ready", "executing", "waiting", "complete"};
    static const char *const WAITS[] = {
        "", " to start", " for an answer", " in thought", " for a connection", " for an arrival"};
    const rad__load_trial *t = self;
    char text[200];
    snprintf(text, sizeof text, "tick %lu, %u ready, %u in the queue", (unsigned long)t->scheduler.tick,
             t->scheduler.ready_count, t->scheduler.waiting);
    line(context, text);
    for (uint32_t i = 0; t->scheduler_open && i < t->scheduler.user_count; i++) {
        const struct rad__load_user *u = &t->scheduler.users[i];
        snprintf(text, sizeof text, "user %u: %s%s, step %u, request %lu", i, STATES[u->state], WAITS[u->waits],
                 u->step, (unsigned long)u->request);
        line(context, text);
    }
}

const rad_machine rad__machine_load = {
    .progresses = true,
    .name = "load",
    .about = "the load tester's scheduler: users, timeouts, cohorts, a pool; any answer at any time",
    .params = load_params,
    .oracles = load_oracles,
    .bug_site = RAD_NONE,
    .self_test = true,
    .create = trial_create,
    .destroy = trial_destroy,
    .reset = trial_reset,
    .step = trial_step,
    .idle = trial_idle,
    .check = trial_check,
    .kind_name = trial_kind,
    .site_name = trial_site,
    .describe = trial_describe,
};

const rad_machine rad__machine_scenario = {
    .progresses = true,
    .name = "load-scenario",
    .about = "a load scenario of yours, with Raddle as its server: raddle explore FILE.toml",
    .params = scenario_params,
    .oracles = load_oracles,
    .bug_site = RAD_NONE,
    .body = scenario_default,
    .create = scenario_create,
    .destroy = trial_destroy,
    .reset = trial_reset,
    .step = trial_step,
    .idle = trial_idle,
    .check = trial_check,
    .size = scenario_size,
    .reduce = rad__case_source_reduce,
    .kind_name = trial_kind,
    .site_name = trial_site,
    .describe = trial_describe,
};
