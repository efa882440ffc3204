/* threads.c — ordinary pthread programs with a scheduling bug each, for `raddle explore`: threads NAME [fixed]. */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static bool fixed;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;

static void run(void *(*one)(void *), void *(*two)(void *))
{
    pthread_t a, b;
    pthread_create(&a, NULL, one, NULL);
    pthread_create(&b, NULL, two, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

/* ---- Two locks in two orders ---- */

static void both(pthread_mutex_t *first, pthread_mutex_t *second)
{
    pthread_mutex_lock(first);
    pthread_mutex_lock(second);
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
}

static void *forward(void *arg)
{
    both(&m, &n);
    return arg;
}

static void *backward(void *arg)
{
    if (fixed)
        both(&m, &n);
    else
        both(&n, &m);
    return arg;
}

static void abba(void)
{
    run(forward, backward);
}

/* ---- A signal that comes before the wait, because the predicate is read without the lock ---- */

static bool ready;

static void *waiter(void *arg)
{
    pthread_mutex_lock(&m);
    bool seen = ready;
    if (!fixed) {
        pthread_mutex_unlock(&m);
        pthread_mutex_lock(&m);
    }
    while (fixed ? !ready : !seen) {
        pthread_cond_wait(&c, &m);
        seen = true;
    }
    pthread_mutex_unlock(&m);
    return arg;
}

static void *teller(void *arg)
{
    pthread_mutex_lock(&m);
    ready = true;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    return arg;
}

static void lost(void)
{
    run(waiter, teller);
}

/* ---- One signal for two kinds of waiters: the wrong one consumes it ---- */

static int items, spaces = 1;

static void *taker(void *arg)
{
    pthread_mutex_lock(&m);
    while (items == 0) pthread_cond_wait(&c, &m);
    items--;
    spaces++;
    if (fixed)
        pthread_cond_broadcast(&c);
    else
        pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    return arg;
}

static void *putter(void *arg)
{
    pthread_mutex_lock(&m);
    while (spaces == 0) pthread_cond_wait(&c, &m);
    spaces--;
    items++;
    if (fixed)
        pthread_cond_broadcast(&c);
    else
        pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    return arg;
}

static void consumed(void)
{
    pthread_t t[4];
    for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, i < 2 ? taker : putter, NULL);
    for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
}

/* ---- A broadcast without the mutex: one hand waits already, the other has looked and waits after it ---- */

static pthread_cond_t came = PTHREAD_COND_INITIALIZER;
static int hands;
static volatile bool over;

static void *hand(void *arg)
{
    pthread_mutex_lock(&m);
    hands++;
    pthread_cond_signal(&came);
    while (!over) pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    return arg;
}

static void bare(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, hand, NULL);
    pthread_mutex_lock(&m);
    while (hands == 0) pthread_cond_wait(&came, &m);
    if (!fixed) pthread_mutex_unlock(&m);
    over = true;
    pthread_cond_broadcast(&c);
    if (fixed) pthread_mutex_unlock(&m);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
}

/* ---- Check, then act ---- */

static int stock = 1;

static void *buyer(void *arg)
{
    pthread_mutex_lock(&m);
    bool there = stock > 0;
    if (there && fixed) stock--;
    pthread_mutex_unlock(&m);
    if (!there || fixed) return arg;
    pthread_mutex_lock(&m);
    stock--;
    pthread_mutex_unlock(&m);
    return arg;
}

static void oversold(void)
{
    run(buyer, buyer);
    assert(stock >= 0);
}

/* ---- The wrong thread unlocks ---- */

static void *locks(void *arg)
{
    if (pthread_mutex_trylock(&m) == 0) pthread_mutex_unlock(&m);
    return arg;
}

static void *unlocks(void *arg)
{
    bool got = pthread_mutex_trylock(&m) == 0;
    if (got || !fixed) pthread_mutex_unlock(&m);
    return arg;
}

static void stranger(void)
{
    run(locks, unlocks);
}

/* ---- Readers and a writer: an upgrade ---- */

static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static int version;

static void *upgrades(void *arg)
{
    pthread_rwlock_rdlock(&rw);
    int seen = version;
    pthread_rwlock_unlock(&rw);
    pthread_rwlock_wrlock(&rw);
    version = fixed ? version + 1 : seen + 1;
    pthread_rwlock_unlock(&rw);
    return arg;
}

static void upgrade(void)
{
    run(upgrades, upgrades);
    assert(version == 2);
}

/* ---- Semaphores and a barrier ---- */

static sem_t slots;
static pthread_barrier_t gate;
static int inside;

static void *enters(void *arg)
{
    pthread_barrier_wait(&gate);
    sem_wait(&slots);
    inside++;
    sched_yield();
    assert(inside == 1);
    inside--;
    sem_post(&slots);
    return arg;
}

static void crowd(void)
{
    sem_init(&slots, 0, fixed ? 1 : 2);
    pthread_barrier_init(&gate, NULL, 2);
    run(enters, enters);
}

/* ---- Thread-local variables, keys, once, pthread_exit: clean, unless a thread ends with a lock held ---- */

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static __thread int mine;
static int destroyed, initialised;

static void destroy(void *value)
{
    destroyed += *(int *)value;
    free(value);
}

static void initialise(void)
{
    initialised++;
    pthread_key_create(&key, destroy);
}

static void *lives(void *arg)
{
    int *value = malloc(sizeof *value);
    pthread_once(&once, initialise);
    assert(mine == 0 && value != NULL);
    *value = 1;
    pthread_setspecific(key, value);
    mine++;
    pthread_mutex_lock(&m);
    assert(mine == 1);
    if (fixed) pthread_mutex_unlock(&m);
    pthread_exit(arg);
}

static void life(void)
{
    run(lives, lives);
    assert(destroyed == 2 && initialised == 1 && mine == 0);
}

/* ---- C11 ---- */

static mtx_t mtx;
static cnd_t cnd;
static int turn;

static int plays(void *arg)
{
    int me = *(int *)arg;
    mtx_lock(&mtx);
    while (turn != me) cnd_wait(&cnd, &mtx);
    turn++;
    if (fixed)
        cnd_broadcast(&cnd);
    else
        cnd_signal(&cnd);
    mtx_unlock(&mtx);
    return me;
}

static void c11(void)
{
    int who[3] = {0, 1, 2}, result;
    thrd_t t[3];
    mtx_init(&mtx, mtx_plain);
    cnd_init(&cnd);
    for (int i = 0; i < 3; i++) thrd_create(&t[i], plays, &who[i]);
    for (int i = 0; i < 3; i++) {
        thrd_join(t[i], &result);
        assert(result == i);
    }
}

/* ---- Many, with large stacks, that wait until it is too late; joined twice ---- */

static void *late(void *arg)
{
    struct timespec until;
    int code = 0;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 5;
    pthread_mutex_lock(&m);
    while (code == 0) code = pthread_cond_timedwait(&c, &m, &until);
    turn += code == ETIMEDOUT;
    pthread_mutex_unlock(&m);
    return arg;
}

static void crowded(void)
{
    enum { MANY = 64 };
    pthread_t t[MANY];
    pthread_attr_t a;
    pthread_attr_init(&a);
    pthread_attr_setstacksize(&a, 16 << 20);
    for (int i = 0; i < MANY; i++) assert(pthread_create(&t[i], &a, late, NULL) == 0);
    for (int i = 0; i < MANY; i++) pthread_join(t[i], NULL);
    assert(turn == MANY);
}

/* ---- Handing over in the middle, back and forth: all schedules with one preemption fewer take minutes ---- */

static int legs, rounds[2];

static void *runs_leg(void *which)
{
    enum { ROUNDS = 150 };
    int own = *(int *)which;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&m);
        rounds[own] = i;
        legs += legs % 2 == own && rounds[!own] > 10 * legs && rounds[!own] < ROUNDS - 1;
        assert(legs < 4);
        pthread_mutex_unlock(&m);
    }
    return which;
}

static void relay(void)
{
    static int who[] = {0, 1};
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, runs_leg, &who[i]);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
}

static void joined(void)
{
    pthread_t t;
    pthread_create(&t, NULL, forward, NULL);
    forward(NULL);
    pthread_join(t, NULL);
    pthread_join(t, NULL);
}

/* ---- Two bugs: each of two sums loses an update, and two functions say so with equal words ---- */

static int sums[2];

static void *adds(void *sum)
{
    pthread_mutex_lock(&m);
    int seen = *(int *)sum;
    if (!fixed) {
        pthread_mutex_unlock(&m);
        pthread_mutex_lock(&m);
    }
    *(int *)sum = seen + 1;
    pthread_mutex_unlock(&m);
    return NULL;
}

static void left_twin(bool right)
{
    assert(right);
}

static void right_twin(bool right)
{
    assert(right);
}

static void twins(void)
{
    pthread_t t[4];
    for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, adds, &sums[i / 2]);
    for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
    left_twin(sums[0] == 2);
    right_twin(sums[1] == 2);
}

/* ---- Two wait, one after the other; a signal wakes either ---- */

static sem_t there;
static int arrived, first;

static void *takes(void *arg)
{
    pthread_mutex_lock(&m);
    int own = ++arrived;
    sem_post(&there);
    while (turn == 0) pthread_cond_wait(&c, &m);
    if (first == 0) first = own;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    return arg;
}

static void second(void)
{
    pthread_t t[2];
    sem_init(&there, 0, 0);
    for (int i = 0; i < 2; i++) {
        pthread_create(&t[i], NULL, takes, NULL);
        sem_wait(&there);
        pthread_mutex_lock(&m); /* it waits */
        pthread_mutex_unlock(&m);
    }
    pthread_mutex_lock(&m);
    turn = 1;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    assert(first == 1 || fixed);
}

/* ---- What cannot be explored ---- */

static void *forks(void *arg)
{
    if (fork() == 0) _exit(0);
    return arg;
}

static void forking(void)
{
    run(forks, forks);
}

/* ---- It looks 20 times, then sleeps; the one that comes then wakes none ---- */

static bool come;

static bool is_there(void)
{
    pthread_mutex_lock(&m);
    bool there = come;
    pthread_mutex_unlock(&m);
    return there;
}

static void *patient(void *arg)
{
    for (int i = 0; i < 20; i++) {
        if (is_there()) return arg;
        sched_yield();
    }
    pthread_mutex_lock(&m);
    while (!come) pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    return arg;
}

static void *comes(void *arg)
{
    pthread_mutex_lock(&m);
    come = true;
    if (fixed) pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    return arg;
}

static void patience(void)
{
    run(patient, comes);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = {{"abba", abba},         {"lost", lost},       {"consumed", consumed}, {"oversold", oversold},
               {"stranger", stranger}, {"upgrade", upgrade}, {"crowd", crowd},       {"life", life},
               {"c11", c11},           {"forks", forking},   {"crowded", crowded},   {"second", second},
               {"joined", joined},     {"bare", bare},       {"twins", twins},       {"patience", patience},
               {"relay", relay}};
    fixed = argc > 2 && strcmp(argv[2], "fixed") == 0;
    for (size_t i = 0; argc > 1 && i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].name, argv[1]) == 0) {
            all[i].run();
            puts("done");
            return 0;
        }
    return 2;
}
