#define _GNU_SOURCE
#include "os/context.h"

#include "os/cfi.h"

#ifdef RAD_CONTEXT_WATCHED
#include <pthread.h>
#endif
#ifdef RAD_CONTEXT_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef RAD_CONTEXT_TSAN
#include <sanitizer/tsan_interface.h>
#endif
#if defined(__has_include)
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif
#endif

/* ---- Memory checkers ------------------------------------------------------------------------------------- */

#ifdef RUNNING_ON_VALGRIND

bool rad__stack_is_watched(void)
{
    return RUNNING_ON_VALGRIND != 0;
}

uint32_t rad__stack_announce(void *base, size_t size)
{
    return (uint32_t)VALGRIND_STACK_REGISTER(base, (char *)base + size - 1);
}

void rad__stack_withdraw(uint32_t name)
{
    VALGRIND_STACK_DEREGISTER(name);
}

#else

bool rad__stack_is_watched(void)
{
    return false;
}

uint32_t rad__stack_announce(void *base, size_t size)
{
    (void)base;
    (void)size;
    return 0;
}

void rad__stack_withdraw(uint32_t name)
{
    (void)name;
}

#endif

/* ---- The switch, per machine ----------------------------------------------------------------------------- */

#ifdef RAD_CONTEXT_UCONTEXT

/* makecontext passes ints only: the pointer comes in two halves. */
static void context_begin(unsigned high, unsigned low)
{
    rad_context *c = (rad_context *)((uintptr_t)high << 16 << 16 | low);
    c->entry(c->argument);
    rad__panic(__FILE__, __LINE__, __func__, "a context ended by returning");
}

static void context_make(rad_context *c, void *stack, size_t size, void (*entry)(void *argument), void *argument)
{
    RAD_ASSERT(getcontext(&c->place) == 0);
    c->entry = entry;
    c->argument = argument;
    c->place.uc_stack.ss_sp = stack;
    c->place.uc_stack.ss_size = size;
    c->place.uc_link = NULL;
    uintptr_t number = (uintptr_t)c;
    makecontext(&c->place, (void (*)(void))context_begin, 2, (unsigned)(number >> 16 >> 16), (unsigned)number);
}

void rad__context_jump(rad_context *from, rad_context *to)
{
    swapcontext(&from->place, &to->place);
}

const char *rad__context_kind(void)
{
    return "ucontext";
}

bool rad__context_frame(const rad_context *c, rad_cfi_frame *f)
{
    (void)c;
    (void)f;
    return false;
}

#elif defined(__x86_64__)

/* A new context begins here, with entry and argument on its stack, which is aligned as before a call. No caller: rip is
 * undefined for unwinders that read tables, and rbp is zero for those that follow frames. */
__asm__(".pushsection .text\n"
        ".p2align 4\n"
        ".globl rad__context_begin\n"
        ".hidden rad__context_begin\n"
        ".type rad__context_begin, @function\n"
        "rad__context_begin:\n"
        "    .cfi_startproc\n"
        "    .cfi_def_cfa rsp, 16\n"
        "    .cfi_undefined rip\n"
        "    .cfi_undefined rbp\n" RAD_CONTEXT_LAND "    movq (%rsp), %rax\n"
        "    movq 8(%rsp), %rdi\n"
        "    callq *%rax\n"
        "    ud2\n"
        "    .cfi_endproc\n"
        ".size rad__context_begin, . - rad__context_begin\n"
        ".popsection\n");

RAD_INTERNAL void rad__context_begin(void);

static void context_make(rad_context *c, void *stack, size_t size, void (*entry)(void *argument), void *argument)
{
    uintptr_t top = ((uintptr_t)stack + size) & ~(uintptr_t)15;
    uintptr_t *at = (uintptr_t *)top;
    *--at = 0; /* for unwinders that look at memory: nobody called */
    *--at = 0;
    *--at = (uintptr_t)argument;
    *--at = (uintptr_t)entry;
    c->stack = at;
    c->resume = (void *)(uintptr_t)rad__context_begin;
    c->rbp = c->rbx = NULL;
}

const char *rad__context_kind(void)
{
    return "x86-64";
}

bool rad__context_frame(const rad_context *c, rad_cfi_frame *f)
{
    rad__cfi_set(f, RAD_CFI_SP, (uintptr_t)c->stack);
    rad__cfi_set(f, RAD_CFI_FP, (uintptr_t)c->rbp);
    rad__cfi_set(f, RAD_CFI_BX, (uintptr_t)c->rbx);
    f->pc = (uintptr_t)c->resume;
    return f->at[RAD_CFI_SP] >= f->low && f->at[RAD_CFI_SP] < f->high;
}

#else /* aarch64 */

/* The frame is the same on both stacks, so one description holds on either side of the switch. */
#define SAVES(x, y, at)                                                                                                \
    "    stp " x ", " y ", [sp, #" at "]\n"                                                                            \
    "    .cfi_rel_offset " x ", " at "\n"                                                                              \
    "    .cfi_rel_offset " y ", " at " + 8\n"
#define LOADS(x, y, at)                                                                                                \
    "    ldp " x ", " y ", [sp, #" at "]\n"                                                                            \
    "    .cfi_restore " x "\n"                                                                                         \
    "    .cfi_restore " y "\n"

__asm__(".pushsection .text\n"
        ".p2align 4\n"
        ".globl rad__context_jump\n"
        ".hidden rad__context_jump\n"
        ".type rad__context_jump, %function\n"
        "rad__context_jump:\n"
        "    .cfi_startproc\n"
        "    sub sp, sp, #160\n"
        "    .cfi_adjust_cfa_offset 160\n" SAVES("x19", "x20", "0") SAVES("x21", "x22", "16") SAVES("x23", "x24", "32")
            SAVES("x25", "x26", "48") SAVES("x27", "x28", "64") SAVES("x29", "x30", "80") SAVES("d8", "d9", "96")
                SAVES("d10", "d11", "112") SAVES("d12", "d13", "128")
                    SAVES("d14", "d15",
                          "144") "    mov x9, sp\n"
                                 "    str x9, [x0]\n"
                                 "    ldr x9, [x1]\n"
                                 "    mov sp, x9\n" LOADS("x19", "x20", "0") LOADS("x21", "x22", "16")
                                     LOADS("x23", "x24", "32") LOADS("x25", "x26", "48") LOADS("x27", "x28", "64")
                                         LOADS("x29", "x30", "80") LOADS("d8", "d9", "96") LOADS("d10", "d11", "112")
                                             LOADS("d12", "d13", "128")
                                                 LOADS("d14", "d15",
                                                       "144") "    add sp, sp, #160\n"
                                                              "    .cfi_adjust_cfa_offset -160\n"
                                                              "    br x30\n"
                                                              "    .cfi_endproc\n"
                                                              ".size rad__context_jump, . - rad__context_jump\n"
                                                              ".globl rad__context_begin\n"
                                                              ".hidden rad__context_begin\n"
                                                              ".type rad__context_begin, %function\n"
                                                              "rad__context_begin:\n"
                                                              "    .cfi_startproc\n"
                                                              "    .cfi_undefined x30\n"
                                                              "    .cfi_undefined x29\n"
                                                              "    mov x0, x20\n"
                                                              "    blr x19\n"
                                                              "    brk #1\n"
                                                              "    .cfi_endproc\n"
                                                              ".size rad__context_begin, . - "
                                                              "rad__context_begin\n"
                                                              ".popsection\n");

RAD_INTERNAL void rad__context_begin(void);

static void context_make(rad_context *c, void *stack, size_t size, void (*entry)(void *argument), void *argument)
{
    uintptr_t top = ((uintptr_t)stack + size) & ~(uintptr_t)15;
    uintptr_t *at = (uintptr_t *)(top - 160);
    for (int i = 0; i < 20; i++) at[i] = 0;
    at[0] = (uintptr_t)entry;               /* x19 */
    at[1] = (uintptr_t)argument;            /* x20 */
    at[11] = (uintptr_t)rad__context_begin; /* x30 */
    c->stack = at;
}

const char *rad__context_kind(void)
{
    return "aarch64";
}

bool rad__context_frame(const rad_context *c, rad_cfi_frame *f)
{
    uintptr_t stack = (uintptr_t)c->stack, fp;
    if (!rad__cfi_load(f, stack + 80, &fp) || !rad__cfi_load(f, stack + 88, &f->pc)) return false;
    rad__cfi_set(f, RAD_CFI_FP, fp);
    rad__cfi_set(f, RAD_CFI_LINK, f->pc);
    rad__cfi_set(f, RAD_CFI_SP, stack + 160);
    return true;
}

#endif

/* ---- With and without sanitizers --------------------------------------------------------------------------- */

#ifndef RAD_CONTEXT_WATCHED

void rad__context_make(rad_context *c, void *stack, size_t size, void (*entry)(void *argument), void *argument)
{
    RAD_ASSERT(size >= RAD_CONTEXT_STACK_MIN);
    context_make(c, stack, size, entry, argument);
}

#else

static void context_arrive(rad_context *c)
{
#ifdef RAD_CONTEXT_ASAN
    __sanitizer_finish_switch_fiber(c->fake, NULL, NULL);
    c->fake = NULL;
#endif
    (void)c;
}

static void context_first(void *argument)
{
    rad_context *c = argument;
    context_arrive(c);
    c->first(c->first_argument);
    rad__panic(__FILE__, __LINE__, __func__, "a context ended by returning");
}

void rad__context_make(rad_context *c, void *stack, size_t size, void (*entry)(void *argument), void *argument)
{
    RAD_ASSERT(size >= RAD_CONTEXT_STACK_MIN);
#ifdef RAD_CONTEXT_ASAN
    __asan_unpoison_memory_region(stack, size); /* frames of before were never returned from */
#endif
    context_make(c, stack, size, context_first, c);
    c->low = stack;
    c->size = size;
    c->fake = c->fiber = NULL;
    c->first = entry;
    c->first_argument = argument;
}

void rad__context_adopt(rad_context *c)
{
    pthread_attr_t attributes;
    void *low = NULL;
    c->fake = c->fiber = NULL;
    RAD_ASSERT(pthread_getattr_np(pthread_self(), &attributes) == 0);
    RAD_ASSERT(pthread_attr_getstack(&attributes, &low, &c->size) == 0);
    pthread_attr_destroy(&attributes);
    c->low = low;
#ifdef RAD_CONTEXT_TSAN
    c->fiber = __tsan_get_current_fiber();
#endif
}

void rad__context_drop(rad_context *c)
{
#ifdef RAD_CONTEXT_TSAN
    if (c->fiber) __tsan_destroy_fiber(c->fiber);
#endif
    c->fake = c->fiber = NULL;
    c->low = NULL;
}

/* With synchronisation: what the one who switches knows, for instance from having taken a fiber out of a queue, is
 * known to the one who goes on. */
static void context_depart(rad_context *from, rad_context *to, bool for_good)
{
    if (from->low == NULL) rad__context_adopt(from); /* all zeros: nobody has */
#ifdef RAD_CONTEXT_ASAN
    __sanitizer_start_switch_fiber(for_good ? NULL : &from->fake, to->low, to->size);
#endif
#ifdef RAD_CONTEXT_TSAN
    if (to->fiber == NULL) to->fiber = __tsan_create_fiber(0);
    __tsan_switch_to_fiber(to->fiber, 0);
#endif
    (void)to;
    (void)for_good;
}

void rad__context_switch(rad_context *from, rad_context *to)
{
    context_depart(from, to, false);
    rad__context_jump(from, to);
    context_arrive(from);
}

void rad__context_leave(rad_context *from, rad_context *to)
{
    context_depart(from, to, true);
    rad__context_jump(from, to);
    rad__panic(__FILE__, __LINE__, __func__, "a context that was left for good was resumed");
}

#endif
