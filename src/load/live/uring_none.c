/* uring_none.c — this build has no liburing: the transport that never starts. */
#include "base/error.h"
#include "load/live/parts.h"

static int none_start(live *l, rad_error *error)
{
    (void)l;
    return rad__error(error, RAD_EIO, "this raddle was built without liburing");
}

const struct live_transport rad__live_uring = {.name = "io_uring", .start = none_start};
