#define _GNU_SOURCE
#include "load/live/judge.h"

#include "base/json_pull.h"
#include "load/live/jar.h"

#include <string.h>
#include <strings.h>

typedef struct found {
    const char *at; /* NULL: there is none */
    size_t size;
} found;

static bool is_named(const rad__load_field *field, const char *name)
{
    return strlen(name) == field->name_size && strncasecmp(field->name, name, field->name_size) == 0;
}

/* The first of that name, without blanks around. */
static found find_header(const rad__load_answer *a, const char *name)
{
    rad__load_field field;
    for (uint32_t at = 0; rad__load_answer_next(a, &at, &field);) {
        if (!is_named(&field, name)) continue;
        const char *from = field.value, *to = from + field.value_size;
        while (to > from && (to[-1] == ' ' || to[-1] == '\t')) to--;
        return (found){from, (size_t)(to - from)};
    }
    return (found){NULL, 0};
}

/* That this response sets. */
static found find_cookie(const rad__load_answer *a, const char *name)
{
    rad__load_field field;
    for (uint32_t at = 0; rad__load_answer_next(a, &at, &field);) {
        size_t name_size, size;
        const char *value;
        if (is_named(&field, "set-cookie") &&
            rad__load_cookie_pair(field.value, field.value_size, &name_size, &value, &size) &&
            name_size == strlen(name) && memcmp(field.value, name, name_size) == 0)
            return (found){value, size};
    }
    return (found){NULL, 0};
}

static bool equals(found f, const char *text)
{
    return f.at != NULL && (text == NULL || (f.size == strlen(text) && memcmp(f.at, text, f.size) == 0));
}

static bool body_contains(const rad__load_answer *a, const char *text)
{
    if (*text == 0) return true;
    return a->kept && a->kept->body.size && memmem(a->kept->body.data, a->kept->body.size, text, strlen(text)) != NULL;
}

/* The value at a JSON pointer; NONE also when the body is no JSON. */
static rad_json_value find_json(const rad__load_answer *a, const char *pointer)
{
    rad_json_value value = {.kind = RAD_JSON_NONE};
    if (a->kept == NULL || a->kept->body.size == 0) return value;
    if (rad__json_at(a->kept->body.data, a->kept->body.size, pointer, strlen(pointer), &value, NULL) != 0)
        value.kind = RAD_JSON_NONE;
    return value;
}

static bool json_is(const rad__load_answer *a, const char *pointer, const char *text)
{
    rad_json_value value = find_json(a, pointer);
    if (value.kind == RAD_JSON_NONE || text == NULL) return value.kind != RAD_JSON_NONE;
    rad_bytes written = {0};
    rad__json_put_text(&value, &written);
    bool same = !written.failed && written.size == strlen(text) &&
                (written.size == 0 || memcmp(written.data, text, written.size) == 0);
    rad__bytes_free(&written);
    return same;
}

/* As an input has it: length + 1, text; 0: none. `room`: how much is left for values of this answer. */
static void put_value(const void *text, size_t size, bool there, uint32_t *room, rad_bytes *values)
{
    there = there && size <= *room;
    rad__bytes_put_varint(values, there ? (uint64_t)size + 1 : 0);
    if (!there) return;
    rad__bytes_put(values, text, size);
    *room -= (uint32_t)size;
}

static void put_json(const rad__load_answer *a, const char *pointer, uint32_t *room, rad_bytes *values)
{
    rad_json_value value = find_json(a, pointer);
    rad_bytes written = {0};
    if (value.kind != RAD_JSON_NONE) rad__json_put_text(&value, &written);
    put_value(written.data, written.size, value.kind != RAD_JSON_NONE, room, values);
    values->failed |= written.failed;
    rad__bytes_free(&written);
}

static bool holds(const struct rad__load_check *c, const rad__load_answer *a)
{
    switch (c->of) {
    case RAD__LOAD_CHECK_STATUS: return a->status >= c->low && a->status <= c->high;
    case RAD__LOAD_CHECK_SIZE: return a->body_bytes >= c->low && a->body_bytes <= c->high;
    case RAD__LOAD_CHECK_CONTAINS: return body_contains(a, c->text);
    case RAD__LOAD_CHECK_HEADER: return equals(find_header(a, c->where), c->text);
    case RAD__LOAD_CHECK_JSON: return json_is(a, c->where, c->text);
    }
    return false;
}

uint64_t rad__load_judge_checks(const struct rad__load_request *request, const rad__load_answer *answer)
{
    uint64_t failed = 0;
    for (uint32_t i = 0; i < request->check_count; i++)
        if (!holds(&request->checks[i], answer)) failed |= UINT64_C(1) << i;
    return failed;
}

void rad__load_judge_extracts(const struct rad__load_request *request, const rad__load_answer *answer,
                              rad_bytes *values)
{
    uint32_t room = RAD__LOAD_VALUES_MAX;
    for (uint32_t i = 0; i < request->extract_count; i++) {
        const struct rad__load_extract *e = &request->extracts[i];
        found f = {NULL, 0};
        if (e->from == RAD__LOAD_FROM_JSON) {
            put_json(answer, e->where, &room, values);
            continue;
        }
        if (e->from == RAD__LOAD_FROM_HEADER) f = find_header(answer, e->where);
        if (e->from == RAD__LOAD_FROM_COOKIE) f = find_cookie(answer, e->where);
        put_value(f.at, f.size, f.at != NULL, &room, values);
    }
}
