/* cancel.c — a fiber that waits is cancelled while what it waits for happens: exactly one of the two ends its wait,
 * data are received or still there, and a cancellation that came too late for this wait ends the next one. */
#include "crew.h"
#include "lab/l2/model.h"

#include <raddle/chan.h>

enum { KIND, WORKERS, WHOLE, COARSE };
enum { RECEIVES, SELECTS, SHIELDED, SENDS, JOINS, KINDS };
enum { VALUE = 42, CODE = 3 };

static rad_fiber waiter, other;
static rad_chan *chan, *never;
static int answer, partner;
static uint64_t value;

static uint32_t cancel_threads(const rad_case *c)
{
    return (uint32_t)c->params[WORKERS] + 1 + (c->params[KIND] != JOINS);
}

static const char *cancel_role(const rad_case *c, uint32_t thread)
{
    uint32_t workers = (uint32_t)c->params[WORKERS];
    return thread < workers ? "worker" : thread == workers ? "canceller" : "partner";
}

static int waits_by_select(void)
{
    uint64_t nothing;
    rad_select_case cases[] = {{.kind = RAD_ON_RECV, .on.chan = never, .value = &nothing},
                               {.kind = RAD_ON_RECV, .on.chan = chan, .value = &value}};
    int done = rad_select(cases, 2, RAD_FOREVER);
    RAD_MODEL_ASSERT(done == 1 || done == RAD_ECANCELED);
    return done == 1 ? cases[1].code : done;
}

static int waits_for_nothing(bool by_select)
{
    uint64_t nothing;
    rad_select_case both[] = {{.kind = RAD_ON_RECV, .on.chan = never, .value = &nothing},
                              {.kind = RAD_ON_RECV, .on.chan = never, .value = &nothing}};
    return by_select ? rad_select(both, 2, RAD_FOREVER) : rad_recv(never, &nothing, RAD_FOREVER);
}

static int joins(void)
{
    rad_fiber_result given = {.code = 0};
    int code = rad_join(other, &given, RAD_FOREVER);
    RAD_MODEL_ASSERT(code == RAD_ECANCELED || given.code == CODE);
    return code;
}

static int other_main(void *arg)
{
    (void)arg;
    return CODE;
}

static int waiter_main(void *arg)
{
    const rad_case *c = arg;
    uint64_t sent = VALUE;
    if (c->params[KIND] == SHIELDED) rad_shield(true);
    switch (c->params[KIND]) {
    case SELECTS: answer = waits_by_select(); break;
    case SENDS: answer = rad_send(chan, &sent, RAD_FOREVER); break;
    case JOINS: answer = joins(); break;
    default: answer = rad_recv(chan, &value, RAD_FOREVER); break;
    }
    if (c->params[KIND] == SHIELDED) rad_shield(false);
    if (c->params[KIND] == SENDS) rad_chan_close(chan, 1);
    /* It was told, or is told here: nobody sends. */
    RAD_MODEL_ASSERT(waits_for_nothing(c->params[KIND] == SELECTS) == RAD_ECANCELED);
    RAD_MODEL_ASSERT(rad_is_canceled());
    return 0;
}

static void cancel_setup(const rad_case *c)
{
    size_t room = c->params[KIND] != SENDS;
    rad__crew_open((uint32_t)c->params[WORKERS], 2, 0, c->params[WHOLE]);
    if (c->params[COARSE] && !c->params[WHOLE]) rad__crew_coarse();
    RAD_MODEL_ASSERT(rad_chan_create(&chan, sizeof value, room, RAD_CHAN_BLOCKS) == 0);
    RAD_MODEL_ASSERT(rad_chan_create(&never, sizeof value, 0, RAD_CHAN_BLOCKS) == 0);
    rad__model_name(chan, 1, "channel");
    rad__crew_spawn(&waiter, waiter_main, (void *)c);
    if (c->params[KIND] == JOINS) rad__crew_spawn(&other, other_main, NULL);
    rad__crew_shut();
}

static void cancel_body(const rad_case *c, uint32_t thread)
{
    uint64_t sent = VALUE;
    uint32_t workers = (uint32_t)c->params[WORKERS];
    if (thread < workers)
        rad__crew_work(thread);
    else if (thread == workers)
        rad_cancel(waiter);
    else if (c->params[KIND] == SENDS)
        partner = rad_recv(chan, &value, RAD_FOREVER);
    else
        partner = rad_send(chan, &sent, RAD_FOREVER);
}

static void cancel_check(const rad_case *c)
{
    bool done = answer == 0;
    RAD_MODEL_ASSERT(done || answer == RAD_ECANCELED);
    if (c->params[KIND] == SENDS) {
        RAD_MODEL_ASSERT(partner == (done ? 0 : RAD_ECLOSED));
    } else if (c->params[KIND] != JOINS) {
        RAD_MODEL_ASSERT(partner == 0 && rad_chan_count(chan) == !done);
        RAD_MODEL_ASSERT(done || c->params[KIND] != SHIELDED);
    }
    if (c->params[KIND] != JOINS) RAD_MODEL_ASSERT(value == (done ? VALUE : 0));
    if (c->params[KIND] == JOINS) rad_release(other);
    rad_release(waiter);
    rad_chan_destroy(chan);
    rad_chan_destroy(never);
    rad__crew_close();
}

static const rad_param cancel_params[] = {
    [KIND] = {"kind", 0, 0, KINDS - 1, "receives, selects, is shielded, sends, joins", true},
    [WORKERS] = {"workers", 1, 1, RAD_CREW_WORKERS, "workers", false},
    [WHOLE] = {"whole", 0, 0, 1, "workers of the executor, which steal and sleep", true},
    [COARSE] = {"coarse", 0, 0, 1, "fewer steps", true},
    {.name = NULL},
};

RAD_MODEL(cancel, .name = "l2-cancel", .about = "cancel against data: one of them ends the wait",
          .params = cancel_params, .covers = "fiber wait strand", .thread_count = cancel_threads,
          .thread_role = cancel_role, .setup = cancel_setup, .body = cancel_body, .check = cancel_check);
