/* symbols.c — see symbols.h. */
#define _GNU_SOURCE
#include "os/symbols.h"

#include "os/fault.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Files ------------------------------------------------------------------------------------------- */

static bool is_inside(const rad_symbol_file *f, uint64_t from, uint64_t size)
{
    return from <= f->size && size <= f->size - from;
}

/* A copy: nothing in a file has to be aligned. False: it ends before that. */
static bool get(const rad_symbol_file *f, uint64_t at, void *to, size_t size)
{
    if (!is_inside(f, at, size)) return false;
    memcpy(to, f->bytes + at, size);
    return true;
}

/* Whether the file has the segments that are in memory. */
static bool is_loaded(const rad_symbol_file *f, const ElfW(Ehdr) * h, const struct dl_phdr_info *i)
{
    size_t size = (size_t)i->dlpi_phnum * sizeof *i->dlpi_phdr;
    return memcmp(h->e_ident, ELFMAG, SELFMAG) == 0 && h->e_phnum == i->dlpi_phnum && is_inside(f, h->e_phoff, size) &&
           memcmp(f->bytes + h->e_phoff, i->dlpi_phdr, size) == 0;
}

static bool find_table(rad_symbol_file *f, const struct dl_phdr_info *info)
{
    ElfW(Ehdr) h;
    ElfW(Shdr) table, names;
    if (!get(f, 0, &h, sizeof h) || !is_loaded(f, &h, info)) return false;
    for (uint32_t i = 0; i < h.e_shnum; i++) {
        if (!get(f, h.e_shoff + (uint64_t)i * sizeof table, &table, sizeof table)) return false;
        if (table.sh_type != SHT_SYMTAB || table.sh_link >= h.e_shnum) continue;
        uint64_t link = h.e_shoff + (uint64_t)table.sh_link * sizeof names;
        if (!get(f, link, &names, sizeof names) || names.sh_size == 0) return false;
        if (!is_inside(f, table.sh_offset, table.sh_size)) return false;
        if (!is_inside(f, names.sh_offset, names.sh_size)) return false;
        f->symbols = table.sh_offset;
        f->symbol_count = table.sh_size / sizeof(ElfW(Sym));
        f->names = names.sh_offset;
        f->names_size = names.sh_size;
        return f->bytes[names.sh_offset + names.sh_size - 1] == 0;
    }
    return false;
}

static void file_open(rad_symbol_file *f, const struct dl_phdr_info *info)
{
    const char *path = info->dlpi_name;
    struct stat status;
    if (path == NULL || *path == 0) path = "/proc/self/exe";
    int fd = rad__os_fails(EMFILE) ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
        void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        f->bytes = bytes != MAP_FAILED ? bytes : NULL;
        f->size = bytes != MAP_FAILED ? (size_t)status.st_size : 0;
    }
    close(fd);
    if (f->size > 0 && !find_table(f, info)) {
        munmap((void *)(uintptr_t)f->bytes, f->size);
        f->size = 0;
    }
}

/* NULL: there are more files than room for them. */
static rad_symbol_file *file_of(rad_os_symbols *s, const struct dl_phdr_info *info)
{
    uintptr_t loaded = (uintptr_t)info->dlpi_phdr; /* only compared. tidy: address ok */
    for (uint32_t i = 0; i < s->file_count; i++)
        if (s->files[i].loaded == loaded) return &s->files[i];
    if (s->file_count == RAD_SYMBOL_FILES) return NULL;
    rad_symbol_file *f = &s->files[s->file_count++];
    *f = (rad_symbol_file){.loaded = loaded};
    file_open(f, info);
    return f;
}

/* ---- Names ------------------------------------------------------------------------------------------- */

static const char *look_up(const rad_symbol_file *f, uint64_t address, int type, uint64_t *begin)
{
    for (uint64_t i = 0; i < f->symbol_count; i++) {
        ElfW(Sym) symbol;
        memcpy(&symbol, f->bytes + f->symbols + i * sizeof symbol, sizeof symbol);
        if ((symbol.st_info & 15) == type && symbol.st_shndx != SHN_UNDEF &&
            address - symbol.st_value < symbol.st_size && symbol.st_name < f->names_size) {
            *begin = symbol.st_value;
            return (const char *)f->bytes + f->names + symbol.st_name;
        }
    }
    return NULL;
}

const char *rad__symbols_name(rad_os_symbols *s, const struct dl_phdr_info *info, uintptr_t address)
{
    uint64_t spread = (uint64_t)address * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t place = (uint32_t)(spread >> 32) % RAD_SYMBOL_NAMES;
    if (s->found[place].address == address) return s->found[place].name;
    const rad_symbol_file *f = file_of(s, info);
    uint64_t begin;
    const char *name = f != NULL && f->size > 0 ? look_up(f, address - info->dlpi_addr, STT_FUNC, &begin) : NULL;
    s->found[place].address = address;
    s->found[place].name = name;
    return name;
}

const char *rad__symbols_at(rad_os_symbols *s, const struct dl_phdr_info *info, uintptr_t address, bool is_function,
                            uintptr_t *begin)
{
    const rad_symbol_file *f = file_of(s, info);
    uint64_t from = 0;
    if (f == NULL || f->size == 0) return NULL;
    int type = is_function ? STT_FUNC : STT_OBJECT;
    const char *name = look_up(f, address - info->dlpi_addr, type, &from);
    *begin = info->dlpi_addr + from;
    return name;
}

void rad__symbols_close(rad_os_symbols *s)
{
    for (uint32_t i = 0; i < s->file_count; i++)
        if (s->files[i].size > 0) munmap((void *)(uintptr_t)s->files[i].bytes, s->files[i].size);
    *s = (rad_os_symbols){0};
}
