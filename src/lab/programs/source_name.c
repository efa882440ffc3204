/* source_name.c — see source_name.h. */
#include "lab/programs/source_name.h"

#include "lab/programs/under_test.h"
#include "os/debug_info.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char lacking[RAD_SOURCE_LACKS];

/* Drops "." and what ".." takes back, in place. */
static void path_normalise(char *path)
{
    char *to = path, *first = path + (*path == '/');
    const char *from = first;
    to = first;
    while (*from) {
        size_t size = strcspn(from, "/");
        bool up = size == 2 && from[0] == '.' && from[1] == '.';
        bool nothing = size == 0 || (size == 1 && *from == '.');
        char *last = to;
        while (last > first && last[-1] != '/') last--;
        bool backs = up && to > first && strncmp(last, "..", (size_t)(to - last)) != 0;
        if (backs) {
            to = last > first ? last - 1 : first;
        } else if (!nothing && !(up && first > path)) { /* there is nothing above the root */
            if (to > first) *to++ = '/';
            memmove(to, from, size);
            to += size;
        }
        from += size;
        from += *from == '/';
    }
    *to = 0;
}

void rad__source_name(const char *module, uint64_t offset, char *text, size_t size)
{
    const char *const *words = rad__under_test_words();
    text[0] = 0;
    if (*module == 0 && words == NULL) return;
    const char *path = *module ? module : words[0];
    rad__debug_source(path, offset, text, size);
    path_normalise(text);
    if (text[0] || lacking[0]) return;
    if (rad__debug_is_there())
        snprintf(lacking, sizeof lacking, "no source files are known of '%.120s': compile it with -g", path);
    else
        snprintf(lacking, sizeof lacking, "no source files are known: libdw.so.1 (elfutils) is not installed");
}

void rad__source_of_spot(const char *spot, char *text, size_t size)
{
    char module[RAD_SOURCE_MAX];
    const char *plus = strrchr(spot, '+');
    text[0] = 0;
    if (*spot != '[' || plus == NULL || plus - spot > (ptrdiff_t)sizeof module) return;
    snprintf(module, sizeof module, "%.*s", (int)(plus - spot - 1), spot + 1);
    rad__source_name(module, strtoull(plus + 1, NULL, 16), text, size);
}

bool rad__source_lacks(char text[RAD_SOURCE_LACKS])
{
    memcpy(text, lacking, sizeof lacking);
    lacking[0] = 0;
    return text[0] != 0;
}
