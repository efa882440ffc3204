/* hostile_machine.c — a program with a machine whose texts are written by an enemy: whatever a machine may say of
 * itself has escape sequences, C1 controls, bidirectional controls, newlines and bytes that are no UTF-8 in it. For
 * tests/cli/hostile.sh. */
#include <raddle/lab.h>
#include <stdlib.h>

/* ESC, CSI as a byte and in UTF-8, an override, an isolate, a line separator, DEL, a carriage return, and a newline
 * with what looks like a line of raddle's. */
#define EVIL                                                                                                           \
    "e\033[31m\x9b"                                                                                                    \
    "2J\xc2\x9b"                                                                                                       \
    "1m\xe2\x80\xae\xe2\x81\xa6\xe2\x80\xa8\x7f\rx\nFORGED"

struct race {
    bool repaired;
    uint32_t object, go[2];
    int64_t value, seen[2];
    int steps[2];
};

static int race_create(void **self, const rad_machine *m, const rad_case *c, rad_error *error)
{
    (void)m;
    struct race *r = calloc(1, sizeof *r);
    (void)error;
    if (r == NULL) return RAD_ENOMEM;
    r->repaired = c->repaired;
    *self = r;
    return 0;
}

static void race_reset(void *self, rad_kernel *k)
{
    struct race *r = self;
    *r = (struct race){.repaired = r->repaired};
    r->object = rad_object(k, RAD_NONE, EVIL);
    for (int i = 0; i < 2; i++) {
        r->go[i] = rad_action(k, 0, rad_actor(k, RAD_NONE, EVIL), RAD_NONE, 0);
        rad_announce(k, r->go[i], 0, r->object, RAD_WRITE);
        rad_enable(k, r->go[i]);
    }
}

static void race_step(void *self, rad_kernel *k, uint32_t action)
{
    struct race *r = self;
    int i = r->go[1] == action;
    if (r->steps[i]++ == 0 && !r->repaired) {
        r->seen[i] = r->value;
        return;
    }
    r->value = r->repaired ? r->value + 1 : r->seen[i] + 1;
    rad_disable(k, action);
    rad_ended(k, rad_current_actor(k));
}

static enum rad_end race_idle(void *self, rad_kernel *k)
{
    struct race *r = self;
    RAD_CHECK(k, RAD_ORACLE_ASSERT, r->value == 2, r->object, "%s: an increment is lost", EVIL);
    return RAD_END_FINISHED;
}

static const char *race_site(const void *self, uint32_t site)
{
    (void)self;
    return site == 0 ? EVIL : NULL;
}

static const rad_param PARAMS[] = {{"n", 2, 2, 2, EVIL, false}, {.name = NULL}};

static const rad_machine RACE = {.name = "hostile",
                                 .about = EVIL,
                                 .params = PARAMS,
                                 .bug = EVIL,
                                 .create = race_create,
                                 .destroy = free,
                                 .reset = race_reset,
                                 .step = race_step,
                                 .idle = race_idle,
                                 .site_name = race_site};

int main(int argc, char **argv)
{
    static const rad_machine *const MACHINES[] = {&RACE, NULL};
    return rad_lab_main(argc, argv, MACHINES);
}
