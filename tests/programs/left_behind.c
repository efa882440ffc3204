/* left_behind.c — a query asks two servers and takes the first answer. The other server's fiber waits for ever to give
 * its own (with -DSERVERS=9 eight do), on a channel that nobody else knows any more; the program works on meanwhile. */
#include "planted.h"

#ifndef SERVERS
#define SERVERS 2
#endif

typedef struct question {
    rad_chan *answers;
    int server;
} question;

static int ask(void *arg)
{
    question *q = arg;
    int answer = q->server;
    rad_chan *to = q->answers;
    free(q);
    return rad_send(to, &answer, RAD_FOREVER);
}

__attribute__((noinline)) static int query(void)
{
    rad_chan *answers;
    int answer = -1;
    if (rad_chan_create(&answers, sizeof(int), fixed ? SERVERS : 0, RAD_CHAN_BLOCKS) != 0) return -1;
    for (int i = 0; i < SERVERS; i++) {
        question *q = malloc(sizeof *q);
        *q = (question){answers, i};
        if (rad_spawn(NULL, ask, q) != 0) return -1;
    }
    if (rad_recv(answers, &answer, RAD_FOREVER) != 0) return -1;
    return answer;
}

static int start(void *arg)
{
    (void)arg;
    if (query() < 0) return 1;
    for (int i = 0; i < 20; i++) rad_yield();
    return 0;
}
