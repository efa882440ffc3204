/* valid.h — do the structures of rt say what their headers claim? For the lab, between two steps: nobody holds a lock,
 * and nobody changes anything meanwhile. Each answers NULL, or which claim does not hold.
 *
 * Production does not call these: what it can check at once it asserts where it changes it (state_word.h). */
#ifndef RAD_RT_VALID_H
#define RAD_RT_VALID_H

#include "rt/nursery.h"
#include "rt/timer.h"

/* O1, O2 as far as a queue can show them: links that agree, clauses that lie in it, waiters that were not notified. */
RAD_INTERNAL const char *rad__queue_wrong(const rad_queue *q);

/* W1 … W3. */
RAD_INTERNAL const char *rad__wheel_wrong(const rad_wheel *w);

/* M1, the list of its children, and that of the nurseries below it. */
RAD_INTERNAL const char *rad__nursery_wrong(const rad__nursery *n);

/* All fibers of a runtime, with the queues and nurseries that can be reached from them, and all wheels. */
RAD_INTERNAL const char *rad__runtime_wrong(const rad_runtime *rt);

#endif
