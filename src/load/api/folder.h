/* folder.h — the folder of a run, as Z6 lays it out: events.log, metrics.json, summary.txt, timeseries.csv,
 * config.toml and metadata.json in run_<date>_<time>. The log is the run's own business; all else is written here, at
 * the end, each file whole or not at all. */
#ifndef RAD_LOAD_API_FOLDER_H
#define RAD_LOAD_API_FOLDER_H

#include "load/report/metadata.h"

enum { RAD__LOAD_PATH_MAX = 4096 };

typedef struct rad__load_folder {
    char path[RAD__LOAD_PATH_MAX];
    char log[RAD__LOAD_PATH_MAX]; /* events.log in it */
    char run_id[48];
    uint64_t start_ns;
} rad__load_folder;

/* Makes it below `parent` (which is made, too, if its own parent exists), named after the time it is. Two runs in one
 * second: the second one gets _2, and so on. */
RAD_INTERNAL int rad__load_folder_open(rad__load_folder *f, const char *parent, rad_error *error);

/* Writes everything but the log. */
RAD_INTERNAL int rad__load_folder_write(const rad__load_folder *f, const rad_load_result *r, const char *scenario_path,
                                        const char *command_line, int exit_code, rad_error *error);

#endif
