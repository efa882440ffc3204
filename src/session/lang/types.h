/* types.h — local types: what each thread of a protocol may do, as states and what leads from one to the next.
 *
 * Thread    a role, or one parallel branch of it. Threads 0 … roles-1 are the roles.
 * Edge      one direction between two roles within one parallel branch: (sender, receiver, branch). Messages of
 *           different branches never meet in one buffer, so which of them is read first is nobody's business.
 * State     of one thread: END; SEND with one arm for each message it may send; RECEIVE with one for each it has to be
 *           ready for, all on one edge; DOES something by itself; PAR, which begins threads and waits for their ends.
 *
 * A thread's type at any time is the number of a state: nothing is unfolded, so loops cost nothing. */
#ifndef RAD_SESSION_LANG_TYPES_H
#define RAD_SESSION_LANG_TYPES_H

#include "session/lang/global.h"

enum rad_local_kind { RAD_LOCAL_END, RAD_LOCAL_SEND, RAD_LOCAL_RECEIVE, RAD_LOCAL_DOES, RAD_LOCAL_PAR };

typedef struct rad_local_arm {
    uint32_t edge;  /* of PAR: the thread that begins */
    uint32_t label; /* of DOES: what */
    uint32_t next;  /* state; of PAR: the first one of that thread */
    uint32_t line;
    rad_signature signature;
    const rad_ast_field *fields;
} rad_local_arm;

typedef struct rad_local_state {
    enum rad_local_kind kind;
    uint32_t first_arm, arm_count; /* arms lie together, by peer and label in order of the text */
    uint32_t next;                 /* of PAR: after the last of its threads has ended */
    uint32_t line;
} rad_local_state;

typedef struct rad_local_thread {
    uint32_t role, branch;
    uint32_t parent;  /* or RAD_NONE */
    uint32_t start;   /* state */
    const char *name; /* "Seller", "Seller.2" */
} rad_local_thread;

typedef struct rad_local_edge {
    uint32_t from, to; /* threads */
    uint32_t branch;
    uint32_t fields; /* of the largest message */
} rad_local_edge;

typedef struct rad_types {
    rad_global_protocol global;
    rad_local_state *states;
    uint32_t state_count, state_capacity;
    rad_local_arm *arms;
    uint32_t arm_count, arm_capacity;
    rad_local_thread *threads;
    uint32_t thread_count, thread_capacity;
    rad_local_edge *edges;
    uint32_t edge_count, edge_capacity;
} rad_types;

enum { RAD_STATES_MAX = 60000, RAD_THREADS_MAX = 4096, RAD_EDGES_MAX = 60000 };

/* Projects the protocol to its roles. RAD_EINPUT: some role could not know what to do, with the places. `t->global` is
 * there before. */
RAD_INTERNAL int rad__types_project(rad_ast_file *file, rad_types *t, rad_error *error);
RAD_INTERNAL void rad__types_free(rad_types *t);

static inline uint32_t rad__types_peer(const rad_types *t, const rad_local_state *s, const rad_local_arm *arm)
{
    const rad_local_edge *e = &t->edges[arm->edge];
    return t->threads[s->kind == RAD_LOCAL_SEND ? e->to : e->from].role;
}

#endif
