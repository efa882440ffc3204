/* moby#30408, a condition that does not become true.
 * Callers of a plugin wait until it has a manifest. A failed activation wakes them, but there is no manifest, so they
 * wait again.
 * Goes wrong: a caller waits forever, always. */
#include "kernel.h"

static rad_mutex lock = RAD_MUTEX_INIT;
static rad_cond activated = RAD_COND_INIT;
static const char *manifest;
static int activation_error;

static int activates(void *unused)
{
    (void)unused;
    rad_mutex_lock(&lock);
    activation_error = RAD_EIO;
    rad_cond_broadcast(&activated);
    rad_mutex_unlock(&lock);
    return 0;
}

static int uses(void *unused)
{
    (void)unused;
    rad_mutex_lock(&lock);
    while (!manifest && !(fixed && activation_error != 0)) RAD_IGNORE(rad_cond_wait(&activated, &lock, RAD_FOREVER));
    rad_mutex_unlock(&lock);
    return 0;
}

static int start(void *unused)
{
    (void)unused;
    GO(uses, NULL);
    GO(activates, NULL);
    return 0;
}
