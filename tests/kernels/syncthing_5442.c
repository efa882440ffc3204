/* syncthing#5442, a once inside of itself, by way of another fiber.
 * Closing a connection is done once: it gives the writer a last message, and waits until that was written or the
 * connection is closed. The writer takes messages from two channels, and closes the connection when one cannot be
 * written.
 * Goes wrong: the writer takes another message first, fails, and waits for the once, which waits for the writer. */
#include "kernel.h"

static rad_once closing, sending;
static rad_chan *messages, *last, *written, *closed;

static int closes(void *unused)
{
    (void)unused;
    rad_chan_close(closed, 0);
    return 0;
}

static int says_goodbye(void *unused)
{
    (void)unused;
    SEND(last);
    rad_select_case cases[] = {{.kind = RAD_ON_RECV, .on.chan = written}, {.kind = RAD_ON_RECV, .on.chan = closed}};
    RAD_IGNORE(rad_select(cases, 2, RAD_FOREVER));
    return fixed ? 0 : closes(NULL);
}

/* With a goodbye, or at once. The repair has a once for each. */
static void close_connection(bool politely)
{
    if (!fixed) {
        RAD_IGNORE(rad_once_run(&closing, politely ? says_goodbye : closes, NULL, RAD_FOREVER));
        return;
    }
    if (politely) RAD_IGNORE(rad_once_run(&sending, says_goodbye, NULL, RAD_FOREVER));
    RAD_IGNORE(rad_once_run(&closing, closes, NULL, RAD_FOREVER));
}

static int writes(void *unused)
{
    (void)unused;
    rad_select_case cases[] = {{.kind = RAD_ON_RECV, .on.chan = messages}, {.kind = RAD_ON_RECV, .on.chan = last}};
    if (rad_select(cases, 2, RAD_FOREVER) == 1)
        rad_chan_close(written, 0);
    else
        close_connection(false); /* the other side is gone: nothing can be written */
    return 0;
}

static int start(void *unused)
{
    (void)unused;
    messages = signals(1);
    last = signals(1);
    written = signals(0);
    closed = signals(0);
    SEND(messages);
    GO(writes, NULL);
    close_connection(true);
    return 0;
}
