/* threads.c — sessions on real cores. Those opened from outside have nothing to do with each other, and those
 * they open stay with them: so they are dealt out in parts, each with a machine of its own, and every part is a
 * task of the executor. What a session experiences does not depend on who else is there: its digest is the same. */
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "os/thread.h"
#include "session/machine/vm.h"

#include <raddle/exec.h>

#include <string.h>

enum { PARTS_PER_THREAD = 8, PART_MOST = 1024 };

typedef struct part {
    rad_task task; /* first */
    const struct crowd *crowd;
    uint32_t first, count;
    int status;
    rad_error error;
    enum rad_session_end end;
    rad_session_info info;
    rad_digest sum;
    char *trace;
} part;

typedef struct crowd {
    const rad_protocols *protocols;
    const rad_session_options *options;
    const rad_session_crowd *wanted;
    bool traces;
    part *parts;
    uint32_t part_count;
} crowd;

static void part_work(part *p, rad_session_vm *vm)
{
    const rad_session_crowd *wanted = p->crowd->wanted;
    vm->root_first = p->first;
    if (wanted->prepare) p->status = wanted->prepare(wanted->context, vm, &p->error);
    if (p->status == 0) p->status = rad_session_open(vm, wanted->protocol, p->count, &p->error);
    if (p->status != 0) return;
    p->end = rad_session_run(vm, wanted->rounds);
    rad_session_look(vm, &p->info);
    p->sum = rad__session_sum(vm);
    if (p->crowd->traces) p->trace = rad_session_trace_text(vm, RAD_NONE, true);
    if (p->end == RAD_SESSION_NO_MEMORY || (p->crowd->traces && p->trace == NULL))
        p->status = rad__error_memory(&p->error);
}

static enum rad_run part_run(rad_task *task, rad_worker *w)
{
    part *p = (part *)task;
    rad_session_vm *vm;
    (void)w;
    p->status = rad_session_create(&vm, p->crowd->protocols, p->crowd->options, &p->error);
    if (p->status != 0) return RAD_RUN_DONE;
    part_work(p, vm);
    rad_session_destroy(vm);
    return RAD_RUN_DONE;
}

/* ---- Putting together -------------------------------------------------------------------------------- */

/* Stuck is worse than exhausted, exhausted worse than complete. */
static enum rad_session_end worse(enum rad_session_end a, enum rad_session_end b)
{
    return a > b ? a : b;
}

static void add_info(rad_session_info *to, const rad_session_info *from)
{
    to->sessions += from->sessions;
    to->sessions_closed += from->sessions_closed;
    to->sessions_faulted += from->sessions_faulted;
    to->coroutines += from->coroutines;
    to->ready += from->ready;
    to->blocked += from->blocked;
    to->ended += from->ended;
    to->rounds = from->rounds > to->rounds ? from->rounds : to->rounds;
    to->instructions += from->instructions;
    to->messages += from->messages;
    to->effects += from->effects;
}

static int gather(const crowd *c, enum rad_session_end *end, rad_session_info *info, char **trace, rad_error *error)
{
    rad_bytes text = {NULL, 0, 0, false};
    rad_digest sum = {0, 0};
    *end = RAD_SESSION_COMPLETE;
    *info = (rad_session_info){.sessions = 0};
    for (uint32_t i = 0; i < c->part_count; i++) {
        const part *p = &c->parts[i];
        if (p->status != 0) {
            rad__bytes_free(&text);
            return rad__error(error, p->status, "%s", p->error.text);
        }
        *end = worse(*end, p->end);
        add_info(info, &p->info);
        sum.low += p->sum.low;
        sum.high += p->sum.high;
        if (p->trace) rad__bytes_put(&text, p->trace, strlen(p->trace));
    }
    rad__digest_text(sum, info->digest);
    if (trace == NULL) return 0;
    rad__bytes_put(&text, "", 1);
    *trace = text.failed ? NULL : (char *)text.data;
    if (!text.failed) return 0;
    rad__bytes_free(&text);
    return rad__error_memory(error);
}

static bool deal_out(crowd *c, uint32_t threads)
{
    uint32_t sessions = c->wanted->sessions;
    uint64_t parts = (uint64_t)threads * PARTS_PER_THREAD;
    uint32_t each = (uint32_t)((sessions + parts - 1) / parts);
    if (each > PART_MOST) each = PART_MOST;
    if (each == 0) each = 1;
    c->part_count = sessions ? (sessions + each - 1) / each : 1; /* options are looked at */
    c->parts = rad__alloc(c->part_count, sizeof *c->parts);
    if (c->parts == NULL) return false;
    for (uint32_t i = 0; i < c->part_count; i++) {
        part *p = &c->parts[i];
        p->task.run = part_run;
        p->crowd = c;
        p->first = i * each;
        p->count = sessions - p->first < each ? sessions - p->first : each;
    }
    return true;
}

static int run_parts(crowd *c, uint32_t threads, rad_error *error)
{
    rad_exec *exec;
    int status = rad_exec_create(&exec, &(rad_exec_options){.workers = threads}, error);
    if (status != 0) return status;
    for (uint32_t i = 0; i < c->part_count; i++) {
        bool taken = rad_exec_spawn(exec, &c->parts[i].task);
        RAD_ASSERT(taken); /* nobody has shut the gate */
    }
    rad_exec_join(exec);
    rad_exec_destroy(exec);
    return 0;
}

int rad_session_run_crowd(const rad_protocols *p, const rad_session_options *o, const rad_session_crowd *wanted,
                          enum rad_session_end *end, rad_session_info *info, char **trace, rad_error *error)
{
    rad__error_clear(error);
    crowd c = {.protocols = p, .options = o, .wanted = wanted, .traces = trace != NULL && o->log};
    uint32_t threads = wanted->threads ? wanted->threads : rad__os_cpu_count();
    if (trace != NULL) *trace = NULL;
    if (o->start != 0)
        return rad__error(error, RAD_EINPUT, "start: on several threads the order of starts is not decided");
    if (wanted->sessions > RAD_SESSIONS_MAX)
        return rad__error(error, RAD_ELIMIT, "%d sessions at most", RAD_SESSIONS_MAX);
    if (!deal_out(&c, threads)) return rad__error_memory(error);
    int status = run_parts(&c, threads, error);
    if (status == 0) status = gather(&c, end, info, trace, error);
    for (uint32_t i = 0; i < c.part_count; i++) rad__free(c.parts[i].trace);
    rad__free(c.parts);
    return status;
}
