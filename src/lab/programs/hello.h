/* hello.h — how raddle and a program under test, which it has started with the lab's library, find each other.
 *
 * The variable RADDLE_UNDER_TEST holds the numbers of three descriptors, whether the program is to explore (w) or
 * to tell (t), and how many processors it sees, which its constructors may ask. The program reads a rad_setup and
 * writes a rad_hello: batches and records are memory as it is, so both have to be of one build. Then it does batches
 * (serve.h), or what stream.h says.
 */
#ifndef RAD_LAB_PROGRAMS_HELLO_H
#define RAD_LAB_PROGRAMS_HELLO_H

#include "base/check.h"

#define RAD_UNDER_TEST "RADDLE_UNDER_TEST"
#define RAD_LAB_SONAME "libraddle.so.0"

enum { RAD_PROCESSORS = 4, RAD_PROCESSORS_MAX = 1024 };

/* Each run is to have a process of its own. */
enum rad_setup_apart { RAD_APART_NOT, RAD_APART_ASKED, RAD_APART_HUNG };

typedef struct rad_setup {
    uint64_t max_steps;
    uint64_t clock_free;   /* 1: fibers/time.c */
    uint64_t spurious;     /* 1: threads/cond.c */
    uint64_t closed_fails; /* 1: fibers/mistakes.c */
    uint64_t memory_limit; /* bytes; 0: none */
    uint64_t debugged;     /* 1: it waits for a debugger, and stops where it fails */
    char folders[200];     /* in which each run has a directory; "": none has */
    char shown[400];       /* a file to which all runs print; "": what they print is thrown away */
    uint64_t apart;        /* enum rad_setup_apart */
    uint64_t real_threads; /* 1: threads/baton.c */
    uint64_t dies;         /* 1: where it dies of a signal it says nothing (fibers/crash.c) */
} rad_setup;

typedef struct rad_hello {
    char magic[8];
    uint64_t sizes; /* of what is passed on as it is */
    char build[120];
} rad_hello;

/* Of this build. */
RAD_INTERNAL void rad__hello_make(rad_hello *h);

#endif
