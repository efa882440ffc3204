/* log.h — the event log: a header that holds the scenario, then blocks of records.
 *
 *     header   64 bytes, the scenario as it was run (TOML), what the command line changed, a hash over all of it
 *     block    48 bytes, then records (record.h): whole turns, at least 64 KB unless it was time to flush
 *     end      a block without records; a log without it was cut off, and is good up to its last whole block
 *
 * Each block has a hash of itself and a chain: a hash of all blocks before it and of this one, so a block that is
 * changed, exchanged or left out is found, and told by number. Blocks are cut by what was written, not by the clock:
 * two equal runs have equal files. Little-endian throughout. There is no time of day in it.
 *
 * Version 2 cuts blocks between turns: what is left of a cut log ends with a whole turn, so that a replay and an
 * analysis of it are about the same turns. A block is as large as its last turn makes it; the engine holds all of
 * that turn in memory anyway. In version 1 blocks end inside turns, live logs are not flushed by time
 * (scheduler/scheduler.c), and an assertion without data holds (scheduler/end.c). Before version 3 idle users serve
 * arrivals in turn, and connections are opened when they are needed (scheduler/scheduler.c). A replay of an old log
 * does as it was done then. */
#ifndef RAD_LOAD_LOG_LOG_H
#define RAD_LOAD_LOG_LOG_H

#include "load/log/record.h"

enum {
    RAD__LOAD_LOG_VERSION = 3,
    RAD__LOAD_LOG_OLDEST = 1, /* that can be read and replayed */
    RAD__LOAD_BLOCK = 64 << 10,
    RAD__LOAD_LEVEL_SIMULATED = 1, /* the whole run can be repeated */
    RAD__LOAD_LEVEL_RECORDED = 2   /* it can be replayed; its plan can be repeated */
};

/* 64 bytes on disk, as they lie here. */
struct rad__load_log_header {
    uint8_t magic[8]; /* "RADLOAD\n" */
    uint32_t version;
    uint32_t size; /* of everything before the first block, its hash included */
    uint64_t seed, tick_ns;
    uint32_t scenario_size, changes_size; /* texts after these 64 bytes, each with its end */
    uint32_t shards;
    uint8_t level;
    uint8_t engine;   /* enum rad__load_engine_number */
    uint8_t stripped; /* 1: only inputs are in it */
    uint8_t reserved;
    uint8_t tool[16]; /* version of raddle */
};

enum rad__load_engine_number { RAD__LOAD_ENGINE_SIMULATED = 1, RAD__LOAD_ENGINE_EPOLL, RAD__LOAD_ENGINE_URING };

struct rad__load_block_header {
    uint32_t magic; /* "RBLK"; the end: "REND" */
    uint32_t size;  /* of the records */
    uint32_t records;
    uint32_t shard;
    uint64_t first; /* number of its first record: from 1, over all shards as they lie in the file */
    uint64_t head;  /* hash of the fields above: tells a damaged length from a file that was cut off */
    uint64_t hash;  /* of the records */
    uint64_t chain; /* of the chain before, `head` and `hash` */
};

/* ---- Writing ---------------------------------------------------------------------------------------------- */

/* Where whole pieces go. 0 or an error, which ends the run. */
typedef int rad__load_sink(void *context, const void *data, size_t size, rad_error *error);

typedef void rad__load_tap(void *context, const uint8_t *record, size_t size);

typedef struct rad__load_log {
    rad_bytes block; /* room for its header at the beginning */
    uint32_t version;
    uint32_t shard;
    uint32_t records;     /* in the block */
    uint64_t next_record; /* number of the next one */
    uint64_t chain;
    uint64_t written; /* bytes, all in all */
    uint64_t blocks;
    bool inputs_only;
    bool uncut; /* blocks end with a flush only */
    rad__load_sink *sink;
    void *context;
    rad__load_tap *tap; /* sees each record as it is written; may be NULL */
    void *tap_context;
    uint32_t record_start; /* in the block */
    int failed;            /* sticky */
    rad_error error;
} rad__load_log;

RAD_INTERNAL void rad__load_log_open(rad__load_log *log, rad__load_sink *sink, void *context);
/* Fills in what is the same for all logs of its version (0: the newest), and writes header and texts. */
RAD_INTERNAL int rad__load_log_begin(rad__load_log *log, struct rad__load_log_header header, const char *scenario,
                                     const char *changes);
RAD_INTERNAL void rad__load_log_turn(rad__load_log *log, const struct rad__load_turn_record *turn);
RAD_INTERNAL void rad__load_log_input(rad__load_log *log, const rad__load_input *input, uint64_t now_ns);
RAD_INTERNAL void rad__load_log_event(rad__load_log *log, const rad__load_event *event);
RAD_INTERNAL void rad__load_log_flush(rad__load_log *log); /* cuts the block, if there is anything in it */
RAD_INTERNAL int rad__load_log_end(rad__load_log *log);    /* flushes, writes the end */
RAD_INTERNAL void rad__load_log_close(rad__load_log *log);
/* A record that is ready, as another log had it (merging, stripping). */
RAD_INTERNAL void rad__load_log_raw(rad__load_log *log, const struct rad__load_raw *raw);

/* ---- Reading ---------------------------------------------------------------------------------------------- */

/* A log in memory (mapped, or read). */
typedef struct rad__load_log_reader {
    const char *name; /* in messages */
    const uint8_t *data;
    uint64_t size;
    struct rad__load_log_header header;
    const char *scenario, *changes;

    uint64_t at; /* the next block */
    struct rad__load_block_header block;
    rad_reader records;
    uint64_t record; /* number of the last one handed out */
    uint64_t chain, blocks;
    bool ended;               /* the end was there */
    bool cut_off;             /* it was not: the last block is not whole, or there is none */
    volatile const int *stop; /* becomes non-zero: RAD_EINTERRUPTED at the next block; may be NULL */
} rad__load_log_reader;

/* Whether these are the first bytes of a log, or none at all, without its whole header: nothing can be made of them. */
RAD_INTERNAL bool rad__load_log_is_stub(const void *data, size_t size);

/* RAD_EINPUT: no log, another version, damaged header; the message says what and where. */
RAD_INTERNAL int rad__load_log_read(rad__load_log_reader *r, const char *name, const void *data, size_t size,
                                    rad_error *error);
/* 1: the next record; 0: that was all (see ended, cut_off); RAD_EINPUT: damage, with the block and the record. */
RAD_INTERNAL int rad__load_log_next(rad__load_log_reader *r, struct rad__load_raw *raw, rad_error *error);

/* How much of a log there is. */
struct rad__load_extent {
    uint64_t turns, records;
    bool cut_off;
};

/* Reads all of it from its first block. RAD_EINPUT: damage. */
RAD_INTERNAL int rad__load_log_survey(const rad__load_log_reader *from, struct rad__load_extent *extent,
                                      rad_error *error);

#endif
