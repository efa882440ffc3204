/* verdict_support.h — what the validator says of a flow, in tests. */
#ifndef RAD_TEST_FLOW_VERDICT_SUPPORT_H
#define RAD_TEST_FLOW_VERDICT_SUPPORT_H

#include "flow/check/validate.h"

#define FLOW_ANY_RUN "*"

/* Fails the test when the flow is refused. rad_flow_validation_free it. */
rad_flow_validation *flow_validated(const char *text, const rad_flow_validate_options *o);

/* The verdict fails, with this text, and this run: "0 1 0"; NULL: without one. */
void flow_verdict_fails(const char *text, enum rad_flow_property property, const char *why, const char *run);

#endif
