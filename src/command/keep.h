/* keep.h — keeping artifacts: their names, the files, and the base64 form where no file can be
 * written; shrinking one and telling what came of it. */
#ifndef RAD_COMMAND_KEEP_H
#define RAD_COMMAND_KEEP_H

#include "json.h"

enum { KEEP_PATH_MAX = 4096, KEEP_BUGS_MAX = 2 * RAD_FINDINGS_MAX };

/* A file an artifact went to, or did not. */
typedef struct kept {
    char path[KEEP_PATH_MAX];
    bool written;
    char *base64; /* instead of a file; rad_free */
} kept;

/* Writes it; on failure says so on stderr and leaves the base64 form. */
void keep_artifact(cli *c, const rad_artifact *a, const char *path, kept *k) RAD_COMMAND(keep_artifact);
void keep_free(kept *k) RAD_COMMAND(keep_free);

/* "  written   FILE", or the base64 text with the command that turns it into the file. */
void keep_report(cli *c, const char *label, const kept *k) RAD_COMMAND(keep_report);
/* "artifact": FILE or null, and "artifact_base64" when there is no file. */
void keep_json(writer *j, const kept *k) RAD_COMMAND(keep_json);

/* "x.raddle.json" → "x.min.raddle.json"; what is minimal stays. False when it does not fit. */
bool minimised_path(char *path, size_t size, const char *from) RAD_COMMAND(minimised_path);

/* One shrink, told. */
typedef struct shrunk {
    rad_artifact *artifact; /* NULL: it did not come to that */
    rad_shrink_report report;
} shrunk;

/* `seconds` as in rad_shrink_options. Returns 0 or an exit status, message printed. 0 also when it
 * was interrupted, with what was found until then. */
int shrink_artifact(cli *c, const rad_artifact *a, double seconds, shrunk *s) RAD_COMMAND(shrink_artifact);
void shrunk_free(shrunk *s) RAD_COMMAND(shrunk_free);

void shrunk_report(cli *c, const shrunk *s) RAD_COMMAND(shrunk_report);
void shrunk_json(writer *j, const shrunk *s) RAD_COMMAND(shrunk_json);

/* True, after a line that says so, of a run that is not the one of the file. */
bool story_differs(cli *c, const rad_story *s) RAD_COMMAND(story_differs);

/* The story of an artifact, as `show` draws it. Returns 0 or an exit status: EXIT_FOUND when it is not the recorded
 * run. */
int tell_story(cli *c, const rad_artifact *a, uint32_t width, bool all) RAD_COMMAND(tell_story);

/* What suffices without another run: the story, or, of a long run of a machine with words of its own, its verdict, its
 * state and its last events. */
int tell_summary(cli *c, const rad_artifact *a) RAD_COMMAND(tell_summary);

#endif
