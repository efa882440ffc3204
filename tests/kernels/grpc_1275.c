/* grpc-go#1275, a close that does not wake the reader.
 * A reader waits for the next message of a stream. Closing the stream forgets to put an end into the reader's buffer,
 * and afterwards the transport delivers nothing.
 * Goes wrong: the reader waits forever, and so does the fiber that waits for it, if the close comes before the
 * message. */
#include "kernel.h"

enum { END = -1, MESSAGE = 7 };

static rad_mutex stream = RAD_MUTEX_INIT;
static bool closed;
static rad_chan *buffer, *reader_done;

static int reads(void *unused)
{
    (void)unused;
    int got = 0;
    RAD_IGNORE(rad_recv(buffer, &got, RAD_FOREVER));
    CHECK(got == END || got == MESSAGE);
    rad_chan_close(reader_done, 0);
    return 0;
}

static void deliver(int message, bool and_close)
{
    rad_mutex_lock(&stream);
    if (!closed && message != 0) RAD_IGNORE(rad_send(buffer, &message, RAD_FOREVER));
    if (and_close) closed = true;
    rad_mutex_unlock(&stream);
}

static int transport(void *unused)
{
    (void)unused;
    deliver(MESSAGE, false);
    return 0;
}

static int start(void *unused)
{
    (void)unused;
    buffer = channel(sizeof(int), 2);
    reader_done = signals(0);
    GO(reads, NULL);
    GO(transport, NULL);
    deliver(fixed ? END : 0, true); /* CloseStream */
    RECV(reader_done);
    return 0;
}
