/* counter.c — the processor's counter of time (rdtsc, rdtscp) is the virtual clock: one tick a nanosecond. A program
 * that measures the one by the other finds 1 GHz, in each run.
 *
 * Trap      The system is asked to refuse these instructions (PR_SET_TSC; forks and threads inherit that). Each then
 *           raises SIGSEGV, and its handler here answers. What else raises SIGSEGV goes to the action that was there,
 *           or that the program has set since.
 * Page      The functions of the vDSO read the counter, too, in code that is the system's: each is overwritten with the
 *           system call that it saves, which dispatch.c sees when the program makes it. So clocks that the C library
 *           reads by itself, and those of a program that looks for these functions, are virtual.
 *
 * If that page cannot be written, or on another processor, both are the real ones. */
#define _GNU_SOURCE
#include "lab/programs/fibers/counter.h"

#include "lab/programs/dispatch.h"
#include "lab/programs/fibers/interposed.h"
#include "lab/programs/fibers/snapshot.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__x86_64__)

/* As the system takes it. */
typedef struct system_action {
    void *handler;
    unsigned long flags;
    void (*leave)(void);
    uint64_t mask;
} system_action;

enum { RESTORER = 0x04000000, NUMBER_SIZE = sizeof(uint64_t) };

static bool is_open;
static system_action next; /* what SIGSEGV does without us */

static long action_call(const system_action *new, system_action *old)
{
    const long a[6] = {SIGSEGV, (long)new, (long)old, NUMBER_SIZE, 0, 0};
    return rad__dispatch_pass(SYS_rt_sigaction, a);
}

static void set_default(void)
{
    const system_action none = {.flags = RESTORER, .leave = rad__dispatch_leave};
    action_call(&none, NULL);
}

/* rdtsc is 0f 31, rdtscp 0f 01 f9: that one also says on which processor. */
static bool reads_counter(const siginfo_t *info, greg_t *r)
{
    const uint8_t *code = (const uint8_t *)r[REG_RIP];
    if (info->si_code != SI_KERNEL || code[0] != 0x0f) return false;
    bool more = code[1] == 0x01 && code[2] == 0xf9;
    if (code[1] != 0x31 && !more) return false;
    uint64_t now = rad__time_count();
    r[REG_RAX] = (greg_t)(uint32_t)now;
    r[REG_RDX] = (greg_t)(now >> 32);
    if (more) r[REG_RCX] = 0;
    r[REG_RIP] += more ? 3 : 2;
    return true;
}

/* A fault comes again when we return; a signal that was sent has to be sent again. */
static void end_by(int number, const siginfo_t *info)
{
    set_default();
    if (info->si_code > 0) return;
    const long a[6] = {rad__dispatch_pid(), number, 0, 0, 0, 0};
    rad__dispatch_pass(SYS_kill, a);
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    ucontext_t *u = context;
    system_action then = next;
    if (reads_counter(info, u->uc_mcontext.gregs)) return;
    if (then.handler == NULL || then.handler == (void *)1) { /* to ignore a fault is to die of it */
        end_by(number, info);
        return;
    }
    if (then.flags & (unsigned)SA_RESETHAND) next.handler = NULL;
    if (then.flags & SA_SIGINFO) {
        void (*handler)(int, siginfo_t *, void *);
        memcpy(&handler, &then.handler, sizeof handler);
        handler(number, info, context);
    } else {
        void (*handler)(int);
        memcpy(&handler, &then.handler, sizeof handler);
        handler(number);
    }
}

/* Ours in its place, on the stack that it asks for. Nothing is blocked meanwhile: a handler may be left by siglongjmp,
 * which puts back only the mask that the program sees. */
static void stand_before(const system_action *action)
{
    void (*handler)(int, siginfo_t *, void *) = on_fault;
    bool has_handler = action->handler != NULL && action->handler != (void *)1;
    unsigned long stack = has_handler ? action->flags & SA_ONSTACK : 0;
    system_action ours = {.flags = SA_SIGINFO | SA_NODEFER | RESTORER | stack, .leave = rad__dispatch_leave};
    memcpy(&ours.handler, &handler, sizeof ours.handler);
    next = *action;
    action_call(&ours, NULL);
}

static bool is_ours(const system_action *action)
{
    void (*handler)(int, siginfo_t *, void *) = on_fault;
    return memcmp(&action->handler, &handler, sizeof handler) == 0;
}

void rad__counter_open(void)
{
    system_action now = {.handler = NULL};
    if (!is_open || action_call(NULL, &now) != 0 || is_ours(&now)) return;
    stand_before(&now);
}

bool rad__counter_action(const struct sigaction *new, struct sigaction *old)
{
    system_action before = next, action = {.handler = NULL};
    if (!is_open) return false;
    if (new) {
        action.flags = (unsigned)new->sa_flags;
        memcpy(&action.handler, &new->sa_handler, sizeof action.handler);
        memcpy(&action.mask, &new->sa_mask, sizeof action.mask);
        stand_before(&action);
    }
    if (old == NULL) return true;
    memset(old, 0, sizeof *old);
    memcpy(&old->sa_handler, &before.handler, sizeof before.handler);
    memcpy(&old->sa_mask, &before.mask, sizeof before.mask);
    old->sa_flags = (int)(before.flags & ~(unsigned long)RESTORER);
    return true;
}

static bool trap(bool on)
{
    const long a[6] = {PR_SET_TSC, on ? PR_TSC_SIGSEGV : PR_TSC_ENABLE, 0, 0, 0, 0};
    return rad__dispatch_pass(SYS_prctl, a) == 0;
}

void rad__counter_shut(void)
{
    if (!is_open || !trap(false)) return;
    is_open = false;
    rad__marks->beyond = "it calls rt_sigaction by its number";
    rad__program_reaches("rt_sigaction", "of SIGSEGV by its number: the processor's counter is the real one");
}

/* mov $number, %eax; syscall; ret. By this file, because the page may not be made writable. */
static bool overwrite(long memory, const void *function, uint32_t number)
{
    uint8_t code[8] = {0xb8, 0, 0, 0, 0, 0x0f, 0x05, 0xc3};
    memcpy(code + 1, &number, sizeof number);
    const long a[6] = {memory, (long)code, sizeof code, (long)function, 0, 0};
    return rad__dispatch_pass(SYS_pwrite64, a) == sizeof code;
}

static bool page_is_replaced(void)
{
    static const struct {
        const char *name;
        uint32_t number;
    } functions[] = {{"__vdso_clock_gettime", SYS_clock_gettime},
                     {"__vdso_gettimeofday", SYS_gettimeofday},
                     {"__vdso_time", SYS_time},
                     {"__vdso_getcpu", SYS_getcpu}};
    void *page = dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD), *function;
    if (page == NULL) return true; /* there is none */
    const long file[6] = {AT_FDCWD, (long)"/proc/self/mem", O_RDWR | O_CLOEXEC, 0, 0, 0};
    const long memory = rad__dispatch_pass(SYS_openat, file), closed[6] = {memory, 0, 0, 0, 0, 0};
    bool done = memory >= 0;
    for (size_t i = 0; i < sizeof functions / sizeof *functions && done; i++)
        if ((function = dlsym(page, functions[i].name)) != NULL)
            done = overwrite(memory, function, functions[i].number);
    if (memory >= 0) rad__dispatch_pass(SYS_close, closed);
    dlclose(page);
    return done;
}

void rad__counter_start(void)
{
    is_open = page_is_replaced() && trap(true);
    rad__counter_open();
}

#else

void rad__counter_start(void)
{
}

void rad__counter_open(void)
{
}

bool rad__counter_action(const struct sigaction *new, struct sigaction *old)
{
    (void)new;
    (void)old;
    return false;
}

void rad__counter_shut(void)
{
}

#endif
