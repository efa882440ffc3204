/* api.h — what is behind the public types. */
#ifndef RAD_FLOW_RUN_API_H
#define RAD_FLOW_RUN_API_H

#include "flow/journal/journal.h"
#include "flow/run/run.h"

struct rad_flow {
    rad_flow_program *program;
    rad_flow_named_function *functions;
    uint32_t function_count, function_capacity;
};

/* What a case has in its folder: its journal, not read yet but for the header, and the flow that it was begun with. */
typedef struct rad_flow_kept {
    char *bytes; /* of the journal */
    size_t size;
    rad_flow_journal journal;
    rad_flow_program *program;
} rad_flow_kept;

/* RAD_EINPUT: there is no case, or no whole one. rad__flow_kept_free it, also then. */
RAD_INTERNAL int rad__flow_kept_read(rad_flow_kept *k, const rad_flow_host *host, rad_error *error);
RAD_INTERNAL void rad__flow_kept_free(rad_flow_kept *k);

/* Messages begin with where. */
RAD_INTERNAL void rad__flow_say_where(rad_error *error, const char *folder);

#endif
