/* l2.h — the state of a model on trial: memory, clocks, simulated threads.
 *
 * Instrumented code calls us before every access to memory (atomic.c, plain.c). Plain accesses are checked for
 * races and go on. An atomic stops: the thread says what it is about to do, the kernel chooses somebody, and
 * when this thread is chosen it performs the operation on real memory and runs to its next atomic.
 *
 *     kernel's stack     machine.step --resume--> ...                     <-- announced: the next operation
 *     thread's stack                  perform, run plain code, next atomic --stop-->
 *
 * Memory    a *space* of its own: a heap that is only ever extended within a run, and the stacks. Plus the
 *           static variables of instrumented code. Each aligned 8 bytes of them (a granule) have a cell:
 *           the accesses that could still race, and the atomic locations in it. Cells are valid when they
 *           carry the number of the run, so nothing is cleared between runs.
 * Clocks    vector clocks, one component per thread and one for setup and check. Orderings count as written:
 *           only a release publishes, only an acquire receives, fences in between as C11 has it.
 * Values    real memory holds the newest value; under sequential consistency that is what a load reads
 *           (load_source in atomic.c is the place where a weaker model will choose).
 *
 * L1  one thread runs at a time; a thread that is not running stands at a point, waits or has ended.
 * L2  nothing that goes into the digest, the order or an identity depends on an address. */
#ifndef RAD_LAB_L2_L2_H
#define RAD_LAB_L2_L2_H

#include "base/prng.h"
#include "core/kernel.h"
#include "lab/l2/model.h"
#include "lab/l2/sites.h"
#include "lab/order.h"
#include "os/context.h"

enum {
    L2_MAIN = 0, /* clock component of setup and check; threads are 1 … */
    L2_CLOCKS = RAD_MODEL_THREADS_MAX + 1,
    L2_STACK = 1 << 16,
    L2_GUARD = 1 << 16, /* whole pages everywhere */
    L2_HEAP = 1 << 20,
    L2_NAMES_MAX = 32,
    L2_FIBERS_MAX = 16,
};

enum l2_oracle {
    L2_RACE = RAD_ORACLE_OWN,
    L2_USE_AFTER_FREE,
    L2_LEAK,
    L2_UNSEEN_WRITE,
    L2_BAD_ADDRESS,
};

typedef struct l2_clock {
    uint32_t at[L2_CLOCKS];
} l2_clock;

enum { L2_IS_WRITE = RAD_ACCESS_WRITES, L2_IS_ATOMIC = RAD_ACCESS_ATOMIC };

#define L2_NO_SITE UINT16_MAX /* of allocation and release */

/* An atomic location: the bytes `mask` of a granule. */
typedef struct l2_location {
    l2_clock release; /* what an acquire of the newest value receives */
    uint64_t value;   /* newest, in place: the bytes of the granule */
    char *granule;
    uint32_t next;   /* in the granule; 0 ends */
    uint32_t object; /* the kernel's; RAD_NONE until a thread announces it */
    uint8_t mask;
    bool publishes;  /* `release` is not empty */
    bool known;      /* `value` is what was written last by instrumented atomics */
    bool mixed;      /* others overlap it */
    uint8_t touched; /* the threads that did, by an atomic */
} l2_location;

typedef struct l2_cell {
    uint32_t run; /* valid when it is the number of this run */
    uint32_t record;
    uint32_t location;
    uint32_t spare; /* a cell is 16 bytes: found by a shift */
} l2_cell;

typedef struct l2_block {
    uint32_t offset, size; /* in the heap */
    uint32_t clock;        /* of the thread that allocated */
    uint32_t ordinal;      /* among its allocations */
    uint8_t thread;
    bool freed;
} l2_block;

typedef struct l2_name {
    const char *from;
    size_t size;
    const char *name;
} l2_name;

enum l2_state { L2_READY = 0, L2_WAITING, L2_ENDED, L2_BROKEN };

typedef struct l2_thread {
    rad_context context;
    void *pointer; /* thread pointer to borrow */
    char *stack;
    l2_clock clock;    /* what happened before */
    l2_clock acquired; /* would be received by an acquire fence */
    l2_clock released; /* was published by the last release fence */
    uint64_t until;    /* when its sleep ends; 0: when it is woken */
    uint64_t idle_at;  /* the count of such steps (`busy`) … */
    uint32_t idle;     /* … since which it has looked so often */
    uint32_t location; /* announced, or waited for; 0: none */
    uint32_t site;     /* announced, global number */
    uint32_t allocations;
    uint8_t access; /* announced */
    uint8_t state;
    uint8_t index;  /* its clock component */
    bool fenced;    /* `released` is not empty */
    uint8_t inside; /* the source of an operation that is one step; 0: none */
    uint8_t passed; /* points where it did not stop, in a row */
} l2_thread;

enum l2_phase { L2_PHASE_NONE = 0, L2_PHASE_SETUP, L2_PHASE_RUN, L2_PHASE_CHECK };

typedef struct l2 {
    const rad_model *model;
    rad_case c;
    rad_kernel *k;
    enum l2_phase phase;
    uint32_t run;
    l2_thread *running;
    rad_context home;    /* the kernel's */
    void *pointer;       /* the kernel's */
    bool borrows;        /* threads have thread pointers of their own */
    uint32_t generation; /* of the donors */
    uint32_t thread_count;
    l2_thread threads[L2_CLOCKS];

    char *space; /* heap, then stacks, each behind a guard */
    size_t space_size;
    l2_cell *cells;         /* of the space */
    l2_cell *data_cells;    /* of the static variables */
    const char *data_image; /* the static variables as the program was loaded */
    size_t data_size;
    const l2_extent *extents; /* those of them that the model can touch */
    uint32_t extent_count;
    uint32_t heap_used;
    uint16_t *block_at; /* by granule of the heap, for those below heap_used; 0: none */
    l2_block *blocks;   /* [0] is unused; so it is of locations */
    uint32_t block_count, block_capacity, blocks_live;
    rad_accesses accesses;
    l2_location *locations;
    uint32_t location_count, location_capacity;
    l2_name names[L2_NAMES_MAX];
    uint32_t name_count;
    l2_name fiber_stacks[L2_FIBERS_MAX]; /* of contexts that the model made */
    uint32_t fiber_stack_count;

    uint64_t now_ns; /* moves when a wait with a limit is chosen to end */
    uint32_t jumps;  /* … or when nobody can go on: how often */
    uint64_t saw;    /* in this step; 0: nothing */
    bool effect;     /* … it changed something that others may see */
    bool private;    /* … all it did was to write what is its own */
    uint64_t busy;   /* counts steps in which nobody spins */
    uint32_t timed;  /* threads that sleep with a limit */

    uint8_t *coarse;       /* by global number of a point: whether it stops there, see threads.c */
    const char *coarse_by; /* what the model said */
    bool is_coarse;        /* … in this run */
    uint16_t *site_number; /* by global number of a point: this machine's */
    uint16_t *site_of;     /* the inverse */
    uint32_t site_covered; /* number of them that are explored */
    char (*site_names)[96];
} l2;

/* The instance whose reset, step or idle is being done; there is one at a time. */
extern RAD_INTERNAL l2 *rad__l2;
RAD_INTERNAL void rad__l2_use(l2 *l); /* NULL: nobody */

/* ---- Sites (sites.c) ---------------------------------------------------------------------------------- */

RAD_INTERNAL void rad__l2_site_text(uint32_t site, char *text, size_t size);

/* The same in parts; and as the site of an identity, "rad__deque_steal: load 2", which has no file and line. */
RAD_INTERNAL rad_code_site rad__l2_place(uint32_t site);
enum { L2_PLACE_MAX = 104 };
RAD_INTERNAL const char *rad__l2_place_text(uint32_t site, char text[L2_PLACE_MAX]);

/* Which of these sources it is in, named by the ends of their paths without ".c", as
 * "chan" or "thread/task": from 1; 0: none. */
RAD_INTERNAL uint8_t rad__l2_site_is_of(uint32_t site, const char *stems);

/* Whether it is in one of these functions: "f", or "f:operation". */
RAD_INTERNAL bool rad__l2_site_is_named(uint32_t site, const char *functions);

static inline uint32_t l2_site_of(const void *pc)
{
    size_t offset = (size_t)((const char *)pc - __start_l2text);
    return RAD_LIKELY(offset <= rad__l2_text_size) ? (uint16_t)(rad__l2_site_at[offset] - 1) : L2_NO_SITE;
}

/* The machine's number of a point. */
static inline uint32_t l2_number(const l2 *l, uint32_t site)
{
    return RAD_LIKELY(site < rad__l2_point_count) ? l->site_number[site] : RAD_NONE;
}

/* ---- Memory (memory.c) -------------------------------------------------------------------------------- */

RAD_INTERNAL bool rad__l2_memory_open(l2 *l, rad_error *error);
RAD_INTERNAL void rad__l2_memory_close(l2 *l);
RAD_INTERNAL void rad__l2_memory_reset(l2 *l);

/* A cell that nobody has touched in this run becomes valid; fails the run when its address is not memory. */
RAD_INTERNAL void rad__l2_cell_open(l2 *l, l2_cell *cell, const char *address, uint32_t site);

/* Whether it was freed, or never allocated. */
RAD_INTERNAL bool rad__l2_is_gone(const l2 *l, const char *address);

/* In setup and check, which keep no cells: whether it is memory, if it belongs to the heap or is static. */
RAD_INTERNAL void rad__l2_memory_check(l2 *l, const char *address, uint32_t site);

RAD_INTERNAL uint32_t rad__l2_location(l2 *l, l2_cell *cell, const char *address, uint8_t mask);
RAD_INTERNAL uint32_t rad__l2_object(l2 *l, uint32_t location);
RAD_INTERNAL void rad__l2_name_of(const l2 *l, const char *address, char *text, size_t size);
RAD_INTERNAL uint32_t rad__l2_object_at(l2 *l, const char *address); /* for reports */

/* A value as it goes into the trace: addresses of ours become numbers. */
RAD_INTERNAL uint64_t rad__l2_canonical(const l2 *l, uint64_t value);

/* The cell of an address, or NULL when it is not memory of the model. */
static inline l2_cell *l2_cell_of(l2 *l, const char *address)
{
    size_t offset = (size_t)(address - l->space);
    if (RAD_LIKELY(offset < l->space_size)) return &l->cells[offset >> 3];
    offset = (size_t)(address - __start_l2data);
    return offset < l->data_size ? &l->data_cells[offset >> 3] : NULL;
}

/* Whether it lies on a stack, of a thread or of a fiber: there memory changes without being shown, since frames come
 * and go, and not every compiler shows how a local variable is initialised. */
RAD_INTERNAL bool rad__l2_is_stack(const l2 *l, const char *address);

/* ---- Races (race.c) ----------------------------------------------------------------------------------- */

/* One access of the running thread within one granule, whose cell is valid. */
RAD_INTERNAL void rad__l2_access(l2 *l, l2_cell *cell, const char *address, uint8_t mask, uint32_t kind, uint32_t site);

/* The newest access to these bytes is the thread's own, since it last published anything, and a plain one that
 * is at least as strong: what could race with the new access could race with that one. */
static inline bool l2_access_is_known(l2 *l, const l2_cell *cell, uint8_t mask, uint32_t kind)
{
    const l2_thread *t = l->running;
    l->k->evaluations[L2_RACE]++;
    return rad__access_is_known(&l->accesses, cell->record, t->clock.at, t->index, mask, kind);
}

RAD_INTERNAL void rad__l2_range(l2 *l, const char *address, size_t size, uint32_t kind, uint32_t site);

/* ---- Threads (threads.c) ------------------------------------------------------------------------------ */

/* Setup or check, on the stack of nobody; false when it failed. Then, per thread, up to its first point. */
RAD_INTERNAL bool rad__l2_alone(l2 *l, enum l2_phase phase);
RAD_INTERNAL void rad__l2_begin(l2 *l, uint32_t thread);

/* The announced operation of a thread, and on to its next one: the step of the machine. */
RAD_INTERNAL void rad__l2_step(void *self, rad_kernel *k, uint32_t action);

/* In a run that is coarse: it does not stop here. */
RAD_INTERNAL bool rad__l2_goes_on(l2 *l, uint32_t site, uint32_t location, enum rad_access access);

/* The running thread announces its next operation and continues when it is chosen. In line, as everything between
 * a switch and the instrumented code should be: the processor predicts returns from the calls it has seen, so
 * after a switch every return that is left to do costs a misprediction. */
static inline void l2_point(l2 *l, uint32_t site, uint32_t location, enum rad_access access)
{
    l2_thread *t = l->running;
    if (RAD_UNLIKELY(l->is_coarse) && rad__l2_goes_on(l, site, location, access)) return;
    t->site = site;
    t->location = location;
    t->access = (uint8_t)access;
    rad__context_switch(&t->context, &l->home);
}

/* Reports a failure and never comes back. `site` is part of its identity (or NULL): names, never numbers of lines. */
RAD_INTERNAL _Noreturn void rad__l2_fail(l2 *l, uint32_t oracle, uint32_t object, const char *site, const char *format,
                                         ...) RAD_PRINTF(5, 6);

/* Memory ran out, or a limit was met: the run is void. */
RAD_INTERNAL _Noreturn void rad__l2_error(l2 *l, int code, const char *text);

enum { L2_WAY_MAX = 16 /* calls, from the innermost on */ };

/* By which calls of the model the running thread came here. A function of one load has one site, whoever calls it:
 * three calls one after another are no loop. Instrumented code keeps frame pointers; what has called it first does
 * not. */
RAD_INLINE uint64_t l2_way(void)
{
    const void *const *frame = __builtin_frame_address(0);
    uint64_t way = 0;
    for (uint32_t i = 0; i < L2_WAY_MAX; i++) {
        size_t offset = (size_t)((const char *)frame[1] - __start_l2text);
        if (offset > rad__l2_text_size) break;
        way = (way ^ offset) * UINT64_C(0x9e3779b97f4a7c15);
        frame = frame[0];
    }
    return way;
}

/* What the running thread did in its step, for core/spin.h: it saw a value without changing it, or wrote. A location
 * that only this thread has touched is its own. */
RAD_INLINE void l2_saw(l2 *l, uint32_t location, uint32_t site, uint64_t value)
{
    l->saw = rad__mix2(l->saw ^ ((uint64_t)site << 32 | location), value ^ l2_way()) | 1;
    l->private = false;
}

static inline void l2_wrote(l2 *l, uint32_t location, uint32_t site)
{
    const l2_location *o = &l->locations[location];
    bool private = o->touched == 1u << l->running->index && !o->mixed;
    l->effect |= !private;
    l->saw = rad__mix2(l->saw ^ ((uint64_t)site << 32 | location), 0) | 1;
}

/* The state of the model, for a livelock: rad_round_state. */
RAD_INTERNAL rad_round_state rad__l2_round;

#endif
