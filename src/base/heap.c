#include "base/heap.h"

#include "base/alloc.h"

static bool node_less(const rad_heap_node *a, const rad_heap_node *b)
{
    return a->key != b->key ? a->key < b->key : a->tie < b->tie;
}

static void heap_put(rad_heap *h, uint32_t at, rad_heap_node node)
{
    h->nodes[at] = node;
    h->place[node.item] = at;
}

static void heap_up(rad_heap *h, uint32_t at, rad_heap_node node)
{
    while (at > 0 && node_less(&node, &h->nodes[(at - 1) / 2])) {
        heap_put(h, at, h->nodes[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    heap_put(h, at, node);
}

static void heap_down(rad_heap *h, uint32_t at, rad_heap_node node)
{
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= h->count) break;
        if (child + 1 < h->count && node_less(&h->nodes[child + 1], &h->nodes[child])) child++;
        if (!node_less(&h->nodes[child], &node)) break;
        heap_put(h, at, h->nodes[child]);
        at = child;
    }
    heap_put(h, at, node);
}

bool rad__heap_push(rad_heap *h, uint32_t item, uint64_t key, uint64_t tie)
{
    if (!RAD_GROW(&h->nodes, &h->node_capacity, h->count + 1)) return false;
    if (!RAD_GROW(&h->place, &h->place_capacity, item + 1)) return false;
    while (h->place_count <= item) h->place[h->place_count++] = RAD_NONE;
    RAD_ASSERT(h->place[item] == RAD_NONE);
    heap_up(h, h->count++, (rad_heap_node){key, tie, item});
    return true;
}

bool rad__heap_remove(rad_heap *h, uint32_t item)
{
    if (!rad__heap_has(h, item)) return false;
    uint32_t at = h->place[item];
    h->place[item] = RAD_NONE;
    rad_heap_node last = h->nodes[--h->count];
    if (at == h->count) return true;
    /* The last node takes the free place and moves to where it belongs, up or down. */
    if (at > 0 && node_less(&last, &h->nodes[(at - 1) / 2]))
        heap_up(h, at, last);
    else
        heap_down(h, at, last);
    return true;
}

void rad__heap_clear(rad_heap *h)
{
    for (uint32_t i = 0; i < h->count; i++) h->place[h->nodes[i].item] = RAD_NONE;
    h->count = 0;
}

void rad__heap_free(rad_heap *h)
{
    rad__free(h->nodes);
    rad__free(h->place);
    *h = (rad_heap){0};
}

bool rad__heap_valid(const rad_heap *h)
{
    for (uint32_t i = 0; i < h->count; i++) {
        if (h->place[h->nodes[i].item] != i) return false;                          /* I2 */
        if (i > 0 && node_less(&h->nodes[i], &h->nodes[(i - 1) / 2])) return false; /* I1 */
    }
    return true;
}
