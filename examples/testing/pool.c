#include "pool.h"

int pool_take(pool *p, rad_time until)
{
    int code = 0;
    rad_mutex_lock(&p->lock);
#ifdef POOL_BUG
    if (p->free == 0) code = rad_cond_wait(&p->returned, &p->lock, until);
#else
    while (p->free == 0 && code == 0) code = rad_cond_wait(&p->returned, &p->lock, until);
#endif
    if (code == 0) p->free--;
    rad_mutex_unlock(&p->lock);
    return code;
}

void pool_give(pool *p)
{
    rad_mutex_lock(&p->lock);
    p->free++;
    rad_cond_signal(&p->returned);
    rad_mutex_unlock(&p->lock);
}
