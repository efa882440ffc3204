/* placeholder.h — the grammar of templates, for the code that checks them (read_text.c) and fills them in
 * (template.c).
 *
 *     template    = { character | placeholder | "$${" }        "$${" stands for "${" itself
 *     placeholder = "${" what [ "|" escape ] "}"
 *     what        = "env:" NAME | "data:" FILE "." COLUMN | "var:" NAME | "random:" LOW "-" HIGH
 *                 | "vu" | "iteration" | "position" | "uuid"
 *     escape      = "raw" | "url" | "form" | "json"             without: as the place of the template wants it */
#ifndef RAD_LOAD_SCENARIO_PLACEHOLDER_H
#define RAD_LOAD_SCENARIO_PLACEHOLDER_H

#include "load/scenario/escape.h"

enum rad__load_what {
    RAD__LOAD_WHAT_TEXT, /* the literal text of a template */
    RAD__LOAD_WHAT_ENV,
    RAD__LOAD_WHAT_DATA,
    RAD__LOAD_WHAT_VAR,
    RAD__LOAD_WHAT_RANDOM,
    RAD__LOAD_WHAT_VU,
    RAD__LOAD_WHAT_ITERATION,
    RAD__LOAD_WHAT_POSITION,
    RAD__LOAD_WHAT_UUID
};

/* A piece of a template; all texts are parts of it. */
typedef struct rad__load_placeholder {
    enum rad__load_what what;
    enum rad__load_escape escape;
    const char *text;          /* literally, or all that stands between ${ and } */
    const char *name, *column; /* name: of a variable, a data file */
    size_t text_size, name_size, column_size;
    uint64_t low, high;
} rad__load_placeholder;

/* The next piece at *at, which is before `end`. NULL, or what is wrong with it (p->text says with what; NULL: it has no
 * end). */
RAD_INTERNAL const char *rad__load_placeholder_next(const char **at, const char *end, rad__load_placeholder *p);

#endif
