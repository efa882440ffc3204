/* leak.c — the first answer is taken; who sends the second one waits for ever, for nobody receives any more. */
#include "planted.h"

static rad_chan *answers;

static int ask(void *arg)
{
    int answer = arg != NULL;
    return rad_send(answers, &answer, RAD_FOREVER);
}

static int start(void *arg)
{
    rad_nursery n;
    int first = 0;
    (void)arg;
    if (rad_chan_create(&answers, sizeof(int), fixed ? 2 : 0, RAD_CHAN_BLOCKS) != 0) return 1;
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_go(&n, ask, NULL);
    rad_nursery_go(&n, ask, &first);
    int code = rad_recv(answers, &first, RAD_FOREVER);
    int waited = rad_nursery_wait(&n);
    return code ? code : waited;
}
