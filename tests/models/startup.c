/* startup.c — the beginning and the end of a runtime: fibers come from outside before the workers have made their first
 * step, or when they sleep already; the last fiber ends while another worker falls asleep. All of them run, once, and
 * everybody stops. */
#include "crew.h"
#include "lab/l2/model.h"

enum { WORKERS, OUTSIDERS, CHILDREN };
enum { OUTSIDERS_MAX = 2 };

static _Atomic uint32_t outsiders_left, ran;

static uint32_t startup_threads(const rad_case *c)
{
    return (uint32_t)(c->params[WORKERS] + c->params[OUTSIDERS]);
}

static const char *startup_role(const rad_case *c, uint32_t thread)
{
    return thread < (uint32_t)c->params[WORKERS] ? "worker" : "outsider";
}

static int child_main(void *arg)
{
    (void)arg;
    atomic_fetch_add_explicit(&ran, 1, memory_order_relaxed);
    return 0;
}

static int first_main(void *arg)
{
    const rad_case *c = arg;
    atomic_fetch_add_explicit(&ran, 1, memory_order_relaxed);
    if (c->params[CHILDREN]) RAD_MODEL_ASSERT(rad_spawn(NULL, child_main, NULL) == 0);
    return 0;
}

static void startup_setup(const rad_case *c)
{
    uint32_t outsiders = (uint32_t)c->params[OUTSIDERS];
    bool children = c->params[CHILDREN];
    rad__crew_open((uint32_t)c->params[WORKERS], outsiders, children ? outsiders : 0, true);
    rad__model_name(&ran, sizeof ran, "ran");
    atomic_init(&outsiders_left, outsiders);
}

static void startup_body(const rad_case *c, uint32_t thread)
{
    if (thread < (uint32_t)c->params[WORKERS]) {
        rad__crew_work(thread);
        return;
    }
    rad__crew_spawn(NULL, first_main, (void *)c);
    if (atomic_fetch_sub_explicit(&outsiders_left, 1, memory_order_relaxed) == 1) rad__crew_shut();
}

static void startup_check(const rad_case *c)
{
    RAD_MODEL_ASSERT(ran == (uint32_t)c->params[OUTSIDERS] * (c->params[CHILDREN] ? 2 : 1));
    rad__crew_close();
}

static const rad_param startup_params[] = {
    [WORKERS] = {"workers", 1, 1, RAD_CREW_WORKERS, "workers", false},
    [OUTSIDERS] = {"outsiders", 1, 1, OUTSIDERS_MAX, "threads that spawn a fiber", false},
    [CHILDREN] = {"children", 0, 0, 1, "each of which spawns another", true},
    {.name = NULL},
};

RAD_MODEL(startup, .name = "l2-startup", .about = "a runtime from its first fiber to its last",
          .params = startup_params, .covers = "strand slots fiber", .thread_count = startup_threads,
          .thread_role = startup_role, .setup = startup_setup, .body = startup_body, .check = startup_check);
