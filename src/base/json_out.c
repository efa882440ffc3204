/* json_out.c — see json_out.h. */
#include "base/json_out.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

static bool is_on_line(const rad_json_out *j)
{
    return j->compact || (j->line > 0 && j->depth >= j->line);
}

static void put_line_end(rad_json_out *j)
{
    rad__bytes_format(j->to, "\n%*s", (int)(2 * j->depth), "");
}

static void begin_value(rad_json_out *j, const char *key)
{
    if (j->filled[j->depth]) rad__bytes_put(j->to, ", ", is_on_line(j) && !j->compact ? 2 : 1);
    if (j->depth > 0 && !is_on_line(j)) put_line_end(j);
    j->filled[j->depth] = true;
    if (key == NULL) return;
    rad__put_json_string(j->to, key, strlen(key), j->letters);
    rad__bytes_put(j->to, ": ", j->compact ? 1 : 2);
}

void rad__out_begin(rad_json_out *j, rad_bytes *to, enum rad_json_letters letters)
{
    *j = (rad_json_out){.to = to, .letters = letters};
    rad__out_open(j, NULL, '{');
}

void rad__out_end(rad_json_out *j)
{
    rad__out_close(j, '}');
    rad__bytes_put(j->to, "\n", 1);
}

void rad__out_open(rad_json_out *j, const char *key, char bracket)
{
    begin_value(j, key);
    rad__bytes_put(j->to, &bracket, 1);
    RAD_ASSERT(j->depth + 1 < RAD_JSON_OUT_DEPTH);
    j->filled[++j->depth] = false;
}

void rad__out_open_line(rad_json_out *j, const char *key, char bracket)
{
    rad__out_open(j, key, bracket);
    if (j->line == 0) j->line = j->depth;
}

void rad__out_close(rad_json_out *j, char bracket)
{
    bool breaks = j->filled[j->depth] && !is_on_line(j);
    RAD_ASSERT(j->depth > 0);
    j->depth--;
    if (j->line > j->depth) j->line = 0;
    if (breaks) put_line_end(j);
    rad__bytes_put(j->to, &bracket, 1);
}

void rad__out_text(rad_json_out *j, const char *key, const char *value)
{
    begin_value(j, key);
    if (value != NULL)
        rad__put_json_string(j->to, value, strlen(value), j->letters);
    else
        rad__bytes_put(j->to, "null", 4);
}

void rad__out_count(rad_json_out *j, const char *key, uint64_t value)
{
    rad__out_format(j, key, "%" PRIu64, value);
}

void rad__out_bool(rad_json_out *j, const char *key, bool value)
{
    rad__out_format(j, key, "%s", value ? "true" : "false");
}

void rad__out_format(rad_json_out *j, const char *key, const char *format, ...)
{
    va_list args;
    begin_value(j, key);
    va_start(args, format);
    rad__bytes_format_list(j->to, format, args);
    va_end(args);
}

void rad__out_document(rad_json_out *j, const char *key, const char *document)
{
    begin_value(j, key);
    rad__put_json_document(j->to, document, strlen(document), j->letters);
}
