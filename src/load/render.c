/* render.c — what the forms of a result share: numbers, texts, and the figures that are made of others. */
#include "load/render.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const uint64_t SECOND = 1000000000;

/* ---- Numbers --------------------------------------------------------------------------------------------- */

struct rad__load_label rad__load_count_label(uint64_t n)
{
    char digits[24];
    struct rad__load_label label;
    int length = snprintf(digits, sizeof digits, "%" PRIu64, n), at = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) label.text[at++] = ',';
        label.text[at++] = digits[i];
    }
    label.text[at] = 0;
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
    return thousandths(ns / 1000 + (ns % 1000 >= 500), "");
}

struct rad__load_label rad__load_seconds_label(uint64_t ns)
{
    return thousandths(ns / 1000000 + (ns % 1000000 >= 500000), " s");
}

struct rad__load_label rad__load_share_label(uint64_t ppm)
{
    struct rad__load_label label;
    snprintf(label.text, sizeof label.text, "%" PRIu64 ".%02u %%", ppm / 10000,
             (unsigned)(ppm % 10000 / 100));
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
        snprintf(label.text, sizeof label.text, "%" PRIu64 ".%" PRIu64 " %s", bytes, rest / 100,
                 UNITS[unit]);
    return label;
}

struct rad__load_label rad__load_rate_label(uint64_t milli)
{
    struct rad__load_label label, whole = rad__load_count_label(milli / 1000);
    snprintf(label.text, sizeof label.text, "%.27s.%u", whole.text, (unsigned)(milli % 1000 / 100));
    return label;
}

struct rad__load_label rad__load_percentile_label(uint32_t ppm)
{
    struct rad__load_label label;
    int length = snprintf(label.text, sizeof label.text, "p%u.%04u", (unsigned)(ppm / 10000),
                          (unsigned)(ppm % 10000));
    while (label.text[length - 1] == '0') label.text[--length] = 0;
    if (label.text[length - 1] == '.') label.text[length - 1] = 0;
    return label;
}

/* ---- Texts ----------------------------------------------------------------------------------------------- */

/* Length of the UTF-8 character at `t`, or 0 when it is none. */
static size_t character(const unsigned char *t)
{
    if (t[0] < 0x80) return 1;
    size_t length = t[0] >= 0xf0 ? 4 : t[0] >= 0xe0 ? 3 : 2;
    if (t[0] < 0xc2 || t[0] > 0xf4) return 0;
    for (size_t i = 1; i < length; i++)
        if ((t[i] & 0xc0) != 0x80) return 0; /* also the end of the text */
    bool overlong = (t[0] == 0xe0 && t[1] < 0xa0) || (t[0] == 0xf0 && t[1] < 0x90);
    bool surrogate = t[0] == 0xed && t[1] > 0x9f, beyond = t[0] == 0xf4 && t[1] > 0x8f;
    return overlong || surrogate || beyond ? 0 : length;
}

void rad__load_put_json_text(rad_bytes *to, const char *text)
{
    if (text == NULL) {
        rad__bytes_format(to, "null");
        return;
    }
    rad__bytes_put(to, "\"", 1);
    while (*text != 0) {
        size_t length = character((const unsigned char *)text);
        unsigned char c = (unsigned char)*text;
        if (length == 0)
            rad__bytes_put(to, "?", 1);
        else if (c == '"' || c == '\\')
            rad__bytes_format(to, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            rad__bytes_format(to, "\\u%04x", c);
        else
            rad__bytes_put(to, text, length);
        text += length > 0 ? length : 1;
    }
    rad__bytes_put(to, "\"", 1);
}

void rad__load_put_html_text(rad_bytes *to, const char *text)
{
    while (text != NULL && *text != 0) {
        size_t length = character((const unsigned char *)text);
        const char *as = *text == '&'    ? "&amp;"
                         : *text == '<'  ? "&lt;"
                         : *text == '>'  ? "&gt;"
                         : *text == '"'  ? "&quot;"
                         : *text == '\'' ? "&#39;"
                         : length == 0   ? "?"
                                         : NULL;
        bool control = (unsigned char)*text < 0x20 && *text != '\n' && *text != '\t';
        if (as == NULL && control) as = " ";
        if (as != NULL)
            rad__bytes_put(to, as, strlen(as));
        else
            rad__bytes_put(to, text, length);
        text += length > 0 ? length : 1;
    }
}

/* ---- Figures --------------------------------------------------------------------------------------------- */

uint64_t rad__load_ppm(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0 : (uint64_t)((unsigned __int128)part * RAD__LOAD_PPM / whole);
}

uint64_t rad__load_reused(const rad_load_result *r)
{
    const rad__load_metrics *m = &r->metrics;
    uint64_t first = m->connections + m->connection_errors;
    return m->all.issued > first ? m->all.issued - first : 0;
}

bool rad__load_seconds_next(const rad_load_result *r, struct rad__load_seconds_at *at)
{
    const rad__load_metrics *m = &r->metrics;
    if (at->next >= m->second_count) return false;
    uint64_t wanted = at->begun ? at->second.second + 1 : 0;
    const struct rad__load_second *next = &m->seconds[at->next];
    bool far =
        next->second >= RAD__LOAD_SECONDS_MAX; /* a run of years that sleeps: gaps stay gaps */
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
    if (!any) t.peak = t.least = t.average_milli / 1000;
    return t;
}

struct rad__load_label rad__load_measure_label(const struct rad__load_assertion *a, uint64_t value)
{
    struct rad__load_label label, number;
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
