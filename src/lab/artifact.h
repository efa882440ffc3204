/* artifact.h — one failing (or passing) run as one small file. See docs/files.md for the fields. */
#ifndef RAD_LAB_ARTIFACT_H
#define RAD_LAB_ARTIFACT_H

#include "core/kernel.h"
#include "lab/path.h"

#include <raddle/lab.h>

enum {
    RAD_ARTIFACT_SCHEMA = 2,
    RAD_ARTIFACT_BYTES_MAX = 256 << 20 /* a larger file is refused, not read */
};

/* The path of the run. Of a new artifact it is computed when it is first used. */
typedef struct rad_artifact_path {
    rad_path *path; /* NULL: there is none */
    bool known;
} rad_artifact_path;

struct rad_artifact {
    rad_target target; /* owns its body */
    uint64_t seed;     /* at most INT64_MAX: JSON integers are signed */
    char policy[48];
    char version[24], git_sha[48], compiler[96]; /* of the build that wrote it */
    rad_lab_program program;                     /* that has the machine; path "": none */
    uint32_t *choices;                           /* total: clamped, baseline after the end */
    uint64_t choice_count;
    uint64_t *set_hashes; /* rolling set hash after every 64th decision, and after the last */
    uint32_t set_hash_count;
    bool expects_failure;
    rad_verdict expected;
    rad_artifact_path *path;
    bool edited; /* read with a wrong checksum, by permission */
};

/* From the kernel's last run (finished or failed): copies choices (trailing zeros cut) and hashes. */
RAD_INTERNAL int rad__artifact_of_run(rad_artifact **a, const rad_target *t, const char *policy, uint64_t seed,
                                      const rad_kernel *k, rad_error *error);

/* From loose parts, for a run whose process died: no trace hash (all zeros), choices as recorded. */
RAD_INTERNAL int rad__artifact_of_choices(rad_artifact **a, const rad_target *t, const char *policy, uint64_t seed,
                                          const rad_choice *choices, uint64_t count, const rad_verdict *expected,
                                          rad_error *error);

/* Adds the rolling set hashes: those of every 64th decision, and `last` unless it is among them. */
RAD_INTERNAL int rad__artifact_set_hashes(rad_artifact *a, const uint64_t *every, uint32_t count, uint64_t last,
                                          uint64_t decisions, rad_error *error);

/* True of an artifact whose failure is a livelock at its step limit: flow validation makes them, cutting a run that is
 * known to go round, and earlier versions called every run that was cut one. Its runs are limited accordingly. */
RAD_INTERNAL bool rad__artifact_is_round(const rad_artifact *a);

/* What the kernel's last run looks like from outside; and what it was when it met a race that did not end it. */
RAD_INTERNAL void rad__verdict_of(const rad_kernel *k, rad_verdict *v);
RAD_INTERNAL void rad__verdict_of_race(const rad_kernel *k, const rad_report *r, rad_verdict *v);

/* From and to text, without files. `name` is for messages. */
RAD_INTERNAL int rad__artifact_parse(rad_artifact **a, const char *text, size_t size, const char *name, bool edited_ok,
                                     rad_error *error);

/* The path of its run: what was read, or, of an artifact made here, that of a run made now. NULL: there is none, or it
 * cannot be found out: the machine does not repeat the run, or it is too long. */
RAD_INTERNAL const rad_path *rad__artifact_path(const rad_artifact *a);

/* The same by running, whatever is known (path_run.c); rad__path_free it. */
RAD_INTERNAL int rad__path_of(const rad_artifact *a, rad_path **out, rad_error *error);

/* rad_lab_replay; *unfair: the run is the recorded one only if nobody is held back. So it is of files that were written
 * before schedules were fair: they have no path, and keep to the rule of their time. */
RAD_INTERNAL int rad__replay(const rad_artifact *a, const rad_target *other, rad_replay *out, bool *unfair,
                             rad_error *error);

/* A run that kills its process. */
RAD_INTERNAL bool rad__verdict_is_deadly(const rad_verdict *v);

/* The program that has the machine, known here or not; path "": none, or the file cannot be read. */
RAD_INTERNAL void rad__artifact_program(const char *path, rad_lab_program *out);

#endif
