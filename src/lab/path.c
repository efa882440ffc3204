/* path.c — records the path of a run: names for actors and sites, a line per step. See path.h. */
#include "lab/path.h"

#include "base/alloc.h"
#include "base/digest.h"
#include "base/prng.h"
#include "lab/json.h"
#include "os/shared.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* ---- A path in memory ------------------------------------------------------------------------------- */

void rad__path_free(rad_path *p)
{
    if (p == NULL) return;
    rad__free(p->actors);
    rad__free(p->sites);
    rad__free(p->objects);
    rad__free(p->steps);
    rad__free(p->picks);
    rad__free(p);
}

static bool copy_list(void **to, const void *from, uint32_t count, size_t size)
{
    *to = rad__alloc(count, size);
    if (*to != NULL && count > 0) memcpy(*to, from, count * size);
    return *to != NULL;
}

int rad__path_copy(rad_path **out, const rad_path *from, rad_error *error)
{
    *out = NULL;
    rad_path *to = rad__alloc(1, sizeof *to);
    if (to == NULL) return rad__error_memory(error);
    void *actors = NULL, *sites = NULL, *objects = NULL, *steps = NULL, *picks = NULL;
    bool done = copy_list(&actors, from->actors, from->actor_count, sizeof *from->actors) &&
                copy_list(&sites, from->sites, from->site_count, sizeof *from->sites) &&
                copy_list(&objects, from->objects, from->object_count, sizeof *from->objects) &&
                copy_list(&steps, from->steps, from->step_count, sizeof *from->steps) &&
                copy_list(&picks, from->picks, from->pick_count, sizeof *from->picks);
    *to = *from;
    to->actors = actors;
    to->sites = sites;
    to->objects = objects;
    to->steps = steps;
    to->picks = picks;
    if (!done) {
        rad__path_free(to);
        return rad__error_memory(error);
    }
    *out = to;
    return 0;
}

uint32_t rad__path_find_actor(const rad_path *p, const char *name)
{
    for (uint32_t i = 0; i < p->actor_count; i++)
        if (strcmp(p->actors[i], name) == 0) return i;
    return RAD_NONE;
}

uint32_t rad__path_find_site(const rad_path *p, const char *name)
{
    for (uint32_t i = 0; i < p->site_count; i++)
        if (strcmp(p->sites[i], name) == 0) return i;
    return RAD_NONE;
}

bool rad__path_same_object(const char *one, const char *two)
{
    const char *a = strstr(one, RAD_PATH_NAMED), *b = strstr(two, RAD_PATH_NAMED);
    size_t size = a ? (size_t)(a - one) : strlen(one), other = b ? (size_t)(b - two) : strlen(two);
    return size == other && memcmp(one, two, size) == 0 && (!a || !b || strcmp(a, b) == 0);
}

static uint32_t path_find_object(const rad_path *p, const char *role)
{
    for (uint32_t i = 0; i < p->object_count; i++)
        if (strcmp(p->objects[i], role) == 0) return i;
    return RAD_NONE;
}

/* ---- Names ------------------------------------------------------------------------------------------ */

static void name_settle(char *name)
{
    rad__text_clean(name);
    rad__text_plain(name);
}

/* "deque_steal: load 2 (deque.c:117)", "takes lock a (line 7)": an edit above it changes the line, and nothing else. */
static void drop_line(char *name)
{
    static const char words[] = " (line ";
    size_t length = strlen(name), at = length, known = sizeof words - 1;
    if (length < 4 || name[length - 1] != ')') return;
    at--;
    while (at > 0 && isdigit((unsigned char)name[at - 1])) at--;
    if (at == length - 1 || at == 0) return;
    if (at > known && memcmp(name + at - known, words, known) == 0) {
        name[at - known] = 0;
        return;
    }
    if (name[at - 1] != ':' || strrchr(name, '(') == NULL) return;
    name[at - 1] = ')';
    name[at] = 0;
}

/* The machine's name for a site, without its line; "" when it has none. */
static void site_base(const rad_kernel *k, uint32_t site, char name[RAD_PATH_SITE_MAX])
{
    bool named = site != RAD_NONE && k->machine->site_name != NULL;
    const char *text = named ? k->machine->site_name(k->self, site) : NULL;
    snprintf(name, RAD_PATH_SITE_MAX, "%s", text ? text : "");
    name_settle(name);
    drop_line(name);
}

static void site_text(const rad_kernel *k, const rad_action_entry *a, uint32_t site, char name[RAD_PATH_SITE_MAX])
{
    const char *kind = k->machine->kind_name ? k->machine->kind_name(k->self, a->kind) : NULL;
    char base[RAD_PATH_SITE_MAX];
    site_base(k, site, base);
    int used = 0;
    if (a->kind != 0 || base[0] == 0)
        used = snprintf(name, RAD_PATH_SITE_MAX, "%.40s%s", kind ? kind : "step", base[0] ? ": " : "");
    used += snprintf(name + used, (size_t)(RAD_PATH_SITE_MAX - used), "%.*s", RAD_PATH_SITE_MAX - 24 - used, base);
    if (a->actor == RAD_NONE && a->argument != 0) /* nobody's actions differ by nothing else */
        snprintf(name + used, (size_t)(RAD_PATH_SITE_MAX - used), " %llu", (unsigned long long)a->argument);
    name_settle(name);
}

bool rad__path_site_exists(const rad_kernel *k, const char *name)
{
    char base[RAD_PATH_SITE_MAX];
    if (k->machine->site_name == NULL) return true;
    for (uint32_t i = 0; i < RAD_PATH_NAMES_MAX; i++) {
        if (k->machine->site_name(k->self, i) == NULL) return false;
        site_base(k, i, base);
        /* The name may have a kind before it; without a site it is one. */
        const char *colon = strstr(name, ": ");
        if (base[0] && (strcmp(base, name) == 0 || (colon && strcmp(base, colon + 2) == 0))) return true;
    }
    return true;
}

/* Both plus one: memory that is new, and an action never announced, is RAD_NONE. */
typedef struct rad_path_place {
    uint32_t site, object;
} rad_path_place;

/* ---- The recorder ------------------------------------------------------------------------------------ */

int rad__path_open(rad_path_recorder *r, rad_error *error)
{
    void *mapping = NULL;
    size_t head = 4096;
    size_t actors = (size_t)RAD_PATH_NAMES_MAX * RAD_PATH_ACTOR_MAX;
    size_t sites = (size_t)RAD_PATH_NAMES_MAX * RAD_PATH_SITE_MAX;
    size_t objects = (size_t)RAD_PATH_NAMES_MAX * RAD_PATH_OBJECT_MAX;
    size_t steps = (size_t)RAD_PATH_STEPS_MAX * sizeof(rad_path_step);
    size_t picks = (size_t)RAD_PATH_PICKS_MAX * sizeof(rad_path_pick);
    *r = (rad_path_recorder){.mapping_size = head + actors + sites + objects + steps + picks, .deadly = UINT64_MAX};
    int code = rad__os_shared_map(&mapping, r->mapping_size, error);
    if (code != 0) return code;
    char *at = (char *)mapping + head;
    r->shared = mapping;
    r->shared->path.actors = (void *)at;
    r->shared->path.sites = (void *)(at += actors);
    r->shared->path.objects = (void *)(at += sites);
    r->shared->path.steps = (void *)(at += objects);
    r->shared->path.picks = (void *)(at + steps);
    return 0;
}

void rad__path_close(rad_path_recorder *r)
{
    rad__os_shared_unmap(r->shared, r->mapping_size);
    rad__free(r->announced);
    rad__free(r->fresh);
    rad__free(r->actor_of);
    rad__map64_free(&r->site_of);
    *r = (rad_path_recorder){.deadly = UINT64_MAX};
}

void rad__path_begin(rad_path_recorder *r)
{
    rad_path *p = &r->shared->path;
    p->actor_count = p->site_count = p->object_count = p->step_count = p->pick_count = 0;
    r->shared->full = false;
    if (r->announced_capacity) memset(r->announced, 0, r->announced_capacity * sizeof *r->announced);
    if (r->actor_capacity) memset(r->actor_of, 0, r->actor_capacity * sizeof *r->actor_of);
    rad__map64_clear(&r->site_of);
    r->fresh_count = r->picks_kept = 0;
    r->chosen = false;
}

static void path_full(rad_path_recorder *r)
{
    r->shared->full = true;
}

static void path_memory(rad_kernel *k)
{
    rad__kernel_error(k, RAD_ENOMEM, "out of memory while recording a path");
}

static void announce_now(rad_path_recorder *r, rad_kernel *k, uint32_t action)
{
    if (RAD_GROW(&r->announced, &r->announced_capacity, action + 1))
        r->announced[action] = (rad_path_place){k->actions[action].site + 1, k->actions[action].target + 1};
    else
        path_memory(k);
}

void rad__path_announced(rad_path_recorder *r, rad_kernel *k, uint32_t action)
{
    if (k->current == RAD_NONE) /* reset */
        announce_now(r, k, action);
    else if (RAD_GROW(&r->fresh, &r->fresh_capacity, r->fresh_count + 1))
        r->fresh[r->fresh_count++] = action;
    else
        path_memory(k);
}

/* A name that is too long keeps its end, which tells actors apart, and a number for the rest. */
static void actor_text(const rad_kernel *k, uint32_t actor, const char *spawner, char name[RAD_PATH_ACTOR_MAX])
{
    char own[RAD_PATH_ACTOR_MAX / 2 + 8]; /* a role, a blank and a number */
    const rad_actor_entry *a = &k->actors[actor];
    uint32_t ordinal = 0;
    for (uint32_t i = 0; i < actor; i++)
        ordinal += k->actors[i].spawner == a->spawner && strcmp(k->actors[i].role, a->role) == 0;
    snprintf(own, sizeof own, ordinal ? "%.40s %u" : "%.40s", a->role, (unsigned)ordinal);
    size_t length = strlen(spawner);
    int used = 0;
    if (length > 0 && length + 1 + strlen(own) < RAD_PATH_ACTOR_MAX)
        used = snprintf(name, RAD_PATH_ACTOR_MAX, "%s/", spawner);
    else if (length > 0)
        used = snprintf(name, RAD_PATH_ACTOR_MAX, "#%016llx/", (unsigned long long)rad__digest_of(spawner, length).low);
    snprintf(name + used, (size_t)(RAD_PATH_ACTOR_MAX - used), "%s", own);
    name_settle(name);
}

uint32_t rad__path_actor(rad_path_recorder *r, rad_kernel *k, uint32_t actor)
{
    rad_path *p = &r->shared->path;
    uint32_t slot = actor < k->actor_count ? actor + 1 : 0; /* 0: nobody */
    if (!RAD_GROW(&r->actor_of, &r->actor_capacity, slot + 1)) {
        path_memory(k);
        return 0;
    }
    if (r->actor_of[slot] != 0) return r->actor_of[slot] - 1;
    if (p->actor_count == RAD_PATH_NAMES_MAX) {
        path_full(r);
        return 0;
    }
    if (slot == 0) {
        snprintf(p->actors[p->actor_count], RAD_PATH_ACTOR_MAX, "outside");
    } else {
        uint32_t spawner = k->actors[actor].spawner;
        const char *before = "";
        if (spawner < actor) before = p->actors[rad__path_actor(r, k, spawner)];
        if (p->actor_count == RAD_PATH_NAMES_MAX) return 0; /* and it is full */
        actor_text(k, actor, before, p->actors[p->actor_count]);
    }
    r->actor_of[slot] = ++p->actor_count;
    return p->actor_count - 1;
}

/* The index of a name, which is added if it is new; remembered under `memo`. */
static uint32_t site_add(rad_path_recorder *r, rad_kernel *k, uint64_t memo, const char *name)
{
    rad_path *p = &r->shared->path;
    uint32_t site = rad__path_find_site(p, name);
    if (site == RAD_NONE && p->site_count == RAD_PATH_NAMES_MAX) {
        path_full(r);
        return 0;
    }
    if (site == RAD_NONE) {
        site = p->site_count++;
        snprintf(p->sites[site], RAD_PATH_SITE_MAX, "%s", name);
    }
    if (!rad__map64_add(&r->site_of, memo, site)) path_memory(k);
    return site;
}

uint32_t rad__path_site(rad_path_recorder *r, rad_kernel *k, uint32_t action)
{
    const rad_action_entry *a = &k->actions[action];
    char name[RAD_PATH_SITE_MAX];
    uint32_t site = action < r->announced_capacity ? r->announced[action].site - 1 : RAD_NONE;
    uint64_t memo = rad__mix2((uint64_t)a->kind << 32 | site, a->actor == RAD_NONE ? a->argument + 1 : 0);
    uint32_t known = rad__map64_find(&r->site_of, memo);
    if (known != RAD_NONE) return known;
    site_text(k, a, site, name);
    return site_add(r, k, memo, name);
}

uint32_t rad__path_object(rad_path_recorder *r, rad_kernel *k, uint32_t action)
{
    rad_path *p = &r->shared->path;
    char role[RAD_PATH_OBJECT_MAX] = "";
    uint32_t object = action < r->announced_capacity ? r->announced[action].object - 1 : RAD_NONE;
    if (object < k->object_count) {
        const rad_object_entry *o = &k->objects[object];
        snprintf(role, sizeof role, o->name ? "%.30s" RAD_PATH_NAMED "%.30s" : "%.63s", o->role, o->name);
    }
    name_settle(role);
    uint32_t known = path_find_object(p, role);
    if (known != RAD_NONE) return known;
    if (p->object_count == RAD_PATH_NAMES_MAX) {
        path_full(r);
        return 0;
    }
    snprintf(p->objects[p->object_count], RAD_PATH_OBJECT_MAX, "%s", role);
    return p->object_count++;
}

uint32_t rad__path_pick_site(rad_path_recorder *r, rad_kernel *k, enum rad_pick_kind kind, uint32_t site)
{
    static const char *const kinds[RAD_PICK_KINDS] = {"action", "case", "wake", "value", "fault", "read"};
    char name[RAD_PATH_SITE_MAX], base[RAD_PATH_SITE_MAX];
    uint64_t memo = rad__mix2((uint64_t)kind << 32 | site, UINT64_MAX);
    uint32_t known = rad__map64_find(&r->site_of, memo);
    if (known != RAD_NONE) return known;
    site_base(k, site, base);
    snprintf(name, sizeof name, "%s%s%.*s", kinds[kind], base[0] ? ": " : "", RAD_PATH_SITE_MAX - 12, base);
    name_settle(name);
    return site_add(r, k, memo, name);
}

static void path_step(rad_path_recorder *r, rad_kernel *k, uint32_t action)
{
    rad_path *p = &r->shared->path;
    if (p->step_count == RAD_PATH_STEPS_MAX) {
        path_full(r);
        return;
    }
    p->steps[p->step_count] = (rad_path_step){
        .actor = rad__path_actor(r, k, k->actions[action].actor),
        .site = rad__path_site(r, k, action),
        .object = rad__path_object(r, k, action),
        .chosen = r->chosen,
    };
    p->step_count++;
    r->chosen = false;
}

/* The step to come would kill the process: who would have made it is known, and that is enough. */
static void path_stop(rad_path_recorder *r, rad_kernel *k, uint32_t action)
{
    path_step(r, k, action);
    rad__kernel_diverge(k, "the next step is deadly");
}

void rad__path_decided(rad_path_recorder *r, rad_kernel *k, const rad_decision *d, uint32_t chosen)
{
    rad_path *p = &r->shared->path;
    if (d->kind == RAD_PICK_ACTION) {
        r->chosen = chosen != 0;
        if (k->step == r->deadly) path_stop(r, k, rad__action_at(k, d, chosen));
        return;
    }
    if (p->pick_count == RAD_PATH_PICKS_MAX) {
        path_full(r);
        return;
    }
    p->picks[p->pick_count++] = (rad_path_pick){
        .step = p->step_count,
        .site = rad__path_pick_site(r, k, d->kind, d->site),
        .value = chosen,
    };
    if (chosen != 0) r->picks_kept = p->pick_count;
}

void rad__path_ran(rad_path_recorder *r, rad_kernel *k, uint32_t action)
{
    rad_path *p = &r->shared->path;
    path_step(r, k, action);
    p->pick_count = r->picks_kept;
    for (uint32_t i = 0; i < r->fresh_count; i++) announce_now(r, k, r->fresh[i]);
    r->fresh_count = 0;
    if (k->step + 1 == r->deadly && k->enabled.count == 1 && !k->ended) path_stop(r, k, k->oldest);
}
