static void ordered(struct word *w)
{
    atomic_store_explicit(&w->a, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&w->a, 1, memory_order_relaxed);



    atomic_store_explicit(&w->a, 1, memory_order_release); /* expect: atomic */
    atomic_store_explicit(&w->a, 1, memory_order_release); /* pairs with the load in take() */



    int b = atomic_load(&w->a); /* expect: atomic */
    /* Pairs with the store
     * in ordered(), which
     * publishes a. */
    b = atomic_load_explicit(&w->a, memory_order_acquire);
    /* pairs with: out of reach by now */



    atomic_exchange(&w->a, b); /* expect: atomic */
    atomic_fetch_or(&w->a, b); /* expect: atomic */
    atomic_thread_fence(memory_order_seq_cst); /* expect: atomic */
    __atomic_load_n(&w->b, 5); /* expect: atomic */
    atomic_init(&w->a, 0);
    const char *text = "pairs with"; atomic_flag_clear(&w->f); /* expect: atomic */




    /* pairs with the exchange in steal() */
    while (!atomic_compare_exchange_weak_explicit(&w->a,
                                                  &w->long_name_of_the_expected_value,
                                                  w->another_long_name,
                                                  memory_order_acq_rel,
                                                  memory_order_acquire)) {
    }
}
