/* shell.c — see shell.h: the only place that looks at the environment and the terminal. */
#include "shell.h"

#include "os/term.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { WIDTH_DEFAULT = 100 };

/* ---- Surroundings ---------------------------------------------------------------------------------- */

const char *variable(const char *name)
{
    const char *value = rad__os_env(name);
    return value ? value : "";
}

static bool says_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = variable(names[i]);
        if (*value)
            return strstr(value, "UTF-8") || strstr(value, "utf8") || strstr(value, "UTF8") || strstr(value, "utf-8");
    }
    return true; /* nobody says anything: today that is UTF-8 */
}

void look_around(cli *c, const char *self)
{
    uint32_t columns = rad__os_terminal_width(STDOUT_FILENO);
    c->self = self;
    c->program = "";
    c->verb = "";
    c->terminal = rad__os_is_terminal(STDOUT_FILENO);
    c->colour = rad__os_wants_colour(STDOUT_FILENO);
    c->progress = rad__os_is_terminal(STDERR_FILENO) && strcmp(variable("TERM"), "dumb") != 0;
    c->progress_width = c->progress ? rad__os_terminal_width(STDERR_FILENO) : 0;
    c->utf8 = says_utf8();
    c->width = c->terminal && columns > 0 ? columns : WIDTH_DEFAULT;
    c->temp_dir = variable("TMPDIR");
    c->temp_dir = *c->temp_dir ? c->temp_dir : "/tmp";
    c->stop = rad__os_interrupted();
}

/* ---- Verbs ----------------------------------------------------------------------------------------- */

static void print_help(cli *c, const verbs *all)
{
    all->head(c);
    out(c, "Usage: %s COMMAND [arguments] [options]\n\n", c->self);
    for (size_t i = 0; i < all->count; i++) out(c, "  %-8s  %s\n", all->at[i]->name, all->at[i]->about);
    out(c, "\n%s'%s COMMAND --help' has options, exit status and examples.\n",
        strcmp(all->at[0]->name, "tour") == 0 ? "Begin with 'raddle tour'. " : "", c->self);
}

static void print_version(cli *c)
{
    bool program = strcmp(c->self, "raddle") != 0;
    out(c, "%s%sraddle %s (%s, %s)\n", program ? c->self : "", program ? " with " : "", rad_version(),
        rad_build_git_sha(), rad_build_compiler());
}

static const verb *find_verb(const verbs *all, const char *name)
{
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->at[i]->name, name) == 0) return all->at[i];
    return NULL;
}

static int unknown_verb(cli *c, const verbs *all, const char *word)
{
    rad_suggest n;
    rad__suggest_begin(&n, word, strlen(word));
    for (size_t i = 0; i < all->count; i++) rad__suggest_consider(&n, all->at[i]->name);
    const char *what = word[0] == '-' ? "option" : "command";
    return bad_usage(c, "unknown %s '%.80s'%s", what, word, rad__suggest_text(&n, ""));
}

enum { TEST_WORDS_MAX = 1024 };

/* Build tools that call tests pass them no options: those of the variable come before the words of the command line. */
static int add_variable(cli *c, int *argc, char ***argv)
{
    static char text[8192], *given[TEST_WORDS_MAX + 1];
    const char *value = variable("RADDLE_OPTIONS");
    int count = 0;
    if (strlen(value) >= sizeof text || *argc > TEST_WORDS_MAX)
        return bad_usage(c, "RADDLE_OPTIONS is too long, or there are too many arguments");
    snprintf(text, sizeof text, "%s", value);
    for (char *at = text + strspn(text, " \t\n"); *at && count < TEST_WORDS_MAX - *argc;) {
        given[count++] = at;
        at += strcspn(at, " \t\n");
        if (*at) *at++ = 0;
        at += strspn(at, " \t\n");
    }
    for (int i = 0; i < *argc; i++) given[count++] = (*argv)[i];
    given[count] = NULL;
    *argc = count;
    *argv = given;
    return 0;
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
    if (v == NULL) return unknown_verb(c, all, asks ? argv[2] : word);
    if (asks) {
        char help[] = "--help", *only[] = {help};
        return v->run(c, 1, only);
    }
    c->verb = v->name;
    int count = argc - 2;
    char **given = argv + 2;
    if (v == &VERB_TEST && add_variable(c, &count, &given) != 0) return EXIT_USAGE;
    int status = all->elsewhere ? all->elsewhere(c, v, &count, given) : GO_ON;
    return status == GO_ON ? v->run(c, count, given) : status;
}
