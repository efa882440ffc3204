/* render.c — what the forms of a result share: numbers, texts, and the figures that are made of others. */
#include "load/report/render.h"

#include "base/escape.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const uint64_t SECOND = 1000000000;

/* ---- Numbers --------------------------------------------------------------------------------------------- */

static const struct rad__load_label NO_DATA = {"no data"};

struct rad__load_label rad__load_count_label(uint64_t n)
{
    struct rad__load_label label;
    if (n == RAD__LOAD_NO_DATA) return NO_DATA;
    rad__readable_count(n, label.text);
    return label;
}

static struct rad__load_label thousandths(uint64_t n, const char *unit)
{
    struct rad__load_label label, whole = rad__load_count_label(n / 1000);
    snprintf(label.text, sizeof label.text, "%.27s.%03u%s", whole.text, (unsigned)(n % 1000), unit);
    return label;
}

struct rad__load_label rad__load_ms_label(uint64_t ns)
{
    if (ns == RAD__LOAD_NO_DATA) return NO_DATA;
    return thousandths(ns / 1000 + (ns % 1000 >= 500), "");
}

struct rad__load_label rad__load_seconds_label(uint64_t ns)
{
    return thousandths(ns / 1000000 + (ns % 1000000 >= 500000), " s");
}

struct rad__load_label rad__load_share_label(uint64_t ppm)
{
    struct rad__load_label label;
    if (ppm == RAD__LOAD_NO_DATA) return NO_DATA;
    snprintf(label.text, sizeof label.text, "%" PRIu64 ".%02u %%", ppm / 10000, (unsigned)(ppm % 10000 / 100));
    return label;
}

struct rad__load_label rad__load_bytes_label(uint64_t bytes)
{
    static const char *const UNITS[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    struct rad__load_label label;
    uint64_t rest = 0;
    uint32_t unit = 0;
    for (; bytes >= 1000; bytes /= 1000, unit++) rest = bytes % 1000;
    if (unit == 0)
        snprintf(label.text, sizeof label.text, "%" PRIu64 " B", bytes);
    else
        snprintf(label.text, sizeof label.text, "%" PRIu64 ".%" PRIu64 " %s", bytes, rest / 100, UNITS[unit]);
    return label;
}

struct rad__load_label rad__load_rate_label(uint64_t milli)
{
    struct rad__load_label label, whole = rad__load_count_label(milli / 1000);
    if (milli == RAD__LOAD_NO_DATA) return NO_DATA;
    snprintf(label.text, sizeof label.text, "%.27s.%u", whole.text, (unsigned)(milli % 1000 / 100));
    return label;
}

struct rad__load_label rad__load_percentile_label(uint32_t ppm)
{
    struct rad__load_label label;
    int length = snprintf(label.text, sizeof label.text, "p%u.%04u", (unsigned)(ppm / 10000), (unsigned)(ppm % 10000));
    while (label.text[length - 1] == '0') label.text[--length] = 0;
    if (label.text[length - 1] == '.') label.text[length - 1] = 0;
    return label;
}

struct rad__load_label rad__load_json_label(uint64_t n, int digits)
{
    RAD_ASSERT(digits >= 0 && digits <= 9);
    struct rad__load_label label = {"null"};
    uint64_t one = 1;
    if (n == RAD__LOAD_NO_DATA) return label;
    for (int i = 0; i < digits; i++) one *= 10;
    int length = snprintf(label.text, sizeof label.text, "%" PRIu64, n / one);
    if (digits > 0) label.text[length++] = '.';
    for (; one > 1; one /= 10) label.text[length++] = (char)('0' + n % one / (one / 10));
    label.text[length] = 0;
    return label;
}

/* ---- Texts ----------------------------------------------------------------------------------------------- */

void rad__load_put_html_text(rad_bytes *to, const char *text)
{
    if (text != NULL) rad__put_xml_text(to, text, strlen(text), RAD_READABLE_NAME);
}

/* ---- Figures --------------------------------------------------------------------------------------------- */

uint64_t rad__load_mean_connect(const rad__load_metrics *m)
{
    return m->connections > 0 ? m->connect_ns / m->connections : RAD__LOAD_NO_DATA;
}

uint64_t rad__load_mean_late(const rad__load_metrics *m)
{
    return m->arrivals > 0 ? m->begun_late_ns / m->arrivals : RAD__LOAD_NO_DATA;
}

uint64_t rad__load_reused(const rad_load_result *r)
{
    const rad__load_metrics *m = &r->metrics;
    uint64_t first = m->connections - m->early + m->connection_errors - m->early_errors;
    return m->all.issued > first ? m->all.issued - first : 0;
}

bool rad__load_seconds_next(const rad_load_result *r, struct rad__load_seconds_at *at)
{
    const rad__load_metrics *m = &r->metrics;
    if (at->next >= m->second_count) return false;
    uint64_t wanted = at->begun ? at->second.second + 1 : 0;
    const struct rad__load_second *next = &m->seconds[at->next];
    bool far = next->second >= RAD__LOAD_SECONDS_MAX; /* a run of years that sleeps: gaps stay gaps */
    at->begun = true;
    if (next->second == wanted || far) {
        at->second = *next;
        at->next++;
    } else {
        at->second = (struct rad__load_second){.second = wanted, .users = at->second.users};
    }
    return true;
}

/* Peak and least are of seconds that are whole, after the warm-up; of a run that has none, the average. */
struct rad__load_throughput rad__load_throughput_of(const rad_load_result *r)
{
    const rad__load_metrics *m = &r->metrics;
    struct rad__load_throughput t = {.average_milli = rad__load_metrics_rate(m)};
    bool any = false;
    for (struct rad__load_seconds_at at = {0}; rad__load_seconds_next(r, &at);) {
        uint64_t from = at.second.second * SECOND, answers = at.second.responses;
        if (from < r->scenario.warmup_ns || from + SECOND > m->end_ns) continue;
        if (!any || answers > t.peak) t.peak = answers;
        if (!any || answers < t.least) t.least = answers;
        any = true;
    }
    bool measured = t.average_milli != RAD__LOAD_NO_DATA;
    if (!any) t.peak = t.least = measured ? t.average_milli / 1000 : RAD__LOAD_NO_DATA;
    return t;
}

struct rad__load_label rad__load_measure_label(const struct rad__load_assertion *a, uint64_t value)
{
    struct rad__load_label label, number;
    if (value == RAD__LOAD_NO_DATA) return NO_DATA;
    switch (a->measure) {
    case RAD__LOAD_SERVICE_NS:
    case RAD__LOAD_RESPONSE_NS:
        number = rad__load_ms_label(value);
        snprintf(label.text, sizeof label.text, "%.40s ms", number.text);
        return label;
    case RAD__LOAD_RATE:
        number = rad__load_rate_label(value);
        snprintf(label.text, sizeof label.text, "%.40s /s", number.text);
        return label;
    case RAD__LOAD_DROPPED_COUNT: return rad__load_count_label(value);
    case RAD__LOAD_ERROR_SHARE:
    case RAD__LOAD_SUCCESS_SHARE:
    case RAD__LOAD_RATE_REACHED:
    case RAD__LOAD_5XX_SHARE:
    case RAD__LOAD_CHECK_SHARE: break;
    }
    return rad__load_share_label(value);
}

const char *rad__load_engine_label(const rad_load_result *r)
{
    switch (r->engine) {
    case RAD__LOAD_ENGINE_SIMULATED: return "simulated target";
    case RAD__LOAD_ENGINE_EPOLL: return "epoll";
    case RAD__LOAD_ENGINE_URING: return "io_uring";
    default: return "another engine";
    }
}

const char *rad__load_end_label(const rad_load_result *r)
{
    if (r->cut_off) return "cut off: the log has no end";
    switch (r->end) {
    case RAD_LOAD_DONE: return "as planned";
    case RAD_LOAD_INTERRUPTED: return "interrupted";
    case RAD_LOAD_ABORTED: return "aborted: an assertion did not hold";
    case RAD_LOAD_EXHAUSTED: return "given up: the log was full, or the disk too slow";
    }
    return "";
}

const char *rad__load_repeatable_label(const rad_load_result *r)
{
    if (r->level == RAD__LOAD_LEVEL_SIMULATED) return "replayable: yes; repeatable: whole run";
    if (r->level == RAD__LOAD_LEVEL_RECORDED) return "replayable: yes; repeatable: plan";
    return "replayable: no; it was not written by raddle";
}
