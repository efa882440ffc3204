/* start.c — from the loader to main, and a failed assertion. How the program ends is in ends.c. */
#define _GNU_SOURCE
#include "lab/programs/fibers/server.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/readable.h"
#include "lab/programs/dispatch.h"
#include "lab/programs/fibers/counter.h"
#include "lab/programs/fibers/files.h"
#include "lab/programs/fibers/mistakes.h"
#include "lab/programs/fibers/stage.h"
#include "lab/programs/hello.h"
#include "lab/programs/inserted.h"
#include "lab/programs/threads/threads.h"
#include "lab/programs/watched/libc_memory.h"
#include "os/process.h"
#include "os/term.h"
#include "os/thread_pointer.h"

#include <dlfcn.h>
#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef int main_function(int argc, char **argv, char **envp);
typedef int start_function(main_function *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
                           void (*loader_fini)(void), void *stack_end);

RAD_API int __libc_start_main(main_function *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
                              void (*loader_fini)(void), void *stack_end);
RAD_API _Noreturn void __assert_fail(const char *expression, const char *file, unsigned line, const char *function);

void rad__process_exit(int status)
{
    rad__dispatch_shut(false);
    for (;;) syscall(SYS_exit_group, status);
}

/* ---- The beginning --------------------------------------------------------------------------------------- */

static _Noreturn void give_up(const char *why)
{
    rad__readable_print(stderr, "%s\n", why);
    rad__process_exit(127);
}

static void greet(int in, int out, rad_setup *setup)
{
    rad_hello hello;
    rad__hello_make(&hello);
    if (rad__os_write_all(out, &hello, sizeof hello, NULL) != 0 ||
        rad__os_read(in, setup, sizeof *setup, NULL) != sizeof *setup)
        rad__process_exit(127);
}

/* NULL: raddle has gone, or there is no memory. */
static char *read_text(int in)
{
    uint64_t size;
    if (rad__os_read(in, &size, sizeof size, NULL) != sizeof size) return NULL;
    char *text = rad__alloc(1, size + 1);
    for (uint64_t at = 0; text && at < size;) {
        int64_t got = rad__os_read(in, text + at, size - at, NULL);
        if (got <= 0) return NULL;
        at += (uint64_t)got;
    }
    return text;
}

/* Its lines; the list ends with NULL, and is NULL if there are none. */
static const char *const *lines_of(char *text)
{
    size_t count = 0;
    for (const char *at = text; *at; at++) count += *at == '\n';
    const char **lines = count > 0 ? rad__alloc(count + 1, sizeof *lines) : NULL;
    for (size_t i = 0; lines && i < count; i++) {
        lines[i] = text;
        text += strcspn(text, "\n");
        *text++ = 0;
    }
    return lines;
}

/* Which places of watched code are points, which races do not count; and how many places there are. */
static bool exchange_points(int in, int out, const char **points)
{
    rad_inserted all = {.modules = 0};
    const char *without;
    uint32_t modules;
    *points = read_text(in);
    char *suppressed = *points ? read_text(in) : NULL;
    if (suppressed == NULL) return false;
    rad__stage.suppressed = lines_of(suppressed);
    all.calls = rad__watched_calls(&modules, &without);
    all.modules = modules;
    if (without != NULL) snprintf(all.without, sizeof all.without, "%s", *without ? without : "the program");
    return rad__os_write_all(out, &all, sizeof all, NULL) == 0;
}

/* Memory comes from one heap, which grows and does not shrink: it can be put back without asking which mappings
 * malloc has made. */
static void malloc_stays(void)
{
    enum { RESERVE = 1 << 20 };
    mallopt(M_ARENA_MAX, 1); /* also of threads */
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    mallopt(M_TOP_PAD, RESERVE);
}

/* The system writes into the memory of a thread on which processor it runs (rseq), whenever that changes: states of the
 * program that are the same would differ. */
static void forget_processor(void)
{
#if defined(__x86_64__)
    enum { SIZE = 32, LEAVE = 1, SIGNATURE = 0x53053053 };
#else
    enum { SIZE = 32, LEAVE = 1 };
    const unsigned SIGNATURE = 0xd428bc00;
#endif
    const ptrdiff_t *offset = dlsym(RTLD_DEFAULT, "__rseq_offset");
    const unsigned *size = dlsym(RTLD_DEFAULT, "__rseq_size");
    if (offset == NULL || size == NULL || *size == 0) return; /* an older C library */
    syscall(SYS_rseq, (char *)rad__thread_pointer_get() + *offset, SIZE, LEAVE, SIGNATURE);
}

/* Runs in the place of main. */
static int lab_main(int argc, char **argv, char **envp)
{
    int in = -1, out = -1, memory = -1, used = 0;
    char mode = 0;
    rad_setup setup;
    rad_error error = {0};
    const char *how = rad__os_env(RAD_UNDER_TEST);
    if (how == NULL || sscanf(how, "%d,%d,%d,%c%n", &in, &out, &memory, &mode, &used) != 4)
        give_up("this library is the one that 'raddle explore' loads, and is for nothing else");
    rad__processors_open();
    unsetenv(RAD_UNDER_TEST); /* the program sees the environment that raddle had */
    unsetenv("LD_PRELOAD");
    unsetenv("LD_BIND_NOW");
    rad__stage.in_lab = true;
    if (mode == 'c') { /* raddle asks for the tests: nothing runs */
        rad__stage.listed = true;
        rad__process_exit(rad__stage.main(argc, argv, envp));
    }
    greet(in, out, &setup);
    rad__cxx_open();
    rad__callables_open();
    const char *points = NULL;
    if (!rad__variables_read(in) || !exchange_points(in, out, &points)) rad__process_exit(127);
    rad__stage.argc = argc;
    rad__stage.argv = argv;
    rad__stage.envp = envp;
    rad__stage.real_threads = setup.real_threads != 0;
    rad__stage.clock_free = setup.clock_free != 0;
    rad__stage.spurious = setup.spurious != 0;
    rad__stage.closed_fails = setup.closed_fails != 0;
    rad__stage.memory_limit = setup.memory_limit;
    if (setup.debugged) rad__debugger_await();
    snprintf(rad__stage.folders, sizeof rad__stage.folders, "%s", setup.folders);
    malloc_stays();
    forget_processor();
    rad__signals_open();
    signal(SIGPIPE, SIG_IGN); /* lab/programs/threads/descriptors.c sends it */
    rad__around_open();
    rad__marks_open();
    rad__libc_open();
    rad__operators_open();
    rad__ends_look();
    if (rad__stage_open(&error) != 0) give_up(error.text);
    if (!rad__watched_open()) give_up("no memory to watch the program's");
    rad__watched_points(points);
    rad__process_exit(mode == 't' ? rad__server_tells(in, out, setup.dies)
                                  : rad__keeper_works(in, out, memory, &setup));
}

/* ---- A failed assertion --------------------------------------------------------------------------------- */

/* "shop::queue::push" of "void shop::queue::push(int)", "takes" of "void *takes(void *)": C++ and clang say more than
 * the name. */
static void function_name(const char *text, char name[64])
{
    static const char hidden[] = "(anonymous namespace)";
    size_t from = 0, end = 0;
    for (uint32_t depth = 0; text[end] && (text[end] != '(' || depth > 0); end++) {
        if (strncmp(text + end, hidden, sizeof hidden - 1) == 0) end += sizeof hidden - 2;
        depth += text[end] == '<';
        depth -= text[end] == '>' && depth > 0;
        bool of_type = end > 0 && strchr("*&", text[end]) && strchr(" *&", text[end - 1]);
        if ((text[end] == ' ' || of_type) && depth == 0) from = end + 1;
    }
    snprintf(name, 64, "%.*s", (int)(end - from), text + from);
}

void __assert_fail(const char *expression, const char *file, unsigned line, const char *function)
{
    const char *slash = strrchr(file, '/');
    if (rad__stage.running) {
        char at[200], name[64];
        function_name(function ? function : "?", name);
        snprintf(at, sizeof at, "%.132s in %s", expression, name);
        rad__program_fails(RAD_ORACLE_ASSERT, at, "%s:%u: %s: assertion failed: %s", slash ? slash + 1 : file, line,
                           function ? function : "?", expression);
    }
    rad__readable_print(stderr, "%s:%u: assertion failed: %s\n", file, line, expression);
    signal(SIGABRT, SIG_DFL);
    kill(getpid(), SIGABRT);
    rad__process_exit(127);
}

/* ---- From the loader ------------------------------------------------------------------------------------ */

int __libc_start_main(main_function *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*loader_fini)(void), void *stack_end)
{
    start_function *real;
    void *symbol = dlsym(RTLD_NEXT, "__libc_start_main");
    if (symbol == NULL) give_up("no __libc_start_main in the C library");
    memcpy(&real, &symbol, sizeof real);
    rad__stage.main = main;
    rad__counter_start();
    if (!rad__ends_open()) give_up("no memory for a handler of exit");
    return real(lab_main, argc, argv, init, fini, loader_fini, stack_end);
}
