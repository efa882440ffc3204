/* none.c — a build without L2 (meson said why): there are no such machines. */
#include "lab/l2/machine.h"

const rad_machine *rad__l2_machine(uint32_t index)
{
    (void)index;
    return NULL;
}

uint32_t rad__l2_bug_site(const struct rad_model *m)
{
    (void)m;
    return RAD_NONE;
}
