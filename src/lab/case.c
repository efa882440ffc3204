/* case.c — see case.h. A case file is flat: `machine`, then, all optional, `repaired`, `max_steps`,
 * parameters by name, and what else there is are the fields of the body. docs/files.md tells people. */
#include "lab/case.h"

#include "base/alloc.h"
#include "lab/artifact.h"
#include "lab/log_file.h"
#include "lab/machines.h"
#include "os/file.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* What a case file says about the case itself; `schema_version` makes a file an artifact. */
static const char *const case_words[] = {"machine", "repaired", "max_steps", "schema_version", NULL};

/* ---- Bodies --------------------------------------------------------------------------------------- */

static bool is_taken(const rad_machine *m, const char *key)
{
    for (uint32_t i = 0; case_words[i]; i++)
        if (strcmp(case_words[i], key) == 0) return true;
    return rad__machine_param(m, key, strlen(key)) != RAD_NONE;
}

static int body_names(const rad_json_source *s, const char *place, const rad_machine *m, const json_t *value)
{
    const char *key;
    json_t *field;
    json_object_foreach((json_t *)value, key, field)
    {
        if (is_taken(m, key))
            return rad__error(s->error, RAD_EINPUT, "%s: %s: a field of a body cannot be called \"%s\"", s->name, place,
                              key);
    }
    return 0;
}

int rad__body_of_json(const rad_json_source *s, const char *place, const rad_machine *m, const json_t *value,
                      char **out)
{
    char where[160];
    *out = NULL;
    if (!json_is_object(value)) return rad__json_bad(s, place, "an object", value);
    int code = body_names(s, place, m, value);
    if (code != 0) return code;
    char *text = json_dumps(value, JSON_COMPACT);
    if (text == NULL) return rad__error_memory(s->error);
    snprintf(where, sizeof where, "%.140s: %.16s", s->name, place);
    const rad_json_source inner = {where, s->error};
    size_t size = strlen(text);
    if (size > RAD_BODY_BYTES_MAX)
        code = rad__error(s->error, RAD_EINPUT, "%s: %zu bytes, more than the limit of %d", where, size,
                          RAD_BODY_BYTES_MAX);
    else
        code = rad__json_look_over(&inner, text, size, true);
    if (code != 0)
        rad__free(text);
    else
        *out = text;
    return code;
}

rad_case rad__case_of(const rad_target *t)
{
    rad_case c = t->c;
    if (c.body == NULL) c.body = t->machine->body;
    return c;
}

int rad__target_copy(rad_target *to, const rad_target *from, rad_error *error)
{
    rad_error own = {0};
    const rad_json_source s = {"body", error ? error : &own};
    const rad_machine *m = from->machine;
    rad_case c = rad__case_of(from);
    *to = *from;
    to->c.body = NULL;
    if (c.body == NULL) return 0;
    if (m->body == NULL) return rad__error(error, RAD_EINPUT, "%s takes no body, only numbers", m->name);
    json_t *value = rad__json_load(&s, c.body, strlen(c.body));
    if (value == NULL) return s.error->code;
    char *text;
    int code = rad__body_of_json(&s, "the document", m, value, &text);
    json_decref(value);
    to->c.body = text;
    return code;
}

void rad_target_free(rad_target *t)
{
    if (t->machine != NULL && t->c.body != t->machine->body) rad__free((void *)t->c.body);
    t->c.body = NULL;
}

int rad__target_try(const rad_json_source *s, const char *place, const rad_target *t)
{
    void *self = NULL;
    rad_error own = {0};
    if (t->c.body == NULL) return 0;
    int code = t->machine->create(&self, t->machine, &t->c, &own);
    if (code == 0) {
        t->machine->destroy(self);
        return 0;
    }
    if (code != RAD_EINPUT) return rad__error(s->error, code, "%s", own.text);
    rad__text_clean(own.text);
    return rad__error(s->error, code, "%s: %s%s%s", s->name, place, *place ? ": " : "", own.text);
}

rad_digest rad__case_digest(const rad_target *t)
{
    struct {
        rad_digest body;
        int64_t params[RAD_PARAMS_MAX];
        uint64_t max_steps, repaired;
    } record;
    memset(&record, 0, sizeof record);
    rad_case c = rad__case_of(t);
    if (c.body) record.body = rad__digest_of(c.body, strlen(c.body));
    for (uint32_t i = 0; i < rad__machine_param_count(t->machine); i++) record.params[i] = c.params[i];
    record.max_steps = c.max_steps;
    record.repaired = c.repaired;
    record.body.low += c.spin_rounds;
    return rad__digest_of(&record, sizeof record);
}

/* ---- Case files: reading --------------------------------------------------------------------------- */

static int case_numbers(const rad_json_source *s, const json_t *root, rad_target *t)
{
    int64_t max_steps = 0;
    int code = 0;
    if (json_object_get(root, "repaired")) code = rad__json_boolean(s, root, "", "repaired", &t->c.repaired);
    if (code == 0 && json_object_get(root, "max_steps"))
        code = rad__json_integer(s, root, "", "max_steps", 0, INT64_MAX, &max_steps);
    t->c.max_steps = (uint64_t)max_steps;
    for (uint32_t i = 0; code == 0 && i < rad__machine_param_count(t->machine); i++) {
        const rad_param *p = &t->machine->params[i];
        if (json_object_get(root, p->name))
            code = rad__json_integer(s, root, "", p->name, p->min, p->max, &t->c.params[i]);
    }
    return code;
}

/* Takes out of `root` what is the case's; the rest is the body, or the default when nothing is left. */
static int case_body(const rad_json_source *s, json_t *root, rad_target *t)
{
    static const char *const none[] = {NULL};
    char *text = NULL;
    for (uint32_t i = 0; case_words[i]; i++) json_object_del(root, case_words[i]);
    for (uint32_t i = 0; i < rad__machine_param_count(t->machine); i++)
        json_object_del(root, t->machine->params[i].name);
    if (t->machine->body == NULL) return rad__json_only(s, root, "", none);
    t->c.body = NULL;
    if (json_object_size(root) == 0) {
        rad_target defaults = *t;
        return rad__target_copy(t, &defaults, s->error);
    }
    int code = rad__body_of_json(s, "the document", t->machine, root, &text);
    t->c.body = text;
    return code ? code : rad__target_try(s, "", t);
}

static int case_of_json(const rad_json_source *s, json_t *root, rad_target *t)
{
    char name[64];
    int code = rad__json_text(s, root, "", "machine", name, sizeof name);
    if (code != 0) return code;
    if (rad_machine_find(name) == NULL) return rad__json_no_machine(s, name);
    code = rad_target_init(t, name, s->error);
    if (code == 0) code = case_numbers(s, root, t);
    return code ? code : case_body(s, root, t);
}

static int case_of_artifact(rad_target *t, const char *text, size_t size, const char *name, rad_error *error)
{
    rad_artifact *a;
    int code = rad__artifact_parse(&a, text, size, name, true, error);
    if (code != 0) return code;
    *t = a->target;
    a->target = (rad_target){0};
    rad_artifact_free(a);
    return 0;
}

int rad__target_parse(rad_target *t, const char *text, size_t size, const char *name, rad_error *error)
{
    rad_error own = {0};
    const rad_json_source s = {name, error ? error : &own};
    size_t blank = 0;
    *t = (rad_target){0};
    while (blank < size && isspace((unsigned char)text[blank])) blank++;
    if (blank < size && text[blank] != '{') /* base64, or nothing of ours: it will say */
        return case_of_artifact(t, text, size, name, s.error);
    json_t *root = rad__json_load(&s, text, size);
    if (root == NULL) return s.error->code;
    int code;
    if (json_object_get(root, "schema_version"))
        code = case_of_artifact(t, text, size, name, s.error);
    else
        code = case_of_json(&s, root, t);
    json_decref(root);
    if (code != 0) rad_target_free(t);
    return code;
}

static int case_of_log(rad_target *t, const char *path, rad_error *error)
{
    rad_log_in *log;
    int code = rad__log_open(&log, path, error);
    if (code != 0) return code;
    code = rad__target_copy(t, &rad__log_head(log)->target, error);
    rad__log_close(log);
    return code;
}

int rad_target_read(rad_target *t, const char *path, rad_error *error)
{
    char *text = NULL;
    size_t size = 0;
    *t = (rad_target){0};
    rad__error_clear(error);
    if (rad_is_log(path)) return case_of_log(t, path, error);
    int code = rad__os_read_file(path, RAD_ARTIFACT_BYTES_MAX, &text, &size, error);
    if (code == 0) code = rad__target_parse(t, text, size, path, error);
    rad__free(text);
    return code;
}

/* ---- Case files: writing --------------------------------------------------------------------------- */

static bool case_set(json_t *root, const rad_target *t)
{
    bool ok = rad__json_set(root, "machine", json_string(t->machine->name));
    if (t->c.repaired) ok = ok && rad__json_set(root, "repaired", json_true());
    if (t->c.max_steps) ok = ok && rad__json_set(root, "max_steps", json_integer((json_int_t)t->c.max_steps));
    for (uint32_t i = 0; ok && i < rad__machine_param_count(t->machine); i++)
        ok = rad__json_set(root, t->machine->params[i].name, json_integer(t->c.params[i]));
    if (!ok || t->c.body == NULL) return ok;
    json_t *body = json_loads(t->c.body, 0, NULL);
    ok = body != NULL && json_object_update(root, body) == 0;
    json_decref(body);
    return ok;
}

char *rad_target_json(const rad_target *t, rad_error *error)
{
    rad_target own;
    rad_bytes text = {0};
    rad__error_clear(error);
    rad__json_prepare();
    int code = rad__target_copy(&own, t, error);
    if (code != 0) return NULL;
    json_t *root = json_object();
    if (root && case_set(root, &own)) {
        rad__json_print(&text, root);
        rad__bytes_put(&text, "\n", 2); /* with the zero */
    } else {
        text.failed = true;
    }
    json_decref(root);
    rad_target_free(&own);
    if (text.failed) {
        rad__bytes_free(&text);
        rad__error_memory(error);
    }
    return (char *)text.data;
}
