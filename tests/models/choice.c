/* choice.c — select over locks (rt/select.c, and the clauses of mutex, semaphore, wait group and RW lock): whoever
 * waits for one of several gets exactly one of them, and the others are as if he had never asked: no lock is held by
 * nobody, no permit is lost and no reader shut out, also when the time is up. The clauses are in memory of their own,
 * which is freed when the wait has returned.
 *
 * Each thread has a text to follow, steps separated by a blank: "m|p" takes the mutex or a permit, "g" waits for the
 * group, "r" and "w" take the RW lock to read and to write, a "t" before it gives it time until the clock moves. What
 * was taken is given back at once. "M" takes the mutex and gives it back, "R" and "W" do so with the RW lock, "V" makes
 * a permit, of which there is none at first, "D" is done. */
#include "base/alloc.h"
#include "lab/l2/model.h"
#include "rt/sync.h"

#include <raddle/chan.h>

enum { KIND, PUBLIC };
enum { CASES_MAX = 3, DONE = 9 };

typedef struct script {
    const char *of[RAD_MODEL_THREADS_MAX];
} script;

static const script scripts[] = {
    {{"m|p", "M", "V"}},             /* a lock or a permit */
    {{"tm|p", "M", "V"}},            /* or it is too late */
    {{"m|g", "M", "D"}},             /* a lock or the group */
    {{"tp|g", "V", "D"}},            /* a permit or the group */
    {{"m|p", "p|m", "M V"}},         /* two who want the same */
    {{"tm|p", "p|m", "M V"}},        /* one of whom gives up */
    {{"p|m m", "M", "V"}},           /* and again */
    {{"tm|g|p", "p|g", "M V", "D"}}, /* all of it */
    {{"w|p", "R", "V"}},             /* to write, or a permit */
    {{"w|p", "R R", "R", "V"}},      /* readers do not wait for one who has left */
    {{"tw", "R", "R"}},              /* nor for one that is too late */
    {{"tw|p", "r|m", "R M", "W"}},   /* against others who choose */
    {{"r|w", "W", "w|r"}},           /* to read or to write */
};

static rad_mutex mutex;
static rad_semaphore semaphore;
static rad_rwlock rwlock;
static rad_waitgroup group;
static uint32_t locked, permitted, written, done; /* plain: guarded by them */
static uint32_t releases;                         /* in the text */
static _Atomic uint32_t locks, permits, writes, late;

static uint32_t choice_threads(const rad_case *c)
{
    uint32_t count = 0;
    while (scripts[c->params[KIND]].of[count]) count++;
    return count;
}

/* The index of the case that was done, or why none was. */
static int choose(const rad_case *c, rad_select_case *cases, uint32_t count, rad_time until)
{
    if (c->params[PUBLIC]) return rad_select(cases, count, until);
    rad_clause *clauses = rad__alloc(count, sizeof *clauses);
    for (uint32_t i = 0; i < count; i++) switch (cases[i].kind) {
        case RAD_ON_LOCK: rad__mutex_clause(&clauses[i], &mutex); break;
        case RAD_ON_ACQUIRE: rad__semaphore_clause(&clauses[i], &semaphore); break;
        case RAD_ON_READ:
        case RAD_ON_WRITE: rad__rwlock_clause(&clauses[i], &rwlock, cases[i].kind == RAD_ON_WRITE); break;
        default: rad__waitgroup_clause(&clauses[i], &group); break;
        }
    int chosen = rad__wait(clauses, count, until);
    rad__free(clauses);
    for (uint32_t i = 0; i < count; i++)
        if (cases[i].kind == RAD_ON_WRITE && (int)i != chosen) rad__rwlock_left(&rwlock);
    return chosen;
}

static void use(enum rad_select_kind kind)
{
    switch (kind) {
    case RAD_ON_LOCK:
        RAD_MODEL_ASSERT(rad_mutex_is_mine(&mutex));
        locked++;
        rad_mutex_unlock(&mutex);
        atomic_fetch_add_explicit(&locks, 1, memory_order_relaxed);
        break;
    case RAD_ON_ACQUIRE:
        permitted++; /* there is one in all */
        rad_semaphore_release(&semaphore, 1);
        atomic_fetch_add_explicit(&permits, 1, memory_order_relaxed);
        break;
    case RAD_ON_READ:
        RAD_MODEL_ASSERT(written <= 4);
        rad_rwlock_unlock(&rwlock);
        break;
    case RAD_ON_WRITE:
        written++;
        rad_rwlock_unlock(&rwlock);
        atomic_fetch_add_explicit(&writes, 1, memory_order_relaxed);
        break;
    default: RAD_MODEL_ASSERT(done == DONE); break;
    }
}

static rad_select_case case_of(char letter)
{
    switch (letter) {
    case 'm': return (rad_select_case){.kind = RAD_ON_LOCK, .on.mutex = &mutex};
    case 'r': return (rad_select_case){.kind = RAD_ON_READ, .on.rwlock = &rwlock};
    case 'w': return (rad_select_case){.kind = RAD_ON_WRITE, .on.rwlock = &rwlock};
    case 'p': return (rad_select_case){.kind = RAD_ON_ACQUIRE, .on.semaphore = &semaphore};
    default: return (rad_select_case){.kind = RAD_ON_GROUP, .on.group = &group};
    }
}

static void select_one(const rad_case *c, const char *text)
{
    rad_select_case cases[CASES_MAX];
    uint32_t count = 0;
    rad_time until = *text == 't' ? rad_after(10) : RAD_FOREVER;
    if (*text == 't') text++;
    for (;; text += 2) {
        cases[count++] = case_of(*text);
        if (text[1] != '|') break;
    }
    int chosen = choose(c, cases, count, until);
    if (chosen >= 0) {
        use(cases[chosen].kind);
        return;
    }
    RAD_MODEL_ASSERT(chosen == RAD_ETIMEOUT && rad_now() >= until);
    atomic_fetch_add_explicit(&late, 1, memory_order_relaxed);
}

static void step(const rad_case *c, const char *text)
{
    switch (*text) {
    case 'M':
        RAD_MODEL_ASSERT(rad_mutex_lock_until(&mutex, RAD_FOREVER) == 0);
        use(RAD_ON_LOCK);
        break;
    case 'R':
        rad_rwlock_read(&rwlock);
        use(RAD_ON_READ);
        break;
    case 'W':
        rad_rwlock_write(&rwlock);
        use(RAD_ON_WRITE);
        break;
    case 'V': rad_semaphore_release(&semaphore, 1); break;
    case 'D':
        done = DONE;
        rad_waitgroup_done(&group);
        break;
    default: select_one(c, text); break;
    }
}

static uint32_t count_of(const char *text, char letter)
{
    uint32_t count = 0;
    for (; *text; text++) count += *text == letter;
    return count;
}

static void choice_setup(const rad_case *c)
{
    rad__model_name(&mutex, sizeof mutex, "mutex");
    rad__model_name(&semaphore, sizeof semaphore, "semaphore");
    rad__model_name(&rwlock, sizeof rwlock, "rwlock");
    rad__model_name(&group, sizeof group, "group");
    for (uint32_t i = 0; i < choice_threads(c); i++) {
        const char *text = scripts[c->params[KIND]].of[i];
        rad_waitgroup_add(&group, count_of(text, 'D'));
        releases += count_of(text, 'V');
    }
}

static void choice_body(const rad_case *c, uint32_t thread)
{
    for (const char *text = scripts[c->params[KIND]].of[thread]; *text;) {
        step(c, text);
        while (*text && *text != ' ') text++;
        while (*text == ' ') text++;
    }
}

static void choice_check(const rad_case *c)
{
    (void)c;
    RAD_MODEL_ASSERT(locked == locks && permitted == permits && written == writes);
    RAD_MODEL_ASSERT(rad_rwlock_write_until(&rwlock, 0) == 0);
    rad_rwlock_unlock(&rwlock);
    RAD_MODEL_ASSERT(rad_mutex_lock_until(&mutex, 0) == 0);
    rad_mutex_unlock(&mutex);
    RAD_MODEL_ASSERT(rad_semaphore_permits(&semaphore) == releases);
    for (uint32_t i = 0; i < releases; i++) RAD_MODEL_ASSERT(rad_semaphore_acquire(&semaphore, 1, 0) == 0);
    RAD_MODEL_ASSERT(rad_waitgroup_wait(&group, 0) == 0);
}

enum { KINDS = sizeof scripts / sizeof *scripts };

static const rad_param choice_params[] = {
    [KIND] = {"kind", 0, 0, KINDS - 1, "who wants what: see choice.c", true},
    [PUBLIC] = {"public", 0, 0, 1, "by rad_select; otherwise with clauses that are freed", true},
    {.name = NULL},
};

RAD_MODEL(choice, .name = "l2-choice", .about = "one of several locks, permits and groups", .params = choice_params,
          .covers = "select wait mutex semaphore waitgroup rwlock", .thread_count = choice_threads,
          .setup = choice_setup, .body = choice_body, .check = choice_check);
