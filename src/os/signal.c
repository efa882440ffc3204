/* signal.c — see signal.h. */
#define _GNU_SOURCE
#include "os/signal.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

enum { PATIENCE = 3 };

static volatile int asked;
static const char *volatile words;

static void on_signal(int number)
{
    (void)number;
    asked = asked + 1;
    if (words != NULL && write(STDERR_FILENO, words, strlen(words)) < 0) asked = PATIENCE;
    if (words != NULL || asked >= PATIENCE) _exit(RAD_OS_STATUS_INTERRUPTED);
}

static const struct {
    int number;
    void (*handler)(int number);
} WATCHED[RAD_OS_SIGNALS] = {
    {SIGINT, on_signal}, {SIGTERM, on_signal}, {SIGHUP, on_signal}, {SIGPIPE, SIG_IGN}, {SIGXFSZ, SIG_IGN}};

void rad__os_signals_watch(rad_os_signals *before)
{
    asked = 0;
    words = NULL;
    for (size_t i = 0; i < RAD_OS_SIGNALS; i++) {
        struct sigaction action = {.sa_flags = 0}; /* no SA_RESTART: a poll under way returns */
        action.sa_handler = WATCHED[i].handler;
        sigemptyset(&action.sa_mask);
        sigaction(WATCHED[i].number, NULL, &before->action[i]);
        bool stays = WATCHED[i].number == SIGHUP && before->action[i].sa_handler == SIG_IGN;
        if (!stays) sigaction(WATCHED[i].number, &action, NULL);
    }
}

void rad__os_signals_restore(const rad_os_signals *before)
{
    for (size_t i = 0; i < RAD_OS_SIGNALS; i++) sigaction(WATCHED[i].number, &before->action[i], NULL);
}

void rad__os_signals_end_at_once(const char *last_words)
{
    words = last_words;
}

void rad__os_signals_hold(sigset_t *before)
{
    sigset_t all;
    sigemptyset(&all);
    for (size_t i = 0; i < RAD_OS_SIGNALS; i++)
        if (WATCHED[i].handler == on_signal) sigaddset(&all, WATCHED[i].number);
    pthread_sigmask(SIG_BLOCK, &all, before);
}

void rad__os_signals_let_go(const sigset_t *before)
{
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

volatile int *rad__os_interrupted(void)
{
    return &asked;
}

void rad__os_signals_leave_to_parent(void)
{
    for (size_t i = 0; i < RAD_OS_SIGNALS; i++)
        if (WATCHED[i].handler == on_signal) signal(WATCHED[i].number, SIG_IGN);
}
