#include "rt/ready.h"

#include <raddle/io.h>

#include "base/alloc.h"
#include "os/io.h"
#include "os/thread.h"
#include "rt/runtime.h"

enum { BOTH = RAD_READABLE | RAD_WRITABLE };

_Static_assert((int)RAD_READABLE == (int)RAD_OS_READABLE && (int)RAD_WRITABLE == (int)RAD_OS_WRITABLE &&
                   (int)RAD_HUNG_UP == (int)RAD_OS_HUNG_UP,
               "one set of bits");

/* ---- The table --------------------------------------------------------------------------------------- */

static rad_file *chunk_make(rad_ready *r, uint32_t n)
{
    uint32_t count = rad__file_chunk_size(n);
    rad_file *chunk = rad__alloc(count, sizeof *chunk), *other = NULL;
    if (chunk == NULL) return NULL;
    for (uint32_t i = 0; i < count; i++) {
        rad__waitable_open(&chunk[i].object, RAD_KIND_DESCRIPTOR);
        chunk[i].fd = (int)(count - RAD_FILE_FIRST + i);
    }
    /* Pairs with the load in file_find. */
    if (atomic_compare_exchange_strong_explicit(&r->chunks[n], &other, chunk, memory_order_acq_rel,
                                                memory_order_acquire))
        return chunk;
    rad__free(chunk); /* somebody was quicker */
    return other;
}

/* NULL: nobody has waited for it or its neighbours. */
static rad_file *file_find(rad_ready *r, int fd)
{
    uint32_t at, n = rad__file_chunk((uint32_t)fd, &at);
    /* Pairs with the exchange in chunk_make. */
    rad_file *chunk = atomic_load_explicit(&r->chunks[n], memory_order_acquire);
    return chunk ? &chunk[at] : NULL;
}

static rad_file *file_get(rad_ready *r, int fd)
{
    rad_file *file = file_find(r, fd);
    if (RAD_LIKELY(file != NULL)) return file;
    uint32_t at, n = rad__file_chunk((uint32_t)fd, &at);
    rad_file *chunk = chunk_make(r, n);
    return chunk ? &chunk[at] : NULL;
}

/* ---- All that are open, for rad_fd_close --------------------------------------------------------------- */

static rad_lock list_lock;
static rad_ready *list; /* the newest first */

void rad__ready_forked(void)
{
    list_lock = (rad_lock){0}; /* somebody may have had it, who is not here */
    list = NULL;
}

static void list_put(rad_ready *r)
{
    static _Atomic bool forks; /* the child will be told: without memory for that it is not */
    if (!atomic_exchange_explicit(&forks, true, memory_order_relaxed))
        atomic_store_explicit(&forks, rad__os_after_fork(rad__service_forked), memory_order_relaxed);
    rad__lock(&list_lock);
    if (!r->listed) {
        r->listed = true;
        r->id = list ? list->id + 1 : 1;
        r->next = list;
        list = r;
    }
    rad__unlock(&list_lock);
}

/* Waits until nobody looks at it. */
static void list_remove(rad_ready *r)
{
    rad__lock(&list_lock);
    for (rad_ready **at = &list; *at != NULL; at = &(*at)->next)
        if (*at == r) {
            *at = r->next;
            break;
        }
    while (r->pins > 0) {
        rad__unlock(&list_lock);
        rad__os_give_way(true);
        rad__lock(&list_lock);
    }
    rad__unlock(&list_lock);
}

/* The next older one after `r`, which the caller has pinned (NULL: the newest). `r` is pinned no more, the answer
 * is. `r` may not be in the list any more, and whatever came next to it may be gone. */
static rad_ready *list_next(rad_ready *r)
{
    rad__lock(&list_lock);
    rad_ready *next = list;
    while (r && next && next->id >= r->id) next = next->next;
    if (next) next->pins++;
    if (r) r->pins--;
    rad__unlock(&list_lock);
    return next;
}

/* ---- The poll ---------------------------------------------------------------------------------------- */

static bool poll_of(const rad_ready *r, rad_os_poll *p)
{
    /* Pairs with the exchange in poll_open. */
    uint64_t both = atomic_load_explicit(&r->poll, memory_order_acquire);
    *p = (rad_os_poll){(int)(uint32_t)both - 1, (int)(uint32_t)(both >> 32) - 1};
    return both != 0;
}

static int poll_open(rad_ready *r)
{
    rad_os_poll p;
    uint64_t none = 0;
    if (RAD_LIKELY(poll_of(r, &p))) return 0;
    list_put(r); /* before anybody can wait in it */
    int code = rad__os_poll_open(&p, NULL);
    if (code != 0) return code;
    uint64_t both = ((uint64_t)(uint32_t)(p.bell + 1) << 32) | (uint32_t)(p.epoll + 1);
    /* Pairs with the load in poll_of. */
    if (!atomic_compare_exchange_strong_explicit(&r->poll, &none, both, memory_order_acq_rel, memory_order_relaxed))
        rad__os_poll_close(&p); /* somebody was quicker */
    return 0;
}

void rad__ready_close(rad_ready *r)
{
    rad_os_poll p;
    if (r->listed) list_remove(r);
    if (poll_of(r, &p)) rad__os_poll_close(&p);
    for (uint32_t n = 0; n < RAD_FILE_CHUNKS; n++) rad__free(atomic_load_explicit(&r->chunks[n], memory_order_relaxed));
}

void rad__ready_ring(rad_ready *r)
{
    rad_os_poll p;
    if (poll_of(r, &p)) rad__os_poll_ring(&p);
}

/* ---- Questions --------------------------------------------------------------------------------------- */

static uint32_t wanted_of(const rad_file *file)
{
    uint32_t wanted = 0;
    for (uint32_t interest = 1; interest <= BOTH; interest++)
        if (file->queues[interest - 1].first != NULL) wanted |= interest;
    return wanted;
}

/* Everybody who lies in a queue now is asked for: the newest are not marked yet. */
static void mark(rad_file *file)
{
    for (uint32_t interest = 1; interest <= BOTH; interest++)
        for (rad_clause *c = file->queues[interest - 1].last; c && !c->want; c = c->before) c->want = 1;
}

/* Everybody who waits for something of `ready`; or, when that is a failure, everybody. `marked`: of those only. */
static void claim(rad_file *file, int ready, bool marked, rad_wakes *wakes)
{
    for (int interest = 1; interest <= BOTH; interest++) {
        rad_queue *q = &file->queues[interest - 1];
        rad_clause *c;
        int code = ready < 0 ? ready : ready & (interest | RAD_HUNG_UP);
        if (code >= 0 && (code & interest) == 0) continue;
        while ((c = q->first) != NULL && (c->want || !marked)) {
            if (!rad__queue_claim_first(q)) continue;
            c->code = code;
            rad__wakes_add(wakes, c);
        }
    }
}

/* Q2 … Q4. `closed`: the descriptor was. */
static void ask(rad_ready *r, rad_file *file, bool closed)
{
    rad_wakes wakes = {0};
    rad_os_poll p;
    bool open = poll_of(r, &p);
    RAD_ASSERT(open);
    rad__lock(&file->object.lock);
    file->dirty = true;
    while (file->dirty && !file->asking) {
        file->dirty = false;
        uint32_t wanted = wanted_of(file), question = ++file->question;
        if (wanted == 0) break;
        mark(file);
        file->asking = file->asked = true;
        rad__unlock(&file->object.lock);
        int code = rad__os_poll_watch(&p, file->fd, wanted, ((uint64_t)question << 32) | (uint32_t)file->fd, NULL);
        rad__lock(&file->object.lock);
        file->asking = false;
        if (code == RAD_OS_ALWAYS_READY) code = BOTH;
        if (code == RAD_EINPUT && closed) code = RAD_ECLOSED;
        /* Whoever came meanwhile may mean another descriptor of this number, and asks for himself. */
        if (code != RAD_OS_WATCHED && file->question == question) claim(file, code, true, &wakes);
    }
    rad__unlock(&file->object.lock);
    rad__wakes_go(&wakes);
}

/* ---- Answers ----------------------------------------------------------------------------------------- */

/* A1 … A4. */
static void answer(rad_ready *r, const rad_os_event *event)
{
    rad_wakes wakes = {0};
    rad_file *file = file_find(r, (int)(uint32_t)event->token);
    rad__lock(&file->object.lock);
    bool mine = file->question == (uint32_t)(event->token >> 32); /* A2 */
    if (mine) claim(file, (int)event->ready, false, &wakes);
    bool more = mine && wanted_of(file) != 0;
    rad__unlock(&file->object.lock);
    rad__wakes_go(&wakes);
    if (more) ask(r, file, false);
}

void rad__ready_answer(rad_ready *r, const rad_os_event *events, uint32_t count)
{
    while (count-- > 0) answer(r, &events[count]);
}

uint32_t rad__ready_listen(rad_ready *r, rad_os_event *events, uint64_t ns)
{
    rad_os_poll p;
    uint32_t looks = atomic_load_explicit(&r->looks, memory_order_relaxed);
    if (!poll_of(r, &p)) return 0; /* somebody is about to wait */
    int count = rad__os_poll_wait(&p, events, RAD_ANSWERS_MOST, ns, NULL);
    atomic_store_explicit(&r->looks, looks + 1, memory_order_relaxed);
    if (count < 0 && ns > 0) rad__os_give_way(true); /* no memory: perhaps later */
    return count > 0 ? (uint32_t)count : 0;
}

uint32_t rad__ready_look(rad_ready *r)
{
    rad_os_event events[RAD_ANSWERS_MOST];
    uint32_t count = rad__ready_listen(r, events, 0);
    rad__ready_answer(r, events, count);
    return count;
}

/* ---- Waiting ----------------------------------------------------------------------------------------- */

static rad_ready *ready_of_caller(void)
{
    rad_rt_worker *rt_worker = rad__rt_worker();
    return rt_worker != NULL && rt_worker->running != NULL ? &rt_worker->runtime->ready : rad__service_ready();
}

void rad__file_waits(bool begins)
{
    atomic_fetch_add_explicit(&ready_of_caller()->waits, begins ? 1 : UINT32_MAX, memory_order_relaxed);
}

/* Only what was looked at already can be done at once: the system is not asked under a lock. */
static bool file_attempt(rad_clause *c, rad_wakes *wakes)
{
    (void)wakes;
    return c->code != 0;
}

static void file_asks(void *clause)
{
    rad_clause *c = clause;
    rad_file *file = (rad_file *)c->object;
    rad_strand *self = c->waiter->strand;
    if (self != NULL) rad__fiber_names_file(self, c->object, (uint32_t)file->fd);
    ask(c->data, file, false);
}

static int ready_now(int fd, unsigned interest)
{
    int64_t ready = rad__os_io_ready(fd, interest);
    return ready >= 0 ? (int)ready : RAD_EINPUT;
}

int rad__file_clause(rad_clause *c, int fd, unsigned interest, bool now)
{
    if (fd < 0 || interest == 0 || interest > BOTH) return RAD_EINPUT;
    rad_ready *r = ready_of_caller();
    int code = now ? 0 : poll_open(r);
    if (code == 0 && !now && r == rad__service_ready()) code = rad__service_start();
    if (code != 0) return code;
    rad_file *file = file_get(r, fd);
    if (file == NULL) return RAD_ENOMEM;
    *c = (rad_clause){.object = &file->object,
                      .queue = &file->queues[interest - 1],
                      .attempt = file_attempt,
                      .asks = file_asks,
                      .code = now ? ready_now(fd, interest) : 0,
                      .data = r};
    return 0;
}

int rad_fd_wait(int fd, unsigned interest, rad_time until)
{
    rad_clause c;
    int code = rad__file_clause(&c, fd, interest, until == 0);
    if (code != 0) return code;
    rad__file_waits(true);
    code = rad__wait(&c, 1, until);
    rad__file_waits(false);
    return code == 0 ? c.code : code;
}

/* ---- Close ------------------------------------------------------------------------------------------- */

static void file_shut(rad_ready *r, int fd)
{
    rad_wakes wakes = {0};
    rad_os_poll p;
    rad_file *file = file_find(r, fd);
    if (file == NULL || !poll_of(r, &p)) return;
    rad__lock(&file->object.lock);
    claim(file, RAD_ECLOSED, false, &wakes);
    file->question++;
    bool asked = file->asked;
    file->asked = false;
    rad__unlock(&file->object.lock);
    rad__wakes_go(&wakes);
    if (asked) rad__os_poll_forget(&p, fd);
}

/* Those who began to wait after it was shut and before it was closed. */
static void file_shut_again(rad_ready *r, int fd)
{
    rad_file *file = file_find(r, fd);
    if (file == NULL) return;
    rad__lock(&file->object.lock);
    bool any = wanted_of(file) != 0;
    rad__unlock(&file->object.lock);
    if (any) ask(r, file, true);
}

int rad_fd_close(int fd)
{
    if (fd < 0) return (int)rad__os_io_close(fd);
    for (rad_ready *r = list_next(NULL); r != NULL; r = list_next(r)) file_shut(r, fd);
    int64_t code = rad__os_io_close(fd);
    for (rad_ready *r = list_next(NULL); r != NULL; r = list_next(r)) file_shut_again(r, fd);
    return (int)code;
}
