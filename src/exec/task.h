/* task.h — what the executor schedules: an intrusive piece of work. A fiber will be one whose `run` is a
 * context switch.
 *
 * A task is in at most one queue. While it is queued, `next` and the task itself belong to the queue; once
 * popped they belong to whoever popped it. */
#ifndef RAD_EXEC_TASK_H
#define RAD_EXEC_TASK_H

#include <stdatomic.h>

#include "base/check.h"

typedef struct rad_task rad_task;

struct rad_task {
    _Atomic(rad_task *) next; /* of the queue that holds it */
    void (*run)(rad_task *task, void *worker);
};

#endif
