/* random.c — random numbers of the system for a program under test: the same ones in each run. */
#define _GNU_SOURCE
#include "base/prng.h"
#include "lab/programs/fibers/interposed.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

enum { FILE_SIZE = 64 << 10, PART_SIZE = 256 };

/* A fork copies it, so every run draws the same. */
static rad_prng numbers;
static bool begun;

static uint64_t next(void)
{
    if (!begun) numbers = rad__prng(0, RAD_STREAM_PROGRAM, 0);
    begun = true;
    return rad__prng_next(&numbers);
}

uint64_t rad__random_state(void)
{
    rad_prng copy = numbers;
    return begun ? rad__prng_next(&copy) : 0;
}

static void fill(void *to, size_t size)
{
    char *at = to;
    for (size_t done = 0; done < size; done += sizeof(uint64_t)) {
        uint64_t bits = next();
        size_t left = size - done;
        memcpy(at + done, &bits, left < sizeof bits ? left : sizeof bits);
    }
}

RAD_ANSWER(ssize_t, getrandom, (void *to, size_t size, unsigned flags))
{
    if (!rad__program_calls()) return RAD_REAL(getrandom)(to, size, flags);
    fill(to, size);
    return (ssize_t)size;
}

bool rad__random_by_number(long number, const long *a, long *answer)
{
    if (number != SYS_getrandom) return false;
    *answer = rad__libc_getrandom(rad__argument_pointer(a[0]), (size_t)a[1], (unsigned)a[2]);
    return true;
}

RAD_ANSWER(int, getentropy, (void *to, size_t size))
{
    if (!rad__program_calls()) return RAD_REAL(getentropy)(to, size);
    fill(to, size);
    return 0;
}

RAD_ANSWER(uint32_t, arc4random, (void))
{
    return (uint32_t)next();
}

RAD_ANSWER(void, arc4random_buf, (void *to, size_t size))
{
    fill(to, size);
}

RAD_ANSWER(uint32_t, arc4random_uniform, (uint32_t bound))
{
    next();
    return bound ? (uint32_t)rad__prng_below(&numbers, bound) : 0;
}

/* std::random_device::_M_getval(), which may ask the processor. */
RAD_ANSWER(unsigned, _ZNSt13random_device9_M_getvalEv, (void *self))
{
    (void)self;
    return (unsigned)next();
}

int rad__random_file(void)
{
    char part[PART_SIZE];
    int fd = memfd_create("random", MFD_CLOEXEC);
    for (uint32_t i = 0; fd >= 0 && i < FILE_SIZE / PART_SIZE; i++) {
        fill(part, sizeof part);
        if (write(fd, part, sizeof part) != PART_SIZE) break;
    }
    if (fd >= 0) lseek(fd, 0, SEEK_SET);
    return fd;
}
