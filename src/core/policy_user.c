/* policy_user.c — a user's policy under the kernel; see raddle/policy.h.
 *
 * The kernel's index has the baseline first (kernel.h), a user's index is the place in the canonical order; choose
 * turns one into the other and checks the answer, so that a bad one is told as the policy's and never reaches the
 * kernel.
 *
 * U1  beacon->function says which function of the policy runs; it is 0 while the kernel or the machine runs.
 * U2  the words of all spaces below `used` may differ from 0; those above are 0. */
#include "core/policy_user.h"

#include "base/alloc.h"
#include "base/prng.h"
#include "core/kernel.h"

#include <stdio.h>
#include <string.h>

typedef struct user_words {
    uint64_t *items;
    uint32_t capacity, used;
} user_words;

typedef struct user_policy {
    rad_policy base;
    rad_policy_class class; /* has those functions only that the table has */
    const rad_policy_table *table;
    void *state;
    rad_kernel *kernel;
    const rad_decision *decision; /* during choose */
    rad_policy_run run;
    rad_prng prng;
    user_words words[RAD_PER_SPACES];
    uint64_t spare; /* instead of a word when memory ran out: the run ends */
} user_policy;

/* ---- The table ------------------------------------------------------------------------------------- */

static const rad_policy_table **added;
static uint32_t added_count, added_capacity;

int rad__user_policy_add(const rad_policy_table *table, rad_error *error)
{
    if (!RAD_GROW(&added, &added_capacity, added_count + 1)) return rad__error_memory(error);
    added[added_count++] = table;
    return 0;
}

const rad_policy_table *rad__user_policy_at(uint32_t index)
{
    return index < added_count ? added[index] : NULL;
}

const rad_policy_table *rad__user_policy_find(const char *name)
{
    size_t length = strcspn(name, ":");
    for (uint32_t i = 0; i < added_count; i++)
        if (strlen(added[i]->name) == length && memcmp(added[i]->name, name, length) == 0) return added[i];
    return NULL;
}

uint32_t rad__user_policies(void)
{
    return added_count;
}

void rad__user_policies_cut(uint32_t count)
{
    RAD_ASSERT(count <= added_count);
    added_count = count;
    if (count > 0) return;
    rad__free(added);
    added = NULL;
    added_capacity = 0;
}

/* ---- What the policy calls ------------------------------------------------------------------------- */

static uint32_t user_action_at(const rad_policy_run *r, uint32_t index)
{
    const rad_bitset *enabled = &((const user_policy *)r->inside)->kernel->enabled;
    return index < enabled->count ? rad__bitset_select(enabled, index) : RAD_NONE;
}

static uint32_t user_index_of(const rad_policy_run *r, uint32_t action)
{
    const rad_bitset *enabled = &((const user_policy *)r->inside)->kernel->enabled;
    return rad__bitset_has(enabled, action) ? rad__bitset_rank(enabled, action) : RAD_NONE;
}

static uint32_t user_next_enabled(const rad_policy_run *r, uint32_t action)
{
    const user_policy *u = r->inside;
    return action < u->kernel->action_count ? rad__bitset_next(&u->kernel->enabled, action) : RAD_NONE;
}

static bool user_look(const rad_policy_run *r, uint32_t action, rad_policy_action *out)
{
    const rad_kernel *k = ((const user_policy *)r->inside)->kernel;
    if (action >= k->action_count) return false;
    const rad_action_entry *a = &k->actions[action];
    *out = (rad_policy_action){
        .number = action,
        .kind = a->kind,
        .actor = a->actor,
        .object = a->object,
        .argument = a->argument,
        .site = a->site,
        .target = a->target,
        .access = (enum rad_access)a->access,
        .actor_signature = a->actor < k->actor_count ? k->actors[a->actor].signature : 0,
        .target_signature = a->target < k->object_count ? k->objects[a->target].signature : 0,
    };
    return true;
}

/* Room for the numbers that there are: RAD_NONE comes first, so number n is in place n + 1. */
static uint64_t *user_word(rad_policy_run *r, enum rad_policy_space space, uint32_t number)
{
    user_policy *u = r->inside;
    const rad_kernel *k = u->kernel;
    u->spare = 0;
    if ((unsigned)space >= RAD_PER_SPACES) return &u->spare;
    uint32_t counts[RAD_PER_SPACES] = {k->action_count, k->actor_count, k->object_count};
    if (number != RAD_NONE && number >= counts[space]) return &u->spare;
    user_words *w = &u->words[space];
    uint32_t place = number + 1;
    if (!RAD_GROW(&w->items, &w->capacity, place + 1)) {
        rad__kernel_error(u->kernel, RAD_ENOMEM, "out of memory for the argument of a policy");
        return &u->spare;
    }
    if (place >= w->used) w->used = place + 1;
    return &w->items[place];
}

static uint64_t user_below(rad_policy_run *r, uint64_t bound)
{
    return bound == 0 ? 0 : rad__prng_below(&((user_policy *)r->inside)->prng, bound);
}

static void user_name_of(const rad_policy_run *r, uint32_t action, char *text, size_t size)
{
    const rad_kernel *k = ((const user_policy *)r->inside)->kernel;
    char name[2 * RAD_NAME_MAX] = "-";
    if (action < k->action_count) rad__action_name(k, action, name);
    snprintf(text, size, "%s", name);
}

/* A step that failed stays a failure. */
static void user_prune(rad_policy_run *r)
{
    const user_policy *u = r->inside;
    rad_kernel *k = u->kernel;
    rad_error error = {0};
    if (k->ended) return;
    if (k->options.may_prune) {
        k->outcome = RAD_OUTCOME_PRUNED;
        k->ended = true;
        return;
    }
    rad__error(&error, RAD_EINPUT,
               "policy '%s' ended the run at step %llu (rad_policy_prune): only explore can leave "
               "runs out",
               u->table->name, (unsigned long long)k->step);
    rad__kernel_error(k, RAD_EINPUT, error.text);
}

static const struct rad_policy_calls CALLS = {
    .action_at = user_action_at,
    .index_of = user_index_of,
    .next_enabled = user_next_enabled,
    .look = user_look,
    .word = user_word,
    .below = user_below,
    .name_of = user_name_of,
    .prune = user_prune,
};

/* ---- Calling the policy ---------------------------------------------------------------------------- */

const char *rad__policy_function_name(uint64_t function)
{
    static const char *const names[RAD_POLICY_FUNCTIONS] = {
        [RAD_POLICY_NOT_CALLED] = "none", [RAD_POLICY_BEGIN] = "begin", [RAD_POLICY_CHANGED] = "changed",
        [RAD_POLICY_CHOOSE] = "choose",   [RAD_POLICY_RAN] = "ran",     [RAD_POLICY_END] = "end",
    };
    return function < RAD_POLICY_FUNCTIONS ? names[function] : "unknown";
}

static rad_policy_run *user_enter(user_policy *u, rad_kernel *k, enum rad_policy_function function)
{
    u->kernel = k;
    u->run.steps = k->step;
    u->run.decisions = k->decisions;
    u->run.current = k->current;
    if (k->options.beacon) k->options.beacon->function = function;
    return &u->run;
}

static void user_leave(const user_policy *u)
{
    rad_beacon *beacon = u->kernel->options.beacon;
    if (beacon) beacon->function = RAD_POLICY_NOT_CALLED;
}

static void user_begin(rad_policy *p, rad_kernel *k, const rad_run_info *info)
{
    user_policy *u = (user_policy *)p;
    const rad_policy_table *t = u->table;
    u->run = (rad_policy_run){
        .calls = &CALLS,
        .inside = u,
        .seed = info->seed,
        .run = info->run,
    };
    u->prng = rad__prng(info->seed, RAD_STREAM_POLICY, info->run);
    if (t->create == NULL && t->state_size > 0) memset(u->state, 0, t->state_size);
    for (uint32_t i = 0; i < RAD_PER_SPACES; i++) {
        if (u->words[i].used > 0) memset(u->words[i].items, 0, u->words[i].used * sizeof(uint64_t));
        u->words[i].used = 0;
    }
    rad_beacon *beacon = k->options.beacon;
    if (beacon) snprintf(beacon->policy, sizeof beacon->policy, "%s", t->name);
    rad_policy_run *r = user_enter(u, k, RAD_POLICY_BEGIN);
    if (t->begin) t->begin(u->state, r);
    user_leave(u);
}

static void user_changed(rad_policy *p, rad_kernel *k, uint32_t action, bool enabled)
{
    user_policy *u = (user_policy *)p;
    u->table->changed(u->state, user_enter(u, k, RAD_POLICY_CHANGED), action, enabled);
    user_leave(u);
}

static void user_ran(rad_policy *p, rad_kernel *k, uint32_t action, const rad_footprint *f)
{
    user_policy *u = (user_policy *)p;
    u->table->ran(u->state, user_enter(u, k, RAD_POLICY_RAN), action, f);
    user_leave(u);
}

static void user_end(rad_policy *p, rad_kernel *k, rad_estimates *into)
{
    user_policy *u = (user_policy *)p;
    (void)into;
    u->table->end(u->state, user_enter(u, k, RAD_POLICY_END));
    user_leave(u);
}

/* ---- Choosing -------------------------------------------------------------------------------------- */

static void user_wrong(const user_policy *u, uint32_t answer)
{
    rad_kernel *k = u->kernel;
    rad_error error = {0};
    char what[32];
    snprintf(what, sizeof what, answer == RAD_NONE ? "no member" : "index %u", (unsigned)answer);
    rad__error(&error, RAD_EINPUT,
               "policy '%s' answered %s in a choice among %u (decision %llu, step %llu): a mistake "
               "of the policy",
               u->table->name, what, (unsigned)u->decision->count, (unsigned long long)k->decisions,
               (unsigned long long)k->step);
    rad__kernel_error(k, RAD_EINPUT, error.text);
}

static uint32_t user_choose(rad_policy *p, rad_kernel *k, const rad_decision *d)
{
    user_policy *u = (user_policy *)p;
    bool actions = d->kind == RAD_PICK_ACTION;
    rad_policy_choice c = {
        .kind = d->kind,
        .site = d->site,
        .count = d->count,
        .baseline = actions ? rad__bitset_rank(&k->enabled, d->baseline) : 0,
        .preempts = d->preemptible,
    };
    u->decision = d;
    uint32_t index = u->table->choose(u->state, user_enter(u, k, RAD_POLICY_CHOOSE), &c);
    user_leave(u);
    if (k->ended) return 0; /* it was pruned */
    if (index < d->count) return actions ? rad__index_of(k, d, rad__bitset_select(&k->enabled, index)) : index;
    user_wrong(u, index);
    return 0;
}

/* ---- Life ------------------------------------------------------------------------------------------ */

static void user_free(user_policy *u)
{
    for (uint32_t i = 0; i < RAD_PER_SPACES; i++) rad__free(u->words[i].items);
    rad__free(u->state);
    rad__free(u);
}

static void user_destroy(rad_policy *p)
{
    user_policy *u = (user_policy *)p;
    if (u->table->destroy) u->table->destroy(u->state);
    user_free(u);
}

/* A table may return any code, and say nothing. */
static int user_refused(const rad_policy_table *t, const char *argument, const rad_error *why, rad_error *error)
{
    return rad__error(error, RAD_EINPUT, "policy '%s'%s%s: %s", t->name, argument ? ", argument " : "",
                      argument ? argument : "", why->text[0] ? why->text : "refused");
}

int rad__user_policy_create(rad_policy **p, const rad_policy_table *t, const char *argument, rad_error *error)
{
    *p = NULL;
    if (argument != NULL && t->create == NULL)
        return rad__error(error, RAD_EINPUT, "policy '%s' takes no argument, found ':%s'", t->name, argument);
    user_policy *u = rad__alloc(1, sizeof *u);
    if (u == NULL) return rad__error_memory(error);
    u->table = t;
    u->class = (rad_policy_class){
        .name = t->name,
        .about = t->about,
        .destroy = user_destroy,
        .choose = user_choose,
        .begin = user_begin,
        .changed = t->changed ? user_changed : NULL,
        .ran = t->ran ? user_ran : NULL,
        .end = t->end ? user_end : NULL,
    };
    u->base.class = &u->class;
    u->state = rad__alloc(1, t->state_size ? t->state_size : 1);
    if (u->state == NULL) {
        user_free(u);
        return rad__error_memory(error);
    }
    rad_error why = {0};
    if (t->create && t->create(u->state, argument, &why) != 0) {
        user_free(u);
        why.text[sizeof why.text - 1] = 0;
        return user_refused(t, argument, &why, error);
    }
    *p = &u->base;
    return 0;
}
