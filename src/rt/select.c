/* select.c — one of several operations: the clauses of wait.h, with several of them. */
#include "rt/chan.h"
#include "rt/ops.h"
#include "rt/runtime.h"

enum { FEW = 8 }; /* so many clauses fit into a small frame */

/* Where looking begins. */
static uint32_t draw(uint32_t count)
{
    static _Atomic uint32_t turn; /* of threads */
    rad_core *core = rad__core();
    if (core != NULL && core->running != NULL)
        return (uint32_t)rad__prng_below(&rad__seat_of(core)->prng, count);
    return atomic_fetch_add_explicit(&turn, 1, memory_order_relaxed) % count;
}

static bool clause_of(rad_clause *c, const rad_select_case *from)
{
    switch (from->kind) {
    case RAD_ON_SEND: rad__send_clause(c, from->on.chan, from->value); return true;
    case RAD_ON_RECV: rad__recv_clause(c, from->on.chan, from->value); return true;
    case RAD_ON_JOIN: return rad__join_clause(c, from->on.fiber, from->value);
    }
    RAD_ASSERT(!"a case of select has a kind that does not exist");
    return false;
}

static int select_among(rad_clause *clauses, rad_select_case *cases, uint32_t count, uint64_t until)
{
    for (uint32_t i = 0; i < count; i++)
        if (!clause_of(&clauses[i], &cases[i])) return RAD_ESTALE;
    int done = rad__wait(clauses, count, count > 1 ? draw(count) : 0, until);
    if (done >= 0) cases[done].code = clauses[done].code;
    return done;
}

static __attribute__((noinline)) int select_few(rad_select_case *cases, uint32_t count,
                                                uint64_t until)
{
    rad_clause clauses[FEW];
    return select_among(clauses, cases, count, until);
}

static __attribute__((noinline)) int select_many(rad_select_case *cases, uint32_t count,
                                                 uint64_t until)
{
    rad_clause clauses[RAD_SELECT_MAX];
    return select_among(clauses, cases, count, until);
}

int rad__op_select(rad_select_case *cases, uint32_t count, rad_time until)
{
    if (count == 0 || count > RAD_SELECT_MAX) return RAD_EINPUT;
    return count <= FEW ? select_few(cases, count, until) : select_many(cases, count, until);
}
