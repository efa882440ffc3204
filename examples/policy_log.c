/* policy_log.c — reads a log back: what was decided in a run, decision by decision, and the same run again from it.
 *
 *     cc policy_log.c $(pkg-config --cflags --libs raddle-lab) -o policy_log
 *     ./policy_log
 *
 * Three philosophers share three forks; the log of one run is printed, replayed as it is, and
 * replayed on the version without the bug, where it has to differ. */
#include <raddle/lab.h>
#include <stdio.h>

static void print_decision(const rad_log_decision *d)
{
    printf("%3llu ", (unsigned long long)d->sequence);
    if (d->kind != RAD_PICK_ACTION) {
        printf("value %u of %u\n", d->chosen, d->count);
        return;
    }
    for (uint32_t i = 0; i < d->count; i++) printf(i == d->chosen ? " [actor %u]" : " actor %u", d->set[i].actor);
    printf("\n");
}

static int print_log(const rad_log *log, rad_error *error)
{
    rad_log_walk *walk;
    rad_log_decision d;
    rad_log_facts facts;
    rad_log_look(log, &facts);
    printf("policy %s, seed %llu: %llu decisions, %llu steps\n", facts.policy, (unsigned long long)facts.seed,
           (unsigned long long)facts.decisions, (unsigned long long)facts.steps);
    int got = rad_log_begin(&walk, log, error);
    if (got != 0) return got;
    while ((got = rad_log_next(walk, &d, error)) == 1) print_decision(&d);
    rad_log_end(walk);
    return got;
}

int main(void)
{
    rad_error error = {0};
    rad_target target;
    rad_verdict first, again, other;
    rad_log *log = NULL, *back = NULL;
    char *why = NULL;
    rad_run_request record = {.policy = "random", .seed = 5, .get_log = &log};
    int code = rad_target_init(&target, "philosophers", &error);
    if (code == 0) code = rad_target_set(&target, "n=3", &error);
    if (code == 0) code = rad_lab_run(&target, &record, &first, &error);
    if (code == 0) code = rad_log_write(log, "philosophers.raddle.log", &error);
    if (code == 0) code = rad_log_read(&back, "philosophers.raddle.log", &error);
    if (code == 0) code = print_log(back, &error);
    rad_run_request replay = {.from_log = back, .divergence = &why};
    if (code == 0) code = rad_lab_run(&target, &replay, &again, &error);
    if (code == 0) printf("again: %s\n", again.result == first.result ? "the same" : "differs");
    target.c.repaired = true;
    if (code == 0) code = rad_lab_run(&target, &replay, &other, &error);
    if (code == 0) printf("without the bug: %s\n", why != NULL ? why : "the same");
    if (code != 0) fprintf(stderr, "policy_log: %s\n", error.text);
    rad_free(why);
    rad_log_free(log);
    rad_log_free(back);
    return code != 0;
}
