#include "report.h"

#include "base/readable.h"
#include "os/debug_info.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *report_message(const rad_verdict *v)
{
    size_t size = strlen(v->kind);
    bool repeats = strncmp(v->message, v->kind, size) == 0 && v->message[size] == ':';
    const char *message = repeats ? v->message + size + 1 : v->message;
    while (*message == ' ') message++;
    return message;
}

void report_verdict(cli *c, uint32_t column, const rad_verdict *v)
{
    static const char *const words[] = {[RAD_RESULT_PASS] = "passed",
                                        [RAD_RESULT_FAILURE] = "FAILED",
                                        [RAD_RESULT_DIVERGED] = "DIVERGED",
                                        [RAD_RESULT_CUT] = "cut"};
    char text[700] = "";
    switch (v->result) {
    case RAD_RESULT_PASS:
        snprintf(text, sizeof text, ": %s step%s, %s decision%s", number(v->steps), plural(v->steps),
                 number(v->decisions), plural(v->decisions));
        break;
    case RAD_RESULT_FAILURE:
        rad__readable_text(text, sizeof text, ": %s at step %s: %s", v->kind, number(v->failure_step),
                           report_message(v));
        break;
    case RAD_RESULT_DIVERGED: rad__readable_text(text, sizeof text, ": %s", v->divergence); break;
    case RAD_RESULT_CUT:
        snprintf(text, sizeof text, ": not finished after %s step%s, neither passed nor failed", number(v->steps),
                 plural(v->steps));
        break;
    }
    const char *word = words[v->result];
    out(c, "%s%s%s", style(c, v->result == RAD_RESULT_PASS ? STYLE_GOOD : STYLE_BAD), word, style(c, STYLE_OFF));
    out_wrapped(c, column + (uint32_t)strlen(word), 4, text);
}

uint64_t first_event(const rad_story *s)
{
    return s->line_count > RAD_LAST_EVENTS ? s->line_count - RAD_LAST_EVENTS : 0;
}

void event_text(const rad_story *s, uint64_t line, char *text, size_t size)
{
    const rad_line *l = &s->lines[line];
    snprintf(text, size, "%llu %s: %s", (unsigned long long)l->step,
             l->actor < s->actor_count ? s->actors[l->actor] : "nobody", l->words);
}

void report_state(cli *c, const rad_story *s)
{
    const char *state = s->state;
    out(c, "%sState at the end%s\n", style(c, STYLE_BOLD), style(c, STYLE_OFF));
    while (state && *state) {
        char line[4096];
        size_t size = strcspn(state, "\n");
        snprintf(line, sizeof line, "%.*s", size < sizeof line ? (int)size : (int)sizeof line - 1, state);
        out_text(c, "   ");
        out_wrapped(c, 3, 7, line);
        state += size + (state[size] != 0);
    }
}

static void report_lines(cli *c, const char *title, const char *text)
{
    if (text == NULL) return;
    out(c, "\n%s%s%s\n", style(c, STYLE_BOLD), title, style(c, STYLE_OFF));
    while (*text) {
        size_t size = strcspn(text, "\n");
        out(c, "   %.*s\n", (int)size, text);
        text += size + (text[size] != 0);
    }
}

/* The path without the folder that raddle was called in. */
static const char *short_path(const char *path)
{
    static char here[1024];
    if (here[0] == 0 && getcwd(here, sizeof here) == NULL) snprintf(here, sizeof here, "?");
    size_t size = strlen(here);
    return strncmp(path, here, size) == 0 && path[size] == '/' ? path + size + 1 : path;
}

static void report_frame(cli *c, const rad_source_place *f)
{
    if (f->line == 0) {
        out(c, "      %s (%s)\n", f->function,
            rad__debug_is_there() ? "no debug information: compile with -g"
                                  : "no file and line: libdw.so.1 is not installed");
        return;
    }
    out(c, "      %s:%u in %s%s\n", short_path(f->file), f->line, f->function[0] ? f->function : "?",
        f->source[0] ? "" : " (source file not found)");
    if (f->source[0]) out(c, "         %s\n", f->source);
}

/* Calls in libraries, before the next one of the program's own code or the end. 0: there is none that is its own. */
static uint32_t library_calls(const rad_source_stack *stack, uint32_t from)
{
    uint32_t k = from;
    bool own = false;
    for (uint32_t i = 0; i < stack->frame_count; i++) own |= stack->frames[i].own;
    while (own && k < stack->frame_count && !stack->frames[k].own) k++;
    return k - from;
}

/* The innermost calls, and the outermost one: between them may be a recursion. Libraries are passed over. */
static void report_stack(cli *c, const rad_source_stack *stack)
{
    enum { INNERMOST = 8 };
    uint32_t count = stack->frame_count, passed;
    for (uint32_t k = 0; k < count; k++) {
        if ((passed = library_calls(stack, k)) > 0) {
            k += passed - 1;
            if (k + 1 < count) out(c, "      … %u call%s in libraries …\n", (unsigned)passed, passed > 1 ? "s" : "");
            continue;
        }
        if (k == INNERMOST && count > INNERMOST + 2) {
            out(c, "      … %u more calls …\n", (unsigned)(count - INNERMOST - 1));
            k = count - 1;
        }
        report_frame(c, &stack->frames[k]);
    }
}

/* Those that failed, or those that wait. */
static void report_stacks(cli *c, const rad_story *s, bool failed, const char *title)
{
    bool any = false;
    for (uint32_t i = 0; i < s->stack_count; i++) {
        const rad_source_stack *stack = &s->stacks[i];
        if (stack->failed != failed || stack->actor >= s->actor_count) continue;
        if (!any) out(c, "\n%s%s%s\n", style(c, STYLE_BOLD), title, style(c, STYLE_OFF));
        any = true;
        out(c, "   %s%s\n", s->actors[stack->actor], stack->full ? ": its stack is full (rad_options.stack_size)" : "");
        report_stack(c, stack);
    }
}

static void report_blame(cli *c, const rad_story *s)
{
    const char *text = s->blame;
    if (text == NULL) return;
    out(c, "\n%sWhy nothing woke them%s\n", style(c, STYLE_BOLD), style(c, STYLE_OFF));
    while (*text) {
        char line[1024];
        size_t size = strcspn(text, "\n");
        snprintf(line, sizeof line, "%.*s", size < sizeof line ? (int)size : 0, text);
        out_text(c, "   ");
        out_wrapped(c, 3, 7, line);
        text += size + (text[size] != 0);
    }
}

void report_output(cli *c, const rad_story *s)
{
    report_blame(c, s);
    report_stacks(c, s, true, "Where it failed");
    report_stacks(c, s, false, "Where they wait");
    report_lines(c, "Output of this run", s->output);
}

void report_events(cli *c, const rad_story *s)
{
    out(c, "\n%sLast %s events%s\n", style(c, STYLE_BOLD), number(s->line_count - first_event(s)), style(c, STYLE_OFF));
    for (uint64_t i = first_event(s); i < s->line_count; i++) {
        char text[256];
        event_text(s, i, text, sizeof text);
        out(c, "   %s\n", text);
    }
}

void report_label(cli *c, const char *label)
{
    out(c, "  %s%-10s%s ", style(c, STYLE_DIM), label, style(c, STYLE_OFF));
}

/* ---- Sites ----------------------------------------------------------------------------------------- */

void sites_open(site_names *s, const rad_target *t)
{
    rad_error error = {.code = 0};
    *s = (site_names){.machine = t->machine};
    if (t->machine->site_name && t->machine->create(&s->self, t->machine, &t->c, &error) != 0) s->self = NULL;
}

const char *sites_name(const site_names *s, uint32_t site)
{
    return s->self ? s->machine->site_name(s->self, site) : NULL;
}

void sites_close(site_names *s)
{
    if (s->self) s->machine->destroy(s->self);
    s->self = NULL;
}

/* ---- JSON ------------------------------------------------------------------------------------------ */

void put_target(writer *j, const rad_target *t)
{
    put_text(j, "machine", t->machine->name);
    put_object(j, "case");
    put_bool(j, "repaired", t->c.repaired);
    put_count(j, "max_steps", t->c.max_steps);
    put_object(j, "params");
    for (uint32_t i = 0; i < RAD_PARAMS_MAX && t->machine->params && t->machine->params[i].name; i++)
        put_integer(j, t->machine->params[i].name, t->c.params[i]);
    put_close(j, '}');
    if (t->c.body) put_json(j, "body", t->c.body);
    put_close(j, '}');
}

void put_failure(writer *j, const char *key, const rad_verdict *v)
{
    if (v->result != RAD_RESULT_FAILURE) {
        put_text(j, key, NULL);
        return;
    }
    put_object(j, key);
    put_text(j, "kind", v->kind);
    put_count(j, "step", v->failure_step);
    put_text(j, "message", v->message);
    put_text(j, "identity", v->identity);
    put_close(j, '}');
}

void put_verdict(writer *j, const rad_verdict *v)
{
    static const char *const results[] = {[RAD_RESULT_PASS] = "pass",
                                          [RAD_RESULT_FAILURE] = "failure",
                                          [RAD_RESULT_DIVERGED] = "diverged",
                                          [RAD_RESULT_CUT] = "cut"};
    put_text(j, "result", results[v->result]);
    put_count(j, "steps", v->steps);
    put_count(j, "decisions", v->decisions);
    put_text(j, "trace_hash", v->trace_hash);
    put_failure(j, "failure", v);
    if (v->result == RAD_RESULT_DIVERGED) put_text(j, "divergence", v->divergence);
}

void put_measure(writer *j, const char *key, const rad_measure *m)
{
    put_object(j, key);
    put_count(j, "case_size", m->case_size);
    put_count(j, "choices", m->choices);
    put_count(j, "nonzero", m->nonzero);
    put_count(j, "preemptions", m->preemptions);
    put_count(j, "switches", m->switches);
    put_count(j, "steps", m->steps);
    put_close(j, '}');
}
