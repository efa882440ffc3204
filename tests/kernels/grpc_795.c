/* grpc-go#795, a lock that is never released.
 * GracefulStop returns early if the server is stopping already, and does not unlock on that path. So the second call
 * leaves the server locked.
 * Goes wrong: whatever the server does next waits forever, after any two calls. */
#include "kernel.h"

static rad_mutex server = RAD_MUTEX_INIT;
static rad_chan *stopped;
static bool draining;
static int listeners = 1;

static int stops_gracefully(void *unused)
{
    (void)unused;
    rad_mutex_lock(&server);
    if (draining) {
        if (fixed) rad_mutex_unlock(&server);
        RECV(stopped); /* its caller waits until the server has stopped */
        return 0;
    }
    draining = true;
    rad_mutex_unlock(&server);
    return 0;
}

static int start(void *unused)
{
    rad_fiber first, second;
    (void)unused;
    stopped = signals(0);
    CHECK(rad_spawn(&first, stops_gracefully, NULL) == 0);
    CHECK(rad_spawn(&second, stops_gracefully, NULL) == 0);
    rad_mutex_lock(&server); /* Stop */
    listeners = 0;
    rad_mutex_unlock(&server);
    rad_chan_close(stopped, 0);
    int code = rad_join(first, NULL, RAD_FOREVER);
    rad_release(first);
    rad_release(second);
    return code;
}
