/* crc32.c — see crc32.h. table[k][b] is what a byte b does to the remainder when k more bytes follow it. */
#include "base/crc32.h"

void rad__crc32_open(rad_crc32 *c)
{
    for (uint32_t b = 0; b < 256; b++) {
        uint32_t r = b;
        for (int bit = 0; bit < 8; bit++) r = r >> 1 ^ (r & 1 ? 0xedb88320 : 0);
        c->table[0][b] = r;
    }
    for (uint32_t k = 1; k < 8; k++)
        for (uint32_t b = 0; b < 256; b++) {
            uint32_t r = c->table[k - 1][b];
            c->table[k][b] = r >> 8 ^ c->table[0][r & 255];
        }
}

uint32_t rad__crc32(const rad_crc32 *c, const void *data, size_t size)
{
    const uint8_t *at = data;
    uint32_t r = 0xffffffff;
    for (; size >= 8; at += 8, size -= 8) {
        r ^= (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
        r = c->table[7][r & 255] ^ c->table[6][r >> 8 & 255] ^ c->table[5][r >> 16 & 255] ^ c->table[4][r >> 24] ^
            c->table[3][at[4]] ^ c->table[2][at[5]] ^ c->table[1][at[6]] ^ c->table[0][at[7]];
    }
    for (; size > 0; at++, size--) r = r >> 8 ^ c->table[0][(r ^ *at) & 255];
    return ~r;
}
