/* show_other.c — `raddle show` of what load tests and workflows write. */
#include "flow.h"
#include "load.h"

#include <stdio.h>
#include <string.h>

/* What is in a load log; its statistics need a command of their own. */
static int show_load_log(cli *c, const char *path, bool json)
{
    rad_load_extent e;
    rad_error error = {.code = 0};
    writer j;
    if (rad_load_survey(&e, path, &error) != 0) return complain_error(c, &error);
    if (json) {
        put_begin(&j, c);
        put_text(&j, "verb", "show");
        put_text(&j, "file", path);
        put_bool(&j, "cut_off", e.cut_off);
        put_count(&j, "turns", e.turns);
        put_count(&j, "records", e.records);
        put_end(&j);
        return EXIT_FINE;
    }
    out(c, "%s%s%s: log of a load test: %s turn%s, %s record%s%s\n", style(c, STYLE_BOLD), path, style(c, STYLE_OFF),
        number(e.turns), plural(e.turns), number(e.records), plural(e.records),
        e.cut_off ? "; cut off: its run was killed" : "");
    out(c, "next: raddle load analyze %s%s\n", shell_word(path), e.cut_off ? " --partial" : "");
    return EXIT_FINE;
}

/* The directory of a journal, as `flow status` takes it. */
static int show_journal(cli *c, const char *path, bool json)
{
    char dir[4096], json_word[] = "--json", dashes[] = "--", *given[3];
    const char *slash = strrchr(path, '/');
    snprintf(dir, sizeof dir, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    int count = 0;
    if (json) given[count++] = json_word;
    given[count++] = dashes;
    given[count++] = *dir ? dir : (char[]){"/"};
    return VERB_FLOW_STATUS.run(c, count, given);
}

int show_other(cli *c, const char *path, bool journal, bool json)
{
    return journal ? show_journal(c, path, json) : show_load_log(c, path, json);
}
