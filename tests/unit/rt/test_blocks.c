/* test_blocks.c — deadlines and cancellation on descriptors that block: pipes, FIFOs, terminals, sockets that nobody
 * has prepared. Each call returns, and not before its deadline; a worker runs other fibers meanwhile; flags are as
 * before; what comes later is there for the next call. By a fiber of a runtime with one worker, and by a thread. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <raddle.h>

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

#include "storm_support.h"

enum { MS = 1000000, BIG = 1 << 20 };

/* ---- Pairs of ends ---------------------------------------------------------------------------------------- */

/* What is written to `to` can be read from `from`. */
typedef struct ends {
    const char *kind;
    int from, to;
    int extra; /* to be closed, too; or -1 */
} ends;

static char folder[64];

static ends open_pipe(void)
{
    int p[2];
    CHECK(pipe(p) == 0);
    return (ends){"pipe", p[0], p[1], -1};
}

static ends open_socket(void)
{
    int p[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, p) == 0);
    return (ends){"socket", p[0], p[1], -1};
}

static ends open_fifo(void)
{
    char path[96];
    snprintf(path, sizeof path, "%s/fifo", folder);
    unlink(path);
    CHECK(mkfifo(path, 0600) == 0);
    int both = open(path, O_RDWR), from = open(path, O_RDONLY), to = open(path, O_WRONLY);
    CHECK(both >= 0 && from >= 0 && to >= 0);
    return (ends){"fifo", from, to, both};
}

static void open_terminal(int *master, int *slave, bool raw)
{
    struct termios t;
    *master = posix_openpt(O_RDWR | O_NOCTTY);
    CHECK(*master >= 0 && grantpt(*master) == 0 && unlockpt(*master) == 0);
    *slave = open(ptsname(*master), O_RDWR | O_NOCTTY);
    CHECK(*slave >= 0 && tcgetattr(*slave, &t) == 0);
    if (raw)
        cfmakeraw(&t);
    else
        t.c_lflag &= ~(tcflag_t)ECHO;
    CHECK(tcsetattr(*slave, TCSANOW, &t) == 0);
}

/* Output: "\n" becomes "\r\n" on the way. */
static ends open_slave(void)
{
    ends e = {.kind = "output of a terminal", .extra = -1};
    open_terminal(&e.from, &e.to, false);
    return e;
}

static ends open_master(void)
{
    ends e = {.kind = "input of a terminal", .extra = -1};
    open_terminal(&e.to, &e.from, true);
    return e;
}

static void ends_close(ends e)
{
    rad_fd_close(e.from);
    rad_fd_close(e.to);
    if (e.extra >= 0) rad_fd_close(e.extra);
}

static ends (*const openers[])(void) = {open_pipe, open_socket, open_fifo, open_slave, open_master};

enum { OPENERS = sizeof openers / sizeof *openers };

/* ---- Running ---------------------------------------------------------------------------------------------- */

/* How many turns another fiber has had: a worker that is stuck gives it none. */
static uint64_t turns;
static bool over;

static int takes_turns(void *unused)
{
    (void)unused;
    while (!over) {
        turns++;
        rad_sleep(MS / 4);
    }
    return 0;
}

static int beside_another(void *body)
{
    void (*const *fn)(void) = body;
    uint64_t before = turns;
    over = false;
    CHECK(rad_spawn(NULL, takes_turns, NULL) == 0);
    (*fn)();
    over = true;
    CHECK(turns > before);
    return 0;
}

static void by_fiber_and_thread(void (*body)(void))
{
    rad_options o = {.workers = 1, .extra_workers = RAD_NONE};
    CHECK(rad_main(&o, beside_another, &body, NULL) == 0);
    body();
}

static int flags_of(int fd)
{
    return fcntl(fd, F_GETFL);
}

/* ---- Reading ---------------------------------------------------------------------------------------------- */

static void check_reads(ends e)
{
    char text[16];
    int flags = flags_of(e.from);
    for (int i = 0; i < 3; i++) {
        rad_time until = rad_after(5 * MS);
        CHECK(rad_read(e.from, text, sizeof text, 0) == RAD_ETIMEOUT);
        CHECK(rad_read(e.from, text, sizeof text, until) == RAD_ETIMEOUT);
        CHECK(rad_now() >= until);
        CHECK(write(e.to, "abc", 3) == 3);
        CHECK(rad_read(e.from, text, 2, RAD_FOREVER) == 2 && memcmp(text, "ab", 2) == 0);
        CHECK(rad_read(e.from, text, sizeof text, rad_after(1000 * (uint64_t)MS)) == 1);
        CHECK(text[0] == 'c');
    }
    CHECK(flags_of(e.from) == flags && !(flags & O_NONBLOCK));
}

static void reads(void)
{
    for (int i = 0; i < OPENERS; i++) {
        ends e = openers[i]();
        check_reads(e);
        ends_close(e);
    }
}

static void a_read_returns_at_its_deadline(void **state)
{
    (void)state;
    by_fiber_and_thread(reads);
}

static void reads_standard_input(void)
{
    int kept = dup(STDIN_FILENO);
    for (int i = 0; i < OPENERS; i++) {
        ends e = openers[i]();
        CHECK(dup2(e.from, STDIN_FILENO) == STDIN_FILENO);
        check_reads((ends){e.kind, STDIN_FILENO, e.to, -1});
        CHECK(!(flags_of(e.from) & O_NONBLOCK)); /* of the file that others share */
        ends_close(e);
        CHECK(dup2(kept, STDIN_FILENO) == STDIN_FILENO);
    }
    close(kept);
}

/* A number that was a pipe's, and is a socket's now; and the other way round. */
static void reads_the_same_number(void)
{
    int number = -1;
    for (int i = 0; i < 6; i++) {
        ends e = i % 2 ? open_pipe() : open_socket();
        if (number < 0) number = dup(e.from);
        CHECK(dup2(e.from, number) == number);
        check_reads((ends){e.kind, number, e.to, -1});
        ends_close(e);
    }
    close(number);
}

static void a_number_that_is_used_again(void **state)
{
    (void)state;
    by_fiber_and_thread(reads_the_same_number);
}

static void standard_input_stays_as_it_is(void **state)
{
    (void)state;
    by_fiber_and_thread(reads_standard_input);
}

/* There is no descriptor left to open a file once more. */
static void reads_without_descriptors(void)
{
    struct rlimit before, none;
    ends e[] = {open_fifo(), open_slave()};
    char byte;
    CHECK(rad_read(e[0].from, &byte, 1, rad_after(MS)) == RAD_ETIMEOUT); /* what waiting needs is there */
    CHECK(getrlimit(RLIMIT_NOFILE, &before) == 0);
    none = before;
    none.rlim_cur = 3; /* all of them are in use; poll(2) wants one at least */
    CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
    for (int i = 0; i < 2; i++) check_reads(e[i]);
    CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0);
    for (int i = 0; i < 2; i++) ends_close(e[i]);
}

static void a_file_that_cannot_be_opened_again(void **state)
{
    (void)state;
    by_fiber_and_thread(reads_without_descriptors);
}

/* Several wait for the same bytes: one gets them, and the others wait on. */
typedef struct readers {
    int fd;
    int got, canceled;
} readers;

static int reads_along(void *arg)
{
    readers *r = arg;
    char byte;
    int64_t got = rad_read(r->fd, &byte, 1, RAD_FOREVER);
    CHECK(got == 1 || got == RAD_ECANCELED);
    r->got += got == 1;
    r->canceled += got != 1;
    return 0;
}

static int reads_in_company(void *unused)
{
    enum { READERS = 4, BYTES = 2 };
    (void)unused;
    for (int i = 0; i < OPENERS; i++) {
        ends e = openers[i]();
        readers r = {.fd = e.from};
        rad_nursery n;
        rad_nursery_open(&n, RAD_FOREVER);
        for (int k = 0; k < READERS; k++) CHECK(rad_nursery_spawn(&n, NULL, reads_along, &r) == 0);
        rad_sleep(2 * MS);
        CHECK(write(e.to, "xy", BYTES) == BYTES);
        while (r.got < BYTES) rad_sleep(MS); /* one that blocks its worker keeps this from returning */
        rad_nursery_cancel(&n, 0);
        CHECK(rad_nursery_wait(&n) == 0);
        CHECK(r.got == BYTES && r.canceled == READERS - BYTES);
        ends_close(e);
    }
    return 0;
}

static void readers_do_not_block_one_another(void **state)
{
    (void)state;
    rad_options o = {.workers = 1, .extra_workers = RAD_NONE};
    assert_int_equal(rad_main(&o, reads_in_company, NULL, NULL), 0);
}

/* ---- Writing ---------------------------------------------------------------------------------------------- */

/* Reads until there is nothing: how many bytes, without the returns that a terminal has added. */
static int64_t drain(int fd)
{
    static char bytes[65536];
    int64_t got, all = 0;
    while ((got = rad_read(fd, bytes, sizeof bytes, rad_after(20 * MS))) > 0)
        for (int64_t i = 0; i < got; i++) all += bytes[i] != '\r';
    CHECK(got == RAD_ETIMEOUT);
    return all;
}

static void writes(void)
{
    static char lines[BIG];
    for (int i = 0; i < BIG; i++) lines[i] = i % 7 ? 'x' : '\n';
    for (int i = 0; i < OPENERS; i++) {
        ends e = openers[i]();
        int flags = flags_of(e.to);
        int64_t put = 0;
        for (int round = 0; round < 3; round++) {
            int64_t some;
            put = 0;
            do { /* a terminal passes bytes on by and by, and takes more then */
                rad_time until = rad_after(5 * MS);
                some = rad_write(e.to, lines, BIG, until); /* what was written before the deadline */
                CHECK(some == RAD_ETIMEOUT || (some > 0 && some < BIG));
                CHECK(rad_now() >= until);
                if (some > 0) put += some;
            } while (some > 0);
            CHECK(put > 0);
            some = rad_write(e.to, lines, 1, 0);
            CHECK(some == 1 || some == RAD_ETIMEOUT);
            if (some == 1) put++;
            CHECK(drain(e.from) == put);
        }
        CHECK(flags_of(e.to) == flags && !(flags & O_NONBLOCK));
        CHECK(rad_write(e.to, "end", 3, RAD_FOREVER) == 3 && drain(e.from) == 3);
        ends_close(e);
    }
}

static void a_write_returns_at_its_deadline(void **state)
{
    (void)state;
    by_fiber_and_thread(writes);
}

/* ---- Cancellation ----------------------------------------------------------------------------------------- */

static int reads_for_ever(void *arg)
{
    char byte;
    return (int)rad_read(*(int *)arg, &byte, 1, RAD_FOREVER);
}

static int writes_for_ever(void *arg)
{
    static char bytes[BIG];
    while (rad_write(*(int *)arg, bytes, sizeof bytes, RAD_FOREVER) > 0) {
    }
    return (int)rad_write(*(int *)arg, bytes, sizeof bytes, RAD_FOREVER);
}

static int accepts_for_ever(void *arg)
{
    return (int)rad_accept(*(int *)arg, NULL, NULL, RAD_FOREVER);
}

static void check_canceled(rad_fn fn, int fd)
{
    rad_fiber f;
    rad_fiber_result given;
    CHECK(rad_spawn(&f, fn, &fd) == 0);
    rad_sleep(5 * MS);
    rad_cancel(f);
    CHECK(rad_join(f, &given, RAD_FOREVER) == 0);
    CHECK(given.code == RAD_ECANCELED);
    rad_release(f);
}

static int listen_at(struct sockaddr_un *address)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(address->sun_path, sizeof address->sun_path, "%s/socket", folder);
    unlink(address->sun_path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK(fd >= 0 && bind(fd, (void *)address, sizeof *address) == 0 && listen(fd, 0) == 0);
    return fd;
}

static int cancels(void *unused)
{
    struct sockaddr_un address;
    (void)unused;
    for (int i = 0; i < OPENERS; i++) {
        ends e = openers[i]();
        check_canceled(reads_for_ever, e.from);
        check_canceled(writes_for_ever, e.to);
        ends_close(e);
    }
    int listening = listen_at(&address);
    check_canceled(accepts_for_ever, listening);
    rad_fd_close(listening);
    return 0;
}

static void cancellation_ends_these_waits(void **state)
{
    (void)state;
    rad_options o = {.workers = 1, .extra_workers = RAD_NONE};
    assert_int_equal(rad_main(&o, cancels, NULL, NULL), 0);
}

/* ---- Connections ------------------------------------------------------------------------------------------ */

static int client(const struct sockaddr_un *address)
{
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK(fd >= 0 && connect(fd, (const void *)address, sizeof *address) == 0);
    return fd;
}

static void accepts(void)
{
    struct sockaddr_un address;
    int listening = listen_at(&address), flags = flags_of(listening);
    for (int i = 0; i < 3; i++) {
        rad_time until = rad_after(5 * MS);
        CHECK(rad_accept(listening, NULL, NULL, 0) == RAD_ETIMEOUT);
        CHECK(rad_accept(listening, NULL, NULL, until) == RAD_ETIMEOUT);
        CHECK(rad_now() >= until);
        int other = client(&address);
        int64_t got = rad_accept(listening, NULL, NULL, RAD_FOREVER);
        CHECK(got >= 0 && (flags_of((int)got) & O_NONBLOCK));
        rad_fd_close((int)got);
        close(other);
    }
    CHECK(flags_of(listening) == flags && !(flags & O_NONBLOCK));
    rad_fd_close(listening);
}

static void an_accept_returns_at_its_deadline(void **state)
{
    (void)state;
    by_fiber_and_thread(accepts);
}

static int accepts_along(void *arg)
{
    readers *r = arg;
    int64_t got = rad_accept(r->fd, NULL, NULL, RAD_FOREVER);
    CHECK(got >= 0 || got == RAD_ECANCELED);
    r->got += got >= 0;
    r->canceled += got < 0;
    if (got >= 0) rad_fd_close((int)got);
    return 0;
}

static int accepts_in_company(void *unused)
{
    enum { FIBERS = 4 };
    struct sockaddr_un address;
    int listening = listen_at(&address);
    readers r = {.fd = listening};
    rad_nursery n;
    (void)unused;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < FIBERS; i++) CHECK(rad_nursery_spawn(&n, NULL, accepts_along, &r) == 0);
    rad_sleep(2 * MS);
    int other = client(&address);
    while (r.got < 1) rad_sleep(MS);
    rad_nursery_cancel(&n, 0);
    CHECK(rad_nursery_wait(&n) == 0);
    CHECK(r.got == 1 && r.canceled == FIBERS - 1);
    close(other);
    rad_fd_close(listening);
    return 0;
}

static void acceptors_do_not_block_one_another(void **state)
{
    (void)state;
    rad_options o = {.workers = 1, .extra_workers = RAD_NONE};
    assert_int_equal(rad_main(&o, accepts_in_company, NULL, NULL), 0);
}

static int64_t send_timeout(int fd)
{
    struct timeval t;
    socklen_t size = sizeof t;
    CHECK(getsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &t, &size) == 0);
    return t.tv_sec * 1000000 + t.tv_usec;
}

/* `fill` has been connected, so that the queue is full. */
static void check_connects(int fd, const void *address, socklen_t length)
{
    int flags = flags_of(fd);
    struct timeval some = {.tv_sec = 77};
    CHECK(setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &some, sizeof some) == 0);
    rad_time until = rad_after(40 * MS);
    CHECK(rad_connect(fd, address, length, until) == RAD_ETIMEOUT);
    CHECK(rad_now() >= until);
    CHECK(flags_of(fd) == flags && send_timeout(fd) == INT64_C(77000000));
}

static void connects(void)
{
    struct sockaddr_un local;
    int listening = listen_at(&local), first = client(&local);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    check_connects(fd, &local, sizeof local);
    close(accept(listening, NULL, NULL)); /* room for one */
    CHECK(rad_connect(fd, (void *)&local, sizeof local, rad_after(5000 * (uint64_t)MS)) == 0);
    CHECK(rad_write(fd, "x", 1, RAD_FOREVER) == 1);
    close(fd);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0); /* one that is prepared waits, too */
    rad_time until = rad_after(5 * MS);
    CHECK(rad_connect(fd, (void *)&local, sizeof local, until) == RAD_ETIMEOUT);
    CHECK(rad_now() >= until);
    CHECK(rad_connect(fd, (void *)&local, sizeof local, 0) == RAD_ETIMEOUT);
    close(fd);
    close(first);
    close(listening);
}

static void connects_by_tcp(void)
{
    enum { MORE = 4 };
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof a;
    int listening = socket(AF_INET, SOCK_STREAM, 0), fill[MORE];
    CHECK(bind(listening, (void *)&a, size) == 0 && listen(listening, 0) == 0);
    CHECK(getsockname(listening, (void *)&a, &size) == 0);
    int open = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(rad_connect(open, (void *)&a, size, RAD_FOREVER) == 0); /* there is room */
    CHECK(!(flags_of(open) & O_NONBLOCK));
    for (int i = 0; i < MORE; i++) {
        fill[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        (void)!connect(fill[i], (void *)&a, size);
    }
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    check_connects(fd, &a, size);
    close(fd);
    for (int i = 0; i < MORE; i++) close(fill[i]);
    close(open);
    close(listening);
}

static void a_connect_returns_at_its_deadline(void **state)
{
    (void)state;
    by_fiber_and_thread(connects);
    by_fiber_and_thread(connects_by_tcp);
}

/* ---- Files ------------------------------------------------------------------------------------------------ */

static void reads_files(void)
{
    char path[96], text[64];
    snprintf(path, sizeof path, "%s/file", folder);
    rad_sleep(MS); /* the only wait here */
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    CHECK(fd >= 0);
    CHECK(rad_read(fd, text, sizeof text, 0) == 0); /* the end; nobody waits for more */
    CHECK(rad_write(fd, "some text", 9, 0) == 9);
    CHECK(lseek(fd, 0, SEEK_SET) == 0);
    CHECK(rad_read(fd, text, sizeof text, RAD_FOREVER) == 9 && memcmp(text, "some text", 9) == 0);
    close(fd);
    fd = open("/", O_RDONLY | O_DIRECTORY);
    CHECK(rad_errno(rad_read(fd, text, sizeof text, RAD_FOREVER)) == EISDIR);
    close(fd);
    fd = open("/dev/zero", O_RDWR);
    CHECK(rad_read(fd, text, sizeof text, RAD_FOREVER) == sizeof text && text[0] == 0);
    CHECK(rad_write(fd, text, sizeof text, RAD_FOREVER) == sizeof text);
    close(fd);
    ends e = open_pipe();
    close(e.to);
    CHECK(rad_read(e.from, text, 1, RAD_FOREVER) == 0); /* the end */
    close(e.from);
    CHECK(rad_errno(rad_read(e.from, text, 1, RAD_FOREVER)) == EBADF);
    CHECK(rad_errno(rad_accept(e.from, NULL, NULL, RAD_FOREVER)) == EBADF);
}

static int reads_files_in_a_fiber(void *unused)
{
    (void)unused;
    reads_files();
    return 0;
}

static void files_never_would_block(void **state)
{
    (void)state;
    assert_int_equal(rad_main(NULL, reads_files_in_a_fiber, NULL, NULL), 0);
    reads_files();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_read_returns_at_its_deadline),
        cmocka_unit_test(standard_input_stays_as_it_is),
        cmocka_unit_test(a_number_that_is_used_again),
        cmocka_unit_test(a_file_that_cannot_be_opened_again),
        cmocka_unit_test(readers_do_not_block_one_another),
        cmocka_unit_test(a_write_returns_at_its_deadline),
        cmocka_unit_test(cancellation_ends_these_waits),
        cmocka_unit_test(an_accept_returns_at_its_deadline),
        cmocka_unit_test(acceptors_do_not_block_one_another),
        cmocka_unit_test(a_connect_returns_at_its_deadline),
        cmocka_unit_test(files_never_would_block),
    };
    snprintf(folder, sizeof folder, "/tmp/raddle-blocks-XXXXXX");
    if (mkdtemp(folder) == NULL) return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char path[96];
    const char *const left[] = {"fifo", "socket", "file"};
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, left[i]);
        unlink(path);
    }
    rmdir(folder);
    return failed;
}
