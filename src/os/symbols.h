/* symbols.h — names of functions, also of those that no object file exports: from the .symtab in the file.
 *
 * The file is the one that the system loaded: of the program /proc/self/exe, of a library the path that the loader
 * knows, unless its segments differ from those in memory (it was replaced). A program that was stripped has no
 * .symtab. Nothing is allocated: names point into files, which stay mapped until the end. */
#ifndef RAD_OS_SYMBOLS_H
#define RAD_OS_SYMBOLS_H

#include "base/check.h"

struct dl_phdr_info;

enum { RAD_SYMBOL_FILES = 8, RAD_SYMBOL_NAMES = 64 };

typedef struct rad_symbol_file {
    uintptr_t loaded; /* where: tells it from others */
    const uint8_t *bytes;
    size_t size; /* 0: it cannot be used */
    uint64_t symbols, symbol_count, names, names_size;
} rad_symbol_file;

/* All zero is empty. */
typedef struct rad_os_symbols {
    uint32_t file_count;
    rad_symbol_file files[RAD_SYMBOL_FILES];
    struct {
        uintptr_t address;
        const char *name;
    } found[RAD_SYMBOL_NAMES]; /* the last ones */
} rad_os_symbols;

/* The function with this address, in this object file; NULL: not known. Stays until the end. */
RAD_INTERNAL const char *rad__symbols_name(rad_os_symbols *s, const struct dl_phdr_info *info, uintptr_t address);

/* The same of what lies in [*begin, *begin + its size): a function or a variable. Nothing is remembered. */
RAD_INTERNAL const char *rad__symbols_at(rad_os_symbols *s, const struct dl_phdr_info *info, uintptr_t address,
                                         bool is_function, uintptr_t *begin);

RAD_INTERNAL void rad__symbols_close(rad_os_symbols *s);

#endif
