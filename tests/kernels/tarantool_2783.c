/* tarantool#2783, a lock that is taken for a transaction which is no more. A statement that changes the schema
 * takes a lock, which is given back when its transaction ends. A transaction that has failed before is rolled back
 * as soon as its fiber has to wait.
 * Goes wrong: it has to wait for the lock itself. When it gets the lock there is no transaction that would give it
 * back. */
#include "kernel.h"

static rad_mutex schema = RAD_MUTEX_INIT;

typedef struct transaction {
    bool is_open, has_failed, has_lock;
} transaction;

static void rolls_back(transaction *t)
{
    if (t->has_lock) rad_mutex_unlock(&schema);
    *t = (transaction){0};
}

static int alters(transaction *t)
{
    if (rad_mutex_lock_until(&schema, 0) != 0) { /* it has to wait */
        if (t->has_failed) rolls_back(t);
        rad_mutex_lock(&schema);
    }
    if (!t->is_open) {
        if (fixed) rad_mutex_unlock(&schema);
        return 1;
    }
    t->has_lock = true;
    return 0;
}

static int commits(void *arg)
{
    transaction t = {.is_open = true, .has_failed = arg != NULL};
    RAD_IGNORE(alters(&t));
    if (t.is_open) rolls_back(&t); /* or commits: the lock is given back in both cases */
    return 0;
}

static int start(void *unused)
{
    static int failed;
    rad_nursery n;
    (void)unused;
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_go(&n, commits, NULL);
    rad_nursery_go(&n, commits, &failed);
    CHECK(rad_nursery_wait(&n) == 0);
    rad_mutex_lock(&schema); /* the next one */
    rad_mutex_unlock(&schema);
    return 0;
}
