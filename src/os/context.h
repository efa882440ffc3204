/* context.h — leaving a stack in the middle of a function and coming back to it.
 *
 * A context is the place where somebody left: one pointer to a stack on which the registers that a call must
 * keep were pushed. Switching saves the caller's place in *from and goes on where *to was left.
 *
 *     x86-64    six registers and the place to go on; resumed by a jump, not by a return, because the
 *               processor predicts returns from calls that this stack never made
 *     aarch64   x19 … x30 and d8 … d15
 *     others    ucontext; also with -DRAD_CONTEXT_UCONTEXT, so that it can be tried anywhere
 *
 * Floating point control words (rounding mode, exceptions) are the thread's and are not switched: nobody here
 * changes them. The fallback keeps the signal mask, which costs two system calls per switch. */
#ifndef RAD_OS_CONTEXT_H
#define RAD_OS_CONTEXT_H

#include "base/check.h"

#if !defined(RAD_CONTEXT_UCONTEXT) && !(defined(__x86_64__) && !defined(__ILP32__)) &&             \
    !defined(__aarch64__)
#define RAD_CONTEXT_UCONTEXT 1
#endif

#ifdef RAD_CONTEXT_UCONTEXT
#include <ucontext.h>
typedef struct rad_context {
    ucontext_t place;
    void (*entry)(void *argument);
    void *argument;
} rad_context;
#else
typedef struct rad_context {
    void *stack; /* top of the stack that was left */
} rad_context;
#endif

enum { RAD_CONTEXT_STACK_MIN = 4096 };

/* A context that begins with entry(argument) on the given stack. `entry` must not return: it ends by
 * switching away for good. The context stays where it is (it must not be copied). */
RAD_INTERNAL void rad__context_make(rad_context *c, void *stack, size_t size,
                                    void (*entry)(void *argument), void *argument);

RAD_INTERNAL void rad__context_switch(rad_context *from, rad_context *to);

RAD_INTERNAL const char *rad__context_kind(void); /* "x86-64", "aarch64", "ucontext" */

/* A memory checker (valgrind) that watches the process has to know which memory is a stack: otherwise it takes a switch
 * for a very large frame. Whether there is one; the name it gives to a stack; that it is no stack any more. */
RAD_INTERNAL bool rad__stack_is_watched(void);
RAD_INTERNAL uint32_t rad__stack_announce(void *base, size_t size);
RAD_INTERNAL void rad__stack_withdraw(uint32_t name);

#endif
