/* nursery.h — nurseries: fibers that are waited for and cancelled together. struct rad_nursery of raddle/fiber.h is
 * one of these.
 *
 * A family is open from rad_nursery_open to the end of rad_nursery_wait, and lies in a stack frame of its owner. Its
 * children are listed under its lock; the last one that leaves wakes the owner.
 * Families form a tree: the parent of a family is the one that its owner is a child of. Cancelling goes down the
 * tree, under the runtime's `tree` lock, without recursion, however deep it is; a family is opened and closed under
 * the same lock.
 *
 * Locks     tree, then the lock of one family, then (in unpark) none.
 *
 * M1  count = children that have not left; once it is closed nobody enters, and at 0 it stays.
 * M2  who enters a family that is cancelled is cancelled. */
#ifndef RAD_RT_NURSERY_H
#define RAD_RT_NURSERY_H

#include "rt/fiber.h"

struct rad_family {
    rad_waitable object;
    rad_queue owner_waits;
    rad_slot *owner, *youngest;
    uint64_t count;
    int failed; /* the first code of a child that is not 0, or the reason of a cancellation before that */
    bool canceled, closed;
    bool on_purpose;   /* cancelled with reason 0: RAD_ECANCELED of a child is no failure */
    rad_time deadline; /* of its children */
    /* under the tree lock */
    rad_family *parent, *first, *elder, *younger;
};

/* A new fiber, before it is queued. False: the family is closed. */
RAD_INTERNAL bool rad__family_enter(rad_family *f, rad_slot *slot);

/* The fiber has ended with that code. */
RAD_INTERNAL void rad__family_leave(rad_family *f, rad_slot *slot, int code);

#endif
