/* limits.c — programs with a bug that a clean verdict does not cover, a function each: docs/verdicts.md has a row for
 * each. They fail with status 1 or a signal, under the schedule, input or host that is left out. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static int count, done, seen[2];
static atomic_int said[2];
static atomic_int tickets;

/* ---- Between two operations ---- */

static void *adds(void *unused)
{
    count++; /* reads, adds, writes: no call in between */
    return unused;
}

static int lost_update(void)
{
    pthread_t one, two;
    pthread_create(&one, NULL, adds, NULL);
    pthread_create(&two, NULL, adds, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return count != 2;
}

static void *takes_ticket(void *unused)
{
    int ticket = atomic_load(&tickets); /* not one operation with the next line */
    atomic_store(&tickets, ticket + 1);
    return unused;
}

static int lost_ticket(void)
{
    pthread_t one;
    pthread_create(&one, NULL, takes_ticket, NULL);
    takes_ticket(NULL);
    pthread_join(one, NULL);
    return atomic_load(&tickets) != 2;
}

/* ---- Weak memory ---- */

static void *says(void *side)
{
    int own = side != NULL;
    atomic_store_explicit(&said[own], 1, memory_order_relaxed);
    seen[own] = atomic_load_explicit(&said[!own], memory_order_relaxed);
    return NULL;
}

static int store_buffers(void) /* both see 0 where stores wait in a buffer, as on x86-64 */
{
    pthread_t one, two;
    pthread_create(&one, NULL, says, NULL);
    pthread_create(&two, NULL, says, &count);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return seen[0] == 0 && seen[1] == 0;
}

/* ---- Time, wakeups ---- */

static void *finishes(void *unused)
{
    pthread_mutex_lock(&lock);
    done = 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

static int sleeps_enough(void) /* does it? */
{
    pthread_t one;
    pthread_create(&one, NULL, finishes, NULL);
    sleep(1);
    pthread_mutex_lock(&lock);
    int late = !done;
    pthread_mutex_unlock(&lock);
    pthread_join(one, NULL);
    return late;
}

static void *sets(void *unused)
{
    pthread_mutex_lock(&lock);
    done = 1;
    pthread_cond_signal(&ready);
    pthread_mutex_unlock(&lock);
    return unused;
}

static int waits_once(void)
{
    pthread_t one;
    pthread_mutex_lock(&lock);
    pthread_create(&one, NULL, sets, NULL);
    if (!done) pthread_cond_wait(&ready, &lock); /* not while */
    int early = !done;
    pthread_mutex_unlock(&lock);
    pthread_join(one, NULL);
    return early;
}

/* ---- Loops that end before others run ---- */

static void *finishes_soon(void *unused)
{
    pthread_mutex_lock(&lock);
    count = 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

static int gives_up(void)
{
    pthread_t one;
    int tries = 0;
    pthread_create(&one, NULL, finishes_soon, NULL);
    while (count == 0 && tries < 1500) {
        sched_yield();
        tries++;
    }
    int late = count == 0;
    pthread_join(one, NULL);
    return late;
}

/* ---- What comes from outside ---- */

static int reads_input(void)
{
    char line[80] = "";
    finishes(NULL); /* there is something to explore */
    return fgets(line, sizeof line, stdin) != NULL && strcmp(line, "stop\n") == 0;
}

static int needs_memory(void)
{
    char *block = malloc(1000);
    finishes(NULL);
    *block = 1; /* not checked */
    free(block);
    return 0;
}

/* ---- What is no failure ---- */

static void *waits_for_ever(void *unused)
{
    pthread_mutex_lock(&lock);
    while (!done) pthread_cond_wait(&ready, &lock);
    pthread_mutex_unlock(&lock);
    return unused;
}

static int leaves_it_waiting(void)
{
    pthread_t one;
    pthread_create(&one, NULL, waits_for_ever, NULL);
    pthread_detach(one);
    sched_yield();
    return 0;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(void);
    } programs[] = {
        {"lost_update", lost_update},     {"lost_ticket", lost_ticket},   {"store_buffers", store_buffers},
        {"sleeps_enough", sleeps_enough}, {"waits_once", waits_once},     {"gives_up", gives_up},
        {"reads_input", reads_input},     {"needs_memory", needs_memory}, {"leaves_it_waiting", leaves_it_waiting},
    };
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        if (argc > 1 && strcmp(argv[1], programs[i].name) == 0) return programs[i].run();
    return 2;
}
