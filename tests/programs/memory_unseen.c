/* memory_unseen.c — a flag that is set by code which `raddle cc` has not compiled, the part with -DUNSEEN: whoever sees
 * that it has changed may have heard of all that was done before, so nothing races. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

void sets(_Atomic int *flag);

#ifdef UNSEEN

void sets(_Atomic int *flag)
{
    atomic_store_explicit(flag, 1, memory_order_release);
}

#else

int sink;
static int data;
static _Atomic int flag;

static void *writes(void *unused)
{
    atomic_store_explicit(&flag, 0, memory_order_relaxed); /* so it is known what it was */
    data = 1;
    sets(&flag);
    return unused;
}

static void *reads(void *unused)
{
    if (atomic_load_explicit(&flag, memory_order_acquire)) sink = data;
    return unused;
}

int main(void)
{
    pthread_t a, b;
    if (pthread_create(&a, NULL, writes, NULL) != 0 || pthread_create(&b, NULL, reads, NULL) != 0) abort();
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}

#endif
