/* kubernetes#5316, a result that comes after the timeout.
 * A request runs in a fiber of its own, which sends its result or its error. The handler takes one of them, or gives up
 * after a timeout.
 * Goes wrong: after the timeout the fiber waits forever, since no fiber takes its result. */
#include "kernel.h"

enum { MILLISECOND = 1000000 };

static rad_chan *results, *errors;

static int requests(void *unused)
{
    (void)unused;
    int value = 42;
    bool failed = rad_sleep(2 * MILLISECOND) != 0;
    RAD_IGNORE(rad_send(failed ? errors : results, &value, RAD_FOREVER));
    return 0;
}

static int start(void *unused)
{
    (void)unused;
    int value = 42;
    results = channel(sizeof(int), fixed ? 1 : 0);
    errors = channel(sizeof(int), fixed ? 1 : 0);
    GO(requests, NULL);
    rad_select_case cases[2] = {{.kind = RAD_ON_RECV, .on.chan = results, .value = &value},
                                {.kind = RAD_ON_RECV, .on.chan = errors, .value = &value}};
    int which = rad_select(cases, 2, rad_after(2 * MILLISECOND));
    CHECK(which == RAD_ETIMEOUT || (which == 0 && value == 42));
    return 0;
}
