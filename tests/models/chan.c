/* chan.c — channels between threads (rt/chan.c on rt/wait.c): senders and receivers, and somebody who closes, after the
 * last value or at any time. What was taken is received, once, in the order of its sender; nobody sleeps for ever.
 * Whoever is done last frees the channel: nothing may touch it, nor the frame of one who has returned, after that. */
#include "lab/l2/model.h"

#include <raddle/chan.h>

#include <stdatomic.h>

enum { SENDERS, RECEIVERS, CAPACITY, VALUES, CLOSER, DROPS, MANY };
enum { THREADS_MAX = 3, VALUES_MAX = 3, TAKEN_MAX = THREADS_MAX * VALUES_MAX, REASON = -77 };

typedef struct got {
    uint64_t values[TAKEN_MAX];
    uint32_t count;
    int code; /* of the channel, when it is closed */
} got;

static rad_chan *chan;
static _Atomic uint32_t senders_left, users_left;
static int answers[THREADS_MAX][VALUES_MAX];
static got taken[THREADS_MAX];

static uint32_t chan_threads(const rad_case *c)
{
    return (uint32_t)(c->params[SENDERS] + c->params[RECEIVERS] + c->params[CLOSER]);
}

static const char *chan_role(const rad_case *c, uint32_t thread)
{
    int64_t senders = c->params[SENDERS], receivers = c->params[RECEIVERS];
    return thread < senders ? "sender" : thread < senders + receivers ? "receiver" : "closer";
}

/* Several at once do not say which of them were dropped. */
static enum rad_chan_mode mode_of(const rad_case *c)
{
    bool drops = c->params[CAPACITY] > 0 && !c->params[MANY];
    return drops ? (enum rad_chan_mode)c->params[DROPS] : RAD_CHAN_BLOCKS;
}

static void chan_setup(const rad_case *c)
{
    int code = rad_chan_create(&chan, sizeof(uint64_t), (size_t)c->params[CAPACITY], mode_of(c));
    RAD_MODEL_ASSERT(code == 0);
    rad__model_name(chan, 1, "channel");
    rad__model_name(answers, sizeof answers, "answer");
    rad__model_name(taken, sizeof taken, "taken");
    atomic_init(&senders_left, (uint32_t)c->params[SENDERS]);
    atomic_init(&users_left, chan_threads(c));
}

static void sender(const rad_case *c, uint32_t self)
{
    uint32_t count = (uint32_t)c->params[VALUES];
    uint64_t values[VALUES_MAX];
    for (uint32_t i = 0; i < count; i++) values[i] = (uint64_t)self << 8 | i;
    for (uint32_t i = 0; i < count;) {
        if (!c->params[MANY]) {
            answers[self][i] = rad_send(chan, &values[i], RAD_FOREVER);
            i++;
            continue;
        }
        int done = rad_send_many(chan, &values[i], count - i, RAD_FOREVER);
        RAD_MODEL_ASSERT(done == RAD_ECLOSED || (done >= 1 && done <= (int)(count - i)));
        if (done < 0) /* the rest was not taken */
            for (; i < count; i++) answers[self][i] = done;
        for (; done > 0; done--) answers[self][i++] = 0;
    }
    if (c->params[CLOSER]) return;
    if (atomic_fetch_sub_explicit(&senders_left, 1, memory_order_relaxed) != 1) return;
    RAD_MODEL_ASSERT(rad_chan_close(chan, REASON));
}

static void receiver(const rad_case *c, got *mine)
{
    int code;
    do {
        uint64_t *into = &mine->values[mine->count];
        if (c->params[MANY]) {
            code = rad_recv_many(chan, into, 2, RAD_FOREVER);
            mine->count += code > 0 ? (uint32_t)code : 0;
        } else {
            code = rad_recv(chan, into, RAD_FOREVER);
            mine->count += code == 0;
        }
    } while (code >= 0);
    RAD_MODEL_ASSERT(code == RAD_ECLOSED);
    mine->code = rad_chan_code(chan);
}

static void chan_body(const rad_case *c, uint32_t thread)
{
    uint32_t senders = (uint32_t)c->params[SENDERS], receivers = (uint32_t)c->params[RECEIVERS];
    if (thread < senders)
        sender(c, thread);
    else if (thread < senders + receivers)
        receiver(c, &taken[thread - senders]);
    else if (rad_chan_count(chan) <= (size_t)c->params[CAPACITY])
        rad_chan_close(chan, REASON);
    /* Pairs with itself: whoever frees comes after all others. */
    if (atomic_fetch_sub_explicit(&users_left, 1, memory_order_acq_rel) == 1) rad_chan_destroy(chan);
}

/* How often a value was received; each receiver gets those of one sender in order. */
static uint32_t times(uint32_t receivers, uint64_t value)
{
    uint32_t times = 0;
    for (uint32_t r = 0; r < receivers; r++)
        for (uint32_t i = 0; i < taken[r].count; i++) {
            times += taken[r].values[i] == value;
            for (uint32_t k = i + 1; k < taken[r].count; k++)
                RAD_MODEL_ASSERT(taken[r].values[i] >> 8 != taken[r].values[k] >> 8 ||
                                 taken[r].values[i] < taken[r].values[k]);
        }
    return times;
}

static void chan_check(const rad_case *c)
{
    uint32_t received = 0, accepted = 0, dropped = 0;
    bool old = mode_of(c) == RAD_CHAN_DROPS_OLD;
    for (uint32_t s = 0; s < c->params[SENDERS]; s++)
        for (uint32_t i = 0; i < c->params[VALUES]; i++) {
            int answer = answers[s][i];
            uint32_t came = times((uint32_t)c->params[RECEIVERS], (uint64_t)s << 8 | i);
            RAD_MODEL_ASSERT(answer == 0 || answer == 1 || answer == RAD_ECLOSED);
            RAD_MODEL_ASSERT(answer != RAD_ECLOSED || c->params[CLOSER]);
            RAD_MODEL_ASSERT(answer != 1 || mode_of(c) != RAD_CHAN_BLOCKS);
            RAD_MODEL_ASSERT(came <= (answer == 0 || (answer == 1 && old)));
            RAD_MODEL_ASSERT(old || came == (answer == 0));
            received += came;
            accepted += answer == 0 || (answer == 1 && old);
            dropped += answer == 1 && old;
        }
    RAD_MODEL_ASSERT(received + dropped == accepted);
    for (uint32_t r = 0; r < c->params[RECEIVERS]; r++) {
        RAD_MODEL_ASSERT(taken[r].code == REASON);
        received -= taken[r].count;
    }
    RAD_MODEL_ASSERT(received == 0); /* and nothing that nobody sent */
}

static const rad_param chan_params[] = {
    [SENDERS] = {"senders", 1, 1, THREADS_MAX, "threads that send", false},
    [RECEIVERS] = {"receivers", 1, 1, THREADS_MAX, "threads that receive until it is closed", false},
    [CAPACITY] = {"capacity", 0, 0, 2, "of the channel", false},
    [VALUES] = {"values", 1, 1, VALUES_MAX, "values of each sender", false},
    [CLOSER] = {"closer", 0, 0, 1, "somebody closes it at any time; otherwise the last sender", true},
    [DROPS] = {"drops", 0, 0, 2, "with room: when full it blocks, drops the new or the old", true},
    [MANY] = {"many", 0, 0, 1, "several values in one call", true},
    {.name = NULL},
};

RAD_MODEL(chan, .name = "l2-chan", .about = "channels between threads: send, receive, close", .params = chan_params,
          .covers = "chan wait lock", .thread_count = chan_threads, .thread_role = chan_role, .setup = chan_setup,
          .body = chan_body, .check = chan_check);
