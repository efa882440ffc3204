/* rig_open.c — a rig for any target. */
#include "lab/case.h"
#include "lab/programs/under_test.h"
#include "lab/rig.h"
#include "os/shared.h"

static const char *const *suppressed_races;

void rad_lab_suppress(const char *const *patterns)
{
    suppressed_races = patterns;
}

int rad__rig_open(rad_rig *r, const rad_target *t, rad_error *error)
{
    rad_case c = rad__case_of(t);
    *r = (rad_rig){.target = *t, .limit = rad__limit_of(t->machine), .suppressed = suppressed_races, .memory = -1};
    r->target.c.body = NULL; /* the machine has read it, and it is not ours to keep */
    if (c.body && t->machine->body == NULL)
        return rad__error(error, RAD_EINPUT, "%s takes no body, only numbers", t->machine->name);
    void *mapping = NULL;
    int code = t->machine->create(&r->self, t->machine, &c, error); /* first: it may refuse the case */
    if (code == 0)
        code = rad__program_is(t->machine) ? rad__os_shared_file(&mapping, rad__rig_mapping_size(), &r->memory, error)
                                           : rad__os_shared_map(&mapping, rad__rig_mapping_size(), error);
    if (code == 0) code = rad__rig_set_up(r, mapping, error);
    if (code != 0) rad__rig_close(r);
    return code;
}
