/* oracles.c — one mistake for each thing that raddle notices in a program with threads, and the same without it:
 * oracles NAME [fixed]. tests/cli/threads_oracles.sh, and the table in docs/threads-under-test.md. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static bool fixed;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t gate;
static pthread_spinlock_t spin;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t sem;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER; /* of count */
static bool flag;
static int count;

static pthread_t start(void *(*fn)(void *))
{
    pthread_t t;
    pthread_create(&t, NULL, fn, NULL);
    return t;
}

static void both(void *(*one)(void *), void *(*two)(void *))
{
    pthread_t t = start(one), u = start(two);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
}

static void *locks(void *arg)
{
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    return arg;
}

/* ---- Nobody can run, or some cannot ------------------------------------------------------------- */

static void *forward(void *arg)
{
    pthread_mutex_lock(&m);
    pthread_mutex_lock(&n);
    pthread_mutex_unlock(&n);
    pthread_mutex_unlock(&m);
    return arg;
}

static void *backward(void *arg)
{
    pthread_mutex_lock(fixed ? &m : &n);
    pthread_mutex_lock(fixed ? &n : &m);
    pthread_mutex_unlock(fixed ? &n : &m);
    pthread_mutex_unlock(fixed ? &m : &n);
    return arg;
}

static void deadlock(void)
{
    both(forward, backward);
}

/* Two are stuck while a third goes on for ever. */
static void *beats(void *arg)
{
    struct timespec second = {1, 0};
    for (bool ends = false; !ends;) {
        nanosleep(&second, NULL);
        pthread_mutex_lock(&guard);
        ends = count == 2;
        pthread_mutex_unlock(&guard);
    }
    return arg;
}

static void counts(void)
{
    pthread_mutex_lock(&guard);
    count++;
    pthread_mutex_unlock(&guard);
}

static void *forward_counts(void *arg)
{
    forward(arg);
    counts();
    return arg;
}

static void *backward_counts(void *arg)
{
    backward(arg);
    counts();
    return arg;
}

/* In the other order, too, but for so long only: who waits like that is not stuck, nor is who waits for it. */
static void *patient_counts(void *arg)
{
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 100;
    pthread_mutex_lock(&n);
    if (pthread_mutex_timedlock(&m, &limit) == 0) pthread_mutex_unlock(&m);
    pthread_mutex_unlock(&n);
    counts();
    return arg;
}

static void partial(void)
{
    pthread_t t = start(beats);
    both(forward_counts, fixed ? patient_counts : backward_counts);
    pthread_join(t, NULL);
}

/* Main leaves them. */
static void exits_stuck(void)
{
    pthread_detach(start(forward_counts));
    pthread_detach(start(backward_counts));
    for (int i = 0; i < 4; i++) sched_yield();
}

static struct private
{
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool ends;
}
*given;

static void *waits_alone(void *arg)
{
    struct private *p = arg;
    pthread_mutex_lock(&p->lock);
    while (!p->ends) pthread_cond_wait(&p->changed, &p->lock);
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static void *tells(void *arg)
{
    if (fixed) pthread_mutex_lock(&m);
    flag = true;
    pthread_cond_signal(&c);
    if (fixed) pthread_mutex_unlock(&m);
    return arg;
}

static void lost_wakeup(void)
{
    pthread_t t = start(tells);
    pthread_mutex_lock(&m);
    while (!flag) pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    pthread_join(t, NULL);
}

static void *polite_to(pthread_mutex_t *first, pthread_mutex_t *second)
{
    for (;;) {
        pthread_mutex_lock(first);
        if (pthread_mutex_trylock(second) == 0) break;
        pthread_mutex_unlock(first);
        sched_yield();
    }
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
    return NULL;
}

static void *polite(void *arg)
{
    (void)arg;
    return polite_to(&m, &n);
}

static void *polite_too(void *arg)
{
    (void)arg;
    return fixed ? polite_to(&m, &n) : polite_to(&n, &m);
}

static void livelock(void)
{
    both(polite, polite_too);
}

/* It waits for its turn; the other one takes both, again and again. */
static void *greedy(void *arg)
{
    for (bool ends = false; !ends;) {
        pthread_mutex_lock(&m);
        ends = flag;
        if (fixed) ends = true;
        pthread_mutex_unlock(&m);
        sched_yield();
    }
    return arg;
}

static void *starves(void *arg)
{
    while (pthread_mutex_trylock(&n) != 0) sched_yield();
    flag = true;
    pthread_mutex_unlock(&n);
    return arg;
}

static void starvation(void)
{
    pthread_mutex_lock(&n);
    if (fixed) pthread_mutex_unlock(&n);
    both(greedy, starves);
}

static void *relocks(void *arg)
{
    pthread_mutex_lock(&m);
    if (!fixed) pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    return arg;
}

static void relock(void)
{
    both(relocks, locks);
}

static void *ends_with_it(void *arg)
{
    pthread_mutex_lock(&m);
    if (fixed) pthread_mutex_unlock(&m);
    return arg;
}

static void ended_holder(void)
{
    both(ends_with_it, locks);
}

static void *upgrades(void *arg)
{
    pthread_rwlock_rdlock(&rw);
    if (fixed) pthread_rwlock_unlock(&rw);
    pthread_rwlock_wrlock(&rw);
    pthread_rwlock_unlock(&rw);
    return arg;
}

static void upgrade(void)
{
    both(upgrades, upgrades);
}

static void initialise(void)
{
    if (!fixed) pthread_once(&once, initialise);
}

static void *initialises(void *arg)
{
    pthread_once(&once, initialise);
    return arg;
}

static void once_in_once(void)
{
    both(initialises, initialises);
}

static void *comes(void *arg)
{
    pthread_barrier_wait(&gate);
    return arg;
}

/* Three come to a barrier for two. */
static void barrier_overrun(void)
{
    pthread_barrier_init(&gate, NULL, fixed ? 3 : 2);
    pthread_t t = start(comes);
    both(comes, comes);
    pthread_join(t, NULL);
}

static void *spins_twice(void *arg)
{
    pthread_spin_lock(&spin);
    if (!fixed) pthread_spin_lock(&spin);
    pthread_spin_unlock(&spin);
    return arg;
}

static void spin_relock(void)
{
    pthread_spin_init(&spin, 0);
    both(spins_twice, spins_twice);
}

/* ---- How it ends --------------------------------------------------------------------------------- */

static void *checks(void *arg)
{
    pthread_mutex_lock(&m);
    assert(flag || fixed);
    pthread_mutex_unlock(&m);
    return arg;
}

static void *sets(void *arg)
{
    pthread_mutex_lock(&m);
    flag = true;
    pthread_mutex_unlock(&m);
    return arg;
}

static void assertion(void)
{
    both(sets, checks);
}

static void *dies(void *arg)
{
    static int *volatile nowhere;
    pthread_mutex_lock(&m);
    if (!flag && !fixed) *nowhere = 1;
    pthread_mutex_unlock(&m);
    return arg;
}

static void crash(void)
{
    both(sets, dies);
}

static void *aborts(void *arg)
{
    pthread_mutex_lock(&m);
    if (!flag && !fixed) abort();
    pthread_mutex_unlock(&m);
    return arg;
}

static void aborted(void)
{
    both(sets, aborts);
}

static void *exits(void *arg)
{
    pthread_mutex_lock(&m);
    if (!flag && !fixed) exit(3);
    pthread_mutex_unlock(&m);
    return arg;
}

static void exit_status(void)
{
    both(sets, exits);
}

static void *loops(void *arg)
{
    static volatile bool never;
    pthread_mutex_lock(&m);
    while (!flag && !fixed) never = !never;
    pthread_mutex_unlock(&m);
    return arg;
}

static void endless_loop(void)
{
    both(sets, loops);
}

static int deeper(int depth)
{
    volatile char room[4096] = {(char)depth};
    return depth == 0 ? 0 : deeper(depth - 1) + room[0];
}

static void *recurses(void *arg)
{
    pthread_mutex_lock(&m);
    if (!flag) count = deeper(fixed ? 10 : 1000000);
    pthread_mutex_unlock(&m);
    return arg;
}

static void stack_overflow(void)
{
    both(sets, recurses);
}

/* ---- Misuse ------------------------------------------------------------------------------------------ */

static void *tries(void *arg)
{
    bool got = pthread_mutex_trylock(&m) == 0;
    if (got || !fixed) pthread_mutex_unlock(&m);
    return arg;
}

static void unlock_of_others(void)
{
    both(locks, tries);
}

static void unlock_of_free(void)
{
    pthread_t t = start(locks);
    if (fixed) pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    pthread_join(t, NULL);
}

static void destroy_locked(void)
{
    pthread_t t = start(locks);
    if (fixed) pthread_join(t, NULL);
    pthread_mutex_destroy(&m);
    if (!fixed) pthread_join(t, NULL);
}

static void lock_destroyed(void)
{
    pthread_t t = start(locks);
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    if (fixed) pthread_join(t, NULL);
    pthread_mutex_destroy(&m);
    if (!fixed) pthread_join(t, NULL);
}

static void *waits_for_flag(void *arg)
{
    pthread_mutex_lock(&m);
    while (!flag) pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    return arg;
}

static void *waits_with_other(void *arg)
{
    pthread_mutex_t *lock = fixed ? &m : &n;
    pthread_mutex_lock(lock);
    while (!flag) pthread_cond_wait(&c, lock);
    pthread_mutex_unlock(lock);
    return arg;
}

static void two_mutexes(void)
{
    pthread_t t = start(waits_for_flag), u = start(waits_with_other);
    sched_yield();
    pthread_mutex_lock(&m);
    pthread_mutex_lock(&n);
    flag = true;
    pthread_cond_broadcast(&c);
    pthread_mutex_unlock(&n);
    pthread_mutex_unlock(&m);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
}

static void *waits_without(void *arg)
{
    if (fixed) return waits_for_flag(arg);
    while (!flag) pthread_cond_wait(&c, &m);
    return arg;
}

static void wait_without_mutex(void)
{
    pthread_t t = start(waits_without);
    sets(NULL);
    pthread_cond_signal(&c);
    pthread_join(t, NULL);
}

static void destroy_waited_for(void)
{
    pthread_t t = start(waits_for_flag);
    if (fixed) {
        sets(NULL);
        pthread_cond_signal(&c);
        pthread_join(t, NULL);
    }
    pthread_cond_destroy(&c);
    if (!fixed) pthread_join(t, NULL);
}

static void *signals(void *arg)
{
    sets(arg);
    pthread_cond_signal(&c);
    return arg;
}

static void signal_destroyed(void)
{
    pthread_t t = start(signals);
    waits_for_flag(NULL);
    if (fixed) pthread_join(t, NULL);
    pthread_cond_destroy(&c);
    if (!fixed) pthread_join(t, NULL);
}

static void *reads(void *arg)
{
    pthread_rwlock_rdlock(&rw);
    pthread_rwlock_unlock(&rw);
    return arg;
}

static void *reads_not(void *arg)
{
    bool got = pthread_rwlock_trywrlock(&rw) == 0;
    if (got || !fixed) pthread_rwlock_unlock(&rw);
    return arg;
}

static void rwlock_of_others(void)
{
    both(reads, reads_not);
}

static void rwlock_of_free(void)
{
    pthread_t t = start(reads);
    if (fixed) pthread_rwlock_wrlock(&rw);
    pthread_rwlock_unlock(&rw);
    pthread_join(t, NULL);
}

static void rwlock_destroyed(void)
{
    pthread_t t = start(reads);
    if (fixed) pthread_join(t, NULL);
    pthread_rwlock_destroy(&rw);
    if (!fixed) pthread_join(t, NULL);
}

static void barrier_destroyed(void)
{
    pthread_barrier_init(&gate, NULL, 2);
    pthread_t t = start(comes);
    if (fixed) comes(NULL);
    if (fixed) pthread_join(t, NULL);
    pthread_barrier_destroy(&gate);
    if (!fixed) pthread_join(t, NULL);
}

static void *spins(void *arg)
{
    if (pthread_spin_trylock(&spin) == 0 || !fixed) pthread_spin_unlock(&spin);
    return arg;
}

static void spin_of_others(void)
{
    pthread_spin_init(&spin, 0);
    both(spins, spins);
}

static void join_twice(void)
{
    pthread_t t = start(locks), u = start(locks);
    pthread_join(t, NULL);
    pthread_join(fixed ? u : t, NULL);
}

static pthread_t main_thread;

static void *joins_main(void *arg)
{
    if (pthread_join(fixed ? main_thread : pthread_self(), NULL) != 0) abort();
    return arg;
}

static void join_itself(void)
{
    main_thread = start(locks);
    pthread_t t = start(joins_main);
    pthread_join(t, NULL);
}

static void join_detached(void)
{
    pthread_t t = start(locks);
    if (!fixed) pthread_detach(t);
    pthread_join(t, NULL);
}

static void detach_twice(void)
{
    pthread_t t = start(locks);
    pthread_detach(t);
    if (!fixed) pthread_detach(t);
}

static void *posts(void *arg)
{
    if (sem_post(&sem) != 0) abort();
    return arg;
}

static void semaphore_overflow(void)
{
    sem_init(&sem, 0, SEM_VALUE_MAX - (fixed ? 2 : 1));
    both(posts, posts);
}

static void *frees(void *arg)
{
    pthread_mutex_lock(&m);
    char *mine = arg;
    pthread_mutex_unlock(&m);
    free(mine);
    return NULL;
}

static void double_free(void)
{
    pthread_t t;
    char *block = malloc(40);
    pthread_create(&t, NULL, frees, block);
    if (!fixed) free(block);
    pthread_join(t, NULL);
}

static void free_waited_for(void)
{
    pthread_t t;
    given = calloc(1, sizeof *given);
    pthread_mutex_init(&given->lock, NULL);
    pthread_cond_init(&given->changed, NULL);
    struct private *p = given;
    pthread_create(&t, NULL, waits_alone, p);
    pthread_mutex_lock(&p->lock);
    p->ends = fixed;
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->lock);
    if (fixed) pthread_join(t, NULL);
    free(p);
    if (!fixed) pthread_join(t, NULL);
}

#define ROW(name)                                                                                                      \
    {                                                                                                                  \
#name, name                                                                                                    \
    }

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = {ROW(deadlock),
               ROW(partial),
               ROW(exits_stuck),
               ROW(lost_wakeup),
               ROW(livelock),
               ROW(starvation),
               ROW(relock),
               ROW(ended_holder),
               ROW(upgrade),
               ROW(once_in_once),
               ROW(barrier_overrun),
               ROW(spin_relock),
               ROW(assertion),
               ROW(crash),
               ROW(aborted),
               ROW(exit_status),
               ROW(endless_loop),
               ROW(stack_overflow),
               ROW(unlock_of_others),
               ROW(unlock_of_free),
               ROW(destroy_locked),
               ROW(lock_destroyed),
               ROW(two_mutexes),
               ROW(wait_without_mutex),
               ROW(destroy_waited_for),
               ROW(signal_destroyed),
               ROW(rwlock_of_others),
               ROW(rwlock_of_free),
               ROW(rwlock_destroyed),
               ROW(barrier_destroyed),
               ROW(spin_of_others),
               ROW(join_twice),
               ROW(join_itself),
               ROW(join_detached),
               ROW(detach_twice),
               ROW(semaphore_overflow),
               ROW(double_free),
               ROW(free_waited_for)};
    fixed = argc > 2 && strcmp(argv[2], "fixed") == 0;
    for (size_t i = 0; argc > 1 && i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].name, argv[1]) == 0) {
            all[i].run();
            return 0;
        }
    return 2;
}
