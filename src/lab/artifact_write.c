/* artifact_write.c — the text of an artifact: JSON for files, base64 for where there are none. */
#include "base/alloc.h"
#include "lab/artifact.h"
#include "lab/json.h"
#include "lab/path_json.h"
#include "os/file.h"

#include <stdio.h>
#include <string.h>

/* ---- JSON ----------------------------------------------------------------------------------------- */

static json_t *write_choices(const rad_artifact *a)
{
    json_t *list = json_array();
    for (uint64_t i = 0; list && i < a->choice_count; i++) {
        if (json_array_append_new(list, json_integer(a->choices[i])) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    return list;
}

static json_t *write_set_hashes(const rad_artifact *a)
{
    json_t *list = json_array();
    for (uint32_t i = 0; list && i < a->set_hash_count; i++) {
        char text[17];
        snprintf(text, sizeof text, "%016llx", (unsigned long long)a->set_hashes[i]);
        if (json_array_append_new(list, json_string(text)) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    return list;
}

static json_t *write_failure(const rad_artifact *a)
{
    if (!a->expects_failure) return json_null();
    json_t *o = json_object();
    const rad_verdict *v = &a->expected;
    if (o == NULL || !rad__json_set(o, "kind", json_string(v->kind)) ||
        !rad__json_set(o, "step", json_integer((json_int_t)v->failure_step)) ||
        !rad__json_set(o, "message", json_string(v->message)) ||
        !rad__json_set(o, "identity", json_string(v->identity))) {
        json_decref(o);
        return NULL;
    }
    return o;
}

/* The fields in the order of the file: what a person looks for first comes first. */
static bool write_fields(json_t *root, const rad_artifact *a, const rad_path *path)
{
    rad_json_build build;
    memcpy(build.version, a->version, sizeof build.version);
    memcpy(build.git_sha, a->git_sha, sizeof build.git_sha);
    memcpy(build.compiler, a->compiler, sizeof build.compiler);
    const rad_verdict *v = &a->expected;
    const char *expect = a->expects_failure ? "failure" : v->result == RAD_RESULT_CUT ? "cut" : "pass";
    return rad__json_set(root, "schema_version", json_integer(RAD_ARTIFACT_SCHEMA)) &&
           rad__json_set_build(root, &build) && rad__json_set_program(root, &a->program) &&
           rad__json_set_target(root, &a->target) && rad__json_set(root, "policy", json_string(a->policy)) &&
           rad__json_set(root, "seed", json_integer((json_int_t)a->seed)) &&
           rad__json_set(root, "expect", json_string(expect)) && rad__json_set(root, "failure", write_failure(a)) &&
           rad__json_set(root, "steps", json_integer((json_int_t)v->steps)) &&
           rad__json_set(root, "decisions", json_integer((json_int_t)v->decisions)) &&
           rad__json_set(root, "choices", write_choices(a)) && rad__json_set(root, "set_hashes", write_set_hashes(a)) &&
           rad__path_write(root, path) && rad__json_set(root, "expected_trace_hash", json_string(v->trace_hash));
}

static int artifact_text(const rad_artifact *a, rad_bytes *to, rad_error *error)
{
    rad__json_prepare();
    rad_digest sum;
    char text[RAD_DIGEST_TEXT];
    const rad_path *path = rad__artifact_path(a);
    json_t *root = json_object();
    if (root == NULL || !write_fields(root, a, path)) {
        json_decref(root);
        return rad__error_memory(error);
    }
    int code = rad__json_checksum(root, &sum, error);
    if (code == 0) {
        rad__digest_text(sum, text);
        if (!rad__json_set(root, "checksum", json_string(text))) code = rad__error_memory(error);
    }
    if (code == 0) {
        rad__json_print(to, root);
        rad__bytes_put(to, "\n", 2); /* with the zero */
        code = to->failed ? rad__error_memory(error) : 0;
    }
    json_decref(root);
    if (code == 0) to->size--;
    return code;
}

char *rad_artifact_json(const rad_artifact *a, rad_error *error)
{
    rad_bytes text = {0};
    if (artifact_text(a, &text, error) != 0) rad__bytes_free(&text);
    return (char *)text.data;
}

int rad_artifact_write(const rad_artifact *a, const char *path, rad_error *error)
{
    rad_bytes text = {0};
    int code = artifact_text(a, &text, error);
    if (code == 0) code = rad__os_write_file(path, text.data, text.size, error);
    rad__bytes_free(&text);
    return code;
}

/* ---- Base64 (RFC 4648, lines of 76) --------------------------------------------------------------- */

enum { BASE64_LINE = 76 };

static void base64_encode(const uint8_t *from, size_t size, char *to)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t column = 0;
    for (size_t i = 0; i < size; i += 3) {
        size_t have = size - i < 3 ? size - i : 3;
        uint32_t bits = (uint32_t)from[i] << 16;
        bits |= have > 1 ? (uint32_t)from[i + 1] << 8 : 0;
        bits |= have > 2 ? (uint32_t)from[i + 2] : 0;
        if (column == BASE64_LINE) {
            *to++ = '\n';
            column = 0;
        }
        *to++ = digits[bits >> 18];
        *to++ = digits[bits >> 12 & 63];
        *to++ = have > 1 ? digits[bits >> 6 & 63] : '=';
        *to++ = have > 2 ? digits[bits & 63] : '=';
        column += 4;
    }
    *to++ = '\n';
    *to = 0;
}

char *rad_artifact_base64(const rad_artifact *a, rad_error *error)
{
    rad_bytes text = {0};
    char *encoded = NULL;
    if (artifact_text(a, &text, error) == 0) {
        size_t digits = ((size_t)text.size + 2) / 3 * 4;
        encoded = rad__alloc(digits + digits / BASE64_LINE + 2, 1);
        if (encoded == NULL)
            rad__error_memory(error);
        else
            base64_encode(text.data, text.size, encoded);
    }
    rad__bytes_free(&text);
    return encoded;
}
