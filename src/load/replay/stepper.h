/* stepper.h — a log turn by turn, forward and back. Going back is going forward from the last snapshot before. */
#ifndef RAD_LOAD_REPLAY_STEPPER_H
#define RAD_LOAD_REPLAY_STEPPER_H

#include "load/replay/replay.h"

enum { RAD__LOAD_SNAPSHOTS = 32 };

/* A place to go on from. */
struct rad__load_snapshot {
    rad__load_scheduler scheduler;
    rad__load_log_reader reader;
    uint64_t now_ns, turns;
    uint64_t written; /* by the log until then, and what stands in its block: its limit may end the run */
    uint32_t block_size, block_records;
};

typedef struct rad__load_stepper {
    rad__load_replayer r;
    struct rad__load_snapshot snapshots[RAD__LOAD_SNAPSHOTS]; /* ascending; the first is before the first turn */
    uint32_t count;
    uint64_t apart;    /* turns between two of them: doubles when there is no more room */
    rad_bytes records; /* text of what the last turn wrote */
    bool ended;
} rad__load_stepper;

/* As rad__load_replayer_open. `s` must stay where it is. */
RAD_INTERNAL int rad__load_stepper_begin(rad__load_stepper *s, const rad__load_log_reader *from,
                                         const rad__load_scenario *scenario, uint32_t shard, rad_error *error);
RAD_INTERNAL void rad__load_stepper_end(rad__load_stepper *s);
RAD_INTERNAL int rad__load_stepper_go(rad__load_stepper *s, uint64_t turn, rad_error *error);
RAD_INTERNAL void rad__load_stepper_describe(const rad__load_stepper *s, rad_bytes *to);

#endif
