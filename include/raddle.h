/* raddle.h — everything a program needs.
 *
 *     raddle/fiber.h    fibers: run, spawn, join, nurseries, cancellation, sleep
 *     raddle/chan.h     channels and select
 *     raddle/sync.h     mutex, RW lock, condition, semaphore, wait group, once, barrier
 *     raddle/io.h       files and sockets: waiting until they are ready; calls that block
 *     raddle/talk.h     sessions of a protocol, for headers that `raddle session project --c` has written
 *     raddle/exec.h     the executor underneath: tasks without stacks
 *
 * Link with -lraddle (pkg-config raddle). The same calls are in raddle-lab. */
#ifndef RADDLE_H
#define RADDLE_H

#include <raddle/chan.h>
#include <raddle/exec.h>
#include <raddle/fiber.h>
#include <raddle/io.h>
#include <raddle/sync.h>
#include <raddle/talk.h>

#endif
