/* report.c — what a machine says during a step: values, touches, waits, failures. */
#include "core/kernel.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdio.h>
#include <string.h>

void rad_announce(rad_kernel *k, uint32_t action, uint32_t site, uint32_t object,
                  enum rad_access access)
{
    if (action >= k->action_count) return;
    rad_action_entry *a = &k->actions[action];
    a->site = site;
    a->target = object;
    a->access = (uint8_t)access;
    if (k->policy_class->announced) k->policy_class->announced(k->options.policy, k, action);
}

void rad_touch(rad_kernel *k, uint32_t object, enum rad_access access)
{
    if (!RAD_GROW(&k->touched, &k->touched_capacity, k->touched_count + 1)) {
        rad__kernel_error(k, RAD_ENOMEM, "out of memory while noting what a step touched");
        return;
    }
    k->touched[k->touched_count++] = (rad_touched){object, access};
}

void rad_value(rad_kernel *k, uint64_t value)
{
    k->value = value;
    k->valued = true;
}

void rad_yields(rad_kernel *k)
{
    k->yielded = true;
}

void rad_wait(rad_kernel *k, uint32_t actor, uint32_t object, uint32_t holder)
{
    if (actor >= k->actor_count) return;
    k->actors[actor].waiting = true;
    k->actors[actor].waits_for = object;
    k->actors[actor].holder = holder;
}

void rad_ended(rad_kernel *k, uint32_t actor)
{
    if (actor >= k->actor_count) return;
    k->actors[actor].ended = true;
    k->actors[actor].waiting = false;
}

void rad_evaluated(rad_kernel *k, uint32_t oracle)
{
    if (RAD_UNLIKELY(oracle >= RAD_ORACLES_MAX))
        rad__kernel_error(k, RAD_EINPUT, "the machine evaluates an oracle that does not exist");
    else
        k->evaluations[oracle]++;
}

/* The first failure counts: what follows in the same step is its consequence. */
static bool failure_begin(rad_kernel *k, uint32_t oracle)
{
    if (k->ended) return false;
    k->ended = k->failed = true;
    k->outcome = RAD_OUTCOME_FAILED;
    k->failure.oracle = oracle;
    k->failure.step = k->step;
    return true;
}

void rad_fail(rad_kernel *k, uint32_t oracle, uint32_t object, const char *format, ...)
{
    if (!failure_begin(k, oracle)) return;
    rad_failure *f = &k->failure;
    va_list args;
    va_start(args, format);
    vsnprintf(f->message, sizeof f->message, format, args);
    va_end(args);
    const char *name = rad_oracle_name(k->machine, oracle);
    if (name == NULL) name = "unnamed";
    if (object < k->object_count)
        snprintf(f->identity, sizeof f->identity, "%.40s:%.64s", name, k->objects[object].role);
    else
        snprintf(f->identity, sizeof f->identity, "%.40s", name);
}

void rad__kernel_diverge(rad_kernel *k, const char *format, ...)
{
    if (k->ended) return;
    k->ended = true;
    k->outcome = RAD_OUTCOME_DIVERGED;
    k->error.code = RAD_EINPUT;
    va_list args;
    va_start(args, format);
    vsnprintf(k->error.text, sizeof k->error.text, format, args);
    va_end(args);
}

/* ---- Deadlock: who waits for what, and who has it ------------------------------------------------- */

static void append(char *text, size_t size, const char *format, ...) RAD_PRINTF(3, 4);
static void append(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + used, size - used, format, args);
    va_end(args);
}

/* Roles waited for, each once, in alphabetical order: equal for equal bugs of different size. */
static void deadlock_identity(rad_kernel *k)
{
    rad_failure *f = &k->failure;
    const char *last = "";
    snprintf(f->identity, sizeof f->identity, "deadlock");
    for (;;) {
        const char *next = NULL;
        for (uint32_t i = 0; i < k->actor_count; i++) {
            const rad_actor_entry *a = &k->actors[i];
            if (!a->waiting || a->waits_for >= k->object_count) continue;
            const char *role = k->objects[a->waits_for].role;
            if (strcmp(role, last) > 0 && (next == NULL || strcmp(role, next) < 0)) next = role;
        }
        if (next == NULL) return;
        append(f->identity, sizeof f->identity, "%c%s", *last ? '+' : ':', next);
        last = next;
    }
}

void rad__deadlock_report(rad_kernel *k)
{
    if (!failure_begin(k, RAD_ORACLE_DEADLOCK)) return;
    rad_failure *f = &k->failure;
    char who[RAD_NAME_MAX], what[RAD_NAME_MAX], holder[RAD_NAME_MAX];
    snprintf(f->message, sizeof f->message, "deadlock:");
    bool any = false;
    for (uint32_t i = 0; i < k->actor_count; i++) {
        const rad_actor_entry *a = &k->actors[i];
        if (!a->waiting) continue;
        rad__actor_name(k, i, who);
        rad__object_name(k, a->waits_for, what);
        rad__actor_name(k, a->holder, holder);
        append(f->message, sizeof f->message, "%s %s waits for %s", any ? ";" : "", who, what);
        if (a->holder != RAD_NONE) append(f->message, sizeof f->message, " (held by %s)", holder);
        any = true;
    }
    if (!any)
        append(f->message, sizeof f->message, " nothing can run and the machine is not finished");
    deadlock_identity(k);
}

/* ---- Looking -------------------------------------------------------------------------------------- */

uint64_t rad_step_count(const rad_kernel *k)
{
    return k->step;
}

uint32_t rad_current_actor(const rad_kernel *k)
{
    return k->current < k->action_count ? k->actions[k->current].actor : RAD_NONE;
}

bool rad_is_enabled(const rad_kernel *k, uint32_t action)
{
    return rad__bitset_has(&k->enabled, action);
}

uint32_t rad_enabled_count(const rad_kernel *k)
{
    return k->enabled.count;
}
