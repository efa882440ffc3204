/* metadata.c — see metadata.h. */
#include "load/report/metadata.h"

#include "base/sha256.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

struct rad__load_label rad__load_time_label(uint64_t ns)
{
    struct rad__load_label label;
    struct tm at;
    time_t seconds = (time_t)(ns / 1000000000);
    size_t size = strftime(label.text, sizeof label.text, "%Y-%m-%dT%H:%M:%S", gmtime_r(&seconds, &at));
    snprintf(label.text + size, sizeof label.text - size, ".%03uZ", (unsigned)(ns / 1000000 % 1000));
    return label;
}

struct rad__load_label rad__load_run_label(uint64_t ns)
{
    struct rad__load_label label;
    struct tm at;
    time_t seconds = (time_t)(ns / 1000000000);
    strftime(label.text, sizeof label.text, "run_%Y%m%d_%H%M%S", gmtime_r(&seconds, &at));
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
