/* early_return.c — a boss hands out jobs to two workers and closes the queue when it is done; but if a job is bad it
 * returns at once, and the workers wait for jobs for ever. */
#include "planted.h"

typedef struct office {
    rad_chan *jobs;
    int done;
} office;

static int worker(void *arg)
{
    office *o = arg;
    int job;
    while (rad_recv(o->jobs, &job, RAD_FOREVER) == 0) o->done++;
    return 0;
}

static int boss(office *o)
{
    for (int job = 0; job < 3; job++) {
        if (job == 2 && o->done < 2) {
            if (fixed) rad_chan_close(o->jobs, 0);
            return -1; /* the earlier jobs are late */
        }
        if (rad_send(o->jobs, &job, RAD_FOREVER) != 0) return -1;
    }
    rad_chan_close(o->jobs, 0);
    return 0;
}

static int start(void *arg)
{
    office *o = calloc(1, sizeof *o);
    (void)arg;
    if (rad_chan_create(&o->jobs, sizeof(int), 2, RAD_CHAN_BLOCKS) != 0) return 1;
    for (int i = 0; i < 2; i++)
        if (rad_spawn(NULL, worker, o) != 0) return 1;
    boss(o);
    return 0;
}
