#include "load/template.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdio.h>
#include <string.h>

enum piece_kind {
    PIECE_CONSTANT,
    PIECE_VARIABLE,
    PIECE_DATA,
    PIECE_VU,
    PIECE_ITERATION,
    PIECE_POSITION,
    PIECE_RANDOM,
    PIECE_UUID
};

/* ---- What may stand where ---------------------------------------------------------------------------------- */

/* What a request line can carry as it is. */
static bool fits_path(uint8_t c)
{
    return c > 0x20 && c < 0x7f && c != '#' && c != '"' && c != '<' && c != '>' && c != '\\';
}

static bool fits_header(uint8_t c)
{
    return c != '\r' && c != '\n' && c != 0;
}

/* Appends a value in the way its place allows; false: it does not. */
static bool put_value(rad_bytes *to, uint8_t place, const uint8_t *data, size_t size)
{
    static const char digits[] = "0123456789ABCDEF";
    if (place == RAD__LOAD_IN_PATH) {
        for (size_t i = 0; i < size; i++) {
            char coded[] = {'%', digits[data[i] >> 4], digits[data[i] & 15]};
            if (fits_path(data[i]))
                rad__bytes_put(to, data + i, 1);
            else
                rad__bytes_put(to, coded, 3);
        }
        return true;
    }
    for (size_t i = 0; i < size && place == RAD__LOAD_IN_HEADER; i++)
        if (!fits_header(data[i])) return false;
    rad__bytes_put(to, data, size);
    return true;
}

/* ---- Reading ----------------------------------------------------------------------------------------------- */

static rad__load_piece *text_piece(rad__load_text *t, enum piece_kind kind,
                                   enum rad__load_place place)
{
    if (!RAD_GROW(&t->pieces, &t->capacity, t->count + 1)) return NULL;
    rad__load_piece *piece = &t->pieces[t->count++];
    *piece = (rad__load_piece){.kind = (uint8_t)kind, .place = (uint8_t)place};
    return piece;
}

int rad__load_text_add_bytes(rad__load_text *t, const void *bytes, size_t size, rad_error *error)
{
    if (size == 0) return 0;
    uint32_t from = t->constant.size;
    rad__load_piece *last = t->count ? &t->pieces[t->count - 1] : NULL;
    if (last == NULL || last->kind != PIECE_CONSTANT) {
        last = text_piece(t, PIECE_CONSTANT, RAD__LOAD_IN_BODY);
        if (last == NULL) return rad__error_memory(error);
        last->from = from;
    }
    rad__bytes_put(&t->constant, bytes, size);
    if (t->constant.failed) return rad__error_memory(error);
    last->size += (uint32_t)size;
    return 0;
}

static int text_wrong(const rad__load_names *names, const char *name, size_t size, const char *what,
                      rad_error *error)
{
    return rad__error(error, RAD_EINPUT, "%s: ${%.*s}: %s", names->where, (int)size, name, what);
}

static bool is_called(const char *name, const char *text, size_t size)
{
    return strlen(name) == size && memcmp(name, text, size) == 0;
}

static int add_env(rad__load_text *t, const char *name, size_t size, enum rad__load_place place,
                   const rad__load_names *names, rad_error *error)
{
    enum { PREFIX = 4 };
    char variable[256];
    if (size - PREFIX >= sizeof variable)
        return text_wrong(names, name, size, "the name is too long", error);
    snprintf(variable, sizeof variable, "%.*s", (int)(size - PREFIX), name + PREFIX);
    const char *value = names->env ? names->env(variable) : NULL;
    if (value == NULL) return text_wrong(names, name, size, "not set in the environment", error);
    rad_bytes bytes = {0};
    int code = 0;
    if (!put_value(&bytes, (uint8_t)place, (const uint8_t *)value, strlen(value)))
        code =
            text_wrong(names, name, size, "has a line break, which a header cannot carry", error);
    else if (bytes.failed)
        code = rad__error_memory(error);
    else
        code = rad__load_text_add_bytes(t, bytes.data, bytes.size, error);
    rad__bytes_free(&bytes);
    return code;
}

static int find_data(rad__load_piece *piece, const char *name, size_t size,
                     const rad__load_names *names, rad_error *error)
{
    enum { PREFIX = 5 };
    const rad__load_scenario *s = names->scenario;
    const char *file = name + PREFIX, *dot = memchr(file, '.', size - PREFIX);
    if (dot == NULL) return text_wrong(names, name, size, "expected data:FILE.COLUMN", error);
    size_t column_size = (size_t)(name + size - (dot + 1));
    for (uint32_t i = 0; i < s->data_count; i++) {
        if (!is_called(s->data[i].name, file, (size_t)(dot - file))) continue;
        for (uint32_t k = 0; k < s->data[i].column_count; k++) {
            if (!is_called(s->data[i].columns[k], dot + 1, column_size)) continue;
            if (s->data[i].row_count == 0)
                return text_wrong(names, name, size, "the file has no rows", error);
            piece->number = i;
            piece->column = k;
            return 0;
        }
        return text_wrong(names, name, size, "the file has no such column", error);
    }
    return text_wrong(names, name, size, "there is no such data file", error);
}

static int find_variable(rad__load_piece *piece, const char *name, size_t size,
                         const rad__load_names *names, rad_error *error)
{
    enum { PREFIX = 4 };
    for (uint32_t i = 0; i < names->scenario->variable_count; i++) {
        piece->number = i;
        if (is_called(names->scenario->variables[i], name + PREFIX, size - PREFIX)) return 0;
    }
    return text_wrong(names, name, size, "nothing is extracted under this name", error);
}

/* Digits at *at; false: none, or too many. */
static bool read_number(const char **at, const char *end, uint64_t *value)
{
    const char *begin = *at;
    for (*value = 0; *at < end && **at >= '0' && **at <= '9'; ++*at)
        if (__builtin_mul_overflow(*value, UINT64_C(10), value) ||
            __builtin_add_overflow(*value, (uint64_t)(**at - '0'), value))
            return false;
    return *at > begin;
}

static int read_range(rad__load_piece *piece, const char *name, size_t size,
                      const rad__load_names *names, rad_error *error)
{
    enum { PREFIX = 7 };
    const char *at = name + PREFIX, *end = name + size;
    uint64_t low, high;
    bool good = read_number(&at, end, &low) && at < end && *at++ == '-' &&
                read_number(&at, end, &high) && at == end;
    if (!good || low > high)
        return text_wrong(names, name, size, "expected random:LOW-HIGH, two whole numbers", error);
    piece->low = low;
    piece->span = high - low;
    return 0;
}

static bool begins(const char *name, size_t size, const char *with)
{
    return size >= strlen(with) && memcmp(name, with, strlen(with)) == 0;
}

/* What stands between ${ and }. */
static int add_placeholder(rad__load_text *t, const char *name, size_t size,
                           enum rad__load_place place, const rad__load_names *names,
                           rad_error *error)
{
    static const struct {
        const char *name;
        enum piece_kind kind;
    } plain[] = {{"vu", PIECE_VU},
                 {"iteration", PIECE_ITERATION},
                 {"position", PIECE_POSITION},
                 {"uuid", PIECE_UUID}};
    if (begins(name, size, "env:")) return add_env(t, name, size, place, names, error);
    rad__load_piece *piece = text_piece(t, PIECE_CONSTANT, place);
    if (piece == NULL) return rad__error_memory(error);
    if (begins(name, size, "data:")) {
        piece->kind = PIECE_DATA;
        return find_data(piece, name, size, names, error);
    }
    if (begins(name, size, "var:")) {
        piece->kind = PIECE_VARIABLE;
        return find_variable(piece, name, size, names, error);
    }
    if (begins(name, size, "random:")) {
        piece->kind = PIECE_RANDOM;
        return read_range(piece, name, size, names, error);
    }
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        if (!is_called(plain[i].name, name, size)) continue;
        piece->kind = (uint8_t)plain[i].kind;
        return 0;
    }
    return text_wrong(names, name, size,
                      "no such placeholder; there are env:NAME, data:FILE.COLUMN, var:NAME, vu, "
                      "iteration, position, random:LOW-HIGH and uuid",
                      error);
}

/* What the author wrote has to fit as it is: encoding it would be another text. */
static int add_literal(rad__load_text *t, const char *text, size_t size, enum rad__load_place place,
                       const rad__load_names *names, rad_error *error)
{
    for (size_t i = 0; i < size; i++) {
        uint8_t c = (uint8_t)text[i];
        if (place == RAD__LOAD_IN_PATH && !fits_path(c))
            return rad__error(error, RAD_EINPUT, "%s: byte 0x%02x has to be percent-encoded",
                              names->where, c);
        if (place == RAD__LOAD_IN_HEADER && !fits_header(c))
            return rad__error(error, RAD_EINPUT, "%s: byte 0x%02x cannot stand in a header",
                              names->where, c);
    }
    return rad__load_text_add_bytes(t, text, size, error);
}

int rad__load_text_add(rad__load_text *t, const char *text, size_t size, enum rad__load_place place,
                       const rad__load_names *names, rad_error *error)
{
    const char *at = text, *end = text + size;
    int code = 0;
    while (at < end && code == 0) {
        const char *mark = at;
        while (mark < end && !(*mark == '$' && end - mark > 1 && mark[1] == '{')) mark++;
        if (mark > at && mark < end && mark[-1] == '$') { /* $${: one $ less */
            code = add_literal(t, at, (size_t)(mark - 1 - at), place, names, error);
            if (code == 0) code = add_literal(t, "${", 2, place, names, error);
            at = mark + 2;
            continue;
        }
        code = add_literal(t, at, (size_t)(mark - at), place, names, error);
        if (code != 0 || mark == end) break;
        const char *close = memchr(mark, '}', (size_t)(end - mark));
        if (close == NULL)
            return rad__error(error, RAD_EINPUT, "%s: ${ has no }; write $${ for the text itself",
                              names->where);
        code = add_placeholder(t, mark + 2, (size_t)(close - mark - 2), place, names, error);
        at = close + 1;
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

static uint32_t fill_who(const rad__load_scenario *s, uint32_t vu)
{
    return s->schedule.model == RAD__LOAD_OPEN ? RAD__LOAD_ARRIVAL : vu;
}

rad__load_fill rad__load_fill_for(const rad__load_scenario *scenario, uint64_t seed, uint32_t vu,
                                  uint64_t iteration, uint32_t position,
                                  const rad__load_value *values)
{
    return (rad__load_fill){.scenario = scenario,
                            .values = values,
                            .seed = seed,
                            .iteration = iteration,
                            .vu = vu,
                            .position = position,
                            .drawn = rad__load_draw(seed, fill_who(scenario, vu), iteration,
                                                    position, RAD__LOAD_DRAW_TEMPLATE)};
}

uint32_t rad__load_data_row(const rad__load_fill *fill, uint32_t file)
{
    const rad__load_scenario *s = fill->scenario;
    uint32_t rows = s->data[file].row_count;
    switch (s->data[file].order) {
    case RAD__LOAD_ROWS_DRAWN: {
        rad__load_stream draw = rad__load_draw(fill->seed, fill_who(s, fill->vu), fill->iteration,
                                               file, RAD__LOAD_DRAW_ROW);
        return (uint32_t)rad__load_below(&draw, rows);
    }
    case RAD__LOAD_ROWS_BY_USER: return fill->vu % rows;
    case RAD__LOAD_ROWS_IN_TURN:
    default:
        if (s->schedule.model == RAD__LOAD_OPEN) return (uint32_t)(fill->iteration % rows);
        /* Dealt out: the first row to the first user, and so on, round after round. */
        return (uint32_t)((fill->iteration % rows * (s->users % rows) + fill->vu) % rows);
    }
}

static void put_uuid(rad__load_fill *fill, rad_bytes *to)
{
    uint64_t high = rad__load_next(&fill->drawn), low = rad__load_next(&fill->drawn);
    rad__bytes_format(to, "%08x-%04x-4%03x-%04x-%012llx", (uint32_t)(high >> 32),
                      (uint32_t)(high >> 16 & 0xffff), (uint32_t)(high & 0xfff),
                      (uint32_t)(low >> 48 & 0x3fff) | 0x8000u,
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

static bool put_piece(const rad__load_text *t, const rad__load_piece *p, rad__load_fill *fill,
                      rad_bytes *to)
{
    switch ((enum piece_kind)p->kind) {
    case PIECE_CONSTANT: rad__bytes_put(to, t->constant.data + p->from, p->size); return true;
    case PIECE_VU: put_number(to, fill->vu); return true;
    case PIECE_ITERATION: put_number(to, fill->iteration); return true;
    case PIECE_POSITION: put_number(to, fill->position); return true;
    case PIECE_UUID: put_uuid(fill, to); return true;
    case PIECE_RANDOM: put_number(to, draw_between(fill, p->low, p->span)); return true;
    case PIECE_VARIABLE: {
        const rad__load_value *value = &fill->values[p->number];
        return value->size != RAD_NONE && put_value(to, p->place, value->data, value->size);
    }
    case PIECE_DATA: {
        const struct rad__load_data *d = &fill->scenario->data[p->number];
        uint64_t cell = (uint64_t)rad__load_data_row(fill, p->number) * d->column_count + p->column;
        return put_value(to, p->place, (const uint8_t *)d->cells[cell], strlen(d->cells[cell]));
    }
    }
    return false;
}

enum rad__load_fault rad__load_text_put(const rad__load_text *t, rad__load_fill *fill,
                                        rad_bytes *to)
{
    for (uint32_t i = 0; i < t->count; i++)
        if (!put_piece(t, &t->pieces[i], fill, to)) return RAD__LOAD_BAD_REQUEST;
    return to->failed ? RAD__LOAD_NO_DESCRIPTORS : RAD__LOAD_OK;
}
