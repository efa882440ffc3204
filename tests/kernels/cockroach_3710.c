/* cockroach#3710, a reader that reads again behind a writer.
 * The scan of the Raft log holds the store's lock for reading, and for each replica calls a function that takes it for
 * reading once more. A writer that comes in between waits for the first read, and the second read waits for the writer.
 * Goes wrong: the scan and the writer wait for each other. */
#include "kernel.h"

static rad_rwlock store = RAD_RWLOCK_INIT;
static int status, queued;

static int raft_status(void)
{
    rad_rwlock_read(&store);
    int now = status;
    rad_rwlock_unlock(&store);
    return now;
}

static int scans(void *unused)
{
    (void)unused;
    rad_rwlock_read(&store);
    int replicas = 1;
    if (fixed) rad_rwlock_unlock(&store);
    for (int i = 0; i < replicas; i++) queued += raft_status() >= 0;
    if (!fixed) rad_rwlock_unlock(&store);
    return 0;
}

static int processes_raft(void *unused)
{
    (void)unused;
    rad_rwlock_write(&store);
    status++;
    rad_rwlock_unlock(&store);
    return 0;
}

static int start(void *unused)
{
    rad_nursery n;
    (void)unused;
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_go(&n, scans, NULL);
    rad_nursery_go(&n, processes_raft, NULL);
    int code = rad_nursery_wait(&n);
    CHECK(queued == 1);
    return code;
}
