/* metadata.h — who ran what, where and when: the file beside the results that is about the world, and the only one
 * with a time of day in it. Values come from outside; nothing here asks a clock. */
#ifndef RAD_LOAD_REPORT_METADATA_H
#define RAD_LOAD_REPORT_METADATA_H

#include "load/report/render.h"

/* Texts may be NULL, numbers 0: not known. */
struct rad__load_circumstances {
    const char *tool_version, *compiler;
    const char *host, *system, *cpu;
    uint32_t cores;
    uint64_t memory_bytes;
    const char *scenario_path;
    const char *command_line;
    uint64_t start_ns, end_ns; /* since 1970, UTC */
    int exit_code;
};

/* "2026-01-02T03:04:05.678Z", and as the name of a folder "run_20260102_030405". */
RAD_INTERNAL struct rad__load_label rad__load_time_label(uint64_t ns);
RAD_INTERNAL struct rad__load_label rad__load_run_label(uint64_t ns);

RAD_INTERNAL void rad__load_render_metadata(rad_bytes *to, const rad_load_result *r,
                                            const struct rad__load_circumstances *c, const char *run_id);

#endif
