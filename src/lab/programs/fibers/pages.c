/* pages.c — the stacks' memory as rt finds it under test: what was mapped once stays mapped, and what was guarded once
 * stays guarded, because the next run will want the same. */
#include "lab/programs/fibers/seam.h"
#include "lab/programs/fibers/snapshot.h"

#include "os/pages.h"
#include "os/peek.h"

#include <string.h>

RAD_INTERNAL int SEAM_OF(os_pages_map_stacks)(void **p, size_t size, rad_error *error);
RAD_INTERNAL int SEAM_OF(os_pages_map_now)(void **p, size_t size, rad_error *error);
RAD_INTERNAL void SEAM_OF(os_pages_unmap)(void *p, size_t size);
RAD_INTERNAL int SEAM_OF(os_pages_mark)(void *p, size_t size, rad_error *error);
RAD_INTERNAL int SEAM_OF(os_pages_forget)(void *p, size_t size, rad_error *error);
RAD_INTERNAL bool SEAM_OF(os_peek_open)(int signal);
RAD_INTERNAL void SEAM_OF(os_peek_close)(void);

/* ---- Mappings that are not in use ------------------------------------------------------------------------- */

enum { SPARES_MAX = 32 };

static struct {
    void *at;
    size_t size;
} spares[SPARES_MAX];
static uint32_t spare_count;

static void *spare_take(size_t size)
{
    for (uint32_t i = 0; i < spare_count; i++) {
        if (spares[i].size != size) continue;
        void *at = spares[i].at;
        spares[i] = spares[--spare_count];
        return at;
    }
    return NULL;
}

void SEAM_OF(os_pages_unmap)(void *p, size_t size)
{
    if (p == NULL) return;
    if (spare_count == SPARES_MAX) {
        rad__os_pages_unmap(p, size);
        return;
    }
    spares[spare_count].at = p;
    spares[spare_count++].size = size;
}

/* Stacks need not begin as zeros. */
int SEAM_OF(os_pages_map_stacks)(void **p, size_t size, rad_error *error)
{
    *p = spare_take(size);
    return *p ? 0 : rad__os_pages_map_stacks(p, size, error);
}

int SEAM_OF(os_pages_map_now)(void **p, size_t size, rad_error *error)
{
    *p = spare_take(size);
    if (*p == NULL) return rad__os_pages_map_now(p, size, error);
    memset(*p, 0, size);
    return 0;
}

/* ---- Guards ----------------------------------------------------------------------------------------------- */

/* A process that makes many runs knows which it has. */
static bool is_guarded(const void *p)
{
    rad_marks *m = rad__marks;
    if (m->guards == NULL || m->guard_count >= RAD_GUARDS_MAX / 2) return false;
    uint64_t bits = (uintptr_t)p; /* only where to look for the same one. tidy: address ok */
    uint32_t at = (uint32_t)((bits >> 12) * UINT64_C(0x9e3779b97f4a7c15) >> 50) % RAD_GUARDS_MAX;
    while (m->guards[at] != NULL && m->guards[at] != p) at = (at + 1) % RAD_GUARDS_MAX;
    if (m->guards[at] == p) return true;
    m->guards[at] = p;
    m->guard_count++;
    return false;
}

int SEAM_OF(os_pages_mark)(void *p, size_t size, rad_error *error)
{
    return is_guarded(p) ? 0 : rad__os_pages_mark(p, size, error);
}

/* The pages are kept: a run is short, and another one will touch them again. */
int SEAM_OF(os_pages_forget)(void *p, size_t size, rad_error *error)
{
    (void)p;
    (void)size;
    (void)error;
    return 0;
}

/* ---- Looking at threads: there are none --------------------------------------------------------------------- */

bool SEAM_OF(os_peek_open)(int signal)
{
    (void)signal;
    return false;
}

void SEAM_OF(os_peek_close)(void)
{
}
