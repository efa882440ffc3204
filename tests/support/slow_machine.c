/* slow_machine.c — a program with a machine that takes as long as SLOW_US says, in microseconds a step, and adds a byte
 * to the file SLOW_BEGUN for each run that has begun: for tests of signals that come while one is under way. Two actors
 * raise a number n times each, and the run fails when all have. */
#include <fcntl.h>
#include <raddle/lab.h>
#include <stdlib.h>
#include <unistd.h>

struct slow {
    uint32_t object, go[2];
    int64_t n, done[2];
    useconds_t pause;
};

static int slow_create(void **self, const rad_machine *m, const rad_case *c, rad_error *error)
{
    (void)m;
    struct slow *s = calloc(1, sizeof *s);
    const char *pause = getenv("SLOW_US");
    (void)error;
    if (s == NULL) return RAD_ENOMEM;
    s->n = c->params[0];
    s->pause = pause != NULL ? (useconds_t)strtoul(pause, NULL, 10) : 0;
    *self = s;
    return 0;
}

static void slow_reset(void *self, rad_kernel *k)
{
    struct slow *s = self;
    const char *begun = getenv("SLOW_BEGUN");
    int file = begun != NULL ? open(begun, O_CREAT | O_WRONLY | O_APPEND, 0666) : -1;
    if (file >= 0 && write(file, ".", 1) == 1) close(file);
    *s = (struct slow){.n = s->n, .pause = s->pause};
    s->object = rad_object(k, RAD_NONE, "number");
    for (int i = 0; i < 2; i++) {
        s->go[i] = rad_action(k, 0, rad_actor(k, RAD_NONE, "worker"), RAD_NONE, 0);
        rad_announce(k, s->go[i], 0, s->object, RAD_WRITE);
        rad_enable(k, s->go[i]);
    }
}

static void slow_step(void *self, rad_kernel *k, uint32_t action)
{
    struct slow *s = self;
    int i = s->go[1] == action;
    if (s->pause > 0) usleep(s->pause);
    if (++s->done[i] < s->n) return;
    rad_disable(k, action);
    rad_ended(k, rad_current_actor(k));
}

static enum rad_end slow_idle(void *self, rad_kernel *k)
{
    struct slow *s = self;
    RAD_CHECK(k, RAD_ORACLE_ASSERT, s->done[0] + s->done[1] == 0, s->object, "it was raised");
    return RAD_END_FINISHED;
}

static const rad_param PARAMS[] = {{"n", 8, 1, 1000000, "steps of each", true}, {.name = NULL}};

static const rad_machine SLOW = {.name = "slow",
                                 .about = "takes its time",
                                 .params = PARAMS,
                                 .create = slow_create,
                                 .destroy = free,
                                 .reset = slow_reset,
                                 .step = slow_step,
                                 .idle = slow_idle};

int main(int argc, char **argv)
{
    static const rad_machine *const MACHINES[] = {&SLOW, NULL};
    return rad_lab_main(argc, argv, MACHINES);
}
