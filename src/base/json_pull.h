/* json_pull.h — JSON (RFC 8259) one piece at a time, and the value that a JSON pointer (RFC 6901) names. The bytes come
 * from servers: anything may be in them.
 *
 * The whole document is in memory. Nothing is allocated and nothing recurses: what is open is a bit per level. All that
 * is passed is checked: the grammar, UTF-8, escapes, and that escaped surrogates come in pairs, since nothing else is
 * text. Numbers are left as they are written: the caller that needs one decides how wide it is. */
#ifndef RAD_BASE_JSON_PULL_H
#define RAD_BASE_JSON_PULL_H

#include "base/bytes.h"

enum { RAD_JSON_DEPTH_MAX = 512 };

enum rad_json_kind {
    RAD_JSON_NONE, /* of a value: there is none. Of a piece: the document has ended */
    RAD_JSON_NULL,
    RAD_JSON_TRUE,
    RAD_JSON_FALSE,
    RAD_JSON_NUMBER,
    RAD_JSON_STRING,
    RAD_JSON_ARRAY,
    RAD_JSON_OBJECT,
    /* Pieces only. */
    RAD_JSON_KEY, /* of an object; its value is next */
    RAD_JSON_ARRAY_END,
    RAD_JSON_OBJECT_END,
    RAD_JSON_WRONG /* this is no JSON; and so it stays */
};

/* ---- Pieces -------------------------------------------------------------------------------------------- */

typedef struct rad_json_pull {
    const char *begin, *at, *end;
    const char *from;     /* where the last piece begins; it ends before `at`, a key at its quote */
    const char *expected; /* of what is wrong, which is at `at` */
    uint32_t depth;       /* arrays and objects that are open */
    uint8_t state;
    uint64_t is_object[RAD_JSON_DEPTH_MAX / 64];
} rad_json_pull;

RAD_INTERNAL rad_json_pull rad__json_pull(const void *data, size_t size);
RAD_INTERNAL enum rad_json_kind rad__json_next(rad_json_pull *j);

/* RAD_EINPUT "byte 17: expected a value, found ','", once a piece was wrong. */
RAD_INTERNAL int rad__json_error(const rad_json_pull *j, rad_error *error);

/* ---- Values -------------------------------------------------------------------------------------------- */

/* `text` is the value as it is written, a string with its quotes. It is part of the document. */
typedef struct rad_json_value {
    enum rad_json_kind kind;
    const char *text;
    size_t length;
} rad_json_value;

/* A pointer is empty, or begins with '/'; a '~' is followed by 0 or 1. False when it is none. */
RAD_INTERNAL bool rad__json_pointer_valid(const char *pointer, size_t length);

/* The value that a valid pointer names, or RAD_JSON_NONE. When an object has a key several times, the last one counts,
 * as nearly everywhere. All of the document is checked, whatever is asked for. Returns 0 or RAD_EINPUT. */
RAD_INTERNAL int rad__json_at(const void *data, size_t size, const char *pointer, size_t length, rad_json_value *value,
                              rad_error *error);

/* Appends a string decoded, as UTF-8, and any other value as it is written. */
RAD_INTERNAL void rad__json_put_text(const rad_json_value *value, rad_bytes *out);

#endif
