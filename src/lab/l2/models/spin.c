/* spin.c — locks that spin: correct ones end under every schedule that the lab tries, the others let two in.
 *
 *     lock 0   Peterson's           the turn is given before the flag is raised
 *          1   tickets              taking a ticket is a load and a store
 *          2   exchange             looking and taking are two steps
 *          3   the same, giving way
 *          4   a sequence lock      the reader does not look again
 *          5   a patient wait       nobody gives up, a livelock; the twin does so after 1,000 looks */
#include <stdatomic.h>

#include "lab/l2/model.h"
#include "os/thread.h"

enum { LOCK };
enum { PETERSON, TICKET, EXCHANGE, GIVING_WAY, SEQUENCE, PATIENT };

static _Atomic uint32_t flags[2], turn, next, serves, lock, sequence, halves[2];
static uint32_t inside;

/* All are sequentially consistent, and pair with each other. */
static uint32_t get(const _Atomic uint32_t *word)
{
    return atomic_load_explicit(word, memory_order_seq_cst); /* pairs with set */
}

static void set(_Atomic uint32_t *word, uint32_t value)
{
    atomic_store_explicit(word, value, memory_order_seq_cst); /* pairs with get */
}

static void comes_in(void)
{
    RAD_MODEL_ASSERT(inside == 0);
    inside = 1;
}

static void peterson(uint32_t me, bool wrong)
{
    uint32_t other = 1 - me;
    if (wrong) set(&turn, other);
    set(&flags[me], 1);
    if (!wrong) set(&turn, other);
    while (get(&flags[other]) && get(&turn) == other) {
    }
    comes_in();
    inside = 0;
    set(&flags[me], 0);
}

static void tickets(bool wrong)
{
    uint32_t mine = wrong ? get(&next) : atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);
    if (wrong) set(&next, mine + 1);
    while (get(&serves) != mine) {
    }
    comes_in();
    inside = 0;
    set(&serves, mine + 1);
}

static bool takes(bool wrong)
{
    /* Pairs with the store by which the last owner left. */
    if (!wrong) return atomic_exchange_explicit(&lock, 1, memory_order_acquire) == 0;
    if (get(&lock)) return false;
    set(&lock, 1);
    return true;
}

static void exchange(bool gives_way, bool wrong)
{
    while (!takes(wrong))
        if (gives_way) rad__os_give_way(false);
    comes_in();
    inside = 0;
    set(&lock, 0);
}

static void sequence_lock(uint32_t me, bool wrong)
{
    uint32_t before, one, two;
    if (me == 0) {
        set(&sequence, 1);
        set(&halves[0], 1);
        set(&halves[1], 1);
        set(&sequence, 2);
        return;
    }
    do {
        before = get(&sequence);
        if (before % 2 == 1) continue;
        one = get(&halves[0]);
        two = get(&halves[1]);
    } while (before % 2 == 1 || (!wrong && get(&sequence) != before));
    RAD_MODEL_ASSERT(one == two);
}

static void patient(bool wrong)
{
    while (wrong && !get(&lock)) {
    }
    for (uint32_t tries = 0; tries < 1000; tries++)
        if (get(&lock)) return;
}

static void spin_setup(const rad_case *c)
{
    (void)c;
    rad__model_name(flags, sizeof flags, "flag");
    rad__model_name(&turn, sizeof turn, "turn");
    rad__model_name(&next, sizeof next, "next");
    rad__model_name(&serves, sizeof serves, "serves");
    rad__model_name(&lock, sizeof lock, "lock");
    rad__model_name(&sequence, sizeof sequence, "sequence");
    rad__model_name(halves, sizeof halves, "half");
    rad__model_name(&inside, sizeof inside, "inside");
}

static void spin_body(const rad_case *c, uint32_t thread)
{
    bool wrong = !c->repaired;
    switch (c->params[LOCK]) {
    case PETERSON: peterson(thread, wrong); break;
    case TICKET: tickets(wrong); break;
    case EXCHANGE:
    case GIVING_WAY: exchange(c->params[LOCK] == GIVING_WAY, wrong); break;
    case SEQUENCE: sequence_lock(thread, wrong); break;
    default: patient(wrong); break;
    }
}

static const rad_param spin_params[] = {
    [LOCK] = {"lock", 0, 0, PATIENT, "which lock: see the source", true},
    {.name = NULL},
};

RAD_MODEL(spin, .name = "l2-spin", .about = "locks that spin", .params = spin_params,
          .bug = "each has one of its own", .bug_at = "takes", .no_locals = true, .threads = 2,
          .setup = spin_setup, .body = spin_body);
