/* fibers_guest.c — one program of the judge of fibers as an ordinary program, linked with the shared library, for
 * `raddle explore` (tests/judge/fibers_explored.c). The file that RADDLE_JUDGE_RESULTS names holds the program,
 * and gets the results; an argument only gives an artifact its case. */
#include "fibers_run.h"
#include "fibers_shared.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static fibers_result *claim(void *context)
{
    fibers_shared *shared = context;
    uint32_t at = shared->count++;
    fibers_result *result = &shared->results[at % FIBERS_SHARED_ROOM];
    memset(result, 0, sizeof *result);
    result->end = FIBERS_DEADLOCK; /* until it has ended otherwise */
    return result;
}

/* The results are mapped here and not before main, though that would save half of the time: then no two runs are alike
 * for the lab, and it never runs ahead of its checks (ALIKE in snapshot.c). Runs that it finds void are made again, but
 * their results would be here, too. */
int main(void)
{
    const char *path = getenv(FIBERS_SHARED_FILE);
    int file = path ? open(path, O_RDWR) : -1;
    if (file < 0) return 2;
    fibers_shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (shared == MAP_FAILED) return 3;
    static fibers_program program;
    program = shared->program;
    fibers_run_options options = {.workers = 1, .claim = claim, .context = shared};
    memcpy(options.ranks, shared->ranks, sizeof options.ranks);
    return fibers_run_explored(&program, &options) ? 0 : 4;
}
