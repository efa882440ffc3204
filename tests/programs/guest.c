/* guest.c — two fibers that make calls of the C library, as the first argument says: clocks, sleeps, random numbers,
 * files, memory. */
#define _GNU_SOURCE
#define OWN_MAIN
#include "planted.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const char *how;
static rad_mutex m;

static bool is(const char *name)
{
    return strcmp(how, name) == 0;
}

static int64_t now(clockid_t clock)
{
    struct timespec at;
    clock_gettime(clock, &at);
    return at.tv_sec * INT64_C(1000000000) + at.tv_nsec;
}

static int64_t now_of_day(void)
{
    struct timeval at;
    gettimeofday(&at, NULL);
    return at.tv_sec * INT64_C(1000000000) + at.tv_usec * 1000;
}

/* An hour and more, by every call that there is; none of it is real. */
static void sleeps(void)
{
    struct timespec second = {1, 0}, later;
    int64_t begin = now(CLOCK_MONOTONIC), day = now_of_day();
    time_t date = time(NULL);
    sleep(3600);
    usleep(500000);
    nanosleep(&second, NULL);
    poll(NULL, 0, 500);
    clock_gettime(CLOCK_MONOTONIC, &later);
    later.tv_sec += 2;
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &later, NULL);
    assert(now(CLOCK_MONOTONIC) - begin == INT64_C(3604000000000));
    assert(now_of_day() - day == INT64_C(3604000000000));
    assert(time(NULL) - date == 3604 && date >= 1600000000 && date < 1600010000);
}

/* Loops that wait for the clock: with a yield, with the system's, and without. */
static void loops(void)
{
    rad_time until = rad_after(5000000);
    while (rad_now() < until) rad_yield();
    until = rad_after(5000000);
    while (rad_now() < until) continue;
    int64_t end = now(CLOCK_REALTIME) + INT64_C(3000000000);
    while (now(CLOCK_REALTIME) < end) sched_yield();
    end = now(CLOCK_MONOTONIC) + INT64_C(3000000000);
    while (now(CLOCK_MONOTONIC) < end) continue;
    clock_t cpu = clock();
    while (clock() < cpu + CLOCKS_PER_SEC) continue;
}

/* What is drawn decides how often it yields: a run with other numbers is another run. */
static void draws(void)
{
    uint32_t drawn[6] = {0};
    FILE *file = fopen("/dev/urandom", "r");
    int fd = open("/dev/random", O_RDONLY);
    bool good = getrandom(&drawn[0], 4, 0) == 4 && getentropy(&drawn[1], 4) == 0 && fread(&drawn[2], 4, 1, file) == 1 &&
                read(fd, &drawn[3], 4) == 4 && syscall(SYS_getrandom, &drawn[4], 4, 0) == 4;
    assert(good && drawn[0] != drawn[1] && drawn[1] != drawn[2] && drawn[2] != drawn[3]);
    drawn[5] = (uint32_t)getpid();
    fclose(file);
    close(fd);
    for (int i = 0; i < 6; i++) {
        printf("drawn %u\n", drawn[i]);
        for (uint32_t n = drawn[i] % 5; n > 0; n--) rad_yield();
    }
}

static void writes(void)
{
    FILE *file = fopen("left.txt", "w");
    assert(file != NULL && fclose(file) == 0);
    assert(rename("left.txt", "renamed.txt") == 0 && unlink("renamed.txt") == 0);
    assert(mkdir("folder", 0777) == 0 && rmdir("folder") == 0);
    close(open("cut.txt", O_RDONLY | O_TRUNC)); /* if it were there, it would be empty now */
    file = fopen("/dev/null", "w");
    assert(file != NULL && fclose(file) == 0);
}

/* Half of it is given back. */
static void grows(void)
{
    for (int i = 0; i < 24; i++) {
        char *p = i % 4 ? malloc(1 << 20) : calloc(1, 1 << 20);
        memset(p, 1, 1 << 20);
        p = realloc(p, 1 << 19);
        if (i % 2) free(p);
    }
}

/* Numbers of the system's, which are others each time. */
static void differs(void)
{
    char text[64] = "";
    FILE *f = fopen("/proc/sys/kernel/random/uuid", "r");
    assert(f != NULL && fgets(text, sizeof text, f) != NULL);
    fclose(f);
    unsigned long low = strtoul(text, NULL, 16);
    for (int i = 0; i < 20; i++)
        if (low >> i & 1)
            rad_yield();
        else
            (void)rad_is_canceled();
}

static void hangs(void)
{
    int ends[2];
    char byte;
    if (pipe(ends) == 0 && read(ends[0], &byte, 1) == 1) abort();
}

static volatile sig_atomic_t rung;

static void rings(int number)
{
    (void)number;
    rung++;
}

static int bell[2];

static void rings_bell(int number)
{
    (void)number;
    if (write(bell[1], "", 1) != 1) abort();
}

/* All fibers wait, and only a handler can wake one. */
static void wakes_by_pipe(void)
{
    char byte;
    assert(pipe2(bell, O_NONBLOCK | O_CLOEXEC) == 0);
    signal(SIGALRM, rings_bell);
    for (int i = 0; i < 2; i++) {
        alarm(1);
        assert(rad_read(bell[0], &byte, 1, RAD_FOREVER) == 1);
    }
    rad_fd_close(bell[0]);
    close(bell[1]);
}

/* Timers of the process beside fibers: whichever runs next runs the handler. */
static void timers(void)
{
    static const struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    struct itimerspec once = {{0, 0}, {0, 1000000}};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    timer_t timer;
    signal(SIGALRM, rings);
    signal(SIGUSR1, rings);
    rung = 0;
    setitimer(ITIMER_REAL, &often, NULL);
    while (rung < 3) rad_sleep(500000);
    setitimer(ITIMER_REAL, &never, NULL);
    alarm(1);
    for (int before = rung; rung == before;) rad_yield();
    assert(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0 && timer_settime(timer, 0, &once, NULL) == 0);
    for (int before = rung; rung == before;) rad_sleep(300000);
    timer_delete(timer);
    wakes_by_pipe();
}

static void does(void)
{
    if (is("timers")) timers();
    if (is("sleeps")) sleeps();
    if (is("loops")) loops();
    if (is("draws")) draws();
    if (is("writes")) writes();
    if (is("grows")) grows();
    if (is("differs")) differs();
    if (is("hangs")) hangs();
    if (is("fails")) abort();
    if (is("reads")) assert(access("/proc/self/exe", F_OK) == 0 && fopen("/proc/self/stat", "r"));
    if (is("alarms")) alarm(1);
    if (is("raw")) syscall(SYS_clone, 17, 0, 0, 0, 0);
}

static int calls(void *arg)
{
    (void)arg;
    rad_mutex_lock(&m);
    does();
    rad_mutex_unlock(&m);
    return 0;
}

static int start(void *arg)
{
    (void)arg;
    return both(calls, calls);
}

int main(int argc, char **argv)
{
    how = argc > 1 ? argv[1] : "";
    return rad_main(NULL, start, NULL, NULL);
}
