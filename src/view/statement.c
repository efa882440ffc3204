/* statement.c — what an exploration shows: a first sentence that carries its limits, and what it takes to read them.
 *
 *     nothing found in 20,000 runs; every schedule was tried, under sequential consistency.
 *     nothing found in 812 runs; not every schedule was tried, but all with at most 2 preemptions; 3 runs were cut, not
 *     finished after 100,000 steps: neither passed nor failed.
 *     nothing found in 300 runs; every fair schedule was tried; fair schedules only. In 33 runs actors that yield or
 *     spin let others go first. Besides, they continued to their end with no preemption.
 *
 * What stopped it comes with the number of runs, what was tried after it, then what was not, and what the machine and
 * fairness leave out: all in the first sentence. */
#include <raddle/lab.h>

#include "base/readable.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct sentence {
    char *text;
    size_t size, used;
} sentence;

static void say(sentence *s, const char *format, ...) RAD_PRINTF(2, 3);
static void say(sentence *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (s->used < s->size) {
        int more = vsnprintf(s->text + s->used, s->size - s->used, format, args);
        s->used += more > 0 ? (size_t)more : 0;
    }
    va_end(args);
}

static const char *plural_of(uint64_t count)
{
    return count == 1 ? "" : "s";
}

const char *rad_target_limits(const rad_target *t)
{
    return t->machine->limits ? t->machine->limits(t->machine, &t->c) : NULL;
}

bool rad_exploration_all_cut(const rad_exploration *e)
{
    uint64_t cut = e->cut;
    for (uint32_t i = 0; i < e->phase_count && i < RAD_PHASES_MAX; i++)
        cut += e->phases[i].spin_rounds > 0 ? e->phases[i].cut : 0;
    return e->runs > 0 && cut == e->runs;
}

static void say_runs(sentence *s, const rad_exploration *e)
{
    char number[32], all[32];
    rad__readable_count(e->runs, all);
    if (e->failures > 0)
        say(s, "%s of %s run%s failed", rad__readable_count(e->failures, number), all, plural_of(e->runs));
    else
        say(s, "nothing found in %s run%s", all, plural_of(e->runs));
    if (e->failures == 0 && e->steps == 0 && e->runs > 0) say(s, ", in which nothing ran at the same time");
    if (e->interrupted)
        say(s, " before it was interrupted");
    else if (e->out_of_time)
        say(s, ", stopped after %.3g s", e->elapsed);
    else if (e->out_of_steps)
        say(s, ", stopped after %s steps", rad__readable_count(e->steps, number));
}

/* The last bound below which everything was tried. */
static const rad_phase *last_bound(const rad_exploration *e)
{
    const rad_phase *last = NULL;
    for (uint32_t i = 0; i < e->phase_count && i < RAD_PHASES_MAX; i++)
        if (e->phases[i].bounded && e->phases[i].exhausted && e->phases[i].pruned && !e->phases[i].spin_rounds)
            last = &e->phases[i];
    return last;
}

/* Of the searches that let loops go on: the one with the most rounds that has tried everything with at most so many
 * preemptions. */
static const rad_phase *most_rounds(const rad_exploration *e, uint64_t preemptions)
{
    const rad_phase *most = NULL;
    for (uint32_t i = 0; i < e->phase_count && i < RAD_PHASES_MAX; i++) {
        const rad_phase *p = &e->phases[i];
        if (p->spin_rounds && p->bounded && p->exhausted && !p->endless && p->preemptions == preemptions) most = p;
    }
    return most;
}

static void say_bound(sentence *s, const rad_phase *p, bool fair)
{
    const char *bound = strchr(p->name, ':');
    const char *what = strncmp(p->name, "delay", 5) == 0 ? "delay" : "preemption";
    if (bound == NULL) return;
    say(s, ", but all%s with at most %s %s%s", fair ? " fair ones" : "", bound + 1, what,
        strcmp(bound, ":1") == 0 ? "" : "s");
}

/* The search that was begun last, of those that keep to fair schedules. */
static const rad_phase *last_fair(const rad_exploration *e)
{
    const rad_phase *last = NULL;
    for (uint32_t i = 0; i < e->phase_count && i < RAD_PHASES_MAX; i++)
        if (!e->phases[i].spin_rounds) last = &e->phases[i];
    return last;
}

static void say_tried(sentence *s, const rad_exploration *e)
{
    const rad_phase *last = last_fair(e);
    const rad_phase *bound = last_bound(e);
    bool visited = last && strcmp(last->name, "dedup") == 0 && last->exhausted;
    if (visited)
        say(s, "; every state was visited");
    else if (e->complete)
        say(s, "; every %sschedule was tried", e->held ? "fair " : "");
    else if (last && last->bounded && last->exhausted && !last->pruned)
        say(s, "; not every schedule was tried to its end");
    else
        say(s, "; not every schedule was tried");
    if (!e->complete && bound) say_bound(s, bound, e->held > 0);
}

static void say_fair(sentence *s, const rad_target *t)
{
    char rounds[32];
    if (t->c.spin_rounds)
        say(s, "; after %s round%s of a loop", rad__readable_count(t->c.spin_rounds, rounds),
            plural_of(t->c.spin_rounds));
    say(s, "%sfair schedules only", t->c.spin_rounds ? " " : "; ");
}

/* What that means, in a sentence of its own. */
static void say_held(sentence *s, const rad_exploration *e)
{
    char number[32];
    say(s, ". In %s run%s actors that yield or spin let others go first", rad__readable_count(e->held, number),
        plural_of(e->held));
}

enum { SPIN_PREEMPTIONS = 2 };

/* For how many rounds loops continued with at most as many preemptions; RAD_NONE: for all that they make. */
static uint32_t rounds_with(const rad_exploration *e, uint64_t preemptions)
{
    const rad_phase *p = most_rounds(e, preemptions);
    return p == NULL ? 0 : p->spent ? p->spin_rounds : RAD_NONE;
}

/* "they continued to their end with no preemption, for up to 128 rounds with at most 1, for up to 16 with at most 2" */
static void say_spins(sentence *s, const rad_exploration *e)
{
    char number[32];
    bool first = true, counted = false;
    for (uint32_t most = 0; most <= SPIN_PREEMPTIONS; most++) {
        uint32_t rounds = rounds_with(e, most), more = 0;
        for (uint32_t i = most + 1; i <= SPIN_PREEMPTIONS; i++)
            more = more > rounds_with(e, i) ? more : rounds_with(e, i);
        if (rounds == 0 || rounds <= more) continue; /* the other one says it, too */
        say(s, first ? ". Besides, they continued" : ",");
        if (rounds == RAD_NONE)
            say(s, " to their end");
        else
            say(s, " for up to %s%s", rad__readable_count(rounds, number), counted ? "" : " rounds");
        counted |= rounds != RAD_NONE;
        say(s, most ? " with at most %u" : " with no preemption", most);
        if (first && most) say(s, " preemption%s", plural_of(most));
        first = false;
    }
}

static void say_cut(sentence *s, const rad_target *t, const rad_exploration *e)
{
    char number[32], steps[32];
    bool circles = false;
    for (uint32_t i = 0; i < e->phase_count && i < RAD_PHASES_MAX; i++)
        circles |= e->phases[i].endless && e->phases[i].cut == 0 && e->phases[i].failures == 0;
    if (circles) say(s, "; some schedules go round in circles and never end");
    if (e->cut == 0) return;
    rad__readable_count(t->c.max_steps ? t->c.max_steps : RAD_MAX_STEPS_DEFAULT, steps);
    if (rad_exploration_all_cut(e))
        say(s, "; every run was cut, not finished after %s steps: nothing is known", steps);
    else
        say(s, "; %s run%s cut, not finished after %s steps: neither passed nor failed",
            rad__readable_count(e->cut, number), e->cut == 1 ? " was" : "s were", steps);
}

void rad_exploration_text(const rad_target *t, const rad_exploration *e, char text[RAD_STATEMENT_MAX])
{
    sentence s = {text, RAD_STATEMENT_MAX, 0};
    const char *limits = rad_target_limits(t);
    text[0] = 0;
    say_runs(&s, e);
    bool covers = e->complete || e->failures == 0; /* a failure is one, whatever else was tried */
    if (covers) {
        say_tried(&s, e);
        if (limits) say(&s, ", %s", limits);
        if (e->held) say_fair(&s, t);
    }
    say_cut(&s, t, e);
    if (covers && e->held) say_held(&s, e);
    if (covers) say_spins(&s, e);
    say(&s, ".");
}
