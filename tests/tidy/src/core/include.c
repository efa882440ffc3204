#include "base/list.h"
#include "core/trace.h"
#include <raddle/thing.h>
  #  include "os/clock.h" /* expect: include */
#include <lab/explore.h> /* expect: include */
#include "unknown/file.h" /* expect: include */
