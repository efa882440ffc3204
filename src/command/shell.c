/* shell.c — see shell.h: the only place that looks at the environment, the terminal and signals. */
#define _GNU_SOURCE /* environ */
#include "shell.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { PATIENCE = 3, WIDTH_PRESET = 100 };

/* ---- Signals --------------------------------------------------------------------------------------- */

static volatile int stop_asked;

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
static const struct {
    int number;
    void (*handler)(int signal_number);
} WATCHED[] = {{SIGINT, on_signal}, {SIGTERM, on_signal}, {SIGPIPE, SIG_IGN}, {SIGXFSZ, SIG_IGN}};
enum { WATCHED_COUNT = sizeof WATCHED / sizeof *WATCHED };
_Static_assert(WATCHED_COUNT == sizeof((signals_before *)0)->action / sizeof(struct sigaction),
               "each has a place for what was there before");

void signals_watch(cli *c, signals_before *before)
{
    stop_asked = 0;
    c->stop = &stop_asked;
    c->signals = before;
    for (size_t i = 0; i < WATCHED_COUNT; i++) {
        struct sigaction action = {.sa_flags = 0};
        action.sa_handler = WATCHED[i].handler;
        sigemptyset(&action.sa_mask);
        sigaction(WATCHED[i].number, &action, &before->action[i]);
    }
}

void signals_restore(const signals_before *before)
{
    for (size_t i = 0; i < WATCHED_COUNT; i++) {
        sigaction(WATCHED[i].number, &before->action[i], NULL);
    }
}

/* ---- Surroundings ---------------------------------------------------------------------------------- */

const char *variable(const char *name)
{
    size_t size = strlen(name);
    for (char **at = environ; at && *at; at++) {
        if (strncmp(*at, name, size) == 0 && (*at)[size] == '=') {
            return *at + size + 1;
        }
    }
    return "";
}

static bool says_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = variable(names[i]);
        if (*value) {
            return strstr(value, "UTF-8") || strstr(value, "utf8") || strstr(value, "UTF8") ||
                   strstr(value, "utf-8");
        }
    }
    return true; /* nobody says anything: today that is UTF-8 */
}

void look_around(cli *c, const char *self)
{
    struct winsize size;
    bool terminal = isatty(STDOUT_FILENO) == 1;
    bool dumb = strcmp(variable("TERM"), "dumb") == 0;
    c->self = self;
    c->program = "";
    c->verb = "";
    c->colour = terminal && !dumb && *variable("NO_COLOR") == 0;
    c->progress = isatty(STDERR_FILENO) == 1 && !dumb;
    c->utf8 = says_utf8();
    c->width = WIDTH_PRESET;
    if (terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
        c->width = size.ws_col;
    }
    c->temp_dir = variable("TMPDIR");
    c->temp_dir = *c->temp_dir ? c->temp_dir : "/tmp";
}

/* ---- Verbs ----------------------------------------------------------------------------------------- */

static void print_help(cli *c, const verbs *all)
{
    all->head(c);
    out(c, "  %s VERB [words] [options]\n\n", c->self);
    for (size_t i = 0; i < all->count; i++) {
        out(c, "  %-8s  %s\n", all->at[i]->name, all->at[i]->about);
    }
    out(c, "\n%s'%s VERB --help' has the options and examples.\n",
        strcmp(all->at[0]->name, "tour") == 0 ? "'raddle tour' shows it all in a minute; " : "",
        c->self);
}

static void print_version(cli *c)
{
    bool program = strcmp(c->self, "raddle") != 0;
    out(c, "%s%sraddle %s (%s, %s)\n", program ? c->self : "", program ? " with " : "",
        rad_version(), rad_build_git_sha(), rad_build_compiler());
}

static const verb *find_verb(const verbs *all, const char *name)
{
    for (size_t i = 0; i < all->count; i++) {
        if (strcmp(all->at[i]->name, name) == 0) {
            return all->at[i];
        }
    }
    return NULL;
}

static int unknown_verb(cli *c, const verbs *all, const char *word)
{
    nearest n;
    nearest_begin(&n, word);
    for (size_t i = 0; i < all->count; i++) {
        nearest_try(&n, all->at[i]->name);
    }
    const char *what = word[0] == '-' ? "option" : "verb";
    return bad_usage(c, "unknown %s '%.80s'%s", what, word, nearest_hint(&n, ""));
}

int dispatch(cli *c, const verbs *all, int argc, char **argv)
{
    if (argc < 2) {
        print_help(c, all);
        return EXIT_USAGE;
    }
    const char *word = argv[1];
    bool asks = strcmp(word, "help") == 0;
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        print_version(c);
        return EXIT_FINE;
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || (asks && argc == 2)) {
        print_help(c, all);
        return EXIT_FINE;
    }
    const verb *v = find_verb(all, asks ? argv[2] : word);
    if (v == NULL) {
        return unknown_verb(c, all, asks ? argv[2] : word);
    }
    if (asks) {
        char help[] = "--help", *only[] = {help};
        return v->run(c, 1, only);
    }
    c->verb = v->name;
    int status = all->elsewhere ? all->elsewhere(c, v, argc - 2, argv + 2) : GO_ON;
    return status == GO_ON ? v->run(c, argc - 2, argv + 2) : status;
}
