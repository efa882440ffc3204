/* json_pull.c — the pieces of a JSON document: see json_pull.h. */
#include "base/json_pull.h"

#include "base/error.h"
#include "base/text.h"
#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

/* What may come next. */
enum state {
    VALUE,        /* a value */
    VALUE_OR_END, /* after '[' */
    KEY_OR_END,   /* after '{' */
    KEY,          /* after ',' in an object */
    COMMA_OR_END, /* after a value in an array or object */
    NOTHING,      /* after the document */
    WRONG
};

rad_json_pull rad__json_pull(const void *data, size_t size)
{
    const char *text = size ? data : "";
    return (rad_json_pull){.begin = text, .at = text, .end = text + size, .state = VALUE};
}

static enum rad_json_kind wrong(rad_json_pull *j, const char *expected)
{
    j->state = WRONG;
    j->expected = expected;
    return RAD_JSON_WRONG;
}

static bool fails(rad_json_pull *j, const char *expected)
{
    wrong(j, expected);
    return false;
}

static void found_text(const rad_json_pull *j, char *text, size_t size)
{
    unsigned char c = j->at < j->end ? (unsigned char)*j->at : 0;
    if (j->at == j->end)
        snprintf(text, size, "the end");
    else if (c < ' ' || c > '~')
        snprintf(text, size, "the byte 0x%02x", c);
    else
        snprintf(text, size, "'%c'", c);
}

int rad__json_error(const rad_json_pull *j, rad_error *error)
{
    char found[32];
    RAD_ASSERT(j->state == WRONG);
    found_text(j, found, sizeof found);
    return rad__error(error, RAD_EINPUT, "byte %zu: expected %s, found %s", (size_t)(j->at - j->begin), j->expected,
                      found);
}

static char peek(const rad_json_pull *j)
{
    return j->at < j->end ? *j->at : 0;
}

static bool in_object(const rad_json_pull *j)
{
    uint32_t level = j->depth - 1;
    return j->is_object[level / 64] >> (level % 64) & 1;
}

/* ---- Strings ------------------------------------------------------------------------------------------- */

static int hex_value(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* Four digits, which are passed; -1 when they are not there, and `at` is at what is no digit. */
static int32_t pass_unit(rad_json_pull *j)
{
    int32_t unit = 0;
    for (int i = 0; i < 4; i++, j->at++) {
        int value = hex_value(peek(j));
        if (value < 0) return -1;
        unit = unit << 4 | value;
    }
    return unit;
}

/* Behind \u. */
static bool pass_code_point(rad_json_pull *j)
{
    static const char digits[] = "4 hexadecimal digits", pair[] = "the second half of a surrogate pair";
    const char *from = j->at;
    int32_t unit = pass_unit(j);
    if (unit < 0) return fails(j, digits);
    if (unit < 0xd800 || unit > 0xdfff) return true;
    if (unit >= 0xdc00) {
        j->at = from;
        return fails(j, "no second half of a surrogate pair");
    }
    from = j->at;
    if (j->end - j->at < 2 || j->at[0] != '\\' || j->at[1] != 'u') return fails(j, pair);
    j->at += 2;
    unit = pass_unit(j);
    if (unit < 0) return fails(j, digits);
    if (unit >= 0xdc00 && unit <= 0xdfff) return true;
    j->at = from;
    return fails(j, pair);
}

static bool pass_escape(rad_json_pull *j)
{
    j->at++;
    char c = peek(j);
    if (c == 0 || strchr("\"\\/bfnrtu", c) == NULL) return fails(j, "one of \" \\ / b f n r t u after the backslash");
    j->at++;
    return c != 'u' || pass_code_point(j);
}

/* At the quote; passes the other. */
static bool pass_string(rad_json_pull *j)
{
    for (j->at++; j->at < j->end;) {
        unsigned char c = (unsigned char)*j->at;
        if (c == '"') {
            j->at++;
            return true;
        }
        if (c < 0x20) return fails(j, "no control character in a string");
        if (c == '\\') {
            if (!pass_escape(j)) return false;
            continue;
        }
        size_t size = rad__utf8_size(j->at, (size_t)(j->end - j->at));
        if (size == 0) return fails(j, "UTF-8");
        j->at += size;
    }
    return fails(j, "'\"' at the end of the string");
}

/* ---- Other values -------------------------------------------------------------------------------------- */

static bool pass_digits(rad_json_pull *j)
{
    if (!rad__is_digit(peek(j))) return fails(j, "a digit");
    while (rad__is_digit(peek(j))) j->at++;
    return true;
}

static bool pass_number(rad_json_pull *j)
{
    if (peek(j) == '-') j->at++;
    if (peek(j) == '0')
        j->at++; /* and no digit: whatever follows has to be a comma or an end */
    else if (!pass_digits(j))
        return false;
    if (peek(j) == '.') {
        j->at++;
        if (!pass_digits(j)) return false;
    }
    if (peek(j) != 'e' && peek(j) != 'E') return true;
    j->at++;
    if (peek(j) == '+' || peek(j) == '-') j->at++;
    return pass_digits(j);
}

static enum rad_json_kind pass_word(rad_json_pull *j, const char *word, enum rad_json_kind kind)
{
    size_t length = strlen(word);
    if ((size_t)(j->end - j->at) < length || memcmp(j->at, word, length) != 0) return wrong(j, "a value");
    j->at += length;
    return kind;
}

static enum rad_json_kind open_level(rad_json_pull *j, bool is_object)
{
    if (j->depth == RAD_JSON_DEPTH_MAX) return wrong(j, "at most 512 arrays and objects in each other");
    uint64_t bit = UINT64_C(1) << (j->depth % 64), *word = &j->is_object[j->depth / 64];
    *word = is_object ? *word | bit : *word & ~bit;
    j->depth++;
    j->at++;
    j->state = is_object ? KEY_OR_END : VALUE_OR_END;
    return is_object ? RAD_JSON_OBJECT : RAD_JSON_ARRAY;
}

static void after_value(rad_json_pull *j)
{
    if (j->state != WRONG) j->state = j->depth ? COMMA_OR_END : NOTHING;
}

static enum rad_json_kind close_level(rad_json_pull *j)
{
    bool object = in_object(j);
    j->at++;
    j->depth--;
    after_value(j);
    return object ? RAD_JSON_OBJECT_END : RAD_JSON_ARRAY_END;
}

static enum rad_json_kind pass_scalar(rad_json_pull *j)
{
    char c = peek(j);
    if (c == '"') return pass_string(j) ? RAD_JSON_STRING : RAD_JSON_WRONG;
    if (c == '-' || rad__is_digit(c)) return pass_number(j) ? RAD_JSON_NUMBER : RAD_JSON_WRONG;
    if (c == 't') return pass_word(j, "true", RAD_JSON_TRUE);
    if (c == 'f') return pass_word(j, "false", RAD_JSON_FALSE);
    return pass_word(j, "null", RAD_JSON_NULL);
}

static enum rad_json_kind pass_value(rad_json_pull *j)
{
    j->from = j->at;
    if (peek(j) == '[' || peek(j) == '{') return open_level(j, peek(j) == '{');
    enum rad_json_kind kind = pass_scalar(j);
    after_value(j);
    return kind;
}

/* ---- Pieces -------------------------------------------------------------------------------------------- */

static void pass_blanks(rad_json_pull *j)
{
    while (j->at < j->end && (*j->at == ' ' || *j->at == '\n' || *j->at == '\t' || *j->at == '\r')) j->at++;
}

/* `at` stays behind the key's quote, so that the key can be read; the colon is passed with the value. */
static enum rad_json_kind pass_key(rad_json_pull *j)
{
    j->from = j->at;
    if (peek(j) != '"') return wrong(j, j->state == KEY ? "a key" : "a key or '}'");
    if (!pass_string(j)) return RAD_JSON_WRONG;
    j->state = VALUE;
    return RAD_JSON_KEY;
}

/* Before the value of a key. */
static bool pass_colon(rad_json_pull *j)
{
    pass_blanks(j);
    if (peek(j) != ':') return fails(j, "':' after a key");
    j->at++;
    pass_blanks(j);
    return true;
}

enum rad_json_kind rad__json_next(rad_json_pull *j)
{
    if (j->state == WRONG) return RAD_JSON_WRONG;
    bool has_key = j->state == VALUE && j->depth > 0 && in_object(j);
    if (has_key && !pass_colon(j)) return RAD_JSON_WRONG;
    pass_blanks(j);
    char c = peek(j);
    switch (j->state) {
    case COMMA_OR_END:
        if (c == (in_object(j) ? '}' : ']')) return close_level(j);
        if (c != ',') return wrong(j, in_object(j) ? "',' or '}'" : "',' or ']'");
        j->at++;
        pass_blanks(j);
        if (!in_object(j)) return pass_value(j);
        j->state = KEY;
        return pass_key(j);
    case VALUE_OR_END: return c == ']' ? close_level(j) : pass_value(j);
    case KEY_OR_END: return c == '}' ? close_level(j) : pass_key(j);
    case NOTHING: return j->at == j->end ? RAD_JSON_NONE : wrong(j, "the end of the document");
    default: return pass_value(j);
    }
}
