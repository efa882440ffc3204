/* vm_data.c — values, texts, and expressions over them. */
#include "base/alloc.h"
#include "flow/machine/vm.h"

#include <stdio.h>
#include <string.h>

enum { TEXT_BYTES_MOST = 256 << 20, TEXTS_MOST = 1 << 26 };

/* ---- Blocks ------------------------------------------------------------------------------- */

uint32_t rad__data_new(rad_flow_vm *vm)
{
    uint32_t at = rad__pool_take(&vm->data_pool, (void **)&vm->data_refs, sizeof *vm->data_refs);
    if (at != RAD_NONE && (at + UINT64_C(1)) * vm->variables > UINT32_MAX / 2) {
        rad__flow_broken(vm, RAD_ELIMIT, "more than 2 billion values at a time");
        return RAD_NONE;
    }
    if (at != RAD_NONE && RAD_GROW(&vm->data, &vm->data_values, (at + 1) * vm->variables)) {
        vm->data_refs[at] = 1;
        return at;
    }
    rad__flow_broken(vm, RAD_ENOMEM, "out of memory for data");
    return RAD_NONE;
}

void rad__data_give(rad_flow_vm *vm, uint32_t data)
{
    if (data == RAD_NONE || --vm->data_refs[data] > 0) return;
    rad__pool_give(&vm->data_pool, vm->data_refs, sizeof *vm->data_refs, data);
}

static int64_t *data_own(rad_flow_vm *vm, uint32_t token)
{
    uint32_t old = vm->tokens[token].data;
    if (vm->data_refs[old] == 1) return rad__data_at(vm, old);
    uint32_t new = rad__data_new(vm);
    if (new == RAD_NONE) return NULL;
    memcpy(rad__data_at(vm, new), rad__data_at(vm, old), vm->variables * sizeof *vm->data);
    rad__data_give(vm, old);
    vm->tokens[token].data = new;
    return rad__data_at(vm, new);
}

bool rad__data_set(rad_flow_vm *vm, uint32_t token, uint32_t variable, int64_t value)
{
    int64_t *values = data_own(vm, token);
    if (values == NULL) return false;
    values[variable] = value;
    if (!vm->program->tree->variables[variable].is_local)
        vm->tokens[token].written[variable / 64] |= UINT64_C(1) << variable % 64;
    return true;
}

/* ---- Texts ------------------------------------------------------------------------------- */

static uint32_t text_add(rad_flow_vm *vm, const char *text, size_t length, uint64_t key)
{
    uint32_t at = vm->text_count;
    rad_arena *arena = vm->text_base > 0 ? &vm->run_texts : &vm->text_arena;
    char *copy = rad__arena_text(arena, text, length);
    if (copy == NULL || !RAD_GROW(&vm->texts, &vm->text_capacity, at + 1) || !rad__map64_add(&vm->text_map, key, at)) {
        rad__flow_broken(vm, RAD_ENOMEM, "out of memory for texts");
        return RAD_NONE;
    }
    vm->texts[vm->text_count++] = (rad_text){copy, key, (uint32_t)length};
    vm->text_bytes += length;
    return at;
}

/* Equal texts have equal numbers. Keys of others that collide are tried one after the other. */
uint32_t rad__text_number(rad_flow_vm *vm, const char *text, size_t length)
{
    uint64_t key = rad__digest_of(text, length).low;
    for (;; key++) {
        uint32_t at = rad__map64_find(&vm->text_map, key);
        if (at == RAD_NONE) break;
        if (vm->texts[at].length == length && memcmp(vm->texts[at].text, text, length) == 0) return at;
    }
    if (vm->text_bytes + length > TEXT_BYTES_MOST || vm->text_count >= TEXTS_MOST) {
        rad__flow_broken(vm, RAD_ELIMIT, "more than 256 MiB of different texts");
        return RAD_NONE;
    }
    return text_add(vm, text, length, key);
}

static bool parse_number(const char *text, size_t length, int64_t *value)
{
    bool negative = length > 0 && text[0] == '-';
    int64_t n = 0;
    if (length == (size_t)negative) return false;
    for (size_t i = negative; i < length; i++) {
        if (text[i] < '0' || text[i] > '9') return false;
        if (__builtin_mul_overflow(n, 10, &n)) return false;
        int64_t digit = text[i] - '0';
        if (__builtin_add_overflow(n, negative ? -digit : digit, &n)) return false;
    }
    *value = n;
    return true;
}

bool rad__text_value(rad_flow_vm *vm, enum rad_flow_type type, const char *text, size_t length, int64_t *value,
                     const char **why)
{
    *why = NULL;
    if (type == RAD_FLOW_TEXT) {
        uint32_t number = rad__text_number(vm, text, length);
        *value = number;
        return number != RAD_NONE;
    }
    if (type == RAD_FLOW_INT) {
        *why = "is not a number";
        return parse_number(text, length, value);
    }
    *why = "is neither true nor false";
    *value = length == 4 && memcmp(text, "true", 4) == 0;
    return *value == 1 || (length == 5 && memcmp(text, "false", 5) == 0);
}

/* ---- Expressions ------------------------------------------------------------------------------- */

static bool refuse(rad_flow_vm *vm, const char *why)
{
    vm->why = why;
    return false;
}

static int compare(const rad_flow_vm *vm, uint8_t type, int64_t a, int64_t b)
{
    if (type != RAD_FLOW_TEXT) return (a > b) - (a < b);
    if (a == b) return 0;
    const rad_text *x = &vm->texts[a], *y = &vm->texts[b];
    int order = memcmp(x->text, y->text, x->length < y->length ? x->length : y->length);
    return order != 0 ? order : x->length < y->length ? -1 : 1;
}

static bool compares(const rad_flow_vm *vm, const rad_flow_postfix *f, int64_t a, int64_t b)
{
    int order = compare(vm, f->type, a, b);
    switch ((enum rad_expr_op)f->op) {
    case RAD_EXPR_EQUAL: return order == 0;
    case RAD_EXPR_UNEQUAL: return order != 0;
    case RAD_EXPR_LESS: return order < 0;
    case RAD_EXPR_LESS_EQUAL: return order <= 0;
    case RAD_EXPR_GREATER: return order > 0;
    default: return order >= 0;
    }
}

static bool calculate(rad_flow_vm *vm, enum rad_expr_op op, int64_t a, int64_t b, int64_t *out)
{
    bool over = false;
    switch (op) {
    case RAD_EXPR_ADD: over = __builtin_add_overflow(a, b, out); break;
    case RAD_EXPR_SUBTRACT: over = __builtin_sub_overflow(a, b, out); break;
    case RAD_EXPR_MULTIPLY: over = __builtin_mul_overflow(a, b, out); break;
    default:
        if (b == 0) return refuse(vm, "division by zero");
        if (a == INT64_MIN && b == -1)
            over = true;
        else
            *out = op == RAD_EXPR_DIVIDE ? a / b : a % b;
    }
    return over ? refuse(vm, "the number is too large") : true;
}

uint32_t rad__text_lines(const rad_text *t)
{
    uint32_t lines = 0;
    for (uint32_t i = 0; i < t->length; i++) lines += t->text[i] == '\n';
    return lines + (t->length > 0 && t->text[t->length - 1] != '\n');
}

static bool take_line(rad_flow_vm *vm, int64_t text, int64_t number, int64_t *out)
{
    const rad_text *t = &vm->texts[text];
    if (number < 0 || number >= rad__text_lines(t)) return refuse(vm, "there is no such line");
    const char *at = t->text, *end = t->text + t->length;
    while (number-- > 0) at = (const char *)memchr(at, '\n', (size_t)(end - at)) + 1;
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    *out = rad__text_number(vm, at, (size_t)((stop != NULL ? stop : end) - at));
    return *out != RAD_NONE;
}

bool rad__text_join(rad_flow_vm *vm, int64_t a, const char *between, int64_t b, int64_t *out)
{
    rad_text x = vm->texts[a], y = vm->texts[b];
    size_t gap = strlen(between), length = x.length + gap + y.length;
    if (length > RAD_FLOW_TEXT_MAX) return refuse(vm, "the text is too long");
    char *joined = rad__alloc(length + 1, 1);
    if (joined == NULL) {
        rad__flow_broken(vm, RAD_ENOMEM, "out of memory for texts");
        return false;
    }
    memcpy(joined, x.text, x.length);
    memcpy(joined + x.length, between, gap);
    memcpy(joined + x.length + gap, y.text, y.length);
    *out = rad__text_number(vm, joined, length);
    rad__free(joined);
    return *out != RAD_NONE;
}

static bool write_text(rad_flow_vm *vm, uint8_t type, int64_t a, int64_t *out)
{
    char text[24];
    int length = type == RAD_FLOW_BOOL ? snprintf(text, sizeof text, "%s", a ? "true" : "false")
                                       : snprintf(text, sizeof text, "%lld", (long long)a);
    *out = rad__text_number(vm, text, (size_t)length);
    return *out != RAD_NONE;
}

/* Operations on the one or two topmost values; *out is where the first of them is. */
static bool apply(rad_flow_vm *vm, const rad_flow_postfix *f, int64_t a, int64_t b, int64_t *out)
{
    switch ((enum rad_expr_op)f->op) {
    case RAD_EXPR_NOT: *out = !a; return true;
    case RAD_EXPR_NEGATE:
        if (a == INT64_MIN) return refuse(vm, "the number is too large");
        *out = -a;
        return true;
    case RAD_EXPR_EQUAL:
    case RAD_EXPR_UNEQUAL:
    case RAD_EXPR_LESS:
    case RAD_EXPR_LESS_EQUAL:
    case RAD_EXPR_GREATER:
    case RAD_EXPR_GREATER_EQUAL: *out = compares(vm, f, a, b); return true;
    case RAD_EXPR_JOIN: return rad__text_join(vm, a, "", b, out);
    case RAD_EXPR_LINES: *out = rad__text_lines(&vm->texts[a]); return true;
    case RAD_EXPR_LINE: return take_line(vm, a, b, out);
    case RAD_EXPR_NUMBER:
        return parse_number(vm->texts[a].text, vm->texts[a].length, out) || refuse(vm, "the text is not a number");
    case RAD_EXPR_TEXT: return write_text(vm, f->type, a, out);
    case RAD_EXPR_LENGTH: *out = vm->texts[a].length; return true;
    default: return calculate(vm, (enum rad_expr_op)f->op, a, b, out);
    }
}

static bool takes_two(uint8_t op)
{
    return (op >= RAD_EXPR_EQUAL && op <= RAD_EXPR_JOIN) || op == RAD_EXPR_LINE;
}

bool rad__flow_eval(rad_flow_vm *vm, uint32_t token, uint32_t expression, int64_t *value)
{
    const int64_t *values = rad__data_at(vm, vm->tokens[token].data);
    const rad_flow_postfix *code = vm->program->postfix;
    int64_t *top = vm->stack; /* points behind the last one */
    vm->why = NULL;
    for (uint32_t at = expression;; at++) {
        const rad_flow_postfix *f = &code[at];
        if (f->op == RAD_EXPRS) break;
        if (f->op == RAD_EXPR_CONSTANT) {
            *top++ = f->value;
        } else if (f->op == RAD_EXPR_VARIABLE) {
            *top++ = values[f->value];
        } else if (f->op == RAD_EXPR_AND || f->op == RAD_EXPR_OR) {
            if ((top[-1] != 0) == (f->op == RAD_EXPR_OR))
                at = (uint32_t)f->value - 1; /* decided */
            else
                top--;
        } else {
            if (takes_two(f->op)) top--;
            if (!apply(vm, f, top[-1], top[0], &top[-1])) return false;
        }
    }
    *value = top[-1];
    return true;
}
