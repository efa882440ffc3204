/* difference.c — two texts, line by line: what is only in one of them. Lines at the beginning and at the
 * end that are the same are left out; between them the longest common lines are found, as long as that is cheap. */
#include "base/alloc.h"
#include "base/bytes.h"
#include "flow/run/run.h"

#include <string.h>

enum { CHEAP = 4000000 };

typedef struct lines {
    const char **at;
    uint32_t *length;
    uint32_t count, at_capacity, length_capacity;
} lines;

static bool split(lines *l, const char *text, size_t size)
{
    while (size > 0) {
        const char *end = memchr(text, '\n', size);
        size_t length = end != NULL ? (size_t)(end - text) : size;
        if (!RAD_GROW(&l->at, &l->at_capacity, l->count + 1) ||
            !RAD_GROW(&l->length, &l->length_capacity, l->count + 1))
            return false;
        l->at[l->count] = text;
        l->length[l->count++] = (uint32_t)length;
        if (end == NULL) break;
        text = end + 1;
        size -= length + 1;
    }
    return true;
}

static bool equal(const lines *a, uint32_t i, const lines *b, uint32_t k)
{
    return a->length[i] == b->length[k] && memcmp(a->at[i], b->at[k], a->length[i]) == 0;
}

static void tell(rad_bytes *out, char sign, const lines *l, uint32_t i)
{
    rad__bytes_format(out, "%c %4lu  ", sign, (unsigned long)i + 1);
    rad__bytes_put_readable(out, l->at[i], l->length[i], RAD_READABLE_LINES); /* tabs stay */
    rad__bytes_put(out, "\n", 1);
}

/* common[i * (m + 1) + k]: the most common lines of a from i on and b from k on. NULL: too dear. */
static uint32_t *common_lines(const lines *a, const lines *b, uint32_t from, uint32_t n, uint32_t m)
{
    if ((uint64_t)(n + 1) * (m + 1) > CHEAP) return NULL;
    uint32_t *c = rad__alloc((size_t)(n + 1) * (m + 1), sizeof *c);
    if (c == NULL) return NULL;
    for (uint32_t i = n; i-- > 0;)
        for (uint32_t k = m; k-- > 0;) {
            uint32_t *at = &c[i * (m + 1) + k];
            uint32_t down = at[m + 1], right = at[1];
            *at = equal(a, from + i, b, from + k) ? at[m + 2] + 1 : down > right ? down : right;
        }
    return c;
}

static void tell_all(rad_bytes *out, const lines *a, const lines *b)
{
    uint32_t from = 0, n = a->count, m = b->count;
    while (from < n && from < m && equal(a, from, b, from)) from++;
    while (n > from && m > from && equal(a, n - 1, b, m - 1)) n--, m--;
    n -= from;
    m -= from;
    uint32_t *c = common_lines(a, b, from, n, m);
    uint32_t i = 0, k = 0;
    while (i < n || k < m) {
        uint32_t *at = c != NULL ? &c[i * (m + 1) + k] : NULL;
        if (c != NULL && i < n && k < m && equal(a, from + i, b, from + k))
            i++, k++;
        else if (i < n && (k == m || at == NULL || at[m + 1] >= at[1]))
            tell(out, '-', a, from + i++);
        else
            tell(out, '+', b, from + k++);
    }
    rad__free(c);
}

char *rad__flow_difference(const char *old, size_t old_size, const char *new, size_t new_size)
{
    lines a = {0}, b = {0};
    rad_bytes out = {0};
    bool split_both = split(&a, old, old_size) && split(&b, new, new_size);
    if (split_both) tell_all(&out, &a, &b);
    rad__bytes_put(&out, "", 1);
    rad__free(a.at);
    rad__free(a.length);
    rad__free(b.at);
    rad__free(b.length);
    if (split_both && !out.failed) return (char *)out.data;
    rad__bytes_free(&out);
    return NULL;
}
