/* l2.c — models of L2 on another architecture: context switch, thread pointers, sites. Every model finishes under
 * random schedules when repaired; a relaxed publication is a race. Prints what it did. Where threads cannot have
 * thread-local variables of their own, every model that needs them is refused. */
#include "core/kernel.h"
#include "lab/l2/machine.h"
#include "lab/machines.h"
#include "os/context.h"
#include "os/thread_pointer.h"

#include <stdio.h>
#include <string.h>

/* There is no table of machines here: the models are asked for. */
void rad__machines_linked(const rad_machine *(*at)(uint32_t index))
{
    (void)at;
}

enum { RUNS = 300, CHOICES = 1 << 16 };

static rad_choice choices[CHOICES];
static volatile uint64_t choice_count;

static uint64_t failures; /* runs that failed */

static bool try_machine(const rad_machine *m, bool repaired)
{
    rad_error error = {0};
    rad_case c = {.repaired = repaired};
    rad_choice_buffer buffer = {choices, CHOICES, &choice_count};
    rad_estimates blank = {0};
    rad_kernel *k;
    rad_policy *policy;
    void *self;
    uint64_t steps = 0;
    failures = 0;
    for (uint32_t i = 0; m->params[i].name; i++) c.params[i] = m->params[i].default_value;
    if (m->create(&self, m, &c, &error) != 0) {
        printf("refused: %s\n", error.text);
        return !rad__thread_pointer_works() && error.code == RAD_ELIMIT;
    }
    if (rad__kernel_open(&k, buffer, &error) != 0 || rad__policy_create(&policy, "random", &error) != 0) return false;
    rad__kernel_use(k, m, self);
    rad_run_options o = {.policy = policy, .info = {.estimates = &blank}};
    for (uint64_t i = 0; i < RUNS; i++) {
        o.info.run = i;
        enum rad_outcome outcome = rad__kernel_run(k, &o);
        if (outcome != RAD_OUTCOME_FINISHED && outcome != RAD_OUTCOME_FAILED) {
            printf("%s: %s\n", m->name, k->error.text);
            return false;
        }
        failures += outcome == RAD_OUTCOME_FAILED;
        steps += k->step;
    }
    printf("%s%s: %llu of %d runs failed%s%s, %llu steps\n", m->name, repaired ? " (repaired)" : "",
           (unsigned long long)failures, RUNS, failures ? ", " : "", failures ? k->failure.identity : "",
           (unsigned long long)steps);
    rad__policy_destroy(policy);
    rad__kernel_close(k);
    m->destroy(self);
    return true;
}

int main(void)
{
    const rad_machine *m, *message = NULL;
    uint32_t count = 0;
    setvbuf(stdout, NULL, _IOLBF, 0); /* for whoever waits */
    printf("context switch: %s\n", rad__context_kind());
    for (; (m = rad__l2_machine(count)) != NULL; count++) {
        if (!try_machine(m, true) || failures != 0) return 1;
        if (strcmp(m->name, "l2-message") == 0) message = m;
    }
    bool bites = rad__thread_pointer_works();
    return message != NULL && try_machine(message, false) && (failures > 0) == bites ? 0 : 1;
}
