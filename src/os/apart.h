/* apart.h — where raddle maps its own memory in a process under test: far from the program's mappings, which so have
 * the same addresses in each process, however much of ours there is. */
#ifndef RAD_OS_APART_H
#define RAD_OS_APART_H

#include "base/check.h"

/* The first argument of mmap, without MAP_FIXED: where it cannot be, the system chooses. */
RAD_INTERNAL void *rad__os_apart(size_t size);

#endif
