/* test_lock.c — locks without a deadline cannot fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <raddle.h>

#include "patience_support.h"

enum { MS = 1000000 };

typedef struct sure {
    rad_mutex m;
    rad_rwlock l;
    int way; /* 0: the mutex, 1: to read, 2: to write */
    _Atomic int came, got, next;
} sure;

static void sure_unlock(sure *s)
{
    if (s->way == 0)
        rad_mutex_unlock(&s->m);
    else
        rad_rwlock_unlock(&s->l);
}

static int locks_for_sure(void *arg)
{
    sure *s = arg;
    s->came = 1;
    if (s->way == 0) rad_mutex_lock(&s->m);
    if (s->way == 1) rad_rwlock_read(&s->l);
    if (s->way == 2) rad_rwlock_write(&s->l);
    s->got = 1;
    sure_unlock(s);
    s->next = rad_sleep(1000 * (uint64_t)MS);
    return 0;
}

/* Canceled while it waits, or its nursery's time is up: it gets the lock, and the next call says so. */
static int holds_for_a_while(void *arg)
{
    sure *s = arg;
    for (int by_deadline = 0; by_deadline < 2; by_deadline++)
        for (s->way = 0; s->way < 3; s->way++) {
            rad_nursery n;
            s->came = s->got = s->next = 0;
            if (s->way == 0)
                rad_mutex_lock(&s->m);
            else
                rad_rwlock_write(&s->l);
            rad_nursery_open(&n, by_deadline ? rad_after(MS) : RAD_FOREVER);
            rad_nursery_go(&n, locks_for_sure, s);
            while (!s->came) rad_yield();
            for (int i = 0; i < 20; i++) rad_yield(); /* it is in the queue */
            if (by_deadline)
                rad_sleep(2 * MS);
            else
                rad_nursery_cancel(&n, 0);
            for (int i = 0; i < 20; i++) rad_yield();
            assert_int_equal(s->got, 0);
            sure_unlock(s);
            assert_int_equal(rad_nursery_wait(&n), 0);
            assert_int_equal(s->got, 1);
            assert_int_equal(s->next, RAD_ECANCELED);
        }
    return 0;
}

static void a_lock_without_a_deadline_cannot_fail(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 2; workers++) {
        sure s = {.way = 0};
        rad_options o = {.workers = workers, .extra_workers = extra_beside(workers)};
        assert_int_equal(rad_main(&o, holds_for_a_while, &s, NULL), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lock_without_a_deadline_cannot_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
