/* after_main.c — what a program does when main has returned, or when a fiber has called exit: the first argument names
 * what goes wrong there if two fibers ran in the other order. With `fixed` as the second one nothing does. */
#define _GNU_SOURCE
#define OWN_MAIN
#include "planted.h"

#include <err.h>
#include <unistd.h>

static const char *how = "";
static bool mended;
static volatile bool other_way, first_ran;
static rad_mutex a, b;

static bool is(const char *name)
{
    return strcmp(how, name) == 0;
}

static void fail(void)
{
    if (other_way && !mended) abort();
}

static void fail_with_status(int status, void *arg)
{
    (void)arg;
    if (status == 0) fail();
}

static void check(void)
{
    assert(!other_way || mended);
}

static void leave(void)
{
    _exit(other_way && !mended ? 4 : 0);
}

static int locks(void *swapped)
{
    bool turn = swapped != NULL && !mended;
    rad_mutex_lock(turn ? &b : &a);
    rad_mutex_lock(turn ? &a : &b);
    rad_mutex_unlock(&a);
    rad_mutex_unlock(&b);
    return 0;
}

static int start_late(void *arg)
{
    rad_nursery n;
    (void)arg;
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_go(&n, locks, NULL);
    rad_nursery_go(&n, locks, &n);
    return rad_nursery_wait(&n);
}

static void run_late(void)
{
    if (rad_main(NULL, start_late, NULL, NULL) != 0) abort();
}

static ssize_t write_to(void *cookie, const char *bytes, size_t size)
{
    (void)cookie;
    (void)bytes;
    fail();
    return (ssize_t)size;
}

__attribute__((destructor)) static void last(void)
{
    if (is("destructor")) fail();
}

static int one(void *arg)
{
    (void)arg;
    rad_yield();
    other_way = !first_ran;
    return 0;
}

static int two(void *arg)
{
    (void)arg;
    rad_yield();
    first_ran = true;
    return 0;
}

static int start(void *arg)
{
    (void)arg;
    int code = both(two, one);
    if (is("fiber")) exit(0);
    if (is("errx")) errx(other_way && !mended ? 3 : 0, "it ends in the C library");
    return code;
}

static void prepare(void)
{
    cookie_io_functions_t calls = {.write = write_to};
    if (is("atexit") || is("fiber")) atexit(fail);
    if (is("on_exit")) on_exit(fail_with_status, NULL);
    if (is("assert")) atexit(check);
    if (is("status")) atexit(leave);
    if (is("fibers")) atexit(run_late);
    if (is("quick_exit")) at_quick_exit(fail);
    if (is("flush")) fputs("kept until the end", fopencookie(NULL, "w", calls));
}

int main(int argc, char **argv)
{
    if (argc > 1) how = argv[1];
    mended = argc > 2;
    prepare();
    int code = rad_main(NULL, start, NULL, NULL);
    if (is("quick_exit")) quick_exit(code);
    return code;
}
