/* flow_run_events.c — what comes to a case by itself: time, and what people send. */
#include "base/alloc.h"
#include "base/error.h"
#include "flow/flow_run_parts.h"
#include "os/file.h"

#include <stdio.h>
#include <string.h>

enum { LOOK_EVERY_NS = 50000000 };

/* ---- Timers --------------------------------------------------------------------------------------------- */

static void find_next(rad_flow_runner *r)
{
    r->timer_next_ns = UINT64_MAX;
    for (uint32_t i = 0; i < r->timer_count; i++)
        if (r->timers[i].due_ns < r->timer_next_ns) r->timer_next_ns = r->timers[i].due_ns;
}

int rad__flow_timer_add(rad_flow_runner *r, const char *key, const rad_flow_ask *ask,
                        rad_error *error)
{
    uint64_t delay_ns = ask->delay_ns;
    char *copy = rad__copy_text(key);
    if (copy == NULL || !RAD_GROW(&r->timers, &r->timer_capacity, r->timer_count + 1)) {
        rad__free(copy);
        return rad__error_memory(error);
    }
    uint64_t due = delay_ns < UINT64_MAX - r->clock_ns ? r->clock_ns + delay_ns : UINT64_MAX - 1;
    r->timers[r->timer_count++] = (rad_flow_timer){.key = copy,
                                                   .alternative = ask->alternative,
                                                   .attempt = ask->attempt,
                                                   .due_ns = due,
                                                   .number = ++r->timer_number};
    if (due < r->timer_next_ns) r->timer_next_ns = due;
    return 0;
}

static void drop_at(rad_flow_runner *r, uint32_t at)
{
    bool was_next = r->timers[at].due_ns == r->timer_next_ns;
    rad__free(r->timers[at].key);
    r->timers[at] = r->timers[--r->timer_count];
    if (was_next) find_next(r);
}

void rad__flow_timer_drop(rad_flow_runner *r, const char *key, uint32_t alternative)
{
    for (uint32_t i = 0; i < r->timer_count; i++) {
        if (r->timers[i].alternative != alternative || strcmp(r->timers[i].key, key) != 0) continue;
        drop_at(r, i);
        return;
    }
}

/* Those that are due, the earliest first; of two of one time the one that was asked for first. */
int rad__flow_look_at_timers(rad_flow_runner *r, bool *any, rad_error *error)
{
    uint64_t now = r->host->now(r->host->context);
    while (r->timer_count > 0 && r->timer_next_ns <= now) {
        uint32_t first = 0;
        for (uint32_t i = 1; i < r->timer_count; i++) {
            const rad_flow_timer *a = &r->timers[i], *b = &r->timers[first];
            if (a->due_ns < b->due_ns || (a->due_ns == b->due_ns && a->number < b->number))
                first = i;
        }
        rad_flow_timer t = r->timers[first];
        char *key = rad__copy_text(t.key);
        if (key == NULL) return rad__error_memory(error);
        drop_at(r, first);
        rad_flow_input input = {.kind = RAD_INPUT_TIMER,
                                .key = key,
                                .attempt = t.attempt,
                                .alternative = t.alternative};
        int code = rad__flow_runner_feed(r, &input, "", error);
        rad__free(key);
        if (code != 0) return code;
        *any = true;
        rad__flow_tell(r, RAD_FLOW_TIMER_FIRED, NULL, "", 0);
    }
    return 0;
}

/* ---- The spool ------------------------------------------------------------------------------------------ */

static uint64_t id_hash(const char *id)
{
    return rad__digest_of(id, strlen(id)).low;
}

bool rad__flow_note_seen(rad_flow_runner *r, const char *id)
{
    return rad__flow_was_seen(r, id) || rad__map64_add(&r->seen, id_hash(id), 0);
}

bool rad__flow_was_seen(const rad_flow_runner *r, const char *id)
{
    return rad__map64_find(&r->seen, id_hash(id)) != RAD_NONE;
}

static int note_taken(rad_flow_runner *r, const char *name, rad_error *error)
{
    if (!RAD_GROW(&r->taken, &r->taken_capacity, r->taken_count + 1))
        return rad__error_memory(error);
    snprintf(r->taken[r->taken_count++], RAD_FLOW_FILE_MAX, "%s", name);
    return 0;
}

static int take_one(rad_flow_runner *r, const char *id, const char *name, rad_error *error)
{
    char *data;
    size_t size;
    rad_flow_input input;
    int got = r->host->read(r->host->context, name, &data, &size, error);
    if (got != 1) return got;
    int code = rad__flow_spool_read(&input, name, data, size, error);
    input.key = "";
    if (code == 0 && !rad__flow_note_seen(r, id)) code = rad__error_memory(error);
    if (code == 0) code = note_taken(r, name, error);
    if (code == 0) code = rad__flow_runner_feed(r, &input, id, error);
    if (code == 0)
        rad__flow_tell(
            r, input.kind == RAD_INPUT_SIGNAL ? RAD_FLOW_SIGNAL_TAKEN : RAD_FLOW_CANCEL_TAKEN, NULL,
            input.name, 0);
    rad__free(data);
    return code;
}

static bool is_temporary(const char *name)
{
    size_t length = strlen(name);
    return length > 4 && strcmp(name + length - 4, ".tmp") == 0;
}

int rad__flow_look_at_spool(rad_flow_runner *r, bool *any, rad_error *error)
{
    rad_os_names names;
    uint64_t now = r->host->now(r->host->context);
    if (!*any || now - r->spool_looked_ns >= LOOK_EVERY_NS)
        r->spool_looked_ns = now;
    else
        return 0; /* there is enough to do: not at each turn */
    int code = r->host->list(r->host->context, "signals", &names, error);
    if (code != 0) return code;
    for (uint32_t i = 0; code == 0 && i < names.count; i++) {
        char name[RAD_FLOW_FILE_MAX];
        const char *id = names.items[i];
        if (is_temporary(id) || strlen(id) > RAD_FLOW_ID_MAX) continue;
        snprintf(name, sizeof name, "signals/%s", id);
        bool is_taken = false;
        for (uint32_t k = 0; k < r->taken_count; k++) is_taken |= strcmp(r->taken[k], name) == 0;
        if (is_taken) continue;
        if (rad__flow_was_seen(r, id)) {
            code = note_taken(r, name, error); /* an earlier runner had no time to remove it */
        } else {
            *any = true;
            code = take_one(r, id, name, error);
        }
    }
    rad__os_names_free(&names);
    return code;
}
