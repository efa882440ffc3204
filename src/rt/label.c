/* label.c — names of locks, channels and the like, for reports. */
#include "rt/chan.h"
#include "rt/runtime.h"
#include "rt/sync.h"

/* Those of raddle/sync.h but the condition begin with a word. */
typedef struct worded {
    uint64_t word;
    rad_labelled labelled;
} worded;

static void label(rad_labelled *l, const char *name)
{
    atomic_store_explicit(&l->name, name, memory_order_relaxed);
}

static void label_worded(void *object, const char *name)
{
    label(&((worded *)object)->labelled, name);
}

void rad_mutex_name(rad_mutex *m, const char *name)
{
    label_worded(m, name);
}

void rad_rwlock_name(rad_rwlock *l, const char *name)
{
    label_worded(l, name);
}

void rad_cond_name(rad_cond *c, const char *name)
{
    label((rad_labelled *)(void *)c, name);
}

void rad_semaphore_name(rad_semaphore *s, const char *name)
{
    label_worded(s, name);
}

void rad_waitgroup_name(rad_waitgroup *g, const char *name)
{
    label_worded(g, name);
}

void rad_once_name(rad_once *o, const char *name)
{
    label_worded(o, name);
}

void rad_barrier_name(rad_barrier *b, const char *name)
{
    label_worded(b, name);
}

void rad_chan_name(rad_chan *chan, const char *name)
{
    label((rad_labelled *)(void *)chan, name);
}

void rad_pool_name(rad_pool *pool, const char *name)
{
    label((rad_labelled *)(void *)pool, name);
}

void rad_name_fiber(rad_fiber f, const char *name)
{
    const char *none = NULL;
    if (f.slot == NULL) return; /* of a spawn that failed: nobody, as for rad_cancel */
    if (rad__fiber_generation(&f.slot->strand) != f.generation)
        rad__misuse("rad_name_fiber", "no such handle: it was given up before, or never was one");
    atomic_compare_exchange_strong_explicit(&f.slot->name, &none, name, memory_order_relaxed, memory_order_relaxed);
}
