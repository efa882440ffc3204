/* fuzz_json_pointer.c — a JSON pointer, a line feed, and any bytes as the document: the same value that Jansson's tree
 * has there, or an error where Jansson has one, too. */
#include "base/alloc.h"
#include "base/json_pull.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition) abort();
}

/* What Jansson refuses and JSON does not, or the other way round where only our depth is less. */
static bool are_to_differ(bool ours, const rad_error *error, const json_error_t *theirs)
{
    enum json_error_code code = json_error_code(theirs);
    if (ours) return code == json_error_numeric_overflow || code == json_error_null_byte_in_key;
    return strstr(error->text, "at most 512") != NULL;
}

/* ---- The same question to Jansson ------------------------------------------------------------------------ */

/* A part of a pointer without its escapes. */
static char *unescape(const char *from, const char *end, size_t *size)
{
    char *part = malloc((size_t)(end - from) + 1);
    *size = 0;
    for (; from < end; from++) {
        char c = *from;
        if (c == '~') c = *++from == '0' ? '~' : '/';
        part[(*size)++] = c;
    }
    part[*size] = 0;
    return part;
}

static const json_t *element(const json_t *array, const char *part, size_t size)
{
    char again[32];
    size_t index = strtoull(part, NULL, 10);
    snprintf(again, sizeof again, "%zu", index);
    return strlen(again) == size && memcmp(again, part, size) == 0 ? json_array_get(array, index) : NULL;
}

static const json_t *walk(const json_t *value, const char *pointer, size_t length)
{
    const char *at = pointer, *end = pointer + length;
    while (at < end && value != NULL) {
        const char *from = ++at;
        while (at < end && *at != '/') at++;
        size_t size;
        char *part = unescape(from, at, &size);
        if (json_is_object(value))
            value = strlen(part) == size ? json_object_get(value, part) : NULL;
        else
            value = json_is_array(value) ? element(value, part, size) : NULL;
        free(part);
    }
    return value;
}

static void compare(const rad_json_value *ours, const json_t *theirs)
{
    static const json_type types[] = {
        [RAD_JSON_NULL] = JSON_NULL,      [RAD_JSON_TRUE] = JSON_TRUE,   [RAD_JSON_FALSE] = JSON_FALSE,
        [RAD_JSON_STRING] = JSON_STRING,  [RAD_JSON_ARRAY] = JSON_ARRAY, [RAD_JSON_OBJECT] = JSON_OBJECT,
        [RAD_JSON_NUMBER] = JSON_INTEGER,
    };
    require((ours->kind == RAD_JSON_NONE) == (theirs == NULL));
    if (theirs == NULL) return;
    json_type type = json_is_real(theirs) ? JSON_INTEGER : json_typeof(theirs);
    require(types[ours->kind] == type);
    json_t *again = json_loadb(ours->text, ours->length, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    require(again != NULL && json_equal(again, theirs));
    json_decref(again);
    if (ours->kind != RAD_JSON_STRING) return;
    rad_bytes text = {0};
    rad__json_put_text(ours, &text);
    require(!text.failed && text.size == json_string_length(theirs));
    require(text.size == 0 || memcmp(text.data, json_string_value(theirs), text.size) == 0);
    rad__bytes_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *pointer = (const char *)data;
    const char *line = size ? memchr(data, '\n', size) : NULL;
    if (line == NULL) return 0;
    size_t length = (size_t)(line - pointer), document_size = size - length - 1;
    const char *document = line + 1;
    if (!rad__json_pointer_valid(pointer, length)) return 0;
    rad_json_value value;
    rad_error error = {0};
    json_error_t other_error = {0};
    bool ours = rad__json_at(document, document_size, pointer, length, &value, &error) == 0;
    json_t *other = json_loadb(document, document_size, JSON_DECODE_ANY | JSON_ALLOW_NUL, &other_error);
    bool zero = document_size > 0 && memchr(document, 0, document_size) != NULL;
    if (ours && other != NULL) compare(&value, walk(other, pointer, length));
    if (zero)
        require(!ours); /* Jansson takes it for the end, wherever it stands */
    else if (ours != (other != NULL))
        require(are_to_differ(ours, &error, &other_error));
    if (!ours) require(error.code == RAD_EINPUT && strncmp(error.text, "byte ", 5) == 0);
    if (!ours) require(value.kind == RAD_JSON_NONE);
    json_decref(other);
    return 0;
}
