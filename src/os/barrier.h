/* barrier.h — a memory barrier for every thread of the process, paid for by the thread that calls it.
 *
 *              light side, often                      heavy side, seldom
 *         A1   stores x                          B1   stores y
 *         A2   compiler barrier only             B2   rad__os_barrier()
 *         A3   loads y                           B3   loads x
 * Claim: A3 sees B1 or B3 sees A1. During B2 the kernel lets each running thread of the process execute a full
 * barrier; a thread that is switched out has executed one. If the light thread's barrier comes after A1, B3 sees A1.
 * Otherwise it comes before A3, and A3 sees B1.
 *
 * Linux: membarrier(2), private expedited (4.14). It interrupts the CPUs that run this process: 0.4 µs when the caller
 * runs alone, 0.5 µs beside one other thread that computes (measured). The registration belongs to the address space:
 * it serves every executor of the process, and a child of fork keeps it.
 *
 * Where the kernel refuses the registration (an older kernel, a filter for system calls) the light side needs a full
 * barrier of its own. Rejected: changing the protection of a page, which interrupts the other CPUs as well on x86-64,
 * but not on aarch64. */
#ifndef RAD_OS_BARRIER_H
#define RAD_OS_BARRIER_H

#include "base/check.h"

/* Any number of times, before the first rad__os_barrier. False: the system has no such barrier. */
RAD_INTERNAL RAD_MUST_USE bool rad__os_barrier_register(void);

/* B2. False: the system refuses the call although it accepted the registration (a filter that was installed later).
 * Light sides must use a full barrier from now on; every store from before the call is visible nevertheless, because
 * the call then waits for much longer than a CPU holds back a store. */
RAD_INTERNAL RAD_MUST_USE bool rad__os_barrier(void);

#endif
