#include "os/clock.h"
#include "session/machine/vm.h"
#include "lab/explore.h" /* expect: include */
