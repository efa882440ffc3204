/* scenario.c — scenarios for programs: read from a file, with the files they name beside it. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/toml/toml.h"
#include "load/report/result.h"
#include "load/scenario/read.h"
#include "os/file.h"

#include <string.h>

static const struct rad__load_files FROM_DISK = {rad__os_read_file};

/* Takes the text, also when it fails. */
static int open_scenario(rad_load_scenario **s, const char *path, char *text, size_t size, rad_error *error)
{
    rad_load_scenario *made = rad__alloc(1, sizeof *made);
    *s = NULL;
    if (made == NULL) {
        rad__free(text);
        return rad__error_memory(error);
    }
    made->text = text;
    made->path = rad__copy_text(path);
    int result = made->path == NULL ? rad__error_memory(error)
                                    : rad__load_scenario_parse(&made->s, path, text, size, &FROM_DISK, error);
    if (result == 0)
        *s = made;
    else
        rad_load_free(made);
    return result;
}

int rad_load_read(rad_load_scenario **s, const char *path, rad_error *error)
{
    char *text;
    size_t size;
    rad__error_clear(error);
    *s = NULL;
    int result = rad__os_read_file(path, RAD__LOAD_FILE_BYTES_MAX, &text, &size, error);
    return result == 0 ? open_scenario(s, path, text, size, error) : result;
}

int rad_load_parse(rad_load_scenario **s, const char *name, const char *text, size_t size, rad_error *error)
{
    rad__error_clear(error);
    *s = NULL;
    if (size > RAD__LOAD_FILE_BYTES_MAX)
        return rad__error(error, RAD_EINPUT, "%s: expected at most %d bytes, found %zu", name, RAD__LOAD_FILE_BYTES_MAX,
                          size);
    char *copy = rad__alloc(size + 1, 1);
    if (copy == NULL) return rad__error_memory(error);
    if (size > 0) memcpy(copy, text, size);
    return open_scenario(s, name, copy, size, error);
}

void rad_load_free(rad_load_scenario *s)
{
    if (s == NULL) return;
    rad__load_scenario_free(&s->s);
    rad__free(s->text);
    rad__free(s->path);
    rad__free(s);
}
