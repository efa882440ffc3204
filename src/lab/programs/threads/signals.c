/* signals.c — signals of a program under test: which thread gets one, and when its handler is called.
 *
 * Nothing of the system's is used: actions, masks and what is pending are kept here. So a run leaves nothing behind,
 * and a signal comes at the same place in each run. A handler is called when its thread continues at a point, as a
 * step of its own; between two points nothing interrupts it. A thread that waits is disturbed: in sem_wait, sigsuspend,
 * sleep and calls on descriptors it then returns, elsewhere it waits again.
 *
 * To a thread   pthread_kill, raise: its own.
 * To all        kill, an alarm: to one that does not block it, or waits for it in sigwait; which is a choice. When all
 *               block it, it is kept for the first one that does not.
 * Faults        (a bad address, a division by zero) come from the system: their actions are set there, too. */
#define _GNU_SOURCE
#include "lab/programs/dispatch.h"
#include "lab/programs/fibers/counter.h"
#include "lab/programs/fibers/interposed.h"
#include "lab/programs/fibers/server.h"
#include "lab/programs/fibers/tell.h"
#include "lab/programs/threads/threads.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum { SIGNALS = 64, PENDING_MAX = 1024 };

typedef struct pending {
    rad_thread *to; /* NULL: nobody takes it yet */
    siginfo_t info;
} pending;

static struct sigaction actions[SIGNALS + 1];
static pending queue[PENDING_MAX]; /* in the order in which they were sent */
uint32_t rad__signals_pending;
static uint64_t fibers_block; /* fibers have one mask */
static const char signals = 0;

static uint64_t bit(int number)
{
    return UINT64_C(1) << (number - 1);
}

static uint64_t bits_of(const sigset_t *set)
{
    uint64_t bits;
    memcpy(&bits, set, sizeof bits);
    return bits & ~(bit(SIGKILL) | bit(SIGSTOP));
}

static void bits_show(uint64_t bits, sigset_t *set)
{
    memset(set, 0, sizeof *set);
    memcpy(set, &bits, sizeof bits);
}

static uint64_t *blocked(void)
{
    rad_thread *t = rad__thread_self();
    return t ? &t->blocked : &fibers_block;
}

typedef int action_function(int number, const struct sigaction *new, struct sigaction *old);

static action_function *real_sigaction(void)
{
    static action_function *real;
    if (real == NULL) rad__libc_find("sigaction", &real);
    return real;
}

static uid_t user;

void rad__signals_open(void)
{
    user = getuid();
    for (int i = 1; i <= SIGNALS; i++)
        if (real_sigaction()(i, NULL, &actions[i]) != 0) actions[i].sa_handler = SIG_DFL;
    rad__counter_action(NULL, &actions[SIGSEGV]);                                      /* that of the system is ours */
    if (actions[SIGPIPE].sa_handler == SIG_IGN) actions[SIGPIPE].sa_handler = SIG_DFL; /* raddle's */
}

/* ---- What a signal does ---------------------------------------------------------------------------------------- */

static bool is_fault(int number)
{
    return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL || number == SIGTRAP;
}

static bool is_ignored(int number)
{
    bool by_default = number == SIGCHLD || number == SIGURG || number == SIGWINCH || number == SIGCONT;
    const struct sigaction *a = &actions[number];
    return a->sa_handler == SIG_IGN || (a->sa_handler == SIG_DFL && by_default);
}

/* The process ends by it. */
static _Noreturn void die_by(int number)
{
    sigset_t one;
    static int (*mask)(int how, const sigset_t *set, sigset_t *old);
    static int (*send)(int number);
    if (number == SIGTSTP || number == SIGTTIN || number == SIGTTOU || number == SIGSTOP)
        rad__program_refused("kill", "with a signal that stops the process");
    sigemptyset(&one);
    sigaddset(&one, number);
    rad__debugger_stop();
    rad__dispatch_shut(false);
    rad__libc_find("sigprocmask", &mask);
    rad__libc_find("raise", &send);
    if (!is_fault(number) && number != SIGABRT)
        real_sigaction()(number, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    mask(SIG_UNBLOCK, &one, NULL);
    send(number);
    rad__process_exit(128 + number);
}

/* True: a call that it breaks is made again. */
static bool call_handler(const siginfo_t *info)
{
    int number = info->si_signo, error = errno;
    struct sigaction a = actions[number];
    uint64_t *mask = blocked(), before = *mask;
    if (is_ignored(number)) return true;
    if (a.sa_handler == SIG_DFL) die_by(number);
    *mask |= bits_of(&a.sa_mask) | (a.sa_flags & SA_NODEFER ? 0 : bit(number));
    if (a.sa_flags & SA_RESETHAND) actions[number].sa_handler = SIG_DFL;
    if (a.sa_flags & SA_SIGINFO) {
        siginfo_t copy = *info;
        ucontext_t context;
        memset(&context, 0, sizeof context);
        bits_show(before, &context.uc_sigmask);
        a.sa_sigaction(number, &copy, &context);
    } else {
        a.sa_handler(number);
    }
    *mask = before;
    errno = error;
    return (a.sa_flags & SA_RESTART) != 0;
}

/* ---- Who gets it -------------------------------------------------------------------------------- */

/* The first one for this thread that is among these, lowest number first; NULL: none. Fibers have those of nobody. */
static pending *first_of(const rad_thread *t, uint64_t among)
{
    pending *first = NULL;
    for (uint32_t i = 0; i < rad__signals_pending; i++) {
        pending *p = &queue[i];
        if ((p->to != NULL && p->to != t) || !(among & bit(p->info.si_signo))) continue;
        if (first == NULL || p->info.si_signo < first->info.si_signo) first = p;
    }
    return first;
}

static siginfo_t take(pending *p)
{
    siginfo_t info = p->info;
    memmove(p, p + 1, (size_t)(queue + --rad__signals_pending - p) * sizeof *p);
    return info;
}

bool rad__signal_comes(const rad_thread *t)
{
    return first_of(t, ~t->blocked) != NULL;
}

bool rad__signal_is_there(const rad_thread *t, uint64_t among)
{
    return first_of(t, among) != NULL;
}

bool rad__signal_take(const rad_thread *t, uint64_t among, siginfo_t *info)
{
    pending *p = first_of(t, among);
    if (p) *info = take(p);
    return p != NULL;
}

bool rad__signal_is_awaited(const rad_thread *t)
{
    return first_of(t, t->awaited) != NULL;
}

/* While these are blocked. */
static bool handle_blocking(uint64_t block)
{
    uint64_t *mask = blocked(), before = *mask;
    bool again = true;
    pending *next;
    rad_thread *self = rad__thread_self();
    const char *aside = self ? self->aside : NULL;
    if (self && !aside) self->aside = __builtin_frame_address(0);
    *mask = block;
    while (rad__signals_pending > 0 && (next = first_of(rad__thread_self(), ~*mask)) != NULL) {
        siginfo_t info = take(next);
        again &= call_handler(&info);
        *mask = block; /* also if the handler has changed it */
    }
    *mask = before;
    if (self) self->aside = aside;
    return again;
}

bool rad__signals_handle(void)
{
    return handle_blocking(*blocked());
}

/* main waits in the runtime of fibers, which knows nothing of signals: they take those of the process. */
static bool is_in_runtime(const rad_thread *t)
{
    return t->wait == RAD_WAIT_NONE && !t->runner->enabled && t->runner != rad__stage.current;
}

static bool takes(const rad_thread *t, int number)
{
    if (t->ended || is_in_runtime(t)) return false;
    return !(t->blocked & bit(number)) || (t->wait == RAD_WAIT_SIGNAL && (t->awaited & bit(number)));
}

static uint32_t takers(int number, rad_thread **all)
{
    rad_thread *t;
    uint32_t count = 0;
    for (uint32_t i = 0; (t = rad__thread_at(i)) != NULL; i++) {
        if (!takes(t, number)) continue;
        if (all) all[count] = t;
        count++;
    }
    return count;
}

bool rad__signals_choose(void)
{
    for (int i = 1; i <= SIGNALS; i++)
        if (!is_ignored(i) && takers(i, NULL) > 1) return true;
    return false;
}

/* Of those that take it; an alarm, which is nobody's step, comes to the first one. */
static rad_thread *choose(int number)
{
    static rad_thread *all[RAD_THREADS_MAX];
    const rad_runner *r = rad__stage.current;
    uint32_t count = takers(number, all);
    if (count == 0) return NULL;
    bool choice = count > 1 && r != NULL && r->site == RAD_AT_kill && !rad__stage.prefix;
    return all[choice ? rad__tell_pick(RAD_PICK_WAKE, RAD_AT_kill, count) : 0];
}

static bool is_there(const rad_thread *to, int number)
{
    for (uint32_t i = 0; i < rad__signals_pending; i++)
        if (queue[i].to == to && queue[i].info.si_signo == number) return true;
    return false;
}

bool rad__signal_is_on_its_way(const siginfo_t *of_timer)
{
    for (uint32_t i = 0; i < rad__signals_pending; i++) {
        const siginfo_t *info = &queue[i].info;
        if (info->si_signo == of_timer->si_signo && info->si_code == of_timer->si_code &&
            (info->si_code != SI_TIMER || info->si_timerid == of_timer->si_timerid))
            return true;
    }
    return false;
}

int rad__signal_send(rad_thread *to, int number, const siginfo_t *info)
{
    if (number == SIGKILL || number == SIGSTOP) die_by(number);
    bool all = to == NULL;
    if (all && rad__thread_self() == NULL && rad__stage.running) { /* a fiber's own */
        if (is_ignored(number) && !(fibers_block & bit(number))) return 0;
    } else if (all) {
        to = choose(number);
    }
    bool waits = to && to->wait == RAD_WAIT_SIGNAL && (to->awaited & bit(number));
    if (to && is_ignored(number) && !waits && !(to->blocked & bit(number))) return 0;
    if (number < SIGRTMIN && is_there(to, number)) return 0;
    if (rad__signals_pending == PENDING_MAX) return EAGAIN;
    queue[rad__signals_pending++] = (pending){to, *info};
    if (to && to->runner != rad__stage.current) rad__thread_disturb(to);
    if (rad__signal_files_used) rad__signal_files_ring(bit(number));
    return 0;
}

/* ---- Actions and masks -------------------------------------------------------------------------- */

/* That of the system. Nothing is blocked meanwhile: siglongjmp puts back only the mask that is kept here. */
static bool set_fault(int number, const struct sigaction *new)
{
    struct sigaction action = *new;
    if (number == SIGSEGV && rad__counter_action(new, NULL)) return true;
    action.sa_flags |= SA_NODEFER;
    sigemptyset(&action.sa_mask);
    return real_sigaction()(number, &action, NULL) == 0;
}

RAD_ANSWER(int, sigaction, (int number, const struct sigaction *new, struct sigaction *old))
{
    if (!rad__stage.running && number == SIGSEGV && rad__program_calls() && rad__counter_action(new, old)) return 0;
    if (!rad__stage.running) return RAD_REAL(sigaction)(number, new, old);
    if (number < 1 || number > SIGNALS || (new && (number == SIGKILL || number == SIGSTOP))) {
        errno = EINVAL;
        return -1;
    }
    struct sigaction was = actions[number];
    if (new &&is_fault(number)) {
        rad__marks->signals = true;
        if (!set_fault(number, new)) return -1;
    }
    if (new) actions[number] = *new;
    if (old) *old = was;
    for (uint32_t i = rad__signals_pending; new &&is_ignored(number) && i > 0; i--)
        if (queue[i - 1].info.si_signo == number) take(&queue[i - 1]);
    return 0;
}

static sighandler_t set_handler(int number, sighandler_t handler, int flags)
{
    struct sigaction a = {.sa_handler = handler, .sa_flags = flags}, old;
    return rad__libc_sigaction(number, &a, &old) == 0 ? old.sa_handler : SIG_ERR;
}

RAD_ANSWER(sighandler_t, signal, (int number, sighandler_t handler))
{
    if (!rad__stage.running) return RAD_REAL(signal)(number, handler);
    return set_handler(number, handler, SA_RESTART);
}

RAD_ANSWER(sighandler_t, __sysv_signal, (int number, sighandler_t handler))
{
    if (!rad__stage.running) return RAD_REAL(__sysv_signal)(number, handler);
    return set_handler(number, handler, (int)(SA_RESETHAND | SA_NODEFER));
}

RAD_ANSWER(int, siginterrupt, (int number, int breaks))
{
    if (!rad__stage.running) return RAD_REAL(siginterrupt)(number, breaks);
    if (number < 1 || number > SIGNALS) {
        errno = EINVAL;
        return -1;
    }
    actions[number].sa_flags &= ~SA_RESTART;
    if (!breaks) actions[number].sa_flags |= SA_RESTART;
    return 0;
}

RAD_ANSWER(int, pthread_sigmask, (int how, const sigset_t *set, sigset_t *old))
{
    if (!rad__stage.running) return RAD_REAL(pthread_sigmask)(how, set, old);
    uint64_t *mask = blocked(), before = *mask;
    uint64_t bits = set ? bits_of(set) : 0;
    if (set && how != SIG_BLOCK && how != SIG_UNBLOCK && how != SIG_SETMASK) return EINVAL;
    if (set) *mask = how == SIG_BLOCK ? before | bits : how == SIG_UNBLOCK ? before & ~bits : bits;
    if (old) bits_show(before, old);
    if (RAD_UNLIKELY(rad__signals_pending > 0)) rad__signals_handle();
    return 0;
}

RAD_ANSWER(int, sigprocmask, (int how, const sigset_t *set, sigset_t *old))
{
    if (!rad__stage.running) return RAD_REAL(sigprocmask)(how, set, old);
    int code = rad__libc_pthread_sigmask(how, set, old);
    if (code == 0) return 0;
    errno = code;
    return -1;
}

RAD_ANSWER(int, sigpending, (sigset_t * set))
{
    const rad_thread *self = rad__thread_self();
    uint64_t bits = 0;
    if (!rad__stage.running) return RAD_REAL(sigpending)(set);
    for (uint32_t i = 0; i < rad__signals_pending; i++)
        if (queue[i].to == NULL || queue[i].to == self) bits |= bit(queue[i].info.si_signo);
    bits_show(bits & *blocked(), set);
    return 0;
}

/* ---- Stacks for handlers ------------------------------------------------------------------------ */

/* The system has one for its thread, so it changes with ours. Only faults are handled there: the others come at a
 * point, on the stack of their thread. */
bool rad__signal_stacks;

RAD_ANSWER(int, sigaltstack, (const stack_t *new, stack_t *old))
{
    rad_thread *self = rad__thread_self();
    if (rad__stage.running) rad__marks->signals = true;
    int code = RAD_REAL(sigaltstack)(new, old);
    if (code != 0 || self == NULL || new == NULL) return code;
    rad__signal_stacks = true;
    self->stack = *new;
    return 0;
}

void rad__signal_stack_use(const rad_thread *t)
{
    static const stack_t none = {.ss_flags = SS_DISABLE};
    RAD_REAL(sigaltstack)(t && t->stack.ss_sp ? &t->stack : &none, NULL);
}

/* ---- Sending ------------------------------------------------------------------------------------ */

static siginfo_t info_of(int number, int code)
{
    siginfo_t info;
    memset(&info, 0, sizeof info);
    info.si_signo = number;
    info.si_code = code;
    info.si_pid = RAD_OWN_PID;
    info.si_uid = user;
    return info;
}

static bool is_number(int number)
{
    return number >= 0 && number <= SIGNALS;
}

static int send_to_thread(rad_thread *t, const siginfo_t *info)
{
    if (t == NULL) return ESRCH;
    if (!is_number(info->si_signo)) return EINVAL;
    if (info->si_signo == 0 || t->ended) return 0;
    int code = rad__signal_send(t, info->si_signo, info);
    if (t == rad__thread_self()) rad__signals_handle();
    return code;
}

static int send_to_all(const siginfo_t *info)
{
    if (!is_number(info->si_signo)) return EINVAL;
    if (info->si_signo == 0) return 0;
    int code = rad__signal_send(NULL, info->si_signo, info);
    rad__signals_handle();
    return code;
}

static int answer(int code)
{
    if (code == 0) return 0;
    errno = code;
    return -1;
}

RAD_ANSWER(int, pthread_kill, (pthread_t thread, int number))
{
    if (!rad__stage.running) return RAD_REAL(pthread_kill)(thread, number);
    rad_thread *t = rad__thread_of(thread);
    if (rad__thread_self() == NULL) rad__refuse("pthread_kill", "a fiber cannot send to a thread");
    rad__point(RAD_AT_pthread_kill, t);
    siginfo_t info = info_of(number, SI_TKILL);
    return send_to_thread(t, &info);
}

RAD_ANSWER(int, pthread_sigqueue, (pthread_t thread, int number, const union sigval value))
{
    if (!rad__stage.running) return RAD_REAL(pthread_sigqueue)(thread, number, value);
    rad_thread *t = rad__thread_of(thread);
    if (rad__thread_self() == NULL) rad__refuse("pthread_sigqueue", "a fiber cannot send to a thread");
    rad__point(RAD_AT_pthread_kill, t);
    siginfo_t info = info_of(number, SI_QUEUE);
    info.si_value = value;
    return send_to_thread(t, &info);
}

static int raise_here(int number)
{
    siginfo_t info = info_of(number, SI_TKILL);
    if (rad__thread_self() != NULL) return send_to_thread(rad__thread_self(), &info);
    return send_to_all(&info);
}

RAD_ANSWER(int, raise, (int number))
{
    if (!rad__stage.running) return RAD_REAL(raise)(number);
    rad__point(RAD_AT_raise, NULL);
    return answer(raise_here(number));
}

RAD_ANSWER(void, abort, (void))
{
    if (rad__stage.running) {
        *blocked() &= ~bit(SIGABRT);
        raise_here(SIGABRT); /* returns if a handler does */
        die_by(SIGABRT);
    }
    RAD_REAL(abort)();
}

/* To itself, or to its group: that is raddle's, too. */
static bool is_own(pid_t pid)
{
    return pid == RAD_OWN_PID || pid == 0 || pid == -RAD_OWN_PID;
}

static int to_another(const char *call, int number)
{
    if (number == 0) return answer(ESRCH);
    rad__program_reaches(call, NULL);
    return 0;
}

RAD_ANSWER(int, kill, (pid_t pid, int number))
{
    if (!rad__stage.running) return RAD_REAL(kill)(pid, number);
    if (!is_own(pid)) return to_another("kill", number) ? -1 : RAD_REAL(kill)(pid, number);
    rad__point(RAD_AT_kill, NULL);
    siginfo_t info = info_of(number, SI_USER);
    return answer(send_to_all(&info));
}

RAD_ANSWER(int, killpg, (pid_t group, int number))
{
    if (!rad__stage.running) return RAD_REAL(killpg)(group, number);
    return rad__libc_kill(group > 1 ? -group : group, number);
}

RAD_ANSWER(int, sigqueue, (pid_t pid, int number, const union sigval value))
{
    if (!rad__stage.running) return RAD_REAL(sigqueue)(pid, number, value);
    if (!is_own(pid)) return to_another("sigqueue", number) ? -1 : RAD_REAL(sigqueue)(pid, number, value);
    rad__point(RAD_AT_kill, NULL);
    siginfo_t info = info_of(number, SI_QUEUE);
    info.si_value = value;
    return answer(send_to_all(&info));
}

static int to_number(pid_t thread, int number)
{
    rad_thread *t = rad__thread_at((uint32_t)(thread - RAD_OWN_PID));
    if (thread < RAD_OWN_PID || t == NULL) return answer(ESRCH);
    rad__point(RAD_AT_pthread_kill, t);
    siginfo_t info = info_of(number, SI_TKILL);
    return answer(send_to_thread(t, &info));
}

RAD_ANSWER(int, tgkill, (pid_t pid, pid_t thread, int number))
{
    if (!rad__stage.running || !is_own(pid)) return RAD_REAL(tgkill)(pid, thread, number);
    return to_number(thread, number);
}

/* ---- Waiting ------------------------------------------------------------------------------------ */

static int wait_for(uint64_t set, siginfo_t *info, uint64_t deadline_ns)
{
    rad_thread *self = rad__thread_self();
    if (self == NULL) rad__refuse("sigwait", "a fiber cannot wait for signals");
    self->awaited = set;
    rad__cancel_point();
    void *all = (void *)(uintptr_t)&signals; /* tidy: address ok: only its identity counts */
    switch (rad__thread_waits_once(RAD_AT_sigwait, RAD_WAIT_SIGNAL, all, deadline_ns)) {
    case RAD_WAITED_DONE: *info = take(first_of(self, set)); return 0;
    case RAD_WAITED_LATE: return EAGAIN;
    default:
        rad__signals_handle();
        rad__cancel_point();
        return EINTR;
    }
}

RAD_ANSWER(int, sigwait, (const sigset_t *set, int *number))
{
    siginfo_t info;
    int code;
    if (!rad__stage.running) return RAD_REAL(sigwait)(set, number);
    while ((code = wait_for(bits_of(set), &info, UINT64_MAX)) == EINTR) {
    }
    *number = info.si_signo;
    return code;
}

RAD_ANSWER(int, sigtimedwait, (const sigset_t *set, siginfo_t *to, const struct timespec *most))
{
    siginfo_t info;
    uint64_t ns = UINT64_MAX;
    if (!rad__stage.running) return RAD_REAL(sigtimedwait)(set, to, most);
    if (most && !rad__ns_of(most, &ns)) return answer(EINVAL);
    int code = wait_for(bits_of(set), &info, rad__stage_after(ns));
    if (code == EINTR) rad__thread_goes_on(rad__thread_self());
    if (code != 0) return answer(code);
    if (info.si_code == SI_TKILL) info.si_code = SI_USER; /* as the C library does here */
    if (to) *to = info;
    return info.si_signo;
}

RAD_ANSWER(int, sigwaitinfo, (const sigset_t *set, siginfo_t *to))
{
    return rad__libc_sigtimedwait(set, to, NULL);
}

/* Until a handler has run. What this mask lets through comes while it lasts, and nothing else. */
static int suspend(uint64_t mask)
{
    rad_thread *self = rad__thread_self();
    if (self == NULL) rad__refuse("sigsuspend", "a fiber cannot wait for signals");
    uint64_t before = self->blocked;
    void *all = (void *)(uintptr_t)&signals; /* tidy: address ok: only its identity counts */
    self->blocked = mask;
    bool handled = false;
    while (!handled) {
        rad__cancel_point();
        rad__thread_waits_once(RAD_AT_sigsuspend, RAD_WAIT_HANDLER, all, UINT64_MAX);
        handled = rad__signal_comes(self);
        handle_blocking(mask);
    }
    self->blocked = before;
    rad__signals_handle();
    rad__thread_goes_on(self);
    return answer(EINTR);
}

RAD_ANSWER(int, sigsuspend, (const sigset_t *mask))
{
    return rad__stage.running ? suspend(bits_of(mask)) : RAD_REAL(sigsuspend)(mask);
}

RAD_ANSWER(int, pause, (void))
{
    if (!rad__stage.running) return RAD_REAL(pause)();
    rad__point(RAD_AT_sigsuspend, NULL); /* what comes before it is lost */
    return suspend(*blocked());
}

/* ---- By number ------------------------------------------------------------------------------------ */

/* Of glibc itself: siglongjmp, for one. */
static long mask_by_number(int how, const uint64_t *set, uint64_t *old)
{
    sigset_t wide, before;
    if (set) bits_show(*set, &wide);
    long code = rad__libc_pthread_sigmask(how, set ? &wide : NULL, &before);
    if (old && code == 0) memcpy(old, &before, sizeof *old);
    return answer((int)code);
}

bool rad__signals_by_number(long number, const long *a, long *result)
{
    switch (number) {
    case SYS_rt_sigprocmask:
        *result = mask_by_number((int)a[0], rad__argument_pointer(a[1]), rad__argument_pointer(a[2]));
        return true;
    case SYS_kill: *result = rad__libc_kill((pid_t)a[0], (int)a[1]); return true;
#ifdef SYS_pause
    case SYS_pause: *result = rad__libc_pause(); return true;
#endif
    case SYS_tkill: *result = to_number((pid_t)a[0], (int)a[1]); return true;
    case SYS_tgkill: *result = rad__libc_tgkill((pid_t)a[0], (pid_t)a[1], (int)a[2]); return true;
    default: return false;
    }
}
