/* session.h — what the parts of `raddle session` share: the file, and how it is run. */
#ifndef RAD_CLI_SESSION_H
#define RAD_CLI_SESSION_H

#include "command/hunt.h"
#include "parts.h"

#include <raddle/session.h>

#define NOT_GIVEN UINT64_MAX

extern const verb VERB_SESSION_CHECK, VERB_SESSION_RUN, VERB_SESSION_INVARIANT, VERB_SESSION_PROJECT,
    VERB_SESSION_TRACE, VERB_SESSION_DRAW;

/* How it is run, on the command line. */
typedef struct run_words {
    const char *protocol, *n, *policy, *full;
    uint64_t sessions, capacity, fuel, seed, threads;
} run_words;

#define RUN_WORDS_DEFAULT                                                                                              \
    {                                                                                                                  \
        .n = "1", .policy = "cooperative", .full = "block", .sessions = 1, .capacity = 1, .seed = 1                    \
    }

#define OPTION_PROTOCOL(type, at)                                                                                      \
    {                                                                                                                  \
        "protocol", OPTION_TEXT, offsetof(type, at), "NAME", "which protocol of the file (default: the last)", 0, 0, 0 \
    }
#define OPTION_SESSIONS(type, at)                                                                                      \
    {                                                                                                                  \
        "sessions", OPTION_COUNT, offsetof(type, at), "S", "open S sessions (default: 1)", 1, 1000000, 0               \
    }
#define OPTION_CAPACITY(type, at)                                                                                      \
    {                                                                                                                  \
        "capacity", OPTION_COUNT, offsetof(type, at), "K", "messages a buffer holds (default: 1)", 1, 4096, 0          \
    }
#define OPTION_FULL(type, at)                                                                                          \
    {                                                                                                                  \
        "full", OPTION_TEXT, offsetof(type, at), "RULE",                                                               \
            "when a buffer is full: block, error, drop, latest or resize (default: block)", 0, 0, 0                    \
    }
#define OPTIONS_OF_RUN(type, at, rounds)                                                                               \
    OPTION_PROTOCOL(type, at.protocol), {"n",                                                                          \
                                         OPTION_TEXT,                                                                  \
                                         offsetof(type, at.n),                                                         \
                                         "N",                                                                          \
                                         "coroutines that advance in a round: a number or inf (default: 1)",           \
                                         0,                                                                            \
                                         0,                                                                            \
                                         0},                                                                           \
        {"policy",                                                                                                     \
         OPTION_TEXT,                                                                                                  \
         offsetof(type, at.policy),                                                                                    \
         "P",                                                                                                          \
         "cooperative, round-robin or progress (default: cooperative)",                                                \
         0,                                                                                                            \
         0,                                                                                                            \
         0},                                                                                                           \
        {"fuel",                                                                                                       \
         OPTION_COUNT,                                                                                                 \
         offsetof(type, at.fuel),                                                                                      \
         "F",                                                                                                          \
         "stop after F rounds (default: " rounds ")",                                                                  \
         0,                                                                                                            \
         UINT64_C(1000000000000),                                                                                      \
         0},                                                                                                           \
        OPTION_SESSIONS(type, at.sessions), OPTION_CAPACITY(type, at.capacity), OPTION_FULL(type, at.full),            \
    {                                                                                                                  \
        "threads", OPTION_COUNT, offsetof(type, at.threads), "T", "advance sessions on T OS threads (default: 1)", 0,  \
            256, 0                                                                                                     \
    }

/* All return 0 or an exit status, message printed. */
int read_protocols(cli *c, const words *w, rad_protocols **p);
int read_protocol(cli *c, const rad_protocols *p, const char *name, uint32_t *protocol);
int read_n(cli *c, const char *text, uint32_t *n);
int read_policy_of(const char *text, enum rad_session_policy *policy); /* -1: no such */
int read_policy(cli *c, const char *text, enum rad_session_policy *policy);
int read_full(cli *c, const char *text, enum rad_session_full *full);
int read_run(cli *c, const run_words *r, rad_session_options *o);

const char *policy_name(enum rad_session_policy policy);
void n_text(uint32_t n, char text[16]);

/* The sessions of a file as a target of the lab; rad_target_free it. */
int session_target(cli *c, const char *path, const run_words *r, const rad_session_options *o, rad_target *t);

/* Looks for a failure of these sessions in the lab, keeps it as an artifact and shrinks it. */
int session_hunt(hunt *h, const char *path, const run_words *r, const rad_session_options *o);

#endif
