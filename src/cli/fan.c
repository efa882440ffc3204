#include "fan.h"

#include "os/process.h"
#include "os/signal.h"

#include <string.h>

enum { LOOK_MS = 100, KILLED_MOST = 10 };

typedef struct hand {
    const fan *f;
    uint64_t first; /* the item it begins with */
    int pid;        /* 0: there is none */
    int from, to;   /* the ends of its pipe, as both see them */
    rad_os_exit how;
} hand;

/* The life of one process. A write fails when the reader has gone. */
static int hand_work(void *context)
{
    const hand *h = context;
    const fan *f = h->f;
    char result[FAN_RESULT_MAX];
    rad_error error = {.code = 0};
    rad__os_signals_leave_to_parent();
    rad__os_close(h->from);
    f->c->progress = false; /* one line, several processes */
    for (uint64_t i = h->first; i < f->count; i += f->jobs) {
        memset(result, 0, sizeof result);
        f->work(f->context, i, result);
        if (rad__os_write_all(h->to, result, f->size, &error) != 0) break;
    }
    return EXIT_FINE;
}

static int hand_start(hand *h, uint64_t first, rad_error *error)
{
    int ends[2];
    h->first = first;
    int code = rad__os_pipe(ends, error);
    if (code != 0) return code;
    h->from = ends[0];
    h->to = ends[1];
    code = rad__os_fork(&h->pid, h, hand_work, error);
    rad__os_close(h->to);
    if (code != 0) {
        rad__os_close(h->from);
        h->pid = 0;
    }
    return code;
}

/* Kills it, unless it has ended, and says how it did. */
static void hand_end(hand *h)
{
    if (h->pid == 0) return;
    rad__os_kill(h->pid, NULL);
    rad__os_close(h->from);
    rad__os_wait(h->pid, true, &h->how, NULL);
    h->pid = 0;
}

/* 1: the result is there; 0: the process has died, or somebody wants us to stop. */
static int hand_answer(const hand *h, char *result, rad_error *error)
{
    const fan *f = h->f;
    size_t have = 0;
    while (have < f->size) {
        bool ready = false;
        int count = rad__os_poll(&h->from, 1, LOOK_MS, &ready, error);
        if (count < 0) return count;
        if (*f->c->stop) return 0;
        if (!ready) continue;
        int64_t got = rad__os_read(h->from, result + have, f->size - have, error);
        if (got <= 0) return (int)got;
        have += (size_t)got;
    }
    return 1;
}

/* An item whose process is killed is done again: by somebody, or by the system, short of memory. Machines run in
 * processes of their own, so it was not theirs; what dies in another way, or each time, is reported. Results do not
 * depend on it: they come by number. */
static int hand_result(hand *h, uint64_t item, char *result)
{
    rad_error error = {.code = 0};
    cli *c = h->f->c;
    for (int deaths = 0; deaths < KILLED_MOST; deaths++) {
        int got = hand_answer(h, result, &error);
        if (*c->stop) return EXIT_INTERRUPTED;
        if (got == 1) return 0;
        if (got < 0) return complain_error(c, &error);
        hand_end(h);
        if (h->how.signal != SIGKILL) break;
        if (hand_start(h, item, &error) != 0) return complain_error(c, &error);
    }
    hand_end(h);
    if (h->how.signal != 0)
        complain(c, "the process for number %s died: %s", number(item + 1), rad__os_signal_name(h->how.signal));
    else
        complain(c, "the process for number %s ended with exit status %d", number(item + 1), h->how.status);
    return EXIT_RUNTIME;
}

static int fan_alone(const fan *f)
{
    char result[FAN_RESULT_MAX];
    for (uint64_t i = 0; i < f->count; i++) {
        memset(result, 0, sizeof result);
        f->work(f->context, i, result);
        if (*f->c->stop) return EXIT_INTERRUPTED;
        if (!f->take(f->context, i, result)) return 0;
    }
    return 0;
}

int fan_run(const fan *f)
{
    hand hands[FAN_JOBS_MAX] = {{.pid = 0}};
    char result[FAN_RESULT_MAX];
    rad_error error = {.code = 0};
    int status = 0;
    if (f->jobs <= 1) return fan_alone(f);
    out_flush(f->c); /* or every process would write what is pending */
    for (uint32_t i = 0; i < f->jobs && i < FAN_JOBS_MAX && status == 0; i++) {
        hands[i] = (hand){.f = f};
        if (hand_start(&hands[i], i, &error) != 0) status = complain_error(f->c, &error);
    }
    for (uint64_t i = 0; i < f->count && status == 0; i++) {
        status = hand_result(&hands[i % f->jobs], i, result);
        if (status == 0 && !f->take(f->context, i, result)) break;
    }
    for (uint32_t i = 0; i < FAN_JOBS_MAX; i++) hand_end(&hands[i]);
    return status;
}
