#include "fan.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct hand {
    pid_t pid;
    int pipe; /* what it says */
} hand;

static bool read_all(int file, void *bytes, size_t size)
{
    char *at = bytes;
    while (size > 0) {
        ssize_t got = read(file, at, size);
        if (got == 0 || (got < 0 && errno != EINTR)) {
            return false;
        }
        at += got > 0 ? got : 0;
        size -= got > 0 ? (size_t)got : 0;
    }
    return true;
}

static bool write_all(int file, const void *bytes, size_t size)
{
    const char *at = bytes;
    while (size > 0) {
        ssize_t put = write(file, at, size);
        if (put < 0 && errno != EINTR) {
            return false;
        }
        at += put > 0 ? put : 0;
        size -= put > 0 ? (size_t)put : 0;
    }
    return true;
}

/* The life of one process; whoever reads has gone when a write fails. */
static void hand_work(const fan *f, uint32_t rank, int to)
{
    char result[FAN_RESULT_MAX];
    f->c->progress = false; /* one line, several processes */
    for (uint64_t i = rank; i < f->count && !*f->c->stop; i += f->jobs) {
        memset(result, 0, sizeof result);
        f->work(f->context, i, result);
        if (*f->c->stop || !write_all(to, result, f->size)) {
            break;
        }
    }
    _exit(EXIT_FINE);
}

static bool hand_start(const fan *f, hand *hands, uint32_t rank)
{
    int ends[2];
    if (pipe(ends) != 0) {
        return false;
    }
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        for (uint32_t i = 0; i < rank; i++) {
            close(hands[i].pipe);
        }
        hand_work(f, rank, ends[1]);
    }
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return false;
    }
    hands[rank] = (hand){pid, ends[0]};
    return true;
}

static void hands_end(const hand *hands, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        kill(hands[i].pid, SIGTERM); /* nothing to it when it is done already */
        close(hands[i].pipe);
    }
    for (uint32_t i = 0; i < count; i++) {
        while (waitpid(hands[i].pid, NULL, 0) < 0 && errno == EINTR) {
        }
    }
}

static int fan_alone(const fan *f)
{
    char result[FAN_RESULT_MAX];
    for (uint64_t i = 0; i < f->count; i++) {
        memset(result, 0, sizeof result);
        f->work(f->context, i, result);
        if (*f->c->stop) {
            return EXIT_INTERRUPTED;
        }
        if (!f->take(f->context, i, result)) {
            return 0;
        }
    }
    return 0;
}

int fan_run(const fan *f)
{
    hand hands[FAN_JOBS_MAX];
    char result[FAN_RESULT_MAX];
    uint32_t started = 0;
    int status = 0;
    if (f->jobs <= 1) {
        return fan_alone(f);
    }
    out_flush(f->c); /* or every process would write what is pending */
    while (started < f->jobs && started < FAN_JOBS_MAX && status == 0) {
        if (hand_start(f, hands, started)) {
            started++;
        } else {
            complain(f->c, "cannot start a process: %s", strerror(errno));
            status = EXIT_RUNTIME;
        }
    }
    for (uint64_t i = 0; i < f->count && status == 0; i++) {
        bool got = read_all(hands[i % f->jobs].pipe, result, f->size);
        if (*f->c->stop) {
            status = EXIT_INTERRUPTED;
        } else if (!got) {
            complain(f->c, "a process of --jobs has died");
            status = EXIT_RUNTIME;
        } else if (!f->take(f->context, i, result)) {
            break;
        }
    }
    hands_end(hands, started);
    return status;
}
