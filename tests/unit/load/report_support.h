/* report_support.h — what the tests of results share: scenes with everything in them, and results of runs and logs. */
#ifndef RAD_TEST_REPORT_SUPPORT_H
#define RAD_TEST_REPORT_SUPPORT_H

#include "load/report/analyze.h"
#include "load_support.h"

/* Faults of all kinds, think time, warm-up, three requests, checks, four assertions of which two fail. */
void report_scene_rich(load_scene *scene, uint32_t users, uint64_t seconds);
/* The same as arrivals; more of them than the users can serve. */
void report_scene_rich_open(load_scene *scene, uint32_t users, uint64_t rate, uint64_t seconds);

/* A result about a copy of the scenario, empty. rad_load_result_free it. */
rad_load_result *report_empty(const rad__load_scenario *s);
/* Of a trial that was run: takes its statistics. */
rad_load_result *report_of_run(load_trial *t);
/* Of a log; fails the test when it cannot be analysed. */
rad_load_result *report_of_log(const rad_bytes *file, const rad__load_scenario *s, const char *filter);
/* What is said when it cannot. */
void report_refused(const rad_bytes *file, const rad__load_scenario *s, rad_error *error);

/* All figures of both have to be equal. */
void report_same(const rad_load_result *a, const rad_load_result *b);

char *report_text(const rad_load_result *r, enum rad_load_form form);

/* A log of n shards, one run after the other. */
void report_shards(const rad__load_scenario *s, uint64_t seed, uint32_t shards, rad_bytes *file, rad_load_result *r);

#endif
