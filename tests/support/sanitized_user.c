/* sanitized_user.c — a user's program for tests/cli/sanitizers.sh: sanitized_user SCENE.
 *
 * A scene hands plain memory from one fiber or thread to another through one call of raddle.h. That call is all that
 * orders the two, so a report of the thread sanitizer means that it did not see the call. The scenes whose names begin
 * with `race` have none, and must be reported; so must those that begin with `memory`, by the address sanitizer. */
#define _GNU_SOURCE
#include <pthread.h>
#include <raddle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ROUNDS = 200 };

static int plain[ROUNDS]; /* what is handed over */
static volatile int total;
static rad_chan *chan;
static rad_mutex mutex;
static rad_rwlock rwlock;
static rad_cond cond;
static rad_semaphore semaphore;
static rad_waitgroup group;
static rad_barrier barrier;
static rad_once once;
static int turn, ends[2];

static void need(int ok, const char *what)
{
    if (ok) return;
    fprintf(stderr, "sanitized_user: %s\n", what);
    exit(3);
}

static void fill(void)
{
    for (int i = 0; i < ROUNDS; i++) plain[i] = i;
}

static int filler(void *unused)
{
    (void)unused;
    fill();
    return 0;
}

static int sum(void)
{
    int s = 0;
    for (int i = 0; i < ROUNDS; i++) s += plain[i];
    return s == ROUNDS * (ROUNDS - 1) / 2;
}

/* ---- Channels --------------------------------------------------------------------------------------- */

static int sends(void *unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        plain[i] = i;
        int *at = &plain[i];
        need(rad_send(chan, &at, RAD_FOREVER) == 0, "send");
    }
    rad_chan_close(chan, 0);
    return 0;
}

static void *sends_from_a_thread(void *unused)
{
    sends(unused);
    return NULL;
}

static void receive_all(void)
{
    int *at, n = 0;
    while (rad_recv(chan, &at, RAD_FOREVER) == 0) n += *at;
    need(n == ROUNDS * (ROUNDS - 1) / 2, "sum of what was received");
}

static int scene_chan(size_t capacity, int thread)
{
    pthread_t id;
    rad_fiber fiber;
    need(rad_chan_create(&chan, sizeof(int *), capacity, RAD_CHAN_BLOCKS) == 0, "channel");
    if (thread)
        need(pthread_create(&id, NULL, sends_from_a_thread, NULL) == 0, "thread");
    else
        need(rad_spawn(&fiber, sends, NULL) == 0, "spawn");
    receive_all();
    if (thread)
        pthread_join(id, NULL);
    else
        need(rad_join(fiber, NULL, RAD_FOREVER) == 0, "join");
    rad_chan_destroy(chan);
    return 0;
}

static int scene_buffered(void *unused)
{
    (void)unused;
    return scene_chan(8, 0);
}

static int scene_rendezvous(void *unused)
{
    (void)unused;
    return scene_chan(0, 0);
}

static int scene_thread(void *unused)
{
    (void)unused;
    return scene_chan(8, 1);
}

/* ---- Join, nursery, time, blocking calls ----------------------------------------------------------------- */

static int scene_join(void *unused)
{
    rad_fiber fiber;
    need(rad_spawn(&fiber, filler, unused) == 0, "spawn");
    need(rad_join(fiber, NULL, RAD_FOREVER) == 0 && sum(), "join");
    return 0;
}

static int one(void *at)
{
    *(int *)at = (int)((int *)at - plain);
    rad_yield();
    return 0;
}

static int scene_nursery(void *unused)
{
    rad_nursery n;
    (void)unused;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < ROUNDS; i++) need(rad_nursery_spawn(&n, NULL, one, &plain[i]) == 0, "spawn");
    need(rad_nursery_wait(&n) == 0 && sum(), "nursery");
    return 0;
}

static int sleeper(void *at)
{
    rad_sleep(1000 * (uint64_t)((int *)at - plain));
    return one(at);
}

static int scene_timer(void *unused)
{
    rad_nursery n;
    (void)unused;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < ROUNDS; i++) need(rad_nursery_spawn(&n, NULL, sleeper, &plain[i]) == 0, "spawn");
    need(rad_nursery_wait(&n) == 0 && sum(), "sleepers");
    return 0;
}

static int scene_blocking(void *unused)
{
    int answer;
    (void)unused;
    for (int i = 0; i < 20; i++) {
        memset(plain, 0, sizeof plain);
        need(rad_blocking(filler, NULL, &answer, RAD_FOREVER) == 0 && sum(), "blocking");
    }
    return 0;
}

/* ---- Locks and the like -------------------------------------------------------------------------------- */

static int adds(void *kind)
{
    for (int i = 0; i < ROUNDS; i++) {
        switch (*(const char *)kind) {
        case 'm':
            rad_mutex_lock(&mutex);
            total++;
            rad_mutex_unlock(&mutex);
            break;
        case 'w':
            rad_rwlock_write(&rwlock);
            total++;
            rad_rwlock_unlock(&rwlock);
            rad_rwlock_read(&rwlock);
            if (total < 0) abort();
            rad_rwlock_unlock(&rwlock);
            break;
        case 's':
            need(rad_semaphore_acquire(&semaphore, 1, RAD_FOREVER) == 0, "semaphore");
            total++;
            rad_semaphore_release(&semaphore, 1);
            break;
        default: abort();
        }
        if (i % 16 == 0) rad_yield();
    }
    return 0;
}

static int add_all(char *kind)
{
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < 4; i++) need(rad_nursery_spawn(&n, NULL, adds, kind) == 0, "spawn");
    need(rad_nursery_wait(&n) == 0, "nursery");
    need(total == 4 * ROUNDS, "total");
    return 0;
}

static int scene_mutex(void *unused)
{
    (void)unused;
    return add_all("m");
}

static int scene_rwlock(void *unused)
{
    (void)unused;
    return add_all("w");
}

static int scene_semaphore(void *unused)
{
    (void)unused;
    rad_semaphore_init(&semaphore, 1);
    return add_all("s");
}

static int cond_other(void *unused)
{
    (void)unused;
    fill();
    rad_mutex_lock(&mutex);
    turn = 1;
    rad_cond_signal(&cond);
    rad_mutex_unlock(&mutex);
    rad_waitgroup_done(&group);
    return 0;
}

static int scene_cond(void *unused)
{
    rad_fiber fiber;
    rad_waitgroup_add(&group, 1);
    need(rad_spawn(&fiber, cond_other, unused) == 0, "spawn");
    rad_release(fiber);
    rad_mutex_lock(&mutex);
    while (!turn) need(rad_cond_wait(&cond, &mutex, RAD_FOREVER) == 0, "cond");
    rad_mutex_unlock(&mutex);
    need(sum(), "cond");
    memset(plain, 0, sizeof plain); /* the other does not look any more */
    need(rad_waitgroup_wait(&group, RAD_FOREVER) == 0, "waitgroup");
    return 0;
}

static int meets(void *at)
{
    need(rad_once_run(&once, filler, NULL, RAD_FOREVER) == 0 && sum(), "once");
    need(rad_barrier_wait(&barrier, RAD_FOREVER) >= 0, "barrier");
    *(int *)at = 1; /* all have read */
    return 0;
}

static int scene_barrier(void *unused)
{
    rad_nursery n;
    (void)unused;
    rad_barrier_init(&barrier, 4);
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < 4; i++) need(rad_nursery_spawn(&n, NULL, meets, &plain[i]) == 0, "spawn");
    need(rad_nursery_wait(&n) == 0, "nursery");
    return 0;
}

/* ---- Descriptors ---------------------------------------------------------------------------------------- */

static int writes(void *unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        plain[i] = i;
        need(rad_write(ends[1], "x", 1, RAD_FOREVER) == 1, "write");
    }
    return 0;
}

static int read_all(void)
{
    rad_fiber fiber;
    char byte;
    int n = 0;
    need(rad_spawn(&fiber, writes, NULL) == 0, "spawn");
    for (int i = 0; i < ROUNDS; i++) {
        need(rad_read(ends[0], &byte, 1, RAD_FOREVER) == 1, "read");
        n += plain[i];
    }
    need(n == ROUNDS * (ROUNDS - 1) / 2, "sum of what was read");
    need(rad_join(fiber, NULL, RAD_FOREVER) == 0, "join");
    rad_fd_close(ends[0]);
    rad_fd_close(ends[1]);
    return 0;
}

static int scene_socket(void *unused)
{
    (void)unused;
    need(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair");
    return read_all();
}

static int scene_pipe(void *unused)
{
    (void)unused;
    need(pipe(ends) == 0, "pipe");
    return read_all();
}

static int scene_prepared(void *unused)
{
    (void)unused;
    need(pipe(ends) == 0 && rad_fd_prepare(ends[0]) == 0 && rad_fd_prepare(ends[1]) == 0, "pipe");
    return read_all();
}

/* ---- Races ---------------------------------------------------------------------------------------------- */

/* Two meet here, each on a worker or thread of its own, without being ordered by that. */
static void meet(void)
{
    static int arrived;
    __atomic_fetch_add(&arrived, 1, __ATOMIC_RELAXED);
    while (__atomic_load_n(&arrived, __ATOMIC_RELAXED) < 2) {
    }
}

static int counts(void *unused)
{
    (void)unused;
    meet();
    for (int i = 0; i < ROUNDS; i++)
        total++; /* often: of two accesses at the very same time the sanitizer may see none */
    return 0;
}

static void *counts_on_a_thread(void *unused)
{
    counts(unused);
    return NULL;
}

static int race_fibers(void *unused)
{
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < 2; i++) need(rad_nursery_spawn(&n, NULL, counts, unused) == 0, "spawn");
    return rad_nursery_wait(&n);
}

static int race_thread(void *unused)
{
    pthread_t id;
    need(pthread_create(&id, NULL, counts_on_a_thread, unused) == 0, "thread");
    counts(unused);
    pthread_join(id, NULL);
    return 0;
}

/* The channel orders what was before the message, not what comes after it. */
static int sends_and_counts(void *unused)
{
    int *at = plain;
    need(rad_send(chan, &at, RAD_FOREVER) == 0, "send");
    return counts(unused);
}

static int race_after_a_message(void *unused)
{
    rad_fiber fiber;
    int *at;
    need(rad_chan_create(&chan, sizeof(int *), 1, RAD_CHAN_BLOCKS) == 0, "channel");
    need(rad_spawn(&fiber, sends_and_counts, unused) == 0, "spawn");
    need(rad_recv(chan, &at, RAD_FOREVER) == 0, "receive");
    counts(unused);
    need(rad_join(fiber, NULL, RAD_FOREVER) == 0, "join");
    rad_chan_destroy(chan);
    return 0;
}

/* ---- Memory --------------------------------------------------------------------------------------------- */

static void *volatile escaped;

static int uses_after_free(void *unused)
{
    (void)unused;
    char *bytes = escaped = malloc(8);
    rad_yield();
    free(bytes);
    rad_yield();
    return *(volatile char *)escaped;
}

static int overflows_an_array(void *unused)
{
    char bytes[16];
    (void)unused;
    escaped = bytes;
    rad_yield();
    memset(escaped, 1, 16 + (size_t)turn + 8); /* turn is 0 */
    return bytes[3];
}

static int loses(void *unused)
{
    (void)unused;
    escaped = malloc(1000);
    escaped = NULL;
    rad_yield();
    return 0;
}

static int in_a_fiber(rad_fn run)
{
    rad_fiber fiber;
    need(rad_spawn(&fiber, run, NULL) == 0, "spawn");
    return rad_join(fiber, NULL, RAD_FOREVER);
}

static int memory_freed(void *unused)
{
    (void)unused;
    return in_a_fiber(uses_after_free);
}

static int memory_stack(void *unused)
{
    (void)unused;
    return in_a_fiber(overflows_an_array);
}

static int memory_lost(void *unused)
{
    (void)unused;
    return in_a_fiber(loses);
}

static const struct {
    const char *name;
    rad_fn run;
} scenes[] = {
    {"buffered", scene_buffered},   {"rendezvous", scene_rendezvous},
    {"thread", scene_thread},       {"join", scene_join},
    {"nursery", scene_nursery},     {"timer", scene_timer},
    {"blocking", scene_blocking},   {"mutex", scene_mutex},
    {"rwlock", scene_rwlock},       {"semaphore", scene_semaphore},
    {"cond", scene_cond},           {"barrier", scene_barrier},
    {"socket", scene_socket},       {"pipe", scene_pipe},
    {"prepared", scene_prepared},   {"race-fibers", race_fibers},
    {"race-thread", race_thread},   {"race-after-a-message", race_after_a_message},
    {"memory-freed", memory_freed}, {"memory-stack", memory_stack},
    {"memory-lost", memory_lost},
};

int main(int argc, char **argv)
{
    rad_options options = {.workers = 2};
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++)
        if (argc == 1)
            puts(scenes[i].name);
        else if (strcmp(argv[1], scenes[i].name) == 0)
            return rad_main(&options, scenes[i].run, NULL, NULL);
    return argc > 1;
}
