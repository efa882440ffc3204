#include "lab/rig.h"

#include "lab/case.h"
#include "os/shared.h"
#include "os/signal.h"

enum { STEPS_BETWEEN_LOOKS = 100000 };

enum rad_limit rad__limit_of(const rad_machine *m)
{
    return m->ends ? RAD_LIMIT_FAILS : RAD_LIMIT_CUTS;
}

int rad__rig_open(rad_rig *r, const rad_target *t, rad_error *error)
{
    rad_case c = rad__case_of(t);
    *r = (rad_rig){.target = *t, .limit = rad__limit_of(t->machine)};
    r->target.c.body = NULL; /* the machine has read it, and it is not ours to keep */
    if (c.body && t->machine->body == NULL)
        return rad__error(error, RAD_EINPUT, "%s takes no body, only numbers", t->machine->name);
    void *mapping = NULL;
    size_t head = (sizeof(rad_rig_shared) + 63) / 64 * 64;
    size_t size = head + (size_t)RAD_CHOICES_MAX * sizeof(rad_choice);
    int code = t->machine->create(&r->self, &c, error); /* first: it may refuse the case */
    if (code == 0) code = rad__os_shared_map(&mapping, size, error);
    if (code == 0) {
        r->shared = mapping;
        r->mapping_size = size;
        r->choices = (rad_choice *)((char *)mapping + head);
        rad_choice_buffer buffer = {r->choices, RAD_CHOICES_MAX, &r->shared->choice_count};
        code = rad__kernel_open(&r->kernel, buffer, error);
    }
    if (code == 0) code = rad__policy_guide(&r->guide, error);
    if (code != 0) {
        rad__rig_close(r);
        return code;
    }
    rad__kernel_use(r->kernel, t->machine, r->self);
    return 0;
}

void rad__rig_close(rad_rig *r)
{
    if (r->self) r->target.machine->destroy(r->self);
    rad__policy_destroy(r->guide);
    rad__kernel_close(r->kernel);
    rad__estimates_free(&r->blank);
    rad__os_shared_unmap(r->shared, r->mapping_size);
    *r = (rad_rig){0};
}

rad_run_options rad__rig_options(rad_rig *r, rad_policy *policy)
{
    return (rad_run_options){
        .policy = policy,
        .info = {.estimates = &r->blank},
        .max_steps = r->target.c.max_steps,
        .limit = r->limit,
        .ends_at = r->ends_at,
        .suppressed = r->suppressed,
        .beacon = &r->shared->beacon,
    };
}

enum rad_outcome rad__rig_guide(rad_rig *r, const uint32_t *choices, uint64_t count,
                                bool whole_trace, rad_observer *watcher)
{
    rad_run_options options = rad__rig_options(r, r->guide);
    options.whole_trace = whole_trace;
    options.observers[0] = watcher;
    int before = *rad__os_interrupted();
    rad__guide_set(r->guide, choices, count);
    rad__kernel_begin(r->kernel, &options);
    while (!rad__kernel_advance(r->kernel, STEPS_BETWEEN_LOOKS))
        if (rad__os_interrupted_since(before))
            rad__kernel_error(r->kernel, RAD_EINTERRUPTED, "interrupted"); /* ends it */
    return rad__kernel_end(r->kernel);
}
