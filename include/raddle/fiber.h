/* raddle/fiber.h — fibers: functions with stacks of their own, any number of them, on all cores.
 *
 *     static int hello(void *name) { printf("hello, %s\n", (char *)name); return 0; }
 *
 *     static int start(void *unused)
 *     {
 *         rad_nursery n;
 *         rad_nursery_open(&n, RAD_FOREVER);
 *         rad_nursery_go(&n, hello, "world");
 *         rad_nursery_go(&n, hello, "moon");
 *         return rad_nursery_wait(&n);            // until both have ended; the first error, or 0
 *     }
 *
 *     int main(void) { return rad_main(NULL, start, NULL, NULL); }
 *
 * A fiber runs on one of the *workers* of its runtime (threads, as many as there are CPUs) until it waits for
 * something; the worker then runs another one. It may continue on another worker: after any call that may park,
 * thread-local variables, also errno, can be those of another thread. Nothing takes the CPU away from a
 * fiber that computes.
 *
 * Time       every call that may wait has a deadline `until`, by the clock of rad_now: 0 means now or never, and does
 *            not park, RAD_FOREVER none. rad_after(ns) is ns nanoseconds from now.
 * Results    0 or more is success. RAD_ETIMEOUT: the deadline has passed; nothing was done. RAD_ECANCELED: the fiber
 *            has been cancelled and should clean up and return; nothing was done. Other codes are named at each call.
 *            The compiler warns when a program ignores the result of a call that may have done nothing:
 *            RAD_IGNORE(call) ignores one on purpose. rad_sleep may be ignored, except in a loop: a cancelled fiber
 *            does not sleep.
 * Threads    "any caller" means any fiber or thread; a thread that waits sleeps. "a fiber" means fibers only.
 * fork       A runtime stays with the process that made it: its fibers do not run in a child, not even the one that
 *            forked. A child may start a runtime of its own, or exec.
 * Signals    Workers block all signals but those of faults, so that other threads handle them; a child that a fiber
 *            starts inherits that mask. Give it another one: POSIX_SPAWN_SETSIGMASK, or sigprocmask before exec.
 * Ownership  what is passed by pointer stays the caller's, unless the call says otherwise.
 * Mistakes   (a call for fibers by a thread, a handle that is given up twice, a nursery that is not open ...) that are
 *            cheap to notice stop the process with a line "raddle: CALL: what is wrong" on standard error, and SIGABRT:
 *            docs/fibers.md, "Mistakes". */
#ifndef RADDLE_FIBER_H
#define RADDLE_FIBER_H

#include <raddle/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Time ------------------------------------------------------------------------------------------- */

typedef uint64_t rad_time; /* nanoseconds of a clock that never goes back */

#define RAD_FOREVER UINT64_MAX

RAD_API rad_time rad_now(void);
RAD_API rad_time rad_after(uint64_t ns); /* rad_now() + ns, or RAD_FOREVER if that is too far away */

/* ---- Running ---------------------------------------------------------------------------------------- */

/* What a fiber does. It returns 0, or a code of its own, which join and the nursery report. */
typedef int (*rad_fn)(void *arg);

#define RAD_SIGNAL_NONE (-1)

/* All zero is a good choice. */
typedef struct rad_options {
    uint32_t workers;       /* threads, at most 256; 0: as many as there are CPUs the process may use */
    size_t stack_size;      /* of each fiber, 16 KiB … 1 GiB, paid for as it is used; 0: 128 KiB */
    uint32_t fibers;        /* at most N at a time, up to 2^24; 0: as many as there is memory for. One that
                      * has ended counts until its handle is released */
    bool spawn_waits;       /* at that limit a fiber that spawns waits; otherwise it gets RAD_ELIMIT */
    uint32_t extra_workers; /* at most this many more threads, one at a time, while something is ready and workers are
                        * blocked in system calls or compute for long; 0: up to 128; RAD_NONE: none. They end when
                        * they have had nothing to do for a while. There are never more than 256 workers in all */
    uint32_t slack_us; /* a sleeping worker may wake up to this long after a timer is due, at most a second, so that one
                   * wake serves several timers; 0: 50; RAD_NONE: none */
    uint32_t blocking_threads; /* most threads for rad_blocking; 0: 256 */
    uint32_t stall_ms;         /* a fiber that keeps a worker for longer is named on standard error, once; 0: never */
    bool no_deadlock_report; /* when no fiber can ever run again, wait forever, instead of a report and exit status 124
                             * (of rad_main: a runtime of rad_runtime_create may always get fibers from outside) */
    int backtrace_signal;    /* for backtraces of fibers that run, in stall reports and dumps; 0: SIGURG;
                           * RAD_SIGNAL_NONE: none. If the program has a handler for it, its handler stays and
                           * there are no such backtraces. See docs/fibers.md, "Debugging" */
    bool pin;                /* worker i stays on the i-th CPU the process may use, going round */
    uint64_t seed;           /* of the order in which workers steal from each other */
} rad_options;

/* Starts a runtime, runs main(arg) as its first fiber, and returns its result when it and all other fibers have
 * ended. Fibers that still run when main has returned are waited for. `options` may be NULL. When the runtime cannot be
 * started: RAD_EINPUT, RAD_ENOMEM, RAD_EIO, and *error (which may be NULL) says why. Not by a fiber. */
RAD_API RAD_MUST_USE int rad_main(const rad_options *options, rad_fn main, void *arg, rad_error *error);

/* The same in pieces, for programs whose threads do other work meanwhile. Same errors. */
typedef struct rad_runtime rad_runtime;
typedef struct rad_fiber rad_fiber;
RAD_API RAD_MUST_USE int rad_runtime_create(rad_runtime **rt, const rad_options *options, rad_error *error);

/* As rad_spawn, by any caller. Never waits: at the limit it is RAD_ELIMIT. RAD_ECLOSED: it is being shut down, or
 * destroyed. */
RAD_API RAD_MUST_USE int rad_runtime_spawn(rad_runtime *rt, rad_fiber *fiber, int (*fn)(void *arg), void *arg);

/* Refuses new fibers, from outside and from fibers (RAD_ECLOSED), and cancels all others. Does not wait. Any
 * caller, any number of times. */
RAD_API void rad_runtime_shutdown(rad_runtime *rt);

/* Fibers may wait inside a catch, and in destructors during unwinding: what a C++ runtime knows of exceptions goes with
 * the fiber (docs/fibers.md, "C++"). The runtime of a C++ program is found by itself, and so is one that was loaded
 * before a runtime was created. If dlopen loads the first C++ library later, call this before any of its code runs in a
 * fiber. From any thread, any number of times. False: there is no C++ runtime in the process. */
RAD_API bool rad_cxx_loaded(void);

/* Writes a line for each fiber (for a thousand, and how many more there are), its state, what it waits for and since
 * when, to an open file; for one that waits or runs also its calls, innermost first, at most 32
 * (docs/fibers.md, "Debugging"). `rt` is NULL for the runtime of the calling fiber. Any caller, while it runs: each
 * line was true at some moment during the call. The file stays the caller's. RAD_EIO. */
RAD_API int rad_runtime_dump(rad_runtime *rt, int fd);

/* Waits until all fibers have ended, and frees everything; handles of its fibers are then invalid. From now on only
 * fibers may spawn: rad_runtime_spawn returns RAD_ECLOSED. Waits for threads that are inside one of the calls above;
 * none may begin such a call when the last fiber may have ended. Not by a fiber. NULL is fine. */
RAD_API void rad_runtime_destroy(rad_runtime *rt);

/* ---- Fibers ----------------------------------------------------------------------------------------- */

/* Names one fiber. It can be copied; it does not name a later fiber in the same place.
 * A handle repeats after 2^32 - 1 fibers in the same place, which takes a core a few minutes if it does nothing but
 * spawn and join. So do not use a handle after you have given it up: by then it may name another fiber. */
struct rad_fiber {
    struct rad_slot *slot;
    uint32_t generation;
};

/* Starts fn(arg). With `fiber` the caller gets a handle, which must be given up by rad_release when no call will join
 * it any more; NULL: none will. By a fiber; does not wait, unless the option says so (then RAD_ECANCELED is possible).
 * RAD_ENOMEM, RAD_ELIMIT; RAD_ECLOSED: the runtime is being shut down. When it fails the handle is {NULL, 0}. */
RAD_API RAD_MUST_USE int rad_spawn(rad_fiber *fiber, rad_fn fn, void *arg);

enum { RAD_RESULT_SIZE = 48 };

/* What a fiber leaves behind. */
typedef struct rad_fiber_result {
    unsigned char bytes[RAD_RESULT_SIZE] __attribute__((aligned(16))); /* what it gave; the rest is zero */
    int code;                                                          /* what its function returned */
} rad_fiber_result;

/* Waits until the fiber has ended. Any caller, and any number at a time, each of whom gets a copy of its result (which
 * may be NULL). The handle stays good. RAD_ESTALE: it was given up, and its fiber is gone. */
RAD_API RAD_MUST_USE int rad_join(rad_fiber fiber, rad_fiber_result *result, rad_time until);

/* The handle is of no use any more; the fiber runs on, if it does. Any caller, once: a second time is a mistake, also
 * while the fiber still runs. */
RAD_API void rad_release(rad_fiber fiber);

/* The bytes of the caller's own result: at most RAD_RESULT_SIZE, copied; the last call counts. A fiber. */
RAD_API void rad_set_result(const void *bytes, size_t size);

/* Lets others run. A fiber; it does not wait. */
RAD_API void rad_yield(void);

/* Waits. Any caller. 0 when the time has come. */
RAD_API int rad_sleep(uint64_t ns);
RAD_API int rad_sleep_until(rad_time until);

/* While it is sharp, deadlines of the calling fiber's waits have no slack (rad_options): it wakes as soon as the system
 * wakes its worker. Other timers of that worker have none either, which costs CPU time. Nests, up to 255 deep. A
 * fiber. */
RAD_API void rad_sharp(bool on);

/* The calling fiber; {NULL, 0} on a thread. This handle is not to be released. */
RAD_API rad_fiber rad_self(void);

/* What reports call the calling fiber; the text stays the caller's, and stays, until the fiber has ended (a literal).
 * NULL: nothing. A fiber. */
RAD_API void rad_name(const char *name);

/* The same for a fiber that was spawned, as long as it has not named itself: also one that did not run yet has a name
 * in reports. The caller holds the handle; {NULL, 0}, as after a spawn that failed, does nothing. */
RAD_API void rad_name_fiber(rad_fiber fiber, const char *name);

/* What a fiber is called, or NULL; also if it has ended. Any caller. */
RAD_API const char *rad_name_of(rad_fiber fiber);

/* ---- Tickers ---------------------------------------------------------------------------------------- */

/* Something that happens again and again: tick number n is due n periods after the start, whatever was late before it.
 * A variable of the fiber or thread that waits for it; one at a time. Nothing has to be stopped. */
typedef struct rad_ticker {
    rad_time start;
    uint64_t period; /* ns */
    uint64_t last;   /* number of the last tick that was received; 0: none */
    uint64_t missed; /* ticks that were never received, because a later one was due */
} rad_ticker;

/* From now on; `period` is not 0. */
RAD_API void rad_ticker_start(rad_ticker *t, uint64_t period);

/* Waits for the next tick. *tick (may be NULL) is its number; when several are due, that of the last of them.
 * Any caller. In a select, RAD_ON_TICK does the same:
 *
 *     rad_select_case cases[2] = {{.kind = RAD_ON_TICK, .on.ticker = &ticker},
 *                                 {.kind = RAD_ON_RECV, .on.chan = chan, .value = &value}};
 */
RAD_API RAD_MUST_USE int rad_ticker_wait(rad_ticker *t, uint64_t *tick, rad_time until);

/* ---- Timers ----------------------------------------------------------------------------------------- */

/* Something that happens once, at a time that can be changed: a function is called, or a select returns.
 *
 *     static int gives_up(void *connection) { return rad_fd_close(*(int *)connection); }
 *
 *     rad_timer *idle;
 *     if (rad_timer_create(&idle, gives_up, &connection) != 0) return 1;
 *     while (rad_timer_start(idle, rad_after(30000000000)) >= 0)  // 30 s from now, whenever it was to be before
 *         if (serve(connection) != 0) break;
 *     if (rad_timer_stop(idle)) rad_fd_close(connection);         // it came in time: gives_up has not closed it
 *     rad_timer_destroy(idle);
 *
 * The function is called once for each start that was neither stopped nor followed by another start. It runs as a fiber
 * of its own, and may wait, send to a channel, start the timer again, or destroy it; it belongs to no nursery, and
 * does not care what became of the fiber that started the timer.
 * While a timer runs it is a fiber that waits: rad_main waits for it, too, unless it is stopped;
 * rad_runtime_shutdown stops it. */
typedef struct rad_timer rad_timer;

/* It does not run yet. Without a function (NULL) it is for rad_timer_wait, and RAD_ON_TIMER of rad_select. Any caller.
 * RAD_ENOMEM. */
RAD_API RAD_MUST_USE int rad_timer_create(rad_timer **timer, rad_fn fn, void *arg);

/* Starts the timer: it fires at `when`, not before. A timer that runs gets the new time. Returns 1 if that came in
 * time: the timer was running, or it had fired and no call had received that; that firing will not happen. Returns 0 if
 * there was none. RAD_ENOMEM, RAD_ELIMIT, RAD_ECLOSED as rad_spawn; the timer then does not run. A fiber. rad_main
 * waits for a timer that runs: stop one that is started for RAD_FOREVER. */
RAD_API RAD_MUST_USE int rad_timer_start(rad_timer *timer, rad_time when);

/* Stops the timer. Returns true if that came in time: the timer was running, or it had fired and no call had received
 * that; that firing will not happen. Returns false if there was none; the function of a timer that has fired may still
 * run. Does not wait. Any caller. */
RAD_API bool rad_timer_stop(rad_timer *timer);

/* Waits until the timer has fired. One caller receives each firing: one that waits, or the next that comes. A start and
 * a stop take back a firing that no call has received. Any caller. */
RAD_API RAD_MUST_USE int rad_timer_wait(rad_timer *timer, rad_time until);

/* Stops the timer, and frees it. No call on it may be running or be made later. Its function may still run, and may be
 * the caller. NULL is fine. */
RAD_API void rad_timer_destroy(rad_timer *timer);

/* ---- Locals ----------------------------------------------------------------------------------------- */

/* A variable of which every fiber has its own, wherever it runs. At most RAD_LOCALS_MAX in a process. */
typedef uint32_t rad_local_key;

enum { RAD_LOCALS_MAX = 256 };

/* When a fiber ends whose value is not NULL, destroy(value) is called (if it is not NULL), by the fiber, before those
 * that join it return; what it sets then is destroyed, too, a few times over. Any caller. RAD_ELIMIT. */
RAD_API RAD_MUST_USE int rad_local_create(rad_local_key *key, void (*destroy)(void *value));

/* Values that fibers still have are forgotten, not destroyed. The key may not be used any more. */
RAD_API void rad_local_delete(rad_local_key key);

/* NULL until it was set. A fiber. A key that does not exist, or was deleted, is a mistake. */
RAD_API void *rad_local_get(rad_local_key key);

/* What was there before is not destroyed. A fiber. RAD_ENOMEM. */
RAD_API RAD_MUST_USE int rad_local_set(rad_local_key key, void *value);

/* ---- Cancellation ----------------------------------------------------------------------------------- */

/* Asks the fiber to end: every call of it that may wait returns RAD_ECANCELED from now on, also the one it is in,
 * unless what that one waits for comes before the fiber has noticed. The fiber's code decides how to react. With
 * `until` = 0 calls still succeed if they need not wait; those of raddle/sync.h, rad_read and the like do so with any
 * `until`. Does not wait. Any caller; a fiber that has ended, or {NULL, 0}: nothing happens. */
RAD_API void rad_cancel(rad_fiber fiber);

/* Whether the calling fiber was cancelled, shielded or not. For a thread: false. */
RAD_API bool rad_is_canceled(void);

/* While a fiber is shielded, neither a cancellation nor its nursery's deadline affects its calls, so that it can
 * wait while it cleans up. Its children are not shielded. Nests. A fiber. */
RAD_API void rad_shield(bool on);

/* ---- Nurseries -------------------------------------------------------------------------------------- */

/* Fibers that belong together: none of them outlives the wait for its nursery. A local variable of the fiber that
 * opens it, and has to wait for it before it ends. */
typedef struct rad_nursery {
    uint64_t private_[24];
} rad_nursery;

/* A fiber. Its children are cancelled when `deadline` comes, or that of the nursery which the fiber itself is in: calls
 * in which they wait then, or later, return RAD_ECANCELED. Calls that need not wait still succeed, but
 * rad_sleep and rad_ticker_wait return RAD_ECANCELED. If the time of the call has passed, too, the earlier of the two
 * counts, of equal ones the nursery's: a call whose own was earlier returns RAD_ETIMEOUT, a sleep or a tick 0. */
RAD_API void rad_nursery_open(rad_nursery *n, rad_time deadline);

/* As rad_spawn, into the nursery. By the fiber that opened it, by fibers in it, or by fibers in nurseries below it;
 * any other caller is a mistake. RAD_ECLOSED: it was closed, or it was waited for and has no fibers any more. */
RAD_API RAD_MUST_USE int rad_nursery_spawn(rad_nursery *n, rad_fiber *fiber, rad_fn fn, void *arg);

/* The same for callers that need neither a handle nor a result: if it fails, rad_nursery_wait returns the code (unless
 * a child failed before, or the nursery was cancelled before), and the nursery is cancelled; with RAD_ECLOSED the
 * fibers in it are not. */
RAD_API void rad_nursery_go(rad_nursery *n, rad_fn fn, void *arg);

/* The nursery that the calling fiber was spawned into, for example to spawn a sibling; NULL: none, or the caller is a
 * thread. A nursery that the fiber opened itself is not meant. It is open as long as the fiber runs. */
RAD_API rad_nursery *rad_nursery_current(void);

/* Cancels all fibers in it, and those in nurseries which they opened. Any caller that knows that it is open.
 * rad_nursery_wait will return `reason`, unless a child has failed before. With 0 the nursery does not fail: children
 * that return RAD_ECANCELED afterwards have not failed, those that return another code have. The first reason counts.
 * Nurseries below it are cancelled with the same reason, or with RAD_ECANCELED if it is 0. */
RAD_API void rad_nursery_cancel(rad_nursery *n, int reason);

/* Refuses new fibers; those in it continue. Any caller that knows that it is open, any number of times. */
RAD_API void rad_nursery_close(rad_nursery *n);

/* Waits until all have ended; then the nursery is closed. By the fiber that opened it. 0, or the code of the first
 * child that returned something else, or the reason of the cancellation. A child that fails does not cancel the
 * others. When the waiting fiber is cancelled, or was before, the children are too, with the reason RAD_ECANCELED, and
 * the wait continues. */
RAD_API RAD_MUST_USE int rad_nursery_wait(rad_nursery *n);

#ifdef __cplusplus
}
#endif

#endif
