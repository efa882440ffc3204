/* parts.c — commands that have commands of their own: `raddle exec run`, `raddle session check`. */
#include "parts.h"

#include <stdio.h>
#include <string.h>

/* "exec run" without "exec ". */
static const char *part_name(const verb *v)
{
    return strchr(v->name, ' ') + 1;
}

/* "gen, run, explore or stress" */
static void part_names(const verb *whole, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (size_t i = 0; i < whole->part_count && used < size; i++) {
        const char *joint = i == 0 ? "" : i + 1 < whole->part_count ? ", " : " or ";
        used += (size_t)snprintf(text + used, size - used, "%s%s", joint, part_name(whole->parts[i]));
    }
}

static int unknown_part(cli *c, const verb *whole, const char *word)
{
    rad_suggest n;
    char names[200];
    rad__suggest_begin(&n, word, strlen(word));
    for (size_t i = 0; i < whole->part_count; i++) rad__suggest_consider(&n, part_name(whole->parts[i]));
    const char *what = word[0] == '-' ? "option" : "command";
    part_names(whole, names, sizeof names);
    const char *hint = rad__suggest_text(&n, "");
    if (whole == &VERB_LOAD && strpbrk(word, ".:/"))
        return bad_usage(c, "unknown command '%.80s'; a URL begins with http:// or https://", word);
    return *hint ? bad_usage(c, "unknown %s '%.80s'%s", what, word, hint)
                 : bad_usage(c, "unknown %s '%.80s'; use %s", what, word, names);
}

int run_part(cli *c, const verb *whole, int argc, char **argv)
{
    if (argc == 0) {
        char names[200];
        part_names(whole, names, sizeof names);
        return bad_usage(c, "missing command; use %s", names);
    }
    bool asks = strcmp(argv[0], "help") == 0;
    if (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0 || (asks && argc == 1)) {
        verb_help(c, whole);
        return EXIT_FINE;
    }
    for (size_t i = 0; i < whole->part_count; i++) {
        const verb *part = whole->parts[i];
        if (strcmp(part_name(part), argv[asks]) == 0) {
            char help[] = "--help", *only[] = {help};
            c->verb = part->name;
            return asks ? part->run(c, 1, only) : part->run(c, argc - 1, argv + 1);
        }
    }
    return unknown_part(c, whole, argv[asks]);
}
