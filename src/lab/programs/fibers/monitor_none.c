/* monitor_none.c — the watch of rt under test: there is none. Timers, files and deadlocks are the stage's. */
#include "rt/monitor.h"

#include "rt/runtime.h"

int rad__monitor_start(rad_monitor *w, rad_runtime *rt, rad_error *error)
{
    (void)error;
    w->runtime = rt;
    return 0;
}

void rad__monitor_stop(rad_monitor *w)
{
    (void)w;
}

void rad__monitor_ring(rad_monitor *w)
{
    (void)w;
}

void rad__runtime_stir(rad_runtime *rt)
{
    (void)rt;
}
