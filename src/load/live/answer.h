/* answer.h — what is remembered of a response while it comes in, whatever protocol brings it.
 *
 * Always: status, sizes, a hash of the body. Headers and body themselves only where the request says that somebody will
 * look at them (judge.h). Most bodies come whole: they are hashed where they lie. One that comes in parts borrows a
 * hash state from the pool, so that a connection that waits for its next response holds none.
 *
 * Rejected: a hash state in each connection (576 bytes, a third of what else it needs); hashing kept bodies at the end
 * (most are not kept). */
#ifndef RAD_LOAD_LIVE_ANSWER_H
#define RAD_LOAD_LIVE_ANSWER_H

#include "base/bytes.h"
#include "load/log/turn.h"

enum {
    RAD__LOAD_KEEP_HEADERS = 1,
    RAD__LOAD_KEEP_BODY = 2,
    RAD__LOAD_HEADERS_MAX = 256 /* in one response */
};

/* What an answer borrows. Headers: for each, length of the name, of the value (two bytes each), name, value. */
typedef struct rad__load_kept {
    struct rad__load_kept *next; /* in the pool */
    rad_bytes headers, body;
} rad__load_kept;

struct rad__load_hash;

/* What all answers of an engine share. */
typedef struct rad__load_answers {
    uint32_t max_header_bytes, max_body_bytes;
    rad__load_kept *kept;
    struct rad__load_hash *hashes;
    uint32_t lent; /* of both: nothing is lost */
} rad__load_answers;

typedef struct rad__load_answer {
    uint64_t body_bytes, body_hash;
    const uint8_t *part; /* of the body, not hashed yet; lies in what is being read just now */
    rad__load_kept *kept;
    struct rad__load_hash *hash;
    uint32_t part_size, header_bytes;
    uint16_t status, header_count;
    uint8_t keep;  /* RAD__LOAD_KEEP_… */
    uint8_t fault; /* enum rad__load_fault: the first one stays */
} rad__load_answer;

RAD_INTERNAL void rad__load_answers_free(rad__load_answers *shared);

/* A new answer. The old one has to be dropped before. */
RAD_INTERNAL void rad__load_answer_begin(rad__load_answer *a, uint8_t keep);

/* A piece of the body, which stays where it is until rad__load_answer_pause. False: see fault. */
RAD_INTERNAL bool rad__load_answer_body(rad__load_answers *shared, rad__load_answer *a, const void *data, size_t size);

/* What was read goes away, and the answer is not complete: what it points to has to be taken in. */
RAD_INTERNAL bool rad__load_answer_pause(rad__load_answers *shared, rad__load_answer *a);

/* Pieces of a header, in order: parts of its name, then parts of its value, then its end. */
RAD_INTERNAL bool rad__load_answer_header_begins(rad__load_answers *shared, rad__load_answer *a);
RAD_INTERNAL bool rad__load_answer_name(rad__load_answer *a, const char *data, size_t size);
RAD_INTERNAL bool rad__load_answer_value(rad__load_answer *a, const char *data, size_t size);

/* Forgets headers: those of an interim response do not count. */
RAD_INTERNAL void rad__load_answer_restart(rad__load_answer *a);

/* It is complete: body_hash counts. */
RAD_INTERNAL void rad__load_answer_end(rad__load_answers *shared, rad__load_answer *a);

/* Gives back what it borrowed. */
RAD_INTERNAL void rad__load_answer_drop(rad__load_answers *shared, rad__load_answer *a);

/* The headers that were kept, one by one; `at` begins with 0. False: no more. */
typedef struct rad__load_field {
    const char *name, *value;
    uint32_t name_size, value_size;
} rad__load_field;

RAD_INTERNAL bool rad__load_answer_next(const rad__load_answer *a, uint32_t *at, rad__load_field *field);

#endif
