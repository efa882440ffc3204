/* scenario_support.c — see scenario_support.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scenario_support.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdio.h>
#include <string.h>

enum { FILES_MOST = 8 };

static struct {
    const char *name, *text;
} files[FILES_MOST];
static uint32_t file_count;

void scenario_file(const char *name, const char *text)
{
    assert_true(file_count < FILES_MOST);
    files[file_count].name = name;
    files[file_count++].text = text;
}

void scenario_files_clear(void)
{
    file_count = 0;
}

static int read_file(const char *path, uint64_t limit, char **data, size_t *size, rad_error *error)
{
    for (uint32_t i = 0; i < file_count; i++) {
        if (strncmp(path, "t/", 2) != 0 || strcmp(path + 2, files[i].name) != 0) continue;
        *size = strlen(files[i].text);
        if (*size > limit) return rad__error(error, RAD_EINPUT, "%s: too large", path);
        *data = rad__copy_text(files[i].text);
        return *data != NULL ? 0 : rad__error_memory(error);
    }
    return rad__error(error, RAD_EINPUT, "%s: no such file", path);
}

const struct rad__load_files SCENARIO_FILES = {read_file};

void scenario_read(rad__load_scenario *s, const char *text)
{
    rad_error error = {0};
    if (rad__load_scenario_parse(s, "t/s.toml", text, strlen(text), &SCENARIO_FILES, &error) != 0)
        fail_msg("%s\nin\n%s", error.text, text);
}

void scenario_refused(const char *text, const char *place, const char *words)
{
    rad__load_scenario s;
    rad_error error = {0};
    char begin[100];
    int code = rad__load_scenario_parse(&s, "t/s.toml", text, strlen(text), &SCENARIO_FILES, &error);
    if (code == 0) fail_msg("accepted, but it should say '%s':\n%s", words, text);
    snprintf(begin, sizeof begin, "t/s.toml:%s: ", place);
    if (code != RAD_EINPUT || error.code != RAD_EINPUT || strncmp(error.text, begin, strlen(begin)) != 0 ||
        strstr(error.text, words) == NULL)
        fail_msg("says '%s', but should say '%s…%s' of\n%s", error.text, begin, words, text);
}
