/* render_page.c — see render_page.h. */
#include "load/report/render_page.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define COUNT(n) rad__load_count_label(n).text
#define MS(ns)   rad__load_ms_label(ns).text

/* Lines have a pattern as well as a colour: they can be told apart without colours. */
static const char STYLE[] =
    ":root{color-scheme:light dark;--paper:#f6f6f3;--card:#fff;--ink:#1b1f24;--soft:#667085;"
    "--rule:#e4e4df;--c1:#2563eb;--c2:#c2620a;--c3:#d1293d;--c4:#7c8798;--c5:#0f8a5f;"
    "--good:#0f8a5f;--bad:#d1293d}\n"
    "@media(prefers-color-scheme:dark){:root{--paper:#14171b;--card:#1c2026;--ink:#e8eaed;"
    "--soft:#98a2b3;--rule:#2e343c;--c1:#6ea8fe;--c2:#f3a457;--c3:#ff7a85;--c4:#8b95a5;"
    "--c5:#4fcf9f;--good:#4fcf9f;--bad:#ff7a85}}\n"
    "*{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);"
    "font:16px/1.5 system-ui,-apple-system,\"Segoe UI\",Roboto,sans-serif}\n"
    "main{max-width:1120px;margin:0 auto;padding:28px 16px 48px}\n"
    "h1{font-size:1.7rem;line-height:1.2;margin:0 0 4px;overflow-wrap:anywhere}"
    "h2{font-size:1.1rem;margin:0 0 10px}.lead{color:var(--soft);margin:0 0 22px}\n"
    ".lead b{color:var(--ink);font-weight:600}"
    ".tiles{display:grid;grid-template-columns:repeat(4,1fr);gap:12px;"
    "margin:0 0 20px;padding:0;list-style:none}\n"
    ".tiles li,figure,.card{background:var(--card);border:1px solid var(--rule);border-radius:12px}"
    ".tiles li{padding:12px 16px;min-width:0}.tiles "
    "span{display:block;color:var(--soft);font-size:.82rem}"
    ".tiles "
    "strong{display:block;font-size:1.45rem;line-height:1.3;font-weight:650;white-space:nowrap;"
    "font-variant-numeric:tabular-nums;letter-spacing:-.01em}"
    ".tiles small{font-size:.8rem;color:var(--soft);font-weight:400}"
    ".good{color:var(--good)}.bad{color:var(--bad)}\n"
    ".plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,460px),1fr));"
    "gap:12px}figure{margin:0;padding:14px 14px 12px;min-width:0}"
    "figcaption{font-size:.95rem;display:flex;flex-wrap:wrap;gap:0 10px;align-items:baseline}"
    ".unit{color:var(--soft);font-size:.82rem;margin-right:auto}"
    ".key{font-size:.82rem;color:var(--soft)}"
    ".key::before{content:\"\";display:inline-block;width:18px;border-top:2.5px solid;"
    "vertical-align:middle;margin-right:5px}"
    ".key.c1::before{color:var(--c1)}.key.c2::before{color:var(--c2);border-top-style:dashed}"
    ".key.c3::before{color:var(--c3);border-top-style:dotted}.key.c4::before{color:var(--c4)}\n"
    "svg{display:block;width:100%;height:auto;margin-top:6px}"
    ".about,.note{color:var(--soft);font-size:.85rem;margin:6px 2px 0}.note{margin:12px 2px}"
    ".tick{fill:var(--soft);font-size:10.5px;font-variant-numeric:tabular-nums}"
    ".grid{stroke:var(--rule);stroke-width:1}.axis{stroke:var(--soft);stroke-width:1}"
    ".line{fill:none;stroke-width:1.8;stroke-linejoin:round;stroke-linecap:round}"
    ".line.c1{stroke:var(--c1)}.line.c2{stroke:var(--c2);stroke-dasharray:6 3}"
    ".line.c3{stroke:var(--c3);stroke-width:1.3;stroke-dasharray:1.5 3}"
    ".line.c4{stroke:var(--c4);stroke-width:1.2}.line.c5{stroke:var(--c5)}"
    ".area{stroke:none;opacity:.14}.area.c1{fill:var(--c1)}.area.c5{fill:var(--c5)}"
    ".bar.c1{fill:var(--c1);opacity:.85}.bar.c3{fill:var(--c3);opacity:.85}"
    ".hint{fill:transparent}.hint:hover{fill:var(--ink);opacity:.06}\n"
    ".cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,460px),1fr));"
    "gap:12px;margin-top:12px;align-items:start}.card{padding:16px;overflow-x:auto;min-width:0}"
    ".wide{grid-column:1/-1}\n"
    "table{border-collapse:collapse;width:100%;font-size:.9rem;font-variant-numeric:tabular-nums}"
    "th,td{text-align:right;padding:5px 0 5px 14px;border-top:1px solid var(--rule)}"
    "thead th{border-top:0;color:var(--soft);font-weight:500;font-size:.82rem;white-space:nowrap}"
    "th:first-child,td:first-child{text-align:left;padding-left:0;font-weight:500;"
    "overflow-wrap:anywhere}td.l{text-align:left}\n"
    "details{margin-top:16px}summary{cursor:pointer;color:var(--soft)}"
    "pre{font:13px/1.45 ui-monospace,SFMono-Regular,Menlo,monospace;overflow-x:auto;"
    "background:var(--card);border:1px solid var(--rule);border-radius:12px;padding:16px}\n"
    "@media(max-width:700px){.tiles{grid-template-columns:1fr 1fr}.tiles strong{font-size:1.25rem}"
    ".tick{font-size:13px}}\n"
    "@media print{body{background:#fff}.hint{display:none}figure,.card{break-inside:avoid}}\n";

/* ---- Head ------------------------------------------------------------------------------------------------ */

static void tile(rad_bytes *to, const char *name, const char *value, const char *unit, const char *mood)
{
    bool none = strcmp(value, rad__load_count_label(RAD__LOAD_NO_DATA).text) == 0;
    rad__bytes_format(to, "<li><span>%s</span><strong%s%s%s>%s<small> %s</small></strong></li>\n", name,
                      mood != NULL ? " class=\"" : "", mood != NULL ? mood : "", mood != NULL ? "\"" : "", value,
                      none ? "" : unit);
}

static void put_tiles(rad_bytes *to, const rad_load_result *r)
{
    const rad__load_metrics *m = &r->metrics;
    const struct rad__load_tally *t = &m->measured;
    uint64_t done = t->responses + t->errors + t->timeouts;
    struct rad__load_verdict_of v = rad__load_result_assertions(r);
    char held[48];
    snprintf(held, sizeof held, "of %" PRIu32, v.made);
    rad__bytes_format(to, "<ul class=\"tiles\">\n");
    tile(to, "Requests", COUNT(t->issued), "", NULL);
    tile(to, "Success", rad__load_share_label(rad__load_ppm(m->ok, done)).text, "", NULL);
    tile(to, "Rate", rad__load_rate_label(rad__load_metrics_rate(m)).text, "/s", NULL);
    tile(to, "p50", MS(rad_load_percentile(r, false, 500000)), "ms", NULL);
    tile(to, "p99", MS(rad_load_percentile(r, false, 990000)), "ms", NULL);
    if (rad__load_is_open(r))
        tile(to, "Response p99", MS(rad_load_percentile(r, true, 990000)), "ms", NULL);
    else
        tile(to, "Slowest", MS(rad__load_quantile(&m->service, RAD__LOAD_PPM)), "ms", NULL);
    tile(to, "Errors", COUNT(t->errors + t->timeouts), "", NULL);
    if (v.made > 0)
        tile(to, "Assertions", COUNT(v.held), held, v.held == v.made ? "good" : "bad");
    else
        tile(to, "Connections", COUNT(m->connections), "", NULL);
    rad__bytes_format(to, "</ul>\n");
}

void rad__load_page_head(rad_bytes *to, const rad_load_result *r, const struct rad__load_identity *who)
{
    rad__bytes_format(to, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                          "<title>");
    rad__load_put_html_text(to, rad__load_name_label(r));
    rad__bytes_format(to, " — load test</title>\n<style>\n");
    rad__bytes_put(to, STYLE, strlen(STYLE));
    rad__bytes_format(to, "</style></head>\n<body><main>\n<h1>");
    rad__load_put_html_text(to, rad__load_name_label(r));
    rad__bytes_format(to, "</h1>\n<p class=\"lead\">");
    if (who != NULL && who->start != NULL) {
        rad__load_put_html_text(to, who->start);
        rad__bytes_format(to, " · ");
    }
    rad__bytes_format(
        to, "<b>%s</b> · <b>%s</b> virtual users, %s model · %s · seed <b>%" PRIu64 "</b> · ended %s · %s%s</p>\n",
        rad__load_seconds_label(r->metrics.end_ns).text, COUNT(r->scenario.users),
        rad__load_is_open(r) ? "open" : "closed", rad__load_engine_label(r), r->seed, rad__load_end_label(r),
        rad__load_repeatable_label(r), r->filtered ? " · <b>only requests for which the filter holds</b>" : "");
    char why[RAD__LOAD_WHY];
    if (rad__load_result_no_data(r, why)) rad__bytes_format(to, "<p class=\"bad\"><b>no data</b>: %s</p>\n", why);
    put_tiles(to, r);
}

/* ---- Tables ---------------------------------------------------------------------------------------------- */

static void put_assertions(rad_bytes *to, const rad_load_result *r)
{
    const rad__load_scenario *s = &r->scenario;
    if (s->assertion_count == 0 || r->filtered) return;
    rad__bytes_format(to, "<section class=\"card wide\"><h2>Assertions</h2><table><thead><tr><th>"
                          "name</th><th>expected</th><th>actual</th><th>result</th></tr></thead>"
                          "<tbody>\n");
    for (uint32_t i = 0; i < s->assertion_count; i++) {
        const struct rad__load_assertion *a = &s->assertions[i];
        uint64_t actual = rad__load_metrics_measure(&r->metrics, a);
        bool holds = rad__load_assertion_holds(a, actual);
        rad__bytes_format(to, "<tr><td>");
        rad__load_put_html_text(to, a->name);
        rad__bytes_format(to, "</td><td>%s %s</td><td>%s</td><td class=\"%s\">%s</td></tr>\n",
                          a->at_least ? "at least" : "at most", rad__load_measure_label(a, a->bound).text,
                          rad__load_measure_label(a, actual).text, holds ? "good" : "bad",
                          holds ? "✓ holds" : "✗ fails");
    }
    rad__bytes_format(to, "</tbody></table></section>\n");
}

static void put_names(rad_bytes *to, const rad_load_result *r)
{
    rad__bytes_format(to, "<section class=\"card wide\"><h2>Requests</h2><table><thead><tr><th>name"
                          "</th><th>requests</th><th>success</th><th>failed</th><th>p50 ms</th>"
                          "<th>p99 ms</th><th>max ms</th></tr></thead><tbody>\n");
    for (uint32_t i = 0; i < r->scenario.request_count && i < RAD__LOAD_HISTOGRAMS_MAX; i++) {
        const struct rad__load_by_request *b = &r->metrics.by_request[i];
        const struct rad__load_request *request = &r->scenario.requests[i];
        uint64_t failed = b->tally.responses - b->ok + b->tally.errors + b->tally.timeouts;
        rad__bytes_format(to, "<tr><td>");
        rad__load_put_html_text(to, request->name);
        rad__bytes_format(to,
                          "</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td>"
                          "<td>%s</td></tr>\n",
                          COUNT(b->tally.issued), COUNT(b->ok), COUNT(failed),
                          MS(rad__load_quantile(&b->service, 500000)), MS(rad__load_quantile(&b->service, 990000)),
                          MS(rad__load_quantile(&b->service, RAD__LOAD_PPM)));
    }
    rad__bytes_format(to, "</tbody></table></section>\n");
}

static void put_share_row(rad_bytes *to, const char *name, uint64_t n, uint64_t of)
{
    rad__bytes_format(to, "<tr><td>%s</td><td>%s</td><td>%s</td></tr>\n", name, COUNT(n),
                      rad__load_share_label(rad__load_ppm(n, of)).text);
}

static void put_statuses(rad_bytes *to, const rad_load_result *r)
{
    const rad__load_metrics *m = &r->metrics;
    char name[16];
    rad__bytes_format(to, "<section class=\"card\"><h2>Responses by status</h2><table><tbody>\n");
    for (uint32_t i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "%u", (unsigned)i);
        if (m->by_status[i] > 0) put_share_row(to, name, m->by_status[i], m->measured.responses);
    }
    rad__bytes_format(to, "</tbody></table></section>\n");
}

static void put_errors(rad_bytes *to, const rad_load_result *r)
{
    const rad__load_metrics *m = &r->metrics;
    rad__bytes_format(to, "<section class=\"card\"><h2>Errors by type</h2>");
    if (m->measured.errors + m->measured.timeouts == 0) {
        rad__bytes_format(to, "<p class=\"about\">None.</p></section>\n");
        return;
    }
    rad__bytes_format(to, "<table><tbody>\n");
    for (uint32_t i = 1; i < RAD__LOAD_FAULT_COUNT; i++)
        if (m->by_fault[i] > 0)
            put_share_row(to, rad__load_fault_name((enum rad__load_fault)i), m->by_fault[i], m->measured.issued);
    rad__bytes_format(to, "</tbody></table></section>\n");
}

void rad__load_page_tables(rad_bytes *to, const rad_load_result *r)
{
    rad__bytes_format(to, "<div class=\"cards\">\n");
    put_assertions(to, r);
    put_names(to, r);
    put_statuses(to, r);
    put_errors(to, r);
    rad__bytes_format(to, "</div>\n");
}
