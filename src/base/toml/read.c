/* read.c — what a reader of a TOML tree asks for, and what it is told when something else stands there. */
#include "base/toml/toml.h"

#include "base/error.h"
#include "base/toml/parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- Looking around ------------------------------------------------------------------------------------ */

static rad_toml_node *use(rad_toml_node *node)
{
    if (node != NULL) node->used = true;
    return node;
}

rad_toml_node *rad__toml_get(rad_toml_node *table, const char *key)
{
    if (table == NULL || table->type != RAD_TOML_TABLE) return NULL;
    return use(rad__toml_table_find(table, key, strlen(key)));
}

static bool has_children(const rad_toml_node *node)
{
    return node->type == RAD_TOML_TABLE || node->type == RAD_TOML_ARRAY;
}

rad_toml_node *rad__toml_first(rad_toml_node *table_or_array)
{
    if (table_or_array == NULL || !has_children(table_or_array)) return NULL;
    return use(table_or_array->children->first);
}

rad_toml_node *rad__toml_next(rad_toml_node *node)
{
    return use(node->next);
}

static const char *const TYPE_NAMES[] = {
    [RAD_TOML_STRING] = "a string",
    [RAD_TOML_INTEGER] = "an integer",
    [RAD_TOML_FLOAT] = "a float",
    [RAD_TOML_BOOLEAN] = "a boolean",
    [RAD_TOML_OFFSET_DATE_TIME] = "a date and time with offset",
    [RAD_TOML_LOCAL_DATE_TIME] = "a local date and time",
    [RAD_TOML_LOCAL_DATE] = "a local date",
    [RAD_TOML_LOCAL_TIME] = "a local time",
    [RAD_TOML_ARRAY] = "an array",
    [RAD_TOML_TABLE] = "a table",
};

const char *rad__toml_type_name(const rad_toml_node *node)
{
    return TYPE_NAMES[node->type];
}

/* ---- Errors -------------------------------------------------------------------------------------------- */

static int error_at(const rad_toml *doc, rad_toml_place at, rad_error *error, const char *text)
{
    return rad__error(error, RAD_EINPUT, "%s:%u:%u: %s", doc->file_name, at.line, at.column, text);
}

int rad__toml_error(const rad_toml *doc, const rad_toml_node *at, rad_error *error, const char *format, ...)
{
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return error_at(doc, (rad_toml_place){at->line, at->column}, error, text);
}

/* A scalar as it could be written, short; others by their type. */
static void value_text(const rad_toml_node *node, char *text, size_t size)
{
    char quoted[RAD_TOML_KEY_TEXT];
    switch (node->type) {
    case RAD_TOML_INTEGER: snprintf(text, size, "%" PRId64, node->integer); break;
    case RAD_TOML_BOOLEAN: snprintf(text, size, "%s", node->boolean ? "true" : "false"); break;
    case RAD_TOML_STRING:
        snprintf(text, size, "the string '%s'", rad__toml_key_text(node->text, node->count, quoted));
        break;
    default: snprintf(text, size, "%s", rad__toml_type_name(node));
    }
}

static int refuse(const rad_toml *doc, const rad_toml_node *node, const char *expected, rad_error *error)
{
    char found[RAD_TOML_KEY_TEXT + 20], key[RAD_TOML_KEY_TEXT];
    value_text(node, found, sizeof found);
    if (node->key == NULL) return rad__toml_error(doc, node, error, "expected %s, found %s", expected, found);
    rad__toml_key_text(node->key->text, node->key->length, key);
    return rad__toml_error(doc, node, error, "%s: expected %s, found %s", key, expected, found);
}

int rad__toml_expected(const rad_toml *doc, const rad_toml_node *at, const char *expected, rad_error *error)
{
    return refuse(doc, at, expected, error);
}

/* ---- Reading ------------------------------------------------------------------------------------------- */

int rad__toml_read_integer(const rad_toml *doc, rad_toml_node *table, const char *key, int64_t least, int64_t most,
                           int64_t *value, rad_error *error)
{
    rad_toml_node *node = rad__toml_get(table, key);
    if (node == NULL) return 0;
    if (node->type == RAD_TOML_INTEGER && node->integer >= least && node->integer <= most) {
        *value = node->integer;
        return 0;
    }
    char expected[80];
    snprintf(expected, sizeof expected, "an integer from %" PRId64 " to %" PRId64, least, most);
    return refuse(doc, node, expected, error);
}

int rad__toml_read_boolean(const rad_toml *doc, rad_toml_node *table, const char *key, bool *value, rad_error *error)
{
    rad_toml_node *node = rad__toml_get(table, key);
    if (node == NULL) return 0;
    if (node->type != RAD_TOML_BOOLEAN) return refuse(doc, node, "true or false", error);
    *value = node->boolean;
    return 0;
}

int rad__toml_read_number(const rad_toml *doc, rad_toml_node *table, const char *key, double *value, rad_error *error)
{
    rad_toml_node *node = rad__toml_get(table, key);
    if (node == NULL) return 0;
    if (node->type == RAD_TOML_INTEGER)
        *value = (double)node->integer;
    else if (node->type == RAD_TOML_FLOAT && node->number - node->number == 0) /* neither inf nor nan */
        *value = node->number;
    else
        return refuse(doc, node, "a number", error);
    return 0;
}

int rad__toml_read_text(const rad_toml *doc, rad_toml_node *table, const char *key, const char **value,
                        rad_error *error)
{
    rad_toml_node *node = rad__toml_get(table, key);
    if (node == NULL) return 0;
    if (node->type != RAD_TOML_STRING) return refuse(doc, node, "a string", error);
    if (strlen(node->text) != node->count) return refuse(doc, node, "a string without the character U+0000", error);
    *value = node->text;
    return 0;
}

static void list_words(const char *const *words, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (size_t i = 0; words[i] != NULL && used < size; i++) {
        const char *before = i == 0 ? "" : words[i + 1] ? ", " : " or ";
        used += (size_t)snprintf(text + used, size - used, "%s\"%s\"", before, words[i]);
    }
}

int rad__toml_read_word(const rad_toml *doc, rad_toml_node *table, const char *key, const char *const *words,
                        uint32_t *value, rad_error *error)
{
    rad_toml_node *node = rad__toml_get(table, key);
    if (node == NULL) return 0;
    for (uint32_t i = 0; node->type == RAD_TOML_STRING && words[i] != NULL; i++) {
        if (strlen(words[i]) != node->count || memcmp(words[i], node->text, node->count) != 0) continue;
        *value = i;
        return 0;
    }
    char expected[200];
    list_words(words, expected, sizeof expected);
    return refuse(doc, node, expected, error);
}

int rad__toml_read_table(const rad_toml *doc, rad_toml_node *table, const char *key, rad_toml_node **value,
                         rad_error *error)
{
    rad_toml_node *node = rad__toml_get(table, key);
    if (node == NULL) return 0;
    if (node->type != RAD_TOML_TABLE) return refuse(doc, node, "a table", error);
    *value = node;
    return 0;
}

int rad__toml_read_array(const rad_toml *doc, rad_toml_node *table, const char *key, enum rad_toml_type type,
                         rad_toml_node **value, rad_error *error)
{
    rad_toml_node *node = rad__toml_get(table, key);
    if (node == NULL) return 0;
    if (node->type != RAD_TOML_ARRAY) return refuse(doc, node, "an array", error);
    for (const rad_toml_node *n = node->children->first; n != NULL; n = n->next)
        if (n->type != type) return refuse(doc, n, TYPE_NAMES[type], error);
    *value = node;
    return 0;
}

rad_toml_node *rad__toml_require(const rad_toml *doc, rad_toml_node *table, const char *key, rad_error *error)
{
    char name[RAD_TOML_KEY_TEXT];
    rad_toml_node *node = rad__toml_get(table, key);
    if (node != NULL) return node;
    if (table == doc->root)
        rad__toml_error(doc, table, error, "expected a key '%s', found none in the file", key);
    else if (table->key == NULL)
        rad__toml_error(doc, table, error, "expected a key '%s', found none in the table", key);
    else
        rad__toml_error(doc, table, error, "expected a key '%s', found none in %s", key,
                        rad__toml_key_text(table->key->text, table->key->length, name));
    return NULL;
}

/* ---- What nobody asked for ----------------------------------------------------------------------------- */

enum { NAME_MOST = 48 };

/* Insertions, deletions and replacements that turn one into the other. */
static uint32_t edit_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    uint32_t row[NAME_MOST + 1];
    if (a_length > NAME_MOST || b_length > NAME_MOST) return UINT32_MAX;
    for (uint32_t k = 0; k <= b_length; k++) row[k] = k;
    for (uint32_t i = 1; i <= a_length; i++) {
        uint32_t diagonal = row[0];
        row[0] = i;
        for (uint32_t k = 1; k <= b_length; k++) {
            uint32_t best = diagonal + (a[i - 1] != b[k - 1]);
            best = row[k] + 1 < best ? row[k] + 1 : best;
            best = row[k - 1] + 1 < best ? row[k - 1] + 1 : best;
            diagonal = row[k];
            row[k] = best;
        }
    }
    return row[b_length];
}

const char *rad__toml_nearest(const char *text, size_t length, const char *const *known)
{
    const char *best = NULL;
    uint32_t size = length < NAME_MOST ? (uint32_t)length : NAME_MOST;
    uint32_t least = (size < 6 ? 2 : size / 3) + 1;
    if (least > size) least = size;
    for (; known != NULL && *known != NULL; known++) {
        uint32_t distance = edit_distance(text, length, *known, strlen(*known));
        if (distance >= least) continue;
        least = distance;
        best = *known;
    }
    return best;
}

int rad__toml_check_keys(const rad_toml *doc, const rad_toml_node *table, const char *const *known, rad_error *error)
{
    if (table == NULL || table->type != RAD_TOML_TABLE) return 0;
    const rad_toml_node *node = table->children->first;
    while (node != NULL && node->used) node = node->next;
    if (node == NULL) return 0;
    char text[2 * RAD_TOML_KEY_TEXT + 60], key[RAD_TOML_KEY_TEXT];
    const char *near = rad__toml_nearest(node->key->text, node->key->length, known);
    rad__toml_key_text(node->key->text, node->key->length, key);
    if (near != NULL)
        snprintf(text, sizeof text, "unknown key '%s'; did you mean '%.*s'?", key, NAME_MOST, near);
    else
        snprintf(text, sizeof text, "unknown key '%s'", key);
    return error_at(doc, (rad_toml_place){node->key->line, node->key->column}, error, text);
}

const rad_toml_node *rad__toml_unused(const rad_toml_node *node)
{
    if (!has_children(node)) return NULL;
    for (const rad_toml_node *n = node->children->first; n != NULL; n = n->next) {
        if (n->key != NULL && !n->used) return n;
        const rad_toml_node *below = rad__toml_unused(n);
        if (below != NULL) return below;
    }
    return NULL;
}

void rad__toml_use_all(rad_toml_node *node)
{
    node->used = true;
    if (!has_children(node)) return;
    for (rad_toml_node *n = node->children->first; n != NULL; n = n->next) rad__toml_use_all(n);
}
