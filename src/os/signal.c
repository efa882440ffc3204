/* signal.c — see signal.h. */
#include "os/signal.h"

#include "base/error.h"
#include "os/fault.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

static volatile int signal_seen;

static void signal_note(int number)
{
    signal_seen = number;
}

static int signal_set(int number, void (*handler)(int), int flags, rad_error *error)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = flags;
    sigemptyset(&action.sa_mask);
    if (rad__os_fails(EINVAL) || sigaction(number, &action, NULL) != 0) {
        return rad__error(error, RAD_EIO, "cannot handle signal %d: %s", number, strerror(errno));
    }
    return 0;
}

int rad__os_catch_interrupts(rad_error *error)
{
    int flags = (int)SA_RESETHAND; /* no SA_RESTART: a poll under way returns */
    int code = signal_set(SIGINT, signal_note, flags, error);
    if (code == 0) {
        code = signal_set(SIGTERM, signal_note, flags, error);
    }
    if (code == 0) {
        code = signal_set(SIGPIPE, SIG_IGN, 0, error);
    }
    return code;
}

volatile int *rad__os_interrupted(void)
{
    return &signal_seen;
}
