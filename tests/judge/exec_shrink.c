#include "exec_shrink.h"

#include <string.h>

static bool shrink_once(exec_case *c, exec_is_bad is_bad, void *context)
{
    exec_case smaller;
    for (uint32_t n = 0; exec_case_cut(c, n, &smaller); n++) {
        if (memcmp(&smaller, c, sizeof smaller) == 0 || !is_bad(&smaller, context)) continue;
        *c = smaller;
        return true;
    }
    return false;
}

void exec_shrink(exec_case *c, exec_is_bad is_bad, void *context)
{
    while (shrink_once(c, is_bad, context)) {
    }
}
