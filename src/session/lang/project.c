/* project.c — from the protocol to the part of each role.
 *
 * For every thread the protocol is read twice. First as an automaton with steps that the thread takes no part in
 * (NOTHING): a message of others leads on silently, a choice of somebody else leads silently to all of its branches.
 * Then it is made deterministic: a state is the set of all places where the thread may be for all it knows.
 *
 *     What it does next has to be the same at all these places, or told by what it receives: either all of them send
 *     the same messages, or all of them receive from the same peer; equal messages lead to the union of what follows.
 *
 * This is full merge: the union of distinct labels received from one sender, merged recursively, also through loops,
 * where definitions by cases over terms have to guess. Where it cannot be done the protocol is refused, with the choice
 * and two places that contradict each other.
 *
 * A thread that takes no part in a loop passes it by: what it does after the loop does not wait for the loop. */
#include "session/lang/types.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/map64.h"
#include "base/prng.h"
#include "base/sort.h"

#include <stdio.h>
#include <string.h>

enum node_kind {
    NODE_NOTHING, /* leads to all of its targets */
    NODE_END,
    NODE_SEND,
    NODE_RECEIVE,
    NODE_DOES,
    NODE_PAR,
    NODE_CHOOSE /* one of its targets, which it chooses itself */
};

enum { TARGETS_MAX = 64, NODES_MAX = 4000000, MEMBERS_MAX = 1 << 20, SLOTS_KEPT = 1024 };

typedef struct node {
    enum node_kind kind;
    rad_text_place place;
    const rad_global *what;
    uint32_t edge;
    uint32_t first_target, target_count; /* of PAR: what follows; its threads are found by `what` */
} node;

typedef struct set {
    uint32_t first, count; /* of `members`, ascending */
    uint64_t hash;
    rad_text_place merged_at; /* the last choice that made it */
} set;

/* A message that may come next, and what follows it. */
typedef struct offer {
    const node *node;
    uint32_t target;
    uint32_t arm, rank; /* when they are known: of the state, in the text */
} offer;

typedef struct open_loop {
    const rad_global *loop;
    uint32_t node;
} open_loop;

typedef struct projector {
    const rad_ast_file *file;
    rad_arena *arena;
    rad_types *types;
    rad_error *error;
    int status;
    uint32_t *thread_at;      /* by branch and role; RAD_NONE: it takes no part */
    uint32_t *branch_parents; /* by branch */
    rad_map64 edge_at;        /* by sender, receiver and branch */
    uint32_t role, thread;    /* being projected */
    open_loop *loops;
    uint32_t loop_count, loop_capacity;
    node *nodes;
    uint32_t node_count, node_capacity;
    uint32_t *targets;
    uint32_t target_count, target_capacity;
    set *sets; /* of the state with the same number, counted from the thread's first */
    uint32_t set_count, set_capacity;
    uint32_t *members;
    uint32_t member_count, member_capacity;
    uint32_t *stack; /* of nodes to visit */
    uint32_t stack_count, stack_capacity;
    offer *offers; /* of the state that is made */
    uint32_t offer_count, offer_capacity;
    uint32_t *order; /* of the offers */
    uint32_t order_capacity;
    rad_map64 message_at; /* of the state that is made: by what is sent, received or done */
    rad_map64 first_at;   /* … by the first member of the state */
    rad_map64 set_at;     /* by hash */
    uint32_t first_state; /* of this thread */
    uint32_t *seen;       /* by node: the visit */
    uint32_t seen_capacity, visit;
} projector;

/* Of RAD_GROW and the like. */
static bool room(projector *p, bool there_is)
{
    if (!there_is && p->status == 0) p->status = rad__error_memory(p->error);
    return there_is && p->status == 0;
}

static const rad_global_protocol *global_of(const projector *p)
{
    return &p->types->global;
}

static const char *role_name(const projector *p, uint32_t role)
{
    return global_of(p)->roles[role];
}

/* ---- Threads and edges ------------------------------------------------------------------------------- */

static uint32_t *thread_slot(const projector *p, uint32_t role, uint32_t branch)
{
    return &p->thread_at[(size_t)branch * global_of(p)->role_count + role];
}

static void take_part(projector *p, uint32_t role, uint32_t branch)
{
    for (; *thread_slot(p, role, branch) == RAD_NONE; branch = p->branch_parents[branch])
        *thread_slot(p, role, branch) = 0; /* its number comes later */
}

/* Who takes part in which parallel branch. */
static void find_parts(projector *p, const rad_global *list, uint32_t branch)
{
    for (const rad_global *g = list; g != NULL; g = g->next) {
        if (g->kind == RAD_GLOBAL_MESSAGE || g->kind == RAD_GLOBAL_DOES) {
            take_part(p, g->from, branch);
            take_part(p, g->to, branch);
        }
        for (uint32_t i = 0; i < g->block_count; i++) {
            uint32_t inner = g->kind == RAD_GLOBAL_PAR ? g->branch + i : branch;
            if (inner != branch) p->branch_parents[inner] = branch;
            find_parts(p, g->blocks[i], inner);
        }
    }
}

static void add_thread(projector *p, uint32_t role, uint32_t branch)
{
    rad_types *t = p->types;
    char text[120];
    if (t->thread_count == RAD_THREADS_MAX) {
        p->status =
            rad__ast_error(p->file, t->global.place, p->error,
                           "there are more than %d threads (roles and their parallel branches)", RAD_THREADS_MAX);
        return;
    }
    int length = snprintf(text, sizeof text, branch ? "%s.%u" : "%s", role_name(p, role), branch);
    const char *name = rad__arena_text(p->arena, text, (size_t)length);
    if (!room(p, name && RAD_GROW(&t->threads, &t->thread_capacity, t->thread_count + 1))) return;
    uint32_t parent = branch ? *thread_slot(p, role, p->branch_parents[branch]) : RAD_NONE;
    t->threads[t->thread_count] = (rad_local_thread){role, branch, parent, RAD_NONE, name};
    *thread_slot(p, role, branch) = t->thread_count++;
}

static void make_threads(projector *p)
{
    const rad_global_protocol *g = global_of(p);
    size_t slots = (size_t)g->branch_count * g->role_count;
    p->thread_at = rad__alloc(slots, sizeof *p->thread_at);
    p->branch_parents = rad__alloc(g->branch_count, sizeof *p->branch_parents);
    if (!room(p, p->thread_at && p->branch_parents)) return;
    memset(p->thread_at, 0xff, slots * sizeof *p->thread_at);
    for (uint32_t i = 0; i < g->role_count; i++) *thread_slot(p, i, 0) = 0;
    find_parts(p, g->body, 0);
    for (uint32_t i = 0; i < g->role_count; i++) find_parts(p, g->role_bodies[i], 0);
    for (uint32_t branch = 0; branch < g->branch_count; branch++)
        for (uint32_t role = 0; role < g->role_count && p->status == 0; role++)
            if (*thread_slot(p, role, branch) != RAD_NONE) add_thread(p, role, branch);
}

static uint32_t edge_of(projector *p, const rad_global *message, uint32_t branch)
{
    rad_types *t = p->types;
    uint32_t from = *thread_slot(p, message->from, branch), to = *thread_slot(p, message->to, branch);
    uint64_t key = (uint64_t)from << 32 | to; /* threads know their branch */
    uint32_t edge = rad__map64_find(&p->edge_at, key);
    if (edge == RAD_NONE) {
        if (t->edge_count == RAD_EDGES_MAX) {
            p->status = rad__ast_error(p->file, message->place, p->error,
                                       "there are more than %d pairs of sender and receiver", RAD_EDGES_MAX);
            return 0;
        }
        if (!room(p, RAD_GROW(&t->edges, &t->edge_capacity, t->edge_count + 1) &&
                         rad__map64_add(&p->edge_at, key, t->edge_count)))
            return 0;
        edge = t->edge_count++;
        t->edges[edge] = (rad_local_edge){from, to, branch, 0};
    }
    if (message->signature.count > t->edges[edge].fields) t->edges[edge].fields = message->signature.count;
    return edge;
}

/* ---- The automaton with silent steps ----------------------------------------------------------------- */

static uint32_t add_node(projector *p, enum node_kind kind, const rad_global *what)
{
    static const rad_text_place nowhere = {0, 0};
    if (p->node_count == NODES_MAX && p->status == 0)
        p->status = rad__ast_error(p->file, global_of(p)->place, p->error, "the protocol is too large");
    if (!room(p, RAD_GROW(&p->nodes, &p->node_capacity, p->node_count + 1))) return 0;
    p->nodes[p->node_count] =
        (node){.kind = kind, .place = what ? what->place : nowhere, .what = what, .first_target = p->target_count};
    return p->node_count++;
}

/* To the newest node that has targets. */
static void add_target(projector *p, uint32_t at, uint32_t target)
{
    if (!room(p, RAD_GROW(&p->targets, &p->target_capacity, p->target_count + 1))) return;
    p->targets[p->target_count++] = target;
    p->nodes[at].target_count++;
}

static uint32_t build_list(projector *p, const rad_global *list, uint32_t branch, uint32_t after);

static uint32_t build_message(projector *p, const rad_global *g, uint32_t branch, uint32_t after)
{
    if (g->from != p->role && g->to != p->role) return after;
    uint32_t at = add_node(p, g->from == p->role ? NODE_SEND : NODE_RECEIVE, g);
    uint32_t edge = edge_of(p, g, branch);
    if (p->status != 0) return 0;
    p->nodes[at].edge = edge;
    add_target(p, at, after);
    return at;
}

static uint32_t build_choice(projector *p, const rad_global *g, uint32_t branch, uint32_t after)
{
    uint32_t firsts[TARGETS_MAX];
    for (uint32_t i = 0; i < g->block_count && p->status == 0; i++)
        firsts[i] = build_list(p, g->blocks[i], branch, after);
    uint32_t at = add_node(p, g->from == p->role ? NODE_CHOOSE : NODE_NOTHING, g);
    for (uint32_t i = 0; i < g->block_count && p->status == 0; i++) add_target(p, at, firsts[i]);
    return at;
}

/* The loop's node is there before its body, which leads back to it; where it leads is known afterwards. */
static uint32_t build_loop(projector *p, const rad_global *g, uint32_t branch, uint32_t after)
{
    uint32_t at = add_node(p, NODE_NOTHING, NULL);
    if (!room(p, RAD_GROW(&p->loops, &p->loop_capacity, p->loop_count + 1))) return 0;
    p->loops[p->loop_count++] = (open_loop){g, at};
    uint32_t body = build_list(p, g->blocks[0], branch, after);
    p->loop_count--;
    if (p->status != 0) return 0;
    p->nodes[at].first_target = p->target_count;
    add_target(p, at, body);
    return at;
}

static uint32_t build_continue(projector *p, const rad_global *g)
{
    for (uint32_t i = p->loop_count; i-- > 0;)
        if (p->loops[i].loop == g->loop) return p->loops[i].node;
    RAD_ASSERT(!"a continue is inside of its loop");
    return 0;
}

/* Its branches are threads of their own. */
static uint32_t build_par(projector *p, const rad_global *g, uint32_t after)
{
    bool takes_part = false;
    for (uint32_t i = 0; i < g->block_count; i++) takes_part |= *thread_slot(p, p->role, g->branch + i) != RAD_NONE;
    if (!takes_part) return after;
    uint32_t at = add_node(p, NODE_PAR, g);
    if (p->status == 0) add_target(p, at, after);
    return at;
}

static uint32_t build_one(projector *p, const rad_global *g, uint32_t branch, uint32_t after)
{
    switch (g->kind) {
    case RAD_GLOBAL_MESSAGE: return build_message(p, g, branch, after);
    case RAD_GLOBAL_CHOICE: return build_choice(p, g, branch, after);
    case RAD_GLOBAL_LOOP: return build_loop(p, g, branch, after);
    case RAD_GLOBAL_CONTINUE: return build_continue(p, g);
    case RAD_GLOBAL_PAR: return build_par(p, g, after);
    case RAD_GLOBAL_DOES: break;
    }
    if (g->from != p->role) return after;
    uint32_t at = add_node(p, NODE_DOES, g);
    if (p->status == 0) add_target(p, at, after);
    return at;
}

/* From its end to its beginning: a node needs what follows. */
static uint32_t build_list(projector *p, const rad_global *list, uint32_t branch, uint32_t after)
{
    uint32_t count = 0;
    for (const rad_global *g = list; g != NULL; g = g->next) count++;
    if (count == 0 || p->status != 0) return after;
    const rad_global **items = rad__alloc(count, sizeof *items);
    if (!room(p, items != NULL)) return 0;
    for (const rad_global *g = list; g != NULL; g = g->next) items[--count] = g;
    for (const rad_global *g = list; g != NULL; g = g->next, count++)
        if (p->status == 0) after = build_one(p, items[count], branch, after);
    rad__free(items);
    return after;
}

/* ---- Sets of places ---------------------------------------------------------------------------------- */

static void push(projector *p, uint32_t at)
{
    if (p->status != 0 || p->seen[at] == p->visit) return;
    p->seen[at] = p->visit;
    if (room(p, RAD_GROW(&p->stack, &p->stack_capacity, p->stack_count + 1))) p->stack[p->stack_count++] = at;
}

/* To be filled again. Clearing a large one each time would cost more than what it is for. */
static void forget(rad_map64 *m)
{
    if (m->slot_count > SLOTS_KEPT)
        rad__map64_free(m);
    else
        rad__map64_clear(m);
}

static void add_member(projector *p, uint32_t at)
{
    if (p->member_count == MEMBERS_MAX && p->status == 0)
        p->status = rad__ast_error(p->file, global_of(p)->place, p->error, "the protocol is too large");
    if (room(p, RAD_GROW(&p->members, &p->member_capacity, p->member_count + 1))) p->members[p->member_count++] = at;
}

/* Everything that can be reached silently from what was pushed, to the end of `members`. */
static set close_over(projector *p, rad_text_place merged_at)
{
    set s = {.first = p->member_count, .merged_at = merged_at};
    while (p->stack_count > 0 && p->status == 0) {
        uint32_t at = p->stack[--p->stack_count];
        const node *n = &p->nodes[at];
        if (n->kind == NODE_NOTHING) {
            if (n->target_count > 1) s.merged_at = n->place;
            for (uint32_t i = 0; i < n->target_count; i++) push(p, p->targets[n->first_target + i]);
        } else {
            add_member(p, at);
        }
    }
    s.count = p->member_count - s.first;
    rad__sort_u32(p->members + s.first, s.count);
    for (uint32_t i = 0; i < s.count; i++) s.hash = rad__mix2(s.hash, p->members[s.first + i]);
    return s;
}

static bool sets_are_equal(const projector *p, const set *a, const set *b)
{
    return a->count == b->count &&
           memcmp(p->members + a->first, p->members + b->first, a->count * sizeof *p->members) == 0;
}

/* The state of what was pushed, new or not. */
static uint32_t state_of(projector *p, rad_text_place merged_at)
{
    set s = close_over(p, merged_at);
    if (p->status != 0) return 0;
    uint64_t key = s.hash;
    for (uint32_t known; (known = rad__map64_find(&p->set_at, key)) != RAD_NONE; key++)
        if (sets_are_equal(p, &p->sets[known], &s)) {
            p->member_count = s.first;
            return p->first_state + known;
        }
    rad_types *t = p->types;
    if (t->state_count == RAD_STATES_MAX) {
        p->status = rad__ast_error(p->file, global_of(p)->place, p->error,
                                   "the parts of all roles together have more than %d states", RAD_STATES_MAX);
        return 0;
    }
    if (!room(p, RAD_GROW(&p->sets, &p->set_capacity, p->set_count + 1) &&
                     RAD_GROW(&t->states, &t->state_capacity, t->state_count + 1) &&
                     rad__map64_add(&p->set_at, key, p->set_count)))
        return 0;
    p->sets[p->set_count++] = s;
    return t->state_count++;
}

static void begin_set(projector *p)
{
    p->stack_count = 0;
    p->visit++;
}

/* ---- What a thread does at a place --------------------------------------------------------------------- */

static void offer_add(projector *p, const node *n, uint32_t target)
{
    if (!room(p, RAD_GROW(&p->offers, &p->offer_capacity, p->offer_count + 1))) return;
    p->offers[p->offer_count++] = (offer){.node = n, .target = target};
}

/* The messages of a place that sends: one, or those of a choice. False: it does something else. */
static bool offers_of(projector *p, uint32_t at)
{
    const node *n = &p->nodes[at];
    if (n->kind != NODE_CHOOSE) {
        offer_add(p, n, p->targets[n->first_target]);
        return n->kind == NODE_SEND;
    }
    bool sends = true;
    uint32_t first = n->first_target, count = n->target_count;
    for (uint32_t i = 0; i < count && p->status == 0; i++) {
        uint32_t kept = p->member_count;
        begin_set(p);
        push(p, p->targets[first + i]);
        set s = close_over(p, n->place);
        for (uint32_t k = 0; k < s.count && p->status == 0; k++) sends &= offers_of(p, p->members[s.first + k]);
        p->member_count = kept;
    }
    return sends;
}

static void describe(const projector *p, const node *n, char *text, size_t size)
{
    const rad_global *g = n->what;
    const char *label = g ? rad__ast_name(p->file, g->label) : "";
    switch (n->kind) {
    case NODE_SEND: snprintf(text, size, "sends %s to %s", label, role_name(p, g->to)); break;
    case NODE_RECEIVE: snprintf(text, size, "receives %s from %s", label, role_name(p, g->from)); break;
    case NODE_DOES: snprintf(text, size, "does %s", label); break;
    case NODE_PAR: snprintf(text, size, "begins parallel branches"); break;
    case NODE_CHOOSE: snprintf(text, size, "chooses"); break;
    case NODE_END:
    case NODE_NOTHING: snprintf(text, size, "has nothing more to do"); break;
    }
    size_t used = strlen(text);
    if (n->place.line) snprintf(text + used, size - used, " (line %u)", n->place.line);
}

static void contradiction(projector *p, const set *s, const node *a, const node *b)
{
    char one[160], other[160];
    describe(p, a, one, sizeof one);
    describe(p, b, other, sizeof other);
    rad_text_place at = s->merged_at.line ? s->merged_at : a->place;
    if (p->status == 0)
        p->status = rad__ast_error(p->file, at, p->error,
                                   "%s cannot know which branch was chosen: in one it %s, in another it %s",
                                   role_name(p, p->role), one, other);
}

/* ---- States ------------------------------------------------------------------------------------------ */

static bool same_signature(const rad_signature *a, const rad_signature *b)
{
    return a->count == b->count && memcmp(a->types, b->types, a->count) == 0;
}

/* What tells one message from another, for those who send or receive it. */
static uint64_t message_key(const node *n)
{
    return (uint64_t)n->kind << 60 | (uint64_t)n->edge << 32 | n->what->label;
}

static void add_arm(projector *p, const node *n)
{
    rad_types *t = p->types;
    if (!room(p, RAD_GROW(&t->arms, &t->arm_capacity, t->arm_count + 1))) return;
    t->arms[t->arm_count++] = (rad_local_arm){.edge = n->edge,
                                              .label = n->what->label,
                                              .next = RAD_NONE,
                                              .line = n->place.line,
                                              .signature = n->what->signature,
                                              .fields = n->what->fields};
}

/* All offers of equal messages lead to one state. They are in the order of their arms. */
static void lead_on(projector *p, rad_text_place merged_at)
{
    for (uint32_t i = 0; i < p->offer_count && p->status == 0;) {
        uint32_t arm = p->offers[p->order[i]].arm;
        begin_set(p);
        for (; i < p->offer_count && p->offers[p->order[i]].arm == arm; i++) push(p, p->offers[p->order[i]].target);
        uint32_t next = state_of(p, merged_at);
        p->types->arms[arm].next = next;
    }
}

static bool is_after_in_text(const void *context, const void *a, const void *b)
{
    const projector *p = context;
    const node *one = p->offers[*(const uint32_t *)a].node, *other = p->offers[*(const uint32_t *)b].node;
    if (one->place.line != other->place.line) return one->place.line > other->place.line;
    if (one->place.column != other->place.column) return one->place.column > other->place.column;
    return one->edge > other->edge;
}

static bool is_after_by_arm(const void *context, const void *a, const void *b)
{
    const projector *p = context;
    const offer *one = &p->offers[*(const uint32_t *)a], *other = &p->offers[*(const uint32_t *)b];
    return one->arm != other->arm ? one->arm > other->arm : one->rank > other->rank;
}

static bool order_offers(projector *p)
{
    if (!room(p, RAD_GROW(&p->order, &p->order_capacity, p->offer_count))) return false;
    for (uint32_t i = 0; i < p->offer_count; i++) p->order[i] = i;
    rad__sort(p->order, p->offer_count, sizeof *p->order, is_after_in_text, p);
    return true;
}

/* Of one choice: what is sent says which branch it is. */
static void all_are_distinct(projector *p, uint32_t begin, uint32_t end)
{
    forget(&p->message_at);
    for (uint32_t i = begin; i < end && p->status == 0; i++) {
        const node *n = p->offers[i].node;
        uint32_t known = rad__map64_find(&p->message_at, message_key(n));
        if (known != RAD_NONE)
            p->status = rad__ast_error(
                p->file, n->place, p->error, "the branch of line %u begins with the same message, %s to %s",
                p->offers[known].node->place.line, rad__ast_name(p->file, n->what->label), role_name(p, n->what->to));
        else
            room(p, rad__map64_add(&p->message_at, message_key(n), i));
    }
}

/* Each member sends the same set of messages as the first one: as many, and no others. */
static bool all_send_alike(projector *p, const set *s)
{
    forget(&p->first_at);
    for (uint32_t i = 0; i < s->count && p->status == 0; i++) {
        uint32_t begin = p->offer_count, at = p->members[s->first + i];
        bool alike = offers_of(p, at);
        uint32_t end = p->offer_count;
        if (p->status == 0) all_are_distinct(p, begin, end);
        for (uint32_t k = begin; k < end && i == 0 && p->status == 0; k++)
            room(p, rad__map64_add(&p->first_at, message_key(p->offers[k].node), k));
        alike = alike && end - begin == p->first_at.count;
        for (uint32_t k = begin; alike && k < end; k++)
            alike = rad__map64_find(&p->first_at, message_key(p->offers[k].node)) != RAD_NONE;
        if (!alike && p->status == 0) contradiction(p, s, &p->nodes[p->members[s->first]], &p->nodes[at]);
    }
    return p->status == 0;
}

static bool all_receive_from_one(projector *p, const set *s)
{
    const node *first = &p->nodes[p->members[s->first]];
    for (uint32_t i = 0; i < s->count && p->status == 0; i++) {
        const node *n = &p->nodes[p->members[s->first + i]];
        if (n->kind != NODE_RECEIVE || n->edge != first->edge) contradiction(p, s, first, n);
        if (p->status == 0) offer_add(p, n, p->targets[n->first_target]);
    }
    return p->status == 0;
}

static bool all_do_one_thing(projector *p, const set *s)
{
    const node *first = &p->nodes[p->members[s->first]];
    for (uint32_t i = 0; i < s->count && p->status == 0; i++) {
        const node *n = &p->nodes[p->members[s->first + i]];
        if (n->kind != NODE_DOES || n->what->label != first->what->label) contradiction(p, s, first, n);
        if (p->status == 0) offer_add(p, n, p->targets[n->first_target]);
    }
    return p->status == 0;
}

static void arms_from_offers(projector *p, const set *s)
{
    if (!order_offers(p)) return;
    forget(&p->message_at);
    for (uint32_t i = 0; i < p->offer_count && p->status == 0; i++) {
        offer *o = &p->offers[p->order[i]];
        const node *n = o->node;
        uint32_t known = rad__map64_find(&p->message_at, message_key(n));
        o->rank = i;
        o->arm = known == RAD_NONE ? p->types->arm_count : known;
        if (known == RAD_NONE) {
            if (room(p, rad__map64_add(&p->message_at, message_key(n), o->arm))) add_arm(p, n);
        } else if (!same_signature(&p->types->arms[known].signature, &n->what->signature)) {
            p->status = rad__ast_error(
                p->file, n->place, p->error, "%s has other fields here than in line %u, and %s cannot know which",
                rad__ast_name(p->file, n->what->label), p->types->arms[known].line, role_name(p, p->role));
        }
    }
    if (p->status != 0) return;
    rad__sort(p->order, p->offer_count, sizeof *p->order, is_after_by_arm, p);
    lead_on(p, s->merged_at);
}

static void fill_par(projector *p, uint32_t state, const node *n)
{
    rad_types *t = p->types;
    uint32_t first_arm = t->arm_count;
    for (uint32_t i = 0; i < n->what->block_count; i++) {
        uint32_t thread = *thread_slot(p, p->role, n->what->branch + i);
        if (thread == RAD_NONE) continue;
        if (!room(p, RAD_GROW(&t->arms, &t->arm_capacity, t->arm_count + 1))) return;
        t->arms[t->arm_count++] =
            (rad_local_arm){.edge = thread, .label = RAD_NONE, .next = RAD_NONE, .line = n->place.line};
    }
    uint32_t count = t->arm_count - first_arm;
    begin_set(p);
    push(p, p->targets[n->first_target]);
    uint32_t next = state_of(p, n->place);
    if (p->status != 0) return;
    t->states[state] = (rad_local_state){RAD_LOCAL_PAR, first_arm, count, next, n->place.line};
}

static void fill_state(projector *p, uint32_t index)
{
    rad_types *t = p->types;
    set s = p->sets[index];
    uint32_t state = p->first_state + index, first_arm = t->arm_count;
    const node *first = s.count ? &p->nodes[p->members[s.first]] : NULL;
    enum node_kind kind = first ? first->kind : NODE_END;
    p->offer_count = 0;
    t->states[state] = (rad_local_state){RAD_LOCAL_END, first_arm, 0, RAD_NONE, 0};
    if (kind == NODE_END || kind == NODE_PAR) {
        for (uint32_t i = 1; i < s.count; i++) contradiction(p, &s, first, &p->nodes[p->members[s.first + i]]);
        if (p->status == 0 && kind == NODE_PAR) fill_par(p, state, first);
        return;
    }
    bool sends = kind == NODE_SEND || kind == NODE_CHOOSE;
    bool good = sends                  ? all_send_alike(p, &s)
                : kind == NODE_RECEIVE ? all_receive_from_one(p, &s)
                                       : all_do_one_thing(p, &s);
    if (good) arms_from_offers(p, &s);
    if (p->status != 0) return;
    t->states[state].kind = sends ? RAD_LOCAL_SEND : kind == NODE_RECEIVE ? RAD_LOCAL_RECEIVE : RAD_LOCAL_DOES;
    t->states[state].arm_count = t->arm_count - first_arm;
    t->states[state].line = t->arms[first_arm].line;
}

/* ---- All threads ------------------------------------------------------------------------------------- */

/* The block of a parallel branch. */
static const rad_global *block_of(const rad_global *list, uint32_t branch)
{
    for (const rad_global *g = list; g != NULL; g = g->next)
        for (uint32_t i = 0; i < g->block_count; i++) {
            if (g->kind == RAD_GLOBAL_PAR && g->branch + i == branch) return g->blocks[i];
            const rad_global *inner = block_of(g->blocks[i], branch);
            if (inner != NULL) return inner;
        }
    return NULL;
}

static void project_thread(projector *p, uint32_t thread)
{
    rad_types *t = p->types;
    const rad_global_protocol *g = &t->global;
    uint32_t branch = t->threads[thread].branch;
    p->role = t->threads[thread].role;
    p->node_count = p->target_count = p->set_count = p->member_count = 0;
    p->first_state = t->state_count;
    forget(&p->set_at);
    const rad_global *body = g->is_locals ? g->role_bodies[p->role] : g->body;
    uint32_t end = add_node(p, NODE_END, NULL);
    uint32_t start = build_list(p, branch ? block_of(body, branch) : body, branch, end);
    if (p->status != 0 || !room(p, RAD_GROW(&p->seen, &p->seen_capacity, p->node_count))) return;
    begin_set(p);
    push(p, start);
    t->threads[thread].start = state_of(p, (rad_text_place){0, 0});
    for (uint32_t i = 0; i < p->set_count && p->status == 0; i++) fill_state(p, i);
}

/* Where the threads of a PAR begin is known when all of them are projected. */
static void connect_branches(rad_types *t)
{
    for (uint32_t i = 0; i < t->state_count; i++)
        for (uint32_t k = 0; t->states[i].kind == RAD_LOCAL_PAR && k < t->states[i].arm_count; k++) {
            rad_local_arm *arm = &t->arms[t->states[i].first_arm + k];
            arm->next = t->threads[arm->edge].start;
        }
}

int rad__types_project(rad_ast_file *file, rad_types *t, rad_error *error)
{
    projector p = {.file = file, .arena = &file->arena, .types = t, .error = error};
    make_threads(&p);
    for (uint32_t i = 0; i < t->thread_count && p.status == 0; i++) project_thread(&p, i);
    if (p.status == 0) connect_branches(t);
    rad__free(p.thread_at);
    rad__free(p.branch_parents);
    rad__free(p.loops);
    rad__free(p.nodes);
    rad__free(p.targets);
    rad__free(p.sets);
    rad__free(p.members);
    rad__free(p.stack);
    rad__free(p.seen);
    rad__free(p.offers);
    rad__free(p.order);
    rad__map64_free(&p.edge_at);
    rad__map64_free(&p.set_at);
    rad__map64_free(&p.message_at);
    rad__map64_free(&p.first_at);
    return p.status;
}

void rad__types_free(rad_types *t)
{
    rad__free(t->states);
    rad__free(t->arms);
    rad__free(t->threads);
    rad__free(t->edges);
    *t = (rad_types){.states = NULL};
}
