/* between_threads.c — threads of a program that has its own, and fibers: a channel does not care who is at which end. A
 * thread that waits sleeps; a fiber that waits costs nothing.
 *
 *     cc between_threads.c $(pkg-config --cflags --libs raddle) -lpthread -o between_threads && ./between_threads */
#include <pthread.h>
#include <raddle.h>
#include <stdio.h>

enum { PRODUCERS = 2, EACH = 5000, FIBERS = 8, ROOM = 32 };

typedef struct office {
    rad_chan *orders;  /* from threads to fibers */
    rad_chan *results; /* and back */
} office;

typedef struct producer {
    office *o;
    uint64_t first;
    pthread_t thread;
} producer;

static void *produce(void *arg)
{
    producer *p = arg;
    for (uint64_t i = 0; i < EACH; i++) {
        uint64_t order = p->first + i;
        if (rad_send(p->o->orders, &order, RAD_FOREVER) != 0) break;
    }
    return NULL;
}

static int clerk(void *arg)
{
    office *o = arg;
    uint64_t order;
    while (rad_recv(o->orders, &order, RAD_FOREVER) == 0) {
        uint64_t result = order * order;
        int code = rad_send(o->results, &result, RAD_FOREVER);
        if (code != 0) return code;
    }
    return 0;
}

int main(void)
{
    office o;
    producer producers[PRODUCERS];
    rad_runtime *rt;
    rad_error error;
    /* A runtime of its own beside the threads that there are, instead of rad_main. */
    if (rad_runtime_create(&rt, NULL, &error) != 0) return fprintf(stderr, "%s\n", error.text), 1;
    if (rad_chan_create(&o.orders, sizeof(uint64_t), ROOM, RAD_CHAN_BLOCKS) != 0 ||
        rad_chan_create(&o.results, sizeof(uint64_t), ROOM, RAD_CHAN_BLOCKS) != 0)
        return 1;
    for (int i = 0; i < FIBERS; i++)
        if (rad_runtime_spawn(rt, NULL, clerk, &o) != 0) return 1;
    for (int i = 0; i < PRODUCERS; i++) {
        producers[i] = (producer){.o = &o, .first = (uint64_t)i * EACH};
        if (pthread_create(&producers[i].thread, NULL, produce, &producers[i]) != 0) return 1;
    }
    uint64_t sum = 0, expected = 0, result; /* this thread is the consumer */
    for (uint64_t i = 0; i < PRODUCERS * EACH; i++) {
        if (rad_recv(o.results, &result, RAD_FOREVER) != 0) return 1;
        sum += result;
        expected += i * i;
    }
    for (int i = 0; i < PRODUCERS; i++) pthread_join(producers[i].thread, NULL);
    rad_chan_close(o.orders, 0); /* the clerks go home … */
    rad_runtime_destroy(rt);     /* … and are waited for */
    rad_chan_destroy(o.orders);
    rad_chan_destroy(o.results);
    printf("%d orders from %d threads, done by %d fibers: %s\n", PRODUCERS * EACH, PRODUCERS, FIBERS,
           sum == expected ? "all of them" : "WRONG");
    return sum != expected;
}
