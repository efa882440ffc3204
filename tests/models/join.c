/* join.c — handles (rt/fiber.c, rt/pool.c): a fiber ends while threads and another fiber join it, and whoever is the
 * last of them gives the handle up. Its slot is used for the next fiber at once, which must not feel anything of the
 * old handle; each slot is given back once. */
#include "crew.h"
#include "lab/l2/model.h"

#include <raddle/chan.h>

#include <string.h>

enum { KIND, JOINERS, WORKERS, WHOLE, COARSE };
enum { BY_THREADS, WITH_FIBER, DETACH, KINDS };
enum { CODE = 5, CONTENT = 1234 };

static rad_fiber child;
static rad_chan *released;          /* tells the parent */
static _Atomic uint32_t users_left; /* of the handle */
static uint32_t next_ran;

static uint32_t join_threads(const rad_case *c)
{
    return (uint32_t)(c->params[WORKERS] + c->params[JOINERS]);
}

static const char *join_role(const rad_case *c, uint32_t thread)
{
    return thread < (uint32_t)c->params[WORKERS] ? "worker" : "joiner";
}

static int child_main(void *arg)
{
    uint32_t content = CONTENT;
    (void)arg;
    rad_set_result(&content, sizeof content);
    return CODE;
}

/* In the slot of the child, if there is no other. */
static int next_main(void *arg)
{
    (void)arg;
    rad_yield();
    RAD_MODEL_ASSERT(!rad_is_canceled());
    RAD_MODEL_ASSERT(rad_sleep_until(1) == 0); /* a wait that is over, and asks */
    next_ran++;
    return 0;
}

/* True: it was the last one, and has given the handle up. */
static bool use_handle(bool joins)
{
    rad_fiber_result given;
    uint32_t content = 0;
    if (joins) {
        int code = rad_join(child, &given, RAD_FOREVER);
        memcpy(&content, given.bytes, sizeof content);
        RAD_MODEL_ASSERT(code == 0 && given.code == CODE && content == CONTENT);
    }
    /* Relaxed: giving it up orders everything. */
    if (atomic_fetch_sub_explicit(&users_left, 1, memory_order_relaxed) != 1) return false;
    rad_release(child);
    return true;
}

/* The fiber may not be off its stack yet: then it is still known; but never another one in its place. */
static void old_handle(void)
{
    rad_fiber_result given = {.code = 0};
    int code = rad_join(child, &given, RAD_FOREVER);
    RAD_MODEL_ASSERT(code == RAD_ESTALE || (code == 0 && given.code == CODE));
}

static int parent_main(void *arg)
{
    const rad_case *c = arg;
    char signal;
    if (c->params[KIND] != WITH_FIBER || !use_handle(true))
        RAD_MODEL_ASSERT(rad_recv(released, &signal, RAD_FOREVER) == 0);
    RAD_MODEL_ASSERT(rad_spawn(NULL, next_main, NULL) == 0);
    return 0;
}

static void join_setup(const rad_case *c)
{
    bool again = c->params[WORKERS] == 1 && c->params[KIND] != DETACH; /* its slot must be free */
    rad__crew_open((uint32_t)c->params[WORKERS], 2, again ? 0 : 1, c->params[WHOLE]);
    if (c->params[COARSE] && !c->params[WHOLE]) rad__crew_coarse();
    RAD_MODEL_ASSERT(rad_chan_create(&released, 0, 1, RAD_CHAN_BLOCKS) == 0);
    rad__model_name(released, 1, "channel");
    atomic_init(&users_left, (uint32_t)c->params[JOINERS] + (c->params[KIND] == WITH_FIBER));
    rad__crew_spawn(&child, child_main, NULL);
    rad__crew_spawn(NULL, parent_main, (void *)c);
    rad__crew_shut();
}

static void join_body(const rad_case *c, uint32_t thread)
{
    if (thread < (uint32_t)c->params[WORKERS]) {
        rad__crew_work(thread);
        return;
    }
    if (!use_handle(c->params[KIND] != DETACH)) return;
    RAD_MODEL_ASSERT(rad_send(released, "", RAD_FOREVER) == 0);
    if (c->params[KIND] == DETACH) return; /* the child may still run, and would be cancelled */
    rad_cancel(child);
    old_handle();
}

static void join_check(const rad_case *c)
{
    (void)c;
    RAD_MODEL_ASSERT(next_ran == 1);
    rad_chan_destroy(released);
    rad__crew_close();
}

static const rad_param join_params[] = {
    [KIND] = {"kind", 0, 0, KINDS - 1, "joined by threads, by the parent too, or given up at once", true},
    [JOINERS] = {"joiners", 1, 1, 2, "threads that have the handle", false},
    [WORKERS] = {"workers", 1, 1, RAD_CREW_WORKERS, "workers", false},
    [WHOLE] = {"whole", 0, 0, 1, "workers of the executor, which steal and sleep", true},
    [COARSE] = {"coarse", 0, 0, 1, "fewer steps", true},
    {.name = NULL},
};

RAD_MODEL(join, .name = "l2-join", .about = "handles of fibers: join, release, use of the slot again",
          .params = join_params, .covers = "fiber slots state_word", .thread_count = join_threads,
          .thread_role = join_role, .setup = join_setup, .body = join_body, .check = join_check);
