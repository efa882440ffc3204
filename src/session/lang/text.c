/* text.c — the part of a role, for people.
 *
 *     Seller of TwoBuyer:
 *       receive title(text) from Alice
 *       send quote(price: int) to Alice
 *       receive from Bob {
 *         accept -> …
 *
 * A state with one way in is written where that way leads. One with several (the beginning of a loop, the end of a
 * choice) has a name and is written once, in a section of its own; so has one that would be nested too deeply. So the
 * text grows with the number of states, however they are shared. */
#include "session/lang/program.h"

#include "base/alloc.h"
#include "base/bytes.h"

#include <stdio.h>

enum { TEXT_DEPTH_MAX = 6 };

typedef struct type_writer {
    const rad_protocols *all;
    const rad_types *types;
    rad_bytes out;
    uint32_t *ways;  /* into each state */
    uint32_t *names; /* by state: RAD_NONE, it has none */
    uint32_t *queue; /* states that have a name, in its order */
    uint32_t queue_count, written;
} type_writer;

static void indent(type_writer *w, uint32_t depth)
{
    for (uint32_t i = 0; i < depth; i++) rad__bytes_put(&w->out, "  ", 2);
}

static uint32_t name_state(type_writer *w, uint32_t state)
{
    if (w->names[state] == RAD_NONE) {
        w->names[state] = w->queue_count;
        w->queue[w->queue_count++] = state;
    }
    return w->names[state];
}

static void write_message(type_writer *w, const rad_local_arm *arm)
{
    rad__bytes_format(&w->out, "%s", rad__text_of(w->all, arm->label));
    for (uint32_t i = 0; i < arm->signature.count; i++) {
        rad__bytes_format(&w->out, "%s", i ? ", " : "(");
        if (arm->fields && arm->fields[i].name != RAD_NONE)
            rad__bytes_format(&w->out, "%s: ", rad__text_of(w->all, arm->fields[i].name));
        rad__bytes_format(&w->out, "%s", rad__type_name((enum rad_type)arm->signature.types[i]));
    }
    if (arm->signature.count > 0) rad__bytes_put(&w->out, ")", 1);
}

static const char *peer_name(const type_writer *w, const rad_local_state *s, const rad_local_arm *arm)
{
    return w->types->global.roles[rad__types_peer(w->types, s, arm)];
}

static void write_single(type_writer *w, const rad_local_state *s, uint32_t depth)
{
    const rad_local_arm *arm = &w->types->arms[s->first_arm];
    indent(w, depth);
    if (s->kind == RAD_LOCAL_DOES) {
        rad__bytes_format(&w->out, "do %s\n", rad__text_of(w->all, arm->label));
        return;
    }
    bool sends = s->kind == RAD_LOCAL_SEND;
    rad__bytes_format(&w->out, sends ? "send " : "receive ");
    write_message(w, arm);
    rad__bytes_format(&w->out, " %s %s\n", sends ? "to" : "from", peer_name(w, s, arm));
}

static void write_par(type_writer *w, const rad_local_state *s, uint32_t depth)
{
    indent(w, depth);
    rad__bytes_format(&w->out, "in parallel, until all have ended:");
    for (uint32_t i = 0; i < s->arm_count; i++)
        rad__bytes_format(&w->out, "%s %s", i ? "," : "",
                          w->types->threads[w->types->arms[s->first_arm + i].edge].name);
    rad__bytes_put(&w->out, "\n", 1);
}

/* What is not written here: its text, for the end of a line. False: it is written here. */
static bool leads_elsewhere(type_writer *w, uint32_t state, uint32_t depth, char *text, size_t size)
{
    if (w->types->states[state].kind == RAD_LOCAL_END) {
        snprintf(text, size, "end");
        return true;
    }
    if (w->ways[state] < 2 && depth < TEXT_DEPTH_MAX) return false;
    snprintf(text, size, "s%u", name_state(w, state));
    return true;
}

static void write_chain(type_writer *w, uint32_t state, uint32_t depth);

static void write_several(type_writer *w, const rad_local_state *s, uint32_t depth)
{
    const rad_local_arm *arms = &w->types->arms[s->first_arm];
    bool sends = s->kind == RAD_LOCAL_SEND;
    indent(w, depth);
    if (sends)
        rad__bytes_format(&w->out, "select {\n");
    else
        rad__bytes_format(&w->out, "receive from %s {\n", peer_name(w, s, arms));
    for (uint32_t i = 0; i < s->arm_count; i++) {
        char where[24] = "";
        indent(w, depth + 1);
        write_message(w, &arms[i]);
        if (sends) rad__bytes_format(&w->out, " to %s", peer_name(w, s, &arms[i]));
        bool elsewhere = leads_elsewhere(w, arms[i].next, depth + 1, where, sizeof where);
        rad__bytes_format(&w->out, elsewhere ? " -> %s\n" : " ->%s\n", where);
        if (!elsewhere) write_chain(w, arms[i].next, depth + 2);
    }
    indent(w, depth);
    rad__bytes_put(&w->out, "}\n", 2);
}

/* A state and those that follow it, up to one that is written elsewhere. */
static void write_chain(type_writer *w, uint32_t state, uint32_t depth)
{
    for (;;) {
        const rad_local_state *s = &w->types->states[state];
        if (s->kind == RAD_LOCAL_END) {
            indent(w, depth);
            rad__bytes_put(&w->out, "end\n", 4);
            return;
        }
        if (s->kind != RAD_LOCAL_PAR && s->arm_count != 1) {
            write_several(w, s, depth);
            return;
        }
        if (s->kind == RAD_LOCAL_PAR)
            write_par(w, s, depth);
        else
            write_single(w, s, depth);
        state = s->kind == RAD_LOCAL_PAR ? s->next : w->types->arms[s->first_arm].next;
        if (w->ways[state] > 1 && w->types->states[state].kind != RAD_LOCAL_END) {
            indent(w, depth);
            rad__bytes_format(&w->out, "go to s%u\n", name_state(w, state));
            return;
        }
    }
}

static void write_thread(type_writer *w, const rad_local_thread *thread)
{
    if (w->out.size > 0) rad__bytes_put(&w->out, "\n", 1);
    rad__bytes_format(&w->out, "%s of %s:\n", thread->name, rad__text_of(w->all, w->types->global.name));
    if (w->ways[thread->start] > 1 && w->types->states[thread->start].kind != RAD_LOCAL_END)
        name_state(w, thread->start);
    else
        write_chain(w, thread->start, 1);
    for (; w->written < w->queue_count; w->written++) {
        rad__bytes_format(&w->out, " s%u:\n", w->written);
        write_chain(w, w->queue[w->written], 1);
    }
}

/* The first state of a thread has one way in that no arm has; where a PAR's arms lead is another thread. */
static void count_ways(type_writer *w)
{
    const rad_types *t = w->types;
    for (uint32_t i = 0; i < t->thread_count; i++) w->ways[t->threads[i].start]++;
    for (uint32_t i = 0; i < t->state_count; i++) {
        const rad_local_state *s = &t->states[i];
        if (s->kind == RAD_LOCAL_PAR) w->ways[s->next]++;
        for (uint32_t k = 0; s->kind != RAD_LOCAL_PAR && k < s->arm_count; k++)
            w->ways[t->arms[s->first_arm + k].next]++;
    }
    for (uint32_t i = 0; i < t->state_count; i++) w->names[i] = RAD_NONE;
}

char *rad_protocol_type_text(const rad_protocols *p, uint32_t protocol, uint32_t role)
{
    const rad_types *t = &rad__protocol(p, protocol)->types;
    type_writer w = {.all = p, .types = t};
    w.ways = rad__alloc(t->state_count, sizeof *w.ways);
    w.names = rad__alloc(t->state_count, sizeof *w.names);
    w.queue = rad__alloc(t->state_count, sizeof *w.queue);
    w.out.failed = w.ways == NULL || w.names == NULL || w.queue == NULL;
    if (!w.out.failed) {
        count_ways(&w);
        for (uint32_t i = 0; i < t->thread_count; i++)
            if (t->threads[i].role == role) write_thread(&w, &t->threads[i]);
        rad__bytes_put(&w.out, "", 1);
    }
    rad__free(w.ways);
    rad__free(w.names);
    rad__free(w.queue);
    if (!w.out.failed) return (char *)w.out.data;
    rad__bytes_free(&w.out);
    return NULL;
}
