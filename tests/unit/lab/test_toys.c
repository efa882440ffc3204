/* test_toys.c — the toy machines: each fails as it says, its twin does not, and both are well-behaved. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <raddle/lab.h>

#include "base/alloc.h"
#include "base/prng.h"
#include "core/kernel.h"
#include "lab/machines.h"
#include "lab/machines/toys/toys.h"
#include "lab/machines/toys/vm.h"
#include "storm_support.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHOICES = 1 << 17, RUNS = 20000, LIST_MAX = 2048 };

/* ---- A kernel with a machine in it, and two policies ------------------------------------------------ */

typedef struct test_policy {
    rad_policy base;
    rad_prng prng;
    uint32_t list[LIST_MAX]; /* then the baseline */
    uint32_t list_count, at;
} test_policy;

static uint32_t choose_random(rad_policy *p, rad_kernel *k, const rad_decision *d)
{
    (void)k;
    return (uint32_t)rad__prng_below(&((test_policy *)p)->prng, d->count);
}

static uint32_t choose_listed(rad_policy *p, rad_kernel *k, const rad_decision *d)
{
    test_policy *t = (test_policy *)p;
    (void)k;
    uint32_t chosen = t->at < t->list_count ? t->list[t->at] : 0;
    t->at++;
    return chosen < d->count ? chosen : d->count - 1;
}

static const rad_policy_class random_class = {.name = "random", .choose = choose_random};
static const rad_policy_class listed_class = {.name = "listed", .choose = choose_listed};

typedef struct rig {
    rad_target target;
    rad_kernel *k;
    void *self;
    volatile uint64_t count;
    rad_choice *choices;
    rad_estimates estimates;
    test_policy policy;
} rig;

static void rig_open(rig *r, const char *machine, const char *words, bool repaired)
{
    rad_error error = {.code = 0};
    memset(r, 0, sizeof *r);
    assert_int_equal(rad_target_init(&r->target, machine, &error), 0);
    if (words) assert_int_equal(rad_target_set(&r->target, words, &error), 0);
    r->target.c.repaired = repaired;
    r->choices = malloc(CHOICES * sizeof *r->choices);
    rad_choice_buffer buffer = {r->choices, CHOICES, &r->count};
    assert_int_equal(rad__kernel_open(&r->k, buffer, &error), 0);
    assert_int_equal(r->target.machine->create(&r->self, r->target.machine, &r->target.c, &error), 0);
    rad__kernel_use(r->k, r->target.machine, r->self);
}

static void rig_close(rig *r)
{
    r->target.machine->destroy(r->self);
    rad__kernel_close(r->k);
    free(r->choices);
}

static enum rad_outcome rig_run(rig *r, const rad_policy_class *class, rad_observer *o)
{
    r->policy.base.class = class;
    r->policy.at = 0;
    rad_run_options options = {.policy = &r->policy.base, .info.estimates = &r->estimates, .observers = {o}};
    return rad__kernel_run(r->k, &options);
}

static enum rad_outcome rig_random(rig *r, uint64_t seed, rad_observer *o)
{
    r->policy.prng = rad__prng(seed, RAD_STREAM_TEST, 0);
    return rig_run(r, &random_class, o);
}

/* The choices of the last run become the list of the next. */
static void rig_keep_list(rig *r)
{
    assert_true(r->count <= LIST_MAX);
    r->policy.list_count = (uint32_t)r->count;
    for (uint64_t i = 0; i < r->count; i++) r->policy.list[i] = r->choices[i].chosen;
}

/* The next list of a depth-first search after the last run; false when there is none. */
static bool rig_next_list(rig *r)
{
    rig_keep_list(r);
    for (uint32_t i = r->policy.list_count; i-- > 0;) {
        if (r->policy.list[i] + 1 >= r->choices[i].count) continue;
        r->policy.list[i]++;
        r->policy.list_count = i + 1;
        return true;
    }
    return false;
}

typedef struct tally {
    uint64_t runs, failures;
    bool all; /* not stopped by the limit */
} tally;

static tally rig_search(rig *r, uint64_t limit)
{
    tally t = {0};
    r->policy.list_count = 0;
    while (t.runs < limit && !t.all) {
        enum rad_outcome outcome = rig_run(r, &listed_class, NULL);
        assert_true(outcome == RAD_OUTCOME_FINISHED || outcome == RAD_OUTCOME_FAILED);
        t.runs++;
        t.failures += outcome == RAD_OUTCOME_FAILED;
        t.all = !rig_next_list(r);
    }
    return t;
}

/* ---- Bugs and twins --------------------------------------------------------------------------------- */

static const struct {
    const char *machine, *words, *identity;
    uint32_t oracle;
    uint64_t runs;  /* a random failure within this many, and not in every run */
    uint64_t clean; /* runs of the fixed version; 0: RUNS. Fewer where a run is long. */
} BUGS[] = {
    {"counter", NULL, "assertion:lost update", RAD_ORACLE_ASSERT, 20, 0},
    {"counter", "n=3 k=2", "assertion:lost update", RAD_ORACLE_ASSERT, 20, 0},
    {"program", NULL, "assertion:lost update", RAD_ORACLE_ASSERT, 60, 0},
    {"buffer", NULL, "deadlock:changed", RAD_ORACLE_DEADLOCK, 400, 0},
    {"buffer", "items=2", "deadlock:changed", RAD_ORACLE_DEADLOCK, 400, 0},
    {"buffer", "producers=3 consumers=2", "deadlock:changed", RAD_ORACLE_DEADLOCK, 1000, 0},
    {"buffer-if", NULL, "invariant:count@count >= 0 && count <= capacity", RAD_ORACLE_INVARIANT, 100, 0},
    {"buffer-if", "items=2 capacity=2", "invariant:count@count >= 0 && count <= capacity", RAD_ORACLE_INVARIANT, 20000,
     0},
    {"philosophers", NULL, "deadlock:fork", RAD_ORACLE_DEADLOCK, 50, 0},
    {"philosophers", "n=5 rounds=2", "deadlock:fork", RAD_ORACLE_DEADLOCK, 500, 0},
    {"locks", NULL, "deadlock:lock a+lock b", RAD_ORACLE_DEADLOCK, 20, 0},
    {"event", NULL, "deadlock:event", RAD_ORACLE_DEADLOCK, 100, 0},
    {"event", "n=3", "deadlock:event", RAD_ORACLE_DEADLOCK, 100, 0},
    {"aba", NULL, "assertion:stack", RAD_ORACLE_ASSERT, 2000, 0},
    {"aba", "poppers=2 recyclers=2 nodes=5", "assertion:stack", RAD_ORACLE_ASSERT, 5000, 0},
    {"reorder", NULL, "assertion:half-made change", RAD_ORACLE_ASSERT, 500, 0},
    {"reorder", "n=5 together=1", "assertion:half-made change", RAD_ORACLE_ASSERT, 500, 0},
    {"twostage", NULL, "assertion:half-made change", RAD_ORACLE_ASSERT, 1000, 0},
    {"twostage", "n=4 together=1 accesses=0", "assertion:half-made change", RAD_ORACLE_ASSERT, 1000, 0},
    {"reorder", "n=6 checkers=3", "assertion:half-made change", RAD_ORACLE_ASSERT, 2000, 0},
    {"twostage", "n=6 readers=3", "assertion:half-made change", RAD_ORACLE_ASSERT, 2000, 0},
    {"bank", NULL, "invariant:account@", RAD_ORACLE_INVARIANT, 50, 0},
    {"bank", "accounts=2 clerks=3 transfers=2", "invariant:account@", RAD_ORACLE_INVARIANT, 50, 0},
    {"stringbuffer", NULL, "assertion:stale length", RAD_ORACLE_ASSERT, 500, 0},
    {"stringbuffer", "rounds=4", "assertion:stale length", RAD_ORACLE_ASSERT, 500, 5000},
    {"bluetooth", NULL, "assertion:stopped driver", RAD_ORACLE_ASSERT, 200, 0},
    {"bluetooth", "requests=3", "assertion:stopped driver", RAD_ORACLE_ASSERT, 200, 5000},
    {"wsq", "stealers=2", "assertion:lost item", RAD_ORACLE_ASSERT, 5000, 1000},
    {"wsq-interlocked", "stealers=2", "assertion:lost item", RAD_ORACLE_ASSERT, 5000, 1000},
    {"wsq-state", NULL, "assertion:table", RAD_ORACLE_ASSERT, 50, 200},
    {"qsort-mt", "fork=1", "assertion:unsorted part", RAD_ORACLE_ASSERT, 1000, 200},
    {"qsort-mt", "fork=1 accesses=0", "assertion:unsorted part", RAD_ORACLE_ASSERT, 1000, 500},
};

static void bugs_are_found_and_replayed(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof BUGS / sizeof *BUGS; i++) {
        rig r;
        rig_open(&r, BUGS[i].machine, BUGS[i].words, false);
        uint64_t first = 0, passed = 0;
        for (uint64_t seed = 1; seed <= RUNS && (first == 0 || passed == 0); seed++) {
            enum rad_outcome outcome = rig_random(&r, seed, NULL);
            passed += outcome == RAD_OUTCOME_FINISHED;
            if (outcome == RAD_OUTCOME_FINISHED) continue;
            assert_int_equal(outcome, RAD_OUTCOME_FAILED);
            assert_memory_equal(r.k->failure.identity, BUGS[i].identity, strlen(BUGS[i].identity));
            assert_int_equal(r.k->failure.oracle, BUGS[i].oracle);
            if (first == 0) first = seed;
        }
        assert_in_range(first, 1, BUGS[i].runs);
        assert_true(passed > 0);

        assert_int_equal(rig_random(&r, first, NULL), RAD_OUTCOME_FAILED);
        rad_digest digest = r.k->trace.digest;
        rad_failure failure = r.k->failure;
        rig_keep_list(&r);
        for (int again = 0; again < 2; again++) {
            assert_int_equal(rig_run(&r, &listed_class, NULL), RAD_OUTCOME_FAILED);
            assert_true(rad__digest_equal(digest, r.k->trace.digest));
            assert_int_equal(r.k->failure.step, failure.step);
            assert_string_equal(r.k->failure.message, failure.message);
        }
        assert_int_equal(r.k->reached[r.target.machine->bug_site], 1);
        rig_close(&r);
    }
}

/* What goes wrong does so inside the program on trial: no index leads out of it, which would be an error. */
static void broken_programs_stay_in_bounds(void **state)
{
    static const char *const words[] = {"elements=16 fork=1 accesses=0", "elements=16 fork=1"};
    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        rad_error error = {.code = 0};
        rad_target t;
        rad_exploration x;
        assert_int_equal(rad_target_init(&t, "qsort-mt", &error), 0);
        assert_int_equal(rad_target_set(&t, words[i], &error), 0);
        rad_explore_options o = {.strategy = "pos", .runs = 1000};
        assert_int_equal(rad_lab_explore(&t, &o, &x, &error), 0);
        assert_in_range(x.failures, 1, x.runs - 1);
        rad_exploration_free(&x);
    }
}

static void twins_are_clean(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof BUGS / sizeof *BUGS; i++) {
        rig r;
        uint64_t runs = BUGS[i].clean ? BUGS[i].clean : RUNS;
        rig_open(&r, BUGS[i].machine, BUGS[i].words, true);
        for (uint64_t seed = 1; seed <= runs; seed++)
            assert_int_equal(rig_random(&r, seed, NULL), RAD_OUTCOME_FINISHED);
        assert_true(r.k->evaluations[BUGS[i].oracle] > 0);
        assert_int_equal(r.k->reached[r.target.machine->bug_site], 1);
        rig_close(&r);
    }
}

static void small_twins_are_clean_exhaustively(void **state)
{
    static const struct {
        const char *machine, *words;
        uint64_t runs; /* counted by hand, or 0 */
    } small[] = {
        {"counter", "n=3 k=2", 90}, /* 6! / 2!^3 */
        {"locks", NULL, 2},         /* one section after the other */
        {"locks", "rounds=2", 6},
        {"event", NULL, 0},
        {"event", "n=2", 0},
        {"philosophers", NULL, 0},
        {"reorder", "together=1", 6}, /* three sections */
        {"twostage", "together=1 accesses=0", 6},
        {"crash", NULL, 0},
        {"bank", "accounts=2", 0},
        {"buffer", "producers=1 consumers=1 items=2", 0},
        {"stringbuffer", NULL, 0},
        {"bluetooth", NULL, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
        rig r;
        rig_open(&r, small[i].machine, small[i].words, true);
        tally t = rig_search(&r, 200000);
        assert_true(t.all);
        assert_int_equal(t.failures, 0);
        if (small[i].runs) assert_int_equal(t.runs, small[i].runs);
        rig_close(&r);
    }
}

/* Spinning threads have schedules without end, but not states without end. */
static void fixed_versions_are_clean_in_every_state(void **state)
{
    static const struct {
        const char *machine, *words;
        bool broken; /* this case has no room for the bug */
    } cases[] = {
        {"stringbuffer", "rounds=3", false},
        {"bluetooth", "requests=2", false},
        {"wsq", NULL, false},
        {"wsq-interlocked", NULL, false},
        {"wsq-state", "stealers=1 items=2 attempts=1", false},
        {"qsort-mt", "elements=16 threads=3 fork=2 accesses=0", false},
        {"qsort-mt", "elements=12 threads=2 fork=1", false},
        {"safestack", "threads=2", false},
        {"safestack", "threads=2", true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rad_error error = {.code = 0};
        rad_target t;
        rad_exploration x;
        assert_int_equal(rad_target_init(&t, cases[i].machine, &error), 0);
        if (cases[i].words) assert_int_equal(rad_target_set(&t, cases[i].words, &error), 0);
        t.c.repaired = !cases[i].broken;
        rad_explore_options o = {.strategy = "dedup", .runs = 100000};
        assert_int_equal(rad_lab_explore(&t, &o, &x, &error), 0);
        assert_true(x.phases[0].exhausted && !x.phases[0].pruned && x.states > 100);
        assert_int_equal(x.failures, 0);
        assert_int_equal(x.cut, 0);
        assert_true(x.evaluations[RAD_ORACLE_ASSERT] > 0);
        rad_exploration_free(&x);
    }
}

/* ---- SafeStack: no random schedule fails in reasonable time ------------------------------------------- */

static uint32_t choose_scripted(rad_policy *p, rad_kernel *k, const rad_decision *d)
{
    const test_policy *t = (test_policy *)p;
    assert_int_equal(d->kind, RAD_PICK_ACTION);
    assert_true(k->step < t->list_count);
    return rad__index_of(k, d, rad__actor_action(k, t->list[k->step]));
}

static const rad_policy_class scripted_class = {.name = "scripted", .choose = choose_scripted};

/* User 1 has read the head, element 0, when user 2 pops it and is about to push it again. User 1 takes the link that
 * user 2 has just written, to element 1. User 3 pops element 1. User 2 pushes 0 after all, with a link to element 2;
 * then user 1 makes element 1 the head, and user 2 pops it. User 1 leaves. User 3 pushes element 1 and pops it again,
 * while user 2 has it. Seven preemptions. */
static void safestack_fails_as_its_author_found(void **state)
{
    static const struct {
        uint32_t actor, steps;
    } script[] = {{0, 3}, {1, 13}, {2, 9}, {1, 1}, {3, 9}, {2, 4}, {1, 1}, {2, 6}, {1, 7}, {3, 15}, {2, 1}};
    (void)state;
    for (int fixed = 0; fixed < 2; fixed++) {
        rig r;
        rig_open(&r, "safestack", NULL, fixed != 0);
        for (size_t i = 0; i < sizeof script / sizeof *script; i++)
            for (uint32_t n = 0; n < script[i].steps; n++) r.policy.list[r.policy.list_count++] = script[i].actor;
        if (!fixed) {
            assert_int_equal(rig_run(&r, &scripted_class, NULL), RAD_OUTCOME_FAILED);
            assert_string_equal(r.k->failure.identity, "assertion:element of two threads");
            assert_int_equal(r.k->failure.step, r.policy.list_count - 1);
            assert_int_equal(r.k->reached[r.target.machine->bug_site], 1);
        }
        for (uint64_t seed = 1; seed <= 3000; seed++)
            assert_int_equal(rig_random(&r, seed, NULL), RAD_OUTCOME_FINISHED);
        assert_true(r.k->evaluations[RAD_ORACLE_ASSERT] > 0);
        rig_close(&r);
    }
}

/* In a child, where neither cmocka nor a sanitizer catches the signal. */
static void crash_really_crashes(void **state)
{
    (void)state;
    rig r;
    rig_open(&r, "crash", NULL, false);
    uint32_t died = 0, lived = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            signal(SIGSEGV, SIG_DFL);
            if (freopen("/dev/null", "w", stderr) == NULL) _exit(3);
            _exit(rig_random(&r, seed, NULL) == RAD_OUTCOME_FINISHED ? 0 : 2);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
            lived++;
        } else {
            died++;
            assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
        }
    }
    assert_true(died > 0 && lived > 0);
    rig_close(&r);

    rig_open(&r, "crash", NULL, true);
    for (uint64_t seed = 1; seed <= RUNS; seed++) assert_int_equal(rig_random(&r, seed, NULL), RAD_OUTCOME_FINISHED);
    assert_true(r.k->evaluations[RAD_ORACLE_CRASH] > 0);
    assert_int_equal(r.k->reached[r.target.machine->bug_site], 1);
    rig_close(&r);
}

/* ---- Counting --------------------------------------------------------------------------------------- */

static uint64_t count_schedules(const char *machine, const char *words, uint64_t *failures)
{
    rig r;
    rig_open(&r, machine, words, false);
    tally t = rig_search(&r, 1000000);
    assert_true(t.all);
    if (failures) *failures = t.failures;
    rig_close(&r);
    return t.runs;
}

static void schedules_are_multinomials(void **state)
{
    static const uint64_t two[] = {2, 6, 20, 70, 252}, three[] = {6, 90, 1680};
    (void)state;
    for (int k = 1; k <= 5; k++) {
        char words[32];
        snprintf(words, sizeof words, "n=2 k=%d", k);
        assert_int_equal(count_schedules("inc", words, NULL), two[k - 1]);
        assert_int_equal(count_schedules("independent", words, NULL), two[k - 1]);
        if (k > 3) continue;
        snprintf(words, sizeof words, "n=3 k=%d", k);
        assert_int_equal(count_schedules("inc", words, NULL), three[k - 1]);
    }
    assert_int_equal(count_schedules("inc", "n=4 k=2", NULL), 2520);
    assert_int_equal(count_schedules("inc", "n=1 k=7", NULL), 1);
}

/* By hand: of the 6 orders of r1 w1 r2 w2 only the 2 without overlap keep both increments. */
static void schedules_of_bugs_are_counted(void **state)
{
    uint64_t failures;
    (void)state;
    assert_int_equal(count_schedules("counter", NULL, &failures), 6);
    assert_int_equal(failures, 4);
    /* Whoever is first has its first lock. Either the other takes its own: deadlock. Or the first takes
     * both, works, releases one; the other then locks that one before or after the second release. */
    assert_int_equal(count_schedules("locks", NULL, &failures), 6);
    assert_int_equal(failures, 2);
}

/* ---- Waiting ---------------------------------------------------------------------------------------- */

static void deadlocks_say_who_waits_for_whom(void **state)
{
    (void)state;
    rig r;
    rig_open(&r, "philosophers", NULL, false);
    for (uint64_t seed = 1; rig_random(&r, seed, NULL) != RAD_OUTCOME_FAILED; seed++) assert_true(seed < 1000);
    assert_string_equal(r.k->failure.message, "deadlock: philosopher 0 waits for fork 1 (held by philosopher 1); "
                                              "philosopher 1 waits for fork 2 (held by philosopher 2); "
                                              "philosopher 2 waits for fork 0 (held by philosopher 0)");
    rig_close(&r);

    rig_open(&r, "event", NULL, false);
    for (uint64_t seed = 1; rig_random(&r, seed, NULL) != RAD_OUTCOME_FAILED; seed++) assert_true(seed < 1000);
    assert_string_equal(r.k->failure.message, "deadlock: waiter waits for event");
    rig_close(&r);
}

static void a_signal_chooses_among_the_waiters(void **state)
{
    (void)state;
    rig r;
    uint32_t largest = 0;
    rig_open(&r, "buffer", "producers=1 consumers=3 items=3", false);
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        rig_random(&r, seed, NULL);
        for (uint64_t i = 0; i < r.count; i++)
            if (r.choices[i].kind == RAD_PICK_WAKE && r.choices[i].count > largest) largest = r.choices[i].count;
    }
    assert_int_equal(largest, 3);
    rig_close(&r);
}

typedef struct footprint_watch {
    rad_observer base;
    const char *site, *object; /* a step at this site … */
    uint32_t access;           /* … touches this object so */
    uint32_t seen, right;
} footprint_watch;

/* The announced site is that of the next step by now: the trace knows the one that ran. */
static void watch_footprint(rad_observer *o, rad_kernel *k, uint32_t action, const rad_footprint *f)
{
    footprint_watch *w = (footprint_watch *)o;
    const rad_event *e = rad__trace_at(&k->trace, k->trace.count - 1);
    char name[RAD_NAME_MAX];
    (void)action;
    if (strcmp(k->machine->site_name(k->self, e->site), w->site) != 0) return;
    w->seen++;
    for (uint32_t i = 0; i < f->count; i++) {
        rad__object_name(k, f->items[i].object, name);
        if (strcmp(name, w->object) == 0 && f->items[i].access == w->access) {
            w->right++;
            return;
        }
    }
}

static void footprints_are_complete(void **state)
{
    static const struct {
        const char *machine, *words, *site, *object;
        uint32_t access;
    } facts[] = {
        {"event", NULL, "waiter: wait", "event", RAD_WRITE},
        {"event", NULL, "waiter: wait", "lock", RAD_WRITE},
        {"event", NULL, "waiter: woken, lock again", "event", RAD_READ},
        {"event", NULL, "waiter: woken, lock again", "lock", RAD_WRITE},
        {"event", NULL, "waiter: read flag", "flag", RAD_READ},
        {"event", NULL, "setter: set flag", "flag", RAD_WRITE},
        {"event", NULL, "setter: signal", "event", RAD_WRITE},
        {"reorder", NULL, "main: spawn", "-", RAD_LOCAL},
        {"counter", "n=2", "worker: write total", "total", RAD_WRITE},
        {"counter", "n=2", "checker: wait for the workers", "worker 0", RAD_READ},
        {"counter", "n=2", "checker: wait for the workers", "worker 1", RAD_READ},
        {"twostage", "n=2 accesses=0", "writer: lock 1", "data1", RAD_WRITE},
        {"twostage", "n=2 accesses=0", "reader: lock 1", "data1", RAD_READ},
    };
    (void)state;
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        rig r;
        footprint_watch w = {
            .base.ran = watch_footprint, .site = facts[i].site, .object = facts[i].object, .access = facts[i].access};
        rig_open(&r, facts[i].machine, facts[i].words, false);
        for (uint64_t seed = 1; seed <= 100; seed++) rig_random(&r, seed, &w.base);
        assert_true(w.seen > 0);
        assert_int_equal(w.seen, w.right);
        rig_close(&r);
    }
}

typedef struct yield_watch {
    rad_observer base;
    uint32_t yields, others;
} yield_watch;

static void watch_yield(rad_observer *o, rad_kernel *k, uint32_t action, const rad_footprint *f)
{
    yield_watch *w = (yield_watch *)o;
    const rad_event *e = rad__trace_at(&k->trace, k->trace.count - 1);
    bool yields = strstr(k->machine->site_name(k->self, e->site), "yield") != NULL;
    (void)action;
    assert_int_equal(f->yielded, yields);
    *(yields ? &w->yields : &w->others) += 1;
}

static void policies_learn_who_yields(void **state)
{
    static const char *const machines[] = {"safestack", "wsq-interlocked", "wsq-state"};
    (void)state;
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        rig r;
        yield_watch w = {.base.ran = watch_yield};
        rig_open(&r, machines[i], NULL, true);
        for (uint64_t seed = 1; seed <= 100; seed++) rig_random(&r, seed, &w.base);
        assert_true(w.yields > 0 && w.others > 0);
        rig_close(&r);
    }
}

static void threads_have_signatures_of_their_spawner(void **state)
{
    (void)state;
    rig r;
    uint64_t seen[4] = {0};
    rig_open(&r, "reorder", NULL, true);
    for (uint64_t seed = 1; seed <= 50; seed++) {
        rig_random(&r, seed, NULL);
        assert_int_equal(r.k->actor_count, 4);
        for (uint32_t i = 0; i < 4; i++) {
            if (seen[i] == 0) seen[i] = r.k->actors[i].signature;
            assert_int_equal(r.k->actors[i].signature, seen[i]);
            assert_true(r.k->actors[i].ended);
        }
        assert_int_equal(r.k->actors[3].spawner, 0);
    }
    assert_string_equal(r.k->actors[0].role, "main");
    assert_string_equal(r.k->actors[3].role, "checker");
    rig_close(&r);
}

/* ---- State ------------------------------------------------------------------------------------------ */

typedef struct swap_watch {
    rad_observer base;
    const rad_machine *machine;
    void *other; /* takes over after `at` steps */
    void *snapshot;
    size_t size;
    uint64_t at;
    rad_digest digest; /* of the state after `at` steps */
} swap_watch;

static void watch_swap(rad_observer *o, rad_kernel *k, uint32_t action, const rad_footprint *f)
{
    swap_watch *w = (swap_watch *)o;
    (void)action;
    (void)f;
    if (k->step + 1 != w->at) return;
    rad_state_hash h = {.digest = {0, 0}};
    w->machine->state(k->self, &h);
    w->digest = h.digest;
    if (w->other == NULL) return;
    assert_int_equal(w->machine->save(k->self, NULL), w->size);
    assert_int_equal(w->machine->save(k->self, w->snapshot), w->size);
    w->machine->load(w->other, w->snapshot);
    rad_state_hash loaded = {.digest = {0, 0}};
    w->machine->state(w->other, &loaded);
    assert_true(rad__digest_equal(h.digest, loaded.digest));
    rad__kernel_use(k, w->machine, w->other);
}

/* Half-way, another instance takes over from a snapshot: the run must not notice. */
static void a_snapshot_goes_on_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof BUGS / sizeof *BUGS; i++) {
        rig r;
        rig_open(&r, BUGS[i].machine, BUGS[i].words, i % 2 == 0);
        swap_watch w = {.base.ran = watch_swap, .machine = r.target.machine};
        rad_error error = {.code = 0};
        assert_int_equal(w.machine->create(&w.other, w.machine, &r.target.c, &error), 0);
        w.size = w.machine->save(r.self, NULL);
        w.snapshot = malloc(w.size);
        for (uint64_t seed = 1; seed <= 200; seed++) {
            rad__kernel_use(r.k, w.machine, r.self);
            enum rad_outcome outcome = rig_random(&r, seed, NULL);
            rad_digest digest = r.k->trace.digest;
            w.at = 1 + seed % (r.k->step - 1);
            assert_int_equal(rig_random(&r, seed, &w.base), outcome);
            assert_true(rad__digest_equal(digest, r.k->trace.digest));
            assert_ptr_equal(r.k->self, w.other);
        }
        w.machine->destroy(w.other);
        free(w.snapshot);
        rig_close(&r);
    }
}

static rad_digest state_after(rig *r, uint32_t first, uint32_t second)
{
    swap_watch w = {.base.ran = watch_swap, .machine = r->target.machine, .at = 2};
    r->policy.list[0] = first;
    r->policy.list[1] = second;
    r->policy.list_count = 2;
    rig_run(r, &listed_class, &w.base);
    return w.digest;
}

/* Index 1 of a decision is the other of two threads: {0, 1} is A B, {1, 1} is B A, {0, 0} is A A. */
static void states_are_equal_when_steps_commute(void **state)
{
    (void)state;
    rig r;
    rig_open(&r, "independent", "n=2 k=3", false);
    assert_true(rad__digest_equal(state_after(&r, 0, 1), state_after(&r, 1, 1)));
    assert_false(rad__digest_equal(state_after(&r, 0, 1), state_after(&r, 0, 0)));
    assert_false(rad__digest_equal(state_after(&r, 1, 0), state_after(&r, 0, 0)));
    rig_close(&r);

    rig_open(&r, "inc", "n=2 k=3", false); /* who read what differs */
    assert_false(rad__digest_equal(state_after(&r, 0, 1), state_after(&r, 1, 1)));
    rig_close(&r);
}

/* ---- All machines ------------------------------------------------------------------------------------ */

/* The models of L2 stand behind the others; see test_l2.c. */
static bool is_other(const rad_machine *m)
{
    return m != NULL && strncmp(m->name, "l2-", 3) != 0;
}

static void all_toys_are_described(void **state)
{
#define ONE(name) 1 +
    const uint32_t toys = RAD_TOY_LIST(ONE) 0;
#undef ONE
    (void)state;
    for (uint32_t i = 0; i < toys; i++) {
        const rad_machine *m = rad_machine_at(i);
        rig r;
        rig_open(&r, m->name, NULL, false);
        assert_non_null(m->about);
        assert_true(m->state && m->save && m->load);
        uint32_t sites = 0;
        while (m->site_name(r.self, sites)) sites++;
        assert_in_range(sites, 1, RAD_SITES_MAX);
        if (m->bug)
            assert_true(m->bug_site < sites);
        else
            assert_int_equal(m->bug_site, RAD_NONE);
        assert_string_equal(m->kind_name(r.self, 0), "step");
        assert_string_equal(m->kind_name(r.self, 1), "wakes");
        assert_null(m->kind_name(r.self, 3));
        for (const rad_param *p = m->params; p && p->name; p++) assert_non_null(p->about);
        rig_close(&r);
    }
}

/* The largest case of each ends within the lab's default of steps. */
static void the_largest_cases_run(void **state)
{
    const rad_machine *m;
    (void)state;
    for (uint32_t i = 0; is_other(m = rad_machine_at(i)); i++) {
        char words[200] = "";
        for (const rad_param *p = m->params; p && p->name; p++)
            snprintf(words + strlen(words), sizeof words - strlen(words), "%s=%lld ", p->name, (long long)p->max);
        rig r;
        rig_open(&r, m->name, *words ? words : NULL, true);
        for (uint64_t seed = 1; seed <= storm_size(1, 3); seed++)
            assert_int_equal(rig_random(&r, seed, NULL), RAD_OUTCOME_FINISHED);
        rig_close(&r);
    }
}

static void running_out_of_memory_is_reported(void **state)
{
    const rad_machine *m;
    (void)state;
    for (uint32_t i = 0; is_other(m = rad_machine_at(i)); i++) {
        for (int repaired = 0; repaired < 2; repaired++) {
            rad_error error = {.code = 0};
            rad_target t;
            assert_int_equal(rad_target_init(&t, m->name, &error), 0);
            t.c.repaired = repaired != 0;
            uint64_t n = 1;
            for (;; n++) {
                void *self;
                error.code = 0;
                rad__alloc_fail_at(n);
                int code = m->create(&self, m, &t.c, &error);
                rad__alloc_fail_at(0);
                if (code == 0) {
                    m->destroy(self);
                    break;
                }
                assert_int_equal(code, RAD_ENOMEM);
                assert_string_equal(error.text, "out of memory");
                assert_null(self);
            }
            assert_true(n > 5);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bugs_are_found_and_replayed),
        cmocka_unit_test(broken_programs_stay_in_bounds),
        cmocka_unit_test(twins_are_clean),
        cmocka_unit_test(small_twins_are_clean_exhaustively),
        cmocka_unit_test(fixed_versions_are_clean_in_every_state),
        cmocka_unit_test(safestack_fails_as_its_author_found),
        cmocka_unit_test(crash_really_crashes),
        cmocka_unit_test(schedules_are_multinomials),
        cmocka_unit_test(schedules_of_bugs_are_counted),
        cmocka_unit_test(deadlocks_say_who_waits_for_whom),
        cmocka_unit_test(a_signal_chooses_among_the_waiters),
        cmocka_unit_test(footprints_are_complete),
        cmocka_unit_test(policies_learn_who_yields),
        cmocka_unit_test(threads_have_signatures_of_their_spawner),
        cmocka_unit_test(a_snapshot_goes_on_the_same),
        cmocka_unit_test(states_are_equal_when_steps_commute),
        cmocka_unit_test(all_toys_are_described),
        cmocka_unit_test(the_largest_cases_run),
        cmocka_unit_test(running_out_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
