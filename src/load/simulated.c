/* simulated.c — see simulated.h. */
#include "load/simulated.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/heap.h"

/* A request under way, or an answer that comes too late. */
struct pending {
    rad__load_input input; /* as it will be handed over */
    uint32_t next_free;
    bool closes; /* the connection ends with it */
    bool late;   /* its connection is not its connection any more */
};

struct simulated_conn {
    uint64_t ready_ns; /* it can be sent on from then */
    bool open;
};

struct simulated {
    rad__load_engine engine;
    const rad__load_scenario *scenario;
    uint64_t seed, now_ns, sequence;
    uint32_t shard, shards, users, conns, open_count;
    struct simulated_conn *conn;
    uint32_t *of_user; /* the request under way, or RAD_NONE */
    struct pending *pending;
    uint32_t pending_count, pending_capacity, free_pending;
    rad_heap due;     /* of pending, by when they come */
    rad_heap workers; /* when each is free; empty: no limit */
    rad__load_input *inputs;
    uint32_t input_count, input_capacity;
    rad__load_decide *decide;
    void *context;
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

static struct rad__load_outcome draw_outcome(struct simulated *e, const rad__load_effect *send)
{
    const struct rad__load_simulated *s = &e->scenario->simulated;
    bool open = e->scenario->schedule.model == RAD__LOAD_OPEN;
    uint32_t who = open ? RAD__LOAD_ARRIVAL : send->vu * e->shards + e->shard;
    rad__load_stream draw =
        rad__load_draw(e->seed, who, send->iteration, send->position, RAD__LOAD_DRAW_ANSWER);
    struct rad__load_outcome o = {.fault = RAD__LOAD_OK};
    o.latency_ns = draw_curve(&draw, &s->latency);
    o.body_bytes = draw_curve(&draw, &s->body);
    o.status = draw_status(&draw, s);
    o.lost = draw_share(&draw, s->loss_ppm);
    if (draw_share(&draw, s->reset_ppm)) o.fault = RAD__LOAD_RESET;
    if (draw_share(&draw, s->garbage_ppm)) o.fault = RAD__LOAD_BAD_RESPONSE;
    if (send->open) {
        draw =
            rad__load_draw(e->seed, who, send->iteration, send->position, RAD__LOAD_DRAW_CONNECT);
        o.connect_ns = draw_curve(&draw, &s->connect);
        o.refused = draw_share(&draw, s->refuse_ppm) ||
                    (s->max_connections != 0 && e->open_count >= s->max_connections);
    }
    if (e->decide != NULL) e->decide(e->context, send, &o);
    return o;
}

/* ---- Pending --------------------------------------------------------------------------------------------- */

static struct pending *new_pending(struct simulated *e, uint64_t at_ns)
{
    uint32_t slot = e->free_pending;
    if (slot != RAD_NONE) {
        e->free_pending = e->pending[slot].next_free;
    } else {
        if (!RAD_GROW(&e->pending, &e->pending_capacity, e->pending_count + 1)) return NULL;
        slot = e->pending_count++;
    }
    if (!rad__heap_push(&e->due, slot, at_ns, e->sequence)) return NULL;
    e->pending[slot] = (struct pending){.input = {.sequence = e->sequence++, .at_ns = at_ns}};
    return &e->pending[slot];
}

static void free_pending(struct simulated *e, uint32_t slot)
{
    e->pending[slot].next_free = e->free_pending;
    e->free_pending = slot;
}

/* Who stands in line for a worker begins when one is free. */
static uint64_t begins(struct simulated *e, uint64_t sent_ns)
{
    if (e->workers.count == 0) return sent_ns;
    uint64_t free_ns = rad__heap_top(&e->workers)->key;
    return free_ns > sent_ns ? free_ns : sent_ns;
}

static int open_connection(struct simulated *e, const rad__load_effect *send,
                           const struct rad__load_outcome *o)
{
    struct pending *p = new_pending(e, e->now_ns + o->connect_ns);
    if (p == NULL) return RAD_ENOMEM;
    p->input.vu = send->vu;
    p->input.conn = send->conn;
    p->input.kind = o->refused ? RAD__LOAD_IN_CONN_FAILED : RAD__LOAD_IN_CONNECTED;
    p->input.fault = o->refused ? RAD__LOAD_REFUSED : RAD__LOAD_OK;
    p->input.took_ns = o->connect_ns;
    e->conn[send->conn] = (struct simulated_conn){e->now_ns + o->connect_ns, !o->refused};
    e->open_count += !o->refused;
    return 0;
}

static int answer(struct simulated *e, const rad__load_effect *send,
                  const struct rad__load_outcome *o)
{
    const struct rad__load_simulated *s = &e->scenario->simulated;
    const struct simulated_conn *conn = &e->conn[send->conn];
    uint64_t sent = e->now_ns > conn->ready_ns ? e->now_ns : conn->ready_ns,
             start = begins(e, sent);
    uint64_t done =
        conn->open ? rad__load_through_stalls(start, o->latency_ns, s->stall_every_ns, s->stall_ns)
                   : sent;
    if (e->workers.count > 0 && conn->open) {
        uint32_t worker = rad__heap_top(&e->workers)->item;
        rad__heap_remove(&e->workers, worker);
        if (!rad__heap_push(&e->workers, worker, done, e->sequence)) return RAD_ENOMEM;
    }
    if (o->lost && conn->open) return 0;
    struct pending *p = new_pending(e, done);
    if (p == NULL) return RAD_ENOMEM;
    rad__load_input *in = &p->input;
    in->vu = send->vu;
    in->conn = send->conn;
    in->request = send->request;
    in->fault = conn->open ? o->fault : RAD__LOAD_REFUSED;
    in->kind = in->fault == RAD__LOAD_OK ? RAD__LOAD_IN_RESPONSE : RAD__LOAD_IN_FAILED;
    in->sent_ns = conn->open ? sent : 0;
    if (in->kind == RAD__LOAD_IN_RESPONSE) {
        in->status = (uint16_t)o->status;
        in->first_ns = done;
        in->header_bytes = 100;
        in->body_bytes = o->body_bytes;
        in->body_hash = rad__mix2(send->what, o->body_bytes);
    }
    p->closes = conn->open && (send->last || in->fault != RAD__LOAD_OK);
    e->of_user[send->vu] = (uint32_t)(p - e->pending);
    return 0;
}

/* A request that was cancelled may still be answered: too late. */
static void cancel(struct simulated *e, const rad__load_effect *effect)
{
    uint32_t slot = e->of_user[effect->vu];
    e->of_user[effect->vu] = RAD_NONE;
    if (slot == RAD_NONE || e->pending[slot].input.request != effect->request) return;
    struct pending *p = &e->pending[slot];
    if (p->input.kind == RAD__LOAD_IN_RESPONSE &&
        p->input.at_ns <= e->now_ns + e->scenario->simulated.late_ns) {
        p->late = true;
        return;
    }
    rad__heap_remove(&e->due, slot);
    free_pending(e, slot);
}

static void shut(struct simulated *e, uint32_t conn)
{
    if (e->conn[conn].open) e->open_count--;
    e->conn[conn].open = false;
}

static int act(rad__load_engine *engine, const rad__load_effect *effects, uint32_t count,
               rad_error *error)
{
    struct simulated *e = (struct simulated *)engine;
    int result = 0;
    for (uint32_t i = 0; i < count && result == 0; i++) {
        const rad__load_effect *effect = &effects[i];
        if (effect->kind == RAD__LOAD_DO_CANCEL) {
            cancel(e, effect);
        } else if (effect->kind == RAD__LOAD_DO_CLOSE) {
            shut(e, effect->conn);
        } else {
            struct rad__load_outcome o = draw_outcome(e, effect);
            if (effect->open) result = open_connection(e, effect, &o);
            if (result == 0) result = answer(e, effect, &o);
        }
    }
    return result == 0 ? 0 : rad__error_memory(error);
}

/* ---- Turns ----------------------------------------------------------------------------------------------- */

static bool hand_over(struct simulated *e, uint32_t slot)
{
    struct pending *p = &e->pending[slot];
    if (!RAD_GROW(&e->inputs, &e->input_capacity, e->input_count + 2)) return false;
    bool of_user = p->input.kind == RAD__LOAD_IN_RESPONSE || p->input.kind == RAD__LOAD_IN_FAILED;
    e->inputs[e->input_count++] = p->input;
    if (of_user && e->of_user[p->input.vu] == slot) e->of_user[p->input.vu] = RAD_NONE;
    if (p->closes && !p->late) {
        shut(e, p->input.conn);
        e->inputs[e->input_count++] = (rad__load_input){.vu = p->input.vu,
                                                        .conn = p->input.conn,
                                                        .kind = RAD__LOAD_IN_CONN_CLOSED,
                                                        .sequence = p->input.sequence,
                                                        .at_ns = p->input.at_ns};
    }
    free_pending(e, slot);
    return true;
}

/* Straight to the tick in which something is due; to the next one, when somebody is ready. */
static int turn(rad__load_engine *engine, uint64_t until_ns, bool poll, rad__load_turn *out,
                rad_error *error)
{
    struct simulated *e = (struct simulated *)engine;
    uint64_t tick = e->scenario->tick_ns, next = e->now_ns / tick + 1;
    (void)poll;
    if (e->due.count > 0 && rad__heap_top(&e->due)->key < until_ns)
        until_ns = rad__heap_top(&e->due)->key;
    RAD_ASSERT(until_ns != UINT64_MAX); /* somebody would wait for ever */
    uint64_t due = until_ns / tick + (until_ns % tick != 0);
    e->now_ns = (due > next ? due : next) * tick;
    e->input_count = 0;
    while (e->due.count > 0 && rad__heap_top(&e->due)->key <= e->now_ns) {
        uint32_t slot = rad__heap_top(&e->due)->item;
        rad__heap_remove(&e->due, slot);
        if (!hand_over(e, slot)) return rad__error_memory(error);
    }
    *out =
        (rad__load_turn){.now_ns = e->now_ns, .inputs = e->inputs, .input_count = e->input_count};
    return 0;
}

/* ---- Opening and closing --------------------------------------------------------------------------------- */

static void close_engine(rad__load_engine *engine)
{
    struct simulated *e = (struct simulated *)engine;
    rad__free(e->conn);
    rad__free(e->of_user);
    rad__free(e->pending);
    rad__free(e->inputs);
    rad__heap_free(&e->due);
    rad__heap_free(&e->workers);
    rad__free(e);
}

static const struct rad__load_engine_kind SIMULATED = {"simulated", act, turn, close_engine};

int rad__load_simulated_open(rad__load_engine **engine, const rad__load_scenario *scenario,
                             uint64_t seed, uint32_t shard, uint32_t shards, uint32_t users,
                             uint32_t conns, rad_error *error)
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
    e->of_user = rad__alloc(users > 0 ? users : 1, sizeof *e->of_user);
    bool ok = e->conn != NULL && e->of_user != NULL;
    for (uint32_t i = 0; ok && i < users; i++) e->of_user[i] = RAD_NONE;
    for (uint32_t i = 0; ok && i < scenario->simulated.workers; i++)
        ok = rad__heap_push(&e->workers, i, 0, i);
    if (!ok) {
        close_engine(&e->engine);
        return rad__error_memory(error);
    }
    *engine = &e->engine;
    return 0;
}

void rad__load_simulated_decide(rad__load_engine *engine, rad__load_decide *decide, void *context)
{
    struct simulated *e = (struct simulated *)engine;
    e->decide = decide;
    e->context = context;
}
