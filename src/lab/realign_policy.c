/* realign_policy.c — the policy `realign`. See realign.h for its rules. */
#include "lab/realign.h"

#include "base/alloc.h"
#include "os/shared.h"

#include <stdio.h>
#include <string.h>

enum {
    LOOK_AHEAD = 256, /* steps of one actor */
    PATIENCE = 64     /* new steps of one actor in a row: it may wait for somebody who is not let */
};

enum how { HOW_EXACT = 0, HOW_RENAMED, HOW_SKIPPED, HOW_NEW, HOW_BEYOND };

/* What a step of the run is in the recording. */
typedef struct match {
    uint32_t due; /* the recorded step that it is, or before which it comes; RAD_NONE: after all */
    enum how how;
    bool alone; /* the actor cannot do anything else: what is before it in the queue is skipped */
} match;

typedef struct realign_policy {
    rad_policy base;
    rad_realign_options options;
    rad_path_recorder recorder; /* of the run */
    rad_realign_shared *shared;
    size_t mapping_size;
    /* Of the recording. */
    uint32_t *order;        /* steps, actor by actor: the queues */
    uint32_t *front;        /* per actor: the front of its queue */
    uint32_t *back;         /* and its end */
    uint32_t *picks;        /* per step: its first pick; one more at the end */
    uint32_t *kernel_actor; /* per actor: who it is in the run, RAD_NONE while nobody */
    uint32_t *renamed;      /* per site: what it is called now (site of the run), or RAD_NONE */
    /* Of the run. */
    uint32_t *actor_match; /* actor of the path -> recorded one plus one, 0: not known yet, RAD_NONE: nobody */
    uint32_t *planned;     /* … -> that of the plan plus one, 0: none */
    uint32_t *stepped;     /* … -> how many steps */
    uint32_t *strayed;     /* … -> how many new ones in a row; PATIENCE at once when it yields */
    uint32_t *site_match;  /* site of the path -> recorded one plus one, 0: not known yet, RAD_NONE: none */
    uint32_t match_capacity, planned_capacity, stepped_capacity, strayed_capacity, site_capacity;
    uint32_t seen;     /* actors of the kernel that were met */
    uint32_t furthest; /* recorded step that was found */
    /* The step to come, or under way. */
    uint32_t action;
    match match;
    uint32_t pick;
    bool foreseen; /* why it is not the expected one is known */
    bool out;      /* of step with the recording */
} realign_policy;

/* ---- Names of the run and of the recording ----------------------------------------------------------- */

static bool grow(rad_kernel *k, uint32_t **list, uint32_t *capacity, uint32_t need)
{
    if (RAD_GROW(list, capacity, need)) return true;
    rad__kernel_error(k, RAD_ENOMEM, "out of memory while following a path");
    return false;
}

static uint32_t plan_actor(const rad_realign_plan *plan, const char *name)
{
    return plan ? rad__path_find_actor(plan->run, name) : RAD_NONE;
}

/* Whether the plan has given the recorded actor to somebody. */
static bool is_given(const rad_realign_plan *plan, uint32_t recorded)
{
    for (uint32_t i = 0; plan && i < plan->run->actor_count; i++)
        if (plan->actor_of[i] == recorded) return true;
    return false;
}

/* The recorded actor that `actor` of the kernel is, or RAD_NONE; *now is its index in the path of the run. */
static uint32_t recorded_actor(realign_policy *p, rad_kernel *k, uint32_t actor, uint32_t *now)
{
    const rad_realign_plan *plan = p->options.plan;
    const rad_path *run = &p->recorder.shared->path;
    *now = rad__path_actor(&p->recorder, k, actor);
    if (!grow(k, &p->actor_match, &p->match_capacity, *now + 1) ||
        !grow(k, &p->planned, &p->planned_capacity, *now + 1) ||
        !grow(k, &p->stepped, &p->stepped_capacity, *now + 1) || !grow(k, &p->strayed, &p->strayed_capacity, *now + 1))
        return RAD_NONE;
    uint32_t known = p->actor_match[*now];
    if (known != 0) return known == RAD_NONE ? RAD_NONE : known - 1;
    const char *name = run->actors[*now];
    uint32_t planned = plan_actor(plan, name);
    uint32_t found = planned != RAD_NONE ? plan->actor_of[planned] : rad__path_find_actor(p->options.recorded, name);
    if (planned == RAD_NONE && found != RAD_NONE && is_given(plan, found)) found = RAD_NONE;
    p->planned[*now] = planned == RAD_NONE ? 0 : planned + 1;
    p->actor_match[*now] = found == RAD_NONE ? RAD_NONE : found + 1;
    if (found != RAD_NONE) p->kernel_actor[found] = actor;
    return found;
}

static uint32_t recorded_site(realign_policy *p, rad_kernel *k, uint32_t site)
{
    if (!grow(k, &p->site_match, &p->site_capacity, site + 1)) return RAD_NONE;
    if (p->site_match[site] == 0) {
        uint32_t found = rad__path_find_site(p->options.recorded, p->recorder.shared->path.sites[site]);
        p->site_match[site] = found == RAD_NONE ? RAD_NONE : found + 1;
    }
    return p->site_match[site] == RAD_NONE ? RAD_NONE : p->site_match[site] - 1;
}

static bool is_site(realign_policy *p, rad_kernel *k, uint32_t recorded, uint32_t now)
{
    return recorded_site(p, k, now) == recorded || p->renamed[recorded] == now;
}

/* A site that is new, in the place of one that is gone: the same, under another name. */
static bool is_new_name(realign_policy *p, rad_kernel *k, uint32_t recorded, uint32_t now)
{
    return p->options.vanished[recorded] && p->renamed[recorded] == RAD_NONE && recorded_site(p, k, now) == RAD_NONE;
}

static bool is_about(realign_policy *p, rad_kernel *k, uint32_t step, uint32_t action)
{
    const rad_path *r = p->options.recorded, *run = &p->recorder.shared->path;
    uint32_t object = rad__path_object(&p->recorder, k, action);
    return rad__path_same_object(r->objects[r->steps[step].object], run->objects[object]);
}

/* … of a step, if it is about the same object. */
static bool is_renamed(realign_policy *p, rad_kernel *k, uint32_t step, uint32_t action)
{
    uint32_t recorded = p->options.recorded->steps[step].site;
    return is_new_name(p, k, recorded, rad__path_site(&p->recorder, k, action)) && is_about(p, k, step, action);
}

static bool is_step(realign_policy *p, rad_kernel *k, uint32_t step, uint32_t action)
{
    uint32_t recorded = p->options.recorded->steps[step].site;
    return is_site(p, k, recorded, rad__path_site(&p->recorder, k, action)) &&
           (!p->options.by_name || is_about(p, k, step, action));
}

/* ---- Queues ------------------------------------------------------------------------------------------- */

static uint32_t front_of(realign_policy *p, uint32_t actor)
{
    uint32_t *at = &p->front[actor];
    while (*at < p->back[actor] && p->shared->steps[p->order[*at]] != RAD_STEP_WAITS) (*at)++;
    return *at < p->back[actor] ? p->order[*at] : RAD_NONE;
}

static bool is_here(const realign_policy *p, const rad_kernel *k, uint32_t actor)
{
    uint32_t now = p->kernel_actor[actor];
    if (now == RAD_NONE) return false;
    return now >= k->actor_count || !k->actors[now].ended;
}

/* The next recorded step; `here`: of those whose actor exists. */
static uint32_t expected(realign_policy *p, const rad_kernel *k, bool here)
{
    uint32_t first = RAD_NONE; /* the largest number there is */
    for (uint32_t i = 0; i < p->options.recorded->actor_count; i++) {
        if (here && !is_here(p, k, i)) continue;
        uint32_t front = front_of(p, i);
        if (front < first) first = front;
    }
    return first;
}

static uint32_t later_in_queue(realign_policy *p, rad_kernel *k, uint32_t actor, uint32_t action)
{
    uint32_t looked = 0;
    for (uint32_t i = p->front[actor]; i < p->back[actor] && looked < LOOK_AHEAD; i++) {
        uint32_t step = p->order[i];
        if (p->shared->steps[step] != RAD_STEP_WAITS) continue;
        if (is_step(p, k, step, action)) return step;
        looked++;
    }
    return RAD_NONE;
}

/* ---- What a step is in the recording -------------------------------------------------------------------- */

/* By the plan, while the actor does what it did in the run that the plan was made from. */
static bool match_planned(realign_policy *p, uint32_t now, uint32_t site, uint32_t front, match *m)
{
    const rad_realign_plan *plan = p->options.plan;
    uint32_t planned = p->planned[now];
    if (plan == NULL || planned == 0) return false;
    uint32_t at = plan->from[planned - 1] + p->stepped[now], end = plan->from[planned];
    if (at >= end) return false;
    const char *name = p->recorder.shared->path.sites[site];
    if (strcmp(plan->run->sites[plan->run->steps[plan->order[at]].site], name) != 0) return false;
    uint32_t step = plan->step_of[plan->order[at]];
    if (step != RAD_NONE && p->shared->steps[step] == RAD_STEP_WAITS) {
        *m = (match){step, step == front ? HOW_EXACT : HOW_SKIPPED, m->alone};
        return true;
    }
    for (; at < end; at++) { /* new: before the next one that is not */
        step = plan->step_of[plan->order[at]];
        if (step != RAD_NONE && p->shared->steps[step] == RAD_STEP_WAITS) break;
    }
    *m = (match){at < end ? step : RAD_NONE, at < end ? HOW_NEW : HOW_BEYOND, m->alone};
    return true;
}

static match match_step(realign_policy *p, rad_kernel *k, uint32_t action, bool alone)
{
    uint32_t now, site = rad__path_site(&p->recorder, k, action);
    uint32_t actor = recorded_actor(p, k, k->actions[action].actor, &now);
    match m = {RAD_NONE, HOW_BEYOND, alone};
    if (actor == RAD_NONE) return m;
    uint32_t front = front_of(p, actor);
    if (match_planned(p, now, site, front, &m) || front == RAD_NONE) return m;
    uint32_t wanted = p->options.recorded->steps[front].site;
    m.due = front;
    m.how = HOW_EXACT;
    if (is_step(p, k, front, action)) return m;
    uint32_t later = later_in_queue(p, k, actor, action);
    if (later == RAD_NONE) {
        m.how = is_renamed(p, k, front, action) ? HOW_RENAMED : HOW_NEW;
        return m;
    }
    bool certain = !alone || p->options.vanished[wanted];
    if (!certain) p->shared->ambiguous = true;
    bool inserts = p->options.inserts && !certain;
    return (match){inserts ? front : later, inserts ? HOW_NEW : HOW_SKIPPED, alone};
}

static match match_action(realign_policy *p, rad_kernel *k, uint32_t action, bool alone)
{
    uint32_t now;
    match m = match_step(p, k, action, alone);
    recorded_actor(p, k, k->actions[action].actor, &now);
    if (m.how == HOW_NEW && !k->ended && p->strayed[now] >= PATIENCE) m.due = RAD_NONE;
    return m;
}

static bool is_alone(const rad_kernel *k, uint32_t action)
{
    uint32_t actor = k->actions[action].actor;
    return actor < k->actor_count && k->actors[actor].enabled <= 1;
}

/* ---- Why -------------------------------------------------------------------------------------------------- */

static const char *site_now(realign_policy *p, rad_kernel *k, uint32_t action)
{
    return p->recorder.shared->path.sites[rad__path_site(&p->recorder, k, action)];
}

/* What the actor of the recorded step does instead. */
static void tell_actor(realign_policy *p, rad_kernel *k, uint32_t step, char *text, size_t size)
{
    const rad_path_step *s = &p->options.recorded->steps[step];
    uint32_t actor = p->kernel_actor[s->actor];
    const char *who = p->options.recorded->actors[s->actor];
    if (actor == RAD_NONE) {
        snprintf(text, size, "there is no %s", who);
        return;
    }
    if (actor >= k->actor_count) {
        snprintf(text, size, "that cannot happen now");
        return;
    }
    const rad_actor_entry *a = &k->actors[actor];
    uint32_t action = rad__actor_action(k, actor);
    char object[RAD_NAME_MAX], holder[RAD_NAME_MAX];
    rad__object_name(k, a->waits_for, object);
    rad__actor_name(k, a->holder, holder);
    if (action != RAD_NONE)
        snprintf(text, size, "it is at '%s'", site_now(p, k, action));
    else if (a->waiting)
        snprintf(text, size, "it waits for %s%s%s", object, a->holder == RAD_NONE ? "" : ", held by ",
                 a->holder == RAD_NONE ? "" : holder);
    else
        snprintf(text, size, a->ended ? "it has ended" : "it cannot run");
}

static bool is_same(const match *m)
{
    return m->how == HOW_EXACT || m->how == HOW_RENAMED;
}

/* Before a step that is not the recorded one: why not, while everybody is where he was. */
static void foresee(realign_policy *p, rad_kernel *k, uint32_t action, const match *m)
{
    uint32_t step = expected(p, k, false), now;
    if (p->shared->diverged || step == RAD_NONE || (is_same(m) && m->due == step)) return;
    const rad_path_step *s = &p->options.recorded->steps[step];
    char why[RAD_REALIGN_TEXT / 2] = "";
    uint32_t actor = recorded_actor(p, k, k->actions[action].actor, &now);
    tell_actor(p, k, step, why, sizeof why);
    int used =
        snprintf(p->shared->because, RAD_REALIGN_TEXT, "the recording has %s at '%s' (step %u), but %s",
                 p->options.recorded->actors[s->actor], p->options.recorded->sites[s->site], (unsigned)step, why);
    if (actor != s->actor && used > 0 && used < RAD_REALIGN_TEXT)
        snprintf(p->shared->because + used, (size_t)(RAD_REALIGN_TEXT - used), "; %s ran, at '%s'",
                 p->recorder.shared->path.actors[now], site_now(p, k, action));
    p->foreseen = true;
}

/* ---- The run -------------------------------------------------------------------------------------------- */

static void realign_begin(rad_policy *base, rad_kernel *k, const rad_run_info *info)
{
    realign_policy *p = (realign_policy *)base;
    (void)k, (void)info;
    rad__path_begin(&p->recorder);
    p->action = RAD_NONE;
}

static void meet_actors(realign_policy *p, rad_kernel *k)
{
    uint32_t now;
    for (; p->seen < k->actor_count; p->seen++) recorded_actor(p, k, p->seen, &now);
}

static bool is_stranger(realign_policy *p, rad_kernel *k, uint32_t action)
{
    uint32_t now;
    return recorded_actor(p, k, k->actions[action].actor, &now) == RAD_NONE;
}

/* Recorded steps are left, but none can be done now, or that which is next is of an actor that yielded and lets others
 * go first (core/fair.h). An actor that the recording does not have may be in the way. It goes before those that would
 * get further than they were recorded by then, and would change what the others see. */
static uint32_t way_out(realign_policy *p, rad_kernel *k, uint32_t best, bool nothing)
{
    uint32_t next = expected(p, k, true);
    if (next == RAD_NONE || is_stranger(p, k, best)) return best;
    uint32_t actor = p->kernel_actor[p->options.recorded->steps[next].actor];
    if (!nothing && !(actor < k->actor_count && k->actors[actor].aside)) return best;
    for (uint32_t i = rad__bitset_next(&k->enabled, 0); i != RAD_NONE; i = rad__bitset_next(&k->enabled, i + 1))
        if (is_stranger(p, k, i)) return i;
    return best;
}

static uint32_t choose_action(realign_policy *p, rad_kernel *k, const rad_decision *d)
{
    uint32_t best = d->baseline;
    meet_actors(p, k);
    match least = match_action(p, k, best, is_alone(k, best));
    for (uint32_t i = rad__bitset_next(&k->enabled, 0); i != RAD_NONE; i = rad__bitset_next(&k->enabled, i + 1)) {
        match m = match_action(p, k, i, is_alone(k, i));
        if (m.due >= least.due) continue;
        least = m;
        best = i;
    }
    uint32_t chosen = way_out(p, k, best, least.due == RAD_NONE);
    if (chosen != best) least = match_action(p, k, chosen, is_alone(k, chosen));
    best = chosen;
    p->action = best;
    p->match = least;
    p->pick = 0;
    foresee(p, k, best, &least);
    return rad__index_of(k, d, best);
}

/* The match of the step under way; nobody was asked if nothing else could run. */
static const match *match_now(realign_policy *p, rad_kernel *k, uint32_t action)
{
    if (p->action != action) {
        meet_actors(p, k);
        p->action = action;
        p->match = match_action(p, k, action, true);
        p->pick = 0;
    }
    return &p->match;
}

static uint32_t choose_pick(realign_policy *p, rad_kernel *k, const rad_decision *d)
{
    const rad_path *r = p->options.recorded;
    if (k->current == RAD_NONE) return 0; /* in reset: no step to know it by */
    const match *m = match_now(p, k, k->current);
    if (m->due == RAD_NONE || m->how == HOW_NEW || m->how == HOW_BEYOND) return 0;
    uint32_t site = rad__path_pick_site(&p->recorder, k, d->kind, d->site);
    uint32_t from = p->picks[m->due], end = p->picks[m->due + 1];
    for (uint32_t i = from + p->pick; i < end; i++) {
        if (!is_site(p, k, r->picks[i].site, site) && !is_new_name(p, k, r->picks[i].site, site)) continue;
        p->pick = i + 1 - from;
        if (r->picks[i].value >= d->count) return 0; /* the value is no more: not made */
        p->shared->picks[i] = 1;
        return r->picks[i].value;
    }
    return 0;
}

static uint32_t realign_choose(rad_policy *base, rad_kernel *k, const rad_decision *d)
{
    realign_policy *p = (realign_policy *)base;
    uint32_t chosen = d->kind == RAD_PICK_ACTION ? choose_action(p, k, d) : choose_pick(p, k, d);
    rad__path_decided(&p->recorder, k, d, chosen);
    return chosen;
}

static void skip_before(realign_policy *p, uint32_t step)
{
    uint32_t actor = p->options.recorded->steps[step].actor;
    for (uint32_t i = p->front[actor]; i < p->back[actor] && p->order[i] < step; i++)
        if (p->shared->steps[p->order[i]] == RAD_STEP_WAITS) p->shared->steps[p->order[i]] = RAD_STEP_SKIPPED;
}

/* Late: a recorded step that comes after it came before it. */
static void take(realign_policy *p, const match *m, uint32_t site)
{
    rad_realign_shared *s = p->shared;
    if (m->how == HOW_NEW || m->how == HOW_BEYOND) {
        s->added++;
        return;
    }
    if (m->how == HOW_SKIPPED && m->alone) skip_before(p, m->due);
    if (m->how == HOW_RENAMED) {
        p->renamed[p->options.recorded->steps[m->due].site] = site;
        s->renamed++;
    }
    s->steps[m->due] = m->due < p->furthest ? RAD_STEP_LATE : RAD_STEP_FOUND;
    if (m->due > p->furthest) p->furthest = m->due;
}

/* A step that the recording does not have here, or the first one after such that it has. */
static void tell_step(realign_policy *p, rad_kernel *k, uint32_t action, bool in_step, uint32_t step)
{
    rad_realign_shared *s = p->shared;
    if (!in_step && !p->out) {
        s->divergences++;
        p->out = true;
        if (s->diverged) return;
        if (!p->foreseen) foresee(p, k, action, &p->match);
        s->diverged = true;
        s->diverged_at = k->step;
    } else if (in_step && p->out) {
        p->out = false;
        if (s->again) return;
        const rad_path_step *r = &p->options.recorded->steps[step];
        s->again = true;
        s->again_at = k->step;
        s->again_step = step;
        snprintf(s->again_as, sizeof s->again_as, "%s at '%s'", p->options.recorded->actors[r->actor],
                 p->options.recorded->sites[r->site]);
    }
}

static void realign_ran(rad_policy *base, rad_kernel *k, uint32_t action, const rad_footprint *f)
{
    realign_policy *p = (realign_policy *)base;
    match m = *match_now(p, k, action);
    uint32_t now, site = rad__path_site(&p->recorder, k, action);
    uint32_t any = expected(p, k, false), here = p->out ? expected(p, k, true) : any;
    if (any != RAD_NONE) tell_step(p, k, action, is_same(&m) && m.due == here, m.due);
    take(p, &m, site);
    recorded_actor(p, k, k->actions[action].actor, &now);
    if (k->outcome == RAD_OUTCOME_ERROR) return; /* no memory for what follows */
    p->stepped[now]++;
    p->strayed[now] = m.how != HOW_NEW ? 0 : f->yielded ? PATIENCE : p->strayed[now] + 1;
    p->action = RAD_NONE;
    p->foreseen = false;
    rad__path_ran(&p->recorder, k, action);
    if (k->ended || k->enabled.count != 1) return;
    meet_actors(p, k);
    match next = match_action(p, k, k->oldest, true);
    foresee(p, k, k->oldest, &next);
}

static void realign_announced(rad_policy *p, rad_kernel *k, uint32_t action)
{
    rad__path_announced(&((realign_policy *)p)->recorder, k, action);
}

/* ---- Life ----------------------------------------------------------------------------------------------- */

static void realign_destroy(rad_policy *base)
{
    realign_policy *p = (realign_policy *)base;
    uint32_t *const lists[] = {p->order,       p->front,   p->back,    p->picks,   p->kernel_actor, p->renamed,
                               p->actor_match, p->planned, p->stepped, p->strayed, p->site_match};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) rad__free(lists[i]);
    rad__os_shared_unmap(p->shared, p->mapping_size);
    rad__path_close(&p->recorder);
    rad__policy_release(base);
}

static const rad_policy_class realign_class = {
    .name = "realign",
    .about = "a recorded path, in code that was edited",
    .destroy = realign_destroy,
    .choose = realign_choose,
    .begin = realign_begin,
    .announced = realign_announced,
    .ran = realign_ran,
};

/* Queues by counting: where each begins, then its steps in order. */
static void fill_queues(realign_policy *p)
{
    const rad_path *r = p->options.recorded;
    for (uint32_t i = 0; i < r->step_count; i++) p->back[r->steps[i].actor]++;
    uint32_t at = 0;
    for (uint32_t i = 0; i < r->actor_count; i++) {
        p->front[i] = at;
        at += p->back[i];
        p->back[i] = p->front[i];
    }
    for (uint32_t i = 0; i < r->step_count; i++) p->order[p->back[r->steps[i].actor]++] = i;
    uint32_t pick = 0;
    for (uint32_t i = 0; i <= r->step_count; i++) {
        while (pick < r->pick_count && r->picks[pick].step < i) pick++;
        p->picks[i] = pick;
    }
    for (uint32_t i = 0; i < r->actor_count; i++) p->kernel_actor[i] = RAD_NONE;
    for (uint32_t i = 0; i < r->site_count; i++) p->renamed[i] = RAD_NONE;
}

static int realign_open(realign_policy *p, rad_error *error)
{
    const rad_path *r = p->options.recorded;
    void *mapping = NULL;
    p->order = rad__alloc(r->step_count, sizeof *p->order);
    p->front = rad__alloc(r->actor_count, sizeof *p->front);
    p->back = rad__alloc(r->actor_count, sizeof *p->back);
    p->picks = rad__alloc((size_t)r->step_count + 1, sizeof *p->picks);
    p->kernel_actor = rad__alloc(r->actor_count, sizeof *p->kernel_actor);
    p->renamed = rad__alloc(r->site_count, sizeof *p->renamed);
    if (!p->order || !p->front || !p->back || !p->picks || !p->kernel_actor || !p->renamed)
        return rad__error_memory(error);
    p->mapping_size = sizeof *p->shared + (size_t)r->step_count + r->pick_count;
    int code = rad__os_shared_map(&mapping, p->mapping_size, error);
    if (code != 0) return code;
    p->shared = mapping;
    p->shared->steps = (uint8_t *)(p->shared + 1);
    p->shared->picks = p->shared->steps + r->step_count;
    fill_queues(p);
    return 0;
}

int rad__policy_realign(rad_policy **out, const rad_realign_options *o, rad_error *error)
{
    rad_policy *base;
    *out = NULL;
    int code = rad__policy_alloc(&base, &realign_class, sizeof(realign_policy), NULL, error);
    if (code != 0) return code;
    realign_policy *p = (realign_policy *)base;
    p->options = *o;
    code = rad__path_open(&p->recorder, error);
    if (code == 0) code = realign_open(p, error);
    if (code != 0) {
        realign_destroy(base);
        return code;
    }
    *out = base;
    return 0;
}

const rad_realign_shared *rad__realign_shared(const rad_policy *p)
{
    return ((const realign_policy *)p)->shared;
}

const rad_path_shared *rad__realign_path(const rad_policy *p)
{
    return ((const realign_policy *)p)->recorder.shared;
}
