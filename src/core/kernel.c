/* kernel.c — the loop. See kernel.h for the rules. */
#include "core/kernel.h"

#include "base/alloc.h"
#include "base/prng.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* ---- Trace ---------------------------------------------------------------------------------------- */

/* Between a beacon and its trace: folded events of the trace <= events of the beacon => both have folded the same;
 * otherwise the beacon has folded all its events. So it can always be brought up to date. */
static void kernel_fold(rad_kernel *k)
{
    rad_trace *t = &k->trace;
    rad_beacon *b = k->options.beacon;
    if (b && b->folded < b->events) {
        rad__trace_fold(t, b->events);
        b->digest_low = t->digest.low;
        b->digest_high = t->digest.high;
        b->folded = t->folded;
    }
    rad__trace_fold(t, t->count);
}

rad_digest rad__kernel_digest(const rad_kernel *k)
{
    const rad_trace *t = &k->trace;
    return rad__digest_events(t->digest, t->events, t->capacity, t->folded, t->count);
}

rad_digest rad__beacon_digest(const rad_beacon *b)
{
    rad_digest d = {b->digest_low, b->digest_high};
    uint64_t from = b->folded, to = b->events;
    if (to - from > RAD_TRACE_KEEP) return d; /* whatever died has written here, too */
    return rad__digest_events(d, b->ring, RAD_TRACE_KEEP, from, to);
}

static void kernel_event_room(rad_kernel *k)
{
    if (k->trace.whole && rad__trace_grow(&k->trace)) return;
    if (k->trace.failed) rad__kernel_error(k, RAD_ENOMEM, "out of memory while keeping the whole trace");
    kernel_fold(k);
}

/* An event is made as four words, the first of which is event_head: if it were made of its fields, the compiler would
 * gather them in memory and load what it has just stored in larger pieces, which a processor has to wait for. */
static inline uint64_t event_head(const rad_kernel *k, enum rad_event_what what, uint32_t kind, uint32_t access)
{
    return (uint32_t)k->step | (uint64_t)(kind & 0xffff) << 32 | (uint64_t)what << 48 | (uint64_t)access << 56;
}

static inline uint64_t event_pair(uint32_t low, uint32_t high)
{
    return low | (uint64_t)high << 32;
}

RAD_INLINE void kernel_event(rad_kernel *k, uint64_t head, uint64_t actor_object, uint64_t site_count, uint64_t value)
{
    rad_trace *t = &k->trace;
    if (RAD_UNLIKELY(t->count == t->limit)) kernel_event_room(k);
    char *to = (char *)&t->events[t->count++ & (t->capacity - 1)];
    memcpy(to, &head, 8);
    memcpy(to + 8, &actor_object, 8);
    memcpy(to + 16, &site_count, 8);
    memcpy(to + 24, &value, 8);
}

_Static_assert(offsetof(rad_event, kind) == 4 && offsetof(rad_event, what) == 6, "event_head");
_Static_assert(offsetof(rad_event, access) == 7 && offsetof(rad_event, actor) == 8, "event_head");
_Static_assert(offsetof(rad_event, site) == 16 && offsetof(rad_event, value) == 24, "words");

/* ---- Decisions ------------------------------------------------------------------------------------ */

static void kernel_keep_roll(rad_kernel *k)
{
    if (!RAD_GROW(&k->set_hashes, &k->set_hash_capacity, k->set_hash_count + 1))
        rad__kernel_error(k, RAD_ENOMEM, "out of memory while recording decisions");
    else
        k->set_hashes[k->set_hash_count++] = k->set_roll;
}

static inline void kernel_record(rad_kernel *k, const rad_decision *d, uint32_t chosen)
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
    if (RAD_UNLIKELY(k->decisions % RAD_SET_HASH_EVERY == 0)) kernel_keep_roll(k);
}

static void kernel_tell_decided(rad_kernel *k, const rad_decision *d, uint32_t chosen)
{
    for (uint32_t i = 0; i < k->observer_count; i++) {
        rad_observer *o = k->options.observers[i];
        if (o->decided) o->decided(o, k, d, chosen);
    }
}

RAD_INLINE uint32_t kernel_choose(rad_kernel *k, const rad_decision *d)
{
    uint32_t chosen = k->policy_class->choose(k->options.policy, k, d);
    if (RAD_UNLIKELY(k->ended)) return 0; /* a strict policy refused */
    if (RAD_UNLIKELY(chosen >= d->count)) {
        rad__kernel_error(k, RAD_EBUG, "a policy chose something that was not offered");
        return 0;
    }
    kernel_record(k, d, chosen);
    if (RAD_UNLIKELY(k->observed_decided)) kernel_tell_decided(k, d, chosen);
    return chosen;
}

uint32_t rad_pick(rad_kernel *k, enum rad_pick_kind kind, uint32_t site, uint32_t count)
{
    if (count <= 1 || k->ended) return 0;
    if (kind == RAD_PICK_ACTION || kind >= RAD_PICK_KINDS) kind = RAD_PICK_VALUE; /* for people only */
    rad_decision d = {.kind = kind, .site = site, .count = count, .baseline = RAD_NONE};
    uint32_t chosen = kernel_choose(k, &d);
    k->chose = true;
    for (uint32_t i = 0; i < k->observer_count && !k->ended; i++) {
        rad_observer *o = k->options.observers[i];
        if (o->picked) o->picked(o, k, &d, chosen);
    }
    kernel_event(k, event_head(k, RAD_EVENT_PICK, kind, 0), event_pair(rad_current_actor(k), RAD_NONE),
                 event_pair(site, count), chosen);
    return chosen;
}

void rad_note(rad_kernel *k, uint32_t kind, uint32_t object, uint64_t value)
{
    kernel_event(k, event_head(k, RAD_EVENT_NOTE, kind, 0), event_pair(rad_current_actor(k), object),
                 event_pair(RAD_NONE, 0), value);
}

/* The current actor's action, if the baseline goes on with it. Nearly always that is the action that ran: a branch says
 * so, not a load, because who ran is known long before what the step wrote to its actor can be read back. */
static inline uint32_t kernel_continuation(const rad_kernel *k)
{
    if (k->current == RAD_NONE || k->yielded || k->streak >= RAD_BASELINE_STREAK) return RAD_NONE;
    const rad_action_entry *a = &k->actions[k->current];
    if (a->actor >= k->actor_count) return RAD_NONE;
    if (RAD_LIKELY(k->actors[a->actor].enabled == 1 && a->link == RAD_LINK_LIST)) return k->current;
    return rad__actor_action(k, a->actor);
}

/* Who has waited longest. One that yielded comes after all others, also after those that its step let come back:
 * they are behind its action in the list. */
static uint32_t kernel_oldest(const rad_kernel *k)
{
    if (!k->yielded || k->current == RAD_NONE) return k->oldest;
    uint32_t actor = k->actions[k->current].actor, next = k->oldest;
    while (next != RAD_NONE && k->actions[next].actor == actor) next = k->actions[next].newer;
    return next != RAD_NONE && actor != RAD_NONE ? next : k->oldest;
}

static bool kernel_is_pruned(rad_kernel *k)
{
    for (uint32_t i = 0; i < k->observer_count && !k->ended; i++) {
        rad_observer *o = k->options.observers[i];
        if (o->deciding == NULL || !o->deciding(o, k)) continue;
        k->outcome = RAD_OUTCOME_PRUNED;
        k->ended = true;
    }
    return k->ended;
}

/* The action to run next, or RAD_NONE when the run is over. */
static inline uint32_t kernel_next(rad_kernel *k)
{
    uint32_t count = k->enabled.count;
    if (RAD_UNLIKELY(count == 0)) return RAD_NONE;
    if (count == 1) return k->oldest;
    if (RAD_UNLIKELY(k->observed_deciding) && kernel_is_pruned(k)) return RAD_NONE;
    uint32_t continuation = kernel_continuation(k);
    rad_decision d = {
        .kind = RAD_PICK_ACTION,
        .site = continuation != RAD_NONE ? k->actions[continuation].site : RAD_NONE,
        .count = count,
        .baseline = continuation != RAD_NONE ? continuation : kernel_oldest(k),
        /* With several actions of the actor enabled an index does not tell who would run. */
        .preemptible = continuation != RAD_NONE && k->actors[k->actions[continuation].actor].enabled == 1,
    };
    uint32_t index = kernel_choose(k, &d);
    return k->ended ? RAD_NONE : rad__action_at(k, &d, index);
}

/* ---- Steps ---------------------------------------------------------------------------------------- */

static void kernel_tell_ran(rad_kernel *k, uint32_t action)
{
    const rad_footprint f = {k->touched, k->touched_count, k->yielded};
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

bool rad__spared(rad_kernel *k, uint32_t actor, uint32_t rounds)
{
    uint32_t most = k->options.spin_rounds;
    if (RAD_LIKELY(most == 0) || actor >= k->actor_count) return false;
    rad_actor_entry *a = &k->actors[actor];
    uint32_t left = most - a->spared;
    if (left == 0 || left < rounds) {
        k->fair.spent = true;
        return false;
    }
    a->spared += rounds;
    k->spared = true;
    k->streak = 0; /* the baseline stays with it, however long */
    return true;
}

/* A round of p looks counts once, at its end. */
static bool spin_is_spared(rad_kernel *k, uint32_t actor)
{
    rad_actor_entry *a = &k->actors[actor];
    bool ends = ++a->spared_looks >= a->spins;
    if (ends) a->spared_looks = 0;
    return rad__spared(k, actor, ends);
}

static void spin_look(rad_kernel *k, uint32_t actor, uint64_t look, bool private)
{
    rad_actor_entry *a = &k->actors[actor];
    if (!RAD_GROW(&k->looks, &k->looks_capacity, actor + 1)) {
        rad__kernel_error(k, RAD_ENOMEM, "out of memory while watching for actors that spin");
        return;
    }
    a->spins = rad__looks_add(&k->looks[actor], &a->looks, look, private);
    k->idles = true;
    if (a->spins && !spin_is_spared(k, actor)) k->yielded = k->gives_way = true;
}

void rad__spin_saw(rad_kernel *k, uint32_t actor, uint64_t look, bool private)
{
    if (RAD_LIKELY(look == 0)) {
        k->actors[actor].looks = 0;
    } else if (k->options.fair) {
        k->looked = true;
        spin_look(k, actor, look, private);
    }
}

/* After the machine's part of a step: has its actor now made the same round of looks three times? A step is a look if
 * it touched something, wrote to nothing, chose nothing, changed no actions, and said what it saw. Steps that touch
 * nothing do not count, those with an effect let the looks be forgotten. So do those that yield: such a loop needs
 * nobody who recognises it. */
__attribute__((noinline)) static void kernel_recognise(rad_kernel *k, uint32_t action, uint32_t site)
{
    uint32_t actor = k->actions[action].actor;
    bool effect = k->stirred || k->chose || k->gives_way || k->spared, reads = k->looked;
    for (uint32_t i = 0; i < k->touched_count; i++) {
        effect |= k->touched[i].access == RAD_WRITE && !k->looked;
        reads |= k->touched[i].access == RAD_READ;
    }
    if (!effect && !reads) return;
    if (effect || !k->valued)
        k->actors[actor].looks = 0;
    else
        spin_look(k, actor, kernel_look(k, action, site), false);
}

/* Who ran before and who runs now is what chance decides here: no branch may depend on it. */
static inline void kernel_turn(rad_kernel *k, uint32_t action, uint32_t actor)
{
    bool any = k->current != RAD_NONE;
    bool same = any && k->actions[k->current].actor == actor;
    k->streak = (k->streak & -(uint32_t)(same & !k->yielded)) + 1;
    k->switches += !same & any;
    k->current = action;
}

static inline void kernel_step(rad_kernel *k, uint32_t action, uint32_t offered)
{
    const rad_action_entry *a = &k->actions[action];
    uint64_t head = event_head(k, RAD_EVENT_STEP, a->kind, a->access);
    uint64_t actor_object = event_pair(a->actor, a->target);
    uint64_t site_count = event_pair(a->site, offered);
    kernel_turn(k, action, a->actor);
    k->value = 0;
    k->valued = k->looked = k->stirred = k->chose = k->yielded = k->gives_way = k->spared = k->idles = false;
    k->touched[0] = (rad_touched){a->target, a->access};
    k->touched_count = 1;
    if (a->site < RAD_SITES_MAX) k->reached[a->site] = 1;
    k->machine->step(k->self, k, action);
    uint32_t actor = (uint32_t)actor_object;
    if (RAD_LIKELY(head >> 56 == RAD_WRITE && !k->looked) && actor < k->actor_count)
        k->actors[actor].looks = 0; /* what follows would come to the same */
    else if (k->recognises && actor < k->actor_count)
        kernel_recognise(k, action, (uint32_t)site_count);
    rad__enabled_stepped(k, action);
    if (RAD_UNLIKELY(k->gives_way | k->fair.active) && k->options.fair)
        rad__fair_stepped(k, action, k->gives_way, k->idles, k->chose);
    head |= (uint64_t)(k->valued ? RAD_EVENT_VALUED : 0) << 56;
    kernel_event(k, head, actor_object, site_count, k->value);
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
        r->digest = rad__kernel_digest(k);
        r->set_hash_count = k->set_hash_count;
        r->set_roll = k->set_roll;
    }
}

/* A whole trace lies elsewhere: then the beacon needs the digest of every step. */
static inline void kernel_beacon(rad_kernel *k)
{
    rad_beacon *b = k->options.beacon;
    b->steps = k->step;
    b->events = k->trace.count;
    if (RAD_UNLIKELY(b->folded != k->trace.folded || k->trace.whole)) kernel_fold(k);
}

static void kernel_beacon_begin(rad_beacon *b)
{
    b->steps = b->events = b->folded = 0;
    for (uint32_t i = 0; b->suppressed && i < RAD_PATTERNS_TOLD; i++) b->suppressed_by[i] = 0;
    b->suppressed = 0;
    b->digest_low = RAD_TRACE_VERSION;
    b->digest_high = 0;
}

static void kernel_limit(rad_kernel *k)
{
    if (k->options.limit == RAD_LIMIT_CUTS) {
        k->outcome = RAD_OUTCOME_CUT;
        k->ended = true;
        return;
    }
    bool round = k->options.limit == RAD_LIMIT_ROUND;
    rad_fail(k, round ? RAD_ORACLE_LIVELOCK : RAD_ORACLE_STEP_LIMIT, RAD_NONE, "not finished after %llu steps",
             (unsigned long long)k->options.max_steps);
}

/* Between two steps: the actor of the last one yields, if it made all of the last RAD_TURN ones and has not done so by
 * itself. Windows cost time for each actor in each step, so crowds go without. */
static void kernel_turn_ends(rad_kernel *k)
{
    k->turn += RAD_TURN;
    if (k->gives_way || k->streak < RAD_TURN || k->actor_count > RAD_TURN_CROWD) return;
    if (rad__spared(k, rad_current_actor(k), RAD_TURN)) return;
    k->step--; /* it is part of that step */
    rad__fair_stepped(k, k->current, true, false, k->chose);
    k->step++;
}

/* Between two steps. A large set takes its time, so it is looked at less often. */
static void kernel_check(rad_kernel *k)
{
    uint64_t pause = k->enabled.count < RAD_CHECK_EVERY / 64 ? RAD_CHECK_EVERY : 64 * (uint64_t)k->enabled.count;
    RAD_ASSERT(rad__enabled_valid(k));
    k->check_at = k->step + (k->options.check ? 1 : pause);
    k->unchecked = 0;
}

static uint64_t kernel_pause(const rad_kernel *k, uint64_t until)
{
    uint64_t pause = k->turn < until ? k->turn : until;
    return k->check_at < pause ? k->check_at : pause;
}

RAD_NO_CANARY static void kernel_loop(rad_kernel *k, uint64_t until)
{
    uint64_t pause = kernel_pause(k, until);
    while (!k->ended) {
        if (RAD_UNLIKELY(k->step >= pause) && k->enabled.count > 0) {
            if (k->step == k->turn) kernel_turn_ends(k);
            if (k->step >= k->check_at) kernel_check(k);
            if (k->step >= until) return;
            pause = kernel_pause(k, until);
            continue;
        }
        uint32_t offered = k->enabled.count;
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
    k->observed_deciding = k->observed_decided = false;
    while (k->observer_count < RAD_OBSERVERS_MAX && options->observers[k->observer_count]) {
        const rad_observer *o = options->observers[k->observer_count++];
        k->observed_deciding |= o->deciding != NULL;
        k->observed_decided |= o->decided != NULL;
    }
    k->actor_count = k->object_count = 0;
    k->root_actors = k->root_objects = 0;
    rad__actions_forget(k);
    rad__bitset_clear(&k->enabled);
    rad__fair_reset(&k->fair);
    k->recognises = options->fair && !k->machine->progresses;
    k->turn = k->recognises ? RAD_TURN : UINT64_MAX;
    k->check_at = options->check ? 0 : RAD_CHECK_EVERY;
    k->round_state = NULL;
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
    rad_beacon *beacon = options->beacon;
    rad__trace_restart(&k->trace, options->whole_trace, beacon ? beacon->ring : NULL);
    if (beacon) kernel_beacon_begin(beacon); /* the machine's reset may die, too */
}

void rad__turns_are_long(rad_kernel *k)
{
    if (k->options.fair) k->turn = RAD_TURN;
}

void rad__kernel_begin(rad_kernel *k, const rad_run_options *options)
{
    kernel_reset(k, options);
    if (k->policy_class->begin) k->policy_class->begin(options->policy, k, &k->options.info);
    for (uint32_t i = 0; i < k->observer_count; i++) {
        rad_observer *o = k->options.observers[i];
        if (o->begin) o->begin(o, k);
    }
    k->machine->reset(k->self, k);
    rad__enabled_settle(k);
    kernel_settle_reports(k);
    if (k->options.beacon) kernel_beacon(k);
    if (k->machine->check && !k->ended) k->machine->check(k->self, k);
    if (!k->options.digest_later) kernel_fold(k);
}

bool rad__kernel_advance(rad_kernel *k, uint64_t steps)
{
    uint64_t left = k->options.max_steps - k->step;
    kernel_loop(k, k->step + (steps < left ? steps : left));
    if (!k->ended && k->step >= k->options.max_steps && k->enabled.count > 0) kernel_limit(k);
    if (!k->options.digest_later) kernel_fold(k);
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
        k->unchecked += k->step; /* runs are short, most of them: not at the end of each */
        if (k->options.check || k->unchecked >= RAD_CHECK_EVERY) kernel_check(k);
    }
    if (!k->options.digest_later) kernel_fold(k);
    if (k->policy_class->end) k->policy_class->end(policy, k, into);
    if (into) into->runs++;
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
    rad__free(k->suppressed_by);
    rad__fair_free(&k->fair);
    rad__bitset_free(&k->enabled);
    rad__trace_free(&k->trace);
    rad__free(k);
}
