/* story.c — tells a run step by step: who did what, which switches mattered, what led to the end. */
#include "base/alloc.h"
#include "lab/artifact.h"
#include "lab/blame.h"
#include "lab/json.h"
#include "lab/programs/places.h"
#include "lab/programs/under_test.h"
#include "lab/recorder.h"
#include "lab/rig.h"
#include "lab/watch.h"

#include <stdio.h>
#include <string.h>

/* A story points at names that live in the machine, so it keeps the rig. */
typedef struct told {
    rad_story story; /* first: what the caller sees */
    rad_rig rig;
    rad_recorder recorder;
    bool *past;
    bool ran; /* at least a step */
} told;

const rad_rig *rad__story_rig(const rad_story *s)
{
    return &((const told *)s)->rig;
}

static const char *site_text(const rad_kernel *k, uint32_t site)
{
    const char *name = k->machine->site_name && site != RAD_NONE ? k->machine->site_name(k->self, site) : NULL;
    return name ? name : "";
}

static const char *kind_text(const rad_kernel *k, uint32_t kind)
{
    const char *name = k->machine->kind_name ? k->machine->kind_name(k->self, kind) : NULL;
    return name ? name : "step";
}

/* "wakes worker %" and 2: "wakes worker 2"; "cancels @" and 2: "cancels " and the name of actor 2; "broadcast" and 3:
 * "broadcast 3". */
static void note_text(char *text, size_t size, const char *comma, const rad_kernel *k, const char *name,
                      const rad_event *e)
{
    const char *sign = strchr(name, '%'), *who = strchr(name, '@'), *what = strchr(name, '#');
    unsigned long long value = (unsigned long long)e->value;
    if (who) {
        char actor[RAD_NAME_MAX];
        rad__actor_name(k, e->value < k->actor_count ? (uint32_t)e->value : RAD_NONE, actor);
        snprintf(text, size, "%s%.*s%s%s", comma, (int)(who - name), name, actor, who + 1);
    } else if (what) {
        char object[RAD_NAME_MAX];
        rad__object_name(k, e->object, object);
        snprintf(text, size, "%s%.*s%s%s", comma, (int)(what - name), name, object, what + 1);
    } else if (sign)
        snprintf(text, size, "%s%.*s%llu%s", comma, (int)(sign - name), name, value, sign + 1);
    else if (e->object == RAD_NONE && e->value == 0) /* nothing but the fact */
        snprintf(text, size, "%s%s", comma, name);
    else
        snprintf(text, size, "%s%s %llu", comma, name, value);
}

static void line_note(rad_line *line, const rad_kernel *k, const rad_event *e)
{
    static const char *const picks[RAD_PICK_KINDS] = {"chose", "took case", "woke waiter",
                                                      "drew",  "met fault", "read store"};
    size_t used = strlen(line->note);
    const char *comma = used ? ", " : "";
    if (e->what == RAD_EVENT_PICK && e->kind == RAD_PICK_CASE && rad__program_is(k->machine))
        return; /* which of those that could be done: line_case says more */
    if (e->what == RAD_EVENT_PICK)
        snprintf(line->note + used, sizeof line->note - used, "%s%s %llu of %u", comma,
                 picks[e->kind < RAD_PICK_KINDS ? e->kind : 0], (unsigned long long)e->value, (unsigned)e->count);
    else
        note_text(line->note + used, sizeof line->note - used, comma, k, kind_text(k, e->kind), e);
}

static enum rad_switch line_turn(const told *t, uint64_t step)
{
    const rad_recorded *now = &t->recorder.steps[step];
    if (step == 0 || t->recorder.steps[step - 1].actor == now->actor) return RAD_SWITCH_NONE;
    if (now->decision == RAD_NONE) return RAD_SWITCH_FORCED;
    const rad_choice *c = &t->rig.choices[now->decision];
    return c->flags & RAD_CHOICE_PREEMPTIBLE ? RAD_SWITCH_PREEMPTIVE : RAD_SWITCH_FORCED;
}

static void line_fill(told *t, rad_line *line, const rad_event *e)
{
    const rad_kernel *k = t->rig.kernel;
    const rad_recorded *recorded = &t->recorder.steps[e->step];
    line->step = e->step;
    line->actor = e->actor < k->actor_count ? e->actor : k->actor_count;
    rad__object_name(k, e->object, line->object);
    line->site = site_text(k, e->site);
    line->kind = kind_text(k, e->kind);
    line->access = e->access & ~RAD_EVENT_VALUED;
    line->has_value = (e->access & RAD_EVENT_VALUED) != 0;
    line->value = e->value;
    line->turn = line_turn(t, e->step);
    line->decisive = recorded->decision != RAD_NONE && t->rig.choices[recorded->decision].chosen != 0;
    line->hidden = !t->past[e->step];
    line->waits = recorded->waits;
}

static int told_lines(told *t, rad_error *error)
{
    const rad_kernel *k = t->rig.kernel;
    rad_story *s = &t->story;
    s->lines = rad__alloc(t->recorder.step_count, sizeof *s->lines);
    if (s->lines == NULL) return rad__error_memory(error);
    s->line_count = t->recorder.step_count;
    for (uint64_t i = 0; i < k->trace.count; i++) {
        const rad_event *e = rad__trace_at(&k->trace, i);
        if (e->step >= s->line_count) continue;
        if (e->what == RAD_EVENT_STEP)
            line_fill(t, &s->lines[e->step], e);
        else
            line_note(&s->lines[e->step], k, e);
    }
    for (uint64_t i = 0; k->machine->describe && i < s->line_count; i++) {
        rad_line *line = &s->lines[i];
        snprintf(line->words, sizeof line->words, "%s", line->note[0] ? line->note : line->site);
    }
    return 0;
}

static void told_state_line(void *context, const char *text)
{
    rad__bytes_format(context, "%s\n", text);
}

/* What the machine says about itself now that the run is over. */
static int told_state(told *t, rad_error *error)
{
    const rad_kernel *k = t->rig.kernel;
    rad_bytes text = {0};
    if (k->machine->describe == NULL || !t->ran) return 0;
    k->machine->describe(t->rig.self, told_state_line, &text);
    rad__bytes_put(&text, "", 1);
    if (text.failed) {
        rad__bytes_free(&text);
        return rad__error_memory(error);
    }
    t->story.state = (char *)text.data;
    rad__text_clean(t->story.state);
    return 0;
}

static int told_actors(told *t, rad_error *error)
{
    const rad_kernel *k = t->rig.kernel;
    rad_story *s = &t->story;
    s->actors = rad__alloc(k->actor_count + 1, sizeof *s->actors);
    s->waits = rad__alloc(k->actor_count, sizeof *s->waits);
    if (s->actors == NULL || s->waits == NULL) return rad__error_memory(error);
    for (uint32_t i = 0; i < k->actor_count; i++) rad__actor_name(k, i, s->actors[i]);
    s->actor_count = k->actor_count;
    bool nobody = false;
    for (uint32_t i = 0; i < t->recorder.step_count; i++) nobody |= t->recorder.steps[i].actor >= k->actor_count;
    if (nobody) snprintf(s->actors[s->actor_count++], sizeof *s->actors, "outside");
    for (uint32_t i = 0; i < k->actor_count; i++) {
        if (!k->actors[i].waiting) continue;
        rad_wait_edge *edge = &s->waits[s->wait_count++];
        edge->actor = i;
        rad__object_name(k, k->actors[i].waits_for, edge->object);
        rad__actor_name(k, k->actors[i].holder, edge->holder);
    }
    return 0;
}

/* The case that rad_select did, by the number that the program gets. */
static void line_case(rad_line *line, const rad_places *places)
{
    int done = rad__places_case(places, line->step);
    size_t used = strlen(line->note);
    if (done < 0) return;
    snprintf(line->note + used, sizeof line->note - used, "%sreturns %d", used ? ", " : "", done);
}

/* What the actors did not come to any more. In a program an action has the number of its actor,
 * and the death of the process ends them all: one that came to its end itself has no place. */
static int told_pending(told *t, rad_places *places, rad_error *error)
{
    const rad_kernel *k = t->rig.kernel;
    rad_story *s = &t->story;
    s->pending = rad__alloc(s->actor_count + 1, sizeof *s->pending);
    if (s->pending == NULL) return rad__error_memory(error);
    for (uint32_t i = 0; i < s->actor_count; i++) {
        s->pending[i] = (rad_pending){.site = ""};
        if (i >= k->actor_count || i >= k->action_count) continue;
        s->pending[i] = (rad_pending){site_text(k, k->actions[i].site), rad__places_pending(places, i)};
    }
    return 0;
}

static int told_places(told *t, rad_error *error)
{
    const rad_kernel *k = t->rig.kernel;
    if (!rad__program_is(k->machine)) return 0;
    rad_places *places = rad__under_test_places(t->rig.self);
    if (!rad__places_tell(places, &t->story)) return rad__error_memory(error);
    for (uint64_t i = 0; i < t->story.line_count; i++) line_case(&t->story.lines[i], places);
    if (!rad__blame_tell(rad__under_test_blame(t->rig.self), k, places, &t->story)) return rad__error_memory(error);
    if (told_pending(t, places, error) != 0) return error->code;
    for (uint32_t i = 0; i < t->story.wait_count; i++) {
        rad_wait_edge *edge = &t->story.waits[i];
        edge->made = rad__places_made(places, k->actors[edge->actor].waits_for);
    }
    return 0;
}

static void told_measure(told *t)
{
    const rad_kernel *k = t->rig.kernel;
    rad_measure *m = &t->story.measure;
    *m = (rad_measure){.switches = k->switches, .steps = k->step};
    for (uint64_t i = 0; i < k->decisions; i++) {
        const rad_choice *c = &t->rig.choices[i];
        if (c->chosen == 0) continue;
        m->choices = i + 1;
        m->nonzero++;
        m->preemptions += c->kind == RAD_PICK_ACTION && (c->flags & RAD_CHOICE_PREEMPTIBLE);
    }
}

/* Whether the run that is told is the one of the file. It was made twice: to be compared, in a process of its own, and
 * to be told. */
static void told_compare(rad_story *s, const rad_replay *now)
{
    s->as_recorded = now->as_recorded;
    snprintf(s->reason, sizeof s->reason, "%s", now->reason);
    if (strcmp(s->verdict.trace_hash, now->actual.trace_hash) == 0) return;
    s->as_recorded = false;
    snprintf(s->reason, sizeof s->reason,
             "the machine does not repeat itself: two runs of the same choices have hashes %s and %s",
             now->actual.trace_hash, s->verdict.trace_hash);
}

/* The step that hung is given the share of its time that a search gives to others like it. */
static uint32_t hang_ms_of(const rad_artifact *a)
{
    uint32_t all = a->target.c.hang_ms ? a->target.c.hang_ms : RAD_HANG_SECONDS * 1000;
    return all / RAD_HUNG_SHARE + 1;
}

/* A run that kills its process is told up to the step before, and of a program with that step. */
static int told_run(told *t, const rad_artifact *a, rad_error *error)
{
    rad_replay now; /* in a process of its own: what the file says may not be what happens */
    if (rad__replay(a, NULL, &now, &t->rig.unfair, error) != 0) return error->code;
    const rad_verdict *end = &now.actual;
    bool deadly = strcmp(end->kind, "crash") == 0 || strcmp(end->kind, "hang") == 0;
    rad_kernel *k = t->rig.kernel;
    if (rad__artifact_is_round(a)) t->rig.limit = RAD_LIMIT_ROUND;
    if (a->expects_failure) t->rig.ends_at = a->expected.identity;
    /* A program says where it dies, or hangs. */
    bool dies = rad__program_is(k->machine) && deadly;
    if (dies && strcmp(end->kind, "hang") == 0)
        rad__under_test_hangs(t->rig.self, end->failure_step, hang_ms_of(a));
    else if (dies)
        rad__under_test_dies(t->rig.self);
    if (deadly) t->rig.target.c.max_steps = end->failure_step + dies;
    bool nothing = deadly && !dies && end->failure_step == 0; /* 0 would mean the default */
    if (nothing) t->rig.target.c.max_steps = 1;
    t->ran = !nothing;
    if (!nothing) rad__rig_guide(&t->rig, a->choices, a->choice_count, true, &t->recorder.observer);
    if (k->outcome == RAD_OUTCOME_ERROR || t->recorder.failed || k->trace.failed)
        return rad__error(error, k->error.code ? k->error.code : RAD_ENOMEM, "%s",
                          k->error.code ? k->error.text : "out of memory");
    if (deadly)
        t->story.verdict = *end;
    else
        rad__verdict_of(k, &t->story.verdict);
    told_compare(&t->story, &now);
    t->past = rad__alloc(t->recorder.step_count, sizeof *t->past);
    if (t->past == NULL) return rad__error_memory(error);
    rad__recorder_past(&t->recorder, k, t->past);
    /* What a program does to its own memory between two operations is not known, and of a deadlock it matters what a
     * fiber did that did not wake another one: so any step may matter. */
    bool unseen = rad__program_is(k->machine);
    bool tells_all = deadly || unseen || !k->failed || k->failure.oracle == RAD_ORACLE_LIVELOCK ||
                     k->failure.oracle == RAD_ORACLE_STEP_LIMIT;
    for (uint32_t i = 0; i < t->recorder.step_count && tells_all; i++) t->past[i] = true;
    return 0;
}

int rad_lab_story(const rad_artifact *a, rad_story **out, rad_error *error)
{
    *out = NULL;
    rad__error_clear(error);
    told *t = rad__alloc(1, sizeof *t);
    if (t == NULL) return rad__error_memory(error);
    rad__recorder_open(&t->recorder);
    int code = rad__rig_open(&t->rig, &a->target, error);
    if (code == 0) code = told_run(t, a, error);
    if (code == 0) code = told_lines(t, error);
    if (code == 0) code = told_actors(t, error);
    if (code == 0) code = told_state(t, error);
    if (code == 0) code = told_places(t, error);
    if (code != 0) {
        rad_story_free(&t->story);
        return code;
    }
    told_measure(t);
    if (rad__program_is(t->rig.target.machine)) t->story.output = rad__under_test_output(t->rig.self);
    *out = &t->story;
    return 0;
}

void rad_story_free(rad_story *s)
{
    if (s == NULL) return;
    told *t = (told *)s;
    rad__free(s->actors);
    rad__free(s->lines);
    rad__free(s->waits);
    rad__free(s->pending);
    rad__free(s->state);
    rad__free(s->output);
    rad__free(s->blame);
    rad__free(t->past);
    rad__recorder_close(&t->recorder);
    if (t->rig.kernel) rad__rig_close(&t->rig);
    rad__free(t);
}
