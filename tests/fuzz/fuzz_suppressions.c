/* fuzz_suppressions.c — any bytes as a file of races that do not count: patterns, or an error that names its line. */
#include "lab/programs/suppressions.h"

#include <raddle/lab.h>

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *const *list;
    rad_error error = {0};
    int code = rad__suppressions_parse(&list, (const char *)data, size, "input", &error);
    if (code != 0 && (list != NULL || strncmp(error.text, "input: ", 7) != 0)) abort();
    uint64_t line = 0;
    for (uint64_t i = 0; list && list[i]; i++) {
        if (strlen(list[i]) == 0 || strlen(list[i]) > 200 || strchr(list[i], '\n')) abort();
        if (rad_suppressions_line(list, i) <= line || rad_suppressions_line(list, i) > size) abort();
        line = rad_suppressions_line(list, i);
    }
    rad_suppressions_free(list);
    return 0;
}
