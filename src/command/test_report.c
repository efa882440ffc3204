/* test_report.c — see test.h.
 *
 * TAP is version 12, as every reader knows it: a plan, a line a test, and everything else behind "# ". Meson takes any
 * other line for an error, so nothing else is printed then. JUnit's file has the elements that Jenkins, GitLab and
 * GitHub's reporters read. */
#include "test.h"

#include "base/escape.h"
#include "os/file.h"

#include <stdio.h>
#include <string.h>

enum { LEAD = 6 }; /* "pass  " */

static const char *const RESULTS[] = {"pass", "fail", "unfit", "skip"};

/* ---- Lines ---------------------------------------------------------------------------------------- */

/* Each line of a text behind `lead`. It has passed the gate when it was captured. */
static void put_behind(cli *c, const char *lead, const rad_bytes *text)
{
    const char *at = (const char *)text->data, *end = at + text->size;
    while (at < end) {
        const char *line = memchr(at, '\n', (size_t)(end - at));
        size_t size = (size_t)((line ? line : end) - at);
        while (size > 0 && at[size - 1] == ' ') size--;
        out_text(c, size ? lead : lead[0] == '#' ? "#" : "");
        out_raw(c, at, size);
        out_text(c, "\n");
        at = line ? line + 1 : end;
    }
}

static void tell_lines(const test_report *r, const test_outcome *o)
{
    cli *c = r->c;
    bool good = o->result == TEST_PASSED;
    bool skipped = o->result == TEST_SKIPPED;
    out(c, "%s%s%s  %s%s%s: ",
        style(c, good      ? STYLE_GOOD
                 : skipped ? STYLE_DIM
                           : STYLE_BAD),
        good      ? "pass"
        : skipped ? "skip"
                  : "FAIL",
        style(c, STYLE_OFF), style(c, STYLE_BOLD), o->name, style(c, STYLE_OFF));
    if (good || skipped)
        out_wrapped(c, LEAD + (uint32_t)strlen(o->name) + 2, LEAD, o->message);
    else
        out(c, "%s\n", o->message); /* places in it are found by other programs */
    put_behind(c, "      ", &o->details);
    out_flush(c);
}

static void tell_tap(const test_report *r, const test_outcome *o)
{
    bool failed = o->result == TEST_FAILED || o->result == TEST_UNFIT;
    out(r->c, "%s %u - %s", failed ? "not ok" : "ok", r->told, o->name);
    out_text(r->c, o->result == TEST_SKIPPED ? " # SKIP " : "\n# ");
    out(r->c, "%s\n", o->message);
    put_behind(r->c, "# ", &o->details);
    out_flush(r->c);
}

/* ---- JSON ----------------------------------------------------------------------------------------- */

static void tell_json(test_report *r, const catalog *k, const test_outcome *o)
{
    writer *j = &r->j;
    put_object(j, NULL);
    put_text(j, "name", o->name);
    put_text(j, "file", o->file);
    put_count(j, "line", o->line);
    put_text(j, "result", RESULTS[o->result]);
    put_text(j, "message", o->message);
    if (o->e) {
        put_count(j, "runs", o->e->runs);
        put_count(j, "steps", o->e->steps);
        put_count(j, "cut", o->e->cut);
        put_bool(j, "complete", o->e->complete);
        put_real(j, "elapsed", o->e->elapsed);
        goals_json(j, k, o->name, o->e);
    }
    const rad_exploration *done[PASSES] = {[PASS_FIRST] = o->e};
    if (o->hunt && o->e) hunt_json(j, o->hunt, done);
    put_close(j, '}');
}

/* ---- JUnit ---------------------------------------------------------------------------------------- */

static void put_plain(rad_bytes *b, const char *text)
{
    rad__bytes_put(b, text, strlen(text));
}

static void put_attribute(rad_bytes *b, const char *name, const char *value)
{
    put_plain(b, " ");
    put_plain(b, name);
    put_plain(b, "=\"");
    rad__put_xml_text(b, value, strlen(value), RAD_READABLE_NAME);
    put_plain(b, "\"");
}

static void put_seconds(rad_bytes *b, double seconds)
{
    char text[40];
    snprintf(text, sizeof text, "%.3f", seconds);
    put_attribute(b, "time", text);
}

static void add_case(test_report *r, const test_outcome *o)
{
    rad_bytes *b = &r->cases;
    put_plain(b, "    <testcase");
    put_attribute(b, "classname", r->program);
    put_attribute(b, "name", o->name);
    if (o->file) put_attribute(b, "file", o->file);
    put_seconds(b, o->e ? o->e->elapsed : 0);
    put_plain(b, ">\n");
    if (o->result == TEST_SKIPPED) {
        put_plain(b, "      <skipped");
        put_attribute(b, "message", o->message);
        put_plain(b, "/>\n");
    } else if (o->result != TEST_PASSED) {
        const char *element = o->result == TEST_FAILED ? "failure" : "error";
        put_plain(b, "      <");
        put_plain(b, element);
        put_attribute(b, "message", o->message);
        put_attribute(b, "type", o->kind ? o->kind : "unfit");
        put_plain(b, ">");
        rad__put_xml_text(b, (const char *)o->details.data, o->details.size, RAD_READABLE_LINES);
        put_plain(b, "</");
        put_plain(b, element);
        put_plain(b, ">\n");
    } else {
        put_plain(b, "      <system-out>");
        rad__put_xml_text(b, o->message, strlen(o->message), RAD_READABLE_LINES);
        put_plain(b, "</system-out>\n");
    }
    put_plain(b, "    </testcase>\n");
}

static int write_junit(test_report *r)
{
    rad_error error = {.code = 0};
    rad_bytes whole = {.data = NULL};
    char counts[120];
    snprintf(counts, sizeof counts, " tests=\"%u\" failures=\"%u\" errors=\"%u\" skipped=\"%u\"", r->planned,
             r->failed - r->unfit, r->unfit, r->planned - r->told + r->skipped);
    put_plain(&whole, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite");
    put_attribute(&whole, "name", r->program);
    put_plain(&whole, counts);
    put_seconds(&whole, r->seconds);
    put_plain(&whole, ">\n");
    rad__bytes_put(&whole, r->cases.data, r->cases.size);
    put_plain(&whole, "  </testsuite>\n</testsuites>\n");
    if (whole.failed || r->cases.failed) {
        complain(r->c, "out of memory");
        rad__bytes_free(&whole);
        return EXIT_RUNTIME;
    }
    int code = rad__os_write_file(r->junit, whole.data, whole.size, &error);
    rad__bytes_free(&whole);
    return code == 0 ? 0 : complain_error(r->c, &error);
}

/* ---- The whole ------------------------------------------------------------------------------------- */

void report_begin(test_report *r, uint32_t planned)
{
    r->planned = planned;
    if (r->form == TEST_TAP) out(r->c, "1..%u\n", planned);
    if (r->form != TEST_JSON) return;
    put_begin(&r->j, r->c);
    put_text(&r->j, "verb", "test");
    put_text(&r->j, "program", r->program);
    put_count(&r->j, "seed", r->seed);
    put_array(&r->j, "tests");
}

void report_test(test_report *r, const catalog *k, const test_outcome *o)
{
    r->told++;
    r->failed += o->result == TEST_FAILED || o->result == TEST_UNFIT;
    r->skipped += o->result == TEST_SKIPPED;
    r->unfit += o->result == TEST_UNFIT;
    r->seconds += o->e ? o->e->elapsed : 0;
    if (r->form == TEST_JSON)
        tell_json(r, k, o);
    else
        (r->form == TEST_TAP ? tell_tap : tell_lines)(r, o);
    if (r->junit) add_case(r, o);
}

/* TAP has them as comments. */
static void report_suppressed(test_report *r, const suppressions *known)
{
    rad_bytes lines = {0}, *before = r->c->capture;
    if (r->form == TEST_TAP) r->c->capture = &lines;
    suppressions_report(r->c, known);
    r->c->capture = before;
    for (const char *at = (const char *)lines.data, *end = at + lines.size; at < end;) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        int size = (int)((next ? next : end) - at);
        out(r->c, "#%.*s\n", size, at);
        at += size + 1;
    }
    rad__bytes_free(&lines);
}

int report_end(test_report *r, const char *limits, const suppressions *known, bool interrupted)
{
    uint32_t passed = r->told - r->failed - r->skipped;
    if (r->form == TEST_JSON) {
        put_close(&r->j, ']');
        put_count(&r->j, "passed", passed);
        put_count(&r->j, "failed", r->failed);
        put_count(&r->j, "skipped", r->skipped);
        put_bool(&r->j, "interrupted", interrupted);
        put_text(&r->j, "limits", limits);
        suppressions_json(&r->j, known);
        put_end(&r->j);
    } else {
        bool tap = r->form == TEST_TAP;
        if (tap && interrupted) out_text(r->c, "Bail out! interrupted\n");
        out(r->c, "%s%u passed, %u failed, ", tap ? "# " : "", passed, r->failed);
        if (r->skipped) out(r->c, "%u skipped, ", r->skipped);
        out(r->c, "seed %llu%s\n", (unsigned long long)r->seed, interrupted ? ", interrupted" : "");
        report_suppressed(r, known);
    }
    int status = r->junit ? write_junit(r) : 0;
    rad__bytes_free(&r->cases);
    return status;
}
