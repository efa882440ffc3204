/* local.c — variables of which every fiber has its own.
 *
 * Key       index into the table of keys, and above it how often that place was used: a value that was set with a key
 *           that is gone by now is told apart.
 * Values    hang at the slot, not at a thread: they go where the fiber goes. Their array grows when one is set, and is
 *           freed at the fiber's end.
 *
 * L1  the table changes under its lock. Without it fibers only compare a key with the one in its place: who has got a
 *     key has it from the one that made it, so it is there until somebody deletes it. */
#include "base/alloc.h"
#include "rt/fiber.h"
#include "rt/ops.h"

enum { INDEX_BITS = 8, TIMES_MOST = 0xffffff, ROUNDS = 4 };

_Static_assert(RAD_LOCALS_MAX == 1 << INDEX_BITS, "a key has room for every index");

typedef struct value {
    rad_local_key key;
    void *value;
} value;

struct rad_locals {
    value *values;
    uint32_t capacity;
};

static struct {
    rad_lock lock;
    struct {
        _Atomic rad_local_key key; /* 0: none */
        uint32_t times;
        void (*destroy)(void *value);
    } at[RAD_LOCALS_MAX];
} keys;

static uint32_t index_of(rad_local_key key)
{
    return key % RAD_LOCALS_MAX;
}

/* ---- Keys -------------------------------------------------------------------------------------------- */

int rad__op_local_create(rad_local_key *key, void (*destroy)(void *value))
{
    int code = RAD_ELIMIT;
    rad__lock(&keys.lock);
    for (uint32_t i = 0; i < RAD_LOCALS_MAX && code != 0; i++) {
        if (atomic_load_explicit(&keys.at[i].key, memory_order_relaxed) != 0) continue;
        if ((++keys.at[i].times & TIMES_MOST) == 0) keys.at[i].times++; /* 0 is no key */
        keys.at[i].destroy = destroy;
        *key = keys.at[i].times << INDEX_BITS | i;
        atomic_store_explicit(&keys.at[i].key, *key, memory_order_relaxed);
        code = 0;
    }
    rad__unlock(&keys.lock);
    return code;
}

static bool key_is_good(rad_local_key key)
{
    return key != 0 && atomic_load_explicit(&keys.at[index_of(key)].key, memory_order_relaxed) == key;
}

static void key_check(rad_local_key key, const char *call)
{
    if (RAD_UNLIKELY(!key_is_good(key))) rad__misuse(call, "there is no such key");
}

void rad__op_local_delete(rad_local_key key)
{
    rad__lock(&keys.lock);
    bool good = key_is_good(key);
    if (good) atomic_store_explicit(&keys.at[index_of(key)].key, 0, memory_order_relaxed);
    rad__unlock(&keys.lock);
    if (!good) rad__misuse("rad_local_delete", "there is no such key");
}

static void destroy_value(const value *v)
{
    rad__lock(&keys.lock);
    void (*destroy)(void *) = key_is_good(v->key) ? keys.at[index_of(v->key)].destroy : NULL;
    rad__unlock(&keys.lock);
    if (destroy) destroy(v->value);
}

/* ---- Values ------------------------------------------------------------------------------------------ */

void *rad__op_local_get(rad_local_key key)
{
    const rad_locals *l = rad__my_slot("rad_local_get")->locals;
    uint32_t i = index_of(key);
    key_check(key, "rad_local_get");
    if (l == NULL || i >= l->capacity || l->values[i].key != key) return NULL;
    return l->values[i].value;
}

int rad__op_local_set(rad_local_key key, void *new)
{
    rad_slot *slot = rad__my_slot("rad_local_set");
    uint32_t i = index_of(key);
    key_check(key, "rad_local_set");
    if (slot->locals == NULL && (slot->locals = rad__alloc(1, sizeof *slot->locals)) == NULL) return RAD_ENOMEM;
    rad_locals *l = slot->locals;
    if (!RAD_GROW(&l->values, &l->capacity, i + 1)) return RAD_ENOMEM;
    l->values[i] = (value){key, new};
    return 0;
}

/* By then what was destroyed may have set others. */
static bool destroy_all(rad_locals *l)
{
    bool any = false;
    for (uint32_t i = 0; i < l->capacity; i++) {
        value v = l->values[i];
        if (v.value == NULL) continue;
        any = true;
        l->values[i].value = NULL;
        destroy_value(&v);
    }
    return any;
}

void rad__locals_end(rad_slot *slot)
{
    rad_locals *l = slot->locals;
    for (uint32_t i = 0; i < ROUNDS && destroy_all(l); i++) {
    }
    slot->locals = NULL;
    rad__free(l->values);
    rad__free(l);
}
