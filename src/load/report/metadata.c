/* metadata.c — see metadata.h. */
#include "load/report/metadata.h"

#include "base/json_out.h"
#include "base/sha256.h"

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

void rad__load_render_metadata(rad_bytes *to, const rad_load_result *r, const struct rad__load_circumstances *c,
                               const char *run_id)
{
    char hash[2 * RAD_SHA256_SIZE + 1];
    rad_json_out out, *j = &out;
    if (r->text != NULL) rad__sha256_text(r->text, strlen(r->text), hash);
    rad__out_begin(j, to, RAD_JSON_UTF8);
    rad__out_text(j, "version", "1.0");
    rad__out_text(j, "run_id", run_id);
    rad__out_text(j, "tool", "raddle load");
    rad__out_text(j, "tool_version", c->tool_version);
    rad__out_text(j, "compiler", c->compiler);
    rad__out_text(j, "host", c->host);
    rad__out_text(j, "os", c->system);
    rad__out_text(j, "cpu", c->cpu);
    rad__out_count(j, "cores", c->cores);
    rad__out_count(j, "memory_bytes", c->memory_bytes);
    rad__out_open_line(j, "scenario", '{');
    rad__out_text(j, "path", c->scenario_path);
    rad__out_text(j, "sha256", r->text != NULL ? hash : NULL);
    rad__out_close(j, '}');
    rad__out_text(j, "command_line", c->command_line);
    rad__out_text(j, "start_time", rad__load_time_label(c->start_ns).text);
    rad__out_text(j, "end_time", rad__load_time_label(c->end_ns).text);
    rad__out_count(j, "seed", r->seed);
    rad__out_format(j, "exit_code", "%d", c->exit_code);
    rad__out_end(j);
}
