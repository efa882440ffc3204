/* once.c — something that is done once (rt/once.c): callers come at the same time, the first ones fail, give up while
 * they wait, or are cancelled in the middle of it. One at a time does it, whoever fails is followed by the next, and
 * everybody who is told that it was done sees what was done. */
#include "crew.h"
#include "lab/l2/model.h"

#include <raddle/chan.h>
#include <raddle/sync.h>

enum { CALLERS, FAILS, HASTY, FIBER };
enum { FAILURE = -77, VALUE = 5 };

static rad_once once;
static rad_fiber first; /* the first caller, if it is a fiber */
static rad_chan *never;
static uint32_t tries, value; /* plain: of whoever does it */
static uint32_t fails;
static _Atomic uint32_t succeeded, failed, gave_up;

/* With a fiber there is a worker, which is thread 0, and somebody who cancels it, the last one. */
static uint32_t once_threads(const rad_case *c)
{
    return (uint32_t)(c->params[CALLERS] + c->params[FIBER]);
}

static const char *once_role(const rad_case *c, uint32_t thread)
{
    if (c->params[FIBER] && thread == 0) return "worker";
    return c->params[FIBER] && thread + 1 == once_threads(c) ? "canceller" : "caller";
}

static int do_it(void *arg)
{
    uint64_t nothing;
    bool waits = arg != NULL && tries == 0; /* the fiber, if it is the first */
    RAD_MODEL_ASSERT(value == 0);
    if (tries++ < fails) return FAILURE;
    if (waits) return rad_recv(never, &nothing, RAD_FOREVER); /* until it is cancelled */
    value = VALUE;
    return 0;
}

static void count(_Atomic uint32_t *of)
{
    atomic_fetch_add_explicit(of, 1, memory_order_relaxed);
}

static void call(void *fiber, rad_time until)
{
    int code = rad_once_run(&once, do_it, fiber, until);
    if (code == 0) {
        RAD_MODEL_ASSERT(value == VALUE);
        count(&succeeded);
    } else if (code == RAD_ETIMEOUT) {
        RAD_MODEL_ASSERT(rad_now() >= until);
        count(&gave_up);
    } else {
        RAD_MODEL_ASSERT(code == FAILURE || (fiber != NULL && code == RAD_ECANCELED));
        count(&failed);
    }
}

static int fiber_main(void *arg)
{
    call(arg, RAD_FOREVER);
    return 0;
}

static void once_setup(const rad_case *c)
{
    fails = (uint32_t)c->params[FAILS];
    rad__model_name(&once, sizeof once, "once");
    rad__model_name(&value, sizeof value, "value");
    if (!c->params[FIBER]) return;
    rad__crew_open(1, 1, 0, false);
    RAD_MODEL_ASSERT(rad_chan_create(&never, sizeof(uint64_t), 0, RAD_CHAN_BLOCKS) == 0);
    rad__crew_spawn(&first, fiber_main, &first);
    rad__crew_shut();
}

static void once_body(const rad_case *c, uint32_t thread)
{
    bool hasty = thread < (uint32_t)(c->params[HASTY] + c->params[FIBER]);
    if (c->params[FIBER] && thread == 0)
        rad__crew_work(0);
    else if (c->params[FIBER] && thread + 1 == once_threads(c))
        rad_cancel(first);
    else
        call(NULL, hasty ? rad_after(10) : RAD_FOREVER);
}

static void once_check(const rad_case *c)
{
    uint32_t all = succeeded + failed + gave_up;
    RAD_MODEL_ASSERT(all == (uint32_t)c->params[CALLERS]);
    RAD_MODEL_ASSERT(tries == failed + (value == VALUE) || c->params[FIBER]);
    RAD_MODEL_ASSERT(failed >= (tries < fails ? tries : fails));
    RAD_MODEL_ASSERT((succeeded > 0) == (value == VALUE));
    /* Nobody has it now: the next one finds it done, or does it. */
    int code = rad_once_run(&once, do_it, NULL, 0);
    RAD_MODEL_ASSERT(code == (tries <= fails && value == 0 ? FAILURE : 0));
    if (!c->params[FIBER]) return;
    rad_release(first);
    rad_chan_destroy(never);
    rad__crew_close();
}

static const rad_param once_params[] = {
    [CALLERS] = {"callers", 3, 2, 4, "who need it", false},
    [FAILS] = {"fails", 0, 0, 2, "times it fails before it succeeds", false},
    [HASTY] = {"hasty", 0, 0, 4, "threads that may give up", false},
    [FIBER] = {"fiber", 0, 0, 1, "the first is a fiber, which is cancelled", true},
    {.name = NULL},
};

RAD_MODEL(once, .name = "l2-once", .about = "done once: by one at a time, until one succeeds", .params = once_params,
          .covers = "once wait", .thread_count = once_threads, .thread_role = once_role, .setup = once_setup,
          .body = once_body, .check = once_check);
