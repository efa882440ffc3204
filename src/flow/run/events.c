/* events.c — what comes to a case by itself: time, and what people send. */
#include "base/alloc.h"
#include "base/error.h"
#include "flow/run/parts.h"
#include "os/file.h"

#include <stdio.h>
#include <string.h>

enum { LOOK_EVERY_NS = 50000000 };

/* ---- Timers --------------------------------------------------------------------------------------------- */

int rad__flow_timer_add(rad_flow_runner *r, const char *key, const rad_flow_ask *ask, rad_error *error)
{
    uint64_t delay_ns = ask->delay_ns;
    uint64_t due = delay_ns < UINT64_MAX - r->clock_ns ? r->clock_ns + delay_ns : UINT64_MAX - 1;
    rad_flow_timer timer = {.key = (char *)(uintptr_t)key, /* tidy: address ok: it is copied */
                            .alternative = ask->alternative,
                            .attempt = ask->attempt,
                            .due_ns = due};
    return rad__flow_timers_set(&r->timers, &timer) ? 0 : rad__error_memory(error);
}

/* Those that are due, the earliest first; of two of one time the one that was asked for first. */
int rad__flow_look_at_timers(rad_flow_runner *r, bool *any, rad_error *error)
{
    uint64_t now = r->host->now(r->host->context);
    while (rad__flow_timers_next_ns(&r->timers) <= now) {
        rad_flow_timer t = rad__flow_timers_take(&r->timers);
        rad_flow_input input = {
            .kind = RAD_INPUT_TIMER, .key = t.key, .attempt = t.attempt, .alternative = t.alternative};
        int code = rad__flow_runner_feed(r, &input, "", error);
        rad__free(t.key);
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
    if (!RAD_GROW(&r->taken, &r->taken_capacity, r->taken_count + 1)) return rad__error_memory(error);
    snprintf(r->taken[r->taken_count++], RAD_FLOW_FILE_MAX, "%s", name);
    return 0;
}

/* "approve"; "case", "region tests", "task compile". */
static void tell_taken(rad_flow_runner *r, const rad_flow_input *input)
{
    char text[100];
    bool is_signal = input->kind == RAD_INPUT_SIGNAL;
    const char *what = is_signal                              ? ""
                       : input->scope == RAD_FLOW_PART_CASE   ? "case"
                       : input->scope == RAD_FLOW_PART_REGION ? "region "
                                                              : "task ";
    snprintf(text, sizeof text, "%s%s", what, input->name);
    rad__flow_tell(r, is_signal ? RAD_FLOW_SIGNAL_TAKEN : RAD_FLOW_CANCEL_TAKEN, NULL, text, 0);
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
    if (code == 0) tell_taken(r, &input);
    rad__free(data);
    return code;
}

int rad__flow_look_at_spool(rad_flow_runner *r, bool *any, rad_error *error)
{
    rad_os_names names;
    uint64_t now = r->host->now(r->host->context);
    if (!*any || now - r->spool_looked_ns >= LOOK_EVERY_NS)
        r->spool_looked_ns = now;
    else
        return 0; /* there is enough to do: not at each turn */
    /* What was taken the last time goes first: nothing that lies there is looked at twice. */
    int code = r->taken_count > 0 ? rad__flow_runner_sync(r, error) : 0;
    if (code == 0) code = r->host->list(r->host->context, "signals", &names, error);
    if (code != 0) return code;
    for (uint32_t i = 0; code == 0 && i < names.count; i++) {
        char name[RAD_FLOW_FILE_MAX];
        const char *id = names.items[i];
        if (!rad__flow_is_spool_name(id)) continue;
        snprintf(name, sizeof name, "signals/%s", id);
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
