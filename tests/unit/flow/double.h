/* double.h — a machine that can die at any moment, for runners of flows.
 *
 * Its files have two states: as they are, and as they would be after a power failure (bytes count when the file was
 * synced, names when the folder was). Its processes are a runner (the code that calls, on the test's stack), shims
 * (production's code, a step at a time) and commands, which only count that they were run. Every call to the host is a
 * moment at which something may die: who is dead gets nothing but errors, and changes nothing any more. */
#ifndef TESTS_FLOW_DOUBLE_H
#define TESTS_FLOW_DOUBLE_H

#include "flow/run/run.h"
#include "flow/run/shim.h"

enum double_crash {
    DOUBLE_NONE = 0,
    DOUBLE_KILL_RUNNER, /* whoever makes the call */
    DOUBLE_KILL_SHIM,   /* the one that makes the call; nothing, when it is the runner's */
    DOUBLE_LOSE,        /* the machine: what is not synced is lost */
    DOUBLE_KEEP,        /* the machine: everything had been written, by chance */
    DOUBLE_MIX,         /* the machine: some of it */
    DOUBLE_TEAR,        /* the machine: of the journal's last bytes `tear` are left, of the rest nothing */
    DOUBLE_REPLACE,     /* nobody dies: the name of the journal is another file's, a copy of it */
    DOUBLE_FULL         /* the disk is full from here on, until double_empty, or `tear` calls that wanted room */
};

typedef struct double_world double_world;

/* A flow that is right, the last of its text or the one of that name; rad__flow_program_free it. */
rad_flow_program *double_program(const char *text);
rad_flow_program *double_program_of(const char *text, const char *flow);

double_world *double_open(uint64_t seed);
void double_close(double_world *w);

/* At the n-th call from now; 0: never. */
void double_crash_at(double_world *w, uint64_t n, enum double_crash what, uint32_t tear);
bool double_has_crashed(const double_world *w);  /* since the last double_crash_at */
uint64_t double_calls(const double_world *w);    /* since the last double_crash_at */
uint32_t double_unsynced(const double_world *w); /* bytes of the journal that a tear was about */
void double_empty(double_world *w);

/* Memory runs out for a moment: with allocation number `first` after the runner's n-th call from now, until its next
 * one. n 0: never. Shims have what they need. */
void double_lack_at(double_world *w, uint64_t n, uint64_t first);
bool double_has_called(const double_world *w); /* there was such a call */
bool double_has_lacked(const double_world *w); /* … and so many allocations, or one less */

/* The runner's n-th call from now that would say so in `error` fails, and does nothing; n 0: none. */
void double_fail_at(double_world *w, uint64_t n, const rad_error *error);
bool double_has_failed(const double_world *w);
uint32_t double_launched_since(const double_world *w); /* commands, after that, or a DOUBLE_REPLACE */

/* A new runner's host; the former runner, if it lives, is killed. */
const rad_flow_host *double_runner(double_world *w);
bool double_is_dead(const double_world *w); /* the runner */
/* Another process, beside it: for signals, and for a second runner. */
const rad_flow_host *double_other(double_world *w);

/* How often the command of an effect has done its work, in its last attempt; key without the case. */
uint32_t double_count(const double_world *w, const char *key);
uint32_t double_total(const double_world *w);
uint32_t double_most(const double_world *w); /* of one attempt of one effect */
/* How often that command did, whatever its key. */
uint32_t double_command_count(const double_world *w, const char *command);
/* Whether it may be in doubt: its shim was alive at a crash, and had claimed it or was about to. */
bool double_may_doubt(const double_world *w, const char *key);
/* Environment of the last command of that text: the value of a name, or NULL. */
const char *double_environment(const double_world *w, const char *command, const char *name);
/* The folder it was run in; "": that of the runner. NULL: it was not run. */
const char *double_folder(const double_world *w, const char *command);
uint32_t double_syncs(const double_world *w); /* of the journal */
bool double_has_file(const double_world *w, const char *name);
void double_remove(double_world *w, const char *name); /* durably */
/* Shims of that command get no time until they are asked to end; NULL: all do. */
void double_hold(double_world *w, const char *command);
/* … or until the n-th call from the last double_crash_at. */
void double_release_at(double_world *w, uint64_t n);
/* Time goes on, and shims with it. */
void double_ticks(double_world *w, uint32_t count);
uint32_t double_living_commands(const double_world *w);
uint32_t double_launched(const double_world *w); /* with those to come */
uint64_t double_now(const double_world *w);

#endif
