/* z6.h — Z6's event log, version 1, written from a log of ours and read into statistics.
 *
 * The layout is that of Z6's source, where its documents disagree. Little-endian:
 *
 *     header   64 bytes: magic u64 0x5a3645565420, version u16 = 1, 6 zero, seed u64, SHA-256 of the scenario, 8 zero
 *     record   272 bytes: tick u64, user u32, type u16, 2 zero, 8 zero, payload 240, checksum u64
 *     footer   64 bytes: number of records u64, SHA-256 of everything before it, 24 zero
 *
 * The checksum is two CRC-32, as in Z6's source: of bytes 0 … 263 in the upper half, of 64 … 263 in the lower one. 0
 * means that none was computed, as Z6's scheduler writes it; so does a SHA-256 of zeros. Records are ordered by (tick,
 * user), those of one user as they happened; what belongs to nobody comes last in its tick (user 2^32 - 1).
 *
 * Out: events of kinds Z6 knows. An error becomes the type of its group (error_tcp, …), with its name as text. Late
 * answers, long waits, dropped arrivals and phases have no place there; a request is identified by (user << 32 |
 * number). A connection is told after the request that asked for it, as it happens here.
 * In: everything; a scenario is made up of the requests that are in the file. How long a tick is, it does not say. */
#ifndef RAD_LOAD_REPORT_Z6_H
#define RAD_LOAD_REPORT_Z6_H

#include "base/crc32.h"
#include "load/log/log.h"
#include "load/report/result.h"

enum {
    RAD__LOAD_Z6_HEADER = 64,
    RAD__LOAD_Z6_RECORD = 272,
    RAD__LOAD_Z6_FOOTER = 64,
    RAD__LOAD_Z6_PAYLOAD = 24, /* where it begins */
    RAD__LOAD_Z6_CHECKSUM = 264,
    RAD__LOAD_Z6_TEXT = 200,     /* at most, with its end */
    RAD__LOAD_Z6_TYPES = 21,     /* kinds 0 … 20 of event.h */
    RAD__LOAD_Z6_MOST = 10000000 /* records: Z6 reads no more */
};

#define RAD__LOAD_Z6_MAGIC UINT64_C(0x5a3645565420)

/* Numbers in a record, little-endian whatever the machine is. */
static inline void rad__load_z6_put(uint8_t *at, uint64_t value, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++) at[i] = (uint8_t)(value >> 8 * i);
}

static inline uint64_t rad__load_z6_get(const uint8_t *at, uint32_t bytes)
{
    uint64_t value = 0;
    for (uint32_t i = 0; i < bytes; i++) value |= (uint64_t)at[i] << 8 * i;
    return value;
}

RAD_INTERNAL uint64_t rad__load_z6_checksum(const rad_crc32 *crc, const uint8_t *record);

/* Writes the whole file. *records (may be NULL): how many there are in it. RAD_ELIMIT: more than Z6 reads. A log that
 * was cut off is exported as far as it goes. */
RAD_INTERNAL int rad__load_z6_export(const rad__load_log_reader *from, const rad__load_scenario *scenario,
                                     rad__load_sink *sink, void *context, uint64_t *records, rad_error *error);

RAD_INTERNAL bool rad__load_z6_is(const void *data, size_t size);

/* Into a result that is all zero: scenario and statistics. RAD_EINPUT: damage, or what cannot have happened, with the
 * number of the record, from 1. A file without footer is read, and is `cut_off`. */
RAD_INTERNAL int rad__load_z6_import(rad_load_result *r, const char *name, const void *data, size_t size,
                                     uint64_t tick_ns, rad_error *error);

#endif
