/* test_context_fallback.c — the context switch for machines that have none of their own, on this one: the same
 * source with another choice, under other names. */
#define RAD_CONTEXT_UCONTEXT 1
#define rad__context_make    fallback_make
#define rad__context_switch  fallback_switch
#define rad__context_kind    fallback_kind
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
