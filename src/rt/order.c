/* order.c — fibers in channels: tasks whose results are received in the order in which they were sent, and sends that
 * are fibers. */
#include "base/alloc.h"
#include "rt/chan.h"
#include "rt/fiber.h"
#include "rt/ops.h"

#include <string.h>

/* ---- Tasks in order ---------------------------------------------------------------------------------- */

/* A channel that throws handles away would lose fibers. */
static bool takes_fibers(const rad_chan *chan)
{
    return chan->size == sizeof(rad_fiber) && chan->mode == RAD_CHAN_BLOCKS;
}

/* Until it has ended, whatever happens; then the handle is given up. */
static void join_always(rad_fiber f, rad_fiber_result *result)
{
    rad_strand *self = rad__running();
    int code = rad__op_join(f, result, RAD_FOREVER);
    if (code == RAD_ECANCELED) {
        rad__op_cancel(f);
        rad__slot_of(self)->shields++;
        code = rad__op_join(f, result, RAD_FOREVER);
        rad__slot_of(self)->shields--;
    }
    RAD_ASSERT(code == 0);
    rad__op_release(f);
}

int rad__op_chan_send_spawn(rad_chan *chan, rad_fn fn, void *arg, rad_time until)
{
    rad_fiber f;
    rad__chan_check(chan, "rad_chan_send_spawn");
    if (!takes_fibers(chan)) return RAD_EINPUT;
    int code = rad__spawn("rad_chan_send_spawn", NULL, &f, fn, arg);
    if (code != 0) return code;
    code = rad__op_send(chan, &f, until);
    if (code != 0) join_always(f, NULL);
    return code;
}

int rad__op_chan_recv_join(rad_chan *chan, rad_fiber_result *result, rad_time until)
{
    rad_fiber f;
    rad__chan_check(chan, "rad_chan_recv_join");
    if (!takes_fibers(chan)) return RAD_EINPUT;
    int code = rad__op_recv(chan, &f, until);
    if (code == 0) join_always(f, result);
    return code;
}

/* ---- Sends ------------------------------------------------------------------------------------------- */

typedef struct sending {
    rad_chan *chan;
    rad_time until;
    _Alignas(16) unsigned char value[];
} sending;

static int send_it(void *arg)
{
    sending *s = arg;
    int code = rad__op_send(s->chan, s->value, s->until);
    rad__free(s);
    return code;
}

int rad__op_send_spawn(rad_fiber *fiber, rad_chan *chan, const void *value, rad_time until)
{
    rad__chan_check(chan, "rad_send_spawn");
    sending *s = rad__alloc(1, sizeof *s + chan->size);
    if (s == NULL) return RAD_ENOMEM;
    s->chan = chan;
    s->until = until;
    if (chan->size != 0) memcpy(s->value, value, chan->size);
    int code = rad__spawn("rad_send_spawn", NULL, fiber, send_it, s);
    if (code != 0) rad__free(s);
    return code;
}
