/* read_data.c — files that a scenario names: rows of values in [[data]], read as CSV (RFC 4180). */
#include "base/alloc.h"
#include "base/error.h"
#include "load/scenario/read.h"

#include <stdio.h>
#include <string.h>

/* ---- Files ---------------------------------------------------------------------------------------------- */

const char *rad__load_beside(rad__load_reading *r, const char *path)
{
    const char *slash = strrchr(r->doc.file_name, '/');
    if (*path == '/' || slash == NULL) return path;
    size_t folder = (size_t)(slash - r->doc.file_name) + 1, size = strlen(path);
    char *whole = rad__load_take(r, folder + size + 1, 1);
    if (whole == NULL) return path;
    memcpy(whole, r->doc.file_name, folder);
    memcpy(whole + folder, path, size);
    return whole;
}

bool rad__load_read_beside(rad__load_reading *r, const rad_toml_node *at, const char *path, uint64_t limit, char **data,
                           size_t *size)
{
    rad_error error = {0};
    *data = NULL;
    *size = 0;
    if (r->files == NULL || rad__load_bad(r)) return false;
    int code = r->files->read(rad__load_beside(r, path), limit, data, size, &error);
    if (code == 0) return true;
    if (code == RAD_ENOMEM)
        rad__error_memory(&r->error);
    else
        rad__load_wrong(r, at, "expected a file that can be read: %.300s", error.text);
    return false;
}

/* ---- Rows ----------------------------------------------------------------------------------------------- */

struct rows {
    rad__load_reading *r;
    const rad_toml_node *at; /* where the scenario names the file */
    const char *path;
    const char *p, *end;
    char separator;
    uint32_t line;
    const char **cells; /* all of them, row by row; not in the arena while they grow */
    uint32_t count, capacity;
};

static void wrong_row(struct rows *f, const char *what)
{
    rad__load_wrong(f->r, f->at, "%.150s:%u: %s", f->path, f->line, what);
}

static void add_cell(struct rows *f, const char *text, size_t size)
{
    const char *kept = rad__arena_text(&f->r->s->arena, text, size);
    if (kept == NULL || !RAD_GROW(&f->cells, &f->capacity, f->count + 1))
        rad__error_memory(&f->r->error);
    else if (memchr(text, 0, size) != NULL)
        wrong_row(f, "expected text, found a zero byte");
    else
        f->cells[f->count++] = kept;
}

/* Behind the first quote. Two quotes are one. */
static void read_quoted(struct rows *f)
{
    rad_bytes text = {0};
    uint32_t begin = f->line;
    bool closed = false;
    while (f->p < f->end && !closed) {
        char c = *f->p++;
        f->line += c == '\n';
        if (c != '"')
            rad__bytes_put(&text, &c, 1);
        else if (f->p < f->end && *f->p == '"')
            rad__bytes_put(&text, f->p++, 1);
        else
            closed = true;
    }
    if (!closed) {
        f->line = begin;
        wrong_row(f, "expected a quote at the end of the cell, found the end of the file");
    }
    if (text.failed) rad__error_memory(&f->r->error);
    if (!rad__load_bad(f->r)) add_cell(f, text.size > 0 ? (char *)text.data : "", text.size);
    rad__bytes_free(&text);
}

static void read_plain(struct rows *f)
{
    const char *from = f->p;
    while (f->p < f->end && *f->p != f->separator && *f->p != '\n' && *f->p != '"') f->p++;
    if (f->p < f->end && *f->p == '"') {
        wrong_row(f, "a quote inside a cell; expected the whole cell in quotes, and two for one");
        return;
    }
    const char *to = f->p;
    if (to > from && to[-1] == '\r' && (f->p == f->end || *f->p == '\n')) to--;
    add_cell(f, from, (size_t)(to - from));
}

/* One row; how many cells it has. */
static uint32_t read_row(struct rows *f)
{
    uint32_t before = f->count;
    for (;;) {
        if (f->p < f->end && *f->p == '"') {
            f->p++;
            read_quoted(f);
            if (f->p + 1 < f->end && f->p[0] == '\r' && f->p[1] == '\n') f->p++;
        } else {
            read_plain(f);
        }
        if (rad__load_bad(f->r) || f->p == f->end) break;
        char c = *f->p++;
        if (c == '\n') break;
        if (c != f->separator) wrong_row(f, "expected the end of the cell after its last quote");
    }
    return f->count - before;
}

/* Lines with nothing in them are no rows. */
static bool pass_empty(struct rows *f)
{
    for (; f->p < f->end; f->p++) {
        if (*f->p == '\r' && f->p + 1 < f->end && f->p[1] == '\n') f->p++;
        if (*f->p != '\n') return true;
        f->line++;
    }
    return false;
}

static void check_columns(struct rows *f, const char *const *columns, uint32_t count)
{
    if (count > RAD__LOAD_COLUMNS_MAX) wrong_row(f, "expected at most 256 columns, found more");
    for (uint32_t i = 0; i < count && !rad__load_bad(f->r); i++) {
        if (*columns[i] == 0 || strchr(columns[i], '}') != NULL || strlen(columns[i]) > 200)
            wrong_row(f, "expected names of columns, of 1 to 200 bytes and without a }");
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(columns[i], columns[k]) == 0)
                wrong_row(f, "two columns have the same name; expected another one");
    }
}

/* The first row has the names, unless the scenario has them. */
static void read_rows(struct rows *f, struct rad__load_data *d)
{
    enum { ROWS_MOST = 10000000 };
    bool named = d->column_count > 0;
    if (f->end - f->p >= 3 && memcmp(f->p, "\xef\xbb\xbf", 3) == 0) f->p += 3;
    if (!named && pass_empty(f)) {
        d->column_count = read_row(f);
        f->line++;
    }
    uint32_t first = f->count;
    while (!rad__load_bad(f->r) && pass_empty(f)) {
        uint32_t begin = f->line, cells = read_row(f);
        char text[100];
        snprintf(text, sizeof text, "expected %u cells as there are columns, found %u", d->column_count, cells);
        uint32_t last = f->line;
        f->line = begin;
        if (cells != d->column_count && !rad__load_bad(f->r)) wrong_row(f, text);
        if (++d->row_count > ROWS_MOST) wrong_row(f, "expected at most 10,000,000 rows");
        f->line = last + 1;
    }
    if (d->row_count == 0 && !rad__load_bad(f->r)) wrong_row(f, "expected rows, found none");
    const char **kept = rad__load_take(f->r, f->count, sizeof *kept);
    if (rad__load_bad(f->r)) return;
    if (f->count > 0) memcpy(kept, f->cells, f->count * sizeof *kept);
    if (!named) d->columns = kept;
    d->cells = kept + first;
}

static void read_file(rad__load_reading *r, const rad_toml_node *at, struct rad__load_data *d, char separator)
{
    char *data;
    size_t size;
    if (!rad__load_read_beside(r, at, d->path, RAD__LOAD_DATA_BYTES_MAX, &data, &size)) return;
    struct rows f = {
        .r = r, .at = at, .path = d->path, .p = data, .end = data + size, .separator = separator, .line = 1};
    read_rows(&f, d);
    f.line = 1;
    if (!rad__load_bad(r)) check_columns(&f, d->columns, d->column_count);
    rad__free(f.cells);
    rad__free(data);
}

/* ---- [[data]] ------------------------------------------------------------------------------------------- */

static void read_names(const rad__load_part *p, struct rad__load_data *d)
{
    rad__load_reading *r = p->r;
    rad_toml_node *array = rad__load_find(p, "columns");
    if (array == NULL) return;
    if (array->type != RAD_TOML_ARRAY || array->count == 0) {
        rad__load_expected(r, array, "an array of the names of the columns");
        return;
    }
    const char **names = rad__load_take(r, array->count, sizeof *names);
    for (rad_toml_node *n = rad__toml_first(array); n != NULL && names != NULL; n = rad__toml_next(n))
        names[d->column_count++] = rad__load_as_text(r, n, 1, 200, "");
    d->columns = names;
}

static void read_data(const rad__load_part *p, struct rad__load_data *d)
{
    static const char *const ORDERS[] = {"in_turn", "drawn", "by_user", NULL};
    rad__load_reading *r = p->r;
    const rad_toml_node *name = rad__load_need(p, "name", NULL), *file = rad__load_need(p, "file", NULL),
                        *separator = rad__load_find(p, "separator");
    d->name = rad__load_as_text(r, name, 1, 200, "");
    if (!rad__load_bad(r) && !rad__load_is_name(d->name)) rad__load_expected(r, name, "letters, digits, _ and -");
    d->path = rad__load_as_text(r, file, 1, 4096, "");
    d->order = (enum rad__load_order)rad__load_get_word(p, "order", ORDERS, RAD__LOAD_ROWS_IN_TURN);
    const char *mark = rad__load_as_text(r, separator, 1, 1, ",");
    if (!rad__load_bad(r) && strchr("\"\n\r", *mark) != NULL)
        rad__load_expected(r, separator, "one character, such as \";\" or a tab");
    read_names(p, d);
    if (!rad__load_bad(r)) read_file(r, file, d, *mark);
}

void rad__load_read_data(rad__load_reading *r, const rad__load_part *top)
{
    uint32_t count, i = 0;
    rad_toml_node *array = rad__load_tables(top, "data", RAD__LOAD_DATA_MAX, &count);
    struct rad__load_data *data = rad__load_take(r, count, sizeof *data);
    if (data == NULL) return;
    for (rad_toml_node *n = rad__toml_first(array); n != NULL && !rad__load_bad(r); n = rad__toml_next(n), i++) {
        rad__load_part p = rad__load_part_of(r, n, "data");
        read_data(&p, &data[i]);
        for (uint32_t k = 0; k < i && !rad__load_bad(r); k++)
            if (strcmp(data[i].name, data[k].name) == 0)
                rad__load_wrong(r, n, "two data files are called '%s'; expected another name", data[i].name);
    }
    r->s->data = data;
    r->s->data_count = count;
}
