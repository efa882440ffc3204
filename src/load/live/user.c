/* user.c — what the engine remembers for a user from response to request: variables and cookies. */
#include "base/alloc.h"
#include "load/live/parts.h"

#include <string.h>
#include <strings.h>

live_user *rad__live_user_at(live *l, uint32_t vu)
{
    if (!RAD_GROW(&l->users, &l->user_count, vu + 1)) {
        l->failed = RAD_ENOMEM;
        return NULL;
    }
    live_user *u = &l->users[vu];
    uint32_t count = l->scenario->variable_count;
    if (u->values == NULL && count > 0) {
        u->values = rad__alloc(count, sizeof *u->values);
        if (u->values == NULL) {
            l->failed = RAD_ENOMEM;
            return NULL;
        }
        for (uint32_t i = 0; i < count; i++) u->values[i].size = RAD_NONE;
    }
    return u;
}

static void user_set(live *l, live_user *u, uint32_t variable, const uint8_t *data, uint32_t size)
{
    rad__load_value *value = &u->values[variable];
    uint8_t *copy = rad__alloc(1, size);
    if (copy == NULL) {
        l->failed = RAD_ENOMEM;
        return;
    }
    if (size) memcpy(copy, data, size);
    rad__free((void *)value->data);
    *value = (rad__load_value){copy, size};
}

static void user_takes_cookies(live *l, live_user *u, const live_conn *c, const live_request *r,
                               const rad__load_answer *answer)
{
    static const char name[] = "set-cookie";
    const live_target *t = &l->targets[c->target];
    rad__load_site site =
        rad__load_plan_site(rad__live_plan(l, r->what, c->target), t->host, l->scenario->targets[c->target].tls);
    rad__load_field field;
    for (uint32_t at = 0; rad__load_answer_next(answer, &at, &field);)
        if (field.name_size == sizeof name - 1 && strncasecmp(field.name, name, field.name_size) == 0 &&
            !rad__load_jar_take(&u->jar, field.value, field.value_size, &site, l->now_ns))
            l->failed = RAD_ENOMEM;
}

void rad__live_user_learns(live *l, const live_conn *c, const live_request *r, const rad__load_answer *answer,
                           const uint8_t *values, uint32_t size)
{
    const struct rad__load_request *request = &l->scenario->requests[r->what];
    if (r->cancelled || (request->extract_count == 0 && !l->scenario->cookies)) return;
    live_user *u = rad__live_user_at(l, r->vu);
    if (u == NULL) return;
    rad_reader reader = rad__reader(size ? (const void *)values : "", size);
    for (uint32_t i = 0; i < request->extract_count; i++) {
        uint64_t length = rad__read_varint(&reader);
        if (length == 0) continue; /* not found: the old one stays */
        const uint8_t *data = rad__read_bytes(&reader, (size_t)length - 1);
        if (data == NULL) return;
        user_set(l, u, request->extracts[i].variable, data, (uint32_t)length - 1);
    }
    if (l->scenario->cookies) user_takes_cookies(l, u, c, r, answer);
}

void rad__live_users_free(live *l)
{
    for (uint32_t i = 0; i < l->user_count; i++) {
        for (uint32_t k = 0; l->users[i].values && k < l->scenario->variable_count; k++)
            rad__free((void *)l->users[i].values[k].data);
        rad__free(l->users[i].values);
        rad__load_jar_free(&l->users[i].jar);
    }
    rad__free(l->users);
}
