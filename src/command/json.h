/* json.h — writes one JSON value to stdout, piece by piece (base/json_out.h). A key is NULL inside an array. */
#ifndef RAD_COMMAND_JSON_H
#define RAD_COMMAND_JSON_H

#include "cli.h"

#include "base/json_out.h"

typedef struct writer {
    cli *c;
    rad_json_out out;
    rad_bytes bytes;
} writer;

void put_begin(writer *j, cli *c) RAD_COMMAND(put_begin);                 /* opens the one object */
void put_begin_compact(writer *j, cli *c) RAD_COMMAND(put_begin_compact); /* the same, for one line without blanks */
void put_end(writer *j) RAD_COMMAND(put_end);                             /* closes it, with a line end */

void put_object(writer *j, const char *key) RAD_COMMAND(put_object);
void put_array(writer *j, const char *key) RAD_COMMAND(put_array);
void put_close(writer *j, char bracket) RAD_COMMAND(put_close); /* '}' or ']' */

void put_text(writer *j, const char *key, const char *value) RAD_COMMAND(put_text);    /* NULL → null */
void put_json(writer *j, const char *key, const char *document) RAD_COMMAND(put_json); /* the text of any value */
void put_lines(writer *j, const char *key, const char *text) RAD_COMMAND(put_lines);   /* an array; NULL → nothing */
void put_count(writer *j, const char *key, uint64_t value) RAD_COMMAND(put_count);
void put_integer(writer *j, const char *key, int64_t value) RAD_COMMAND(put_integer);
void put_real(writer *j, const char *key, double value) RAD_COMMAND(put_real);
void put_bool(writer *j, const char *key, bool value) RAD_COMMAND(put_bool);

#endif
