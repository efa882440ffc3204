/* test_io.c — read, write, accept, connect; descriptors in select. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <raddle.h>

#include "os/io.h"
#include "rt/turns.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "patience_support.h"

enum { MS = 1000000 };

static rad_time soon(void)
{
    return rad_after(PATIENCE_NS);
}

static void run(uint32_t workers, rad_fn body)
{
    rad_options o = {.workers = workers};
    assert_int_equal(rad_main(&o, body, NULL, NULL), 0);
}

/* ---- TCP ------------------------------------------------------------------------------------------------ */

static int listens(struct sockaddr_in *at)
{
    socklen_t size = sizeof *at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    *at = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)at, sizeof *at), 0);
    assert_int_equal(listen(fd, 100), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)at, &size), 0);
    assert_int_equal(rad_fd_prepare(fd), 0);
    return fd;
}

static int connects(const struct sockaddr_in *to)
{
    int small = 10000, fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof small), 0);
    assert_int_equal(rad_connect(fd, (const struct sockaddr *)to, sizeof *to, soon()), 0);
    return fd;
}

enum { CLIENTS = 20, BYTES = 1 << 20 };

static int sends_back(void *arg)
{
    int fd = (int)(intptr_t)arg;
    char text[10000];
    int64_t got;
    while ((got = rad_read(fd, text, sizeof text, soon())) > 0)
        if (rad_write(fd, text, (size_t)got, soon()) != got) return 1;
    assert_int_equal(rad_fd_close(fd), 0);
    return got == 0 ? 0 : 2;
}

static int serves(void *arg)
{
    int fd = *(int *)arg;
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    for (;;) {
        struct sockaddr_in from;
        uint32_t size = sizeof from;
        int64_t got = rad_accept(fd, (struct sockaddr *)&from, &size, RAD_FOREVER);
        if (got == RAD_ECLOSED) break;
        assert_true(got >= 0);
        assert_int_equal(from.sin_family, AF_INET);
        assert_int_equal(rad_nursery_spawn(&n, NULL, sends_back, (void *)(intptr_t)got), 0);
    }
    return rad_nursery_wait(&n);
}

typedef struct talk {
    int fd;
    const unsigned char *bytes;
} talk;

static int writes_all(void *arg)
{
    talk *t = arg;
    if (rad_write(t->fd, t->bytes, BYTES, soon()) != BYTES) return 3;
    return shutdown(t->fd, SHUT_WR);
}

/* A megabyte there and back: more than fits into any buffer between. */
static int client(void *arg)
{
    unsigned char *out = malloc(BYTES), *in = malloc(BYTES + 1);
    talk t = {connects(arg), out};
    size_t length = 0;
    int64_t got;
    rad_nursery n;
    for (size_t i = 0; i < BYTES; i++) out[i] = (unsigned char)(i * 2654435761u >> 13);
    rad_nursery_open(&n, RAD_FOREVER);
    assert_int_equal(rad_nursery_spawn(&n, NULL, writes_all, &t), 0);
    while ((got = rad_read(t.fd, in + length, BYTES + 1 - length, soon())) > 0) length += (size_t)got;
    assert_int_equal(got, 0);
    assert_int_equal(length, BYTES);
    assert_memory_equal(in, out, BYTES);
    assert_int_equal(rad_nursery_wait(&n), 0);
    assert_int_equal(rad_fd_close(t.fd), 0);
    free(out);
    free(in);
    return 0;
}

static int echo(void *unused)
{
    struct sockaddr_in at;
    int fd = listens(&at);
    rad_nursery n;
    rad_fiber server;
    (void)unused;
    assert_int_equal(rad_spawn(&server, serves, &fd), 0);
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < CLIENTS; i++) assert_int_equal(rad_nursery_spawn(&n, NULL, client, &at), 0);
    assert_int_equal(rad_nursery_wait(&n), 0);
    assert_int_equal(rad_fd_close(fd), 0);
    rad_fiber_result given;
    assert_int_equal(rad_join(server, &given, soon()), 0);
    assert_int_equal(given.code, 0);
    rad_release(server);
    return 0;
}

static void megabytes_over_tcp(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 2; workers++) run(workers, echo);
}

static int refusals(void *unused)
{
    struct sockaddr_in at;
    char byte = 'x';
    (void)unused;
    int fd = listens(&at);
    assert_int_equal(rad_accept(fd, NULL, NULL, 0), RAD_ETIMEOUT);
    assert_int_equal(rad_accept(fd, NULL, NULL, rad_after(5 * MS)), RAD_ETIMEOUT);
    int one = connects(&at);
    int64_t other = rad_accept(fd, NULL, NULL, soon());
    assert_true(other >= 0);
    assert_int_equal(rad_read(one, &byte, 1, 0), RAD_ETIMEOUT);
    assert_int_equal(rad_read(one, &byte, 1, rad_after(5 * MS)), RAD_ETIMEOUT);
    assert_int_equal(rad_errno(RAD_ETIMEOUT), 0);
    assert_int_equal(rad_errno(rad_read(1000, &byte, 1, soon())), EBADF);
    assert_int_equal(rad_errno(rad_write(1000, &byte, 1, soon())), EBADF);
    assert_int_equal(rad_fd_close((int)other), 0);
    assert_int_equal(rad_read(one, &byte, 1, soon()), 0);
    assert_int_equal(rad_write(one, &byte, 1, soon()), 1);
    int64_t code;
    while ((code = rad_write(one, &byte, 1, soon())) == 1) rad_sleep(MS);
    assert_true(rad_errno(code) == EPIPE || rad_errno(code) == ECONNRESET);
    rad_fd_close(one);
    rad_fd_close(fd);
    int nobody = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    code = rad_connect(nobody, (struct sockaddr *)&at, sizeof at, soon());
    assert_int_equal(rad_errno(code), ECONNREFUSED);
    rad_fd_close(nobody);
    return 0;
}

static void refusals_come_by_value(void **state)
{
    (void)state;
    run(1, refusals);
    run(2, refusals);
    refusals(NULL);
}

/* A write that cannot end says how far it came. */
static int partial(void *unused)
{
    enum { LARGE = 8 << 20 };
    int fds[2];
    char *bytes = calloc(1, LARGE);
    (void)unused;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
    int64_t put = rad_write(fds[0], bytes, LARGE, rad_after(5 * MS));
    assert_true(put > 0 && put < LARGE);
    assert_int_equal(rad_write(fds[0], bytes, LARGE, rad_after(5 * MS)), RAD_ETIMEOUT);
    assert_int_equal(rad_write(fds[0], bytes, 0, 0), 0);
    int64_t all = 0, got;
    while ((got = rad_read(fds[1], bytes, LARGE, 0)) > 0) all += got;
    assert_int_equal(all, put);
    rad_fd_close(fds[0]);
    rad_fd_close(fds[1]);
    free(bytes);
    return 0;
}

static void what_was_written_is_told(void **state)
{
    (void)state;
    run(1, partial);
}

/* ---- Select --------------------------------------------------------------------------------------------- */

static int sends_later(void *arg)
{
    int value = 5;
    rad_sleep(2 * MS);
    return rad_send(arg, &value, RAD_FOREVER);
}

static int writes_later(void *arg)
{
    rad_sleep(2 * MS);
    return write(*(int *)arg, "x", 1) == 1 ? 0 : 1;
}

static int selects(void *unused)
{
    int a[2], b[2], value = 0;
    char byte;
    rad_chan *c;
    (void)unused;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, a), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, b), 0);
    assert_int_equal(rad_chan_create(&c, sizeof value, 0, RAD_CHAN_BLOCKS), 0);
    rad_select_case cases[] = {
        {.kind = RAD_ON_FD, .on.file = {a[0], RAD_READABLE}},
        {.kind = RAD_ON_RECV, .on.chan = c, .value = &value},
        {.kind = RAD_ON_FD, .on.file = {b[0], RAD_READABLE}},
    };
    assert_int_equal(rad_select(cases, 3, 0), RAD_ETIMEOUT);
    assert_int_equal(rad_select(cases, 3, rad_after(2 * MS)), RAD_ETIMEOUT);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(rad_spawn(NULL, writes_later, &b[1]), 0);
        assert_int_equal(rad_select(cases, 3, soon()), 2);
        assert_int_equal(cases[2].code, RAD_READABLE);
        assert_int_equal(rad_select(cases, 3, 0), 2);
        assert_int_equal(read(b[0], &byte, 1), 1);
        assert_int_equal(rad_spawn(NULL, sends_later, c), 0);
        assert_int_equal(rad_select(cases, 3, soon()), 1);
        assert_int_equal(value, 5);
        assert_int_equal(rad_spawn(NULL, writes_later, &a[1]), 0);
        assert_int_equal(rad_select(cases, 1, soon()), 0); /* one case */
        assert_int_equal(read(a[0], &byte, 1), 1);
    }
    cases[0].on.file.fd = 1000;
    assert_int_equal(rad_select(cases, 3, soon()), 0); /* can be done: there is nothing to wait for */
    assert_int_equal(cases[0].code, RAD_EINPUT);
    cases[0].on.file.fd = -1;
    assert_int_equal(rad_select(cases, 3, soon()), RAD_EINPUT);
    rad_chan_destroy(c);
    for (int i = 0; i < 2; i++) rad_fd_close(a[i]), rad_fd_close(b[i]);
    return 0;
}

static void select_waits_for_descriptors(void **state)
{
    (void)state;
    run(1, selects);
    run(2, selects);
}

/* ---- fork --------------------------------------------------------------------------------------------- */

static bool ends_well(pid_t child)
{
    int status = 1;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status == 0;
}

static int reads_a_byte(void *arg)
{
    char byte;
    return rad_read(*(int *)arg, &byte, 1, soon()) == 1 ? 0 : 1;
}

/* The child has the same poll, and closes its own descriptor: whoever waits in the parent is not forgotten. */
static int a_child_closes(void *unused)
{
    int fds[2];
    rad_fiber f;
    rad_fiber_result r;
    (void)unused;
    assert_int_equal(pipe(fds), 0);
    assert_int_equal(rad_fd_prepare(fds[0]), 0);
    assert_int_equal(rad_spawn(&f, reads_a_byte, &fds[0]), 0);
    rad_sleep(10 * MS);
    pid_t child = fork();
    if (child == 0) _exit(rad_fd_close(fds[0]) == 0 ? 0 : 1);
    assert_true(ends_well(child));
    assert_int_equal(write(fds[1], "x", 1), 1);
    assert_int_equal(rad_join(f, &r, RAD_FOREVER), 0);
    rad_release(f);
    rad_fd_close(fds[0]);
    rad_fd_close(fds[1]);
    return r.code;
}

/* Threads share one that polls for them. A child has none of its parent's. */
static bool child_waits(int fds[2])
{
    char byte = 'y';
    patience_limit_child();
    return rad_fd_wait(fds[0], RAD_READABLE, rad_after(MS)) == RAD_ETIMEOUT && write(fds[1], &byte, 1) == 1 &&
           rad_fd_wait(fds[0], RAD_READABLE, soon()) == RAD_READABLE && rad_read(fds[0], &byte, 1, soon()) == 1;
}

static void a_child_has_its_own_poll(void **state)
{
    int fds[2];
    (void)state;
#if defined(__SANITIZE_THREAD__)
    skip(); /* it does not go on after a fork */
#endif
    run(2, a_child_closes);
    assert_int_equal(pipe(fds), 0);
    assert_int_equal(rad_fd_prepare(fds[0]), 0);
    assert_int_equal(rad_fd_wait(fds[0], RAD_READABLE, rad_after(MS)), RAD_ETIMEOUT);
    for (int i = 0; i < 3; i++) {
        pid_t child = fork();
        if (child == 0) exit(child_waits(fds) ? 0 : 1);
        assert_true(ends_well(child));
    }
    assert_int_equal(rad_fd_wait(fds[0], RAD_READABLE, rad_after(MS)), RAD_ETIMEOUT);
    rad_fd_close(fds[0]);
    rad_fd_close(fds[1]);
}

/* ---- Turns on a descriptor that blocks ------------------------------------------------------------------- */

/* A listener that blocks, and a connection that waits there. */
static int listens_blocking(int *caller)
{
    struct sockaddr_in at;
    int fd = listens(&at);
    assert_int_equal(fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK), 0);
    *caller = connects(&at);
    return fd;
}

static bool accepts(int fd)
{
    int64_t got = rad_accept(fd, NULL, NULL, soon());
    if (got >= 0) rad_fd_close((int)got);
    return got >= 0;
}

/* As if another thread were in the middle of a call when this one forks: it is not there in the child. */
static void a_child_has_its_own_turns(void **state)
{
    int caller, fd = listens_blocking(&caller);
    (void)state;
#if defined(__SANITIZE_THREAD__)
    skip(); /* it does not go on after a fork */
#endif
    assert_int_equal(rad_semaphore_acquire(rad__turn_of(fd), 1, 0), 0);
    pid_t child = fork();
    if (child == 0) exit(accepts(fd) ? 0 : 1);
    assert_true(ends_well(child));
    rad_semaphore_release(rad__turn_of(fd), 1);
    rad_fd_close(caller);
    rad_fd_close(fd);
}

static void descriptors_do_not_share_turns(void **state)
{
    struct rlimit limit;
    int caller, fd = listens_blocking(&caller), apart[] = {1, 64, 1024, 4096};
    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++)
        if ((rlim_t)(fd + apart[i]) < limit.rlim_cur)
            assert_ptr_not_equal(rad__turn_of(fd), rad__turn_of(fd + apart[i]));
    int other = fcntl(fd, F_DUPFD_CLOEXEC, fd + 1024);
    if (other == fd + 1024) {
        assert_int_equal(rad_semaphore_acquire(rad__turn_of(fd), 1, 0), 0);
        assert_true(accepts(other));
        rad_semaphore_release(rad__turn_of(fd), 1);
    }
    if (other >= 0) rad_fd_close(other);
    rad_fd_close(caller);
    rad_fd_close(fd);
}

/* ---- A call that is interrupted --------------------------------------------------------------------------- */

typedef struct caller {
    struct sockaddr_un at;
    uint32_t length;
    int fd;
    int64_t answer;
    _Atomic bool done;
} caller;

static void *connects_and_waits(void *arg)
{
    caller *c = arg;
    c->answer = rad__os_io_connect(c->fd, (struct sockaddr *)&c->at, c->length);
    atomic_store(&c->done, true);
    return NULL;
}

static void interrupts(int number)
{
    (void)number;
}

static int local_socket(int flags)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
    assert_true(fd >= 0);
    return fd;
}

/* On TCP the connect would continue by itself. Here the queue is full, the call waits for it and ends with the signal:
 * it was not begun, and has to be made again. */
static void an_interrupted_local_connect_is_not_under_way(void **state)
{
    struct sigaction act = {.sa_handler = interrupts}, before; /* without SA_RESTART */
    caller c = {.at.sun_family = AF_UNIX, .fd = local_socket(0)};
    int listener = local_socket(0), full[64], count = 0;
    pthread_t thread;
    (void)state;
    c.length = (uint32_t)(offsetof(struct sockaddr_un, sun_path) + 1 + 16); /* an abstract name */
    snprintf(c.at.sun_path + 1, 17, "raddle %9d", (int)getpid());
    assert_int_equal(bind(listener, (struct sockaddr *)&c.at, c.length), 0);
    assert_int_equal(listen(listener, 1), 0);
    do full[count] = local_socket(SOCK_NONBLOCK);
    while (connect(full[count++], (struct sockaddr *)&c.at, c.length) == 0);
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(sigaction(SIGUSR1, &act, &before), 0);
    assert_int_equal(pthread_create(&thread, NULL, connects_and_waits, &c), 0);
    while (!atomic_load(&c.done)) {
        pthread_kill(thread, SIGUSR1);
        usleep(1000);
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(sigaction(SIGUSR1, &before, NULL), 0);
    assert_int_equal(c.answer, RAD_OS_FULL);
    while (count > 0) close(full[--count]);
    close(c.fd);
    close(listener);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(megabytes_over_tcp),
        cmocka_unit_test(refusals_come_by_value),
        cmocka_unit_test(what_was_written_is_told),
        cmocka_unit_test(select_waits_for_descriptors),
        cmocka_unit_test(a_child_has_its_own_poll),
        cmocka_unit_test(a_child_has_its_own_turns),
        cmocka_unit_test(descriptors_do_not_share_turns),
        cmocka_unit_test(an_interrupted_local_connect_is_not_under_way),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
