#include "base/list.h"
#include "os/clock.h"
#include "lab/explore.h" /* expect: include */
