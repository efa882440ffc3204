/* ops.h — the calls of fibers, channels, select and locks, as one table:
 * OP(answer, name, parameters, arguments, object).
 *
 * rad_<name> of the public headers is made of it (ops.c) and goes straight to rad__op_<name>. The lab makes another
 * one that first says what is about to be done, and to which object. */
#ifndef RAD_RT_OPS_H
#define RAD_RT_OPS_H

#include <raddle.h>

#include "base/check.h"

/* clang-format off */
#define RAD_OPS(OP) \
    OP(rad_time, now, (void), (), NULL) \
    OP(rad_time, after, (uint64_t ns), (ns), NULL) \
    OP(int, spawn, (rad_fiber *fiber, rad_fn fn, void *arg), (fiber, fn, arg), NULL) \
    OP(int, join, (rad_fiber fiber, rad_fiber_result *result, rad_time until), (fiber, result, until), fiber.slot) \
    OP(void, release, (rad_fiber fiber), (fiber), fiber.slot) \
    OP(void, set_result, (const void *bytes, size_t size), (bytes, size), NULL) \
    OP(void, yield, (void), (), NULL) \
    OP(int, sleep, (uint64_t ns), (ns), NULL) \
    OP(int, sleep_until, (rad_time until), (until), NULL) \
    OP(void, sharp, (bool on), (on), NULL) \
    OP(rad_fiber, self, (void), (), NULL) \
    OP(void, cancel, (rad_fiber fiber), (fiber), fiber.slot) \
    OP(bool, is_canceled, (void), (), NULL) \
    OP(void, shield, (bool on), (on), NULL) \
    OP(void, nursery_open, (rad_nursery *n, rad_time deadline), (n, deadline), n) \
    OP(int, nursery_spawn, (rad_nursery *n, rad_fiber *fiber, rad_fn fn, void *arg), (n, fiber, fn, arg), n) \
    OP(void, nursery_go, (rad_nursery *n, rad_fn fn, void *arg), (n, fn, arg), n) \
    OP(rad_nursery *, nursery_current, (void), (), NULL) \
    OP(void, nursery_cancel, (rad_nursery *n, int reason), (n, reason), n) \
    OP(void, nursery_close, (rad_nursery *n), (n), n) \
    OP(int, nursery_wait, (rad_nursery *n), (n), n) \
    OP(int, chan_create, (rad_chan **chan, size_t size, size_t capacity, enum rad_chan_mode mode), \
       (chan, size, capacity, mode), NULL) \
    OP(void, chan_destroy, (rad_chan *chan), (chan), chan) \
    OP(int, send, (rad_chan *chan, const void *value, rad_time until), (chan, value, until), chan) \
    OP(int, recv, (rad_chan *chan, void *value, rad_time until), (chan, value, until), chan) \
    OP(int, send_many, (rad_chan *chan, const void *values, uint32_t count, rad_time until), \
       (chan, values, count, until), chan) \
    OP(int, recv_many, (rad_chan *chan, void *values, uint32_t count, rad_time until), \
       (chan, values, count, until), chan) \
    OP(bool, chan_close, (rad_chan *chan, int code), (chan, code), chan) \
    OP(int, chan_code, (rad_chan *chan), (chan), chan) \
    OP(size_t, chan_count, (rad_chan *chan), (chan), chan) \
    OP(int, select, (rad_select_case *cases, uint32_t count, rad_time until), (cases, count, until), NULL) \
    OP(int, send_spawn, (rad_fiber *fiber, rad_chan *chan, const void *value, rad_time until), \
       (fiber, chan, value, until), chan) \
    OP(int, chan_send_spawn, (rad_chan *chan, rad_fn fn, void *arg, rad_time until), (chan, fn, arg, until), chan) \
    OP(int, chan_recv_join, (rad_chan *chan, rad_fiber_result *result, rad_time until), (chan, result, until), chan) \
    OP(int, pool_create, (rad_pool **pool, size_t size, uint32_t capacity, const rad_pool_calls *calls), \
       (pool, size, capacity, calls), NULL) \
    OP(int, pool_take, (rad_pool *pool, void **item, rad_time until), (pool, item, until), pool) \
    OP(void, pool_give, (rad_pool *pool, void *item), (pool, item), pool) \
    OP(bool, pool_close, (rad_pool *pool, int code), (pool, code), pool) \
    OP(int, pool_code, (rad_pool *pool), (pool), pool) \
    OP(void, pool_destroy, (rad_pool *pool), (pool), pool) \
    OP(void, name, (const char *name), (name), NULL) \
    OP(const char *, name_of, (rad_fiber fiber), (fiber), fiber.slot) \
    OP(void, ticker_start, (rad_ticker *t, uint64_t period), (t, period), t) \
    OP(int, ticker_wait, (rad_ticker *t, uint64_t *tick, rad_time until), (t, tick, until), t) \
    OP(int, timer_create, (rad_timer **timer, rad_fn fn, void *arg), (timer, fn, arg), NULL) \
    OP(int, timer_start, (rad_timer *timer, rad_time when), (timer, when), timer) \
    OP(bool, timer_stop, (rad_timer *timer), (timer), timer) \
    OP(int, timer_wait, (rad_timer *timer, rad_time until), (timer, until), timer) \
    OP(void, timer_destroy, (rad_timer *timer), (timer), timer) \
    OP(int, local_create, (rad_local_key *key, void (*destroy)(void *value)), (key, destroy), NULL) \
    OP(void, local_delete, (rad_local_key key), (key), NULL) \
    OP(void *, local_get, (rad_local_key key), (key), NULL) \
    OP(int, local_set, (rad_local_key key, void *value), (key, value), NULL) \
    OP(void, mutex_lock, (rad_mutex *m), (m), m) \
    OP(int, mutex_lock_until, (rad_mutex *m, rad_time until), (m, until), m) \
    OP(void, mutex_unlock, (rad_mutex *m), (m), m) \
    OP(bool, mutex_is_mine, (const rad_mutex *m), (m), m) \
    OP(void, rwlock_read, (rad_rwlock *l), (l), l) \
    OP(int, rwlock_read_until, (rad_rwlock *l, rad_time until), (l, until), l) \
    OP(void, rwlock_write, (rad_rwlock *l), (l), l) \
    OP(int, rwlock_write_until, (rad_rwlock *l, rad_time until), (l, until), l) \
    OP(void, rwlock_unlock, (rad_rwlock *l), (l), l) \
    OP(int, cond_wait, (rad_cond *c, rad_mutex *m, rad_time until), (c, m, until), c) \
    OP(void, cond_signal, (rad_cond *c), (c), c) \
    OP(void, cond_broadcast, (rad_cond *c), (c), c) \
    OP(void, semaphore_init, (rad_semaphore *s, uint32_t permits), (s, permits), s) \
    OP(int, semaphore_acquire, (rad_semaphore *s, uint32_t permits, rad_time until), (s, permits, until), s) \
    OP(void, semaphore_release, (rad_semaphore *s, uint32_t permits), (s, permits), s) \
    OP(uint32_t, semaphore_permits, (const rad_semaphore *s), (s), s) \
    OP(void, waitgroup_add, (rad_waitgroup *g, uint32_t count), (g, count), g) \
    OP(void, waitgroup_done, (rad_waitgroup *g), (g), g) \
    OP(int, waitgroup_wait, (rad_waitgroup *g, rad_time until), (g, until), g) \
    OP(int, once_run, (rad_once *o, rad_fn fn, void *arg, rad_time until), (o, fn, arg, until), o) \
    OP(void, barrier_init, (rad_barrier *b, uint32_t parties), (b, parties), b) \
    OP(int, barrier_wait, (rad_barrier *b, rad_time until), (b, until), b)
/* clang-format on */

#define RAD_OP_DECLARE(answer, name, parameters, arguments, object) RAD_INTERNAL answer rad__op_##name parameters;
RAD_OPS(RAD_OP_DECLARE)
#undef RAD_OP_DECLARE

#endif
