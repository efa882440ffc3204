/* fibers_explored.c — starts `raddle explore tests/fibers_guest`, and looks through the results that its runs left. */
#include "fibers_explored.h"

#include "fibers_shared.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ORDERED_MOST = 3, OUTPUT_MOST = 1 << 20, CPU_SECONDS = 600 };

/* ---- The folder, and the file that is shared ------------------------------------------------------------------- */

static void path_in(const fibers_explorer *e, const char *name, char path[64])
{
    snprintf(path, 64, "%s/%s", e->room, name);
}

bool fibers_explorer_open(fibers_explorer *e)
{
    char self[3000], library[4000], path[64];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    *e = (fibers_explorer){.loud = getenv("RADDLE_JUDGE_LOUD") != NULL};
    if (length < 0) return false;
    self[length] = 0;
    const char *build = dirname(dirname(self));
    snprintf(e->raddle, sizeof e->raddle, "%s/raddle", build);
    snprintf(e->guest, sizeof e->guest, "%s/tests/fibers_guest", build);
    snprintf(library, sizeof library, "%s/src/lab/programs/fibers/libraddle.so.0", build);
    if (access(e->raddle, X_OK) != 0 || access(e->guest, X_OK) != 0 || access(library, R_OK) != 0) return false;
    snprintf(e->room, sizeof e->room, "/tmp/raddle-judge-XXXXXX");
    if (mkdtemp(e->room) == NULL) return false;
    path_in(e, "results", path);
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || ftruncate(file, sizeof(fibers_shared)) != 0) return false;
    e->shared = mmap(NULL, sizeof(fibers_shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return e->shared != MAP_FAILED && setenv(FIBERS_SHARED_FILE, path, 1) == 0;
}

static void remove_in(const fibers_explorer *e, const char *name)
{
    char path[64];
    path_in(e, name, path);
    unlink(path);
}

void fibers_explorer_close(fibers_explorer *e)
{
    char command[64];
    munmap(e->shared, sizeof(fibers_shared));
    remove_in(e, "results");
    remove_in(e, "out");
    remove_in(e, "err");
    snprintf(command, sizeof command, "rm -rf %s", e->room); /* artifacts */
    if (system(command) != 0) fprintf(stderr, "%s is left\n", e->room);
}

/* ---- One exploration ------------------------------------------------------------------------------------------- */

static void become_raddle(const fibers_explorer *e, const char *strategy, uint32_t runs, bool free)
{
    char path[64], count[16];
    const char *words[16] = {e->raddle, "explore", "--json",     "--no-shrink", "--output", e->room,
                             "--runs",  count,     "--strategy", strategy,      "--clock",  free ? "free" : "quiet",
                             e->guest,  NULL};
    snprintf(count, sizeof count, "%u", runs);
    path_in(e, "out", path);
    dup2(open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
    path_in(e, "err", path);
    if (!e->loud) dup2(open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
    execv(e->raddle, (char *const *)words);
    _exit(127);
}

static int run_raddle(const fibers_explorer *e, const char *strategy, uint32_t runs, bool free)
{
    int status = 0;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) become_raddle(e, strategy, runs, free);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static const char *read_file(const fibers_explorer *e, const char *name)
{
    static char text[OUTPUT_MOST];
    char path[64];
    path_in(e, name, path);
    FILE *in = fopen(path, "r");
    size_t length = in ? fread(text, 1, sizeof text - 1, in) : 0;
    if (in) fclose(in);
    text[length] = 0;
    return text;
}

/* The first number with this name. */
static uint32_t number_in(const char *json, const char *name)
{
    const char *at = strstr(json, name);
    return at ? (uint32_t)strtoul(at + strlen(name), NULL, 10) : UINT32_MAX;
}

static bool begins_with(const char *text, const char *begin)
{
    return strncmp(text, begin, strlen(begin)) == 0;
}

/* Programs end well, in a deadlock, or by a mistake; and every run ends. */
static void look_for_strange(const char *json, const fibers_set *set, fibers_explored *out)
{
    static const char name[] = "\"identity\": \"";
    for (const char *at = json; (at = strstr(at, name)) != NULL;) {
        at += sizeof name - 1;
        bool stuck = begins_with(at, "deadlock") || begins_with(at, "leak") || begins_with(at, "partial-deadlock");
        bool deadlock = stuck && set->seen[FIBERS_SEEN_DEADLOCKS];
        bool mistake = begins_with(at, "misuse:") && set->seen[FIBERS_SEEN_ABORTS];
        if (!deadlock && !mistake) snprintf(out->strange, sizeof out->strange, "%.*s", (int)strcspn(at, "\""), at);
    }
    if (number_in(json, "\"cut\": ") != 0) snprintf(out->strange, sizeof out->strange, "cut runs");
}

/* At a mistake, one that was woken may not have logged what it got. */
static int64_t find(const fibers_set *set, const fibers_result *r)
{
    for (uint32_t i = 0; i < set->count; i++)
        if (memcmp(&set->results[i], r, sizeof *r) == 0) return i;
    return fibers_set_find(set, r);
}

static void reach(fibers_explored *out, uint32_t at)
{
    if (!out->was_reached[at]) out->reached++;
    out->was_reached[at] = 1;
}

/* A run ends when fibers have no hope, although others could continue: what they would have done is not known. */
static bool reach_cut(const fibers_set *set, const fibers_result *r, fibers_explored *out)
{
    bool any = false;
    for (uint32_t i = 0; i < set->count && r->end == FIBERS_DEADLOCK; i++) {
        if (!fibers_is_cut_from(r, &set->results[i])) continue;
        reach(out, i);
        any = true;
    }
    return any;
}

static void look_at_results(fibers_explorer *e, const fibers_set *set, fibers_explored *out)
{
    uint32_t count = e->shared->count < FIBERS_SHARED_ROOM ? e->shared->count : FIBERS_SHARED_ROOM;
    const fibers_result *last = NULL;
    for (uint32_t i = 0; i < count && out->is_right; i++) {
        const fibers_result *r = &e->shared->results[i];
        if (last && memcmp(last, r, sizeof *r) == 0) continue;
        last = r;
        int64_t at = find(set, r);
        if (at >= 0)
            reach(out, (uint32_t)at);
        else
            out->is_right = reach_cut(set, r, out);
        if (!out->is_right) out->wrong = *r;
    }
}

static void explore_once(fibers_explorer *e, const fibers_set *set, const char *strategy, uint32_t runs, bool free,
                         fibers_explored *out)
{
    e->shared->count = 0;
    int status = run_raddle(e, strategy, runs, free);
    if (status != 0 && status != 1) {
        snprintf(out->strange, sizeof out->strange, "status %d: %.300s", status, read_file(e, "err"));
        out->is_right = false;
        return;
    }
    const char *json = read_file(e, "out");
    uint32_t did = number_in(json, "\"runs\": ");
    look_for_strange(json, set, out);
    if (e->shared->count < did)
        snprintf(out->strange, sizeof out->strange, "%u results of %u runs", e->shared->count, did);
    out->runs += did;
    out->is_complete &= strstr(json, "\"complete\": true") != NULL;
    out->is_right = out->strange[0] == 0;
    look_at_results(e, set, out);
}

/* ---- All orders of the deadlines ------------------------------------------------------------------------------- */

static bool next_permutation(uint32_t *items, uint32_t count)
{
    uint32_t i = count, j = count;
    while (i > 1 && items[i - 2] >= items[i - 1]) i--;
    if (i <= 1) return false;
    while (items[j - 1] <= items[i - 2]) j--;
    uint32_t other = items[i - 2];
    items[i - 2] = items[j - 1];
    items[j - 1] = other;
    for (j = count; i < j; i++, j--) {
        other = items[i - 1];
        items[i - 1] = items[j - 1];
        items[j - 1] = other;
    }
    return true;
}

void fibers_explore(fibers_explorer *e, const fibers_program *p, const fibers_set *set, const char *strategy,
                    bool is_quiet, uint32_t runs, fibers_explored *out)
{
    fibers_shared *shared = e->shared;
    uint32_t soons = fibers_soons_before(p, FIBERS_MOST, 0, 0);
    uint32_t ordered = soons < ORDERED_MOST ? soons : ORDERED_MOST;
    *out = (fibers_explored){.is_right = true, .is_complete = soons <= ORDERED_MOST};
    out->was_reached = calloc(set->count, 1);
    shared->program = *p;
    for (uint32_t i = 0; i < FIBERS_SOONS; i++) shared->ranks[i] = i;
    do explore_once(e, set, strategy ? strategy : "dfs", runs, !is_quiet, out);
    while (out->is_right && (out->is_complete || strategy) && !e->in_order && next_permutation(shared->ranks, ordered));
}

static bool is_reached(const fibers_set *set, const fibers_explored *found, const fibers_result *r)
{
    for (uint32_t i = 0; i < set->count; i++) {
        const fibers_result *other = &set->results[i];
        if (!found->was_reached[i]) continue;
        if (memcmp(other, r, sizeof *r) == 0) return true;
        if (r->end == FIBERS_ABORTED && (fibers_is_cut_from(r, other) || fibers_is_cut_from(other, r))) return true;
    }
    return false;
}

uint32_t fibers_missing(const fibers_program *p, const fibers_set *set, const fibers_set *firm,
                        const fibers_explored *found, FILE *out)
{
    uint32_t missing = 0;
    for (uint32_t i = 0; i < firm->count; i++) {
        if (is_reached(set, found, &firm->results[i])) continue;
        missing++;
        if (out) fibers_result_print(out, p, &firm->results[i]);
    }
    return missing;
}
