/* scenario_read_text.c — placeholders of templates are looked up when the scenario is read, so that a name that does
 * not exist is told with its place and not in the middle of a run. What they mean is for those who fill them in; the
 * forms are
 *
 *     ${env:NAME} ${data:FILE.COLUMN} ${var:NAME} ${vu} ${iteration} ${position} ${random:LOW-HIGH} ${uuid}
 *
 * and $${ for ${ itself. Only whether a variable of the environment is set is not asked here: a simulated run and a
 * replay need none. */
#include "load/scenario_read.h"

#include <stdio.h>
#include <string.h>

enum { NAME_MOST = 255 };

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool rad__load_is_name(const char *text)
{
    if (*text == 0 || strlen(text) > NAME_MOST) return false;
    for (; *text != 0; text++)
        if (!is_letter(*text) && !is_digit(*text) && *text != '_' && *text != '-') return false;
    return true;
}

bool rad__load_is_token(const char *text)
{
    if (*text == 0) return false;
    for (; *text != 0; text++)
        if (!is_letter(*text) && !is_digit(*text) && strchr("!#$%&'*+-.^_`|~", *text) == NULL)
            return false;
    return true;
}

/* ---- What stands between ${ and } ------------------------------------------------------------------------ */

/* A number of decimal digits that fits, followed by `end`. */
static bool pass_number(const char **at, char end, uint64_t *value)
{
    const char *p = *at;
    for (*value = 0; is_digit(*p); p++)
        if (__builtin_mul_overflow(*value, UINT64_C(10), value) ||
            __builtin_add_overflow(*value, (uint64_t)(*p - '0'), value))
            return false;
    if (p == *at || *p != end) return false;
    *at = p + 1;
    return true;
}

static void check_range(rad__load_reading *r, const rad_toml_node *at, const char *range)
{
    uint64_t low, high;
    const char *p = range;
    if (!pass_number(&p, '-', &low) || !pass_number(&p, 0, &high) || low > high)
        rad__load_wrong(r, at,
                        "${random:%.60s}: expected LOW-HIGH, two whole numbers in order, such as "
                        "${random:1-100}",
                        range);
}

static void check_variable(rad__load_reading *r, const rad_toml_node *at, const char *name)
{
    for (uint32_t i = 0; i < r->s->variable_count; i++)
        if (strcmp(r->variables[i], name) == 0) return;
    rad__load_no_such(r, at, "extracted variable", name, r->variables);
}

static void check_column(rad__load_reading *r, const rad_toml_node *at,
                         const struct rad__load_data *data, const char *column)
{
    const char *known[RAD__LOAD_COLUMNS_MAX + 1] = {NULL};
    if (data->row_count == 0) return; /* it was not read */
    for (uint32_t i = 0; i < data->column_count; i++) {
        if (strcmp(data->columns[i], column) == 0) return;
        known[i] = data->columns[i];
    }
    char what[400];
    snprintf(what, sizeof what, "column in data file '%.255s' of the name", data->name);
    rad__load_no_such(r, at, what, column, known);
}

static void check_cell(rad__load_reading *r, const rad_toml_node *at, char *name)
{
    const char *known[RAD__LOAD_DATA_MAX + 1] = {NULL};
    char *dot = strchr(name, '.');
    if (dot == NULL) {
        rad__load_wrong(r, at, "${data:%.100s}: expected FILE.COLUMN", name);
        return;
    }
    *dot = 0;
    for (uint32_t i = 0; i < r->s->data_count; i++) {
        known[i] = r->s->data[i].name;
        if (strcmp(known[i], name) != 0) continue;
        check_column(r, at, &r->s->data[i], dot + 1);
        return;
    }
    rad__load_no_such(r, at, "[[data]] of the name", name, known);
}

static void check_placeholder(rad__load_reading *r, const rad_toml_node *at, char *name)
{
    static const char *const PLAIN[] = {"vu", "iteration", "position", "uuid"};
    for (uint32_t i = 0; i < 4; i++)
        if (strcmp(PLAIN[i], name) == 0) return;
    if (strncmp(name, "env:", 4) == 0) {
        if (!rad__load_is_name(name + 4) || is_digit(name[4]))
            rad__load_wrong(r, at, "${%.100s}: expected the name of an environment variable", name);
    } else if (strncmp(name, "data:", 5) == 0) {
        check_cell(r, at, name + 5);
    } else if (strncmp(name, "var:", 4) == 0) {
        check_variable(r, at, name + 4);
    } else if (strncmp(name, "random:", 7) == 0) {
        check_range(r, at, name + 7);
    } else {
        rad__load_wrong(r, at,
                        "there is no placeholder ${%.100s}; expected env:NAME, data:FILE.COLUMN, "
                        "var:NAME, vu, iteration, position, random:LOW-HIGH or uuid",
                        name);
    }
}

/* ---- What stands around ---------------------------------------------------------------------------------- */

static void check_byte(rad__load_reading *r, const rad_toml_node *at, unsigned char c,
                       enum rad__load_spot spot)
{
    bool in_path = c > 0x20 && c < 0x7f && strchr("#\"<>\\", c) == NULL;
    bool in_header = (c >= 0x20 && c != 0x7f) || c == '\t';
    if (spot == RAD__LOAD_SPOT_PATH && !in_path)
        rad__load_wrong(r, at,
                        "the byte 0x%02x cannot stand in a path; expected it percent-encoded, as "
                        "%%%02X",
                        c, c);
    if (spot == RAD__LOAD_SPOT_HEADER && !in_header)
        rad__load_wrong(r, at, "the byte 0x%02x cannot stand in a header", c);
}

void rad__load_check_text(rad__load_reading *r, const rad_toml_node *at, const char *text,
                          enum rad__load_spot spot)
{
    for (const char *p = text; *p != 0 && !rad__load_bad(r); p++) {
        if (p[0] == '$' && p[1] == '$' && p[2] == '{') {
            p += 2;
            continue;
        }
        if (p[0] != '$' || p[1] != '{') {
            check_byte(r, at, (unsigned char)*p, spot);
            continue;
        }
        const char *close = strchr(p, '}');
        char name[NAME_MOST + 20];
        if (close == NULL || close - p - 2 >= (ptrdiff_t)sizeof name) {
            rad__load_wrong(
                r, at, "${ without a } after it; expected a placeholder, or $${ for ${ itself");
            return;
        }
        snprintf(name, sizeof name, "%.*s", (int)(close - p - 2), p + 2);
        check_placeholder(r, at, name);
        p = close;
    }
}
