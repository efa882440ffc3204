#include "rt/blocking.h"

#include "base/alloc.h"
#include "os/thread.h"
#include "os/wait.h"
#include "rt/ops.h"
#include "rt/runtime.h"

enum { THREADS_DEFAULT = 256, STACK_SIZE = 8 << 20 };

#define IDLE_NS UINT64_C(5000000000) /* then a thread leaves */

struct rad_blocking_job {
    rad_waitable object;
    rad_queue waits;
    rad_fn fn;
    void *arg;
    int answer;
    int failed;  /* why it was not begun, and will not be: there is no thread */
    bool done;   /* lock of the object; so are the two above */
    bool listed; /* lock of the pool; so are the links */
    rad_blocking_job *next, *before;
};

struct rad_blocker {
    rad_blocking_pool *pool;
    rad_os_thread thread;
    rad_blocker *next; /* that have left */
};

/* ---- The list of jobs, under the pool's lock ----------------------------------------------------------- */

static void job_put(rad_blocking_pool *p, rad_blocking_job *job)
{
    job->listed = true;
    p->jobs++;
    job->next = NULL;
    job->before = p->last;
    if (p->last)
        p->last->next = job;
    else
        p->first = job;
    p->last = job;
}

static void job_remove(rad_blocking_pool *p, rad_blocking_job *job)
{
    job->listed = false;
    p->jobs--;
    if (job->before)
        job->before->next = job->next;
    else
        p->first = job->next;
    if (job->next)
        job->next->before = job->before;
    else
        p->last = job->before;
}

/* ---- Threads ----------------------------------------------------------------------------------------- */

static void count_threads(rad_blocking_pool *p, uint32_t threads)
{
    p->threads = threads;
    atomic_store_explicit(&p->alive, threads, memory_order_relaxed);
}

static void job_end(rad_blocking_job *job, int answer, int failed)
{
    rad_wakes wakes = {0};
    rad__lock(&job->object.lock);
    job->answer = answer;
    job->done = true;
    job->failed = failed;
    rad__queue_claim_all(&job->waits, 0, &wakes);
    rad__unlock(&job->object.lock);
    rad__wakes_go(&wakes);
}

/* T2, T3, with the lock. False: nobody has called for a long time. */
static bool blocker_rests(rad_blocking_pool *p)
{
    uint32_t seen = atomic_load_explicit(&p->calls, memory_order_relaxed);
    p->idle++;
    rad__unlock(&p->lock);
    bool called = rad__os_word_wait_for(&p->calls, seen, IDLE_NS);
    rad__lock(&p->lock);
    p->idle--;
    return called;
}

static void blocker_main(void *context)
{
    rad_blocker *b = context;
    rad_blocking_pool *p = b->pool;
    bool stays = true;
    rad__lock(&p->lock);
    while (p->first != NULL || stays) {
        rad_blocking_job *job = p->first;
        if (job != NULL) {
            job_remove(p, job); /* T1 */
            rad__unlock(&p->lock);
            job_end(job, job->fn(job->arg), 0);
            rad__lock(&p->lock);
        } else {
            stays = !p->ends && blocker_rests(p);
        }
    }
    count_threads(p, p->threads - 1);
    b->next = p->left;
    p->left = b;
    rad__unlock(&p->lock);
}

/* Those that have left. Without the lock. */
static void blockers_join(rad_blocker *left)
{
    for (rad_blocker *next; left != NULL; left = next) {
        next = left->next;
        rad__os_thread_join(&left->thread);
        rad__free(left);
    }
}

/* One more, which the caller has counted. */
static int blocker_start(rad_blocking_pool *p)
{
    rad_blocker *b = rad__alloc(1, sizeof *b);
    int code = RAD_ENOMEM;
    rad__lock(&p->lock);
    rad_blocker *left = p->left;
    p->left = NULL;
    rad__unlock(&p->lock);
    blockers_join(left);
    if (b) {
        b->pool = p;
        code = rad__os_thread_create(&b->thread, blocker_main, b, STACK_SIZE, RAD_NONE, NULL);
        if (code == 0) return 0;
    }
    rad__lock(&p->lock);
    count_threads(p, p->threads - 1);
    rad__unlock(&p->lock);
    rad__free(b);
    return code;
}

void rad__blocking_open(rad_blocking_pool *p, uint32_t most)
{
    p->most = most ? most : THREADS_DEFAULT;
}

void rad__blocking_close(rad_blocking_pool *p)
{
    rad__lock(&p->lock);
    RAD_DCHECK(p->first == NULL);
    p->ends = true;
    atomic_fetch_add_explicit(&p->calls, 1, memory_order_relaxed);
    rad__unlock(&p->lock);
    rad__os_word_wake(&p->calls, UINT32_MAX);
    for (uint32_t threads = 1; threads > 0;) {
        rad__lock(&p->lock);
        threads = p->threads;
        rad_blocker *left = p->left;
        p->left = NULL;
        rad__unlock(&p->lock);
        blockers_join(left);
        if (threads > 0) rad__os_give_way(true);
    }
}

/* ---- Jobs -------------------------------------------------------------------------------------------- */

/* A thread could not be started. If it was the only one, whoever has come meanwhile and relied on it has none,
 * either. */
static void jobs_fail(rad_blocking_pool *p, int code)
{
    for (;;) {
        rad__lock(&p->lock);
        rad_blocking_job *job = p->threads == 0 ? p->first : NULL;
        if (job != NULL) job_remove(p, job);
        rad__unlock(&p->lock);
        if (job == NULL) return;
        job_end(job, 0, code);
    }
}

/* J1 … J3. False: it would have to wait for a thread, and is not to: `now`. */
static bool job_begin(rad_blocking_pool *p, rad_blocking_job *job, bool now)
{
    rad__lock(&p->lock);
    job_put(p, job);
    bool start = p->jobs > p->idle && p->threads < p->most;
    if (start) count_threads(p, p->threads + 1);
    atomic_fetch_add_explicit(&p->calls, 1, memory_order_relaxed);
    bool idle = p->idle > 0, refused = now && !start && p->jobs > p->idle;
    if (refused) job_remove(p, job);
    rad__unlock(&p->lock);
    if (refused) return false;
    if (idle) rad__os_word_wake(&p->calls, 1);
    int code = start ? blocker_start(p) : 0;
    if (code != 0) jobs_fail(p, code);
    return true;
}

/* True: nobody has begun it, and nobody will. */
static bool job_withdraw(rad_blocking_pool *p, rad_blocking_job *job)
{
    rad__lock(&p->lock);
    bool listed = job->listed;
    if (listed) job_remove(p, job);
    rad__unlock(&p->lock);
    return listed;
}

static bool job_attempt(rad_clause *c, rad_wakes *wakes)
{
    (void)wakes;
    return ((rad_blocking_job *)c->object)->done;
}

/* J4: until it is done, or was never begun. */
static int job_wait(rad_blocking_pool *p, rad_blocking_job *job, rad_time until)
{
    rad_clause c = {.object = &job->object, .queue = &job->waits, .attempt = job_attempt};
    int code = rad__wait(&c, 1, until);
    if (code == 0) return job->failed;
    if (job_withdraw(p, job)) return code;
    rad__op_shield(true);
    code = rad__wait(&c, 1, RAD_FOREVER);
    RAD_ASSERT(code == 0);
    rad__op_shield(false);
    return job->failed;
}

int rad_blocking(rad_fn fn, void *arg, int *answer, rad_time until)
{
    rad_strand *self = rad__running();
    rad_blocking_job job = {.fn = fn, .arg = arg};
    if (fn == NULL) rad__misuse("rad_blocking", "the function is NULL");
    if (self == NULL) {
        job.answer = fn(arg);
    } else {
        rad_blocking_pool *p = &self->runtime->blocking;
        if (rad__fiber_is_canceled(self)) return RAD_ECANCELED;
        rad__waitable_open(&job.object, RAD_KIND_BLOCKING_CALL);
        atomic_fetch_add_explicit(&p->waiting, 1, memory_order_relaxed);
        int code = RAD_ETIMEOUT; /* a try that finds a thread waits for the call */
        if (job_begin(p, &job, until == 0)) code = job_wait(p, &job, until ? until : RAD_FOREVER);
        atomic_fetch_sub_explicit(&p->waiting, 1, memory_order_relaxed);
        if (code != 0) return code;
    }
    if (answer) *answer = job.answer;
    return 0;
}
