/* raddle/talk.h — programs that keep to a protocol: one session of it (a *talk*) over channels, and for each role a
 * *endpoint*, which lets nothing happen that the protocol does not allow.
 *
 * Programs do not call these: `raddle session project FILE --role R --c` writes a header with typed functions that do
 * (docs/session-reference.md, "In a program"), and that return what these return.
 *
 * Results    0 is success; rad_endpoint_await returns the number of a message, which is 1 or more: a caller may keep
 *            both in one variable. RAD_EPROTOCOL: the protocol does not allow this here; rad_endpoint_error says what
 *            it does allow. Nothing was sent, received or changed. RAD_ETIMEOUT, RAD_ECANCELED, RAD_ECLOSED (the
 *            talk is closed): as of channels; nothing was done.
 * Texts      are copied when they are sent. One that is received is the receiver's: rad_text_free it. NULL is sent as
 *            an empty text. */
#ifndef RADDLE_TALK_H
#define RADDLE_TALK_H

#include <raddle/chan.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- What is written by the generator -------------------------------------------------------------------- */

enum { RAD_TALK_FIELDS_MAX = 8 };

typedef struct rad_talk_message {
    const char *label;
    uint8_t fields;
    uint8_t texts; /* bit i: field i is a text */
} rad_talk_message;

/* What all roles of a protocol share. */
typedef struct rad_talk_shape {
    const char *protocol, *file;
    uint64_t digest; /* of the whole protocol: headers of different versions do not go together */
    const char *const *roles;
    uint32_t role_count;
    const rad_talk_message *messages; /* by number; [0] has the label "" and is none */
    const uint8_t *widths;            /* of channels: the fields of the largest message */
    uint32_t channel_count;
} rad_talk_shape;

enum rad_endpoint_kind { RAD_PARTY_END = 0, RAD_PARTY_SEND, RAD_PARTY_RECEIVE, RAD_PARTY_DOES, RAD_PARTY_FORK };

typedef struct rad_endpoint_arm {
    uint32_t message, peer, channel;
    uint32_t next; /* state; of FORK: the first one of the branch */
} rad_endpoint_arm;

typedef struct rad_endpoint_state {
    uint32_t kind, first_arm, arm_count;
    uint32_t next; /* of FORK: after all branches */
    uint32_t line; /* of the protocol file; 0: of none */
} rad_endpoint_state;

/* A role, or a family of them. */
typedef struct rad_endpoint_table {
    uint64_t digest;
    uint32_t first_role, role_count;
    const uint32_t *starts; /* states, by role */
    const rad_endpoint_state *states;
    const rad_endpoint_arm *arms;
} rad_endpoint_table;

/* ---- Talks ----------------------------------------------------------------------------------------------- */

typedef struct rad_talk rad_talk;

/* `capacity` messages in each channel; 0: 1, which is enough for every projected role. RAD_ENOMEM.
 * RAD_EINPUT: an earlier version of raddle wrote the header, which numbers messages from 0: generate it again. */
RAD_API RAD_MUST_USE int rad_talk_open(rad_talk **talk, const rad_talk_shape *shape, uint32_t capacity);

/* From now on sends, receives and waits return RAD_ECLOSED; messages that were sent are received first. Any caller, any
 * number of times. */
RAD_API void rad_talk_close(rad_talk *talk, int code);

/* The code it was closed with; 0: it is open. */
RAD_API int rad_talk_code(rad_talk *talk);

/* No endpoint of it may be in use. Messages that were not received are freed. NULL is fine. */
RAD_API void rad_talk_destroy(rad_talk *talk);

/* ---- Parties --------------------------------------------------------------------------------------------- */

typedef union rad_talk_value {
    int64_t number;
    char *text;       /* received */
    const char *sent; /* sent */
} rad_talk_value;

typedef struct rad_talk_packet {
    uint32_t message;
    rad_talk_value fields[RAD_TALK_FIELDS_MAX];
} rad_talk_packet;

/* Used by one fiber (or thread) at a time. */
typedef struct rad_endpoint {
    rad_talk *talk;
    const rad_endpoint_table *table;
    uint32_t role, state;
    struct rad_endpoint *parent; /* of a branch */
    bool forked, has_packet;
    rad_talk_packet packet; /* it has come, and was not taken yet */
    char error[256];
} rad_endpoint;

/* Role number `member` of the table. RAD_EINPUT: there is no such one, it is played already, or the headers are
 * of different versions of the protocol. Whatever is returned, rad_endpoint_error and rad_endpoint_end can be
 * called. */
RAD_API RAD_MUST_USE int rad_endpoint_begin(rad_endpoint *p, rad_talk *talk, const rad_endpoint_table *table,
                                            uint32_t member);

RAD_API int rad_endpoint_send(rad_endpoint *p, uint32_t message, uint32_t peer, const rad_talk_value *fields,
                              rad_time until);

/* Waits for the next message and leaves it where it is. Its number, from 1 on, or an error. */
RAD_API int rad_endpoint_await(rad_endpoint *p, rad_time until);

/* `fields` has room for those of the message. If another message of this state has come, it stays where it is. */
RAD_API int rad_endpoint_receive(rad_endpoint *p, uint32_t message, uint32_t peer, rad_talk_value *fields,
                                 rad_time until);

RAD_API int rad_endpoint_does(rad_endpoint *p, uint32_t what);

/* Begins the parallel branches, in the order of the protocol: each gets an endpoint of its own and may run in a fiber
 * of its own, until it is joined. `count` is how many of them this role takes part in. */
RAD_API int rad_endpoint_fork(rad_endpoint *p, rad_endpoint *branches, uint32_t count);

/* After the fibers of all branches have ended. Ends the branches. RAD_EPROTOCOL: one of them is not at its end, or is
 * another's; nothing has changed, and all of them may continue, or are ended by rad_endpoint_end. */
RAD_API int rad_endpoint_join(rad_endpoint *p, rad_endpoint *branches, uint32_t count);

/* The endpoint is not used any more, whatever this returns: what it had received and not taken is freed. RAD_EPROTOCOL:
 * there was more to do. */
RAD_API int rad_endpoint_end(rad_endpoint *p);

/* What the last RAD_EPROTOCOL or RAD_EINPUT was about: role, place, what is allowed there. "" at first. */
RAD_API const char *rad_endpoint_error(const rad_endpoint *p);

RAD_API void rad_text_free(char *text);

/* The number of a role from its index in a family; RAD_NONE: there is none. */
static inline uint32_t rad_endpoint_peer(uint32_t first_role, int first_index, uint32_t count, int index)
{
    int64_t at = (int64_t)index - first_index;
    return at >= 0 && at < (int64_t)count ? first_role + (uint32_t)at : RAD_NONE;
}

#ifdef __cplusplus
}
#endif

#endif
