/* fuzz_template.c — any bytes as a template. The first byte says where it stands, the second how many of the rest are a
 * value that it may use. What comes out never breaks out of its place, and is the same twice. */
#include "load/template.h"

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
static const struct rad__load_data file = {"d",     "d.csv", RAD__LOAD_ROWS_DRAWN, 1, 2,
                                           columns, cells};
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
        require(place != RAD__LOAD_IN_HEADER || (c != '\r' && c != '\n' && c != 0));
        require(place != RAD__LOAD_IN_PATH || (c > ' ' && c < 0x7f));
    }
}

static void fill_in(const rad__load_text *t, enum rad__load_place place, rad_bytes *out,
                    const rad__load_value *value)
{
    rad__load_fill fill = rad__load_fill_for(&scenario, 3, 1, 2, 3, value);
    enum rad__load_fault fault = rad__load_text_put(t, &fill, out);
    require(fault == RAD__LOAD_OK || fault == RAD__LOAD_BAD_REQUEST);
    if (fault == RAD__LOAD_OK) look(out, place);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) return 0;
    enum rad__load_place place = data[0] % 3;
    size_t value_size = data[1] < size - 2 ? data[1] : size - 2;
    rad__load_value value = {data + 2, data[0] & 8 ? RAD_NONE : (uint32_t)value_size};
    memcpy(cell, data + 2, value_size);
    cell[value_size] = 0;
    rad__load_names names = {&scenario, env, "input"};
    rad__load_text t = {0};
    rad_error error = {0};
    rad_bytes first = {0}, second = {0};
    int code = rad__load_text_add(&t, (const char *)data + 2 + value_size, size - 2 - value_size,
                                  place, &names, &error);
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
