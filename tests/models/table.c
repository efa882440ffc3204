/* table.c — the table of models: every RAD_MODEL of this object file, in the order of linking. */
#include "lab/l2/model.h"

extern RAD_INTERNAL const rad_model *const __start_l2models[];
extern RAD_INTERNAL const rad_model *const __stop_l2models[];

const rad_model *const *rad__l2_models(uint32_t *count)
{
    *count = (uint32_t)(__stop_l2models - __start_l2models);
    return __start_l2models;
}
