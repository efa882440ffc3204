/* validate.c — the verdicts about a flow, with what they rest on. See validate.h. */
#include "flow/check/validate.h"

#include "base/alloc.h"
#include "base/error.h"
#include "flow/check/parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SEEDS_DEFAULT = 3 };

typedef struct validation {
    rad_flow_validation report; /* first: what the caller sees */
    uint32_t dead_capacity, assumption_capacity;
    rad_arena arena;
} validation;

const char *rad_flow_property_name(enum rad_flow_property property)
{
    static const char *const names[RAD_FLOW_PROPERTIES] = {"no deadlock",       "no dead task", "no dead code",
                                                           "proper completion", "no livelock",  "option to complete",
                                                           "confluence"};
    return property < RAD_FLOW_PROPERTIES ? names[property] : NULL;
}

void rad_flow_validation_free(rad_flow_validation *r)
{
    validation *v = (validation *)r;
    if (v == NULL) return;
    for (uint32_t i = 0; i < RAD_FLOW_PROPERTIES; i++) {
        rad__free(r->verdicts[i].choices);
        rad__free(r->verdicts[i].other);
    }
    rad__free(r->dead);
    rad__free(r->assumptions);
    rad__free(r->failures);
    rad__arena_free(&v->arena);
    rad__free(v);
}

/* ---- Lists in words ------------------------------------------------------------------- */

typedef struct phrase {
    char text[400];
    uint32_t items, more;
} phrase;

/* "a, b, c"; what does not fit is counted. */
static void phrase_add(phrase *p, const char *format, ...) RAD_PRINTF(2, 3);
static void phrase_add(phrase *p, const char *format, ...)
{
    char item[160];
    va_list args;
    va_start(args, format);
    vsnprintf(item, sizeof item, format, args);
    va_end(args);
    size_t used = strlen(p->text);
    if (used + strlen(item) + 40 > sizeof p->text) {
        p->more++;
        return;
    }
    snprintf(p->text + used, sizeof p->text - used, "%s%s", p->items++ > 0 ? ", " : "", item);
}

static void phrase_end(phrase *p)
{
    size_t used = strlen(p->text);
    if (p->more > 0) snprintf(p->text + used, sizeof p->text - used, " and %u more", p->more);
}

/* ---- What it rests on ------------------------------------------------------------------- */

static bool assume(validation *v, const char *format, ...) RAD_PRINTF(2, 3);
static bool assume(validation *v, const char *format, ...)
{
    char text[600];
    rad_flow_validation *r = &v->report;
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    char *own = rad__arena_text(&v->arena, text, strlen(text));
    if (own == NULL || !RAD_GROW(&r->assumptions, &v->assumption_capacity, r->assumption_count + 1)) return false;
    r->assumptions[r->assumption_count++] = own;
    return true;
}

/* Some task or event writes it. */
static bool is_written(const rad_flow_program *p, uint32_t variable)
{
    for (uint32_t i = 0; i < p->tree->task_count; i++)
        for (uint32_t k = 0; k < p->tree->tasks[i].writes.count; k++)
            if (p->tree->tasks[i].writes.items[k] == variable) return true;
    for (uint32_t i = 0; i < p->code_count; i++)
        for (uint32_t k = 0; p->code[i].code == RAD_OP_TAKEN && k < p->code[i].b; k++)
            if (p->ways[p->code[i].a + k].event.into == variable) return true;
    return false;
}

static bool assume_domain(validation *v, const rad_flow_program *p, uint32_t variable)
{
    const rad_flow_domain *d = &p->domains[variable];
    const rad_flow_variable *own = &p->tree->variables[variable];
    const char *name = rad__flow_name(&p->file, own->name);
    phrase values = {"", 0, 0};
    if (!d->assumed || !is_written(p, variable)) return true;
    for (uint32_t i = 0; i < d->count; i++)
        if (own->type == RAD_FLOW_TEXT)
            phrase_add(&values, "\"%.60s\"", rad__flow_name(&p->file, (uint32_t)d->values[i]));
        else if (own->type == RAD_FLOW_BOOL)
            phrase_add(&values, "%s", d->values[i] ? "true" : "false");
        else
            phrase_add(&values, "%lld", (long long)d->values[i]);
    phrase_end(&values);
    return assume(v, "tasks and events write nothing to %s but %s (its domain is not declared by `in`)", name,
                  values.text);
}

static bool assume_tasks(validation *v, const rad_flow_program *p)
{
    phrase both = {"", 0, 0}, silent = {"", 0, 0};
    for (uint32_t i = 0; i < p->tree->task_count; i++) {
        const rad_flow_task *t = &p->tree->tasks[i];
        const char *name = rad__flow_name(&p->file, t->name);
        if (t->outcomes == (RAD_OUTCOME_OK_BIT | RAD_OUTCOME_FAIL_BIT)) phrase_add(&both, "%s", name);
        if (t->is_call && !t->writes.given) phrase_add(&silent, "%s", name);
    }
    phrase_end(&both);
    phrase_end(&silent);
    if (both.items > 0 && !assume(v, "may succeed or fail, each time: %s", both.text)) return false;
    return silent.items == 0 || assume(v, "write nothing, because no `writes` is declared: %s", silent.text);
}

static bool has_events(const rad_flow_program *p)
{
    for (uint32_t i = 0; i < p->code_count; i++)
        if (p->code[i].code == RAD_OP_TAKEN) return true;
    return false;
}

static bool assume_all(validation *v, const rad_flow_program *p)
{
    if (!assume_tasks(v, p)) return false;
    for (uint32_t i = 0; i < p->tree->variable_count; i++)
        if (!assume_domain(v, p, i)) return false;
    return !has_events(p) || assume(v, "signals and timers come in any order, each sooner or later");
}

static bool tell_failures(validation *v, const rad_flow_search *s)
{
    rad_flow_validation *r = &v->report;
    r->failures = rad__alloc(s->failure_count, sizeof *r->failures);
    for (uint32_t i = 0; r->failures != NULL && i < s->failure_count; i++) {
        r->failures[i] = rad__arena_text(&v->arena, s->failures[i], strlen(s->failures[i]));
        if (r->failures[i] == NULL) return false;
        r->failure_count++;
    }
    return r->failures != NULL;
}

/* ---- What is never reached ------------------------------------------------------------------- */

typedef struct graveyard {
    validation *v;
    const rad_flow_search *s;
    const uint32_t *op_of;  /* by statement: its first operation, the one with branches; or RAD_NONE */
    const uint8_t *reached; /* by statement */
    bool failed;
} graveyard;

static void bury(graveyard *g, bool is_task, uint32_t line, const char *format, ...) RAD_PRINTF(4, 5);
static void bury(graveyard *g, bool is_task, uint32_t line, const char *format, ...)
{
    rad_flow_validation *r = &g->v->report;
    if (!RAD_GROW(&r->dead, &g->v->dead_capacity, r->dead_count + 1)) {
        g->failed = true;
        return;
    }
    rad_flow_dead *d = &r->dead[r->dead_count++];
    va_list args;
    va_start(args, format);
    vsnprintf(d->text, sizeof d->text, format, args);
    va_end(args);
    d->line = line;
    d->is_task = is_task;
}

static bool branch_is_reached(const graveyard *g, const rad_flow_statement *s, uint32_t branch)
{
    uint32_t pc = g->op_of[s->number];
    const rad_flow_op *op = &g->s->program->code[pc];
    switch (s->kind) {
    case RAD_FLOW_XOR:
    case RAD_FLOW_OR:
        if (s->has_else && branch + 1 == s->branch_count) return g->s->else_seen[pc];
        return g->s->way_seen[op->a + branch];
    case RAD_FLOW_DEFER:
    case RAD_FLOW_PAR:
    case RAD_FLOW_INTERLEAVE: return g->s->way_seen[op->a + branch];
    case RAD_FLOW_AWAIT: return g->s->else_seen[pc];
    default: return true;
    }
}

static void bury_statement(graveyard *g, const rad_flow_statement *s)
{
    const rad_flow_program *p = g->s->program;
    if (s->kind == RAD_FLOW_DO)
        bury(g, false, s->place.line, "do %s", rad__flow_name(&p->file, p->tree->tasks[s->name].name));
    else
        bury(g, false, s->place.line, "%s", rad__flow_kind_name(s->kind));
}

/* The outermost and first of what cannot be reached: the rest follows from it. */
static void walk(graveyard *g, const rad_flow_block *block)
{
    for (const rad_flow_statement *s = block->first; s != NULL && !g->failed; s = s->next) {
        if (s->kind != RAD_FLOW_BLOCK && !g->reached[s->number]) {
            bury_statement(g, s);
            return;
        }
        for (uint32_t i = 0; i < s->branch_count; i++)
            if (branch_is_reached(g, s, i))
                walk(g, &s->branches[i].block);
            else
                bury(g, false, rad__flow_branch_line(s, i), "%s of %s",
                     s->has_else && i + 1 == s->branch_count ? "else" : "a branch", rad__flow_kind_name(s->kind));
        if (s->on_cancel != NULL) walk(g, &s->on_cancel->block);
        if (s->on_failure != NULL) walk(g, &s->on_failure->block);
    }
}

static bool has_branches(const rad_flow_op *op)
{
    return op->code == RAD_OP_XOR || op->code == RAD_OP_OR || op->code == RAD_OP_FORK || op->code == RAD_OP_TAKEN ||
           op->code == RAD_OP_INTERLEAVE || op->code == RAD_OP_AWAIT;
}

static bool find_dead(validation *v, const rad_flow_search *s)
{
    const rad_flow_program *p = s->program;
    uint32_t *op_of = rad__alloc(p->tree->statement_count + 1u, sizeof *op_of);
    uint8_t *reached = rad__alloc(p->tree->statement_count + 1u, sizeof *reached);
    graveyard g = {v, s, op_of, reached, op_of == NULL || reached == NULL};
    for (uint32_t i = 0; i < p->code_count && !g.failed; i++) {
        const rad_flow_op *op = &p->code[i];
        if (has_branches(op)) op_of[op->statement] = i;
        reached[op->statement] |= s->op_seen[i];
    }
    for (uint32_t i = 0; i < p->tree->task_count && !g.failed; i++)
        if (!s->task_seen[i])
            bury(&g, true, p->tree->tasks[i].place.line, "task %s", rad__flow_name(&p->file, p->tree->tasks[i].name));
    if (!g.failed) walk(&g, &p->tree->body);
    rad__free(op_of);
    rad__free(reached);
    return !g.failed;
}

/* ---- Verdicts ------------------------------------------------------------------- */

static rad_flow_verdict *verdict(validation *v, enum rad_flow_property property)
{
    return &v->report.verdicts[property];
}

static void fails(rad_flow_verdict *f, rad_flow_walk *run, const char *format, ...) RAD_PRINTF(3, 4);
static void fails(rad_flow_verdict *f, rad_flow_walk *run, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(f->text, sizeof f->text, format, args);
    va_end(args);
    f->answer = RAD_FLOW_FAILS;
    if (run == NULL) return;
    f->choices = run->choices;
    f->choice_count = run->count;
    f->steps = run->steps;
    *run = (rad_flow_walk){NULL, 0, 0};
}

static void set_unknown(rad_flow_verdict *f, const rad_flow_search *s)
{
    f->answer = RAD_FLOW_UNKNOWN;
    if (s->options.interrupted != NULL && *s->options.interrupted)
        snprintf(f->text, sizeof f->text, "interrupted");
    else if (s->error.code == RAD_ELIMIT)
        snprintf(f->text, sizeof f->text, "%.390s", s->error.text);
    else
        snprintf(f->text, sizeof f->text, "not all states were visited: %u of them, %llu steps", s->node_count,
                 (unsigned long long)s->steps);
}

static void judge_dead(validation *v, const rad_flow_search *s, enum rad_flow_property property)
{
    rad_flow_verdict *f = verdict(v, property);
    phrase all = {"", 0, 0};
    bool tasks = property == RAD_FLOW_NO_DEAD_TASK;
    for (uint32_t i = 0; i < v->report.dead_count; i++) {
        const rad_flow_dead *d = &v->report.dead[i];
        if (d->is_task == tasks) phrase_add(&all, "%s (line %u)", d->text, d->line);
    }
    phrase_end(&all);
    if (all.items == 0) return; /* one run each is enough */
    if (!s->exhausted)
        set_unknown(f, s);
    else
        fails(f, NULL, tasks ? "never started: %s" : "never reached: %s", all.text);
}

static int judge_deadlock(validation *v, const rad_flow_search *s, rad_error *error)
{
    rad_flow_verdict *f = verdict(v, RAD_FLOW_NO_DEADLOCK);
    rad_flow_walk run;
    if (s->first_deadlock != RAD_NONE) {
        if (!rad__flow_search_path(s, s->first_deadlock, &run)) return rad__error_memory(error);
        fails(f, &run, "%s", s->deadlock);
    } else if (!s->exhausted) {
        set_unknown(f, s);
    }
    return 0;
}

static void judge_proper(validation *v, rad_flow_search *s)
{
    rad_flow_verdict *f = verdict(v, RAD_FLOW_PROPER_END);
    if (s->improper)
        fails(f, &s->improper_run, "%s", s->improper_text);
    else if (!s->exhausted)
        set_unknown(f, s);
}

/* A run into the circle and once around it. */
static int run_circle(rad_flow_search *s, const rad_flow_reach *r, rad_flow_walk *run, rad_error *error)
{
    if (!rad__flow_search_path(s, r->round, run)) return rad__error_memory(error);
    for (uint32_t i = 0; i < r->circle_count; i++) {
        bool found;
        int status = rad__flow_search_extend(s, run, r->circle[i], &found, error);
        if (status != 0) return status;
        if (!found) return rad__error(error, RAD_EBUG, "a step of a circle cannot be repeated");
    }
    return 0;
}

static bool copy_run(rad_flow_walk *to, const rad_flow_verdict *from)
{
    *to = (rad_flow_walk){rad__alloc(from->choice_count + 1, sizeof *to->choices), from->choice_count, from->steps};
    if (to->choices != NULL && from->choice_count > 0)
        memcpy(to->choices, from->choices, from->choice_count * sizeof *to->choices);
    return to->choices != NULL;
}

/* How many of the run's last steps are the circle: it begins where it ends, which may be behind where `round` is. */
static uint32_t circle_steps(const rad_flow_reach *r)
{
    uint32_t end = r->circle_count - 1;
    for (uint32_t i = 0; i < end; i++)
        if (r->circle[i] == r->circle[end]) return end - i;
    return r->circle_count;
}

/* What counts as an end is part of the verdict: a case that can only fail has the option to complete, too. */
static void name_ends(rad_flow_verdict *can, const rad_flow_search *s)
{
    static const char *const names[] = {
        [RAD_CASE_DONE] = "done", [RAD_CASE_FAILED] = "failed", [RAD_CASE_CANCELLED] = "cancelled"};
    phrase met = {"", 0, 0};
    for (uint32_t i = RAD_CASE_DONE; i <= RAD_CASE_CANCELLED; i++)
        if (s->ends >> i & 1) phrase_add(&met, "%s", names[i]);
    phrase_end(&met);
    size_t used = strlen(can->text);
    snprintf(can->text + used, sizeof can->text - used, "%s(an end: done, failed or cancelled; met: %s)",
             used > 0 ? " " : "", met.items > 0 ? met.text : "none");
}

static int judge_circle(validation *v, rad_flow_search *s, const rad_flow_reach *r, rad_error *error)
{
    rad_flow_walk run, same;
    int status = run_circle(s, r, &run, error);
    if (status != 0) {
        rad__free(run.choices);
        return status;
    }
    fails(verdict(v, RAD_FLOW_NO_LIVELOCK), &run,
          "it can go round for ever and never end: the last %u steps come back to where they began", circle_steps(r));
    if (!copy_run(&same, verdict(v, RAD_FLOW_NO_LIVELOCK))) return rad__error_memory(error);
    fails(verdict(v, RAD_FLOW_CAN_END), &same, "from there on no end can be reached");
    return 0;
}

static int judge_ends(validation *v, rad_flow_search *s, rad_error *error)
{
    rad_flow_verdict *can = verdict(v, RAD_FLOW_CAN_END);
    rad_flow_walk run;
    rad_flow_reach r;
    if (!s->exhausted) {
        set_unknown(verdict(v, RAD_FLOW_NO_LIVELOCK), s);
        if (s->first_deadlock == RAD_NONE) set_unknown(can, s);
    }
    if (s->exhausted && !rad__flow_reach_find(&r, s)) return rad__error_memory(error);
    if (!s->exhausted) r = (rad_flow_reach){.lost = s->first_deadlock, .round = RAD_NONE};
    int status = 0;
    if (r.round != RAD_NONE) {
        status = judge_circle(v, s, &r, error);
    } else if (r.lost != RAD_NONE) {
        if (rad__flow_search_path(s, r.lost, &run))
            fails(can, &run, "from there on every run comes to a deadlock, which is no end");
        else
            status = rad__error_memory(error);
    }
    rad__flow_reach_free(&r);
    if (status == 0) name_ends(can, s);
    return status;
}

/* ---- Confluence ------------------------------------------------------------------- */

static int judge_seed(validation *v, rad_flow_search *s, uint64_t seed, rad_error *error)
{
    rad_flow_verdict *f = verdict(v, RAD_FLOW_CONFLUENT);
    rad_flow_walk reference, run;
    bool ended;
    int status = rad__flow_search_reference(s, &reference, &ended, error);
    char text[200] = "";
    if (status == 0 && ended) {
        rad__flow_ending_text(s->vm, text, sizeof text);
        s->compares = true;
        s->expected = rad__flow_ending(s->vm);
        status = rad__flow_search_all(s, error);
    } else if (status == 0) {
        f->answer = RAD_FLOW_UNKNOWN;
        snprintf(f->text, sizeof f->text, "under policy first the execution does not end (outcomes=%llu)",
                 (unsigned long long)seed);
    }
    if (status == 0 && s->other_end != RAD_NONE) {
        if (!rad__flow_search_path(s, s->other_end, &run)) status = rad__error_memory(error);
        if (status == 0) {
            fails(f, &run, "%s", s->other_text);
            f->outcomes = seed;
            snprintf(f->other_text, sizeof f->other_text, "%s", text);
            f->other = reference.choices;
            f->other_count = reference.count;
            reference.choices = NULL;
        }
    } else if (status == 0 && ended && !s->exhausted) {
        set_unknown(f, s);
    }
    rad__free(reference.choices);
    return status;
}

static int judge_confluence(validation *v, const rad_flow_program *p, const rad_flow_validate_options *o,
                            rad_error *error)
{
    uint32_t seeds = !rad__flow_draws(p) ? 1 : o->seeds > 0 ? o->seeds : SEEDS_DEFAULT;
    rad_flow_verdict *f = verdict(v, RAD_FLOW_CONFLUENT);
    for (uint32_t i = 1; i <= seeds && f->answer != RAD_FLOW_FAILS; i++) {
        rad_flow_search s;
        int status = rad__flow_search_open(&s, p, o, i, error);
        if (status != 0) return status;
        status = judge_seed(v, &s, i, error);
        v->report.steps += s.steps;
        rad__flow_search_close(&s);
        if (status != 0) return status;
    }
    if (seeds > 1 && f->answer == RAD_FLOW_HOLDS)
        snprintf(f->text, sizeof f->text, "for outcomes drawn from %u seeds", seeds);
    if (seeds > 1 && !assume(v, "confluence: outcomes drawn from the seeds 1 … %u, not all there are", seeds))
        return rad__error_memory(error);
    return 0;
}

/* ---- All of it ------------------------------------------------------------------- */

static int judge(validation *v, rad_flow_search *s, rad_error *error)
{
    int status = rad__flow_search_all(s, error);
    if (status != 0) return status;
    if (!find_dead(v, s) || !assume_all(v, s->program) || !tell_failures(v, s)) return rad__error_memory(error);
    judge_dead(v, s, RAD_FLOW_NO_DEAD_TASK);
    judge_dead(v, s, RAD_FLOW_NO_DEAD_CODE);
    judge_proper(v, s);
    status = judge_deadlock(v, s, error);
    v->report.exhausted = s->exhausted;
    v->report.states = s->node_count;
    v->report.saved = s->saved;
    if (status == 0) status = judge_ends(v, s, error);
    v->report.steps = s->steps;
    return status;
}

int rad__flow_validate(const rad_flow_program *p, const rad_flow_validate_options *o, rad_flow_validation **out,
                       rad_error *error)
{
    static const rad_flow_validate_options defaults;
    rad_flow_search s;
    *out = NULL;
    if (o == NULL) o = &defaults;
    validation *v = rad__alloc(1, sizeof *v);
    if (v == NULL) return rad__error_memory(error);
    int status = rad__flow_search_open(&s, p, o, 0, error);
    if (status == 0) {
        status = judge(v, &s, error);
        rad__flow_search_close(&s);
    }
    if (status == 0) status = judge_confluence(v, p, o, error);
    if (status != 0) {
        rad_flow_validation_free(&v->report);
        return status;
    }
    *out = &v->report;
    return 0;
}
