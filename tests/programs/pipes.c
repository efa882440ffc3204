/* pipes.c — threads that wait for descriptors, with a bug each, for `raddle explore`: pipes NAME [fixed]; `answers` has
 * none, and asserts what the calls are to answer. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static bool fixed;
static int ends[2], others[2];
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static pthread_t start(void *(*run)(void *), void *arg)
{
    pthread_t t;
    assert(pthread_create(&t, NULL, run, arg) == 0);
    return t;
}

/* ---- Each waits for what the other one writes afterwards ---- */

static void *answers_first(void *arg)
{
    char byte = 'b';
    if (fixed) assert(write(others[1], &byte, 1) == 1);
    assert(read(ends[0], &byte, 1) == 1);
    if (!fixed) assert(write(others[1], &byte, 1) == 1);
    return arg;
}

static void crossed(void)
{
    char byte = 'a';
    assert(pipe(ends) == 0 && pipe(others) == 0);
    pthread_t t = start(answers_first, NULL);
    assert(read(others[0], &byte, 1) == 1 && write(ends[1], &byte, 1) == 1);
    pthread_join(t, NULL);
}

/* ---- A write that finds no room, under a lock that the reader needs ---- */

enum { MUCH = 200000 };

static void *drains(void *arg)
{
    static char buffer[MUCH];
    size_t got = 0;
    if (!fixed) pthread_mutex_lock(&m);
    while (got < MUCH) {
        ssize_t now = read(ends[0], buffer + got, MUCH - got);
        assert(now > 0);
        got += (size_t)now;
    }
    if (!fixed) pthread_mutex_unlock(&m);
    for (size_t i = 0; i < MUCH; i++) assert(buffer[i] == (char)(i % 101));
    return arg;
}

static void full(void)
{
    static char buffer[MUCH];
    for (size_t i = 0; i < MUCH; i++) buffer[i] = (char)(i % 101);
    assert(pipe(ends) == 0);
    pthread_t t = start(drains, NULL);
    pthread_mutex_lock(&m);
    assert(write(ends[1], buffer, MUCH) == MUCH);
    pthread_mutex_unlock(&m);
    pthread_join(t, NULL);
}

/* ---- Two readers of one pipe, each for its own message ---- */

static void *takes(void *expected)
{
    char byte;
    assert(read(ends[0], &byte, 1) == 1);
    assert(fixed || byte == *(char *)expected);
    return NULL;
}

static void stolen(void)
{
    static char one = '1', two = '2';
    assert(pipe(ends) == 0);
    pthread_t a = start(takes, &one), b = start(takes, &two);
    assert(write(ends[1], "12", 2) == 2);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

/* ---- Nobody reads any more ---- */

static void *leaves(void *arg)
{
    char byte;
    assert(read(ends[0], &byte, 1) == 1);
    close(ends[0]);
    return arg;
}

static void broken(void)
{
    assert(pipe(ends) == 0);
    if (fixed) signal(SIGPIPE, SIG_IGN);
    pthread_t t = start(leaves, NULL);
    assert(write(ends[1], "x", 1) == 1);
    pthread_join(t, NULL);
    assert(write(ends[1], "y", 1) == -1 && errno == EPIPE);
}

/* ---- A FILE that stays locked ---- */

static void *prints(void *arg)
{
    flockfile(stdout);
    if (fixed) funlockfile(stdout);
    return arg;
}

static void locked(void)
{
    pthread_t t = start(prints, NULL);
    flockfile(stdout);
    funlockfile(stdout);
    pthread_join(t, NULL);
}

/* ---- What the calls answer ---- */

static void *echoes(void *arg)
{
    char text[8];
    int fd = *(int *)arg;
    ssize_t size;
    while ((size = read(fd, text, sizeof text)) > 0) assert(write(fd, text, (size_t)size) == size);
    close(fd);
    return NULL;
}

static void pairs(void)
{
    char text[8] = "";
    struct iovec parts[2] = {{"he", 2}, {"llo", 3}};
    assert(socketpair(AF_UNIX, SOCK_STREAM, 0, others) == 0);
    pthread_t t = start(echoes, &others[1]);
    assert(writev(others[0], parts, 2) == 5);
    assert(recv(others[0], text, 5, MSG_WAITALL) == 5 && strcmp(text, "hello") == 0);
    assert(recv(others[0], text, 1, MSG_DONTWAIT) == -1 && errno == EAGAIN);
    assert(send(others[0], "again", 5, MSG_NOSIGNAL) == 5);
    assert(recv(others[0], text, 2, 0) == 2 && recv(others[0], text, 3, MSG_WAITALL) == 3);
    shutdown(others[0], SHUT_WR);
    assert(read(others[0], text, 1) == 0);
    pthread_join(t, NULL);
    close(others[0]);
}

static void *adds(void *arg)
{
    eventfd_write(*(int *)arg, 3);
    return NULL;
}

static void several(void)
{
    int event = eventfd(0, 0), group = epoll_create1(0);
    uint64_t value;
    struct epoll_event asked = {.events = EPOLLIN, .data.fd = event}, got;
    struct pollfd one = {.fd = event, .events = POLLIN};
    struct timeval soon = {1, 0};
    fd_set set;
    assert(poll(&one, 1, 0) == 0 && poll(&one, 1, 50) == 0);
    assert(epoll_ctl(group, EPOLL_CTL_ADD, event, &asked) == 0);
    assert(epoll_wait(group, &got, 1, 20) == 0);
    FD_ZERO(&set);
    FD_SET(event, &set);
    assert(select(event + 1, &set, NULL, NULL, &soon) == 0 && !FD_ISSET(event, &set));
    for (int i = 0; i < 3; i++) {
        pthread_t t = start(adds, &event);
        FD_SET(event, &set);
        if (i == 0) assert(poll(&one, 1, -1) == 1 && one.revents == POLLIN);
        if (i == 1) assert(epoll_wait(group, &got, 1, -1) == 1 && got.data.fd == event);
        if (i == 2) assert(select(event + 1, &set, NULL, NULL, NULL) == 1);
        assert(read(event, &value, sizeof value) == sizeof value && value == 3);
        pthread_join(t, NULL);
    }
    close(event);
    close(group);
}

static struct sockaddr_in at;

static void *connects(void *arg)
{
    char text[4] = "";
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert(connect(fd, (struct sockaddr *)&at, sizeof at) == 0);
    assert(write(fd, "ping", 4) == 4 && recv(fd, text, 4, MSG_WAITALL) == 4);
    assert(memcmp(text, "ping", 4) == 0);
    close(fd);
    return arg;
}

static void served(void)
{
    socklen_t size = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    at = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    assert(bind(fd, (struct sockaddr *)&at, sizeof at) == 0);
    assert(getsockname(fd, (struct sockaddr *)&at, &size) == 0 && listen(fd, 5) == 0);
    pthread_t t = start(connects, NULL);
    int got = accept(fd, NULL, NULL);
    assert(got >= 0);
    echoes(&got);
    pthread_join(t, NULL);
    close(fd);
}

/* ---- Time, flags and masks ---- */

static struct timespec begun;

static bool waited(long ms)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long took = (now.tv_sec - begun.tv_sec) * 1000 + (now.tv_nsec - begun.tv_nsec) / 1000000;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    return took >= ms && took < 100 * ms;
}

static void timed(void)
{
    int event = eventfd(0, 0), group = epoll_create1(0);
    struct epoll_event got;
    struct pollfd one = {.fd = event, .events = POLLIN};
    struct timeval soon = {0, 20000};
    struct timespec soon_too = {0, 20000000};
    sigset_t all, now;
    fd_set set;
    sigfillset(&all);
    waited(0);
    assert(poll(&one, 1, 20) == 0 && waited(20));
    assert(ppoll(&one, 1, &soon_too, &all) == 0 && waited(20));
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    assert(!sigismember(&now, SIGUSR1));
    assert(epoll_wait(group, &got, 1, 20) == 0 && waited(20));
    FD_ZERO(&set);
    FD_SET(event, &set);
    assert(select(event + 1, &set, NULL, NULL, &soon) == 0 && waited(20));
    FD_SET(event, &set);
    assert(pselect(event + 1, &set, NULL, NULL, &soon_too, &all) == 0 && waited(20));
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    assert(!sigismember(&now, SIGUSR1));
    close(group);
    close(event);
}

/* Sockets with a time of their own for each call. */
static void limited(void)
{
    const struct timeval soon = {0, 20000};
    static char much[1 << 16];
    int sides[2];
    char byte;
    assert(socketpair(AF_UNIX, SOCK_STREAM, 0, sides) == 0);
    assert(setsockopt(sides[0], SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof soon) == 0);
    assert(setsockopt(sides[0], SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof soon) == 0);
    waited(0);
    assert(recv(sides[0], &byte, 1, 0) == -1 && errno == EAGAIN && waited(20));
    assert(read(sides[0], &byte, 1) == -1 && errno == EAGAIN && waited(20));
    errno = 0;
    assert(syscall(SYS_recvfrom, sides[0], &byte, 1, 0, NULL, NULL) == -1 && errno == EAGAIN && waited(20));
    while (send(sides[0], much, sizeof much, 0) > 0) waited(0);
    assert(errno == EAGAIN && waited(20));
    assert(recv(sides[1], &byte, 1, 0) == 1 && send(sides[1], &byte, 1, 0) == 1 && recv(sides[0], &byte, 1, 0) == 1);
    close(sides[0]);
    close(sides[1]);
}

static void *sends_twice(void *arg)
{
    assert(send(others[1], "he", 2, 0) == 2);
    usleep(1000);
    assert(send(others[1], "llo", 3, 0) == 3);
    return arg;
}

static void flags(void)
{
    char text[8] = "";
    int event = eventfd(2, EFD_SEMAPHORE | EFD_NONBLOCK);
    eventfd_t value;
    assert(eventfd_read(event, &value) == 0 && value == 1);
    assert(eventfd_read(event, &value) == 0 && value == 1);
    assert(eventfd_read(event, &value) == -1 && errno == EAGAIN);
    close(event);
    assert(pipe2(ends, O_NONBLOCK) == 0);
    assert(read(ends[0], text, 1) == -1 && errno == EAGAIN);
    close(ends[0]);
    close(ends[1]);
    assert(pipe(ends) == 0 && write(ends[1], "x", 1) == 1);
    assert((fcntl(ends[1], F_GETFL) & O_NONBLOCK) == 0);
    close(ends[0]);
    close(ends[1]);
    assert(socketpair(AF_UNIX, SOCK_STREAM, 0, others) == 0);
    pthread_t t = start(sends_twice, NULL);
    assert(recv(others[0], text, 5, MSG_PEEK) == 2 && memcmp(text, "he", 2) == 0);
    assert(recv(others[0], text, 2, MSG_PEEK | MSG_WAITALL) == 2);
    assert(recv(others[0], text, 5, MSG_WAITALL) == 5 && memcmp(text, "hello", 5) == 0);
    pthread_join(t, NULL);
    close(others[1]);
    assert(send(others[0], "x", 1, MSG_NOSIGNAL) == -1 && errno == EPIPE);
    close(others[0]);
}

/* ---- Asking without waiting, until it is there ---- */

static void *puts_late(void *arg)
{
    assert(write(ends[1], "x", 1) == 1);
    return arg;
}

static void asked(void)
{
    char byte;
    assert(pipe(ends) == 0);
    struct pollfd one = {.fd = ends[0], .events = POLLIN};
    pthread_t t = start(puts_late, NULL);
    while (poll(&one, 1, 0) == 0) {
    }
    assert(read(ends[0], &byte, 1) == 1);
    pthread_join(t, NULL);
    close(ends[0]);
    close(ends[1]);
}

/* ---- A FILE that is locked twice, and waited for ---- */

static int printed;

static void *prints_too(void *arg)
{
    flockfile(stdout);
    assert(printed == 1);
    funlockfile(stdout);
    return arg;
}

static void locked_twice(void)
{
    flockfile(stdout);
    flockfile(stdout);
    pthread_t t = start(prints_too, NULL);
    usleep(1000);
    funlockfile(stdout);
    usleep(1000);
    printed = 1;
    funlockfile(stdout);
    pthread_join(t, NULL);
}

static volatile sig_atomic_t came, done;

static void note(int number)
{
    came = number;
}

static void *pokes(void *to)
{
    while (!done) {
        pthread_kill(*(pthread_t *)to, SIGUSR1);
        usleep(1000);
    }
    return NULL;
}

static void interrupted(void)
{
    struct sigaction a = {.sa_handler = note};
    char byte;
    pthread_t self = pthread_self();
    assert(sigaction(SIGUSR1, &a, NULL) == 0 && pipe(ends) == 0);
    pthread_t t = start(pokes, &self);
    assert(read(ends[0], &byte, 1) == -1 && errno == EINTR && came == SIGUSR1);
    done = 1;
    pthread_join(t, NULL);
}

static void answers(void)
{
    pairs();
    several();
    timed();
    limited();
    flags();
    asked();
    locked_twice();
    served();
    interrupted();
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = {{"crossed", crossed}, {"full", full},     {"stolen", stolen},
               {"broken", broken},   {"locked", locked}, {"answers", answers}};
    const char *name = argc > 1 ? argv[1] : "";
    fixed = argc > 2 && strcmp(argv[2], "fixed") == 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (strcmp(all[i].name, name) != 0) continue;
        all[i].run();
        return 0;
    }
    fprintf(stderr, "pipes: no %s\n", name);
    return 2;
}
