/* nursery.c — nurseries (rt/nursery.c): children end while their owner comes to wait for them; somebody cancels, and
 * all of them are told, also those who come later and those below. The nursery is in memory of its own, which is freed
 * when the wait has returned: nobody may touch it after that. */
#include "base/alloc.h"
#include "crew.h"
#include "lab/l2/model.h"

#include <raddle/chan.h>

#include <stdatomic.h>

enum { KIND, WORKERS, WHOLE, COARSE };
enum {
    END,
    FAIL,
    CANCEL_OWNER,
    CHILD_CANCELS,
    LATE_CHILD,
    NESTED,
    OUTSIDE,
    SIDE_BY_SIDE,
    BOTH_CANCEL,
    BELOW,
    CROWD,
    KINDS
};
enum { REASON = -9, CODE = 7, WAITING = 3 };

static rad_fiber owner;
static rad_chan *never; /* nobody sends: whoever receives waits until it is cancelled */
static uint32_t ended, told;
static rad_lock counts;              /* of the two */
static _Atomic(rad_nursery *) shown; /* to a thread that cancels it */

static bool has_canceller(const rad_case *c)
{
    int64_t kind = c->params[KIND];
    return kind == CANCEL_OWNER || kind == LATE_CHILD || kind == NESTED || kind == OUTSIDE;
}

static uint32_t nursery_threads(const rad_case *c)
{
    return (uint32_t)c->params[WORKERS] + has_canceller(c);
}

static const char *nursery_role(const rad_case *c, uint32_t thread)
{
    return thread < (uint32_t)c->params[WORKERS] ? "worker" : "canceller";
}

static void count(uint32_t *what)
{
    rad__lock(&counts);
    ++*what;
    rad__unlock(&counts);
}

static int child_ends(void *arg)
{
    count(&ended);
    return arg ? CODE : 0;
}

static int child_waits(void *arg)
{
    char signal;
    (void)arg;
    RAD_MODEL_ASSERT(rad_recv(never, &signal, RAD_FOREVER) == RAD_ECANCELED);
    count(&told);
    count(&ended);
    return 0;
}

static int child_cancels(void *arg)
{
    rad_nursery_cancel(arg, REASON);
    count(&ended);
    return 0;
}

/* Two who cancel share the work. */
static int child_cancels_beside(void *arg)
{
    RAD_MODEL_ASSERT(rad_nursery_spawn(arg, NULL, child_cancels, arg) == 0);
    return child_cancels(arg);
}

static int child_adds(void *arg)
{
    RAD_MODEL_ASSERT(rad_nursery_spawn(arg, NULL, child_ends, NULL) == 0);
    count(&ended);
    return 0;
}

static int child_spawns(void *arg)
{
    RAD_MODEL_ASSERT(rad_nursery_spawn(arg, NULL, child_waits, NULL) == 0);
    count(&ended);
    return 0;
}

/* `second` may be NULL; else that many of them. */
static void with_crowd(rad_fn first, rad_fn second, uint32_t seconds, int answer)
{
    rad_nursery *n = rad__alloc(1, sizeof *n);
    rad_nursery_open(n, RAD_FOREVER);
    RAD_MODEL_ASSERT(rad_nursery_spawn(n, NULL, first, n) == 0);
    for (uint32_t i = 0; second && i < seconds; i++) RAD_MODEL_ASSERT(rad_nursery_spawn(n, NULL, second, NULL) == 0);
    atomic_store_explicit(&shown, n, memory_order_release); /* pairs with the load of the canceller */
    RAD_MODEL_ASSERT(rad_nursery_wait(n) == answer);
    rad__free(n);
}

static void with_nursery(rad_fn first, rad_fn second, int answer)
{
    with_crowd(first, second, 1, answer);
}

static int child_nests(void *arg)
{
    (void)arg;
    with_nursery(child_waits, NULL, RAD_ECANCELED);
    count(&ended);
    return 0;
}

static int child_opens(void *arg)
{
    (void)arg;
    rad_nursery *n = rad__alloc(1, sizeof *n);
    rad_nursery_open(n, RAD_FOREVER);
    RAD_MODEL_ASSERT(rad_nursery_wait(n) == 0);
    rad__free(n);
    count(&ended);
    return 0;
}

/* A nursery that is opened and closed while its parent is cancelled. */
static int child_ends_below(void *arg)
{
    (void)arg;
    rad_nursery *n = rad__alloc(1, sizeof *n);
    rad_nursery_open(n, RAD_FOREVER);
    RAD_MODEL_ASSERT(rad_nursery_spawn(n, NULL, child_ends, NULL) == 0);
    int code = rad_nursery_wait(n);
    RAD_MODEL_ASSERT(code == 0 || code == REASON || code == RAD_ECANCELED);
    rad__free(n);
    count(&ended);
    return 0;
}

static int owner_main(void *arg)
{
    const rad_case *c = arg;
    switch (c->params[KIND]) {
    case END: with_nursery(child_adds, NULL, 0); break;
    case FAIL: with_nursery(child_ends, child_ends, CODE); break;
    case CANCEL_OWNER: with_nursery(child_waits, NULL, RAD_ECANCELED); break;
    case CHILD_CANCELS: with_nursery(child_cancels, child_waits, REASON); break;
    case LATE_CHILD: with_nursery(child_spawns, NULL, RAD_ECANCELED); break;
    case OUTSIDE: with_nursery(child_waits, NULL, REASON); break;
    case SIDE_BY_SIDE: with_nursery(child_opens, child_opens, 0); break;
    case BOTH_CANCEL: with_nursery(child_cancels_beside, child_waits, REASON); break;
    case CROWD: with_crowd(child_cancels, child_waits, WAITING, REASON); break;
    case BELOW: with_nursery(child_cancels, child_ends_below, REASON); break;
    default: with_nursery(child_nests, NULL, RAD_ECANCELED); break;
    }
    return 0;
}

static void nursery_setup(const rad_case *c)
{
    static const uint32_t more[KINDS] = {[BOTH_CANCEL] = 1, [BELOW] = 1, [CROWD] = WAITING - 1};
    uint32_t fibers = 2 + more[c->params[KIND]]; /* on each worker */
    rad__crew_open((uint32_t)c->params[WORKERS], 1, fibers, c->params[WHOLE]);
    if (c->params[COARSE] && !c->params[WHOLE]) rad__crew_coarse();
    RAD_MODEL_ASSERT(rad_chan_create(&never, 0, 0, RAD_CHAN_BLOCKS) == 0);
    rad__model_name(never, 1, "channel");
    rad__crew_spawn(&owner, owner_main, (void *)c);
    rad__crew_shut();
}

static void cancel_what_is_shown(void)
{
    rad_nursery *n;
    do n = atomic_load_explicit(&shown, memory_order_acquire); /* pairs with the store in with_nursery */
    while (n == NULL);
    rad_nursery_cancel(n, REASON);
}

static void nursery_body(const rad_case *c, uint32_t thread)
{
    if (thread < (uint32_t)c->params[WORKERS])
        rad__crew_work(thread);
    else if (c->params[KIND] == OUTSIDE)
        cancel_what_is_shown();
    else
        rad_cancel(owner);
}

static void nursery_check(const rad_case *c)
{
    static const uint32_t children[KINDS] = {2, 2, 1, 2, 2, 2, 1, 2, 3, 3, 1 + WAITING};
    static const uint32_t waiting[KINDS] = {0, 0, 1, 1, 1, 1, 1, 0, 1, 0, WAITING};
    RAD_MODEL_ASSERT(ended == children[c->params[KIND]]);
    RAD_MODEL_ASSERT(told == waiting[c->params[KIND]]);
    rad_release(owner);
    rad_chan_destroy(never);
    rad__crew_close();
}

static const rad_param nursery_params[] = {
    [KIND] = {"kind", 0, 0, KINDS - 1,
              "ends, fails, owner cancelled, child cancels, one comes later, nested, a thread "
              "cancels, two "
              "side by side, two cancel, one below, a crowd",
              true},
    [WORKERS] = {"workers", 2, 1, RAD_CREW_WORKERS, "workers", false},
    [WHOLE] = {"whole", 0, 0, 1, "workers of the executor, which steal and sleep", true},
    [COARSE] = {"coarse", 0, 0, 1, "fewer steps", true},
    {.name = NULL},
};

RAD_MODEL(nursery, .name = "l2-nursery", .about = "nurseries: the last child against its owner, cancel",
          .params = nursery_params, .covers = "nursery fiber", .thread_count = nursery_threads,
          .thread_role = nursery_role, .setup = nursery_setup, .body = nursery_body, .check = nursery_check);
