/* test_fiber_stack.c — fiber stacks: who has which, and when their memory goes. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <raddle.h>

#include "os/fault.h"
#include "os/pages.h"
#include "rt/fiber.h"
#include "rt/runtime.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MANY = 100 };

typedef struct port {
    rad_stacks stacks;
    rad_fiber_stacks all;
    rad_fiber_stack fiber_stacks[MANY];
    rad_strand strands[MANY];
} port;

static void port_open(port *p)
{
    rad_stacks_options o = {.size = 16 << 10, .most = MANY};
    rad_error error = {0};
    memset(p, 0, sizeof *p);
    if (rad__stacks_open(&p->stacks, &o, &error) != 0) fail_msg("%s", error.text);
    for (uint32_t i = 0; i < MANY; i++) {
        rad_stack stack;
        assert_int_equal(rad__stacks_new(&p->stacks, &stack, &error), 0);
        rad__fiber_stack_add(&p->all, &p->fiber_stacks[i], &stack);
    }
}

static void port_close(port *p)
{
    for (uint32_t i = 0; i < MANY; i++)
        if (p->fiber_stacks[i].is_made) rad__context_drop(&p->fiber_stacks[i].context);
    rad__stacks_close(&p->stacks);
}

static void nothing(void *fiber_stack)
{
    (void)fiber_stack;
}

static void board(port *p, rad_fiber_stack_cache *cache, uint32_t strand)
{
    rad__fiber_stack_take(&p->all, cache, &p->strands[strand], nothing);
    rad_fiber_stack *b = p->strands[strand].fiber_stack;
    assert_ptr_equal(b->strand, &p->strands[strand]);
    assert_true(b->is_made);
    memset(b->base, 1, b->size); /* somebody was there */
}

static void vacate(port *p, rad_fiber_stack_cache *cache, uint32_t strand)
{
    rad__fiber_stack_give(&p->all, cache, p->strands[strand].fiber_stack);
    p->strands[strand].fiber_stack = NULL;
}

static void the_warmest_is_used_first(void **state)
{
    static port p;
    rad_fiber_stack_cache cache = {.most = 4};
    (void)state;
    port_open(&p);
    for (uint32_t i = 0; i < 3; i++) board(&p, &cache, i);
    rad_fiber_stack *last = p.strands[1].fiber_stack;
    vacate(&p, &cache, 0);
    vacate(&p, &cache, 1);
    board(&p, &cache, 4);
    assert_ptr_equal(p.strands[4].fiber_stack, last);
    port_close(&p);
}

/* The claim of fiber_stack.h: those that a worker keeps are those it has brought. */
static void a_core_keeps_no_more_than_it_brought(void **state)
{
    static port p;
    rad_fiber_stack_cache mine = {.most = 4}, other = {.most = 4}, poor = {.most = 0};
    (void)state;
    port_open(&p);
    for (uint32_t i = 0; i < MANY; i++) board(&p, &mine, i);
    for (uint32_t i = 0; i < MANY; i++) {
        vacate(&p, &mine, i);
        assert_true(mine.count <= 4);
    }
    board(&p, &other, 0); /* brings some of the pool's along, half of what it may keep */
    assert_int_equal(other.count, 2);
    uint32_t on_a_fiber_stack = 1;
    for (; on_a_fiber_stack < MANY - mine.count - other.count; on_a_fiber_stack++) board(&p, &poor, on_a_fiber_stack);
    assert_null(p.all.warm);
    assert_null(p.all.cold);
    for (uint32_t i = 1; i < on_a_fiber_stack; i++) {
        vacate(&p, &poor, i);
        assert_int_equal(poor.count, 0);
    }
    port_close(&p);
}

static uint32_t pages_in_use(const rad_fiber_stack *b)
{
    unsigned char in_core[64];
    uint32_t count = 0, pages = (b->size + 4095) / 4096;
    assert_true(pages <= sizeof in_core);
    assert_int_equal(mincore(b->base, (size_t)pages * 4096, in_core), 0);
    for (uint32_t i = 0; i < pages; i++) count += in_core[i] & 1;
    return count;
}

static uint32_t in_memory(const port *p)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < MANY; i++) {
        uint32_t used = pages_in_use(&p->fiber_stacks[i]);
        count += used > 0;
        assert_true(used == 0 || p->fiber_stacks[i].is_made); /* none keeps a part of it */
        assert_true(used > 0 || !p->fiber_stacks[i].is_made); /* nobody goes on where there is nothing */
    }
    return count;
}

/* Half of those that nobody needed since the last look, again and again. */
static void memory_of_cold_stacks_is_given_back(void **state)
{
    static port p;
    rad_fiber_stack_cache cache = {.most = 0};
    (void)state;
    port_open(&p);
    assert_int_equal(in_memory(&p), 0);
    for (uint32_t i = 0; i < 64; i++) board(&p, &cache, i);
    for (uint32_t i = 0; i < 64; i++) vacate(&p, &cache, i);
    assert_int_equal(rad__fiber_stacks_cool(&p.all, 1000), 0); /* they were needed until now */
    for (uint32_t i = 0; i < 24; i++) board(&p, &cache, i);
    for (uint32_t i = 0; i < 24; i++) vacate(&p, &cache, i);
    assert_int_equal(rad__fiber_stacks_cool(&p.all, 1000), 20); /* 40 were not */
    assert_int_equal(in_memory(&p), 44);
    assert_int_equal(rad__fiber_stacks_cool(&p.all, 4), 4); /* no more than it may */
    for (uint32_t left = 40; left > 0; left -= left / 2 + left % 2) {
        assert_int_equal(in_memory(&p), left);
        assert_int_equal(rad__fiber_stacks_cool(&p.all, 1000), left / 2 + left % 2);
    }
    assert_int_equal(in_memory(&p), 0);
    for (uint32_t i = 0; i < MANY; i++) board(&p, &cache, i); /* all of them can be used again */
    assert_int_equal(in_memory(&p), MANY);
    port_close(&p);
}

/* ---- In a runtime --------------------------------------------------------------------------------------- */

static uint64_t resident_bytes(void)
{
    unsigned long size = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%lu %lu", &size, &resident), 2);
    fclose(f);
    return (uint64_t)resident * 4096;
}

typedef struct burst {
    rad_chan *gate; /* so that each needs a stack of its own, it is closed when all of them are there */
    _Atomic uint32_t there;
    uint64_t before, after; /* bytes of memory */
} burst;

static int touches(void *arg)
{
    volatile char much[12 << 10];
    burst *b = arg;
    char nothing;
    for (size_t i = 0; i < sizeof much; i += 64) much[i] = 1;
    atomic_fetch_add(&b->there, 1);
    return rad_recv(b->gate, &nothing, RAD_FOREVER) == RAD_ECLOSED ? much[64] - 1 : 1;
}

static int burst_and_rest(void *arg)
{
    enum { FIBERS = 4000 };
    burst *b = arg;
    rad_nursery n;
    rad_nursery_open(&n, RAD_FOREVER);
    for (uint32_t i = 0; i < FIBERS; i++) rad_nursery_go(&n, touches, b);
    while (atomic_load(&b->there) < FIBERS) rad_sleep(1000000);
    b->before = resident_bytes();
    rad_chan_close(b->gate, 0);
    if (rad_nursery_wait(&n) != 0) return 1;
    for (uint32_t i = 0; i < 600; i++) {
        rad_sleep(100000000);
        b->after = resident_bytes();
        if (b->after + (FIBERS * UINT64_C(12) << 10) / 2 < b->before) return 0;
    }
    return 2;
}

static void a_burst_does_not_keep_its_memory(void **state)
{
    burst b = {0};
    (void)state;
    assert_int_equal(rad_chan_create(&b.gate, 1, 0, RAD_CHAN_BLOCKS), 0);
    int code = rad_main(NULL, burst_and_rest, &b, NULL);
    rad_chan_destroy(b.gate);
    if (code != 0)
        fail_msg("%d: %llu KiB in the burst, %llu later", code, (unsigned long long)b.before >> 10,
                 (unsigned long long)b.after >> 10);
}

static int ends_at_once(void *arg)
{
    *(const void **)arg = __builtin_frame_address(0);
    return 0;
}

/* A fiber that ends without waiting leaves its stack, while it is warm, to the next one. */
static int spawns_many(void *arg)
{
    const void *frames[MANY];
    (void)arg;
    for (uint32_t i = 0; i < MANY; i++) assert_int_equal(rad_spawn(NULL, ends_at_once, &frames[i]), 0);
    rad_yield();
    for (uint32_t i = 0; i < MANY; i++) rad_yield();
    uint32_t same = 0;
    for (uint32_t i = 1; i < MANY; i++) same += frames[i] == frames[0];
    return same == MANY - 1 ? 0 : (int)same + 1;
}

static void fibers_that_end_at_once_share_a_stack(void **state)
{
    rad_options one = {.workers = 1};
    (void)state;
    assert_int_equal(rad_main(&one, spawns_many, NULL, NULL), 0);
}

/* ---- Without a guard -------------------------------------------------------------------------------------- */

static int waits_a_moment(void *arg)
{
    (void)arg;
    rad_sleep(1000000);
    _exit(3); /* it has run, on a stack without a guard */
}

static int makes_guards_fail(void *arg)
{
    (void)arg;
    if (rad_spawn(NULL, waits_a_moment, NULL) != 0) return 1;
    rad__os_fail_at(1);
    rad_yield();
    return 2;
}

/* The kernel has no memory for the guard of a stack that a fiber is about to use: the process ends with a message. */
static void no_fiber_runs_without_a_guard(void **state)
{
    int out[2];
    char said[256] = {0};
    (void)state;
    void *page = NULL;
    assert_int_equal(rad__os_pages_map(&page, RAD_PAGE_MAX, NULL), 0);
    bool marks = rad__os_pages_marks_work(page);
    rad__os_pages_unmap(page, RAD_PAGE_MAX);
    if (!marks) skip(); /* guards are mappings, which are made by spawning */
#if defined(__SANITIZE_THREAD__)
    skip(); /* threads in children */
#endif
    assert_int_equal(pipe(out), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        rad_options one = {.workers = 1};
        signal(SIGABRT, SIG_DFL);
        dup2(out[1], STDERR_FILENO);
        _exit(rad_main(&one, makes_guards_fail, NULL, NULL));
    }
    close(out[1]);
    ssize_t size = read(out[0], said, sizeof said - 1);
    close(out[0]);
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
    assert_true(size > 0);
    assert_non_null(strstr(said, "raddle: no memory for the guard of a fiber's stack\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_warmest_is_used_first),
        cmocka_unit_test(a_core_keeps_no_more_than_it_brought),
        cmocka_unit_test(memory_of_cold_stacks_is_given_back),
        cmocka_unit_test(a_burst_does_not_keep_its_memory),
        cmocka_unit_test(fibers_that_end_at_once_share_a_stack),
        cmocka_unit_test(no_fiber_runs_without_a_guard),
    };
    return cmocka_run_group_tests_name("rt_berth", tests, NULL, NULL);
}
