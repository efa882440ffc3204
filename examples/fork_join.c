/* fork_join.c — sorts a million numbers on all cores: each half is a job, and both may run at the same time.
 *
 *     cc fork_join.c $(pkg-config --cflags --libs raddle) -o fork_join && ./fork_join */
#include <raddle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 1000000, SMALL = 2000 };

typedef struct sort {
    rad_job job; /* first */
    uint32_t *numbers, *spare;
    size_t count;
} sort;

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void merge(sort *s, size_t half)
{
    size_t left = 0, right = half;
    for (size_t i = 0; i < s->count; i++) {
        bool from_left = right == s->count || (left < half && s->numbers[left] <= s->numbers[right]);
        s->spare[i] = s->numbers[from_left ? left++ : right++];
    }
    memcpy(s->numbers, s->spare, s->count * sizeof *s->numbers);
}

static enum rad_run sort_run(rad_job *job, rad_worker *w)
{
    sort *s = (sort *)job;
    if (s->count <= SMALL) {
        qsort(s->numbers, s->count, sizeof *s->numbers, compare);
        return RAD_RUN_DONE;
    }
    size_t half = s->count / 2;
    sort left = {.numbers = s->numbers, .spare = s->spare, .count = half};
    sort right = {.numbers = s->numbers + half, .spare = s->spare + half, .count = s->count - half};
    rad_group group = RAD_GROUP_INIT(w);
    rad_group_spawn(w, &group, &left.job, sort_run); /* run by any worker that has time */
    enum rad_run ours = sort_run(&right.job, w);     /* this worker */
    if (!rad_group_wait(w, &group) || ours != RAD_RUN_DONE) return RAD_RUN_FAILED;
    merge(s, half);
    return RAD_RUN_DONE;
}

/* What comes from outside is a plain task. */
static enum rad_run begin(rad_task *task, rad_worker *w)
{
    return sort_run((rad_job *)task, w); /* a job begins with its task */
}

int main(void)
{
    sort all = {.job.task.run = begin, .count = COUNT};
    rad_exec *exec;
    rad_error error;
    if (rad_exec_create(&exec, NULL, &error) != 0) return fprintf(stderr, "%s\n", error.text), 1;
    all.numbers = malloc(2 * COUNT * sizeof *all.numbers);
    if (all.numbers == NULL) return 1;
    all.spare = all.numbers + COUNT;
    for (uint32_t i = 0, x = 1; i < COUNT; i++) all.numbers[i] = (x = x * 1664525 + 1013904223) >> 8;

    if (!rad_exec_spawn(exec, &all.job.task)) return 1; /* never: the gate is open */
    int64_t failure = rad_exec_join(exec);
    rad_exec_destroy(exec);

    size_t steps_down = 0;
    for (size_t i = 1; i < COUNT; i++) steps_down += all.numbers[i - 1] > all.numbers[i];
    printf("%d numbers sorted, %zu out of order\n", COUNT, steps_down);
    free(all.numbers);
    return failure != 0 || steps_down != 0;
}
