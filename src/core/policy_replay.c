/* policy_replay.c — `replay`: the choices of a log, strictly; see log.h.
 *
 * The run and the log tell their sets as changes; each action has one bit for each of them, and
 * `differences` counts the actions whose bits differ. So the sets are equal exactly when it is 0, at a
 * cost of O(1) per change, however large the sets are.
 *
 * P1  differences is the number of actions with one of the bits EXPECTED and ACTUAL.
 * P2  the first divergence ends the run; report then tells it in full. */
#include "base/alloc.h"
#include "core/log.h"

#include <stdio.h>

enum { EXPECTED = 1, ACTUAL = 2 };
enum { SHOWN_OF_SET = 12, SHOWN_OF_DIFFERENCE = 48 };

typedef struct replay_policy {
    rad_policy base;
    rad_log_reader *reader;
    uint8_t *states; /* per action */
    uint32_t capacity;
    uint32_t differences;
    uint64_t decisions; /* used up */
    rad_log_record record;
    rad_bytes definition; /* the first action that is another one here; reported with the decision */
    rad_bytes report;
} replay_policy;

/* ---- Words ---------------------------------------------------------------------------------------- */

static const char *replay_kind(uint32_t kind)
{
    static const char *const names[RAD_PICK_KINDS] = {
        [RAD_PICK_ACTION] = "action", [RAD_PICK_CASE] = "case",   [RAD_PICK_WAKE] = "wake",
        [RAD_PICK_VALUE] = "value",   [RAD_PICK_FAULT] = "fault", [RAD_PICK_READ] = "read",
    };
    return kind < RAD_PICK_KINDS ? names[kind] : "unknown";
}

static void put_site(rad_bytes *to, const rad_kernel *k, uint32_t site)
{
    const char *name = NULL;
    if (site == RAD_NONE) {
        rad__bytes_format(to, "no site");
        return;
    }
    if (k->machine->site_name) name = k->machine->site_name(k->self, site);
    rad__bytes_format(to, "site %u", (unsigned)site);
    if (name) rad__bytes_format(to, " (%.60s)", name);
}

static void put_question(rad_bytes *to, const rad_kernel *k, uint32_t kind, uint32_t site, uint32_t count)
{
    rad__bytes_format(to, "a choice of kind %s among %u at ", replay_kind(kind), (unsigned)count);
    put_site(to, k, site);
}

static void put_definition(rad_bytes *to, const rad_log_action *a)
{
    rad__bytes_format(to, "{kind %u, actor %d, object %d, argument %llu}", (unsigned)a->kind, (int)a->actor,
                      (int)a->object, (unsigned long long)a->argument);
}

/* The set of one side: "{a, b, … 3 more}". */
static void put_set(rad_bytes *to, const replay_policy *p, const rad_kernel *k, uint8_t side)
{
    uint32_t shown = 0, more = 0;
    for (uint32_t a = 0; a < p->capacity; a++) {
        if (!(p->states[a] & side)) continue;
        if (shown == SHOWN_OF_SET) {
            more++;
            continue;
        }
        char name[2 * RAD_NAME_MAX];
        rad__action_name(k, a, name);
        rad__bytes_format(to, "%s%s", shown++ ? ", " : "{", name);
    }
    if (more) rad__bytes_format(to, ", … %u more", (unsigned)more);
    rad__bytes_format(to, shown ? "}" : "{}");
}

static void put_difference(rad_bytes *to, const replay_policy *p, const rad_kernel *k)
{
    uint32_t shown = 0;
    for (uint32_t a = 0; a < p->capacity && shown < SHOWN_OF_DIFFERENCE; a++) {
        if (p->states[a] != EXPECTED && p->states[a] != ACTUAL) continue;
        char name[2 * RAD_NAME_MAX];
        rad__action_name(k, a, name);
        rad__bytes_format(to, "%s%c%s", shown++ ? ", " : "{", p->states[a] == ACTUAL ? '+' : '-', name);
    }
    if (shown < p->differences) rad__bytes_format(to, ", … %u more", (unsigned)(p->differences - shown));
    rad__bytes_format(to, "}");
}

/* ---- Divergence ----------------------------------------------------------------------------------- */

/* Ends the run with what `report` says; the last chance to notice that there was no memory for it. */
static uint32_t replay_diverge(replay_policy *p, rad_kernel *k)
{
    rad__bytes_put(&p->report, "", 1);
    if (p->report.failed)
        rad__kernel_error(k, RAD_ENOMEM, "out of memory while reporting a divergence");
    else
        rad__kernel_diverge(k, "%s", (const char *)p->report.data);
    return 0;
}

static void replay_where(replay_policy *p, const rad_kernel *k)
{
    p->report.size = 0;
    rad__bytes_format(&p->report, "decision %llu at step %llu: ", (unsigned long long)p->decisions,
                      (unsigned long long)k->step);
}

static uint32_t replay_other_set(replay_policy *p, rad_kernel *k)
{
    rad_bytes *to = &p->report;
    replay_where(p, k);
    rad__bytes_format(to, "difference ");
    put_difference(to, p, k);
    rad__bytes_format(to, " (- in the log only, + in this run only); expected ");
    put_set(to, p, k, EXPECTED);
    rad__bytes_format(to, ", actual ");
    put_set(to, p, k, ACTUAL);
    if (p->definition.size) rad__bytes_format(to, "; %s", (const char *)p->definition.data);
    return replay_diverge(p, k);
}

static uint32_t replay_other_question(replay_policy *p, rad_kernel *k, const rad_decision *d)
{
    const rad_log_record *r = &p->record;
    replay_where(p, k);
    rad__bytes_format(&p->report, "expected ");
    put_question(&p->report, k, r->kind, r->site, r->count);
    rad__bytes_format(&p->report, ", actual ");
    put_question(&p->report, k, d->kind, d->site, d->count);
    return replay_diverge(p, k);
}

static uint32_t replay_exhausted(replay_policy *p, rad_kernel *k, const rad_decision *d)
{
    replay_where(p, k);
    rad__bytes_format(&p->report, "the log has ended: it has %llu decisions, this run asks for ",
                      (unsigned long long)p->record.decisions);
    put_question(&p->report, k, d->kind, d->site, d->count);
    return replay_diverge(p, k);
}

/* ---- Following the log ---------------------------------------------------------------------------- */

static bool replay_toggle(replay_policy *p, rad_kernel *k, uint32_t action, uint8_t side)
{
    if (!RAD_GROW(&p->states, &p->capacity, action + 1)) {
        rad__kernel_error(k, RAD_ENOMEM, "out of memory in the replay of a log");
        return false;
    }
    uint8_t state = p->states[action] ^= side;
    if (state == EXPECTED || state == ACTUAL)
        p->differences++;
    else
        p->differences--;
    return true;
}

static bool replay_changes(replay_policy *p, rad_kernel *k)
{
    const rad_log_record *r = &p->record;
    bool ok = true;
    for (uint32_t i = 0; i < r->removed_count && ok; i++) ok = replay_toggle(p, k, r->removed[i], EXPECTED);
    for (uint32_t i = 0; i < r->added_count && ok; i++) ok = replay_toggle(p, k, r->added[i], EXPECTED);
    return ok;
}

/* The numbers of actions mean the same in both runs only if the actions are the same. */
static void replay_compare(replay_policy *p, const rad_kernel *k)
{
    const rad_log_record *r = &p->record;
    const rad_log_action *e = &r->definition;
    if (p->definition.size != 0) return; /* the first difference is the cause of the others */
    if (r->action < k->action_count) {
        const rad_action_entry *a = &k->actions[r->action];
        rad_log_action here = {a->argument, a->kind, a->actor, a->object};
        if (here.kind == e->kind && here.actor == e->actor && here.object == e->object && here.argument == e->argument)
            return;
        rad__bytes_format(&p->definition, "action %u: expected ", (unsigned)r->action);
        put_definition(&p->definition, e);
        rad__bytes_format(&p->definition, ", actual ");
        put_definition(&p->definition, &here);
    } else {
        rad__bytes_format(&p->definition, "action %u: expected ", (unsigned)r->action);
        put_definition(&p->definition, e);
        rad__bytes_format(&p->definition, ", actual none");
    }
}

/* Reads up to the next decision or the end; false when the run has been ended. */
static bool replay_advance(replay_policy *p, rad_kernel *k)
{
    for (;;) {
        rad_error error = {0};
        int got = rad__log_next(p->reader, &p->record, &error);
        if (got <= 0) {
            rad__kernel_error(k, got < 0 ? got : RAD_EBUG, got < 0 ? error.text : "log read twice");
            return false;
        }
        switch (p->record.what) {
        case RAD_LOG_DEFINE: replay_compare(p, k); break;
        case RAD_LOG_CHANGES:
            if (!replay_changes(p, k)) return false;
            break;
        case RAD_LOG_DECISION: return replay_changes(p, k);
        case RAD_LOG_PICK:
        case RAD_LOG_END: return true;
        }
    }
}

static uint32_t replay_choose(rad_policy *base, rad_kernel *k, const rad_decision *d)
{
    replay_policy *p = (replay_policy *)base;
    const rad_log_record *r = &p->record;
    if (!replay_advance(p, k)) return 0;
    if (r->what == RAD_LOG_END) return replay_exhausted(p, k, d);
    if (p->definition.failed) {
        rad__kernel_error(k, RAD_ENOMEM, "out of memory in the replay of a log");
        return 0;
    }
    bool among_actions = r->what == RAD_LOG_DECISION && d->kind == RAD_PICK_ACTION;
    if (among_actions && p->differences != 0) return replay_other_set(p, k);
    if (p->definition.size != 0) {
        replay_where(p, k);
        rad__bytes_format(&p->report, "%s", (const char *)p->definition.data);
        return replay_diverge(p, k);
    }
    if (r->kind != (uint32_t)d->kind || r->site != d->site || r->count != d->count)
        return replay_other_question(p, k, d);
    p->decisions++;
    return among_actions ? rad__index_of(k, d, r->chosen) : r->chosen;
}

static void replay_changed(rad_policy *base, rad_kernel *k, uint32_t action, bool enabled)
{
    (void)enabled; /* the kernel reports real changes only */
    replay_toggle((replay_policy *)base, k, action, ACTUAL);
}

/* ---- The end -------------------------------------------------------------------------------------- */

static const char *replay_result(enum rad_log_result result)
{
    static const char *const words[] = {"finished", "failed", "was cut"};
    return words[result];
}

/* Logs of earlier versions call a run that was cut a failed one. */
static bool replay_same_result(enum rad_log_result was, enum rad_log_result is)
{
    return was == is || (was == RAD_LOG_FAILED && is == RAD_LOG_CUT);
}

/* The run is over by itself: was that the end of the log too? */
static void replay_end(rad_policy *base, rad_kernel *k, rad_estimates *into)
{
    replay_policy *p = (replay_policy *)base;
    const rad_log_record *r = &p->record;
    (void)into;
    if (k->outcome != RAD_OUTCOME_FINISHED && k->outcome != RAD_OUTCOME_FAILED && k->outcome != RAD_OUTCOME_CUT) return;
    enum rad_log_result result = rad__log_result(k);
    k->ended = false; /* a divergence outranks the result of a run that is another one */
    if (!replay_advance(p, k)) return;
    rad_bytes *to = &p->report;
    char expected[RAD_DIGEST_TEXT], actual[RAD_DIGEST_TEXT];
    rad_digest digest = rad__kernel_digest(k);
    rad__digest_text(r->digest, expected);
    rad__digest_text(digest, actual);
    if (r->what != RAD_LOG_END) {
        rad__bytes_format(to,
                          "the log is not used up: this run %s after %llu steps and %llu decisions, "
                          "the log continues with ",
                          replay_result(result), (unsigned long long)k->step, (unsigned long long)p->decisions);
        put_question(to, k, r->kind, r->site, r->count);
    } else if (!replay_same_result(r->result, result) || r->steps != k->step) {
        rad__bytes_format(to, "after the last decision: expected a run that %s after %llu steps, ",
                          replay_result(r->result), (unsigned long long)r->steps);
        rad__bytes_format(to, "actual one that %s after %llu steps", replay_result(result),
                          (unsigned long long)k->step);
    } else if (!rad__digest_equal(r->digest, digest)) {
        rad__bytes_format(to, "all decisions agree, the trace does not: expected hash %s, actual %s", expected, actual);
    } else {
        k->ended = true;
        return;
    }
    replay_diverge(p, k);
}

/* ---- Life ----------------------------------------------------------------------------------------- */

static int replay_create(rad_policy **p, const char *argument, rad_error *error)
{
    (void)argument;
    *p = NULL;
    return rad__error(error, RAD_EINPUT, "the policy replay needs a log: raddle replay FILE");
}

static void replay_destroy(rad_policy *base)
{
    replay_policy *p = (replay_policy *)base;
    rad__bytes_free(&p->definition);
    rad__bytes_free(&p->report);
    rad__free(p->states);
    rad__free(p);
}

const rad_policy_class rad__replay_class = {
    .name = "replay",
    .about = "the choices of a log; any other set of enabled actions is a divergence",
    .create = replay_create,
    .destroy = replay_destroy,
    .choose = replay_choose,
    .changed = replay_changed,
    .end = replay_end,
};

int rad__policy_replay(rad_policy **out, rad_log_reader *reader, rad_error *error)
{
    replay_policy *p = rad__alloc(1, sizeof *p);
    *out = NULL;
    if (p == NULL) return rad__error_memory(error);
    p->base.class = &rad__replay_class;
    p->reader = reader;
    *out = &p->base;
    return 0;
}

const char *rad__replay_report(const rad_policy *base)
{
    const replay_policy *p = (const replay_policy *)base;
    return p->report.size && !p->report.failed ? (const char *)p->report.data : "";
}
