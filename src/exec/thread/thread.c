#include "exec/thread/thread.h"

#include "base/alloc.h"
#include "base/error.h"
#include "os/clock.h"

enum {
    STEAL_TRIES_DEFAULT = 4,
    STEAL_TRIES_MAX = 1000,
    SPIN_MAX_US = 50,
    SPIN_LEAST_PART = 32, /* of it: a search is never shorter */
    ROUNDS_MAX = 1 << 20, /* the clock ends the search long before */
    STACK_DEFAULT = 8 << 20,
    STACK_LEAST = 64 << 10,
    CALM_PAUSES = 32,     /* after a miss: a search leaves the queues of those who work in peace */
    CLOCK_EVERY = 4,      /* misses */
    LONELY_PAUSES = 64,   /* how long a task alone in its queue is left there */
    STEAL_WORTH_NS = 250, /* a stolen task that takes less was not worth it */
    REST_NS = 8000        /* after one of these */
};

/* ---- Steps ----------------------------------------------------------------------------------------- */

static void rest(uint32_t pauses)
{
    while (pauses-- > 0) rad__os_pause();
}

static void search_begins(rad_shell *shell, bool was_woken)
{
    uint64_t now = rad__os_now_ns();
    shell->was_woken = was_woken;
    shell->dozed = shell->dozed && was_woken;
    if (now - shell->stole_ns < STEAL_WORTH_NS)
        while (now - shell->stole_ns < REST_NS) {
            rest(CALM_PAUSES);
            now = rad__os_now_ns();
        }
    shell->search_began_ns = now;
    shell->misses = 0;
    shell->gave_up = false;
}

/* How long it searches: see thread.h. */
static uint64_t patience(const rad_shell *shell)
{
    return shell->was_woken ? shell->exec->spin_ns : shell->spin_ns;
}

static bool search_is_over(rad_shell *shell)
{
    const rad_exec_hooks *hooks = &shell->exec->hooks;
    if (hooks->hurry != NULL && hooks->hurry(hooks->context, &shell->worker)) return true;
    return shell->misses % CLOCK_EVERY == 0 && rad__os_now_ns() - shell->search_began_ns >= patience(shell);
}

static void search_missed(rad_shell *shell)
{
    shell->misses++;
    if (patience(shell) > shell->exec->spin_ns / SPIN_LEAST_PART) { /* else one look is enough */
        rest(CALM_PAUSES);
        if (!search_is_over(shell)) return;
        if (!shell->was_woken) shell->spin_ns /= 2;
    }
    rad__worker_give_up(&shell->worker);
    shell->gave_up = true;
}

static void search_found(rad_shell *shell)
{
    uint64_t longer = shell->spin_ns * 2, most = shell->exec->spin_ns;
    if (shell->misses > 0) shell->spin_ns = longer < most ? longer : most;
    if (shell->dozed) shell->spin_ns = most; /* it could as well have searched */
    shell->dozed = false;
}

/* Where a thief would take something: see take_from_victim in worker.c. */
static const rad_deque *first_loot(const rad_worker *victim)
{
    if (!rad__worker_is_brief(victim) && rad__deque_count(&victim->due) > 0) return &victim->due;
    return rad__deque_count(&victim->woken) > 0 ? &victim->woken : &victim->local;
}

/* Whether a task of the worker that will be asked next is to be left to it for now. */
static bool search_yields(const rad_shell *shell, uint32_t draw)
{
    const rad_worker *w = &shell->worker;
    const rad_sched *s = w->sched;
    if (rad__sched_live(s) < 2 || shell->gave_up) return false;
    if (w->tries % (s->config.steal_tries + 1) == 0) return false; /* its own, and what is shared */
    uint32_t victim = w->hint != RAD_NONE ? w->hint : rad__choose_victim(w->id, rad__sched_live(s), draw);
    const rad_deque *d = first_loot(s->workers[victim]);
    if (rad__deque_count(d) != 1) return false;
    int64_t taken = rad__deque_taken(d);
    rest(LONELY_PAUSES);
    return rad__deque_taken(d) != taken;
}

static uint32_t shell_draw(rad_shell *shell)
{
    rad_worker *w = &shell->worker;
    if (!rad__worker_draws(w)) return 0;
    return (uint32_t)rad__prng_below(&shell->prng, rad__sched_live(w->sched) - 1);
}

/* False: the time has passed. */
static bool sleep_for(const rad_exec_hooks *hooks, rad_worker *w, uint64_t ns)
{
    _Atomic uint32_t *wake_word = &w->sched->idle.seats[w->id].wake_word;
    enum rad_exec_slept slept = hooks->sleep ? hooks->sleep(hooks->context, w, ns) : RAD_SLEPT_NOT;
    if (slept != RAD_SLEPT_NOT) return slept == RAD_SLEPT_UNTIL_WOKEN;
    if (ns != UINT64_MAX) return rad__os_word_wait_for(wake_word, 0, ns);
    rad__os_word_wait(wake_word, 0);
    return true;
}

/* A limit is for what the hooks have to do at that time; nobody looks for lost wakeups that way. */
static void shell_sleep(rad_shell *shell)
{
    const rad_exec_hooks *hooks = &shell->exec->hooks;
    rad_worker *w = &shell->worker;
    uint64_t ns = hooks->rest ? hooks->rest(hooks->context, w) : UINT64_MAX;
    bool may_leave = w->id >= w->sched->config.workers && ns == UINT64_MAX;
    if (may_leave) ns = hooks->retire_ns;
    if (ns == 0) return;
    uint64_t began = rad__os_now_ns();
    bool woken = sleep_for(hooks, w, ns);
    shell->dozed = woken && rad__os_now_ns() - began < shell->exec->spin_ns;
    if (woken || !may_leave || !rad__worker_waits(w)) return;
    shell->gone = rad__worker_retire(w);
}

void rad__shell_step_idle(rad_shell *shell)
{
    rad_worker *w = &shell->worker;
    const rad_exec_hooks *hooks = &shell->exec->hooks;
    bool spins = shell->exec->spin_ns > 0;
    while (rad__worker_waits(w)) shell_sleep(shell);
    if (RAD_UNLIKELY(shell->gone)) return;
    if (w->phase == RAD_PHASE_SEARCH && hooks->look != NULL && hooks->look(hooks->context, w)) {
        rad__worker_look_again(w);
        return;
    }
    bool searched = w->phase == RAD_PHASE_STEAL;
    uint32_t draw = shell_draw(shell);
    if (searched && spins && search_yields(shell, draw)) {
        search_missed(shell);
        return;
    }
    if (w->phase == RAD_PHASE_RECHECK) rad__shell_barrier(w);
    rad_step step = rad__worker_step(w, draw);
    if (step.woken != w->id) rad__exec_wake_thread(shell->exec, step.woken);
    if (!spins) return;
    if (rad__source_is_stolen(step.source)) shell->stole_ns = rad__os_now_ns();
    if (w->phase != RAD_PHASE_STEAL) {
        if (searched && w->phase == RAD_PHASE_FOUND) search_found(shell);
        return;
    }
    if (searched)
        search_missed(shell);
    else
        search_begins(shell, step.phase == RAD_PHASE_PARKED);
}

/* ---- The end --------------------------------------------------------------------------------------- */

static void drain_deque(rad_shell *shell, rad_deque *d)
{
    rad_task *task;
    enum rad_steal got;
    while ((got = rad__deque_steal(d, &task)) != RAD_STEAL_EMPTY)
        if (got == RAD_STEAL_GOT) rad__exec_drop(shell->exec, shell, task);
}

void rad__shell_drain(rad_shell *shell)
{
    rad_worker *w = &shell->worker;
    rad_sched *s = w->sched;
    rad_task *task = w->current; /* it wanted to be run again */
    w->current = NULL;
    if (task != NULL) rad__exec_drop(shell->exec, shell, task);
    while ((task = rad__inbox_pop(&w->inbox)) != NULL) rad__exec_drop(shell->exec, shell, task);
    while (rad__injector_pop(&s->injector, &task, 1) == 1) rad__exec_drop(shell->exec, shell, task);
    for (uint32_t i = 0; i < rad__sched_live(s); i++) {
        drain_deque(shell, &s->workers[i]->local);
        drain_deque(shell, &s->workers[i]->later);
        drain_deque(shell, &s->workers[i]->due);
        drain_deque(shell, &s->workers[i]->woken);
    }
}

static void exec_drop_leftovers(rad_exec *exec)
{
    rad_task *task;
    while ((task = rad__sched_leftover(&exec->sched)) != NULL) rad__exec_drop(exec, NULL, task);
}

/* The last one has more to do. */
static void exec_thread_ends(rad_exec *exec)
{
    /* Pairs with itself in the other workers: the last one sees what all of them left. */
    if (atomic_fetch_sub_explicit(&exec->running, 1, memory_order_acq_rel) != 1) return;
    /* Tasks that were woken from outside after every worker had emptied its queues. Join returns after this. */
    exec_drop_leftovers(exec);
    /* Pairs with the load in rad_exec_join. */
    atomic_store_explicit(&exec->over, 1, memory_order_release);
    rad__os_word_wake(&exec->over, UINT32_MAX);
}

static void shell_main(void *context)
{
    rad_shell *shell = context;
    rad_exec *exec = shell->exec;
    /* How much of the stack is used is all that is asked of it. tidy: address ok */
    uintptr_t top = (uintptr_t)__builtin_frame_address(0); /* tidy: address ok */
    shell->shallow = top > shell->shallow ? top - shell->shallow : 0;
    shell->deep = top > shell->deep ? top - shell->deep : 0;
    const rad_exec_hooks *hooks = &exec->hooks;
    if (hooks->begin) hooks->begin(hooks->context, &shell->worker);
    while (shell->worker.phase != RAD_PHASE_STOPPED && !shell->gone) rad__shell_step(shell);
    if (!shell->gone) rad__shell_drain(shell);
    if (hooks->end) hooks->end(hooks->context, &shell->worker);
    /* Pairs with the load in seat_is_free: the next one to sit there sees what this one did, the end hook included. */
    atomic_store_explicit(&shell->left, true, memory_order_release);
    exec_thread_ends(exec);
}

/* Nothing is in flight and nothing will come. */
static void exec_end(rad_exec *exec)
{
    rad__sched_finish(&exec->sched);
    /* Pairs with rad__sched_enliven: a worker that sits down meanwhile is called below, or sees the end. */
    uint32_t live = atomic_load_explicit(&exec->sched.live, memory_order_seq_cst);
    for (uint32_t i = 0; i < live; i++) {
        rad__idle_call(&exec->sched.idle, i);
        rad__exec_wake_thread(exec, i);
    }
}

void rad_exec_close(rad_exec *exec)
{
    if (rad__sched_shut(&exec->sched)) exec_end(exec);
}

int64_t rad_exec_join(rad_exec *exec)
{
    for (uint32_t i = 0; i < exec->threads; i++)
        RAD_ASSERT(!rad__os_thread_is_self(&exec->shells[i].thread)); /* it would wait for itself */
    rad_exec_close(exec);
    /* Pairs with the store in exec_thread_ends: what the tasks did is visible. A wait may return early. */
    while (atomic_load_explicit(&exec->over, memory_order_acquire) == 0) rad__os_word_wait(&exec->over, 0);
    return atomic_load_explicit(&exec->sched.failure, memory_order_relaxed);
}

/* ---- Making and freeing ---------------------------------------------------------------------------- */

static int options_check(const rad_exec_options *o, rad_error *error)
{
    if (o->workers > RAD_WORKERS_MAX)
        return rad__error(error, RAD_EINPUT, "%u workers, at most %d", o->workers, RAD_WORKERS_MAX);
    if (o->steal_tries > STEAL_TRIES_MAX)
        return rad__error(error, RAD_EINPUT, "steal_tries of %u, at most %d", o->steal_tries, STEAL_TRIES_MAX);
    if (o->spin_us > SPIN_MAX_US && o->spin_us != RAD_SPIN_NONE)
        return rad__error(error, RAD_EINPUT, "spin_us of %u, at most %d", o->spin_us, SPIN_MAX_US);
    if (o->stack_size != 0 && o->stack_size < STACK_LEAST)
        return rad__error(error, RAD_EINPUT, "stack_size of %zu bytes, at least %d", o->stack_size, STACK_LEAST);
    return 0;
}

/* A searcher that takes the CPU from those who work does harm. */
static uint64_t spin_in_ns(const rad_exec_options *o, uint32_t workers, uint32_t cpus)
{
    if (o->spin_us == RAD_SPIN_NONE) return 0;
    if (o->spin_us == 0 && workers > cpus) return 0;
    return UINT64_C(1000) * (o->spin_us ? o->spin_us : SPIN_MAX_US);
}

static rad_sched_config config_of(const rad_exec_options *o, uint32_t workers, uint32_t spare, uint64_t spin_ns)
{
    return (rad_sched_config){
        .workers = workers,
        .spare = spare,
        .steal_tries = o->steal_tries ? o->steal_tries : STEAL_TRIES_DEFAULT,
        .hoard = o->hoard ? o->hoard : RAD_HOARD_DEFAULT,
        .rounds = spin_ns ? ROUNDS_MAX : 1,
        .ring = RAD_INJECTOR_RING,
        .plain_wake = o->plain_wake,
        .stop_on_failure = o->stop_on_failure,
    };
}

/* The next seat. */
static bool shell_open(rad_exec *exec)
{
    uint32_t id = exec->opened;
    rad_shell *shell = &exec->shells[id];
    if (exec->scratch_size > 0) {
        shell->scratch = rad__alloc_lines(1, exec->scratch_size);
        if (shell->scratch == NULL) return false;
    }
    if (!rad__worker_open(&shell->worker, &exec->sched, id)) {
        rad__free(shell->scratch);
        shell->scratch = NULL;
        return false;
    }
    shell->worker.shell = shell;
    shell->exec = exec;
    shell->prng = rad__prng(exec->seed, RAD_STREAM_STEAL, id);
    shell->spin_ns = exec->spin_ns / SPIN_LEAST_PART; /* it learns when more is worth it */
    if (exec->hooks.prepare) exec->hooks.prepare(exec->hooks.context, &shell->worker);
    exec->opened++;
    return true;
}

/* No thread runs. */
static void exec_free(rad_exec *exec)
{
    for (uint32_t i = 0; i < exec->opened; i++) {
        rad__worker_close(&exec->shells[i].worker);
        rad__free(exec->shells[i].scratch);
    }
    if (exec->shells != NULL) rad__sched_close(&exec->sched);
    rad__free(exec->memory);
    rad__free(exec);
}

static int exec_open(rad_exec **out, const rad_exec_options *o, const rad_exec_hooks *hooks, rad_error *error)
{
    uint32_t cpus = rad__os_cpu_count();
    uint32_t workers = o->workers ? o->workers : cpus < RAD_WORKERS_MAX ? cpus : RAD_WORKERS_MAX;
    rad_exec *exec = rad__alloc_lines(1, sizeof *exec);
    if (exec == NULL) return rad__error_memory(error);
    exec->spin_ns = spin_in_ns(o, workers, cpus);
    exec->drop = o->drop;
    exec->drop_context = o->drop_context;
    exec->stack_size = o->stack_size ? o->stack_size : STACK_DEFAULT;
    exec->scratch_size = o->scratch_size;
    exec->seed = o->seed;
    if (hooks != NULL) exec->hooks = *hooks;
    if (exec->hooks.spare > RAD_WORKERS_MAX - workers) exec->hooks.spare = RAD_WORKERS_MAX - workers;
    rad_sched_config config = config_of(o, workers, exec->hooks.spare, exec->spin_ns);
    uint32_t seats = workers + exec->hooks.spare;
    exec->shells = rad__alloc_lines_later(seats, sizeof *exec->shells, &exec->memory);
    if (exec->shells != NULL && !rad__sched_open(&exec->sched, &config)) exec->shells = NULL;
    while (exec->shells != NULL && exec->opened < workers && shell_open(exec)) {
    }
    if (exec->opened == workers) {
        rad__idle_lighten(&exec->sched.idle, rad__os_barrier_register());
        *out = exec;
        return 0;
    }
    exec_free(exec);
    return rad__error_memory(error);
}

static int shell_start(rad_shell *shell, uint32_t cpu, rad_error *error)
{
    size_t size = shell->exec->stack_size;
    shell->shallow = size / 2; /* shell_main makes addresses of these */
    shell->deep = size / 4 * 3;
    shell->gone = false;
    atomic_store_explicit(&shell->left, false, memory_order_relaxed);
    int code = rad__os_thread_create(&shell->thread, shell_main, shell, size, cpu, error);
    shell->started = code == 0;
    return code;
}

static int exec_start(rad_exec *exec, const rad_exec_options *o, rad_error *error)
{
    uint32_t workers = exec->sched.config.workers;
    atomic_init(&exec->running, workers);
    for (uint32_t i = 0; i < workers; i++) {
        uint32_t cpu = o->pin ? rad__os_cpu_at(i) : RAD_NONE;
        int code = 0;
        if (o->pin && cpu == RAD_NONE)
            code = rad__error(error, RAD_EIO, "cannot pin: the system does not name its CPUs");
        if (code == 0) code = shell_start(&exec->shells[i], cpu, error);
        if (code != 0) return code;
        exec->threads++;
    }
    return 0;
}

static void exec_reap(rad_exec *exec)
{
    for (uint32_t i = 0; i < rad__sched_seats(&exec->sched); i++)
        if (exec->shells[i].started) rad__os_thread_join(&exec->shells[i].thread);
}

int rad_exec_create(rad_exec **out, const rad_exec_options *options, rad_error *error)
{
    return rad__exec_create(out, options, NULL, error);
}

int rad__exec_create(rad_exec **out, const rad_exec_options *options, const rad_exec_hooks *hooks, rad_error *error)
{
    static const rad_exec_options defaults;
    const rad_exec_options *o = options ? options : &defaults;
    rad_exec *exec = NULL;
    *out = NULL;
    rad__error_clear(error);
    int code = options_check(o, error);
    if (code == 0) code = exec_open(&exec, o, hooks, error);
    if (code != 0) return code;
    *out = exec; /* before any thread: hooks read it */
    code = exec_start(exec, o, error);
    if (code == 0) return 0;
    bool drained = rad__sched_shut(&exec->sched);
    RAD_ASSERT(drained);
    exec_end(exec);
    exec_reap(exec);
    *out = NULL;
    exec_free(exec);
    return code;
}

void rad_exec_destroy(rad_exec *exec)
{
    if (exec == NULL) return;
    rad_exec_join(exec);
    exec_reap(exec);
    exec_drop_leftovers(exec); /* woken from outside after it was stopped */
    exec_free(exec);
}

/* ---- Spare seats ------------------------------------------------------------------------------------- */

static bool seat_is_free(const rad_shell *shell)
{
    /* Pairs with the store in shell_main. */
    return !shell->started || atomic_load_explicit(&shell->left, memory_order_acquire);
}

/* One more thread, unless the last one has ended. */
static bool exec_thread_begins(rad_exec *exec)
{
    uint32_t running = atomic_load_explicit(&exec->running, memory_order_relaxed);
    do
        if (running == 0) return false;
    while (!atomic_compare_exchange_weak_explicit(&exec->running, &running, running + 1, memory_order_relaxed,
                                                  memory_order_relaxed));
    return true;
}

bool rad__exec_reinforce(rad_exec *exec)
{
    uint32_t seat = exec->sched.config.workers, seats = rad__sched_seats(&exec->sched);
    while (seat < seats && !seat_is_free(&exec->shells[seat])) seat++;
    if (seat == seats || (seat == exec->opened && !shell_open(exec))) return false;
    if (!exec_thread_begins(exec)) return false;
    rad_shell *shell = &exec->shells[seat];
    RAD_DCHECK(seat <= exec->opened);
    if (shell->started) rad__os_thread_join(&shell->thread);
    rad__sched_enliven(&exec->sched, seat);
    if (shell_start(shell, RAD_NONE, NULL) == 0) return true;
    exec_thread_ends(exec);
    return false;
}

bool rad__exec_is_manned(const rad_exec *exec, uint32_t seat)
{
    return seat < exec->sched.config.workers || !seat_is_free(&exec->shells[seat]);
}

uint32_t rad__exec_manned(const rad_exec *exec)
{
    uint32_t count = exec->sched.config.workers;
    for (uint32_t i = count; i < rad__sched_seats(&exec->sched); i++) count += !seat_is_free(&exec->shells[i]);
    return count;
}
