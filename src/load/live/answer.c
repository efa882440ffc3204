#include "load/live/answer.h"

#include "base/alloc.h"
#include "base/digest_inline.h"

#include <string.h>

enum { HEAD = 4 }; /* bytes in front of a kept header: two lengths */

struct rad__load_hash {
    XXH3_state_t state; /* wants the alignment of a cache line: first */
    struct rad__load_hash *next;
};

void rad__load_answers_free(rad__load_answers *shared)
{
    RAD_ASSERT(shared->lent == 0);
    while (shared->kept) {
        rad__load_kept *kept = shared->kept;
        shared->kept = kept->next;
        rad__bytes_free(&kept->headers);
        rad__bytes_free(&kept->body);
        rad__free(kept);
    }
    while (shared->hashes) {
        struct rad__load_hash *hash = shared->hashes;
        shared->hashes = hash->next;
        rad__free(hash);
    }
}

static bool answer_fails(rad__load_answer *a, enum rad__load_fault fault)
{
    if (a->fault == RAD__LOAD_OK) a->fault = (uint8_t)fault;
    return false;
}

static bool answer_borrow_kept(rad__load_answers *shared, rad__load_answer *a)
{
    if (a->kept) return true;
    if (shared->kept == NULL && (shared->kept = rad__alloc(1, sizeof *shared->kept)) == NULL)
        return answer_fails(a, RAD__LOAD_NO_DESCRIPTORS);
    a->kept = shared->kept;
    shared->kept = a->kept->next;
    shared->lent++;
    a->kept->headers.size = a->kept->body.size = 0;
    return true;
}

static bool answer_borrow_hash(rad__load_answers *shared, rad__load_answer *a)
{
    if (a->hash) return true;
    if (shared->hashes == NULL && (shared->hashes = rad__alloc_lines(1, sizeof *shared->hashes)) == NULL)
        return answer_fails(a, RAD__LOAD_NO_DESCRIPTORS);
    a->hash = shared->hashes;
    shared->hashes = a->hash->next;
    shared->lent++;
    XXH3_64bits_reset(&a->hash->state);
    return true;
}

void rad__load_answer_begin(rad__load_answer *a, uint8_t keep)
{
    RAD_DCHECK(a->kept == NULL && a->hash == NULL);
    *a = (rad__load_answer){.keep = keep};
}

bool rad__load_answer_body(rad__load_answers *shared, rad__load_answer *a, const void *data, size_t size)
{
    if (size == 0) return true;
    if (size > shared->max_body_bytes || a->body_bytes > shared->max_body_bytes - size)
        return answer_fails(a, RAD__LOAD_TOO_LARGE);
    if (a->part && !rad__load_answer_pause(shared, a)) return false;
    a->part = data;
    a->part_size = (uint32_t)size;
    a->body_bytes += size;
    if (!(a->keep & RAD__LOAD_KEEP_BODY)) return true;
    if (!answer_borrow_kept(shared, a)) return false;
    rad__bytes_put(&a->kept->body, data, size);
    return !a->kept->body.failed || answer_fails(a, RAD__LOAD_NO_DESCRIPTORS);
}

bool rad__load_answer_pause(rad__load_answers *shared, rad__load_answer *a)
{
    if (a->part == NULL) return true;
    if (!answer_borrow_hash(shared, a)) return false;
    XXH3_64bits_update(&a->hash->state, a->part, a->part_size);
    a->part = NULL;
    return true;
}

bool rad__load_answer_header_begins(rad__load_answers *shared, rad__load_answer *a)
{
    static const uint8_t empty[HEAD];
    if (++a->header_count > RAD__LOAD_HEADERS_MAX) return answer_fails(a, RAD__LOAD_BAD_HEADER);
    if (!(a->keep & RAD__LOAD_KEEP_HEADERS)) return true;
    if (!answer_borrow_kept(shared, a)) return false;
    a->part_size = a->kept->headers.size; /* no body yet: where this header begins */
    rad__bytes_put(&a->kept->headers, empty, HEAD);
    return !a->kept->headers.failed || answer_fails(a, RAD__LOAD_NO_DESCRIPTORS);
}

/* `which` of the two lengths grows. */
static bool answer_add(rad__load_answer *a, uint32_t which, const char *data, size_t size)
{
    if (!(a->keep & RAD__LOAD_KEEP_HEADERS)) return true;
    rad_bytes *to = &a->kept->headers;
    rad__bytes_put(to, data, size);
    if (to->failed) return answer_fails(a, RAD__LOAD_NO_DESCRIPTORS);
    uint16_t lengths[2];
    memcpy(lengths, to->data + a->part_size, HEAD);
    if (size > (size_t)(UINT16_MAX - lengths[which])) return answer_fails(a, RAD__LOAD_BAD_HEADER);
    lengths[which] = (uint16_t)(lengths[which] + size);
    memcpy(to->data + a->part_size, lengths, HEAD);
    return true;
}

bool rad__load_answer_name(rad__load_answer *a, const char *data, size_t size)
{
    return answer_add(a, 0, data, size);
}

bool rad__load_answer_value(rad__load_answer *a, const char *data, size_t size)
{
    return answer_add(a, 1, data, size);
}

void rad__load_answer_restart(rad__load_answer *a)
{
    if (a->kept) a->kept->headers.size = 0;
    a->header_count = 0;
    a->header_bytes = 0;
}

void rad__load_answer_end(rad__load_answers *shared, rad__load_answer *a)
{
    if (a->hash) {
        bool taken = rad__load_answer_pause(shared, a); /* it has its hash: cannot fail */
        RAD_ASSERT(taken);
        a->body_hash = XXH3_64bits_digest(&a->hash->state);
    } else {
        a->body_hash = XXH3_64bits(a->part, a->part ? a->part_size : 0);
        a->part = NULL;
    }
}

void rad__load_answer_drop(rad__load_answers *shared, rad__load_answer *a)
{
    a->part = NULL;
    if (a->kept) {
        if (a->kept->headers.failed) rad__bytes_free(&a->kept->headers);
        if (a->kept->body.failed) rad__bytes_free(&a->kept->body);
        a->kept->next = shared->kept;
        shared->kept = a->kept;
        a->kept = NULL;
        shared->lent--;
    }
    if (a->hash) {
        a->hash->next = shared->hashes;
        shared->hashes = a->hash;
        a->hash = NULL;
        shared->lent--;
    }
}

bool rad__load_answer_next(const rad__load_answer *a, uint32_t *at, rad__load_field *field)
{
    if (a->kept == NULL || *at >= a->kept->headers.size) return false;
    const uint8_t *here = a->kept->headers.data + *at;
    uint16_t lengths[2];
    memcpy(lengths, here, HEAD);
    *field = (rad__load_field){
        .name = (const char *)here + HEAD,
        .value = (const char *)here + HEAD + lengths[0],
        .name_size = lengths[0],
        .value_size = lengths[1],
    };
    *at += HEAD + (uint32_t)lengths[0] + lengths[1];
    return true;
}
