/* crossed_queues.c — a client and a server with a queue of one message in each direction. Both send all they have
 * before they receive: when both queues are full each waits for the other one. */
#include "planted.h"

static rad_chan *requests, *replies;

static int client(void *arg)
{
    int message = 0, code = 0;
    (void)arg;
    for (int i = 0; code == 0 && i < 2; i++) {
        code = rad_send(requests, &message, RAD_FOREVER);
        if (code == 0 && fixed) code = rad_recv(replies, &message, RAD_FOREVER);
    }
    for (int i = 0; code == 0 && !fixed && i < 3; i++) code = rad_recv(replies, &message, RAD_FOREVER);
    return code;
}

static int server(void *arg)
{
    int message = 0, code = 0;
    (void)arg;
    if (!fixed) code = rad_send(replies, &message, RAD_FOREVER); /* a greeting */
    for (int i = 0; code == 0 && i < 2; i++) {
        code = rad_send(replies, &message, RAD_FOREVER);
        if (code == 0) code = rad_recv(requests, &message, RAD_FOREVER);
    }
    return code;
}

static int start(void *arg)
{
    (void)arg;
    if (rad_chan_create(&requests, sizeof(int), 1, RAD_CHAN_BLOCKS) != 0 ||
        rad_chan_create(&replies, sizeof(int), 1, RAD_CHAN_BLOCKS) != 0)
        return 1;
    return both(client, server);
}
