/* blame.c — see blame.h. */
#include "lab/blame.h"

#include "base/alloc.h"
#include "core/kernel.h"
#include "lab/json.h"
#include "lab/programs/fibers/sites.h"

#include <stdio.h>
#include <string.h>

enum { WOKEN_MAX = 4, LINES_MAX = 24, LEAKS_MAX = 4, TEXT_MAX = 600 };

/* One operation. */
typedef struct deed {
    uint64_t step;
    uint32_t actor, site, object;
    bool waits; /* it could not be done: the actor waits */
    uint32_t woken_count, woken[WOKEN_MAX];
} deed;

typedef struct doing {
    uint32_t site, object; /* what it does next */
    bool waits;
    uint32_t waits_for;
    uint64_t since; /* step */
} doing;

struct rad_blame {
    deed *deeds;
    uint32_t count, capacity;
    doing *actors;
    uint32_t actor_capacity;
    uint32_t current; /* actor; RAD_NONE: none yet */
    uint64_t step;
    bool failed; /* no memory */
};

rad_blame *rad__blame_open(void)
{
    rad_blame *b = rad__alloc(1, sizeof *b);
    if (b) b->current = RAD_NONE;
    return b;
}

void rad__blame_clear(rad_blame *b)
{
    rad__free(b->deeds);
    rad__free(b->actors);
    *b = (rad_blame){.current = RAD_NONE};
}

void rad__blame_close(rad_blame *b)
{
    if (b == NULL) return;
    rad__blame_clear(b);
    rad__free(b);
}

/* ---- What the program told ---------------------------------------------------------------------------------- */

/* NULL: no memory. */
static doing *actor_at(rad_blame *b, uint32_t actor)
{
    uint32_t before = b->actor_capacity;
    if (actor >= RAD_NONE / 2 || !RAD_GROW(&b->actors, &b->actor_capacity, actor + 1)) {
        b->failed = true;
        return NULL;
    }
    for (uint32_t i = before; i < b->actor_capacity; i++)
        b->actors[i] = (doing){RAD_NONE, RAD_NONE, false, RAD_NONE, 0};
    return &b->actors[actor];
}

static deed *add_deed(rad_blame *b, uint32_t object)
{
    const doing *d = actor_at(b, b->current);
    if (d == NULL || !RAD_GROW(&b->deeds, &b->capacity, b->count + 1)) {
        b->failed = true;
        return NULL;
    }
    b->deeds[b->count] = (deed){.step = b->step, .actor = b->current, .site = d->site, .object = object};
    return &b->deeds[b->count++];
}

void rad__blame_step(rad_blame *b, uint64_t step, uint32_t actor)
{
    const doing *d = actor_at(b, actor);
    b->current = actor;
    b->step = step;
    if (d && d->object != RAD_NONE) add_deed(b, d->object);
}

/* In the step of another one: it was woken there. */
static void woken(rad_blame *b, uint32_t actor)
{
    doing *d = actor_at(b, actor);
    if (d == NULL || !d->waits) return;
    bool by_partner = false;
    for (uint32_t i = b->count; i-- > 0 && b->deeds[i].step == b->step;) {
        deed *by = &b->deeds[i];
        if (by->object != d->waits_for) continue;
        by_partner = true;
        if (by->woken_count < WOKEN_MAX) by->woken[by->woken_count++] = actor;
    }
    for (uint32_t i = b->count; by_partner && i-- > 0;) { /* so what it waited for was done */
        if (b->deeds[i].actor != actor || b->deeds[i].object != d->waits_for) continue;
        b->deeds[i].waits = false;
        break;
    }
    d->waits = false;
}

static void waits(rad_blame *b, uint32_t actor, uint32_t object)
{
    doing *d = actor_at(b, actor);
    if (d == NULL) return;
    /* A thread that is signalled waits for its mutex from then on. */
    if (actor != b->current && d->waits_for != object) woken(b, actor);
    d->waits = true;
    d->waits_for = object;
    d->since = b->step;
    for (uint32_t i = b->count; i-- > 0 && b->deeds[i].step == b->step;)
        if (b->deeds[i].actor == actor) b->deeds[i].waits = true;
}

void rad__blame_take(rad_blame *b, const rad_record *r)
{
    doing *d;
    switch ((enum rad_stream_what)r->what) {
    case RAD_STREAM_ANNOUNCE:
        d = actor_at(b, r->a);
        if (d) {
            d->site = r->b;
            d->object = r->c;
        }
        break;
    case RAD_STREAM_TOUCH:
        if (b->current != RAD_NONE) add_deed(b, r->a);
        break;
    case RAD_STREAM_ENABLE: woken(b, r->a); break;
    case RAD_STREAM_WAIT: waits(b, r->a, r->b); break;
    default: break;
    }
}

/* ---- Words ---------------------------------------------------------------------------------------------------- */

typedef struct words {
    const rad_blame *b;
    const rad_kernel *k;
    rad_places *p;
    const char *kind; /* of what waits: fiber or thread */
    char text[TEXT_MAX];
    size_t used;
} words;

static void say(words *w, const char *format, ...) RAD_PRINTF(2, 3);
static void say(words *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int size = vsnprintf(w->text + w->used, sizeof w->text - w->used, format, args);
    va_end(args);
    if (size > 0) w->used += (size_t)size;
    if (w->used >= sizeof w->text) w->used = sizeof w->text - 1;
}

static void say_place(words *w, const char *lead, const rad_source_place *at)
{
    if (at == NULL) return;
    const char *slash = strrchr(at->file, '/');
    say(w, "%s%.60s:%u", lead, slash ? slash + 1 : at->file, at->line);
}

/* "one at step 6, workers.c:12". */
static void say_who(words *w, const deed *d)
{
    char name[RAD_NAME_MAX];
    rad__actor_name(w->k, d->actor, name);
    say(w, "%s at step %llu", name, (unsigned long long)d->step);
    say_place(w, ", ", rad__places_step_at(w->p, d->step));
}

/* What became of the one that could have done it again. */
static void say_where_now(words *w, uint32_t actor)
{
    const rad_actor_entry *a = &w->k->actors[actor];
    char name[RAD_NAME_MAX], object[RAD_NAME_MAX];
    rad__actor_name(w->k, actor, name);
    rad__object_name(w->k, a->waits_for, object);
    if (a->ended)
        say(w, "; %s has ended", name);
    else if (a->waiting && a->waits_for != RAD_NONE)
        say(w, "; %s now waits for %s", name, object);
}

static bool is_one_of(uint32_t site, const char *const *names)
{
    const char *own = rad__site_name(site);
    for (; own && *names; names++)
        if (strcmp(own, *names) == 0) return true;
    return false;
}

/* The last one of these operations on the object, by anybody but `but`, that was done; NULL: there was none. */
static const deed *last_deed(const rad_blame *b, uint32_t object, const char *const *sites, uint32_t but)
{
    for (uint32_t i = b->count; i-- > 0;) {
        const deed *d = &b->deeds[i];
        if (d->object == object && !d->waits && d->actor != but && is_one_of(d->site, sites)) return d;
    }
    return NULL;
}

/* Its partner may have waited, and was woken by what it waited for: then that one got it. */
static void say_received(words *w, const deed *sent, const char *const *receiving, uint32_t but, const char *verb)
{
    char name[RAD_NAME_MAX];
    const deed *taken = last_deed(w->b, sent->object, receiving, but);
    if (sent->woken_count > 0 && sent->woken[0] != but) {
        rad__actor_name(w->k, sent->woken[0], name);
        say(w, "; %s, which waited for it, %s it", name, verb);
    } else if (taken) {
        say(w, "; it was %s by ", verb);
        say_who(w, taken);
    }
}

static const char *const signals[] = {"cond_signal", "cond_broadcast", "pthread_cond_signal", "pthread_cond_broadcast",
                                      NULL};
static const char *const single_signals[] = {"cond_signal", "pthread_cond_signal", NULL};
static const char *const sends[] = {"send", "send_many", "chan_send_spawn", NULL};
static const char *const receives[] = {"recv", "recv_many", "chan_recv_join", "select", NULL};
static const char *const selects[] = {"select", NULL};
static const char *const closes[] = {"chan_close", NULL};
static const char *const releases[] = {"semaphore_release", "sem_post", NULL};
static const char *const acquires[] = {"semaphore_acquire", "semaphore_try", "sem_wait", "sem_trywait", "select", NULL};
static const char *const arrivals[] = {"barrier_wait", "pthread_barrier_wait", NULL};
static const char *const takes[] = {"pool_take", "select", NULL};
static const char *const gives[] = {"pool_give", NULL};
static const char *const dones[] = {"waitgroup_done", NULL};
static const char *const adds[] = {"waitgroup_add", NULL};
static const char *const unlocks[] = {"mutex_unlock", "pthread_mutex_unlock", NULL};
static const char *const locks[] = {"mutex_lock",
                                    "mutex_lock_until",
                                    "mutex_try",
                                    "rwlock_read",
                                    "rwlock_write",
                                    "rwlock_read_until",
                                    "rwlock_write_until",
                                    "once_run",
                                    "select",
                                    "cond_wait",
                                    "pthread_mutex_lock",
                                    "pthread_mutex_timedlock",
                                    "pthread_mutex_trylock",
                                    "pthread_relock",
                                    "pthread_rwlock_rdlock",
                                    "pthread_rwlock_wrlock",
                                    "pthread_rwlock_tryrdlock",
                                    "pthread_rwlock_trywrlock",
                                    "pthread_spin_lock",
                                    "pthread_spin_trylock",
                                    NULL};

static bool has_woken(const deed *d, uint32_t actor)
{
    for (uint32_t i = 0; i < d->woken_count; i++)
        if (d->woken[i] == actor) return true;
    return false;
}

/* Did it give the mutex back between the signal that woke it and its next wait? Then it had found what it came for. */
static bool went_on(const rad_blame *b, uint32_t actor, uint64_t woken_at, uint64_t since)
{
    for (uint32_t i = 0; i < b->count; i++) {
        const deed *d = &b->deeds[i];
        bool between = d->step > woken_at && d->step < since;
        if (d->actor == actor && between && is_one_of(d->site, unlocks)) return true;
    }
    return false;
}

static void blame_condition(words *w, uint32_t object, uint32_t actor, uint64_t since)
{
    char name[RAD_NAME_MAX];
    const deed *last = last_deed(w->b, object, signals, actor);
    if (last == NULL) {
        say(w, "no %s signalled it in this run", w->kind);
        return;
    }
    say(w, "the last %s came from ", is_one_of(last->site, single_signals) ? "signal" : "broadcast");
    say_who(w, last);
    if (has_woken(last, actor)) {
        const char *then = went_on(w->b, actor, last->step, since) ? "went on, and waits again since"
                                                                   : "found nothing to do and waited again at";
        say(w, ", and woke it; it %s step %llu", then, (unsigned long long)since);
    } else if (last->step < since) {
        if (last->woken_count == 0) say(w, ", when no %s waited, so it woke none", w->kind);
        say(w, "; this wait began later, at step %llu", (unsigned long long)since);
    } else if (last->woken_count > 0) {
        rad__actor_name(w->k, last->woken[0], name);
        say(w, ", and woke %s instead: a signal wakes one %s, a broadcast wakes all", name, w->kind);
    }
}

static void blame_channel(words *w, uint32_t object, uint32_t actor, bool sends_itself)
{
    const deed *closed = last_deed(w->b, object, closes, actor);
    const deed *last = last_deed(w->b, object, sends_itself ? receives : sends, actor);
    if (last == NULL) {
        say(w, sends_itself ? "no other fiber received from it in this run" : "no other fiber sent to it in this run");
    } else {
        say(w, sends_itself ? "the last fiber that received from it was " : "the last value was sent by ");
        say_who(w, last);
        if (!sends_itself) say_received(w, last, receives, actor, "received");
        say_where_now(w, last->actor);
    }
    if (!sends_itself && closed == NULL) say(w, "; no fiber closed it");
}

static uint32_t count_deeds(const rad_blame *b, uint32_t object, const char *const *sites)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < b->count; i++) count += b->deeds[i].object == object && is_one_of(b->deeds[i].site, sites);
    return count;
}

static void blame_count(words *w, uint32_t object, uint32_t actor)
{
    const deed *last = last_deed(w->b, object, dones, RAD_NONE);
    uint32_t added = count_deeds(w->b, object, adds), done = count_deeds(w->b, object, dones);
    say(w, "in this run rad_waitgroup_add was called %u time%s and rad_waitgroup_done %u time%s", added,
        added == 1 ? "" : "s", done, done == 1 ? "" : "s");
    (void)actor;
    if (last == NULL) return;
    say(w, ", the last time by ");
    say_who(w, last);
}

static void blame_permits(words *w, uint32_t object, uint32_t actor)
{
    const deed *last = last_deed(w->b, object, releases, actor);
    const deed *taken = last_deed(w->b, object, acquires, actor);
    if (last == NULL) {
        say(w, "no other %s released it in this run", w->kind);
    } else {
        say(w, "the last release was by ");
        say_who(w, last);
    }
    if (taken == NULL) return;
    say(w, "; the last permit was acquired by ");
    say_who(w, taken);
    if (last == NULL) say_where_now(w, taken->actor);
}

static void blame_barrier(words *w, uint32_t object, uint32_t actor)
{
    const deed *last = last_deed(w->b, object, arrivals, actor);
    if (last == NULL) {
        say(w, "no other %s came to it in this run", w->kind);
        return;
    }
    say(w, "the last other %s that came to it was ", w->kind);
    say_who(w, last);
    say_where_now(w, last->actor);
}

static void blame_stock(words *w, uint32_t object, uint32_t actor)
{
    const deed *taken = last_deed(w->b, object, takes, actor);
    const deed *given = last_deed(w->b, object, gives, actor);
    if (given == NULL) {
        say(w, "no other %s gave an item back in this run", w->kind);
    } else {
        say(w, "the last item was given back by ");
        say_who(w, given);
    }
    if (taken == NULL) return;
    say(w, "; the last one was taken by ");
    say_who(w, taken);
    say_where_now(w, taken->actor);
}

/* When the holder got it: its last such operation that was done, or that it waited in. */
static void blame_holder(words *w, uint32_t object, uint32_t holder)
{
    const deed *got = NULL;
    for (uint32_t i = w->b->count; i-- > 0 && got == NULL;) {
        const deed *d = &w->b->deeds[i];
        if (d->object == object && d->actor == holder && is_one_of(d->site, locks)) got = d;
    }
    if (got == NULL) return;
    say(w, "taken by ");
    say_who(w, got);
    say(w, ", and not given back");
}

static bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static bool is_thread(uint32_t site)
{
    const char *own = rad__site_name(site);
    return own && (begins_with(own, "pthread_") || begins_with(own, "sem_"));
}

static bool blame_actor(words *w, uint32_t actor)
{
    const rad_actor_entry *a = &w->k->actors[actor];
    if (a->waits_for >= w->k->object_count || actor >= w->b->actor_capacity) return false;
    const char *role = w->k->objects[a->waits_for].role;
    const doing *d = &w->b->actors[actor];
    char name[RAD_NAME_MAX], object[RAD_NAME_MAX];
    rad__actor_name(w->k, actor, name);
    rad__object_name(w->k, a->waits_for, object);
    w->used = 0;
    w->kind = is_thread(d->site) ? "thread" : "fiber";
    bool channel = begins_with(role, "channel"), sending = is_one_of(d->site, sends);
    bool receiving = is_one_of(d->site, receives) && !is_one_of(d->site, selects);
    say(w, "%s waits %s %s: ", name,
        channel && sending     ? "to send to"
        : channel && receiving ? "to receive from"
                               : "for",
        object);
    size_t begin = w->used;
    if (a->holder < w->k->actor_count)
        blame_holder(w, a->waits_for, a->holder);
    else if (begins_with(role, "condition"))
        blame_condition(w, a->waits_for, actor, d->since);
    else if (channel)
        blame_channel(w, a->waits_for, actor, sending);
    else if (begins_with(role, "semaphore"))
        blame_permits(w, a->waits_for, actor);
    else if (begins_with(role, "wait group"))
        blame_count(w, a->waits_for, actor);
    else if (begins_with(role, "barrier"))
        blame_barrier(w, a->waits_for, actor);
    else if (begins_with(role, "stock"))
        blame_stock(w, a->waits_for, actor);
    return w->used > begin;
}

/* ---- Leaks -------------------------------------------------------------------------------------------------- */

/* What others could have done to end the wait, by how the role of the object begins. */
static const char *cure_of(const char *role, bool sending)
{
    static const char *const rows[][2] = {{"condition", "a signal"},
                                          {"semaphore", "releasing it"},
                                          {"wait group", "rad_waitgroup_done"},
                                          {"barrier", "the others' rad_barrier_wait"},
                                          {"stock", "giving an item back, rad_pool_close"}};
    if (begins_with(role, "channel"))
        return sending ? "receiving from it, rad_chan_close" : "sending to it, rad_chan_close";
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (begins_with(role, rows[i][0])) return rows[i][1];
    return "waking it";
}

/* Others run: then what was found is that they cannot reach it any more. One that waits or has ended has nothing
 * enabled. */
static bool others_run(const rad_kernel *k)
{
    bool any = false;
    for (uint32_t i = 0; i < k->actor_count; i++) any |= k->actors[i].enabled > 0;
    return any;
}

static void say_function(words *w, const rad_source_place *at)
{
    say_place(w, " at ", at);
    if (at && at->function[0]) say(w, " in %.60s", at->function);
}

/* Who began it and where, where what it waits for comes from, and why that is out of reach. */
static void blame_leak(words *w, const rad_story *s, uint32_t actor)
{
    const rad_actor_entry *a = &w->k->actors[actor];
    const rad_source_place *made = rad__places_made(w->p, a->waits_for);
    const char *role = w->k->objects[a->waits_for].role, *own = s->actors[actor];
    bool is_made = begins_with(role, "channel") || begins_with(role, "stock");
    char name[RAD_NAME_MAX], object[RAD_NAME_MAX];
    rad__object_name(w->k, a->waits_for, object);
    w->used = 0;
    say(w, "%s was started", own);
    if (a->spawner < w->k->actor_count) {
        rad__actor_name(w->k, a->spawner, name);
        say(w, " by %s", name);
    }
    say_function(w, rad__places_started(w->p, actor));
    if (made) {
        say(w, "; %s was %s", object, is_made ? "made" : "first used");
        say_function(w, made);
    }
    if (others_run(w->k))
        say(w, ". Nothing that can still run has a pointer to %s", object);
    else
        say(w, ". The program's first fiber has returned, and nothing that could wake %s runs any more", own);
    bool sending = is_one_of(w->b->actors[actor].site, sends);
    say(w, ". Before that, %s or rad_cancel would have ended the wait", cure_of(role, sending));
    if (begins_with(role, "channel") && sending) say(w, ", and with room for one more value it would not have waited");
}

/* ---- All of it ---------------------------------------------------------------------------------------------- */

static void put_line(rad_bytes *text, words *w)
{
    rad__text_clean(w->text);
    rad__text_plain(w->text);
    rad__bytes_put(text, w->text, strlen(w->text));
    rad__bytes_put(text, "\n", 1);
}

bool rad__blame_tell(const rad_blame *b, const rad_kernel *k, rad_places *p, rad_story *s)
{
    words w = {.b = b, .k = k, .p = p};
    rad_bytes text = {0};
    uint32_t leaks = 0;
    if (b->failed) return false;
    for (uint32_t i = 0; i < s->wait_count && i < LINES_MAX; i++) {
        if (!blame_actor(&w, s->waits[i].actor)) continue;
        put_line(&text, &w);
        if (strcmp(s->verdict.kind, "leak") != 0 || leaks++ >= LEAKS_MAX) continue;
        blame_leak(&w, s, s->waits[i].actor);
        put_line(&text, &w);
    }
    if (text.size == 0) return true;
    rad__bytes_put(&text, "", 1);
    if (text.failed) {
        rad__bytes_free(&text);
        return false;
    }
    s->blame = (char *)text.data;
    return true;
}
