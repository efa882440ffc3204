#include "base/list.h"
#include "core/trace.h"
#include "raddle/thing.h"
#include "lab/explore.h" /* expect: include */
