/* object.h — files of programs and shared objects. */
#ifndef RAD_OS_OBJECT_H
#define RAD_OS_OBJECT_H

#include "base/elf.h"

/* The path of the program or shared object that holds `address` among its segments. What is in none of them (the heap)
 * counts as the program's. Cut off when it is longer than `size`. */
RAD_INTERNAL void rad__os_object_of(const void *address, char *path, size_t size);

/* Maps the file, which has to be a program or shared object for this computer: only what is looked at is read, of
 * files that are mostly debug information. After success, close it. */
RAD_INTERNAL int rad__os_object_open(const char *path, rad_elf *e, rad_error *error);

/* RAD_EIO: it became shorter meanwhile, and what was found in it does not count. */
RAD_INTERNAL int rad__os_object_close(rad_elf *e, const char *path, rad_error *error);

/* Loads a shared object, which then stays loaded, and finds a name that it exports. `path` has a slash in it. The
 * object's constructors run: look into the file before (rad__os_object_open). */
RAD_INTERNAL int rad__os_object_load(const char *path, const char *name, void **symbol, rad_error *error);

#endif
