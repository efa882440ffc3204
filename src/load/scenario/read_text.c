/* read_text.c — placeholders of templates (placeholder.h) are looked up when the scenario is read, so that a
 * name that does not exist is told with its place and not in the middle of a run. Only whether a variable of the
 * environment is set is not asked here: a simulated run and a replay need none. */
#include "base/text.h"
#include "load/scenario/placeholder.h"
#include "load/scenario/read.h"

#include <stdio.h>
#include <string.h>

enum { NAME_MOST = 255 };

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool rad__load_is_name(const char *text)
{
    if (*text == 0 || strlen(text) > NAME_MOST) return false;
    for (; *text != 0; text++)
        if (!is_letter(*text) && !rad__is_digit(*text) && *text != '_' && *text != '-') return false;
    return true;
}

bool rad__load_is_token(const char *text)
{
    if (*text == 0) return false;
    for (; *text != 0; text++)
        if (!is_letter(*text) && !rad__is_digit(*text) && strchr("!#$%&'*+-.^_`|~", *text) == NULL) return false;
    return true;
}

/* ---- What stands between ${ and } ------------------------------------------------------------------------ */

static bool is_called(const char *name, const char *text, size_t size)
{
    return strlen(name) == size && memcmp(name, text, size) == 0;
}

/* Ended by a zero, for messages. */
static const char *in_words(const char *text, size_t size, char room[NAME_MOST + 1])
{
    snprintf(room, NAME_MOST + 1, "%.*s", (int)(size < NAME_MOST ? size : NAME_MOST), text);
    return room;
}

static void check_variable(rad__load_reading *r, const rad_toml_node *at, const rad__load_placeholder *p)
{
    char room[NAME_MOST + 1];
    for (uint32_t i = 0; i < r->s->variable_count; i++)
        if (is_called(r->variables[i], p->name, p->name_size)) return;
    rad__load_no_such(r, at, "extracted variable", in_words(p->name, p->name_size, room), r->variables);
}

static void check_column(rad__load_reading *r, const rad_toml_node *at, const struct rad__load_data *data,
                         const rad__load_placeholder *p)
{
    const char *known[RAD__LOAD_COLUMNS_MAX + 1] = {NULL};
    char what[400], room[NAME_MOST + 1];
    if (data->row_count == 0) return; /* it was not read */
    for (uint32_t i = 0; i < data->column_count; i++) {
        if (is_called(data->columns[i], p->column, p->column_size)) return;
        known[i] = data->columns[i];
    }
    snprintf(what, sizeof what, "column in data file '%.255s' of the name", data->name);
    rad__load_no_such(r, at, what, in_words(p->column, p->column_size, room), known);
}

static void check_cell(rad__load_reading *r, const rad_toml_node *at, const rad__load_placeholder *p)
{
    const char *known[RAD__LOAD_DATA_MAX + 1] = {NULL};
    char room[NAME_MOST + 1];
    for (uint32_t i = 0; i < r->s->data_count; i++) {
        known[i] = r->s->data[i].name;
        if (!is_called(known[i], p->name, p->name_size)) continue;
        check_column(r, at, &r->s->data[i], p);
        return;
    }
    rad__load_no_such(r, at, "[[data]] of the name", in_words(p->name, p->name_size, room), known);
}

/* ---- What stands around ---------------------------------------------------------------------------------- */

static void check_byte(rad__load_reading *r, const rad_toml_node *at, unsigned char c, enum rad__load_spot spot)
{
    if (spot == RAD__LOAD_SPOT_PATH && !rad__load_fits_path(c))
        rad__load_wrong(r, at,
                        "the byte 0x%02x is not allowed in a path; expected it percent-encoded, as "
                        "%%%02X",
                        c, c);
    if (spot == RAD__LOAD_SPOT_HEADER && !rad__load_fits_header(c))
        rad__load_wrong(r, at, "the byte 0x%02x is not allowed in a header", c);
}

void rad__load_check_text(rad__load_reading *r, const rad_toml_node *at, const char *text, enum rad__load_spot spot)
{
    const char *end = text + strlen(text);
    while (text < end && !rad__load_bad(r)) {
        rad__load_placeholder p;
        const char *wrong = rad__load_placeholder_next(&text, end, &p);
        if (wrong != NULL && p.text == NULL)
            rad__load_wrong(r, at, "%s", wrong);
        else if (wrong != NULL)
            rad__load_wrong(r, at, "${%.*s}: %s", (int)(p.text_size < 100 ? p.text_size : 100), p.text, wrong);
        else if (p.what == RAD__LOAD_WHAT_DATA)
            check_cell(r, at, &p);
        else if (p.what == RAD__LOAD_WHAT_VAR)
            check_variable(r, at, &p);
        for (size_t i = 0; p.what == RAD__LOAD_WHAT_TEXT && wrong == NULL && i < p.text_size; i++)
            check_byte(r, at, (unsigned char)p.text[i], spot);
    }
}
