#include "base/bitset.h"

#include "base/alloc.h"

#include <string.h>

enum { FANOUT = RAD_BITSET_FANOUT, LEVELS = RAD_BITSET_LEVELS };

static uint32_t bitset_levels_for(uint32_t words)
{
    uint32_t levels = 0;
    for (uint32_t nodes = words; nodes > FANOUT; nodes = (nodes + FANOUT - 1) / FANOUT) levels++;
    return levels;
}

static uint32_t bitset_nodes(uint32_t words, uint32_t level)
{
    uint32_t nodes = words;
    for (uint32_t l = 0; l <= level; l++) nodes = (nodes + FANOUT - 1) / FANOUT;
    return nodes;
}

/* Brings the count levels in line with the words; needed only when the set grows a level. */
static void bitset_recount(rad_bitset *s)
{
    for (uint32_t l = 0; l < s->levels; l++) memset(s->counts[l], 0, s->count_capacity[l] * sizeof **s->counts);
    for (uint32_t w = 0; w < s->word_count; w++) {
        uint32_t bits = rad__popcount(s->words[w]);
        uint32_t node = w;
        for (uint32_t l = 0; l < s->levels; l++) s->counts[l][node /= FANOUT] += bits;
    }
}

bool rad__bitset_reserve(rad_bitset *s, uint32_t limit)
{
    uint32_t words = (limit + 63) / 64;
    if (RAD_LIKELY(words <= s->word_count)) return true;
    uint32_t levels = bitset_levels_for(words);
    RAD_ASSERT(levels <= LEVELS);
    if (!RAD_GROW(&s->words, &s->word_capacity, words)) return false;
    for (uint32_t l = 0; l < levels; l++)
        if (!RAD_GROW(&s->counts[l], &s->count_capacity[l], bitset_nodes(words, l))) return false;
    memset(s->words + s->word_count, 0, (words - s->word_count) * sizeof *s->words);
    s->word_count = words;
    if (levels != s->levels) {
        s->levels = levels;
        bitset_recount(s);
    }
    return true;
}

void rad__bitset_clear(rad_bitset *s)
{
    for (uint32_t l = 0; l < s->levels; l++)
        memset(s->counts[l], 0, bitset_nodes(s->word_count, l) * sizeof **s->counts);
    s->word_count = 0;
    s->levels = 0;
    s->count = 0;
}

void rad__bitset_free(rad_bitset *s)
{
    rad__free(s->words);
    for (uint32_t l = 0; l < LEVELS; l++) rad__free(s->counts[l]);
    *s = (rad_bitset){0};
}

bool rad__bitset_add(rad_bitset *s, uint32_t number)
{
    uint32_t word = number >> 6;
    uint64_t bit = UINT64_C(1) << (number & 63);
    RAD_ASSERT(word < s->word_count);
    if (s->words[word] & bit) return false;
    s->words[word] |= bit;
    s->count++;
    for (uint32_t l = 0; l < s->levels; l++) s->counts[l][word /= FANOUT]++;
    return true;
}

bool rad__bitset_remove(rad_bitset *s, uint32_t number)
{
    uint32_t word = number >> 6;
    uint64_t bit = UINT64_C(1) << (number & 63);
    RAD_ASSERT(word < s->word_count);
    if (!(s->words[word] & bit)) return false;
    s->words[word] &= ~bit;
    s->count--;
    for (uint32_t l = 0; l < s->levels; l++) s->counts[l][word /= FANOUT]--;
    return true;
}

/* Position of the index-th set bit of a word that has more than index bits. */
static uint32_t word_select(uint64_t word, uint32_t index)
{
    while (index--) word &= word - 1;
    return (uint32_t)__builtin_ctzll(word);
}

uint32_t rad__bitset_select(const rad_bitset *s, uint32_t index)
{
    RAD_ASSERT(index < s->count);
    uint32_t node = 0;
    for (uint32_t l = s->levels; l-- > 0;) {
        node *= l + 1 == s->levels ? 0 : FANOUT;
        while (index >= s->counts[l][node]) index -= s->counts[l][node++];
    }
    uint32_t word = s->levels ? node * FANOUT : 0;
    for (;; word++) {
        uint32_t bits = rad__popcount(s->words[word]);
        if (index < bits) return word * 64 + word_select(s->words[word], index);
        index -= bits;
    }
}

uint32_t rad__bitset_rank(const rad_bitset *s, uint32_t number)
{
    uint32_t word = number >> 6;
    if (word >= s->word_count) return s->count;
    uint32_t rank = rad__popcount(s->words[word] & ((UINT64_C(1) << (number & 63)) - 1));
    /* Words of the same node, then nodes of the same parent, up to the root. */
    uint32_t first = s->levels ? word / FANOUT * FANOUT : 0;
    for (uint32_t w = first; w < word; w++) rank += rad__popcount(s->words[w]);
    uint32_t node = word;
    for (uint32_t l = 0; l < s->levels; l++) {
        node /= FANOUT;
        uint32_t from = l + 1 == s->levels ? 0 : node / FANOUT * FANOUT;
        for (uint32_t i = from; i < node; i++) rank += s->counts[l][i];
    }
    return rank;
}

uint32_t rad__bitset_next(const rad_bitset *s, uint32_t number)
{
    uint32_t word = number >> 6;
    if (word >= s->word_count) return RAD_NONE;
    uint64_t rest = s->words[word] & ~((UINT64_C(1) << (number & 63)) - 1);
    if (rest) return word * 64 + (uint32_t)__builtin_ctzll(rest);
    for (word++; word < s->word_count; word++) {
        if (s->levels && word % FANOUT == 0 && s->counts[0][word / FANOUT] == 0) {
            word += FANOUT - 1;
            continue;
        }
        if (s->words[word]) return word * 64 + (uint32_t)__builtin_ctzll(s->words[word]);
    }
    return RAD_NONE;
}

bool rad__bitset_valid(const rad_bitset *s)
{
    uint32_t count = 0;
    for (uint32_t w = 0; w < s->word_count; w++) count += rad__popcount(s->words[w]);
    if (count != s->count) return false; /* I1 */
    for (uint32_t l = 0; l < s->levels; l++) {
        uint32_t sum = 0;
        for (uint32_t i = 0; i < bitset_nodes(s->word_count, l); i++) sum += s->counts[l][i];
        if (sum != count) return false; /* I2, summed */
    }
    return true;
}
