/* value.h — what registers and messages hold. A text belongs to its value; numbers cost nothing. */
#ifndef RAD_SESSION_MACHINE_VALUE_H
#define RAD_SESSION_MACHINE_VALUE_H

#include "base/alloc.h"
#include "base/prng.h"
#include "session/lang/program.h"

typedef struct rad_datum {
    union {
        int64_t number;
        char *text; /* NULL: empty; otherwise of `length` characters and a zero */
    };
    uint32_t type; /* enum rad_type */
    uint32_t length;
} rad_datum;

static inline void rad__value_drop(rad_datum *v)
{
    if (RAD_UNLIKELY(v->type == RAD_TYPE_TEXT)) {
        rad__free(v->text);
        v->text = NULL;
        v->length = 0;
    }
}

/* Over what is there; false, and nothing has changed, when memory ran out. */
RAD_INTERNAL bool rad__value_set_text(rad_datum *v, const char *text, uint32_t length);

static inline void rad__value_set(rad_datum *v, enum rad_type type, int64_t number)
{
    rad__value_drop(v);
    v->number = number;
    v->type = type;
    v->length = 0;
}

/* `to` may hold something. */
static inline bool rad__value_copy(rad_datum *to, const rad_datum *from)
{
    if (RAD_UNLIKELY(from->type == RAD_TYPE_TEXT))
        return rad__value_set_text(to, from->text ? from->text : "", from->length);
    rad__value_set(to, (enum rad_type)from->type, from->number);
    return true;
}

/* `from` is 0 afterwards. */
static inline void rad__value_move(rad_datum *to, rad_datum *from)
{
    rad__value_drop(to);
    *to = *from;
    from->type = RAD_TYPE_INT;
    from->number = 0;
}

RAD_INTERNAL uint64_t rad__value_hash_text(const rad_datum *v);

static inline uint64_t rad__value_hash(uint64_t hash, const rad_datum *v)
{
    uint64_t bits = RAD_UNLIKELY(v->type == RAD_TYPE_TEXT) ? rad__value_hash_text(v) : (uint64_t)v->number;
    return rad__fold(hash + v->type, bits);
}

/* True and false are not 1 and 0. */
RAD_INTERNAL bool rad__value_equal(const rad_datum *a, const rad_datum *b);

#endif
