/* placeholder.c — see placeholder.h. */
#include "load/scenario/placeholder.h"

#include <string.h>

static bool is(const char *text, size_t size, const char *word)
{
    return strlen(word) == size && memcmp(word, text, size) == 0;
}

/* Digits at *at; false: none, or too many. */
static bool read_number(const char **at, const char *end, uint64_t *value)
{
    const char *begin = *at;
    for (*value = 0; *at < end && **at >= '0' && **at <= '9'; ++*at)
        if (__builtin_mul_overflow(*value, UINT64_C(10), value) ||
            __builtin_add_overflow(*value, (uint64_t)(**at - '0'), value))
            return false;
    return *at > begin;
}

static const char *read_range(rad__load_placeholder *p)
{
    const char *at = p->name, *end = p->name + p->name_size;
    bool good = read_number(&at, end, &p->low) && at < end && *at++ == '-' && read_number(&at, end, &p->high) &&
                at == end && p->low <= p->high;
    return good ? NULL : "expected LOW-HIGH, two whole numbers in order, such as ${random:1-100}";
}

static const char *read_cell(rad__load_placeholder *p)
{
    const char *dot = memchr(p->name, '.', p->name_size);
    if (dot == NULL) return "expected FILE.COLUMN";
    p->column = dot + 1;
    p->column_size = p->name_size - (size_t)(dot + 1 - p->name);
    p->name_size = (size_t)(dot - p->name);
    return NULL;
}

static const char *read_env(const rad__load_placeholder *p)
{
    bool good = p->name_size > 0 && !(p->name[0] >= '0' && p->name[0] <= '9');
    for (size_t i = 0; i < p->name_size; i++) {
        char c = p->name[i];
        good &= (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    }
    return good ? NULL : "expected the name of an environment variable";
}

/* Takes the escape off the end; how long the rest is. Another word after a | belongs to the name: columns of files are
 * called as they are. */
static size_t take_escape(rad__load_placeholder *p)
{
    static const char *const WORDS[] = {
        [RAD__LOAD_ESCAPE_RAW] = "raw",
        [RAD__LOAD_ESCAPE_URL] = "url",
        [RAD__LOAD_ESCAPE_FORM] = "form",
        [RAD__LOAD_ESCAPE_JSON] = "json",
    };
    size_t bar = p->text_size;
    while (bar > 0 && p->text[bar - 1] != '|') bar--;
    for (uint32_t i = RAD__LOAD_ESCAPE_RAW; i <= RAD__LOAD_ESCAPE_JSON && bar > 0; i++) {
        if (!is(p->text + bar, p->text_size - bar, WORDS[i])) continue;
        p->escape = (enum rad__load_escape)i;
        return bar - 1;
    }
    return p->text_size;
}

static const char *read_what(rad__load_placeholder *p, size_t size)
{
    static const struct {
        const char *word;
        enum rad__load_what what;
    } NAMED[] = {{"env:", RAD__LOAD_WHAT_ENV},
                 {"data:", RAD__LOAD_WHAT_DATA},
                 {"var:", RAD__LOAD_WHAT_VAR},
                 {"random:", RAD__LOAD_WHAT_RANDOM}},
      PLAIN[] = {{"vu", RAD__LOAD_WHAT_VU},
                 {"iteration", RAD__LOAD_WHAT_ITERATION},
                 {"position", RAD__LOAD_WHAT_POSITION},
                 {"uuid", RAD__LOAD_WHAT_UUID}};
    for (size_t i = 0; i < sizeof NAMED / sizeof *NAMED; i++) {
        size_t prefix = strlen(NAMED[i].word);
        if (size < prefix || memcmp(p->text, NAMED[i].word, prefix) != 0) continue;
        p->what = NAMED[i].what;
        p->name = p->text + prefix;
        p->name_size = size - prefix;
        return NULL;
    }
    for (size_t i = 0; i < sizeof PLAIN / sizeof *PLAIN; i++) {
        if (!is(p->text, size, PLAIN[i].word)) continue;
        p->what = PLAIN[i].what;
        return NULL;
    }
    return "no such placeholder; expected env:NAME, data:FILE.COLUMN, var:NAME, vu, iteration, "
           "position, random:LOW-HIGH or uuid";
}

static const char *read_placeholder(rad__load_placeholder *p)
{
    size_t size = take_escape(p);
    const char *wrong = read_what(p, size);
    if (p->what != RAD__LOAD_WHAT_DATA && memchr(p->text, '|', size) != NULL)
        return "no such escape; expected raw, url, form or json after the |";
    if (wrong != NULL) return wrong;
    if (p->what == RAD__LOAD_WHAT_ENV) return read_env(p);
    if (p->what == RAD__LOAD_WHAT_DATA) return read_cell(p);
    if (p->what == RAD__LOAD_WHAT_RANDOM) return read_range(p);
    return NULL;
}

static bool begins(const char *at, const char *end, const char *with)
{
    return (size_t)(end - at) >= strlen(with) && memcmp(at, with, strlen(with)) == 0;
}

const char *rad__load_placeholder_next(const char **at, const char *end, rad__load_placeholder *p)
{
    *p = (rad__load_placeholder){.text = *at};
    if (begins(*at, end, "$${")) {
        p->text++;
        p->text_size = 2;
        *at += 3;
        return NULL;
    }
    if (!begins(*at, end, "${")) {
        do ++*at;
        while (*at < end && !begins(*at, end, "${") && !begins(*at, end, "$${"));
        p->text_size = (size_t)(*at - p->text);
        return NULL;
    }
    const char *close = memchr(*at, '}', (size_t)(end - *at));
    p->text = close != NULL ? *at + 2 : NULL;
    if (close == NULL) return "${ without a } after it; expected a placeholder, or $${ for ${ itself";
    p->text_size = (size_t)(close - p->text);
    *at = close + 1;
    return read_placeholder(p);
}
