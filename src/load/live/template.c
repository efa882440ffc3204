#include "load/live/template.h"

#include "base/alloc.h"
#include "base/error.h"
#include "load/scenario/placeholder.h"

#include <stdio.h>
#include <string.h>

/* ---- Reading ----------------------------------------------------------------------------------------------- */

static rad__load_piece *text_piece(rad__load_text *t, enum rad__load_what what)
{
    if (!RAD_GROW(&t->pieces, &t->capacity, t->count + 1)) return NULL;
    rad__load_piece *piece = &t->pieces[t->count++];
    *piece = (rad__load_piece){.what = (uint8_t)what};
    return piece;
}

int rad__load_text_add_bytes(rad__load_text *t, const void *bytes, size_t size, rad_error *error)
{
    if (size == 0) return 0;
    uint32_t from = t->constant.size;
    rad__load_piece *last = t->count ? &t->pieces[t->count - 1] : NULL;
    if (last == NULL || last->what != RAD__LOAD_WHAT_TEXT) {
        last = text_piece(t, RAD__LOAD_WHAT_TEXT);
        if (last == NULL) return rad__error_memory(error);
        last->from = from;
    }
    rad__bytes_put(&t->constant, bytes, size);
    if (t->constant.failed) return rad__error_memory(error);
    last->size += (uint32_t)size;
    return 0;
}

static int text_wrong(const rad__load_names *names, const rad__load_placeholder *p, const char *what, rad_error *error)
{
    return rad__error(error, RAD_EINPUT, "%s: ${%.*s}: %s", names->where, (int)p->text_size, p->text, what);
}

static bool is_called(const char *name, const char *text, size_t size)
{
    return strlen(name) == size && memcmp(name, text, size) == 0;
}

static const char *why_not(enum rad__load_place place, enum rad__load_escape escape)
{
    if (escape == RAD__LOAD_ESCAPE_JSON) return "is not UTF-8, which JSON has to be";
    return place == RAD__LOAD_IN_HEADER ? "has a line break or another character that no header can carry"
                                        : "is no JSON value; put it in quotes, or write |raw";
}

/* The environment is read once: its values are part of the text. */
static int add_env(rad__load_text *t, const rad__load_placeholder *p, enum rad__load_place place,
                   const rad__load_names *names, rad_error *error)
{
    char variable[256];
    if (p->name_size >= sizeof variable) return text_wrong(names, p, "the name is too long", error);
    snprintf(variable, sizeof variable, "%.*s", (int)p->name_size, p->name);
    const char *value = names->env ? names->env(variable) : NULL;
    if (value == NULL) return text_wrong(names, p, "not set in the environment", error);
    rad_bytes bytes = {0};
    int code = 0;
    if (!rad__load_put_escaped(&bytes, place, p->escape, value, strlen(value)))
        code = text_wrong(names, p, why_not(place, p->escape), error);
    else if (bytes.failed)
        code = rad__error_memory(error);
    else
        code = rad__load_text_add_bytes(t, bytes.data, bytes.size, error);
    rad__bytes_free(&bytes);
    return code;
}

static int find_data(rad__load_piece *piece, const rad__load_placeholder *p, const rad__load_names *names,
                     rad_error *error)
{
    const rad__load_scenario *s = names->scenario;
    for (uint32_t i = 0; i < s->data_count; i++) {
        if (!is_called(s->data[i].name, p->name, p->name_size)) continue;
        for (uint32_t k = 0; k < s->data[i].column_count; k++) {
            if (!is_called(s->data[i].columns[k], p->column, p->column_size)) continue;
            if (s->data[i].row_count == 0) return text_wrong(names, p, "the file has no rows", error);
            piece->number = i;
            piece->column = k;
            return 0;
        }
        return text_wrong(names, p, "the file has no such column", error);
    }
    return text_wrong(names, p, "there is no such data file", error);
}

static int find_variable(rad__load_piece *piece, const rad__load_placeholder *p, const rad__load_names *names,
                         rad_error *error)
{
    for (uint32_t i = 0; i < names->scenario->variable_count; i++) {
        piece->number = i;
        if (is_called(names->scenario->variables[i], p->name, p->name_size)) return 0;
    }
    return text_wrong(names, p, "nothing is extracted under this name", error);
}

static int add_placeholder(rad__load_text *t, const rad__load_placeholder *p, enum rad__load_place place,
                           const rad__load_names *names, rad_error *error)
{
    if (p->what == RAD__LOAD_WHAT_ENV) return add_env(t, p, place, names, error);
    rad__load_piece *piece = text_piece(t, p->what);
    if (piece == NULL) return rad__error_memory(error);
    piece->place = (uint8_t)place;
    piece->escape = (uint8_t)p->escape;
    piece->low = p->low;
    piece->span = p->high - p->low;
    if (p->what == RAD__LOAD_WHAT_DATA) return find_data(piece, p, names, error);
    if (p->what == RAD__LOAD_WHAT_VAR) return find_variable(piece, p, names, error);
    return 0;
}

/* What the author wrote has to fit as it is: encoding it would be another text. */
static int add_literal(rad__load_text *t, const char *text, size_t size, enum rad__load_place place,
                       const rad__load_names *names, rad_error *error)
{
    for (size_t i = 0; i < size; i++) {
        uint8_t c = (uint8_t)text[i];
        if (place == RAD__LOAD_IN_PATH && !rad__load_fits_path(c))
            return rad__error(error, RAD_EINPUT, "%s: byte 0x%02x has to be percent-encoded", names->where, c);
        if (place == RAD__LOAD_IN_HEADER && !rad__load_fits_header(c))
            return rad__error(error, RAD_EINPUT, "%s: byte 0x%02x is not allowed in a header", names->where, c);
    }
    return rad__load_text_add_bytes(t, text, size, error);
}

/* Where in a JSON text one is, as far as it matters here. */
struct json_place {
    bool in_string, after_backslash;
};

static void json_goes_on(struct json_place *j, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '"' && !j->after_backslash) j->in_string = !j->in_string;
        j->after_backslash = j->in_string && text[i] == '\\' && !j->after_backslash;
    }
}

static enum rad__load_escape escape_by_place(enum rad__load_place place, const struct json_place *j)
{
    switch (place) {
    case RAD__LOAD_IN_PATH: return RAD__LOAD_ESCAPE_URL;
    case RAD__LOAD_IN_FORM: return RAD__LOAD_ESCAPE_FORM;
    case RAD__LOAD_IN_JSON: return j->in_string ? RAD__LOAD_ESCAPE_JSON : RAD__LOAD_ESCAPE_JSON_VALUE;
    case RAD__LOAD_IN_HEADER:
    case RAD__LOAD_IN_BODY: break;
    }
    return RAD__LOAD_ESCAPE_RAW;
}

int rad__load_text_add(rad__load_text *t, const char *text, size_t size, enum rad__load_place place,
                       const rad__load_names *names, rad_error *error)
{
    const char *end = text + size;
    struct json_place json = {false, false};
    int code = 0;
    while (text < end && code == 0) {
        rad__load_placeholder p;
        const char *wrong = rad__load_placeholder_next(&text, end, &p);
        if (wrong != NULL && p.text == NULL) return rad__error(error, RAD_EINPUT, "%s: %s", names->where, wrong);
        if (wrong != NULL) return text_wrong(names, &p, wrong, error);
        if (p.what == RAD__LOAD_WHAT_TEXT) {
            json_goes_on(&json, p.text, p.text_size);
            code = add_literal(t, p.text, p.text_size, place, names, error);
            continue;
        }
        if (p.escape == RAD__LOAD_ESCAPE_BY_PLACE) p.escape = escape_by_place(place, &json);
        code = add_placeholder(t, &p, place, names, error);
    }
    return code;
}

void rad__load_text_free(rad__load_text *t)
{
    rad__bytes_free(&t->constant);
    rad__free(t->pieces);
    *t = (rad__load_text){0};
}

/* ---- Filling in -------------------------------------------------------------------------------------------- */

static bool is_open(const rad__load_scenario *s)
{
    return s->schedule.model == RAD__LOAD_OPEN;
}

static uint32_t fill_who(const rad__load_scenario *s, uint32_t vu)
{
    return is_open(s) ? RAD__LOAD_ARRIVAL : vu;
}

rad__load_fill rad__load_fill_for(const rad__load_scenario *scenario, uint64_t seed, uint32_t vu, uint64_t iteration,
                                  uint32_t position, const rad__load_value *values)
{
    /* What an arrival asks for does not depend on who happens to serve it: its user is one by number. */
    if (is_open(scenario)) vu = (uint32_t)(iteration % (scenario->users > 0 ? scenario->users : 1));
    return (rad__load_fill){
        .scenario = scenario,
        .values = values,
        .seed = seed,
        .iteration = iteration,
        .vu = vu,
        .position = position,
        .drawn = rad__load_draw(seed, fill_who(scenario, vu), iteration, position, RAD__LOAD_DRAW_TEMPLATE)};
}

uint32_t rad__load_data_row(const rad__load_fill *fill, uint32_t file)
{
    const rad__load_scenario *s = fill->scenario;
    uint32_t rows = s->data[file].row_count;
    switch (s->data[file].order) {
    case RAD__LOAD_ROWS_DRAWN: {
        rad__load_stream draw =
            rad__load_draw(fill->seed, fill_who(s, fill->vu), fill->iteration, file, RAD__LOAD_DRAW_ROW);
        return (uint32_t)rad__load_below(&draw, rows);
    }
    case RAD__LOAD_ROWS_BY_USER: return fill->vu % rows;
    case RAD__LOAD_ROWS_IN_TURN:
    default:
        if (is_open(s)) return (uint32_t)(fill->iteration % rows);
        /* Dealt out: the first row to the first user, and so on, round after round. */
        return (uint32_t)((fill->iteration % rows * (s->users % rows) + fill->vu) % rows);
    }
}

static void put_uuid(rad__load_fill *fill, rad_bytes *to)
{
    uint64_t high = rad__load_next(&fill->drawn), low = rad__load_next(&fill->drawn);
    rad__bytes_format(to, "%08x-%04x-4%03x-%04x-%012llx", (uint32_t)(high >> 32), (uint32_t)(high >> 16 & 0xffff),
                      (uint32_t)(high & 0xfff), (uint32_t)(low >> 48 & 0x3fff) | 0x8000u,
                      (unsigned long long)(low & UINT64_C(0xffffffffffff)));
}

/* low … low + span. */
static uint64_t draw_between(rad__load_fill *fill, uint64_t low, uint64_t span)
{
    if (span == UINT64_MAX) return rad__load_next(&fill->drawn);
    return low + rad__load_below(&fill->drawn, span + 1);
}

static void put_number(rad_bytes *to, uint64_t number)
{
    char digits[20];
    size_t n = sizeof digits;
    do digits[--n] = (char)('0' + number % 10);
    while (number /= 10);
    rad__bytes_put(to, digits + n, sizeof digits - n);
}

static bool put_value(const rad__load_piece *p, const void *data, size_t size, rad_bytes *to)
{
    return rad__load_put_escaped(to, p->place, p->escape, data, size);
}

/* Numbers and the like fit everywhere. */
static bool put_piece(const rad__load_text *t, const rad__load_piece *p, rad__load_fill *fill, rad_bytes *to)
{
    switch ((enum rad__load_what)p->what) {
    case RAD__LOAD_WHAT_TEXT: rad__bytes_put(to, t->constant.data + p->from, p->size); return true;
    case RAD__LOAD_WHAT_VU: put_number(to, fill->vu); return true;
    case RAD__LOAD_WHAT_ITERATION: put_number(to, fill->iteration); return true;
    case RAD__LOAD_WHAT_POSITION: put_number(to, fill->position); return true;
    case RAD__LOAD_WHAT_UUID: put_uuid(fill, to); return true;
    case RAD__LOAD_WHAT_RANDOM: put_number(to, draw_between(fill, p->low, p->span)); return true;
    case RAD__LOAD_WHAT_VAR: {
        const rad__load_value *value = &fill->values[p->number];
        return value->size != RAD_NONE && put_value(p, value->data, value->size, to);
    }
    case RAD__LOAD_WHAT_DATA: {
        const struct rad__load_data *d = &fill->scenario->data[p->number];
        uint64_t cell = (uint64_t)rad__load_data_row(fill, p->number) * d->column_count + p->column;
        return put_value(p, d->cells[cell], strlen(d->cells[cell]), to);
    }
    case RAD__LOAD_WHAT_ENV: break; /* is text by now */
    }
    return false;
}

enum rad__load_fault rad__load_text_put(const rad__load_text *t, rad__load_fill *fill, rad_bytes *to)
{
    for (uint32_t i = 0; i < t->count; i++)
        if (!put_piece(t, &t->pieces[i], fill, to)) return RAD__LOAD_BAD_REQUEST;
    return to->failed ? RAD__LOAD_NO_DESCRIPTORS : RAD__LOAD_OK;
}
