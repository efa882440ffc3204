/* stage.h — a program under test, seen from inside its own process: who runs, and what the kernel hears of it.
 *
 * The library that holds these files has the SONAME of libraddle and is loaded in its place. It contains the
 * objects of rt as they are in production, joined at one seam: what rt asks of exec and of a part of os is answered
 * here (executor.c, system.c; seam.txt lists the names), and each public operation first stops at a *point*
 * (points.c).
 *
 * Runner    whatever the kernel can choose to run: a fiber, a thread (main, and those of rad_blocking, which are
 *           coroutines here), or the clock. Its number is that of its actor and of its only action.
 * Step      from one point of a runner to its next one. Fibers run in rad__strand_run, which finds no other fiber
 *           in its queues and so returns after each point.
 * Prefix    everything before two runners can run: there is nothing to choose, so the kernel is not asked. It runs
 *           once; a run of the kernel begins where it ended (server.c).
 *
 * All state is in `rad__stage` and in memory that a fork copies. What the kernel keeps is shared with the parent
 * (heap.c). */
#ifndef RAD_LAB_PROGRAMS_FIBERS_STAGE_H
#define RAD_LAB_PROGRAMS_FIBERS_STAGE_H

#include "base/digest.h"
#include "exec/thread/thread.h"
#include "lab/programs/fibers/sites.h"
#include "rt/ops.h"
#include "rt/runtime.h"
#include "rt/test.h"

#include <raddle/lab.h>
#include <raddle/machine.h>

/* ---- Runners ------------------------------------------------------------------------------------------ */

enum rad_runner_kind { RAD_RUNNER_FIBER, RAD_RUNNER_THREAD, RAD_RUNNER_CLOCK };

typedef struct rad_lab_exec rad_lab_exec;
typedef struct rad_rig_shared rad_rig_shared;

typedef struct rad_runner {
    uint8_t kind;
    bool enabled, ended;
    bool looker;      /* time.c */
    bool fair;        /* its next yield is one of rad_eventually, which counts fair rounds */
    uint32_t number;  /* of its actor, and of its action */
    uint32_t spawner; /* number, or RAD_NONE */
    const char *role;
    uint32_t site;      /* what it does when it runs next … */
    const void *object; /* … and to what; NULL: to nothing */
    uint32_t looks;     /* at the clock, with nothing but yields in between */
    uint32_t idles;     /* it yielded, or tried in vain, since this tick of the clock: */
    uint32_t idles_tick;
    uint64_t since_ns;     /* it can run */
    uint32_t older, newer; /* neighbours in the order of `since_ns`, while it can run; or RAD_NONE */
    uint64_t due_ns;       /* time.c; UINT64_MAX: never */
    uint32_t due_at;       /* its place among those that are (due.c) */
    uint64_t after_ns;     /* the deadline that it asked for, and has not called with; 0: none */
    bool hopeful;          /* hopeless.c */
    const void *caller;    /* of the operation that it makes, in the program's code */
    uint64_t until;        /* its deadline: 0 is a try */
    /* A fiber. */
    rad_slot *slot;
    rad_fn fn;
    void *arg;
    rad_lab_exec *exec; /* also of a thread that joins it */
    /* A thread. */
    rad_context context;
    void *stack;
    size_t stack_size;
    void (*body)(void *argument);
    void *argument;
    enum rad_run answer;  /* why it left */
    const void *word;     /* it waits for; NULL: for none. Of a fiber only when it sleeps. */
    uint64_t deadline_ns; /* of that wait */
    bool woken;
    struct rad_thread *thread; /* of the program's own: lab/threads; or NULL */
    uint32_t view;             /* of memory: lab/watched; 0: none */
    void *pointer;             /* the thread pointer that it wears; NULL: the process's */
} rad_runner;

/* An executor of production without threads and queues: its ready fibers are the enabled actions. */
struct rad_lab_exec {
    rad_exec exec; /* first */
    rad_shell shell;
    uint64_t fibers; /* that have not ended */
    bool closed;
    rad_lab_exec *next;
};

/* How the program ended, kept until the kernel can hear of it. */
typedef struct rad_stage_end {
    int status;         /* of exit, or of main */
    uint32_t oracle;    /* RAD_NONE: no failure */
    int error;          /* it cannot be explored: a code of rad_error; 0: no */
    rad_runner *runner; /* that failed; NULL: none did */
    const void *object;
    uint32_t site; /* from which the role of the object follows */
    char at[200];  /* the place that tells failures apart */
    char message[400];
} rad_stage_end;

typedef struct rad_stage {
    bool in_lab;  /* the lab has begun: what runs outside of a step is not the program */
    bool running; /* the program runs, in a step: calls are points */
    bool prefix;  /* nothing is told to the kernel */
    bool over;    /* the program has ended: main has returned, exit was called, or a failure was found */
    rad_stage_end end;
    uint64_t points;               /* that were met */
    uint64_t now_ns;               /* virtual */
    bool real_threads;             /* each thread has one of the system: threads/baton.c */
    bool clock_free;               /* the clock may move while others can run: time.c */
    uint64_t delay_ns;             /* the longest time by which the clock overtook a runner that could run … */
    const char *delayed;           /* … and which: its role; NULL: none */
    bool uncontrolled;             /* it asked or changed what is outside of its process */
    rad_outside outside;           /* … by these calls; empty: it only waited */
    bool external;                 /* it has descriptors that others can make ready */
    bool timed;                    /* there was a timer or a deadline */
    bool spurious;                 /* conditions wake without a signal: threads/cond.c */
    uint32_t spurious_count;       /* that did, in this run */
    bool waited;                   /* a thread waited for a condition */
    bool closed_fails;             /* a send to a closed channel is a failure: mistakes.c */
    uint64_t memory_limit;         /* bytes; 0: none. memory.c */
    char folders[200];             /* in which each run has one; "": none has */
    char scratch[256];             /* the directory of the run; "": none */
    const char *const *suppressed; /* races that do not count; or NULL */
    rad_rig_shared *shared;        /* with raddle; NULL: the run is told */
    uint32_t looks_in_step;        /* at the clock */
    uint32_t counts_in_step;       /* … at the processor's counter since then */
    bool woke;                     /* in this step a runner was made able to run */
    uint32_t idle_ticks;           /* in a row, for nobody but those who look at the clock */
    uint32_t ticks;                /* of the clock, in this run */
    uint32_t idles_needed;         /* of all that can run, before it moves for them; 0: as many as at first */
    bool listed;                   /* raddle asks which tests there are, and runs none */
    bool testing;                  /* a test of raddle/test.h is under way: it does not end the program */
    bool is_seeded;                /* the generator of rad_random, … */
    uint64_t random;               /* … and its state */
    uint8_t goals[RAD_GOALS_MAX];  /* of rad_sometimes, in this run: RAD_GOAL_… */
    bool debugged;                 /* by gdb: debugged.c */
    bool stops;                    /* in this step */
    bool timers_call;              /* the program has timers that call a function */
    uint32_t scans;                /* of memory, for fibers that nobody can wake */
    uint64_t next_scan;            /* not before so many points */
    uint64_t quiet;                /* steps since a fiber began to wait, or ended */
    rad_runner *runners;
    uint32_t runner_count, enabled_count;
    uint32_t oldest, newest;  /* ends of the list of those that can run; the clock is not in it */
    uint32_t *due, due_count; /* numbers of runners that wait for the clock: due.c */
    uint32_t lookers;         /* that can run, and wait for the clock by looking at it */
    uint32_t goal_count;      /* goals that were come to have lower numbers */
    rad_runner *current, *clock;
    rad_context kernel; /* of the stack from which runners are stepped */
    rad_lab_exec *execs;
    int (*main)(int argc, char **argv, char **envp);
    int argc;
    char **argv, **envp;
    uint64_t steps, next_look; /* of the run; when laps.c is asked next */
    uint64_t next_check;       /* when the structures of rt are looked at next */
    uint64_t progress;         /* steps of fibers, and calls that have returned after a wait */
    uint64_t own_steps;        /* neither of the clock, nor of handlers and functions of timers */
    uint64_t stuck_since;      /* since so many of them threads wait for each other's locks for ever: stuck.c */
    bool bypasses;             /* a runner waits for an RW lock while others get it: bypass.c */
    uint64_t picks;            /* that the kernel made in steps */
    uint64_t passed_by;        /* fibers that were woken for a mutex, and found it taken */
    rad_runner *exits;         /* calls what atexit has registered; NULL: none does */
} rad_stage;

RAD_INTERNAL extern rad_stage rad__stage;

/* That much later; UINT64_MAX: never. */
static inline uint64_t rad__stage_after(uint64_t ns)
{
    return ns < UINT64_MAX - rad__stage.now_ns ? rad__stage.now_ns + ns : UINT64_MAX;
}

enum { RAD_RUNNERS_MAX = 1 << 20, RAD_THREAD_STACK = 8 << 20 };

#define RAD_TIME_BEGINS UINT64_C(1000000000)

/* Memory for them, which is paid for when it is used. */
RAD_INTERNAL int rad__stage_open(rad_error *error);

/* NULL: there are no more addresses. */
RAD_INTERNAL void *rad__stage_reserve(size_t size);

/* Something that was reserved begins there: it is the lab's memory, and none of the program's. */
RAD_INTERNAL bool rad__stage_is_reserved(const void *from, size_t size);

RAD_INTERNAL rad_runner *rad__runner_add(enum rad_runner_kind kind, const char *role, uint32_t site);
RAD_INTERNAL void rad__runner_enable(rad_runner *r);
RAD_INTERNAL void rad__runner_disable(rad_runner *r);

/* Says what it will do when it runs next. */
RAD_INTERNAL void rad__runner_announce(rad_runner *r, uint32_t site, const void *object);

/* A coroutine with a stack of its own. */
RAD_INTERNAL rad_runner *rad__thread_add(const char *role, uint32_t site, void (*body)(void *), void *argument);

/* The same on this stack, and not enabled yet. */
RAD_INTERNAL rad_runner *rad__thread_add_on(const char *role, uint32_t site, void (*body)(void *), void *argument,
                                            void *stack, size_t size);

/* The thread that runs leaves its stack; returns when it is chosen again. */
RAD_INTERNAL void rad__thread_leave(enum rad_run answer);

/* Threads that wait for this word continue. Returns how many. */
RAD_INTERNAL uint32_t rad__threads_wake(const void *word, uint32_t count);

/* ---- Around a run: its files, and its directory (around.c) --------------------------------------------- */

RAD_INTERNAL void rad__around_open(void);  /* what is open now, runs find so */
RAD_INTERNAL void rad__around_begin(void); /* before main */
RAD_INTERNAL void rad__around_began(void); /* the first decision is next */
RAD_INTERNAL void rad__around_run(void);   /* a run begins with it */
RAD_INTERNAL void rad__around_end(void);   /* the program has ended */

/* ---- Points and ends ---------------------------------------------------------------------------------- */

/* The runner that runs is about to do this: the kernel decides who is next. Without effect outside a step. */
RAD_INTERNAL void rad__point(uint32_t site, const void *object);

/* The runner that runs has made this call: others may come before what follows, if that can make a difference
 * (after.c). Without effect outside a step. */
RAD_INTERNAL void rad__point_after(uint32_t site, const void *object);

/* Nothing of the program runs any more in this run: leaves for good, in any runner. */
RAD_INTERNAL _Noreturn void rad__leave_for_good(void);

/* How programs end (ends.c). Before anything is registered; false: there is no memory. */
RAD_INTERNAL bool rad__ends_open(void);

/* Main is next: which libraries have something to call at the end? */
RAD_INTERNAL void rad__ends_look(void);

/* The program ends as by exit: what atexit has registered comes first. */
RAD_API _Noreturn void rad__exit(int status) __asm__("exit");

/* The program has ended with this status. */
RAD_INTERNAL _Noreturn void rad__program_exits(int status);

/* A failure of the program, in the runner that runs. `at` tells failures of one oracle apart. */
RAD_INTERNAL _Noreturn void rad__program_fails(uint32_t oracle, const char *at, const char *format, ...)
    RAD_PRINTF(3, 4);

/* The program makes a call that cannot be explored: the run ends with an error that names it. */
RAD_INTERNAL _Noreturn void rad__program_refused(const char *call, const char *why);

/* The program cannot be explored as it is called: the run ends with this error. */
RAD_INTERNAL _Noreturn void rad__program_unfit(const char *why);

/* Tells the kernel which goals the run has come to so far. */
RAD_INTERNAL void rad__goals_tell(void);

/* The run asks or changes what the kernel does not control. */
RAD_INTERNAL void rad__stage_is_uncontrolled(void);

/* Tells the kernel which runners there are, of a program that dies before anything was told. */
RAD_INTERNAL void rad__stage_tell_runners(void);

/* Tells the kernel how the program ended. */
RAD_INTERNAL void rad__stage_tell_end(void);

/* Stops in the debugger, if there is one: debugged.c. */
RAD_INTERNAL void rad__debugger_stop(void);

/* Until a debugger has attached itself. */
RAD_INTERNAL void rad__debugger_await(void);

/* ---- Steps -------------------------------------------------------------------------------------------- */

/* main becomes a runner; then everything runs that runs alone. */
RAD_INTERNAL void rad__stage_begin(void);

/* Leaves the stack of the thread of the system that calls, for that of this runner, until it leaves its own. */
RAD_INTERNAL void rad__stage_switch(rad_runner *r);

/* One step of a runner that is enabled. */
RAD_INTERNAL void rad__stage_step(rad_runner *r);

/* The executors of the program; a fiber of one of them has ended. */
RAD_INTERNAL void rad__exec_ended(rad_lab_exec *x);

/* rad_select. */
RAD_INTERNAL int rad__select_chosen(rad_select_case *cases, uint32_t count, rad_time until);

/* This runner has made a step: is there a fiber now that nothing can wake? That is a failure. */
RAD_INTERNAL void rad__hopeless_look(const rad_runner *r);

/* Nothing can run. The first fiber has returned: what waits was left behind. */
RAD_INTERNAL void rad__hopeless_end(void);

/* This runner has made a step, with this object: do the steps of the run repeat, while another one waits? That is a
 * failure (laps.c). */
RAD_INTERNAL void rad__laps_look(const rad_runner *r, const void *object);

/* This runner has made a step; `unlocks`: it gave this RW lock back. Is somebody passed by for ever? That is a failure
 * (bypass.c). */
RAD_INTERNAL void rad__bypass_look(const rad_runner *r, bool unlocks, const void *lock);

/* The state of the program, all of it or a part; false: it cannot be known (round.c). */
RAD_INTERNAL bool rad__round_state(bool whole, rad_digest *digest);

/* The state of the program, for livelocks: rad_round_state of core/fair.h (round.c). */
RAD_INTERNAL bool rad__program_round(void *self, bool whole, rad_digest *digest);

/* The random numbers that the C library gives (random.c): where they are. */
RAD_INTERNAL uint64_t rad__random_state(void);

/* ---- Time --------------------------------------------------------------------------------------------- */

/* The earliest timer or deadline, or UINT64_MAX. */
RAD_INTERNAL uint64_t rad__time_next(void);

/* The clock goes there, and wakes. */
RAD_INTERNAL void rad__time_tick(void);

/* This runner yields, or has tried in vain. */
RAD_INTERNAL void rad__time_idles(rad_runner *r);

/* The time, for the runner that runs. A loop that looks at it waits for it, so it moves in the end. */
RAD_INTERNAL uint64_t rad__time_look(void);

/* The processor's counter: nanoseconds, too. */
RAD_INTERNAL uint64_t rad__time_count(void);

/* The runner that runs waits so long, whatever others do; a point comes first. UINT64_MAX: for ever. Returns what was
 * left when a signal ended it. */
RAD_INTERNAL uint64_t rad__time_sleep(uint64_t ns);

/* Something has changed on which it depends when the clock is to move for this runner. */
RAD_INTERNAL void rad__time_changed(rad_runner *r);

/* When a runner is due; UINT64_MAX: never. Who is due first; NULL: nobody. */
RAD_INTERNAL void rad__due_set(rad_runner *r, uint64_t ns);
RAD_INTERNAL rad_runner *rad__due_first(void);

/* After each step: descriptors that have become ready, and whether the clock may go on. */
RAD_INTERNAL void rad__time_settle(void);

/* ---- Names -------------------------------------------------------------------------------------------- */

/* The number of the object at this address, new or known; RAD_NONE for NULL. The role follows from the site. */
RAD_INTERNAL uint32_t rad__object_at(const void *address, uint32_t site);

/* A new object begins at this address. NULL: it is called after its kind. `variable` is where the program keeps it.
 * */
RAD_INTERNAL void rad__object_begins(const void *address, uint32_t site, const char *role, const void *variable);

/* The fiber in this slot, whose object has begun, is this runner. */
RAD_INTERNAL void rad__object_runs(const void *slot, uint32_t runner);

/* What sites are about. Before the first run. */
RAD_INTERNAL void rad__names_open(void);

/* All objects so far are told to the kernel, which knows none yet. */
RAD_INTERNAL void rad__objects_tell(void);

/* The name of a function of the program, for its fibers. Outlives the run. */
RAD_INTERNAL const char *rad__function_name(rad_fn fn);

/* Reads the names of the program's variables from raddle, which has them from its debug information. */
RAD_INTERNAL bool rad__variables_read(int in);

/* The name of the variable, or part of one, at this address; NULL: it has none. Outlives the run. */
RAD_INTERNAL const char *rad__variable_at(const void *address);

/* ---- Places in the code: frames.c ------------------------------------------------------------------------ */

/* To the stream, if there is one: the call that a runner is about to make; the one that made an object,
 * or started a runner; the calls of
 * all that wait, and of the one that runs if it has `failed`. */
RAD_INTERNAL void rad__frames_tell_call(const rad_runner *r);
RAD_INTERNAL void rad__frames_tell_made(uint32_t object, const void *caller);
RAD_INTERNAL void rad__frames_tell_started(uint32_t runner, const void *caller);
RAD_INTERNAL void rad__frames_tell_all(bool failed);

/* The same, of the one that runs: these are its calls; `full`: nothing is left of its stack. */
struct rad_backtrace;
RAD_INTERNAL void rad__frames_tell_failed(const rad_runner *r, const struct rad_backtrace *calls, bool full);

/* The fiber or thread whom a lock knows by this number; RAD_NONE: none that is a fiber. */
RAD_INTERNAL uint32_t rad__runner_of_strand(uint64_t who);

/* The two that used this object last. */
RAD_INTERNAL void rad__object_users(uint32_t object, uint32_t users[2]);

/* The same of any code; `unknown` where there is no name. */
RAD_INTERNAL const char *rad__address_name(const void *code, const char *unknown);

/* What the fiber waits for, and who has it: numbers, or RAD_NONE. */
RAD_INTERNAL void rad__fiber_waits(const rad_runner *r, uint32_t *object, uint32_t *holder);

/* ---- The machine -------------------------------------------------------------------------------------- */

RAD_INTERNAL extern const rad_machine rad__fiber_machine;

#endif
