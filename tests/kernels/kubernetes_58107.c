/* kubernetes#58107, readers behind a writer, and a condition.
 * Workers of two queues take one RW lock for reading before they wait for an item. The worker of the empty queue waits
 * with the lock held; the sync fiber waits to write; the worker of the other queue waits behind it. Its job is what
 * would fill the empty queue.
 * Goes wrong: all three wait for one another. */
#include "kernel.h"

typedef struct queue {
    rad_mutex lock;
    rad_cond filled;
    int items;
    struct queue *next; /* a job of this queue makes an item for that one */
} queue;

static rad_rwlock workers = RAD_RWLOCK_INIT;
static queue first, second = {.items = 1, .next = &first};

static void put(queue *q)
{
    rad_mutex_lock(&q->lock);
    q->items++;
    rad_cond_signal(&q->filled);
    rad_mutex_unlock(&q->lock);
}

static void get(queue *q)
{
    rad_mutex_lock(&q->lock);
    while (q->items == 0) RAD_IGNORE(rad_cond_wait(&q->filled, &q->lock, RAD_FOREVER));
    q->items--;
    rad_mutex_unlock(&q->lock);
}

static int works(void *arg)
{
    queue *q = arg;
    if (fixed) get(q);
    rad_rwlock_read(&workers);
    if (!fixed) get(q);
    if (q->next) put(q->next);
    rad_rwlock_unlock(&workers);
    return 0;
}

static int syncs(void *unused)
{
    (void)unused;
    rad_rwlock_write(&workers);
    rad_rwlock_unlock(&workers);
    return 0;
}

static int start(void *unused)
{
    (void)unused;
    GO(works, &first);
    GO(works, &second);
    GO(syncs, NULL);
    return 0;
}
