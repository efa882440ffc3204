/* nursery.h — nurseries: fibers that are waited for and cancelled together. struct rad_nursery of raddle/fiber.h is
 * one of these.
 *
 * A family is open from rad_nursery_open to the end of rad_nursery_wait, and lies in a stack frame of its owner. Its
 * children are listed under its lock; the last one that leaves wakes the owner.
 * Families form a tree: the parent of a family is the one that its owner is a child of. The families below are listed
 * under the lock of their parent.
 *
 * List      of the children whom a cancellation has to tell. Cancelling sets the flag first: a child that enters later
 * is born cancelled, and never listed. Then it takes some children at a time off the list, under the lock, and tells
 * them without it: nobody waits for a lock while 200,000 children are told, and no thread is woken under one. Several
 * who cancel the same family share the list, and so the work. Then it goes down to each family below, without
 * recursion, however deep the tree is; a cursor remembers which family is next.
 * Between two holds of the lock nothing keeps the children. What keeps the family is its size: the children that are
 * listed and those who cancel (`count`), and the children that are not listed (`told`).
 *
 *              canceller                                     owner
 *         C1   lock: count + 1, flag                         D1   lock: size > 0 ? waits
 *         C2   lock: takes children off the list             D2   returns: the family is gone
 *         C3   tells them; again until there are none
 *         C4   lock: count - 1; size is 0 ? wakes the owner, as a child does
 * Claim: C2 and C4 see a family that is still there, for D2 comes after a size of 0, and C4 is the last access.
 *
 * Leaving   A child that is listed leaves under the lock. One that is not has nothing to take back, so 200,000 of them
 * end on all workers without waiting for each other:
 *
 *              child that is not listed                      the last of these
 *         L1   told > 1 ? else as the last                   E1   lock: told: 1 -> 0
 *         L2   told: n -> n - 1, n > 1      (release)        E2   size is 0 ? wakes the owner   (acquire)
 * Claim: `told` becomes 0 under the lock only, and so does the size: the owner leaves after the last one has unlocked.
 * L2 leaves at least 1, and is the last access. E2 and D1 see what all children did: what they read is in the release
 * sequence of each L2.
 *
 * Locks     of a family, then that of a family below it; then none.
 *
 * M1  size = children that have not left + those who cancel; once it is closed no child enters, and at 0 it stays.
 * M2  who enters a family that is cancelled is cancelled.
 * M3  nobody holds a lock while more than RAD_FAMILY_AT_ONCE children or families are looked at.
 *
 * Rejected: a lock of the whole runtime for the tree (200,000 children kept it for 38 to 136 ms, and nobody could open
 * a nursery meanwhile). */
#ifndef RAD_RT_NURSERY_H
#define RAD_RT_NURSERY_H

#include "rt/fiber.h"

enum { RAD_FAMILY_AT_ONCE = 64 };

/* Under the lock, but for what only the owner sets before it is shown to others. */
struct rad_family {
    rad_waitable object;
    const void *state; /* the family itself: it is open; another address: it was waited for; see nursery.c */
    rad_queue owner_waits;
    rad_slot *owner, *youngest; /* youngest: of those listed */
    uint64_t count;             /* children that are listed, and those who cancel */
    _Atomic uint64_t told;      /* children that are not; grows, and becomes 0, under the lock */
    uint32_t holds;             /* of the lock, to take children who are to be told: tests count them */
    _Atomic int failed; /* the first code of a child that is not 0, or the reason of a cancellation before that */
    bool canceled, closed;
    bool late;         /* its parent was cancelled before it was opened, and not with it */
    bool on_purpose;   /* cancelled with reason 0: RAD_ECANCELED of a child is no failure */
    int reason;        /* of the cancellation, the first */
    rad_time deadline; /* of its children */
    rad_family *parent;
    rad_family *first;           /* of those below */
    rad_family *unseen;          /* of those below: this one, and its elders, are to be cancelled */
    rad_family *elder, *younger; /* below the same parent, under its lock */
};

/* Some children of a family that is cancelled, to be told. A slot outlives its fiber, and its generation tells. */
typedef struct rad_untold {
    uint32_t count;
    uint32_t generations[RAD_FAMILY_AT_ONCE];
    rad_slot *slots[RAD_FAMILY_AT_ONCE];
} rad_untold;

/* C2: one hold of the lock. Those it answers are not listed any more. */
RAD_INTERNAL void rad__family_untold(rad_family *f, rad_untold *some);

/* A new fiber, before it is queued. False: the family is closed. */
RAD_INTERNAL bool rad__family_enter(rad_family *f, rad_slot *slot);

/* Whether a fiber may spawn into it: its owner, or a fiber that cannot outlive it. */
RAD_INTERNAL bool rad__family_admits(const rad_family *f, const rad_slot *spawner);

/* What a child answers, which is not 0, before others hear that it has ended and can let a second one fail. */
RAD_INTERNAL void rad__family_hears(rad_family *f, const rad_slot *slot, int code);

/* The fiber has ended with that code. */
RAD_INTERNAL void rad__family_leave(rad_family *f, rad_slot *slot, int code);

#endif
