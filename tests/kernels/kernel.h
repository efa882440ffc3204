/* kernel.h — what the kernels in this directory share: `main`, and a few short forms.
 *
 *     ./kernel              the program with the bug
 *     ./kernel fixed        the same program with the repair
 *     ./kernel [fixed] 4    on four workers; 1 to 9
 *
 * A kernel defines `start`, the first fiber. It returns 0 if all is well. Channels live until the process ends. */
#ifndef KERNEL_H
#define KERNEL_H

#undef NDEBUG
#include <assert.h>
#include <raddle.h>
#include <stdlib.h>
#include <string.h>

static bool fixed;

static int start(void *unused);

/* A wrong result ends the program. */
#define CHECK(condition) assert(condition)

/* Macros, so that a report names the line of the kernel. */
#define GO(fn, arg) CHECK(rad_spawn(NULL, fn, arg) == 0)
#define SEND(chan)  RAD_IGNORE(rad_send(chan, NULL, RAD_FOREVER)) /* on a channel of signals */
#define RECV(chan)  RAD_IGNORE(rad_recv(chan, NULL, RAD_FOREVER))

static inline rad_chan *channel(size_t size, size_t capacity)
{
    rad_chan *chan = NULL;
    CHECK(rad_chan_create(&chan, size, capacity, RAD_CHAN_BLOCKS) == 0);
    return chan;
}

static inline rad_chan *signals(size_t capacity)
{
    return channel(0, capacity);
}

int main(int argc, char **argv)
{
    rad_options options = {0};
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "fixed") == 0)
            fixed = true;
        else
            options.workers = (uint32_t)(argv[i][0] - '0');
    return rad_main(&options, start, NULL, NULL);
}

#endif
