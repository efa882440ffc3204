/* parts.h — what the files of the validator share.
 *
 * A node is a state, known by its digest; an edge is a step, with the choices that were made for it and in it. Nodes
 * are met for the first time by one edge, so that the edges back to the first node give a run: its choices count
 * among all enabled tokens, not only among those that the search tried, and any kernel can execute them. */
#ifndef RAD_FLOW_CHECK_PARTS_H
#define RAD_FLOW_CHECK_PARTS_H

#include "flow/check/validate.h"
#include "flow/lang/outline.h"
#include "flow/machine/proper.h"

/* ---- Which orders matter (local.c) ------------------------------------------------------------------- */

/* What a program has that others can see. */
typedef struct rad_flow_traits {
    bool cancels_task, cancels_region, compensates, finishes, detaches;
    bool stops_some; /* some tokens may be cancelled while the case continues */
    bool drawn;      /* outcomes are, and there are some: paths, and effects begun by them, matter */
    bool ends;       /* which end it comes to, matters */
    uint8_t *more;   /* by operation: some `more` adds to this many */
} rad_flow_traits;

/* The world has a say in it: outcomes, values, events. */
RAD_INTERNAL bool rad__flow_draws(const rad_flow_program *p);

RAD_INTERNAL bool rad__flow_traits_make(rad_flow_traits *t, const rad_flow_program *p, bool drawn);
RAD_INTERNAL void rad__flow_traits_free(rad_flow_traits *t);

/* Whether the enabled token's next step may be done first, without trying any other. */
RAD_INTERNAL bool rad__flow_is_local(const rad_flow_traits *t, rad_flow_vm *vm, uint32_t token);

/* ---- The graph (search.c) ------------------------------------------------------------------- */

enum rad_flow_node_kind { RAD_NODE_OPEN = 0, RAD_NODE_END, RAD_NODE_DEADLOCK };

typedef struct rad_flow_node {
    uint64_t high; /* of its digest */
    uint32_t edge; /* by which it was met first; RAD_NONE: it is where all begins */
    uint8_t kind;
} rad_flow_node;

typedef struct rad_flow_edge {
    uint32_t from, to;
    uint32_t choice, choice_count; /* range in choices */
} rad_flow_edge;

typedef struct rad_flow_frame {
    uint32_t chosen, count;
    uint32_t node; /* in which the step began */
    bool only;     /* no other is tried */
} rad_flow_frame;

typedef struct rad_flow_walk {
    uint32_t *choices;
    uint64_t count, steps;
} rad_flow_walk;

enum { RAD_FLOW_FAILURES_MOST = 16 };

typedef struct rad_flow_search {
    rad_policy policy; /* first: the kernel's choices come here */
    const rad_flow_program *program;
    rad_flow_validate_options options;
    rad_flow_traits traits;
    rad_flow_vm *vm;
    rad_kernel *k;
    uint64_t states_most, steps_most;
    /* The graph. */
    rad_flow_node *nodes;
    uint32_t node_count, node_capacity;
    rad_flow_edge *edges;
    uint32_t edge_count, edge_capacity;
    uint32_t *choices;
    uint32_t choice_count, choice_capacity;
    rad_map64 known;
    uint64_t steps, saved;
    bool exhausted;
    /* The run under way. */
    rad_flow_frame *frames;
    uint32_t frame_count, frame_capacity;
    uint32_t prefix, at; /* frames that are repeated; the next one */
    uint32_t step_begin; /* the first frame of the step under way */
    uint32_t node;       /* in which it began */
    bool every_order;    /* for this run */
    /* What was met. */
    uint8_t *op_seen, *else_seen, *way_seen, *task_seen;
    uint32_t first_deadlock; /* node, or RAD_NONE */
    char deadlock[400];
    bool improper;
    char improper_text[400];
    rad_flow_walk improper_run;
    char failures[RAD_FLOW_FAILURES_MOST][400]; /* not of tasks, as they were met */
    uint32_t failure_count;
    uint32_t ends; /* bits of enum rad_flow_state: how runs have ended */
    /* Of a drawn world: an end that is not like this one ends the search. */
    bool compares;
    uint64_t expected;
    uint32_t other_end; /* node, or RAD_NONE */
    char other_text[200];
    rad_error error;
} rad_flow_search;

/* `drawn`: the outcome seed, 0: chosen. */
RAD_INTERNAL int rad__flow_search_open(rad_flow_search *s, const rad_flow_program *p,
                                       const rad_flow_validate_options *o, uint64_t drawn, rad_error *error);
RAD_INTERNAL void rad__flow_search_close(rad_flow_search *s);
RAD_INTERNAL int rad__flow_search_all(rad_flow_search *s, rad_error *error);

/* The run that leads to a node. False: no memory. */
RAD_INTERNAL bool rad__flow_search_path(const rad_flow_search *s, uint32_t node, rad_flow_walk *run);

/* One step more, to a state like that of the node: the run's choices may count differently there than where the
 * search met it. *found: there is such a step. */
RAD_INTERNAL int rad__flow_search_extend(rad_flow_search *s, rad_flow_walk *run, uint32_t node, bool *found,
                                         rad_error *error);

/* The run of policy first, and how it ends. False in *ended: it does not, within the budget. */
RAD_INTERNAL int rad__flow_search_reference(rad_flow_search *s, rad_flow_walk *run, bool *ended, rad_error *error);

/* State and data of a case that has ended, as a number, and in words. */
RAD_INTERNAL uint64_t rad__flow_ending(const rad_flow_vm *vm);
RAD_INTERNAL void rad__flow_ending_text(const rad_flow_vm *vm, char *text, size_t size);

/* ---- What can be reached (graph.c) ------------------------------------------------------------------- */

typedef struct rad_flow_reach {
    uint32_t lost;    /* the first node from which no end can be reached; RAD_NONE: there is none */
    uint32_t round;   /* the first of them from which it is possible to go on for ever; RAD_NONE: none */
    uint32_t *circle; /* from `round` on: nodes, the last one being one of those before it */
    uint32_t circle_count, circle_capacity;
} rad_flow_reach;

RAD_INTERNAL bool rad__flow_reach_find(rad_flow_reach *r, const rad_flow_search *s); /* false: no memory */
RAD_INTERNAL void rad__flow_reach_free(rad_flow_reach *r);

#endif
