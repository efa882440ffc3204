/* test_shell_misuse.c — a programmer's mistakes that are cheap to notice stop the process with a message. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <raddle.h>

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "patience_support.h"

static rad_exec *exec;
static rad_task task;
static rad_job job;

static void run_to_the_end(enum rad_run (*run)(rad_task *, rad_worker *))
{
    task.run = run;
    if (rad_exec_spawn(exec, &task)) rad_exec_join(exec);
}

/* ---- Mistakes ---------------------------------------------------------------------------------------- */

static enum rad_run join_run(rad_task *t, rad_worker *w)
{
    (void)t;
    rad_exec_join(rad_worker_exec(w));
    return RAD_RUN_DONE;
}

static enum rad_run destroy_run(rad_task *t, rad_worker *w)
{
    (void)t;
    rad_exec_destroy(rad_worker_exec(w));
    return RAD_RUN_DONE;
}

static enum rad_run unknown_run(rad_task *t, rad_worker *w)
{
    (void)t, (void)w;
    return (enum rad_run)(RAD_RUN_BLOCKED + 1);
}

static enum rad_run blocked_job(rad_job *j, rad_worker *w)
{
    (void)j, (void)w;
    return RAD_RUN_BLOCKED;
}

static enum rad_run blocked_job_run(rad_task *t, rad_worker *w)
{
    (void)t;
    rad_group group = RAD_GROUP_INIT(w);
    rad_group_spawn(w, &group, &job, blocked_job);
    rad_group_wait(w, &group);
    return RAD_RUN_DONE;
}

static enum rad_run stranger_run(rad_task *t, rad_worker *w)
{
    (void)t;
    rad_group group = RAD_GROUP_INIT(NULL); /* of another worker, that is */
    rad_group_wait(w, &group);
    return RAD_RUN_DONE;
}

static enum rad_run nowhere_run(rad_task *t, rad_worker *w)
{
    static rad_task other;
    (void)t;
    rad_worker_spawn_on(w, 2, &other);
    return RAD_RUN_DONE;
}

static void join_from_a_task(void)
{
    run_to_the_end(join_run);
}

static void destroy_from_a_task(void)
{
    run_to_the_end(destroy_run);
}

static void unknown_answer(void)
{
    run_to_the_end(unknown_run);
}

static void job_that_blocks(void)
{
    run_to_the_end(blocked_job_run);
}

static void group_of_another(void)
{
    run_to_the_end(stranger_run);
}

static void spawn_nowhere(void)
{
    run_to_the_end(nowhere_run);
}

static void spawn_nowhere_from_outside(void)
{
    (void)!rad_exec_spawn_on(exec, 2, &task);
}

static void wake_nowhere(void)
{
    rad_exec_wake_on(exec, 2, &task);
}

static void stats_of_nobody(void)
{
    rad_exec_counts counts;
    rad_exec_stats(exec, 2, &counts);
}

/* ---- ------------------------------------------------------------------------------------------------- */

/* In a process of its own, with two workers; what it said. */
static int status_of(void (*mistake)(void), char *said, size_t size)
{
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        rad_exec_options options = {.workers = 2};
        patience_limit_child();
        if (dup2(ends[1], STDERR_FILENO) < 0 || rad_exec_create(&exec, &options, NULL) != 0) _exit(1);
        mistake();
        _exit(0);
    }
    close(ends[1]);
    size_t used = 0;
    for (ssize_t got; (got = read(ends[0], said + used, size - 1 - used)) > 0;) used += (size_t)got;
    said[used] = 0;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void mistakes_are_named(void **state)
{
    static const struct {
        void (*mistake)(void);
        const char *says;
    } mistakes[] = {
        {join_from_a_task, "is_self"},
        {destroy_from_a_task, "is_self"},
        {unknown_answer, "run == RAD_RUN_BLOCKED"},
        {job_that_blocks, "answer != RAD_RUN_BLOCKED"},
        {group_of_another, "g->worker == w"},
        {spawn_nowhere, "index < w->sched->config.workers"},
        {spawn_nowhere_from_outside, "index < exec->sched.config.workers"},
        {wake_nowhere, "index < exec->sched.config.workers"},
        {stats_of_nobody, "index < workers"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        char said[1000];
        int status = status_of(mistakes[i].mistake, said, sizeof said);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 4 || !strstr(said, mistakes[i].says))
            fail_msg("expected \"%s\" and status 4, got %#x: %s", mistakes[i].says, (unsigned)status, said);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(mistakes_are_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
