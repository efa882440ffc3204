/* compile.c — a resolved tree becomes flat code. See program.h.
 *
 * Each statement is compiled with the place where its token goes on afterwards, so blocks are compiled from their last
 * statement to the first and nothing has to be patched. Only what can be come back to (loops, compensate) is placed
 * before its parts. */
#include "flow/lang/program.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/sha256.h"
#include "base/sort.h"

#include <string.h>

typedef struct compiler {
    rad_flow_program *p;
    bool failed;        /* memory ran out */
    uint32_t *compared; /* texts that something is compared with */
    uint32_t compared_count, compared_capacity;
} compiler;

static uint32_t emit_block(compiler *c, const rad_flow_block *block, uint32_t next);

/* ---- Room ------------------------------------------------------------------------------- */

/* `count` operations in a row; the first one's place. */
static uint32_t place(compiler *c, uint32_t count, const rad_flow_statement *s)
{
    rad_flow_program *p = c->p;
    if (c->failed || !RAD_GROW(&p->code, &p->code_capacity, p->code_count + count)) {
        c->failed = true;
        return 0;
    }
    uint32_t at = p->code_count;
    for (uint32_t i = 0; i < count; i++)
        p->code[at + i] = (rad_flow_op){.a = RAD_NONE,
                                        .b = RAD_NONE,
                                        .c = RAD_NONE,
                                        .d = RAD_NONE,
                                        .next = RAD_NONE,
                                        .statement = s != NULL ? s->number : 0,
                                        .line = s != NULL ? s->place.line : 0};
    p->code_count += count;
    return at;
}

static rad_flow_op *op_at(compiler *c, uint32_t at)
{
    return &c->p->code[at];
}

/* ---- Expressions ------------------------------------------------------------------------------- */

static uint32_t put_postfix(compiler *c, enum rad_expr_op op, enum rad_flow_type type, int64_t value)
{
    rad_flow_program *p = c->p;
    if (c->failed || !RAD_GROW(&p->postfix, &p->postfix_capacity, p->postfix_count + 1)) {
        c->failed = true;
        return 0;
    }
    p->postfix[p->postfix_count] = (rad_flow_postfix){.op = (uint8_t)op, .type = (uint8_t)type, .value = value};
    return p->postfix_count++;
}

static bool is_comparison(enum rad_expr_op op)
{
    return op >= RAD_EXPR_EQUAL && op <= RAD_EXPR_GREATER_EQUAL;
}

static void note_compared(compiler *c, const rad_flow_expr *e)
{
    if (e->op != RAD_EXPR_CONSTANT || e->type != RAD_FLOW_TEXT) return;
    if (RAD_GROW(&c->compared, &c->compared_capacity, c->compared_count + 1))
        c->compared[c->compared_count++] = (uint32_t)e->value;
    else
        c->failed = true;
}

static void emit_terms(compiler *c, const rad_flow_expr *e)
{
    if (c->failed) return;
    if (is_comparison(e->op)) {
        note_compared(c, e->a);
        note_compared(c, e->b);
    }
    if (e->a != NULL) emit_terms(c, e->a);
    if (e->op == RAD_EXPR_AND || e->op == RAD_EXPR_OR) { /* looks before its second term */
        uint32_t at = put_postfix(c, e->op, e->type, 0);
        emit_terms(c, e->b);
        if (!c->failed) c->p->postfix[at].value = c->p->postfix_count;
        return;
    }
    if (e->b != NULL) emit_terms(c, e->b);
    /* Comparisons depend on what is compared. */
    enum rad_flow_type type = e->a != NULL ? e->a->type : e->type;
    put_postfix(c, e->op, type, e->value);
}

static uint32_t emit_expr(compiler *c, const rad_flow_expr *e)
{
    uint32_t at = c->p->postfix_count;
    emit_terms(c, e);
    put_postfix(c, RAD_EXPRS, e->type, 0);
    return at;
}

/* ---- Statements ------------------------------------------------------------------------------- */

static bool is_multi(const rad_flow_statement *s)
{
    return (s->kind == RAD_FLOW_PAR || s->kind == RAD_FLOW_OR) && s->join == RAD_JOIN_MULTI;
}

/* The branches' entries, one after the other in `ways`. Blocks go on at `next`. */
static uint32_t emit_ways(compiler *c, const rad_flow_statement *s, uint32_t count, uint32_t next)
{
    rad_flow_program *p = c->p;
    rad_flow_way *ways = rad__alloc(count + 1u, sizeof *ways);
    if (ways == NULL) c->failed = true;
    for (uint32_t i = 0; i < count && !c->failed; i++) {
        const rad_flow_branch *b = &s->branches[i];
        ways[i].entry = emit_block(c, &b->block, next);
        ways[i].when = b->when != NULL ? emit_expr(c, b->when) : RAD_NONE;
        ways[i].event = b->event;
    }
    uint32_t at = p->way_count;
    if (!c->failed && !RAD_GROW(&p->ways, &p->way_capacity, at + count)) c->failed = true;
    if (!c->failed && count > 0) memcpy(p->ways + at, ways, count * sizeof *ways);
    if (!c->failed) p->way_count += count;
    rad__free(ways);
    return at;
}

/* START, FINISH, RETRY. */
static uint32_t emit_task(compiler *c, const rad_flow_statement *s, uint32_t task, uint32_t next)
{
    uint32_t at = place(c, 3, s);
    if (c->failed) return 0;
    rad_flow_op *op = op_at(c, at);
    op[0].code = RAD_OP_START;
    op[0].a = task;
    op[0].next = at + 1;
    op[1].code = RAD_OP_FINISH;
    op[1].b = at;
    op[1].c = at + 2;
    op[1].next = next;
    op[2].code = RAD_OP_RETRY;
    op[2].b = at;
    op[2].next = at;
    return at;
}

static uint32_t emit_compensate(compiler *c, const rad_flow_statement *s, uint32_t next)
{
    uint32_t at = place(c, 1, s);
    uint32_t undo = emit_task(c, s, RAD_NONE, at);
    if (c->failed) return 0;
    rad_flow_op *op = op_at(c, at);
    op->code = RAD_OP_COMPENSATE;
    op->a = s->name;
    op->b = undo + 1;
    op->next = next;
    return at;
}

/* `block_end`: where the block ends, for multi joins. */
static uint32_t emit_fork(compiler *c, const rad_flow_statement *s, uint32_t next, uint32_t block_end)
{
    bool or = s->kind == RAD_FLOW_OR, multi = is_multi(s);
    uint32_t at = place(c, 1, s), count = s->branch_count - (or &&s->has_else);
    uint32_t end = next, otherwise = RAD_NONE;
    if (!multi) {
        end = place(c, 1, s);
        if (!c->failed) op_at(c, end)->code = RAD_OP_ARRIVE;
    }
    uint32_t ways = emit_ways(c, s, count, end);
    if (or &&s->has_else && !c->failed) otherwise = emit_block(c, &s->branches[count].block, next);
    if (c->failed) return 0;
    rad_flow_op *op = op_at(c, at);
    op->code = or ? RAD_OP_OR : RAD_OP_FORK;
    op->join = (uint8_t)s->join;
    op->a = ways;
    op->b = count;
    op->c = s->join_count;
    op->d = otherwise;
    op->next = multi ? block_end : next;
    return at;
}

static uint32_t emit_many(compiler *c, const rad_flow_statement *s, uint32_t next)
{
    rad_flow_program *p = c->p;
    uint32_t at = place(c, 2, s), many = p->many_count;
    if (c->failed || !RAD_GROW(&p->manies, &p->many_capacity, many + 1)) {
        c->failed = true;
        return 0;
    }
    p->manies[p->many_count++] = (rad_flow_many){s->most, s->as, s->is_over};
    op_at(c, at + 1)->code = RAD_OP_ARRIVE;
    uint32_t body = emit_block(c, &s->branches[0].block, at + 1), expr = emit_expr(c, s->expr);
    if (c->failed) return 0;
    rad_flow_op *op = op_at(c, at);
    op->code = RAD_OP_MANY;
    op->join = (uint8_t)s->join;
    op->a = body;
    op->b = expr;
    op->c = s->join_count;
    op->d = many;
    op->next = next;
    return at;
}

static uint32_t emit_xor(compiler *c, const rad_flow_statement *s, uint32_t next)
{
    uint32_t at = place(c, 1, s), count = s->branch_count - s->has_else;
    uint32_t ways = emit_ways(c, s, count, next), otherwise = RAD_NONE;
    if (s->has_else && !c->failed) otherwise = emit_block(c, &s->branches[count].block, next);
    if (c->failed) return 0;
    rad_flow_op *op = op_at(c, at);
    op->code = RAD_OP_XOR;
    op->a = ways;
    op->b = count;
    op->d = otherwise;
    return at;
}

/* Two operations that share their body: at the entry, and whenever it has been gone through. */
static uint32_t emit_again(compiler *c, const rad_flow_statement *s, enum rad_flow_code first, enum rad_flow_code again,
                           uint32_t next)
{
    uint32_t at = place(c, 2, s);
    if (c->failed) return 0;
    uint32_t a, b;
    if (s->kind == RAD_FLOW_INTERLEAVE) {
        a = emit_ways(c, s, s->branch_count, at + 1);
        b = s->branch_count;
    } else {
        a = emit_block(c, &s->branches[0].block, at + 1);
        b = emit_expr(c, s->expr);
    }
    if (c->failed) return 0;
    for (uint32_t i = 0; i < 2; i++) {
        rad_flow_op *op = op_at(c, at + i);
        op->code = (uint8_t)(i == 0 ? first : again);
        op->a = a;
        op->b = b;
        op->next = next;
    }
    return at;
}

/* while tests before its body, repeat after it. */
static uint32_t emit_test(compiler *c, const rad_flow_statement *s, uint32_t next)
{
    bool until = s->kind == RAD_FLOW_REPEAT;
    uint32_t at = place(c, 1, s);
    uint32_t body = emit_block(c, &s->branches[0].block, at), expr = emit_expr(c, s->expr);
    if (c->failed) return 0;
    rad_flow_op *op = op_at(c, at);
    op->code = until ? RAD_OP_UNTIL : RAD_OP_WHILE;
    op->a = body;
    op->b = expr;
    op->next = next;
    return until ? body : at;
}

static uint32_t emit_region(compiler *c, const rad_flow_statement *s, uint32_t next)
{
    rad_flow_program *p = c->p;
    uint32_t at = place(c, 2, s), region = p->region_count;
    if (c->failed || !RAD_GROW(&p->regions, &p->region_capacity, region + 1)) {
        c->failed = true;
        return 0;
    }
    p->region_count++;
    rad_flow_region r = {
        .name = s->name, .on_cancel = RAD_NONE, .on_failure = RAD_NONE, .into = s->into, .line = s->place.line};
    if (s->on_cancel != NULL) r.on_cancel = emit_block(c, &s->on_cancel->block, next);
    if (s->on_failure != NULL) r.on_failure = emit_block(c, &s->on_failure->block, next);
    uint32_t body = emit_block(c, &s->branches[0].block, at + 1);
    if (c->failed) return 0;
    p->regions[region] = r;
    *op_at(c, at) =
        (rad_flow_op){.code = RAD_OP_ENTER, .a = region, .next = body, .statement = s->number, .line = s->place.line};
    op_at(c, at + 1)->code = RAD_OP_LEAVE;
    op_at(c, at + 1)->next = next;
    return at;
}

static uint32_t emit_lock(compiler *c, const rad_flow_statement *s, uint32_t next)
{
    uint32_t at = place(c, 2, s);
    uint32_t body = emit_block(c, &s->branches[0].block, at + 1);
    if (c->failed) return 0;
    for (uint32_t i = 0; i < 2; i++) {
        rad_flow_op *op = op_at(c, at + i);
        op->code = i == 0 ? RAD_OP_ACQUIRE : RAD_OP_RELEASE;
        op->a = s->name;
        op->next = i == 0 ? body : next;
    }
    return at;
}

static uint32_t emit_defer(compiler *c, const rad_flow_statement *s, uint32_t next)
{
    uint32_t at = place(c, 2, s);
    uint32_t ways = emit_ways(c, s, s->branch_count, next);
    if (c->failed) return 0;
    for (uint32_t i = 0; i < 2; i++) {
        rad_flow_op *op = op_at(c, at + i);
        op->code = i == 0 ? RAD_OP_BEGIN : RAD_OP_TAKEN;
        op->a = ways;
        op->b = s->branch_count;
        op->next = i == 0 ? at + 1 : next;
    }
    return at;
}

/* One operation without parts. */
static uint32_t emit_plain(compiler *c, const rad_flow_statement *s, enum rad_flow_code code, uint32_t a, uint32_t b,
                           uint32_t next)
{
    uint32_t at = place(c, 1, s);
    if (c->failed) return 0;
    rad_flow_op *op = op_at(c, at);
    op->code = (uint8_t)code;
    op->a = a;
    op->b = b;
    op->next = next;
    return at;
}

/* The MANY operation of a statement that is being compiled: it was placed before its body. */
static uint32_t many_of(const compiler *c, uint32_t statement)
{
    uint32_t at = c->p->code_count;
    while (at-- > 0)
        if (c->p->code[at].statement == statement) break;
    return at - 1; /* its ARRIVE is behind it */
}

static uint32_t emit_await(compiler *c, const rad_flow_statement *s, uint32_t next)
{
    uint32_t otherwise = s->has_else ? emit_block(c, &s->branches[0].block, next) : RAD_NONE;
    uint32_t at = emit_plain(c, s, RAD_OP_AWAIT, s->name, RAD_NONE, next);
    if (!c->failed) op_at(c, at)->d = otherwise;
    return at;
}

static uint32_t emit_statement(compiler *c, const rad_flow_statement *s, uint32_t next, uint32_t block_end)
{
    switch (s->kind) {
    case RAD_FLOW_DO: return emit_task(c, s, s->name, next);
    case RAD_FLOW_SET: return emit_plain(c, s, RAD_OP_SET, s->name, emit_expr(c, s->expr), next);
    case RAD_FLOW_BLOCK: return emit_block(c, &s->branches[0].block, next);
    case RAD_FLOW_PAR:
    case RAD_FLOW_OR: return emit_fork(c, s, next, block_end);
    case RAD_FLOW_XOR: return emit_xor(c, s, next);
    case RAD_FLOW_LOOP: return emit_again(c, s, RAD_OP_LOOP, RAD_OP_LOOP_AGAIN, next);
    case RAD_FLOW_WHILE:
    case RAD_FLOW_REPEAT: return emit_test(c, s, next);
    case RAD_FLOW_REGION: return emit_region(c, s, next);
    case RAD_FLOW_CANCEL: return emit_plain(c, s, RAD_OP_CANCEL, s->scope, s->name, next);
    case RAD_FLOW_MANY: return emit_many(c, s, next);
    case RAD_FLOW_MORE: return emit_plain(c, s, RAD_OP_MORE, many_of(c, s->name), RAD_NONE, next);
    case RAD_FLOW_REACH: return emit_plain(c, s, RAD_OP_REACH, s->name, RAD_NONE, next);
    case RAD_FLOW_EXPIRE: return emit_plain(c, s, RAD_OP_EXPIRE, s->name, RAD_NONE, next);
    case RAD_FLOW_AWAIT: return emit_await(c, s, next);
    case RAD_FLOW_INTERLEAVE: return emit_again(c, s, RAD_OP_INTERLEAVE, RAD_OP_INTERLEAVE_AGAIN, next);
    case RAD_FLOW_LOCK: return emit_lock(c, s, next);
    case RAD_FLOW_DEFER: return emit_defer(c, s, next);
    case RAD_FLOW_FINISH: return emit_plain(c, s, RAD_OP_FINISH_CASE, RAD_NONE, RAD_NONE, next);
    case RAD_FLOW_FAIL: return emit_plain(c, s, RAD_OP_FAIL, s->text, RAD_NONE, next);
    case RAD_FLOW_COMPENSATE: return emit_compensate(c, s, next);
    case RAD_FLOW_KINDS: break;
    }
    return next;
}

/* Its entry; `next` itself when the block is empty. */
static uint32_t emit_block(compiler *c, const rad_flow_block *block, uint32_t next)
{
    uint32_t count = 0, end = next;
    bool multi = false;
    for (const rad_flow_statement *s = block->first; s != NULL; s = s->next, count++) multi |= is_multi(s);
    if (multi) {
        end = next = emit_plain(c, block->first, RAD_OP_BLOCK_END, RAD_NONE, RAD_NONE, next);
        if (!c->failed) op_at(c, end)->line = block->end.line;
    }
    const rad_flow_statement **all = rad__alloc(count + 1u, sizeof *all);
    if (all == NULL) c->failed = true;
    if (c->failed) {
        rad__free(all);
        return 0;
    }
    uint32_t at = 0;
    for (const rad_flow_statement *s = block->first; s != NULL; s = s->next) all[at++] = s;
    while (at-- > 0 && !c->failed) next = emit_statement(c, all[at], next, end);
    rad__free(all);
    return next;
}

/* ---- Domains ------------------------------------------------------------------------------- */

enum { DOMAIN_MOST = 8 };

/* Least absolute value first, of two the positive one. */
static bool before(int64_t a, int64_t b)
{
    uint64_t x = a < 0 ? -(uint64_t)a : (uint64_t)a, y = b < 0 ? -(uint64_t)b : (uint64_t)b;
    return x != y ? x < y : a > b;
}

static void add_value(int64_t *values, uint32_t *count, int64_t value, bool ordered)
{
    uint32_t at = *count;
    for (uint32_t i = 0; i < *count; i++)
        if (values[i] == value) return;
    if (ordered)
        while (at > 0 && before(value, values[at - 1])) at--;
    if (at == DOMAIN_MOST) return;
    uint32_t last = *count < DOMAIN_MOST ? (*count)++ : DOMAIN_MOST - 1;
    for (; last > at; last--) values[last] = values[last - 1];
    values[at] = value;
}

/* What a simulated world may write where nothing was declared: values around those that the flow itself speaks of, or
 * the texts that it compares with, in the order in which they first stand in the file. */
static uint32_t assume(const compiler *c, enum rad_flow_type type, int64_t *values)
{
    const rad_flow_program *p = c->p;
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->compared_count && type == RAD_FLOW_TEXT; i++)
        add_value(values, &count, c->compared[i], false);
    if (type == RAD_FLOW_TEXT) return count;
    add_value(values, &count, 0, true);
    add_value(values, &count, 1, true);
    for (uint32_t i = 0; i < p->postfix_count && type == RAD_FLOW_INT; i++) {
        const rad_flow_postfix *f = &p->postfix[i];
        if (f->op != RAD_EXPR_CONSTANT || f->type != type) continue;
        add_value(values, &count, f->value, true);
        if (f->value > INT64_MIN) add_value(values, &count, f->value - 1, true);
        if (f->value < INT64_MAX) add_value(values, &count, f->value + 1, true);
    }
    return count;
}

static bool make_domains(compiler *c)
{
    rad_flow_program *p = c->p;
    const rad_flow_tree *tree = p->tree;
    uint32_t empty = rad__symbol(&p->file.symbols, "", 0);
    p->domains = rad__arena_take(&p->arena, tree->variable_count + 1u, sizeof *p->domains);
    if (p->domains == NULL || empty == RAD_NONE) return false;
    for (uint32_t i = 0; i < tree->variable_count; i++) {
        const rad_flow_variable *v = &tree->variables[i];
        uint32_t count = v->domain_count;
        int64_t *values = rad__arena_take(&p->arena, count + DOMAIN_MOST + 1, sizeof *values);
        if (values == NULL) return false;
        for (uint32_t k = 0; k < count; k++) values[k] = v->domain[k].value;
        if (count == 0) {
            if (v->type == RAD_FLOW_TEXT) add_value(values, &count, empty, false);
            int64_t found[DOMAIN_MOST];
            uint32_t more = assume(c, v->type, found);
            for (uint32_t k = 0; k < more; k++) add_value(values, &count, found[k], false);
        }
        p->domains[i] = (rad_flow_domain){values, count, v->domain_count == 0};
    }
    return true;
}

/* ---- Programs ------------------------------------------------------------------------------- */

static bool keep_text(rad_flow_program *p, const char *text, size_t size)
{
    p->text = rad__arena_text(&p->arena, text, size);
    p->text_size = size;
    rad__sha256_text(text, size, p->hash);
    return p->text != NULL;
}

static int compile(rad_flow_program *p, rad_error *error)
{
    compiler c = {.p = p};
    uint32_t end = place(&c, 1, NULL);
    if (!c.failed) {
        op_at(&c, end)->code = RAD_OP_END;
        op_at(&c, end)->line = p->tree->body.end.line;
        p->start = emit_block(&c, &p->tree->body, end);
    }
    rad__sort_u32(c.compared, c.compared_count);
    bool made = !c.failed && make_domains(&c);
    rad__free(c.compared);
    return made ? 0 : rad__error_memory(error);
}

int rad__flow_program_read(rad_flow_program **out, const char *file_name, const char *text, size_t size,
                           const char *flow, rad_error *error)
{
    *out = NULL;
    rad_flow_program *p = rad__alloc(1, sizeof *p);
    if (p == NULL) return rad__error_memory(error);
    const char *name = rad__arena_text(&p->arena, file_name, strlen(file_name));
    int status = name == NULL || !keep_text(p, text, size) ? rad__error_memory(error) : 0;
    rad_flow_tree *tree = NULL;
    if (status == 0) status = rad__flow_read(&p->file, name, text, size, error);
    if (status == 0) status = rad__flow_resolve(&p->file, error);
    if (status == 0) status = rad__flow_find(&p->file, flow, &tree, error);
    p->tree = tree;
    if (status == 0) status = compile(p, error);
    if (status != 0) {
        rad__flow_program_free(p);
        return status;
    }
    *out = p;
    return 0;
}

void rad__flow_program_free(rad_flow_program *p)
{
    if (p == NULL) return;
    rad__flow_file_free(&p->file);
    rad__free(p->code);
    rad__free(p->ways);
    rad__free(p->regions);
    rad__free(p->manies);
    rad__free(p->postfix);
    rad__arena_free(&p->arena);
    rad__free(p);
}

const char *rad__flow_code_name(enum rad_flow_code code)
{
    static const char *const names[RAD_OP_CODES] = {
        [RAD_OP_START] = "start",
        [RAD_OP_FINISH] = "finish",
        [RAD_OP_RETRY] = "retry",
        [RAD_OP_SET] = "set",
        [RAD_OP_FORK] = "fork",
        [RAD_OP_OR] = "or",
        [RAD_OP_XOR] = "xor",
        [RAD_OP_MANY] = "many",
        [RAD_OP_MORE] = "more",
        [RAD_OP_ARRIVE] = "arrive",
        [RAD_OP_BLOCK_END] = "arrive",
        [RAD_OP_LOOP] = "loop",
        [RAD_OP_LOOP_AGAIN] = "loop",
        [RAD_OP_WHILE] = "while",
        [RAD_OP_UNTIL] = "until",
        [RAD_OP_ENTER] = "enter",
        [RAD_OP_LEAVE] = "leave",
        [RAD_OP_CANCEL] = "cancel",
        [RAD_OP_REACH] = "reach",
        [RAD_OP_EXPIRE] = "expire",
        [RAD_OP_AWAIT] = "await",
        [RAD_OP_INTERLEAVE] = "interleave",
        [RAD_OP_INTERLEAVE_AGAIN] = "interleave",
        [RAD_OP_ACQUIRE] = "acquire",
        [RAD_OP_RELEASE] = "release",
        [RAD_OP_BEGIN] = "begin",
        [RAD_OP_TAKEN] = "taken",
        [RAD_OP_FINISH_CASE] = "finish case",
        [RAD_OP_FAIL] = "fail",
        [RAD_OP_COMPENSATE] = "compensate",
        [RAD_OP_END] = "end",
    };
    return code < RAD_OP_CODES ? names[code] : "?";
}
