/* machine_program.c — a program with two machines of its own, and the whole command for them.
 *
 *     cc machine_program.c $(pkg-config --cflags --libs raddle-lab) -o machine_program
 *     raddle explore ./machine_program seats clerks=3
 *
 * seats: clerks sell seats, and each looks whether one is left before it sells. locks: two threads take the same two
 * locks, each in an order of its own. */
#include <raddle/lab.h>
#include <stdlib.h>

/* ---- seats --------------------------------------------------------------------------------------- */

enum { CLERKS_MAX = 8 };

struct seats {
    uint32_t clerks, seats; /* of the case */
    bool repaired;
    uint32_t office, go[CLERKS_MAX];
    int64_t left;
    bool looked[CLERKS_MAX], saw[CLERKS_MAX];
};

static int seats_create(void **self, const rad_machine *m, const rad_case *c, rad_error *error)
{
    struct seats *s = calloc(1, sizeof *s);
    (void)m, (void)error;
    if (s == NULL) return RAD_ENOMEM;
    s->clerks = (uint32_t)c->params[0];
    s->seats = (uint32_t)c->params[1];
    s->repaired = c->repaired;
    *self = s;
    return 0;
}

static void seats_reset(void *self, rad_kernel *k)
{
    struct seats *s = self;
    *s = (struct seats){.clerks = s->clerks, .seats = s->seats, .repaired = s->repaired};
    s->office = rad_object(k, RAD_NONE, "office");
    s->left = s->seats;
    for (uint32_t i = 0; i < s->clerks; i++) {
        s->go[i] = rad_action(k, 0, rad_actor(k, RAD_NONE, "clerk"), RAD_NONE, 0);
        rad_announce(k, s->go[i], s->repaired ? 1 : 0, s->office, s->repaired ? RAD_WRITE : RAD_READ);
        rad_enable(k, s->go[i]);
    }
}

static void seats_step(void *self, rad_kernel *k, uint32_t action)
{
    struct seats *s = self;
    uint32_t i = 0;
    while (s->go[i] != action) i++;
    if (s->repaired || !s->looked[i]) {
        s->looked[i] = true;
        s->saw[i] = s->left > 0;
        rad_announce(k, action, 1, s->office, RAD_WRITE);
        if (!s->repaired) {
            rad_value(k, (uint64_t)s->left);
            return;
        }
    }
    if (s->saw[i]) s->left--;
    rad_value(k, (uint64_t)s->left);
    RAD_CHECK(k, RAD_ORACLE_ASSERT, s->left >= 0, s->office, "a seat was sold twice");
    rad_disable(k, action);
    rad_ended(k, rad_current_actor(k));
}

static enum rad_end seats_idle(void *self, rad_kernel *k)
{
    (void)self, (void)k;
    return RAD_END_FINISHED;
}

static const char *seats_site(const void *self, uint32_t site)
{
    static const char *const names[] = {"look at", "sell"};
    (void)self;
    return site < 2 ? names[site] : NULL;
}

static const rad_param SEATS_PARAMS[] = {
    {"clerks", 2, 2, CLERKS_MAX, "clerks", false}, {"seats", 1, 1, 8, "seats to sell", false}, {.name = NULL}};

static const rad_machine SEATS = {.name = "seats",
                                  .about = "clerks sell seats; none may be sold twice",
                                  .params = SEATS_PARAMS,
                                  .bug = "a clerk sells the seat that it saw some time ago",
                                  .bug_site = 1,
                                  .create = seats_create,
                                  .destroy = free,
                                  .reset = seats_reset,
                                  .step = seats_step,
                                  .idle = seats_idle,
                                  .site_name = seats_site};

/* ---- locks --------------------------------------------------------------------------------------- */

struct locks {
    bool repaired;
    uint32_t lock[2], actor[2], go[2];
    int holder[2]; /* a thread, or -1 */
    int done[2];   /* steps of each thread: takes a lock, takes the other, gives both back */
};

static int locks_create(void **self, const rad_machine *m, const rad_case *c, rad_error *error)
{
    struct locks *l = calloc(1, sizeof *l);
    (void)m, (void)error;
    if (l == NULL) return RAD_ENOMEM;
    l->repaired = c->repaired;
    *self = l;
    return 0;
}

/* The lock that thread i takes in this step. */
static int locks_wanted(const struct locks *l, int i)
{
    int first = i == 1 && !l->repaired;
    return l->done[i] == 0 ? first : 1 - first;
}

/* What each thread can do now: run, or wait for the thread that has its lock. */
static void locks_look(struct locks *l, rad_kernel *k)
{
    for (int i = 0; i < 2; i++) {
        int wanted = locks_wanted(l, i), holder = l->holder[wanted];
        if (l->done[i] == 3) continue;
        rad_announce(k, l->go[i], l->done[i] < 2 ? 0 : 1, l->lock[wanted], RAD_WRITE);
        if (l->done[i] < 2 && holder >= 0) {
            rad_disable(k, l->go[i]);
            rad_wait(k, l->actor[i], l->lock[wanted], l->actor[holder]);
        } else {
            rad_enable(k, l->go[i]);
        }
    }
}

static void locks_reset(void *self, rad_kernel *k)
{
    struct locks *l = self;
    *l = (struct locks){.repaired = l->repaired, .holder = {-1, -1}};
    for (int i = 0; i < 2; i++) {
        l->lock[i] = rad_object(k, RAD_NONE, "lock");
        l->actor[i] = rad_actor(k, RAD_NONE, "thread");
        l->go[i] = rad_action(k, 0, l->actor[i], RAD_NONE, 0);
    }
    locks_look(l, k);
}

static void locks_step(void *self, rad_kernel *k, uint32_t action)
{
    struct locks *l = self;
    int i = action == l->go[1];
    if (l->done[i] < 2) {
        l->holder[locks_wanted(l, i)] = i;
    } else {
        l->holder[0] = l->holder[1] = -1;
        rad_touch(k, l->lock[0], RAD_WRITE);
        rad_touch(k, l->lock[1], RAD_WRITE);
        rad_disable(k, action);
        rad_ended(k, l->actor[i]);
    }
    l->done[i]++;
    locks_look(l, k);
}

static enum rad_end locks_idle(void *self, rad_kernel *k)
{
    const struct locks *l = self;
    (void)k;
    return l->done[0] == 3 && l->done[1] == 3 ? RAD_END_FINISHED : RAD_END_STUCK;
}

static const char *locks_site(const void *self, uint32_t site)
{
    static const char *const names[] = {"take", "give back"};
    (void)self;
    return site < 2 ? names[site] : NULL;
}

static const rad_machine LOCKS = {.name = "locks",
                                  .about = "two threads need the same two locks",
                                  .bug = "they take them in different orders",
                                  .bug_site = 0,
                                  .create = locks_create,
                                  .destroy = free,
                                  .reset = locks_reset,
                                  .step = locks_step,
                                  .idle = locks_idle,
                                  .site_name = locks_site};

int main(int argc, char **argv)
{
    static const rad_machine *const machines[] = {&SEATS, &LOCKS, NULL};
    return rad_lab_main(argc, argv, machines);
}
