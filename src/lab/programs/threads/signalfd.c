/* signalfd.c — descriptors from which a program reads its signals.
 *
 * Each is an eventfd, so that poll, select and epoll work, and of the program's own signals (signals.c). It can be read
 * while one of its signals has come for the thread that asks, or for the process. Which thread asks changes with each
 * step, and what is ready then: so it is shown anew whenever that thread changes. A signal that comes to one that can
 * be read already rings again, for those that wait for edges. */
#define _GNU_SOURCE
#include "lab/programs/dispatch.h"
#include "lab/programs/fibers/interposed.h"
#include "lab/programs/threads/threads.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { FILES_MAX = 64 };

typedef struct signal_file {
    bool used, shown;
    int fd;
    uint64_t mask;
} signal_file;

static signal_file files[FILES_MAX];
static uint32_t file_count;
bool rad__signal_files_used;

static signal_file *file_of(int fd)
{
    for (uint32_t i = 0; i < file_count; i++)
        if (files[i].used && files[i].fd == fd) return &files[i];
    return NULL;
}

bool rad__signal_files_have(int fd)
{
    return rad__signal_files_used && file_of(fd) != NULL;
}

void rad__signal_files_close(int fd)
{
    signal_file *f = rad__signal_files_used ? file_of(fd) : NULL;
    if (f) f->used = false;
}

/* ---- Can it be read? -------------------------------------------------------------------------------------------- */

/* Not as the program would: here it is an eventfd. */
static bool count_passes(long call, const signal_file *f, uint64_t *count)
{
    const long a[6] = {f->fd, (long)count, sizeof *count, 0, 0, 0};
    return rad__dispatch_pass(call, a) == sizeof *count;
}

static void ring(signal_file *f)
{
    uint64_t one = 1;
    f->shown |= count_passes(SYS_write, f, &one);
}

static void unring(signal_file *f)
{
    uint64_t count;
    struct pollfd one = {.fd = f->fd, .events = POLLIN};
    f->shown = poll(&one, 1, 0) == 1 && !count_passes(SYS_read, f, &count);
}

void rad__signal_files_show(const rad_thread *t)
{
    int error = errno;
    for (uint32_t i = 0; i < file_count; i++) {
        signal_file *f = &files[i];
        bool there = f->used && rad__signal_is_there(t, f->mask);
        if (!f->used || there == f->shown) continue;
        if (there)
            ring(f);
        else
            unring(f);
    }
    errno = error;
}

void rad__signal_files_ring(uint64_t signals)
{
    int error = errno;
    for (uint32_t i = 0; i < file_count; i++)
        if (files[i].used && files[i].shown && (files[i].mask & signals)) ring(&files[i]);
    errno = error;
    rad__signal_files_show(rad__thread_self());
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static struct signalfd_siginfo told(const siginfo_t *from)
{
    struct signalfd_siginfo to = {.ssi_signo = (uint32_t)from->si_signo,
                                  .ssi_errno = from->si_errno,
                                  .ssi_code = from->si_code,
                                  .ssi_ptr = (uintptr_t)from->si_value.sival_ptr, /* tidy: address ok: the program's */
                                  .ssi_int = from->si_value.sival_int};
    if (from->si_code == SI_TIMER) {
        to.ssi_tid = (uint32_t)from->si_timerid;
        to.ssi_overrun = (uint32_t)from->si_overrun;
    } else {
        to.ssi_pid = (uint32_t)from->si_pid;
        to.ssi_uid = from->si_uid;
    }
    return to;
}

/* As many as there are, and as there is room for; the first one is there if the call may wait. */
static ssize_t read_into(const signal_file *f, char *to, size_t room)
{
    size_t done = 0;
    siginfo_t info;
    if (room < sizeof(struct signalfd_siginfo)) return -EINVAL;
    while (done + sizeof(struct signalfd_siginfo) <= room && rad__signal_take(rad__thread_self(), f->mask, &info)) {
        struct signalfd_siginfo one = told(&info);
        memcpy(to + done, &one, sizeof one);
        done += sizeof one;
    }
    if (done > 0) return (ssize_t)done;
    if (!(fcntl(f->fd, F_GETFL) & O_NONBLOCK)) rad__refuse("signalfd", "a fiber cannot wait for signals");
    return -EAGAIN;
}

/* True: it is one of these. */
bool rad__signal_files_read(int fd, const struct iovec *to, int count, ssize_t *got)
{
    const signal_file *f = rad__signal_files_used ? file_of(fd) : NULL;
    ssize_t code = 0;
    if (f == NULL) return false;
    *got = 0;
    for (int i = 0; i < count && (i == 0 || (code > 0 && rad__signal_is_there(rad__thread_self(), f->mask))); i++) {
        code = read_into(f, to[i].iov_base, to[i].iov_len);
        if (code > 0) *got += code;
    }
    rad__signal_files_show(rad__thread_self());
    if (*got > 0 || code >= 0) return true;
    if (code == -EAGAIN) rad__thread_tried();
    errno = (int)-code;
    *got = -1;
    return true;
}

/* ---- Making one ------------------------------------------------------------------------------------------------- */

static int fails(int code)
{
    errno = code;
    return -1;
}

static int file_set(int fd, uint64_t mask, int flags)
{
    signal_file *f = fd == -1 ? NULL : file_of(fd);
    if (flags & ~(SFD_NONBLOCK | SFD_CLOEXEC)) return fails(EINVAL);
    if (fd != -1 && f == NULL) return fails(fcntl(fd, F_GETFD) < 0 ? EBADF : EINVAL);
    if (f == NULL) {
        uint32_t i = 0;
        while (i < file_count && files[i].used) i++;
        if (i == FILES_MAX) return fails(EMFILE);
        fd = eventfd(0, flags); /* its flags have the same bits */
        if (fd < 0) return -1;
        rad__timers_close(fd);
        rad__signal_files_close(fd);
        f = &files[i];
        if (i == file_count) file_count++;
        *f = (signal_file){.used = true, .fd = fd};
        rad__signal_files_used = true;
    }
    f->mask = mask;
    rad__signal_files_show(rad__thread_self());
    return fd;
}

static uint64_t bits_of(const void *set)
{
    uint64_t bits;
    memcpy(&bits, set, sizeof bits);
    return bits & ~(UINT64_C(1) << (SIGKILL - 1) | UINT64_C(1) << (SIGSTOP - 1));
}

RAD_ANSWER(int, signalfd, (int fd, const sigset_t *mask, int flags))
{
    if (!rad__program_calls()) return RAD_REAL(signalfd)(fd, mask, flags);
    return file_set(fd, bits_of(mask), flags);
}

bool rad__signal_files_by_number(long number, const long *a, long *answer)
{
    int flags = number == SYS_signalfd4 ? (int)a[3] : 0;
#ifdef SYS_signalfd
    bool known = number == SYS_signalfd4 || number == SYS_signalfd;
#else
    bool known = number == SYS_signalfd4;
#endif
    if (!known) return false;
    *answer =
        a[2] == sizeof(uint64_t) ? file_set((int)a[0], bits_of(rad__argument_pointer(a[1])), flags) : fails(EINVAL);
    return true;
}
