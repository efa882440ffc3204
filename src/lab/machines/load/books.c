/* books.c — independent bookkeeping over the log: what each user has under way, by when it must end, who waits. */
#include "lab/machines/load/machine.h"

#include <inttypes.h>

#define CHECK(t, oracle, condition, vu, ...) RAD_CHECK((t)->k, oracle, condition, (t)->actors[vu], __VA_ARGS__)

static void read_issued(rad__load_trial *t, const rad__load_event *e)
{
    struct rad__load_account *a = &t->accounts[e->vu];
    CHECK(t, RAD__LOAD_ORACLE_TWICE, a->request == 0, e->vu, "user %u has two requests at once", e->vu);
    CHECK(t, RAD__LOAD_ORACLE_TWICE, e->request == a->last + 1 && !a->complete, e->vu,
          "user %u makes request %" PRIu64 " after %" PRIu64, e->vu, e->request, a->last);
    CHECK(t, RAD__LOAD_ORACLE_ORDER, a->ready_tick < t->scheduler.tick || a->last == 0, e->vu,
          "user %u became ready in this tick, and runs in it", e->vu);
    a->request = a->last = e->request;
    uint64_t timeout = t->scenario.requests[e->what].timeout_ns;
    a->deadline_ns = t->scheduler.now_ns + (timeout != 0 ? timeout : t->scenario.limits.timeout_ns);
    a->conn = e->conn;
    a->ready = false;
    a->overtaken = 0;
    for (uint32_t i = 0; i < t->scheduler.user_count; i++) {
        struct rad__load_account *other = &t->accounts[i];
        if (i == e->vu || !other->ready || other->ready_tick >= t->scheduler.tick) continue;
        other->overtaken++;
        const struct rad__load_user *u = &t->scheduler.users[i];
        bool same_step = u->step == t->scheduler.users[e->vu].step && u->state == RAD__LOAD_READY;
        CHECK(t, RAD__LOAD_ORACLE_ORDER, !same_step || other->ready_tick >= a->ready_tick, i,
              "user %u is at the same step and was ready before user %u, which is served", i, e->vu);
        CHECK(t, RAD__LOAD_ORACLE_STARVED, other->overtaken <= 2 * (uint64_t)t->scheduler.user_capacity + 16, i,
              "user %u is ready, and others were served %" PRIu64 " times", i, other->overtaken);
    }
}

static void read_end(rad__load_trial *t, const rad__load_event *e)
{
    struct rad__load_account *a = &t->accounts[e->vu];
    bool timeout = e->kind == RAD__LOAD_TIMEOUT;
    CHECK(t, RAD__LOAD_ORACLE_TWICE, a->request != 0, e->vu, "request %" PRIu64 " of user %u ends twice", e->request,
          e->vu);
    CHECK(t, RAD__LOAD_ORACLE_LATE, a->request == 0 || a->request == e->request, e->vu,
          "user %u waits for request %" PRIu64 " and gets the end of %" PRIu64, e->vu, a->request, e->request);
    if (timeout) {
        CHECK(t, RAD__LOAD_ORACLE_ORDER, !a->answered, e->vu,
              "request %" PRIu64 " of user %u times out in the tick in which it is answered", e->request, e->vu);
        CHECK(t, RAD__LOAD_ORACLE_ORDER, a->deadline_ns <= t->scheduler.now_ns, e->vu,
              "request %" PRIu64 " of user %u times out before its time", e->request, e->vu);
        a->late = e->request;
        a->late_conn = a->conn;
    } else if (e->kind != RAD__LOAD_CANCELLED) {
        CHECK(t, RAD__LOAD_ORACLE_LATE, a->answered, e->vu, "request %" PRIu64 " of user %u ends without an answer",
              e->request, e->vu);
    }
    a->request = 0;
    a->answered = false;
}

static void read_event(rad__load_trial *t, const rad__load_event *e)
{
    switch (e->kind) {
    case RAD__LOAD_ISSUED: read_issued(t, e); break;
    case RAD__LOAD_RESPONSE:
    case RAD__LOAD_ERROR:
    case RAD__LOAD_TIMEOUT:
    case RAD__LOAD_CANCELLED: read_end(t, e); break;
    case RAD__LOAD_VU_COMPLETE: t->accounts[e->vu].complete = true; break;
    default: break;
    }
    if (e->kind != RAD__LOAD_CONN_CLOSED) rad_note(t->k, e->kind + 1, RAD_NONE, e->vu == RAD_NONE ? 0 : e->vu);
}

/* Nothing may be under way whose answer came, or whose time is up. */
void rad__load_books_balance(rad__load_trial *t)
{
    for (uint32_t i = 0; i < t->scheduler.user_count; i++) {
        struct rad__load_account *a = &t->accounts[i];
        CHECK(t, RAD__LOAD_ORACLE_LOST, a->request == 0 || !a->answered, i,
              "the answer to request %" PRIu64 " of user %u is lost", a->request, i);
        CHECK(t, RAD__LOAD_ORACLE_LOST, a->request == 0 || a->deadline_ns > t->scheduler.now_ns, i,
              "request %" PRIu64 " of user %u should have timed out", a->request, i);
        bool ready = t->scheduler.users[i].state == RAD__LOAD_READY;
        if (ready && !a->ready) {
            a->ready_tick = t->scheduler.tick;
            a->overtaken = 0;
        }
        a->ready = ready;
        a->answered = false;
    }
}

void rad__load_books_record(void *trial, const uint8_t *record, size_t size)
{
    rad_reader r = rad__reader(record, size);
    struct rad__load_raw raw;
    rad__load_event event;
    if (rad__load_get_raw(&r, &raw) && rad__load_record_is_output(raw.kind) &&
        rad__load_get_event(&raw, &event) == NULL)
        read_event(trial, &event);
}
