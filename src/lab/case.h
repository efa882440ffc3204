/* case.h — cases with a document (`body`): its canonical form, who owns it, how it gets into files.
 *
 * The canonical text of a body is the compact one: no blanks, fields in the order in which they were given.
 * Bodies enter the lab through rad__body_of_json and rad__target_copy, which make it canonical, bounded and
 * free of names that a case file needs for itself; so artifacts, logs and case files hold the same document,
 * and writing what was read gives the same bytes.
 *
 * Ownership: a rad_case borrows. A rad_target that came from one of the functions here owns its body, and
 * rad_target_free frees it; artifacts, heads of logs and the shrinker hold such targets. */
#ifndef RAD_LAB_CASE_H
#define RAD_LAB_CASE_H

#include "lab/json.h"

enum { RAD_BODY_BYTES_MAX = 16 << 20 };

/* The canonical text of `value`, which is at `place` of the file; it is the caller's. */
RAD_INTERNAL int rad__body_of_json(const rad_json_source *s, const char *place, const rad_machine *m,
                                   const json_t *value, char **out);

/* The same target with a canonical body of its own. RAD_EINPUT when the body is no JSON object, or the
 * machine takes none. */
RAD_INTERNAL int rad__target_copy(rad_target *to, const rad_target *from, rad_error *error);

/* The case as create wants it: with the default body when it has none. */
RAD_INTERNAL rad_case rad__case_of(const rad_target *t);

/* Lets the machine look at a case with a body; its complaint begins with the file and the place. */
RAD_INTERNAL int rad__target_try(const rad_json_source *s, const char *place, const rad_target *t);

/* Of everything that makes two cases of one machine different. */
RAD_INTERNAL rad_digest rad__case_digest(const rad_target *t);

/* From text, without files. `name` is for messages. */
RAD_INTERNAL int rad__target_parse(rad_target *t, const char *text, size_t size, const char *name, rad_error *error);

#endif
