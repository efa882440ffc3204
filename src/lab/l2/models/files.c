/* files.c — no model: there are no file descriptors in models, and nobody polls. */
#include "rt/ready.h"

int rad__file_clause(rad_clause *c, int fd, unsigned interest, bool now)
{
    (void)c, (void)fd, (void)interest, (void)now;
    return RAD_EINPUT;
}

void rad__file_waits(bool begins)
{
    (void)begins;
}

void rad__poller_glance(rad_core *core)
{
    (void)core;
}
