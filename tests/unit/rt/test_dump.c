/* test_dump.c — where fibers wait: backtraces of stacks that were left, also while they are being used again. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <raddle.h>

#include "base/prng.h"
#include "os/backtrace.h"
#include "os/pages.h"

#include <search.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_MOST = 1 << 16 };

#if defined(__SANITIZE_THREAD__)
enum { CAN_PEEK = 0 }; /* it runs signal handlers later */
#else
enum { CAN_PEEK = 1 };
#endif

/* Exported, so that they have names. */
#pragma GCC visibility push(default)
int waits_here(void *name);
int finds(void *unused);
int is_aligned(void *name);
int is_flexible(void *name);
int is_above(void *name);
int deep(void *left);
int plays(void *number);
#pragma GCC visibility pop

static bool has_backtraces(void)
{
    return strcmp(rad__context_kind(), "ucontext") != 0;
}

static char text[TEXT_MOST];

/* Everything that a dump says. */
static void take_dump(rad_runtime *rt)
{
    FILE *f = tmpfile();
    assert_non_null(f);
    assert_int_equal(rad_runtime_dump(rt, fileno(f)), 0);
    rewind(f);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
}

/* The frames of the fiber with this name, up to the next fiber; NULL: it shows none. */
static char *frames_of(const char *name)
{
    static char frames[TEXT_MOST];
    char wanted[40];
    snprintf(wanted, sizeof wanted, "'%s': ", name);
    const char *line = strstr(text, wanted);
    if (line == NULL || (line = strchr(line, '\n')) == NULL) return NULL;
    const char *end = strstr(++line, "  fiber ");
    size_t size = end != NULL ? (size_t)(end - line) : strlen(line);
    if (size == 0) return NULL;
    memcpy(frames, line, size);
    frames[size] = 0;
    return frames;
}

/* The number of the first frame that is in this function; -1: none. */
static int frame_in(const char *frames, const char *function)
{
    char wanted[40];
    snprintf(wanted, sizeof wanted, " %s ", function);
    const char *found = frames != NULL ? strstr(frames, wanted) : NULL;
    while (found != NULL && found > frames && *found != '#') found--;
    return found != NULL ? (int)strtol(found + 1, NULL, 10) : -1;
}

static void run(rad_fn body)
{
    rad_options o = {.workers = 2};
    assert_int_equal(rad_main(&o, body, NULL, NULL), 0);
}

/* ---- Where a fiber waits -------------------------------------------------------------------------------- */

static rad_chan *chan;
static char PLAIN[] = "plain", FINDER[] = "finder", DEEP[] = "deep", ALIKE[] = "alike";
static char ALIGNED[] = "aligned", FLEXIBLE[] = "flexible";

__attribute__((noinline)) int waits_here(void *name)
{
    int value = 0;
    rad_name(name);
    int code = rad_recv(chan, &value, RAD_FOREVER);
    return code == RAD_ECLOSED ? 0 : 1;
}

static int compares(const void *a, const void *b)
{
    (void)a;
    (void)b;
    return waits_here(FINDER);
}

/* lfind: no sanitizer puts its own in place of it. */
__attribute__((noinline)) int finds(void *unused)
{
    int numbers[1] = {1};
    size_t count = 1;
    (void)unused;
    return lfind(numbers, numbers, &count, sizeof *numbers, compares) == numbers ? 0 : 1;
}

/* A frame that compilers lay out in another way: it begins at a rounded address. */
__attribute__((noinline)) int is_aligned(void *name)
{
    _Alignas(64) volatile char much[256];
    much[0] = 0;
    return waits_here(name) + much[0];
}

/* One that begins at a rounded address, and whose size is not known before it runs. */
__attribute__((noinline)) int is_flexible(void *name)
{
    _Alignas(64) volatile char much[256];
    volatile char *more = __builtin_alloca(strlen(name) * 10);
    much[0] = more[0] = 0;
    return waits_here(name) + much[0] + more[0];
}

/* Compilers leave out the frame of one that only calls another. */
__attribute__((noinline)) int is_above(void *name)
{
    volatile int here = 0;
    return is_flexible(name) + is_aligned(name) + here;
}

__attribute__((noinline)) int deep(void *left)
{
    volatile int here = 0;
    return ((intptr_t)left > 0 ? deep((void *)((intptr_t)left - 1)) : waits_here(DEEP)) + here;
}

static int yields(void *stop)
{
    rad_name("yields");
    while (!atomic_load((_Atomic bool *)stop)) rad_yield();
    return 0;
}

static uint32_t times(const char *word)
{
    uint32_t count = 0;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at++) count++;
    return count;
}

/* A dump in which so many wait. */
static void dump_when_parked(uint32_t count)
{
    do {
        rad_sleep(2000000);
        take_dump(NULL);
    } while (times(": waits for channel") < count);
}

static int shows_where(void *unused)
{
    rad_nursery n;
    (void)unused;
    rad_name("main");
    assert_int_equal(rad_chan_create(&chan, sizeof(int), 0, RAD_CHAN_BLOCKS), 0);
    rad_nursery_open(&n, RAD_FOREVER);
    assert_int_equal(rad_nursery_spawn(&n, NULL, waits_here, PLAIN), 0);
    assert_int_equal(rad_nursery_spawn(&n, NULL, finds, NULL), 0);
    assert_int_equal(rad_nursery_spawn(&n, NULL, is_aligned, ALIGNED), 0);
    assert_int_equal(rad_nursery_spawn(&n, NULL, is_above, FLEXIBLE), 0);
    assert_int_equal(rad_nursery_spawn(&n, NULL, deep, (void *)(intptr_t)100), 0);
    dump_when_parked(5);
    rad_chan_close(chan, 0);
    int code = rad_nursery_wait(&n);
    rad_chan_destroy(chan);
    return code;
}

static void a_parked_fiber_shows_where_it_waits(void **state)
{
    (void)state;
    if (!has_backtraces()) skip();
    run(shows_where);
    assert_true(frame_in(frames_of("plain"), "waits_here") >= 0);
    assert_null(strstr(frames_of("plain"), "#31"));
    int inner = frame_in(frames_of("aligned"), "waits_here");
    assert_true(inner >= 0 && frame_in(frames_of("aligned"), "is_aligned") == inner + 1);
    inner = frame_in(frames_of("flexible"), "waits_here");
    assert_true(inner >= 0 && frame_in(frames_of("flexible"), "is_flexible") == inner + 1);
    assert_int_equal(frame_in(frames_of("flexible"), "is_above"), inner + 2);
}

static void it_goes_through_other_libraries(void **state)
{
    (void)state;
    if (!has_backtraces()) skip();
    run(shows_where);
    char *frames = frames_of("finder");
    int inner = frame_in(frames, "waits_here"), outer = frame_in(frames, "finds");
    assert_true(inner >= 0 && outer > inner + 1);
    assert_non_null(strstr(frames, " lfind ")); /* it is exported, so it has its name */
}

static void no_more_than_can_be_read(void **state)
{
    (void)state;
    if (!has_backtraces()) skip();
    run(shows_where);
    char *frames = frames_of("deep");
    assert_true(frame_in(frames, "deep") > 0);
    assert_non_null(strstr(frames, "#31 "));
    assert_null(strstr(frames, "#32 "));
}

static int many_alike(void *unused)
{
    rad_nursery n;
    (void)unused;
    rad_name("main");
    assert_int_equal(rad_chan_create(&chan, sizeof(int), 0, RAD_CHAN_BLOCKS), 0);
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < 100; i++) assert_int_equal(rad_nursery_spawn(&n, NULL, waits_here, ALIKE), 0);
    dump_when_parked(100);
    rad_chan_close(chan, 0);
    int code = rad_nursery_wait(&n);
    rad_chan_destroy(chan);
    return code;
}

static void the_same_is_not_said_again(void **state)
{
    (void)state;
    if (!has_backtraces()) skip();
    run(many_alike);
    assert_int_equal(times("as above"), 99);
    if (CAN_PEEK) assert_true(frame_in(frames_of("main"), "many_alike") >= 0); /* it runs */
}

static int shows_others(void *unused)
{
    _Atomic bool stop = false;
    rad_fiber fiber;
    (void)unused;
    rad_name("main");
    assert_int_equal(rad_spawn(&fiber, yields, &stop), 0);
    for (int i = 0; i < 10; i++) rad_yield(); /* one worker: it runs, and is behind this one again */
    take_dump(NULL);
    atomic_store(&stop, true);
    return rad_join(fiber, NULL, RAD_FOREVER);
}

/* A worker may take it at any time, so nobody can look at its stack. */
static void one_that_can_run_shows_nothing(void **state)
{
    rad_options o = {.workers = 1};
    (void)state;
    assert_int_equal(rad_main(&o, shows_others, NULL, NULL), 0);
    assert_non_null(strstr(text, "'yields': can run"));
    assert_non_null(strstr(text, "'main': runs on worker 0"));
    assert_null(frames_of("yields"));
    if (CAN_PEEK && has_backtraces()) assert_true(frame_in(frames_of("main"), "shows_others") >= 0);
}

/* ---- While they run ------------------------------------------------------------------------------------- */

enum { PLAYERS = 4 };

static rad_chan *table[PLAYERS];
static _Atomic bool is_over;
static _Atomic uint64_t moves;

static int receives(rad_chan *c, int depth)
{
    volatile int here = depth;
    int value = 0;
    if (depth > 0) return receives(c, depth - 1) + here - depth;
    int code = rad_recv(c, &value, RAD_FOREVER);
    return code == 0 ? value : -1;
}

/* Every time from another depth, so that there is another frame where the last one was. */
__attribute__((noinline)) int plays(void *number)
{
    static const char *const names[PLAYERS] = {"one", "two", "three", "four"};
    intptr_t me = (intptr_t)number;
    rad_name(names[me]);
    for (int value = 0; !atomic_load(&is_over) && value >= 0;) {
        value = receives(table[me], value % 7);
        if (value >= 0) value++;
        atomic_fetch_add(&moves, 1);
        if (value >= 0 && rad_send(table[(me + 1) % PLAYERS], &value, RAD_FOREVER) != 0) break;
    }
    return 0;
}

static int plays_all(void *unused)
{
    rad_nursery n;
    int ball = 1;
    (void)unused;
    for (int i = 0; i < PLAYERS; i++) assert_int_equal(rad_chan_create(&table[i], sizeof(int), 1, RAD_CHAN_BLOCKS), 0);
    rad_nursery_open(&n, RAD_FOREVER);
    for (intptr_t i = 0; i < PLAYERS; i++) assert_int_equal(rad_nursery_spawn(&n, NULL, plays, (void *)i), 0);
    for (int i = 0; i < 2; i++) assert_int_equal(rad_send(table[i], &ball, RAD_FOREVER), 0);
    int code = rad_nursery_wait(&n);
    for (int i = 0; i < PLAYERS; i++) rad_chan_destroy(table[i]);
    return code;
}

/* What is shown is true: each of them is in `plays`. */
static uint32_t look_at_players(void)
{
    uint32_t seen = 0;
    static const char *const names[PLAYERS] = {"one", "two", "three", "four"};
    for (int i = 0; i < PLAYERS; i++) {
        char *frames = frames_of(names[i]);
        if (frames == NULL || strstr(frames, "as above") != NULL) continue;
        if (strstr(frames, "no backtrace") != NULL) continue; /* its thread got no CPU in time */
        if (frame_in(frames, "plays") < 0) fail_msg("%s: this is not where it waits:\n%s", names[i], frames);
        seen++;
    }
    return seen;
}

static void looking_while_they_run(void **state)
{
    rad_options o = {.workers = 2};
    rad_runtime *rt;
    uint32_t dumps = 0, seen = 0;
    (void)state;
    atomic_store(&is_over, false);
    assert_int_equal(rad_runtime_create(&rt, &o, NULL), 0);
    assert_int_equal(rad_runtime_spawn(rt, NULL, plays_all, NULL), 0);
    bool enough = false; /* a thread that gets no CPU in time shows nothing */
    for (rad_time end = rad_now() + 1000000000; rad_now() < end || !enough; dumps++) {
        take_dump(rt);
        seen += look_at_players();
        enough = seen > 0 || !has_backtraces();
    }
    uint64_t before = atomic_load(&moves); /* no wake was lost: both balls are in the game */
    while (atomic_load(&moves) < before + 100) usleep(10000);
    atomic_store(&is_over, true);
    rad_runtime_shutdown(rt);
    rad_runtime_destroy(rt);
    print_message("# %u dumps, %u backtraces\n", dumps, seen);
}

/* ---- Nonsense ------------------------------------------------------------------------------------------- */

/* Words as they are on stacks, in an order that means nothing. */
static uintptr_t some_word(rad_prng *p, const uintptr_t *stack, uint32_t count)
{
    static int (*const functions[])(void *) = {plays, finds, deep, is_aligned, is_flexible};
    uint64_t random = rad__prng_next(p);
    switch (random % 4) {
    case 0: return (uintptr_t)functions[random / 8 % 5] + random / 64 % 300;
    case 1: return (uintptr_t)&stack[random / 8 % count];
    case 2: return (uintptr_t)lfind + random / 64 % 300;
    default: return (uintptr_t)random;
    }
}

static void any_stack_comes_to_an_end(void **state)
{
    enum { WORDS = 64, ROUNDS = 20000 };
    rad_error error = {0};
    void *pages;
    rad_prng p = rad__prng(1, 0, 0);
    uint64_t frames = 0;
    (void)state;
    /* On both sides of it nothing can be read. */
    assert_int_equal(rad__os_pages_map(&pages, (size_t)3 * RAD_PAGE_MAX, &error), 0);
    char *middle = (char *)pages + RAD_PAGE_MAX;
    assert_int_equal(rad__os_pages_guard(pages, RAD_PAGE_MAX, &error), 0);
    assert_int_equal(rad__os_pages_guard(middle + RAD_PAGE_MAX, RAD_PAGE_MAX, &error), 0);
    for (int round = 0; round < ROUNDS; round++) {
        bool at_the_end = round % 2; /* of what can be read; otherwise at its beginning */
        uintptr_t *low = (uintptr_t *)(middle + (at_the_end ? RAD_PAGE_MAX - WORDS * 8 : 0));
        rad_context c = {0};
        rad_backtrace b;
        for (uint32_t i = 0; i < WORDS; i++) low[i] = some_word(&p, low, WORDS);
#if !defined(RAD_CONTEXT_UCONTEXT)
        c.stack = (void *)some_word(&p, low, WORDS);
#if defined(__x86_64__)
        c.resume = (void *)some_word(&p, low, WORDS);
        c.rbp = (void *)some_word(&p, low, WORDS);
        c.rbx = (void *)some_word(&p, low, WORDS);
#endif
#endif
        rad__backtrace(&b, &c, low, WORDS * sizeof *low);
        assert_true(b.count <= RAD_BACKTRACE_MOST);
        frames += b.count;
    }
    rad__os_pages_unmap(pages, (size_t)3 * RAD_PAGE_MAX);
    print_message("# %llu frames in %d stacks\n", (unsigned long long)frames, ROUNDS);
    assert_true(frames > ROUNDS / 8 || !has_backtraces());
}

static void addresses_have_texts(void **state)
{
    char said[200];
    rad_os_symbols symbols = {0};
    (void)state;
    rad__backtrace_text(&symbols, (uintptr_t)lfind, said, sizeof said);
    assert_ptr_equal(strstr(said, "lfind "), said);
    rad__backtrace_text(&symbols, (uintptr_t)finds + 1, said, sizeof said);
    assert_ptr_equal(strstr(said, "finds test_rt_dump+0x"), said);
    for (int i = 0; i < 2; i++) { /* nobody exports it */
        rad__backtrace_text(&symbols, (uintptr_t)has_backtraces, said, sizeof said);
        assert_ptr_equal(strstr(said, "has_backtraces test_rt_dump+0x"), said);
    }
    rad__backtrace_text(&symbols, 1, said, sizeof said);
    assert_string_equal(said, "0x1");
    rad__symbols_close(&symbols);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_parked_fiber_shows_where_it_waits),
        cmocka_unit_test(it_goes_through_other_libraries),
        cmocka_unit_test(no_more_than_can_be_read),
        cmocka_unit_test(the_same_is_not_said_again),
        cmocka_unit_test(one_that_can_run_shows_nothing),
        cmocka_unit_test(looking_while_they_run),
        cmocka_unit_test(any_stack_comes_to_an_end),
        cmocka_unit_test(addresses_have_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
