/* vm_step.c — one operation of one token. See vm.h for the machine, program.h for the operations.
 *
 * In a simulated world what a task gives, and which event comes, are asked for here: of the kernel (chosen), or of a
 * hash of the seed and the effect's key (drawn), which does not depend on the order of steps. */
#include "base/prng.h"
#include "flow/machine/vm.h"

static const uint64_t DELAY_MOST = UINT64_C(366) * 24 * 3600 * 1000000000;

/* ---- The simulated world ------------------------------------------------------------------------------- */

static uint32_t world_pick(rad_flow_vm *vm, uint32_t token, enum rad_pick_kind kind, uint32_t count, uint32_t what)
{
    const rad_token *t = &vm->tokens[token];
    if (vm->world == RAD_WORLD_CHOSEN) return rad_pick(vm->k, kind, t->pc, count);
    if (count <= 1) return 0;
    uint64_t draw = rad__mix64(vm->outcome_seed ^ t->path_hash);
    draw = rad__mix64(draw + ((uint64_t)t->effect << 32 | t->attempt));
    return (uint32_t)(rad__mix64(draw + what) % count);
}

static bool world_writes(rad_flow_vm *vm, uint32_t token, uint32_t variable, uint32_t what)
{
    const rad_flow_domain *d = &vm->program->domains[variable];
    uint32_t chosen = world_pick(vm, token, RAD_PICK_VALUE, d->count, what);
    return rad__data_set(vm, token, variable, d->values[chosen]);
}

/* ---- Tasks ------------------------------------------------------------------------------- */

static const rad_flow_task *task_of(const rad_flow_vm *vm, uint32_t token)
{
    return &vm->program->tree->tasks[vm->tokens[token].task];
}

/* Asks for the effect, and goes to where its end is waited for. */
static void launch(rad_flow_vm *vm, uint32_t token, uint32_t finish, uint32_t data)
{
    rad_value(vm->k, vm->tokens[token].attempt);
    rad__flow_ask(vm, RAD_ASK_START, token, data, 0, 0);
    rad__token_go(vm, token, finish);
    if (vm->world == RAD_WORLD_LIVE) rad__token_wait(vm, token, RAD_TOKEN_FOR_RESULT);
}

static void step_start(rad_flow_vm *vm, uint32_t token, const rad_flow_op *op)
{
    rad_token *t = &vm->tokens[token];
    if (t->attempt == 0) {
        t->task = op->a;
        t->effect = ++t->effects;
    }
    t->attempt++;
    launch(vm, token, op->next, t->data);
}

static uint64_t delay_before(const rad_flow_task *task, uint32_t attempt)
{
    uint64_t delay = task->delay_ns;
    while (--attempt > 0)
        if (__builtin_mul_overflow(delay, task->backoff, &delay)) return DELAY_MOST;
    return delay < DELAY_MOST ? delay : DELAY_MOST;
}

static void task_failed(rad_flow_vm *vm, uint32_t token, const rad_flow_op *op, uint32_t why)
{
    rad_token *t = &vm->tokens[token];
    const rad_flow_task *task = task_of(vm, token);
    if (t->attempt <= task->retries && task->delay_ns == 0) {
        rad__token_go(vm, token, op->b);
    } else if (t->attempt <= task->retries) {
        rad__token_go(vm, token, op->c);
        if (vm->world != RAD_WORLD_LIVE) return;
        rad__flow_ask(vm, RAD_ASK_TIMER, token, RAD_NONE, delay_before(task, t->attempt), 0);
        rad__token_wait(vm, token, RAD_TOKEN_FOR_TIMER);
    } else {
        const char *name = rad__flow_name(&vm->program->file, task->name);
        bool open = vm->failure[0] == 0;
        if (why != RAD_NONE)
            rad__flow_raise(vm, token, "task %s failed: %.*s", name,
                            (int)(vm->texts[why].length < 200 ? vm->texts[why].length : 200), vm->texts[why].text);
        else
            rad__flow_raise(vm, token, "task %s failed", name);
        if (open && vm->failure[0] != 0) vm->failed_task = task->name;
    }
}

/* It can be undone from now on. */
static void remember(rad_flow_vm *vm, uint32_t token, uint32_t undo)
{
    uint32_t region = vm->tokens[token].region;
    if (undo == RAD_NONE || region == RAD_NONE) return;
    uint32_t at = rad__pool_take(&vm->undo_pool, (void **)&vm->undos, sizeof *vm->undos);
    if (at == RAD_NONE) {
        rad__flow_broken(vm, RAD_ENOMEM, "out of memory for what can be undone");
        return;
    }
    vm->undos[at] = (rad_flow_undo){undo, rad__data_share(vm, vm->tokens[token].data), vm->regions[region].undos};
    vm->regions[region].undos = at;
}

static bool simulate_result(rad_flow_vm *vm, uint32_t token, const rad_flow_task *task)
{
    bool ok = task->outcomes != RAD_OUTCOME_FAIL_BIT;
    if (task->outcomes == (RAD_OUTCOME_OK_BIT | RAD_OUTCOME_FAIL_BIT))
        ok = world_pick(vm, token, RAD_PICK_FAULT, 2, 0) == 0;
    for (uint32_t i = 0; i < task->writes.count && ok; i++)
        if (!world_writes(vm, token, task->writes.items[i], i + 1)) return false;
    return ok;
}

/* What the world answered; a failure's reason in *why. */
static bool take_result(rad_flow_vm *vm, uint32_t token, uint32_t *why)
{
    rad_token *t = &vm->tokens[token];
    RAD_ASSERT(t->answered);
    bool ok = t->ok;
    uint32_t first = t->answer, count = t->answer_count;
    *why = first;
    t->answered = false;
    for (uint32_t i = 0; i < count; i++) /* of a failure there are none */
        if (!rad__data_set(vm, token, vm->answers[first + i].variable, vm->answers[first + i].value)) return false;
    if (--vm->answers_open == 0) vm->answer_count = 0;
    return ok;
}

static void step_finish(rad_flow_vm *vm, uint32_t token, const rad_flow_op *op)
{
    const rad_flow_task *task = task_of(vm, token);
    uint32_t why = RAD_NONE;
    bool ok = vm->world == RAD_WORLD_LIVE ? take_result(vm, token, &why) : simulate_result(vm, token, task);
    rad_value(vm->k, ok);
    if (!ok) {
        task_failed(vm, token, op, why);
        return;
    }
    vm->tokens[token].attempt = 0;
    /* Of a compensation the task is not in the code, and not to be undone in turn. */
    if (vm->program->code[op->b].a != RAD_NONE) remember(vm, token, task->undo);
    rad__token_go(vm, token, op->next);
}

static void step_compensate(rad_flow_vm *vm, uint32_t token, const rad_flow_op *op)
{
    uint32_t instance = vm->last_instance[op->a];
    rad_token *t = &vm->tokens[token];
    if (instance == RAD_NONE || vm->regions[instance].undos == RAD_NONE) {
        rad__token_go(vm, token, op->next);
        return;
    }
    uint32_t at = vm->regions[instance].undos;
    rad_flow_undo undo = vm->undos[at];
    vm->regions[instance].undos = undo.next;
    rad__pool_give(&vm->undo_pool, vm->undos, sizeof *vm->undos, at);
    t->task = undo.task;
    t->attempt = 1;
    t->effect = ++t->effects;
    launch(vm, token, op->b, undo.data);
    rad__data_give(vm, undo.data);
}

/* ---- Branches and loops ------------------------------------------------------------------------------- */

bool rad__flow_look(rad_flow_vm *vm, uint32_t token, uint32_t *count)
{
    const rad_flow_op *op = rad__flow_op(vm, token);
    *count = 0;
    for (uint32_t i = 0; i < op->b; i++) {
        int64_t value;
        if (!rad__flow_eval(vm, token, vm->program->ways[op->a + i].when, &value)) {
            if (vm->why != NULL) rad__flow_raise(vm, token, "%s", vm->why);
            return false;
        }
        vm->holds[i] = value != 0;
        *count += value != 0;
    }
    return true;
}

static void step_xor(rad_flow_vm *vm, uint32_t token, const rad_flow_op *op)
{
    uint32_t count;
    if (!rad__flow_look(vm, token, &count)) return;
    if (count == 0) {
        if (op->d != RAD_NONE)
            rad__token_go(vm, token, op->d);
        else
            rad__flow_raise(vm, token, "no branch of xor holds");
        return;
    }
    uint32_t left = rad_pick(vm->k, RAD_PICK_CASE, vm->tokens[token].pc, count), at = 0;
    while (!vm->holds[at] || left-- > 0) at++;
    rad_value(vm->k, at);
    rad__token_go(vm, token, vm->program->ways[op->a + at].entry);
}

/* False: the failure was raised, or the run has ended. */
static bool eval(rad_flow_vm *vm, uint32_t token, uint32_t expression, int64_t *value)
{
    if (rad__flow_eval(vm, token, expression, value)) return true;
    if (vm->why != NULL) rad__flow_raise(vm, token, "%s", vm->why);
    return false;
}

static void step_loop(rad_flow_vm *vm, uint32_t token, const rad_flow_op *op)
{
    int64_t rounds;
    if (!eval(vm, token, op->b, &rounds)) return;
    if (rounds <= 0)
        rad__token_go(vm, token, op->next);
    else if (rad__frame_push(vm, token, RAD_FRAME_LOOP, rounds - 1))
        rad__token_go(vm, token, op->a);
}

static void step_loop_again(rad_flow_vm *vm, uint32_t token, const rad_flow_op *op)
{
    rad_frame *f = &vm->frames[vm->tokens[token].frames];
    if (f->value == 0) {
        rad__frame_pop(vm, token);
        rad__token_go(vm, token, op->next);
    } else {
        f->value--;
        rad__token_go(vm, token, op->a);
    }
}

static void step_test(rad_flow_vm *vm, uint32_t token, const rad_flow_op *op)
{
    int64_t value;
    if (!eval(vm, token, op->b, &value)) return;
    bool again = (value != 0) == (op->code == RAD_OP_WHILE);
    rad__token_go(vm, token, again ? op->a : op->next);
}

static void step_interleave(rad_flow_vm *vm, uint32_t token, const rad_flow_op *op)
{
    if (op->code == RAD_OP_INTERLEAVE) {
        uint64_t all = op->b == 64 ? UINT64_MAX : (UINT64_C(1) << op->b) - 1;
        if (!rad__frame_push(vm, token, RAD_FRAME_INTERLEAVE, (int64_t)all)) return;
    }
    rad_frame *f = &vm->frames[vm->tokens[token].frames];
    uint64_t left = (uint64_t)f->value;
    if (left == 0) {
        rad__frame_pop(vm, token);
        rad__token_go(vm, token, op->next);
        return;
    }
    uint32_t skip = rad_pick(vm->k, RAD_PICK_CASE, vm->tokens[token].pc, (uint32_t)__builtin_popcountll(left));
    while (skip-- > 0) left &= left - 1;
    uint32_t block = (uint32_t)__builtin_ctzll(left);
    f->value = (int64_t)((uint64_t)f->value & ~(UINT64_C(1) << block));
    rad_value(vm->k, block);
    rad__token_go(vm, token, vm->program->ways[op->a + block].entry);
}

/* ---- Regions, locks, milestones ------------------------------------------------------------------------------- */

/* What was completed inside can be undone by the region around, too. */
static void step_leave(rad_flow_vm *vm, uint32_t token, const rad_flow_op *op)
{
    rad_region_instance *r = &vm->regions[vm->tokens[token].region];
    if (r->parent != RAD_NONE) {
        uint32_t *link = &r->undos;
        while (*link != RAD_NONE) link = &vm->undos[*link].next;
        *link = vm->regions[r->parent].undos;
        vm->regions[r->parent].undos = r->undos;
        r->undos = RAD_NONE;
    }
    rad__frame_pop(vm, token);
    rad__token_go(vm, token, op->next);
}

static void step_cancel(rad_flow_vm *vm, uint32_t token, const rad_flow_op *op)
{
    uint32_t at = vm->tokens[token].pc;
    rad__cancel_scope(vm, (enum rad_flow_part)op->a, op->b);
    const rad_token *t = &vm->tokens[token];
    if (t->alive && t->pc == at) rad__token_go(vm, token, op->next); /* it was not hit itself */
}

static void step_acquire(rad_flow_vm *vm, uint32_t token, const rad_flow_op *op)
{
    RAD_ASSERT(vm->locks[op->a] == RAD_NONE);
    if (!rad__frame_push(vm, token, RAD_FRAME_LOCK, op->a)) return;
    vm->locks[op->a] = token;
    rad__token_go(vm, token, op->next);
    rad__queue_look(vm, vm->program->tree->milestone_count + op->a);
}

static void step_release(rad_flow_vm *vm, uint32_t token, const rad_flow_op *op)
{
    rad__frame_pop(vm, token);
    rad__token_go(vm, token, op->next);
}

static void step_milestone(rad_flow_vm *vm, uint32_t token, const rad_flow_op *op)
{
    vm->milestones[op->a] = op->code == RAD_OP_REACH ? 1 : 2;
    rad__queue_look(vm, op->a);
    rad__token_go(vm, token, op->next);
}

static void step_await(rad_flow_vm *vm, uint32_t token, const rad_flow_op *op)
{
    bool holds = vm->milestones[op->a] == 1;
    rad_value(vm->k, holds);
    rad__token_go(vm, token, holds ? op->next : op->d);
}

/* ---- Events ------------------------------------------------------------------------------- */

/* The oldest signal that is kept and that one of the alternatives wants. */
static bool take_kept(rad_flow_vm *vm, uint32_t token, const rad_flow_op *op)
{
    uint32_t before = RAD_NONE;
    for (uint32_t at = vm->signal_first; at != RAD_NONE; before = at, at = vm->signals[at].next) {
        for (uint32_t i = 0; i < op->b; i++) {
            const rad_flow_event *e = &vm->program->ways[op->a + i].event;
            if (e->is_timer || e->is_fresh || e->signal != vm->signals[at].signal) continue;
            rad_token *t = &vm->tokens[token];
            t->alternative = i;
            t->answer = vm->signals[at].text;
            uint32_t next = vm->signals[at].next;
            *(before != RAD_NONE ? &vm->signals[before].next : &vm->signal_first) = next;
            if (next == RAD_NONE) vm->signal_last = before;
            rad__pool_give(&vm->signal_pool, vm->signals, sizeof *vm->signals, at);
            return true;
        }
    }
    return false;
}

static void step_begin(rad_flow_vm *vm, uint32_t token, const rad_flow_op *op)
{
    rad_token *t = &vm->tokens[token];
    t->effect = ++t->effects;
    t->task = RAD_NONE;
    rad__token_go(vm, token, op->next);
    if (vm->world != RAD_WORLD_LIVE || take_kept(vm, token, op)) return;
    for (uint32_t i = 0; i < op->b; i++) {
        const rad_flow_event *e = &vm->program->ways[op->a + i].event;
        if (e->is_timer) rad__flow_ask(vm, RAD_ASK_TIMER, token, RAD_NONE, e->delay_ns, i);
    }
    rad__token_wait(vm, token, RAD_TOKEN_FOR_EVENT);
}

static void step_taken(rad_flow_vm *vm, uint32_t token, const rad_flow_op *op)
{
    rad_token *t = &vm->tokens[token];
    bool live = vm->world == RAD_WORLD_LIVE;
    uint32_t chosen = live ? t->alternative : world_pick(vm, token, RAD_PICK_CASE, op->b, 0);
    const rad_flow_way *way = &vm->program->ways[op->a + chosen];
    rad_value(vm->k, chosen);
    if (way->event.into != RAD_NONE) {
        uint32_t into = way->event.into;
        const char *why = NULL;
        int64_t value;
        if (!live) {
            if (!world_writes(vm, token, into, 1)) return;
        } else {
            rad_text text = vm->texts[t->answer];
            if (!rad__text_value(vm, vm->program->tree->variables[into].type, text.text, text.length, &value, &why)) {
                if (why != NULL) rad__flow_raise(vm, token, "what came with the signal %s", why);
                return;
            }
            if (!rad__data_set(vm, token, into, value)) return;
        }
    }
    rad__token_go(vm, token, way->entry);
}

/* ---- The step ------------------------------------------------------------------------------- */

static void step_set(rad_flow_vm *vm, uint32_t token, const rad_flow_op *op)
{
    int64_t value;
    if (!eval(vm, token, op->b, &value) || !rad__data_set(vm, token, op->a, value)) return;
    rad_value(vm->k, (uint64_t)value);
    rad__token_go(vm, token, op->next);
}

static void step_fail(rad_flow_vm *vm, uint32_t token, const rad_flow_op *op)
{
    const char *text = op->a != RAD_NONE ? vm->texts[op->a].text : "failed";
    rad__flow_raise(vm, token, "%s", text);
}

static void step_end(rad_flow_vm *vm, uint32_t token)
{
    vm->final = rad__data_share(vm, vm->tokens[token].data);
    rad__token_end(vm, token);
}

static void dispatch(rad_flow_vm *vm, uint32_t token, const rad_flow_op *op)
{
    switch ((enum rad_flow_code)op->code) {
    case RAD_OP_START: step_start(vm, token, op); return;
    case RAD_OP_FINISH: step_finish(vm, token, op); return;
    case RAD_OP_RETRY: rad__token_go(vm, token, op->b); return;
    case RAD_OP_SET: step_set(vm, token, op); return;
    case RAD_OP_FORK:
    case RAD_OP_OR: rad__fork_do(vm, token); return;
    case RAD_OP_XOR: step_xor(vm, token, op); return;
    case RAD_OP_MANY: rad__fork_many(vm, token); return;
    case RAD_OP_MORE: rad__fork_more(vm, token); return;
    case RAD_OP_ARRIVE:
    case RAD_OP_BLOCK_END: rad__fork_arrive(vm, token); return;
    case RAD_OP_LOOP: step_loop(vm, token, op); return;
    case RAD_OP_LOOP_AGAIN: step_loop_again(vm, token, op); return;
    case RAD_OP_WHILE:
    case RAD_OP_UNTIL: step_test(vm, token, op); return;
    case RAD_OP_ENTER:
        rad__region_enter(vm, token, op->a);
        rad__token_go(vm, token, op->next);
        return;
    case RAD_OP_LEAVE: step_leave(vm, token, op); return;
    case RAD_OP_CANCEL: step_cancel(vm, token, op); return;
    case RAD_OP_REACH:
    case RAD_OP_EXPIRE: step_milestone(vm, token, op); return;
    case RAD_OP_AWAIT: step_await(vm, token, op); return;
    case RAD_OP_INTERLEAVE:
    case RAD_OP_INTERLEAVE_AGAIN: step_interleave(vm, token, op); return;
    case RAD_OP_ACQUIRE: step_acquire(vm, token, op); return;
    case RAD_OP_RELEASE: step_release(vm, token, op); return;
    case RAD_OP_BEGIN: step_begin(vm, token, op); return;
    case RAD_OP_TAKEN: step_taken(vm, token, op); return;
    case RAD_OP_FINISH_CASE: rad__cancel_case(vm, RAD_CASE_DONE, token); return;
    case RAD_OP_FAIL: step_fail(vm, token, op); return;
    case RAD_OP_COMPENSATE: step_compensate(vm, token, op); return;
    case RAD_OP_END: step_end(vm, token); return;
    case RAD_OP_CODES: break;
    }
    RAD_ASSERT(op->code < RAD_OP_CODES);
}

void rad__flow_vm_step(void *self, rad_kernel *k, uint32_t action)
{
    rad_flow_vm *vm = self;
    (void)k;
    dispatch(vm, action, rad__flow_op(vm, action));
    if (RAD_UNLIKELY(vm->settle_count > 0)) rad__fork_settle(vm);
    if (RAD_UNLIKELY(vm->live == 0) && vm->result == RAD_CASE_RUNNING) vm->result = RAD_CASE_DONE;
}
