/* futex.c — the call syscall(2) by which libraries wait on a word: std::future, std::atomic::wait, C++ guards. */
#define _GNU_SOURCE
#include "lab/programs/fibers/interposed.h"
#include "lab/programs/threads/threads.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>

static uint64_t futex_deadline(int what, const struct timespec *at)
{
    uint64_t ns;
    if (at == NULL) return UINT64_MAX;
    if ((what & FUTEX_CMD_MASK) == FUTEX_WAIT && rad__ns_of(at, &ns)) return rad__stage_after(ns); /* relative */
    return rad__deadline_of(what & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC, at);
}

/* FUTEX_WAKE_OP: changes the second word, and says whether those who wait for it are woken, too. */
static bool word_changes(uint32_t *word, uint32_t how)
{
    uint32_t before = *word, by = how << 8 >> 20, with = how << 20 >> 20;
    if (how >> 28 & FUTEX_OP_OPARG_SHIFT) by = 1u << (by & 31);
    switch (how >> 28 & 7) {
    case FUTEX_OP_SET: *word = by; break;
    case FUTEX_OP_ADD: *word = before + by; break;
    case FUTEX_OP_OR: *word = before | by; break;
    case FUTEX_OP_ANDN: *word = before & ~by; break;
    default: *word = before ^ by;
    }
    switch (how >> 24 & 15) {
    case FUTEX_OP_CMP_EQ: return before == with;
    case FUTEX_OP_CMP_NE: return before != with;
    case FUTEX_OP_CMP_LT: return (int32_t)before < (int32_t)with;
    case FUTEX_OP_CMP_LE: return (int32_t)before <= (int32_t)with;
    case FUTEX_OP_CMP_GT: return (int32_t)before > (int32_t)with;
    default: return (int32_t)before >= (int32_t)with;
    }
}

/* With two words: wakes some at the first one, and moves or wakes some at the second one. */
static long two_words(uint32_t *word, int what, uint32_t value, const long *a)
{
    uint32_t *other = rad__argument_pointer(a[4]), more = (uint32_t)a[3], how = (uint32_t)a[5];
    bool wakes = what == FUTEX_WAKE_OP, both = false;
    rad__point(RAD_AT_futex_wake, word);
    if (what == FUTEX_CMP_REQUEUE && *(volatile uint32_t *)word != how) return -EAGAIN;
    if (wakes) both = word_changes(other, how);
    uint32_t count = rad__threads_signal(RAD_AT_futex_wake, RAD_WAIT_WORD, word, value);
    if (both) count += rad__threads_signal(RAD_AT_futex_wake, RAD_WAIT_WORD, other, more);
    uint32_t moved = wakes ? 0 : rad__threads_move(word, other, more);
    rad__thread_released();
    return (long)count + (what == FUTEX_CMP_REQUEUE ? moved : 0);
}

static const char *name_of(int what)
{
    switch (what) {
    case FUTEX_LOCK_PI: return "futex(FUTEX_LOCK_PI)";
    case FUTEX_LOCK_PI2: return "futex(FUTEX_LOCK_PI2)";
    case FUTEX_TRYLOCK_PI: return "futex(FUTEX_TRYLOCK_PI)";
    case FUTEX_WAIT_REQUEUE_PI: return "futex(FUTEX_WAIT_REQUEUE_PI)";
    case FUTEX_CMP_REQUEUE_PI: return "futex(FUTEX_CMP_REQUEUE_PI)";
    case FUTEX_WAIT_BITSET: return "futex(FUTEX_WAIT_BITSET)";
    case FUTEX_WAKE_BITSET: return "futex(FUTEX_WAKE_BITSET)";
    default: return "futex(FUTEX_FD)";
    }
}

static long futex(uint32_t *word, int what, uint32_t value, const struct timespec *at, const long *a)
{
    bool some = (uint32_t)a[5] != FUTEX_BITSET_MATCH_ANY;
    int command = what & FUTEX_CMD_MASK;
    uint64_t ns;
    if (some && (command == FUTEX_WAIT_BITSET || command == FUTEX_WAKE_BITSET))
        rad__program_refused(name_of(command), "with a set of bits");
    switch (command) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
        if (at != NULL && !rad__ns_of(at, &ns)) return -EINVAL;
        rad__point(RAD_AT_futex_wait, word);
        if (*(volatile uint32_t *)word != value) return -EAGAIN;
        switch (rad__thread_waits_once(RAD_AT_futex_woken, RAD_WAIT_WORD, word, futex_deadline(what, at))) {
        case RAD_WAITED_DONE: return 0;
        case RAD_WAITED_LATE: return -ETIMEDOUT;
        default:
            rad__signals_handle();
            rad__thread_goes_on(rad__thread_self());
            return -EINTR;
        }
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET:
        rad__point(RAD_AT_futex_wake, word);
        value = rad__threads_signal(RAD_AT_futex_wake, RAD_WAIT_WORD, word, value);
        rad__thread_released();
        return (long)value;
    case FUTEX_UNLOCK_PI: return -EPERM; /* nobody has one: so glibc asks whether there are any */
    case FUTEX_REQUEUE:
    case FUTEX_CMP_REQUEUE:
    case FUTEX_WAKE_OP: return two_words(word, command, value, a);
    default: rad__program_refused(name_of(command), "which cannot be explored");
    }
}

bool rad__futex_by_number(long number, const long *a, long *answer)
{
    if (number != SYS_futex || rad__thread_self() == NULL) return false;
    *answer = futex(rad__argument_pointer(a[0]), (int)a[1], (uint32_t)a[2], rad__argument_pointer(a[3]), a);
    if (*answer >= 0) return true;
    errno = (int)-*answer;
    *answer = -1;
    return true;
}
