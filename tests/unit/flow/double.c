/* double.c — see double.h. Commands:
 *     NAME          works for a few ticks, prints its name, ends with 0
 *     slow…         works until it is killed
 *     fails…        ends with 3
 *     flaky…        fails at its first attempt
 *     probe…        ends with 0 when the effect it is asked about was done, otherwise with 1
 *     shrug…        ends with 2
 *     polite…       works until it is asked to end, and then ends with 0
 *     killed…       is killed by somebody else, before it has worked */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "double_parts.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdio.h>
#include <string.h>

/* ---- Dying ---------------------------------------------------------------------------------------------- */

static count *count_of(double_world *w, const rad_flow_shim *shim)
{
    const char *key = shim->key;
    for (uint32_t i = 0; i < w->count_count; i++)
        if (strcmp(w->counts[i].key, key) == 0 && w->counts[i].attempt == shim->attempt) return &w->counts[i];
    double_require(w->count_count < COUNTS && strlen(key) < 64);
    count *c = &w->counts[w->count_count++];
    *c = (count){.attempt = shim->attempt};
    snprintf(c->key, sizeof c->key, "%s", key);
    return c;
}

static void work(double_world *w, process *p)
{
    count *c = count_of(w, p->shim);
    size_t used = 0;
    snprintf(c->command, sizeof c->command, "%.63s", p->shim->command);
    snprintf(c->folder, sizeof c->folder, "%.63s", p->shim->dir != NULL ? p->shim->dir : "");
    if (strncmp(p->shim->command, "probe", 5) != 0 && strncmp(p->shim->command, "shrug", 5) != 0) c->works++;
    for (char **e = p->shim->environment; *e != NULL; e++)
        if (used + strlen(*e) + 2 < sizeof c->environment)
            used += (size_t)snprintf(c->environment + used, sizeof c->environment - used, "%s\n", *e);
    p->worked = true;
}

static void die(double_world *w, process *p)
{
    if (!p->alive) return;
    p->alive = false;
    if (p->is_shim) {
        count_of(w, p->shim)->may_doubt = true;
        /* Its command dies with it, a moment earlier or later. */
        if (p->spawned && !p->worked && rad__prng_below(&w->prng, 2) == 0) work(w, p);
    }
    double_close_handles(w, p);
}

static void crash_machine(double_world *w)
{
    for (uint32_t i = 0; i < w->process_count; i++) die(w, w->processes[i]);
    double_lose(w);
}

static void crash(double_world *w, process *caller)
{
    w->crashed = true;
    switch (w->crash) {
    case DOUBLE_NONE: break;
    case DOUBLE_KILL_RUNNER:
        if (w->runner != NULL) die(w, w->runner);
        break;
    case DOUBLE_KILL_SHIM:
        if (caller->is_shim) die(w, caller);
        break;
    case DOUBLE_REPLACE:
        w->processes_then = w->process_count;
        double_replace(w, "journal");
        break;
    case DOUBLE_FULL: w->full = true; break;
    case DOUBLE_LOSE:
    case DOUBLE_KEEP:
    case DOUBLE_MIX:
    case DOUBLE_TEAR: crash_machine(w); break;
    }
}

/* ---- Lack ----------------------------------------------------------------------------------------------- */

/* Whether it has begun is asked of the memory itself. */
static void end_lack(double_world *w)
{
    if (!w->lacking) return;
    void *probe = rad__alloc(1, 1);
    w->lacked = probe == NULL;
    w->lacking = false;
    rad__alloc_fail_at(0);
    rad__free(probe);
}

static void begin_lack(double_world *w)
{
    if (w->lack_at == 0 || ++w->lack_calls != w->lack_at) return;
    w->lacking = true;
    rad__alloc_fail_at(w->lack_first);
}

static bool fails(double_world *w, rad_error *error)
{
    if (w->fail_at == 0 || error != w->fail_in || ++w->fail_calls != w->fail_at) return false;
    w->processes_then = w->process_count;
    rad__error(error, RAD_EIO, "refused");
    return true;
}

/* ---- Time ----------------------------------------------------------------------------------------------- */

static bool is_asked_to_end(const double_world *w, const process *p)
{
    char name[RAD_FLOW_FILE_MAX];
    rad__flow_effect_file(name, p->shim->id, "stop");
    return double_inode_of(w, name) >= 0;
}

static bool is_ready(const double_world *w, const process *p)
{
    return p->alive && p->is_shim &&
           (w->held == NULL || strcmp(w->held, p->shim->command) != 0 || is_asked_to_end(w, p));
}

static void tick(double_world *w)
{
    uint32_t living = 0;
    if (w->in_tick) return;
    w->in_tick = true;
    if (w->lacking) rad__alloc_fail_at(0);
    w->clock_ns += 1000000;
    for (uint32_t i = 0; i < w->process_count; i++) living += is_ready(w, w->processes[i]);
    if (living > 0) {
        uint32_t at = (uint32_t)rad__prng_below(&w->prng, living);
        for (uint32_t i = 0; i < w->process_count; i++) {
            process *p = w->processes[i];
            if (!is_ready(w, p) || at-- > 0) continue;
            if (!rad__flow_shim_step(p->shim, &p->host) && p->alive) {
                if (p->shim->writes == RAD_SHIM_WRITES_MAX) count_of(w, p->shim)->may_doubt = true;
                p->alive = false; /* it has ended by itself */
                double_close_handles(w, p);
            }
            break;
        }
    }
    if (w->lacking) rad__alloc_fail_at(w->lack_first);
    w->in_tick = false;
}

double_world *double_enter(void *context, rad_error *error)
{
    process *p = context;
    double_world *w = p->w;
    if (p == w->runner) end_lack(w);
    if (p->alive) {
        w->calls++;
        double_require(++w->all_calls < CALLS_MAX); /* nobody waits for ever */
        if (w->crash_at != 0 && w->calls == w->crash_at) crash(w, p);
        if (w->release_at != 0 && w->calls == w->release_at) w->held = NULL;
    }
    if (p->alive && !p->is_shim && rad__prng_below(&w->prng, 4) == 0) tick(w);
    if (p == w->runner && p->alive && fails(w, error)) return NULL;
    if (p == w->runner) begin_lack(w);
    if (p->alive) return w;
    rad__error(error, RAD_EIO, "killed");
    return NULL;
}

/* ---- The table: processes -------------------------------------------------------------------------------- */

static process *new_process(double_world *w);

static int do_launch(void *context, rad_flow_shim *shim, int *pid, rad_error *error)
{
    double_world *w = double_enter(context, error);
    if (w == NULL) {
        rad__flow_shim_free(shim);
        return RAD_EIO;
    }
    process *p = new_process(w);
    p->is_shim = true;
    p->shim = shim;
    *pid = p->pid;
    return 0;
}

static process *process_of(double_world *w, int pid)
{
    for (uint32_t i = 0; i < w->process_count; i++)
        if (w->processes[i]->pid == pid) return w->processes[i];
    return NULL;
}

static bool do_is_running(void *context, int pid)
{
    double_world *w = double_enter(context, NULL);
    process *p = w != NULL ? process_of(w, pid) : NULL;
    return p != NULL && p->alive;
}

static int do_wait(void *context, uint64_t timeout_ns, rad_error *error)
{
    double_world *w = double_enter(context, error);
    if (w == NULL) return RAD_EIO;
    bool busy = false;
    for (uint32_t i = 0; i < w->process_count; i++) busy |= is_ready(w, w->processes[i]);
    if (!busy && !w->noticed) w->clock_ns += timeout_ns;
    w->noticed = false;
    for (uint32_t i = 0; busy && i < 3; i++) tick(w);
    if (!((process *)context)->alive) return rad__error(error, RAD_EIO, "killed");
    return 0;
}

static int do_spawn(void *context, const rad_flow_shim *shim, rad_error *error)
{
    process *p = context;
    (void)shim;
    if (double_enter(context, error) == NULL) return RAD_EIO;
    p->spawned = true;
    p->ticks_left = 1 + (uint32_t)rad__prng_below(&p->w->prng, 4);
    return 0;
}

static int status_of(double_world *w, const process *p)
{
    const char *command = p->shim->command;
    if (strncmp(command, "fails", 5) == 0) return 3;
    if (strncmp(command, "flaky", 5) == 0) return p->shim->attempt == 1;
    if (strncmp(command, "probe", 5) == 0) return count_of(w, p->shim)->works == 0;
    return strncmp(command, "shrug", 5) == 0 ? 2 : 0;
}

static int64_t do_watch(void *context, void *to, size_t size, uint64_t timeout_ns, rad_flow_watched *watched,
                        rad_error *error)
{
    process *p = context;
    double_world *w = double_enter(context, error);
    if (w == NULL) return RAD_EIO;
    bool polite = strncmp(p->shim->command, "polite", 6) == 0;
    bool slow = polite || strncmp(p->shim->command, "slow", 4) == 0;
    bool killed = strncmp(p->shim->command, "killed", 6) == 0;
    if (!p->ended && !slow && --p->ticks_left == 0) {
        if (!p->worked && !killed) work(w, p);
        p->ended = true;
        p->status = status_of(w, p);
        p->signal = killed ? 9 : 0;
    }
    if (slow && !p->worked) work(w, p);
    if (slow && !p->ended && timeout_ns <= RAD_SHIM_LOOK_NS) w->clock_ns += timeout_ns;
    watched->ended = p->ended;
    watched->status = p->status;
    watched->signal = p->signal;
    if (!p->ended || p->printed) return 0;
    p->printed = true;
    return snprintf(to, size, "%s\n", p->shim->command);
}

static int do_kill(void *context, bool at_once, rad_error *error)
{
    process *p = context;
    if (double_enter(context, error) == NULL) return RAD_EIO;
    if (!p->ended && strncmp(p->shim->command, "polite", 6) != 0) p->signal = at_once ? 9 : 15;
    p->ended = p->printed = true;
    return 0;
}

static int do_current_folder(void *context, char **path, rad_error *error)
{
    (void)context;
    *path = rad__copy_text("/there");
    return *path != NULL ? 0 : rad__error_memory(error);
}

static bool do_is_folder(void *context, const char *path)
{
    (void)context;
    return strcmp(path, "/there") == 0;
}

static int do_self(void *context)
{
    return ((process *)context)->pid;
}

static uint64_t do_now(void *context)
{
    return ((process *)context)->w->clock_ns;
}

static uint64_t do_random(void *context)
{
    return rad__prng_next(&((process *)context)->w->prng) | 1;
}

static void do_sleep(void *context, uint64_t ns)
{
    process *p = context;
    if (p->alive && !p->is_shim) p->w->clock_ns += ns;
}

static process *new_process(double_world *w)
{
    double_require(w->process_count < PROCESSES);
    process *p = calloc(1, sizeof *p);
    double_require(p != NULL);
    p->w = w;
    p->pid = 100 + (int)w->process_count;
    p->alive = true;
    p->host = (rad_flow_host){
        .context = p,
        .launch = do_launch,
        .is_running = do_is_running,
        .wait = do_wait,
        .spawn = do_spawn,
        .watch = do_watch,
        .kill = do_kill,
        .current_folder = do_current_folder,
        .is_folder = do_is_folder,
        .self = do_self,
        .now = do_now,
        .elapsed = do_now,
        .random = do_random,
        .sleep = do_sleep,
    };
    double_file_table(&p->host);
    w->processes[w->process_count++] = p;
    return p;
}

/* ---- For tests ------------------------------------------------------------------------------------------- */

rad_flow_program *double_program_of(const char *text, const char *flow)
{
    rad_flow_program *p = NULL;
    rad_error error = {0};
    if (rad__flow_program_read(&p, "test.flow", text, strlen(text), flow, &error) != 0) fail_msg("%s", error.text);
    return p;
}

rad_flow_program *double_program(const char *text)
{
    return double_program_of(text, NULL);
}

double_world *double_open(uint64_t seed)
{
    double_world *w = calloc(1, sizeof *w);
    double_require(w != NULL);
    w->prng = rad__prng(seed, (enum rad_stream)0, 0);
    w->clock_ns = UINT64_C(1700000000000000000);
    return w;
}

void double_close(double_world *w)
{
    for (uint32_t i = 0; i < w->inode_count; i++) {
        free(w->inodes[i].now.data);
        free(w->inodes[i].kept.data);
    }
    for (uint32_t i = 0; i < w->process_count; i++) {
        rad__flow_shim_free(w->processes[i]->shim);
        free(w->processes[i]);
    }
    free(w);
}

void double_crash_at(double_world *w, uint64_t n, enum double_crash what, uint32_t tear)
{
    w->calls = 0;
    w->crash_at = n;
    w->crash = what;
    w->tear = tear;
    w->crashed = false;
    w->unsynced = 0;
}

bool double_has_crashed(const double_world *w)
{
    return w->crashed;
}

uint64_t double_calls(const double_world *w)
{
    return w->calls;
}

uint32_t double_unsynced(const double_world *w)
{
    return w->unsynced;
}

void double_empty(double_world *w)
{
    w->full = false;
}

void double_lack_at(double_world *w, uint64_t n, uint64_t first)
{
    end_lack(w);
    w->lack_at = n;
    w->lack_first = first;
    w->lack_calls = 0;
    if (n > 0) w->lacked = false;
}

bool double_has_called(const double_world *w)
{
    return w->lack_calls >= w->lack_at;
}

bool double_has_lacked(const double_world *w)
{
    return w->lacked;
}

void double_fail_at(double_world *w, uint64_t n, const rad_error *error)
{
    w->fail_at = n;
    w->fail_in = error;
    w->fail_calls = 0;
}

bool double_has_failed(const double_world *w)
{
    return w->fail_at != 0 && w->fail_calls >= w->fail_at;
}

uint32_t double_launched_since(const double_world *w)
{
    return w->process_count - w->processes_then;
}

const rad_flow_host *double_runner(double_world *w)
{
    if (w->runner != NULL) die(w, w->runner);
    w->runner = new_process(w);
    return &w->runner->host;
}

bool double_is_dead(const double_world *w)
{
    return !w->runner->alive;
}

const rad_flow_host *double_other(double_world *w)
{
    return &new_process(w)->host;
}

static const count *find_count(const double_world *w, const char *key)
{
    const count *last = NULL;
    for (uint32_t i = 0; i < w->count_count; i++)
        if (strcmp(w->counts[i].key, key) == 0 && (last == NULL || w->counts[i].attempt > last->attempt))
            last = &w->counts[i];
    return last;
}

uint32_t double_count(const double_world *w, const char *key)
{
    const count *c = find_count(w, key);
    return c != NULL ? c->works : 0;
}

uint32_t double_total(const double_world *w)
{
    uint32_t total = 0;
    for (uint32_t i = 0; i < w->count_count; i++) total += w->counts[i].works;
    return total;
}

uint32_t double_most(const double_world *w)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < w->count_count; i++)
        if (w->counts[i].works > most) most = w->counts[i].works;
    return most;
}

uint32_t double_command_count(const double_world *w, const char *command)
{
    uint32_t total = 0;
    for (uint32_t i = 0; i < w->count_count; i++)
        if (strcmp(w->counts[i].command, command) == 0) total += w->counts[i].works;
    return total;
}

bool double_may_doubt(const double_world *w, const char *key)
{
    const count *c = find_count(w, key);
    return c != NULL && c->may_doubt;
}

const char *double_environment(const double_world *w, const char *command, const char *name)
{
    static char value[256];
    size_t length = strlen(name);
    for (uint32_t i = 0; i < w->count_count; i++) {
        if (strcmp(w->counts[i].command, command) != 0) continue;
        for (const char *at = w->counts[i].environment; *at != 0; at = strchr(at, '\n') + 1)
            if (strncmp(at, name, length) == 0 && at[length] == '=') {
                snprintf(value, sizeof value, "%.*s", (int)strcspn(at + length + 1, "\n"), at + length + 1);
                return value;
            }
    }
    return NULL;
}

const char *double_folder(const double_world *w, const char *command)
{
    for (uint32_t i = 0; i < w->count_count; i++)
        if (strcmp(w->counts[i].command, command) == 0) return w->counts[i].folder;
    return NULL;
}

uint32_t double_syncs(const double_world *w)
{
    return w->syncs;
}

bool double_has_file(const double_world *w, const char *name)
{
    return double_inode_of(w, name) >= 0;
}

void double_remove(double_world *w, const char *name)
{
    double_set_name(w->now, &w->now_count, name, -1);
    double_set_name(w->kept, &w->kept_count, name, -1);
}

void double_hold(double_world *w, const char *command)
{
    w->held = command;
}

void double_release_at(double_world *w, uint64_t n)
{
    w->release_at = n;
}

void double_ticks(double_world *w, uint32_t n)
{
    while (n-- > 0) tick(w);
}

uint32_t double_living_commands(const double_world *w)
{
    uint32_t living = 0;
    for (uint32_t i = 0; i < w->process_count; i++) {
        const process *p = w->processes[i];
        living += p->is_shim && p->alive && p->spawned && !p->ended;
    }
    return living;
}

uint32_t double_launched(const double_world *w)
{
    uint32_t launched = 0;
    for (uint32_t i = 0; i < w->process_count; i++) {
        const process *p = w->processes[i];
        launched += p->is_shim && p->alive && !p->ended;
    }
    return launched;
}

uint64_t double_now(const double_world *w)
{
    return w->clock_ns;
}
