#include "json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* What is written goes out at once: a command may work between two values. Only ASCII leaves here, whatever the
 * terminal. */
static rad_json_out *begin(writer *j)
{
    j->out.to = &j->bytes;
    return &j->out;
}

static void end(writer *j)
{
    out_raw(j->c, (const char *)j->bytes.data, j->bytes.size);
    if (j->bytes.failed) j->c->write_error = ENOMEM;
    rad__bytes_free(&j->bytes);
}

void put_begin(writer *j, cli *c)
{
    *j = (writer){.c = c};
    rad__out_begin(&j->out, &j->bytes, RAD_JSON_ASCII);
    end(j);
}

void put_begin_compact(writer *j, cli *c)
{
    put_begin(j, c);
    j->out.compact = true;
}

void put_end(writer *j)
{
    rad__out_end(begin(j));
    end(j);
}

void put_object(writer *j, const char *key)
{
    rad__out_open(begin(j), key, '{');
    end(j);
}

void put_array(writer *j, const char *key)
{
    rad__out_open(begin(j), key, '[');
    end(j);
}

void put_close(writer *j, char bracket)
{
    rad__out_close(begin(j), bracket);
    end(j);
}

void put_text(writer *j, const char *key, const char *value)
{
    rad__out_text(begin(j), key, value);
    end(j);
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
    rad__out_document(begin(j), key, document);
    end(j);
}

void put_count(writer *j, const char *key, uint64_t value)
{
    rad__out_count(begin(j), key, value);
    end(j);
}

void put_integer(writer *j, const char *key, int64_t value)
{
    rad__out_format(begin(j), key, "%" PRId64, value);
    end(j);
}

void put_real(writer *j, const char *key, double value)
{
    rad__out_format(begin(j), key, "%.6f", value);
    end(j);
}

void put_bool(writer *j, const char *key, bool value)
{
    rad__out_bool(begin(j), key, value);
    end(j);
}
