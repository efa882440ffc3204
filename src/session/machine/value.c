#include "session/machine/value.h"

#include "base/digest.h"

#include <string.h>

bool rad__value_set_text(rad_datum *v, const char *text, uint32_t length)
{
    char *copy = NULL;
    if (length > 0) {
        copy = rad__alloc(length + 1u, 1);
        if (copy == NULL) return false;
        memcpy(copy, text, length);
    }
    rad__value_drop(v);
    v->type = RAD_TYPE_TEXT;
    v->text = copy;
    v->length = length;
    return true;
}

uint64_t rad__value_hash_text(const rad_datum *v)
{
    return rad__digest_of(v->text ? v->text : "", v->length).low;
}

bool rad__value_equal(const rad_datum *a, const rad_datum *b)
{
    if (a->type != b->type) return false;
    if (a->type != RAD_TYPE_TEXT) return a->number == b->number;
    return a->length == b->length && (a->length == 0 || memcmp(a->text, b->text, a->length) == 0);
}
