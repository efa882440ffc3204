/* files.h — the files that the program consists of: which one an address is in, and what is called so there.
 *
 * Names are for people: those of C++ as they are written there (cxx.c), without what compilers add to copies of
 * functions. They stay as long as the run. */
#ifndef RAD_LAB_PROGRAMS_FIBERS_FILES_H
#define RAD_LAB_PROGRAMS_FIBERS_FILES_H

#include "base/check.h"

struct dl_phdr_info; /* link.h, with _GNU_SOURCE */

RAD_INTERNAL bool rad__file_has(const struct dl_phdr_info *info, uintptr_t address);

/* False: it is in none. */
RAD_INTERNAL bool rad__file_at(struct dl_phdr_info *info, uintptr_t address);

/* What has this address, a function or a variable, and where it begins; NULL: not known. */
RAD_INTERNAL const char *rad__file_name_at(const struct dl_phdr_info *info, uintptr_t address, bool is_function,
                                           uintptr_t *begin);

/* A function; the last ones are remembered. */
RAD_INTERNAL const char *rad__file_function(const struct dl_phdr_info *info, uintptr_t address);

/* Before anything is forked. */
RAD_INTERNAL void rad__cxx_open(void);

enum { RAD_CXX_NAME_MAX = 56 };

/* "shop::Queue::push(int)" of "_ZN4shop5Queue4pushEi"; long ones without arguments of templates and functions. Other
 * names, and all if the program has no demangler: as they are. */
RAD_INTERNAL const char *rad__cxx_name(const char *symbol);

/* The type with this name, as a type_info has it, whole; false: there is no demangler. */
RAD_INTERNAL bool rad__cxx_type(const char *mangled, char *text, size_t size);

/* The demangler is at work: what it gets from malloc is the lab's. */
RAD_INTERNAL extern bool rad__cxx_works;

#endif
