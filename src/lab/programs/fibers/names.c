/* names.c — objects by the order in which they were first met, functions by the program's symbols.
 *
 * An address says only whether two calls are about the same thing; numbers, order and digests do not depend on it.
 * Memory is used again: a call that makes an object (rad_chan_create, rad_nursery_open, …) begins a new one, and so
 * does one of another kind at the same address. */
#define _GNU_SOURCE
#include "lab/programs/fibers/stage.h"

#include "base/alloc.h"
#include "lab/programs/fibers/files.h"
#include "lab/programs/fibers/tell.h"
#include "lab/programs/watched/watched.h"
#include "rt/sync.h"

#include <link.h>
#include <stdio.h>
#include <string.h>

/* ---- Objects ------------------------------------------------------------------------------------------- */

enum { OBJECTS_MAX = 1 << 16 };

typedef struct entry {
    const void *address; /* NULL: free */
    uint8_t kind;        /* enum rad_kind */
    uint32_t number;
} entry;

/* Open addressing, and what there is in the order of numbers. */
static entry objects[OBJECTS_MAX];
static struct {
    const char *role, *name;
    uint32_t creator;
    const void *caller; /* of the creator */
    uint32_t users[2];  /* the last two */
    uint32_t runner;    /* a fiber: its number */
} made[OBJECTS_MAX / 2];
static uint32_t object_count;

enum { KIND_SIGNAL = 100, KIND_STREAM }; /* no objects of raddle's */
/* Of watched programs: no enum rad_kind. */
enum { KIND_MEMORY = 200, MEMORIES_MAX = OBJECTS_MAX / 4 };

static const char *kind_text(uint8_t kind)
{
    if (kind == KIND_SIGNAL) return "signal";
    if (kind == KIND_STREAM) return "stream";
    static const char *const texts[] = {
#define KIND_ROW(name, text) text,
        RAD_KIND_LIST(KIND_ROW)
#undef KIND_ROW
    };
    if (kind == KIND_MEMORY) return "memory";
    return kind < sizeof texts / sizeof *texts && *texts[kind] ? texts[kind] : "object";
}

static bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* Operations are called after what they work on. */
static uint8_t site_kind_of(uint32_t site)
{
    if (site >= RAD_AT_read && site <= RAD_AT_fd_close) return RAD_KIND_FILE;
    static const struct {
        const char *start;
        uint8_t kind;
    } rows[] = {{"pthread_mutex_", RAD_KIND_MUTEX},
                {"pthread_relock", RAD_KIND_MUTEX},
                {"pthread_spin_", RAD_KIND_MUTEX},
                {"pthread_cond_", RAD_KIND_CONDITION},
                {"pthread_rwlock_", RAD_KIND_RWLOCK},
                {"pthread_barrier_", RAD_KIND_BARRIER},
                {"pthread_once", RAD_KIND_ONCE},
                {"pthread_", RAD_KIND_FIBER},
                {"sem_", RAD_KIND_SEMAPHORE},
                {"futex_", RAD_KIND_NOTHING},
                {"sig", KIND_SIGNAL},
                {"flockfile", KIND_STREAM},
                {"funlockfile", KIND_STREAM},
                {"mutex_", RAD_KIND_MUTEX},
                {"rwlock_", RAD_KIND_RWLOCK},
                {"cond_", RAD_KIND_CONDITION},
                {"semaphore_", RAD_KIND_SEMAPHORE},
                {"waitgroup_", RAD_KIND_WAIT_GROUP},
                {"once_", RAD_KIND_ONCE},
                {"barrier_", RAD_KIND_BARRIER},
                {"pool_", RAD_KIND_STOCK},
                {"nursery_", RAD_KIND_NURSERY},
                {"talk_", RAD_KIND_NOTHING},
                {"timer_", RAD_KIND_TIMER},
                {"ticker_", RAD_KIND_TIMER},
                {"join", RAD_KIND_FIBER},
                {"release", RAD_KIND_FIBER},
                {"cancel", RAD_KIND_FIBER},
                {"name_of", RAD_KIND_FIBER},
                {"end", RAD_KIND_FIBER},
                {"begin", RAD_KIND_FIBER}};
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (begins_with(rad__site_name(site), rows[i].start)) return rows[i].kind;
    return RAD_KIND_CHANNEL;
}

static uint8_t site_kinds[RAD_AT_COUNT];

/* Choices of a program are about nothing that it made. */
static inline uint8_t site_kind(uint32_t site)
{
    if (site >= RAD_AT_LOAD && site <= RAD_AT_WRITE) return KIND_MEMORY;
    return site < RAD_AT_COUNT ? site_kinds[site] : RAD_KIND_NOTHING;
}

void rad__names_open(void)
{
    for (uint32_t i = 0; i < RAD_AT_COUNT; i++) site_kinds[i] = site_kind_of(i);
}

static entry *object_place(const void *address)
{
    uint64_t bits = (uintptr_t)address; /* only where to look for the same one. tidy: address ok */
    uint32_t at = (uint32_t)((bits >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 48) % OBJECTS_MAX;
    while (objects[at].address != NULL && objects[at].address != address) at = (at + 1) % OBJECTS_MAX;
    return &objects[at];
}

static void object_tell(uint32_t number)
{
    rad__tell_object(made[number].creator, made[number].role);
    if (made[number].name) rad__tell_called(number, made[number].name);
    if (!rad__tell_streams()) return;
    rad__frames_tell_made(number, made[number].caller);
    if (made[number].runner != RAD_NONE) rad__frames_tell_started(made[number].runner, made[number].caller);
}

static void object_new(entry *o, const void *address, uint8_t kind, const char *role, const void *variable)
{
    if (object_count == OBJECTS_MAX / 2)
        rad__program_refused("rad_chan_create", "more than 32,768 channels, locks and the like in one run");
    const rad_runner *creator = rad__stage.current;
    *o = (entry){address, kind, object_count++};
    made[o->number].role = role;
    made[o->number].name = kind == KIND_MEMORY ? rad__watched_variable(address) : rad__variable_at(variable);
    made[o->number].users[0] = made[o->number].users[1] = RAD_NONE;
    made[o->number].runner = RAD_NONE;
    made[o->number].creator = creator ? creator->number : RAD_NONE;
    made[o->number].caller = creator ? creator->caller : NULL;
    if (!rad__stage.prefix) object_tell(o->number);
}

static inline uint32_t object_number(const void *address, uint8_t kind)
{
    static const char rest; /* of memory, when much of it is used */
    if (kind == KIND_MEMORY && object_count >= MEMORIES_MAX) address = &rest;
    entry *o = object_place(address);
    if (RAD_UNLIKELY(o->address == NULL || o->kind != kind)) object_new(o, address, kind, kind_text(kind), address);
    return o->number;
}

static void object_used(uint32_t number)
{
    uint32_t *users = made[number].users, who = rad__stage.current ? rad__stage.current->number : 0;
    if (users[0] == who) return;
    users[1] = users[0];
    users[0] = who;
}

void rad__object_users(uint32_t object, uint32_t users[2])
{
    users[0] = made[object].users[0];
    users[1] = made[object].users[1];
}

uint32_t rad__object_at(const void *address, uint32_t site)
{
    if (address == NULL) return RAD_NONE;
    uint32_t number = object_number(address, site_kind(site));
    object_used(number);
    return number;
}

void rad__object_begins(const void *address, uint32_t site, const char *role, const void *variable)
{
    uint8_t kind = site_kind(site);
    object_new(object_place(address), address, kind, role ? role : kind_text(kind), variable);
}

void rad__object_runs(const void *slot, uint32_t runner)
{
    uint32_t number = object_place(slot)->number;
    made[number].runner = runner;
    if (!rad__stage.prefix && rad__tell_streams()) rad__frames_tell_started(runner, made[number].caller);
}

void rad__objects_tell(void)
{
    for (uint32_t i = 0; i < object_count; i++) object_tell(i);
}

/* ---- Who waits for what -------------------------------------------------------------------------------- */

uint32_t rad__runner_of_strand(uint64_t who)
{
    const entry *o = object_place((const void *)(uintptr_t)who); /* tidy: address ok: as above */
    return who != 0 && o->address != NULL && o->kind == RAD_KIND_FIBER ? made[o->number].runner : RAD_NONE;
}

/* Where the program's object begins that has this waitable in it. Those of raddle/sync.h, but the condition, have a
 * word before it. */
static const void *object_of_waitable(const rad_waitable *o)
{
    switch ((enum rad_kind)o->kind) {
    case RAD_KIND_MUTEX:
    case RAD_KIND_RWLOCK:
    case RAD_KIND_SEMAPHORE:
    case RAD_KIND_WAIT_GROUP:
    case RAD_KIND_ONCE:
    case RAD_KIND_BARRIER: return (const char *)o - sizeof(uint64_t);
    case RAD_KIND_FIBER: return (const char *)o - offsetof(rad_slot, done);
    default: return o;
    }
}

void rad__fiber_waits(const rad_runner *r, uint32_t *object, uint32_t *holder)
{
    uint64_t what = atomic_load_explicit(&r->slot->waits_for, memory_order_relaxed);
    uint8_t kind = (uint8_t)(what >> 56);
    uint64_t at = what << 8 >> 8;
    const rad_waitable *o = (const rad_waitable *)(uintptr_t)at; /* tidy: address ok: as it was stored */
    *object = *holder = RAD_NONE;
    if (kind == RAD_KIND_SEVERAL) {
        o = ((const rad_clause *)(const void *)o)->object;
        kind = o->kind;
    }
    switch ((enum rad_kind)kind) {
    case RAD_KIND_NOTHING:
    case RAD_KIND_ROOM:
    case RAD_KIND_BLOCKING_CALL: return;
    case RAD_KIND_FILE:
    case RAD_KIND_DESCRIPTOR: *object = rad__object_at(&rad__files, RAD_AT_read); return;
    case RAD_KIND_NURSERY: *object = rad__object_at(r->object, RAD_AT_nursery_wait); return;
    case RAD_KIND_MUTEX: *holder = rad__runner_of_strand(rad__mutex_holder(o)); break;
    case RAD_KIND_RWLOCK: {
        uint64_t readers;
        const void *lock;
        *holder = rad__runner_of_strand(rad__rwlock_holders(o, &readers, &lock));
        break;
    }
    case RAD_KIND_ONCE: *holder = rad__runner_of_strand(rad__once_runner(o)); break;
    default: break;
    }
    *object = object_number(object_of_waitable(o), kind);
    const char *name = kind == RAD_KIND_FIBER ? NULL : rad__waitable_name(o);
    if (name != NULL && !rad__stage.prefix) rad__tell_called(*object, name);
}

/* ---- Functions ----------------------------------------------------------------------------------------- */

/* Kept over runs, in memory that children share: roles have to outlive a run. */
typedef struct function {
    rad_fn fn;
    char name[40];
} function;

enum { FUNCTIONS_MAX = 1024 };

static struct {
    uint32_t count;
    function at[FUNCTIONS_MAX];
} * functions;

/* Of a function of C++ without its parameters. */
static size_t role_size(const char *name)
{
    const char *at = strchr(name, '(');
    return at == NULL || at == name || at[-1] == ':' ? strlen(name) : (size_t)(at - name);
}

/* What rad_main starts is a function of ours, which calls the program's. */
static void function_name(function *f)
{
    uintptr_t address = (uintptr_t)f->fn; /* only compared. tidy: address ok */
    struct dl_phdr_info info;
    const char *name = rad__file_at(&info, address) ? rad__file_function(&info, address) : NULL;
    if (name != NULL) snprintf(f->name, sizeof f->name, "%.*s", (int)role_size(name), name);
    if (strcmp(f->name, "first_main") == 0) snprintf(f->name, sizeof f->name, "first");
    if (f->name[0] == 0) snprintf(f->name, sizeof f->name, "fiber"); /* it was stripped */
}

const char *rad__address_name(const void *code, const char *unknown)
{
    rad_fn fn;
    memcpy(&fn, &code, sizeof fn);
    const char *name = rad__function_name(fn);
    return strcmp(name, "fiber") == 0 ? unknown : name;
}

const char *rad__function_name(rad_fn fn)
{
    if (functions == NULL) functions = rad__alloc(1, sizeof *functions);
    if (functions == NULL) return "fiber";
    for (uint32_t i = 0; i < functions->count; i++)
        if (functions->at[i].fn == fn) return functions->at[i].name;
    if (functions->count == FUNCTIONS_MAX) return "fiber";
    function *f = &functions->at[functions->count++];
    f->fn = fn;
    function_name(f);
    return f->name;
}
