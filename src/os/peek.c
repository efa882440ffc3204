/* peek.c — see peek.h. */
#define _GNU_SOURCE
#include "os/peek.h"

#include "os/cfi.h"
#include "os/fault.h"

#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { OBJECTS_MOST = 256, WAIT_STEP_NS = 100000, WAIT_STEPS = 3000 };
_Static_assert(RAD_PEEK_SIGNAL == SIGURG, "the header does without signal.h");
enum { NONE = 0, ASKED, BUSY, DONE };

/* An object file: its code, and the table of it. */
typedef struct object {
    uintptr_t from, size;
    const uint8_t *header;
} object;

typedef struct request {
    _Atomic uint32_t state;
    int thread;
    rad_os_peek_where where;
    void *context;
    bool known; /* the answer: `where` knew the stack */
    rad_backtrace told;
    uint32_t object_count;
    object objects[OBJECTS_MOST];
} request;

static pthread_mutex_t peek_lock = PTHREAD_MUTEX_INITIALIZER; /* of all below */
static uint32_t peek_users;
static int peek_signal;
static struct sigaction peek_before;
static request the_request;
static bool peek_forks; /* forked is called in children */

/* ---- The handler ------------------------------------------------------------------------------------- */

static const uint8_t *header_of(const request *r, uintptr_t address)
{
    for (uint32_t i = 0; i < r->object_count; i++)
        if (address - r->objects[i].from < r->objects[i].size) return r->objects[i].header;
    return NULL;
}

#if defined(RAD_CONTEXT_UCONTEXT) || defined(__SANITIZE_THREAD__)
#define CANNOT_PEEK 1
#endif
#ifdef __has_feature
#if __has_feature(thread_sanitizer)
#define CANNOT_PEEK 1
#endif
#endif

#ifdef CANNOT_PEEK
static void registers(rad_cfi_frame *f, const ucontext_t *c)
{
    (void)f;
    (void)c;
}

static bool can_peek(void)
{
    return false;
}
#elif defined(__x86_64__)
/* In the order of the tables. */
static void registers(rad_cfi_frame *f, const ucontext_t *c)
{
    static const int order[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
                                REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    for (uint32_t i = 0; i < sizeof order / sizeof *order; i++)
        rad__cfi_set(f, i, (uintptr_t)c->uc_mcontext.gregs[order[i]]);
    f->pc = (uintptr_t)c->uc_mcontext.gregs[REG_RIP];
    rad__cfi_set(f, RAD_CFI_PC, f->pc);
}

static bool can_peek(void)
{
    return true;
}
#else /* aarch64 */
static void registers(rad_cfi_frame *f, const ucontext_t *c)
{
    for (uint32_t i = 0; i <= RAD_CFI_LINK; i++) rad__cfi_set(f, i, c->uc_mcontext.regs[i]);
    rad__cfi_set(f, RAD_CFI_SP, c->uc_mcontext.sp);
    f->pc = c->uc_mcontext.pc;
}

static bool can_peek(void)
{
    return true;
}
#endif

/* B2. */
static void walk(request *r, const ucontext_t *context)
{
    rad_cfi_frame f = {.exact = true};
    rad_backtrace *b = &r->told;
    const uint8_t *header;
    b->count = 0;
    registers(&f, context);
    r->known = r->where(r->context, f.at[RAD_CFI_SP], &f.low, &f.high);
    if (!r->known) return;
    do {
        b->at[b->count++] = f.exact ? f.pc : f.pc - 1;
        header = header_of(r, b->at[b->count - 1]);
    } while (b->count < RAD_BACKTRACE_MOST && header != NULL && rad__cfi_step(&f, header));
}

static void handle(int number, siginfo_t *info, void *context)
{
    request *r = &the_request;
    int kept = errno;
    uint32_t asked = ASKED;
    (void)number;
    (void)info;
    /* Pairs with A1. */
    if (atomic_load_explicit(&r->state, memory_order_acquire) == ASKED && r->thread == (int)syscall(SYS_gettid) &&
        /* B1, pairs with A1 and A4. */
        atomic_compare_exchange_strong_explicit(&r->state, &asked, BUSY, memory_order_acq_rel, memory_order_relaxed)) {
        walk(r, context);
        /* B3, pairs with A3. */
        atomic_store_explicit(&r->state, DONE, memory_order_release);
    }
    errno = kept;
}

/* ---- Asking ------------------------------------------------------------------------------------------ */

static bool is_ours(int number)
{
    struct sigaction now;
    return sigaction(number, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) && now.sa_sigaction == handle;
}

static int object_add(struct dl_phdr_info *info, size_t size, void *context)
{
    request *r = context;
    const uint8_t *header = NULL;
    uint32_t first = r->object_count;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t from = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_GNU_EH_FRAME) header = (const uint8_t *)from;
        if (p->p_type == PT_LOAD && (p->p_flags & PF_X) && r->object_count < OBJECTS_MOST)
            r->objects[r->object_count++] = (object){from, p->p_memsz, NULL};
    }
    for (uint32_t i = first; i < r->object_count; i++) r->objects[i].header = header;
    return 0;
}

/* A3, A4: whether there is an answer. */
static bool await(request *r)
{
    static const struct timespec step = {0, WAIT_STEP_NS};
    for (uint32_t i = 0;; i++) {
        /* A3, pairs with B3. */
        uint32_t state = atomic_load_explicit(&r->state, memory_order_acquire);
        if (state == DONE) return true;
        if (state == ASKED && i >= WAIT_STEPS &&
            /* A4, pairs with B1. */
            atomic_compare_exchange_strong_explicit(&r->state, &state, NONE, memory_order_acq_rel,
                                                    memory_order_relaxed))
            return false;
        nanosleep(&step, NULL);
    }
}

/* Called back once by the loader, which holds its lock meanwhile, and lets this thread take it again. */
static int ask(struct dl_phdr_info *info, size_t size, void *context)
{
    request *r = context;
    (void)info;
    (void)size;
    r->object_count = 0;
    dl_iterate_phdr(object_add, r);
    atomic_store_explicit(&r->state, ASKED, memory_order_release);  /* A1, pairs with B1 */
    if (syscall(SYS_tgkill, getpid(), r->thread, peek_signal) != 0) /* A2 */
        atomic_store_explicit(&r->state, NONE, memory_order_relaxed);
    else if (await(r))
        return 1;
    return 2;
}

static enum rad_os_peek peek(request *r, rad_backtrace *b)
{
    if (peek_users == 0) return RAD_PEEK_OFF;
    if (peek_signal == 0 || !is_ours(peek_signal)) return RAD_PEEK_TAKEN;
    if (r->thread == 0 || dl_iterate_phdr(ask, r) != 1) return RAD_PEEK_NO_ANSWER;
    *b = r->told;
    return r->known ? RAD_PEEK_TOLD : RAD_PEEK_ELSEWHERE;
}

enum rad_os_peek rad__os_peek(const rad_os_thread *t, rad_os_peek_where where, void *context, rad_backtrace *b)
{
    request *r = &the_request;
    pthread_mutex_lock(&peek_lock);
    r->thread = atomic_load_explicit(&t->number, memory_order_relaxed);
    r->where = where;
    r->context = context;
    enum rad_os_peek answer = peek(r, b);
    pthread_mutex_unlock(&peek_lock);
    return answer;
}

/* ---- Opening and closing ------------------------------------------------------------------------------ */

bool rad__os_peek_can_be(int signal)
{
    static const int never[] = {SIGKILL, SIGSTOP, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGPROF};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        if (signal == never[i]) return false;
    return signal > 0 && signal <= SIGRTMAX && (signal < 32 || signal >= SIGRTMIN);
}

/* In a child process: who had the lock, and who used it, are not there. */
static void forked(void)
{
    static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    peek_lock = fresh;
    peek_users = 0;
    atomic_store_explicit(&the_request.state, NONE, memory_order_relaxed);
}

static bool install(int number)
{
    struct sigaction action;
    if (!peek_forks) peek_forks = rad__os_after_fork(forked);
    if (is_ours(number)) return true; /* of the parent process */
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigemptyset(&action.sa_mask);
    if (rad__os_fails(EINVAL) || sigaction(number, NULL, &peek_before) != 0) return false;
    if ((peek_before.sa_flags & SA_SIGINFO) || (peek_before.sa_handler != SIG_DFL && peek_before.sa_handler != SIG_IGN))
        return false;
    return sigaction(number, &action, NULL) == 0;
}

bool rad__os_peek_open(int signal)
{
    if (!can_peek()) return false;
    pthread_mutex_lock(&peek_lock);
    if (peek_users++ == 0) peek_signal = install(signal) ? signal : 0;
    bool works = peek_signal != 0;
    pthread_mutex_unlock(&peek_lock);
    return works;
}

void rad__os_peek_close(void)
{
    if (!can_peek()) return;
    pthread_mutex_lock(&peek_lock);
    if (--peek_users == 0 && peek_signal != 0 && is_ours(peek_signal)) sigaction(peek_signal, &peek_before, NULL);
    pthread_mutex_unlock(&peek_lock);
}

void rad__os_peek_allow(void)
{
    sigset_t set;
    stack_t now;
    pthread_mutex_lock(&peek_lock);
    int number = peek_users > 0 ? peek_signal : 0;
    pthread_mutex_unlock(&peek_lock);
    if (number == 0 || sigaltstack(NULL, &now) != 0 || (now.ss_flags & SS_DISABLE)) return;
    sigemptyset(&set);
    sigaddset(&set, number);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}
