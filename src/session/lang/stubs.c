/* stubs.c — the part of a role as a C header: tables for the monitor of raddle/talk.h, and a typed function for each
 * message.
 *
 * A role that is one of a family (W[1..3]) shares the header of its family: one program text plays all of them, and
 * says which one when it begins. Likewise a function takes the index of a peer that is one of a family, so that a loop
 * can talk to all of them. Functions are therefore named by message and peer (family), never by state.
 *
 * Names of C     of all roles are collected, whichever header is wanted: two that are equal are an error here, and not
 *                a riddle in the program that includes both. */
#include "session/lang/program.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/map64.h"
#include "base/prng.h"
#include "session/lang/wrap.h"

#include <stdio.h>
#include <string.h>

typedef struct stub_message {
    uint32_t label;
    rad_signature signature;
    const rad_ast_field *fields;
    bool is_does;
    bool is_variant; /* there is another one with this label, and other fields */
} stub_message;

typedef struct stub_writer {
    const rad_protocols *all;
    const rad_types *types;
    const char *protocol; /* its name */
    rad_bytes out;
    rad_symbols names; /* of C */
    stub_message *messages;
    uint32_t message_count, message_capacity;
    rad_map64 message_at;  /* by label and fields */
    rad_map64 function_at; /* by message, peer and direction */
    uint32_t *family_of;   /* by role */
    uint32_t *first_of;    /* by family: its first role */
    uint32_t family;       /* being written */
    uint64_t digest;
    rad_error *error;
    int status;
} stub_writer;

static const char *const STUB_TAKEN[] = {
    "auto",      "break",         "case",         "char",          "const",    "continue", "default", "do",
    "double",    "else",          "enum",         "extern",        "float",    "for",      "goto",    "if",
    "inline",    "int",           "long",         "register",      "return",   "short",    "signed",  "sizeof",
    "static",    "struct",        "switch",       "typedef",       "union",    "unsigned", "void",    "volatile",
    "while",     "restrict",      "bool",         "true",          "false",    "NULL",     "errno",   "stdin",
    "stdout",    "stderr",        "assert",       "unix",          "linux",    "offsetof", "EOF",     "asm",
    "typeof",    "main",          "self",         "which",         "until",    "fields",   "status",  "rad_time",
    "uint32_t",  "int64_t",       "uint8_t",      "session",       "capacity", "alignas",  "alignof", "nullptr",
    "constexpr", "static_assert", "thread_local", "typeof_unqual", "UINT64_C"};

enum { STUB_TAKEN_COUNT = sizeof STUB_TAKEN / sizeof *STUB_TAKEN };

static void put(stub_writer *w, const char *text)
{
    rad__bytes_put(&w->out, text, strlen(text));
}

static const rad_ast_role *family(const stub_writer *w, uint32_t index)
{
    return &w->types->global.ast->roles[index];
}

static const char *family_name(const stub_writer *w, uint32_t index)
{
    return rad__text_of(w->all, family(w, index)->name);
}

static uint32_t family_count(const stub_writer *w, uint32_t index)
{
    const rad_ast_role *f = family(w, index);
    return f->ranged ? (uint32_t)(f->to.plus - f->from.plus + 1) : 1;
}

static bool begins_with(const char *name, const char *what)
{
    return strncmp(name, what, strlen(what)) == 0;
}

/* Of C, of this library, or what functions call their own. */
static bool is_reserved(const char *name)
{
    if (name[0] == '_' || begins_with(name, "rad_") || begins_with(name, "RAD")) return true;
    for (uint32_t i = 0; i < STUB_TAKEN_COUNT; i++)
        if (strcmp(name, STUB_TAKEN[i]) == 0) return true;
    return false;
}

/* A name that the header defines. */
static void claim(stub_writer *w, const char *name)
{
    if (w->status != 0) return;
    size_t length = strlen(name);
    bool there = is_reserved(name) || rad__symbol_find(&w->names, name, length) != RAD_NONE;
    if (there)
        w->status = rad__ast_error(&w->all->file, w->types->global.place, w->error,
                                   "in C, %s would be the name of two things: rename a role or a "
                                   "message",
                                   name);
    else if (rad__symbol(&w->names, name, length) == RAD_NONE)
        w->status = rad__error_memory(w->error);
}

static void claim_join(stub_writer *w, const char *middle, const char *last)
{
    char name[400];
    snprintf(name, sizeof name, "%s_%s%s", w->protocol, middle, last);
    claim(w, name);
}

/* ---- Messages -------------------------------------------------------------------------------------------- */

static uint64_t message_key(const rad_local_arm *arm, bool is_does)
{
    uint64_t key = (uint64_t)arm->label << 32 | (uint64_t)is_does << 24 | (uint64_t)arm->signature.count << 16;
    for (uint32_t i = 0; i < arm->signature.count; i++) key |= (uint64_t)arm->signature.types[i] << 2 * i;
    return key;
}

static uint32_t message_of(const stub_writer *w, const rad_local_state *s, const rad_local_arm *arm)
{
    return rad__map64_find(&w->message_at, message_key(arm, s->kind == RAD_LOCAL_DOES));
}

static void add_message(stub_writer *w, const rad_local_state *s, const rad_local_arm *arm, rad_map64 *labels)
{
    if (message_of(w, s, arm) != RAD_NONE) return;
    bool is_does = s->kind == RAD_LOCAL_DOES;
    uint32_t twin = is_does ? RAD_NONE : rad__map64_find(labels, arm->label);
    if (!RAD_GROW(&w->messages, &w->message_capacity, w->message_count + 1) ||
        !rad__map64_add(&w->message_at, message_key(arm, is_does), w->message_count) ||
        (!is_does && twin == RAD_NONE && !rad__map64_add(labels, arm->label, w->message_count))) {
        w->status = rad__error_memory(w->error);
        return;
    }
    if (twin != RAD_NONE) w->messages[twin].is_variant = true;
    w->messages[w->message_count++] =
        (stub_message){arm->label, arm->signature, arm->fields, is_does, twin != RAD_NONE};
}

/* In C. A call that waits for a message answers its number or a code, and 0 is the code of success. */
static uint32_t number_of(uint32_t message)
{
    return message + 1;
}

/* "quote"; "quote_as_int_text" if there are quotes with other fields, too. */
static void message_name(const stub_writer *w, uint32_t message, char *text, size_t size)
{
    const stub_message *m = &w->messages[message];
    size_t used = (size_t)snprintf(text, size, "%s", rad__text_of(w->all, m->label));
    if (!m->is_variant) return;
    used += (size_t)snprintf(text + used, size - used, m->signature.count ? "_as" : "_as_nothing");
    for (uint32_t i = 0; i < m->signature.count; i++)
        used += (size_t)snprintf(text + used, size - used, "_%s", rad__type_name((enum rad_type)m->signature.types[i]));
}

static void find_messages(stub_writer *w)
{
    const rad_types *t = w->types;
    rad_map64 labels = {0};
    for (uint32_t i = 0; i < t->state_count; i++)
        for (uint32_t k = 0; t->states[i].kind != RAD_LOCAL_PAR && k < t->states[i].arm_count; k++)
            if (w->status == 0) add_message(w, &t->states[i], &t->arms[t->states[i].first_arm + k], &labels);
    rad__map64_free(&labels);
}

/* Of everything on which parties have to agree. */
static uint64_t fold_text(uint64_t hash, const char *text)
{
    for (; *text; text++) hash = rad__mix2(hash, (uint8_t)*text);
    return rad__mix2(hash, 256);
}

static uint64_t digest_of(const stub_writer *w)
{
    const rad_types *t = w->types;
    uint64_t hash = fold_text(t->edge_count, w->protocol);
    for (uint32_t i = 0; i < t->global.role_count; i++) hash = fold_text(hash, t->global.roles[i]);
    for (uint32_t i = 0; i < w->message_count; i++) {
        const stub_message *m = &w->messages[i];
        hash = fold_text(hash, rad__text_of(w->all, m->label));
        hash = rad__mix2(hash, m->signature.count);
        for (uint32_t k = 0; k < m->signature.count; k++) hash = rad__mix2(hash, m->signature.types[k]);
    }
    for (uint32_t i = 0; i < t->state_count; i++) {
        const rad_local_state *s = &t->states[i];
        hash = rad__mix2(hash, (uint64_t)s->kind << 32 | s->arm_count);
        for (uint32_t k = 0; s->kind != RAD_LOCAL_PAR && k < s->arm_count; k++) {
            const rad_local_arm *arm = &t->arms[s->first_arm + k];
            uint32_t number = number_of(message_of(w, s, arm));
            hash = rad__mix2(hash, (uint64_t)number << 32 | arm->edge);
            hash = rad__mix2(hash, arm->next);
        }
    }
    return hash;
}

/* ---- What all roles share -------------------------------------------------------------------------------- */

static void write_signature(stub_writer *w, const stub_message *m)
{
    rad__bytes_format(&w->out, "%s(", rad__text_of(w->all, m->label));
    for (uint32_t i = 0; i < m->signature.count; i++) {
        put(w, i ? ", " : "");
        if (m->fields[i].name != RAD_NONE) rad__bytes_format(&w->out, "%s: ", rad__text_of(w->all, m->fields[i].name));
        put(w, rad__type_name((enum rad_type)m->signature.types[i]));
    }
    put(w, ")");
}

static void write_messages(stub_writer *w)
{
    char name[200];
    const char *p = w->protocol;
    rad__bytes_format(&w->out,
                      "/* What …_await returns: which message has come. Numbers begin "
                      "at 1: 0 is success, the answer of the\n * other calls, and one variable may "
                      "hold both. */\nenum %s_is {\n",
                      p);
    claim_join(w, "is", "");
    for (uint32_t i = 0; i < w->message_count; i++) {
        if (w->messages[i].is_does) continue;
        message_name(w, i, name, sizeof name);
        claim_join(w, "is_", name);
        rad__bytes_format(&w->out, "    %s_is_%s = %u, /* ", p, name, number_of(i));
        write_signature(w, &w->messages[i]);
        put(w, " */\n");
    }
    rad__bytes_format(&w->out, "    %s_is_nothing_else = %u\n};\n\n", p, number_of(w->message_count));
    claim_join(w, "is_nothing_else", "");
    rad__bytes_format(&w->out, "static const rad_talk_message %s_messages[] = {\n    {\"\", 0, 0}", p);
    claim_join(w, "messages", "");
    for (uint32_t i = 0; i < w->message_count; i++) {
        const stub_message *m = &w->messages[i];
        uint32_t texts = 0, bit = 1;
        for (uint32_t k = 0; k < m->signature.count; k++, bit *= 2)
            if (m->signature.types[k] == RAD_TYPE_TEXT) texts |= bit;
        rad__bytes_format(&w->out, ",\n    {\"%s\", %u, 0x%x}", rad__text_of(w->all, m->label), m->signature.count,
                          texts);
    }
    put(w, "};\n\n");
}

/* The last part of its path: nothing of the machine on which it was written. */
static const char *file_name(const stub_writer *w)
{
    const char *slash = strrchr(w->all->file_name, '/');
    return slash ? slash + 1 : w->all->file_name;
}

static void write_file_text(stub_writer *w, bool in_comment)
{
    for (const char *c = file_name(w); *c; c++) {
        bool plain = *c >= ' ' && *c <= '~' && *c != '"' && *c != '\\' && *c != '?';
        rad__bytes_format(&w->out, "%c", plain && !(in_comment && *c == '*') ? *c : '_');
    }
}

static void write_shape(stub_writer *w)
{
    const rad_types *t = w->types;
    const char *p = w->protocol;
    rad__bytes_format(&w->out, "static const char *const %s_roles[] = {", p);
    for (uint32_t i = 0; i < t->global.role_count; i++) {
        put(w, i == 0 ? "" : i % 8 ? ", " : ",\n    ");
        rad__bytes_format(&w->out, "\"%s\"", t->global.roles[i]);
    }
    put(w, "};\n\n/* By channel: ");
    for (uint32_t i = 0; i < t->edge_count && i < 8; i++)
        rad__bytes_format(&w->out, "%s%s to %s", i ? ", " : "", t->threads[t->edges[i].from].name,
                          t->threads[t->edges[i].to].name);
    rad__bytes_format(&w->out, "%s. */\nstatic const uint8_t %s_widths[] = {", t->edge_count > 8 ? " …" : "", p);
    for (uint32_t i = 0; i < t->edge_count; i++)
        rad__bytes_format(&w->out, i % 24 == 23 ? "%u,\n    " : "%u, ", t->edges[i].fields);
    rad__bytes_format(&w->out, "0};\n\nstatic const rad_talk_shape %s_shape = {\n    \"%s\", \"", p, p);
    write_file_text(w, false);
    rad__bytes_format(&w->out, "\", UINT64_C(0x%016llx), %s_roles, %u,\n    %s_messages, %s_widths, %u};\n\n",
                      (unsigned long long)w->digest, p, t->global.role_count, p, p, t->edge_count);
    claim_join(w, "roles", "");
    claim_join(w, "widths", "");
    claim_join(w, "shape", "");
}

static void write_common(stub_writer *w)
{
    const char *p = w->protocol;
    rad__bytes_format(&w->out,
                      "/* ---- What all roles of %s share ---- */\n\n"
                      "#ifndef RADDLE_PROTOCOL_%s\n#define RADDLE_PROTOCOL_%s\n\n",
                      p, p, p);
    claim(w, p);
    write_messages(w);
    write_shape(w);
    rad__bytes_format(&w->out,
                      "/* One session: all channels. */\ntypedef struct %s {\n"
                      "    rad_talk *talk;\n} %s;\n\n",
                      p, p);
    rad__bytes_format(&w->out,
                      "/* `capacity` messages in each channel; 0: 1, which is enough%s. 0 or RAD_ENOMEM. */\n"
                      "static inline int %s_open(%s *session, uint32_t capacity)\n{\n"
                      "    return rad_talk_open(&session->talk, &%s_shape, capacity);\n}\n\n",
                      w->types->global.is_locals ? " if the parts fit together so" : "", p, p, p);
    rad__bytes_format(&w->out,
                      "/* Everybody gets RAD_ECLOSED from now on. `code` says why. */\n"
                      "static inline void %s_close(%s *session, int code)\n{\n"
                      "    rad_talk_close(session->talk, code);\n}\n\n",
                      p, p);
    rad__bytes_format(&w->out,
                      "/* When all parties have ended. */\n"
                      "static inline void %s_destroy(%s *session)\n{\n"
                      "    rad_talk_destroy(session->talk);\n    session->talk = NULL;\n}\n\n#endif\n\n",
                      p, p);
    claim_join(w, "open", "");
    claim_join(w, "close", "");
    claim_join(w, "destroy", "");
}

/* ---- Tables of a role ------------------------------------------------------------------------------------ */

static bool is_mine(const stub_writer *w, uint32_t thread)
{
    return w->family_of[w->types->threads[thread].role] == w->family;
}

/* States of a thread lie together, the first one first. */
static uint32_t states_end(const rad_types *t, uint32_t thread)
{
    return thread + 1 < t->thread_count ? t->threads[thread + 1].start : t->state_count;
}

static void write_arm(stub_writer *w, const rad_local_state *s, const rad_local_arm *arm, const uint32_t *number,
                      uint32_t role)
{
    if (s->kind == RAD_LOCAL_PAR)
        rad__bytes_format(&w->out, "    {0, 0, 0, %u}, /* begins %s */\n", number[arm->next],
                          w->types->threads[arm->edge].name);
    else if (s->kind == RAD_LOCAL_DOES)
        rad__bytes_format(&w->out, "    {%u, %u, 0, %u}, /* does %s */\n", number_of(message_of(w, s, arm)), role,
                          number[arm->next], rad__text_of(w->all, arm->label));
    else
        rad__bytes_format(&w->out, "    {%u, %u, %u, %u}, /* %s %s %s %s */\n", number_of(message_of(w, s, arm)),
                          rad__types_peer(w->types, s, arm), arm->edge, number[arm->next],
                          s->kind == RAD_LOCAL_SEND ? "sends" : "receives", rad__text_of(w->all, arm->label),
                          s->kind == RAD_LOCAL_SEND ? "to" : "from",
                          w->types->global.roles[rad__types_peer(w->types, s, arm)]);
}

static void write_arms(stub_writer *w, const uint32_t *number)
{
    const rad_types *t = w->types;
    rad__bytes_format(&w->out,
                      "/* Message, peer, channel, next state. */\n"
                      "static const rad_endpoint_arm %s_%s_arms[] = {\n",
                      w->protocol, family_name(w, w->family));
    for (uint32_t thread = 0; thread < t->thread_count; thread++)
        for (uint32_t i = t->threads[thread].start; is_mine(w, thread) && i < states_end(t, thread); i++)
            for (uint32_t k = 0; k < t->states[i].arm_count; k++)
                write_arm(w, &t->states[i], &t->arms[t->states[i].first_arm + k], number, t->threads[thread].role);
    put(w, "    {0, 0, 0, 0}};\n\n");
}

static void write_states(stub_writer *w, const uint32_t *number)
{
    static const char *const kinds[] = {"END", "SEND", "RECEIVE", "DOES", "FORK"};
    const rad_types *t = w->types;
    const char *role = family_name(w, w->family);
    uint32_t arm = 0;
    rad__bytes_format(&w->out,
                      "/* Kind, first arm, arms, state after a fork, line. */\n"
                      "static const rad_endpoint_state %s_%s_states[] = {\n",
                      w->protocol, role);
    for (uint32_t thread = 0; thread < t->thread_count; thread++)
        for (uint32_t i = t->threads[thread].start; is_mine(w, thread) && i < states_end(t, thread); i++) {
            const rad_local_state *s = &t->states[i];
            rad__bytes_format(&w->out, "    {RAD_PARTY_%s, %u, %u, %u, %u}, /* %u", kinds[s->kind], arm, s->arm_count,
                              s->kind == RAD_LOCAL_PAR ? number[s->next] : 0, s->line, number[i]);
            if (i == t->threads[thread].start) rad__bytes_format(&w->out, ": %s begins", t->threads[thread].name);
            put(w, " */\n");
            arm += s->arm_count;
        }
    put(w, "};\n\n");
}

static void write_tables(stub_writer *w)
{
    const rad_types *t = w->types;
    const char *role = family_name(w, w->family), *p = w->protocol;
    uint32_t *number = rad__alloc(t->state_count, sizeof *number), count = 0;
    if (number == NULL) {
        w->status = rad__error_memory(w->error);
        return;
    }
    for (uint32_t thread = 0; thread < t->thread_count; thread++)
        for (uint32_t i = t->threads[thread].start; is_mine(w, thread) && i < states_end(t, thread); i++)
            number[i] = count++;
    write_arms(w, number);
    write_states(w, number);
    rad__bytes_format(&w->out, "static const uint32_t %s_%s_starts[] = {", p, role);
    for (uint32_t i = 0; i < family_count(w, w->family); i++) {
        put(w, i == 0 ? "" : i % 16 ? ", " : ",\n    ");
        rad__bytes_format(&w->out, "%u", number[t->threads[w->first_of[w->family] + i].start]);
    }
    rad__bytes_format(&w->out,
                      "};\n\nstatic const rad_endpoint_table %s_%s_table = {\n"
                      "    UINT64_C(0x%016llx), %u, %u, %s_%s_starts, %s_%s_states, %s_%s_arms};\n\n",
                      p, role, (unsigned long long)w->digest, w->first_of[w->family], family_count(w, w->family), p,
                      role, p, role, p, role);
    claim_join(w, role, "_arms");
    claim_join(w, role, "_states");
    claim_join(w, role, "_starts");
    claim_join(w, role, "_table");
    rad__free(number);
}

/* ---- Functions of a role --------------------------------------------------------------------------------- */

static bool is_taken(const stub_writer *w, const stub_message *m, uint32_t field, const char *name)
{
    if (is_reserved(name) || begins_with(name, w->protocol)) return true; /* P_is_quote is in use */
    for (uint32_t i = 0; i < m->signature.count; i++)
        if (i != field && m->fields[i].name != RAD_NONE && strcmp(rad__text_of(w->all, m->fields[i].name), name) == 0)
            return true;
    return false;
}

/* A field that has no name, or one that C or the function needs, is called by its number. */
static void field_name(const stub_writer *w, const stub_message *m, uint32_t i, char *text, size_t size)
{
    uint32_t name = m->fields[i].name;
    snprintf(text, size, "%s", name == RAD_NONE ? "value" : rad__text_of(w->all, name));
    bool several = name == RAD_NONE && m->signature.count > 1;
    if (!several && !is_taken(w, m, i, text)) return;
    for (uint32_t tries = 0; tries < RAD_FIELDS_MAX + 1; tries++) {
        snprintf(text, size, "value_%u%.*s", i + 1, (int)tries, "_________");
        if (!is_taken(w, m, i, text)) return;
    }
}

/* `int P_Role_verb_message_to_Peer(P_Role *self, int which, int64_t price, rad_time until)` */
static void write_head(stub_writer *w, const stub_message *m, bool sends, uint32_t peer, const char *name)
{
    static const char *const in[] = {"int64_t ", "bool ", "const char *"};
    static const char *const out[] = {"int64_t *", "bool *", "char **"};
    char field[96];
    rad__bytes_format(&w->out, "static inline int %s(%s_%s *self", name, w->protocol, family_name(w, w->family));
    if (family(w, peer)->ranged) put(w, ", int which");
    for (uint32_t i = 0; i < m->signature.count; i++) {
        field_name(w, m, i, field, sizeof field);
        rad__bytes_format(&w->out, ", %s%s", (sends ? in : out)[m->signature.types[i]], field);
    }
    put(w, ", rad_time until)\n{\n");
}

static void write_peer(stub_writer *w, uint32_t peer)
{
    if (family(w, peer)->ranged)
        rad__bytes_format(&w->out, "rad_endpoint_peer(%u, %d, %u, which)", w->first_of[peer],
                          (int)family(w, peer)->from.plus, family_count(w, peer));
    else
        rad__bytes_format(&w->out, "%u", w->first_of[peer]);
}

static void write_number(stub_writer *w, uint32_t message)
{
    char name[200];
    message_name(w, message, name, sizeof name);
    rad__bytes_format(&w->out, "%s_is_%s, ", w->protocol, name);
}

static void write_send(stub_writer *w, uint32_t message, uint32_t peer, const char *name)
{
    const stub_message *m = &w->messages[message];
    char field[96];
    write_head(w, m, true, peer, name);
    if (m->signature.count > 0) put(w, "    const rad_talk_value fields[] = {");
    for (uint32_t i = 0; i < m->signature.count; i++) {
        field_name(w, m, i, field, sizeof field);
        rad__bytes_format(&w->out, "%s{.%s = %s}", i ? ", " : "",
                          m->signature.types[i] == RAD_TYPE_TEXT ? "sent" : "number", field);
    }
    if (m->signature.count > 0) put(w, "};\n");
    put(w, "    return rad_endpoint_send(&self->party, ");
    write_number(w, message);
    write_peer(w, peer);
    rad__bytes_format(&w->out, ", %s, until);\n}\n\n", m->signature.count ? "fields" : "NULL");
}

static void write_receive(stub_writer *w, uint32_t message, uint32_t peer, const char *name)
{
    const stub_message *m = &w->messages[message];
    bool any = m->signature.count > 0;
    char field[96];
    write_head(w, m, false, peer, name);
    if (any) rad__bytes_format(&w->out, "    rad_talk_value fields[%u] = {{0}};\n", m->signature.count);
    rad__bytes_format(&w->out, "    %s rad_endpoint_receive(&self->party, ", any ? "int status =" : "return");
    write_number(w, message);
    write_peer(w, peer);
    rad__bytes_format(&w->out, ", %s, until);\n", any ? "fields" : "NULL");
    for (uint32_t i = 0; i < m->signature.count; i++) {
        static const char *const parts[] = {"number", "number != 0", "text"};
        field_name(w, m, i, field, sizeof field);
        rad__bytes_format(&w->out, "    *%s = fields[%u].%s;\n", field, i, parts[m->signature.types[i]]);
    }
    put(w, any ? "    return status;\n}\n\n" : "}\n\n");
}

/* Once for each message, peer (or family of peers) and direction. */
static void write_act(stub_writer *w, const rad_local_state *s, const rad_local_arm *arm)
{
    uint32_t message = message_of(w, s, arm);
    bool does = s->kind == RAD_LOCAL_DOES, sends = s->kind == RAD_LOCAL_SEND;
    uint32_t peer = does ? 0 : w->family_of[rad__types_peer(w->types, s, arm)];
    uint64_t key = (uint64_t)message << 32 | (uint64_t)peer << 8 | s->kind;
    const char *role = family_name(w, w->family);
    char label[200], name[400];
    if (rad__map64_find(&w->function_at, key) != RAD_NONE) return;
    if (!rad__map64_add(&w->function_at, key, 0)) {
        w->status = rad__error_memory(w->error);
        return;
    }
    message_name(w, message, label, sizeof label);
    if (does)
        snprintf(name, sizeof name, "%s_%s_does_%s", w->protocol, role, label);
    else
        snprintf(name, sizeof name, "%s_%s_%s_%s_%s_%s", w->protocol, role, sends ? "send" : "receive", label,
                 sends ? "to" : "from", family_name(w, peer));
    claim(w, name);
    if (sends)
        write_send(w, message, peer, name);
    else if (!does)
        write_receive(w, message, peer, name);
    else
        rad__bytes_format(&w->out,
                          "/* To be called when it is done. */\n"
                          "static inline int %s(%s_%s *self)\n{\n"
                          "    return rad_endpoint_does(&self->party, %u);\n}\n\n",
                          name, w->protocol, role, number_of(message));
}

static void write_begin(stub_writer *w)
{
    const char *role = family_name(w, w->family), *p = w->protocol;
    const rad_ast_role *f = family(w, w->family);
    rad__bytes_format(&w->out, "typedef struct %s_%s {\n    rad_endpoint party;\n} %s_%s;\n\n", p, role, p, role);
    rad__bytes_format(&w->out,
                      "/* RAD_EINPUT: it is played already, or the headers do not fit together. */\n"
                      "static inline int %s_%s_begin(%s_%s *self, const %s *session%s)\n{\n"
                      "    return rad_endpoint_begin(&self->party, session->talk, &%s_%s_table, ",
                      p, role, p, role, p, f->ranged ? ", int which" : "", p, role);
    if (f->ranged)
        rad__bytes_format(&w->out, "rad_endpoint_peer(0, %d, %u, which)", (int)f->from.plus,
                          family_count(w, w->family));
    else
        put(w, "0");
    put(w, ");\n}\n\n");
    rad__bytes_format(&w->out,
                      "/* Always the last call, however it went. RAD_EPROTOCOL: there was more to do. */\n"
                      "static inline int %s_%s_end(%s_%s *self)\n{\n"
                      "    return rad_endpoint_end(&self->party);\n}\n\n",
                      p, role, p, role);
    rad__bytes_format(&w->out,
                      "/* What the last RAD_EPROTOCOL or RAD_EINPUT was about. */\n"
                      "static inline const char *%s_%s_error(const %s_%s *self)\n{\n"
                      "    return rad_endpoint_error(&self->party);\n}\n\n",
                      p, role, p, role);
    claim_join(w, role, "");
    claim_join(w, role, "_begin");
    claim_join(w, role, "_end");
    claim_join(w, role, "_error");
}

static void write_await(stub_writer *w)
{
    const char *role = family_name(w, w->family), *p = w->protocol;
    rad__bytes_format(&w->out,
                      "/* Waits for the next message; it stays until it is received. %s_is_…, or an error. */\n"
                      "static inline int %s_%s_await(%s_%s *self, rad_time until)\n{\n"
                      "    return rad_endpoint_await(&self->party, until);\n}\n\n",
                      p, p, role, p, role);
    claim_join(w, role, "_await");
}

static void write_fork(stub_writer *w)
{
    const char *role = family_name(w, w->family), *p = w->protocol;
    rad__bytes_format(&w->out,
                      "_Static_assert(sizeof(%s_%s) == sizeof(rad_endpoint), \"an array of them\");"
                      "\n\n",
                      p, role);
    rad__bytes_format(&w->out,
                      "/* Begins the parallel branches, in the order of the protocol, each for a fiber of its "
                      "own. */\n"
                      "static inline int %s_%s_fork(%s_%s *self, %s_%s *branches, uint32_t count)\n{\n"
                      "    return rad_endpoint_fork(&self->party, &branches->party, count);\n}\n\n",
                      p, role, p, role, p, role);
    rad__bytes_format(&w->out,
                      "/* When the fibers of all branches have ended. */\n"
                      "static inline int %s_%s_join(%s_%s *self, %s_%s *branches, uint32_t count)\n{\n"
                      "    return rad_endpoint_join(&self->party, &branches->party, count);\n}\n\n",
                      p, role, p, role, p, role);
    claim_join(w, role, "_fork");
    claim_join(w, role, "_join");
}

static void write_functions(stub_writer *w)
{
    const rad_types *t = w->types;
    bool receives = false, forks = false;
    rad__map64_clear(&w->function_at);
    write_begin(w);
    for (uint32_t thread = 0; thread < t->thread_count; thread++)
        for (uint32_t i = t->threads[thread].start; is_mine(w, thread) && i < states_end(t, thread); i++) {
            const rad_local_state *s = &t->states[i];
            receives |= s->kind == RAD_LOCAL_RECEIVE;
            forks |= s->kind == RAD_LOCAL_PAR;
            for (uint32_t k = 0; s->kind != RAD_LOCAL_PAR && k < s->arm_count; k++)
                if (w->status == 0) write_act(w, s, &t->arms[s->first_arm + k]);
        }
    if (receives) write_await(w);
    if (forks) write_fork(w);
}

/* ---- The header ------------------------------------------------------------------------------------------ */

static void write_comment(stub_writer *w, uint32_t protocol)
{
    uint32_t role = w->first_of[w->family]; /* of a family: as an example */
    const char *name = family_name(w, w->family), *p = w->protocol;
    rad__bytes_format(&w->out, "/* %s_%s.h — role %s of protocol %s (", p, name, name, p);
    write_file_text(w, true);
    put(w, ") as typed C functions.\n *\n * Written by `raddle session project ");
    write_file_text(w, true);
    rad__bytes_format(&w->out, " --role %s --c`: change the protocol, not this file.\n *\n",
                      w->types->global.roles[role]);
    put(w, " * Answers    0 is success; of …_await: the number of a message, 1 or more. "
           "RAD_EPROTOCOL: "
           "the protocol does\n"
           " *            not allow this here; …_error says what it does allow. RAD_ETIMEOUT, "
           "RAD_ECANCELED, RAD_ECLOSED\n *            as of channels. Nothing was done.\n"
           " * Texts      are copied when they are sent. One that is received is the caller's: "
           "rad_text_free it.\n"
           " * One fiber  (or thread) at a time uses a party.\n *\n");
    char *text = rad_protocol_type_text(w->all, protocol, role);
    if (text == NULL) w->status = rad__error_memory(w->error);
    for (char *line = text; line && *line;) {
        size_t length = strcspn(line, "\n");
        rad__bytes_format(&w->out, length ? " *     %.*s\n" : " *%.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
    rad__free(text);
    rad__bytes_format(&w->out,
                      " */\n#ifndef RADDLE_PROTOCOL_%s_%s\n#define RADDLE_PROTOCOL_%s_%s\n\n"
                      "#include <raddle/talk.h>\n\n",
                      p, name, p, name);
}

/* The header of a family; what was written before is thrown away. */
static void write_header(stub_writer *w, uint32_t protocol, uint32_t role, bool first)
{
    w->family = w->family_of[role];
    w->out.size = 0;
    rad_symbols outer = w->names;
    write_comment(w, protocol);
    if (!first) w->names = (rad_symbols){0}; /* the common part is the same: its names are known */
    write_common(w);
    if (!first) {
        rad__symbols_free(&w->names);
        w->names = outer;
    }
    rad__bytes_format(&w->out, "/* ---- %s ---- */\n\n", family_name(w, w->family));
    if (w->status == 0) write_tables(w);
    if (w->status == 0) write_functions(w);
    put(w, "#endif\n");
}

static void find_families(stub_writer *w)
{
    const rad_global_protocol *g = &w->types->global;
    w->family_of = rad__alloc(g->role_count, sizeof *w->family_of);
    w->first_of = rad__alloc(g->ast->role_count, sizeof *w->first_of);
    if (w->family_of == NULL || w->first_of == NULL) {
        w->status = rad__error_memory(w->error);
        return;
    }
    for (uint32_t i = 0, role = 0; i < g->ast->role_count; i++) {
        w->first_of[i] = role;
        for (uint32_t k = family_count(w, i); k > 0; k--) w->family_of[role++] = i;
    }
}

char *rad_protocol_c_text(const rad_protocols *p, uint32_t protocol, uint32_t role, rad_error *error)
{
    rad__error_clear(error);
    stub_writer w = {.all = p, .types = &rad__protocol(p, protocol)->types, .error = error};
    w.protocol = rad__text_of(p, w.types->global.name);
    if (role >= w.types->global.role_count) rad__misuse("rad_protocol_c_text", "there is no role of this number");
    find_families(&w);
    if (w.status == 0) find_messages(&w);
    if (w.status == 0) w.digest = digest_of(&w);
    bool first = true;
    for (uint32_t i = 0; w.status == 0 && i < w.types->global.ast->role_count; i++) {
        if (i == w.family_of[role]) continue;
        write_header(&w, protocol, w.first_of[i], first);
        first = false;
    }
    if (w.status == 0) write_header(&w, protocol, role, first);
    rad__wrap_lines(&w.out);
    rad__bytes_put(&w.out, "", 1);
    if (w.status == 0 && w.out.failed) w.status = rad__error_memory(error);
    rad__symbols_free(&w.names);
    rad__map64_free(&w.message_at);
    rad__map64_free(&w.function_at);
    rad__free(w.messages);
    rad__free(w.family_of);
    rad__free(w.first_of);
    if (w.status == 0) return (char *)w.out.data;
    rad__bytes_free(&w.out);
    return NULL;
}
