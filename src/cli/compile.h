/* compile.h — `raddle cc` and `raddle c++`: the user's compiler, with what makes memory visible to the lab. */
#ifndef RAD_CLI_COMPILE_H
#define RAD_CLI_COMPILE_H

#include "command/cli.h"

extern const verb VERB_CC, VERB_CXX;

#endif
