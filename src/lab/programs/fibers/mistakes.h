/* mistakes.h — see mistakes.c. The calls are production's, with a look before them; points.c has them in the place of
 * those. */
#ifndef RAD_LAB_PROGRAMS_FIBERS_MISTAKES_H
#define RAD_LAB_PROGRAMS_FIBERS_MISTAKES_H

#include "lab/programs/fibers/stage.h"

RAD_INTERNAL int rad__close_checked(int fd);
RAD_INTERNAL int rad__tick_checked(rad_ticker *t, uint64_t *tick, rad_time until);

/* The runner that runs is about to use this descriptor in a call. */
RAD_INTERNAL void rad__file_check(int fd, const char *call);

/* Whether the program has used descriptors in this run, by operations of raddle. */
RAD_INTERNAL bool rad__files_are_used(void);

/* Finds new and delete, which operators.c answers. */
RAD_INTERNAL void rad__operators_open(void);

/* The C library's, under names that need no search. */
extern void *__libc_malloc(size_t size);
extern void __libc_free(void *p);

/* They are glibc's, and not those of an allocator that the program is linked with. */
RAD_INTERNAL bool rad__memory_is_of_libc(void);

/* The program frees a block of memory, and is in a step. */
RAD_INTERNAL void rad__free_check(const void *block, size_t size);

/* What is destroyed here keeps its memory until 256 others were destroyed (memory.c). NULL is fine. */
RAD_INTERNAL void rad__memory_keeps(void *object);

/* A send has answered this code, which is returned: to a closed channel it is a failure if that was asked for. */
RAD_INTERNAL int rad__send_checked(rad_chan *chan, int code, const char *call);

#endif
