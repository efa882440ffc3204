/* session_support.h — what the tests of the session machine share. */
#ifndef RAD_TEST_SESSION_SUPPORT_H
#define RAD_TEST_SESSION_SUPPORT_H

#include "session/machine/vm.h"

/* Fails the test with what was said when the text is refused. */
rad_protocols *session_parse(const char *text);

/* It must be refused, and this said: "test:LINE:COLUMN: …". */
void session_refused(const char *text, const char *because);

/* A machine with one session, or more, of the last protocol. */
rad_session_vm *session_vm(const rad_protocols *p, const rad_session_options *o, uint32_t sessions);

/* Default options with this N and policy. */
rad_session_options session_options(uint32_t n, enum rad_session_policy policy);

rad_session_info session_info(const rad_session_vm *vm);

/* The thread of that name in a session; fails the test when there is none. */
rad_co *session_thread(const rad_session_vm *vm, uint32_t session, const char *name);

/* Events of the log, normalized; the caller frees them. */
rad_session_event *session_events(const rad_session_vm *vm, uint64_t *count);

/* One round, by hand: true when there was one. */
bool session_round(rad_session_vm *vm);

#define SESSION_NS                                                                                                     \
    {                                                                                                                  \
        1, 2, 3, 7, RAD_SESSION_ALL                                                                                    \
    }
enum { SESSION_N_COUNT = 5, SESSION_POLICIES = 3 };

#endif
