/* test_judge_l2.c — random programs of threads that look, spin, give way and sleep, one memory operation at a time
 * (tests/models/drawn.c): the results that exploring finds are those that brute force finds.
 *
 * The brute force walks through every state and knows neither the lab nor fairness. That leaves schedules out, but no
 * result: who spins would only see the same again. A program is stuck when no step of anybody changes its state; with
 * somebody who can go on it is a livelock, otherwise a deadlock. Giving way does leave results out, where a third
 * thread has to go first: then what is found has to be among what there is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "weave.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    THREADS = 3,
    OPS = 4,
    WORDS = 2,
    RESULTS = 14,
    RESULT_SIZE = 40,
    STATES = 1 << 16,
    DFS_RUNS = 4000, /* by day: of programs that have more, what is found has to be among what there is */
    NIGHT_RUNS = 20000,
    FEW_RUNS = 2000
};
enum { END, SEE, PUT, ADD, WAIT, TAKE, YIELD, RETRY, SLEEP, WAKE, TRY, POLITE, KINDS, TRIES = 5 };

struct op {
    uint8_t kind, word, value;
};

struct program {
    uint32_t threads;
    struct op ops[THREADS][OPS];
    uint8_t counts[THREADS];
    bool yields;
};

struct state {
    uint8_t at[THREADS], asleep[THREADS], tries[THREADS];
    uint16_t before[THREADS], seen[THREADS], words[WORDS];
};

/* "livelock", "deadlock", or what is in the registers and words. */
struct results {
    char texts[RESULTS + 1][RESULT_SIZE];
    uint32_t count;
};

/* ---- Brute force --------------------------------------------------------------------------------------- */

static bool has_next(const struct program *p, const struct state *s, uint32_t i)
{
    return s->at[i] < p->counts[i];
}

static void wake_all(const struct program *p, struct state *s, uint32_t word)
{
    for (uint32_t i = 0; i < p->threads; i++)
        if (s->asleep[i] && p->ops[i][s->at[i]].word == word) {
            s->asleep[i] = 0;
            s->at[i]++;
        }
}

static bool tries(struct state *s, uint32_t i, uint16_t *word)
{
    if (!s->tries[i]) {
        s->tries[i] = 1;
        s->before[i] = *word;
        return false;
    }
    if (*word != s->before[i]) {
        s->before[i] = *word;
        return false;
    }
    ++*word;
    s->tries[i] = 0;
    s->before[i] = 0;
    return true;
}

static void step(const struct program *p, struct state *s, uint32_t i)
{
    const struct op *op = &p->ops[i][s->at[i]];
    uint16_t *word = &s->words[op->word];
    bool passes = true;
    switch (op->kind) {
    case SEE: s->seen[i] = (uint16_t)((s->seen[i] << 3 | (*word & 7)) & 0xfff); break;
    case PUT: *word = op->value; break;
    case ADD: *word = (uint16_t)(*word + op->value); break;
    case WAIT:
    case YIELD: passes = *word >= op->value; break;
    case TAKE:
        passes = *word != 1;
        *word = 1;
        break;
    case RETRY: passes = tries(s, i, word); break;
    case SLEEP:
        passes = *word != op->value;
        s->asleep[i] = !passes;
        break;
    case TRY:
    case POLITE:
        passes = *word >= op->value || ++s->tries[i] == TRIES;
        if (passes) s->tries[i] = 0;
        break;
    case WAKE: wake_all(p, s, op->word); break;
    default: break;
    }
    s->at[i] = (uint8_t)(s->at[i] + passes);
}

static void add_result(struct results *r, const char *text)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (strcmp(r->texts[i], text) == 0) return;
    if (r->count <= RESULTS) snprintf(r->texts[r->count++], RESULT_SIZE, "%s", text);
}

static void add_end(const struct program *p, const struct state *s, struct results *r)
{
    char text[RESULT_SIZE];
    bool over = true, awake = false;
    for (uint32_t i = 0; i < p->threads; i++) {
        over = over && !has_next(p, s, i);
        awake = awake || (has_next(p, s, i) && !s->asleep[i]);
    }
    snprintf(text, sizeof text, "%03x %03x %03x %03x %03x", s->seen[0], s->seen[1], s->seen[2], s->words[0],
             s->words[1]);
    add_result(r, over ? text : awake ? "livelock" : "deadlock");
}

static uint64_t hash_of(const struct state *s)
{
    const uint8_t *bytes = (const uint8_t *)s;
    uint64_t h = 1;
    for (size_t i = 0; i < sizeof *s; i++) h = weave_mix(h ^ bytes[i]);
    return h;
}

/* By what was seen before, as a hash of 64 bits. */
static bool is_new(uint64_t *table, uint64_t hash)
{
    uint64_t at = hash % STATES;
    hash |= 1;
    while (table[at] != 0 && table[at] != hash) at = (at + 1) % STATES;
    bool fresh = table[at] == 0;
    table[at] = hash;
    return fresh;
}

static void walk(const struct program *p, const struct state *s, uint64_t *table, struct results *r)
{
    bool stuck = true;
    if (!is_new(table, hash_of(s))) return;
    for (uint32_t i = 0; i < p->threads; i++) {
        struct state next = *s;
        if (!has_next(p, s, i) || s->asleep[i]) continue;
        step(p, &next, i);
        if (memcmp(&next, s, sizeof next) == 0) continue;
        stuck = false;
        walk(p, &next, table, r);
    }
    if (stuck) add_end(p, s, r);
}

static struct results brute_force(const struct program *p)
{
    static uint64_t table[STATES];
    struct results there = {.count = 0};
    struct state s = {.at = {0}};
    memset(table, 0, sizeof table);
    walk(p, &s, table, &there);
    return there;
}

/* ---- Programs ------------------------------------------------------------------------------------------- */

static uint32_t roll(uint64_t *dice, uint32_t sides)
{
    *dice = weave_mix(*dice);
    return (uint32_t)((*dice >> 32) % sides);
}

static struct op draw_op(uint64_t *dice)
{
    static const uint8_t kinds[] = {SEE, SEE,  SEE,  SEE,  PUT,   PUT,   PUT,   PUT,   ADD,
                                    ADD, WAIT, WAIT, TAKE, YIELD, RETRY, RETRY, SLEEP, WAKE};
    struct op op = {.kind = kinds[roll(dice, sizeof kinds)]};
    op.word = (uint8_t)(roll(dice, 3) == 0);
    op.value = (uint8_t)(op.kind == SLEEP ? 0 : roll(dice, 3));
    if (op.value == 0 && op.kind != SLEEP) op.value = op.kind != PUT || roll(dice, 2);
    return op;
}

static void draw(struct program *p, uint64_t seed)
{
    uint64_t dice = weave_mix(seed);
    *p = (struct program){.threads = 2 + roll(&dice, 2)};
    for (uint32_t i = 0; i < p->threads; i++) {
        p->counts[i] = (uint8_t)(p->threads == 2 ? OPS - roll(&dice, 2) : 2 + (i == 0));
        for (uint32_t o = 0; o < p->counts[i]; o++) {
            p->ops[i][o] = draw_op(&dice);
            p->yields |= p->ops[i][o].kind == YIELD;
        }
    }
}

static long long number_of(const struct program *p, uint32_t thread)
{
    long long number = 0;
    for (uint32_t o = p->counts[thread]; o-- > 0;) {
        const struct op *op = &p->ops[thread][o];
        number = number << 7 | op->value << 5 | op->word << 4 | op->kind;
    }
    return number;
}

static void target_of(const struct program *p, rad_target *t)
{
    rad_error error = {0};
    assert_int_equal(rad_target_init(t, "l2-drawn", &error), 0);
    for (uint32_t i = 0; i < THREADS; i++) t->c.params[i] = number_of(p, i);
}

/* ---- Judging -------------------------------------------------------------------------------------------- */

/* "assertion@drawn_check: RESULT", "livelock:a", "deadlock:a+b". */
static const char *result_of(const char *identity)
{
    static const char *const stuck[] = {"livelock", "deadlock"};
    const char *colon = strstr(identity, "drawn_check: ");
    for (int i = 0; i < 2; i++)
        if (strncmp(identity, stuck[i], strlen(stuck[i])) == 0) return stuck[i];
    return colon ? colon + strlen("drawn_check: ") : identity;
}

static bool has_result(const struct results *r, const char *text)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (strcmp(r->texts[i], text) == 0) return true;
    return false;
}

static struct results explore_by(const struct program *p, const rad_explore_options *o, uint32_t spin_rounds,
                                 rad_exploration *x)
{
    struct results found = {.count = 0};
    rad_error error = {0};
    rad_target t;
    target_of(p, &t);
    t.c.spin_rounds = spin_rounds;
    if (rad_lab_explore(&t, o, x, &error) != 0) fail_msg("%s", error.text);
    for (uint32_t i = 0; i < x->finding_count; i++)
        add_result(&found, result_of(rad_artifact_verdict(x->findings[i].artifact)->identity));
    assert_int_equal(x->findings_dropped, 0);
    rad_target_free(&t);
    return found;
}

static struct results explore(const struct program *p, const char *strategy, uint64_t runs, rad_exploration *x)
{
    rad_explore_options o = {.strategy = strategy, .runs = runs, .seed = 1};
    return explore_by(p, &o, 0, x);
}

static bool is_missing(void) /* a sanitizer's build; meson has said so */
{
    rad_target t;
    rad_error error = {0};
    if (rad_target_init(&t, "l2-drawn", &error) != 0) return true;
    rad_target_free(&t);
    return false;
}

static void compare(const struct program *p, const struct results *there, const struct results *found, bool all,
                    const char *strategy)
{
    char name[100];
    snprintf(name, sizeof name, "l2-drawn first=%lld second=%lld third=%lld --strategy %s", number_of(p, 0),
             number_of(p, 1), number_of(p, 2), strategy);
    for (uint32_t i = 0; i < found->count; i++)
        if (!has_result(there, found->texts[i])) fail_msg("%s: %s is found, and cannot be", name, found->texts[i]);
    for (uint32_t i = 0; i < there->count && all; i++)
        if (!has_result(found, there->texts[i])) fail_msg("%s: %s is not found", name, there->texts[i]);
}

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text && text[0] ? strtoull(text, NULL, 10) : otherwise;
}

/* What there is to be seen, for the coverage of the generator. */
static struct {
    uint32_t programs, whole, held, livelocks, deadlocks, several, yielding;
} met;

/* RADDLE_STRESS is for the night. */
static uint64_t dfs_runs(void)
{
    return number_from("RADDLE_STRESS", 1) > 1 ? NIGHT_RUNS : DFS_RUNS;
}

static void judge(const struct program *p, const struct results *there)
{
    rad_exploration x;
    struct results found = explore(p, "dfs", dfs_runs(), &x);
    bool all = x.phases[0].exhausted; /* or there are more schedules than that */
    assert_int_equal(x.cut, 0);
    compare(p, there, &found, all && (!p->yields || p->threads == 2), "dfs");
    met.whole += all;
    met.held += x.held > 0;
    rad_exploration_free(&x);
    met.programs++;
    met.yielding += p->yields;
    met.several += there->count > 1;
    met.livelocks += has_result(there, "livelock");
    met.deadlocks += has_result(there, "deadlock");
    if (met.programs % 8) return;
    found = explore(p, "auto", 300, &x);
    assert_int_equal(x.cut, 0);
    compare(p, there, &found, x.complete && (!p->yields || p->threads == 2), "auto");
    rad_exploration_free(&x);
}

static void take_ops(struct program *p, uint32_t thread, long long number)
{
    for (; number != 0; number >>= 7) {
        uint32_t bits = number & 127;
        p->ops[thread][p->counts[thread]++] =
            (struct op){.kind = bits & 15, .word = bits >> 4 & 1, .value = (uint8_t)(bits >> 5)};
    }
}

/* Three looks by calls of one function are no loop: who made them may go on before anybody else has done anything. */
static void looks_one_after_another_are_no_loop(void **state)
{
    static const long long threads[][2] = {{78135489, 17176775}, {643265, 4754}};
    (void)state;
    if (is_missing()) skip();
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        struct program p = {.threads = 2};
        for (uint32_t t = 0; t < 2; t++) take_ops(&p, t, threads[i][t]);
        struct results there = brute_force(&p);
        rad_exploration x;
        struct results found = explore(&p, "dfs", DFS_RUNS, &x);
        assert_true(x.phases[0].exhausted);
        compare(&p, &there, &found, true, "dfs");
        rad_exploration_free(&x);
    }
}

static void exploring_finds_the_results_that_there_are(void **state)
{
    uint64_t seed = number_from("RADDLE_STRESS_SEED", 1) % 1000000000 * 1000000;
    uint32_t programs = 160 * (uint32_t)number_from("RADDLE_STRESS", 1);
    (void)state;
    if (is_missing()) skip();
    while (met.programs < programs) {
        struct program p;
        draw(&p, seed++);
        struct results there = brute_force(&p);
        if (there.count <= RESULTS) judge(&p, &there);
    }
    print_message("# %u programs, %u of them whole, %u give way, %u with several results, %u livelocks, %u "
                  "deadlocks, somebody is held back in %u\n",
                  met.programs, met.whole, met.yielding, met.several, met.livelocks, met.deadlocks, met.held);
    assert_true(met.whole > programs * 3 / 4 && met.held > programs / 4);
    assert_true(met.several > programs / 3 && met.livelocks > programs / 8);
    assert_true(met.deadlocks > programs / 32);
}

/* A loop that ends by itself, and then something that it should not come to; and a short thread that could run. */
static void draw_trying(struct program *p, uint64_t seed)
{
    uint64_t dice = weave_mix(seed);
    do draw(p, seed++ + (1u << 30));
    while (p->threads != 2);
    uint32_t at = roll(&dice, 2);
    p->ops[0][at] = (struct op){.kind = roll(&dice, 2) ? TRY : POLITE, .value = (uint8_t)(1 + roll(&dice, 2))};
    if (roll(&dice, 2)) p->ops[0][at + 1] = (struct op){.kind = SLEEP};
    p->counts[0] = (uint8_t)(at + 2);
    p->counts[1] = 2;
}

/* With as many rounds that let nobody go first, such a loop comes to its end in some schedule, while others can run. No
 * fair one may have that result. */
static void loops_that_end_come_to_their_end(void **state)
{
    static const rad_explore_options fair = {.strategy = "dfs", .runs = FEW_RUNS, .seed = 1, .fair_only = true};
    static const rad_explore_options all = {.strategy = "dfs", .runs = FEW_RUNS, .seed = 1};
    uint64_t seed = number_from("RADDLE_STRESS_SEED", 1) % 1000000000 * 1000000;
    uint32_t programs = 40 * (uint32_t)number_from("RADDLE_STRESS", 1), whole = 0, more = 0, missed = 0;
    (void)state;
    if (is_missing()) skip();
    for (uint32_t n = 0; n < programs; n++) {
        struct program p;
        rad_exploration x;
        draw_trying(&p, seed++);
        struct results there = brute_force(&p), found = explore_by(&p, &fair, 0, &x);
        if (there.count > RESULTS) continue;
        compare(&p, &there, &found, false, "dfs, fair schedules");
        bool less = x.complete && found.count < there.count;
        more += less;
        rad_exploration_free(&x);
        found = explore_by(&p, &all, TRIES, &x);
        compare(&p, &there, &found, x.complete, "dfs --spin-rounds 5");
        whole += x.complete;
        rad_exploration_free(&x);
        found = explore_by(&p, &all, 0, &x);
        compare(&p, &there, &found, false, "dfs");
        missed += less && found.count < there.count;
        rad_exploration_free(&x);
    }
    print_message("# %u programs, %u of them whole; in %u more results than fair schedules have, of which one "
                  "preemption does not find all in %u\n",
                  programs, whole, more, missed);
    assert_true(whole > programs / 3 && more > programs / 16 && missed < more);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(looks_one_after_another_are_no_loop),
        cmocka_unit_test(exploring_finds_the_results_that_there_are),
        cmocka_unit_test(loops_that_end_come_to_their_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
