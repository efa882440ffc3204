/* policy.c — the table of policies. A new one is its file and its row here; those of users are in
 * policy_user.c. */
#include "core/policy.h"

#include "base/alloc.h"
#include "base/error.h"
#include "core/log.h"
#include "core/policy_user.h"

#include <string.h>

static const rad_policy_class *const POLICIES[] = {
    &rad__policy_first, &rad__policy_random, &rad__policy_fair, &rad__policy_pct,   &rad__policy_surw,
    &rad__policy_pos,   &rad__policy_own,    &rad__guide_class, &rad__replay_class,
};

const rad_policy_class *rad__policy_class_at(uint32_t index)
{
    return index < sizeof POLICIES / sizeof *POLICIES ? POLICIES[index] : NULL;
}

int rad__policy_create(rad_policy **p, const char *name, rad_error *error)
{
    size_t length = strcspn(name, ":");
    const char *argument = name[length] == ':' ? name + length + 1 : NULL;
    *p = NULL;
    for (uint32_t i = 0; rad__policy_class_at(i) != NULL; i++) {
        const rad_policy_class *class = rad__policy_class_at(i);
        if (strlen(class->name) == length && memcmp(class->name, name, length) == 0)
            return class->create(p, argument, error);
    }
    const rad_policy_table *table = rad__user_policy_find(name);
    if (table != NULL) return rad__user_policy_create(p, table, argument, error);
    return rad__error(error, RAD_EINPUT,
                      "unknown policy '%s': expected first, random, fair, pct:D, surw, pos, own or "
                      "one of a shared object (--policy ./FILE.so)",
                      name);
}

void rad__policy_destroy(rad_policy *p)
{
    if (p != NULL) p->class->destroy(p);
}

int rad__policy_alloc(rad_policy **p, const rad_policy_class *class, size_t size, const char *argument,
                      rad_error *error)
{
    *p = NULL;
    if (argument != NULL)
        return rad__error(error, RAD_EINPUT, "policy '%s' takes no argument, found ':%s'", class->name, argument);
    *p = rad__alloc(1, size);
    if (*p == NULL) return rad__error_memory(error);
    (*p)->class = class;
    return 0;
}

void rad__policy_release(rad_policy *p)
{
    rad__free(p);
}
