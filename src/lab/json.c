/* json.c — reading JSON strictly; see json.h. Writing is in json_write.c. */
#include "lab/json.h"

#include "base/alloc.h"
#include "lab/case.h"

#include <stdio.h>
#include <string.h>

/* ---- jansson -------------------------------------------------------------------------------------- */

static bool json_short; /* of memory: jansson has no words for it in most places */

static void *json_take(size_t size)
{
    void *p = rad__alloc(1, size);
    json_short |= p == NULL;
    return p;
}

void rad__json_prepare(void)
{
    static bool prepared;
    if (!prepared) {
        json_set_alloc_funcs(json_take, rad__free);
        json_object_seed(1); /* otherwise it asks the system for random numbers */
        prepared = true;
    }
}

/* ---- Where it is ---------------------------------------------------------------------------------- */

/* "file:1:2", or "1:2" when there is no file: a body that was handed in as it is. */
static const char *name_of(const rad_json_source *s)
{
    return s->name ? s->name : "";
}

static const char *colon_of(const rad_json_source *s)
{
    return s->name ? ":" : "";
}

/* ---- Looking over --------------------------------------------------------------------------------- */

typedef struct json_limits {
    uint32_t depth;
    uint64_t lists, values, total;
} json_limits;

static const json_limits json_file = {RAD_JSON_DEPTH_MAX, RAD_JSON_LISTS_MAX, RAD_JSON_VALUES_MAX, RAD_JSON_TOTAL_MAX};
static const json_limits json_body = {RAD_JSON_BODY_DEPTH_MAX, RAD_JSON_BODY_LISTS_MAX, RAD_JSON_BODY_TOTAL_MAX,
                                      RAD_JSON_BODY_TOTAL_MAX};

typedef struct json_survey {
    const json_limits *limits;
    uint64_t line, line_begin; /* where the line begins */
    uint32_t depth;
    uint64_t commas[RAD_JSON_DEPTH_MAX + 1]; /* in each open list */
    uint64_t total, lists;
} json_survey;

static int survey_bad(const rad_json_source *s, const json_survey *v, uint64_t at, const char *what, uint64_t limit)
{
    return rad__error(s->error, RAD_EINPUT, "%s%s%llu:%llu: more than %llu %s", name_of(s), colon_of(s),
                      (unsigned long long)v->line, (unsigned long long)(at - v->line_begin + 1),
                      (unsigned long long)limit, what);
}

static int survey_mark(const rad_json_source *s, json_survey *v, uint64_t at, char mark)
{
    const json_limits *most = v->limits;
    if (mark == '\n') {
        v->line++;
        v->line_begin = at + 1;
    } else if (mark == '[' || mark == '{') {
        if (v->depth == most->depth) return survey_bad(s, v, at, "lists within each other", most->depth);
        if (++v->lists > most->lists) return survey_bad(s, v, at, "lists and objects", most->lists);
        v->commas[++v->depth] = 0;
    } else if ((mark == ']' || mark == '}') && v->depth > 0) {
        v->depth--;
    } else if (mark == ',') {
        if (++v->commas[v->depth] >= most->values) return survey_bad(s, v, at, "values in one list", most->values);
        if (++v->total >= most->total) return survey_bad(s, v, at, "values", most->total);
    }
    return 0;
}

int rad__json_look_over(const rad_json_source *s, const char *text, size_t size, bool body)
{
    json_survey v = {.limits = body ? &json_body : &json_file, .line = 1};
    bool quoted = false;
    for (size_t at = 0; at < size; at++) {
        char c = text[at];
        if (c == '"') {
            quoted = !quoted;
        } else if (quoted) {
            at += c == '\\';
        } else if (c < '0' || c > '9') {
            int code = survey_mark(s, &v, at, c);
            if (code != 0) return code;
        }
    }
    return 0;
}

/* ---- Syntax --------------------------------------------------------------------------------------- */

/* jansson says "string or '}' expected near '5'"; we say "expected string or '}', found '5'". */
static int json_syntax(const rad_json_source *s, const json_error_t *e)
{
    static const char between[] = " expected near ";
    const char *split = strstr(e->text, between);
    if (split != NULL) {
        return rad__error(s->error, RAD_EINPUT, "%s%s%d:%d: expected %.*s, found %.100s", name_of(s), colon_of(s),
                          e->line, e->column, (int)(split - e->text), e->text, split + sizeof between - 1);
    }
    return rad__error(s->error, RAD_EINPUT, "%s%s%d:%d: expected JSON, found %.120s", name_of(s), colon_of(s), e->line,
                      e->column, e->text);
}

json_t *rad__json_load(const rad_json_source *s, const char *text, size_t size)
{
    rad__json_prepare();
    if (rad__json_look_over(s, text, size, false) != 0) return NULL;
    json_error_t e;
    memset(&e, 0, sizeof e);
    json_short = false;
    json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &e);
    if (root == NULL || json_short) {
        json_decref(root);
        if (json_short)
            rad__error_memory(s->error);
        else
            json_syntax(s, &e);
        return NULL;
    }
    if (!json_is_object(root)) {
        rad__error(s->error, RAD_EINPUT, "%s%s1:1: expected an object, found an array", name_of(s), colon_of(s));
        json_decref(root);
        return NULL;
    }
    return root;
}

/* ---- Content -------------------------------------------------------------------------------------- */

static void json_describe(char *text, size_t size, const json_t *value)
{
    switch (value ? json_typeof(value) : JSON_NULL) {
    case JSON_OBJECT: snprintf(text, size, "object"); break;
    case JSON_ARRAY: snprintf(text, size, "array"); break;
    case JSON_STRING: snprintf(text, size, "string \"%.60s\"", json_string_value(value)); break;
    case JSON_INTEGER: snprintf(text, size, "%lld", (long long)json_integer_value(value)); break;
    case JSON_REAL: snprintf(text, size, "a number with a fraction"); break;
    case JSON_TRUE: snprintf(text, size, "true"); break;
    case JSON_FALSE: snprintf(text, size, "false"); break;
    case JSON_NULL: snprintf(text, size, value ? "null" : "nothing"); break;
    }
}

int rad__json_bad(const rad_json_source *s, const char *place, const char *expected, const json_t *found)
{
    char what[96];
    json_describe(what, sizeof what, found);
    rad__text_clean(what); /* the text may have been cut within a character */
    return rad__error(s->error, RAD_EINPUT, "%s%s%s: expected %s, found %s", s->name ? s->name : "",
                      s->name ? ": " : "", place, expected, what);
}

static int json_bad_member(const rad_json_source *s, const char *place, const char *key, const char *expected,
                           const json_t *found)
{
    char full[160];
    snprintf(full, sizeof full, "%.60s%s%.60s", place, *place ? "." : "", key);
    return rad__json_bad(s, full, expected, found);
}

int rad__json_object(const rad_json_source *s, const json_t *o, const char *place, const char *key, const json_t **out)
{
    *out = json_object_get(o, key);
    return json_is_object(*out) ? 0 : json_bad_member(s, place, key, "an object", *out);
}

int rad__json_integer(const rad_json_source *s, const json_t *o, const char *place, const char *key, int64_t min,
                      int64_t max, int64_t *out)
{
    const json_t *value = json_object_get(o, key);
    *out = json_integer_value(value);
    if (json_is_integer(value) && *out >= min && *out <= max) return 0;
    char expected[96];
    *out = min;
    snprintf(expected, sizeof expected, "an integer from %lld to %lld", (long long)min, (long long)max);
    return json_bad_member(s, place, key, expected, value);
}

int rad__json_boolean(const rad_json_source *s, const json_t *o, const char *place, const char *key, bool *out)
{
    const json_t *value = json_object_get(o, key);
    *out = json_is_true(value);
    return json_is_boolean(value) ? 0 : json_bad_member(s, place, key, "true or false", value);
}

int rad__json_text(const rad_json_source *s, const json_t *o, const char *place, const char *key, char *out,
                   size_t room)
{
    const json_t *value = json_object_get(o, key);
    *out = 0;
    if (json_is_string(value) && json_string_length(value) < room) {
        snprintf(out, room, "%s", json_string_value(value));
        return 0;
    }
    char expected[64];
    snprintf(expected, sizeof expected, "a string of at most %zu bytes", room - 1);
    return json_bad_member(s, place, key, expected, value);
}

int rad__json_digest(const rad_json_source *s, const json_t *o, const char *place, const char *key, rad_digest *out)
{
    const json_t *value = json_object_get(o, key);
    if (json_is_string(value) && rad__digest_parse(json_string_value(value), out)) return 0;
    *out = (rad_digest){0, 0};
    return json_bad_member(s, place, key, "32 hexadecimal digits", value);
}

int rad__json_only(const rad_json_source *s, const json_t *o, const char *place, const char *const *keys)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)o, key, value)
    {
        uint32_t i = 0;
        while (keys[i] != NULL && strcmp(keys[i], key) != 0) i++;
        if (keys[i] == NULL) {
            char name[64];
            snprintf(name, sizeof name, "%s", key);
            rad__text_clean(name);
            return rad__error(s->error, RAD_EINPUT, "%s%sunknown field \"%s%s%s\"", s->name ? s->name : "",
                              s->name ? ": " : "", place, *place ? "." : "", name);
        }
    }
    return 0;
}

/* ---- Machine, case, build ------------------------------------------------------------------------- */

static int json_read_params(const rad_json_source *s, const json_t *c, rad_target *out)
{
    const rad_param *known = out->machine->params;
    const char *keys[RAD_PARAMS_MAX + 1] = {NULL};
    const json_t *params;
    int code = rad__json_object(s, c, "case", "params", &params);
    for (uint32_t i = 0; code == 0 && known && i < RAD_PARAMS_MAX && known[i].name; i++) {
        keys[i] = known[i].name;
        code =
            rad__json_integer(s, params, "case.params", known[i].name, known[i].min, known[i].max, &out->c.params[i]);
    }
    return code ? code : rad__json_only(s, params, "case.params", keys);
}

int rad__json_no_machine(const rad_json_source *s, const char *name)
{
    return rad__error(s->error, RAD_EINPUT, "%s: machine: unknown machine \"%s\"; 'raddle list' shows all", s->name,
                      name);
}

static int json_read_body(const rad_json_source *s, const json_t *c, rad_target *out)
{
    static const char place[] = "case.body";
    if (out->machine->body == NULL) return 0;
    char *text;
    int code = rad__body_of_json(s, place, out->machine, json_object_get(c, "body"), &text);
    out->c.body = text;
    if (code == 0) code = rad__target_try(s, place, out);
    if (code != 0) rad_target_free(out);
    return code;
}

/* Of the program that was named, the first; NULL: none was. */
static const rad_machine *added_machine(void)
{
    const rad_machine *m;
    for (uint32_t i = 0; (m = rad_machine_at(i)) != NULL; i++)
        if (rad_machine_is_added(m)) return m;
    return NULL;
}

/* A machine of a program is not one of raddle's own that happens to have its name. */
static int check_program(const rad_json_source *s, const json_t *root, const char *name, const rad_machine *m)
{
    rad_lab_program program;
    int code = rad__json_read_program(s, root, &program);
    if (code != 0 || program.path[0] == 0 || (m && rad_machine_is_added(m))) return code;
    const rad_machine *other = added_machine();
    return rad__error(s->error, RAD_EINPUT, "%s: machine: \"%s\" is in the program %.300s%s%.60s%s", s->name, name,
                      program.path, other ? "; this program has \"" : "", other ? other->name : "", other ? "\"" : "");
}

int rad__json_read_target(const rad_json_source *s, const json_t *root, rad_target *out)
{
    const char *keys[] = {"repaired", "params", "max_steps", "spin_rounds", "hang_ms", NULL, NULL};
    char name[64];
    const json_t *c;
    int64_t max_steps, spin_rounds = 0, hang_ms = 0;
    *out = (rad_target){0};
    int code = rad__json_text(s, root, "", "machine", name, sizeof name);
    if (code != 0) return code;
    out->machine = rad_machine_find(name);
    if ((code = check_program(s, root, name, out->machine)) != 0) return code;
    if (out->machine == NULL) return rad__json_no_machine(s, name);
    if (out->machine->body) keys[5] = "body";
    if ((code = rad__json_object(s, root, "", "case", &c)) != 0 ||
        (code = rad__json_boolean(s, c, "case", "repaired", &out->c.repaired)) != 0 ||
        (code = json_read_params(s, c, out)) != 0 ||
        (code = rad__json_integer(s, c, "case", "max_steps", 0, INT64_MAX, &max_steps)) != 0 ||
        (json_object_get(c, "spin_rounds") &&
         (code = rad__json_integer(s, c, "case", "spin_rounds", 0, UINT32_MAX, &spin_rounds)) != 0) ||
        (json_object_get(c, "hang_ms") &&
         (code = rad__json_integer(s, c, "case", "hang_ms", 0, UINT32_MAX, &hang_ms)) != 0) ||
        (code = rad__json_only(s, c, "case", keys)) != 0)
        return code;
    out->c.max_steps = (uint64_t)max_steps;
    out->c.spin_rounds = (uint32_t)spin_rounds;
    out->c.hang_ms = (uint32_t)hang_ms;
    return json_read_body(s, c, out);
}

int rad__json_read_build(const rad_json_source *s, const json_t *root, rad_json_build *out)
{
    static const char *const keys[] = {"version", "git_sha", "compiler", NULL};
    const json_t *b;
    int code;
    if ((code = rad__json_object(s, root, "", "build", &b)) != 0 ||
        (code = rad__json_text(s, b, "build", "version", out->version, sizeof out->version)) != 0 ||
        (code = rad__json_text(s, b, "build", "git_sha", out->git_sha, sizeof out->git_sha)) != 0 ||
        (code = rad__json_text(s, b, "build", "compiler", out->compiler, sizeof out->compiler)))
        return code;
    return rad__json_only(s, b, "build", keys);
}

int rad__json_read_program(const rad_json_source *s, const json_t *root, rad_lab_program *out)
{
    static const char *const keys[] = {"path", "build_id", "library", NULL};
    const json_t *p;
    int code;
    *out = (rad_lab_program){.path = ""};
    if (json_object_get(root, "program") == NULL) return 0;
    if ((code = rad__json_object(s, root, "", "program", &p)) != 0 ||
        (code = rad__json_text(s, p, "program", "path", out->path, sizeof out->path)) != 0 ||
        (code = rad__json_text(s, p, "program", "build_id", out->build_id, sizeof out->build_id)) ||
        (json_object_get(p, "library") &&
         (code = rad__json_text(s, p, "program", "library", out->library, sizeof out->library))))
        return code;
    rad__text_plain(out->library);
    rad__text_plain(out->path); /* it is printed as part of a command */
    rad__text_plain(out->build_id);
    if (out->path[0] == 0) return rad__json_bad(s, "program.path", "a path", json_object_get(p, "path"));
    return rad__json_only(s, p, "program", keys);
}
