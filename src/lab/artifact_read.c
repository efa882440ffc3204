/* artifact_read.c — from text to an artifact, believing nothing.
 *
 * Order: size, base64, syntax, schema version, checksum of the text as it stands, migration to the current
 * schema, content; the checksum's complaint comes last, because a message about the field that was edited
 * says more. Every error is RAD_EINPUT (or RAD_ENOMEM) and nothing is left behind. */
#include "base/alloc.h"
#include "lab/artifact.h"
#include "lab/json.h"
#include "lab/path_json.h"
#include "os/file.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* ---- Migrations ----------------------------------------------------------------------------------- */

/* 0 -> 1: trace_hash became expected_trace_hash; set_hashes is new, and empty means not known. */
static int migrate_from_0(const rad_json_source *s, json_t *root)
{
    static const char *const keys[] = {
        "schema_version", "build", "machine",   "case",    "policy",     "seed",     "expect",
        "failure",        "steps", "decisions", "choices", "trace_hash", "checksum", NULL,
    };
    int code = rad__json_only(s, root, "", keys);
    json_t *hash = json_object_get(root, "trace_hash");
    if (code != 0 || (hash != NULL && json_object_set(root, "expected_trace_hash", hash) != 0))
        return code ? code : rad__error_memory(s->error);
    json_object_del(root, "trace_hash");
    return rad__json_set(root, "set_hashes", json_array()) ? 0 : rad__error_memory(s->error);
}

/* 1 -> 2: path is new, and may be missing. */
static int migrate_from_1(const rad_json_source *s, json_t *root)
{
    const json_t *path = json_object_get(root, "path");
    return path ? rad__error(s->error, RAD_EINPUT, "%s: unknown field \"path\"", s->name) : 0;
}

/* Row n turns version n into n + 1. A new schema appends a row, and a fixture for its test. */
static int (*const migrations[])(const rad_json_source *s, json_t *root) = {migrate_from_0, migrate_from_1};
_Static_assert(sizeof migrations / sizeof *migrations == RAD_ARTIFACT_SCHEMA, "one row per old version");

static int artifact_migrate(const rad_json_source *s, json_t *root)
{
    int64_t version;
    const json_t *found = json_object_get(root, "schema_version");
    if (json_is_integer(found) && json_integer_value(found) > RAD_ARTIFACT_SCHEMA) {
        return rad__error(s->error, RAD_EINPUT, "%s: schema_version %lld is newer than this raddle understands (%d)",
                          s->name, (long long)json_integer_value(found), RAD_ARTIFACT_SCHEMA);
    }
    int code = rad__json_integer(s, root, "", "schema_version", 0, RAD_ARTIFACT_SCHEMA, &version);
    for (; code == 0 && version < RAD_ARTIFACT_SCHEMA; version++) code = migrations[version](s, root);
    return code;
}

/* ---- Content -------------------------------------------------------------------------------------- */

static int read_choices(const rad_json_source *s, const json_t *root, rad_artifact *a)
{
    const json_t *list = json_object_get(root, "choices");
    char place[48];
    if (!json_is_array(list)) return rad__json_bad(s, "choices", "an array", list);
    size_t count = json_array_size(list);
    if (count > RAD_CHOICES_MAX) /* the look over the text has seen to it */
        return rad__error(s->error, RAD_EINPUT, "%s: choices: more than %d", s->name, RAD_CHOICES_MAX);
    a->choices = rad__alloc(count, sizeof *a->choices);
    if (a->choices == NULL) return rad__error_memory(s->error);
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(list, i);
        json_int_t value = json_integer_value(item);
        if (!json_is_integer(item) || value < 0 || value > (json_int_t)UINT32_MAX) {
            snprintf(place, sizeof place, "choices[%zu]", i);
            return rad__json_bad(s, place, "an integer from 0 to 4294967295", item);
        }
        a->choices[i] = (uint32_t)value;
    }
    a->choice_count = count;
    return 0;
}

static bool read_hash(const char *text, uint64_t *out)
{
    static const char digits[] = "0123456789abcdef";
    *out = 0;
    for (uint32_t i = 0; i < 16; i++) {
        const char *at = text[i] ? strchr(digits, text[i]) : NULL;
        if (at == NULL) return false;
        *out = *out << 4 | (uint64_t)(at - digits);
    }
    return text[16] == 0;
}

static int read_set_hashes(const rad_json_source *s, const json_t *root, rad_artifact *a)
{
    const json_t *list = json_object_get(root, "set_hashes");
    char place[48];
    if (!json_is_array(list)) return rad__json_bad(s, "set_hashes", "an array", list);
    size_t count = json_array_size(list);
    uint64_t due = (a->expected.decisions + RAD_SET_HASH_EVERY - 1) / RAD_SET_HASH_EVERY;
    if (count != 0 && count != due) {
        return rad__error(s->error, RAD_EINPUT, "%s: set_hashes: expected %llu of them for %llu decisions, found %zu",
                          s->name, (unsigned long long)due, (unsigned long long)a->expected.decisions, count);
    }
    a->set_hashes = rad__alloc(count, sizeof *a->set_hashes);
    if (a->set_hashes == NULL) return rad__error_memory(s->error);
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(list, i);
        if (!json_is_string(item) || !read_hash(json_string_value(item), &a->set_hashes[i])) {
            snprintf(place, sizeof place, "set_hashes[%zu]", i);
            return rad__json_bad(s, place, "16 hexadecimal digits", item);
        }
    }
    a->set_hash_count = (uint32_t)count;
    return 0;
}

static int read_failure(const rad_json_source *s, const json_t *root, rad_artifact *a)
{
    static const char *const keys[] = {"kind", "step", "message", "identity", NULL};
    const json_t *expect = json_object_get(root, "expect");
    const json_t *f = json_object_get(root, "failure");
    rad_verdict *v = &a->expected;
    const char *word = json_is_string(expect) ? json_string_value(expect) : "";
    a->expects_failure = strcmp(word, "failure") == 0;
    bool cut = strcmp(word, "cut") == 0;
    if (!a->expects_failure && !cut && strcmp(word, "pass") != 0)
        return rad__json_bad(s, "expect", "\"failure\", \"pass\" or \"cut\"", expect);
    v->result = a->expects_failure ? RAD_RESULT_FAILURE : cut ? RAD_RESULT_CUT : RAD_RESULT_PASS;
    if (!a->expects_failure) {
        bool none = f == NULL || json_is_null(f);
        return none ? 0 : rad__json_bad(s, "failure", "null, because no failure is expected", f);
    }
    int64_t step;
    int code;
    if ((code = rad__json_object(s, root, "", "failure", &f)) != 0 ||
        (code = rad__json_text(s, f, "failure", "kind", v->kind, sizeof v->kind)) != 0 ||
        (code = rad__json_integer(s, f, "failure", "step", 0, INT64_MAX, &step)) != 0 ||
        (code = rad__json_text(s, f, "failure", "message", v->message, sizeof v->message)) != 0 ||
        (code = rad__json_text(s, f, "failure", "identity", v->identity, sizeof v->identity)))
        return code;
    v->failure_step = (uint64_t)step;
    return rad__json_only(s, f, "failure", keys);
}

static int read_build(const rad_json_source *s, const json_t *root, rad_artifact *a)
{
    rad_json_build build;
    int code = rad__json_read_build(s, root, &build);
    if (code == 0) {
        memcpy(a->version, build.version, sizeof a->version);
        memcpy(a->git_sha, build.git_sha, sizeof a->git_sha);
        memcpy(a->compiler, build.compiler, sizeof a->compiler);
    }
    return code;
}

static int artifact_read_fields(const rad_json_source *s, const json_t *root, rad_artifact *a)
{
    static const char *const keys[] = {
        "schema_version",
        "build",
        "program",
        "machine",
        "case",
        "policy",
        "seed",
        "expect",
        "failure",
        "steps",
        "decisions",
        "choices",
        "set_hashes",
        "path",
        "checksum",
        "expected_trace_hash",
        NULL,
    };
    int64_t seed, steps, decisions;
    rad_digest hash;
    int code;
    if ((code = rad__json_only(s, root, "", keys)) != 0 || (code = read_build(s, root, a)) != 0 ||
        (code = rad__json_read_program(s, root, &a->program)) != 0 ||
        (code = rad__json_read_target(s, root, &a->target)) != 0 ||
        (code = rad__json_text(s, root, "", "policy", a->policy, sizeof a->policy)) != 0 ||
        (code = rad__json_integer(s, root, "", "seed", 0, INT64_MAX, &seed)) != 0 ||
        (code = read_failure(s, root, a)) != 0 ||
        (code = rad__json_integer(s, root, "", "steps", 0, INT64_MAX, &steps)) != 0 ||
        (code = rad__json_integer(s, root, "", "decisions", 0, RAD_CHOICES_MAX, &decisions)) != 0 ||
        (code = rad__json_digest(s, root, "", "expected_trace_hash", &hash)) != 0 ||
        (code = read_choices(s, root, a)) != 0)
        return code;
    a->seed = (uint64_t)seed;
    a->expected.steps = (uint64_t)steps;
    a->expected.decisions = (uint64_t)decisions;
    rad__digest_text(hash, a->expected.trace_hash);
    code = read_set_hashes(s, root, a);
    return code ? code : rad__path_read(s, root, a->expected.steps, &a->path->path);
}

/* ---- The whole ------------------------------------------------------------------------------------ */

/* False when the checksum does not match or is missing; *code is set when there is another trouble. */
static bool checksum_matches(const rad_json_source *s, const json_t *root, int *code)
{
    rad_digest sum, said;
    *code = rad__json_checksum(root, &sum, s->error);
    const json_t *field = json_object_get(root, "checksum");
    return *code == 0 && json_is_string(field) && rad__digest_parse(json_string_value(field), &said) &&
           rad__digest_equal(sum, said);
}

static int artifact_of_json(rad_artifact *a, const rad_json_source *s, json_t *root, bool edited_ok)
{
    int code;
    rad_digest said;
    a->path->known = true;
    bool matches = checksum_matches(s, root, &code);
    if (code != 0 || (code = artifact_migrate(s, root)) != 0 || (code = artifact_read_fields(s, root, a)) != 0)
        return code;
    a->edited = !matches;
    if (matches || edited_ok) return 0;
    code = rad__json_digest(s, root, "", "checksum", &said);
    return code ? code
                : rad__error(s->error, RAD_EINPUT,
                             "%s: file was edited (checksum mismatch); 'raddle replay --edited' accepts it", s->name);
}

static int artifact_of_text(rad_artifact **out, const rad_json_source *s, const char *text, size_t size, bool edited_ok)
{
    json_t *root = rad__json_load(s, text, size);
    if (root == NULL) return s->error->code;
    rad_artifact *a = rad__alloc(1, sizeof *a);
    if (a != NULL) a->path = rad__alloc(1, sizeof *a->path);
    int code = a && a->path ? artifact_of_json(a, s, root, edited_ok) : rad__error_memory(s->error);
    json_decref(root);
    if (code != 0) {
        rad_artifact_free(a);
        return code;
    }
    *out = a;
    return 0;
}

/* ---- Base64 --------------------------------------------------------------------------------------- */

static int base64_digit(char c)
{
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Decodes into `to`, which has room for 3 bytes per 4 of text; blanks and line ends do not count. */
static int base64_decode(const rad_json_source *s, const char *text, size_t size, char *to, size_t *used)
{
    uint32_t bits = 0, have = 0, padding = 0;
    uint64_t line = 1, column = 0;
    *used = 0;
    for (size_t i = 0; i < size; i++) {
        char c = text[i];
        column++;
        if (c == '\n') {
            line++;
            column = 0;
        }
        if (isspace((unsigned char)c)) continue;
        int digit = base64_digit(c);
        padding += c == '=';
        if (padding > 2 || (c != '=' && (digit < 0 || padding))) {
            char what[8];
            bool plain = c > ' ' && c < 0x7f;
            snprintf(what, sizeof what, plain ? "'%c'" : "0x%02x", (unsigned char)c);
            return rad__error(s->error, RAD_EINPUT, "%s:%llu:%llu: expected base64, found %s", s->name,
                              (unsigned long long)line, (unsigned long long)column, what);
        }
        bits = bits << 6 | (uint32_t)(digit < 0 ? 0 : digit);
        if (++have == 4) {
            to[(*used)++] = (char)(bits >> 16);
            to[(*used)++] = (char)(bits >> 8);
            to[(*used)++] = (char)bits;
            have = bits = 0;
        }
    }
    if (have != 0) {
        return rad__error(s->error, RAD_EINPUT, "%s:%llu:%llu: expected base64, found the end", s->name,
                          (unsigned long long)line, (unsigned long long)column);
    }
    *used -= padding;
    return 0;
}

/* Base64 of '{' begins with 'e', with which no JSON text begins. */
static bool is_base64(const char *text, size_t size)
{
    size_t i = 0;
    while (i < size && isspace((unsigned char)text[i])) i++;
    return i < size && text[i] == 'e';
}

/* JSON text as it is, or decoded: *decoded is then its memory, rad__free it in any case. */
static int artifact_plain(const rad_json_source *s, const char **text, size_t *size, char **decoded)
{
    *decoded = NULL;
    if (*size > RAD_ARTIFACT_BYTES_MAX) {
        return rad__error(s->error, RAD_EINPUT, "%s: %zu bytes, more than the limit of %d", s->name, *size,
                          RAD_ARTIFACT_BYTES_MAX);
    }
    if (!is_base64(*text, *size)) return 0;
    *decoded = rad__alloc(*size / 4 + 1, 3);
    if (*decoded == NULL) return rad__error_memory(s->error);
    int code = base64_decode(s, *text, *size, *decoded, size);
    *text = *decoded;
    return code;
}

int rad__artifact_parse(rad_artifact **out, const char *text, size_t size, const char *name, bool edited_ok,
                        rad_error *error)
{
    rad_error own = {0};
    const rad_json_source s = {name, error ? error : &own};
    char *decoded;
    *out = NULL;
    int code = artifact_plain(&s, &text, &size, &decoded);
    if (code == 0) code = artifact_of_text(out, &s, text, size, edited_ok);
    rad__free(decoded);
    return code;
}

int rad_artifact_read(rad_artifact **out, const char *path, bool edited_ok, rad_error *error)
{
    char *text = NULL;
    size_t size = 0;
    *out = NULL;
    int code = rad__os_read_file(path, RAD_ARTIFACT_BYTES_MAX, &text, &size, error);
    if (code == 0) code = rad__artifact_parse(out, text, size, path, edited_ok, error);
    rad__free(text);
    return code;
}

void rad__artifact_program(const char *path, rad_lab_program *out)
{
    rad_error error = {0};
    const rad_json_source s = {path, &error};
    char *data = NULL, *decoded = NULL;
    size_t size = 0;
    *out = (rad_lab_program){.path = ""};
    int code = rad__os_read_file(path, RAD_ARTIFACT_BYTES_MAX, &data, &size, &error);
    const char *text = data;
    if (code == 0) code = artifact_plain(&s, &text, &size, &decoded);
    json_t *root = code == 0 ? rad__json_load(&s, text, size) : NULL;
    if (root && rad__json_read_program(&s, root, out) != 0) *out = (rad_lab_program){.path = ""};
    json_decref(root);
    rad__free(decoded);
    rad__free(data);
}
