#include "json.h"

#include "base/escape.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void put_all(cli *c, rad_bytes *b)
{
    out_raw(c, (const char *)b->data, b->size); /* ASCII */
    if (b->failed) c->write_error = ENOMEM;
    rad__bytes_free(b);
}

/* Only ASCII leaves here, whatever the terminal. */
static void put_string(cli *c, const char *text)
{
    rad_bytes bytes = {.data = NULL};
    rad__put_json_string(&bytes, text, strlen(text), RAD_JSON_ASCII);
    put_all(c, &bytes);
}

static void put_document(cli *c, const char *text)
{
    rad_bytes bytes = {.data = NULL};
    rad__put_json_document(&bytes, text, strlen(text), RAD_JSON_ASCII);
    put_all(c, &bytes);
}

static void begin_value(writer *j, const char *key)
{
    if (j->filled[j->depth]) out_text(j->c, ",");
    if (j->depth > 0) out(j->c, "\n%*s", (int)(2 * j->depth), "");
    j->filled[j->depth] = true;
    if (key) {
        put_string(j->c, key);
        out_text(j->c, ": ");
    }
}

static void open_bracket(writer *j, const char *key, const char *bracket)
{
    begin_value(j, key);
    out_text(j->c, bracket);
    j->depth += j->depth + 1 < JSON_DEPTH;
    j->filled[j->depth] = false;
}

void put_begin(writer *j, cli *c)
{
    *j = (writer){.c = c};
    open_bracket(j, NULL, "{");
}

void put_end(writer *j)
{
    put_close(j, '}');
    out_text(j->c, "\n");
}

void put_object(writer *j, const char *key)
{
    open_bracket(j, key, "{");
}

void put_array(writer *j, const char *key)
{
    open_bracket(j, key, "[");
}

void put_close(writer *j, char bracket)
{
    bool filled = j->filled[j->depth];
    j->depth -= j->depth > 0;
    if (filled) out(j->c, "\n%*s", (int)(2 * j->depth), "");
    out(j->c, "%c", bracket);
}

void put_text(writer *j, const char *key, const char *value)
{
    begin_value(j, key);
    if (value)
        put_string(j->c, value);
    else
        out_text(j->c, "null");
}

void put_lines(writer *j, const char *key, const char *text)
{
    if (text == NULL) return;
    put_array(j, key);
    while (*text) {
        char line[4096];
        size_t size = strcspn(text, "\n");
        snprintf(line, sizeof line, "%.*s", size < sizeof line ? (int)size : (int)sizeof line - 1, text);
        put_text(j, NULL, line);
        text += size + (text[size] != 0);
    }
    put_close(j, ']');
}

void put_json(writer *j, const char *key, const char *document)
{
    begin_value(j, key);
    put_document(j->c, document);
}

void put_count(writer *j, const char *key, uint64_t value)
{
    begin_value(j, key);
    out(j->c, "%" PRIu64, value);
}

void put_integer(writer *j, const char *key, int64_t value)
{
    begin_value(j, key);
    out(j->c, "%" PRId64, value);
}

void put_real(writer *j, const char *key, double value)
{
    begin_value(j, key);
    out(j->c, "%.6f", value);
}

void put_bool(writer *j, const char *key, bool value)
{
    begin_value(j, key);
    out_text(j->c, value ? "true" : "false");
}
