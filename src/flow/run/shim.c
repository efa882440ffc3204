/* shim.c — see shim.h. Nobody hears a shim: what goes wrong before it has claimed the effect ends it,
 * and what goes wrong later is in its receipt. */
#include "flow/run/shim.h"

#include "base/alloc.h"

#define LOOK_AGAIN_NS UINT64_C(20000000)

/* On a busy machine the time is over after a few looks: one that runs away from each of them has more of them then. */
enum { KILLS_AT_LEAST = 100 };
enum { LATE_MAX = 2 * RAD_FLOW_OUTPUT_MAX }; /* more than a pipe holds */

rad_flow_shim *rad__flow_shim_new(void)
{
    rad_flow_shim *s = rad__alloc(1, sizeof *s);
    if (s != NULL) s->lock = s->out = s->log = -1;
    return s;
}

void rad__flow_shim_free(rad_flow_shim *s)
{
    if (s == NULL) return;
    for (char **e = s->environment; e != NULL && *e != NULL; e++) rad__free(*e);
    rad__free(s->environment);
    rad__free(s->id);
    rad__free(s->key);
    rad__free(s->command);
    rad__free(s->dir);
    rad__bytes_free(&s->output);
    rad__free(s);
}

/* Its errors have somewhere to go before it is begun: where there is no room for that, nothing is. The file gets its
 * name from whoever has the effect. */
static bool open_log(rad_flow_shim *s, const rad_flow_host *host, char temporary[RAD_FLOW_FILE_MAX])
{
    rad_error error = {0};
    rad__flow_effect_file(temporary, s->id, "log");
    rad__flow_temporary(host, temporary);
    if (host->create(host->context, &s->log, temporary, &error) == 0) return true;
    s->log = -1;
    return false;
}

static void claim(rad_flow_shim *s, const rad_flow_host *host)
{
    char temporary[RAD_FLOW_FILE_MAX], name[RAD_FLOW_FILE_MAX];
    rad_error error = {0};
    int got = open_log(s, host, temporary) ? rad__flow_claim(host, s->id, &s->lock, &error) : RAD_EIO;
    s->state = got == 1 ? RAD_SHIM_SPAWN : RAD_SHIM_OVER;
    if (got != 1) s->lock = -1;
    rad__flow_effect_file(name, s->id, "log");
    if (got == 1)
        host->rename(host->context, temporary, name, &error);
    else
        host->remove(host->context, temporary, &error);
}

/* The command has a file for its errors: this process needs it no more. */
static void close_log(rad_flow_shim *s, const rad_flow_host *host)
{
    if (s->log >= 0) host->close(host->context, s->log);
    s->log = -1;
}

static void spawn(rad_flow_shim *s, const rad_flow_host *host)
{
    rad_error error = {0};
    s->receipt = (rad_flow_receipt){.key = s->key, .attempt = s->attempt, .run = s->run};
    s->receipt.began_ns = host->now(host->context);
    if (rad__flow_is_asked_to_end(host, s->id)) { /* it was faster: nothing has to be started */
        s->receipt.flags |= RAD_RECEIPT_CANCELLED;
        s->state = RAD_SHIM_WRITE;
        return;
    }
    if (s->timeout_ns > 0) s->end_by_ns = host->elapsed(host->context) + s->timeout_ns;
    if (host->spawn(host->context, s, &error) == 0) {
        close_log(s, host);
        s->state = RAD_SHIM_WATCH;
    } else if (++s->spawns < RAD_SHIM_SPAWNS_MAX) {
        host->sleep(host->context, UINT64_C(1000000000)); /* others end, and leave their room */
    } else {
        s->receipt.flags |= RAD_RECEIPT_NOT_STARTED;
        s->state = RAD_SHIM_WRITE;
    }
}

/* For people: what cannot be written there is lost, and the effect is none the worse. */
static void show_output(rad_flow_shim *s, const rad_flow_host *host, const void *data, size_t size)
{
    char name[RAD_FLOW_FILE_MAX];
    rad_error error = {0};
    rad__flow_effect_file(name, s->id, "out");
    if (s->out < 0 && host->create(host->context, &s->out, name, &error) != 0) s->out = -1;
    if (s->out >= 0) host->put(host->context, s->out, data, size, &error);
}

static void take_output(rad_flow_shim *s, const rad_flow_host *host, const void *data, size_t size)
{
    size_t room = RAD_FLOW_OUTPUT_MAX - s->receipt.output_size;
    if (size > room) s->receipt.flags |= RAD_RECEIPT_TOO_LONG;
    if (size > room) size = room;
    s->receipt.output_size += size;
    if (size == 0) return;
    if (s->keeps_output) rad__bytes_put(&s->output, data, size);
    if (s->output.failed) s->receipt.flags |= RAD_RECEIPT_TOO_LONG;
    show_output(s, host, data, size);
}

static void end_command(rad_flow_shim *s, const rad_flow_host *host, uint64_t now, uint32_t why)
{
    rad_error error = {0};
    s->receipt.flags |= why;
    s->end_by_ns = 0;
    s->kill_by_ns = now + RAD_SHIM_GRACE_NS;
    host->kill(host->context, false, &error);
}

static void kill_command(rad_flow_shim *s, const rad_flow_host *host, uint64_t now)
{
    rad_error error = {0};
    s->kill_by_ns = now + RAD_SHIM_GRACE_NS;
    s->killed = true;
    host->kill(host->context, true, &error);
}

/* The shell has ended, was told to, and others that came from it are still there: they were told, too, have the rest of
 * the time to clean up, and are killed then, with those they have made meanwhile, until nobody is left. False: that is
 * so, or some cannot be killed. */
static bool waits_for_others(rad_flow_shim *s, const rad_flow_host *host, uint64_t now, const rad_flow_watched *seen)
{
    rad_error error = {0};
    bool late = now >= s->kill_by_ns, tried = s->killed && s->kills >= KILLS_AT_LEAST;
    if (s->kill_by_ns == 0 || !seen->left || (late && tried)) return false;
    if (late && !s->killed) {
        kill_command(s, host, now);
    } else if (s->killed) {
        host->kill(host->context, true, &error);
        s->kills++;
    }
    host->sleep(host->context, LOOK_AGAIN_NS);
    return true;
}

/* Of a command that ended by itself the others live on. */
static void take_end(rad_flow_shim *s, const rad_flow_watched *seen)
{
    s->receipt.status = seen->status;
    s->receipt.signal = seen->signal;
    s->state = RAD_SHIM_WRITE;
}

/* Once is enough. */
static bool is_asked_to_end(rad_flow_shim *s, const rad_flow_host *host, uint64_t now)
{
    if (s->kill_by_ns != 0 || now < s->look_ns) return false;
    s->look_ns = now + RAD_SHIM_LOOK_NS;
    return rad__flow_is_asked_to_end(host, s->id);
}

/* Until when nothing has to be done unless something happens. */
static uint64_t next_ns(const rad_flow_shim *s)
{
    uint64_t by = s->kill_by_ns != 0 ? s->kill_by_ns : s->look_ns;
    return s->end_by_ns != 0 && s->end_by_ns < by ? s->end_by_ns : by;
}

static void watch(rad_flow_shim *s, const rad_flow_host *host)
{
    char data[16 << 10];
    rad_flow_watched seen = {0};
    rad_error error = {0};
    uint64_t now = host->elapsed(host->context), by = next_ns(s);
    uint64_t timeout = by > now ? by - now : 0;
    int64_t got = host->watch(host->context, data, sizeof data, timeout, &seen, &error);
    now = host->elapsed(host->context);
    if (got < 0) host->sleep(host->context, UINT64_C(100000000)); /* it is still there: ask again */
    if (got > 0) take_output(s, host, data, (size_t)got);
    if (seen.ended) {
        /* What it printed before its end is read; what others print for ever is not waited for. */
        s->late += got > 0 ? (size_t)got : 0;
        bool is_read = got == 0 || s->late >= LATE_MAX;
        if (!waits_for_others(s, host, now, &seen) && is_read) take_end(s, &seen);
    } else if (s->kill_by_ns == 0 && (seen.asked_to_end || is_asked_to_end(s, host, now))) {
        end_command(s, host, now, RAD_RECEIPT_CANCELLED);
    } else if (s->end_by_ns != 0 && now >= s->end_by_ns) {
        end_command(s, host, now, RAD_RECEIPT_TIMED_OUT);
    } else if (s->kill_by_ns != 0 && now >= s->kill_by_ns) {
        kill_command(s, host, now);
    }
}

static void write_receipt(rad_flow_shim *s, const rad_flow_host *host)
{
    char name[RAD_FLOW_FILE_MAX];
    rad_bytes bytes = {0};
    rad_error error = {0};
    rad_flow_receipt receipt = s->receipt;
    if (receipt.ended_ns == 0) receipt.ended_ns = s->receipt.ended_ns = host->now(host->context);
    receipt.output = (const char *)s->output.data;
    receipt.output_size = s->output.size;
    rad__flow_effect_file(name, s->id, "receipt");
    rad__flow_receipt_put(&bytes, &receipt);
    int code = bytes.failed ? RAD_ENOMEM : rad__flow_write_whole(host, "effects", name, bytes.data, bytes.size, &error);
    rad__bytes_free(&bytes);
    if (code == 0 || ++s->writes >= RAD_SHIM_WRITES_MAX)
        s->state = RAD_SHIM_OVER;
    else
        host->sleep(host->context, UINT64_C(1000000000)); /* full disks are emptied, at times */
}

bool rad__flow_shim_step(rad_flow_shim *s, const rad_flow_host *host)
{
    switch (s->state) {
    case RAD_SHIM_CLAIM: claim(s, host); break;
    case RAD_SHIM_SPAWN: spawn(s, host); break;
    case RAD_SHIM_WATCH: watch(s, host); break;
    case RAD_SHIM_WRITE: write_receipt(s, host); break;
    case RAD_SHIM_OVER: break;
    }
    if (s->state != RAD_SHIM_OVER) return true;
    if (s->out >= 0) host->close(host->context, s->out);
    close_log(s, host);
    if (s->lock >= 0) host->close(host->context, s->lock); /* after the receipt: it is what tells that it is over */
    s->out = s->lock = -1;
    return false;
}
