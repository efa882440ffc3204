/* path_json.h — the field `path` of an artifact. */
#ifndef RAD_LAB_PATH_JSON_H
#define RAD_LAB_PATH_JSON_H

#include "lab/json.h"
#include "lab/path.h"

/* Nothing for NULL. False when memory ran out. */
RAD_INTERNAL bool rad__path_write(json_t *root, const rad_path *p);

/* *out is NULL when the file has none. `steps` is the length of the run. */
RAD_INTERNAL int rad__path_read(const rad_json_source *s, const json_t *root, uint64_t steps, rad_path **out);

#endif
