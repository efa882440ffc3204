/* task.h — what the executor schedules: an intrusive piece of work, struct rad_task of raddle.h. A fiber is
 * one whose `run` is a context switch.
 *
 *     queued --pop--> current of a worker --run--> DONE, FAILED   finished: it belongs to its creator
 *                                                  AGAIN          stays current: run is called once more
 *                                                  YIELD…         queued behind all the work of the worker
 *                                                  BLOCKED        in no queue, until it is woken
 *
 * T1  a task is in at most one queue, or current of one worker, or blocked: never in two places.
 * T2  while it is queued, `next` and the task belong to the queue; once popped, to the worker.
 * T3  a task that yields is queued after its run has returned, by the worker: nobody else can run it before. */
#ifndef RAD_EXEC_TASK_H
#define RAD_EXEC_TASK_H

#include <stdatomic.h>

#include <raddle.h>

#include "base/check.h"

#endif
