/* test_talk.c — sessions over channels, with tables written by hand: what the monitor lets happen, and when. Calls that
 * would wait have no time to: threads are not needed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <raddle/talk.h>

#include <string.h>

/* A -> B: x(int); A -> B: x(int); B -> A: y; then A forks: { A -> B: x } and { A -> B: z }, which B does as well. */
enum { X = 1, Y, Z };
enum { A, B };
static const rad_talk_message messages[] = {{"", 0, 0}, {"x", 1, 0}, {"y", 0, 0}, {"z", 0, 0}};
static const char *const roles[] = {"A", "B"};
static const uint8_t widths[] = {1, 1, 1, 1};
static const rad_talk_shape shape = {"P", "p.session", 7, roles, 2, messages, widths, 4};

static const rad_endpoint_arm arms[] = {{X, B, 0, 1}, {X, B, 0, 2}, {Y, B, 1, 3}, {0, 0, 0, 5}, {0, 0, 0, 6}, /* A */
                                        {X, B, 2, 4}, {Z, B, 3, 4}};
static const rad_endpoint_state states[] = {{RAD_PARTY_SEND, 0, 1, 0, 1},    {RAD_PARTY_SEND, 1, 1, 0, 2},
                                            {RAD_PARTY_RECEIVE, 2, 1, 0, 3}, {RAD_PARTY_FORK, 3, 2, 4, 4},
                                            {RAD_PARTY_END, 0, 0, 0, 0},     {RAD_PARTY_SEND, 5, 1, 0, 5},
                                            {RAD_PARTY_SEND, 6, 1, 0, 6}};
static const uint32_t start = 0;
static const rad_endpoint_table table_a = {7, A, 1, &start, states, arms};

static const rad_endpoint_arm arms_b[] = {{X, A, 0, 1}, {X, A, 0, 2}, {Y, A, 1, 3}};
static const rad_endpoint_state states_b[] = {{RAD_PARTY_RECEIVE, 0, 1, 0, 1},
                                              {RAD_PARTY_RECEIVE, 1, 1, 0, 2},
                                              {RAD_PARTY_SEND, 2, 1, 0, 3},
                                              {RAD_PARTY_END, 0, 0, 0, 0}};
static const rad_endpoint_table table_b = {7, B, 1, &start, states_b, arms_b};

typedef struct both {
    rad_talk *talk;
    rad_endpoint a, b;
} both;

static void both_open(both *t)
{
    assert_int_equal(rad_talk_open(&t->talk, &shape, 0), 0);
    assert_int_equal(rad_endpoint_begin(&t->a, t->talk, &table_a, 0), 0);
    assert_int_equal(rad_endpoint_begin(&t->b, t->talk, &table_b, 0), 0);
}

static void both_close(both *t)
{
    rad_endpoint_end(&t->a);
    rad_endpoint_end(&t->b);
    rad_talk_destroy(t->talk);
}

static void a_message_that_was_not_taken_is_not_sent(void **state)
{
    (void)state;
    both t;
    rad_talk_value value = {.number = 1}, got;
    both_open(&t);
    assert_int_equal(rad_endpoint_send(&t.a, X, B, &value, 0), 0);
    value.number = 2;
    assert_int_equal(rad_endpoint_send(&t.a, X, B, &value, 0), RAD_ETIMEOUT); /* no room yet */
    assert_int_equal(rad_endpoint_receive(&t.b, X, A, &got, 0), 0);
    assert_int_equal(got.number, 1);
    value.number = 3;
    assert_int_equal(rad_endpoint_send(&t.a, X, B, &value, 0), 0); /* it may still, and has to */
    assert_int_equal(rad_endpoint_receive(&t.b, X, A, &got, 0), 0);
    assert_int_equal(got.number, 3);
    assert_int_equal(rad_endpoint_receive(&t.a, Y, B, NULL, 0), RAD_ETIMEOUT);
    both_close(&t);
}

static void sending_is_not_receiving(void **state)
{
    (void)state;
    both t;
    rad_talk_value value = {.number = 1};
    both_open(&t);
    assert_int_equal(rad_endpoint_receive(&t.a, X, B, &value, 0), RAD_EPROTOCOL);
    assert_string_equal(rad_endpoint_error(&t.a),
                        "A of P, p.session:1: cannot receive x from B; expected: send x to B");
    assert_int_equal(rad_endpoint_send(&t.b, X, A, &value, 0), RAD_EPROTOCOL);
    assert_int_equal(rad_endpoint_does(&t.a, X), RAD_EPROTOCOL);
    assert_int_equal(rad_endpoint_send(&t.a, X, A, &value, 0), RAD_EPROTOCOL); /* another peer */
    assert_int_equal(rad_endpoint_send(&t.a, Z, B, &value, 0), RAD_EPROTOCOL); /* another message */
    assert_int_equal(rad_endpoint_send(&t.a, X, B, &value, 0), 0);
    both_close(&t);
}

static void branches_are_joined_at_their_ends(void **state)
{
    (void)state;
    both t;
    rad_talk_value value = {.number = 1};
    rad_endpoint branches[2];
    both_open(&t);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(rad_endpoint_send(&t.a, X, B, &value, 0), 0);
        assert_int_equal(rad_endpoint_receive(&t.b, X, A, &value, 0), 0);
    }
    assert_int_equal(rad_endpoint_send(&t.b, Y, A, NULL, 0), 0);
    assert_int_equal(rad_endpoint_receive(&t.a, Y, B, NULL, 0), 0);
    assert_int_equal(rad_endpoint_fork(&t.a, branches, 2), 0);
    assert_int_equal(rad_endpoint_send(&branches[0], X, B, &value, 0), 0);
    assert_int_equal(rad_endpoint_join(&t.a, branches, 2), RAD_EPROTOCOL); /* the second has more to do */
    assert_int_equal(rad_endpoint_send(&branches[1], Z, B, NULL, 0), 0);
    assert_int_equal(rad_endpoint_join(&t.a, branches, 2), 0);
    assert_int_equal(rad_endpoint_end(&t.a), 0);
    assert_int_equal(rad_endpoint_end(&t.b), 0);
    rad_talk_destroy(t.talk);
}

/* A join that comes too early changes nothing: what a branch has looked at is still there. */
static void a_join_that_comes_too_early_loses_nothing(void **state)
{
    (void)state;
    static const rad_endpoint_arm sends[] = {{X, B, 2, 1}, {Z, B, 3, 2}};
    static const rad_endpoint_state sender[] = {
        {RAD_PARTY_SEND, 0, 1, 0, 1}, {RAD_PARTY_SEND, 1, 1, 0, 2}, {RAD_PARTY_END, 0, 0, 0, 0}};
    static const rad_endpoint_arm receives[] = {{0, 0, 0, 2}, {0, 0, 0, 3}, {X, A, 2, 1}, {Z, A, 3, 1}};
    static const rad_endpoint_state receiver[] = {{RAD_PARTY_FORK, 0, 2, 1, 1},
                                                  {RAD_PARTY_END, 0, 0, 0, 0},
                                                  {RAD_PARTY_RECEIVE, 2, 1, 0, 1},
                                                  {RAD_PARTY_RECEIVE, 3, 1, 0, 2}};
    static const rad_endpoint_table of_a = {7, A, 1, &start, sender, sends};
    static const rad_endpoint_table of_b = {7, B, 1, &start, receiver, receives};
    both t;
    rad_talk_value value = {.number = 5}, got = {.number = 0};
    rad_endpoint branches[2];
    assert_int_equal(rad_talk_open(&t.talk, &shape, 0), 0);
    assert_int_equal(rad_endpoint_begin(&t.a, t.talk, &of_a, 0), 0);
    assert_int_equal(rad_endpoint_begin(&t.b, t.talk, &of_b, 0), 0);
    assert_int_equal(rad_endpoint_send(&t.a, X, B, &value, 0), 0);
    assert_int_equal(rad_endpoint_send(&t.a, Z, B, NULL, 0), 0);
    assert_int_equal(rad_endpoint_fork(&t.b, branches, 2), 0);
    assert_int_equal(rad_endpoint_await(&branches[0], 0), X);
    assert_int_equal(rad_endpoint_join(&t.b, branches, 2), RAD_EPROTOCOL);
    assert_string_equal(rad_endpoint_error(&t.b),
                        "B of P, p.session:1: ends before its part does; expected: receive x from A");
    assert_int_equal(rad_endpoint_receive(&branches[0], X, A, &got, 0), 0);
    assert_int_equal(got.number, 5);
    assert_int_equal(rad_endpoint_receive(&branches[1], Z, A, NULL, 0), 0);
    assert_int_equal(rad_endpoint_join(&t.b, branches, 2), 0);
    both_close(&t);
}

static void who_looks_first_takes_the_same_message(void **state)
{
    (void)state;
    both t;
    rad_talk_value value = {.number = 1}, got;
    both_open(&t);
    assert_int_equal(rad_endpoint_await(&t.b, 0), RAD_ETIMEOUT);
    assert_int_equal(rad_endpoint_send(&t.a, X, B, &value, 0), 0);
    assert_int_equal(rad_endpoint_await(&t.b, 0), X);
    value.number = 2;
    assert_int_equal(rad_endpoint_send(&t.a, X, B, &value, 0), 0); /* it has left the channel */
    assert_int_equal(rad_endpoint_await(&t.b, 0), X);
    assert_int_equal(rad_endpoint_receive(&t.b, X, A, &got, 0), 0);
    assert_int_equal(got.number, 1);
    assert_int_equal(rad_endpoint_receive(&t.b, X, A, &got, 0), 0);
    assert_int_equal(got.number, 2);
    both_close(&t);
}

/* As an older raddle wrote it: the message with the number 0 cannot be told from success. */
static void a_message_with_the_number_of_success_is_refused(void **state)
{
    (void)state;
    rad_talk_shape old = shape;
    rad_talk *talk;
    old.messages = &messages[1];
    assert_int_equal(rad_talk_open(&talk, &old, 1), RAD_EINPUT);
    assert_null(talk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_that_was_not_taken_is_not_sent),
        cmocka_unit_test(sending_is_not_receiving),
        cmocka_unit_test(branches_are_joined_at_their_ends),
        cmocka_unit_test(a_join_that_comes_too_early_loses_nothing),
        cmocka_unit_test(who_looks_first_takes_the_same_message),
        cmocka_unit_test(a_message_with_the_number_of_success_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
