/* backtrace.h — who called whom on a stack that was left (context.h), and what their addresses are called. */
#ifndef RAD_OS_BACKTRACE_H
#define RAD_OS_BACKTRACE_H

#include "os/context.h"
#include "os/symbols.h"

enum { RAD_BACKTRACE_MOST = 32 };

/* The calls that are going on, innermost first: an address within each. */
typedef struct rad_backtrace {
    uint32_t count;
    uintptr_t at[RAD_BACKTRACE_MOST];
} rad_backtrace;

/* Of a stack of `size` bytes from `base` on. None where switching does not tell where it left (the fallback). */
RAD_INTERNAL void rad__backtrace(rad_backtrace *b, const rad_context *c, const void *base, size_t size);

/* Whether the address is in this function. */
RAD_INTERNAL bool rad__backtrace_is_in(uintptr_t address, void (*function)(void));

/* "function file+0x1f2": its name, if it is known, and what addr2line -e file wants. */
RAD_INTERNAL void rad__backtrace_text(rad_os_symbols *symbols, uintptr_t address, char *text, size_t size);

#endif
