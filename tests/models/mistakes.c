/* mistakes.c — everything that L2 looks for, one kind each; the twin does it right. */
#include <stdatomic.h>

#include "base/alloc.h"
#include "lab/l2/model.h"
#include "os/wait.h"

enum { KIND };
enum {
    USE_AFTER_FREE,
    DOUBLE_FREE,
    LEAK,
    FREE_AGAINST_USE,
    OVERRUN,
    UNSEEN_WRITE,
    LOST_WAKEUP,
    LIVELOCK,
    GIVES_UP,
    PARTS_OF_A_WORD,
    ASSERTION,
    SPAN,
    PLAIN_AND_ATOMIC,
    ITS_OWN_FREE,
    FRESH_MEMORY,
    CRASH,
    BUSY_LOOP,
    RACE_AND_DEADLOCK,
    TWO_RACES,
    TWO_ASSERTIONS,
    STRAY,
    KINDS
};

static _Atomic uint32_t word, other;
static _Atomic(uint32_t *) shared;
static uint32_t small[2];
static bool freed; /* FREE_AGAINST_USE: written by whoever frees, read when all have ended */
#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 wide;
static _Atomic wide pair;
static uint64_t hidden;
#endif

static void mistakes_setup(const rad_case *c)
{
    rad__model_name(&word, sizeof word, "word");
    rad__model_name(&other, sizeof other, "other");
    rad__model_name(&shared, sizeof shared, "shared");
    rad__model_name(small, sizeof small, "small");
    if (c->params[KIND] <= OVERRUN) {
        uint32_t *p = rad__alloc(4, sizeof *p);
        rad__model_name(p, 4 * sizeof *p, "block");
        p[0] = 5;
        atomic_init(&shared, p);
    }
}

/* The one that frees and the one that uses. In the twin a second word says when it is safe. */
static void heap_mistake(const rad_case *c, uint32_t thread)
{
    bool wrong = !c->repaired;
    int64_t kind = c->params[KIND];
    uint32_t *p = atomic_load_explicit(&shared, memory_order_relaxed);
    if (kind == LEAK) {
        if (thread == 0 && !wrong) rad__free(p);
        return;
    }
    if (thread == 1) {
        if (kind == DOUBLE_FREE && wrong) rad__free(p);
        if (kind == OVERRUN) p[wrong ? 4 : 3] = 1;
        if (kind == USE_AFTER_FREE || kind == FREE_AGAINST_USE) p[1] = p[0];
        /* Pairs with the load below. */
        atomic_store_explicit(&word, 1, memory_order_release);
        return;
    }
    if (kind == FREE_AGAINST_USE && wrong) { /* it is late enough, but nothing says so */
        if (atomic_load_explicit(&word, memory_order_relaxed) == 0) return;
    } else if (!wrong || kind == OVERRUN || kind == DOUBLE_FREE) {
        /* Pairs with the store above. */
        while (atomic_load_explicit(&word, memory_order_acquire) == 0) {
        }
    }
    rad__free(p);
    freed = true;
}

/* Not instrumented: the compiler is told to leave it alone. */
__attribute__((noinline, no_sanitize("thread"))) static void write_unseen(uint32_t value)
{
    *(volatile uint32_t *)&word = value;
}

static void unseen_mistake(const rad_case *c, uint32_t thread)
{
    atomic_fetch_add_explicit(&word, 1, memory_order_relaxed);
    if (thread == 0 && !c->repaired) write_unseen(7);
    atomic_fetch_add_explicit(&word, 1, memory_order_relaxed);
}

/* Looks, and sleeps whatever happened since; the twin sleeps only if the word still is what it saw. */
static void wakeup_mistake(const rad_case *c, uint32_t thread)
{
    if (thread == 1) {
        /* Pairs with the load below. */
        atomic_store_explicit(&word, 1, memory_order_release);
        rad__os_word_wake(c->repaired ? &word : &other, 1);
        return;
    }
    /* Pairs with the store above. */
    while (atomic_load_explicit(&word, memory_order_acquire) == 0) rad__os_word_wait(c->repaired ? &word : &other, 0);
}

static void spin_mistake(const rad_case *c, uint32_t thread)
{
    if (thread == 1) {
        atomic_store_explicit(c->repaired ? &word : &other, 1, memory_order_relaxed);
        return;
    }
    while (atomic_load_explicit(&word, memory_order_relaxed) == 0) {
    }
}

/* A loop that gives up is no livelock, however long it saw nothing new. */
static void patient(const rad_case *c, uint32_t thread)
{
    if (thread == 1) return;
    uint32_t tries = 0;
    while (tries < 20 && atomic_load_explicit(&word, memory_order_relaxed) == 0) tries++;
    RAD_MODEL_ASSERT(c->repaired ? tries == 20 : tries < 20);
}

/* Two threads, two halves of one eight-byte word: no race, unless one reaches over. */
static void parts_mistake(const rad_case *c, uint32_t thread)
{
    atomic_fetch_add_explicit(&word, 1, memory_order_relaxed);
    small[thread] = 1;
    if (!c->repaired && thread == 1) small[0] = 2;
    atomic_fetch_add_explicit(&word, 1, memory_order_relaxed);
}

#ifdef __SIZEOF_INT128__
/* Sixteen bytes at once publish what was written before, when they release. */
static void span_mistake(const rad_case *c, uint32_t thread)
{
    if (thread == 0) {
        hidden = 9;
        if (c->repaired) /* pairs with the load below */
            atomic_store_explicit(&pair, (wide)1 << 64 | 1, memory_order_release);
        else
            atomic_store_explicit(&pair, (wide)1 << 64 | 1, memory_order_relaxed);
        return;
    }
    wide seen = atomic_load_explicit(&pair, memory_order_acquire); /* pairs with the store above */
    if (seen != 0) RAD_MODEL_ASSERT((uint64_t)seen == 1 && (uint64_t)(seen >> 64) == 1 && hidden == 9);
}
#endif

/* A word is atomic for one and plain for the other. */
static void plain_mistake(const rad_case *c, uint32_t thread)
{
    if (thread == 0 || c->repaired)
        atomic_store_explicit(&word, 1, memory_order_relaxed);
    else
        *(volatile uint32_t *)&word = 2;
    atomic_store_explicit(&other, 1, memory_order_relaxed);
}

/* Nobody else is involved: it uses what it has used and freed itself. */
static void own_free_mistake(const rad_case *c, uint32_t thread)
{
    if (thread == 1) return;
    volatile uint32_t *p = rad__alloc(4, sizeof *p);
    p[1] = 1;
    atomic_store_explicit(&word, p[1], memory_order_relaxed);
    rad__free((void *)p);
    if (!c->repaired) p[1] = 2;
}

/* Zeroed memory was written by whoever allocated it, even if it wrote nothing else. */
static void fresh_mistake(const rad_case *c, uint32_t thread)
{
    if (thread == 0) {
        uint32_t *p = rad__alloc(4, sizeof *p);
        if (c->repaired) /* pairs with the load below */
            atomic_store_explicit(&shared, p, memory_order_release);
        else
            atomic_store_explicit(&shared, p, memory_order_relaxed);
        return;
    }
    uint32_t *p = atomic_load_explicit(&shared, memory_order_acquire); /* pairs with the store above */
    if (p != NULL) RAD_MODEL_ASSERT(p[2] == 0);
}

/* A null pointer in code that is not even instrumented. */
__attribute__((noinline, no_sanitize("thread"))) static void crash(volatile uint32_t *p)
{
    *p = 1;
}

static void crash_mistake(const rad_case *c, uint32_t thread)
{
    uint32_t seen = atomic_fetch_add_explicit(&word, 1, memory_order_relaxed);
    if (thread == 0 && seen == 1) crash(c->repaired ? &small[0] : NULL);
}

/* A loop that also writes what others do is not seen to spin: the other one gets its turn by the length of this. */
static void busy_loop(const rad_case *c, uint32_t thread)
{
    if (thread == 1) {
        atomic_fetch_add_explicit(&other, 1, memory_order_relaxed);
        atomic_store_explicit(&word, 1, memory_order_relaxed);
        return;
    }
    uint32_t rounds = 0;
    while (rounds < 1000 && atomic_load_explicit(&word, memory_order_relaxed) == 0) {
        atomic_fetch_add_explicit(&other, 1, memory_order_relaxed);
        rounds++;
    }
    RAD_MODEL_ASSERT(rounds < (c->repaired ? 1000 : 100));
}

/* A race that does no harm, in every run, before a wakeup that is lost in some. */
static void tell(uint32_t value)
{
    small[0] = value;
}

static void race_and_deadlock(const rad_case *c, uint32_t thread)
{
    if (!c->repaired) tell(thread);
    wakeup_mistake(c, thread);
}

/* Two places where two threads write, each without the other. */
static void first_race(uint32_t value)
{
    small[0] = value;
}

static void second_race(uint32_t value)
{
    small[1] = value;
}

static void two_races(const rad_case *c, uint32_t thread)
{
    atomic_fetch_add_explicit(&word, 1, memory_order_relaxed);
    if (!c->repaired) first_race(thread);
    atomic_fetch_add_explicit(&word, 1, memory_order_relaxed);
    if (!c->repaired) second_race(thread);
}

/* One holds unless thread 1 is first, the other unless it comes in between. */
static void two_assertions(const rad_case *c, uint32_t thread)
{
    uint32_t first = atomic_fetch_add_explicit(&word, 1, memory_order_relaxed);
    uint32_t second = atomic_fetch_add_explicit(&word, 1, memory_order_relaxed);
    if (c->repaired || thread == 1) return;
    RAD_MODEL_ASSERT(first == 0);
    RAD_MODEL_ASSERT(second == 1);
}

/* An index that is far too small: a variable of another model. */
static void stray_mistake(const rad_case *c, uint32_t thread)
{
    uint32_t *volatile from = small; /* or the compiler would see it */
    if (thread == 0) from[c->repaired ? 1 : -2048] = 7;
}

static void mistakes_body(const rad_case *c, uint32_t thread)
{
    switch (c->params[KIND]) {
    case UNSEEN_WRITE: unseen_mistake(c, thread); break;
    case LOST_WAKEUP: wakeup_mistake(c, thread); break;
    case LIVELOCK: spin_mistake(c, thread); break;
    case GIVES_UP: patient(c, thread); break;
    case PARTS_OF_A_WORD: parts_mistake(c, thread); break;
    case ASSERTION: RAD_ASSERT(c->repaired || atomic_fetch_add_explicit(&word, 1, memory_order_relaxed) == 0); break;
#ifdef __SIZEOF_INT128__
    case SPAN: span_mistake(c, thread); break;
#endif
    case PLAIN_AND_ATOMIC: plain_mistake(c, thread); break;
    case ITS_OWN_FREE: own_free_mistake(c, thread); break;
    case FRESH_MEMORY: fresh_mistake(c, thread); break;
    case CRASH: crash_mistake(c, thread); break;
    case BUSY_LOOP: busy_loop(c, thread); break;
    case RACE_AND_DEADLOCK: race_and_deadlock(c, thread); break;
    case TWO_RACES: two_races(c, thread); break;
    case TWO_ASSERTIONS: two_assertions(c, thread); break;
    case STRAY: stray_mistake(c, thread); break;
    default: heap_mistake(c, thread); break;
    }
}

static void mistakes_check(const rad_case *c)
{
    bool left = c->params[KIND] == FREE_AGAINST_USE ? !freed : c->params[KIND] == FRESH_MEMORY;
    if (left) rad__free(atomic_load_explicit(&shared, memory_order_relaxed));
}

static const rad_param mistakes_params[] = {
    [KIND] = {"kind", 0, 0, KINDS - 1, "which mistake", true},
    {.name = NULL},
};

RAD_MODEL(mistakes, .name = "l2-mistakes", .about = "what L2 looks for, one kind of mistake each",
          .params = mistakes_params, .bug = "what `kind` says: 0 is a use after free", .bug_at = "heap_mistake",
          .threads = 2, .setup = mistakes_setup, .body = mistakes_body, .check = mistakes_check);
