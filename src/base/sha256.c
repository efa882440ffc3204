/* sha256.c — see sha256.h. Written from the standard, with its names: a … h, the schedule w, the constants K. */
#include "base/sha256.h"

#include <string.h>

static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static inline uint32_t turn_right(uint32_t x, unsigned by)
{
    return x >> by | x << (32 - by);
}

static void take_block(rad_sha256 *s, const uint8_t *at)
{
    uint32_t w[64], v[8];
    for (int i = 0; i < 16; i++, at += 4)
        w[i] = (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
    for (int i = 16; i < 64; i++) {
        uint32_t p = w[i - 15], q = w[i - 2];
        w[i] = w[i - 16] + (turn_right(p, 7) ^ turn_right(p, 18) ^ p >> 3) + w[i - 7] +
               (turn_right(q, 17) ^ turn_right(q, 19) ^ q >> 10);
    }
    memcpy(v, s->state, sizeof v);
    for (int i = 0; i < 64; i++) {
        uint32_t a = v[0], e = v[4];
        uint32_t t1 = v[7] + (turn_right(e, 6) ^ turn_right(e, 11) ^ turn_right(e, 25)) + ((e & v[5]) ^ (~e & v[6])) +
                      K[i] + w[i];
        uint32_t t2 =
            (turn_right(a, 2) ^ turn_right(a, 13) ^ turn_right(a, 22)) + ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += t1;
        v[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++) s->state[i] += v[i];
}

void rad__sha256_begin(rad_sha256 *s)
{
    *s = (rad_sha256){
        .state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void rad__sha256_put(rad_sha256 *s, const void *data, size_t size)
{
    const uint8_t *at = data;
    size_t used = s->size % RAD_SHA256_BLOCK;
    s->size += size;
    if (used > 0) {
        size_t part = RAD_SHA256_BLOCK - used < size ? RAD_SHA256_BLOCK - used : size;
        memcpy(s->block + used, at, part);
        at += part;
        size -= part;
        if (used + part < RAD_SHA256_BLOCK) return;
        take_block(s, s->block);
    }
    for (; size >= RAD_SHA256_BLOCK; at += RAD_SHA256_BLOCK, size -= RAD_SHA256_BLOCK) take_block(s, at);
    if (size > 0) memcpy(s->block, at, size);
}

/* One bit, zeros up to eight bytes before the end of a block, and the length in bits. */
void rad__sha256_end(rad_sha256 *s, uint8_t out[RAD_SHA256_SIZE])
{
    static const uint8_t PAD[RAD_SHA256_BLOCK] = {0x80};
    uint64_t bits = s->size * 8;
    uint8_t length[8];
    size_t used = s->size % RAD_SHA256_BLOCK;
    for (int i = 0; i < 8; i++) length[i] = (uint8_t)(bits >> (56 - 8 * i));
    rad__sha256_put(s, PAD, used < 56 ? 56 - used : 120 - used);
    rad__sha256_put(s, length, sizeof length);
    for (int i = 0; i < RAD_SHA256_SIZE; i++) out[i] = (uint8_t)(s->state[i / 4] >> (24 - 8 * (i % 4)));
}

void rad__sha256(const void *data, size_t size, uint8_t out[RAD_SHA256_SIZE])
{
    rad_sha256 s;
    rad__sha256_begin(&s);
    rad__sha256_put(&s, data, size);
    rad__sha256_end(&s, out);
}

void rad__sha256_text(const void *data, size_t size, char text[2 * RAD_SHA256_SIZE + 1])
{
    static const char DIGITS[] = "0123456789abcdef";
    uint8_t out[RAD_SHA256_SIZE];
    rad__sha256(data, size, out);
    for (int i = 0; i < RAD_SHA256_SIZE; i++) {
        text[2 * i] = DIGITS[out[i] >> 4];
        text[2 * i + 1] = DIGITS[out[i] & 15];
    }
    text[2 * RAD_SHA256_SIZE] = 0;
}
