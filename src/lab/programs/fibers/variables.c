/* variables.c — the program's variables by name, so that a mutex is called as the program calls it.
 *
 * raddle reads them from the debug information before it starts the program (lab/programs/places.c), and sends a table:
 * nothing here depends on how that is read. Names are for people: no digest and no identity has them. */
#define _GNU_SOURCE
#include "lab/programs/fibers/stage.h"

#include "base/alloc.h"
#include "lab/programs/places.h"
#include "os/process.h"

#include <link.h>

static struct {
    rad_variable *at; /* in the order of their offsets */
    uint64_t count;
    uintptr_t base; /* where the program was loaded */
} variables;

static int first_object(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    *(uintptr_t *)context = info->dlpi_addr;
    return 1; /* the program comes first */
}

static bool read_all(int fd, void *to, size_t size)
{
    char *at = to;
    while (size > 0) {
        int64_t got = rad__os_read(fd, at, size, NULL);
        if (got <= 0) return false;
        at += got;
        size -= (size_t)got;
    }
    return true;
}

bool rad__variables_read(int in)
{
    uint64_t count = 0;
    if (!read_all(in, &count, sizeof count) || count > RAD_VARIABLES_MAX) return false;
    if (count == 0) return true;
    variables.at = rad__alloc(count, sizeof *variables.at);
    if (variables.at == NULL || !read_all(in, variables.at, count * sizeof *variables.at)) return false;
    variables.count = count;
    dl_iterate_phdr(first_object, &variables.base);
    return true;
}

const char *rad__variable_at(const void *address)
{
    uint64_t offset = (uintptr_t)address - variables.base; /* only compared. tidy: address ok */
    uint64_t low = 0, high = variables.count;
    if (address == NULL) return NULL;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (variables.at[middle].offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < variables.count && variables.at[low].offset == offset;
    return found ? variables.at[low].name : NULL;
}
