/* reach.c — see reach.h. */
#define _GNU_SOURCE
#include "lab/programs/fibers/reach.h"

#include "base/alloc.h"
#include "base/prng.h"
#include "lab/programs/threads/threads.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    RANGES_MAX = 1024,
    BLOCKS_MAX = 1 << 20,
    MAPS_SIZE = 256 << 10,
    SHARED_MAX = 16,
    LOADED_MAX = 256,
    LIBC_MAX = 8,
    THREAD_SIZE = 4096,
    SCAN_MAX = 64 << 20
};

typedef struct range {
    uint64_t from, to;
} range;

enum { BLOCK_REACHED = 1, BLOCK_CLOSED = 2 }; /* closed: the runtime's own, not looked into */

/* Addresses as numbers: only compared with those in memory, and told to nobody. */
static struct {
    range *roots;
    range *cuts; /* parts of them that are left out */
    uint32_t cut_count;
    uint32_t root_count;
    range *segments; /* of the program and its libraries, writable */
    uint32_t segment_count;
    range libc[LIBC_MAX]; /* its variables: no roots */
    uint32_t libc_count;
    range tls; /* from: of the thread's variables */
    range heap;
    bool heap_walked;
    uint64_t *blocks; /* where each begins, in order */
    uint8_t *marks;
    uint32_t block_count;
    uint32_t *todo; /* blocks that are reached, and not looked into */
    uint32_t todo_count;
    uint8_t *stacks;        /* marks of the stacks of runners */
    uint8_t *handles;       /* of runners, whether one was seen */
    uint64_t low, high;     /* all slots are between */
    uint64_t slab, slab_to; /* all stacks are between */
    range shared[SHARED_MAX];
    uint32_t shared_count;
    char *maps;
    bool doubt;
} reach;

static uint64_t number_of(const void *address)
{
    return (uintptr_t)address; /* tidy: address ok: see above */
}

static const uint64_t *words_at(uint64_t address)
{
    return (const uint64_t *)(uintptr_t)address; /* tidy: address ok: memory to be read */
}

static bool prepare(void)
{
    static bool tried, good;
    if (tried) return good;
    tried = true;
    reach.roots = rad__stage_reserve(RANGES_MAX * sizeof *reach.roots);
    reach.cuts = rad__stage_reserve(RANGES_MAX * sizeof *reach.cuts);
    reach.segments = rad__stage_reserve(RANGES_MAX * sizeof *reach.segments);
    reach.blocks = rad__stage_reserve(BLOCKS_MAX * sizeof *reach.blocks);
    reach.marks = rad__stage_reserve(BLOCKS_MAX);
    reach.todo = rad__stage_reserve(BLOCKS_MAX * sizeof *reach.todo);
    reach.stacks = rad__stage_reserve(RAD_RUNNERS_MAX);
    reach.handles = rad__stage_reserve(RAD_RUNNERS_MAX);
    reach.maps = rad__stage_reserve(MAPS_SIZE);
    return good = reach.roots && reach.cuts && reach.segments && reach.blocks && reach.marks && reach.todo &&
                  reach.stacks && reach.handles && reach.maps;
}

static bool is_in(const range *r, uint64_t address)
{
    return address - r->from < r->to - r->from;
}

/* ---- Mappings ------------------------------------------------------------------------------------------- */

static bool read_maps(void)
{
    size_t used = 0;
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    for (ssize_t got = 1; got > 0 && used<MAPS_SIZE - 1; used += got> 0 ? (size_t)got : 0)
        got = read(fd, reach.maps + used, MAPS_SIZE - 1 - used);
    close(fd);
    reach.maps[used] = 0;
    return used > 0 && used < MAPS_SIZE - 1;
}

typedef struct mapping {
    range at;
    char rights[5];
    const char *name; /* "": none. Up to the end of the line */
} mapping;

/* The next line; NULL: it was the last. */
static const char *next_mapping(const char *line, mapping *m)
{
    unsigned long long from, to;
    int used = 0;
    if (*line == 0 || sscanf(line, "%llx-%llx %4s %*s %*s %*s%n", &from, &to, m->rights, &used) != 3) return NULL;
    m->at = (range){from, to};
    m->name = line + used;
    while (*m->name == ' ') m->name++;
    const char *end = strchr(m->name, '\n');
    return end ? end + 1 : m->name + strlen(m->name);
}

/* Of the lab, or the stack of a thread: what is live of that is looked at by itself (rad__reach_runner). */
static bool is_of_lab(const range *r)
{
    const rad_stage *s = &rad__stage;
    const void *from = words_at(r->from);
    if (rad__stage_is_reserved(from, r->to - r->from) || rad__donor_waits_in(from, r->to - r->from)) return true;
    for (uint32_t i = 0; i < s->runner_count; i++)
        if (s->runners[i].stack && is_in(r, number_of(s->runners[i].stack))) return true;
    return false;
}

/* Stacks of fibers, and nothing else. */
static bool is_of_stacks(const range *r)
{
    rad_stack_place place;
    for (const rad_lab_exec *x = rad__stage.execs; x; x = x->next) {
        const rad_runtime *rt = ((const rad_rt_worker *)x->shell.scratch)->runtime;
        if (rt && rad__stacks_find(&rt->stacks, r->from, &place) && rad__stacks_find(&rt->stacks, r->to - 1, &place))
            return true;
    }
    return false;
}

/* Memory of the runtime that may be joined with the program's: it knows every fiber, and where its stack is. */
static void cut_out(const void *from, size_t size)
{
    uint64_t at = number_of(from);
    range *last = reach.cut_count > 0 ? &reach.cuts[reach.cut_count - 1] : NULL;
    if (last && at + size == last->from)
        last->from = at;
    else if (last && at == last->to)
        last->to = at + size;
    else if (reach.cut_count == RANGES_MAX)
        reach.doubt = true;
    else
        reach.cuts[reach.cut_count++] = (range){at, at + size};
}

static void find_cuts(void)
{
    const rad_stage *s = &rad__stage;
    reach.cut_count = 0;
    for (const rad_lab_exec *x = s->execs; x; x = x->next) {
        const rad_rt_worker *rt_worker = x->shell.scratch;
        const rad_runtime *rt = rt_worker->runtime;
        cut_out(x, sizeof *x);
        cut_out(rt_worker, sizeof *rt_worker);
        if (rt) cut_out(rt, sizeof *rt);
        for (const rad_slot *slot = rt ? rt->made : NULL; slot; slot = slot->made_before) cut_out(slot, sizeof *slot);
    }
    for (uint32_t i = 0; i < s->runner_count; i++) {
        const rad_slot *slot = s->runners[i].slot;
        if (slot && !s->runners[i].ended && slot->strand.fiber_stack)
            cut_out(slot->strand.fiber_stack, sizeof *slot->strand.fiber_stack);
    }
}

static void add_root(range r)
{
    for (uint32_t i = 0; i < reach.cut_count; i++) {
        range cut = reach.cuts[i];
        if (cut.to <= r.from || cut.from >= r.to) continue;
        if (cut.from > r.from) add_root((range){r.from, cut.from});
        if (cut.to >= r.to) return;
        r.from = cut.to;
    }
    if (reach.root_count == RANGES_MAX)
        reach.doubt = true;
    else
        reach.roots[reach.root_count++] = r;
}

/* All of it but the variables of this thread: those of the program are roots of their own. */
static void add_mapping(range r)
{
    range tls = {reach.tls.from & ~UINT64_C(7), (number_of(&errno) | 4095) + 1};
    uint64_t pointer = number_of(__builtin_thread_pointer());
    if (pointer >= tls.to) tls.to = pointer + THREAD_SIZE;
    if (!is_in(&r, pointer)) {
        add_root(r);
        return;
    }
    if (tls.from > r.from) add_root((range){r.from, tls.from});
    if (tls.to < r.to) add_root((range){tls.to, r.to});
}

static bool was_shared(const range *r)
{
    for (uint32_t i = 0; i < reach.shared_count; i++)
        if (reach.shared[i].from == r->from) return true;
    return false;
}

/* Everything that can be written, but for files: those are segments, which the loader knows better. */
static void sort_mapping(const mapping *m)
{
    if (m->rights[1] != 'w') return;
    if (m->rights[3] == 's') {
        if (!was_shared(&m->at)) reach.doubt = true;
        return;
    }
    if (strncmp(m->name, "[heap]", 6) == 0) {
        reach.heap = m->at;
    } else if (*m->name == '\n' || *m->name == 0 || strncmp(m->name, "[anon", 5) == 0) {
        range at = m->at; /* the system may have joined the end of a segment with what lies behind it */
        for (uint32_t i = 0; i < reach.segment_count; i++)
            if (is_in(&reach.segments[i], at.from)) at.from = reach.segments[i].to;
        if (at.from >= at.to || is_of_lab(&at) || is_of_stacks(&at)) return;
        add_mapping(at);
    }
}

void rad__reach_own(void)
{
    mapping m;
    rad__free(rad__alloc(1, 1)); /* the lab's heap is there from the first block on */
    if (!prepare() || !read_maps()) return;
    for (const char *line = reach.maps; (line = next_mapping(line, &m)) != NULL;)
        if (m.rights[3] == 's' && reach.shared_count < SHARED_MAX) reach.shared[reach.shared_count++] = m.at;
}

/* ---- Variables -------------------------------------------------------------------------------------------- */

static bool is_libc(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    return strncmp(name, "libc.so", 7) == 0 || strncmp(name, "ld-linux", 8) == 0 || strncmp(name, "libc-", 5) == 0;
}

static int add_segments(struct dl_phdr_info *info, size_t size, void *context)
{
    bool own = false;
    (void)size;
    (void)context;
    uint64_t mine = number_of(&rad__stage);
    for (uint32_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        own |= p->p_type == PT_LOAD && mine - (info->dlpi_addr + p->p_vaddr) < p->p_memsz;
    }
    bool left_out = own || is_libc(info->dlpi_name);
    for (uint32_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uint64_t from = info->dlpi_addr + p->p_vaddr;
        range r = {from & ~UINT64_C(7), from + p->p_memsz};
        if (p->p_type == PT_LOAD && (p->p_flags & PF_W)) {
            /* A last page of its own may be an anonymous mapping. */
            range pages = {from & ~UINT64_C(4095), (r.to + 4095) & ~UINT64_C(4095)};
            if (reach.segment_count < RANGES_MAX) reach.segments[reach.segment_count++] = pages;
            if (!left_out) add_root(r);
            if (left_out && !own && reach.libc_count < LIBC_MAX) reach.libc[reach.libc_count++] = r;
        } else if (p->p_type == PT_TLS && info->dlpi_tls_data) {
            uint64_t tls = number_of(info->dlpi_tls_data);
            if (tls < reach.tls.from) reach.tls.from = tls;
            if (!left_out) add_root((range){tls & ~UINT64_C(7), tls + p->p_memsz});
        }
    }
    return 0;
}

/* ---- The heap ----------------------------------------------------------------------------------------------- */

/* As glibc lays it out: each block has its size before it, and the next one behind it; the last one ends the heap. */
static void walk_heap(void)
{
    uint64_t at = (reach.heap.from + 15) & ~UINT64_C(15);
    reach.block_count = 0;
    reach.heap_walked = false;
    while (at + 16 < reach.heap.to && reach.block_count < BLOCKS_MAX) {
        uint64_t size = words_at(at)[1] & ~UINT64_C(7);
        if (size < 32 || size % 16 != 0 || size > reach.heap.to - at) return;
        reach.marks[reach.block_count] = 0;
        reach.blocks[reach.block_count++] = at + 16;
        at += size;
    }
    reach.heap_walked = at == reach.heap.to;
}

static uint32_t block_of(uint64_t address)
{
    uint32_t low = 0, high = reach.block_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (reach.blocks[middle] <= address)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void close_block(const void *inside)
{
    uint64_t at = number_of(inside);
    if (inside && reach.heap_walked && is_in(&reach.heap, at)) reach.marks[block_of(at)] |= BLOCK_CLOSED;
}

static void close_runtime(void)
{
    const rad_stage *s = &rad__stage;
    for (const rad_lab_exec *x = s->execs; x; x = x->next) {
        close_block(x);
        close_block(x->shell.scratch);
        close_block(((const rad_rt_worker *)x->shell.scratch)->runtime);
    }
    for (uint32_t i = 0; i < s->runner_count; i++) {
        const rad_slot *slot = s->runners[i].slot;
        close_block(slot);
        if (slot) close_block(slot->strand.fiber_stack);
    }
}

/* ---- Scanning ------------------------------------------------------------------------------------------------- */

static range live_stack(const rad_runner *r)
{
    const rad_fiber_stack *fiber_stack = r->kind == RAD_RUNNER_FIBER && r->slot ? r->slot->strand.fiber_stack : NULL;
    const rad_context *c = fiber_stack ? &fiber_stack->context : &r->context;
    uint64_t base = fiber_stack ? number_of(fiber_stack->base) : number_of(r->stack);
    uint64_t size = fiber_stack ? fiber_stack->size : r->stack_size;
#ifdef RAD_CONTEXT_UCONTEXT
    (void)c;
    return (range){base, base + size};
#else
    uint64_t top = number_of(c->stack);
    bool known = top - base < size;
    if (base == 0 || r->ended || (fiber_stack && fiber_stack->strand != &r->slot->strand)) return (range){0, 0};
    return (range){known ? top & ~UINT64_C(7) : base, base + size};
#endif
}

static void reach_stack(uint64_t word);
static void reach_handle(const uint64_t *at, bool on_stack);

static void reach_word(const uint64_t *at, bool on_stack)
{
    uint64_t word = *at;
    if (is_in(&reach.heap, word)) {
        if (reach.heap_walked) {
            uint32_t block = block_of(word);
            if (reach.marks[block] == 0) reach.todo[reach.todo_count++] = block;
            reach.marks[block] |= BLOCK_REACHED;
        }
    }
    if (word - reach.low <= reach.high - reach.low) reach_handle(at, on_stack);
    if (word - reach.slab < reach.slab_to - reach.slab) reach_stack(word);
}

static void scan(range r, bool on_stack)
{
    for (uint64_t at = r.from; at + 8 <= r.to; at += 8) reach_word(words_at(at), on_stack);
}

static void scan_blocks(void)
{
    while (reach.todo_count > 0) {
        uint32_t block = reach.todo[--reach.todo_count];
        uint64_t from = reach.blocks[block];
        uint64_t to = block + 1 < reach.block_count ? reach.blocks[block + 1] - 8 : reach.heap.to;
        scan((range){from, to}, false);
    }
}

/* Into the stack of a fiber that itself may be stuck: others have pointers to its variables. */
static void reach_stack(uint64_t word)
{
    for (uint32_t i = 0; i < rad__stage.runner_count; i++) {
        const rad_runner *r = &rad__stage.runners[i];
        if (reach.stacks[i] || r->ended) continue;
        range live = live_stack(r);
        if (live.from == 0 || !is_in(&live, word)) continue;
        reach.stacks[i] = 1;
        scan(live, false);
        return;
    }
}

/* A handle is the address of a slot and, in memory, its generation right behind. */
static void reach_handle(const uint64_t *at, bool on_stack)
{
    for (uint32_t i = 0; i < rad__stage.runner_count; i++) {
        const rad_runner *r = &rad__stage.runners[i];
        if (r->slot == NULL || r->ended || number_of(r->slot) != *at) continue;
        if (on_stack || (uint32_t)at[1] == rad__fiber_generation(&r->slot->strand)) reach.handles[i] = 1;
    }
}

/* ---- What is asked ---------------------------------------------------------------------------------------------- */

static void find_bounds(void)
{
    reach.low = reach.slab = UINT64_MAX;
    reach.high = reach.slab_to = 0;
    for (uint32_t i = 0; i < rad__stage.runner_count; i++) {
        const rad_runner *r = &rad__stage.runners[i];
        reach.stacks[i] = reach.handles[i] = 0;
        if (r->slot && !r->ended) {
            uint64_t slot = number_of(r->slot);
            if (slot < reach.low) reach.low = slot;
            if (slot > reach.high) reach.high = slot;
        }
        range live = live_stack(r);
        if (live.from == 0 || r->ended) continue;
        if (live.from < reach.slab) reach.slab = live.from;
        if (live.to > reach.slab_to) reach.slab_to = live.to;
    }
}

bool rad__reach_begin(void)
{
    mapping m;
    reach.root_count = reach.segment_count = reach.todo_count = reach.libc_count = 0;
    reach.heap = (range){0, 0};
    reach.tls.from = number_of(&errno);
    reach.doubt = rad__stage.timers_call;
    if (reach.doubt || !prepare() || !read_maps()) return false;
    find_bounds();
    find_cuts();
    dl_iterate_phdr(add_segments, NULL);
    for (const char *line = reach.maps; (line = next_mapping(line, &m)) != NULL;) sort_mapping(&m);
    walk_heap();
    if (reach.heap.to > 0 && !reach.heap_walked) reach.doubt = true;
    close_runtime();
    uint64_t size = reach.heap.to - reach.heap.from;
    for (uint32_t i = 0; i < reach.root_count; i++) size += reach.roots[i].to - reach.roots[i].from;
    if (size > SCAN_MAX) reach.doubt = true;
    for (uint32_t i = 0; !reach.doubt && i < reach.root_count; i++) scan(reach.roots[i], false);
    if (!reach.doubt) scan_blocks();
    return !reach.doubt;
}

void rad__reach_runner(const rad_runner *r)
{
    range live = live_stack(r);
    const rad_fiber_stack *fiber_stack = r->kind == RAD_RUNNER_FIBER ? r->slot->strand.fiber_stack : NULL;
    const rad_context *c = fiber_stack ? &fiber_stack->context : &r->context;
    uint64_t from = number_of(c), arg = number_of(r->arg);
    reach_word(&arg, true);
    if (live.from != 0) {
        reach.stacks[r->number] = 1;
        scan(live, true);
        scan((range){from, from + sizeof *c}, true);
    }
    scan_blocks();
}

bool rad__reach_has(const void *address)
{
    uint64_t at = number_of(address);
    if (is_in(&reach.heap, at)) return (reach.marks[block_of(at)] & BLOCK_REACHED) != 0;
    for (uint32_t i = 0; i < rad__stage.runner_count; i++) {
        const rad_runner *r = &rad__stage.runners[i];
        range live = live_stack(r);
        if (live.from != 0 && is_in(&live, at)) return reach.stacks[i] != 0;
    }
    return true; /* a variable of the program, or somewhere that the scan does not know */
}

bool rad__reach_has_handle(const rad_runner *r)
{
    return reach.handles[r->number] != 0;
}

/* ---- Rounds ---------------------------------------------------------------------------------------------------- */

static void add_state(rad_state_hash *h, range r)
{
    uint64_t folded = r.to - r.from;
    for (uint64_t at = r.from; at + 8 <= r.to; at += 8) folded = rad__fold(folded, *words_at(at));
    rad_state_add(h, &folded, sizeof folded);
}

void rad__reach_stack_state(const rad_runner *r, rad_state_hash *h)
{
    range live = live_stack(r);
    if (live.from != 0) add_state(h, live);
}

bool rad__reach_state(rad_state_hash *h)
{
    if (!rad__reach_begin()) return false;
    for (uint32_t i = 0; i < reach.root_count; i++) add_state(h, reach.roots[i]);
    for (uint32_t i = 0; i < reach.libc_count; i++) add_state(h, reach.libc[i]);
    for (uint32_t i = 0; i < reach.block_count; i++) {
        uint64_t to = i + 1 < reach.block_count ? reach.blocks[i + 1] - 8 : reach.heap.to;
        if (!(reach.marks[i] & BLOCK_CLOSED)) add_state(h, (range){reach.blocks[i], to});
    }
    return true;
}

/* Kept: what is loaded later is found by a scan. */
static struct {
    bool known;
    uint32_t count;
    range at[LOADED_MAX];
} loaded;

static int add_loaded(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    (void)context;
    for (uint32_t i = 0; i < info->dlpi_phnum && loaded.count < LOADED_MAX; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uint64_t from = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_LOAD && (p->p_flags & PF_W)) loaded.at[loaded.count++] = (range){from, from + p->p_memsz};
    }
    return 0;
}

bool rad__reach_is_variable(const void *address)
{
    uint64_t at = number_of(address);
    if (!loaded.known) dl_iterate_phdr(add_loaded, NULL);
    loaded.known = true;
    for (uint32_t i = 0; i < loaded.count; i++)
        if (is_in(&loaded.at[i], at)) return true;
    return false;
}
