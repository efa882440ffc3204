/* ordinary.c — what programs with threads commonly consist of, each with a mistake that people make and the fixed
 * version: ordinary NAME [fixed]. For tests/cli/threads_ordinary.sh. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static bool fixed;

enum { THREADS_MAX = 8 };

/* Starts so many threads with their numbers, and waits for them. */
static void run(int count, void *(*fn)(void *))
{
    static int numbers[THREADS_MAX] = {0, 1, 2, 3, 4, 5, 6, 7};
    pthread_t t[THREADS_MAX];
    for (int i = 0; i < count; i++) pthread_create(&t[i], NULL, fn, &numbers[i]);
    for (int i = 0; i < count; i++) pthread_join(t[i], NULL);
}

/* ---- A thread pool: waiting until all is done. The last worker counts down without the lock ----- */

enum { JOBS = 3 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t work, idle;
    int queued;
    atomic_int pending;
    bool stops;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER, .idle = PTHREAD_COND_INITIALIZER};

static void pool_done(void)
{
    if (fixed) pthread_mutex_lock(&pool.lock);
    if (atomic_fetch_sub(&pool.pending, 1) == 1) pthread_cond_signal(&pool.idle);
    if (fixed) pthread_mutex_unlock(&pool.lock);
}

static void *pool_worker(void *arg)
{
    for (;;) {
        pthread_mutex_lock(&pool.lock);
        while (pool.queued == 0 && !pool.stops) pthread_cond_wait(&pool.work, &pool.lock);
        bool has = pool.queued > 0;
        pool.queued -= has;
        pthread_mutex_unlock(&pool.lock);
        if (!has) return arg;
        pool_done();
    }
}

static void pooled(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, pool_worker, NULL);
    for (int i = 0; i < JOBS; i++) {
        pthread_mutex_lock(&pool.lock);
        atomic_fetch_add(&pool.pending, 1);
        pool.queued++;
        pthread_cond_signal(&pool.work);
        pthread_mutex_unlock(&pool.lock);
    }
    pthread_mutex_lock(&pool.lock);
    while (atomic_load(&pool.pending) > 0) pthread_cond_wait(&pool.idle, &pool.lock);
    pool.stops = true;
    pthread_cond_broadcast(&pool.work);
    pthread_mutex_unlock(&pool.lock);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
}

/* ---- A bounded queue: `if` where `while` is needed, and two consumers --------------------------- */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t not_empty;
    int count, produced;
    bool closed;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .not_empty = PTHREAD_COND_INITIALIZER};

static void *queue_takes(void *arg)
{
    pthread_mutex_lock(&queue.lock);
    if (fixed)
        while (queue.count == 0) pthread_cond_wait(&queue.not_empty, &queue.lock);
    else if (queue.count == 0)
        pthread_cond_wait(&queue.not_empty, &queue.lock);
    assert(queue.count > 0);
    queue.count--;
    pthread_mutex_unlock(&queue.lock);
    return arg;
}

static void *queue_puts(void *arg)
{
    pthread_mutex_lock(&queue.lock);
    queue.count++;
    pthread_cond_signal(&queue.not_empty);
    pthread_mutex_unlock(&queue.lock);
    return arg;
}

static void *queue_user(void *arg)
{
    return *(int *)arg < 2 ? queue_takes(arg) : queue_puts(arg);
}

static void bounded(void)
{
    run(4, queue_user);
}

/* ---- The same with one consumer: only a spurious wakeup shows it -------------------------------- */

static void *one_each(void *arg)
{
    return *(int *)arg < 1 ? queue_takes(arg) : queue_puts(arg);
}

static void spurious(void)
{
    run(2, one_each);
}

/* ---- Producer and consumer: the end is told without the lock ------------------------------------ */

static void *consumer(void *arg)
{
    pthread_mutex_lock(&queue.lock);
    for (;;) {
        while (queue.count == 0 && !queue.closed) pthread_cond_wait(&queue.not_empty, &queue.lock);
        if (queue.count == 0) break;
        queue.count--;
    }
    pthread_mutex_unlock(&queue.lock);
    return arg;
}

static void closing(void)
{
    pthread_t t;
    pthread_create(&t, NULL, consumer, NULL);
    for (int i = 0; i < 2; i++) queue_puts(NULL);
    if (fixed) pthread_mutex_lock(&queue.lock);
    queue.closed = true;
    pthread_cond_broadcast(&queue.not_empty);
    if (fixed) pthread_mutex_unlock(&queue.lock);
    pthread_join(t, NULL);
}

/* ---- A cache under a reader-writer lock: looked up, then inserted without another look ---------- */

static struct {
    pthread_rwlock_t lock;
    int keys[4], used;
} cache = {.lock = PTHREAD_RWLOCK_INITIALIZER};

static bool cache_has(int key)
{
    for (int i = 0; i < cache.used; i++)
        if (cache.keys[i] == key) return true;
    return false;
}

static void *cache_user(void *arg)
{
    const int key = 7;
    pthread_rwlock_rdlock(&cache.lock);
    bool has = cache_has(key);
    pthread_rwlock_unlock(&cache.lock);
    if (has) return arg;
    pthread_rwlock_wrlock(&cache.lock);
    if (!fixed || !cache_has(key)) cache.keys[cache.used++] = key;
    pthread_rwlock_unlock(&cache.lock);
    return arg;
}

static void cached(void)
{
    run(3, cache_user);
    assert(cache.used == 1);
}

/* ---- Dining philosophers ------------------------------------------------------------------------ */

enum { PHILOSOPHERS = 3 };

static pthread_mutex_t forks[PHILOSOPHERS] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                              PTHREAD_MUTEX_INITIALIZER};

static void *philosopher(void *arg)
{
    int i = *(int *)arg, left = i, right = (i + 1) % PHILOSOPHERS;
    if (fixed && left > right) {
        left = right;
        right = i;
    }
    for (int meal = 0; meal < 2; meal++) {
        pthread_mutex_lock(&forks[left]);
        pthread_mutex_lock(&forks[right]);
        pthread_mutex_unlock(&forks[right]);
        pthread_mutex_unlock(&forks[left]);
    }
    return arg;
}

static void dining(void)
{
    run(PHILOSOPHERS, philosopher);
}

/* ---- Double-checked initialisation: said to be ready before it is ------------------------------- */

static pthread_mutex_t init_lock = PTHREAD_MUTEX_INITIALIZER, log_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool ready;
static char *volatile name;

static void say(void)
{
    pthread_mutex_lock(&log_lock);
    pthread_mutex_unlock(&log_lock);
}

static void *initialises(void *arg)
{
    if (!atomic_load(&ready)) {
        pthread_mutex_lock(&init_lock);
        if (!atomic_load(&ready)) {
            if (!fixed) atomic_store(&ready, true);
            say();
            name = strdup("configuration");
            if (fixed) atomic_store(&ready, true);
        }
        pthread_mutex_unlock(&init_lock);
    }
    return name[0] == 'c' ? arg : NULL;
}

static void initialising(void)
{
    run(2, initialises);
}

/* ---- Stages with one barrier where two are needed ----------------------------------------------- */

static pthread_barrier_t step;
static int cells[2];

static void *computes(void *arg)
{
    int i = *(int *)arg;
    for (int round = 1; round <= 2; round++) {
        cells[i] = round;
        pthread_barrier_wait(&step);
        assert(cells[1 - i] == round);
        if (fixed) pthread_barrier_wait(&step);
    }
    return arg;
}

static void stages(void)
{
    pthread_barrier_init(&step, NULL, 2);
    run(2, computes);
}

/* ---- A time limit: after it the answer is not looked for again ---------------------------------- */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t done;
    int *answer; /* of who asked, while it waits */
    bool there;
} request = {.lock = PTHREAD_MUTEX_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};

static int answered, given_up;

static void *answers(void *arg)
{
    struct timespec work = {0, 20000000};
    nanosleep(&work, NULL);
    pthread_mutex_lock(&request.lock);
    if (request.answer != NULL) {
        *request.answer = 42;
        request.there = true;
        answered++;
        pthread_cond_signal(&request.done);
    }
    pthread_mutex_unlock(&request.lock);
    return arg;
}

static void timed(void)
{
    pthread_t t;
    struct timespec until;
    int answer = 0, code = 0;
    request.answer = &answer;
    pthread_create(&t, NULL, answers, NULL);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 20000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&request.lock);
    while (!request.there && code == 0) code = pthread_cond_timedwait(&request.done, &request.lock, &until);
    request.answer = NULL;
    if (fixed ? !request.there : code == ETIMEDOUT) given_up++;
    pthread_mutex_unlock(&request.lock);
    pthread_join(t, NULL);
    assert(answered + given_up == 1);
}

/* ---- Semaphores in the wrong order: the lock is held while there is no room --------------------- */

static sem_t room, filled, guard;
static int slots_used;

static void *sem_user(void *arg)
{
    bool puts = *(int *)arg == 0;
    for (int i = 0; i < 2; i++) {
        if (!fixed) sem_wait(&guard);
        sem_wait(puts ? &room : &filled);
        if (fixed) sem_wait(&guard);
        slots_used += puts ? 1 : -1;
        assert(slots_used >= 0 && slots_used <= 1);
        sem_post(&guard);
        sem_post(puts ? &filled : &room);
    }
    return arg;
}

static void semaphores(void)
{
    sem_init(&room, 0, 1);
    sem_init(&filled, 0, 0);
    sem_init(&guard, 0, 1);
    run(2, sem_user);
}

/* ---- A thread-local buffer that is lent to another thread --------------------------------------- */

static __thread char text[16];
static const char *volatile lent;
static pthread_mutex_t lent_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t lent_new = PTHREAD_COND_INITIALIZER;

static const char *number_text(int n) /* as strerror, inet_ntoa and others do */
{
    snprintf(text, sizeof text, "%d", n);
    return text;
}

static void *lends(void *arg)
{
    static char copy[16];
    pthread_mutex_lock(&lent_lock);
    lent = fixed ? memcpy(copy, number_text(1), sizeof copy) : number_text(1);
    pthread_cond_signal(&lent_new);
    pthread_mutex_unlock(&lent_lock);
    say();
    number_text(2);
    say();
    return arg;
}

static void local(void)
{
    pthread_t t;
    pthread_create(&t, NULL, lends, NULL);
    pthread_mutex_lock(&lent_lock);
    while (lent == NULL) pthread_cond_wait(&lent_new, &lent_lock);
    pthread_mutex_unlock(&lent_lock);
    assert(strcmp(lent, "1") == 0);
    pthread_join(t, NULL);
}

/* ---- A detached thread that logs: main does not wait for the last line -------------------------- */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int lines, written;
    bool closes, closed;
} logger = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void *logs(void *arg)
{
    pthread_mutex_lock(&logger.lock);
    while (!logger.closes || logger.written < logger.lines) {
        if (logger.written == logger.lines) {
            pthread_cond_wait(&logger.changed, &logger.lock);
            continue;
        }
        logger.written++;
    }
    logger.closed = true;
    pthread_cond_broadcast(&logger.changed);
    pthread_mutex_unlock(&logger.lock);
    return arg;
}

static void logging(void)
{
    pthread_t t;
    pthread_create(&t, NULL, logs, NULL);
    pthread_detach(t);
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&logger.lock);
        logger.lines++;
        pthread_cond_broadcast(&logger.changed);
        pthread_mutex_unlock(&logger.lock);
    }
    pthread_mutex_lock(&logger.lock);
    logger.closes = true;
    pthread_cond_broadcast(&logger.changed);
    while (fixed && !logger.closed) pthread_cond_wait(&logger.changed, &logger.lock);
    pthread_mutex_unlock(&logger.lock);
    assert(logger.written == 2);
}

/* ---- A recursive mutex: a wait gives it back once ----------------------------------------------- */

static pthread_mutex_t again;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int value;

static void wait_for_value(void)
{
    pthread_mutex_lock(&again);
    while (value == 0) pthread_cond_wait(&changed, &again);
    pthread_mutex_unlock(&again);
}

static void *sets(void *arg)
{
    pthread_mutex_lock(&again);
    value = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&again);
    return arg;
}

static void recursive(void)
{
    pthread_t t;
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&again, &a);
    pthread_create(&t, NULL, sets, NULL);
    if (!fixed) pthread_mutex_lock(&again); /* by a caller that knows nothing of the wait */
    wait_for_value();
    if (!fixed) pthread_mutex_unlock(&again);
    pthread_join(t, NULL);
}

/* ---- Reference counts: whether it was the last one is looked up after the lock ------------------ */

static struct {
    pthread_mutex_t lock;
    int count;
    char *data;
} shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *releases(void *arg)
{
    pthread_mutex_lock(&shared.lock);
    int left = --shared.count;
    pthread_mutex_unlock(&shared.lock);
    if ((fixed ? left : shared.count) == 0) free(shared.data);
    return arg;
}

static void counted(void)
{
    shared.count = 2;
    shared.data = malloc(100);
    run(2, releases);
}

/* ---- C11: a signal before the wait, without anything to look at --------------------------------- */

static mtx_t mtx;
static cnd_t cnd;
static bool told;

static int tells(void *arg)
{
    (void)arg;
    mtx_lock(&mtx);
    told = true;
    cnd_signal(&cnd);
    mtx_unlock(&mtx);
    return 0;
}

static void notified(void)
{
    thrd_t t;
    mtx_init(&mtx, mtx_plain);
    cnd_init(&cnd);
    thrd_create(&t, tells, NULL);
    mtx_lock(&mtx);
    while (!fixed || !told) {
        cnd_wait(&cnd, &mtx);
        if (!fixed) break;
    }
    mtx_unlock(&mtx);
    thrd_join(t, NULL);
}

/* ---- Two that are polite: each gives back what it has when the other lock is taken -------------- */

static void *polite(void *arg)
{
    int i = *(int *)arg;
    pthread_mutex_t *first = &forks[fixed ? 0 : i], *second = &forks[fixed ? 1 : 1 - i];
    for (;;) {
        pthread_mutex_lock(first);
        if (pthread_mutex_trylock(second) == 0) break;
        pthread_mutex_unlock(first);
        sched_yield();
    }
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
    return arg;
}

static void politeness(void)
{
    run(2, polite);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = {{"pool", pooled},         {"queue", bounded},         {"spurious", spurious}, {"closing", closing},
               {"cache", cached},        {"dining", dining},         {"init", initialising}, {"stages", stages},
               {"timed", timed},         {"semaphores", semaphores}, {"local", local},       {"logging", logging},
               {"recursive", recursive}, {"counted", counted},       {"notified", notified}, {"polite", politeness}};
    fixed = argc > 2 && strcmp(argv[2], "fixed") == 0;
    for (size_t i = 0; argc > 1 && i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].name, argv[1]) == 0) {
            all[i].run();
            return 0;
        }
    return 2;
}
