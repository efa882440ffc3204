/* test_stack.c — stacks for fibers: where they lie, their guards, their limits. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "os/context.h"
#include "os/fault.h"
#include "os/pages.h"
#include "os/process.h"
#include "rt/stack.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void open_stacks(rad_stacks *s, size_t size, uint32_t most, enum rad_guard guard)
{
    rad_stacks_options o = {.size = size, .most = most, .guard = guard};
    rad_error error = {0};
    if (rad__stacks_open(s, &o, &error) != 0) fail_msg("%s", error.text);
}

static rad_stack new_stack(rad_stacks *s)
{
    rad_stack stack;
    rad_error error = {0};
    if (rad__stacks_new(s, &stack, &error) != 0 || rad__stacks_guard(s, &stack, &error) != 0)
        fail_msg("%s", error.text);
    return stack;
}

/* ---- Guards --------------------------------------------------------------------------------------------- */

static int writes(void *context)
{
    signal(SIGSEGV, SIG_DFL); /* a sanitizer's handler would make it an exit status */
    *(volatile char *)context = 1;
    return 0;
}

static int signal_of_writing(void *at)
{
    rad_error error = {0};
    rad_os_exit how = {0};
    int pid;
    assert_int_equal(rad__os_fork(&pid, at, writes, &error), 0);
    assert_int_equal(rad__os_wait(pid, true, &how, &error), 1);
    assert_int_equal(how.status, 0);
    return how.signal;
}

static void guards_bite(enum rad_guard guard)
{
    rad_stacks s;
    open_stacks(&s, 0, 100, guard);
    for (uint32_t i = 0; i < 70; i++) { /* beyond the first slab */
        rad_stack stack = new_stack(&s);
        char *base = stack.base;
        assert_int_equal(stack.number, i);
        base[0] = base[stack.size - 1] = 1;
        if (i % 23 != 0) continue;
        assert_int_equal(signal_of_writing(base - 1), SIGSEGV);
        for (size_t down = s.page; down <= s.guard_size; down += s.page)
            assert_int_equal(signal_of_writing(base - down), SIGSEGV);
        assert_true(s.guard_size >= (size_t)64 << 10);
        assert_int_equal(signal_of_writing(base), 0);
        if (i > 0) assert_int_equal(signal_of_writing(base - s.guard_size - 1), 0); /* another's top */
    }
    rad__stacks_close(&s);
}

static void a_guard_faults(void **state)
{
    (void)state;
    guards_bite(RAD_GUARD_BEST);
}

static void a_guard_by_mapping_faults(void **state)
{
    (void)state;
    guards_bite(RAD_GUARD_MAPPINGS);
}

static void the_kind_of_guard_is_said(void **state)
{
    rad_stacks s;
    rad_stacks_report r;
    (void)state;
    open_stacks(&s, 0, 10, RAD_GUARD_BEST);
    void *page = NULL;
    rad_error error = {0};
    assert_int_equal(rad__os_pages_map(&page, RAD_PAGE_MAX, &error), 0);
    bool marks = rad__os_pages_marks_work(page);
    rad__os_pages_unmap(page, RAD_PAGE_MAX);
    rad__stacks_report(&s, &r);
    assert_string_equal(r.guards, marks ? "guard regions" : "mprotect");
    rad__stacks_close(&s);
    open_stacks(&s, 0, 10, RAD_GUARD_MAPPINGS);
    rad__stacks_report(&s, &r);
    assert_string_equal(r.guards, "mprotect");
    rad__stacks_close(&s);
}

static uint32_t mapping_count(void)
{
    uint32_t count = 0;
    FILE *f = fopen("/proc/self/maps", "r");
    assert_non_null(f);
    for (int c; (c = getc(f)) != EOF;) count += c == '\n';
    fclose(f);
    return count;
}

static void a_hundred_thousand_have_guards(void **state)
{
    uint32_t count = rad__stack_is_watched() ? 1000 : 100000; /* valgrind goes through a list */
    rad_stacks s;
    rad_stacks_report r;
    (void)state;
    open_stacks(&s, 0, count, RAD_GUARD_BEST);
    if (s.guard != RAD_GUARD_MARKS) {
        rad__stacks_close(&s);
        skip();
    }
    uint32_t before = mapping_count();
    rad_stack stack = {0};
    for (uint32_t i = 0; i < count; i++) stack = new_stack(&s);
    assert_in_range(mapping_count(), before, before + 200);
    assert_int_equal(signal_of_writing((char *)stack.base - 1), SIGSEGV);
    assert_int_equal(signal_of_writing(stack.base), 0);
    rad__stacks_report(&s, &r);
    assert_int_equal(r.stacks, count);
    assert_int_equal(r.slabs, s.slab_count);
    assert_int_equal(r.mapped_bytes, (uint64_t)count * s.stride);
    if (s.page == 4096) assert_in_range(r.page_table_bytes, 392 * count, 400 * count);
    rad__stacks_close(&s);
}

static void without_marks_the_mappings_end(void **state)
{
    rad_stacks s;
    rad_stack stack;
    rad_error error = {0};
    (void)state;
    open_stacks(&s, RAD_STACK_SIZE_MIN, 1 << 20, RAD_GUARD_MAPPINGS);
    uint32_t limit = rad__os_mapping_limit();
    assert_true(s.guard_most < limit / 2 && s.guard_most > limit / 4);
    s.guard_most = 50; /* all of them take a while */
    for (uint32_t i = 0; i < 50; i++) new_stack(&s);
    for (int i = 0; i < 2; i++) {
        error = (rad_error){0};
        assert_int_equal(rad__stacks_new(&s, &stack, &error), RAD_ELIMIT);
        assert_non_null(strstr(error.text, "vm.max_map_count"));
    }
    s.guard_most = 51;
    assert_int_equal(new_stack(&s).number, 50);
    error = (rad_error){0};
    s.guard_most = UINT32_MAX; /* and when the system is the first to say so */
    rad__os_fail_at(1);
    assert_int_equal(rad__stacks_new(&s, &stack, &error), RAD_ELIMIT);
    rad__os_fail_at(0);
    assert_non_null(strstr(error.text, "vm.max_map_count"));
    rad__stacks_close(&s);
}

/* ---- Places --------------------------------------------------------------------------------------------- */

static void sizes_are_whole_pages_and_strides_odd(void **state)
{
    static const size_t sizes[] = {0, 16384, 16385, 20480, 65536, 1 << 20, 3 << 20};
    (void)state;
    for (uint32_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        rad_stacks s;
        open_stacks(&s, sizes[i], 300, RAD_GUARD_BEST);
        size_t wanted = sizes[i] ? sizes[i] : RAD_STACK_SIZE;
        assert_true(s.size >= wanted && s.size < wanted + s.page && s.size % s.page == 0);
        assert_int_equal(s.stride / s.page % 2, 1);
        assert_in_range(s.guard_size, RAD_STACK_GUARD, RAD_STACK_GUARD + 2 * s.page);
        uintptr_t end = 0;
        for (uint32_t k = 0; k < 300; k++) {
            rad_stack stack = new_stack(&s);
            uintptr_t base = (uintptr_t)stack.base;
            assert_int_equal(base % s.page, 0);
            assert_int_equal(stack.size, s.size - k % RAD_STACK_COLOURS * RAD_STACK_COLOUR);
            assert_true(stack.size >= s.size - s.page / 4);
            if (k % 64 != 0) assert_true(base >= end);
            end = base + s.size;
        }
        rad__stacks_close(&s);
    }
}

static void nonsense_is_refused(void **state)
{
    static const rad_stacks_options wrong[] = {
        {.size = 4096, .most = 1},       {.size = SIZE_MAX, .most = 1},       {.size = 0, .most = 0},
        {.size = 0, .most = UINT32_MAX}, {.size = SIZE_MAX / 8, .most = 100},
    };
    (void)state;
    for (uint32_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        rad_stacks s;
        rad_error error = {0};
        assert_int_equal(rad__stacks_open(&s, &wrong[i], &error), RAD_EINPUT);
        assert_null(s.slabs);
        rad__stacks_close(&s);
    }
}

static void addresses_are_found(void **state)
{
    enum { COUNT = 1000 };
    rad_stacks s;
    rad_stack_place place;
    (void)state;
    open_stacks(&s, RAD_STACK_SIZE_MIN, COUNT, RAD_GUARD_BEST);
    assert_false(rad__stacks_find(&s, 0, &place));
    assert_false(rad__stacks_find(&s, (uintptr_t)&place, &place));
    for (uint32_t i = 0; i < COUNT; i++) {
        rad_stack stack = new_stack(&s);
        uintptr_t base = (uintptr_t)stack.base;
        uintptr_t inside[] = {base, base + stack.size / 2, base + s.size - 1};
        uintptr_t guard[] = {base - 1, base - s.guard_size};
        for (uint32_t k = 0; k < 3; k++) {
            assert_true(rad__stacks_find(&s, inside[k], &place));
            assert_int_equal(place.number, i);
            assert_false(place.in_guard);
        }
        for (uint32_t k = 0; k < 2; k++) {
            assert_true(rad__stacks_find(&s, guard[k], &place));
            assert_int_equal(place.number, i);
            assert_true(place.in_guard);
        }
    }
    assert_false(rad__stacks_find(&s, UINTPTR_MAX, &place));
    rad__stacks_close(&s);
}

static void the_last_slab_ends_where_it_should(void **state)
{
    (void)state;
    for (uint32_t most = 1; most < 200; most += 21) {
        rad_stacks s;
        rad_stack stack = {0};
        rad_stacks_report r;
        rad_error error = {0};
        open_stacks(&s, 0, most, RAD_GUARD_BEST);
        for (uint32_t i = 0; i < most; i++) stack = new_stack(&s);
        ((volatile char *)stack.base)[stack.size - 1] = 1;
        rad__stacks_report(&s, &r);
        assert_int_equal(r.mapped_bytes, most * s.stride);
        rad_stack one_more;
        assert_int_equal(rad__stacks_new(&s, &one_more, &error), RAD_ELIMIT);
        assert_non_null(strstr(error.text, "in use"));
        rad__stacks_close(&s);
    }
}

/* ---- Memory --------------------------------------------------------------------------------------------- */

static uint32_t resident_pages(const rad_stack *stack)
{
    size_t page = rad__os_page_size(), pages = (stack->size + page - 1) / page;
    unsigned char *in = malloc(pages);
    assert_non_null(in);
    assert_int_equal(mincore(stack->base, pages * page, in), 0);
    uint32_t count = 0;
    for (size_t i = 0; i < pages; i++) count += in[i] & 1;
    free(in);
    return count;
}

static void forgetting_keeps_the_top(void **state)
{
    rad_stacks s;
    rad_error error = {0};
    (void)state;
    open_stacks(&s, 0, 20, RAD_GUARD_BEST);
    for (uint32_t i = 0; i < 20; i++) {
        rad_stack stack = new_stack(&s);
        char *bytes = stack.base;
        memset(bytes, 7, stack.size);
        uint32_t pages = (uint32_t)(s.size / s.page);
        assert_int_equal(resident_pages(&stack), pages);
        assert_int_equal(rad__stack_forget(&stack, 1000, &error), 0);
        for (uint32_t k = 1; k <= 1000; k++) assert_int_equal(bytes[stack.size - k], 7);
        assert_in_range(resident_pages(&stack), 1, 2);
        assert_int_equal(bytes[0], 0); /* still memory, as new */
        assert_int_equal(rad__stack_forget(&stack, 3 * s.page, &error), 0);
        assert_int_equal(rad__stack_forget(&stack, SIZE_MAX, &error), 0);
        for (uint32_t k = 1; k <= 1000; k++) assert_int_equal(bytes[stack.size - k], 7);
        assert_int_equal(signal_of_writing(bytes - 1), SIGSEGV);
    }
    rad__stacks_close(&s);
}

/* ---- Failures ------------------------------------------------------------------------------------------- */

static bool uses(enum rad_guard guard, rad_error *error)
{
    rad_stacks_options o = {.most = 200, .guard = guard};
    rad_stacks s;
    rad_stack stack;
    bool all = rad__stacks_open(&s, &o, error) == 0;
    for (uint32_t i = 0; i < 200 && all; i++)
        all = rad__stacks_new(&s, &stack, error) == 0 && rad__stacks_guard(&s, &stack, error) == 0;
    if (all) all = rad__stack_forget(&stack, 0, error) == 0;
    rad__os_fail_at(0);
    rad__alloc_fail_at(0);
    if (s.slabs) { /* what failed took nothing: it goes on from there */
        uint32_t next = atomic_load(&s.next);
        if (next < 200) {
            stack = new_stack(&s);
            assert_int_equal(stack.number, next);
            assert_int_equal(signal_of_writing((char *)stack.base - 1), SIGSEGV);
        }
    }
    rad__stacks_close(&s);
    return all;
}

static void any_call_may_fail(void **state)
{
    (void)state;
    for (enum rad_guard guard = RAD_GUARD_BEST; guard <= RAD_GUARD_MAPPINGS; guard++) {
        if (guard == RAD_GUARD_MARKS) continue;
        for (uint64_t n = 1;; n += n < 8 ? 1 : 17) {
            rad_error error = {0};
            uint32_t before = mapping_count();
            rad__os_fail_at(n);
            bool done = uses(guard, &error);
            assert_in_range(mapping_count(), before - 1, before + 1);
            if (done) break;
            assert_true(error.code == RAD_ENOMEM || error.code == RAD_ELIMIT);
            assert_true(n < 1000);
        }
    }
    rad_error error = {0};
    rad__alloc_fail_at(1);
    assert_false(uses(RAD_GUARD_BEST, &error));
    assert_int_equal(error.code, RAD_ENOMEM);
}

/* ---- Threads -------------------------------------------------------------------------------------------- */

enum { TAKERS = 4, TAKEN = 5000 };

typedef struct taker {
    rad_stacks *s;
    pthread_t thread;
    rad_stack stacks[TAKEN];
} taker;

static void *taker_main(void *context)
{
    taker *t = context;
    for (uint32_t i = 0; i < TAKEN; i++) {
        rad_error error = {0};
        if (rad__stacks_new(t->s, &t->stacks[i], &error) != 0 || rad__stacks_guard(t->s, &t->stacks[i], &error) != 0)
            return t;
        *(volatile uint32_t *)t->stacks[i].base = t->stacks[i].number;
    }
    return NULL;
}

static void each_is_handed_out_once(void **state)
{
    static taker takers[TAKERS];
    static bool seen[TAKERS * TAKEN];
    rad_stacks s;
    (void)state;
    if (rad__stack_is_watched()) skip();
    open_stacks(&s, RAD_STACK_SIZE_MIN, TAKERS * TAKEN, RAD_GUARD_BEST);
    if (s.guard != RAD_GUARD_MARKS) s.guard_most = UINT32_MAX;
    for (int i = 0; i < TAKERS; i++) {
        takers[i].s = &s;
        assert_int_equal(pthread_create(&takers[i].thread, NULL, taker_main, &takers[i]), 0);
    }
    for (int i = 0; i < TAKERS; i++) {
        void *failed;
        pthread_join(takers[i].thread, &failed);
        assert_null(failed);
    }
    for (int i = 0; i < TAKERS; i++) {
        for (uint32_t k = 0; k < TAKEN; k++) {
            const rad_stack *stack = &takers[i].stacks[k];
            assert_false(seen[stack->number]);
            seen[stack->number] = true;
            assert_int_equal(*(uint32_t *)stack->base, stack->number);
        }
    }
    rad__stacks_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_guard_faults),
        cmocka_unit_test(a_guard_by_mapping_faults),
        cmocka_unit_test(the_kind_of_guard_is_said),
        cmocka_unit_test(a_hundred_thousand_have_guards),
        cmocka_unit_test(without_marks_the_mappings_end),
        cmocka_unit_test(sizes_are_whole_pages_and_strides_odd),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(addresses_are_found),
        cmocka_unit_test(the_last_slab_ends_where_it_should),
        cmocka_unit_test(forgetting_keeps_the_top),
        cmocka_unit_test(any_call_may_fail),
        cmocka_unit_test(each_is_handed_out_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
