/* toml.h — a TOML 1.0 file as a tree whose every node knows its line and column.
 *
 *   rad_toml doc;
 *   if (rad__toml_parse(&doc, name, text, size, limit, error) != 0) return error->code;
 *   rad_toml_node *runtime = rad__toml_get(doc.root, "runtime");
 *   rad__toml_read_boolean(&doc, runtime, "tls", &tls, error);
 *
 * Members of tables and elements of arrays are lists in the order of the file. What was handed out by a call below is
 * `used`; what a reader never asked for is an unknown key, and rad__toml_unused finds it.
 *
 * Everything is refused that TOML 1.0 refuses, and what is beyond its own bounds: integers of more than 64 bits, floats
 * too large for a double, tables and arrays nested deeper than RAD_TOML_DEPTH_MAX. A line end in a multi-line string is
 * one line feed, whichever the file has, so that a file means the same on every machine. Fractions of a second have
 * nine digits, more are cut off. The time it takes grows with the size of the file alone: see toml_table.c. */
#ifndef RAD_BASE_TOML_TOML_H
#define RAD_BASE_TOML_TOML_H

#include "base/arena.h"
#include "base/bytes.h"

enum {
    RAD_TOML_DEPTH_MAX = 200,
    RAD_TOML_SIZE_MAX = 100 << 20 /* the largest limit a caller may set, in bytes */
};

enum rad_toml_type {
    RAD_TOML_STRING,
    RAD_TOML_INTEGER,
    RAD_TOML_FLOAT,
    RAD_TOML_BOOLEAN,
    RAD_TOML_OFFSET_DATE_TIME,
    RAD_TOML_LOCAL_DATE_TIME,
    RAD_TOML_LOCAL_DATE,
    RAD_TOML_LOCAL_TIME,
    RAD_TOML_ARRAY,
    RAD_TOML_TABLE
};

/* What the type lacks is 0. */
typedef struct rad_toml_date {
    uint16_t year;
    uint8_t month, day, hour, minute, second; /* 60 is a leap second */
    uint32_t nanosecond;
    int16_t offset_minutes; /* of the local time, eastwards */
} rad_toml_date;

typedef struct rad_toml_node rad_toml_node;

typedef struct rad_toml_key {
    const char *text; /* ends with a zero, and may have others in it */
    uint32_t length;
    uint32_t line, column;
    uint32_t bit; /* the index of the table: see toml_table.c */
    rad_toml_node *side[2];
} rad_toml_key;

struct rad_toml_node {
    uint8_t type; /* enum rad_toml_type */
    uint8_t made; /* tables and arrays: enum rad_toml_made */
    uint8_t depth;
    bool used;
    uint32_t line, column; /* from 1, in characters; of a table with a header, those of the header */
    uint32_t count;        /* bytes of a string, elements of an array, members of a table */
    rad_toml_node *next;   /* in the same table or array; but see rad__toml_next */
    rad_toml_key *key;     /* NULL in an array, and of the root */
    union {
        const char *text; /* UTF-8; ends with a zero, and may have others in it */
        int64_t integer;
        double number;
        bool boolean;
        rad_toml_date date;
        struct rad_toml_children *children;
    };
};

typedef struct rad_toml {
    rad_arena arena;
    const char *file_name;
    rad_toml_node *root; /* a table */
} rad_toml;

/* Of more than `size_max` bytes nothing is read. On failure there is nothing to free; RAD_EINPUT says
 * "file:line:column: expected …, found …". */
RAD_INTERNAL int rad__toml_parse(rad_toml *doc, const char *file_name, const char *text, size_t size, size_t size_max,
                                 rad_error *error);
RAD_INTERNAL void rad__toml_free(rad_toml *doc);

/* ---- Looking around ------------------------------------------------------------------------------------ */

/* The member of that name, or NULL. `table` may be NULL, and anything else than a table: it has none. */
RAD_INTERNAL rad_toml_node *rad__toml_get(rad_toml_node *table, const char *key);

/* Members or elements in the order of the file; NULL when there are no more. */
RAD_INTERNAL rad_toml_node *rad__toml_first(rad_toml_node *table_or_array);
RAD_INTERNAL rad_toml_node *rad__toml_next(rad_toml_node *node);

/* "a string", "an integer", … */
RAD_INTERNAL const char *rad__toml_type_name(const rad_toml_node *node);

/* ---- Reading -------------------------------------------------------------------------------------------
 * Each sets *value when there is such a key, and leaves it as it is when there is none. Another type, or a value out of
 * bounds, is an error that says what was expected, and where. Returns 0 or the code in force. `table` may be NULL. */

RAD_INTERNAL int rad__toml_read_boolean(const rad_toml *doc, rad_toml_node *table, const char *key, bool *value,
                                        rad_error *error);
/* One of several words; *value is its number. `words` ends with NULL. */
RAD_INTERNAL int rad__toml_read_word(const rad_toml *doc, rad_toml_node *table, const char *key,
                                     const char *const *words, uint32_t *value, rad_error *error);
/* The first member anywhere below, in the order of the file, that is not used; NULL when all are. */
RAD_INTERNAL const rad_toml_node *rad__toml_unused(const rad_toml_node *node);
RAD_INTERNAL void rad__toml_use_all(rad_toml_node *node);

/* RAD_EINPUT "file:line:column: key: expected …, found …" at a value. */
RAD_INTERNAL int rad__toml_expected(const rad_toml *doc, const rad_toml_node *at, const char *expected,
                                    rad_error *error);

/* RAD_EINPUT "file:line:column: …" at a value. */
RAD_INTERNAL int rad__toml_error(const rad_toml *doc, const rad_toml_node *at, rad_error *error, const char *format,
                                 ...) RAD_PRINTF(4, 5);

#endif
