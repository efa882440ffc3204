/* table.c — tables and arrays while they grow, and how a key is found in a table.
 *
 * Members are a list in the order of the file. Beside it they form a tree that branches where keys differ (Morrison's
 * PATRICIA): every member but the first is also an inner node, which says at which bit to go left or right. A member is
 * an inner node when one comes to it from a smaller bit, and a leaf otherwise.
 *
 * A look-up follows at most nine bits for each byte of the key, whatever keys there are. So all look-ups of a file take
 * time in proportion to its size, and no choice of keys changes that. A hash table was rejected: without a secret from
 * outside, which would have to be drawn, whoever writes the file can choose keys that collide. */
#include "base/toml/parts.h"

#include <stdio.h>
#include <string.h>

/* ---- Bits ---------------------------------------------------------------------------------------------- */

/* Byte i of a key has the bits 16 i + 1 (is there such a byte) and 16 i + 2 … 16 i + 9 (the byte, highest bit first).
 * 0 is the bit of the first member, which is no inner node. */
static uint32_t bit_at(const char *text, size_t length, uint32_t bit)
{
    size_t byte = (bit - 1) >> 4;
    uint32_t place = (bit - 1) & 15;
    if (byte >= length) return 0;
    return place == 0 ? 1 : (uint32_t)(unsigned char)text[byte] >> (8 - place) & 1;
}

/* The first bit that differs; 0 when none does. */
static uint32_t first_difference(const rad_toml_key *key, const char *text, size_t length)
{
    size_t shorter = key->length < length ? key->length : length, i = 0;
    while (i < shorter && key->text[i] == text[i]) i++;
    if (i == key->length && i == length) return 0;
    if (i == shorter) return (uint32_t)(i << 4) + 1;
    uint32_t differ = (unsigned char)(key->text[i] ^ text[i]);
    return (uint32_t)(i << 4) + 2 + (uint32_t)__builtin_clz(differ) - 24;
}

/* ---- Look-up ------------------------------------------------------------------------------------------- */

/* The member that is the key, if any is; NULL in an empty table. */
static rad_toml_node *nearest(const rad_toml_node *table, const char *text, size_t length)
{
    rad_toml_node *n = table->children->index;
    for (uint32_t bit = 0; n != NULL && n->key->bit > bit;) {
        bit = n->key->bit;
        n = n->key->side[bit_at(text, length, bit)];
    }
    return n;
}

rad_toml_node *rad__toml_table_find(const rad_toml_node *table, const char *text, size_t length)
{
    rad_toml_node *n = nearest(table, text, length);
    return n != NULL && first_difference(n->key, text, length) == 0 ? n : NULL;
}

static void index_add(rad_toml_node *table, rad_toml_node *added)
{
    rad_toml_key *key = added->key;
    rad_toml_node *near = nearest(table, key->text, key->length), **link = &table->children->index;
    if (near != NULL) {
        key->bit = first_difference(near->key, key->text, key->length);
        RAD_ASSERT(key->bit != 0);
        for (uint32_t bit = 0; (*link)->key->bit > bit && (*link)->key->bit < key->bit;) {
            bit = (*link)->key->bit;
            link = &(*link)->key->side[bit_at(key->text, key->length, bit)];
        }
        uint32_t own = bit_at(key->text, key->length, key->bit);
        key->side[own] = added;
        key->side[!own] = *link;
    }
    *link = added;
}

/* ---- Growing ------------------------------------------------------------------------------------------- */

static rad_toml_node *append(rad_arena *arena, rad_toml_node *parent)
{
    rad_toml_node *node = rad__arena_take(arena, 1, sizeof *node);
    if (node == NULL) return NULL;
    rad_toml_children *c = parent->children;
    node->depth = (uint8_t)(parent->depth + 1);
    *(c->last ? &c->last->next : &c->first) = node;
    c->last = node;
    parent->count++;
    return node;
}

rad_toml_node *rad__toml_array_add(rad_arena *arena, rad_toml_node *array)
{
    return append(arena, array);
}

rad_toml_node *rad__toml_table_add(rad_arena *arena, rad_toml_node *table, const rad_toml_slice *slice)
{
    rad_toml_key *key = rad__arena_take(arena, 1, sizeof *key);
    char *text = rad__arena_text(arena, slice->text, slice->length);
    if (key == NULL || text == NULL) return NULL;
    key->text = text;
    key->length = (uint32_t)slice->length;
    key->line = slice->place.line;
    key->column = slice->place.column;
    rad_toml_node *node = append(arena, table);
    if (node == NULL) return NULL;
    node->key = key;
    index_add(table, node);
    return node;
}

/* ---- For people ---------------------------------------------------------------------------------------- */

/* A character at `from` as it is written between quotes; returns where the next begins. */
static size_t quote_character(const char *key, size_t length, size_t from, char out[8])
{
    unsigned char c = (unsigned char)key[from];
    size_t to = from + 1;
    while (to < length && ((unsigned char)key[to] & 0xc0) == 0x80) to++;
    if (c < 0x20 || c == 0x7f)
        snprintf(out, 8, "\\u%04X", c);
    else
        snprintf(out, 8, "%s%.*s", c == '"' || c == '\\' ? "\\" : "", (int)(to - from), key + from);
    return to;
}

const char *rad__toml_key_text(const char *key, size_t length, char text[RAD_TOML_KEY_TEXT])
{
    enum { ENDING = 5, ONE = 8 }; /* "…" with its quote and zero; the longest character */
    bool bare = length > 0;
    for (size_t i = 0; i < length; i++) bare &= rad__toml_is_bare(key[i]);
    size_t used = 0, at = 0;
    const char *quote = bare ? "" : "\"";
    used += (size_t)snprintf(text, RAD_TOML_KEY_TEXT, "%s", quote);
    while (at < length && used + ONE + ENDING < RAD_TOML_KEY_TEXT) {
        char one[ONE];
        at = quote_character(key, length, at, one);
        used += (size_t)snprintf(text + used, RAD_TOML_KEY_TEXT - used, "%s", one);
    }
    snprintf(text + used, RAD_TOML_KEY_TEXT - used, "%s%s", at < length ? "…" : "", quote);
    return text;
}
