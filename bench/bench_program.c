/* bench_program.c — what a program under test costs: two fibers × 10 operations (tests/programs/ten.c), by the command,
 * in turns with the bare kernel at as many steps, and a process for each run beside fork and wait of the same image;
 * and the same of programs with threads (rates.c, rates.cpp).
 *
 * CPU time of all processes that the command starts, also of those that it leaves behind when it kills their parent:
 * they become this process's children. */
#define _GNU_SOURCE
#include "bench.h"

#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BARE_STEPS = 32, WORDS = 16, OUTPUT = 1 << 14 };

typedef struct place {
    char raddle[512], ten[512], rates[512], rates_cxx[512], forks[64];
} place;

static bool place_find(place *p, const char *self)
{
    const char *slash = strrchr(self, '/');
    int size = slash ? (int)(slash - self) : 1;
    snprintf(p->raddle, sizeof p->raddle, "%.*s/../raddle", size, slash ? self : ".");
    snprintf(p->ten, sizeof p->ten, "%.*s/ten", size, slash ? self : ".");
    snprintf(p->rates, sizeof p->rates, "%.*s/rates", size, slash ? self : ".");
    snprintf(p->rates_cxx, sizeof p->rates_cxx, "%.*s/rates_cxx", size, slash ? self : ".");
    snprintf(p->forks, sizeof p->forks, "/tmp/bench_program.%d", (int)getpid());
    return access(p->raddle, X_OK) == 0 && access(p->ten, X_OK) == 0;
}

static double cpu_of(const struct rusage *u)
{
    return (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) +
           (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) * 1e-6;
}

/* Seconds of CPU time; *steps of all runs, as the command says. Negative: it failed. */
static double command_cpu(const char *const *words, double *steps)
{
    char text[OUTPUT];
    size_t used = 0;
    int ends[2], status, bad = 0;
    double sum = 0;
    struct rusage u;
    if (pipe(ends) != 0) return -1;
    pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execv(words[0], (char *const *)(const void *)words);
        _exit(127);
    }
    close(ends[1]);
    for (ssize_t got = 1; got > 0; used += got > 0 ? (size_t)got : 0)
        got = read(ends[0], text + used, sizeof text - 1 - used);
    close(ends[0]);
    text[used] = 0;
    for (pid_t ended; (ended = wait4(-1, &status, 0, &u)) > 0; sum += cpu_of(&u)) bad |= ended == pid && status != 0;
    const char *at = strstr(text, "  runs       ");
    double numbers[2] = {0, 0};
    for (int i = 0; at && i < 2; i++) {
        at += strcspn(at, "0123456789");
        for (; strspn(at, "0123456789,") > 0; at++)
            if (*at != ',') numbers[i] = numbers[i] * 10 + (*at - '0');
    }
    *steps = numbers[1];
    return pid < 0 || bad || numbers[1] < 1 ? -1 : sum;
}

/* CPU µs of a run, its steps. */
static double run_cost(const place *p, const char *runs, bool apart, const char *target, const char *name,
                       double *steps)
{
    const char *words[WORDS] = {p->raddle, "explore", "--strategy", "random", "-j", "1", "--runs", runs};
    uint32_t count = 8;
    if (target == NULL) { /* the bare kernel */
        words[count++] = "inc";
        words[count++] = "k=16";
    } else {
        words[count++] = "--clock";
        words[count++] = "quiet";
        words[count++] = "--spurious";
        words[count++] = "no";
        if (apart) words[count++] = "--apart";
        words[count++] = target;
        words[count++] = name;
    }
    double cpu = command_cpu(words, steps);
    *steps /= strtod(runs, NULL);
    return cpu < 0 ? -1 : cpu * 1e6 / strtod(runs, NULL);
}

/* CPU µs of fork and wait in a process of the program, at its first decision. */
static double fork_cost(const place *p, const char *target, const char *name, const char *count)
{
    const char *words[WORDS] = {p->raddle, "explore", "--runs",     "1",  "--apart",
                                "--clock", "quiet",   "--spurious", "no", target};
    uint32_t used = 10;
    if (name != NULL) words[used++] = name;
    words[used++] = "fork";
    words[used++] = count;
    words[used++] = p->forks;
    double steps, sum = 0;
    char line[64];
    uint32_t lines = 0;
    setenv("RADDLE_GATE", "no", 1); /* it asks the system itself to fork, which is refused otherwise */
    double cpu = command_cpu(words, &steps);
    unsetenv("RADDLE_GATE");
    FILE *f = fopen(p->forks, "r");
    while (f && fgets(line, sizeof line, f)) {
        sum += strtod(line, NULL) * 1e-3;
        lines++;
    }
    if (f) fclose(f);
    unlink(p->forks);
    return cpu < 0 || lines == 0 ? -1 : sum / lines;
}

enum { BARE, HERE, ABOVE, APART, FORK, SHARE, ROWS };

static const struct {
    const char *what, *unit;
} rows[ROWS] = {{"bare kernel, 32 steps", "CPU us/run"},
                {"two fibers x 10 operations, in process", "CPU us/run"},
                {"… above the bare kernel at equal steps", "ns/step"},
                {"… a process for each run (--apart)", "CPU us/run"},
                {"fork and wait of the same image", "CPU us"},
                {"fork and wait / a run with --apart", "%"}};

static bool sample(const bench *b, const place *p, double into[ROWS])
{
    double bare_steps, steps, apart_steps;
    into[BARE] = run_cost(p, b->tiny ? "200" : "400000", false, NULL, NULL, &bare_steps);
    into[HERE] = run_cost(p, b->tiny ? "200" : "400000", false, p->ten, NULL, &steps);
    into[APART] = run_cost(p, b->tiny ? "20" : "3000", true, p->ten, NULL, &apart_steps);
    into[FORK] = fork_cost(p, p->ten, NULL, b->tiny ? "10" : "1000");
    for (uint32_t i = 0; i < ROWS; i++)
        if (i != ABOVE && i != SHARE && into[i] < 0) return false;
    into[ABOVE] = (into[HERE] / steps - into[BARE] / bare_steps) * 1e3;
    into[SHARE] = 100 * into[FORK] / into[APART];
    return bare_steps >= BARE_STEPS;
}

/* ---- Threads ------------------------------------------------------------------------------------------ */

enum { T_HERE, T_APART, T_FORK, T_FASTER, T_SHARE, T_ROWS };

static const char *const thread_rows[T_ROWS] = {"in process", "--apart", "fork and wait of the same image",
                                                "fork and wait / a run in process",
                                                "fork and wait / a run with --apart"};
static const char *const thread_units[T_ROWS] = {"CPU us/run", "CPU us/run", "CPU us", "times", "%"};

static const struct {
    const char *name, *runs, *apart, *forks;
} programs[] = {{"abba", "30000", "1000", "1000"},
                {"pool", "10000", "1000", "1000"},
                {"cxx", "10000", "1000", "1000"},
                {"big", "30000", "500", "500"}};

static bool sample_threads(const bench *b, const place *p, uint32_t i, double into[T_ROWS])
{
    bool is_cxx = strcmp(programs[i].name, "cxx") == 0;
    const char *target = is_cxx ? p->rates_cxx : p->rates, *name = programs[i].name;
    double steps;
    into[T_HERE] = run_cost(p, b->tiny ? "100" : programs[i].runs, false, target, name, &steps);
    into[T_APART] = run_cost(p, b->tiny ? "5" : programs[i].apart, true, target, name, &steps);
    into[T_FORK] = fork_cost(p, target, name, b->tiny ? "2" : programs[i].forks);
    into[T_FASTER] = into[T_FORK] / into[T_HERE];
    into[T_SHARE] = 100 * into[T_FORK] / into[T_APART];
    return into[T_HERE] > 0 && into[T_APART] > 0 && into[T_FORK] > 0;
}

static bool measure_threads(bench *b, const place *p, uint32_t i)
{
    double samples[T_ROWS][BENCH_SAMPLES], one[T_ROWS];
    char what[96];
    for (uint32_t k = 0; k < bench_samples(b); k++) {
        if (!sample_threads(b, p, i, one)) return false;
        for (uint32_t row = 0; row < T_ROWS; row++) samples[row][k] = one[row];
    }
    for (uint32_t row = 0; row < T_ROWS; row++) {
        snprintf(what, sizeof what, "threads, %s: %s", programs[i].name, thread_rows[row]);
        bench_row(b, what, thread_units[row], samples[row], bench_samples(b));
    }
    return true;
}

/* What 50 rounds cost more than one. */
static bool measure_step(bench *b, const place *p)
{
    double samples[BENCH_SAMPLES], few, many, least, most;
    for (uint32_t k = 0; k < bench_samples(b); k++) {
        least = run_cost(p, b->tiny ? "100" : "30000", false, p->rates, "abba", &few);
        most = run_cost(p, b->tiny ? "100" : "5000", false, p->rates, "long", &many);
        if (least < 0 || most < 0 || many <= few) return false;
        samples[k] = (most - least) / (many - few) * 1e3;
    }
    bench_row(b, "threads: a step more", "ns", samples, bench_samples(b));
    return true;
}

static bool measure_programs(bench *b, const place *p)
{
    bool ok = true;
    for (uint32_t i = 0; i < sizeof programs / sizeof *programs && ok; i++)
        if (strcmp(programs[i].name, "cxx") != 0 || access(p->rates_cxx, X_OK) == 0) ok = measure_threads(b, p, i);
    return ok && measure_step(b, p);
}

int main(int argc, char **argv)
{
    bench b;
    place p;
    double samples[ROWS][BENCH_SAMPLES], one[ROWS];
    bool ok = true;
    if (!bench_open(&b, "program", argc, argv)) return 2;
    if (!place_find(&p, argv[0])) {
        printf("  no raddle for programs under test beside this bench: nothing is measured\n");
        return bench_close(&b);
    }
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    for (uint32_t i = 0; i < bench_samples(&b) && ok; i++) {
        ok = sample(&b, &p, one);
        for (uint32_t row = 0; row < ROWS; row++) samples[row][i] = one[row];
    }
    for (uint32_t row = 0; row < ROWS && ok; row++)
        bench_row(&b, rows[row].what, rows[row].unit, samples[row], bench_samples(&b));
    ok = ok && measure_programs(&b, &p);
    int status = bench_close(&b);
    if (!ok) fprintf(stderr, "bench_program: the command failed\n");
    return ok ? status : 3;
}
