/* fuzz_live.c — any bytes from any server, at any time: the live engine over a transport that is made of the input.
 *
 * The first byte: bit 0: HTTP/2; bit 1: responses are kept and judged. Then pairs of bytes, what and how much:
 *     0  user (arg) asks, on connection arg % CONNS, unless something is there that HTTP/1.1 cannot have twice
 *     1  the next `arg` bytes come in on the connection that was asked on last; 2: on the one before it
 *     3  that connection ends   4  it breaks   5  it is closed by us   6  the oldest request on it is cancelled
 *     7  the next connect, send fails
 * Whatever happens, each request leaves one input, and none after it; a connection that is gone has no requests. */
#include "base/alloc.h"
#include "load/live/parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CONNS = 3, STREAMS = 4, ASKED = 200 };

static void require(bool condition)
{
    if (!condition) abort();
}

/* ---- The transport ----------------------------------------------------------------------------------------- */

static struct {
    bool connecting[CONNS], there[CONNS];
    bool fails;  /* the next thing we are asked to do */
    uint32_t to; /* what is fed where */
    const uint8_t *bytes;
    size_t size;
    int event; /* 0: none, 3: end, 4: break */
} net;

static int net_start(live *l, rad_error *error)
{
    (void)l;
    (void)error;
    return 0;
}

static void net_stop(live *l)
{
    (void)l;
}

static bool fails_now(void)
{
    bool fails = net.fails;
    net.fails = false;
    return fails;
}

static int64_t net_connect(live *l, uint32_t conn, const rad_os_address *address)
{
    (void)address;
    if (fails_now()) return RAD_OS_ERROR - EMFILE;
    l->conns[conn].fd = 1000;
    net.connecting[conn] = net.there[conn] = true;
    return 0;
}

static int64_t net_send(live *l, uint32_t conn, const void *bytes, uint32_t size, bool stays)
{
    static volatile uint8_t sum;
    (void)l;
    (void)stays;
    require(net.there[conn] && !net.connecting[conn]);
    for (uint32_t i = 0; i < size; i++) sum = (uint8_t)(sum + ((const uint8_t *)bytes)[i]);
    return fails_now() ? RAD_OS_ERROR - EPIPE : 0;
}

static void net_close(live *l, uint32_t conn, bool hard)
{
    (void)l;
    (void)hard;
    require(net.there[conn]);
    net.there[conn] = net.connecting[conn] = false;
}

static int net_wait(live *l, uint64_t timeout_ns, rad_error *error)
{
    (void)timeout_ns;
    (void)error;
    for (uint32_t i = 0; i < CONNS; i++)
        if (net.connecting[i]) {
            net.connecting[i] = false;
            rad__live_connected(l, i);
        }
    if (!net.there[net.to]) return 0;
    if (net.size > 0) { /* alone in its memory */
        uint8_t *piece = rad__alloc(1, net.size);
        require(piece != NULL);
        memcpy(piece, net.bytes, net.size);
        rad__live_received(l, net.to, piece, net.size);
        rad__free(piece);
    } else if (net.event == 3) {
        rad__live_ended(l, net.to);
    } else if (net.event == 4) {
        rad__live_broken(l, net.to, RAD_OS_ERROR - ECONNRESET);
    }
    return 0;
}

static const struct live_transport transport = {.name = "input",
                                                .start = net_start,
                                                .connect = net_connect,
                                                .send = net_send,
                                                .close = net_close,
                                                .wait = net_wait,
                                                .stop = net_stop};

/* ---- The scheduler ----------------------------------------------------------------------------------------- */

static struct {
    bool open[CONNS];
    uint32_t under_way[CONNS];
    struct {
        uint32_t conn;
        bool waits;
    } asked[ASKED]; /* by number - 1 */
    uint32_t count;
    uint32_t last, before; /* connections asked on */
    bool http2;
} plan;

static const struct rad__load_check checks[] = {
    {"a", RAD__LOAD_CHECK_HEADER, 0, 0, "x", "y"},
    {"b", RAD__LOAD_CHECK_CONTAINS, 0, 0, NULL, "text"},
    {"c", RAD__LOAD_CHECK_JSON, 0, 0, "/a", "1"},
};
static const struct rad__load_extract extracts[] = {
    {0, RAD__LOAD_FROM_HEADER, "x"}, {0, RAD__LOAD_FROM_JSON, "/a"}, {0, RAD__LOAD_FROM_COOKIE, "c"}};
static const char *const variables[] = {"v"};

static void take(const rad__load_turn *turn)
{
    for (uint32_t i = 0; i < turn->input_count; i++) {
        const rad__load_input *in = &turn->inputs[i];
        require(in->conn < CONNS && in->at_ns <= turn->now_ns);
        if (in->kind == RAD__LOAD_IN_RESPONSE || in->kind == RAD__LOAD_IN_FAILED) {
            require(in->request >= 1 && in->request <= plan.count);
            require(plan.asked[in->request - 1].waits);
            require(plan.asked[in->request - 1].conn == in->conn);
            require((in->kind == RAD__LOAD_IN_FAILED) == (in->fault != RAD__LOAD_OK));
            require(in->kind == RAD__LOAD_IN_FAILED || (in->status >= 200 && in->status < 1000));
            plan.asked[in->request - 1].waits = false;
            plan.under_way[in->conn]--;
        } else if (in->kind != RAD__LOAD_IN_CONNECTED) {
            require(plan.open[in->conn]);
            plan.open[in->conn] = false;
            for (uint32_t k = 0; k < plan.count; k++) require(plan.asked[k].conn != in->conn || !plan.asked[k].waits);
        }
    }
}

static void turn(rad__load_engine *e)
{
    rad__load_turn t;
    rad_error error = {0};
    require(e->kind->turn(e, 0, true, &t, &error) == 0);
    take(&t);
    net.size = 0;
    net.event = 0;
}

static void act(rad__load_engine *e, const rad__load_effect *effect)
{
    rad_error error = {0};
    require(e->kind->act(e, effect, 1, &error) == 0);
}

static void ask(rad__load_engine *e, uint8_t who)
{
    uint32_t conn = who % CONNS;
    if (plan.count == ASKED || plan.under_way[conn] >= (plan.http2 ? STREAMS : 1)) return;
    rad__load_effect effect = {.kind = RAD__LOAD_DO_SEND,
                               .vu = who,
                               .conn = conn,
                               .request = ++plan.count,
                               .open = !plan.open[conn],
                               .last = who > 200};
    plan.asked[plan.count - 1].conn = conn;
    plan.asked[plan.count - 1].waits = true;
    plan.under_way[conn]++;
    plan.open[conn] = true;
    plan.before = plan.last;
    plan.last = conn;
    act(e, &effect);
    turn(e);
}

/* Nothing more is told of what was on it. */
static void shut(rad__load_engine *e, uint32_t conn)
{
    rad__load_effect effect = {.kind = RAD__LOAD_DO_CLOSE, .conn = conn};
    act(e, &effect);
    plan.open[conn] = false;
    plan.under_way[conn] = 0;
    for (uint32_t k = 0; k < plan.count; k++)
        if (plan.asked[k].conn == conn) plan.asked[k].waits = false;
}

/* HTTP/1.1: as the scheduler does, with the connection. */
static void cancel(rad__load_engine *e, uint32_t conn)
{
    for (uint32_t k = 0; k < plan.count; k++) {
        if (plan.asked[k].conn != conn || !plan.asked[k].waits) continue;
        rad__load_effect effect = {.kind = RAD__LOAD_DO_CANCEL, .conn = conn, .request = k + 1};
        for (uint32_t vu = 0; vu < 256; vu++) { /* whoever asked */
            effect.vu = vu;
            act(e, &effect);
        }
        plan.asked[k].waits = false;
        plan.under_way[conn]--;
        if (!plan.http2) shut(e, conn);
        return;
    }
}

static void step(rad__load_engine *e, uint8_t what, uint8_t much, const uint8_t **at, const uint8_t *end)
{
    net.to = what == 2 ? plan.before : plan.last;
    switch (what % 8) {
    case 0: ask(e, much); return;
    case 1:
    case 2:
        net.size = (size_t)(end - *at) < much ? (size_t)(end - *at) : much;
        net.bytes = *at;
        *at += net.size;
        break;
    case 3:
    case 4: net.event = what % 8; break;
    case 5: shut(e, net.to); return;
    case 6: cancel(e, net.to); break;
    default: net.fails = true; return;
    }
    turn(e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1) return 0;
    bool judged = data[0] & 2;
    memset(&plan, 0, sizeof plan);
    memset(&net, 0, sizeof net);
    plan.http2 = data[0] & 1;
    struct rad__load_request request = {.name = "r", .method = "GET", .path = "/", .target = RAD_NONE};
    if (judged) {
        request.checks = checks;
        request.extracts = extracts;
        request.check_count = request.extract_count = 3;
    }
    struct rad__load_target target = {
        .name = "t", .host = "127.0.0.1", .port = "1", .http2 = plan.http2, .streams = STREAMS};
    rad__load_scenario scenario = {.requests = &request,
                                   .targets = &target,
                                   .request_count = 1,
                                   .target_count = 1,
                                   .variables = variables,
                                   .variable_count = 1,
                                   .cookies = judged,
                                   .limits = {.max_header_bytes = 300, .max_response_bytes = 300}};
    rad__load_live_options o = {.scenario = &scenario, .seed = 1};
    rad__load_engine *e;
    rad_error error = {0};
    require(rad__live_open_over(&e, &o, &transport, NULL, &error) == 0);
    const uint8_t *at = data + 1, *end = data + size;
    while (end - at >= 2) {
        uint8_t what = at[0], much = at[1];
        at += 2;
        step(e, what, much, &at, end);
    }
    net.fails = false;
    for (uint32_t i = 0; i < CONNS; i++) { /* the world ends: nobody is forgotten */
        net.to = i;
        net.event = 3;
        if (net.there[i]) turn(e);
    }
    for (uint32_t k = 0; k < plan.count; k++) require(!plan.asked[k].waits);
    e->kind->close(e);
    return 0;
}
