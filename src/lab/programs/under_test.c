/* under_test.c — see under_test.h. */
#include "lab/programs/under_test.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/symbols.h"
#include "core/kernel.h"
#include "lab/blame.h"
#include "lab/json.h"
#include "lab/program.h"
#include "lab/programs/fibers/sites.h"
#include "lab/programs/hello.h"
#include "lab/programs/inserted.h"
#include "lab/programs/places.h"
#include "lab/programs/stream.h"
#include "lab/race.h"
#include "os/debugger.h"
#include "os/process.h"
#include "os/scratch.h"
#include "os/signal.h"
#include "os/start.h"
#include "rt/test.h"

#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    OUTPUT_SHOWN = 4096,
    NAME_MAX_SIZE = 40,
    HELLO_SECONDS = 60,
    PARAM_CLOCK = 0,
    PARAM_MEMORY,
    PARAM_SCRATCH,
    PARAM_CLOSED,
    PARAM_SPURIOUS,
    PARAM_PROCESSORS
};

/* About 20 s. */
enum { CATALOG_MAX = 1 << 20, CATALOG_TICKS = 4000 };

enum { KILLED_MOST = 100, KILLED_LOOKS = 200 };

static struct {
    char *const *argv;
    const char *library;
    const char *input; /* a file; NULL: it is empty */
    const char *shown; /* a file to which its runs print; NULL: nowhere */
    char name[NAME_MAX_SIZE + 1];
    char *body; /* its arguments, as a case holds them */
    rad_inserted inserted;
    bool debugged; /* the process that is started next */
    bool real_threads;
    bool open;                           /* it has tests, and no one was named: a case of a file says which */
    char *named[RAD_TEST_WORDS_MAX + 2]; /* then: the path, and the words of that case */
} under_test;

const char *rad__under_test_name(void)
{
    return under_test.argv ? under_test.name : NULL;
}

const rad_inserted *rad__under_test_inserted(void)
{
    return &under_test.inserted;
}

const char *const *rad__under_test_words(void)
{
    return (const char *const *)under_test.argv;
}

static char folders[RAD_OS_SCRATCH_PATH]; /* "": not made yet */

/* The machine. */
typedef struct teller {
    rad_tested process;
    rad_case c;   /* without its body */
    char *points; /* names of places, each with a newline behind it */
    rad_call_stream stream;
    rad_symbols roles; /* they have to outlive the run */
    rad_places *places;
    rad_blame *blame;
    rad_kernel *kernel;    /* of the run */
    uint64_t state;        /* that was told last */
    bool dies;             /* as it did when it was recorded */
    uint64_t hangs_at;     /* the step that does not return, … */
    uint32_t hang_ms;      /* … and the CPU time after which it is asked where it is; 0: it returns */
    volatile int64_t *pid; /* of a worker: rad__under_test_serves */
    bool debugged;
    int debugger; /* process */
    uint64_t stop;
    uint32_t inner;
    char function[48];
} teller;

/* ---- Its process ----------------------------------------------------------------------------------------- */

void rad__tested_stop(rad_tested *t)
{
    rad_os_exit ignored;
    rad__os_close(t->to);
    rad__os_close(t->from);
    if (t->pid > 0) {
        rad__os_kill(t->pid, NULL);
        rad__os_wait(t->pid, true, &ignored, NULL);
    }
    rad__os_close(t->output);
    *t = (rad_tested){0, -1, -1, -1};
}

/* It has ended without a greeting, or does not come to it. */
static int tested_mute(rad_tested *t, bool ended, rad_error *error)
{
    char text[160];
    rad__os_output(t->output, text, sizeof text);
    rad__text_clean(text);
    rad__text_plain(text);
    const char *path = under_test.argv[0];
    if (!ended)
        return rad__error(error, RAD_EINPUT, "'%.200s' did not come to its main within %d s", path, HELLO_SECONDS);
    return rad__error(error, RAD_EINPUT, "'%.200s' ended before its main%s%.150s", path, text[0] ? ": " : "", text);
}

/* The names of its locks and channels. A table that is larger than a pipe is read while it is written. */
static int send_variables(rad_tested *t, rad_error *error)
{
    uint64_t count;
    const rad_variable *all = rad__variables(under_test.argv[0], &count);
    int code = rad__os_write_all(t->to, &count, sizeof count, error);
    if (code == 0 && count > 0) code = rad__os_write_all(t->to, all, count * sizeof *all, error);
    return code;
}

static int send_text(rad_tested *t, const char *text, rad_error *error)
{
    uint64_t size = strlen(text);
    int code = rad__os_write_all(t->to, &size, sizeof size, error);
    return code == 0 && size > 0 ? rad__os_write_all(t->to, text, size, error) : code;
}

/* Each with a newline behind it. */
static char *lines_of(const char *const *items)
{
    size_t size = 1, used = 0;
    for (const char *const *at = items; at && *at; at++) size += strlen(*at) + 1;
    char *text = rad__alloc(1, size);
    for (const char *const *at = items; text && at && *at; at++)
        used += (size_t)snprintf(text + used, size - used, "%s\n", *at);
    return text;
}

/* Which places are points, which races do not count; and how many places there are. */
static int exchange_points(rad_tested *t, const teller *m, const char *const *suppressed, rad_error *error)
{
    char *lines = lines_of(suppressed);
    int code = lines ? send_text(t, m->points, error) : rad__error_memory(error);
    if (code == 0) code = send_text(t, lines, error);
    rad__free(lines);
    if (code != 0) return code;
    rad_inserted *all = &under_test.inserted;
    if (rad__os_read(t->from, all, sizeof *all, NULL) != sizeof *all) return tested_mute(t, true, error);
    all->without[sizeof all->without - 1] = 0;
    return 0;
}

static int tested_greet(rad_tested *t, enum rad_setup_apart apart, const teller *m, const char *const *suppressed,
                        rad_error *error)
{
    const rad_case *c = &m->c;
    rad_setup setup = {.max_steps = c->max_steps,
                       .clock_free = c->params[PARAM_CLOCK] != 0,
                       .debugged = under_test.debugged,
                       .spurious = c->params[PARAM_SPURIOUS] != 0,
                       .closed_fails = c->params[PARAM_CLOSED] != 0,
                       .memory_limit = (uint64_t)c->params[PARAM_MEMORY] << 20,
                       .apart = apart,
                       .real_threads = under_test.real_threads,
                       .dies = m->pid != NULL};
    rad_hello hello, own;
    if (c->params[PARAM_SCRATCH]) snprintf(setup.folders, sizeof setup.folders, "%s", folders);
    if (under_test.shown) snprintf(setup.shown, sizeof setup.shown, "%s", under_test.shown);
    bool ready = false;
    int before = *rad__os_interrupted();
    for (uint32_t i = 0; i < 10 * HELLO_SECONDS && !ready; i++) {
        if (rad__os_poll(&t->from, 1, 100, &ready, error) < 0) return error->code;
        if (rad__os_interrupted_since(before)) return rad__error(error, RAD_EINTERRUPTED, "interrupted");
    }
    if (!ready || rad__os_read(t->from, &hello, sizeof hello, NULL) != sizeof hello)
        return tested_mute(t, ready, error);
    rad__hello_make(&own);
    if (memcmp(&hello, &own, sizeof own) != 0)
        return rad__error(error, RAD_EINPUT, "'%.400s' is of another build than this raddle", under_test.library);
    int code = rad__os_write_all(t->to, &setup, sizeof setup, error);
    if (code == 0) code = send_variables(t, error);
    return code == 0 ? exchange_points(t, m, suppressed, error) : code;
}

/* For GNU OpenMP: threads of a team spin before they sleep, which here is CPU time that lets nobody else run. */
static const char SPINS[] = "GOMP_SPINCOUNT=0";

static int tested_start(rad_tested *t, const void *self, int memory, enum rad_setup_apart apart,
                        const char *const *suppressed, rad_error *error)
{
    int request[2] = {-1, -1}, answer[2] = {-1, -1};
    char mode[24];
    *t = (rad_tested){0, -1, -1, -1};
    int code = rad__os_pipe(request, error);
    if (code == 0) code = rad__os_pipe(answer, error);
    t->to = request[1];
    t->from = answer[0];
    snprintf(mode, sizeof mode, "%c,%u", memory < 0 ? 't' : 'w',
             (unsigned)((const teller *)self)->c.params[PARAM_PROCESSORS]);
    rad_os_start start = {.path = under_test.argv[0],
                          .argv = under_test.argv,
                          .input = under_test.input,
                          .preload = under_test.library,
                          .variable = RAD_UNDER_TEST,
                          .mode = mode,
                          .given = {request[0], answer[1], memory},
                          .lacking = SPINS,
                          .same_addresses = true};
    if (code == 0) code = rad__os_start(&t->pid, &t->output, &start, error);
    rad__os_close(request[0]);
    rad__os_close(answer[1]);
    if (code == 0) code = tested_greet(t, apart, self, suppressed, error);
    return code;
}

/* Somebody else killed it. One whose pipes are closed is about to end: that takes no time. */
static bool tested_was_killed(rad_tested *t)
{
    rad_os_exit how;
    bool ready;
    for (uint32_t i = 0; t->pid > 0 && i < KILLED_LOOKS; i++) {
        int ended = rad__os_wait(t->pid, false, &how, NULL);
        if (ended > 0) t->pid = 0;
        if (ended != 0) return ended > 0 && how.signal == SIGKILL;
        rad__os_poll(NULL, 0, 1, &ready, NULL);
    }
    return false;
}

/* It is begun again if somebody kills it before it has greeted: no run of it has begun. */
int rad__tested_start(rad_tested *t, const void *self, int memory, enum rad_setup_apart apart,
                      const char *const *suppressed, rad_error *error)
{
    for (uint32_t left = KILLED_MOST;; left--) {
        int code = tested_start(t, self, memory, apart, suppressed, error);
        if (code == 0) return 0;
        bool killed = (code == RAD_EIO || code == RAD_EINPUT) && tested_was_killed(t);
        rad__tested_stop(t);
        if (!killed || left == 0) return code;
        rad__error_clear(error);
    }
}

/* ---- A run that it tells --------------------------------------------------------------------------------- */

static const char *role_of(teller *t, const char *text)
{
    uint32_t number = rad__symbol(&t->roles, text, strlen(text));
    return number == RAD_NONE ? "actor" : t->roles.texts[number];
}

static void teller_fails(teller *t, rad_kernel *k, const rad_record *r)
{
    char site[RAD_STREAM_TEXT_MAX + 1];
    rad__spots_read(t->stream.text, sizeof t->stream.text);
    size_t size = strlen(t->stream.text), part = r->c < size ? r->c : size;
    snprintf(site, sizeof site, "%.*s", (int)part, t->stream.text);
    rad_fail_at(k, r->a, r->b, site, "%s", t->stream.text + part);
}

static void teller_stuck(const teller *t, rad_kernel *k, const rad_record *r)
{
    uint32_t actors[RAD_STREAM_TEXT_MAX / 2], count = 0;
    const char *at = t->stream.text;
    char *end;
    for (;; at = end) {
        unsigned long actor = strtoul(at, &end, 10);
        if (end == at) break;
        actors[count++] = (uint32_t)actor;
    }
    rad__stuck_report(k, r->a, actors, count, at + strspn(at, " "));
}

/* True: there is more. */
static bool teller_apply(teller *t, rad_kernel *k, const rad_record *r)
{
    rad__blame_take(t->blame, r);
    switch ((enum rad_stream_what)r->what) {
    case RAD_STREAM_ACTOR: rad_actor(k, r->a, role_of(t, t->stream.text)); break;
    case RAD_STREAM_OBJECT: rad_object(k, r->a, role_of(t, t->stream.text)); break;
    case RAD_STREAM_ACTION: rad_action(k, r->a, r->b, RAD_NONE, 0); break;
    case RAD_STREAM_ENABLE: rad_enable(k, r->a); break;
    case RAD_STREAM_DISABLE: rad_disable(k, r->a); break;
    case RAD_STREAM_ANNOUNCE: rad_announce(k, r->a, r->b, r->c, (enum rad_access)r->value); break;
    case RAD_STREAM_PICK: {
        uint32_t picked = rad_pick(k, (enum rad_pick_kind)r->a, r->b, r->c);
        rad__stream_put(&t->stream, &(rad_record){.what = RAD_STREAM_PICKED, .a = picked}, NULL);
        return rad__stream_send(&t->stream);
    }
    case RAD_STREAM_TOUCH: rad_touch(k, r->a, (enum rad_access)r->b); break;
    case RAD_STREAM_NOTE: rad_note(k, r->a, r->b, (uint64_t)r->value); break;
    case RAD_STREAM_YIELDS: (r->a ? rad__yields_fairly : rad_yields)(k); break;
    case RAD_STREAM_SAW:
        rad_value(k, (uint64_t)r->value);
        rad_looked(k);
        break;
    case RAD_STREAM_RACE: rad__race_take(k, r, t->stream.text); break;
    case RAD_STREAM_STATE: t->state = (uint64_t)r->value; break;
    case RAD_STREAM_WAIT: rad_wait(k, r->a, r->b, r->c); break;
    case RAD_STREAM_ENDED: rad_ended(k, r->a); break;
    case RAD_STREAM_EVALUATED: rad_evaluated(k, r->a); break;
    case RAD_STREAM_FAIL: teller_fails(t, k, r); break;
    case RAD_STREAM_STUCK: teller_stuck(t, k, r); break;
    case RAD_STREAM_CALLED: rad__object_called(k, r->a, role_of(t, t->stream.text)); break;
    case RAD_STREAM_ERROR: rad__kernel_error(k, (int)r->value, t->stream.text); break;
    default: return rad__places_take(t->places, r, t->stream.text); /* not RAD_STREAM_DONE */
    }
    return true;
}

/* The program has died, and so does this worker. */
static _Noreturn void teller_dies(teller *t)
{
    rad_os_exit how = {0, 0};
    rad__os_wait(t->process.pid, true, &how, NULL);
    rad__os_die_of(&how);
}

/* The answer of DONE. */
static uint32_t teller_does(teller *t, rad_kernel *k, rad_record what)
{
    rad_record r = {.what = 0};
    rad__stream_put(&t->stream, &what, NULL);
    bool more = rad__stream_send(&t->stream);
    while (more && rad__stream_get(&t->stream, &r) && teller_apply(t, k, &r)) {
    }
    if (r.what != RAD_STREAM_DONE && t->pid) teller_dies(t);
    if (r.what != RAD_STREAM_DONE && !t->dies)
        rad__kernel_error(k, RAD_EIO, "the process of the program died while it described a run");
    return r.a;
}

static void teller_stop(teller *t)
{
    rad__bytes_free(&t->stream.written);
    rad__tested_stop(&t->process);
}

char *rad__under_test_output(const void *self)
{
    const teller *t = self;
    char text[OUTPUT_SHOWN];
    rad__os_output(t->process.output, text, sizeof text);
    rad__text_clean(text);
    return text[0] ? rad__copy_text(text) : NULL;
}

void rad__under_test_debug(void *self, uint64_t step, uint32_t inner, const char *function)
{
    teller *t = self;
    t->debugged = t->dies = true; /* what the user does to it is no error */
    t->stop = step;
    t->inner = inner;
    snprintf(t->function, sizeof t->function, "%s", function);
}

void rad__under_test_debugged(void *self)
{
    teller *t = self;
    rad__os_close(t->process.to); /* it ends, unless it is stopped */
    t->process.to = -1;
    if (t->debugger > 0) rad__os_debugger_wait(t->debugger);
    t->debugger = 0;
}

void rad__under_test_serves(void *self, volatile int64_t *pid)
{
    ((teller *)self)->pid = pid;
}

void rad__under_test_dies(void *self)
{
    ((teller *)self)->dies = true;
}

void rad__under_test_hangs(void *self, uint64_t step, uint32_t cpu_ms)
{
    teller *t = self;
    t->dies = true;
    t->hangs_at = step;
    t->hang_ms = cpu_ms;
}

rad_blame *rad__under_test_blame(const void *self)
{
    return ((const teller *)self)->blame;
}

rad_places *rad__under_test_places(const void *self)
{
    return ((const teller *)self)->places;
}

/* The arguments of a case from a file become those of the program: a test, and values for its parameters. No other
 * words are taken from a file. */
static bool is_test_word(const char *word, bool first)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
    size_t size = strspn(word, letters);
    if (size == 0 || size > 200 || isdigit((unsigned char)word[0])) return false;
    if (first || word[size] != '=') return first && word[size] == 0;
    const char *value = word + size + 1;
    value += *value == '-';
    return *value && strlen(value) < 30 && value[strspn(value, "0123456789")] == 0;
}

static void free_words(void)
{
    for (uint32_t i = 1; under_test.named[i]; i++) rad__free(under_test.named[i]);
    memset(under_test.named, 0, sizeof under_test.named);
}

static int take_words(const char *body, rad_error *error)
{
    json_t *whole = json_loads(body, 0, NULL), *list = json_object_get(whole, "arguments");
    size_t count = json_array_size(list);
    bool good = count > 0 && count <= RAD_TEST_WORDS_MAX;
    char *path = under_test.argv[0];
    free_words();
    under_test.named[0] = path;
    for (size_t i = 0; good && i < count; i++) {
        const char *word = json_string_value(json_array_get(list, i));
        good = word && is_test_word(word, i == 0);
        if (good) under_test.named[i + 1] = rad__copy_text(word);
        good = good && under_test.named[i + 1];
    }
    json_decref(whole);
    if (!good) return rad__error(error, RAD_EINPUT, "recorded with other arguments than a test's: %.200s", body);
    return rad__under_test_again(under_test.named, error);
}

static void folders_remove(void)
{
    rad__os_scratch_remove(folders);
}

/* One for this process, in which each run has one; here and not in a child, for it is removed when we end. */
static int folders_open(rad_error *error)
{
    if (folders[0]) return 0;
    int code = rad__os_scratch_make(folders, error);
    if (code == 0) atexit(folders_remove);
    if (code != 0) folders[0] = 0;
    return code;
}

void rad__under_test_input(const char *path)
{
    under_test.input = path;
}

void rad__under_test_shown(const char *path)
{
    under_test.shown = path;
}

void rad__under_test_real_threads(bool real)
{
    under_test.real_threads = real;
}

/* The list of {"arguments":[…]}. */
static const char *list_in(const char *body, char text[200])
{
    const char *list = strchr(body, '['), *end = strrchr(body, ']');
    snprintf(text, 200, "%.*s", list && end ? (int)(end + 1 - list) : 0, list ? list : "");
    return text;
}

/* The arguments have to be those that were typed; the points are the case's. */
static int take_body(const char *body, char **points, rad_error *error)
{
    char *arguments, was[200], is[200];
    int code = rad__inserted_split(body, &arguments, points, error);
    if (code == 0 && strcmp(arguments, under_test.body) != 0 && under_test.open) code = take_words(body, error);
    if (code == 0 && strcmp(arguments, under_test.body) != 0)
        code = rad__error(error, RAD_EINPUT,
                          "recorded with the arguments %s, not %s: name the same ones after the program",
                          list_in(arguments, was), list_in(under_test.body, is));
    rad__free(arguments);
    if (code != 0) rad__free(*points);
    return code;
}

static int machine_create(void **self, const rad_machine *m, const rad_case *c, rad_error *error)
{
    (void)m;
    *self = NULL;
    if (c->params[PARAM_SCRATCH] && folders_open(error) != 0) return error->code;
    char *points = NULL;
    uint64_t count;
    int code = c->body ? take_body(c->body, &points, error) : 0;
    if (code != 0) return code;
    rad__variables(under_test.argv[0], &count); /* once: each run that starts the program is a child's */
    teller *t = rad__alloc(1, sizeof *t);
    if (t) {
        t->points = points ? points : rad__copy_text("");
        t->places = rad__places_open(under_test.argv[0]);
        t->blame = rad__blame_open();
    }
    if (t == NULL || t->places == NULL || t->blame == NULL || t->points == NULL) {
        rad__free(t ? t->points : points);
        if (t) rad__places_close(t->places);
        if (t) rad__blame_close(t->blame);
        rad__free(t);
        return rad__error_memory(error);
    }
    t->process = (rad_tested){0, -1, -1, -1};
    t->c = *c;
    t->c.body = NULL;
    *self = t;
    return 0;
}

static void machine_destroy(void *self)
{
    teller *t = self;
    teller_stop(t);
    rad__places_close(t->places);
    rad__blame_close(t->blame);
    rad__symbols_free(&t->roles);
    rad__free(t->points);
    rad__free(t);
}

/* The state of the program, for livelocks: fibers/round.c. */
static bool teller_round(void *self, bool whole, rad_digest *digest)
{
    teller *t = self;
    bool known = teller_does(t, t->kernel, (rad_record){.what = RAD_STREAM_ROUND, .a = whole}) == 1;
    *digest = (rad_digest){.low = t->state};
    return known;
}

static void machine_reset(void *self, rad_kernel *k)
{
    teller *t = self;
    t->kernel = k;
    k->round_state = teller_round;
    rad_error error = {0};
    teller_stop(t);
    rad__places_clear(t->places);
    rad__blame_clear(t->blame);
    under_test.debugged = t->debugged;
    int code = rad__tested_start(&t->process, t, -1, RAD_APART_NOT, NULL, &error);
    under_test.debugged = false;
    if (code == 0 && t->pid) *t->pid = t->process.pid;
    if (code == 0 && t->debugged)
        code = rad__os_debugger_start(&t->debugger, t->process.pid, t->inner, t->function, &error);
    if (code != 0) {
        rad__kernel_error(k, error.code, error.text);
        return;
    }
    t->stream = (rad_call_stream){.in = t->process.from, .out = t->process.to};
    teller_does(t, k, (rad_record){.what = RAD_STREAM_RESET});
}

static void machine_step(void *self, rad_kernel *k, uint32_t action)
{
    const teller *t = self;
    rad__places_step(t->places, rad_step_count(k), action);
    rad__blame_step(t->blame, rad_step_count(k), action);
    bool stops = t->debugged && rad_step_count(k) == t->stop;
    uint32_t hang_ms = rad_step_count(k) == t->hangs_at ? t->hang_ms : 0;
    teller_does(self, k, (rad_record){.what = RAD_STREAM_STEP, .a = action, .b = stops, .c = hang_ms});
}

static enum rad_end machine_idle(void *self, rad_kernel *k)
{
    return (enum rad_end)teller_does(self, k, (rad_record){.what = RAD_STREAM_IDLE});
}

static const char *machine_site(const void *self, uint32_t site)
{
    (void)self;
    return rad__site_text(site);
}

static const char *machine_kind(const void *self, uint32_t kind)
{
    (void)self;
    return kind == RAD_NOTE_TIME       ? "to % us"
           : kind == RAD_NOTE_FAULT    ? "fault: #"
           : kind == RAD_NOTE_SPURIOUS ? "wakes without a signal"
           : kind == RAD_FIBER_TICK    ? "tick"
                                       : "run";
}

static const char *machine_limits(const rad_machine *m, const rad_case *c)
{
    static char text[300];
    bool built = under_test.inserted.calls > 0;
    (void)m;
    snprintf(text, sizeof text, "%s was not interrupted halfway%s%s",
             built ? "under sequential consistency, code that raddle cc has not built" : "code between two operations",
             rad__os_calls_are_seen() ? "" : ", system calls were seen by name only",
             c->params[PARAM_CLOCK] ? "" : ", and time passed only when nothing could run");
    return text;
}

static const rad_param machine_params[] = {
    {.name = "clock", .max = 1, .about = "0 quiet: time passes when nothing can run; 1 free: at any time"},
    {.name = "memory",
     .default_value = 1024,
     .max = 1 << 30,
     .about = "MiB that a run may hold; 0: any amount",
     .fixed = true},
    {.name = "scratch", .max = 1, .about = "1: each run has an empty directory", .fixed = true},
    {.name = "closed", .max = 1, .about = "1: a send to a closed channel is a failure", .fixed = true},
    {.name = "spurious", .max = 1, .about = "1: a wait for a condition can end without a signal, twice in a run"},
    {.name = "processors",
     .default_value = RAD_PROCESSORS,
     .min = 1,
     .max = RAD_PROCESSORS_MAX,
     .about = "processors that the program sees",
     .fixed = true},
    {.name = NULL}};

static rad_machine the_machine = {
    .name = under_test.name,
    .about = "the program under test",
    .params = machine_params,
    .oracles = rad__fiber_oracles,
    .bug_site = RAD_NONE,
    .create = machine_create,
    .destroy = machine_destroy,
    .reset = machine_reset,
    .step = machine_step,
    .idle = machine_idle,
    .limits = machine_limits,
    .kind_name = machine_kind,
    .site_name = machine_site,
};

bool rad__program_is(const rad_machine *m)
{
    return m == &the_machine;
}

/* ---- Which program --------------------------------------------------------------------------------------- */

/* The last part of its path, as names of machines are: a-z first, then a-z, 0-9, - and _. */
static void name_of(const char *path, char *name)
{
    const char *slash = strrchr(path, '/');
    size_t used = 0;
    for (const char *at = slash ? slash + 1 : path; *at && used < NAME_MAX_SIZE; at++) {
        int c = tolower((unsigned char)*at);
        bool letter = c >= 'a' && c <= 'z', digit = c >= '0' && c <= '9';
        if (used == 0 && !letter) name[used++] = 'p';
        if (used < NAME_MAX_SIZE) name[used++] = letter || digit || c == '_' ? (char)c : '-';
    }
    name[used] = 0;
}

static int body_of(char *const *argv, char **body, rad_error *error)
{
    rad__json_prepare();
    json_t *list = json_array(), *whole = json_object();
    bool good = list && whole;
    for (uint32_t i = 1; good && argv[i]; i++) good = json_array_append_new(list, json_string(argv[i])) == 0;
    good = good && json_object_set(whole, "arguments", list) == 0;
    *body = good ? json_dumps(whole, JSON_COMPACT) : NULL;
    json_decref(list);
    json_decref(whole);
    if (*body) return 0;
    return rad__error(error, RAD_EINPUT, "the arguments of the program are not UTF-8");
}

int rad__under_test_again(char *const *argv, rad_error *error)
{
    char *body = NULL;
    int code = body_of(argv, &body, error);
    if (code != 0) return code;
    rad__free(under_test.body);
    under_test.body = body;
    under_test.argv = argv;
    the_machine.body = body;
    return 0;
}

void rad__under_test_open(void)
{
    under_test.open = true;
}

/* Leaves the lines of the catalog, without what they begin with. */
static void catalog_sift(char *text)
{
    static const char lead[] = RAD_CATALOG_LEAD;
    char *to = text;
    for (char *line = text, *next; *line; line = next) {
        next = line + strcspn(line, "\n");
        next += *next != 0;
        if (strncmp(line, lead, sizeof lead - 1) != 0) continue;
        size_t size = (size_t)(next - line) - (sizeof lead - 1);
        memmove(to, line + sizeof lead - 1, size);
        to += size;
    }
    *to = 0;
}

int rad__under_test_catalog(char **text, rad_error *error)
{
    int pid = 0, output = -1;
    rad_os_exit how = {.status = 0};
    *text = NULL;
    char *memory = rad__alloc(1, CATALOG_MAX);
    char *const argv[] = {under_test.argv[0], NULL};
    rad_os_start start = {.path = argv[0],
                          .argv = argv,
                          .preload = under_test.library,
                          .variable = RAD_UNDER_TEST,
                          .mode = "c",
                          .given = {-1, -1, -1}};
    if (memory == NULL) return rad__error_memory(error);
    int code = rad__os_start(&pid, &output, &start, error);
    for (uint32_t i = 0; code == 0 && i < CATALOG_TICKS; i++) {
        bool never = false;
        if (rad__os_wait(pid, false, &how, error) != 0) break;
        rad__os_poll(NULL, 0, 1 + i % 10, &never, NULL);
        if (i + 1 < CATALOG_TICKS) continue;
        rad__os_kill(pid, NULL);
        rad__os_wait(pid, true, &how, NULL);
    }
    if (code == 0) rad__os_output(output, memory, CATALOG_MAX);
    rad__os_close(output);
    size_t size = strlen(memory);
    if (code == 0 && strstr(memory, RAD_CATALOG_LEAD "end\n") != NULL) {
        catalog_sift(memory);
        *text = memory;
        return 0;
    }
    memory[size < 200 ? size : 200] = 0;
    rad__text_clean(memory);
    rad__text_plain(memory);
    if (code == 0)
        code = rad__error(error, RAD_EINPUT, "'%.200s' did not say which tests it has%s%.200s", under_test.argv[0],
                          *memory ? ": " : "", memory);
    rad__free(memory);
    return code;
}

int rad__under_test_set(char *const *argv, const char *library, rad_error *error)
{
    RAD_ASSERT(under_test.argv == NULL);
    name_of(argv[0], under_test.name);
    int code = body_of(argv, &under_test.body, error);
    if (code != 0) return code;
    under_test.argv = argv;
    under_test.library = library;
    the_machine.body = under_test.body;
    code = rad_machine_add(&the_machine, error);
    if (code == 0) rad__program_set_file(argv[0], library, &the_machine);
    return code;
}
