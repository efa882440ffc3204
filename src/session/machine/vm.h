/* vm.h — the session machine: sessions, their threads and buffers, and what one instruction does to them.
 *
 * Coroutine     one thread of one session.
 *
 *     IDLE --spawned--> READY --blocks--> BLOCKED --its condition holds, in the next unblock phase--> READY
 *                         |
 *                         +--halt--> ENDED (a parallel branch may be spawned again)
 *     any of a session whose thread faults --> FAULTED, for good
 *
 * Blocked       on one of: a message to come (RECEIVE), room in a buffer (SEND), a handler (INVOKE), the end of all
 *               others and empty buffers (CLOSE), the progress token (ACQUIRE), the ends of its branches (JOIN). A
 *               blocked instruction has changed nothing: it is run again, from its beginning.
 * Monitor       `type` is the state of the local type. A communication happens only if the state has an arm for it,
 *               and the fields have the types it says; then type, buffer and pc change together. The code is not
 *               trusted.
 * Round         (rounds.c) unblock, pick, run, one instruction each.
 * Digest        of a thread: a fold over its events. A message carries its sender's digest, a receive folds it in, as a
 *               branch begins with its parent's and a join folds in those of its branches: so it is a name for
 *               everything that has happened before, and nothing else: the canonical form of the happens-before order.
 * Token         one per session. Free, or held by a thread, which the policy `progress` prefers.
 *                   grant      to the thread that is woken or begun next, when it is free
 *                   transfer   to the receiver, by a send of its holder
 *                   consume    free again when its holder receives, blocks or ends
 *                   acquire    takes it, also from somebody who did not acquire it, and keeps it through all of the
 *                              above until release (or its end)
 *
 * V1  READY <=> linked in a ready list or picked; BLOCKED <=> not linked, and `reason` says why. Nobody is both.
 * V2  a receiver blocked on an edge, and the edge not empty => it is in `wakes`; likewise for all other reasons.
 * V3  an edge holds `count` <= `capacity` messages, numbers `received` … `sent`-1, oldest first.
 * V4  at most one thread of a session holds its token. */
#ifndef RAD_SESSION_MACHINE_VM_H
#define RAD_SESSION_MACHINE_VM_H

#include "base/digest.h"
#include "session/machine/value.h"

/* Numbers are those of enum rad_coroutine_phase. */
enum rad_co_state { RAD_CO_IDLE, RAD_CO_READY, RAD_CO_BLOCKED, RAD_CO_ENDED, RAD_CO_FAULTED };

#define RAD_BLOCK_REASONS(X)                                                                                           \
    X(NONE, "begins in the next round")                                                                                \
    X(RECEIVE, "waits for a message")                                                                                  \
    X(SEND, "waits for room")                                                                                          \
    X(INVOKE, "waits for its handler")                                                                                 \
    X(CLOSE, "waits for the session to drain")                                                                         \
    X(ACQUIRE, "waits for the progress token")                                                                         \
    X(JOIN, "waits for its branches")

enum rad_session_block {
#define RAD_BLOCK_ENUM(name, text) RAD_BLOCK_##name,
    RAD_BLOCK_REASONS(RAD_BLOCK_ENUM)
#undef RAD_BLOCK_ENUM
        RAD_BLOCK_COUNT
};

#define RAD_FAULTS(X)                                                                                                  \
    X(NONE, "none")                                                                                                    \
    X(LABEL, "the protocol does not allow this message here")                                                          \
    X(PEER, "the protocol does not allow a message with this peer here")                                               \
    X(FIELDS, "the fields do not have the types that the message has")                                                 \
    X(CLOSED, "the session is closed")                                                                                 \
    X(EARLY, "the protocol is not at its end")                                                                         \
    X(FULL, "the buffer is full")                                                                                      \
    X(HANDLER, "the handler failed")                                                                                   \
    X(ANSWER, "the handler's answer does not fit")                                                                     \
    X(EFFECT, "the protocol does not allow this effect here")                                                          \
    X(OPERAND, "the registers do not hold what the instruction needs")                                                 \
    X(TOKEN, "the token is not held")                                                                                  \
    X(SESSIONS, "there are too many sessions")                                                                         \
    X(REPLAY, "the record has something else here")                                                                    \
    X(MEMORY, "out of memory")

enum rad_fault {
#define RAD_FAULT_ENUM(name, text) RAD_FAULT_##name,
    RAD_FAULTS(RAD_FAULT_ENUM)
#undef RAD_FAULT_ENUM
        RAD_FAULT_COUNT
};

typedef struct rad_co {
    struct rad_co *newer, *older; /* in a ready list */
    struct rad_co *next_wake;
    struct rad_session *session;
    uint32_t pc, type;
    uint8_t state;  /* enum rad_co_state */
    uint8_t reason; /* enum rad_session_block */
    uint8_t lane;   /* which ready list */
    bool to_wake;   /* in `wakes` */
    bool yielded;
    bool has_state; /* a handler was given it */
    uint16_t thread;
    uint32_t what;     /* edge or effect it is blocked on */
    uint32_t id;       /* in order of creation: ties */
    uint32_t children; /* branches that have not ended */
    uint32_t opened;   /* sessions */
    uint64_t effects, events;
    uint64_t ready_since; /* the round */
    rad_digest digest;
    rad_datum *registers;
} rad_co;

typedef struct rad_packet {
    uint32_t label;
    uint32_t fields; /* how many the sender's type says it has */
    uint64_t number, hash;
    uint64_t causes; /* the sender's digest */
} rad_packet;

typedef struct rad_buffer {
    rad_packet *packets; /* a ring */
    rad_datum *fields;   /* `width` for each */
    uint32_t head, count, capacity, width;
    uint64_t sent, received, dropped;
    bool is_own; /* it has been made larger: memory of its own */
} rad_buffer;

typedef struct rad_session {
    const rad_protocol *protocol;
    rad_co *threads;
    rad_buffer *buffers; /* by edge */
    uint32_t number;     /* in order of opening */
    uint32_t live;       /* threads that are not at the end of their types */
    uint32_t in_flight;  /* messages in all buffers */
    uint64_t key;        /* of its path: for draws */
    const char *path;
    bool closed;
    uint8_t fault; /* enum rad_fault */
    uint16_t fault_thread;
    uint32_t fault_line;
    uint64_t fault_causes;
    rad_co *holder; /* of the token */
    bool pinned;    /* it was acquired */
    char *states;   /* of handlers, by thread: each has vm->state_size bytes */
} rad_session;

typedef struct rad_handler {
    uint32_t name; /* symbol; RAD_NONE: all others */
    rad_effect_handler *call;
    void *context;
} rad_handler;

enum { RAD_LANES = 2, RAD_RING = 1024, RAD_SESSIONS_MAX = 10000000, RAD_BUFFER_MAX = 65536 };

/* Of coroutines, the one that is next first. */
typedef struct rad_session_lane {
    rad_co *first, *last;
    uint32_t count;
} rad_session_lane;

struct rad_session_vm {
    const rad_protocols *protocols;
    rad_session_options options;
    rad_session **sessions;
    uint32_t session_count, session_capacity;
    uint32_t root_count; /* of those opened from outside */
    uint32_t root_first; /* the number of the first one */
    uint32_t co_count, ready_count, blocked_count, ended_count, faulted_sessions, closed_sessions;
    rad_session_lane lanes[RAD_LANES]; /* 1: holders of tokens, with policy `progress` */
    uint32_t streak;                   /* picks of holders in a row */
    rad_co *wakes, *last_wake;         /* to be looked at in the next unblock phase, in order */
    rad_co **invokers;                 /* blocked on a handler */
    uint32_t invoker_count, invoker_capacity;
    rad_co **picked; /* of this round */
    uint32_t picked_count, picked_capacity, run_count;
    uint64_t round, instructions, messages, effects;
    rad_handler *handlers;
    uint32_t handler_count, handler_capacity;
    size_t state_size; /* a multiple of 16 */
    void (*drop_state)(void *state);
    rad_session_event *events; /* all, or a ring of the last RAD_RING */
    uint64_t event_count;
    uint32_t event_capacity;
    struct rad_effect_log *effect_log;      /* kept; NULL: not */
    const struct rad_effect_log *on_record; /* replayed; NULL: handlers are called */
    uint32_t
        apart; /* for those on record whose number has bit apart / 2 as apart % 2 is, they are, too; RAD_NONE: no */
    bool no_memory;
};

/* ---- Between the files of the machine -------------------------------------------------------------------- */

/* step.c: the next instruction of a coroutine that is READY. Sets state and reason; the caller moves it. */
RAD_INTERNAL void rad__session_step(rad_session_vm *vm, rad_co *co);
RAD_INTERNAL void rad__session_fault(rad_session_vm *vm, rad_co *co, enum rad_fault fault);
RAD_INTERNAL const char *rad__fault_text(uint32_t fault);
RAD_INTERNAL const char *rad__block_text(uint32_t reason);

/* vm.c */
static inline void *rad__co_state(const rad_session_vm *vm, const rad_co *co)
{
    return vm->state_size ? co->session->states + co->thread * vm->state_size : NULL;
}

RAD_INTERNAL rad_session *rad__session_open_by(rad_session_vm *vm, rad_co *co, uint32_t protocol,
                                               enum rad_fault *fault); /* NULL: why not */
RAD_INTERNAL void rad__session_begin(rad_session_vm *vm, rad_co *co);
RAD_INTERNAL bool rad__buffer_grow(rad_buffer *b);

/* trace.c */
RAD_INTERNAL void rad__session_keep(rad_session_vm *vm, const rad_co *co, enum rad_session_event_kind kind,
                                    uint32_t label, uint32_t edge, uint64_t number, uint64_t value);

/* The digest of all sessions, before it is written. */
RAD_INTERNAL rad_digest rad__session_sum(const rad_session_vm *vm);

/* effects.c */
RAD_INTERNAL enum rad_effect_result rad__session_invoke(rad_session_vm *vm, rad_co *co, const rad_effect_site *site,
                                                        uint64_t *hash);

/* same.c: as rad_session_same; a lack of memory is no difference. */
enum rad_comparison { RAD_RUNS_ARE_SAME, RAD_RUNS_DIFFER, RAD_RUNS_NOT_COMPARED };
RAD_INTERNAL enum rad_comparison rad__session_compare(const rad_session_vm *a, const rad_session_vm *b, char *text,
                                                      size_t size);

/* Whether a handler is to blame: everything before it was the same in both runs, its answer was not. */
RAD_INTERNAL bool rad__effects_blame(const struct rad_effect_log *a, const struct rad_effect_log *b, char *text,
                                     size_t size);

/* Coroutines that have effects on record are numbered; how many there are. */
RAD_INTERNAL uint32_t rad__effects_actors(const struct rad_effect_log *log);

/* What was asked, and what is on record. */
RAD_INTERNAL void rad__session_mismatch(const rad_session_vm *vm, const rad_co *co, char *text, size_t size);

/* rounds.c */
RAD_INTERNAL void rad__rounds_ready(rad_session_vm *vm, rad_co *co, bool first);
RAD_INTERNAL void rad__rounds_wake(rad_session_vm *vm, rad_co *co);   /* looks at it in the next phase */
RAD_INTERNAL void rad__rounds_forget(rad_session_vm *vm, rad_co *co); /* it leaves its list */
RAD_INTERNAL bool rad__rounds_unblock(rad_session_vm *vm);
RAD_INTERNAL rad_co *rad__rounds_prefer(const rad_session_vm *vm);
RAD_INTERNAL void rad__rounds_pick(rad_session_vm *vm, rad_co *co);
RAD_INTERNAL bool rad__rounds_is_full(const rad_session_vm *vm);
RAD_INTERNAL void rad__rounds_run_one(rad_session_vm *vm, rad_co *co);
RAD_INTERNAL void rad__rounds_round_ends(rad_session_vm *vm);
RAD_INTERNAL void rad__rounds_hold(rad_session_vm *vm, rad_session *s, rad_co *co); /* NULL: free */
RAD_INTERNAL bool rad__rounds_valid(const rad_session_vm *vm);

/* ---- Digests --------------------------------------------------------------------------------------------- */

static inline rad_digest rad__co_fold(rad_digest d, uint64_t what, uint64_t value, uint64_t causes)
{
    uint64_t low = rad__fold(d.low + what, d.high ^ value);
    return (rad_digest){low, rad__fold(d.high + causes, low ^ (what << 32 | what >> 32))};
}

static inline uint64_t rad__digest_word(rad_digest d)
{
    return d.low ^ d.high;
}

/* An event: its share of the digest, and the trace. */
static inline void rad__session_event(rad_session_vm *vm, rad_co *co, enum rad_session_event_kind kind, uint32_t label,
                                      uint32_t edge, uint64_t number, uint64_t value, uint64_t causes)
{
    uint64_t what = (uint64_t)kind << 56 | (uint64_t)label << 32 | edge;
    co->digest = rad__co_fold(co->digest, what ^ rad__mix64(number), value, causes);
    co->events++;
    rad__session_keep(vm, co, kind, label, edge, number, value);
}

#endif
