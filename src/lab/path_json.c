/* path_json.c — the path of a run in the text of an artifact: lists of names and, by index, of steps and picks. Lists
 * are flat, because a file may have few lists and many numbers. */
#include "lab/path_json.h"

#include "base/alloc.h"

#include <stdio.h>
#include <string.h>

/* ---- Writing ------------------------------------------------------------------------------------------ */

static bool append(json_t *list, json_t *value)
{
    return json_array_append_new(list, value) == 0;
}

static bool write_names(json_t *o, const char *key, const char *names, size_t size, uint32_t count)
{
    json_t *list = json_array();
    bool done = list != NULL;
    for (uint32_t i = 0; done && i < count; i++) done = append(list, json_string(names + i * size));
    return rad__json_set(o, key, list) && done;
}

static bool write_steps(json_t *o, const rad_path *p)
{
    json_t *steps = json_array(), *chosen = json_array();
    bool done = steps != NULL && chosen != NULL;
    for (uint32_t i = 0; done && i < p->step_count; i++) {
        const rad_path_step *s = &p->steps[i];
        done = append(steps, json_integer(s->actor)) && append(steps, json_integer(s->site)) &&
               append(steps, json_integer(s->object)) && (!s->chosen || append(chosen, json_integer(i)));
    }
    done &= rad__json_set(o, "steps", steps);
    return rad__json_set(o, "chosen", chosen) && done;
}

static bool write_picks(json_t *o, const rad_path *p)
{
    json_t *picks = json_array();
    bool done = picks != NULL;
    for (uint32_t i = 0; done && i < p->pick_count; i++)
        done = append(picks, json_integer(p->picks[i].step)) && append(picks, json_integer(p->picks[i].site)) &&
               append(picks, json_integer(p->picks[i].value));
    return rad__json_set(o, "picks", picks) && done;
}

bool rad__path_write(json_t *root, const rad_path *p)
{
    if (p == NULL) return true;
    json_t *o = json_object();
    bool done = o && write_names(o, "actors", p->actors[0], RAD_PATH_ACTOR_MAX, p->actor_count) &&
                write_names(o, "sites", p->sites[0], RAD_PATH_SITE_MAX, p->site_count) &&
                write_names(o, "objects", p->objects[0], RAD_PATH_OBJECT_MAX, p->object_count) && write_steps(o, p) &&
                write_picks(o, p);
    return rad__json_set(root, "path", o) && done;
}

/* ---- Reading ------------------------------------------------------------------------------------------ */

typedef struct reader {
    const rad_json_source *source;
    const json_t *object;
    uint64_t steps; /* of the run */
} reader;

static int bad_item(const reader *r, const char *key, size_t i, const char *expected, const json_t *found)
{
    char place[48];
    snprintf(place, sizeof place, "path.%s[%zu]", key, i);
    return rad__json_bad(r->source, place, expected, found);
}

/* A list with at most `most` items, a multiple of `width` of them. */
static int read_list(const reader *r, const char *key, size_t most, size_t width, const json_t **out)
{
    char place[48], expected[64];
    const json_t *list = json_object_get(r->object, key);
    snprintf(place, sizeof place, "path.%s", key);
    if (!json_is_array(list)) return rad__json_bad(r->source, place, "an array", list);
    size_t count = json_array_size(list);
    if (count > most || count % width != 0) {
        snprintf(expected, sizeof expected, "at most %zu items, %zu each", most, width);
        return rad__error(r->source->error, RAD_EINPUT, "%s: %s: expected %s, found %zu", r->source->name, place,
                          expected, count);
    }
    *out = list;
    return 0;
}

static int read_number(const reader *r, const char *key, const json_t *list, size_t i, uint64_t max, uint32_t *out)
{
    char expected[64];
    const json_t *item = json_array_get(list, i);
    json_int_t value = json_integer_value(item);
    if (json_is_integer(item) && value >= 0 && (uint64_t)value <= max) {
        *out = (uint32_t)value;
        return 0;
    }
    snprintf(expected, sizeof expected, "an integer from 0 to %llu", (unsigned long long)max);
    return bad_item(r, key, i, expected, item);
}

/* Names of `size` bytes each, with the zero; *out has one in any case, so that it is never NULL. */
static int read_names(const reader *r, const char *key, size_t size, char **out, uint32_t *count)
{
    const json_t *list;
    int code = read_list(r, key, RAD_PATH_NAMES_MAX, 1, &list);
    if (code != 0) return code;
    *out = rad__alloc(json_array_size(list), size);
    if (*out == NULL) return rad__error_memory(r->source->error);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        size_t length = json_is_string(item) ? json_string_length(item) : size;
        char expected[64];
        snprintf(expected, sizeof expected, "a string of at most %zu bytes", size - 1);
        if (length >= size || strlen(json_string_value(item)) != length) return bad_item(r, key, i, expected, item);
        memcpy(*out + i * size, json_string_value(item), length);
    }
    *count = (uint32_t)json_array_size(list);
    return 0;
}

static int read_steps(const reader *r, rad_path *p)
{
    const json_t *steps, *chosen;
    /* The step that killed its process is in the path, and not counted. */
    uint64_t most = r->steps < RAD_PATH_STEPS_MAX ? r->steps + 1 : RAD_PATH_STEPS_MAX;
    int code = read_list(r, "steps", 3 * most, 3, &steps);
    if (code == 0) code = read_list(r, "chosen", json_array_size(steps) / 3, 1, &chosen);
    if (code != 0) return code;
    uint32_t count = (uint32_t)(json_array_size(steps) / 3);
    p->steps = rad__alloc(count, sizeof *p->steps);
    if (p->steps == NULL) return rad__error_memory(r->source->error);
    if (count > 0 && p->actor_count == 0) return bad_item(r, "actors", 0, "a name", NULL);
    if (count > 0 && p->site_count == 0) return bad_item(r, "sites", 0, "a name", NULL);
    if (count > 0 && p->object_count == 0) return bad_item(r, "objects", 0, "a name", NULL);
    for (uint32_t i = 0; i < count && code == 0; i++) {
        rad_path_step *s = &p->steps[i];
        const uint32_t ends[] = {p->actor_count, p->site_count, p->object_count};
        uint32_t *const fields[] = {&s->actor, &s->site, &s->object};
        for (size_t j = 0; j < 3 && code == 0; j++)
            code = read_number(r, "steps", steps, 3 * (size_t)i + j, ends[j] - 1, fields[j]);
    }
    p->step_count = count;
    uint32_t from = 0;
    for (size_t i = 0; i < json_array_size(chosen) && code == 0; i++) {
        uint32_t at = 0;
        code = read_number(r, "chosen", chosen, i, (uint64_t)count - 1, &at);
        if (code == 0 && at < from)
            code = bad_item(r, "chosen", i, "steps in order, each once", json_array_get(chosen, i));
        if (code == 0) p->steps[at].chosen = true;
        from = at + 1;
    }
    return code;
}

static int read_picks(const reader *r, rad_path *p)
{
    const json_t *list;
    int code = read_list(r, "picks", 3 * (size_t)RAD_PATH_PICKS_MAX, 3, &list);
    if (code != 0) return code;
    uint32_t count = (uint32_t)(json_array_size(list) / 3), from = 0;
    p->picks = rad__alloc(count, sizeof *p->picks);
    if (p->picks == NULL) return rad__error_memory(r->source->error);
    if (count > 0 && (p->step_count == 0 || p->site_count == 0))
        return bad_item(r, "picks", 0, "nothing, because there is no step", json_array_get(list, 0));
    for (uint32_t i = 0; i < count && code == 0; i++) {
        rad_path_pick *pick = &p->picks[i];
        size_t at = 3 * (size_t)i;
        code = read_number(r, "picks", list, at, (uint64_t)p->step_count - 1, &pick->step);
        if (code == 0) code = read_number(r, "picks", list, at + 1, (uint64_t)p->site_count - 1, &pick->site);
        if (code == 0) code = read_number(r, "picks", list, at + 2, UINT32_MAX, &pick->value);
        if (code == 0 && pick->step < from) code = bad_item(r, "picks", at, "steps in order", json_array_get(list, at));
        from = pick->step;
    }
    p->pick_count = count;
    return code;
}

int rad__path_read(const rad_json_source *s, const json_t *root, uint64_t steps, rad_path **out)
{
    static const char *const keys[] = {"actors", "sites", "objects", "steps", "chosen", "picks", NULL};
    const json_t *o = json_object_get(root, "path");
    *out = NULL;
    if (o == NULL) return 0;
    if (!json_is_object(o)) return rad__json_bad(s, "path", "an object", o);
    reader r = {s, o, steps};
    rad_path *p = rad__alloc(1, sizeof *p);
    if (p == NULL) return rad__error_memory(s->error);
    char *actors = NULL, *sites = NULL, *objects = NULL;
    int code = rad__json_only(s, o, "path", keys);
    if (code == 0) code = read_names(&r, "actors", RAD_PATH_ACTOR_MAX, &actors, &p->actor_count);
    if (code == 0) code = read_names(&r, "sites", RAD_PATH_SITE_MAX, &sites, &p->site_count);
    if (code == 0) code = read_names(&r, "objects", RAD_PATH_OBJECT_MAX, &objects, &p->object_count);
    p->objects = (void *)objects;
    p->actors = (void *)actors;
    p->sites = (void *)sites;
    if (code == 0) code = read_steps(&r, p);
    if (code == 0) code = read_picks(&r, p);
    if (code != 0) {
        rad__path_free(p);
        return code;
    }
    *out = p;
    return 0;
}
