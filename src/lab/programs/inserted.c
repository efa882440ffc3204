/* inserted.c — see inserted.h. */
#include "lab/programs/inserted.h"

#include "base/alloc.h"
#include "base/error.h"
#include "lab/json.h"
#include "lab/programs/under_test.h"
#include "os/debug_info.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char points_field[] = "points";

/* ---- Points --------------------------------------------------------------------------------------------------- */

static char *points_text(const json_t *list)
{
    size_t size = 1, used = 0;
    for (size_t i = 0; i < json_array_size(list); i++) size += json_string_length(json_array_get(list, i)) + 1;
    char *text = rad__alloc(1, size);
    for (size_t i = 0; text && i < json_array_size(list); i++)
        used += (size_t)snprintf(text + used, size - used, "%s\n", json_string_value(json_array_get(list, i)));
    return text;
}

static bool are_names(const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *name = json_string_value(json_array_get(list, i));
        if (name == NULL || name[0] == 0 || strchr(name, '\n')) return false;
    }
    return list == NULL || json_is_array(list);
}

int rad__inserted_split(const char *body, char **arguments, char **points, rad_error *error)
{
    json_t *whole = json_loads(body, 0, NULL), *list = json_object_get(whole, points_field);
    *arguments = *points = NULL;
    if (whole == NULL || !are_names(list)) {
        json_decref(whole);
        return rad__error(error, RAD_EINPUT, "\"points\" of the case: expected a list of names");
    }
    *points = points_text(list);
    json_object_del(whole, points_field);
    *arguments = json_dumps(whole, JSON_COMPACT);
    json_decref(whole);
    if (*arguments && *points) return 0;
    rad__free(*arguments);
    rad__free(*points);
    return rad__error_memory(error);
}

/* In alphabetical order. True: it is new. */
static bool add_name(json_t *list, const char *name)
{
    size_t at = 0;
    for (; at < json_array_size(list); at++) {
        int order = strcmp(json_string_value(json_array_get(list, at)), name);
        if (order == 0) return false;
        if (order > 0) break;
    }
    return json_array_insert_new(list, at, json_string(name)) == 0;
}

/* "data race@one / other" */
static bool add_pair(json_t *list, const char *identity)
{
    static const char start[] = "data race@", between[] = " / ";
    char pair[RAD_IDENTITY_MAX];
    if (strncmp(identity, start, sizeof start - 1) != 0) return false;
    snprintf(pair, sizeof pair, "%s", identity + sizeof start - 1);
    char *other = strstr(pair, between);
    if (other == NULL) return false;
    *other = 0;
    bool first = add_name(list, pair);
    return add_name(list, other + sizeof between - 1) || first;
}

int rad__inserted_join(rad_target *to, const rad_target *from, const rad_exploration *e, bool *more, rad_error *error)
{
    json_t *whole = json_loads(from->c.body ? from->c.body : from->machine->body, 0, NULL);
    json_t *list = json_object_get(whole, points_field);
    *more = false;
    if (whole && list == NULL) {
        list = json_array();
        json_object_set_new(whole, points_field, list);
    }
    for (uint32_t i = 0; whole && i < e->finding_count; i++)
        *more |= add_pair(list, rad_artifact_verdict(e->findings[i].artifact)->identity);
    *to = *from;
    char *body = *more ? json_dumps(whole, JSON_COMPACT) : NULL;
    json_decref(whole);
    if (!*more) return 0;
    to->c.body = body;
    return body ? 0 : rad__error_memory(error);
}

/* ---- Places ---------------------------------------------------------------------------------------------------- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void spot_text(const char *path, uint64_t offset, char *text, size_t size)
{
    static rad_debug_frame frames[RAD_DEBUG_FRAMES_MAX];
    if (rad__debug_code(path, offset, frames) > 0 && frames[0].line > 0)
        snprintf(text, size, "(%.60s:%u)", base_name(frames[0].file), (unsigned)frames[0].line);
    else
        snprintf(text, size, "(%.60s+0x%llx)", base_name(path), (unsigned long long)offset);
}

/* The spot that begins here: "[path+1a2b]"; its end, or NULL. */
static char *spot_end(char *at, char **plus, uint64_t *offset)
{
    char *end = strchr(at, ']');
    *plus = NULL;
    for (char *p = at; end && p < end; p++)
        if (*p == '+') *plus = p;
    if (*plus == NULL || !isxdigit((unsigned char)(*plus)[1])) return NULL;
    char *rest;
    *offset = strtoull(*plus + 1, &rest, 16);
    return rest == end ? end : NULL;
}

void rad__spots_read(char *message, size_t size)
{
    const char *const *words = rad__under_test_words();
    char text[160], tail[512];
    for (char *at = strchr(message, '['); words && at != NULL; at = strchr(at + 1, '[')) {
        char *plus, *end;
        uint64_t offset = 0;
        if ((end = spot_end(at, &plus, &offset)) == NULL) continue;
        *plus = 0;
        spot_text(at[1] ? at + 1 : words[0], offset, text, sizeof text);
        snprintf(tail, sizeof tail, "%s", end + 1);
        snprintf(at, size - (size_t)(at - message), "%s%s", text, tail);
    }
}
