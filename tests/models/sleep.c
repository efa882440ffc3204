/* sleep.c — fibers that wait for the clock (rt/sleep.c): their worker rests no longer than until then, and wakes them
 * by itself, while others hand it work, cancel the sleeper, or send what it waits for. Nobody is woken early, and
 * everybody is. */
#include "crew.h"
#include "lab/l2/model.h"

#include <raddle/chan.h>

enum { KIND, WORKERS };
enum { SLEEPS, WITH_ANOTHER, CANCELED, RECEIVES, NURSERY, KINDS };
enum { VALUE = 42, SPAN = 10 };

static rad_fiber sleeper;
static rad_chan *chan;
static int answer;
static uint64_t value;
static bool late;

static uint32_t sleep_threads(const rad_case *c)
{
    return (uint32_t)c->params[WORKERS] + (c->params[KIND] != SLEEPS && c->params[KIND] != NURSERY);
}

static const char *sleep_role(const rad_case *c, uint32_t thread)
{
    return thread < (uint32_t)c->params[WORKERS] ? "worker" : "other";
}

static int child_main(void *arg)
{
    uint64_t nothing;
    (void)arg;
    RAD_MODEL_ASSERT(rad_recv(chan, &nothing, RAD_FOREVER) == RAD_ECANCELED);
    RAD_MODEL_ASSERT(rad_is_canceled());
    return 0;
}

static int waits_for_child(rad_time until)
{
    rad_nursery n;
    rad_nursery_open(&n, until);
    RAD_MODEL_ASSERT(rad_nursery_spawn(&n, NULL, child_main, NULL) == 0);
    return rad_nursery_wait(&n);
}

static int sleeper_main(void *arg)
{
    const rad_case *c = arg;
    rad_time until = rad_after(SPAN);
    switch (c->params[KIND]) {
    case RECEIVES: answer = rad_recv(chan, &value, until); break;
    case NURSERY: answer = waits_for_child(until); break;
    default: answer = rad_sleep_until(until); break;
    }
    late = rad_now() >= until;
    return 0;
}

static int another_main(void *arg)
{
    (void)arg;
    return rad_recv(chan, &value, RAD_FOREVER);
}

static void sleep_setup(const rad_case *c)
{
    rad__crew_open((uint32_t)c->params[WORKERS], 2, c->params[KIND] == NURSERY, true);
    RAD_MODEL_ASSERT(rad_chan_create(&chan, sizeof value, 1, RAD_CHAN_BLOCKS) == 0);
    rad__model_name(chan, 1, "channel");
    rad__crew_spawn(&sleeper, sleeper_main, (void *)c);
    if (c->params[KIND] == WITH_ANOTHER) rad__crew_spawn(NULL, another_main, NULL);
    rad__crew_shut();
}

static void sleep_body(const rad_case *c, uint32_t thread)
{
    uint64_t sent = VALUE;
    if (thread < (uint32_t)c->params[WORKERS])
        rad__crew_work(thread);
    else if (c->params[KIND] == CANCELED)
        rad_cancel(sleeper);
    else
        RAD_MODEL_ASSERT(rad_send(chan, &sent, RAD_FOREVER) == 0);
}

static void sleep_check(const rad_case *c)
{
    bool got = value == VALUE;
    switch (c->params[KIND]) {
    case CANCELED: RAD_MODEL_ASSERT(answer == RAD_ECANCELED || (answer == 0 && late)); break;
    case RECEIVES: RAD_MODEL_ASSERT(got ? answer == 0 : answer == RAD_ETIMEOUT && late); break;
    default: RAD_MODEL_ASSERT(answer == 0 && late); break;
    }
    if (c->params[KIND] == WITH_ANOTHER) RAD_MODEL_ASSERT(got);
    if (c->params[KIND] == RECEIVES) RAD_MODEL_ASSERT(rad_chan_count(chan) == !got);
    rad_release(sleeper);
    rad_chan_destroy(chan);
    rad__crew_close();
}

static const rad_param sleep_params[] = {
    [KIND] = {"kind", 0, 0, KINDS - 1, "alone, beside another, cancelled, receives until then, a nursery until then",
              true},
    [WORKERS] = {"workers", 1, 1, RAD_CREW_WORKERS, "workers", false},
    {.name = NULL},
};

RAD_MODEL(sleep, .name = "l2-sleep", .about = "fibers that wait for the clock, and workers that rest",
          .params = sleep_params, .covers = "sleep timer fiber strand", .thread_count = sleep_threads,
          .thread_role = sleep_role, .setup = sleep_setup, .body = sleep_body, .check = sleep_check);
