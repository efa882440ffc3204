/* futex.c — the call syscall(2) by which libraries wait on a word: std::future, std::atomic::wait, C++ guards. */
#define _GNU_SOURCE
#include "lab/fibers/libc.h"
#include "lab/threads/threads.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>

static uint64_t futex_deadline(int what, const struct timespec *at)
{
    if (at == NULL) return UINT64_MAX;
    if ((what & FUTEX_CMD_MASK) == FUTEX_WAIT) /* relative */
        return rad__stage.now_ns + (uint64_t)at->tv_sec * 1000000000u + (uint64_t)at->tv_nsec;
    return rad__deadline_of(what & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC, at);
}

static long futex(uint32_t *word, int what, uint32_t value, const struct timespec *at)
{
    switch (what & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
        rad__point(RAD_AT_futex_wait, word);
        if (*(volatile uint32_t *)word != value) return -EAGAIN;
        switch (rad__thread_waits_once(RAD_AT_futex_woken, RAD_WAIT_WORD, word,
                                       futex_deadline(what, at))) {
        case RAD_WAITED_DONE: return 0;
        case RAD_WAITED_LATE: return -ETIMEDOUT;
        default: rad__signals_handle(); return -EINTR;
        }
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET:
        rad__point(RAD_AT_futex_wake, word);
        value = rad__threads_signal(RAD_AT_futex_wake, RAD_WAIT_WORD, word, value);
        rad__thread_released();
        return (long)value;
    default: rad__program_refused("futex", "with an operation other than wait and wake");
    }
}

bool rad__futex_by_number(long number, const long *a, long *answer)
{
    if (number != SYS_futex || rad__thread_self() == NULL) return false;
    *answer =
        futex(rad__argument_pointer(a[0]), (int)a[1], (uint32_t)a[2], rad__argument_pointer(a[3]));
    if (*answer >= 0) return true;
    errno = (int)-*answer;
    *answer = -1;
    return true;
}
