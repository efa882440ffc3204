/* fair.h — fair schedules: who yields, or spins, does not keep others waiting (Musuvathi and Qadeer, PLDI 2008).
 *
 * A *window* of an actor goes from one of its yields to the next. When a window ends, the actor comes behind every
 * other one that it starved: one that did not run in the window although it could all the time, or that the actor
 * itself disabled. It is not offered while one of those can run; each of them counts until it has run once. So a loop
 * that yields is left as soon as another actor has something to do, and what does not yield has every schedule.
 *
 * Two rules besides, for loops that say nothing:
 *   Turns    every RAD_TURN-th step of a run ends a window of its actor, whatever it did, if that made all steps since
 *            the last one. So a loop that writes, and is not recognised, does not keep others waiting for ever by
 *            itself, and runs of fewer than 2 * RAD_TURN steps do not change.
 *   Looks    an actor that spins (spin.h) comes behind everybody else who can run, starved or not, until one of them
 *            does more than look: so long, what it saw has not changed, and it would only see it again. Others that
 *            spin count until they have looked once. So when all spin they go in turn. For those that it starved it
 *            gives way only when its window is RAD_TURN steps long.
 *
 * Spin rounds (options.spin_rounds): in the first N rounds that an actor makes in a run nothing of this happens: the
 * step that would yield is like any other one. A step that yields is a round, of looks as many as the period, a long
 * turn is RAD_TURN. So a loop that ends by itself comes to its end while others could run, and one that does not ends
 * fairly.
 *
 * What is not offered is *aside*: enabled for the machine, but neither in the kernel's enabled set nor in its list.
 * Policies and observers see it disabled, so nothing else in the kernel knows of fairness. All actions without an
 * actor are one party here; it never yields.
 *
 * For each actor that has yielded or spun, five sets:
 *   BEHIND   those it lets go first (its row of the relation P of the paper)
 *   LOOKS    those it lets go first because it spins
 *   ABLE     who could run all the time since its last yield (E)
 *   STOPPED  whom it disabled since then (D)
 *   RAN      who has run since then (S)
 *
 * F1  BEHIND and LOOKS together have no cycle. Only an actor that yields or spins gets others into its own. It has
 *     just run, which removes it from every BEHIND; its yield empties every LOOKS, its spinning removes it from every
 *     LOOKS. So an action is offered exactly when an action is enabled.
 * F2  an actor is aside <=> BEHIND or LOOKS has an actor that can run; then all its enabled actions are.
 *
 * Rejected: who spins lets everybody make one step, as who yields does. A look right after a step of one of two others
 * is left out then, and with it the bugs that need it. */
#ifndef RAD_CORE_FAIR_H
#define RAD_CORE_FAIR_H

#include "base/digest.h"

#include <raddle/machine.h>

enum { RAD_TURN = 256, RAD_TURN_CROWD = 64 };

/* How a machine without `state` shows that a round of steps comes back to where it began: the digest of all there is,
 * or of a part that is cheaper to ask for. False: it cannot be known. */
typedef bool rad_round_state(void *self, bool whole, rad_digest *digest);

typedef struct rad_fair {
    bool active;             /* an actor has yielded in this run */
    bool marked, mark_whole; /* there is a mark (below), of the whole state */
    bool varies;             /* since the mark, an actor had another choice than what it did */
    uint32_t slots;          /* actors that have yielded or spun */
    struct {
        uint32_t party;
        uint64_t opened; /* the step in which its window began */
    } * owner;           /* of a slot */
    uint32_t owner_capacity;
    uint32_t *slot; /* of a party, + 1; 0: it has none */
    uint32_t slot_capacity;
    uint64_t *sets; /* a few for all (fair.c), then five for each slot */
    uint32_t set_capacity;
    uint32_t words;  /* of a set */
    uint64_t calm;   /* bit p: since anything was enabled or disabled, or an actor yielded, party p ran */
    bool calm_wrote; /* … and one of these steps was no look */
    uint32_t actors_aside, actions_aside;
    uint32_t world; /* enabled actions without an actor */
    bool worldly;   /* there was one in this run */
    bool spent;     /* an actor has used up its spin rounds in this run */
    uint64_t held;  /* steps of this run after which an actor was aside; machines may count their own, too */
    /* The search for a state that comes back. */
    rad_digest mark, mark_part;
    uint64_t mark_step, yields, next_mark;
    uint32_t object; /* touched since the mark: of those the one whose role comes first in the alphabet */
} rad_fair;

RAD_INTERNAL void rad__fair_reset(rad_fair *f);
RAD_INTERNAL void rad__fair_free(rad_fair *f);

/* After a step of `action`, once the enabled set has settled: the sets, and who is aside now. `yields`: it gave way,
 * or spins; `looks`: it did nothing but look; `chose`: it made choices. Fails the run when this is a livelock. */
RAD_INTERNAL void rad__fair_stepped(rad_kernel *k, uint32_t action, bool yields, bool looks, bool chose);

/* What the schedules to come depend on besides the machine's state. */
RAD_INTERNAL void rad__fair_state(const rad_kernel *k, rad_state_hash *h);

#endif
