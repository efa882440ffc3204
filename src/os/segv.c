#define _GNU_SOURCE
#include "os/segv.h"

#include "base/error.h"
#include "os/fault.h"
#include "os/pages.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

enum { SIGNAL_COUNT = 2, SIGNAL_STACK_SIZE = RAD_PAGE_MAX };

static const int SIGNALS[SIGNAL_COUNT] = {SIGSEGV, SIGBUS};

static bool (*segv_handler)(const rad_os_segv *fault);
static struct sigaction segv_before[SIGNAL_COUNT];

static uintptr_t stack_pointer(const ucontext_t *c)
{
#if defined(__x86_64__)
    return (uintptr_t)c->uc_mcontext.gregs[REG_RSP];
#elif defined(__aarch64__)
    return (uintptr_t)c->uc_mcontext.sp;
#else
    (void)c;
    return 0;
#endif
}

/* As the system would have done with what was there before. A fault comes again when we return; a signal that somebody
 * has sent has to be sent again. */
static void segv_pass_on(int number, siginfo_t *info, void *context)
{
    const struct sigaction *before = &segv_before[number == SIGBUS];
    bool is_fault = info->si_code > 0;
    if (before->sa_flags & SA_SIGINFO) {
        before->sa_sigaction(number, info, context);
    } else if (before->sa_handler == SIG_IGN && !is_fault) {
        return;
    } else if (before->sa_handler == SIG_DFL || before->sa_handler == SIG_IGN) {
        sigaction(number, before, NULL);
        if (!is_fault) raise(number);
    } else {
        before->sa_handler(number);
    }
}

static void segv_catch(int number, siginfo_t *info, void *context)
{
    int kept = errno;
    rad_os_segv fault = {0, stack_pointer(context)};
    if (info->si_code > 0) fault.address = (uintptr_t)info->si_addr;
    if (info->si_code > 0 && segv_handler(&fault))
        for (int i = 0; i < SIGNAL_COUNT; i++) sigaction(SIGNALS[i], &segv_before[i], NULL);
    else
        segv_pass_on(number, info, context);
    errno = kept;
}

int rad__os_segv_open(bool (*handler)(const rad_os_segv *fault), rad_error *error)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = segv_catch;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    segv_handler = handler;
    for (int i = 0; i < SIGNAL_COUNT; i++) {
        /* What was there is known before it is replaced: a fault may come at once. */
        if (!rad__os_fails(EINVAL) && sigaction(SIGNALS[i], NULL, &segv_before[i]) == 0 &&
            sigaction(SIGNALS[i], &action, NULL) == 0)
            continue;
        rad__error(error, RAD_EIO, "cannot handle signal %d: %s", SIGNALS[i], strerror(errno));
        while (i-- > 0) sigaction(SIGNALS[i], &segv_before[i], NULL);
        return RAD_EIO;
    }
    return 0;
}

void rad__os_segv_close(void)
{
    struct sigaction now;
    for (int i = 0; i < SIGNAL_COUNT; i++)
        if (sigaction(SIGNALS[i], NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) && now.sa_sigaction == segv_catch)
            sigaction(SIGNALS[i], &segv_before[i], NULL);
}

void rad__os_segv_say(const char *text, size_t size)
{
    while (size > 0) {
        ssize_t written = write(STDERR_FILENO, text, size);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return;
        text += written;
        size -= (size_t)written;
    }
}

void rad__os_segv_abort(void)
{
    abort();
}

int rad__os_signal_stack_open(rad_os_signal_stack *s, rad_error *error)
{
    stack_t now, wanted = {.ss_size = SIGNAL_STACK_SIZE};
    s->memory = NULL;
    if (sigaltstack(NULL, &now) == 0 && !(now.ss_flags & SS_DISABLE)) return 0;
    int code = rad__os_pages_map(&s->memory, SIGNAL_STACK_SIZE, error);
    if (code != 0) return code;
    wanted.ss_sp = s->memory;
    if (rad__os_fails(EINVAL) || sigaltstack(&wanted, NULL) != 0) {
        rad__error(error, RAD_EIO, "cannot set a stack for signals: %s", strerror(errno));
        rad__os_pages_unmap(s->memory, SIGNAL_STACK_SIZE);
        s->memory = NULL;
        return RAD_EIO;
    }
    return 0;
}

void rad__os_signal_stack_close(rad_os_signal_stack *s)
{
    stack_t now, none = {.ss_flags = SS_DISABLE};
    if (s->memory == NULL) return;
    if (sigaltstack(NULL, &now) == 0 && now.ss_sp == s->memory) sigaltstack(&none, NULL);
    rad__os_pages_unmap(s->memory, SIGNAL_STACK_SIZE);
    s->memory = NULL;
}
