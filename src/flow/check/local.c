/* local.c — steps whose order does not matter.
 *
 * A step of a token is local when whatever the others do before it they can do after it as well, with the same result:
 * then doing it first, and nothing else, loses no end, no deadlock, no task and no circle. Data belong to a branch, so
 * most steps are. Three things must be looked at.
 *
 * Being cancelled. A token that is cancelled is gone, however far it had got: its local steps vanish with it, and
 * having done them first changes nothing. Not so for the owner of a region with a handler, which goes on there with its
 * data: what it writes is seen. Nor when `cancel task` asks where a token stands, or `cancel region` whether it is in.
 *
 * Failing. A failure that nobody catches ends the case, whatever the others have done meanwhile; if the task can also
 * succeed, and the run goes on that way, nothing is lost. Any other failure is seen.
 *
 * Being counted. When the case completes it is asked who is still alive. So the end of a token is no local step where
 * something may complete before it: with `finish`, and behind an `any` that has fired.
 *
 * The tests of while and repeat are never local: every circle of states goes through one, and there all orders are
 * tried, so that nobody is put off for ever. (Loops that count do not lead back to a state.) */
#include "base/alloc.h"
#include "flow/check/parts.h"

bool rad__flow_draws(const rad_flow_program *p)
{
    for (uint32_t i = 0; i < p->tree->task_count; i++) {
        const rad_flow_task *t = &p->tree->tasks[i];
        bool both = t->outcomes == (RAD_OUTCOME_OK_BIT | RAD_OUTCOME_FAIL_BIT);
        if (both || t->writes.count > 0) return true;
    }
    for (uint32_t i = 0; i < p->code_count; i++) {
        const rad_flow_op *op = &p->code[i];
        if (op->code == RAD_OP_TAKEN && (op->b > 1 || p->ways[op->a].event.into != RAD_NONE)) return true;
    }
    return false;
}

bool rad__flow_traits_make(rad_flow_traits *t, const rad_flow_program *p, bool drawn)
{
    *t = (rad_flow_traits){.drawn = drawn && rad__flow_draws(p), .ends = drawn};
    t->more = rad__alloc(p->code_count + 1u, sizeof *t->more);
    for (uint32_t i = 0; i < p->code_count && t->more != NULL; i++) {
        const rad_flow_op *op = &p->code[i];
        bool forks = op->code == RAD_OP_FORK || op->code == RAD_OP_OR || op->code == RAD_OP_MANY;
        t->cancels_task |= op->code == RAD_OP_CANCEL && op->a == RAD_FLOW_PART_TASK;
        t->cancels_region |= op->code == RAD_OP_CANCEL && op->a == RAD_FLOW_PART_REGION;
        t->compensates |= op->code == RAD_OP_COMPENSATE;
        t->finishes |= op->code == RAD_OP_FINISH_CASE;
        t->detaches |= forks && (op->join == RAD_JOIN_ANY || op->join == RAD_JOIN_NONE);
        t->stops_some |= forks && op->join == RAD_JOIN_FIRST;
        if (op->code == RAD_OP_MORE) t->more[op->a] = 1;
    }
    t->stops_some |= t->cancels_task || t->cancels_region;
    for (uint32_t i = 0; i < p->region_count; i++) t->stops_some |= p->regions[i].on_failure != RAD_NONE;
    return t->more != NULL;
}

void rad__flow_traits_free(rad_flow_traits *t)
{
    rad__free(t->more);
}

/* ---- Data ------------------------------------------------------------------- */

static bool owns_handler(const rad_flow_vm *vm, uint32_t token)
{
    for (uint32_t at = vm->tokens[token].frames; at != RAD_NONE; at = vm->frames[at].next) {
        if (vm->frames[at].kind != RAD_FRAME_REGION) continue;
        const rad_flow_region *r = &vm->program->regions[vm->regions[vm->frames[at].value].region];
        if (r->on_cancel != RAD_NONE || r->on_failure != RAD_NONE) return true;
    }
    return false;
}

/* What it writes is its own as long as it lives. The first token's data are also those with which a case ends that
 * somebody else ends; that is of interest when ends are compared. */
static bool writes_unseen(const rad_flow_traits *t, const rad_flow_vm *vm, uint32_t token)
{
    if (t->ends && token == 0) return false;
    return !owns_handler(vm, token);
}

/* How many conditions hold; false: one cannot be evaluated. */
static bool count_true(rad_flow_vm *vm, uint32_t token, const rad_flow_op *op, uint32_t *count)
{
    *count = 0;
    for (uint32_t i = 0; i < op->b; i++) {
        int64_t value;
        if (!rad__flow_eval(vm, token, vm->program->ways[op->a + i].when, &value)) return false;
        *count += value != 0;
    }
    return true;
}

/* ---- Kinds of steps ------------------------------------------------------------------- */

static bool is_caught(const rad_flow_vm *vm, uint32_t token)
{
    for (uint32_t at = vm->tokens[token].region; at != RAD_NONE; at = vm->regions[at].parent)
        if (vm->program->regions[vm->regions[at].region].on_failure != RAD_NONE && vm->regions[at].owner != RAD_NONE)
            return true;
    return false;
}

static bool finish_is_local(const rad_flow_traits *t, const rad_flow_vm *vm, uint32_t token)
{
    const rad_token *own = &vm->tokens[token];
    const rad_flow_task *task = &vm->program->tree->tasks[own->task];
    if (task->undo != RAD_NONE && t->compensates) return false;
    if (task->writes.count > 0 && !writes_unseen(t, vm, token)) return false;
    if (!(task->outcomes & RAD_OUTCOME_FAIL_BIT) || own->attempt <= task->retries) return true;
    return !t->ends && task->outcomes & RAD_OUTCOME_OK_BIT && !is_caught(vm, token);
}

static bool taken_is_local(const rad_flow_traits *t, const rad_flow_vm *vm, uint32_t token, const rad_flow_op *op)
{
    for (uint32_t i = 0; i < op->b; i++)
        if (vm->program->ways[op->a + i].event.into != RAD_NONE) return writes_unseen(t, vm, token);
    return true;
}

/* Paths of new tokens depend on who is alive when branches outlive their forks; draws depend on paths. */
static bool fork_is_local(const rad_flow_traits *t, rad_flow_vm *vm, uint32_t token, const rad_flow_op *op)
{
    uint32_t count;
    int64_t value;
    if (t->drawn && t->detaches) return false;
    if (op->code == RAD_OP_FORK) return true;
    if (op->code == RAD_OP_OR) {
        if (!count_true(vm, token, op, &count)) return false;
        return count > 0 ? op->c <= count : op->d != RAD_NONE; /* c: 0, where nobody counts */
    }
    const rad_flow_many *m = &vm->program->manies[op->d];
    if (m->is_over || !rad__flow_eval(vm, token, op->b, &value) || value <= 0) return false;
    return (m->most == 0 || value <= m->most) && value <= 1000 && op->c <= value;
}

static bool leave_is_local(const rad_flow_traits *t, const rad_flow_vm *vm, uint32_t token)
{
    const rad_token *own = &vm->tokens[token];
    const rad_region_instance *r = &vm->regions[own->region];
    if (t->cancels_region || t->compensates) return false;
    return r->tokens == token && own->region_newer == RAD_NONE && r->inside == RAD_NONE;
}

/* No variable was written by two of those that are merged: they cannot disagree. */
static bool merges_quietly(const rad_flow_vm *vm, const rad_token *last, const rad_fork *f)
{
    uint64_t all[RAD_FLOW_WRITTEN_WORDS];
    for (uint32_t i = 0; i < RAD_FLOW_WRITTEN_WORDS; i++) all[i] = last->written[i];
    for (uint32_t at = f->arrivals; at != RAD_NONE; at = vm->arrivals[at].next)
        for (uint32_t i = 0; i < RAD_FLOW_WRITTEN_WORDS; i++) {
            if (all[i] & vm->arrivals[at].written[i]) return false;
            all[i] |= vm->arrivals[at].written[i];
        }
    return true;
}

static bool arrive_is_local(const rad_flow_traits *t, const rad_flow_vm *vm, uint32_t token)
{
    const rad_token *own = &vm->tokens[token];
    const rad_fork *f = &vm->forks[own->fork];
    if (t->finishes || t->more[f->op]) return false;
    if (f->owner == RAD_NONE || vm->tokens[f->owner].inner != own->fork) return false;
    if (f->join == RAD_JOIN_FIRST || f->join == RAD_JOIN_ANY) return false;
    uint32_t gone = f->join == RAD_JOIN_ALL ? 0 : f->cancelled;
    if (f->arrived + 1 + gone < f->activated) return true;
    if (!rad__written_any(own->written) && f->arrivals == RAD_NONE) return true;
    return merges_quietly(vm, own, f) && writes_unseen(t, vm, f->owner);
}

/* ---- The step ------------------------------------------------------------------- */

bool rad__flow_is_local(const rad_flow_traits *t, rad_flow_vm *vm, uint32_t token)
{
    const rad_flow_op *op = rad__flow_op(vm, token);
    int64_t value;
    uint32_t count;
    /* What is drawn depends on how many effects a path has begun, also before it was stopped. */
    if ((op->code == RAD_OP_START || op->code == RAD_OP_BEGIN) && t->drawn && t->stops_some) return false;
    if (op->code == RAD_OP_START || op->code == RAD_OP_RETRY) return true;
    if (t->cancels_task) return false; /* it matters who stands before which task */
    switch ((enum rad_flow_code)op->code) {
    case RAD_OP_FINISH: return finish_is_local(t, vm, token);
    case RAD_OP_SET: return rad__flow_eval(vm, token, op->b, &value) && writes_unseen(t, vm, token);
    case RAD_OP_XOR: return count_true(vm, token, op, &count) && (count > 0 || op->d != RAD_NONE);
    case RAD_OP_FORK:
    case RAD_OP_OR:
    case RAD_OP_MANY: return fork_is_local(t, vm, token, op);
    case RAD_OP_ARRIVE:
    case RAD_OP_BLOCK_END: return arrive_is_local(t, vm, token);
    case RAD_OP_LOOP: return rad__flow_eval(vm, token, op->b, &value);
    case RAD_OP_LOOP_AGAIN:
    case RAD_OP_INTERLEAVE:
    case RAD_OP_INTERLEAVE_AGAIN:
    case RAD_OP_RELEASE: /* who waits for it can go on only then */
    case RAD_OP_BEGIN: return true;
    case RAD_OP_TAKEN: return taken_is_local(t, vm, token, op);
    case RAD_OP_ENTER: return !t->cancels_region && !t->compensates;
    case RAD_OP_LEAVE: return leave_is_local(t, vm, token);
    default: return false;
    }
}
