/* cpu_limit SECONDS FILE COMMAND... runs a command and stops it, with everything it started, in two cases: together
 * they have used more than SECONDS of CPU, or they have used next to none for 300 seconds (CPU_LIMIT_QUIET). A busy
 * machine changes neither. FILE gets one line: the CPU seconds used, then the reason if the command was stopped.
 *
 * The exit status is that of the command, 128 + N if signal N ended it, 124 if it was stopped. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* CPU seconds in QUIET seconds. A hung program may still look at its clock: with fibers that wait for ever, for which a
 * monitor looks, 6 seconds in 554. */
static const double next_to_none = 5.0;

struct process {
    pid_t pid, parent;
    double cpu; /* its own, and that of children it has waited for */
    bool ours;
};
struct table {
    struct process *rows;
    size_t count, room;
};

static bool read_process(const char *pid, struct process *process)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    FILE *file = fopen(path, "r");
    if (!file) return false; /* it has ended since */
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
    const char *after_name = strrchr(text, ')');
    unsigned long user, system;
    long waited_user, waited_system;
    int parent;
    if (!after_name || sscanf(after_name + 2, "%*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %ld %ld", &parent,
                              &user, &system, &waited_user, &waited_system) != 5)
        return false;
    double ticks = (double)(user + system) + (double)(waited_user + waited_system);
    *process = (struct process){
        .pid = (pid_t)strtol(pid, NULL, 10), .parent = parent, .cpu = ticks / (double)sysconf(_SC_CLK_TCK)};
    return true;
}

static void read_table(struct table *table)
{
    DIR *proc = opendir("/proc");
    table->count = 0;
    for (struct dirent *entry; proc && (entry = readdir(proc));) {
        if (entry->d_name[0] < '1' || entry->d_name[0] > '9') continue;
        if (table->count == table->room) {
            table->room = table->room ? 2 * table->room : 256;
            table->rows = realloc(table->rows, table->room * sizeof *table->rows);
            if (!table->rows) abort();
        }
        table->count += read_process(entry->d_name, &table->rows[table->count]);
    }
    if (proc) closedir(proc);
}

/* Marks our descendants. This program is their subreaper: an orphan becomes its child, so none gets away. */
static void mark_ours(struct table *table)
{
    for (bool grown = true; grown;) {
        grown = false;
        for (size_t i = 0; i < table->count; i++) {
            struct process *child = &table->rows[i];
            bool ours = child->parent == getpid();
            for (size_t k = 0; k < table->count && !ours && !child->ours; k++)
                ours = table->rows[k].ours && table->rows[k].pid == child->parent;
            grown |= ours && !child->ours;
            child->ours |= ours;
        }
    }
}

static double waited_cpu(void)
{
    struct rusage used;
    getrusage(RUSAGE_CHILDREN, &used);
    double microseconds = (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + microseconds / 1e6;
}

static double cpu_used(struct table *table)
{
    double sum = waited_cpu();
    read_table(table);
    mark_ours(table);
    for (size_t i = 0; i < table->count; i++) sum += table->rows[i].ours ? table->rows[i].cpu : 0;
    return sum;
}

static void end_all(struct table *table)
{
    while (waitpid(-1, NULL, WNOHANG) >= 0) { /* until there are no children: an error */
        read_table(table);
        mark_ours(table);
        for (size_t i = 0; i < table->count; i++)
            if (table->rows[i].ours) kill(table->rows[i].pid, SIGKILL);
        usleep(1000);
    }
}

/* Seconds between two looks at /proc: a look every half second took 3 % of what the tests take. */
static double look_every(double limit)
{
    double seconds = limit / 20;
    return seconds > 5 ? 5 : seconds < 0.02 ? 0.02 : seconds;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static pid_t start(char **command, const sigset_t *signals)
{
    pid_t child = fork();
    if (child) return child;
    setpgid(0, 0);
    for (int i = 1; i < NSIG; i++) signal(i, SIG_DFL); /* also under nohup, or in the background of a shell */
    sigprocmask(SIG_UNBLOCK, signals, NULL);
    execvp(command[0], command);
    fprintf(stderr, "cpu_limit: %s: %s\n", command[0], strerror(errno));
    _exit(127);
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: cpu_limit SECONDS FILE COMMAND...\n");
        return 2;
    }
    const char *patience = getenv("CPU_LIMIT_QUIET");
    double limit = strtod(argv[1], NULL), quiet = patience ? strtod(patience, NULL) : 300;
    const double every = look_every(limit);
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_t child = start(argv + 3, &signals);
    if (child < 0) {
        perror("cpu_limit: fork");
        return 3;
    }
    struct table table = {0};
    char why[100] = "";
    int status = 0, signal_number = 0;
    double progress_at = now(), progress_cpu = 0, looked_at = progress_at;
    for (bool ended = false; !ended && !why[0];) {
        struct timespec look = {.tv_sec = (time_t)every};
        look.tv_nsec = (long)((every - (double)look.tv_sec) * 1e9);
        signal_number = sigtimedwait(&signals, NULL, &look);
        for (pid_t pid; !ended && (pid = waitpid(-1, &status, WNOHANG)) > 0;) ended = pid == child;
        /* Orphans of some tests end here by the hundred: no look for each. */
        if (ended || (signal_number == SIGCHLD && now() - looked_at < every)) continue;
        looked_at = now();
        double used = cpu_used(&table);
        if (used > progress_cpu + next_to_none) progress_at = now(), progress_cpu = used;
        if (used > limit)
            snprintf(why, sizeof why, "used more than %g s of CPU", limit);
        else if (now() - progress_at > quiet)
            snprintf(why, sizeof why, "made no progress: at most %g s of CPU in %g s", next_to_none, quiet);
        else if (signal_number > 0 && signal_number != SIGCHLD)
            snprintf(why, sizeof why, "stopped by signal %d", signal_number);
    }
    end_all(&table);
    free(table.rows);
    FILE *report = fopen(argv[2], "w");
    if (!report || fprintf(report, "%.2f %s\n", waited_cpu(), why) < 0 || fclose(report)) {
        perror(argv[2]);
        return 3;
    }
    if (why[0]) return 124;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
