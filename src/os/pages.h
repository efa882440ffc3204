/* pages.h — private memory straight from the operating system: zeroed, paid for when used. */
#ifndef RAD_OS_PAGES_H
#define RAD_OS_PAGES_H

#include "base/check.h"

enum { RAD_PAGE_MAX = 65536 }; /* no supported machine has larger pages */

/* `size` is rounded up to whole pages by the caller (RAD_PAGE_MAX is safe). */
RAD_INTERNAL int rad__os_pages_map(void **p, size_t size, rad_error *error);
RAD_INTERNAL void rad__os_pages_unmap(void *p, size_t size);

/* The same for memory that is used at once, all of it: one call instead of a fault for every page. */
RAD_INTERNAL int rad__os_pages_map_now(void **p, size_t size, rad_error *error);

/* A thread that touches these pages from now on dies of a signal. Each such call makes two mappings more, of which a
 * process has rad__os_mapping_limit; the error is then RAD_ELIMIT. Doing it again changes nothing. */
RAD_INTERNAL int rad__os_pages_guard(void *p, size_t size, rad_error *error);

/* The same without mappings: the pages are marked in the page tables (Linux 6.13 and later). Doing it again changes
 * nothing. */
RAD_INTERNAL int rad__os_pages_mark(void *p, size_t size, rad_error *error);

/* Whether marks work here: marks a page that is all zeros and looks whether it can still be read. An emulator may
 * take the call for advice that it is free to ignore, and say yes. */
RAD_INTERNAL bool rad__os_pages_marks_work(void *page);

/* Memory for stacks: never in huge pages, of which each stack would take a whole one. */
RAD_INTERNAL int rad__os_pages_map_stacks(void **p, size_t size, rad_error *error);

/* Gives the memory back; the addresses stay, and read as zeros. */
RAD_INTERNAL int rad__os_pages_forget(void *p, size_t size, rad_error *error);

RAD_INTERNAL size_t rad__os_page_size(void);
RAD_INTERNAL uint32_t rad__os_mapping_limit(void);

#endif
