#include "coverage.h"

#include "report.h"

#include <stdio.h>
#include <string.h>

enum { SITES_MAX = sizeof((rad_exploration *)0)->site_reached };

static void report_phase(cli *c, const rad_phase *p)
{
    report_label(c, p->name);
    out(c, "%s run%s", number(p->runs), plural(p->runs));
    if (p->failures) out(c, ", %s failed", number(p->failures));
    if (p->bounded && p->exhausted)
        out(c, ", complete: %s", p->pruned ? "everything within the bound was tried" : "the bound cut nothing off");
    else if (p->bounded)
        out_text(c, ", not complete");
    if (p->cut)
        out(c, "; %s cut at the step limit", number(p->cut));
    else if (p->endless)
        out_text(c, "; some runs do not end");
    out_text(c, "\n");
}

static void report_oracles(cli *c, const rad_target *t, const rad_exploration *e)
{
    char text[64 * RAD_ORACLES_MAX] = "";
    size_t used = 0;
    report_label(c, "oracles");
    for (uint32_t i = 0; i < RAD_ORACLES_MAX && used < sizeof text; i++) {
        const char *name = rad_oracle_name(t->machine, i);
        if (name && e->evaluations[i] > 0) {
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%.40s %s", used ? ", " : "evaluated: ", name,
                                     number(e->evaluations[i]));
        }
    }
    out_long(c, LABEL_WIDTH, LABEL_WIDTH, used ? text : "none was evaluated");
}

/* How many: their names are in the JSON. */
static void report_sites(cli *c, const rad_target *t, const rad_exploration *e)
{
    uint32_t count = e->site_count < SITES_MAX ? e->site_count : SITES_MAX, reached = 0, used = 0;
    site_names names;
    if (count == 0) return;
    sites_open(&names, t);
    report_label(c, "sites");
    for (uint32_t i = 0; i < count; i++) {
        const char *name = sites_name(&names, i);
        if (name && *name == 0) continue; /* nothing can be reached there */
        used++;
        reached += e->site_reached[i];
    }
    if (reached == used)
        out(c, "all %s reached\n", number(used));
    else
        out(c, "%s of %s reached; --json lists the others\n", number(reached), number(used));
    sites_close(&names);
}

/* How the runs of a program were kept apart. */
static void report_processes(cli *c, const rad_exploration *e)
{
    if (e->in_process == 0 && e->apart[0] == 0) return;
    report_label(c, "in process");
    if (e->in_process > 0) {
        out(c, "%s run%s, %s of them audited: equal in a fresh process", number(e->in_process), plural(e->in_process),
            number(e->audits));
    }
    if (e->apart[0]) out(c, "%sa process for each run, because %s", e->in_process ? "; then " : "", e->apart);
    out_text(c, "\n");
}

/* The one sentence: what is known now. */
static void report_statement(cli *c, const rad_target *t, const rad_exploration *e)
{
    static const char good[] = "nothing found";
    char text[RAD_STATEMENT_MAX];
    rad_exploration_text(t, e, text);
    size_t lead = strncmp(text, good, sizeof good - 1) == 0 && !rad_exploration_all_cut(e) ? sizeof good - 1 : 0;
    out(c, "%s%.*s%s", lead ? style(c, STYLE_GOOD) : "", (int)lead, text, lead ? style(c, STYLE_OFF) : "");
    out_long(c, (uint32_t)lead, 4, text + lead);
}

void coverage_outside(const rad_target *t, const rad_exploration *e, char *text, size_t size)
{
    uint64_t runs = 0;
    text[0] = 0;
    if (e->outside.count == 0) return;
    for (uint32_t i = 0; i < RAD_ORACLES_MAX; i++) {
        const char *name = rad_oracle_name(t->machine, i);
        if (name && strcmp(name, "uncontrolled") == 0) runs = e->evaluations[i];
    }
    rad__readable_text(text, size, "%s run%s changed what outlives a run, or asked for it:", number(runs),
                       plural(runs));
    for (uint32_t i = 0; i < e->outside.count && i < RAD_OUTSIDE_MAX; i++) {
        size_t used = strlen(text);
        rad__readable_text(text + used, size - used, "%s %s", i ? "," : "", e->outside.texts[i]);
    }
    size_t used = strlen(text);
    if (e->outside.more) rad__readable_text(text + used, size - used, ", and more");
}

static void report_outside(cli *c, const rad_target *t, const rad_exploration *e)
{
    char text[COVERAGE_OUTSIDE_MAX];
    coverage_outside(t, e, text, sizeof text);
    if (text[0] == 0) return;
    report_label(c, "outside");
    out_long(c, LABEL_WIDTH, LABEL_WIDTH, text);
}

void coverage_late(const hunt *h, enum hunt_pass pass, const rad_target *t, const rad_exploration *e)
{
    static const char *const hints[PASSES] = {
        [PASS_FREE_CLOCK] = "What fails only with a free clock needs a thread or fiber to be delayed beyond a "
                            "timer; it counts for the exit status with --clock free.",
        [PASS_SPURIOUS] = "What fails only with spurious wakeups waits for a condition without a loop: POSIX and "
                          "C++ allow a wait to end without a signal; it counts for the exit status with "
                          "--spurious yes."};
    char text[RAD_STATEMENT_MAX];
    rad_exploration_text(t, e, text);
    uint32_t lead = (uint32_t)strlen(hunt_pass_text(pass)) + 7;
    out(h->c, "With %s: ", hunt_pass_text(pass));
    out_long(h->c, lead, 4, text);
    if (e->failures && hints[pass])
        out_long(h->c, 0, 4,
                 hunt_first_in(h, pass) ? hints[pass] : "None of these failures is new: each was found without, too.");
}

void coverage_report(cli *c, const rad_target *t, const rad_exploration *e, uint64_t seed)
{
    out(c, "%sCovered%s\n", style(c, STYLE_BOLD), style(c, STYLE_OFF));
    for (uint32_t i = 0; i < e->phase_count && i < RAD_PHASES_MAX; i++) report_phase(c, &e->phases[i]);
    report_label(c, "runs");
    out(c, "%s, %s step%s, %.2f s", number(e->runs), number(e->steps), plural(e->steps), e->elapsed);
    if (e->elapsed > 0.01) out(c, " (%s runs/s)", number((uint64_t)((double)e->runs / e->elapsed)));
    out_text(c, "\n");
    if (e->cut) {
        report_label(c, "cut");
        out(c, "%s run%s, neither passed nor failed\n", number(e->cut), plural(e->cut));
    }
    if (e->held) {
        report_label(c, "fair");
        out(c, "in %s run%s actors that yield or spin were held back\n", number(e->held), plural(e->held));
    }
    report_label(c, "classes");
    out(c, "%s%s equivalence class%s\n", number(e->classes), e->classes_capped ? " or more" : "",
        e->classes == 1 ? "" : "es");
    if (e->states) {
        report_label(c, "states");
        out(c, "%s distinct state%s\n", number(e->states), plural(e->states));
    }
    report_processes(c, e);
    report_oracles(c, t, e);
    report_outside(c, t, e);
    report_sites(c, t, e);
    if (e->findings_dropped) {
        report_label(c, "dropped");
        out(c, "%s failing run%s of more kinds than the table holds\n", number(e->findings_dropped),
            plural(e->findings_dropped));
    }
    report_label(c, "seed");
    out(c, "%llu\n", (unsigned long long)seed);
    report_statement(c, t, e);
}

static void phases_json(writer *j, const rad_exploration *e)
{
    put_array(j, "phases");
    for (uint32_t i = 0; i < e->phase_count && i < RAD_PHASES_MAX; i++) {
        const rad_phase *p = &e->phases[i];
        put_object(j, NULL);
        put_text(j, "name", p->name);
        put_count(j, "runs", p->runs);
        put_count(j, "failures", p->failures);
        put_count(j, "cut", p->cut);
        put_bool(j, "bounded", p->bounded);
        put_bool(j, "exhausted", p->exhausted);
        put_bool(j, "pruned", p->pruned);
        put_bool(j, "endless", p->endless);
        if (p->spin_rounds) put_count(j, "spin_rounds", p->spin_rounds);
        if (p->spin_rounds) put_bool(j, "spent", p->spent);
        put_close(j, '}');
    }
    put_close(j, ']');
}

void coverage_json(writer *j, const rad_target *t, const rad_exploration *e)
{
    put_count(j, "runs", e->runs);
    put_count(j, "steps", e->steps);
    put_count(j, "failures", e->failures);
    put_count(j, "cut", e->cut);
    put_count(j, "held", e->held);
    put_count(j, "races_suppressed", e->races_suppressed);
    put_count(j, "classes", e->classes);
    put_bool(j, "classes_capped", e->classes_capped);
    if (e->states) put_count(j, "states", e->states);
    if (e->in_process || e->apart[0]) {
        put_count(j, "in_process", e->in_process);
        put_count(j, "audits", e->audits);
        put_text(j, "apart", e->apart);
    }
    put_bool(j, "complete", e->complete);
    put_bool(j, "interrupted", e->interrupted);
    put_bool(j, "out_of_time", e->out_of_time);
    put_bool(j, "out_of_steps", e->out_of_steps);
    put_real(j, "elapsed", e->elapsed);
    if (e->outside.count) {
        put_array(j, "outside");
        for (uint32_t i = 0; i < e->outside.count && i < RAD_OUTSIDE_MAX; i++) put_text(j, NULL, e->outside.texts[i]);
        put_close(j, ']');
    }
    phases_json(j, e);
    put_array(j, "oracles");
    for (uint32_t i = 0; i < RAD_ORACLES_MAX; i++) {
        const char *name = rad_oracle_name(t->machine, i);
        if (name) {
            put_object(j, NULL);
            put_text(j, "name", name);
            put_count(j, "evaluations", e->evaluations[i]);
            put_close(j, '}');
        }
    }
    put_close(j, ']');
    site_names names;
    sites_open(&names, t);
    put_array(j, "sites");
    for (uint32_t i = 0; i < e->site_count && i < SITES_MAX; i++) {
        const char *name = sites_name(&names, i);
        if (name && *name == 0) continue;
        put_object(j, NULL);
        put_text(j, "name", name);
        put_bool(j, "reached", e->site_reached[i] != 0);
        put_bool(j, "bug_site", t->machine->bug_site == i);
        put_close(j, '}');
    }
    put_close(j, ']');
    sites_close(&names);
    put_count(j, "findings_dropped", e->findings_dropped);
    char text[RAD_STATEMENT_MAX];
    put_text(j, "limits", rad_target_limits(t));
    rad_exploration_text(t, e, text);
    put_text(j, "verdict", text);
}
