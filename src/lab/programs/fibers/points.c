/* points.c — the public operations under test: each is a point, then the same function as in production. */
#include "lab/programs/fibers/mistakes.h"

#include "lab/programs/fibers/tell.h"
#include "lab/programs/watched/watched.h"
#include "rt/chan.h"
#include "rt/nursery.h"

#include <string.h>

/* Operations that no other runner can tell the order of: they are not worth a decision. */
static bool is_point(uint32_t site)
{
    switch (site) {
    case RAD_AT_now:
    case RAD_AT_after:
    case RAD_AT_self:
    case RAD_AT_set_result:
    case RAD_AT_name:
    case RAD_AT_name_of:
    case RAD_AT_sharp:
    case RAD_AT_shield:
    case RAD_AT_nursery_open:
    case RAD_AT_nursery_current:
    case RAD_AT_chan_create:
    case RAD_AT_pool_create:
    case RAD_AT_timer_create:
    case RAD_AT_ticker_start:
    case RAD_AT_semaphore_init:
    case RAD_AT_barrier_init:
    case RAD_AT_mutex_is_mine:
    case RAD_AT_local_create:
    case RAD_AT_local_delete:
    case RAD_AT_local_get:
    case RAD_AT_local_set: return false;
    default: return true;
    }
}

/* ---- Where objects begin --------------------------------------------------------------------------------- */

static void began(const void *object, uint32_t site, const void *variable)
{
    if (rad__stage.running) rad__object_begins(object, site, NULL, variable);
}

static int create_chan(rad_chan **chan, size_t size, size_t capacity, enum rad_chan_mode mode)
{
    int code = rad__op_chan_create(chan, size, capacity, mode);
    if (code == 0) began(*chan, RAD_AT_chan_create, chan);
    return code;
}

/* What is destroyed keeps its memory for a while, so that production notices whoever still uses it. */
static void destroy_chan(rad_chan *chan)
{
    if (rad__stage.running) rad__memory_keeps(chan);
    rad__op_chan_destroy(chan);
}

static void destroy_pool(rad_pool *pool)
{
    if (rad__stage.running) rad__memory_keeps(pool);
    rad__op_pool_destroy(pool);
}

static void destroy_timer(rad_timer *timer)
{
    if (rad__stage.running) rad__memory_keeps(timer);
    rad__op_timer_destroy(timer);
}

static int create_pool(rad_pool **pool, size_t size, uint32_t capacity, const rad_pool_calls *calls)
{
    int code = rad__op_pool_create(pool, size, capacity, calls);
    if (code == 0) began(*pool, RAD_AT_pool_create, pool);
    return code;
}

static int create_timer(rad_timer **timer, rad_fn fn, void *arg)
{
    int code = rad__op_timer_create(timer, fn, arg);
    if (code == 0 && fn != NULL) rad__stage.timers_call = true;
    if (code == 0) began(*timer, RAD_AT_timer_create, timer);
    return code;
}

static void open_nursery(rad_nursery *n, rad_time deadline)
{
    rad__op_nursery_open(n, deadline);
    began(n, RAD_AT_nursery_open, n);
}

/* ---- Operations in parts ------------------------------------------------------------------------------------ */

/* Production waits until one can be sent, lets the channel go, and then sends as many as there is room for. */
static int send_in_parts(rad_chan *chan, const void *values, uint32_t count, rad_time until)
{
    if (!rad__stage.running || count < 2) return rad__op_send_many(chan, values, count, until);
    int first = rad__op_send_many(chan, values, 1, until);
    if (first != 1) return first;
    rad__stage.current->until = 0;
    rad__point(RAD_AT_send_many, chan);
    int more = rad__op_send_many(chan, (const char *)values + chan->size, count - 1, 0);
    return more < 0 ? first : first + more;
}

static int recv_in_parts(rad_chan *chan, void *values, uint32_t count, rad_time until)
{
    if (!rad__stage.running || count < 2) return rad__op_recv_many(chan, values, count, until);
    int first = rad__op_recv_many(chan, values, 1, until);
    if (first != 1) return first;
    rad__stage.current->until = 0;
    rad__point(RAD_AT_recv_many, chan);
    int more = rad__op_recv_many(chan, (char *)values + chan->size, count - 1, 0);
    return more < 0 ? first : first + more;
}

/* What order.c and nursery.c do in one call: tools/seam.sh renames it there. */
RAD_INTERNAL int rad__part_send(rad_chan *chan, const void *value, rad_time until);
RAD_INTERNAL int rad__part_recv(rad_chan *chan, void *value, rad_time until);
RAD_INTERNAL int rad__part_join(rad_fiber fiber, rad_fiber_result *result, rad_time until);
RAD_INTERNAL int rad__part_wait(rad_clause *clauses, uint32_t count, uint64_t until);

int rad__part_send(rad_chan *chan, const void *value, rad_time until)
{
    rad__point(RAD_AT_send, chan);
    return rad__op_send(chan, value, until);
}

int rad__part_recv(rad_chan *chan, void *value, rad_time until)
{
    rad__point(RAD_AT_recv, chan);
    return rad__op_recv(chan, value, until);
}

int rad__part_join(rad_fiber fiber, rad_fiber_result *result, rad_time until)
{
    rad__point(RAD_AT_join, fiber.slot);
    return rad__op_join(fiber, result, until);
}

/* By nursery.c: an owner that is cancelled while it waits cancels the others, and then waits again. */
int rad__part_wait(rad_clause *clauses, uint32_t count, uint64_t until)
{
    int done = rad__wait(clauses, count, until);
    if (done < 0) rad__point(RAD_AT_nursery_wait, clauses->object); /* where a nursery begins */
    return done;
}

static int send_once(rad_chan *chan, const void *value, rad_time until)
{
    return rad__send_checked(chan, rad__op_send(chan, value, until), "rad_send");
}

static int send_several(rad_chan *chan, const void *values, uint32_t count, rad_time until)
{
    return rad__send_checked(chan, send_in_parts(chan, values, count, until), "rad_send_many");
}

/* ---- Looking at the clock ------------------------------------------------------------------------------------ */

/* A loop that looks at the clock waits for it: see time.c. */
static rad_time look_now(void)
{
    rad__time_look();
    return rad__op_now();
}

static rad_time look_after(uint64_t ns)
{
    rad__time_look();
    rad_time at = rad__op_after(ns);
    if (rad__stage.running) rad__stage.current->after_ns = at;
    return at;
}

/* ---- The public calls -------------------------------------------------------------------------------------- */

/* The point gives the others their turn already. */
static void yield_once(void)
{
    if (!rad__stage.running || rad__running() == NULL) rad__op_yield(); /* says that it is no fiber */
}

#define RAD_OP_DECLARE(answer, name, parameters, arguments, object) RAD_INTERNAL answer rad__op_##name parameters;
RAD_MORE_OPS(RAD_OP_DECLARE)
RAD_LATER_OPS(RAD_OP_DECLARE)

static int64_t read_checked(int fd, void *to, size_t size, rad_time until)
{
    rad__file_check(fd, "rad_read");
    return rad__op_read(fd, to, size, until);
}

static int64_t write_checked(int fd, const void *from, size_t size, rad_time until)
{
    rad__file_check(fd, "rad_write");
    return rad__op_write(fd, from, size, until);
}

static int64_t accept_checked(int fd, struct sockaddr *address, uint32_t *length, rad_time until)
{
    rad__file_check(fd, "rad_accept");
    return rad__op_accept(fd, address, length, until);
}

static int64_t connect_checked(int fd, const struct sockaddr *address, uint32_t length, rad_time until)
{
    rad__file_check(fd, "rad_connect");
    return rad__op_connect(fd, address, length, until);
}

/* The point is about the condition; the mutex is given back while it waits, and taken again. */
static int cond_wait(rad_cond *c, rad_mutex *m, rad_time until)
{
    rad__watched_release(m);
    int code = rad__op_cond_wait(c, m, until);
    rad__watched_acquire(m);
    return code;
}

/* What was initialised is for who comes later: the point came before it. */
static int run_once(rad_once *once, rad_fn fn, void *arg, rad_time until)
{
    int code = rad__op_once_run(once, fn, arg, until);
    rad__watched_release(once);
    return code;
}

static int fd_wait_checked(int fd, unsigned interest, rad_time until)
{
    rad__file_check(fd, "rad_fd_wait");
    return rad__op_fd_wait(fd, interest, until);
}

#define rad__op_cond_wait     cond_wait
#define rad__op_once_run      run_once
#define rad__op_now           look_now
#define rad__op_after         look_after
#define rad__op_send          send_once
#define rad__op_send_many     send_several
#define rad__op_recv_many     recv_in_parts
#define rad__op_yield         yield_once
#define rad__op_select        rad__select_chosen
#define rad__op_chan_create   create_chan
#define rad__op_pool_create   create_pool
#define rad__op_timer_create  create_timer
#define rad__op_nursery_open  open_nursery
#define rad__op_fd_close      rad__close_checked
#define rad__op_ticker_wait   rad__tick_checked
#define rad__op_chan_destroy  destroy_chan
#define rad__op_pool_destroy  destroy_pool
#define rad__op_timer_destroy destroy_timer
#define rad__op_read          read_checked
#define rad__op_write         write_checked
#define rad__op_accept        accept_checked
#define rad__op_connect       connect_checked
#define rad__op_fd_wait       fd_wait_checked

/* Of calls that have no parameter of this name. */
static const rad_time until = RAD_FOREVER;
#pragma GCC diagnostic ignored "-Wshadow"

static inline void call_begins(const void *caller, rad_time its_until)
{
    if (!rad__stage.running) return;
    rad__stage.current->caller = caller;
    rad__stage.current->until = its_until;
}

typedef struct call {
    uint32_t site;
    const void *about;
} call;

static inline void call_ends(const call *c)
{
    if (rad__monitor != NULL && rad__stage.running) rad__watched_done(c->site, c->about);
    rad__point_after(c->site, c->about);
}

/* Calls of ours, from talk.c, come from calls of the program: frames.c looks for them. */
#define OP_DEFINE(answer, name, parameters, arguments, object)                                                         \
    answer rad_##name parameters                                                                                       \
    {                                                                                                                  \
        call_begins(__builtin_return_address(0), until);                                                               \
        if (!is_point(RAD_AT_##name)) return rad__op_##name arguments;                                                 \
        __attribute__((cleanup(call_ends))) const call made = {RAD_AT_##name, object};                                 \
        rad__point(made.site, made.about);                                                                             \
        return rad__op_##name arguments;                                                                               \
    }
RAD_MORE_OPS(OP_DEFINE)
RAD_LATER_OPS(OP_DEFINE)
RAD_OPS(OP_DEFINE)
