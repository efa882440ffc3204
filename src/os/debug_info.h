/* debug_info.h — from addresses in files of programs and shared objects to functions, files, lines and variables, by
 * what the compiler wrote about them (DWARF).
 *
 * It is read by libdw, which is loaded when it is first needed: without it everything else works, and nothing is
 * found here. Nothing is fetched from a network. Offsets are addresses as the file has them: those in memory less
 * where it was loaded. */
#ifndef RAD_OS_DEBUG_INFO_H
#define RAD_OS_DEBUG_INFO_H

#include "base/check.h"

enum { RAD_DEBUG_NAME_MAX = 48, RAD_DEBUG_PATH_MAX = 240, RAD_DEBUG_FRAMES_MAX = 8 };

/* Code: what was written there. */
typedef struct rad_debug_frame {
    char function[RAD_DEBUG_NAME_MAX]; /* "": not known */
    char file[RAD_DEBUG_PATH_MAX];     /* as the compiler was given it; "": not known */
    char folder[RAD_DEBUG_PATH_MAX];   /* from which the compiler was called; "": not known */
    uint32_t line;                     /* 0: not known */
} rad_debug_frame;

/* A variable that lies in the file's data, or a part of one: "pool.lock", "forks[2]". */
typedef struct rad_debug_name {
    uint64_t offset;
    char name[RAD_DEBUG_NAME_MAX];
} rad_debug_name;

/* Whether libdw is there. */
RAD_INTERNAL bool rad__debug_is_there(void);

/* What is at this offset: the innermost function first, with those that it was inlined into. Returns how many; 0:
 * nothing is known. */
RAD_INTERNAL uint32_t rad__debug_code(const char *path, uint64_t offset, rad_debug_frame frames[RAD_DEBUG_FRAMES_MAX]);

/* The file of the line at this offset, with the folder that the compiler was called from in front of it unless that is
 * not known. "": nothing is known, or there is no room for it. */
RAD_INTERNAL void rad__debug_source(const char *path, uint64_t offset, char *file, size_t size);

/* Variables, and parts of them, whose type is one of `types` (NULL at its end) or a pointer to one. In no order.
 * Returns how many were put; at most `max`. */
RAD_INTERNAL uint32_t rad__debug_names(const char *path, const char *const *types, rad_debug_name *names, uint32_t max);

/* Files that are open. */
RAD_INTERNAL void rad__debug_close(void);

#endif
