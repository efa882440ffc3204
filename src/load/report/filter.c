/* filter.c — the language of filter.h: read once into a tree, asked once for each request. */
#include "load/report/filter.h"

#include "base/error.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

/* ---- Names ----------------------------------------------------------------------------------------------- */

enum unit { TEXT, COUNT, BYTES, NS, US, MS, SECONDS };

enum about {
    KIND,
    WHAT,
    METHOD,
    TARGET,
    FAULT,
    VU,
    REQUEST,
    ITERATION,
    CONN,
    STATUS,
    SERVICE,
    RESPONSE,
    FIRST,
    BODY,
    HEADER,
    CHECKS,
    TIME
};

/* Several names may be about the same, in another unit. */
static const struct name {
    const char *name;
    enum about about;
    enum unit unit;
} NAMES[] = {
    {"kind", KIND, TEXT},
    {"what", WHAT, TEXT},
    {"name", WHAT, TEXT},
    {"method", METHOD, TEXT},
    {"target", TARGET, TEXT},
    {"fault", FAULT, TEXT},
    {"error", FAULT, TEXT},
    {"vu", VU, COUNT},
    {"request", REQUEST, COUNT},
    {"iteration", ITERATION, COUNT},
    {"conn", CONN, COUNT},
    {"status", STATUS, COUNT},
    {"status_code", STATUS, COUNT},
    {"service_ns", SERVICE, NS},
    {"service_us", SERVICE, US},
    {"service_ms", SERVICE, MS},
    {"response_ns", RESPONSE, NS},
    {"response_us", RESPONSE, US},
    {"response_ms", RESPONSE, MS},
    {"first_byte_ms", FIRST, MS},
    {"body_bytes", BODY, BYTES},
    {"header_bytes", HEADER, BYTES},
    {"checks_failed", CHECKS, COUNT},
    {"time_s", TIME, SECONDS},
    {"time_ms", TIME, MS},
    {"second", TIME, COUNT}, /* whole ones: not in nanoseconds */
};
enum { NAME_COUNT = sizeof NAMES / sizeof *NAMES };

const char *rad__load_filter_name(uint32_t index)
{
    return index < NAME_COUNT ? NAMES[index].name : NULL;
}

static const struct measure {
    const char *name;
    bool time;
    uint64_t of; /* nanoseconds, or bytes */
} MEASURES[] = {
    {"ns", true, 1},
    {"us", true, 1000},
    {"ms", true, 1000000},
    {"s", true, 1000000000},
    {"min", true, UINT64_C(60000000000)},
    {"h", true, UINT64_C(3600000000000)},
    {"B", false, 1},
    {"kB", false, 1000},
    {"MB", false, 1000000},
    {"GB", false, 1000000000},
    {"KiB", false, 1024},
    {"MiB", false, 1048576},
    {"GiB", false, 1073741824},
};

enum compare { OR, AND, NOT, EQUAL, DIFFERENT, LESS, AT_MOST, MORE, AT_LEAST, CONTAINS };

struct rad__load_filter_node {
    enum compare op;
    const struct rad__load_filter_node *left, *right;
    const struct name *name;
    uint64_t number;
    const char *text;
};

typedef struct rad__load_filter_node node;

/* ---- Reading --------------------------------------------------------------------------------------------- */

struct reading {
    rad__load_filter *filter;
    const char *text, *at;
    uint32_t depth;
    rad_error *error;
};

static const node *wrong_at(const struct reading *r, const char *at, const char *what)
{
    if (*at == 0)
        rad__error(r->error, RAD_EINPUT, "filter: column %d: it ends here; %s", (int)(at - r->text) + 1, what);
    else
        rad__error(r->error, RAD_EINPUT, "filter: column %d: \"%.16s\"; %s", (int)(at - r->text) + 1, at, what);
    return NULL;
}

static void skip_spaces(struct reading *r)
{
    while (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r') r->at++;
}

static bool take(struct reading *r, const char *sign)
{
    skip_spaces(r);
    size_t length = strlen(sign);
    if (strncmp(r->at, sign, length) != 0) return false;
    r->at += length;
    return true;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static node *new_node(const struct reading *r, enum compare op)
{
    node *n = rad__arena_take(&r->filter->arena, 1, sizeof *n);
    if (n == NULL)
        rad__error_memory(r->error);
    else
        n->op = op;
    return n;
}

static const struct name *read_name(struct reading *r)
{
    skip_spaces(r);
    size_t length = 0;
    while (is_letter(r->at[length]) || (length > 0 && rad__is_digit(r->at[length]))) length++;
    for (uint32_t i = 0; i < NAME_COUNT; i++) {
        if (strlen(NAMES[i].name) == length && strncmp(NAMES[i].name, r->at, length) == 0) {
            r->at += length;
            return &NAMES[i];
        }
    }
    char expected[400] = "expected a name (";
    for (uint32_t i = 0; i < NAME_COUNT; i++) {
        size_t used = strlen(expected);
        snprintf(expected + used, sizeof expected - used, "%s%s", i > 0 ? ", " : "", NAMES[i].name);
    }
    size_t used = strlen(expected);
    snprintf(expected + used, sizeof expected - used, "), ! or (");
    wrong_at(r, r->at, expected);
    return NULL;
}

/* The longer sign first. */
static bool read_operator(struct reading *r, const struct name *name, enum compare *op)
{
    static const struct {
        const char *sign;
        enum compare op;
    } SIGNS[] = {{"==", EQUAL}, {"!=", DIFFERENT}, {"<=", AT_MOST}, {">=", AT_LEAST},
                 {"<", LESS},   {">", MORE},       {"~", CONTAINS}};
    skip_spaces(r);
    const char *at = r->at;
    for (uint32_t i = 0; i < sizeof SIGNS / sizeof *SIGNS; i++) {
        if (!take(r, SIGNS[i].sign)) continue;
        *op = SIGNS[i].op;
        bool of_text = *op == EQUAL || *op == DIFFERENT || *op == CONTAINS;
        if (name->unit == TEXT && !of_text) return wrong_at(r, at, "a text is compared with ==, != or ~") != NULL;
        if (name->unit != TEXT && *op == CONTAINS)
            return wrong_at(r, at, "a number is compared with ==, !=, <, <=, > or >=") != NULL;
        return true;
    }
    return wrong_at(r, at, "expected ==, !=, <, <=, >, >= or ~") != NULL;
}

/* ---- Values ---------------------------------------------------------------------------------------------- */

static const struct measure *read_measure(struct reading *r, const struct name *name)
{
    static const struct measure PLAIN = {"", false, 1};
    static const struct measure OWN[] = {
        [NS] = {"", true, 1}, [US] = {"", true, 1000}, [MS] = {"", true, 1000000}, [SECONDS] = {"", true, 1000000000}};
    size_t length = 0;
    bool time = name->unit >= NS;
    while (is_letter(r->at[length])) length++;
    if (length == 0) return time ? &OWN[name->unit] : &PLAIN;
    for (uint32_t i = 0; i < sizeof MEASURES / sizeof *MEASURES; i++) {
        const struct measure *m = &MEASURES[i];
        if (strlen(m->name) != length || strncmp(m->name, r->at, length) != 0) continue;
        if (name->unit == COUNT || m->time != time) break;
        r->at += length;
        return m;
    }
    wrong_at(r, r->at,
             time                  ? "expected a unit of time: ns, us, ms, s, min or h"
             : name->unit == BYTES ? "expected a unit of size: B, kB, MB, GB, KiB, MiB or GiB"
                                   : "this is a number without a unit");
    return NULL;
}

/* Digits, perhaps a point and more digits, perhaps a unit: a whole number of nanoseconds, bytes, or whatever it is. */
static bool read_number(struct reading *r, const struct name *name, uint64_t *number)
{
    const char *at = r->at;
    unsigned __int128 value = 0;
    uint64_t scale = 1;
    bool point = false;
    for (; rad__is_digit(*r->at) || (*r->at == '.' && !point && rad__is_digit(r->at[1])); r->at++) {
        if (*r->at == '.') {
            point = true;
            continue;
        }
        value = value * 10 + (unsigned)(*r->at - '0');
        if (point) scale *= 10;
        if (value > UINT64_MAX || scale > UINT64_C(1000000000000))
            return wrong_at(r, at, "expected a number of fewer digits") != NULL;
    }
    const struct measure *measure = read_measure(r, name);
    if (measure == NULL) return false;
    value *= measure->of;
    if (value % scale != 0)
        return wrong_at(r, at,
                        name->unit >= NS ? "expected no more than whole nanoseconds" : "expected a whole number") !=
               NULL;
    if (value / scale > UINT64_MAX) return wrong_at(r, at, "expected a smaller number") != NULL;
    *number = (uint64_t)(value / scale);
    return true;
}

static const char *read_text(struct reading *r)
{
    const char *begin = r->at, quote = *begin;
    if (quote != '"' && quote != '\'') {
        wrong_at(r, begin, "expected a text in quotes");
        return NULL;
    }
    const char *end = strchr(begin + 1, quote);
    if (end == NULL) {
        wrong_at(r, begin, "this quote does not end");
        return NULL;
    }
    r->at = end + 1;
    const char *text = rad__arena_text(&r->filter->arena, begin + 1, (size_t)(end - begin) - 1);
    if (text == NULL) rad__error_memory(r->error);
    return text;
}

static const node *read_comparison(struct reading *r)
{
    enum compare op = EQUAL;
    const struct name *name = read_name(r);
    if (name == NULL || !read_operator(r, name, &op)) return NULL;
    node *n = new_node(r, op);
    if (n == NULL) return NULL;
    n->name = name;
    skip_spaces(r);
    if (name->unit == TEXT) {
        n->text = read_text(r);
        return n->text != NULL ? n : NULL;
    }
    if (!rad__is_digit(*r->at)) return wrong_at(r, r->at, "expected a number");
    return read_number(r, name, &n->number) ? n : NULL;
}

/* ---- Expressions ----------------------------------------------------------------------------------------- */

static const node *read_either(struct reading *r);

static const node *read_inner(struct reading *r)
{
    if (take(r, "!")) {
        node *n = new_node(r, NOT);
        if (n == NULL) return NULL;
        r->depth++;
        skip_spaces(r);
        if (r->depth > RAD__LOAD_FILTER_DEPTH_MAX) return wrong_at(r, r->at, "nested too deeply");
        n->left = read_inner(r);
        r->depth--;
        return n->left != NULL ? n : NULL;
    }
    if (!take(r, "(")) return read_comparison(r);
    if (++r->depth > RAD__LOAD_FILTER_DEPTH_MAX) return wrong_at(r, r->at - 1, "nested too deeply");
    const node *n = read_either(r);
    r->depth--;
    if (n != NULL && !take(r, ")")) return wrong_at(r, r->at, "expected &&, || or )");
    return n;
}

static const node *read_row(struct reading *r, const char *sign, enum compare op, const node *(*read)(struct reading *))
{
    const node *left = read(r);
    while (left != NULL && take(r, sign)) {
        node *n = new_node(r, op);
        if (n == NULL) return NULL;
        n->left = left;
        n->right = read(r);
        left = n->right != NULL ? n : NULL;
    }
    return left;
}

static const node *read_both(struct reading *r)
{
    return read_row(r, "&&", AND, read_inner);
}

static const node *read_either(struct reading *r)
{
    return read_row(r, "||", OR, read_both);
}

int rad__load_filter_parse(rad__load_filter *f, const rad__load_scenario *scenario, const char *text, rad_error *error)
{
    rad_error why = {0};
    struct reading r = {.filter = f, .text = text, .at = text, .error = &why};
    *f = (rad__load_filter){.scenario = scenario};
    if (strlen(text) > RAD__LOAD_FILTER_TEXT_MAX)
        return rad__error(error, RAD_EINPUT, "filter: longer than %d characters", RAD__LOAD_FILTER_TEXT_MAX);
    f->top = read_either(&r);
    skip_spaces(&r);
    if (f->top != NULL && *r.at != 0) f->top = wrong_at(&r, r.at, "expected && or ||");
    return f->top != NULL ? 0 : rad__error(error, why.code, "%s", why.text);
}

void rad__load_filter_free(rad__load_filter *f)
{
    rad__arena_free(&f->arena);
    *f = (rad__load_filter){0};
}

/* ---- Asking ---------------------------------------------------------------------------------------------- */

static const char *kind_of(const rad__load_event *outcome)
{
    switch (outcome->kind) {
    case RAD__LOAD_RESPONSE: return "response";
    case RAD__LOAD_ERROR: return "error";
    case RAD__LOAD_TIMEOUT: return "timeout";
    case RAD__LOAD_CANCELLED: return "cancelled";
    default: return "under_way";
    }
}

static const char *text_of(const rad__load_filter *f, const struct rad__load_asked *a, enum about about)
{
    const rad__load_scenario *s = f->scenario;
    const rad__load_event *o = &a->outcome;
    switch (about) {
    case KIND: return kind_of(o);
    case WHAT: return s->requests[a->issued.what].name;
    case METHOD: return s->requests[a->issued.what].method;
    case TARGET: return s->targets[a->issued.target].name;
    default: break;
    }
    if (o->kind == RAD__LOAD_ERROR) return rad__load_fault_name((enum rad__load_fault)o->fault);
    if (o->kind == RAD__LOAD_TIMEOUT) return rad__load_fault_name(RAD__LOAD_REQUEST_TIMEOUT);
    return rad__load_fault_name(RAD__LOAD_OK);
}

/* False: a request that ended like this has no such number. */
static bool number_of(const struct rad__load_asked *a, const struct name *name, uint64_t *number)
{
    const rad__load_event *o = &a->outcome;
    bool answered = o->kind == RAD__LOAD_RESPONSE;
    switch (name->about) {
    case VU: *number = (uint64_t)a->issued.vu * a->shards + a->shard; return true;
    case REQUEST: *number = a->issued.request; return true;
    case ITERATION: *number = a->issued.iteration; return true;
    case CONN: *number = a->issued.conn; return true;
    case TIME: *number = name->unit == COUNT ? a->issued_ns / UINT64_C(1000000000) : a->issued_ns; return true;
    case SERVICE: *number = o->service_ns; return answered || o->kind == RAD__LOAD_TIMEOUT;
    case STATUS: *number = o->status; return answered;
    case RESPONSE: *number = o->response_ns; return answered;
    case FIRST: *number = o->first_ns; return answered;
    case BODY: *number = o->body_bytes; return answered;
    case HEADER: *number = o->header_bytes; return answered;
    case CHECKS: *number = (uint64_t)__builtin_popcountll(o->checks_failed); return answered;
    default: return false;
    }
}

static bool compare_numbers(enum compare op, uint64_t a, uint64_t b)
{
    switch (op) {
    case EQUAL: return a == b;
    case DIFFERENT: return a != b;
    case LESS: return a < b;
    case AT_MOST: return a <= b;
    case MORE: return a > b;
    default: return a >= b;
    }
}

static bool holds(const rad__load_filter *f, const node *n, const struct rad__load_asked *a)
{
    uint64_t number;
    switch (n->op) {
    case OR: return holds(f, n->left, a) || holds(f, n->right, a);
    case AND: return holds(f, n->left, a) && holds(f, n->right, a);
    case NOT: return !holds(f, n->left, a);
    default: break;
    }
    if (n->name->unit != TEXT) return number_of(a, n->name, &number) && compare_numbers(n->op, number, n->number);
    const char *text = text_of(f, a, n->name->about);
    if (n->op == CONTAINS) return strstr(text, n->text) != NULL;
    return (strcmp(text, n->text) == 0) == (n->op == EQUAL);
}

bool rad__load_filter_holds(const rad__load_filter *f, const struct rad__load_asked *asked)
{
    return holds(f, f->top, asked);
}
