/* raddle/base.h — what all public headers share: visibility, "none", errors. */
#ifndef RADDLE_BASE_H
#define RADDLE_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RAD_API                        __attribute__((visibility("default")))
#define RAD_PRINTF(format_at, args_at) __attribute__((format(printf, format_at, args_at)))
#define RAD_MUST_USE                   __attribute__((warn_unused_result))

/* Calls a RAD_MUST_USE function and drops its result; gcc warns of a cast to void. */
#define RAD_IGNORE(call) ((void)!(call))

/* "No actor", "no object", "no site", "no action", "no worker". */
#define RAD_NONE UINT32_MAX

/* ---- Errors -------------------------------------------------------------------------------------
 * Calls return 0 or a negative code; the text, with file and place, is in struct rad_error. */

#define RAD_ERROR_LIST(X)                                                                                              \
    X(RAD_EINPUT, -1, "bad input")                /* usage, file content: exit status 2 */                             \
    X(RAD_EIO, -2, "input/output error")          /* exit status 3 */                                                  \
    X(RAD_ENOMEM, -3, "out of memory")            /* exit status 3 */                                                  \
    X(RAD_ELIMIT, -4, "limit exceeded")           /* a bound of the lab, exit status 3 */                              \
    X(RAD_EINTERRUPTED, -5, "interrupted")        /* exit status 130 */                                                \
    X(RAD_EBUG, -6, "internal error")             /* a bug in raddle, exit status 4 */                                 \
    X(RAD_ETIMEOUT, -7, "the time is up")         /* a call that waits: not before its deadline */                     \
    X(RAD_ECANCELED, -8, "cancelled")             /* a call that waits: the fiber is to end */                         \
    X(RAD_ECLOSED, -9, "closed")                  /* a channel, a runtime: it takes and has no more */                 \
    X(RAD_ESTALE, -10, "no such fiber")           /* a handle whose fiber has ended and was given up */                \
    X(RAD_EPROTOCOL, -11, "against the protocol") /* an endpoint of a talk: raddle/talk.h */

enum {
#define RAD_ERROR_ENUM(name, value, text) name = value,
    RAD_ERROR_LIST(RAD_ERROR_ENUM)
#undef RAD_ERROR_ENUM
};

typedef struct rad_error {
    int code; /* 0 or one of the above */
    char text[512];
} rad_error;

#endif
