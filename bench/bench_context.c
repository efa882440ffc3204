/* bench_context.c — what a switch costs: two contexts, the ways of switching, and rings of many.
 *
 * There and back between two contexts is two switches, the instructions alone. In a runtime they stand in a function,
 * which has to return afterwards: to where the processor expects it when all who switch called it from one place, and
 * elsewhere when they did not. In a ring each context switches to the next, in a random order: what the
 * stacks cost. "prefetch" asks for the stack of the one four places ahead. */
#include "base/alloc.h"
#include "base/prng.h"
#include "bench.h"
#include "os/context.h"
#include "rt/stack.h"

#include <stdlib.h>

enum { STACK = 1 << 16 };

static rad_context home, other;
static uint64_t turns;

/* ---- Two ------------------------------------------------------------------------------------------------ */

__attribute__((noinline)) static void leave(rad_context *from, rad_context *to)
{
    rad__context_switch(from, to);
    __asm__ volatile("" ::: "memory"); /* no jump to the switch instead of a call */
}

static void direct(void *argument)
{
    for (;;) {
        turns++;
        rad__context_switch(&other, &home);
    }
    (void)argument;
}

static void through_a_function(void *argument)
{
    for (;;) {
        turns++;
        leave(&other, &home);
    }
    (void)argument;
}

/* Both sides in one loop, so that they call from one place; the other side never ends. */
__attribute__((noinline)) static void one_place(rad_context *from, rad_context *to, uint64_t rounds)
{
    for (uint64_t i = 0; i < rounds; i++) leave(from, to);
}

static void from_one_place(void *argument)
{
    (void)argument;
    one_place(&other, &home, UINT64_MAX);
}

static bool measure_two(bench *b, const char *what, void (*entry)(void *argument))
{
    uint64_t rounds = b->tiny ? 1000 : 10000000;
    double samples[BENCH_SAMPLES];
    void *stack = malloc(STACK);
    if (stack == NULL) return false;
    rad__context_adopt(&home);
    rad__context_make(&other, stack, STACK, entry, NULL);
    turns = 0;
    for (uint32_t i = 0; i < bench_samples(b); i++) {
        double start = bench_now();
        if (entry == from_one_place)
            one_place(&home, &other, rounds);
        else if (entry == through_a_function)
            for (uint64_t n = 0; n < rounds; n++) leave(&home, &other);
        else
            for (uint64_t n = 0; n < rounds; n++) rad__context_switch(&home, &other);
        samples[i] = (bench_now() - start) * 1e9 / (double)rounds;
    }
    bench_row(b, what, "ns there and back", samples, bench_samples(b));
    bench_result(b, turns);
    rad__context_drop(&other);
    free(stack);
    return true;
}

/* ---- Rings ---------------------------------------------------------------------------------------------- */

/* What a runtime keeps of a fiber, off its stack. */
typedef struct member {
    rad_context context;
    struct member *next, *ahead;
} member;

static uint64_t left;
static bool prefetches;
static member *stopped;

__attribute__((noinline)) static void pass_on(member *m)
{
    if (--left == 0) {
        stopped = m;
        rad__context_switch(&m->context, &home);
        return;
    }
#if defined(__x86_64__) && !defined(RAD_CONTEXT_UCONTEXT)
    if (prefetches) {
        __builtin_prefetch(m->ahead->context.stack);
        __builtin_prefetch(m->ahead->ahead);
    }
#endif
    rad__context_switch(&m->context, &m->next->context);
}

static void member_main(void *argument)
{
    member *m = argument;
    for (;;) {
        pass_on(m);
        __asm__ volatile("" ::: "memory");
    }
}

static bool ring_make(rad_stacks *stacks, member *members, uint32_t count)
{
    rad_error error = {0};
    rad_prng prng = rad__prng(1, RAD_STREAM_TEST, 0);
    uint32_t *order = rad__alloc(count, sizeof *order);
    if (order == NULL) return false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t k = (uint32_t)rad__prng_below(&prng, i + 1);
        order[i] = order[k];
        order[k] = i;
    }
    for (uint32_t i = 0; i < count; i++) {
        member *m = &members[order[i]];
        rad_stack stack;
        m->next = &members[order[(i + 1) % count]];
        m->ahead = &members[order[(i + 4) % count]];
        if (rad__stacks_new(stacks, &stack, &error) != 0) {
            fprintf(stderr, "bench_context: %s\n", error.text);
            rad__free(order);
            return false;
        }
        rad__context_make(&m->context, stack.base, stack.size, member_main, m);
    }
    rad__free(order);
    return true;
}

static void ring_turn(uint64_t switches)
{
    left = switches;
    rad__context_switch(&home, &stopped->context);
}

static bool measure_ring(bench *b, uint32_t count, bool prefetch)
{
    rad_stacks_options o = {.most = count};
    rad_stacks stacks;
    rad_error error = {0};
    double samples[BENCH_SAMPLES];
    char what[80];
    member *members = rad__alloc_lines(count, sizeof *members);
    if (members == NULL || rad__stacks_open(&stacks, &o, &error) != 0) {
        fprintf(stderr, "bench_context: %s\n", error.text);
        rad__free(members);
        return false;
    }
    bool ok = ring_make(&stacks, members, count);
    uint64_t switches = b->tiny ? count : 3000000;
    stopped = members;
    prefetches = prefetch;
    if (ok) ring_turn(2 * (uint64_t)count);
    for (uint32_t i = 0; i < bench_samples(b) && ok; i++) {
        double start = bench_now();
        ring_turn(switches);
        samples[i] = (bench_now() - start) * 1e9 / (double)switches;
    }
    if (ok) {
        snprintf(what, sizeof what, "ring of %u%s", count, prefetch ? ", prefetch" : "");
        bench_row(b, what, "ns per switch", samples, bench_samples(b));
        bench_result(b, left);
    }
    for (uint32_t i = 0; i < count && ok; i++) rad__context_drop(&members[i].context);
    rad__stacks_close(&stacks);
    rad__free(members);
    return ok;
}

/* ---- Stacks --------------------------------------------------------------------------------------------- */

static bool measure_stacks(bench *b, enum rad_guard guard)
{
    uint32_t count = b->tiny ? 100 : 20000;
    double samples[3][BENCH_SAMPLES];
    rad_stack *list = rad__alloc(count, sizeof *list);
    rad_stacks_report report = {0};
    bool ok = list != NULL;
    for (uint32_t i = 0; i < bench_samples(b) && ok; i++) {
        rad_stacks_options o = {.most = count, .guard = guard};
        rad_stacks stacks;
        rad_error error = {0};
        double at[4] = {bench_now()};
        ok = rad__stacks_open(&stacks, &o, &error) == 0;
        for (uint32_t k = 0; k < count && ok; k++)
            ok = rad__stacks_new(&stacks, &list[k], &error) == 0 && rad__stacks_guard(&stacks, &list[k], &error) == 0;
        at[1] = bench_now();
        for (uint32_t k = 0; k < count && ok; k++) ((volatile char *)list[k].base)[list[k].size - 1] = 1;
        at[2] = bench_now();
        for (uint32_t k = 0; k < count && ok; k++) ok = rad__stack_forget(&list[k], 1024, &error) == 0;
        at[3] = bench_now();
        if (!ok) fprintf(stderr, "bench_context: %s\n", error.text);
        for (uint32_t k = 0; k < 3; k++) samples[k][i] = (at[k + 1] - at[k]) * 1e9 / count;
        if (ok) rad__stacks_report(&stacks, &report);
        rad__stacks_close(&stacks);
    }
    rad__free(list);
    if (!ok) return false;
    static const char *const parts[] = {"a new stack", "its first touch", "forgetting it"};
    for (uint32_t k = 0; k < 3; k++) {
        char what[80];
        snprintf(what, sizeof what, "%s, %s", parts[k], report.guards);
        bench_row(b, what, "ns", samples[k], bench_samples(b));
    }
    return true;
}

int main(int argc, char **argv)
{
    bench b;
    if (!bench_open(&b, "context", argc, argv)) return 2;
    bool ok = measure_two(&b, "switch", direct) &&
              measure_two(&b, "through a function, from two places", through_a_function) &&
              measure_two(&b, "through a function, from one place", from_one_place);
    static const uint32_t rings[] = {2, 100, 1000, 10000, 100000};
    for (uint32_t i = 0; i < (b.tiny ? 2 : 5) && ok; i++)
        ok = measure_ring(&b, rings[i], false) && measure_ring(&b, rings[i], true);
    ok = ok && measure_stacks(&b, RAD_GUARD_BEST) && measure_stacks(&b, RAD_GUARD_MAPPINGS);
    int status = bench_close(&b);
    return ok ? status : 3;
}
