/* folder.c — see folder.h. */
#include "load/api/folder.h"

#include "base/error.h"
#include "os/file.h"
#include "os/host_info.h"

#include <raddle/lab.h>
#include <stdio.h>
#include <string.h>

enum { SAME_SECOND_MAX = 1000 };

int rad__load_folder_open(rad__load_folder *f, const char *parent, rad_error *error)
{
    *f = (rad__load_folder){.start_ns = rad__os_time_of_day_ns()};
    if (strlen(parent) + 64 > sizeof f->path)
        return rad__error(error, RAD_EINPUT, "%.100s…: this path is too long", parent);
    int result = rad__os_make_directory(parent, error);
    if (result != 0) return result;
    struct rad__load_label name = rad__load_run_label(f->start_ns);
    for (uint32_t i = 1; i <= SAME_SECOND_MAX; i++) {
        if (i == 1)
            snprintf(f->run_id, sizeof f->run_id, "%.40s", name.text);
        else
            snprintf(f->run_id, sizeof f->run_id, "%.30s_%u", name.text, (unsigned)i);
        snprintf(f->path, sizeof f->path, "%.4000s/%s", parent, f->run_id);
        if (rad__os_exists(f->path)) continue;
        snprintf(f->log, sizeof f->log, "%.4080s/events.log", f->path);
        return rad__os_make_directory(f->path, error);
    }
    return rad__error(error, RAD_EIO, "%s: it has %d directories of this second already", f->path, SAME_SECOND_MAX);
}

/* Takes the text over. */
static int write_file(const rad__load_folder *f, const char *name, rad_bytes *text, rad_error *error)
{
    char path[RAD__LOAD_PATH_MAX];
    snprintf(path, sizeof path, "%.4050s/%.40s", f->path, name);
    int result = text->failed ? rad__error_memory(error) : rad__os_write_file(path, text->data, text->size, error);
    rad__bytes_free(text);
    return result;
}

static int write_results(const rad__load_folder *f, const rad_load_result *r, const struct rad__load_identity *who,
                         rad_error *error)
{
    rad_bytes text = {0};
    rad__load_render_json(&text, r, who);
    int result = write_file(f, "metrics.json", &text, error);
    if (result != 0) return result;
    rad__load_render_summary(&text, r, who);
    result = write_file(f, "summary.txt", &text, error);
    if (result != 0) return result;
    rad__load_render_csv(&text, r);
    result = write_file(f, "timeseries.csv", &text, error);
    if (result != 0) return result;
    const char *scenario = r->text != NULL ? r->text : "";
    rad__bytes_put(&text, scenario, strlen(scenario));
    return write_file(f, "config.toml", &text, error);
}

int rad__load_folder_write(const rad__load_folder *f, const rad_load_result *r, const char *scenario_path,
                           const char *command_line, int exit_code, rad_error *error)
{
    rad_os_host_info machine;
    rad__os_host_info(&machine);
    struct rad__load_circumstances c = {.tool_version = rad_version(),
                                        .compiler = rad_build_compiler(),
                                        .host = machine.host,
                                        .system = machine.system,
                                        .cpu = machine.cpu,
                                        .cores = machine.cores,
                                        .memory_bytes = machine.memory_bytes,
                                        .scenario_path = scenario_path,
                                        .command_line = command_line,
                                        .start_ns = f->start_ns,
                                        .end_ns = rad__os_time_of_day_ns(),
                                        .exit_code = exit_code};
    struct rad__load_label start = rad__load_time_label(c.start_ns), end = rad__load_time_label(c.end_ns);
    struct rad__load_identity who = {f->run_id, start.text, end.text};
    int result = write_results(f, r, &who, error);
    if (result != 0) return result;
    rad_bytes text = {0};
    rad__load_render_metadata(&text, r, &c, f->run_id);
    return write_file(f, "metadata.json", &text, error);
}
