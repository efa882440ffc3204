/* rwlock.c — many readers or one writer; writers first.
 *
 * Word      bit 0: WAITING, somebody is in a queue; bit 1: WRITER, one has it; above: how many readers have it.
 *
 * Whoever leaves last, and finds WAITING, passes it on: to the first writer, or else to all readers that wait.
 *
 * R1  WAITING is set and cleared under the object's lock, while somebody has the lock (Y3).
 * R2  with WAITING nobody gets in but under the object's lock, and nobody leaves last but there.
 * R3  readers wait only while a writer has it or waits. A writer that gives up is no longer in the way: it lets them
 *     in. So does a select that wanted to write and has done something else, when its clause is out of the queue. */
#include "rt/ops.h"
#include "rt/sync.h"

typedef struct rwlock {
    _Atomic uint64_t word;
    rad_waitable object;
    _Atomic(const char *) name;
    rad_queue readers, writers; /* data of writers: who */
    _Atomic uint64_t writer;    /* who has it, to write */
} rwlock;

_Static_assert(sizeof(rwlock) <= sizeof(rad_rwlock), "there is room for it");
RAD_NAMED(rwlock);

#define WAITING UINT64_C(1)
#define WRITER  UINT64_C(2)
#define READER  UINT64_C(4) /* one of them */

static rwlock *rwlock_of(rad_rwlock *l)
{
    return (rwlock *)(void *)l;
}

static rwlock *rwlock_at(const rad_clause *c)
{
    return (rwlock *)((char *)c->object - offsetof(rwlock, object));
}

static void writer_set(rwlock *l, uint64_t who)
{
    atomic_store_explicit(&l->writer, who, memory_order_relaxed);
}

/* Under the lock: the flag as it should be. */
static uint64_t waiting(const rwlock *l)
{
    return l->readers.first || l->writers.first ? WAITING : 0;
}

/* The calling fiber has one more. Of those it has to read the slot names one, so that asking for the same once more is
 * certainly a mistake; others, and those of threads, are not known. */
static void has_one(rad_slot *slot, const rwlock *l, bool reads)
{
    if (slot == NULL) return;
    slot->rwlocks++;
    if (reads && rad__slot_reads(slot, NULL)) atomic_store_explicit(&slot->reads, l, memory_order_relaxed);
}

static void has_one_less(rad_slot *slot, const rwlock *l)
{
    if (slot == NULL) return;
    slot->rwlocks--;
    if (rad__slot_reads(slot, l)) atomic_store_explicit(&slot->reads, NULL, memory_order_relaxed);
}

static const char for_itself[] = "the caller has it to read, and would wait for itself";

static bool a_writer_waits(rwlock *l)
{
    rad__lock(&l->object.lock);
    bool waits = l->writers.first != NULL;
    rad__unlock(&l->object.lock);
    return waits;
}

/* ---- Getting in --------------------------------------------------------------------------------------- */

static bool read_attempt(rad_clause *c, rad_wakes *wakes)
{
    (void)wakes;
    rwlock *l = rwlock_at(c);
    uint64_t word = atomic_load_explicit(&l->word, memory_order_relaxed), next;
    bool in;
    rad__waitable_begin(c->object, RAD_KIND_RWLOCK);
    do {
        in = !(word & WRITER) && l->writers.first == NULL;
        next = in ? ((word + READER) & ~WAITING) | waiting(l) : word | WAITING;
        /* Pairs with the changes of those who leave. */
    } while (!atomic_compare_exchange_weak_explicit(&l->word, &word, next, memory_order_acquire, memory_order_relaxed));
    return in;
}

static bool read_fast(rwlock *l, rad_slot *slot)
{
    uint64_t word = atomic_load_explicit(&l->word, memory_order_relaxed);
    while (!(word & (WAITING | WRITER))) /* Pairs with the changes of those who leave. */
        if (atomic_compare_exchange_weak_explicit(&l->word, &word, word + READER, memory_order_acquire,
                                                  memory_order_relaxed)) {
            has_one(slot, l, true);
            return true;
        }
    return false;
}

static __attribute__((noinline)) int read_slow(rwlock *l, uint64_t self, rad_slot *slot, uint64_t until)
{
    if (until != 0 && atomic_load_explicit(&l->writer, memory_order_relaxed) == self)
        rad__misuse("rad_rwlock_read", "the caller has it to write");
    if (until != 0 && slot != NULL && rad__slot_reads(slot, l) && a_writer_waits(l))
        rad__misuse("rad_rwlock_read", for_itself);
    rad_clause c = {.object = &l->object, .queue = &l->readers, .attempt = read_attempt};
    int done = rad__wait_anyway(&c, until);
    if (done >= 0) has_one(slot, l, true);
    return done;
}

int rad__op_rwlock_read_until(rad_rwlock *public, rad_time until)
{
    rwlock *l = rwlock_of(public);
    rad_slot *slot;
    uint64_t self = rad__caller(&slot);
    return read_fast(l, slot) ? 0 : read_slow(l, self, slot, until);
}

void rad__op_rwlock_read(rad_rwlock *public)
{
    rwlock *l = rwlock_of(public);
    rad_slot *slot;
    uint64_t self = rad__caller(&slot);
    if (read_fast(l, slot)) return;
    rad_strand *strand = rad__shield_begin();
    int code = read_slow(l, self, slot, RAD_FOREVER);
    RAD_ASSERT(code == 0);
    rad__shield_end(strand);
}

static bool write_attempt(rad_clause *c, rad_wakes *wakes)
{
    (void)wakes;
    rwlock *l = rwlock_at(c);
    uint64_t word = atomic_load_explicit(&l->word, memory_order_relaxed), next;
    bool in;
    rad__waitable_begin(c->object, RAD_KIND_RWLOCK);
    do {
        in = word < READER && !(word & WRITER);
        next = in ? WRITER | waiting(l) : word | WAITING;
        /* Pairs with the changes of those who leave. */
    } while (!atomic_compare_exchange_weak_explicit(&l->word, &word, next, memory_order_acquire, memory_order_relaxed));
    if (in) writer_set(l, rad__clause_who(c));
    return in;
}

/* R3: a writer has given up. */
static void let_readers_in(rwlock *l)
{
    rad_wakes wakes = {0};
    rad_clause *c;
    rad__lock(&l->object.lock);
    uint64_t word = atomic_load_explicit(&l->word, memory_order_relaxed);
    while (!(word & WRITER) && l->writers.first == NULL && (c = rad__queue_claim(&l->readers)) != NULL) {
        atomic_fetch_add_explicit(&l->word, READER, memory_order_relaxed); /* beside others: R1 */
        rad__wakes_add(&wakes, c);
    }
    rad__unlock(&l->object.lock);
    rad__wakes_go(&wakes);
}

void rad__rwlock_clause(rad_clause *c, rad_rwlock *public, bool writes)
{
    rwlock *l = rwlock_of(public);
    rad__waitable_ready(&l->object, RAD_KIND_RWLOCK);
    *c = (rad_clause){.object = &l->object,
                      .queue = writes ? &l->writers : &l->readers,
                      .attempt = writes ? write_attempt : read_attempt,
                      .data = (void *)rad__who()};
}

void rad__rwlock_taken(rad_slot *slot, const rad_rwlock *l, bool writes)
{
    has_one(slot, (const rwlock *)(const void *)l, !writes);
}

void rad__rwlock_left(rad_rwlock *public)
{
    let_readers_in(rwlock_of(public));
}

static bool write_fast(rwlock *l, uint64_t self, rad_slot *slot)
{
    uint64_t free = 0;
    /* Pairs with the changes of those who leave. */
    if (!atomic_compare_exchange_strong_explicit(&l->word, &free, WRITER, memory_order_acquire, memory_order_relaxed))
        return false;
    writer_set(l, self);
    has_one(slot, l, false);
    return true;
}

static __attribute__((noinline)) int write_slow(rwlock *l, uint64_t self, rad_slot *slot, uint64_t until)
{
    if (until != 0 && atomic_load_explicit(&l->writer, memory_order_relaxed) == self)
        rad__misuse("rad_rwlock_write", "the caller has it already");
    if (until != 0 && slot != NULL && rad__slot_reads(slot, l)) rad__misuse("rad_rwlock_write", for_itself);
    rad_clause c = {.object = &l->object,
                    .queue = &l->writers,
                    .attempt = write_attempt,
                    .data = (void *)(uintptr_t)self}; /* tidy: address ok */
    int done = rad__wait_anyway(&c, until);
    if (done < 0)
        let_readers_in(l);
    else
        has_one(slot, l, false);
    return done;
}

int rad__op_rwlock_write_until(rad_rwlock *public, rad_time until)
{
    rwlock *l = rwlock_of(public);
    rad_slot *slot;
    uint64_t self = rad__caller(&slot);
    return write_fast(l, self, slot) ? 0 : write_slow(l, self, slot, until);
}

void rad__op_rwlock_write(rad_rwlock *public)
{
    rwlock *l = rwlock_of(public);
    rad_slot *slot;
    uint64_t self = rad__caller(&slot);
    if (write_fast(l, self, slot)) return;
    rad_strand *strand = rad__shield_begin();
    int code = write_slow(l, self, slot, RAD_FOREVER);
    RAD_ASSERT(code == 0);
    rad__shield_end(strand);
}

/* ---- Leaving ------------------------------------------------------------------------------------------ */

/* With WAITING, when the caller seemed to be the last. False: it still has the lock, and nobody waits, or it is not
 * the last. */
static bool pass_on(rwlock *l)
{
    rad_wakes wakes = {0};
    rad__lock(&l->object.lock);
    /* Pairs with the changes of readers who have left: whoever gets it sees what they did, too. */
    uint64_t word = atomic_load_explicit(&l->word, memory_order_acquire), next = 0;
    if (word >= 2 * READER) { /* others came in before we had the lock */
        rad__unlock(&l->object.lock);
        return false;
    }
    rad_clause *c = rad__queue_claim(&l->writers);
    uint64_t writer = c ? rad__clause_who(c) : 0;
    if (c != NULL) {
        next = WRITER;
        rad__wakes_add(&wakes, c);
    } else {
        while ((c = rad__queue_claim(&l->readers)) != NULL) {
            next += READER;
            rad__wakes_add(&wakes, c);
        }
    }
    if (next != 0) writer_set(l, writer);
    /* R2: nobody else changes it now. Pairs with those who get in. */
    atomic_store_explicit(&l->word, next ? next | waiting(l) : word & ~WAITING, memory_order_release);
    rad__unlock(&l->object.lock);
    rad__wakes_go(&wakes);
    return next != 0;
}

/* A writer is alone; a reader may leave as long as it is not the last one that somebody waits for. */
void rad__op_rwlock_unlock(rad_rwlock *public)
{
    rwlock *l = rwlock_of(public);
    uint64_t word = atomic_load_explicit(&l->word, memory_order_relaxed);
    bool writes = word & WRITER;
    if (word < WRITER) rad__misuse("rad_rwlock_unlock", "it is not locked");
    rad_slot *slot;
    uint64_t self = rad__caller(&slot);
    if (writes && atomic_load_explicit(&l->writer, memory_order_relaxed) != self)
        rad__misuse("rad_rwlock_unlock", "another fiber or thread has it");
    has_one_less(slot, l);
    for (;;) {
        if ((word & WAITING) && word < 2 * READER) {
            if (pass_on(l)) return;
            word = atomic_load_explicit(&l->word, memory_order_relaxed);
            continue;
        }
        if (writes) writer_set(l, 0);
        /* Pairs with those who get in, and with other readers who leave. */
        if (atomic_compare_exchange_weak_explicit(&l->word, &word, word - (writes ? WRITER : READER),
                                                  memory_order_acq_rel, memory_order_relaxed))
            return;
    }
}

uint64_t rad__rwlock_holders(const rad_waitable *o, uint64_t *readers, const void **lock)
{
    const rwlock *l = (const rwlock *)((const char *)o - offsetof(rwlock, object));
    uint64_t word = atomic_load_explicit(&l->word, memory_order_relaxed);
    *readers = word / READER;
    *lock = l;
    return word & WRITER ? atomic_load_explicit(&l->writer, memory_order_relaxed) : 0;
}
