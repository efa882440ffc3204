/* test_stubs.c — headers that are written from a protocol (tests/fixtures/team.session), and the monitor behind
 * them: what is allowed happens, what is not is refused and changes nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"

#include <raddle.h>
#include <raddle/lab.h>
#include <raddle/session.h>

#include <stdio.h>
#include <string.h>

#include "Team_Boss.h"
#include "Team_W.h"

/* ---- A whole session, with fibers --------------------------------------------------------------------------- */

typedef struct team {
    Team session;
    int64_t sum;
    char *last;
    int numbers[3];
} team;

typedef struct worker_arg {
    team *t;
    int which;
} worker_arg;

/* Answers of calls are 0 in what follows, or the fiber ends with them. */
#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        int status_ = (call);                                                                                          \
        if (status_ < 0) return status_;                                                                               \
    } while (0)

static int worker_branch(void *arg)
{
    Team_W *me = arg;
    return Team_W_send_result_as_int_to_Boss(me, 10, RAD_FOREVER);
}

static int worker_thanked(void *arg)
{
    Team_W *me = arg;
    char *text;
    TRY(Team_W_receive_thanks_from_Boss(me, &text, RAD_FOREVER));
    bool right = strcmp(text, "well done") == 0;
    rad_text_free(text);
    return right ? 0 : -100;
}

static int worker_parallel(Team_W *me, int which)
{
    Team_W branches[2];
    uint32_t count = which == 2 ? 2 : 1;
    rad_nursery n;
    TRY(Team_W_fork(me, branches, count));
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_go(&n, worker_branch, &branches[0]);
    if (count == 2) rad_nursery_go(&n, worker_thanked, &branches[1]);
    TRY(rad_nursery_wait(&n));
    return Team_W_join(me, branches, count);
}

static int worker(void *arg)
{
    worker_arg *a = arg;
    Team_W me;
    char *what;
    int64_t number;
    bool more;
    TRY(Team_W_begin(&me, &a->t->session, a->which));
    TRY(Team_W_receive_work_from_Boss(&me, &what, &number, RAD_FOREVER));
    a->t->numbers[a->which - 1] = (int)number;
    rad_text_free(what);
    int came;
    while ((came = Team_W_await(&me, RAD_FOREVER)) == Team_is_more)
        TRY(Team_W_receive_more_from_Boss(&me, &more, RAD_FOREVER));
    TRY(came);
    TRY(Team_W_receive_stop_from_Boss(&me, RAD_FOREVER));
    TRY(worker_parallel(&me, a->which));
    if (a->which == 3) TRY(Team_W_send_result_as_text_to_W(&me, 1, "from 3", RAD_FOREVER));
    if (a->which == 1) TRY(Team_W_receive_result_as_text_from_W(&me, 3, &a->t->last, RAD_FOREVER));
    return Team_W_end(&me);
}

static int boss_collects(void *arg)
{
    Team_Boss *me = arg;
    int64_t sum = 0, one;
    for (int i = 1; i <= 3; i++) {
        TRY(Team_Boss_receive_result_as_int_from_W(me, i, &one, RAD_FOREVER));
        sum += one;
    }
    return (int)sum - 30; /* 0 if all is well */
}

static int boss_thanks(void *arg)
{
    Team_Boss *me = arg;
    return Team_Boss_send_thanks_to_W(me, 2, "well done", RAD_FOREVER);
}

static int boss(void *arg)
{
    team *t = arg;
    Team_Boss me, branches[2];
    rad_nursery n;
    TRY(Team_Boss_begin(&me, &t->session));
    for (int i = 1; i <= 3; i++) TRY(Team_Boss_send_work_to_W(&me, i, "weave", i * 7, RAD_FOREVER));
    for (int round = 0; round < 100; round++)
        for (int i = 1; i <= 3; i++) TRY(Team_Boss_send_more_to_W(&me, i, true, RAD_FOREVER));
    for (int i = 1; i <= 3; i++) TRY(Team_Boss_send_stop_to_W(&me, i, RAD_FOREVER));
    TRY(Team_Boss_does_counting(&me));
    TRY(Team_Boss_fork(&me, branches, 2));
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_go(&n, boss_collects, &branches[0]);
    rad_nursery_go(&n, boss_thanks, &branches[1]);
    TRY(rad_nursery_wait(&n));
    TRY(Team_Boss_join(&me, branches, 2));
    return Team_Boss_end(&me);
}

static int start(void *arg)
{
    team *t = arg;
    worker_arg workers[3] = {{t, 1}, {t, 2}, {t, 3}};
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < 3; i++) rad_nursery_go(&n, worker, &workers[i]);
    rad_nursery_go(&n, boss, t);
    return rad_nursery_wait(&n);
}

static void a_team_of_fibers_comes_to_its_end(void **state)
{
    (void)state;
    team t = {.sum = 0};
    assert_int_equal(Team_open(&t.session, 0), 0);
    assert_int_equal(rad_main(NULL, start, &t, NULL), 0);
    assert_string_equal(t.last, "from 3");
    for (int i = 0; i < 3; i++) assert_int_equal(t.numbers[i], (i + 1) * 7);
    rad_text_free(t.last);
    Team_destroy(&t.session);
}

/* ---- What is refused, step by step ---------------------------------------------------------------------------- */

#define PLACE ", team.session:"

static void what_is_not_allowed_is_refused_and_changes_nothing(void **state)
{
    (void)state;
    Team s;
    Team_Boss b;
    Team_W w, other;
    assert_int_equal(Team_open(&s, 1), 0);
    assert_int_equal(Team_Boss_begin(&b, &s), 0);
    assert_int_equal(Team_W_begin(&w, &s, 1), 0);
    assert_int_equal(Team_W_begin(&other, &s, 1), RAD_EINPUT);
    assert_string_equal(Team_W_error(&other), "the role W[1] is played already");
    assert_int_equal(Team_W_begin(&other, &s, 4), RAD_EINPUT);
    assert_string_equal(Team_W_error(&other), "there is no such role in protocol Team");
    assert_int_equal(Team_W_end(&other), 0);

    assert_int_equal(Team_Boss_send_work_to_W(&b, 2, "x", 1, 0), RAD_EPROTOCOL);
    assert_string_equal(Team_Boss_error(&b), "Boss of Team" PLACE "4: cannot send work to W[2]; "
                                             "expected: send work to W[1]");
    assert_int_equal(Team_Boss_send_work_to_W(&b, 9, "x", 1, 0), RAD_EPROTOCOL);
    assert_non_null(strstr(Team_Boss_error(&b), "cannot send work to nobody; expected"));
    assert_int_equal(Team_Boss_does_counting(&b), RAD_EPROTOCOL);
    assert_int_equal(Team_Boss_fork(&b, &b, 1), RAD_EPROTOCOL);
    assert_int_equal(Team_Boss_join(&b, &b, 1), RAD_EPROTOCOL);
    assert_int_equal(Team_Boss_await(&b, 0), RAD_EPROTOCOL);
    assert_int_equal(Team_W_receive_stop_from_Boss(&w, 0), RAD_EPROTOCOL);

    assert_int_equal(Team_Boss_send_work_to_W(&b, 1, NULL, -5, 0), 0);
    char *what;
    int64_t number;
    assert_int_equal(Team_W_await(&w, 0), Team_is_work);
    assert_int_equal(Team_W_await(&w, 0), Team_is_work);
    assert_int_equal(Team_W_receive_work_from_Boss(&w, &what, &number, 0), 0);
    assert_string_equal(what, "");
    assert_int_equal(number, -5);
    rad_text_free(what);
    assert_int_equal(Team_W_await(&w, 0), RAD_ETIMEOUT);
    assert_int_equal(Team_W_end(&w), RAD_EPROTOCOL);
    assert_string_equal(Team_W_error(&w), "W[1] of Team" PLACE "7: ends before its part does; "
                                          "expected: receive more from Boss or receive stop from Boss");
    assert_int_equal(Team_Boss_end(&b), RAD_EPROTOCOL);
    Team_destroy(&s);
}

static void a_message_of_another_branch_stays_where_it_is(void **state)
{
    (void)state;
    Team s;
    Team_Boss b;
    Team_W w;
    char *what;
    int64_t number;
    bool more;
    assert_int_equal(Team_open(&s, 4), 0);
    assert_int_equal(Team_Boss_begin(&b, &s), 0);
    assert_int_equal(Team_W_begin(&w, &s, 1), 0);
    for (int i = 1; i <= 3; i++) assert_int_equal(Team_Boss_send_work_to_W(&b, i, "t", 0, 0), 0);
    assert_int_equal(Team_Boss_send_more_to_W(&b, 1, true, 0), 0);
    assert_int_equal(Team_W_receive_work_from_Boss(&w, &what, &number, 0), 0);
    rad_text_free(what);
    assert_int_equal(Team_W_receive_stop_from_Boss(&w, 0), RAD_EPROTOCOL);
    assert_non_null(strstr(Team_W_error(&w), "; there came more"));
    assert_int_equal(Team_W_receive_more_from_Boss(&w, &more, 0), 0);
    assert_true(more);
    Team_W_end(&w);
    Team_Boss_end(&b);
    Team_destroy(&s); /* two texts are in it */
}

static void closing_is_passed_on(void **state)
{
    (void)state;
    Team s;
    Team_Boss b;
    Team_W w;
    char *what;
    int64_t number;
    assert_int_equal(Team_open(&s, 1), 0);
    assert_int_equal(Team_Boss_begin(&b, &s), 0);
    assert_int_equal(Team_W_begin(&w, &s, 1), 0);
    assert_int_equal(Team_Boss_send_work_to_W(&b, 1, "last", 0, 0), 0);
    Team_close(&s, -77);
    assert_int_equal(rad_talk_code(s.talk), -77);
    assert_int_equal(Team_Boss_send_work_to_W(&b, 2, "late", 0, 0), RAD_ECLOSED);
    assert_int_equal(Team_W_receive_work_from_Boss(&w, &what, &number, 0), 0);
    rad_text_free(what);
    assert_int_equal(Team_W_await(&w, RAD_FOREVER), RAD_ECLOSED);
    Team_W_end(&w);
    Team_Boss_end(&b);
    Team_destroy(&s);
}

static int cancelled_waits(void *arg)
{
    team *t = arg;
    Team_W me;
    TRY(Team_W_begin(&me, &t->session, 1));
    int code = Team_W_await(&me, RAD_FOREVER);
    Team_W_end(&me);
    return code == RAD_ECANCELED ? 0 : -1;
}

static int cancels(void *arg)
{
    rad_fiber fiber;
    rad_fiber_result given;
    TRY(rad_spawn(&fiber, cancelled_waits, arg));
    rad_sleep(1000000);
    rad_cancel(fiber);
    TRY(rad_join(fiber, &given, RAD_FOREVER));
    rad_release(fiber);
    return given.code;
}

static void cancelling_is_passed_on(void **state)
{
    (void)state;
    team t = {.sum = 0};
    assert_int_equal(Team_open(&t.session, 1), 0);
    assert_int_equal(rad_main(NULL, cancels, &t, NULL), 0);
    Team_destroy(&t.session);
}

static void headers_of_different_versions_do_not_go_together(void **state)
{
    (void)state;
    Team s;
    rad_endpoint p;
    rad_endpoint_table old = Team_Boss_table;
    old.digest++;
    assert_int_equal(Team_open(&s, 1), 0);
    assert_int_equal(rad_endpoint_begin(&p, s.talk, &old, 0), RAD_EINPUT);
    assert_string_equal(rad_endpoint_error(&p),
                        "the headers are of different versions of protocol Team: write them anew");
    assert_int_equal(rad_endpoint_send(&p, 0, 0, NULL, 0), RAD_EPROTOCOL);
    assert_int_equal(rad_endpoint_end(&p), 0);
    Team_destroy(&s);
}

/* ---- Failures of memory, and of names -------------------------------------------------------------------------- */

static void without_memory_nothing_is_half_done(void **state)
{
    (void)state;
    Team s;
    int status = RAD_ENOMEM;
    for (uint64_t n = 1; status != 0; n++) {
        rad__alloc_fail_at(n);
        status = Team_open(&s, 1);
        rad__alloc_fail_at(0);
        assert_true(status == 0 || (status == RAD_ENOMEM && s.talk == NULL));
    }
    Team_Boss b;
    assert_int_equal(Team_Boss_begin(&b, &s), 0);
    rad__alloc_fail_at(1);
    assert_int_equal(Team_Boss_send_work_to_W(&b, 1, "x", 0, 0), RAD_ENOMEM);
    rad__alloc_fail_at(0);
    assert_int_equal(Team_Boss_send_work_to_W(&b, 1, "x", 0, 0), 0);
    Team_Boss_end(&b);
    Team_destroy(&s);
}

static char *write_header(const char *protocol, rad_error *error)
{
    rad_protocols *p;
    assert_int_equal(rad_protocols_parse(&p, "some/where/x.session", protocol, strlen(protocol), error), 0);
    char *text = rad_protocol_c_text(p, rad_protocol_find(p, NULL), 0, error);
    rad_protocols_free(p);
    return text;
}

static void names_that_would_clash_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "protocol P { roles open, B open -> B: x }",
        "protocol int { roles A, B A -> B: x }",
        "protocol P { roles A, A_begin A -> A_begin: x }",
        "protocol P { roles A, B A -> B: x_as_int A -> B: x A -> B: x(int) }",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        rad_error error;
        assert_null(write_header(bad[i], &error));
        assert_int_equal(error.code, RAD_EINPUT);
        assert_non_null(strstr(error.text, "would be the name of two things"));
    }
}

static void the_header_says_where_it_is_from(void **state)
{
    (void)state;
    rad_error error;
    char *text = write_header("protocol P { roles A, B A -> B: x }", &error);
    assert_non_null(text);
    assert_non_null(strstr(text, "role A of protocol P (x.session)"));
    assert_null(strstr(text, "some/where"));
    rad_free(text);
    text = NULL;
    rad_protocols *p;
    assert_int_equal(rad_protocols_parse(&p, "x", "protocol P { roles A, B A -> B: x }", 35, &error), 0);
    for (uint64_t n = 1; text == NULL; n++) {
        rad__alloc_fail_at(n);
        text = rad_protocol_c_text(p, 0, 0, &error);
        rad__alloc_fail_at(0);
        assert_true(text != NULL || error.code == RAD_ENOMEM);
    }
    rad_free(text);
    rad_protocols_free(p);
}

/* Callers chain codes: `if (code == 0) code = …_await(…); if (code == Lease_is_offer) code = …`. A message with the
 * number 0 would be taken for success, or success for a message. */
static void no_message_has_the_number_of_success(void **state)
{
    (void)state;
    static const int numbers[] = {Team_is_work,   Team_is_more,           Team_is_stop,        Team_is_result_as_int,
                                  Team_is_thanks, Team_is_result_as_text, Team_is_nothing_else};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        assert_true(numbers[i] > 0);
        for (size_t k = 0; k < i; k++) assert_int_not_equal(numbers[i], numbers[k]);
    }
    team t;
    Team_Boss b;
    Team_W w;
    assert_int_equal(Team_open(&t.session, 4), 0);
    assert_int_equal(Team_Boss_begin(&b, &t.session), 0);
    assert_int_equal(Team_W_begin(&w, &t.session, 1), 0);
    assert_int_equal(Team_Boss_send_work_to_W(&b, 1, "first of all", 1, 0), 0);
    assert_true(Team_W_await(&w, 0) > 0);
    Team_Boss_end(&b);
    Team_W_end(&w);
    Team_destroy(&t.session);
    rad_error error;
    char *text = write_header("protocol Lease { roles A, B A does thing choice at A\n"
                              "{ A -> B: offer B -> A: take(int) } or { A -> B: quit } }",
                              &error);
    assert_non_null(text);
    assert_non_null(strstr(text, "0 is success"));
    assert_null(strstr(text, "_is_thing"));
    assert_non_null(strstr(text, "Lease_is_offer = 2,"));
    assert_non_null(strstr(text, "Lease_is_quit = 3,"));
    assert_non_null(strstr(text, "Lease_is_take = 4,"));
    rad_free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_team_of_fibers_comes_to_its_end),
        cmocka_unit_test(what_is_not_allowed_is_refused_and_changes_nothing),
        cmocka_unit_test(a_message_of_another_branch_stays_where_it_is),
        cmocka_unit_test(closing_is_passed_on),
        cmocka_unit_test(cancelling_is_passed_on),
        cmocka_unit_test(headers_of_different_versions_do_not_go_together),
        cmocka_unit_test(without_memory_nothing_is_half_done),
        cmocka_unit_test(names_that_would_clash_are_refused),
        cmocka_unit_test(the_header_says_where_it_is_from),
        cmocka_unit_test(no_message_has_the_number_of_success),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
