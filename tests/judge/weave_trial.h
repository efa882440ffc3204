/* weave_trial.h — one weave on trial: its case, all its schedules, and what the lab makes of it. */
#ifndef RADDLE_TESTS_WEAVE_TRIAL_H
#define RADDLE_TESTS_WEAVE_TRIAL_H

#include "weave_brute.h"

struct weave_trial {
    struct weave_case c;
    struct weave w;
    struct weave_book b;
    rad_target t;
};

/* What to draw: weaves with 2 to `limit` schedules. */
enum { WEAVE_FEW = 200, WEAVE_SOME = 1200, WEAVE_MANY = 3000 };

/* `count` times RADDLE_STRESS (1). */
uint32_t weave_times(uint32_t count);

/* The next weave with 2 to `limit` schedules that crashes, or does not. *at counts the seeds that were tried;
 * RADDLE_STRESS_SEED (1) says where they begin. */
void weave_draw(struct weave_trial *trial, uint32_t *at, uint32_t limit, bool crashing);
/* The next one that spins, and in which somebody is held back for that. */
void weave_draw_spinning(struct weave_trial *trial, uint32_t *at, uint32_t limit);
/* The next one in which that is a loop that ends by itself. */
void weave_draw_trying(struct weave_trial *trial, uint32_t *at, uint32_t limit);
/* All its schedules with this many spin rounds; false: these are more than the limit. */
bool weave_spin_on(struct weave_trial *trial, uint8_t rounds, uint32_t limit);
/* The one with this seed and parameter `fixed`, as the line of a failure says them. */
void weave_again(struct weave_trial *trial, uint64_t seed, int fixed, uint32_t limit);
void weave_trial_free(struct weave_trial *trial);

rad_exploration weave_explore(const struct weave_trial *trial, const rad_explore_options *o);

/* Fails the test, with everything needed to repeat it. */
void weave_fail(const struct weave_trial *trial, const char *what, const char *file, int line, const char *format, ...)
    RAD_PRINTF(5, 6);
#define weave_check(trial, condition, ...)                                                                             \
    ((condition) ? (void)0 : weave_fail((trial), #condition, __FILE__, __LINE__, __VA_ARGS__))

/* The choices of an artifact, read from its text. Returns how many. */
uint32_t weave_choices(const rad_artifact *a, uint32_t *choices, uint32_t room);
/* An artifact with these choices, by way of a file. */
rad_artifact *weave_artifact(const struct weave_trial *trial, const uint32_t *choices, uint32_t count);
/* Where files may be written; removed at exit. */
const char *weave_file(const char *name);

/* Which phase of the exploration each spied run belongs to, by its index in x->phases: with one worker runs are spied
 * in the order in which they count. Phases follow one another, except in `auto`, where they take turns
 * (docs/cli.md). */
void weave_phases(const rad_exploration *x, bool turns, uint8_t phase_of[WEAVE_SPIED]);

/* The spied runs of a phase are the schedules that `wanted` wants, each once. */
typedef bool weave_wanted(const struct weave_leaf *leaf, uint32_t bound);
void weave_same_set(const struct weave_trial *trial, const uint8_t *phase_of, uint8_t phase, weave_wanted *wanted,
                    uint32_t bound, const char *where);
uint32_t weave_count(const struct weave_trial *trial, weave_wanted *wanted, uint32_t bound);
bool weave_within_preemptions(const struct weave_leaf *leaf, uint32_t bound);
bool weave_within_delays(const struct weave_leaf *leaf, uint32_t bound);
bool weave_any(const struct weave_leaf *leaf, uint32_t bound);

#endif
