/* registry.c — who exists in a run: actors, objects, actions; their numbers, signatures and names. */
#include "core/kernel.h"

#include "base/alloc.h"
#include "base/prng.h"

#include <stdio.h>
#include <string.h>

/* Signatures of the two families start from different roots. */
static const uint64_t ACTOR_ROOT = 0x61637465, OBJECT_ROOT = 0x6f626a65;

void rad__kernel_error(rad_kernel *k, int code, const char *text)
{
    if (k->ended) return;
    rad__error(&k->error, code, "%s", text);
    k->outcome = RAD_OUTCOME_ERROR;
    k->ended = true;
}

static uint32_t registry_full(rad_kernel *k)
{
    rad__kernel_error(k, RAD_ENOMEM, "out of memory while a machine added actors or objects");
    return RAD_NONE;
}

uint32_t rad_actor(rad_kernel *k, uint32_t spawner, const char *role)
{
    if (!RAD_GROW(&k->actors, &k->actor_capacity, k->actor_count + 1)) return registry_full(k);
    rad_actor_entry *a = &k->actors[k->actor_count];
    bool known = spawner < k->actor_count;
    uint64_t parent = known ? k->actors[spawner].signature : ACTOR_ROOT;
    uint32_t *spawned = known ? &k->actors[spawner].actors_spawned : &k->root_actors;
    *a = (rad_actor_entry){
        .signature = rad__mix2(parent, (*spawned)++),
        .role = role,
        .spawner = known ? spawner : RAD_NONE,
        .action = RAD_NONE,
        .waits_for = RAD_NONE,
        .holder = RAD_NONE,
    };
    return k->actor_count++;
}

uint32_t rad_object(rad_kernel *k, uint32_t creator, const char *role)
{
    if (!RAD_GROW(&k->objects, &k->object_capacity, k->object_count + 1)) return registry_full(k);
    bool known = creator < k->actor_count;
    uint64_t parent = known ? k->actors[creator].signature : OBJECT_ROOT;
    uint32_t *made = known ? &k->actors[creator].objects_made : &k->root_objects;
    k->objects[k->object_count] = (rad_object_entry){
        .signature = rad__mix2(parent ^ OBJECT_ROOT, (*made)++),
        .role = role,
    };
    return k->object_count++;
}

void rad__object_called(rad_kernel *k, uint32_t object, const char *name)
{
    if (object < k->object_count) k->objects[object].name = name;
}

static uint64_t action_hash(uint32_t kind, uint32_t actor, uint32_t object, uint64_t argument)
{
    uint64_t who = (uint64_t)kind << 32 | actor;
    return rad__mix2(rad__mix2(who, object), argument);
}

void rad__actions_forget(rad_kernel *k)
{
    k->action_count = 0;
    if (++k->intern_generation != 0) return;
    /* After 2^32 runs the stamps repeat: old ones must not look new. */
    memset(k->intern_stamp, 0, k->intern_size * sizeof *k->intern_stamp);
    k->intern_generation = 1;
}

static bool intern_rehash(rad_kernel *k)
{
    uint32_t size = k->intern_size ? k->intern_size * 2 : 64;
    uint32_t *slots = rad__alloc(size, sizeof *slots);
    uint32_t *stamps = rad__alloc(size, sizeof *stamps);
    if (slots == NULL || stamps == NULL) {
        rad__free(slots);
        rad__free(stamps);
        return false;
    }
    rad__free(k->intern);
    rad__free(k->intern_stamp);
    k->intern = slots;
    k->intern_stamp = stamps;
    k->intern_size = size;
    for (uint32_t i = 0; i < k->action_count; i++) {
        uint32_t at = (uint32_t)k->actions[i].hash & (size - 1);
        while (stamps[at] == k->intern_generation) at = (at + 1) & (size - 1);
        slots[at] = i;
        stamps[at] = k->intern_generation;
    }
    return true;
}

static bool action_is(const rad_action_entry *a, uint32_t kind, uint32_t actor, uint32_t object, uint64_t argument)
{
    return a->kind == kind && a->actor == actor && a->object == object && a->argument == argument;
}

uint32_t rad_action(rad_kernel *k, uint32_t kind, uint32_t actor, uint32_t object, uint64_t argument)
{
    if (actor != RAD_NONE && actor >= k->actor_count) {
        rad__kernel_error(k, RAD_EINPUT, "the machine gives an action to an actor that does not exist");
        return RAD_NONE;
    }
    if (k->action_count * 2 >= k->intern_size && !intern_rehash(k)) return registry_full(k);
    uint64_t hash = action_hash(kind, actor, object, argument);
    uint32_t at = (uint32_t)hash & (k->intern_size - 1);
    for (; k->intern_stamp[at] == k->intern_generation; at = (at + 1) & (k->intern_size - 1)) {
        uint32_t number = k->intern[at];
        if (action_is(&k->actions[number], kind, actor, object, argument)) return number;
    }
    uint32_t number = k->action_count;
    if (!RAD_GROW(&k->actions, &k->action_capacity, number + 1)) return registry_full(k);
    if (!rad__bitset_reserve(&k->enabled, number + 1)) return registry_full(k);
    k->intern[at] = number;
    k->intern_stamp[at] = k->intern_generation;
    k->actions[number] = (rad_action_entry){
        .hash = hash,
        .argument = argument,
        .kind = kind,
        .actor = actor,
        .object = object,
        .older = RAD_NONE,
        .newer = RAD_NONE,
        .site = RAD_NONE,
        .target = object,
    };
    return k->action_count++;
}

/* ---- Names ---------------------------------------------------------------------------------------- */

/* Roles are compared as text, not by address: the compiler may or may not merge equal literals. */
static const char *role_of(const rad_kernel *k, bool actors, uint32_t number)
{
    return actors ? k->actors[number].role : k->objects[number].role;
}

static const char *own_name(const rad_kernel *k, bool actors, uint32_t number)
{
    return actors ? NULL : k->objects[number].name;
}

static void name_of(const rad_kernel *k, bool actors, uint32_t number, char name[RAD_NAME_MAX])
{
    uint32_t count = actors ? k->actor_count : k->object_count, before = 0, same = 0;
    if (number >= count) {
        snprintf(name, RAD_NAME_MAX, "-");
        return;
    }
    const char *role = role_of(k, actors, number), *own = own_name(k, actors, number);
    for (uint32_t i = 0; i < count; i++) {
        const char *other = own_name(k, actors, i);
        if (strcmp(role_of(k, actors, i), role) != 0) continue;
        if ((own == NULL) != (other == NULL) || (own && strcmp(own, other) != 0)) continue;
        same++;
        before += i < number;
    }
    if (own && same > 1)
        snprintf(name, RAD_NAME_MAX, "%.10s %.28s (%u)", role, own, (unsigned)before % 1000);
    else if (own)
        snprintf(name, RAD_NAME_MAX, "%.10s %.36s", role, own);
    else if (same > 1)
        snprintf(name, RAD_NAME_MAX, "%.32s %u", role, (unsigned)before);
    else
        snprintf(name, RAD_NAME_MAX, "%.32s", role);
}

void rad__actor_name(const rad_kernel *k, uint32_t actor, char name[RAD_NAME_MAX])
{
    name_of(k, true, actor, name);
}

void rad__object_name(const rad_kernel *k, uint32_t object, char name[RAD_NAME_MAX])
{
    name_of(k, false, object, name);
}

void rad__action_name(const rad_kernel *k, uint32_t action, char name[2 * RAD_NAME_MAX])
{
    if (action >= k->action_count) {
        snprintf(name, 2 * RAD_NAME_MAX, "action %u", (unsigned)action);
        return;
    }
    char actor[RAD_NAME_MAX];
    const rad_action_entry *a = &k->actions[action];
    const char *kind = k->machine->kind_name ? k->machine->kind_name(k->self, a->kind) : NULL;
    rad__actor_name(k, a->actor, actor);
    int used = snprintf(name, 2 * RAD_NAME_MAX, "%.40s %.20s", actor, kind ? kind : "step");
    if (a->object != RAD_NONE || a->argument != 0)
        snprintf(name + used, (size_t)(2 * RAD_NAME_MAX - used), " (%d, %llu)", (int)a->object,
                 (unsigned long long)a->argument);
}

const char *rad_oracle_name(const rad_machine *m, uint32_t oracle)
{
    static const char *const own[] = {"deadlock",       "livelock",  "crash",     "hang",
                                      "nondeterminism", "assertion", "invariant", "step-limit"};
    if (oracle < sizeof own / sizeof *own) return own[oracle];
    if (oracle < RAD_ORACLE_OWN || m->oracles == NULL) return NULL;
    for (uint32_t i = 0; m->oracles[i] != NULL; i++)
        if (RAD_ORACLE_OWN + i == oracle) return m->oracles[i];
    return NULL;
}
