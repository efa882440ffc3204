/* pool.h — for select: taking from a pool as a clause. */
#ifndef RAD_RT_POOL_H
#define RAD_RT_POOL_H

#include <raddle/chan.h>

#include "rt/wait.h"

/* What is taken goes to *place. When the clause was done, rad__take_ends comes next. `call` is what the program has
 * called. */
RAD_INTERNAL void rad__take_clause(rad_clause *c, rad_pool *s, void **place, const char *call);

/* The code of the clause, or of the wait, becomes that of the call: makes the item if need be, without any lock. */
RAD_INTERNAL RAD_MUST_USE int rad__take_ends(rad_pool *s, int code, void **place);

#endif
