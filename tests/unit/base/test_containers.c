/* test_containers.c — the containers under the kernel, each against a naive model, and with memory running out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/bitset.h"
#include "base/bytes.h"
#include "base/digest.h"
#include "base/error.h"
#include "base/fenwick.h"
#include "base/heap.h"
#include "base/map64.h"
#include "base/prng.h"
#include "base/set128.h"
#include "base/sort.h"
#include "rig_support.h"

#include <stdlib.h>
#include <string.h>

static rad_prng draws(uint64_t index)
{
    return rad__prng(7, RAD_STREAM_TEST, index);
}

/* ---- Bitset ---------------------------------------------------------------------------------------- */

typedef struct naive_set {
    bool *has;
    uint32_t size;
} naive_set;

static uint32_t naive_rank(const naive_set *n, uint32_t number)
{
    uint32_t rank = 0;
    for (uint32_t i = 0; i < number && i < n->size; i++) rank += n->has[i];
    return rank;
}

static uint32_t naive_next(const naive_set *n, uint32_t number)
{
    for (uint32_t i = number; i < n->size; i++)
        if (n->has[i]) return i;
    return RAD_NONE;
}

static void compare_set(const rad_bitset *s, const naive_set *n, rad_prng *r, uint32_t looks)
{
    assert_true(rad__bitset_valid(s));
    assert_int_equal(s->count, naive_rank(n, n->size));
    for (uint32_t i = 0; i < looks; i++) {
        uint32_t number = (uint32_t)rad__prng_below(r, n->size);
        assert_int_equal(rad__bitset_has(s, number), n->has[number]);
        assert_int_equal(rad__bitset_rank(s, number), naive_rank(n, number));
        assert_int_equal(rad__bitset_next(s, number), naive_next(n, number));
        if (n->has[number]) assert_int_equal(rad__bitset_select(s, naive_rank(n, number)), number);
    }
}

static void set_or_clear(rad_bitset *s, naive_set *n, uint32_t number, bool in)
{
    bool changed = in ? rad__bitset_add(s, number) : rad__bitset_remove(s, number);
    assert_int_equal(changed, n->has[number] != in);
    n->has[number] = in;
}

static void bitset_agrees_with_a_naive_set(void **state)
{
    static const uint32_t sizes[] = {1, 2, 63, 64, 65, 1000, 1024, 1025, 16384, 16385, 100000};
    (void)state;
    for (uint32_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        rad_bitset s = {0};
        naive_set n = {calloc(sizes[i], 1), sizes[i]};
        rad_prng r = draws(sizes[i]);
        assert_true(rad__bitset_reserve(&s, sizes[i]));
        for (uint32_t round = 0; round < 12; round++) {
            uint64_t in_of_8 = round < 6 ? 6 : 1; /* first it fills, then it empties */
            for (uint32_t op = 0; op < sizes[i] / 4 + 40; op++)
                set_or_clear(&s, &n, (uint32_t)rad__prng_below(&r, sizes[i]), rad__prng_below(&r, 8) < in_of_8);
            compare_set(&s, &n, &r, sizes[i] > 20000 ? 8 : 40);
        }
        rad__bitset_free(&s);
        free(n.has);
    }
}

static void bitset_counts_at_every_word_boundary(void **state)
{
    (void)state;
    rad_bitset s = {0};
    enum { SIZE = 64 * 16 * 20 };
    assert_true(rad__bitset_reserve(&s, SIZE));
    for (uint32_t i = 0; i < SIZE; i++) rad__bitset_add(&s, i);
    for (uint32_t i = 0; i <= SIZE; i++) assert_int_equal(rad__bitset_rank(&s, i), i);
    for (uint32_t i = 0; i < SIZE; i++) {
        assert_int_equal(rad__bitset_select(&s, i), i);
        assert_int_equal(rad__bitset_next(&s, i), i);
    }
    assert_int_equal(rad__bitset_next(&s, SIZE), RAD_NONE);
    assert_int_equal(rad__bitset_rank(&s, SIZE + 1000), SIZE);
    rad__bitset_free(&s);
}

static void bitset_keeps_its_members_when_it_grows_by_levels(void **state)
{
    (void)state;
    rad_bitset s = {0};
    naive_set n = {calloc(100000, 1), 100000};
    rad_prng r = draws(1);
    for (uint32_t limit = 1; limit <= 100000; limit = limit + limit / 2 + 1) {
        assert_true(rad__bitset_reserve(&s, limit));
        set_or_clear(&s, &n, limit - 1, true);
        for (int i = 0; i < 20; i++) set_or_clear(&s, &n, (uint32_t)rad__prng_below(&r, limit), i % 3 != 0);
        compare_set(&s, &n, &r, 10);
    }
    rad__bitset_free(&s);
    free(n.has);
}

static void bitset_is_empty_after_clear_whatever_its_size_was(void **state)
{
    static const uint32_t sizes[] = {100000, 10, 1025, 20000, 64, 100000, 1};
    (void)state;
    rad_bitset s = {0};
    rad_prng r = draws(2);
    for (uint32_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        naive_set n = {calloc(sizes[i], 1), sizes[i]};
        rad__bitset_clear(&s);
        assert_int_equal(s.count, 0);
        assert_int_equal(rad__bitset_next(&s, 0), RAD_NONE);
        assert_false(rad__bitset_has(&s, 0));
        assert_true(rad__bitset_reserve(&s, sizes[i]));
        for (int op = 0; op < 300; op++) set_or_clear(&s, &n, (uint32_t)rad__prng_below(&r, sizes[i]), op % 4 != 0);
        compare_set(&s, &n, &r, 10);
        free(n.has);
    }
    rad__bitset_free(&s);
}

/* ---- Heap ------------------------------------------------------------------------------------------ */

enum { HEAP_ITEMS = 200 };

typedef struct naive_heap {
    bool in[HEAP_ITEMS];
    uint64_t key[HEAP_ITEMS], tie[HEAP_ITEMS];
} naive_heap;

static uint32_t naive_least(const naive_heap *n)
{
    uint32_t best = RAD_NONE;
    for (uint32_t i = 0; i < HEAP_ITEMS; i++) {
        if (!n->in[i]) continue;
        if (best == RAD_NONE || n->key[i] < n->key[best] || (n->key[i] == n->key[best] && n->tie[i] < n->tie[best]))
            best = i;
    }
    return best;
}

static void heap_agrees_with_a_naive_queue(void **state)
{
    (void)state;
    rad_heap h = {0};
    static naive_heap n;
    rad_prng r = draws(3);
    uint64_t ties = 0;
    for (int op = 0; op < 20000; op++) {
        uint32_t item = (uint32_t)rad__prng_below(&r, HEAP_ITEMS);
        if (!n.in[item] && rad__prng_below(&r, 5) < 3) {
            n.in[item] = true;
            n.key[item] = rad__prng_below(&r, 30); /* few keys: ties are common */
            n.tie[item] = ties++;
            assert_true(rad__heap_push(&h, item, n.key[item], n.tie[item]));
        } else {
            assert_int_equal(rad__heap_remove(&h, item), n.in[item]);
            n.in[item] = false;
        }
        assert_true(rad__heap_valid(&h));
        assert_int_equal(rad__heap_has(&h, item), n.in[item]);
        if (h.count) assert_int_equal(rad__heap_top(&h)->item, naive_least(&n));
    }
    rad__heap_clear(&h);
    assert_int_equal(h.count, 0);
    for (uint32_t i = 0; i < HEAP_ITEMS; i++) assert_false(rad__heap_has(&h, i));
    rad__heap_free(&h);
}

/* The last node replaces one in another branch, whose parent is greater: it has to rise. */
static void heap_lets_the_replacing_node_rise(void **state)
{
    static const uint64_t keys[] = {0, 10, 1, 11, 12, 2, 3, 20, 21, 22, 23, 4};
    (void)state;
    rad_heap h = {0};
    for (uint32_t i = 0; i < 12; i++) assert_true(rad__heap_push(&h, i, keys[i], i));
    assert_true(rad__heap_valid(&h));
    assert_true(rad__heap_remove(&h, 7)); /* 20, below 11; its place gets 4 */
    assert_true(rad__heap_valid(&h));
    for (uint64_t last = 0; h.count;) {
        assert_true(rad__heap_top(&h)->key >= last);
        last = rad__heap_top(&h)->key;
        rad__heap_remove(&h, rad__heap_top(&h)->item);
    }
    rad__heap_free(&h);
}

/* ---- Fenwick --------------------------------------------------------------------------------------- */

static uint32_t naive_find(const uint64_t *weights, uint32_t size, uint64_t point)
{
    uint32_t i = 0;
    for (; i < size && point >= weights[i]; i++) point -= weights[i];
    return i;
}

static void fenwick_agrees_with_prefix_sums(void **state)
{
    static const uint32_t sizes[] = {1, 2, 15, 16, 17, 100, 1000};
    (void)state;
    for (uint32_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        rad_fenwick f = {0};
        uint64_t weights[1000] = {0}, total = 0;
        rad_prng r = draws(100 + s);
        for (int op = 0; op < 2000; op++) {
            uint32_t number = (uint32_t)rad__prng_below(&r, sizes[s]);
            uint64_t weight = rad__prng_below(&r, 3) ? rad__prng_below(&r, 50) : 0;
            assert_true(rad__fenwick_reserve(&f, number + 1)); /* grows while it has content */
            rad__fenwick_set(&f, number, weight);
            total += weight - weights[number];
            weights[number] = weight;
            assert_int_equal(f.total, total);
            assert_int_equal(rad__fenwick_get(&f, number), weight);
            if (total == 0) continue;
            uint64_t point = rad__prng_below(&r, total);
            assert_int_equal(rad__fenwick_find(&f, point), naive_find(weights, sizes[s], point));
        }
        rad__fenwick_clear(&f);
        assert_int_equal(f.total, 0);
        for (uint32_t i = 0; i < sizes[s]; i++) assert_int_equal(rad__fenwick_get(&f, i), 0);
        rad__fenwick_free(&f);
    }
}

static void fenwick_never_finds_a_zero_weight(void **state)
{
    (void)state;
    rad_fenwick f = {0};
    assert_true(rad__fenwick_reserve(&f, 8));
    rad__fenwick_set(&f, 2, 1);
    rad__fenwick_set(&f, 5, 2);
    assert_int_equal(rad__fenwick_find(&f, 0), 2);
    assert_int_equal(rad__fenwick_find(&f, 1), 5);
    assert_int_equal(rad__fenwick_find(&f, 2), 5);
    rad__fenwick_set(&f, 5, 0);
    assert_int_equal(rad__fenwick_find(&f, 0), 2);
    assert_int_equal(rad__fenwick_get(&f, 1000000), 0);
    rad__fenwick_free(&f);
}

/* ---- Set of digests -------------------------------------------------------------------------------- */

static void set128_keeps_all_digests_also_the_zero_one(void **state)
{
    (void)state;
    rad_set128 s = {0};
    rad_digest zero = {0, 0}, low_zero = {0, 5};
    assert_false(rad__set128_has(&s, zero));
    assert_int_equal(rad__set128_add(&s, zero), RAD_SET_NEW);
    assert_int_equal(rad__set128_add(&s, zero), RAD_SET_KNOWN);
    assert_false(rad__set128_has(&s, low_zero));
    assert_int_equal(rad__set128_add(&s, low_zero), RAD_SET_NEW);
    for (uint64_t i = 1; i <= 10000; i++) { /* equal low halves: long probes, several growths */
        rad_digest d = {i % 7 << 40, i};
        assert_int_equal(rad__set128_add(&s, d), i == 5 && d.low == 0 ? RAD_SET_KNOWN : RAD_SET_NEW);
    }
    assert_int_equal(s.count, 10002);
    for (uint64_t i = 1; i <= 10000; i++) assert_true(rad__set128_has(&s, (rad_digest){i % 7 << 40, i}));
    assert_false(rad__set128_has(&s, (rad_digest){1, 1}));
    rad__set128_clear(&s);
    assert_int_equal(s.count, 0);
    assert_false(rad__set128_has(&s, zero));
    assert_false(rad__set128_has(&s, low_zero));
    rad__set128_free(&s);
}

static void set128_refuses_new_ones_at_its_limit(void **state)
{
    (void)state;
    rad_set128 s = {.limit = 3};
    for (uint64_t i = 0; i < 3; i++) assert_int_equal(rad__set128_add(&s, (rad_digest){i, i}), RAD_SET_NEW);
    assert_int_equal(rad__set128_add(&s, (rad_digest){9, 9}), RAD_SET_FULL);
    assert_int_equal(rad__set128_add(&s, (rad_digest){2, 2}), RAD_SET_KNOWN);
    assert_int_equal(s.count, 3);
    rad__set128_clear(&s);
    assert_int_equal(rad__set128_add(&s, (rad_digest){9, 9}), RAD_SET_NEW);
    rad__set128_free(&s);
    assert_int_equal(s.limit, 3);
}

/* ---- Bytes ----------------------------------------------------------------------------------------- */

static void varint_comes_back_and_no_prefix_of_it_does(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits <= 64; bits++) {
        for (int off = -1; off <= 1; off++) {
            uint64_t value = (bits == 64 ? 0 : UINT64_C(1) << bits) + (uint64_t)(int64_t)off;
            rad_bytes b = {0};
            rad__bytes_put_varint(&b, value);
            rad_reader r = rad__reader(b.data, b.size);
            assert_true(rad__read_varint(&r) == value);
            assert_false(r.failed);
            assert_ptr_equal(r.at, r.end);
            for (uint32_t cut = 0; cut < b.size; cut++) {
                r = rad__reader(b.data, cut);
                assert_int_equal(rad__read_varint(&r), 0);
                assert_true(r.failed);
                assert_true(r.at <= r.end);
            }
            rad__bytes_free(&b);
        }
    }
}

static void varint_of_more_than_64_bits_is_refused(void **state)
{
    static const uint8_t most[10] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01};
    uint8_t bytes[12];
    (void)state;
    rad_reader r = rad__reader(most, 10);
    assert_true(rad__read_varint(&r) == UINT64_MAX && !r.failed);
    memcpy(bytes, most, 10);
    bytes[9] = 0x02; /* bit 64 */
    r = rad__reader(bytes, 10);
    assert_int_equal(rad__read_varint(&r), 0);
    assert_true(r.failed);
    memset(bytes, 0x80, 11); /* eleven bytes */
    bytes[11] = 0;
    r = rad__reader(bytes, 12);
    assert_int_equal(rad__read_varint(&r), 0);
    assert_true(r.failed);
}

static void reader_never_passes_its_end_and_failure_stays(void **state)
{
    static const uint8_t data[4] = {1, 2, 3, 4};
    (void)state;
    rad_reader r = rad__reader(data, 4);
    assert_ptr_equal(rad__read_bytes(&r, 3), data);
    assert_null(rad__read_bytes(&r, 2));
    assert_true(r.failed);
    assert_null(rad__read_bytes(&r, 1)); /* would fit, but something is missing before it */
    assert_null(rad__read_bytes(&r, SIZE_MAX));
    r = rad__reader(data, 4);
    assert_non_null(rad__read_bytes(&r, 4));
    assert_non_null(rad__read_bytes(&r, 0));
    assert_false(r.failed);
}

static void bytes_grow_and_format(void **state)
{
    (void)state;
    rad_bytes b = {0};
    for (int i = 0; i < 1000; i++) rad__bytes_format(&b, "%d,", i);
    rad__bytes_put(&b, "", 1);
    assert_memory_equal(b.data, "0,1,2,3,", 8);
    assert_string_equal((char *)b.data + b.size - 5, "999,");
    rad__bytes_free(&b);
    assert_null(b.data);
}

/* ---- Random numbers and digests --------------------------------------------------------------------- */

/* Computed by an independent implementation that reproduces the published PCG-XSL-RR 128/64 vectors. A
 * change here changes the meaning of every seed that anybody has written down. */
static void prng_gives_the_published_values(void **state)
{
    static const uint64_t first[] = {0xe41d3ff2ba4c89f6, 0x9f28b7c4048aa745, 0x90992cb559790703, 0x02e87788bfb18a8b};
    static const uint64_t other[] = {0xa70eefec9ef33a03, 0xceffc9bf75244dfd, 0xebb28c72c94b5c74, 0x25835ee5c37065e5};
    (void)state;
    rad_prng a = rad__prng(1, RAD_STREAM_RANDOM, 0), b = rad__prng(42, RAD_STREAM_SURW, 7);
    for (int i = 0; i < 4; i++) {
        assert_true(rad__prng_next(&a) == first[i]);
        assert_true(rad__prng_next(&b) == other[i]);
    }
    assert_true(rad__mix64(1) == UINT64_C(0x5692161d100b05e5));
    assert_true(rad__mix2(1, 2) == UINT64_C(0xf4086ec62254e37f));
    assert_int_equal(RAD_STREAM_RANDOM, 1);
    assert_int_equal(RAD_STREAM_PCT, 2);
    assert_int_equal(RAD_STREAM_SURW, 3);
}

static void prng_below_is_uniform_for_awkward_bounds(void **state)
{
    static const uint64_t bounds[] = {1, 2, 3, 5, 6, 7, 10, 100, 641, 1000};
    (void)state;
    for (uint32_t b = 0; b < sizeof bounds / sizeof *bounds; b++) {
        uint64_t seen[1000] = {0}, total = 200 * bounds[b] + 20000;
        rad_prng r = draws(bounds[b]);
        for (uint64_t i = 0; i < total; i++) {
            uint64_t value = rad__prng_below(&r, bounds[b]);
            assert_true(value < bounds[b]);
            seen[value]++;
        }
        if (bounds[b] > 1) assert_true(pearson(seen, (uint32_t)bounds[b], total) < pearson_limit((uint32_t)bounds[b]));
    }
}

/* Three quarters of the range: a plain remainder would give the first third twice as often. */
static void prng_below_has_no_bias_for_huge_bounds(void **state)
{
    (void)state;
    uint64_t bound = UINT64_C(3) << 62, third = UINT64_C(1) << 62, seen[3] = {0};
    rad_prng r = draws(5);
    for (int i = 0; i < 60000; i++) {
        uint64_t value = rad__prng_below(&r, bound);
        assert_true(value < bound);
        seen[value / third]++;
    }
    assert_true(pearson(seen, 3, 60000) < pearson_limit(3));
    r = draws(6);
    for (int i = 0; i < 1000; i++) assert_true(rad__prng_below(&r, UINT64_MAX) < UINT64_MAX);
}

static void prng_streams_differ_by_seed_purpose_and_index(void **state)
{
    (void)state;
    rad_prng all[] = {rad__prng(1, RAD_STREAM_PCT, 0), rad__prng(2, RAD_STREAM_PCT, 0),
                      rad__prng(1, RAD_STREAM_SURW, 0), rad__prng(1, RAD_STREAM_PCT, 1)};
    uint64_t value[4];
    for (int i = 0; i < 4; i++) value[i] = rad__prng_next(&all[i]);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < i; j++) assert_true(value[i] != value[j]);
}

static void digest_text_comes_back_and_nothing_else_is_read(void **state)
{
    (void)state;
    rad_digest d = {UINT64_C(0x0123456789abcdef), UINT64_C(0xfedcba9876543210)}, back;
    char text[RAD_DIGEST_TEXT];
    rad__digest_text(d, text);
    assert_string_equal(text, "fedcba98765432100123456789abcdef");
    assert_true(rad__digest_parse(text, &back));
    assert_true(rad__digest_equal(d, back));
    assert_false(rad__digest_parse("", &back));
    assert_false(rad__digest_parse("fedcba98765432100123456789abcde", &back));
    assert_false(rad__digest_parse("fedcba98765432100123456789abcdef0", &back));
    assert_false(rad__digest_parse("fedcba98765432100123456789abcdeF", &back));
    assert_false(rad__digest_parse("fedcba9876543210 123456789abcdef", &back));
    assert_false(rad__digest_equal(d, (rad_digest){d.low, d.high + 1}));
    assert_false(rad__digest_equal(d, (rad_digest){d.low + 1, d.high}));
}

static void state_hash_sees_content_order_and_cuts(void **state)
{
    (void)state;
    rad_state_hash h[5] = {0};
    rad_state_add(&h[0], "abcd", 4);
    rad_state_add(&h[1], "ab", 2);
    rad_state_add(&h[1], "cd", 2);
    rad_state_add(&h[2], "cd", 2);
    rad_state_add(&h[2], "ab", 2);
    rad_state_add(&h[3], "abce", 4);
    rad_state_add(&h[4], "", 0);
    rad_state_add(&h[4], "abcd", 4);
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < i; j++) assert_false(rad__digest_equal(h[i].digest, h[j].digest));
}

static void the_first_error_stays(void **state)
{
    (void)state;
    rad_error e = {0};
    assert_int_equal(rad__error(&e, RAD_EINPUT, "file %d", 7), RAD_EINPUT);
    assert_int_equal(rad__error(&e, RAD_EIO, "later"), RAD_EINPUT);
    assert_int_equal(rad__error_memory(&e), RAD_EINPUT);
    assert_string_equal(e.text, "file 7");
    assert_int_equal(rad__error(NULL, RAD_EIO, "nobody listens"), RAD_EIO);
}

/* ---- Memory runs out -------------------------------------------------------------------------------- */

static bool fill_bitset(void)
{
    rad_bitset s = {0};
    bool good = rad__bitset_reserve(&s, 10);
    if (good) rad__bitset_add(&s, 7);
    uint32_t before = s.count;
    bool grown = good && rad__bitset_reserve(&s, 70000);
    rad__alloc_fail_at(0);
    assert_true(rad__bitset_valid(&s));
    assert_int_equal(s.count, before); /* as before */
    assert_true(rad__bitset_reserve(&s, 70000));
    rad__bitset_add(&s, 69999);
    assert_true(rad__bitset_valid(&s));
    assert_int_equal(s.count, before + 1);
    rad__bitset_free(&s);
    return grown;
}

static bool fill_heap(void)
{
    rad_heap h = {0};
    uint32_t pushed = 0;
    while (pushed < 40 && rad__heap_push(&h, pushed * 3, 100 - pushed, pushed)) pushed++;
    rad__alloc_fail_at(0);
    assert_true(rad__heap_valid(&h));
    assert_int_equal(h.count, pushed);
    assert_true(rad__heap_push(&h, 500, 0, 0));
    assert_int_equal(rad__heap_top(&h)->item, 500);
    rad__heap_free(&h);
    return pushed == 40;
}

static bool fill_fenwick(void)
{
    rad_fenwick f = {0};
    uint32_t n = 0;
    for (; n < 100 && rad__fenwick_reserve(&f, n + 1); n++) rad__fenwick_set(&f, n, 2);
    rad__alloc_fail_at(0);
    assert_int_equal(f.total, 2 * n);
    if (n) assert_int_equal(rad__fenwick_find(&f, 2 * n - 1), n - 1);
    rad__fenwick_free(&f);
    return n == 100;
}

static bool fill_set128(void)
{
    rad_set128 s = {0};
    uint64_t n = 0;
    while (n < 3000 && rad__set128_add(&s, (rad_digest){n + 1, 1}) == RAD_SET_NEW) n++;
    rad__alloc_fail_at(0);
    assert_int_equal(s.count, n);
    for (uint64_t i = 0; i < n; i++) assert_true(rad__set128_has(&s, (rad_digest){i + 1, 1}));
    rad__set128_free(&s);
    return n == 3000;
}

static bool fill_bytes(void)
{
    rad_bytes b = {0};
    for (int i = 0; i < 100; i++) rad__bytes_format(&b, "%d", i);
    for (uint64_t i = 0; i < 100; i++) rad__bytes_put_varint(&b, i << 30);
    rad__alloc_fail_at(0);
    bool good = !b.failed;
    uint32_t size = b.size;
    rad__bytes_put(&b, "x", 1);
    assert_int_equal(b.size, good ? size + 1 : size); /* sticky */
    rad__bytes_free(&b);
    return good;
}

static void every_container_survives_every_failed_allocation(void **state)
{
    static bool (*const fill[])(void) = {fill_bitset, fill_heap, fill_fenwick, fill_set128, fill_bytes};
    (void)state;
    for (uint32_t i = 0; i < sizeof fill / sizeof *fill; i++) {
        uint64_t n = 1;
        for (rad__alloc_fail_at(n); !fill[i](); rad__alloc_fail_at(++n)) assert_true(n < 1000);
        rad__alloc_fail_at(0);
        assert_true(n > 2); /* it did fail a few times before it worked */
    }
    assert_true(fill_bitset());
    rad__alloc_fail_at(1);
    assert_null(rad__copy_text("text"));
    rad__alloc_fail_at(0);
}

static void growing_zeroes_what_is_new_and_keeps_what_is_old(void **state)
{
    (void)state;
    uint32_t *items = NULL, capacity = 0;
    for (uint32_t need = 1; need < 5000; need = need * 3 + 1) {
        uint32_t before = capacity;
        assert_true(RAD_GROW(&items, &capacity, need));
        assert_true(capacity >= need);
        for (uint32_t i = 0; i < before; i++) assert_int_equal(items[i], i + 1);
        for (uint32_t i = before; i < capacity; i++) assert_int_equal(items[i], 0);
        for (uint32_t i = 0; i < capacity; i++) items[i] = i + 1;
    }
    assert_false(RAD_GROW(&items, &capacity, UINT32_MAX)); /* more than a count can hold */
    assert_int_equal(items[0], 1);
    uint32_t few = 0;
    void *none = NULL;
    assert_false(rad__grow(&none, &few, 1, SIZE_MAX / 8 + 1)); /* more bytes than a size can hold */
    assert_null(none);
    rad__free(items);
}

/* ---- map64 ---------------------------------------------------------------------------------------- */

static void map64_keeps_what_it_was_given(void **state)
{
    (void)state;
    enum { COUNT = 5000 };
    rad_map64 m = {0};
    for (int round = 0; round < 2; round++) {
        /* Keys that agree in their low halves, or in their high ones. */
        for (uint32_t i = 0; i < COUNT; i++) {
            uint64_t key = i % 2 ? (uint64_t)i << 32 | 7 : UINT64_C(7) << 32 | i;
            assert_int_equal(rad__map64_find(&m, key), RAD_NONE);
            assert_true(rad__map64_add(&m, key, i));
        }
        for (uint32_t i = 0; i < COUNT; i++) {
            uint64_t key = i % 2 ? (uint64_t)i << 32 | 7 : UINT64_C(7) << 32 | i;
            assert_int_equal(rad__map64_find(&m, key), i);
        }
        assert_int_equal(rad__map64_find(&m, UINT64_MAX), RAD_NONE);
        assert_int_equal(m.count, COUNT);
        rad__map64_clear(&m);
        assert_int_equal(m.count, 0);
    }
    rad__alloc_fail_at(1);
    rad_map64 none = {0};
    assert_false(rad__map64_add(&none, 1, 1));
    rad__alloc_fail_at(0);
    assert_int_equal(rad__map64_find(&none, 1), RAD_NONE);
    rad__map64_free(&m);
}

/* ---- Sorting ---------------------------------------------------------------------------------------------- */

struct sorted {
    uint32_t key, at;
};

static bool sorted_is_after(const void *context, const void *a, const void *b)
{
    ++*(uint64_t *)(uintptr_t)context;
    return ((const struct sorted *)a)->key > ((const struct sorted *)b)->key;
}

static void equals_keep_their_order_with_memory_and_without(void **state)
{
    (void)state;
    struct sorted items[100];
    rad_prng prng = rad__prng(7, RAD_STREAM_RANDOM, 0);
    for (uint32_t round = 0; round < 400; round++) {
        uint32_t count = round % 100;
        uint64_t asked = 0;
        for (uint32_t i = 0; i < count; i++)
            items[i] = (struct sorted){(uint32_t)rad__prng_below(&prng, 1 + round / 9), i};
        rad__alloc_fail_at(round & 1);
        rad__sort(items, count, sizeof *items, sorted_is_after, &asked);
        rad__alloc_fail_at(0);
        for (uint32_t i = 1; i < count; i++) {
            assert_true(items[i - 1].key <= items[i].key);
            if (items[i - 1].key == items[i].key) assert_true(items[i - 1].at < items[i].at);
        }
        assert_true(count < 2 || asked > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(map64_keeps_what_it_was_given),
        cmocka_unit_test(bitset_agrees_with_a_naive_set),
        cmocka_unit_test(bitset_counts_at_every_word_boundary),
        cmocka_unit_test(bitset_keeps_its_members_when_it_grows_by_levels),
        cmocka_unit_test(bitset_is_empty_after_clear_whatever_its_size_was),
        cmocka_unit_test(heap_agrees_with_a_naive_queue),
        cmocka_unit_test(heap_lets_the_replacing_node_rise),
        cmocka_unit_test(fenwick_agrees_with_prefix_sums),
        cmocka_unit_test(fenwick_never_finds_a_zero_weight),
        cmocka_unit_test(set128_keeps_all_digests_also_the_zero_one),
        cmocka_unit_test(set128_refuses_new_ones_at_its_limit),
        cmocka_unit_test(varint_comes_back_and_no_prefix_of_it_does),
        cmocka_unit_test(varint_of_more_than_64_bits_is_refused),
        cmocka_unit_test(reader_never_passes_its_end_and_failure_stays),
        cmocka_unit_test(bytes_grow_and_format),
        cmocka_unit_test(prng_gives_the_published_values),
        cmocka_unit_test(prng_below_is_uniform_for_awkward_bounds),
        cmocka_unit_test(prng_below_has_no_bias_for_huge_bounds),
        cmocka_unit_test(prng_streams_differ_by_seed_purpose_and_index),
        cmocka_unit_test(digest_text_comes_back_and_nothing_else_is_read),
        cmocka_unit_test(state_hash_sees_content_order_and_cuts),
        cmocka_unit_test(the_first_error_stays),
        cmocka_unit_test(every_container_survives_every_failed_allocation),
        cmocka_unit_test(growing_zeroes_what_is_new_and_keeps_what_is_old),
        cmocka_unit_test(equals_keep_their_order_with_memory_and_without),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
