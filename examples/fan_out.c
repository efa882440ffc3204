/* fan_out.c — ask several at once, take the first good answers, do not wait for the rest: the deadline of a nursery
 * bounds everything in it, and cancelling it ends all that still run.
 *
 *     cc fan_out.c $(pkg-config --cflags --libs raddle) -o fan_out && ./fan_out */
#include <raddle.h>
#include <stdio.h>

enum { REPLICAS = 5, ENOUGH = 2, MS = 1000000 };

typedef struct question {
    rad_chan *answers;
    int replica;
    uint64_t takes_ns;
    int outcome; /* 1: answered; 2: was told to stop */
} question;

/* In place of a call over the network. A call that waits returns RAD_ECANCELED as soon as the result is not wanted any
 * more; then it is time to clean up and return. */
static int ask(void *arg)
{
    question *q = arg;
    int code = rad_sleep(q->takes_ns);
    if (code == RAD_ECANCELED) {
        q->outcome = 2;
        return 0; /* it was asked to; that is no failure */
    }
    q->outcome = 1;
    return rad_send(q->answers, &q->replica, 0) == 0 ? 0 : RAD_ELIMIT; /* there is room for all */
}

/* Asks all of them, until `enough` have answered or the deadline comes. How many did. */
static int ask_all(question *questions, int enough, rad_time deadline)
{
    rad_nursery n;
    rad_chan *answers;
    int got = 0, replica;
    if (rad_chan_create(&answers, sizeof(int), REPLICAS, RAD_CHAN_BLOCKS) != 0) return -1;
    rad_nursery_open(&n, deadline);
    for (int i = 0; i < REPLICAS; i++) {
        questions[i].answers = answers;
        rad_nursery_go(&n, ask, &questions[i]);
    }
    while (got < enough && rad_recv(answers, &replica, deadline) == 0) {
        printf("  replica %d has answered\n", replica);
        got++;
    }
    if (got == enough) rad_nursery_cancel(&n, 0); /* on purpose: the others are not needed */
    RAD_IGNORE(rad_nursery_wait(&n));             /* each outcome says more; after this `answers` is unused */
    rad_chan_destroy(answers);
    return got;
}

static int count(const question *questions, int outcome)
{
    int sum = 0;
    for (int i = 0; i < REPLICAS; i++) sum += questions[i].outcome == outcome;
    return sum;
}

static int start(void *unused)
{
    question fast[REPLICAS], slow[REPLICAS];
    (void)unused;
    for (int i = 0; i < REPLICAS; i++) {
        fast[i] = (question){.replica = i, .takes_ns = i < 2 ? (uint64_t)(i + 1) * 5 * MS : (uint64_t)3600 * 1000 * MS};
        slow[i] = (question){.replica = i, .takes_ns = (uint64_t)3600 * 1000 * MS};
    }
    printf("two answers are enough:\n");
    int got = ask_all(fast, ENOUGH, rad_after((uint64_t)60 * 1000 * MS));
    printf("  %d answers, %d stopped\n", got, count(fast, 2));
    printf("nobody answers in time:\n");
    int late = ask_all(slow, ENOUGH, rad_after(20 * MS));
    printf("  %d answers, %d stopped\n", late, count(slow, 2));
    return got == ENOUGH && late == 0 && count(slow, 2) == REPLICAS ? 0 : 1;
}

int main(void)
{
    return rad_main(NULL, start, NULL, NULL);
}
