/* test_descendants.c — whoever comes from a process is found, wherever it went; nobody else is. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "os/descendants.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static int told[2]; /* a pipe: numbers of processes that are ready */

/* Ready, and then there until somebody ends it. */
_Noreturn static void stay(int ignored)
{
    if (ignored != 0) signal(ignored, SIG_IGN);
    int self = (int)getpid();
    if (write(told[1], &self, sizeof self) != (ssize_t)sizeof self) _exit(9);
    for (;;) pause();
}

static int next_ready(void)
{
    int pid;
    assert_int_equal(read(told[0], &pid, sizeof pid), sizeof pid);
    return pid;
}

/* Whether a process of that number is there and not dead. */
static bool lives(int pid)
{
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/%d/status", pid);
    FILE *status = fopen(path, "re");
    bool alive = false;
    while (status != NULL && fgets(line, sizeof line, status) != NULL)
        if (strncmp(line, "State:", 6) == 0) alive = strchr(line, 'Z') == NULL;
    if (status != NULL) fclose(status);
    return alive;
}

/* Until there are no children: what a shim does. */
static uint32_t end_all(int number)
{
    uint32_t sent = 0;
    while (rad__os_has_children()) {
        sent += rad__os_signal_descendants(number, 0);
        while (waitpid(-1, NULL, WNOHANG) > 0) continue;
        usleep(1000);
    }
    return sent;
}

/* Every test in a process of its own, which has no other children. */
static void apart(int (*test)(void))
{
    int status;
    assert_int_equal(pipe(told), 0);
    fflush(NULL);
    int pid = fork();
    if (pid == 0) {
        if (!rad__os_adopt_orphans()) _exit(8);
        _exit(test());
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    close(told[0]);
    close(told[1]);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

#define REQUIRE(condition)                                                                                             \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "# line %d: %s\n", __LINE__, #condition);                                                  \
            return 1;                                                                                                  \
        }                                                                                                              \
    } while (0)

/* ---- Who gets away -------------------------------------------------------------------------------------- */

static void daemonize(void)
{
    if (fork() != 0) _exit(0);
    setsid();
    if (fork() != 0) _exit(0);
    stay(SIGTERM);
}

static int find_daemon(void)
{
    int pids[3];
    REQUIRE(!rad__os_has_children());
    REQUIRE(rad__os_signal_descendants(SIGKILL, 0) == 0);
    for (int i = 0; i < 3; i++) {
        if (fork() == 0) daemonize();
        pids[i] = next_ready();
    }
    REQUIRE(rad__os_has_children());
    rad__os_signal_descendants(SIGTERM, 0);
    for (int i = 0; i < 3; i++) REQUIRE(lives(pids[i])); /* they do not listen */
    end_all(SIGKILL);
    for (int i = 0; i < 3; i++) REQUIRE(!lives(pids[i]));
    return 0;
}

static void test_daemons_are_found(void **state)
{
    (void)state;
    apart(find_daemon);
}

/* A child, its child in a session of its own, and so on, all of them alive: each gets the signal once. */
_Noreturn static void make_chain(int length)
{
    while (length-- > 1 && fork() == 0) setsid();
    stay(0);
}

static int find_chain(void)
{
    int pids[10];
    if (fork() == 0) make_chain(10);
    for (int i = 0; i < 10; i++) pids[i] = next_ready();
    REQUIRE(rad__os_signal_descendants(SIGTERM, 0) == 10);
    while (rad__os_has_children()) waitpid(-1, NULL, 0);
    for (int i = 0; i < 10; i++) REQUIRE(!lives(pids[i]));
    return 0;
}

static void test_every_generation_is_found(void **state)
{
    (void)state;
    apart(find_chain);
}

/* Each lives for a moment, in a session of its own, and leaves another one behind. */
_Noreturn static void run_away(void)
{
    do {
        setsid();
        usleep(500);
    } while (fork() == 0);
    _exit(0);
}

static int catch_runaway(void)
{
    for (int i = 0; i < 3; i++)
        if (fork() == 0) run_away();
    end_all(SIGKILL);
    return rad__os_has_children() ? 1 : 0;
}

static void test_who_runs_away_is_caught(void **state)
{
    (void)state;
    apart(catch_runaway);
}

/* ---- Who is not meant ----------------------------------------------------------------------------------- */

static int spare_others(void)
{
    int outside = (int)getppid(), member, other;
    if ((member = fork()) == 0) {
        setpgid(0, 0);
        stay(0);
    }
    next_ready();
    if ((other = fork()) == 0) {
        setpgid(0, 0);
        stay(0);
    }
    next_ready();
    REQUIRE(rad__os_signal_descendants(SIGTERM, member) == 1); /* but that group */
    REQUIRE(waitpid(other, NULL, 0) == other);
    REQUIRE(lives(member));
    REQUIRE(lives(outside));
    REQUIRE(rad__os_signal_descendants(SIGKILL, 0) == 1);
    while (lives(member)) usleep(1000);
    REQUIRE(rad__os_signal_descendants(SIGKILL, 0) == 0); /* it is dead, and nobody has waited for it */
    REQUIRE(rad__os_has_children());
    REQUIRE(waitpid(member, NULL, 0) == member);
    REQUIRE(!rad__os_has_children());
    return 0;
}

static void test_nobody_else_is_hit(void **state)
{
    (void)state;
    apart(spare_others);
}

/* In a new namespace of process numbers, where /proc is still that of the old one. */
static int find_in_namespace(void)
{
    if (unshare(CLONE_NEWPID) != 0) return 0; /* it is not allowed here */
    int first = fork(), status;
    if (first == 0) { /* number 1 in there */
        if (getpid() != 1 || !rad__os_adopt_orphans()) _exit(7);
        for (int i = 0; i < 3; i++) {
            if (fork() == 0) daemonize();
            next_ready();
        }
        end_all(SIGKILL);
        _exit(rad__os_has_children() ? 6 : 0);
    }
    REQUIRE(waitpid(first, &status, 0) == first);
    REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return 0;
}

static void test_numbers_of_another_namespace(void **state)
{
    (void)state;
    apart(find_in_namespace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_daemons_are_found),
        cmocka_unit_test(test_every_generation_is_found),
        cmocka_unit_test(test_who_runs_away_is_caught),
        cmocka_unit_test(test_nobody_else_is_hit),
        cmocka_unit_test(test_numbers_of_another_namespace),
    };
    return cmocka_run_group_tests_name("os_descendants", tests, NULL, NULL);
}
