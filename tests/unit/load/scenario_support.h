/* scenario_support.h — scenarios as texts, for tests: read, refused, and with files that exist nowhere. */
#ifndef RAD_TEST_SCENARIO_SUPPORT_H
#define RAD_TEST_SCENARIO_SUPPORT_H

#include "load/scenario/scenario.h"

/* The least that is a scenario; what is tested is put before or after it. */
#define RUNTIME   "[runtime]\nduration_seconds = 10\nvus = 4\n"
#define SIMULATED "[simulated]\nlatency_ms = 20\n"
#define REQUEST   "[[requests]]\npath = \"/\"\n"
#define LEAST     RUNTIME SIMULATED REQUEST

/* Files that scenarios of these tests may name: "t/NAME" has this text. Forgotten by scenario_files_clear. */
void scenario_file(const char *name, const char *text);
void scenario_files_clear(void);
extern const struct rad__load_files SCENARIO_FILES;

/* Reads it as "t/s.toml"; fails the test when it is refused. */
void scenario_read(rad__load_scenario *s, const char *text);

/* It is refused with exactly "t/s.toml:PLACE: …" where the rest contains `words`. */
void scenario_refused(const char *text, const char *place, const char *words);

#endif
