/* connections.c — see connections.h. */
#include "load/scheduler/connections.h"

#include "base/alloc.h"

/* ---- Sets ------------------------------------------------------------------------------------------------ */

static void set_add(rad__load_pool *p, struct rad__load_conn_set *set, uint32_t conn)
{
    if (p->targets[p->conns[conn].target].own) return;
    p->conns[conn].place = set->count;
    set->items[set->count++] = conn;
}

static void set_remove(rad__load_pool *p, struct rad__load_conn_set *set, uint32_t conn)
{
    if (p->targets[p->conns[conn].target].own) return;
    uint32_t place = p->conns[conn].place;
    uint32_t moved = set->items[--set->count];
    set->items[place] = moved;
    p->conns[moved].place = place;
    p->conns[conn].place = RAD_NONE;
}

/* ---- Connections ----------------------------------------------------------------------------------------- */

static uint32_t places_of(const struct rad__load_target *t, uint32_t users, uint32_t shards)
{
    uint32_t share = t->max_connections / shards; /* at least one: the scenario's reader sees to it */
    share = share > 0 ? share : 1;
    return share < users ? share : users > 0 ? users : 1;
}

bool rad__load_pool_open(rad__load_pool *p, const rad__load_scenario *s, uint32_t users, uint32_t shards)
{
    *p = (rad__load_pool){.target_count = s->target_count};
    for (uint32_t t = 0; t < s->target_count; t++) p->conn_count += places_of(&s->targets[t], users, shards);
    p->conns = rad__alloc(p->conn_count, sizeof *p->conns);
    p->targets = rad__alloc(s->target_count, sizeof *p->targets);
    p->sets = rad__alloc((size_t)p->conn_count * 2, sizeof *p->sets);
    if (p->conns == NULL || p->targets == NULL || p->sets == NULL) {
        rad__load_pool_close(p);
        return false;
    }
    uint32_t first = 0;
    for (uint32_t t = 0; t < s->target_count; t++) {
        struct rad__load_places *at = &p->targets[t];
        at->first = first;
        at->count = places_of(&s->targets[t], users, shards);
        at->streams = s->targets[t].streams;
        at->uses = s->targets[t].requests_per_connection;
        at->own = at->count >= users;
        at->available.items = p->sets + (size_t)first * 2;
        at->closed.items = at->available.items + at->count;
        for (uint32_t i = at->count; i-- > 0;) { /* the lowest number is taken first */
            p->conns[first + i].target = t;
            p->conns[first + i].place = RAD_NONE;
            set_add(p, &at->closed, first + i);
        }
        first += at->count;
    }
    return true;
}

void rad__load_pool_close(rad__load_pool *p)
{
    rad__free(p->conns);
    rad__free(p->targets);
    rad__free(p->sets);
    *p = (rad__load_pool){0};
}

static bool has_room(const struct rad__load_places *at, const struct rad__load_conn *conn)
{
    return conn->state != RAD__LOAD_SHUT && !conn->ends && conn->under_way < at->streams;
}

void rad__load_pool_begin(rad__load_pool *p, uint32_t number)
{
    struct rad__load_conn *conn = &p->conns[number];
    struct rad__load_places *at = &p->targets[conn->target];
    RAD_DCHECK(conn->state == RAD__LOAD_SHUT && conn->under_way == 0);
    set_remove(p, &at->closed, number);
    set_add(p, &at->available, number);
    conn->state = RAD__LOAD_OPENING;
    conn->served = 0;
    conn->opened++;
    conn->ends = false;
}

bool rad__load_pool_take(rad__load_pool *p, uint32_t target, uint32_t user, rad__load_stream *draw,
                         struct rad__load_lease *lease)
{
    struct rad__load_places *at = &p->targets[target];
    uint32_t n = at->first + user % at->count;
    if (p->conns[n].state != RAD__LOAD_SHUT && !has_room(at, &p->conns[n])) {
        if (at->available.count > 0)
            n = at->available.items[rad__load_below(draw, at->available.count)];
        else if (at->closed.count > 0)
            n = at->closed.items[at->closed.count - 1];
        else
            return false;
    }
    struct rad__load_conn *conn = &p->conns[n];
    lease->conn = n;
    lease->open = conn->state == RAD__LOAD_SHUT;
    if (lease->open) rad__load_pool_begin(p, n);
    lease->opened = conn->opened;
    conn->under_way++;
    conn->served++;
    lease->last = conn->ends = at->uses != 0 && conn->served >= at->uses;
    if (!has_room(at, conn)) set_remove(p, &at->available, n);
    return true;
}

void rad__load_pool_give(rad__load_pool *p, uint32_t number, uint32_t opened)
{
    struct rad__load_conn *conn = &p->conns[number];
    struct rad__load_places *at = &p->targets[conn->target];
    if (!rad__load_pool_has(p, number, opened)) return;
    RAD_ASSERT(conn->under_way > 0);
    conn->under_way--;
    if (conn->place == RAD_NONE && has_room(at, conn)) set_add(p, &at->available, number);
}

bool rad__load_pool_opened(rad__load_pool *p, uint32_t number)
{
    bool opening = p->conns[number].state == RAD__LOAD_OPENING;
    if (opening) p->conns[number].state = RAD__LOAD_OPEN_NOW;
    return opening;
}

bool rad__load_pool_shut(rad__load_pool *p, uint32_t number)
{
    struct rad__load_conn *conn = &p->conns[number];
    struct rad__load_places *at = &p->targets[conn->target];
    if (conn->state == RAD__LOAD_SHUT) return false;
    if (conn->place != RAD_NONE) set_remove(p, &at->available, number);
    conn->state = RAD__LOAD_SHUT;
    conn->under_way = 0;
    set_add(p, &at->closed, number);
    return true;
}

bool rad__load_pool_valid(const rad__load_pool *p)
{
    for (uint32_t t = 0; t < p->target_count; t++) {
        const struct rad__load_places *at = &p->targets[t];
        uint32_t available = 0, closed = 0;
        for (uint32_t i = at->first; i < at->first + at->count; i++) {
            const struct rad__load_conn *conn = &p->conns[i];
            bool shut = conn->state == RAD__LOAD_SHUT, room = has_room(at, conn);
            const struct rad__load_conn_set *set = shut ? &at->closed : &at->available;
            bool in_set = conn->place < set->count && set->items[conn->place] == i;
            if ((in_set != (shut || room) && !at->own) || conn->under_way > at->streams ||
                (shut && conn->under_way != 0))
                return false;
            available += room;
            closed += shut;
        }
        if (!at->own && (available != at->available.count || closed != at->closed.count)) return false;
    }
    return true;
}
