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
    for (const char *const *at = list; at && *at; at++)
        if (strlen(*at) == 0 || strlen(*at) > 200 || strchr(*at, '\n')) abort();
    rad_suppressions_free(list);
    return 0;
}
