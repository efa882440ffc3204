/* fibers.h — what the benches of fibers share: a runtime whose first fiber is the root of a workload. */
#ifndef BENCH_FIBERS_H
#define BENCH_FIBERS_H

#include "loads.h"

#include <raddle.h>

/* Ends the program when a call of the runtime has failed. */
void bench_must(int code);

rad_chan *bench_chan(size_t size, size_t capacity);

/* As bench_loads.measure, with such a runtime. */
void bench_fibers_measure(const rad_options *options, const bench_load *l, uint64_t size, uint32_t samples,
                          bench_measured *into);

#endif
