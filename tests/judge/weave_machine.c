/* weave_machine.c — a weave as a machine of the lab. It writes every run that came to its end into shared memory, so
 * that the worker processes of the lab are seen, too. */
#include "weave.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct weaver {
    struct weave w;
    struct running { /* what save and load copy */
        struct weave_world s;
        uint64_t path;
        bool ended;
        bool on[WEAVE_ACTIONS];                                                     /* what the kernel was told */
        uint32_t actor[WEAVE_ACTORS], object[WEAVE_OBJECTS], action[WEAVE_ACTIONS]; /* numbers of the kernel */
    } r;
    rad_kernel *k; /* during a call */
};

struct weave_spy *weave_spy(void)
{
    static struct weave_spy *spy;
    if (!spy) {
        spy = mmap(NULL, sizeof *spy, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        assert(spy != MAP_FAILED);
    }
    return spy;
}

void weave_spy_forget(void)
{
    weave_spy()->count = weave_spy()->resets = weave_spy()->saves = weave_spy()->loads = 0;
}

static void write_down(struct running *r)
{
    struct weave_spy *spy = weave_spy();
    if (r->ended) return;
    r->ended = true;
    uint32_t i = __atomic_fetch_add(&spy->count, 1, __ATOMIC_RELAXED);
    if (i < WEAVE_SPIED) spy->runs[i] = (struct weave_spied){r->path, weave_outcome(&r->s)};
}

static int create(void **self, const rad_machine *machine, const rad_case *c, rad_error *error)
{
    (void)machine;
    struct weaver *m = calloc(1, sizeof *m);
    if (!m) {
        error->code = RAD_ENOMEM;
        return RAD_ENOMEM;
    }
    struct weave_case numbers = weave_case_of(c);
    weave_make(&m->w, &numbers);
    *self = m;
    return 0;
}

/* The number of an action; "give up" comes into being when it is first enabled. */
static uint32_t action_number(struct weaver *m, uint32_t action)
{
    uint32_t *number = &m->r.action[action];
    if (*number == RAD_NONE || m->w.manner & WEAVE_REPEATS)
        *number = rad_action(m->k, action % 2, m->r.actor[action / 2], RAD_NONE, 0);
    return *number;
}

static void report_one(struct weaver *m, uint32_t action)
{
    const struct weave_op *op = weave_next(&m->w, &m->r.s, action / 2);
    bool on = weave_enabled(&m->w, &m->r.s, action);
    if (on) {
        uint32_t object = weave_object(op);
        rad_announce(m->k, action_number(m, action), op->kind, object < WEAVE_OBJECTS ? m->r.object[object] : RAD_NONE,
                     weave_access(op));
    }
    if (m->r.action[action] == RAD_NONE) return;
    if (on && (!m->r.on[action] || m->w.manner & WEAVE_REPEATS)) rad_enable(m->k, action_number(m, action));
    if (!on && (m->r.on[action] || m->w.manner & WEAVE_REPEATS)) rad_disable(m->k, action_number(m, action));
    m->r.on[action] = on;
}

static void report_waits(struct weaver *m)
{
    for (uint32_t i = 0; i < WEAVE_ACTORS && !(m->w.manner & WEAVE_SILENT); i++) {
        const struct weave_op *op = weave_next(&m->w, &m->r.s, i);
        if (!op || m->r.on[2 * i] || m->r.on[2 * i + 1]) continue;
        uint32_t holder = op->kind == WEAVE_LOCK ? m->r.s.holder[op->object] : WEAVE_ACTORS;
        rad_wait(m->k, m->r.actor[i], m->r.object[weave_object(op)],
                 holder < WEAVE_ACTORS ? m->r.actor[holder] : RAD_NONE);
    }
}

/* Actions get their numbers in order, whatever the order of the reports is. */
static void report(struct weaver *m)
{
    for (uint32_t i = 0; i < WEAVE_ACTIONS; i++)
        if (weave_enabled(&m->w, &m->r.s, i)) action_number(m, i);
    for (uint32_t i = 0; i < WEAVE_ACTIONS; i++)
        report_one(m, m->w.manner & WEAVE_BACKWARDS ? WEAVE_ACTIONS - 1 - i : i);
    report_waits(m);
}

static void add_actor(struct weaver *m, uint32_t actor, uint32_t spawner)
{
    m->r.actor[actor] = rad_actor(m->k, spawner, actor < 4 ? "worker" : "child");
    action_number(m, 2 * actor);
}

static void reset(void *self, rad_kernel *k)
{
    struct weaver *m = self;
    m->k = k;
    m->r = (struct running){.path = WEAVE_PATH_BEGIN};
    __atomic_fetch_add(&weave_spy()->resets, 1, __ATOMIC_RELAXED);
    memset(m->r.action, 0xff, sizeof m->r.action);
    weave_begin(&m->w, &m->r.s);
    for (uint32_t i = 0; i < WEAVE_OBJECTS; i++) m->r.object[i] = rad_object(k, RAD_NONE, weave_role(&m->w, i));
    for (uint32_t i = 0; i < m->w.first_actors; i++) add_actor(m, i, RAD_NONE);
    for (uint32_t i = 0; i < 70 && m->w.manner & WEAVE_WIDE; i++) rad_action(k, 2, m->r.actor[0], RAD_NONE, i);
    report(m);
}

static uint32_t pick(void *context, enum rad_pick_kind kind, uint32_t count)
{
    struct weaver *m = context;
    uint32_t chosen = rad_pick(m->k, kind, WEAVE_PICK, count);
    m->r.path = weave_path(m->r.path, 1000 + chosen);
    return chosen;
}

static void complain(struct weaver *m)
{
    const struct weave_world *s = &m->r.s;
    write_down(&m->r);
    if (m->w.crashes && s->failed == RAD_ORACLE_ASSERT) _exit(3);
    rad_fail(m->k, (uint32_t)s->failed, s->failed_object < 0 ? RAD_NONE : m->r.object[s->failed_object],
             "oracle %d, object %d", s->failed, s->failed_object);
    if (m->w.manner & WEAVE_REPEATS) rad_fail(m->k, RAD_ORACLE_OWN, m->r.object[1], "too late: the first one counts");
}

static void step(void *self, rad_kernel *k, uint32_t number)
{
    struct weaver *m = self;
    struct weave_deed deed;
    uint32_t action = 0;
    m->k = k;
    while (m->r.action[action] != number) action++;
    uint32_t actor = action / 2;
    const struct weave_op *op = weave_next(&m->w, &m->r.s, actor);
    m->r.path = weave_path(m->r.path, action);
    weave_step(&m->w, &m->r.s, action, pick, m, &deed);
    if (op->kind == WEAVE_MOVE) rad_touch(k, m->r.object[op->other], RAD_WRITE);
    rad_value(k, deed.value);
    if (deed.yields) rad_yields(k);
    if (deed.looked) rad_looked(k);
    if (deed.spawned >= 0) add_actor(m, (uint32_t)deed.spawned, rad_current_actor(k));
    if (deed.ended && !(m->w.manner & WEAVE_UNENDED)) rad_ended(k, m->r.actor[actor]);
    if (deed.checked >= 0) rad_evaluated(k, (uint32_t)deed.checked);
    report(m);
    if (m->r.s.failed >= 0) complain(m);
}

static void check(void *self, rad_kernel *k)
{
    struct weaver *m = self;
    m->k = k;
    if (m->w.invariant == 0 || m->r.s.failed >= 0) return;
    rad_evaluated(k, RAD_ORACLE_INVARIANT);
    if (!weave_broken(&m->w, &m->r.s)) return;
    m->r.s.failed = RAD_ORACLE_INVARIANT;
    m->r.s.failed_object = 0;
    complain(m);
}

static enum rad_end idle(void *self, rad_kernel *k)
{
    struct weaver *m = self;
    (void)k;
    bool stuck = weave_stuck(&m->w, &m->r.s);
    if (stuck) m->r.s.failed = RAD_ORACLE_DEADLOCK;
    write_down(&m->r);
    return stuck ? RAD_END_STUCK : RAD_END_FINISHED;
}

static void state(const void *self, rad_state_hash *h)
{
    const struct weaver *m = self;
    rad_state_add(h, &m->r.s, sizeof m->r.s);
}

static size_t save(const void *self, void *to)
{
    const struct weaver *m = self;
    if (to) {
        memcpy(to, &m->r, sizeof m->r);
        __atomic_fetch_add(&weave_spy()->saves, 1, __ATOMIC_RELAXED);
    }
    return sizeof m->r;
}

static void load(void *self, const void *from)
{
    struct weaver *m = self;
    memcpy(&m->r, from, sizeof m->r);
    __atomic_fetch_add(&weave_spy()->loads, 1, __ATOMIC_RELAXED);
}

static const char *site_name(const void *self, uint32_t site)
{
    (void)self;
    return weave_op_name(site);
}

static const char *kind_name(const void *self, uint32_t kind)
{
    (void)self;
    return kind == 0 ? "go" : kind == 1 ? "give up" : NULL;
}

/* The policy `own`: the last of the enabled actions; no opinion while an odd number of steps was made. */
static uint32_t prefer(const void *self)
{
    const struct weaver *m = self;
    uint32_t steps = 0;
    for (uint32_t i = 0; i < WEAVE_ACTORS; i++) steps += m->r.s.pc[i];
    for (uint32_t i = WEAVE_ACTIONS; i-- > 0 && steps % 2 == 0;)
        if (m->r.on[i]) return m->r.action[i];
    return RAD_NONE;
}

static const rad_param params[] = {
    {.name = "seed", .default_value = 1, .min = 0, .max = INT64_MAX, .about = "which weave", .fixed = true},
    {.name = "actors", .default_value = 2, .min = 1, .max = 4, .about = "actors at first"},
    {.name = "ops", .default_value = WEAVE_OPS, .min = 1, .max = WEAVE_OPS, .about = "operations of each at most"},
    {.name = "slack", .default_value = 0, .min = 0, .max = 2, .about = "added to what checks look for"},
    {.name = "fixed", .default_value = 3, .min = 0, .max = 9, .about = "drawn, or additions", .fixed = true},
    {0}};

static rad_machine machine_of(bool saves)
{
    rad_machine m = {.name = saves ? "weave-saves" : "weave",
                     .about = "a random small program",
                     .params = params,
                     .oracles = weave_oracles(),
                     .bug_site = RAD_NONE,
                     .create = create,
                     .destroy = free,
                     .reset = reset,
                     .step = step,
                     .idle = idle,
                     .check = check,
                     .state = state,
                     .prefer = prefer,
                     .kind_name = kind_name,
                     .site_name = site_name};
    if (saves) {
        m.save = save;
        m.load = load;
    }
    return m;
}

const rad_machine *weave_machine(bool saves)
{
    static rad_machine machines[2];
    rad_error error;
    for (int i = 0; i < 2 && !machines[i].name; i++) {
        machines[i] = machine_of(i == 1);
        if (rad_machine_add(&machines[i], &error) != 0) abort();
    }
    return &machines[saves];
}

rad_target weave_target(const struct weave_case *c)
{
    struct weave w;
    weave_make(&w, c);
    rad_target t = {.machine = weave_machine(w.manner & WEAVE_SAVES)};
    t.c.params[0] = c->seed;
    t.c.params[1] = c->actors;
    t.c.params[2] = c->ops;
    t.c.params[3] = c->slack;
    t.c.params[4] = c->fixed;
    return t;
}

struct weave_case weave_case_of(const rad_case *c)
{
    return (struct weave_case){c->params[0], c->params[1], c->params[2], c->params[3], c->params[4]};
}
