#include "raddle/thing.h"
#include "command/options.h"
#include "cli/exec.h" /* expect: include */
#include "lab/workers.h" /* expect: include */
