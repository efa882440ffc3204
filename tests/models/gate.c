/* gate.c — how many tasks are in flight: visitors enter and leave while somebody closes. The end (closed, nobody
 * inside) is told to exactly one caller, and that one sees what all visitors wrote. */
#include "exec/gate.h"
#include "lab/l2/model.h"

enum { VISITORS };
enum { VISITORS_MAX = 4 };

static rad_gate gate;
static uint32_t wrote[VISITORS_MAX]; /* plain: published by leaving */
static uint32_t entered;             /* plain: of whoever is told of the end */
static bool told;

static uint32_t gate_threads(const rad_case *c)
{
    return 1 + (uint32_t)c->params[VISITORS];
}

static const char *gate_role(const rad_case *c, uint32_t thread)
{
    (void)c;
    return thread == 0 ? "closer" : "visitor";
}

static void gate_setup(const rad_case *c)
{
    (void)c;
    rad__model_name(&gate, sizeof gate, "gate");
    rad__model_name(wrote, sizeof wrote, "result");
}

static void the_end(const rad_case *c)
{
    RAD_MODEL_ASSERT(!told);
    told = true;
    for (int64_t i = 0; i < c->params[VISITORS]; i++) entered += wrote[i];
}

static void gate_body(const rad_case *c, uint32_t thread)
{
    if (thread == 0) {
        enum rad_gate_close closed = rad__gate_close(&gate);
        RAD_MODEL_ASSERT(closed != RAD_GATE_WAS_CLOSED);
        if (closed == RAD_GATE_DRAINED) the_end(c);
        return;
    }
    if (rad__gate_enter(&gate, 1) != RAD_GATE_ENTERED) return;
    rad__gate_add(&gate, 1); /* spawns one */
    wrote[thread - 1] = 1;
    enum rad_gate_leave first = rad__gate_leave(&gate, 1);
    RAD_MODEL_ASSERT(first == RAD_GATE_LEFT);
    if (rad__gate_leave(&gate, 1) == RAD_GATE_LAST) the_end(c);
}

static void gate_check(const rad_case *c)
{
    uint32_t count = 0;
    for (int64_t i = 0; i < c->params[VISITORS]; i++) count += wrote[i];
    RAD_MODEL_ASSERT(told);
    RAD_MODEL_ASSERT(entered == count);
    RAD_MODEL_ASSERT(rad__gate_count(&gate) == 0 && !rad__gate_is_open(&gate));
}

static const rad_param gate_params[] = {
    [VISITORS] = {"visitors", 2, 1, VISITORS_MAX, "threads that enter and leave", false},
    {.name = NULL},
};

RAD_MODEL(gate, .name = "l2-gate", .about = "the executor's gate: enter, add, leave against close",
          .params = gate_params, .covers = "gate", .no_locals = true, .thread_count = gate_threads,
          .thread_role = gate_role, .setup = gate_setup, .body = gate_body, .check = gate_check);
