/* result.h — what is left of a run, or of the analysis of its log: statistics, and what they are about. */
#ifndef RAD_LOAD_REPORT_RESULT_H
#define RAD_LOAD_REPORT_RESULT_H

#include "load/scheduler/scheduler.h"

#include <raddle/load.h>

struct rad_load_scenario {
    rad__load_scenario s;
    char *text; /* as it was read: goes into logs */
    char *path;
};

struct rad_load_result {
    rad__load_scenario scenario; /* its own copy, read again from the text: outlives whatever it came from */
    char *text;
    rad__load_metrics metrics;
    struct rad__load_counters counters; /* of a run or a replay; zero after an analysis */
    uint64_t seed;
    uint32_t shards;
    uint8_t level;  /* RAD__LOAD_LEVEL_…; 0: not a log of ours */
    uint8_t engine; /* enum rad__load_engine_number */
    enum rad_load_end end;
    bool cut_off, filtered; /* filtered: statistics are of a part of the log */

    /* 0: not known */
    uint64_t log_bytes, memory_bytes;
    uint32_t connections_most; /* at the same time */
    uint64_t under_way;        /* requests without an end, of a log that was cut off */
    uint64_t records;          /* of a log that was read */
    uint64_t chain;            /* hash of all of it: two that are equal are the same log */
};

/* Takes the statistics and counters of a run that is over out of its scheduler; those of another shard are added.
 * False: memory ran out. The metrics have to be about r->scenario, or about one that is equal to it. */
RAD_INTERNAL bool rad__load_result_take(rad_load_result *r, rad__load_scheduler *c);

struct rad__load_verdict_of {
    uint32_t held, made;
};

/* How many assertions hold; none are looked at when statistics are of a part of a log. */
RAD_INTERNAL struct rad__load_verdict_of rad__load_result_assertions(const rad_load_result *r);

enum { RAD__LOAD_WHY = 512 };

/* Whether there is no response to judge the run by, and why: "no response: 4,213 requests sent: 4,213
 * ConnectionRefused". False, and "", also when statistics are of a part of a log. */
RAD_INTERNAL bool rad__load_result_no_data(const rad_load_result *r, char why[RAD__LOAD_WHY]);

/* A result with nothing in it yet, about a scenario given as text. */
RAD_INTERNAL int rad__load_result_open(rad_load_result **r, const char *name, const char *text, rad_error *error);

#endif
