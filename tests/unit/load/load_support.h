/* load_support.h — what the tests of the load tester share: a small scenario made by hand, runs, and their logs. */
#ifndef RAD_TEST_LOAD_SUPPORT_H
#define RAD_TEST_LOAD_SUPPORT_H

#include "load/replay/replay.h"
#include "load/scheduler/run.h"
#include "load/scheduler/simulated.h"

/* A scenario whose parts can be changed before it is run. */
typedef struct load_scene {
    rad__load_scenario s;
    struct rad__load_stage stages[4];
    struct rad__load_request requests[4];
    struct rad__load_target targets[2];
    struct rad__load_step steps[4];
    struct rad__load_assertion assertions[4];
    struct rad__load_point connect[2], latency[4], body[2];
} load_scene;

#define MS UINT64_C(1000000)
#define S  UINT64_C(1000000000)

/* `users` users for `seconds`, one request in a loop, answered after 20 ms; tick 1 ms. */
void load_scene_make(load_scene *scene, uint32_t users, uint64_t seconds);
void load_scene_open(load_scene *scene, uint32_t users, uint64_t rate, uint64_t seconds); /* arrivals */

/* A run on the simulated target, all of it. */
typedef struct load_trial {
    rad__load_scheduler scheduler;
    rad__load_log log;
    rad__load_engine *engine;
    rad_bytes file; /* what it wrote */
} load_trial;

void load_trial_begin(load_trial *t, const rad__load_scenario *s, uint64_t seed);
/* The same, with a log as an older raddle wrote it. */
void load_trial_begin_as(load_trial *t, const rad__load_scenario *s, uint64_t seed, uint32_t version);
void load_trial_turn(load_trial *t); /* one */
void load_trial_run(load_trial *t);  /* to the end */
void load_trial_end(load_trial *t);  /* frees it */

/* Events of one kind in the log, in order. */
uint32_t load_events(const load_trial *t, uint32_t kind, rad__load_event *events, uint32_t max);

rad__load_log_reader load_reader(const rad_bytes *file);

/* Has to be the same; fails the test with what differs. */
void load_verified(const load_trial *t);

#endif
