/* reference_look.c — what can be seen of the reference interpreter between two steps. */
#include "reference_parts.h"

#include "base/alloc.h"

#include <stdio.h>
#include <stdlib.h>

static uint32_t reference_list(reference *r, const reference_place **places, bool all)
{
    uint32_t count = 0;
    *places = NULL;
    if (!RAD_GROW(&r->places, &r->place_capacity, r->token_count)) abort();
    for (const reference_token *t = r->first; t != NULL; t = t->next) {
        if (!reference_lives(t) || (!all && !reference_is_enabled(r, t))) continue;
        r->places[count++] = (reference_place){t->path, t->at, t->here ? t->here->number : 0};
    }
    *places = r->places;
    return count;
}

uint32_t reference_enabled(reference *r, const reference_place **places)
{
    return reference_list(r, places, false);
}

uint32_t reference_living(reference *r, const reference_place **places)
{
    return reference_list(r, places, true);
}

enum reference_state reference_state(const reference *r)
{
    return r->state;
}

const char *reference_failure(const reference *r)
{
    return r->failure;
}

const char *reference_value(const reference *r, const char *path, uint32_t variable)
{
    static char number[24];
    const reference_token *t = path != NULL ? reference_find(r, path) : r->first;
    if (t == NULL) return NULL;
    const reference_data *data = path == NULL && r->end.values ? &r->end : &t->data;
    switch (r->tree->variables[variable].type) {
    case RAD_FLOW_TEXT: return data->values[variable].text;
    case RAD_FLOW_BOOL: return data->values[variable].number ? "true" : "false";
    default: snprintf(number, sizeof number, "%lld", (long long)data->values[variable].number);
    }
    return number;
}

uint32_t reference_effects(const reference *r, const char *const **lines)
{
    *lines = r->effects;
    return r->effect_count;
}

uint32_t reference_fates(const reference *r, enum reference_fate fate)
{
    uint32_t count = 0;
    for (const reference_token *t = r->first; t != NULL; t = t->next) count += t->fate == fate;
    return count;
}

uint64_t reference_steps(const reference *r)
{
    return r->steps;
}

const char *reference_kind_name(enum reference_kind kind)
{
    static const char *const names[REFERENCE_KINDS] = {
        "start",  "finish", "retry",       "set",   "fork",       "or",    "xor",     "many",
        "more",   "arrive", "loop",        "again", "while",      "until", "enter",   "leave",
        "cancel", "reach",  "expire",      "await", "interleave", "round", "acquire", "release",
        "begin",  "taken",  "finish case", "fail",  "compensate", "end",   "waits"};
    return names[kind];
}

const char *reference_state_name(enum reference_state state)
{
    static const char *const names[] = {"running", "done", "failed", "cancelled", "deadlock"};
    return names[state];
}
