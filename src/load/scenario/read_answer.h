/* read_answer.h — what is made of the answer to a request: its checks, and what is extracted. */
#ifndef RAD_LOAD_SCENARIO_READ_ANSWER_H
#define RAD_LOAD_SCENARIO_READ_ANSWER_H

#include "load/scenario/read.h"

RAD_INTERNAL void rad__load_read_checks(const rad__load_part *p, struct rad__load_request *q);
RAD_INTERNAL void rad__load_read_extracts(const rad__load_part *p, struct rad__load_request *q);

#endif
