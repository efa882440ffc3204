/* causality.c — see causality.h. */
#include "load/replay/causality.h"

#include "base/alloc.h"
#include "load/scenario/schedule.h"

enum { SPAWNED = 1, READY = 2, COMPLETE = 4, UNDER_WAY = 8, MEASURED = 16 };

static const char NO_MEMORY[] = "out of memory";

/* The numbers there can be: as scheduler/scheduler.c and scheduler/connections.c share them out. */
void rad__load_causality_begin(rad__load_causality *c, const rad__load_scenario *s, uint32_t shard, uint32_t shards)
{
    *c = (rad__load_causality){.scenario = s};
    c->user_limit = rad__load_users_of_shard(s, shard, shards);
    for (uint32_t t = 0; t < s->target_count; t++) {
        uint32_t places = s->targets[t].max_connections / shards;
        if (places > c->user_limit) places = c->user_limit;
        c->conn_limit += places > 0 ? places : 1;
    }
}

void rad__load_causality_free(rad__load_causality *c)
{
    rad__free(c->users);
    rad__free(c->conns);
    *c = (rad__load_causality){0};
}

/* ---- Users ----------------------------------------------------------------------------------------------- */

static const char *spawned(rad__load_causality *c, const rad__load_event *e)
{
    if (e->vu != c->user_count) return "a user is spawned out of turn";
    if (e->vu >= c->user_limit) return "more users are spawned than the scenario has";
    if (!RAD_GROW(&c->users, &c->user_capacity, c->user_count + 1)) {
        c->failed = true;
        return NO_MEMORY;
    }
    c->users[c->user_count++] = (struct rad__load_user_seen){.seen = SPAWNED};
    return NULL;
}

static const char *ready(struct rad__load_user_seen *u)
{
    if (u->seen & READY) return "a user becomes ready for the first time twice";
    if (u->seen & COMPLETE) return "a user becomes ready that was complete";
    u->seen |= READY;
    return NULL;
}

static const char *complete(struct rad__load_user_seen *u)
{
    if (u->seen & COMPLETE) return "a user is complete twice";
    if (u->seen & UNDER_WAY) return "a user is complete while its request is in flight";
    u->seen |= COMPLETE;
    return NULL;
}

/* ---- Connections ----------------------------------------------------------------------------------------- */

static const char *ask(rad__load_causality *c, const rad__load_event *e)
{
    if (e->conn >= c->conn_limit) return "a connection has a number that none can have";
    if (!RAD_GROW(&c->conns, &c->conn_capacity, e->conn + 1)) {
        c->failed = true;
        return NO_MEMORY;
    }
    struct rad__load_conn_seen *conn = &c->conns[e->conn];
    if (conn->asked && conn->target != e->target) return "a connection is used for another target than before";
    *conn = (struct rad__load_conn_seen){e->target, true, true, conn->established && conn->open};
    return NULL;
}

/* Connections may be opened before anybody asks for them. */
static bool is_early(const rad__load_causality *c, const rad__load_event *e)
{
    const struct rad__load_schedule *s = &c->scenario->schedule;
    bool asked = e->conn < c->conn_capacity && c->conns[e->conn].asked;
    return !asked && s->model == RAD__LOAD_OPEN && !s->connect_late && e->target < c->scenario->target_count &&
           e->kind != RAD__LOAD_CONN_CLOSED;
}

static const char *connection(rad__load_causality *c, const rad__load_event *e)
{
    const char *wrong = is_early(c, e) ? ask(c, e) : NULL;
    if (wrong != NULL) return wrong;
    if (e->conn >= c->conn_capacity || !c->conns[e->conn].asked)
        return "something happens to a connection that was not opened";
    struct rad__load_conn_seen *conn = &c->conns[e->conn];
    if (conn->target != e->target) return "a connection belongs to another target than before";
    if (e->kind == RAD__LOAD_CONN_ESTABLISHED) {
        if (!conn->open || conn->established) return NULL; /* given up while it was opened */
        conn->established = true;
        if (++c->open > c->open_most) c->open_most = c->open;
        return NULL;
    }
    if (e->kind == RAD__LOAD_CONN_CLOSED && !conn->open) return "a connection is closed that was closed before";
    c->open -= conn->established;
    conn->open = conn->established = false;
    return NULL;
}

/* ---- Requests -------------------------------------------------------------------------------------------- */

static const char *issued(rad__load_causality *c, struct rad__load_user_seen *u, const rad__load_event *e)
{
    if (!(u->seen & READY)) return "a request is issued by a user that is not ready";
    if (u->seen & COMPLETE) return "a request is issued by a user that was complete";
    if (u->seen & UNDER_WAY) return "a request is issued while another of the user is in flight";
    if (e->request != u->request + 1) return "a request has another number than the next";
    if (e->what >= c->scenario->request_count || e->target >= c->scenario->target_count)
        return "a request is of a kind, or to a target, that the scenario does not have";
    if (c->phase != RAD__LOAD_RUNNING) return "a request is issued after the time was up";
    const char *wrong = ask(c, e);
    if (wrong != NULL) return wrong;
    u->request = e->request;
    u->what = e->what;
    u->seen = (u->seen & ~(uint32_t)MEASURED) | UNDER_WAY | (e->flags & RAD__LOAD_MEASURED ? MEASURED : 0u);
    c->under_way++;
    return NULL;
}

static const char *ended(rad__load_causality *c, struct rad__load_user_seen *u, const rad__load_event *e)
{
    if (!(u->seen & UNDER_WAY) || e->request != u->request)
        return "a request ends that is not in flight: it was never issued, or ended before";
    if (e->what != u->what) return "a request ends as another one than was issued";
    if ((e->flags & RAD__LOAD_MEASURED) != (u->seen & MEASURED ? RAD__LOAD_MEASURED : 0u))
        return "a request was issued during the warm-up and ends as measured, or the other way "
               "round";
    if (e->kind == RAD__LOAD_ERROR && (e->fault == RAD__LOAD_OK || e->fault == RAD__LOAD_REQUEST_TIMEOUT))
        return "an error without a fault, or with that of a timeout, which has a record of its own";
    u->seen &= ~(uint32_t)UNDER_WAY;
    c->under_way--;
    return NULL;
}

static const char *late(const struct rad__load_user_seen *u, const rad__load_event *e)
{
    if (e->request == 0 || e->request > u->request) return "a late answer to a request never made";
    if (e->request == u->request && (u->seen & UNDER_WAY)) return "a late response to a request that is in flight";
    return NULL;
}

static const char *of_user(rad__load_causality *c, const rad__load_event *e)
{
    if (e->vu >= c->user_count) return "something happens to a user that was not spawned";
    struct rad__load_user_seen *u = &c->users[e->vu];
    switch (e->kind) {
    case RAD__LOAD_ISSUED: return issued(c, u, e);
    case RAD__LOAD_VU_READY: return ready(u);
    case RAD__LOAD_VU_COMPLETE: return complete(u);
    case RAD__LOAD_LATE: return late(u, e);
    case RAD__LOAD_LONG_WAIT: return NULL;
    default: return ended(c, u, e);
    }
}

/* ---- The run --------------------------------------------------------------------------------------------- */

static const char *phase(rad__load_causality *c, const rad__load_event *e)
{
    if (e->count <= (uint64_t)c->phase || e->count > RAD__LOAD_OVER) return "a phase comes out of turn";
    c->phase = (enum rad__load_phase)e->count;
    return c->phase == RAD__LOAD_OVER && c->under_way > 0 ? "the run is over while requests are in flight" : NULL;
}

const char *rad__load_causality_event(rad__load_causality *c, const rad__load_event *e)
{
    if (RAD_UNLIKELY(c->phase == RAD__LOAD_OVER) && e->kind != RAD__LOAD_ASSERTION_PASSED &&
        e->kind != RAD__LOAD_ASSERTION_FAILED)
        return "something happens after the run is over";
    if (RAD_UNLIKELY(e->fault >= RAD__LOAD_FAULT_COUNT)) return "a fault that does not exist";
    switch (e->kind) {
    case RAD__LOAD_VU_SPAWNED: return spawned(c, e);
    case RAD__LOAD_CONN_ESTABLISHED:
    case RAD__LOAD_CONN_CLOSED:
    case RAD__LOAD_CONN_ERROR: return connection(c, e);
    case RAD__LOAD_ASSERTION_PASSED:
    case RAD__LOAD_ASSERTION_FAILED:
        return e->what < c->scenario->assertion_count ? NULL : "an assertion that the scenario does not have";
    case RAD__LOAD_EXHAUSTED:
    case RAD__LOAD_DROPPED: return NULL;
    case RAD__LOAD_PHASE: return phase(c, e);
    default: return of_user(c, e);
    }
}
