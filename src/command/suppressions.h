/* suppressions.h — `--suppress FILE`: races that do not count, and what became of each line of the file. */
#ifndef RAD_COMMAND_SUPPRESSIONS_H
#define RAD_COMMAND_SUPPRESSIONS_H

#include "json.h"

#define OPTION_SUPPRESS(type)                                                                                          \
    {                                                                                                                  \
        "suppress", OPTION_TEXT, offsetof(type, suppress), "FILE",                                                     \
            "ignore the races FILE lists: lines race:FUNCTION or race:FILE, * for anything", 0, 0, 0                   \
    }

typedef struct suppressions {
    const char *file;
    const char *const *patterns; /* NULL: none */
    uint64_t count, all;         /* patterns; races that did not count … */
    uint64_t *races;             /* … and how many of them each pattern matched */
    char sourceless[sizeof((rad_exploration *)0)->sourceless];
} suppressions;

/* They count in no run from here on. `path` may be NULL. Returns 0 or an exit status. */
int suppressions_read(cli *c, const char *path, suppressions *s) RAD_COMMAND(suppressions_read);
void suppressions_free(suppressions *s) RAD_COMMAND(suppressions_free);

void suppressions_add(suppressions *s, const rad_exploration *e) RAD_COMMAND(suppressions_add);

/* What was suppressed, by which line; and the lines that matched nothing. */
void suppressions_report(cli *c, const suppressions *s) RAD_COMMAND(suppressions_report);
void suppressions_json(writer *j, const suppressions *s) RAD_COMMAND(suppressions_json);

#endif
