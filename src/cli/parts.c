/* parts.c — verbs that have verbs of their own: `raddle exec run`, `raddle session check`. */
#include "parts.h"

#include <stdio.h>
#include <string.h>

/* "exec run" without "exec ". */
static const char *part_name(const verb *v)
{
    return strchr(v->name, ' ') + 1;
}

/* "gen, run, explore or stress" */
static void part_names(const verb *const *parts, size_t count, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (size_t i = 0; i < count && used < size; i++) {
        const char *joint = i == 0 ? "" : i + 1 < count ? ", " : " or ";
        used += (size_t)snprintf(text + used, size - used, "%s%s", joint, part_name(parts[i]));
    }
}

static int unknown_part(cli *c, const verb *const *parts, size_t count, const char *word)
{
    nearest n;
    char names[200];
    nearest_begin(&n, word);
    for (size_t i = 0; i < count; i++) {
        nearest_try(&n, part_name(parts[i]));
    }
    const char *hint = nearest_hint(&n, "");
    const char *what = word[0] == '-' ? "option" : "part";
    if (*hint) {
        return bad_usage(c, "unknown %s '%.80s'%s", what, word, hint);
    }
    part_names(parts, count, names, sizeof names);
    return bad_usage(c, "unknown %s '%.80s': expected %s", what, word, names);
}

int run_part(cli *c, const verb *whole, const verb *const *parts, size_t count, int argc,
             char **argv)
{
    if (argc == 0) {
        char names[200];
        part_names(parts, count, names, sizeof names);
        return bad_usage(c, "which part? Expected: raddle %s %s", whole->name, names);
    }
    bool asks = strcmp(argv[0], "help") == 0;
    if (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0 || (asks && argc == 1)) {
        verb_help(c, whole);
        return EXIT_FINE;
    }
    for (size_t i = 0; i < count; i++) {
        if (strcmp(part_name(parts[i]), argv[asks]) == 0) {
            char help[] = "--help", *only[] = {help};
            c->verb = parts[i]->name;
            return asks ? parts[i]->run(c, 1, only) : parts[i]->run(c, argc - 1, argv + 1);
        }
    }
    return unknown_part(c, parts, count, argv[asks]);
}
