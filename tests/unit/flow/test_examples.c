/* test_examples.c — examples/flow in a simulated world, under many schedules: each is done in some,
 * fails in others (where a task fails and nobody minds it), and never gets stuck. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "flow/machine/instance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEEDS = 2000, STEPS_MOST = 20000 };

static rad_flow_program *read_example(const char *name)
{
    const char *root = getenv("RADDLE_SRC");
    char path[512];
    snprintf(path, sizeof path, "%s/examples/flow/%s.flow", root != NULL ? root : ".", name);
    FILE *file = fopen(path, "rb");
    if (file == NULL) fail_msg("cannot read %s", path);
    char *text = calloc(1, 1 << 16);
    size_t size = fread(text, 1, 1 << 16, file);
    fclose(file);
    rad_flow_program *p;
    rad_error error = {0};
    if (rad__flow_program_read(&p, name, text, size, NULL, &error) != 0) fail_msg("%s", error.text);
    free(text);
    return p;
}

static enum rad_flow_state run_once(const rad_flow_program *p, const char *name, uint64_t seed)
{
    rad_flow_case_options o = {.policy = "random", .seed = seed, .world = RAD_WORLD_CHOSEN};
    rad_flow_case *c;
    rad_error error = {0};
    assert_int_equal(rad__flow_case_open(&c, p, &o, &error), 0);
    enum rad_flow_state state = rad__flow_case_run(c, STEPS_MOST);
    if (state != RAD_CASE_DONE && state != RAD_CASE_FAILED)
        fail_msg("%s, seed %lu: state %d, %s", name, (unsigned long)seed, (int)state, rad__flow_case_failure(c));
    rad__flow_case_close(c);
    return state;
}

static void every_example_ends(void **state)
{
    (void)state;
    static const char *const examples[] = {"approval", "build", "crawl",    "mapreduce", "mirrors",
                                           "order",    "retry", "watchdog", "workshop"};
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        rad_flow_program *p = read_example(examples[i]);
        uint32_t done = 0, failed = 0;
        for (uint64_t seed = 0; seed < SEEDS; seed++)
            if (run_once(p, examples[i], seed) == RAD_CASE_DONE)
                done++;
            else
                failed++;
        if (done == 0 || failed == 0) fail_msg("%s: %u done, %u failed", examples[i], done, failed);
        rad__flow_program_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_example_ends)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
