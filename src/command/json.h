/* json.h — writes one JSON value to stdout, piece by piece: commas, indentation and escapes are its
 * business. A key is NULL inside an array. */
#ifndef RADDLE_CLI_JSON_H
#define RADDLE_CLI_JSON_H

#include "cli.h"

enum { JSON_DEPTH = 16 };

typedef struct writer {
    cli *c;
    uint32_t depth;
    bool filled[JSON_DEPTH]; /* something stands in it already */
} writer;

void put_begin(writer *j, cli *c); /* opens the one object */
void put_end(writer *j);           /* closes it, with a line end */

void put_object(writer *j, const char *key);
void put_array(writer *j, const char *key);
void put_close(writer *j, char bracket); /* '}' or ']' */

void put_text(writer *j, const char *key, const char *value);    /* NULL → null */
void put_json(writer *j, const char *key, const char *document); /* the text of any value */
void put_lines(writer *j, const char *key, const char *text);    /* an array; NULL → nothing */
void put_count(writer *j, const char *key, uint64_t value);
void put_integer(writer *j, const char *key, int64_t value);
void put_real(writer *j, const char *key, double value);
void put_bool(writer *j, const char *key, bool value);

#endif
