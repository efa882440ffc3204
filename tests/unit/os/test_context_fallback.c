/* test_context_fallback.c — the context switch for machines that have none of their own, on this one: the same
 * source with another choice, under other names. */
#define RAD_CONTEXT_UCONTEXT  1
#define rad__context_make     fallback_make
#define rad__context_jump     fallback_jump
#define rad__context_switch   fallback_switch
#define rad__context_leave    fallback_leave
#define rad__context_adopt    fallback_adopt
#define rad__context_drop     fallback_drop
#define rad__context_kind     fallback_kind
#define rad__context_frame    fallback_frame
#define rad__stack_announce   fallback_announce
#define rad__stack_withdraw   fallback_withdraw
#define rad__stack_is_watched fallback_is_watched
#include "os/context.c"

#include <stdio.h>

#include "context_support.h"

static void the_kind_is_the_fallback(void **state)
{
    (void)state;
    assert_string_equal(rad__context_kind(), "ucontext");
}

int main(void)
{
    const struct CMUnitTest tests[] = {CONTEXT_TESTS, cmocka_unit_test(the_kind_is_the_fallback)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
