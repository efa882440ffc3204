/* replay.h — a log again, without the world: inputs go in, and what comes out has to be what is in the log.
 *
 * Only input records are read. The run writes a log as it did the first time, which is compared with the file byte by
 * byte; the first record that differs is reported by number. A log that was cut off is replayed as far as it goes; one
 * whose outputs were taken out (strip) becomes whole again. */
#ifndef RAD_LOAD_REPLAY_REPLAY_H
#define RAD_LOAD_REPLAY_REPLAY_H

#include "load/scheduler/scheduler.h"

/* One shard of a log, turn by turn. */
typedef struct rad__load_replayer {
    rad__load_log_reader reader;
    rad__load_scheduler scheduler;
    rad__load_log log;
    uint32_t shard;
    uint64_t now_ns, turns;
    uint64_t first_record, last_record; /* of the turn that was taken last: its first and its last input */
    rad__load_input *inputs;
    uint32_t input_capacity;
} rad__load_replayer;

/* The scenario is that of the log (rad__load_scenario_parse of reader.scenario), and stays the caller's, as does the
 * data. What the run writes goes to `sink`. */
RAD_INTERNAL int rad__load_replayer_open(rad__load_replayer *r, const rad__load_log_reader *from,
                                         const rad__load_scenario *scenario, uint32_t shard, rad__load_sink *sink,
                                         void *context, rad_error *error);
RAD_INTERNAL void rad__load_replayer_close(rad__load_replayer *r);

/* 1: a turn; 0: the run is over, or there are no more inputs. RAD_EINPUT: damage, or inputs that cannot be. */
RAD_INTERNAL int rad__load_replayer_step(rad__load_replayer *r, rad_error *error);

/* Ends what the run writes, as the file is ended. */
RAD_INTERNAL int rad__load_replayer_finish(rad__load_replayer *r, rad_error *error);

struct rad__load_verdict {
    uint64_t turns, records; /* that were replayed, and are in the file */
    bool same;
    bool cut_off;    /* the file ends without its end */
    bool over;       /* the run came to its end */
    bool unfinished; /* it came not, in a shard that began; or none began */
    uint64_t record; /* the first that differs; 0: another difference */
    char text[512];  /* what it is */
    struct rad__load_counters counters;
};

/* The whole log anew, all shards of it, into `sink`; sets turns and over. `metrics` may be NULL; the caller closes
 * it. */
RAD_INTERNAL int rad__load_regenerate(const rad__load_log_reader *from, const rad__load_scenario *scenario,
                                      rad__load_sink *sink, void *context, struct rad__load_verdict *verdict,
                                      rad__load_metrics *metrics, rad_error *error);

/* Replays the whole file. 0 also when it differs: the verdict tells. */
RAD_INTERNAL int rad__load_verify(const rad__load_log_reader *from, const rad__load_scenario *scenario,
                                  struct rad__load_verdict *verdict, rad__load_metrics *metrics, rad_error *error);

#endif
