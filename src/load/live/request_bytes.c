#include "load/live/request_bytes.h"

#include "base/alloc.h"
#include "base/error.h"
#include "load/live/answer.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Who asks for what, while a plan is made. */
struct maker {
    rad__load_plan *plan;
    const struct rad__load_request *request;
    const struct rad__load_target *target;
    rad__load_names names;
    char where[200];
    bool has_host, has_agent, has_cookie;
};

static int add_text(rad__load_text *to, const char *text, rad_error *error)
{
    return rad__load_text_add_bytes(to, text, strlen(text), error);
}

static bool is_token(const char *text)
{
    static const char marks[] = "!#$%&'*+-.^_`|~";
    if (*text == 0) return false;
    for (; *text; text++) {
        bool letter = (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z');
        if (!letter && !(*text >= '0' && *text <= '9') && strchr(marks, *text) == NULL) return false;
    }
    return true;
}

static bool is_word(const char *text, size_t size, const char *word)
{
    return strlen(word) == size && strncasecmp(text, word, size) == 0;
}

/* "host:port" as a header has it; the port only when it is not the usual one. */
static void load_authority(const struct rad__load_target *target, rad_bytes *to)
{
    const char *host = target->server_name ? target->server_name : target->host;
    bool usual = strcmp(target->port, target->tls ? "443" : "80") == 0;
    rad__bytes_format(to, strchr(host, ':') ? "[%s]" : "%s", host);
    if (!usual) rad__bytes_format(to, ":%s", target->port);
}

static int add_authority(struct maker *m, rad__load_text *to, rad_error *error)
{
    rad_bytes text = {0};
    load_authority(m->target, &text);
    int code = text.failed ? rad__error_memory(error) : rad__load_text_add_bytes(to, text.data, text.size, error);
    rad__bytes_free(&text);
    return code;
}

static int add_path(struct maker *m, rad__load_text *to, rad_error *error)
{
    const char *base = m->target->base_path ? m->target->base_path : "";
    size_t size = strlen(base);
    while (size > 0 && base[size - 1] == '/') size--;
    snprintf(m->where, sizeof m->where, "request '%s', path", m->request->name);
    int code = rad__load_text_add_bytes(to, base, size, error);
    if (code == 0)
        code = rad__load_text_add(to, m->request->path, strlen(m->request->path), RAD__LOAD_IN_PATH, &m->names, error);
    return code;
}

/* A header that we write ourselves, or that would contradict what we write. */
static int check_header(struct maker *m, const struct rad__load_header *h, rad_error *error)
{
    snprintf(m->where, sizeof m->where, "request '%s', header '%s'", m->request->name, h->name);
    m->names.where = m->where;
    m->has_host |= strcasecmp(h->name, "host") == 0;
    m->has_agent |= strcasecmp(h->name, "user-agent") == 0;
    m->has_cookie |= strcasecmp(h->name, "cookie") == 0;
    if (!is_token(h->name)) return rad__error(error, RAD_EINPUT, "%s: not a name of a header", m->where);
    if (strcasecmp(h->name, "content-length") == 0 || strcasecmp(h->name, "transfer-encoding") == 0)
        return rad__error(error, RAD_EINPUT, "%s: is written by raddle, from the body", m->where);
    if (m->target->http2 && (strcasecmp(h->name, "connection") == 0 || strcasecmp(h->name, "keep-alive") == 0 ||
                             strcasecmp(h->name, "upgrade") == 0))
        return rad__error(error, RAD_EINPUT, "%s: there is none in HTTP/2", m->where);
    return 0;
}

static int add_value(struct maker *m, rad__load_text *to, const char *value, rad_error *error)
{
    return rad__load_text_add(to, value, strlen(value), RAD__LOAD_IN_HEADER, &m->names, error);
}

/* The length is told unless the method is one that has no body and there is none. */
static bool tells_length(const struct maker *m)
{
    static const char *const methods[] = {"POST", "PUT", "PATCH"};
    for (size_t i = 0; i < 3; i++)
        if (strcmp(m->request->method, methods[i]) == 0) return true;
    return m->plan->has_body;
}

/* What is known of a body by its Content-Type, as far as that has no placeholders. */
static enum rad__load_place place_of_body(const struct rad__load_request *r)
{
    static const char *const json[] = {"application/json", "text/json", "application/x-ndjson"};
    const char *type = "";
    for (uint32_t i = 0; i < r->header_count; i++)
        if (strcasecmp(r->headers[i].name, "content-type") == 0) type = r->headers[i].value;
    type += strspn(type, " \t");
    size_t size = strcspn(type, "; \t");
    if (is_word(type, size, "application/x-www-form-urlencoded")) return RAD__LOAD_IN_FORM;
    for (size_t i = 0; i < sizeof json / sizeof *json; i++)
        if (is_word(type, size, json[i])) return RAD__LOAD_IN_JSON;
    return size > 5 && is_word(type + size - 5, 5, "+json") ? RAD__LOAD_IN_JSON : RAD__LOAD_IN_BODY;
}

static int make_body(struct maker *m, rad_error *error)
{
    const struct rad__load_request *r = m->request;
    if (!m->plan->has_body) return 0;
    if (r->body_is_file) return rad__load_text_add_bytes(&m->plan->body, r->body, r->body_size, error);
    snprintf(m->where, sizeof m->where, "request '%s', body", r->name);
    return rad__load_text_add(&m->plan->body, r->body, r->body_size, place_of_body(r), &m->names, error);
}

/* ---- HTTP/1.1 ---------------------------------------------------------------------------------------------- */

static int make_lines(struct maker *m, rad_error *error)
{
    rad__load_text *head = &m->plan->head, *line = &m->plan->line;
    const struct rad__load_request *r = m->request;
    int code = add_text(line, r->method, error);
    if (code == 0) code = add_text(line, " ", error);
    if (code == 0) code = add_path(m, line, error);
    if (code == 0) code = add_text(line, " HTTP/1.1\r\n", error);
    if (code == 0 && !m->has_host) {
        code = add_text(head, "Host: ", error);
        if (code == 0) code = add_authority(m, head, error);
        if (code == 0) code = add_text(head, "\r\n", error);
    }
    if (code == 0 && !m->has_agent) code = add_text(head, "User-Agent: raddle\r\n", error);
    for (uint32_t i = 0; i < r->header_count && code == 0; i++) {
        code = check_header(m, &r->headers[i], error);
        if (code == 0) code = add_text(head, r->headers[i].name, error);
        if (code == 0) code = add_text(head, ": ", error);
        if (code == 0) code = add_value(m, head, r->headers[i].value, error);
        if (code == 0) code = add_text(head, "\r\n", error);
    }
    return code;
}

/* Without placeholders in the body its length is known now; else it is written when the body is. */
static int end_lines(struct maker *m, rad_error *error)
{
    rad__load_plan *plan = m->plan;
    char length[64];
    if (!tells_length(m)) return 0;
    if (!rad__load_text_is_constant(&plan->body)) return add_text(&plan->head, "Content-Length: ", error);
    snprintf(length, sizeof length, "Content-Length: %u\r\n", plan->body.constant.size);
    return add_text(&plan->head, length, error);
}

static int make_http1(struct maker *m, rad_error *error)
{
    rad__load_plan *plan = m->plan;
    int code = make_lines(m, error);
    if (code == 0) code = make_body(m, error);
    if (code == 0) code = end_lines(m, error);
    plan->is_ready = code == 0 && rad__load_text_is_constant(&plan->line) && rad__load_text_is_constant(&plan->head) &&
                     rad__load_text_is_constant(&plan->body);
    if (!plan->is_ready) return code;
    rad__bytes_put(&plan->ready, plan->line.constant.data, plan->line.constant.size);
    rad__bytes_put(&plan->ready, plan->head.constant.data, plan->head.constant.size);
    rad__bytes_put(&plan->ready, "\r\n", 2);
    rad__bytes_put(&plan->ready, plan->body.constant.data, plan->body.constant.size);
    return plan->ready.failed ? rad__error_memory(error) : 0;
}

/* After the first line, which says for what path. */
static void put_cookies(const rad__load_cookies *cookies, uint32_t line, rad_bytes *to)
{
    if (to->failed || cookies->jar->count == 0) return;
    const char *first = (const char *)to->data + line;
    size_t size = to->size - line;
    const char *path = memchr(first, ' ', size);
    size_t left = path ? size - (size_t)(path + 1 - first) : 0;
    const char *end = path ? memchr(path + 1, ' ', left) : NULL;
    if (end == NULL) return;
    rad_bytes value = {0};
    rad__load_site site = {cookies->host, path + 1, (uint32_t)(end - path - 1), cookies->tls};
    rad__load_jar_put(cookies->jar, &site, cookies->now_ns, &value);
    if (value.size > 0) {
        rad__bytes_put(to, "Cookie: ", 8);
        rad__bytes_put(to, value.data, value.size);
        rad__bytes_put(to, "\r\n", 2);
    }
    to->failed |= value.failed;
    rad__bytes_free(&value);
}

enum rad__load_fault rad__load_plan_put(const rad__load_plan *plan, rad__load_fill *fill,
                                        const rad__load_cookies *cookies, rad_bytes *to)
{
    enum { LENGTH_MAX = 10 };
    bool measured = !rad__load_text_is_constant(&plan->body);
    uint32_t line = to->size;
    enum rad__load_fault fault = rad__load_text_put(&plan->line, fill, to);
    if (fault == RAD__LOAD_OK && plan->wants_cookies && cookies->jar) put_cookies(cookies, line, to);
    if (fault == RAD__LOAD_OK) fault = rad__load_text_put(&plan->head, fill, to);
    if (fault != RAD__LOAD_OK) return fault;
    if (!measured) {
        rad__bytes_put(to, "\r\n", 2);
        return rad__load_text_put(&plan->body, fill, to);
    }
    static const char gap[LENGTH_MAX + 4];
    uint32_t at = to->size;
    rad__bytes_put(to, gap, sizeof gap);
    uint32_t begin = to->size;
    fault = rad__load_text_put(&plan->body, fill, to);
    if (fault != RAD__LOAD_OK) return fault;
    char length[LENGTH_MAX + 5];
    int n = snprintf(length, sizeof length, "%u\r\n\r\n", to->size - begin);
    memcpy(to->data + at, length, (size_t)n);
    memmove(to->data + at + n, to->data + begin, to->size - begin);
    to->size -= (uint32_t)sizeof gap - (uint32_t)n;
    return RAD__LOAD_OK;
}

/* ---- HTTP/2 ------------------------------------------------------------------------------------------------ */

static rad__load_pair *add_pair(struct maker *m, const char *name, rad_error *error)
{
    rad__load_pair *pair = &m->plan->pairs[m->plan->pair_count++];
    char lower[256];
    size_t n = 0;
    for (; name[n] && n < sizeof lower - 1; n++)
        lower[n] = name[n] >= 'A' && name[n] <= 'Z' ? (char)(name[n] + 32) : name[n];
    lower[n] = 0;
    return add_text(&pair->name, lower, error) == 0 ? pair : NULL;
}

static int add_own_pairs(struct maker *m, rad_error *error)
{
    const struct rad__load_request *r = m->request;
    rad__load_pair *pair = add_pair(m, ":method", error);
    int code = pair ? add_text(&pair->value, r->method, error) : RAD_ENOMEM;
    if (code == 0 && (pair = add_pair(m, ":scheme", error)) != NULL)
        code = add_text(&pair->value, m->target->tls ? "https" : "http", error);
    if (code == 0 && (pair = add_pair(m, ":authority", error)) != NULL) code = add_authority(m, &pair->value, error);
    if (code == 0 && (pair = add_pair(m, ":path", error)) != NULL) code = add_path(m, &pair->value, error);
    if (code == 0 && !m->has_agent && (pair = add_pair(m, "user-agent", error)) != NULL)
        code = add_text(&pair->value, "raddle", error);
    return pair == NULL ? RAD_ENOMEM : code;
}

static int make_http2(struct maker *m, rad_error *error)
{
    const struct rad__load_request *r = m->request;
    m->plan->pairs = rad__alloc((size_t)r->header_count + 6, sizeof *m->plan->pairs);
    if (m->plan->pairs == NULL) return rad__error_memory(error);
    int code = add_own_pairs(m, error);
    for (uint32_t i = 0; i < r->header_count && code == 0; i++) {
        code = check_header(m, &r->headers[i], error);
        if (code != 0 || strcasecmp(r->headers[i].name, "host") == 0) continue;
        rad__load_pair *pair = add_pair(m, r->headers[i].name, error);
        code = pair ? add_value(m, &pair->value, r->headers[i].value, error) : RAD_ENOMEM;
    }
    return code == 0 ? make_body(m, error) : code;
}

/* ---- Both -------------------------------------------------------------------------------------------------- */

static uint8_t keep_of(const rad__load_scenario *s, const struct rad__load_request *r)
{
    uint8_t keep = s->cookies ? RAD__LOAD_KEEP_HEADERS : 0;
    for (uint32_t i = 0; i < r->extract_count; i++)
        keep |= r->extracts[i].from == RAD__LOAD_FROM_JSON ? RAD__LOAD_KEEP_BODY : RAD__LOAD_KEEP_HEADERS;
    for (uint32_t i = 0; i < r->check_count; i++) {
        enum rad__load_check_of of = r->checks[i].of;
        if (of == RAD__LOAD_CHECK_CONTAINS || of == RAD__LOAD_CHECK_JSON) keep |= RAD__LOAD_KEEP_BODY;
        if (of == RAD__LOAD_CHECK_HEADER) keep |= RAD__LOAD_KEEP_HEADERS;
    }
    return keep;
}

int rad__load_plan_make(rad__load_plan *plan, const rad__load_scenario *scenario,
                        const struct rad__load_request *request, const struct rad__load_target *target,
                        const char *(*env)(const char *name), rad_error *error)
{
    struct maker m = {.plan = plan, .request = request, .target = target};
    *plan = (rad__load_plan){.keep = keep_of(scenario, request),
                             .is_head = strcmp(request->method, "HEAD") == 0,
                             .has_body = request->body != NULL};
    m.names = (rad__load_names){.scenario = scenario, .env = env, .where = m.where};
    if (!is_token(request->method))
        return rad__error(error, RAD_EINPUT, "request '%s': '%s' is no method", request->name, request->method);
    int code = 0;
    for (uint32_t i = 0; i < request->header_count && code == 0; i++)
        code = check_header(&m, &request->headers[i], error);
    if (code == 0) code = target->http2 ? make_http2(&m, error) : make_http1(&m, error);
    plan->wants_cookies = scenario->cookies && !m.has_cookie;
    return code;
}

void rad__load_plan_free(rad__load_plan *plan)
{
    rad__load_text_free(&plan->line);
    rad__load_text_free(&plan->head);
    rad__load_text_free(&plan->body);
    rad__bytes_free(&plan->ready);
    for (uint32_t i = 0; i < plan->pair_count; i++) {
        rad__load_text_free(&plan->pairs[i].name);
        rad__load_text_free(&plan->pairs[i].value);
    }
    rad__free(plan->pairs);
    *plan = (rad__load_plan){0};
}

rad__load_site rad__load_plan_site(const rad__load_plan *plan, const char *host, bool tls)
{
    enum { PATH_PAIR = 3 };
    const rad__load_text *t = plan->pairs ? &plan->pairs[PATH_PAIR].value : &plan->line;
    rad__load_site site = {host, "/", 1, tls};
    const char *text = (const char *)t->constant.data;
    if (t->count == 0 || t->pieces[0].size == 0) return site;
    const char *end = text + t->pieces[0].size, *from = memchr(text, '/', t->pieces[0].size);
    if (from == NULL) return site;
    const char *space = memchr(from, ' ', (size_t)(end - from));
    site.path = from;
    site.path_size = (uint32_t)((space ? space : end) - from);
    return site;
}
