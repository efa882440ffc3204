/* graph.c — which ends can be reached from where, and who can go round for ever.
 *
 * Backwards from the ends: what is not met then is lost. Of the lost ones those are taken away, again and again, whose
 * every step leads to one that was taken away; what stays can go on for ever. */
#include "base/alloc.h"
#include "flow/check/parts.h"

/* Edges by one of their ends: those of node i are items[first[i]] … items[first[i + 1] - 1]. */
typedef struct index_of {
    uint32_t *first, *items;
} index_of;

static bool index_make(index_of *x, const rad_flow_search *s, bool backwards)
{
    x->first = rad__alloc(s->node_count + 2u, sizeof *x->first);
    x->items = rad__alloc(s->edge_count + 1u, sizeof *x->items);
    if (x->first == NULL || x->items == NULL) return false;
    for (uint32_t i = 0; i < s->edge_count; i++) x->first[(backwards ? s->edges[i].to : s->edges[i].from) + 2]++;
    for (uint32_t i = 2; i < s->node_count + 2; i++) x->first[i] += x->first[i - 1];
    for (uint32_t i = 0; i < s->edge_count; i++)
        x->items[x->first[(backwards ? s->edges[i].to : s->edges[i].from) + 1]++] = i;
    return true;
}

static void index_free(index_of *x)
{
    rad__free(x->first);
    rad__free(x->items);
}

/* Marks everything from which an end can be reached. */
static void mark_found(const rad_flow_search *s, const index_of *back, uint8_t *found, uint32_t *stack)
{
    uint32_t top = 0;
    for (uint32_t i = 0; i < s->node_count; i++)
        if (s->nodes[i].kind == RAD_NODE_END) {
            found[i] = 1;
            stack[top++] = i;
        }
    while (top > 0) {
        uint32_t node = stack[--top];
        for (uint32_t i = back->first[node]; i < back->first[node + 1]; i++) {
            uint32_t from = s->edges[back->items[i]].from;
            if (found[from]) continue;
            found[from] = 1;
            stack[top++] = from;
        }
    }
}

/* Marks, too, those that must come to a standstill: of the lost ones, all that cannot go on for ever. `left`: steps of
 * a node that do not lead to one. */
static void mark_ending(const rad_flow_search *s, const index_of *back, uint8_t *found, uint32_t *stack, uint32_t *left)
{
    uint32_t top = 0;
    for (uint32_t i = 0; i < s->edge_count; i++) left[s->edges[i].from]++;
    for (uint32_t i = 0; i < s->node_count; i++)
        if (left[i] == 0) stack[top++] = i;
    while (top > 0) {
        uint32_t node = stack[--top];
        found[node] = 2;
        for (uint32_t i = back->first[node]; i < back->first[node + 1]; i++) {
            uint32_t from = s->edges[back->items[i]].from;
            if (--left[from] == 0) stack[top++] = from;
        }
    }
}

/* From the first node that can go on for ever, until it is back at one it has been at. */
static bool walk_circle(rad_flow_reach *r, const rad_flow_search *s, const index_of *on, uint8_t *found)
{
    uint32_t node = r->round;
    while (found[node] == 0) {
        found[node] = 3;
        uint32_t i = on->first[node];
        while (found[s->edges[on->items[i]].to] != 0 && found[s->edges[on->items[i]].to] != 3) i++;
        node = s->edges[on->items[i]].to;
        if (!RAD_GROW(&r->circle, &r->circle_capacity, r->circle_count + 1)) return false;
        r->circle[r->circle_count++] = node;
    }
    return true;
}

static uint32_t first_of(const rad_flow_search *s, const uint8_t *found, uint8_t mark)
{
    for (uint32_t i = 0; i < s->node_count; i++)
        if (found[i] == mark) return i;
    return RAD_NONE;
}

bool rad__flow_reach_find(rad_flow_reach *r, const rad_flow_search *s)
{
    index_of back = {0}, on = {0};
    uint8_t *found = rad__alloc(s->node_count + 1u, sizeof *found);
    uint32_t *stack = rad__alloc(s->node_count + 1u, sizeof *stack);
    uint32_t *left = rad__alloc(s->node_count + 1u, sizeof *left);
    *r = (rad_flow_reach){.lost = RAD_NONE, .round = RAD_NONE};
    bool good = found && stack && left && index_make(&back, s, true) && index_make(&on, s, false);
    if (good) {
        mark_found(s, &back, found, stack);
        r->lost = first_of(s, found, 0);
        mark_ending(s, &back, found, stack, left);
        r->round = first_of(s, found, 0);
        if (r->round != RAD_NONE) good = walk_circle(r, s, &on, found);
    }
    index_free(&back);
    index_free(&on);
    rad__free(found);
    rad__free(stack);
    rad__free(left);
    if (!good) rad__flow_reach_free(r);
    return good;
}

void rad__flow_reach_free(rad_flow_reach *r)
{
    rad__free(r->circle);
}
