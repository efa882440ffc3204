/* maps.c — see maps.h. The system joins neighbours that are alike, so ranges are compared by what they cover. */
#include "lab/programs/fibers/maps.h"

#include "base/alloc.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_FIRST = 1 << 14 };

static bool text_read(rad_maps *m, uint32_t *size)
{
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : 1;
    *size = 0;
    while (got > 0) {
        if (!RAD_GROW(&m->text, &m->text_capacity, *size + TEXT_FIRST)) got = -1;
        if (got > 0) got = read(fd, m->text + *size, m->text_capacity - *size - 1);
        if (got > 0) *size += (uint32_t)got;
    }
    if (fd >= 0) close(fd);
    if (got == 0) m->text[*size] = 0;
    return got == 0;
}

static uint64_t read_number(const char **at)
{
    uint64_t value = 0;
    for (;; (*at)++) {
        char c = **at;
        if (c >= '0' && c <= '9')
            value = value << 4 | (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            value = value << 4 | (uint64_t)(c - 'a' + 10);
        else
            return value;
    }
}

/* "55d0c0000000-55d0c0021000 rw-p 00000000 00:00 0    [heap]" */
static rad_range read_line(const char *at, const char *end)
{
    rad_range r = {.from = read_number(&at)};
    if (*at == '-') at++;
    r.to = read_number(&at);
    if (*at == ' ') at++;
    if (at + 4 > end) return r;
    r.flags = (at[0] == 'r' ? RAD_RANGE_READ : 0u) | (at[1] == 'w' ? RAD_RANGE_WRITE : 0u) |
              (at[2] == 'x' ? RAD_RANGE_RUN : 0u) | (at[3] == 's' ? RAD_RANGE_SHARED : 0u);
    r.stack = end - at > 7 && memcmp(end - 7, "[stack]", 7) == 0;
    return r;
}

bool rad__maps_read(rad_maps *m)
{
    uint32_t size;
    m->count = 0;
    if (!text_read(m, &size)) return false;
    for (const char *at = m->text; *at;) {
        const char *end = strchr(at, '\n');
        if (end == NULL || !RAD_GROW(&m->at, &m->capacity, m->count + 1)) return false;
        m->at[m->count++] = read_line(at, end);
        at = end + 1;
    }
    return m->count > 0;
}

bool rad__maps_added(const rad_maps *before, const rad_maps *now, uintptr_t from, rad_range *added)
{
    uint32_t b = 0;
    for (uint32_t i = 0; i < now->count; i++) {
        rad_range r = now->at[i];
        if (r.to <= from || r.stack) continue;
        if (r.from < from) r.from = from;
        while (r.from < r.to) {
            while (b < before->count && before->at[b].to <= r.from) b++;
            if (b == before->count || before->at[b].from > r.from) {
                if (b < before->count && before->at[b].from < r.to) r.to = before->at[b].from;
                *added = r;
                return true;
            }
            r.from = before->at[b].to;
        }
    }
    return false;
}

bool rad__maps_kept(const rad_maps *before, const rad_maps *now)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < before->count; i++) {
        const rad_range *b = &before->at[i];
        uintptr_t at = b->from;
        while (at < b->to) {
            while (n < now->count && now->at[n].to <= at) n++;
            if (n == now->count || now->at[n].from > at || now->at[n].flags != b->flags) return false;
            at = now->at[n].to;
        }
    }
    return true;
}
