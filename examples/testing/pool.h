/* pool.h — a few connections, shared by many fibers. */
#ifndef POOL_H
#define POOL_H

#include <raddle.h>

typedef struct pool {
    rad_mutex lock;
    rad_cond returned;
    int free; /* connections not in use */
} pool;

/* Takes a connection; waits until there is one. 0, or RAD_ETIMEOUT. */
int pool_take(pool *p, rad_time until);

/* Gives it back. */
void pool_give(pool *p);

#endif
