/* kernel.c — the loop. See kernel.h for the rules. */
#include "core/kernel.h"

#include "base/alloc.h"
#include "base/digest_inline.h"
#include "base/prng.h"

#include <stdio.h>
#include <string.h>

/* ---- Trace ---------------------------------------------------------------------------------------- */

static void kernel_event(rad_kernel *k, const rad_event *e)
{
    rad_trace *t = &k->trace;
    uint64_t words[4];
    memcpy(words, e, sizeof words);
    words[0] ^= t->digest.low;
    words[1] ^= t->digest.high;
    XXH128_hash_t h = XXH3_128bits(words, sizeof words);
    t->digest = (rad_digest){h.low64, h.high64};
    if (RAD_UNLIKELY(t->whole && t->count == t->capacity && !rad__trace_grow(t)))
        rad__kernel_error(k, RAD_ENOMEM, "out of memory while keeping the whole trace");
    t->events[t->count++ & (t->capacity - 1)] = *e;
}

/* ---- Decisions ------------------------------------------------------------------------------------ */

static void kernel_record(rad_kernel *k, const rad_decision *d, uint32_t chosen)
{
    uint64_t n = k->decisions;
    k->set_roll = rad__mix64(k->set_roll ^ k->set_hash) + ((uint64_t)d->count << 32 | chosen);
    if (k->choices.items == NULL) { /* nobody wants them */
        k->decisions = n + 1;
        return;
    }
    if (RAD_UNLIKELY(n >= k->choices.capacity)) {
        rad__kernel_error(k, RAD_ELIMIT, "more decisions in one run than the limit allows");
        return;
    }
    k->choices.items[n] = (rad_choice){
        .chosen = chosen,
        .count = d->count,
        .site = d->site,
        .kind = (uint16_t)d->kind,
        .flags = d->preemptible ? RAD_CHOICE_PREEMPTIBLE : 0,
    };
    k->decisions = n + 1;
    *k->choices.count = n + 1;
    if (k->decisions % RAD_SET_HASH_EVERY != 0) return;
    if (!RAD_GROW(&k->set_hashes, &k->set_hash_capacity, k->set_hash_count + 1))
        rad__kernel_error(k, RAD_ENOMEM, "out of memory while recording decisions");
    else
        k->set_hashes[k->set_hash_count++] = k->set_roll;
}

static uint32_t kernel_choose(rad_kernel *k, const rad_decision *d)
{
    uint32_t chosen = k->policy_class->choose(k->options.policy, k, d);
    if (RAD_UNLIKELY(k->ended)) return 0; /* a strict policy refused */
    if (RAD_UNLIKELY(chosen >= d->count)) {
        rad__kernel_error(k, RAD_EBUG, "a policy chose something that was not offered");
        return 0;
    }
    kernel_record(k, d, chosen);
    for (uint32_t i = 0; i < k->observer_count; i++) {
        rad_observer *o = k->options.observers[i];
        if (o->decided) o->decided(o, k, d, chosen);
    }
    return chosen;
}

uint32_t rad_pick(rad_kernel *k, enum rad_pick_kind kind, uint32_t site, uint32_t count)
{
    if (count <= 1 || k->ended) return 0;
    if (kind == RAD_PICK_ACTION || kind >= RAD_PICK_KINDS)
        kind = RAD_PICK_VALUE; /* for people only */
    rad_decision d = {.kind = kind, .site = site, .count = count, .baseline = RAD_NONE};
    uint32_t chosen = kernel_choose(k, &d);
    k->chose = true;
    kernel_event(k, &(rad_event){
                        .step = (uint32_t)k->step,
                        .kind = (uint16_t)kind,
                        .what = RAD_EVENT_PICK,
                        .actor = rad_current_actor(k),
                        .object = RAD_NONE,
                        .site = site,
                        .count = count,
                        .value = chosen,
                    });
    return chosen;
}

void rad_note(rad_kernel *k, uint32_t kind, uint32_t object, uint64_t value)
{
    kernel_event(k, &(rad_event){
                        .step = (uint32_t)k->step,
                        .kind = (uint16_t)kind,
                        .what = RAD_EVENT_NOTE,
                        .actor = rad_current_actor(k),
                        .object = object,
                        .site = RAD_NONE,
                        .value = value,
                    });
}

/* The current actor's action, if the baseline goes on with it. */
static uint32_t kernel_continuation(const rad_kernel *k)
{
    if (k->current == RAD_NONE || k->yielded || k->streak >= RAD_BASELINE_STREAK) return RAD_NONE;
    uint32_t actor = k->actions[k->current].actor;
    return actor < k->actor_count ? rad__actor_action(k, actor) : RAD_NONE;
}

/* The action to run next, or RAD_NONE when the run is over. */
static uint32_t kernel_next(rad_kernel *k)
{
    uint32_t count = k->enabled.count;
    if (RAD_UNLIKELY(count == 0)) return RAD_NONE;
    if (count == 1) return k->oldest;
    for (uint32_t i = 0; i < k->observer_count; i++) {
        rad_observer *o = k->options.observers[i];
        if (o->deciding && o->deciding(o, k)) {
            k->outcome = RAD_OUTCOME_PRUNED;
            k->ended = true;
            return RAD_NONE;
        }
    }
    uint32_t continuation = kernel_continuation(k);
    rad_decision d = {
        .kind = RAD_PICK_ACTION,
        .site = continuation != RAD_NONE ? k->actions[continuation].site : RAD_NONE,
        .count = count,
        .baseline = continuation != RAD_NONE ? continuation : k->oldest,
        /* With several actions of the actor enabled an index does not tell who would run. */
        .preemptible =
            continuation != RAD_NONE && k->actors[k->actions[continuation].actor].enabled == 1,
    };
    uint32_t index = kernel_choose(k, &d);
    return k->ended ? RAD_NONE : rad__action_at(k, &d, index);
}

/* ---- Steps ---------------------------------------------------------------------------------------- */

static void kernel_tell_ran(rad_kernel *k, uint32_t action)
{
    rad_footprint f = {k->touched, k->touched_count, k->yielded};
    if (k->policy_class->ran) k->policy_class->ran(k->options.policy, k, action, &f);
    for (uint32_t i = 0; i < k->observer_count; i++) {
        rad_observer *o = k->options.observers[i];
        if (o->ran) o->ran(o, k, action, &f);
    }
}

/* What a step without effect saw: where, what, and which value. */
static uint64_t kernel_look(const rad_kernel *k, uint32_t action, uint32_t site)
{
    uint64_t look = rad__mix2((uint64_t)action << 32 | site, k->value);
    for (uint32_t i = 0; i < k->touched_count; i++) look = rad__mix2(look, k->touched[i].object);
    return look;
}

/* After the machine's part of a step: has its actor now made the same round of looks three times? A step is a look if
 * it touched something, wrote to nothing, chose nothing, changed no actions, and said what it saw. Steps that touch
 * nothing do not count, those with an effect let the looks be forgotten. */
__attribute__((noinline)) static void kernel_recognise(rad_kernel *k, uint32_t action,
                                                       uint32_t site)
{
    uint32_t actor = k->actions[action].actor;
    bool effect = k->stirred || k->chose, reads = k->looked;
    for (uint32_t i = 0; i < k->touched_count; i++) {
        effect |= k->touched[i].access == RAD_WRITE && !k->looked;
        reads |= k->touched[i].access == RAD_READ;
    }
    if (!effect && !reads) return;
    if (effect || !k->valued) {
        k->actors[actor].looks = 0;
    } else if (!RAD_GROW(&k->looks, &k->looks_capacity, actor + 1)) {
        rad__kernel_error(k, RAD_ENOMEM, "out of memory while watching for actors that spin");
    } else if (rad__looks_add(&k->looks[actor], &k->actors[actor].looks,
                              kernel_look(k, action, site))) {
        k->yielded = k->gives_way = true;
    }
}

static void kernel_step(rad_kernel *k, uint32_t action, uint32_t offered)
{
    const rad_action_entry *a = &k->actions[action];
    rad_event event = {
        .step = (uint32_t)k->step,
        .kind = (uint16_t)a->kind,
        .what = RAD_EVENT_STEP,
        .access = a->access,
        .actor = a->actor,
        .object = a->target,
        .site = a->site,
        .count = offered,
    };
    bool same = k->current != RAD_NONE && k->actions[k->current].actor == event.actor;
    k->streak = same && !k->yielded ? k->streak + 1 : 1;
    k->switches += !same && k->current != RAD_NONE;
    k->current = action;
    k->value = 0;
    k->valued = k->looked = k->stirred = k->chose = k->yielded = k->gives_way = false;
    k->touched[0] = (rad_touched){event.object, event.access};
    k->touched_count = 1;
    if (event.site < RAD_SITES_MAX) k->reached[event.site] = 1;
    k->machine->step(k->self, k, action);
    if (RAD_LIKELY(event.access == RAD_WRITE && !k->looked) && event.actor < k->actor_count)
        k->actors[event.actor].looks = 0; /* what follows would come to the same */
    else if (k->recognises && event.actor < k->actor_count)
        kernel_recognise(k, action, event.site);
    rad__enabled_stepped(k, action);
    if (RAD_UNLIKELY(k->gives_way | k->fair.active) && k->options.fair)
        rad__fair_stepped(k, action, k->gives_way, k->chose);
    event.value = k->value;
    if (k->valued) event.access |= RAD_EVENT_VALUED;
    kernel_event(k, &event);
    if (k->machine->check && !k->ended) k->machine->check(k->self, k);
    if (k->policy_class->ran || k->observer_count) kernel_tell_ran(k, action);
    RAD_DCHECK(k->ended || rad__enabled_valid(k));
}

/* Where the run is after the step, or the reset, that a race was seen in. */
static void kernel_settle_reports(rad_kernel *k)
{
    for (; k->reports_settled < k->report_count; k->reports_settled++) {
        rad_report *r = &k->reports[k->reports_settled];
        r->steps = k->step;
        r->decisions = k->decisions;
        r->switches = k->switches;
        r->digest = k->trace.digest;
        r->set_hash_count = k->set_hash_count;
        r->set_roll = k->set_roll;
    }
}

static void kernel_beacon(rad_kernel *k)
{
    k->options.beacon->steps = k->step;
    k->options.beacon->digest_low = k->trace.digest.low;
    k->options.beacon->digest_high = k->trace.digest.high;
}

static void kernel_limit(rad_kernel *k)
{
    if (k->options.limit == RAD_LIMIT_CUTS) {
        k->outcome = RAD_OUTCOME_CUT;
        k->ended = true;
        return;
    }
    bool round = k->options.limit == RAD_LIMIT_ROUND;
    rad_fail(k, round ? RAD_ORACLE_LIVELOCK : RAD_ORACLE_STEP_LIMIT, RAD_NONE,
             "not finished after %llu steps", (unsigned long long)k->options.max_steps);
}

static void kernel_loop(rad_kernel *k, uint64_t until)
{
    while (!k->ended) {
        uint32_t offered = k->enabled.count;
        if (RAD_UNLIKELY(k->step >= until) && offered > 0) return;
        uint32_t action = kernel_next(k);
        if (action == RAD_NONE) return;
        kernel_step(k, action, offered);
        k->step++;
        if (RAD_UNLIKELY(k->reports_settled < k->report_count)) kernel_settle_reports(k);
        if (k->options.beacon) kernel_beacon(k);
    }
}

/* ---- Life ----------------------------------------------------------------------------------------- */

static void kernel_reset(rad_kernel *k, const rad_run_options *options)
{
    k->options = *options;
    if (k->options.max_steps == 0) k->options.max_steps = RAD_MAX_STEPS;
    k->policy_class = options->policy->class;
    k->observer_count = 0;
    while (k->observer_count < RAD_OBSERVERS_MAX && options->observers[k->observer_count])
        k->observer_count++;
    k->actor_count = k->object_count = 0;
    k->root_actors = k->root_objects = 0;
    rad__actions_forget(k);
    rad__bitset_clear(&k->enabled);
    rad__fair_reset(&k->fair);
    k->recognises = options->fair && !k->machine->progresses;
    k->set_hash = k->set_roll = 0;
    k->oldest = k->newest = k->current = RAD_NONE;
    k->fresh_count = k->touched_count = 0;
    k->step = k->decisions = k->switches = 0;
    k->streak = 0;
    k->set_hash_count = 0;
    if (k->choices.items != NULL) *k->choices.count = 0;
    k->yielded = k->failed = k->ended = false;
    k->outcome = RAD_OUTCOME_FINISHED;
    k->failure.oracle = RAD_NONE;
    k->report_count = k->reports_settled = 0;
    k->error.code = 0;
    rad__trace_restart(&k->trace, options->whole_trace);
}

void rad__kernel_begin(rad_kernel *k, const rad_run_options *options)
{
    kernel_reset(k, options);
    if (k->policy_class->begin) k->policy_class->begin(options->policy, k, &k->options.info);
    for (uint32_t i = 0; i < k->observer_count; i++) {
        rad_observer *o = k->options.observers[i];
        if (o->begin) o->begin(o, k);
    }
    if (k->options.beacon) kernel_beacon(k); /* reset may die, too */
    k->machine->reset(k->self, k);
    rad__enabled_settle(k);
    kernel_settle_reports(k);
    if (k->options.beacon) kernel_beacon(k);
    if (k->machine->check && !k->ended) k->machine->check(k->self, k);
}

bool rad__kernel_advance(rad_kernel *k, uint64_t steps)
{
    uint64_t left = k->options.max_steps - k->step;
    kernel_loop(k, k->step + (steps < left ? steps : left));
    if (!k->ended && k->step >= k->options.max_steps && k->enabled.count > 0) kernel_limit(k);
    return k->ended || k->enabled.count == 0;
}

enum rad_outcome rad__kernel_end(rad_kernel *k)
{
    rad_policy *policy = k->options.policy;
    rad_estimates *into = k->options.into;
    if (k->options.limit == RAD_LIMIT_FAILS) rad_evaluated(k, RAD_ORACLE_STEP_LIMIT);
    if (!k->ended) {
        rad_evaluated(k, RAD_ORACLE_DEADLOCK);
        if (k->machine->idle(k->self, k) == RAD_END_STUCK) rad__deadlock_report(k);
    }
    if (k->policy_class->end) k->policy_class->end(policy, k, into);
    if (into) {
        into->runs++;
        if (k->decisions > into->decisions_max) into->decisions_max = k->decisions;
    }
    return k->outcome;
}

enum rad_outcome rad__kernel_run(rad_kernel *k, const rad_run_options *options)
{
    rad__kernel_begin(k, options);
    rad__kernel_advance(k, UINT64_MAX);
    return rad__kernel_end(k);
}

int rad__kernel_open(rad_kernel **out, rad_choice_buffer choices, rad_error *error)
{
    rad_kernel *k = rad__alloc(1, sizeof *k);
    *out = NULL;
    if (k == NULL) return rad__error_memory(error);
    k->choices = choices;
    if (!rad__trace_open(&k->trace) || !RAD_GROW(&k->touched, &k->touched_capacity, 8)) {
        rad__kernel_close(k);
        return rad__error_memory(error);
    }
    *out = k;
    return 0;
}

void rad__kernel_use(rad_kernel *k, const rad_machine *machine, void *self)
{
    k->machine = machine;
    k->self = self;
}

void rad__kernel_close(rad_kernel *k)
{
    if (k == NULL) return;
    rad__free(k->actors);
    rad__free(k->objects);
    rad__free(k->actions);
    rad__free(k->intern);
    rad__free(k->intern_stamp);
    rad__free(k->fresh);
    rad__free(k->touched);
    rad__free(k->set_hashes);
    rad__free(k->looks);
    rad__fair_free(&k->fair);
    rad__bitset_free(&k->enabled);
    rad__trace_free(&k->trace);
    rad__free(k);
}
