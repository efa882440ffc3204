/* metadata.c — see metadata.h. */
#include "load/report/metadata.h"

#include "base/sha256.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct moment {
    uint32_t year, month, day, hour, minute, second, milli;
};

/* The Gregorian calendar from days since 1970-01-01. Years begin in March here, so that the day that is added in leap
 * years is their last; 400 of them have 146,097 days. */
static struct moment moment_of(uint64_t ns)
{
    uint64_t seconds = ns / 1000000000, days = seconds / 86400 + 719468; /* since 0000-03-01 */
    uint32_t rest = (uint32_t)(seconds % 86400);
    uint64_t era = days / 146097;
    uint32_t of_era = (uint32_t)(days % 146097);
    uint32_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    uint32_t of_year = of_era - (365 * year + year / 4 - year / 100);
    uint32_t month = (5 * of_year + 2) / 153; /* from March */
    struct moment m = {.day = of_year - (153 * month + 2) / 5 + 1,
                       .month = month < 10 ? month + 3 : month - 9,
                       .hour = rest / 3600,
                       .minute = rest / 60 % 60,
                       .second = rest % 60,
                       .milli = (uint32_t)(ns / 1000000 % 1000)};
    m.year = year + (uint32_t)era * 400 + (m.month <= 2);
    return m;
}

struct rad__load_label rad__load_time_label(uint64_t ns)
{
    struct moment m = moment_of(ns);
    struct rad__load_label label;
    snprintf(label.text, sizeof label.text,
             "%04" PRIu32 "-%02" PRIu32 "-%02" PRIu32 "T%02" PRIu32 ":%02" PRIu32 ":%02" PRIu32 ".%03" PRIu32 "Z",
             m.year % 10000, m.month % 100, m.day % 100, m.hour % 100, m.minute, m.second, m.milli);
    return label;
}

struct rad__load_label rad__load_run_label(uint64_t ns)
{
    struct moment m = moment_of(ns);
    struct rad__load_label label;
    snprintf(label.text, sizeof label.text,
             "run_%04" PRIu32 "%02" PRIu32 "%02" PRIu32 "_%02" PRIu32 "%02" PRIu32 "%02" PRIu32, m.year % 10000,
             m.month % 100, m.day % 100, m.hour % 100, m.minute, m.second);
    return label;
}

static void put(rad_bytes *to, const char *name, const char *text)
{
    rad__bytes_format(to, ",\n  \"%s\": ", name);
    rad__load_put_json_text(to, text);
}

void rad__load_render_metadata(rad_bytes *to, const rad_load_result *r, const struct rad__load_circumstances *c,
                               const char *run_id)
{
    char hash[2 * RAD_SHA256_SIZE + 1];
    if (r->text != NULL) rad__sha256_text(r->text, strlen(r->text), hash);
    rad__bytes_format(to, "{\n  \"version\": \"1.0\"");
    put(to, "run_id", run_id);
    put(to, "tool", "raddle load");
    put(to, "tool_version", c->tool_version);
    put(to, "compiler", c->compiler);
    put(to, "host", c->host);
    put(to, "os", c->system);
    put(to, "cpu", c->cpu);
    rad__bytes_format(to, ",\n  \"cores\": %" PRIu32 ",\n  \"memory_bytes\": %" PRIu64, c->cores, c->memory_bytes);
    rad__bytes_format(to, ",\n  \"scenario\": {\"path\": ");
    rad__load_put_json_text(to, c->scenario_path);
    rad__bytes_format(to, ", \"sha256\": ");
    rad__load_put_json_text(to, r->text != NULL ? hash : NULL);
    rad__bytes_format(to, "}");
    put(to, "command_line", c->command_line);
    put(to, "start_time", rad__load_time_label(c->start_ns).text);
    put(to, "end_time", rad__load_time_label(c->end_ns).text);
    rad__bytes_format(to, ",\n  \"seed\": %" PRIu64 ",\n  \"exit_code\": %d\n}\n", r->seed, c->exit_code);
}
