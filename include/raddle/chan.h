/* raddle/chan.h — channels, and waiting for several things at once.
 *
 * A channel carries values of one size from those who send to those who receive, first in, first out. With a capacity
 * of 0 a send and a receive meet: neither returns before the other has come. Any fiber or thread may make any call:
 * fibers park, threads sleep.
 *
 * Close      afterwards every send returns RAD_ECLOSED, also one that waits. Values that the channel has already
 *            accepted are received first; then a receive returns RAD_ECLOSED, and rad_chan_code has the code with which
 *            it was closed. */
#ifndef RADDLE_CHAN_H
#define RADDLE_CHAN_H

#include <raddle/fiber.h>
#include <raddle/sync.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rad_chan rad_chan;

/* What a full channel does with one more. */
enum rad_chan_mode {
    RAD_CHAN_BLOCKS = 0, /* the sender waits */
    RAD_CHAN_DROPS_NEW,  /* the new value is thrown away */
    RAD_CHAN_DROPS_OLD   /* the oldest value in it is thrown away */
};

/* Values of `size` bytes (0: signals without content), `capacity` of them. RAD_EINPUT: modes that drop need room for
 * one, and sizes and capacities are less than 2^31. RAD_ENOMEM. */
RAD_API RAD_MUST_USE int rad_chan_create(rad_chan **chan, size_t size, size_t capacity, enum rad_chan_mode mode);

/* No call on it may be running or be made later. Values still in it are dropped. NULL is fine. A later call on it
 * stops the process with a message only as long as its memory was not used again. */
RAD_API void rad_chan_destroy(rad_chan *chan);

/* What reports call it, beside its number; NULL: nothing. The text stays the caller's, and stays as long as the channel
 * (a literal). Any caller, at any time. */
RAD_API void rad_chan_name(rad_chan *chan, const char *name);

/* 0: it was taken, as a copy; 1: taken or not, something was thrown away. RAD_ECLOSED. A fiber that was cancelled gets
 * RAD_ECANCELED from all calls on channels, unless `until` is 0. */
RAD_API RAD_MUST_USE int rad_send(rad_chan *chan, const void *value, rad_time until);

/* 0: *value is the next one. RAD_ECLOSED: there will be none. */
RAD_API RAD_MUST_USE int rad_recv(rad_chan *chan, void *value, rad_time until);

/* Several in one go: waits for the first, and then takes as many as can be had without waiting. How many, 1 … count
 * (what was thrown away counts); or as above. Other calls may come between two values of a batch. RAD_EINPUT: a count
 * of 0, or of 2^31 and more. */
RAD_API RAD_MUST_USE int rad_send_many(rad_chan *chan, const void *values, uint32_t count, rad_time until);
RAD_API RAD_MUST_USE int rad_recv_many(rad_chan *chan, void *values, uint32_t count, rad_time until);

/* Any number of times; the first one counts. True: this was it. */
RAD_API bool rad_chan_close(rad_chan *chan, int code);

/* The code it was closed with; 0 while it is open. */
RAD_API int rad_chan_code(rad_chan *chan);

/* What lies in it right now. */
RAD_API size_t rad_chan_count(rad_chan *chan);

/* ---- Sending as a fiber of its own ----------------------------------------------------------------------- */

/* Starts a fiber that sends a copy of *value, and returns what rad_send does: joining it tells how the send ended,
 * cancelling it takes the offer back unless it was received. `fiber` as in rad_spawn. By a fiber. RAD_ENOMEM,
 * RAD_ELIMIT, RAD_ECLOSED (the runtime is). */
RAD_API RAD_MUST_USE int rad_send_spawn(rad_fiber *fiber, rad_chan *chan, const void *value, rad_time until);

/* ---- Tasks in order -------------------------------------------------------------------------------------- */

/* A channel of fibers (values of sizeof(rad_fiber), RAD_CHAN_BLOCKS): they run at the same time and end in any order,
 * but their results are received in the order in which they were sent. The capacity bounds how many run at a time.
 * Receiving the first one waits for it, even if the second has ended. Fibers in the channel belong to it: receive all
 * of them before it is destroyed. Both calls return RAD_EINPUT for any other channel. */

/* Starts fn(arg), and sends its handle. When that fails, as rad_send does, the fiber is waited for, however long it
 * takes, and given up; if the caller was cancelled, or is meanwhile, the fiber is cancelled, too. By a fiber.
 * RAD_ENOMEM, RAD_ELIMIT: nothing was started; nor when the runtime is being shut down, which is RAD_ECLOSED, too. */
RAD_API RAD_MUST_USE int rad_chan_send_spawn(rad_chan *chan, rad_fn fn, void *arg, rad_time until);

/* Receives the next one, waits until it has ended, copies what it leaves behind (`result` may be NULL; what it gave
 * begins at bytes[0]), and gives it up. `until` is for receiving: a fiber that was received is waited for. When the
 * caller is cancelled meanwhile, so is that fiber, and its result is received. Any caller. RAD_ECLOSED: there will be
 * none. */
RAD_API RAD_MUST_USE int rad_chan_recv_join(rad_chan *chan, rad_fiber_result *result, rad_time until);

/* ---- Pools ----------------------------------------------------------------------------------------------- */

/* Objects that are costly to make and used again and again (connections, buffers ...): a fiber or thread takes one and
 * gives it back; at most `capacity` exist. */
typedef struct rad_pool rad_pool;

/* Any of them may be NULL. The fiber or thread that takes, gives back or destroys calls them, with no lock held: they
 * may wait, and several may run at a time, each with another item. */
typedef struct rad_pool_calls {
    int (*on_create)(void *context, void *item); /* makes an item of memory that is all zero; 0, or an error */
    int (*on_reset)(void *context, void *item);  /* an item was given back; not 0: it cannot be used again */
    void (*on_destroy)(void *context, void *item);
    void *context;
} rad_pool_calls;

/* Of items of `size` bytes, aligned to 16; *calls is copied, and may be NULL. RAD_EINPUT (the capacity is 0),
 * RAD_ENOMEM. */
RAD_API RAD_MUST_USE int rad_pool_create(rad_pool **pool, size_t size, uint32_t capacity, const rad_pool_calls *calls);

/* Takes the item that was given back last; or else makes a new one, if the capacity allows; or else waits until one is
 * given back, first come, first served. *item is the caller's until it gives it back. Any caller. RAD_ETIMEOUT,
 * RAD_ECANCELED, RAD_ECLOSED, RAD_ENOMEM, or the error of on_create; then *item is NULL. RAD_ON_TAKE does the same in a
 * select. */
RAD_API RAD_MUST_USE int rad_pool_take(rad_pool *pool, void **item, rad_time until);

/* Any caller, once for each item that was taken, also after the pool was closed. Waits only if on_reset does. */
RAD_API void rad_pool_give(rad_pool *pool, void *item);

/* Afterwards a take returns RAD_ECLOSED, also one that waits; one that is already inside on_create still gets its item.
 * Idle items are destroyed here, items in use when they are given back. Any number of times; only the first call
 * counts, and returns true. Waits only if on_destroy does. */
RAD_API bool rad_pool_close(rad_pool *pool, int code);

/* The code it was closed with; 0 while it is open. */
RAD_API int rad_pool_code(rad_pool *pool);

/* Destroys all items, and the pool, closed or not. All items must have been given back, and no call may wait for one.
 * NULL is fine. */
RAD_API void rad_pool_destroy(rad_pool *pool);

/* As rad_chan_name. */
RAD_API void rad_pool_name(rad_pool *pool, const char *name);

/* ---- Select ----------------------------------------------------------------------------------------- */

enum rad_select_kind {
    RAD_ON_SEND = 0,
    RAD_ON_RECV,
    RAD_ON_JOIN,
    RAD_ON_TIME,    /* the time has come */
    RAD_ON_CANCEL,  /* the fiber was cancelled: instead of the result RAD_ECANCELED. Never, for a thread */
    RAD_ON_LOCK,    /* a mutex, which the caller then holds */
    RAD_ON_ACQUIRE, /* one permit of a semaphore */
    RAD_ON_GROUP,   /* a wait group whose count is 0 */
    RAD_ON_FD,      /* a file descriptor that is ready: see rad_fd_wait of raddle/io.h */
    RAD_ON_TAKE,    /* an item of a pool; code as rad_pool_take */
    RAD_ON_TICK,    /* the next tick of a ticker, which select receives */
    RAD_ON_TIMER,   /* a timer without a function has fired: see rad_timer_wait of raddle/fiber.h */
    RAD_ON_READ,    /* an RW lock, to read, which the caller then holds */
    RAD_ON_WRITE,   /* the same, to write */
    RAD_OFF         /* a case that is switched off: it is never done */
};

typedef struct rad_select_case {
    enum rad_select_kind kind;
    union {
        rad_chan *chan;           /* SEND, RECV */
        rad_fiber fiber;          /* JOIN */
        rad_time time;            /* TIME */
        rad_mutex *mutex;         /* LOCK */
        rad_rwlock *rwlock;       /* READ, WRITE */
        rad_semaphore *semaphore; /* ACQUIRE */
        rad_waitgroup *group;     /* GROUP */
        rad_pool *pool;           /* TAKE */
        rad_ticker *ticker;       /* TICK */
        rad_timer *timer;         /* TIMER */
        struct {
            int fd;
            unsigned interest;
        } file; /* FD */
    } on;
    /* What is sent, or where it is received; of TAKE a void *, for the item. Of JOIN a rad_fiber_result, of TICK a
     * uint64_t, or NULL. */
    void *value;
    int code; /* afterwards, of the case that was done: what the call would have returned */
} rad_select_case;

enum { RAD_SELECT_MAX = 64 };

/* Does exactly one of the cases, and returns its index; the others have had no effect. Of several that can be done it
 * picks one at random; each is equally likely. Waits until one can, not longer than `until`: 0 is a select with a
 * default. A case whose channel is closed can be done: its code says so. With a case for it, a fiber that was
 * cancelled gets that one; but if `until` (or the time of a RAD_ON_TIME) is 0, or if only the deadline of its nursery
 * has passed, it gets any one that can be done. RAD_ETIMEOUT, RAD_ECANCELED, RAD_EINPUT (too many cases, or none),
 * RAD_ESTALE; with a descriptor also what rad_fd_wait returns when it cannot begin. A NULL pointer in place of an
 * object is a mistake, which stops the process; to leave a case out, set its kind to RAD_OFF:
 *
 *     rad_select_case cases[2] = {
 *         {.kind = first_open ? RAD_ON_RECV : RAD_OFF, .on.chan = first, .value = &value},
 *         {.kind = second_open ? RAD_ON_RECV : RAD_OFF, .on.chan = second, .value = &value},
 *     };
 *     int which = rad_select(cases, 2, RAD_FOREVER);
 *
 * With all cases off select waits until `until`.
 *
 * A condition is not a case: waiting for it means unlocking its mutex, and locking it again at the end however long
 * that takes, so the select could neither keep its deadline nor leave the other cases untouched. To wait for a
 * condition or something else, use a channel of values of size 0 for the signal. */
RAD_API RAD_MUST_USE int rad_select(rad_select_case *cases, uint32_t count, rad_time until);

#ifdef __cplusplus
}
#endif

#endif
