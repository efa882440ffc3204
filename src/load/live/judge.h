/* judge.h — what a response is worth: which checks of its request did not hold, and what is taken out of it. */
#ifndef RAD_LOAD_LIVE_JUDGE_H
#define RAD_LOAD_LIVE_JUDGE_H

#include "load/live/answer.h"

/* Bit i: check i did not hold. */
RAD_INTERNAL uint64_t rad__load_judge_checks(const struct rad__load_request *request, const rad__load_answer *answer);

/* What one answer may leave behind. It has to fit into a record of the log, with all its other fields. */
enum { RAD__LOAD_VALUES_MAX = 512 << 10 };

/* Appends what is extracted, as rad__load_input has it. A value for which there is no more room is not found. */
RAD_INTERNAL void rad__load_judge_extracts(const struct rad__load_request *request, const rad__load_answer *answer,
                                           rad_bytes *values);

#endif
