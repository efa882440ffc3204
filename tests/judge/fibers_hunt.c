/* fibers_hunt.c — children that run programs, and a parent that judges how they ended. */
#include "fibers_hunt.h"

#include "fibers_generate.h"
#include "fibers_run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    PROCESSES_MOST = 8,
    RESULTS_COUNTED = 4096,
    STATUS_WRONG = 77,
    STATUS_DEADLOCK = 124,
    CPU_SECONDS = 30,     /* of one program */
    IDLE_SECONDS = 300,   /* without an end of any run */
    RUNS_IF_FATAL = 2,    /* a run that may end its process costs a process */
    FATAL_ENDS_MOST = 60, /* of one program that is made smaller */
    SHRINK_STATES = 200000
};

/* What a child does, and how far it is: in memory that it shares with its parent. */
typedef struct desk {
    uint64_t program;          /* number; its seed is the first one's + this */
    uint32_t number;           /* of the run: workers and repetition */
    uint32_t beat;             /* grows */
    bool is_running, is_known; /* known: it was counted */
    fibers_result now;
    uint8_t reached[RESULTS_COUNTED];
    fibers_hunted sum;
} desk;

typedef struct job {
    const fibers_hunt_options *options;
    const fibers_program *only; /* NULL: random ones */
    uint32_t index;             /* of the child */
    desk *desk;
    pid_t pid;
    fibers_program program;
    fibers_set set;
} job;

/* ---- The child ------------------------------------------------------------------------------------------------- */

static void run_begins(void *context, uint32_t number)
{
    job *j = context;
    (void)number;
    j->desk->beat++;
    j->desk->is_running = true;
}

static void count_result(job *j, const fibers_result *r, int64_t at)
{
    fibers_hunted *sum = &j->desk->sum;
    sum->runs++;
    if (at < RESULTS_COUNTED && !j->desk->reached[at]) {
        j->desk->reached[at] = 1;
        sum->reached++;
    }
    for (uint32_t f = 0; f < FIBERS_MOST; f++)
        for (uint32_t i = 0; i < r->counts[f]; i++) {
            const fibers_fiber *fiber = &j->program.fibers[f];
            uint8_t kind = i < fiber->op_count ? fiber->ops[i].kind : FIBERS_NURSERY_WAIT;
            sum->observed[kind][fibers_code_index(r->log[f][i].code)]++;
        }
}

static bool run_ended(void *context, uint32_t number)
{
    job *j = context;
    (void)number;
    int64_t at = fibers_set_find(&j->set, &j->desk->now);
    if (at < 0) return false;
    count_result(j, &j->desk->now, at);
    j->desk->number++;
    j->desk->is_running = false;
    return true;
}

static void limit_cpu(void)
{
    struct itimerval limit = {.it_value = {.tv_sec = CPU_SECONDS}};
    setitimer(ITIMER_PROF, &limit, NULL);
}

static uint32_t runs_of(const job *j)
{
    bool fatal = j->set.seen[FIBERS_SEEN_DEADLOCKS] || j->set.seen[FIBERS_SEEN_ABORTS];
    uint32_t runs = j->options->runs, most = j->options->in_turn ? 1 : RUNS_IF_FATAL;
    return fatal && j->only == NULL && runs > most ? most : runs;
}

/* From the run at the desk on. False: a result was wrong. */
static bool run_program(job *j)
{
    const fibers_hunt_options *o = j->options;
    desk *d = j->desk;
    uint32_t runs = runs_of(j), all = runs * (o->in_turn ? 1 : o->worker_count);
    while (d->number < all) {
        uint32_t turn = o->in_turn ? (uint32_t)(d->program % o->worker_count) : d->number / runs;
        fibers_run_options run = {.workers = o->workers[turn],
                                  .first = d->number,
                                  .count = j->program.limit ? 1 : runs - d->number % runs,
                                  .seed = o->seed + d->program,
                                  .begins = run_begins,
                                  .ended = run_ended,
                                  .context = j};
        uint32_t before = d->number;
        limit_cpu();
        fibers_run(&j->program, &run, &d->now);
        if (d->is_running || d->number == before) return false;
    }
    return true;
}

static void count_program(job *j)
{
    fibers_hunted *sum = &j->desk->sum;
    sum->programs++;
    sum->states += j->set.states;
    sum->possible += j->set.count;
    for (uint32_t i = 0; i < FIBERS_SEEN_COUNT; i++) sum->seen[i] += j->set.seen[i];
    for (uint32_t k = 0; k < FIBERS_OP_KINDS; k++)
        for (uint32_t c = 0; c < FIBERS_CODES; c++) sum->codes[k][c] += j->set.codes[k][c];
}

static void prepare(job *j)
{
    uint32_t most = j->only ? SHRINK_STATES : j->options->most_states;
    if (j->only)
        j->program = *j->only;
    else
        fibers_generate(j->options->seed + j->desk->program, &j->program);
    fibers_enumerate_parallel(&j->program, most, &j->set);
}

static int child(job *j)
{
    desk *d = j->desk;
    uint64_t programs = j->only ? 1 : j->options->programs;
    for (; d->program < programs; d->program += j->only ? 1 : j->options->processes) {
        prepare(j);
        if (!d->is_known) {
            d->is_known = true;
            memset(d->reached, 0, sizeof d->reached);
            if (j->set.is_whole)
                count_program(j);
            else
                d->sum.too_large++;
        }
        if (j->set.is_whole && !run_program(j)) return STATUS_WRONG;
        fibers_set_free(&j->set);
        d->is_known = false;
        d->number = 0;
    }
    return 0;
}

static void start(job *j)
{
    fflush(stdout);
    fflush(stderr);
    j->desk->is_running = false;
    j->pid = fork();
    if (j->pid != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* no child outlives the test */
    int quiet = open("/dev/null", O_WRONLY);
    if (getenv("RADDLE_JUDGE_LOUD") == NULL) dup2(quiet, STDERR_FILENO);
    _exit(child(j));
}

/* ---- The parent ------------------------------------------------------------------------------------------------ */

enum verdict { FINISHED, GOES_ON, WRONG };

static uint8_t end_of(int status)
{
    if (WIFEXITED(status) && WEXITSTATUS(status) == STATUS_DEADLOCK) return FIBERS_DEADLOCK;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) return FIBERS_ABORTED;
    if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGPROF || WTERMSIG(status) == SIGKILL)) return FIBERS_HANGS;
    return FIBERS_CRASHED;
}

/* The process has ended, as a deadlock or a mistake does: was that one of the results? */
static enum verdict judge(job *j, int status)
{
    desk *d = j->desk;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return FINISHED;
    if (WIFEXITED(status) && WEXITSTATUS(status) == STATUS_WRONG) return WRONG;
    d->now.end = end_of(status);
    d->now.answer = 0;
    if (!d->is_running) return WRONG;
    prepare(j);
    int64_t at = fibers_set_find(&j->set, &d->now);
    if (at >= 0) {
        count_result(j, &d->now, at);
        d->sum.deadlocks += d->now.end == FIBERS_DEADLOCK;
        d->sum.aborts += d->now.end == FIBERS_ABORTED;
        d->number++;
    }
    fibers_set_free(&j->set);
    return at >= 0 ? GOES_ON : WRONG;
}

static void nap(void)
{
    struct timespec t = {0, 1000000};
    nanosleep(&t, NULL);
}

static time_t idle_seconds(void)
{
    const char *text = getenv("RADDLE_JUDGE_IDLE");
    return text ? (time_t)strtol(text, NULL, 10) : IDLE_SECONDS;
}

/* Waits for one of them to end; ends one that has done nothing for a long time. */
static job *await(job *jobs, uint32_t count, int *status)
{
    uint32_t beats[PROCESSES_MOST] = {0};
    time_t since[PROCESSES_MOST];
    for (uint32_t i = 0; i < count; i++) since[i] = time(NULL);
    for (;; nap()) {
        for (uint32_t i = 0; i < count; i++) {
            job *j = &jobs[i];
            if (j->pid <= 0) continue;
            if (waitpid(j->pid, status, WNOHANG) == j->pid) return j;
            if (j->desk->beat != beats[i]) {
                beats[i] = j->desk->beat;
                since[i] = time(NULL);
            } else if (time(NULL) - since[i] > idle_seconds()) {
                kill(j->pid, SIGKILL);
            }
        }
    }
}

static void end_all(job *jobs, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (jobs[i].pid <= 0) continue;
        kill(jobs[i].pid, SIGKILL);
        waitpid(jobs[i].pid, NULL, 0);
    }
}

/* The child with a wrong result, or NULL. */
static job *run_jobs(job *jobs, uint32_t count)
{
    uint32_t left = count, fatal = 0;
    int status;
    for (uint32_t i = 0; i < count; i++) start(&jobs[i]);
    while (left > 0) {
        job *j = await(jobs, count, &status);
        j->pid = 0;
        enum verdict verdict = judge(j, status);
        if (verdict == WRONG) {
            end_all(jobs, count);
            return j;
        }
        if (verdict == GOES_ON && (j->only == NULL || ++fatal < FATAL_ENDS_MOST))
            start(j);
        else
            left--;
    }
    return NULL;
}

static desk *open_desks(uint32_t count)
{
    void *desks = mmap(NULL, count * sizeof(desk), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return desks == MAP_FAILED ? NULL : desks;
}

static void add(fibers_hunted *sum, const fibers_hunted *more)
{
    sum->programs += more->programs;
    sum->too_large += more->too_large;
    sum->states += more->states;
    sum->runs += more->runs;
    sum->possible += more->possible;
    sum->reached += more->reached;
    sum->deadlocks += more->deadlocks;
    sum->aborts += more->aborts;
    for (uint32_t i = 0; i < FIBERS_SEEN_COUNT; i++) sum->seen[i] += more->seen[i];
    for (uint32_t k = 0; k < FIBERS_OP_KINDS; k++)
        for (uint32_t c = 0; c < FIBERS_CODES; c++) {
            sum->codes[k][c] += more->codes[k][c];
            sum->observed[k][c] += more->observed[k][c];
        }
}

/* ---- One program, and smaller ones ----------------------------------------------------------------------------- */

bool fibers_try(const fibers_program *p, uint32_t runs, uint64_t seed, fibers_result *wrong)
{
    fibers_hunt_options o = {.seed = seed, .workers = {1, 2, 4}, .worker_count = 3, .runs = runs, .processes = 1};
    job j = {.options = &o, .only = p, .desk = open_desks(1)};
    bool is_right = j.desk != NULL && run_jobs(&j, 1) == NULL;
    if (!is_right) *wrong = j.desk->now;
    munmap(j.desk, sizeof(desk));
    return is_right;
}

void fibers_shrink(fibers_program *p, uint32_t runs, uint64_t seed, fibers_result *wrong)
{
    for (uint32_t f = 0, i = 0; f < p->fiber_count;) {
        fibers_program smaller = *p;
        fibers_result result;
        if (fibers_delete_op(&smaller, f, i) && !fibers_try(&smaller, runs, seed, &result)) {
            *p = smaller;
            *wrong = result;
            f = i = 0;
        } else if (++i >= p->fibers[f].op_count) {
            f++;
            i = 0;
        }
    }
}

static void report(const job *j)
{
    fibers_program p = j->program;
    fibers_result wrong = j->desk->now, again;
    uint64_t seed = j->options->seed + j->desk->program;
    uint32_t runs = 50;
    fprintf(stderr, "wrong result of program %llu, run %u of %u:\n", (unsigned long long)seed, j->desk->number,
            j->options->runs);
    fibers_program_print(stderr, &p);
    fibers_result_print(stderr, &p, &wrong);
    while (runs < 20000 && fibers_try(&p, runs, seed, &again)) runs *= 4;
    if (runs >= 20000) {
        fputs("did not happen again: not made smaller\n", stderr);
        return;
    }
    fibers_shrink(&p, 2 * runs, seed, &again);
    fprintf(stderr, "the smallest program with a wrong result (tried %u times with 1, 2 and 4 workers):\n", 2 * runs);
    fibers_program_print(stderr, &p);
    fibers_result_print(stderr, &p, &again);
}

/* ---- All of them ----------------------------------------------------------------------------------------------- */

bool fibers_hunt(const fibers_hunt_options *o, fibers_hunted *sum)
{
    static job jobs[PROCESSES_MOST];
    desk *desks = open_desks(o->processes);
    memset(sum, 0, sizeof *sum);
    if (desks == NULL) return false;
    for (uint32_t i = 0; i < o->processes; i++) {
        jobs[i] = (job){.options = o, .index = i, .desk = &desks[i]};
        desks[i].program = i;
    }
    job *wrong = run_jobs(jobs, o->processes);
    for (uint32_t i = 0; i < o->processes; i++) add(sum, &desks[i].sum);
    if (wrong != NULL) {
        fibers_generate(o->seed + wrong->desk->program, &wrong->program);
        report(wrong);
    }
    munmap(desks, o->processes * sizeof(desk));
    return wrong == NULL;
}
