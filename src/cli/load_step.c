/* load_step.c — `raddle load replay --step`: a log tick by tick, forward and back. */
#include "load.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void print(cli *c, char *text)
{
    if (text != NULL) out_text(c, text);
    rad_free(text);
}

static int go(cli *c, rad_load_stepper *s, uint64_t turn)
{
    rad_error error = {.code = 0};
    if (rad_load_stepper_go(s, turn, &error) != 0) return complain_error(c, &error);
    out(c, "-- turn %" PRIu64 "%s\n", rad_load_stepper_turn(s), rad_load_stepper_at_end(s) ? ", the last" : "");
    print(c, rad_load_stepper_records(s));
    return 0;
}

static void help(cli *c)
{
    out(c, "n [COUNT]  next turn, or COUNT turns on\n"
           "b [COUNT]  back\n"
           "g TURN     go to a turn; 0 is before the first\n"
           "e          to the end\n"
           "s          what the virtual users do now\n"
           "q          quit\n");
}

/* One command. 0: go on; -1: quit; else an exit status. */
static int obey(cli *c, rad_load_stepper *s, char *line)
{
    uint64_t now = rad_load_stepper_turn(s), count = 1;
    char *word = line + strspn(line, " \t\n"), *value = word + strcspn(word, " \t\n");
    value += strspn(value, " \t\n");
    value[strcspn(value, " \t\n")] = 0;
    if (*word == 0) return go(c, s, now + 1);
    if (*value != 0 && !read_count(value, UINT64_MAX / 2, &count)) {
        out(c, "'%.40s': expected a number\n", value);
        return 0;
    }
    switch (word[0]) {
    case 'n': return go(c, s, now + count);
    case 'b': return go(c, s, now > count ? now - count : 0);
    case 'g': return go(c, s, *value != 0 ? count : now);
    case 'e': return go(c, s, UINT64_MAX);
    case 's': print(c, rad_load_stepper_state(s)); return 0;
    case 'q': return -1;
    default: help(c); return 0;
    }
}

int step_log(cli *c, const char *path, bool partial)
{
    rad_load_stepper *s;
    rad_load_extent extent;
    rad_error error = {.code = 0};
    char line[200];
    int status = 0;
    if (rad_load_survey(&extent, path, &error) != 0) return complain_error(c, &error);
    int accepted = accept_extent(c, path, &extent, partial);
    if (extent.in_header) return accepted;
    if (rad_load_stepper_open(&s, path, 0, &error) != 0) return complain_error(c, &error);
    ends_at_once(c, &VERB_LOAD_REPLAY); /* it waits for somebody to type */
    help(c);
    while (status == 0) {
        out(c, "> ");
        out_flush(c);
        if (fgets(line, sizeof line, stdin) == NULL) break;
        status = obey(c, s, line);
    }
    rad_load_stepper_free(s);
    return status > 0 ? status : accepted;
}
