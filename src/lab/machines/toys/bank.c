/* bank.c — clerks move money from one account to the others, if there is enough of it.
 *
 * Each access to the accounts is locked, but the lock is released between looking and moving: two clerks can
 * both find enough for one transfer. Invariant: no account is below zero; and whenever nobody holds the
 * lock, all the money is there. Twin: one lock from the look to the end of the transfer. */
#include "lab/machines/toys/toys.h"
#include "lab/machines/toys/vm.h"

enum { ACCOUNTS, CLERKS, TRANSFERS };
enum { TARGET, LOCK, LOOK, UNLOCK_LOOK, LOCK_MOVE, READ_FROM, TAKE, READ_TO, GIVE, UNLOCK };
enum { START = 100, AMOUNT = 60 }; /* enough for one transfer, not for two */

static const char *const bank_sites[] = {
    [TARGET] = "clerk: choose an account",
    [LOCK] = "clerk: lock",
    [LOOK] = "clerk: look if there is enough",
    [UNLOCK_LOOK] = "clerk: unlock after looking",
    [LOCK_MOVE] = "clerk: lock to move",
    [READ_FROM] = "clerk: read the first account",
    [TAKE] = "clerk: take",
    [READ_TO] = "clerk: read the other account",
    [GIVE] = "clerk: give",
    [UNLOCK] = "clerk: unlock",
    NULL,
};

enum { FIRST_ACCOUNT = 0 }; /* the first objects */

static uint32_t bank_clerk(rad_vm *vm, const rad_case *c, uint32_t lock)
{
    uint32_t others = FIRST_ACCOUNT + 1;
    uint32_t program = vm_here(vm);
    vm_pick(vm, TARGET, R3, (int32_t)c->params[ACCOUNTS] - 1);
    vm_lock(vm, LOCK, lock);
    vm_load(vm, LOOK, R0, FIRST_ACCOUNT);
    if (!c->repaired) vm_unlock(vm, UNLOCK_LOOK, lock);
    uint32_t poor = vm_jump_if(vm, R0, VM_LT, AMOUNT);
    if (!c->repaired) vm_lock(vm, LOCK_MOVE, lock);
    vm_load(vm, READ_FROM, R0, FIRST_ACCOUNT);
    vm_sub(vm, R0, R0, AMOUNT);
    vm_store(vm, TAKE, FIRST_ACCOUNT, R0);
    vm_load_at(vm, READ_TO, R1, others, R3);
    vm_add(vm, R1, R1, AMOUNT);
    vm_store_at(vm, GIVE, others, R3, R1);
    if (c->repaired) vm_land(vm, poor); /* the lock is still held */
    vm_unlock(vm, UNLOCK, lock);
    if (!c->repaired) vm_land(vm, poor);
    vm_again(vm, program, R5);
    vm_end(vm);
    return program;
}

static uint32_t bank_lock(const rad_case *c)
{
    return FIRST_ACCOUNT + (uint32_t)c->params[ACCOUNTS];
}

static void bank_build(rad_vm *vm, const rad_case *c)
{
    rad__vm_cells(vm, "account", (uint32_t)c->params[ACCOUNTS], START);
    uint32_t lock = vm_mutex(vm, "lock");
    vm_about(vm, "all money"); /* lock + 1 */
    RAD_ASSERT(vm->failed || lock == bank_lock(c));
    uint32_t clerk = bank_clerk(vm, c, lock);
    for (int64_t i = 0; i < c->params[CLERKS]; i++)
        vm_thread_starts(vm, rad__vm_thread(vm, "clerk", clerk, true), R5, c->params[TRANSFERS]);
}

static void bank_invariant(const rad_vm *vm, rad_kernel *k)
{
    uint32_t accounts = (uint32_t)vm->c.params[ACCOUNTS], lock = bank_lock(&vm->c);
    int64_t sum = 0, least = 0;
    for (uint32_t i = 0; i < accounts; i++) {
        int64_t balance = vm_word(vm, FIRST_ACCOUNT + i);
        sum += balance;
        if (balance < least) least = balance;
    }
    RAD_CHECK(k, RAD_ORACLE_INVARIANT, least >= 0, FIRST_ACCOUNT, "an account is overdrawn: %lld", (long long)least);
    RAD_CHECK(k, RAD_ORACLE_INVARIANT, vm_word(vm, lock) != 0 || sum == (int64_t)accounts * START, lock + 1,
              "%lld in all accounts together, expected %lld", (long long)sum, (long long)accounts * START);
}

static const vm_toy bank_toy = {bank_build, bank_invariant, bank_sites};

static const rad_param bank_params[] = {
    [ACCOUNTS] = {"accounts", 3, 2, 64, "accounts; money moves from the first to the others", false},
    [CLERKS] = {"clerks", 2, 2, 64, "threads that move money", false},
    [TRANSFERS] = {"transfers", 1, 1, 100, "transfers of each clerk", false},
    {.name = NULL},
};

const rad_machine rad__toy_bank = {
    .name = "bank",
    .about = "clerks move money between accounts; no account may fall below zero",
    .params = bank_params,
    .bug = "the lock is released between looking and moving: two clerks take the same money",
    .bug_site = TAKE,
    .own = &bank_toy,
    .check = rad__vm_check,
    VM_FUNCTIONS,
};
