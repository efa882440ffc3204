/* poller.c — who polls, of the workers of a runtime: whoever has nothing better to do.
 *
 * Asleep    The first worker that goes to sleep while somebody waits for a file sleeps in the poll, until its next
 *           timer; the others sleep on their tokens. What wakes that one rings the poll (S1 … G3 in
 *           exec/thread/thread.h).
 * Awake     While nobody sleeps there: a worker looks before it searches, and after so many runs. It does not search
 *           while it could sleep in the poll.
 * Nobody    When all are busy with something long the monitor looks, and sends somebody who sleeps elsewhere to the
 *           poll.
 *
 *              fiber that begins to wait, on its worker     worker that goes to sleep, another one
 *         M1   waits + 1                               L1   waits == 0 ? sleeps on its token
 *         M2   parks; its worker goes on
 * Claim: somebody polls. That L1 did not see M1 is no harm: the worker of M1 is awake, and comes to an L1 of its
 * own, which sees what it did itself. Whoever leaves the poll is awake as well. A worker that leaves for good sends
 * another one. */
#include "rt/ready.h"

#include "rt/runtime.h"

/* Runs; with others of its own to run a worker begins one in 61 switches. */
enum { GLANCE_EVERY = 4 };

static bool is_due(const rad_runtime *rt)
{
    return rad__ready_waits(&rt->ready) != 0 && !rad__exec_is_away(rt->exec);
}

enum rad_exec_slept rad__poller_sleeps(void *runtime, rad_worker *w, uint64_t ns)
{
    rad_runtime *rt = runtime;
    rad_os_event events[RAD_ANSWERS_MOST];
    if (!is_due(rt) || !rad__shell_away(w)) return RAD_SLEPT_NOT;
    uint32_t count = rad__ready_listen(&rt->ready, events, ns);
    rad__shell_back(w);
    rad__ready_answer(&rt->ready, events, count);
    /* A ring looks like the end of the time: its token is there then. */
    return count > 0 || !rad__worker_waits(w) ? RAD_SLEPT_UNTIL_WOKEN : RAD_SLEPT_TO_THE_END;
}

void rad__poller_wakes(void *runtime)
{
    rad_runtime *rt = runtime;
    rad__ready_ring(&rt->ready);
}

bool rad__poller_looks(void *runtime, rad_worker *w)
{
    rad_runtime *rt = runtime;
    if (RAD_LIKELY(!is_due(rt))) return false;
    uint32_t count = rad__ready_look(&rt->ready);
    if (count > 1 && rad__idle_could_wake(&w->sched->idle)) rad__shell_offer(w, RAD_NONE);
    return count > 0;
}

bool rad__poller_hurries(void *runtime)
{
    return is_due(runtime);
}

/* Somebody who sleeps on its token is woken, finds nothing to do, and goes to sleep in the poll. */
static void send_another(rad_runtime *rt)
{
    rad__exec_wake_thread(rt->exec, rad__idle_notify(&rt->exec->sched.idle));
}

void rad__poller_leaves(rad_runtime *rt)
{
    if (is_due(rt)) send_another(rt);
}

void rad__poller_glance(rad_rt_worker *rt_worker)
{
    if (++rt_worker->runs % GLANCE_EVERY == 0 && is_due(rt_worker->runtime))
        rad__ready_look(&rt_worker->runtime->ready);
}

bool rad__poller_stands_in(rad_runtime *rt, uint32_t *looks)
{
    if (!is_due(rt)) return false;
    uint32_t now = atomic_load_explicit(&rt->ready.looks, memory_order_relaxed);
    if (now == *looks) {
        rad__ready_look(&rt->ready);
        send_another(rt);
    }
    *looks = atomic_load_explicit(&rt->ready.looks, memory_order_relaxed);
    return true;
}
