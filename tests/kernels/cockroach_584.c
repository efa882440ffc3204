/* cockroach#584, double locking.
 * Each loop of the gossip server locks, looks whether the server is closed, and unlocks. When it is closed, the loop
 * breaks while it holds the lock; the next loop of the same fiber locks again.
 * Goes wrong: the fiber waits for itself, if the server is closed before the first loop has ended. */
#include "kernel.h"

static rad_mutex lock = RAD_MUTEX_INIT;
static bool closed;

static void loop(int rounds)
{
    for (int i = 0; i < rounds; i++) {
        rad_mutex_lock(&lock);
        if (closed) {
            if (fixed) rad_mutex_unlock(&lock);
            break;
        }
        rad_mutex_unlock(&lock);
        rad_yield();
    }
}

static int gossips(void *unused)
{
    (void)unused;
    loop(2); /* bootstrap: until connected */
    loop(2); /* manage: until shut down */
    return 0;
}

static int closes(void *unused)
{
    (void)unused;
    rad_mutex_lock(&lock);
    closed = true;
    rad_mutex_unlock(&lock);
    return 0;
}

static int start(void *unused)
{
    (void)unused;
    GO(gossips, NULL);
    GO(closes, NULL);
    return 0;
}
