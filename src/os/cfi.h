/* cfi.h — one step up a stack, from a function to its caller, by the tables that compilers leave in .eh_frame.
 *
 * A table says, for every instruction of a function, where the frame begins (its CFA) and where the caller's registers
 * were saved. gcc and clang write them for C by default on x86-64 and aarch64, also at -O2, where no register points to
 * the frame.
 *
 * The tables belong to the program and are trusted. What is on a stack is not: only words between two bounds are read,
 * each frame has to lie above the last one, and whatever makes no sense ends the walk.
 *
 * Rejected: following frame pointers (programs have none); libgcc's unwinder (it begins where it is called, not in
 * another context); libunwind (the runtime needs nothing but the C library). */
#ifndef RAD_OS_CFI_H
#define RAD_OS_CFI_H

#include "base/check.h"

/* Registers by their numbers in the tables. */
#if defined(__x86_64__)
enum { RAD_CFI_BX = 3, RAD_CFI_FP = 6, RAD_CFI_SP = 7, RAD_CFI_PC = 16, RAD_CFI_REGISTERS = 17 };
#else
enum { RAD_CFI_FP = 29, RAD_CFI_LINK = 30, RAD_CFI_SP = 31, RAD_CFI_REGISTERS = 32 };
#endif

typedef struct rad_cfi_frame {
    uintptr_t low, high; /* of the stack: nothing else is read */
    uintptr_t pc;        /* behind the call that is going on; or, if exact, what runs next */
    bool exact;          /* the frame was interrupted, not left by a call */
    uintptr_t at[RAD_CFI_REGISTERS];
    uint64_t known; /* a bit for each of them */
} rad_cfi_frame;

static inline void rad__cfi_set(rad_cfi_frame *f, uint32_t number, uintptr_t value)
{
    f->at[number] = value;
    f->known |= UINT64_C(1) << number;
}

/* Goes to the caller's frame. `header` is the .eh_frame_hdr of the object file that the code is in. False: there is no
 * caller, or it is not known. */
RAD_INTERNAL bool rad__cfi_step(rad_cfi_frame *f, const uint8_t *header);

/* Where the function with this address begins; 0: not known. */
RAD_INTERNAL uintptr_t rad__cfi_function(const uint8_t *header, uintptr_t address);

/* A word of the stack; false outside of it. */
RAD_INTERNAL bool rad__cfi_load(const rad_cfi_frame *f, uintptr_t at, uintptr_t *value);

#endif
