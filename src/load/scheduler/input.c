/* input.c — what came in, in an order that does not depend on how it came. */
#include "base/alloc.h"
#include "base/error.h"
#include "load/scheduler/scheduler.h"

#include <inttypes.h>

/* ---- Order ----------------------------------------------------------------------------------------------- */

/* Merge sort from the bottom: stable, so what the engine met first stays first; and quick when there is nothing to
 * sort, as with one answer in a turn. */
static void merge(const struct rad__load_ordered *from, struct rad__load_ordered *to, uint32_t low, uint32_t middle,
                  uint32_t high)
{
    uint32_t a = low, b = middle;
    for (uint32_t i = low; i < high; i++) {
        bool left = a < middle && (b == high || from[a].key <= from[b].key);
        to[i] = left ? from[a++] : from[b++];
    }
}

static const struct rad__load_ordered *sort(const rad__load_input *inputs, uint32_t count,
                                            struct rad__load_ordered *order)
{
    struct rad__load_ordered *from = order, *to = order + count;
    bool sorted = true;
    for (uint32_t i = 0; i < count; i++) {
        from[i] = (struct rad__load_ordered){(uint64_t)inputs[i].vu << 32 | inputs[i].conn, i};
        sorted &= i == 0 || from[i - 1].key <= from[i].key;
    }
    for (uint32_t width = 1; width < count && !sorted; width *= 2) {
        for (uint32_t low = 0; low < count; low += 2 * width) {
            uint32_t middle = count - low > width ? low + width : count;
            uint32_t high = count - middle > width ? middle + width : count;
            merge(from, to, low, middle, high);
        }
        struct rad__load_ordered *swap = from;
        from = to;
        to = swap;
    }
    return from;
}

/* ---- Inputs ---------------------------------------------------------------------------------------------- */

static void connection_event(rad__load_scheduler *c, const rad__load_input *in, enum rad__load_event_kind kind)
{
    rad__load_event event = {.kind = kind,
                             .conn = in->conn,
                             .target = c->pool.conns[in->conn].target,
                             .fault = in->fault,
                             .first_ns = in->took_ns};
    rad__load_emit(c, &event);
}

static void take(rad__load_scheduler *c, const rad__load_input *in)
{
    switch ((enum rad__load_input_kind)in->kind) {
    case RAD__LOAD_IN_CONNECTED:
        if (rad__load_pool_opened(&c->pool, in->conn)) connection_event(c, in, RAD__LOAD_CONN_ESTABLISHED);
        break;
    case RAD__LOAD_IN_CONN_FAILED:
        rad__load_pool_shut(&c->pool, in->conn);
        connection_event(c, in, RAD__LOAD_CONN_ERROR);
        break;
    case RAD__LOAD_IN_CONN_CLOSED:
        if (rad__load_pool_shut(&c->pool, in->conn)) connection_event(c, in, RAD__LOAD_CONN_CLOSED);
        break;
    case RAD__LOAD_IN_RESPONSE: rad__load_user_answered(c, in); break;
    case RAD__LOAD_IN_FAILED: rad__load_user_failed(c, in); break;
    }
}

/* What no engine of ours hands over, but a log may have in it. */
static const char *impossible(const rad__load_scheduler *c, const rad__load_input *in)
{
    bool of_user = in->kind == RAD__LOAD_IN_RESPONSE || in->kind == RAD__LOAD_IN_FAILED;
    if (in->kind < RAD__LOAD_IN_CONNECTED || in->kind > RAD__LOAD_IN_FAILED) return "is of no kind";
    if (in->conn >= c->pool.conn_count) return "is about a connection that does not exist";
    if (of_user && in->vu >= c->user_count) return "is about a user that does not exist";
    if (of_user && in->request > c->users[in->vu].request) return "answers a request that was not made";
    if (of_user && in->request == 0) return "answers no request";
    if (in->fault >= RAD__LOAD_FAULT_COUNT) return "has an unknown fault";
    if (in->kind == RAD__LOAD_IN_FAILED && in->fault == RAD__LOAD_OK) return "failed without a fault";
    if (in->fault == RAD__LOAD_REQUEST_TIMEOUT) return "timed out: that is for the scheduler to say";
    if (in->at_ns > c->now_ns || in->sent_ns > in->at_ns || in->first_ns > in->at_ns) return "is from the future";
    return NULL;
}

enum { AHEAD = 16 };

/* With many users what is known of one is in no cache: asked for a few answers earlier, it is. */
static void fetch_ahead(const rad__load_scheduler *c, uint64_t key)
{
    uint32_t vu = (uint32_t)(key >> 32), conn = (uint32_t)key;
    if (vu < c->user_capacity) __builtin_prefetch((const char *)&c->users[vu], 1);
    if (vu < c->user_capacity) __builtin_prefetch((const char *)&c->users[vu] + 64, 1);
    if (conn < c->pool.conn_count) __builtin_prefetch(&c->pool.conns[conn], 1);
}

/* Before any is taken, or written down. */
static int refuse_impossible(const rad__load_scheduler *c, const rad__load_turn *turn,
                             const struct rad__load_ordered *order, rad_error *error)
{
    for (uint32_t i = 0; i < turn->input_count; i++) {
        if (i + AHEAD < turn->input_count) fetch_ahead(c, order[i + AHEAD].key);
        const char *wrong = impossible(c, &turn->inputs[order[i].index]);
        if (wrong != NULL)
            return rad__error(error, RAD_EINPUT, "input %" PRIu32 " of tick %" PRIu64 " %s", i + 1, c->tick, wrong);
    }
    return 0;
}

int rad__load_take_inputs(rad__load_scheduler *c, const rad__load_turn *turn, rad_error *error)
{
    uint32_t count = turn->input_count;
    if (count == 0) return 0;
    if (!RAD_GROW(&c->order, &c->order_capacity, 2 * count)) return rad__error_memory(error);
    const struct rad__load_ordered *order = sort(turn->inputs, count, c->order);
    int result = refuse_impossible(c, turn, order, error);
    if (result != 0) return result;
    for (uint32_t i = 0; i < count && c->log != NULL; i++)
        rad__load_log_input(c->log, &turn->inputs[order[i].index], c->now_ns);
    for (uint32_t i = 0; i < count; i++) take(c, &turn->inputs[order[i].index]);
    return 0;
}
