/* program.c — machines in a program or shared object: looks whether there are any, and lets it do the verb.
 *
 *     raddle explore ./pet n=3          →  ./pet explore n=3
 *     raddle replay FILE -- ./pet       →  ./pet replay FILE
 *     raddle explore ./pet.so n=3       →  rad_lab_main of the library that pet.so is linked with, in this process
 *
 *     raddle explore ./fibers a b       →  explore in this process; ./fibers is its machine (fibers.c)
 *
 * A program has machines when it calls rad_lab_main, a shared object when it exports rad_lab_machines. Both names are
 * looked up in the file before anything in it runs; a program with neither is put under test itself, if it is linked
 * with libraddle. Only a path that the user typed gets here: the name of a program in an artifact is printed, never
 * used.
 *
 * Rejected: loading machines into raddle's own lab (a program cannot be loaded, and a shared object brings a second
 * copy of the lab, perhaps of another version, whose kernel is not ours); workers of the pool that are other programs
 * (the same question of versions, for every message). */
#include "program.h"

#include "fibers.h"
#include "os/object.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WORDS_MAX = 512 };

/* ---- Which program --------------------------------------------------------------------------------- */

typedef struct handed {
    const char *path;
    char *argv[WORDS_MAX + 3]; /* path, verb, what is left, NULL */
    int argc;
    int at, dashes; /* where the path was, and "--" */
} handed;

static bool takes_machine(const verb *v)
{
    return v == &VERB_EXPLORE || v == &VERB_RUN || v == &VERB_LIST || v == &VERB_TEST;
}

static bool takes_program(const verb *v)
{
    return takes_machine(v) || v == &VERB_REPLAY || v == &VERB_SHRINK || v == &VERB_SHOW || v == &VERB_CORPUS;
}

/* A path with a slash that is not the name of a case file. */
static bool is_path(const char *word)
{
    return strchr(word, '/') != NULL && !target_is_file(word);
}

static int place_of_dashes(int argc, char **argv)
{
    int i = 0;
    while (i < argc && strcmp(argv[i], "--") != 0) i++;
    return i;
}

/* Of `test`, whose words are names of tests and parameters: the first that is a path. */
static int place_of_path(const verb *v, int argc, char **argv)
{
    int i = options_word(v, argc, argv);
    while (i < argc && !is_path(argv[i])) i += 1 + options_word(v, argc - i - 1, argv + i + 1);
    return i < argc ? i : argc;
}

/* Fills `h` with the command as the program gets it. GO_ON: there is a program; otherwise the exit status, or 0 and no
 * path when none is named. */
static int find_program(cli *c, const verb *v, int argc, char **argv, handed *h)
{
    int dashes = place_of_dashes(argc, argv);
    int word = v == &VERB_TEST    ? place_of_path(v, dashes, argv)
               : takes_machine(v) ? options_word(v, dashes, argv)
                                  : dashes;
    int at = dashes + 1 < argc && is_path(argv[dashes + 1]) ? dashes + 1
             : word < dashes && is_path(argv[word])         ? word
                                                            : argc;
    *h = (handed){.path = NULL};
    if (at == argc && dashes + 1 < argc && options_word(v, dashes, argv) < dashes) {
        return bad_usage(c, "'%.200s': a program is a path with a slash, such as ./%.200s", argv[dashes + 1],
                         argv[dashes + 1]);
    }
    if (at == argc) return 0;
    h->at = at;
    h->dashes = dashes;
    if (argc > WORDS_MAX) return bad_usage(c, "more than %d arguments", WORDS_MAX);
    h->path = argv[at];
    h->argv[h->argc++] = argv[at];
    h->argv[h->argc++] = (char *)(uintptr_t)v->name; /* never written to. tidy: address ok */
    for (int i = 0; i < argc; i++)
        if (i != at && !(at > dashes && i == dashes)) h->argv[h->argc++] = argv[i];
    return GO_ON;
}

/* ---- What it is ------------------------------------------------------------------------------------ */

static int refuse(cli *c, const char *path, const char *why)
{
    complain(c, "'%.400s': %s", path, why);
    return EXIT_USAGE;
}

static int check_access(cli *c, const char *path)
{
    struct stat about;
    if (stat(path, &about) != 0) return refuse(c, path, strerror(errno));
    if (S_ISDIR(about.st_mode)) return refuse(c, path, "a directory, not a program");
    if (!S_ISREG(about.st_mode)) return refuse(c, path, "not a regular file");
    return access(path, R_OK) == 0 ? 0 : refuse(c, path, strerror(errno));
}

/* Does it have machines? Returns 0 or an exit status, message printed. */
static int check_symbols(cli *c, const char *path, const rad_elf *e)
{
    if (!e->is_program) {
        return rad__elf_exported(e, "rad_lab_machines") == RAD_ELF_DEFINED
                   ? 0
                   : refuse(c, path,
                            "a shared object without machines: it does not export rad_lab_machines "
                            "(docs/write-a-machine.md)");
    }
    if (access(path, X_OK) == 0) return 0;
    if (errno == EACCES) {
        complain(c, "'%.400s': a program that cannot be executed; type: chmod +x %s", path, shell_word(path));
        return EXIT_USAGE;
    }
    return refuse(c, path, strerror(errno));
}

enum kind { KIND_OBJECT, KIND_PROGRAM, KIND_UNDER_TEST };

static int check_program(cli *c, const char *path, enum kind *kind, bool *tests)
{
    rad_error error = {.code = 0};
    rad_elf elf;
    int status = check_access(c, path);
    if (status != 0) return status;
    if (rad__os_object_open(path, &elf, &error) != 0) return complain_error(c, &error);
    bool machines = rad__elf_symbol(&elf, "rad_lab_main") != RAD_ELF_ABSENT;
    *kind = !elf.is_program ? KIND_OBJECT : machines ? KIND_PROGRAM : KIND_UNDER_TEST;
    status = *kind == KIND_UNDER_TEST ? check_fibers(c, path, &elf) : 0;
    *tests = *kind == KIND_UNDER_TEST && rad__elf_symbol(&elf, "rad_test_main") != RAD_ELF_ABSENT;
    status = status == 0 ? check_symbols(c, path, &elf) : status;
    int whole = rad__os_object_close(&elf, path, &error);
    return status == 0 && whole != 0 ? complain_error(c, &error) : status;
}

/* ---- Letting it run -------------------------------------------------------------------------------- */

static int run_program(cli *c, const handed *h)
{
    rad__os_signals_restore(c->signals); /* what this process ignores, the program would, too */
    execv(h->path, h->argv);
    int number = errno;
    complain(c, "cannot start '%.400s': %s", h->path, strerror(number));
    bool limits = number == ENOMEM || number == EAGAIN || number == E2BIG;
    return limits ? EXIT_RUNTIME : EXIT_USAGE;
}

typedef int lab_main(int argc, char **argv, const rad_machine *const *machines);

/* Both names are looked up in the object and what it is linked with: the lab is the one that its machines call. */
static int run_object(cli *c, handed *h)
{
    void *object = dlopen(h->path, RTLD_NOW | RTLD_LOCAL);
    if (object == NULL) return refuse(c, h->path, dlerror());
    void *machines = dlsym(object, "rad_lab_machines"), *door = dlsym(object, "rad_lab_main");
    lab_main *call;
    if (machines == NULL || door == NULL)
        return refuse(c, h->path, "not linked with libraddle-lab: add $(pkg-config --libs raddle-lab)");
    memcpy(&call, &door, sizeof call);
    return call(h->argc, h->argv, machines); /* it stays loaded: its machines are in use until the end */
}

int run_elsewhere(cli *c, const verb *v, int *argc, char **argv)
{
    static handed h;
    enum kind kind = KIND_OBJECT;
    int status = takes_program(v) ? find_program(c, v, *argc, argv, &h) : 0;
    if (status != GO_ON) return h.path == NULL && status == 0 ? GO_ON : status;
    bool tests = false;
    if ((status = check_program(c, h.path, &kind, &tests)) != 0) return status;
    if (kind == KIND_UNDER_TEST && tests) return use_tests(c, v, takes_machine(v), h.at, h.dashes, argc, argv);
    if (kind == KIND_UNDER_TEST) return use_fibers(c, v, takes_machine(v), h.at, h.dashes, argc, argv);
    if (h.at > h.dashes && h.at + 1 < *argc)
        return bad_usage(c, "unexpected argument '%.200s' after the program '%.200s'", argv[h.at + 1], argv[h.at]);
    if (setenv("RADDLE_PROGRAM", h.path, 1) != 0) {
        complain(c, "out of memory");
        return EXIT_RUNTIME;
    }
    return kind == KIND_PROGRAM ? run_program(c, &h) : run_object(c, &h);
}
