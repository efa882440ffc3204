/* ready.c — waiting for files (rt/ready.c, rt/service.c) by threads that are in no runtime: something becomes ready
 * while somebody begins to wait, gives up, waits for the other direction, or closes it and its number is another's.
 * Nobody is forgotten, and nobody is told what was true for somebody else.
 *
 * Each thread has a text to follow, steps separated by a blank: "r", "w", "b" wait until the file can be read, written,
 * either; a "t" before it gives it time until the clock moves. "R", "W": it can, from now on. "C" closes it, "O" opens
 * another one with its number, when that is free. */
#include "rt/ready.h"
#include "lab/l2/model.h"
#include "system.h"

#include <raddle/io.h>

enum { KIND, COLD, COARSE };
enum { FD = 3 };

typedef struct script {
    const char *of[RAD_MODEL_THREADS_MAX];
} script;

static const script scripts[] = {
    {{"r", "R"}},             /* one waits */
    {{"tr", "R"}},            /* and may give up */
    {{"r", "w", "R W"}},      /* for both directions: who is not helped is asked for again */
    {{"r", "tr", "R"}},       /* both for the same */
    {{"b", "tw", "R"}},       /* for either */
    {{"r", "C"}},             /* it is closed */
    {{"r", "w", "R C"}},      /* or ready, and then closed */
    {{"tr tr", "R C O"}},     /* and its number is another's, which is not ready */
    {{"tr", "w", "R C O W"}}, /* … or for something else */
    {{"tr", "R C", "O tr"}},  /* … or is opened by whoever waits for it then */
    {{"tr", "R", "C O tr"}},  /* while an answer about the old one is under way */
};

static _Atomic uint32_t users_left;
static uint32_t closing; /* how often a close has begun */

/* What a model knows without anybody having told it. */
#define KNOWN __attribute__((no_sanitize("thread")))

static KNOWN uint32_t closes(uint32_t more)
{
    return closing += more;
}

static uint32_t ready_users(const rad_case *c)
{
    uint32_t count = 0;
    while (scripts[c->params[KIND]].of[count]) count++;
    return count;
}

/* One more, which polls for them. */
static uint32_t ready_threads(const rad_case *c)
{
    return ready_users(c) + 1;
}

static const char *ready_role(const rad_case *c, uint32_t thread)
{
    return thread < ready_users(c) ? "thread" : "service";
}

static void wait_for(const char *text)
{
    rad_time until = *text == 't' ? rad_after(10) : RAD_FOREVER;
    if (*text == 't') text++;
    int interest = *text == 'r' ? RAD_READABLE : *text == 'w' ? RAD_WRITABLE : 3;
    rad_system_look before = rad__system_look(FD);
    int code = rad_fd_wait(FD, (unsigned)interest, until);
    rad_system_look after = rad__system_look(FD);
    if (code > 0) {
        uint32_t was = rad__system_was_ready(FD, before.opened, after.opened);
        RAD_MODEL_ASSERT((code & ~interest) == 0 && (was & (uint32_t)code) == (uint32_t)code);
        RAD_MODEL_ASSERT(before.open || before.opened < after.opened);
    } else if (code == RAD_ETIMEOUT) {
        RAD_MODEL_ASSERT(rad_now() >= until);
    } else {
        RAD_MODEL_ASSERT(code == RAD_ECLOSED || code == RAD_EINPUT);
        RAD_MODEL_ASSERT(!before.open || before.closed < closes(0));
    }
}

static void step(const char *text)
{
    switch (*text) {
    case 'R': rad__system_ready(FD, RAD_OS_READABLE); break;
    case 'W': rad__system_ready(FD, RAD_OS_WRITABLE); break;
    case 'C':
        closes(1);
        RAD_MODEL_ASSERT(rad_fd_close(FD) == 0);
        break;
    case 'O': rad__system_file(FD); break;
    default: wait_for(text); break;
    }
}

static void ready_setup(const rad_case *c)
{
    rad_clause unused;
    rad__system_open(1);
    rad__system_file(FD);
    atomic_init(&users_left, ready_users(c));
    rad__model_name(rad__service_ready(), sizeof(rad_ready), "ready");
    /* Unlocking, counting, and what is there for good when somebody has waited before. */
    if (c->params[COARSE] && !c->params[COLD])
        rad__model_coarse("", "rad__unlock rad__file_waits poll_of file_find rad__service_start");
    if (!c->params[COLD]) RAD_MODEL_ASSERT(rad__file_clause(&unused, FD, RAD_READABLE, false) == 0);
}

static void ready_body(const rad_case *c, uint32_t thread)
{
    if (thread == ready_users(c)) {
        rad__system_thread(0);
        return;
    }
    for (const char *text = scripts[c->params[KIND]].of[thread]; *text;) {
        step(text);
        while (*text && *text != ' ') text++;
        while (*text == ' ') text++;
    }
    if (atomic_fetch_sub_explicit(&users_left, 1, memory_order_relaxed) != 1) return;
    rad__service_stop();
    rad__system_shut();
}

static void ready_check(const rad_case *c)
{
    (void)c;
    RAD_MODEL_ASSERT(rad__ready_waits(rad__service_ready()) == 0);
    rad__ready_close(rad__service_ready());
    RAD_MODEL_ASSERT(rad__system_polls() == 0);
}

enum { KINDS = sizeof scripts / sizeof *scripts };

static const rad_param ready_params[] = {
    [KIND] = {"kind", 0, 0, KINDS - 1, "who waits for what: see ready.c", true},
    [COLD] = {"cold", 0, 0, 1, "nobody has waited for a file before", true},
    [COARSE] = {"coarse", 0, 0, 1, "fewer steps", true},
    {.name = NULL},
};

RAD_MODEL(ready, .name = "l2-ready", .about = "threads wait for files: ready, given up, closed", .params = ready_params,
          .covers = "ready service wait", .thread_count = ready_threads, .thread_role = ready_role,
          .setup = ready_setup, .body = ready_body, .check = ready_check);
