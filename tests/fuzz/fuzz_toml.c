/* fuzz_toml.c — any bytes as a TOML file: an error that says where, or a tree. A tree is written as TOML in another
 * way, all of it in inline tables, and read again: it has to be the same tree. Its JSON has to be JSON. */
#include "base/alloc.h"
#include "base/toml/parts.h"

#include "../support/toml_json.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LIMIT = 1 << 20 };

static void require(bool condition)
{
    if (!condition) abort();
}

/* ---- Places -------------------------------------------------------------------------------------------- */

static bool zero_in_key; /* Jansson takes no such keys */

/* Members have keys, elements have none; all are found, and stand one after the other. */
static void check_tree(rad_toml_node *node)
{
    uint32_t count = 0;
    if (node->type != RAD_TOML_TABLE && node->type != RAD_TOML_ARRAY) return;
    for (rad_toml_node *n = rad__toml_first(node); n != NULL; n = rad__toml_next(n), count++) {
        require((n->key != NULL) == (node->type == RAD_TOML_TABLE));
        require(n->line >= 1 && n->column >= 1 && n->used);
        if (n->key != NULL) {
            require(rad__toml_table_find(node, n->key->text, n->key->length) == n);
            zero_in_key |= strlen(n->key->text) < n->key->length;
        }
        check_tree(n);
    }
    require(count == node->count);
}

/* The error begins with the name and a place inside the text. */
static void check_error(const rad_error *error, const uint8_t *data, size_t size)
{
    unsigned line, column, lines = 1;
    for (size_t i = 0; i < size; i++) lines += data[i] == '\n';
    require(error->code == RAD_EINPUT);
    require(sscanf(error->text, "input:%u:%u: ", &line, &column) == 2);
    require(line >= 1 && line <= lines && column >= 1 && column <= size + 1);
    require(strlen(error->text) < sizeof error->text - 1);
}

/* ---- Writing TOML -------------------------------------------------------------------------------------- */

static void put(rad_bytes *out, const char *text)
{
    rad__bytes_put(out, text, strlen(text));
}

static void put_string(rad_bytes *out, const char *text, size_t length)
{
    put(out, "\"");
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c < 0x20 || c == 0x7f || c == '"' || c == '\\')
            rad__bytes_format(out, "\\u%04X", c);
        else
            rad__bytes_put(out, text + i, 1);
    }
    put(out, "\"");
}

/* Numbers and dates in JSON are as they are in TOML. */
static void put_plain(rad_bytes *out, const rad_toml_node *node)
{
    rad_bytes json = {0};
    toml_put_json(node, &json);
    rad__bytes_put(&json, "", 1);
    require(!json.failed);
    const char *value = strstr((char *)json.data, "\"value\": \"") + strlen("\"value\": \"");
    rad__bytes_put(out, value, strcspn(value, "\""));
    rad__bytes_free(&json);
}

static void put_value(rad_bytes *out, const rad_toml_node *node);

static void put_children(rad_bytes *out, const rad_toml_node *node, const char *between)
{
    for (const rad_toml_node *n = node->children->first; n != NULL; n = n->next) {
        if (n->key != NULL) {
            put_string(out, n->key->text, n->key->length);
            put(out, "=");
        }
        put_value(out, n);
        if (n->next != NULL) put(out, between);
    }
}

static void put_value(rad_bytes *out, const rad_toml_node *node)
{
    bool is_table = node->type == RAD_TOML_TABLE;
    if (node->type == RAD_TOML_STRING) {
        put_string(out, node->text, node->count);
    } else if (is_table || node->type == RAD_TOML_ARRAY) {
        put(out, is_table ? "{" : "[");
        put_children(out, node, ",");
        put(out, is_table ? "}" : "]");
    } else {
        put_plain(out, node);
    }
}

/* ---- Both ---------------------------------------------------------------------------------------------- */

static rad_bytes json_of(const rad_toml_node *root)
{
    rad_bytes json = {0};
    toml_put_json(root, &json);
    require(!json.failed);
    return json;
}

static void check_again(const rad_toml *doc)
{
    rad_bytes text = {0}, json = json_of(doc->root);
    rad_error error = {0};
    rad_toml again;
    put_children(&text, doc->root, "\n");
    put(&text, "\n");
    require(!text.failed && text.size < RAD_TOML_SIZE_MAX);
    require(rad__toml_parse(&again, "again", (char *)text.data, text.size, RAD_TOML_SIZE_MAX, &error) == 0);
    rad_bytes json_again = json_of(again.root);
    require(json.size == json_again.size && memcmp(json.data, json_again.data, json.size) == 0);
    json_t *value = json_loadb((char *)json.data, json.size, JSON_ALLOW_NUL, NULL);
    if (!zero_in_key) require(value != NULL && json_object_size(value) == doc->root->count);
    json_decref(value);
    rad__toml_free(&again);
    rad__bytes_free(&text);
    rad__bytes_free(&json);
    rad__bytes_free(&json_again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    rad_error error = {0};
    rad_toml doc;
    if (size > LIMIT) return 0;
    if (rad__toml_parse(&doc, "input", (const char *)data, size, LIMIT, &error) != 0) {
        check_error(&error, data, size);
        return 0;
    }
    zero_in_key = false;
    check_tree(doc.root);
    check_again(&doc);
    rad__toml_free(&doc);
    return 0;
}
