/* reference_data.c — values, expressions and merges of the reference interpreter. */
#include "reference_parts.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* ---- Data ----------------------------------------------------------------------------------------------- */

reference_data reference_data_new(reference *r)
{
    uint32_t count = r->tree->variable_count;
    reference_data d = {
        .values = reference_take(r, (count + 1) * sizeof *d.values),
        .written = reference_take(r, (count + 1) * sizeof *d.written),
    };
    for (uint32_t i = 0; i < count; i++) {
        const rad_flow_variable *v = &r->tree->variables[i];
        if (v->type == RAD_FLOW_TEXT)
            d.values[i].text = v->is_local ? "" : rad__flow_name(r->file, (uint32_t)v->initial);
        else
            d.values[i].number = v->is_local ? 0 : v->initial;
    }
    return d;
}

reference_data reference_data_copy(reference *r, const reference_data *from)
{
    uint32_t count = r->tree->variable_count;
    reference_data d = {
        .values = reference_take(r, (count + 1) * sizeof *d.values),
        .written = reference_take(r, (count + 1) * sizeof *d.written),
    };
    memcpy(d.values, from->values, count * sizeof *d.values);
    return d;
}

void reference_write(reference_data *data, uint32_t variable, reference_datum value)
{
    data->values[variable] = value;
    data->written[variable] = true;
}

/* ---- Texts ---------------------------------------------------------------------------------------------- */

/* A newline ends a line; a last one without it is a line, too. */
int64_t reference_lines(const char *text)
{
    int64_t count = 0;
    for (const char *c = text; *c; c++) count += *c == '\n';
    size_t length = strlen(text);
    return count + (length > 0 && text[length - 1] != '\n');
}

const char *reference_line(reference *r, const char *text, int64_t index)
{
    if (index < 0 || index >= reference_lines(text)) return NULL;
    for (; index > 0; index--) text = strchr(text, '\n') + 1;
    return reference_text(r, "%.*s", (int)strcspn(text, "\n"), text);
}

static bool reference_number(const char *text, int64_t *out)
{
    bool negative = *text == '-';
    text += negative;
    if (*text == 0) return false;
    int64_t value = 0;
    for (; *text; text++) {
        if (*text < '0' || *text > '9') return false;
        int64_t digit = *text - '0';
        if (__builtin_mul_overflow(value, 10, &value)) return false;
        if (negative ? __builtin_sub_overflow(value, digit, &value) : __builtin_add_overflow(value, digit, &value))
            return false;
    }
    *out = value;
    return true;
}

/* ---- Expressions ---------------------------------------------------------------------------------------- */

static bool reference_wrong(reference *r, const char *why)
{
    snprintf(r->why, sizeof r->why, "%s", why);
    return false;
}

static bool reference_arithmetic(reference *r, enum rad_expr_op op, int64_t a, int64_t b, int64_t *out)
{
    bool over = false;
    switch (op) {
    case RAD_EXPR_ADD: over = __builtin_add_overflow(a, b, out); break;
    case RAD_EXPR_SUBTRACT: over = __builtin_sub_overflow(a, b, out); break;
    case RAD_EXPR_MULTIPLY: over = __builtin_mul_overflow(a, b, out); break;
    default:
        if (b == 0) return reference_wrong(r, "division by zero");
        if (a == INT64_MIN && b == -1) return reference_wrong(r, "the number is too large");
        *out = op == RAD_EXPR_DIVIDE ? a / b : a % b;
    }
    return over ? reference_wrong(r, "the number is too large") : true;
}

static bool reference_compare(const rad_flow_expr *e, reference_datum a, reference_datum b)
{
    int64_t order =
        e->a->type == RAD_FLOW_TEXT ? strcmp(a.text, b.text) : (a.number > b.number) - (a.number < b.number);
    switch (e->op) {
    case RAD_EXPR_EQUAL: return order == 0;
    case RAD_EXPR_UNEQUAL: return order != 0;
    case RAD_EXPR_LESS: return order < 0;
    case RAD_EXPR_LESS_EQUAL: return order <= 0;
    case RAD_EXPR_GREATER: return order > 0;
    default: return order >= 0;
    }
}

/* One operand, or none. */
static bool reference_single(reference *r, const reference_data *data, const rad_flow_expr *e, reference_datum *out)
{
    reference_datum a = {0, NULL};
    if (e->a != NULL && !reference_evaluate(r, data, e->a, &a)) return false;
    switch (e->op) {
    case RAD_EXPR_CONSTANT:
        if (e->type == RAD_FLOW_TEXT)
            out->text = rad__flow_name(r->file, (uint32_t)e->value);
        else
            out->number = e->value;
        return true;
    case RAD_EXPR_VARIABLE: *out = data->values[e->value]; return true;
    case RAD_EXPR_NOT: out->number = !a.number; return true;
    case RAD_EXPR_NEGATE: return reference_arithmetic(r, RAD_EXPR_SUBTRACT, 0, a.number, &out->number);
    case RAD_EXPR_LINES: out->number = reference_lines(a.text); return true;
    case RAD_EXPR_LENGTH: out->number = (int64_t)strlen(a.text); return true;
    case RAD_EXPR_NUMBER:
        return reference_number(a.text, &out->number) || reference_wrong(r, "the text is not a number");
    default: /* text */
        if (e->a->type == RAD_FLOW_TEXT)
            *out = a;
        else if (e->a->type == RAD_FLOW_BOOL)
            out->text = a.number ? "true" : "false";
        else
            out->text = reference_text(r, "%lld", (long long)a.number);
        return true;
    }
}

bool reference_evaluate(reference *r, const reference_data *data, const rad_flow_expr *e, reference_datum *out)
{
    *out = (reference_datum){0, NULL};
    if (e->b == NULL) return reference_single(r, data, e, out);
    reference_datum a, b;
    if (!reference_evaluate(r, data, e->a, &a)) return false;
    if ((e->op == RAD_EXPR_AND && !a.number) || (e->op == RAD_EXPR_OR && a.number)) {
        *out = a;
        return true;
    }
    if (!reference_evaluate(r, data, e->b, &b)) return false;
    switch (e->op) {
    case RAD_EXPR_AND:
    case RAD_EXPR_OR: *out = b; return true;
    case RAD_EXPR_JOIN: out->text = reference_text(r, "%s%s", a.text, b.text); return true;
    case RAD_EXPR_LINE:
        out->text = reference_line(r, a.text, b.number);
        return out->text != NULL || reference_wrong(r, "there is no such line");
    case RAD_EXPR_ADD:
    case RAD_EXPR_SUBTRACT:
    case RAD_EXPR_MULTIPLY:
    case RAD_EXPR_DIVIDE:
    case RAD_EXPR_REMAINDER: return reference_arithmetic(r, e->op, a.number, b.number, &out->number);
    default: out->number = reference_compare(e, a, b); return true;
    }
}

/* ---- Merges --------------------------------------------------------------------------------------------- */

static bool reference_equal(enum rad_flow_type type, reference_datum a, reference_datum b)
{
    return type == RAD_FLOW_TEXT ? strcmp(a.text, b.text) == 0 : a.number == b.number;
}

/* `so_far` is what those of lower index make of it, `value` the next one. */
static bool reference_merge_two(reference *r, const rad_flow_variable *v, reference_datum base, reference_datum *so_far,
                                reference_datum value)
{
    int64_t more;
    switch (v->merge) {
    case RAD_MERGE_SUM:
        if (__builtin_sub_overflow(value.number, base.number, &more) ||
            __builtin_add_overflow(so_far->number, more, &so_far->number)) {
            snprintf(r->why, sizeof r->why, "%s: the number is too large", rad__flow_name(r->file, v->name));
            return false;
        }
        return true;
    case RAD_MERGE_MAX:
        if (value.number > so_far->number) *so_far = value;
        return true;
    case RAD_MERGE_MIN:
        if (value.number < so_far->number) *so_far = value;
        return true;
    case RAD_MERGE_AND: so_far->number = so_far->number && value.number; return true;
    case RAD_MERGE_OR: so_far->number = so_far->number || value.number; return true;
    case RAD_MERGE_APPEND: so_far->text = reference_text(r, "%s\n%s", so_far->text, value.text); return true;
    case RAD_MERGE_FIRST: return true;
    case RAD_MERGE_LAST: *so_far = value; return true;
    default: break;
    }
    if (reference_equal(v->type, *so_far, value)) return true;
    snprintf(r->why, sizeof r->why, "branches disagree about %s, which has no merge rule",
             rad__flow_name(r->file, v->name));
    return false;
}

static void reference_sort_arrivals(reference_fork *fork)
{
    for (uint32_t i = 1; i < fork->arrival_count; i++)
        for (uint32_t k = i; k > 0 && fork->arrivals[k].index < fork->arrivals[k - 1].index; k--) {
            reference_arrival other = fork->arrivals[k];
            fork->arrivals[k] = fork->arrivals[k - 1];
            fork->arrivals[k - 1] = other;
        }
}

bool reference_merge(reference *r, reference_fork *fork)
{
    reference_sort_arrivals(fork);
    reference_data *into = &fork->owner->data;
    reference_data merged = reference_data_copy(r, into);
    for (uint32_t i = 0; i < r->tree->variable_count; i++) {
        const rad_flow_variable *v = &r->tree->variables[i];
        for (uint32_t k = 0; k < fork->arrival_count && !v->is_local; k++) {
            const reference_data *from = &fork->arrivals[k].data;
            if (!from->written[i]) continue;
            if (!merged.written[i])
                reference_write(&merged, i, from->values[i]);
            else if (!reference_merge_two(r, v, into->values[i], &merged.values[i], from->values[i]))
                return false;
        }
    }
    for (uint32_t i = 0; i < r->tree->variable_count; i++)
        if (merged.written[i]) reference_write(into, i, merged.values[i]);
    return true;
}

/* ---- What a simulated world writes ------------------------------------------------------------------------ */

enum { DOMAIN_MOST = 8 };

static void reference_domain_add(reference *r, reference_domain *d, enum rad_flow_type type, reference_datum value)
{
    for (uint32_t i = 0; i < d->count; i++)
        if (reference_equal(type, d->values[i], value)) return;
    if (d->count == d->capacity) {
        reference_datum *old = d->values;
        d->capacity = 2 * d->capacity + 8;
        d->values = reference_take(r, d->capacity * sizeof *d->values);
        if (d->count) memcpy(d->values, old, d->count * sizeof *old);
    }
    d->values[d->count++] = value;
}

typedef void (*reference_visit)(reference *r, const rad_flow_expr *e, reference_domain *d);

static void reference_visit_expr(reference *r, const rad_flow_expr *e, reference_visit visit, reference_domain *d)
{
    if (e == NULL) return;
    visit(r, e, d);
    reference_visit_expr(r, e->a, visit, d);
    reference_visit_expr(r, e->b, visit, d);
}

static void reference_visit_block(reference *r, const rad_flow_block *b, reference_visit visit, reference_domain *d)
{
    for (const rad_flow_statement *s = b->first; s != NULL; s = s->next) {
        reference_visit_expr(r, s->expr, visit, d);
        for (uint32_t i = 0; i < s->branch_count; i++) {
            reference_visit_expr(r, s->branches[i].when, visit, d);
            reference_visit_block(r, &s->branches[i].block, visit, d);
        }
        if (s->on_cancel) reference_visit_block(r, &s->on_cancel->block, visit, d);
        if (s->on_failure) reference_visit_block(r, &s->on_failure->block, visit, d);
    }
}

/* A number of the flow, and its neighbours. */
static void reference_see_number(reference *r, const rad_flow_expr *e, reference_domain *d)
{
    if (e->op != RAD_EXPR_CONSTANT || e->type != RAD_FLOW_INT) return;
    reference_datum value = {e->value, NULL};
    reference_domain_add(r, d, RAD_FLOW_INT, value);
    if (e->value != INT64_MIN) reference_domain_add(r, d, RAD_FLOW_INT, (reference_datum){e->value - 1, NULL});
    if (e->value != INT64_MAX) reference_domain_add(r, d, RAD_FLOW_INT, (reference_datum){e->value + 1, NULL});
}

/* A text that something is compared with. */
static void reference_see_text(reference *r, const rad_flow_expr *e, reference_domain *d)
{
    if (e->op < RAD_EXPR_EQUAL || e->op > RAD_EXPR_GREATER_EQUAL) return;
    const rad_flow_expr *sides[] = {e->a, e->b};
    for (uint32_t i = 0; i < 2; i++)
        if (sides[i]->op == RAD_EXPR_CONSTANT && sides[i]->type == RAD_FLOW_TEXT)
            reference_domain_add(
                r, d, RAD_FLOW_TEXT,
                (reference_datum){sides[i]->value, rad__flow_name(r->file, (uint32_t)sides[i]->value)});
}

/* To zero; of two the positive one. */
static bool reference_is_nearer(reference_datum a, reference_datum b)
{
    uint64_t one = a.number < 0 ? -(uint64_t)a.number : (uint64_t)a.number;
    uint64_t two = b.number < 0 ? -(uint64_t)b.number : (uint64_t)b.number;
    return one != two ? one < two : a.number > b.number;
}

/* The number of a text is that of its first mention in the file. */
static bool reference_is_met_before(reference_datum a, reference_datum b)
{
    return a.number < b.number;
}

static void reference_domain_sort(reference_domain *d, bool (*is_before)(reference_datum a, reference_datum b))
{
    for (uint32_t i = 1; i < d->count; i++)
        for (uint32_t k = i; k > 0 && is_before(d->values[k], d->values[k - 1]); k--) {
            reference_datum other = d->values[k];
            d->values[k] = d->values[k - 1];
            d->values[k - 1] = other;
        }
}

static void reference_domain_fill(reference *r, const rad_flow_variable *v, reference_domain *d)
{
    for (uint32_t i = 0; i < v->domain_count; i++) {
        reference_datum value = {v->domain[i].value, NULL};
        if (v->type == RAD_FLOW_TEXT) value.text = rad__flow_name(r->file, (uint32_t)v->domain[i].value);
        reference_domain_add(r, d, v->type, value);
    }
    if (d->count > 0) return;
    if (v->type == RAD_FLOW_TEXT) {
        reference_domain_add(r, d, v->type, (reference_datum){-1, ""});
        reference_visit_block(r, &r->tree->body, reference_see_text, d);
        reference_domain_sort(d, reference_is_met_before);
    } else {
        reference_domain_add(r, d, v->type, (reference_datum){0, NULL});
        reference_domain_add(r, d, v->type, (reference_datum){1, NULL});
    }
    if (v->type == RAD_FLOW_INT) {
        reference_visit_block(r, &r->tree->body, reference_see_number, d);
        reference_domain_sort(d, reference_is_nearer);
    }
    if (d->count > DOMAIN_MOST) d->count = DOMAIN_MOST;
}

reference_datum reference_draw(reference *r, uint32_t variable)
{
    reference_domain *d = &r->domains[variable];
    if (d->count == 0) reference_domain_fill(r, &r->tree->variables[variable], d);
    return d->values[reference_ask(r, RAD_PICK_VALUE, d->count)];
}
