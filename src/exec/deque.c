#include "exec/deque.h"

#include "base/alloc.h"

static rad_deque_array *array_new(int64_t size, rad_deque_array *older)
{
    rad_deque_array *a = rad__alloc(1, sizeof *a + (size_t)size * sizeof a->slots[0]);
    if (a == NULL) return NULL;
    a->older = older;
    a->size = size;
    return a;
}

static rad_task *array_get(const rad_deque_array *a, int64_t at)
{
    return atomic_load_explicit(&a->slots[at & (a->size - 1)], memory_order_relaxed);
}

static void array_put(rad_deque_array *a, int64_t at, rad_task *task)
{
    atomic_store_explicit(&a->slots[at & (a->size - 1)], task, memory_order_relaxed);
}

bool rad__deque_open(rad_deque *d)
{
    rad_deque_array *a = array_new(RAD_DEQUE_FIRST_SIZE, NULL);
    atomic_init(&d->array, a);
    rad__deque_reset(d);
    return a != NULL;
}

void rad__deque_reset(rad_deque *d)
{
    atomic_init(&d->top, 0);
    atomic_init(&d->bottom, 0);
    d->top_seen = 0;
}

void rad__deque_close(rad_deque *d)
{
    rad_deque_array *a = atomic_load_explicit(&d->array, memory_order_relaxed);
    while (a != NULL) {
        rad_deque_array *older = a->older;
        rad__free(a);
        a = older;
    }
    atomic_store_explicit(&d->array, NULL, memory_order_relaxed);
}

bool rad__deque_make_room(rad_deque *d)
{
    rad_deque_array *a = atomic_load_explicit(&d->array, memory_order_relaxed);
    int64_t bottom = atomic_load_explicit(&d->bottom, memory_order_relaxed);
    /* Pairs with the CAS of thieves: a slot counts as free only after its taker is done with it (D2). */
    int64_t top = atomic_load_explicit(&d->top, memory_order_acquire);
    d->top_seen = top;
    if (bottom - top < a->size) return true;
    /* The owner copies [top, bottom) as it sees it; thieves may still use the old array. */
    rad_deque_array *wide = array_new(a->size * 2, a);
    if (wide == NULL) return false;
    for (int64_t i = top; i < bottom; i++) array_put(wide, i, array_get(a, i));
    /* Pairs with the acquire load of array in rad__deque_steal. */
    atomic_store_explicit(&d->array, wide, memory_order_release);
    return true;
}

rad_task *rad__deque_pop_last(rad_deque *d, int64_t bottom, rad_task *task)
{
    int64_t top = bottom;
    /* P3, pairs with S3. */
    if (!atomic_compare_exchange_strong_explicit(&d->top, &top, bottom + 1, memory_order_seq_cst, memory_order_relaxed))
        task = NULL;
    atomic_store_explicit(&d->bottom, bottom + 1, memory_order_relaxed);
    return task;
}
