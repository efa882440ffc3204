/* source_line.c — see source_line.h. */
#include "lab/programs/source_line.h"

#include "base/alloc.h"
#include "os/file.h"

#include <stdio.h>
#include <string.h>

enum { FILES_MAX = 32, FILE_SIZE_MAX = 8 << 20, PATH_SIZE = 1024 };

struct rad_source_files {
    uint32_t count;
    struct {
        char path[PATH_SIZE];
        char *text; /* NULL: it cannot be read */
    } files[FILES_MAX];
};

rad_source_files *rad__source_files_open(void)
{
    return rad__alloc(1, sizeof(rad_source_files));
}

void rad__source_files_close(rad_source_files *s)
{
    if (s == NULL) return;
    for (uint32_t i = 0; i < s->count; i++) rad__free(s->files[i].text);
    rad__free(s);
}

/* NULL: it cannot be read, or too many others have been. */
static const char *text_of(rad_source_files *s, const char *path)
{
    size_t size;
    for (uint32_t i = 0; i < s->count; i++)
        if (strcmp(s->files[i].path, path) == 0) return s->files[i].text;
    if (s->count == FILES_MAX) return NULL;
    uint32_t at = s->count++;
    snprintf(s->files[at].path, PATH_SIZE, "%s", path);
    if (rad__os_read_file(path, FILE_SIZE_MAX, &s->files[at].text, &size, NULL) != 0) s->files[at].text = NULL;
    return s->files[at].text;
}

void rad__source_line(rad_source_files *s, const char *folder, const char *file, uint32_t line, char *text, size_t size)
{
    char path[PATH_SIZE];
    bool inside = file[0] != '/' && folder[0] != 0;
    text[0] = 0;
    if (snprintf(path, sizeof path, "%s%s%s", inside ? folder : "", inside ? "/" : "", file) >= (int)sizeof path)
        return;
    const char *at = text_of(s, path);
    for (; at && line > 1; line--) {
        at = strchr(at, '\n');
        if (at) at++;
    }
    if (at == NULL) return;
    at += strspn(at, " \t");
    size_t length = strcspn(at, "\r\n");
    while (length > 0 && (at[length - 1] == ' ' || at[length - 1] == '\t')) length--;
    snprintf(text, size, "%.*s", (int)(length < size ? length : size - 1), at);
}
