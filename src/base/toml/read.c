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

int rad__toml_read_boolean(const rad_toml *doc, rad_toml_node *table, const char *key, bool *value, rad_error *error)
{
    rad_toml_node *node = rad__toml_get(table, key);
    if (node == NULL) return 0;
    if (node->type != RAD_TOML_BOOLEAN) return refuse(doc, node, "true or false", error);
    *value = node->boolean;
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

/* ---- What nobody asked for ----------------------------------------------------------------------------- */

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
