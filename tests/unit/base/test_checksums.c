/* test_checksums.c — SHA-256 and CRC-32 against the vectors of their standards, whole and in pieces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/crc32.h"
#include "base/sha256.h"

#include <stdio.h>
#include <string.h>

static void sha256_vectors(void **state)
{
    (void)state;
    static const struct {
        const char *text, *hash;
    } CASES[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqr"
         "lmnopqrsmnopqrstnopqrstu",
         "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
    };
    char text[65];
    for (uint32_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        rad__sha256_text(CASES[i].text, strlen(CASES[i].text), text);
        assert_string_equal(text, CASES[i].hash);
    }
}

static void sha256_of_a_million(void **state)
{
    (void)state;
    static const uint8_t EXPECTED[32] = {0xcd, 0xc7, 0x6e, 0x5c, 0x99, 0x14, 0xfb, 0x92, 0x81, 0xa1, 0xc7,
                                         0xe2, 0x84, 0xd7, 0x3e, 0x67, 0xf1, 0x80, 0x9a, 0x48, 0xa4, 0x97,
                                         0x20, 0x0e, 0x04, 0x6d, 0x39, 0xcc, 0xc7, 0x11, 0x2c, 0xd0};
    rad_sha256 s;
    uint8_t out[32];
    char piece[101];
    memset(piece, 'a', sizeof piece);
    rad__sha256_begin(&s);
    for (uint32_t left = 1000000, n = 1; left > 0; n = n % 101 + 1) { /* pieces of all sizes */
        uint32_t part = n < left ? n : left;
        rad__sha256_put(&s, piece, part);
        left -= part;
    }
    rad__sha256_end(&s, out);
    assert_memory_equal(out, EXPECTED, 32);
}

/* All lengths around the ends of blocks, in two pieces and in one. */
static void sha256_in_pieces(void **state)
{
    (void)state;
    uint8_t data[200], one[32], two[32];
    for (uint32_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)(i * 7);
    for (uint32_t size = 0; size <= sizeof data; size++) {
        rad__sha256(data, size, one);
        for (uint32_t cut = 0; cut <= size; cut += 13) {
            rad_sha256 s;
            rad__sha256_begin(&s);
            rad__sha256_put(&s, data, cut);
            rad__sha256_put(&s, data + cut, size - cut);
            rad__sha256_end(&s, two);
            assert_memory_equal(one, two, 32);
        }
    }
}

static uint32_t by_bits(const uint8_t *data, uint32_t size)
{
    uint32_t r = 0xffffffff;
    for (uint32_t i = 0; i < 8 * size; i++) {
        uint32_t bit = (data[i / 8] >> i % 8 ^ r) & 1;
        r = r >> 1 ^ (bit ? 0xedb88320 : 0);
    }
    return ~r;
}

static void crc32_vectors(void **state)
{
    (void)state;
    rad_crc32 c;
    uint8_t data[100];
    rad__crc32_open(&c);
    assert_int_equal(rad__crc32(&c, "", 0), 0);
    assert_int_equal(rad__crc32(&c, "123456789", 9), 0xcbf43926);
    assert_int_equal(rad__crc32(&c, "The quick brown fox jumps over the lazy dog", 43), 0x414fa339);
    for (uint32_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)(i * 37 + 11);
    for (uint32_t size = 0; size <= sizeof data; size++)
        assert_int_equal(rad__crc32(&c, data, size), by_bits(data, size));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sha256_vectors),
        cmocka_unit_test(sha256_of_a_million),
        cmocka_unit_test(sha256_in_pieces),
        cmocka_unit_test(crc32_vectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
