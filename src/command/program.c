/* program.c — rad_lab_main: the verbs on machines, for a program with machines of its own.
 *
 * `raddle explore ./pet …` starts the program as `./pet explore …` and leaves the rest to it: a machine runs in the
 * lab that its program is linked with, so raddle and that lab need not be of one version. What raddle adds is the
 * variable RADDLE_PROGRAM, the path as it was typed: the commands that the program prints are then raddle's. */
#include "program.h"
#include "shell.h"

#include "lab/machines.h"
#include "lab/program.h"
#include "lab/programs/inserted.h"
#include "lab/programs/under_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STARTED_BY "RADDLE_PROGRAM"

static const verb *const PROGRAM_VERBS[] = {&VERB_LIST,   &VERB_RUN,  &VERB_EXPLORE, &VERB_REPLAY,
                                            &VERB_SHRINK, &VERB_SHOW, &VERB_CORPUS,  &VERB_TEST};

static void program_head(cli *c)
{
    const rad_machine *m;
    out(c, "%s: explored by raddle %s\n\n", c->self, rad_version());
    for (uint32_t i = 0; (m = rad_machine_at(i)) != NULL; i++)
        if (rad_machine_is_added(m)) out(c, "  %-8s  %s\n", m->name, m->about ? m->about : "");
    out_text(c, "\n");
}

/* A program that was found on the PATH is recorded with the place where it is. */
static void program_path(const char *name, char *path, size_t size)
{
    snprintf(path, size, "%s", name);
    if (strchr(name, '/') == NULL) {
        ssize_t length = readlink("/proc/self/exe", path, size - 1);
        if (length > 0) path[length] = 0;
    }
}

static int add_machines(cli *c, const rad_machine *const *machines)
{
    rad_error error = {.code = 0};
    if (machines == NULL || machines[0] == NULL) {
        complain(c, "rad_lab_main was given no machines");
        return EXIT_USAGE;
    }
    for (; *machines; machines++)
        if (!rad_machine_is_added(*machines) && rad_machine_add(*machines, &error) != 0)
            return complain_error(c, &error);
    return 0;
}

int rad_lab_main(int argc, char **argv, const rad_machine *const *machines)
{
    const verbs all = {PROGRAM_VERBS, sizeof PROGRAM_VERBS / sizeof *PROGRAM_VERBS, program_head, NULL};
    static char started[1024], path[1024];
    const char *name = argc > 0 && argv[0] && *argv[0] ? argv[0] : "./program";
    cli c = {.write_error = 0};
    rad_os_signals before;
    snprintf(started, sizeof started, "%s", variable(STARTED_BY));
    unsetenv(STARTED_BY); /* it is about this process, not about its children */
    program_path(*started ? started : name, path, sizeof path);
    look_around(&c, *started ? "raddle" : name);
    c.program = started;
    rad__os_signals_watch(&before);
    uint32_t added = rad__machines_added();
    int status = add_machines(&c, machines);
    if (status == 0) {
        rad__program_set(path, machines[0]);
        status = dispatch(&c, &all, argc, argv);
        rad__program_set("", NULL);
    }
    rad__machines_cut(added);
    rad__os_signals_restore(&before);
    return out_close(&c, status);
}

/* What is typed behind the program, for the commands that are printed. */
static void type_words(cli *c, char *const *argv)
{
    static char typed[4096];
    size_t used = 0;
    typed[0] = 0;
    for (int i = 1; argv[i] && used < sizeof typed; i++)
        used += (size_t)snprintf(typed + used, sizeof typed - used, " %s", shell_word(argv[i]));
    c->program_words = typed;
}

int test_program(cli *c, char *const *argv, const char *library, const char **machine)
{
    rad_error error = {.code = 0};
    if (rad__under_test_set(argv, library, &error) != 0) return complain_error(c, &error);
    c->program = argv[0];
    type_words(c, argv);
    *machine = rad__under_test_name();
    return 0;
}

int test_program_again(cli *c, char *const *argv)
{
    rad_error error = {.code = 0};
    if (rad__under_test_again(argv, &error) != 0) return complain_error(c, &error);
    type_words(c, argv);
    return 0;
}

int program_points(cli *c, rad_target *to, const rad_target *from, const rad_exploration *e, bool *more)
{
    rad_error error = {.code = 0};
    return rad__inserted_join(to, from, e, more, &error) == 0 ? 0 : complain_error(c, &error);
}

uint64_t program_inserted(uint64_t *modules, const char **without)
{
    const rad_inserted *all = rad__under_test_inserted();
    *modules = all->modules;
    *without = all->without[0] ? all->without : NULL;
    return all->calls;
}

void test_input(const char *path)
{
    rad__under_test_input(path);
}

void test_shown(const char *path)
{
    rad__under_test_shown(path);
}

void test_real_threads(bool real)
{
    rad__under_test_real_threads(real);
}
