/* pool.c — things that are used again and again, at most so many of them.
 *
 * K1  made: items that exist or are being made, <= capacity; out: those of them that nobody can take.
 * K2  somebody waits only while nothing is idle and made == capacity. Whoever gives one back, or finds that it is of no
 *     use, passes it on, or the right to make another one (code 1), to who has waited longest.
 * K3  the caller's functions run without the lock: what they work on is out, or was idle when the pool was closed.
 * K4  when it is closed nothing is idle, and nobody waits. */
#include "rt/pool.h"

#include "base/alloc.h"
#include "rt/ops.h"

typedef struct item {
    struct item *next; /* among the idle ones */
    rad_pool *out_of;  /* NULL: it is idle */
    _Alignas(16) unsigned char bytes[];
} item;

struct rad_pool {
    rad_waitable object;
    _Atomic(const char *) name;
    rad_queue takers; /* data: where the item goes */
    item *idle;
    uint32_t made, out, capacity;
    bool closed;
    rad_alive alive;
    int code; /* it was closed with */
    size_t size;
    rad_pool_calls calls;
};

RAD_NAMED(struct rad_pool);

enum { GET = 0, MAKE = 1 }; /* the code of a clause; or RAD_ECLOSED */

int rad__op_pool_create(rad_pool **pool, size_t size, uint32_t capacity, const rad_pool_calls *calls)
{
    *pool = NULL;
    if (capacity == 0 || size > SIZE_MAX / 2) return RAD_EINPUT;
    rad_pool *s = rad__alloc_lines(1, sizeof *s);
    if (s == NULL) return RAD_ENOMEM;
    rad__waitable_open(&s->object, RAD_KIND_STOCK);
    s->size = size;
    s->capacity = capacity;
    s->alive = RAD_ALIVE;
    if (calls) s->calls = *calls;
    *pool = s;
    return 0;
}

static void pool_check(const rad_pool *s, const char *call)
{
    if (RAD_UNLIKELY(s == NULL)) rad__misuse(call, "the pool is NULL");
    if (RAD_UNLIKELY(s->alive != RAD_ALIVE)) rad__misuse(call, "the pool was destroyed");
}

static void item_free(rad_pool *s, item *i)
{
    if (s->calls.on_destroy) s->calls.on_destroy(s->calls.context, i->bytes);
    rad__free(i);
}

static void items_free(rad_pool *s, item *first)
{
    for (item *next; first != NULL; first = next) {
        next = first->next;
        item_free(s, first);
    }
}

void rad__op_pool_destroy(rad_pool *s)
{
    if (s == NULL) return;
    pool_check(s, "rad_pool_destroy");
    /* No other fiber uses it any more: the lock makes visible what they did before. */
    rad__lock(&s->object.lock);
    bool all = s->out == 0 && s->takers.first == NULL;
    rad__unlock(&s->object.lock);
    if (!all) rad__misuse("rad_pool_destroy", "not everything was given back");
    items_free(s, s->idle);
    rad__alive_end(&s->alive);
    rad__free(s);
}

bool rad__op_pool_close(rad_pool *s, int code)
{
    rad_wakes wakes = {0};
    item *idle = NULL;
    pool_check(s, "rad_pool_close");
    rad__lock(&s->object.lock);
    bool first = !s->closed;
    if (first) {
        s->closed = true;
        s->code = code;
        idle = s->idle;
        s->idle = NULL;
        s->made = s->out;
        rad__queue_claim_all(&s->takers, RAD_ECLOSED, &wakes);
    }
    rad__unlock(&s->object.lock);
    rad__wakes_go(&wakes);
    items_free(s, idle);
    return first;
}

int rad__op_pool_code(rad_pool *s)
{
    pool_check(s, "rad_pool_code");
    rad__lock(&s->object.lock);
    int code = s->closed ? s->code : 0;
    rad__unlock(&s->object.lock);
    return code;
}

/* ---- Taking ------------------------------------------------------------------------------------------ */

static bool take_attempt(rad_clause *c, rad_wakes *wakes)
{
    (void)wakes;
    rad_pool *s = (rad_pool *)c->object;
    item *i = s->idle;
    if (s->closed) {
        c->code = RAD_ECLOSED;
        return true;
    }
    if (i == NULL && s->made == s->capacity) return false;
    s->out++;
    c->code = i ? GET : MAKE;
    if (i)
        s->idle = i->next;
    else
        s->made++;
    *(void **)c->data = i;
    return true;
}

void rad__take_clause(rad_clause *c, rad_pool *s, void **place, const char *call)
{
    pool_check(s, call);
    rad__clause_open(c, &s->object, &s->takers, take_attempt, place);
}

/* An item that was out (NULL: the right to make one) is somebody else's, or nobody's. False: the pool is closed, and
 * the item is still out. */
static bool pass_on(rad_pool *s, item *i)
{
    rad_wakes wakes = {0};
    rad__lock(&s->object.lock);
    bool refused = s->closed && i != NULL;
    rad_clause *c = refused ? NULL : rad__queue_claim(&s->takers);
    if (c != NULL) {
        c->code = i ? GET : MAKE;
        *(void **)c->data = i;
        rad__wakes_add(&wakes, c);
    } else if (!refused) {
        s->out--;
        if (i) {
            i->next = s->idle;
            s->idle = i;
        } else {
            s->made--;
        }
    }
    rad__unlock(&s->object.lock);
    rad__wakes_go(&wakes);
    return !refused;
}

static int make(rad_pool *s, item **out)
{
    item *i = rad__alloc(1, sizeof *i + s->size);
    int code = i ? 0 : RAD_ENOMEM;
    if (i && s->calls.on_create) code = s->calls.on_create(s->calls.context, i->bytes);
    if (code == 0) {
        *out = i;
        return 0;
    }
    rad__free(i);
    pass_on(s, NULL);
    return code;
}

int rad__take_ends(rad_pool *s, int code, void **place)
{
    item *i = code == GET ? *place : NULL;
    if (code == MAKE) code = make(s, &i);
    *place = NULL;
    if (code != 0) return code;
    i->out_of = s;
    *place = i->bytes;
    return 0;
}

int rad__op_pool_take(rad_pool *s, void **bytes, rad_time until)
{
    rad_clause c;
    rad__take_clause(&c, s, bytes, "rad_pool_take");
    int code = rad__wait(&c, 1, until);
    return rad__take_ends(s, code == 0 ? c.code : code, bytes);
}

/* ---- Giving back -------------------------------------------------------------------------------------- */

void rad__op_pool_give(rad_pool *s, void *bytes)
{
    pool_check(s, "rad_pool_give");
    if (bytes == NULL) rad__misuse("rad_pool_give", "the item is NULL");
    item *i = (item *)(void *)((char *)bytes - offsetof(item, bytes));
    if (RAD_UNLIKELY(i->out_of == NULL)) rad__misuse("rad_pool_give", "it was given back before");
    if (RAD_UNLIKELY(i->out_of != s)) rad__misuse("rad_pool_give", "it is no item of this pool");
    i->out_of = NULL;
    bool useless = s->calls.on_reset && s->calls.on_reset(s->calls.context, bytes) != 0;
    if (!useless && pass_on(s, i)) return;
    item_free(s, i);
    pass_on(s, NULL);
}
