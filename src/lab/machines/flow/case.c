/* case.c — cases of the flow machine: a flow file as a list of lines, and which of its flows is meant. */
#include "lab/case_source.h"
#include "lab/machines/flow/flow.h"
#include "lab/machines/flow/machine.h"

#include <string.h>

/* The name of its flow; "": the last. */
static int flow_name(const rad_case *c, char *name, size_t size, rad_error *error)
{
    const rad_json_source place = {NULL, error}, whole = {"body", error};
    json_t *body = rad__json_load(&whole, c->body, strlen(c->body));
    if (body == NULL) return error->code;
    name[0] = 0;
    int status = 0;
    if (json_object_get(body, "flow")) status = rad__json_text(&place, body, "", "flow", name, size);
    json_decref(body);
    return status;
}

/* The source as one text; NULL and the error. rad__free it. */
char *rad__flow_case_source(const rad_case *c, char *name, size_t size, rad_error *error)
{
    static const char *const keys[] = {"source", "flow", NULL};
    return flow_name(c, name, size, error) == 0 ? rad__case_source_text(c, keys, error) : NULL;
}

uint64_t rad__flow_case_size(const rad_case *c)
{
    return rad__case_source_size(&rad__machine_flow, c);
}

static int check(const char *path, const char *text, size_t size, rad_error *error)
{
    rad_flow_program *p = NULL;
    int status = rad__flow_program_read(&p, path, text, size, NULL, error);
    rad__flow_program_free(p);
    return status;
}

int rad_target_flow(rad_target *t, const char *path, const char *flow, rad_error *error)
{
    return rad__case_source_target(t, &rad__machine_flow, path, check, "flow", flow, error);
}
