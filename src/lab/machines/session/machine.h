/* machine.h — the session machine on trial: any order of picks instead of a policy's, compared with one plain run. */
#ifndef RAD_LAB_MACHINES_SESSION_MACHINE_H
#define RAD_LAB_MACHINES_SESSION_MACHINE_H

#include "lab/json.h"
#include "lab/machines/session/session.h"
#include "session/machine/vm.h"

/* What is said of a step: notes by number. The first few are fixed, then come the messages, sent and received. */
enum {
    RAD_TELL_PICKED = 0,
    RAD_TELL_BLOCK,                                    /* and the reason */
    RAD_TELL_EVENT = RAD_TELL_BLOCK + RAD_BLOCK_COUNT, /* and the kind, where there is no message */
    RAD_TELL_MESSAGE = RAD_TELL_EVENT + RAD_SESSION_EVENT_KINDS
};

typedef struct rad_session_trial {
    rad_protocols *protocols;
    uint32_t protocol;
    rad_session_options options;
    uint32_t sessions;
    uint64_t fuel;             /* rounds */
    rad_session_vm *reference; /* N = 1, round robin */
    rad_session_vm *vm;
    rad_kernel *k;
    uint32_t *actors, *actions; /* by coroutine */
    uint32_t co_count, co_capacity, action_capacity;
    uint32_t *objects; /* by session and edge */
    uint32_t object_capacity;
    uint32_t session_object; /* what is waited for when it is no edge */
    uint32_t next;           /* of the picked ones: who runs next; RAD_NONE: they are still being picked */
    const char **edge_names, **notes;
    rad_arena arena;
} rad_session_trial;

/* case.c */
RAD_INTERNAL uint64_t rad__session_case_size(const rad_case *c);

/* For rad_machine.reduce: leaves lines out, but none that code by hand relies on. */
RAD_INTERNAL bool rad__session_case_reduce(const rad_case *from, rad_cursor *at, rad_case *to);

/* The name of its protocol; "": the last. */
RAD_INTERNAL int rad__session_case_protocol(const rad_case *c, char *name, size_t size, rad_error *error);

/* The body's source as one text, lines that end in "\n"; NULL and the error. rad__free it. */
RAD_INTERNAL char *rad__session_case_source(const rad_case *c, rad_error *error);

#endif
