/* user.c — the life of a virtual user: ready, activated, answered, and on to the next request. */
#include "load/scheduler/scheduler.h"

/* ---- Lines ----------------------------------------------------------------------------------------------- */

static void append(rad__load_scheduler *c, struct rad__load_line *line, uint32_t vu)
{
    c->users[vu].next = RAD_NONE;
    if (line->last == RAD_NONE)
        line->first = vu;
    else
        c->users[line->last].next = vu;
    line->last = vu;
}

static void put_first(rad__load_scheduler *c, struct rad__load_line *line, uint32_t vu)
{
    c->users[vu].next = line->first;
    line->first = vu;
    if (line->last == RAD_NONE) line->last = vu;
}

static uint32_t take_first(rad__load_scheduler *c, struct rad__load_line *line)
{
    uint32_t vu = line->first;
    line->first = c->users[vu].next;
    if (line->first == RAD_NONE) line->last = RAD_NONE;
    return vu;
}

static uint32_t take_ready(rad__load_scheduler *c, uint32_t step)
{
    uint32_t vu = take_first(c, &c->lines[step]);
    if (c->lines[step].first == RAD_NONE) rad__bitset_remove(&c->occupied, step);
    c->ready_count--;
    return vu;
}

/* From spawned or waiting. It runs in the next tick at the earliest. */
void rad__load_user_ready(rad__load_scheduler *c, uint32_t vu)
{
    struct rad__load_user *u = &c->users[vu];
    if (u->state == RAD__LOAD_SPAWNED) rad__load_emit(c, &(rad__load_event){.kind = RAD__LOAD_VU_READY, .vu = vu});
    rad__load_move(c, vu, RAD__LOAD_READY);
    u->waits = RAD__LOAD_FOR_NOTHING;
    u->ready_tick = c->tick;
    append(c, &c->lines[u->step], vu);
    rad__bitset_add(&c->occupied, u->step);
    c->ready_count++;
}

/* Open: until the next arrival. Those who have had none stand in the order of their numbers. */
void rad__load_user_idle(rad__load_scheduler *c, uint32_t vu)
{
    struct rad__load_user *u = &c->users[vu];
    u->waits = RAD__LOAD_FOR_ARRIVAL;
    if (c->deals_in_turn)
        append(c, &c->idle, vu);
    else if (u->conn == RAD_NONE)
        append(c, &c->warm, vu);
    else
        put_first(c, &c->warm, vu);
}

/* Whoever was busy last, so that few connections are used and these stay warm. One whose connection was closed since
 * then goes behind all who have theirs, and is asked again when there is none of them. */
uint32_t rad__load_user_take_idle(rad__load_scheduler *c)
{
    while (c->warm.first != RAD_NONE) {
        uint32_t vu = take_first(c, &c->warm);
        const struct rad__load_user *u = &c->users[vu];
        if (u->conn == RAD_NONE || rad__load_pool_has(&c->pool, u->conn, u->opened)) return vu;
        append(c, &c->idle, vu);
    }
    return c->idle.first != RAD_NONE ? take_first(c, &c->idle) : RAD_NONE;
}

static void complete(rad__load_scheduler *c, uint32_t vu, enum rad__load_fault why)
{
    rad__load_move(c, vu, RAD__LOAD_COMPLETE);
    c->running--;
    c->counters.completed++;
    rad__load_emit(c, &(rad__load_event){.kind = RAD__LOAD_VU_COMPLETE, .vu = vu, .fault = (uint32_t)why});
}

/* It finishes what it has begun, and begins nothing new. */
void rad__load_user_retire(rad__load_scheduler *c, uint32_t vu)
{
    c->users[vu].retires = true;
}

/* ---- Sending --------------------------------------------------------------------------------------------- */

static bool is_last(const rad__load_scheduler *c, const struct rad__load_user *u)
{
    return u->step + 1 == c->scenario->step_count && u->repeated + 1 >= c->scenario->steps[u->step].repeat;
}

static uint32_t flags_of(const rad__load_scheduler *c, const struct rad__load_user *u, bool done)
{
    return (u->measured ? RAD__LOAD_MEASURED : 0u) | (done && is_last(c, u) ? RAD__LOAD_LAST : 0u);
}

static void tell_issued(rad__load_scheduler *c, uint32_t vu)
{
    const struct rad__load_user *u = &c->users[vu];
    bool open = c->scenario->schedule.model == RAD__LOAD_OPEN, first = u->position == 0;
    rad__load_event event = {.kind = RAD__LOAD_ISSUED,
                             .vu = vu,
                             .request = u->request,
                             .conn = u->conn,
                             .what = u->what,
                             .target = u->target,
                             .iteration = u->iteration,
                             .count = open ? c->now_ns - u->planned_ns : 0,
                             .flags = flags_of(c, u, false) | (first ? RAD__LOAD_FIRST : 0u) |
                                      (first && u->blocked ? RAD__LOAD_BLOCKED : 0u)};
    rad__load_emit(c, &event);
}

/* Its timeout has a place in the queue before anything is sent (I3). */
static void send(rad__load_scheduler *c, uint32_t vu, const struct rad__load_lease *lease)
{
    struct rad__load_user *u = &c->users[vu];
    uint64_t timeout = c->scenario->requests[u->what].timeout_ns;
    if (timeout == 0) timeout = c->scenario->limits.timeout_ns;
    rad__load_move(c, vu, RAD__LOAD_WAITING);
    rad__load_wait_for(c, vu, RAD__LOAD_FOR_ANSWER, c->now_ns + timeout);
    u->request++;
    u->conn = lease->conn;
    u->opened = lease->opened;
    u->issued_ns = c->now_ns;
    u->measured = c->now_ns >= c->scenario->warmup_ns;
    tell_issued(c, vu);
    rad__load_effect effect = {.kind = RAD__LOAD_DO_SEND,
                               .vu = vu,
                               .conn = u->conn,
                               .what = u->what,
                               .target = u->target,
                               .position = u->position,
                               .request = u->request,
                               .iteration = u->iteration,
                               .open = lease->open,
                               .last = lease->last};
    rad__load_effect_add(c, &effect);
}

static void execute(rad__load_scheduler *c, uint32_t vu)
{
    struct rad__load_user *u = &c->users[vu];
    struct rad__load_lease lease;
    rad__load_move(c, vu, RAD__LOAD_EXECUTING);
    c->counters.activated++;
    rad__load_choose(c, vu);
    rad__load_stream draw = rad__load_user_draw(c, u, vu, RAD__LOAD_DRAW_CONNECTION);
    if (rad__load_pool_take(&c->pool, u->target, vu, &draw, &lease)) {
        send(c, vu, &lease);
        return;
    }
    rad__load_event event = {.kind = RAD__LOAD_EXHAUSTED, .vu = vu, .fault = RAD__LOAD_POOL_EXHAUSTED};
    rad__load_emit(c, &event);
    rad__load_move(c, vu, RAD__LOAD_WAITING);
    rad__load_wait_for(c, vu, RAD__LOAD_FOR_RETRY, c->now_ns + c->scenario->limits.retry_ns);
}

/* ---- Activation ------------------------------------------------------------------------------------------ */

static bool wants_nothing_more(const rad__load_scheduler *c, const struct rad__load_user *u)
{
    uint64_t limit = c->scenario->iterations;
    return c->phase != RAD__LOAD_RUNNING || u->retires ||
           (limit != 0 && u->iteration >= limit && c->scenario->schedule.model == RAD__LOAD_CLOSED);
}

static void tell_queue_full(rad__load_scheduler *c)
{
    if (c->queue_was_full) return;
    c->queue_was_full = true;
    rad__load_emit(c, &(rad__load_event){.kind = RAD__LOAD_EXHAUSTED, .vu = RAD_NONE, .fault = RAD__LOAD_QUEUE_FULL});
}

/* A cohort: those at one step whom this pass is for. False: there is no room for more in this tick. */
static bool activate_cohort(rad__load_scheduler *c, uint32_t step, uint32_t *left)
{
    uint32_t before = *left;
    bool room = true;
    while (c->lines[step].first != RAD_NONE && c->users[c->lines[step].first].ready_tick < c->pass_tick) {
        room = *left > 0 && rad__load_due_room(c);
        if (!room) break;
        --*left;
        uint32_t vu = take_ready(c, step);
        if (wants_nothing_more(c, &c->users[vu]))
            complete(c, vu, RAD__LOAD_OK);
        else
            execute(c, vu);
    }
    c->counters.cohorts += *left < before;
    if (!room && *left > 0) tell_queue_full(c);
    return room;
}

/* Ascending steps. A pass is for those who were ready before it began, and is not over until all of them were served:
 * when a tick has no room for more, the next one goes on where it stopped (at the steps before there is nobody left
 * whom the pass is for). So nobody is served twice while somebody who was ready before waits, and no step starves. */
static bool go_through(rad__load_scheduler *c, uint32_t *left)
{
    uint32_t step = rad__bitset_next(&c->occupied, 0);
    for (; step != RAD_NONE; step = rad__bitset_next(&c->occupied, step + 1)) {
        if (!activate_cohort(c, step, left)) {
            c->pass_is_open = true;
            return false;
        }
    }
    c->pass_is_open = false;
    c->queue_was_full = false;
    return true;
}

void rad__load_activate(rad__load_scheduler *c)
{
    uint32_t left = c->scenario->limits.max_activations;
    if (c->pass_is_open && !go_through(c, &left)) return;
    c->pass_tick = c->tick;
    go_through(c, &left);
}

/* ---- Answers --------------------------------------------------------------------------------------------- */

/* The next request of the scenario: after thinking, and not before `delay_ns`. */
static void go_on(rad__load_scheduler *c, uint32_t vu, uint64_t delay_ns)
{
    struct rad__load_user *u = &c->users[vu];
    bool last = is_last(c, u), open = c->scenario->schedule.model == RAD__LOAD_OPEN;
    uint64_t pause = last && open ? 0 : rad__load_choose_pause(c, vu);
    if (++u->repeated >= c->scenario->steps[u->step].repeat) {
        u->repeated = 0;
        u->step = last ? 0 : u->step + 1;
    }
    u->position = last ? 0 : u->position + 1;
    if (last && !open) u->iteration++;
    u->planned_ns = c->now_ns;
    if (pause < delay_ns) pause = delay_ns;
    if (c->phase != RAD__LOAD_RUNNING)
        rad__load_user_ready(c, vu); /* it is complete in the next tick */
    else if (last && open && pause == 0)
        rad__load_user_idle(c, vu);
    else if (pause > 0)
        rad__load_wait_for(c, vu, RAD__LOAD_FOR_PAUSE, c->now_ns + pause);
    else
        rad__load_user_ready(c, vu);
}

/* False: it does not wait for this one any more. */
static bool awaits(const rad__load_scheduler *c, uint32_t vu, uint64_t request)
{
    const struct rad__load_user *u = &c->users[vu];
    return u->state == RAD__LOAD_WAITING && u->waits == RAD__LOAD_FOR_ANSWER && u->request == request;
}

static void tell_late(rad__load_scheduler *c, const rad__load_input *in)
{
    rad__load_event event = {.kind = RAD__LOAD_LATE,
                             .vu = in->vu,
                             .request = in->request,
                             .status = in->status,
                             .service_ns = in->at_ns - in->sent_ns};
    rad__load_emit(c, &event);
}

void rad__load_user_answered(rad__load_scheduler *c, const rad__load_input *in)
{
    struct rad__load_user *u = &c->users[in->vu];
    if (!awaits(c, in->vu, in->request)) {
        tell_late(c, in);
        return;
    }
    bool open = c->scenario->schedule.model == RAD__LOAD_OPEN;
    uint64_t sent = in->sent_ns != 0 ? in->sent_ns : u->issued_ns;
    rad__load_event event = {.kind = RAD__LOAD_RESPONSE,
                             .vu = in->vu,
                             .request = in->request,
                             .what = u->what,
                             .status = in->status,
                             .flags = flags_of(c, u, true),
                             .service_ns = in->at_ns > sent ? in->at_ns - sent : 0,
                             .response_ns = open && in->at_ns > u->planned_ns ? in->at_ns - u->planned_ns : 0,
                             .first_ns = in->first_ns > sent ? in->first_ns - sent : 0,
                             .header_bytes = in->header_bytes,
                             .body_bytes = in->body_bytes,
                             .checks_failed = in->checks_failed};
    rad__load_wait_over(c, in->vu);
    rad__load_emit(c, &event);
    rad__load_pool_give(&c->pool, u->conn, u->opened);
    u->failures = 0;
    go_on(c, in->vu, 0);
}

/* Whoever could not even send waits a little before the next try, and gives up after too many. */
void rad__load_user_failed(rad__load_scheduler *c, const rad__load_input *in)
{
    struct rad__load_user *u = &c->users[in->vu];
    if (!awaits(c, in->vu, in->request)) return; /* its timeout was told, that is the one error it has */
    bool sent = in->sent_ns != 0;
    rad__load_event event = {.kind = RAD__LOAD_ERROR,
                             .vu = in->vu,
                             .request = in->request,
                             .what = u->what,
                             .flags = flags_of(c, u, true),
                             .fault = in->fault};
    rad__load_wait_over(c, in->vu);
    rad__load_emit(c, &event);
    rad__load_pool_give(&c->pool, u->conn, u->opened);
    u->failures = sent ? 0 : u->failures + 1;
    if (c->scenario->limits.give_up_after != 0 && u->failures >= c->scenario->limits.give_up_after)
        complete(c, in->vu, in->fault);
    else
        go_on(c, in->vu, sent ? 0 : c->scenario->limits.retry_ns);
}

/* What is left of a request nobody waits for: HTTP/1.1 cannot take a connection back without closing it. */
static void let_go(rad__load_scheduler *c, uint32_t vu)
{
    const struct rad__load_user *u = &c->users[vu];
    rad__load_effect cancel = {.kind = RAD__LOAD_DO_CANCEL, .vu = vu, .conn = u->conn, .request = u->request};
    rad__load_effect_add(c, &cancel);
    if (c->scenario->targets[u->target].http2) {
        rad__load_pool_give(&c->pool, u->conn, u->opened);
    } else if (rad__load_pool_has(&c->pool, u->conn, u->opened) && rad__load_pool_shut(&c->pool, u->conn)) {
        rad__load_effect shut = {.kind = RAD__LOAD_DO_CLOSE, .vu = vu, .conn = u->conn};
        rad__load_effect_add(c, &shut);
        rad__load_emit(c, &(rad__load_event){.kind = RAD__LOAD_CONN_CLOSED, .conn = u->conn, .target = u->target});
    }
}

void rad__load_user_timeout(rad__load_scheduler *c, uint32_t vu)
{
    const struct rad__load_user *u = &c->users[vu];
    rad__load_event event = {.kind = RAD__LOAD_TIMEOUT,
                             .vu = vu,
                             .request = u->request,
                             .what = u->what,
                             .flags = flags_of(c, u, true),
                             .service_ns = c->now_ns - u->issued_ns};
    rad__load_emit(c, &event);
    let_go(c, vu);
    go_on(c, vu, 0);
}

/* The run is over for it, by the way the six transitions leave. Not for those in a line. */
void rad__load_user_finish(rad__load_scheduler *c, uint32_t vu)
{
    struct rad__load_user *u = &c->users[vu];
    bool under_way = u->state == RAD__LOAD_WAITING && u->waits == RAD__LOAD_FOR_ANSWER;
    rad__load_wait_over(c, vu);
    if (under_way) {
        rad__load_event event = {.kind = RAD__LOAD_CANCELLED,
                                 .vu = vu,
                                 .request = u->request,
                                 .what = u->what,
                                 .flags = flags_of(c, u, false)};
        rad__load_emit(c, &event);
        let_go(c, vu);
    } else if (u->state == RAD__LOAD_SPAWNED) {
        rad__load_move(c, vu, RAD__LOAD_READY);
    }
    complete(c, vu, RAD__LOAD_OK);
}

/* Those who are ready leave their lines for good. */
void rad__load_lines_clear(rad__load_scheduler *c)
{
    for (uint32_t step = rad__bitset_next(&c->occupied, 0); step != RAD_NONE;
         step = rad__bitset_next(&c->occupied, step))
        complete(c, take_ready(c, step), RAD__LOAD_OK);
}
