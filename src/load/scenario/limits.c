/* limits.c — the bounds of a run unless a scenario says otherwise: those of the seed document where it has any. */
#include "load/scenario/scenario.h"

struct rad__load_limits rad__load_limits_defaults(void)
{
    return (struct rad__load_limits){
        .max_vus = 100000,
        .max_events = 1000000,
        .max_activations = 10000,
        .flush_ticks = 10000,
        .warn_ticks = 1000000,
        .timeout_ns = UINT64_C(30000000000), /* 30,000 ticks of 1 ms */
        .retry_ns = 10000000,
        .max_log_bytes = UINT64_C(10) << 30,
        .max_response_bytes = 10 << 20,
        .max_header_bytes = 64 << 10,
    };
}
