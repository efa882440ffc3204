/* service.c — threads that are in no runtime wait for files, too: they share one of ready.h, and a thread that polls
 * for them, which the first of them starts.
 *
 * State     NONE --the first--> STARTS --it runs--> RUNS; STARTS --there is no thread to be had--> NONE, and the next
 *           one tries again. */
#include "rt/ready.h"

#include "os/thread.h"

#include <string.h>

enum { STACK_SIZE = 256 << 10 };
enum { NONE = 0, STARTS, RUNS };

static struct {
    rad_ready ready;
    rad_os_thread thread;
    _Atomic uint32_t state;
    _Atomic bool ends;
} service;

rad_ready *rad__service_ready(void)
{
    return &service.ready;
}

static void service_main(void *unused)
{
    rad_os_event events[RAD_ANSWERS_MOST];
    (void)unused;
    while (!atomic_load_explicit(&service.ends, memory_order_relaxed)) {
        uint32_t count = rad__ready_listen(&service.ready, events, UINT64_MAX);
        rad__ready_answer(&service.ready, events, count);
    }
}

int rad__service_start(void)
{
    for (;;) {
        uint32_t state = atomic_load_explicit(&service.state, memory_order_relaxed);
        if (RAD_LIKELY(state == RUNS)) return 0;
        if (state == STARTS)
            rad__os_give_way(true); /* somebody starts it, or fails */
        else if (atomic_compare_exchange_strong_explicit(&service.state, &state, STARTS, memory_order_relaxed,
                                                         memory_order_relaxed))
            break;
    }
    int code = rad__os_thread_create(&service.thread, service_main, NULL, STACK_SIZE, RAD_NONE, NULL);
    /* Pairs with the load in rad__service_stop: the thread can be joined. */
    atomic_store_explicit(&service.state, code == 0 ? RUNS : NONE, memory_order_release);
    return code;
}

/* The process ends: nothing of ours runs on while memory is taken down. */
__attribute__((destructor)) void rad__service_stop(void)
{
    /* Pairs with the store in rad__service_start. */
    if (atomic_load_explicit(&service.state, memory_order_acquire) != RUNS) return;
    atomic_store_explicit(&service.ends, true, memory_order_relaxed);
    rad__ready_ring(&service.ready);
    rad__os_thread_join(&service.thread);
    atomic_store_explicit(&service.state, NONE, memory_order_relaxed);
}

/* The thread is not here, and what threads of the parent waited for is none of ours: it begins anew. */
void rad__service_forked(void)
{
    rad__ready_forked();
    service.ready.listed = false;
    rad__ready_close(&service.ready);
    memset(&service, 0, sizeof service);
}

uint32_t rad__ready_threads(void)
{
    return atomic_load_explicit(&service.state, memory_order_relaxed) == RUNS;
}
