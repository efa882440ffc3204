/* flow_run_shim.c — see flow_run_shim.h. Nobody hears a shim: what goes wrong before it has claimed the effect ends it,
 * and what goes wrong later is in its receipt. */
#include "flow/flow_run_shim.h"

#include "base/alloc.h"

#define LOOK_AGAIN_NS UINT64_C(20000000)

rad_flow_shim *rad__flow_shim_new(void)
{
    rad_flow_shim *s = rad__alloc(1, sizeof *s);
    if (s != NULL) s->lock = s->out = -1;
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

static void claim(rad_flow_shim *s, const rad_flow_host *host)
{
    rad_error error = {0};
    int got = rad__flow_claim(host, s->id, &s->lock, &error);
    s->state = got == 1 ? RAD_SHIM_SPAWN : RAD_SHIM_OVER;
    if (got != 1) s->lock = -1;
}

static void spawn(rad_flow_shim *s, const rad_flow_host *host)
{
    rad_error error = {0};
    s->receipt = (rad_flow_receipt){.key = s->key, .attempt = s->attempt, .run = s->run};
    s->receipt.began_ns = host->now(host->context);
    if (s->timeout_ns > 0) s->end_by_ns = host->elapsed(host->context) + s->timeout_ns;
    if (host->spawn(host->context, s, &error) == 0) {
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

/* The shell has ended. When it was told to, others of its group were told, too: they have the rest of the time to clean
 * up, and are no more when there is a receipt. Of a command that ended by itself the others live on. */
static void take_end(rad_flow_shim *s, const rad_flow_host *host, uint64_t now,
                     const rad_flow_watched *seen)
{
    bool was_ended = s->kill_by_ns != 0;
    if (was_ended && seen->left && !s->killed) {
        if (now < s->kill_by_ns)
            host->sleep(host->context, LOOK_AGAIN_NS);
        else
            kill_command(s, host, now);
        return;
    }
    s->receipt.status = seen->status;
    s->receipt.signal = seen->signal;
    s->state = RAD_SHIM_WRITE;
}

static void watch(rad_flow_shim *s, const rad_flow_host *host)
{
    char data[16 << 10];
    rad_flow_watched seen = {0};
    rad_error error = {0};
    uint64_t now = host->elapsed(host->context),
             by = s->kill_by_ns != 0 ? s->kill_by_ns : s->end_by_ns;
    uint64_t timeout = by == 0 ? UINT64_C(3600000000000) : by > now ? by - now : 0;
    int64_t got = host->watch(host->context, data, sizeof data, timeout, &seen, &error);
    now = host->elapsed(host->context);
    if (got < 0) host->sleep(host->context, UINT64_C(100000000)); /* it is still there: ask again */
    if (got > 0) take_output(s, host, data, (size_t)got);
    if (seen.ended && got == 0) {
        take_end(s, host, now, &seen);
    } else if (seen.ended) {
        return;
    } else if (s->kill_by_ns == 0 && seen.asked_to_end) {
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
    int code = bytes.failed
                   ? RAD_ENOMEM
                   : rad__flow_write_whole(host, "effects", name, bytes.data, bytes.size, &error);
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
    if (s->lock >= 0)
        host->close(host->context,
                    s->lock); /* after the receipt: it is what tells that it is over */
    s->out = s->lock = -1;
    return false;
}
