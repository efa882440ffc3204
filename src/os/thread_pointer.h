/* thread_pointer.h — several sets of thread-local variables in one thread.
 *
 * Thread-local variables live at fixed distances from the thread pointer (FS base on x86-64, tpidr_el0 on
 * aarch64). A coroutine that is to have its own set borrows the pointer of a *donor*: a real thread that
 * sleeps and blocks all signals, so that nobody else uses what lies there. While it is borrowed, everything that
 * is thread-local belongs to the borrower: errno, the allocator's caches, our own variables.
 *
 * Donors do not survive a fork: the child starts with none and makes its own when it asks for one.
 *
 *     open -> donor(i), …  -> close        counted: donors end when the last user has closed */
#ifndef RAD_OS_THREAD_POINTER_H
#define RAD_OS_THREAD_POINTER_H

#include "base/check.h"

enum { RAD_DONORS_MAX = 64 };

/* False where the pointer cannot be set: then everybody shares one set of thread-local variables. Also with
 * -DRAD_THREAD_POINTER_FIXED, so that it can be tried anywhere. It has nothing to do with how contexts are switched. */
RAD_INTERNAL bool rad__thread_pointer_works(void);

RAD_INTERNAL void *rad__thread_pointer_get(void);
RAD_INTERNAL void rad__thread_pointer_set(void *pointer);

RAD_INTERNAL void rad__donors_open(void);
RAD_INTERNAL void rad__donors_close(void);

/* The thread pointer of donor `index`, which is made when there is none yet in this process. NULL: no. */
RAD_INTERNAL void *rad__donor(uint32_t index, rad_error *error);

/* Grows when the process is a child of the one before: pointers of donors are to be asked for again. */
RAD_INTERNAL uint32_t rad__donors_generation(void);

/* Where the thread-local variables of the object file that contains this code (program or shared library) lie in the
 * set at `pointer`; `mine` is the caller's own pointer. NULL: there are none, or they cannot be told from others'. */
RAD_INTERNAL void *rad__thread_locals(void *pointer, void *mine, size_t *size);

/* Gives them their initial values. */
RAD_INTERNAL void rad__thread_locals_reset(void *pointer, void *mine);

#endif
