/* run.c — see run.h. */
#include "load/scheduler/run.h"

static void ask(const struct rad__load_hooks *h, rad__load_turn *turn)
{
    if (h->behind != NULL && h->behind(h->context)) turn->paused = true;
    if (h->stop != NULL && *h->stop != 0) turn->interrupted = true;
}

/* Nobody may begin anything: a little time for the disk, instead of one turn after the other, each with its record. */
static const uint64_t PAUSE_NS = 1000000;

/* After a turn that looked at the world, whoever is ready goes first: looking again at once would find little and cost
 * a call to the system. */
static int take_turns(rad__load_scheduler *c, rad__load_engine *e, const struct rad__load_hooks *h, rad_error *error)
{
    bool looked = false, paused = false;
    int result = 0;
    while (result == 0 && !rad__load_scheduler_over(c)) {
        rad__load_turn turn;
        uint64_t due = rad__load_scheduler_due(c);
        if (due == 0 && paused) due = c->now_ns + PAUSE_NS;
        looked = !(due == 0 && looked);
        result = e->kind->turn(e, due, looked, &turn, error);
        if (result != 0) break;
        ask(h, &turn);
        paused = turn.paused;
        result = rad__load_scheduler_turn(c, &turn, error);
        if (result == 0) result = e->kind->act(e, c->effects, c->effect_count, error);
        if (result == 0 && h->watch != NULL) h->watch(h->context, c);
    }
    return result;
}

int rad__load_run(rad__load_scheduler *c, rad__load_engine *e, const struct rad__load_hooks *hooks, rad_error *error)
{
    static const struct rad__load_hooks NONE;
    int result = take_turns(c, e, hooks != NULL ? hooks : &NONE, error);
    rad__load_metrics_end(&c->metrics);
    if (c->log == NULL) return result;
    bool over = rad__load_scheduler_over(c);
    if (!over) rad__load_log_flush(c->log); /* something failed: what there is of it, without an end */
    int ended = over ? rad__load_log_end(c->log) : c->log->failed;
    if (result == 0 && ended != 0) {
        result = ended;
        if (error != NULL) *error = c->log->error;
    }
    return result;
}
