/* holders.h — what a parked fiber waits for, by name, and who keeps it from it: for dumps and deadlock reports.
 *
 * A slot says which object its fiber waits for. The object is there as long as the fiber is inside its call, so it is
 * read while the fiber is held (rad__strand_hold), and what is needed of it is copied.
 *
 * Locks know their holder as rad__who says it: the address of its strand, which is compared with those of all fibers.
 * What is not one of them is a thread, or a fiber of another runtime. */
#ifndef RAD_RT_HOLDERS_H
#define RAD_RT_HOLDERS_H

#include <stdio.h>

#include "rt/fiber.h"

typedef struct rad_waited_object {
    enum rad_kind kind;
    uint64_t number;  /* of the object, the fiber or the file */
    const char *name; /* or NULL */
    uint64_t left;    /* fibers in a nursery; readers of a lock */
    uint64_t who;     /* keeps it: the holder of a mutex, a writer, who runs a once, who is joined; 0: not one */
    const void *lock; /* that it reads or writes: its readers have this in their slots */
    const rad__nursery *nursery; /* its fibers have it in their slots */
} rad_waited_object;

enum { RAD_WAITED_MOST = 8 };

typedef struct rad_waited {
    uint32_t count; /* 0: nothing, it sleeps */
    uint32_t more;  /* that are not listed here */
    rad_waited_object objects[RAD_WAITED_MOST];
} rad_waited;

/* Of a fiber that is held. */
RAD_INTERNAL void rad__waited_look(rad_waited *w, const rad_slot *slot);

/* "waits for mutex 5 'accounts', held by fiber 3 'teller'"; "waits for channel 7 or timer 8". */
RAD_INTERNAL void rad__waited_print(const rad_waited *w, rad_runtime *rt, FILE *to);

/* "fiber 3 'teller'". */
RAD_INTERNAL void rad__fiber_print(const rad_slot *slot, FILE *to);

/* Each cycle of parked fibers that wait for one another. */
RAD_INTERNAL void rad__cycles_print(rad_runtime *rt, FILE *to);

#endif
