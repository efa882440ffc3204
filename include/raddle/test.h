/* raddle/test.h — tests of code that runs on fibers: each is explored by raddle, or run on threads as stress.
 *
 *     #include <raddle.h>
 *     #include <raddle/test.h>
 *
 *     RAD_PARAM(writers, 2, "fibers that write")
 *
 *     RAD_TEST(nothing_is_lost)
 *     {
 *         ...                                     // spawn fibers, wait for them
 *         rad_check(count == writers);
 *         rad_sometimes(waited, "a writer had to wait");
 *     }
 *
 *     RAD_TEST_MAIN
 *
 *     ./tests                          explores each test; the same as: raddle test ./tests
 *     ./tests nothing_is_lost          one of them
 *     ./tests writers=3 --runs 10000   other parameters, a larger budget
 *     ./tests --threads                runs each test 100 times on threads, as stress
 *
 * A test is the first fiber of a runtime of its own. It ends when it and all of its fibers have ended, so a fiber that
 * waits forever is a failure. Each run begins with the initial values of static variables.
 *
 * Explored   raddle decides which fiber runs next, what rad_choose, rad_random and rad_fault return, and when time
 *            passes. A failure becomes a file that repeats it: `raddle replay FILE -- ./tests NAME`.
 * Threads    `--threads` runs on the threads of production, with choices from a seeded generator.
 * Elsewhere  (a program without tests): rad_choose returns 0, rad_fault false; a check that fails ends the process.
 *
 * docs/guide-testing.md is a walk through it; docs/cli.md, "test", has the options. For C and C++11. Link with
 * -lraddle, the shared library: programs that are linked statically run with --threads only. */
#ifndef RADDLE_TEST_H
#define RADDLE_TEST_H

#include <raddle/fiber.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Tests ------------------------------------------------------------------------------------------ */

/* RAD_TEST(name) { ... } defines a test, in any number of files; names are unique in a program. Tests run in the order
 * in which their files are linked, within a file from top to bottom. */
#define RAD_TEST(test_name)                                                                                            \
    static void rad_test_of_##test_name(void);                                                                         \
    static rad_test rad_test_entry_of_##test_name = {#test_name, __FILE__, __LINE__, rad_test_of_##test_name, NULL};   \
    __attribute__((constructor)) static void rad_test_adds_##test_name(void)                                           \
    {                                                                                                                  \
        rad_test_add(&rad_test_entry_of_##test_name);                                                                  \
    }                                                                                                                  \
    static void rad_test_of_##test_name(void)

/* RAD_PARAM(name, default_value, "what it is") defines a variable `static int64_t name` that can be set where the tests
 * are called (`./tests name=3`). It is recorded with a failure. Parameters of one name in several files are set
 * together. */
#define RAD_PARAM(param_name, default_value, about)                                                                    \
    static int64_t param_name = (default_value);                                                                       \
    static rad_test_param rad_param_entry_of_##param_name = {#param_name, about, &param_name, NULL};                   \
    __attribute__((constructor)) static void rad_param_adds_##param_name(void)                                         \
    {                                                                                                                  \
        rad_test_param_add(&rad_param_entry_of_##param_name);                                                          \
    }

/* The main of a program with tests, in one file. */
#define RAD_TEST_MAIN                                                                                                  \
    int main(int argc, char **argv)                                                                                    \
    {                                                                                                                  \
        return rad_test_main(argc, argv);                                                                              \
    }

/* The same for a main of your own, which passes its arguments on before it uses fibers. Returns the exit status: 0 all
 * tests passed, 1 a test failed, 2 bad usage, 3 trouble with files, memory or processes. */
RAD_API int rad_test_main(int argc, char **argv);

/* ---- Checks ----------------------------------------------------------------------------------------- */

/* Anywhere in a test, in any of its fibers. A check that does not hold ends the run, and fails the test. */

#define rad_check(condition)                                                                                           \
    ((condition) ? rad_check_holds(RAD_TEST_CHECK)                                                                     \
                 : rad_check_fails(RAD_TEST_CHECK, #condition, __FILE__, __LINE__, __func__))

/* The same with a text. Failures are distinguished by the format, not by the values it prints. */
#define rad_always(condition, ...)                                                                                     \
    ((condition) ? rad_check_holds(RAD_TEST_ALWAYS)                                                                    \
                 : rad_always_fails(#condition, __FILE__, __LINE__, __func__, __VA_ARGS__))

/* The condition must become true soon: the fiber checks it and yields, up to `steps` times. Explored, a fiber that can
 * run is not starved meanwhile (docs/write-a-machine.md, "Spinning"), and time passes when all others wait for it; on
 * threads a step is at least a millisecond. A fiber. */
#define rad_eventually(condition, steps)                                                                               \
    do {                                                                                                               \
        uint64_t rad_steps_taken = 0;                                                                                  \
        while (!(condition))                                                                                           \
            rad_eventually_waits(&rad_steps_taken, (steps), #condition, __FILE__, __LINE__, __func__);                 \
        rad_check_holds(RAD_TEST_EVENTUALLY);                                                                          \
    } while (0)

/* The condition must hold at least once in all runs of a test together. If runs of a test reach one in the test's file
 * and it never holds, the test fails and names it; also if it is in the body of the test and no run reaches it. One
 * outside of the tests' files, such as in the code under test, must hold in some test; if it holds in none when all
 * tests were explored, that is a failure of its own. On threads this is only reported. At most 256 in a program. */
#ifndef __cplusplus
#if defined(__has_attribute)
#if __has_attribute(retain)
#define RAD_TEST_KEPT __attribute__((used, retain)) /* also by --gc-sections */
#endif
#endif
#ifndef RAD_TEST_KEPT
#define RAD_TEST_KEPT __attribute__((used))
#endif
#define rad_sometimes(condition, what)                                                                                 \
    do {                                                                                                               \
        static rad_goal rad_goal_here = {what, __FILE__, __func__, __LINE__, RAD_NONE, NULL};                          \
        static rad_goal *rad_goal_listed RAD_TEST_KEPT __attribute__((section("rad_goals"))) = &rad_goal_here;         \
        rad_goal_met(&rad_goal_here, (condition) ? true : false);                                                      \
    } while (0)
#else
#define rad_sometimes(condition, what)                                                                                 \
    do {                                                                                                               \
        static const char *const rad_goal_function = __func__;                                                         \
        struct rad_goal_place {                                                                                        \
            static rad_goal make()                                                                                     \
            {                                                                                                          \
                rad_goal goal = {what, __FILE__, rad_goal_function, __LINE__, RAD_NONE, NULL};                         \
                return goal;                                                                                           \
            }                                                                                                          \
        };                                                                                                             \
        rad_goal_met(rad_goal_of<rad_goal_place>::here(), (condition) ? true : false);                                 \
    } while (0)
#endif

/* ---- Choices ---------------------------------------------------------------------------------------- */

/* A number below n, which is not 0. Exploring tries all of them; a failure is shrunk towards 0. */
RAD_API uint32_t rad_choose(uint32_t n);

/* 64 random bits, from a generator whose seed is chosen at the first call in a run, out of 1,024. For data; use
 * rad_choose where every value should be tried. */
RAD_API uint64_t rad_random(void);

/* Whether something fails here: "alloc", "disk full", … Exploring tries both; a failure is shrunk towards false. On
 * threads it is true once in eight calls. */
RAD_API bool rad_fault(const char *what);

/* ---- What the macros are made of --------------------------------------------------------------------- */

enum rad_test_kind { RAD_TEST_CHECK = 0, RAD_TEST_ALWAYS, RAD_TEST_EVENTUALLY };

typedef struct rad_test {
    const char *name, *file;
    uint32_t line;
    void (*body)(void);
    struct rad_test *next;
} rad_test;

typedef struct rad_test_param {
    const char *name, *about;
    int64_t *value;
    struct rad_test_param *next;
} rad_test_param;

typedef struct rad_goal {
    const char *what, *file, *function;
    uint32_t line;
    uint32_t number;
    struct rad_goal *next;
} rad_goal;

RAD_API void rad_test_add(rad_test *test);
RAD_API void rad_test_param_add(rad_test_param *param);
RAD_API void rad_goal_add(rad_goal *goal);
RAD_API void rad_goal_met(rad_goal *goal, bool holds);
RAD_API void rad_check_holds(enum rad_test_kind kind);
RAD_API void rad_check_fails(enum rad_test_kind kind, const char *condition, const char *file, unsigned line,
                             const char *function) __attribute__((noreturn, cold));
RAD_API void rad_always_fails(const char *condition, const char *file, unsigned line, const char *function,
                              const char *format, ...) __attribute__((noreturn, cold)) RAD_PRINTF(5, 6);
RAD_API void rad_eventually_waits(uint64_t *taken, uint64_t most, const char *condition, const char *file,
                                  unsigned line, const char *function);

#ifdef __cplusplus
}

/* A static variable for each place, also in templates and inline functions, that is listed before main. */
template <class Place> struct rad_goal_of {
    rad_goal goal;
    rad_goal_of() : goal(Place::make())
    {
        rad_goal_add(&goal);
    }
    static rad_goal_of listed;
    static rad_goal *here()
    {
        return &listed.goal;
    }
};
template <class Place> rad_goal_of<Place> rad_goal_of<Place>::listed;
#else

/* Those of the program or shared object that this file becomes a part of. */
extern rad_goal *__start_rad_goals[] __attribute__((weak, visibility("hidden")));
extern rad_goal *__stop_rad_goals[] __attribute__((weak, visibility("hidden")));

__attribute__((constructor, unused)) static void rad_goals_add_all(void)
{
    rad_goal **at = __start_rad_goals, **end = __stop_rad_goals;
    for (; at != end; at++) rad_goal_add(*at);
}
#endif

#endif
