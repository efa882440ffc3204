#include "fibers_program.h"

#include <string.h>

static const struct {
    const char *name;
    char object;
    bool has_number, waits, is_case;
} OPS[] = {
#define FIBERS_OP_ROW(name, text, object, number, waits, is_case)                                                      \
    [FIBERS_##name] = {text, object, number, waits, is_case},
    FIBERS_OPS_LIST(FIBERS_OP_ROW)
#undef FIBERS_OP_ROW
};

static const char *const UNTILS[] = {"now", "passed", "soon", "never"};
static const char *const ENDS[] = {"done", "deadlock", "aborted", "crashed", "hangs"};

const char *fibers_op_name(uint8_t kind)
{
    return OPS[kind].name;
}

char fibers_op_object(uint8_t kind)
{
    return OPS[kind].object;
}

bool fibers_op_waits(uint8_t kind)
{
    return OPS[kind].waits;
}

bool fibers_op_is_case(uint8_t kind)
{
    return OPS[kind].is_case;
}

uint8_t fibers_value(uint32_t fiber, uint32_t op, uint32_t i)
{
    return (uint8_t)(1 + fiber * 32 + op * 4 + i);
}

bool fibers_delete_op(fibers_program *p, uint32_t f, uint32_t i)
{
    fibers_fiber *fiber = &p->fibers[f];
    if (i >= fiber->op_count || fiber->is_sender || fiber->ops[i].kind == FIBERS_GROUP_ADD) return false;
    fiber->op_count--;
    memmove(&fiber->ops[i], &fiber->ops[i + 1], (fiber->op_count - i) * sizeof(fibers_op));
    memset(&fiber->ops[fiber->op_count], 0, sizeof(fibers_op));
    return true;
}

static bool is_soon(const fibers_program *p, const fibers_op *op, uint32_t part)
{
    if (part > 0) {
        const fibers_case *c = &op->cases[part - 1];
        return part <= op->case_count && c->kind == FIBERS_SLEEP && c->until == FIBERS_SOON;
    }
    if (op->kind == FIBERS_SEND_SPAWN) return p->fibers[op->object].ops[0].until == FIBERS_SOON;
    return OPS[op->kind].waits && op->until == FIBERS_SOON;
}

uint32_t fibers_soons_before(const fibers_program *p, uint32_t fiber, uint32_t op, uint32_t part)
{
    uint32_t count = 0;
    for (uint32_t f = 0; f < p->fiber_count && f <= fiber; f++) {
        if (p->fibers[f].is_sender) continue; /* its deadline is that of the call that starts it */
        for (uint32_t i = 0; i < p->fibers[f].op_count; i++)
            for (uint32_t k = 0; k <= FIBERS_CASES; k++) {
                if (f == fiber && (i > op || (i == op && k >= part))) return count;
                count += is_soon(p, &p->fibers[f].ops[i], k);
            }
    }
    return count;
}

static void print_case(FILE *out, uint8_t kind, uint8_t object, uint8_t number)
{
    fputs(OPS[kind].name, out);
    if (OPS[kind].object != '-') fprintf(out, " %c%u", OPS[kind].object, object);
    if (OPS[kind].has_number) fprintf(out, " %u", number);
}

static void print_op(FILE *out, const fibers_op *op)
{
    print_case(out, op->kind, op->object, op->number);
    if (op->kind == FIBERS_SELECT) {
        fputs(" {", out);
        for (uint32_t i = 0; i < op->case_count; i++) {
            const fibers_case *c = &op->cases[i];
            fputs(i ? ", " : "", out);
            print_case(out, c->kind, c->object, c->number);
            if (c->kind == FIBERS_SLEEP) fprintf(out, " %s", UNTILS[c->until]);
        }
        fputs("}", out);
    }
    if (OPS[op->kind].waits) fprintf(out, " until %s", UNTILS[op->until]);
}

void fibers_program_print(FILE *out, const fibers_program *p)
{
    static const char *const modes[] = {"blocks", "drops new", "drops old"};
    for (uint32_t i = 0; i < FIBERS_CHANS; i++) fprintf(out, "c%u: %u, %s; ", i, p->capacities[i], modes[p->modes[i]]);
    fprintf(out, "tasks: %u\n", p->task_capacity);
    for (uint32_t i = 0; i < FIBERS_LOCKS; i++) fprintf(out, "s%u: %u; g%u: %u; ", i, p->permits[i], i, p->groups[i]);
    fprintf(out, "barrier: %u; stock: %u, spoils %u, fails %u; limit %u%s; threads %u\n", p->parties, p->stock_capacity,
            p->stock_spoils, p->stock_fails, p->limit, p->limit_waits ? " waits" : "", p->blocking_threads);
    for (uint32_t f = 0; f < p->fiber_count; f++) {
        const fibers_fiber *fiber = &p->fibers[f];
        fprintf(out, "fiber %u, returns %d:\n", f, fiber->returns == FIBERS_RETURNS_LAST ? -1 : fiber->returns);
        for (uint32_t i = 0; i < fiber->op_count; i++) {
            fputs("    ", out);
            print_op(out, &fiber->ops[i]);
            fputs("\n", out);
        }
    }
}

void fibers_result_print(FILE *out, const fibers_program *p, const fibers_result *r)
{
    for (uint32_t f = 0; f < p->fiber_count; f++) {
        fprintf(out, "fiber %u:", f);
        for (uint32_t i = 0; i < r->counts[f]; i++) {
            const fibers_entry *e = &r->log[f][i];
            fprintf(out, " %s=%d", i < p->fibers[f].op_count ? OPS[p->fibers[f].ops[i].kind].name : "end", e->code);
            if (e->values[0] || e->values[1] || e->values[2])
                fprintf(out, "(%u,%u,%u)", e->values[0], e->values[1], e->values[2]);
        }
        fputs("\n", out);
    }
    fprintf(out, "%s, answer %d\n", ENDS[r->end], r->answer);
}
