/* snapshot.c — memory is put back: see snapshot.h. */
#define _GNU_SOURCE
#include "lab/programs/fibers/snapshot.h"

#include "base/alloc.h"
#include "lab/programs/fibers/maps.h"

#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static rad_marks marks_ignored;
rad_marks *rad__marks = &marks_ignored;

void rad__marks_ignore(void)
{
    rad__marks = &marks_ignored;
}

/* An address range that belongs to the run. */
typedef struct area {
    uintptr_t from, to;
    uint64_t *known; /* a bit for each page that is copied back */
} area;

typedef struct page {
    char *at, *original;
    size_t size;    /* less than a page at the beginning of the stack's part */
    uint64_t parts; /* that runs have changed: a 64th of a page each */
} page;

/* Parts of pages, side by side. */
typedef struct stretch {
    char *at;
    const char *original;
    size_t size;
} stretch;

struct rad_snapshot {
    rad_undo *undo;
    rad_maps before, now;
    area *areas;
    uint32_t area_count, area_capacity;
    page *pages;
    uint32_t page_count, page_capacity;
    char *room; /* for originals */
    uint32_t room_pages;
    size_t page_size;
    uint64_t faults;         /* when it was last looked */
    int original, own, maps; /* the original's memory, this process's, its page tables */
    bool scans;              /* the system finds pages by itself */
    stretch *stretches;      /* what runs change */
    uint32_t stretch_count, stretch_capacity;
    bool learns;      /* which parts of pages these are */
    uint32_t alike;   /* how many runs, one after the other, have changed nothing else */
    long end_of_heap; /* brk */
};

enum { ROOM_PAGES = 64, ENTRIES = 512, REGIONS = 64, LOST_PAGES = 1 << 14, PARTS = 64 };

enum { ALIKE = 256 }; /* so many runs, and they are trusted */

/* ---- Which pages are this process's own --------------------------------------------------------------------- */

#define ENTRY_PRESENT (UINT64_C(1) << 63)
#define ENTRY_SWAPPED (UINT64_C(1) << 62)
#define ENTRY_FILE    (UINT64_C(1) << 61)
#define ENTRY_GUARD   (UINT64_C(1) << 58)
#define ENTRY_ALONE   (UINT64_C(1) << 56) /* mapped by no other process */

/* linux/fs.h, which may be older than the system. */
typedef struct scan_region {
    uint64_t from, to, categories;
} scan_region;

typedef struct scan {
    uint64_t size, flags, from, to, walked_to, regions, region_count, most;
    uint64_t inverted, mask, any, returned;
} scan;

#define PAGES_SCAN _IOWR('f', 16, scan)
enum { SCAN_FILE = 4, SCAN_PRESENT = 8, SCAN_SWAPPED = 16, SCAN_ZERO = 32 };

/* The next regions with pages that are no file's; 0: no more, -1: the system cannot tell. */
static int next_regions(rad_snapshot *s, uintptr_t *from, uintptr_t to, scan_region *regions)
{
    if (*from >= to) return 0;
    if (!s->scans) {
        regions[0] = (scan_region){*from, to, 0};
        *from = to;
        return 1;
    }
    scan how = {.size = sizeof how,
                .from = *from,
                .to = to,
                .regions = (uintptr_t)regions, /* tidy: address ok: for the system */
                .region_count = REGIONS,
                .inverted = SCAN_FILE | SCAN_ZERO,
                .mask = SCAN_FILE | SCAN_ZERO,
                .any = SCAN_PRESENT | SCAN_SWAPPED,
                .returned = SCAN_PRESENT};
    int count = ioctl(s->maps, PAGES_SCAN, &how);
    *from = how.walked_to;
    return count < 0 ? -1 : count;
}

static bool entry_of(const rad_snapshot *s, uintptr_t at, uint64_t *entry)
{
    off_t where = (off_t)(at / s->page_size * sizeof *entry);
    return pread(s->maps, entry, sizeof *entry, where) == sizeof *entry;
}

/* A page that is swapped out is read, which brings it back. */
static bool is_own(const rad_snapshot *s, uintptr_t at, uint64_t entry)
{
    char byte;
    if (entry & ENTRY_SWAPPED) {
        if ((entry & ENTRY_GUARD) || pread(s->own, &byte, 1, (off_t)at) != 1) return false;
        if (!entry_of(s, at, &entry)) return false;
    }
    return (entry & ENTRY_PRESENT) && (entry & ENTRY_ALONE) && !(entry & ENTRY_FILE);
}

/* ---- Pages -------------------------------------------------------------------------------------------------- */

static bool page_add(rad_snapshot *s, uintptr_t from, uintptr_t to)
{
    if (s->room_pages == 0) {
        s->room = rad__alloc(ROOM_PAGES, s->page_size);
        if (s->room == NULL) return false;
        s->room_pages = ROOM_PAGES;
    }
    if (!RAD_GROW(&s->pages, &s->page_capacity, s->page_count + 1)) return false;
    if (pread(s->original, s->room, to - from, (off_t)from) != (ssize_t)(to - from)) return false;
    s->pages[s->page_count++] =
        (page){(char *)from, s->room, to - from, 0}; /* tidy: address ok: as the system has it */
    s->room += s->page_size;
    s->room_pages--;
    return true;
}

/* `at` is the beginning of a page; that of an area may be in the middle of one. */
static bool page_found(rad_snapshot *s, area *a, uintptr_t at)
{
    uintptr_t first = a->from / s->page_size, number = at / s->page_size - first;
    uint64_t bit = UINT64_C(1) << number % 64;
    if (a->known[number / 64] & bit) return true;
    a->known[number / 64] |= bit;
    return page_add(s, at < a->from ? a->from : at, at + s->page_size);
}

static bool region_look(rad_snapshot *s, area *a, uintptr_t from, uintptr_t to)
{
    uint64_t entries[ENTRIES];
    while (from < to) {
        size_t count = (to - from) / s->page_size;
        if (count > ENTRIES) count = ENTRIES;
        ssize_t size = (ssize_t)(count * sizeof *entries);
        off_t where = (off_t)(from / s->page_size * sizeof *entries);
        if (pread(s->maps, entries, (size_t)size, where) != size) return false;
        for (size_t i = 0; i < count; i++, from += s->page_size)
            if (entries[i] && is_own(s, from, entries[i]) && !page_found(s, a, from)) return false;
    }
    return true;
}

static bool area_look(rad_snapshot *s, area *a)
{
    scan_region regions[REGIONS];
    uintptr_t from = a->from / s->page_size * s->page_size;
    int count;
    while ((count = next_regions(s, &from, a->to, regions)) > 0)
        for (int i = 0; i < count; i++)
            if (!region_look(s, a, regions[i].from, regions[i].to)) return false;
    return count == 0;
}

static bool pages_look(rad_snapshot *s)
{
    for (uint32_t i = 0; i < s->area_count; i++)
        if (!area_look(s, &s->areas[i])) return false;
    return true;
}

/* ---- Opening -------------------------------------------------------------------------------------------------- */

static bool area_add(rad_snapshot *s, uintptr_t from, uintptr_t to)
{
    if (!RAD_GROW(&s->areas, &s->area_capacity, s->area_count + 1)) return false;
    area *a = &s->areas[s->area_count++];
    *a = (area){from, to, rad__alloc((to - from) / s->page_size / 64 + 2, sizeof *a->known)};
    return a->known != NULL;
}

static bool areas_open(rad_snapshot *s, uintptr_t stack)
{
    for (uint32_t i = 0; i < s->before.count; i++) {
        rad_range r = s->before.at[i];
        if (!(r.flags & RAD_RANGE_WRITE) || (r.flags & RAD_RANGE_SHARED)) continue;
        if (r.stack && stack > r.from) r.from = stack;
        if (!area_add(s, r.from, r.to)) return false;
    }
    return true;
}

/* What fork has changed in this process: the C library knows which thread it is. A run is to find that as every child
 * does. */
static void thread_is_own(rad_snapshot *s)
{
    const char *self = __builtin_thread_pointer();
    int32_t own = (int32_t)getpid(), other = (int32_t)getppid(), here, there;
    for (uint32_t i = 0; i < s->page_count; i++) {
        page *p = &s->pages[i];
        if (self < p->at || self >= p->at + p->size) continue;
        size_t from = (size_t)(self - p->at);
        for (size_t at = from; at + 4 <= p->size && at < from + 1024; at += 4) {
            memcpy(&here, p->at + at, sizeof here);
            memcpy(&there, p->original + at, sizeof there);
            if (here == own && there == other) memcpy(p->original + at, &own, sizeof own);
        }
    }
}

/* Where the system notes on which processor the thread is (restartable sequences): each run may find something else
 * there. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));

static void processor_changes(rad_snapshot *s)
{
    enum { RSEQ_SIZE = 32 };
    if (&__rseq_offset == NULL) return;
    const char *at = (const char *)__builtin_thread_pointer() + __rseq_offset;
    for (uint32_t i = 0; i < s->page_count; i++) {
        page *p = &s->pages[i];
        for (const char *byte = at; byte < at + RSEQ_SIZE; byte += 4)
            if (byte >= p->at && byte < p->at + p->size)
                p->parts |= UINT64_C(1) << (size_t)(byte - p->at) / (s->page_size / PARTS);
    }
}

static int lab_descriptor(int fd)
{
    int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, RAD_LAB_FDS);
    if (fd >= 0) close(fd);
    return high;
}

static uint64_t faults(void)
{
    struct rusage usage = {.ru_minflt = 0};
    getrusage(RUSAGE_THREAD, &usage);
    return (uint64_t)(usage.ru_minflt + usage.ru_majflt);
}

static bool memory_open(rad_snapshot *s, char *stack)
{
    uintptr_t from = 0;
    scan_region regions[REGIONS];
    s->page_size = (size_t)sysconf(_SC_PAGESIZE);
    s->maps = lab_descriptor(open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
    s->own = lab_descriptor(open("/proc/self/mem", O_RDONLY | O_CLOEXEC));
    if (s->maps < 0 || s->own < 0 || !rad__maps_read(&s->before)) return false;
    s->end_of_heap = syscall(SYS_brk, 0);
    s->scans = true;
    s->scans = next_regions(s, &from, s->page_size, regions) >= 0;
    return areas_open(s, (uintptr_t)stack) && pages_look(s); /* tidy: address ok: a bound */
}

rad_snapshot *rad__snapshot_open(int original, char *stack, const char **why)
{
    rad_snapshot *s = rad__alloc(1, sizeof *s);
    *why = "there is no memory for copies";
    if (s == NULL) return NULL;
    s->original = original;
    s->undo = rad__undo_open(why);
    if (s->undo == NULL) return NULL;
    *why = "the system does not show which pages were written";
    if (original < 0 || !memory_open(s, stack)) return NULL;
    s->learns = true;
    thread_is_own(s);
    processor_changes(s);
    return s;
}

/* ---- Back ----------------------------------------------------------------------------------------------------- */

/* Pages that the run has thrown away are not written, but their content is gone. */
static bool lost_back(rad_snapshot *s)
{
    for (uint32_t i = 0; i < rad__marks->lost_count; i++) {
        for (uint32_t j = 0; j < s->area_count; j++) {
            area *a = &s->areas[j];
            uintptr_t from = rad__marks->lost[i].from, to = rad__marks->lost[i].to;
            if (from < a->from) from = a->from;
            if (to > a->to) to = a->to;
            if (from < to && to - from > LOST_PAGES * s->page_size) return false;
            for (from -= from % s->page_size; from < to; from += s->page_size)
                if (!page_found(s, a, from)) return false;
        }
    }
    return true;
}

static void guards_forget(void)
{
    if (rad__marks->guards && rad__marks->guard_count > 0)
        memset(rad__marks->guards, 0, RAD_GUARDS_MAX * sizeof *rad__marks->guards);
    rad__marks->guard_count = 0;
}

static bool maps_back(rad_snapshot *s, const char **why)
{
    rad_range added = {.to = 0};
    if (syscall(SYS_brk, 0) != s->end_of_heap) syscall(SYS_brk, s->end_of_heap);
    *why = "the map of the process cannot be read";
    if (!rad__maps_read(&s->now)) return false;
    while (rad__maps_added(&s->before, &s->now, added.to, &added)) {
        syscall(SYS_munmap, added.from, added.to - added.from);
        guards_forget(); /* there may have been some */
    }
    *why = "it gives memory back, or changes its protection";
    if (!rad__maps_kept(&s->before, &s->now)) return false;
    *why = "written pages cannot be found";
    return pages_look(s) && lost_back(s);
}

static void pages_back(const rad_snapshot *s)
{
    for (uint32_t i = 0; i < s->page_count; i++) memcpy(s->pages[i].at, s->pages[i].original, s->pages[i].size);
}

/* The parts that differ. */
static uint64_t page_parts(const rad_snapshot *s, const page *p)
{
    size_t part = s->page_size / PARTS;
    uint64_t parts = 0;
    if (memcmp(p->at, p->original, p->size) == 0) return 0;
    for (size_t at = 0; at < p->size; at += part) {
        size_t size = p->size - at < part ? p->size - at : part;
        if (memcmp(p->at + at, p->original + at, size) != 0) parts |= UINT64_C(1) << at / part;
    }
    return parts;
}

/* True: no part is new. */
static bool pages_learn(rad_snapshot *s)
{
    bool alike = true;
    for (uint32_t i = 0; i < s->page_count; i++) {
        page *p = &s->pages[i];
        uint64_t parts = page_parts(s, p);
        if (parts == 0) continue;
        alike &= (parts & ~p->parts) == 0;
        p->parts |= parts;
        memcpy(p->at, p->original, p->size);
    }
    return alike;
}

static bool stretches_make(rad_snapshot *s)
{
    size_t part = s->page_size / PARTS;
    s->stretch_count = 0;
    for (uint32_t i = 0; i < s->page_count; i++) {
        const page *p = &s->pages[i];
        for (size_t at = 0; at < p->size; at += part) {
            if (!(p->parts >> at / part & 1)) continue;
            size_t size = p->size - at < part ? p->size - at : part;
            stretch *last = s->stretch_count ? &s->stretches[s->stretch_count - 1] : NULL;
            if (last && last->at + last->size == p->at + at && last->original + last->size == p->original + at) {
                last->size += size;
                continue;
            }
            if (!RAD_GROW(&s->stretches, &s->stretch_capacity, s->stretch_count + 1)) return false;
            s->stretches[s->stretch_count++] = (stretch){p->at + at, p->original + at, size};
        }
    }
    return true;
}

static void marks_clear(void)
{
    rad__marks->maps = rad__marks->signals = rad__marks->files = false;
    rad__marks->lost_count = 0;
}

static bool is_marked(void)
{
    const rad_marks *m = rad__marks;
    return m->maps || m->signals || m->files || m->beyond || m->lost_count;
}

bool rad__snapshot_back(rad_snapshot *s, const char **why)
{
    uint32_t pages = s->page_count;
    bool marked = is_marked(), alike = !marked;
    if (rad__marks->beyond != NULL) {
        *why = rad__marks->beyond;
        return false;
    }
    if (!rad__undo(s->undo, why)) return false;
    if (faults() != s->faults || rad__marks->maps) {
        if (!maps_back(s, why)) return false;
        alike &= s->page_count == pages;
        pages_learn(s);
        s->faults = faults();
    } else if (!marked && !rad__undo_did(s->undo) && s->learns) {
        alike &= pages_learn(s);
    } else {
        alike = false;
        pages_back(s);
    }
    s->alike = alike ? s->alike + 1 : 0;
    if (s->alike >= ALIKE && !stretches_make(s)) s->alike = 0;
    marks_clear();
    return true;
}

/* ---- Trusting --------------------------------------------------------------------------------------------------- */

bool rad__snapshot_trusts(const rad_snapshot *s)
{
    return s->alike >= ALIKE;
}

void rad__snapshot_forget(rad_snapshot *s)
{
    s->learns = false;
    s->alike = 0;
}

void rad__snapshot_pages_back(rad_snapshot *s)
{
    pages_back(s);
}

bool rad__snapshot_back_trusting(rad_snapshot *s)
{
    for (uint32_t i = 0; i < s->stretch_count; i++)
        memcpy(s->stretches[i].at, s->stretches[i].original, s->stretches[i].size);
    return !is_marked();
}

bool rad__snapshot_is_back(rad_snapshot *s)
{
    rad_range added;
    uint32_t pages = s->page_count;
    if (is_marked() || !rad__undo_is_done(s->undo)) return false;
    if (syscall(SYS_brk, 0) != s->end_of_heap || !rad__maps_read(&s->now)) return false;
    if (rad__maps_added(&s->before, &s->now, 0, &added) || !rad__maps_kept(&s->before, &s->now)) return false;
    if (!pages_look(s) || s->page_count != pages) return false;
    rad__snapshot_back_trusting(s); /* errno, for one, has changed meanwhile */
    for (uint32_t i = 0; i < pages; i++)
        if (page_parts(s, &s->pages[i]) != 0) return false;
    return true;
}
