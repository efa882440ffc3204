/* barrier.c — a place where a number of fibers and threads meet.
 *
 * D1  arrived < parties: how many are there, of this round. The last one does not wait: it begins the next round.
 * D2  who has arrived is counted until it leaves, under the lock. If the round was over by then, it was one of those
 *     who made it so, and the others have gone: then its time was not up, whatever the clock says. */
#include "rt/ops.h"
#include "rt/sync.h"

typedef struct barrier {
    uint64_t parties;
    rad_waitable object;
    _Atomic(const char *) name;
    rad_queue waiters; /* want: the round, + 1 */
    uint32_t arrived, round;
} barrier;

_Static_assert(sizeof(barrier) <= sizeof(rad_barrier), "there is room for it");
RAD_NAMED(barrier);

void rad__op_barrier_init(rad_barrier *b, uint32_t parties)
{
    if (parties == 0) rad__misuse("rad_barrier_init", "a barrier for 0 fibers is never passed");
    *b = (rad_barrier)RAD_BARRIER_INIT(parties);
}

static bool arrive(rad_clause *c, rad_wakes *wakes)
{
    barrier *b = (barrier *)((char *)c->object - offsetof(barrier, object));
    rad__waitable_begin(c->object, RAD_KIND_BARRIER);
    c->want = (uint64_t)b->round + 1;
    c->code = 0;
    if (++b->arrived < b->parties) return false;
    b->arrived = 0;
    b->round++;
    c->code = 1;
    rad__queue_claim_all(&b->waiters, 0, wakes);
    return true;
}

/* D2. */
static int leave(barrier *b, const rad_clause *c, int code)
{
    rad__lock(&b->object.lock);
    bool over = (uint64_t)b->round + 1 != c->want;
    if (!over) b->arrived--;
    rad__unlock(&b->object.lock);
    return over ? 0 : code;
}

int rad__op_barrier_wait(rad_barrier *public, rad_time until)
{
    barrier *b = (barrier *)(void *)public;
    if (b->parties == 0) rad__misuse("rad_barrier_wait", "it has no parties");
    rad_clause c = {.object = &b->object, .queue = &b->waiters, .attempt = arrive};
    int done = rad__wait_anyway(&c, until);
    return done < 0 ? leave(b, &c, done) : c.code;
}
