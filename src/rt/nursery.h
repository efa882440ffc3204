/* nursery.h — nurseries: fibers that are waited for and cancelled together. A struct rad_nursery of raddle/fiber.h
 * holds one struct rad__nursery.
 *
 * A nursery is open from rad_nursery_open to the end of rad_nursery_wait, and lies in a stack frame of its owner. Its
 * children are listed under its lock; the last child that leaves wakes the owner.
 * Nurseries form a tree: the parent of a nursery is the one that its owner is a child of. The nurseries below are
 * listed under the lock of their parent.
 *
 * List      of the children that a cancellation has still to reach. Cancelling sets the flag first: a child that enters
 * later is born cancelled, and never listed. Then the canceller takes some children at a time off the list, under the
 * lock, and cancels them without it: no thread waits for a lock while 200,000 children are cancelled, and no fiber is
 * woken under one. Several callers that cancel the same nursery share the list, and so the work. Then the canceller
 * goes down to each nursery below, without recursion, however deep the tree is; a cursor remembers which one is next.
 * Between two holds of the lock nothing keeps the children. The nursery itself stays because of its size: the children
 * that are listed and the cancellers (`count`), and the children that are not listed (`unlisted`).
 *
 *              canceller                                     owner
 *         C1   lock: count + 1, flag                         D1   lock: size > 0 ? waits
 *         C2   lock: takes children off the list             D2   returns: the nursery is gone
 *         C3   cancels them; again until there are none
 *         C4   lock: count - 1; size is 0 ? wakes the owner, as a child does
 * Claim: C2 and C4 see a nursery that is still there, for D2 comes after a size of 0, and C4 is the last access.
 *
 * Leaving   A child that is listed leaves under the lock. One that is not has nothing to take back, so 200,000 of them
 * end on all workers without waiting for each other:
 *
 *              child that is not listed                      the last of these
 *         L1   unlisted > 1 ? else as the last               E1   lock: unlisted: 1 -> 0
 *         L2   unlisted: n -> n - 1, n > 1  (release)        E2   size is 0 ? wakes the owner   (acquire)
 * Claim: `unlisted` becomes 0 under the lock only, and so does the size: the owner leaves after the last child has
 * unlocked. L2 leaves at least 1, and is the last access. E2 and D1 see what all children did: what they read is in the
 * release sequence of each L2.
 *
 * Locks     of a nursery, then that of a nursery below it; then none.
 *
 * M1  size = children that have not left + cancellers; once it is closed no child enters, and at 0 it stays.
 * M2  a child that enters a cancelled nursery is cancelled.
 * M3  no lock is held while more than RAD_NURSERY_AT_ONCE children or nurseries are looked at.
 *
 * Rejected: a lock of the whole runtime for the tree (200,000 children kept it for 38 to 136 ms, and no nursery could
 * be opened meanwhile). */
#ifndef RAD_RT_NURSERY_H
#define RAD_RT_NURSERY_H

#include "rt/fiber.h"

enum { RAD_NURSERY_AT_ONCE = 64 };

/* Under the lock, but for what only the owner sets before it is shown to others. */
struct rad__nursery {
    rad_waitable object;
    const void *state; /* the nursery itself: it is open; another address: it was waited for; see nursery.c */
    rad_queue owner_waits;
    rad_slot *owner, *youngest; /* youngest: of those listed */
    uint64_t count;             /* children that are listed, and cancellers */
    _Atomic uint64_t unlisted;  /* children that are not; grows, and becomes 0, under the lock */
    uint32_t holds;             /* of the lock, to take children off the list: tests count them */
    _Atomic int failed; /* the first code of a child that is not 0, or the reason of a cancellation before that */
    bool canceled, closed;
    bool late;         /* its parent was cancelled before it was opened, and not with it */
    bool on_purpose;   /* cancelled with reason 0: RAD_ECANCELED of a child is no failure */
    int reason;        /* of the cancellation, the first */
    rad_time deadline; /* of its children */
    rad__nursery *parent;
    rad__nursery *first;           /* of those below */
    rad__nursery *unseen;          /* of those below: this one, and its elders, are to be cancelled */
    rad__nursery *elder, *younger; /* below the same parent, under its lock */
};

/* Children taken off the list, to be cancelled. A slot outlives its fiber; its generation tells fibers apart. */
typedef struct rad_children {
    uint32_t count;
    uint32_t generations[RAD_NURSERY_AT_ONCE];
    rad_slot *slots[RAD_NURSERY_AT_ONCE];
} rad_children;

/* C2: one hold of the lock. */
RAD_INTERNAL void rad__nursery_take_listed(rad__nursery *n, rad_children *some);

/* A new fiber, before it is queued. False: the nursery is closed. */
RAD_INTERNAL bool rad__nursery_enter(rad__nursery *n, rad_slot *slot);

/* Whether a fiber may spawn into it: its owner, or a fiber that cannot outlive it. */
RAD_INTERNAL bool rad__nursery_admits(const rad__nursery *n, const rad_slot *spawner);

/* A child's result that is not 0, before others see that it has ended and can make a second child fail. */
RAD_INTERNAL void rad__nursery_note_failure(rad__nursery *n, const rad_slot *slot, int code);

/* The fiber has ended with that code. */
RAD_INTERNAL void rad__nursery_leave(rad__nursery *n, rad_slot *slot, int code);

#endif
