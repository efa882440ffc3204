/* files.c — see files.h. */
#define _GNU_SOURCE
#include "lab/programs/fibers/files.h"

#include "os/symbols.h"

#include <link.h>

static rad_os_symbols symbols;

bool rad__file_has(const struct dl_phdr_info *info, uintptr_t address)
{
    for (uint32_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && address - (info->dlpi_addr + p->p_vaddr) < p->p_memsz) return true;
    }
    return false;
}

typedef struct search {
    uintptr_t address;
    struct dl_phdr_info *info;
} search;

static int search_in(struct dl_phdr_info *info, size_t size, void *context)
{
    const search *s = context;
    (void)size;
    if (!rad__file_has(info, s->address)) return 0;
    *s->info = *info;
    return 1;
}

bool rad__file_at(struct dl_phdr_info *info, uintptr_t address)
{
    search s = {address, info};
    return dl_iterate_phdr(search_in, &s) == 1;
}

const char *rad__file_name_at(const struct dl_phdr_info *info, uintptr_t address, bool is_function, uintptr_t *begin)
{
    return rad__cxx_name(rad__symbols_at(&symbols, info, address, is_function, begin));
}

const char *rad__file_function(const struct dl_phdr_info *info, uintptr_t address)
{
    return rad__cxx_name(rad__symbols_name(&symbols, info, address));
}
