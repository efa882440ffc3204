/* schedules.c — see schedules.h. A schedule is the list of its choices; the next one is the same up to the
 * last choice that has another value left. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "schedules.h"

#include "base/alloc.h"
#include "flow/machine/vm.h"
#include "lockstep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SCHEDULES_MOST = 1000000, STEPS_MOST = 1000, STORY_MAX = 2000 };

/* ---- The policy ------------------------------------------------------------------------------ */

typedef struct every_choice {
    uint32_t chosen, count;
} every_choice;

/* Follows a list, then always takes the first, and keeps what it did. */
typedef struct every_policy {
    rad_policy base;
    every_choice *choices;
    uint32_t count, capacity, at;
} every_policy;

static uint32_t every_choose(rad_policy *p, rad_kernel *k, const rad_decision *d)
{
    every_policy *e = (every_policy *)p;
    (void)k;
    if (e->at == e->count) {
        if (!RAD_GROW(&e->choices, &e->capacity, e->count + 1)) abort();
        e->choices[e->count++] = (every_choice){0, d->count};
    }
    every_choice *c = &e->choices[e->at++];
    if (c->count != d->count) fail_msg("the same choices led elsewhere");
    return c->chosen;
}

static const rad_policy_class every_class = {
    .name = "every", .about = "all schedules, one after the other", .choose = every_choose};

/* False: that was the last one. */
static bool every_next(every_policy *e)
{
    e->at = 0;
    while (e->count > 0 && e->choices[e->count - 1].chosen + 1 == e->choices[e->count - 1].count) e->count--;
    if (e->count == 0) return false;
    e->choices[e->count - 1].chosen++;
    return true;
}

/* ---- A story --------------------------------------------------------------------------------- */

typedef struct story_token {
    uint64_t lives;
    uint32_t pc, task;
    bool alive;
} story_token;

typedef struct story {
    const flow_schedules *s;
    rad_flow_case *c;
    story_token *before; /* each token as it was before the step */
    uint32_t before_count, before_capacity;
    char text[STORY_MAX];
    size_t used;
} story;

static void story_word(story *y, const char *sign, uint32_t task, const char *mark)
{
    const char *name = rad__flow_name(&y->c->program->file, y->c->program->tree->tasks[task].name);
    if (y->s->ends_only) return;
    y->used += (size_t)snprintf(y->text + y->used, STORY_MAX - y->used, "%s%s%s ", sign, name, mark);
    if (y->used >= STORY_MAX) fail_msg("a story is too long: %s", y->text);
}

static void story_remember(story *y)
{
    const rad_flow_vm *vm = y->c->vm;
    if (!RAD_GROW(&y->before, &y->before_capacity, vm->token_count)) abort();
    y->before_count = vm->token_count;
    for (uint32_t i = 0; i < vm->token_count; i++)
        y->before[i] = (story_token){vm->tokens[i].lives, vm->tokens[i].pc, vm->tokens[i].task, vm->tokens[i].alive};
}

/* What a step of `token` has done, to itself and to others. */
static void story_tell(story *y, uint32_t token)
{
    const rad_flow_vm *vm = y->c->vm;
    const rad_flow_op *op = &vm->program->code[y->before[token].pc];
    if (op->code == RAD_OP_FINISH) story_word(y, "", y->before[token].task, vm->k->value ? "" : "!");
    bool starts = op->code == RAD_OP_START || (op->code == RAD_OP_COMPENSATE && vm->tokens[token].alive &&
                                               rad__flow_op(vm, token)->code == RAD_OP_FINISH);
    if (starts && y->s->starts) story_word(y, "<", vm->tokens[token].task, "");
    for (uint32_t i = 0; i < y->before_count; i++) {
        const story_token *b = &y->before[i];
        const rad_token *t = &vm->tokens[i];
        if (i == token || !b->alive || vm->program->code[b->pc].code != RAD_OP_FINISH) continue;
        if (!t->alive || t->pc != b->pc || t->lives != b->lives) story_word(y, "-", b->task, "");
    }
}

static void story_end(story *y)
{
    static const char *const states[] = {"running",   "waiting",  "done",     "failed",
                                         "cancelled", "deadlock", "diverged", "broken"};
    rad_flow_case *c = y->c;
    char *at = y->text + y->used;
    size_t left = STORY_MAX - y->used;
    const char *why = strstr(rad__flow_case_failure(c), ": ");
    int length = snprintf(at, left, "| %s", states[c->state]);
    if (c->state == RAD_CASE_FAILED)
        length += snprintf(at + length, left - (size_t)length, " (%s)", why ? why + 2 : "");
    const rad_flow_tree *tree = c->program->tree;
    for (uint32_t i = 0; i < tree->variable_count && y->s->variable != NULL; i++) {
        const char *name = rad__flow_name(&c->program->file, tree->variables[i].name);
        char number[24];
        size_t size;
        if (strcmp(name, y->s->variable) != 0) continue;
        length += snprintf(at + length, left - (size_t)length, " %s=%s", name,
                           rad__flow_case_value(c, RAD_NONE, i, number, &size));
    }
}

/* ---- All of them ----------------------------------------------------------------------------- */

static void keep(flow_happenings *h, const char *text)
{
    uint32_t low = 0, high = h->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        int order = strcmp(h->items[middle], text);
        if (order == 0) return;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (!RAD_GROW(&h->items, &h->capacity, h->count + 1)) abort();
    memmove(&h->items[low + 1], &h->items[low], (h->count++ - low) * sizeof *h->items);
    h->items[low] = rad__copy_text(text);
}

/* policy NULL: at random, the seed being how many there were. */
static void run_one(const flow_schedules *s, const rad_flow_program *p, every_policy *policy, flow_happenings *h)
{
    rad_error error = {.code = 0};
    story y = {.s = s};
    rad_flow_case_options o = {.world = RAD_WORLD_CHOSEN,
                               .own_policy = policy != NULL ? &policy->base : NULL,
                               .policy = "random",
                               .seed = h->schedules};
    if (rad__flow_case_open(&y.c, p, &o, &error) != 0) fail_msg("%s", error.text);
    uint64_t most = s->steps > 0 ? s->steps : STEPS_MOST;
    do {
        uint64_t before = rad__flow_case_steps(y.c);
        story_remember(&y);
        rad__flow_case_run(y.c, 1);
        const char *what;
        if (!rad__flow_vm_valid(y.c->vm, &what)) fail_msg("not sound: %s", what);
        if (rad__flow_case_steps(y.c) > before) story_tell(&y, y.c->kernel->current);
    } while (y.c->state == RAD_CASE_RUNNING && rad__flow_case_steps(y.c) < most);
    story_end(&y);
    keep(h, y.text);
    rad__flow_case_close(y.c);
    rad__free(y.before);
}

flow_happenings flow_explore(const flow_schedules *s)
{
    flow_happenings h = {.count = 0};
    every_policy policy = {.base = {&every_class}};
    rad_error error = {.code = 0};
    rad_flow_program *p;
    if (rad__flow_program_read(&p, "test", s->text, strlen(s->text), NULL, &error) != 0) fail_msg("%s", error.text);
    for (; h.schedules < s->random; h.schedules++) run_one(s, p, NULL, &h);
    if (s->random == 0) do {
            run_one(s, p, &policy, &h);
            if (++h.schedules > SCHEDULES_MOST) fail_msg("more schedules than can be tried");
        } while (every_next(&policy));
    rad__flow_program_free(p);
    rad__free(policy.choices);
    return h;
}

void flow_happenings_free(flow_happenings *h)
{
    for (uint32_t i = 0; i < h->count; i++) rad__free(h->items[i]);
    rad__free(h->items);
}

static bool is_among(const char *text, const char *const *list)
{
    for (; *list != NULL; list++)
        if (strcmp(*list, text) == 0) return true;
    return false;
}

static void check_against_reference(const char *text)
{
    static const char *const policies[] = {"random", "pct:3", "first", "fair"};
    char difference[FLOW_DIFFERENCE_MAX];
    flow_lockstep_seen seen = {.steps = 0};
    for (uint64_t seed = 0; seed < 40; seed++) {
        flow_lockstep_options o = {.policy = policies[seed % 4], .seed = seed, .steps = 300, .is_live = seed >= 20};
        if (!flow_lockstep(text, &o, &seen, difference))
            fail_msg("seed %llu: %s", (unsigned long long)seed, difference);
    }
}

void flow_expect(const flow_schedules *s, const char *const *expected)
{
    flow_happenings h = flow_explore(s);
    bool same = true;
    for (uint32_t i = 0; i < h.count; i++) same = is_among(h.items[i], expected) && same;
    for (const char *const *e = expected; *e != NULL; e++) {
        bool found = false;
        for (uint32_t i = 0; i < h.count; i++) found = found || strcmp(h.items[i], *e) == 0;
        if (!found) print_error("cannot happen: %s\n", *e);
        same = same && found;
    }
    for (uint32_t i = 0; i < h.count && !same; i++)
        print_error("%s: %s\n", is_among(h.items[i], expected) ? "can happen" : "CAN HAPPEN", h.items[i]);
    flow_happenings_free(&h);
    if (!same) fail_msg("not exactly what should be possible:\n%s", s->text);
    check_against_reference(s->text);
}
