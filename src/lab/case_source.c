/* case_source.c — see case_source.h. */
#include "lab/case_source.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "lab/machines.h"
#include "os/file.h"

#include <string.h>

enum { SOURCE_MOST = 1 << 20 };

static json_t *body_load(const rad_case *c, rad_error *error)
{
    const rad_json_source s = {"body", error};
    return rad__json_load(&s, c->body, strlen(c->body));
}

static bool append_line(rad_bytes *to, const json_t *line)
{
    if (!json_is_string(line)) return false;
    rad__bytes_put(to, json_string_value(line), strlen(json_string_value(line)));
    rad__bytes_put(to, "\n", 1);
    return true;
}

char *rad__case_source_text(const rad_case *c, const char *const *keys, rad_error *error)
{
    const rad_json_source place = {NULL, error};
    json_t *body = body_load(c, error);
    if (body == NULL) return NULL;
    const json_t *lines = json_object_get(body, "source");
    rad_bytes text = {NULL, 0, 0, false};
    bool good = rad__json_only(&place, body, "", keys) == 0;
    if (good && (!json_is_array(lines) || json_array_size(lines) == 0)) {
        rad__json_bad(&place, "source", "a list of lines", lines);
        good = false;
    }
    for (size_t i = 0; good && i < json_array_size(lines); i++) {
        good = append_line(&text, json_array_get(lines, i));
        if (!good) rad__json_bad(&place, "source", "a list of lines", json_array_get(lines, i));
    }
    rad__bytes_put(&text, "", 1);
    json_decref(body);
    if (good && text.failed) rad__error_memory(error);
    if (good && !text.failed) return (char *)text.data;
    rad__bytes_free(&text);
    return NULL;
}

/* Statements, not characters. */
uint64_t rad__case_source_size(const rad_machine *m, const rad_case *c)
{
    json_t *body = body_load(c, NULL);
    uint64_t size = body ? json_array_size(json_object_get(body, "source")) : UINT64_MAX;
    json_decref(body);
    for (uint32_t i = 0; m->params[i].name; i++)
        if (!m->params[i].fixed) size += (uint64_t)(c->params[i] - m->params[i].min);
    return size;
}

bool rad__case_source_reduce(const rad_case *from, rad_cursor *at, rad_case *to)
{
    json_t *body = body_load(from, NULL);
    json_t *lines = json_object_get(body, "source");
    bool more = body != NULL && rad_cut_next(&at->cut, (uint32_t)json_array_size(lines));
    for (uint32_t i = at->cut.to; more && i-- > at->cut.from;) json_array_remove(lines, i);
    char *text = more ? json_dumps(body, JSON_COMPACT) : NULL;
    at->failed = body == NULL || (more && text == NULL);
    json_decref(body);
    if (text) to->body = text;
    return text != NULL;
}

/* ---- Files ------------------------------------------------------------------------------------------- */

static bool add_lines(json_t *lines, const char *text, size_t size)
{
    for (size_t at = 0; at < size;) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t length = end ? (size_t)(end - (text + at)) : size - at;
        if (json_array_append_new(lines, json_stringn(text + at, length)) != 0) return false;
        at += length + 1;
    }
    return true;
}

static char *body_of(const char *text, size_t size, const char *key, const char *value)
{
    rad__json_prepare();
    json_t *body = json_object(), *lines = json_array();
    bool good = body && lines && add_lines(lines, text, size);
    if (good) good = rad__json_set(body, "source", json_incref(lines));
    if (good && value) good = rad__json_set(body, key, json_string(value));
    char *own = good ? json_dumps(body, JSON_COMPACT) : NULL;
    json_decref(body);
    json_decref(lines);
    return own;
}

/* Looked at for its errors, which name the file; then line by line. */
int rad__case_source_target(rad_target *t, const rad_machine *machine, const char *path,
                            int (*check)(const char *path, const char *text, size_t size, rad_error *error),
                            const char *key, const char *value, rad_error *error)
{
    char *text;
    size_t size;
    rad__error_clear(error);
    rad__target_default(t, machine);
    int status = rad__os_read_file(path, SOURCE_MOST, &text, &size, error);
    if (status != 0) return status;
    status = check(path, text, size, error);
    char *own = status == 0 ? body_of(text, size, key, value) : NULL;
    if (status == 0 && own == NULL) status = rad__error(error, RAD_EINPUT, "%s: expected text in UTF-8", path);
    rad__free(text);
    rad_target borrowed = *t;
    borrowed.c.body = own;
    if (status == 0) status = rad__target_copy(t, &borrowed, error);
    rad__free(own);
    return status;
}
