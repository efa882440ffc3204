/* memory_edges.c — what orders two accesses to memory, and what does not, for a program that `raddle cc` builds. Each
 * case has a variable, written by one thread and read by another one.
 *
 * ordered          in each case something of C11 or POSIX orders them: no race
 * between          the one of these that takes most schedules
 * raced NAME...    in each case it is nearly so: a race, of functions whose names begin with that of the case
 * list             the names of those
 * values           what atomics of 16 bytes answer */
#define _GNU_SOURCE
#include <assert.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef void *body(void *unused);

int sink; /* of others, for all that compilers know */

/* Two threads: a case has NAME_one and NAME_other; each is entered once. */
static pthread_t start(body *fn)
{
    pthread_t t;
    if (pthread_create(&t, NULL, fn, NULL) != 0) abort();
    return t;
}

static void both(body *one, body *other)
{
    pthread_t a = start(one), b = start(other);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

#define THREAD(name)                                                                                                   \
    __attribute__((noinline)) static void *name(void *unused)                                                          \
    {                                                                                                                  \
        name##_does();                                                                                                 \
        return unused;                                                                                                 \
    }

#define DOES(name)                                                                                                     \
    static inline __attribute__((always_inline)) void name##_does(void);                                               \
    THREAD(name)                                                                                                       \
    static inline __attribute__((always_inline)) void name##_does(void)

/* ---- Nearly ordered: two threads each ----------------------------------------------------------------------- */

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static sem_t sem;

/* Written after the unlock. */
static int unlocked;
DOES(unlocked_one)
{
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    unlocked = 1;
}
DOES(unlocked_other)
{
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    sink = unlocked;
}

/* Both only read-lock. */
static int readers;
DOES(readers_one)
{
    pthread_rwlock_rdlock(&rw);
    readers = 1;
    pthread_rwlock_unlock(&rw);
}
DOES(readers_other)
{
    pthread_rwlock_rdlock(&rw);
    sink = readers;
    pthread_rwlock_unlock(&rw);
}

/* Taking a permit tells nobody. */
static int permits;
static sem_t two;
DOES(permits_one)
{
    permits = 1;
    sem_wait(&two);
}
DOES(permits_other)
{
    sem_wait(&two);
    sink = permits;
}

/* A try that fails hears of nothing. */
static int tried;
DOES(tried_one)
{
    tried = 1;
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
}
DOES(tried_other)
{
    if (pthread_mutex_trylock(&m) == 0)
        pthread_mutex_unlock(&m);
    else
        sink = tried;
}
static int spun;
DOES(spun_one)
{
    spun = 1;
    pthread_spin_lock(&spin);
    pthread_spin_unlock(&spin);
}
DOES(spun_other)
{
    if (pthread_spin_trylock(&spin) == 0)
        pthread_spin_unlock(&spin);
    else
        sink = spun;
}

/* Written after the store. */
static int stored;
static _Atomic int stored_flag;
DOES(stored_one)
{
    atomic_store_explicit(&stored_flag, 1, memory_order_release);
    stored = 1;
}
DOES(stored_other)
{
    if (atomic_load_explicit(&stored_flag, memory_order_acquire)) sink = stored;
}

/* An exchange that fails has the second order, … */
static int failing;
static _Atomic int failing_flag;
DOES(failing_one)
{
    failing = 1;
    atomic_store_explicit(&failing_flag, 1, memory_order_release);
}
DOES(failing_other)
{
    int expected = 0;
    if (!atomic_compare_exchange_strong_explicit(&failing_flag, &expected, 5, memory_order_acq_rel,
                                                 memory_order_relaxed))
        sink = failing;
}

/* … and writes nothing. */
static int refused;
static _Atomic int refused_flag = 3;
DOES(refused_one)
{
    int expected = 7;
    refused = 1;
    atomic_compare_exchange_strong(&refused_flag, &expected, 8);
}
DOES(refused_other)
{
    if (atomic_load(&refused_flag) == 3) sink = refused;
}

/* A fence for signals is none for threads. */
static int fenced;
static _Atomic int fenced_flag;
DOES(fenced_one)
{
    fenced = 1;
    atomic_signal_fence(memory_order_release);
    atomic_store_explicit(&fenced_flag, 1, memory_order_relaxed);
}
DOES(fenced_other)
{
    if (!atomic_load_explicit(&fenced_flag, memory_order_relaxed)) return;
    atomic_signal_fence(memory_order_acquire);
    sink = fenced;
}

/* volatile orders nothing, and is no atomic. */
static volatile int changing;
DOES(changing_one)
{
    changing = 1;
}
DOES(changing_other)
{
    changing = 2;
}

/* Eight bytes across two granules, and one of them. */
static struct {
    _Alignas(16) char begin[4];
    char text[12];
} __attribute__((packed)) across;
DOES(across_one)
{
    uint64_t value = 1;
    __builtin_memcpy(across.text, &value, sizeof value);
}
DOES(across_other)
{
    sink = across.text[6];
}

/* Freeing is a write. */
static int *freeing;
DOES(freeing_one)
{
    sink = *freeing;
}
DOES(freeing_other)
{
    free(freeing);
}

/* The creator writes after it has created. */
static int created;
DOES(created_one)
{
    sink = created;
}
__attribute__((noinline)) static void created_other(void)
{
    pthread_t t = start(created_one);
    created = 1;
    pthread_join(t, NULL);
}

/* Whom a wake lets continue hears of what came before it. */
static int woken;
static uint32_t woken_word;
DOES(woken_one)
{
    while (syscall(SYS_futex, &woken_word, FUTEX_WAIT, 0, NULL, NULL, 0) != 0) {
    }
    sink = woken;
}
__attribute__((noinline)) static void woken_other(void)
{
    pthread_t t = start(woken_one);
    while (syscall(SYS_futex, &woken_word, FUTEX_WAKE, 1, NULL, NULL, 0) == 0) usleep(1000);
    woken = 1;
    pthread_join(t, NULL);
}

/* A relaxed store by a third ends what the release began. */
static int ended;
static _Atomic int ended_flag;
DOES(ended_one)
{
    ended = 1;
    atomic_store_explicit(&ended_flag, 1, memory_order_release);
}
DOES(ended_third)
{
    if (atomic_load_explicit(&ended_flag, memory_order_relaxed) == 1)
        atomic_store_explicit(&ended_flag, 2, memory_order_relaxed);
}
DOES(ended_other)
{
    if (atomic_load_explicit(&ended_flag, memory_order_acquire) == 2) sink = ended;
}
static void ended_three(void)
{
    pthread_t t = start(ended_third);
    both(ended_one, ended_other);
    pthread_join(t, NULL);
}

/* One that has lived long, and one that came after many others. */
static int many;
static void *none(void *unused)
{
    return unused;
}
DOES(many_one)
{
    many = 1;
    sem_wait(&sem);
}
DOES(many_other)
{
    sink = many;
}
static void many_between(void)
{
    enum { BETWEEN = 63 };
    pthread_t old = start(many_one);
    for (int i = 0; i < BETWEEN; i++) pthread_join(start(none), NULL);
    pthread_t late = start(many_other);
    sem_post(&sem);
    pthread_join(late, NULL);
    pthread_join(old, NULL);
}

static const struct {
    const char *name;
    body *one, *other;
    void (*run)(void); /* instead of both */
} raced[] = {{"unlocked", unlocked_one, unlocked_other, NULL},
             {"readers", readers_one, readers_other, NULL},
             {"permits", permits_one, permits_other, NULL},
             {"tried", tried_one, tried_other, NULL},
             {"spun", spun_one, spun_other, NULL},
             {"stored", stored_one, stored_other, NULL},
             {"failing", failing_one, failing_other, NULL},
             {"refused", refused_one, refused_other, NULL},
             {"fenced", fenced_one, fenced_other, NULL},
             {"changing", changing_one, changing_other, NULL},
             {"across", across_one, across_other, NULL},
             {"freeing", freeing_one, freeing_other, NULL},
             {"created", NULL, NULL, created_other},
             {"woken", NULL, NULL, woken_other},
             {"ended", NULL, NULL, ended_three},
             {"many", NULL, NULL, many_between}};

/* ---- Ordered -------------------------------------------------------------------------------------------------- */

static int passed; /* by the case that is under way */
static _Atomic int flag;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_barrier_t gate;

static void *writes_under_rwlock(void *unused)
{
    pthread_rwlock_wrlock(&rw);
    passed++;
    pthread_rwlock_unlock(&rw);
    return unused;
}

static void *reads_under_rwlock(void *unused)
{
    pthread_rwlock_rdlock(&rw);
    int now = passed;
    pthread_rwlock_unlock(&rw);
    return now < 0 ? NULL : unused;
}

static void *spins(void *unused)
{
    while (pthread_spin_trylock(&spin) != 0) {
    }
    passed++;
    pthread_spin_unlock(&spin);
    return unused;
}

static void *posts(void *unused)
{
    passed++;
    sem_post(&sem);
    return unused;
}

static void *awaits(void *unused)
{
    sem_wait(&sem);
    passed++;
    return unused;
}

static void *meets(void *unused)
{
    static int side[2];
    static _Atomic int number;
    int own = atomic_fetch_add_explicit(&number, 1, memory_order_relaxed) % 2;
    side[own] = 1;
    pthread_barrier_wait(&gate);
    return side[1 - own] ? unused : NULL;
}

static void initialise(void)
{
    passed++;
}

static void *initialises(void *unused)
{
    pthread_once(&once, initialise);
    return passed < 0 ? NULL : unused;
}

/* Three, so that one can take the mutex between the signal and the return of the wait. */
static int turns;
static void *waits(void *unused)
{
    pthread_mutex_lock(&m);
    while (turns == 0) pthread_cond_wait(&c, &m);
    passed++;
    pthread_mutex_unlock(&m);
    return unused;
}
static void *signals(void *unused)
{
    pthread_mutex_lock(&m);
    turns = 1;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    return unused;
}
static void *comes_between(void *unused)
{
    if (pthread_mutex_trylock(&m) != 0) return unused;
    passed++;
    pthread_mutex_unlock(&m);
    return unused;
}

static void *publishes_by_fence(void *unused)
{
    passed++;
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&flag, 1, memory_order_relaxed);
    return unused;
}
static void *looks_by_fence(void *unused)
{
    if (!atomic_load_explicit(&flag, memory_order_relaxed)) return unused;
    atomic_thread_fence(memory_order_acquire);
    passed++;
    return unused;
}

/* A read-modify-write continues what a release began. */
static void *publishes(void *unused)
{
    passed++;
    atomic_store_explicit(&flag, 1, memory_order_release);
    return unused;
}
static void *counts(void *unused)
{
    if (atomic_load_explicit(&flag, memory_order_relaxed) == 1)
        atomic_fetch_add_explicit(&flag, 1, memory_order_relaxed);
    return unused;
}
static void *looks(void *unused)
{
    if (atomic_load_explicit(&flag, memory_order_acquire) == 2) passed++;
    return unused;
}

/* One that fails has an order, too. */
static void *exchanges(void *unused)
{
    int expected = 0;
    if (!atomic_compare_exchange_strong_explicit(&flag, &expected, 0, memory_order_acq_rel, memory_order_acquire))
        passed++;
    return unused;
}

/* A byte is published, and all four are looked at. */
static union {
    _Atomic uint32_t whole;
    _Atomic uint8_t part[4];
} mixed;
static void *publishes_part(void *unused)
{
    passed++;
    atomic_store_explicit(&mixed.part[1], 1, memory_order_release);
    return unused;
}
static void *looks_at_whole(void *unused)
{
    if (atomic_load_explicit(&mixed.whole, memory_order_acquire)) passed++;
    return unused;
}

/* Moved to another word, and woken there. */
static uint32_t words[2];
static void *sleeps(void *unused)
{
    if (syscall(SYS_futex, &words[0], FUTEX_WAIT, 0, NULL, NULL, 0) == 0) passed++;
    return unused;
}
static void *moves(void *unused)
{
    usleep(1000); /* until it waits */
    passed++;
    syscall(SYS_futex, &words[0], FUTEX_REQUEUE, 0, 9L, &words[1], 0);
    syscall(SYS_futex, &words[1], FUTEX_WAKE, 9, NULL, NULL, 0);
    return unused;
}

/* Whoever wakes is another one than who has moved it. */
static void *wakes_moved(void *unused)
{
    passed++;
    syscall(SYS_futex, &words[1], FUTEX_WAKE, 9, NULL, NULL, 0);
    return unused;
}
static void moved_and_woken(void)
{
    pthread_t one = start(sleeps);
    usleep(1000); /* until it waits */
    syscall(SYS_futex, &words[0], FUTEX_REQUEUE, 0, 9L, &words[1], 0);
    pthread_t other = start(wakes_moved);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
}

static int pipes[2];
static void *writes_pipe(void *unused)
{
    passed++;
    if (write(pipes[1], "x", 1) != 1) abort();
    return unused;
}
static void *reads_pipe(void *unused)
{
    char byte;
    if (read(pipes[0], &byte, 1) != 1) abort();
    passed++;
    return unused;
}

static void between(void)
{
    pthread_t third = start(comes_between);
    both(waits, signals);
    pthread_join(third, NULL);
}

static void ordered(void)
{
    pthread_t third;
    both(writes_under_rwlock, reads_under_rwlock);
    both(reads_under_rwlock, writes_under_rwlock);
    both(spins, spins);
    both(posts, awaits);
    both(meets, meets);
    both(initialises, initialises);
    between();
    both(publishes_by_fence, looks_by_fence);
    atomic_store(&flag, 0);
    third = start(counts);
    both(publishes, looks);
    pthread_join(third, NULL);
    atomic_store(&flag, 0);
    both(publishes, exchanges);
    both(publishes_part, looks_at_whole);
    both(sleeps, moves);
    moved_and_woken();
    if (pipe(pipes) != 0) abort();
    both(writes_pipe, reads_pipe);
}

/* ---- Values ------------------------------------------------------------------------------------------------- */

static void values(void)
{
#ifdef __GCC_HAVE_SYNC_COMPARE_AND_SWAP_16
    __extension__ typedef unsigned __int128 word;
    static _Alignas(16) word place;
    const word large = (word)5 << 64 | 3;
    word expected = 1;
    pthread_join(start(none), NULL);
    __atomic_store_n(&place, large, __ATOMIC_SEQ_CST);
    assert(__atomic_load_n(&place, __ATOMIC_SEQ_CST) == large);
    assert(!__atomic_compare_exchange_n(&place, &expected, 9, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
    assert(expected == large);
    assert(__atomic_compare_exchange_n(&place, &expected, 9, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
    assert(__atomic_fetch_nand(&place, 1, __ATOMIC_SEQ_CST) == 9 && place == ~(word)1);
    assert(__atomic_exchange_n(&place, 6, __ATOMIC_SEQ_CST) == ~(word)1);
    assert(__atomic_fetch_add(&place, large, __ATOMIC_SEQ_CST) == 6 && place == large + 6);
    assert(__atomic_fetch_xor(&place, large, __ATOMIC_SEQ_CST) == large + 6);
#endif
    static _Atomic uint8_t byte = 0xf0;
    assert(__atomic_fetch_nand((uint8_t *)&byte, 0x3c, __ATOMIC_SEQ_CST) == 0xf0 && byte == 0xcf);
}

static void run_raced(size_t i)
{
    if (raced[i].run)
        raced[i].run();
    else
        both(raced[i].one, raced[i].other);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    size_t count = sizeof raced / sizeof *raced;
    pthread_spin_init(&spin, 0);
    pthread_barrier_init(&gate, NULL, 2);
    sem_init(&two, 0, 2);
    sem_init(&sem, 0, 0);
    freeing = calloc(1, sizeof *freeing);
    if (strcmp(what, "ordered") == 0) ordered();
    if (strcmp(what, "between") == 0) between();
    if (strcmp(what, "values") == 0) values();
    for (size_t i = 0; i < count; i++) {
        if (strcmp(what, "list") == 0) puts(raced[i].name);
        for (int n = 2; n < argc; n++)
            if (strcmp(raced[i].name, argv[n]) == 0) run_raced(i);
    }
    return 0;
}
