/* backtrace.c — see backtrace.h. */
#define _GNU_SOURCE
#include "os/backtrace.h"

#include "os/cfi.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

/* What is wanted of the object file with this code, while it cannot be unloaded. */
typedef struct search {
    uintptr_t address;
    rad_cfi_frame *frame; /* to step from */
    bool begins;          /* where its function begins is wanted; else, without a frame, its name */
    uintptr_t begin;
    bool stepped;
    rad_os_symbols *symbols;
    const char *name; /* in its file; NULL: not there */
    char *text;
    size_t size;
} search;

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void name_it(search *s, const struct dl_phdr_info *info)
{
    const char *file = info->dlpi_name;
    if (file == NULL || *file == 0) file = program_invocation_name;
    snprintf(s->text, s->size, "%s+0x%llx", base_name(file), (unsigned long long)(s->address - info->dlpi_addr));
    s->name = rad__symbols_name(s->symbols, info, s->address);
}

static int look_at_object(struct dl_phdr_info *info, size_t size, void *context)
{
    search *s = context;
    const uint8_t *header = NULL;
    bool inside = false;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t from = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_LOAD && (p->p_flags & PF_X) && s->address - from < p->p_memsz) inside = true;
        if (p->p_type == PT_GNU_EH_FRAME) header = (const uint8_t *)from;
    }
    if (!inside) return 0;
    if (s->begins)
        s->begin = header != NULL ? rad__cfi_function(header, s->address) : 0;
    else if (s->frame == NULL)
        name_it(s, info);
    else
        s->stepped = header != NULL && rad__cfi_step(s->frame, header);
    return 1;
}

void rad__backtrace(rad_backtrace *b, const rad_context *c, const void *base, size_t size)
{
    rad_cfi_frame frame = {.low = (uintptr_t)base}; /* tidy: address ok: bounds of what is read */
    b->count = 0;
    frame.high = frame.low + size;
    if (!rad__context_frame(c, &frame)) return;
    search s = {.frame = &frame};
    do {
        s.address = b->at[b->count++] = frame.pc - 1;
        s.stepped = false;
        if (b->count < RAD_BACKTRACE_MOST) dl_iterate_phdr(look_at_object, &s);
    } while (s.stepped);
}

bool rad__backtrace_is_in(uintptr_t address, void (*function)(void))
{
    search s = {.address = address, .begins = true};
    dl_iterate_phdr(look_at_object, &s);
    return s.begin == (uintptr_t)function; /* tidy: address ok: the same or not */
}

void rad__backtrace_text(rad_os_symbols *symbols, uintptr_t address, char *text, size_t size)
{
    char place[160] = "";
    search s = {.address = address, .symbols = symbols, .text = place, .size = sizeof place};
    Dl_info info;
    if (dl_iterate_phdr(look_at_object, &s) == 0) snprintf(place, sizeof place, "0x%llx", (unsigned long long)address);
    if (s.name == NULL && dladdr((const void *)address, &info) != 0) s.name = info.dli_sname;
    snprintf(text, size, "%s%s%s", s.name ? s.name : "", s.name ? " " : "", place);
}
