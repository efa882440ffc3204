#include "calls_generate.h"

#include "base/prng.h"

#include <string.h>

typedef struct maker {
    rad_prng prng;
    calls_program *p;
    uint8_t unspawned; /* the next task that nothing spawns yet */
} maker;

static uint8_t below(maker *m, uint32_t bound)
{
    return (uint8_t)rad__prng_below(&m->prng, bound);
}

static bool spawns(uint8_t op)
{
    return (op >= CALLS_SPAWN && op <= CALLS_ENTER_BATCH) || op == CALLS_FORK || op == CALLS_SIBLING;
}

static uint8_t draw(maker *m, uint8_t actor)
{
    static const uint8_t inside[] = {
        CALLS_TICK,        CALLS_TICK,         CALLS_TICK,         CALLS_TICK,     CALLS_SPAWN, CALLS_SPAWN,
        CALLS_SPAWN,       CALLS_SPAWN_GLOBAL, CALLS_SPAWN_GLOBAL, CALLS_SPAWN_ON, CALLS_ENTER, CALLS_ENTER_ON,
        CALLS_ENTER_BATCH, CALLS_FORK,         CALLS_FORK,         CALLS_FORK,     CALLS_FORK,  CALLS_SIBLING,
        CALLS_SIBLING,     CALLS_WAIT,         CALLS_WAIT,         CALLS_YIELD,    CALLS_YIELD, CALLS_YIELD_GLOBAL,
        CALLS_AGAIN,       CALLS_RESPAWN,      CALLS_BLOCK,        CALLS_BLOCK,    CALLS_WAKE,  CALLS_WAKE_ON,
        CALLS_WAKE_HERE,   CALLS_WAKE_HERE,    CALLS_SCRATCH,      CALLS_CLOSE,    CALLS_FAIL};
    static const uint8_t outside[] = {CALLS_TICK,        CALLS_ENTER, CALLS_ENTER,   CALLS_ENTER, CALLS_ENTER_ON,
                                      CALLS_ENTER_BATCH, CALLS_WAKE,  CALLS_WAKE_ON, CALLS_CLOSE};
    return actor == CALLS_OUTSIDE ? outside[below(m, sizeof outside)] : inside[below(m, sizeof inside)];
}

/* A step that may be drawn again when there is no task left to spawn. */
static bool make_step(maker *m, uint8_t actor, calls_step *s)
{
    *s = (calls_step){draw(m, actor), 0, 0};
    if (s->op == CALLS_SPAWN && calls_is_job(m->p, actor)) s->op = CALLS_SIBLING;
    if (spawns(s->op)) {
        uint8_t needs = s->op == CALLS_ENTER_BATCH ? 2 : 1;
        if (m->unspawned + needs > m->p->task_count) return false;
        s->a = m->unspawned;
        m->unspawned = (uint8_t)(m->unspawned + needs);
        s->b = needs == 2 ? (uint8_t)(s->a + 1) : below(m, m->p->workers);
    } else if (s->op >= CALLS_WAKE && s->op <= CALLS_WAKE_HERE) {
        s->a = below(m, m->p->task_count);
        s->b = below(m, m->p->workers);
        return s->a != actor;
    } else if (s->op == CALLS_TICK) {
        s->a = below(m, CALLS_COUNTERS);
    } else if (s->op == CALLS_WAIT) {
        s->a = below(m, 2);
    } else if (s->op == CALLS_FAIL) {
        s->a = below(m, 4);
    }
    return true;
}

static void fill(maker *m, uint8_t actor, uint8_t length)
{
    calls_program *p = m->p;
    for (uint8_t at = 0; at < length; at++)
        while (!make_step(m, actor, &p->code[actor][at])) {
        }
    p->length[actor] = length;
}

void calls_generate(uint64_t seed, uint8_t workers, uint8_t ops, calls_program *p)
{
    maker m = {rad__prng(seed, RAD_STREAM_TEST, 16), p, 1};
    memset(p, 0, sizeof *p);
    p->workers = workers;
    p->stop = below(&m, 4) == 0;
    p->task_count = (uint8_t)(2 + below(&m, CALLS_TASKS - 1));
    p->code[CALLS_OUTSIDE][0] = (calls_step){CALLS_ENTER, 0, 0};
    p->length[CALLS_OUTSIDE] = 1;
    for (uint8_t t = 0; t < m.unspawned && ops > 0; t++) {
        uint8_t length = (uint8_t)(1 + below(&m, CALLS_LENGTH));
        if (length > ops) length = ops;
        fill(&m, t, length);
        ops = (uint8_t)(ops - length);
    }
    uint8_t more = below(&m, 3);
    for (uint8_t i = 0; i < more; i++) {
        calls_step s;
        while (!make_step(&m, CALLS_OUTSIDE, &s)) {
        }
        p->code[CALLS_OUTSIDE][p->length[CALLS_OUTSIDE]++] = s;
    }
    for (uint8_t t = 0; t < m.unspawned && ops > 0; t++) {
        if (p->length[t] > 0) continue; /* spawned by the thread outside */
        uint8_t length = ops < 3 ? ops : 3;
        fill(&m, t, length);
        ops = (uint8_t)(ops - length);
    }
}

void calls_cover(calls_coverage *v, const calls_program *p)
{
    v->programs++;
    v->stop += p->stop;
    for (uint8_t i = 0; i < CALLS_ACTORS; i++)
        for (uint8_t at = 0; at < p->length[i]; at++) {
            uint8_t op = calls_op_of(p, i, at);
            (i == CALLS_OUTSIDE ? v->outside : v->ops)[op]++;
            v->nested += op == CALLS_FORK && i < CALLS_TASKS && calls_is_job(p, i);
        }
    for (uint8_t t = 0; t < p->task_count; t++) v->jobs += calls_is_job(p, t);
}
