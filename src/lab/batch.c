/* batch.c — doing a batch: the loop in which a worker process spends its life. */
#include "lab/batch.h"

#include "base/alloc.h"
#include "lab/script.h"
#include "os/clock.h"

#include <stdio.h>
#include <string.h>

#define BATCH_NS (UINT64_C(100) * 1000 * 1000)

/* States remembered by dedup; further ones are explored as often as they are met. */
#define VISITED_MAX (UINT64_C(1) << 26)

void rad__batch_worker_open(rad_batch_worker *b, rad_rig *rig)
{
    *b = (rad_batch_worker){.rig = rig, .visited = {.limit = VISITED_MAX}};
    rad__trace_classes_open(&b->classes);
}

void rad__batch_worker_close(rad_batch_worker *b)
{
    rad__policy_destroy(b->policy);
    rad__policy_destroy(b->script);
    rad__trace_classes_close(&b->classes);
    rad__set128_free(&b->seen);
    rad__set128_free(&b->visited);
    rad__set128_free(&b->passed);
    rad__free(b->events);
}

void rad__batch_result_free(rad_batch_result *r)
{
    for (uint64_t i = 0; i < r->finding_count; i++) {
        rad__free(r->findings[i].choices);
        rad__free(r->findings[i].set_hashes);
    }
    rad__free(r->findings);
    rad__free(r->path);
    rad__free(r->classes);
    rad__free(r->last_hashes);
    rad__free(r->suppressed_by);
    rad__estimates_free(&r->learned);
    *r = (rad_batch_result){0};
}

static void batch_nomem(rad_batch_result *out)
{
    rad__error_memory(&out->error);
}

static void *batch_copy(const void *from, size_t count, size_t size, rad_batch_result *out)
{
    void *copy = rad__alloc(count, size);
    if (copy == NULL)
        batch_nomem(out);
    else if (count)
        memcpy(copy, from, count * size);
    return copy;
}

rad_batch_finding *rad__batch_finding_add(rad_batch_result *r)
{
    if (!RAD_GROW(&r->findings, &r->finding_capacity, (uint32_t)r->finding_count + 1)) {
        batch_nomem(r);
        return NULL;
    }
    return &r->findings[r->finding_count++];
}

/* ---- What a run leaves ---------------------------------------------------------------------------- */

/* How far a run had come when it failed. */
typedef struct run_extent {
    uint64_t decisions, switches, set_roll;
    uint32_t set_hash_count;
} run_extent;

static void batch_finding(rad_batch_worker *b, rad_batch_result *out, const rad_verdict *v, const run_extent *x,
                          uint64_t run)
{
    const rad_kernel *k = b->rig->kernel;
    for (uint64_t i = 0; i < out->finding_count; i++) {
        if (strcmp(out->findings[i].verdict.identity, v->identity) != 0) continue;
        out->findings[i].failures++;
        return;
    }
    rad_batch_finding *f = rad__batch_finding_add(out);
    if (f == NULL) return;
    *f = (rad_batch_finding){
        .verdict = *v,
        .first_run = run,
        .failures = 1,
        .choices = batch_copy(b->rig->choices, x->decisions, sizeof(rad_choice), out),
        .choice_count = x->decisions,
        .set_hashes = batch_copy(k->set_hashes, x->set_hash_count, sizeof(uint64_t), out),
        .set_hash_count = x->set_hash_count,
        .set_roll = x->set_roll,
        .switches = x->switches,
    };
}

/* A race that did not end the run: the run up to the end of its step is the failure. */
static void batch_race(rad_batch_worker *b, rad_batch_result *out, const rad_report *r, uint64_t run)
{
    rad_verdict v;
    run_extent x = {r->decisions, r->switches, r->set_roll, r->set_hash_count};
    rad__verdict_of_race(b->rig->kernel, r, &v);
    batch_finding(b, out, &v, &x, run);
}

static void batch_failure(rad_batch_worker *b, rad_batch_result *out, const rad_verdict *v, uint64_t run)
{
    const rad_kernel *k = b->rig->kernel;
    run_extent x = {k->decisions, k->switches, k->set_roll, k->set_hash_count};
    batch_finding(b, out, v, &x, run);
}

static void batch_class(rad_batch_worker *b, rad_batch_result *out)
{
    if (b->classes.failed || rad__set128_add(&b->seen, b->classes.sum) != RAD_SET_NEW) return;
    if (!RAD_GROW(&out->classes, &out->class_capacity, (uint32_t)out->class_count + 1)) return;
    out->classes[out->class_count++] = b->classes.sum;
}

/* ---- Twice: the same choices must give the same run ------------------------------------------------- */

static bool batch_keep_events(rad_batch_worker *b, const rad_trace *t)
{
    if (!RAD_GROW(&b->events, &b->event_capacity, (uint32_t)t->count)) return false;
    for (uint64_t i = 0; i < t->count; i++) b->events[i] = *rad__trace_at(t, i);
    return true;
}

static uint64_t batch_first_difference(const rad_batch_worker *b, const rad_trace *t, uint64_t count)
{
    uint64_t i = 0;
    while (i < count && i < t->count && memcmp(&b->events[i], rad__trace_at(t, i), sizeof(rad_event)) == 0) i++;
    if (i < t->count) return rad__trace_at(t, i)->step;
    return i < count ? b->events[i].step : t->count ? rad__trace_at(t, t->count - 1)->step : 0;
}

/* Runs the recorded choices again; fills `v` with the difference, if there is one. */
static bool batch_differs(rad_batch_worker *b, rad_verdict *v, rad_batch_result *out)
{
    rad_kernel *k = b->rig->kernel;
    uint64_t decisions = k->decisions, events = k->trace.count;
    if (!batch_keep_events(b, &k->trace)) {
        batch_nomem(out);
        return false;
    }
    rad_verdict again;
    rad__rig_follow(b->rig, b->rig->choices, decisions, true, NULL);
    rad__verdict_of(k, &again);
    if (strcmp(v->trace_hash, again.trace_hash) == 0 && v->result == again.result &&
        strcmp(v->identity, again.identity) == 0)
        return false;
    *v = again;
    v->result = RAD_RESULT_FAILURE;
    v->failure_step = batch_first_difference(b, &k->trace, events);
    snprintf(v->kind, sizeof v->kind, "nondeterminism");
    snprintf(v->identity, sizeof v->identity, "nondeterminism");
    snprintf(v->message, sizeof v->message, "the same choices gave another run: first difference at step %llu",
             (unsigned long long)v->failure_step);
    return true;
}

/* ---- Runs ----------------------------------------------------------------------------------------- */

/* Takes one run into the result; false ends the batch. */
static bool batch_fold(rad_batch_worker *b, const rad_batch *u, rad_batch_result *out, uint64_t run)
{
    rad_kernel *k = b->rig->kernel;
    out->runs++;
    out->steps += k->step;
    if (k->outcome == RAD_OUTCOME_ERROR || k->outcome == RAD_OUTCOME_DIVERGED) {
        out->error = k->error;
        return false;
    }
    if (k->outcome != RAD_OUTCOME_PRUNED) batch_class(b, out);
    bool failed = k->outcome == RAD_OUTCOME_FAILED;
    bool limit = failed && (k->failure.oracle == RAD_ORACLE_LIVELOCK || k->failure.oracle == RAD_ORACLE_STEP_LIMIT);
    out->cut += k->outcome == RAD_OUTCOME_CUT;
    out->held += k->fair.held > 0;
    out->spent |= k->fair.spent;
    out->endless |= limit || k->outcome == RAD_OUTCOME_CUT;
    for (uint32_t i = 0; i < k->report_count; i++) batch_race(b, out, &k->reports[i], run);
    uint32_t races = k->report_count;
    if (failed || u->twice) {
        rad_verdict v;
        rad__verdict_of(k, &v);
        if (u->twice && k->outcome != RAD_OUTCOME_PRUNED && batch_differs(b, &v, out)) failed = true;
        if (failed) batch_failure(b, out, &v, run);
    }
    failed |= races > 0;
    out->failures += failed;
    return out->error.code == 0 && !(failed && u->stop_on_first);
}

/* A batch of slow runs ends early and leaves the rest to another one: limits and progress are looked at
 * between batches, and it does not matter how the runs are cut. Asks the clock every 64 steps. */
static bool batch_is_long(const rad_batch *u, uint64_t *started_ns, uint64_t *at_steps, const rad_batch_result *out)
{
    if (u->steps_max != 0 && out->steps >= u->steps_max) return true;
    if (*started_ns != 0 && out->steps - *at_steps < 64) return false;
    uint64_t now = rad__os_now_ns();
    *at_steps = out->steps;
    if (*started_ns == 0) *started_ns = now;
    return now - *started_ns > BATCH_NS;
}

static bool batch_policy(rad_batch_worker *b, const char *name, rad_batch_result *out)
{
    if (b->policy && strcmp(b->policy_name, name) == 0) return true;
    rad__policy_destroy(b->policy);
    b->policy = NULL;
    bool baseline = strcmp(name, "baseline") == 0; /* a guide without a list */
    int code =
        baseline ? rad__policy_guide(&b->policy, &out->error) : rad__policy_create(&b->policy, name, &out->error);
    snprintf(b->policy_name, sizeof b->policy_name, "%s", name);
    return code == 0;
}

static void batch_sample(rad_batch_worker *b, const rad_batch *u, rad_batch_result *out)
{
    if (!batch_policy(b, u->policy, out)) return;
    rad_run_options options = rad__rig_options(b->rig, b->policy);
    options.info = (rad_run_info){.seed = u->seed, .estimates = u->estimates};
    options.into = &out->learned;
    options.may_prune = true;
    uint64_t started_ns = 0, at_steps = 0;
    options.whole_trace = u->twice;
    options.digest_later = true;
    options.observers[0] = &b->classes.observer;
    for (uint64_t i = 0; i < u->count; i++) {
        b->rig->shared->run = i;
        options.info.run = u->first + i;
        rad__rig_run(b->rig, &options);
        if (!batch_fold(b, u, out, i) || batch_is_long(u, &started_ns, &at_steps, out)) return;
    }
}

/* Ends a run that reached a state from which everything has been or will be explored. */
typedef struct dedup {
    rad_observer observer;
    rad_batch_worker *worker;
    uint64_t prefix; /* decisions that belong to the path: their states are known on purpose */
    bool circles;    /* some run came back to a state of its own */
} dedup;

static void dedup_begin(rad_observer *o, rad_kernel *k)
{
    (void)k;
    rad__set128_clear(&((dedup *)o)->worker->passed);
}

static bool dedup_deciding(rad_observer *o, rad_kernel *k)
{
    dedup *d = (dedup *)o;
    rad_state_hash h = {{0, 0}};
    k->machine->state(k->self, &h);
    rad__fair_state(k, &h);
    bool again = rad__set128_add(&d->worker->passed, h.digest) == RAD_SET_KNOWN;
    if (k->decisions < d->prefix) return false;
    if (again) d->circles = true; /* a schedule that never ends, of which this run is the beginning */
    return rad__set128_add(&d->worker->visited, h.digest) == RAD_SET_KNOWN;
}

static void batch_tree(rad_batch_worker *b, const rad_batch *u, rad_batch_result *out)
{
    rad_rig *rig = b->rig;
    dedup watch = {
        .observer = {.begin = dedup_begin, .deciding = dedup_deciding},
        .worker = b,
        .prefix = u->path_count,
    };
    rad_run_options options = rad__rig_options(rig, rig->guide);
    options.whole_trace = u->twice;
    options.digest_later = true;
    options.observers[0] = &b->classes.observer;
    options.observers[1] = u->dedup ? &watch.observer : NULL;
    uint64_t length = u->path_count, started_ns = 0, at_steps = 0, known = b->visited.count;
    if (length) memcpy(rig->choices, u->path, length * sizeof *u->path);
    for (uint64_t i = 0; i < u->count; i++) {
        rig->shared->run = i;
        watch.prefix = length;
        rad__guide_follow(rig->guide, rig->choices, length);
        rad__rig_run(rig, &options);
        bool more = batch_fold(b, u, out, i);
        length = rig->kernel->decisions;
        out->exhausted = !rad__tree_advance(rig->choices, &length, u->floor, u->bound, u->bound_limit, &out->pruned);
        if (out->exhausted || !more || batch_is_long(u, &started_ns, &at_steps, out)) break;
    }
    out->endless |= watch.circles;
    out->states = b->visited.count - known;
    out->path = batch_copy(rig->choices, length, sizeof *out->path, out);
    out->path_count = length;
}

static void batch_script(rad_batch_worker *b, const rad_batch *u, rad_batch_result *out)
{
    if (b->script == NULL && rad__policy_script(&b->script, &out->error) != 0) return;
    rad__script_set(b->script, u->steps, u->step_count, u->picks, u->pick_count);
    rad_run_options options = rad__rig_options(b->rig, b->script);
    b->rig->shared->run = 0;
    rad__rig_run(b->rig, &options);
    batch_fold(b, u, out, 0);
}

void rad__batch_run(rad_batch_worker *b, const rad_batch *u, rad_batch_result *out)
{
    rad_kernel *k = b->rig->kernel;
    *out = (rad_batch_result){0};
    b->rig->unfair = u->unfair;
    b->rig->target.c.spin_rounds = u->spin_rounds;
    b->rig->shared->check = u->check;
    b->rig->limit = u->round ? RAD_LIMIT_ROUND : rad__limit_of(b->rig->target.machine);
    b->rig->ends_at = u->races_go_on ? u->ends_at : NULL;
    b->rig->here = b->rig->audits = 0;
    k->suppressed = 0;
    k->suppressed_count = 0;
    if (k->suppressed_by) memset(k->suppressed_by, 0, k->suppressed_capacity * sizeof *k->suppressed_by);
    memset(k->evaluations, 0, sizeof k->evaluations);
    memset(k->reached, 0, sizeof k->reached);
    rad__set128_clear(&b->seen);
    b->rig->shared->timed = 0;
    b->rig->shared->waited = 0;
    b->rig->shared->outside = (rad_outside){0};
    switch (u->kind) {
    case RAD_BATCH_SAMPLE: batch_sample(b, u, out); break;
    case RAD_BATCH_TREE: batch_tree(b, u, out); break;
    case RAD_BATCH_SCRIPT: batch_script(b, u, out); break;
    }
    if (out->runs) rad__verdict_of(k, &out->last);
    if (out->runs == 1 && u->count == 1) {
        out->last_hashes = batch_copy(k->set_hashes, k->set_hash_count, sizeof *k->set_hashes, out);
        out->last_hash_count = k->set_hash_count;
    }
    out->here = b->rig->here;
    out->audits = b->rig->audits;
    memcpy(out->why, b->rig->why, sizeof out->why);
    out->suppressed = k->suppressed;
    out->suppressed_by = batch_copy(k->suppressed_by, k->suppressed_count, sizeof *k->suppressed_by, out);
    out->suppressed_count = k->suppressed_count;
    out->timed = b->rig->shared->timed != 0;
    out->waited = b->rig->shared->waited != 0;
    out->outside = b->rig->shared->outside;
    memcpy(out->evaluations, k->evaluations, sizeof out->evaluations);
    memcpy(out->reached, k->reached, sizeof out->reached);
}

/* ---- Between processes ----------------------------------------------------------------------------- */

static void put_array(rad_bytes *to, const void *items, uint64_t count, size_t size)
{
    if (items == NULL) count = 0; /* memory ran out, which the result says */
    rad__bytes_put(to, &count, sizeof count);
    rad__bytes_put(to, items, count * size);
}

static void *get_array(rad_reader *from, uint64_t *count, size_t size)
{
    const void *count_at = rad__read_bytes(from, sizeof *count);
    *count = 0;
    if (count_at == NULL) return NULL;
    memcpy(count, count_at, sizeof *count);
    const void *bytes = *count > SIZE_MAX / size ? NULL : rad__read_bytes(from, *count * size);
    void *items = bytes ? rad__alloc(*count, size) : NULL;
    if (items == NULL) {
        from->failed = true;
        *count = 0;
    } else if (*count) {
        memcpy(items, bytes, *count * size);
    }
    return items;
}

void rad__batch_write(const rad_batch *u, rad_bytes *to)
{
    rad__bytes_put(to, u, sizeof *u);
    put_array(to, u->path, u->path_count, sizeof *u->path);
    put_array(to, u->steps, u->step_count, sizeof *u->steps);
    put_array(to, u->picks, u->pick_count, sizeof *u->picks);
    rad_estimates none = {0};
    rad__estimates_write(u->estimates ? u->estimates : &none, to);
}

void rad__batch_free(rad_batch *u)
{
    rad__free(u->path);
    rad__free((void *)u->steps);
    rad__free((void *)u->picks);
}

bool rad__batch_read(rad_batch *u, rad_estimates *estimates, rad_reader *from)
{
    const void *head = rad__read_bytes(from, sizeof *u);
    if (head == NULL) return false;
    memcpy(u, head, sizeof *u);
    u->path = get_array(from, &u->path_count, sizeof *u->path);
    u->steps = get_array(from, &u->step_count, sizeof *u->steps);
    u->picks = get_array(from, &u->pick_count, sizeof *u->picks);
    u->estimates = estimates;
    return rad__estimates_read(estimates, from) && !from->failed;
}

void rad__batch_result_write(const rad_batch_result *r, rad_bytes *to)
{
    rad__bytes_put(to, r, sizeof *r);
    put_array(to, r->path, r->path_count, sizeof *r->path);
    put_array(to, r->classes, r->class_count, sizeof *r->classes);
    put_array(to, r->last_hashes, r->last_hash_count, sizeof *r->last_hashes);
    put_array(to, r->suppressed_by, r->suppressed_count, sizeof *r->suppressed_by);
    put_array(to, r->findings, r->finding_count, sizeof *r->findings);
    for (uint64_t i = 0; i < r->finding_count; i++) {
        const rad_batch_finding *f = &r->findings[i];
        put_array(to, f->choices, f->choice_count, sizeof *f->choices);
        put_array(to, f->set_hashes, f->set_hash_count, sizeof *f->set_hashes);
    }
    rad__estimates_write(&r->learned, to);
}

bool rad__batch_result_read(rad_batch_result *r, rad_reader *from)
{
    const void *head = rad__read_bytes(from, sizeof *r);
    if (head == NULL) return false;
    memcpy(r, head, sizeof *r);
    r->learned = (rad_estimates){0};
    r->path = get_array(from, &r->path_count, sizeof *r->path);
    r->classes = get_array(from, &r->class_count, sizeof *r->classes);
    r->last_hashes = get_array(from, &r->last_hash_count, sizeof *r->last_hashes);
    r->suppressed_by = get_array(from, &r->suppressed_count, sizeof *r->suppressed_by);
    r->findings = get_array(from, &r->finding_count, sizeof *r->findings);
    r->finding_capacity = (uint32_t)r->finding_count;
    for (uint64_t i = 0; i < r->finding_count; i++) {
        uint64_t hashes; /* the pointers that came along are the other process's: all are replaced */
        rad_batch_finding *f = &r->findings[i];
        f->choices = get_array(from, &f->choice_count, sizeof *f->choices);
        f->set_hashes = get_array(from, &hashes, sizeof *f->set_hashes);
        f->set_hash_count = (uint32_t)hashes;
    }
    return rad__estimates_read(&r->learned, from) && !from->failed;
}
