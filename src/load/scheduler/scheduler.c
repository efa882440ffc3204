/* scheduler.c — a turn, and what is written down of it. */
#include "load/scheduler/scheduler.h"

#include "base/alloc.h"
#include "base/error.h"

/* ---- Opening and closing --------------------------------------------------------------------------------- */

static bool allocate(rad__load_scheduler *c)
{
    const rad__load_scenario *s = c->scenario;
    c->users = rad__alloc(c->user_capacity, sizeof *c->users);
    c->lines = rad__alloc(s->step_count, sizeof *c->lines);
    c->request_sums = rad__alloc(s->request_count, sizeof *c->request_sums);
    c->target_sums = rad__alloc(s->target_count, sizeof *c->target_sums);
    return c->users != NULL && c->lines != NULL && c->request_sums != NULL && c->target_sums != NULL &&
           rad__bitset_reserve(&c->occupied, s->step_count) &&
           rad__load_pool_open(&c->pool, s, c->user_capacity, c->shards) && rad__load_metrics_open(&c->metrics, s);
}

int rad__load_scheduler_open(rad__load_scheduler *c, const rad__load_scenario *scenario, uint64_t seed, uint32_t shard,
                             uint32_t shards, bool logical, rad__load_log *log, rad_error *error)
{
    *c = (rad__load_scheduler){
        .scenario = scenario, .seed = seed, .shard = shard, .shards = shards, .logical = logical, .log = log};
    c->user_capacity = rad__load_users_of_shard(scenario, shard, shards);
    c->idle = c->warm = (struct rad__load_line){RAD_NONE, RAD_NONE};
    bool old = log != NULL && log->version < 3, open = scenario->schedule.model == RAD__LOAD_OPEN;
    c->deals_in_turn = scenario->schedule.in_turn || old;
    c->connects_before = open && !scenario->schedule.connect_late && !old;
    if (!allocate(c)) {
        rad__load_scheduler_close(c);
        return rad__error_memory(error);
    }
    for (uint32_t i = 0; i < scenario->step_count; i++) c->lines[i] = (struct rad__load_line){RAD_NONE, RAD_NONE};
    uint64_t sum = 0;
    for (uint32_t i = 0; i < scenario->request_count; i++) c->request_sums[i] = sum += scenario->requests[i].weight;
    sum = 0;
    for (uint32_t i = 0; i < scenario->target_count; i++) c->target_sums[i] = sum += scenario->targets[i].weight;
    rad__load_due_begin(c);
    if (c->error != 0) {
        rad__load_scheduler_close(c);
        return rad__error_memory(error);
    }
    return 0;
}

void rad__load_scheduler_close(rad__load_scheduler *c)
{
    rad__free(c->users);
    rad__free(c->lines);
    rad__free(c->request_sums);
    rad__free(c->target_sums);
    rad__free(c->effects);
    rad__free(c->order);
    rad__bitset_free(&c->occupied);
    rad__heap_free(&c->due);
    rad__load_pool_close(&c->pool);
    if (c->metrics.scenario != NULL) rad__load_metrics_close(&c->metrics);
    *c = (rad__load_scheduler){0};
}

/* ---- What goes out --------------------------------------------------------------------------------------- */

void rad__load_emit(rad__load_scheduler *c, rad__load_event *event)
{
    c->counters.events++;
    rad__load_metrics_feed(&c->metrics, event);
    if (c->log != NULL) rad__load_log_event(c->log, event);
}

void rad__load_effect_add(rad__load_scheduler *c, const rad__load_effect *effect)
{
    if (RAD_GROW(&c->effects, &c->effect_capacity, c->effect_count + 1))
        c->effects[c->effect_count++] = *effect;
    else
        c->error = RAD_ENOMEM;
}

/* ---- States ---------------------------------------------------------------------------------------------- */

/* I1. */
void rad__load_move(rad__load_scheduler *c, uint32_t vu, enum rad__load_state to)
{
    static const uint8_t MAY[] = {
        [RAD__LOAD_SPAWNED] = 1 << RAD__LOAD_READY,
        [RAD__LOAD_READY] = 1 << RAD__LOAD_EXECUTING | 1 << RAD__LOAD_COMPLETE,
        [RAD__LOAD_EXECUTING] = 1 << RAD__LOAD_WAITING,
        [RAD__LOAD_WAITING] = 1 << RAD__LOAD_READY | 1 << RAD__LOAD_COMPLETE,
        [RAD__LOAD_COMPLETE] = 0,
    };
    struct rad__load_user *u = &c->users[vu];
    RAD_ASSERT(MAY[u->state] >> to & 1);
    u->state = (uint8_t)to;
}

/* ---- Turns ----------------------------------------------------------------------------------------------- */

static void begin_turn(rad__load_scheduler *c, const rad__load_turn *turn)
{
    struct rad__load_turn_record record = {.passed_ns = turn->now_ns - c->now_ns, .inputs = turn->input_count};
    record.flags |= turn->paused ? RAD__LOAD_TURN_PAUSED : 0u;
    record.flags |= turn->interrupted ? RAD__LOAD_TURN_INTERRUPTED : 0u;
    c->now_ns = turn->now_ns;
    c->tick = c->logical ? c->now_ns / c->scenario->tick_ns : c->tick + 1;
    c->counters.ticks++;
    c->effect_count = 0;
    rad__load_metrics_turn(&c->metrics, c->now_ns);
    if (c->log != NULL) rad__load_log_turn(c->log, &record);
}

/* A live turn is as long as it is, so what is counted in ticks is measured in their length. */
static uint64_t ticks_passed(const rad__load_scheduler *c)
{
    return c->now_ns / c->scenario->tick_ns;
}

/* What a killed run leaves is at most this old, and as much older as the disk is slow: less than a second. Logical
 * time has nothing to do with when a run is killed. */
static const uint64_t FLUSH_EVERY_NS = 500000000;

uint64_t rad__load_scheduler_flush_ns(const rad__load_scheduler *c)
{
    bool by_time = c->log != NULL && !c->logical && c->log->version > 1;
    return by_time && c->log->records > 0 ? c->flushed_ns + FLUSH_EVERY_NS : UINT64_MAX;
}

static void flush_when_due(rad__load_scheduler *c)
{
    if (c->log == NULL) return;
    if (ticks_passed(c) - c->flushed_tick >= c->scenario->limits.flush_ticks ||
        c->now_ns >= rad__load_scheduler_flush_ns(c)) {
        c->flushed_tick = ticks_passed(c);
        c->flushed_ns = c->now_ns;
        rad__load_log_flush(c->log);
    }
    if (c->log->written >= c->scenario->limits.max_log_bytes && c->exhausted == RAD__LOAD_OK) {
        c->exhausted = RAD__LOAD_LOG_FULL;
        rad__load_emit(c, &(rad__load_event){.kind = RAD__LOAD_EXHAUSTED, .vu = RAD_NONE, .fault = RAD__LOAD_LOG_FULL});
    }
}

/* Nobody is left, and nobody comes any more; also when everybody who could serve arrivals has given up. */
static bool nothing_to_come(const rad__load_scheduler *c)
{
    if (c->phase == RAD__LOAD_DRAINING) return c->running == 0;
    return c->running == 0 && !c->levels_left && c->wanted == c->user_count;
}

int rad__load_scheduler_turn(rad__load_scheduler *c, const rad__load_turn *turn, rad_error *error)
{
    RAD_ASSERT(c->phase != RAD__LOAD_OVER);
    if (turn->now_ns < c->now_ns || (c->logical && turn->now_ns / c->scenario->tick_ns <= c->tick))
        return rad__error(error, RAD_EINPUT, "time goes back, or does not advance");
    begin_turn(c, turn);
    int result = rad__load_take_inputs(c, turn, error);
    if (result != 0) return result;
    rad__load_due_fire(c);
    if (!turn->paused) rad__load_activate(c);
    flush_when_due(c);
    c->interrupted |= turn->interrupted;
    if (c->interrupted || c->aborted || c->exhausted != RAD__LOAD_OK || nothing_to_come(c)) rad__load_end_over(c);
    if (c->error != 0 || c->metrics.failed) return rad__error_memory(error);
    if (c->log != NULL && c->log->failed != 0) return rad__error(error, c->log->failed, "%s", c->log->error.text);
    RAD_DCHECK(rad__load_scheduler_wrong(c) == NULL);
    return 0;
}

/* Of shards that ran side by side. */
void rad__load_counters_add(struct rad__load_counters *to, const struct rad__load_counters *from)
{
    to->ticks += from->ticks;
    to->events += from->events;
    to->cohorts += from->cohorts;
    to->activated += from->activated;
    to->spawned += from->spawned;
    to->completed += from->completed;
    if (from->deepest_queue > to->deepest_queue) to->deepest_queue = from->deepest_queue;
}

/* ---- Whether all is well --------------------------------------------------------------------------------- */

static const char *user_wrong(const rad__load_scheduler *c, uint32_t vu)
{
    const struct rad__load_user *u = &c->users[vu];
    bool comes = u->waits != RAD__LOAD_FOR_NOTHING && u->waits != RAD__LOAD_FOR_ARRIVAL;
    if (comes && !rad__load_wait_valid(c, vu)) return "what a user waits for is not in the queue";
    switch ((enum rad__load_state)u->state) {
    case RAD__LOAD_SPAWNED:
        return u->waits == RAD__LOAD_FOR_ARRIVAL || u->waits == RAD__LOAD_FOR_START ? NULL
                                                                                    : "a user never becomes ready";
    case RAD__LOAD_WAITING: return u->waits != RAD__LOAD_FOR_NOTHING ? NULL : "a user waits for nothing";
    case RAD__LOAD_EXECUTING: return "a user executes between two turns";
    case RAD__LOAD_READY:
    case RAD__LOAD_COMPLETE: return u->waits == RAD__LOAD_FOR_NOTHING ? NULL : "a user waits, and does not";
    }
    return "a user without state";
}

const char *rad__load_scheduler_wrong(const rad__load_scheduler *c)
{
    uint64_t under_way = 0;
    uint32_t ready = 0, in_lines = 0, running = 0, waiting = 0;
    for (uint32_t i = 0; i < c->user_count; i++) {
        const char *wrong = user_wrong(c, i);
        if (wrong != NULL) return wrong;
        under_way += c->users[i].state == RAD__LOAD_WAITING && c->users[i].waits == RAD__LOAD_FOR_ANSWER;
        ready += c->users[i].state == RAD__LOAD_READY;
        waiting += c->users[i].waits != RAD__LOAD_FOR_NOTHING && c->users[i].waits != RAD__LOAD_FOR_ARRIVAL;
        running += c->users[i].state != RAD__LOAD_COMPLETE;
    }
    for (uint32_t s = 0; s < c->scenario->step_count; s++) {
        for (uint32_t vu = c->lines[s].first; vu != RAD_NONE; vu = c->users[vu].next) {
            if (c->users[vu].state != RAD__LOAD_READY || c->users[vu].step != s) return "a line has another user in it";
            if (++in_lines > ready) return "a user is in two lines";
        }
        if (rad__bitset_has(&c->occupied, s) != (c->lines[s].first != RAD_NONE)) return "a line is forgotten";
    }
    const struct rad__load_tally *t = &c->metrics.all;
    if (in_lines != ready || c->ready_count != ready) return "a ready user is in no line";
    if (running != c->running) return "users are miscounted";
    if (t->issued != t->responses + t->errors + t->timeouts + t->cancelled + under_way) return "requests do not add up";
    if (waiting != c->waiting || waiting > c->scenario->limits.max_events) return "the queue is over its limit";
    return rad__load_pool_valid(&c->pool) && rad__heap_valid(&c->due) ? NULL : "pool or queue are out of order";
}
