/* elf.c — see elf.h. */
#include "base/elf.h"

#include "base/error.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#if defined(__x86_64__)
enum { ELF_OWN_MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { ELF_OWN_MACHINE = EM_AARCH64 };
#else
enum { ELF_OWN_MACHINE = EM_NONE }; /* any */
#endif

/* ---- Bytes ------------------------------------------------------------------------------------------- */

static bool is_inside(const rad_elf *e, uint64_t from, uint64_t size)
{
    return from <= e->size && size <= e->size - from;
}

/* A copy: nothing in a file has to be aligned. False: it ends before that. */
static bool get(const rad_elf *e, uint64_t at, void *to, size_t size)
{
    if (!is_inside(e, at, size)) return false;
    memcpy(to, e->bytes + at, size);
    return true;
}

/* Item `index` of the table at `at`, whose items have this size. */
static bool get_item(const rad_elf *e, uint64_t at, uint64_t index, void *to, size_t size)
{
    uint64_t offset;
    return !__builtin_mul_overflow(index, (uint64_t)size, &offset) && !__builtin_add_overflow(at, offset, &at) &&
           get(e, at, to, size);
}

/* ---- What it is --------------------------------------------------------------------------------------- */

static int refuse(rad_error *error, const char *name, const char *what)
{
    return rad__error(error, RAD_EINPUT, "%s: %s", name, what);
}

static int check_ident(const rad_elf *e, const char *name, rad_error *error)
{
    if (e->size >= 2 && memcmp(e->bytes, "#!", 2) == 0)
        return refuse(error, name,
                      "a script, not a program or shared object (ELF): name the program that it "
                      "starts");
    if (e->size < SELFMAG || memcmp(e->bytes, ELFMAG, SELFMAG) != 0)
        return refuse(error, name, "not a program or shared object (ELF)");
    if (e->size < sizeof(Elf64_Ehdr)) return refuse(error, name, "the ELF header is cut off");
    if (e->bytes[EI_CLASS] != ELFCLASS64) return refuse(error, name, "not for 64 bits: compile it with -m64");
    if (e->bytes[EI_DATA] != ELFDATA2LSB) return refuse(error, name, "not little-endian");
    return 0;
}

static int check_header(const Elf64_Ehdr *h, const char *name, rad_error *error)
{
    if (ELF_OWN_MACHINE != EM_NONE && h->e_machine != ELF_OWN_MACHINE)
        return refuse(error, name, "for another processor");
    if (h->e_type != ET_EXEC && h->e_type != ET_DYN)
        return refuse(error, name,
                      h->e_type == ET_REL    ? "an object file: link it first"
                      : h->e_type == ET_CORE ? "a core dump, not a program"
                                             : "neither a program nor a shared object");
    if (h->e_phnum > 0 && h->e_phentsize != sizeof(Elf64_Phdr))
        return refuse(error, name, "program headers of an unknown size");
    if (h->e_shnum > 0 && h->e_shentsize != sizeof(Elf64_Shdr))
        return refuse(error, name, "section headers of an unknown size");
    return 0;
}

/* ---- Notes and the dynamic section --------------------------------------------------------------------- */

static uint64_t align4(uint64_t size)
{
    return (size + 3) & ~UINT64_C(3);
}

/* The build id among the notes at `at`; the first one counts. */
static void read_notes(rad_elf *e, uint64_t at, uint64_t size)
{
    Elf64_Nhdr n;
    while (e->build_id[0] == 0 && size >= sizeof n && get(e, at, &n, sizeof n)) {
        uint64_t description = sizeof n + align4(n.n_namesz);
        uint64_t whole = description + align4(n.n_descsz);
        if (whole > size || !is_inside(e, at, whole)) return;
        bool is_id = n.n_type == NT_GNU_BUILD_ID && n.n_namesz == sizeof ELF_NOTE_GNU &&
                     memcmp(e->bytes + at + sizeof n, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0;
        for (uint32_t i = 0; is_id && i < n.n_descsz && n.n_descsz <= RAD_ELF_BUILD_ID_MAX; i++)
            snprintf(e->build_id + 2 * i, 3, "%02x", e->bytes[at + description + i]);
        at += whole;
        size -= whole;
    }
}

/* DF_1_PIE is how linkers mark a program that may be loaded anywhere. */
static bool says_pie(const rad_elf *e, const Elf64_Phdr *p)
{
    Elf64_Dyn d;
    for (uint64_t i = 0; i < p->p_filesz / sizeof d; i++) {
        if (!get_item(e, p->p_offset, i, &d, sizeof d) || d.d_tag == DT_NULL) return false;
        if (d.d_tag == DT_FLAGS_1) return (d.d_un.d_val & DF_1_PIE) != 0;
    }
    return false;
}

/* A shared object has neither a loader nor the mark of a program. All notes together are not larger than the file, and
 * there is one dynamic section: a file that says otherwise is not read again and again. */
static bool read_segments(rad_elf *e, const Elf64_Ehdr *h)
{
    Elf64_Phdr p;
    uint64_t notes_left = e->size;
    bool dynamic = false;
    e->is_program = h->e_type == ET_EXEC;
    for (uint32_t i = 0; i < h->e_phnum; i++) {
        if (!get_item(e, h->e_phoff, i, &p, sizeof p)) return false;
        if (p.p_type == PT_INTERP) e->is_program = true;
        if (p.p_type == PT_DYNAMIC && !dynamic) {
            dynamic = true;
            e->is_program |= says_pie(e, &p);
            e->entries = p.p_offset;
            e->entry_count = p.p_filesz / sizeof(Elf64_Dyn);
        }
        if (p.p_type == PT_NOTE && p.p_filesz <= notes_left) {
            notes_left -= p.p_filesz;
            read_notes(e, p.p_offset, p.p_filesz);
        }
    }
    return true;
}

/* ---- Symbols ------------------------------------------------------------------------------------------- */

/* The table of section `s` and the section with its names; false: it points outside the file. */
static bool read_table(const rad_elf *e, const Elf64_Ehdr *h, const Elf64_Shdr *s, rad_elf_table *to)
{
    Elf64_Shdr names;
    if (s->sh_entsize != sizeof(Elf64_Sym) || s->sh_link >= h->e_shnum || !is_inside(e, s->sh_offset, s->sh_size) ||
        !get_item(e, h->e_shoff, s->sh_link, &names, sizeof names) || names.sh_type != SHT_STRTAB ||
        !is_inside(e, names.sh_offset, names.sh_size))
        return false;
    *to = (rad_elf_table){s->sh_offset, s->sh_size / sizeof(Elf64_Sym), names.sh_offset, names.sh_size};
    return true;
}

/* Whether section `s` has this name. `names` is the section with all names. */
static bool is_section(const rad_elf *e, const Elf64_Shdr *names, const Elf64_Shdr *s, const char *name)
{
    size_t size = strlen(name) + 1;
    uint64_t at;
    return s->sh_name < names->sh_size && size <= names->sh_size - s->sh_name &&
           !__builtin_add_overflow(names->sh_offset, (uint64_t)s->sh_name, &at) && is_inside(e, at, size) &&
           memcmp(e->bytes + at, name, size) == 0;
}

/* The first table of each kind: there is one, and a file full of them would cost its size each time. */
static bool read_sections(rad_elf *e, const Elf64_Ehdr *h)
{
    Elf64_Shdr s, names = {.sh_size = 0};
    if (h->e_shstrndx < h->e_shnum && !get_item(e, h->e_shoff, h->e_shstrndx, &names, sizeof names)) return false;
    for (uint32_t i = 0; i < h->e_shnum; i++) {
        if (!get_item(e, h->e_shoff, i, &s, sizeof s)) return false;
        e->has_debug |= is_section(e, &names, &s, ".debug_info");
        e->is_go |= is_section(e, &names, &s, ".go.buildinfo");
        rad_elf_table *to = s.sh_type == SHT_DYNSYM ? &e->dynamic : s.sh_type == SHT_SYMTAB ? &e->all : NULL;
        if (to && to->symbol_count == 0 && !read_table(e, h, &s, to)) return false;
    }
    return true;
}

int rad__elf_open(rad_elf *e, const void *bytes, size_t size, const char *name, rad_error *error)
{
    Elf64_Ehdr h;
    *e = (rad_elf){.bytes = bytes, .size = size};
    int code = check_ident(e, name, error);
    if (code != 0) return code;
    memcpy(&h, bytes, sizeof h);
    if ((code = check_header(&h, name, error)) != 0) return code;
    if (!read_segments(e, &h)) return refuse(error, name, "damaged: program headers lie outside the file");
    if (!read_sections(e, &h)) return refuse(error, name, "damaged: sections lie outside the file");
    return 0;
}

/* Linkers let a name be the end of a longer one, so every place of the text is compared that a symbol names. */
static bool is_called(const rad_elf *e, const rad_elf_table *t, uint64_t at, const char *name, size_t length)
{
    return at < t->names_size && length < t->names_size - at && memcmp(e->bytes + t->names + at, name, length + 1) == 0;
}

static enum rad_elf_symbol find(const rad_elf *e, const rad_elf_table *t, const char *name)
{
    enum rad_elf_symbol found = RAD_ELF_ABSENT;
    size_t length = strlen(name);
    Elf64_Sym s;
    for (uint64_t i = 0; i < t->symbol_count && found != RAD_ELF_DEFINED; i++) {
        if (!get_item(e, t->symbols, i, &s, sizeof s)) break;
        if (ELF64_ST_BIND(s.st_info) == STB_LOCAL || !is_called(e, t, s.st_name, name, length)) continue;
        found = s.st_shndx == SHN_UNDEF ? RAD_ELF_NEEDED : RAD_ELF_DEFINED;
    }
    return found;
}

enum rad_elf_symbol rad__elf_exported(const rad_elf *e, const char *name)
{
    return find(e, &e->dynamic, name);
}

enum rad_elf_symbol rad__elf_symbol(const rad_elf *e, const char *name)
{
    enum rad_elf_symbol exported = find(e, &e->dynamic, name);
    return exported != RAD_ELF_ABSENT ? exported : find(e, &e->all, name);
}

/* The name of a library that it needs; NULL: the entry is about something else. */
static const char *needed_at(const rad_elf *e, const Elf64_Dyn *d)
{
    const rad_elf_table *t = &e->dynamic;
    uint64_t at = d->d_un.d_val;
    if (d->d_tag != DT_NEEDED || at >= t->names_size) return NULL;
    const uint8_t *name = e->bytes + t->names + at;
    return memchr(name, 0, t->names_size - at) != NULL ? (const char *)name : NULL;
}

const char *rad__elf_needed(const rad_elf *e, const char *start)
{
    Elf64_Dyn d;
    for (uint64_t i = 0; i < e->entry_count; i++) {
        if (!get_item(e, e->entries, i, &d, sizeof d) || d.d_tag == DT_NULL) break;
        const char *name = needed_at(e, &d);
        if (name && strncmp(name, start, strlen(start)) == 0) return name;
    }
    return NULL;
}

bool rad__elf_needs_other(const rad_elf *e, const char *const *starts)
{
    Elf64_Dyn d;
    for (uint64_t i = 0; i < e->entry_count; i++) {
        if (!get_item(e, e->entries, i, &d, sizeof d) || d.d_tag == DT_NULL) break;
        const char *name = needed_at(e, &d);
        bool known = name == NULL;
        for (uint32_t j = 0; !known && starts[j]; j++) known = strncmp(name, starts[j], strlen(starts[j])) == 0;
        if (!known) return true;
    }
    return false;
}
