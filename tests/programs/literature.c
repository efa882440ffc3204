/* literature.c — programs with threads on which tools were compared (SCTBench, CHESS, Inspect), as plain C written from
 * their published descriptions: literature NAME [fixed] [THREADS]. Each fails by its own assertion, crash or deadlock.
 *
 * Published tools can switch threads at each access to memory. Where a bug needs that, the access is announced by
 * USES(variable), a wait on a semaphore that is never empty: one point, as the access itself would be. */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS_MAX = 128, NEVER_EMPTY = 1 << 30 };

static bool fixed;
static int threads;

static void used(sem_t *s)
{
    sem_wait(s);
}

/* Before the first decision. */
#define USES(variable)  used(&variable##_used)
#define BEGIN(variable) sem_init(&variable##_used, 0, NEVER_EMPTY)

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, l = PTHREAD_MUTEX_INITIALIZER, k = PTHREAD_MUTEX_INITIALIZER;

static void run(int count, void *(*const fns[])(void *), int kinds)
{
    pthread_t t[THREADS_MAX];
    for (int i = 0; i < count; i++) pthread_create(&t[i], NULL, fns[i < kinds ? i : kinds - 1], (void *)(intptr_t)i);
    for (int i = 0; i < count; i++) pthread_join(t[i], NULL);
}

/* ---- account: the check believes a balance that was never meant --------------------------------- */

static int balance = 1;
static bool deposited, withdrawn;

static void *deposits(void *arg)
{
    pthread_mutex_lock(&m);
    balance += 2;
    deposited = true;
    pthread_mutex_unlock(&m);
    return arg;
}

static void *withdraws(void *arg)
{
    pthread_mutex_lock(&m);
    balance -= 4;
    withdrawn = true;
    pthread_mutex_unlock(&m);
    return arg;
}

static void *checks_balance(void *arg)
{
    pthread_mutex_lock(&m);
    if (deposited && withdrawn) assert(balance == (fixed ? 1 + 2 - 4 : 1 - 2 - 4));
    pthread_mutex_unlock(&m);
    return arg;
}

static void account(void)
{
    run(3, (void *(*const[])(void *)){checks_balance, deposits, withdraws}, 3);
}

/* ---- carter01: two groups that keep each other out, counted under one lock ----------------------- */

static int group_a, group_b;

static void of_group(int *members, pthread_mutex_t *counts)
{
    pthread_mutex_lock(counts);
    if (++*members == 1) pthread_mutex_lock(&l);
    pthread_mutex_unlock(counts);
    pthread_mutex_lock(counts);
    if (--*members == 0) pthread_mutex_unlock(&l);
    pthread_mutex_unlock(counts);
}

static void *class_a(void *arg)
{
    of_group(&group_a, &m);
    return arg;
}

static void *class_b(void *arg)
{
    of_group(&group_b, fixed ? &k : &m);
    return arg;
}

static void carter01(void)
{
    run(2, (void *(*const[])(void *)){class_a, class_b}, 2);
}

/* ---- circular_buffer: a turn that is missed is a value that is never sent ------------------------ */

enum { LOG = 3 };

static int log_at[LOG], sent, received;
static bool may_send = true, may_receive;

static void *sends(void *arg)
{
    for (int i = 0; i < LOG; i++) {
        pthread_mutex_lock(&m);
        if (may_send) {
            log_at[sent] = fixed ? sent : i;
            sent++;
            may_send = false;
            may_receive = true;
        }
        pthread_mutex_unlock(&m);
    }
    return arg;
}

static void *receives(void *arg)
{
    for (int i = 0; i < LOG; i++) {
        pthread_mutex_lock(&m);
        if (may_receive) {
            assert(log_at[received] == (fixed ? received : i));
            received++;
            may_receive = false;
            may_send = true;
        }
        pthread_mutex_unlock(&m);
    }
    return arg;
}

static void circular_buffer(void)
{
    run(2, (void *(*const[])(void *)){sends, receives}, 2);
}

/* ---- deadlock01 ------------------------------------------------------------------------------------ */

static void *both(void *arg)
{
    bool other = arg != NULL && !fixed;
    pthread_mutex_lock(other ? &l : &m);
    pthread_mutex_lock(other ? &m : &l);
    balance++;
    pthread_mutex_unlock(&l);
    pthread_mutex_unlock(&m);
    return arg;
}

static void deadlock01(void)
{
    run(2, (void *(*const[])(void *)){both}, 1);
}

/* ---- lazy01 ---------------------------------------------------------------------------------------- */

static int data;

static void *adds(void *arg)
{
    pthread_mutex_lock(&m);
    data += 1 + (int)(intptr_t)arg;
    pthread_mutex_unlock(&m);
    return arg;
}

static void *looks(void *arg)
{
    pthread_mutex_lock(&m);
    assert(fixed ? data <= 3 : data < 3);
    pthread_mutex_unlock(&m);
    return arg;
}

static void lazy01(void)
{
    run(3, (void *(*const[])(void *)){adds, adds, looks}, 3);
}

/* ---- stack: it may be popped once something was pushed, so often as something was pushed ---------- */

enum { PUSHES = 3 };

static int top;
static bool pushed;

static void *pushes(void *arg)
{
    for (int i = 0; i < PUSHES; i++) {
        pthread_mutex_lock(&m);
        top++;
        pushed = true;
        pthread_mutex_unlock(&m);
    }
    return arg;
}

static void *pops(void *arg)
{
    for (int i = 0; i < PUSHES; i++) {
        pthread_mutex_lock(&m);
        if (fixed ? top > 0 : pushed) {
            assert(top > 0);
            top--;
        }
        pthread_mutex_unlock(&m);
    }
    return arg;
}

static void stack(void)
{
    run(2, (void *(*const[])(void *)){pushes, pops}, 2);
}

/* ---- token_ring: each takes its neighbour's value; equal only if they come in this order ---------- */

static int ring[3] = {1, 1, 1}, turns;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;

static void *takes(void *arg)
{
    int i = (int)(intptr_t)arg;
    pthread_mutex_lock(&m);
    while (fixed && turns != i) pthread_cond_wait(&turned, &m);
    ring[i] = (ring[(i + 2) % 3] + (i == 0)) % 4;
    turns++;
    pthread_cond_broadcast(&turned);
    pthread_mutex_unlock(&m);
    return arg;
}

static void token_ring(void)
{
    run(3, (void *(*const[])(void *)){takes}, 1);
    assert(ring[0] == ring[1] && ring[1] == ring[2]);
}

/* ---- wronglock: one of THREADS adds under another lock --------------------------------------------- */

static sem_t data_used;

static void *right_lock(void *arg)
{
    pthread_mutex_lock(&m);
    int seen = data;
    USES(data);
    data++;
    USES(data);
    assert(data == seen + 1);
    pthread_mutex_unlock(&m);
    return arg;
}

static void *wrong_lock(void *arg)
{
    pthread_mutex_t *lock = fixed ? &m : &l;
    pthread_mutex_lock(lock);
    USES(data);
    data++;
    pthread_mutex_unlock(lock);
    return arg;
}

static void wronglock(void)
{
    BEGIN(data);
    run(threads ? threads : 3, (void *(*const[])(void *)){right_lock, wrong_lock}, 2);
}

/* ---- reorder: THREADS - 1 set two variables, one looks at both ------------------------------------- */

static int a, b;
static sem_t a_used, b_used;

static void *sets(void *arg)
{
    if (fixed) pthread_mutex_lock(&m);
    USES(a);
    a = 1;
    USES(b);
    b = -1;
    if (fixed) pthread_mutex_unlock(&m);
    return arg;
}

static void *compares(void *arg)
{
    if (fixed) pthread_mutex_lock(&m);
    USES(a);
    int x = a;
    USES(b);
    int y = b;
    assert((x == 0 && y == 0) || (x == 1 && y == -1));
    if (fixed) pthread_mutex_unlock(&m);
    return arg;
}

static void reorder(void)
{
    void *(*fns[THREADS_MAX])(void *);
    int count = threads ? threads : 3;
    BEGIN(a);
    BEGIN(b);
    for (int i = 0; i < count; i++) fns[i] = i < count - 1 ? sets : compares;
    run(count, fns, count);
}

/* ---- twostage: THREADS write two variables under two locks, one after the other, but one reads; of
 * 20 and of 50, as published, ten --------------------------------------------------------------------- */

static int data1, data2;

static void *writes(void *arg)
{
    pthread_mutex_lock(&m);
    data1 = 1;
    if (!fixed) pthread_mutex_unlock(&m);
    if (!fixed) pthread_mutex_lock(&l);
    data2 = data1 + 1;
    pthread_mutex_unlock(fixed ? &m : &l);
    return arg;
}

static void *reads(void *arg)
{
    pthread_mutex_lock(&m);
    int first = data1;
    if (!fixed || first == 0) pthread_mutex_unlock(&m);
    if (first == 0) return arg;
    if (!fixed) pthread_mutex_lock(&l);
    int second = data2;
    pthread_mutex_unlock(fixed ? &m : &l);
    assert(second == first + 1);
    return arg;
}

static void twostage(void)
{
    void *(*fns[THREADS_MAX])(void *);
    int count = threads ? threads : 2, readers = count == 20 || count == 50 ? 10 : 1;
    for (int i = 0; i < count; i++) fns[i] = i < count - readers ? writes : reads;
    run(count, fns, count);
}

/* ---- stringbuffer-jdk1.4: its length is asked for, then as many characters ------------------------- */

static int length = 3;

static void *erases(void *arg)
{
    pthread_mutex_lock(&m);
    length = 0;
    pthread_mutex_unlock(&m);
    pthread_mutex_lock(&m);
    length += 3;
    pthread_mutex_unlock(&m);
    return arg;
}

static void *appends(void *arg)
{
    pthread_mutex_lock(&l); /* its own */
    pthread_mutex_lock(&m);
    int asked = length;
    if (!fixed) {
        pthread_mutex_unlock(&m);
        pthread_mutex_lock(&m);
    }
    assert(length >= asked);
    pthread_mutex_unlock(&m);
    pthread_mutex_unlock(&l);
    return arg;
}

static void stringbuffer(void)
{
    run(2, (void *(*const[])(void *)){erases, appends}, 2);
}

/* ---- bluetooth_driver: a request looks at the flag, then counts itself ----------------------------- */

static int pending = 1;
static bool stopping, idle, stopped;
static sem_t stopping_used, stopped_used;

static void leaves(void)
{
    pthread_mutex_lock(&m);
    if (--pending == 0) idle = true;
    pthread_mutex_unlock(&m);
}

static void enters(void)
{
    pthread_mutex_lock(&m);
    pending++;
    pthread_mutex_unlock(&m);
}

static void *requests(void *arg)
{
    if (fixed) enters();
    USES(stopping);
    if (!stopping) {
        if (!fixed) enters();
        USES(stopped);
        assert(!stopped);
    }
    leaves();
    return arg;
}

static void *stops(void *arg)
{
    USES(stopping);
    stopping = true;
    leaves();
    if (!idle) return arg;
    USES(stopped);
    stopped = true;
    return arg;
}

static void bluetooth_driver(void)
{
    BEGIN(stopping);
    BEGIN(stopped);
    run(2, (void *(*const[])(void *)){stops, requests}, 2);
}

/* ---- pbzip2 0.9.4: main gives the queue back while a consumer still unlocks it ----------------------- */

static struct fifo {
    pthread_mutex_t *mut;
    bool empty;
} * fifo;
static bool all_done;

static void *consumes(void *arg)
{
    for (;;) {
        pthread_mutex_lock(fifo->mut);
        bool ends = fifo->empty && all_done;
        pthread_mutex_unlock(fifo->mut);
        if (ends) return arg;
        sched_yield();
    }
}

static void pbzip2(void)
{
    pthread_t t;
    fifo = calloc(1, sizeof *fifo);
    fifo->mut = &m;
    pthread_create(&t, NULL, consumes, NULL);
    pthread_mutex_lock(fifo->mut);
    fifo->empty = all_done = true;
    pthread_mutex_unlock(fifo->mut);
    if (fixed) pthread_join(t, NULL);
    fifo->mut = NULL;
    if (!fixed) pthread_join(t, NULL);
}

/* ---- WorkStealQueue: Cilk's THE protocol, in which a push fills the last free slot ------------------ */

enum { ITEMS = 4, SLOTS = 64 };

static int head, tail, mask = 1, slots[SLOTS], done[ITEMS];
static sem_t head_used, tail_used, slots_used;

static int head_now(void)
{
    USES(head);
    return head;
}

static int tail_now(void)
{
    USES(tail);
    return tail;
}

static void set_head(int to)
{
    USES(head);
    head = to;
}

static void set_tail(int to)
{
    USES(tail);
    tail = to;
}

static int slot(int at)
{
    USES(slots);
    return slots[at & mask];
}

static void does(int item)
{
    if (item >= 0) done[item]++;
}

static int steal(void)
{
    int item = -1;
    pthread_mutex_lock(&m);
    int at = head_now();
    set_head(at + 1);
    if (at < tail_now())
        item = slot(at);
    else
        set_head(at);
    pthread_mutex_unlock(&m);
    return item;
}

static int pop(void)
{
    int item = -1, at = tail_now() - 1;
    set_tail(at);
    if (at >= head_now()) return slot(at);
    set_tail(at + 1);
    pthread_mutex_lock(&m);
    at = tail_now() - 1;
    set_tail(at);
    if (at >= head_now())
        item = slot(at);
    else
        set_tail(at + 1);
    if (at < head_now()) {
        set_head(0);
        set_tail(0);
    }
    pthread_mutex_unlock(&m);
    return item;
}

static void push(int item)
{
    int at = tail_now();
    if (at < head_now() + mask + (fixed ? 0 : 1)) {
        USES(slots);
        slots[at & mask] = item;
        set_tail(at + 1);
        return;
    }
    pthread_mutex_lock(&m);
    int first = head_now(), count = tail_now() - first, wider[SLOTS];
    if (count >= mask) { /* twice the slots */
        for (int i = 0; i < count; i++) wider[i] = slots[(first + i) & mask];
        memcpy(slots, wider, (size_t)count * sizeof *slots);
        mask = 2 * mask + 1;
        set_head(0);
        set_tail(count);
    }
    at = tail_now();
    slots[at & mask] = item;
    set_tail(at + 1);
    pthread_mutex_unlock(&m);
}

static void *steals(void *arg)
{
    for (int i = 0; i < 2; i++) does(steal());
    return arg;
}

static void wsq(void)
{
    pthread_t t;
    BEGIN(head);
    BEGIN(tail);
    BEGIN(slots);
    pthread_create(&t, NULL, steals, NULL);
    for (int i = 0; i < ITEMS; i++) {
        push(i);
        if (i % 2 == 1) does(pop());
    }
    for (int i = 0; i < ITEMS / 2; i++) does(pop());
    pthread_join(t, NULL);
    for (int i = 0; i < ITEMS; i++) assert(done[i] == 1);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = {{"account", account},
               {"carter01", carter01},
               {"circular_buffer", circular_buffer},
               {"deadlock01", deadlock01},
               {"lazy01", lazy01},
               {"stack", stack},
               {"token_ring", token_ring},
               {"wronglock", wronglock},
               {"reorder", reorder},
               {"twostage", twostage},
               {"stringbuffer", stringbuffer},
               {"bluetooth_driver", bluetooth_driver},
               {"pbzip2", pbzip2},
               {"WorkStealQueue", wsq}};
    for (int i = 2; i < argc; i++) {
        fixed |= strcmp(argv[i], "fixed") == 0;
        int number = 0;
        for (const char *d = argv[i]; *d >= '0' && *d <= '9' && number < THREADS_MAX; d++)
            number = 10 * number + (*d - '0');
        if (number > 0 && number <= THREADS_MAX) threads = number;
    }
    for (size_t i = 0; argc > 1 && i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].name, argv[1]) == 0) {
            all[i].run();
            return 0;
        }
    return 2;
}
