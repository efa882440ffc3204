/* shrink.c — how cases of the executor get smaller, for the shrinker of the lab: size, the next reduction, and who
 * takes over whose part when workers or events are gone. */
#include "base/alloc.h"
#include "base/digest.h"
#include "lab/machines/executor/executor.h"
#include "lab/machines/executor/reduce.h"

#include <string.h>

static rad_exec_case *case_of(const rad_case *c)
{
    rad_error error;
    return rad__exec_case_parse(c->body, strlen(c->body), NULL, &error);
}

uint64_t rad__world_case_size(const rad_case *c)
{
    rad_exec_case *parsed = case_of(c);
    uint64_t size = parsed ? rad__exec_case_size(parsed) : UINT64_MAX;
    rad__exec_case_free(parsed);
    return size;
}

/* Candidates are numbered (reduce.h). After one was taken the numbers mean what comes behind it in the smaller case,
 * so the count stays where it is. */
bool rad__world_case_reduce(const rad_case *from, rad_cursor *at, rad_case *to)
{
    if (at->taken && at->at[0] > 0) at->at[0]--;
    rad_exec_case *c = case_of(from);
    bool more = c != NULL && rad__exec_reduce(c, at->at[0]++);
    char *body = more ? rad__exec_case_text(c) : NULL;
    at->failed = c == NULL || (more && body == NULL);
    rad__exec_case_free(c);
    to->body = body ? body : from->body;
    return body != NULL;
}

/* ---- Heirs ------------------------------------------------------------------------------------------- */

/* Who takes over from whom, between one case and another: worked out once for all the calls about them. */
typedef struct inheritance {
    rad_digest from, to;
    bool known;
    uint32_t from_events, from_workers, to_events, to_workers;
    uint32_t events[RAD_CASE_EVENTS_MAX]; /* event of the larger case → of the smaller, or RAD_NONE */
} inheritance;

static bool same_event(const rad_case_event *a, const rad_case_event *b)
{
    /* A start event may have got another number when a task was taken out. */
    return a->kind == b->kind && a->at == b->at && (a->kind == RAD_EVENT_START || a->what == b->what);
}

/* The events of the smaller case are some of those of the larger one, in order; or all, one of them earlier. */
static void match_events(inheritance *map, const rad_exec_case *from, const rad_exec_case *to)
{
    uint32_t next = 0;
    bool all = from->event_count == to->event_count;
    for (uint32_t i = 0; i < from->event_count; i++) {
        bool same = next < to->event_count && (all || same_event(&from->events[i], &to->events[next]));
        map->events[i] = same ? next++ : RAD_NONE;
    }
}

static bool inherit(inheritance *map, const rad_case *from, const rad_case *to)
{
    rad_digest a = rad__digest_of(from->body, strlen(from->body)), b = rad__digest_of(to->body, strlen(to->body));
    if (map->known && rad__digest_equal(a, map->from) && rad__digest_equal(b, map->to)) return true;
    rad_exec_case *x = case_of(from), *y = case_of(to);
    map->known = x != NULL && y != NULL;
    if (map->known) {
        map->from = a;
        map->to = b;
        map->from_events = x->event_count;
        map->from_workers = x->workers;
        map->to_events = y->event_count;
        map->to_workers = y->workers;
        match_events(map, x, y);
    }
    rad__exec_case_free(x);
    rad__exec_case_free(y);
    return map->known;
}

/* Actors are numbered as they are made (machine.c): events, timer, workers, clock. */
uint32_t rad__world_case_heir(const rad_case *from, const rad_case *to, const rad_cursor *at, uint32_t actor)
{
    static inheritance map;
    (void)at;
    if (!inherit(&map, from, to)) return RAD_NONE;
    if (actor < map.from_events) return map.events[actor];
    actor -= map.from_events;
    if (actor == 0) return map.to_events;
    if (actor <= map.from_workers) return map.to_events + 1 + (actor - 1) % map.to_workers;
    return map.to_events + 1 + map.to_workers;
}
