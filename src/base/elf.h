/* elf.h — looks into a program or shared object without loading it: what it is, its build id, its symbols.
 *
 * The bytes come from anywhere: every offset, size and index is checked before it is used, and every table is walked at
 * most once per question, so that no file makes the reader take longer than its size allows. Only files for this
 * computer are read (64 bits, little-endian, the same processor). Symbols are found by section headers, which the
 * linker writes and strip leaves in place; a file without them has no symbols. */
#ifndef RAD_BASE_ELF_H
#define RAD_BASE_ELF_H

#include "base/check.h"

enum { RAD_ELF_BUILD_ID_MAX = 64 }; /* bytes; linkers write 8, 16 or 20 */

typedef struct rad_elf_table {
    uint64_t symbols, symbol_count; /* where they begin; 0 of them: there is no such table */
    uint64_t names, names_size;
} rad_elf_table;

typedef struct rad_elf {
    const uint8_t *bytes;
    uint64_t size;
    bool is_program;                             /* it can be started; false: a shared object */
    bool has_debug;                              /* it has debug information: DWARF */
    bool is_go;                                  /* Go's linker has made it */
    char build_id[2 * RAD_ELF_BUILD_ID_MAX + 1]; /* hexadecimal; "": it has none */
    rad_elf_table dynamic, all;                  /* .dynsym; .symtab, which strip removes */
    uint64_t entries, entry_count;               /* of the dynamic section; 0: linked statically */
} rad_elf;

/* `bytes` are borrowed for as long as *e is used. RAD_EINPUT says what they are instead; `name` is for messages. */
RAD_INTERNAL int rad__elf_open(rad_elf *e, const void *bytes, size_t size, const char *name, rad_error *error);

enum rad_elf_symbol {
    RAD_ELF_ABSENT = 0,
    RAD_ELF_NEEDED, /* from a shared library */
    RAD_ELF_DEFINED
};

/* What a file that is linked with it, or loads it, would see. */
RAD_INTERNAL enum rad_elf_symbol rad__elf_exported(const rad_elf *e, const char *name);

/* The same, and also global symbols that are there for debuggers only. */
RAD_INTERNAL enum rad_elf_symbol rad__elf_symbol(const rad_elf *e, const char *name);

/* The first library that it needs, as it names it, whose name begins so; NULL: none. */
RAD_INTERNAL const char *rad__elf_needed(const rad_elf *e, const char *start);

/* Whether it needs a library whose name begins with none of these; NULL ends them. */
RAD_INTERNAL bool rad__elf_needs_other(const rad_elf *e, const char *const *starts);

#endif
