/* read_answer.c — see read_answer.h. */
#include "load/scenario/read_answer.h"

#include "base/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { WHERE_MOST = 1000, TEXT_MOST = 4000 };

/* RFC 6901: empty, or members with a slash before each; ~ only as ~0 and ~1. */
static bool is_pointer(const char *text)
{
    if (*text != 0 && *text != '/') return false;
    for (; *text != 0; text++)
        if (*text == '~' && text[1] != '0' && text[1] != '1') return false;
    return true;
}

static const char *where_of(rad__load_reading *r, const rad_toml_node *node, bool json)
{
    const char *where = rad__load_as_text(r, node, json ? 0 : 1, WHERE_MOST, NULL);
    if (where == NULL || rad__load_bad(r)) return where;
    if (json && !is_pointer(where)) rad__load_expected(r, node, "a JSON pointer such as \"/items/0/id\"");
    if (!json && !rad__load_is_token(where)) rad__load_expected(r, node, "a name of letters, digits and -");
    return where;
}

/* ---- Checks ---------------------------------------------------------------------------------------------- */

/* 200, [200, 299] or "2xx". */
static void read_status(rad__load_reading *r, rad_toml_node *node, struct rad__load_check *c)
{
    enum { LOWEST = 100, HIGHEST = 599 };
    c->of = RAD__LOAD_CHECK_STATUS;
    if (node->type == RAD_TOML_STRING) {
        bool good =
            node->count == 3 && node->text[0] >= '1' && node->text[0] <= '5' && strcmp(node->text + 1, "xx") == 0;
        if (!good) rad__load_expected(r, node, "a status, [low, high] or \"2xx\"");
        c->low = good ? (uint64_t)(node->text[0] - '0') * 100 : 0;
        c->high = c->low + 99;
    } else if (node->type == RAD_TOML_ARRAY && node->count == 2) {
        rad_toml_node *low = rad__toml_first(node), *high = rad__toml_next(low);
        c->low = rad__load_as_whole(r, low, LOWEST, HIGHEST, LOWEST);
        c->high = rad__load_as_whole(r, high, LOWEST, HIGHEST, HIGHEST);
        if (c->low > c->high) rad__load_wrong(r, high, "[low, high]: high is less than low");
    } else if (node->type == RAD_TOML_INTEGER) {
        c->low = c->high = rad__load_as_whole(r, node, LOWEST, HIGHEST, LOWEST);
    } else {
        rad__load_expected(r, node, "a status, [low, high] or \"2xx\"");
    }
}

static void read_size(const rad__load_part *p, struct rad__load_check *c)
{
    c->of = RAD__LOAD_CHECK_SIZE;
    c->low = rad__load_get_whole(p, "min_bytes", 0, INT64_MAX, 0);
    c->high = rad__load_get_whole(p, "max_bytes", 0, INT64_MAX, INT64_MAX);
    if (c->low > c->high)
        rad__load_wrong(p->r, rad__load_find(p, "max_bytes"), "max_bytes: expected not less than min_bytes");
}

/* A string; for JSON also a number or a boolean, as JSON writes it. */
static const char *equals_of(const rad__load_part *p, bool json)
{
    rad__load_reading *r = p->r;
    const rad_toml_node *node = rad__load_find(p, "equals");
    char text[32];
    if (node == NULL || node->type == RAD_TOML_STRING) return rad__load_as_text(r, node, 0, TEXT_MOST, NULL);
    if (json && node->type == RAD_TOML_INTEGER) {
        snprintf(text, sizeof text, "%" PRId64, node->integer);
        return rad__load_keep(r, text);
    }
    if (json && node->type == RAD_TOML_BOOLEAN) return rad__load_keep(r, node->boolean ? "true" : "false");
    rad__load_expected(r, node, json ? "a string, an integer or a boolean" : "a string");
    return NULL;
}

/* Those that do not say their name are called by what they look at. */
static void name_check(rad__load_reading *r, struct rad__load_check *c)
{
    char text[120];
    if (c->of == RAD__LOAD_CHECK_STATUS && c->low == c->high)
        snprintf(text, sizeof text, "status %" PRIu64, c->low);
    else if (c->of == RAD__LOAD_CHECK_STATUS)
        snprintf(text, sizeof text, "status %" PRIu64 "-%" PRIu64, c->low, c->high);
    else if (c->of == RAD__LOAD_CHECK_SIZE && c->high == INT64_MAX)
        snprintf(text, sizeof text, "body of %" PRIu64 " bytes or more", c->low);
    else if (c->of == RAD__LOAD_CHECK_SIZE)
        snprintf(text, sizeof text, "body of %" PRIu64 "-%" PRIu64 " bytes", c->low, c->high);
    else if (c->of == RAD__LOAD_CHECK_CONTAINS)
        snprintf(text, sizeof text, "body contains '%.80s'", c->text);
    else
        snprintf(text, sizeof text, "%s %.40s%s%.50s", c->of == RAD__LOAD_CHECK_HEADER ? "header" : "json", c->where,
                 c->text != NULL ? " is " : "", c->text != NULL ? c->text : "");
    c->name = rad__load_keep(r, text);
}

static void read_check(const rad__load_part *p, struct rad__load_check *c)
{
    rad__load_reading *r = p->r;
    rad_toml_node *status = rad__load_find(p, "status"), *contains = rad__load_find(p, "body_contains"),
                  *header = rad__load_find(p, "header"), *json = rad__load_find(p, "json");
    bool size = rad__load_find(p, "min_bytes") != NULL || rad__load_find(p, "max_bytes") != NULL;
    int kinds = (status != NULL) + (contains != NULL) + (header != NULL) + (json != NULL) + size;
    if (kinds != 1) {
        rad__load_wrong(r, p->node,
                        "expected one of status, body_contains, header, json, or min_bytes and "
                        "max_bytes, found %d in checks",
                        kinds);
        return;
    }
    if (status != NULL) read_status(r, status, c);
    if (size) read_size(p, c);
    if (contains != NULL) {
        c->of = RAD__LOAD_CHECK_CONTAINS;
        c->text = rad__load_as_text(r, contains, 1, TEXT_MOST, "");
    }
    if (header != NULL || json != NULL) {
        c->of = header != NULL ? RAD__LOAD_CHECK_HEADER : RAD__LOAD_CHECK_JSON;
        c->where = where_of(r, header != NULL ? header : json, json != NULL);
        c->text = equals_of(p, json != NULL);
    } else if (rad__load_find(p, "equals") != NULL) {
        rad__load_wrong(r, rad__load_find(p, "equals"), "equals has no effect: expected it beside header or json");
    }
    c->name = rad__load_get_text(p, "name", 1, 200, NULL);
    if (c->name == NULL && !rad__load_bad(r)) name_check(r, c);
}

void rad__load_read_checks(const rad__load_part *p, struct rad__load_request *q)
{
    rad__load_reading *r = p->r;
    uint32_t count;
    rad_toml_node *array = rad__load_tables(p, "checks", RAD__LOAD_CHECKS_MAX, &count);
    struct rad__load_check *checks = rad__load_take(r, count, sizeof *checks);
    q->checks = checks;
    for (rad_toml_node *n = rad__toml_first(array); n != NULL && !rad__load_bad(r); n = rad__toml_next(n)) {
        rad__load_part check = rad__load_part_of(r, n, "requests.checks");
        if (!rad__load_bad(r)) read_check(&check, &checks[q->check_count++]);
    }
}

/* ---- Extraction ------------------------------------------------------------------------------------------ */

/* The number of a variable, an old one or a new one. */
static uint32_t variable_of(rad__load_reading *r, const rad_toml_node *node)
{
    const char *name = node->key->text;
    if (strlen(name) != node->key->length || !rad__load_is_name(name)) {
        rad__load_wrong(r, node, "'%.100s' is no name of a variable; expected letters, digits, _ and -", name);
        return 0;
    }
    for (uint32_t i = 0; i < r->s->variable_count; i++)
        if (strcmp(r->variables[i], name) == 0) return i;
    if (r->s->variable_count == RAD__LOAD_VARIABLES_MAX) {
        rad__load_wrong(r, node, "expected at most %d variables in all", RAD__LOAD_VARIABLES_MAX);
        return 0;
    }
    r->variables[r->s->variable_count] = rad__load_keep(r, name);
    return r->s->variable_count++;
}

static void read_extract(const rad__load_part *p, struct rad__load_extract *e)
{
    static const char *const SOURCES[] = {"header", "json", "cookie"};
    uint32_t found = 0;
    for (uint32_t i = 0; i < 3; i++) {
        const rad_toml_node *node = rad__load_find(p, SOURCES[i]);
        if (node == NULL) continue;
        found++;
        e->from = (enum rad__load_extract_from)i;
        e->where = where_of(p->r, node, i == RAD__LOAD_FROM_JSON);
    }
    if (found != 1)
        rad__load_wrong(p->r, p->node, "expected one of header, json and cookie, found %u in extract", found);
}

void rad__load_read_extracts(const rad__load_part *p, struct rad__load_request *q)
{
    rad__load_reading *r = p->r;
    rad_toml_node *table = rad__load_find(p, "extract");
    if (table == NULL) return;
    if (table->type != RAD_TOML_TABLE) {
        rad__load_expected(r, table, "a table of variables, such as {token = {json = \"/token\"}}");
        return;
    }
    struct rad__load_extract *extracts = rad__load_take(r, table->count, sizeof *extracts);
    q->extracts = extracts;
    for (rad_toml_node *n = rad__toml_first(table); n != NULL && !rad__load_bad(r); n = rad__toml_next(n)) {
        if (n->type != RAD_TOML_TABLE) {
            rad__load_expected(r, n, "a table with header, json or cookie");
            return;
        }
        rad__load_part part = rad__load_part_of(r, n, "requests.extract");
        struct rad__load_extract *e = &extracts[q->extract_count++];
        e->variable = variable_of(r, n);
        read_extract(&part, e);
    }
}
