/* read_target.c — whom to ask: [target] or [[targets]]. */
#include "load/scenario/read.h"
#include "load/scenario/url.h"

#include <string.h>

enum { STREAMS_MOST = 100 };

static void read_address(const rad__load_part *p, struct rad__load_target *t)
{
    rad__load_reading *r = p->r;
    const rad_toml_node *node = rad__load_need(p, "base_url", "such as \"http://127.0.0.1:8080\"");
    rad__load_url url = {0};
    t->url = rad__load_as_text(r, node, 1, RAD__LOAD_TEXT_MAX, NULL);
    if (t->url == NULL) return;
    const char *wrong = rad__load_url_parse(&url, t->url, &r->s->arena);
    if (wrong != NULL) rad__load_wrong(r, node, "base_url: %s, found '%.200s'", wrong, t->url);
    t->host = url.host;
    t->port = url.port;
    t->base_path = url.base_path;
    t->tls = rad__load_get_bool(p, "tls", url.tls);
    if (t->tls != url.tls && !rad__load_bad(r))
        rad__load_wrong(r, rad__load_find(p, "tls"), "tls: expected %s as the scheme of base_url says, or none here",
                        url.tls ? "true" : "false");
}

static void read_tls(const rad__load_part *p, struct rad__load_target *t)
{
    static const char *const KEYS[] = {"verify_cert", "ca_bundle"};
    t->verify = rad__load_get_bool(p, "verify_cert", true);
    t->ca_bundle = rad__load_get_text(p, "ca_bundle", 1, 4096, NULL);
    if (t->ca_bundle != NULL) t->ca_bundle = rad__load_beside(p->r, t->ca_bundle);
    for (uint32_t i = 0; i < 2 && !t->tls; i++) {
        const rad_toml_node *node = rad__load_find(p, KEYS[i]);
        if (node != NULL)
            rad__load_wrong(p->r, node, "%s has no effect: base_url does not begin with https://", KEYS[i]);
    }
    const rad_toml_node *name = rad__load_find(p, "server_name");
    t->server_name = rad__load_as_text(p->r, name, 1, 253, t->host);
    if (name != NULL && t->server_name != NULL && t->server_name[strcspn(t->server_name, " \t\r\n/@")])
        rad__load_wrong(p->r, name, "server_name: expected the name of a host");
}

static void read_connections(const rad__load_part *p, struct rad__load_target *t)
{
    static const char *const VERSIONS[] = {"http1.1", "http2", NULL};
    rad__load_reading *r = p->r;
    const rad_toml_node *streams = rad__load_find(p, "streams");
    t->http2 = rad__load_get_word(p, "http_version", VERSIONS, 0) == 1;
    t->streams = (uint32_t)rad__load_as_whole(r, streams, 1, STREAMS_MOST, 1);
    if (t->streams > 1 && !t->http2)
        rad__load_wrong(r, streams,
                        "streams: expected 1, or http_version = \"http2\": HTTP/1.1 has one "
                        "request at a time on a connection");
    uint32_t otherwise = (r->s->users + t->streams - 1) / t->streams; /* one for each user */
    if (otherwise > r->max_connections) otherwise = r->max_connections;
    t->max_connections = (uint32_t)rad__load_get_whole(p, "max_connections", 1, r->max_connections, otherwise);
    t->requests_per_connection = (uint32_t)rad__load_get_whole(p, "requests_per_connection", 0, 1000000000, 0);
    t->connect_timeout_ns =
        rad__load_get_time(p, "connection_timeout_ms", RAD__LOAD_MS, 1, RAD__LOAD_HOUR, 10 * RAD__LOAD_SECOND);
}

static void read_target(const rad__load_part *p, const char *otherwise, struct rad__load_target *t)
{
    t->name = rad__load_get_text(p, "name", 1, 200, otherwise);
    t->weight = rad__load_get_scaled(p, "weight", 6, 0, UINT64_C(1000000000000), RAD__LOAD_PPM);
    read_address(p, t);
    read_tls(p, t);
    read_connections(p, t);
}

/* Who has a simulated target needs no other. */
static void default_target(rad__load_reading *r, struct rad__load_target *t)
{
    *t = (struct rad__load_target){.name = "simulated",
                                   .url = RAD__LOAD_SIMULATED_URL,
                                   .host = "simulated",
                                   .port = "80",
                                   .base_path = "",
                                   .server_name = "simulated",
                                   .weight = RAD__LOAD_PPM,
                                   .verify = true,
                                   .streams = 1,
                                   .connect_timeout_ns = 10 * RAD__LOAD_SECOND,
                                   .max_connections =
                                       r->s->users < r->max_connections ? r->s->users : r->max_connections};
}

static void check_names(rad__load_reading *r, rad_toml_node *array, const struct rad__load_target *targets)
{
    uint32_t i = 0;
    uint64_t sum = 0;
    for (rad_toml_node *n = rad__toml_first(array); n != NULL; n = rad__toml_next(n), i++) {
        sum += targets[i].weight;
        if (targets[i].name == NULL) rad__load_wrong(r, n, "expected a key 'name', found none in targets");
        for (uint32_t k = 0; k < i && !rad__load_bad(r); k++)
            if (strcmp(targets[i].name, targets[k].name) == 0)
                rad__load_wrong(r, n, "two targets are called '%s'; expected another name", targets[i].name);
    }
    if (sum == 0 && !rad__load_bad(r)) rad__load_wrong(r, array, "expected a weight above 0, found none in targets");
}

void rad__load_read_targets(rad__load_reading *r, const rad__load_part *top)
{
    rad__load_scenario *s = r->s;
    rad__load_part one = rad__load_part_get(top, "target", "target");
    uint32_t count;
    rad_toml_node *array = rad__load_tables(top, "targets", RAD__LOAD_TARGETS_MAX, &count);
    if (one.node != NULL && array != NULL)
        rad__load_wrong(r, array, "target and targets exclude each other; expected one of them");
    if (one.node == NULL && count == 0 && !s->has_simulated)
        rad__load_wrong(r, r->doc.root,
                        "no target: expected [target] with base_url = \"http://…\", or "
                        "[simulated] with latency_ms = 20 for a target that needs no server");
    struct rad__load_target *targets = rad__load_take(r, count, sizeof *targets);
    if (rad__load_bad(r)) return;
    if (one.node != NULL)
        read_target(&one, "target", &targets[0]);
    else if (count == 0)
        default_target(r, &targets[0]);
    uint32_t i = 0;
    for (rad_toml_node *n = rad__toml_first(array); n != NULL; n = rad__toml_next(n)) {
        rad__load_part p = rad__load_part_of(r, n, "target");
        read_target(&p, NULL, &targets[i++]);
    }
    if (array != NULL && !rad__load_bad(r)) check_names(r, array, targets);
    if (one.node != NULL && targets[0].weight == 0)
        rad__load_wrong(r, one.node, "expected a weight above 0, found none in target");
    s->targets = targets;
    s->target_count = count > 0 ? count : 1;
}
