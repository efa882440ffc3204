#include "sync_support.h"
#include "patience_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

void expect_misuse(void (*body)(void), const char *message)
{
    int ends[2], status;
    char text[512] = "";
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        signal(SIGABRT, SIG_DFL); /* not cmocka's */
        dup2(ends[1], 2);
        patience_limit_child();
        body();
        _exit(0);
    }
    close(ends[1]);
    size_t size = 0;
    for (ssize_t got; size < sizeof text - 1 && (got = read(ends[0], text + size, sizeof text - 1 - size)) > 0;)
        size += (size_t)got;
    close(ends[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    bool told = strncmp(text, "raddle: ", 8) == 0 && strncmp(text + 8, message, strlen(message)) == 0;
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT || !told)
        print_error("status %d, expected \"%s\", said \"%s\"\n", status, message, text);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
    assert_true(told);
}
