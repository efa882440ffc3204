/* read_request.c — what is asked for: [[requests]] with headers and bodies, and in which order: [sequence].
 *
 * Requests are read in two rounds: the first learns what they are called and what they extract, the second looks up
 * what their templates refer to, which may stand further down in the file. */
#include "base/alloc.h"
#include "base/error.h"
#include "load/scenario/read.h"
#include "load/scenario/read_answer.h"

#include <string.h>
#include <strings.h>

enum { NAME_MOST = 200, METHOD_MOST = 20, REPEAT_MOST = 1000000, PLACES_MOST = 1 << 24 };

/* ---- Method, path, headers, body ------------------------------------------------------------------------- */

static void read_method(const rad__load_part *p, struct rad__load_request *q)
{
    const rad_toml_node *node = rad__load_find(p, "method");
    q->method = rad__load_as_text(p->r, node, 1, METHOD_MOST, "GET");
    if (q->method == NULL || node == NULL || rad__load_bad(p->r)) return;
    bool lower = q->method[strcspn(q->method, "abcdefghijklmnopqrstuvwxyz")] != 0;
    if (!rad__load_is_token(q->method) || lower || strcmp(q->method, "CONNECT") == 0)
        rad__load_expected(p->r, node,
                           "GET, POST, PUT, DELETE, PATCH, HEAD, OPTIONS or another method in "
                           "capital letters, but not CONNECT");
}

static void read_path(const rad__load_part *p, struct rad__load_request *q)
{
    const rad_toml_node *node = rad__load_need(p, "path", NULL);
    q->path = rad__load_as_text(p->r, node, 1, RAD__LOAD_TEXT_MAX, "/");
    if (q->path != NULL && *q->path != '/' && !rad__load_bad(p->r))
        rad__load_expected(p->r, node, "a path that begins with /");
}

static void check_header(rad__load_reading *r, const rad_toml_node *node, const struct rad__load_request *q)
{
    static const char *const OURS[] = {"content-length", "transfer-encoding"};
    const char *name = node->key->text;
    if (strlen(name) != node->key->length || !rad__load_is_token(name))
        rad__load_wrong(r, node, "'%.100s' is no name of a header; expected letters, digits and -", name);
    if (strlen(name) > NAME_MOST)
        rad__load_wrong(r, node, "expected a name of a header of at most %d bytes", NAME_MOST);
    for (uint32_t i = 0; i < 2; i++)
        if (strcasecmp(name, OURS[i]) == 0)
            rad__load_wrong(r, node, "%s is written by raddle, from the body; expected none here", name);
    for (uint32_t i = 0; i < q->header_count; i++)
        if (strcasecmp(name, q->headers[i].name) == 0)
            rad__load_wrong(r, node, "two headers are called '%s', without regard to capitals", q->headers[i].name);
}

static void read_headers(const rad__load_part *p, struct rad__load_request *q)
{
    rad__load_reading *r = p->r;
    rad_toml_node *table = rad__load_find(p, "headers");
    if (table == NULL) return;
    if (table->type != RAD_TOML_TABLE || table->count > RAD__LOAD_HEADERS_MAX) {
        rad__load_expected(r, table, "a table of at most 100 headers");
        return;
    }
    struct rad__load_header *headers = rad__load_take(r, table->count, sizeof *headers);
    q->headers = headers;
    for (rad_toml_node *n = rad__toml_first(table); n != NULL && !rad__load_bad(r); n = rad__toml_next(n)) {
        check_header(r, n, q);
        headers[q->header_count].name = rad__load_keep(r, n->key->text);
        headers[q->header_count++].value = rad__load_as_text(r, n, 0, RAD__LOAD_HEADER_BYTES_MAX, "");
    }
}

static void read_body_file(const rad__load_part *p, const rad_toml_node *node, struct rad__load_request *q)
{
    rad__load_reading *r = p->r;
    char *data;
    size_t size;
    const char *path = rad__load_as_text(r, node, 1, 4096, NULL);
    q->body_is_file = true;
    if (path == NULL || !rad__load_read_beside(r, node, path, RAD__LOAD_BODY_BYTES_MAX, &data, &size)) return;
    q->body = rad__arena_text(&r->s->arena, data, size);
    q->body_size = (uint32_t)size;
    if (q->body == NULL) rad__error_memory(&r->error);
    rad__free(data);
}

static void read_body(const rad__load_part *p, struct rad__load_request *q)
{
    const rad_toml_node *text = rad__load_find(p, "body"), *file = rad__load_find(p, "body_file");
    if (text != NULL && file != NULL)
        rad__load_wrong(p->r, file, "body and body_file exclude each other; expected one of them");
    q->body = rad__load_as_text(p->r, text, 0, RAD__LOAD_BODY_BYTES_MAX, NULL);
    if (q->body != NULL) q->body_size = (uint32_t)strlen(q->body);
    if (file != NULL) read_body_file(p, file, q);
}

/* ---- One request ----------------------------------------------------------------------------------------- */

static void read_name(const rad__load_part *p, struct rad__load_request *q)
{
    rad__load_reading *r = p->r;
    q->name = rad__load_get_text(p, "name", 1, NAME_MOST, NULL);
    if (q->name != NULL || rad__load_bad(r)) return;
    size_t method = strlen(q->method), path = strlen(q->path);
    char *name = rad__load_take(r, method + 1 + path + 1, 1);
    if (name == NULL) return;
    memcpy(name, q->method, method);
    name[method] = ' ';
    memcpy(name + method + 1, q->path, path);
    q->name = name;
}

static void read_target(const rad__load_part *p, struct rad__load_request *q)
{
    rad__load_reading *r = p->r;
    const char *known[RAD__LOAD_TARGETS_MAX + 1] = {NULL};
    const rad_toml_node *node = rad__load_find(p, "target");
    const char *name = rad__load_as_text(r, node, 1, NAME_MOST, NULL);
    q->target = RAD_NONE;
    if (name == NULL || rad__load_bad(r)) return;
    for (uint32_t i = 0; i < r->s->target_count; i++) {
        known[i] = r->s->targets[i].name;
        if (strcmp(known[i], name) == 0) q->target = i;
    }
    if (q->target == RAD_NONE) rad__load_no_such(r, node, "target", name, known);
}

static void read_request(const rad__load_part *p, struct rad__load_request *q)
{
    read_method(p, q);
    read_path(p, q);
    read_headers(p, q);
    read_body(p, q);
    read_name(p, q);
    read_target(p, q);
    q->timeout_ns = rad__load_get_time(p, "timeout_ms", RAD__LOAD_MS, 1, RAD__LOAD_HOUR, 0);
    q->weight = rad__load_get_scaled(p, "weight", 6, 0, UINT64_C(1000000000000), RAD__LOAD_PPM);
    rad__load_read_checks(p, q);
    rad__load_read_extracts(p, q);
}

/* ---- All requests ---------------------------------------------------------------------------------------- */

static void check_templates(rad__load_reading *r, rad_toml_node *node, const struct rad__load_request *q)
{
    rad_toml_node *headers = rad__toml_get(node, "headers"), *body = rad__toml_get(node, "body");
    uint32_t i = 0;
    rad__load_check_text(r, rad__toml_get(node, "path"), q->path, RAD__LOAD_SPOT_PATH);
    for (rad_toml_node *n = rad__toml_first(headers); n != NULL; n = rad__toml_next(n))
        rad__load_check_text(r, n, q->headers[i++].value, RAD__LOAD_SPOT_HEADER);
    if (body != NULL) rad__load_check_text(r, body, q->body, RAD__LOAD_SPOT_BODY);
}

static void check_names(rad__load_reading *r, rad_toml_node *array, const struct rad__load_request *requests)
{
    uint32_t i = 0;
    for (rad_toml_node *n = rad__toml_first(array); n != NULL; n = rad__toml_next(n), i++)
        for (uint32_t k = 0; k < i && !rad__load_bad(r); k++)
            if (strcmp(requests[i].name, requests[k].name) == 0)
                rad__load_wrong(r, n, "two requests are called '%.200s'; expected another name", requests[i].name);
}

void rad__load_read_requests(rad__load_reading *r, const rad__load_part *top)
{
    rad__load_scenario *s = r->s;
    uint32_t count, i = 0;
    rad_toml_node *array = rad__load_tables(top, "requests", RAD__LOAD_REQUESTS_MAX, &count);
    if (count == 0 && !rad__load_bad(r))
        rad__load_wrong(r, r->doc.root, "nothing to ask for: expected [[requests]] with path = \"/\"");
    struct rad__load_request *requests = rad__load_take(r, count, sizeof *requests);
    r->variables = rad__load_take(r, RAD__LOAD_VARIABLES_MAX + 1, sizeof *r->variables);
    if (rad__load_bad(r)) return;
    for (rad_toml_node *n = rad__toml_first(array); n != NULL && !rad__load_bad(r); n = rad__toml_next(n)) {
        rad__load_part p = rad__load_part_of(r, n, "requests");
        if (!rad__load_bad(r)) read_request(&p, &requests[i++]);
    }
    if (rad__load_bad(r)) return;
    check_names(r, array, requests);
    i = 0;
    for (rad_toml_node *n = rad__toml_first(array); n != NULL; n = rad__toml_next(n))
        check_templates(r, n, &requests[i++]);
    s->requests = requests;
    s->request_count = count;
    s->variables = r->variables;
}

/* ---- [sequence] ------------------------------------------------------------------------------------------ */

static const char *const *names_of_requests(rad__load_reading *r)
{
    const char **names = rad__load_take(r, (size_t)r->s->request_count + 1, sizeof *names);
    for (uint32_t i = 0; names != NULL && i < r->s->request_count; i++) names[i] = r->s->requests[i].name;
    return names;
}

static void read_step(const rad__load_part *p, const char *const *names, struct rad__load_step *step)
{
    rad__load_reading *r = p->r;
    const rad_toml_node *node = rad__load_need(p, "request", "the name of one of the requests");
    const char *name = rad__load_as_text(r, node, 1, RAD__LOAD_TEXT_MAX, NULL);
    step->repeat = (uint32_t)rad__load_get_whole(p, "repeat", 1, REPEAT_MOST, 1);
    if (name == NULL || rad__load_bad(r)) return;
    while (step->request < r->s->request_count && strcmp(names[step->request], name) != 0) step->request++;
    if (step->request == r->s->request_count) rad__load_no_such(r, node, "request", name, names);
}

/* Without a sequence there is one step, whose request is drawn by weight: then there has to be one to draw. */
static void draw_by_weight(rad__load_reading *r, const rad__load_part *top)
{
    rad__load_scenario *s = r->s;
    struct rad__load_step *step = rad__load_take(r, 1, sizeof *step);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < s->request_count; i++) sum += s->requests[i].weight;
    if (sum == 0 && !rad__load_bad(r))
        rad__load_wrong(r, rad__load_find(top, "requests"), "expected a weight above 0, found none in requests");
    if (step != NULL) *step = (struct rad__load_step){RAD_NONE, 1};
    s->steps = step;
    s->step_count = 1;
}

void rad__load_read_steps(rad__load_reading *r, const rad__load_part *top)
{
    static const char *const TYPES[] = {"ordered", NULL};
    rad__load_part p = rad__load_part_get(top, "sequence", "sequence");
    uint32_t count, i = 0;
    uint64_t places = 0;
    if (rad__load_bad(r)) return;
    if (p.node == NULL) {
        draw_by_weight(r, top);
        return;
    }
    rad__load_get_word(&p, "type", TYPES, 0);
    rad_toml_node *array = rad__load_tables(&p, "steps", RAD__LOAD_STEPS_MAX, &count);
    if (count == 0 && !rad__load_bad(r)) rad__load_wrong(r, p.node, "expected [[sequence.steps]], found none");
    struct rad__load_step *steps = rad__load_take(r, count, sizeof *steps);
    const char *const *names = names_of_requests(r);
    for (rad_toml_node *n = rad__toml_first(array); n != NULL && !rad__load_bad(r); n = rad__toml_next(n)) {
        rad__load_part step = rad__load_part_of(r, n, "sequence.steps");
        read_step(&step, names, &steps[i]);
        places += steps[i++].repeat;
        if (places >= PLACES_MOST)
            rad__load_wrong(r, n,
                            "expected a sequence of less than 16,777,216 requests, with "
                            "all repetitions");
    }
    r->s->steps = steps;
    r->s->step_count = count;
}
