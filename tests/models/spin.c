/* spin.c — locks that spin: correct ones end under every schedule that the lab tries, the others let two in.
 *
 *     lock 0   Peterson's           the turn is given before the flag is raised
 *          1   tickets              taking a ticket is a load and a store
 *          2   exchange             looking and taking are two steps
 *          3   the same, giving way
 *          4   a sequence lock      the reader does not look again
 *          5   a patient wait       nobody gives up, a livelock; the twin does so after 1,000 looks
 *          6   Dekker's             the flag is raised after the look at the other one
 *          7   tickets, backing off taking a ticket is a load and a store
 *          8   compare-and-swap     what is added was read before
 *          9   a sequence lock of two writers, who take it by compare-and-swap: one of them does not
 *         10   exchange, with a count of one's tries: looking and taking are two steps
 *         11   the same with one count for all
 *         12   two locks               each takes its own first, and insists on both: a livelock
 *         13   a wait for a sleeper    who sleeps raises no flag when its time is up: a livelock */
#include <stdatomic.h>

#include "lab/l2/model.h"
#include "os/thread.h"
#include "os/wait.h"

enum { LOCK };
enum {
    PETERSON,
    TICKET,
    EXCHANGE,
    GIVING_WAY,
    SEQUENCE,
    PATIENT,
    DEKKER,
    BACKING_OFF,
    RETRY,
    WRITERS,
    TRIES,
    ALL_TRIES,
    TWO_LOCKS,
    SLEEPER
};

static _Atomic uint32_t flags[2], turn, next, serves, lock, sequence, halves[2], tries[2], sum;
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

static void dekker(uint32_t me, bool wrong)
{
    uint32_t other = 1 - me;
    if (!wrong) set(&flags[me], 1);
    while (get(&flags[other])) {
        if (get(&turn) == me) continue;
        set(&flags[me], 0);
        while (get(&turn) != me) {
        }
        set(&flags[me], 1);
    }
    if (wrong) set(&flags[me], 1);
    comes_in();
    inside = 0;
    set(&turn, other);
    set(&flags[me], 0);
}

static void tickets(bool backs_off, bool wrong)
{
    uint32_t mine = wrong ? get(&next) : atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);
    if (wrong) set(&next, mine + 1);
    for (uint32_t now = get(&serves); now != mine; now = get(&serves))
        for (uint32_t i = now; backs_off && i < mine; i++) rad__os_give_way(false);
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

/* Everybody's count, or one's own. */
static void counting(_Atomic uint32_t *count, bool wrong)
{
    while (!takes(wrong)) atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
    comes_in();
    inside = 0;
    set(&lock, 0);
}

static bool swaps(_Atomic uint32_t *word, uint32_t from, uint32_t to)
{
    /* Pairs with set, and with itself. */
    return atomic_compare_exchange_strong_explicit(word, &from, to, memory_order_seq_cst, memory_order_seq_cst);
}

static void retry(bool wrong)
{
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t before = get(&sum);
        if (wrong)
            set(&sum, before + 1);
        else
            while (!swaps(&sum, before, before + 1)) before = get(&sum);
    }
}

/* Both write both halves, and read them afterwards. */
static void writers(uint32_t me, bool wrong)
{
    uint32_t before = get(&sequence);
    while (before % 2 == 1 || !(wrong && me == 0 ? true : swaps(&sequence, before, before + 1)))
        before = get(&sequence);
    set(&halves[0], me + 1);
    set(&halves[1], me + 1);
    set(&sequence, before + 2);
    uint32_t one, two;
    do {
        before = get(&sequence);
        one = get(&halves[0]);
        two = get(&halves[1]);
    } while (before % 2 == 1 || get(&sequence) != before);
    RAD_MODEL_ASSERT(one == two);
}

static void two_locks(uint32_t me, bool wrong)
{
    uint32_t first = wrong ? me : 0;
    for (uint32_t i = 0; i < 2; i++)
        while (!swaps(&flags[i == 0 ? first : 1 - first], 0, 1)) {
        }
    comes_in();
    inside = 0;
    set(&flags[1 - first], 0);
    set(&flags[first], 0);
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
    for (uint32_t i = 0; i < 1000; i++)
        if (get(&lock)) return;
}

/* Time has to pass although somebody can go on. */
static void sleeper(uint32_t me, bool wrong)
{
    if (me == 0) {
        rad__os_word_wait_for(&turn, 0, 1000);
        if (!wrong) set(&lock, 1);
    } else {
        while (!get(&lock)) {
        }
    }
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
    rad__model_name(tries, sizeof tries, "tries");
    rad__model_name(&sum, sizeof sum, "sum");
}

static void spin_body(const rad_case *c, uint32_t thread)
{
    bool wrong = !c->repaired;
    switch (c->params[LOCK]) {
    case PETERSON: peterson(thread, wrong); break;
    case TICKET:
    case BACKING_OFF: tickets(c->params[LOCK] == BACKING_OFF, wrong); break;
    case EXCHANGE:
    case GIVING_WAY: exchange(c->params[LOCK] == GIVING_WAY, wrong); break;
    case SEQUENCE: sequence_lock(thread, wrong); break;
    case DEKKER: dekker(thread, wrong); break;
    case RETRY: retry(wrong); break;
    case WRITERS: writers(thread, wrong); break;
    case TRIES:
    case ALL_TRIES: counting(&tries[c->params[LOCK] == TRIES ? thread : 0], wrong); break;
    case TWO_LOCKS: two_locks(thread, wrong); break;
    case SLEEPER: sleeper(thread, wrong); break;
    default: patient(wrong); break;
    }
}

static void spin_check(const rad_case *c)
{
    if (c->params[LOCK] == RETRY) RAD_MODEL_ASSERT(get(&sum) == 4);
}

static const rad_param spin_params[] = {
    [LOCK] = {"lock", 0, 0, SLEEPER, "which lock: see the source", true},
    {.name = NULL},
};

RAD_MODEL(spin, .name = "l2-spin", .about = "locks that spin", .params = spin_params, .bug = "each has one of its own",
          .bug_at = "takes", .no_locals = true, .threads = 2, .setup = spin_setup, .body = spin_body,
          .check = spin_check);
