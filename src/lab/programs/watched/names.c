/* names.c — places in watched code, and variables, by name.
 *
 * A place is (function, operation, ordinal in order of address), as at L2: found by looking for calls of the stub's
 * functions in the code of the function. Nothing here is done but for a report, or when a place is met first and
 * there is a list of points. */
#define _GNU_SOURCE
#include "lab/programs/watched/watched.h"

#include "lab/programs/fibers/files.h"
#include "lab/programs/fibers/tell.h"

#include <link.h>
#include <stdio.h>
#include <string.h>

enum { MODULES_MAX = 64 };

static struct {
    const rad_watched_module *at[MODULES_MAX];
    const char *code[MODULES_MAX], *code_end[MODULES_MAX]; /* the module's */
    uint32_t count;
} modules;

/* ---- Which file --------------------------------------------------------------------------------------------- */

static const rad_watched_module *module_of(const struct dl_phdr_info *info)
{
    for (uint32_t i = 0; i < modules.count; i++) {
        uintptr_t stub = (uintptr_t)modules.at[i]->stub; /* tidy: address ok: which file it is in */
        if (rad__file_has(info, stub)) return modules.at[i];
    }
    return NULL;
}

void rad__watched_module(const rad_watched_module *m)
{
    static struct dl_phdr_info info;
    uintptr_t stub = (uintptr_t)m->stub; /* tidy: address ok: which file it is in */
    if (modules.count == MODULES_MAX || !rad__file_at(&info, stub)) return;
    uint32_t i = modules.count++;
    modules.at[i] = m;
    for (uint32_t n = 0; n < info.dlpi_phnum; n++) {
        const ElfW(Phdr) *p = &info.dlpi_phdr[n];
        uintptr_t from = info.dlpi_addr + p->p_vaddr;
        if (p->p_type != PT_LOAD || stub - from >= p->p_memsz) continue;
        modules.code[i] = (const char *)from;
        modules.code_end[i] = (const char *)from + p->p_memsz;
    }
}

bool rad__watched_code(const void *pc)
{
    const char *at = pc;
    for (uint32_t i = 0; i < modules.count; i++)
        if (at >= modules.code[i] && at < modules.code_end[i]) /* tidy: address ok: one file */
            return at < modules.at[i]->stub || at >= modules.at[i]->stub_end;
    return false;
}

/* ---- Calls that the compiler has inserted -------------------------------------------------------------------- */

enum {
#if defined(__x86_64__)
    STEP = 1,
    CALL_SIZE = 5
#else
    STEP = 4,
    CALL_SIZE = 4
#endif
};

/* The function that the instruction calls, if it is a call; otherwise NULL. */
static const char *call_target(const char *at)
{
#if defined(__x86_64__)
    int32_t distance;
    if ((uint8_t)*at != 0xe8) return NULL;
    memcpy(&distance, at + 1, sizeof distance);
    return at + CALL_SIZE + distance;
#else
    uint32_t word;
    memcpy(&word, at, sizeof word);
    if (word >> 26 != 0x25) return NULL;
    return at + ((int64_t)((uint64_t)word << 38) >> 36);
#endif
}

static bool is_call_before(const char *pc)
{
#if defined(__x86_64__)
    return (uint8_t)pc[-5] == 0xe8 || ((uint8_t)pc[-6] == 0xff && (uint8_t)pc[-5] == 0x15);
#else
    uint32_t word;
    memcpy(&word, pc - CALL_SIZE, sizeof word);
    return word >> 26 == 0x25 || (word & 0xfffffc1f) == 0xd63f0000;
#endif
}

/* The stack is searched upwards for an address behind a call; what a call has left there might be taken for one, so
 * this is for reports. */
const void *rad__watched_caller(const void *pc)
{
    enum { WORDS = 96 };
    const rad_runner *r = rad__stage.current;
    const rad_fiber_stack *fiber_stack = r && r->kind == RAD_RUNNER_FIBER ? r->slot->strand.fiber_stack : NULL;
    if (r == NULL || rad__watched_code(pc)) return pc;
    const char *base = fiber_stack ? fiber_stack->base : r->stack;
    size_t size = fiber_stack ? fiber_stack->size : r->stack_size;
    const char *at = __builtin_frame_address(0);
    for (uint32_t i = 0; i < WORDS && (size_t)(at - base) < size; i++, at += sizeof pc) {
        const void *found;
        memcpy(&found, at, sizeof found);
        if (rad__watched_code(found) && is_call_before(found)) return found;
    }
    return pc;
}

/* The operation that is called there, or NULL. */
static const char *operation_at(const rad_watched_module *m, const char *at)
{
    const char *target = call_target(at);
    if (target == NULL || target < m->stub || target >= m->stub_end) return NULL;
    for (uint32_t i = 0; i < m->operation_count; i++)
        if (m->operations[i].function == (const void *)target) return m->operations[i].name;
    return NULL;
}

static uint64_t calls_in(const rad_watched_module *m)
{
    struct dl_phdr_info info;
    uint64_t count = 0;
    uintptr_t stub = (uintptr_t)m->stub; /* tidy: address ok: which file it is in */
    if (!rad__file_at(&info, stub)) return 0;
    for (uint32_t i = 0; i < info.dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info.dlpi_phdr[i];
        if (p->p_type != PT_LOAD || !(p->p_flags & PF_X)) continue;
        uintptr_t from = info.dlpi_addr + p->p_vaddr;
        const char *at = (const char *)from, *end = at + p->p_memsz;
        for (; at + CALL_SIZE <= end; at += STEP) {
            bool in_stub = at >= m->stub && at < m->stub_end; /* bytes there may look like calls */
            count += !in_stub && operation_at(m, at) != NULL;
        }
    }
    return count;
}

uint64_t rad__watched_calls(uint32_t *count, const char **without)
{
    uint64_t all = 0;
    static struct dl_phdr_info info;
    *count = modules.count;
    *without = NULL;
    for (uint32_t i = 0; i < modules.count; i++) {
        uint64_t calls = calls_in(modules.at[i]);
        uintptr_t stub = (uintptr_t)modules.at[i]->stub, begin; /* tidy: address ok: as above */
        all += calls;
        if (!rad__file_at(&info, stub)) continue;
        rad__file_name_at(&info, stub, true, &begin); /* opens its file, before any run */
        if (calls == 0 && *without == NULL) *without = info.dlpi_name;
    }
    return all;
}

/* ---- Places --------------------------------------------------------------------------------- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static const char *file_name(const struct dl_phdr_info *info)
{
    return base_name(info->dlpi_name[0] || !rad__stage.argv ? info->dlpi_name : rad__stage.argv[0]);
}

/* How many calls there are of the same as at `call`, from `begin` to there. */
static uint32_t ordinal_of(const rad_watched_module *m, const char *begin, const char *call)
{
    uint32_t ordinal = 1;
    const char *name = m ? operation_at(m, call) : NULL, *target = call_target(call);
    for (const char *at = begin; at < call; at += STEP) {
        const char *other = name ? operation_at(m, at) : NULL;
        bool same = name ? other != NULL && strcmp(other, name) == 0 : target != NULL && call_target(at) == target;
        ordinal += same;
    }
    return ordinal;
}

rad_code_site rad__watched_place(const rad_watched_site *site)
{
    struct dl_phdr_info info;
    uintptr_t pc = site->pc, begin = 0;
    rad_code_site p = {"unknown", site->call ? site->call : "access", 1, NULL, NULL};
    if (!rad__file_at(&info, pc - 1)) return p;
    const rad_watched_module *m = module_of(&info);
    const char *function = rad__file_name_at(&info, pc - 1, true, &begin);
    const char *call = (const char *)pc - CALL_SIZE, *name = m ? operation_at(m, call) : NULL;
    p.module = file_name(&info);
    if (name != NULL) p.operation = name;
    if (function == NULL) return p;
    p.function = function;
    p.ordinal = ordinal_of(m, (const char *)begin, call);
    return p;
}

/* As identities have it: core/report.c. */
void rad__watched_place_text(const rad_watched_site *site, char text[RAD_PLACE_TEXT])
{
    rad_code_site p = rad__watched_place(site);
    int used = snprintf(text, RAD_PLACE_TEXT, "%.56s: %.24s", p.function, p.operation);
    if (p.ordinal > 1) snprintf(text + used, (size_t)(RAD_PLACE_TEXT - used), " %u", p.ordinal);
}

void rad__watched_spot(uintptr_t pc, char *text, size_t size)
{
    struct dl_phdr_info info;
    int most = (int)size - (int)sizeof "[+0123456789abcdef]";
    text[0] = 0;
    if (!rad__file_at(&info, pc - 1)) return;
    snprintf(text, size, "[%.*s+%llx]", most, info.dlpi_name, (unsigned long long)(pc - 1 - info.dlpi_addr));
    if (strlen(info.dlpi_name) > RAD_SPOT_PATH) rad__watched_line(pc, text, size);
}

/* ---- Variables ------------------------------------------------------------------------------ */

static bool is_stack(const char *at)
{
    for (uint32_t i = 0; i < rad__stage.runner_count; i++) {
        const rad_runner *r = &rad__stage.runners[i];
        const rad_fiber_stack *fiber_stack =
            r->kind == RAD_RUNNER_FIBER && r->slot ? r->slot->strand.fiber_stack : NULL;
        if (r->kind == RAD_RUNNER_THREAD && r->stack && (size_t)(at - (const char *)r->stack) < r->stack_size)
            return true;
        if (fiber_stack && (size_t)(at - (const char *)fiber_stack->base) < fiber_stack->size) return true;
    }
    return false;
}

/* False: it has no name. */
static bool variable_text(const void *at, char *text, size_t size)
{
    struct dl_phdr_info info;
    uintptr_t begin = 0, address = (uintptr_t)at; /* tidy: address ok: for its name */
    const char *name = NULL;
    if (rad__file_at(&info, address)) name = rad__file_name_at(&info, address, false, &begin);
    if (name == NULL) return false;
    if (address == begin)
        snprintf(text, size, "%.36s", name);
    else
        snprintf(text, size, "%.36s+%llu", name, (unsigned long long)(address - begin));
    return true;
}

void rad__watched_name(const void *at, char *text, size_t size)
{
    if (!variable_text(at, text, size)) snprintf(text, size, "%s", is_stack(at) ? "a variable on a stack" : "memory");
}

const char *rad__watched_variable(const void *at)
{
    rad_watch *w = rad__monitor;
    if (w == NULL) return NULL;
    uint64_t bits = (uintptr_t)at; /* tidy: address ok: where to look for the same one */
    uint32_t place = (uint32_t)(bits * UINT64_C(0x9e3779b97f4a7c15) >> 40) % RAD_NAMES_WATCHED_MAX;
    while (w->names[place].at != NULL && w->names[place].at != at) place = (place + 1) % RAD_NAMES_WATCHED_MAX;
    rad_variable_name *n = &w->names[place];
    if (n->at == NULL) {
        if (w->name_count == RAD_NAMES_WATCHED_MAX / 2) return NULL;
        w->name_count++;
        n->at = at;
        variable_text(at, n->text, sizeof n->text);
    }
    return n->text[0] ? n->text : NULL;
}
