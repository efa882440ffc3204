#include "toml_support.h"

#include <setjmp.h>

#include <cmocka.h>

#include "../../support/toml_json.h"

#include <stdio.h>
#include <string.h>

enum { LIMIT = 64 << 20 };

rad_toml toml_open(const char *text, size_t size)
{
    rad_toml doc;
    rad_error error = {0};
    if (rad__toml_parse(&doc, "t.toml", text, size, LIMIT, &error) != 0) fail_msg("refused: %s", error.text);
    return doc;
}

/* {"type": "integer", "value": "1"} becomes: integer 1 */
static void shorten(const char *json, size_t size, rad_bytes *out)
{
    static const char head[] = "{\"type\": \"", middle[] = "\", \"value\": \"";
    for (const char *at = json, *end = json + size; at < end;) {
        if (strncmp(at, head, strlen(head)) != 0) {
            rad__bytes_put(out, at++, 1);
            continue;
        }
        const char *type = at + strlen(head), *between = strstr(type, middle);
        const char *value = between + strlen(middle), *to = value;
        while (*to != '"') to += *to == '\\' ? 2 : 1;
        rad__bytes_format(out, "%.*s %.*s", (int)(between - type), type, (int)(to - value), value);
        at = to + 2; /* the quote and the brace */
    }
    rad__bytes_put(out, "", 1);
}

void toml_means_n(const char *text, size_t size, const char *meaning)
{
    rad_bytes json = {0}, brief = {0};
    rad_toml doc = toml_open(text, size);
    toml_put_json(doc.root, &json);
    rad__bytes_put(&json, "", 1);
    shorten((const char *)json.data, json.size - 1, &brief);
    assert_string_equal((const char *)brief.data, meaning);
    rad__bytes_free(&json);
    rad__bytes_free(&brief);
    rad__toml_free(&doc);
}

void toml_means(const char *text, const char *meaning)
{
    toml_means_n(text, strlen(text), meaning);
}

void toml_refused_n(const char *text, size_t size, const char *why)
{
    rad_toml doc;
    rad_error error = {0};
    char expected[600];
    snprintf(expected, sizeof expected, "t.toml:%s", why);
    if (rad__toml_parse(&doc, "t.toml", text, size, LIMIT, &error) == 0) fail_msg("accepted: %.*s", (int)size, text);
    assert_string_equal(error.text, expected);
    assert_int_equal(error.code, RAD_EINPUT);
    assert_true(doc.root == NULL && doc.arena.blocks == NULL);
}

void toml_refused(const char *text, const char *why)
{
    toml_refused_n(text, strlen(text), why);
}

bool toml_accepts(const char *text, size_t size)
{
    rad_toml doc;
    rad_error error = {0};
    unsigned line, column, lines = 1;
    if (rad__toml_parse(&doc, "t.toml", text, size, LIMIT, &error) == 0) {
        rad__toml_free(&doc);
        return true;
    }
    for (size_t i = 0; i < size; i++) lines += text[i] == '\n';
    assert_int_equal(error.code, RAD_EINPUT);
    assert_int_equal(sscanf(error.text, "t.toml:%u:%u: ", &line, &column), 2);
    assert_true(line >= 1 && line <= lines && column >= 1 && column <= size + 1);
    return false;
}
