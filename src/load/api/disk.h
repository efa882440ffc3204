/* disk.h — the log's way to the disk: a ring in memory, and a thread that empties it.
 *
 * A run on a real server must not wait for a disk: latency would be measured that the server has not caused. When the
 * ring is more than half full the run is told (`behind`), and begins nothing new until there is room; when it is full
 * for longer than the disk is given, the run ends, and what was written is a log that was cut off. */
#ifndef RAD_LOAD_API_DISK_H
#define RAD_LOAD_API_DISK_H

#include "base/check.h"

typedef struct rad__load_disk rad__load_disk;

RAD_INTERNAL int rad__load_disk_open(rad__load_disk **d, const char *path, uint32_t ring_bytes, uint64_t patience_ns,
                                     rad_error *error);
/* A sink of the log (log.h); `context` is the disk. */
RAD_INTERNAL int rad__load_disk_put(void *context, const void *data, size_t size, rad_error *error);
RAD_INTERNAL bool rad__load_disk_is_behind(const rad__load_disk *d);
/* Everything is written and synced, or the error says why not. `d` may be NULL. */
RAD_INTERNAL int rad__load_disk_close(rad__load_disk *d, rad_error *error);

#endif
