/* peek.h — who called whom on a thread that runs: the thread tells it in a signal handler.
 *
 * The handler only walks its stack, by tables (cfi.h) that the one who asks has found before. It takes no lock, calls
 * neither malloc nor the loader, and so may interrupt any code, malloc too. It runs on the thread's alternate stack,
 * because the stack of a fiber may be too small for a signal frame. The one who asks holds the loader's lock until the
 * answer has come: no object file with a table can be unloaded meanwhile.
 *
 * There is one request in the process at a time.
 *
 *              asks                                          thread, in the handler
 *         A1   fills the request, state := ASKED  (release)  B1   ASKED, and it is the one ? state := BUSY (acq_rel)
 *         A2   sends the signal                              B2   walks, writes the answer
 *         A3   DONE (acquire) ? takes the answer             B3   state := DONE                        (release)
 *         A4   too late: ASKED -> NONE
 * Claim: nobody reads or writes the request of another one. A4 and B1 change the same word. A4 first: the handler finds
 * nothing to do. B1 first: A waits for B3, which follows without waiting for anything.
 *
 * The signal belongs to the program if it has a handler for it: then there are no answers. The handler has SA_RESTART;
 * calls that no handler can restart (nanosleep, poll, epoll_wait …) end with EINTR.
 *
 * Thread sanitizer runs handlers later, when their context is no longer true: in its builds there are no answers.
 *
 * Rejected: ptrace (a thread cannot trace its own process); reading the stack of a thread that runs (what is read never
 * was the case); backtrace(3) in the handler (it may load a library, and takes the loader's lock). */
#ifndef RAD_OS_PEEK_H
#define RAD_OS_PEEK_H

#include "os/backtrace.h"
#include "os/thread.h"

enum rad_os_peek {
    RAD_PEEK_TOLD = 0,
    RAD_PEEK_OFF,       /* not opened */
    RAD_PEEK_TAKEN,     /* the program has a handler for the signal */
    RAD_PEEK_NO_ANSWER, /* the thread blocks the signal, sleeps where none comes, or did not get a CPU in time */
    RAD_PEEK_ELSEWHERE  /* `where` did not know the stack */
};

/* In the handler: the bounds of the stack with this stack pointer; false: it is not the one that is meant. */
typedef bool (*rad_os_peek_where)(void *context, uintptr_t pointer, uintptr_t *low, uintptr_t *high);

/* SIGURG: nobody sends it but for urgent data of sockets, which hardly any program uses, and its default is to be
 * ignored, so that one which comes too late does no harm. */
enum { RAD_PEEK_SIGNAL = 23 };

/* Any number of times; each is closed. Only the first one chooses the signal. False: the program has a handler for it,
 * or the system refuses. */
RAD_INTERNAL bool rad__os_peek_open(int signal);
RAD_INTERNAL void rad__os_peek_close(void);

/* By each thread that is to answer; it has a stack for signals (segv.h). */
RAD_INTERNAL void rad__os_peek_allow(void);

/* Whether a program may choose it: its default is not to end in a fault, and handlers can be set. */
RAD_INTERNAL bool rad__os_peek_can_be(int signal);

/* Asks a thread, and waits for some tenths of a second at most. */
RAD_INTERNAL enum rad_os_peek rad__os_peek(const rad_os_thread *t, rad_os_peek_where where, void *context,
                                           rad_backtrace *b);

#endif
