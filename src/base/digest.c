#include "base/digest.h"

#include <raddle/machine.h>

#include "base/digest_inline.h"

#include <stdio.h>
#include <string.h>

rad_digest rad__digest_of(const void *bytes, size_t size)
{
    XXH128_hash_t h = XXH3_128bits(bytes, size);
    return (rad_digest){h.low64, h.high64};
}

void rad__digest_text(rad_digest d, char text[RAD_DIGEST_TEXT])
{
    snprintf(text, RAD_DIGEST_TEXT, "%016llx%016llx", (unsigned long long)d.high, (unsigned long long)d.low);
}

bool rad__digest_parse(const char *text, rad_digest *d)
{
    uint64_t half[2] = {0, 0};
    if (strlen(text) != RAD_DIGEST_TEXT - 1) return false;
    for (int i = 0; i < RAD_DIGEST_TEXT - 1; i++) {
        const char *digits = "0123456789abcdef";
        const char *at = strchr(digits, text[i]);
        if (at == NULL) return false;
        half[i / 16] = half[i / 16] << 4 | (uint64_t)(at - digits);
    }
    *d = (rad_digest){.high = half[0], .low = half[1]};
    return true;
}

void rad_state_add(rad_state_hash *h, const void *bytes, size_t size)
{
    uint64_t chained[4] = {h->digest.low, h->digest.high, size, 0};
    XXH128_hash_t part = XXH3_128bits_withSeed(bytes, size, chained[0]);
    chained[2] = part.low64;
    chained[3] = part.high64;
    h->digest = rad__digest_of(chained, sizeof chained);
}
