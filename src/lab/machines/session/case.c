/* case.c — cases of the session machine: a protocol file as a list of lines, and which of its protocols is meant. */
#include "lab/case_source.h"
#include "lab/machines/session/machine.h"
#include "lab/machines/session/session.h"

#include "base/alloc.h"

#include <string.h>

int rad__session_case_protocol(const rad_case *c, char *name, size_t size, rad_error *error)
{
    const rad_json_source place = {NULL, error}, whole = {"body", error};
    json_t *body = rad__json_load(&whole, c->body, strlen(c->body));
    if (body == NULL) return error->code;
    name[0] = 0;
    int status = 0;
    if (json_object_get(body, "protocol")) status = rad__json_text(&place, body, "", "protocol", name, size);
    json_decref(body);
    return status;
}

char *rad__session_case_source(const rad_case *c, rad_error *error)
{
    static const char *const keys[] = {"source", "protocol", NULL};
    return rad__case_source_text(c, keys, error);
}

uint64_t rad__session_case_size(const rad_case *c)
{
    return rad__case_source_size(&rad__machine_session, c);
}

/* ---- Smaller ones --------------------------------------------------------------------------------------- */

static rad_protocols *case_protocols(const rad_case *c)
{
    rad_error ignored = {0};
    rad_protocols *p = NULL;
    char *source = rad__session_case_source(c, &ignored);
    if (source != NULL) rad_protocols_parse(&p, "source", source, strlen(source), &ignored);
    rad__free(source);
    return p;
}

/* Do the types have it? Code by hand may name a message that they do not have. */
static bool is_declared(const rad_protocol *p, const rad_message *m)
{
    for (uint32_t i = 0; i < p->types.arm_count; i++)
        if (p->types.arms[i].edge == m->edge && p->types.arms[i].label == m->label) return true;
    return false;
}

/* A message of another parse, by the names of its roles and its own. */
static bool same_message(const rad_protocols *a, const rad_protocol *p, const rad_message *m, const rad_protocols *b,
                         const rad_protocol *q, const rad_message *n)
{
    const rad_types *s = &p->types, *t = &q->types;
    const rad_local_edge *e = &s->edges[m->edge], *f = &t->edges[n->edge];
    return strcmp(s->threads[e->from].name, t->threads[f->from].name) == 0 &&
           strcmp(s->threads[e->to].name, t->threads[f->to].name) == 0 &&
           strcmp(rad__text_of(a, m->label), rad__text_of(b, n->label)) == 0;
}

static bool was_undeclared(const rad_protocols *from, const rad_protocols *to, const rad_protocol *q,
                           const rad_message *n)
{
    for (uint32_t i = 0; i < from->count; i++) {
        const rad_protocol *p = &from->all[i];
        for (uint32_t k = 0; k < p->message_count; k++)
            if (!is_declared(p, &p->messages[k]) && same_message(from, p, &p->messages[k], to, q, n)) return true;
    }
    return false;
}

/* False when lines of the protocol are gone on which code by hand relies: a message that the code names has no
 * declaration any more. Such a case fails because of what was left out. */
static bool code_fits(const rad_case *before, const rad_case *after)
{
    rad_protocols *from = case_protocols(before), *to = case_protocols(after);
    bool fits = from != NULL && to != NULL;
    for (uint32_t i = 0; fits && i < to->count; i++) {
        const rad_protocol *q = &to->all[i];
        for (uint32_t k = 0; fits && q->by_hand && k < q->message_count; k++)
            fits = is_declared(q, &q->messages[k]) || was_undeclared(from, to, q, &q->messages[k]);
    }
    rad_protocols_free(from);
    rad_protocols_free(to);
    return fits;
}

bool rad__session_case_reduce(const rad_case *from, rad_cursor *at, rad_case *to)
{
    while (rad__case_source_reduce(from, at, to)) {
        if (code_fits(from, to)) return true;
        rad_free((void *)to->body);
        to->body = from->body;
    }
    return false;
}

/* ---- Files ---------------------------------------------------------------------------------------------- */

static int check(const char *path, const char *text, size_t size, rad_error *error)
{
    rad_protocols *p = NULL;
    int status = rad_protocols_parse(&p, path, text, size, error);
    rad_protocols_free(p);
    return status;
}

int rad_target_protocol(rad_target *t, const char *path, const char *protocol, rad_error *error)
{
    return rad__case_source_target(t, &rad__machine_session, path, check, "protocol", protocol, error);
}
