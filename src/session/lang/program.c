/* program.c — protocol files as a whole. See program.h. */
#include "session/lang/program.h"

#include "base/alloc.h"
#include "base/error.h"

#include <string.h>

static int protocol_make(rad_protocols *p, const rad_ast_protocol *ast, rad_protocol *out, rad_error *error)
{
    int status = rad__global_make(&p->file, ast, &out->types.global, error);
    if (status == 0) status = rad__types_project(&p->file, &out->types, error);
    if (status == 0) status = rad__compile(p, out, error);
    for (const rad_ast_code *c = ast->codes; c != NULL && status == 0; c = c->next)
        status = rad__assemble(p, out, c, error);
    return status;
}

int rad_protocols_parse(rad_protocols **out, const char *name, const char *text, size_t size, rad_error *error)
{
    rad__error_clear(error);
    *out = NULL;
    rad_protocols *p = rad__alloc(1, sizeof *p);
    if (p != NULL) p->file_name = rad__copy_text(name);
    int status = p && p->file_name ? 0 : rad__error_memory(error);
    if (status == 0) status = rad__ast_read(&p->file, p->file_name, text, size, error);
    if (status == 0) p->all = rad__alloc(p->file.protocol_count, sizeof *p->all);
    if (status == 0 && p->all == NULL) status = rad__error_memory(error);
    const rad_ast_protocol *ast = status == 0 ? p->file.protocols : NULL;
    for (; ast != NULL && status == 0; ast = ast->next) status = protocol_make(p, ast, &p->all[p->count++], error);
    if (status != 0)
        rad_protocols_free(p);
    else
        *out = p;
    return status;
}

static void protocol_free(rad_protocol *p)
{
    rad__types_free(&p->types);
    rad__free(p->code);
    rad__free(p->lines);
    rad__free(p->entries);
    rad__free(p->messages);
    rad__free(p->ways);
    rad__free(p->tables);
    rad__free(p->effects);
    rad__free(p->options);
    rad__free(p->constants);
}

void rad_protocols_free(rad_protocols *p)
{
    if (p == NULL) return;
    for (uint32_t i = 0; i < p->count; i++) protocol_free(&p->all[i]);
    rad__free(p->all);
    rad__ast_free(&p->file);
    rad__free(p->file_name);
    rad__free(p);
}

uint32_t rad_protocols_count(const rad_protocols *p)
{
    return p->count;
}

const char *rad_protocol_name(const rad_protocols *p, uint32_t protocol)
{
    return protocol < p->count ? rad__text_of(p, p->all[protocol].types.global.name) : NULL;
}

uint32_t rad_protocol_find(const rad_protocols *p, const char *name)
{
    if (name == NULL) return p->count - 1;
    for (uint32_t i = 0; i < p->count; i++)
        if (strcmp(rad_protocol_name(p, i), name) == 0) return i;
    return RAD_NONE;
}

uint32_t rad_protocol_role_count(const rad_protocols *p, uint32_t protocol)
{
    return rad__protocol(p, protocol)->types.global.role_count;
}

const char *rad_protocol_role(const rad_protocols *p, uint32_t protocol, uint32_t role)
{
    const rad_global_protocol *g = &rad__protocol(p, protocol)->types.global;
    return role < g->role_count ? g->roles[role] : NULL;
}

void rad_protocol_count(const rad_protocols *p, uint32_t protocol, rad_protocol_counts *out)
{
    const rad_protocol *one = rad__protocol(p, protocol);
    const rad_types *t = &one->types;
    *out = (rad_protocol_counts){t->global.role_count, t->thread_count, t->edge_count, t->state_count, one->code_count};
}
