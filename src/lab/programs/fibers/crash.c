/* crash.c — where a program dies of a signal, in a run that is told: its calls go to the stream, and then it dies as it
 * would have. An exploration does without: there the parent sees the death, which is all it needs. Where a program
 * hangs reaches the stream the same way: a timer's signal ends the step that does not return. */
#define _GNU_SOURCE
#include "lab/programs/dispatch.h"
#include "lab/programs/fibers/server.h"

#include "lab/programs/fibers/stage.h"
#include "os/backtrace.h"
#include "os/cfi.h"
#include "rt/stack.h"

#include <link.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>

/* The stack that runs. A thread's, or a fiber's. */
static void stack_bounds(rad_cfi_frame *f)
{
    const rad_runner *r = rad__stage.current;
    const rad_fiber_stack *fiber_stack = r->kind == RAD_RUNNER_FIBER ? r->slot->strand.fiber_stack : NULL;
    uintptr_t low = fiber_stack ? (uintptr_t)fiber_stack->base /* bounds of what is read. tidy: address ok */
                                : (uintptr_t)r->stack;         /* tidy: address ok */
    f->low = low;
    f->high = low + (fiber_stack ? fiber_stack->size : r->stack_size);
}

static void frame_begin(rad_cfi_frame *f, const ucontext_t *c)
{
#if defined(__x86_64__)
    static const uint8_t numbers[16] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
                                        REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    for (uint32_t i = 0; i < 16; i++) rad__cfi_set(f, i, (uint64_t)c->uc_mcontext.gregs[numbers[i]]);
    f->pc = (uint64_t)c->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    for (uint32_t i = 0; i < 31; i++) rad__cfi_set(f, i, (uint64_t)c->uc_mcontext.regs[i]);
    rad__cfi_set(f, RAD_CFI_SP, (uint64_t)c->uc_mcontext.sp);
    f->pc = (uint64_t)c->uc_mcontext.pc;
#else
    (void)c;
#endif
    f->exact = true;
}

typedef struct walk {
    rad_cfi_frame frame;
    uintptr_t address;
    bool stepped;
} walk;

static int step_in(struct dl_phdr_info *info, size_t size, void *context)
{
    walk *w = context;
    const uint8_t *header = NULL;
    bool inside = false;
    (void)size;
    for (uint32_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t from = info->dlpi_addr + p->p_vaddr;
        inside |= p->p_type == PT_LOAD && w->address - from < p->p_memsz;
        if (p->p_type == PT_GNU_EH_FRAME) header = (const uint8_t *)from;
    }
    if (!inside) return 0;
    w->stepped = header != NULL && rad__cfi_step(&w->frame, header);
    return 1;
}

/* The fault is in the pages below the stack. */
static bool is_full(const rad_cfi_frame *f, const void *fault)
{
    uintptr_t at = (uintptr_t)fault; /* compared with bounds. tidy: address ok */
    return at < f->low && f->low - at <= RAD_STACK_GUARD;
}

static void tell_crash(const ucontext_t *c, const void *fault)
{
    rad_backtrace calls = {.count = 0};
    walk w = {.stepped = true};
    stack_bounds(&w.frame);
    frame_begin(&w.frame, c);
    bool full = fault != NULL && is_full(&w.frame, fault);
    while (w.stepped && calls.count < RAD_BACKTRACE_MOST) {
        w.address = calls.at[calls.count++] = w.frame.pc - (w.frame.exact ? 0 : 1);
        w.stepped = false;
        dl_iterate_phdr(step_in, &w);
    }
    if (rad__stage.prefix) rad__stage_tell_runners(); /* nobody knows of any yet */
    rad__frames_tell_failed(rad__stage.current, &calls, full);
    rad__stream_put(&rad__server_stream, &(rad_record){.what = RAD_STREAM_DONE}, NULL);
    rad__stream_send(&rad__server_stream);
}

enum { ASLEEP_MS = 2000 }; /* by the clock: then a step that does not use up its CPU time sleeps in a call */

static void timer_set(int which, uint32_t ms)
{
    struct itimerval at = {.it_value = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000}};
    setitimer(which, &at, NULL);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    bool running = rad__stage.running;
    rad__stage.running = false; /* the calls below are the lab's */
    rad__dispatch_shut(false);
    timer_set(ITIMER_PROF, 0);
    timer_set(ITIMER_REAL, 0);
    signal(number, SIG_DFL);
    if (running) tell_crash(context, number == SIGSEGV || number == SIGBUS ? info->si_addr : NULL);
    raise(number);
}

static void watch(const int *signals, uint32_t count)
{
    static char memory[128 << 10];
    struct sigaction action;
    stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory};
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    if (sigaltstack(&stack, NULL) != 0) return;
    for (uint32_t i = 0; i < count; i++) sigaction(signals[i], &action, NULL);
}

void rad__crash_watch(void)
{
    watch((const int[]){SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}, 5);
}

void rad__crash_in(uint32_t cpu_ms)
{
    if (rad__stage.real_threads) return; /* the signal may come to another thread than the one that hangs */
    watch((const int[]){SIGPROF, SIGALRM}, 2);
    timer_set(ITIMER_PROF, cpu_ms);
    timer_set(ITIMER_REAL, ASLEEP_MS);
}
