/* judge_set.h — a growing set of 64-bit digests, in the order in which they were added. */
#ifndef RAD_TEST_JUDGE_SET_H
#define RAD_TEST_JUDGE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct judge_set {
    uint64_t *items; /* as they came */
    uint32_t count, room;
    uint32_t *slots; /* index + 1 into items; 0: free */
    uint32_t slot_count;
} judge_set;

bool judge_set_has(const judge_set *s, uint64_t digest);
bool judge_set_add(judge_set *s, uint64_t digest); /* false: it was there */
void judge_set_free(judge_set *s);

uint64_t judge_fold(uint64_t digest, uint64_t value);
uint64_t judge_digest(const void *bytes, size_t size);

#endif
