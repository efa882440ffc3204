/* test_fibers.c — tests of code that runs on fibers, with cmocka or any other library whose assertions use longjmp.
 *
 *     cc test_fibers.c $(pkg-config --cflags --libs raddle cmocka) -o test_fibers && ./test_fibers
 *
 * A fiber does not assert. It checks, and returns what is wrong; the test asserts when all fibers have ended. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <raddle.h>

#include <stdatomic.h>
#include <string.h>

/* ---- Checks in fibers: take these ten lines along ------------------------------------------------ */

static _Atomic(const char *) first_failure; /* "file:line: what does not hold" */

static int check_failed(const char *what)
{
    const char *none = NULL;
    atomic_compare_exchange_strong(&first_failure, &none, what);
    return RAD_EINPUT; /* a child that fails cancels its nursery, so the others end, too */
}

#define TEXT_OF(x) #x
#define PLACE(x)   TEXT_OF(x)
/* In a function that returns int: if x does not hold, the function returns. */
#define CHECK(x)                                                                                                       \
    do {                                                                                                               \
        if (!(x)) return check_failed(__FILE__ ":" PLACE(__LINE__) ": " #x);                                           \
    } while (0)

/* Runs a test's fibers, and fails the test, on its own stack, if a check failed in one of them. */
static void run_fibers(int (*start)(void *arg), void *arg)
{
    atomic_store(&first_failure, NULL);
    int code = rad_main(NULL, start, arg, NULL);
    if (atomic_load(&first_failure)) fail_msg("%s", atomic_load(&first_failure));
    assert_int_equal(code, 0);
}

/* ---- The code under test ------------------------------------------------------------------------- */

/* Sums what comes from a channel until that is closed. */
static int64_t sum_of(rad_chan *numbers)
{
    int64_t n, sum = 0;
    while (rad_recv(numbers, &n, RAD_FOREVER) == 0) sum += n;
    return sum;
}

/* ---- Tests --------------------------------------------------------------------------------------- */

struct numbers {
    rad_chan *chan;
    int64_t most;
};

static int receiver(void *arg)
{
    struct numbers *n = arg;
    CHECK(sum_of(n->chan) == 55);
    return 0;
}

static int sender(void *arg)
{
    struct numbers *n = arg;
    for (int64_t i = 1; i <= n->most; i++) CHECK(rad_send(n->chan, &i, RAD_FOREVER) == 0);
    rad_chan_close(n->chan, 0);
    return 0;
}

/* Between open and wait nothing returns: the children are still there. */
static int start(void *arg)
{
    struct numbers *n = arg;
    rad_nursery nursery;
    CHECK(rad_chan_create(&n->chan, sizeof(int64_t), 2, RAD_CHAN_BLOCKS) == 0);
    rad_nursery_open(&nursery, RAD_FOREVER);
    rad_nursery_go(&nursery, receiver, n);
    rad_nursery_go(&nursery, sender, n);
    int code = rad_nursery_wait(&nursery);
    rad_chan_destroy(n->chan);
    return code;
}

static void ten_numbers_are_summed(void **state)
{
    struct numbers n = {.most = 10};
    (void)state;
    run_fibers(start, &n);
}

static void eleven_numbers_are_not_ten(void **state) /* fails, to show what that looks like */
{
    struct numbers n = {.most = 11};
    (void)state;
    run_fibers(start, &n);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest good[] = {cmocka_unit_test(ten_numbers_are_summed)};
    const struct CMUnitTest all[] = {cmocka_unit_test(eleven_numbers_are_not_ten),
                                     cmocka_unit_test(ten_numbers_are_summed)};
    if (argc > 1 && strcmp(argv[1], "--broken") == 0) return cmocka_run_group_tests(all, NULL, NULL);
    return cmocka_run_group_tests(good, NULL, NULL);
}
