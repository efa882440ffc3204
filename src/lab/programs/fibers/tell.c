/* tell.c — see tell.h. */
#include "lab/programs/fibers/tell.h"

#include "lab/programs/fibers/server.h"
#include "lab/programs/fibers/stage.h"
#include "lab/programs/stream.h"
#include "lab/race.h"

#include <stdio.h>
#include <unistd.h>

rad_kernel *rad__tell_kernel;

/* Numbers of the stream's kernel are counted here. */
static struct {
    uint32_t actors, objects, actions;
    bool over;
} tell;

void rad__tell_open(rad_kernel *k)
{
    rad__tell_kernel = k;
    tell.actors = tell.objects = tell.actions = 0;
    tell.over = false;
}

static void put(uint32_t what, uint32_t a, uint32_t b, uint32_t c, int64_t value, const char *text)
{
    rad__stream_put(&rad__server_stream, &(rad_record){what, a, b, c, value, 0}, text);
}

uint32_t rad__tell_actor(uint32_t spawner, const char *role)
{
    if (rad__tell_kernel) return rad_actor(rad__tell_kernel, spawner, role);
    put(RAD_STREAM_ACTOR, spawner, 0, 0, 0, role);
    return tell.actors++;
}

uint32_t rad__tell_object(uint32_t creator, const char *role)
{
    if (rad__tell_kernel) return rad_object(rad__tell_kernel, creator, role);
    put(RAD_STREAM_OBJECT, creator, 0, 0, 0, role);
    return tell.objects++;
}

void rad__tell_called(uint32_t object, const char *name)
{
    if (rad__tell_kernel)
        rad__object_called(rad__tell_kernel, object, name);
    else
        put(RAD_STREAM_CALLED, object, 0, 0, 0, name);
}

void rad__tell_apart(uint32_t what, uint32_t a, uint32_t b, uint32_t c, int64_t value, const char *text)
{
    if (!rad__tell_kernel) put(what, a, b, c, value, text);
}

uint32_t rad__tell_action(uint32_t kind, uint32_t actor)
{
    if (rad__tell_kernel) return rad_action(rad__tell_kernel, kind, actor, RAD_NONE, 0);
    put(RAD_STREAM_ACTION, kind, actor, 0, 0, NULL);
    return tell.actions++;
}

void rad__tell_enable(uint32_t action)
{
    if (rad__tell_kernel)
        rad_enable(rad__tell_kernel, action);
    else
        put(RAD_STREAM_ENABLE, action, 0, 0, 0, NULL);
}

void rad__tell_disable(uint32_t action)
{
    if (rad__tell_kernel)
        rad_disable(rad__tell_kernel, action);
    else
        put(RAD_STREAM_DISABLE, action, 0, 0, 0, NULL);
}

void rad__tell_announce_far(uint32_t action, uint32_t site, uint32_t object, enum rad_access access)
{
    put(RAD_STREAM_ANNOUNCE, action, site, object, access, NULL);
}

uint32_t rad__tell_pick(enum rad_pick_kind kind, uint32_t site, uint32_t count)
{
    rad_record r;
    rad__stage.picks++;
    if (rad__tell_kernel) return rad_pick(rad__tell_kernel, kind, site, count);
    if (count <= 1 || tell.over) return 0;
    put(RAD_STREAM_PICK, kind, site, count, 0, NULL);
    if (!rad__stream_send(&rad__server_stream) || !rad__stream_get(&rad__server_stream, &r) ||
        r.what != RAD_STREAM_PICKED)
        rad__process_exit(0); /* nobody wants to know any more */
    return r.a < count ? r.a : 0;
}

void rad__tell_touch(uint32_t object, enum rad_access access)
{
    if (rad__tell_kernel)
        rad_touch(rad__tell_kernel, object, access);
    else
        put(RAD_STREAM_TOUCH, object, access, 0, 0, NULL);
}

void rad__tell_note(uint32_t kind, uint32_t object, uint64_t value)
{
    if (rad__tell_kernel)
        rad_note(rad__tell_kernel, kind, object, value);
    else
        put(RAD_STREAM_NOTE, kind, object, 0, (int64_t)value, NULL);
}

void rad__tell_yields(bool fairly)
{
    rad__time_idles(rad__stage.current);
    if (!rad__tell_kernel)
        put(RAD_STREAM_YIELDS, fairly, 0, 0, 0, NULL);
    else if (fairly)
        rad__yields_fairly(rad__tell_kernel);
    else
        rad_yields(rad__tell_kernel);
}

void rad__tell_saw(uint64_t value)
{
    if (!rad__tell_kernel) {
        put(RAD_STREAM_SAW, 0, 0, 0, (int64_t)value, NULL);
        return;
    }
    rad_value(rad__tell_kernel, value);
    rad_looked(rad__tell_kernel);
}

void rad__tell_race(const rad_race_told *r)
{
    if (rad__tell_kernel)
        rad__race_tell(rad__tell_kernel, r);
    else
        rad__race_put(&rad__server_stream, r);
}

void rad__tell_rounds(void)
{
    if (rad__tell_kernel) rad__tell_kernel->round_state = rad__program_round;
}

void rad__tell_wait(uint32_t actor, uint32_t object, uint32_t holder)
{
    if (rad__tell_kernel)
        rad_wait(rad__tell_kernel, actor, object, holder);
    else
        put(RAD_STREAM_WAIT, actor, object, holder, 0, NULL);
}

void rad__tell_ended(uint32_t actor)
{
    if (rad__tell_kernel)
        rad_ended(rad__tell_kernel, actor);
    else
        put(RAD_STREAM_ENDED, actor, 0, 0, 0, NULL);
}

void rad__tell_evaluated(uint32_t oracle)
{
    if (rad__tell_kernel)
        rad_evaluated(rad__tell_kernel, oracle);
    else
        put(RAD_STREAM_EVALUATED, oracle, 0, 0, 0, NULL);
}

/* Of all runs together, and no part of a trace. */
void rad__tell_reached(uint32_t site)
{
    if (rad__tell_kernel && site < RAD_SITES_MAX) rad__tell_kernel->reached[site] = 1;
}

void rad__tell_failure(uint32_t oracle, uint32_t object, const char *site, const char *message)
{
    char text[RAD_STREAM_TEXT_MAX];
    if (rad__tell_kernel) {
        rad_fail_at(rad__tell_kernel, oracle, object, site, "%s", message);
        return;
    }
    int size = snprintf(text, 300, "%s", site);
    snprintf(text + (size < 300 ? size : 299), sizeof text - 300, "%s", message);
    put(RAD_STREAM_FAIL, oracle, object, (uint32_t)(size < 300 ? size : 299), 0, text);
    tell.over = true;
}

void rad__tell_stuck(uint32_t oracle, const uint32_t *actors, uint32_t count, const char *why)
{
    char text[RAD_STREAM_TEXT_MAX];
    size_t used = 0;
    if (rad__tell_kernel) {
        rad__stuck_report(rad__tell_kernel, oracle, actors, count, why);
        return;
    }
    text[0] = 0;
    for (uint32_t i = 0; i < count && used + 300 < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%u ", (unsigned)actors[i]);
    snprintf(text + used, sizeof text - used, "%s", why);
    put(RAD_STREAM_STUCK, oracle, 0, 0, 0, text);
    tell.over = true;
}

void rad__tell_error(int code, const char *text)
{
    if (rad__tell_kernel) {
        rad__kernel_error(rad__tell_kernel, code, text);
        return;
    }
    put(RAD_STREAM_ERROR, 0, 0, 0, code, text);
    tell.over = true;
}

bool rad__tell_is_over(void)
{
    return rad__tell_kernel ? rad__tell_kernel->ended : tell.over;
}
