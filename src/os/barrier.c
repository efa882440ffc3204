#define _GNU_SOURCE
#include "os/barrier.h"

#include "os/fault.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { STORES_ARE_OUT_NS = 1000000 };

bool rad__os_barrier_register(void)
{
    if (rad__os_fails(ENOSYS)) return false;
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

bool rad__os_barrier(void)
{
    if (!rad__os_fails(EPERM) && RAD_LIKELY(syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0))
        return true;
    struct timespec pause = {0, STORES_ARE_OUT_NS};
    nanosleep(&pause, NULL);
    return false;
}
