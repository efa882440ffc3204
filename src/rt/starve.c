#include "rt/starve.h"

static bool has_waited(rad_starve_wait *wait, bool waits, uint64_t taken, uint64_t cpu_ns)
{
    bool goes_on = waits && wait->since_ns != 0 && taken == wait->taken &&
                   cpu_ns >= wait->since_ns; /* else another thread has this seat */
    if (goes_on) return cpu_ns - wait->since_ns >= RAD_STARVED_NS;
    wait->taken = taken;
    wait->since_ns = waits ? cpu_ns : 0;
    return false;
}

bool rad__starve_look(rad_starve *s, const rad_worker *w, bool stuck, uint64_t cpu_ns)
{
    const rad_injector *shared = &w->sched->injector;
    bool own = stuck && rad__worker_has_loot(w);
    bool starves = has_waited(&s->own, own, rad__worker_taken(w), cpu_ns);
    bool others = stuck && !rad__injector_is_empty(shared);
    return has_waited(&s->shared, others, rad__injector_taken(shared), cpu_ns) || starves;
}
