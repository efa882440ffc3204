#include "os/context.h"

#if defined(__has_include)
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif
#endif

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

#ifdef RAD_CONTEXT_UCONTEXT

/* makecontext passes ints only: the pointer comes in two halves. */
static void context_begin(unsigned high, unsigned low)
{
    rad_context *c = (rad_context *)((uintptr_t)high << 16 << 16 | low);
    c->entry(c->argument);
    rad__panic(__FILE__, __LINE__, "a context ended by returning");
}

void rad__context_make(rad_context *c, void *stack, size_t size, void (*entry)(void *argument),
                       void *argument)
{
    RAD_ASSERT(size >= RAD_CONTEXT_STACK_MIN);
    RAD_ASSERT(getcontext(&c->place) == 0);
    c->entry = entry;
    c->argument = argument;
    c->place.uc_stack.ss_sp = stack;
    c->place.uc_stack.ss_size = size;
    c->place.uc_link = NULL;
    uintptr_t number = (uintptr_t)c;
    makecontext(&c->place, (void (*)(void))context_begin, 2, (unsigned)(number >> 16 >> 16),
                (unsigned)number);
}

void rad__context_switch(rad_context *from, rad_context *to)
{
    swapcontext(&from->place, &to->place);
}

const char *rad__context_kind(void)
{
    return "ucontext";
}

#elif defined(__x86_64__)

/* rdi: from, rsi: to. A new context's first "return" goes to context_begin with entry in rbx and its argument
 * in r12. */
__asm__(".pushsection .text\n"
        ".p2align 4\n"
        ".globl rad__context_switch\n"
        ".hidden rad__context_switch\n"
        ".type rad__context_switch, @function\n"
        "rad__context_switch:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq (%rsi), %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    popq %rcx\n"
        "    jmpq *%rcx\n"
        ".size rad__context_switch, . - rad__context_switch\n"
        ".globl rad__context_begin\n"
        ".hidden rad__context_begin\n"
        ".type rad__context_begin, @function\n"
        "rad__context_begin:\n"
        "    movq %r12, %rdi\n"
        "    callq *%rbx\n"
        "    ud2\n"
        ".size rad__context_begin, . - rad__context_begin\n"
        ".popsection\n");

RAD_INTERNAL void rad__context_begin(void);

void rad__context_make(rad_context *c, void *stack, size_t size, void (*entry)(void *argument),
                       void *argument)
{
    RAD_ASSERT(size >= RAD_CONTEXT_STACK_MIN);
    uintptr_t top = ((uintptr_t)stack + size) & ~(uintptr_t)15;
    uintptr_t *at =
        (uintptr_t *)top; /* behind the seven words it is 16-aligned, as before a call */
    *--at = 0;
    *--at = 0;
    *--at = (uintptr_t)rad__context_begin;
    *--at = 0; /* rbp */
    *--at = (uintptr_t)entry;
    *--at = (uintptr_t)argument;
    *--at = 0;
    *--at = 0;
    *--at = 0;
    c->stack = at;
}

const char *rad__context_kind(void)
{
    return "x86-64";
}

#else /* aarch64 */

__asm__(".pushsection .text\n"
        ".p2align 4\n"
        ".globl rad__context_switch\n"
        ".hidden rad__context_switch\n"
        ".type rad__context_switch, %function\n"
        "rad__context_switch:\n"
        "    sub sp, sp, #160\n"
        "    stp x19, x20, [sp]\n"
        "    stp x21, x22, [sp, #16]\n"
        "    stp x23, x24, [sp, #32]\n"
        "    stp x25, x26, [sp, #48]\n"
        "    stp x27, x28, [sp, #64]\n"
        "    stp x29, x30, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n"
        "    stp d10, d11, [sp, #112]\n"
        "    stp d12, d13, [sp, #128]\n"
        "    stp d14, d15, [sp, #144]\n"
        "    mov x9, sp\n"
        "    str x9, [x0]\n"
        "    ldr x9, [x1]\n"
        "    mov sp, x9\n"
        "    ldp x19, x20, [sp]\n"
        "    ldp x21, x22, [sp, #16]\n"
        "    ldp x23, x24, [sp, #32]\n"
        "    ldp x25, x26, [sp, #48]\n"
        "    ldp x27, x28, [sp, #64]\n"
        "    ldp x29, x30, [sp, #80]\n"
        "    ldp d8, d9, [sp, #96]\n"
        "    ldp d10, d11, [sp, #112]\n"
        "    ldp d12, d13, [sp, #128]\n"
        "    ldp d14, d15, [sp, #144]\n"
        "    add sp, sp, #160\n"
        "    br x30\n"
        ".size rad__context_switch, . - rad__context_switch\n"
        ".globl rad__context_begin\n"
        ".hidden rad__context_begin\n"
        ".type rad__context_begin, %function\n"
        "rad__context_begin:\n"
        "    mov x0, x20\n"
        "    blr x19\n"
        "    brk #1\n"
        ".size rad__context_begin, . - rad__context_begin\n"
        ".popsection\n");

RAD_INTERNAL void rad__context_begin(void);

void rad__context_make(rad_context *c, void *stack, size_t size, void (*entry)(void *argument),
                       void *argument)
{
    RAD_ASSERT(size >= RAD_CONTEXT_STACK_MIN);
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

#endif
