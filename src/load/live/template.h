/* template.h — texts with placeholders, read once and filled in for each request.
 *
 *     ${env:NAME}           the environment, when the run begins
 *     ${data:FILE.COLUMN}   a cell of a data file; the row depends on user and iteration
 *     ${var:NAME}           what an earlier response of this user gave
 *     ${vu} ${iteration} ${position}
 *     ${random:LOW-HIGH}    a whole number, both ends included
 *     ${uuid}               version 4
 *
 * placeholder.h has the grammar. Filling in is a function of (seed, user, iteration, position) and of what was
 * extracted: no generator has a state, so the same request of the same user has the same bytes in every run. In open
 * schedules it is a function of (seed, arrival, position): the user who serves an arrival has no part in it.
 *
 * A value from outside cannot break out of its place (escape.h); one that cannot stand there makes the request fail. A
 * variable that has no value makes it fail, too: a request with a hole in it would be another request. */
#ifndef RAD_LOAD_LIVE_TEMPLATE_H
#define RAD_LOAD_LIVE_TEMPLATE_H

#include "base/bytes.h"
#include "load/log/turn.h"
#include "load/scenario/escape.h"
#include "load/scheduler/random.h"

typedef struct rad__load_piece {
    uint8_t what, place, escape; /* enum rad__load_what, rad__load_place, rad__load_escape */
    uint32_t number;             /* of a variable, a data file */
    uint32_t column;
    uint32_t from, size; /* of a constant, in `constant` */
    uint64_t low, span;  /* random: low … low + span */
} rad__load_piece;

/* All zero: empty. */
typedef struct rad__load_text {
    rad_bytes constant;
    rad__load_piece *pieces;
    uint32_t count, capacity;
} rad__load_text;

/* What a text may refer to, and how messages call it. */
typedef struct rad__load_names {
    const rad__load_scenario *scenario;
    const char *(*env)(const char *name);
    const char *where; /* "request 'login', header 'Cookie'" */
} rad__load_names;

/* What a user has extracted. `size` RAD_NONE: nothing. */
typedef struct rad__load_value {
    const uint8_t *data;
    uint32_t size;
} rad__load_value;

/* Whose request it is. */
typedef struct rad__load_fill {
    const rad__load_scenario *scenario;
    const rad__load_value *values; /* by number of the variable */
    uint64_t seed, iteration;
    uint32_t vu, position;  /* vu: of all shards; open: number of the arrival modulo users */
    rad__load_stream drawn; /* placeholders draw one after the other: path, headers, body */
} rad__load_fill;

RAD_INTERNAL rad__load_fill rad__load_fill_for(const rad__load_scenario *scenario, uint64_t seed, uint32_t vu,
                                               uint64_t iteration, uint32_t position, const rad__load_value *values);

/* Adds a template, or bytes as they are. 0, RAD_ENOMEM, or RAD_EINPUT with a message that names the placeholder. */
RAD_INTERNAL int rad__load_text_add(rad__load_text *t, const char *text, size_t size, enum rad__load_place place,
                                    const rad__load_names *names, rad_error *error);
RAD_INTERNAL int rad__load_text_add_bytes(rad__load_text *t, const void *bytes, size_t size, rad_error *error);
RAD_INTERNAL void rad__load_text_free(rad__load_text *t);

/* No placeholders: `constant` is all of it. */
static inline bool rad__load_text_is_constant(const rad__load_text *t)
{
    return t->count == 0 || (t->count == 1 && t->constant.size == t->pieces[0].size);
}

/* Appends the filled-in text. RAD__LOAD_OK, RAD__LOAD_BAD_REQUEST, or RAD__LOAD_NO_DESCRIPTORS (memory). */
RAD_INTERNAL enum rad__load_fault rad__load_text_put(const rad__load_text *t, rad__load_fill *fill, rad_bytes *to);

/* Which row of a data file a user reads in an iteration. */
RAD_INTERNAL uint32_t rad__load_data_row(const rad__load_fill *fill, uint32_t file);

#endif
