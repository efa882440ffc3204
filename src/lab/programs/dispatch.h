/* dispatch.h — system calls that no function of the C library stands for: see dispatch.c. */
#ifndef RAD_LAB_PROGRAMS_DISPATCH_H
#define RAD_LAB_PROGRAMS_DISPATCH_H

#include "base/check.h"

#include <sys/types.h>

/* In each process, before the program runs in it. */
RAD_INTERNAL void rad__dispatch_open(void);

/* Shut while the program runs on a thread. */
RAD_INTERNAL void rad__dispatch_shut(bool shut);

/* A system call with six arguments, which is not looked at; errno is left alone. What the system answers. */
RAD_INTERNAL long rad__dispatch_pass(long number, const long *arguments);

#if defined(__x86_64__)
/* From a handler of a signal back to the program, also while the gate is shut. */
RAD_INTERNAL void rad__dispatch_leave(void);
#endif

/* This process, as the system counts them: getpid answers the program's own number. */
RAD_INTERNAL pid_t rad__dispatch_pid(void);

#endif
