/* once.c — something that is done by whoever needs it first.
 *
 * Word      NEW --the first--> RUNNING --it answers 0--> DONE
 *           RUNNING --it fails--> NEW, or RUNNING still, when somebody waits: he is told to try (code 1).
 *
 * E1  the word changes under the object's lock; DONE is seen without. */
#include "rt/ops.h"
#include "rt/sync.h"

typedef struct once {
    _Atomic uint64_t word;
    rad_waitable object;
    _Atomic(const char *) name;
    rad_queue waiters;
    _Atomic uint64_t runner; /* who is inside its function (rad__who), or 0 */
} once;

_Static_assert(sizeof(once) <= sizeof(rad_once), "there is room for it");
RAD_NAMED(once);

enum { NEW = 0, RUNNING, DONE };
enum { WAS_DONE = 0, TRY = 1 };

static bool run_attempt(rad_clause *c, rad_wakes *wakes)
{
    (void)wakes;
    once *o = (once *)((char *)c->object - offsetof(once, object));
    uint64_t word = atomic_load_explicit(&o->word, memory_order_relaxed);
    rad__waitable_begin(c->object, RAD_KIND_ONCE);
    c->code = word == DONE ? WAS_DONE : TRY;
    if (word == NEW) atomic_store_explicit(&o->word, RUNNING, memory_order_relaxed);
    return word != RUNNING;
}

static void ran(once *o, bool well)
{
    rad_wakes wakes = {0};
    rad__lock(&o->object.lock);
    if (well) {
        rad__queue_claim_all(&o->waiters, WAS_DONE, &wakes);
        /* Pairs with the load in rad__op_once_run. */
        atomic_store_explicit(&o->word, DONE, memory_order_release);
    } else {
        rad_clause *c = rad__queue_claim(&o->waiters);
        if (c != NULL) {
            c->code = TRY;
            rad__wakes_add(&wakes, c);
        } else {
            atomic_store_explicit(&o->word, NEW, memory_order_relaxed);
        }
    }
    rad__unlock(&o->object.lock);
    rad__wakes_go(&wakes);
}

int rad__op_once_run(rad_once *public, rad_fn fn, void *arg, rad_time until)
{
    once *o = (once *)(void *)public;
    if (RAD_UNLIKELY(fn == NULL)) rad__misuse("rad_once_run", "the function is NULL");
    /* Pairs with the store in `ran`. */
    if (RAD_LIKELY(atomic_load_explicit(&o->word, memory_order_acquire) == DONE)) return 0;
    uint64_t self = rad__who();
    if (until != 0 && atomic_load_explicit(&o->runner, memory_order_relaxed) == self)
        rad__misuse("rad_once_run", "the caller is inside its function already");
    rad_clause c = {.object = &o->object, .queue = &o->waiters, .attempt = run_attempt};
    int done = rad__wait_anyway(&c, until);
    if (done < 0 || c.code == WAS_DONE) return done;
    atomic_store_explicit(&o->runner, self, memory_order_relaxed);
    int code = fn(arg);
    atomic_store_explicit(&o->runner, 0, memory_order_relaxed);
    ran(o, code == 0);
    return code;
}

uint64_t rad__once_runner(const rad_waitable *o)
{
    const once *this = (const once *)((const char *)o - offsetof(once, object));
    return atomic_load_explicit(&this->runner, memory_order_relaxed);
}
