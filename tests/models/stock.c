/* stock.c — owned pools (rt/pool.c) of one item each: taking, by itself or by select, against giving back and close.
 * An item is in use by one thread at a time; a closed stock gives nothing, keeps nothing, and lets nobody wait.
 *
 * Each thread has a text to follow, steps separated by a blank: "0" takes from stock 0, uses the item and gives it
 * back, "0|1" from one of the two, by select; a "t" before it gives it time until the clock moves. "x0" is the same as
 * "0", but the item is of no use afterwards; "c0" closes stock 0. */
#include "lab/l2/model.h"

#include <raddle/chan.h>

#include <stdatomic.h>

enum { KIND };
enum { STOCKS = 2 };

typedef struct script {
    const char *of[RAD_MODEL_THREADS_MAX];
} script;

static const script scripts[] = {
    {{"0 0", "0"}},                  /* it is passed on */
    {{"x0", "0", "0"}},              /* the right to make another is */
    {{"0", "0", "c0"}},              /* against close */
    {{"x0 c0", "0"}},                /* closed by one who had it */
    {{"t0", "0", "c0"}},             /* or it is too late */
    {{"0|1", "0", "1"}},             /* by select */
    {{"0|1 c0", "1 0", "c1"}},       /* by select, against close */
    {{"t0|1", "1|0", "0 c1", "x1"}}, /* all of it */
};

typedef struct thing {
    uint32_t uses; /* plain: whoever has taken it is alone with it */
    uint32_t useless;
} thing;

static rad_pool *stocks[STOCKS];
static _Atomic uint32_t made, gone;

static uint32_t stock_threads(const rad_case *c)
{
    uint32_t count = 0;
    while (scripts[c->params[KIND]].of[count]) count++;
    return count;
}

static int on_create(void *context, void *item)
{
    (void)context;
    ((thing *)item)->uses = 0;
    atomic_fetch_add_explicit(&made, 1, memory_order_relaxed);
    return 0;
}

static int on_reset(void *context, void *item)
{
    (void)context;
    return (int)((thing *)item)->useless;
}

static void on_destroy(void *context, void *item)
{
    (void)context;
    ((thing *)item)->uses++;
    atomic_fetch_add_explicit(&gone, 1, memory_order_relaxed);
}

static void stock_setup(const rad_case *c)
{
    const rad_pool_calls calls = {on_create, on_reset, on_destroy, NULL};
    (void)c;
    for (uint32_t i = 0; i < STOCKS; i++) {
        int code = rad_pool_create(&stocks[i], sizeof(thing), 1, &calls);
        RAD_MODEL_ASSERT(code == 0);
        rad__model_name(stocks[i], 64, "stock");
    }
}

/* Which stock *item is from, or RAD_ETIMEOUT, RAD_ECLOSED. */
static int take(const char *text, rad_time until, void **item)
{
    rad_select_case cases[STOCKS];
    uint32_t count = 0;
    if (text[1] != '|') {
        int code = rad_pool_take(stocks[*text - '0'], item, until);
        return code == 0 ? *text - '0' : code;
    }
    for (;; text += 2) {
        cases[count] = (rad_select_case){.kind = RAD_ON_TAKE, .on.pool = stocks[*text - '0']};
        cases[count++].value = item;
        if (text[1] != '|') break;
    }
    int done = rad_select(cases, count, until);
    if (done < 0) return done;
    return cases[done].code == 0 ? (cases[done].on.pool == stocks[1]) : cases[done].code;
}

static void step(const char *text)
{
    void *item = NULL;
    bool useless = *text == 'x';
    rad_time until = *text == 't' ? rad_after(10) : RAD_FOREVER;
    if (*text == 'c') {
        rad_pool_close(stocks[text[1] - '0'], 1);
        return;
    }
    if (*text == 'x' || *text == 't') text++;
    int from = take(text, until, &item);
    if (from < 0) {
        RAD_MODEL_ASSERT(item == NULL);
        RAD_MODEL_ASSERT(from == RAD_ECLOSED || (from == RAD_ETIMEOUT && rad_now() >= until));
        return;
    }
    thing *t = item;
    t->uses++;
    t->useless = useless;
    rad_pool_give(stocks[from], item);
}

static void stock_body(const rad_case *c, uint32_t thread)
{
    for (const char *text = scripts[c->params[KIND]].of[thread]; *text;) {
        step(text);
        while (*text && *text != ' ') text++;
        while (*text == ' ') text++;
    }
}

static void stock_check(const rad_case *c)
{
    (void)c;
    uint32_t idle = 0;
    for (uint32_t i = 0; i < STOCKS; i++) {
        void *item;
        int code = rad_pool_take(stocks[i], &item, 0); /* nothing is left out */
        RAD_MODEL_ASSERT(code == (rad_pool_code(stocks[i]) ? RAD_ECLOSED : 0));
        if (code != 0) continue;
        rad_pool_give(stocks[i], item);
        idle++;
    }
    RAD_MODEL_ASSERT(
        atomic_load_explicit(&made, memory_order_relaxed) - atomic_load_explicit(&gone, memory_order_relaxed) == idle);
    for (uint32_t i = 0; i < STOCKS; i++) rad_pool_destroy(stocks[i]);
    RAD_MODEL_ASSERT(atomic_load_explicit(&made, memory_order_relaxed) ==
                     atomic_load_explicit(&gone, memory_order_relaxed));
}

enum { KINDS = sizeof scripts / sizeof *scripts };

static const rad_param stock_params[] = {
    [KIND] = {"kind", 0, 0, KINDS - 1, "who does what: see stock.c", true},
    {.name = NULL},
};

RAD_MODEL(stock, .name = "l2-stock", .about = "owned pools: taking, giving back, select, close", .params = stock_params,
          .covers = "pool select wait", .thread_count = stock_threads, .setup = stock_setup, .body = stock_body,
          .check = stock_check);
