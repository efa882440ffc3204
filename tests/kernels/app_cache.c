/* A cache in front of a slow backend. Callers that miss the same key share one load; a writer changes the backend and
 * then drops the key from the cache.
 * Goes wrong: a load that has read the old value puts it into the cache after the writer has dropped the key, and the
 * old value stays. Repaired, a drop makes the loads that are under way stale: their value is given to those who wait
 * for them, but it is not kept. */
#include "kernel.h"

enum { KEYS = 2, READERS = 2 };

typedef struct entry {
    bool cached, loading;
    int value;
    unsigned drops, loads; /* how often it was dropped; how many loads have ended */
    int loaded;            /* by the last of them */
    rad_cond load_ended;
} entry;

static struct {
    rad_mutex lock;
    entry entries[KEYS];
    int hits, misses, shared;
} cache;

static struct {
    rad_rwlock lock;
    int values[KEYS];
    int loads;
} backend;

static int load(int key)
{
    rad_rwlock_read(&backend.lock);
    int value = backend.values[key];
    rad_rwlock_unlock(&backend.lock);
    return value;
}

static void write_backend(int key, int value)
{
    rad_rwlock_write(&backend.lock);
    backend.values[key] = value;
    rad_rwlock_unlock(&backend.lock);
}

static void drop(int key)
{
    rad_mutex_lock(&cache.lock);
    cache.entries[key].cached = false;
    cache.entries[key].drops++;
    rad_mutex_unlock(&cache.lock);
}

/* Under the lock, which it leaves while it loads. */
static int load_entry(entry *e, int key)
{
    unsigned drops = e->drops;
    e->loading = true;
    cache.misses++;
    rad_mutex_unlock(&cache.lock);
    int value = load(key);
    rad_mutex_lock(&cache.lock);
    if (!fixed || drops == e->drops) {
        e->cached = true;
        e->value = value;
    }
    e->loading = false;
    e->loaded = value;
    e->loads++;
    rad_cond_broadcast(&e->load_ended);
    return value;
}

/* Under the lock: what the load under way has brought. */
static int share_load(entry *e)
{
    unsigned loads = e->loads;
    cache.shared++;
    while (e->loads == loads) RAD_IGNORE(rad_cond_wait(&e->load_ended, &cache.lock, RAD_FOREVER));
    return e->loaded;
}

static int get(int key)
{
    entry *e = &cache.entries[key];
    int value;
    rad_mutex_lock(&cache.lock);
    if (e->cached) {
        cache.hits++;
        value = e->value;
    } else if (e->loading) {
        value = share_load(e);
    } else {
        value = load_entry(e, key);
    }
    rad_mutex_unlock(&cache.lock);
    return value;
}

static int reads(void *unused)
{
    (void)unused;
    for (int key = 0; key < KEYS; key++) {
        int value = get(key);
        CHECK(value == 10 + key || value == 20 + key);
    }
    return 0;
}

static int writes(void *unused)
{
    (void)unused;
    write_backend(0, 20);
    drop(0);
    return 0;
}

static int start(void *unused)
{
    rad_nursery n;
    (void)unused;
    for (int key = 0; key < KEYS; key++) backend.values[key] = 10 + key;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < READERS; i++) rad_nursery_go(&n, reads, NULL);
    rad_nursery_go(&n, writes, NULL);
    int code = rad_nursery_wait(&n);
    CHECK(get(0) == 20); /* the write was before this */
    CHECK(get(1) == 11);
    CHECK(cache.hits + cache.misses + cache.shared == READERS * KEYS + 2);
    return code;
}
