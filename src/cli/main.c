/* main.c — the command `raddle`: finds the verb, and is the only place that looks at the environment,
 * the terminal and signals. */
#include "exec.h"
#include "parts.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const verb *const VERBS[] = {
    &VERB_TOUR, &VERB_LIST,   &VERB_RUN,  &VERB_EXPLORE, &VERB_REPLAY, &VERB_SHRINK,
    &VERB_SHOW, &VERB_CORPUS, &VERB_EXEC, &VERB_SESSION, &VERB_LOAD,   &VERB_FLOW,
};
enum { VERB_COUNT = sizeof VERBS / sizeof *VERBS, WIDTH_PRESET = 100 };

const char *const STRESS_NAMES[STRESS_VARIABLES] = {
    [STRESS_SEEDS] = "SCHEDULER_SIM_STRESS_SEEDS",
    [STRESS_MAX_STEPS] = "SCHEDULER_SIM_STRESS_MAX_STEPS",
    [STRESS_MAX_PROGRAMS] = "SCHEDULER_SIM_STRESS_MAX_PROGRAMS",
    [STRESS_MAX_TASKS] = "SCHEDULER_SIM_STRESS_MAX_TASKS",
    [STRESS_SEED_BASE] = "SCHEDULER_SIM_STRESS_SEED_BASE",
};

static volatile int stop_asked;

enum { PATIENCE = 3 };

/* The first SIGINT or SIGTERM asks for a stop that keeps what there is; the third one does not wait
 * for it (the second may come along with the first: a signal to the process and to its group). */
static void on_signal(int signal_number)
{
    (void)signal_number;
    stop_asked = stop_asked + 1;
    if (stop_asked >= PATIENCE) {
        _exit(EXIT_INTERRUPTED);
    }
}

/* A closed pipe and a limit on the size of files are errors of write, not signals. */
static void watch_signals(void)
{
    struct sigaction action = {.sa_flags = 0};
    action.sa_handler = on_signal;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    action = (struct sigaction){.sa_flags = 0};
    action.sa_handler = SIG_IGN;
    sigemptyset(&action.sa_mask);
    sigaction(SIGPIPE, &action, NULL);
    sigaction(SIGXFSZ, &action, NULL);
}

/* A variable of the environment, or "" when it is not there. */
static const char *variable(char **environment, const char *name)
{
    size_t size = strlen(name);
    for (; *environment; environment++) {
        if (strncmp(*environment, name, size) == 0 && (*environment)[size] == '=') {
            return *environment + size + 1;
        }
    }
    return "";
}

static bool says_utf8(char **environment)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = variable(environment, names[i]);
        if (*value) {
            return strstr(value, "UTF-8") || strstr(value, "utf8") || strstr(value, "UTF8") ||
                   strstr(value, "utf-8");
        }
    }
    return true; /* nobody says anything: today that is UTF-8 */
}

static void look_around(cli *c, char **environment)
{
    struct winsize size;
    bool terminal = isatty(STDOUT_FILENO) == 1;
    bool dumb = strcmp(variable(environment, "TERM"), "dumb") == 0;
    c->colour = terminal && !dumb && *variable(environment, "NO_COLOR") == 0;
    c->progress = isatty(STDERR_FILENO) == 1 && !dumb;
    c->utf8 = says_utf8(environment);
    c->width = WIDTH_PRESET;
    if (terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
        c->width = size.ws_col;
    }
    c->temp_dir = variable(environment, "TMPDIR");
    c->temp_dir = *c->temp_dir ? c->temp_dir : "/tmp";
    static const char *stress[STRESS_VARIABLES];
    for (size_t i = 0; i < STRESS_VARIABLES; i++) {
        stress[i] = variable(environment, STRESS_NAMES[i]);
    }
    c->stress = stress;
    c->stop = &stop_asked;
}

static void print_help(cli *c)
{
    out(c, "raddle %s: finds scheduling bugs, shrinks them, replays them\n\n", rad_version());
    out(c, "  raddle VERB [words] [options]\n\n");
    for (size_t i = 0; i < VERB_COUNT; i++) {
        out(c, "  %-8s  %s\n", VERBS[i]->name, VERBS[i]->about);
    }
    out(c, "\n'raddle tour' shows it all in a minute; 'raddle VERB --help' has the options and "
           "examples.\n");
}

static void print_version(cli *c)
{
    out(c, "raddle %s (%s, %s)\n", rad_version(), rad_build_git_sha(), rad_build_compiler());
}

static const verb *find_verb(const char *name)
{
    for (size_t i = 0; i < VERB_COUNT; i++) {
        if (strcmp(VERBS[i]->name, name) == 0) {
            return VERBS[i];
        }
    }
    return NULL;
}

static int unknown_verb(cli *c, const char *word)
{
    nearest n;
    nearest_begin(&n, word);
    for (size_t i = 0; i < VERB_COUNT; i++) {
        nearest_try(&n, VERBS[i]->name);
    }
    const char *what = word[0] == '-' ? "option" : "verb";
    return bad_usage(c, "unknown %s '%.80s'%s", what, word, nearest_hint(&n, ""));
}

static int dispatch(cli *c, int argc, char **argv)
{
    if (argc < 2) {
        print_help(c);
        return EXIT_USAGE;
    }
    const char *word = argv[1];
    bool asks = strcmp(word, "help") == 0;
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        print_version(c);
        return EXIT_FINE;
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || (asks && argc == 2)) {
        print_help(c);
        return EXIT_FINE;
    }
    const verb *v = find_verb(asks ? argv[2] : word);
    if (v == NULL) {
        return unknown_verb(c, asks ? argv[2] : word);
    }
    if (asks) {
        char help[] = "--help", *only[] = {help};
        return v->run(c, 1, only);
    }
    c->verb = v->name;
    return v->run(c, argc - 2, argv + 2);
}

int main(int argc, char **argv, char **environment)
{
    cli c = {.verb = ""};
    watch_signals();
    look_around(&c, environment);
    return out_close(&c, dispatch(&c, argc, argv));
}
