#include "rt/chan.h"

#include "base/alloc.h"
#include "rt/ops.h"
#include "rt/wait_one.h"

#include <string.h>

enum { SIZE_MOST = INT32_MAX };

int rad__op_chan_create(rad_chan **chan, size_t size, size_t capacity, enum rad_chan_mode mode)
{
    *chan = NULL;
    if (size > SIZE_MOST || capacity > SIZE_MOST) return RAD_EINPUT;
    if ((uint32_t)mode > RAD_CHAN_DROPS_OLD || (mode != RAD_CHAN_BLOCKS && capacity == 0)) return RAD_EINPUT;
    rad_chan *c = rad__alloc_lines(1, sizeof *c + size * capacity);
    if (c == NULL) return RAD_ENOMEM;
    rad__waitable_open(&c->object, RAD_KIND_CHANNEL);
    c->mode = (uint8_t)mode;
    c->alive = RAD_ALIVE;
    c->size = (uint32_t)size;
    c->capacity = (uint32_t)capacity;
    *chan = c;
    return 0;
}

void rad__op_chan_destroy(rad_chan *chan)
{
    if (chan == NULL) return;
    rad__chan_check(chan, "rad_chan_destroy");
    if (chan->senders.first != NULL || chan->receivers.first != NULL)
        rad__misuse("rad_chan_destroy", "a fiber or thread waits for it");
    rad__alive_end(&chan->alive);
    rad__free(chan);
}

void rad__chan_misuse(const rad_chan *chan, const char *call)
{
    rad__misuse(call, chan == NULL ? "the channel is NULL" : "the channel was destroyed");
}

/* ---- The ring ---------------------------------------------------------------------------------------- */

static inline void copy(void *to, const void *from, uint32_t size)
{
    if (size == 8) /* one instruction instead of a call */
        memcpy(to, from, 8);
    else if (size != 0) /* a signal without content may have no address, either */
        memcpy(to, from, size);
}

static void *ring_at(rad_chan *chan, uint32_t index)
{
    uint32_t at = chan->first + index;
    if (at >= chan->capacity) at -= chan->capacity;
    return chan->ring + (size_t)at * chan->size;
}

static void ring_put(rad_chan *chan, const void *value)
{
    copy(ring_at(chan, chan->count++), value, chan->size);
}

static void ring_drop(rad_chan *chan)
{
    if (++chan->first == chan->capacity) chan->first = 0;
    chan->count--;
}

/* ---- Under the lock ---------------------------------------------------------------------------------- */

enum { WAITS = 2 }; /* it cannot be done now */

/* What the call answers; *done is a receiver that got the value, or NULL. */
static inline int send_now(rad_chan *chan, const void *value, rad_clause **done)
{
    if (RAD_UNLIKELY(chan->closed)) return RAD_ECLOSED;
    rad_clause *receiver = rad__queue_claim(&chan->receivers);
    if (receiver != NULL) {
        copy(receiver->data, value, chan->size);
        receiver->code = 0;
        *done = receiver;
        return 0;
    }
    if (chan->count < chan->capacity) {
        ring_put(chan, value);
        return 0;
    }
    if (chan->mode == RAD_CHAN_BLOCKS) return WAITS;
    if (chan->mode == RAD_CHAN_DROPS_NEW) return 1;
    ring_drop(chan);
    ring_put(chan, value);
    return 1;
}

/* *done is a sender whose value was taken, or NULL. */
static inline int recv_now(rad_chan *chan, void *value, rad_clause **done)
{
    rad_clause *sender;
    if (chan->count > 0) {
        copy(value, ring_at(chan, 0), chan->size);
        ring_drop(chan);
        sender = rad__queue_claim(&chan->senders); /* there is room for its value now */
        if (sender != NULL) ring_put(chan, sender->data);
    } else {
        sender = rad__queue_claim(&chan->senders); /* only with a capacity of 0 */
        if (sender == NULL) return chan->closed ? RAD_ECLOSED : WAITS;
        copy(value, sender->data, chan->size);
    }
    if (sender != NULL) sender->code = 0;
    *done = sender;
    return 0;
}

bool rad__send_attempt(rad_clause *c, rad_wakes *wakes)
{
    rad_clause *done = NULL;
    c->code = send_now((rad_chan *)c->object, c->data, &done);
    if (done != NULL) rad__wakes_add(wakes, done);
    return c->code != WAITS;
}

bool rad__recv_attempt(rad_clause *c, rad_wakes *wakes)
{
    rad_clause *done = NULL;
    c->code = recv_now((rad_chan *)c->object, c->data, &done);
    if (done != NULL) rad__wakes_add(wakes, done);
    return c->code != WAITS;
}

bool rad__op_chan_close(rad_chan *chan, int code)
{
    rad__chan_check(chan, "rad_chan_close");
    rad_wakes wakes = {0};
    rad__lock(&chan->object.lock);
    bool first = !chan->closed;
    if (first) {
        chan->closed = true;
        chan->code = code;
        rad__queue_claim_all(&chan->senders, RAD_ECLOSED, &wakes);
        rad__queue_claim_all(&chan->receivers, RAD_ECLOSED, &wakes);
    }
    rad__unlock(&chan->object.lock);
    rad__wakes_go(&wakes);
    return first;
}

int rad__op_chan_code(rad_chan *chan)
{
    rad__chan_check(chan, "rad_chan_code");
    rad__lock(&chan->object.lock);
    int code = chan->closed ? chan->code : 0;
    rad__unlock(&chan->object.lock);
    return code;
}

size_t rad__op_chan_count(rad_chan *chan)
{
    rad__chan_check(chan, "rad_chan_count");
    rad__lock(&chan->object.lock);
    size_t count = chan->count;
    rad__unlock(&chan->object.lock);
    return count;
}

/* ---- Calls ------------------------------------------------------------------------------------------- */

/* With the lock. Apart from the calls, and they end with it: what they have on their stacks is not needed any more,
 * and there is one return less behind a switch (strand.h). */
static __attribute__((noinline)) int send_waits(rad_chan *chan, const void *value, rad_strand *self, uint64_t until)
{
    rad_clause c;
    rad__send_clause(&c, chan, value);
    int code = rad__wait_locked(&c, self, until);
    return code < 0 ? code : c.code;
}

static __attribute__((noinline)) int recv_waits(rad_chan *chan, void *value, rad_strand *self, uint64_t until)
{
    rad_clause c;
    rad__recv_clause(&c, chan, value);
    int code = rad__wait_locked(&c, self, until);
    return code < 0 ? code : c.code;
}

int rad__op_send(rad_chan *chan, const void *value, rad_time until)
{
    rad__chan_check(chan, "rad_send");
    rad_clause *receiver = NULL;
    rad_rt_worker *rt_worker = rad__rt_worker();
    rad_strand *self = rt_worker != NULL ? rt_worker->running : NULL;
    if (self != NULL && until != 0 && RAD_UNLIKELY(rad__fiber_is_canceled(self))) return RAD_ECANCELED;
    rad__lock(&chan->object.lock);
    int code = send_now(chan, value, &receiver);
    if (code == WAITS && until != 0) return send_waits(chan, value, self, until);
    rad__unlock(&chan->object.lock);
    if (receiver != NULL) rad__clause_notify(rt_worker, receiver);
    return code == WAITS ? RAD_ETIMEOUT : code;
}

int rad__op_recv(rad_chan *chan, void *value, rad_time until)
{
    rad__chan_check(chan, "rad_recv");
    rad_clause *sender = NULL;
    rad_rt_worker *rt_worker = rad__rt_worker();
    rad_strand *self = rt_worker != NULL ? rt_worker->running : NULL;
    if (self != NULL && until != 0 && RAD_UNLIKELY(rad__fiber_is_canceled(self))) return RAD_ECANCELED;
    rad__lock(&chan->object.lock);
    int code = recv_now(chan, value, &sender);
    if (code == WAITS && until != 0) return recv_waits(chan, value, self, until);
    rad__unlock(&chan->object.lock);
    if (sender != NULL) rad__clause_notify(rt_worker, sender);
    return code == WAITS ? RAD_ETIMEOUT : code;
}

/* The first one was done; as many more as can be done without waiting. How many in all. */
static int as_many(rad_clause *c, uint32_t count, uint32_t size)
{
    rad_wakes wakes = {0};
    uint32_t done = 1;
    rad__lock(&c->object->lock);
    for (; done < count; done++) {
        c->data = (char *)c->data + size;
        if (!c->attempt(c, &wakes) || c->code < 0) break;
    }
    rad__unlock(&c->object->lock);
    rad__wakes_go(&wakes);
    return (int)done;
}

static int wait_for_many(rad_clause *c, uint32_t count, uint32_t size, uint64_t until)
{
    if (count == 0 || count > SIZE_MOST) return RAD_EINPUT;
    int code = rad__wait(c, 1, until);
    if (code == 0) code = c->code;
    return code < 0 ? code : as_many(c, count, size);
}

int rad__op_send_many(rad_chan *chan, const void *values, uint32_t count, rad_time until)
{
    rad__chan_check(chan, "rad_send_many");
    rad_clause c;
    rad__send_clause(&c, chan, values);
    return wait_for_many(&c, count, chan->size, until);
}

int rad__op_recv_many(rad_chan *chan, void *values, uint32_t count, rad_time until)
{
    rad__chan_check(chan, "rad_recv_many");
    rad_clause c;
    rad__recv_clause(&c, chan, values);
    return wait_for_many(&c, count, chan->size, until);
}
