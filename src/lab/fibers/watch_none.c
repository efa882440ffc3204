/* watch_none.c — the watch of rt under test: there is none. Timers, files and deadlocks are the stage's. */
#include "rt/watch.h"

#include "rt/runtime.h"

int rad__watch_start(rad_watch *w, rad_runtime *rt, rad_error *error)
{
    (void)error;
    w->runtime = rt;
    return 0;
}

void rad__watch_stop(rad_watch *w)
{
    (void)w;
}

void rad__watch_ring(rad_watch *w)
{
    (void)w;
}

void rad__runtime_stir(rad_runtime *rt)
{
    (void)rt;
}
