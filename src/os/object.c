/* object.c — see object.h. */
#define _GNU_SOURCE
#include "os/object.h"

#include "base/error.h"
#include "os/append.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>

typedef struct search {
    uintptr_t address;
    char *path;
    size_t size;
} search;

static int look_at(struct dl_phdr_info *info, size_t info_size, void *context)
{
    search *s = context;
    (void)info_size;
    for (uint32_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD || s->address - (info->dlpi_addr + p->p_vaddr) >= p->p_memsz) continue;
        if (info->dlpi_name && *info->dlpi_name) /* the program itself has no name */
            snprintf(s->path, s->size, "%s", info->dlpi_name);
        return 1;
    }
    return 0;
}

void rad__os_object_of(const void *address, char *path, size_t size)
{
    search s = {(uintptr_t)address, path, size}; /* only compared. tidy: address ok */
    snprintf(path, size, "/proc/self/exe");
    dl_iterate_phdr(look_at, &s);
}

int rad__os_object_open(const char *path, rad_elf *e, rad_error *error)
{
    const void *bytes;
    size_t size;
    int code = rad__os_map(path, &bytes, &size, error);
    if (code != 0) return code;
    code = rad__elf_open(e, bytes, size, path, error);
    if (code == 0) return 0;
    int whole = rad__os_object_close(e, path, error);
    return whole != 0 ? whole : code;
}

int rad__os_object_close(rad_elf *e, const char *path, rad_error *error)
{
    int code = rad__os_map_is_whole(e->bytes, path, error);
    rad__os_unmap(e->bytes, e->size);
    *e = (rad_elf){.bytes = NULL};
    return code;
}

int rad__os_object_load(const char *path, const char *name, void **symbol, rad_error *error)
{
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    *symbol = object ? dlsym(object, name) : NULL;
    if (*symbol != NULL) return 0;
    const char *why = dlerror();
    return rad__error(error, RAD_EINPUT, "'%.300s': cannot be loaded: %.180s", path, why ? why : "unknown reason");
}
