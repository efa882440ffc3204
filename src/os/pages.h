/* pages.h — private memory straight from the operating system: zeroed, paid for when used. */
#ifndef RAD_OS_PAGES_H
#define RAD_OS_PAGES_H

#include "base/check.h"

enum { RAD_PAGE_MAX = 65536 }; /* no supported machine has larger pages */

/* `size` is rounded up to whole pages by the caller (RAD_PAGE_MAX is safe). */
RAD_INTERNAL int rad__os_pages_map(void **p, size_t size, rad_error *error);
RAD_INTERNAL void rad__os_pages_unmap(void *p, size_t size);

/* Whoever touches these pages from now on dies of a signal. */
RAD_INTERNAL int rad__os_pages_guard(void *p, size_t size, rad_error *error);

#endif
