#include "raddle/thing.h"
#include "cli/options.h"
#include "command/options.h"
#include "base/list.h"
#include "core/kernel.h" /* expect: include */
#include "view/lanes.h" /* expect: include */
