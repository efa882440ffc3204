/* explore.c — many runs: cuts the plan into batches, hands them to workers, folds the answers in order.
 *
 * The plan has rows (strategy.h), which take turns: in round r row l folds share(l) * 2^r runs, then the next row
 * has its turn, and a row that has tried everything gives its turns up. So run i of an exploration follows from the
 * seed and from the runs before it. The budget only says where to stop: a larger one never finds the first bug later.
 *
 * The work of a row is a list of queued batches in run order. Idle workers start queued batches from the front, and
 * the explorer folds strictly from the front, so that every number, and which failure counts as the first, is the
 * same for any number of workers. What is not folded when the exploration stops never happened. Queued batches of
 * other rows may still be under way when a turn begins: their results wait for the next turn of their row.
 *
 *     WAITING --start--> STARTED --answer--> DONE --all before it folded--> folded and gone
 *     STARTED --its process died--> replaced by: the runs before, the death itself, the runs after
 *
 * Q1  a queued batch has a result exactly when it is DONE.
 * Q2  of a sampling row: the runs that were folded, and those of its queued batches, are all runs below `next`.
 * Q3  of a tree: the paths of its queued batches grow, in the order of the search (tree.c).
 * They are looked at after each fold, and asserted. */
#include <raddle/lab.h>

#include "base/alloc.h"
#include "base/prng.h"
#include "core/policy_user.h"
#include "lab/programs/outside.h"
#include "lab/programs/source_name.h"
#include "lab/programs/under_test.h"
#include "lab/strategy.h"
#include "lab/workers.h"
#include "os/clock.h"

#include <stdio.h>
#include <string.h>

enum {
    BATCH_RUNS = 2048,    /* a few milliseconds on small machines; their classes fit into a pipe */
    BATCHES_AHEAD = 16,   /* of a worker: queued batches that are made at a time */
    CLASSES_AHEAD = 16,   /* how early the memory of a class is asked for */
    TICK_MS = 50,         /* how often limits are looked at and progress is told */
    CLASSES_MAX = 1 << 22 /* 64 MiB of fingerprints */
};

enum queued_state { QUEUED_WAITING, QUEUED_STARTED, QUEUED_DONE };

typedef struct queued queued;
typedef struct row row;

struct queued {
    queued *next;
    row *row;
    enum queued_state state;
    bool closed;     /* what would come after its `runs` runs is another queued batch's */
    uint64_t runs;   /* closed: how many are its own; a batch of it may do fewer */
    uint64_t killed; /* its run that was last killed, as a hash; see explorer_death */
    rad_batch batch;
    rad_batch_result result;
};

/* A sampling policy, a search, or a row of searches with rising bounds. */
struct row {
    const rad_plan_phase *plan; /* the phase it is in */
    uint32_t phases_left;       /* of this row, this one included; 0: the row has nothing left to do */
    uint64_t share;
    rad_phase *phase;        /* what is reported of it; NULL: not begun */
    queued *front;           /* all its queued batches, in run order */
    uint64_t next;           /* sampling: the first run that no queued batch has yet */
    uint64_t turn_end;       /* runs of the phase after which the turn ends */
    rad_estimates estimates; /* what the runs of this epoch know */
    rad_estimates learned;   /* what they add, for the next one */
    bool spins;              /* a turn only after an actor was held back: strategy.h */
    bool one_by_one;         /* dedup on a machine that dies: see explorer_death */
};

typedef struct explorer {
    const rad_target *target;
    const rad_explore_options *options;
    rad_exploration *out;
    rad_workers *workers;
    rad_set128 classes;
    row rows[RAD_ROWS_MAX];
    uint32_t row_count;
    row *at; /* whose turn it is */
    uint64_t runs_budget;
    uint64_t steps_budget;
    double seconds; /* 0: no limit */
    double started, told;
    bool stop;
    rad_error *error;
} explorer;

/* ---- Queued batches -------------------------------------------------------------------------------- */

/* Done again: it was more than may be folded now, or its process was killed from outside. */
static void queued_move(queued *p, enum queued_state to)
{
    static const uint8_t from[] = {[QUEUED_WAITING] = 1 << QUEUED_STARTED | 1 << QUEUED_DONE,
                                   [QUEUED_STARTED] = 1 << QUEUED_WAITING,
                                   [QUEUED_DONE] = 1 << QUEUED_STARTED | 1 << QUEUED_WAITING};
    RAD_ASSERT(from[to] >> p->state & 1);
    p->state = to;
}

static uint64_t queued_runs(const queued *p)
{
    return p->closed ? p->runs : p->batch.count;
}

/* Whether path a comes before path b; what is not in a path is the baseline, 0. */
static bool path_is_before(const rad_batch *a, const rad_batch *b)
{
    for (uint64_t i = 0; i < a->path_count || i < b->path_count; i++) {
        uint32_t one = i < a->path_count ? a->path[i].chosen : 0, other = i < b->path_count ? b->path[i].chosen : 0;
        if (one != other) return one < other;
    }
    return false;
}

/* Q1 … Q3. The death of a run has its choices in its result, and no path. */
static void row_check(const row *l)
{
    const queued *before = NULL;
    uint64_t runs = l->phase->runs;
    for (const queued *p = l->front; p != NULL; p = p->next) {
        RAD_ASSERT(p->row == l);
        RAD_ASSERT(p->state == QUEUED_DONE || (p->result.runs == 0 && p->result.findings == NULL));
        runs += queued_runs(p);
        if (p->batch.kind != RAD_BATCH_TREE || p->batch.path == NULL) continue;
        RAD_ASSERT(before == NULL || path_is_before(&before->batch, &p->batch));
        before = p;
    }
    RAD_ASSERT(l->plan->tree || runs == l->next);
}

static void queued_free(queued *p)
{
    rad__free(p->batch.path);
    rad__batch_result_free(&p->result);
    rad__free(p);
}

static queued *queued_insert(explorer *x, row *l, queued **at, const rad_batch *u)
{
    queued *p = rad__alloc(1, sizeof *p);
    if (p == NULL) {
        rad__error_memory(x->error);
        return NULL;
    }
    p->row = l;
    p->batch = *u;
    p->next = *at;
    *at = p;
    return p;
}

static rad_choice *path_copy(explorer *x, const rad_choice *path, uint64_t count)
{
    rad_choice *copy = rad__alloc(count, sizeof *copy);
    if (copy == NULL)
        rad__error_memory(x->error);
    else if (count)
        memcpy(copy, path, count * sizeof *copy);
    return copy;
}

static rad_batch row_batch(const explorer *x, const row *l, uint64_t first, uint64_t count)
{
    rad_batch u = {
        .kind = l->plan->tree ? RAD_BATCH_TREE : RAD_BATCH_SAMPLE,
        .stop_on_first = x->options->stop_on_first,
        .twice = x->options->twice,
        .check = x->options->check,
        .dedup = l->plan->dedup,
        .races_go_on = !x->options->races_fatal,
        .seed = x->options->seed,
        .first = first,
        .count = count,
        .bound = l->plan->bound,
        .bound_limit = l->plan->bound_limit,
        .spin_rounds = l->plan->spin_rounds ? l->plan->spin_rounds : x->target->c.spin_rounds,
        .estimates = &l->estimates,
    };
    size_t policy = l->plan->spin_rounds ? strcspn(l->plan->name, "+") : strlen(l->plan->name);
    snprintf(u.policy, sizeof u.policy, "%.*s", (int)policy, l->plan->name);
    return u;
}

/* ---- Folding -------------------------------------------------------------------------------------- */

static void fold_finding(explorer *x, const rad_batch_finding *f)
{
    rad_exploration *out = x->out;
    for (uint32_t i = 0; i < out->finding_count; i++) {
        rad_finding *known = &out->findings[i];
        if (strcmp(rad_artifact_verdict(known->artifact)->identity, f->verdict.identity) != 0) continue;
        known->failures += f->failures;
        return;
    }
    if (out->finding_count == RAD_FINDINGS_MAX) {
        out->findings_dropped += f->failures;
        return;
    }
    rad_finding *fresh = &out->findings[out->finding_count];
    rad_target target = *x->target;
    if (x->at->plan->spin_rounds) target.c.spin_rounds = x->at->plan->spin_rounds;
    int code = rad__artifact_of_choices(&fresh->artifact, &target, x->at->plan->name, x->options->seed, f->choices,
                                        f->choice_count, &f->verdict, x->error);
    if (code != 0) return;
    if (f->set_hashes && /* not of a run that died */
        rad__artifact_set_hashes(fresh->artifact, f->set_hashes, f->set_hash_count, f->set_roll, f->choice_count,
                                 x->error) != 0) {
        rad_artifact_free(fresh->artifact);
        return;
    }
    fresh->run = out->runs + f->first_run;
    fresh->failures = f->failures;
    out->finding_count++;
    if (x->options->found) x->options->found(x->options->context, fresh->artifact);
}

static void fold_classes(explorer *x, const rad_batch_result *r)
{
    for (uint64_t i = 0; i < r->class_count; i++) {
        if (i + CLASSES_AHEAD < r->class_count) rad__set128_prefetch(&x->classes, r->classes[i + CLASSES_AHEAD]);
        x->out->classes_capped |= rad__set128_add(&x->classes, r->classes[i]) == RAD_SET_FULL;
    }
    x->out->classes = x->classes.count;
}

static void fold_suppressed(explorer *x, const rad_batch_result *r)
{
    rad_exploration *out = x->out;
    out->races_suppressed += r->suppressed;
    for (uint64_t i = 0; i < r->suppressed_count && i < out->suppressed_count; i++)
        out->suppressed_by[i] += r->suppressed_by[i];
}

static void fold_result(explorer *x, const rad_batch_result *r)
{
    rad_exploration *out = x->out;
    row *l = x->at;
    for (uint64_t i = 0; i < r->finding_count; i++) fold_finding(x, &r->findings[i]);
    out->runs += r->runs;
    out->steps += r->steps;
    out->states += r->states;
    out->failures += r->failures;
    out->cut += l->spins ? 0 : r->cut; /* where loops continue, runs may become too long */
    out->held += l->spins ? 0 : r->held;
    fold_suppressed(x, r);
    out->timed |= r->timed;
    out->waited |= r->waited;
    rad__outside_join(&out->outside, &r->outside);
    out->in_process += r->here;
    out->audits += r->audits;
    if (out->apart[0] == 0) memcpy(out->apart, r->why, sizeof out->apart);
    l->phase->cut += r->cut;
    l->phase->runs += r->runs;
    l->phase->failures += r->failures;
    for (uint32_t i = 0; i < RAD_ORACLES_MAX; i++) out->evaluations[i] += r->evaluations[i];
    for (uint32_t i = 0; i < RAD_SITES_MAX; i++) out->site_reached[i] |= r->reached[i];
    fold_classes(x, r);
    rad__estimates_fold(&l->learned, &r->learned);
    l->phase->pruned |= r->pruned;
    l->phase->endless |= r->endless;
    l->phase->spent |= r->spent;
    if (out->steps >= x->steps_budget) out->out_of_steps = x->stop = true;
    if (x->options->stop_on_first && out->failures > 0) x->stop = true;
}

/* Runs that the row may still fold in this turn. */
static uint64_t turn_left(const row *l)
{
    RAD_ASSERT(l->phase->runs <= l->turn_end);
    return l->turn_end - l->phase->runs;
}

/* Not more than may still be folded: a batch with dedup cannot be done again, it has seen its states. Between two
 * turns nothing may be folded, and a batch of the usual size is prepared. */
static uint64_t tree_batch_runs(const row *l)
{
    uint64_t left = turn_left(l);
    if (left == 0) left = BATCH_RUNS;
    if (l->one_by_one) return 1;
    return left < BATCH_RUNS ? left : BATCH_RUNS;
}

/* The front of a tree may have been made in an earlier turn: it does what this turn can fold. */
static void front_fits(row *l)
{
    queued *p = l->front;
    uint64_t left = turn_left(l);
    if (!p->closed)
        p->batch.count = tree_batch_runs(l);
    else if (left > 0)
        p->batch.count = p->runs < left ? p->runs : left;
}

/* What a queued batch has left undone stands in its place: the rest of a tree, or of a batch that took too long. A
 * closed queued batch goes on, too, up to the run that is another's. */
static void queued_rest(explorer *x, queued *p)
{
    bool tree = p->batch.kind == RAD_BATCH_TREE;
    uint64_t missing = queued_runs(p) - p->result.runs;
    if (tree && !p->closed ? p->result.exhausted : missing == 0) return;
    rad_batch rest = p->batch;
    rest.count = tree && !p->closed ? tree_batch_runs(p->row) : missing;
    rest.path = p->result.path;
    rest.path_count = p->result.path_count;
    p->result.path = NULL; /* handed over */
    rest.first += tree ? 0 : p->result.runs;
    queued *next = queued_insert(x, p->row, &p->row->front, &rest);
    if (next == NULL) {
        rad__free(rest.path);
        return;
    }
    next->closed = p->closed;
    next->runs = missing;
}

/* Folds what is done at the front. A tree queued batch that has not finished goes on in its place; one that
 * would overrun the turn is done again with what is left. */
static void explorer_fold(explorer *x)
{
    row *l = x->at;
    while (l->front && l->front->state == QUEUED_DONE && !x->stop && x->error->code == 0) {
        queued *p = l->front;
        if (p->result.error.code != 0) { /* here and not when it came: the front is what counts */
            rad__error(x->error, p->result.error.code, "%s", p->result.error.text);
            return;
        }
        if (p->result.runs > turn_left(l)) {
            rad__batch_result_free(&p->result);
            p->batch.count = turn_left(l);
            queued_move(p, QUEUED_WAITING);
            return;
        }
        uint64_t steps_left = x->steps_budget - x->out->steps;
        if (p->result.steps > steps_left && p->batch.steps_max != steps_left && p->result.runs > 1) {
            rad__batch_result_free(&p->result); /* started when more was left */
            queued_move(p, QUEUED_WAITING);
            return;
        }
        fold_result(x, &p->result);
        l->front = p->next;
        if (!x->stop) queued_rest(x, p);
        queued_free(p);
        if (turn_left(l) == 0) return;
    }
}

/* ---- Starting and answers -------------------------------------------------------------------------- */

/* Something to start: the first waiting queued batch, or the later half of one that waits when others idle. */
static int explorer_start(explorer *x)
{
    row *l = x->at;
    for (queued *p = l->front; p && rad__workers_idle(x->workers) > 0; p = p->next) {
        if (p->state != QUEUED_WAITING) continue;
        if (p->batch.dedup && p != l->front) break; /* one process knows the visited states */
        rad_batch other;
        bool more_hands = rad__workers_idle(x->workers) > 1 && !p->batch.dedup;
        if (p->batch.kind == RAD_BATCH_TREE && !p->closed && more_hands && rad__tree_split(&p->batch, &other)) {
            other.count = BATCH_RUNS;
            if (queued_insert(x, l, &p->next, &other) == NULL) {
                rad__free(other.path);
                return x->error->code;
            }
        }
        if (p->batch.kind == RAD_BATCH_TREE && p == l->front) front_fits(l);
        p->batch.steps_max = x->steps_budget - x->out->steps;
        queued_move(p, QUEUED_STARTED);
        if (rad__workers_start(x->workers, &p->batch, p, x->error) != 0) return x->error->code;
    }
    return 0;
}

static void death_suppressed(explorer *x, const rad_workers_answer *a, rad_batch_result *r)
{
    r->suppressed = a->suppressed;
    r->suppressed_by = a->suppressed ? rad__alloc(RAD_PATTERNS_TOLD, sizeof *r->suppressed_by) : NULL;
    if (a->suppressed && r->suppressed_by == NULL) rad__error_memory(x->error);
    for (uint32_t i = 0; r->suppressed_by && i < RAD_PATTERNS_TOLD; i++) {
        r->suppressed_by[i] = a->suppressed_by[i];
        if (r->suppressed_by[i]) r->suppressed_count = i + 1;
    }
}

/* The result of a run whose process died, as if a batch of that one run had answered. */
static bool death_result(explorer *x, const rad_workers_answer *a, rad_batch_result *r)
{
    *r = (rad_batch_result){.runs = 1, .failures = 1, .steps = a->verdict.steps, .exhausted = true};
    r->evaluations[RAD_ORACLE_CRASH] = 1;
    death_suppressed(x, a, r);
    rad_choice *choices = path_copy(x, a->choices, a->choice_count);
    if (choices == NULL) return false;
    rad_batch_finding *f = rad__batch_finding_add(r);
    if (f == NULL) {
        rad__free(choices);
        return rad__error_memory(x->error) == 0;
    }
    *f = (rad_batch_finding){
        .verdict = a->verdict,
        .failures = 1,
        .choices = choices,
        .choice_count = a->choice_count,
    };
    return true;
}

/* True when this run has not been killed before. */
static bool killed_once(queued *p, const rad_workers_answer *a)
{
    uint64_t hash = rad__mix2(p->batch.first + a->run, a->choice_count + 1);
    for (uint64_t i = 0; i < a->choice_count; i++) hash = rad__mix2(hash, a->choices[i].chosen);
    bool again = p->killed == hash;
    p->killed = hash;
    return !again;
}

/* The runs after the one that died, as a queued batch after p; none when it was the last. */
static int death_rest(explorer *x, queued *p, const rad_workers_answer *a, bool *pruned)
{
    rad_batch rest = p->batch;
    rest.path = NULL;
    bool more;
    if (rest.kind == RAD_BATCH_TREE) {
        uint64_t length = a->choice_count;
        rest.path = path_copy(x, a->choices, length);
        if (rest.path == NULL) return x->error->code;
        more = rad__tree_advance(rest.path, &length, rest.floor, rest.bound, rest.bound_limit, pruned);
        rest.path_count = length;
        rest.count = tree_batch_runs(p->row);
    } else {
        more = a->run + 1 < rest.count;
        rest.first += a->run + 1;
        rest.count -= a->run + 1;
    }
    if (p->closed) { /* it died another time, where it had not: up to the run that is another's */
        more = more && p->runs > a->run + 1;
        rest.count = p->runs - (a->run + 1);
    }
    queued *after = more ? queued_insert(x, p->row, &p->next, &rest) : NULL;
    if (after == NULL) rad__free(rest.path);
    if (after != NULL && p->closed) {
        after->closed = true;
        after->runs = rest.count;
    }
    return x->error->code;
}

/* The queued batch that was being done becomes the runs before the death; the death and the rest follow it. */
static int explorer_death(explorer *x, queued *p, const rad_workers_answer *a)
{
    if (p->batch.dedup && a->run > 0) {
        /* The visited states died with the process, so the runs before would not be the same again. From
         * here on each run is a batch of its own, and this death will come as the first of one. */
        p->row->one_by_one = true;
        p->batch.count = 1;
        queued_move(p, QUEUED_WAITING);
        return 0;
    }
    if (strcmp(a->verdict.identity, "crash:SIGKILL") == 0 && killed_once(p, a)) {
        /* Perhaps it came from outside (an operator, the kernel short of memory). Everything is done
         * again, and believed when it happens to the same run. */
        queued_move(p, QUEUED_WAITING);
        return 0;
    }
    bool pruned = false;
    if (death_rest(x, p, a, &pruned) != 0) return x->error->code;
    rad_batch one = p->batch;
    one.path = NULL;
    one.path_count = 0;
    one.count = 1;
    queued *death = queued_insert(x, p->row, &p->next, &one);
    if (death == NULL || !death_result(x, a, &death->result)) return x->error->code;
    death->result.pruned = pruned;
    death->closed = true;
    death->runs = 1;
    queued_move(death, QUEUED_DONE);
    p->closed = true;
    p->runs = p->batch.count = a->run;
    queued_move(p, a->run > 0 ? QUEUED_WAITING : QUEUED_DONE); /* no runs before: an empty result */
    return 0;
}

static int explorer_answer(explorer *x)
{
    rad_workers_answer a;
    int code = rad__workers_wait(x->workers, TICK_MS, &a, x->error);
    if (code != 0 || a.ticket == NULL) return code;
    queued *p = a.ticket;
    const rad_explore_options *o = x->options;
    if (a.died && o->interrupted && *o->interrupted) /* whoever asked us to stop asked the worker too */
        return rad__error(x->error, RAD_EINTERRUPTED, "interrupted");
    if (a.died) return explorer_death(x, p, &a);
    p->result = a.result;
    queued_move(p, QUEUED_DONE);
    return 0;
}

static void explorer_tell(explorer *x)
{
    const rad_explore_options *o = x->options;
    double now = rad__os_now_seconds();
    x->out->elapsed = now - x->started;
    if (o->interrupted && *o->interrupted) x->out->interrupted = x->stop = true;
    if (x->seconds > 0 && x->out->elapsed >= x->seconds) x->out->out_of_time = x->stop = true;
    if (o->progress == NULL || now - x->told < TICK_MS / 1000.0) return;
    x->told = now;
    rad_progress progress = {
        .phase = x->at->plan->name,
        .runs = x->out->runs,
        .runs_budget = x->runs_budget,
        .failures = x->out->failures,
        .cut = x->out->cut,
        .classes = x->out->classes,
        .elapsed = x->out->elapsed,
    };
    o->progress(o->context, &progress);
}

/* ---- Rows and turns ------------------------------------------------------------------------------- */

/* Works until every queued batch of the row is folded, its turn is over, or something says stop. */
static int explorer_work(explorer *x)
{
    while (x->at->front && !x->stop && turn_left(x->at) > 0) {
        int code = explorer_start(x);
        if (code == 0) code = explorer_answer(x);
        if (code == 0 && !x->at->plan->tree) code = explorer_start(x); /* nobody waits for a fold */
        if (code == 0) explorer_fold(x);
        if (code == 0) code = x->error->code;
        if (code == 0 && !x->stop) row_check(x->at);
        if (code != 0) return code;
        explorer_tell(x);
    }
    return 0;
}

/* Queued batches for the runs up to the end of the epoch, or of the turn. How the runs are cut changes nothing. */
static int sample_queue(explorer *x, row *l, uint64_t end)
{
    uint64_t jobs = x->options->jobs ? x->options->jobs : 1;
    uint64_t size = (end - l->next + jobs - 1) / jobs;
    if (size > BATCH_RUNS) size = BATCH_RUNS;
    for (queued **at = &l->front; l->next < end; l->next += size) {
        if (size > end - l->next) size = end - l->next;
        rad_batch u = row_batch(x, l, l->next, size);
        queued *p = queued_insert(x, l, at, &u);
        if (p == NULL) return x->error->code;
        at = &p->next;
    }
    return 0;
}

/* Estimates change where an epoch ends. */
static int turn_sample(explorer *x, row *l)
{
    uint64_t jobs = x->options->jobs ? x->options->jobs : 1;
    while (turn_left(l) > 0 && !x->stop) {
        uint64_t epoch = l->plan->learns ? rad__epoch_end(l->next) : l->next + BATCH_RUNS * jobs * BATCHES_AHEAD;
        int code = sample_queue(x, l, epoch < l->turn_end ? epoch : l->turn_end);
        if (code == 0) code = explorer_work(x);
        if (code != 0) return code;
        if (l->plan->learns && l->next == epoch) {
            rad__estimates_fold(&l->estimates, &l->learned);
            rad__estimates_clear(&l->learned);
        }
    }
    return 0;
}

/* Every schedule was tried, or every fair one: then only those are left that are not. */
static void explorer_complete(explorer *x)
{
    x->out->complete = true;
    for (uint32_t i = 0; i < x->row_count; i++)
        if (!x->rows[i].spins || !x->rows[i].plan->tree) x->rows[i].phases_left = 0;
}

/* A bound is exhausted; a higher one adds nothing when this one cut nothing off, and more rounds add nothing when these
 * were not used up. */
static void tree_exhausted(explorer *x, row *l)
{
    const rad_phase *done = l->phase;
    bool more = done->pruned || (l->spins && done->spent);
    l->phase->exhausted = true;
    l->phase = NULL;
    l->phases_left = more ? l->phases_left - 1 : 0;
    l->plan++;
    while (l->spins && !done->spent && l->phases_left > 0 && l->plan->bound_limit == done->preemptions) {
        l->phases_left--;
        l->plan++;
    }
    if (!l->spins && !done->pruned && !done->endless) explorer_complete(x);
}

static int turn_tree(explorer *x, row *l)
{
    if (l->phase->runs == 0 && l->front == NULL) {
        rad_batch u = row_batch(x, l, 0, tree_batch_runs(l));
        if (queued_insert(x, l, &l->front, &u) == NULL) return x->error->code;
    }
    int code = explorer_work(x);
    l->phase->bounded = true;
    if (code == 0 && l->front == NULL && !x->stop) tree_exhausted(x, l);
    return code;
}

static void phase_begin(explorer *x, row *l)
{
    RAD_ASSERT(x->out->phase_count < RAD_PHASES_MAX);
    l->phase = &x->out->phases[x->out->phase_count++];
    *l->phase = (rad_phase){0};
    snprintf(l->phase->name, sizeof l->phase->name, "%s", l->plan->name);
    l->phase->spin_rounds = l->plan->spin_rounds;
    l->phase->preemptions = l->plan->bound_limit;
    l->next = 0;
    l->one_by_one = false;
}

/* At most `runs` of the row: less when it has tried everything. The next phase of a row begins within the turn. */
static int row_turn(explorer *x, row *l, uint64_t runs)
{
    uint64_t end = x->out->runs + runs; /* x->out->runs counts what this turn folds */
    x->at = l;
    while (l->phases_left > 0 && x->out->runs < end && !x->stop) {
        if (l->phase == NULL) phase_begin(x, l);
        uint64_t left = end - x->out->runs, most = l->plan->runs - l->phase->runs;
        l->turn_end = l->phase->runs + (left < most ? left : most);
        int code = l->plan->tree ? turn_tree(x, l) : turn_sample(x, l);
        if (code != 0) return code;
        if (l->phase && l->phase->runs == l->plan->runs) l->phases_left = 0;
    }
    return 0;
}

/* What is not fair is tried only where fairness leaves something out. */
static bool row_has_turns(const explorer *x, const row *l)
{
    return l->phases_left > 0 && (!l->spins || (x->out->held > 0 && !x->options->fair_only));
}

/* Everything has been tried, or nobody has anything left to do. */
static bool explorer_is_done(const explorer *x)
{
    if (x->stop || x->out->runs >= x->runs_budget) return true;
    for (uint32_t i = 0; i < x->row_count; i++)
        if (row_has_turns(x, &x->rows[i])) return false;
    return true;
}

static int explorer_rows(explorer *x, const rad_plan *plan)
{
    x->row_count = plan->row_count;
    for (uint32_t i = 0; i < plan->row_count; i++)
        x->rows[i] = (row){
            .plan = &plan->phases[plan->rows[i].first],
            .phases_left = plan->rows[i].count,
            .share = plan->rows[i].share,
            .spins = plan->rows[i].spins,
        };
    for (uint32_t round = 0; !explorer_is_done(x); round++) {
        for (uint32_t i = 0; i < x->row_count && !explorer_is_done(x); i++) {
            row *l = &x->rows[i];
            if (!row_has_turns(x, l)) continue;
            uint64_t left = x->runs_budget - x->out->runs;
            uint64_t runs = round < 32 && l->share <= UINT32_MAX ? l->share << round : left;
            int code = row_turn(x, l, runs < left ? runs : left);
            if (code != 0) return code;
        }
    }
    return 0;
}

static void explorer_drop(explorer *x)
{
    for (uint32_t i = 0; i < x->row_count; i++) {
        row *l = &x->rows[i];
        while (l->front) {
            queued *p = l->front;
            l->front = p->next;
            queued_free(p);
        }
        rad__estimates_free(&l->estimates);
        rad__estimates_free(&l->learned);
    }
}

static void count_sites(const rad_target *t, rad_exploration *out)
{
    void *self = NULL;
    rad_error ignored = {0};                 /* opening the workers asks again and reports */
    if (rad__program_is(t->machine)) return; /* a program need not make every call that there is */
    if (t->machine->site_name == NULL || t->machine->create(&self, t->machine, &t->c, &ignored) != 0) return;
    while (out->site_count < RAD_SITES_MAX && t->machine->site_name(self, out->site_count) != NULL) out->site_count++;
    t->machine->destroy(self);
}

static int count_patterns(explorer *x)
{
    const char *const *all = x->options->suppressed;
    uint64_t count = 0;
    while (all && all[count]) count++;
    x->out->suppressed_by = count ? rad__alloc(count, sizeof *x->out->suppressed_by) : NULL;
    if (count && x->out->suppressed_by == NULL) return rad__error_memory(x->error);
    x->out->suppressed_count = count;
    return 0;
}

/* Runs and steps come first: they are the same on every computer. Time is for what is slower than expected. */
static void explorer_budgets(explorer *x)
{
    const rad_explore_options *o = x->options;
    uint64_t runs = x->runs_budget;
    uint64_t steps = runs > UINT64_MAX / RAD_STEPS_PER_RUN ? UINT64_MAX : runs * RAD_STEPS_PER_RUN;
    if (steps < RAD_STEPS_DEFAULT) steps = RAD_STEPS_DEFAULT;
    x->steps_budget = o->steps ? o->steps : steps;
    x->seconds = o->seconds > 0 ? o->seconds : o->runs == 0 ? RAD_SECONDS_DEFAULT : 0;
}

int rad_lab_explore(const rad_target *t, const rad_explore_options *o, rad_exploration *out, rad_error *error)
{
    rad_plan plan;
    explorer x = {.target = t, .options = o, .out = out, .error = error};
    x.runs_budget = o->runs ? o->runs : RAD_RUNS_DEFAULT;
    *out = (rad_exploration){0};
    rad__error_clear(error);
    if (o->seed > INT64_MAX)
        return rad__error(error, RAD_EINPUT, "seed %llu: expected at most %lld", (unsigned long long)o->seed,
                          (long long)INT64_MAX);
    int code = rad__plan(&plan, o->strategy, t, error);
    if (code != 0) return code;
    explorer_budgets(&x);
    rad__source_lacks(out->sourceless); /* of before */
    x.classes.limit = CLASSES_MAX;
    x.started = x.told = rad__os_now_seconds();
    count_sites(t, out);
    enum rad_workers_way way = rad__user_policy_find(o->strategy ? o->strategy : "auto") ? RAD_WORKERS_TOLD
                               : o->apart                                                ? RAD_WORKERS_APART
                                                                                         : RAD_WORKERS_USUAL;
    code = rad__workers_open(&x.workers, t, o->jobs, o->hang_seconds, o->suppressed, way, error);
    if (code == 0) code = count_patterns(&x);
    if (code == 0) code = explorer_rows(&x, &plan);
    out->elapsed = rad__os_now_seconds() - x.started;
    rad__source_lacks(out->sourceless);
    explorer_drop(&x);
    out->killed = x.workers != NULL ? rad__workers_killed(x.workers) : 0;
    rad__workers_close(x.workers); /* workers may still be busy with what does not count any more */
    rad__set128_free(&x.classes);
    if (code == RAD_EINTERRUPTED) {
        out->interrupted = true;
        error->code = code = 0;
    }
    if (code != 0) rad_exploration_free(out);
    return code;
}

void rad_exploration_free(rad_exploration *e)
{
    for (uint32_t i = 0; i < e->finding_count; i++) rad_artifact_free(e->findings[i].artifact);
    e->finding_count = 0;
    rad__free(e->suppressed_by);
    e->suppressed_by = NULL;
    e->suppressed_count = 0;
}
