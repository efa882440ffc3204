/* under_test.h — a program of the user's as a machine: from raddle's side.
 *
 * The program is a process that raddle starts, with the lab's library in the place of libraddle (fibers/stage.h says
 * what happens there). It is one of the workers (workers.c), with the kernel in it, or it tells a run by a stream, with
 * the kernel here: then the machine of this file calls what the stream says, so stories, logs, shrinking and users'
 * policies see what they see of every machine.
 *
 * Only a program that the user has typed is ever started: rad__under_test_set has it. A file names its arguments,
 * which must be those that were typed. */
#ifndef RAD_LAB_PROGRAMS_UNDER_TEST_H
#define RAD_LAB_PROGRAMS_UNDER_TEST_H

#include "base/check.h"
#include "lab/programs/hello.h"

#include <raddle/lab.h>

/* `argv` is the program's, its path first; it stays the caller's. `library` is the lab's. Adds the machine. */
RAD_INTERNAL int rad__under_test_set(char *const *argv, const char *library, rad_error *error);

/* Other arguments for the same program. */
RAD_INTERNAL int rad__under_test_again(char *const *argv, rad_error *error);

/* The program has tests (raddle/test.h), and none was named: from now on a case of a file brings the name of its
 * test, and values of parameters. */
enum { RAD_TEST_WORDS_MAX = 64 };
RAD_INTERNAL void rad__under_test_open(void);

/* Which tests it has, as rt/test.h writes it: rad__free it. RAD_EINPUT: it does not say. */
RAD_INTERNAL int rad__under_test_catalog(char **text, rad_error *error);

/* Its path and arguments; NULL at the end. */
RAD_INTERNAL const char *const *rad__under_test_words(void);

/* What it reads from its standard input, each run from the beginning; NULL: nothing. The path stays the caller's. */
RAD_INTERNAL void rad__under_test_input(const char *path);

/* A file to which the runs of a search print, one after the other, behind what is there; NULL: nowhere. */
RAD_INTERNAL void rad__under_test_shown(const char *path);

/* Its threads are those of the system, one at a time: lab/programs/threads/baton.c. */
RAD_INTERNAL void rad__under_test_real_threads(bool real);

/* The name of its machine; NULL: there is none. */
RAD_INTERNAL const char *rad__under_test_name(void);

/* Whether this is the machine of the program under test. */
RAD_INTERNAL bool rad__program_is(const rad_machine *m);

/* What the program printed in the run that this instance of its machine told: rad__free it. NULL: nothing, or there
 * is no memory. */
RAD_INTERNAL char *rad__under_test_output(const void *self);

/* Its next run is watched by gdb, in the terminal, which stops where it fails: in this step of a run that comes to a
 * standstill (RAD_NO_STEP: of another one), in the frame of this function ("": not known),
 * or the one that `inner` frames lie below. */
#define RAD_NO_STEP UINT64_MAX
RAD_INTERNAL void rad__under_test_debug(void *self, uint64_t step, uint32_t inner, const char *function);

/* The debugger was left. */
RAD_INTERNAL void rad__under_test_debugged(void *self);

/* This process is a worker: it dies as the program does, for the supervisor to see, and *pid is in which process the
 * run is (rig.h). */
RAD_INTERNAL void rad__under_test_serves(void *self, volatile int64_t *pid);

/* Its next run ends in the death of its process, which is then no error. */
RAD_INTERNAL void rad__under_test_dies(void *self);

/* The same: it does not come back from this step; after `cpu_ms` of CPU time its process says where it is, and dies. */
RAD_INTERNAL void rad__under_test_hangs(void *self, uint64_t step, uint32_t cpu_ms);

/* The same: where in its code it was. Stays the machine's. */
RAD_INTERNAL struct rad_places *rad__under_test_places(const void *self);
RAD_INTERNAL struct rad_blame *rad__under_test_blame(const void *self);

typedef struct rad_tested {
    int pid;
    int to, from; /* pipes */
    int output;   /* what the program printed: os/start.h */
} rad_tested;

struct rad_inserted;

/* What `raddle cc` has put into it, as its last process has told: lab/programs/inserted.h. */
RAD_INTERNAL const struct rad_inserted *rad__under_test_inserted(void);

/* Starts the program, for this instance of its machine, and greets it. `memory` is the mapping of a rig, in which
 * it works; -1: it tells. `apart`: each run is to have a process of its own. */
RAD_INTERNAL int rad__tested_start(rad_tested *t, const void *self, int memory, enum rad_setup_apart apart,
                                   const char *const *suppressed, rad_error *error);

/* Kills it, if it is still there. */
RAD_INTERNAL void rad__tested_stop(rad_tested *t);

#endif
