/* fuzz_template.c — any bytes as a template. The first byte says where it stands, the second how many of the rest are a
 * value that it may use. What comes out never breaks out of its place, and is the same twice; and the value alone, in
 * quotes or not, is JSON in JSON. */
#include "base/json_pull.h"
#include "load/live/template.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition) abort();
}

static char cell[300];
static const char *const columns[] = {"c"};
static const char *const cells[] = {cell, "other"};
static const struct rad__load_data file = {"d", "d.csv", RAD__LOAD_ROWS_DRAWN, 1, 2, columns, cells};
static const char *const variables[] = {"v"};
static const rad__load_scenario scenario = {
    .data = &file, .data_count = 1, .variables = variables, .variable_count = 1, .users = 3};

static const char *env(const char *name)
{
    return strcmp(name, "E") == 0 ? cell : NULL;
}

static void look(const rad_bytes *out, enum rad__load_place place)
{
    for (uint32_t i = 0; i < out->size; i++) {
        uint8_t c = out->data[i];
        require(place != RAD__LOAD_IN_HEADER || c == '\t' || (c >= 0x20 && c != 0x7f));
        require(place != RAD__LOAD_IN_PATH || (c > ' ' && c < 0x7f));
    }
}

static void fill_in(const rad__load_text *t, enum rad__load_place place, rad_bytes *out, const rad__load_value *value)
{
    rad__load_fill fill = rad__load_fill_for(&scenario, 3, 1, 2, 3, value);
    enum rad__load_fault fault = rad__load_text_put(t, &fill, out);
    require(fault == RAD__LOAD_OK || fault == RAD__LOAD_BAD_REQUEST);
    if (fault == RAD__LOAD_OK) look(out, place);
}

/* A good template stays what it is, with any value. */
static void look_at_json(const rad__load_value *value)
{
    static const char text[] = "{\"a\": \"${var:v}\", \"b\": [${var:v}, \"${data:d.c}\"]}";
    rad__load_names names = {&scenario, env, "input"};
    rad__load_fill fill = rad__load_fill_for(&scenario, 3, 1, 2, 3, value);
    rad__load_text t = {0};
    rad_bytes out = {0};
    rad_json_value found;
    rad_error error = {0};
    require(rad__load_text_add(&t, text, sizeof text - 1, RAD__LOAD_IN_JSON, &names, &error) == 0);
    if (rad__load_text_put(&t, &fill, &out) == RAD__LOAD_OK) {
        require(rad__json_at(out.data, out.size, "/b/1", 4, &found, NULL) == 0);
        require(found.kind == RAD_JSON_STRING);
        require(rad__json_at(out.data, out.size, "/b/2", 4, &found, NULL) == 0);
        require(found.kind == RAD_JSON_NONE);
    }
    rad__bytes_free(&out);
    rad__load_text_free(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) return 0;
    enum rad__load_place place = data[0] % 5;
    size_t value_size = data[1] < size - 2 ? data[1] : size - 2;
    rad__load_value value = {data + 2, data[0] & 8 ? RAD_NONE : (uint32_t)value_size};
    memcpy(cell, data + 2, value_size);
    cell[value_size] = 0;
    rad__load_names names = {&scenario, env, "input"};
    rad__load_text t = {0};
    rad_error error = {0};
    rad_bytes first = {0}, second = {0};
    look_at_json(&value);
    int code =
        rad__load_text_add(&t, (const char *)data + 2 + value_size, size - 2 - value_size, place, &names, &error);
    require(code == 0 || (code == RAD_EINPUT && strncmp(error.text, "input: ", 7) == 0));
    if (code == 0) {
        fill_in(&t, place, &first, &value);
        fill_in(&t, place, &second, &value);
        require(first.size == second.size);
        require(first.size == 0 || memcmp(first.data, second.data, first.size) == 0);
    }
    rad__bytes_free(&first);
    rad__bytes_free(&second);
    rad__load_text_free(&t);
    return 0;
}
