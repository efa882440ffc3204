/* run.c — see run.h. */
#include "load/run.h"

/* After a turn that looked at the world, whoever is ready goes first: looking again at once would find little and cost
 * a call to the system. */
int rad__load_run(rad__load_core *c, rad__load_engine *e, rad__load_watch *watch, void *context,
                  rad_error *error)
{
    bool looked = false;
    int result = 0;
    while (result == 0 && !rad__load_core_over(c)) {
        rad__load_turn turn;
        uint64_t due = rad__load_core_due(c);
        looked = !(due == 0 && looked);
        result = e->kind->turn(e, due, looked, &turn, error);
        if (result == 0) result = rad__load_core_turn(c, &turn, error);
        if (result == 0) result = e->kind->act(e, c->effects, c->effect_count, error);
        if (result == 0 && watch != NULL) watch(context, c);
    }
    rad__load_metrics_end(&c->metrics);
    if (c->log != NULL) {
        int ended = rad__load_log_end(c->log);
        if (result == 0 && ended != 0) {
            if (error != NULL) *error = c->log->error;
            result = ended;
        }
    }
    return result;
}
