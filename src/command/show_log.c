/* show_log.c — `raddle show` of a decision log: each decision with the set that it was made from. */
#include "show_log.h"

#include "json.h"

#include <stdio.h>

static void json_decision(writer *j, const rad_log_decision *d)
{
    put_object(j, NULL);
    put_count(j, "sequence", d->sequence);
    put_count(j, "count", d->count);
    put_count(j, "chosen", d->chosen);
    if (d->set) {
        put_array(j, "actors");
        for (uint32_t i = 0; i < d->count; i++) put_count(j, NULL, d->set[i].actor);
        put_close(j, ']');
    }
    put_close(j, '}');
}

static void tell_decision(cli *c, const rad_log_decision *d)
{
    out(c, "%6llu ", (unsigned long long)d->sequence);
    if (d->set == NULL) out(c, " value %u of 0 to %u", d->chosen, d->count - 1);
    for (uint32_t i = 0; d->set && i < d->count; i++) {
        bool chosen = i == d->chosen;
        out(c, " %s%sactor %u%s%s", chosen ? style(c, STYLE_MARK) : "", chosen ? "[" : "", d->set[i].actor,
            chosen ? "]" : "", chosen ? style(c, STYLE_OFF) : "");
    }
    out_text(c, "\n");
}

static int walk_log(cli *c, const rad_log *log, writer *j, rad_error *error)
{
    rad_log_walk *walk = NULL;
    rad_log_decision d;
    int got = rad_log_begin(&walk, log, error);
    while (got >= 0 && !*c->stop && (got = rad_log_next(walk, &d, error)) == 1)
        if (j)
            json_decision(j, &d);
        else
            tell_decision(c, &d);
    rad_log_end(walk);
    return got < 0 ? got : 0;
}

int show_log(cli *c, const char *path, bool json)
{
    static const char *const results[] = {"passed", "failed", "cut"};
    rad_error error = {.code = 0};
    rad_log *log = NULL;
    rad_log_facts f;
    char target[256];
    writer j;
    if (rad_log_read(&log, path, &error) != 0) return refuse_file(c, path, &error);
    rad_log_look(log, &f);
    rad_target_text(f.target, target, sizeof target);
    if (json) {
        put_begin(&j, c);
        put_text(&j, "verb", "show");
        put_text(&j, "file", path);
        put_target(&j, f.target);
        put_text(&j, "policy", f.policy);
        put_count(&j, "seed", f.seed);
        put_count(&j, "steps", f.steps);
        put_text(&j, "trace_hash", f.trace_hash);
        put_array(&j, "decisions");
    } else {
        out(c, "%s%s%s: decision log of %s, policy %s, seed %llu: %s, %s decision%s, %s step%s\n\n",
            style(c, STYLE_BOLD), path, style(c, STYLE_OFF), target, f.policy, (unsigned long long)f.seed,
            results[f.result], number(f.decisions), plural(f.decisions), number(f.steps), plural(f.steps));
    }
    int code = walk_log(c, log, json ? &j : NULL, &error);
    if (json) {
        put_close(&j, ']');
        put_end(&j);
    }
    rad_log_free(log);
    return code != 0 ? complain_error(c, &error) : *c->stop ? EXIT_INTERRUPTED : EXIT_FINE;
}
