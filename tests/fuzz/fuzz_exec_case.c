/* fuzz_exec_case.c — any bytes as a case of the executor: an error that says where, or a case that is written and read
 * back the same, that the shrinker can measure, and that runs: 2,000 steps of the first schedule, twice, with the
 * same digest. What the oracles say of it does not matter here, only that they are asked. */
#define _GNU_SOURCE
#include "base/alloc.h"
#include "lab/machines/executor/executor.h"
#include "lab/rig.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STEPS = 2000 };

static void require(bool condition)
{
    if (!condition) abort();
}

static void refuse_without_a_name(const uint8_t *data, size_t size)
{
    rad_error error = {0};
    require(rad__exec_case_parse((const char *)data, size, NULL, &error) == NULL);
    require(error.code == RAD_EINPUT && error.text[0] != 0);
    bool names_nothing = memmem(error.text, strlen(error.text), "(null)", 6) != NULL;
    require(!names_nothing || memmem(data, size, "(null)", 6) != NULL); /* unless it is quoted */
}

static void run_once(rad_rig *rig, rad_digest *digest)
{
    enum rad_outcome outcome = rad__rig_guide(rig, NULL, 0, false, NULL);
    require(outcome != RAD_OUTCOME_ERROR && rig->kernel->error.code == 0);
    require(rig->kernel->step <= STEPS);
    *digest = rig->kernel->trace.digest;
}

static void run(char *text)
{
    rad_error error = {0};
    rad_target t = {.machine = &rad__machine_exec, .c = {.body = text, .max_steps = STEPS}};
    rad_digest first, second;
    rad_rig rig;
    require(rad__rig_open(&rig, &t, &error) == 0);
    run_once(&rig, &first);
    run_once(&rig, &second);
    require(rad__digest_equal(first, second));
    rad__rig_close(&rig);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    rad_error error = {0};
    rad_exec_case *c = rad__exec_case_parse((const char *)data, size, "input", &error);
    if (c == NULL) {
        require(error.code == RAD_EINPUT && strncmp(error.text, "input:", 6) == 0);
        refuse_without_a_name(data, size);
        return 0;
    }
    char *text = rad__exec_case_text(c);
    require(text != NULL);
    rad_exec_case *again = rad__exec_case_parse(text, strlen(text), "again", &error);
    require(again != NULL);
    char *same = rad__exec_case_text(again);
    require(same != NULL && strcmp(text, same) == 0);
    require(rad__exec_case_size(c) == rad__exec_case_size(again));
    run(text);
    rad__free(same);
    rad__free(text);
    rad__exec_case_free(again);
    rad__exec_case_free(c);
    return 0;
}
