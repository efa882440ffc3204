/* compile.c — see compile.h.
 *
 * The compiler is told -fsanitize=thread, which makes it insert a call before each access to memory; what these calls
 * come to is our libtsan.a (lab/programs/watched/stub.c), which is linked in the place of the sanitizer's. gcc finds it
 * by -B and -L under the name that it looks for; clang is told to link none, and gets it as a file, as gcc does for
 * -shared.
 *
 * Rejected: two steps, with the flag when compiling only (with -flto the calls are inserted when linking: none
 * would be, and nobody would notice). A plugin or a compiler of our own (one for each version of each compiler). */
#include "compile.h"

#include "base/alloc.h"
#include "command/options.h"
#include "command/shell.h"
#include "fibers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORDS_MAX = 64, ADDED_MAX = 64, PATH_ROOM = 4096 };

typedef struct command {
    char text[PATH_ROOM]; /* of RADDLE_CC, cut into words */
    const char *words[WORDS_MAX + 1];
    int word_count;
    bool is_clang;
} command;

/* ---- Which compiler --------------------------------------------------------------------------------------- */

static bool is_named(const char *path, const char *part)
{
    const char *slash = strrchr(path, '/');
    return strstr(slash ? slash + 1 : path, part) != NULL;
}

/* Also of a name such as cc, which is a link to it. */
static bool is_clang(const char *name)
{
    char place[PATH_ROOM], real[PATH_ROOM];
    if (is_named(name, "clang")) return true;
    const char *path = strchr(name, '/') ? NULL : variable("PATH");
    for (const char *at = path ? path : ""; at; at = strchr(at, ':') ? strchr(at, ':') + 1 : NULL) {
        int size = (int)strcspn(at, ":");
        snprintf(place, sizeof place, "%.*s%s%s", size, at, size ? "/" : "", name);
        if (access(place, X_OK) == 0 && realpath(place, real)) return is_named(real, "clang");
    }
    return false;
}

/* The words of the variable, or the usual one. The compiler is the last that is no option: "ccache gcc -m64". */
static void command_read(command *k, const char *named, const char *usual)
{
    const char *given = variable(named);
    snprintf(k->text, sizeof k->text, "%s", *given ? given : usual);
    static const char blanks[] = " \t\n";
    char *word = k->text + strspn(k->text, blanks), *next;
    for (; *word && k->word_count < WORDS_MAX; word = next + strspn(next, blanks)) {
        next = word + strcspn(word, blanks);
        if (*next) *next++ = 0;
        k->words[k->word_count++] = word;
        if (*word != '-') k->is_clang = is_clang(word);
    }
}

/* ---- What is asked for --------------------------------------------------------------------------------------- */

static bool is_word(const char *word, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(word, *list) == 0) return true;
    return false;
}

static bool links(int argc, char **argv)
{
    static const char *const others[] = {"-c",        "-S", "-E", "-M", "-MM", "-r", "-###", "-fsyntax-only",
                                         "--version", "-v", NULL};
    bool any = false;
    for (int i = 0; i < argc; i++) {
        if (is_word(argv[i], others) && (strcmp(argv[i], "-v") != 0 || argc == 1)) return false;
        any = any || argv[i][0] != '-';
    }
    return any;
}

static bool has(int argc, char **argv, const char *word)
{
    for (int i = 0; i < argc; i++)
        if (strcmp(argv[i], word) == 0) return true;
    return false;
}

/* A sanitizer that has its own idea of memory; NULL: none. */
static const char *foreign_sanitizer(int argc, char **argv)
{
    static const char *const names[] = {"address", "hwaddress", "memory", "leak", "kernel-address"};
    static const char start[] = "-fsanitize=";
    for (int i = 0; i < argc; i++) {
        if (strncmp(argv[i], start, sizeof start - 1) != 0) continue;
        for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
            const char *at = strstr(argv[i], names[n]);
            if (at && (at[-1] == '=' || at[-1] == ',')) return names[n];
        }
    }
    return NULL;
}

/* ---- What is added ----------------------------------------------------------------------------------------------
 * */

/* For compilers: accesses that are volatile are calls of their own, returns go to who made an access, and the program
 * does not think that it is under the sanitizer. gcc does not expand copies and comparisons in place, where
 * nothing would see them. Functions that constant expressions may have, such as strlen, stay known to it. */
static const char *const GCC_WORDS[] = {"-fsanitize=thread",
                                        "--param=tsan-distinguish-volatile=1",
                                        "-fno-optimize-sibling-calls",
                                        "-U__SANITIZE_THREAD__",
                                        "-Wno-tsan",
                                        "-fno-builtin-memcpy",
                                        "-fno-builtin-memmove",
                                        "-fno-builtin-mempcpy",
                                        "-fno-builtin-memset",
                                        "-fno-builtin-bzero",
                                        "-fno-builtin-strcpy",
                                        "-fno-builtin-stpcpy",
                                        "-fno-builtin-strncpy",
                                        "-fno-builtin-strcat",
                                        "-fno-builtin-strncat",
                                        "-fno-builtin-sprintf",
                                        "-fno-builtin-snprintf",
                                        "-fno-optimize-strlen",
                                        "--param=builtin-string-cmp-inline-length=0",
                                        NULL};
static const char *const CLANG_WORDS[] = {"-fsanitize=thread",
                                          "-fno-optimize-sibling-calls",
                                          "-Wno-unused-command-line-argument",
                                          "-mllvm",
                                          "-tsan-distinguish-volatile",
                                          "-mllvm",
                                          "-tsan-instrument-func-entry-exit=0",
                                          NULL};

typedef struct added {
    const char *words[ADDED_MAX];
    int count;
    char library[PATH_ROOM], prefix[PATH_ROOM + 4], folder[PATH_ROOM + 4];
    char headers[PATH_MAX + 16], raddle[PATH_MAX + 4], at_run[PATH_MAX + 16];
} added;

static void add(added *a, const char *word)
{
    a->words[a->count++] = word;
}

static void add_library(added *a)
{
    add(a, "-Wl,--whole-archive");
    add(a, a->library);
    add(a, "-Wl,--no-whole-archive");
}

/* Programs with fibers are built with the headers and the library of this raddle, if those given name no others. */
static void add_raddle(added *a, bool linked, int argc, char **argv)
{
    char headers[PATH_MAX], library[PATH_MAX];
    if (!find_raddle(headers, library)) return;
    snprintf(a->headers, sizeof a->headers, "-idirafter%s", headers);
    add(a, a->headers);
    if (!linked || !has(argc, argv, "-lraddle")) return;
    snprintf(a->raddle, sizeof a->raddle, "-L%s", library);
    snprintf(a->at_run, sizeof a->at_run, "-Wl,-rpath,%s", library);
    add(a, a->raddle);
    add(a, a->at_run);
}

static void add_words(added *a, const command *k, int argc, char **argv)
{
    const char *const *own = k->is_clang ? CLANG_WORDS : GCC_WORDS;
    for (; *own; own++) add(a, *own);
    add_raddle(a, links(argc, argv), argc, argv);
    if (!links(argc, argv)) return;
    if (k->is_clang) {
        add(a, "-fno-sanitize-link-runtime");
        add_library(a);
        return;
    }
    add(a, "-static-libtsan");
    add(a, a->prefix);
    add(a, a->folder);
    if (has(argc, argv, "-shared")) add_library(a); /* gcc would link none */
}

static int compile(cli *c, const verb *v, const char *named, const char *usual, int argc, char **argv)
{
    static command k;
    static added a;
    if (argc == 1 && (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0)) {
        verb_help(c, v);
        return EXIT_FINE;
    }
    const char *foreign = foreign_sanitizer(argc, argv);
    if (foreign) {
        complain(c,
                 "-fsanitize=%s: it watches memory in a way of its own, so a program can be built "
                 "with it or with raddle %s, not with both",
                 foreign, v->name);
        return EXIT_USAGE;
    }
    if (!find_lab_file("watched/libtsan.a", "cc/libtsan.a", a.library, sizeof a.library)) {
        complain(c, "what is linked into programs (raddle/lab/cc/libtsan.a) is not where this "
                    "raddle was installed");
        return EXIT_RUNTIME;
    }
    int folder = (int)(strrchr(a.library, '/') - a.library);
    snprintf(a.prefix, sizeof a.prefix, "-B%.*s", folder, a.library);
    snprintf(a.folder, sizeof a.folder, "-L%.*s", folder, a.library);
    command_read(&k, named, usual);
    add_words(&a, &k, argc, argv);
    size_t room = (size_t)(k.word_count + argc + a.count + 1);
    const char **all = rad__alloc(room, sizeof *all);
    if (all == NULL || k.word_count == 0) {
        complain(c, "there is no compiler in %s, or no memory", named);
        return EXIT_RUNTIME;
    }
    int count = 0;
    for (int i = 0; i < k.word_count; i++) all[count++] = k.words[i];
    for (int i = 0; i < argc; i++) all[count++] = argv[i];
    for (int i = 0; i < a.count; i++) all[count++] = a.words[i];
    rad__os_signals_restore(c->signals);
    execvp(all[0], (char *const *)(uintptr_t)all); /* tidy: address ok: never written to */
    complain(c, "'%.400s' cannot be started; %s names the compiler (default: %s)", all[0], named, usual);
    rad__free(all);
    return EXIT_RUNTIME;
}

/* ---- The commands ---------------------------------------------------------------------------- */

static int cc_run(cli *c, int argc, char **argv)
{
    return compile(c, &VERB_CC, "RADDLE_CC", "cc", argc, argv);
}

static int cxx_run(cli *c, int argc, char **argv)
{
    return compile(c, &VERB_CXX, "RADDLE_CXX", "c++", argc, argv);
}

#define COMPILE_STATUS "that of the compiler; 2 an option that cannot be combined, 3 no compiler"

static const char *const CC_EXAMPLES[] = {
    "raddle cc -g -O2 -pthread wait.c -o wait",
    "build a program for raddle explore ./wait",
    "make -B CC='raddle cc' CFLAGS='-g -O2 -pthread' wait",
    "by make; CC='raddle cc' is for configure, cmake and meson, too",
    "RADDLE_CC='cc -std=gnu11' raddle cc -g -c wait.c",
    "by another compiler, or with options of its own",
    NULL,
};

static const char *const CXX_EXAMPLES[] = {
    "raddle c++ -g -O2 -pthread wait.cpp -o wait",
    "build a program for raddle explore ./wait",
    "RADDLE_CXX='c++ -std=c++20' raddle c++ -g -c wait.cpp",
    "by another compiler, or with options of its own",
    NULL,
};

const verb VERB_CC = {
    .name = "cc",
    .about = "compile C for explore: atomics and races",
    .usage = "ARGUMENTS...",
    .text = "Call the C compiler with these arguments and build a program of which explore sees each "
            "access to memory: atomics are decisions, data races are found. By itself the program "
            "runs as usual, but slower.\n\n"
            "Compile and link everything with it that shares memory between threads. RADDLE_CC "
            "names the compiler. It finds raddle.h, and -lraddle, of this raddle.",
    .status = COMPILE_STATUS,
    .examples = CC_EXAMPLES,
    .run = cc_run,
};

const verb VERB_CXX = {
    .name = "c++",
    .about = "compile C++ for explore: atomics and races",
    .usage = "ARGUMENTS...",
    .text = "Do what raddle cc does, with the C++ compiler. RADDLE_CXX names it.",
    .status = COMPILE_STATUS,
    .examples = CXX_EXAMPLES,
    .run = cxx_run,
};
