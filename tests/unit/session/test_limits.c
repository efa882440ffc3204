/* test_limits.c — headers as they are written, memory that is lacking anywhere, and traces that say everything. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/error.h"
#include "session_support.h"
#include "storm_support.h"
#include "sync_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Everything there is in the language. */
static const char everything[] =
    "protocol Greet { roles A, B A -> B: hello(text, text) B -> A: hello }\n"
    "protocol Long_name_of_a_protocol_that_is_called_so_for_its_columns { roles Host, Guest[1..3], "
    "Idle\n"
    "for i in 1..3 { call Greet(Host, Guest[i]) }\n"
    "Host -> Guest[2]: note(int) Host -> Guest[2]: note(value: bool, which: int)\n"
    "Host -> Guest[2]: words_that_are_long(first_field: text, second_field: int, third_field: "
    "text)\n"
    "Guest[3] does think Host does think\n"
    "loop Again { choice at Host { Host -> Guest[1]: more(count: int) Host -> Guest[2]: more\n"
    "par { Host -> Guest[1]: left(int) Guest[1] does look } and { Guest[2] -> Host: right(bool)\n"
    "loop Inner { choice at Host { Host -> Guest[2]: on continue Inner } or { Host -> Guest[2]: "
    "off } } }\n"
    "continue Again } or { Host -> Guest[1]: stop Host -> Guest[2]: stop } }\n"
    "par { Guest[3] does nothing } and { Guest[1] -> Guest[3]: last Guest[3] -> Guest[2]: last } "
    "}\n";

/* ---- What is written --------------------------------------------------------------------------------------- */

static void fold(rad_digest *sum, char *text)
{
    assert_non_null(text);
    rad_digest d = rad__digest_of(text, strlen(text));
    sum->low = rad__mix2(sum->low, d.low);
    sum->high = rad__mix2(sum->high, d.high);
    rad_free(text);
}

/* Pictures, headers and types of all protocols of a text. */
static void fold_all(rad_digest sums[3], const char *text)
{
    rad_protocols *p = session_parse(text);
    rad_error error;
    for (uint32_t i = 0; i < rad_protocols_count(p); i++) {
        fold(&sums[0], rad_protocol_svg(p, i));
        for (uint32_t role = 0; role < rad_protocol_role_count(p, i); role++) {
            fold(&sums[1], rad_protocol_c_text(p, i, role, &error));
            fold(&sums[2], rad_protocol_type_text(p, i, role));
        }
    }
    rad_protocols_free(p);
}

static void is_as_it_was(rad_digest sum, const char *golden, const char *what)
{
    char text[33];
    rad__digest_text(sum, text);
    if (strcmp(text, golden) != 0) fail_msg("%s: %s", what, text);
}

/* Whoever changes what is written looks at it, and then puts the new digest here. */
static void what_is_written_is_as_it_was(void **state)
{
    (void)state;
    rad_digest sums[3] = {{0, 0}}, generated = {0, 0};
    fold_all(sums, everything);
    fold_all(sums, "locals Cross { roles A, B, C local A { A -> B: x A -> B: y(int) B -> A: z }\n"
                   "local B { B -> A: z A -> B: x A -> B: y(int) } local C { } }\n");
    for (uint64_t seed = 0; seed < 40; seed++) {
        rad_generate_bounds bounds = rad_generate_defaults();
        bounds.roles = 2 + (uint32_t)seed % 7;
        bounds.family = (uint32_t)seed % 7;
        bounds.branches = 2 + (uint32_t)seed % 3;
        char *text = rad_protocols_generate(seed, &bounds, NULL);
        assert_non_null(text);
        fold_all(sums, text);
        fold(&generated, text);
    }
    is_as_it_was(generated, "81c60838484fecbebed87503cfb1536c", "random protocols");
    is_as_it_was(sums[0], "d56684f6cc26bbc81213bef45f77d2f9", "pictures");
    is_as_it_was(sums[1], "9284a471e19498fdd82ee05d42d98c96", "headers");
    is_as_it_was(sums[2], "8c4215cae18495af49a94b8e4d2d9c81", "types");
}

/* Names may be long; lines of C are not. */
static void headers_have_lines_of_120_columns(void **state)
{
    (void)state;
    rad_protocols *p = session_parse(everything);
    for (uint32_t role = 0; role < rad_protocol_role_count(p, 1); role++) {
        char *text = rad_protocol_c_text(p, 1, role, NULL);
        assert_non_null(text);
        for (char *at = text; *at; at += strcspn(at, "\n") + 1) {
            size_t columns = 0;
            for (char *c = at; *c != '\n'; c++) columns += ((unsigned char)*c & 0xc0) != 0x80;
            if (columns > 120 && *at != '#') fail_msg("%.*s", (int)strcspn(at, "\n"), at);
        }
        rad_free(text);
    }
    rad_protocols_free(p);
}

/* What a field is called does not matter to the function. */
static void fields_may_have_any_name(void **state)
{
    (void)state;
    static const char *const names[] = {"rad_endpoint_send", "rad_talk_value", "_Bool",  "P_is_x", "until",
                                        "nullptr",           "RAD_NONE",       "int64_t"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char text[120], wrong[60];
        snprintf(text, sizeof text, "protocol P { roles A, B A -> B: x(%s: int) }", names[i]);
        snprintf(wrong, sizeof wrong, "int64_t %s,", names[i]);
        rad_protocols *p = session_parse(text);
        char *c = rad_protocol_c_text(p, 0, 0, NULL);
        assert_non_null(c);
        assert_null(strstr(c, wrong));
        assert_non_null(strstr(c, "int64_t value_1, rad_time until)"));
        rad_free(c);
        rad_protocols_free(p);
    }
}

/* … and keeps it when nobody else has it. */
static void a_name_that_is_free_is_kept(void **state)
{
    (void)state;
    rad_protocols *p = session_parse("protocol Zero { roles A A does x }\n"
                                     "protocol P { roles A, B A -> B: x(Zero: int) }");
    char *c = rad_protocol_c_text(p, 1, 0, NULL);
    assert_non_null(c);
    assert_non_null(strstr(c, "(P_A *self, int64_t Zero, rad_time until)"));
    rad_free(c);
    rad_protocols_free(p);
    rad_error error;
    p = session_parse("protocol P { roles A, A_arms, A_states A -> A_arms: x A -> A_states: x }");
    assert_null(rad_protocol_c_text(p, 0, 0, &error)); /* the first of both is told */
    assert_string_equal(error.text,
                        "test:1:10: in C, P_A_arms would be the name of two things: rename a role or a message");
    rad_protocols_free(p);
}

static void names_of_c_are_not_taken_twice(void **state)
{
    (void)state;
    static const char *const wrong[] = {"protocol rad_talk { roles A, B A -> B: x }",
                                        "protocol P { roles is, B is -> B: x }",
                                        "protocol P { roles open, B open -> B: x }",
                                        "protocol P { roles messages, B B -> messages: x }",
                                        "protocol P { roles A, A_begin A -> A_begin: x }",
                                        "protocol P { roles A, A_error A -> A_error: x }",
                                        "protocol P { roles A, A_states A -> A_states: x }",
                                        "protocol P { roles A, B A -> B: nothing_else }",
                                        "protocol int { roles A, B A -> B: x }"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        rad_protocols *p = session_parse(wrong[i]);
        rad_error error;
        for (uint32_t role = 0; role < 2; role++) {
            if (rad_protocol_c_text(p, 0, role, &error) != NULL) fail_msg("accepted: %s", wrong[i]);
            assert_int_equal(error.code, RAD_EINPUT);
            assert_non_null(strstr(error.text, "would be the name of two things"));
        }
        rad_protocols_free(p);
    }
}

/* Whoever has another version of the protocol must notice. */
static void headers_of_different_protocols_have_different_digests(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "protocol P { roles A, B A -> B: x }",          "protocol P { roles A, B A -> B: y }",
        "protocol P { roles A, B A -> B: x(int) }",     "protocol P { roles A, B A -> B: x(bool) }",
        "protocol P { roles A, B B -> A: x }",          "protocol P { roles A, C A -> C: x }",
        "protocol Q { roles A, B A -> B: x }",          "protocol P { roles A, B A -> B: x A -> B: x }",
        "protocol P { roles A, B A does x A -> B: x }", "protocol P { roles A, B A -> B: x A does x }"};
    enum { COUNT = sizeof texts / sizeof *texts };
    char digests[COUNT][24];
    for (size_t i = 0; i < COUNT; i++) {
        rad_protocols *p = session_parse(texts[i]);
        char *c = rad_protocol_c_text(p, 0, 0, NULL);
        assert_non_null(c);
        memcpy(digests[i], strstr(c, "UINT64_C("), sizeof digests[i]);
        digests[i][sizeof digests[i] - 1] = 0;
        for (size_t k = 0; k < i; k++) assert_string_not_equal(digests[k], digests[i]);
        rad_free(c);
        rad_protocols_free(p);
    }
}

/* ---- Without memory ---------------------------------------------------------------------------------------- */

static const rad_protocols *all;

static int write_all(rad_error *error)
{
    char *text[3] = {rad_protocol_svg(all, 1), rad_protocol_type_text(all, 1, 1), NULL};
    int status = text[0] && text[1] ? 0 : RAD_ENOMEM;
    if (status == 0) text[2] = rad_protocol_c_text(all, 1, 1, error);
    if (status == 0 && text[2] == NULL) status = error->code;
    for (int i = 0; i < 3; i++) rad_free(text[i]);
    return status;
}

static int generate(rad_error *error)
{
    char *text = rad_protocols_generate(7, NULL, error);
    rad_free(text);
    return text ? 0 : error->code;
}

static int search_capacity(rad_error *error)
{
    rad_capacity k;
    return rad_protocol_capacity(all, 0, 0, 0, &k, error);
}

static int run_crowd(rad_error *error)
{
    rad_session_options o = rad_session_defaults();
    rad_session_crowd crowd = {.sessions = 3, .threads = 1};
    rad_session_info info;
    enum rad_session_end end;
    char *trace;
    o.log = true;
    int status = rad_session_run_crowd(all, &o, &crowd, &end, &info, &trace, error);
    assert_true((status == 0) == (trace != NULL));
    rad_free(trace);
    if (status == 0 && info.sessions_faulted > 0) status = RAD_ENOMEM; /* of the session only */
    return status;
}

/* Says what was drawn, as if there were no handler. */
static enum rad_effect_result say_drawn(void *context, rad_effect *e)
{
    (void)context;
    if (e->kind == RAD_EFFECT_SELECT) {
        e->chosen = (uint32_t)(e->draw % e->option_count);
        e->field_count = e->options[e->chosen].field_count;
        for (uint32_t i = 0; i < e->field_count; i++) e->fields[i].type = e->options[e->chosen].types[i];
    }
    for (uint32_t i = 0; e->kind != RAD_EFFECT_CONSUME && i < e->field_count; i++) {
        e->fields[i].number = (int64_t)(e->draw % 2);
        e->fields[i].text = "drawn";
        e->fields[i].length = 5;
    }
    ++*(uint64_t *)e->coroutine_state;
    return RAD_EFFECT_DONE;
}

static int prepare_drawn(void *context, rad_session_vm *vm, rad_error *error)
{
    int status = rad_session_coroutine_state(vm, sizeof(uint64_t), NULL, error);
    return status ? status : rad_session_handle(vm, NULL, say_drawn, context, error);
}

static int search_invariance(rad_error *error)
{
    static const uint32_t ns[] = {3};
    rad_invariance_options o = {
        .ns = ns, .n_count = 1, .sessions = 2, .starts = 1, .policies = 2, .rounds = 300, .prepare = prepare_drawn};
    rad_invariance out;
    int status = rad_session_invariant(all, &o, &out, error);
    if (status == 0) assert_true(out.holds); /* what could not be compared is no difference */
    return status;
}

/* Each allocation fails in turn, and all after it: that is told, and nothing is left behind. */
static void every_allocation_may_fail(void **state)
{
    (void)state;
    int (*const works[])(rad_error *) = {write_all, generate, search_capacity, search_invariance, run_crowd};
    rad_protocols *p = session_parse(everything);
    all = p;
    for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
        uint64_t n = 0;
        for (int status = -1; status != 0;) {
            rad_error error = {.code = 0};
            rad__alloc_fail_at(++n);
            status = works[i](&error);
            rad__alloc_fail_at(0);
            if (status != 0 && status != RAD_ENOMEM)
                fail_msg("%zu, allocation %llu: %d, %s", i, (unsigned long long)n, status, error.text);
        }
        assert_true(n > 5);
    }
    rad_protocols_free(p);
}

/* Of a file that fills many pieces of memory, wherever their ends are. */
static void every_allocation_of_a_long_file_may_fail(void **state)
{
    (void)state;
    for (uint32_t shift = 0; shift < 12; shift += (uint32_t)storm_size(3, 1)) {
        rad_bytes text = {0};
        for (uint32_t i = 0; i < 6; i++) {
            rad__bytes_format(&text, "protocol P%u { roles A, B, C\n", i);
            for (uint32_t k = 0; k < shift; k++) rad__bytes_format(&text, "A does d%u_%u\n", i, k);
            rad__bytes_format(&text,
                              "A -> B: a%u(f%u: int) loop L%u { choice at A { A -> B: x A -> C: x\n"
                              "continue L%u } or { A -> B: y A -> C: y } }\n"
                              "par { B -> C: z } and { for i in 1..2 { C -> B: q%u } }\n",
                              i, i, i, i, i);
            if (i > 0) rad__bytes_format(&text, "call P%u(A, B, C)\n", i - 1);
            rad__bytes_format(&text,
                              "}\nlocals L%u { roles A, B local A { A -> B: x }\n"
                              "local B { A -> B: x } code B {\nreceive A x r2\nb%u: halt\n} }\n",
                              i, i);
        }
        assert_false(text.failed);
        int status = -1;
        for (uint64_t n = 1; status != 0; n++) {
            rad_protocols *p;
            rad_error error;
            rad__alloc_fail_at(n);
            status = rad_protocols_parse(&p, "test", (char *)text.data, text.size, &error);
            rad__alloc_fail_at(0);
            if (status != 0 && status != RAD_ENOMEM) fail_msg("%s", error.text);
            assert_true((status == 0) == (p != NULL));
            rad_protocols_free(p);
        }
        rad__bytes_free(&text);
    }
}

/* ---- The machine ------------------------------------------------------------------------------------------- */

/* A message that has different fields in different places: how many are sent is what the type says there. */
static void code_may_send_a_message_with_the_fields_of_its_place(void **state)
{
    (void)state;
    rad_protocols *p =
        session_parse("protocol P { roles A, B A -> B: note A -> B: note(int) A -> B: note(text, int)\n"
                      "code A {\nsend B note\nset r1 5\nsend B note\nset r3 \"five\"\nset r4 6\nsend B note "
                      "r3\n}\n"
                      "code B {\nreceive A note\nreceive A note r5\nreceive A note r6\n} }");
    rad_session_options o = rad_session_defaults();
    rad_session_vm *vm = session_vm(p, &o, 1);
    assert_int_equal(rad_session_run(vm, 0), RAD_SESSION_COMPLETE);
    assert_int_equal(vm->faulted_sessions, 0);
    rad_co *b = session_thread(vm, 0, "B");
    assert_int_equal(b->registers[5].number, 5);
    assert_string_equal(b->registers[6].text, "five");
    assert_int_equal(b->registers[7].number, 6);
    rad_session_destroy(vm);
    rad_protocols_free(p);
    p = session_parse("protocol P { roles A, B A -> B: note A -> B: note(int, int)\n"
                      "code A {\nsend B note r15\nsend B note r15\n} }");
    vm = session_vm(p, &o, 1);
    rad_session_run(vm, 0);
    assert_int_equal(vm->sessions[0]->fault, RAD_FAULT_OPERAND); /* there is no r16 */
    rad_session_destroy(vm);
    rad_protocols_free(p);
}

/* 65,536 messages, also when doubling would go beyond that. */
static void a_buffer_grows_to_its_most_and_not_beyond(void **state)
{
    (void)state;
    rad_protocols *p =
        session_parse("protocol P { roles A, B loop L { choice at A { A -> B: x(text) continue L } or { A -> B: "
                      "y } }\n"
                      "code A { set r1 \"t\"\ntop: send B x\njump top\n}\ncode B { wait: jump wait\n} }");
    rad_session_options o = rad_session_defaults();
    o.full = RAD_FULL_RESIZE;
    o.capacity = 3;
    rad_session_vm *vm = session_vm(p, &o, 1);
    rad_session_run(vm, 1000000);
    assert_int_equal(vm->sessions[0]->fault, RAD_FAULT_FULL);
    assert_int_equal(vm->sessions[0]->buffers[0].count, 65536);
    assert_int_equal(vm->sessions[0]->buffers[0].capacity, 65536);
    rad_session_destroy(vm);
    rad_protocols_free(p);
}

/* All of them, or none: then they can be opened later. */
static void opening_without_memory_opens_nothing(void **state)
{
    (void)state;
    rad_protocols *p = session_parse("protocol P { roles A, B A -> B: x }");
    rad_session_options o = rad_session_defaults();
    for (o.start = 0; o.start < 2; o.start++) {
        int status = -1;
        for (uint64_t n = 1; status != 0; n++) {
            rad_session_vm *vm;
            assert_int_equal(rad_session_create(&vm, p, &o, NULL), 0);
            rad__alloc_fail_at(n);
            status = rad_session_open(vm, NULL, 20, NULL);
            rad__alloc_fail_at(0);
            if (status != 0) {
                assert_int_equal(status, RAD_ENOMEM);
                assert_int_equal(vm->session_count + vm->co_count + vm->blocked_count, 0);
                assert_int_equal(rad_session_open(vm, NULL, 20, NULL), 0);
            }
            assert_int_equal(vm->blocked_count, 40); /* they are about to begin */
            assert_int_equal(rad_session_run(vm, 0), RAD_SESSION_COMPLETE);
            assert_int_equal(vm->closed_sessions, 20);
            rad_session_destroy(vm);
        }
    }
    rad_protocols_free(p);
}

/* No event is lost in silence. */
static void a_log_that_cannot_grow_ends_the_run(void **state)
{
    (void)state;
    rad_protocols *p = session_parse("protocol P { roles A, B loop L { A -> B: x continue L } }");
    rad_session_options o = rad_session_defaults();
    o.log = true;
    rad_session_vm *vm = session_vm(p, &o, 1);
    assert_int_equal(rad_session_run(vm, 100), RAD_SESSION_EXHAUSTED);
    rad__alloc_fail_at(1);
    enum rad_session_end end = rad_session_run(vm, 100000);
    rad__alloc_fail_at(0);
    assert_int_equal(end, RAD_SESSION_NO_MEMORY);
    assert_int_equal(rad_session_event_count(vm), vm->event_capacity);
    rad_session_destroy(vm);
    rad_protocols_free(p);
}

/* Two machines with different handlers, or protocols whose code differs. */
static rad_session_vm *logged(const rad_protocols *p, uint64_t seed, uint32_t sessions)
{
    rad_session_options o = rad_session_defaults();
    o.log = o.record = true;
    o.seed = seed;
    rad_session_vm *vm = session_vm(p, &o, sessions);
    rad_session_run(vm, 10000);
    return vm;
}

static void differ(const char *one, const char *other, uint64_t seeds[2], const char *said)
{
    rad_protocols *p = session_parse(one), *q = session_parse(other);
    rad_session_vm *a = logged(p, seeds[0], 1), *b = logged(q, seeds[1], 1);
    char text[300] = "they are the same";
    assert_true(rad_session_same(a, a, text, sizeof text));
    bool same = rad_session_same(a, b, text, sizeof text);
    if (strcmp(text, said) != 0) fail_msg("said: %s", text);
    assert_false(same);
    assert_false(rad_session_same(b, a, text, sizeof text));
    rad_session_destroy(a);
    rad_session_destroy(b);
    rad_protocols_free(p);
    rad_protocols_free(q);
}

static void what_differs_is_named(void **state)
{
    (void)state;
    static const char by_hand[] = "protocol Q { roles C, D C -> D: q }\n"
                                  "protocol P { roles A, B A -> B: x(int)\ncode A {\n";
    char one[300], other[300];
    uint64_t equal[2] = {1, 1}, seeds[2] = {1, 2};
#define CODE(a, b)                                                                                                     \
    snprintf(one, sizeof one, "%s%s} }", by_hand, a);                                                                  \
    snprintf(other, sizeof other, "%s%s} }", by_hand, b)
    CODE("set r1 1\nsend B x\n", "set r1 2\nsend B x\n");
    differ(one, other, equal, /* B is told other things, for which its handler is not to blame */
           "session 0, A: event 0: sent x in one run, sent x in the other, with other fields");
    CODE("set r2 1\nset r1 1\nsend B x\n", "set r2 2\nset r1 1\nsend B x\n");
    differ(one, other, equal, "session 0, A: a register at the end");
    CODE("set r1 1\nsend B x\nacquire\n", "set r1 1\nsend B x\nacquire\nrelease\n");
    differ(one, other, equal, "session 0, A: event 2: halted  in one run, released  in the other");
    CODE("set r1 1\nsend B x\nopen Q\n", "set r1 1\nsend B x\n");
    differ(one, other, equal, "session 0, A: event 1: opened  in one run, halted  in the other");
    CODE("set r1 1\nsend B x\nrelease\n", "set r1 1\nsend B x\n");
    differ(one, other, equal, "session 0, A: event 1: faulted the token is not held in one run, halted  in the other");
#undef CODE
    static const char drawn[] = "protocol P { roles A, B A -> B: x(int) }";
    differ(drawn, drawn, seeds, "session 0, A: handler of x, effect 0: x 134 and x 689");
    differ("locals P { roles A, B local A { A does d } local B { B does e } }",
           "locals P { roles A, B local A { A does d } local B { B does f } }", equal,
           "session 0, B: handler of e, effect 0: e and f");
}

static void sessions_that_are_not_there_differ(void **state)
{
    (void)state;
    rad_protocols *p = session_parse("protocol P { roles A, B A -> B: x(int) }");
    rad_session_vm *two = logged(p, 1, 2), *one = logged(p, 1, 1);
    char text[100];
    assert_false(rad_session_same(two, one, text, sizeof text));
    assert_string_equal(text, "session 1 is opened in one run only");
    assert_false(rad_session_same(one, two, text, sizeof text));
    assert_string_equal(text, "one run opens 1 sessions, the other 2");
    rad_session_destroy(two);
    rad_session_destroy(one);
    rad_protocols_free(p);
}

/* The first error ends the search, though it would not happen again. */
static int fails_once(void *context, rad_session_vm *vm, rad_error *error)
{
    uint32_t *calls = context;
    (void)vm;
    return ++*calls == 3 ? rad__error(error, RAD_EINPUT, "not now") : 0;
}

static void a_search_ends_with_its_first_error(void **state)
{
    (void)state;
    rad_protocols *p = session_parse("protocol P { roles A, B A -> B: x(int) }");
    uint32_t calls = 0;
    rad_invariance_options o = {.prepare = fails_once, .context = &calls};
    rad_invariance out;
    rad_error error;
    assert_int_equal(rad_session_invariant(p, &o, &out, &error), RAD_EINPUT);
    assert_string_equal(error.text, "not now");
    assert_int_equal(calls, 3);
    rad_protocols_free(p);
}

/* Logs that are equal as far as both go are not equal. */
static void a_log_that_has_more_differs(void **state)
{
    (void)state;
    rad_protocols *p = session_parse("protocol P { roles A, B A -> B: x(int) B -> A: y(int) }");
    rad_session_options o = rad_session_defaults();
    o.record = true;
    rad_effect_log *logs[2];
    for (uint32_t i = 0; i < 2; i++) {
        rad_session_vm *vm = session_vm(p, &o, 1);
        rad_session_run(vm, i ? 0 : 4);
        logs[i] = rad_session_take_effects(vm);
        assert_non_null(logs[i]);
        rad_session_destroy(vm);
    }
    char text[200] = "";
    assert_false(rad_effect_log_differ(logs[0], logs[0], text, sizeof text));
    assert_true(rad_effect_log_differ(logs[0], logs[1], text, sizeof text));
    assert_string_equal(text, "session 0, B: effect 0, x 669, is in the second log only (record 1)");
    assert_true(rad_effect_log_differ(logs[1], logs[0], text, sizeof text));
    assert_string_equal(text, "session 0, B: effect 0, x 669, is in the first log only (record 1)");
    assert_false(rad__effects_blame(logs[0], logs[1], text, sizeof text)); /* it came further */
    rad_effect_log_free(logs[0]);
    rad_effect_log_free(logs[1]);
    rad_protocols_free(p);
}

static void traces_say_everything(void **state)
{
    (void)state;
    rad_protocols *p =
        session_parse("protocol P { roles A, B choice at A { A -> B: x } or { A -> B: x2 }\nA does d B -> A: y\n"
                      "code B {\nchoose A { x -> l, x2 -> l }\nl: acquire\nrelease\nrelease\n} }");
    rad_session_vm *vm = logged(p, 1, 2);
    char *text = rad_session_trace_text(vm, 1, false), *report = rad_session_report(vm);
    assert_non_null(text);
    assert_non_null(report);
    for (char *at = text; *at; at = strchr(at, '\n') + 1) { /* without the hashes */
        char *end = strchr(at, '\n');
        memmove(end - 17, end, strlen(end) + 1);
    }
    assert_string_equal(text, "8 1 A invoked select 0\n"
                              "9 1 A sent x2 to B 0\n"
                              "10 1 A invoked d 1\n"
                              "12 1 B received x2 from A 0\n"
                              "13 1 B acquired\n"
                              "14 1 B released\n"
                              "15 1 B faulted the token is not held\n");
    assert_string_equal(report, "session 0, B: faulted: the token is not held, line 7\n"
                                "session 1, B: faulted: the token is not held, line 7\n");
    rad_free(text);
    rad_free(report);
    rad_session_destroy(vm);
    rad_protocols_free(p);
}

/* All of it, or nothing. */
static void texts_without_memory_are_none(void **state)
{
    (void)state;
    rad_protocols *p = session_parse("protocol P { roles A, B A -> B: x code A {\nhalt\n} }");
    rad_session_vm *vm = logged(p, 1, 40);
    char *report = rad_session_report(vm), *trace = rad_session_trace_text(vm, RAD_NONE, true);
    assert_true(report != NULL && strlen(report) > 2000 && trace != NULL && strlen(trace) > 2000);
    bool done = false;
    for (uint64_t n = 1; !done; n++) {
        rad__alloc_fail_at(n);
        char *one = rad_session_report(vm);
        rad__alloc_fail_at(n);
        char *other = rad_session_trace_text(vm, RAD_NONE, true);
        rad__alloc_fail_at(0);
        if (one != NULL) assert_string_equal(one, report);
        if (other != NULL) assert_string_equal(other, trace);
        done = one != NULL && other != NULL;
        rad_free(one);
        rad_free(other);
    }
    rad_free(report);
    rad_free(trace);
    rad_session_destroy(vm);
    rad_protocols_free(p);
}

static void texts_are_equal_from_end_to_end(void **state)
{
    (void)state;
    rad_protocols *p = session_parse("protocol P { roles A A does d code A {\nset r1 \"ab\"\nset r2 \"abc\"\n"
                                     "equal r3 r1 r2\nequal r4 r2 r1\nequal r5 r1 r1\nset r6 \"\"\nequal r7 r6 r1\n"
                                     "equal r8 r6 r6\ninvoke d\n} }");
    rad_session_vm *vm = logged(p, 1, 1);
    const rad_datum *r = session_thread(vm, 0, "A")->registers;
    static const int64_t equal[] = {[3] = 0, [4] = 0, [5] = 1, [7] = 0, [8] = 1};
    for (uint32_t i = 3; i <= 8; i++)
        if (i != 6) assert_int_equal(r[i].number, equal[i]);
    assert_int_equal(vm->faulted_sessions, 0);
    rad_session_destroy(vm);
    rad_protocols_free(p);
}

/* Without memory it takes longer, and comes to the same. */
static void traces_are_normalized_without_memory(void **state)
{
    (void)state;
    rad_protocols *p = session_parse("protocol P { roles A, B A -> B: x(int) B -> A: y A -> B: z }");
    rad_session_vm *vm = logged(p, 1, 3);
    uint64_t count;
    rad_session_event *one = session_events(vm, &count), *other = rad__alloc(count, sizeof *other);
    assert_non_null(other);
    memcpy(other, rad_session_events(vm), count * sizeof *other);
    rad__alloc_fail_at(1);
    rad_session_normalize(other, count);
    rad__alloc_fail_at(0);
    assert_memory_equal(one, other, count * sizeof *one);
    rad__free(one);
    rad__free(other);
    rad_session_destroy(vm);
    rad_protocols_free(p);
}

/* ---- On several threads ------------------------------------------------------------------------------------ */

static void a_crowd_is_as_many_as_were_asked_for(void **state)
{
    (void)state;
    rad_protocols *p = session_parse("protocol P { roles A, B A -> B: x(int) A does d }");
    rad_session_options o = rad_session_defaults();
    for (uint32_t sessions = 0; sessions < 40; sessions += 13) {
        rad_session_vm *vm = session_vm(p, &o, sessions);
        rad_session_info one, many;
        enum rad_session_end end;
        rad_session_run(vm, 0);
        rad_session_look(vm, &one);
        rad_session_crowd crowd = {.sessions = sessions, .threads = 2};
        assert_int_equal(rad_session_run_crowd(p, &o, &crowd, &end, &many, NULL, NULL), 0);
        assert_int_equal(end, RAD_SESSION_COMPLETE);
        assert_int_equal(one.sessions, many.sessions);
        assert_int_equal(one.sessions_closed, many.sessions_closed);
        assert_int_equal(one.coroutines, many.coroutines);
        assert_int_equal(one.ended, many.ended);
        assert_int_equal(one.instructions, many.instructions);
        assert_int_equal(one.messages, many.messages);
        assert_int_equal(one.effects, 3 * sessions);
        assert_int_equal(many.effects, 3 * sessions);
        assert_string_equal(one.digest, many.digest);
        rad_session_destroy(vm);
    }
    rad_error error;
    rad_session_info info;
    enum rad_session_end end;
    rad_session_crowd crowd = {.sessions = UINT32_MAX, .threads = 2};
    assert_int_equal(rad_session_run_crowd(p, &o, &crowd, &end, &info, NULL, &error), RAD_ELIMIT);
    crowd = (rad_session_crowd){.sessions = 1, .threads = UINT32_MAX};
    assert_true(rad_session_run_crowd(p, &o, &crowd, &end, &info, NULL, &error) < 0);
    crowd = (rad_session_crowd){.sessions = 0, .protocol = "Q"};
    assert_int_equal(rad_session_run_crowd(p, &o, &crowd, &end, &info, NULL, &error), RAD_EINPUT);
    assert_string_equal(error.text, "test: there is no protocol Q");
    o.n = 0;
    crowd = (rad_session_crowd){.sessions = 0};
    assert_int_equal(rad_session_run_crowd(p, &o, &crowd, &end, &info, NULL, &error), RAD_EINPUT);
    rad_protocols_free(p);
}

/* ---- Misuse -------------------------------------------------------------------------------------------------- */

static void asks_for_a_protocol_that_is_not_there(void)
{
    rad_protocols *p = session_parse("protocol P { roles A A does x }");
    rad_protocol_role_count(p, rad_protocol_find(p, "Q"));
}

static void asks_for_a_role_that_is_not_there(void)
{
    rad_protocols *p = session_parse("protocol P { roles A A does x }");
    rad_protocol_c_text(p, 0, 1, NULL);
}

static void compares_machines_without_a_log(void)
{
    rad_protocols *p = session_parse("protocol P { roles A A does x }");
    rad_session_options o = rad_session_defaults();
    rad_session_vm *vm = session_vm(p, &o, 1);
    char text[20];
    rad_session_same(vm, vm, text, sizeof text);
}

static void replays_too_late(void)
{
    rad_protocols *p = session_parse("protocol P { roles A A does x }");
    rad_session_options o = rad_session_defaults();
    rad_session_replay(session_vm(p, &o, 1), NULL);
}

static void handles_with_nobody(void)
{
    rad_protocols *p = session_parse("protocol P { roles A A does x }");
    rad_session_options o = rad_session_defaults();
    rad_session_handle(session_vm(p, &o, 1), "x", NULL, NULL, NULL);
}

static void misuse_is_told(void **state)
{
    (void)state;
    expect_misuse(asks_for_a_protocol_that_is_not_there, "rad_protocol_…: there is no protocol of this number");
    expect_misuse(asks_for_a_role_that_is_not_there, "rad_protocol_c_text: there is no role of this number");
    expect_misuse(compares_machines_without_a_log, "rad_session_same: one of the machines keeps no log");
    expect_misuse(replays_too_late, "rad_session_replay: sessions are open already");
    expect_misuse(handles_with_nobody, "rad_session_handle: there is no handler");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_as_it_was),
        cmocka_unit_test(headers_have_lines_of_120_columns),
        cmocka_unit_test(fields_may_have_any_name),
        cmocka_unit_test(a_name_that_is_free_is_kept),
        cmocka_unit_test(names_of_c_are_not_taken_twice),
        cmocka_unit_test(headers_of_different_protocols_have_different_digests),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(every_allocation_of_a_long_file_may_fail),
        cmocka_unit_test(code_may_send_a_message_with_the_fields_of_its_place),
        cmocka_unit_test(a_buffer_grows_to_its_most_and_not_beyond),
        cmocka_unit_test(opening_without_memory_opens_nothing),
        cmocka_unit_test(a_log_that_cannot_grow_ends_the_run),
        cmocka_unit_test(what_differs_is_named),
        cmocka_unit_test(sessions_that_are_not_there_differ),
        cmocka_unit_test(a_search_ends_with_its_first_error),
        cmocka_unit_test(a_log_that_has_more_differs),
        cmocka_unit_test(traces_say_everything),
        cmocka_unit_test(texts_without_memory_are_none),
        cmocka_unit_test(texts_are_equal_from_end_to_end),
        cmocka_unit_test(traces_are_normalized_without_memory),
        cmocka_unit_test(a_crowd_is_as_many_as_were_asked_for),
        cmocka_unit_test(misuse_is_told),
    };
    storm_choose();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
