/* task.h — what the executor schedules: an intrusive piece of work. A fiber will be one whose `run` is a
 * context switch.
 *
 *     queued --pop--> current of a worker --run--> DONE, FAILED   finished: it belongs to whoever made it
 *                                                  AGAIN          stays current: run is called once more
 *                                                  YIELD…         queued behind all the work of the worker
 *                                                  BLOCKED        in no queue, until somebody wakes it
 *
 * T1  a task is in at most one queue, or current of one worker, or blocked: never in two places.
 * T2  while it is queued, `next` and the task belong to the queue; once popped, to the worker.
 * T3  a task that yields is queued after its run has returned, by the worker: nobody else can run it before. */
#ifndef RAD_EXEC_TASK_H
#define RAD_EXEC_TASK_H

#include <stdatomic.h>

#include "base/check.h"

typedef struct rad_task rad_task;
typedef struct rad_worker rad_worker;

enum rad_run {
    RAD_RUN_DONE = 0,
    RAD_RUN_FAILED, /* the first one is what join reports */
    RAD_RUN_AGAIN,
    RAD_RUN_YIELD,        /* to this worker's own queue */
    RAD_RUN_YIELD_GLOBAL, /* to the queue everybody shares */
    RAD_RUN_BLOCKED       /* may be running elsewhere by now: the worker does not touch it again */
};

struct rad_task {
    _Atomic(rad_task *) next; /* of the queue that holds it */
    enum rad_run (*run)(rad_task *task, rad_worker *worker);
};

#endif
