/* test_random.c — random protocols, all N, all policies, shuffled starts: nobody can tell the difference.
 *
 * 200 protocols; RADDLE_STRESS=50 makes them 10,000 (tests/nightly/session.sh), RADDLE_STRESS_SEED other ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <raddle/machine.h>

#include "base/digest.h"
#include "session_support.h"
#include "storm_support.h"

#include <stdio.h>
#include <string.h>

enum { CASES = 200, SESSIONS = 3 };

static uint64_t first_seed(void)
{
    rad_prng r = storm_prng(0);
    return rad__prng_next(&r);
}

static char *generate(uint64_t seed)
{
    rad_error error;
    char *text = rad_protocols_generate(seed, NULL, &error);
    if (text == NULL) fail_msg("%s", error.text);
    return text;
}

/* ---- The property -------------------------------------------------------------------------------------- */

/* What can be seen of a run. */
typedef struct seen {
    enum rad_session_end end;
    rad_session_info info;
    uint64_t event_count;
    rad_session_event *events; /* normalized */
    rad_effect_log *effects;
} seen;

static seen see(const rad_protocols *p, rad_session_options o, uint64_t rounds)
{
    o.log = o.record = true;
    rad_session_vm *vm = session_vm(p, &o, SESSIONS);
    seen s = {.end = rad_session_run(vm, rounds)};
    s.info = session_info(vm);
    s.events = session_events(vm, &s.event_count);
    s.effects = rad_session_take_effects(vm);
    rad_session_destroy(vm);
    return s;
}

static void forget(seen *s)
{
    rad__free(s->events);
    rad_effect_log_free(s->effects);
}

static uint64_t effect_count(const seen *s)
{
    return s->effects ? rad_effect_log_count(s->effects) : 0;
}

/* What is different, in a word; NULL: nothing. */
static const char *difference(const seen *a, const seen *b)
{
    static char text[300];
    if (b->end != RAD_SESSION_COMPLETE) return "it is stuck";
    if (b->info.sessions_closed != SESSIONS) return "sessions are not closed";
    if (b->info.sessions_faulted != 0) return "sessions are faulted";
    if (a->event_count != b->event_count) return "the number of events";
    for (uint32_t i = 0; i < SESSIONS; i++) {
        rad_session_event *one = rad__alloc(a->event_count + 1, sizeof *one);
        rad_session_event *two = rad__alloc(a->event_count + 1, sizeof *two);
        assert_true(one && two);
        uint64_t count = rad_session_filter(a->events, a->event_count, i, one);
        bool same = count == rad_session_filter(b->events, b->event_count, i, two) &&
                    memcmp(one, two, count * sizeof *one) == 0;
        rad__free(one);
        rad__free(two);
        if (!same) return "the sequence of a thread";
    }
    if (effect_count(a) != effect_count(b)) return "the number of effects";
    if (a->effects && rad_effect_log_differ(a->effects, b->effects, text, sizeof text)) return text;
    if (a->info.messages != b->info.messages) return "the number of messages";
    return strcmp(a->info.digest, b->info.digest) == 0 ? NULL : "the digest";
}

static void check_case(uint64_t seed, const char *text, const rad_protocols *p)
{
    static const uint32_t ns[] = SESSION_NS;
    rad_session_options o = rad_session_defaults();
    o.seed = seed;
    seen first = see(p, o, 0);
    for (uint32_t i = 0; i < 2 * SESSION_N_COUNT * SESSION_POLICIES; i++) {
        o.n = ns[i % SESSION_N_COUNT];
        o.policy = (enum rad_session_policy)(i / SESSION_N_COUNT % SESSION_POLICIES);
        o.start = i < SESSION_N_COUNT * SESSION_POLICIES ? 0 : seed + i;
        seen other = see(p, o, 0);
        const char *what = difference(&first, &other);
        if (what != NULL)
            fail_msg("seed %llu, n %u, policy %d, start %llu: %s\n%s", (unsigned long long)seed, o.n, (int)o.policy,
                     (unsigned long long)o.start, what, text);
        forget(&other);
    }
    forget(&first);
}

static void must_hold_1_random_protocols_run_the_same_way(void **state)
{
    (void)state;
    uint64_t seed = first_seed(), count = storm_amount(CASES);
    for (uint64_t i = 0; i < count; i++) {
        char *text = generate(seed + i);
        rad_protocols *p = session_parse(text);
        check_case(seed + i, text, p);
        rad_protocols_free(p);
        rad__free(text);
    }
}

/* ---- What else says so ---------------------------------------------------------------------------------- */

/* On two threads, by the search for the least capacity, and by the check that users have. */
static void check_elsewhere(uint64_t seed, const char *text, const rad_protocols *p)
{
    rad_error error;
    rad_session_options o = rad_session_defaults();
    o.seed = seed;
    rad_session_vm *vm = session_vm(p, &o, 40);
    assert_int_equal(rad_session_run(vm, 0), RAD_SESSION_COMPLETE);
    rad_session_crowd crowd = {.sessions = 40, .threads = 2};
    enum rad_session_end end;
    rad_session_info info;
    o = session_options(3, RAD_SESSION_ROUND_ROBIN);
    o.seed = seed;
    if (rad_session_run_crowd(p, &o, &crowd, &end, &info, NULL, &error) != 0) fail_msg("%s", error.text);
    assert_int_equal(end, RAD_SESSION_COMPLETE);
    if (strcmp(info.digest, session_info(vm).digest) != 0)
        fail_msg("seed %llu: another digest on threads\n%s", (unsigned long long)seed, text);
    rad_session_destroy(vm);
    rad_capacity c;
    assert_int_equal(rad_protocol_capacity(p, rad_protocols_count(p) - 1, 2, 2000, &c, NULL), 0);
    if (c.capacity != 1 || c.answer == RAD_CAPACITY_STUCK || c.answer == RAD_CAPACITY_WRONG)
        fail_msg("seed %llu: capacity %u, %s\n%s", (unsigned long long)seed, c.capacity, c.stuck, text);
    rad_invariance i;
    rad_invariance_options wanted = {.sessions = 2, .seed = seed};
    assert_int_equal(rad_session_invariant(p, &wanted, &i, NULL), 0);
    if (!i.holds || i.complete != i.runs) fail_msg("seed %llu: %s\n%s", (unsigned long long)seed, i.difference, text);
}

static void threads_capacity_and_check_agree(void **state)
{
    (void)state;
    uint64_t seed = first_seed(), count = storm_amount(CASES / 4);
    for (uint64_t i = 0; i < count; i++) {
        char *text = generate(seed + i);
        rad_protocols *p = session_parse(text);
        check_elsewhere(seed + i, text, p);
        rad_protocols_free(p);
        rad__free(text);
    }
}

/* ---- Prefixes -------------------------------------------------------------------------------------------- */

/* Events of a thread in the shorter run are the first ones of it in the longer one. */
static bool are_prefixes(const seen *a, const seen *b)
{
    uint64_t i = 0, k = 0;
    while (i < a->event_count && k < b->event_count) {
        const rad_session_event *x = &a->events[i], *y = &b->events[k];
        uint64_t one = (uint64_t)x->session << 32 | x->thread;
        uint64_t two = (uint64_t)y->session << 32 | y->thread;
        if (one == two && memcmp(x, y, sizeof *x) != 0) return false;
        if (one == two) i++, k++;
        /* One of them has less of a thread: the rest of the other is passed over. */
        for (; one < two && i < a->event_count; i++)
            if (((uint64_t)a->events[i].session << 32 | a->events[i].thread) != one) break;
        for (; two < one && k < b->event_count; k++)
            if (((uint64_t)b->events[k].session << 32 | b->events[k].thread) != two) break;
    }
    return true;
}

static void decision_1_with_little_fuel_threads_have_prefixes(void **state)
{
    (void)state;
    static const uint32_t ns[] = SESSION_NS;
    uint64_t seed = first_seed(), count = storm_amount(CASES / 2);
    rad_prng r = storm_prng(1);
    for (uint64_t i = 0; i < count; i++) {
        char *text = generate(seed + i);
        rad_protocols *p = session_parse(text);
        rad_session_options o = rad_session_defaults();
        seen whole = see(p, o, 0);
        for (uint32_t k = 0; k < 6; k++) {
            o.n = ns[rad__prng_below(&r, SESSION_N_COUNT)];
            o.policy = (enum rad_session_policy)rad__prng_below(&r, SESSION_POLICIES);
            o.start = k;
            seen part = see(p, o, 1 + rad__prng_below(&r, 60));
            if (!are_prefixes(&part, &whole))
                fail_msg("seed %llu, n %u, policy %d: no prefix\n%s", (unsigned long long)seed + i, o.n, (int)o.policy,
                         text);
            forget(&part);
        }
        forget(&whole);
        rad_protocols_free(p);
        rad__free(text);
    }
}

/* ---- Coverage -------------------------------------------------------------------------------------------- */

enum { KINDS = RAD_AST_DOES + 1 };

typedef struct coverage {
    uint64_t kinds[KINDS];
    uint64_t fields[4], types[RAD_TYPES];
    uint64_t choice_in_choice, choice_in_loop, choice_in_par, loop_in_par, par_in_loop, for_choice;
    uint64_t other_receivers; /* the branches of a choice begin with messages to different roles */
    uint64_t ranges;          /* a family as an argument */
    uint64_t wide_choices;    /* more than two branches */
} coverage;

static void cover_list(coverage *c, const rad_ast *list, uint32_t inside);

static void cover_one(coverage *c, const rad_ast *s, uint32_t inside)
{
    c->kinds[s->kind]++;
    if (s->kind == RAD_AST_MESSAGE) {
        c->fields[s->field_count]++;
        for (uint32_t i = 0; i < s->field_count; i++) c->types[s->fields[i].type]++;
    }
    bool is_choice = s->kind == RAD_AST_CHOICE;
    c->choice_in_choice += is_choice && inside & 1u << RAD_AST_CHOICE;
    c->choice_in_loop += is_choice && inside & 1u << RAD_AST_LOOP;
    c->choice_in_par += is_choice && inside & 1u << RAD_AST_PAR;
    c->for_choice += is_choice && inside & 1u << RAD_AST_FOR;
    c->loop_in_par += s->kind == RAD_AST_LOOP && inside & 1u << RAD_AST_PAR;
    c->par_in_loop += s->kind == RAD_AST_PAR && inside & 1u << RAD_AST_LOOP;
    c->wide_choices += is_choice && s->block_count > 2;
    for (uint32_t i = 1; is_choice && i < s->block_count; i++)
        c->other_receivers += s->blocks[i]->roles[1].name != s->blocks[0]->roles[1].name;
    for (uint32_t i = 0; s->kind == RAD_AST_CALL && i < s->role_count; i++) c->ranges += s->roles[i].ranged;
    for (uint32_t i = 0; i < s->block_count; i++) cover_list(c, s->blocks[i], inside | 1u << s->kind);
}

static void cover_list(coverage *c, const rad_ast *list, uint32_t inside)
{
    for (const rad_ast *s = list; s != NULL; s = s->next) cover_one(c, s, inside);
}

static void at_least(uint64_t count, uint64_t least, const char *what)
{
    if (count < least) fail_msg("%s: %llu, not %llu", what, (unsigned long long)count, (unsigned long long)least);
}

/* Every construct, and the nestings that have been trouble elsewhere. */
static void random_protocols_cover_the_language(void **state)
{
    (void)state;
    static const char *const names[KINDS] = {"message", "choice", "loop", "continue", "par", "for", "call", "does"};
    coverage c = {.ranges = 0};
    uint64_t seed = first_seed();
    for (uint64_t i = 0; i < CASES; i++) {
        char *text = generate(seed + i);
        rad_ast_file file;
        assert_int_equal(rad__ast_read(&file, "test", text, strlen(text), NULL), 0);
        for (const rad_ast_protocol *p = file.protocols; p != NULL; p = p->next) cover_list(&c, p->body, 0);
        rad__ast_free(&file);
        rad__free(text);
    }
    for (uint32_t i = 0; i < KINDS; i++) at_least(c.kinds[i], 20, names[i]);
    for (uint32_t i = 0; i < 4; i++) at_least(c.fields[i], 100, "messages of so many fields");
    for (uint32_t i = 0; i < RAD_TYPES; i++) at_least(c.types[i], 100, "fields of a type");
    at_least(c.choice_in_choice, 20, "choice in choice");
    at_least(c.choice_in_loop, 20, "choice in loop");
    at_least(c.choice_in_par, 20, "choice in par");
    at_least(c.for_choice, 5, "choice in for");
    at_least(c.loop_in_par, 5, "loop in par");
    at_least(c.par_in_loop, 5, "par in loop");
    at_least(c.other_receivers, 20, "branches that begin with other receivers");
    at_least(c.ranges, 3, "families as arguments");
    at_least(c.wide_choices, 20, "choices of three");
}

/* Which kinds of states and instructions are behind them, and which reasons to block are met. */
static void random_protocols_cover_the_machine(void **state)
{
    (void)state;
    uint64_t ops[RAD_OP_S_COUNT] = {0}, reasons[RAD_BLOCK_COUNT] = {0}, merged = 0;
    uint64_t seed = first_seed();
    for (uint64_t i = 0; i < CASES / 4; i++) {
        char *text = generate(seed + i);
        rad_protocols *p = session_parse(text);
        rad_session_options o = rad_session_defaults();
        rad_session_vm *vm = session_vm(p, &o, 1);
        const rad_protocol *main = vm->sessions[0]->protocol;
        for (uint32_t k = 0; k < main->code_count; k++) ops[main->code[k].op]++;
        for (uint32_t k = 0; k < main->types.state_count; k++) {
            const rad_local_state *s = &main->types.states[k];
            merged += s->kind == RAD_LOCAL_RECEIVE && s->arm_count > 1;
        }
        while (session_round(vm))
            for (uint32_t k = 0; k < main->types.thread_count; k++)
                reasons[vm->sessions[0]->threads[k].state == RAD_CO_BLOCKED ? vm->sessions[0]->threads[k].reason
                                                                            : RAD_BLOCK_NONE]++;
        rad_session_destroy(vm);
        rad_protocols_free(p);
        rad__free(text);
    }
    for (uint32_t i = 0; i <= RAD_OP_S_JUMP; i++)
        if (i != RAD_OP_S_OPEN && i != RAD_OP_S_YIELD) at_least(ops[i], 20, rad__session_op_name(i));
    at_least(merged, 50, "states that receive several messages");
    at_least(reasons[RAD_BLOCK_RECEIVE], 20, "waits for a message");
    at_least(reasons[RAD_BLOCK_SEND], 20, "waits for room");
    at_least(reasons[RAD_BLOCK_CLOSE], 20, "waits for the end");
    at_least(reasons[RAD_BLOCK_JOIN], 20, "waits for branches");
}

/* ---- The generator ------------------------------------------------------------------------------------- */

static void a_seed_is_a_text(void **state)
{
    (void)state;
    char *one = generate(5), *again = generate(5), *other = generate(6);
    assert_string_equal(one, again);
    assert_string_not_equal(one, other);
    rad__free(one);
    rad__free(again);
    rad__free(other);
}

/* Whatever compiler has made us: two draws among the arguments of a call are in either order. */
static void a_seed_is_the_same_text_everywhere(void **state)
{
    (void)state;
    rad_state_hash all = {{0, 0}};
    for (uint64_t i = 0; i < 200; i++) {
        char *text = generate(i);
        rad_state_add(&all, text, strlen(text));
        rad__free(text);
    }
    char digest[RAD_DIGEST_TEXT];
    rad__digest_text(all.digest, digest);
    assert_string_equal(digest, "2d5dc00a83b00498f3d63c40d30f85f5");
}

static void large_ones_are_accepted_too(void **state)
{
    (void)state;
    rad_generate_bounds b = {.roles = 8, .family = 6, .depth = 5, .statements = 60, .branches = 4, .subs = 8};
    uint64_t seed = first_seed(), count = storm_amount(30);
    for (uint64_t i = 0; i < count; i++) {
        rad_error error;
        char *text = rad_protocols_generate(seed + i, &b, &error);
        assert_non_null(text);
        rad_protocols *p = session_parse(text);
        rad_protocols_free(p);
        rad__free(text);
    }
}

static void bounds_are_checked(void **state)
{
    (void)state;
    static const struct {
        rad_generate_bounds b;
        const char *said;
    } bad[] = {{{1, 0, 1, 1, 2, 0}, "roles: 2 to 8, not 1"},
               {{9, 0, 1, 1, 2, 0}, "roles: 2 to 8, not 9"},
               {{2, 7, 1, 1, 2, 0}, "family: 6 at most, not 7"},
               {{2, 0, 9, 1, 2, 0}, "depth: 8 at most, not 9"},
               {{2, 0, 1, 0, 2, 0}, "statements: 1 to 1,000, not 0"},
               {{2, 0, 1, 1001, 2, 0}, "statements: 1 to 1,000, not 1001"},
               {{2, 0, 1, 1, 1, 0}, "branches: 2 to 4, not 1"},
               {{2, 0, 1, 1, 5, 0}, "branches: 2 to 4, not 5"},
               {{2, 0, 1, 1, 2, 9}, "subs: 8 at most, not 9"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        rad_error error;
        assert_null(rad_protocols_generate(0, &bad[i].b, &error));
        assert_int_equal(error.code, RAD_EINPUT);
        assert_string_equal(error.text, bad[i].said);
    }
    rad_generate_bounds least = {2, 0, 0, 1, 2, 0};
    char *text = rad_protocols_generate(0, &least, NULL);
    assert_non_null(text);
    rad_protocols_free(session_parse(text));
    rad__free(text);
}

static void without_memory_there_is_no_text(void **state)
{
    (void)state;
    bool done = false;
    for (uint64_t n = 1; !done; n++) {
        rad_error error;
        rad__alloc_fail_at(n);
        char *text = rad_protocols_generate(1, NULL, &error);
        rad__alloc_fail_at(0);
        done = text != NULL;
        if (!done) assert_int_equal(error.code, RAD_ENOMEM);
        rad__free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(must_hold_1_random_protocols_run_the_same_way),
        cmocka_unit_test(threads_capacity_and_check_agree),
        cmocka_unit_test(decision_1_with_little_fuel_threads_have_prefixes),
        cmocka_unit_test(random_protocols_cover_the_language),
        cmocka_unit_test(random_protocols_cover_the_machine),
        cmocka_unit_test(a_seed_is_a_text),
        cmocka_unit_test(a_seed_is_the_same_text_everywhere),
        cmocka_unit_test(large_ones_are_accepted_too),
        cmocka_unit_test(bounds_are_checked),
        cmocka_unit_test(without_memory_there_is_no_text),
    };
    storm_choose();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
