#include "base/list.h"
#include "os/page.h"
#include "exec/task.h" /* expect: include */
#include "raddle_build.h" /* a second user; expect: include */
