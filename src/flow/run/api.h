/* api.h — what stands behind the public types. */
#ifndef RAD_FLOW_RUN_API_H
#define RAD_FLOW_RUN_API_H

#include "flow/run/run.h"

struct rad_flow {
    rad_flow_program *program;
    rad_flow_named_function *functions;
    uint32_t function_count, function_capacity;
};

/* The flow as it lies in the folder of a case. */
RAD_INTERNAL int rad__flow_read_copy(rad_flow_program **p, const rad_flow_host *host, const char *flow,
                                     rad_error *error);

/* Messages begin with where. */
RAD_INTERNAL void rad__flow_say_where(rad_error *error, const char *folder);

#endif
