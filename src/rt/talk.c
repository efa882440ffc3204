/* talk.c — sessions of a protocol over channels, with a monitor for each role. See raddle/talk.h.
 *
 * An endpoint is a state of its local type. A call looks for the arm of the state that it is about, does what has to be
 * done (which may wait, and may fail), and only then goes to the next state. A message that has come lies in the
 * endpoint until the call for it comes: so it can be looked at first, and a call for another one does no harm.
 *
 * T1  the state changes only when the channel has taken or given the message.
 * T2  a text belongs to one of: the sender's copy, the channel, the endpoint, the receiver.
 *
 * Rejected: one channel per message type, with the payload as a C struct: select would have to know them all, and who
 * waits for a choice waits for one message on one channel. */
#include "base/alloc.h"

#include <raddle/talk.h>

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

struct rad_talk {
    const rad_talk_shape *shape;
    rad_chan **channels;
    _Atomic uint8_t *taken; /* by role */
    _Atomic int code;
};

/* ---- Talks ----------------------------------------------------------------------------------------------- */

static size_t talk_packet_size(uint32_t fields)
{
    return offsetof(rad_talk_packet, fields) + fields * sizeof(rad_talk_value);
}

static void talk_drop(const rad_talk *t, rad_talk_packet *packet)
{
    const rad_talk_message *m = &t->shape->messages[packet->message];
    for (uint32_t i = 0; i < m->fields; i++)
        if (m->texts >> i & 1) rad__free(packet->fields[i].text);
}

int rad_talk_open(rad_talk **talk, const rad_talk_shape *shape, uint32_t capacity)
{
    *talk = NULL;
    if (shape->messages[0].label[0] != 0) return RAD_EINPUT; /* its number would be success */
    rad_talk *t = rad__alloc(1, sizeof *t);
    if (t == NULL) return RAD_ENOMEM;
    t->shape = shape;
    t->channels = rad__alloc(shape->channel_count, sizeof(rad_chan *));
    t->taken = rad__alloc(shape->role_count, sizeof *t->taken);
    int status = t->channels && t->taken ? 0 : RAD_ENOMEM;
    for (uint32_t i = 0; i < shape->channel_count && status == 0; i++)
        status = rad_chan_create(&t->channels[i], talk_packet_size(shape->widths[i]), capacity ? capacity : 1,
                                 RAD_CHAN_BLOCKS);
    if (status == 0)
        *talk = t;
    else
        rad_talk_destroy(t);
    return status;
}

void rad_talk_close(rad_talk *t, int code)
{
    int none = 0;
    atomic_compare_exchange_strong_explicit(&t->code, &none, code, memory_order_relaxed, memory_order_relaxed);
    for (uint32_t i = 0; i < t->shape->channel_count; i++) rad_chan_close(t->channels[i], code);
}

int rad_talk_code(rad_talk *t)
{
    return atomic_load_explicit(&t->code, memory_order_relaxed);
}

void rad_talk_destroy(rad_talk *t)
{
    if (t == NULL) return;
    for (uint32_t i = 0; t->channels && i < t->shape->channel_count; i++) {
        rad_talk_packet packet;
        while (t->channels[i] && rad_chan_count(t->channels[i]) > 0 && rad_recv(t->channels[i], &packet, 0) == 0)
            talk_drop(t, &packet);
        rad_chan_destroy(t->channels[i]);
    }
    rad__free(t->channels);
    rad__free((void *)t->taken);
    rad__free(t);
}

void rad_text_free(char *text)
{
    rad__free(text);
}

/* ---- What is not allowed --------------------------------------------------------------------------------- */

static void endpoint_say(rad_endpoint *p, const char *a, const char *b, const char *c)
{
    size_t used = strlen(p->error);
    snprintf(p->error + used, sizeof p->error - used, "%s%s%s", a, b, c);
}

static const char *endpoint_role_name(const rad_endpoint *p, uint32_t role)
{
    const rad_talk_shape *s = p->talk->shape;
    return role < s->role_count ? s->roles[role] : "nobody";
}

static void endpoint_say_act(rad_endpoint *p, uint32_t kind, uint32_t message, uint32_t peer)
{
    static const char *const verbs[] = {"end", "send ", "receive ", "do ", "fork"};
    bool named = kind != RAD_PARTY_END && kind != RAD_PARTY_FORK;
    endpoint_say(p, verbs[kind], named ? p->talk->shape->messages[message].label : "", "");
    if (kind == RAD_PARTY_SEND) endpoint_say(p, " to ", endpoint_role_name(p, peer), "");
    if (kind == RAD_PARTY_RECEIVE) endpoint_say(p, " from ", endpoint_role_name(p, peer), "");
}

/* "Seller of TwoBuyer, shop.session:6: cannot …; expected: send quote to Bob" */
static int endpoint_refuse(rad_endpoint *p, const char *what, uint32_t kind, uint32_t message, uint32_t peer)
{
    const rad_endpoint_state *s = &p->table->states[p->state];
    char line[16] = "";
    if (s->line) snprintf(line, sizeof line, ":%u", s->line);
    p->error[0] = 0;
    endpoint_say(p, endpoint_role_name(p, p->role), " of ", p->talk->shape->protocol);
    endpoint_say(p, ", ", p->talk->shape->file, line);
    endpoint_say(p, ": ", what, "");
    if (kind != RAD_NONE) endpoint_say_act(p, kind, message, peer);
    endpoint_say(p, "; expected: ", p->forked ? "join" : "", "");
    if (p->forked) return RAD_EPROTOCOL;
    if (s->kind == RAD_PARTY_END || s->kind == RAD_PARTY_FORK) endpoint_say_act(p, s->kind, 0, 0);
    for (uint32_t i = 0; s->kind != RAD_PARTY_FORK && i < s->arm_count; i++) {
        const rad_endpoint_arm *arm = &p->table->arms[s->first_arm + i];
        if (i > 0) endpoint_say(p, " or ", "", "");
        endpoint_say_act(p, s->kind, arm->message, arm->peer);
    }
    return RAD_EPROTOCOL;
}

/* The arm of the state for this; NULL: there is none. */
static const rad_endpoint_arm *endpoint_arm(const rad_endpoint *p, uint32_t kind, uint32_t message, uint32_t peer)
{
    const rad_endpoint_state *s = &p->table->states[p->state];
    for (uint32_t i = 0; s->kind == kind && !p->forked && i < s->arm_count; i++) {
        const rad_endpoint_arm *arm = &p->table->arms[s->first_arm + i];
        if (arm->message == message && arm->peer == peer) return arm;
    }
    return NULL;
}

/* ---- Beginning and ending -------------------------------------------------------------------------------- */

static void endpoint_init(rad_endpoint *p, rad_talk *talk, const rad_endpoint_table *table, uint32_t role,
                          uint32_t state)
{
    *p = (rad_endpoint){.talk = talk, .table = table, .role = role, .state = state};
}

/* The part of one that could not begin: nothing. */
static int endpoint_stillborn(rad_endpoint *p)
{
    static const uint32_t start = 0;
    static const rad_endpoint_state end = {.kind = RAD_PARTY_END};
    static const rad_endpoint_table nothing = {.role_count = 1, .starts = &start, .states = &end};
    p->table = &nothing;
    p->state = 0;
    return RAD_EINPUT;
}

int rad_endpoint_begin(rad_endpoint *p, rad_talk *talk, const rad_endpoint_table *table, uint32_t member)
{
    *p = (rad_endpoint){.talk = talk, .table = table};
    if (table->digest != talk->shape->digest) {
        endpoint_say(p, "the headers are of different versions of protocol ", talk->shape->protocol,
                     ": write them anew");
        return endpoint_stillborn(p);
    }
    if (member >= table->role_count) {
        endpoint_say(p, "there is no such role in protocol ", talk->shape->protocol, "");
        return endpoint_stillborn(p);
    }
    endpoint_init(p, talk, table, table->first_role + member, table->starts[member]);
    if (atomic_exchange_explicit(&talk->taken[p->role], 1, memory_order_relaxed) == 0) return 0;
    endpoint_say(p, "the role ", endpoint_role_name(p, p->role), " is played already");
    return endpoint_stillborn(p);
}

int rad_endpoint_end(rad_endpoint *p)
{
    if (p->has_packet) talk_drop(p->talk, &p->packet);
    p->has_packet = false;
    if (p->table->states[p->state].kind == RAD_PARTY_END) return 0;
    return endpoint_refuse(p, "ends before its part does", RAD_NONE, 0, 0);
}

const char *rad_endpoint_error(const rad_endpoint *p)
{
    return p->error;
}

/* ---- Messages -------------------------------------------------------------------------------------------- */

/* Copies of the texts. On failure nothing is left of them. */
static int endpoint_pack(const rad_endpoint *p, rad_talk_packet *packet, const rad_talk_value *fields)
{
    const rad_talk_message *m = &p->talk->shape->messages[packet->message];
    for (uint32_t i = 0; i < m->fields; i++) {
        packet->fields[i] = fields[i];
        if (!(m->texts >> i & 1)) continue;
        packet->fields[i].text = rad__copy_text(fields[i].sent ? fields[i].sent : "");
        if (packet->fields[i].text != NULL) continue;
        while (i-- > 0)
            if (m->texts >> i & 1) rad__free(packet->fields[i].text);
        return RAD_ENOMEM;
    }
    return 0;
}

int rad_endpoint_send(rad_endpoint *p, uint32_t message, uint32_t peer, const rad_talk_value *fields, rad_time until)
{
    const rad_endpoint_arm *arm = endpoint_arm(p, RAD_PARTY_SEND, message, peer);
    if (arm == NULL) return endpoint_refuse(p, "cannot ", RAD_PARTY_SEND, message, peer);
    rad_talk_packet packet = {.message = message};
    int status = endpoint_pack(p, &packet, fields);
    if (status != 0) return status;
    status = rad_send(p->talk->channels[arm->channel], &packet, until);
    if (status != 0)
        talk_drop(p->talk, &packet);
    else
        p->state = arm->next; /* T1 */
    return status;
}

int rad_endpoint_await(rad_endpoint *p, rad_time until)
{
    const rad_endpoint_state *s = &p->table->states[p->state];
    if (s->kind != RAD_PARTY_RECEIVE || p->forked)
        return endpoint_refuse(p, "cannot wait for a message", RAD_NONE, 0, 0);
    const rad_endpoint_arm *arm = &p->table->arms[s->first_arm];
    int status = p->has_packet ? 0 : rad_recv(p->talk->channels[arm->channel], &p->packet, until);
    if (status != 0) return status;
    p->has_packet = true;
    if (endpoint_arm(p, RAD_PARTY_RECEIVE, p->packet.message, arm->peer) != NULL) return (int)p->packet.message;
    char what[80];
    snprintf(what, sizeof what, "there came %s", p->talk->shape->messages[p->packet.message].label);
    return endpoint_refuse(p, what, RAD_NONE, 0, 0);
}

int rad_endpoint_receive(rad_endpoint *p, uint32_t message, uint32_t peer, rad_talk_value *fields, rad_time until)
{
    const rad_endpoint_arm *arm = endpoint_arm(p, RAD_PARTY_RECEIVE, message, peer);
    if (arm == NULL) return endpoint_refuse(p, "cannot ", RAD_PARTY_RECEIVE, message, peer);
    int came = rad_endpoint_await(p, until);
    if (came < 0) return came;
    if ((uint32_t)came != message) {
        endpoint_refuse(p, "cannot ", RAD_PARTY_RECEIVE, message, peer);
        endpoint_say(p, "; there came ", p->talk->shape->messages[came].label, "");
        return RAD_EPROTOCOL;
    }
    for (uint32_t i = 0; i < p->talk->shape->messages[message].fields; i++) fields[i] = p->packet.fields[i];
    p->has_packet = false;
    p->state = arm->next;
    return 0;
}

int rad_endpoint_does(rad_endpoint *p, uint32_t what)
{
    const rad_endpoint_arm *arm = endpoint_arm(p, RAD_PARTY_DOES, what, p->role);
    if (arm == NULL) return endpoint_refuse(p, "cannot ", RAD_PARTY_DOES, what, 0);
    p->state = arm->next;
    return 0;
}

/* ---- Branches -------------------------------------------------------------------------------------------- */

int rad_endpoint_fork(rad_endpoint *p, rad_endpoint *branches, uint32_t count)
{
    const rad_endpoint_state *s = &p->table->states[p->state];
    if (s->kind != RAD_PARTY_FORK || p->forked) return endpoint_refuse(p, "cannot ", RAD_PARTY_FORK, 0, 0);
    if (s->arm_count != count) return endpoint_refuse(p, "has another number of branches here", RAD_NONE, 0, 0);
    for (uint32_t i = 0; i < count; i++) {
        endpoint_init(&branches[i], p->talk, p->table, p->role, p->table->arms[s->first_arm + i].next);
        branches[i].parent = p;
    }
    p->forked = true;
    return 0;
}

int rad_endpoint_join(rad_endpoint *p, rad_endpoint *branches, uint32_t count)
{
    const rad_endpoint_state *s = &p->table->states[p->state];
    if (!p->forked) return endpoint_refuse(p, "cannot join", RAD_NONE, 0, 0);
    if (s->arm_count != count) return endpoint_refuse(p, "has another number of branches here", RAD_NONE, 0, 0);
    for (uint32_t i = 0; i < count; i++) {
        if (branches[i].parent != p) return endpoint_refuse(p, "joins what it has not forked", RAD_NONE, 0, 0);
        if (branches[i].table->states[branches[i].state].kind == RAD_PARTY_END) continue;
        endpoint_refuse(&branches[i], "ends before its part does", RAD_NONE, 0, 0);
        memcpy(p->error, branches[i].error, sizeof p->error);
        return RAD_EPROTOCOL; /* what has come to a branch is still there */
    }
    p->forked = false;
    p->state = s->next;
    return 0;
}
