/* fibers_run.c — runs of a program.
 *
 * On threads, every program runs inside a fiber that starts its first fiber, joins whatever was started, and
 * begins again. Before each operation a fiber spins, yields or does neither, by a stream of random numbers. Under
 * exploration the program is all there is, and where it touches memory of its own that others see, it makes a call
 * that does nothing: code between two calls is not interrupted. */
#include "fibers_run_parts.h"

#include <sched.h>
#include <string.h>

enum { SPIN_MOST = 3000, LAG_YIELDS = 8 };

/* ---- Functions that the runtime calls -------------------------------------------------------------------------- */

static int item_create(void *context, void *item)
{
    rig *r = context;
    let_others(r);
    uint32_t number = ++r->created;
    if (r->program->stock_fails & 1u << (number - 1)) return 6;
    *(uint32_t *)item = number;
    r->good++;
    return 0;
}

static int item_reset(void *context, void *item)
{
    return (((rig *)context)->program->stock_spoils >> (*(uint32_t *)item - 1)) & 1;
}

static void item_destroy(void *context, void *item)
{
    (void)item;
    ((rig *)context)->destroyed_items++;
}

static void local_destroy(void *value)
{
    runner *r = value;
    r->rig->destroyed[r->index] = true;
}

static int alarm_rings(void *arg)
{
    rig *r = arg;
    uint8_t value = FIBERS_ALARM_VALUE;
    RAD_IGNORE(rad_send(r->chans[0], &value, 0));
    r->alarms_done++;
    return 0;
}

/* ---- Delays ---------------------------------------------------------------------------------------------------- */

static void spin(uint64_t turns)
{
    for (; turns > 0; turns--) __asm__ volatile("");
}

/* One that lags lets the others get to where they wait. */
static void shake(runner *f)
{
    uint64_t way = rad__prng_below(&f->prng, 8), n = rad__prng_below(&f->prng, SPIN_MOST);
    if (f->rig->options->claim) return;
    if (f->lags) {
        for (n = LAG_YIELDS; n > 0; n--) {
            rad_yield();
            if (f->rig->options->workers > 1) spin(SPIN_MOST);
        }
    } else if (way == 0) {
        for (n %= 4; n > 0; n--) rad_yield();
    } else if (way == 1) {
        spin(n);
    } else if (way == 2) {
        sched_yield();
    }
}

/* ---- Fibers ---------------------------------------------------------------------------------------------------- */

static void write_entry(runner *f, int code, const fibers_entry *e)
{
    fibers_result *now = f->rig->now;
    fibers_entry *to = &now->log[f->index][now->counts[f->index]];
    *to = *e;
    to->code = (int8_t)code;
    if (code < 0) memset(to->values, 0, sizeof to->values);
    if (code < 0 && code != FIBERS_SKIPPED) f->last = code;
    atomic_signal_fence(memory_order_seq_cst);
    ((volatile uint8_t *)now->counts)[f->index]++;
}

static void give_back(runner *f)
{
    for (uint32_t m = 0; m < FIBERS_LOCKS; m++)
        if (rad_mutex_is_mine(&f->rig->mutexes[m])) rad_mutex_unlock(&f->rig->mutexes[m]);
    for (uint8_t l = 0; l < FIBERS_LOCKS; l++)
        if (has_lock(f, l)) fibers_rw_unlock(f, l);
    while (f->item_count > 0) rad_pool_give(f->rig->stock, f->items[--f->item_count]);
}

/* Who starts a fiber knows its handle; others may not know it yet. */
static bool starts(const fibers_fiber *fiber, uint32_t j)
{
    for (uint32_t i = 0; i < fiber->op_count; i++) {
        const fibers_op *op = &fiber->ops[i];
        if ((op->kind == FIBERS_SPAWN || op->kind == FIBERS_SEND_SPAWN) && op->object == j) return true;
        if (op->kind == FIBERS_NURSERY_SPAWN && op->number == j) return true;
    }
    return false;
}

/* The operation begins with memory that others write. */
static bool reads_memory(const fibers_fiber *fiber, const fibers_op *op)
{
    bool joins = false;
    for (uint32_t i = 0; i < op->case_count; i++)
        joins |= op->cases[i].kind == FIBERS_JOIN && !starts(fiber, op->cases[i].object);
    if (op->kind == FIBERS_JOIN || op->kind == FIBERS_CANCEL) return !starts(fiber, op->object);
    return joins || op->kind == FIBERS_NOTE || op->kind == FIBERS_RELEASE;
}

static bool has_kind(const fibers_program *p, uint8_t kind)
{
    for (uint32_t i = 0; i < FIBERS_MOST * FIBERS_OPS; i++)
        if (p->fibers[i / FIBERS_OPS].ops[i % FIBERS_OPS].kind == kind) return true;
    return false;
}

/* rad_main waits for a timer that runs. */
static void fiber_ends(const runner *f)
{
    rig *r = f->rig;
    if (!f->is_counted || --r->living > 0) return;
    if (has_kind(r->program, FIBERS_TIMER_START)) rad_timer_stop(r->timer);
    if (has_kind(r->program, FIBERS_ALARM_START)) rad_timer_stop(r->alarm);
}

int fibers_body(void *arg)
{
    runner *f = arg;
    const fibers_fiber *fiber = &f->rig->program->fibers[f->index];
    uint8_t given[2] = {0, (uint8_t)f->index};
    rad_set_result(given, sizeof given);
    for (uint32_t i = 0; i < fiber->op_count; i++) {
        fibers_entry e = {.code = 0};
        shake(f);
        if (reads_memory(fiber, &fiber->ops[i])) let_others(f->rig);
        int code = fibers_do(f, &fiber->ops[i], &e);
        write_entry(f, code, &e);
    }
    shake(f);
    give_back(f);
    if (f->was_opened && !f->was_waited) {
        fibers_entry e = {.code = 0};
        write_entry(f, rad_nursery_wait(&f->rig->nurseries[f->index]), &e);
    }
    fiber_ends(f);
    return fiber->returns == FIBERS_RETURNS_LAST ? f->last : fiber->returns;
}

/* ---- Programs -------------------------------------------------------------------------------------------------- */

static bool open_objects(rig *r, uint32_t number)
{
    const fibers_program *p = r->program;
    const rad_pool_calls calls = {item_create, item_reset, item_destroy, r};
    int code = 0;
    for (uint32_t i = 0; i < FIBERS_CHANS; i++)
        code |= rad_chan_create(&r->chans[i], 1, p->capacities[i], (enum rad_chan_mode)p->modes[i]);
    code |= rad_chan_create(&r->tasks, sizeof(rad_fiber), p->task_capacity, RAD_CHAN_BLOCKS);
    code |= rad_pool_create(&r->stock, sizeof(uint32_t), p->stock_capacity, &calls);
    code |= rad_timer_create(&r->timer, NULL, NULL);
    code |= rad_timer_create(&r->alarm, alarm_rings, r);
    code |= rad_local_create(&r->key, local_destroy);
    for (uint32_t i = 0; i < FIBERS_LOCKS; i++) {
        rad_semaphore_init(&r->semaphores[i], p->permits[i]);
        if (p->groups[i] > 0) rad_waitgroup_add(&r->groups[i], p->groups[i]);
    }
    rad_barrier_init(&r->barrier, p->parties);
    for (uint32_t i = 0; i < FIBERS_MOST; i++) {
        runner *f = &r->runners[i];
        f->rig = r;
        f->index = i;
        f->prng = (rad_prng){rad__prng_next(&r->prng)};
        f->lags = rad__prng_below(&f->prng, 4) == 0;
        rad_ticker_start(&f->due, 1);
        rad_ticker_start(&f->never, (uint64_t)1 << 60);
    }
    r->runners[0].lags = number % 2 == 0; /* often the others are to wait for what it does */
    return code == 0;
}

static void close_objects(rig *r)
{
    r->alarms_due -= rad_timer_stop(r->alarm);
    while (r->alarms_done != r->alarms_due) rad_sleep(20000);
    rad_timer_destroy(r->timer);
    rad_timer_destroy(r->alarm);
    for (uint32_t i = 0; i < FIBERS_CHANS; i++) rad_chan_destroy(r->chans[i]);
    rad_chan_destroy(r->tasks);
    rad_pool_destroy(r->stock);
    rad_local_delete(r->key);
    if (r->good != r->destroyed_items) r->now->end = FIBERS_CRASHED;
}

/* Whatever was started has ended. */
static void join_all(rig *r)
{
    bool joined[FIBERS_MOST] = {false}, any = true;
    while (any) {
        any = false;
        for (uint32_t j = 0; j < FIBERS_MOST; j++) {
            if (joined[j] || !r->published[j]) continue;
            any = joined[j] = true;
            RAD_IGNORE(rad_join(r->handles[j], NULL, RAD_FOREVER));
        }
        if (!any) any = rad_chan_recv_join(r->tasks, NULL, 0) == 0; /* nobody wants it any more */
    }
    for (uint32_t j = 0; j < FIBERS_MOST; j++)
        if (r->published[j] && !r->released[j]) rad_release(r->handles[j]);
}

static bool run_once(rig *r, uint32_t number)
{
    rad_fiber_result given;
    rad_fiber first;
    memset(r->now, 0, sizeof *r->now);
    if (r->options->begins) r->options->begins(r->options->context, number);
    if (!open_objects(r, number) || rad_spawn(&first, fibers_body, &r->runners[0]) != 0) return false;
    RAD_IGNORE(rad_join(first, &given, RAD_FOREVER));
    join_all(r);
    rad_release(first);
    r->now->answer = (int8_t)given.code;
    close_objects(r);
    return r->options->ended(r->options->context, number);
}

static int run_all(void *arg)
{
    rig *r = arg;
    const fibers_program *p = r->program;
    const fibers_run_options *o = r->options;
    fibers_result *now = r->now;
    for (uint32_t i = 0; i < o->count; i++) {
        memset(r, 0, sizeof *r);
        r->program = p;
        r->options = o;
        r->now = now;
        r->prng = rad__prng(o->seed, RAD_STREAM_TEST, o->first + i);
        if (!run_once(r, o->first + i)) break;
    }
    return 0;
}

static rad_options options_of(const fibers_program *p, const fibers_run_options *o)
{
    return (rad_options){.workers = o->workers,
                         .extra_workers = RAD_NONE,
                         .fibers = p->limit && !p->is_main ? p->limit + 1u : p->limit,
                         .spawn_waits = p->limit_waits,
                         .blocking_threads = p->blocking_threads,
                         .seed = o->seed};
}

void fibers_run(const fibers_program *p, const fibers_run_options *o, fibers_result *now)
{
    static rig r;
    rad_options options = options_of(p, o);
    r = (rig){.program = p, .options = o, .now = now};
    RAD_IGNORE(rad_main(&options, run_all, &r, NULL));
}

/* ---- Under exploration ----------------------------------------------------------------------------------------- */

/* A select is a decision even of one that is alone, so what precedes it is all that runs once. */
static int run_first(void *arg)
{
    rig *r = arg;
    rad_semaphore permit;
    rad_select_case only = {.kind = RAD_ON_ACQUIRE, .on.semaphore = &permit};
    if (!open_objects(r, 0)) return RAD_ENOMEM;
    rad_semaphore_init(&permit, 1);
    RAD_IGNORE(rad_select(&only, 1, 0));
    r->now = r->options->claim(r->options->context);
    r->living = 1;
    r->runners[0].is_counted = true;
    return fibers_body(&r->runners[0]);
}

bool fibers_run_explored(const fibers_program *p, const fibers_run_options *o)
{
    static rig r;
    fibers_result before = {0};
    rad_options options = options_of(p, o);
    r = (rig){.program = p, .options = o, .now = &before};
    int answer = rad_main(&options, run_first, &r, NULL);
    if (r.now == &before) return false;
    r.now->answer = (int8_t)answer;
    r.now->end = FIBERS_DONE;
    return true;
}
