/* metrics.c — see metrics.h. */
#include "load/scheduler/metrics.h"

#include "base/alloc.h"

static const uint64_t SECOND = 1000000000;

bool rad__load_metrics_open(rad__load_metrics *m, const rad__load_scenario *scenario)
{
    *m = (rad__load_metrics){.scenario = scenario};
    m->by_request = rad__alloc(scenario->request_count, sizeof *m->by_request);
    bool ok = m->by_request != NULL && rad__histogram_open(&m->service) && rad__histogram_open(&m->response) &&
              rad__histogram_open(&m->connect) && rad__histogram_open(&m->current_service);
    if (!ok) rad__load_metrics_close(m);
    return ok;
}

void rad__load_metrics_close(rad__load_metrics *m)
{
    for (uint32_t i = 0; m->by_request != NULL && i < m->scenario->request_count; i++)
        rad__histogram_free(&m->by_request[i].service);
    rad__free(m->by_request);
    rad__histogram_free(&m->service);
    rad__histogram_free(&m->response);
    rad__histogram_free(&m->connect);
    rad__histogram_free(&m->current_service);
    rad__free(m->seconds);
    *m = (rad__load_metrics){0};
}

/* ---- Seconds --------------------------------------------------------------------------------------------- */

static void close_second(rad__load_metrics *m)
{
    const rad_histogram *h = &m->current_service;
    struct rad__load_second *s = &m->current;
    s->min_ns = h->count > 0 ? h->min : 0;
    s->p50_ns = rad__histogram_quantile(h, 1, 2);
    s->p99_ns = rad__histogram_quantile(h, 99, 100);
    s->max_ns = h->max;
    s->users = m->spawned - m->completed;
    bool idle = s->turns == 0;
    if (!idle && m->second_count < RAD__LOAD_SECONDS_MAX) {
        if (RAD_GROW(&m->seconds, &m->second_capacity, m->second_count + 1))
            m->seconds[m->second_count++] = *s;
        else
            m->failed = true;
    }
    rad__histogram_clear(&m->current_service);
}

void rad__load_metrics_turn(rad__load_metrics *m, uint64_t now_ns)
{
    if (now_ns / SECOND != m->current.second) {
        close_second(m);
        m->current = (struct rad__load_second){.second = now_ns / SECOND};
    }
    m->now_ns = now_ns;
    m->turns++;
    m->current.turns++;
}

void rad__load_metrics_end(rad__load_metrics *m)
{
    if (m->end_ns == 0) m->end_ns = m->now_ns;
    if (m->current.turns == 0) return;
    close_second(m);
    m->current = (struct rad__load_second){.second = m->current.second};
}

/* ---- Events ---------------------------------------------------------------------------------------------- */

static struct rad__load_by_request *request_of(rad__load_metrics *m, const rad__load_event *e)
{
    RAD_DCHECK(e->what < m->scenario->request_count);
    return &m->by_request[e->what];
}

static void feed_issued(rad__load_metrics *m, const rad__load_event *e)
{
    m->all.issued++;
    m->current.issued++;
    if (m->scenario->schedule.model == RAD__LOAD_OPEN && (e->flags & RAD__LOAD_FIRST)) {
        m->arrivals++;
        m->blocked += (e->flags & RAD__LOAD_BLOCKED) != 0;
        m->begun_late_ns += e->count;
    }
    if (e->flags & RAD__LOAD_MEASURED) {
        m->measured.issued++;
        request_of(m, e)->tally.issued++;
    }
}

static void record_of_request(rad__load_metrics *m, struct rad__load_by_request *r, uint64_t ns)
{
    if (m->scenario->request_count > RAD__LOAD_HISTOGRAMS_MAX) return;
    if (r->service.counts == NULL && !rad__histogram_open(&r->service)) {
        m->failed = true;
        return;
    }
    rad__histogram_record(&r->service, ns);
}

static void feed_response(rad__load_metrics *m, const rad__load_event *e)
{
    m->all.responses++;
    m->current.responses++;
    rad__histogram_record(&m->current_service, e->service_ns);
    if (!(e->flags & RAD__LOAD_MEASURED)) return;
    struct rad__load_by_request *r = request_of(m, e);
    m->measured.responses++;
    r->tally.responses++;
    uint32_t status = e->status < 1000 ? e->status : 0;
    m->by_status[status]++;
    m->by_class[status >= 100 && status < 600 ? status / 100 : 0]++;
    m->ok += status < 400;
    r->ok += status < 400;
    m->header_bytes += e->header_bytes;
    m->body_bytes += e->body_bytes;
    m->checks_made += m->scenario->requests[e->what].check_count;
    uint32_t failed = (uint32_t)__builtin_popcountll(e->checks_failed);
    m->checks_failed += failed;
    r->checks_failed += failed;
    rad__histogram_record(&m->service, e->service_ns);
    if (m->scenario->schedule.model == RAD__LOAD_OPEN) rad__histogram_record(&m->response, e->response_ns);
    record_of_request(m, r, e->service_ns);
}

/* Errors and timeouts: they have no service time, but somebody waited for the answer of an arrival. */
static void feed_failure(rad__load_metrics *m, const rad__load_event *e)
{
    bool timeout = e->kind == RAD__LOAD_TIMEOUT;
    m->current.errors++;
    *(timeout ? &m->all.timeouts : &m->all.errors) += 1;
    if (!(e->flags & RAD__LOAD_MEASURED)) return;
    struct rad__load_tally *r = &request_of(m, e)->tally;
    *(timeout ? &m->measured.timeouts : &m->measured.errors) += 1;
    *(timeout ? &r->timeouts : &r->errors) += 1;
    m->by_fault[timeout ? RAD__LOAD_REQUEST_TIMEOUT : e->fault]++;
}

static void feed_cancelled(rad__load_metrics *m, const rad__load_event *e)
{
    m->all.cancelled++;
    if (!(e->flags & RAD__LOAD_MEASURED)) return;
    m->measured.cancelled++;
    request_of(m, e)->tally.cancelled++;
}

static void feed_connection(rad__load_metrics *m, const rad__load_event *e)
{
    bool early = m->all.issued == 0;
    if (e->kind == RAD__LOAD_CONN_ESTABLISHED) {
        m->connections++;
        m->early += early;
        m->connect_ns += e->first_ns;
        rad__histogram_record(&m->connect, e->first_ns);
    } else if (e->kind == RAD__LOAD_CONN_ERROR) {
        m->connection_errors++;
        m->early_errors += early;
    } else {
        m->connections_closed++;
    }
}

void rad__load_metrics_feed(rad__load_metrics *m, const rad__load_event *e)
{
    m->events++;
    m->iterations += (e->flags & RAD__LOAD_LAST) != 0;
    switch (e->kind) {
    case RAD__LOAD_VU_SPAWNED: m->spawned++; break;
    case RAD__LOAD_VU_COMPLETE:
        m->completed++;
        m->gave_up += e->fault != RAD__LOAD_OK;
        break;
    case RAD__LOAD_ISSUED: feed_issued(m, e); break;
    case RAD__LOAD_RESPONSE: feed_response(m, e); break;
    case RAD__LOAD_ERROR:
    case RAD__LOAD_TIMEOUT: feed_failure(m, e); break;
    case RAD__LOAD_CANCELLED: feed_cancelled(m, e); break;
    case RAD__LOAD_CONN_ESTABLISHED:
    case RAD__LOAD_CONN_ERROR:
    case RAD__LOAD_CONN_CLOSED: feed_connection(m, e); break;
    case RAD__LOAD_EXHAUSTED: m->exhausted[e->fault < RAD__LOAD_FAULT_COUNT ? e->fault : 0]++; break;
    case RAD__LOAD_LATE: m->late++; break;
    case RAD__LOAD_LONG_WAIT: m->long_waits++; break;
    case RAD__LOAD_DROPPED: m->dropped += e->count; break;
    case RAD__LOAD_PHASE:
        if (m->end_ns == 0) m->end_ns = m->now_ns;
        break;
    default: break;
    }
}

/* ---- Answers --------------------------------------------------------------------------------------------- */

uint64_t rad__load_metrics_rate(const rad__load_metrics *m)
{
    uint64_t end = m->end_ns != 0 ? m->end_ns : m->now_ns;
    uint64_t from = m->scenario->warmup_ns;
    if (end <= from) return RAD__LOAD_NO_DATA;
    return (uint64_t)((unsigned __int128)m->measured.responses * 1000 * SECOND / (end - from));
}

uint64_t rad__load_metrics_measure(const rad__load_metrics *m, const struct rad__load_assertion *a)
{
    const struct rad__load_tally *t = &m->measured;
    uint64_t done = t->responses + t->errors + t->timeouts;
    switch (a->measure) {
    case RAD__LOAD_SERVICE_NS: return rad__load_quantile(&m->service, a->percentile_ppm);
    case RAD__LOAD_RESPONSE_NS: return rad__load_quantile(&m->response, a->percentile_ppm);
    case RAD__LOAD_ERROR_SHARE: return rad__load_ppm(t->errors + t->timeouts, done);
    case RAD__LOAD_SUCCESS_SHARE: return rad__load_ppm(m->ok, done);
    case RAD__LOAD_RATE: return rad__load_metrics_rate(m);
    case RAD__LOAD_RATE_REACHED: return rad__load_ppm(m->arrivals - m->blocked, m->arrivals + m->dropped);
    case RAD__LOAD_5XX_SHARE: return rad__load_ppm(m->by_class[5], t->responses);
    case RAD__LOAD_CHECK_SHARE: return rad__load_ppm(m->checks_made - m->checks_failed, m->checks_made);
    case RAD__LOAD_DROPPED_COUNT: return m->dropped;
    }
    rad__panic(__FILE__, __LINE__, __func__, "an assertion without measure");
}

bool rad__load_assertion_holds(const struct rad__load_assertion *a, uint64_t actual)
{
    if (actual == RAD__LOAD_NO_DATA) return false;
    return a->at_least ? actual >= a->bound : actual <= a->bound;
}
