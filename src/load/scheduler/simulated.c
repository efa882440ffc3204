/* simulated.c — see simulated.h. */
#include "load/scheduler/simulated.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/heap.h"
#include "load/scheduler/calendar.h"

/* A request under way, or what became of a connection; one cache line. */
struct pending {
    uint64_t at_ns, took_ns; /* since it was sent, or since the connection was asked for; 0: never sent */
    uint64_t request, body_bytes;
    uint32_t vu, conn, what;
    uint16_t status;
    uint8_t kind, fault;
    bool late;    /* it was cancelled: its connection is not its connection any more */
    bool dropped; /* it was cancelled, and will not be told */
};

struct simulated_conn {
    uint64_t ready_ns;  /* it can be sent on from then */
    uint32_t under_way; /* requests */
    uint32_t opening;   /* the pending one that tells of its opening, or closing, or RAD_NONE */
    bool open;
    bool ends; /* after the requests that are under way */
};

/* What a user has under way. */
struct flight {
    uint64_t request; /* 0: nothing */
    uint32_t conn;
    uint32_t slot; /* of its answer; RAD_NONE: it is lost */
};

struct simulated {
    rad__load_engine engine;
    const rad__load_scenario *scenario;
    uint64_t seed, now_ns;
    uint32_t shard, shards, users, conns, open_count;
    struct simulated_conn *conn;
    struct flight *flights; /* by user */
    struct pending *pending;
    uint32_t pending_count, pending_capacity, free_pending; /* free ones are a list, by `vu` */
    rad__calendar calendar;                                 /* of pending, by the tick in which they come */
    rad_heap workers;                                       /* when each is free; empty: no limit */
    rad__load_input *inputs;
    uint32_t input_count, input_capacity;
};

/* ---- Arithmetic ------------------------------------------------------------------------------------------ */

uint64_t rad__load_curve_at(const struct rad__load_curve *curve, uint32_t share)
{
    uint32_t i = 0;
    while (i < curve->count && curve->points[i].share_ppm < share) i++;
    if (i == 0) return curve->points[0].value;
    if (i == curve->count) return curve->points[i - 1].value;
    const struct rad__load_point *a = &curve->points[i - 1], *b = &curve->points[i];
    unsigned __int128 rise = (unsigned __int128)(b->value - a->value) * (share - a->share_ppm);
    return a->value + (uint64_t)(rise / (b->share_ppm - a->share_ppm));
}

uint64_t rad__load_through_stalls(uint64_t start, uint64_t length, uint64_t every, uint64_t stall)
{
    if (stall == 0 || every == 0) return start + length;
    uint64_t works = every - stall, period = start / every * every, into = start - period;
    if (into >= works) { /* begins when the stall is over */
        period += every;
        into = 0;
    }
    if (into + length < works) return period + into + length;
    length -= works - into; /* what is left for the periods that follow */
    return period + every + length / works * every + length % works;
}

/* ---- What becomes of requests ---------------------------------------------------------------------------- */

static uint64_t draw_curve(rad__load_stream *draw, const struct rad__load_curve *curve)
{
    return rad__load_curve_at(curve, (uint32_t)rad__load_below(draw, RAD__LOAD_PPM));
}

static bool draw_share(rad__load_stream *draw, uint32_t ppm)
{
    return ppm > 0 && rad__load_below(draw, RAD__LOAD_PPM) < ppm;
}

static uint16_t draw_status(rad__load_stream *draw, const struct rad__load_simulated *s)
{
    uint64_t sum = 0;
    if (s->status_count == 0) return 200;
    for (uint32_t i = 0; i < s->status_count; i++) sum += s->statuses[i].weight;
    uint64_t drawn = rad__load_below(draw, sum);
    uint32_t i = 0;
    for (; drawn >= s->statuses[i].weight; i++) drawn -= s->statuses[i].weight;
    return s->statuses[i].status;
}

static void draw_connection(const struct simulated *e, rad__load_stream draw, struct rad__load_outcome *o)
{
    const struct rad__load_simulated *s = &e->scenario->simulated;
    o->connect_ns = draw_curve(&draw, &s->connect);
    o->refused = draw_share(&draw, s->refuse_ppm) || (s->max_connections != 0 && e->open_count >= s->max_connections);
}

static struct rad__load_outcome draw_outcome(struct simulated *e, const rad__load_effect *send)
{
    const struct rad__load_simulated *s = &e->scenario->simulated;
    bool open = e->scenario->schedule.model == RAD__LOAD_OPEN;
    uint32_t who = open ? RAD__LOAD_ARRIVAL : send->vu * e->shards + e->shard;
    rad__load_stream draw = rad__load_draw(e->seed, who, send->iteration, send->position, RAD__LOAD_DRAW_ANSWER);
    struct rad__load_outcome o = {.fault = RAD__LOAD_OK};
    o.latency_ns = draw_curve(&draw, &s->latency);
    o.body_bytes = draw_curve(&draw, &s->body);
    o.status = draw_status(&draw, s);
    o.lost = draw_share(&draw, s->loss_ppm);
    if (draw_share(&draw, s->reset_ppm)) o.fault = RAD__LOAD_RESET;
    if (draw_share(&draw, s->garbage_ppm)) o.fault = RAD__LOAD_BAD_RESPONSE;
    if (send->open)
        draw_connection(e, rad__load_draw(e->seed, who, send->iteration, send->position, RAD__LOAD_DRAW_CONNECT), &o);
    return o;
}

/* ---- Pending --------------------------------------------------------------------------------------------- */

static struct pending *new_pending(struct simulated *e, uint64_t at_ns)
{
    uint64_t tick = e->scenario->tick_ns, due = at_ns / tick + (at_ns % tick != 0), next = e->now_ns / tick + 1;
    uint32_t slot = e->free_pending;
    if (slot != RAD_NONE) {
        e->free_pending = e->pending[slot].vu;
    } else {
        if (!RAD_GROW(&e->pending, &e->pending_capacity, e->pending_count + 1)) return NULL;
        slot = e->pending_count++;
    }
    if (!rad__calendar_put(&e->calendar, slot, due > next ? due : next)) return NULL;
    e->pending[slot] = (struct pending){.at_ns = at_ns};
    return &e->pending[slot];
}

static void free_pending(struct simulated *e, uint32_t slot)
{
    e->pending[slot].vu = e->free_pending;
    e->free_pending = slot;
}

/* Who stands in line for a worker begins when one is free. A line that grows for ever ends here: whoever comes then is
 * never served, but nobody's time overflows (an answer takes at most 100 hours, through stalls). */
static uint64_t begins(struct simulated *e, uint64_t sent_ns)
{
    static const uint64_t NEVER = UINT64_C(1) << 62;
    if (e->workers.count == 0) return sent_ns;
    uint64_t free_ns = rad__heap_top(&e->workers)->key;
    if (free_ns > NEVER) return NEVER;
    return free_ns > sent_ns ? free_ns : sent_ns;
}

/* It is there at `ready_ns`. */
static int open_connection(struct simulated *e, const rad__load_effect *send, const struct rad__load_outcome *o,
                           uint64_t ready_ns)
{
    struct pending *p = new_pending(e, ready_ns);
    if (p == NULL) return RAD_ENOMEM;
    p->vu = send->vu;
    p->conn = send->conn;
    p->kind = o->refused ? RAD__LOAD_IN_CONN_FAILED : RAD__LOAD_IN_CONNECTED;
    p->fault = o->refused ? RAD__LOAD_REFUSED : RAD__LOAD_OK;
    p->took_ns = o->connect_ns;
    e->conn[send->conn] =
        (struct simulated_conn){.ready_ns = ready_ns, .opening = (uint32_t)(p - e->pending), .open = !o->refused};
    e->open_count += !o->refused;
    return 0;
}

/* Before the run: no time passes. Nobody's draw, but that of a user and a target. */
static int open_early(struct simulated *e, const rad__load_effect *open)
{
    struct rad__load_outcome o = {.fault = RAD__LOAD_OK};
    uint32_t who = open->vu * e->shards + e->shard;
    draw_connection(e, rad__load_draw(e->seed, who, 0, open->target, RAD__LOAD_DRAW_CONNECT), &o);
    return open_connection(e, open, &o, e->now_ns);
}

static int answer(struct simulated *e, const rad__load_effect *send, const struct rad__load_outcome *o)
{
    const struct rad__load_simulated *s = &e->scenario->simulated;
    struct simulated_conn *conn = &e->conn[send->conn];
    conn->under_way++;
    conn->ends |= send->last;
    e->flights[send->vu] = (struct flight){send->request, send->conn, RAD_NONE};
    uint64_t sent = e->now_ns > conn->ready_ns ? e->now_ns : conn->ready_ns, start = begins(e, sent);
    uint64_t done = conn->open ? rad__load_through_stalls(start, o->latency_ns, s->stall_every_ns, s->stall_ns) : sent;
    if (e->workers.count > 0 && conn->open) {
        uint32_t worker = rad__heap_top(&e->workers)->item;
        rad__heap_remove(&e->workers, worker);
        if (!rad__heap_push(&e->workers, worker, done, worker)) return RAD_ENOMEM;
    }
    if (o->lost && conn->open) return 0;
    struct pending *p = new_pending(e, done);
    if (p == NULL) return RAD_ENOMEM;
    p->vu = send->vu;
    p->conn = send->conn;
    p->what = send->what;
    p->request = send->request;
    p->fault = (uint8_t)(conn->open ? o->fault : RAD__LOAD_REFUSED);
    p->kind = p->fault == RAD__LOAD_OK ? RAD__LOAD_IN_RESPONSE : RAD__LOAD_IN_FAILED;
    p->took_ns = conn->open ? done - sent + 1 : 0;
    p->status = (uint16_t)o->status;
    p->body_bytes = o->body_bytes;
    e->flights[send->vu].slot = (uint32_t)(p - e->pending);
    return 0;
}

static void land(struct simulated *e, uint32_t vu)
{
    e->conn[e->flights[vu].conn].under_way--;
    e->flights[vu].request = 0;
}

/* What is not known yet of a connection that is gone will not be told. */
static void shut(struct simulated *e, uint32_t conn)
{
    struct simulated_conn *c = &e->conn[conn];
    if (c->open) e->open_count--;
    c->open = false;
    if (c->opening != RAD_NONE) e->pending[c->opening].dropped = true;
    c->opening = RAD_NONE;
}

/* The last request of a connection that ends was cancelled: nothing else will close it. */
static int close_soon(struct simulated *e, const rad__load_effect *effect)
{
    struct simulated_conn *conn = &e->conn[effect->conn];
    if (!conn->ends || !conn->open || conn->under_way > 0) return 0;
    struct pending *p = new_pending(e, e->now_ns);
    if (p == NULL) return RAD_ENOMEM;
    p->vu = effect->vu;
    p->conn = effect->conn;
    p->kind = RAD__LOAD_IN_CONN_CLOSED;
    shut(e, effect->conn);
    conn->opening = (uint32_t)(p - e->pending); /* unless it is closed from our side before */
    return 0;
}

/* A request that was cancelled may still be answered: too late. */
static void cancel(struct simulated *e, const rad__load_effect *effect)
{
    uint32_t slot = e->flights[effect->vu].slot;
    if (e->flights[effect->vu].request != effect->request) return;
    land(e, effect->vu);
    if (slot == RAD_NONE) return;
    struct pending *p = &e->pending[slot];
    p->late = p->kind == RAD__LOAD_IN_RESPONSE && p->at_ns <= e->now_ns + e->scenario->simulated.late_ns;
    p->dropped = !p->late;
}

enum { AHEAD = 16 };

/* With many users what is known of one is in no cache: asked for a little earlier, it is. */
static void fetch_ahead(const struct simulated *e, const rad__load_effect *effect)
{
    __builtin_prefetch(&e->conn[effect->conn], 1);
    __builtin_prefetch(&e->flights[effect->vu], 1);
}

static int act(rad__load_engine *engine, const rad__load_effect *effects, uint32_t count, rad_error *error)
{
    struct simulated *e = (struct simulated *)engine;
    int result = 0;
    for (uint32_t i = 0; i < count && result == 0; i++) {
        const rad__load_effect *effect = &effects[i];
        if (i + AHEAD < count) fetch_ahead(e, &effects[i + AHEAD]);
        if (effect->kind == RAD__LOAD_DO_CANCEL) {
            cancel(e, effect);
            result = close_soon(e, effect);
        } else if (effect->kind == RAD__LOAD_DO_CLOSE) {
            shut(e, effect->conn);
        } else if (effect->kind == RAD__LOAD_DO_OPEN) {
            result = open_early(e, effect);
        } else {
            struct rad__load_outcome o = draw_outcome(e, effect);
            if (effect->open) result = open_connection(e, effect, &o, e->now_ns + o.connect_ns);
            if (result == 0) result = answer(e, effect, &o);
        }
    }
    return result == 0 ? 0 : rad__error_memory(error);
}

/* ---- Turns ----------------------------------------------------------------------------------------------- */

/* Of what a simulated answer has: its status and its size. */
static uint64_t checks_failed(const struct rad__load_request *q, const struct pending *p)
{
    uint64_t failed = 0;
    for (uint32_t i = 0; i < q->check_count; i++) {
        const struct rad__load_check *c = &q->checks[i];
        uint64_t value = c->of == RAD__LOAD_CHECK_STATUS ? p->status : p->body_bytes;
        bool known = c->of == RAD__LOAD_CHECK_STATUS || c->of == RAD__LOAD_CHECK_SIZE;
        if (known && (value < c->low || value > c->high)) failed |= UINT64_C(1) << i;
    }
    return failed;
}

static rad__load_input input_of(const struct simulated *e, const struct pending *p)
{
    bool of_user = p->kind == RAD__LOAD_IN_RESPONSE || p->kind == RAD__LOAD_IN_FAILED;
    rad__load_input in = {.vu = p->vu, .conn = p->conn, .kind = p->kind, .fault = p->fault, .at_ns = p->at_ns};
    if (of_user) {
        in.request = p->request;
        in.sent_ns = p->took_ns != 0 ? p->at_ns - (p->took_ns - 1) : 0;
    } else {
        in.took_ns = p->took_ns;
    }
    if (p->kind == RAD__LOAD_IN_RESPONSE) {
        in.status = p->status;
        in.first_ns = p->at_ns;
        in.header_bytes = 100;
        in.body_bytes = p->body_bytes;
        in.body_hash = rad__mix2(p->what, p->body_bytes);
        in.checks_failed = checks_failed(&e->scenario->requests[p->what], p);
    }
    return in;
}

static bool put_input(struct simulated *e, const rad__load_input *in)
{
    if (!RAD_GROW(&e->inputs, &e->input_capacity, e->input_count + 1)) return false;
    e->inputs[e->input_count++] = *in;
    return true;
}

/* A connection that breaks takes everything on it along; HTTP/1.1 has nothing else on it. */
static bool break_connection(struct simulated *e, const struct pending *p)
{
    for (uint32_t vu = 0; vu < e->users && e->conn[p->conn].under_way > 0; vu++) {
        struct flight f = e->flights[vu];
        if (f.request == 0 || f.conn != p->conn) continue;
        rad__load_input in = {.vu = vu,
                              .conn = f.conn,
                              .kind = RAD__LOAD_IN_FAILED,
                              .fault = p->fault,
                              .request = f.request,
                              .at_ns = p->at_ns,
                              .sent_ns = p->at_ns};
        if (f.slot != RAD_NONE) e->pending[f.slot].dropped = true;
        land(e, vu);
        if (!put_input(e, &in)) return false;
    }
    return true;
}

static bool close_connection(struct simulated *e, const struct pending *p)
{
    rad__load_input in = {.vu = p->vu, .conn = p->conn, .kind = RAD__LOAD_IN_CONN_CLOSED, .at_ns = p->at_ns};
    shut(e, p->conn);
    return put_input(e, &in);
}

static bool hand_over(struct simulated *e, uint32_t slot)
{
    struct pending *p = &e->pending[slot];
    struct simulated_conn *conn = &e->conn[p->conn];
    rad__load_input in = input_of(e, p);
    if (!put_input(e, &in)) return false;
    if (conn->opening == slot) conn->opening = RAD_NONE;
    if (p->request == 0 || p->late) return true;
    land(e, p->vu);
    bool breaks = p->fault != RAD__LOAD_OK && conn->open;
    if (breaks && !break_connection(e, p)) return false;
    return breaks || (conn->ends && conn->open && conn->under_way == 0) ? close_connection(e, p) : true;
}

/* Straight to the tick in which something is due; to the next one, when somebody is ready. */
static int turn(rad__load_engine *engine, uint64_t until_ns, bool poll, rad__load_turn *out, rad_error *error)
{
    struct simulated *e = (struct simulated *)engine;
    uint64_t tick = e->scenario->tick_ns, next = e->now_ns / tick + 1;
    uint64_t due = until_ns / tick + (until_ns % tick != 0), first = rad__calendar_first(&e->calendar);
    (void)poll;
    RAD_ASSERT(until_ns != UINT64_MAX || first != UINT64_MAX); /* else somebody would wait for ever */
    if (until_ns == UINT64_MAX || first < due) due = first;
    if (due < next) due = next;
    e->now_ns = due * tick;
    e->input_count = 0;
    uint32_t slot;
    while ((slot = rad__calendar_take(&e->calendar, due)) != RAD_NONE) {
        if (!e->pending[slot].dropped && !hand_over(e, slot)) return rad__error_memory(error);
        free_pending(e, slot);
    }
    *out = (rad__load_turn){.now_ns = e->now_ns, .inputs = e->inputs, .input_count = e->input_count};
    return 0;
}

/* ---- Opening and closing --------------------------------------------------------------------------------- */

static void close_engine(rad__load_engine *engine)
{
    struct simulated *e = (struct simulated *)engine;
    rad__free(e->conn);
    rad__free(e->flights);
    rad__free(e->pending);
    rad__free(e->inputs);
    rad__calendar_close(&e->calendar);
    rad__heap_free(&e->workers);
    rad__free(e);
}

static const struct rad__load_engine_kind SIMULATED = {"simulated", act, turn, close_engine};

int rad__load_simulated_open(rad__load_engine **engine, const rad__load_scenario *scenario, uint64_t seed,
                             uint32_t shard, uint32_t shards, uint32_t users, uint32_t conns, rad_error *error)
{
    struct simulated *e = rad__alloc(1, sizeof *e);
    *engine = NULL;
    if (e == NULL) return rad__error_memory(error);
    *e = (struct simulated){.engine.kind = &SIMULATED,
                            .scenario = scenario,
                            .seed = seed,
                            .shard = shard,
                            .shards = shards,
                            .users = users,
                            .conns = conns,
                            .free_pending = RAD_NONE};
    e->conn = rad__alloc(conns > 0 ? conns : 1, sizeof *e->conn);
    e->flights = rad__alloc(users > 0 ? users : 1, sizeof *e->flights);
    bool ok = e->conn != NULL && e->flights != NULL && rad__calendar_open(&e->calendar);
    for (uint32_t i = 0; ok && i < conns; i++) e->conn[i].opening = RAD_NONE;
    for (uint32_t i = 0; ok && i < scenario->simulated.workers; i++) ok = rad__heap_push(&e->workers, i, 0, i);
    if (!ok) {
        close_engine(&e->engine);
        return rad__error_memory(error);
    }
    *engine = &e->engine;
    return 0;
}
