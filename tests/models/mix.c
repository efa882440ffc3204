/* mix.c — a channel between threads, which sleep, and fibers, which park: what is sent is received once, in order, and
 * close ends it for all of them. */
#include "crew.h"
#include "lab/l2/model.h"

#include <raddle/chan.h>

enum { FIBERS_SEND, THREADS, FIBERS, CAPACITY, VALUES, WORKERS, WHOLE, COARSE };
enum { SIDE_MAX = 2, VALUES_MAX = 2 };

static rad_chan *chan;
static _Atomic uint32_t senders_left;
static uint64_t got[SIDE_MAX][SIDE_MAX * VALUES_MAX];
static uint32_t got_count[SIDE_MAX];
static int64_t value_count;
static bool fibers_send;

static uint32_t mix_threads(const rad_case *c)
{
    return (uint32_t)(c->params[WORKERS] + c->params[THREADS]);
}

static const char *mix_role(const rad_case *c, uint32_t thread)
{
    return thread < (uint32_t)c->params[WORKERS] ? "worker" : "thread";
}

static void send_all(uint32_t self)
{
    for (int64_t i = 0; i < value_count; i++) {
        uint64_t value = (uint64_t)self << 8 | (uint64_t)i;
        RAD_MODEL_ASSERT(rad_send(chan, &value, RAD_FOREVER) == 0);
    }
    if (atomic_fetch_sub_explicit(&senders_left, 1, memory_order_relaxed) == 1) rad_chan_close(chan, 1);
}

static void receive_all(uint32_t self)
{
    uint32_t *count = &got_count[self];
    int code;
    while ((code = rad_recv(chan, &got[self][*count], RAD_FOREVER)) == 0) ++*count;
    RAD_MODEL_ASSERT(code == RAD_ECLOSED);
}

static void side(bool sends, uint32_t self)
{
    if (sends)
        send_all(self);
    else
        receive_all(self);
}

static int fiber_main(void *arg)
{
    side(fibers_send, *(const uint32_t *)arg);
    return 0;
}

static void mix_setup(const rad_case *c)
{
    static const uint32_t selves[SIDE_MAX] = {0, 1};
    fibers_send = c->params[FIBERS_SEND];
    value_count = c->params[VALUES];
    rad__crew_open((uint32_t)c->params[WORKERS], (uint32_t)c->params[FIBERS], 0, c->params[WHOLE]);
    if (c->params[COARSE] && !c->params[WHOLE]) rad__crew_coarse();
    int code = rad_chan_create(&chan, sizeof(uint64_t), (size_t)c->params[CAPACITY], RAD_CHAN_BLOCKS);
    RAD_MODEL_ASSERT(code == 0);
    rad__model_name(chan, 1, "channel");
    atomic_init(&senders_left, (uint32_t)c->params[fibers_send ? FIBERS : THREADS]);
    for (uint32_t i = 0; i < c->params[FIBERS]; i++) rad__crew_spawn(NULL, fiber_main, (void *)&selves[i]);
    rad__crew_shut();
}

static void mix_body(const rad_case *c, uint32_t thread)
{
    uint32_t workers = (uint32_t)c->params[WORKERS];
    if (thread < workers)
        rad__crew_work(thread);
    else
        side(!fibers_send, thread - workers);
}

static void mix_check(const rad_case *c)
{
    uint32_t senders = (uint32_t)c->params[fibers_send ? FIBERS : THREADS], all = 0;
    for (uint32_t r = 0; r < SIDE_MAX; r++) {
        all += got_count[r];
        for (uint32_t i = 0; i < got_count[r]; i++)
            for (uint32_t k = 0; k < i; k++)
                RAD_MODEL_ASSERT(got[r][i] >> 8 != got[r][k] >> 8 || got[r][k] < got[r][i]);
    }
    RAD_MODEL_ASSERT(all == senders * (uint32_t)value_count);
    for (uint32_t i = 0; i < got_count[0]; i++)
        for (uint32_t k = 0; k < got_count[1]; k++) RAD_MODEL_ASSERT(got[0][i] != got[1][k]);
    rad_chan_destroy(chan);
    rad__crew_close();
}

static const rad_param mix_params[] = {
    [FIBERS_SEND] = {"send", 0, 0, 1, "the fibers send; otherwise the threads do", true},
    [THREADS] = {"threads", 1, 1, SIDE_MAX, "threads", false},
    [FIBERS] = {"fibers", 1, 1, SIDE_MAX, "fibers", false},
    [CAPACITY] = {"capacity", 0, 0, 2, "of the channel", false},
    [VALUES] = {"values", 1, 1, VALUES_MAX, "values of each sender", false},
    [WORKERS] = {"workers", 1, 1, RAD_CREW_WORKERS, "workers", false},
    [WHOLE] = {"whole", 0, 0, 1, "workers of the executor, which steal and sleep", true},
    [COARSE] = {"coarse", 0, 0, 1, "fewer steps", true},
    {.name = NULL},
};

RAD_MODEL(mix, .name = "l2-mix", .about = "a channel between threads and fibers", .params = mix_params,
          .covers = "chan wait strand", .thread_count = mix_threads, .thread_role = mix_role, .setup = mix_setup,
          .body = mix_body, .check = mix_check);
