/* exceptions.h — the state of C++ exceptions, which belongs to a thread, goes with a fiber.
 *
 * The C++ runtime (libstdc++, libc++abi) keeps for each thread which exceptions are being handled and how many are in
 * flight (__cxa_get_globals of the Itanium ABI). A fiber that parks inside a catch, or in a destructor during
 * unwinding, would leave its state to the next fiber of the thread, and find another one where it is resumed.
 *
 *     leave    what the thread has goes to the stack of the fiber, and the thread has nothing
 *     resume   the thread, perhaps another one, gets it back
 *
 * X1  Between a fiber that has left and the next one that is resumed the state of the thread is zero: a new fiber and
 *     the worker itself find it so.
 *
 * We do not depend on a C++ runtime: the symbol is weak, and a runtime that is loaded later is looked for when a worker
 * starts, and by rad_cxx_loaded. A program without C++ pays for a load and two branches per switch.
 *
 * Rejected: two words in each fiber, exchanged at each switch (a larger fiber, more stores; nearly all are zero). */
#ifndef RAD_OS_EXCEPTIONS_H
#define RAD_OS_EXCEPTIONS_H

#include <stdatomic.h>

#include "base/check.h"

/* As in the ABI. */
typedef struct rad_exceptions {
    void *caught;      /* a list */
    unsigned uncaught; /* how many */
} rad_exceptions;

typedef rad_exceptions *(*rad_exceptions_getter)(void);

/* Asks for the calling thread's; NULL: there is no C++ in this process. Set once. */
extern RAD_INTERNAL _Atomic(rad_exceptions_getter) rad__exceptions_getter;

/* Looks for a C++ runtime, unless one is known. Whether there is one. */
RAD_INTERNAL bool rad__exceptions_look(void);

#ifdef RAD_CONTEXT_CALL /* the lab: no C++ there */

RAD_INLINE void rad__exceptions_leave(rad_exceptions **mine, rad_exceptions *held)
{
    (void)mine;
    *held = (rad_exceptions){NULL, 0};
}

RAD_INLINE void rad__exceptions_resume(rad_exceptions **mine, const rad_exceptions *held)
{
    (void)mine;
    (void)held;
}

RAD_INLINE bool rad__exceptions_any(const rad_exceptions *held)
{
    (void)held;
    return false;
}

#else

/* `mine` is the calling thread's, once it has been asked for. */
RAD_INLINE rad_exceptions *rad__exceptions_mine(rad_exceptions **mine, rad_exceptions_getter getter)
{
    if (RAD_UNLIKELY(*mine == NULL)) *mine = getter();
    return *mine;
}

RAD_INLINE bool rad__exceptions_any(const rad_exceptions *held)
{
    return held->caught != NULL || held->uncaught != 0;
}

/* Before the fiber leaves its stack, where `held` is. */
RAD_INLINE void rad__exceptions_leave(rad_exceptions **mine, rad_exceptions *held)
{
    *held = (rad_exceptions){NULL, 0};
    rad_exceptions_getter getter = atomic_load_explicit(&rad__exceptions_getter, memory_order_relaxed);
    if (RAD_LIKELY(getter == NULL)) return;
    rad_exceptions *now = rad__exceptions_mine(mine, getter);
    if (RAD_LIKELY(!rad__exceptions_any(now))) return;
    *held = *now;
    *now = (rad_exceptions){NULL, 0};
}

/* After it was resumed, if there is anything to give back. */
RAD_INLINE void rad__exceptions_resume(rad_exceptions **mine, const rad_exceptions *held)
{
    rad_exceptions_getter getter = atomic_load_explicit(&rad__exceptions_getter, memory_order_relaxed);
    *rad__exceptions_mine(mine, getter) = *held;
}

#endif

#endif
