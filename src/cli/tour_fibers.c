/* tour_fibers.c — the tour's part on fibers: a hundred thousand of them, and the channel they use on trial. */
#include "command/coverage.h"
#include "command/report.h"
#include "tour.h"

#include <raddle.h>

enum { FAN = 10, LEAVES = 100000 };

/* A fiber that has one leaf below it sends its number; any other spawns ten, and sends the sum of what they send. */
typedef struct branch {
    rad_chan *up;
    uint64_t first, leaves;
} branch;

static int grow(void *arg)
{
    branch *b = arg;
    uint64_t sum = b->first;
    if (b->leaves > 1) {
        branch below[FAN];
        rad_chan *chan;
        int code = rad_chan_create(&chan, sizeof sum, FAN, RAD_CHAN_BLOCKS);
        if (code != 0) return code;
        sum = 0;
        for (uint64_t i = 0; i < FAN && code == 0; i++) {
            below[i] = (branch){chan, b->first + i * (b->leaves / FAN), b->leaves / FAN};
            code = rad_spawn(NULL, grow, &below[i]);
            if (code != 0) return code; /* the tour ends here, and all fibers with it */
        }
        for (int i = 0; i < FAN; i++) {
            uint64_t part = 0;
            code = rad_recv(chan, &part, RAD_FOREVER);
            if (code != 0) return code;
            sum += part;
        }
        rad_chan_destroy(chan);
    }
    return rad_send(b->up, &sum, RAD_FOREVER);
}

static int tree(void *arg)
{
    uint64_t *sum = arg;
    branch root = {NULL, 0, LEAVES};
    int code = rad_chan_create(&root.up, sizeof *sum, 1, RAD_CHAN_BLOCKS);
    if (code == 0) code = rad_spawn(NULL, grow, &root);
    if (code == 0) code = rad_recv(root.up, sum, RAD_FOREVER);
    if (code == 0) rad_chan_destroy(root.up);
    return code;
}

static int try_channel(cli *c)
{
    rad_error error = {.code = 0};
    rad_target target;
    rad_exploration e = {.runs = 0};
    int status = 0;
    if (rad_target_init(&target, "l2-chan", &error) != 0) return 0; /* not in this build */
    rad_explore_options options = {
        .strategy = "preempt:3", .runs = 200000, .seed = 1, .jobs = 1, .interrupted = c->stop};
    out_text(c, "\n");
    out_paragraph(
        c, 3,
        "The channels they use are on trial as well: the same sources, with a choice of who "
        "is next before every single memory operation that others can see, and every plain "
        "access checked for races. All schedules with at most three preemptions:");
    out_text(c, "\n");
    if (rad_lab_explore(&target, &options, &e, &error) != 0) status = complain_error(c, &error);
    if (status == 0 && *c->stop) status = EXIT_INTERRUPTED;
    if (status == 0 && e.finding_count > 0)
        status = tour_not_as_told(c, "the channel was not explored without a failure");
    if (status == 0) coverage_report(c, &target, &e, 1);
    rad_exploration_free(&e);
    rad_target_free(&target);
    return status;
}

/* It takes a compiler, so it is only shown. */
static void tell_tests(cli *c)
{
    out_text(c, "\n");
    out_paragraph(c, 3,
                  "A program of yours is explored as it is, and tests are written for it "
                  "(docs/guide-testing.md):");
    out_text(c, "\n   RAD_TEST(nothing_is_lost) { run_two_writers(); rad_check(count == 2); }\n"
                "   RAD_TEST_MAIN\n\n"
                "   $ cc -g tests.c $(pkg-config --cflags --libs raddle) -o tests\n"
                "   $ ./tests\n");
}

int tour_fibers(cli *c)
{
    uint64_t sum = 0, wanted = (uint64_t)LEAVES * (LEAVES - 1) / 2;
    rad_error error = {.code = 0};
    tour_part(c, 8, "Fibers: what programs are written with", NULL);
    out_paragraph(
        c, 3,
        "A tree of fibers, ten below each, down to 100,000 leaves; every leaf sends its number up "
        "a channel, and every other fiber the sum of ten. Each has a stack of its own.");
    int code = rad_main(NULL, tree, &sum, &error);
    if (code != 0) {
        if (error.code == 0)
            error = (rad_error){code, "a fiber could not be made, or waited in vain"};
        return complain_error(c, &error);
    }
    if (sum != wanted) return tour_not_as_told(c, "the fibers added up to something else");
    out(c, "\n   111,111 fibers have run and ended; the sum is %llu\n", (unsigned long long)sum);
    int status = try_channel(c);
    if (status == 0) tell_tests(c);
    return status;
}
