/* stock.c — things that are used again and again, at most so many of them.
 *
 * K1  made: items that exist or are being made, <= capacity; out: those of them that nobody can take.
 * K2  somebody waits only while nothing is idle and made == capacity. Whoever gives one back, or finds that it is of no
 *     use, passes it on, or the right to make another one (code 1), to who has waited longest.
 * K3  the caller's functions run without the lock: what they work on is out. */
#include "base/alloc.h"
#include "rt/ops.h"
#include "rt/wait.h"

typedef struct item {
    struct item *next; /* among the idle ones */
    bool out;
    _Alignas(16) unsigned char bytes[];
} item;

struct rad_stock {
    rad_waitable object;
    rad_queue takers; /* data: where the item goes */
    item *idle;
    uint32_t made, out, capacity;
    size_t size;
    rad_stock_calls calls;
};

enum { GET = 0, MAKE = 1 }; /* the code of a clause */

int rad__op_stock_create(rad_stock **stock, size_t size, uint32_t capacity,
                         const rad_stock_calls *calls)
{
    *stock = NULL;
    if (capacity == 0 || size > SIZE_MAX / 2) return RAD_EINPUT;
    rad_stock *s = rad__alloc_lines(1, sizeof *s);
    if (s == NULL) return RAD_ENOMEM;
    rad__waitable_open(&s->object, RAD_KIND_STOCK);
    s->size = size;
    s->capacity = capacity;
    if (calls) s->calls = *calls;
    *stock = s;
    return 0;
}

static void item_free(rad_stock *s, item *i)
{
    if (s->calls.on_destroy) s->calls.on_destroy(s->calls.context, i->bytes);
    rad__free(i);
}

void rad__op_stock_destroy(rad_stock *s)
{
    if (s == NULL) return;
    rad__lock(&s->object.lock);
    bool all = s->out == 0 && s->takers.first == NULL;
    rad__unlock(&s->object.lock);
    if (!all) rad__misuse("rad_stock_destroy", "not everything was given back");
    for (item *i = s->idle, *next; i != NULL; i = next) {
        next = i->next;
        item_free(s, i);
    }
    rad__free(s);
}

/* ---- Taking ------------------------------------------------------------------------------------------ */

static bool take_attempt(rad_clause *c, rad_wakes *wakes)
{
    (void)wakes;
    rad_stock *s = (rad_stock *)c->object;
    if (s->idle == NULL && s->made == s->capacity) return false;
    s->out++;
    c->code = s->idle ? GET : MAKE;
    if (s->idle) {
        *(item **)c->data = s->idle;
        s->idle = s->idle->next;
    } else {
        s->made++;
    }
    return true;
}

/* An item that was out (NULL: the right to make one) is somebody else's, or nobody's. */
static void pass_on(rad_stock *s, item *i)
{
    rad_wakes wakes = {0};
    rad__lock(&s->object.lock);
    rad_clause *c = rad__queue_claim(&s->takers);
    if (c != NULL) {
        c->code = i ? GET : MAKE;
        *(item **)c->data = i;
        rad__wakes_add(&wakes, c);
    } else {
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
}

static int make(rad_stock *s, item **out)
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

int rad__op_stock_take(rad_stock *s, void **bytes, rad_time until)
{
    item *i = NULL;
    rad_clause c = {.object = &s->object, .queue = &s->takers, .attempt = take_attempt, .data = &i};
    int code = rad__wait(&c, 1, until);
    if (code == 0 && c.code == MAKE) code = make(s, &i);
    *bytes = NULL;
    if (code != 0) return code;
    i->out = true;
    *bytes = i->bytes;
    return 0;
}

/* ---- Giving back -------------------------------------------------------------------------------------- */

void rad__op_stock_give(rad_stock *s, void *bytes)
{
    item *i = (item *)(void *)((char *)bytes - offsetof(item, bytes));
    if (!i->out) rad__misuse("rad_stock_give", "it was given back before");
    i->out = false;
    if (s->calls.on_reset && s->calls.on_reset(s->calls.context, bytes) != 0) {
        item_free(s, i);
        i = NULL;
    }
    pass_on(s, i);
}
