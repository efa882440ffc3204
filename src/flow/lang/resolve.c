/* resolve.c — names become indices, expressions get types, and what may not stand where it stands is refused.
 *
 * Twice over the statements of a flow: first they are numbered, and regions and the variables of `as` become known;
 * then everything that refers to something is looked up. Between the two, tasks. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/suggest.h"
#include "flow/lang/resolve_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The first that is wrong is the one that is told: that is the way of errors. */
void rad__flow_wrong(rad_flow_resolver *r, rad_text_place at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    r->status = rad__error_at(r->error, r->file->file_name, at, format, args);
    va_end(args);
}

static void wrong_memory(rad_flow_resolver *r)
{
    r->status = rad__error_memory(r->error);
}

static const char *name_text(const rad_flow_resolver *r, uint32_t name)
{
    return rad__flow_name(r->file, name);
}

/* ---- Names ------------------------------------------------------------------------------- */

static rad_flow_meaning *meaning_of(const rad_flow_resolver *r, enum rad_flow_space space, uint32_t name)
{
    RAD_ASSERT(name < r->file->symbols.count);
    return &r->meanings[(size_t)space * r->file->symbols.count + name];
}

/* The index of a name, RAD_NONE when it has none. */
static uint32_t flow_meaning(const rad_flow_resolver *r, enum rad_flow_space space, uint32_t name)
{
    const rad_flow_meaning *m = meaning_of(r, space, name);
    return m->flow == r->flow ? m->index : RAD_NONE;
}

static void mean(rad_flow_resolver *r, enum rad_flow_space space, uint32_t name, uint32_t index)
{
    *meaning_of(r, space, name) = (rad_flow_meaning){.flow = r->flow, .index = index};
}

/* Of milestones, locks and signals: they exist because somebody names them. */
static uint32_t intern(rad_flow_resolver *r, enum rad_flow_space space, uint32_t name)
{
    uint32_t index = flow_meaning(r, space, name);
    if (index != RAD_NONE) return index;
    rad_flow_name_list *list = &r->lists[space];
    if (!RAD_GROW(&list->items, &list->capacity, list->count + 1)) {
        wrong_memory(r);
        return RAD_NONE;
    }
    list->items[list->count] = name;
    mean(r, space, name, list->count);
    return list->count++;
}

uint32_t rad__flow_known(rad_flow_resolver *r, enum rad_flow_space space, uint32_t name, rad_text_place at)
{
    static const char *const what[RAD_SPACES] = {"variable", "task", "region"};
    uint32_t index = flow_meaning(r, space, name);
    if (index != RAD_NONE) return index;
    const char *wanted = name_text(r, name);
    rad_suggest near;
    rad__suggest_begin(&near, wanted, strlen(wanted));
    uint32_t count = space == RAD_SPACE_VARIABLE ? r->tree->variable_count
                     : space == RAD_SPACE_TASK   ? r->tree->task_count
                                                 : r->lists[space].count;
    for (uint32_t i = 0; i < count; i++)
        rad__suggest_consider(&near, name_text(r, space == RAD_SPACE_VARIABLE ? r->tree->variables[i].name
                                                  : space == RAD_SPACE_TASK   ? r->tree->tasks[i].name
                                                                              : r->lists[space].items[i]));
    rad__flow_wrong(r, at, "there is no %s '%s'%s", what[space], wanted, rad__suggest_text(&near, ""));
    return RAD_NONE;
}

/* A variable that something is written to. */
static uint32_t written(rad_flow_resolver *r, uint32_t name, rad_text_place at)
{
    uint32_t index = rad__flow_known(r, RAD_SPACE_VARIABLE, name, at);
    if (index != RAD_NONE && r->tree->variables[index].is_local)
        rad__flow_wrong(r, at, "'%s' belongs to the many of line %u and cannot be set", name_text(r, name),
                        r->tree->variables[index].place.line);
    return index;
}

/* ---- What is declared ------------------------------------------------------------------------------- */

/* Commands find data in their environment, and there, too, who they are: nothing may pretend to be that. */
static void refuse_reserved(rad_flow_resolver *r, uint32_t name, rad_text_place at)
{
    static const char ours[] = "RADDLE_";
    if (strncmp(name_text(r, name), ours, sizeof ours - 1) == 0)
        rad__flow_wrong(r, at, "'%s': variables that begin with %s are set by the runner", name_text(r, name), ours);
}

static void declare_variables(rad_flow_resolver *r)
{
    for (uint32_t i = 0; i < r->tree->variable_count && r->status == 0; i++) {
        const rad_flow_variable *v = &r->tree->variables[i];
        refuse_reserved(r, v->name, v->place);
        uint32_t other = flow_meaning(r, RAD_SPACE_VARIABLE, v->name);
        if (other != RAD_NONE)
            rad__flow_wrong(r, v->place, "there is a variable '%s' already, in line %u", name_text(r, v->name),
                            r->tree->variables[other].place.line);
        mean(r, RAD_SPACE_VARIABLE, v->name, i);
    }
}

static void declare_tasks(rad_flow_resolver *r)
{
    for (uint32_t i = 0; i < r->tree->task_count && r->status == 0; i++) {
        const rad_flow_task *t = &r->tree->tasks[i];
        uint32_t other = flow_meaning(r, RAD_SPACE_TASK, t->name);
        if (other != RAD_NONE)
            rad__flow_wrong(r, t->place, "there is a task '%s' already, in line %u", name_text(r, t->name),
                            r->tree->tasks[other].place.line);
        mean(r, RAD_SPACE_TASK, t->name, i);
    }
}

/* The variable of a many. Another many may have one of the same name: it is the same variable, no token has both. */
static void declare_as(rad_flow_resolver *r, rad_flow_statement *s)
{
    rad_flow_tree *tree = r->tree;
    enum rad_flow_type type = s->is_over ? RAD_FLOW_TEXT : RAD_FLOW_INT;
    uint32_t index = flow_meaning(r, RAD_SPACE_VARIABLE, s->as);
    const rad_flow_variable *other = index != RAD_NONE ? &tree->variables[index] : NULL;
    refuse_reserved(r, s->as, s->as_place);
    if (other != NULL && !other->is_local)
        rad__flow_wrong(r, s->as_place, "there is a variable '%s' already, in line %u", name_text(r, s->as),
                        other->place.line);
    else if (other != NULL && other->type != type)
        rad__flow_wrong(r, s->as_place, "'%s' is %s here and %s in line %u: call it something else",
                        name_text(r, s->as), rad__flow_a_type(type), rad__flow_a_type(other->type), other->place.line);
    else if (other == NULL && tree->variable_count == RAD_FLOW_VARIABLES_MAX)
        rad__flow_wrong(r, s->as_place, "a flow has %d variables at most", RAD_FLOW_VARIABLES_MAX);
    if (r->status != 0) return;
    if (other == NULL) {
        if (!RAD_GROW(&tree->variables, &tree->variable_capacity, tree->variable_count + 1)) {
            wrong_memory(r);
            return;
        }
        index = tree->variable_count++;
        uint32_t nothing = rad__symbol_find(&r->file->symbols, "", 0);
        tree->variables[index] = (rad_flow_variable){.name = s->as,
                                                     .place = s->as_place,
                                                     .type = type,
                                                     .initial = type == RAD_FLOW_TEXT ? nothing : 0,
                                                     .is_local = true};
        mean(r, RAD_SPACE_VARIABLE, s->as, index);
    }
    s->as = index;
}

static void declare_region(rad_flow_resolver *r, const rad_flow_statement *s)
{
    uint32_t before = r->lists[RAD_SPACE_REGION].count;
    if (intern(r, RAD_SPACE_REGION, s->name) != before)
        rad__flow_wrong(r, s->name_place, "there is a region '%s' already", name_text(r, s->name));
}

static void declare_block(rad_flow_resolver *r, const rad_flow_block *block)
{
    for (rad_flow_statement *s = block->first; s != NULL && r->status == 0; s = s->next) {
        s->number = ++r->tree->statement_count;
        if (s->kind == RAD_FLOW_REGION) declare_region(r, s);
        if (s->as != RAD_NONE) declare_as(r, s);
        for (uint32_t i = 0; i < s->branch_count; i++) declare_block(r, &s->branches[i].block);
        if (s->on_cancel != NULL) declare_block(r, &s->on_cancel->block);
        if (s->on_failure != NULL) declare_block(r, &s->on_failure->block);
    }
}

/* ---- Tasks ------------------------------------------------------------------------------- */

static void resolve_names(rad_flow_resolver *r, rad_flow_names *names, bool are_written)
{
    for (uint32_t i = 0; i < names->count && r->status == 0; i++) {
        uint32_t name = names->items[i];
        names->items[i] = are_written ? written(r, name, names->places[i])
                                      : rad__flow_known(r, RAD_SPACE_VARIABLE, name, names->places[i]);
        for (uint32_t j = 0; j < i; j++)
            if (names->items[j] == names->items[i])
                rad__flow_wrong(r, names->places[i], "'%s' is given twice", name_text(r, name));
    }
}

/* What a command writes is what it captures and its exit status, whether `writes` says so or not. */
static void writes_of_command(rad_flow_resolver *r, rad_flow_task *t)
{
    for (uint32_t i = 0; i < t->writes.count && r->status == 0; i++)
        if (t->writes.items[i] != t->capture && t->writes.items[i] != t->exit)
            rad__flow_wrong(r, t->writes.places[i],
                            "a command writes only what it captures, and its exit: '%s' is neither",
                            name_text(r, r->tree->variables[t->writes.items[i]].name));
    uint32_t *items = rad__arena_take(&r->file->arena, 2, sizeof *items);
    if (items == NULL) {
        wrong_memory(r);
        return;
    }
    uint32_t count = 0;
    if (t->capture != RAD_NONE) items[count++] = t->capture;
    if (t->exit != RAD_NONE) items[count++] = t->exit;
    t->writes.items = items;
    t->writes.count = count;
}

static void resolve_command(rad_flow_resolver *r, rad_flow_task *t)
{
    uint32_t exit_name = t->exit;
    if (t->capture != RAD_NONE) t->capture = written(r, t->capture, t->capture_place);
    if (t->exit != RAD_NONE) t->exit = written(r, t->exit, t->exit_place);
    if (r->status == 0 && t->exit != RAD_NONE && r->tree->variables[t->exit].type != RAD_FLOW_INT)
        rad__flow_wrong(r, t->exit_place, "expected an int behind 'exit': '%s' is %s", name_text(r, exit_name),
                        rad__flow_a_type(r->tree->variables[t->exit].type));
    if (t->exit != RAD_NONE && t->exit == t->capture)
        rad__flow_wrong(r, t->exit_place, "'%s' cannot be both output and exit status", name_text(r, exit_name));
    if (r->status == 0) writes_of_command(r, t);
}

static void resolve_call(rad_flow_resolver *r, const rad_flow_task *t)
{
    if (t->capture != RAD_NONE)
        rad__flow_wrong(r, t->capture_place, "'capture' is for commands: a function has 'writes'");
    if (t->exit != RAD_NONE) rad__flow_wrong(r, t->exit_place, "'exit' is for commands: a function has 'writes'");
    if (t->dir != RAD_NONE) rad__flow_wrong(r, t->place, "'dir' is for commands, not for functions");
}

static void resolve_tasks(rad_flow_resolver *r)
{
    for (uint32_t i = 0; i < r->tree->task_count && r->status == 0; i++) {
        rad_flow_task *t = &r->tree->tasks[i];
        resolve_names(r, &t->reads, false);
        resolve_names(r, &t->writes, true);
        if (t->undo != RAD_NONE) t->undo = rad__flow_known(r, RAD_SPACE_TASK, t->undo, t->undo_place);
        if (t->is_call)
            resolve_call(r, t);
        else
            resolve_command(r, t);
    }
}

/* ---- Statements ------------------------------------------------------------------------------- */

static void resolve_block(rad_flow_resolver *r, const rad_flow_block *block);

static void resolve_set(rad_flow_resolver *r, rad_flow_statement *s)
{
    char where[80];
    snprintf(where, sizeof where, "for '%s'", name_text(r, s->name));
    s->name = written(r, s->name, s->name_place);
    if (r->status == 0) rad__flow_resolve_typed(r, s->expr, r->tree->variables[s->name].type, where);
}

static void resolve_branches(rad_flow_resolver *r, rad_flow_statement *s)
{
    for (uint32_t i = 0; i < s->branch_count && r->status == 0; i++) {
        rad_flow_branch *b = &s->branches[i];
        if (b->when != NULL) rad__flow_resolve_typed(r, b->when, RAD_FLOW_BOOL, "behind 'when'");
        if (b->event.signal != RAD_NONE) b->event.signal = intern(r, RAD_SPACE_SIGNAL, b->event.signal);
        if (b->event.into != RAD_NONE) b->event.into = written(r, b->event.into, b->event.into_place);
        resolve_block(r, &b->block);
    }
}

static void resolve_many(rad_flow_resolver *r, rad_flow_statement *s)
{
    rad__flow_resolve_typed(r, s->expr, s->is_over ? RAD_FLOW_TEXT : RAD_FLOW_INT,
                            s->is_over ? "behind 'over'" : "behind 'many'");
    if (r->status == 0 && s->as != RAD_NONE && r->in_scope[s->as])
        rad__flow_wrong(r, s->as_place, "'%s' belongs to a many around this one already",
                        name_text(r, r->tree->variables[s->as].name));
    if (r->status != 0) return;
    rad_flow_around around = {.outer = r->around, .many = s};
    r->around = &around;
    if (s->as != RAD_NONE) r->in_scope[s->as] = true;
    resolve_branches(r, s);
    if (s->as != RAD_NONE) r->in_scope[s->as] = false;
    r->around = around.outer;
}

static void resolve_more(rad_flow_resolver *r, rad_flow_statement *s)
{
    const rad_flow_around *around = r->around;
    while (around != NULL && around->many->name != s->name) around = around->outer;
    if (around == NULL) {
        rad__flow_wrong(r, s->name_place, "there is no many '%s' around this more", name_text(r, s->name));
        return;
    }
    if (around->many->most == 0)
        rad__flow_wrong(r, s->name_place, "'more' needs a limit: write 'up to N' on the many at line %u",
                        around->many->place.line);
    s->text = s->name;
    s->name = around->many->number;
}

static void resolve_region(rad_flow_resolver *r, rad_flow_statement *s)
{
    s->name = rad__flow_known(r, RAD_SPACE_REGION, s->name, s->name_place);
    resolve_branches(r, s);
    if (s->on_cancel != NULL) resolve_block(r, &s->on_cancel->block);
    if (s->on_failure == NULL || r->status != 0) return;
    if (s->into != RAD_NONE) {
        uint32_t name = s->into;
        s->into = written(r, name, s->into_place);
        if (r->status == 0 && r->tree->variables[s->into].type != RAD_FLOW_TEXT)
            rad__flow_wrong(r, s->into_place, "expected a text behind 'into': '%s' is %s", name_text(r, name),
                            rad__flow_a_type(r->tree->variables[s->into].type));
    }
    resolve_block(r, &s->on_failure->block);
}

static void resolve_cancel(rad_flow_resolver *r, rad_flow_statement *s)
{
    if (s->scope != RAD_FLOW_PART_CASE)
        s->name = rad__flow_known(r, s->scope == RAD_FLOW_PART_TASK ? RAD_SPACE_TASK : RAD_SPACE_REGION, s->name,
                                  s->name_place);
}

static void resolve_statement(rad_flow_resolver *r, rad_flow_statement *s)
{
    switch (s->kind) {
    case RAD_FLOW_DO: s->name = rad__flow_known(r, RAD_SPACE_TASK, s->name, s->name_place); break;
    case RAD_FLOW_SET: resolve_set(r, s); break;
    case RAD_FLOW_LOOP:
        rad__flow_resolve_typed(r, s->expr, RAD_FLOW_INT, "behind 'loop'");
        resolve_branches(r, s);
        break;
    case RAD_FLOW_WHILE:
        rad__flow_resolve_typed(r, s->expr, RAD_FLOW_BOOL, "behind 'while'");
        resolve_branches(r, s);
        break;
    case RAD_FLOW_REPEAT:
        resolve_branches(r, s);
        rad__flow_resolve_typed(r, s->expr, RAD_FLOW_BOOL, "behind 'until'");
        break;
    case RAD_FLOW_REGION: resolve_region(r, s); break;
    case RAD_FLOW_CANCEL: resolve_cancel(r, s); break;
    case RAD_FLOW_MANY: resolve_many(r, s); break;
    case RAD_FLOW_MORE: resolve_more(r, s); break;
    case RAD_FLOW_COMPENSATE: s->name = rad__flow_known(r, RAD_SPACE_REGION, s->name, s->name_place); break;
    case RAD_FLOW_REACH:
    case RAD_FLOW_EXPIRE:
    case RAD_FLOW_AWAIT:
        s->name = intern(r, RAD_SPACE_MILESTONE, s->name);
        resolve_branches(r, s);
        break;
    case RAD_FLOW_LOCK:
        s->name = intern(r, RAD_SPACE_LOCK, s->name);
        resolve_branches(r, s);
        break;
    default: resolve_branches(r, s); break;
    }
}

static void resolve_block(rad_flow_resolver *r, const rad_flow_block *block)
{
    for (rad_flow_statement *s = block->first; s != NULL && r->status == 0; s = s->next) resolve_statement(r, s);
}

/* ---- Flows ------------------------------------------------------------------------------- */

/* A list that was collected becomes the tree's. */
static void keep_list(rad_flow_resolver *r, enum rad_flow_space space, uint32_t **items, uint32_t *count)
{
    rad_flow_name_list *list = &r->lists[space];
    if (r->status == 0 && list->count > 0) {
        *items = rad__arena_take(&r->file->arena, list->count, sizeof **items);
        if (*items == NULL) {
            wrong_memory(r);
            return;
        }
        memcpy(*items, list->items, list->count * sizeof **items);
        *count = list->count;
    }
    list->count = 0;
}

static void resolve_flow(rad_flow_resolver *r)
{
    rad_flow_tree *tree = r->tree;
    declare_variables(r);
    declare_tasks(r);
    declare_block(r, &tree->body);
    resolve_tasks(r);
    resolve_block(r, &tree->body);
    keep_list(r, RAD_SPACE_REGION, &tree->regions, &tree->region_count);
    keep_list(r, RAD_SPACE_MILESTONE, &tree->milestones, &tree->milestone_count);
    keep_list(r, RAD_SPACE_LOCK, &tree->locks, &tree->lock_count);
    keep_list(r, RAD_SPACE_SIGNAL, &tree->signals, &tree->signal_count);
}

/* Flows of one name: of the file, so its meanings are those of no flow. */
static void declare_flow(rad_flow_resolver *r)
{
    rad_flow_meaning *m = meaning_of(r, RAD_SPACE_FLOW, r->tree->name);
    if (m->flow != 0)
        rad__flow_wrong(r, r->tree->place, "there is a flow '%s' already, in line %u", name_text(r, r->tree->name),
                        m->index);
    *m = (rad_flow_meaning){.flow = r->flow, .index = r->tree->place.line};
}

int rad__flow_resolve(rad_flow_file *file, rad_error *error)
{
    rad_flow_resolver r = {.file = file, .error = error};
    r.meanings = rad__alloc((size_t)RAD_SPACES * file->symbols.count, sizeof *r.meanings);
    if (r.meanings == NULL) return rad__error_memory(error);
    for (r.tree = file->flows; r.tree != NULL && r.status == 0; r.tree = r.tree->next) {
        r.flow++;
        declare_flow(&r);
        resolve_flow(&r);
    }
    for (unsigned i = 0; i < RAD_SPACES; i++) rad__free(r.lists[i].items);
    rad__free(r.meanings);
    return r.status;
}
