/* context.h — leaving a stack in the middle of a function and coming back to it.
 *
 * A context is the place where a stack was left. Switching saves the caller's in *from and continues where *to was
 * left.
 *
 *     x86-64    in line: four registers are saved in the context, and the compiler knows that all others are lost,
 *               so it keeps in its own frame what it still needs, and nothing else. The stack is not touched.
 *     aarch64   a function: x19 … x30 and d8 … d15 on the stack that is left
 *     others    ucontext; also with -DRAD_CONTEXT_UCONTEXT, so that it can be tried anywhere
 *
 * Speed     a processor predicts a return from the calls it has seen, so after a switch each return that is left to do
 *           may cost a misprediction (7 ns here). In line there is one less; there and back 2.2 ns, with the function
 *           of six pushes and a jump that was here before 8.7, with a return 17. Through one function that switches,
 *           called from one place: 8.3, 18.7 and 8.5.
 * Floating point control words (rounding mode, exceptions) are the thread's and are not switched: nobody here changes
 * them. The fallback keeps the signal mask, which costs two system calls per switch.
 * Thread-local variables: a function may have their addresses from before the switch, and be on another thread after
 * it. Read them through a function that is not in line.
 * Unwinding ends in rad__context_begin, which says that it has no caller.
 *
 * Sanitizers have to be told of every switch. In such a build a context has more fields, and switching is a function;
 * contexts have to be adopted, dropped and left for good as said below, which costs nothing otherwise. */
#ifndef RAD_OS_CONTEXT_H
#define RAD_OS_CONTEXT_H

#include "base/check.h"

#if !defined(RAD_CONTEXT_UCONTEXT) && !(defined(__x86_64__) && !defined(__ILP32__)) && !defined(__aarch64__)
#define RAD_CONTEXT_UCONTEXT 1
#endif

/* RAD_CONTEXT_CALL: code that is compiled like this for the lab, which puts its own function in place of the switch. It
 * has the calls of a sanitizer in it, but no sanitizer. */
#ifndef RAD_CONTEXT_CALL
#if defined(__SANITIZE_ADDRESS__)
#define RAD_CONTEXT_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__)
#define RAD_CONTEXT_TSAN 1
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer) && !defined(RAD_CONTEXT_ASAN)
#define RAD_CONTEXT_ASAN 1
#endif
#if __has_feature(thread_sanitizer) && !defined(RAD_CONTEXT_TSAN)
#define RAD_CONTEXT_TSAN 1
#endif
#endif
#endif
#if defined(RAD_CONTEXT_ASAN) || defined(RAD_CONTEXT_TSAN)
#define RAD_CONTEXT_WATCHED 1
#endif

#ifdef RAD_CONTEXT_UCONTEXT
#include <ucontext.h>
#endif

typedef struct rad_context {
#ifdef RAD_CONTEXT_UCONTEXT
    ucontext_t place;
    void (*entry)(void *argument);
    void *argument;
#else
    void *stack; /* top of the stack that was left */
#ifdef __x86_64__
    void *resume, *rbp, *rbx;
#endif
#endif
#ifdef RAD_CONTEXT_WATCHED
    const void *low; /* the whole stack; NULL: a context that was not seen yet */
    size_t size;
    void *fake;  /* ASan: what it keeps beside the stack */
    void *fiber; /* TSan: its idea of a thread; made when it is switched to first */
    void (*first)(void *argument);
    void *first_argument;
#endif
} rad_context;

enum { RAD_CONTEXT_STACK_MIN = 4096 };

/* A context that begins with entry(argument) on the given stack. `entry` must not return: it ends by
 * rad__context_leave. The context stays where it is (it must not be copied). */
RAD_INTERNAL void rad__context_make(rad_context *c, void *stack, size_t size, void (*entry)(void *argument),
                                    void *argument);

/* It will be switched to soon: what it needs first had better be in the cache. */
static inline void rad__context_fetch(const rad_context *c)
{
#ifndef RAD_CONTEXT_UCONTEXT
    const char *top = c->stack;
    for (uint32_t i = 0; i < 4; i++) __builtin_prefetch(top + i * 64);
#else
    (void)c;
#endif
}

/* The switch itself, without telling the sanitizers. */
#if defined(__x86_64__) && !defined(RAD_CONTEXT_UCONTEXT)
#ifdef __AVX512F__
#define RAD_CONTEXT_WIDE                                                                                               \
    , "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", "xmm27",      \
        "xmm28", "xmm29", "xmm30", "xmm31", "k1", "k2", "k3", "k4", "k5", "k6", "k7"
#else
#define RAD_CONTEXT_WIDE
#endif
#if defined(__CET__) && (__CET__ & 1)
#define RAD_CONTEXT_LAND "endbr64\n"
#else
#define RAD_CONTEXT_LAND
#endif
/* rbp and rbx are saved by hand: a compiler may need them to find its frame, and then does not let go of them. */
RAD_INLINE void rad__context_jump(rad_context *from, rad_context *to)
{
    __asm__ volatile("leaq 1f(%%rip), %%rax\n"
                     "movq %%rsp, (%%rdi)\n"
                     "movq %%rax, 8(%%rdi)\n"
                     "movq %%rbp, 16(%%rdi)\n"
                     "movq %%rbx, 24(%%rdi)\n"
                     "movq (%%rsi), %%rsp\n"
                     "movq 16(%%rsi), %%rbp\n"
                     "movq 24(%%rsi), %%rbx\n"
                     "jmpq *8(%%rsi)\n"
                     "1:\n" RAD_CONTEXT_LAND
                     : "+D"(from), "+S"(to)
                     :
                     : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0", "xmm1",
                       "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",
                       "xmm13", "xmm14", "xmm15", "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)",
                       "memory", "cc" RAD_CONTEXT_WIDE);
}
#else
RAD_INTERNAL void rad__context_jump(rad_context *from, rad_context *to);
#endif

/* The caller's stack pointer. */
RAD_INLINE uintptr_t rad__context_pointer(void)
{
#if defined(__x86_64__)
    uintptr_t pointer;
    __asm__ volatile("movq %%rsp, %0" : "=r"(pointer));
    return pointer;
#elif defined(__aarch64__)
    uintptr_t pointer;
    __asm__ volatile("mov %0, sp" : "=r"(pointer));
    return pointer;
#else
    return (uintptr_t)__builtin_frame_address(0);
#endif
}

/* Saves the caller's place in *from, and continues where *to was left or made. */
#if defined(RAD_CONTEXT_CALL) || defined(RAD_CONTEXT_WATCHED)
RAD_INTERNAL void rad__context_switch(rad_context *from, rad_context *to);
#else
RAD_INLINE void rad__context_switch(rad_context *from, rad_context *to)
{
    rad__context_jump(from, to);
}
#endif

#ifdef RAD_CONTEXT_WATCHED
RAD_INTERNAL void rad__context_adopt(rad_context *c);
RAD_INTERNAL void rad__context_drop(rad_context *c);
RAD_INTERNAL _Noreturn void rad__context_leave(rad_context *from, rad_context *to);
#else
/* c is to be the place of this thread's own stack, or of a stack that other code made: before the first switch
 * away from it. */
RAD_INLINE void rad__context_adopt(rad_context *c)
{
    (void)c;
}

/* A context that was made will not be resumed, and may be made again. Not while it runs. */
RAD_INLINE void rad__context_drop(rad_context *c)
{
    (void)c;
}

/* The last switch of a context that was made. It still has to be dropped, by the code that runs next. */
RAD_INLINE _Noreturn void rad__context_leave(rad_context *from, rad_context *to)
{
    rad__context_switch(from, to);
    __builtin_trap();
}
#endif

RAD_INTERNAL const char *rad__context_kind(void); /* "x86-64", "aarch64", "ucontext" */

/* Where it was left, for code that walks up its stack (cfi.h), of which the frame has the bounds. False: not known, as
 * in the fallback. */
struct rad_cfi_frame;
RAD_INTERNAL bool rad__context_frame(const rad_context *c, struct rad_cfi_frame *f);

/* A memory checker (valgrind) that watches the process has to know which memory is a stack: otherwise it takes a switch
 * for a very large frame. Whether there is one; the name it gives to a stack; that it is no stack any more. */
RAD_INTERNAL bool rad__stack_is_watched(void);
RAD_INTERNAL uint32_t rad__stack_announce(void *base, size_t size);
RAD_INTERNAL void rad__stack_withdraw(uint32_t name);

#endif
