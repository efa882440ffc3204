/* due.c — the queue of what is due, in logical time; spawns and arrivals.
 *
 * A user has at most one place in it, and that place is never later than what the user waits for. It may be earlier:
 * whoever got an answer leaves the place of its timeout as it is, and the next timeout, which is later still, needs
 * none. A place that comes up too early is put where it belongs. So answers cost the queue nothing, however many users
 * there are; what fires, and in which order, is as if every place had always been exact.
 *
 * Beside the users there are a few events of the scheduler's own: there are never more than OWN_COUNT of them. */
#include "load/scheduler/scheduler.h"

enum own { OWN_LEVEL, OWN_ARRIVAL, OWN_END, OWN_DRAINED, OWN_CHECK, OWN_COUNT };

static const uint64_t CHECK_EVERY_NS = 1000000000; /* assertions that may end the run */

static void push(rad__load_scheduler *c, uint32_t item, uint64_t due_ns, uint64_t order)
{
    if (!rad__heap_push(&c->due, item, due_ns, order)) c->error = RAD_ENOMEM;
}

static void push_own(rad__load_scheduler *c, enum own what, uint64_t due_ns)
{
    RAD_DCHECK(!rad__heap_has(&c->due, c->user_capacity + (uint32_t)what));
    push(c, c->user_capacity + (uint32_t)what, due_ns, c->due_sequence++);
}

/* I5. */
bool rad__load_due_room(const rad__load_scheduler *c)
{
    return c->waiting < c->scenario->limits.max_events;
}

static bool comes_by_itself(enum rad__load_wait wait)
{
    return wait != RAD__LOAD_FOR_NOTHING && wait != RAD__LOAD_FOR_ARRIVAL;
}

static const rad_heap_node *place_of(const rad__load_scheduler *c, uint32_t vu)
{
    return rad__heap_has(&c->due, vu) ? &c->due.nodes[c->due.place[vu]] : NULL;
}

/* Early enough for what the user waits for. */
static bool serves(const rad_heap_node *place, const struct rad__load_user *u)
{
    return place->key < u->wake_ns || (place->key == u->wake_ns && place->tie <= u->wake_order);
}

bool rad__load_wait_valid(const rad__load_scheduler *c, uint32_t vu)
{
    const rad_heap_node *place = place_of(c, vu);
    return place != NULL && place->key == c->users[vu].placed_ns && serves(place, &c->users[vu]);
}

/* Nearly always the place is earlier already, and the queue is not even looked at. */
static void set_place(rad__load_scheduler *c, uint32_t vu)
{
    struct rad__load_user *u = &c->users[vu];
    if (RAD_LIKELY(u->placed_ns < u->wake_ns)) return;
    const rad_heap_node *place = place_of(c, vu);
    if (place != NULL && serves(place, u)) return;
    if (place != NULL) rad__heap_remove(&c->due, vu);
    u->placed_ns = u->wake_ns;
    push(c, vu, u->wake_ns, u->wake_order);
}

/* A wait above the limit is told once, when it has lasted that long; it goes on. */
void rad__load_wait_for(rad__load_scheduler *c, uint32_t vu, enum rad__load_wait what, uint64_t due_ns)
{
    struct rad__load_user *u = &c->users[vu];
    uint64_t patience = c->scenario->limits.warn_ticks * c->scenario->tick_ns;
    RAD_ASSERT(rad__load_due_room(c));
    c->waiting++;
    if (c->waiting > c->counters.deepest_queue) c->counters.deepest_queue = c->waiting;
    u->waits = (uint8_t)what;
    u->due_ns = due_ns;
    u->warned = due_ns - c->now_ns <= patience;
    u->wake_ns = u->warned ? due_ns : c->now_ns + patience;
    u->wake_order = c->due_sequence++;
    set_place(c, vu);
}

void rad__load_wait_over(rad__load_scheduler *c, uint32_t vu)
{
    struct rad__load_user *u = &c->users[vu];
    if (comes_by_itself(u->waits)) c->waiting--;
    u->waits = RAD__LOAD_FOR_NOTHING;
}

/* True: the first place is exact. False: it was not, and has been put right. */
static bool settle_first(rad__load_scheduler *c)
{
    const rad_heap_node first = *rad__heap_top(&c->due);
    if (first.item >= c->user_capacity) return true;
    struct rad__load_user *u = &c->users[first.item];
    bool waits = comes_by_itself(u->waits);
    if (waits && first.key == u->wake_ns && first.tie == u->wake_order) return true;
    rad__heap_remove(&c->due, first.item);
    u->placed_ns = UINT64_MAX;
    if (waits) set_place(c, first.item);
    return false;
}

uint64_t rad__load_scheduler_due(rad__load_scheduler *c)
{
    if (c->ready_count > 0 && rad__load_due_room(c)) return 0;
    while (c->due.count > 0 && !settle_first(c)) {
    }
    uint64_t due = c->due.count > 0 ? rad__heap_top(&c->due)->key : UINT64_MAX;
    uint64_t flush = rad__load_scheduler_flush_ns(c);
    return due < flush ? due : flush;
}

/* ---- Users come and go ----------------------------------------------------------------------------------- */

static void next_level(rad__load_scheduler *c)
{
    uint64_t at = 0;
    c->levels_left = rad__load_levels_next(&c->levels, &at, &c->next_level);
    if (c->levels_left) push_own(c, OWN_LEVEL, at);
}

static uint32_t of_this_shard(const rad__load_scheduler *c, uint64_t all)
{
    return (uint32_t)rad__load_share(all, c->shard, c->shards);
}

/* The youngest go first. */
static void change_level(rad__load_scheduler *c)
{
    uint32_t now = of_this_shard(c, c->level), then = of_this_shard(c, c->next_level);
    c->level = c->next_level;
    for (; now < then; now++) c->wanted++;
    for (; now > then; now--) {
        while (c->youngest > 0 && c->users[c->youngest - 1].retires) c->youngest--;
        if (c->wanted > c->user_count)
            c->wanted--; /* it has not even come */
        else if (c->youngest > 0)
            rad__load_user_retire(c, --c->youngest);
    }
    next_level(c);
}

static bool spawn(rad__load_scheduler *c)
{
    uint32_t vu = c->user_count;
    uint64_t jitter = 0;
    bool open = c->scenario->schedule.model == RAD__LOAD_OPEN;
    if (c->scenario->jitter_ns > 0 && !open) {
        rad__load_stream draw = rad__load_draw(c->seed, vu * c->shards + c->shard, 0, 0, RAD__LOAD_DRAW_JITTER);
        jitter = rad__load_below(&draw, c->scenario->jitter_ns + 1);
        if (!rad__load_due_room(c)) return false;
    }
    RAD_ASSERT(vu < c->user_capacity);
    c->user_count++;
    c->running++;
    c->counters.spawned++;
    c->youngest = c->user_count;
    c->users[vu] = (struct rad__load_user){.conn = RAD_NONE, .state = RAD__LOAD_SPAWNED, .placed_ns = UINT64_MAX};
    rad__load_emit(c, &(rad__load_event){.kind = RAD__LOAD_VU_SPAWNED, .vu = vu});
    if (open)
        rad__load_user_idle(c, vu);
    else if (jitter > 0)
        rad__load_wait_for(c, vu, RAD__LOAD_FOR_START, c->now_ns + jitter);
    else
        rad__load_user_ready(c, vu);
    return true;
}

/* ---- Arrivals -------------------------------------------------------------------------------------------- */

/* Shard i of n serves the arrivals i, i + n, … */
static void next_arrival(rad__load_scheduler *c)
{
    for (uint32_t i = 0; i < c->shards; i++) {
        uint64_t number = c->arrivals.number;
        c->arrivals_left = rad__load_arrivals_next(&c->arrivals, &c->next_arrival_ns);
        if (!c->arrivals_left || number % c->shards == c->shard) {
            c->arrival_number = number;
            break;
        }
    }
    if (c->arrivals_left && c->scenario->duration_ns != 0 && c->next_arrival_ns >= c->scenario->duration_ns)
        c->arrivals_left = false;
}

static void begin_arrival(rad__load_scheduler *c, uint32_t vu)
{
    struct rad__load_user *u = &c->users[vu];
    u->iteration = c->arrival_number;
    u->planned_ns = c->next_arrival_ns;
    u->blocked = c->starved_ns != 0 && c->next_arrival_ns <= c->starved_ns;
    rad__load_user_ready(c, vu);
}

/* While an arrival waits nobody is free, so whatever was due a tick ago or earlier has waited, too. */
static void tell_starved(rad__load_scheduler *c)
{
    bool one_waits = c->arrivals_left && c->next_arrival_ns <= c->starved_ns;
    uint64_t tick = c->scenario->tick_ns;
    if (one_waits && c->starved_ns != 0 && c->now_ns > tick + c->starved_ns) c->starved_ns = c->now_ns - tick;
}

/* Whoever is idle takes the next arrival that is due; without anybody, it waits or is dropped. */
static void serve_arrivals(rad__load_scheduler *c)
{
    uint64_t dropped = 0;
    tell_starved(c);
    while (c->arrivals_left && c->next_arrival_ns <= c->now_ns) {
        uint32_t vu = rad__load_user_take_idle(c);
        if (vu != RAD_NONE) {
            begin_arrival(c, vu);
        } else if (c->scenario->schedule.drop) {
            dropped++;
        } else {
            c->starved_ns = c->now_ns;
            break;
        }
        next_arrival(c);
    }
    if (dropped > 0) rad__load_emit(c, &(rad__load_event){.kind = RAD__LOAD_DROPPED, .count = dropped});
    bool queued = rad__heap_has(&c->due, c->user_capacity + OWN_ARRIVAL);
    if (c->arrivals_left && c->next_arrival_ns > c->now_ns && !queued) push_own(c, OWN_ARRIVAL, c->next_arrival_ns);
}

/* What was planned and never begun, at the end. Of a run that ends early: what was planned until then. */
uint64_t rad__load_arrivals_unserved(rad__load_scheduler *c)
{
    uint64_t count = 0;
    for (; c->arrivals_left && c->next_arrival_ns <= c->now_ns; next_arrival(c)) count++;
    return count;
}

/* ---- Due events ------------------------------------------------------------------------------------------ */

void rad__load_due_begin(rad__load_scheduler *c)
{
    const rad__load_scenario *s = c->scenario;
    bool aborts = false;
    for (uint32_t i = 0; i < s->assertion_count; i++) aborts |= s->assertions[i].abort;
    if (s->duration_ns != 0) push_own(c, OWN_END, s->duration_ns);
    if (aborts) push_own(c, OWN_CHECK, s->warmup_ns + CHECK_EVERY_NS);
    if (s->schedule.model == RAD__LOAD_OPEN) {
        c->arrivals = rad__load_arrivals_begin(&s->schedule);
        c->wanted = c->user_capacity;
        next_arrival(c);
        push_own(c, OWN_LEVEL, 0); /* a first turn: everybody is spawned in it */
    } else {
        c->levels = rad__load_levels_begin(&s->schedule);
        next_level(c);
    }
}

/* A target that is never asked needs no connections. */
static bool is_asked(const rad__load_scenario *s, uint32_t target)
{
    bool drawn = s->targets[target].weight > 0;
    for (uint32_t i = 0; i < s->request_count; i++)
        if (s->requests[i].target == target || (s->requests[i].target == RAD_NONE && drawn)) return true;
    return false;
}

/* Open: all connections there may be, so that what is measured is not how long it takes to open them. A place is its
 * user's at home (connections.h). */
static void connect_all(rad__load_scheduler *c)
{
    for (uint32_t conn = 0; conn < c->pool.conn_count; conn++) {
        uint32_t target = c->pool.conns[conn].target;
        if (!is_asked(c->scenario, target)) continue;
        rad__load_effect effect = {
            .kind = RAD__LOAD_DO_OPEN, .vu = conn - c->pool.targets[target].first, .conn = conn, .target = target};
        rad__load_pool_begin(&c->pool, conn);
        rad__load_effect_add(c, &effect);
    }
}

static void fire_own(rad__load_scheduler *c, enum own what)
{
    switch (what) {
    case OWN_LEVEL:
        if (c->scenario->schedule.model == RAD__LOAD_CLOSED) change_level(c);
        if (c->connects_before) connect_all(c);
        break;
    case OWN_ARRIVAL: break; /* serve_arrivals looks anyway */
    case OWN_END:
        rad__load_end_begin(c);
        if (c->phase == RAD__LOAD_DRAINING) push_own(c, OWN_DRAINED, c->now_ns + c->scenario->drain_ns);
        break;
    case OWN_DRAINED: rad__load_end_over(c); break;
    case OWN_CHECK:
        rad__load_assert_now(c, false);
        push_own(c, OWN_CHECK, c->now_ns + CHECK_EVERY_NS);
        break;
    case OWN_COUNT: break;
    }
}

static void fire_user(rad__load_scheduler *c, uint32_t vu)
{
    struct rad__load_user *u = &c->users[vu];
    bool open = c->scenario->schedule.model == RAD__LOAD_OPEN;
    enum rad__load_wait waited = u->waits;
    if (!u->warned) {
        u->warned = true;
        rad__load_event event = {
            .kind = RAD__LOAD_LONG_WAIT, .vu = vu, .request = u->request, .count = u->due_ns - c->now_ns};
        rad__load_emit(c, &event);
        u->wake_ns = u->due_ns;
        set_place(c, vu);
        return;
    }
    rad__load_wait_over(c, vu);
    if (waited == RAD__LOAD_FOR_ANSWER) {
        rad__load_user_timeout(c, vu);
    } else if (waited == RAD__LOAD_FOR_PAUSE && u->position == 0 && open) {
        rad__load_user_idle(c, vu); /* its arrival is done, this was a delay after a failure */
    } else {
        if (waited != RAD__LOAD_FOR_RETRY) u->planned_ns = c->now_ns;
        rad__load_user_ready(c, vu);
    }
}

void rad__load_due_fire(rad__load_scheduler *c)
{
    while (c->due.count > 0 && rad__heap_top(&c->due)->key <= c->now_ns && c->phase != RAD__LOAD_OVER) {
        if (!settle_first(c)) continue;
        uint32_t item = rad__heap_top(&c->due)->item;
        rad__heap_remove(&c->due, item);
        if (item < c->user_capacity) {
            c->users[item].placed_ns = UINT64_MAX;
            fire_user(c, item);
        } else
            fire_own(c, (enum own)(item - c->user_capacity));
    }
    if (c->phase != RAD__LOAD_RUNNING) return;
    while (c->user_count < c->wanted && spawn(c)) {
    }
    if (c->scenario->schedule.model == RAD__LOAD_OPEN) serve_arrivals(c);
}
