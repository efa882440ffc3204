/* toml_json.h — a TOML tree as JSON in which every value says its type, {"type": "integer", "value": "1"}: the form in
 * which conformance suites of TOML compare readers. Nothing here depends on the locale of the process, and a float has
 * as many digits as it takes to read the same float again. */
#ifndef RAD_TESTS_TOML_JSON_H
#define RAD_TESTS_TOML_JSON_H

#include "base/escape.h"
#include "base/toml/parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void toml_put(rad_bytes *out, const char *text)
{
    rad__bytes_put(out, text, strlen(text));
}

/* The shortest digits that are read as the same float: 1.5e+300. In some locales the point is another character, or
 * several: whatever stands between the first digits and the next is replaced. */
static inline void toml_put_float(rad_bytes *out, double value)
{
    char text[64];
    if (isnan(value) || isinf(value)) {
        toml_put(out, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
        return;
    }
    for (int digits = 1; digits <= 16; digits++) {
        snprintf(text, sizeof text, "%.*e", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    size_t whole = (text[0] == '-') + 1u, fraction = whole;
    while (text[fraction] < '0' || text[fraction] > '9') fraction++;
    rad__bytes_put(out, text, whole);
    toml_put(out, ".");
    toml_put(out, text + fraction);
}

static inline void toml_put_time(rad_bytes *out, const rad_toml_date *d)
{
    rad__bytes_format(out, "%02u:%02u:%02u", d->hour, d->minute, d->second);
    if (d->nanosecond == 0) return;
    char digits[16];
    snprintf(digits, sizeof digits, "%09" PRIu32, d->nanosecond);
    size_t length = 9;
    while (digits[length - 1] == '0') length--;
    rad__bytes_format(out, ".%.*s", (int)length, digits);
}

static inline void toml_put_date_time(rad_bytes *out, const rad_toml_node *node)
{
    const rad_toml_date *d = &node->date;
    if (node->type != RAD_TOML_LOCAL_TIME) rad__bytes_format(out, "%04u-%02u-%02u", d->year, d->month, d->day);
    if (node->type == RAD_TOML_LOCAL_DATE) return;
    if (node->type != RAD_TOML_LOCAL_TIME) toml_put(out, "T");
    toml_put_time(out, d);
    if (node->type != RAD_TOML_OFFSET_DATE_TIME) return;
    int offset = d->offset_minutes, size = offset < 0 ? -offset : offset;
    if (offset == 0)
        toml_put(out, "Z");
    else
        rad__bytes_format(out, "%c%02d:%02d", offset < 0 ? '-' : '+', size / 60, size % 60);
}

static inline void toml_put_scalar(rad_bytes *out, const rad_toml_node *node)
{
    static const char *const tags[] = {
        [RAD_TOML_STRING] = "string",
        [RAD_TOML_INTEGER] = "integer",
        [RAD_TOML_FLOAT] = "float",
        [RAD_TOML_BOOLEAN] = "bool",
        [RAD_TOML_OFFSET_DATE_TIME] = "datetime",
        [RAD_TOML_LOCAL_DATE_TIME] = "datetime-local",
        [RAD_TOML_LOCAL_DATE] = "date-local",
        [RAD_TOML_LOCAL_TIME] = "time-local",
    };
    rad__bytes_format(out, "{\"type\": \"%s\", \"value\": ", tags[node->type]);
    if (node->type == RAD_TOML_STRING) {
        rad__put_json_string(out, node->text, node->count, RAD_JSON_UTF8);
    } else {
        toml_put(out, "\"");
        if (node->type == RAD_TOML_INTEGER)
            rad__bytes_format(out, "%" PRId64, node->integer);
        else if (node->type == RAD_TOML_FLOAT)
            toml_put_float(out, node->number);
        else if (node->type == RAD_TOML_BOOLEAN)
            toml_put(out, node->boolean ? "true" : "false");
        else
            toml_put_date_time(out, node);
        toml_put(out, "\"");
    }
    toml_put(out, "}");
}

/* Ends without a line feed. */
static inline void toml_put_json(const rad_toml_node *node, rad_bytes *out)
{
    bool is_table = node->type == RAD_TOML_TABLE;
    if (!is_table && node->type != RAD_TOML_ARRAY) {
        toml_put_scalar(out, node);
        return;
    }
    toml_put(out, is_table ? "{" : "[");
    for (const rad_toml_node *n = node->children->first; n != NULL; n = n->next) {
        if (is_table) {
            rad__put_json_string(out, n->key->text, n->key->length, RAD_JSON_UTF8);
            toml_put(out, ": ");
        }
        toml_put_json(n, out);
        if (n->next != NULL) toml_put(out, ", ");
    }
    toml_put(out, is_table ? "}" : "]");
}

#endif
