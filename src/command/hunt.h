/* hunt.h — the bugs of one exploration: kept as soon as they are found, then shrunk and told.
 *
 * Files are NAME.raddle.json, NAME-2.raddle.json, … in the order in which the identities were found, and
 * NAME.min.raddle.json, … for the minimised ones. NAME is the machine's, or that of the case file. */
#ifndef RAD_COMMAND_HUNT_H
#define RAD_COMMAND_HUNT_H

#include "keep.h"
#include "progress.h"
#include "repeat.h"
#include "suppressions.h"

/* What a program is explored with, one after the other. */
enum hunt_pass { PASS_FIRST, PASS_POINTS, PASS_FREE_CLOCK, PASS_SPURIOUS, PASSES };

typedef struct bug {
    char identity[RAD_IDENTITY_MAX];
    rad_verdict verdict;
    kept found;
    kept minimised;
    shrunk small;
    bool is_shrunk;
    bool second; /* met while another one was shrunk */
    enum hunt_pass pass;
} bug;

typedef struct hunt {
    cli *c;
    const char *dir; /* NULL: the current folder */
    char name[256];  /* what files begin with */
    bool json;
    /* Told before anything else, and only when there is something to tell: what is explored, and how. */
    char head[320], head_rest[200];
    progress_limits limits;
    char differs[REPEAT_TEXT]; /* how two runs of a program differ that should not; "": they do not */
    enum hunt_pass pass;       /* what is found now, is found in it */
    double shrink_seconds;     /* at most, for each bug; 0: as `raddle shrink` */
    double shrink_all;         /* at most, for all bugs together; 0: there is no such limit */
    double shrink_used;
    suppressions *suppressed; /* the caller's */
    uint32_t bug_count;
    bug bugs[KEEP_BUGS_MAX];
} hunt;

/* The name of files: from the file that holds the case, or NULL: from the machine. What was found in an
 * artifact's case does not take the artifact's place. */
void hunt_name(hunt *h, const char *path, const char *machine) RAD_COMMAND(hunt_name);

/* Keeps an artifact under the next name unless its identity is known; NULL when it is, or when there
 * are too many. */
bug *hunt_keep(hunt *h, const rad_artifact *a) RAD_COMMAND(hunt_keep);

/* Prints `head` unless that has been done. */
void hunt_head(hunt *h) RAD_COMMAND(hunt_head);

/* The bug of this identity, or NULL. */
bug *hunt_find(hunt *h, const char *identity) RAD_COMMAND(hunt_find);

/* Shrinks a finding and keeps the result; in text, tells it. Returns 0 or an exit status. */
int hunt_shrink(hunt *h, bug *b, const rad_finding *f) RAD_COMMAND(hunt_shrink);

/* Shrinks each finding in turn if that is wanted; the first error is the result, but nothing found is left untold.
 * An interruption meanwhile is noted in *e. */
int hunt_explain(hunt *h, rad_exploration *e, bool wanted) RAD_COMMAND(hunt_explain);

void hunt_replay_line(hunt *h, const bug *b) RAD_COMMAND(hunt_replay_line);

/* The explorations of the passes, or NULL for those that were not made. */
void hunt_json(writer *j, hunt *h, const rad_exploration *const e[PASSES]) RAD_COMMAND(hunt_json);

/* "With a free clock", …; the setting of a program that makes it, or NULL. */
const char *hunt_pass_text(enum hunt_pass pass) RAD_COMMAND(hunt_pass_text);
const char *hunt_pass_setting(enum hunt_pass pass) RAD_COMMAND(hunt_pass_setting);

/* Needs what the program was explored with in this pass: found with it, and not without it, when it was shrunk. A free
 * clock: a fiber that is slower than a timer. */
bool hunt_needs(const bug *b, enum hunt_pass pass) RAD_COMMAND(hunt_needs);
/* A failure was first found in this pass. */
bool hunt_first_in(const hunt *h, enum hunt_pass pass) RAD_COMMAND(hunt_first_in);

void hunt_free(hunt *h) RAD_COMMAND(hunt_free);

#endif
