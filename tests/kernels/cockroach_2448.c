/* cockroach#2448, two loops that send to each other.
 * The Raft loop sends each commit as an event to the store. For each event the store sends a callback to the Raft loop,
 * which takes callbacks only between two commits.
 * Goes wrong: the loop sends its second event while the store sends the first callback; each waits for the other. */
#include "kernel.h"

enum { COMMITS = 2 };

static rad_chan *commits, *events, *callbacks;

static int raft(void *unused)
{
    (void)unused;
    int called = 0;
    while (called < COMMITS) {
        rad_select_case cases[2] = {{.kind = RAD_ON_RECV, .on.chan = commits},
                                    {.kind = RAD_ON_RECV, .on.chan = callbacks}};
        int which = rad_select(cases, 2, RAD_FOREVER);
        called += which == 1;
        if (which != 0) continue;
        if (!fixed) {
            SEND(events);
            continue;
        }
        do { /* takes callbacks while it waits for the store */
            rad_select_case sends[2] = {{.kind = RAD_ON_SEND, .on.chan = events},
                                        {.kind = RAD_ON_RECV, .on.chan = callbacks}};
            which = rad_select(sends, 2, RAD_FOREVER);
            called += which == 1;
        } while (which != 0);
    }
    return 0;
}

static int store(void *unused)
{
    (void)unused;
    for (int i = 0; i < COMMITS; i++) {
        RECV(events);
        SEND(callbacks);
    }
    return 0;
}

static int start(void *unused)
{
    (void)unused;
    commits = signals(COMMITS);
    events = signals(0);
    callbacks = signals(0);
    for (int i = 0; i < COMMITS; i++) SEND(commits);
    GO(raft, NULL);
    GO(store, NULL);
    return 0;
}
