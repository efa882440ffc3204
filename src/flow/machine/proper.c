/* proper.c — see proper.h. */
#include "flow/machine/proper.h"

/* It, or something around it, is a branch of a fork without a join. */
static bool is_detached(const rad_flow_vm *vm, uint32_t token)
{
    uint32_t fork = vm->tokens[token].fork;
    while (fork != RAD_NONE && vm->forks[fork].join != RAD_JOIN_NONE) fork = vm->forks[fork].parent;
    return fork != RAD_NONE;
}

static bool waits_for(const rad_flow_vm *vm, uint32_t waiter, uint32_t token)
{
    uint32_t inner = vm->tokens[waiter].inner;
    uint32_t fork = vm->tokens[token].fork;
    while (fork != RAD_NONE && fork != inner) fork = vm->forks[fork].parent;
    return fork != RAD_NONE;
}

uint32_t rad__flow_left_behind(const rad_flow_vm *vm, uint32_t token)
{
    uint8_t code = rad__flow_op(vm, token)->code;
    if (code != RAD_OP_END && code != RAD_OP_FINISH_CASE) return RAD_NONE;
    for (uint32_t i = 0; i < vm->token_count; i++)
        if (vm->tokens[i].alive && i != token && !is_detached(vm, i) && !waits_for(vm, i, token)) return i;
    return RAD_NONE;
}
