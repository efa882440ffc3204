/* start.h — starting a program as a child that talks to us by pipes.
 *
 * The child dies with its parent. Its input is empty, both outputs go to one file without a name, and of all other
 * descriptors it has those that it is given. */
#ifndef RAD_OS_START_H
#define RAD_OS_START_H

#include "base/check.h"

enum { RAD_OS_GIVEN_MAX = 3 };

typedef struct rad_os_start {
    const char *path;
    char *const *argv;
    const char *input;           /* a file; NULL: it is empty */
    const char *preload;         /* a library to be loaded before all others; NULL: none */
    const char *variable, *mode; /* set to "FD,FD,FD,MODE", with the numbers that they have there; no mode: removed */
    const char *lacking;         /* "NAME=VALUE", for an environment without that name; NULL: none */
    int given[RAD_OS_GIVEN_MAX]; /* descriptors of ours; -1: none */
    bool same_addresses;         /* in each process that is started so, where the system allows it */
} rad_os_start;

/* *output is a descriptor of the file of its outputs. RAD_EIO: there is no process, or no descriptor; that the program
 * cannot be run is its exit status, 126, and its output says why. */
RAD_INTERNAL int rad__os_start(int *pid, int *output, const rad_os_start *s, rad_error *error);

/* What is in such a file, as text that ends in 0; at most `size` bytes of it, from the beginning. */
RAD_INTERNAL void rad__os_output(int output, char *text, size_t size);

#endif
