/* fibers_guest.c — one program of the judge of fibers as an ordinary program, linked with the shared library, for
 * `raddle explore` (tests/judge/fibers_explored.c). The file that RADDLE_JUDGE_RESULTS names holds the program,
 * and gets the results; an argument only gives an artifact its case. */
#include "fibers_run.h"
#include "fibers_shared.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static fibers_result *claim(void *context)
{
    fibers_shared *s = context;
    uint32_t at = s->count++;
    fibers_result *result = &s->results[at % FIBERS_SHARED_ROOM];
    memset(result, 0, sizeof *result);
    result->end = FIBERS_DEADLOCK; /* until it has ended otherwise */
    return result;
}

static fibers_shared *shared;

/* Before main: what main maps is part of each run, and would be unmapped after it, with a look at all of the memory. */
__attribute__((constructor)) static void map_shared(void)
{
    const char *path = getenv(FIBERS_SHARED_FILE);
    int file = path ? open(path, O_RDWR) : -1;
    if (file < 0) return;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (shared == MAP_FAILED) shared = NULL;
    close(file);
}

int main(void)
{
    static fibers_program program;
    if (shared == NULL) return 2;
    program = shared->program;
    fibers_run_options options = {.workers = 1, .claim = claim, .context = shared};
    memcpy(options.ranks, shared->ranks, sizeof options.ranks);
    return fibers_run_explored(&program, &options) ? 0 : 4;
}
