/* suppressions.c — a file that names races which do not count.
 *
 *     # a comment
 *     race:counter_bump      a function (either of the two that race)
 *     race:stat*.c           a file; a star stands for anything */
#include <raddle/lab.h>

#include "base/alloc.h"
#include "base/error.h"
#include "lab/programs/suppressions.h"
#include "os/file.h"

#include <string.h>

enum { FILE_LIMIT = 1 << 20, PATTERN_MAX = 200 };

static const char KIND[] = "race:";

/* One block: the pointers, NULL, the numbers of their lines, and the bytes of the file, in which each pattern ends in a
 * zero. */
typedef struct listing {
    const char **at;
    uint64_t *lines; /* while it is read, behind room for the most pointers that there can be */
    size_t count;
} listing;

_Static_assert(sizeof(const char *) == sizeof(uint64_t), "pointers and numbers lie in one array");

static char *trimmed(char *line)
{
    char *end = line + strlen(line);
    while (end > line && strchr(" \t\r", end[-1])) *--end = 0;
    return line + strspn(line, " \t");
}

static int take_line(listing *l, char *line, const char *path, size_t number, rad_error *error)
{
    line = trimmed(line);
    if (*line == 0 || *line == '#') return 0;
    size_t kind = sizeof KIND - 1;
    char *pattern = line + (strncmp(line, KIND, kind) == 0 ? kind : 0);
    pattern += strspn(pattern, " \t");
    if (pattern == line || *pattern == 0)
        return rad__error(error, RAD_EINPUT, "%s: line %zu: expected race:FUNCTION or race:FILE, found '%.60s'", path,
                          number, line);
    if (strlen(pattern) > PATTERN_MAX)
        return rad__error(error, RAD_EINPUT, "%s: line %zu: a name of more than %d characters", path, number,
                          PATTERN_MAX);
    l->lines[l->count] = number;
    l->at[l->count++] = pattern;
    return 0;
}

int rad__suppressions_parse(const char *const **list, const char *text, size_t size, const char *name, rad_error *error)
{
    size_t lines = 1;
    *list = NULL;
    rad__error_clear(error);
    if (size > 0 && memchr(text, 0, size)) return rad__error(error, RAD_EINPUT, "%s: not a text file", name);
    for (size_t i = 0; i < size; i++) lines += text[i] == '\n';
    uint64_t *block = rad__alloc(1, 2 * (lines + 1) * sizeof *block + size + 1);
    if (block == NULL) return rad__error_memory(error);
    listing l = {(const char **)(void *)block, block + lines + 1, 0};
    char *bytes = (char *)(block + 2 * (lines + 1));
    if (size) memcpy(bytes, text, size);
    for (size_t number = 1; number <= lines && error->code == 0; number++) {
        char *end = strchr(bytes, '\n');
        if (end) *end = 0;
        take_line(&l, bytes, name, number, error);
        bytes = end ? end + 1 : bytes + strlen(bytes);
    }
    if (error->code != 0) {
        rad__free(block);
        return error->code;
    }
    memmove(block + l.count + 1, l.lines, l.count * sizeof *block);
    *list = l.at;
    return 0;
}

int rad_suppressions_read(const char *const **list, const char *path, rad_error *error)
{
    char *text = NULL;
    size_t size = 0;
    *list = NULL;
    if (rad__os_read_file(path, FILE_LIMIT, &text, &size, error) != 0) return error->code;
    int code = rad__suppressions_parse(list, text, size, path, error);
    rad__free(text);
    return code;
}

uint64_t rad_suppressions_line(const char *const *list, uint64_t index)
{
    const uint64_t *numbers = (const void *)list;
    uint64_t count = 0;
    while (list[count]) count++;
    RAD_ASSERT(index < count);
    return numbers[count + 1 + index];
}

void rad_suppressions_free(const char *const *list)
{
    rad__free((void *)list);
}
