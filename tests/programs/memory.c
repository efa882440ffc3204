/* memory.c — bugs in memory itself, for a program that `raddle cc` builds: a name, and `fixed` for the repaired
 * one. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool fixed;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void both(void *(*one)(void *), void *(*two)(void *))
{
    pthread_t a, b;
    pthread_create(&a, NULL, one, NULL);
    pthread_create(&b, NULL, two, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

/* ---- Dekker: each says that it comes, and looks whether the other does -------------------------------------- */

static _Atomic int comes[2], inside;

static void enter(int self)
{
    if (fixed) atomic_store(&comes[self], 1);
    if (atomic_load(&comes[1 - self]) == 0) {
        if (!fixed) atomic_store(&comes[self], 1);
        assert(atomic_fetch_add(&inside, 1) == 0);
        atomic_fetch_sub(&inside, 1);
    }
    atomic_store(&comes[self], 0);
}

static void *left(void *unused)
{
    enter(0);
    return unused;
}

static void *right(void *unused)
{
    enter(1);
    return unused;
}

static void dekker(void)
{
    both(left, right);
}

/* ---- A spin lock, which is given back too early ------------------------------------------------------------- */

static atomic_flag lock = ATOMIC_FLAG_INIT;
static int sum;

static void *adds(void *unused)
{
    while (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire)) {
    }
    int now = sum;
    if (!fixed) atomic_flag_clear_explicit(&lock, memory_order_release);
    sum = now + 1;
    if (fixed) atomic_flag_clear_explicit(&lock, memory_order_release);
    return unused;
}

static void spin(void)
{
    both(adds, adds);
    assert(sum == 2);
}

/* ---- A stack without locks: ABA ------------------------------------------------------------------------------ */

enum { NODES = 3 };
static struct {
    _Atomic int next, taken;
} nodes[NODES];
static _Atomic unsigned top; /* its place + 1, below a count of changes */

static int pop(void)
{
    unsigned old = atomic_load(&top);
    while ((old & 0xff) != 0) {
        int place = (int)(old & 0xff) - 1;
        unsigned next = (unsigned)atomic_load_explicit(&nodes[place].next, memory_order_relaxed);
        if (fixed) next |= (old & ~0xffu) + 0x100;
        if (atomic_compare_exchange_strong(&top, &old, next)) return place;
    }
    return -1;
}

static void push(int place)
{
    unsigned old = atomic_load(&top);
    unsigned next;
    do {
        atomic_store_explicit(&nodes[place].next, (int)(old & 0xff), memory_order_relaxed);
        next = (unsigned)place + 1;
        if (fixed) next |= (old & ~0xffu) + 0x100;
    } while (!atomic_compare_exchange_strong(&top, &old, next));
}

static void take(int place)
{
    if (place >= 0) assert(atomic_fetch_add(&nodes[place].taken, 1) == 0);
}

static void *pops(void *unused)
{
    take(pop());
    return unused;
}

static void *pops_and_pushes(void *unused)
{
    int first = pop(), second = pop();
    take(second);
    if (first >= 0) push(first);
    return unused;
}

static void aba(void)
{
    for (int i = 0; i < NODES; i++) push(i);
    both(pops, pops_and_pushes);
    int place;
    while ((place = pop()) >= 0) take(place);
}

/* ---- A message, published too weakly -------------------------------------------------------------------------- */

static int message;
static _Atomic bool ready;

static void *writes(void *unused)
{
    message = 42;
    atomic_store_explicit(&ready, true, fixed ? memory_order_release : memory_order_relaxed);
    return unused;
}

static void *reads(void *unused)
{
    while (!atomic_load_explicit(&ready, memory_order_acquire)) {
    }
    assert(message == 42);
    return unused;
}

static void publish(void)
{
    both(writes, reads);
}

/* ---- A counter: a race, and what comes of it --------------------------------------------------------------------
 * */

static int counter;

static void *count(void *unused)
{
    if (fixed) pthread_mutex_lock(&mutex);
    counter++;
    if (fixed) pthread_mutex_unlock(&mutex);
    return unused;
}

static void lost(void)
{
    both(count, count);
    assert(counter == 2);
}

/* ---- A block that another thread may still use -------------------------------------------------- */

struct item {
    int value;
};

static struct item *shared;

/* The one who frees does not look who else has it. */
static _Atomic bool has_read;

static void *looks(void *unused)
{
    pthread_mutex_lock(&mutex);
    if (shared) shared->value++;
    pthread_mutex_unlock(&mutex);
    atomic_store(&has_read, true);
    return unused;
}

static void *frees(void *unused)
{
    pthread_mutex_lock(&mutex);
    free(shared);
    if (fixed) shared = NULL;
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void freed(void)
{
    shared = calloc(1, sizeof *shared);
    both(looks, frees);
}

static void *frees_too(void *unused)
{
    return frees(unused);
}

static void twice(void)
{
    shared = calloc(1, sizeof *shared);
    both(frees, frees_too);
}

/* Memory is used again by another thread: nothing is wrong with that. */
static void *allocates(void *unused)
{
    for (int i = 0; i < 3; i++) {
        int *mine = malloc(sizeof *mine);
        *mine = i;
        assert(*mine == i);
        free(mine);
        atomic_fetch_add(&inside, 1);
    }
    return unused;
}

static void again(void)
{
    both(allocates, allocates);
}

/* ---- A counter that nobody needs to be exact, and two locks in two orders ------------------------------------ */

static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static void bumps(void)
{
    counter++;
}

static void *forward(void *unused)
{
    bumps();
    pthread_mutex_lock(&mutex);
    pthread_mutex_lock(&other);
    pthread_mutex_unlock(&other);
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void *backward(void *unused)
{
    bumps();
    pthread_mutex_lock(fixed ? &mutex : &other);
    pthread_mutex_lock(fixed ? &other : &mutex);
    pthread_mutex_unlock(fixed ? &other : &mutex);
    pthread_mutex_unlock(fixed ? &mutex : &other);
    return unused;
}

static void crossed(void)
{
    both(forward, backward);
}

static const struct {
    const char *name;
    void (*run)(void);
} programs[] = {{"dekker", dekker}, {"spin", spin},   {"aba", aba},     {"publish", publish}, {"lost", lost},
                {"freed", freed},   {"twice", twice}, {"again", again}, {"crossed", crossed}};

int main(int argc, char **argv)
{
    fixed = argc > 2 && strcmp(argv[2], "fixed") == 0;
    for (size_t i = 0; argc > 1 && i < sizeof programs / sizeof *programs; i++)
        if (strcmp(programs[i].name, argv[1]) == 0) {
            programs[i].run();
            return 0;
        }
    fprintf(stderr, "usage: memory NAME [fixed]\n");
    return 2;
}
