/* read_keys.c — which keys a scenario may have, and where. One list for the reader and for the manual: what is
 * not in it cannot be asked for, and is refused in files. */
#include "base/error.h"
#include "base/suggest.h"
#include "load/scenario/read.h"

#include <stdio.h>
#include <string.h>

#define KEYS(...) ((const char *const[]){__VA_ARGS__, NULL})

const struct rad__load_keys rad__load_sections[] = {
    {"", KEYS("metadata", "runtime", "target", "targets", "requests", "schedule", "think_time", "sequence",
              "assertions", "limits", "data", "cookies", "simulated")},
    {"metadata", KEYS("name", "description", "version", "author", "tags")},
    {"runtime", KEYS("duration_seconds", "iterations", "vus", "prng_seed", "seed", "tick", "tick_us", "warm_up_seconds",
                     "spawn_jitter_ms", "drain_seconds", "flush_interval")},
    {"target", KEYS("name", "base_url", "weight", "tls", "verify_cert", "ca_bundle", "server_name", "http_version",
                    "streams", "max_connections", "requests_per_connection", "connection_timeout_ms")},
    {"requests", KEYS("name", "method", "path", "headers", "body", "body_file", "timeout_ms", "weight", "target",
                      "checks", "extract")},
    {"requests.checks", KEYS("name", "status", "min_bytes", "max_bytes", "body_contains", "header", "json", "equals")},
    {"requests.extract", KEYS("header", "json", "cookie")},
    {"schedule", KEYS("type", "vus", "start_vus", "end_vus", "ramp_duration_seconds", "hold_duration_seconds",
                      "baseline_vus", "spike_vus", "spike_start_seconds", "spike_duration_seconds", "steps", "rate",
                      "start_rate", "stages", "when_busy", "deal", "connect")},
    {"schedule.steps", KEYS("vus", "duration_seconds")},
    {"schedule.stages", KEYS("rate", "duration_seconds")},
    {"think_time", KEYS("type", "duration_ms", "min_ms", "max_ms")},
    {"sequence", KEYS("type", "steps")},
    {"sequence.steps", KEYS("request", "repeat")},
    {"assertions",
     KEYS("p50_latency_ms", "p90_latency_ms", "p95_latency_ms", "p99_latency_ms", "p999_latency_ms", "p50_response_ms",
          "p90_response_ms", "p95_response_ms", "p99_response_ms", "p999_response_ms", "error_rate_max",
          "success_rate_min", "rps_min", "rate_reached_min", "status_5xx_max_rate", "checks_min", "dropped_max")},
    {"assertions.*", KEYS("max", "min", "abort")},
    {"limits", KEYS("max_vus", "max_events", "max_activations", "max_connections", "flush_ticks", "warn_ticks",
                    "request_timeout_ms", "retry_ms", "max_event_log_size_mb", "max_response_bytes", "max_header_bytes",
                    "give_up_after")},
    {"data", KEYS("name", "file", "order", "columns", "separator")},
    {"simulated", KEYS("latency_ms", "connect_ms", "body_bytes", "status", "loss_rate", "reset_rate", "garbage_rate",
                       "refuse_rate", "max_connections", "workers", "stall_every_seconds", "stall_seconds", "late_ms")},
    {"simulated curves", KEYS("min", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "p999", "max", "points")},
    {NULL, NULL},
};

static const char *const *keys_of(const char *section)
{
    for (const struct rad__load_keys *k = rad__load_sections; k->section != NULL; k++)
        if (strcmp(k->section, section) == 0) return k->keys;
    rad__panic(__FILE__, __LINE__, __func__, "no such section");
}

static bool is_among(const char *key, const char *const *keys)
{
    for (; *keys != NULL; keys++)
        if (strcmp(*keys, key) == 0) return true;
    return false;
}

/* ---- Errors --------------------------------------------------------------------------------------------- */

void rad__load_wrong(rad__load_reading *r, const rad_toml_node *at, const char *format, ...)
{
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    rad__toml_error(&r->doc, at, &r->error, "%s", text);
}

void rad__load_expected(rad__load_reading *r, const rad_toml_node *at, const char *format, ...)
{
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (at->type == RAD_TOML_FLOAT && at->key != NULL)
        rad__load_wrong(r, at, "%s: expected %s, found %.15g", at->key->text, text, at->number);
    else if (at->type == RAD_TOML_FLOAT)
        rad__load_wrong(r, at, "expected %s, found %.15g", text, at->number);
    else
        rad__toml_expected(&r->doc, at, text, &r->error);
}

static const char *suggested(rad_suggest *near, const char *name, size_t length, const char *const *known)
{
    rad__suggest_begin(near, name, length);
    for (; known != NULL && *known != NULL; known++) rad__suggest_consider(near, *known);
    return rad__suggest_text(near, "");
}

void rad__load_no_such(rad__load_reading *r, const rad_toml_node *at, const char *what, const char *name,
                       const char *const *known)
{
    rad_suggest near;
    rad__load_wrong(r, at, "there is no %s '%.100s'%s", what, name, suggested(&near, name, strlen(name), known));
}

/* ---- Parts ---------------------------------------------------------------------------------------------- */

/* Where else a key could stand: sections whose name is the name of a table. */
static const char *home_of(const char *key)
{
    for (const struct rad__load_keys *k = rad__load_sections; k->section != NULL; k++)
        if (strpbrk(k->section, " *") == NULL && is_among(key, k->keys)) return k->section;
    return NULL;
}

static void tell_unknown(rad__load_reading *r, const rad_toml_node *node, const char *section)
{
    rad_toml_node at = {.line = node->key->line, .column = node->key->column};
    const char *key = node->key->text;
    if (strcmp(key, "event_log_path") == 0) {
        rad__load_wrong(r, &at, "unknown key '%s'; where the log goes is said by --output", key);
        return;
    }
    rad_suggest near;
    const char *home = home_of(key);
    if (home != NULL && *home == 0)
        rad__load_wrong(r, &at, "unknown key '%s' here; it belongs at the top, before the first [table]", key);
    else if (home != NULL)
        rad__load_wrong(r, &at, "unknown key '%s'; it belongs into %s", key, home);
    else
        rad__load_wrong(r, &at, "unknown key '%.100s'%s", key,
                        suggested(&near, key, node->key->length, keys_of(section)));
}

rad__load_part rad__load_part_of(rad__load_reading *r, rad_toml_node *node, const char *section)
{
    const char *const *keys = keys_of(section);
    for (rad_toml_node *n = rad__toml_first(node); n != NULL; n = rad__toml_next(n))
        if (!is_among(n->key->text, keys) || strlen(n->key->text) != n->key->length) tell_unknown(r, n, section);
    return (rad__load_part){r, node, section};
}

rad__load_part rad__load_part_get(const rad__load_part *in, const char *key, const char *section)
{
    rad_toml_node *node = rad__load_find(in, key);
    if (node != NULL && node->type != RAD_TOML_TABLE) {
        rad__load_expected(in->r, node, "a table");
        node = NULL;
    }
    return node != NULL ? rad__load_part_of(in->r, node, section) : (rad__load_part){in->r, NULL, section};
}

rad_toml_node *rad__load_find(const rad__load_part *p, const char *key)
{
    RAD_ASSERT(is_among(key, keys_of(p->section)));
    return rad__toml_get(p->node, key);
}

rad_toml_node *rad__load_need(const rad__load_part *p, const char *key, const char *why)
{
    rad_toml_node *node = rad__load_find(p, key);
    if (node == NULL)
        rad__load_wrong(p->r, p->node != NULL ? p->node : p->r->doc.root, "expected a key '%s', found none in %s%s%s",
                        key, *p->section != 0 ? p->section : "the file", why != NULL ? ": " : "",
                        why != NULL ? why : "");
    return node;
}

rad_toml_node *rad__load_tables(const rad__load_part *p, const char *key, uint32_t most, uint32_t *count)
{
    rad_toml_node *array = rad__load_find(p, key);
    *count = 0;
    if (array == NULL) return NULL;
    if (array->type != RAD_TOML_ARRAY) {
        rad__load_expected(p->r, array, "an array of tables");
        return NULL;
    }
    for (const rad_toml_node *n = rad__toml_first(array); n != NULL; n = n->next)
        if (n->type != RAD_TOML_TABLE) rad__load_expected(p->r, n, "a table");
    if (array->count > most)
        rad__load_wrong(p->r, array, "%s: expected at most %u of them, found %u", key, most, array->count);
    if (rad__load_bad(p->r)) return NULL;
    *count = array->count;
    return array;
}
