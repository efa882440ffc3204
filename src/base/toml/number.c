/* number.c — integers and floats of TOML. An integer is exact or refused. A float is handed to strtod as digits
 * and an exponent, without a decimal point: which character that is depends on the locale of the process. */
#include "base/toml/parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint32_t digit_value(char c)
{
    if (c >= '0' && c <= '9') return (uint32_t)(c - '0');
    if (c >= 'a' && c <= 'f') return (uint32_t)(c - 'a' + 10);
    if (c >= 'A' && c <= 'F') return (uint32_t)(c - 'A' + 10);
    return 99;
}

static const char *digit_name(uint32_t base)
{
    return base == 10   ? "a digit"
           : base == 16 ? "a hexadecimal digit"
           : base == 8  ? "an octal digit"
                        : "a binary digit";
}

/* One digit at least; underscores stand between two digits only. */
static bool pass_digits(rad_toml_cursor *c, uint32_t base)
{
    for (;;) {
        if (digit_value(rad__toml_peek(c)) >= base) return rad__toml_unlike(c, digit_name(base));
        while (digit_value(rad__toml_peek(c)) < base) c->at++;
        if (rad__toml_peek(c) != '_') return true;
        c->at++;
    }
}

/* ---- Integers ------------------------------------------------------------------------------------------ */

static bool make_integer(rad_toml_cursor *c, size_t from, uint32_t base, bool negative, rad_toml_node *node)
{
    uint64_t value = 0, most = (uint64_t)INT64_MAX + negative;
    bool fits = true;
    for (size_t i = from; i < c->length && fits; i++)
        if (c->text[i] != '_')
            fits = !__builtin_mul_overflow(value, base, &value) &&
                   !__builtin_add_overflow(value, digit_value(c->text[i]), &value);
    if (!fits || value > most) {
        c->at = 0;
        return rad__toml_unlike(c, "an integer from -9223372036854775808 to 9223372036854775807");
    }
    node->type = RAD_TOML_INTEGER;
    node->integer = negative ? (int64_t)(0 - value) : (int64_t)value;
    return true;
}

/* Behind 0x, 0o or 0b. */
static bool read_based(rad_toml_cursor *c, uint32_t base, rad_toml_node *node)
{
    size_t from = c->at += 2;
    if (!pass_digits(c, base)) return false;
    if (c->at < c->length) return rad__toml_unlike(c, digit_name(base));
    return make_integer(c, from, base, false, node);
}

/* ---- Floats -------------------------------------------------------------------------------------------- */

static void put_digits(rad_bytes *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] >= '0' && text[i] <= '9') rad__bytes_put(out, text + i, 1);
}

/* The exponent behind e or E. What is far beyond any double is as good as what is farther. */
static bool read_exponent(rad_toml_cursor *c, int64_t *exponent)
{
    enum { FAR = 1000000000 };
    bool negative = rad__toml_peek(c) == '-';
    if (negative || rad__toml_peek(c) == '+') c->at++;
    size_t from = c->at;
    if (!pass_digits(c, 10)) return false;
    for (size_t i = from; i < c->at; i++)
        if (c->text[i] != '_' && *exponent < FAR) *exponent = *exponent * 10 + (int64_t)digit_value(c->text[i]);
    if (negative) *exponent = -*exponent;
    return true;
}

static bool make_float(rad_toml_cursor *c, bool negative, rad_toml_node *node)
{
    double value = strtod((const char *)c->scan->scratch.data, NULL);
    if (!isfinite(value)) {
        c->at = 0;
        return rad__toml_unlike(c, "a float up to 1.7976931348623157e308");
    }
    node->type = RAD_TOML_FLOAT;
    node->number = negative ? -value : value;
    return true;
}

/* The digits before the point, which begin at `from`, were passed. */
static bool read_float(rad_toml_cursor *c, size_t from, bool negative, rad_toml_node *node)
{
    rad_bytes *out = &c->scan->scratch;
    int64_t exponent = 0;
    out->size = 0;
    put_digits(out, c->text + from, c->at - from);
    uint32_t whole = out->size;
    if (rad__toml_peek(c) == '.') {
        from = ++c->at;
        if (!pass_digits(c, 10)) return false;
        put_digits(out, c->text + from, c->at - from);
    }
    uint32_t fraction = out->size - whole;
    if (rad__toml_peek(c) == 'e' || rad__toml_peek(c) == 'E') {
        c->at++;
        if (!read_exponent(c, &exponent)) return false;
    }
    if (c->at < c->length) return rad__toml_unlike(c, "the end of the number");
    rad__bytes_format(out, "e%" PRId64, exponent - (int64_t)fraction);
    if (out->failed) return rad__toml_scan_memory(c->scan);
    return make_float(c, negative, node);
}

static bool read_special(rad_toml_cursor *c, bool negative, rad_toml_node *node)
{
    bool infinite = c->length - c->at == 3 && memcmp(c->text + c->at, "inf", 3) == 0;
    bool none = c->length - c->at == 3 && memcmp(c->text + c->at, "nan", 3) == 0;
    if (!infinite && !none) return rad__toml_unlike(c, "a number");
    double value = infinite ? (double)INFINITY : (double)NAN;
    node->type = RAD_TOML_FLOAT;
    node->number = negative ? -value : value;
    return true;
}

/* ---- Both ---------------------------------------------------------------------------------------------- */

static bool read_decimal(rad_toml_cursor *c, bool negative, rad_toml_node *node)
{
    size_t from = c->at;
    if (!pass_digits(c, 10)) return false;
    if (c->text[from] == '0' && c->at > from + 1) {
        c->at = from + 1;
        return rad__toml_unlike(c, "no digit after a leading 0");
    }
    if (c->at == c->length) return make_integer(c, from, 10, negative, node);
    char next = rad__toml_peek(c);
    if (next == '.' || next == 'e' || next == 'E') return read_float(c, from, negative, node);
    return rad__toml_unlike(c, "the end of the number");
}

static bool read_number(rad_toml_cursor *c, rad_toml_node *node)
{
    bool negative = rad__toml_peek(c) == '-', has_sign = negative || rad__toml_peek(c) == '+';
    if (has_sign) c->at++;
    char first = rad__toml_peek(c), second = c->at + 1 < c->length ? c->text[c->at + 1] : 0;
    if (first == 'i' || first == 'n') return read_special(c, negative, node);
    uint32_t base = second == 'x' ? 16 : second == 'o' ? 8 : second == 'b' ? 2 : 10;
    if (first != '0' || base == 10) return read_decimal(c, negative, node);
    if (has_sign) return rad__toml_unlike(c, "a decimal number after the sign");
    return read_based(c, base, node);
}

bool rad__toml_scan_number(rad_toml_scan *s, size_t length, rad_toml_node *node)
{
    rad_toml_cursor c = {s, s->at, length, 0};
    if (!read_number(&c, node)) return false;
    s->at += length;
    return true;
}
