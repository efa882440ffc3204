/* threads.h — pthreads of a program under test: what they wait for, and who may continue.
 *
 * Each thread of the program is a runner (lab/programs/fibers/stage.h): a coroutine on the stack of a real thread, its
 * *donor*, whose thread pointer it wears (donor.c). So thread-local variables, errno and pthread_self are right, and
 * one kernel thread runs all.
 *
 * Locks are glibc's own: who holds a mutex stands in the mutex, so one that was locked before main, lies in memory that
 * was used before, or was never initialised by a call is right, too. What this file adds is who waits.
 *
 * A call that may have to wait says so with its point: its runner can be chosen only while the call would not block. So
 * nobody tries in vain, and who of several gets a lock is the kernel's ordinary choice. */
#ifndef RAD_LAB_PROGRAMS_THREADS_THREADS_H
#define RAD_LAB_PROGRAMS_THREADS_THREADS_H

#include "lab/programs/fibers/stage.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>

enum rad_wait_kind {
    RAD_WAIT_NONE,
    RAD_WAIT_MUTEX,     /* free */
    RAD_WAIT_CONDITION, /* signalled; then for its mutex */
    RAD_WAIT_READ,      /* a rwlock without a writer */
    RAD_WAIT_WRITE,     /* a rwlock that is free */
    RAD_WAIT_SEMAPHORE, /* above 0 */
    RAD_WAIT_BARRIER,   /* all have come */
    RAD_WAIT_JOIN,      /* a thread has ended */
    RAD_WAIT_ONCE,      /* nobody is in the initialiser */
    RAD_WAIT_SPIN,      /* a spin lock that is free */
    RAD_WAIT_WORD,      /* woken: a futex */
    RAD_WAIT_SIGNAL,    /* one of a set of signals is there: sigwait */
    RAD_WAIT_HANDLER,   /* a handler of a signal has run: pause */
    RAD_WAIT_TIME,      /* its deadline: a sleep */
    RAD_WAIT_FILE,      /* a descriptor that is ready, of some */
    RAD_WAIT_STREAM     /* a FILE that nobody has locked */
};

/* How a wait ended. Broken: by a signal, before what it waits for was there; its handler has not run yet. */
enum rad_waited { RAD_WAITED_DONE, RAD_WAITED_LATE, RAD_WAITED_BROKEN };

typedef struct rad_donor rad_donor;
typedef struct rad_baton rad_baton;

enum { RAD_SHARES_MAX = 16 };

typedef struct rad_thread {
    rad_runner *runner;
    rad_donor *donor; /* NULL: main */
    rad_baton *baton; /* of a thread of the system that makes its steps; NULL: it has none */
    pthread_t handle;
    void *(*fn)(void *arg);
    void *arg, *result;
    bool detached, joined, ended;
    /* While it waits. */
    enum rad_wait_kind wait;
    void *address;
    uint32_t site;
    /* While it runs a handler. */
    const void *pauses; /* what it waits for behind that, and others count on: a condition, barrier, RW lock; NULL:
                           nothing, or it was woken */
    uint64_t paused_turn;
    const char
        *aside; /* below this address of its stack it does so, or runs the function of a timer; NULL: it does not */
    pthread_mutex_t *mutex; /* of a condition: what it needs after that */
    uint64_t deadline_ns;
    uint64_t turn; /* when it came: the order of waiters */
    /* What it reads or spins on, which glibc's words do not say. */
    const void *shares[RAD_SHARES_MAX];
    uint32_t share_count; /* more than there is room for: not known */
    bool woken;           /* a condition, barrier, word */
    bool expired;         /* the deadline has passed, and it waits no more */
    bool late;            /* the deadline of a condition has passed: it waits for the mutex */
    const void *late_for; /* what its last waits were for; each was late */
    uint32_t lates;
    struct pollfd *polled; /* by RAD_WAIT_FILE */
    uint32_t polled_count;
    /* Signals: a bit each, 1 << (number - 1). */
    uint64_t blocked;
    uint64_t awaited;                              /* by sigwait */
    stack_t stack;                                 /* for handlers of faults */
    bool cancelled, not_cancelled, cancel_at_once; /* cancel.c */
    bool leaves;                                   /* by pthread_exit, or because it is cancelled */
    char name[16];                                 /* attributes.c */
    cpu_set_t affinity;
    bool has_affinity;
    int policy, priority;
    size_t guard; /* what its attributes asked for, below its stack */
} rad_thread;

enum { RAD_THREADS_MAX = 4096 };

/* The thread that runs, or NULL: a fiber, or code outside of a step. Only then is a call of the program explored. */
RAD_INTERNAL rad_thread *rad__thread_self(void);

/* The number of the thread that runs, by creation; 0: main, or a fiber. */
RAD_INTERNAL uint32_t rad__thread_number(void);

/* What pthread_self says. */
RAD_INTERNAL pthread_t rad__thread_handle(void);

/* A new one, all zero; NULL: there are too many. */
RAD_INTERNAL rad_thread *rad__thread_new(void);

/* By its handle; NULL: none has it. */
RAD_INTERNAL rad_thread *rad__thread_of(pthread_t handle);

/* By number of creation; NULL beyond the last. */
RAD_INTERNAL rad_thread *rad__thread_at(uint32_t index);

/* Once, before there are threads: each end of one would look for it again. */
RAD_INTERNAL void rad__thread_locals_find(void);

/* main becomes a thread of the program. */
RAD_INTERNAL void rad__threads_begin(rad_runner *main);

/* A point of the thread that runs, at which it can be chosen only when it need not wait for this. Returns when it was
 * chosen; false: the deadline came first, and what it waited for is not there. */
RAD_INTERNAL bool rad__thread_waits(uint32_t site, enum rad_wait_kind wait, void *address, uint64_t deadline_ns);

/* The same, which a signal breaks: the waiting thread lets handlers run, and may wait again. */
RAD_INTERNAL enum rad_waited rad__thread_waits_once(uint32_t site, enum rad_wait_kind wait, void *address,
                                                    uint64_t deadline_ns);

/* Handlers of a thread run that waits, and meanwhile it waits there as before (NULL: nowhere). True: it was woken. */
RAD_INTERNAL bool rad__thread_handles(rad_thread *self, const void *address);

/* Waits so long, after a point. Returns what was left when a signal broke it. */
RAD_INTERNAL uint64_t rad__thread_sleeps(uint64_t ns);

/* A step of this runner on a thread of the system that is its own; false: the system gives none (baton.c). */
RAD_INTERNAL bool rad__baton_step(rad_runner *r);

/* Something at this address has changed, so others may be able to continue, or no longer. */
RAD_INTERNAL void rad__threads_review(const void *address);

/* Who has what this one waits for, or has to end; NULL: nobody, or it is not known. */
RAD_INTERNAL const rad_thread *rad__thread_holder(const rad_thread *t);

/* This thread waits, or has ended; or some were stuck before: stuck.c. */
RAD_INTERNAL void rad__stuck_look(const rad_runner *r);
RAD_INTERNAL void rad__stuck_report_threads(void);

/* A call in which it waited has returned to the program. */
RAD_INTERNAL void rad__thread_goes_on(rad_thread *t);

/* What it does next is part of a handler, or of a function of a timer. */
RAD_INTERNAL bool rad__thread_is_aside(const rad_runner *r);

/* It waits in vain; before it waits on, it may be to run a handler. */
RAD_INTERNAL bool rad__thread_is_blocked(const rad_thread *t);

/* The run is over before it runs that handler. */
RAD_INTERNAL void rad__thread_waits_on(rad_thread *t);

/* How many wait there in this way; the one of those at this place in their order of coming. */
RAD_INTERNAL uint32_t rad__threads_waiting(enum rad_wait_kind wait, const void *address);
RAD_INTERNAL rad_thread *rad__thread_waiting(enum rad_wait_kind wait, const void *address, uint32_t index);

/* Wakes up to `count` of them. Which is the kernel's choice when there are more. Returns how many. */
RAD_INTERNAL uint32_t rad__threads_signal(uint32_t site, enum rad_wait_kind wait, const void *address, uint32_t count);

/* The one that has waited longest, if any: no choice. */
RAD_INTERNAL void rad__threads_wake_first(enum rad_wait_kind wait, const void *address);

/* The runner is a thread that waits in a call of libc's: for one of the above. */
RAD_INTERNAL bool rad__thread_is_waiting(const rad_runner *r);

/* … and what for lies in this block of memory. */
RAD_INTERNAL bool rad__thread_waits_in(const rad_runner *r, const void *block, size_t size);

/* For the stage: the deadline of a runner has come; what it waits for, for reports; whether its next step may ask the
 * kernel to pick. */
RAD_INTERNAL void rad__thread_expired(rad_runner *r);
RAD_INTERNAL void rad__thread_tell_wait(const rad_runner *r);
RAD_INTERNAL bool rad__thread_may_pick(const rad_runner *r);

/* The last of a thread: destructors of thread-local variables and keys, then its end. */
RAD_INTERNAL _Noreturn void rad__thread_ends(rad_thread *t);

/* pthread_create of a thread that has this name in reports, and these signals blocked. */
RAD_INTERNAL int rad__thread_start(pthread_t *thread, const pthread_attr_t *attributes, void *(*fn)(void *), void *arg,
                                   const char *name, uint64_t blocked);

/* Calls main; pthread_exit in it ends its thread, and the process when the others have ended. */
RAD_INTERNAL int rad__main_runs(int (*main)(int, char **, char **), int argc, char **argv, char **envp);

/* Who holds a mutex: the owner's word in it. */
RAD_INTERNAL int rad__owner_word(const rad_thread *t);
RAD_INTERNAL rad_thread *rad__owner_of(int word);

/* A lock that several can hold, or whose word does not name its holder: a thread has taken it; gives it back (false: it
 * does not have it); the first that has it. */
RAD_INTERNAL void rad__share_take(rad_thread *t, const void *lock);
RAD_INTERNAL bool rad__share_give(rad_thread *t, const void *lock);
RAD_INTERNAL rad_thread *rad__share_holder(const void *lock);

/* The word that destroying puts into an object, until the program makes it anew: no state in use looks so. Using such
 * an object is misuse. */
enum { RAD_DESTROYED = 0x6b6b6b6b };
RAD_INTERNAL void rad__used_destroyed(const char *call, const char *what);

/* The virtual time at which this clock shows `at`; UINT64_MAX: never. */
RAD_INTERNAL uint64_t rad__deadline_of(clockid_t clock, const struct timespec *at);

/* Calls with a deadline answer EINVAL to others, whether they would have to wait or not. */
static inline bool rad__has_nanoseconds(const struct timespec *at)
{
    return at->tv_nsec >= 0 && at->tv_nsec < 1000000000;
}

static inline bool rad__has_deadlines(clockid_t clock)
{
    return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
}

static inline bool rad__is_deadline(clockid_t clock, const struct timespec *at)
{
    return rad__has_deadlines(clock) && rad__has_nanoseconds(at);
}

/* A call that looked and found nothing to take. */
RAD_INTERNAL void rad__thread_tried(void);

/* A call that lets others continue has done so. What the program does next, up to its next call, is a step of its own:
 * others may come first, now that they can. Without it no thread would ever come between `unlock` and the assignment
 * behind it. */
RAD_INTERNAL void rad__thread_released(void);

/* For conditions. */
RAD_INTERNAL bool rad__mutex_is_locked(const pthread_mutex_t *m);
RAD_INTERNAL bool rad__mutex_is_mine(const pthread_mutex_t *m);
RAD_INTERNAL void rad__mutex_release(pthread_mutex_t *m);
RAD_INTERNAL bool rad__mutex_can_be_taken(const pthread_mutex_t *m, const rad_thread *t);
RAD_INTERNAL int rad__mutex_take_again(pthread_mutex_t *m, uint32_t count);
RAD_INTERNAL bool rad__rwlock_can_be_read(const pthread_rwlock_t *l);

/* ---- Signals (signals.c) --------------------------------------------------------------------------------------- */

/* That are sent and have not come. */
RAD_INTERNAL extern uint32_t rad__signals_pending;

/* Actions as they are before main. */
RAD_INTERNAL void rad__signals_open(void);

/* How many processors there are is read while the environment says it: processors.c. */
RAD_INTERNAL void rad__processors_open(void);

/* This thread is to run a handler, or ends a sigwait. */
RAD_INTERNAL bool rad__signal_comes(const rad_thread *t);
RAD_INTERNAL bool rad__signal_is_awaited(const rad_thread *t);

/* The handlers of the runner that runs are called. True: all of them want that a call which they broke is made
 * again. */
RAD_INTERNAL bool rad__signals_handle(void);

/* Others have changed something for this thread, which does not run: it may be able to continue. */
RAD_INTERNAL void rad__thread_disturb(rad_thread *t);

/* To this thread, or to the process. 0, or EAGAIN: there are too many. */
RAD_INTERNAL int rad__signal_send(rad_thread *to, int number, const siginfo_t *info);

/* One of these has come for this thread, or for the process: is it there; it is taken (false: none is). */
RAD_INTERNAL bool rad__signal_is_there(const rad_thread *t, uint64_t among);
RAD_INTERNAL bool rad__signal_take(const rad_thread *t, uint64_t among, siginfo_t *info);

/* Threads of the program that could take one that is sent to the process. */
RAD_INTERNAL bool rad__signals_choose(void);

/* The last signal of this timer has not come yet. */
RAD_INTERNAL bool rad__signal_is_on_its_way(const siginfo_t *of_timer);

/* When the next timer rings (timers.c), or UINT64_MAX; those that are due now ring. True: one did. */
RAD_INTERNAL uint64_t rad__timers_next(void);
RAD_INTERNAL bool rad__timers_ring(void);

/* They have. Alone: nothing else could run, and nothing else comes of this time. */
RAD_INTERNAL void rad__timers_rang(bool alone);

/* This descriptor is closed. */
RAD_INTERNAL void rad__timers_close(int fd);
RAD_INTERNAL bool rad__timers_have(int fd);

/* The runner is about to continue: faults of the program use its stack. */
RAD_INTERNAL void rad__signal_stack_use(const rad_thread *t);
RAD_INTERNAL extern bool rad__signal_stacks;

/* ---- Signals that are read (signalfd.c) ---------------------------------------------------------------------- */

struct iovec;

/* There are descriptors of that kind; this is one; it is closed. */
RAD_INTERNAL extern bool rad__signal_files_used;
RAD_INTERNAL bool rad__signal_files_have(int fd);
RAD_INTERNAL void rad__signal_files_close(int fd);

/* From now on this thread (NULL: a fiber) asks which of them can be read. */
RAD_INTERNAL void rad__signal_files_show(const rad_thread *t);

/* These have come; a bit each. */
RAD_INTERNAL void rad__signal_files_ring(uint64_t signals);

/* True: it is one, and *got is what read says. */
RAD_INTERNAL bool rad__signal_files_read(int fd, const struct iovec *to, int count, ssize_t *got);

/* ---- Descriptors (descriptors.c) --------------------------------------------------------------------------- */

/* Threads of this run have waited for some. */
RAD_INTERNAL extern bool rad__descriptors_used;

/* One of those that the thread waits for is ready; nobody else has locked this FILE. */
RAD_INTERNAL bool rad__descriptors_are_ready(const rad_thread *t);
RAD_INTERNAL bool rad__file_is_free(const void *lock, const rad_thread *t);

/* A call by this code that reads or writes there: a point, and then it will not block. False: a handler has broken it,
 * and errno says so. */
RAD_INTERNAL bool rad__descriptor_waits(const void *caller, uint32_t site, int fd, bool writes);

/* The same for calls without a name, which are points only if they would block. */
RAD_INTERNAL bool rad__descriptor_unnamed(int fd, bool writes);
RAD_INTERNAL bool rad__write_may_wait(int fd);
RAD_INTERNAL ssize_t rad__write_unnamed(int fd, const void *from, size_t size);

/* After a step: who waits for what is ready now? `others_run`: a runner can. */
RAD_INTERNAL void rad__descriptors_settle(bool others_run);

/* ---- Ends before the end (cancel.c, robust.c) --------------------------------------------------------- */

/* It was cancelled, and ends at its next cancellation point. This is one: it returns if the thread goes on. */
RAD_INTERNAL bool rad__cancel_is_due(const rad_thread *t);
RAD_INTERNAL void rad__cancel_point(void);

/* Of a mutex: is it robust; EOWNERDEAD, ENOTRECOVERABLE or 0 if it is free; it was taken in this state, given back; all
 * those of a thread that ends. */
RAD_INTERNAL bool rad__robust_is(const pthread_mutex_t *m);
RAD_INTERNAL int rad__robust_state(const pthread_mutex_t *m);
RAD_INTERNAL void rad__robust_taken(pthread_mutex_t *m, int state);
RAD_INTERNAL void rad__robust_given(pthread_mutex_t *m);
RAD_INTERNAL void rad__robust_end(const rad_thread *t);

/* Up to `count` of those that wait for the one word wait for the other one instead. Returns how many. */
RAD_INTERNAL uint32_t rad__threads_move(const void *from, void *to, uint32_t count);

/* ---- Donors ------------------------------------------------------------------------------------------------ */

struct rad_donor {
    pthread_t handle;
    void *pointer;
    char *low;          /* of the stack that can be used */
    size_t size, whole; /* what a runner has of it, and all */
    _Atomic uint32_t ready;
    bool taken;
};

/* One that fits these attributes, new if there is none; NULL: the system gives no thread. It is never given back: its
 * thread-local variables would be those of another thread. */
RAD_INTERNAL rad_donor *rad__donor_take(const pthread_attr_t *attributes);

/* What a thread with these attributes has below its stack, as glibc tells it. */
RAD_INTERNAL size_t rad__donor_guard(const pthread_attr_t *attributes);

/* In the keeper, for workers to come: makes as many as runs so far have needed. One that a run makes itself is a thread
 * of that process, which stays when memory is put back. */
RAD_INTERNAL void rad__donors_prepare(void);

/* Before the program begins, in a process that tells a run: as many as a keeper has at least. */
RAD_INTERNAL void rad__donors_prepare_least(void);

/* The stack there is of a donor that no thread of this run has. */
RAD_INTERNAL bool rad__donor_waits_in(const void *from, size_t size);

/* Before anything is forked. */
RAD_INTERNAL void rad__callables_open(void);

/* What a std::thread that begins with this function and argument calls; NULL: it is none. Outlives the run. */
RAD_INTERNAL const char *rad__callable_name(const void *code, const void *object);

/* A run has needed more than there were, and a new worker will have them. */
RAD_INTERNAL bool rad__donors_lack(void);

#endif
