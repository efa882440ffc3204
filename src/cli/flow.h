/* flow.h — what the parts of `raddle flow` share. */
#ifndef RAD_CLI_FLOW_H
#define RAD_CLI_FLOW_H

#include "command/json.h"
#include "parts.h"

#include <raddle/flow.h>

extern const verb VERB_FLOW_CHECK, VERB_FLOW_RUN, VERB_FLOW_RESUME, VERB_FLOW_REPLAY, VERB_FLOW_VALIDATE,
    VERB_FLOW_DRAW, VERB_FLOW_STATUS, VERB_FLOW_LOGS, VERB_FLOW_CANCEL, VERB_FLOW_SIGNAL;

#define OPTION_FLOW(type)                                                                                              \
    {                                                                                                                  \
        "flow", OPTION_TEXT, offsetof(type, flow), "NAME", "which flow of the file (default: the last)", 0, 0, 0       \
    }

/* A journal has the name of its policy; one in a shared object is loaded only from the path that the user types. */
#define OPTION_BEGUN_WITH(type)                                                                                        \
    {                                                                                                                  \
        "policy", OPTION_TEXT, offsetof(type, policy), "./FILE.so",                                                    \
            "policy that the execution was started with, if it is in a shared object", 0, 0, 0                         \
    }
int load_begun_with(cli *c, const char *path); /* may be NULL; returns 0 or an exit status */

/* " --policy ./FILE.so" for a command to type, or "". The text lives until the next call. */
const char *policy_words(const char *path);

/* The one word is the folder of a case. Returns 0 or an exit status. */
int read_folder_word(cli *c, const words *w, const char **folder);

/* "done", "failed", … */
const char *flow_end_name(enum rad_flow_end end);

/* "2026-11-16 07:45:12", in UTC; "-" for 0. Up to four results live at a time. */
const char *time_text(uint64_t ns);

#endif
