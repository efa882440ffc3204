/* read_value.c — numbers, times and texts of a scenario, as integers that are exact or an error.
 *
 * A float of TOML is a double. One that was written with at most k decimals is n / 10^k for one integer n, and below
 * 10^15 no other such n gives the same double: division of two integers that are exact is rounded once, like the
 * reading of the text was. So dividing again tells whether the text had more decimals than that, and nothing is lost.
 * Keeping the text of each float in the tree would tell the same at the cost of the memory. */
#include "base/error.h"
#include "base/text.h"
#include "load/scenario/read.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- Memory --------------------------------------------------------------------------------------------- */

void *rad__load_take(rad__load_reading *r, size_t count, size_t size)
{
    void *p = rad__arena_take(&r->s->arena, count > 0 ? count : 1, size);
    if (p == NULL) rad__error_memory(&r->error);
    return p;
}

const char *rad__load_keep(rad__load_reading *r, const char *text)
{
    const char *kept = rad__arena_text(&r->s->arena, text, strlen(text));
    if (kept == NULL) rad__error_memory(&r->error);
    return kept;
}

/* ---- Texts of numbers ------------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    uint64_t ns;
} UNITS[] = {{"h", RAD__LOAD_HOUR}, {"m", 60 * RAD__LOAD_SECOND}, {"s", RAD__LOAD_SECOND},
             {"ms", RAD__LOAD_MS},  {"us", RAD__LOAD_US},         {"ns", 1}};
enum { UNIT_COUNT = 6 };

const char *rad__load_time_text(uint64_t ns, char text[RAD__LOAD_TIME_TEXT])
{
    uint32_t i = ns == 0 ? 2 : 0;
    while (ns % UNITS[i].ns != 0) i++;
    snprintf(text, RAD__LOAD_TIME_TEXT, "%" PRIu64 "%s", ns / UNITS[i].ns, UNITS[i].name);
    return text;
}

static uint64_t power_of_ten(uint32_t exponent)
{
    uint64_t power = 1;
    while (exponent-- > 0) power *= 10;
    return power;
}

const char *rad__load_scaled_text(uint64_t scaled, uint32_t decimals, char text[RAD__LOAD_TIME_TEXT])
{
    uint64_t unit = power_of_ten(decimals);
    int size = snprintf(text, RAD__LOAD_TIME_TEXT, "%" PRIu64 ".%0*" PRIu64, scaled / unit,
                        (int)(decimals > 0 ? decimals : 1), scaled % unit);
    while (size > 0 && text[size - 1] == '0') text[--size] = 0;
    if (size > 0 && text[size - 1] == '.') text[size - 1] = 0;
    return text;
}

/* ---- Numbers --------------------------------------------------------------------------------------------- */

uint64_t rad__load_as_whole(rad__load_reading *r, const rad_toml_node *node, uint64_t least, uint64_t most,
                            uint64_t otherwise)
{
    if (node == NULL) return otherwise;
    if (node->type == RAD_TOML_INTEGER && node->integer >= 0 && (uint64_t)node->integer >= least &&
        (uint64_t)node->integer <= most)
        return (uint64_t)node->integer;
    rad__load_expected(r, node, "an integer from %" PRIu64 " to %" PRIu64, least, most);
    return otherwise;
}

/* See above. */
static bool scale_exactly(double value, uint64_t scale, uint64_t *scaled)
{
    if (!(value >= 0) || value > 1e15 / (double)scale) return false;
    uint64_t nearest = (uint64_t)(value * (double)scale + 0.5);
    *scaled = nearest;
    return (double)nearest / (double)scale == value;
}

static bool scale_node(const rad_toml_node *node, uint64_t scale, uint64_t *scaled)
{
    if (node->type == RAD_TOML_FLOAT) return scale_exactly(node->number, scale, scaled);
    return node->type == RAD_TOML_INTEGER && node->integer >= 0 &&
           !__builtin_mul_overflow((uint64_t)node->integer, scale, scaled);
}

uint64_t rad__load_as_scaled(rad__load_reading *r, const rad_toml_node *node, uint32_t decimals, uint64_t least,
                             uint64_t most, uint64_t otherwise)
{
    uint64_t scaled = 0; /* gcc -O1 does not see that it is read only if scale_node has set it */
    char low[RAD__LOAD_TIME_TEXT], high[RAD__LOAD_TIME_TEXT];
    if (node == NULL) return otherwise;
    if (scale_node(node, power_of_ten(decimals), &scaled) && scaled >= least && scaled <= most) return scaled;
    rad__load_expected(r, node, "a number from %s to %s with at most %u decimals",
                       rad__load_scaled_text(least, decimals, low), rad__load_scaled_text(most, decimals, high),
                       decimals);
    return otherwise;
}

/* ---- Times ----------------------------------------------------------------------------------------------- */

/* Digits, with a fraction of at most nine; *fraction in 10^-9. */
static bool pass_number(const char **at, uint64_t *whole, uint64_t *fraction)
{
    const char *p = *at;
    uint64_t unit = RAD__LOAD_SECOND;
    *whole = *fraction = 0;
    if (!rad__is_digit(*p)) return false;
    for (; rad__is_digit(*p); p++) {
        if (*whole > UINT64_MAX / 100) return false;
        *whole = *whole * 10 + (uint64_t)(*p - '0');
    }
    if (*p == '.') {
        if (!rad__is_digit(*++p)) return false;
        for (; rad__is_digit(*p); p++) {
            if (unit == 1) return false;
            unit /= 10;
            *fraction += (uint64_t)(*p - '0') * unit;
        }
    }
    *at = p;
    return true;
}

static uint64_t pass_unit(const char **at)
{
    const char *end = *at;
    while (*end >= 'a' && *end <= 'z') end++;
    for (uint32_t i = 0; i < UNIT_COUNT; i++) {
        size_t size = strlen(UNITS[i].name);
        if (size != (size_t)(end - *at) || memcmp(UNITS[i].name, *at, size) != 0) continue;
        *at = end;
        return UNITS[i].ns;
    }
    return 0;
}

/* "250ms", "1.5s", "1m30s": nanoseconds that are whole. */
static bool time_of_text(const char *text, uint64_t *ns)
{
    *ns = 0;
    do {
        uint64_t whole, fraction, unit, part;
        if (!pass_number(&text, &whole, &fraction) || (unit = pass_unit(&text)) == 0) return false;
        unsigned __int128 fine = (unsigned __int128)fraction * unit;
        if (fine % RAD__LOAD_SECOND != 0) return false;
        if (__builtin_mul_overflow(whole, unit, &part) ||
            __builtin_add_overflow(part, (uint64_t)(fine / RAD__LOAD_SECOND), &part) ||
            __builtin_add_overflow(*ns, part, ns))
            return false;
    } while (*text != 0);
    return true;
}

static const char *unit_words(uint64_t unit)
{
    return unit == RAD__LOAD_SECOND ? "a number of seconds, or a string"
           : unit == RAD__LOAD_MS   ? "a number of milliseconds, or a string"
           : unit == RAD__LOAD_US   ? "a number of microseconds, or a string"
                                    : "a string";
}

uint64_t rad__load_as_time(rad__load_reading *r, const rad_toml_node *node, uint64_t unit, uint64_t least,
                           uint64_t most, uint64_t otherwise)
{
    uint64_t ns;
    char low[RAD__LOAD_TIME_TEXT], high[RAD__LOAD_TIME_TEXT];
    if (node == NULL) return otherwise;
    bool good = node->type == RAD_TOML_STRING ? strlen(node->text) == node->count && time_of_text(node->text, &ns)
                                              : unit != 0 && scale_node(node, unit, &ns);
    if (good && ns >= least && ns <= most) return ns;
    rad__load_expected(r, node,
                       "a time from %s to %s, in whole nanoseconds: %s such as \"250ms\" or "
                       "\"1m30s\"",
                       rad__load_time_text(least, low), rad__load_time_text(most, high), unit_words(unit));
    return otherwise;
}

/* ---- Texts ----------------------------------------------------------------------------------------------- */

const char *rad__load_as_text(rad__load_reading *r, const rad_toml_node *node, size_t least, size_t most,
                              const char *otherwise)
{
    if (node == NULL) return otherwise;
    bool good = node->type == RAD_TOML_STRING && strlen(node->text) == node->count;
    if (!good) {
        rad__load_expected(r, node, "a string without the character U+0000");
        return otherwise;
    }
    if (node->count < least || node->count > most) {
        rad__load_expected(r, node, "a string of %zu to %zu bytes", least, most);
        return otherwise;
    }
    return rad__load_keep(r, node->text);
}

/* ---- By key ---------------------------------------------------------------------------------------------- */

uint64_t rad__load_get_whole(const rad__load_part *p, const char *key, uint64_t least, uint64_t most,
                             uint64_t otherwise)
{
    return rad__load_as_whole(p->r, rad__load_find(p, key), least, most, otherwise);
}

uint64_t rad__load_get_scaled(const rad__load_part *p, const char *key, uint32_t decimals, uint64_t least,
                              uint64_t most, uint64_t otherwise)
{
    return rad__load_as_scaled(p->r, rad__load_find(p, key), decimals, least, most, otherwise);
}

uint64_t rad__load_get_time(const rad__load_part *p, const char *key, uint64_t unit, uint64_t least, uint64_t most,
                            uint64_t otherwise)
{
    return rad__load_as_time(p->r, rad__load_find(p, key), unit, least, most, otherwise);
}

const char *rad__load_get_text(const rad__load_part *p, const char *key, size_t least, size_t most,
                               const char *otherwise)
{
    return rad__load_as_text(p->r, rad__load_find(p, key), least, most, otherwise);
}

bool rad__load_get_bool(const rad__load_part *p, const char *key, bool otherwise)
{
    bool value = otherwise;
    (void)rad__load_find(p, key);
    rad__toml_read_boolean(&p->r->doc, p->node, key, &value, &p->r->error);
    return value;
}

uint32_t rad__load_get_word(const rad__load_part *p, const char *key, const char *const *words, uint32_t otherwise)
{
    uint32_t value = otherwise;
    (void)rad__load_find(p, key);
    rad__toml_read_word(&p->r->doc, p->node, key, words, &value, &p->r->error);
    return value;
}
