/* tour_fibers.c — the tour's part on fibers: a hundred thousand of them, in this process. */
#include "os/clock.h"
#include "tour.h"

#include <raddle.h>

enum { FAN = 10, LEAVES = 100000 };

/* A fiber that has one leaf below it sends its number; any other spawns ten, and sends the sum of what they send. */
typedef struct branch {
    rad_chan *up;
    uint64_t first, leaves;
} branch;

static int grow(void *arg)
{
    branch *b = arg;
    uint64_t sum = b->first;
    if (b->leaves > 1) {
        branch below[FAN];
        rad_chan *chan;
        int code = rad_chan_create(&chan, sizeof sum, FAN, RAD_CHAN_BLOCKS);
        if (code != 0) return code;
        sum = 0;
        for (uint64_t i = 0; i < FAN && code == 0; i++) {
            below[i] = (branch){chan, b->first + i * (b->leaves / FAN), b->leaves / FAN};
            code = rad_spawn(NULL, grow, &below[i]);
            if (code != 0) return code; /* the tour ends here, and all fibers with it */
        }
        for (int i = 0; i < FAN; i++) {
            uint64_t part = 0;
            code = rad_recv(chan, &part, RAD_FOREVER);
            if (code != 0) return code;
            sum += part;
        }
        rad_chan_destroy(chan);
    }
    return rad_send(b->up, &sum, RAD_FOREVER);
}

static int tree(void *arg)
{
    uint64_t *sum = arg;
    branch root = {NULL, 0, LEAVES};
    int code = rad_chan_create(&root.up, sizeof *sum, 1, RAD_CHAN_BLOCKS);
    if (code == 0) code = rad_spawn(NULL, grow, &root);
    if (code == 0) code = rad_recv(root.up, sum, RAD_FOREVER);
    if (code == 0) rad_chan_destroy(root.up);
    return code;
}

int tour_fibers(cli *c)
{
    uint64_t sum = 0, wanted = (uint64_t)LEAVES * (LEAVES - 1) / 2;
    rad_error error = {.code = 0};
    uint64_t begin = rad__os_now_ns();
    int code = rad_main(NULL, tree, &sum, &error);
    if (code != 0) {
        if (error.code == 0) error = (rad_error){code, "a fiber could not be made, or waited in vain"};
        return complain_error(c, &error);
    }
    if (sum != wanted) return tour_not_as_told(c, "the fibers added up to something else");
    out(c,
        "   111,111 fibers, each with a stack of its own, summed 100,000 numbers over channels: "
        "%.0f ms\n",
        (double)(rad__os_now_ns() - begin) * 1e-6);
    return 0;
}
