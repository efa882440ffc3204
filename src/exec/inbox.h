/* inbox.h — tasks from many senders for one receiver, first in first out (Vyukov's intrusive queue).
 *
 * A list from `first` (the receiver's) to `last` (the senders'), kept from being empty by an anchor.
 *
 *              push (any thread)                     pop (receiver)
 *         S1   before = last, last = task  (swap)    R1   next = first->next
 *         S2   before->next = task                   R2   first = next
 * Claim: between S1 and S2 the list is cut in two; the receiver then sees nothing (NULL), not something wrong,
 * and the sender, who wakes it after S2, makes it look again.
 *
 * B1  what was pushed is popped exactly once; tasks of one sender in order.
 * B2  is_empty says whether pop would answer NULL. A push between S1 and S2 hides what is there; its sender wakes the
 *     receiver after S2, and so for that, too. (Otherwise a receiver would spin for as long as the sender is kept
 *     from going on.)
 *
 * Ordering  S1 and S2 are seq_cst and so are the loads in is_empty: the Dekker pair of sending and going to sleep
 *           (idle.h, W1 and K3). S2 also releases the task to R1.
 *
 * Rejected: a stack that the receiver takes whole and reverses (a burst costs twice its length at once; the
 * order of two senders' tasks turns with it); a ring (a sender would need a place to wait). */
#ifndef RAD_EXEC_INBOX_H
#define RAD_EXEC_INBOX_H

#include "exec/task.h"

typedef struct rad_inbox {
    _Alignas(64) _Atomic(rad_task *) last; /* the newest, or &anchor */
    rad_task *first;                       /* of the receiver */
    rad_task anchor;
} rad_inbox;

RAD_INTERNAL void rad__inbox_open(rad_inbox *q);
RAD_INTERNAL void rad__inbox_push(rad_inbox *q, rad_task *task);

/* Receiver only. NULL also while the oldest push is between S1 and S2. */
RAD_INTERNAL rad_task *rad__inbox_pop(rad_inbox *q);

/* Receiver only (B2). */
RAD_INTERNAL bool rad__inbox_is_empty(const rad_inbox *q);

#endif
