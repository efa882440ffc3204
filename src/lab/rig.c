#include "lab/rig.h"

#include "os/process.h"
#include "os/shared.h"
#include "os/signal.h"

enum { STEPS_BETWEEN_LOOKS = 100000 };

enum rad_limit rad__limit_of(const rad_machine *m)
{
    return m->ends ? RAD_LIMIT_FAILS : RAD_LIMIT_CUTS;
}

static size_t head_size(void)
{
    return (sizeof(rad_rig_shared) + 63) / 64 * 64;
}

size_t rad__rig_mapping_size(void)
{
    return head_size() + (size_t)RAD_CHOICES_MAX * sizeof(rad_choice);
}

int rad__rig_set_up(rad_rig *r, void *mapping, rad_error *error)
{
    r->shared = mapping;
    r->mapping_size = rad__rig_mapping_size();
    r->choices = (rad_choice *)((char *)mapping + head_size());
    rad_choice_buffer buffer = {r->choices, RAD_CHOICES_MAX, &r->shared->choice_count};
    int code = rad__kernel_open(&r->kernel, buffer, error);
    if (code == 0) code = rad__policy_guide(&r->guide, error);
    if (code == 0) rad__kernel_use(r->kernel, r->target.machine, r->self);
    return code;
}

int rad__rig_join(rad_rig *r, const rad_target *t, int memory, rad_error *error)
{
    void *mapping = NULL;
    *r = (rad_rig){.target = *t, .limit = rad__limit_of(t->machine), .memory = -1};
    int code = t->machine->create(&r->self, t->machine, &t->c, error);
    if (code == 0) code = rad__os_shared_join(&mapping, rad__rig_mapping_size(), memory, error);
    if (code == 0) code = rad__rig_set_up(r, mapping, error);
    if (code != 0) rad__rig_close(r);
    return code;
}

void rad__rig_close(rad_rig *r)
{
    if (r->self) r->target.machine->destroy(r->self);
    rad__policy_destroy(r->guide);
    rad__kernel_close(r->kernel);
    rad__estimates_free(&r->blank);
    rad__os_shared_unmap(r->shared, r->mapping_size);
    if (r->memory >= 0) rad__os_close(r->memory);
    *r = (rad_rig){.memory = -1};
}

rad_run_options rad__rig_options(rad_rig *r, rad_policy *policy)
{
    return (rad_run_options){
        .policy = policy,
        .info = {.estimates = &r->blank},
        .max_steps = r->target.c.max_steps,
        .limit = r->target.c.spin_rounds && r->limit == RAD_LIMIT_FAILS ? RAD_LIMIT_CUTS : r->limit,
        .ends_at = r->ends_at,
        .suppressed = r->suppressed,
        .fair = !r->unfair,
        .spin_rounds = r->target.c.spin_rounds,
        .check = r->shared->check,
        .beacon = &r->shared->beacon,
    };
}

enum rad_outcome rad__rig_run(rad_rig *r, const rad_run_options *options)
{
    return r->apart ? r->apart(r, options) : rad__kernel_run(r->kernel, options);
}

static enum rad_outcome guided(rad_rig *r, bool whole_trace, rad_observer *watcher)
{
    rad_run_options options = rad__rig_options(r, r->guide);
    options.whole_trace = whole_trace;
    options.observers[0] = watcher;
    int before = *rad__os_interrupted();
    if (r->apart) return r->apart(r, &options);
    rad__kernel_begin(r->kernel, &options);
    while (!rad__kernel_advance(r->kernel, STEPS_BETWEEN_LOOKS))
        if (rad__os_interrupted_since(before))
            rad__kernel_error(r->kernel, RAD_EINTERRUPTED, "interrupted"); /* ends it */
    return rad__kernel_end(r->kernel);
}

enum rad_outcome rad__rig_guide(rad_rig *r, const uint32_t *choices, uint64_t count, bool whole_trace,
                                rad_observer *watcher)
{
    rad__guide_set(r->guide, choices, count);
    return guided(r, whole_trace, watcher);
}

enum rad_outcome rad__rig_follow(rad_rig *r, const rad_choice *path, uint64_t count, bool whole_trace,
                                 rad_observer *watcher)
{
    rad__guide_follow(r->guide, path, count);
    return guided(r, whole_trace, watcher);
}
