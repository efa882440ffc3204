/* list.c — `raddle list`: machines, policies, strategies. */
#include "options.h"
#include "report.h"

#include <stdio.h>
#include <string.h>

typedef struct list_args {
    bool all, json;
} list_args;

static const option LIST_OPTIONS[] = {
    {"all", OPTION_FLAG, offsetof(list_args, all), NULL, "also list machines that test Raddle itself", 0, 0, 0},
    OPTION_JSON(list_args),
    {NULL, OPTION_FLAG, 0, NULL, NULL, 0, 0, 0},
};

static void list_param(cli *c, const rad_param *p)
{
    char text[256], name[96];
    snprintf(name, sizeof name, "    %s=%lld  ", p->name, (long long)p->default_value);
    snprintf(text, sizeof text, "%s (%lld to %lld)", p->about ? p->about : "", (long long)p->min, (long long)p->max);
    out(c, "%s", name);
    out_long(c, (uint32_t)strlen(name), 8, text);
}

static void list_machine(cli *c, const rad_machine *m)
{
    out(c, "\n%s%s%s  ", style(c, STYLE_BOLD), m->name, style(c, STYLE_OFF));
    out_long(c, (uint32_t)strlen(m->name) + 2, 4, m->about ? m->about : "");
    for (const rad_param *p = m->params; p && p->name; p++) list_param(c, p);
    if (m->body) out(c, "    case  a document: %s explore FILE.json\n", c->self);
    if (m->bug) {
        out_text(c, "    bug   ");
        out_long(c, 10, 10, m->bug);
        out(c, "    fixed without the bug: %s explore %s%s%s --fixed\n", c->self, c->program, *c->program ? " " : "",
            m->name);
    }
}

static void list_named(cli *c, const char *title, bool (*at)(uint32_t, rad_named *))
{
    rad_named n;
    out(c, "\n%s%s%s\n", style(c, STYLE_BOLD), title, style(c, STYLE_OFF));
    for (uint32_t i = 0; at(i, &n); i++) {
        out(c, "    %-12s ", n.name);
        out_long(c, 17, 17, n.about);
    }
}

/* What is listed without --all: in a program, its own machines; in raddle, those that do not test raddle itself. */
static bool is_shown(const rad_machine *m, bool all)
{
    bool program = rad_lab_program_own() != NULL;
    return all || (program ? rad_machine_is_added(m) : !m->self_test);
}

static void list_text(cli *c, bool all)
{
    const rad_machine *m;
    uint32_t hidden = 0;
    out(c, "Machines: explore, run MACHINE [NAME=VALUE …]\n");
    for (uint32_t i = 0; (m = rad_machine_at(i)) != NULL; i++)
        if (is_shown(m, all))
            list_machine(c, m);
        else
            hidden++;
    if (hidden) {
        out(c, "\n%s more %s: %s list%s%s --all\n", number(hidden),
            rad_lab_program_own() ? "ship with raddle" : "test raddle itself", c->self, *c->program ? " " : "",
            c->program);
    }
    list_named(c, "Policies: run --policy P", rad_policy_at);
    list_named(c, "Strategies: explore --strategy S", rad_strategy_at);
}

static void json_machine(writer *j, const rad_machine *m)
{
    put_object(j, NULL);
    put_text(j, "name", m->name);
    put_text(j, "about", m->about);
    put_array(j, "params");
    for (const rad_param *p = m->params; p && p->name; p++) {
        put_object(j, NULL);
        put_text(j, "name", p->name);
        put_integer(j, "default", p->default_value);
        put_integer(j, "min", p->min);
        put_integer(j, "max", p->max);
        put_text(j, "about", p->about);
        put_bool(j, "fixed", p->fixed);
        put_close(j, '}');
    }
    put_close(j, ']');
    if (m->body) put_json(j, "body", m->body);
    put_text(j, "bug", m->bug);
    put_bool(j, "twin", m->bug != NULL);
    put_bool(j, "self_test", m->self_test);
    put_array(j, "oracles");
    for (const char *const *o = m->oracles; o && *o; o++) put_text(j, NULL, *o);
    put_close(j, ']');
    put_close(j, '}');
}

static void json_named(writer *j, const char *key, bool (*at)(uint32_t, rad_named *))
{
    rad_named n;
    put_array(j, key);
    for (uint32_t i = 0; at(i, &n); i++) {
        put_object(j, NULL);
        put_text(j, "name", n.name);
        put_text(j, "about", n.about);
        put_close(j, '}');
    }
    put_close(j, ']');
}

static void list_json(cli *c, bool all)
{
    const rad_machine *m;
    writer j;
    put_begin(&j, c);
    put_text(&j, "verb", "list");
    put_array(&j, "machines");
    for (uint32_t i = 0; (m = rad_machine_at(i)) != NULL; i++)
        if (is_shown(m, all)) json_machine(&j, m);
    put_close(&j, ']');
    json_named(&j, "policies", rad_policy_at);
    json_named(&j, "strategies", rad_strategy_at);
    put_end(&j);
}

static int list_run(cli *c, int argc, char **argv)
{
    list_args a = {.json = false};
    words w;
    int status = options_parse(c, &VERB_LIST, argc, argv, &a, &w);
    if (status != GO_ON) return status;
    ends_at_once(c, &VERB_LIST);
    if (w.count > 0)
        return bad_usage(c, "unexpected argument '%.80s'; a program is a path with a slash, such as ./%.80s", w.at[0],
                         w.at[0]);
    (a.json ? list_json : list_text)(c, a.all);
    return EXIT_FINE;
}

static const char *const LIST_EXAMPLES[] = {
    "raddle list",
    "everything that can be explored, and how",
    "raddle list --all --json | jq -r .machines[].name",
    "names only, also of the machines that test Raddle itself",
    NULL,
};

const verb VERB_LIST = {
    .name = "list",
    .about = "list machines, policies and strategies",
    .usage = "[./PROGRAM] [options]",
    .text = "List machines with their parameters, bugs and fixed versions; policies, which choose "
            "within a run; strategies, which plan many runs.\n\n"
            "Machines that test Raddle itself (exec, load, l2-...) need --all to be listed; every "
            "command takes them without it.",
    .status = "0 done, " STATUS_ERRORS,
    .options = LIST_OPTIONS,
    .examples = LIST_EXAMPLES,
    .run = list_run,
};
