/* json_out.h — writes one JSON value, piece by piece: commas, indentation and escapes are its business. A key is NULL
 * inside an array. */
#ifndef RAD_BASE_JSON_OUT_H
#define RAD_BASE_JSON_OUT_H

#include "base/escape.h"

enum { RAD_JSON_OUT_DEPTH = 16 };

typedef struct rad_json_out {
    rad_bytes *to;
    enum rad_json_letters letters;
    uint32_t depth;
    uint32_t line;                   /* what is at least as deep is on one line; 0: nothing is */
    bool filled[RAD_JSON_OUT_DEPTH]; /* it has something already */
    bool compact;                    /* all on one line, without blanks */
} rad_json_out;

/* Opens the one object, and closes it, with a line end. */
RAD_INTERNAL void rad__out_begin(rad_json_out *j, rad_bytes *to, enum rad_json_letters letters);
RAD_INTERNAL void rad__out_end(rad_json_out *j);

RAD_INTERNAL void rad__out_open(rad_json_out *j, const char *key, char bracket);
/* The same, with all that is in it on this line. */
RAD_INTERNAL void rad__out_open_line(rad_json_out *j, const char *key, char bracket);
RAD_INTERNAL void rad__out_close(rad_json_out *j, char bracket);

RAD_INTERNAL void rad__out_text(rad_json_out *j, const char *key, const char *value); /* NULL → null */
RAD_INTERNAL void rad__out_count(rad_json_out *j, const char *key, uint64_t value);
RAD_INTERNAL void rad__out_bool(rad_json_out *j, const char *key, bool value);
/* A number in whatever form, the text of a value. */
RAD_INTERNAL void rad__out_format(rad_json_out *j, const char *key, const char *format, ...) RAD_PRINTF(3, 4);
RAD_INTERNAL void rad__out_document(rad_json_out *j, const char *key, const char *document);

#endif
