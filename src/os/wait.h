/* wait.h — sleeping until a word changes: the one place where a thread of the runtime may block.
 *
 *     waiter                                       waker
 *     while (load(word) == old)                    store(word, new)
 *         rad__os_word_wait(word, old)             rad__os_word_wake(word, n)
 *
 * The comparison and falling asleep are one step for the waker: a wake between the caller's load and its
 * wait is not lost, because the word differs by then. Waiting may return for no reason; the caller looks again.
 * Neither call orders memory: the word itself is to be stored with release and loaded with acquire. */
#ifndef RAD_OS_WAIT_H
#define RAD_OS_WAIT_H

#include <stdatomic.h>

#include "base/check.h"

/* Returns at once when *word is not `expected`; otherwise sleeps until woken. */
RAD_INTERNAL void rad__os_word_wait(_Atomic uint32_t *word, uint32_t expected);

/* The same with a limit. False when the time passed without a wake. */
RAD_INTERNAL bool rad__os_word_wait_for(_Atomic uint32_t *word, uint32_t expected, uint64_t ns);

/* Wakes up to `count` of those who wait for this word (UINT32_MAX: all); how many there were. */
RAD_INTERNAL uint32_t rad__os_word_wake(_Atomic uint32_t *word, uint32_t count);

#endif
