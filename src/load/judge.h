/* judge.h — what a response is worth: which checks of its request did not hold, and what is taken out of it. */
#ifndef RAD_LOAD_JUDGE_H
#define RAD_LOAD_JUDGE_H

#include "load/answer.h"

/* Bit i: check i did not hold. */
RAD_INTERNAL uint64_t rad__load_judge_checks(const struct rad__load_request *request,
                                             const rad__load_answer *answer);

/* Appends what is extracted, as rad__load_input has it. */
RAD_INTERNAL void rad__load_judge_extracts(const struct rad__load_request *request,
                                           const rad__load_answer *answer, rad_bytes *values);

#endif
