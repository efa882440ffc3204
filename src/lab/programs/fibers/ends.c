/* ends.c — how the program ends: exit and the like, and what they call.
 *
 * Handlers of atexit, destructors and the last flush of stdio are part of the run: the C library calls them, in steps
 * of the runner that exits, which may be a fiber. What is registered before everything else is called last: that
 * handler of ours ends the run. So an exit within the C library (err, argp_parse) is the same.
 *
 * A program that has registered nothing, and has no destructors, ends at once: to go through all libraries would be a
 * twelfth of the time of a run of 32 steps, and write to pages that a process of its own would have to copy. */
#define _GNU_SOURCE
#include "lab/programs/dispatch.h"
#include "lab/programs/fibers/interposed.h"

#include "lab/programs/fibers/server.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>

RAD_API _Noreturn void rad__exit_quick(int status) __asm__("quick_exit");
RAD_API _Noreturn void rad__exit_now(int status) __asm__("_Exit");
RAD_API _Noreturn void rad__exit_raw(int status) __asm__("_exit");

static struct {
    void (*exit)(int status) __attribute__((noreturn));
    void (*quick_exit)(int status) __attribute__((noreturn));
    int quick_status;
    uint32_t loaded; /* libraries, when destructors were looked for */
    bool any;        /* there is something to call */
} ends;

/* ---- Is there something to call? ---------------------------------------------------------------------------- */

/* As atexit does, and objects of C++. */
RAD_ANSWER(int, __cxa_atexit, (void (*handler)(void *), void *argument, void *object))
{
    ends.any = true;
    return RAD_REAL(__cxa_atexit)(handler, argument, object);
}

RAD_ANSWER(int, __cxa_thread_atexit_impl, (void (*handler)(void *), void *argument, void *object))
{
    ends.any = true;
    return RAD_REAL(__cxa_thread_atexit_impl)(handler, argument, object);
}

RAD_ANSWER(int, on_exit, (void (*handler)(int, void *), void *argument))
{
    ends.any = true;
    return RAD_REAL(on_exit)(handler, argument);
}

/* Every object that gcc or clang links has one function there, which does nothing of the program's. */
static bool has_destructors(const struct dl_phdr_info *info)
{
    for (uint32_t i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
        const ElfW(Dyn) *d = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
        for (; d->d_tag != DT_NULL; d++)
            if (d->d_tag == DT_FINI_ARRAYSZ) return d->d_un.d_val > sizeof(void *);
    }
    return false;
}

static bool is_own(const struct dl_phdr_info *info)
{
    uintptr_t own = (uintptr_t)&ends - info->dlpi_addr; /* tidy: address ok: in the same object */
    for (uint32_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && own - p->p_vaddr < p->p_memsz) return true;
    }
    return false;
}

static int look_at(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    ends.any |= !is_own(info) && has_destructors(info);
    return 0;
}

/* How many are loaded: without the loader's lock, whose page a process of its own would have to copy. */
static uint32_t count_loaded(void)
{
    uint32_t count = 0;
    for (const struct link_map *m = _r_debug.r_map; m != NULL; m = m->l_next) count++;
    return count;
}

/* ---- Exits ---------------------------------------------------------------------------------------------------- */

extern int __cxa_at_quick_exit(void (*handler)(void *), void *object);

static void end_after_all(int status, void *unused)
{
    (void)unused;
    if (!rad__stage.running) return;
    static int (*flush)(void);
    if (flush == NULL) rad__libc_find("fcloseall", &flush);
    rad__dispatch_shut(false); /* the run is over */
    flush();                   /* as exit does: a FILE may be locked by a thread that has gone */
    rad__program_exits(status & 0xff);
}

static void end_quickly(void *unused)
{
    (void)unused;
    if (rad__stage.running) rad__program_exits(ends.quick_status & 0xff);
}

bool rad__ends_open(void)
{
    rad__libc_find("exit", &ends.exit);
    rad__libc_find("quick_exit", &ends.quick_exit);
    return RAD_REAL(on_exit)(end_after_all, NULL) == 0 && __cxa_at_quick_exit(end_quickly, NULL) == 0;
}

void rad__ends_look(void)
{
    dl_iterate_phdr(look_at, NULL);
    ends.loaded = count_loaded();
}

/* While one runner is in its handlers, the exit of another is the end. */
static void exit_begins(int status)
{
    rad_stage *s = &rad__stage;
    if (!s->running) rad__process_exit(status);
    if (s->testing) {
        char at[16];
        snprintf(at, sizeof at, "%d", status & 0xff);
        rad__program_fails(RAD_ORACLE_EXIT, at, "the test called exit(%d)", status);
    }
    if (s->exits != NULL && s->exits != s->current) rad__program_exits(status & 0xff);
    s->exits = s->current;
}

void rad__exit(int status)
{
    exit_begins(status);
    if (ends.any || ends.loaded != count_loaded()) ends.exit(status);
    end_after_all(status, NULL);
    rad__process_exit(status);
}

void rad__exit_quick(int status)
{
    exit_begins(status);
    ends.quick_status = status;
    ends.quick_exit(status);
}

void rad__exit_now(int status)
{
    exit_begins(status);
    rad__program_exits(status & 0xff);
}

void rad__exit_raw(int status)
{
    rad__exit_now(status);
}
