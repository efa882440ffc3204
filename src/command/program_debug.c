/* program_debug.c — `raddle replay --gdb`: a program under test, in gdb where it fails. */
#include "keep.h"
#include "program.h"
#include "report.h"

#include "lab/programs/debug.h"

/* The report first: it has the calls of all fibers, and gdb those of one. */
int debug_artifact(cli *c, const rad_artifact *a)
{
    rad_error error = {.code = 0};
    rad_story *story = NULL;
    if (rad__lab_can_debug(a, &error) != 0 || rad_lab_story(a, &story, &error) != 0) return complain_error(c, &error);
    bool differs = story_differs(c, story);
    report_verdict(c, 0, &story->verdict);
    report_output(c, story);
    out_text(c, "\n");
    out_flush(c);
    int code = rad__lab_debug(a, story, &error);
    rad_story_free(story);
    return code != 0 ? complain_error(c, &error) : differs ? EXIT_FOUND : EXIT_FINE;
}
