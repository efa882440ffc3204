/* system.c — no model: see system.h. */
#include "system.h"

#include "lab/l2/model.h"
#include "os/clock.h"
#include "os/io.h"
#include "os/thread.h"
#include "os/wait.h"

/* ---- Threads --------------------------------------------------------------------------------------------- */

enum { WAITS = 0, STARTED, NEVER, ENDED };

static struct spare {
    _Atomic uint32_t state;
    void (*body)(void *context);
    void *context;
} spares[RAD_SYSTEM_THREADS];
static uint32_t spare_count;
static _Atomic uint32_t started;

void rad__system_open(uint32_t threads)
{
    RAD_MODEL_ASSERT(threads <= RAD_SYSTEM_THREADS);
    spare_count = threads;
    rad__model_name(spares, sizeof spares, "thread");
}

static void spare_set(struct spare *s, uint32_t state)
{
    /* Pairs with the loads in rad__system_thread and in join. */
    atomic_store_explicit(&s->state, state, memory_order_release);
    rad__os_word_wake(&s->state, 1);
}

void rad__system_thread(uint32_t n)
{
    struct spare *s = &spares[n];
    rad__os_word_wait(&s->state, WAITS);
    /* Pairs with spare_set. */
    if (atomic_load_explicit(&s->state, memory_order_acquire) != STARTED) return;
    s->body(s->context);
    spare_set(s, ENDED);
}

void rad__system_shut(void)
{
    uint32_t next = atomic_load_explicit(&started, memory_order_relaxed);
    for (; next < spare_count; next++) spare_set(&spares[next], NEVER);
}

int rad__os_thread_create(rad_os_thread *t, void (*body)(void *context), void *context, size_t stack_size, uint32_t cpu,
                          rad_error *error)
{
    (void)stack_size, (void)cpu, (void)error;
    uint32_t n = atomic_fetch_add_explicit(&started, 1, memory_order_relaxed);
    if (n >= spare_count) return RAD_EIO;
    t->context = &spares[n]; /* not touched after the thread has begun */
    spares[n].body = body;
    spares[n].context = context;
    spare_set(&spares[n], STARTED);
    return 0;
}

bool rad__os_after_fork(void (*child)(void)) /* nobody forks here */
{
    (void)child;
    return true;
}

void rad__os_thread_join(rad_os_thread *t)
{
    struct spare *s = t->context;
    /* Pairs with spare_set. */
    while (atomic_load_explicit(&s->state, memory_order_acquire) != ENDED) rad__os_word_wait(&s->state, STARTED);
}

/* ---- Descriptors: the system's own, so nobody looks at how it does it -------------------------------------- */

#define SYSTEM __attribute__((no_sanitize("thread")))

enum { LIVES_MAX = 4 };

typedef struct file {
    bool open, watched;
    uint32_t ready, wanted;
    uint64_t token;
    uint32_t opened, closed;
    uint32_t was_ready[LIVES_MAX]; /* by `opened` */
} file;

static file files[RAD_SYSTEM_FILES];
static bool rung;
static uint32_t polls;
static _Atomic uint32_t calls; /* a step of each call */
static _Atomic uint32_t news;  /* changes when there may be an answer; who polls sleeps on it */

static void enter(void)
{
    atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
}

static void tell(void)
{
    atomic_fetch_add_explicit(&news, 1, memory_order_relaxed);
    rad__os_word_wake(&news, UINT32_MAX);
}

static SYSTEM uint32_t answer_of(const file *f)
{
    return f->open && f->watched ? f->ready & f->wanted : 0;
}

static SYSTEM bool set_file(file *f)
{
    if (f->open) return false;
    RAD_ASSERT(f->opened + 1 < LIVES_MAX);
    f->opened++;
    f->open = true;
    f->watched = false;
    f->ready = 0;
    return true;
}

static SYSTEM bool set_ready(file *f, uint32_t ready)
{
    if (!f->open) return false;
    f->ready |= ready;
    f->was_ready[f->opened] |= ready;
    return answer_of(f) != 0;
}

static SYSTEM int set_watch(file *f, uint32_t wanted, uint64_t token)
{
    if (!f->open) return RAD_EINPUT;
    f->watched = true;
    f->wanted = wanted;
    f->token = token;
    return answer_of(f) != 0;
}

static SYSTEM void set_forgotten(file *f)
{
    f->watched = false;
}

static SYSTEM bool set_closed(file *f)
{
    bool open = f->open;
    f->open = f->watched = false;
    f->closed += open;
    return open;
}

/* Each is answered once. */
static SYSTEM uint32_t take_answers(rad_os_event *events)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < RAD_SYSTEM_FILES; i++) {
        uint32_t ready = answer_of(&files[i]);
        if (ready == 0) continue;
        events[count].token = files[i].token;
        events[count++].ready = ready;
        files[i].watched = false;
    }
    return count;
}

static SYSTEM bool set_rung(bool now)
{
    bool before = rung;
    rung = now;
    return before;
}

static SYSTEM uint32_t set_polls(uint32_t more)
{
    return polls += more;
}

static SYSTEM rad_system_look look(const file *f)
{
    return (rad_system_look){f->opened, f->closed, f->open};
}

static SYSTEM uint32_t was_ready(const file *f, uint32_t from, uint32_t to)
{
    uint32_t bits = 0;
    for (; from <= to; from++) bits |= f->was_ready[from];
    return bits;
}

/* ---- Calls ----------------------------------------------------------------------------------------------- */

static file *file_of(int fd)
{
    RAD_MODEL_ASSERT(fd >= 0 && fd < RAD_SYSTEM_FILES);
    return &files[fd];
}

void rad__system_file(int fd)
{
    for (enter(); !set_file(file_of(fd)); enter()) rad__os_give_way(true);
}

void rad__system_ready(int fd, uint32_t ready)
{
    enter();
    if (set_ready(file_of(fd), ready)) tell();
}

rad_system_look rad__system_look(int fd)
{
    return look(file_of(fd));
}

uint32_t rad__system_was_ready(int fd, uint32_t from, uint32_t to)
{
    return was_ready(file_of(fd), from, to);
}

uint32_t rad__system_polls(void)
{
    return set_polls(0);
}

int rad__os_poll_open(rad_os_poll *p, rad_error *error)
{
    (void)error;
    *p = (rad_os_poll){.epoll = 1, .bell = 2};
    set_polls(1);
    return 0;
}

void rad__os_poll_close(rad_os_poll *p)
{
    (void)p;
    set_polls(UINT32_MAX);
}

int rad__os_poll_watch(rad_os_poll *p, int fd, uint32_t wanted, uint64_t token, rad_error *error)
{
    (void)p, (void)error;
    enter();
    int ready = set_watch(file_of(fd), wanted, token);
    if (ready > 0) tell();
    return ready < 0 ? ready : RAD_OS_WATCHED;
}

void rad__os_poll_forget(rad_os_poll *p, int fd)
{
    (void)p;
    enter();
    set_forgotten(file_of(fd));
}

int rad__os_poll_wait(rad_os_poll *p, rad_os_event *events, uint32_t max, uint64_t ns, rad_error *error)
{
    (void)p, (void)max, (void)error;
    for (;;) {
        uint32_t seen = atomic_load_explicit(&news, memory_order_relaxed);
        uint32_t count = take_answers(events);
        bool rang = ns != 0 && set_rung(false);
        if (count > 0 || rang || ns == 0) return (int)count;
        if (ns == UINT64_MAX)
            rad__os_word_wait(&news, seen);
        else if (!rad__os_word_wait_for(&news, seen, ns))
            return 0;
    }
}

void rad__os_poll_ring(rad_os_poll *p)
{
    (void)p;
    enter();
    set_rung(true);
    tell();
}

int64_t rad__os_io_close(int fd)
{
    enter();
    return set_closed(file_of(fd)) ? 0 : RAD_OS_ERROR;
}

int64_t rad__os_io_ready(int fd, uint32_t wanted)
{
    enter();
    const file *f = file_of(fd);
    rad_system_look now = look(f);
    return now.open ? (int64_t)(was_ready(f, now.opened, now.opened) & wanted) : RAD_OS_ERROR;
}
