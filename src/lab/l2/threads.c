/* threads.c — threads of a model: coroutines that stop before every atomic, sleep on words, and say what they
 * saw.
 *
 * Spinning  A loop such as `while (load(x) == old);` never blocks, so it could be chosen for ever. What a thread sees
 *           goes to the recogniser that all machines share (core/spin.h), and who spins, or gives way
 *           (rad__os_give_way), lets others go first (core/fair.h). A write that leaves the value as it is counts as a
 *           look, one to a location that nobody else has touched as private.
 * Time      passes when nobody can go on, or all who can do nothing but spin. */
#include "lab/l2/l2.h"

#include "base/error.h"
#include "os/thread_pointer.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

static l2 nobody; /* the parts of a model that are asked outside of a run: it has no memory, and no phase */

l2 *rad__l2 = &nobody;

void rad__l2_use(l2 *l)
{
    rad__l2 = l ? l : &nobody;
}

static void thread_leave(l2 *l)
{
    rad__context_switch(&l->running->context, &l->home);
}

static _Noreturn void thread_break(l2 *l)
{
    l->running->state = L2_BROKEN;
    for (;;) thread_leave(l);
}

void rad__l2_fail(l2 *l, uint32_t oracle, uint32_t object, const char *site, const char *format, ...)
{
    char text[sizeof l->k->failure.message];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    rad_evaluated(l->k, oracle);
    rad_fail_at(l->k, oracle, object, site, "%s", text);
    thread_break(l);
}

void rad__l2_error(l2 *l, int code, const char *text)
{
    rad__kernel_error(l->k, code, text);
    thread_break(l);
}

/* ---- Operations that are one step --------------------------------------------------------------------------- */

enum { STOPS = 0, SILENT = UINT8_MAX }; /* otherwise the number of the source */

void rad__model_coarse(const char *stems, const char *functions)
{
    l2 *l = rad__l2;
    for (uint32_t i = 0; l->coarse_by != stems && i < rad__l2_point_count; i++)
        l->coarse[i] = rad__l2_site_is_named(i, functions) ? SILENT : rad__l2_site_is_of(i, stems);
    l->coarse_by = stems;
    l->is_coarse = true;
}

bool rad__l2_goes_on(l2 *l, uint32_t site, uint32_t location, enum rad_access access)
{
    l2_thread *t = l->running;
    uint8_t kind = site < rad__l2_point_count ? l->coarse[site] : STOPS;
    bool goes_on = kind == SILENT || (kind != STOPS && kind == t->inside);
    t->inside = kind == SILENT ? STOPS : kind;
    if (!goes_on || ++t->passed == UINT8_MAX) { /* a loop of these: it stops */
        t->passed = 0;
        return false;
    }
    uint32_t number = l2_number(l, site);
    if (number < RAD_SITES_MAX) l->k->reached[number] = 1;
    if (location != 0) rad_touch(l->k, rad__l2_object(l, location), access);
    return true;
}

/* ---- Running ------------------------------------------------------------------------------------------- */

RAD_INLINE void thread_enter(l2 *l, l2_thread *t)
{
    l->running = t;
    if (l->borrows) rad__thread_pointer_set(t->pointer);
    rad__context_switch(&l->home, &t->context);
    if (l->borrows) rad__thread_pointer_set(l->pointer);
}

RAD_INLINE void thread_settle(l2 *l, l2_thread *t)
{
    rad_kernel *k = l->k;
    uint32_t action = t->index - 1u;
    switch ((enum l2_state)t->state) {
    case L2_READY:
        rad_announce(k, action, l2_number(l, t->site), t->location ? rad__l2_object(l, t->location) : RAD_NONE,
                     (enum rad_access)t->access);
        break;
    case L2_WAITING:
        rad_disable(k, action);
        rad_wait(k, action, rad__l2_object(l, t->location), RAD_NONE);
        break;
    case L2_ENDED:
        rad_disable(k, action);
        rad_ended(k, action);
        break;
    default: break;
    }
}

/* Nobody can get on, but somebody's time will be up: the first one's is. */
static void sleep_ends(l2 *l)
{
    l2_thread *first = NULL;
    for (uint32_t i = 1; i <= l->thread_count; i++) {
        l2_thread *t = &l->threads[i];
        if (t->state == L2_WAITING && t->until && (!first || t->until < first->until)) first = t;
    }
    if (first == NULL) return;
    l->busy++;
    l->timed &= ~(1u << first->index);
    l->jumps++;
    if (l->now_ns < first->until) l->now_ns = first->until;
    first->until = 0;
    first->state = L2_READY;
    rad_enable(l->k, first->index - 1u);
}

/* All who can go on spin, and each has made two rounds since anything else was done: in the first it may have seen what
 * has changed since it began to spin. */
static bool all_are_idle(const l2 *l)
{
    bool all = true;
    for (uint32_t i = 1; i <= l->thread_count; i++) {
        const l2_thread *t = &l->threads[i];
        uint32_t round = rad__spins(l->k, i - 1);
        all &= t->state != L2_READY || (round > 0 && t->idle_at == l->busy && t->idle >= 2 * round);
    }
    return all;
}

/* What the step was, for whom it concerns. */
RAD_INLINE void thread_tell(l2 *l, uint32_t thread)
{
    rad_kernel *k = l->k;
    bool effect = l->effect | k->stirred | k->chose;
    if (l->saw != 0 || effect) rad__spin_saw(k, thread - 1, effect ? 0 : l->saw, l->private);
    if (RAD_LIKELY(effect || rad__spins(k, thread - 1) == 0)) {
        l->busy++;
        return;
    }
    l2_thread *t = &l->threads[thread];
    t->idle = (t->idle_at == l->busy ? t->idle : 0) + 1;
    t->idle_at = l->busy;
}

void rad__l2_step(void *self, rad_kernel *k, uint32_t action)
{
    l2 *l = self;
    uint32_t thread = action + 1;
    l2_thread *t = &l->threads[thread];
    rad__l2 = l;
    RAD_ASSERT(t->state == L2_READY);
    if (RAD_UNLIKELY(l->timed) && all_are_idle(l)) sleep_ends(l);
    l->saw = 0;
    l->effect = false;
    l->private = true;
    thread_enter(l, t);
    thread_settle(l, t);
    thread_tell(l, thread);
    if (RAD_UNLIKELY(rad_enabled_count(k) == 0) && l->timed && !k->ended) sleep_ends(l);
}

static void thread_main(void *context)
{
    l2 *l = context;
    l2_thread *t = l->running;
    l->model->body(&l->c, t->index - 1u);
    t->state = L2_ENDED;
    for (;;) thread_leave(l);
}

static void main_setup(void *context)
{
    l2 *l = context;
    if (l->model->setup) l->model->setup(&l->c);
    l->running->state = L2_ENDED;
    for (;;) thread_leave(l);
}

static void main_check(void *context)
{
    l2 *l = context;
    if (l->model->check) l->model->check(&l->c);
    rad_evaluated(l->k, L2_LEAK);
    for (uint32_t i = 1; i < l->block_count && l->blocks_live > 0; i++) {
        if (l->blocks[i].freed) continue;
        rad__l2_fail(l, L2_LEAK, RAD_NONE, NULL, "heap %u, of %u bytes, is never freed (%u in all)", (unsigned)i,
                     (unsigned)l->blocks[i].size, (unsigned)l->blocks_live);
    }
    l->running->state = L2_ENDED;
    for (;;) thread_leave(l);
}

bool rad__l2_alone(l2 *l, enum l2_phase phase)
{
    l2_thread *t = &l->threads[L2_MAIN];
    l->phase = phase;
    t->state = L2_READY;
    rad__context_make(&t->context, t->stack, L2_STACK, phase == L2_PHASE_SETUP ? main_setup : main_check, l);
    l->running = t;
    rad__context_switch(&l->home, &t->context);
    l->running = NULL;
    l->phase = L2_PHASE_NONE;
    return t->state == L2_ENDED;
}

void rad__l2_begin(l2 *l, uint32_t thread)
{
    l2_thread *t = &l->threads[thread];
    t->clock = (l2_clock){{0}};
    t->acquired = t->released = t->clock;
    t->clock.at[thread] = 1;
    t->allocations = 0;
    t->until = 0;
    t->inside = t->passed = 0;
    t->state = L2_READY;
    t->fenced = false;
    if (l->borrows) rad__thread_locals_reset(t->pointer, l->pointer);
    rad__context_make(&t->context, t->stack, L2_STACK, thread_main, l);
    thread_enter(l, t);
    if (t->state == L2_READY) rad_enable(l->k, thread - 1);
    thread_settle(l, t);
}

/* ---- Sleeping on a word: what rad__os_word_wait and rad__os_word_wake are here ---------------------------- */

static uint32_t word_point(l2 *l, const volatile void *word, enum rad_access access, const void *pc)
{
    const char *address = (const char *)word;
    l2_cell *cell = l2_cell_of(l, address);
    uint32_t site = l2_site_of(pc);
    if (cell == NULL) rad__l2_fail(l, L2_BAD_ADDRESS, RAD_NONE, NULL, "a wait for memory that was not allocated");
    if (cell->run != l->run) rad__l2_cell_open(l, cell, address, site);
    /* Granules are counted from an aligned beginning. */
    uint32_t at = (uint32_t)((uintptr_t)address & 7); /* tidy: address ok: its place in a granule */
    uint32_t location = rad__l2_location(l, cell, address, (uint8_t)(0xfu << at));
    l2_point(l, site, location, access);
    if (cell->run != l->run) rad__l2_cell_open(l, cell, address, site); /* fails if it was freed */
    rad__l2_access(l, cell, address, (uint8_t)(0xfu << at), L2_IS_ATOMIC, site);
    return location;
}

RAD_INTERNAL void rad__l2_word_wait(const volatile uint32_t *word, uint32_t expected);
RAD_INTERNAL bool rad__l2_word_wait_for(const volatile uint32_t *word, uint32_t expected, uint64_t ns);
RAD_INTERNAL uint32_t rad__l2_word_wake(const volatile uint32_t *word, uint32_t count);

static void word_wait(l2 *l, const volatile uint32_t *word, uint32_t expected, const void *pc)
{
    if (l->phase != L2_PHASE_RUN) rad__l2_fail(l, RAD_ORACLE_ASSERT, RAD_NONE, NULL, "setup waits");
    l2_thread *t = l->running;
    word_point(l, word, RAD_READ, pc);
    uint32_t value = *word;
    rad_value(l->k, value);
    if (value != expected) return;
    t->state = L2_WAITING;
    thread_leave(l); /* until woken, and then until chosen */
}

void rad__l2_word_wait(const volatile uint32_t *word, uint32_t expected)
{
    word_wait(rad__l2, word, expected, __builtin_return_address(0));
}

/* Whether the time passes before anybody can wake it is a choice; it does when nobody else can go on. */
bool rad__l2_word_wait_for(const volatile uint32_t *word, uint32_t expected, uint64_t ns)
{
    l2 *l = rad__l2;
    l2_thread *t = l->running;
    const void *pc = __builtin_return_address(0);
    if (l->phase == L2_PHASE_RUN && rad_pick(l->k, RAD_PICK_FAULT, RAD_NONE, 2) == 1) {
        word_point(l, word, RAD_READ, pc);
        l->now_ns += ns;
        return false;
    }
    t->until = l->now_ns + ns;
    l->timed |= 1u << t->index;
    word_wait(l, word, expected, pc);
    l->timed &= ~(1u << t->index);
    bool woken = t->until != 0;
    t->until = 0;
    return woken;
}

RAD_INTERNAL uint64_t rad__l2_now_ns(void);
uint64_t rad__l2_now_ns(void)
{
    return rad__l2->now_ns;
}

/* Waking does not look at the word, which may be gone by then, or part of something else. */
static uint32_t wake_point(l2 *l, const volatile void *word, uint32_t site)
{
    const char *address = (const char *)word;
    l2_cell *cell = l2_cell_of(l, address);
    if (cell == NULL) rad__l2_fail(l, L2_BAD_ADDRESS, RAD_NONE, NULL, "a wake for memory that was not allocated");
    uint32_t at = (uint32_t)((uintptr_t)address & 7); /* tidy: address ok: its place in a granule */
    uint32_t location = 0;
    if (!rad__l2_is_gone(l, address)) {
        if (cell->run != l->run) rad__l2_cell_open(l, cell, address, site);
        location = rad__l2_location(l, cell, address, (uint8_t)(0xfu << at));
    }
    l2_point(l, site, location, RAD_WRITE);
    return location;
}

static uint32_t waiters_of(const l2 *l, uint32_t location)
{
    uint32_t set = 0;
    for (uint32_t i = 1; i <= l->thread_count; i++)
        if (l->threads[i].state == L2_WAITING && l->threads[i].location == location) set |= 1u << i;
    return set;
}

uint32_t rad__l2_word_wake(const volatile uint32_t *word, uint32_t count)
{
    l2 *l = rad__l2;
    if (l->phase != L2_PHASE_RUN) return 0;
    uint32_t site = l2_site_of(__builtin_return_address(0));
    uint32_t location = wake_point(l, word, site), woken = 0;
    uint32_t waiters = location ? waiters_of(l, location) : 0;
    for (; waiters && woken < count; woken++) {
        uint32_t which = rad_pick(l->k, RAD_PICK_WAKE, l2_number(l, site), (uint32_t)__builtin_popcount(waiters));
        uint32_t rest = waiters;
        while (which--) rest &= rest - 1;
        uint32_t thread = (uint32_t)__builtin_ctz(rest);
        waiters &= ~(1u << thread);
        l->threads[thread].state = L2_READY;
        l->timed &= ~(1u << thread);
        rad_note(l->k, 1, rad__l2_object(l, location), thread - 1);
        rad_enable(l->k, thread - 1);
    }
    rad_value(l->k, woken);
    return woken;
}

/* ---- For models ------------------------------------------------------------------------------------------ */

void rad__model_asked(void)
{
    rad_evaluated(rad__l2->k, RAD_ORACLE_ASSERT);
}

static const char *file_name(const char *path)
{
    const char *name = path;
    for (const char *p = path; *p; p++)
        if (*p == '/') name = p + 1;
    return name;
}

/* Two assertions are two bugs; the same one is the same bug when its line moves. */
static _Noreturn void assertion_failed(const char *file, int line, const char *function, const char *what)
{
    char site[200];
    snprintf(site, sizeof site, "%s: %s", function, what);
    rad__l2_fail(rad__l2, RAD_ORACLE_ASSERT, RAD_NONE, site, "%s:%d: %s", file_name(file), line, what);
}

void rad__model_failed(const char *file, int line, const char *function, const char *what)
{
    assertion_failed(file, line, function, what);
}

/* What an assertion of production code becomes here. */
RAD_INTERNAL _Noreturn void rad__l2_panic(const char *file, int line, const char *function, const char *what);
void rad__l2_panic(const char *file, int line, const char *function, const char *what)
{
    assertion_failed(file, line, function, what);
}

static _Noreturn void misused(const char *call, const char *what, const char *message)
{
    char site[200];
    snprintf(site, sizeof site, "%s: %s", call, what);
    rad__l2_fail(rad__l2, RAD_ORACLE_ASSERT, RAD_NONE, site, "%s: %s", call, message);
}

RAD_INTERNAL _Noreturn void rad__l2_misuse(const char *call, const char *what);
void rad__l2_misuse(const char *call, const char *what)
{
    misused(call, what, what);
}

RAD_INTERNAL _Noreturn void rad__l2_misuse_by(const char *call, uint64_t fiber, const char *name, const char *what);
void rad__l2_misuse_by(const char *call, uint64_t fiber, const char *name, const char *what)
{
    char message[200];
    (void)name;
    snprintf(message, sizeof message, "fiber %" PRIu64 " %s", fiber, what);
    misused(call, what, message);
}

void rad__model_name(const volatile void *p, size_t size, const char *name)
{
    l2 *l = rad__l2;
    if (l->name_count == L2_NAMES_MAX) rad__l2_error(l, RAD_ELIMIT, "a model gives more names than there is room for");
    l->names[l->name_count++] = (l2_name){(const char *)p, size, name};
}

uint32_t rad__model_choose(uint32_t count)
{
    return rad_pick(rad__l2->k, RAD_PICK_VALUE, RAD_NONE, count);
}

uint32_t rad__model_jumps(void)
{
    return rad__l2->jumps;
}
