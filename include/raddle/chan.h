/* raddle/chan.h — channels, and waiting for several things at once.
 *
 * A channel carries values of one size from those who send to those who receive, first in, first out. With a capacity
 * of 0 a send and a receive meet: neither ends before the other is there. All calls are for anybody: fibers park,
 * threads sleep.
 *
 * Close      afterwards nothing is taken any more: a send answers RAD_ECLOSED, also one that waits. What was taken is
 *            received first; then a receive answers RAD_ECLOSED, and rad_chan_code says with which code it was
 *            closed. */
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
    RAD_CHAN_DROPS_NEW,  /* it is thrown away */
    RAD_CHAN_DROPS_OLD   /* the oldest in it is */
};

/* Values of `size` bytes (0: signals without content), `capacity` of them. RAD_EINPUT: modes that drop need room for
 * one, and no size or capacity is beyond 2^31. RAD_ENOMEM. */
RAD_API RAD_MUST_USE int rad_chan_create(rad_chan **chan, size_t size, size_t capacity,
                                         enum rad_chan_mode mode);

/* Nobody may be inside a call on it, nor come. What is still in it is thrown away. NULL is fine. */
RAD_API void rad_chan_destroy(rad_chan *chan);

/* 0: it was taken; 1: taken or not, something was thrown away. RAD_ECLOSED. */
RAD_API int rad_send(rad_chan *chan, const void *value, rad_time until);

/* 0: *value is the next one. RAD_ECLOSED: there will be none. */
RAD_API int rad_recv(rad_chan *chan, void *value, rad_time until);

/* Several in one go: waits for the first, and then takes as many as can be had without waiting. How many, 1 … count;
 * or as above. */
RAD_API int rad_send_many(rad_chan *chan, const void *values, uint32_t count, rad_time until);
RAD_API int rad_recv_many(rad_chan *chan, void *values, uint32_t count, rad_time until);

/* Any number of times; the first one counts. True: this was it. */
RAD_API bool rad_chan_close(rad_chan *chan, int code);

/* The code it was closed with; 0 while it is open. */
RAD_API int rad_chan_code(rad_chan *chan);

/* What lies in it right now. */
RAD_API size_t rad_chan_count(rad_chan *chan);

/* ---- Select ----------------------------------------------------------------------------------------- */

enum rad_select_kind {
    RAD_ON_SEND = 0,
    RAD_ON_RECV,
    RAD_ON_JOIN,
    RAD_ON_TIME, /* the time has come */
    RAD_ON_CANCEL, /* the fiber was cancelled: instead of the answer RAD_ECANCELED. Never, for a thread */
    RAD_ON_LOCK,    /* a mutex, which the caller then holds */
    RAD_ON_ACQUIRE, /* one permit of a semaphore */
    RAD_ON_GROUP    /* a wait group whose count is 0 */
};

typedef struct rad_select_case {
    enum rad_select_kind kind;
    union {
        rad_chan *chan;           /* SEND, RECV */
        rad_fiber fiber;          /* JOIN */
        rad_time time;            /* TIME */
        rad_mutex *mutex;         /* LOCK */
        rad_semaphore *semaphore; /* ACQUIRE */
        rad_waitgroup *group;     /* GROUP */
    } on;
    void *value; /* what is sent; where it is received; rad_gift of JOIN, or NULL */
    int code;    /* afterwards, of the case that was done: what the call would have answered */
} rad_select_case;

enum { RAD_SELECT_MAX = 64 };

/* Does exactly one of the cases, and answers its index; the others have had no effect. When several can be done, any
 * of them may be. Waits until one can, not longer than `until`: 0 is a select with a default. A case whose channel
 * is closed can be done: its code says so. With a case for it, who was cancelled gets that one. RAD_ETIMEOUT,
 * RAD_ECANCELED, RAD_EINPUT (too many cases, or none), RAD_ESTALE. */
RAD_API int rad_select(rad_select_case *cases, uint32_t count, rad_time until);

#ifdef __cplusplus
}
#endif

#endif
