/* select.c — one of several operations (rt/wait.c, rt/select.c) against others of the kind, against plain sends and
 * receives, against close and against time: exactly one of the cases is done, and what is sent is received once.
 * The clauses are in memory of their own, which is freed when the wait has returned: one that was left in a queue is a
 * use after free.
 *
 * Each thread has a text to follow, steps separated by a blank: "s0|r1" sends to channel 0 or receives from 1, "c0"
 * closes channel 0, "q0" receives only when channels have no room; a "t" before it gives it time until the clock
 * moves. */
#include "base/alloc.h"
#include "lab/l2/model.h"
#include "rt/chan.h"

enum { KIND, CAPACITY, PUBLIC };
enum { CHANS = 3, CASES_MAX = 3, STEPS_MAX = 5, UNTOUCHED = 0xdead };

typedef struct script {
    const char *of[RAD_MODEL_THREADS_MAX];
} script;

static const script selects[] = {
    {{"s0|r1", "s1|r0"}},                                     /* two that meet, in opposite order */
    {{"r0|r1 r0|r1", "s0", "s1"}},                            /* against those who only send */
    {{"s0|r0", "s0|r0"}},                                     /* a channel twice */
    {{"r0|r0|r1 r0|r0|r1", "s0", "s0"}},                      /* the same case twice */
    {{"r0|r1 c1", "c0", "s1"}},                               /* against close */
    {{"s0|r1 c1 c0", "s1|r0 c0 c1", "c0"}},                   /* two that meet, and close */
    {{"s0|s1", "r1|r0", "s1|s0", "r0|r1"}},                   /* two pairs */
    {{"s0|r1 c0 c1 c2", "s1|r2 c1 c2 c0", "s2|r0 c2 c0 c1"}}, /* a ring: one is left, and closed */
    {{"s0 s0", "r0 q0"}},                                     /* who waits is let go as soon as there is room */
};

static const script timeouts[] = {
    {{"tr0", "ts0"}},                   /* both may give up */
    {{"tr0 c0", "s0"}},                 /* one may, and says so by closing */
    {{"ts0 c0", "r0"}},                 /* the sender */
    {{"tr0 tr0", "ts0"}},               /* what was not received is still there */
    {{"tr0", "tr0", "ts0"}},            /* the next in the queue gets it */
    {{"tr0|r1 c0 c1", "ts0|r1", "s1"}}, /* with several cases */
    {{"tr0|s1", "ts0|r1"}},             /* two that meet */
};

typedef struct event {
    uint64_t value;
    int code;
    bool sends, done;
} event;

static rad_chan *chans[CHANS];
static event events[RAD_MODEL_THREADS_MAX][STEPS_MAX];

static uint32_t threads_of(const script *s)
{
    uint32_t count = 0;
    while (s->of[count]) count++;
    return count;
}

static uint32_t select_threads(const rad_case *c)
{
    return threads_of(&selects[c->params[KIND]]);
}

static uint32_t timeout_threads(const rad_case *c)
{
    return threads_of(&timeouts[c->params[KIND]]);
}

static void select_setup(const rad_case *c)
{
    for (uint32_t i = 0; i < CHANS; i++) {
        int code = rad_chan_create(&chans[i], sizeof(uint64_t), (size_t)c->params[CAPACITY], RAD_CHAN_BLOCKS);
        RAD_MODEL_ASSERT(code == 0);
        rad__model_name(chans[i], sizeof(rad_chan), "channel");
    }
    rad__model_name(events, sizeof events, "event");
}

/* The index of the case that was done, or why none was; its code in the case. */
static int choose(const rad_case *c, rad_select_case *cases, uint32_t count, rad_time until)
{
    if (c->params[PUBLIC]) return rad_select(cases, count, until);
    rad_clause *clauses = rad__alloc(count, sizeof *clauses);
    for (uint32_t i = 0; i < count; i++)
        if (cases[i].kind == RAD_ON_SEND)
            rad__send_clause(&clauses[i], cases[i].on.chan, cases[i].value);
        else
            rad__recv_clause(&clauses[i], cases[i].on.chan, cases[i].value);
    int done = rad__wait(clauses, count, until);
    if (done >= 0) cases[done].code = clauses[done].code;
    rad__free(clauses);
    return done;
}

static void step(const rad_case *c, const char *text, uint64_t own, event *e)
{
    rad_select_case cases[CASES_MAX];
    uint64_t values[CASES_MAX];
    uint32_t count = 0;
    rad_time until = *text == 't' ? rad_after(10) : RAD_FOREVER;
    if (*text == 't') text++;
    if (*text == 'q' && c->params[CAPACITY]) return;
    if (*text == 'c') {
        rad_chan_close(chans[text[1] - '0'], 1);
        return;
    }
    for (;; text += 3, count++) {
        cases[count] = (rad_select_case){
            .kind = *text == 's' ? RAD_ON_SEND : RAD_ON_RECV, .on.chan = chans[text[1] - '0'], .value = &values[count]};
        values[count] = *text == 's' ? own : UNTOUCHED;
        if (text[2] != '|') break;
    }
    int done = choose(c, cases, ++count, until);
    RAD_MODEL_ASSERT((done >= 0 && done < (int)count) || (done == RAD_ETIMEOUT && until != RAD_FOREVER));
    RAD_MODEL_ASSERT(done >= 0 || rad_now() >= until);
    *e = (event){.code = done, .done = done >= 0};
    for (uint32_t i = 0; i < count; i++) {
        bool sends = cases[i].kind == RAD_ON_SEND, mine = (int)i == done;
        if (mine)
            *e = (event){values[i], cases[i].code, sends, true};
        else
            RAD_MODEL_ASSERT(values[i] == (sends ? own : UNTOUCHED));
    }
}

static void follow(const rad_case *c, const char *text, uint32_t thread)
{
    for (uint32_t i = 0; *text; i++) {
        step(c, text, (uint64_t)thread << 8 | i, &events[thread][i]);
        while (*text && *text != ' ') text++;
        while (*text == ' ') text++;
    }
}

static void select_body(const rad_case *c, uint32_t thread)
{
    follow(c, selects[c->params[KIND]].of[thread], thread);
}

static void timeout_body(const rad_case *c, uint32_t thread)
{
    follow(c, timeouts[c->params[KIND]].of[thread], thread);
}

static bool got(const event *e)
{
    return e->done && !e->sends && e->code == 0;
}

/* What is left in the channels is received here, as the last step of each thread. */
static uint32_t leftovers(void)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < CHANS; i++)
        while (rad_chan_count(chans[i]) > 0) {
            event *e = &events[count++][STEPS_MAX - 1];
            RAD_MODEL_ASSERT(!e->done && count < RAD_MODEL_THREADS_MAX);
            e->done = true;
            e->code = rad_recv(chans[i], &e->value, 0);
        }
    return count;
}

static void select_check(const rad_case *c)
{
    uint32_t sent = 0, received = 0, left = leftovers();
    const event *all = &events[0][0];
    RAD_MODEL_ASSERT(left == 0 || c->params[CAPACITY]);
    for (uint32_t i = 0; i < RAD_MODEL_THREADS_MAX * STEPS_MAX; i++) {
        const event *e = &all[i];
        uint32_t times = 0;
        if (!e->done) continue;
        RAD_MODEL_ASSERT(e->code == 0 || e->code == RAD_ECLOSED);
        if (e->code != 0) RAD_MODEL_ASSERT(e->sends || e->value == UNTOUCHED);
        if (e->code != 0) continue;
        received += got(e);
        sent += e->sends;
        if (!e->sends) continue;
        for (uint32_t k = 0; k < RAD_MODEL_THREADS_MAX * STEPS_MAX; k++)
            times += got(&all[k]) && all[k].value == e->value;
        RAD_MODEL_ASSERT(times == 1);
    }
    RAD_MODEL_ASSERT(sent == received);
    for (uint32_t i = 0; i < CHANS; i++) rad_chan_destroy(chans[i]);
}

enum { SELECTS = sizeof selects / sizeof *selects, TIMEOUTS = sizeof timeouts / sizeof *timeouts };

static const rad_param select_params[] = {
    [KIND] = {"kind", 0, 0, SELECTS - 1, "who meets whom: see select.c", true},
    [CAPACITY] = {"capacity", 0, 0, 1, "of the channels", false},
    [PUBLIC] = {"public", 0, 0, 1, "by rad_select; otherwise with clauses that are freed", true},
    {.name = NULL},
};

static const rad_param timeout_params[] = {
    [KIND] = {"kind", 0, 0, TIMEOUTS - 1, "who meets whom: see select.c", true},
    [CAPACITY] = {"capacity", 0, 0, 1, "of the channels", false},
    [PUBLIC] = {"public", 0, 0, 1, "by rad_select; otherwise with clauses that are freed", true},
    {.name = NULL},
};

RAD_MODEL(select, .name = "l2-select", .about = "one of several operations, against others", .params = select_params,
          .covers = "select wait chan lock", .thread_count = select_threads, .setup = select_setup, .body = select_body,
          .check = select_check);

RAD_MODEL(timeout, .name = "l2-timeout", .about = "operations whose time may be up: done or not at all",
          .params = timeout_params, .covers = "wait chan lock", .thread_count = timeout_threads, .setup = select_setup,
          .body = timeout_body, .check = select_check);
