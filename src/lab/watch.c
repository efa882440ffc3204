#include "lab/watch.h"

#include "os/clock.h"
#include "os/process.h"

void rad__watch_begin(rad_run_watch *w, double hang_seconds, rad_habits *habits)
{
    double seconds = hang_seconds > 0 ? hang_seconds : RAD_HANG_SECONDS;
    if (seconds > RAD_HANG_SECONDS_MAX) seconds = RAD_HANG_SECONDS_MAX;
    *w = (rad_run_watch){.hang_ns = (uint64_t)(seconds * 1e9), .habits = habits};
}

static uint64_t limit_of(const rad_run_watch *w)
{
    if (w->habits == NULL || !w->habits->hung) return w->hang_ns;
    uint64_t share = w->hang_ns / RAD_HUNG_SHARE, slow = RAD_HUNG_FACTOR * w->habits->slowest_ns;
    if (slow > share) share = slow;
    return share < w->hang_ns ? share : w->hang_ns;
}

bool rad__watch_hangs(rad_run_watch *w, const rad_rig_shared *shared, int pid)
{
    uint64_t run = shared->run, steps = shared->beacon.steps, cpu_ns = 0;
    if (shared->pid > 0) pid = (int)shared->pid; /* its parent only waits */
    if (rad__os_cpu_ns(pid, &cpu_ns, NULL) != 0) return false;
    uint64_t now = rad__os_now_ns();
    if (w->at_ns == 0 || pid != w->pid || run != w->run || steps != w->steps) {
        bool known = w->at_ns != 0 && pid == w->pid && w->habits != NULL;
        if (known && cpu_ns - w->cpu_ns > w->habits->slowest_ns) w->habits->slowest_ns = cpu_ns - w->cpu_ns;
        w->pid = pid;
        w->run = run;
        w->steps = steps;
        w->cpu_ns = cpu_ns;
        w->at_ns = now;
        return false;
    }
    bool is_program = shared->pid > 0;
    uint64_t patience_ns =
        is_program ? RAD_PROGRAM_ASLEEP_SECONDS * UINT64_C(1000000000) : RAD_ASLEEP_FACTOR * w->hang_ns;
    uint64_t limit_ns = limit_of(w);
    bool busy = cpu_ns - w->cpu_ns > limit_ns;
    bool computes = cpu_ns - w->cpu_ns > w->hang_ns / RAD_ASLEEP_SHARE;
    w->asleep = !busy && !computes && now - w->at_ns > patience_ns && !rad__os_is_runnable(pid);
    if (!busy && !w->asleep) return false;
    w->hung_seconds = (double)(w->asleep ? patience_ns : limit_ns) / 1e9;
    if (busy && w->habits) w->habits->hung = true;
    if (w->asleep) rad__os_sleeps_in(pid, w->call, sizeof w->call);
    return true;
}
