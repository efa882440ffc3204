/* chan.h — channels: a ring of values, and two queues of those who wait.
 *
 * H1  receivers wait only while the ring is empty and no sender waits; senders only while it is full and no receiver
 *     waits. (With a capacity of 0 it is always both.)
 * H2  when it is closed no fiber waits.
 * A call that changes the ring or closes the channel does, under the lock, what has become possible: O2 of wait.h. */
#ifndef RAD_RT_CHAN_H
#define RAD_RT_CHAN_H

#include <raddle/chan.h>

#include "rt/wait.h"

struct rad_chan {
    rad_waitable object;
    _Atomic(const char *) name;
    bool closed;
    uint8_t mode;
    rad_alive alive;
    int code;
    uint32_t size, capacity; /* of a value; in values */
    uint32_t first, count;   /* in the ring */
    rad_queue senders, receivers;
    _Alignas(16) unsigned char ring[];
};

RAD_NAMED(struct rad_chan);

RAD_INTERNAL _Noreturn void rad__chan_misuse(const rad_chan *chan, const char *call);

/* Stops the process, with the name of the call, if there is no channel. */
RAD_INLINE void rad__chan_check(const rad_chan *chan, const char *call)
{
    if (RAD_UNLIKELY(chan == NULL || chan->alive != RAD_ALIVE)) rad__chan_misuse(chan, call);
}

RAD_INTERNAL bool rad__send_attempt(rad_clause *c, rad_wakes *wakes);
RAD_INTERNAL bool rad__recv_attempt(rad_clause *c, rad_wakes *wakes);

RAD_INLINE void rad__send_clause(rad_clause *c, rad_chan *chan, const void *value)
{
    rad__clause_open(c, &chan->object, &chan->senders, rad__send_attempt, (void *)value);
}

RAD_INLINE void rad__recv_clause(rad_clause *c, rad_chan *chan, void *value)
{
    rad__clause_open(c, &chan->object, &chan->receivers, rad__recv_attempt, value);
}

#endif
