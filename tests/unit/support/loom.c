/* loom.c — see loom.h. */
#include "loom.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

enum loom_twist loom_twist;
uint64_t loom_twist_at;

enum { GO = 1, FINISH = 2 };
enum { SITE_GO = 0, SITE_FINISH = 1, SITE_CHOICE = 2, SITE_OTHER = 3 };
enum { CHOICES = 400 * 1000 };

typedef struct loom_worker {
    uint32_t actor, first, action; /* first action, the one it has now */
    int64_t left;
    bool stopped;
} loom_worker;

typedef struct loom_state {
    rad_case c;
    loom_worker *workers;
    uint32_t *owner; /* by action */
    uint32_t object;
    uint64_t sum;
} loom_state;

static bool loom_twisted(const rad_kernel *k, enum loom_twist what)
{
    return loom_twist == what && rad_step_count(k) >= loom_twist_at;
}

static int loom_create(void **self, const rad_machine *m, const rad_case *c, rad_error *error)
{
    (void)error;
    loom_state *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->c = *c;
    s->workers = calloc((size_t)c->params[0], sizeof *s->workers);
    s->owner = calloc((size_t)c->params[0] * 2 + 2, sizeof *s->owner);
    *self = s;
    return 0;
}

static void loom_destroy(void *self)
{
    loom_state *s = self;
    free(s->workers);
    free(s->owner);
    free(s);
}

static void loom_reset(void *self, rad_kernel *k)
{
    loom_state *s = self;
    int64_t n = s->c.params[0];
    s->sum = 0;
    s->object = rad_object(k, RAD_NONE, "cell");
    for (int64_t i = 0; i < n; i++) {
        loom_worker *w = &s->workers[i];
        *w = (loom_worker){.left = s->c.params[1]};
        w->actor = rad_actor(k, RAD_NONE, "worker");
        w->first = w->action = rad_action(k, GO, w->actor, RAD_NONE, 0);
        if (w->action == RAD_NONE) return;
        s->owner[w->action] = (uint32_t)i;
        rad_announce(k, w->action, SITE_GO, s->object, RAD_WRITE);
        bool absent = loom_twisted(k, LOOM_WITHOUT_LAST) && (i == n - 1 || (n > 20 && i >= n - 14));
        if (!absent) rad_enable(k, w->action);
    }
}

static void loom_choice(loom_state *s, rad_kernel *k, uint32_t i)
{
    enum rad_pick_kind kind = loom_twisted(k, LOOM_PICK_KIND) ? RAD_PICK_WAKE : RAD_PICK_VALUE;
    uint32_t site = loom_twisted(k, LOOM_PICK_SITE) ? SITE_OTHER : SITE_CHOICE;
    uint32_t n = (uint32_t)s->c.params[0], got;
    if (loom_twisted(k, LOOM_NO_PICK)) return;
    got = rad_pick(k, kind, site, loom_twisted(k, LOOM_PICK_COUNT) ? 4 : 3);
    s->sum = s->sum * 3 + got;
    loom_worker *next = &s->workers[(i + 1) % n];
    if (got == 1 && next->left > 0 && rad_is_enabled(k, next->action)) {
        next->stopped = true;
        rad_disable(k, next->action);
        rad_wait(k, next->actor, s->object, s->workers[i].actor);
    }
    for (uint32_t j = 0; got == 2 && j < n; j++) {
        if (!s->workers[j].stopped) continue;
        s->workers[j].stopped = false;
        rad_enable(k, s->workers[j].action);
    }
}

static void loom_step(void *self, rad_kernel *k, uint32_t action)
{
    loom_state *s = self;
    uint32_t i = s->owner[action];
    loom_worker *w = &s->workers[i];
    w->left--;
    rad_disable(k, action); /* as a machine that blocks and goes on: nothing changes on balance */
    rad_enable(k, action);
    if (s->c.params[2] && w->left % 3 == 2) loom_choice(s, k, i);
    if (w->left == s->c.params[1] / 2 && w->action == w->first) {
        rad_disable(k, action);
        uint64_t argument = loom_twisted(k, LOOM_OTHER_ARGUMENT) ? 99 : 7;
        w->action = rad_action(k, FINISH, w->actor, s->object, argument);
        if (w->action == RAD_NONE) return;
        s->owner[w->action] = i;
        rad_announce(k, w->action, SITE_FINISH, s->object, RAD_WRITE);
        if (!w->stopped) rad_enable(k, w->action);
    }
    rad_value(k, s->sum + loom_twisted(k, LOOM_OTHER_VALUE));
    if (loom_twisted(k, LOOM_FAILS)) rad_fail(k, RAD_ORACLE_ASSERT, s->object, "twisted");
    bool ends = loom_twisted(k, LOOM_ENDS);
    if (w->left <= 0 && !(loom_twisted(k, LOOM_EXTRA_ROUND) && w->left == 0)) {
        rad_disable(k, w->action);
        rad_ended(k, w->actor);
    }
    for (int64_t j = 0; ends && j < s->c.params[0]; j++) {
        s->workers[j].stopped = false;
        rad_disable(k, s->workers[j].action);
    }
}

static enum rad_end loom_idle(void *self, rad_kernel *k)
{
    const loom_state *s = self;
    (void)k;
    for (int64_t i = 0; i < s->c.params[0]; i++)
        if (s->workers[i].stopped) return RAD_END_STUCK;
    return RAD_END_FINISHED;
}

static const char *loom_kind(const void *self, uint32_t kind)
{
    (void)self;
    return kind == GO ? "go" : "finish";
}

static const char *loom_site(const void *self, uint32_t site)
{
    static const char *const names[] = {"go", "finish", "choice", "other"};
    (void)self;
    return site < 4 ? names[site] : NULL;
}

static const rad_param loom_params[] = {
    {"n", 3, 2, 50000, "workers", false},
    {"rounds", 6, 1, 1000000, "steps of each", false},
    {"picks", 0, 0, 1, "choices inside steps", true},
    {0},
};

const rad_machine loom_machine = {
    .name = "loom",
    .about = "for tests",
    .params = loom_params,
    .bug_site = RAD_NONE,
    .create = loom_create,
    .destroy = loom_destroy,
    .reset = loom_reset,
    .step = loom_step,
    .idle = loom_idle,
    .kind_name = loom_kind,
    .site_name = loom_site,
};

void loom_add(void)
{
    rad_error error = {0};
    if (rad_machine_find("loom") == NULL) assert_int_equal(rad_machine_add(&loom_machine, &error), 0);
}

rad_target loom_target(int64_t n, int64_t rounds, bool picks)
{
    return (rad_target){&loom_machine, {.params = {n, rounds, picks}, .max_steps = 10000000}};
}

int loom_open(loom *l, const rad_target *t, rad_error *error)
{
    *l = (loom){.target = *t};
    l->choices = calloc(CHOICES, sizeof *l->choices);
    rad_choice_buffer buffer = {l->choices, CHOICES, &l->choice_count};
    int code = rad__kernel_open(&l->kernel, buffer, error);
    if (code != 0) {
        free(l->choices);
        return code;
    }
    assert_int_equal(t->machine->create(&l->self, t->machine, &t->c, error), 0);
    rad__kernel_use(l->kernel, t->machine, l->self);
    return 0;
}

void loom_close(loom *l)
{
    l->target.machine->destroy(l->self);
    rad__kernel_close(l->kernel);
    free(l->choices);
}

enum rad_outcome loom_run(loom *l, rad_policy *policy, uint64_t seed, rad_observer *observer)
{
    rad_run_options options = {
        .policy = policy,
        .info = {.seed = seed, .estimates = &l->blank},
        .max_steps = l->target.c.max_steps,
        .observers = {observer},
    };
    return rad__kernel_run(l->kernel, &options);
}
