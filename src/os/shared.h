/* shared.h — memory that outlives the process that writes it: parent and children of a fork see the
 * same pages, so what a run recorded is still there when the run has died. */
#ifndef RAD_OS_SHARED_H
#define RAD_OS_SHARED_H

#include "base/check.h"

/* Zeroed, reserved but not touched: pages cost memory when first written. */
RAD_INTERNAL int rad__os_shared_map(void **out, size_t size, rad_error *error);

/* The same as a file without a name, *fd, which a program that is started can map as well: rad__os_shared_join. */
RAD_INTERNAL int rad__os_shared_file(void **out, size_t size, int *fd, rad_error *error);
RAD_INTERNAL int rad__os_shared_join(void **out, size_t size, int fd, rad_error *error);

/* `at` may be NULL. */
RAD_INTERNAL void rad__os_shared_unmap(void *at, size_t size);

#endif
