/* tour_flow.c — the tour's part on workflows: an order that is interrupted, gone on with and taken back, with real
 * commands; and a flow that can get stuck, which the lab finds. */
#include "tour.h"

#include <raddle/flow.h>

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char ORDER[] = "flow order {\n"
                            "    task reserve { run \"echo one book\" undo release }\n"
                            "    task release { run \"echo back on the shelf\" }\n"
                            "    task charge  { run \"echo 12 euros\" undo refund }\n"
                            "    task refund  { run \"echo 12 euros back\" }\n"
                            "    task ship    { run \"exit 1\" retry 1 }\n"
                            "    region purchase {\n"
                            "        par { do reserve } and { do charge }\n"
                            "        do ship\n"
                            "    } on failure { compensate purchase }\n"
                            "}\n";

static const char CLUMSY[] = "flow clumsy {\n"
                             "    par { lock till { lock stock { } } }\n"
                             "    and { lock stock { lock till { } } }\n"
                             "}\n";

typedef struct watcher {
    cli *c;
    int stop;          /* set after the first command has ended */
    uint32_t done;     /* commands that ended well */
    bool stop_on_done; /* of the first run */
} watcher;

static void watch(void *context, const rad_flow_progress *p)
{
    watcher *w = context;
    if (p->news == RAD_FLOW_TASK_DONE) {
        out(w->c, "      + %s\n", p->task);
        w->done++;
        if (w->stop_on_done) w->stop = 1;
    }
    if (p->news == RAD_FLOW_TASK_FAILED)
        out(w->c, "      ! %s failed, attempt %u\n", p->task, p->attempt);
}

/* A case's folder and what is in it; one level of folders inside. */
static void remove_folder(const char *folder, uint32_t depth)
{
    char path[4096];
    DIR *d = opendir(folder);
    if (d == NULL) return;
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
        if (!join_path(path, sizeof path, folder, e->d_name)) continue;
        if (unlink(path) != 0 && depth > 0) remove_folder(path, depth - 1);
    }
    closedir(d);
    rmdir(folder);
}

/* Interrupted after the first command, then gone on with. */
static int run_order(cli *c, const char *folder)
{
    rad_error error = {.code = 0};
    rad_flow *f;
    rad_flow_result r;
    rad_flow_options o = rad_flow_preset();
    watcher w = {.c = c, .stop_on_done = true};
    o.watch = watch;
    o.context = &w;
    o.stop = &w.stop;
    o.jobs = 1;
    if (rad_flow_parse(&f, "order.flow", ORDER, strlen(ORDER), NULL, &error) != 0)
        return complain_error(c, &error);
    int code = rad_flow_run(f, folder, &o, &r, &error);
    if (code == 0 && r.end != RAD_FLOW_END_INTERRUPTED) {
        rad_flow_free(f);
        return tour_not_as_told(c, "a case was not interrupted");
    }
    if (code == 0) {
        out(c, "   interrupted. Another runner goes on:\n");
        w.stop_on_done = false;
        o.stop = c->stop;
        code = rad_flow_resume(f, folder, &o, &r, &error);
    }
    rad_flow_free(f);
    if (code != 0) return complain_error(c, &error);
    if (*c->stop) return EXIT_INTERRUPTED;
    if (r.end != RAD_FLOW_END_DONE || w.done != 4)
        return tour_not_as_told(c, "a command ran twice, or not at all");
    return 0;
}

static int replay_order(cli *c, const char *folder)
{
    rad_error error = {.code = 0};
    rad_flow_replayed again;
    if (rad_flow_replay(folder, &again, NULL, &error) != 0) return complain_error(c, &error);
    if (!again.as_recorded) return tour_not_as_told(c, "a journal does not replay");
    out(c, "   done: each command ran once, the newest was taken back first.\n");
    out(c, "   From the journal alone: %s steps, as recorded.\n\n", number(again.steps));
    return 0;
}

/* Two tokens, two locks, two orders. */
static int try_clumsy(cli *c, const char *file)
{
    rad_error error = {.code = 0};
    rad_target t;
    rad_exploration e = {.runs = 0};
    if (rad_flow_keep(file, CLUMSY, &error) != 0) return complain_error(c, &error);
    int code = rad_target_flow(&t, file, NULL, &error);
    remove(file);
    if (code != 0) return complain_error(c, &error);
    rad_explore_options o = {.runs = 1000, .seed = 1, .jobs = 1, .stop_on_first = true};
    code = rad_lab_explore(&t, &o, &e, &error);
    int status = code != 0 ? complain_error(c, &error) : 0;
    if (status == 0 && e.finding_count == 0)
        status = tour_not_as_told(c, "a flow that can get stuck was not found out");
    if (status == 0) {
        const rad_verdict *v = rad_artifact_verdict(e.findings[0].artifact);
        out(c, "\n   %s\n   found in run %s: %s at step %s\n",
            "par { lock till { lock stock { } } } and { lock stock { lock till { } } }",
            number(e.findings[0].run + 1), v->kind, number(v->failure_step));
    }
    rad_exploration_free(&e);
    rad_target_free(&t);
    return status;
}

int tour_flow(cli *c, const char *folder)
{
    char place[4000], file[4000];
    if (!join_path(place, sizeof place, folder, "order.case") ||
        !join_path(file, sizeof file, folder, "clumsy.flow"))
        return bad_usage(c, "--output: too long");
    tour_part(c, 11, "Workflows: killed, gone on with, taken back", "flow run order.flow");
    out_paragraph(c, 3,
                  "An order: reserve and charge side by side, then ship, which fails twice; so "
                  "what was done is taken back. "
                  "Tasks are shell commands. The runner is interrupted after the first of them:");
    out(c, "\n");
    int status = run_order(c, place);
    if (status == 0) status = replay_order(c, place);
    remove_folder(place, 1);
    if (status != 0) return status;
    out_paragraph(c, 3,
                  "The lab tries every order in which a flow can go on (raddle explore "
                  "clumsy.flow; raddle flow validate "
                  "says more). This one can get stuck:");
    return try_clumsy(c, file);
}
