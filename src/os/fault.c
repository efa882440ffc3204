/* fault.c — the countdown behind rad__os_fail_at. */
#include "os/fault.h"

#include <errno.h>

static uint64_t fault_at; /* counts down; 1 = this call and all later ones */

void rad__os_fail_at(uint64_t n)
{
    fault_at = n;
}

bool rad__os_fails(int number)
{
    if (RAD_LIKELY(fault_at == 0)) {
        return false;
    }
    if (fault_at > 1) {
        fault_at--;
        return false;
    }
    errno = number;
    return true;
}
