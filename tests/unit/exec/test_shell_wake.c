/* test_shell_wake.c — every way to hand sleeping workers something to do wakes one of them: first they are all
 * asleep, then there is work. Elsewhere they are often still awake, and a wake that was forgotten goes unnoticed.
 *
 * Who sleeps is read from the counts of idle.h; a worker announces itself a few instructions before it sleeps, so the
 * tests wait a moment more. Were it slower than that, a forgotten wake could be missed, but nothing would be
 * reported that is not so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "exec/thread/thread.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "patience_support.h"

enum { PATIENCE_MS = PATIENCE_SECONDS * 1000, MOMENT_MS = 3, TASKS = 4 };

static void nap_ms(uint32_t ms)
{
    struct timespec t = {.tv_nsec = (long)ms * 1000000};
    nanosleep(&t, NULL);
}

static bool becomes(_Atomic uint32_t *word, uint32_t expected)
{
    for (uint32_t ms = 0; atomic_load(word) != expected; ms++) {
        if (ms == PATIENCE_MS) return false;
        nap_ms(1);
    }
    return true;
}

static bool are_asleep(const rad_idle *idle, uint32_t count)
{
    return rad__idle_parked(idle) == count && rad__idle_searching(idle) == 0;
}

static bool fall_asleep(rad_exec *exec, uint32_t count)
{
    for (uint32_t ms = 0; !are_asleep(&exec->sched.idle, count); ms++) {
        if (ms == PATIENCE_MS) return false;
        nap_ms(1);
    }
    nap_ms(MOMENT_MS);
    return true;
}

/* How often threads of this process, the caller's aside, have gone to sleep. */
static uint64_t count_sleeps(void)
{
    DIR *tasks = opendir("/proc/self/task");
    uint64_t sum = 0, count;
    char text[512], self[16];
    assert_non_null(tasks);
    snprintf(self, sizeof self, "%d", (int)getpid());
    for (struct dirent *d; (d = readdir(tasks)) != NULL;) {
        if (d->d_name[0] == '.' || strcmp(d->d_name, self) == 0) continue;
        snprintf(text, sizeof text, "/proc/self/task/%s/status", d->d_name);
        FILE *status = fopen(text, "r");
        while (status && fgets(text, sizeof text, status))
            if (sscanf(text, "voluntary_ctxt_switches: %" SCNu64, &count) == 1) sum += count;
        if (status) fclose(status);
    }
    closedir(tasks);
    return sum;
}

/* ---- What is handed over ------------------------------------------------------------------------------- */

typedef struct stage stage; /* on the heap: when a test fails, workers may go on using it */

typedef struct piece {
    rad_task task;
    stage *stage;
    uint32_t runs;
} piece;

/* A task that waits for a job. */
typedef struct party {
    rad_task task;
    rad_group group;
    rad_job job;
    stage *stage;
    _Atomic uint32_t begun; /* the job runs, on another worker */
    bool rings;             /* the waiter sleeps on its bell, not on its token */
    bool was_good;
} party;

/* Two or more workers, and what they are given. */
struct stage {
    rad_exec *exec;
    _Atomic uint32_t ran; /* runs that have ended */
    _Atomic uint32_t met; /* pieces that wait for each other */
    party party;
    void (*hand_on)(rad_worker *w, stage *s); /* what the first piece does with the second */
    piece pieces[TASKS];
};

static enum rad_run piece_runs(rad_task *task, rad_worker *w)
{
    (void)w;
    atomic_fetch_add(&((piece *)task)->stage->ran, 1);
    return RAD_RUN_DONE;
}

static enum rad_run piece_blocks_first(rad_task *task, rad_worker *w)
{
    piece *p = (piece *)task;
    enum rad_run answer = p->runs++ == 0 ? RAD_RUN_BLOCKED : RAD_RUN_DONE;
    (void)w;
    atomic_fetch_add(&p->stage->ran, 1);
    return answer;
}

/* Waits for another one that does the same: for ever, if both are left to one worker. */
static enum rad_run piece_meets(rad_task *task, rad_worker *w)
{
    stage *s = ((piece *)task)->stage;
    (void)w;
    atomic_fetch_add(&s->met, 1);
    if (becomes(&s->met, 2)) atomic_fetch_add(&s->ran, 1);
    return RAD_RUN_DONE;
}

/* Hands the second piece on and keeps its worker busy until somebody has run that. */
static enum rad_run piece_hands_on(rad_task *task, rad_worker *w)
{
    stage *s = ((piece *)task)->stage;
    uint32_t before = atomic_load(&s->ran);
    s->hand_on(w, s);
    if (becomes(&s->ran, before + 1)) atomic_fetch_add(&s->ran, 1);
    return RAD_RUN_DONE;
}

static stage *stage_open(rad_exec_options options)
{
    rad_error error;
    stage *s = calloc(1, sizeof *s);
    assert_non_null(s);
    if (rad_exec_create(&s->exec, &options, &error) != 0) fail_msg("%s", error.text);
    for (uint32_t i = 0; i < TASKS; i++) s->pieces[i] = (piece){{.run = piece_runs}, s, 0};
    s->party.stage = s;
    return s;
}

static void asleep(stage *s)
{
    uint32_t workers = rad_exec_workers(s->exec);
    if (!fall_asleep(s->exec, workers)) fail_msg("%u workers do not fall asleep", workers);
}

static void ran(stage *s, uint32_t count)
{
    if (!becomes(&s->ran, count)) fail_msg("%u runs, not %u", atomic_load(&s->ran), count);
}

static void stage_close(stage *s, int64_t failure)
{
    assert_int_equal(rad_exec_join(s->exec), failure);
    rad_exec_destroy(s->exec);
    free(s);
}

/* ---- From outside --------------------------------------------------------------------------------------- */

static void from_outside(rad_exec_options options)
{
    stage *s = stage_open(options);
    piece *p = s->pieces;
    rad_task *one[] = {&p[0].task}, *two[] = {&p[1].task, &p[2].task};
    asleep(s);
    assert_true(rad_exec_spawn(s->exec, &p[0].task));
    ran(s, 1);
    asleep(s);
    assert_true(rad_exec_spawn_batch(s->exec, one, 1));
    ran(s, 2);
    for (uint32_t i = 0; i < options.workers; i++) {
        asleep(s);
        assert_true(rad_exec_spawn_on(s->exec, i, &p[0].task));
        ran(s, 3 + i);
    }
    asleep(s);
    atomic_store(&s->ran, 0);
    p[1].task.run = p[2].task.run = piece_meets;
    assert_true(rad_exec_spawn_batch(s->exec, two, 2));
    ran(s, 2);
    asleep(s);
    stage_close(s, 0); /* wakes everybody */
}

static void what_comes_from_outside_wakes(void **state)
{
    (void)state;
    from_outside((rad_exec_options){.workers = 2});
    from_outside((rad_exec_options){.workers = 3, .spin_us = RAD_SPIN_NONE});
}

static void what_was_blocked_wakes(void **state)
{
    (void)state;
    for (uint32_t on = 0; on < 3; on++) {
        stage *s = stage_open((rad_exec_options){.workers = 2});
        s->pieces[0].task.run = piece_blocks_first;
        assert_true(rad_exec_spawn(s->exec, &s->pieces[0].task));
        ran(s, 1);
        asleep(s);
        if (on < 2)
            rad_exec_wake_on(s->exec, on, &s->pieces[0].task);
        else
            rad_exec_wake(s->exec, &s->pieces[0].task);
        ran(s, 2);
        stage_close(s, 0);
    }
}

/* The plain order: in turn, whoever sleeps. */
static void the_plain_order_wakes(void **state)
{
    (void)state;
    stage *s = stage_open((rad_exec_options){.workers = 2, .plain_wake = true, .spin_us = RAD_SPIN_NONE});
    for (uint32_t i = 0; i < 6; i++) {
        nap_ms(10 * MOMENT_MS); /* it does not count sleepers */
        if (i % 3 == 0)
            assert_true(rad_exec_spawn(s->exec, &s->pieces[0].task));
        else
            assert_true(rad_exec_spawn_on(s->exec, i % 2, &s->pieces[0].task));
        ran(s, i + 1);
    }
    nap_ms(10 * MOMENT_MS);
    stage_close(s, 0);
}

/* ---- From a task ---------------------------------------------------------------------------------------- */

static void hand_to_its_own(rad_worker *w, stage *s)
{
    rad_worker_spawn(w, &s->pieces[1].task);
}

static void hand_to_all(rad_worker *w, stage *s)
{
    rad_worker_spawn_global(w, &s->pieces[1].task);
}

static void hand_to_the_other(rad_worker *w, stage *s)
{
    rad_worker_spawn_on(w, 1 - rad_worker_index(w), &s->pieces[1].task);
}

static void hand_to_who_was_blocked(rad_worker *w, stage *s)
{
    rad_worker_wake(w, &s->pieces[1].task);
}

static void what_a_task_hands_on_wakes(void **state)
{
    static void (*const ways[])(rad_worker *, stage *) = {hand_to_its_own, hand_to_all, hand_to_the_other};
    (void)state;
    for (uint32_t i = 0; i < 2 * sizeof ways / sizeof *ways; i++) {
        stage *s = stage_open((rad_exec_options){.workers = 2, .hoard = i % 2 ? 1 : 0});
        s->hand_on = ways[i / 2];
        s->pieces[0].task.run = piece_hands_on;
        asleep(s);
        assert_true(rad_exec_spawn_on(s->exec, 0, &s->pieces[0].task));
        ran(s, 2);
        stage_close(s, 0);
    }
}

static void what_a_task_wakes_is_shared(void **state)
{
    (void)state;
    for (uint32_t hoard = 0; hoard < 2; hoard++) {
        stage *s = stage_open((rad_exec_options){.workers = 2, .hoard = hoard});
        s->hand_on = hand_to_who_was_blocked;
        s->pieces[0].task.run = piece_hands_on;
        s->pieces[1].task.run = piece_blocks_first;
        assert_true(rad_exec_spawn(s->exec, &s->pieces[1].task));
        ran(s, 1);
        asleep(s);
        assert_true(rad_exec_spawn(s->exec, &s->pieces[0].task));
        ran(s, 3);
        stage_close(s, 0);
    }
}

/* The first piece goes to the queue of all while its worker has another one to do, which waits for it. */
static enum rad_run piece_yields_to_all(rad_task *task, rad_worker *w)
{
    piece *p = (piece *)task;
    if (p->runs++ > 0) return piece_runs(task, w);
    rad_worker_spawn_on(w, rad_worker_index(w), &p->stage->pieces[1].task);
    return RAD_RUN_YIELD_GLOBAL;
}

static enum rad_run piece_waits(rad_task *task, rad_worker *w)
{
    if (!becomes(&((piece *)task)->stage->ran, 1)) return rad_worker_fail(w, 9);
    return piece_runs(task, w);
}

static void what_yields_to_all_wakes(void **state)
{
    (void)state;
    stage *s = stage_open((rad_exec_options){.workers = 2});
    s->pieces[0].task.run = piece_yields_to_all;
    s->pieces[1].task.run = piece_waits;
    asleep(s);
    assert_true(rad_exec_spawn_on(s->exec, 0, &s->pieces[0].task));
    ran(s, 2);
    stage_close(s, 0);
}

/* ---- The end ---------------------------------------------------------------------------------------------- */

static enum rad_run piece_fails(rad_task *task, rad_worker *w)
{
    (void)task;
    return rad_worker_fail(w, 3);
}

static void a_stop_wakes_everybody(void **state)
{
    (void)state;
    for (uint32_t stops = 0; stops < 2; stops++) {
        stage *s = stage_open((rad_exec_options){.workers = 4, .stop_on_failure = stops});
        s->pieces[0].task.run = piece_fails;
        asleep(s);
        assert_true(rad_exec_spawn(s->exec, &s->pieces[0].task));
        stage_close(s, 3);
    }
}

/* A stopped executor of two. Worker 0 drops `queued`, which takes until worker 1, having sent it one more, is gone:
 * then that one is left for the very end. */
typedef struct ending {
    rad_exec *exec;
    rad_task fails, queued, busy, left;
    _Atomic uint32_t begun, dropping, dropped;
} ending;

static ending end;

static enum rad_run end_fails(rad_task *task, rad_worker *w)
{
    (void)task;
    rad_worker_spawn(w, &end.queued);
    return rad_worker_fail(w, 3);
}

static enum rad_run end_busy(rad_task *task, rad_worker *w)
{
    (void)task;
    atomic_store(&end.begun, 1);
    if (becomes(&end.dropping, 1)) rad_worker_spawn_on(w, 0, &end.left);
    return RAD_RUN_DONE;
}

static void end_drop(void *context, rad_task *task)
{
    (void)context;
    if (task == &end.queued) {
        atomic_store(&end.dropping, 1);
        becomes(&end.exec->running, 1);
        return;
    }
    nap_ms(10 * MOMENT_MS);
    atomic_store(&end.dropped, 1);
}

static void all_is_dropped_when_a_join_returns(void **state)
{
    (void)state;
    rad_exec_options options = {.workers = 2, .stop_on_failure = true, .drop = end_drop};
    rad_error error;
    end = (ending){.fails.run = end_fails, .busy.run = end_busy};
    if (rad_exec_create(&end.exec, &options, &error) != 0) fail_msg("%s", error.text);
    assert_true(rad_exec_spawn_on(end.exec, 1, &end.busy));
    assert_true(becomes(&end.begun, 1));
    assert_true(rad_exec_spawn_on(end.exec, 0, &end.fails));
    assert_int_equal(rad_exec_join(end.exec), 3);
    assert_int_equal(end.dropped, 1);
    rad_exec_destroy(end.exec);
}

/* A timeout would hide lost wakeups: only who has timers (a hook) wakes up by itself. On a busy machine one of them may
 * still be falling asleep; a while in which nobody does is enough. */
static void sleepers_sleep_until_they_are_woken(void **state)
{
    (void)state;
#ifdef __SANITIZE_THREAD__
    skip(); /* it has a thread of its own */
#endif
    rad_exec *exec;
    rad_exec_options options = {.workers = 3};
    assert_int_equal(rad_exec_create(&exec, &options, NULL), 0);
    assert_true(fall_asleep(exec, 3));
    nap_ms(20 * MOMENT_MS);
    uint64_t before, after = count_sleeps();
    int tries = 0;
    do {
        before = after;
        nap_ms(200);
        after = count_sleeps();
    } while (after != before && ++tries < 50);
    assert_int_equal(after, before);
    assert_true(after >= 3);
    rad_exec_destroy(exec);
}

/* ---- Groups ------------------------------------------------------------------------------------------------ */

/* Ends when the worker that waits for it sleeps: on its token, or on its bell. */
static enum rad_run job_ends_late(rad_job *job, rad_worker *w)
{
    party *p = (party *)((char *)job - offsetof(party, job));
    rad_exec *exec = rad_worker_exec(w);
    atomic_store(&p->begun, 1);
    if (p->rings) {
        becomes(&rad__shell_of(p->group.worker)->listening, 1);
        nap_ms(MOMENT_MS);
    } else {
        fall_asleep(exec, rad_exec_workers(exec) - 1);
    }
    return RAD_RUN_DONE;
}

static enum rad_run party_run(rad_task *task, rad_worker *w)
{
    party *p = (party *)task;
    p->group = (rad_group){.worker = w};
    rad_group_spawn(w, &p->group, &p->job, job_ends_late);
    if (!becomes(&p->begun, 1)) return rad_worker_fail(w, 9); /* nobody took it */
    char room[40 << 10];                                      /* more than half of the stack, if it is a small one */
    room[0] = 1;
    __asm__ volatile("" : : "r"(room) : "memory"); /* all of it: compilers split arrays */
    p->was_good = rad_group_wait(w, &p->group);
    atomic_fetch_add(&p->stage->ran, (uint32_t)room[0]);
    return RAD_RUN_DONE;
}

static void the_last_job_wakes_who_waits(void **state)
{
    (void)state;
    for (uint32_t deep = 0; deep < 2; deep++) {
        stage *s = stage_open((rad_exec_options){.workers = 2, .stack_size = deep ? 64 << 10 : 0});
        s->party.task.run = party_run;
        s->party.rings = deep;
        asleep(s);
        assert_true(rad_exec_spawn(s->exec, &s->party.task));
        ran(s, 1);
        assert_true(s->party.was_good);
        stage_close(s, 0);
    }
}

/* The executor is stopped while a job still runs; its waiter has nothing left to throw away, and sleeps. */
static void the_last_job_wakes_who_waits_for_the_end(void **state)
{
    (void)state;
    stage *s = stage_open((rad_exec_options){.workers = 3, .stop_on_failure = true});
    s->pieces[0].task.run = piece_fails;
    s->party.task.run = party_run;
    s->party.rings = true;
    asleep(s);
    assert_true(rad_exec_spawn(s->exec, &s->party.task));
    assert_true(becomes(&s->party.begun, 1));
    assert_true(rad_exec_spawn(s->exec, &s->pieces[0].task));
    assert_int_equal(rad_exec_join(s->exec), 3);
    assert_int_equal(s->ran, 1);
    stage_close(s, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_comes_from_outside_wakes),
        cmocka_unit_test(what_was_blocked_wakes),
        cmocka_unit_test(the_plain_order_wakes),
        cmocka_unit_test(what_a_task_hands_on_wakes),
        cmocka_unit_test(what_a_task_wakes_is_shared),
        cmocka_unit_test(what_yields_to_all_wakes),
        cmocka_unit_test(a_stop_wakes_everybody),
        cmocka_unit_test(all_is_dropped_when_a_join_returns),
        cmocka_unit_test(sleepers_sleep_until_they_are_woken),
        cmocka_unit_test(the_last_job_wakes_who_waits),
        cmocka_unit_test(the_last_job_wakes_who_waits_for_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
