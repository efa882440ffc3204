/* moby#7559, double locking.
 * The UDP proxy looks up the connection of a packet under its table's lock. When the backend cannot be dialled it
 * continues with the next packet, and does not unlock.
 * Goes wrong: the proxy waits for itself at the next packet, if the backend goes away before the last one. */
#include "kernel.h"

enum { PACKETS = 3 };

static rad_mutex table = RAD_MUTEX_INIT, backend = RAD_MUTEX_INIT;
static bool backend_up = true;

static bool dial(void)
{
    rad_mutex_lock(&backend);
    bool up = backend_up;
    rad_mutex_unlock(&backend);
    return up;
}

static int proxies(void *unused)
{
    (void)unused;
    int sent = 0;
    for (int i = 0; i < PACKETS; i++) {
        rad_mutex_lock(&table);
        if (!dial()) {
            if (fixed) rad_mutex_unlock(&table);
            continue;
        }
        rad_mutex_unlock(&table);
        sent++;
    }
    CHECK(sent <= PACKETS);
    return 0;
}

static int stops_backend(void *unused)
{
    (void)unused;
    rad_mutex_lock(&backend);
    backend_up = false;
    rad_mutex_unlock(&backend);
    return 0;
}

static int start(void *unused)
{
    (void)unused;
    GO(proxies, NULL);
    GO(stops_backend, NULL);
    return 0;
}
