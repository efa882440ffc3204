/* tour.c — `raddle tour`: types commands and shows what they print, or the part of it that matters: a bug is found,
 * shrunk, drawn and replayed, and its fix is checked; a test of fibers is shown and fails; then one result each of the
 * other things on the same kernel. With what `make run` adds it has at most 80 lines.
 *
 * The commands are run by a shell in a directory of their own, which has copies of the examples they name. Each command
 * after a $ can be pasted: the first one, `raddle tour --examples`, writes those copies. A line of output is shown if
 * it begins with one of the step's words; a step whose command ends with another status, or that prints none of them,
 * ends the tour as a bug.
 *
 * Rejected: calling the library here and printing something like what the commands print. It drifted from them. */
#include "tour.h"
#include "command/shell.h"
#include "os/process.h"
#include "parts.h"
#include "tour_examples.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SHOWN_MOST = 6, DRAWN_MOST = 2, OUTPUT_MOST = 64 * 1024, PATH_ROOM = 4096 };

typedef struct tour_step {
    const char *title;             /* NULL: part of the step before */
    bool close;                    /* no line between it and what came before */
    const char *commands;          /* a line each */
    int status;                    /* of the last one */
    const char *shown[SHOWN_MOST]; /* lines that begin with one of these */
    /* or those of a diagram, from one that begins so to one that does; then those of another part */
    const char *from[DRAWN_MOST], *before[DRAWN_MOST];
    int (*also)(cli *c); /* in the place of commands */
} tour_step;

static const tour_step STEPS[] = {
    {.title = "1. Find it: a worker sets a flag without the lock, so its signal can come too early",
     .commands = "cc -g -pthread examples/wait.c -o wait\n"
                 "raddle explore --stop-on-first --no-shrink ./wait",
     .status = 1,
     .shown = {"FAILED:", "  written"}},
    {.title = "2. Shrink it",
     .commands = "raddle shrink wait.raddle.json -- ./wait",
     .from = {"  shrunk"},
     .before = {"  written"}},
    {.title = "3. Read it: time runs down, one lane per thread, >>> marks the decisive switch",
     .commands = "raddle show wait.min.raddle.json --width 80 -- ./wait",
     .from = {" step", "Why"},
     .before = {" main waits", "Where they wait"}},
    {.title = "4. Replay it: the file is enough",
     .commands = "raddle replay wait.min.raddle.json -- ./wait",
     .shown = {"FAILED:", "as recorded"}},
    {.title = "5. Check the fix: set the flag under the lock",
     .commands = "cc -g -pthread -DFIXED examples/wait.c -o fixed\n"
                 "raddle explore ./fixed",
     .shown = {"nothing found in"}},
    {.title = "Fibers run at full speed, and a test of them is explored, not just run", .also = tour_fibers},
    {.commands = "sed -n '/^RAD_TEST(/,/^}/p' examples/tickets.c", .from = {"RAD_TEST("}},
    {.commands = "raddle cc -g examples/tickets.c -lraddle -o tickets\n"
                 "raddle test ./tickets",
     .status = 1,
     .shown = {"FAIL"}},
    {.title = "A protocol runs the same under every schedule",
     .commands = "raddle session invariant examples/session/two_buyer.session --sessions 5",
     .shown = {"  answer"}},
    {.title = "A load test repeats: its log makes the same run again, without the server",
     .close = true,
     .commands = "raddle load run examples/load/sim-stall.toml --seed 42 --output run.log --quiet\n"
                 "raddle load replay run.log",
     .shown = {"run.log replays"}},
    {.title = "A workflow survives the death of its runner; finished commands are not rerun",
     .close = true,
     .commands = "raddle flow run examples/flow/approval.flow --quiet &\n"
                 "until [ -s request ]; do sleep 0.1; done; kill -9 $!\n"
                 "raddle flow signal approval.case approve; raddle flow resume approval.case",
     .shown = {"done"}},
};

typedef struct tour_args {
    const char *output;
    bool examples;
} tour_args;

static const option TOUR_OPTIONS[] = {
    {"output", OPTION_TEXT, offsetof(tour_args, output), "DIR",
     "keep the files in DIR, which must exist (default: a temporary directory, removed at the end)", 0, 0, 0},
    {"examples", OPTION_FLAG, offsetof(tour_args, examples), NULL,
     "only write the examples that the tour uses (files that exist are left as they are)", 0, 0, 0},
    {NULL, OPTION_FLAG, 0, NULL, NULL, 0, 0, 0},
};

int tour_not_as_told(const cli *c, const char *what)
{
    complain(c, "%s: this is a bug in raddle, please report it", what);
    return EXIT_BUG;
}

/* ---- The directory --------------------------------------------------------------------------------- */

static int write_example(cli *c, const char *dir, const tour_example *e, bool only_new)
{
    char path[PATH_ROOM];
    if (!join_path(path, sizeof path, dir, e->path)) return bad_usage(c, "--output: path too long");
    for (char *slash = path + strlen(dir) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = 0;
        if (mkdir(path, 0777) != 0 && errno != EEXIST) {
            complain(c, "cannot create '%.400s': %s", path, strerror(errno));
            return EXIT_RUNTIME;
        }
        *slash = '/';
    }
    FILE *to = fopen(path, only_new ? "wx" : "w");
    if (to == NULL && only_new && errno == EEXIST) return 0;
    bool good = to != NULL && fputs(e->text, to) >= 0;
    good = (to == NULL || fclose(to) == 0) && good;
    if (!good) complain(c, "cannot write '%.400s': %s", path, strerror(errno));
    return good ? 0 : EXIT_RUNTIME;
}

static int open_dir(cli *c, const tour_args *a, char dir[PATH_ROOM])
{
    int status = 0;
    const char *output = a->output ? a->output : a->examples ? "." : NULL;
    if (output) {
        status = check_output(c, output);
        snprintf(dir, PATH_ROOM, "%s", output);
    } else {
        snprintf(dir, PATH_ROOM, "%.1000s/raddle-tour.XXXXXX", c->temp_dir);
        if (mkdtemp(dir) == NULL) {
            complain(c, "cannot create a directory in '%.400s': %s; use --output DIR", c->temp_dir, strerror(errno));
            return EXIT_RUNTIME;
        }
    }
    for (size_t i = 0; i < sizeof TOUR_EXAMPLE_FILES / sizeof *TOUR_EXAMPLE_FILES && status == 0; i++)
        status = write_example(c, dir, &TOUR_EXAMPLE_FILES[i], a->examples);
    return status;
}

/* What is in it, too, `depth` directories deep; links are not followed. */
static void remove_dir(const char *dir, uint32_t depth)
{
    char path[PATH_ROOM];
    DIR *d = opendir(dir);
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        bool own = strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0;
        if (own || !join_path(path, sizeof path, dir, e->d_name)) continue;
        if (unlink(path) != 0 && depth > 0) remove_dir(path, depth - 1);
    }
    if (d != NULL) closedir(d);
    rmdir(dir);
}

/* ---- Commands ---------------------------------------------------------------------------------------- */

typedef struct typed {
    const char *dir, *commands;
    int output; /* the end of the pipe to write to */
} typed;

/* In the child: the shell finds the raddle that this is. */
static int type(void *context)
{
    const typed *t = context;
    char path[2 * PATH_ROOM], own[PATH_ROOM];
    const char *old = variable("PATH");
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    own[length > 0 ? length : 0] = 0;
    char *slash = strrchr(own, '/');
    if (slash) *slash = 0;
    snprintf(path, sizeof path, "%s:%s", own, old);
    int null = open("/dev/null", O_RDONLY);
    bool good = setenv("PATH", path, 1) == 0 && unsetenv("RADDLE_OPTIONS") == 0 && chdir(t->dir) == 0 && null >= 0 &&
                dup2(null, STDIN_FILENO) >= 0 && dup2(t->output, STDOUT_FILENO) >= 0 &&
                dup2(t->output, STDERR_FILENO) >= 0;
    if (good) execl("/bin/sh", "sh", "-c", t->commands, (char *)NULL);
    return 127;
}

/* What they print, up to OUTPUT_MOST bytes, and the status. 0 or an error of the library. */
static int run_commands(const char *dir, const char *commands, char *text, int *status, rad_error *error)
{
    int pipe[2], pid;
    int code = rad__os_pipe(pipe, error);
    if (code != 0) return code;
    typed t = {dir, commands, pipe[1]};
    code = rad__os_fork(&pid, &t, type, error);
    rad__os_close(pipe[1]);
    size_t used = 0;
    int64_t got = 1;
    char rest[512];
    while (code == 0 && got > 0) {
        bool room = used < OUTPUT_MOST - 1;
        got = rad__os_read(pipe[0], room ? text + used : rest, room ? OUTPUT_MOST - 1 - used : sizeof rest, error);
        used += room && got > 0 ? (size_t)got : 0;
    }
    text[used] = 0;
    rad__os_close(pipe[0]);
    rad_os_exit how = {0, 0};
    if (code == 0 && (code = rad__os_wait(pid, true, &how, error)) > 0) code = 0;
    *status = how.signal ? 128 + how.signal : how.status;
    return code;
}

/* ---- Printing ------------------------------------------------------------------------------------------- */

static bool begins(const char *line, const char *with)
{
    return strncmp(line, with, strlen(with)) == 0;
}

static bool is_shown(const tour_step *s, const char *line)
{
    bool any = false;
    for (int i = 0; i < SHOWN_MOST && s->shown[i] && !any; i++) any = begins(line, s->shown[i]);
    return any;
}

/* The lines that matter; returns how many. `text` is taken apart. */
static uint32_t tell_lines(cli *c, const tour_step *s, char *text)
{
    uint32_t count = 0, drawn = 0;
    bool drawing = false, blank = false;
    for (char *line = text, *next; *line; line = next) {
        next = line + strcspn(line, "\n");
        if (*next) *next++ = 0;
        if (drawing && s->before[drawn] && begins(line, s->before[drawn])) {
            drawing = false;
            drawn++;
        }
        if (drawn < DRAWN_MOST && s->from[drawn] && begins(line, s->from[drawn])) drawing = true;
        if (!drawing && !is_shown(s, line)) continue;
        count++;
        if (drawing && *line == 0) {
            blank = true; /* one, and not the last */
            continue;
        }
        if (blank) out_text(c, "\n");
        blank = false;
        if (drawing) {
            out(c, "   %s\n", line);
        } else {
            out_text(c, "   ");
            out_wrapped(c, 3, 5, line);
        }
    }
    return count;
}

static void tell_commands(cli *c, const char *commands)
{
    for (const char *at = commands; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        char line[200];
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
        out(c, "%s   $ %s%s\n", style(c, STYLE_DIM), line, style(c, STYLE_OFF));
    }
    out_flush(c);
}

static int take_step(cli *c, const char *dir, const tour_step *s)
{
    static char text[OUTPUT_MOST];
    rad_error error = {.code = 0};
    int status = 0;
    if (s->title && !s->close) out_text(c, "\n");
    if (s->title) out(c, "%s%s%s\n", style(c, STYLE_BOLD), s->title, style(c, STYLE_OFF));
    if (s->also) return s->also(c);
    tell_commands(c, s->commands);
    if (run_commands(dir, s->commands, text, &status, &error) != 0) return complain_error(c, &error);
    if (*c->stop) return EXIT_INTERRUPTED;
    if (status == s->status && tell_lines(c, s, text) > 0) return 0;
    note_text("", text, "\n");
    if (status == EXIT_RUNTIME || status == 127) {
        complain(c, "this needs a C compiler, and a raddle that can explore programs with threads");
        return EXIT_RUNTIME;
    }
    return tour_not_as_told(c, "a command of the tour did not do what it should");
}

static void tell_begin(cli *c)
{
    out(c, "%sraddle tour%s: what follows a $ is run now; to paste it, begin so in an empty directory\n",
        style(c, STYLE_BOLD), style(c, STYLE_OFF));
    tell_commands(c, "raddle tour --examples");
}

static void tell_next(cli *c)
{
    out(c, "\n%sNext%s\n", style(c, STYLE_BOLD), style(c, STYLE_OFF));
    out_text(c, "   docs/guide-threads.md: your own program with threads; raddle --help: all commands\n"
                "   docs/guide-testing.md: tests with fibers; docs/write-a-machine.md: a model\n");
}

static int tour_run(cli *c, int argc, char **argv)
{
    static char dir[PATH_ROOM];
    tour_args a = {.output = NULL};
    words w;
    int status = options_parse(c, &VERB_TOUR, argc, argv, &a, &w);
    if (status != GO_ON) return status;
    if (w.count > 0) return bad_usage(c, "unexpected argument '%.80s'", w.at[0]);
    status = open_dir(c, &a, dir);
    if (a.examples) return status;
    if (status == 0) tell_begin(c);
    for (size_t i = 0; i < sizeof STEPS / sizeof *STEPS && status == 0; i++) status = take_step(c, dir, &STEPS[i]);
    if (status == 0) tell_next(c);
    if (a.output == NULL && *dir) remove_dir(dir, 4);
    return status;
}

static const char *const TOUR_EXAMPLES[] = {
    "raddle tour",
    "watch a bug being found, shrunk, drawn, replayed and fixed",
    "mkdir tour && raddle tour --output tour",
    "the same, and keep its files",
    "raddle tour --examples",
    "write examples/, and paste the commands of the tour yourself",
    NULL,
};

const verb VERB_TOUR = {
    .name = "tour",
    .about = "find, shrink, read and replay a bug, and check its fix, in a minute",
    .usage = "[options]",
    .text = "Find a bug in a program with threads, shrink it, draw it, replay it, and check its "
            "fix; then a test of fibers that fails, and one result each of protocols, load tests "
            "and workflows. It needs a C compiler (cc).",
    .status = "0 everything went as described, " STATUS_ERRORS ", 130 interrupted",
    .options = TOUR_OPTIONS,
    .examples = TOUR_EXAMPLES,
    .run = tour_run,
};
