/* system.c — the part of os that rt finds under test: threads are coroutines, words to wait on and the clock are the
 * stage's. */
#include "lab/programs/fibers/seam.h"

#include "os/lock.h"
#include "os/segv.h"
#include "os/thread.h"

RAD_INTERNAL uint64_t SEAM_OF(os_now_ns)(void);
RAD_INTERNAL int SEAM_OF(os_thread_create)(rad_os_thread *t, void (*body)(void *context), void *context,
                                           size_t stack_size, uint32_t cpu, rad_error *error);
RAD_INTERNAL void SEAM_OF(os_thread_join)(rad_os_thread *t);
RAD_INTERNAL void SEAM_OF(os_thread_wakes_sharply)(void);
RAD_INTERNAL void SEAM_OF(os_word_wait)(_Atomic uint32_t *word, uint32_t expected);
RAD_INTERNAL bool SEAM_OF(os_word_wait_for)(_Atomic uint32_t *word, uint32_t expected, uint64_t ns);
RAD_INTERNAL uint32_t SEAM_OF(os_word_wake)(_Atomic uint32_t *word, uint32_t count);
RAD_INTERNAL void SEAM_OF(os_give_way)(bool longer);
RAD_INTERNAL void SEAM_OF(lock_contended)(rad_lock *l);
RAD_INTERNAL int SEAM_OF(os_signal_stack_open)(rad_os_signal_stack *s, rad_error *error);
RAD_INTERNAL void SEAM_OF(os_signal_stack_close)(rad_os_signal_stack *s);
RAD_INTERNAL int SEAM_OF(os_segv_open)(bool (*handler)(const rad_os_segv *fault), rad_error *error);
RAD_INTERNAL void SEAM_OF(os_segv_close)(void);
RAD_INTERNAL _Noreturn void SEAM_OF(misuse)(const char *call, const char *what);
RAD_INTERNAL _Noreturn void SEAM_OF(misuse_by)(const char *call, uint64_t fiber, const char *name, const char *what);

/* ---- Time ---------------------------------------------------------------------------------------------- */

uint64_t SEAM_OF(os_now_ns)(void)
{
    return rad__stage.now_ns;
}

/* ---- Threads ------------------------------------------------------------------------------------------- */

int SEAM_OF(os_thread_create)(rad_os_thread *t, void (*body)(void *context), void *context, size_t stack_size,
                              uint32_t cpu, rad_error *error)
{
    (void)stack_size;
    (void)cpu;
    (void)error;
    t->context = rad__thread_add("thread", RAD_AT_THREAD, body, context);
    return 0;
}

void SEAM_OF(os_thread_join)(rad_os_thread *t)
{
    const rad_runner *joined = t->context;
    rad_runner *self = rad__stage.current;
    RAD_ASSERT(self->kind == RAD_RUNNER_THREAD || joined->ended); /* rt joins none from a fiber */
    while (!joined->ended) {
        self->word = joined;
        rad__thread_leave(RAD_RUN_BLOCKED);
    }
}

void SEAM_OF(os_thread_wakes_sharply)(void)
{
}

bool SEAM_OF(os_word_wait_for)(_Atomic uint32_t *word, uint32_t expected, uint64_t ns)
{
    rad_runner *self = rad__stage.current;
    if (atomic_load_explicit(word, memory_order_relaxed) != expected) return true;
    RAD_ASSERT(self->kind == RAD_RUNNER_THREAD); /* fibers park */
    self->word = word;
    self->woken = false;
    self->deadline_ns = ns < UINT64_MAX - rad__stage.now_ns ? rad__stage.now_ns + ns : UINT64_MAX;
    rad__thread_leave(RAD_RUN_BLOCKED);
    return self->woken;
}

void SEAM_OF(os_word_wait)(_Atomic uint32_t *word, uint32_t expected)
{
    SEAM_OF(os_word_wait_for)(word, expected, UINT64_MAX);
}

uint32_t SEAM_OF(os_word_wake)(_Atomic uint32_t *word, uint32_t count)
{
    return rad__threads_wake(word, count);
}

/* By a thread that waits for another one to do something. */
void SEAM_OF(os_give_way)(bool longer)
{
    (void)longer;
    rad__point(RAD_AT_yield, NULL);
}

/* Nobody is interrupted between taking a lock and giving it back. */
void SEAM_OF(lock_contended)(rad_lock *l)
{
    (void)l;
    RAD_ASSERT(!"a lock of the runtime was left taken");
}

/* ---- Signals: a fault is to be seen by the parent --------------------------------------------------------- */

int SEAM_OF(os_signal_stack_open)(rad_os_signal_stack *s, rad_error *error)
{
    (void)error;
    s->memory = NULL;
    return 0;
}

void SEAM_OF(os_signal_stack_close)(rad_os_signal_stack *s)
{
    (void)s;
}

int SEAM_OF(os_segv_open)(bool (*handler)(const rad_os_segv *fault), rad_error *error)
{
    (void)handler;
    (void)error;
    return 0;
}

void SEAM_OF(os_segv_close)(void)
{
}

/* ---- Misuse ---------------------------------------------------------------------------------------------- */

void SEAM_OF(misuse)(const char *call, const char *what)
{
    rad__program_fails(RAD_ORACLE_MISUSE, call, "%s: %s", call, what);
}

void SEAM_OF(misuse_by)(const char *call, uint64_t fiber, const char *name, const char *what)
{
    (void)fiber; /* the runner that runs is that fiber */
    (void)name;
    rad__program_fails(RAD_ORACLE_MISUSE, call, "%s: %s %s", call, rad__stage.current->role, what);
}
