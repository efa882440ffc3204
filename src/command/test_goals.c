/* test_goals.c — see test.h. */
#include "test.h"

#include "report.h"

#include <stdio.h>
#include <string.h>

static bool is_in_test(const catalog_goal *g, const char *test)
{
    static const char begin[] = "rad_test_of_";
    return strncmp(g->function, begin, sizeof begin - 1) == 0 && strcmp(g->function + sizeof begin - 1, test) == 0;
}

static bool is_in_file(const catalog *k, const catalog_goal *g, const char *test)
{
    for (uint32_t i = 0; i < k->test_count; i++)
        if (strcmp(k->tests[i].name, test) == 0) return strcmp(k->tests[i].file, g->file) == 0;
    return false;
}

enum goal_state goal_of_test(const catalog *k, uint32_t goal, const char *test, const rad_exploration *e)
{
    uint32_t site = goal_site(goal);
    if (site + 1 >= sizeof e->site_reached) return GOAL_ELSEWHERE;
    if (e->site_reached[site + 1]) return GOAL_HELD;
    if (e->site_reached[site]) return is_in_file(k, &k->goals[goal], test) ? GOAL_NEVER_TRUE : GOAL_OF_OTHERS;
    return is_in_test(&k->goals[goal], test) ? GOAL_NOT_COME_TO : GOAL_ELSEWHERE;
}

bool goal_is_bad(enum goal_state s)
{
    return s == GOAL_NEVER_TRUE || s == GOAL_NOT_COME_TO;
}

void goal_text(const catalog *k, uint32_t goal, enum goal_state s, uint64_t runs, char *text, size_t size)
{
    const catalog_goal *g = &k->goals[goal];
    const char *slash = strrchr(g->file, '/');
    rad__readable_text(text, size, "sometimes, but never in %s run%s: %s (%s:%u, %s)", number(runs), plural(runs),
                       g->what, slash ? slash + 1 : g->file, g->line,
                       s == GOAL_NOT_COME_TO ? "no run came there" : "not true there");
}

void goals_join(const catalog *k, rad_exploration *into, const rad_exploration *from)
{
    uint32_t end = goal_site(k->goal_count);
    for (uint32_t i = goal_site(0); i < end && i < sizeof into->site_reached; i++)
        into->site_reached[i] |= from->site_reached[i];
}

uint32_t goals_bad(const catalog *k, const char *test, const rad_exploration *e, char *text, size_t size)
{
    uint32_t bad = 0;
    for (uint32_t i = 0; i < k->goal_count; i++) {
        enum goal_state s = goal_of_test(k, i, test, e);
        if (!goal_is_bad(s)) continue;
        if (bad++ == 0 && text) goal_text(k, i, s, e->runs, text, size);
    }
    return bad;
}

void goals_report(cli *c, const catalog *k, const char *test, const rad_exploration *e)
{
    for (uint32_t i = 0; i < k->goal_count; i++) {
        char text[400];
        enum goal_state s = goal_of_test(k, i, test, e);
        if (s == GOAL_ELSEWHERE) continue;
        report_label(c, s == GOAL_HELD ? "sometimes" : goal_is_bad(s) ? "NEVER" : "not here");
        goal_text(k, i, s, e->runs, text, sizeof text);
        if (s == GOAL_HELD)
            out(c, "%s\n", k->goals[i].what);
        else
            out(c, "%s\n", text);
    }
}

void goals_json(writer *j, const catalog *k, const char *test, const rad_exploration *e)
{
    put_array(j, "sometimes");
    for (uint32_t i = 0; i < k->goal_count; i++) {
        const catalog_goal *g = &k->goals[i];
        enum goal_state s = goal_of_test(k, i, test, e);
        if (s == GOAL_ELSEWHERE) continue;
        put_object(j, NULL);
        put_text(j, "what", g->what);
        put_text(j, "file", g->file);
        put_count(j, "line", g->line);
        put_bool(j, "reached", s != GOAL_NOT_COME_TO);
        put_bool(j, "held", s == GOAL_HELD);
        put_close(j, '}');
    }
    put_close(j, ']');
}
