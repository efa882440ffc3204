/* json_write.c — JSON for people and for checksums; see json.h. */
#include "base/alloc.h"
#include "base/digest_inline.h"
#include "base/escape.h"
#include "base/utf8.h"
#include "lab/json.h"

#include <stdio.h>
#include <string.h>

enum { JSON_INDENT = 2, JSON_COLUMNS = 100 };

/* ---- Building ------------------------------------------------------------------------------------- */

bool rad__json_set(json_t *o, const char *key, json_t *value)
{
    return json_object_set_new(o, key, value) == 0; /* takes value, also when it fails */
}

int rad__json_seed(uint64_t seed, rad_error *error)
{
    if (seed <= INT64_MAX) return 0;
    return rad__error(error, RAD_EINPUT, "seed %llu: a file can hold seeds up to %lld only", (unsigned long long)seed,
                      (long long)INT64_MAX);
}

bool rad__json_set_build(json_t *root, const rad_json_build *b)
{
    json_t *o = json_object();
    bool ok = o && rad__json_set(o, "version", json_string(b->version)) &&
              rad__json_set(o, "git_sha", json_string(b->git_sha)) &&
              rad__json_set(o, "compiler", json_string(b->compiler));
    return rad__json_set(root, "build", o) && ok;
}

bool rad__json_set_program(json_t *root, const rad_lab_program *p)
{
    if (p->path[0] == 0) return true;
    json_t *o = json_object();
    bool ok = o && rad__json_set(o, "path", json_string(p->path)) &&
              rad__json_set(o, "build_id", json_string(p->build_id)) &&
              (p->library[0] == 0 || rad__json_set(o, "library", json_string(p->library)));
    return rad__json_set(root, "program", o) && ok;
}

bool rad__json_set_target(json_t *root, const rad_target *t)
{
    const rad_param *known = t->machine->params;
    json_t *params = json_object(), *c = json_object();
    bool ok = params && c;
    for (uint32_t i = 0; ok && known && i < RAD_PARAMS_MAX && known[i].name; i++)
        ok = rad__json_set(params, known[i].name, json_integer(t->c.params[i]));
    ok = ok && rad__json_set(c, "repaired", json_boolean(t->c.repaired));
    ok = (c ? rad__json_set(c, "params", params) : (json_decref(params), false)) && ok;
    ok = ok && rad__json_set(c, "max_steps", json_integer((json_int_t)t->c.max_steps));
    if (t->c.spin_rounds) ok = ok && rad__json_set(c, "spin_rounds", json_integer(t->c.spin_rounds));
    if (t->c.hang_ms) ok = ok && rad__json_set(c, "hang_ms", json_integer(t->c.hang_ms));
    if (ok && t->c.body) ok = rad__json_set(c, "body", json_loads(t->c.body, 0, NULL));
    ok = ok && rad__json_set(root, "machine", json_string(t->machine->name));
    return rad__json_set(root, "case", c) && ok;
}

/* ---- Printing ------------------------------------------------------------------------------------- */

static void print_newline(rad_bytes *to, uint32_t depth)
{
    rad__bytes_format(to, "\n%*s", (int)(depth * JSON_INDENT), "");
}

static void print_scalar(rad_bytes *to, const json_t *value)
{
    if (json_is_integer(value)) {
        char text[24];
        int size = snprintf(text, sizeof text, "%lld", (long long)json_integer_value(value));
        rad__bytes_put(to, text, (size_t)size);
        return;
    }
    char *text = json_dumps(value, JSON_ENCODE_ANY);
    if (text == NULL) {
        to->failed = true;
        return;
    }
    rad__put_json_document(to, text, strlen(text), RAD_JSON_UTF8);
    rad__free(text);
}

static void print_value(rad_bytes *to, const json_t *value, uint32_t depth);

/* Plain values follow each other on a line until it is full; a list or an object has a line of its own, and
 * more when it is longer than that. */
static void print_list(rad_bytes *to, const json_t *list, uint32_t depth)
{
    size_t count = json_array_size(list);
    uint32_t line = 0;  /* where the current one began */
    bool alone = false; /* what came before wants a line of its own */
    rad_bytes item = {0};
    for (size_t i = 0; i < count && !to->failed; i++) {
        const json_t *value = json_array_get(list, i);
        bool nested = json_is_array(value) || json_is_object(value);
        item.size = 0;
        print_scalar(&item, value);
        if (i > 0 && !nested && !alone && to->size - line + item.size + 2 <= JSON_COLUMNS) {
            rad__bytes_put(to, " ", 1);
        } else {
            line = to->size + 1;
            print_newline(to, depth + 1);
        }
        alone = nested;
        if (nested && (depth + 1) * JSON_INDENT + item.size + 1 > JSON_COLUMNS)
            print_value(to, value, depth + 1);
        else
            rad__bytes_put(to, item.data, item.size);
        if (i + 1 < count) rad__bytes_put(to, ",", 1);
        to->failed |= item.failed;
    }
    rad__bytes_free(&item);
}

/* Keys of a body may be anything. */
static void print_key(rad_bytes *to, const char *key)
{
    json_t *text = json_string(key);
    if (text == NULL) {
        to->failed = true;
        return;
    }
    print_scalar(to, text);
    json_decref(text);
    rad__bytes_put(to, ": ", 2);
}

static void print_object(rad_bytes *to, const json_t *o, uint32_t depth)
{
    const char *key;
    json_t *value;
    bool first = true;
    json_object_foreach((json_t *)o, key, value)
    {
        if (!first) rad__bytes_put(to, ",", 1);
        first = false;
        print_newline(to, depth + 1);
        print_key(to, key);
        print_value(to, value, depth + 1);
    }
}

static void print_value(rad_bytes *to, const json_t *value, uint32_t depth)
{
    bool list = json_is_array(value), object = json_is_object(value);
    if (!list && !object) {
        print_scalar(to, value);
        return;
    }
    bool empty = list ? json_array_size(value) == 0 : json_object_size(value) == 0;
    rad__bytes_put(to, list ? "[" : "{", 1);
    if (list)
        print_list(to, value, depth);
    else
        print_object(to, value, depth);
    if (!empty) print_newline(to, depth);
    rad__bytes_put(to, list ? "]" : "}", 1);
}

void rad__json_print(rad_bytes *to, const json_t *value)
{
    print_value(to, value, 0);
}

/* ---- Checksum ------------------------------------------------------------------------------------- */

static int checksum_add(const char *text, size_t size, void *context)
{
    return XXH3_128bits_update(context, text, size) == XXH_OK ? 0 : -1;
}

int rad__json_checksum(const json_t *root, rad_digest *out, rad_error *error)
{
    XXH3_state_t state; /* 64-byte aligned: on the stack rather than in the heap */
    XXH3_128bits_reset(&state);
    *out = (rad_digest){0, 0};
    json_t *copy = json_copy((json_t *)root); /* shallow: the fields are shared */
    if (copy == NULL || json_object_size(copy) != json_object_size(root)) {
        json_decref(copy); /* jansson does not say that it left fields out */
        return rad__error_memory(error);
    }
    json_object_del(copy, "checksum");
    int failed = json_dump_callback(copy, checksum_add, &state, JSON_COMPACT | JSON_SORT_KEYS);
    json_decref(copy);
    if (failed) return rad__error_memory(error);
    XXH128_hash_t h = XXH3_128bits_digest(&state);
    *out = (rad_digest){h.low64, h.high64};
    return 0;
}
