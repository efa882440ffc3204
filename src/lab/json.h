/* json.h — strict JSON for the lab's files: artifacts and the heads of logs.
 *
 * Reading: syntax errors are "file:line:column: expected …, found …", errors of content are "file: field:
 * expected …, found …"; what is not asked for is an error. Text is looked over before jansson sees it, so
 * that no input makes it build more than the limits below.
 * Writing: one fixed layout that a person can read and diff: fields in the order they were set, lists
 * packed many values to a line.
 *
 * jansson allocates through base/alloc.h and hashes with a fixed seed. */
#ifndef RAD_LAB_JSON_H
#define RAD_LAB_JSON_H

#include "base/bytes.h"
#include "base/digest.h"
#include "base/error.h"

#include <raddle/lab.h>

#include <jansson.h>

enum {
    RAD_JSON_VALUES_MAX = 10 * 1000 * 1000, /* in one list */
    RAD_JSON_TOTAL_MAX = 11 * 1000 * 1000,  /* in one file */
    RAD_JSON_LISTS_MAX = 101 * 1000,        /* lists and objects in one file */
    RAD_JSON_DEPTH_MAX = 36,
    /* Of these the body of a case may have: what is left is enough for the rest of a file. */
    RAD_JSON_BODY_TOTAL_MAX = 900 * 1000,
    RAD_JSON_BODY_LISTS_MAX = 100 * 1000,
    RAD_JSON_BODY_DEPTH_MAX = 32
};

/* Call before anything else of jansson. */
RAD_INTERNAL void rad__json_prepare(void);

/* ---- Reading -------------------------------------------------------------------------------------- */

/* What the functions below read from, for their messages. */
typedef struct rad_json_source {
    const char *name; /* of the file; NULL: messages begin with the place (machines reading a body) */
    rad_error *error;
} rad_json_source;

/* Counts brackets and commas outside strings, so that a small text cannot make a large tree. */
RAD_INTERNAL int rad__json_look_over(const rad_json_source *s, const char *text, size_t size, bool body);

/* An object, or NULL with the error set. */
RAD_INTERNAL json_t *rad__json_load(const rad_json_source *s, const char *text, size_t size);

/* "file: place: expected …, found …"; place is "case.params.n"; `found` may be NULL: nothing. */
RAD_INTERNAL int rad__json_bad(const rad_json_source *s, const char *place, const char *expected, const json_t *found);

/* Members of `o`, which stands at `place` ("" = the file itself). Each is required. */
RAD_INTERNAL int rad__json_object(const rad_json_source *s, const json_t *o, const char *place, const char *key,
                                  const json_t **out);
RAD_INTERNAL int rad__json_integer(const rad_json_source *s, const json_t *o, const char *place, const char *key,
                                   int64_t min, int64_t max, int64_t *out);
RAD_INTERNAL int rad__json_boolean(const rad_json_source *s, const json_t *o, const char *place, const char *key,
                                   bool *out);
RAD_INTERNAL int rad__json_text(const rad_json_source *s, const json_t *o, const char *place, const char *key,
                                char *out, size_t room);

/* 32 lower-case hexadecimal digits. */
RAD_INTERNAL int rad__json_digest(const rad_json_source *s, const json_t *o, const char *place, const char *key,
                                  rad_digest *out);

/* Refuses fields that are not in `keys` (NULL at the end). */
RAD_INTERNAL int rad__json_only(const rad_json_source *s, const json_t *o, const char *place, const char *const *keys);

RAD_INTERNAL int rad__json_no_machine(const rad_json_source *s, const char *name);

/* `machine` and `case` of a file: the machine must exist, the parameters be its own and in range, the body
 * one that the machine takes. rad_target_free it; on failure there is nothing to free. */
RAD_INTERNAL int rad__json_read_target(const rad_json_source *s, const json_t *root, rad_target *out);

typedef struct rad_json_build {
    char version[24], git_sha[48], compiler[96];
} rad_json_build;
RAD_INTERNAL int rad__json_read_build(const rad_json_source *s, const json_t *root, rad_json_build *out);

/* `program`, which may be missing: the path is then "". */
RAD_INTERNAL int rad__json_read_program(const rad_json_source *s, const json_t *root, rad_lab_program *out);

/* ---- Writing -------------------------------------------------------------------------------------- */

/* False when memory ran out; `value` may be NULL for the same reason and is taken in any case. */
RAD_INTERNAL bool rad__json_set(json_t *o, const char *key, json_t *value);

/* RAD_EINPUT when JSON cannot hold the seed: its integers are signed. */
RAD_INTERNAL int rad__json_seed(uint64_t seed, rad_error *error);

RAD_INTERNAL bool rad__json_set_target(json_t *root, const rad_target *t); /* machine, case */
RAD_INTERNAL bool rad__json_set_build(json_t *root, const rad_json_build *b);
RAD_INTERNAL bool rad__json_set_program(json_t *root, const rad_lab_program *p); /* nothing for none */

/* The layout for people, without a newline at the end. */
RAD_INTERNAL void rad__json_print(rad_bytes *to, const json_t *value);

/* XXH3-128 of the compact text with sorted keys, the field `checksum` left out. */
RAD_INTERNAL int rad__json_checksum(const json_t *root, rad_digest *out, rad_error *error);

/* Makes any bytes valid UTF-8 without changing the length: what is not becomes '?'. */
RAD_INTERNAL void rad__text_clean(char *text);

/* Control characters (a line break in a message, or worse) become spaces. */
RAD_INTERNAL void rad__text_plain(char *text);

#endif
