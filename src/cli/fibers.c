/* fibers.c — see fibers.h. */
#include "fibers.h"

#include "command/program.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIBRARY     "libraddle.so"
#define LAB_LIBRARY LIBRARY "." RADDLE_SOVERSION

static int refuse(cli *c, const char *path, const char *why)
{
    complain(c, "'%.400s': %s", path, why);
    return EXIT_USAGE;
}

/* ---- What can be put under test -------------------------------------------------------------------------- */

/* The name of a sanitizer that it was compiled with, or NULL. */
static const char *sanitizer_of(const rad_elf *e)
{
    static const char *const rows[][2] = {{"__asan_init", "the address sanitizer"},
                                          {"__tsan_init", "the thread sanitizer"},
                                          {"__msan_init", "the memory sanitizer"},
                                          {"__hwasan_init", "the hardware address sanitizer"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool ours = i == 1 && rad__elf_symbol(e, "rad_watched") != RAD_ELF_ABSENT; /* raddle cc */
        if (!ours && rad__elf_symbol(e, rows[i][0]) != RAD_ELF_ABSENT) return rows[i][1];
    }
    return NULL;
}

/* It does not load our library by the name that the lab's has. */
static int refuse_unlinked(cli *c, const char *path, const rad_elf *e)
{
    const char *other = rad__elf_needed(e, LIBRARY ".");
    if (other) {
        complain(c, "'%.400s': linked with %.60s, but this raddle explores programs of " LAB_LIBRARY, path, other);
        return EXIT_USAGE;
    }
    if (rad__elf_needed(e, "libraddle-lab.so.") || rad__elf_needed(e, "libraddle-load.so.")) {
        return refuse(c, path,
                      "linked with the lab itself, but has no machines; link it with -lraddle, or "
                      "let it call rad_lab_main (docs/write-a-machine.md)");
    }
    if (rad__elf_symbol(e, "rad_main") == RAD_ELF_DEFINED ||
        rad__elf_symbol(e, "rad_runtime_create") == RAD_ELF_DEFINED) {
        return refuse(c, path,
                      "linked with the static libraddle.a; link it with the shared library: cc ... "
                      "$(pkg-config --libs raddle)");
    }
    if (e->entry_count == 0) {
        return refuse(c, path,
                      "a static program: the lab's library cannot be loaded into it; link it with "
                      "the shared library, without -static: cc ... $(pkg-config --libs raddle)");
    }
    return refuse(c, path,
                  "uses no threads, no fibers of Raddle (it is not linked with " LAB_LIBRARY
                  ") and has no machines (docs/write-a-machine.md): there is nothing to explore");
}

/* It has our runtime or lab in another form than the one that can be explored. */
static bool has_parts_of_ours(const rad_elf *e)
{
    return rad__elf_needed(e, LIBRARY) || rad__elf_needed(e, "libraddle-lab.so.") ||
           rad__elf_needed(e, "libraddle-load.so.") || rad__elf_symbol(e, "rad_main") == RAD_ELF_DEFINED ||
           rad__elf_symbol(e, "rad_runtime_create") == RAD_ELF_DEFINED;
}

/* It makes threads itself, or has a library that may. */
static bool uses_threads(const rad_elf *e)
{
    static const char *const calls[] = {"pthread_create", "thrd_create", "timer_create"};
    static const char *const quiet[] = {"libc.so.",  "libm.so.", "ld-linux",       "libgcc_s.so.",  "libdl.so.",
                                        "librt.so.", "libtinfo", "libselinux.so.", "libresolv.so.", NULL};
    if (has_parts_of_ours(e)) return false;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (rad__elf_symbol(e, calls[i]) == RAD_ELF_NEEDED) return true;
    return rad__elf_needs_other(e, quiet);
}

int check_fibers(cli *c, const char *path, const rad_elf *e)
{
    struct stat about;
    if (e->is_go)
        return refuse(c, path,
                      "a Go program: its runtime starts threads by itself, with signals and stacks of its own");
    const char *sanitizer = sanitizer_of(e), *needed = rad__elf_needed(e, LIBRARY ".");
    if (!uses_threads(e) && (needed == NULL || strcmp(needed, LAB_LIBRARY) != 0)) return refuse_unlinked(c, path, e);
    if (sanitizer) {
        complain(c,
                 "'%.400s': compiled with %s, which does not know the fibers of a run under test; "
                 "compile it without -fsanitize",
                 path, sanitizer);
        return EXIT_USAGE;
    }
    if (stat(path, &about) == 0 && (about.st_mode & (S_ISUID | S_ISGID)))
        return refuse(c, path, "runs as another user or group: the lab's library cannot be loaded");
    if (e->all.symbol_count == 0) {
        c->program_lacks = "it is stripped: functions have no names, lines no numbers; link it "
                           "without -s, and compile it with -g";
    } else if (!e->has_debug) {
        c->program_lacks = "it has no debug information: lines have no numbers; compile it with -g";
    }
    return 0;
}

/* ---- The lab's library ----------------------------------------------------------------------------------- */

/* Where this command is; false: that is not known. */
static bool own_folder(char *path, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    path[length > 0 ? length : 0] = 0;
    char *slash = strrchr(path, '/');
    if (slash) *slash = 0;
    return slash != NULL;
}

bool find_lab_file(const char *built, const char *installed, char *path, size_t size)
{
    const char *places[][2] = {{"/src/lab/programs/", built}, {"/../" RADDLE_LIBDIR "/raddle/lab/", installed}};
    char own[4096];
    bool known = own_folder(own, sizeof own);
    for (size_t i = 0; known && i < sizeof places / sizeof *places; i++) {
        int used = snprintf(path, size, "%s%s%s", own, places[i][0], places[i][1]);
        if (used > 0 && (size_t)used < size && access(path, R_OK) == 0) return true;
    }
    int used = snprintf(path, size, "%s%s", RADDLE_PREFIX "/" RADDLE_LIBDIR "/raddle/lab/", installed);
    return used > 0 && (size_t)used < size && access(path, R_OK) == 0;
}

/* The folder, if it has that file. */
static bool has_file(const char *own, const char *folder, const char *name, char path[PATH_MAX])
{
    char file[2 * PATH_MAX];
    int used = snprintf(file, sizeof file, "%s%s%s", own, folder, name);
    if (used <= 0 || (size_t)used >= sizeof file || access(file, R_OK) != 0) return false;
    file[(size_t)used - strlen(name)] = 0;
    return realpath(file, path) != NULL;
}

bool find_raddle(char headers[PATH_MAX], char library[PATH_MAX])
{
    char own[4096];
    headers[0] = library[0] = 0;
    bool known = own_folder(own, sizeof own);
    bool found = (known && has_file(own, "/../include", "/raddle.h", headers)) ||
                 has_file("", RADDLE_PREFIX "/include", "/raddle.h", headers);
    return found && ((known && has_file(own, "", "/" LIBRARY, library)) ||
                     (known && has_file(own, "/../" RADDLE_LIBDIR, "/" LIBRARY, library)) ||
                     has_file("", RADDLE_PREFIX "/" RADDLE_LIBDIR, "/" LIBRARY, library));
}

/* `raddle explore ./program --runs 9`: the program gets --runs, and its user may have meant raddle. */
static void note_options(const verb *v, char *const *own)
{
    for (char *const *word = own + 1; *word != NULL; word++) {
        size_t length = strcspn(*word, "=");
        for (const option *o = v->options; o != NULL && o->name != NULL; o++) {
            if (strncmp(*word, "--", 2) == 0 && strlen(o->name) == length - 2 &&
                strncmp(*word + 2, o->name, length - 2) == 0) {
                note("note: %s is an argument of the program; to give it to raddle, write it "
                     "before the program: raddle %s %s ... %s\n",
                     *word, v->name, *word, own[0]);
                return;
            }
        }
    }
}

static int use_input(cli *c, const char *path)
{
    struct stat about;
    if (access(path, R_OK) != 0 || stat(path, &about) != 0 || !S_ISREG(about.st_mode))
        return bad_usage(c, "--stdin '%.400s': not a readable regular file", path);
    test_input(path);
    return 0;
}

/* Emptied here: each process of the search adds to it. */
static int use_shown(cli *c, const char *path)
{
    int file = strlen(path) < SHOWN_MAX ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
    if (file < 0) return bad_usage(c, "--show-output '%.400s': not a writable file", path);
    close(file);
    test_shown(path);
    return 0;
}

/* `--stdin FILE` and `--show-output FILE`, which every verb takes for a program under test: the words are taken out. */
static int take_files(cli *c, int *argc, char **argv)
{
    static const struct {
        const char *name;
        int (*use)(cli *c, const char *path);
    } all[] = {{"--stdin", use_input}, {"--show-output", use_shown}};
    for (int i = 0; i < 2 * *argc; i++) {
        char **word = &argv[i / 2];
        const char *name = all[i % 2].name;
        size_t size = strlen(name);
        bool apart = strcmp(*word, name) == 0 && i / 2 + 1 < *argc;
        if (!apart && (strncmp(*word, name, size) != 0 || (*word)[size] != '=')) continue;
        int status = all[i % 2].use(c, apart ? word[1] : *word + size + 1);
        if (status != 0) return status;
        int taken = apart ? 2 : 1;
        for (int j = i / 2; j + taken < *argc; j++) argv[j] = argv[j + taken];
        *argc -= taken;
        i = i / 2 * 2 - 1;
    }
    return 0;
}

int use_fibers(cli *c, const verb *v, bool takes_machine, int at, int dashes, int *argc, char **argv)
{
    static char library[8192];
    static char *own[1024];
    const char *machine = NULL;
    int count = 0;
    if (!find_lab_file("fibers/" LAB_LIBRARY, LAB_LIBRARY, library, sizeof library)) {
        complain(c, "the library for programs under test (raddle/lab/" LAB_LIBRARY
                    ") is not where this raddle was installed");
        return EXIT_RUNTIME;
    }
    if (strchr(library, ' ') || strchr(library, ':')) {
        complain(c, "'%.400s': the loader takes no library from a path with a blank or a colon", library);
        return EXIT_RUNTIME;
    }
    for (int i = at; i < *argc && count < 1023; i++) own[count++] = argv[i];
    own[count] = NULL;
    if (at < dashes) note_options(v, own);
    int status = test_program(c, own, library, &machine);
    if (status != 0) return status;
    *argc = at > dashes ? dashes : at;
    if ((status = take_files(c, argc, argv)) != 0) return status;
    if (takes_machine && v != &VERB_LIST && v != &VERB_TEST)
        argv[(*argc)++] = (char *)(uintptr_t)machine; /* never written to. tidy: address ok */
    return GO_ON;
}

int use_tests(cli *c, const verb *v, bool takes_machine, int at, int dashes, int *argc, char **argv)
{
    if (v != &VERB_TEST) {
        int status = use_fibers(c, v, takes_machine, at, dashes, argc, argv);
        if (status == GO_ON) program_has_tests(argv[at + 1] == NULL && !takes_machine);
        return status;
    }
    /* The program alone, as if it were the last word; then what is left closes up. */
    char *path = argv[at], *only[] = {path, NULL};
    int count = 1, none = 1;
    int status = use_fibers(c, v, true, 0, 1, &none, only);
    if (status != GO_ON) return status;
    program_has_tests(false);
    for (count = at; count + 1 < *argc; count++) argv[count] = argv[count + 1];
    *argc = count;
    return GO_ON;
}
