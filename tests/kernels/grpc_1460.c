/* grpc-go#1460, waiting for a signal with a lock held that the sender needs.
 * While there are no streams the keepalive fiber waits to be awakened, and holds the transport's lock. Opening a stream
 * takes the lock before it awakens the fiber.
 * Goes wrong: the two wait for each other, if the keepalive comes before the stream. */
#include "kernel.h"

static rad_mutex transport = RAD_MUTEX_INIT;
static int streams, pings;
static rad_chan *awaken;

static int keeps_alive(void *unused)
{
    (void)unused;
    rad_mutex_lock(&transport);
    bool idle = streams == 0;
    if (fixed) rad_mutex_unlock(&transport);
    if (idle) RECV(awaken);
    if (fixed) rad_mutex_lock(&transport);
    CHECK(streams == 1);
    pings++;
    rad_mutex_unlock(&transport);
    return 0;
}

static int opens_stream(void *unused)
{
    (void)unused;
    rad_mutex_lock(&transport);
    if (++streams == 1) RAD_IGNORE(rad_send(awaken, NULL, 0)); /* it has room for one */
    rad_mutex_unlock(&transport);
    return 0;
}

static int start(void *unused)
{
    (void)unused;
    awaken = signals(1);
    GO(keeps_alive, NULL);
    GO(opens_stream, NULL);
    return 0;
}
