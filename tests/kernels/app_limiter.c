/* A rate limiter: a bucket of tokens that is refilled every millisecond, and callers that wait for a token, first come,
 * first served, each with a deadline of its own.
 * A refill hands a token to the first caller in the line, takes that one out of it, and signals it.
 * Goes wrong: a caller whose deadline comes at the same moment leaves with a timeout, and does not look whether it got
 * a token meanwhile. The token is lost. Repaired, it looks. */
#include "kernel.h"

enum { MILLISECOND = 1000000, REFILLS = 3, CALLERS = 3, MOST = 4 };

typedef struct caller {
    rad_cond granted;
    bool has_token;
    struct caller *next;
} caller;

static struct {
    rad_mutex lock;
    int tokens;
    caller *first;
} bucket;

static rad_mutex tally = RAD_MUTEX_INIT;
static int used, refused, refilled;

static void refill(void)
{
    rad_mutex_lock(&bucket.lock);
    caller *c = bucket.first;
    if (c) {
        bucket.first = c->next;
        c->has_token = true;
        rad_cond_signal(&c->granted);
        refilled++;
    } else if (bucket.tokens < MOST) {
        bucket.tokens++;
        refilled++;
    }
    rad_mutex_unlock(&bucket.lock);
}

static void join_line(caller *c)
{
    caller **link = &bucket.first;
    while (*link) link = &(*link)->next;
    *link = c;
}

static void leave_line(caller *c)
{
    for (caller **link = &bucket.first; *link; link = &(*link)->next) {
        if (*link != c) continue;
        *link = c->next;
        return;
    }
}

/* True: the caller has a token. */
static bool acquire(rad_time until)
{
    caller me = {.granted = RAD_COND_INIT};
    int code = 0;
    rad_mutex_lock(&bucket.lock);
    if (bucket.tokens > 0 && !bucket.first) {
        bucket.tokens--;
        rad_mutex_unlock(&bucket.lock);
        return true;
    }
    join_line(&me);
    while (!me.has_token && code == 0) code = rad_cond_wait(&me.granted, &bucket.lock, until);
    leave_line(&me);
    bool got = fixed ? me.has_token : code == 0;
    rad_mutex_unlock(&bucket.lock);
    return got;
}

static int calls(void *arg)
{
    bool got = acquire(rad_after((uint64_t) * (int *)arg * MILLISECOND));
    rad_mutex_lock(&tally);
    used += got;
    refused += !got;
    rad_mutex_unlock(&tally);
    return 0;
}

static int refills(void *unused)
{
    rad_ticker ticker;
    int code = 0;
    (void)unused;
    rad_ticker_start(&ticker, MILLISECOND);
    for (int i = 0; i < REFILLS && code == 0; i++) {
        code = rad_ticker_wait(&ticker, NULL, RAD_FOREVER);
        refill();
    }
    return code;
}

static int start(void *unused)
{
    static int patience[CALLERS] = {1, 2, 5};
    rad_nursery n;
    (void)unused;
    rad_nursery_open(&n, RAD_FOREVER);
    for (int i = 0; i < CALLERS; i++) rad_nursery_go(&n, calls, &patience[i]);
    rad_nursery_go(&n, refills, NULL);
    int code = rad_nursery_wait(&n);
    CHECK(used + refused == CALLERS);
    CHECK(used + bucket.tokens == refilled); /* no token is lost, none is used twice */
    return code;
}
