/* changes.c — see changes.h. */
#include "load/scenario/changes.h"

#include "base/error.h"
#include "load/scenario/url.h"

#include <stdio.h>
#include <string.h>

static const char TARGET[] = "target=";

const char *rad__load_changes_make(rad_arena *arena, const char *target)
{
    size_t room = target != NULL ? strlen(target) + sizeof TARGET + 1 : 1;
    char *text = rad__arena_take(arena, room, 1);
    if (text != NULL && target != NULL) snprintf(text, room, "%s%s\n", TARGET, target);
    return text;
}

/* The same requests, to another place: what the scenario says about connections and certificates stays. */
static int retarget(rad__load_scenario *s, rad_arena *arena, const char *text, rad_error *error)
{
    rad__load_url url;
    if (s->target_count != 1)
        return rad__error(error, RAD_EINPUT, "target: the scenario has %u targets; only a single one can be exchanged",
                          s->target_count);
    const char *wrong = rad__load_url_parse(&url, text, arena);
    if (wrong != NULL) return rad__error(error, RAD_EINPUT, "target %s: %s", text, wrong);
    struct rad__load_target *t = rad__arena_take(arena, 1, sizeof *t);
    if (t == NULL || arena->failed) return rad__error_memory(error);
    *t = s->targets[0];
    t->url = text;
    t->host = t->server_name = url.host;
    t->port = url.port;
    t->base_path = url.base_path;
    t->tls = url.tls;
    s->targets = t;
    return 0;
}

int rad__load_changes_apply(rad__load_scenario *s, rad_arena *arena, const char *changes, rad_error *error)
{
    while (*changes != 0) {
        size_t length = strcspn(changes, "\n");
        const char *line = rad__arena_text(arena, changes, length);
        if (line == NULL) return rad__error_memory(error);
        if (strncmp(line, TARGET, sizeof TARGET - 1) != 0)
            return rad__error(error, RAD_EINPUT, "the log says '%.60s' was changed; this raddle knows no such change",
                              line);
        int result = retarget(s, arena, line + sizeof TARGET - 1, error);
        if (result != 0) return result;
        changes += length + (changes[length] == '\n');
    }
    return 0;
}
