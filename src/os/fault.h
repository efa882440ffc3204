/* fault.h — makes calls to the operating system fail, for tests.
 *
 * Every call that can fail asks rad__os_fails first. Cleaning up (close, unlink, munmap) does not ask:
 * it must work in the situation the test has made. */
#ifndef RAD_OS_FAULT_H
#define RAD_OS_FAULT_H

#include "base/check.h"

/* The n-th operating system call from now fails, and all after it; 0 turns it off. */
RAD_INTERNAL void rad__os_fail_at(uint64_t n);

/* True when this call is to fail; errno is then `number`. For the files of os only. */
RAD_INTERNAL bool rad__os_fails(int number);

#endif
