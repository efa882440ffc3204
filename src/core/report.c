/* report.c — what a machine says during a step: values, touches, waits, failures. */
#include "core/kernel.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdio.h>
#include <string.h>

void rad_announce(rad_kernel *k, uint32_t action, uint32_t site, uint32_t object, enum rad_access access)
{
    rad__kernel_announce(k, action, site, object, access);
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
    rad__kernel_value(k, value);
}

void rad_yields(rad_kernel *k)
{
    uint32_t actor = rad_current_actor(k);
    if (k->spared || rad__spared(k, actor, 1)) {
        k->actors[actor].looks = 0; /* a round counts once, whatever it looks at */
        return;
    }
    k->yielded = k->gives_way = true;
}

void rad__yields_fairly(rad_kernel *k)
{
    k->yielded = k->gives_way = true;
}

void rad__turn_ends(rad_kernel *k)
{
    k->yielded = true;
}

void rad_looked(rad_kernel *k)
{
    k->looked = true;
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

/* Oracles of the lab itself: one place reports each of them. */
static bool has_sites(uint32_t oracle)
{
    return oracle == RAD_ORACLE_ASSERT || oracle == RAD_ORACLE_INVARIANT || oracle >= RAD_ORACLE_OWN;
}

/* FNV-1a. */
static uint32_t text_number(const char *text)
{
    uint32_t number = 2166136261u;
    for (; *text; text++) number = (number ^ (uint8_t)*text) * 16777619u;
    return number;
}

/* A site that is too long keeps its beginning, and a number that tells it from others with the same one. */
static void failure_identity(rad_kernel *k, uint32_t oracle, uint32_t object, const char *site)
{
    char *to = k->failure.identity;
    const char *name = rad_oracle_name(k->machine, oracle);
    int used = snprintf(to, RAD_IDENTITY_MAX, "%.40s", name ? name : "unnamed");
    if (object < k->object_count)
        used += snprintf(to + used, RAD_IDENTITY_MAX - used, ":%.64s", k->objects[object].role);
    if (site == NULL || !has_sites(oracle)) return;
    size_t length = strlen(site), room = (size_t)(RAD_IDENTITY_MAX - used) - sizeof "@#12345678";
    used += snprintf(to + used, RAD_IDENTITY_MAX - used, "@%.*s", (int)room, site);
    if (length > room) snprintf(to + used, RAD_IDENTITY_MAX - used, "#%08x", (unsigned)text_number(site));
}

static void fail_at(rad_kernel *k, uint32_t oracle, uint32_t object, const char *site, const char *format, va_list args)
    RAD_PRINTF(5, 0);
static void fail_at(rad_kernel *k, uint32_t oracle, uint32_t object, const char *site, const char *format, va_list args)
{
    if (!failure_begin(k, oracle)) return;
    vsnprintf(k->failure.message, sizeof k->failure.message, format, args);
    failure_identity(k, oracle, object, site);
}

void rad_fail(rad_kernel *k, uint32_t oracle, uint32_t object, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fail_at(k, oracle, object, strcmp(format, "%s") == 0 ? NULL : format, format, args);
    va_end(args);
}

void rad_fail_at(rad_kernel *k, uint32_t oracle, uint32_t object, const char *site, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fail_at(k, oracle, object, site, format, args);
    va_end(args);
}

/* ---- Races ------------------------------------------------------------------------------------------ */

bool rad__identity_is(const char *recorded, const char *actual)
{
    size_t length = strlen(recorded);
    if (strncmp(recorded, actual, length) != 0) return false;
    if (strcmp(recorded, "livelock") == 0) return true; /* it had no role, either */
    if (actual[length] == 0) return true;
    if (length > 0 && actual[length] == '@') return true; /* files of before: without a site, … */
    return strncmp(recorded, "assertion@", 10) == 0 && strncmp(actual + length, " in ", 4) == 0; /* … a function */
}

enum { PLACE_MAX = 96 };

static void place_text(const rad_code_site *p, char text[PLACE_MAX])
{
    int used = snprintf(text, PLACE_MAX, "%.56s: %.24s", p->function, p->operation);
    if (p->ordinal > 1) snprintf(text + used, (size_t)(PLACE_MAX - used), " %u", p->ordinal);
}

/* The two places, in an order that does not depend on which of them came first. */
static void pair_text(const rad_code_site *one, const rad_code_site *other, char pair[2 * PLACE_MAX])
{
    char a[PLACE_MAX], b[PLACE_MAX];
    place_text(one, a);
    place_text(other, b);
    bool swap = strcmp(a, b) > 0;
    snprintf(pair, 2 * PLACE_MAX, "%.92s / %.92s", swap ? b : a, swap ? a : b);
}

/* A star stands for anything, also for nothing. */
static bool matches(const char *pattern, const char *text)
{
    const char *star = NULL, *from = NULL;
    while (*text) {
        if (*pattern == '*') {
            star = ++pattern;
            from = text;
        } else if (*pattern == *text) {
            pattern++, text++;
        } else if (star) {
            pattern = star;
            text = ++from;
        } else {
            return false;
        }
    }
    while (*pattern == '*') pattern++;
    return *pattern == 0;
}

/* A path, or the end of one that begins behind a slash: "list.c" and "src/list.c" are "/home/me/src/list.c". */
static bool matches_path(const char *pattern, const char *path)
{
    while (strncmp(pattern, "./", 2) == 0 || strncmp(pattern, "../", 3) == 0) pattern = strchr(pattern, '/') + 1;
    bool found = matches(pattern, path);
    while (!found && (path = strchr(path, '/')) != NULL) found = matches(pattern, ++path);
    return found;
}

static bool is_named(const char *pattern, const rad_code_site *p)
{
    return matches(pattern, p->function) || (p->file && matches_path(pattern, p->file)) ||
           (p->module && matches(pattern, p->module));
}

/* Counts it in the kernel and, for the supervisor, in the beacon: the process may die before it can tell. */
static bool is_suppressed(rad_kernel *k, const rad_code_site *one, const rad_code_site *other)
{
    const char *const *all = k->options.suppressed;
    rad_beacon *beacon = k->options.beacon;
    bool found = false;
    for (uint32_t i = 0; all && all[i]; i++) {
        if (!is_named(all[i], one) && !is_named(all[i], other)) continue;
        if (!found) {
            k->suppressed++;
            if (beacon) beacon->suppressed++;
            found = true;
        }
        if (!RAD_GROW(&k->suppressed_by, &k->suppressed_capacity, i + 1)) {
            rad__kernel_error(k, RAD_ENOMEM, "out of memory while counting races");
            return true;
        }
        k->suppressed_by[i]++;
        if (k->suppressed_count <= i) k->suppressed_count = i + 1;
        if (beacon && i < RAD_PATTERNS_TOLD) beacon->suppressed_by[i]++;
    }
    return found;
}

static bool is_reported(const rad_kernel *k, const char *identity)
{
    for (uint32_t i = 0; i < k->report_count; i++)
        if (strcmp(k->reports[i].identity, identity) == 0) return true;
    return false;
}

static void report_race(rad_kernel *k, uint32_t oracle, const char *format, va_list args) RAD_PRINTF(3, 0);
static void report_race(rad_kernel *k, uint32_t oracle, const char *format, va_list args)
{
    rad_report *r = &k->reports[k->report_count++];
    size_t used;
    r->oracle = oracle;
    r->step = k->step;
    memcpy(r->identity, k->failure.identity, sizeof r->identity);
    vsnprintf(r->message, sizeof r->message, format, args);
    used = strlen(r->message);
    if (k->report_count > 1)
        snprintf(r->message + used, sizeof r->message - used, " (may follow from an earlier race)");
}

void rad_race(rad_kernel *k, uint32_t oracle, uint32_t object, const rad_code_site *one, const rad_code_site *other,
              const char *format, ...)
{
    char pair[2 * PLACE_MAX];
    if (k->ended) return;
    if (is_suppressed(k, one, other)) return;
    pair_text(one, other, pair);
    failure_identity(k, oracle, object, pair);
    const char *identity = k->failure.identity, *ends_at = k->options.ends_at;
    bool ends = ends_at == NULL || rad__identity_is(ends_at, identity);
    if (!ends && (is_reported(k, identity) || k->report_count == RAD_REPORTS_MAX)) return;
    va_list args;
    va_start(args, format);
    report_race(k, oracle, format, args);
    va_end(args);
    if (!ends) return;
    const rad_report *r = &k->reports[--k->report_count]; /* it ends the run instead */
    if (!failure_begin(k, oracle)) return;
    memcpy(k->failure.message, r->message, sizeof k->failure.message);
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

static bool is_among(uint32_t actor, const uint32_t *actors, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (actors[i] == actor) return true;
    return actors == NULL;
}

/* Roles waited for, each once, in alphabetical order: equal for equal bugs of different size. */
static void stuck_identity(rad_kernel *k, const char *kind, const uint32_t *actors, uint32_t count)
{
    rad_failure *f = &k->failure;
    const char *last = "";
    snprintf(f->identity, sizeof f->identity, "%s", kind);
    for (;;) {
        const char *next = NULL;
        for (uint32_t i = 0; i < k->actor_count; i++) {
            const rad_actor_entry *a = &k->actors[i];
            if (!a->waiting || a->waits_for >= k->object_count) continue;
            if (!is_among(i, actors, count)) continue;
            const char *role = k->objects[a->waits_for].role;
            if (strcmp(role, last) > 0 && (next == NULL || strcmp(role, next) < 0)) next = role;
        }
        if (next == NULL) return;
        append(f->identity, sizeof f->identity, "%c%s", *last ? '+' : ':', next);
        last = next;
    }
}

/* "one waits for mutex b (held by two); two waits for …"; false: nobody waits. */
static bool stuck_message(rad_kernel *k, const uint32_t *actors, uint32_t count)
{
    rad_failure *f = &k->failure;
    char who[RAD_NAME_MAX], what[RAD_NAME_MAX], holder[RAD_NAME_MAX];
    bool any = false;
    for (uint32_t i = 0; i < k->actor_count; i++) {
        const rad_actor_entry *a = &k->actors[i];
        if (!a->waiting || !is_among(i, actors, count)) continue;
        rad__actor_name(k, i, who);
        rad__object_name(k, a->waits_for, what);
        rad__actor_name(k, a->holder, holder);
        append(f->message, sizeof f->message, "%s %s waits for %s", any ? ";" : "", who, what);
        bool held = a->holder != RAD_NONE && strcmp(holder, what) != 0; /* not its end */
        if (held) append(f->message, sizeof f->message, " (held by %s)", holder);
        any = true;
    }
    return any;
}

void rad__deadlock_report(rad_kernel *k)
{
    if (!failure_begin(k, RAD_ORACLE_DEADLOCK)) return;
    rad_failure *f = &k->failure;
    snprintf(f->message, sizeof f->message, "deadlock:");
    if (!stuck_message(k, NULL, 0))
        append(f->message, sizeof f->message, " nothing can run and the machine is not finished");
    stuck_identity(k, "deadlock", NULL, 0);
}

void rad__stuck_report(rad_kernel *k, uint32_t oracle, const uint32_t *actors, uint32_t count, const char *why)
{
    if (!failure_begin(k, oracle)) return;
    rad_failure *f = &k->failure;
    const char *name = rad_oracle_name(k->machine, oracle);
    snprintf(f->message, sizeof f->message, "%s:", name ? name : "unnamed");
    stuck_message(k, actors, count);
    append(f->message, sizeof f->message, ". %s", why);
    stuck_identity(k, name ? name : "unnamed", actors, count);
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
    return rad__bitset_has(&k->enabled, action) ||
           (action < k->action_count && k->actions[action].link == RAD_LINK_ASIDE);
}

uint32_t rad_enabled_count(const rad_kernel *k)
{
    return k->enabled.count + k->fair.actions_aside;
}
