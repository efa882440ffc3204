/* simulated.h — the target that is none: latency, loss, errors, limits and stalls, drawn from the seed.
 *
 * Time is logical and moves in whole ticks, straight to the next one in which something happens. What becomes of a
 * request is decided when it is sent, by draws keyed like all others, so it does not depend on what other users do,
 * unless the scenario limits workers or connections. */
#ifndef RAD_LOAD_SCHEDULER_SIMULATED_H
#define RAD_LOAD_SCHEDULER_SIMULATED_H

#include "load/log/turn.h"
#include "load/scheduler/random.h"

/* What becomes of a request. */
struct rad__load_outcome {
    enum rad__load_fault fault; /* RAD__LOAD_OK: an answer */
    bool lost;                  /* nothing comes back, ever */
    uint32_t status;
    uint64_t latency_ns, body_bytes, connect_ns;
    bool refused; /* the connection, when one is opened */
};

/* *e is closed by its kind. `users`: how many there are at most; `conns`: the same. */
RAD_INTERNAL int rad__load_simulated_open(rad__load_engine **e, const rad__load_scenario *scenario, uint64_t seed,
                                          uint32_t shard, uint32_t shards, uint32_t users, uint32_t conns,
                                          rad_error *error);

/* The value of a curve at a share (ppm, below a million), by straight lines between its points. */
RAD_INTERNAL uint64_t rad__load_curve_at(const struct rad__load_curve *curve, uint32_t share_ppm);

/* When work that begins at `start` and takes `length` is done, if nothing happens in the last stall of each period. */
RAD_INTERNAL uint64_t rad__load_through_stalls(uint64_t start, uint64_t length, uint64_t every, uint64_t stall);

#endif
