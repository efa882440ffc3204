/* snapshot.h — many runs in one process: what a run has changed is put back.
 *
 * The process is a fresh fork of another one that keeps the *original*: it sleeps, so its memory stays as it was when
 * both were one. A page that the run has written is no longer shared with the original; its content comes from there,
 * once, and is copied back after every run from then on.
 *
 * Fast      A run that met no page fault has written only pages that are known to be written. Then it is enough to
 *           copy these, to close what it opened, and to look whether a descriptor is missing.
 * Trusting  Runs are alike. When some hundred of them have changed nothing but the same parts of the same pages, only
 *           these are copied, and nothing is looked at. Then everything is looked at after some thousand runs: if
 *           anything was left, these runs are not worth anything, and are made again, with care.
 * Slow      Otherwise, or when the run made a call that is marked (marks.c), the map of the process is read: what was
 *           added is unmapped, what is missing cannot be put back, and the page tables say which pages are new.
 * Beyond    What cannot be put back is said, by a text that says what it was: the process is good for nothing more.
 *
 * Private writable memory belongs to the run, but for the lower part of the first stack, on which this code runs.
 * Memory that is shared (the lab's, heap.c) is not touched.
 *
 * Rejected: write protection and SIGSEGV (a system call that writes to such a page fails: a false failure); copies of
 * everything (a few µs for small programs, too much for others); userfaultfd and a gate for all system calls (more
 * exact, but not allowed in many containers, and a µs for each call). What this one misses the audits find
 * (server.h). */
#ifndef RAD_LAB_PROGRAMS_FIBERS_SNAPSHOT_H
#define RAD_LAB_PROGRAMS_FIBERS_SNAPSHOT_H

#include "base/check.h"

typedef struct rad_snapshot rad_snapshot;

enum { RAD_LOST_MAX = 8, RAD_GUARDS_MAX = 1 << 14 };

/* Calls of the program since the last time (marks.c). In memory that is not put back, but for processes that make one
 * run only: there nobody looks at them. */
typedef struct rad_marks {
    bool maps, signals, files;
    const char *beyond; /* a call whose effect stays; NULL: none */
    struct {
        uintptr_t from, to;
    } lost[RAD_LOST_MAX]; /* addresses whose content the program has given back */
    uint32_t lost_count;
    const void **guards; /* pages that are marked for good (pages.c), by a hash; NULL: that is not known */
    uint32_t guard_count;
} rad_marks;

RAD_INTERNAL extern rad_marks *rad__marks;

/* Finds the calls of the C library that marks.c stands for. */
RAD_INTERNAL void rad__marks_open(void);

/* The program closes this descriptor. */
RAD_INTERNAL void rad__marked_closes(int fd);

/* For a process that makes one run. */
RAD_INTERNAL void rad__marks_ignore(void);

/* `original` reads the memory of the process that keeps it, `stack` is where the program's part of the first stack
 * begins. NULL: it is not possible here, and `why` says why. */
RAD_INTERNAL rad_snapshot *rad__snapshot_open(int original, char *stack, const char **why);

/* Everything is as in the original; false: it is not, and `why` says why. */
RAD_INTERNAL bool rad__snapshot_back(rad_snapshot *s, const char **why);

/* Whether it can be trusted by now that a run changes nothing else than those before. */
RAD_INTERNAL bool rad__snapshot_trusts(const rad_snapshot *s);

/* Puts back what runs change; false: the last run did something that is marked. */
RAD_INTERNAL bool rad__snapshot_back_trusting(rad_snapshot *s);

/* It is not to trust any more. */
RAD_INTERNAL void rad__snapshot_forget(rad_snapshot *s);

/* The whole of every page that is known: the lab itself may have written something. */
RAD_INTERNAL void rad__snapshot_pages_back(rad_snapshot *s);

/* Is everything as in the original, but for what runs change? */
RAD_INTERNAL bool rad__snapshot_is_back(rad_snapshot *s);

/* ---- What is not memory (undo.c) ------------------------------------------------------------------------ */

typedef struct rad_undo rad_undo;

/* From here on descriptors below RAD_LAB_FDS are the program's. */
enum { RAD_LAB_FDS = 500 };

RAD_INTERNAL rad_undo *rad__undo_open(const char **why);
RAD_INTERNAL bool rad__undo(rad_undo *u, const char **why);

/* Was there something to put back, the last time? Is there nothing now? */
RAD_INTERNAL bool rad__undo_did(const rad_undo *u);
RAD_INTERNAL bool rad__undo_is_done(rad_undo *u);

#endif
