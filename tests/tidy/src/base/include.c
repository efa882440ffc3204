/* base includes nobody. */
#include "raddle/thing.h"
#include "base/list.h"
#include "list.h"
#include <sys/mman.h>
#include "os/clock.h" /* expect: include */
#include "core/kernel.h" /* expect: include */
#include "../core/kernel.h" /* expect: include */
#include "raddle_build.h"
// #include "lab/explore.h"
static const char text[] = "#include \"lab/explore.h\"";
