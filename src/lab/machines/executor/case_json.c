/* case_json.c — cases as JSON. Everything but programs, tasks and runnable may be left out: it has its default. */
#include "base/alloc.h"
#include "exec/idle.h"
#include "lab/json.h"
#include "lab/machines/executor/case.h"

#include <stdio.h>
#include <string.h>

typedef struct reader {
    rad_json_source source;
    rad_exec_case *c;
} reader;

/* ---- Members that may be missing -------------------------------------------------------------------- */

static int read_number(const reader *r, const json_t *o, const char *place, const char *key, int64_t min, int64_t max,
                       uint32_t *out)
{
    int64_t value = 0;
    if (json_object_get(o, key) == NULL) return 0;
    int code = rad__json_integer(&r->source, o, place, key, min, max, &value);
    if (code == 0) *out = (uint32_t)value;
    return code;
}

/* One of `count` words; *out is its number. */
static int read_word(const reader *r, const json_t *o, const char *place, const char *key, const char *const *words,
                     uint32_t count, uint32_t *out)
{
    const json_t *value = json_object_get(o, key);
    if (value == NULL) return 0;
    for (uint32_t i = 0; json_is_string(value) && i < count; i++)
        if (strcmp(json_string_value(value), words[i]) == 0) {
            *out = i;
            return 0;
        }
    char at[64], expected[128] = "";
    snprintf(at, sizeof at, "%s%s%s", place, place[0] ? "." : "", key);
    for (uint32_t i = 0; i < count; i++) {
        size_t used = strlen(expected);
        snprintf(expected + used, sizeof expected - used, "%s\"%s\"", i ? " or " : "", words[i]);
    }
    return rad__json_bad(&r->source, at, expected, value);
}

static int read_list(const reader *r, const json_t *o, const char *key, uint32_t max, const json_t **out)
{
    char expected[64];
    *out = json_object_get(o, key);
    snprintf(expected, sizeof expected, "a list of at most %u", (unsigned)max);
    if (*out == NULL) return 0;
    if (!json_is_array(*out) || json_array_size(*out) > max) return rad__json_bad(&r->source, key, expected, *out);
    return 0;
}

/* ---- Parts ------------------------------------------------------------------------------------------ */

static int read_executor(const reader *r, const json_t *root)
{
    static const char *const keys[] = {"workers", "steal_tries", "hoard", "ring", "wake", "on_failure", NULL};
    static const char *const wakes[] = {"idle", "round-robin"}, *const failures[] = {"drain", "stop"};
    const json_t *o = NULL;
    rad_exec_case *c = r->c;
    uint32_t plain = 0, stop = 0;
    if (json_object_get(root, "executor") == NULL) return 0;
    int code = rad__json_object(&r->source, root, "", "executor", &o);
    if (code == 0) code = rad__json_only(&r->source, o, "executor", keys);
    if (code == 0) code = read_number(r, o, "executor", "workers", 1, RAD_CASE_WORKERS_MAX, &c->workers);
    if (code == 0) code = read_number(r, o, "executor", "steal_tries", 1, 64, &c->steal_tries);
    if (code == 0) code = read_number(r, o, "executor", "hoard", 1, 1000000, &c->hoard);
    if (code == 0) code = read_number(r, o, "executor", "ring", 2, 4096, &c->ring);
    if (code == 0) code = read_word(r, o, "executor", "wake", wakes, 2, &plain);
    if (code == 0) code = read_word(r, o, "executor", "on_failure", failures, 2, &stop);
    if (code == 0 && (c->ring & (c->ring - 1)) != 0)
        code = rad__json_bad(&r->source, "executor.ring", "a power of two", json_object_get(o, "ring"));
    c->plain_wake = plain;
    c->stop_on_failure = stop;
    return code;
}

static int read_resources(const reader *r, const json_t *root)
{
    const json_t *list = NULL;
    int code = read_list(r, root, "resources", RAD_CASE_RESOURCES_MAX, &list);
    if (code != 0 || list == NULL) return code;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *v = json_array_get(list, i);
        char place[32];
        snprintf(place, sizeof place, "resources[%zu]", i);
        if (!json_is_integer(v) || json_integer_value(v) < 0 || json_integer_value(v) > RAD_BATCHES_MAX)
            return rad__json_bad(&r->source, place, "units, 0 ... 1000000", v);
        r->c->totals[r->c->resource_count++] = (uint32_t)json_integer_value(v);
    }
    return 0;
}

static bool name_is_good(const char *name)
{
    size_t length = strlen(name);
    return length > 0 && length < RAD_PROGRAM_NAME_MAX &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_") == length;
}

/* Names first, since programs spawn each other. */
static int read_program_names(const reader *r, const json_t *list)
{
    static const char *const keys[] = {"name", "code", NULL};
    rad_code_names names = rad__exec_case_names(r->c);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *o = json_array_get(list, i);
        char place[40], name[RAD_PROGRAM_NAME_MAX] = "";
        snprintf(place, sizeof place, "programs[%zu]", i);
        if (!json_is_object(o)) return rad__json_bad(&r->source, place, "a program {name, code}", o);
        int code = rad__json_only(&r->source, o, place, keys);
        if (code == 0) code = rad__json_text(&r->source, o, place, "name", name, sizeof name);
        if (code != 0) return code;
        if (!name_is_good(name) || names.find(names.context, name, strlen(name)) != RAD_NONE)
            return rad__json_bad(&r->source, place, "a name of its own: a-z, 0-9, - and _, at most 23",
                                 json_object_get(o, "name"));
        rad__exec_case_program(r->c, name);
    }
    return 0;
}

static int read_code(const reader *r, uint32_t program, const json_t *o)
{
    const json_t *code = json_object_get(o, "code");
    rad_program *p = &r->c->programs[program];
    rad_code_names names = rad__exec_case_names(r->c);
    char place[48];
    snprintf(place, sizeof place, "programs[%u].code", (unsigned)program);
    if (!json_is_array(code) || json_array_size(code) > RAD_CODE_MAX)
        return rad__json_bad(&r->source, place, "a list of at most 256 instructions", code);
    p->length = (uint32_t)json_array_size(code);
    for (uint32_t n = 0; n < p->length; n++) {
        const json_t *text = json_array_get(code, n);
        const char *expected = "an instruction";
        snprintf(place, sizeof place, "programs[%u].code[%u]", (unsigned)program, (unsigned)n);
        if (!json_is_string(text) ||
            !rad__code_parse(json_string_value(text), &names, p->length, &p->code[n], &expected))
            return rad__json_bad(&r->source, place, expected, text);
        bool resource = p->code[n].op == RAD_OP_ACQUIRE || p->code[n].op == RAD_OP_RELEASE;
        if (resource && p->code[n].what >= r->c->resource_count)
            return rad__json_bad(&r->source, place, "a resource of the list `resources`", text);
    }
    return 0;
}

static int read_programs(const reader *r, const json_t *root)
{
    const json_t *list = NULL;
    int code = read_list(r, root, "programs", RAD_CASE_PROGRAMS_MAX, &list);
    if (code == 0 && list == NULL) code = rad__json_bad(&r->source, "programs", "a list of at most 64", NULL);
    if (code == 0) code = read_program_names(r, list);
    for (uint32_t i = 0; code == 0 && i < r->c->program_count; i++) code = read_code(r, i, json_array_get(list, i));
    return code;
}

/* "name" or "name at 3". */
static int read_tasks(const reader *r, const json_t *root)
{
    const json_t *list = NULL;
    rad_exec_case *c = r->c;
    rad_code_names names = rad__exec_case_names(c);
    int code = read_list(r, root, "tasks", RAD_CASE_TASKS_MAX, &list);
    for (size_t i = 0; code == 0 && i < json_array_size(list); i++) {
        const json_t *v = json_array_get(list, i);
        const char *text = json_is_string(v) ? json_string_value(v) : "";
        char place[32];
        unsigned at = 0;
        size_t length = strcspn(text, " ");
        int used = (int)length;
        snprintf(place, sizeof place, "tasks[%zu]", i);
        uint32_t program = length ? names.find(c, text, length) : RAD_NONE;
        if (program != RAD_NONE && text[length]) {
            used = 0;
            sscanf(text + length, " at %4u%n", &at, &used);
            used = used ? used + (int)length : 0;
        }
        if (program == RAD_NONE || text[used] || at > c->programs[program].length)
            return rad__json_bad(&r->source, place, "the name of a program, or NAME at INSTRUCTION", v);
        c->tasks[c->task_count++] = (rad_case_task){(uint16_t)program, (uint16_t)at};
    }
    return code;
}

static int read_runnable(const reader *r, const json_t *root)
{
    const json_t *list = NULL;
    rad_exec_case *c = r->c;
    bool seen[RAD_CASE_TASKS_MAX] = {false};
    int code = read_list(r, root, "runnable", RAD_CASE_TASKS_MAX, &list);
    for (size_t i = 0; code == 0 && i < json_array_size(list); i++) {
        const json_t *v = json_array_get(list, i);
        char place[32];
        json_int_t task = json_is_integer(v) ? json_integer_value(v) : -1;
        snprintf(place, sizeof place, "runnable[%zu]", i);
        if (task < 0 || task >= (json_int_t)c->task_count || seen[task])
            return rad__json_bad(&r->source, place, "the number of a task, each once", v);
        seen[task] = true;
        c->runnable[c->runnable_count++] = (uint16_t)task;
    }
    return code;
}

/* "5 io 1", "3 fail-io 2", "4 start 0", "9 close". */
static bool parse_event(const rad_exec_case *c, const char *text, rad_case_event *out)
{
    char word[12] = "";
    unsigned at = 0, what = 0;
    int used = 0, more = 0;
    if (sscanf(text, "%7u %11s%n", &at, word, &used) != 2 || at > RAD_TICKS_MAX) return false;
    uint32_t kind = 0;
    while (kind <= RAD_EVENT_CLOSE && strcmp(word, rad__event_name(kind)) != 0) kind++;
    if (kind > RAD_EVENT_CLOSE) return false;
    if (kind != RAD_EVENT_CLOSE) {
        if (sscanf(text + used, " %3u%n", &what, &more) != 1) return false;
        if (what >= (kind == RAD_EVENT_START ? c->task_count : RAD_CASE_TOKENS_MAX)) return false;
    }
    *out = (rad_case_event){at, (uint16_t)kind, (uint16_t)what};
    return text[used + more] == 0;
}

static int read_events(const reader *r, const json_t *root)
{
    const json_t *list = NULL;
    int code = read_list(r, root, "events", RAD_CASE_EVENTS_MAX, &list);
    for (size_t i = 0; code == 0 && i < json_array_size(list); i++) {
        const json_t *v = json_array_get(list, i);
        char place[32];
        snprintf(place, sizeof place, "events[%zu]", i);
        if (!json_is_string(v) || !parse_event(r->c, json_string_value(v), &r->c->events[r->c->event_count]))
            return rad__json_bad(&r->source, place, "TIME io TOKEN, TIME fail-io TOKEN, TIME start TASK or TIME close",
                                 v);
        r->c->event_count++;
    }
    return code;
}

/* A task is admitted once: it is runnable at the start, or started by one event. */
static int check_starts(const reader *r)
{
    bool seen[RAD_CASE_TASKS_MAX] = {false};
    const rad_exec_case *c = r->c;
    for (uint32_t i = 0; i < c->runnable_count; i++) seen[c->runnable[i]] = true;
    for (uint32_t i = 0; i < c->event_count; i++) {
        char place[32];
        if (c->events[i].kind != RAD_EVENT_START) continue;
        snprintf(place, sizeof place, "events[%u]", (unsigned)i);
        if (seen[c->events[i].what]) return rad__json_bad(&r->source, place, "a task that nothing else starts", NULL);
        seen[c->events[i].what] = true;
    }
    return 0;
}

static int read_all(const reader *r, const json_t *root)
{
    static const char *const keys[] = {"executor", "time",     "expect", "resources", "programs",
                                       "tasks",    "runnable", "events", NULL};
    static const char *const times[] = {"lazy", "eager"};
    static const char *const expects[] = {"ends", "completed", "refused", "deadlock"};
    uint32_t eager = 0, expect = 0;
    int code = rad__json_only(&r->source, root, "", keys);
    if (code == 0) code = read_executor(r, root);
    if (code == 0) code = read_word(r, root, "", "time", times, 2, &eager);
    if (code == 0) code = read_word(r, root, "", "expect", expects, 4, &expect);
    r->c->eager_time = eager;
    r->c->expect = (enum rad_expect)expect;
    if (code == 0) code = read_resources(r, root);
    if (code == 0) code = read_programs(r, root);
    if (code == 0) code = read_tasks(r, root);
    if (code == 0) code = read_runnable(r, root);
    if (code == 0) code = read_events(r, root);
    return code == 0 ? check_starts(r) : code;
}

rad_exec_case *rad__exec_case_parse(const char *text, size_t size, const char *name, rad_error *error)
{
    reader r = {{name, error}, rad__exec_case_new()};
    if (r.c == NULL) {
        rad__error_memory(error);
        return NULL;
    }
    rad__json_prepare();
    json_t *root = rad__json_load(&r.source, text, size);
    int code = root ? read_all(&r, root) : error->code;
    json_decref(root);
    if (code == 0) return r.c;
    rad__exec_case_free(r.c);
    return NULL;
}

/* ---- Writing ---------------------------------------------------------------------------------------- */

static json_t *write_executor(const rad_exec_case *c)
{
    json_t *o = json_object();
    bool good = rad__json_set(o, "workers", json_integer(c->workers)) &&
                rad__json_set(o, "steal_tries", json_integer(c->steal_tries)) &&
                rad__json_set(o, "hoard", json_integer(c->hoard)) && rad__json_set(o, "ring", json_integer(c->ring)) &&
                rad__json_set(o, "wake", json_string(c->plain_wake ? "round-robin" : "idle")) &&
                rad__json_set(o, "on_failure", json_string(c->stop_on_failure ? "stop" : "drain"));
    if (good) return o;
    json_decref(o);
    return NULL;
}

static json_t *write_programs(const rad_exec_case *c)
{
    json_t *list = json_array();
    rad_code_names names = rad__exec_case_names(c);
    for (uint32_t i = 0; list && i < c->program_count; i++) {
        const rad_program *p = &c->programs[i];
        json_t *o = json_object(), *code = json_array();
        bool good = rad__json_set(o, "name", json_string(p->name));
        for (uint32_t n = 0; good && n < p->length; n++) {
            char text[96];
            rad__code_print(&p->code[n], &names, text, sizeof text);
            good = code && json_array_append_new(code, json_string(text)) == 0;
        }
        good = rad__json_set(o, "code", code) && good;
        if (!good || json_array_append(list, o) != 0) {
            json_decref(list);
            list = NULL;
        }
        json_decref(o);
    }
    return list;
}

static json_t *write_lists(const rad_exec_case *c, json_t *root)
{
    json_t *resources = json_array(), *tasks = json_array(), *runnable = json_array(), *events = json_array();
    bool good = resources && tasks && runnable && events;
    char text[64];
    for (uint32_t i = 0; good && i < c->resource_count; i++)
        good = json_array_append_new(resources, json_integer(c->totals[i])) == 0;
    for (uint32_t i = 0; good && i < c->task_count; i++) {
        const char *name = c->programs[c->tasks[i].program].name;
        if (c->tasks[i].at)
            snprintf(text, sizeof text, "%s at %u", name, (unsigned)c->tasks[i].at);
        else
            snprintf(text, sizeof text, "%s", name);
        good = json_array_append_new(tasks, json_string(text)) == 0;
    }
    for (uint32_t i = 0; good && i < c->runnable_count; i++)
        good = json_array_append_new(runnable, json_integer(c->runnable[i])) == 0;
    for (uint32_t i = 0; good && i < c->event_count; i++) {
        const rad_case_event *e = &c->events[i];
        if (e->kind == RAD_EVENT_CLOSE)
            snprintf(text, sizeof text, "%u close", (unsigned)e->at);
        else
            snprintf(text, sizeof text, "%u %s %u", (unsigned)e->at, rad__event_name(e->kind), (unsigned)e->what);
        good = json_array_append_new(events, json_string(text)) == 0;
    }
    json_t *programs = write_programs(c);
    good = rad__json_set(root, "resources", resources) && good;
    good = rad__json_set(root, "programs", programs) && good;
    good = rad__json_set(root, "tasks", tasks) && good;
    good = rad__json_set(root, "runnable", runnable) && good;
    good = rad__json_set(root, "events", events) && good;
    return good ? root : NULL;
}

char *rad__exec_case_text(const rad_exec_case *c)
{
    rad__json_prepare();
    json_t *root = json_object();
    bool good = rad__json_set(root, "executor", write_executor(c)) &&
                rad__json_set(root, "time", json_string(c->eager_time ? "eager" : "lazy")) &&
                rad__json_set(root, "expect", json_string(rad__expect_name(c->expect))) && write_lists(c, root) != NULL;
    char *text = good ? json_dumps(root, JSON_COMPACT) : NULL;
    json_decref(root);
    return text;
}
