/* read.h — what the files of the scenario reader share: the file at hand, its parts, and their values.
 *
 * A part is a table of the file. It is opened once, and then it is known to have no keys but those that the table in
 * read_keys.c has for its section; only these can be asked for. The first error stays, and everything after it
 * gets defaults: no caller has to look before reading the next value, as long as defaults do no harm. */
#ifndef RAD_LOAD_SCENARIO_READ_H
#define RAD_LOAD_SCENARIO_READ_H

#include "base/toml/toml.h"
#include "load/scenario/scenario.h"

enum {
    RAD__LOAD_FILE_BYTES_MAX = 10 << 20, /* of a scenario */
    RAD__LOAD_USERS_MAX = 100000,
    RAD__LOAD_TEXT_MAX = 2048, /* bytes of a URL or a path */
    RAD__LOAD_HEADERS_MAX = 100,
    RAD__LOAD_HEADER_BYTES_MAX = 8 << 10,
    RAD__LOAD_BODY_BYTES_MAX = 10 << 20,
    RAD__LOAD_STEPS_MAX = 10000,
    RAD__LOAD_VARIABLES_MAX = 256,
    RAD__LOAD_POINTS_MAX = 100,
    RAD__LOAD_DATA_MAX = 100,
    RAD__LOAD_COLUMNS_MAX = 256,
    RAD__LOAD_DATA_BYTES_MAX = 64 << 20
};

#define RAD__LOAD_US     UINT64_C(1000)
#define RAD__LOAD_MS     UINT64_C(1000000)
#define RAD__LOAD_SECOND UINT64_C(1000000000)
#define RAD__LOAD_HOUR   (3600 * RAD__LOAD_SECOND)
#define RAD__LOAD_DAY    (24 * RAD__LOAD_HOUR)

typedef struct rad__load_reading {
    rad_toml doc;
    rad__load_scenario *s;
    const struct rad__load_files *files; /* NULL: they stay unread */
    rad_error error;                     /* the first one */
    const char **variables;              /* names, as they come */
    uint32_t max_connections;            /* of the limits */
} rad__load_reading;

typedef struct rad__load_part {
    rad__load_reading *r;
    rad_toml_node *node; /* NULL: the file does not have it, so it has no keys */
    const char *section;
} rad__load_part;

static inline bool rad__load_bad(const rad__load_reading *r)
{
    return r->error.code != 0;
}

/* ---- Parts (read_keys.c) ----------------------------------------------------------------------- */

/* What may be where; a test compares it with the manual. Keys end with NULL, sections with a NULL name. */
struct rad__load_keys {
    const char *section; /* "" is the top of the file */
    const char *const *keys;
};
RAD_INTERNAL extern const struct rad__load_keys rad__load_sections[];

RAD_INTERNAL rad__load_part rad__load_part_of(rad__load_reading *r, rad_toml_node *node, const char *section);
/* The table of that name in a part; without a node when there is none. */
RAD_INTERNAL rad__load_part rad__load_part_get(const rad__load_part *in, const char *key, const char *section);
/* The value of a key, or NULL. */
RAD_INTERNAL rad_toml_node *rad__load_find(const rad__load_part *p, const char *key);
/* The same; when there is none, an error that names it. `why` may be NULL. */
RAD_INTERNAL rad_toml_node *rad__load_need(const rad__load_part *p, const char *key, const char *why);
/* An array of tables, or NULL; *count of them, at most `most`. */
RAD_INTERNAL rad_toml_node *rad__load_tables(const rad__load_part *p, const char *key, uint32_t most, uint32_t *count);

/* ---- Errors --------------------------------------------------------------------------------------------- */

RAD_INTERNAL void rad__load_wrong(rad__load_reading *r, const rad_toml_node *at, const char *format, ...)
    RAD_PRINTF(3, 4);
/* "key: expected …, found …" */
RAD_INTERNAL void rad__load_expected(rad__load_reading *r, const rad_toml_node *at, const char *format, ...)
    RAD_PRINTF(3, 4);
/* "there is no … 'name'; did you mean '…'?" */
RAD_INTERNAL void rad__load_no_such(rad__load_reading *r, const rad_toml_node *at, const char *what, const char *name,
                                    const char *const *known);

/* ---- Values (read_value.c) --------------------------------------------------------------------- */

/* Zeroed memory of the scenario. NULL: the error says that memory ran out. */
RAD_INTERNAL void *rad__load_take(rad__load_reading *r, size_t count, size_t size);
RAD_INTERNAL const char *rad__load_keep(rad__load_reading *r, const char *text);

/* Of a node, which may be NULL: then it is the default. */
RAD_INTERNAL uint64_t rad__load_as_whole(rad__load_reading *r, const rad_toml_node *node, uint64_t least, uint64_t most,
                                         uint64_t otherwise);
/* A number with at most `decimals` of them, times 10^decimals, as are all bounds. */
RAD_INTERNAL uint64_t rad__load_as_scaled(rad__load_reading *r, const rad_toml_node *node, uint32_t decimals,
                                          uint64_t least, uint64_t most, uint64_t otherwise);
/* Nanoseconds: a number of `unit`, or a string with units. unit 0: only a string. */
RAD_INTERNAL uint64_t rad__load_as_time(rad__load_reading *r, const rad_toml_node *node, uint64_t unit, uint64_t least,
                                        uint64_t most, uint64_t otherwise);
/* A string without a zero in it, of `least` … `most` bytes; lives as long as the scenario. */
RAD_INTERNAL const char *rad__load_as_text(rad__load_reading *r, const rad_toml_node *node, size_t least, size_t most,
                                           const char *otherwise);

RAD_INTERNAL uint64_t rad__load_get_whole(const rad__load_part *p, const char *key, uint64_t least, uint64_t most,
                                          uint64_t otherwise);
RAD_INTERNAL uint64_t rad__load_get_scaled(const rad__load_part *p, const char *key, uint32_t decimals, uint64_t least,
                                           uint64_t most, uint64_t otherwise);
RAD_INTERNAL uint64_t rad__load_get_time(const rad__load_part *p, const char *key, uint64_t unit, uint64_t least,
                                         uint64_t most, uint64_t otherwise);
RAD_INTERNAL const char *rad__load_get_text(const rad__load_part *p, const char *key, size_t least, size_t most,
                                            const char *otherwise);
RAD_INTERNAL bool rad__load_get_bool(const rad__load_part *p, const char *key, bool otherwise);
RAD_INTERNAL uint32_t rad__load_get_word(const rad__load_part *p, const char *key, const char *const *words,
                                         uint32_t otherwise);

/* "1m", "250ms": in the largest unit that needs no fraction. */
enum { RAD__LOAD_TIME_TEXT = 32 };
RAD_INTERNAL const char *rad__load_time_text(uint64_t ns, char text[RAD__LOAD_TIME_TEXT]);
/* A number with decimals that were multiplied away, without zeros at the end. */
RAD_INTERNAL const char *rad__load_scaled_text(uint64_t scaled, uint32_t decimals, char text[RAD__LOAD_TIME_TEXT]);

/* ---- Files (read_data.c) ----------------------------------------------------------------------- */

/* Reads a file beside the scenario. rad__free *data. False: an error, or files stay unread. */
RAD_INTERNAL bool rad__load_read_beside(rad__load_reading *r, const rad_toml_node *at, const char *path, uint64_t limit,
                                        char **data, size_t *size);
/* Where it is. */
RAD_INTERNAL const char *rad__load_beside(rad__load_reading *r, const char *path);

/* ---- Placeholders (read_text.c) ---------------------------------------------------------------- */

enum rad__load_spot { RAD__LOAD_SPOT_PATH, RAD__LOAD_SPOT_HEADER, RAD__LOAD_SPOT_BODY };

/* Whatever a template refers to has to exist, and what is around it has to fit its place. */
RAD_INTERNAL void rad__load_check_text(rad__load_reading *r, const rad_toml_node *at, const char *text,
                                       enum rad__load_spot spot);
/* Letters, digits, _ and -: names that can be in placeholders. */
RAD_INTERNAL bool rad__load_is_name(const char *text);
RAD_INTERNAL bool rad__load_is_token(const char *text); /* of RFC 9110: methods, headers, cookies */

/* ---- Sections, in the order in which they are read ------------------------------------------------------ */

RAD_INTERNAL void rad__load_read_limits(rad__load_reading *r, const rad__load_part *top);
RAD_INTERNAL void rad__load_read_when(rad__load_reading *r, const rad__load_part *top);
RAD_INTERNAL void rad__load_read_simulated(rad__load_reading *r, const rad__load_part *top);
RAD_INTERNAL void rad__load_read_targets(rad__load_reading *r, const rad__load_part *top);
RAD_INTERNAL void rad__load_read_data(rad__load_reading *r, const rad__load_part *top);
RAD_INTERNAL void rad__load_read_requests(rad__load_reading *r, const rad__load_part *top);
RAD_INTERNAL void rad__load_read_steps(rad__load_reading *r, const rad__load_part *top);
RAD_INTERNAL void rad__load_read_assertions(rad__load_reading *r, const rad__load_part *top);

#endif
