/* snapshot.c — see snapshot.h. Everything the state points to is made anew, then filled. */
#include "load/scheduler/snapshot.h"

#include "base/alloc.h"

#include <string.h>

static void *copy_array(const void *from, size_t count, size_t size)
{
    void *to = rad__alloc(count > 0 ? count : 1, size);
    if (to != NULL && count > 0) memcpy(to, from, count * size);
    return to;
}

/* In the order of the array every node finds its parent there already: nothing moves. */
static bool copy_heap(rad_heap *to, const rad_heap *from)
{
    *to = (rad_heap){0};
    for (uint32_t i = 0; i < from->count; i++)
        if (!rad__heap_push(to, from->nodes[i].item, from->nodes[i].key, from->nodes[i].tie)) return false;
    return true;
}

static bool copy_bitset(rad_bitset *to, const rad_bitset *from, uint32_t limit)
{
    *to = (rad_bitset){0};
    if (!rad__bitset_reserve(to, limit)) return false;
    for (uint32_t i = rad__bitset_next(from, 0); i != RAD_NONE; i = rad__bitset_next(from, i + 1))
        rad__bitset_add(to, i);
    return true;
}

static bool copy_pool(rad__load_pool *to, const rad__load_pool *from)
{
    *to = *from;
    to->conns = copy_array(from->conns, from->conn_count, sizeof *to->conns);
    to->targets = copy_array(from->targets, from->target_count, sizeof *to->targets);
    to->sets = copy_array(from->sets, (size_t)from->conn_count * 2, sizeof *to->sets);
    if (to->conns == NULL || to->targets == NULL || to->sets == NULL) return false;
    for (uint32_t t = 0; t < to->target_count; t++) {
        to->targets[t].available.items = to->sets + (from->targets[t].available.items - from->sets);
        to->targets[t].closed.items = to->sets + (from->targets[t].closed.items - from->sets);
    }
    return true;
}

static bool load_metrics_copy(rad__load_metrics *to, const rad__load_metrics *from)
{
    const rad__load_scenario *s = from->scenario;
    rad__load_metrics made;
    if (!rad__load_metrics_open(&made, s)) return false;
    *to = *from;
    to->service = made.service;
    to->response = made.response;
    to->connect = made.connect;
    to->current_service = made.current_service;
    to->by_request = made.by_request;
    to->second_capacity = from->second_count;
    to->seconds = copy_array(from->seconds, from->second_count, sizeof *to->seconds);
    bool ok = to->seconds != NULL;
    rad__histogram_merge(&to->service, &from->service);
    rad__histogram_merge(&to->response, &from->response);
    rad__histogram_merge(&to->connect, &from->connect);
    rad__histogram_merge(&to->current_service, &from->current_service);
    for (uint32_t i = 0; i < s->request_count && ok; i++) {
        to->by_request[i] = from->by_request[i];
        to->by_request[i].service = (rad_histogram){0};
        if (from->by_request[i].service.counts == NULL) continue;
        ok = rad__histogram_open(&to->by_request[i].service);
        if (ok) rad__histogram_merge(&to->by_request[i].service, &from->by_request[i].service);
    }
    if (!ok) rad__load_metrics_close(to);
    return ok;
}

bool rad__load_scheduler_copy(rad__load_scheduler *to, const rad__load_scheduler *from, rad__load_log *log)
{
    const rad__load_scenario *s = from->scenario;
    *to = *from;
    to->log = log;
    to->effects = NULL;
    to->effect_count = to->effect_capacity = 0;
    to->order = NULL;
    to->order_capacity = 0;
    to->pool = (rad__load_pool){0};
    to->metrics = (rad__load_metrics){0};
    to->users = copy_array(from->users, from->user_capacity, sizeof *to->users);
    to->lines = copy_array(from->lines, s->step_count, sizeof *to->lines);
    to->request_sums = copy_array(from->request_sums, s->request_count, sizeof *to->request_sums);
    to->target_sums = copy_array(from->target_sums, s->target_count, sizeof *to->target_sums);
    bool ok = to->users != NULL && to->lines != NULL && to->request_sums != NULL && to->target_sums != NULL;
    ok = copy_heap(&to->due, &from->due) && ok;
    ok = copy_bitset(&to->occupied, &from->occupied, s->step_count) && ok;
    ok = copy_pool(&to->pool, &from->pool) && ok;
    ok = load_metrics_copy(&to->metrics, &from->metrics) && ok;
    if (!ok) rad__load_scheduler_close(to);
    return ok;
}
