/* wait.c — the futex of Linux, for words of one process. */
#define _GNU_SOURCE
#include "os/wait.h"

#include "os/lock.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long futex(_Atomic uint32_t *word, int operation, uint32_t value, const struct timespec *limit)
{
    return syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, limit, NULL, 0);
}

void rad__os_word_wait(_Atomic uint32_t *word, uint32_t expected)
{
    RAD_DCHECK(rad__locks_held() == 0); /* as lock.h wants it */
    long code = futex(word, FUTEX_WAIT, expected, NULL);
    RAD_ASSERT(code == 0 || errno == EAGAIN || errno == EINTR);
}

bool rad__os_word_wait_for(_Atomic uint32_t *word, uint32_t expected, uint64_t ns)
{
    RAD_DCHECK(rad__locks_held() == 0);
    struct timespec limit = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    long code = futex(word, FUTEX_WAIT, expected, &limit);
    RAD_ASSERT(code == 0 || errno == EAGAIN || errno == EINTR || errno == ETIMEDOUT);
    return code == 0 || errno != ETIMEDOUT;
}

uint32_t rad__os_word_wake(_Atomic uint32_t *word, uint32_t count)
{
    RAD_DCHECK(rad__locks_held() == 0); /* as lock.h wants it */
    long woken = futex(word, FUTEX_WAKE, count > INT_MAX ? INT_MAX : count, NULL);
    RAD_ASSERT(woken >= 0);
    return (uint32_t)woken;
}
