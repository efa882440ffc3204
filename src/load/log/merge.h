/* merge.h — the logs of shards that ran side by side, as one.
 *
 * Whole blocks are taken over, in the order of the time at which they end; of equal ones the lower shard's comes first.
 * The order depends on what is in the logs only: equal runs have equal merged logs. */
#ifndef RAD_LOAD_LOG_MERGE_H
#define RAD_LOAD_LOG_MERGE_H

#include "load/log/log.h"

/* Shard i's log is parts[i], which is read to its end. Their headers are the same, and become that of the merged log.
 * The end is written unless one of them was cut off. RAD_EINPUT: damage; RAD_ENOMEM; or what the sink says. */
RAD_INTERNAL int rad__load_merge(rad__load_log_reader *parts, uint32_t count, rad__load_sink *sink, void *context,
                                 rad_error *error);

#endif
