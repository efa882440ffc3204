#include "fibers.h"

void bench_must(int code)
{
    if (code < 0) bench_fail("a call of the runtime failed");
}

rad_chan *bench_chan(size_t size, size_t capacity)
{
    rad_chan *c;
    bench_must(rad_chan_create(&c, size, capacity, RAD_CHAN_BLOCKS));
    return c;
}

typedef struct root {
    const bench_load *load;
    uint64_t size;
    uint32_t samples;
    bench_measured *into;
} root;

static int root_main(void *arg)
{
    root *r = arg;
    r->load->inside(NULL, r->load->tiny);
    for (uint32_t i = 0; i < r->samples; i++) r->into[i] = r->load->inside(NULL, r->size);
    return 0;
}

void bench_fibers_measure(const rad_options *options, const bench_load *l, uint64_t size, uint32_t samples,
                          bench_measured *into)
{
    rad_runtime *rt;
    rad_error error = {0};
    if (rad_runtime_create(&rt, options, &error) != 0) bench_fail(error.text);
    root r = {l, size, samples, into};
    if (l->inside != NULL) {
        bench_must(rad_runtime_spawn(rt, NULL, root_main, &r));
    } else {
        l->outside(rt, l->tiny);
        for (uint32_t i = 0; i < samples; i++) into[i] = l->outside(rt, size);
    }
    rad_runtime_destroy(rt); /* waits for all fibers */
}
