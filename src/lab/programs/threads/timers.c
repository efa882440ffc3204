/* timers.c — timers of a program under test ring by the virtual clock: alarm, setitimer, timer_create and timerfd.
 *
 * When its time has come a timer
 *   sends its signal, to the process or to a thread;
 *   calls its function in a thread: one that waits for it, and sees to it that another one waits meanwhile;
 *   makes its descriptor readable: that is an eventfd, which counts as a timerfd does;
 *   or does nothing but go on.
 *
 * Timers that count the time in which a program computes never ring: here computing takes none. */
#define _GNU_SOURCE
#include "lab/programs/fibers/interposed.h"
#include "lab/programs/threads/threads.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)

enum { TIMERS_MAX = 256, BUSY_MOST = 2, VAIN_MOST = 1000 };

enum timer_kind { TIMER_FREE, TIMER_GONE, TIMER_SIGNAL, TIMER_THREAD, TIMER_SILENT, TIMER_FILE };

typedef struct timer {
    enum timer_kind kind;
    clockid_t clock;
    uint64_t rings_ns, again_ns; /* UINT64_MAX: never */
    siginfo_t info;              /* of its signal */
    rad_thread *to;              /* who gets that; NULL: the process */
    uint32_t overrun;            /* it has rung while its last signal was on its way */
    int fd;
    /* Calls to make, in threads that wait for them, and that make one. */
    void (*fn)(union sigval value);
    pthread_attr_t attributes;
    uint32_t due, waiting, busy;
} timer;

/* The first one is that of alarm and setitimer. */
static timer timers[TIMERS_MAX] = {
    {.kind = TIMER_SIGNAL, .rings_ns = UINT64_MAX, .info = {.si_signo = SIGALRM, .si_code = SI_KERNEL}},
};
static uint32_t timer_count = 1; /* those beyond were never used */

/* In a row, of timers that ring again and again, when nothing else could run, and no call in which a thread waited has
 * returned since. */
static struct {
    uint32_t rings;
    uint64_t progress; /* at the last one */
} vain;

static bool is_readable(int fd)
{
    struct pollfd one = {.fd = fd, .events = POLLIN};
    return poll(&one, 1, 0) == 1;
}

/* Nobody has seen yet that it has rung. */
static bool is_unheard(const timer *t)
{
    switch (t->kind) {
    case TIMER_SIGNAL: return rad__signal_is_on_its_way(&t->info);
    case TIMER_THREAD: return t->due > 0 || t->busy >= BUSY_MOST;
    case TIMER_FILE: return is_readable(t->fd);
    default: return false;
    }
}

/* One that rings again and again moves the clock only when its last ring was heard: nothing comes of another one, and a
 * deadlock would be none. Nor does it when nothing but handlers and functions of timers has run for so many rings. */
static bool moves_the_clock(const timer *t)
{
    if (t->rings_ns == UINT64_MAX || t->kind <= TIMER_GONE || t->kind == TIMER_SILENT) return false;
    return t->again_ns == 0 || (vain.rings < VAIN_MOST && !is_unheard(t));
}

uint64_t rad__timers_next(void)
{
    uint64_t next = UINT64_MAX;
    for (uint32_t i = 0; i < timer_count; i++)
        if (timers[i].rings_ns < next && moves_the_clock(&timers[i])) next = timers[i].rings_ns;
    return next;
}

/* ---- Ringing --------------------------------------------------------------------------------------- */

static void send_signal(timer *t, uint32_t times)
{
    if (t->to && t->to->ended) return;
    if (rad__signal_is_on_its_way(&t->info)) {
        t->overrun += times;
        return;
    }
    t->overrun = times - 1;
    rad__signal_send(t->to, t->info.si_signo, &t->info);
}

/* The next time counts from the last one, whenever that was seen. */
static void ring(timer *t)
{
    uint64_t late = rad__stage.now_ns - t->rings_ns, times = 1; /* since nobody had asked */
    if (t->again_ns > 0) {
        times += late / t->again_ns;
        uint64_t on = times * t->again_ns;
        t->rings_ns = on < UINT64_MAX - t->rings_ns ? t->rings_ns + on : UINT64_MAX;
    } else {
        t->rings_ns = UINT64_MAX;
    }
    if (t->kind == TIMER_SIGNAL) send_signal(t, (uint32_t)times);
    if (t->kind == TIMER_FILE && write(t->fd, &times, sizeof times) < 0) t->rings_ns = UINT64_MAX; /* it was closed */
    if (t->kind == TIMER_THREAD) {
        t->due += (uint32_t)times;
        rad__threads_wake_first(RAD_WAIT_WORD, t);
    }
}

bool rad__timers_ring(void)
{
    bool any = false;
    for (uint32_t i = 0; i < timer_count; i++) {
        if (timers[i].kind <= TIMER_GONE || timers[i].rings_ns > rad__stage.now_ns) continue;
        if (timers[i].again_ns == 0) vain.rings = 0;
        ring(&timers[i]);
        any = true;
    }
    return any;
}

void rad__timers_rang(bool alone)
{
    vain.rings = alone && vain.progress == rad__stage.progress ? vain.rings + 1 : 0;
    vain.progress = rad__stage.progress;
}

/* ---- Times ----------------------------------------------------------------------------------------- */

static struct timespec time_of(uint64_t ns)
{
    return (struct timespec){(time_t)(ns / SECOND), (long)(ns % SECOND)};
}

static struct timeval short_time_of(uint64_t ns)
{
    return (struct timeval){(time_t)(ns / SECOND), (suseconds_t)(ns % SECOND / 1000)};
}

/* Rounded by the system's own: one that is due has something left. */
static uint64_t left(const timer *t)
{
    uint64_t now = rad__stage.now_ns;
    return t->rings_ns == UINT64_MAX ? 0 : t->rings_ns > now ? t->rings_ns - now : 1000;
}

static void set(timer *t, uint64_t ns, uint64_t again)
{
    t->rings_ns = ns > 0 ? rad__stage_after(ns) : UINT64_MAX;
    t->again_ns = again;
}

static bool counts_cpu(clockid_t clock)
{
    return clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID || clock < 0;
}

static int fails(int code)
{
    errno = code;
    return -1;
}

/* Of clocks that have no timers the system says so; which are none, it says in another way. */
int rad__clock_wrong(clockid_t clock)
{
    struct timespec finest;
    switch (clock) {
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_MONOTONIC_COARSE: return ENOTSUP;
    default: return clock_getres(clock, &finest) == 0 ? 0 : EINVAL;
    }
}

static bool has_file_timers(int clock)
{
    return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME ||
           clock == CLOCK_REALTIME_ALARM || clock == CLOCK_BOOTTIME_ALARM;
}

/* For timer_settime and timerfd_settime. */
static int set_time(timer *t, bool absolute, const struct itimerspec *to, struct itimerspec *was)
{
    uint64_t ns, again;
    if (!rad__ns_of(&to->it_value, &ns) || !rad__ns_of(&to->it_interval, &again)) return fails(EINVAL);
    if (was) *was = (struct itimerspec){time_of(t->again_ns), time_of(left(t))};
    set(t, ns, again);
    if (ns > 0 && absolute) t->rings_ns = rad__deadline_of(t->clock, &to->it_value);
    if (counts_cpu(t->clock)) t->rings_ns = UINT64_MAX;
    t->overrun = 0;
    return 0;
}

/* ---- alarm and setitimer ----------------------------------------------------------------------------- */

RAD_ANSWER(unsigned, alarm, (unsigned seconds))
{
    if (!rad__program_calls()) return RAD_REAL(alarm)(seconds);
    uint64_t before = left(timers);
    set(timers, seconds * SECOND, 0);
    return (unsigned)((before + SECOND - 1) / SECOND);
}

RAD_ANSWER(unsigned, ualarm, (unsigned us, unsigned again))
{
    if (!rad__program_calls()) return RAD_REAL(ualarm)(us, again);
    uint64_t before = left(timers);
    set(timers, us * UINT64_C(1000), again * UINT64_C(1000));
    return (unsigned)(before / 1000);
}

RAD_ANSWER(int, getitimer, (int which, struct itimerval *at))
{
    if (!rad__program_calls()) return RAD_REAL(getitimer)(which, at);
    *at = (struct itimerval){{0, 0}, {0, 0}};
    if (which != ITIMER_REAL) return 0;
    *at = (struct itimerval){short_time_of(timers->again_ns), short_time_of(left(timers))};
    return 0;
}

static bool ns_of_short(const struct timeval *t, uint64_t *ns)
{
    struct timespec same = {t->tv_sec, t->tv_usec < 1000000 ? t->tv_usec * 1000 : (long)SECOND};
    return rad__ns_of(&same, ns);
}

RAD_ANSWER(int, setitimer, (int which, const struct itimerval *to, struct itimerval *was))
{
    uint64_t ns, again;
    if (!rad__program_calls()) return RAD_REAL(setitimer)(which, to, was);
    if (!ns_of_short(&to->it_value, &ns) || !ns_of_short(&to->it_interval, &again)) return fails(EINVAL);
    if (was) rad__libc_getitimer(which, was);
    if (which == ITIMER_REAL)
        set(timers, ns, again);
    else
        rad__program_reaches("setitimer", "of CPU time never rings");
    return 0;
}

/* ---- timer_create -------------------------------------------------------------------------------------- */

static timer *timer_new(const timer *like)
{
    uint32_t i = 1;
    while (i < timer_count && timers[i].kind != TIMER_FREE) i++;
    if (i == TIMERS_MAX) return NULL;
    if (i == timer_count) timer_count++;
    timers[i] = *like;
    timers[i].rings_ns = UINT64_MAX;
    return &timers[i];
}

static timer *timer_of(timer_t id)
{
    uint64_t i = (uintptr_t)id; /* tidy: address ok: a number */
    return i > 0 && i < timer_count && timers[i].kind > TIMER_GONE ? &timers[i] : NULL;
}

static int thread_start(timer *t);

/* Of the program only the function, with all signals let through. */
static void *timer_thread(void *context)
{
    timer *t = context;
    rad_thread *self = rad__thread_self();
    self->aside = __builtin_frame_address(0);
    for (;;) {
        t->waiting++;
        while (t->due == 0) rad__thread_waits(RAD_AT_timer_rings, RAD_WAIT_WORD, t, UINT64_MAX);
        t->waiting--;
        t->due--;
        t->busy++;
        if (t->waiting == 0) thread_start(t);
        self->blocked = 0;
        rad__signals_handle();
        t->fn(t->info.si_value);
        self->blocked = ~UINT64_C(0);
        t->busy--;
    }
    return NULL;
}

static int thread_start(timer *t)
{
    const void *code;
    pthread_t thread;
    memcpy(&code, &t->fn, sizeof code);
    return rad__thread_start(&thread, &t->attributes, timer_thread, t, rad__address_name(code, "timer"), ~UINT64_C(0));
}

static int threads_begin(timer *t, const struct sigevent *how)
{
    if (rad__thread_self() == NULL) rad__refuse("timer_create", "a fiber cannot have a timer that starts threads");
    t->fn = how->sigev_notify_function;
    pthread_attr_init(&t->attributes);
    if (how->sigev_notify_attributes) t->attributes = *(const pthread_attr_t *)how->sigev_notify_attributes;
    pthread_attr_setdetachstate(&t->attributes, PTHREAD_CREATE_DETACHED);
    rad__object_begins(t, RAD_AT_timer_rings, "timer", NULL);
    return thread_start(t);
}

/* What becomes of its rings; false: nothing that there is. */
static bool takes_notice(timer *t, const struct sigevent *how)
{
    switch (how->sigev_notify) {
    case SIGEV_NONE: t->kind = TIMER_SILENT; return true;
    case SIGEV_THREAD: t->kind = TIMER_THREAD; return true;
    case SIGEV_THREAD_ID:
        t->to = rad__thread_at((uint32_t)(how->_sigev_un._tid - RAD_OWN_PID));
        if (t->to == NULL) return false;
        break;
    case SIGEV_SIGNAL: break;
    default: return false;
    }
    t->kind = TIMER_SIGNAL;
    return how->sigev_signo > 0 && how->sigev_signo <= SIGRTMAX;
}

RAD_ANSWER(int, timer_create, (clockid_t clock, struct sigevent *how, timer_t *id))
{
    struct sigevent usual = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    timer new = {.clock = clock, .fd = -1};
    if (!rad__program_calls()) return RAD_REAL(timer_create)(clock, how, id);
    int code = rad__clock_wrong(clock);
    if (code != 0 || !takes_notice(&new, how ? how : &usual)) return fails(code ? code : EINVAL);
    if (counts_cpu(clock)) rad__program_reaches("timer_create", "of CPU time never rings");
    timer *t = timer_new(&new);
    if (t == NULL) return fails(EAGAIN);
    uintptr_t number = (uintptr_t)(t - timers); /* tidy: address ok: a number */
    *id = (timer_t)number;
    t->info.si_signo = how ? how->sigev_signo : SIGALRM;
    t->info.si_code = SI_TIMER;
    t->info.si_timerid = (int)number;
    t->info.si_value = how ? how->sigev_value : (union sigval){.sival_int = (int)number};
    code = t->kind == TIMER_THREAD ? threads_begin(t, how) : 0;
    return code == 0 ? 0 : fails(code);
}

RAD_ANSWER(int, timer_settime, (timer_t id, int flags, const struct itimerspec *to, struct itimerspec *was))
{
    if (!rad__program_calls()) return RAD_REAL(timer_settime)(id, flags, to, was);
    timer *t = timer_of(id);
    return t ? set_time(t, flags & TIMER_ABSTIME, to, was) : fails(EINVAL);
}

RAD_ANSWER(int, timer_gettime, (timer_t id, struct itimerspec *at))
{
    if (!rad__program_calls()) return RAD_REAL(timer_gettime)(id, at);
    const timer *t = timer_of(id);
    if (t == NULL) return fails(EINVAL);
    *at = (struct itimerspec){time_of(t->again_ns), time_of(left(t))};
    return 0;
}

RAD_ANSWER(int, timer_getoverrun, (timer_t id))
{
    if (!rad__program_calls()) return RAD_REAL(timer_getoverrun)(id);
    const timer *t = timer_of(id);
    return t ? (int)t->overrun : fails(EINVAL);
}

/* Its threads wait for ever then, as glibc's one does, and so its place is not used again. */
RAD_ANSWER(int, timer_delete, (timer_t id))
{
    if (!rad__program_calls()) return RAD_REAL(timer_delete)(id);
    timer *t = timer_of(id);
    if (t == NULL) return fails(EINVAL);
    t->rings_ns = UINT64_MAX;
    t->kind = t->kind == TIMER_THREAD ? TIMER_GONE : TIMER_FREE;
    return 0;
}

/* ---- timerfd ------------------------------------------------------------------------------------------- */

RAD_ANSWER(int, timerfd_create, (int clock, int flags))
{
    if (!rad__program_calls()) return RAD_REAL(timerfd_create)(clock, flags);
    if (!has_file_timers(clock) || (flags & ~(TFD_NONBLOCK | TFD_CLOEXEC))) return fails(EINVAL);
    int fd = eventfd(0, flags);
    timer new = {.kind = TIMER_FILE, .clock = clock, .fd = fd};
    if (fd < 0) return -1;
    rad__timers_close(fd);
    if (timer_new(&new) != NULL) return fd;
    close(fd);
    return fails(EMFILE);
}

static timer *timer_by_file(int fd)
{
    for (uint32_t i = 1; i < timer_count; i++)
        if (timers[i].kind == TIMER_FILE && timers[i].fd == fd) return &timers[i];
    return NULL;
}

bool rad__timers_have(int fd)
{
    return timer_by_file(fd) != NULL;
}

/* What is no timer's, or no descriptor at all. */
static int no_timer(int fd)
{
    return fails(fcntl(fd, F_GETFD) < 0 ? EBADF : EINVAL);
}

void rad__timers_close(int fd)
{
    timer *t = timer_by_file(fd);
    if (t) t->kind = TIMER_FREE;
}

/* Setting it forgets what it has counted. */
RAD_ANSWER(int, timerfd_settime, (int fd, int flags, const struct itimerspec *to, struct itimerspec *was))
{
    uint64_t count;
    if (!rad__program_calls()) return RAD_REAL(timerfd_settime)(fd, flags, to, was);
    timer *t = timer_by_file(fd);
    if (flags & ~(TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET)) return fails(EINVAL);
    if (t == NULL) return no_timer(fd);
    if (is_readable(fd) && read(fd, &count, sizeof count) < 0) return -1;
    return set_time(t, flags & TFD_TIMER_ABSTIME, to, was);
}

RAD_ANSWER(int, timerfd_gettime, (int fd, struct itimerspec *at))
{
    if (!rad__program_calls()) return RAD_REAL(timerfd_gettime)(fd, at);
    const timer *t = timer_by_file(fd);
    if (t == NULL) return no_timer(fd);
    *at = (struct itimerspec){time_of(t->again_ns), time_of(left(t))};
    return 0;
}

bool rad__timers_by_number(long number, const long *a, long *answer)
{
    void *second = rad__argument_pointer(a[1]), *third = rad__argument_pointer(a[2]);
    void *fourth = rad__argument_pointer(a[3]);
    switch (number) {
#ifdef SYS_alarm
    case SYS_alarm: *answer = rad__libc_alarm((unsigned)a[0]); return true;
#endif
    case SYS_getitimer: *answer = rad__libc_getitimer((int)a[0], second); return true;
    case SYS_setitimer: *answer = rad__libc_setitimer((int)a[0], second, third); return true;
    case SYS_timerfd_create: *answer = rad__libc_timerfd_create((int)a[0], (int)a[1]); return true;
    case SYS_timerfd_settime: *answer = rad__libc_timerfd_settime((int)a[0], (int)a[1], third, fourth); return true;
    case SYS_timerfd_gettime: *answer = rad__libc_timerfd_gettime((int)a[0], second); return true;
    default: return false;
    }
}
