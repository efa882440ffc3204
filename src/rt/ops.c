/* ops.c — the public calls: see ops.h. */
#include "rt/ops.h"

#define OP_DEFINE(answer, name, parameters, arguments, object)                                                         \
    answer rad_##name parameters                                                                                       \
    {                                                                                                                  \
        return rad__op_##name arguments;                                                                               \
    }
RAD_OPS(OP_DEFINE)
