/* debug.c — see debug.h. */
#include "lab/programs/debug.h"

#include "base/error.h"
#include "lab/artifact.h"
#include "lab/programs/under_test.h"
#include "lab/rig.h"
#include "os/debugger.h"

#include <string.h>

int rad__lab_can_debug(const rad_artifact *a, rad_error *error)
{
    rad__error_clear(error);
    if (!rad__program_is(a->target.machine))
        return rad__error(error, RAD_EINPUT,
                          "gdb is for programs under test: 'raddle replay "
                          "--gdb FILE -- ./program'");
    return rad__os_debugger_find(error);
}

/* Of a run in which nothing fails by itself, but fibers wait for ever: the last step. */
static bool is_standstill(const char *kind)
{
    return strcmp(kind, "deadlock") == 0 || strcmp(kind, "partial-deadlock") == 0 || strcmp(kind, "leak") == 0 ||
           strcmp(kind, "starvation") == 0;
}

/* The innermost function of the program where it failed, or makes its last step. */
static const char *function_of(const rad_story *s, bool stands)
{
    const rad_source_place *at = NULL;
    for (uint32_t i = 0; i < s->stack_count && !stands && at == NULL; i++)
        if (s->stacks[i].failed && s->stacks[i].frame_count > 0) at = s->stacks[i].frames;
    if (stands && s->line_count > 0) at = s->lines[s->line_count - 1].at;
    return at ? at->function : "";
}

int rad__lab_debug(const rad_artifact *a, const rad_story *s, rad_error *error)
{
    rad_rig rig = {0};
    const rad_verdict *end = &s->verdict;
    bool stands = end->result == RAD_RESULT_FAILURE && is_standstill(end->kind);
    uint64_t last = s->line_count > 0 ? s->lines[s->line_count - 1].step : 0;
    int code = rad__lab_can_debug(a, error);
    if (code == 0) code = rad__rig_open(&rig, &a->target, error);
    if (code != 0) return code;
    if (a->expects_failure) rig.ends_at = a->expected.identity;
    if (s->line_count > 0) rig.target.c.max_steps = last + 1;
    /* The trap, what calls it, and the call of the program's: a crash has none of these. */
    uint32_t inner = strcmp(end->kind, "crash") == 0 ? 0 : 3;
    rad__under_test_debug(rig.self, stands ? last : RAD_NO_STEP, inner, function_of(s, stands));
    rad__rig_guide(&rig, a->choices, a->choice_count, false, NULL);
    rad__under_test_debugged(rig.self);
    rad__rig_close(&rig);
    return 0;
}
