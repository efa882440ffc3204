/* metrics_merge.c — statistics of shards that ran side by side, as one. */
#include "base/alloc.h"
#include "load/scheduler/metrics.h"

static void add_tally(struct rad__load_tally *to, const struct rad__load_tally *from)
{
    to->issued += from->issued;
    to->responses += from->responses;
    to->errors += from->errors;
    to->timeouts += from->timeouts;
    to->cancelled += from->cancelled;
}

static void add_array(uint64_t *to, const uint64_t *from, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) to[i] += from[i];
}

static void add_counts(rad__load_metrics *m, const rad__load_metrics *o)
{
    add_tally(&m->all, &o->all);
    add_tally(&m->measured, &o->measured);
    add_array(m->by_status, o->by_status, 1000);
    add_array(m->by_class, o->by_class, 6);
    add_array(m->by_fault, o->by_fault, RAD__LOAD_FAULT_COUNT);
    add_array(m->exhausted, o->exhausted, RAD__LOAD_FAULT_COUNT);
    m->turns += o->turns;
    m->events += o->events;
    m->ok += o->ok;
    m->header_bytes += o->header_bytes;
    m->body_bytes += o->body_bytes;
    m->checks_made += o->checks_made;
    m->checks_failed += o->checks_failed;
    m->late += o->late;
    m->long_waits += o->long_waits;
    m->iterations += o->iterations;
    m->arrivals += o->arrivals;
    m->blocked += o->blocked;
    m->dropped += o->dropped;
    m->begun_late_ns += o->begun_late_ns;
    m->connections += o->connections;
    m->connections_closed += o->connections_closed;
    m->connection_errors += o->connection_errors;
    m->early += o->early;
    m->early_errors += o->early_errors;
    m->connect_ns += o->connect_ns;
    m->spawned += o->spawned;
    m->completed += o->completed;
    m->gave_up += o->gave_up;
    m->failed |= o->failed;
}

static bool add_requests(rad__load_metrics *m, const rad__load_metrics *o)
{
    for (uint32_t i = 0; i < m->scenario->request_count; i++) {
        struct rad__load_by_request *to = &m->by_request[i];
        const struct rad__load_by_request *from = &o->by_request[i];
        add_tally(&to->tally, &from->tally);
        to->ok += from->ok;
        to->checks_failed += from->checks_failed;
        if (from->service.counts == NULL) continue;
        if (to->service.counts == NULL && !rad__histogram_open(&to->service)) return false;
        rad__histogram_merge(&to->service, &from->service);
    }
    return true;
}

/* Percentiles of a second cannot be added: the larger one stands for both, on the safe side. */
static void add_second(struct rad__load_second *to, const struct rad__load_second *from)
{
    uint64_t least = to->min_ns < from->min_ns ? to->min_ns : from->min_ns;
    to->min_ns = to->responses == 0 ? from->min_ns : from->responses == 0 ? to->min_ns : least;
    to->p50_ns = to->p50_ns > from->p50_ns ? to->p50_ns : from->p50_ns;
    to->p99_ns = to->p99_ns > from->p99_ns ? to->p99_ns : from->p99_ns;
    to->max_ns = to->max_ns > from->max_ns ? to->max_ns : from->max_ns;
    to->turns += from->turns;
    to->issued += from->issued;
    to->responses += from->responses;
    to->errors += from->errors;
    to->users += from->users;
}

static bool add_seconds(rad__load_metrics *m, const rad__load_metrics *o)
{
    uint32_t count = 0, a = 0, b = 0;
    struct rad__load_second *all = rad__alloc((size_t)m->second_count + o->second_count + 1, sizeof *all);
    if (all == NULL) return false;
    while (a < m->second_count || b < o->second_count) {
        uint64_t mine = a < m->second_count ? m->seconds[a].second : UINT64_MAX;
        uint64_t other = b < o->second_count ? o->seconds[b].second : UINT64_MAX;
        all[count] = mine <= other ? m->seconds[a++] : o->seconds[b];
        if (mine == other) add_second(&all[count], &o->seconds[b]);
        b += other <= mine;
        count++;
    }
    rad__free(m->seconds);
    m->seconds = all;
    m->second_count = m->second_capacity = count;
    return true;
}

bool rad__load_metrics_merge(rad__load_metrics *m, const rad__load_metrics *o)
{
    add_counts(m, o);
    rad__histogram_merge(&m->service, &o->service);
    rad__histogram_merge(&m->response, &o->response);
    rad__histogram_merge(&m->connect, &o->connect);
    if (o->now_ns > m->now_ns) m->now_ns = o->now_ns;
    if (o->end_ns > m->end_ns) m->end_ns = o->end_ns;
    return add_requests(m, o) && add_seconds(m, o);
}
