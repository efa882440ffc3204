/* escape.h — text inside JSON and XML. Both let text through the gate of readable.h in their own way, so that what is
 * written is well-formed, and harmless for people who look at the file itself. */
#ifndef RAD_BASE_ESCAPE_H
#define RAD_BASE_ESCAPE_H

#include "base/bytes.h"

enum rad_json_letters {
    RAD_JSON_UTF8, /* letters as they are */
    RAD_JSON_ASCII /* letters beyond ASCII as \u escapes */
};

/* In quotes. What the gate would not let through is a \u escape, which means the same; a byte that is not UTF-8 becomes
 * U+FFFD, for which there is no other way. */
RAD_INTERNAL void rad__put_json_string(rad_bytes *to, const char *text, size_t size, enum rad_json_letters letters);

/* JSON written by another program, with the same meaning. */
RAD_INTERNAL void rad__put_json_document(rad_bytes *to, const char *text, size_t size, enum rad_json_letters letters);

/* Text of an element or an attribute in double or single quotes, of XML or HTML. */
RAD_INTERNAL void rad__put_xml_text(rad_bytes *to, const char *text, size_t size, enum rad_readable how);

#endif
