/* forgotten.c — a fiber waits for the value of a future, and who has started it forgets the future: nobody can set it
 * any more, long before the program ends. With `fixed` it is set. */
#include "planted.h"

typedef struct future {
    rad_mutex lock;
    rad_cond ready;
    bool set;
} future;

static int get(void *arg)
{
    future *f = arg;
    int code = 0;
    rad_mutex_lock(&f->lock);
    while (!f->set && code == 0) code = rad_cond_wait(&f->ready, &f->lock, RAD_FOREVER);
    rad_mutex_unlock(&f->lock);
    return code;
}

__attribute__((noinline)) static int ask(void)
{
    future *f = calloc(1, sizeof *f);
    if (rad_spawn(NULL, get, f) != 0) return 1;
    if (!fixed) return 0;
    rad_mutex_lock(&f->lock);
    f->set = true;
    rad_cond_signal(&f->ready);
    rad_mutex_unlock(&f->lock);
    return 0;
}

static int start(void *arg)
{
    (void)arg;
    if (ask() != 0) return 1;
    for (int i = 0; i < 10; i++) rad_yield();
    return 0;
}
