/* context_support.h — tests of a context switch; included by one program per kind of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STACK = 1 << 16, ROUNDS = 1000 };

typedef struct pingpong {
    rad_context home, other;
    void *stack;
    uint64_t log[8];
    uint32_t count;
    double number;
} pingpong;

static void pingpong_open(pingpong *p, void (*entry)(void *argument))
{
    memset(p, 0, sizeof *p);
    p->stack = malloc(STACK);
    assert_non_null(p->stack);
    memset(p->stack, 0x5a, STACK);
    rad__context_make(&p->other, p->stack, STACK, entry, p);
}

static void counts(void *argument)
{
    pingpong *p = argument;
    for (uint64_t i = 1;; i++) {
        p->log[p->count++ % 8] = i;
        rad__context_switch(&p->other, &p->home);
    }
}

static void goes_on_where_it_was_left(void **state)
{
    pingpong p;
    (void)state;
    pingpong_open(&p, counts);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        rad__context_switch(&p.home, &p.other);
        assert_int_equal(p.count, i + 1);
        assert_int_equal(p.log[i % 8], i + 1);
    }
    rad__context_drop(&p.other);
    free(p.stack);
}

/* Many values that live across a switch on both sides: more than there are registers. */
__attribute__((noinline)) static uint64_t busy(rad_context *from, rad_context *to, uint64_t seed, double *number)
{
    uint64_t a = seed, b = seed * 3, c = seed * 5, d = seed * 7, e = seed * 11, f = seed * 13;
    uint64_t g = seed * 17, h = seed * 19;
    double x = (double)seed + 0.5, y = (double)seed * 0.25;
    for (int i = 0; i < 10; i++) {
        a += b;
        b ^= c;
        c += d;
        d ^= e;
        x += y;
        rad__context_switch(from, to);
        e += f;
        f ^= g;
        g += h;
        h ^= a;
        y += 1;
    }
    *number = x * y;
    return a ^ b ^ c ^ d ^ e ^ f ^ g ^ h;
}

static void busy_other(void *argument)
{
    pingpong *p = argument;
    p->log[0] = busy(&p->other, &p->home, 1000, &p->number);
    for (;;) rad__context_switch(&p->other, &p->home);
}

static void nowhere(void *argument)
{
    pingpong *p = argument;
    for (;;) rad__context_switch(&p->other, &p->home);
}

static void registers_survive(void **state)
{
    pingpong together, alone;
    double mine, expected, others;
    (void)state;
    pingpong_open(&alone, nowhere);
    uint64_t right = busy(&alone.home, &alone.other, 77, &expected);
    uint64_t right_other = busy(&alone.home, &alone.other, 1000, &others);
    pingpong_open(&together, busy_other);
    assert_int_equal(busy(&together.home, &together.other, 77, &mine), right);
    rad__context_switch(&together.home, &together.other);
    assert_int_equal(together.log[0], right_other);
    assert_true(mine == expected && together.number == others);
    rad__context_drop(&alone.other);
    rad__context_drop(&together.other);
    free(alone.stack);
    free(together.stack);
}

/* The stack is as the ABI wants it: vector code and varargs would crash otherwise. */
static void calls_the_library(void *argument)
{
    pingpong *p = argument;
    char text[64];
    snprintf(text, sizeof text, "%.3f %d %s", sqrt(2.0), 42, "words");
    p->log[0] = strcmp(text, "1.414 42 words") == 0;
    _Alignas(16) char aligned[16];
    p->log[1] = ((uintptr_t)aligned & 15) == 0;
    for (;;) rad__context_switch(&p->other, &p->home);
}

static void the_stack_is_aligned(void **state)
{
    pingpong p;
    (void)state;
    pingpong_open(&p, calls_the_library);
    rad__context_switch(&p.home, &p.other);
    assert_int_equal(p.log[0], 1);
    assert_int_equal(p.log[1], 1);
    rad__context_drop(&p.other);
    free(p.stack);
}

static void one_stack_serves_again(void **state)
{
    pingpong p;
    (void)state;
    pingpong_open(&p, counts);
    for (int i = 0; i < 3; i++) {
        p.count = 0;
        rad__context_drop(&p.other);
        rad__context_make(&p.other, p.stack, STACK, counts, &p);
        rad__context_switch(&p.home, &p.other);
        rad__context_switch(&p.home, &p.other);
        assert_int_equal(p.count, 2);
        assert_int_equal(p.log[1], 2);
    }
    rad__context_drop(&p.other);
    free(p.stack);
}

/* Leaves a frame behind that nobody returns from, with red zones where there are sanitizers. */
__attribute__((noinline)) static void ends_deep(pingpong *p, uint32_t depth)
{
    volatile char local[100];
    memset((char *)local, (int)depth, sizeof local);
    if (depth > 0) ends_deep(p, depth - 1);
    p->log[0] += (uint64_t)local[50] + 1;
    if (depth == 0) rad__context_leave(&p->other, &p->home);
}

static void ends(void *argument)
{
    ends_deep(argument, 20);
}

/* More often than a sanitizer allows contexts at a time, and over the remains of the one before. */
static void ends_for_good_and_is_made_again(void **state)
{
    pingpong p;
    (void)state;
    pingpong_open(&p, ends);
    rad__context_adopt(&p.home);
    for (uint32_t i = 0; i < 10000; i++) {
        rad__context_switch(&p.home, &p.other);
        assert_int_equal(p.log[0], i + 1);
        rad__context_drop(&p.other);
        rad__context_make(&p.other, p.stack, STACK - 16 * (i % 50), ends, &p);
    }
    rad__context_drop(&p.other);
    free(p.stack);
}

#define CONTEXT_TESTS                                                                                                  \
    cmocka_unit_test(goes_on_where_it_was_left), cmocka_unit_test(registers_survive),                                  \
        cmocka_unit_test(the_stack_is_aligned), cmocka_unit_test(one_stack_serves_again),                              \
        cmocka_unit_test(ends_for_good_and_is_made_again)
